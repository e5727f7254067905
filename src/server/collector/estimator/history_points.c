/* history_points.c - points of figures, in memory. */
#define _GNU_SOURCE /* memmem, strndup */
#include "server/collector/estimator/internal.h"

#include "host/base/grow.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Points -------------------------------------------------------------- */

struct history_series *history_of(struct history *h, uint32_t entry)
{
    if (!grow_room(&h->series, &h->n, (size_t)entry + 1, sizeof *h->series))
        return NULL;
    if (h->series[entry] == NULL)
        h->series[entry] = calloc(1, sizeof *h->series[entry]);
    return h->series[entry];
}

static void history_forget(struct history *h, struct history_series *s)
{
    struct history_point *oldest = &s->live[s->first];

    h->live_bytes -= oldest->len;
    free(oldest->json);
    *oldest = (struct history_point){0};
    s->first = (s->first + 1) % HISTORY_LIVE;
    s->nlive--;
}

void history_add_live(struct history *h, struct history_series *s,
                      struct history_point point)
{
    while (s->nlive > 1 && (s->nlive == HISTORY_LIVE ||
                            h->live_bytes + point.len > HISTORY_BYTES))
        history_forget(h, s);
    s->live[(s->first + s->nlive++) % HISTORY_LIVE] = point;
    h->live_bytes += point.len;
}

/* Where a day stands, or would stand. */
static size_t history_place(const struct history_series *s, uint32_t day)
{
    size_t at = s->ndays;

    while (at > 0 && s->days[at - 1].day >= day)
        at--;
    return at;
}

const struct history_point *history_day(const struct history_series *s,
                                        uint32_t day)
{
    const size_t at = history_place(s, day);

    return at < s->ndays && s->days[at].day == day ? &s->days[at] : NULL;
}

static void history_free_point(struct history_point *point)
{
    free(point->json);
    free(point->own);
    *point = (struct history_point){0};
}

/* Room for one more day; false: it is older than all that are kept, or out of
 * memory. *at moves if the oldest has to go. */
static bool history_room(struct history_series *s, size_t *at)
{
    if (s->ndays == HISTORY_DAYS) {
        if (*at == 0)
            return false;
        history_free_point(&s->days[0]);
        memmove(s->days, s->days + 1, --s->ndays * sizeof *s->days);
        --*at;
    }
    return grow_to(&s->days, s->ndays + 1, sizeof *s->days);
}

/* The point of a day, an empty one if there was none. */
static struct history_point *history_make_day(struct history_series *s,
                                              uint32_t day)
{
    size_t at = history_place(s, day);

    if (at < s->ndays && s->days[at].day == day)
        return &s->days[at];
    if (!history_room(s, &at))
        return NULL;
    memmove(s->days + at + 1, s->days + at,
            (s->ndays++ - at) * sizeof *s->days);
    s->days[at] = (struct history_point){.day = day};
    return &s->days[at];
}

void history_add_day(struct history_series *s, struct history_point point)
{
    struct history_point *d = history_make_day(s, point.day);

    if (d == NULL) {
        history_free_point(&point);
        return;
    }
    if (point.json != NULL) {
        free(d->json);
        d->json = point.json;
        d->len = point.len;
    }
    if (point.own != NULL) {
        free(d->own);
        d->own = point.own;
        d->own_len = point.own_len;
        d->own_reports = point.own_reports;
    }
    d->unkept |= point.unkept;
}

void history_free_series(struct history_series *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < HISTORY_LIVE; i++)
        free(s->live[i].json);
    for (size_t i = 0; i < s->ndays; i++)
        history_free_point(&s->days[i]);
    free(s->days);
    free(s);
}

/* ---- A day's two figures in one text ------------------------------------- */

/* No string of JSON holds it: quotes inside are escaped. */
#define HISTORY_OWN_NAME ", \"own\": "

hsy_status history_day_text(char **text, size_t *len,
                            const struct history_point *point)
{
    const size_t name = sizeof HISTORY_OWN_NAME - 1;
    char only[DAY_TEXT + 16], day[DAY_TEXT];
    const char *json = point->json;
    size_t n = point->len;

    if (json == NULL) {
        day_text(day, point->day);
        n = (size_t)snprintf(only, sizeof only, "{\"day\": \"%s\"}", day);
        json = only;
    }
    *text = malloc(n + name + point->own_len + 1);
    if (*text == NULL)
        return HSY_E_NOMEM;
    memcpy(*text, json, n);
    if (point->own != NULL) {
        memcpy(*text + n - 1, HISTORY_OWN_NAME, name);
        memcpy(*text + n - 1 + name, point->own, point->own_len);
        n += name + point->own_len;
        (*text)[n - 1] = '}';
    }
    *len = n;
    return HSY_OK;
}

