/*
 * test_same.c - the command, the collector and simulations have the same digits
 * of the same tally, because they run the same code: of every mechanism that a
 * task can ask by, with few reports and with many, and of two tallies. Several
 * attributes have the same digits however they are asked for.
 */
#include "host/analysis/analysis.h"
#include "rig/example_roster.h"
#include "server/collector/figures/figures.h"
#include "sim/study/internal.h"
#include "tap.h"

#include <jansson.h>
#include <math.h>

#define FEW 1000u /* the examples' min_reports */
#define MANY 5000u

static const hsy_analysis_text named[] = {{"ab", 2}, {"cd", 2}, {"ef", 2}};

static const struct figure_how asked = {.level = 0.9,
                                        .lying = 0.01,
                                        .candidates = "ab\ncd\nef",
                                        .candidates_len = 8};

/* Words of a tally of n reports; the caller frees them. */
static int64_t *tallied(const struct roster_entry *e, size_t n)
{
    int64_t *words = calloc(e->words + 1, sizeof *words);
    uint8_t *reports = example_reports(e->scheme, n);
    hsy_tally t;

    if (words != NULL && reports != NULL) {
        hsy_tally_init(&t, e->scheme, words);
        if (hsy_tally_batch(&t, e->scheme, reports, n, NULL) != HSY_OK)
            exit(1);
    }
    free(reports);
    return words;
}

static hsy_analysis_tally viewed(const struct roster_entry *e,
                                 const hsy_scheme_info *info,
                                 const hsy_tally *t)
{
    return (hsy_analysis_tally){.scheme = e->scheme,
                                .info = info,
                                .tally = t,
                                .labels = e->task.labels};
}

/* What `hearsay estimate` or `hearsay discover` asks, as a collector does. */
static hsy_analysis_request request_of(const hsy_scheme_info *info)
{
    const bool strings =
        info->kind == HSY_KIND_STRINGS && !analysis_searches(info);

    return (hsy_analysis_request){.size = sizeof(hsy_analysis_request),
                                  .level = 0.9,
                                  .lying = 0.01,
                                  .top = strings ? 50 : 0,
                                  .candidates = strings ? named : NULL,
                                  .ncandidates = strings ? 3 : 0,
                                  .quantiles = true,
                                  .significant = true};
}

static json_t *printed(const hsy_analysis_result *r)
{
    char *text = NULL;
    size_t len = 0;
    json_t *json = NULL;

    if (hsy_analysis_json(r, &text, &len, NULL) == HSY_OK)
        json = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    free(text);
    return json;
}

/* Every member of the command's is the collector's. */
static bool inside(json_t *figure, json_t *command)
{
    const char *name;
    json_t *value;

    json_object_foreach(command, name, value)
    {
        if (!json_equal(value, json_object_get(figure, name))) {
            fprintf(stderr, "# %s differs\n", name);
            return false;
        }
    }
    return json_object_size(command) > 20;
}

/* ---- The collector ------------------------------------------------------- */

static void served(const struct roster_entry *e, int64_t *words,
                   const hsy_analysis_result *r, size_t n)
{
    json_t *command = printed(r), *figure = NULL;
    struct figure *f = NULL;
    char *json = NULL;
    size_t len = 0;

    if (figure_make(&f, &(struct figure_of){.entry = e, .words = words}, &asked,
                    NULL) == HSY_OK &&
        figure_json(&json, &len, f, NULL) == HSY_OK)
        figure = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    figure_drop(f);
    ok(figure != NULL && command != NULL && inside(figure, command),
       "%s (%s), %zu reports: the collector serves what the command prints",
       r->info.mechanism, hsy_kind_name(r->info.kind), n);
    json_decref(command);
    json_decref(figure);
    free(json);
}

/* ---- Simulations --------------------------------------------------------- */

/* The largest error of a run in which everybody holds the first value. */
static double simulated(const struct roster_entry *e,
                        const hsy_scheme_info *info, const hsy_tally *t,
                        uint64_t n)
{
    static const uint64_t code = 0;
    static const double law = 0;
    const struct study_truths truths = {
        .codes = &code, .counts = &n, .ends = &n, .n = 1, .users = n};
    const struct study_aim aim = {.top = 1, .laws = {&law}};
    double metrics[STUDY_METRICS];
    struct owned owned = {0};
    struct study_bench bench;

    study_bench_open(&bench, &owned, info, 1);
    if (owned.failed || study_measure(metrics, &bench, e->scheme, info, t,
                                      &truths, &aim, NULL) != HSY_OK)
        exit(1);
    owned_free(&owned);
    return metrics[STUDY_MAX];
}

static void measured(const struct roster_entry *e, const hsy_scheme_info *info,
                     const hsy_tally *t, size_t n)
{
    const hsy_analysis_tally of = viewed(e, info, t);
    hsy_analysis_request q = {.size = sizeof q,
                              .rappor.method = HSY_RAPPOR_NNLS};
    hsy_analysis_result r;
    double most = 0;

    if (info->kind == HSY_KIND_STRINGS ||
        hsy_analysis_run(&r, &of, NULL, &q, NULL) != HSY_OK)
        return;
    for (size_t i = 0; i < r.count; i++) {
        const bool first = r.info.kind == HSY_KIND_YES_NO ? i == 1 : i == 0;
        const double truth =
            r.rows[i].mean ? (double)info->lo * pow(10, -(double)info->scale)
                           : first;

        most = fmax(most, fabs(r.rows[i].est.value - truth));
    }
    ok(fabs(simulated(e, info, t, n) - most) <=
           (info->kind == HSY_KIND_NUMBER ? 1e-12 * most : 0),
       "%s (%s), %zu reports: a simulation measures that", info->mechanism,
       hsy_kind_name(info->kind), n);
    hsy_analysis_clear(&r);
}

