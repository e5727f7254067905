/* Tests of src/server/shuffle: batches close by time, wait below min_batch,
 * expire, are mixed once and delivered once; through two hops, killed anywhere,
 * no envelope is lost and none comes twice. */
#define _GNU_SOURCE

#include "rig/sanitized.h"
#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "rig/tape.h"
#include "server/shuffle/mixer.h"
#include "tap.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define RUN_DAY0 100u
#define RUN_DAYS 12u
#define RUN_NUMBERS 64u
#define RUN_MIN 5u
#define RUN_REPORT 9u /* bytes behind the last layer: kind and number */
#define RUN_BATCHES 16u
#define RUN_HOPS 2u

static char mixer_root[64], mixer_at[RUN_HOPS][96];

/* What is outside of all processes: keys, the collector, the clock. */
struct run_world {
    uint8_t key[RUN_HOPS + 1][HSY_SIGN_KEY],
        secret[RUN_HOPS + 1][HSY_SIGN_SECRET];
    uint32_t day;                  /* of the last decision that was asked for */
    uint32_t counted[RUN_NUMBERS]; /* how often each number came */
    uint8_t id[RUN_BATCHES][STORE_BATCH_ID], digest[RUN_BATCHES][STORE_DIGEST];
    uint32_t batches;
    bool conflict;   /* an id came with two contents */
    uint64_t opened; /* no two processes have the same coins */
};

static struct run_world *run_world;

/* ---- Envelopes ----------------------------------------------------------- */

static uint32_t run_length(uint32_t layers)
{
    return layers * BATCH_LAYER + RUN_REPORT;
}

/* The envelope of a number: what a peel leaves is that of one layer less. One
 * whose last byte but one is set does not open at the first hop. */
static void run_envelope(uint8_t *out, uint32_t layers, uint64_t number,
                         bool opens)
{
    memset(out, (int)number, run_length(layers));
    memcpy(out + run_length(layers) - 8, &number, 8);
    out[0] = opens ? 0 : 0xff;
}

static hsy_status run_peel(void *ctx, uint8_t *out,
                           const struct mixer_task *task, uint32_t epoch,
                           const uint8_t *id, const uint8_t *envelope)
{
    (void)ctx;
    (void)epoch;
    if (envelope[0] == 0xff || (id == NULL) != (task->place != 1))
        return HSY_E_REFUSED;
    memcpy(out, envelope + BATCH_LAYER, task->length - BATCH_LAYER);
    return HSY_OK;
}

/* ---- One hop ------------------------------------------------------------- */

struct hop {
    uint32_t place;
    struct store *store;
    struct store_state state;
    struct mixer *m;
    struct mixer_task task;
};

static hsy_stream run_stream;

static hsy_rng run_rng(void)
{
    hsy_stream_seed(&run_stream, 17, ++run_world->opened);
    return hsy_stream_rng(&run_stream);
}

/* File operations are those of the disk too. */
static void run_moment(void *ctx)
{
    (void)ctx;
    if (++disk.ops == disk.kill_at)
        _exit(9);
}

static struct mixer_task run_task(uint32_t place)
{
    struct mixer_task t = {.entry = 0,
                           .task = "cells",
                           .release = 1,
                           .place = place,
                           .of = RUN_HOPS,
                           .last = RUN_DAY0 + RUN_DAYS - 1,
                           .min_batch = RUN_MIN,
                           .max_wait = 2,
                           .close_after = 21600,
                           .length = run_length(RUN_HOPS + 2 - place)};

    if (place > 1)
        memcpy(t.before, run_world->key[place - 2], HSY_SIGN_KEY);
    memcpy(t.next, run_world->key[place], HSY_SIGN_KEY);
    return t;
}

static hsy_status run_open_with(struct hop *h, uint32_t place, uint64_t part,
                                hsy_rng rng, hsy_error *err)
{
    struct mixer_options o = {.size = sizeof o,
                              .directory = mixer_at[place - 1],
                              .rng = rng,
                              .part = part,
                              .peel = run_peel,
                              .moment = run_moment};
    hsy_status st;

    *h = (struct hop){.place = place, .task = run_task(place)};
    st = store_sqlite_open(&h->store, &h->state, o.directory, true, err);
    if (st != HSY_OK)
        return st;
    o.store = h->store;
    memcpy(o.key, run_world->key[place - 1], sizeof o.key);
    memcpy(o.secret, run_world->secret[place - 1], sizeof o.secret);
    st = mixer_open(&h->m, &o, err);
    return st == HSY_OK ? mixer_tasks(h->m, &h->task, 1, err) : st;
}

