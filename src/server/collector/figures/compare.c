/* compare.c - two tallies of one question, and their difference. */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"

#include <string.h>

/* Days that two tallies of one release have in common; those of no day are in
 * both. */
static bool compare_overlaps(const struct figure *a, const struct figure *b)
{
    return a->entry->number == b->entry->number &&
           ((a->span.undated != 0 && b->span.undated != 0) ||
            (a->span.first <= b->span.last && b->span.first <= a->span.last));
}

/* Two of one plan share the kept answers of devices that are in both: days of a
 * task, or releases that ask from the same answers. Where an answer may change
 * it is not known whose did. */
static bool compare_shares(const struct figure *a, const struct figure *b)
{
    return a->release.permanent != NULL &&
           memcmp(a->release.digest, b->release.digest,
                  sizeof a->release.digest) == 0 &&
           a->entry->task.max_changes == 1 && b->entry->task.max_changes == 1 &&
           a->of.rounds != NULL && b->of.rounds != NULL;
}

static void compare_put_notes(struct put *p, const hsy_analysis_result *d)
{
    put_bool(p, "paired", d->paired);
    put_bool(p, "overlap", d->overlap);
    put_array(p, "notes");
    for (size_t i = 0; i < d->nnotes; i++)
        if (d->notes[i].code == HSY_NOTE_PAIRED ||
            d->notes[i].code == HSY_NOTE_OVERLAP)
            put_word(p, NULL, hsy_analysis_code_text(d->notes[i].code));
    put_end(p, ']');
}

static void compare_put_rows(struct put *p, const hsy_analysis_result *d)
{
    put_number(p, "level", d->how.level);
    compare_put_notes(p, d);
    put_count(p, "selected", d->selected);
    put_count(p, "of", d->of);
    put_number(p, "level_selected", d->level_selected);
    analysis_put_lying(p, d);
    analysis_put_rows(p, "difference", d);
}

/* a minus b, value by value. */
static hsy_status compare_put(struct put *p, struct figure *a, struct figure *b,
                              hsy_error *err)
{
    hsy_analysis_request request = a->request;
    hsy_analysis_result d;
    hsy_status st;

    if (compare_shares(a, b))
        request.devices = a->how->devices;
    request.overlap = compare_overlaps(a, b);
    st = analysis_run(&d, &a->of, &a->evidence, &b->of, &b->evidence, &request,
                      err);
    if (st == HSY_OK)
        compare_put_rows(p, &d);
    hsy_analysis_clear(&d);
    return st;
}

/* The difference, where both have estimates of each value by itself. */
static hsy_status compare_difference(struct put *p, struct figure *a,
                                     struct figure *b, hsy_error *err)
{
    if (a->evidence.points != NULL && b->evidence.points != NULL)
        return compare_put(p, a, b, err);
    put_null(p, "difference");
    put_word(p, "why",
             "shares that are estimated together are no independent estimates "
             "of each value: their differences have no test");
    return HSY_OK;
}

static hsy_status compare_both(struct put *p, struct figure *a,
                               struct figure *b, hsy_error *err)
{
    const char *differ = analysis_differ(&a->of, &b->of);

    if (differ != NULL)
        return host_fail(err, HSY_E_MISMATCH, HOST_FIELD_DIFFERENCE, differ);
    put_object(p, "a");
    figure_put(p, a);
    put_end(p, '}');
    put_object(p, "b");
    figure_put(p, b);
    put_end(p, '}');
    return compare_difference(p, a, b, err);
}

/* Say which of the two has too few reports. */
static hsy_status compare_open(struct figure **f, const struct figure_of *of,
                               const struct figure_how *how, uint64_t which,
                               hsy_error *err)
{
    hsy_status st = figure_open(f, of, how, err);

    if (st == HSY_E_EMPTY && err != NULL)
        err->at = which;
    return st;
}

hsy_status figure_difference(char **json, size_t *len,
                             const struct figure_of *a,
                             const struct figure_of *b,
                             const struct figure_how *how, hsy_error *err)
{
    struct figure *x = NULL, *y = NULL;
    struct put p = {0};
    hsy_status st = compare_open(&x, a, how, 1, err);

    if (st == HSY_OK)
        st = compare_open(&y, b, how, 2, err);
    if (st == HSY_OK)
        st = put_open(&p, err);
    if (st == HSY_OK)
        st = compare_both(&p, x, y, err);
    if (st == HSY_OK)
        st = put_close(&p, json, len, err);
    else
        put_abort(&p);
    figure_drop(x);
    figure_drop(y);
    return st;
}
