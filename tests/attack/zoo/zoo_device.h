/*
 * zoo_device.h - clients and ledgers that are wrong in ways others were wrong.
 *
 * A client answers by itself in the world of transcript.h; the checker of
 * transcripts must not believe it. A ledger takes charges or refuses them; the
 * checks in test_zoo_device.c must tell it from one that adds up.
 */
#ifndef ZOO_DEVICE_H
#define ZOO_DEVICE_H

#define WORLD_ROOM 8192u /* a ledger has many releases */
#include "rig/transcript_check.h"

/* ---- Clients ------------------------------------------------------------- */

/* What it remembers of one scheme, under whatever name. */
struct zoo_question {
    uint32_t day;     /* of the last answer */
    uint32_t charged; /* a day or a slot, from 1 on; 0: never */
    uint32_t truth;   /* memoised: the first of the slot */
};

/* An answer that is to be sent the day after. */
struct zoo_answer {
    uint32_t day;  /* 0: none */
    uint32_t name; /* under which it was asked */
    uint8_t payload[2];
};

#define ZOO_ANSWERS 12

struct zoo_client {
    uint32_t day; /* the latest seen */
    uint64_t spent;
    uint32_t calls;
    struct zoo_question question[TRANSCRIPT_RELEASES / 2];
    struct zoo_answer answer[ZOO_ANSWERS];
};

/* A part that is NULL is as it should be. */
struct zoo_device {
    const char *name;
    const char *slip;
    bool memoised;
    void (*keyed)(struct transcript *t, struct zoo_client *c, size_t release,
                  hsy_context *context);
    void (*payload)(uint8_t payload[2], uint32_t truth);
    hsy_status (*accept)(uint32_t truth);
    enum zoo_verdict { ZOO_RATIO = 1, ZOO_SHAPE = 2 } verdict;
};

extern const struct zoo_device zoo_fresh, zoo_memoised; /* without a slip */
extern const struct zoo_device zoo_permanent_redrawn,
    zoo_coins_without_parameters, zoo_coins_by_task_name, zoo_debug_field,
    zoo_fails_for_one_truth;

/* The calls of a small client; t->ctx is its zoo_device. */
extern const struct transcript_client zoo_client_calls;

/* ---- Ledgers ------------------------------------------------------------- */

#define ZOO_SOURCES 2

/* In nano-epsilon; a source's cap is per lifetime. */
struct zoo_caps {
    uint64_t source[ZOO_SOURCES], day, lifetime;
};

/* What may be wrong with a ledger: one bit for each look at it. */
enum zoo_look {
    ZOO_AFFORDS = 1, /* what is exactly affordable, and nothing more */
    ZOO_SMALL = 2,   /* a small charge beside a large one */
    ZOO_SOURCES_SUM = 4,
    ZOO_DAY_SUM = 8,
    ZOO_ENDS = 16,  /* a lifetime does not renew */
    ZOO_WRITER = 32 /* one at a time */
};

struct zoo_ledger {
    const char *name;
    const char *slip;
    unsigned looks; /* enum zoo_look: which ones find it */
    size_t size;    /* of its memory */
    void (*open)(void *memory, const struct zoo_caps *caps);
    /* Whether the charge was taken. */
    bool (*charge)(void *memory, uint32_t day, unsigned source, uint64_t nano);
    /* The same in two halves, as a program with two threads would run it. */
    bool (*begin)(void *memory, uint32_t day, unsigned source, uint64_t nano);
    bool (*end)(void *memory);
};

/* Sums as they should be; they begin with zeros and their caps. */
struct zoo_sums {
    struct zoo_caps caps;
    uint64_t source[ZOO_SOURCES], all, today;
    uint32_t day;
};

static inline void zoo_sums_open(void *memory, const struct zoo_caps *caps)
{
    struct zoo_sums *l = memory;

    memset(l, 0, sizeof *l);
    l->caps = *caps;
}

static inline bool zoo_sums_fit(struct zoo_sums *l, uint32_t day,
                                unsigned source, uint64_t nano)
{
    if (day > l->day) {
        l->day = day;
        l->today = 0;
    }
    return l->source[source] + nano <= l->caps.source[source] &&
           l->today + nano <= l->caps.day && l->all + nano <= l->caps.lifetime;
}

static inline void zoo_sums_add(struct zoo_sums *l, unsigned source,
                                uint64_t nano)
{
    l->source[source] += nano;
    l->today += nano;
    l->all += nano;
}

extern const struct zoo_ledger zoo_budget_in_doubles, zoo_source_left_out,
    zoo_check_then_debit, zoo_budget_renews_daily;

#endif
