/* test_survey.c - interview surveys: designs, estimates, groups, samples. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static bool survey_near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fmax(fabs(want), 1e-3);
}

/* By bisection on a quotient of two sums, whose last digits cancel. */
static bool about(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fmax(fabs(want), 1e-3);
}

static bool ends(const double got[2], double low, double high)
{
    return survey_near(got[0], low) && survey_near(got[1], high);
}

static hsy_survey channel(hsy_survey_design design, double a, double b)
{
    const double chance[2] = {a, b};
    hsy_survey s = {0};

    ok(hsy_survey_init(&s, design, chance, NULL) == HSY_OK,
       "design %d with %g and %g is one", (int)design, a, b);
    return s;
}

static hsy_survey_result survey(const hsy_survey *s, double yes, double n)
{
    hsy_survey_result r = {0};
    hsy_evidence point;

    ok(hsy_survey_point(s, &point, yes, n, NULL) == HSY_OK &&
           hsy_survey_estimate(&r, &point, 0.95, NULL) == HSY_OK,
       "%g of %g are estimated", yes, n);
    return r;
}

/* Theory 15.1. */
static void published_vectors(void)
{
    static const double rows[][4] = {
        {0.1, 0.524979187478939986, 20.0166638895500992, 99.9167083168047270},
        {0.5, 0.622459331201854565, 4.08298816507359657, 3.91769808903276376},
        {1, 0.731058578630004879, 2.16395341373865285, 0.920673594207792319},
        {2, 0.880797077977882444, 1.31303528549933130, 0.181015415241577617},
        {4, 0.982013790037908442, 1.03731472072754810, 0.0190054574595177748}};
    hsy_survey_result r;
    hsy_survey s;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_evidence point;

        s = channel(HSY_SURVEY_EPSILON, rows[i][0], 0);
        ok(survey_near(s.p, rows[i][1]) &&
               survey_near(1 / hsy_survey_gap(&s), rows[i][2]) &&
               survey_near(hsy_survey_epsilon(&s), rows[i][0]),
           "p, 1/(p-q) and epsilon of epsilon %g", rows[i][0]);
        ok(hsy_survey_point(&s, &point, 1, 2, NULL) == HSY_OK &&
               survey_near(point.v0, rows[i][3]) &&
               survey_near(point.v1, rows[i][3]),
           "its variance");
    }
    s = channel(HSY_SURVEY_COINS, 0.5, 0.5);
    ok(survey_near(hsy_survey_epsilon(&s), 1.09861228866810969),
       "two fair coins are ln 3");
    s = channel(HSY_SURVEY_COINS, 0.3, 0.25);
    ok(survey_near(hsy_survey_epsilon(&s), 0.998528830111127155),
       "coins 0.3, 0.25");

    s = channel(HSY_SURVEY_EPSILON, 1, 0);
    r = survey(&s, 400, 1000);
    ok(survey_near(r.value, 0.283604658626134715) && r.mle == r.value,
       "the estimate");
    ok(ends(r.wald, 0.217899174620320628, 0.349310142631948803), "Wald");
    ok(ends(r.wilson, 0.218847879271618492, 0.350017623398325012), "Wilson");
    ok(ends(r.likelihood, 0.218514597860881858, 0.349801800107339839),
       "likelihood");
    ok(ends(r.exact, 0.217536970007706490, 0.350950251740731827), "exact");
    r = survey(&s, 250, 1000);
    ok(r.value < 0 && r.mle == 0, "a moment estimate below 0, a share of 0");
    ok(r.likelihood[0] == 0 &&
           survey_near(r.likelihood[1], 0.0316856578858070782),
       "likelihood at the boundary");
    ok(r.wald[0] == 0 && r.wilson[0] == 0 && r.exact[0] == 0,
       "all intervals are cut at 0");
}

/* ---- Designs ------------------------------------------------------------- */

