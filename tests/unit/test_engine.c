/*
 * test_engine.c - each upload is counted once, whatever happens to the store.
 */
#include "engine_rig.h"
#include "tap.h"

static struct rig_upload up(uint64_t id, uint32_t cell)
{
    return (struct rig_upload){
        .epoch = RIG_DAY, .kind = 1, .id = id, .n = 1, .first = cell};
}

static void counts_once(void)
{
    struct rig r;
    struct rig_upload a = up(1, 10), other = up(1, 11), three[3];
    enum intake_verdict verdicts[3];

    ok(rig_open(&r), "an engine opens on an empty store");
    ok(rig_one(&r, a) == INTAKE_COUNTED, "an upload is counted");
    ok(rig_one(&r, a) == INTAKE_AGAIN, "the same bytes are counted before");
    ok(rig_one(&r, other) == INTAKE_CONFLICT,
       "the same id with other bytes is a conflict");
    a.epoch++;
    ok(rig_one(&r, a) == INTAKE_CONFLICT,
       "an id counts once whatever epoch it is sent under");
    for (size_t i = 0; i < 3; i++)
        three[i] = up(2, 20);
    three[2].first = 21;
    rig_admit(&r, three, 3, verdicts);
    ok(verdicts[0] == INTAKE_COUNTED && verdicts[1] == INTAKE_AGAIN &&
           verdicts[2] == INTAKE_CONFLICT,
       "the same holds within a request");
    ok(rig_fold(&r) == HSY_OK && rig_cell(&r, 0, 0, 0, 10) == 1 &&
           rig_cell(&r, 0, 0, 0, 11) == 0 && rig_cell(&r, 0, 0, 0, 20) == 1 &&
           rig_cell(&r, 0, 0, 0, 21) == 0,
       "the tally has each once");
    ok(rig_cell(&r, 0, RIG_DAY, RIG_DAY, 10) == 1 &&
           rig_cell(&r, 0, RIG_DAY + 1, RIG_DAY + 1, 10) == -1,
       "and so has that of its day");
    ok(r.store.appends == 2, "a group is one commit, of what is new only");
    ok(rig_restart(&r) == HSY_OK && rig_cell(&r, 0, 0, 0, 10) == 1 &&
           rig_one(&r, up(2, 20)) == INTAKE_AGAIN,
       "all of it is there after a restart without a checkpoint");
    ok(r.store.faults == 0, "no rule of the store was broken");
    rig_close(&r);
}

int main(void)
{
    counts_once();
    return tap_done();
}