/* ---- Two tallies --------------------------------------------------------- */

static void compared(const struct roster_entry *e, int64_t *x, int64_t *y,
                     const hsy_analysis_tally *a, const hsy_analysis_tally *b,
                     const hsy_analysis_request *asks)
{
    const struct figure_of left = {.entry = e, .words = x};
    const struct figure_of right = {.entry = e, .words = y};
    hsy_analysis_request q = *asks;
    hsy_analysis_result r;
    json_t *command, *both = NULL;
    char *json = NULL;
    size_t len = 0;
    hsy_status st;

    q.overlap = true; /* two tallies of the same days */
    st = hsy_analysis_run(&r, a, b, &q, NULL);
    if (figure_difference(&json, &len, &left, &right, &asked, NULL) == HSY_OK)
        both = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    if (st == HSY_E_REFUSED) {
        ok(json_is_null(json_object_get(both, "difference")),
           "%s: neither has a difference", a->info->mechanism);
    } else {
        command = printed(&r);
        ok(st == HSY_OK &&
               json_equal(json_object_get(both, "difference"),
                          json_object_get(command, "estimates")) &&
               json_equal(json_object_get(both, "lying_up"),
                          json_object_get(command, "lying_up")),
           "%s: both have the same difference", a->info->mechanism);
        json_decref(command);
    }
    hsy_analysis_clear(&r);
    json_decref(both);
    free(json);
}

static void every_entry(const struct roster_entry *e)
{
    static const size_t sizes[] = {FEW, MANY};
    int64_t *words[2] = {NULL, NULL};
    size_t done = 0;
    hsy_tally tally[2];
    hsy_analysis_tally of[2];
    hsy_analysis_request q;
    hsy_scheme_info info;

    hsy_scheme_describe(e->scheme, &info);
    q = request_of(&info);
    for (size_t i = 0; i < 2; i++) {
        hsy_analysis_result r;

        words[i] = tallied(e, sizes[i]);
        hsy_tally_view(&tally[i], e->scheme, words[i]);
        of[i] = viewed(e, &info, &tally[i]);
        if (hsy_analysis_run(&r, &of[i], NULL, &q, NULL) != HSY_OK)
            break; /* a search with steps too long */
        served(e, words[i], &r, sizes[i]);
        measured(e, &info, &tally[i], sizes[i]);
        hsy_analysis_clear(&r);
        done++;
    }
    if (done == 2)
        compared(e, words[0], words[1], &of[0], &of[1], &q);
    free(words[0]);
    free(words[1]);
}

/* ---- Several attributes -------------------------------------------------- */

/* The rows of one attribute, asked for alone, against those among all. */
static bool alone(const hsy_analysis_tally *t, const hsy_analysis_result *all,
                  size_t *at)
{
    const hsy_analysis_request q = {.size = sizeof q,
                                    .attribute = all->rows[*at].attribute};
    hsy_analysis_result one;
    bool same = hsy_analysis_run(&one, t, NULL, &q, NULL) == HSY_OK;

    for (size_t i = 0; same && i < one.count; i++, ++*at)
        same = *at < all->count && memcmp(&one.rows[i].est, &all->rows[*at].est,
                                          sizeof one.rows[i].est) == 0;
    hsy_analysis_clear(&one);
    return same;
}

/* No task asks several and no simulation does: the command alone, all at once
 * and one by one. */
static void several(const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    struct roster_entry e = {.scheme = s};
    const hsy_analysis_request q = {.size = sizeof q};
    hsy_analysis_result all;
    hsy_analysis_tally of;
    hsy_tally tally;
    int64_t *words;
    size_t at = 0, attributes = 0;

    if (s == NULL || hsy_scheme_init(s, spec, NULL) != HSY_OK)
        exit(1);
    e.words = hsy_tally_words(s);
    words = tallied(&e, MANY);
    hsy_tally_view(&tally, s, words);
    of = (hsy_analysis_tally){
        .scheme = s, .tally = &tally, .labels = spec->labels};
    if (hsy_analysis_run(&all, &of, NULL, &q, NULL) != HSY_OK)
        exit(1);
    while (at < all.count && alone(&of, &all, &at))
        attributes++;
    ok(at == all.count && attributes >= 2,
       "%s: %zu attributes one by one have the digits of all together",
       spec->mechanism, attributes);
    hsy_analysis_clear(&all);
    free(words);
    free(s);
}

int main(void)
{
    struct roster *r = example_roster();

    ok(2 * roster_count(r) >= 40, "at least 40 tallies");
    for (size_t i = 0; i < roster_count(r); i++)
        every_entry(roster_at(r, i));
    roster_drop(r);
    for (size_t i = 0; i < EXAMPLES; i++)
        if (examples[i].spec.kind == HSY_KIND_TUPLE)
            several(&examples[i].spec);
    return tap_done();
}
