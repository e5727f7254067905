/*
 * tokens_make.c - `hearsay serve token`: making, listing and revoking.
 *
 * Works beside running collectors, which notice that something has changed.
 */
#define _GNU_SOURCE

#include "server/auth/tokens_keep.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define MAKE_BYTES 32u     /* of a token */
#define MAKE_ONCE 1000000u /* tokens made in one call */

#define MAKE_PART 4096u /* of which so many are handed on at a time */

static hsy_status tokens_make_enter(struct tokens_keep *k, bool change,
                                    bool create, hsy_error *err)
{
    if (sodium_init() == -1)
        return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                         "the random source failed");
    return k->ops->begin(k, change, create, err);
}

/* Makes a random token that a command line does not take for an option. */
static void tokens_make_token(char token[TOKENS_TEXT])
{
    uint8_t bytes[MAKE_BYTES];

    do {
        randombytes_buf(bytes, sizeof bytes);
        sodium_bin2base64(token, TOKENS_TEXT, bytes, sizeof bytes,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    } while (token[0] == '-');
    sodium_memzero(bytes, sizeof bytes);
}

/* ---- Roles --------------------------------------------------------------- */

/* Within a transaction. */
static hsy_status tokens_make_add(struct tokens_keep *k, const char *name,
                                  enum listen_role role, const char *token,
                                  hsy_error *err)
{
    struct tokens_people people = {NULL, 0};
    struct tokens_person p = {.role = role};
    hsy_status st = k->ops->people(k, &people, err);

    for (size_t i = 0; st == HSY_OK && i < people.n; i++)
        if (strcmp(people.all[i].name, name) == 0)
            st = host_fail(err, HSY_E_REFUSED, HSY_FIELD_NAME,
                           "a token of this name already exists; revoke it "
                           "first, or use another name");
    if (st == HSY_OK && people.n == TOKENS_MAX)
        st =
            host_fail(err, HSY_E_FULL, HSY_FIELD_NONE, "there are 1000 tokens");
    free(people.all);
    if (st != HSY_OK)
        return st;
    snprintf(p.name, sizeof p.name, "%s", name);
    tokens_hash(p.hash, token);
    return k->ops->put_person(k, &p, err);
}

hsy_status tokens_add(struct tokens_keep *k, const char *name,
                      enum listen_role role, char token[TOKENS_TEXT],
                      hsy_error *err)
{
    hsy_status st;

    if (!tokens_name_fits(name))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NAME,
                         "a name is 1 to 32 letters, digits, '.', '_' and "
                         "'-', and begins with a letter or a digit");
    st = tokens_make_enter(k, true, true, err);
    if (st != HSY_OK)
        return st;
    tokens_make_token(token);
    st = k->ops->end(k, tokens_make_add(k, name, role, token, err), err);
    if (st != HSY_OK)
        sodium_memzero(token, TOKENS_TEXT);
    return st;
}

/* What must have changed something. */
static hsy_status tokens_make_some(hsy_status st, uint64_t n, uint32_t field,
                                   const char *none, hsy_error *err)
{
    return st == HSY_OK && n == 0 ? host_fail(err, HSY_E_UNKNOWN, field, none)
                                  : st;
}

hsy_status tokens_revoke(struct tokens_keep *k, const char *name,
                         hsy_error *err)
{
    uint64_t n = 0;
    hsy_status st = tokens_make_enter(k, true, false, err);

    if (st != HSY_OK)
        return st;
    st = k->ops->drop_person(k, name, &n, err);
    st = tokens_make_some(
        st, n, HSY_FIELD_NAME,
        "there is no token of this name; 'hearsay serve token list' has them",
        err);
    return k->ops->end(k, st, err);
}

hsy_status tokens_each(struct tokens_keep *k,
                       hsy_status (*each)(void *ctx, const char *name,
                                          enum listen_role role),
                       void *ctx, hsy_error *err)
{
    struct tokens_people people = {NULL, 0};
    hsy_status st = tokens_make_enter(k, false, false, err);

    if (st != HSY_OK)
        return st;
    st = k->ops->people(k, &people, err);
    for (size_t i = 0; st == HSY_OK && i < people.n; i++)
        st = each(ctx, people.all[i].name, people.all[i].role);
    free(people.all);
    return k->ops->end(k, st, err);
}

/* ---- Enrolment ----------------------------------------------------------- */

static hsy_status tokens_make_room(struct tokens_keep *k, const char *task,
                                   uint64_t n, hsy_error *err)
{
    uint64_t there = 0;
    hsy_status st = k->ops->count(k, task, &there, err);

    if (st == HSY_OK && n > TOKENS_ENROLLED_MAX - there)
        st = host_fail(err, HSY_E_FULL, HSY_FIELD_COUNT,
                       "a task has at most 50 million tokens");
    return st;
}

/* Within a transaction. */
static hsy_status tokens_make_enrol(struct tokens_keep *k, const char *task,
                                    uint32_t quota, char (*tokens)[TOKENS_TEXT],
                                    uint64_t n, uint32_t expires,
                                    hsy_error *err)
{
    uint8_t hashes[MAKE_PART][TOKENS_SHORT];
    hsy_status st = tokens_make_room(k, task, n, err);

    if (st == HSY_OK)
        st = k->ops->put_task(k, task, quota, err);
    for (uint64_t i = 0; i < n && st == HSY_OK; i += MAKE_PART) {
        const size_t part = n - i < MAKE_PART ? (size_t)(n - i) : MAKE_PART;

        for (size_t j = 0; j < part; j++) {
            tokens_make_token(tokens[i + j]);
            tokens_hash_short(hashes[j], task, tokens[i + j]);
        }
        st = k->ops->put_enrolled(k, task, hashes[0], part, expires, err);
    }
    return st;
}

