/* mixer_life.c - see mixer_life.h. */
#define _GNU_SOURCE

#include "rig/mixer_life.h"

#include "rig/store_disk.h"
#include "rig/store_rig.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define LIFE_NUMBERS 64u
#define LIFE_BATCHES 16u
#define LIFE_KILLED 9 /* how a process ends that was killed */
#define LIFE_FAILED 1

const struct life_shuffler life_real = {mixer_open, mixer_decide, mixer_step};

char life_at[LIFE_HOPS][96];

static char life_root[64];

/* What is outside of all processes: keys, the collector, who watches. */
static struct life_world {
    uint8_t key[LIFE_HOPS + 1][HSY_SIGN_KEY],
        secret[LIFE_HOPS + 1][HSY_SIGN_SECRET];
    uint32_t counted[LIFE_NUMBERS]; /* how often each number came */
    uint8_t id[LIFE_BATCHES][STORE_BATCH_ID],
        digest[LIFE_BATCHES][STORE_DIGEST];
    uint32_t batches;
    uint64_t waited;
    bool conflict;   /* an id came with two contents */
    bool small;      /* a batch left with too few envelopes */
    uint64_t opened; /* no two processes have the same coins */
    uint32_t day;    /* it goes on where a process was killed */
} * life_world;

/* ---- Envelopes ----------------------------------------------------------- */

uint32_t life_length(uint32_t layers)
{
    return layers * BATCH_LAYER + LIFE_REPORT;
}

bool life_noise(uint64_t number)
{
    return number == 10 || number == 11 || (number >= 30 && number <= 32);
}

/* What a peel leaves of an envelope is that of one layer less. One whose first
 * byte is set does not open; behind it is the period. */
void life_item(uint8_t *item, const uint8_t id[MIXER_UPLOAD_ID], uint32_t epoch,
               uint64_t number, bool opens)
{
    const uint32_t period = epoch / SEAL_PERIOD_DAYS;
    const uint32_t length = life_length(LIFE_HOPS + 1);
    uint8_t *envelope = item + MIXER_UPLOAD_ID;

    memcpy(item, id, MIXER_UPLOAD_ID);
    memset(envelope, (int)number, length);
    memcpy(envelope + length - 8, &number, 8);
    envelope[0] = opens ? 0 : 0xff;
    envelope[BATCH_LAYER] = life_noise(number) ? 0xff : 0;
    memcpy(envelope + BATCH_LAYER + 1, &period, sizeof period);
}

uint64_t life_number(const uint8_t *envelope, uint32_t length)
{
    uint64_t number;

    memcpy(&number, envelope + length - 8, 8);
    return number;
}

static hsy_status life_peel(void *ctx, uint8_t *out, bool *late,
                            const struct mixer_task *task, uint32_t epoch,
                            const uint8_t *id, const uint8_t *envelope)
{
    uint32_t period;

    (void)ctx;
    memcpy(&period, envelope + 1, sizeof period);
    *late = id == NULL && period + 1 == epoch / SEAL_PERIOD_DAYS;
    if (envelope[0] == 0xff || (id == NULL) != (task->place != 1) ||
        (id == NULL && !*late && period != epoch / SEAL_PERIOD_DAYS))
        return HSY_E_REFUSED;
    memcpy(out, envelope + BATCH_LAYER, task->length - BATCH_LAYER);
    return HSY_OK;
}

/* ---- One hop ------------------------------------------------------------- */

hsy_rng life_rng(void)
{
    static hsy_stream stream;

    hsy_stream_seed(&stream, 17, ++life_world->opened);
    return hsy_stream_rng(&stream);
}

/* File operations are those of the disk too. */
static void life_moment(void *ctx)
{
    (void)ctx;
    if (++disk.ops == disk.kill_at)
        _exit(LIFE_KILLED);
}

static struct mixer_task life_task(uint32_t place)
{
    struct mixer_task t = {.entry = 0,
                           .task = "cells",
                           .release = 1,
                           .place = place,
                           .of = LIFE_HOPS,
                           .first = LIFE_DAY0,
                           .last = LIFE_FROM + LIFE_DAYS - 1,
                           .min_batch = LIFE_MIN,
                           .max_wait = 2,
                           .close_after = 21600,
                           .length = life_length(LIFE_HOPS + 2 - place)};

