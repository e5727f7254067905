/* test_analysis.c - results of a tally: what is asked, what is refused, and how
 * it is written. */
#define _POSIX_C_SOURCE 200809L
#include "host/analysis/analysis.h"
#include "rig/examples.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS 400u

struct sample {
    hsy_scheme *s;
    int64_t *words;
    hsy_tally tally;
    hsy_analysis_tally of;
};

static struct sample sample(const hsy_spec *spec)
{
    struct sample x = {.s = malloc(hsy_scheme_size(spec))};
    uint8_t *reports;

    if (x.s == NULL || hsy_scheme_init(x.s, spec, NULL) != HSY_OK)
        exit(1);
    x.words = calloc(hsy_tally_words(x.s), sizeof *x.words);
    reports = example_reports(x.s, REPORTS);
    if (x.words == NULL || reports == NULL)
        exit(1);
    hsy_tally_init(&x.tally, x.s, x.words);
    if (hsy_tally_batch(&x.tally, x.s, reports, REPORTS, NULL) != HSY_OK)
        exit(1);
    free(reports);
    return x;
}

static hsy_analysis_tally viewed(const struct sample *x)
{
    return (hsy_analysis_tally){.scheme = x->s, .tally = &x->tally};
}

static void dropped(struct sample *x)
{
    free(x->s);
    free(x->words);
}

static hsy_spec values(void)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = "grr",
                      .kind = HSY_KIND_VALUES,
                      .d = 6,
                      .nano_epsilon = HSY_NANO};
}

static hsy_analysis_request plain(void)
{
    return (hsy_analysis_request){.size = sizeof(hsy_analysis_request)};
}

static bool has(const hsy_analysis_result *r, hsy_analysis_code code)
{
    for (size_t i = 0; i < r->nnotes; i++)
        if (r->notes[i].code == code)
            return true;
    return false;
}

/* ---- Batches ------------------------------------------------------------- */