static void designs_are_channels(void)
{
    static const struct {
        hsy_survey_design design;
        double a, b, p, q;
    } rows[] = {{HSY_SURVEY_SPINNER, 0.75, 0, 0.75, 0.25},
                {HSY_SURVEY_SPINNER, 0.25, 0, 0.25, 0.75},
                {HSY_SURVEY_COINS, 0.5, 0.5, 0.75, 0.25},
                {HSY_SURVEY_CHANNEL, 0.9, 0.3, 0.9, 0.3},
                {HSY_SURVEY_UNRELATED, 0.7, 0.1, 0.73, 0.03},
                {HSY_SURVEY_FORCED, 1.0 / 6, 1.0 / 12, 11.0 / 12, 1.0 / 6},
                {HSY_SURVEY_CROSSWISE, 0.25, 0, 0.25, 0.75}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_survey s = channel(rows[i].design, rows[i].a, rows[i].b);

        ok(survey_near(s.p, rows[i].p) && survey_near(s.q, rows[i].q) &&
               survey_near(s.p + s.not_p, 1) && survey_near(s.q + s.not_q, 1),
           "and answers yes with %g and %g", rows[i].p, rows[i].q);
    }
}

static void epsilon_of_the_extremes(void)
{
    hsy_survey s = channel(HSY_SURVEY_FORCED, 0.25, 0);

    ok(isinf(hsy_survey_epsilon(&s)) && s.not_p == 0,
       "never made to say no: a no proves no");
    s = channel(HSY_SURVEY_UNRELATED, 0.5, 0);
    ok(isinf(hsy_survey_epsilon(&s)), "an innocuous rate of 0: a yes proves");
    s = channel(HSY_SURVEY_EPSILON, 32, 0);
    ok(survey_near(hsy_survey_epsilon(&s), 32),
       "epsilon 32 is not lost to rounding");
    s = channel(HSY_SURVEY_EPSILON, 0.001, 0);
    ok(fabs(hsy_survey_epsilon(&s) - 0.001) < 1e-12, "nor is 0.001");
}