static hsy_status run_open(struct hop *h, uint32_t place)
{
    hsy_error err = {0};
    hsy_status st = run_open_with(h, place, 0, run_rng(), &err);

    if (st != HSY_OK)
        ok(false, "hop %u opens: %s", place, err.msg);
    return st;
}

static void run_close(struct hop *h)
{
    mixer_close(h->m);
    if (h->store != NULL)
        h->store->ops->close(h->store);
    h->m = NULL;
    h->store = NULL;
}

/* A commit of uploads: n numbers from first on. */
static hsy_status run_upload(struct hop *h, uint32_t epoch, uint64_t first,
                             uint32_t n, uint64_t broken)
{
    const uint32_t item = MIXER_UPLOAD_ID + h->task.length;
    uint8_t *bytes = calloc(n + 1, item);
    const struct store_batch b = {.epoch = epoch,
                                  .type = STORE_SEALED,
                                  .reports = n,
                                  .bytes = bytes,
                                  .len = (size_t)n * item};
    const struct store_commit c = {
        .seq = h->state.seq + 1, .batches = &b, .nbatches = 1};
    hsy_error err;
    hsy_status st;

    for (uint32_t i = 0; i < n; i++) {
        memcpy(bytes + (size_t)i * item, &(uint64_t){first + i}, 8);
        run_envelope(bytes + (size_t)i * item + MIXER_UPLOAD_ID, RUN_HOPS + 1,
                     first + i, first + i != broken);
    }
    st = h->store->ops->append(h->store, &c, &err);
    if (st == HSY_OK)
        h->state.seq++;
    free(bytes);
    return st;
}

static hsy_status run_decide(struct hop *h, uint32_t day, uint32_t hours)
{
    const struct mixer_time now = {.wall = (uint64_t)day * 86400 +
                                           (uint64_t)hours * 3600,
                                   .day = day,
                                   .seq = h->state.seq};
    hsy_error err;

    return mixer_decide(h->m, &now, &err);
}

static hsy_status run_steps(struct hop *h)
{
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    bool more = true;

    while (st == HSY_OK && more)
        st = mixer_step(h->m, &more, &err);
    return st;
}

static enum store_mix_state run_state(const struct hop *h, uint32_t epoch)
{
    size_t n;
    const struct store_mix *rows = mixer_rows(h->m, &n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].epoch == epoch)
            return rows[i].state;
    return STORE_MIX_NONE;
}

/* ---- Delivery ------------------------------------------------------------ */

static uint8_t *run_parcel(const struct hop *h, const struct mixer_parcel *p)
{
    uint8_t *bytes = malloc(p->bytes + 1);
    hsy_error err;

    if (mixer_parcel_read(h->m, p, bytes, 0, p->bytes, &err) != HSY_OK)
        ok(false, "a parcel is read");
    return bytes;
}

/* What a receiver of place `hops` + 1 makes of the heads. */
static hsy_status run_check(const uint8_t *bytes, uint32_t hops,
                            struct batch_head *head)
{
    static const uint8_t scheme[HSY_DIGEST];
    struct batch_chain chain = {.task = "cells",
                                .release = 1,
                                .scheme = scheme,
                                .hops = hops,
                                .of = RUN_HOPS,
                                .least = RUN_MIN,
                                .length = run_length(RUN_HOPS + 1 - hops)};
    hsy_error err = {0};
    hsy_status st;

    memcpy(chain.keys, run_world->key, sizeof run_world->key);
    st = batch_heads_check(head, bytes, hops * BATCH_HEAD, &chain, &err);
    if (st != HSY_OK)
        ok(false, "heads: %s", err.msg);
    return st;
}

