/*
 * runs_world.h - an engine on a store of its own whose ids go to the disk after
 * a few hundred.
 */
#ifndef RUNS_WORLD_H
#define RUNS_WORLD_H

#include "host/base/fields.h"
#include "rig/engine_rig.h"
#include "server/store/admin.h"
#include "server/store/store_runs.h"
#include "tap.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#define AT 500u /* ids that go to the disk */

extern char runs_root[64], runs_at[96], runs_other[96];

/* An engine on a store of its own; r.store is not used. */
struct world {
    struct rig r;
    struct store *store;
    struct store_state state;
    hsy_error err;
};

extern struct world world;

hsy_status world_open(struct world *w, const char *directory);

/* As a kill leaves it: nothing is finished. */
void world_kill(struct world *w);

hsy_status world_again(struct world *w);

void world_new(struct world *w);

void world_end(struct world *w);

/* ---- Uploads ------------------------------------------------------------- */

/* Upload n of a day; every fifth says nothing. */
struct rig_upload world_upload(uint32_t epoch, uint64_t n);

extern size_t world_request; /* uploads of a request, at most 100 */

/* Send uploads from..to of a day; how many had this verdict. */
uint64_t world_send(struct world *w, uint32_t epoch, uint64_t from, uint64_t to,
                    enum intake_verdict wanted);

/* Some steps of housekeeping; until there is no more. */
hsy_status world_settle(struct world *w, unsigned steps);

hsy_status world_rest(struct world *w);

struct engine_status world_status(struct world *w);

/* Files in the directory of runs. */
unsigned world_files(const char *directory);

/* What a statement says of the record, or -1. */
int64_t world_sql(const char *directory, const char *text);

/* A file of the directory of runs; *bytes is its length. */
bool world_a_file(char path[256], off_t *bytes);

/* Where they are. False: there is no room. */
bool world_places(void);

#endif
