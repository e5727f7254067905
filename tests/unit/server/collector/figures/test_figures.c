/*
 * test_figures.c - figures of every mechanism a task can ask by: whole, drawn,
 * compared; and what is not shown.
 */
#include "hearsay/host.h"
#include "host/base/json.h"
#include "rig/example_roster.h"
#include "server/collector/figures/figures.h"
#include "tap.h"

#include <jansson.h>
#include <math.h>

#define PEOPLE 1000u /* the examples' min_reports */

/* Words of a tally of n reports; the caller frees them. */
static int64_t *tallied(const struct roster_entry *e, size_t n)
{
    int64_t *words = calloc(e->words + 1, sizeof *words);
    uint8_t *reports = example_reports(e->scheme, n);
    hsy_tally t;

    if (words != NULL && reports != NULL) {
        hsy_tally_init(&t, e->scheme, words);
        if (hsy_tally_batch(&t, e->scheme, reports, n, NULL) != HSY_OK) {
            free(words);
            words = NULL;
        }
    }
    free(reports);
    return words;
}

static struct figure_how plain(void)
{
    return (struct figure_how){.level = 0.95,
                               .lying = 0.01,
                               .candidates = "ab\ncd\r\nef",
                               .candidates_len = 9};
}

/* Rows with numbers that fit together. */
static bool rows_hold(json_t *figure)
{
    json_t *rows = json_object_get(figure, "estimates");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const double value =
            json_number_value(json_object_get(row, "estimate"));
        const double sd = json_number_value(json_object_get(row, "stderr"));
        const double low = json_number_value(json_object_get(row, "low"));
        const double high = json_number_value(json_object_get(row, "high"));

        if (!json_is_string(json_object_get(row, "value")) || !(sd >= 0) ||
            !(low <= high) || !isfinite(value))
            return false;
    }
    return json_is_array(rows);
}

