/*
 * test_history.c - points of figures in memory: bounded, in their order, and
 * of a day the last.
 */
#define _GNU_SOURCE /* strdup */
#include "rig/example_roster.h"
#include "server/collector/estimator/internal.h"
#include "server/collector/figures/internal.h"
#include "tap.h"

#include <jansson.h>
#include <math.h>

static struct history_point point(uint32_t day, unsigned number)
{
    struct history_point p = {.day = day, .json = malloc(32)};

    if (p.json != NULL)
        p.len = (size_t)snprintf(p.json, 32, "%u", number);
    return p;
}

/* The points as an answer shows them. */
static json_t *shown(struct history *h, uint32_t entry)
{
    struct put p;
    char *text = NULL;
    size_t len = 0;
    json_t *all = NULL;

    if (put_open(&p, NULL) != HSY_OK)
        return NULL;
    history_put(h, &p, entry);
    if (put_close(&p, &text, &len, NULL) == HSY_OK)
        all = json_loadb(text, len, 0, NULL);
    free(text);
    return all;
}

static json_int_t at(json_t *all, const char *which, size_t i)
{
    return json_integer_value(json_array_get(json_object_get(all, which), i));
}

static void bounded(struct history *h)
{
    struct history_series *s = history_of(h, 5);
    size_t n;
    json_t *all;

    if (!ok(s != NULL && history_of(h, 5) == s && h->n > 5, "a series is made"))
        return;
    for (unsigned i = 1; i <= HISTORY_LIVE + 60; i++)
        history_add_live(h, s, point(0, i));
    for (uint32_t day = 1; day <= HISTORY_DAYS + 10; day++) {
        history_add_day(s, point(day, 1));
        history_add_day(s, point(day, 1000 + day)); /* of the same day */
    }
    all = shown(h, 5);
    n = json_array_size(json_object_get(all, "live"));
    ok(n == HISTORY_LIVE && at(all, "live", 0) == 61 &&
           at(all, "live", n - 1) == HISTORY_LIVE + 60,
       "the last %u points of now are kept, the oldest first", HISTORY_LIVE);
    n = json_array_size(json_object_get(all, "days"));
    ok(n == HISTORY_DAYS && at(all, "days", 0) == 1011 &&
           at(all, "days", n - 1) == 1000 + HISTORY_DAYS + 10,
       "so are the last %u days, each with its last point", HISTORY_DAYS);
    json_decref(all);
    all = shown(h, 77);
    ok(eq_u64(json_array_size(json_object_get(all, "live")), 0) &&
           eq_u64(json_array_size(json_object_get(all, "days")), 0),
       "an entry without points has none");
    json_decref(all);
}

static char *text_of(const struct history_point *p)
{
    char *text = NULL, *whole;
    size_t len = 0;

    if (history_day_text(&text, &len, p) != HSY_OK)
        return NULL;
    whole = calloc(1, len + 1);
    if (whole != NULL)
        memcpy(whole, text, len);
    free(text);
    return whole;
}

static struct history_point own(uint32_t day, const char *json, uint64_t n)
{
    return (struct history_point){.day = day,
                                  .own = strdup(json),
                                  .own_len = strlen(json),
                                  .own_reports = n};
}

/* A day has the figure of all until then, and one of its own. */
static void two_figures(struct history *h)
{
    static const char looks[] = "{\"x\": \", \\\"own\\\": \"}";
    struct history_series *s = history_of(h, 8);
    struct history_point back;
    char *text;

    if (!ok(s != NULL, "another series"))
        return;
    history_add_day(s, (struct history_point){.day = 20773,
                                              .json = strdup("{\"a\": 1}"),
                                              .len = 8});
    history_add_day(s, own(20773, "{\"reports\": 7}", 7));
    history_add_day(s, own(20771, "{\"reports\": 3}", 3));
    history_add_day(s, (struct history_point){.day = 20773,
                                              .json = strdup("{\"a\": 2}"),
                                              .len = 8});
    ok(eq_u64(s->ndays, 2) && eq_u64(s->days[0].day, 20771) &&
           eq_u64(s->days[1].day, 20773) && history_day(s, 20772) == NULL &&
           eq_u64(history_day(s, 20773)->own_reports, 7),
       "days stand in their order, whichever came first");
    text = text_of(history_day(s, 20773));
    is_text(text, "{\"a\": 2, \"own\": {\"reports\": 7}}",
            "a new figure of all leaves the day's own");
    ok(eq_status(history_day_parse(&back, 20773, text, strlen(text)), HSY_OK) &&
           eq_text(back.json, "{\"a\": 2}") && eq_u64(back.len, 8) &&
           eq_text(back.own, "{\"reports\": 7}") &&
           eq_u64(back.own_len, strlen(back.own)) &&
           eq_u64(back.own_reports, 7),
       "both are read back from the store as they were");
    free(text);
    free(back.json);
    free(back.own);
    text = text_of(history_day(s, 20771));
    is_text(text, "{\"day\": \"2026-11-14\", \"own\": {\"reports\": 3}}",
            "a day may have its own alone");
    free(text);
    ok(eq_status(history_day_parse(&back, 1, looks, strlen(looks)), HSY_OK) &&
           back.own == NULL && eq_u64(back.len, strlen(looks)),
       "a value that looks like it is a value");
    free(back.json);
}

