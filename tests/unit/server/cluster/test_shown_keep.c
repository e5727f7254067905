/*
 * test_shown_keep.c - where generations are kept: the same of shown.db and of a
 * database (where PostgreSQL is).
 */
#define _GNU_SOURCE

#include "rig/cluster_db.h"
#include "rig/engine_rig.h"
#include "rig/with_postgres.h"
#include "server/cluster/shown_many.h"
#include "server/collector/shown/internal.h"
#include "tap.h"

#include <stdio.h>
#include <unistd.h>

#define DAY RIG_DAY

static const char *directory;
static struct pg_place *place; /* NULL: shown.db */
static const struct roster_entry *is;

static struct shown_keep *opened(void)
{
    struct shown_keep *k = NULL;

    is_status(place == NULL ? shown_file_open(&k, directory, NULL)
                            : shown_many_open(&k, place, NULL),
              HSY_OK, "it is opened");
    return k;
}

static hsy_status enter(struct shown_keep *k, enum shown_turn turn,
                        struct shown_view *v, bool *newer)
{
    *newer = false;
    return k->ops->shared ? k->ops->enter(k, turn, is->number, v, newer, NULL)
                          : HSY_OK;
}

static hsy_status leave(struct shown_keep *k, enum shown_turn turn, bool newer)
{
    return k->ops->shared ? k->ops->leave(k, turn, newer, NULL) : HSY_OK;
}

/* ---- Views --------------------------------------------------------------- */

struct found {
    struct shown_view v;
    unsigned n;
};

static hsy_status find(void *ctx, uint32_t entry, struct shown_view *v)
{
    struct found *f = ctx;

    f->n++;
    shown_view_clear(&f->v);
    if (entry == is->number)
        f->v = *v;
    else
        shown_view_clear(v);
    return HSY_OK;
}

static struct shown_view found(struct shown_keep *k, unsigned n)
{
    struct found f = {.n = 0};

    ok(eq_status(k->ops->read(k, NULL, 0, find, &f, NULL), HSY_OK) &&
           eq_u64(f.n, n),
       "%u entries are there", n);
    return f.v;
}

/* Generation g: days before and at DAY, with cells that grow by g. */
static void view_of(struct shown_view *v, uint64_t g)
{
    const struct shown_epoch counts[] = {
        {DAY - 1, 60 + g, 50, 3, {2, 30, 60}, {1, 50, 50}},
        {DAY, 40 + g, 40 + g, 0, {0, 0, 0}, {0, 0, 0}}};
    const struct shown_block blocks[] = {
        {.first = DAY - 3, .last = DAY - 1, .over = true},
        {.first = DAY, .last = DAY}};

    *v = (struct shown_view){.generation = g,
                             .counts = malloc(sizeof counts),
                             .ncounts = 2,
                             .blocks = malloc(sizeof blocks),
                             .nblocks = 2};
    if (v->counts == NULL || v->blocks == NULL)
        exit(1);
    memcpy(v->digest, is->digest, HSY_DIGEST);
    memcpy(v->counts, counts, sizeof counts);
    memcpy(v->blocks, blocks, sizeof blocks);
}

static bool same_sum(const struct engine_sum *a, const struct engine_sum *b)
{
    return eq_u64(a->batches, b->batches) && eq_u64(a->least, b->least) &&
           eq_u64(a->reports, b->reports);
}

static bool same_epoch(const struct shown_epoch *a, const struct shown_epoch *b)
{
    return eq_u64(a->epoch, b->epoch) && eq_u64(a->reports, b->reports) &&
           eq_u64(a->own, b->own) && eq_u64(a->nulls, b->nulls) &&
           same_sum(&a->came, &b->came) && same_sum(&a->own_came, &b->own_came);
}

static bool same(const struct shown_view *a, const struct shown_view *b)
{
    bool good = eq_u64(a->generation, b->generation) &&
                eq_bytes(a->digest, b->digest, HSY_DIGEST) &&
                eq_u64(a->ncounts, b->ncounts) &&
                eq_u64(a->nblocks, b->nblocks);

    for (size_t i = 0; good && i < a->ncounts; i++)
        good = same_epoch(&a->counts[i], &b->counts[i]);
    for (size_t k = 0; good && k < a->nblocks; k++)
        good = eq_u64(a->blocks[k].first, b->blocks[k].first) &&
               eq_u64(a->blocks[k].last, b->blocks[k].last) &&
               eq_u64(a->blocks[k].over, b->blocks[k].over);
    return good;
}

/* ---- Tallies ------------------------------------------------------------- */

/* The word at i of a tally; from the second piece of a database's on to the
 * third all are 0 in every second generation. */
static int64_t word(uint64_t g, uint32_t block, size_t i)
{
    if (g % 2 == 0 && i >= 4096 && i < 8192)
        return 0;
    return (int64_t)(g * 1000003 + block + i) * (i % 3 == 0 ? -1 : 1);
}