static void wrong_designs_are_refused(void)
{
    static const struct {
        hsy_survey_design design;
        double a, b;
        const char *words;
    } rows[] = {{HSY_SURVEY_SPINNER, 0.5, 0, "no information"},
                {HSY_SURVEY_CROSSWISE, 0.5, 0, "no information"},
                {HSY_SURVEY_COINS, 0, 0.5, "no information"},
                {HSY_SURVEY_CHANNEL, 0.3, 0.3, "no information"},
                {HSY_SURVEY_CHANNEL, 0.3, 0.300000001, "no information"},
                {HSY_SURVEY_FORCED, 0.5, 0.5, "no information"},
                {HSY_SURVEY_FORCED, 0.7, 0.5, "more than 1"},
                {HSY_SURVEY_SPINNER, 1.5, 0, "from 0 to 1"},
                {HSY_SURVEY_CHANNEL, -0.1, 0.5, "from 0 to 1"},
                {HSY_SURVEY_SPINNER, NAN, 0, "from 0 to 1"},
                {HSY_SURVEY_EPSILON, 0, 0, "0.000001"},
                {HSY_SURVEY_EPSILON, 33, 0, "0.000001"},
                {(hsy_survey_design)7, 0.2, 0.3, "no such"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double chance[2] = {rows[i].a, rows[i].b};
        hsy_survey s;
        hsy_error err = {0};

        ok(hsy_survey_init(&s, rows[i].design, chance, &err) == HSY_E_RANGE &&
               strstr(err.msg, rows[i].words) != NULL,
           "design %d with %g and %g is refused: %s", (int)rows[i].design,
           rows[i].a, rows[i].b, rows[i].words);
    }
}

static void impossible_counts_are_refused(void)
{
    const hsy_survey s = channel(HSY_SURVEY_SPINNER, 0.7, 0);
    const hsy_survey odd = {0.7, 0.4, 0.3, 0.7};
    hsy_survey_result r;
    hsy_evidence point;

    ok(hsy_survey_point(&s, &point, 5, 4, NULL) == HSY_E_RANGE,
       "more yes than answers");
    ok(hsy_survey_point(&s, &point, -1, 4, NULL) == HSY_E_RANGE, "below 0");
    ok(hsy_survey_point(&s, &point, 0, 0, NULL) == HSY_E_EMPTY, "nobody");
    ok(hsy_survey_point(&s, &point, 0, INFINITY, NULL) == HSY_E_RANGE &&
           hsy_survey_point(&s, &point, NAN, 4, NULL) == HSY_E_RANGE,
       "no numbers");
    ok(hsy_survey_point(&odd, &point, 1, 4, NULL) == HSY_E_RANGE,
       "complements that are none");
    ok(hsy_survey_point(&s, &point, 1, 4, NULL) == HSY_OK &&
           hsy_survey_estimate(&r, &point, 1, NULL) == HSY_E_RANGE &&
           hsy_survey_estimate(&r, &point, 0, NULL) == HSY_E_RANGE,
       "levels 0 and 1");
}

/* The share is symmetric: saying the opposite of everything, and asking the
 * opposite question, mirror all intervals. */
static void mirrors_agree(void)
{
    const hsy_survey s = channel(HSY_SURVEY_CHANNEL, 0.8, 0.3);
    const hsy_survey opposite = channel(HSY_SURVEY_CHANNEL, 0.2, 0.7);
    const hsy_survey other = channel(HSY_SURVEY_CHANNEL, 0.3, 0.8);
    const hsy_survey_result a = survey(&s, 90, 200),
                            b = survey(&opposite, 110, 200),
                            c = survey(&other, 90, 200);

    ok(survey_near(a.value, b.value) && ends(a.exact, b.exact[0], b.exact[1]) &&
           ends(a.likelihood, b.likelihood[0], b.likelihood[1]) &&
           ends(a.wilson, b.wilson[0], b.wilson[1]),
       "no for yes changes nothing");
    ok(survey_near(a.value, 1 - c.value) &&
           ends(a.exact, 1 - c.exact[1], 1 - c.exact[0]) &&
           ends(a.likelihood, 1 - c.likelihood[1], 1 - c.likelihood[0]) &&
           ends(a.wald, 1 - c.wald[1], 1 - c.wald[0]),
       "the opposite question mirrors it");
}

static void odd_rates_are_noticed(void)
{
    const hsy_survey s = channel(HSY_SURVEY_SPINNER, 0.75, 0);

    ok(survey(&s, 250, 1000).beyond == 0, "a rate at the end is none");
    ok(survey_near(survey(&s, 100, 1000).beyond,
                   0.15 / sqrt(0.25 * 0.75 / 1000)),
       "one below it is so many standard errors off");
    ok(survey_near(survey(&s, 900, 1000).beyond,
                   0.15 / sqrt(0.25 * 0.75 / 1000)),
       "and one above");
    ok(isnan(survey(&s, 20, 49).wald[0]) && survey(&s, 20, 50).wald[0] >= 0,
       "no Wald interval below 50 answers");
}

/* ---- Weights ------------------------------------------------------------- */

static void weights(void)
{
    hsy_survey_weights w = {10, {6, 4}, {6, 4}};
    double yes, n;

    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_OK && survey_near(yes, 4) &&
           survey_near(n, 10),
       "weights of 1 change nothing");
    w = (hsy_survey_weights){10, {60, 40}, {600, 400}};
    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_OK && survey_near(yes, 4) &&
           survey_near(n, 10),
       "nor do weights of 10");
    /* no 1, 1, 2; yes 1, 3: r = 1/2; the variance (2 1/4 + 4/4 + 10/4) / 64 =
     * 1/16, that of (1/4) / (1/16) = 4 answers. */
    w = (hsy_survey_weights){5, {4, 4}, {6, 10}};
    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_OK && survey_near(n, 4) &&
           survey_near(yes, 2),
       "five unequal answers are worth four");
    w = (hsy_survey_weights){2, {4, 0}, {10, 0}}; /* 1 and 3, both no */
    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_OK && survey_near(n, 1.6) &&
           yes == 0,
       "alike answers: Kish's number");
    w = (hsy_survey_weights){2, {0, 4}, {0, 10}};
    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_OK && yes == n,
       "all yes: no rounding makes it more or less");
    w = (hsy_survey_weights){2, {0, 0}, {0, 0}};
    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_E_RANGE, "all 0: refused");
    w = (hsy_survey_weights){2, {-1, 4}, {1, 16}};
    ok(hsy_survey_weigh(&yes, &n, &w, NULL) == HSY_E_RANGE, "negative");
}

