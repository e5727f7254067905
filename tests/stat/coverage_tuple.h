/*
 * coverage_tuple.h - intervals of several attributes of one person: each alone,
 * combinations of them, and RAPPOR's association.
 */
#ifndef COVERAGE_TUPLE_H
#define COVERAGE_TUPLE_H

#include "coverage.h"

/* Yes or no, and one of three values: six combinations. */
#define TUPLE_VALUES 3u
#define TUPLE_CELLS 6u

/* variant: what is estimated. */
enum tuple_what { TUPLE_ATTRIBUTES, TUPLE_COMBINATIONS };

static const struct coverage_law tuple_law = {
    TUPLE_CELLS, {0, 1, 2, 3, 4, 5}, {.3, .1, .2, .05, .25, .1}};

struct tuple_run {
    hsy_scheme *s;
    hsy_scheme_info info;
    uint8_t *reports;
    int64_t *memory;
    hsy_tally tally;
    uint64_t *drawn, *codes;
    double held[COVERAGE_ATOMS];
    struct coverage_value values[2][TUPLE_CELLS];
};

static inline void tuple_open(struct tuple_run *r,
                              const struct coverage_cell *c)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = c->kind->mechanism,
                     .nano_epsilon = (uint64_t)(c->epsilon * 1e9 + 0.5)};

    memset(r, 0, sizeof *r);
    trial_attributes(&spec, TUPLE_VALUES);
    r->s = trial_scheme(&spec);
    hsy_scheme_describe(r->s, &r->info);
    r->reports = stat_alloc(c->n * r->info.report_bytes);
    r->memory = stat_alloc(hsy_tally_words(r->s) * sizeof *r->memory);
    r->drawn = stat_alloc(c->n * sizeof *r->drawn);
    r->codes = stat_alloc(2 * c->n * sizeof *r->codes);
}

static inline void tuple_close(struct tuple_run *r)
{
    free(r->s);
    free(r->reports);
    free(r->memory);
    free(r->drawn);
    free(r->codes);
}

static inline bool tuple_collect(struct tuple_run *r,
                                 const struct coverage_cell *c, uint64_t lane)
{
    struct stat_coins coins;

    coverage_draw(r->drawn, r->held, &tuple_law, c->n, lane);
    for (uint64_t i = 0; i < c->n; i++) {
        r->codes[2 * i] = r->drawn[i] / TUPLE_VALUES;
        r->codes[2 * i + 1] = r->drawn[i] % TUPLE_VALUES;
    }
    stat_coins_open(&coins, lane);
    hsy_tally_init(&r->tally, r->s, r->memory);
    return stat_randomize(r->s, &r->info, STAT_SIMULATE, r->reports, r->codes,
                          c->n, &coins) == HSY_OK &&
           hsy_tally_batch(&r->tally, r->s, r->reports, c->n, NULL) == HSY_OK;
}

/* Value v of attribute a, or combination v if a is 2. */
static inline double tuple_truth(const double *shares, size_t a, size_t v)
{
    double truth = 0;

    for (size_t k = 0; k < TUPLE_CELLS; k++)
        if (a == 2 ? k == v
                   : (a == 0 ? k / TUPLE_VALUES == 1 : k % TUPLE_VALUES == v))
            truth += shares[k];
    return truth;
}

static inline bool tuple_see(struct tuple_run *r, const hsy_evidence *point,
                             size_t a, size_t v, hsy_error *err)
{
    for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++) {
        const hsy_confidence how = {COVERAGE_LEVEL, (hsy_target)t,
                                    HSY_INTERVAL_AUTO, 1};
        struct coverage_value *value = &r->values[t][a == 1 ? 1 + v : v];
        hsy_estimate est;

        if (hsy_estimate_point(&est, point, &how, err) != HSY_OK)
            return false;
        coverage_see(
            value, &est,
            tuple_truth(t == HSY_PEOPLE ? r->held : tuple_law.share, a, v));
    }
    return true;
}