/* What shuffling is worth stands beside the estimates and changes none. */
static void shuffled(const hsy_analysis_tally *t)
{
    const hsy_batch batch = {REPORTS, {9, 10}, 1e-8};
    const hsy_batch wrong = {REPORTS, {9, 10}, 2};
    const hsy_batch more = {REPORTS + 1, {9, 10}, 1e-8};
    hsy_analysis_tally in = *t;
    const hsy_analysis_request q = plain();
    hsy_analysis_result r, same;
    hsy_worth want = {0};
    hsy_error err = {0};
    char *json = NULL, *csv = NULL;
    size_t len = 0;
    bool good;

    in.batch = &batch;
    good = hsy_worth_of(&want, t->scheme, NULL, &batch, NULL) == HSY_OK &&
           hsy_analysis_run(&same, t, NULL, &q, NULL) == HSY_OK &&
           hsy_analysis_run(&r, &in, NULL, &q, NULL) == HSY_OK;
    ok(good && r.shuffled && !same.shuffled && r.worth.n == 360 &&
           r.worth.epsilon == want.epsilon && r.worth.epsilon < 0.5,
       "a batch of 400 is worth %.4f", r.worth.epsilon);
    for (size_t i = 0; good && i < r.count; i++)
        good = memcmp(&r.rows[i].est, &same.rows[i].est,
                      sizeof r.rows[i].est) == 0;
    ok(good, "... and the estimates are the same");
    ok(hsy_analysis_json(&r, &json, &len, NULL) == HSY_OK &&
           strstr(json, "\"epsilon_central\":") != NULL &&
           strstr(json, "\"bound\": \"blanket\"") != NULL &&
           hsy_analysis_csv(&r, &csv, &len, NULL) == HSY_OK &&
           strstr(csv, ",epsilon_report,epsilon_central,delta,bound,n") !=
               NULL &&
           strstr(csv, ",blanket,360") != NULL,
       "JSON and CSV say both epsilons");
    free(json);
    free(csv);
    json = NULL;
    ok(hsy_analysis_json(&same, &json, &len, NULL) == HSY_OK &&
           strstr(json, "epsilon_central") == NULL,
       "but not of reports that were not shuffled");
    free(json);
    hsy_analysis_clear(&r);
    hsy_analysis_clear(&same);
    in.batch = &wrong;
    ok(hsy_analysis_run(&r, &in, NULL, &q, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_DELTA,
       "a batch with a delta above 1 is refused");
    in.batch = &more;
    ok(hsy_analysis_run(&r, &in, NULL, &q, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_N,
       "and so is one of more reports than there are");
}

/* A tally that says its batches: the smallest counts, on the terms that are
 * worth least. */
static void shuffled_as_the_tally_says(const hsy_analysis_tally *t)
{
    const hsy_batches rows[] = {
        {2, 150, 350, {9, 10}, {1, 100000000}, HSY_NANO},
        {1, 40, 40, {1, 2}, {1, 1000000}, HSY_NANO / 4}};
    const hsy_batch first = {150, {9, 10}, 1e-8}, second = {40, {1, 2}, 1e-8};
    const hsy_batch assume = {0, {0, 0}, 1e-4};
    const hsy_batch assumed = {40, {1, 2}, 1e-4};
    const hsy_analysis_request q = plain();
    hsy_analysis_tally in = *t;
    hsy_analysis_result r;
    hsy_worth want[3];
    char *json = NULL;
    size_t len = 0;

    in.batches = rows;
    in.nbatches = 1;
    ok(hsy_worth_of(&want[0], t->scheme, NULL, &first, NULL) == HSY_OK &&
           hsy_worth_of(&want[1], t->scheme, NULL, &second, NULL) == HSY_OK &&
           hsy_worth_of(&want[2], t->scheme, NULL, &assumed, NULL) == HSY_OK &&
           hsy_analysis_run(&r, &in, NULL, &q, NULL) == HSY_OK && r.shuffled &&
           eq_u64(r.worth.n, 135) && r.worth.epsilon == want[0].epsilon &&
           eq_u64(r.batches.batches, 2) && eq_u64(r.batches.reports, 350) &&
           eq_u64(r.each, 1) && r.epsilon_each == r.worth.epsilon,
       "two batches are worth what the smaller is: %.4f", want[0].epsilon);
    ok(hsy_analysis_json(&r, &json, &len, NULL) == HSY_OK &&
           strstr(json, "\"promised\": 1, \"kept\": true") != NULL &&
           strstr(json, "\"min_batch\": 150, \"n\": 135, \"assume_honest\": "
                        "0.9, \"unless\": \"the collector and all shufflers "
                        "work together\", \"batches\": 2") != NULL,
       "JSON says them, the promise, and unless who colludes");
    free(json);
    hsy_analysis_clear(&r);
    in.nbatches = 2;
    ok(hsy_analysis_run(&r, &in, NULL, &q, NULL) == HSY_OK &&
           want[1].epsilon > want[0].epsilon &&
           r.worth.epsilon == want[1].epsilon && eq_u64(r.worth.n, 20) &&
           eq_u64(r.batches.batches, 3) && eq_u64(r.batches.reports, 390) &&
           r.delta_each == 1e-8 && eq_u64(r.batches.nano_central, 0),
       "of two tasks, at the less of their deltas, that one counts which is "
       "worth less");
    hsy_analysis_clear(&r);
    in.batch = &assume;
    ok(hsy_analysis_run(&r, &in, NULL, &q, NULL) == HSY_OK &&
           r.worth.epsilon == want[2].epsilon && r.batch.delta == 1e-4 &&
           eq_u64(r.batches.nano_central, 0),
       "with another delta there is no promise to compare with");
    hsy_analysis_clear(&r);
    in.batch = NULL;
    ok(hsy_analysis_run(&r, &in, t, &q, NULL) == HSY_OK && !r.shuffled,
       "of a difference nothing is said");
    hsy_analysis_clear(&r);
}

/* Who is in several batches: they compose. */
static void shuffled_again(const hsy_analysis_tally *t)
{
    const hsy_batches row = {3,       100, REPORTS, {9, 10}, {1, 100000000},
                             HSY_NANO};
    const hsy_round rounds[] = {{0, 0, 1, 100}, {0, 1, 2, 200}, {1, 0, 1, 100}};
    const hsy_attendance often = {
        .reports = REPORTS, .rounds = 5, .devices = 80};
    const hsy_analysis_request q = plain();
    hsy_analysis_tally in = *t;
    hsy_analysis_result r;
    double epsilon = 0, delta = 0;

    in.batches = &row;
    in.nbatches = 1;
    in.rounds = rounds;
    in.nrounds = 3;
    ok(hsy_analysis_run(&r, &in, NULL, &q, NULL) == HSY_OK &&
           eq_u64(r.each, 4) &&
           hsy_worth_batches(&r.worth, &epsilon, &delta, 4, NULL) == HSY_OK &&
           r.epsilon_each == epsilon && r.delta_each == delta &&
           epsilon > r.worth.epsilon && delta > r.worth.delta,
       "four reports of a device in as many batches tell more than one");
    hsy_analysis_clear(&r);
    in.rounds = NULL;
    in.nrounds = 0;
    in.attended = &often;
    ok(hsy_analysis_run(&r, &in, NULL, &q, NULL) == HSY_OK && eq_u64(r.each, 5),
       "where rounds are not known, as many as there can be");
    hsy_analysis_clear(&r);
}

/* ---- Rows ---------------------------------------------------------------- */

static void all_and_the_largest(const hsy_analysis_tally *t)
{
    hsy_analysis_request q = plain();
    hsy_analysis_result r;
    double sum = 0;

    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_OK && r.count == 6 &&
           r.of == 6 && !r.has_rest && r.points != NULL && r.lying == 0,
       "all values in their order");
    for (size_t i = 0; i < r.count; i++)
        sum += r.rows[i].est.value;
    ok(fabs(sum - 1) < 1e-9 && r.rows[3].value.len == 1 &&
           r.rows[3].value.text[0] == '3',
       "they make 1, and are called by their numbers");
    hsy_analysis_clear(&r);
    q.top = 2;
    q.lying = 0.05;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_OK && r.count == 2 &&
           r.of == 6 && r.has_rest && r.level_selected > 0.95 &&
           r.rows[0].est.value >= r.rows[1].est.value &&
           r.rows[0].low_lying < r.rows[0].est.low && r.lies.up > 0 &&
           fabs(r.rest.value + r.rows[0].est.value + r.rows[1].est.value - 1) <
               1e-9,
       "the largest, what is not among them, and what liars can do");
    hsy_analysis_clear(&r);
}