/* ---- Groups -------------------------------------------------------------- */

static hsy_survey_test compare(const hsy_survey *s, const double counts[][2],
                               size_t count)
{
    hsy_survey_test t = {0};
    hsy_evidence points[4];
    bool good = true;

    for (size_t i = 0; i < count; i++)
        good = good && hsy_survey_point(s, &points[i], counts[i][0],
                                        counts[i][1], NULL) == HSY_OK;
    ok(good && hsy_survey_compare(s, &t, points, count, NULL) == HSY_OK,
       "%zu groups are compared", count);
    return t;
}

static void groups(void)
{
    static const double two[][2] = {{400, 1000}, {320, 900}, {150, 300}};
    static const double edge[][2] = {{250, 1000}, {300, 1000}};
    static const double below[][2] = {{250, 1000}, {240, 1000}};
    const hsy_survey s = channel(HSY_SURVEY_EPSILON, 1, 0);
    const hsy_survey other = channel(HSY_SURVEY_EPSILON, 2, 0);
    hsy_survey_test t = compare(&s, two, 2);
    hsy_evidence points[2];

    ok(survey_near(t.pooled, 0.238047744652689392) &&
           survey_near(t.statistic, 3.98067850044029407) && t.freedom == 1 &&
           survey_near(t.p_value, 0.0460250202191150869) && !t.boundary,
       "two groups: statistic and p-value");
    t = compare(&s, two, 3);
    ok(survey_near(t.statistic, 19.5682174982643221) && t.freedom == 2 &&
           survey_near(t.p_value, 0.0000563398335935139153),
       "three groups");
    t = compare(&s, edge, 2);
    ok(survey_near(t.statistic, 4.42313027053033996) && t.boundary &&
           survey_near(t.p_value, 0.0354549375261093197),
       "a group at the boundary, which is said");
    t = compare(&s, below, 2);
    ok(t.statistic == 0 && t.p_value == 1 && t.pooled == 0,
       "both beyond it: equal");
    ok(hsy_survey_point(&s, &points[0], 4, 10, NULL) == HSY_OK &&
           hsy_survey_point(&other, &points[1], 4, 10, NULL) == HSY_OK &&
           hsy_survey_compare(&s, &t, points, 2, NULL) == HSY_E_MISMATCH,
       "groups of two designs are not mixed");
    ok(hsy_survey_compare(&s, &t, points, 1, NULL) == HSY_E_RANGE,
       "one group is no comparison");
}

/* ---- Two samples --------------------------------------------------------- */

