/*
 * portions.h - whose ids fill an epoch.
 *
 * An epoch has room for so many ids, and a stranger sends as many as he likes
 * through any open task. So the room is divided: a quarter is kept for uploads
 * with a token, if any task wants one; of the rest each task that is asked has
 * its part of one half, and the other half is for whoever comes. And an open
 * task gets so many new ids a second, so that the first flood does not take all
 * of that before somebody looks. One thread owns it.
 */
#ifndef SERVER_ENGINE_PORTIONS_H
#define SERVER_ENGINE_PORTIONS_H

#include "server/intake/roster.h"

#define PORTIONS_RESERVE 4u    /* one part in so many is for who has a token */
#define PORTIONS_FILL 3600u    /* seconds in which a task may fill an epoch, */
#define PORTIONS_BURST 60u     /* of which so many may come at once; */
#define PORTIONS_RATE 1000u    /* at least so many a second, */
#define PORTIONS_ONCE 1000000u /* and at once */

struct portions_epoch {
    uint32_t epoch;
    uint64_t enrolled; /* ids of uploads with a token */
    uint64_t pooled;   /* of those that are beyond their own part */
    uint64_t *used;    /* by entry: ids of uploads without */
};

struct portions {
    uint64_t limit, reserve, each, pool;
    bool enrols;    /* the reserve is kept */
    size_t entries; /* of used, asked and fresh */
    bool *asked;
    uint64_t *fresh; /* ids that an entry may bring now */
    uint64_t second; /* when that was */
    uint64_t nodes;  /* that share the rate; 0: this one has it */
    struct portions_epoch *epochs;
    size_t n;
};

void portions_clear(struct portions *s);

/* Divide so many ids among the tasks of a roster. What was taken stays taken.
 * False: out of memory, and nothing is changed. */
bool portions_divide(struct portions *s, uint64_t limit,
                     const struct roster *r);

/* Whether some task wants tokens. */
void portions_enrols(struct portions *s, bool any);

/* Room for one more id, which is taken; and given back. */
bool portions_take(struct portions *s, uint32_t epoch, uint32_t entry,
                   bool enrolled);
void portions_give(struct portions *s, uint32_t epoch, uint32_t entry,
                   bool enrolled);

/* Whether an epoch has no id left for any task that is asked, with a token or
 * without: nothing is accepted then. */
bool portions_over(const struct portions *s, uint32_t epoch);

/* What an epoch had before: ids in all, and by entry those without a token. */
bool portions_had(struct portions *s, uint32_t epoch, uint64_t ids,
                  const uint64_t *used);

/* How many ids an entry has in an epoch, without a token. */
uint64_t portions_used(const struct portions *s, uint32_t epoch,
                       uint32_t entry);

/* The name under which a store keeps that, where it keeps what tokens have
 * used: no token has it, but for chance. */
void portions_name(uint8_t name[16], uint32_t entry);

/* Seconds of a clock that only goes on. */
void portions_tick(struct portions *s, uint64_t second);

/* Forget the epochs up to this one. */
void portions_drop(struct portions *s, uint32_t through);

#endif