/* The collector: each id once; what is counted stays counted. */
static void run_collect(const struct batch_head *head, const uint8_t *envelopes)
{
    struct run_world *w = run_world;

    for (uint32_t i = 0; i < w->batches; i++)
        if (memcmp(w->id[i], head->id, STORE_BATCH_ID) == 0) {
            w->conflict = w->conflict ||
                          memcmp(w->digest[i], head->digest, STORE_DIGEST) != 0;
            return;
        }
    memcpy(w->id[w->batches], head->id, STORE_BATCH_ID);
    memcpy(w->digest[w->batches++], head->digest, STORE_DIGEST);
    for (uint64_t i = 0; i < head->n; i++) {
        uint64_t number;

        memcpy(&number, envelopes + (i + 1) * head->length - 8, 8);
        w->counted[number % RUN_NUMBERS]++;
    }
}

/* The second hop: one commit, or the same receipt again. */
static hsy_status run_receive(struct hop *to, const struct batch_head *head,
                              const uint8_t *bytes)
{
    struct store_received row = {.epoch = head->epoch,
                                 .n = head->n,
                                 .heads = bytes,
                                 .heads_len = BATCH_HEAD};
    struct store_mix mix = {.epoch = head->epoch,
                            .part = head->part,
                            .through = to->state.seq + 1,
                            .n = head->n,
                            .state = STORE_MIX_CLOSED};
    const struct store_batch b = {.epoch = head->epoch,
                                  .type = STORE_SEALED,
                                  .reports = head->n,
                                  .bytes = bytes + BATCH_HEAD,
                                  .len = head->n * head->length};
    const struct store_commit c = {.seq = to->state.seq + 1,
                                   .batches = &b,
                                   .nbatches = 1,
                                   .received = &row,
                                   .mixes = &mix,
                                   .nmixes = 1};
    struct store_received found;
    hsy_error err;
    hsy_status st = to->store->ops->received(to->store, head->id, &found, &err);

    if (st == HSY_OK) {
        run_world->conflict =
            run_world->conflict ||
            memcmp(found.digest, head->digest, STORE_DIGEST) != 0;
        return HSY_OK;
    }
    memcpy(row.id, head->id, sizeof row.id);
    memcpy(row.digest, head->digest, sizeof row.digest);
    batch_id(mix.id, run_world->key[to->place - 1], head->task, head->release,
             head->epoch, head->part);
    st = to->store->ops->append(to->store, &c, &err);
    if (st == HSY_OK)
        to->state.seq++;
    return st == HSY_OK ? mixer_came(to->m, &mix, &err) : st;
}

/* Everything that is mixed goes to the next hop, or the collector (NULL). */
static hsy_status run_deliver(struct hop *h, struct hop *to)
{
    struct mixer_parcel p;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && mixer_parcel(h->m, NULL, &p)) {
        uint8_t *bytes = run_parcel(h, &p), receipt[STORE_RECEIPT];
        struct batch_head head;
        hsy_error err;

        st = run_check(bytes, h->place, &head);
        if (st == HSY_OK && to != NULL)
            st = run_receive(to, &head, bytes);
        else if (st == HSY_OK)
            run_collect(&head, bytes + h->place * BATCH_HEAD);
        if (st == HSY_OK)
            batch_receipt(receipt, head.id, head.digest, head.n,
                          run_world->secret[h->place]);
        run_moment(NULL); /* the answer may be lost */
        if (st == HSY_OK)
            st = mixer_acked(h->m, p.id, receipt, &err);
        free(bytes);
    }
    return st;
}

/* ---- Single behaviours --------------------------------------------------- */

static void run_fresh(void)
{
    for (size_t i = 0; i < RUN_HOPS; i++) {
        char mixed[256];

        snprintf(mixed, sizeof mixed, "%s/mixed", mixer_at[i]);
        rig_remove(mixed);
        rig_remove(mixer_at[i]);
        mkdir(mixer_at[i], 0700);
    }
    memset(run_world->counted, 0, sizeof run_world->counted);
    run_world->day = run_world->batches = 0;
    run_world->conflict = false;
    disk_reset();
}

static void batches_close_by_time(void)
{
    struct hop h;

    run_fresh();
    run_open(&h, 1);
    run_upload(&h, RUN_DAY0, 0, 9, 99);
    is_status(run_decide(&h, RUN_DAY0, 23), HSY_OK, "within the epoch");
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_NONE, "many make no batch");
    run_decide(&h, RUN_DAY0 + 1, 5);
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_NONE, "nor does its end");
    run_decide(&h, RUN_DAY0 + 1, 6);
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_CLOSED,
           "six hours later it does");
    run_upload(&h, RUN_DAY0, 20, 9, 99);
    is_status(run_steps(&h), HSY_OK, "it is mixed");
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_MIXED, "and says so");
    ok(mixer_rows(h.m, &(size_t){0})->n == 9, "without those that came late");
    run_decide(&h, RUN_DAY0 + 2, 6);
    is_int(run_state(&h, RUN_DAY0 + 1), STORE_MIX_CLOSED,
           "which are of the next");
    run_close(&h);
}

