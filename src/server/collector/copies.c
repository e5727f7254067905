/* copies.c - backups by hand and by the clock. */
#define _GNU_SOURCE /* strdup, signals of a thread, flock */
#include "server/collector/copies.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/base/json.h"
#include "host/base/steady.h"
#include "host/base/threads.h"
#include "server/collector/estimator/estimator.h"
#include "server/store/admin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COPIES_TRIES 1000u /* names of a day */
#define COPIES_HOUR 3600u
#define COPIES_AGAIN 600u /* seconds after one that failed */
#define COPIES_MARK "-scheduled"
#define COPIES_DRAFT ".draft"

struct copies {
    struct collector *c;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop; /* lock */
};

static const char *copies_where(const struct collector *c)
{
    return c->config.backups != NULL ? c->config.backups : c->config.data;
}

hsy_status copies_hold(int *fd, const struct collector *c, hsy_error *err)
{
    *fd = open(copies_where(c), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd == -1)
        return host_fail(err, HSY_E_IO, HOST_FIELD_BACKUPS,
                         "it cannot be opened");
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return HSY_OK;
    return errno == EWOULDBLOCK
               ? host_fail(err, HSY_E_REFUSED, HOST_FIELD_BACKUPS,
                           "another collector keeps its backups here: give "
                           "each a directory of its own")
               : host_fail(err, HSY_E_IO, HOST_FIELD_BACKUPS,
                           "it cannot be locked");
}

/* ---- Names --------------------------------------------------------------- */

/* Past a text if it begins with this one, else NULL. */
static const char *copies_past(const char *text, const char *this)
{
    const size_t len = strlen(this);

    return strncmp(text, this, len) == 0 ? text + len : NULL;
}

/* Past -2 to -1000; the text itself if there is none. */
static const char *copies_past_number(const char *text)
{
    const size_t n = *text == '-' ? strspn(text + 1, "0123456789") : 0;
    const bool good = n >= 1 && n <= 4 && text[1] != '0';
    const unsigned long i = good ? strtoul(text + 1, NULL, 10) : 0;

    return i >= 2 && i <= COPIES_TRIES ? text + 1 + n : text;
}

/* What follows a name as copies_free_name makes them; NULL: it is none. */
static const char *copies_rest(const char *name, bool *scheduled)
{
    static const char day[] = "0000-00-00";
    const char *at = copies_past(name, "backup-"), *more;

    for (size_t i = 0; at != NULL && i < sizeof day - 1; i++, at++)
        if (day[i] == '-' ? *at != '-' : *at < '0' || *at > '9')
            return NULL;
    if (at == NULL)
        return NULL;
    more = copies_past(at, COPIES_MARK);
    *scheduled = more != NULL;
    return copies_past_number(more != NULL ? more : at);
}

/* One that was not finished. What only looks like it is somebody else's. */
static bool copies_draft(const char *name)
{
    bool scheduled;
    const char *rest = copies_rest(name, &scheduled);

    return rest != NULL && strcmp(rest, COPIES_DRAFT) == 0;
}

/* A whole one of the schedule. */
static bool copies_ours(const char *name)
{
    bool scheduled = false;
    const char *rest = copies_rest(name, &scheduled);

    return rest != NULL && scheduled && *rest == '\0';
}

/* ---- One ----------------------------------------------------------------- */

/* A name that is not taken. False if there is none. */
static bool copies_free_name(char path[COPIES_PATH], struct collector *c,
                             bool scheduled)
{
    struct engine_status status;
    char day[DAY_TEXT];

    engine_status(c->engine, &status);
    day_text(day, status.day);
    for (unsigned i = 1; i <= COPIES_TRIES; i++) {
        char more[16] = "";

        if (i > 1)
            snprintf(more, sizeof more, "-%u", i);
        if (snprintf(path, COPIES_PATH, "%s/backup-%s%s%s", copies_where(c),
                     day, scheduled ? COPIES_MARK : "",
                     more) >= (int)COPIES_PATH)
            return false;
        if (access(path, F_OK) == -1 && errno == ENOENT)
            return true;
    }
    return false;
}

