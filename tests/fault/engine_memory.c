/*
 * engine_memory.c - every allocation of the engine fails once: nothing that was
 * acknowledged is lost, nothing is counted twice, and with memory it goes on.
 * Compiled and run by engine_memory.t.
 */
#include "rig/engine_rig.h"
#include "tap.h"

#define UPLOADS 24u

/* ---- Memory that fails once ---------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static uint64_t left; /* allocations until one fails; 0: none does */
static bool failed;

static bool fails(void)
{
    if (left == 0 || --left != 0)
        return false;
    failed = true;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

/* The store's own memory does not fail. */
static hsy_status quiet_append(struct store *s, const struct store_commit *c,
                               hsy_error *err)
{
    const uint64_t budget = left;
    hsy_status st;

    left = 0;
    st = memory_do_append(s, c, err);
    left = budget;
    return st;
}

/* ---- Uploads that are made beforehand ------------------------------------ */

static struct intake_upload uploads[UPLOADS];
static uint8_t payloads[UPLOADS][RIG_PAYLOAD];
static bool acked[UPLOADS];

static void make(struct rig *r)
{
    for (uint32_t i = 0; i < UPLOADS; i++) {
        const struct rig_upload of = {.task = i % RIG_TASKS,
                                      .epoch = RIG_DAY - i % 2,
                                      .kind = 1,
                                      .id = 100 + i,
                                      .n = 1,
                                      .first = i};

        rig_fill(r, &uploads[i], payloads[i], &of);
        acked[i] = false;
    }
}

/* Hand in what was not acknowledged, some at a time. */
static hsy_status hand_in(struct rig *r, bool failing, uint64_t *budget)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < UPLOADS && st == HSY_OK; i += 8) {
        struct submission s = {
            .in = {.uploads = &uploads[i], .n = 8}, .token = {3}, .quota = 100};

        for (size_t k = i; k < i + 8; k++) {
            uploads[k].verdict = INTAKE_COUNTED;
            uploads[k].enrolled = true;
        }
        left = failing ? *budget : 0;
        st = engine_admit(r->e, &s, NULL);
        *budget = left;
        left = 0;
        for (size_t k = i; k < i + 8 && st == HSY_OK; k++)
            acked[k] |= uploads[k].verdict <= INTAKE_AGAIN;
        if (st == HSY_E_FULL)
            st = HSY_OK;
    }
    return st;
}

static bool all_once(struct rig *r)
{
    for (uint32_t i = 0; i < UPLOADS; i++)
        if (!acked[i] || rig_cell(r, i % RIG_TASKS, 0, 0, i) != 1)
            return false;
    return true;
}

/* ---- One failure --------------------------------------------------------- */

/* Start again, so that there is nothing in memory; the failing call, and its
 * own recovery if it failed. */
static void restart(struct rig *r, uint64_t *budget)
{
    engine_close(r->e);
    r->e = NULL;
    memory_reopen(&r->store);
    left = *budget;
    engine_open(&r->e, &r->store.base, &r->store.state, &r->options, NULL);
    *budget = left;
    left = 0;
    if (r->e == NULL)
        rig_start(r);
}

/* False: allocation `at` does not exist. */
static bool one(uint64_t at, bool *good)
{
    struct store_functions quiet = memory_functions;
    uint64_t budget = at;
    struct rig r;
    bool more;
    hsy_status st;

    failed = false;
    rig_open(&r);
    quiet.append = quiet_append;
    r.store.base.ops = &quiet;
    make(&r);
    *good &= hand_in(&r, true, &budget) == HSY_OK;
    left = budget;
    st = engine_fold(r.e, &more, NULL);
    budget = left;
    left = 0;
    if (st != HSY_OK) /* it stops, and starts again */
        *good &= rig_restart(&r) == HSY_OK;
    restart(&r, &budget);
    *good &= hand_in(&r, true, &budget) == HSY_OK;
    *good &= hand_in(&r, false, &budget) == HSY_OK;
    *good &= rig_fold(&r) == HSY_OK && rig_write(&r) == HSY_OK && all_once(&r);
    *good &= rig_restart(&r) == HSY_OK && all_once(&r) && r.store.faults == 0;
    rig_close(&r);
    return failed;
}

int main(void)
{
    uint64_t at = 1;
    bool good = true;

    while (one(at, &good) && good)
        at++;
    ok(good && at > 30,
       "each of %llu allocations fails once: nothing is lost or doubled",
       (unsigned long long)at - 1);
    return tap_done();
}
