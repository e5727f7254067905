/*
 * test_selected.c - intervals of what was selected: the largest shares of a
 * tally, and strings that were found. On average at most 5 % of those selected
 * have an interval that misses, and so does that of what is not shown.
 *
 * People are drawn from a law each run, so that both targets are known. A run
 * is one trial. HSY_TEST_LONG=1 has more runs and more people.
 */
#include "host/analysis/analysis.h"
#include "rig/stat.h"

#define SELECTED_DOMAIN 400u
#define SELECTED_ROOM 100000u
#define SELECTED_TESTS 1e-6

/* What runs come to. */
struct sums {
    double runs;
    double missed, naive; /* shares of those selected, and if not adjusted */
    double rest;          /* runs in which the rest's misses */
    double width, error;  /* of the rest: over 2 x 1.96 sd, and squared */
    double selected, false_ones;
};

static uint64_t truths[SELECTED_ROOM];
static double held[SELECTED_DOMAIN], law[SELECTED_DOMAIN];

/* Zipf's law over `values`, and n people of it. */
static void draw_people(uint32_t values, double power, size_t n, uint64_t lane)
{
    double all = 0, below[SELECTED_DOMAIN];
    hsy_stream stream;
    hsy_rng rng;

    hsy_stream_seed(&stream, stat_seed(), lane);
    rng = hsy_stream_rng(&stream);
    for (uint32_t v = 0; v < SELECTED_DOMAIN; v++) {
        held[v] = 0;
        law[v] = v < values ? pow(v + 1.0, -power) : 0;
        below[v] = all += law[v];
    }
    for (uint32_t v = 0; v < SELECTED_DOMAIN; v++)
        law[v] /= all;
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        uint32_t v = 0;

        rng.fill(rng.ctx, &word, sizeof word);
        while (v + 1 < values &&
               (double)(word >> 12) * 0x1p-52 * all > below[v])
            v++;
        truths[i] = v;
        held[v] += 1 / (double)n;
    }
}

static double true_share(uint32_t v, hsy_target target)
{
    return target == HSY_PEOPLE ? held[v] : law[v];
}

static void add_row(double part[2], const hsy_estimate *est,
                    const hsy_estimate *naive, double f)
{
    part[0] += f < est->low || f > est->high;
    part[1] += f < naive->low || f > naive->high;
}

static void add_run(struct sums *s, const double part[2], size_t selected,
                    const hsy_estimate *rest, double truth)
{
    const double n = selected > 0 ? (double)selected : 1;

    s->runs++;
    s->missed += part[0] / n;
    s->naive += part[1] / n;
    s->selected += (double)selected;
    s->rest += truth < rest->low || truth > rest->high;
    if (rest->sd > 0) {
        s->width += (rest->high - rest->low) / (3.92 * rest->sd);
        s->error += (rest->value - truth) * (rest->value - truth) /
                    (rest->sd * rest->sd);
    }
}

static void say(const struct sums *s, const char *what)
{
    const double n = s->runs;

    ok(stat_hoeffding(s->missed / n, 0.05, n) > SELECTED_TESTS,
       "%s: %.4f of those selected are missed (%.4f unadjusted), %.1f a run",
       what, s->missed / n, s->naive / n, s->selected / n);
    ok(stat_hoeffding(s->rest / n, 0.05, n) > SELECTED_TESTS,
       "%s: the rest is missed in %.4f of runs; error %.2f, width %.2f", what,
       s->rest / n, sqrt(s->error / n), s->width / n);
}

/* ---- estimate --top ------------------------------------------------------ */

struct top_case {
    const char *mechanism;
    uint32_t d, values, top;
    double epsilon, power;
    size_t n;
};