static inline bool tuple_attributes(struct tuple_run *r, hsy_error *err)
{
    bool good = true;

    for (size_t a = 0; a < 2 && good; a++) {
        const size_t n = a == 0 ? 1 : TUPLE_VALUES;
        hsy_evidence points[TUPLE_VALUES];
        void *scratch = stat_alloc(hsy_attribute_evidence_scratch(r->s, a, n));

        good = hsy_attribute_evidence(r->s, points, &r->tally, a, NULL, n,
                                      scratch, err) == HSY_OK;
        for (size_t v = 0; v < n && good; v++)
            good = tuple_see(r, &points[v], a, v, err);
        free(scratch);
    }
    return good;
}

/* The combinations are the values of the one part that joint has. */
static inline bool tuple_combinations(struct tuple_run *r, hsy_error *err)
{
    const hsy_scheme *part = hsy_scheme_part(r->s, 0);
    void *scratch = stat_alloc(hsy_evidence_scratch(part, TUPLE_CELLS));
    hsy_evidence points[TUPLE_CELLS];
    hsy_tally own;
    bool good;

    hsy_tally_part(&own, &r->tally, r->s, 0);
    good = hsy_evidence_of(part, points, &own, NULL, TUPLE_CELLS, scratch,
                           err) == HSY_OK;
    for (size_t v = 0; v < TUPLE_CELLS && good; v++)
        good = tuple_see(r, &points[v], 2, v, err);
    free(scratch);
    return good;
}

static inline void coverage_tuple(struct coverage_cell *c)
{
    const bool each = c->kind->variant == TUPLE_ATTRIBUTES;
    hsy_error err = {0};
    struct tuple_run r;
    bool good = true;

    tuple_open(&r, c);
    for (uint64_t run = 0; run < c->runs && good; run++)
        good =
            tuple_collect(&r, c, coverage_lane(c, run, 0)) &&
            (each ? tuple_attributes(&r, &err) : tuple_combinations(&r, &err));
    if (coverage_went(c, good, &err))
        for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
            coverage_judge(c, (hsy_target)t, r.values[t],
                           each ? 1 + TUPLE_VALUES : TUPLE_CELLS);
    tuple_close(&r);
}

/* ---- Association --------------------------------------------------------- */

#define PAIR_BITS 16u
#define PAIR_COHORTS 8u
#define PAIR_HASHES 2u

/* A boolean and one of three listed strings of each person, by RAPPOR. */
struct pair_run {
    hsy_rappor_data yes, text;
    double one; /* chance of a bit that is set to come out 1 */
    uint16_t bit[PAIR_COHORTS];
    uint16_t bits[TUPLE_VALUES * PAIR_COHORTS * PAIR_HASHES];
    uint64_t totals[PAIR_COHORTS], ones[PAIR_COHORTS * PAIR_BITS];
    uint32_t *cohorts;
    uint8_t *answers, *words;
    uint64_t *drawn;
    hsy_stream st;
};

