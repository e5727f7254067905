/* ask.c - requests to another server, one at a time. */
#define _GNU_SOURCE
#include "server/peer/ask.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

const char *const ask_outcomes[ASK_OUTCOMES] = {
    [ASK_ANSWERED] = "answered", [ASK_NO_LINK] = "no-link",
    [ASK_BROKEN] = "broken",     [ASK_STRANGE] = "strange",
    [ASK_SLOW] = "slow",         [ASK_STOPPED] = "stopped"};

struct ask {
    struct ask_options options;
    struct target_link link;
    int epoll, wake;
    _Atomic bool stopping;
    bool used; /* the link has brought an answer before */
    struct target_request out;
    struct response answer;
};

/* ---- Waiting ------------------------------------------------------------- */

/* Until something happens, or it is too late. */
static enum ask_outcome ask_wait(struct ask *a, uint64_t deadline)
{
    struct epoll_event happened;
    const uint64_t now = steady_ms();
    int n;

    if (now >= deadline)
        return ASK_SLOW;
    n = epoll_wait(a->epoll, &happened, 1,
                   (int)(deadline - now < 60000 ? deadline - now : 60000));
    if (atomic_load(&a->stopping))
        return ASK_STOPPED;
    return n == -1 && errno != EINTR ? ASK_BROKEN : ASK_ANSWERED;
}

/* Tell of the socket's changes: of what can be read, and if wanted written. */
static bool ask_watch(struct ask *a, bool write)
{
    struct epoll_event on = {.events = EPOLLIN | (write ? EPOLLOUT : 0u)};

    return epoll_ctl(a->epoll, EPOLL_CTL_MOD, a->link.fd, &on) == 0;
}

/* ---- The connection ------------------------------------------------------ */

static void ask_drop(struct ask *a)
{
    target_end(&a->link); /* a closed socket is in no epoll any more */
    a->used = false;
}

/* One try, by the address whose turn it is. */
static enum ask_outcome ask_connect_once(struct ask *a)
{
    struct target *to = a->options.to;
    const uint64_t deadline =
        steady_ms() + (uint64_t)a->options.connect_seconds * 1000;
    struct epoll_event on = {.events = EPOLLIN | EPOLLOUT};
    enum target_step step = TARGET_WAITS;
    enum ask_outcome so = ASK_ANSWERED;

    if (!target_begin(to, &a->link) ||
        epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->link.fd, &on) == -1)
        return ASK_NO_LINK;
    /* A socket that can be written all the time would be told of all the time
     * while a handshake waits for bytes. */
    while (so == ASK_ANSWERED && step == TARGET_WAITS) {
        so = ask_wait(a, deadline);
        if (so == ASK_ANSWERED)
            step = target_go_on(to, &a->link);
        if (step == TARGET_WAITS && a->link.tls != NULL)
            ask_watch(a, gnutls_record_get_direction(a->link.tls) == 1);
    }
    if (so == ASK_STOPPED || step == TARGET_DONE)
        return so;
    return ASK_NO_LINK;
}

static enum ask_outcome ask_connect(struct ask *a)
{
    enum ask_outcome so = ASK_NO_LINK;

    for (size_t i = 0; so == ASK_NO_LINK && i < a->options.to->n; i++) {
        so = ask_connect_once(a);
        if (so != ASK_ANSWERED)
            ask_drop(a);
        if (so == ASK_NO_LINK)
            a->options.to->turn++;
    }
    return so;
}

/* ---- A request ----------------------------------------------------------- */

static enum ask_outcome ask_exchange(struct ask *a)
{
    const uint64_t deadline =
        steady_ms() + (uint64_t)a->options.answer_seconds * 1000;
    enum response_state state = RESPONSE_MORE;
    enum ask_outcome so = ASK_ANSWERED;
    size_t sent = 0;
    bool over = false;

    response_again(&a->answer);
    while (so == ASK_ANSWERED && state == RESPONSE_MORE && !over) {
        ssize_t n = 1;

        while (n > 0 && sent < a->out.len) {
            n = target_send(&a->link, a->out.bytes + sent, a->out.len - sent);
            sent += n > 0 ? (size_t)n : 0;
        }
        state = target_read(&a->link, &a->answer, &over);
        over = over || n < 0 || !ask_watch(a, sent < a->out.len);
        if (state == RESPONSE_MORE && !over)
            so = ask_wait(a, deadline);
    }
    if (so != ASK_ANSWERED)
        return so;
    a->answer.head.close |= sent < a->out.len; /* it did not want all of it */
    return state == RESPONSE_WHOLE ? ASK_ANSWERED
           : state == RESPONSE_BAD ? ASK_STRANGE
                                   : ASK_BROKEN;
}

/* By the connection there is, else by a new one. *again: it was an old one that
 * said nothing. */
static enum ask_outcome ask_once(struct ask *a, bool *again)
{
    enum ask_outcome so = ASK_ANSWERED;
    const bool used = a->used;

    if (a->link.fd == -1)
        so = ask_connect(a);
    if (so == ASK_ANSWERED)
        so = ask_exchange(a);
    *again = used && so == ASK_BROKEN && a->answer.len == 0;
    a->used = so == ASK_ANSWERED;
    if (so != ASK_ANSWERED || a->answer.head.close)
        ask_drop(a);
    return so;
}

enum ask_outcome ask_post(struct ask *a, const uint8_t *body, size_t len,
                          struct ask_answer *out)
{
    enum ask_outcome so;
    bool again;

    *out = (struct ask_answer){.status = 0};
    if (atomic_load(&a->stopping))
        return ASK_STOPPED;
    if (!target_compose(a->options.to, &a->out, body, len))
        return ASK_NO_LINK;
    so = ask_once(a, &again);
    if (again)
        so = ask_once(a, &again);
    if (so == ASK_ANSWERED)
        *out = (struct ask_answer){.status = a->answer.head.status,
                                   .body = a->answer.bytes + a->answer.body,
                                   .len = a->answer.head.length};
    return so;
}

void ask_stop(struct ask *a)
{
    const uint64_t one = 1;

    atomic_store(&a->stopping, true);
    while (write(a->wake, &one, sizeof one) == -1 && errno == EINTR)
        ;
}

/* ---- Opening ------------------------------------------------------------- */

hsy_status ask_open(struct ask **out, const struct ask_options *o,
                    hsy_error *err)
{
    struct ask *a = calloc(1, sizeof *a);
    struct epoll_event on = {.events = EPOLLIN};

    if (a == NULL)
        return host_nomem(err);
    a->options = *o;
    a->link.fd = -1;
    a->epoll = epoll_create1(EPOLL_CLOEXEC);
    a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (a->epoll == -1 || a->wake == -1 ||
        epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->wake, &on) == -1) {
        ask_close(a);
        return host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                         "there are no descriptors left");
    }
    *out = a;
    return HSY_OK;
}

void ask_close(struct ask *a)
{
    if (a == NULL)
        return;
    target_end(&a->link);
    if (a->epoll != -1)
        close(a->epoll);
    if (a->wake != -1)
        close(a->wake);
    response_clear(&a->answer);
    free(a->out.bytes);
    free(a);
}
