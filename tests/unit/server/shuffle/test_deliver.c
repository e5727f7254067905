/*
 * Tests of src/server/shuffle/hop: what a next hop may answer to a delivery,
 * and that none of it makes a shuffler fail, go round for ever, or forget that
 * a batch was refused.
 */
#define _GNU_SOURCE

#include "rig/mixer_life.h"
#include "rig/store_memory.h"
#include "server/shuffle/hop/internal.h"
#include "tap.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NEXT_MANY 400u /* requests after which it says 500: nobody loops */

/* ---- A next hop ---------------------------------------------------------- */

struct next {
    int fd;
    pthread_t thread;
    unsigned refuses; /* a status for everything; 0: it takes parts */
    uint64_t wants;   /* what it says to the end: more, from here on */
    bool busy;        /* it says 503 to the batch that comes first, always: */
    uint8_t first[STORE_BATCH_ID];
    _Atomic unsigned requests;
};

static bool next_reads(int fd, uint8_t *to, size_t len)
{
    while (len != 0) {
        const ssize_t n = recv(fd, to, len, 0);

        if (n <= 0)
            return false;
        to += n;
        len -= (size_t)n;
    }
    return true;
}

/* The body of a request, and how long it is; 0: the other side is gone. */
static size_t next_hears(int fd, uint8_t body[PARCEL_MAX])
{
    char head[4096] = "";
    const char *length;
    size_t n = 0;

    while (n < sizeof head - 1 && memmem(head, n, "\r\n\r\n", 4) == NULL)
        if (!next_reads(fd, (uint8_t *)head + n++, 1))
            return 0;
    length = strcasestr(head, "content-length: ");
    n = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
    return n <= PARCEL_MAX && next_reads(fd, body, n) ? n : 0;
}

/* How much it says that it has, as docs/formats.md has the bytes. */
static void next_answer(const struct next *x, const uint8_t *body, size_t len,
                        struct inbox_answer *out)
{
    const unsigned kind = body[6];

    *out = (struct inbox_answer){.at = 0};
    memcpy(out->id, kind == 1 ? body + PARCEL_HEAD + 16 : body + PARCEL_HEAD,
           sizeof out->id);
    if (kind == 2) {
        memcpy(&out->at, body + PARCEL_HEAD + STORE_BATCH_ID, sizeof out->at);
        out->at += len - PARCEL_BEFORE - PARCEL_AFTER;
    }
    if (kind == 3)
        out->at = x->wants;
}

static unsigned next_status(struct next *x, const uint8_t *id)
{
    if (++x->requests == 1)
        memcpy(x->first, id, sizeof x->first);
    if (x->requests > NEXT_MANY)
        return 500;
    return x->busy && memcmp(x->first, id, sizeof x->first) == 0 ? 503
                                                                 : x->refuses;
}

static void next_serves(struct next *x, int fd, uint8_t *body)
{
    for (size_t len; (len = next_hears(fd, body)) != 0;) {
        uint8_t wire[PARCEL_ANSWER];
        struct inbox_answer a;
        char head[96];
        unsigned said;

        next_answer(x, body, len, &a);
        said = next_status(x, a.id);
        parcel_answer_write(wire, &a);
        snprintf(head, sizeof head,
                 "HTTP/1.1 %u As it is\r\nContent-Length: %u\r\n\r\n",
                 said == 0 ? 200 : said, PARCEL_ANSWER);
        if (send(fd, head, strlen(head), MSG_NOSIGNAL) == -1 ||
            send(fd, wire, sizeof wire, MSG_NOSIGNAL) == -1)
            return;
    }
}

static void *next_main(void *ctx)
{
    struct next *x = ctx;
    uint8_t *body = malloc(PARCEL_MAX);
    int fd;

    while (body != NULL && (fd = accept(x->fd, NULL, NULL)) != -1) {
        next_serves(x, fd, body);
        close(fd);
    }
    free(body);
    return NULL;
}

static bool next_open(struct next *x, char url[64])
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    x->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(x->fd, (struct sockaddr *)&at, len) == -1 ||
        listen(x->fd, 8) == -1 ||
        getsockname(x->fd, (struct sockaddr *)&at, &len) == -1)
        return false;
    snprintf(url, 64, "http://127.0.0.1:%u", ntohs(at.sin_port));
    return pthread_create(&x->thread, NULL, next_main, x) == 0;
}

static void next_close(struct next *x)
{
    shutdown(x->fd, SHUT_RDWR);
    pthread_join(x->thread, NULL);
    close(x->fd);
}

/* ---- A shuffler that has mixed ------------------------------------------- */

struct sends {
    struct next next;
    char url[64];
    FILE *log_to;
    struct life_hop life;
    struct hop h;
};

/* So many batches of LIFE_MIN each. */
static void sends_open(struct sends *s, uint32_t batches)
{
    uint8_t key[HSY_SIGN_KEY];
    const char *about;
    hsy_error err = {0};

    life_fresh();
    if (life_open_with(&s->life, &life_real, 1, LIFE_MIN, life_rng(), &err) !=
            HSY_OK ||
        life_upload(&s->life, LIFE_DAY0, 0, batches * LIFE_MIN, UINT64_MAX) !=
            HSY_OK ||
        life_decide(&s->life, LIFE_DAY0 + 1, 6) != HSY_OK ||
        life_steps(&s->life) != HSY_OK)
        ok(false, "batches are mixed: %s", err.msg);
    s->log_to = fopen("/dev/null", "w");
    s->h = (struct hop){.mixer = s->life.m, .shuffles = true};
    pthread_mutex_init(&s->h.lock, NULL);
    hsy_sign_keypair(key, s->h.secret);
    if (!next_open(&s->next, s->url))
        ok(false, "a next hop listens");
    s->h.options.next = s->url;
    s->h.options.log = log_open(s->log_to, false, LOG_ERROR);
    if (hop_deliver_open(&s->h, &about, &err) != HSY_OK)
        ok(false, "it is known: %s", err.msg);
}

