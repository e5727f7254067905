/*
 * test_workers.c - the threads of a collector: everybody is answered once, and
 * only after what is acknowledged is durable. tests/fault/threads.t runs the
 * same under ThreadSanitizer.
 */
#define _POSIX_C_SOURCE 200809L
#include "server/engine/workers.h"

#include "rig/engine_rig.h"
#include "tap.h"

#include <stdatomic.h>
#include <time.h>

#define HANDS 4u    /* threads that hand in */
#define CELLS 1200u /* cells of one task, each handed in HANDS times */
#define FLIGHT 32u  /* submissions of a hand at a time */

/* ---- A request that waits for its answer --------------------------------- */

struct request {
    struct submission s; /* first: done gets its address */
    struct intake_upload upload;
    uint8_t payload[RIG_PAYLOAD];
    struct hand *hand;
    bool busy;
};

struct hand {
    struct workers *w;
    struct rig *r;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct request request[FLIGHT];
    unsigned counted, again, other, full, lost, refused, busy;
    uint32_t step, from;
};

static void request_done(struct submission *s)
{
    struct request *q = (struct request *)(void *)s;
    struct hand *h = q->hand;

    pthread_mutex_lock(&h->lock);
    h->counted += s->outcome == HSY_OK && q->upload.verdict == INTAKE_COUNTED;
    h->again += s->outcome == HSY_OK && q->upload.verdict == INTAKE_AGAIN;
    h->other += s->outcome == HSY_OK && q->upload.verdict > INTAKE_AGAIN;
    h->full += s->outcome == HSY_E_FULL;
    h->lost += s->outcome == HSY_E_IO;
    q->busy = false;
    h->busy--;
    pthread_cond_signal(&h->answered);
    pthread_mutex_unlock(&h->lock);
}

/* A request that is free, once there is one. */
static struct request *hand_free(struct hand *h)
{
    struct request *q = NULL;

    pthread_mutex_lock(&h->lock);
    while (q == NULL) {
        for (size_t i = 0; i < FLIGHT && q == NULL; i++)
            if (!h->request[i].busy)
                q = &h->request[i];
        if (q == NULL)
            pthread_cond_wait(&h->answered, &h->lock);
    }
    q->busy = true;
    h->busy++;
    pthread_mutex_unlock(&h->lock);
    return q;
}

/* Hand in one report; false: there was no room. */
static bool hand_in(struct hand *h, uint64_t id, uint32_t task, uint32_t cell)
{
    struct request *q = hand_free(h);
    const struct rig_upload of = {.task = task,
                                  .epoch = RIG_DAY,
                                  .kind = 1,
                                  .id = id,
                                  .n = 1,
                                  .first = cell};

    rig_fill(h->r, &q->upload, q->payload, &of);
    q->hand = h;
    q->s = (struct submission){.in = {.uploads = &q->upload, .n = 1},
                               .done = request_done};
    if (workers_submit(h->w, &q->s))
        return true;
    pthread_mutex_lock(&h->lock);
    q->busy = false;
    h->busy--;
    h->refused++;
    pthread_mutex_unlock(&h->lock);
    return false;
}

static void hand_wait(struct hand *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->busy != 0)
        pthread_cond_wait(&h->answered, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static void hand_open(struct hand *h, struct rig *r, struct workers *w)
{
    *h = (struct hand){.r = r, .w = w};
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->answered, NULL);
}

static void hand_close(struct hand *h)
{
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->answered);
}

/* ---- Starting ------------------------------------------------------------ */

static atomic_uint failures;

static void failed(void *ctx, const hsy_error *err)
{
    (void)ctx;
    (void)err;
    failures++;
}

static uint64_t now(void *ctx)
{
    (void)ctx;
    return (uint64_t)RIG_DAY * 86400 + 5;
}

static struct workers *start(struct rig *r)
{
    const struct workers_options options = {.waiting_bytes = 1 << 22,
                                            .write_bytes = 1 << 15,
                                            .now = now,
                                            .failed = failed};
    struct workers *w = NULL;

    workers_start(&w, r->e, &options, NULL);
    return w;
}

/* ---- Many at once -------------------------------------------------------- */