/* A backup is files in one directory, whatever kinds of them, and runs. */
static bool copies_remove(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        char path[COPIES_PATH];

        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) <
                (int)sizeof path)
            unlink(path);
    }
    if (d != NULL)
        closedir(d);
    store_remove_runs(directory);
    return rmdir(directory) == 0;
}

/* What stands beside the store. */
static hsy_status copies_beside(void *ctx, const char *directory,
                                hsy_error *err)
{
    const struct collector *c = ctx;
    struct shown *shown = history_shown(c->history);
    hsy_status st =
        shown != NULL ? shown_backup(shown, directory, err) : HSY_OK;

    return st == HSY_OK ? tokens_backup(c->tokens, directory, err) : st;
}

/* All of it or nothing. No generation is made meanwhile: one that is newer than
 * the tallies of its backup could not go on. */
static hsy_status copies_all(struct collector *c, const char *path,
                             hsy_error *err)
{
    const struct store_beside beside = {copies_beside, c};
    struct shown *shown = history_shown(c->history);
    hsy_status st;

    shown_pause(shown, true);
    st = c->counting->ops->backup(c->counting, path, &beside, err);
    shown_pause(shown, false);
    return st;
}

/* What was begun and not finished, by a process that was killed, while nobody
 * makes one: the directory is held. What is not of a backup stays. */
static void copies_sweep(const struct collector *c)
{
    DIR *d = opendir(copies_where(c));
    struct dirent *e;
    unsigned removed = 0;

    while (d != NULL && (e = readdir(d)) != NULL) {
        char path[COPIES_PATH];

        if (copies_draft(e->d_name) &&
            snprintf(path, sizeof path, "%s/%s", copies_where(c), e->d_name) <
                (int)sizeof path)
            removed += store_remove(path);
    }
    if (d != NULL)
        closedir(d);
    if (removed != 0)
        log_event(c->log, LOG_NOTE, "backup-unfinished", "removed=%u", removed);
}

hsy_status copies_make(struct collector *c, bool scheduled,
                       char path[COPIES_PATH], hsy_error *err)
{
    hsy_status st;

    if (config_many(&c->config)) /* there is nothing here to be copied */
        return c->counting->ops->backup(c->counting, NULL, NULL, err);
    pthread_mutex_lock(&c->copying);
    copies_sweep(c);
    st = copies_free_name(path, c, scheduled)
             ? copies_all(c, path, err)
             : host_fail(err, HSY_E_REFUSED, HOST_FIELD_BACKUP,
                         "move earlier backups of this day away first");
    pthread_mutex_unlock(&c->copying);
    if (st == HSY_OK)
        log_event(c->log, LOG_NOTE, "backup", "done=%u scheduled=%s", 1u,
                  scheduled ? "yes" : "no");
    else
        log_failure(c->log, "backup", err);
    return st;
}

/* ---- Those there are ----------------------------------------------------- */

/* A backup of the schedule. */
struct copies_one {
    char *path; /* owned */
    struct timespec made;
};

struct copies_list {
    struct copies_one *all; /* owned; the latest first */
    size_t n;
};

static void copies_free(struct copies_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->all[i].path);
    free(list->all);
    *list = (struct copies_list){NULL, 0};
}

static int copies_order(const void *a, const void *b)
{
    const struct copies_one *x = a, *y = b;

    if (x->made.tv_sec != y->made.tv_sec)
        return x->made.tv_sec > y->made.tv_sec ? -1 : 1;
    if (x->made.tv_nsec != y->made.tv_nsec)
        return x->made.tv_nsec > y->made.tv_nsec ? -1 : 1;
    return strcmp(y->path, x->path);
}

