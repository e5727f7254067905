/* schema.c - the tables of a cluster. */
#define _GNU_SOURCE
#include "server/cluster/schema.h"

#include "host/base/host_fail.h"

#include <stdio.h>
#include <string.h>

/*
 * Nothing here is PostgreSQL's alone but for storage parameters. No trigger, no
 * function, no foreign key: what a commit costs is a row in ids_E an upload and
 * a row in batches an entry and day.
 */
static const char *const schema_tables[] = {
    "create schema if not exists hearsay",

    /* One row: whose shard this is. */
    "create table meta(one int4 primary key check(one = 1), "
    "version int4 not null, cluster bytea not null, key bytea not null, "
    "shard int4 not null, rehearsal boolean not null)",

    /* One row. Shard 0: the last day that was believed; epochs up to `closed`
     * are closed for ever; how often these two were moved; days before `purged`
     * have no tally. Every shard: tables of ids up to `dropped` are gone, by
     * the move `heeded`; who knows only an earlier one makes none of them
     * again. */
    "create table days(one int4 primary key check(one = 1), day int4 not null, "
    "closed int4 not null, purged int4 not null, dropped int4 not null, "
    "moved int8 not null, heeded int8 not null)",
    "insert into days values(1, 0, 0, 0, 0, 0, 0)",

    /* Shard 0: from which epoch on ids are spread over how many shards. */
    "create table widths(epoch int4 primary key, shards int4 not null)",

    /* Shard 0: the document in force, and every task that ever was asked.
     * whole_from: from that epoch on all its uploads are in one shard, home. */
    "create table documents(version int8 primary key, bytes bytea not null)",
    "create table entries(number int4 primary key, bytes bytea not null, "
    "home int4 not null, whole_from int4, "
    "retired boolean not null default false)",

    /* What commits bring: uploads of an entry and epoch, new ones alone. type
     * as enum store_batch_type, or 4: their sum (delta.h); ids: uploads without
     * a token, enrolled: with one; received: the batch of a shuffler that it
     * is. */
    "create table batches(number int8 generated always as identity primary "
    "key, entry int4 not null, epoch int4 not null, type int4 not null, "
    "reports int8 not null, nulls int8 not null, ids int8 not null, "
    "enrolled int8 not null, received bytea, bytes bytea not null)",
    "alter table batches alter bytes set storage external",

    /* What was folded: counts, and tallies in chunks of 4,096 words. Whoever
     * holds the row of folds folds; its round only grows, and what was changed
     * has the round of its last change. */
    "create table folds(one int4 primary key check(one = 1), "
    "round int8 not null)",
    "insert into folds values(1, 0)",
    "create table counts(entry int4, epoch int4, round int8 not null, "
    "reports int8 not null, nulls int8 not null, ids int8 not null, "
    "enrolled int8 not null, primary key(entry, epoch))",
    "create table cells(entry int4, epoch int4, place int4, "
    "round int8 not null, words bytea not null, "
    "primary key(entry, epoch, place))",
    "alter table cells alter words set storage external",

    /* What tokens have used of their quota; batches of shufflers, and the row
     * that is locked while one is taken. */
    "create table quotas(epoch int4, token bytea, used int8 not null, "
    "primary key(epoch, token))",
    "create table received(id bytea primary key, digest bytea not null, "
    "entry int4 not null, epoch int4 not null, n int8 not null, "
    "nulls int8 not null, unopened int8 not null, again int8 not null, "
    "heads bytea not null, folded boolean not null)",
    "create table receiving(one int4 primary key check(one = 1))",
    "insert into receiving values(1)",

    /* Shard 0: merged tally files by name, figures that are kept, nodes. */
    "create table merged(name bytea primary key)",
    "create table figures(entry int4, day int4, json bytea not null, "
    "primary key(entry, day))",
    "create table nodes(name text primary key, seen timestamptz not null, "
    "version text not null)",

    /* Shard 0: what readers are shown (shown_many.c). version: another with
     * each change; who holds an entry's row changes it and its cells. looked is
     * written by who reads: its commit waits for a standby, and with it all
     * that was read. */
    "create table shown(entry int4 primary key, version int8 not null, "
    "generation int8 not null, view bytea not null)",
    "create table shown_cells(entry int4, block int4, place int4, "
    "words bytea not null, primary key(entry, block, place))",
    "alter table shown_cells alter words set storage external",
    "create table shown_looked(one int4 primary key check(one = 1), "
    "times int8 not null)",
    "insert into shown_looked values(1, 0)",

    /* Shard 0: hashes of tokens (tokens_many.c). */
    "create table tokens_version(one int4 primary key check(one = 1), "
    "version int8 not null)",
    "insert into tokens_version values(1, 0)",
    "create table people(name text primary key, role int4 not null, "
    "hash bytea not null)",
    "create table token_tasks(task text primary key, quota int8 not null)",
    "create table enrolled(task text, hash bytea, expires int4 not null, "
    "primary key(task, hash))",
};

