/*
 * test_associate.c - joint distributions by EM: the known joint is recovered,
 * standard errors cover, the independence test has its size, bad input.
 */
#include "lib/rappor/internal.h"
#include "rig/rappor_people.h"
#include "rig/stat.h"

#define K 16u
#define M 8u
#define H 2u
#define STRINGS 3u /* listed; a fourth category stands for the rest */
#define R 2u
#define C (STRINGS + 1)

/* A boolean and a string of the same person: reports of both. */
struct pairs {
    size_t n;
    hsy_rappor_data yes, text;
    uint16_t bit[M], bits[6 * M * H]; /* 3 listed, 3 others */
    uint64_t totals[M], ones[M * K];
    double shares[STRINGS], sd[STRINGS]; /* of the strings, decoded */
    uint32_t *cohorts;
    uint8_t *answer, *word;
    double *left, *right;
    hsy_stream stream;
    hsy_rng rng;
};

static double pairs_coin(struct pairs *p)
{
    uint64_t x;

    p->rng.fill(p->rng.ctx, &x, sizeof x);
    return ((double)(x >> 12) + 0.5) * 0x1p-52;
}

static void pairs_open(struct pairs *p, size_t n)
{
    memset(p, 0, sizeof *p);
    p->n = n;
    p->cohorts = trial_memory(n * sizeof *p->cohorts);
    p->answer = trial_memory(n);
    p->word = trial_memory(2 * n);
    p->left = trial_memory(n * R * sizeof(double));
    p->right = trial_memory(n * C * sizeof(double));
    p->text = (hsy_rappor_data){.size = sizeof p->text,
                                .k = K,
                                .h = H,
                                .m = M,
                                .p = 0.2,
                                .q = 0.8,
                                .totals = p->totals,
                                .ones = p->ones,
                                .candidates = STRINGS,
                                .bits = p->bits};
    p->yes = p->text;
    p->yes.k = p->yes.h = 1;
    p->yes.candidates = 1;
    p->yes.bits = p->bit;
}

static void pairs_close(struct pairs *p)
{
    free(p->cohorts);
    free(p->answer);
    free(p->word);
    free(p->left);
    free(p->right);
}

static bool pairs_sets(const uint16_t *bits, uint32_t b)
{
    return bits[0] == b || bits[1] == b;
}

/* One person of cell (answer, string); a string past the list is any of three.
 */
static void pairs_report(struct pairs *p, size_t i, size_t cell)
{
    uint32_t c = (uint32_t)(pairs_coin(p) * M);
    size_t s = cell % C;
    const uint16_t *bits;

    if (s == STRINGS)
        s += (size_t)(3 * pairs_coin(p));
    bits = p->bits + (s * M + c) * H;
    p->cohorts[i] = c;
    p->answer[i] = pairs_coin(p) < (cell / C == 0 ? 0.8 : 0.2);
    p->totals[c]++;
    for (uint32_t b = 0; b < K; b++) {
        bool one = pairs_coin(p) < (pairs_sets(bits, b) ? 0.8 : 0.2);

        p->word[2 * i + b / 8] |= (uint8_t)(one << b % 8);
        p->ones[c * K + b] += one;
    }
}

static void pairs_draw(struct pairs *p, const double *joint, uint64_t lane)
{
    hsy_stream_seed(&p->stream, stat_seed(), lane);
    p->rng = hsy_stream_rng(&p->stream);
    memset(p->word, 0, 2 * p->n);
    memset(p->totals, 0, sizeof p->totals);
    memset(p->ones, 0, sizeof p->ones);
    for (size_t i = 0; i < sizeof p->bits / sizeof p->bits[0]; i++)
        p->bits[i] = (uint16_t)(pairs_coin(p) * K);
    for (size_t i = 0; i < p->n; i++) {
        double coin = pairs_coin(p);
        size_t cell = 0;

        while (cell + 1 < R * C && coin >= joint[cell])
            coin -= joint[cell++];
        pairs_report(p, i, cell);
    }
}

/* The shares of the listed strings, from the same reports. */
static hsy_status pairs_decode(struct pairs *p)
{
    const hsy_rappor_options how = {.size = sizeof how,
                                    .target = HSY_POPULATION};
    void *scratch = trial_memory(hsy_rappor_scratch(&p->text));
    hsy_rappor_share shares[STRINGS];
    hsy_rappor_summary summary;
    hsy_status st =
        hsy_rappor_decode(&p->text, shares, &summary, &how, scratch, NULL);
    double sum = 0;

    for (size_t s = 0; s < STRINGS && st == HSY_OK; s++) {
        p->shares[s] = shares[s].est.value;
        p->sd[s] = shares[s].est.sd;
        sum += p->shares[s];
    }
    free(scratch);
    return st == HSY_OK && sum < 1 ? HSY_OK : HSY_E_RANGE;
}

