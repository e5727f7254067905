/*
 * workers_fold.c - the thread that folds, writes chunks and copies tallies, and
 * keeps the store's logs short.
 */
#include "server/engine/workers_parts.h"

#include "host/base/steady.h"

#define FOLDER_SECOND 1000000u
#define FOLDER_RETRY FOLDER_SECOND /* until a full disk is tried again */
#define FOLDER_RESERVE (60u * FOLDER_SECOND) /* until room is held again */

/* What the folder has before it. */
struct folder {
    uint64_t next; /* checkpoint, by steady_us */
    bool fold, write;
    uint64_t retry;     /* when a full disk is tried again; 0: it is not full */
    uint64_t settle_by; /* when what is left for when nobody waits is done all
                         * the same; 0: nothing is */
    uint64_t settle_at; /* but not before this */
    uint64_t reserve_at; /* when room on the disk is held again */
};

static uint64_t folder_next(const struct workers *w)
{
    return steady_us() + (uint64_t)w->options.checkpoint_secs * FOLDER_SECOND;
}

static void folder_fold(struct workers *w, struct folder *s)
{
    hsy_error err = {0};
    hsy_status st = engine_fold(w->e, &s->fold, &err);

    if (st != HSY_OK)
        workers_fail(w, st, &err);
}

static void folder_write(struct workers *w, struct folder *s)
{
    hsy_error err = {0};
    hsy_status st = engine_write(w->e, w->options.write_bytes, &s->write, &err);

    s->retry = 0;
    if (st == HSY_E_FULL)
        s->retry = steady_us() + FOLDER_RETRY;
    else if (st != HSY_OK)
        workers_fail(w, st, &err);
    if (st == HSY_OK && !s->write) {
        s->next = folder_next(w);
        atomic_store(&w->checkpoint, steady_us());
    }
    if (st == HSY_OK && !s->write)
        engine_trim(w->e);
    s->fold = true; /* what waited for the entry that was written */
}

/* When the store may settle; UINT64_MAX: it need not. */
static uint64_t folder_settles(struct workers *w, const struct folder *s)
{
    const uint64_t quiet = workers_quiet(w, s->settle_by);

    if (s->settle_by == 0 || s->write)
        return UINT64_MAX;
    return quiet > s->settle_at ? quiet : s->settle_at;
}

/* Logs are kept short whoever waits, the rest is done when nobody does. */
static void folder_settle(struct workers *w, struct folder *s)
{
    const uint64_t now = steady_us();
    const bool quiet = now >= folder_settles(w, s);
    const bool waited = now < workers_quiet(w, UINT64_MAX);
    hsy_error err = {0};
    bool more = false;
    hsy_status st = engine_settle(w->e,
                                  !quiet   ? STORE_BUSY
                                  : waited ? STORE_OVERDUE
                                           : STORE_QUIET,
                                  &more, &err);

    if (st != HSY_OK && st != HSY_E_FULL) {
        workers_fail(w, st, &err);
    } else if (quiet && !more) {
        s->settle_by = 0;
        s->settle_at = now + FOLDER_SECOND;
    } else if (more && s->settle_by == 0) {
        s->settle_by = folder_next(w);
    }
}

/* Some room is held on the disk, if there is any when nobody waits. */
static void folder_reserve(struct workers *w, struct folder *s)
{
    const uint64_t now = steady_us();
    hsy_error err = {0};

    if (now < s->reserve_at || now < workers_quiet(w, UINT64_MAX))
        return;
    s->reserve_at = now + FOLDER_RESERVE;
    if (engine_reserve(w->e, &err) != HSY_OK)
        workers_fail(w, err.status, &err);
}

/* Sleep until there is something to do; false if all is done for good. */
static bool folder_wait(struct workers *w, struct folder *s)
{
    bool go_on;

    if (w->dead) {
        s->fold = s->write = false;
        s->next = folder_next(w);
    }
    pthread_mutex_lock(&w->lock);
    if (!w->fold && !s->fold && w->folder.calls == NULL && !w->drained) {
        const uint64_t now = steady_us();
        const uint64_t settles = folder_settles(w, s);
        uint64_t at = s->retry != 0 ? s->retry : s->next;

        at = settles < at ? settles : at;
        if (!s->write || s->retry != 0)
            workers_sleep(w, &w->folder, at > now ? at - now : 1000);
    }
    s->fold |= w->fold;
    w->fold = false;
    go_on = !w->drained || w->folder.calls != NULL;
    pthread_mutex_unlock(&w->lock);
    return go_on;
}

/* Write what was begun, and fold all that there is. A full disk is no loss: the
 * batches are there. */
static void folder_finish(struct workers *w, struct folder *s)
{
    s->retry = 0;
    do {
        folder_write(w, s);
        while (s->fold && !w->dead)
            folder_fold(w, s);
    } while (s->write && s->retry == 0 && !w->dead);
}

/* Nothing comes any more. What waits for the entry that is being written is
 * folded after it, so the last checkpoint begins when that is done. */
static void folder_last(struct workers *w, struct folder *s)
{
    folder_finish(w, s);
    engine_checkpoint(w->e);
    if (!w->dead)
        folder_finish(w, s);
}

void *workers_folder(void *ctx)
{
    struct workers *w = ctx;
    struct folder s = {.next = folder_next(w), .settle_by = folder_next(w)};

    while (folder_wait(w, &s)) {
        workers_calls(w, &w->folder);
        if (w->dead)
            continue;
        if (s.fold)
            folder_fold(w, &s);
        if (!s.write && steady_us() >= s.next) {
            engine_checkpoint(w->e);
            s.write = true;
        }
        if (s.write && (s.retry == 0 || steady_us() >= s.retry))
            folder_write(w, &s);
        if (!w->dead)
            folder_settle(w, &s);
        if (!w->dead)
            folder_reserve(w, &s);
    }
    if (!w->dead)
        folder_last(w, &s);
    return NULL;
}