#define SCHEMA_TABLES (sizeof schema_tables / sizeof *schema_tables)

/* What makes the tables of version i + 2 of those of version i + 1. */
static const char *const schema_steps[] = {
#if SCHEMA_TRIAL
    "alter table nodes add column trial int4 not null default 0",
#endif
    NULL,
};

_Static_assert(sizeof schema_steps / sizeof *schema_steps == SCHEMA_VERSION,
               "a step for each version after the first");

static hsy_status schema_fail(hsy_error *err, hsy_status st, const char *msg)
{
    return host_fail(err, st, HOST_FIELD_STORE, msg);
}

/* How many of our tables there are. */
static hsy_status schema_count(struct pg_link *l, int64_t *n, hsy_error *err)
{
    struct pg_rows *r;
    hsy_status st =
        pg_ask(l, &r, err,
               "select count(*)::int8 from information_schema.tables "
               "where table_schema = 'hearsay' and table_name in "
               "('meta', 'days', 'widths', 'documents', 'entries', 'batches', "
               "'folds', 'counts', 'cells', 'quotas', 'received', "
               "'receiving', 'merged', 'figures', 'nodes', 'shown', "
               "'shown_cells', 'shown_looked', 'tokens_version', 'people', "
               "'token_tasks', 'enrolled')",
               "");

    if (st == HSY_OK)
        *n = pg_get(r, 0, 0);
    pg_rows_free(r);
    return st;
}

#define SCHEMA_COUNT 22

static hsy_status schema_known(int64_t version, hsy_error *err)
{
    return version <= SCHEMA_VERSION
               ? HSY_OK
               : schema_fail(err, HSY_E_VERSION,
                             "a newer hearsay made the tables");
}

static hsy_status schema_copy(struct schema_meta *out, const struct pg_rows *r,
                              hsy_error *err)
{
    const uint8_t *cluster, *key;
    size_t cluster_len, key_len;

    if (pg_count(r) != 1)
        return schema_fail(err, HSY_E_DAMAGED,
                           "its tables do not say whose they are");
    out->version = (uint32_t)pg_get(r, 0, 0);
    cluster = pg_get_bytes(r, 0, 1, &cluster_len);
    key = pg_get_bytes(r, 0, 2, &key_len);
    out->shard = (uint32_t)pg_get(r, 0, 3);
    out->rehearsal = pg_get(r, 0, 4) != 0;
    if (cluster_len != sizeof out->cluster || key_len != sizeof out->key)
        return schema_fail(err, HSY_E_DAMAGED,
                           "its tables do not say whose they are");
    memcpy(out->cluster, cluster, cluster_len);
    memcpy(out->key, key, key_len);
    if (out->version < SCHEMA_OLDEST)
        return schema_fail(err, HSY_E_VERSION,
                           "the tables are too old for this hearsay: upgrade "
                           "them by 'hearsay store init-cluster' of the "
                           "versions in between");
    return schema_known(out->version, err);
}

