/*
 * collector_world.h - devices, a network, a disk and clocks in one process,
 * all from one seed (C08).
 *
 * Each report is a cell of its own, so whatever happens each cell must be
 * counted 0 or 1 times, and once if the collector has acknowledged it. Nulls
 * are never counted. The network drops, doubles, delays, reorders, cuts and
 * damages; old messages come again days later; the disk fills, the process is
 * killed between and within calls of the store; the collector's clock is wrong.
 *
 * Who collects is a table of functions: the real engine (collector_real.h), or
 * one of the zoo's, which must be caught.
 */
#ifndef COLLECTOR_WORLD_H
#define COLLECTOR_WORLD_H

#include "rig/engine_rig.h"

#define WORLD_ITEMS 240u

#define WORLD_DAY 80u /* ticks of a day */

#define WORLD_MESSAGES 2048u

#define WORLD_BATCH 4u /* items of a request, at most */

#define WORLD_WIRE (HSY_UPLOAD_WIRE + 8u)

#define WORLD_STEP 3u /* days that a believable clock may be ahead */

/* An upload that a device wants counted. */
struct world_item {
    uint32_t device, task, epoch, cell;
    uint32_t born; /* tick */
    uint32_t twin; /* an item with the same id and other bytes, or NONE */
    bool null;
    bool liar;   /* it brings its report several times under one id */
    bool done;   /* the device sends it no more */
    bool acked;  /* the collector has acknowledged it */
    bool closed; /* the collector has called its epoch closed */
    uint8_t bytes[WORLD_WIRE];
    size_t len;
};

/* A request on its way, or the answer to it. */
struct world_message {
    uint32_t due; /* tick; 0: the place is free */
    bool answer;
    uint32_t n, item[WORLD_BATCH];
    enum { WORLD_WHOLE, WORLD_CUT, WORLD_DAMAGED } harm;
    bool final[WORLD_BATCH]; /* answers: it need not come again */
};

/* A request that the collector has read and not admitted. */
struct world_request {
    struct submission s;
    struct world_message of;
};

struct world;

/* Who collects. HSY_E_IO from any: its process is gone. */
struct world_collector {
    const char *name, *slip;
    bool (*open)(struct world *w); /* also after a crash */
    void (*kill)(struct world *w);
    hsy_status (*tell)(struct world *w, struct engine_time now);
    void (*mend)(struct world *w); /* the operator accepts the clock */
    struct intake_days (*days)(struct world *w);
    hsy_status (*admit)(struct world *w, struct submission *list);
    hsy_status (*work)(struct world *w); /* a bit of what it does besides */
    hsy_status (*rest)(struct world *w); /* all of it */
    /* The first WORLD_ITEMS cells of a task in some days, or in all (0, 0);
     * false if there is no tally of them. */
    bool (*cells)(struct world *w, uint32_t task, uint32_t first, uint32_t last,
                  int64_t cells[WORLD_ITEMS]);
    bool (*sound)(struct world *w); /* whatever else must hold */
    const struct intake_gate *gate; /* NULL: an upload has one report */
    bool quotas;                    /* it knows tokens */
    bool doubts;                    /* it may say that it does not know */
    bool apart;                     /* ids of two tasks are not compared */
    void (*end)(struct world *w);   /* of a seed; may be NULL */
};

struct world {
    const struct world_collector *is;
    void *state; /* the collector's */
    uint64_t random;
    uint32_t tick;
    int64_t skew; /* days of the collector's clock */
    bool calm;    /* nothing goes wrong any more */
    struct rig rig;
    struct world_item items[WORLD_ITEMS];
    struct world_message messages[WORLD_MESSAGES];
    struct world_request *waiting[WORLD_MESSAGES];
    size_t nwaiting;
    uint32_t merged; /* files that the collector has acknowledged, a bit each */
    uint64_t crashes, acks, replays, fulls;
    const char *fault; /* what was found wrong; NULL: nothing */
};

/* ---- Chance -------------------------------------------------------------- */

uint32_t world_below(struct world *w, uint32_t n);

/* Once in n times, while things go wrong at all. */
bool world_harm(struct world *w, uint32_t n);

/* ---- The collector's side ------------------------------------------------ */

/* Everything in memory is gone. */
void world_crash(struct world *w);

/* ---- A life -------------------------------------------------------------- */

/* All of a seed; what was found wrong, or NULL. */
const char *world_live(struct world *w, const struct world_collector *is,
                       uint64_t seed);

#endif