    if (place > 1)
        memcpy(t.before, life_world->key[place - 2], HSY_SIGN_KEY);
    memcpy(t.next, life_world->key[place], HSY_SIGN_KEY);
    return t;
}

hsy_status life_open_with(struct life_hop *h, const struct life_shuffler *by,
                          uint32_t place, uint64_t part, hsy_rng rng,
                          hsy_error *err)
{
    struct mixer_options o = {.size = sizeof o,
                              .directory = life_at[place - 1],
                              .rng = rng,
                              .part = part,
                              .peel = life_peel,
                              .moment = life_moment};
    hsy_status st;

    *h = (struct life_hop){.by = by, .place = place, .task = life_task(place)};
    st = store_sqlite_open(&h->store, &h->state, o.directory, true, err);
    if (st != HSY_OK)
        return st;
    o.store = h->store;
    memcpy(o.key, life_world->key[place - 1], sizeof o.key);
    memcpy(o.secret, life_world->secret[place - 1], sizeof o.secret);
    st = by->open(&h->m, &o, err);
    return st == HSY_OK ? mixer_tasks(h->m, &h->task, 1, err) : st;
}

hsy_status life_open(struct life_hop *h, const struct life_shuffler *by,
                     uint32_t place)
{
    hsy_error err = {0};
    const hsy_status st = life_open_with(h, by, place, 0, life_rng(), &err);

    if (st != HSY_OK)
        fprintf(stderr, "# hop %u does not open: %s\n", place, err.msg);
    return st;
}

void life_close(struct life_hop *h)
{
    mixer_close(h->m);
    if (h->store != NULL)
        h->store->ops->close(h->store);
    h->m = NULL;
    h->store = NULL;
}

hsy_status life_append(struct life_hop *h, uint32_t epoch, const uint8_t *items,
                       uint32_t n)
{
    const struct store_batch b = {.epoch = epoch,
                                  .type = STORE_SEALED,
                                  .reports = n,
                                  .bytes = items,
                                  .len = (size_t)n * LIFE_ITEM};
    const struct store_commit c = {
        .seq = h->state.seq + 1, .batches = &b, .nbatches = 1};
    hsy_error err;
    const hsy_status st = h->store->ops->append(h->store, &c, &err);

    if (st == HSY_OK)
        h->state.seq++;
    return st;
}

hsy_status life_upload(struct life_hop *h, uint32_t epoch, uint64_t first,
                       uint32_t n, uint64_t broken)
{
    uint8_t *items = calloc(n + 1, LIFE_ITEM);
    hsy_status st;

    for (uint32_t i = 0; i < n; i++) {
        uint8_t id[MIXER_UPLOAD_ID] = {0};

        memcpy(id, &(uint64_t){first + i}, 8);
        life_item(items + (size_t)i * LIFE_ITEM, id, epoch, first + i,
                  first + i != broken);
    }
    st = life_append(h, epoch, items, n);
    free(items);
    return st;
}

hsy_status life_decide(struct life_hop *h, uint32_t day, uint32_t hours)
{
    const struct mixer_time now = {.wall = (uint64_t)day * 86400 +
                                           (uint64_t)hours * 3600,
                                   .day = day,
                                   .closed = day - LIFE_GRACE - 1,
                                   .seq = h->state.seq};
    hsy_error err;

    return h->by->decide(h->m, &now, &err);
}

hsy_status life_steps(struct life_hop *h)
{
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    bool more = true;

    while (st == HSY_OK && more)
        st = h->by->step(h->m, &more, &err);
    return st;
}

enum store_mix_state life_state(const struct life_hop *h, uint32_t epoch)
{
    size_t n;
    const struct store_mix *rows = mixer_rows(h->m, &n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].epoch == epoch)
            return rows[i].state;
    return STORE_MIX_NONE;
}

/* ---- Delivery ------------------------------------------------------------ */