static size_t lines(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

static void drawn(const char *name, const struct figure *f)
{
    const hsy_analysis_result *r = figure_result(f);
    char *csv = NULL, *svg = NULL;
    size_t csv_len = 0, svg_len = 0;

    ok(figure_csv(&csv, &csv_len, f, NULL) == HSY_OK &&
           strncmp(csv, "value,estimate,stderr,low,high", 30) == 0 &&
           strstr(csv, r->why != NULL
                           ? ",first_day,last_day,release,why\n"
                           : ",first_day,last_day,release\n") != NULL &&
           eq_u64(lines(csv), 1 + analysis_table_rows(r)),
       "%s as CSV: a row for each, and for the rest", name);
    ok(figure_svg(&svg, &svg_len, f, NULL) == HSY_OK &&
           strncmp(svg, "<svg", 4) == 0 && strstr(svg, "nan") == NULL &&
           (strstr(svg, "no intervals: ") != NULL) == (r->why != NULL) &&
           strstr(svg, " Release 1, target: people.") != NULL,
       "%s drawn, in words too", name);
    free(csv);
    free(svg);
}

/* A figure of one entry, from the least number of reports on. */
static void every_entry(const struct roster_entry *e)
{
    const struct figure_how how = plain();
    int64_t *words = tallied(e, PEOPLE), *fewer = tallied(e, PEOPLE - 1);
    hsy_error err = {0};
    struct figure *f = NULL;
    char *json = NULL;
    size_t len = 0;
    json_t *figure;
    hsy_scheme_info info;
    hsy_status st;

    hsy_scheme_describe(e->scheme, &info);
    if (!ok(words != NULL && fewer != NULL, "%s: two tallies", info.mechanism))
        return;
    ok(figure_make(&f, &(struct figure_of){.entry = e, .words = fewer}, &how,
                   &err) == HSY_E_EMPTY &&
           err.limit == PEOPLE && f == NULL,
       "%s: nothing is shown of one report less than the least",
       info.mechanism);
    st = figure_make(&f, &(struct figure_of){.entry = e, .words = words}, &how,
                     &err);
    if (info.param[HSY_PARAM_STEP] == 20) {
        ok(st == HSY_E_UNKNOWN && err.field == HSY_FIELD_CANDIDATES,
           "%s: steps too long to be tried are refused", info.mechanism);
        free(words);
        free(fewer);
        return;
    }
    free(words); /* a figure that is made needs them no more */
    if (st == HSY_OK)
        st = figure_json(&json, &len, f, &err);
    figure = st == HSY_OK ? json_loadb(json, len, JSON_ALLOW_NUL, NULL) : NULL;
    ok(figure != NULL && rows_hold(figure) &&
           json_integer_value(json_object_get(figure, "reports")) == PEOPLE &&
           json_number_value(json_object_get(figure, "epsilon")) ==
               info.epsilon,
       "%s (%s): a figure", info.mechanism, hsy_kind_name(info.kind));
    if (figure != NULL)
        drawn(info.mechanism, f);
    figure_drop(f);
    json_decref(figure);
    free(json);
    free(fewer);
}

/* ---- One entry ----------------------------------------------------------- */

static const struct roster_entry *entry_of(struct roster *r, uint32_t kind,
                                           const char *mechanism)
{
    for (size_t i = 0; i < roster_count(r); i++) {
        hsy_scheme_info info;

        hsy_scheme_describe(roster_at(r, i)->scheme, &info);
        if (info.kind == kind && strcmp(info.mechanism, mechanism) == 0)
            return roster_at(r, i);
    }
    return NULL;
}

static hsy_status asked(const struct roster_entry *e, struct figure_how how,
                        hsy_error *err)
{
    int64_t *words = tallied(e, PEOPLE);
    struct figure *f = NULL;
    hsy_status st = figure_make(
        &f, &(struct figure_of){.entry = e, .words = words}, &how, err);

    figure_drop(f);
    free(words);
    return st;
}

static void refused_options(const struct roster_entry *e)
{
    static const double levels[] = {0, 1, -0.5, NAN, INFINITY};
    struct figure_how how = plain();
    hsy_error err = {0};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        how.level = levels[i];
        ok(asked(e, how, &err) == HSY_E_RANGE && err.field == HSY_FIELD_LEVEL,
           "a level of %g is refused", levels[i]);
    }
    how = plain();
    how.lying = 1;
    ok(asked(e, how, &err) == HSY_E_RANGE && err.field == HSY_FIELD_LYING,
       "not everybody may lie");
    how = plain();
    how.top = 10001;
    ok(asked(e, how, &err) == HSY_E_RANGE && err.limit == 10000,
       "nor may there be rows without end");
}

static void candidates(const struct roster_entry *e)
{
    struct figure_how how = plain();
    hsy_error err = {0};
    char *many = malloc(8 * 20001 + 1);
    size_t len = 0;

    how.candidates = NULL;
    how.candidates_len = 0;
    ok(asked(e, how, &err) == HSY_E_UNKNOWN &&
           err.field == HSY_FIELD_CANDIDATES,
       "strings without candidates have no figure");
    how.candidates = "ab\ncd\nab\n";
    how.candidates_len = 9;
    ok(asked(e, how, &err) == HSY_E_RANGE && err.at == 3,
       "a candidate that stands there twice is named");
    if (many == NULL)
        return;
    for (unsigned i = 0; i < 20001; i++)
        len += (size_t)snprintf(many + len, 9, "w%06u\n", i);
    how.candidates = many;
    how.candidates_len = len;
    ok(asked(e, how, &err) == HSY_E_RANGE && err.at == 20001,
       "more candidates than a request may cost are refused");
    how.candidates_len = 8 * 300;
    how.top = 7;
    ok(asked(e, how, &err) == HSY_OK, "as many as it may are looked for");
    free(many);
}

static void too_many_values(void)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = (1u << 20) + 1,
                           .nano_epsilon = HSY_NANO};
    const struct figure_how how = plain();
    struct roster *r = roster_new();
    hsy_error err = {0};

    ok(example_roster_add(&r, 0, &spec) &&
           figure_check(roster_at(r, 0), &how, &err) == HSY_E_UNKNOWN &&
           err.field == HSY_FIELD_VALUES,
       "a list too long for the collector's memory has no figure");
    roster_drop(r);
}

/* ---- Batches ------------------------------------------------------------- */

