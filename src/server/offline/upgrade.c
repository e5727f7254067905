/*
 * upgrade.c - an upgrade to another program, rehearsed on a copy.
 *
 * This program reads the copy, then the other one, which may change its
 * version, then this one again: whether the other reads all that there is,
 * finds the same counts, and whether there is a way back.
 */
#define _POSIX_C_SOURCE 200809L /* posix_spawn, strdup */
#include "server/offline/offline.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UPGRADE_SAID ((size_t)16 << 20) /* bytes of what a program says */

extern char **environ;

/* What a program said of the copy. */
struct upgrade_run {
    char *text; /* owned */
    size_t len;
    int code; /* its exit code; -1: it did not end by itself */
};

/* ---- Running ------------------------------------------------------------- */

static bool upgrade_read(struct upgrade_run *r, int from)
{
    r->text = calloc(1, UPGRADE_SAID + 1);
    if (r->text != NULL) {
        const ssize_t n = file_fill(from, r->text, UPGRADE_SAID);

        r->len = n > 0 ? (size_t)n : 0;
    }
    return r->text != NULL;
}

/* 0, or an errno. */
static int upgrade_spawn(pid_t *pid, const char *program, const char *copy,
                         int out, int err)
{
    char *argv[] = {(char *)(uintptr_t)program,
                    (char *)(uintptr_t) "store",
                    (char *)(uintptr_t) "check",
                    (char *)(uintptr_t)copy,
                    (char *)(uintptr_t) "--format",
                    (char *)(uintptr_t) "json",
                    NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);

    if (failed)
        return failed;
    failed = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    if (!failed)
        failed = posix_spawn(pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static hsy_status upgrade_refuse(struct offline_upgraded *out,
                                 enum offline_upgrade what, const char *msg,
                                 hsy_error *err)
{
    out->what = what;
    return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE, msg);
}

static hsy_status upgrade_unrun(struct offline_upgraded *out,
                                const char *program, int reason, hsy_error *err)
{
    out->failed = program;
    out->reason = reason;
    return upgrade_refuse(out, OFFLINE_UPGRADE_RUN, "it cannot be run", err);
}

/* Have a program check the copy. What it complains of goes to standard error,
 * or, if the reason is wanted, to what it said. */
static hsy_status upgrade_run(struct offline_upgraded *out,
                              struct upgrade_run *r, const char *program,
                              bool reason, hsy_error *err)
{
    int pipes[2], failed, status = 0;
    pid_t pid = -1;

    *r = (struct upgrade_run){.code = -1};
    if (pipe(pipes) == -1)
        return upgrade_unrun(out, NULL, errno, err);
    failed = upgrade_spawn(&pid, program, out->copy, pipes[1],
                           reason ? pipes[1] : STDERR_FILENO);
    close(pipes[1]);
    if (!failed && !upgrade_read(r, pipes[0]))
        failed = ENOMEM;
    close(pipes[0]);
    while (pid != -1 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
        continue;
    if (failed)
        return upgrade_unrun(out, program, failed, err);
    if (WIFEXITED(status))
        r->code = WEXITSTATUS(status);
    return HSY_OK;
}

/* ---- Comparing ----------------------------------------------------------- */

/* Whether all that this program says, but for sizes, the other says too; *key
 * is the first that differs. It may say more. */
static bool upgrade_same(const struct upgrade_run *ours,
                         const struct upgrade_run *theirs, char key[64])
{
    json_t *a = json_loadb(ours->text, ours->len, 0, NULL);
    json_t *b = json_loadb(theirs->text, theirs->len, 0, NULL), *value;
    const char *name;
    bool same = a != NULL && json_is_object(b);

    snprintf(key, 64, "%s", same ? "" : "JSON");
    json_object_foreach(a, name, value)
    {
        if (same && strcmp(name, "bytes") != 0 &&
            !json_equal(value, json_object_get(b, name))) {
            snprintf(key, 64, "%s", name);
            same = false;
        }
    }
    json_decref(a);
    json_decref(b);
    return same;
}

/* The length of a name without slashes at its end. */
static int upgrade_stem(const char *name)
{
    size_t n = strlen(name);

    while (n > 1 && name[n - 1] == '/')
        n--;
    return (int)n;
}

/* ---- All of it ----------------------------------------------------------- */

/* Whether this program still reads what the other has read. */
static hsy_status upgrade_back(struct offline_upgraded *out, const char *ours,
                               hsy_error *err)
{
    struct upgrade_run back;
    const hsy_status st = upgrade_run(out, &back, ours, true, err);

    if (st == HSY_OK) {
        out->what = OFFLINE_UPGRADE_SAME;
        out->back = back.code == 0;
        back.text[strcspn(back.text, "\n")] = '\0'; /* the first line */
        out->why = back.text;
        back.text = NULL;
    }
    free(back.text);
    return st;
}

static hsy_status upgrade_on(struct offline_upgraded *out, const char *ours,
                             const char *theirs, hsy_error *err)
{
    struct upgrade_run mine, other = {0};
    hsy_status st = upgrade_run(out, &mine, ours, false, err);

    if (st == HSY_OK && mine.code != 0)
        st = upgrade_refuse(out, OFFLINE_UPGRADE_UNSOUND, "it is not sound",
                            err);
    if (st == HSY_OK)
        st = upgrade_run(out, &other, theirs, false, err);
    if (st == HSY_OK && other.code != 0)
        st = upgrade_refuse(out, OFFLINE_UPGRADE_UNREAD,
                            "the other program cannot read it", err);
    if (st == HSY_OK && !upgrade_same(&mine, &other, out->key))
        st = upgrade_refuse(out, OFFLINE_UPGRADE_OTHER,
                            "the other program reads something else", err);
    if (st == HSY_OK)
        st = upgrade_back(out, ours, err);
    free(mine.text);
    free(other.text);
    return st;
}

static hsy_status upgrade_copy(struct offline_upgraded *out,
                               const char *directory, hsy_error *err)
{
    struct offline o;
    hsy_status st = offline_open(&o, directory, err);

    out->what = OFFLINE_UPGRADE_DATA;
    if (st == HSY_OK) {
        out->what = OFFLINE_UPGRADE_COPY;
        st = o.store->ops->backup(o.store, out->copy, NULL, err);
    }
    offline_close(&o);
    return st;
}

hsy_status offline_upgrade(struct offline_upgraded *out, const char *directory,
                           const char *ours, const char *theirs, hsy_error *err)
{
    const size_t room = strlen(directory) + sizeof ".rehearsal";
    struct stat there;
    hsy_status st;

    *out = (struct offline_upgraded){.what = OFFLINE_UPGRADE_MEMORY};
    out->copy = malloc(room);
    if (out->copy == NULL)
        return host_nomem(err);
    snprintf(out->copy, room, "%.*s.rehearsal", upgrade_stem(directory),
             directory);
    if (lstat(out->copy, &there) == 0)
        return upgrade_refuse(out, OFFLINE_UPGRADE_WAY, "it is in the way",
                              err);
    st = upgrade_copy(out, directory, err);
    if (st != HSY_OK)
        return st;
    st = upgrade_on(out, ours, theirs, err);
    if (!store_remove(out->copy))
        out->unremoved = errno;
    return st;
}

#undef UPGRADE_SAID
