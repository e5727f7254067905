/*
 * test_tokens_keep.c - tokens in a database: as in a book, and what is
 * damaged there is told.
 */
#define _GNU_SOURCE
#include "rig/cluster_db.h"
#include "rig/token_checks.h"
#include "rig/with_postgres.h"
#include "server/cluster/tokens_many.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static struct pg_place *place;

static struct tokens_keep *opened(void)
{
    struct tokens_keep *k = NULL;

    tokens_many_open(&k, place, NULL);
    return k;
}

static hsy_status drop(void *ctx, const char *token)
{
    (void)ctx;
    (void)token;
    return HSY_OK;
}

/* More than a page, and not a whole number of them. */
static void many_are_read(void)
{
    struct tokens_keep *k = opened();
    struct tokens_set set = {.nlists = 0};
    int64_t version;
    bool ascend = true;

    ok(eq_status(tokens_enrol(k, "crowd", 1, 230000, 7, drop, NULL, NULL),
                 HSY_OK) &&
           eq_status(k->ops->load(k, &set, &version, NULL), HSY_OK) &&
           eq_u64(set.nlists, 1) && eq_u64(set.lists[0].n, 230000),
       "230000 tokens are read");
    for (uint64_t i = 1; set.nlists == 1 && i < set.lists[0].n; i++)
        ascend &= memcmp(set.lists[0].hashes + 16 * (i - 1),
                         set.lists[0].hashes + 16 * i, 16) < 0 &&
                  set.lists[0].expires[i] == 7;
    ok(ascend, "in their order");
    free(set.people.all);
    free(set.lists[0].hashes);
    free(set.lists[0].expires);
    free(set.lists);
    tokens_keep_close(k);
}

/* What cannot be read keeps the old, as with a book. */
static void damage_is_told(void)
{
    static const char *const damage[] = {
        "insert into people values('a b', 1, repeat('x', 32)::bytea)",
        "insert into people values('ann', 7, repeat('x', 32)::bytea)",
        "insert into people values('ann', 0, repeat('x', 32)::bytea)",
        "insert into people values('ann', 1, 'x')",
        "insert into people values(repeat('n', 99), 1, repeat('x', 32)::bytea)",
        "insert into token_tasks values(repeat('n', 99), 1)",
        "insert into token_tasks values('a', 0)",
        "insert into token_tasks values('a', -1)",
        "insert into token_tasks values('a', 4294967296)",
        ("with t as (insert into token_tasks values('a', 1)) insert into "
         "enrolled values('a', 'short', 0)"),
        "delete from tokens_version",
    };
    struct tokens *t = NULL;
    char token[TOKENS_TEXT];
    struct tokens_keep *k = opened();
    bool changed;

    db_do(place, "truncate people, token_tasks, enrolled");
    ok(eq_status(tokens_add(k, "eve", LISTEN_ANALYST, token, NULL), HSY_OK) &&
           eq_status(tokens_open(&t, opened(), NULL), HSY_OK),
       "a collector reads tokens");
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++)
        ok(db_do(place, damage[i]) &&
               db_do(place,
                     "update tokens_version set version = version + 1") &&
               eq_status(tokens_refresh(t, NULL, NULL), HSY_E_DAMAGED) &&
               eq_int(tokens_role(t, token), LISTEN_ANALYST) &&
               db_do(place, "delete from people where name <> 'eve'") &&
               db_do(place, "truncate token_tasks, enrolled"),
           "damage %zu is told, and the old stands", i);
    ok(db_do(place, "insert into tokens_version values(1, 1000)") &&
           eq_status(tokens_refresh(t, &changed, NULL), HSY_OK) && changed &&
           eq_int(tokens_role(t, token), LISTEN_ANALYST),
       "until it is mended");
    tokens_close(t);
    tokens_keep_close(k);
}

/* A session that ends is another's concern. */
static void sessions_end(void)
{
    struct tokens_keep *k = opened();
    struct tokens *t = NULL;
    bool changed = true;

    ok(eq_status(tokens_open(&t, opened(), NULL), HSY_OK), "opened");
    db_do(place, "select count(pg_terminate_backend(pid)) from "
                 "pg_stat_activity where usename = current_user and pid <> "
                 "pg_backend_pid()");
    ok(eq_status(tokens_refresh(t, &changed, NULL), HSY_OK) && !changed,
       "a link that was cut is made anew");
    db_do(place, "drop table people");
    ok(eq_status(tokens_revoke(k, "ann", NULL), HSY_E_DAMAGED),
       "a table that is missing is told");
    db_do(place, "drop schema hearsay cascade");
    ok(eq_status(tokens_revoke(k, "ann", NULL), HSY_E_EMPTY),
       "so is that there are none");
    tokens_close(t);
    tokens_keep_close(k);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!with_postgres(argv, 1)) {
        tap_skip("PostgreSQL cannot be run");
        return tap_done();
    }
    place = db_open();
    if (ok(place != NULL, "there is a database")) {
        token_checks(opened);
        db_do(place, "truncate people, token_tasks, enrolled");
        many_are_read();
        damage_is_told();
        sessions_end();
        pg_place_close(place);
    }
    return tap_done();
}
