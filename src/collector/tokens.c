/*
 * tokens.c - tokens as a running collector asks for them.
 *
 * All files are read into one set that does not change; a new one takes its
 * place. What was presented is hashed first. Roles: the hash is compared with
 * every one that is kept, each in constant time. Enrolment: it is looked up by
 * halving; how long that takes tells of the hash, which without the token
 * nobody knows, and nothing of the token.
 */
#define _GNU_SOURCE

#include "tokens_files.h"

#include "hostfail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a file was when it was read. */
struct tokens_stamp {
    bool settled; /* a later change would show in the rest */
    bool there;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct tokens_set {
    struct tokens_people people;
    struct tokens_list *lists; /* owned, ascending by task */
    size_t nlists;
};

struct tokens {
    int dir;
    pthread_rwlock_t lock; /* of set and wanted */
    struct tokens_set set;
    char **wanted; /* owned, ended by NULL; NULL: none */
    struct tokens_stamp people, lists;
};

static void tokens_clear(struct tokens_set *set)
{
    for (size_t i = 0; i < set->nlists; i++)
        free(set->lists[i].hashes);
    free(set->lists);
    free(set->people.all);
    *set = (struct tokens_set){.nlists = 0};
}

/* ---- Reading ------------------------------------------------------------- */

/* A change within the clock's grain would not show: what is as young as that
 * is read again the next time. */
static struct tokens_stamp tokens_look(int dir, const char *path)
{
    struct tokens_stamp now = {.there = false};
    struct timespec clock;
    struct stat s;