/* As the command says it of a tally with the same batches: one code. */
static void shuffled(const struct roster_entry *e)
{
    const hsy_batches row = {
        2, 400, PEOPLE, {9, 10}, {1, 100000000}, 2 * (uint64_t)HSY_NANO};
    const hsy_round round = {0, 0, 1, PEOPLE};
    const struct figure_how how = plain();
    struct engine_rounds of = {.batches = {.list = {row}, .n = 1}};
    int64_t *words = tallied(e, PEOPLE);
    const struct figure_of figure = {.entry = e, .words = words, .rounds = &of};
    hsy_analysis_tally t = {.scheme = e->scheme,
                            .batches = &row,
                            .nbatches = 1,
                            .rounds = &round,
                            .nrounds = 1};
    const hsy_analysis_request q = {.size = sizeof q};
    struct figure *f = NULL;
    char *json = NULL, *csv = NULL, *own = NULL;
    const char *at = NULL, *mine = NULL;
    hsy_analysis_result r;
    size_t len = 0, csv_len = 0, own_len = 0;
    hsy_tally tally;

    hsy_tally_view(&tally, e->scheme, words);
    t.tally = &tally;
    ok(rounds_add(&of.rounds, &round, NULL) == HSY_OK &&
           figure_make(&f, &figure, &how, NULL) == HSY_OK &&
           figure_json(&json, &len, f, NULL) == HSY_OK &&
           hsy_analysis_run(&r, &t, NULL, &q, NULL) == HSY_OK &&
           hsy_analysis_json(&r, &own, &own_len, NULL) == HSY_OK,
       "a figure of a shuffled task, and the command's estimate");
    at = json != NULL ? strstr(json, "\"shuffled\": {") : NULL;
    mine = own != NULL ? strstr(own, "\"shuffled\": {") : NULL;
    ok(at != NULL && mine != NULL && strcspn(at, "}") == strcspn(mine, "}") &&
           memcmp(at, mine, strcspn(at, "}")) == 0 &&
           strstr(at, "\"min_batch\": 400, \"n\": 360,") != NULL,
       "say the same of its batches, digit for digit");
    ok(f != NULL && figure_csv(&csv, &csv_len, f, NULL) == HSY_OK &&
           strstr(csv, ",epsilon_report,epsilon_central,delta,bound,n,") !=
               NULL &&
           strstr(csv, ",1e-08,blanket,360,") != NULL,
       "so does its CSV");
    figure_drop(f);
    hsy_analysis_clear(&r);
    rounds_clear(&of.rounds);
    free(json);
    free(csv);
    free(own);
    free(words);
}

/* ---- Differences --------------------------------------------------------- */

static void differences(const struct roster_entry *a,
                        const struct roster_entry *b)
{
    const struct figure_how how = plain();
    int64_t *x = tallied(a, PEOPLE), *y = tallied(a, 2 * PEOPLE);
    int64_t *z = tallied(b, PEOPLE), *few = tallied(a, PEOPLE - 1);
    json_t *both = NULL, *rows;
    hsy_error err = {0};
    char *json = NULL;
    size_t len;

    if (figure_difference(
            &json, &len, &(struct figure_of){.entry = a, .words = x},
            &(struct figure_of){.entry = a, .words = y}, &how, &err) == HSY_OK)
        both = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    rows = json_object_get(both, "difference");
    ok(rows_hold(json_object_get(both, "a")) &&
           rows_hold(json_object_get(both, "b")) &&
           json_array_size(rows) ==
               json_array_size(
                   json_object_get(json_object_get(both, "a"), "estimates")) &&
           json_is_number(json_object_get(json_array_get(rows, 0), "p_value")),
       "two tallies and their difference");
    json_decref(both);
    free(json);
    json = NULL;
    ok(figure_difference(&json, &len,
                         &(struct figure_of){.entry = a, .words = x},
                         &(struct figure_of){.entry = b, .words = z}, &how,
                         &err) == HSY_E_MISMATCH &&
           json == NULL,
       "two questions have none");
    ok(figure_difference(&json, &len,
                         &(struct figure_of){.entry = a, .words = x},
                         &(struct figure_of){.entry = a, .words = few}, &how,
                         &err) == HSY_E_EMPTY &&
           err.at == 2 && err.limit == PEOPLE,
       "nor have too few reports: the second are named");
    ok(figure_difference(&json, &len,
                         &(struct figure_of){.entry = a, .words = few},
                         &(struct figure_of){.entry = a, .words = x}, &how,
                         &err) == HSY_E_EMPTY &&
           err.at == 1,
       "or the first");
    free(x);
    free(y);
    free(z);
    free(few);
}

