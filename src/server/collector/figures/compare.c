/* compare.c - two tallies of one question, and their difference. */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

static const char *compare_differ(const struct figure *a,
                                  const struct figure *b)
{
    const hsy_task *x = &a->entry->task, *y = &b->entry->task;
    const char *what = shares_differ(&a->info, &b->info);

    if (what == NULL && (x->labels_len != y->labels_len ||
                         (x->labels_len != 0 &&
                          memcmp(x->labels, y->labels, x->labels_len) != 0)))
        return "the values";
    return what;
}

static struct shares_known compare_known(const struct figure *f, size_t i,
                                         bool bounds)
{
    return (struct shares_known){&f->points[i], bounds ? &f->bounds[i] : NULL,
                                 f->shared};
}

/* a minus b, value by value. */
static hsy_status compare_rows(struct figure *d, const struct figure *a,
                               const struct figure *b, hsy_error *err)
{
    const bool bounds = d->bounds != NULL;
    const hsy_confidence how = figure_selected(a, a->npoints);
    hsy_status st = HSY_OK;

    d->total = a->npoints;
    d->rows = calloc(d->total + 1, sizeof *d->rows);
    if (d->rows == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < d->total && st == HSY_OK; i++) {
        const struct shares_known own = compare_known(a, i, bounds);
        const struct shares_known other = compare_known(b, i, bounds);

        d->rows[i].place = (uint32_t)i;
        st = shares_row(&d->rows[i], &d->lying, &a->info, &own, &other, &how,
                        err);
    }
    if (st == HSY_OK)
        figure_cut(d, true);
    return st;
}

/* Days that two tallies of one release have in common; those of no day are in
 * both. */
static bool compare_overlaps(const struct figure *a, const struct figure *b)
{
    return a->entry->number == b->entry->number &&
           ((a->span.undated != 0 && b->span.undated != 0) ||
            (a->span.first <= b->span.last && b->span.first <= a->span.last));
}

static void compare_put_notes(struct put *p, const struct figure *a,
                              const struct figure *b)
{
    enum shares_note_code notes[SHARES_COMPARED];
    const bool overlap = compare_overlaps(a, b);
    const size_t n = shares_compared(notes, a->shared > 0, overlap);

    put_bool(p, "paired", a->shared > 0);
    put_bool(p, "overlap", overlap);
    put_array(p, "notes");
    for (size_t i = 0; i < n; i++)
        put_word(p, NULL, shares_note(notes[i])->text);
    put_end(p, ']');
}

static void compare_put_rows(struct put *p, const struct figure *d,
                             const struct figure *a, const struct figure *b)
{
    put_number(p, "level", a->how->level);
    compare_put_notes(p, a, b);
    figure_put_selection(p, d->count, d->total,
                         figure_selected(a, d->total).level);
    figure_put_lying(p, d);
    put_array(p, "difference");
    for (size_t i = 0; i < d->count; i++) {
        put_object(p, NULL);
        figure_put_name(p, a, d->rows[i].place);
        figure_put_row(p, d, &d->rows[i]);
        put_number(p, "p_value", d->rows[i].p_value);
        put_end(p, '}');
    }
    put_end(p, ']');
}

/* The difference, where both have estimates of each value by itself. */
static hsy_status compare_put(struct put *p, const struct figure *a,
                              const struct figure *b, hsy_error *err)
{
    /* Its bounds are looked at for whether there are any. */
    struct figure d = {.info = a->info,
                       .how = a->how,
                       .bounds = b->bounds != NULL ? a->bounds : NULL};
    hsy_status st;

    if (a->points == NULL || b->points == NULL) {
        put_null(p, "difference");
        put_word(p, "why",
                 "shares that are estimated together are no independent "
                 "estimates of each value: their differences have no test");
        return HSY_OK;
    }
    st = compare_rows(&d, a, b, err);
    if (st == HSY_OK)
        compare_put_rows(p, &d, a, b);
    free(d.rows);
    return st;
}

static hsy_status compare_both(struct put *p, struct figure *a,
                               struct figure *b, hsy_error *err)
{
    const char *differ = compare_differ(a, b);
    hsy_status st;

    if (differ != NULL)
        return host_fail(err, HSY_E_MISMATCH, "the two differ in", differ);
    put_object(p, "a");
    st = figure_put(p, a, err);
    put_end(p, '}');
    if (st != HSY_OK)
        return st;
    put_object(p, "b");
    st = figure_put(p, b, err);
    put_end(p, '}');
    return st == HSY_OK ? compare_put(p, a, b, err) : st;
}

/* Two of one plan share the kept answers of devices that are in both: days of a
 * task, or releases that ask from the same answers. Where an answer may change
 * it is not known whose did. */
static hsy_status compare_shared(struct figure *a, const struct figure *b,
                                 hsy_error *err)
{
    const bool same = memcmp(a->release.digest, b->release.digest,
                             sizeof a->release.digest) == 0;

    if (a->how->devices == 0 || a->release.permanent == NULL || !same ||
        a->entry->task.max_changes != 1 || b->entry->task.max_changes != 1 ||
        a->rounds == NULL || b->rounds == NULL || a->rounds->unknown != 0 ||
        b->rounds->unknown != 0)
        return HSY_OK;
    return hsy_attend_both(&a->shared, a->rounds->rounds.list,
                           a->rounds->rounds.n, b->rounds->rounds.list,
                           b->rounds->rounds.n, a->how->devices, err);
}

/* Say which of the two has too few reports. */
static hsy_status compare_open(struct figure *f, const struct figure_of *of,
                               const struct figure_how *how, uint64_t which,
                               hsy_error *err)
{
    hsy_status st = figure_open(f, of, how, err);

    if (st == HSY_E_EMPTY && err != NULL)
        err->line = which;
    return st;
}

hsy_status figure_difference(char **json, size_t *len,
                             const struct figure_of *a,
                             const struct figure_of *b,
                             const struct figure_how *how, hsy_error *err)
{
    struct figure x = {0}, y = {0};
    struct put p = {0};
    hsy_status st = compare_open(&x, a, how, 1, err);

    if (st == HSY_OK)
        st = compare_open(&y, b, how, 2, err);
    if (st == HSY_OK)
        st = compare_shared(&x, &y, err);
    if (st == HSY_OK)
        st = put_open(&p, err);
    if (st == HSY_OK)
        st = compare_both(&p, &x, &y, err);
    if (st == HSY_OK)
        st = put_close(&p, json, len, err);
    else
        put_abort(&p);
    figure_clear(&x);
    figure_clear(&y);
    return st;
}
