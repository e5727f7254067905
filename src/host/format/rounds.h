/*
 * rounds.h - of which rounds the reports of a tally are (docs/formats.md, 1).
 *
 * A list beside a tally: reports of one round of one slot, ascending, none
 * twice. Two tallies' lists add up as their cells do.
 */
#ifndef HOST_FORMAT_ROUNDS_H
#define HOST_FORMAT_ROUNDS_H

#include "hearsay.h"

struct rounds {
    hsy_round *list; /* owned */
    size_t n, room;
    uint64_t reports; /* of all */
};

/* Zero it to begin. */
void rounds_clear(struct rounds *r);

/* More reports of a round, of at least 1. HSY_E_NOMEM; HSY_E_OVERFLOW: all of
 * them would pass 2^53. */
hsy_status rounds_add(struct rounds *r, const hsy_round *more, hsy_error *err);

/* What they make of the tally. HSY_E_NOMEM, HSY_E_EMPTY if there are none. */
hsy_status rounds_attend(hsy_attendance *out, const struct rounds *r,
                         hsy_error *err);

/* A round as it stands in a file. */
#define ROUNDS_WIRE 24u

void rounds_put(uint8_t wire[ROUNDS_WIRE], const hsy_round *round);
hsy_round rounds_get(const uint8_t wire[ROUNDS_WIRE]);

/* Whether a comes before b. */
bool rounds_before(const hsy_round *a, const hsy_round *b);

#endif
