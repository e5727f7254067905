/* test_tasks.c - the words of a task file, its defaults, and its schema. */
#include "host/base/day.h"
#include "host/base/ratio.h"
#include "host/tasks/internal.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static void dates(void)
{
    static const struct {
        const char *text;
        int64_t day; /* -1: refused */
    } cases[] = {
        {"1970-01-01", 0},       {"2000-02-29", 11016}, {"2026-11-16", 20773},
        {"9999-12-31", 2932896}, {"1969-12-31", -1},    {"2026-02-29", -1},
        {"2100-02-29", -1},      {"2026-13-01", -1},    {"2026-00-01", -1},
        {"2026-01-00", -1},      {"2026-04-31", -1},    {"2026-1-01", -1},
        {"2026-01-011", -1},     {"2026/01/01", -1},    {"", -1},
        {"+026-01-01", -1},      {"2026-01-0x", -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t day = 0;
        bool taken = day_parse(&day, cases[i].text);

        ok(eq_u64(taken, (cases[i].day >= 0)) &&
               (!taken || day == cases[i].day),
           "the day '%s'", cases[i].text);
    }
}

static void lengths(void)
{
    static const struct {
        const char *text;
        int64_t seconds, days;
    } cases[] = {
        {"6h", 21600, -1}, {"30m", 1800, -1},   {"45s", 45, -1},
        {"2d", 172800, 2}, {"2 d", 172800, 2},  {"3 days", -1, 3},
        {"1 day", -1, 1},  {"2 weeks", -1, 14}, {"daily", -1, 1},
        {"week", -1, 7},   {"weekly", -1, 7},   {"0d", 0, -1},
        {"", -1, -1},      {"d", -1, -1},       {"-1d", -1, -1},
        {"1.5h", -1, -1},  {"1  d", -1, -1},    {"99999999999d", -1, -1},
        {"6h ", -1, -1},   {"6", -1, -1},       {"3 dayz", -1, -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t n = 0;
        bool taken = yaml_seconds(&n, cases[i].text);

        ok(eq_u64(taken, (cases[i].seconds >= 0)) &&
               (!taken || n == (uint64_t)cases[i].seconds),
           "'%s' in seconds", cases[i].text);
        taken = yaml_days(&n, cases[i].text);
        ok(eq_u64(taken, (cases[i].days >= 0)) &&
               (!taken || n == (uint64_t)cases[i].days),
           "'%s' in days", cases[i].text);
    }
}

static void ratios(void)
{
    static const struct {
        const char *text;
        uint64_t num, den; /* den 0: refused */
    } cases[] = {
        {"0.25", 25, 100},
        {"1/4", 1, 4},
        {"1", 1, 1},
        {"0", 0, 1},
        {"0/7", 0, 7},
        {"5/4", 0, 0},
        {"1.1", 0, 0},
        {"-0.1", 0, 0},
        {"1/0", 0, 0},
        {"1/-4", 0, 0},
        {"", 0, 0},
        {"/4", 0, 0},
        {"1/", 0, 0},
        {"0.5/2", 0, 0},
        {"1e-3", 0, 0},
        {".5", 5, 10},
        {"0.0000000001", 0, 0},
        {"1/2147483649", 0, 0},
        {"1/2147483648", 1, 2147483648},
        {"70%", 7, 10},
        {"12.5%", 125, 1000},
        {"100%", 1, 1},
        {"0%", 0, 1},
        {"101%", 0, 0},
        {"1/4%", 0, 0},
        {"%", 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_ratio r = {9, 9};
        bool taken = ratio_parse(&r, cases[i].text, strlen(cases[i].text));

        ok(eq_u64(taken, (cases[i].den != 0)) &&
               (!taken || (r.num == cases[i].num && r.den == cases[i].den)),
           "the share '%s'", cases[i].text);
    }
}

/* The field of a mapping by its key; NULL if there is none. */
static const struct yaml_field *field(const struct yaml_field *fields,
                                      const char *key)
{
    while (fields->key != NULL && strcmp(fields->key, key) != 0)
        fields++;
    return fields->key != NULL ? fields : NULL;
}

static void schema_has_all_parameters(void)
{
    const struct yaml_field *tasks = field(tasks_form.map.fields, "tasks");
    const struct yaml_field *set = field(tasks->map->fields, "set");
    size_t known = 0, named = 0;

    for (size_t i = 0; i < HSY_PARAMS; i++) {
        const struct yaml_field *f;

        if (hsy_param_name(i) == NULL)
            continue;
        named++;
        f = field(set->map->fields, hsy_param_name(i));
        known += f != NULL && f->at == offsetof(struct tasks_set, param[i]);
    }
    ok(eq_u64(known, named) && named > 10,
       "`set` has all %zu parameters by name", named);
}

/* ---- Whole files --------------------------------------------------------- */

static hsy_tasks *read_text(const char *text)
{
    hsy_tasks *t = calloc(1, sizeof *t);

    t->today = 20454; /* 2026-01-01 */
    tasks_read_bytes(t, (const uint8_t *)text, strlen(text));
    return t;
}

#define ONE "{id: a, source: s, question: q, start: 2026-01-01, end: 2026-01-28"

static void defaults(void)
{
    hsy_tasks *t =
        read_text("version: 5\ntasks:\n- " ONE ", yes-no: true, epsilon: 1}\n");
    const hsy_task *task = t->tasks;

    ok(!t->notes.wrong && eq_u64(t->notes.nproblems, 0) && eq_u64(t->ntasks, 1),
       "a task of one line");
    ok(eq_u64(t->head.version, 5) && eq_u64(t->head.issued, 20454) &&
           eq_u64(t->head.expires, 20454 + 90),
       "a document is issued today and taken for 90 days");
    ok(eq_u64(task->release, 1) && eq_u64(task->start, 20454) &&
           eq_u64(task->end, 20454 + 28) && eq_u64(task->slot_days, 0) &&
           eq_u64(task->round_days, 0) && eq_u64(task->max_changes, 1) &&
           eq_u64(task->answers, 1) && eq_u64(task->sends, 1) &&
           eq_u64(task->sample.num, task->sample.den) &&
           eq_u64(task->delay_seconds, 21600) && eq_u64(task->grace_days, 7) &&
           eq_u64(task->min_reports, 1000) &&
           eq_u64(task->other, HSY_TASK_CLOSED) && task->permanent == NULL &&
           eq_u64(task->grain, 0),
       "the defaults are those of docs/tasks.md");
    hsy_tasks_free(t);
}

/* What `auto` takes for a permanent answer at this epsilon, and parameter g. */
static const char *chosen(const char *kind, const char *epsilon, uint64_t *g)
{
    static hsy_spec one, two;
    char text[4096];
    hsy_tasks *t;
    const char *name = NULL;

    snprintf(text, sizeof text,
             "version: 1\ntasks:\n- " ONE
             ", %s, epsilon: %s, permanent: {epsilon: 4}}\n",
             kind, epsilon);
    t = read_text(text);
    if (!t->notes.wrong &&
        hsy_spec_decode(&one, t->tasks->scheme, t->tasks->labels,
                        t->tasks->labels_len, NULL) == HSY_OK &&
        hsy_spec_decode(&two, t->tasks->permanent, t->tasks->labels,
                        t->tasks->labels_len, NULL) == HSY_OK &&
        one.mechanism == two.mechanism &&
        two.nano_epsilon == 4 * (uint64_t)HSY_NANO &&
        memcmp(one.param, two.param, sizeof one.param) == 0)
        name = one.mechanism;
    *g = one.param[HSY_PARAM_G];
    hsy_tasks_free(t);
    return name != NULL ? name : "none";
}

static void permanent_choices(void)
{
    static const struct {
        const char *kind, *epsilon, *name;
        uint64_t g;
    } cases[] = {
        {"yes-no: true", "1", "rr", 0},
        {"values: [a, b]", "1", "grr", 0},
        {"range: [0, 9]", "1", "onebit", 0},
        {"strings: true", "1", "olh", 4},
        {"range: [0, 64], bins: 32", "1", "olh", 4},
        {"range: [0, 8], bins: 4", "3", "grr", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *kind = cases[i].kind;
        uint64_t g = 0;
        const char *name = chosen(kind, cases[i].epsilon, &g);

        ok(eq_text(name, cases[i].name) && (cases[i].g == 0 || g == cases[i].g),
           "%s at %s: a permanent answer by %s (%s, g %u)", kind,
           cases[i].epsilon, cases[i].name, name, (unsigned)g);
    }
}

static void other_is_appended(void)
{
    hsy_tasks *t = read_text("version: 1\ntasks:\n- " ONE
                             ", values: [x, y], epsilon: 1}\n");

    ok(!t->notes.wrong && eq_u64(t->tasks->other, 2) &&
           eq_u64(t->tasks->labels_len, 4 + 1 + 4 + 1 + 4 + 5) &&
           eq_bytes(t->tasks->labels + 10, "\5\0\0\0other", 9),
       "`other` is put at the end of a list");
    hsy_tasks_free(t);
    t = read_text("version: 1\ntasks:\n- " ONE
                  ", values: [other, y], epsilon: 1}\n");
    ok(!t->notes.wrong && eq_u64(t->tasks->other, 0) &&
           eq_u64(t->tasks->labels_len, 4 + 5 + 5),
       "unless the list has it");
    hsy_tasks_free(t);
}

int main(void)
{
    dates();
    lengths();
    ratios();
    schema_has_all_parameters();
    defaults();
    permanent_choices();
    other_is_appended();
    return tap_done();
}