static void sends_close(struct sends *s)
{
    hop_deliver_close(&s->h);
    next_close(&s->next);
    log_close(s->h.options.log);
    fclose(s->log_to);
    pthread_mutex_destroy(&s->h.lock);
    life_close(&s->life);
}

/* How often it is called until there is nothing more to try. */
static unsigned sends_all(struct sends *s)
{
    hsy_error err = {0};
    bool more = true;
    unsigned calls = 0;

    while (more && calls < NEXT_MANY) {
        const hsy_status st = hop_deliver(&s->h, &more, &err);

        calls++;
        if (st != HSY_OK) {
            is_status(st, HSY_OK, "no answer is a failure of this hop");
            break;
        }
    }
    return calls;
}

/* ---- Tests --------------------------------------------------------------- */

static void more_after_the_end(uint64_t wants, const char *what)
{
    struct sends s = {.next = {.wants = wants}};

    sends_open(&s, 1);
    is_u64(sends_all(&s), 2, "%s: tried once, and not again", what);
    is_u64(s.next.requests, 3, "by its heads, its envelopes, its end");
    is_int(life_state(&s.life, LIFE_DAY0), STORE_MIX_MIXED,
           "it waits for a receipt");
    is_u64(s.h.status.refusals, 1, "and it is said");
    sends_close(&s);
}

static void many_are_refused(void)
{
    const uint32_t batches = 40;
    struct sends s = {.next = {.refuses = 422}};

    sends_open(&s, batches);
    is_u64(sends_all(&s), batches + 1, "each of 40 is tried once");
    is_u64(s.next.requests, batches, "by a request each");
    is_u64(s.h.status.refusals, batches, "all are known to be refused");
    is_u64(sends_all(&s), 1, "and none is tried again at once");
    is_u64(s.next.requests, batches, "at all");
    sends_close(&s);
}

/* As one whose tally has no room there. */
static void one_that_must_wait_does_not_hold_up_others(void)
{
    struct sends s = {.next = {.refuses = 422, .busy = true}};

    sends_open(&s, 3);
    is_u64(sends_all(&s), 1, "the first is to come later");
    s.h.sender.again = 0; /* it is later */
    sends_all(&s);
    is_u64(s.h.status.refusals, 2, "then the others are tried before it");
    is_u64(s.next.requests, 4, "and it once more");
    sends_close(&s);
}

/* ---- A full disk --------------------------------------------------------- */

static struct {
    struct store_functions ops;
    struct hop *h;
    unsigned asked;
} full;

/* There is no room to mix; the second time that it is found so is the end. */
static hsy_status full_count(struct store *s, const struct store_set *set,
                             uint64_t *envelopes, hsy_error *err)
{
    (void)s;
    (void)set;
    *envelopes = 0;
    if (++full.asked == 2)
        full.h->stopping = true; /* its own thread */
    *err = (hsy_error){.status = HSY_E_FULL, .msg = "the disk is full"};
    return HSY_E_FULL;
}

static uint64_t full_now(void *ctx)
{
    (void)ctx;
    return (LIFE_DAY0 + 2) * UINT64_C(86400) + 6 * 3600;
}

static void full_failed(void *ctx, const hsy_error *err)
{
    (void)ctx;
    ok(false, "a full disk is no end: %s", err->msg);
}

/* What has been mixed takes room until it is received. */
static void a_full_disk_does_not_stop_deliveries(void)
{
    static struct memory_store none; /* of an engine that asks nothing */
    struct engine_options o = {.ids_epoch = 1 << 20};
    struct counting counting = {.view = NULL};
    struct sends s = {.next = {.refuses = 422}};

    sends_open(&s, 1);
    memory_open(&none, 1);
    s.h.options.counting = &counting;
    if (engine_open(&counting.view, &none.base, &none.state, &o, NULL) !=
        HSY_OK)
        ok(false, "there is an engine");
    life_upload(&s.life, LIFE_DAY0 + 1, 100, LIFE_MIN, UINT64_MAX);
    life_decide(&s.life, LIFE_DAY0 + 2, 6);
    full.ops = *s.life.store->ops;
    full.ops.sealed_count = full_count;
    full.h = &s.h;
    s.life.store->ops = &full.ops;
    s.h.options.now = full_now;
    s.h.options.failed = full_failed;
    s.h.options.look_millis = 1;
    s.h.mixed = engine_roster(counting.view);
    pthread_cond_init(&s.h.mixer_wakes, NULL);
    hop_mix_main(&s.h);
    is_u64(full.asked, 2, "there is no room, and then none either");
    is_u64(s.next.requests, 1, "meanwhile what was mixed has gone on its way");
    pthread_cond_destroy(&s.h.mixer_wakes);
    roster_drop(s.h.mixed);
    free(s.h.rows);
    engine_close(counting.view);
    memory_clear(&none);
    sends_close(&s);
}

int main(void)
{
    if (!life_begin()) {
        ok(false, "there is room for it");
        return tap_done();
    }
    more_after_the_end(0, "a next hop that wants all of it again");
    more_after_the_end(1u << 30, "one that wants what is beyond it");
    many_are_refused();
    one_that_must_wait_does_not_hold_up_others();
    a_full_disk_does_not_stop_deliveries();
    life_end();
    return tap_done();
}
