/*
 * coverage.h - how often an interval holds the truth, and how wide it is.
 *
 * What any surface prints as an interval is a kind with a row in the table of
 * tests/stat/test_coverage.c. A kind is measured in cells: an epsilon, a number
 * of people, so many runs. Each run draws people from a fixed law, so that one
 * run serves both targets: the share they hold, and the share of the law.
 *
 * A run is one trial. Each value by itself goes to the exact binomial test,
 * one-sided, at 1e-6: P(Bin(runs, level) <= held). At full size no value is
 * held in less than 90 of 100 runs, and the mean width is at most 1.25 times
 * what the measured standard deviation calls for, 2 z of it. Intervals half as
 * wide must be noticed. What is not judged stands in the list of exceptions,
 * with its reason.
 */
#ifndef COVERAGE_H
#define COVERAGE_H

#include "host/analysis/analysis.h"
#include "rig/stat.h"

#include <inttypes.h>

#define COVERAGE_LEVEL 0.95
#define COVERAGE_Z 1.959963984540054
#define COVERAGE_ALPHA 1e-6
#define COVERAGE_LEAST 0.90
#define COVERAGE_WIDEST 1.25
#define COVERAGE_ENOUGH 40 /* runs from which a spread is measured at all */
#define COVERAGE_SURE 150  /* runs that surely show intervals of half width */
#define COVERAGE_FEW 10 /* reports for, or against: below, widths are steps */

/* ---- Kinds --------------------------------------------------------------- */

struct coverage_cell;

struct coverage_kind {
    const char *name;
    const char *maker; /* the library's function that makes the interval */
    void (*measure)(struct coverage_cell *cell);
    const char *mechanism;
    uint32_t number;   /* what measure makes of it: rounds, bins, ... */
    uint32_t variant;  /* and of this: an interval, attendance, ... */
    uint32_t slow;     /* ./check has one in so many runs; 0: as others */
    uint32_t epsilons; /* the first so many of the three; 0: all */
};

/* What is not asked of the kinds whose names begin so. */
enum coverage_waived {
    COVERAGE_WIDTH = 1,  /* to be no wider than need be */
    COVERAGE_HOLDS = 2,  /* to hold */
    COVERAGE_REFUSED = 4 /* to be there: it may be refused with a reason */
};

struct coverage_exception {
    const char *kinds;
    unsigned waived;
    unsigned targets; /* 1 << target of each that it is about */
    uint64_t most;    /* for at most so many people; 0: any */
    double epsilon;   /* for at most so large an epsilon; 0: any */
    const char *reason;
};

#define COVERAGE_OF_PEOPLE 1u
#define COVERAGE_OF_POPULATION 2u
#define COVERAGE_OF_BOTH 3u

/* ---- One interval, run after run ----------------------------------------- */

struct coverage_value {
    uint64_t runs, held, halves;
    double width, error, squares; /* sums */
    double z;                     /* of the level; 0: of 95 % */
    bool few;                     /* the width is not judged */
};

static inline void coverage_see(struct coverage_value *v,
                                const hsy_estimate *est, double truth)
{
    const double middle = (est->low + est->high) / 2;
    const double error = est->value - truth;

    v->runs++;
    v->held += est->low <= truth && truth <= est->high;
    v->halves += fabs(truth - middle) <= (est->high - est->low) / 4;
    v->width += est->high - est->low;
    v->error += error;
    v->squares += error * error;
}

static inline double coverage_share(const struct coverage_value *v)
{
    return (double)v->held / (double)v->runs;
}

/* Mean width over what the spread of the estimates calls for. */
static inline double coverage_ratio(const struct coverage_value *v)
{
    const double runs = (double)v->runs, mean = v->error / runs;
    const double sd = sqrt(fmax(v->squares / runs - mean * mean, 0));

    return v->width / runs / (2 * (v->z > 0 ? v->z : COVERAGE_Z) * sd);
}

/* ---- Strings that were selected ------------------------------------------ */

/* The false coverage rate: of what a run selects, the share whose interval
 * misses the truth, 0 if it selects nothing [BY05]. */
struct coverage_selected {
    uint64_t runs;
    double wrong;  /* sum of the shares */
    double halves; /* the same of intervals half as wide */
    double shown;
    uint64_t missing, missing_halves, now; /* of the run at hand */
    struct coverage_value first; /* the most frequent string, where selected */
};

static inline void coverage_pick(struct coverage_selected *s,
                                 const hsy_estimate *est, double truth)
{
    const double middle = (est->low + est->high) / 2;

    s->now++;
    s->missing += !(est->low <= truth && truth <= est->high);
    s->missing_halves += fabs(truth - middle) > (est->high - est->low) / 4;
}

