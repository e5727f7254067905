/*
 * shuffled.c - what the batches are worth in which the reports of a tally came.
 *
 * One statement for everybody who is in it: that of the smallest batch, since
 * more people hide one no less. Where rows of batches have different terms all
 * are taken at the least of their deltas, and the one that is worth least is
 * said. Of reports that no row speaks of nothing is said. Who sent several
 * reports is in as many batches, of which each is worth no less than the
 * smallest, and they compose (lib/account/worth.c).
 */
#include "host/analysis/internal.h"

#include <math.h>

#define SHUFFLED_DIGITS 1000u /* nano: a promise is found by halving */

/* What the caller says of the smallest batch. */
static hsy_status shuffled_told(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_result *out = j->out;

    if (j->t.batch->reports > out->reports)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_N,
                               "no batch has more reports than the tally",
                               out->reports);
    out->shuffled = true;
    out->batch = *j->t.batch;
    return hsy_worth_of(&out->worth, j->t.scheme, NULL, &out->batch, err);
}

static double shuffled_ratio(hsy_ratio delta)
{
    return (double)delta.num / (double)delta.den;
}

/* One that holds for all rows: what is to be assumed, or the least. */
static double shuffled_delta(const hsy_analysis_tally *t)
{
    double least = 1;

    if (t->batch != NULL && t->batch->delta > 0)
        return t->batch->delta;
    for (size_t i = 0; i < t->nbatches; i++)
        least = fmin(least, shuffled_ratio(t->batches[i].delta));
    return least;
}

/* The smallest batch of a row. */
static hsy_batch shuffled_batch(const hsy_batches *row, const hsy_batch *assume,
                                double delta)
{
    const bool honest = assume != NULL && assume->honest.num != 0;

    return (hsy_batch){.reports = row->least < HSY_SHUFFLE_PEOPLE_MAX
                                      ? row->least
                                      : HSY_SHUFFLE_PEOPLE_MAX,
                       .honest = honest ? assume->honest : row->honest,
                       .delta = delta};
}

/* A promise was made on its own terms: with others there is none. */
static void shuffled_take(hsy_analysis_result *out, const hsy_batches *row,
                          const hsy_batch *b, const hsy_worth *w)
{
    const bool same = b->honest.num == row->honest.num &&
                      b->honest.den == row->honest.den &&
                      b->delta == shuffled_ratio(row->delta);

    out->batch = *b;
    out->worth = *w;
    out->batches.least = row->least;
    out->batches.honest = row->honest;
    out->batches.delta = row->delta;
    out->batches.nano_central = same ? row->nano_central : 0;
}

static hsy_status shuffled_rows(struct analysis_job *j, hsy_error *err)
{
    const double delta = shuffled_delta(&j->t);
    hsy_analysis_result *out = j->out;

    for (size_t i = 0; i < j->t.nbatches; i++) {
        const hsy_batches *row = &j->t.batches[i];
        const hsy_batch b = shuffled_batch(row, j->t.batch, delta);
        hsy_worth w;
        hsy_status st = hsy_worth_of(&w, j->t.scheme, NULL, &b, err);

        if (st != HSY_OK)
            return st;
        if (i == 0 || w.epsilon > out->worth.epsilon)
            shuffled_take(out, row, &b, &w);
        out->batches.batches += row->batches;
        out->batches.reports += row->reports;
    }
    return HSY_OK;
}

/* Reports of one device, at most. */
static uint64_t shuffled_each(const hsy_analysis_tally *t)
{
    uint64_t each = 0;

    for (size_t i = 0; t->rounds != NULL && i < t->nrounds; i++)
        each += t->rounds[i].each;
    if (each == 0 && t->attended != NULL)
        each = t->attended->rounds;
    return each != 0 ? each : 1;
}

hsy_status analysis_worth(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_result *out = j->out;
    hsy_status st;

    if (j->t.batch != NULL && j->t.batch->reports != 0)
        return shuffled_told(j, err);
    /* A difference tells of two tallies, and each has its own. */
    if (j->t.nbatches == 0 || j->against.scheme != NULL ||
        j->request->question == HSY_ASK_COVARIANCE)
        return HSY_OK;
    out->shuffled = true;
    st = shuffled_rows(j, err);
    if (st != HSY_OK)
        return st;
    out->each = shuffled_each(&j->t);
    if (out->each > HSY_COMPOSE_MAX) { /* nothing but what answers bound */
        out->epsilon_each = out->worth.most;
        return HSY_OK;
    }
    return hsy_worth_batches(&out->worth, &out->epsilon_each, &out->delta_each,
                             out->each, err);
}

bool analysis_kept(const hsy_analysis_result *r)
{
    const uint64_t promised = r->batches.nano_central;

    return promised == 0 ||
           r->worth.epsilon * HSY_NANO <= (double)(promised + SHUFFLED_DIGITS);
}