/* As in use: the strings' shares are estimates too. rest: of the strings. */
static hsy_status pairs_fit(struct pairs *p, uint32_t rest, double *share,
                            double *sd, hsy_association_result *out)
{
    const size_t cells = R * (STRINGS + (rest != HSY_RAPPOR_REST_NONE));
    const hsy_rappor_reports r = {.size = sizeof r,
                                  .n = p->n,
                                  .cohorts = p->cohorts,
                                  .variables = 2,
                                  .variable = {{.data = p->yes,
                                                .rest = HSY_RAPPOR_REST_NO_BIT,
                                                .words = p->answer,
                                                .stride = 1},
                                               {.data = p->text,
                                                .rest = rest,
                                                .shares = p->shares,
                                                .sd = p->sd,
                                                .words = p->word,
                                                .stride = 2}}};
    double covariance[R * C * R * C];
    void *scratch = trial_memory(hsy_rappor_associate_scratch(&r));
    hsy_status st = rest == HSY_RAPPOR_REST_NONE ? HSY_OK : pairs_decode(p);

    if (st == HSY_OK)
        st = hsy_rappor_associate(&r, share, covariance, out, scratch, NULL);
    for (size_t i = 0; i < cells && st == HSY_OK; i++)
        sd[i] = sqrt(covariance[i * cells + i]);
    free(scratch);
    return st;
}

static const double together[R * C] = {0.20, 0.10, 0.05, 0.15,
                                       0.05, 0.15, 0.20, 0.10};

static void test_recovers(void)
{
    double share[R * C], sd[R * C], worst = 0, sum = 0;
    hsy_association_result out = {0};
    struct pairs p;

    pairs_open(&p, 20000);
    pairs_draw(&p, together, 1);
    ok(pairs_fit(&p, HSY_RAPPOR_REST_STRINGS, share, sd, &out) == HSY_OK &&
           out.cells == R * C,
       "a boolean and a string are associated");
    for (size_t i = 0; i < R * C; i++) {
        worst = fmax(worst, fabs(share[i] - together[i]) / sd[i]);
        sum += share[i];
    }
    ok(fabs(sum - 1) < 1e-9, "shares make 1");
    ok(out.gap < 1e-6, "the likelihood is at its maximum, after %u steps",
       out.iterations);
    ok(worst < 6, "every cell within 6 standard errors of the truth (%.2f)",
       worst);
    ok(out.freedom == 3 && out.p_value < 1e-12,
       "that they depend on each other is beyond doubt");
    pairs_close(&p);
}

/* Cells are correlated, runs are not: one cell a run is a coin. */
static void covers(const char *what, const double *joint, uint32_t rest,
                   size_t n, uint64_t lane)
{
    const uint64_t runs = getenv("HSY_TEST_LONG") != NULL ? 2000
                          : n > 2000                      ? 40
                                                          : 200;
    const size_t columns = rest == HSY_RAPPOR_REST_NONE ? STRINGS : C;
    double share[R * C], sd[R * C];
    hsy_association_result out;
    uint64_t fitted = 0, inside = 0, narrow = 0;
    struct pairs p;

    pairs_open(&p, n);
    for (uint64_t i = 0; i < runs; i++) {
        const size_t cell = i % (R * columns);
        const double truth = joint[cell / columns * C + cell % columns];

        pairs_draw(&p, joint, lane + i);
        if (pairs_fit(&p, rest, share, sd, &out) != HSY_OK)
            continue;
        fitted++;
        inside += fabs(share[cell] - truth) <= 1.96 * sd[cell];
        narrow += fabs(share[cell] - truth) <= 0.65 * sd[cell];
    }
    ok(fitted == runs, "%s: every run is fitted", what);
    ok(stat_binomial(inside, runs, 0.95) > 1e-6,
       "%s: intervals of cells cover: %.4f", what,
       (double)inside / (double)runs);
    ok(stat_binomial(narrow, runs, 0.95) < 1e-6,
       "%s, control: a third as wide they do not", what);
    pairs_close(&p);
}