static void small_ones_wait_and_expire(void)
{
    struct hop h;
    size_t n;

    run_fresh();
    run_open(&h, 1);
    run_upload(&h, RUN_DAY0, 0, 2, 99);
    run_decide(&h, RUN_DAY0 + 1, 6);
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_WAITING, "too few wait");
    run_upload(&h, RUN_DAY0, 2, 30, 99);
    run_decide(&h, RUN_DAY0 + 1, 7);
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_WAITING,
           "and more make no batch before its time");
    run_decide(&h, RUN_DAY0 + 2, 6);
    is_int(run_state(&h, RUN_DAY0 + 1), STORE_MIX_CLOSED, "then they do");
    run_close(&h);

    run_fresh();
    run_open(&h, 1);
    run_upload(&h, RUN_DAY0, 0, 2, 99);
    run_decide(&h, RUN_DAY0 + 1, 6);
    run_upload(&h, RUN_DAY0 + 1, 2, 1, 99);
    run_decide(&h, RUN_DAY0 + 2, 6);
    run_decide(&h, RUN_DAY0 + 3, 6);
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_EXPIRED,
           "two epochs later: over");
    ok(mixer_rows(h.m, &n)[0].n == 2, "two are counted as erased, not three");
    run_close(&h);
    run_open(&h, 1);
    is_status(run_steps(&h), HSY_OK, "and are erased");
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_GONE, "for good");
    is_u64((uint64_t)rig_sql(mixer_at[0], "record.db",
                             "SELECT sum(reports) FROM batches"),
           1, "the third still waits");
    run_close(&h);
}

static void what_does_not_open_does_not_count(void)
{
    struct mixer_parcel p;
    struct batch_head head;
    struct hop h;
    uint8_t *bytes;

    run_fresh();
    run_open(&h, 1);
    run_upload(&h, RUN_DAY0, 0, 5, 3);
    run_decide(&h, RUN_DAY0 + 1, 6);
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_CLOSED, "five make a batch");
    is_status(run_steps(&h), HSY_OK, "of which four open");
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_WAITING, "so it waits after all");
    run_upload(&h, RUN_DAY0 + 1, 5, 1, 99);
    run_upload(&h, RUN_DAY0 + 1, 5, 1, 99); /* the same envelope once more */
    run_decide(&h, RUN_DAY0 + 2, 6);
    is_status(run_steps(&h), HSY_OK, "one more, and it is mixed");
    is_int(run_state(&h, RUN_DAY0 + 1), STORE_MIX_MIXED, "with five");
    mixer_parcel(h.m, NULL, &p);
    bytes = run_parcel(&h, &p);
    run_check(bytes, 1, &head);
    ok(head.n == 5 && head.in == 7 && head.unopened == 2,
       "the head says that of seven two did not come out");
    free(bytes);
    run_close(&h);
}

static void a_mixed_batch_is_never_mixed_again(void)
{
    struct mixer_parcel p, again;
    uint8_t *first, *second, receipt[STORE_RECEIPT] = {1};
    struct hop h;
    hsy_error err;

    run_fresh();
    run_open(&h, 1);
    run_upload(&h, RUN_DAY0, 0, 20, 99);
    run_decide(&h, RUN_DAY0 + 1, 6);
    run_steps(&h);
    ok(mixer_parcel(h.m, NULL, &p), "there is something to send");
    first = run_parcel(&h, &p);
    run_close(&h);
    run_open(&h, 1);
    run_decide(&h, RUN_DAY0 + 1, 9);
    run_steps(&h);
    ok(mixer_parcel(h.m, NULL, &again) && again.bytes == p.bytes,
       "after a restart too");
    second = run_parcel(&h, &again);
    is_bytes(second, first, p.bytes, "the very same bytes");
    is_status(mixer_acked(h.m, p.id, receipt, &err), HSY_E_REFUSED,
              "a receipt of nobody's is refused");
    is_int(run_state(&h, RUN_DAY0), STORE_MIX_MIXED, "and changes nothing");
    free(first);
    free(second);
    run_close(&h);
}