static void named(const hsy_analysis_tally *t)
{
    static const hsy_analysis_text good[] = {{"4", 1}, {"0", 1}};
    static const hsy_analysis_text twice[] = {{"4", 1}, {"0", 1}, {"4", 1}};
    static const hsy_analysis_text none[] = {{"0", 1}, {"6", 1}};
    hsy_analysis_request q = plain();
    hsy_analysis_result r;
    hsy_error err = {0};

    q.candidates = good;
    q.ncandidates = 2;
    q.post = HSY_POST_NORM_SUB;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_OK && r.count == 2 &&
           r.rows[0].value.text[0] == '4' && r.rows[0].post >= 0 &&
           !has(&r, HSY_DOUBT_CANDIDATES),
       "candidates, picked from the whole domain");
    hsy_analysis_clear(&r);
    q.candidates = twice;
    q.ncandidates = 3;
    ok(hsy_analysis_run(&r, t, NULL, &q, &err) == HSY_E_RANGE && err.at == 3 &&
           r.rows == NULL,
       "one that stands there twice is named");
    q.candidates = none;
    q.ncandidates = 2;
    ok(hsy_analysis_run(&r, t, NULL, &q, &err) == HSY_E_RANGE && err.at == 2,
       "and one that nobody was asked for");
}

static void refused(const hsy_analysis_tally *t)
{
    hsy_analysis_request q = plain();
    hsy_analysis_result r;

    q.size--;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_E_RANGE,
       "a request of another version");
    q = plain();
    q.level = 1;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_E_RANGE, "a level of 1");
    q = plain();
    q.lying = -1;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_E_RANGE,
       "less than no liars");
    q = plain();
    q.question = HSY_ASK_RANGES;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_E_RANGE,
       "ranges of what has no bins");
}

/* ---- Writing ------------------------------------------------------------- */

static void written(const hsy_analysis_tally *t)
{
    hsy_analysis_request q = plain();
    hsy_analysis_result r;
    char *csv = NULL, *json = NULL;
    size_t csv_len = 0, json_len = 0;

    q.top = 1;
    if (hsy_analysis_run(&r, t, NULL, &q, NULL) != HSY_OK)
        exit(1);
    ok(hsy_analysis_csv(&r, &csv, &csv_len, NULL) == HSY_OK &&
           strncmp(csv,
                   "value,estimate,stderr,low,high,level_selected,level,"
                   "target,rounds,devices,reports\n",
                   82) == 0 &&
           strstr(csv, "\n(not shown),") != NULL && strlen(csv) == csv_len,
       "CSV has a last row for what is not shown");
    ok(hsy_analysis_json(&r, &json, &json_len, NULL) == HSY_OK &&
           strncmp(json, "{\n  \"mechanism\": \"grr\",", 23) == 0 &&
           strstr(json, "\"reports\": 400,") != NULL &&
           strlen(json) == json_len,
       "JSON has a line for each member");
    free(csv);
    free(json);
    hsy_analysis_clear(&r);
}

static void spoken(void)
{
    bool good = true;

    for (int c = HSY_NOTE_PERSON_ROUNDS; c <= HSY_NOTE_WIDE; c++)
        good &= strlen(hsy_analysis_code_name((hsy_analysis_code)c)) > 2 &&
                strlen(hsy_analysis_code_text((hsy_analysis_code)c)) > 20;
    ok(good, "every code has a name and a sentence");
    good = true;
    for (unsigned c = 0; c < HSY_COLUMNS; c++)
        good &= hsy_analysis_column_name((hsy_analysis_column)c) != NULL;
    ok(good, "and every column a name");
}