static void test_covers(void)
{
    static const double listed[R * C] = {0.25, 0.15, 0.10, 0,
                                         0.05, 0.20, 0.25, 0};

    covers("a complete list", listed, HSY_RAPPOR_REST_NONE, 2000, 100);
    covers("others, 2,000 people", together, HSY_RAPPOR_REST_STRINGS, 2000,
           20000);
    covers("others, 10,000 people", together, HSY_RAPPOR_REST_STRINGS, 10000,
           30000);
}

/* Under independence the p-value is uniform. */
static void test_size(void)
{
    const uint64_t runs = getenv("HSY_TEST_LONG") != NULL ? 2000 : 200;
    double joint[R * C], share[R * C], sd[R * C];
    hsy_association_result out = {0};
    uint64_t below = 0;
    struct pairs p;

    for (size_t i = 0; i < R * C; i++)
        joint[i] =
            (i / C == 0 ? 0.4 : 0.6) * (together[i % C] + together[C + i % C]);
    pairs_open(&p, 2000);
    for (uint64_t i = 0; i < runs; i++) {
        pairs_draw(&p, joint, 5000 + i);
        if (pairs_fit(&p, HSY_RAPPOR_REST_STRINGS, share, sd, &out) == HSY_OK)
            below += out.p_value < 0.1;
    }
    ok(stat_binomial(below, runs, 0.1) > 1e-6,
       "independent variables look dependent at 10 %% in %.3f of the runs",
       (double)below / (double)runs);
    pairs_close(&p);
}

/* Three variables known without noise: shares are counts. */
static void test_three(void)
{
    double rows[3][8 * 2], share[8], covariance[8 * 8];
    hsy_association a = {.size = sizeof a,
                         .n = 8,
                         .variables = 3,
                         .categories = {2, 2, 2},
                         .rows = {rows[0], rows[1], rows[2]}};
    void *scratch = trial_memory(hsy_associate_scratch(&a));
    hsy_association_result out = {0};
    bool even = true;

    for (size_t i = 0; i < 8; i++) {
        for (size_t v = 0; v < 3; v++) {
            rows[v][2 * i] = (i >> (2 - v) & 1) == 0;
            rows[v][2 * i + 1] = 1 - rows[v][2 * i];
        }
    }
    ok(hsy_associate(&a, share, covariance, &out, scratch, NULL) == HSY_OK &&
           out.freedom == 4,
       "three variables have 8 - 1 - 3 degrees of freedom");
    for (size_t i = 0; i < 8; i++)
        even = even && fabs(share[i] - 0.125) < 1e-9 &&
               fabs(covariance[9 * i] - 0.125 * 0.875 / 8) < 1e-9 &&
               (i == 0 || fabs(covariance[i] + 0.125 * 0.125 / 8) < 1e-9);
    ok(even, "without noise errors are the multinomial's");
    ok(out.chi2 < 1e-9 && out.p_value > 0.999, "and the test finds nothing");
    free(scratch);
}