static void *hand_work(void *ctx)
{
    struct hand *h = ctx;

    /* Each hand goes through all cells, in an order of its own, again if there
     * was no room. */
    for (uint32_t i = 0; i < CELLS; i++) {
        const uint32_t cell = (h->from + i * h->step) % CELLS;

        while (!hand_in(h, cell, 2, cell))
            hand_wait(h);
    }
    hand_wait(h);
    return NULL;
}

struct look {
    struct rig *r;
    struct workers *w;
    pthread_t thread;
    atomic_bool stop;
    unsigned copies, wrong;
};

static hsy_status look_copy(struct engine *e, void *ctx, hsy_error *err)
{
    struct look *l = ctx;
    const int64_t *cells;
    int64_t *words;

    (void)e;
    (void)err;
    words = rig_copy(l->r, 2, 0, 0, &cells);
    for (size_t i = 0; words != NULL && i < CELLS; i++)
        l->wrong += cells[i] < 0 || cells[i] > 1;
    free(words);
    return HSY_OK;
}

static void *look_work(void *ctx)
{
    struct look *l = ctx;

    do {
        struct engine_status status;
        struct store_count counts[4];
        struct workers_times times;
        size_t len;

        engine_status(l->r->e, &status);
        engine_counts(l->r->e, 2, counts, 4);
        workers_status(l->w, &times);
        roster_drop(engine_roster(l->r->e));
        engine_document_drop(engine_document_hold(l->r->e, &len));
        l->wrong += engine_days(l->r->e).last != RIG_DAY + 1;
        l->copies += workers_folding(l->w, look_copy, l, NULL) == HSY_OK;
    } while (!l->stop);
    return NULL;
}

static hsy_status take(struct engine *e, void *ctx, hsy_error *err)
{
    uint64_t *version = ctx;
    size_t len;
    uint8_t *document = rig_document(RIG_TASKS, 1, *version, &len);
    hsy_status st = engine_set_document(e, document, len, err);

    free(document);
    return st;
}

static bool all_once(struct rig *r)
{
    const int64_t *cells;
    int64_t *words = rig_copy(r, 2, 0, 0, &cells);
    bool good = words != NULL;

    for (size_t i = 0; good && i < rig_cells[2]; i++)
        good = cells[i] == (i < CELLS);
    free(words);
    return good;
}

static void many_at_once(void)
{
    static struct hand hands[HANDS];
    static const uint32_t steps[HANDS] = {1, 7, 11, 1199};
    struct rig r;
    struct look l = {.r = &r};
    unsigned counted = 0, again = 0, other = 0;
    uint64_t version = 2;

    rig_open(&r);
    l.w = start(&r);
    for (size_t i = 0; i < HANDS; i++) {
        hand_open(&hands[i], &r, l.w);
        hands[i].step = steps[i];
        hands[i].from = (uint32_t)i * 300;
        pthread_create(&hands[i].thread, NULL, hand_work, &hands[i]);
    }
    pthread_create(&l.thread, NULL, look_work, &l);
    ok(eq_status(workers_admitting(l.w, take, &version, NULL), HSY_OK) &&
           eq_status(workers_admitting(l.w, take, &version, NULL), HSY_OK),
       "a document comes into force under load");
    for (size_t i = 0; i < HANDS; i++) {
        pthread_join(hands[i].thread, NULL);
        counted += hands[i].counted;
        again += hands[i].again;
        other += hands[i].other + hands[i].full + hands[i].lost;
        hand_close(&hands[i]);
    }
    l.stop = true;
    pthread_join(l.thread, NULL);
    ok(eq_status(workers_stop(l.w, NULL), HSY_OK) && eq_u64(failures, 0),
       "the threads end without a failure");
    ok(eq_u64(counted, CELLS) && eq_u64(again, (HANDS - 1) * CELLS) &&
           eq_u64(other, 0),
       "each id is counted for one hand and known to the others");
    ok(all_once(&r), "each cell is counted once");
    ok(eq_u64(l.wrong, 0) && l.copies != 0,
       "and no copy in between had it twice");
    ok(eq_u64(r.store.batches.n, 0) && r.store.rounds != 0,
       "the last checkpoint leaves no batch behind");
    ok(eq_status(rig_restart(&r), HSY_OK) && all_once(&r),
       "the tallies are there after a restart");
    is_u64(r.store.faults, 0, "no rule of the store was broken");
    rig_close(&r);
}