/* ---- Writing ------------------------------------------------------------- */

static void written(void)
{
    char *out = NULL, day[DAY_TEXT];
    size_t len = 0;
    struct put p;

    day_text(day, 20773);
    ok(strcmp(day, "2026-11-16") == 0, "a day is written");
    day_text(day, 0);
    ok(strcmp(day, "1970-01-01") == 0, "so is the first one");
    if (put_open(&p, NULL) != HSY_OK)
        return;
    put_text(&p, "a", "\"\\\n\xff", 4);
    put_number(&p, "b", NAN);
    put_number(&p, "c", 0.1);
    put_array(&p, "d");
    put_count(&p, NULL, UINT64_MAX);
    put_bool(&p, NULL, true);
    put_end(&p, ']');
    put_object(&p, "e");
    put_end(&p, '}');
    ok(put_close(&p, &out, &len, NULL) == HSY_OK &&
           strcmp(out, "{\"a\": \"\\\"\\\\\\u000a\\ufffd\", \"a_hex\": "
                       "\"225c0aff\", \"b\": null, \"c\": 0.1, \"d\": "
                       "[18446744073709551615, true], \"e\": {}}") == 0 &&
           strlen(out) == len,
       "JSON is written as it should be");
    free(out);
}

/* Days of sending, and reports of none, in each of the three. */
static void exported(struct roster *roster, const struct roster_entry *e)
{
    int64_t *words = tallied(e, PEOPLE);
    const struct figure_of of = {.roster = roster,
                                 .entry = e,
                                 .words = words,
                                 .span = {20771, 20773, 10}};
    const struct figure_how how = plain();
    static const char note[] = "some of the reports are of no day: they came "
                               "in a tally that was merged";
    struct figure *f = NULL, *kept;
    char *text[3] = {NULL, NULL, NULL};
    size_t len = 0;

    if (!ok(figure_make(&f, &of, &how, NULL) == HSY_OK, "a figure of days"))
        return;
    free(words);
    kept = figure_hold(f);
    figure_drop(f);
    ok(figure_json(&text[0], &len, kept, NULL) == HSY_OK &&
           figure_csv(&text[1], &len, kept, NULL) == HSY_OK &&
           figure_svg(&text[2], &len, kept, NULL) == HSY_OK,
       "who holds it can write it");
    ok(strstr(text[0], "\"first_day\": \"2026-11-14\", \"last_day\": "
                       "\"2026-11-16\", \"undated\": 0") != NULL &&
           strstr(text[1], ",notes,first_day,last_day,release\n") != NULL &&
           strstr(text[1], "merged,2026-11-14,2026-11-16,1\n") != NULL &&
           strstr(text[2], ", sent from 2026-11-14 to 2026-11-16.") != NULL,
       "its days are in all of them");
    for (size_t i = 0; i < 3; i++) {
        ok(strstr(text[i], note) != NULL, "so is the note");
        free(text[i]);
    }
    figure_drop(kept);
    figure_drop(NULL);
}

int main(void)
{
    struct roster *r = example_roster();
    const struct roster_entry *grr = entry_of(r, HSY_KIND_VALUES, "grr");
    const struct roster_entry *rr = entry_of(r, HSY_KIND_YES_NO, "rr");
    const struct roster_entry *olh = entry_of(r, HSY_KIND_STRINGS, "olh");

    for (size_t i = 0; i < roster_count(r); i++)
        every_entry(roster_at(r, i));
    if (ok(grr != NULL && rr != NULL && olh != NULL, "three of them")) {
        refused_options(grr);
        candidates(olh);
        differences(grr, rr);
        shuffled(grr);
        exported(r, grr);
    }
    too_many_values();
    written();
    roster_drop(r);
    return tap_done();
}
