/* task_fields.c - the numbers of a task: read, compared, written, by one table
 * (tasks.def). */
#include "host/tasks/task_fields.h"

#include "host/base/ratio.h"
#include "host/tasks/internal.h"

#include <inttypes.h>
#include <string.h>

#define FIELDS_DAY 86400u

#define KEY(...)
#define LIST(...)
#define MAP(...)
#define NUMBER(group, name, member, sort, num, least, most, otherwise, flag,   \
               about, shown)                                                   \
    {(name),                                                                   \
     TASK_##sort,                                                              \
     offsetof(FIELDS_OF, member),                                              \
     offsetof(hsy_task, num),                                                  \
     (least),                                                                  \
     (most),                                                                   \
     (otherwise),                                                              \
     (flag) | FIELDS_FLAG,                                                     \
     (about)},

const struct task_field task_fields[] = {
#define FIELDS_OF struct tasks_raw
#define FIELDS_FLAG 0
#define TASKS_OF_TASK
#include "host/tasks/tasks.def"
#undef FIELDS_OF
#undef FIELDS_FLAG
#define FIELDS_OF struct tasks_permanent
#define FIELDS_FLAG TASK_PERMANENT
#define TASKS_OF_PERMANENT
#include "host/tasks/tasks.def"
    {.key = NULL}};

_Static_assert(sizeof task_fields / sizeof task_fields[0] <=
                   TASK_FIELDS_MAX + 1,
               "there is room for them where they are shown");

static size_t fields_size(const struct task_field *f)
{
    return f->type >= TASK_SHARE ? sizeof(hsy_ratio) : sizeof(uint32_t);
}

static void fields_set(const struct task_field *f, hsy_task *task,
                       const void *number)
{
    memcpy((char *)task + f->number, number, fields_size(f));
}

static void fields_get(const struct task_field *f, void *number,
                       const hsy_task *task)
{
    memcpy(number, (const char *)task + f->number, fields_size(f));
}

/* ---- Reading ------------------------------------------------------------- */

/* "1e-8", or as a share is written. */
static bool fields_chance(hsy_ratio *out, const char *text)
{
    const char *e = strstr(text, "e-");
    uint64_t num = 0, places = 0;
    hsy_ratio made = {0, 1};

    if (e == NULL)
        return ratio_parse(out, text, strlen(text)) && out->num < out->den;
    for (const char *at = text; at < e; at++) {
        if (*at < '0' || *at > '9' || num > 1000)
            return false;
        num = 10 * num + (uint64_t)(*at - '0');
    }
    if (!yaml_count(&places, e + 2) || places < 1 || places > 18)
        return false;
    made.num = num;
    while (places-- != 0)
        made.den *= 10;
    *out = made;
    return num < made.den;
}

static bool fields_share(const struct task_field *f, hsy_task *task,
                         const char *text)
{
    hsy_ratio r;
    const bool good = f->type == TASK_CHANCE
                          ? fields_chance(&r, text)
                          : ratio_parse(&r, text, strlen(text));

    if (good && r.num != 0)
        fields_set(f, task, &r);
    return good && r.num != 0;
}

bool task_field_parse(const struct task_field *f, hsy_task *task,
                      const char *text)
{
    const uint64_t unit = f->type == TASK_DAYS ? FIELDS_DAY : 1;
    uint64_t n;
    uint32_t number;

    if (f->type >= TASK_SHARE)
        return fields_share(f, task, text);
    if (!(f->type == TASK_COUNT ? yaml_count(&n, text)
                                : yaml_seconds(&n, text)) ||
        n % unit != 0 || n / unit < f->low || n / unit > f->high)
        return false;
    number = (uint32_t)(n / unit);
    fields_set(f, task, &number);
    return true;
}

static void fields_wrong(hsy_tasks *t, struct yaml_place at,
                         const struct task_field *f)
{
    static const char *const wants[] = {
        [TASK_SECONDS] = "a length of time, e.g. 30m, 6h or 1d",
        [TASK_DAYS] = "whole days, e.g. 2d",
        [TASK_SHARE] = "a share above 0, at most 1, e.g. 0.25 or 1/4",
        [TASK_CHANCE] = "a probability between 0 and 1, e.g. 1e-8"};

    if (f->type == TASK_COUNT)
        yaml_wrong(&t->notes, at,
                   "must be an integer from %" PRIu64 " to %" PRIu64, f->low,
                   f->high);
    else if (f->high != 0 && f->high < UINT32_MAX)
        yaml_wrong(&t->notes, at, "must be %s, at most %" PRIu64 "d",
                   wants[f->type],
                   f->type == TASK_DAYS ? f->high : f->high / FIELDS_DAY);
    else
        yaml_wrong(&t->notes, at, "must be %s", wants[f->type]);
}

const char *tasks_number_text(const struct tasks_raw *raw,
                              const struct task_field *f)
{
    const void *in = (f->flags & TASK_PERMANENT) != 0
                         ? (const void *)raw->permanent
                         : (const void *)raw;
    const char *text = NULL;

    if (in != NULL)
        memcpy(&text, (const char *)in + f->text, sizeof text);
    return text;
}

struct yaml_place tasks_number_at(size_t i, const struct task_field *f)
{
    const bool permanent = (f->flags & TASK_PERMANENT) != 0;

    return (struct yaml_place){i, permanent ? "permanent" : f->key,
                               permanent ? f->key : NULL, YAML_NONE};
}

void tasks_numbers(hsy_tasks *t, size_t i, unsigned shuffled)
{
    for (const struct task_field *f = task_fields; f->key != NULL; f++) {
        const char *text = tasks_number_text(&t->file.tasks[i], f);
        const struct yaml_place at = tasks_number_at(i, f);

        if ((f->flags & TASK_SHUFFLED) != shuffled)
            continue;
        if (f->otherwise != NULL)
            task_field_parse(f, &t->tasks[i], f->otherwise);
        if (text == NULL && f->otherwise == NULL)
            yaml_missing(&t->notes, at, "is missing: %s", f->what);
        else if (text != NULL && !task_field_parse(f, &t->tasks[i], text))
            fields_wrong(t, at, f);
    }
}

/* ---- Comparing and writing ----------------------------------------------- */

bool task_field_same(const struct task_field *f, const hsy_task *a,
                     const hsy_task *b)
{
    return memcmp((const char *)a + f->number, (const char *)b + f->number,
                  fields_size(f)) == 0;
}

void task_field_text(const struct task_field *f, char text[TASK_FIELD_TEXT],
                     const hsy_task *task)
{
    static const char *const units[] = {"", "s", "d"};
    hsy_ratio r;
    uint32_t n;

    if (f->type < TASK_SHARE) {
        fields_get(f, &n, task);
        snprintf(text, TASK_FIELD_TEXT, "%" PRIu32 "%s", n, units[f->type]);
    } else {
        fields_get(f, &r, task);
        snprintf(text, TASK_FIELD_TEXT, "%" PRIu64 "/%" PRIu64, r.num, r.den);
    }
}

double task_field_value(const struct task_field *f, const hsy_task *task)
{
    hsy_ratio r;
    uint32_t n;

    if (f->type >= TASK_SHARE) {
        fields_get(f, &r, task);
        return (double)r.num / (double)r.den;
    }
    fields_get(f, &n, task);
    return n;
}

void task_fields_put(struct put *p, const hsy_task *task, unsigned flags)
{
    for (const struct task_field *f = task_fields; f->key != NULL; f++)
        if ((f->flags & flags) != 0)
            put_number(p, f->key, task_field_value(f, task));
}
