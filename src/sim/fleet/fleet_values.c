/* fleet_values.c - what the people of a fleet think, and what became of what
 * they sent. */
#include "sim/fleet/fleet.h"

#include "host/analysis/analysis.h"
#include "host/base/day.h"
#include "host/base/host_fail.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(FLEET_NAME >= ANALYSIS_BIN, "a bin's name has room");

/* ---- Values -------------------------------------------------------------- */

/* What value i is called, in its own text where it has no name elsewhere. */
static void values_name(struct fleet_value *v, const struct fleet_task *t,
                        size_t i)
{
    v->name = v->text;
    switch (t->info.kind) {
    case HSY_KIND_NUMBER:
        v->name = "mean";
        break;
    case HSY_KIND_YES_NO:
        v->name = i == 0 ? "no" : "yes";
        break;
    case HSY_KIND_STRINGS:
        v->name = t->law.word[i];
        break;
    case HSY_KIND_BINS:
        analysis_bin(v->text, &t->info, (uint32_t)i);
        break;
    default:
        v->name = fleet_label(t, i, &v->name_len);
        if (v->name != NULL)
            return;
        snprintf(v->text, sizeof v->text, "%zu", i);
        v->name = v->text;
    }
    v->name_len = strlen(v->name);
}

size_t fleet_values(const struct fleet_task *t)
{
    if (t->day == 0)
        return 0;
    return t->info.kind == HSY_KIND_NUMBER ? 1 : t->ncounts;
}

void fleet_value(struct fleet_value *v, const struct fleet_task *t, size_t i)
{
    const bool mean = t->info.kind == HSY_KIND_NUMBER;
    const double n = (double)t->answered;

    values_name(v, t, i);
    v->person_rounds = mean ? t->answered : t->counts[i];
    if (t->answered == 0)
        v->truth = NAN;
    else
        v->truth = mean ? t->sum / n / pow(10, t->info.scale)
                        : (double)t->counts[i] / n;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *values_list(const struct fleet_task *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < fleet_values(t); i++) {
        struct fleet_value v;

        fleet_value(&v, t, i);
        json_array_append_new(list, json_pack("{s:s%,s:f,s:I}", "value", v.name,
                                              v.name_len, "share", v.truth,
                                              "person_rounds",
                                              (json_int_t)v.person_rounds));
    }
    return list;
}

/* What was acknowledged by the day in the heads of uploads. */
static json_t *values_days(const struct fleet_task *t)
{
    json_t *list = json_array();
    char day[DAY_TEXT];

    for (uint32_t i = 0; i < t->ndays; i++) {
        if (t->days[i].reports == 0 && t->days[i].nulls == 0)
            continue;
        day_text(day, t->first_day + i);
        json_array_append_new(list,
                              json_pack("{s:s,s:I,s:I}", "day", day, "reports",
                                        (json_int_t)t->days[i].reports, "nulls",
                                        (json_int_t)t->days[i].nulls));
    }
    return list;
}

static json_t *values_task(const struct fleet_task *t)
{
    struct fleet_value mean;
    char day[DAY_TEXT];
    json_t *task;

    day_text(day, t->day);
    task = json_pack("{s:s,s:I,s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "task",
                     t->task.id, "release", (json_int_t)t->task.release, "kind",
                     hsy_kind_name(t->info.kind), "law", t->law.text,
                     "answered_on", day, "answered", (json_int_t)t->answered,
                     "reports", (json_int_t)t->reports, "nulls",
                     (json_int_t)t->nulls, "refused", (json_int_t)t->refused);
    if (t->info.kind == HSY_KIND_NUMBER) {
        fleet_value(&mean, t, 0);
        json_object_set_new(task, "mean", json_real(mean.truth));
    } else {
        json_object_set_new(task, "truth", values_list(t));
    }
    if (t->ndays != 0)
        json_object_set_new(task, "days", values_days(t));
    return task;
}

hsy_status fleet_json(char **text, struct fleet *f,
                      const struct fleet_options *o,
                      const struct fleet_result *r, hsy_error *err)
{
    json_t *tasks = json_array(), *statuses = json_array(), *root;
    size_t n;
    const struct fleet_task *all = fleet_tasks(f, &n);

    for (size_t i = 0; i < n; i++)
        if (all[i].day != 0)
            json_array_append_new(tasks, values_task(&all[i]));
    for (size_t i = 0; i < FLEET_STATUSES && r->statuses[i].uploads != 0; i++)
        json_array_append_new(
            statuses,
            json_pack("{s:I,s:I}", "status", (json_int_t)r->statuses[i].status,
                      "uploads", (json_int_t)r->statuses[i].uploads));
    root = json_pack(
        "{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:o,s:o}", "url", o->url,
        "devices", (json_int_t)o->devices, "requests", (json_int_t)r->requests,
        "repeated", (json_int_t)r->repeated, "tried_again",
        (json_int_t)r->tried_again, "acknowledged", (json_int_t)r->acknowledged,
        "refused", (json_int_t)r->refused, "given_up", (json_int_t)r->given_up,
        "seconds", r->seconds, "statuses", statuses, "tasks", tasks);
    if (root != NULL && fleet_relay(f) != NULL)
        json_object_set_new(root, "relay", json_string(fleet_relay(f)));
    *text = root != NULL ? json_dumps(root, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return *text != NULL ? HSY_OK : host_nomem(err);
}