static hsy_status tokens_make_check(const char *task, uint32_t quota,
                                    uint64_t n, hsy_error *err)
{
    if (strcmp(task, TOKENS_FORWARDERS) != 0 &&
        (strspn(task, "abcdefghijklmnopqrstuvwxyz0123456789._-") !=
             strlen(task) ||
         !tokens_name_fits(task)))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TASK,
                         "this is no id of a task that can be enrolled for: 1 "
                         "to 32 of a-z, 0-9, '.', '_', '-', beginning with a "
                         "letter or a digit");
    if (quota == 0)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_QUOTA,
                         "a quota is at least 1");
    if (n == 0 || n > MAKE_ONCE)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_COUNT,
                         "1 to 1000000 tokens at a time");
    return HSY_OK;
}

hsy_status tokens_enrol(struct tokens_keep *k, const char *task, uint32_t quota,
                        uint64_t n, uint32_t expires,
                        hsy_status (*each)(void *ctx, const char *token),
                        void *ctx, hsy_error *err)
{
    hsy_status st = tokens_make_check(task, quota, n, err);
    char(*tokens)[TOKENS_TEXT];

    if (st != HSY_OK)
        return st;
    tokens = calloc(n, sizeof *tokens);
    st = tokens == NULL ? host_nomem(err)
                        : tokens_make_enter(k, true, true, err);
    if (st == HSY_OK)
        st = k->ops->end(
            k, tokens_make_enrol(k, task, quota, tokens, n, expires, err), err);
    for (uint64_t i = 0; st == HSY_OK && i < n; i++)
        st = each(ctx, tokens[i]);
    if (tokens != NULL)
        sodium_memzero(tokens, n * sizeof *tokens);
    free(tokens);
    return st;
}

hsy_status tokens_each_task(struct tokens_keep *k,
                            hsy_status (*each)(void *ctx, const char *task,
                                               uint64_t n, uint32_t quota),
                            void *ctx, hsy_error *err)
{
    hsy_status st = tokens_make_enter(k, false, false, err);

    return st == HSY_OK ? k->ops->end(k, k->ops->tasks(k, each, ctx, err), err)
                        : st;
}

hsy_status tokens_each_enrolled(struct tokens_keep *k, const char *task,
                                hsy_status (*each)(void *ctx, const char *id,
                                                   uint32_t expires),
                                void *ctx, hsy_error *err)
{
    struct tokens_list list = {.quota = 0};
    hsy_status st = tokens_make_enter(k, false, false, err);

    if (st != HSY_OK)
        return st;
    snprintf(list.task, sizeof list.task, "%s", task);
    st = k->ops->end(k, k->ops->list(k, &list, err), err);
    if (st == HSY_OK && list.n == 0)
        st = host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_TASK,
                       "this task has no enrolment tokens");
    for (uint64_t i = 0; st == HSY_OK && i < list.n; i++) {
        char id[TOKENS_ID];

        hex_put(id, list.hashes + i * TOKENS_SHORT, TOKENS_SHORT);
        st = each(ctx, id, list.expires[i]);
    }
    free(list.hashes);
    free(list.expires);
    return st;
}

/* ---- One of them --------------------------------------------------------- */

/* The hash that a name is, or that a token has. */
static void tokens_make_which(uint8_t hash[TOKENS_SHORT], const char *task,
                              const char *which)
{
    if (!hex_any(hash, TOKENS_SHORT, which, strlen(which)))
        tokens_hash_short(hash, task, which);
}

static const char make_none[] =
    "no such enrolment token of this task; 'hearsay serve token list TASK' "
    "lists them";

hsy_status tokens_expire(struct tokens_keep *k, const char *task,
                         const char *which, uint32_t day, hsy_error *err)
{
    const bool all = strcmp(which, "all") == 0;
    uint8_t hash[TOKENS_SHORT];
    uint64_t n = 0;
    hsy_status st = tokens_make_enter(k, true, false, err);

    if (st != HSY_OK)
        return st;
    tokens_make_which(hash, task, which);
    st = k->ops->expire(k, task, all ? NULL : hash, day, &n, err);
    st = tokens_make_some(st, n, HSY_FIELD_TOKEN, make_none, err);
    return k->ops->end(k, st, err);
}

/* Within a transaction: all tokens of a task, and that it wants some. */
static hsy_status tokens_make_open_task(struct tokens_keep *k, const char *task,
                                        hsy_error *err)
{
    uint64_t n = 0;
    hsy_status st = k->ops->drop_enrolled(k, task, NULL, &n, err);

    if (st == HSY_OK)
        st = k->ops->drop_task(k, task, &n, err);
    return tokens_make_some(st, n, HSY_FIELD_TASK, make_none, err);
}

hsy_status tokens_withdraw(struct tokens_keep *k, const char *task,
                           const char *which, hsy_error *err)
{
    uint8_t hash[TOKENS_SHORT];
    uint64_t n = 0;
    hsy_status st = tokens_make_enter(k, true, false, err);

    if (st != HSY_OK)
        return st;
    tokens_make_which(hash, task, which);
    if (strcmp(which, "all") == 0) {
        st = tokens_make_open_task(k, task, err);
    } else {
        st = k->ops->drop_enrolled(k, task, hash, &n, err);
        st = tokens_make_some(st, n, HSY_FIELD_TOKEN, make_none, err);
    }
    return k->ops->end(k, st, err);
}