static void a_missing_file_is_damage(void)
{
    char name[256];
    struct mixer_parcel p;
    struct hop h;
    hsy_error err = {0};
    size_t at;

    run_open(&h, 1); /* as the test before has left it */
    mixer_parcel(h.m, NULL, &p);
    run_close(&h);
    at = (size_t)snprintf(name, sizeof name, "%s/mixed/", mixer_at[0]);
    for (size_t i = 0; i < sizeof p.id; i++)
        at += (size_t)snprintf(name + at, sizeof name - at, "%02x", p.id[i]);
    unlink(name);
    is_status(run_open_with(&h, 1, 0, run_rng(), &err), HSY_E_DAMAGED,
              "a mixed batch without its file is not mixed again");
    run_close(&h);
}

/* ---- Orders and parts ---------------------------------------------------- */

/* The words 1 choose the first of all each time. */
static void the_order_is_the_one_that_was_drawn(void)
{
    static const uint64_t words[] = {1, 1, 1, 1, 1};
    static const uint64_t want[] = {4, 0, 1, 2, 3};
    struct tape tape = {words, sizeof words};
    struct mixer_parcel p;
    struct hop h;
    hsy_error err;
    uint8_t *bytes;
    bool same = true;

    run_fresh();
    run_open_with(&h, 1, 0, (hsy_rng){tape_fill, &tape}, &err);
    run_upload(&h, RUN_DAY0, 0, 5, 99);
    run_decide(&h, RUN_DAY0 + 1, 6);
    is_status(run_steps(&h), HSY_OK, "five are mixed by given coins");
    mixer_parcel(h.m, NULL, &p);
    bytes = run_parcel(&h, &p);
    for (size_t i = 0; i < 5; i++) {
        const uint8_t *end = bytes + BATCH_HEAD + (i + 1) * run_length(2);

        same = same && memcmp(end - 8, &want[i], 8) == 0;
    }
    ok(same, "and stand where the order says, whatever came first");
    free(bytes);
    run_close(&h);
}

static void large_ones_are_parted(void)
{
    struct mixer_parcel p;
    struct hop h;
    hsy_error err;
    uint64_t parts = 0, n = 0, least = 99;
    const uint8_t *after = NULL;

    run_fresh();
    run_open_with(&h, 1, 8, run_rng(), &err);
    run_upload(&h, RUN_DAY0, 0, 23, 7);
    run_decide(&h, RUN_DAY0 + 1, 6);
    run_steps(&h);
    for (; mixer_parcel(h.m, after, &p); after = p.id) {
        uint8_t *bytes = run_parcel(&h, &p);
        struct batch_head head;

        run_check(bytes, 1, &head);
        parts++;
        n += head.n;
        least = head.n < least ? head.n : least;
        free(bytes);
    }
    ok(parts == 3 && n == 22 && least == 7, "22 in parts of 8: 7, 7 and 8");
    run_close(&h);
}

/* ---- Killed anywhere ----------------------------------------------------- */

/* Uploads of commit s + 1, and when: one that is late among them. */
static const struct {
    uint32_t epoch, n;
} run_commits[] = {{0, 4}, {0, 2}, {1, 2}, {2, 2}, {4, 4}, {5, 3},
                   {5, 2}, {6, 3}, {7, 3}, {6, 2}, {7, 3}};

#define RUN_COMMITS (sizeof run_commits / sizeof run_commits[0])
#define RUN_BROKEN 17u /* a number that does not open */

/* The day on which a commit comes: that of its epoch, or if it is late later.
 */
static uint32_t run_when(size_t commit)
{
    return RUN_DAY0 + (commit == 9 ? 7 : run_commits[commit].epoch);
}