uint8_t *life_parcel(const struct life_hop *h, const struct mixer_parcel *p)
{
    uint8_t *bytes = malloc(p->bytes + 1);
    hsy_error err;

    if (bytes != NULL &&
        mixer_parcel_read(h->m, p, bytes, 0, p->bytes, &err) == HSY_OK)
        return bytes;
    free(bytes);
    return NULL;
}

hsy_status life_check(const uint8_t *bytes, uint32_t hops,
                      struct batch_head *head, hsy_error *err)
{
    static const uint8_t scheme[HSY_DIGEST];
    struct batch_chain chain = {.task = "cells",
                                .release = 1,
                                .scheme = scheme,
                                .hops = hops,
                                .of = LIFE_HOPS,
                                .least = LIFE_MIN,
                                .waits = LIFE_MIN,
                                .length = life_length(LIFE_HOPS + 1 - hops)};

    memcpy(chain.keys, life_world->key, sizeof life_world->key);
    return batch_heads_check(head, bytes, hops * BATCH_HEAD, &chain, err);
}

hsy_status life_receipt(struct life_hop *h, const struct batch_head *head,
                        hsy_error *err)
{
    uint8_t receipt[STORE_RECEIPT];

    batch_receipt(receipt, head->id, head->digest, head->n,
                  life_world->secret[h->place]);
    life_moment(NULL); /* the answer may be lost */
    return mixer_acked(h->m, head->id, receipt, err);
}

/* The collector: each id once; what is counted stays counted. */
static void life_collect(const struct batch_head *head,
                         const uint8_t *envelopes)
{
    struct life_world *w = life_world;

    for (uint32_t i = 0; i < w->batches; i++)
        if (memcmp(w->id[i], head->id, STORE_BATCH_ID) == 0) {
            w->conflict = w->conflict ||
                          memcmp(w->digest[i], head->digest, STORE_DIGEST) != 0;
            return;
        }
    memcpy(w->id[w->batches], head->id, STORE_BATCH_ID);
    memcpy(w->digest[w->batches++], head->digest, STORE_DIGEST);
    w->waited += head->waited;
    for (uint64_t i = 0; i < head->n; i++)
        w->counted[life_number(envelopes + i * head->length, head->length) %
                   LIFE_NUMBERS]++;
}

/* The second hop: one commit, or the same receipt again. */
static hsy_status life_receive(struct life_hop *to,
                               const struct batch_head *head,
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
        life_world->conflict =
            life_world->conflict ||
            memcmp(found.digest, head->digest, STORE_DIGEST) != 0;
        return HSY_OK;
    }
    memcpy(row.id, head->id, sizeof row.id);
    memcpy(row.digest, head->digest, sizeof row.digest);
    batch_id(mix.id, life_world->key[to->place - 1], head->task, head->release,
             head->epoch, head->part);
    st = to->store->ops->append(to->store, &c, &err);
    if (st == HSY_OK)
        to->state.seq++;
    return st == HSY_OK ? mixer_came(to->m, &mix, &err) : st;
}

/* One parcel goes to the next hop, or the collector (NULL). What has left is
 * noted before anybody refuses it. */
static hsy_status life_hand_over(struct life_hop *h, struct life_hop *to,
                                 const uint8_t *bytes)
{
    struct batch_head head;
    hsy_error err = {0};
    hsy_status st = batch_head_read(&head, bytes, &err);

    if (st == HSY_OK && head.n < LIFE_MIN)
        life_world->small = true;
    if (st == HSY_OK)
        st = life_check(bytes, h->place, &head, &err);
    if (st == HSY_OK && to != NULL)
        st = life_receive(to, &head, bytes);
    else if (st == HSY_OK)
        life_collect(&head, bytes + h->place * BATCH_HEAD);
    return st == HSY_OK ? life_receipt(h, &head, &err) : st;
}

hsy_status life_deliver(struct life_hop *h, struct life_hop *to)
{
    struct mixer_parcel p;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && mixer_parcel(h->m, NULL, &p)) {
        uint8_t *bytes = life_parcel(h, &p);

        st = bytes == NULL ? HSY_E_IO : life_hand_over(h, to, bytes);
        free(bytes);
    }
    return st;
}

/* ---- A whole life -------------------------------------------------------- */

