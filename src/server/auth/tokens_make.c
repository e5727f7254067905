/*
 * tokens_make.c - `hearsay serve token`: making, listing and revoking.
 *
 * Works beside a running collector, which notices that the book has changed.
 */
#define _GNU_SOURCE

#include "server/auth/internal.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define MAKE_BYTES 32u     /* of a token */
#define MAKE_ONCE 1000000u /* tokens made in one call */

static hsy_status tokens_make_enter(struct book *b, const char *data,
                                    bool create, hsy_error *err)
{
    if (sodium_init() == -1)
        return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                         "the random source failed");
    return tokens_book_open(b, data, create, err);
}

static void tokens_make_token(char token[TOKENS_TEXT])
{
    uint8_t bytes[MAKE_BYTES];

    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2base64(token, TOKENS_TEXT, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
}

/* ---- Roles --------------------------------------------------------------- */

/* Within a transaction. */
static hsy_status tokens_make_add(struct book *b, const char *name,
                                  enum listen_role role, const char *token,
                                  hsy_error *err)
{
    struct tokens_people people;
    struct tokens_person p = {.role = role};
    hsy_status st = tokens_people_load(b, &people, err);

    for (size_t i = 0; st == HSY_OK && i < people.n; i++)
        if (strcmp(people.all[i].name, name) == 0)
            st = host_fail(err, HSY_E_REFUSED, HSY_FIELD_NAME,
                           "there is a token of this name; revoke it first, "
                           "or take another name");
    if (st == HSY_OK && people.n == TOKENS_MAX)
        st =
            host_fail(err, HSY_E_FULL, HSY_FIELD_NONE, "there are 1000 tokens");
    free(people.all);
    if (st != HSY_OK)
        return st;
    snprintf(p.name, sizeof p.name, "%s", name);
    tokens_hash(p.hash, token);
    return tokens_put_person(b, &p, err);
}

hsy_status tokens_add(const char *data, const char *name, enum listen_role role,
                      char token[TOKENS_TEXT], hsy_error *err)
{
    struct book b;
    hsy_status st;

    if (!tokens_name_fits(name))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NAME,
                         "a name is 1 to 32 letters, digits, '.', '_' and "
                         "'-', and begins with a letter or a digit");
    st = tokens_make_enter(&b, data, true, err);
    if (st != HSY_OK)
        return st;
    st = book_begin(&b, err);
    if (st == HSY_OK) {
        tokens_make_token(token);
        st = book_end(&b, tokens_make_add(&b, name, role, token, err), err);
    }
    book_close(&b);
    if (st != HSY_OK)
        sodium_memzero(token, TOKENS_TEXT);
    return st;
}

/* A statement that must change something. */
static hsy_status tokens_make_change(struct book *b, sqlite3_stmt *ask,
                                     uint32_t field, const char *none,
                                     hsy_error *err)
{
    hsy_status st = book_do(b, ask, err);

    if (st == HSY_OK && sqlite3_changes(b->db) == 0)
        return host_fail(err, HSY_E_UNKNOWN, field, none);
    return st;
}

hsy_status tokens_revoke(const char *data, const char *name, hsy_error *err)
{
    struct book b;
    hsy_status st = tokens_make_enter(&b, data, false, err);

    if (st != HSY_OK)
        return st;
    st = tokens_make_change(
        &b, book_ask(&b, err, "DELETE FROM people WHERE name=?1", "t", name),
        HSY_FIELD_NAME,
        "there is no token of this name; 'hearsay serve token list' has them",
        err);
    book_close(&b);
    return st;
}

hsy_status tokens_each(const char *data,
                       hsy_status (*each)(void *ctx, const char *name,
                                          enum listen_role role),
                       void *ctx, hsy_error *err)
{
    struct tokens_people people = {NULL, 0};
    struct book b;
    hsy_status st = tokens_make_enter(&b, data, false, err);

    if (st != HSY_OK)
        return st;
    st = tokens_people_load(&b, &people, err);
    for (size_t i = 0; st == HSY_OK && i < people.n; i++)
        st = each(ctx, people.all[i].name, people.all[i].role);
    free(people.all);
    book_close(&b);
    return st;
}

/* ---- Enrolment ----------------------------------------------------------- */

static hsy_status tokens_make_room(struct book *b, const char *task, uint64_t n,
                                   hsy_error *err)
{
    sqlite3_stmt *ask = book_ask(
        b, err, "SELECT count(*) FROM enrolled WHERE task=?1", "t", task);
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;
    int64_t there = 0;

    if (st == HSY_OK && book_row(b, ask, &st, err))
        there = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    if (st == HSY_OK && n > TOKENS_ENROLLED_MAX - (uint64_t)there)
        st = host_fail(err, HSY_E_FULL, HSY_FIELD_COUNT,
                       "a task has at most 50 million tokens");
    return st;
}

