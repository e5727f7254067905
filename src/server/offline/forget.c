/* forget.c - what may be forgotten of a collector's data. */
#include "server/offline/offline.h"

#include "server/collector/shown/shown.h"
#include "server/store/book.h"

#define FORGET_STEP ((size_t)1 << 20)

/* Let the tallies go: what is still to be folded of them first. */
static hsy_status forget_write(struct engine *e, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (int pass = 0; st == HSY_OK && pass < 2; pass++) {
        bool more = true;

        engine_checkpoint_retired(e);
        while (st == HSY_OK && more)
            st = engine_write(e, FORGET_STEP, &more, err);
    }
    return st;
}

/* What readers were shown; NULL: nothing yet. */
static hsy_status forget_open(struct shown **out, const struct offline *d,
                              hsy_error *err)
{
    const struct shown_options o = {.data = d->directory, .engine = d->engine};
    struct book b;
    hsy_status st = book_open(&b, d->directory, &shown_kind, false, err);

    *out = NULL;
    if (st == HSY_E_EMPTY)
        return HSY_OK;
    book_close(&b);
    return st == HSY_OK ? shown_open(out, &o, err) : st;
}

/* In what is counted, then in what is shown. */
hsy_status offline_retire(struct offline *o, const char *task, uint32_t which,
                          uint64_t *n, hsy_error *err)
{
    struct shown *shown;
    hsy_status st = forget_open(&shown, o, err);

    if (st == HSY_OK)
        st = task == NULL ? engine_purge(o->engine, which, n, err)
                          : engine_retire_task(o->engine, task, which, n, err);
    if (st == HSY_OK)
        st = forget_write(o->engine, err);
    if (st == HSY_OK)
        st = shown_forget(shown, task == NULL ? which : 0, err);
    shown_close(shown);
    return st;
}
