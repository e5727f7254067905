/*
 * ideal.c - a search whose people each have a hash function of their own,
 * which a tally could not hold: what a pool comes to as it grows.
 *
 * The support of every candidate is drawn by itself, Bin(own, p) +
 * Bin(others, q). Who has the functions can predict the collisions with what
 * plainly is there, as the pool's decoder does (docs/mechanisms/lh.md, 5),
 * which leaves n times the variance of a share at
 *
 *     (1-f) v0 + f v1 - (sum over predicted u != v of f_u^2) / (g-1):
 *
 * so much is taken off the noise that was drawn.
 */
#include "sim/discovery/internal.h"

#include <math.h>
#include <stdlib.h>

/* A string and who holds it, in order of its code. */
struct ideal_holders {
    uint64_t code, count;
};

struct ideal {
    hsy_scheme *s;
    struct ideal_holders *holders;
    uint64_t *ends; /* of a group: people up to and with each string */
    uint64_t *candidates;
    double *shares; /* of the candidates, true */
    hsy_evidence *points;
};

static int ideal_order(const void *a, const void *b)
{
    const struct ideal_holders *x = a, *y = b;

    return x->code < y->code ? -1 : x->code > y->code;
}

/* Let the people of group i of the groups that are left step aside; how many
 * they are. */
static uint64_t ideal_group(const struct discover_worker *w, size_t i,
                            hsy_stream *st)
{
    const size_t n = w->job->how->people->n;
    struct ideal *own = w->own;
    uint64_t all = 0;

    for (size_t k = 0; k < n; k++) {
        const uint64_t some = hsy_binomial_draw(
            own->holders[k].count, 1 / (double)(w->job->nstages - i), st);

        own->holders[k].count -= some;
        own->ends[k] = all += some;
    }
    return all;
}

/* People of the group whose codes are below this. */
static uint64_t ideal_below(const struct discover_worker *w, uint64_t code)
{
    const struct ideal *own = w->own;
    size_t low = 0, high = w->job->how->people->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (own->holders[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : own->ends[low - 1];
}

/* The point of a candidate that `own` of n people hold. */
static hsy_evidence ideal_point(const hsy_scheme_info *law, uint64_t own,
                                uint64_t n, hsy_stream *st)
{
    const uint64_t support = hsy_binomial_draw(own, law->p, st) +
                             hsy_binomial_draw(n - own, law->q, st);

    return (hsy_evidence){.value = ((double)support / (double)n - law->q) /
                                   (law->p - law->q),
                          .n = (double)n,
                          .support = (double)support,
                          .p = law->p,
                          .q = law->q,
                          .v0 = law->v0,
                          .v1 = law->v1};
}

static double ideal_variance(const hsy_scheme_info *law, double f)
{
    return (1 - f) * law->v0 + f * law->v1;
}

/* The sum of f^2 over the candidates that stand out by 4 standard errors. */
static double ideal_predicted(const struct ideal *own, size_t n,
                              const hsy_scheme_info *law)
{
    double squares = 0;

    for (size_t c = 0; c < n; c++) {
        const double f = fmin(fmax(own->points[c].value, 0), 1);

        if (f * f * own->points[c].n > 16 * ideal_variance(law, f))
            squares += own->shares[c] * own->shares[c];
    }
    return squares;
}

/* Take off what predicted collisions make of the noise; 1/(g-1) = q/(1-q). */
static void ideal_correct(struct ideal *own, size_t n,
                          const hsy_scheme_info *law)
{
    const double squares = ideal_predicted(own, n, law);

    for (size_t c = 0; c < n; c++) {
        hsy_evidence *point = &own->points[c];
        const double f = own->shares[c], plain = ideal_variance(law, f);
        const double others = fmax(squares - f * f, 0) * law->q / (1 - law->q);

        point->value = f + (point->value - f) * sqrt(1 - others / plain);
        point->v0 -= others / fmax(1 - f, 0.5);
    }
}

static size_t ideal_extend(struct discover_worker *w, size_t i, size_t count)
{
    struct ideal *own = w->own;

    return hsy_search_extend(own->s, own->candidates, &w->job->stages[i],
                             &(hsy_found){w->found, count});
}

static hsy_status ideal_stage(struct discover_worker *w, size_t i,
                              size_t *count, hsy_stream *coins, hsy_error *err)
{
    const struct discover_job *job = w->job;
    const hsy_stage *stage = &job->stages[i];
    const uint64_t width = (uint64_t)1 << (job->bits - stage->bits);
    const uint64_t n = ideal_group(w, i, coins);
    const size_t candidates = ideal_extend(w, i, *count);
    struct ideal *own = w->own;
    hsy_scheme_info law;

    if (n == 0)
        return host_fail(err, HSY_E_EMPTY, HOST_FIELD_USERS,
                         "a group has no people");
    hsy_scheme_describe(hsy_scheme_part(own->s, i), &law);
    for (size_t c = 0; c < candidates; c++) {
        const uint64_t from = own->candidates[c];
        const uint64_t before = ideal_below(w, from);
        const bool top = from + (width - 1) == UINT64_MAX;
        const uint64_t upto = top ? n : ideal_below(w, from + width);

        own->points[c] = ideal_point(&law, upto - before, n, coins);
        own->shares[c] = (double)(upto - before) / (double)n;
    }
    if (law.kind == HSY_KIND_STRINGS)
        ideal_correct(own, candidates, &law);
    *count = hsy_search_select(stage, w->found, own->candidates, own->points,
                               candidates);
    return HSY_OK;
}

static hsy_status ideal_search(struct discover_worker *w, uint64_t run,
                               size_t *count, hsy_error *err)
{
    const size_t n = w->job->how->people->n;
    struct ideal *own = w->own;
    hsy_status st = discover_scheme(w, own->s, run, err);
    hsy_stream coins;

    if (st != HSY_OK)
        return st;
    discover_people(w, run);
    discover_stream(w, &coins, run, DISCOVER_IDEAL);
    for (size_t i = 0; i < n; i++)
        own->holders[i] = (struct ideal_holders){w->codes[i], w->counts[i]};
    qsort(own->holders, n, sizeof *own->holders, ideal_order);
    for (size_t i = 0; i < w->job->nstages && st == HSY_OK; i++)
        st = ideal_stage(w, i, count, &coins, err);
    return st;
}

static size_t ideal_candidates(const struct discover_job *job)
{
    uint64_t most = 0;

    for (size_t i = 0; i < job->nstages; i++)
        most = job->stages[i].room > most ? job->stages[i].room : most;
    return (size_t)most;
}

static hsy_status ideal_open(struct discover_worker *w, hsy_error *err)
{
    const size_t n = w->job->how->people->n;
    const size_t candidates = ideal_candidates(w->job);
    struct ideal *own = owned_array(&w->owned, 1, sizeof *own);

    w->own = own;
    if (own == NULL)
        return host_nomem(err);
    own->s = owned_array(&w->owned, 1, hsy_scheme_size(&w->job->how->spec));
    own->holders = owned_array(&w->owned, n, sizeof *own->holders);
    own->ends = owned_array(&w->owned, n, sizeof *own->ends);
    own->candidates =
        owned_array(&w->owned, candidates, sizeof *own->candidates);
    own->points = owned_array(&w->owned, candidates, sizeof *own->points);
    own->shares = owned_array(&w->owned, candidates, sizeof *own->shares);
    return owned_all(&w->owned, err);
}

const struct discover_form discover_ideal = {discover_plan, ideal_open,
                                             ideal_search, DISCOVER_LANES};