/* The first few always, all of them with HSY_TEST_LONG. */
static const struct top_case tops[] = {
    {"grr", 64, 64, 5, 2, 1.0, 5000},    {"oue", 64, 8, 10, 1, 1.0, 5000},
    {"pgr", 300, 300, 10, 1, 1.1, 5000}, {"hpg", 300, 20, 20, 2, 0.5, 5000},
    {"ss", 64, 64, 5, 1, 1.0, 5000},     {"olh", 200, 200, 5, 1, 1.1, 5000},
    {"hr", 200, 50, 10, 2, 1.1, 5000},   {"blh", 64, 64, 3, 1, 1.5, 5000},
    {"dbitflip", 64, 64, 5, 1, 1, 5000}, {"sue", 32, 32, 1, 1, 0.5, 5000},
};

#define TOPS_SHORT 4u
#define TOPS (sizeof tops / sizeof tops[0])

static hsy_confidence top_how(double level, hsy_target target)
{
    return (hsy_confidence){.level = level,
                            .target = target,
                            .interval = HSY_SCORE,
                            .comparisons = 1};
}

static hsy_status top_rows(hsy_analysis_row *rows, const struct stat_run *r,
                           const hsy_confidence *how)
{
    hsy_poison_bound lying = {0};
    hsy_status st = HSY_OK;

    for (uint32_t v = 0; v < r->npoints && st == HSY_OK; v++) {
        const struct analysis_known known = {.point = &r->points[v]};

        rows[v].place = v;
        st = analysis_row(&rows[v], &lying, &r->info, &known, NULL, how, NULL);
    }
    return st;
}

static bool top_run(struct sums *s, const struct stat_run *r,
                    const struct top_case *c, hsy_target target)
{
    const hsy_confidence plain = top_how(0.95, target);
    const hsy_confidence how =
        top_how(hsy_selected_level(0.95, c->top, r->npoints), target);
    hsy_analysis_row rows[SELECTED_DOMAIN];
    const hsy_analysis_tally t = {
        .scheme = r->s, .info = &r->info, .tally = &r->tally};
    struct analysis_known known[SELECTED_DOMAIN];
    uint64_t codes[SELECTED_DOMAIN];
    hsy_selection from;
    hsy_estimate rest, naive;
    size_t count = r->npoints;
    double part[2] = {0}, truth = 1;

    if (top_rows(rows, r, &how) != HSY_OK)
        return false;
    analysis_top(rows, &count, c->top, false);
    from = analysis_selection(&r->info, rows, count, r->npoints);
    for (size_t i = 0; i < count; i++) {
        const double f = true_share(rows[i].place, target);

        codes[i] = rows[i].place;
        known[i] = (struct analysis_known){.point = &r->points[rows[i].place]};
        hsy_estimate_point(&naive, known[i].point, &plain, NULL);
        add_row(part, &rows[i].est, &naive, f);
        truth -= f;
    }
    if (analysis_rest(&rest, &t, codes, known, count, &from, &plain, NULL) !=
        HSY_OK)
        return false;
    add_run(s, part, count, &rest, truth);
    return true;
}

/* The rest of values chosen beforehand: no selection, so just its error. */
static bool top_fixed(struct sums *s, const struct stat_run *r,
                      const struct top_case *c)
{
    const hsy_selection from = {.of = r->npoints, .passed = -INFINITY};
    const hsy_analysis_tally t = {
        .scheme = r->s, .info = &r->info, .tally = &r->tally};
    const hsy_confidence plain = top_how(0.95, HSY_PEOPLE);
    const double part[2] = {0};
    struct analysis_known known[SELECTED_DOMAIN];
    uint64_t codes[SELECTED_DOMAIN];
    double truth = 1;
    hsy_estimate rest;

    for (uint32_t v = 0; v < c->top; v++) {
        codes[v] = v;
        known[v] = (struct analysis_known){.point = &r->points[v]};
        truth -= held[v];
    }
    if (analysis_rest(&rest, &t, codes, known, c->top, &from, &plain, NULL) !=
        HSY_OK)
        return false;
    add_run(s, part, c->top, &rest, truth);
    return true;
}

