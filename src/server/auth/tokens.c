/*
 * tokens.c - tokens as a running collector asks for them.
 *
 * What is kept is read into one set that does not change; a new one takes its
 * place. What was presented is hashed first. Roles: the hash is compared with
 * every one that is kept, each in constant time. Enrolment: it is looked up by
 * halving; how long that takes tells of the hash, which without the token
 * nobody knows, and nothing of the token.
 */
#define _GNU_SOURCE

#include "server/auth/tokens_keep.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tokens {
    pthread_mutex_t using;    /* the keep */
    struct tokens_keep *keep; /* owned */
    int64_t version;          /* of what was read; -1: nothing */
    bool stale;               /* what is there could not be read; */
    bool said;                /* and that was said */
    pthread_rwlock_t lock;    /* of set, wanted and day */
    struct tokens_set set;
    char **wanted; /* owned, ended by NULL; NULL: none */
    uint32_t day;  /* today; 0: nobody said */
};

/* ---- Names and hashes ---------------------------------------------------- */

const char *const tokens_roles[] = {"anyone", "scraper", "analyst", "operator",
                                    NULL};

bool tokens_name_fits(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    return len >= 1 && len <= TOKENS_NAME && strspn(name, letters) == len &&
           strchr("._-", name[0]) == NULL;
}

/* A token has 256 random bits, so its hash needs no salt and no delay; the key
 * only keeps one use of a token from being another. */
void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token)
{
    static const uint8_t key[32] = "hearsay collector: token, role";

    crypto_generichash(hash, TOKENS_HASH, (const uint8_t *)token, strlen(token),
                       key, sizeof key);
}

void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token)
{
    static const uint8_t key[32] = "hearsay collector: token, task";
    crypto_generichash_state state;

    crypto_generichash_init(&state, key, sizeof key, TOKENS_SHORT);
    crypto_generichash_update(&state, (const uint8_t *)task, strlen(task) + 1);
    crypto_generichash_update(&state, (const uint8_t *)token, strlen(token));
    crypto_generichash_final(&state, hash, TOKENS_SHORT);
    sodium_memzero(&state, sizeof state);
}

/* ---- Sets ---------------------------------------------------------------- */

static void tokens_list_clear(struct tokens_list *list)
{
    free(list->hashes);
    free(list->expires);
}

bool tokens_list_room(struct tokens_list *list, uint64_t *room)
{
    if (list->n < *room)
        return true;
    *room = 2 * *room + 64;
    return grow_to(&list->hashes, *room, TOKENS_SHORT) &&
           grow_to(&list->expires, *room, sizeof *list->expires);
}

struct tokens_list *tokens_set_list(struct tokens_set *set, const char *task,
                                    uint32_t quota)
{
    struct tokens_list *more;

    if (!grow_to(&set->lists, set->nlists + 1, sizeof *set->lists))
        return NULL;
    more = &set->lists[set->nlists++];
    *more = (struct tokens_list){.quota = quota};
    snprintf(more->task, sizeof more->task, "%s", task);
    return more;
}

static void tokens_clear(struct tokens_set *set)
{
    for (size_t i = 0; i < set->nlists; i++)
        tokens_list_clear(&set->lists[i]);
    free(set->lists);
    free(set->people.all);
    *set = (struct tokens_set){.nlists = 0};
}

/* ---- Reading ------------------------------------------------------------- */

static int tokens_order(const void *a, const void *b)
{
    const struct tokens_list *x = a, *y = b;

    return strcmp(x->task, y->task);
}

/* Read all of it, if it is not what was read. */
static hsy_status tokens_read(struct tokens *t, bool *changed, hsy_error *err)
{
    const struct tokens_keep_functions *ops = t->keep->ops;
    struct tokens_set set = {.nlists = 0}, old;
    int64_t version = 0;
    hsy_status st = ops->version(t->keep, &version, err);

    if (st != HSY_OK || (version == t->version && !t->stale))
        return st;
    st = ops->load(t->keep, &set, &version, err);
    if (st == HSY_OK) {
        pthread_rwlock_wrlock(&t->lock);
        old = t->set;
        t->set = set;
        pthread_rwlock_unlock(&t->lock);
        set = old;
        t->version = version;
        *changed = true;
    }
    tokens_clear(&set);
    return st;
}

hsy_status tokens_refresh(struct tokens *t, bool *changed, hsy_error *err)
{
    bool news = false;
    hsy_status st;

    pthread_mutex_lock(&t->using);
    st = tokens_read(t, &news, err);
    pthread_mutex_unlock(&t->using);
    t->stale = st != HSY_OK;
    if (changed == NULL) {
        t->said = t->stale;
        return st;
    }
    *changed = news;
    if (t->stale && t->said)
        return HSY_OK; /* that was said */
    t->said = t->stale;
    return st;
}

hsy_status tokens_backup(struct tokens *t, const char *directory,
                         hsy_error *err)
{
    hsy_status st;

    pthread_mutex_lock(&t->using);
    st = t->keep->ops->backup(t->keep, directory, err);
    pthread_mutex_unlock(&t->using);
    return st;
}

void tokens_today(struct tokens *t, uint32_t day)
{
    pthread_rwlock_wrlock(&t->lock);
    t->day = day;
    pthread_rwlock_unlock(&t->lock);
}

/* ---- A set of tokens ----------------------------------------------------- */

void tokens_keep_close(struct tokens_keep *k)
{
    if (k != NULL)
        k->ops->close(k);
}

bool tokens_asked_in(const void *bytes, size_t len, const char *task)
{
    hsy_document doc;
    hsy_task is;

    if (bytes == NULL || hsy_document_open(&doc, bytes, len, NULL) != HSY_OK)
        return true;
    for (uint32_t i = 0; i < doc.tasks; i++) {
        hsy_document_task(&doc, &is, i);
        if (strcmp(is.id, task) == 0)
            return true;
    }
    return false;
}

bool tokens_asked(struct tokens_keep *k, const char *task)
{
    return k->ops->asked(k, task);
}

hsy_status tokens_open(struct tokens **out, struct tokens_keep *k,
                       hsy_error *err)
{
    struct tokens *t = calloc(1, sizeof *t);
    bool news = false;
    hsy_status st;

    if (t == NULL || k == NULL || sodium_init() == -1) {
        tokens_keep_close(k);
        free(t);
        return host_nomem(err);
    }
    pthread_rwlock_init(&t->lock, NULL);
    pthread_mutex_init(&t->using, NULL);
    t->keep = k;
    t->version = -1;
    st = tokens_read(t, &news, err);
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
    tokens_keep_close(t->keep);
    pthread_mutex_destroy(&t->using);
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
        return host_nomem(err);
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

/* Whether a token (NULL: none) is in a list, and has not expired. The lock is
 * held. */
static bool tokens_among(const struct tokens *t, const char *task,
                         const char *token, uint8_t hash[16], uint32_t *quota)
{
    const struct tokens_list *list = tokens_find(t, task);
    const uint8_t *found;
    uint32_t last;

    if (list == NULL || token == NULL || list->n == 0)
        return false;
    tokens_hash_short(hash, task, token);
    *quota = list->quota;
    found =
        bsearch(hash, list->hashes, list->n, TOKENS_SHORT, tokens_order_hashes);
    if (found == NULL)
        return false;
    last = list->expires[(size_t)(found - list->hashes) / TOKENS_SHORT];
    return last == 0 || t->day <= last;
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
