/*
 * internal.h - what the files that read tasks.yaml share.
 *
 * The file is read into the structs below, every scalar as text (schema.c);
 * host/yaml keeps the lines. Then the texts are given their meaning (check.c),
 * and the result is held against the document in force (change.c).
 */
#ifndef HOST_TASKS_INTERNAL_H
#define HOST_TASKS_INTERNAL_H

#include "host/tasks/task_fields.h"
#include "host/yaml/yaml.h"

#define TASKS_LIST_MAX 4096u      /* values in a list; a file has more */
#define TASKS_PREFIXES_MAX 65536u /* of a stage */

/* ---- As it is written: texts, NULL where there is none ------------------- */

#define KEY(group, key, member, what, otherwise) char *member;
#define LIST(group, key, member, ...) char **member; /* ended by NULL */
#define MAP(group, key, member, ...) struct tasks_##member *member;
#define NUMBER(group, key, member, ...) char *member;
#define ENTRIES(group, key, member, ...)                                       \
    struct tasks_raw *member;                                                  \
    size_t member##_count;

struct tasks_set {
    char *param[HSY_PARAMS]; /* by hsy_param; q is also RAPPOR's */
    char *f, *p;             /* RAPPOR's */
    char *spinner, *coins, *channel;
};

struct tasks_permanent {
#define TASKS_OF_PERMANENT
#include "host/tasks/tasks.def"
};

struct tasks_raw {
#define TASKS_OF_TASK
#include "host/tasks/tasks.def"
};

struct tasks_file {
#define TASKS_OF_FILE
#include "host/tasks/tasks.def"
};

#undef KEY
#undef LIST
#undef MAP
#undef NUMBER
#undef ENTRIES

/* ---- As it is meant -------------------------------------------------------
 */

/* What a task's pointers lead to. */
struct tasks_made {
    uint8_t scheme[HSY_SCHEME_WIRE], permanent[HSY_SCHEME_WIRE];
    uint8_t *labels; /* owned */
    uint8_t statements[HSY_SHUFFLERS_MAX][HSY_STATEMENT_WIRE];
};

struct hsy_tasks {
    struct yaml_notes notes;
    struct tasks_file file; /* as it is written */
    hsy_task *tasks;
    struct tasks_made *made;
    size_t ntasks;
    hsy_document head; /* version, issued, expires, parties */
    hsy_parties parties;
    uint8_t
        collector_key[HSY_SEAL_KEY]; /* of all shuffled tasks; zeros: none */
    char *directory; /* where values-file is looked for; NULL: nowhere */
    uint32_t today;
};

extern const struct yaml_form tasks_form, policy_form;

/* The document of these tasks, with zeros for a signature; the caller frees
 * *bytes, also after a failure. */
hsy_status tasks_encode(uint8_t **bytes, size_t *len, const hsy_tasks *t,
                        const hsy_document *head, hsy_error *err);

/* Everything from the bytes of a file; t is zeroed but for today and directory,
 * which it owns. */
void tasks_read_bytes(hsy_tasks *t, const uint8_t *text, size_t len);

/* ---- Meaning (values.c, task_scheme.c, check.c) -------------------------- */

/* The values of task i as labels, with `other`, into made and task. */
void tasks_values(hsy_tasks *t, size_t i, hsy_spec *spec);

/* How tallies of the mechanism that a task names are analyzed; 0: it names none
 * that there is. */
hsy_analysis tasks_analysis(const char *mechanism);

/* The prefixes and the sizes of a stage, into made and spec (task_stage.c);
 * false after a complaint. */
bool tasks_stage(hsy_tasks *t, size_t i, hsy_spec *spec);

/* The numbers of task i that tasks.def lists: 0, those of every task;
 * TASK_SHUFFLED, those of shuffled ones only (task_fields.c). */
void tasks_numbers(hsy_tasks *t, size_t i, unsigned shuffled);

/* What is written for one, NULL: nothing; and where. */
const char *tasks_number_text(const struct tasks_raw *raw,
                              const struct task_field *f);
struct yaml_place tasks_number_at(size_t i, const struct task_field *f);

/* The relay, the keys of its gateway and of the collector (parties_file.c). */
void tasks_parties(hsy_tasks *t);

/* Choose document_bytes, where the tasks are sound. */
void tasks_document_bytes(hsy_tasks *t);

/* The model of task i, and what a shuffled one has more, before its scheme is
 * known; and what follows from the scheme (task_model.c). */
void tasks_model(hsy_tasks *t, size_t i);
void tasks_model_bound(hsy_tasks *t, size_t i, const hsy_release_info *info);

/* The largest epsilon of a report at which the smallest batch tells at most
 * nano_central of one report, and the mechanism that was chosen for it. */
hsy_status tasks_model_solve(hsy_spec *spec, const hsy_task *task,
                             uint64_t nano_central, hsy_error *err);

/* Kind, mechanism and epsilon of task i, resolved to its wires. */
void tasks_scheme(hsy_tasks *t, size_t i);

/* Warn of a question that asks for what changes, if its answer is kept
 * (frozen.c). */
void tasks_frozen(hsy_tasks *t, size_t i);

/* All of the file into t->tasks. */
void tasks_check(hsy_tasks *t);

#endif