static void top_largest(const struct top_case *c, uint64_t lane)
{
    const unsigned runs = stat_long() ? 400 : 60;
    struct sums people = {0}, population = {0}, fixed = {0};
    char what[96];
    bool good = true;

    for (unsigned i = 0; i < runs && good; i++) {
        const struct stat_ask ask = {c->mechanism, c->d, c->epsilon, 10, i};
        struct stat_run r = {.s = stat_scheme(&ask)};
        struct stat_coins coins;

        stat_run_room(&r);
        draw_people(c->values, c->power, c->n, lane + 3 * i);
        stat_coins_open(&coins, lane + 3 * i + 1);
        good = stat_collect(&r, STAT_SIMULATE, truths, c->n, &coins) &&
               top_run(&people, &r, c, HSY_PEOPLE) &&
               top_run(&population, &r, c, HSY_POPULATION) &&
               top_fixed(&fixed, &r, c);
        stat_run_close(&r);
    }
    ok(good, "%s: %u runs", c->mechanism, runs);
    snprintf(what, sizeof what, "%s, the %u largest of %u", c->mechanism,
             c->top, c->d);
    say(&people, what);
    say(&population, "... of a population");
    ok(stat_hoeffding(fixed.rest / fixed.runs, 0.05, fixed.runs) >
               SELECTED_TESTS &&
           fixed.width / fixed.runs < 1.05,
       "... the rest of fixed ones: missed %.4f, error %.2f",
       fixed.rest / fixed.runs, sqrt(fixed.error / fixed.runs));
}

/* ---- discover ------------------------------------------------------------ */

struct search_case {
    const char *mechanism;
    double epsilon, power;
    uint64_t top; /* 0: what is significant */
    size_t n;
    bool longer; /* only with HSY_TEST_LONG */
};

static const struct search_case searches[] = {
    {"pem", 1, 1.1, 0, 20000, false}, {"pem", 1, 1.1, 16, 20000, false},
    {"pem", 2, 1.1, 0, 20000, true},  {"pem", 2, 1.1, 16, 20000, true},
    {"pem", 4, 1.5, 0, 20000, true},  {"pem", 4, 1.5, 16, 20000, false},
    {"pem", 4, 1.1, 0, 100000, true}, {"pem", 1, 1.1, 16, 100000, true},
    {"sfp", 6, 1.5, 0, 20000, true},
};

#define SEARCHES (sizeof searches / sizeof searches[0])
#define SEARCH_BITS 16u

static hsy_spec search_spec(const struct search_case *c, unsigned run)
{
    hsy_spec spec = trial_values(c->mechanism, 0, c->epsilon);
    const bool puzzle = strcmp(c->mechanism, "sfp") == 0;

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = SEARCH_BITS;
    spec.param[puzzle ? HSY_PARAM_FRAGMENT_BITS : HSY_PARAM_STEP] =
        puzzle ? 8 : 4;
    spec.param[HSY_PARAM_POOL_BITS] = puzzle ? 0 : 10;
    spec.param[HSY_PARAM_HASHES] = puzzle ? 16 : 0;
    spec.param[HSY_PARAM_WIDTH] = puzzle ? 256 : 0;
    spec.param[HSY_PARAM_POOL_SEED] = run + 1;
    return spec;
}

/* The string of a value, and back; SELECTED_DOMAIN: nobody holds it. */
static uint64_t search_code(uint64_t v)
{
    return (v * 40503 + 12345) % (1u << SEARCH_BITS); /* an odd factor */
}

static uint32_t search_value(uint64_t code)
{
    for (uint32_t v = 0; v < SELECTED_DOMAIN; v++) {
        if (search_code(v) == code)
            return v;
    }
    return SELECTED_DOMAIN;
}