static uint64_t history_reports(const char *json, size_t len)
{
    json_t *own = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    const json_int_t n = json_integer_value(json_object_get(own, "reports"));

    json_decref(own);
    return (uint64_t)n;
}

hsy_status history_day_parse(struct history_point *out, uint32_t day,
                             const char *text, size_t len)
{
    const size_t name = sizeof HISTORY_OWN_NAME - 1;
    const char *own = memmem(text, len, HISTORY_OWN_NAME, name);

    *out = (struct history_point){.day = day, .len = len};
    if (own != NULL) {
        out->len = (size_t)(own - text) + 1;
        out->own_len = len - out->len - name;
        out->own = strndup(own + name, out->own_len);
    }
    out->json = strndup(text, out->len); /* JSON holds no NUL */
    if (out->json == NULL || (own != NULL && out->own == NULL)) {
        history_free_point(out);
        return HSY_E_NOMEM;
    }
    if (own != NULL) {
        out->json[out->len - 1] = '}';
        out->own_reports = history_reports(out->own, out->own_len);
    }
    return HSY_OK;
}

/* ---- Readers ------------------------------------------------------------- */

static void history_put_days(struct put *p, const struct history_series *s)
{
    for (size_t i = 0; i < s->ndays; i++) {
        char *text = NULL;
        size_t len = 0;

        if (history_day_text(&text, &len, &s->days[i]) == HSY_OK)
            put_json(p, NULL, text, len);
        free(text);
    }
}

static void history_put_live(struct put *p, const struct history_series *s)
{
    for (size_t i = 0; i < s->nlive; i++) {
        const struct history_point *point =
            &s->live[(s->first + i) % HISTORY_LIVE];

        put_json(p, NULL, point->json, point->len);
    }
}

void history_put(struct history *h, struct put *p, uint32_t entry)
{
    const struct history_series *s;

    if (h == NULL)
        return;
    pthread_mutex_lock(&h->lock);
    s = entry < h->n ? h->series[entry] : NULL;
    put_array(p, "live");
    if (s != NULL)
        history_put_live(p, s);
    put_end(p, ']');
    put_array(p, "days");
    if (s != NULL)
        history_put_days(p, s);
    put_end(p, ']');
    pthread_mutex_unlock(&h->lock);
}

/* ---- From a figure ------------------------------------------------------- */

/* Numbers as they are; what a figure has no number for is null, and why says
 * the reason. Only some figures have an interval that allows for liars, or rows
 * whose intervals have a level of their own. */
static void history_put_row(struct put *p, const hsy_analysis_result *r,
                            size_t i)
{
    const hsy_analysis_row *row = &r->rows[i];

    put_object(p, NULL);
    put_text(p, "value", row->value.text, row->value.len);
    for (unsigned c = HSY_COLUMN_ESTIMATE; c <= HSY_COLUMN_HIGH_LYING; c++)
        if (c <= HSY_COLUMN_HIGH || (r->columns & 1u << c) != 0)
            put_number(p, hsy_analysis_column_name((hsy_analysis_column)c),
                       analysis_cell(r, i, (hsy_analysis_column)c).number);
    if ((r->columns & 1u << HSY_COLUMN_LEVEL) != 0)
        put_number(p, hsy_analysis_column_name(HSY_COLUMN_LEVEL), row->level);
    if (r->why != NULL && isnan(row->est.low))
        put_word(p, "why", r->why);
    put_end(p, '}');
}

/* What a point is of: now, or a day. */
static void history_put_head(struct put *p, const struct figure *figure,
                             enum history_form form, uint32_t day)
{
    const struct figure_span span = figure_span(figure);

    if (form == HISTORY_IS_LIVE) {
        put_count(p, "time", (uint64_t)time(NULL));
    } else if (form == HISTORY_IS_DAY) {
        put_day(p, "day", day);
    } else if (span.first != span.last) { /* days that joined */
        put_day(p, "first_day", span.first);
    }
}

hsy_status history_point(struct history_point *out, const struct figure *figure,
                         enum history_form form, uint32_t day)
{
    const hsy_analysis_result *r = figure_result(figure);
    const bool own = form == HISTORY_IS_OWN;
    struct put p;
    hsy_status st = put_open(&p, NULL);

    if (st != HSY_OK)
        return st;
    history_put_head(&p, figure, form, day);
    put_count(&p, "reports", r->reports);
    if (r->attends)
        put_count(&p, "devices", r->attended.devices);
    put_array(&p, "estimates");
    for (size_t i = 0; i < r->count && i < HISTORY_ROWS; i++)
        history_put_row(&p, r, i);
    put_end(&p, ']');
    *out =
        (struct history_point){.day = own || form == HISTORY_IS_DAY ? day : 0};
    if (!own)
        return put_close(&p, &out->json, &out->len, NULL);
    out->own_reports = r->reports;
    return put_close(&p, &out->own, &out->own_len, NULL);
}
