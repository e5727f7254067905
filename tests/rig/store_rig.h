/*
 * store_rig.h - a small engine for tests of a store, and what must be true of
 * the store whatever was done to it.
 *
 * Commit i brings one report, which is cell rig_cell(i) of entry i % 2, on the
 * day 100 + i / 8, with one id. Folding adds a batch to the whole tally and,
 * for entry 0, to that of its day. So afterwards every report up to the last
 * commit must be counted once, in a cell or in a batch, and none beyond it.
 */
#ifndef STORE_RIG_H
#define STORE_RIG_H

#include "host/base/fields.h"
#include "server/store/internal.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RIG_WORDS (STORE_CHUNK + 100u)

#define RIG_CHUNKS 2u

#define RIG_COMMITS 48u /* at most, fewer than words of the small chunk */

#define RIG_DAYS 8u

#define RIG_DAY 100u

/* What is outside of the process that uses the store. */
struct rig_told {
    uint64_t acknowledged; /* the last commit that was HSY_OK */
    uint64_t tried;
    uint32_t closed, tried_closed;
    bool dropped, tried_drop; /* the tally of the first day of entry 0 */
    uint64_t rounds;          /* that were HSY_OK */
};

struct rig {
    struct store *store;
    struct store_state state;
    struct rig_told *told;
    int64_t whole[2][RIG_WORDS];
    int64_t day[RIG_DAYS][RIG_WORDS];
    uint64_t through[2];                  /* folded, in memory */
    bool dirty[2 + RIG_DAYS][RIG_CHUNKS]; /* chunks: of both wholes, of days */
    /* Read back: */
    bool has_day[RIG_DAYS];    /* the store has a tally of it */
    bool pending[RIG_COMMITS]; /* commits that are batches */
    unsigned ids[RIG_COMMITS]; /* how often each id was there */
    struct store_count counts[2][RIG_DAYS];
    unsigned entries, documents, figures;
    const char *wrong; /* the first thing that is */
};

bool rig_is(struct rig *r, bool good, const char *what);

/* ---- Writing ------------------------------------------------------------- */

hsy_status rig_append(struct rig *r, hsy_error *err);

void rig_fold(struct rig *r, uint32_t entry);

/* Chunks of a tally that have changed, one call each. */
hsy_status rig_chunks(struct rig *r, uint32_t entry, uint32_t epoch,
                      const int64_t *words, const bool *dirty, hsy_error *err);

hsy_status rig_round(struct store *s, uint32_t entry, uint64_t through,
                     hsy_error *err);

/* Write the tallies of an entry as they stand. */
hsy_status rig_write(struct rig *r, uint32_t entry, hsy_error *err);

hsy_status rig_document(struct rig *r, hsy_error *err);

hsy_status rig_drop(struct rig *r, hsy_error *err);

hsy_status rig_close_epochs(struct rig *r, uint32_t through, hsy_error *err);

hsy_status rig_figure(struct rig *r, hsy_error *err);

hsy_status rig_tidy(struct rig *r, hsy_error *err);

/* ---- What must be true --------------------------------------------------- */

/* Open the store and hold everything against what was told. */
hsy_status rig_open(struct rig *r, const char *directory, struct rig_told *told,
                    hsy_error *err);

void rig_close(struct rig *r);

/* As an engine does after reading back: fold what was not folded. */
void rig_recover(struct rig *r);

/* ---- A life -------------------------------------------------------------- */

#define RIG_STEPS 64u

/*
 * Step k of a life in which everything happens: commits, rounds of both
 * entries, closed days, a dropped tally, housekeeping. A step that was refused
 * for want of room may be tried again.
 */
hsy_status rig_step(struct rig *r, unsigned k, hsy_error *err);

/* ---- Directories --------------------------------------------------------- */

/* A place for a test's directories: in memory if there is such a place, where
 * nobody waits for a sync. */
bool rig_root(char root[64]);

/* A file of a directory; lasts until the next call. */
char *rig_path(const char *directory, const char *file);

/* What a statement says of a database, or -1. */
int64_t rig_sql(const char *directory, const char *file, const char *text);

void rig_remove(const char *directory);

#endif
