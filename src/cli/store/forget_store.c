/* forget_store.c - hearsay store: what may be forgotten. */
#include "cli/store/internal.h"

#include "server/collector/shown/shown.h"
#include "server/store/book.h"

#include <inttypes.h>

int store_run_forget_nulls(const struct store_how *how)
{
    struct store_data d;
    hsy_error err = {0};
    uint64_t n = 0;
    int failed = store_open(&d, how->words[1]);

    if (!failed)
        failed = store_fold(&d);
    if (!failed && engine_forget_nulls(d.engine, how->day, &n, &err) != HSY_OK)
        failed = store_complain(d.directory, &err);
    if (!failed)
        printf("%" PRIu64 " ids of null uploads are forgotten\n", n);
    store_shut(&d);
    return failed ? failed : cli_finish();
}

/* ---- Tasks --------------------------------------------------------------- */

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
static hsy_status forget_open(struct shown **out, const struct store_data *d,
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

/* One of the two, in what is counted and in what is shown. */
static hsy_status forget_both(const struct store_data *d,
                              const struct store_how *how, bool purge,
                              uint64_t *n, hsy_error *err)
{
    struct shown *shown;
    hsy_status st = forget_open(&shown, d, err);

    if (st == HSY_OK)
        st = purge ? engine_purge(d->engine, how->day, n, err)
                   : engine_retire_task(d->engine, how->words[2], how->release,
                                        n, err);
    if (st == HSY_OK)
        st = forget_write(d->engine, err);
    if (st == HSY_OK)
        st = shown_forget(shown, purge ? how->day : 0, err);
    shown_close(shown);
    return st;
}

static int forget_run(const struct store_how *how, bool purge)
{
    struct store_data d;
    hsy_error err = {0};
    uint64_t n = 0;
    int failed = store_open(&d, how->words[1]);

    if (!failed)
        failed = store_fold(&d);
    if (!failed && forget_both(&d, how, purge, &n, &err) != HSY_OK)
        failed = store_complain(d.directory, &err);
    else if (!failed)
        printf("retired: %" PRIu64 "\n", n);
    store_shut(&d);
    return failed ? failed : cli_finish();
}

int store_run_retire(const struct store_how *how)
{
    return forget_run(how, false);
}

int store_run_purge(const struct store_how *how)
{
    return forget_run(how, true);
}