static void two_samples(void)
{
    hsy_survey_pair s = {{0.7, 0.3}, {270, 330}, {600, 600}};
    hsy_survey_result r, swapped;

    ok(hsy_survey_pair_estimate(&s, &r, 0.95, NULL) == HSY_OK,
       "two samples with an unknown rate");
    ok(survey_near(r.value, 0.375) && survey_near(r.other, 0.625) &&
           survey_near(r.sd, 0.038669270745645049) && r.mle == r.value,
       "both shares and the standard error");
    ok(ends(r.wald, 0.29920962203010738, 0.45079037796989262), "Wald");
    ok(about(r.likelihood[0], 0.29963807168718218) &&
           about(r.likelihood[1], 0.45104123902607845),
       "the profile likelihood's interval");
    ok(r.exact[0] < r.wilson[0] && r.wilson[1] < r.exact[1] &&
           r.exact[0] > 0.25 && r.exact[1] < 0.5,
       "Wilson's lies within the exact one");
    s = (hsy_survey_pair){{0.3, 0.7}, {330, 270}, {600, 600}};
    ok(hsy_survey_pair_estimate(&s, &swapped, 0.95, NULL) == HSY_OK &&
           survey_near(swapped.value, r.value) &&
           about(swapped.likelihood[0], r.likelihood[0]) &&
           ends(swapped.exact, r.exact[0], r.exact[1]),
       "in either order");
    s = (hsy_survey_pair){{0.7, 0.3}, {130, 330}, {600, 600}};
    ok(hsy_survey_pair_estimate(&s, &r, 0.95, NULL) == HSY_OK &&
           survey_near(r.value, -1.0 / 30) && r.mle == 0 &&
           about(r.other_mle, 0.77276853984085964) && r.likelihood[0] == 0 &&
           about(r.likelihood[1], 0.041560989260485394),
       "at the boundary the other share gives way");
}

static void wrong_samples_are_refused(void)
{
    hsy_survey_pair s = {{0.5, 0.5}, {1, 1}, {2, 2}};
    hsy_survey_result r;
    hsy_error err = {0};

    ok(hsy_survey_pair_estimate(&s, &r, 0.95, &err) == HSY_E_RANGE &&
           strstr(err.msg, "no information") != NULL,
       "samples asked alike are refused");
    s = (hsy_survey_pair){{0.7, 0.3}, {1, 3}, {2, 2}};
    ok(hsy_survey_pair_estimate(&s, &r, 0.95, &err) == HSY_E_RANGE &&
           err.at == 2,
       "more yes than answers, with the sample");
    s = (hsy_survey_pair){{0.7, 0.3}, {1, 0}, {2, 0}};
    ok(hsy_survey_pair_estimate(&s, &r, 0.95, &err) == HSY_E_EMPTY &&
           err.at == 2,
       "an empty sample");
    s = (hsy_survey_pair){{0.7, 1.3}, {1, 1}, {2, 2}};
    ok(hsy_survey_pair_estimate(&s, &r, 0.95, &err) == HSY_E_RANGE,
       "no probability");
    s.chance[1] = 0.3;
    ok(hsy_survey_pair_estimate(&s, &r, 1, &err) == HSY_E_RANGE, "level 1");
    for (int i = 0; i < 16; i++) {
        s = (hsy_survey_pair){{i & 8 ? 1 : 0.7, i & 4 ? 0 : 0.3},
                              {i & 1 ? 2 : 0, i & 2 ? 2 : 0},
                              {2, 2}};
        ok(hsy_survey_pair_estimate(&s, &r, 0.95, NULL) == HSY_OK &&
               r.likelihood[0] <= r.mle && r.mle <= r.likelihood[1] &&
               r.exact[0] <= r.exact[1] && isnan(r.wald[0]),
           "all or none said yes, chances 0 and 1: case %d", i);
    }
}

/* ---- Matrices ------------------------------------------------------------ */

static const double three[9] = {0.7, 0.1, 0.2, 0.2, 0.8, 0.1, 0.1, 0.1, 0.7};

