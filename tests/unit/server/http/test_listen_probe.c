/* test_listen_probe.c - a listener does not start with a libmicrohttpd that
 * hides ambiguous heads. The recv of this file takes the place of libc's and
 * rewrites what arrives as a lenient library would. */
#define _GNU_SOURCE
#include "rig/listen_client.h"
#include "tap.h"

#include <microhttpd.h>

enum lenience { STRICT, UNFOLDS, NUL_IS_BLANK, CR_IS_BLANK, REFUSES_ALL };
static enum lenience lenience;

static void rewrite(char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char next = i + 1 < len ? at[i + 1] : 0;
        const char third = i + 2 < len ? at[i + 2] : 0;

        if (lenience == UNFOLDS && at[i] == '\r' && next == '\n' &&
            (third == ' ' || third == '\t'))
            at[i] = at[i + 1] = ' ';
        if ((lenience == NUL_IS_BLANK && at[i] == 0) ||
            (lenience == CR_IS_BLANK && at[i] == '\r' && next != '\n') ||
            (lenience == REFUSES_ALL && at[i] == ':'))
            at[i] = ' ';
    }
}

__attribute__((visibility("default"))) ssize_t recv(int fd, void *to,
                                                    size_t len, int flags)
{
    const ssize_t n = recvfrom(fd, to, len, flags, NULL, NULL);

    if (n > 0)
        rewrite(to, (size_t)n);
    return n;
}

int main(void)
{
    static const struct {
        enum lenience lenience;
        const char *what;
    } cases[] = {{UNFOLDS, "a folded line"},
                 {NUL_IS_BLANK, "a NUL in a value"},
                 {CR_IS_BLANK, "a bare CR"},
                 {REFUSES_ALL, "a valid request"}};
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .loops = 1,
                                     .connections = 1};
    struct listener *l = NULL;
    hsy_error err;

    is_int(listen_open(&l, &o, &err), HSY_OK,
           "a listener opens with libmicrohttpd %s", MHD_get_version());
    listen_close(l);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lenience = cases[i].lenience;
        ok(eq_int(listen_open(&l, &o, &err), HSY_E_UNKNOWN) &&
               strstr(err.msg, MHD_get_version()) != NULL &&
               strstr(err.msg, cases[i].what) != NULL,
           "a listener does not open if the library mishandles %s",
           cases[i].what);
    }
    return tap_done();
}
