/* history_points.c - points of figures, in memory. */
#include "history_parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Points -------------------------------------------------------------- */

struct history_series *history_of(struct history *h, uint32_t entry)
{
    if (entry >= h->n) {
        const size_t n = (size_t)entry + 16;
        struct history_series **more = realloc(h->series, n * sizeof *more);

        if (more == NULL)
            return NULL;
        memset(more + h->n, 0, (n - h->n) * sizeof *more);
        h->series = more;
        h->n = n;
    }
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

void history_add_day(struct history_series *s, struct history_point point)
{
    struct history_point *more;

    if (s->ndays != 0 && s->days[s->ndays - 1].day == point.day) {
        free(s->days[s->ndays - 1].json);
        s->days[s->ndays - 1] = point;
        return;
    }
    if (s->ndays == HISTORY_DAYS) {
        free(s->days[0].json);
        memmove(s->days, s->days + 1, --s->ndays * sizeof *s->days);
    }
    more = realloc(s->days, (s->ndays + 1) * sizeof *more);
    if (more == NULL) {
        free(point.json);
        return;
    }
    s->days = more;
    s->days[s->ndays++] = point;
}

void history_free_series(struct history_series *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < HISTORY_LIVE; i++)
        free(s->live[i].json);
    for (size_t i = 0; i < s->ndays; i++)
        free(s->days[i].json);
    free(s->days);
    free(s);
}

static void history_put_points(struct put *p, const struct history_point *at,
                               size_t first, size_t n, size_t room)
{
    for (size_t i = 0; i < n; i++) {
        const struct history_point *point = &at[(first + i) % room];

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
        history_put_points(p, s->live, s->first, s->nlive, HISTORY_LIVE);
    put_end(p, ']');
    put_array(p, "days");
    if (s != NULL)
        history_put_points(p, s->days, 0, s->ndays, s->ndays + 1);
    put_end(p, ']');
    pthread_mutex_unlock(&h->lock);
}

/* ---- From a figure ------------------------------------------------------- */

static void history_put_row(struct put *p, json_t *row)
{
    static const char *const numbers[] = {"estimate", "stderr", "low", "high"};
    const json_t *value = json_object_get(row, "value");

    put_object(p, NULL);
    put_text(p, "value", json_string_value(value), json_string_length(value));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        put_number(p, numbers[i],
                   json_number_value(json_object_get(row, numbers[i])));
    put_end(p, '}');
}

hsy_status history_point(struct history_point *out, json_t *figure,
                         const struct roster_entry *e, enum history_form form,
                         uint32_t day)
{
    json_t *rows = json_object_get(figure, "estimates");
    struct put p;
    hsy_status st = put_open(&p, NULL);

    if (st != HSY_OK)
        return st;
    if (form == HISTORY_IS_LIVE) {
        put_count(&p, "time", (uint64_t)time(NULL));
    } else if (form == HISTORY_IS_DAY) {
        put_day(&p, "day", day);
    } else {
        put_word(&p, "task", e->task.id);
        put_count(&p, "release", e->task.release);
    }
    put_count(&p, "reports",
              (uint64_t)json_integer_value(json_object_get(figure, "reports")));
    put_array(&p, "estimates");
    for (size_t i = 0; i < json_array_size(rows) && i < HISTORY_ROWS; i++)
        history_put_row(&p, json_array_get(rows, i));
    put_end(&p, ']');
    out->day = form == HISTORY_IS_DAY ? day : 0;
    return put_close(&p, &out->json, &out->len, NULL);
}
