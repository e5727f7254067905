/* tasks_input.c - tasks and keys that a command is given, with messages. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Problems ------------------------------------------------------------ */

void cli_problem_say(const hsy_problem *p, const char *path, const char *entry)
{
    fprintf(stderr, "hearsay: %s:", path);
    if (p->line != 0)
        fprintf(stderr, "%" PRIu32 ":", p->line);
    if (p->warning)
        fputs(" warning:", stderr);
    if (p->task[0] != '\0')
        fprintf(stderr, " %s %s:", entry, p->task);
    if (p->field[0] != '\0')
        fprintf(stderr, " %s:", p->field);
    fprintf(stderr, " %s\n", p->text);
}

size_t cli_tasks_say(const hsy_tasks *yaml, const char *path, size_t first,
                     bool warn)
{
    const hsy_problem *p;
    size_t n = hsy_tasks_problems(yaml, &p), wrong = 0;

    for (size_t i = first; i < n; i++) {
        if (warn || !p[i].warning)
            cli_problem_say(&p[i], path, "task");
        wrong += !p[i].warning;
    }
    return wrong;
}

/* ---- Files --------------------------------------------------------------- */

int cli_tasks_fail(const char *path, const hsy_error *err)
{
    if (err->field == HSY_FIELD_MAGIC)
        return cli_fail("%s: not a task document; compile one from a "
                        "tasks.yaml with 'hearsay tasks compile'",
                        path);
    return err->status == HSY_E_IO || err->status == HSY_E_NOMEM
               ? cli_fail_file(path, err)
               : cli_fail_at(path, err);
}

int cli_tasks_document(struct task_file *t, const char *path)
{
    hsy_error err = {0};

    return task_file_document(t, path, &err) == HSY_OK
               ? 0
               : cli_tasks_fail(path, &err);
}

int cli_tasks_bytes(struct task_file *t, uint8_t *bytes, size_t len,
                    const char *path)
{
    hsy_error err = {0};

    return task_file_bytes(t, bytes, len, &err) == HSY_OK
               ? 0
               : cli_tasks_fail(path, &err);
}

int cli_tasks_open(struct task_file *t, const char *path, bool warn)
{
    hsy_error err = {0};
    hsy_status st = task_file_open(t, path, &err);

    if (t->yaml != NULL)
        cli_tasks_say(t->yaml, path, 0, warn);
    if (st == HSY_OK)
        return 0;
    if (t->yaml != NULL && st != HSY_E_NOMEM)
        return CLI_FAILED; /* the problems say why */
    return t->bytes != NULL ? cli_tasks_fail(path, &err)
                            : cli_fail_file(path, &err);
}

int cli_release_new(hsy_release **out, const hsy_task *task)
{
    hsy_error err = {0};
    hsy_status st = task_release(out, task, &err);

    if (st == HSY_OK)
        return 0;
    return st == HSY_E_NOMEM ? cli_fail_nomem()
                             : cli_fail_error(task->id, &err);
}

/* ---- Keys ---------------------------------------------------------------- */

int cli_public_read(uint8_t key[HSY_SIGN_KEY], const char *path)
{
    hsy_error err = {0};

    return keys_public(key, path, &err) == HSY_OK ? 0
                                                  : cli_fail_file(path, &err);
}

int cli_secret_read(uint8_t secret[HSY_SIGN_SECRET], const char *path)
{
    hsy_error err = {0};

    return keys_secret(secret, path, &err) == HSY_OK
               ? 0
               : cli_fail_file(path, &err);
}

int cli_token_read(char **token, const char *path)
{
    hsy_error err = {0};

    return keys_token(token, path, &err) == HSY_OK ? 0
                                                   : cli_fail_file(path, &err);
}

int cli_keys_write(const char *name, bool seal)
{
    const char *suffix;
    hsy_error err = {0};
    hsy_status st = keys_write(name, seal, &suffix, &err);

    if (st == HSY_OK)
        return 0;
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (suffix == NULL)
        return cli_fail("%s", err.msg);
    return cli_fail("%s%s: %s", name, suffix,
                    st == HSY_E_IO ? strerror(errno) : err.msg);
}

/* ---- --task FILE:ID: a question ------------------------------------------ */

/* Kind, domain, epsilon and mechanism of a task. */
static int tasks_take(struct cli_spec *c, const hsy_task *task)
{
    const hsy_spec limits = c->spec;
    hsy_error err = {0};
    size_t skip;

    if (hsy_spec_decode(&c->spec, task->scheme, task->labels, task->labels_len,
                        &err) != HSY_OK)
        return cli_fail_error(c->task, &err);
    c->spec.users = limits.users;
    c->spec.max_bits = limits.max_bits;
    c->spec.max_steps = limits.max_steps;
    c->has_epsilon = c->clip = true;
    c->permanent = task->permanent != NULL;
    c->other = task->other != HSY_TASK_CLOSED;
    c->other_place = task->other;
    skip = c->spec.design == HSY_DESIGN_MATRIX
               ? 8 + 8 * (size_t)c->spec.d * c->spec.d
               : 0;
    if (c->spec.kind != HSY_KIND_VALUES || task->labels_len <= skip)
        return 0;
    if (labels_take(&c->labels, task->labels + skip, task->labels_len - skip,
                    &err) != HSY_OK ||
        labels_index(&c->labels, &err) != HSY_OK)
        return cli_fail_error(c->task, &err);
    return 0;
}

/* As many names as a slip of the finger may be looked for in. */
#define TASKS_NAMES 256u

static int tasks_no_such(const struct task_file *t, const char *id)
{
    const char *names[TASKS_NAMES + 1] = {NULL};
    char meant[CLI_MEANT];

    for (size_t i = 0; i < t->n && i < TASKS_NAMES; i++)
        names[i] = t->all[i].id;
    return cli_fail(
        "--task: no task '%s'%s", id,
        cli_meant(meant, id, names, "; 'hearsay tasks show' lists them"));
}

int cli_tasks_find(struct task_file *t, size_t *at, const char *where,
                   struct cli_parser *p)
{
    const char *colon = strrchr(where, ':');
    char *path;
    int failed;

    if (colon == NULL || colon == where || colon[1] == '\0')
        return cli_usage(p, "--task takes FILE:ID, e.g. tasks.yaml:browser");
    path = strndup(where, (size_t)(colon - where));
    if (path == NULL)
        return cli_fail_nomem();
    failed = cli_tasks_open(t, path, false);
    free(path);
    *at = failed ? 0 : task_file_find(t, colon + 1);
    return failed || *at < t->n ? failed : tasks_no_such(t, colon + 1);
}

int cli_tasks_spec(struct cli_spec *c, struct cli_parser *p)
{
    size_t at = 0;
    int failed;

    c->tasks = calloc(1, sizeof *c->tasks);
    if (c->tasks == NULL)
        return cli_fail_nomem();
    failed = cli_tasks_find(c->tasks, &at, c->task, p);
    return failed ? failed : tasks_take(c, &c->tasks->all[at]);
}