/* A whole life of two hops, from wherever they are. */
static hsy_status run_live(void)
{
    struct hop first, second;
    hsy_status st = run_open(&first, 1);

    if (st == HSY_OK)
        st = run_open(&second, 2);
    for (uint32_t day = RUN_DAY0; st == HSY_OK && day < RUN_DAY0 + RUN_DAYS;
         day++) {
        while (st == HSY_OK && first.state.seq < RUN_COMMITS &&
               run_when(first.state.seq) == day) {
            const size_t at = first.state.seq;
            uint64_t number = 0;

            for (size_t i = 0; i < at; i++)
                number += run_commits[i].n;
            st = run_upload(&first, RUN_DAY0 + run_commits[at].epoch, number,
                            run_commits[at].n, RUN_BROKEN);
        }
        if (st == HSY_OK)
            st = run_decide(&first, day + 1, 6);
        if (st == HSY_OK)
            st = run_steps(&first);
        if (st == HSY_OK)
            st = run_deliver(&first, &second);
        if (st == HSY_OK)
            st = run_steps(&second);
        if (st == HSY_OK)
            st = run_deliver(&second, NULL);
        if (st == HSY_OK)
            st = run_steps(&first);
        if (st == HSY_OK)
            st = run_steps(&second);
    }
    if (first.store != NULL)
        run_close(&first);
    if (second.store != NULL)
        run_close(&second);
    return st;
}

static bool run_killed(uint64_t at)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        disk_reset();
        disk.kill_at = at;
        _exit(run_live() == HSY_OK ? 0 : 1);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
        ok(false, "a life ended otherwise at operation %llu",
           (unsigned long long)at);
    return WIFEXITED(status) && WEXITSTATUS(status) == 9;
}

/* NULL, or what is wrong when everything has come to its end. */
static const char *run_wrong(void)
{
    const int64_t expired =
        rig_sql(mixer_at[0], "record.db",
                "SELECT coalesce(sum(n), 0) FROM mixes WHERE state = 7");
    const int64_t rest =
        rig_sql(mixer_at[0], "record.db", "SELECT count(*) FROM batches") +
        rig_sql(mixer_at[1], "record.db", "SELECT count(*) FROM batches");
    uint64_t all = 0, came = 0;

    for (size_t i = 0; i < RUN_COMMITS; i++)
        all += run_commits[i].n;
    for (uint64_t i = 0; i < all; i++) {
        if (run_world->counted[i] > 1)
            return "one came twice";
        came += run_world->counted[i];
    }
    if (run_world->conflict)
        return "a batch was mixed twice";
    if (rest != 0)
        return "envelopes are left";
    if (came + 1 + (uint64_t)expired != all) /* 1: does not open */
        return "one is lost";
    return NULL;
}

static void killed_anywhere(void)
{
    const bool every = getenv("HSY_TEST_LONG") != NULL;
    const uint64_t step = every ? 1 : TEST_SANITIZED ? 61 : 7;
    const char *wrong = NULL;
    uint64_t kills = 0, at = 1;

    for (; wrong == NULL; at += step) {
        run_fresh();
        if (!run_killed(at))
            break;
        kills++;
        if (run_killed(1 + at * 5 % 89)) /* soon after it comes back, again */
            kills++;
        run_killed(0);
        wrong = run_wrong();
    }
    ok(wrong == NULL && kills > 20,
       "killed %llu times, up to operation %llu: %s", (unsigned long long)kills,
       (unsigned long long)at, wrong == NULL ? "lost 0, doubled 0" : wrong);
}

static void a_quiet_life(void)
{
    run_fresh();
    ok(!run_killed(0), "a life without a kill");
    ok(run_wrong() == NULL, "counts each once: %s",
       run_wrong() == NULL ? "yes" : run_wrong());
    ok(run_world->batches >= 3, "in %u batches", run_world->batches);
}

int main(void)
{
    if (!rig_root(mixer_root))
        return 1;
    run_world = mmap(NULL, sizeof *run_world, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < RUN_HOPS; i++)
        snprintf(mixer_at[i], sizeof mixer_at[i], "%s/%zu", mixer_root, i);
    for (size_t i = 0; i <= RUN_HOPS; i++)
        if (hsy_sign_keypair(run_world->key[i], run_world->secret[i]) != HSY_OK)
            return 1;
    disk_begin();

    batches_close_by_time();
    small_ones_wait_and_expire();
    what_does_not_open_does_not_count();
    a_mixed_batch_is_never_mixed_again();
    a_missing_file_is_damage();
    the_order_is_the_one_that_was_drawn();
    large_ones_are_parted();
    a_quiet_life();
    killed_anywhere();

    run_fresh();
    for (size_t i = 0; i < RUN_HOPS; i++)
        rmdir(mixer_at[i]);
    rmdir(mixer_root);
    return tap_done();
}