/* The end of a run. */
static inline void coverage_picked(struct coverage_selected *s)
{
    const double now = (double)s->now;

    s->runs++;
    s->shown += now;
    s->wrong += s->now == 0 ? 0 : (double)s->missing / now;
    s->halves += s->now == 0 ? 0 : (double)s->missing_halves / now;
    s->now = s->missing = s->missing_halves = 0;
}

/* The chance of so large a mean of runs shares in [0, 1] whose expectation is
 * `most`, by Hoeffding's inequality [Hoeffding63, (2.1)]. */
static inline double coverage_tail(double mean, double runs, double most)
{
    if (mean <= most)
        return 1;
    return exp(-runs *
               (mean * log(mean / most) +
                (mean < 1 ? (1 - mean) * log((1 - mean) / (1 - most)) : 0)));
}

/* ---- What a kind showed -------------------------------------------------- */

struct coverage_figures {
    uint64_t values;
    double lowest, sum; /* of coverage */
    double widest;      /* ratio, of the judged */
};

struct coverage_summary {
    struct coverage_figures target[2];
    uint64_t failed;
    uint64_t runs[3]; /* of each size, the fewest */
};

struct coverage_cell {
    const struct coverage_kind *kind;
    const struct coverage_exception *exceptions; /* ended by a NULL name */
    struct coverage_summary *summary;
    double epsilon;
    uint64_t n, runs;
    uint64_t lane;   /* the first of the cell's own */
    uint32_t rounds; /* where devices answer again; else 0 */
};

static inline uint64_t coverage_lane(const struct coverage_cell *c,
                                     uint64_t run, uint64_t turn)
{
    return c->lane + 16 * run + turn;
}

static inline unsigned coverage_waives(const struct coverage_cell *c,
                                       hsy_target target)
{
    unsigned waived = 0;

    for (const struct coverage_exception *e = c->exceptions; e->kinds != NULL;
         e++)
        if (strncmp(c->kind->name, e->kinds, strlen(e->kinds)) == 0 &&
            (e->most == 0 || c->n <= e->most) &&
            (e->epsilon == 0 || c->epsilon <= e->epsilon) &&
            e->targets >> target & 1)
            waived |= e->waived;
    return waived;
}

/* Which cell this is. */
static inline const char *coverage_name(const struct coverage_cell *c,
                                        char text[128])
{
    int len = snprintf(text, 128, "%s, epsilon %g, n %" PRIu64, c->kind->name,
                       c->epsilon, c->n);

    if (c->rounds != 0)
        snprintf(text + len, 128 - (size_t)len, ", %" PRIu32 " rounds",
                 c->rounds);
    return text;
}

/* ---- Verdicts ------------------------------------------------------------ */

/* A measured standard deviation of few runs may be too small: it is allowed
 * four and a half of its own standard errors, 1 / sqrt(2 runs). */
static inline double coverage_allowed(uint64_t runs)
{
    return COVERAGE_WIDEST *
           (runs >= 400 ? 1 : 1 + 4.5 / sqrt(2 * (double)runs));
}

static inline bool coverage_holds(const struct coverage_value *v)
{
    return hsy_binomial_cdf(v->held, v->runs, COVERAGE_LEVEL) >=
               COVERAGE_ALPHA &&
           (!stat_long() || v->runs < 400 ||
            coverage_share(v) >= COVERAGE_LEAST);
}

/* Whether the width of a value is judged. */
static inline bool coverage_measured(const struct coverage_value *v,
                                     unsigned waived)
{
    return !v->few && !(waived & COVERAGE_WIDTH) && v->runs >= COVERAGE_ENOUGH;
}

static inline void coverage_note(struct coverage_figures *f,
                                 const struct coverage_value *v,
                                 unsigned waived)
{
    const double share = coverage_share(v);

    f->lowest = f->values == 0 ? share : fmin(f->lowest, share);
    f->sum += share;
    f->values++;
    if (coverage_measured(v, waived))
        f->widest = fmax(f->widest, coverage_ratio(v));
}

/* Where a value is too narrow or too wide, say so of it. */
static inline bool coverage_value_good(const struct coverage_value *v,
                                       size_t place, unsigned waived)
{
    const bool holds = waived & COVERAGE_HOLDS || coverage_holds(v);
    const bool wide = coverage_measured(v, waived) &&
                      !(coverage_ratio(v) <= coverage_allowed(v->runs));

    if (!holds || wide)
        printf("# value %zu: %" PRIu64 " of %" PRIu64
               " hold it, width ratio %.3f\n",
               place, v->held, v->runs, coverage_ratio(v));
    return holds && !wide;
}

/* Intervals that are as wide as they should be, cut in half, hold two thirds:
 * whether the test would notice. */