static bool copies_add(struct copies_list *list, const char *path)
{
    struct stat is;

    if (lstat(path, &is) == -1 || !S_ISDIR(is.st_mode))
        return true;
    if (!grow_to(&list->all, list->n + 1, sizeof *list->all))
        return false;
    list->all[list->n] = (struct copies_one){strdup(path), is.st_mtim};
    return list->all[list->n++].path != NULL;
}

/* False: the directory cannot be read, or there is no memory. */
static bool copies_find(struct copies_list *list, const char *where)
{
    DIR *d = opendir(where);
    struct dirent *e;
    bool good = d != NULL;

    *list = (struct copies_list){NULL, 0};
    while (good && (e = readdir(d)) != NULL) {
        char path[COPIES_PATH];

        if (copies_ours(e->d_name) &&
            snprintf(path, sizeof path, "%s/%s", where, e->d_name) <
                (int)sizeof path)
            good = copies_add(list, path);
    }
    if (d != NULL)
        closedir(d);
    if (good && list->n > 1)
        qsort(list->all, list->n, sizeof *list->all, copies_order);
    if (!good)
        copies_free(list);
    return good;
}

static void copies_prune(struct collector *c)
{
    struct copies_list list;
    unsigned removed = 0, left = 0;

    if (!copies_find(&list, copies_where(c)))
        return;
    for (size_t i = (size_t)c->config.backup_keep; i < list.n; i++) {
        const bool gone = copies_remove(list.all[i].path);

        removed += gone;
        left += !gone;
    }
    copies_free(&list);
    if (removed != 0 || left != 0)
        log_event(c->log, left != 0 ? LOG_ERROR : LOG_NOTE, "backup-pruned",
                  "removed=%u left=%u", removed, left);
}

/* ---- The schedule -------------------------------------------------------- */

/* Seconds until the next is due, by when the last was made: a restart changes
 * nothing. A clock that went back does not put it off for more than that. */
static uint64_t copies_due(struct collector *c)
{
    const uint64_t every = c->config.backup_hours * COPIES_HOUR;
    const time_t now = time(NULL);
    struct copies_list list;
    uint64_t since = every;

    if (copies_find(&list, copies_where(c)) && list.n != 0)
        since = now > list.all[0].made.tv_sec
                    ? (uint64_t)(now - list.all[0].made.tv_sec)
                    : 0;
    copies_free(&list);
    return since >= every ? 0 : every - since;
}

/* With the lock: until so many seconds have passed, or the end. */
static void copies_wait(struct copies *s, uint64_t seconds)
{
    const struct timespec until = steady_after(seconds * STEADY_SECOND);

    while (!s->stop &&
           pthread_cond_timedwait(&s->wake, &s->lock, &until) != ETIMEDOUT)
        continue;
}

static void *copies_work(void *ctx)
{
    struct copies *s = ctx;

    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        const uint64_t due = copies_due(s->c);
        char path[COPIES_PATH];
        hsy_error err = {0};

        if (due != 0) { /* looked at again every hour: clocks are set */
            copies_wait(s, due < COPIES_HOUR ? due : COPIES_HOUR);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        if (copies_make(s->c, true, path, &err) == HSY_OK)
            copies_prune(s->c);
        pthread_mutex_lock(&s->lock);
        if (err.status != HSY_OK)
            copies_wait(s, COPIES_AGAIN);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void copies_free_schedule(struct copies *s)
{
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

hsy_status copies_start(struct copies **out, struct collector *c,
                        hsy_error *err)
{
    struct copies *s;

    *out = NULL;
    copies_sweep(c); /* before anybody can ask for one */
    if (c->config.backup_hours == 0)
        return HSY_OK;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return host_nomem(err);
    s->c = c;
    pthread_mutex_init(&s->lock, NULL);
    if (!thread_condition(&s->wake) ||
        !thread_start(&s->thread, copies_work, s)) {
        copies_free_schedule(s);
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE,
                         "no threads to be had");
    }
    *out = s;
    return HSY_OK;
}

void copies_stop(struct copies *s)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    copies_free_schedule(s);
}
