/*
 * rehearsal.c - the mark on the store of a rehearsal.
 *
 * The mark is a name among those of merged tallies: it comes with a commit,
 * stays for ever, and is in every backup and archive. No file has that name,
 * for names are hashes.
 */
#include "server/store/rehearsal.h"

#include "host/base/host_fail.h"

#include <string.h>

const uint8_t rehearsal_name[STORE_MERGED] = "hsy rehearsal";

static hsy_status rehearsal_look(void *ctx, const uint8_t name[STORE_MERGED])
{
    bool *marked = ctx;

    *marked |= memcmp(name, rehearsal_name, STORE_MERGED) == 0;
    return HSY_OK;
}

hsy_status rehearsal_mark(struct store *s, struct store_state *state,
                          bool rehearsal, hsy_error *err)
{
    const bool fresh = state->seq == 0 && state->day == 0;
    const struct store_commit mark = {.seq = state->seq + 1,
                                      .merged = rehearsal_name};
    bool marked = false;
    hsy_status st = s->ops->read(
        s, &(struct store_reader){.ctx = &marked, .merged = rehearsal_look},
        err);

    if (st != HSY_OK || marked == rehearsal)
        return st;
    if (marked)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_REHEARSAL,
                         "this directory holds a rehearsal: start with "
                         "--rehearsal FILE, or use another directory");
    if (!fresh)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_REHEARSAL,
                         "this directory was used with the real clock: a "
                         "rehearsal takes one of its own");
    st = s->ops->append(s, &mark, err);
    if (st == HSY_OK)
        state->seq = mark.seq;
    return st;
}
