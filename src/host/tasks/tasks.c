/* tasks.c - task files: read, checked, compiled to a signed document. */
#define _POSIX_C_SOURCE 200809L

#include "host/tasks/internal.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TASKS_DAY 86400

void tasks_read_bytes(hsy_tasks *t, const uint8_t *text, size_t len)
{
    yaml_read(&t->notes, &tasks_form, &t->file, text, len);
    if (t->notes.whole && !t->notes.nomem)
        tasks_check(t);
}

/* *t is set, half made or not. */
static hsy_status tasks_read_file(hsy_tasks **t, const char *path,
                                  hsy_error *err)
{
    uint8_t *text = NULL;
    size_t len = 0;
    hsy_status st;

    *t = calloc(1, sizeof **t);
    if (*t == NULL)
        return host_nomem(err);
    (*t)->today = (uint32_t)(time(NULL) / TASKS_DAY);
    st = yaml_file(&text, &len, &(*t)->directory, path, err);
    if (st != HSY_OK)
        return st;
    (*t)->notes.directory = (*t)->directory;
    tasks_read_bytes(*t, text, len);
    yaml_notes_sort(&(*t)->notes);
    free(text);
    return (*t)->notes.nomem ? host_nomem(err) : HSY_OK;
}

hsy_status hsy_tasks_read(hsy_tasks **tasks, const char *path, hsy_error *err)
{
    hsy_tasks *t;
    hsy_status st = tasks_read_file(&t, path, err);

    *tasks = NULL;
    if (st != HSY_OK) {
        int why = errno;

        hsy_tasks_free(t);
        errno = why;
        return st;
    }
    *tasks = t;
    return t->notes.wrong ? host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                                      "the task file is not sound")
                          : HSY_OK;
}

void hsy_tasks_free(hsy_tasks *tasks)
{
    if (tasks == NULL)
        return;
    for (size_t i = 0; i < tasks->ntasks; i++)
        free(tasks->made[i].labels);
    yaml_clear(&tasks_form.map, &tasks->file);
    yaml_notes_clear(&tasks->notes);
    free(tasks->made);
    free(tasks->tasks);
    free(tasks->directory);
    free(tasks);
}

size_t hsy_tasks_problems(const hsy_tasks *tasks, const hsy_problem **problems)
{
    *problems = tasks->notes.problems;
    return tasks->notes.nproblems;
}

const hsy_task *hsy_tasks_all(const hsy_tasks *tasks, size_t *n)
{
    *n = tasks->notes.wrong ? 0 : tasks->ntasks;
    return tasks->tasks;
}

void hsy_tasks_head(const hsy_tasks *tasks, hsy_document *doc)
{
    *doc = tasks->head;
}

hsy_status tasks_encode(uint8_t **bytes, size_t *len, const hsy_tasks *t,
                        const hsy_document *head, hsy_error *err)
{
    size_t n = 0;
    hsy_status st =
        hsy_document_encode(head, NULL, 0, &n, t->tasks, t->ntasks, err);

    if (st != HSY_OK)
        return st;
    *bytes = calloc(1, n + HSY_SIGNATURE);
    if (*bytes == NULL)
        return host_nomem(err);
    *len = n + HSY_SIGNATURE;
    return hsy_document_encode(head, *bytes, n, &n, t->tasks, t->ntasks, err);
}

hsy_status hsy_tasks_compile(const hsy_tasks *tasks, uint8_t **bytes,
                             size_t *len, const uint8_t secret[HSY_SIGN_SECRET],
                             const uint8_t *next_key, hsy_error *err)
{
    hsy_document doc = tasks->head;
    uint8_t *out = NULL;
    size_t n = 0;
    hsy_status st;

    if (tasks->notes.wrong)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "the task file is not sound");
    if (next_key != NULL)
        memcpy(doc.next_key, next_key, HSY_SIGN_KEY);
    st = tasks_encode(&out, &n, tasks, &doc, err);
    if (st == HSY_OK && hsy_sign(out + n - HSY_SIGNATURE, out,
                                 n - HSY_SIGNATURE, secret) != HSY_OK)
        st = host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                       "the secret key is not whole");
    if (st != HSY_OK) {
        free(out);
        return st;
    }
    *bytes = out;
    *len = n;
    return HSY_OK;
}
