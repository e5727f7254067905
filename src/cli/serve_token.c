/* serve_token.c - hearsay serve token: who may read, who may upload. */
#define _DEFAULT_SOURCE
#include "serve_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int token_fail(const struct serve_how *how, hsy_status st,
                      const hsy_error *err)
{
    if (st == HSY_E_IO || st == HSY_E_EMPTY)
        return cli_fail("%s: %s", how->data, strerror(errno));
    return cli_fail_line(how->data, err);
}

int serve_token_add(const struct serve_how *how, const char *name)
{
    char token[TOKENS_TEXT];
    hsy_error err = {0};
    hsy_status st =
        tokens_add(how->data, name,
                   (enum listen_role)(LISTEN_SCRAPER + how->role), token, &err);

    if (st != HSY_OK)
        return token_fail(how, st, &err);
    puts(token);
    explicit_bzero(token, sizeof token);
    return cli_finish();
}

static hsy_status token_print(void *ctx, const char *name,
                              enum listen_role role)
{
    (void)ctx;
    printf("%-32s %s\n", name, tokens_roles[role]);
    return HSY_OK;
}

int serve_token_list(const struct serve_how *how, const char *name)
{
    hsy_error err = {0};
    hsy_status st = tokens_each(how->data, token_print, NULL, &err);

    (void)name;
    return st == HSY_OK ? cli_finish() : token_fail(how, st, &err);
}

int serve_token_revoke(const struct serve_how *how, const char *name)
{
    hsy_error err = {0};
    hsy_status st = tokens_revoke(how->data, name, &err);

    return st == HSY_OK ? CLI_DONE : token_fail(how, st, &err);
}

static hsy_status token_say(void *ctx, const char *token)
{
    (void)ctx;
    return puts(token) == EOF ? HSY_E_IO : HSY_OK;
}

int serve_token_enrol(const struct serve_how *how, const char *task)
{
    hsy_error err = {0};
    hsy_status st = tokens_enrol(how->data, task, (uint32_t)how->quota,
                                 how->count, token_say, NULL, &err);

    return st == HSY_OK ? cli_finish() : token_fail(how, st, &err);
}

int serve_token_forwarder(const struct serve_how *how, const char *name)
{
    (void)name;
    return serve_token_enrol(how, TOKENS_FORWARDERS);
}