static int64_t *tally_of(uint64_t g, uint32_t block)
{
    int64_t *words = calloc(is->words, sizeof *words);

    for (size_t i = 0; words != NULL && i < is->words; i++)
        words[i] = word(g, block, i);
    return words;
}

/* Whether a tally is that of a generation (0: it is not there). */
static bool tally_is(struct shown_keep *k, uint32_t block, uint64_t g)
{
    int64_t *words = calloc(is->words, sizeof *words);
    struct shown_view v = {0};
    bool good = words != NULL, newer;

    good = good && eq_status(enter(k, SHOWN_READS, &v, &newer), HSY_OK) &&
           eq_status(k->ops->add(k, SHOWN_READS, is->number, block, words,
                                 is->words, NULL),
                     HSY_OK) &&
           eq_status(leave(k, SHOWN_READS, newer), HSY_OK);
    for (size_t i = 0; good && i < is->words; i++)
        good = eq_int(words[i], g != 0 ? word(g, block, i) : 0);
    shown_view_clear(&v);
    free(words);
    return good;
}

static void put(struct shown_keep *k, uint64_t g, uint32_t kept)
{
    int64_t *words[] = {tally_of(g, 0), tally_of(g, DAY - 3), tally_of(g, DAY)};
    const struct shown_tally tallies[] = {
        {0, words[0]}, {DAY - 3, words[1]}, {DAY, words[2]}};
    struct shown_view now = {0}, v;
    bool newer;

    view_of(&v, g);
    ok(eq_status(enter(k, SHOWN_MAKES, &now, &newer), HSY_OK) &&
           eq_status(k->ops->put(k, is, &v, kept, tallies, 3, NULL), HSY_OK) &&
           eq_status(leave(k, SHOWN_MAKES, false), HSY_OK),
       "generation %u is put", (unsigned)g);
    ok(!k->ops->shared || (eq_u64(v.version, now.version + 1)),
       "and has another version");
    shown_view_clear(&now);
    shown_view_clear(&v);
    for (size_t i = 0; i < 3; i++)
        free(words[i]);
}

/* ---- What is done -------------------------------------------------------- */

static void generations_follow_each_other(void)
{
    struct shown_keep *k = opened();
    struct shown_view want, v;

    v = found(k, 0);
    ok(v.generation == 0 && tally_is(k, 0, 0), "nothing is there at first");
    for (uint64_t g = 1; g <= 3; g++) {
        put(k, g, DAY - 5);
        view_of(&want, g);
        v = found(k, 1);
        ok(same(&v, &want) && tally_is(k, 0, g) && tally_is(k, DAY - 3, g) &&
               tally_is(k, DAY, g) && tally_is(k, DAY - 2, 0),
           "view and tallies of generation %u are there", (unsigned)g);
        shown_view_clear(&v);
        shown_view_clear(&want);
    }
    k->ops->close(k);
}

static void old_blocks_lose_their_tallies(void)
{
    struct shown_keep *k = opened();
    struct shown_view v;

    put(k, 4, DAY);
    v = found(k, 1);
    ok(eq_u64(v.nblocks, 2) && tally_is(k, DAY - 3, 0) && tally_is(k, DAY, 4) &&
           tally_is(k, 0, 4),
       "a block that is not kept has no tally any more, but counts");
    shown_view_clear(&v);
    is_status(k->ops->forget(k, is->number, DAY, false, NULL), HSY_OK,
              "days are forgotten");
    v = found(k, 1);
    ok(eq_u64(v.nblocks, 1) && eq_u64(v.blocks[0].first, DAY) &&
           eq_u64(v.ncounts, 2) && tally_is(k, DAY, 4) && tally_is(k, 0, 4),
       "so are their blocks, not their counts");
    shown_view_clear(&v);
    is_status(k->ops->forget(k, is->number, 0, true, NULL), HSY_OK,
              "an entry is forgotten");
    v = found(k, 1);
    ok(eq_u64(v.ncounts, 2) && eq_u64(v.generation, 4) && tally_is(k, DAY, 0) &&
           tally_is(k, 0, 0) && (place == NULL || v.gone),
       "its counts stay, its tallies go");
    shown_view_clear(&v);
    is_status(k->ops->forget(k, is->number + 1, 0, true, NULL), HSY_OK,
              "of one that was never shown there is nothing to forget");
    k->ops->close(k);
}

/* ---- What is shared ------------------------------------------------------ */