static void states(void)
{
    static const double inverse[9] = {
        1.5277777777777778,   -0.13888888888888889, -0.41666666666666667,
        -0.36111111111111111, 1.3055555555555556,   -0.083333333333333333,
        -0.16666666666666667, -0.16666666666666667, 1.5};
    static const double cov[9] = {
        0.00079938271604938272,  -0.00044753086419753086,
        -0.00035185185185185185, -0.00044753086419753086,
        0.00054012345679012346,  -9.2592592592592593e-5,
        -0.00035185185185185185, -9.2592592592592593e-5,
        0.00044444444444444444};
    static const double counts[3] = {500, 300, 200}, odd[3] = {650, 100, 250};
    static hsy_survey_shares r;
    double got[9], condition;
    bool same = true;

    ok(hsy_survey_invert(got, &condition, three, 3, NULL) == HSY_OK &&
           survey_near(condition, 1.5 + 5.0 / 12 + 1.0 / 12 + 1.0 / 18),
       "a matrix is inverted");
    for (int i = 0; i < 9; i++)
        same = same && survey_near(got[i], inverse[i]);
    ok(same, "to its inverse");
    ok(survey_near(hsy_survey_states_epsilon(three, 3), log(8)),
       "epsilon of a row");
    ok(hsy_survey_states(&r, three, counts, 3, NULL) == HSY_OK && r.likely &&
           survey_near(r.share[0], 23.0 / 36) &&
           survey_near(r.share[1], 7.0 / 36) &&
           survey_near(r.share[2], 6.0 / 36) && r.mle[1] == r.share[1],
       "shares, which are the most likely");
    same = true;
    for (int i = 0; i < 9; i++)
        same = same && fabs(r.covariance[i] - cov[i]) < 1e-15;
    ok(same, "and covariances");
    ok(hsy_survey_states(&r, three, odd, 3, NULL) == HSY_OK && r.likely &&
           r.share[1] < 0 && r.mle[1] < 1e-9 &&
           fabs(r.mle[0] - 0.76118610869208935) < 1e-6 &&
           fabs(r.mle[0] + r.mle[1] + r.mle[2] - 1) < 1e-12,
       "a share below 0: the most likely are found");
}

/* A matrix of two states is a channel. */
static void two_states_are_a_channel(void)
{
    static const double h[4] = {0.8, 0.3, 0.2, 0.7}, counts[2] = {90, 110};
    const hsy_survey s = channel(HSY_SURVEY_CHANNEL, 0.8, 0.3);
    const hsy_survey_result want = survey(&s, 90, 200);
    static hsy_survey_shares r;

    ok(hsy_survey_states(&r, h, counts, 2, NULL) == HSY_OK &&
           survey_near(r.share[0], want.value) &&
           survey_near(sqrt(r.covariance[0]), want.sd) &&
           survey_near(hsy_survey_states_epsilon(h, 2), hsy_survey_epsilon(&s)),
       "two states: the same share, error and epsilon");
}

static void wrong_matrices_are_refused(void)
{
    static const struct {
        double h[4];
        const char *words;
        uint64_t column;
    } rows[] = {{{0.5, 0.5, 0.5, 0.5}, "singular", 0},
                {{0.500000001, 0.5, 0.499999999, 0.5}, "as good as", 0},
                {{0.8, 0.3, 0.2, 0.6}, "add up to 1", 2},
                {{1.2, 0.3, -0.2, 0.7}, "below 0", 1},
                {{NAN, 0.3, 0.2, 0.7}, "below 0", 1}};
    static const double none[2] = {0, 0}, less[2] = {3, -1};
    static const double proof[4] = {1, 0.5, 0, 0.5};
    static hsy_survey_shares r;
    double inverse[4], condition;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_error err = {0};

        ok(hsy_survey_invert(inverse, &condition, rows[i].h, 2, &err) ==
                   HSY_E_RANGE &&
               strstr(err.msg, rows[i].words) != NULL &&
               err.at == rows[i].column,
           "matrix %zu is refused: %s", i, rows[i].words);
    }
    ok(hsy_survey_invert(inverse, &condition, three, 1, NULL) == HSY_E_RANGE &&
           hsy_survey_invert(inverse, &condition, three, 65, NULL) ==
               HSY_E_RANGE,
       "one state, and too many");
    ok(hsy_survey_states(&r, proof, none, 2, NULL) == HSY_E_EMPTY &&
           hsy_survey_states(&r, proof, less, 2, NULL) == HSY_E_RANGE,
       "nobody, and less than nobody");
    ok(isinf(hsy_survey_states_epsilon(proof, 2)), "a 0 proves");
}

/* ---- Before a survey ----------------------------------------------------- */