/* ---- Failures ------------------------------------------------------------ */

static void set_full(struct rig *r, bool full)
{
    pthread_mutex_lock(&r->store.lock);
    r->store.full = full;
    pthread_mutex_unlock(&r->store.lock);
}

static void disk_full(void)
{
    static struct hand h;
    struct rig r;
    struct workers *w;

    rig_open(&r);
    w = start(&r);
    hand_open(&h, &r, w);
    hand_in(&h, 1, 0, 1);
    hand_wait(&h);
    set_full(&r, true);
    hand_in(&h, 2, 0, 2);
    hand_in(&h, 1, 0, 1);
    hand_wait(&h);
    ok(eq_u64(h.counted, 1) && h.full >= 1 && eq_u64(h.lost, 0),
       "on a full disk nothing new is acknowledged");
    set_full(&r, false);
    hand_in(&h, 2, 0, 2);
    hand_wait(&h);
    ok(eq_u64(h.counted, 2) && eq_u64(failures, 0),
       "when there is room it goes on");
    ok(eq_status(workers_stop(w, NULL), HSY_OK) &&
           rig_cell(&r, 0, 0, 0, 1) == 1 && rig_cell(&r, 0, 0, 0, 2) == 1,
       "and everything is counted once");
    hand_close(&h);
    rig_close(&r);
}

static void store_fails(void)
{
    static struct hand h;
    struct rig r;
    struct workers *w;
    unsigned counted;

    rig_open(&r);
    w = start(&r);
    hand_open(&h, &r, w);
    hand_in(&h, 1, 0, 1);
    hand_wait(&h);
    pthread_mutex_lock(&r.store.lock);
    r.store.crashed = true;
    pthread_mutex_unlock(&r.store.lock);
    counted = h.counted;
    hand_in(&h, 2, 0, 2);
    hand_in(&h, 3, 0, 3);
    hand_wait(&h);
    ok(eq_u64(h.counted, counted) && eq_u64(h.again, 0) &&
           eq_u64(h.lost + h.refused, 2),
       "after a failure of the store nobody is acknowledged");
    ok(!hand_in(&h, 4, 0, 4), "and nothing is taken any more");
    ok(eq_status(workers_stop(w, NULL), HSY_E_IO) && eq_u64(failures, 1),
       "the failure was told once");
    ok(eq_status(rig_restart(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 1), 1),
       "what was acknowledged is there when the store is opened again");
    hand_close(&h);
    rig_close(&r);
    failures = 0;
}

/* ---- The last checkpoint ------------------------------------------------- */

/* A store that stops within its first chunks until it is let go. */
static struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool shut, reached;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, true, false};

static hsy_status gate_chunks(struct store *s, const struct store_tally *tally,
                              const struct store_chunk *chunks, size_t n,
                              hsy_error *err)
{
    pthread_mutex_lock(&gate.lock);
    gate.reached = true;
    pthread_cond_broadcast(&gate.moved);
    while (gate.shut)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    return memory_do_chunks(s, tally, chunks, n, err);
}

static void *stop_work(void *ctx)
{
    workers_stop(ctx, NULL);
    return NULL;
}

static void last_checkpoint(void)
{
    static struct hand h;
    struct store_functions functions = memory_functions;
    struct workers *w;
    pthread_t stop;
    struct rig r;

    rig_open(&r);
    functions.chunks = gate_chunks;
    r.store.base.ops = &functions;
    w = start(&r);
    hand_open(&h, &r, w);
    hand_in(&h, 1, 2, 1); /* two chunks, which are written one by one */
    pthread_mutex_lock(&gate.lock);
    while (!gate.reached)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    hand_in(&h, 2, 2, 2); /* its entry is being written: the batch waits */
    hand_wait(&h);
    pthread_create(&stop, NULL, stop_work, w);
    while (hand_in(&h, 3, 2, 3)) /* until it stops */
        hand_wait(&h);
    pthread_mutex_lock(&gate.lock);
    gate.shut = false;
    pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
    pthread_join(stop, NULL);
    ok(h.counted >= 2 && h.lost == 0 && rig_cell(&r, 2, 0, 0, 2) == 1 &&
           r.store.batches.n == 0,
       "what waited while a tally was written is in the last checkpoint");
    hand_close(&h);
    rig_close(&r);
}