    now.there = fstatat(dir, path, &s, AT_SYMLINK_NOFOLLOW) == 0;
    now.settled = true;
    if (!now.there)
        return now;
    now.inode = s.st_ino;
    now.size = s.st_size;
    now.changed = s.st_ctim;
    now.settled = clock_gettime(CLOCK_REALTIME, &clock) == 0 &&
                  clock.tv_sec > s.st_ctim.tv_sec + 1;
    return now;
}

static bool tokens_same(const struct tokens_stamp *a,
                        const struct tokens_stamp *b)
{
    return a->settled && a->there == b->there && a->inode == b->inode &&
           a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static int tokens_order(const void *a, const void *b)
{
    const struct tokens_list *x = a, *y = b;

    return strcmp(x->task, y->task);
}

static hsy_status tokens_read_one(int dir, struct tokens_set *set,
                                  const char *task, hsy_error *err)
{
    struct tokens_list *grown =
        realloc(set->lists, (set->nlists + 1) * sizeof *grown);

    if (grown == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    set->lists = grown;
    return tokens_list_read(dir, task, &grown[set->nlists++], err);
}

/* Every list in `enrolled`. */
static hsy_status tokens_read_lists(int dir, struct tokens_set *set,
                                    hsy_error *err)
{
    int fd = openat(dir, "enrolled", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = fd != -1 ? fdopendir(fd) : NULL;
    hsy_status st = HSY_OK;
    const struct dirent *e;

    if (all == NULL) {
        if (fd != -1)
            close(fd);
        return fd == -1 && errno == ENOENT
                   ? HSY_OK
                   : host_fail(err, HSY_E_IO, NULL,
                               "the enrolment tokens cannot be read");
    }
    while (st == HSY_OK && (e = readdir(all)) != NULL)
        if (tokens_name_fits(e->d_name))
            st = tokens_read_one(dir, set, e->d_name, err);
    closedir(all);
    if (st == HSY_OK && set->nlists > 1)
        qsort(set->lists, set->nlists, sizeof set->lists[0], tokens_order);
    return st;
}

hsy_status tokens_refresh(struct tokens *t, bool *changed, hsy_error *err)
{
    struct tokens_stamp people = tokens_look(t->dir, "tokens");
    struct tokens_stamp lists = tokens_look(t->dir, "enrolled");
    struct tokens_set set = {.nlists = 0}, old;
    hsy_status st;

    if (changed != NULL)
        *changed = false;
    if (tokens_same(&t->people, &people) && tokens_same(&t->lists, &lists))
        return HSY_OK;
    if (changed != NULL)
        *changed = t->people.inode != people.inode ||
                   t->people.there != people.there ||
                   t->lists.changed.tv_sec != lists.changed.tv_sec ||
                   t->lists.changed.tv_nsec != lists.changed.tv_nsec;
    t->people = people;
    t->lists = lists;
    st = tokens_people_read(t->dir, &set.people, err);
    if (st == HSY_OK)
        st = tokens_read_lists(t->dir, &set, err);
    if (st != HSY_OK) {
        if (st == HSY_E_IO || st == HSY_E_NOMEM)
            t->people.settled = false; /* the next time it may be possible */
        tokens_clear(&set);
        return st;
    }
    pthread_rwlock_wrlock(&t->lock);
    old = t->set;
    t->set = set;
    pthread_rwlock_unlock(&t->lock);
    tokens_clear(&old);
    return HSY_OK;
}

/* ---- A set of tokens ----------------------------------------------------- */

hsy_status tokens_open(struct tokens **out, const char *data, hsy_error *err)
{
    struct tokens *t = calloc(1, sizeof *t);
    hsy_status st;

    if (t == NULL || sodium_init() == -1) {
        free(t);
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    }
    pthread_rwlock_init(&t->lock, NULL);
    t->dir = tokens_directory(data, false);
    st = t->dir == -1 ? host_fail(err, HSY_E_IO, NULL,
                                  "the data directory cannot be read")
                      : tokens_refresh(t, NULL, err);
    if (st != HSY_OK) {
        tokens_close(t);
        return st;
    }
    *out = t;
    return HSY_OK;
}

static void tokens_forget_wanted(char **wanted)
{
    for (size_t i = 0; wanted != NULL && wanted[i] != NULL; i++)
        free(wanted[i]);
    free(wanted);
}

void tokens_close(struct tokens *t)
{
    if (t == NULL)
        return;
    tokens_clear(&t->set);
    tokens_forget_wanted(t->wanted);
    if (t->dir != -1)
        close(t->dir);
    pthread_rwlock_destroy(&t->lock);
    free(t);
}

hsy_status tokens_want(struct tokens *t, char *const *tasks, hsy_error *err)
{
    char **copy, **old;
    size_t n = 0;

    while (tasks != NULL && tasks[n] != NULL)
        n++;
    copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++)
        if ((copy[i] = strdup(tasks[i])) == NULL) {
            tokens_forget_wanted(copy);
            copy = NULL;
        }
    if (copy == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    pthread_rwlock_wrlock(&t->lock);
    old = t->wanted;
    t->wanted = copy;
    pthread_rwlock_unlock(&t->lock);
    tokens_forget_wanted(old);
    return HSY_OK;
}

enum listen_role tokens_role(struct tokens *t, const char *token)
{
    enum listen_role role = LISTEN_ANYONE;
    uint8_t hash[TOKENS_HASH];

    tokens_hash(hash, token);
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->set.people.n; i++) {
        const struct tokens_person *p = &t->set.people.all[i];

        if (sodium_memcmp(hash, p->hash, sizeof hash) == 0)
            role = p->role;
    }
    pthread_rwlock_unlock(&t->lock);
    sodium_memzero(hash, sizeof hash);
    return role;
}

bool tokens_any(struct tokens *t)
{
    bool any;

    pthread_rwlock_rdlock(&t->lock);
    any = t->set.people.n != 0;
    pthread_rwlock_unlock(&t->lock);
    return any;
}

/* The list of a task, NULL if it has none. The lock is held. */
static const struct tokens_list *tokens_find(const struct tokens *t,
                                             const char *task)
{
    struct tokens_list key = {.quota = 0};

    if (t->set.nlists == 0 || strlen(task) > HSY_TASK_ID)
        return NULL;
    snprintf(key.task, sizeof key.task, "%s", task);
    return bsearch(&key, t->set.lists, t->set.nlists, sizeof key, tokens_order);
}

static bool tokens_wanted(const struct tokens *t, const char *task)
{
    for (size_t i = 0; t->wanted != NULL && t->wanted[i] != NULL; i++)
        if (strcmp(t->wanted[i], task) == 0)
            return true;
    return false;
}

static int tokens_order_hashes(const void *a, const void *b)
{
    return memcmp(a, b, TOKENS_SHORT);
}

bool tokens_task(struct tokens *t, size_t i, char task[HSY_TASK_ID + 1])
{
    const struct tokens_list *forwarders; /* have no task */
    bool found;

    pthread_rwlock_rdlock(&t->lock);
    forwarders = tokens_find(t, TOKENS_FORWARDERS);
    i += forwarders != NULL && t->set.lists + i >= forwarders;
    found = i < t->set.nlists;
    if (found)
        snprintf(task, HSY_TASK_ID + 1, "%s", t->set.lists[i].task);
    pthread_rwlock_unlock(&t->lock);
    return found;
}

/* Whether a token (NULL: none) is in a list. The lock is held. */
static bool tokens_among(const struct tokens *t, const char *task,
                         const char *token, uint8_t hash[16], uint32_t *quota)
{
    const struct tokens_list *list = tokens_find(t, task);

    if (list == NULL || token == NULL)
        return false;
    tokens_hash_short(hash, task, token);
    *quota = list->quota;
    return bsearch(hash, list->hashes, list->n, TOKENS_SHORT,
                   tokens_order_hashes) != NULL;
}

enum tokens_entry tokens_enrolled(struct tokens *t, const char *task,
                                  const char *token, uint8_t hash[16],
                                  uint32_t *quota)
{
    enum tokens_entry entry = TOKENS_BAD;

    pthread_rwlock_rdlock(&t->lock);
    if (tokens_among(t, TOKENS_FORWARDERS, token, hash, quota))
        entry = TOKENS_FORWARDER;
    else if (tokens_find(t, task) == NULL)
        entry = tokens_wanted(t, task) ? TOKENS_BAD : TOKENS_OPEN;
    else if (tokens_among(t, task, token, hash, quota))
        entry = TOKENS_GOOD;
    pthread_rwlock_unlock(&t->lock);
    return entry;
}
