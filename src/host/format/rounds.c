/* rounds.c - lists of rounds, in memory and in files. */
#include "host/format/rounds.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST ((uint64_t)1 << 53)

void rounds_clear(struct rounds *r)
{
    free(r->list);
    *r = (struct rounds){0};
}

bool rounds_before(const hsy_round *a, const hsy_round *b)
{
    return a->slot < b->slot || (a->slot == b->slot && a->round < b->round);
}

/* Most come in order: from the end. */
hsy_status rounds_add(struct rounds *r, const hsy_round *more, hsy_error *err)
{
    size_t at = r->n;

    if (more->reports > ROUNDS_MOST - r->reports)
        return host_fail(err, HSY_E_OVERFLOW, HSY_FIELD_ROUNDS,
                         "more than 2^53 reports");
    while (at > 0 && rounds_before(more, &r->list[at - 1]))
        at--;
    if (at > 0 && !rounds_before(&r->list[at - 1], more)) {
        hsy_round *same = &r->list[at - 1];

        same->reports += more->reports;
        r->reports += more->reports;
        same->each = more->each > same->each ? more->each : same->each;
        return HSY_OK;
    }
    if (!grow_room(&r->list, &r->room, r->n + 1, sizeof *r->list))
        return host_nomem(err);
    memmove(&r->list[at + 1], &r->list[at], (r->n - at) * sizeof *r->list);
    r->list[at] = *more;
    r->reports += more->reports;
    r->n++;
    return HSY_OK;
}

hsy_status rounds_attend(hsy_attendance *out, const struct rounds *r,
                         hsy_error *err)
{
    double *scratch = malloc(r->n * sizeof *scratch + 1);
    hsy_status st =
        scratch != NULL
            ? hsy_attend(out, &(hsy_rounds){r->list, r->n}, scratch, err)
            : host_nomem(err);

    free(scratch);
    return st;
}

void rounds_put(uint8_t wire[ROUNDS_WIRE], const hsy_round *round)
{
    bytes_put64(wire, round->slot);
    bytes_put32(wire + 8, round->round);
    bytes_put32(wire + 12, round->each);
    bytes_put64(wire + 16, round->reports);
}

hsy_round rounds_get(const uint8_t wire[ROUNDS_WIRE])
{
    return (hsy_round){.slot = bytes_get64(wire),
                       .round = bytes_get32(wire + 8),
                       .each = bytes_get32(wire + 12),
                       .reports = bytes_get64(wire + 16)};
}