static void bounded(void)
{
    static struct hand h;
    const struct workers_options options = {.waiting_bytes = 100,
                                            .checkpoint_secs = 1000,
                                            .write_bytes = 1 << 15,
                                            .now = now,
                                            .failed = failed};
    struct workers *w = NULL;
    struct rig r;

    rig_open(&r);
    workers_start(&w, r.e, &options, NULL);
    hand_open(&h, &r, w);
    ok(!hand_in(&h, 1, 0, 1), "what does not fit is not taken");
    is_status(workers_stop(w, NULL), HSY_OK, "threads that did nothing end");
    hand_close(&h);
    rig_close(&r);
}

/* ---- Housekeeping -------------------------------------------------------- */

#define HOUSE_PATIENCE 60000000u /* microseconds */

static struct {
    struct store_functions is;   /* the rig's, with another tidy */
    atomic_uint_fast64_t handed; /* when something was handed in last */
    atomic_uint tidied, early;
    atomic_uint settled[STORE_OVERDUE + 1]; /* by who waited */
} house;

static uint64_t house_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void house_pause(long microseconds)
{
    nanosleep(&(struct timespec){0, microseconds * 1000}, NULL);
}

static hsy_status house_tidy(struct store *s, bool *more, hsy_error *err)
{
    house.early += house_clock() < house.handed + 200000;
    house.tidied++;
    return memory_functions.tidy(s, more, err);
}

/* There is always something left for when nobody waits. */
static hsy_status house_settle(struct store *s, enum store_pace pace,
                               bool *more, hsy_error *err)
{
    const hsy_status st = memory_functions.settle(s, pace, more, err);

    house.settled[pace]++;
    *more = pace == STORE_BUSY;
    return st;
}

static struct workers *house_start(struct rig *r, uint32_t checkpoint_secs)
{
    const struct workers_options options = {.waiting_bytes = 1 << 22,
                                            .checkpoint_secs = checkpoint_secs,
                                            .write_bytes = 1 << 15,
                                            .now = now,
                                            .failed = failed};
    struct workers *w = NULL;

    house.is = memory_functions;
    house.is.tidy = house_tidy;
    house.is.settle = house_settle;
    house.tidied = house.early = 0;
    for (size_t i = 0; i <= STORE_OVERDUE; i++)
        house.settled[i] = 0;
    rig_open(r);
    r->store.base.ops = &house.is;
    workers_start(&w, r->e, &options, NULL);
    return w;
}

/* Nothing is tidied within 200 ms of a request, as long as there are pauses;
 * without any, once in a checkpoint interval. */
static void tidies_when_nobody_waits(void)
{
    static struct hand h;
    uint32_t cell = 0;
    bool late = false;
    struct rig r;
    struct workers *w = house_start(&r, 1000);
    uint64_t end;

    hand_open(&h, &r, w);
    for (; cell < 40; cell++) {
        /* If this thread rests so long itself, that was a pause. */
        late |= cell != 0 && house_clock() > house.handed + 100000;
        house.handed = house_clock();
        hand_in(&h, cell, 2, cell);
        house_pause(5000);
    }
    while (house.tidied == 0 || house.settled[STORE_QUIET] == 0)
        house_pause(5000);
    ok(house.early == 0 || late, "nothing is tidied while somebody may wait");
    is_u64(house.settled[STORE_OVERDUE], 0,
           "and the store is settled when nobody does");
    workers_stop(w, NULL);
    hand_close(&h);
    rig_close(&r);

    w = house_start(&r, 1);
    hand_open(&h, &r, w);
    end = house_clock() + HOUSE_PATIENCE;
    while ((house.early == 0 || house.settled[STORE_OVERDUE] == 0) &&
           house_clock() < end) {
        house.handed = house_clock();
        hand_in(&h, cell, 2, cell);
        cell = (cell + 1) % 8000;
        house_pause(5000);
    }
    ok(house.early != 0 && house.settled[STORE_OVERDUE] != 0,
       "but once in a checkpoint interval all the same, and it is said that "
       "somebody waits");
    workers_stop(w, NULL);
    hand_close(&h);
    rig_close(&r);
}

int main(void)
{
    many_at_once();
    disk_full();
    store_fails();
    last_checkpoint();
    bounded();
    tidies_when_nobody_waits();
    return tap_done();
}