static void test_refusals(void)
{
    double rows[2][4] = {{1, 0, 0, 1}, {1, 1, 1, 1}}, share[4], sd[16];
    hsy_association a = {.size = sizeof a,
                         .n = 2,
                         .variables = 2,
                         .categories = {2, 2},
                         .rows = {rows[0], rows[1]}};
    void *scratch = trial_memory(hsy_associate_scratch(&a));
    hsy_association_result out;
    hsy_error err = {0};

    ok(hsy_associate(&a, share, sd, &out, scratch, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_ROWS,
       "cells that reports cannot tell apart are refused");
    rows[1][2] = rows[1][3] = 0;
    ok(hsy_associate(&a, share, sd, &out, scratch, &err) == HSY_E_RANGE &&
           err.at == 2,
       "a report that no category gives is refused");
    rows[1][2] = NAN;
    ok(hsy_associate(&a, share, sd, &out, scratch, &err) == HSY_E_RANGE &&
           err.at == 2,
       "a likelihood that is no number is refused");
    a.n = 0;
    ok(hsy_associate(&a, share, sd, &out, scratch, &err) == HSY_E_EMPTY,
       "no reports: HSY_E_EMPTY");
    a.variables = 1;
    ok(hsy_associate_scratch(&a) == 0, "one variable has no association");
    a.variables = 2;
    a.categories[0] = a.categories[1] = 64;
    ok(hsy_associate_scratch(&a) == 0, "a table of 4,096 cells is refused");
    free(scratch);
}

/* Rows that stay what they are shift nothing; others shift towards what the
 * table becomes with them. */
static void test_shift(void)
{
    double rows[2][8] = {{1, 0, 1, 0, 0, 1, 0, 1}, {1, 0, 0, 1, 1, 0, 0, 1}};
    double moved[8], share[4], covariance[16], change[4], again[4], sum = 0;
    hsy_association a = {.size = sizeof a,
                         .n = 4,
                         .variables = 2,
                         .categories = {2, 2},
                         .rows = {rows[0], rows[1]}},
                    b = a;
    void *scratch = trial_memory(hsy_associate_scratch(&a));
    hsy_association_result out;
    bool near = true;

    for (size_t i = 0; i < 8; i++) {
        rows[0][i] = 0.25 + 0.5 * rows[0][i];
        rows[1][i] = 0.25 + 0.5 * rows[1][i];
        moved[i] = rows[0][i] * (i % 2 == 0 ? 1.001 : 1);
    }
    b.rows[0] = moved;
    hsy_associate(&a, share, covariance, &out, scratch, NULL);
    hsy_associate_shift(&a, change, share, covariance, &a, scratch);
    for (size_t i = 0; i < 4; i++)
        near = near && change[i] == 0;
    ok(near, "the same rows shift nothing");
    hsy_associate_shift(&a, change, share, covariance, &b, scratch);
    hsy_associate(&b, again, covariance, &out, scratch, NULL);
    near = true;
    for (size_t i = 0; i < 4; i++) {
        near = near && fabs(share[i] + change[i] - again[i]) < 2e-5;
        sum += change[i];
    }
    ok(near && fabs(change[0]) > 1e-4, "others shift as a new fit does");
    ok(fabs(sum) < 1e-12, "what shares gain others lose");
    free(scratch);
}

static void test_rappor_refusals(void)
{
    struct pairs p;
    hsy_rappor_reports r = {.size = sizeof r, .n = 1, .variables = 2};
    hsy_error err = {0};

    pairs_open(&p, 1);
    r.cohorts = p.cohorts;
    r.variable[0] = (hsy_rappor_variable){
        .data = p.yes, .rest = HSY_RAPPOR_REST_NO_BIT, .words = p.answer};
    r.variable[1] = (hsy_rappor_variable){.data = p.text, .words = p.word};
    ok(hsy_rappor_associate_scratch(&r) != 0, "two variables are a table");
    r.variable[1].rest = 3;
    ok(hsy_rappor_associate(&r, NULL, NULL, NULL, NULL, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_REST,
       "no such rest: refused");
    r.variable[1].rest = HSY_RAPPOR_REST_NONE;
    r.variable[1].data.candidates = HSY_ASSOCIATE_CELLS;
    ok(hsy_rappor_associate(&r, NULL, NULL, NULL, NULL, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_CANDIDATES,
       "2,048 cells: refused");
    r.variable[1].data.candidates = 1;
    ok(hsy_rappor_associate_scratch(&r) == 0, "one category is no variable");
    r.variables = 1;
    ok(hsy_rappor_associate(&r, NULL, NULL, NULL, NULL, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_VARIABLES,
       "one variable: refused");
    pairs_close(&p);
}

static void test_likelihood_edges(void)
{
    const uint16_t bits[2] = {0, 1};
    const uint64_t totals[1] = {10}, ones[2] = {5, 5};
    const hsy_rappor_data data = {.size = sizeof data,
                                  .k = 2,
                                  .h = 1,
                                  .m = 1,
                                  .p = 0,
                                  .q = 1,
                                  .totals = totals,
                                  .ones = ones,
                                  .candidates = 2,
                                  .bits = bits};
    const uint8_t first = 1, both = 3;
    const uint32_t cohort = 0, beyond = 1;
    const double all[2] = {0.5, 0.5};
    double row[2], other[4];
    hsy_error err = {0};

    ok(hsy_rappor_likelihood(&data, row, NULL, &first, 1, &cohort, 1, NULL) ==
               HSY_OK &&
           row[0] == 1 && row[1] == 0,
       "without noise a report is of one string");
    ok(hsy_rappor_likelihood(&data, row, NULL, &both, 1, &cohort, 1, &err) ==
               HSY_E_RANGE &&
           err.at == 1,
       "one of none is refused");
    ok(hsy_rappor_likelihood(&data, row, NULL, &first, 1, &beyond, 1, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_COHORT,
       "a cohort beyond m is refused");
    ok(hsy_rappor_other(&data, other, all, &err) == HSY_E_RANGE,
       "listed strings that are everybody leave no others");
}

int main(void)
{
    test_recovers();
    test_covers();
    test_size();
    test_three();
    test_shift();
    test_refusals();
    test_rappor_refusals();
    test_likelihood_edges();
    return tap_done();
}
