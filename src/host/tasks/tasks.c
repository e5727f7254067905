/* tasks.c - task files: read, checked, compiled to a signed document. */
#define _POSIX_C_SOURCE 200809L

#include "host/tasks/internal.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TASKS_DAY 86400

void tasks_read_bytes(hsy_tasks *t, const uint8_t *text, size_t len)
{
    yaml_read(&t->notes, &tasks_form, &t->file, text, len);
    if (!t->notes.wrong && !t->notes.nomem)
        tasks_check(t);
}

char *tasks_directory(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

hsy_status hsy_tasks_read(hsy_tasks **tasks, const char *path, hsy_error *err)
{
    hsy_tasks *t = calloc(1, sizeof *t);
    uint8_t *text = NULL;
    size_t len = 0;
    hsy_status st = HSY_E_NOMEM;

    *tasks = NULL;
    if (t != NULL) {
        t->directory = tasks_directory(path);
        t->today = (uint32_t)(time(NULL) / TASKS_DAY);
        if (t->directory != NULL)
            st = file_whole(&text, &len, path, YAML_FILE_MAX, NULL);
    }
    if (st == HSY_OK)
        tasks_read_bytes(t, text, len);
    free(text);
    if (st == HSY_OK && t->notes.nomem)
        st = HSY_E_NOMEM;
    if (st == HSY_OK) {
        *tasks = t;
        return t->notes.wrong ? host_fail(err, HSY_E_FORMAT, NULL,
                                          "the task file is "
                                          "not sound")
                              : HSY_OK;
    }
    if (t != NULL) {
        int why = errno;

        hsy_tasks_free(t);
        errno = why;
    }
    return host_fail(err, st, NULL,
                     st == HSY_E_IO      ? "the file cannot be read"
                     : st == HSY_E_RANGE ? "the file is longer than 16 MiB"
                                         : "out of memory");
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

hsy_status hsy_tasks_compile(const hsy_tasks *tasks, uint8_t **bytes,
                             size_t *len, const uint8_t secret[HSY_SIGN_SECRET],
                             const uint8_t *next_key, hsy_error *err)
{
    hsy_document doc = tasks->head;
    uint8_t *out;
    size_t n;
    hsy_status st;

    if (tasks->notes.wrong)
        return host_fail(err, HSY_E_FORMAT, NULL, "the task file is not sound");
    if (next_key != NULL)
        memcpy(doc.next_key, next_key, HSY_SIGN_KEY);
    st = hsy_document_encode(NULL, 0, &n, &doc, tasks->tasks, tasks->ntasks,
                             err);
    if (st != HSY_OK)
        return st;
    out = malloc(n + HSY_SIGNATURE);
    if (out == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    st =
        hsy_document_encode(out, n, &n, &doc, tasks->tasks, tasks->ntasks, err);
    if (st == HSY_OK && hsy_sign(out + n, out, n, secret) != HSY_OK)
        st = host_fail(err, HSY_E_RANGE, NULL, "the secret key is not whole");
    if (st != HSY_OK) {
        free(out);
        return st;
    }
    *bytes = out;
    *len = n + HSY_SIGNATURE;
    return HSY_OK;
}