/* Uploads of commit s + 1, and when: two that are late among them. Epoch 7 is
 * the last one of a period. */
static const struct {
    uint32_t epoch, n;
} life_commits[] = {{0, 4}, {0, 2}, {1, 2}, {2, 2}, {4, 4}, {5, 3},
                    {5, 2}, {6, 3}, {7, 3}, {6, 2}, {7, 3}, {8, 6}};

#define LIFE_COMMITS (sizeof life_commits / sizeof life_commits[0])
#define LIFE_BROKEN 17u  /* a number that does not open */
#define LIFE_UNOPENED 6u /* this, and those of life_noise */
#define LIFE_EXPIRED 5   /* of epoch 1 at the first hop, of 8 at the second */

/* The day on which a commit comes: that of its epoch, or if it is late the next
 * one. */
static uint32_t life_when(size_t commit)
{
    const bool late = commit == 9 || commit == 10;

    return LIFE_FROM + life_commits[commit].epoch + late;
}

static hsy_status life_uploads(struct life_hop *first, uint32_t day)
{
    hsy_status st = HSY_OK;

    while (st == HSY_OK && first->state.seq < LIFE_COMMITS &&
           life_when(first->state.seq) == day) {
        const size_t at = first->state.seq;
        uint64_t number = 0;

        for (size_t i = 0; i < at; i++)
            number += life_commits[i].n;
        st = life_upload(first, LIFE_FROM + life_commits[at].epoch, number,
                         life_commits[at].n, LIFE_BROKEN);
    }
    return st;
}

static hsy_status life_day(struct life_hop *first, struct life_hop *second,
                           uint32_t day)
{
    hsy_status st = life_uploads(first, day);

    if (st == HSY_OK)
        st = life_decide(first, day + 1, 6);
    if (st == HSY_OK)
        st = life_steps(first);
    if (st == HSY_OK)
        st = life_deliver(first, second);
    if (st == HSY_OK)
        st = life_decide(second, day + 1, 6);
    if (st == HSY_OK)
        st = life_steps(second);
    if (st == HSY_OK)
        st = life_deliver(second, NULL);
    if (st == HSY_OK)
        st = life_steps(first);
    return st == HSY_OK ? life_steps(second) : st;
}

/* From wherever the hops are. */
static hsy_status life_days(const struct life_shuffler *by)
{
    struct life_hop first = {.by = NULL}, second = {.by = NULL};
    hsy_status st = life_open(&first, by, 1);

    if (st == HSY_OK)
        st = life_open(&second, by, 2);
    while (st == HSY_OK && life_world->day < LIFE_FROM + LIFE_DAYS) {
        st = life_day(&first, &second, life_world->day);
        life_world->day += st == HSY_OK;
    }
    life_close(&first);
    life_close(&second);
    return st;
}

/* In a process of its own, killed at an operation (0: at none): how it ended.
 */
static int life_process(const struct life_shuffler *by, uint64_t kill_at)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        disk_reset();
        disk.kill_at = kill_at;
        _exit(life_days(by) == HSY_OK ? 0 : LIFE_FAILED);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : LIFE_FAILED;
}

/* ---- What must be true --------------------------------------------------- */

/* At every moment. */
static const char *life_broken(bool failed)
{
    if (life_world->small)
        return LIFE_SMALL;
    if (life_world->conflict)
        return LIFE_ORDERS;
    return failed ? "a life has ended otherwise" : NULL;
}

/* When everything has come to its end. */
static const char *life_wrong(void)
{
    static const char gone[] =
        "SELECT coalesce(sum(n), 0) FROM mixes WHERE state = 7";
    const int64_t expired = rig_sql(life_at[0], "record.db", gone) +
                            rig_sql(life_at[1], "record.db", gone);
    const int64_t rest =
        rig_sql(life_at[0], "record.db", "SELECT count(*) FROM batches") +
        rig_sql(life_at[1], "record.db", "SELECT count(*) FROM batches");
    uint64_t all = 0, came = 0;

    for (size_t i = 0; i < LIFE_COMMITS; i++)
        all += life_commits[i].n;
    for (uint64_t i = 0; i < all; i++) {
        if (life_world->counted[i] > 1)
            return "one came twice";
        came += life_world->counted[i];
    }
    if (rest != 0)
        return "envelopes are left";
    if (came + LIFE_UNOPENED + (uint64_t)expired != all)
        return "one is lost";
    return expired > LIFE_EXPIRED ? LIFE_HASTY : NULL;
}

