/* task_file.h - tasks from a tasks.yaml or a compiled document. */
#ifndef HOST_TASKS_TASK_FILE_H
#define HOST_TASKS_TASK_FILE_H

#include "hearsay/host.h"
#include "host/yaml/yaml.h"

/* The keys of tasks.yaml, policy.yaml and hearsay.yaml, for who puts one into
 * another's file (schema.c). */
extern const struct yaml_kin task_kin[];

/* The tasks of a file. Zero it to begin; owns its memory. */
struct task_file {
    hsy_tasks *yaml;  /* NULL: from a document */
    uint8_t *bytes;   /* of a document; NULL: from a tasks.yaml */
    hsy_document doc; /* of a tasks.yaml version, issued and expires */
    hsy_task *all;    /* owned */
    size_t n;
};

/* Read either sort of file. HSY_E_IO with errno; HSY_E_RANGE if it is too long;
 * HSY_E_NOMEM. What is wrong with a tasks.yaml, and what is doubtful, is told
 * by hsy_tasks_problems of t->yaml, which then is set. */
hsy_status task_file_open(struct task_file *t, const char *path,
                          hsy_error *err);

/* A compiled document and nothing else; the same from bytes, which become t's.
 * As hsy_document_open. */
hsy_status task_file_document(struct task_file *t, const char *path,
                              hsy_error *err);
hsy_status task_file_bytes(struct task_file *t, uint8_t *bytes, size_t len,
                           hsy_error *err);
void task_file_clear(struct task_file *t);

/* The place of an id, t->n if there is none. */
size_t task_file_find(const struct task_file *t, const char *id);

/* Resolve a task as a device does; the caller frees *out. */
hsy_status task_release(hsy_release **out, const hsy_task *task,
                        hsy_error *err);

#endif