static void needs(void)
{
    const hsy_survey s = channel(HSY_SURVEY_EPSILON, 1, 0);
    const hsy_survey direct = channel(HSY_SURVEY_CHANNEL, 1, 0);
    const double z = 1.95996398454005424, power = 0.841621233572914205;
    const double v = 0.920673594207792319;
    double n = 0;

    ok(hsy_survey_need(&direct, &n, 0.5, 0.03, 0.95, NULL) == HSY_OK &&
           n == 1068,
       "asked directly: the 1,068 of every opinion poll");
    ok(hsy_survey_need(&s, &n, 0.5, 0.03, 0.95, NULL) == HSY_OK &&
           n == ceil(z * z * (v + 0.25) / 0.0009),
       "at epsilon 1 it takes 4.7 times as many");
    ok(hsy_survey_need_groups(&s, &n, (double[]){0.1, 0.2}, 0.95, 0.8, NULL) ==
               HSY_OK &&
           n == ceil(pow(z * sqrt(2 * (v + 0.15 * 0.85)) +
                             power * sqrt(2 * v + 0.09 + 0.16),
                         2) /
                     0.01),
       "people in each of two groups");
    ok(hsy_survey_need(&s, &n, 0.5, 0, 0.95, NULL) == HSY_E_RANGE &&
           hsy_survey_need(&s, &n, 2, 0.1, 0.95, NULL) == HSY_E_RANGE &&
           hsy_survey_need(&s, &n, 0.5, 0.1, 1, NULL) == HSY_E_RANGE &&
           hsy_survey_need(&s, &n, 0.5, 1e-12, 0.95, NULL) == HSY_E_RANGE &&
           hsy_survey_need_groups(&s, &n, (double[]){0.1, 0.1}, 0.95, 0.8,
                                  NULL) == HSY_E_RANGE &&
           hsy_survey_need_groups(&s, &n, (double[]){0.1, 0.2}, 0.95, 1,
                                  NULL) == HSY_E_RANGE,
       "no margin, share, level or power that is none");
}

/* As many as are said to be needed give that margin, and no other division of
 * as many gives a smaller one. */
static void needs_of_a_pair(void)
{
    static const double chance[2] = {0.7, 0.3};
    double n[2] = {0, 0}, least;
    hsy_survey_pair pair = {{0.7, 0.3}, {0, 0}, {0, 0}};
    hsy_survey_result r;
    bool best = true;

    ok(hsy_survey_pair_need(n, chance, (double[]){0.2, 0.4}, 0.02, 0.95,
                            NULL) == HSY_OK,
       "people in both samples");
    for (int i = -9; i <= 9; i++) {
        pair.n[0] = n[0] + 0.1 * i * fmin(n[0], n[1]);
        pair.n[1] = n[0] + n[1] - pair.n[0];
        pair.yes[0] = 0.26 * pair.n[0];
        pair.yes[1] = 0.34 * pair.n[1];
        if (hsy_survey_pair_estimate(&pair, &r, 0.95, NULL) != HSY_OK)
            best = false;
        least = (r.wald[1] - r.wald[0]) / 2;
        best = best && (i == 0 ? fabs(least / 0.02 - 1) < 1e-3 : least > 0.02);
    }
    ok(best, "give the margin, and no other division does");
    ok(hsy_survey_pair_need(n, chance, (double[]){0.2, 2}, 0.02, 0.95, NULL) ==
               HSY_E_RANGE &&
           hsy_survey_pair_need(n, chance, (double[]){0.2, 0.4}, 0, 0.95,
                                NULL) == HSY_E_RANGE,
       "no share or margin that is none");
}

int main(void)
{
    published_vectors();
    designs_are_channels();
    epsilon_of_the_extremes();
    wrong_designs_are_refused();
    impossible_counts_are_refused();
    mirrors_agree();
    odd_rates_are_noticed();
    weights();
    groups();
    two_samples();
    wrong_samples_are_refused();
    states();
    two_states_are_a_channel();
    wrong_matrices_are_refused();
    needs();
    needs_of_a_pair();
    return tap_done();
}
