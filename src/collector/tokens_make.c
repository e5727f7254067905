/*
 * tokens_make.c - `hearsay serve token`: making, listing and revoking.
 *
 * Works beside a running collector, which notices the new files. One at a time
 * makes changes: whoever has the lock of `tokens.lock`.
 */
#define _GNU_SOURCE

#include "tokens_files.h"

#include "hostfail.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAKE_BYTES 32u /* of a token */

/* The data directory and its lock. */
struct make_place {
    int dir, lock;
};

static void make_leave(struct make_place *p)
{
    if (p->lock != -1)
        close(p->lock);
    if (p->dir != -1)
        close(p->dir);
}

static hsy_status make_enter(struct make_place *p, const char *data,
                             bool create, hsy_error *err)
{
    *p = (struct make_place){-1, -1};
    if (sodium_init() == -1)
        return host_fail(err, HSY_E_ENTROPY, NULL, "the random source failed");
    p->dir = tokens_directory(data, create);
    if (p->dir == -1)
        return host_fail(err, errno == ENOENT ? HSY_E_EMPTY : HSY_E_IO, NULL,
                         "the data directory cannot be opened");
    p->lock =
        openat(p->dir, "tokens.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
               S_IRUSR | S_IWUSR);
    if (p->lock == -1 || !tokens_give(p->dir, "tokens.lock") ||
        flock(p->lock, LOCK_EX) == -1) {
        make_leave(p);
        return host_fail(err, HSY_E_IO, NULL,
                         "the lock of the tokens cannot be taken");
    }
    return HSY_OK;
}

