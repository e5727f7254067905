/* task_fields.h - the numbers of a task by their keys (tasks.def). */
#ifndef HOST_TASKS_TASK_FIELDS_H
#define HOST_TASKS_TASK_FIELDS_H

#include "hearsay.h"
#include "host/base/json.h"

enum task_type {
    TASK_COUNT,   /* uint32_t */
    TASK_SECONDS, /* the same: 6h */
    TASK_DAYS,    /* the same: 7d */
    TASK_SHARE,   /* hsy_ratio, above 0: 0.25, 1/4 */
    TASK_CHANCE   /* the same, below 1: 1e-8 */
};

enum {
    TASK_FIXED = 1,    /* another one is another release */
    TASK_OWN = 2,      /* change.c and who writes task files know it by name */
    TASK_API = 4,      /* the collector's lists have it */
    TASK_SHUFFLED = 8, /* only of shuffled tasks */
    TASK_PERMANENT = 16, /* it stands in the mapping of that name */
    TASK_TERMS = 32      /* of a shuffled task another one is another release */
};

struct task_field {
    const char *key;
    enum task_type type;
    size_t text;   /* in struct tasks_raw or tasks_permanent */
    size_t number; /* in hsy_task */
    uint64_t low, high;
    const char *otherwise; /* text of its default; NULL: it must be given */
    unsigned flags;
    const char *what;
};

#define TASK_FIELDS_MAX 32u
extern const struct task_field task_fields[]; /* ended by a key of NULL */

/* The number that a text says; false, and as it was, if it says none. */
bool task_field_parse(const struct task_field *f, hsy_task *task,
                      const char *text);

bool task_field_same(const struct task_field *f, const hsy_task *a,
                     const hsy_task *b);

/* As it is written in a task file. */
#define TASK_FIELD_TEXT 48
void task_field_text(const struct task_field *f, char text[TASK_FIELD_TEXT],
                     const hsy_task *task);

/* A ratio's value; else the number itself, exactly. */
double task_field_value(const struct task_field *f, const hsy_task *task);

/* Members of JSON: the fields with any of these flags. */
void task_fields_put(struct put *p, const hsy_task *task, unsigned flags);

#endif
