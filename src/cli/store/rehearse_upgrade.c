/*
 * rehearse_upgrade.c - hearsay store check --with PROGRAM: an upgrade,
 * rehearsed.
 *
 * A copy is made beside the data. This program reads it, then the other one,
 * which may change its version, then this one again: whether the other reads
 * all that there is, finds the same counts, and whether there is a way back.
 * The copy is removed; the data stays as it is.
 */
#define _POSIX_C_SOURCE 200809L /* posix_spawn, strndup */
#include "cli/store/internal.h"

#include "host/base/files.h"

#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define REHEARSE_SAID ((size_t)16 << 20) /* bytes of what a program says */

extern char **environ;

/* What a program said of the copy. */
struct rehearse_run {
    char *text; /* owned */
    size_t len;
    int code; /* its exit code; -1: it did not end by itself */
};

/* ---- Running ------------------------------------------------------------- */

static bool rehearse_read(struct rehearse_run *r, int from)
{
    r->text = calloc(1, REHEARSE_SAID + 1);
    if (r->text != NULL) {
        const ssize_t n = file_fill(from, r->text, REHEARSE_SAID);

        r->len = n > 0 ? (size_t)n : 0;
    }
    return r->text != NULL;
}

/* 0, or an errno. */
static int rehearse_spawn(pid_t *pid, const char *program, const char *copy,
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

/* Have a program check the copy. What it complains of goes to standard error,
 * or, if the reason is wanted, to what it said. */
static int rehearse_run(struct rehearse_run *r, const char *program,
                        const char *copy, bool reason)
{
    int pipes[2], failed, status = 0;
    pid_t pid = -1;

    *r = (struct rehearse_run){.code = -1};
    if (pipe(pipes) == -1)
        return cli_fail("%s", strerror(errno));
    failed = rehearse_spawn(&pid, program, copy, pipes[1],
                            reason ? pipes[1] : STDERR_FILENO);
    close(pipes[1]);
    if (!failed && !rehearse_read(r, pipes[0]))
        failed = ENOMEM;
    close(pipes[0]);
    while (pid != -1 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
        continue;
    if (failed)
        return cli_fail("%s: %s", program, strerror(failed));
    if (WIFEXITED(status))
        r->code = WEXITSTATUS(status);
    return 0;
}

/* ---- Comparing ----------------------------------------------------------- */

/* Whether all that this program says, but for sizes, the other says too; *key
 * is the first that differs. It may say more. */
static bool rehearse_same(const struct rehearse_run *ours,
                          const struct rehearse_run *theirs, char key[64])
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

/* The first line of what was said, without its end. */
static const char *rehearse_line(struct rehearse_run *r)
{
    r->text[strcspn(r->text, "\n")] = '\0';
    return r->text;
}

/* The length of a name without slashes at its end. */
static int rehearse_stem(const char *name)
{
    size_t n = strlen(name);

    while (n > 1 && name[n - 1] == '/')
        n--;
    return (int)n;
}

/* ---- All of it ----------------------------------------------------------- */

static int rehearse_on(const struct store_how *how, const char *copy)
{
    struct rehearse_run ours, theirs = {0}, back = {0};
    char key[64];
    int failed = rehearse_run(&ours, "/proc/self/exe", copy, false);

    if (!failed && ours.code != 0)
        failed = cli_fail("%s: it is not sound", how->words[1]);
    if (!failed)
        failed = rehearse_run(&theirs, how->with, copy, false);
    if (!failed && theirs.code != 0)
        failed = cli_fail("%s: it cannot read the data of %s", how->with,
                          how->words[1]);
    if (!failed && !rehearse_same(&ours, &theirs, key))
        failed = cli_fail("%s: it reads other data than this program: %s",
                          how->with, key);
    if (!failed)
        failed = rehearse_run(&back, "/proc/self/exe", copy, true);
    if (!failed) {
        printf("%s: reads all of it, and finds the same\n", how->with);
        if (back.code == 0)
            printf("back to this program: yes\n");
        else
            printf(
                "back to this program: only with a backup from before (%s)\n",
                rehearse_line(&back));
    }
    free(ours.text);
    free(theirs.text);
    free(back.text);
    return failed;
}

static int rehearse_copy(const struct store_how *how, const char *copy)
{
    struct store_data d;
    hsy_error err = {0};
    int failed = store_open(&d, how->words[1]);

    if (!failed && d.store->ops->backup(d.store, copy, NULL, &err) != HSY_OK)
        failed = store_complain(copy, &err);
    store_shut(&d);
    return failed;
}

int store_rehearse(const struct store_how *how)
{
    const size_t room = strlen(how->words[1]) + sizeof ".rehearsal";
    char *copy = malloc(room);
    struct stat there;
    int failed;

    if (copy == NULL)
        return cli_fail_nomem();
    snprintf(copy, room, "%.*s.rehearsal", rehearse_stem(how->words[1]),
             how->words[1]);
    failed = lstat(copy, &there) == 0 ? cli_fail("%s: it is in the way", copy)
                                      : rehearse_copy(how, copy);
    if (!failed) {
        failed = rehearse_on(how, copy);
        if (!store_remove(copy))
            failed =
                cli_fail("%s: it cannot be removed: %s", copy, strerror(errno));
    }
    free(copy);
    return failed ? failed : cli_finish();
}