/* Within a transaction. */
static hsy_status tokens_make_enrol(struct book *b, const char *task,
                                    uint32_t quota, char (*tokens)[TOKENS_TEXT],
                                    uint64_t n, uint32_t expires,
                                    hsy_error *err)
{
    hsy_status st = tokens_make_room(b, task, n, err);

    if (st == HSY_OK)
        st = tokens_put_task(b, task, quota, err);
    for (uint64_t i = 0; i < n && st == HSY_OK; i++) {
        uint8_t hash[TOKENS_SHORT];

        tokens_make_token(tokens[i]);
        tokens_hash_short(hash, task, tokens[i]);
        st = tokens_put_enrolled(b, task, hash, expires, err);
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

hsy_status tokens_enrol(const char *data, const char *task, uint32_t quota,
                        uint64_t n, uint32_t expires,
                        hsy_status (*each)(void *ctx, const char *token),
                        void *ctx, hsy_error *err)
{
    hsy_status st = tokens_make_check(task, quota, n, err);
    char(*tokens)[TOKENS_TEXT];
    struct book b;

    if (st == HSY_OK)
        st = tokens_make_enter(&b, data, true, err);
    if (st != HSY_OK)
        return st;
    tokens = calloc(n, sizeof *tokens);
    st = tokens == NULL
             ? host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory")
             : book_begin(&b, err);
    if (st == HSY_OK)
        st = book_end(
            &b, tokens_make_enrol(&b, task, quota, tokens, n, expires, err),
            err);
    book_close(&b);
    for (uint64_t i = 0; st == HSY_OK && i < n; i++)
        st = each(ctx, tokens[i]);
    if (tokens != NULL)
        sodium_memzero(tokens, n * sizeof *tokens);
    free(tokens);
    return st;
}

hsy_status tokens_each_task(const char *data,
                            hsy_status (*each)(void *ctx, const char *task,
                                               uint64_t n, uint32_t quota),
                            void *ctx, hsy_error *err)
{
    sqlite3_stmt *ask;
    struct book b;
    hsy_status st = tokens_make_enter(&b, data, false, err);

    if (st != HSY_OK)
        return st;
    ask = book_ask(&b, err,
                   "SELECT task, quota, (SELECT count(*) FROM enrolled WHERE "
                   "enrolled.task=tasks.task) FROM tasks ORDER BY task",
                   "");
    st = ask == NULL ? HSY_E_IO : HSY_OK;
    while (st == HSY_OK && book_row(&b, ask, &st, err)) {
        const char *task = (const char *)sqlite3_column_text(ask, 0);

        st = each(ctx, task != NULL ? task : "",
                  (uint64_t)sqlite3_column_int64(ask, 2),
                  (uint32_t)sqlite3_column_int64(ask, 1));
    }
    sqlite3_finalize(ask);
    book_close(&b);
    return st;
}

hsy_status tokens_each_enrolled(const char *data, const char *task,
                                hsy_status (*each)(void *ctx, const char *id,
                                                   uint32_t expires),
                                void *ctx, hsy_error *err)
{
    struct tokens_list list = {.quota = 0};
    struct book b;
    hsy_status st = tokens_make_enter(&b, data, false, err);

    if (st != HSY_OK)
        return st;
    snprintf(list.task, sizeof list.task, "%s", task);
    st = tokens_list_load(&b, &list, err);
    book_close(&b);
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
    "it is no enrolment token of this task; 'hearsay serve token list TASK' "
    "has their names";

hsy_status tokens_expire(const char *data, const char *task, const char *which,
                         uint32_t day, hsy_error *err)
{
    const bool all = strcmp(which, "all") == 0;
    uint8_t hash[TOKENS_SHORT];
    struct book b;
    hsy_status st = tokens_make_enter(&b, data, false, err);

    if (st != HSY_OK)
        return st;
    tokens_make_which(hash, task, which);
    st = tokens_make_change(
        &b,
        all ? book_ask(&b, err, "UPDATE enrolled SET expires=?2 WHERE task=?1",
                       "ti", task, (int64_t)day)
            : book_ask(&b, err,
                       "UPDATE enrolled SET expires=?2 WHERE task=?1 AND "
                       "hash=?3",
                       "tib", task, (int64_t)day, (const void *)hash,
                       sizeof hash),
        HSY_FIELD_TOKEN, make_none, err);
    book_close(&b);
    return st;
}

/* Within a transaction: all tokens of a task, and that it wants some. */
static hsy_status tokens_make_open_task(struct book *b, const char *task,
                                        hsy_error *err)
{
    hsy_status st = book_do(
        b, book_ask(b, err, "DELETE FROM enrolled WHERE task=?1", "t", task),
        err);

    return st == HSY_OK
               ? tokens_make_change(b,
                                    book_ask(b, err,
                                             "DELETE FROM tasks WHERE task=?1",
                                             "t", task),
                                    HSY_FIELD_TASK, make_none, err)
               : st;
}

hsy_status tokens_withdraw(const char *data, const char *task,
                           const char *which, hsy_error *err)
{
    uint8_t hash[TOKENS_SHORT];
    struct book b;
    hsy_status st = tokens_make_enter(&b, data, false, err);

    if (st == HSY_OK)
        st = book_begin(&b, err);
    if (st != HSY_OK) {
        book_close(&b);
        return st;
    }
    tokens_make_which(hash, task, which);
    if (strcmp(which, "all") == 0)
        st = tokens_make_open_task(&b, task, err);
    else
        st = tokens_make_change(
            &b,
            book_ask(&b, err,
                     "DELETE FROM enrolled WHERE task=?1 AND "
                     "hash=?2",
                     "tb", task, (const void *)hash, sizeof hash),
            HSY_FIELD_TOKEN, make_none, err);
    st = book_end(&b, st, err);
    book_close(&b);
    return st;
}
