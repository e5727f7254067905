/* task_file.c - tasks from a tasks.yaml or a compiled document. */
#define _DEFAULT_SOURCE
#include "host/tasks/task_file.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a file begins as documents do; one that cannot be read does not. */
static bool task_compiled(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char magic[4] = "";
    bool compiled = fd != -1 && file_fill(fd, magic, sizeof magic) == 4 &&
                    memcmp(magic, "HSYD", 4) == 0;

    if (fd != -1)
        close(fd);
    return compiled;
}

hsy_status task_file_bytes(struct task_file *t, uint8_t *bytes, size_t len,
                           hsy_error *err)
{
    hsy_status st;

    t->bytes = bytes;
    st = hsy_document_open(&t->doc, t->bytes, len, err);
    if (st != HSY_OK)
        return st;
    t->n = t->doc.tasks;
    t->all = calloc(t->n + 1, sizeof *t->all);
    if (t->all == NULL)
        return host_nomem(err);
    for (uint32_t i = 0; i < t->doc.tasks; i++)
        hsy_document_task(&t->doc, &t->all[i], i);
    return HSY_OK;
}

hsy_status task_file_document(struct task_file *t, const char *path,
                              hsy_error *err)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_status st = file_whole(&bytes, &len, path, HSY_DOCUMENT_MAX, err);

    if (st == HSY_E_RANGE)
        return host_fail(err, st, HSY_FIELD_NONE, "longer than 128 MiB");
    return st == HSY_OK ? task_file_bytes(t, bytes, len, err) : st;
}

static hsy_status task_yaml(struct task_file *t, const char *path,
                            hsy_error *err)
{
    hsy_status st = hsy_tasks_read(&t->yaml, path, err);
    const hsy_task *all;

    if (st != HSY_OK)
        return st;
    hsy_tasks_head(t->yaml, &t->doc);
    all = hsy_tasks_all(t->yaml, &t->n);
    t->all = calloc(t->n + 1, sizeof *t->all);
    if (t->all == NULL)
        return host_nomem(err);
    memcpy(t->all, all, t->n * sizeof *t->all);
    return HSY_OK;
}

hsy_status task_file_open(struct task_file *t, const char *path, hsy_error *err)
{
    return task_compiled(path) ? task_file_document(t, path, err)
                               : task_yaml(t, path, err);
}

void task_file_clear(struct task_file *t)
{
    hsy_tasks_free(t->yaml);
    free(t->bytes);
    free(t->all);
    *t = (struct task_file){0};
}

size_t task_file_find(const struct task_file *t, const char *id)
{
    size_t i = 0;

    while (i < t->n && strcmp(t->all[i].id, id) != 0)
        i++;
    return i;
}

hsy_status task_release(hsy_release **out, const hsy_task *task, hsy_error *err)
{
    hsy_release *r = malloc(hsy_release_size(task));
    hsy_status st;

    if (r == NULL)
        return host_nomem(err);
    st = hsy_release_init(r, task, err);
    if (st == HSY_OK)
        *out = r;
    else
        free(r);
    return st;
}