/* ---- Two tallies, bins, covariances -------------------------------------- */

static void others(const hsy_analysis_tally *t)
{
    static const hsy_analysis_range ranges[] = {
        {.quantile = 0.5, .name = "median"},
        {.from = 0, .to = 4, .name = "half"}};
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "hh",
                           .kind = HSY_KIND_BINS,
                           .d = 8,
                           .lo = 0,
                           .hi = 80,
                           .nano_epsilon = HSY_NANO};
    struct sample x = sample(&spec);
    const hsy_analysis_tally bins = viewed(&x);
    hsy_analysis_request q = plain();
    hsy_analysis_result r;
    hsy_error err = {0};

    ok(hsy_analysis_run(&r, t, t, &q, NULL) == HSY_OK && r.compared &&
           r.rows[0].est.value == 0 && r.rows[0].p_value == 1,
       "a tally differs from itself in nothing");
    hsy_analysis_clear(&r);
    ok(hsy_analysis_run(&r, t, &bins, &q, &err) == HSY_E_MISMATCH &&
           strcmp(err.msg, "the kind of question") == 0,
       "two questions have no difference");
    q.question = HSY_ASK_COVARIANCE;
    ok(hsy_analysis_run(&r, t, NULL, &q, NULL) == HSY_OK && r.count == 36 &&
           r.rows[7].value.text[0] == '1' && r.rows[7].other.text[0] == '1' &&
           r.rows[7].covariance > 0,
       "covariances of each two");
    hsy_analysis_clear(&r);
    q.question = HSY_ASK_RANGES;
    q.ranges = ranges;
    q.nranges = 2;
    ok(hsy_analysis_run(&r, &bins, NULL, &q, NULL) == HSY_OK && r.count == 2 &&
           strncmp(r.rows[0].value.text, "median", 6) == 0 && r.rows[0].mean &&
           !r.rows[1].mean && r.rows[1].est.low < r.rows[1].est.high,
       "a median, and the share of a run of bins");
    hsy_analysis_clear(&r);
    dropped(&x);
}

/* ---- For people ---------------------------------------------------------- */

static void shown(const hsy_analysis_tally *t)
{
    hsy_analysis_request q = plain();
    hsy_analysis_result r;
    char *text = NULL, *svg = NULL;
    size_t len = 0, drawn = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL || hsy_analysis_run(&r, t, NULL, &q, NULL) != HSY_OK)
        exit(1);
    analysis_print(to, &r);
    fclose(to);
    ok(strncmp(text, "grr, epsilon 1 (exactly ", 24) == 0 &&
           strstr(text, "400 reports\nshares ") != NULL &&
           strstr(text, "std. error") != NULL &&
           strstr(text, "(of the largest)") != NULL,
       "a table has its head, and bars");
    ok(analysis_svg(&svg, &drawn, &r, t, &(struct analysis_more){0}, NULL) ==
               HSY_OK &&
           strncmp(svg, "<svg", 4) == 0 && strstr(svg, "400 reports") != NULL,
       "and the same is drawn");
    free(svg);
    free(text);
    hsy_analysis_clear(&r);
}

static void edges(void)
{
    const hsy_scheme_info info = {.d = 4, .lo = -10, .hi = 30, .scale = 1};
    uint32_t low = 9;

    ok(analysis_edge_find(&low, &info, "-1") == HSY_OK && eq_u64(low, 0),
       "the first edge");
    ok(analysis_edge_find(&low, &info, "1.0") == HSY_OK && eq_u64(low, 2),
       "one between bins");
    ok(analysis_edge_find(&low, &info, "3") == HSY_OK && eq_u64(low, 4),
       "and the last");
    ok(eq_status(analysis_edge_find(&low, &info, "1.5"), HSY_E_MISMATCH) &&
           eq_u64(low, 2),
       "a number inside a bin is none, and the bin is told");
    ok(eq_status(analysis_edge_find(&low, &info, "3.1"), HSY_E_RANGE) &&
           eq_status(analysis_edge_find(&low, &info, "-1.1"), HSY_E_RANGE),
       "nor is one outside");
    ok(eq_status(analysis_edge_find(&low, &info, "one"), HSY_E_FORMAT) &&
           eq_status(analysis_edge_find(&low, &info, "1.0.5"), HSY_E_FORMAT),
       "nor what is no number of the range");
}

int main(void)
{
    const hsy_spec spec = values();
    struct sample x = sample(&spec);
    const hsy_analysis_tally t = viewed(&x);

    all_and_the_largest(&t);
    shuffled(&t);
    shuffled_as_the_tally_says(&t);
    shuffled_again(&t);
    named(&t);
    refused(&t);
    written(&t);
    spoken();
    others(&t);
    shown(&t);
    edges();
    dropped(&x);
    return tap_done();
}