static void others_are_seen(void)
{
    struct shown_keep *a = opened(), *b = opened();
    struct shown_view at_a = {0}, at_b = {0};
    uint64_t known[RIG_TASKS] = {0};
    struct found f = {.n = 0};
    bool newer;

    put(a, 5, 0);
    ok(eq_status(enter(b, SHOWN_READS, &at_b, &newer), HSY_OK) && newer &&
           eq_u64(at_b.generation, 5),
       "a reader sees what another node has put");
    put(a, 6, 0);
    ok(eq_status(enter(a, SHOWN_READS, &at_a, &newer), HSY_OK) && newer &&
           eq_u64(at_a.generation, 6),
       "another one later sees the next");
    {
        int64_t *words = calloc(is->words, sizeof *words);

        ok(words != NULL &&
               eq_status(b->ops->add(b, SHOWN_READS, is->number, 0, words,
                                     is->words, NULL),
                         HSY_OK) &&
               eq_int(words[7], word(5, 0, 7)),
           "who has entered before reads the tally of the view it has");
        free(words);
    }
    is_status(leave(a, SHOWN_READS, true), HSY_OK, "one leaves");
    is_status(leave(b, SHOWN_READS, true), HSY_OK, "the other too");
    ok(eq_status(enter(a, SHOWN_MAKES, &at_a, &newer), HSY_OK) && !newer,
       "a maker that has the newest is told of no other");
    ok(eq_status(enter(b, SHOWN_MAKES, &at_b, &newer), HSY_E_BUSY),
       "no other makes one in the meantime");
    is_status(leave(a, SHOWN_MAKES, false), HSY_OK, "it makes none");
    ok(eq_status(enter(b, SHOWN_MAKES, &at_b, &newer), HSY_OK) && newer &&
           eq_u64(at_b.generation, 6),
       "then the other is told of the one that it does not have");
    is_status(leave(b, SHOWN_MAKES, newer), HSY_OK, "which it can show now");
    known[is->number] = at_b.version;
    ok(eq_status(b->ops->read(b, known, RIG_TASKS, find, &f, NULL), HSY_OK) &&
           eq_u64(f.n, 0),
       "what is known is not handed over again");
    is_status(a->ops->backup(a, "/tmp", NULL), HSY_E_REFUSED,
              "the database has its own backups");
    shown_view_clear(&at_a);
    shown_view_clear(&at_b);
    a->ops->close(a);
    b->ops->close(b);
}

static hsy_status added(struct shown_keep *k)
{
    int64_t *words = calloc(is->words, sizeof *words);
    struct shown_view v = {0};
    bool newer;
    hsy_status st = enter(k, SHOWN_READS, &v, &newer);

    if (st == HSY_OK)
        st = k->ops->add(k, SHOWN_READS, is->number, 0, words, is->words, NULL);
    (void)leave(k, SHOWN_READS, false);
    shown_view_clear(&v);
    free(words);
    return st;
}

static void damage_is_told(void)
{
    static const char *const cells[] = {
        "update shown_cells set place = 1000 where place = 1",
        "update shown_cells set place = -1 where place = 1",
        "update shown_cells set words = '\\x123456' where place = 1",
        "update shown_cells set words = words || words where place = 1",
        "update shown_cells set words = words || words where place = 2",
    };
    static const char *const views[] = {
        "update shown set view = ''",
        "update shown set view = substr(view, 1, 40)",
        "update shown set view = view || '\\x00'",
        "update shown set version = -1, view = ''",
    };
    struct shown_keep *k = opened();
    struct found f = {.n = 0};
    struct shown_view v = {0};
    bool newer;

    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        db_do(place, "truncate shown, shown_cells");
        put(k, 7, 0);
        ok(eq_status(added(k), HSY_OK) && db_do(place, cells[i]) &&
               eq_status(added(k), HSY_E_DAMAGED),
           "cells that no tally has are damage");
    }
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        db_do(place, "truncate shown, shown_cells");
        put(k, 8, 0);
        ok(db_do(place, views[i]) &&
               eq_status(k->ops->read(k, NULL, 0, find, &f, NULL),
                         HSY_E_DAMAGED) &&
               eq_status(enter(k, SHOWN_READS, &v, &newer), HSY_E_DAMAGED) &&
               eq_status(enter(k, SHOWN_MAKES, &v, &newer), HSY_E_DAMAGED),
           "so is a view that is none");
    }
    k->ops->close(k);
}

int main(int argc, char **argv)
{
    static struct rig r;
    char made[] = "/tmp/hearsay-keep.XXXXXX";

    (void)argc;
    (void)with_postgres(argv, 1);
    directory = mkdtemp(made);
    if (!rig_open(&r) || directory == NULL)
        return 1;
    is = roster_at(r.roster, 2);
    ok(is->words > 8192, "a tally has several pieces");
    generations_follow_each_other();
    old_blocks_lose_their_tallies();
    place = db_open();
    ok(getenv("HSY_PG") == NULL || place != NULL, "the database, if any");
    if (place != NULL) {
        generations_follow_each_other();
        old_blocks_lose_their_tallies();
        others_are_seen();
        damage_is_told();
        pg_place_close(place);
    }
    rig_close(&r);
    ok(chdir(directory) == 0 && unlink("shown.db") == 0 &&
           rmdir(directory) == 0,
       "nothing else is left");
    return tap_done();
}