static void make_token(char token[TOKENS_TEXT])
{
    uint8_t bytes[MAKE_BYTES];

    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2base64(token, TOKENS_TEXT, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
}

/* The place of a name, people->n if there is none. */
static size_t make_find(const struct tokens_people *people, const char *name)
{
    size_t i = 0;

    while (i < people->n && strcmp(people->all[i].name, name) != 0)
        i++;
    return i;
}

/* ---- Roles --------------------------------------------------------------- */

static hsy_status make_add(int dir, const struct tokens_people *old,
                           const char *name, enum listen_role role,
                           const char *token, hsy_error *err)
{
    struct tokens_people grown = {.n = old->n + 1};
    struct tokens_person *p;
    hsy_status st;

    if (make_find(old, name) < old->n)
        return host_fail(err, HSY_E_REFUSED, "name",
                         "there is a token of this name; revoke it first, or "
                         "take another name");
    if (grown.n > TOKENS_MAX)
        return host_fail(err, HSY_E_FULL, NULL, "there are 1000 tokens");
    grown.all = calloc(grown.n, sizeof *grown.all);
    if (grown.all == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    if (old->n != 0)
        memcpy(grown.all, old->all, old->n * sizeof *grown.all);
    p = &grown.all[old->n];
    snprintf(p->name, sizeof p->name, "%s", name);
    p->role = role;
    tokens_hash(p->hash, token);
    st = tokens_people_write(dir, &grown, err);
    free(grown.all);
    return st;
}

hsy_status tokens_add(const char *data, const char *name, enum listen_role role,
                      char token[TOKENS_TEXT], hsy_error *err)
{
    struct tokens_people people = {NULL, 0};
    struct make_place place;
    hsy_status st;

    if (!tokens_name_fits(name))
        return host_fail(err, HSY_E_RANGE, "name",
                         "a name is 1 to 32 letters, digits, '.', '_' and "
                         "'-', and begins with a letter or a digit");
    st = make_enter(&place, data, true, err);
    if (st != HSY_OK)
        return st;
    st = tokens_people_read(place.dir, &people, err);
    if (st == HSY_OK) {
        make_token(token);
        st = make_add(place.dir, &people, name, role, token, err);
    }
    free(people.all);
    make_leave(&place);
    if (st != HSY_OK)
        sodium_memzero(token, TOKENS_TEXT);
    return st;
}

hsy_status tokens_revoke(const char *data, const char *name, hsy_error *err)
{
    struct tokens_people people = {NULL, 0};
    struct make_place place;
    hsy_status st = make_enter(&place, data, false, err);
    size_t at;

    if (st != HSY_OK)
        return st;
    st = tokens_people_read(place.dir, &people, err);
    at = make_find(&people, name);
    if (st == HSY_OK && at == people.n)
        st = host_fail(err, HSY_E_UNKNOWN, "name",
                       "there is no token of this name; 'hearsay serve token "
                       "list' has them");
    if (st == HSY_OK) {
        people.n--;
        memmove(people.all + at, people.all + at + 1,
                (people.n - at) * sizeof *people.all);
        st = tokens_people_write(place.dir, &people, err);
    }
    free(people.all);
    make_leave(&place);
    return st;
}

hsy_status tokens_each(const char *data,
                       hsy_status (*each)(void *ctx, const char *name,
                                          enum listen_role role),
                       void *ctx, hsy_error *err)
{
    struct tokens_people people = {NULL, 0};
    int dir = tokens_directory(data, false);
    hsy_status st;

    if (dir == -1)
        return host_fail(err, errno == ENOENT ? HSY_E_EMPTY : HSY_E_IO, NULL,
                         "the data directory cannot be opened");
    st = tokens_people_read(dir, &people, err);
    for (size_t i = 0; st == HSY_OK && i < people.n; i++)
        st = each(ctx, people.all[i].name, people.all[i].role);
    free(people.all);
    close(dir);
    return st;
}

/* ---- Enrolment ----------------------------------------------------------- */

#define MAKE_ONCE 1000000u /* tokens made in one call */

static int make_order(const void *a, const void *b)
{
    return memcmp(a, b, TOKENS_SHORT);
}

/* Make n tokens and add their hashes to the list. */
static hsy_status make_hashes(struct tokens_list *list,
                              char (*tokens)[TOKENS_TEXT], uint64_t n,
                              hsy_error *err)
{
    uint8_t *grown = realloc(list->hashes, (list->n + n) * TOKENS_SHORT);

    if (grown == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    list->hashes = grown;
    for (uint64_t i = 0; i < n; i++) {
        make_token(tokens[i]);
        tokens_hash_short(grown + (list->n + i) * TOKENS_SHORT, list->task,
                          tokens[i]);
    }
    list->n += n;
    qsort(list->hashes, list->n, TOKENS_SHORT, make_order);
    return HSY_OK;
}

static hsy_status make_enrol(int dir, const char *task, uint32_t quota,
                             char (*tokens)[TOKENS_TEXT], uint64_t n,
                             hsy_error *err)
{
    struct tokens_list list;
    hsy_status st = tokens_list_read(dir, task, &list, err);

    if (st == HSY_OK && n > TOKENS_ENROLLED_MAX - list.n)
        st = host_fail(err, HSY_E_FULL, "count",
                       "a task has at most 50 million tokens");
    if (st == HSY_OK)
        st = make_hashes(&list, tokens, n, err);
    list.quota = quota;
    if (st == HSY_OK)
        st = tokens_list_write(dir, &list, err);
    free(list.hashes);
    return st;
}

static hsy_status make_check(const char *task, uint32_t quota, uint64_t n,
                             hsy_error *err)
{
    if (strcmp(task, TOKENS_FORWARDERS) != 0 &&
        (strspn(task, "abcdefghijklmnopqrstuvwxyz0123456789._-") !=
             strlen(task) ||
         !tokens_name_fits(task)))
        return host_fail(err, HSY_E_RANGE, "task",
                         "this is no id of a task that can be enrolled for: 1 "
                         "to 32 of a-z, 0-9, '.', '_', '-', beginning with a "
                         "letter or a digit");
    if (quota == 0)
        return host_fail(err, HSY_E_RANGE, "quota", "a quota is at least 1");
    if (n == 0 || n > MAKE_ONCE)
        return host_fail(err, HSY_E_RANGE, "count",
                         "1 to 1000000 tokens at a time");
    return HSY_OK;
}

hsy_status tokens_enrol(const char *data, const char *task, uint32_t quota,
                        uint64_t n,
                        hsy_status (*each)(void *ctx, const char *token),
                        void *ctx, hsy_error *err)
{
    hsy_status st = make_check(task, quota, n, err);
    char(*tokens)[TOKENS_TEXT];
    struct make_place place;

    if (st == HSY_OK)
        st = make_enter(&place, data, true, err);
    if (st != HSY_OK)
        return st;
    tokens = calloc(n, sizeof *tokens);
    st = tokens == NULL ? host_fail(err, HSY_E_NOMEM, NULL, "out of memory")
                        : make_enrol(place.dir, task, quota, tokens, n, err);
    make_leave(&place);
    for (uint64_t i = 0; st == HSY_OK && i < n; i++)
        st = each(ctx, tokens[i]);
    if (tokens != NULL)
        sodium_memzero(tokens, n * sizeof *tokens);
    free(tokens);
    return st;
}