static inline bool coverage_notices(const struct coverage_value *values,
                                    size_t count, unsigned waived)
{
    bool tried = false;

    for (size_t i = 0; i < count; i++) {
        const struct coverage_value *v = &values[i];

        if (!coverage_measured(v, waived) || v->runs < COVERAGE_SURE ||
            coverage_ratio(v) > COVERAGE_WIDEST)
            continue;
        tried = true;
        if (hsy_binomial_cdf(v->halves, v->runs, COVERAGE_LEVEL) <
            COVERAGE_ALPHA)
            return true;
    }
    return !tried;
}

/* All values of a cell for one target. */
static inline void coverage_judge(struct coverage_cell *c, hsy_target target,
                                  const struct coverage_value *values,
                                  size_t count)
{
    const unsigned waived = coverage_waives(c, target);
    struct coverage_figures f = {0}, *all = &c->summary->target[target];
    bool good = count > 0;
    char name[128];

    for (size_t i = 0; i < count; i++) {
        coverage_note(&f, &values[i], waived);
        coverage_note(all, &values[i], waived);
        good = coverage_value_good(&values[i], i, waived) &&
               values[i].runs == c->runs && good;
    }
    good = good && coverage_notices(values, count, waived);
    c->summary->failed += !good;
    ok(good,
       "%s, %s: of %" PRIu64 " runs %.4f at the worst of %" PRIu64
       ", mean %.4f, width at most %.3f; half of it would be noticed",
       coverage_name(c, name), target == HSY_PEOPLE ? "people" : "population",
       c->runs, f.lowest, f.values, f.sum / (double)f.values, f.widest);
}

/* Both targets; values are [target][count]. */
static inline void coverage_judge_both(struct coverage_cell *c,
                                       const struct coverage_value *values,
                                       size_t count)
{
    coverage_judge(c, HSY_PEOPLE, values, count);
    coverage_judge(c, HSY_POPULATION, values + count, count);
}

static inline void coverage_judge_selected(struct coverage_cell *c,
                                           hsy_target target,
                                           const struct coverage_selected *s)
{
    const double runs = (double)s->runs, most = 1 - COVERAGE_LEVEL;
    /* Where it is hardly ever left out: selection narrows the spread. */
    const bool wide =
        coverage_measured(&s->first, coverage_waives(c, target)) &&
        10 * s->first.runs >= 9 * s->runs;
    struct coverage_figures *all = &c->summary->target[target];
    const double held = 1 - s->wrong / runs;
    const double ratio = wide ? coverage_ratio(&s->first) : 0;
    const bool good = s->runs == c->runs &&
                      ratio <= coverage_allowed(s->first.runs) &&
                      coverage_tail(1 - held, runs, most) >= COVERAGE_ALPHA;
    char name[128];

    all->lowest = all->values == 0 ? held : fmin(all->lowest, held);
    all->sum += held;
    all->widest = fmax(all->widest, ratio);
    all->values++;
    c->summary->failed += !good;
    ok(good, "%s, %s: of %" PRIu64 " runs %.4f hold of %.1f shown, width %.3f",
       coverage_name(c, name), target == HSY_PEOPLE ? "people" : "population",
       s->runs, held, s->shown / runs, ratio);
}

/* Whether all runs of a cell gave intervals. */
static inline bool coverage_went(struct coverage_cell *c, bool well,
                                 const hsy_error *err)
{
    const bool may = coverage_waives(c, HSY_PEOPLE) & COVERAGE_REFUSED;
    char name[128];

    if (well)
        return true;
    c->summary->failed += !may;
    ok(may, "%s: no interval: %s: %s", coverage_name(c, name),
       hsy_field_name(err->field), err->msg != NULL ? err->msg : "no reason");
    return false;
}

/* ---- People -------------------------------------------------------------- */

#define COVERAGE_ATOMS 64u

/* Codes, and the share of each. */
struct coverage_law {
    size_t atoms;
    uint64_t code[COVERAGE_ATOMS];
    double share[COVERAGE_ATOMS];
};

/* So many of n people hold each code: multinomial, one binomial after the
 * other. held has their shares. */
static inline void coverage_draw(uint64_t *codes, double *held,
                                 const struct coverage_law *law, uint64_t n,
                                 uint64_t lane)
{
    uint64_t left = n;
    double rest = 1;
    hsy_stream st;

    hsy_stream_seed(&st, stat_seed(), lane);
    for (size_t a = 0; a < law->atoms; a++) {
        const double p = rest > 0 ? fmin(1, law->share[a] / rest) : 0;
        const uint64_t k = a + 1 == law->atoms ? left
                           : p <= 0            ? 0
                           : p >= 1            ? left
                                    : hsy_binomial_draw(left, p, &st);

        for (uint64_t i = 0; i < k; i++)
            *codes++ = law->code[a];
        held[a] = (double)k / (double)n;
        left -= k;
        rest -= law->share[a];
    }
}

#endif