/* However long the points are, all together take no more than their share. */
static void little_memory(struct history *h)
{
    struct history_series *s = history_of(h, 6);
    const size_t len = HISTORY_BYTES / 16;
    bool within = s != NULL;

    for (unsigned i = 0; within && i < 40; i++) {
        struct history_point p = {.json = calloc(1, len), .len = len};

        history_add_live(h, s, p);
        within &= h->live_bytes <= HISTORY_BYTES;
    }
    ok(within && s->nlive > 1 && s->nlive < 40, "memory is bounded");
}

/* A figure that says what a test wants. */
static void figure_of_rows(struct figure *f, const struct roster_entry *e,
                           hsy_analysis_row *rows, size_t n)
{
    *f = (struct figure){.entry = e,
                         .result = {.reports = 7,
                                    .rows = rows,
                                    .count = n,
                                    .columns = 1u << HSY_COLUMN_VALUE}};
}

/* No interval, and an interval for liars, stay what they are; a day of too few
 * reports is not left out. */
static void from_other_figures(const struct roster_entry *e)
{
    hsy_analysis_row rows[] = {{.value = {"a", 1},
                                .est = {0.1, NAN, NAN, NAN},
                                .low_lying = NAN,
                                .high_lying = NAN},
                               {.value = {"b", 1},
                                .est = {1, 1, 0, 2},
                                .low_lying = -1,
                                .high_lying = 3}};
    struct history_point p = {0};
    struct figure f;

    figure_of_rows(&f, e, rows, 2);
    f.result.why = "x";
    f.result.columns |=
        1u << HSY_COLUMN_LOW_LYING | 1u << HSY_COLUMN_HIGH_LYING;
    ok(eq_status(history_point(&p, &f, HISTORY_IS_OWN, 20773), HSY_OK) &&
           p.json == NULL && eq_u64(p.day, 20773) && eq_u64(p.own_reports, 7),
       "a point of a day's own figure");
    is_text(p.own,
            "{\"reports\": 7, \"estimates\": [{\"value\": \"a\", "
            "\"estimate\": 0.1, \"stderr\": null, \"low\": null, "
            "\"high\": null, \"low_lying\": null, \"high_lying\": null, "
            "\"why\": \"x\"}, {\"value\": \"b\", \"estimate\": 1, "
            "\"stderr\": 1, \"low\": 0, \"high\": 2, \"low_lying\": -1, "
            "\"high_lying\": 3}]}",
            "what has no interval has none, with its reason; liars have their "
            "own");
    free(p.own);
    f.span = (struct figure_span){20771, 20773, 0};
    ok(eq_status(history_point(&p, &f, HISTORY_IS_OWN, 20773), HSY_OK) &&
           eq_int(strncmp(p.own,
                          "{\"first_day\": \"2026-11-14\", \"reports\": 7,",
                          40),
                  0),
       "days that joined say with which they begin");
    free(p.own);
}

static void from_a_figure(const struct roster_entry *e)
{
    hsy_analysis_row rows[HISTORY_ROWS + 1];
    struct history_point p = {0};
    struct figure f;

    for (size_t i = 0; i <= HISTORY_ROWS; i++)
        rows[i] = (hsy_analysis_row){.value = {"a\0\"b", 4},
                                     .est = {0.1, 0.25, -1, 2e3}};
    figure_of_rows(&f, e, rows, 1);
    ok(eq_status(history_point(&p, &f, HISTORY_IS_DAY, 20773), HSY_OK) &&
           eq_text(p.json,
                   "{\"day\": \"2026-11-16\", \"reports\": 7, \"estimates\": "
                   "[{\"value\": \"a\\u0000\\\"b\", \"estimate\": 0.1, "
                   "\"stderr\": 0.25, \"low\": -1, \"high\": 2000}]}"),
       "a day's point says the day and no time");
    free(p.json);
    ok(eq_status(history_point(&p, &f, HISTORY_IS_LIVE, 0), HSY_OK) &&
           eq_int(strncmp(p.json, "{\"time\": ", 9), 0),
       "a point of now has its time");
    free(p.json);
    f.result.count = HISTORY_ROWS + 1;
    if (eq_status(history_point(&p, &f, HISTORY_IS_LIVE, 0), HSY_OK)) {
        json_t *all = json_loadb(p.json, p.len, JSON_ALLOW_NUL, NULL);

        ok(eq_u64(json_array_size(json_object_get(all, "estimates")),
                  HISTORY_ROWS),
           "a point has the first rows");
        json_decref(all);
        free(p.json);
    }
}

int main(void)
{
    struct roster *r = example_roster();
    struct history *h = calloc(1, sizeof *h);

    if (!ok(r != NULL && h != NULL, "there is memory"))
        return tap_done();
    pthread_mutex_init(&h->lock, NULL);
    bounded(h);
    two_figures(h);
    little_memory(h);
    from_other_figures(roster_at(r, 0));
    from_a_figure(roster_at(r, 0));
    for (size_t i = 0; i < h->n; i++)
        history_free_series(h->series[i]);
    free(h->series);
    pthread_mutex_destroy(&h->lock);
    free(h);
    roster_drop(r);
    return tap_done();
}