static inline double pair_coin(struct pair_run *p)
{
    hsy_rng rng = hsy_stream_rng(&p->st);
    uint64_t word;

    (void)rng.fill(rng.ctx, &word, sizeof word);
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

static inline void pair_open(struct pair_run *p, const struct coverage_cell *c)
{
    /* Two strings differ in up to four bits. */
    const double e = exp(c->epsilon / (2 * PAIR_HASHES));

    memset(p, 0, sizeof *p);
    p->one = e / (1 + e);
    p->cohorts = stat_alloc(c->n * sizeof *p->cohorts);
    p->answers = stat_alloc(c->n);
    p->words = stat_alloc(2 * c->n);
    p->drawn = stat_alloc(c->n * sizeof *p->drawn);
    p->text = (hsy_rappor_data){.size = sizeof p->text,
                                .k = PAIR_BITS,
                                .h = PAIR_HASHES,
                                .m = PAIR_COHORTS,
                                .p = 1 - p->one,
                                .q = p->one,
                                .totals = p->totals,
                                .ones = p->ones,
                                .candidates = TUPLE_VALUES,
                                .bits = p->bits};
    p->yes = p->text;
    p->yes.k = p->yes.h = 1;
    p->yes.candidates = 1;
    p->yes.bits = p->bit;
}

static inline void pair_close(struct pair_run *p)
{
    free(p->cohorts);
    free(p->answers);
    free(p->words);
    free(p->drawn);
}

static inline void pair_report(struct pair_run *p, uint64_t i)
{
    const uint32_t c = (uint32_t)(pair_coin(p) * PAIR_COHORTS);
    const uint16_t *bits =
        p->bits + (p->drawn[i] % TUPLE_VALUES * PAIR_COHORTS + c) * PAIR_HASHES;
    const bool yes = p->drawn[i] < TUPLE_VALUES;

    p->cohorts[i] = c;
    p->totals[c]++;
    p->answers[i] = pair_coin(p) < (yes ? p->one : 1 - p->one);
    p->words[2 * i] = p->words[2 * i + 1] = 0;
    for (uint32_t b = 0; b < PAIR_BITS; b++) {
        const bool set = bits[0] == b || bits[1] == b;
        const bool out = pair_coin(p) < (set ? p->one : 1 - p->one);

        p->words[2 * i + b / 8] |= (uint8_t)(out << b % 8);
        p->ones[c * PAIR_BITS + b] += out;
    }
}

static inline void pair_collect(struct pair_run *p,
                                const struct coverage_cell *c, uint64_t lane)
{
    double held[COVERAGE_ATOMS];

    hsy_stream_seed(&p->st, stat_seed(), lane + 1);
    coverage_draw(p->drawn, held, &tuple_law, c->n, lane);
    memset(p->totals, 0, sizeof p->totals);
    memset(p->ones, 0, sizeof p->ones);
    for (size_t i = 0; i < TUPLE_VALUES * PAIR_COHORTS * PAIR_HASHES; i++)
        p->bits[i] = (uint16_t)(pair_coin(p) * PAIR_BITS);
    for (uint64_t i = 0; i < c->n; i++)
        pair_report(p, i);
}

/* As cli/estimate/associate_files.c prints them. */
static inline bool pair_see(struct pair_run *p, const struct coverage_cell *c,
                            struct coverage_value *values, hsy_error *err)
{
    const hsy_rappor_reports r = {
        .size = sizeof r,
        .n = c->n,
        .cohorts = p->cohorts,
        .variables = 2,
        .variable = {{.data = p->yes,
                      .rest = HSY_RAPPOR_REST_NO_BIT,
                      .words = p->answers,
                      .stride = 1},
                     {.data = p->text, .words = p->words, .stride = 2}}};
    double share[TUPLE_CELLS], covariance[TUPLE_CELLS * TUPLE_CELLS];
    void *scratch = stat_alloc(hsy_rappor_associate_scratch(&r));
    hsy_association_result out;
    const bool good = hsy_rappor_associate(&r, share, covariance, &out, scratch,
                                           err) == HSY_OK;

    for (size_t i = 0; i < TUPLE_CELLS && good; i++) {
        const double sd = sqrt(fmax(0, covariance[i * TUPLE_CELLS + i]));
        const hsy_estimate est = {share[i], sd, share[i] - COVERAGE_Z * sd,
                                  share[i] + COVERAGE_Z * sd};

        coverage_see(&values[i], &est, tuple_law.share[i]);
    }
    free(scratch);
    return good;
}

static inline void coverage_associate(struct coverage_cell *c)
{
    struct coverage_value values[TUPLE_CELLS] = {0};
    hsy_error err = {0};
    struct pair_run p;
    bool good = true;

    pair_open(&p, c);
    for (uint64_t run = 0; run < c->runs && good; run++) {
        pair_collect(&p, c, coverage_lane(c, run, 0));
        good = pair_see(&p, c, values, &err);
    }
    if (coverage_went(c, good, &err))
        coverage_judge(c, HSY_POPULATION, values, TUPLE_CELLS);
    pair_close(&p);
}

#endif