hsy_status schema_read(struct pg_link *l, struct schema_meta *out,
                       hsy_error *err)
{
    struct pg_rows *r = NULL;
    int64_t n = 0;
    hsy_status st = schema_count(l, &n, err);

    if (st != HSY_OK)
        return st;
    if (n == 0)
        return schema_fail(err, HSY_E_EMPTY,
                           "the database has no tables of hearsay: run "
                           "'hearsay store init-cluster'");
    if (n < SCHEMA_COUNT)
        return schema_fail(err, HSY_E_DAMAGED,
                           "some tables of hearsay are missing in the "
                           "database: restore it, or drop the schema 'hearsay' "
                           "and begin anew");
    st = pg_ask(l, &r, err,
                "select version, cluster, key, shard, rehearsal from meta "
                "where one = 1",
                "");
    if (st == HSY_OK)
        st = schema_copy(out, r, err);
    pg_rows_free(r);
    return st;
}

hsy_status schema_check(struct pg_link *l, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, &r, err, "select version from meta where one = 1", "");

    if (st == HSY_OK && pg_count(r) == 1)
        st = schema_known(pg_get(r, 0, 0), err);
    pg_rows_free(r);
    return st;
}

static hsy_status schema_meta_put(struct pg_link *l,
                                  const struct schema_meta *meta,
                                  hsy_error *err)
{
    return pg_ask(
        l, NULL, err, "insert into meta values(1, $1, $2, $3, $4, $5)", "ibbio",
        SCHEMA_VERSION, meta->cluster, sizeof meta->cluster, meta->key,
        sizeof meta->key, (int32_t)meta->shard, meta->rehearsal);
}

static hsy_status schema_do(struct pg_link *l, const char *const *sql, size_t n,
                            hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = pg_do(l, sql[i], err);
    return st;
}

/* All or nothing: PostgreSQL makes tables in a transaction. */
static hsy_status schema_all(struct pg_link *l, const struct schema_meta *meta,
                             hsy_error *err)
{
    hsy_status st = pg_begin(l, err);

    if (st == HSY_OK)
        st = schema_do(l, schema_tables, SCHEMA_TABLES, err);
    if (st == HSY_OK)
        st = schema_do(l, schema_steps, SCHEMA_VERSION - 1, err);
    if (st == HSY_OK)
        st = schema_meta_put(l, meta, err);
    return pg_finish(l, st, err);
}

/* Whoever comes second finds another version, and does nothing. */
static hsy_status schema_upgrade(struct pg_link *l, uint32_t from,
                                 hsy_error *err)
{
    hsy_status st = pg_begin(l, err);
    struct pg_rows *r = NULL;
    bool mine;

    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "update meta set version = $1 where version = $2 returning "
                    "version",
                    "ii", SCHEMA_VERSION, (int32_t)from);
    mine = st == HSY_OK && pg_count(r) == 1;
    pg_rows_free(r);
    for (uint32_t v = 1; mine && st == HSY_OK && v < SCHEMA_VERSION; v++)
        if (v >= from)
            st = schema_do(l, &schema_steps[v - 1], 1, err);
    return pg_finish(l, st, err);
}

hsy_status schema_make(struct pg_link *l, const struct schema_meta *meta,
                       bool *made, hsy_error *err)
{
    struct schema_meta is;
    hsy_status st = schema_read(l, &is, err);

    *made = st == HSY_E_EMPTY;
    if (st == HSY_E_EMPTY)
        return schema_all(l, meta, err);
    if (st != HSY_OK)
        return st;
    if (memcmp(is.cluster, meta->cluster, sizeof is.cluster) != 0)
        return schema_fail(err, HSY_E_REFUSED,
                           "the database belongs to another cluster");
    if (is.shard != meta->shard)
        return schema_fail(err, HSY_E_REFUSED,
                           "the database is another shard of this cluster: "
                           "list shards in the order they were made");
    *made = is.version < SCHEMA_VERSION;
    return *made ? schema_upgrade(l, is.version, err) : HSY_OK;
}
