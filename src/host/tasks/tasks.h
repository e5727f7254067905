/*
 * tasks.h - what the files that read tasks.yaml share.
 *
 * libcyaml reads the file into the structs below, every scalar as text
 * (schema.c). It keeps no lines, so libyaml reads it before, by the same
 * schema, notes where everything stands and finds what has the wrong shape
 * (lines_index.c). Then the texts are given their meaning (check.c), and
 * the result is held against the document in force (change.c).
 */
#ifndef HOST_TASKS_TASKS_H
#define HOST_TASKS_TASKS_H

#include "hearsay_host.h"

#include <cyaml/cyaml.h>

#define TASKS_FILE_MAX (16u << 20) /* bytes of a file */
#define TASKS_LIST_MAX 4096u       /* values in a list; a file has more */
#define TASKS_PREFIXES_MAX 65536u  /* of a stage */
#define TASKS_PROBLEMS_MAX 200u    /* of a file that are listed */
#define TASKS_NONE SIZE_MAX        /* no task, no item */

/* ---- As it is written: texts, NULL where there is none ------------------- */

struct tasks_set {
    char *param[HSY_PARAMS]; /* by hsy_param; q is also RAPPOR's */
    char *f, *p;             /* RAPPOR's */
    char *spinner, *coins, *channel;
};

struct tasks_permanent {
    char *epsilon, *gamma, *every, *renew, *max_changes, *grain;
};

struct tasks_raw {
    char *id, *release, *source, *question;
    char *yes_no, *strings, *values_file, *bins;
    char **values, **range;
    unsigned values_count, range_count;
    char *epsilon, *mechanism, *alphabet, *oracle;
    struct tasks_set *set;
    char **prefixes, *sizes; /* of a stage */
    unsigned prefixes_count;
    char *start, *end, *repeat;
    struct tasks_permanent *permanent;
    char *sample, *answers, *send, *delay, *grace, *min_reports;
};

struct tasks_file {
    char *version, *issued, *expires;
    struct tasks_raw *tasks;
    unsigned tasks_count;
};

/* ---- Where it stands ----------------------------------------------------- */

/* key and sub are the schema's: `epsilon` of `permanent` is {"permanent",
 * "epsilon"}. item: of a list, else TASKS_NONE. */
struct tasks_line {
    size_t task, item;
    const char *key, *sub;
    uint32_t line;
};

/* A place to complain about. */
struct tasks_place {
    size_t task; /* TASKS_NONE: the file */
    const char *key, *sub;
    size_t item;
};

/* What a task's pointers lead to. */
struct tasks_made {
    uint8_t scheme[HSY_SCHEME_WIRE], permanent[HSY_SCHEME_WIRE];
    uint8_t *labels; /* owned */
};

struct hsy_tasks {
    struct tasks_file *file; /* libcyaml's */
    struct tasks_line *lines;
    size_t nlines, lines_room;
    size_t first[HSY_TASKS_MAX]; /* line of each task; its others follow */
    char ids[HSY_TASKS_MAX][HSY_TASK_ID + 1]; /* for problems; may be cut */
    hsy_problem *problems;
    size_t nproblems, problems_room;
    size_t mild; /* those of a key that is left out: the others can be read */
    hsy_task *tasks;
    struct tasks_made *made;
    size_t ntasks;
    hsy_document head; /* version, issued, expires */
    char *directory;   /* where values-file is looked for; NULL: nowhere */
    uint32_t today;
    bool wrong; /* a problem is no warning */
    bool nomem;
};

/* ---- Problems (problem.c) ------------------------------------------------ */

/* Add a problem, its line being that of the place or of what encloses it. */
void tasks_wrong(hsy_tasks *t, struct tasks_place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tasks_warn(hsy_tasks *t, struct tasks_place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about a line that has no place. */
void tasks_wrong_line(hsy_tasks *t, uint32_t line, struct tasks_place at,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether a key stands in the file: libcyaml makes nothing of an empty list. */
bool tasks_given(const hsy_tasks *t, size_t task, const char *key);

/* Which of the fields' keys comes nearest to text, NULL if none is near. */
const char *tasks_nearest(const char *text, const cyaml_schema_field_t *fields);

/* Room for one more of size bytes in an array; NULL and t->nomem if there is
 * none. */
void *tasks_grow(hsy_tasks *t, void *array, size_t n, size_t *room,
                 size_t size);

/* ---- Reading ------------------------------------------------------------- */

/* A sort of YAML file; a collector's configuration is read in the same way. All
 * its scalars are texts. */
struct tasks_form {
    const cyaml_schema_value_t *schema;
    const char *page;   /* that has all keys */
    const char *column; /* whose keys begin in one column */
};

extern const struct tasks_form tasks_form;

/* All of a file of at most TASKS_FILE_MAX bytes, owned by the caller. HSY_E_IO
 * with errno, HSY_E_RANGE if it is longer, HSY_E_NOMEM. */
hsy_status tasks_slurp(uint8_t **out, size_t *len, const char *path);

/* Where the file is, for the files that it names; NULL: out of memory. */
char *tasks_directory(const char *path);

/* Note all lines and complain of what does not fit the schema. */
void tasks_index(hsy_tasks *t, const struct tasks_form *form,
                 const uint8_t *text, size_t len);

/* What libcyaml makes of a text that fits the schema; NULL after a complaint,
 * or with t->nomem. If something was wrong before, keys that the schema does
 * not have are passed over. */
cyaml_data_t *tasks_load(hsy_tasks *t, const struct tasks_form *form,
                         const uint8_t *text, size_t len);
void tasks_unload(const struct tasks_form *form, cyaml_data_t *data);

/* Everything from the bytes of a file; t is zeroed but for today and directory,
 * which it owns. */
void tasks_read_bytes(hsy_tasks *t, const uint8_t *text, size_t len);

/* ---- Meaning (words.c, values.c, task_scheme.c, check.c) ----------------- */

bool tasks_date(uint32_t *day, const char *text); /* 2026-01-31 */
/* A moment, UTC: a day (its noon), 2026-01-31T08:30Z or T08:30:00Z, or seconds
 * since 1970. */
bool tasks_time(uint64_t *seconds, const char *text);
bool tasks_count(uint64_t *out, const char *text);              /* digits */
bool tasks_ratio(hsy_ratio *out, const char *text, size_t len); /* 0.25, 1/4 */
bool tasks_seconds(uint64_t *out, const char *text);            /* 6h, 2d */
bool tasks_days(uint64_t *out, const char *text); /* daily, week, 3 days */

/* The values of task i as labels, with `other`, into made and task. */
void tasks_values(hsy_tasks *t, size_t i, hsy_spec *spec);

/* The prefixes and the sizes of a stage, into made and spec (task_stage.c);
 * false after a complaint. */
bool tasks_stage(hsy_tasks *t, size_t i, hsy_spec *spec);

/* Kind, mechanism and epsilon of task i, resolved to its wires. */
void tasks_scheme(hsy_tasks *t, size_t i);

/* Warn of a question that asks for what changes, if its answer is kept
 * (frozen.c). */
void tasks_frozen(hsy_tasks *t, size_t i);

/* All of t->file into t->tasks. */
void tasks_check(hsy_tasks *t);

#endif
