/*
 * engine_rig.h - an engine on a store in memory, with tasks whose reports are
 * cells: report v counts cell v and no other, so that every single report can
 * be found again.
 */
#ifndef ENGINE_RIG_H
#define ENGINE_RIG_H

#include "host/format/format.h"
#include "rig/store_memory.h"
#include "server/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#define RIG_DAY 20600u

#define RIG_TASKS 3u /* the last has no tally a day */

extern const uint32_t rig_cells[RIG_TASKS];

struct rig {
    struct memory_store store;
    struct engine_options options;
    struct engine *e;
    struct roster *roster;
    uint8_t *document;
    size_t document_len;
    uint64_t steady; /* seconds */
};

/* ---- Tasks --------------------------------------------------------------- */

/* A document of the first n tasks, under a release, with zeros for a
 * signature. */
uint8_t *rig_document(size_t n, uint32_t release, uint64_t version,
                      size_t *len);

/* ---- Opening ------------------------------------------------------------- */

hsy_status rig_start(struct rig *r);

/* It is noon of a day, by a clock that steps there; a second has passed. */
hsy_status rig_jump(struct rig *r, uint32_t day);

/* Days go by until it is noon of a day. */
hsy_status rig_day(struct rig *r, uint32_t day);

/* The process is gone, and comes back. */
hsy_status rig_restart(struct rig *r);

bool rig_open(struct rig *r);

void rig_close(struct rig *r);

/* ---- Uploads ------------------------------------------------------------- */

#define RIG_PAYLOAD 64u

struct rig_upload {
    uint32_t task, epoch, kind;
    uint64_t id;
    uint32_t n;     /* reports, at most 16 */
    uint32_t first; /* the cell of the first; the others follow */
};

/* As intake would leave it, without what the engine decides. */
void rig_fill(struct rig *r, struct intake_upload *u,
              uint8_t payload[RIG_PAYLOAD], const struct rig_upload *of);

/* Admit some uploads as one request; the verdicts. */
hsy_status rig_admit(struct rig *r, const struct rig_upload *of, size_t n,
                     enum intake_verdict *verdicts);

enum intake_verdict rig_one(struct rig *r, struct rig_upload of);

/* A tally file with a report of each of n cells. */
uint8_t *rig_tally_file(const struct roster_entry *entry, uint32_t first,
                        uint32_t n, size_t *len);

/* ---- Looking ------------------------------------------------------------- */

hsy_status rig_fold(struct rig *r);

hsy_status rig_write(struct rig *r);

/* The cells of a tally, of all days (0, 0) or some; NULL if there is none. The
 * caller frees what it returns, not the cells. */
int64_t *rig_copy(struct rig *r, uint32_t task, uint32_t first, uint32_t last,
                  const int64_t **cells);

/* How often a cell was counted; -1: there is no such tally. */
int64_t rig_cell(struct rig *r, uint32_t task, uint32_t first, uint32_t last,
                 uint32_t cell);

#endif