const char *life_quiet(const struct life_shuffler *by)
{
    const char *wrong;

    life_fresh();
    wrong = life_broken(life_process(by, 0) != 0);
    return wrong == NULL ? life_wrong() : wrong;
}

const char *life_killed(const struct life_shuffler *by, uint64_t step,
                        struct life_kills *out)
{
    const char *wrong = NULL;

    *out = (struct life_kills){.at = 1};
    for (; wrong == NULL; out->at += step) {
        int end;

        life_fresh();
        end = life_process(by, out->at);
        if (end == 0)
            break;
        wrong = life_broken(end != LIFE_KILLED);
        out->kills++;
        if (wrong != NULL)
            break;
        /* Soon after it comes back, again. */
        end = life_process(by, 1 + out->at * 5 % 89);
        out->kills += end == LIFE_KILLED;
        wrong = life_broken(end != LIFE_KILLED && end != 0);
        if (wrong == NULL)
            wrong = life_broken(life_process(by, 0) != 0);
        if (wrong == NULL)
            wrong = life_wrong();
    }
    return wrong;
}

const char *life_replayed(const struct life_shuffler *by)
{
    const uint32_t later = LIFE_DAY0 + 2 * SEAL_PERIOD_DAYS;
    struct life_hop first = {.by = NULL}, second = {.by = NULL};
    enum store_mix_state state = STORE_MIX_NONE;
    hsy_status st;

    life_fresh();
    st = life_open(&first, &life_real, 1);
    if (st == HSY_OK)
        st = life_open(&second, by, 2);
    if (st == HSY_OK)
        st = life_upload(&first, LIFE_DAY0, 0, LIFE_MIN, UINT64_MAX);
    if (st == HSY_OK)
        st = life_decide(&first, LIFE_DAY0 + 1, 6);
    if (st == HSY_OK)
        st = life_steps(&first);
    if (st == HSY_OK)
        st = life_deliver(&first, &second);
    if (st == HSY_OK)
        st = life_decide(&second, later, 6);
    if (st == HSY_OK)
        st = life_steps(&second);
    if (st == HSY_OK)
        state = life_state(&second, LIFE_DAY0);
    life_close(&first);
    life_close(&second);
    return st != HSY_OK              ? "a batch has not come"
           : state == STORE_MIX_GONE ? NULL
                                     : LIFE_OLD;
}

uint32_t life_batches(void)
{
    return life_world->batches;
}

uint64_t life_waited(void)
{
    return life_world->waited;
}

/* ---- Room ---------------------------------------------------------------- */

void life_fresh(void)
{
    for (size_t i = 0; i < LIFE_HOPS; i++) {
        char mixed[256];

        snprintf(mixed, sizeof mixed, "%s/mixed", life_at[i]);
        rig_remove(mixed);
        rig_remove(life_at[i]);
        mkdir(life_at[i], 0700);
    }
    memset(life_world->counted, 0, sizeof life_world->counted);
    life_world->batches = 0;
    life_world->waited = 0;
    life_world->day = LIFE_FROM;
    life_world->conflict = life_world->small = false;
    disk_reset();
}

bool life_begin(void)
{
    if (!rig_root(life_root))
        return false;
    life_world = mmap(NULL, sizeof *life_world, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (life_world == MAP_FAILED)
        return false;
    for (size_t i = 0; i < LIFE_HOPS; i++)
        snprintf(life_at[i], sizeof life_at[i], "%s/%zu", life_root, i);
    for (size_t i = 0; i <= LIFE_HOPS; i++)
        if (hsy_sign_keypair(life_world->key[i], life_world->secret[i]) !=
            HSY_OK)
            return false;
    disk_begin();
    return true;
}

void life_end(void)
{
    life_fresh();
    for (size_t i = 0; i < LIFE_HOPS; i++)
        rmdir(life_at[i]);
    rmdir(life_root);
}