static void search_add(struct sums *s, const struct analysis_search *got,
                       hsy_target target)
{
    const hsy_confidence plain = top_how(0.95, target);
    double part[2] = {0}, truth = 1;

    for (size_t i = 0; i < got->count; i++) {
        const hsy_candidate *found = &got->rows[i].found;
        const uint32_t v = search_value(found->code[0]);
        const double f = v < SELECTED_DOMAIN ? true_share(v, target) : 0;
        hsy_estimate naive;

        hsy_estimate_point(&naive, &found->point, &plain, NULL);
        add_row(part, &got->rows[i].est, &naive, f);
        truth -= f;
        s->false_ones += f == 0;
    }
    add_run(s, part, got->count, &got->rest, truth);
}

static bool search_run(struct sums sums[2], const struct search_case *c,
                       unsigned run, uint64_t lane)
{
    const hsy_spec spec = search_spec(c, run);
    struct stat_run r = {.s = trial_scheme(&spec)};
    struct analysis_wanted wanted = {
        .search = {.size = sizeof wanted.search, .top = c->top},
        .significant = c->top == 0};
    struct stat_coins coins;
    bool good = true;

    hsy_scheme_describe(r.s, &r.info);
    r.reports = stat_alloc(c->n * r.info.report_bytes);
    r.memory = stat_alloc(hsy_tally_words(r.s) * sizeof *r.memory);
    hsy_tally_init(&r.tally, r.s, r.memory);
    draw_people(SELECTED_DOMAIN, c->power, c->n, lane);
    for (size_t i = 0; i < c->n; i++)
        truths[i] = search_code(truths[i]);
    stat_coins_open(&coins, lane + 1);
    good = hsy_simulate_batch(r.s, r.reports, truths, c->n, &coins.secret,
                              &coins.published, NULL) == HSY_OK &&
           hsy_tally_batch(&r.tally, r.s, r.reports, c->n, NULL) == HSY_OK;
    for (int target = 0; target < 2 && good; target++) {
        const hsy_analysis_tally t = {
            .scheme = r.s, .info = &r.info, .tally = &r.tally};
        struct analysis_search got;

        wanted.how = top_how(0.95, (hsy_target)target);
        good = analysis_search(&got, &t, &wanted, NULL) == HSY_OK;
        if (good)
            search_add(&sums[target], &got, (hsy_target)target);
        analysis_search_clear(&got);
    }
    stat_run_close(&r);
    return good;
}

static void search_strings(const struct search_case *c, uint64_t lane)
{
    const unsigned runs = c->n > 50000 ? 40 : stat_long() ? 400 : 60;
    struct sums sums[2] = {{0}};
    char what[96];
    bool good = true;

    if (c->longer && !stat_long())
        return;
    for (unsigned i = 0; i < runs && good; i++)
        good = search_run(sums, c, i, lane + 3 * i);
    ok(good, "%s at epsilon %g: %u runs", c->mechanism, c->epsilon, runs);
    snprintf(what, sizeof what, "%s, %s%.0d, epsilon %g, %zu people",
             c->mechanism, c->top == 0 ? "significant" : "top ", (int)c->top,
             c->epsilon, c->n);
    say(&sums[0], what);
    say(&sums[1], "... of a population");
    printf("# %.2f held by nobody\n", sums[0].false_ones / sums[0].runs);
    if (c->top != 0)
        ok(stat_hoeffding(sums[0].naive / sums[0].runs, 0.05, runs) <
               SELECTED_TESTS,
           "control: unadjusted intervals are found out");
    else
        ok(sums[0].false_ones / sums[0].runs <= 0.2,
           "strings that nobody holds are hardly ever shown");
}

int main(void)
{
    ok(stat_hoeffding(0.3, 0.05, 60) < SELECTED_TESTS,
       "control: 30 %% of misses would be noticed");
    for (size_t i = 0; i < (stat_long() ? TOPS : TOPS_SHORT); i++)
        top_largest(&tops[i], (i + 1) << 20);
    for (size_t i = 0; i < SEARCHES; i++)
        search_strings(&searches[i], (i + 100) << 20);
    return tap_done();
}
