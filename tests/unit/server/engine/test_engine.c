/*
 * test_engine.c - which uploads are counted: each once, within its day, its
 * quota and the room there is, whatever becomes of the store.
 */
#include "rig/engine_rig.h"
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
    is_u64(rig_one(&r, a), INTAKE_COUNTED, "an upload is counted");
    is_u64(rig_one(&r, a), INTAKE_AGAIN, "the same bytes are counted before");
    is_u64(rig_one(&r, other), INTAKE_CONFLICT,
           "the same id with other bytes is a conflict");
    a.epoch++;
    is_u64(rig_one(&r, a), INTAKE_CONFLICT,
           "an id counts once whatever epoch it is sent under");
    for (size_t i = 0; i < 3; i++)
        three[i] = up(2, 20);
    three[2].first = 21;
    rig_admit(&r, three, 3, verdicts);
    ok(eq_u64(verdicts[0], INTAKE_COUNTED) &&
           eq_u64(verdicts[1], INTAKE_AGAIN) &&
           eq_u64(verdicts[2], INTAKE_CONFLICT),
       "the same holds within a request");
    ok(eq_status(rig_fold(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 10) == 1 &&
           rig_cell(&r, 0, 0, 0, 11) == 0 && rig_cell(&r, 0, 0, 0, 20) == 1 &&
           rig_cell(&r, 0, 0, 0, 21) == 0,
       "the tally has each once");
    ok(rig_cell(&r, 0, RIG_DAY, RIG_DAY, 10) == 1 &&
           rig_cell(&r, 0, RIG_DAY + 1, RIG_DAY + 1, 10) == -1,
       "and so has that of its day");
    is_u64(r.store.appends, 2, "a group is one commit, of what is new only");
    ok(eq_status(rig_restart(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 10), 1) &&
           eq_int(rig_one(&r, up(2, 20)), INTAKE_AGAIN),
       "all of it is there after a restart without a checkpoint");
    is_u64(r.store.faults, 0, "no rule of the store was broken");
    rig_close(&r);
}

/* Several requests, with tokens, in one group. */
static hsy_status group(struct rig *r, struct submission *s,
                        struct intake_upload *u,
                        uint8_t (*payload)[RIG_PAYLOAD],
                        const struct rig_upload *of, size_t n, uint32_t quota)
{
    for (size_t i = 0; i < n; i++) {
        rig_fill(r, &u[i], payload[i], &of[i]);
        u[i].enrolled = quota != 0;
        s[i] = (struct submission){.next = i + 1 < n ? &s[i + 1] : NULL,
                                   .in = {.uploads = &u[i], .n = 1},
                                   .token = {7},
                                   .quota = quota,
                                   .outcome = HSY_E_BUSY};
    }
    return engine_admit(r->e, s, NULL);
}

static void concurrent_requests(void)
{
    struct rig r;
    struct submission s[3];
    struct intake_upload u[3];
    uint8_t payload[3][RIG_PAYLOAD];
    const struct rig_upload same[3] = {up(1, 1), up(1, 1), up(1, 1)};

    rig_open(&r);
    group(&r, s, u, payload, same, 3, 0);
    ok(eq_status(s[0].outcome, HSY_OK) && eq_status(s[2].outcome, HSY_OK) &&
           eq_int(u[0].verdict, INTAKE_COUNTED) &&
           eq_int(u[1].verdict, INTAKE_AGAIN) &&
           eq_int(u[2].verdict, INTAKE_AGAIN) &&
           eq_status(rig_fold(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 1), 1),
       "one report in three requests at once is counted once "
       "(jobs_see_old_commits)");
    u[0].verdict = INTAKE_SCHEME;
    ok(eq_status(engine_admit(r.e, &s[0], NULL), HSY_OK) &&
           eq_u64(u[0].verdict, INTAKE_SCHEME),
       "what was refused before stays refused");
    rig_close(&r);
}

static void quotas(void)
{
    struct rig r;
    struct submission s[4];
    struct intake_upload u[4];
    uint8_t payload[4][RIG_PAYLOAD];
    const struct rig_upload of[4] = {up(1, 1), up(2, 2), up(3, 3), up(1, 1)};
    struct rig_upload next_day = up(4, 4);

    rig_open(&r);
    r.store.full = true;
    is_status(group(&r, s, u, payload, of, 2, 2), HSY_E_FULL, "a full disk");
    r.store.full = false;
    group(&r, s, u, payload, of, 4, 2);
    ok(eq_u64(u[0].verdict, INTAKE_COUNTED) &&
           eq_u64(u[1].verdict, INTAKE_COUNTED) &&
           eq_u64(u[2].verdict, INTAKE_QUOTA),
       "a token brings as many as its quota; what failed was not charged");
    is_u64(u[3].verdict, INTAKE_AGAIN, "a retry costs nothing");
    next_day.epoch++;
    group(&r, s, u, payload, &next_day, 1, 2);
    is_u64(u[0].verdict, INTAKE_COUNTED,
           "another epoch has a quota of its own");
    is_status(rig_restart(&r), HSY_OK, "after a restart");
    group(&r, s, u, payload, &of[2], 1, 2);
    is_u64(u[0].verdict, INTAKE_QUOTA, "what was used stays used");
    group(&r, s, u, payload, &of[2], 1, 0);
    is_u64(u[0].verdict, INTAKE_COUNTED, "a task without tokens has no quota");
    rig_close(&r);
}

static void nulls(void)
{
    struct rig r;
    struct rig_upload null = up(1, 5), report = up(1, 5);
    struct store_count count;

    null.kind = 2;
    rig_open(&r);
    ok(eq_u64(rig_one(&r, null), INTAKE_COUNTED) &&
           eq_u64(rig_one(&r, null), INTAKE_AGAIN),
       "a null upload is noted once");
    is_u64(rig_one(&r, report), INTAKE_CONFLICT, "its id is taken");
    ok(rig_one(&r, up(2, 6)) == INTAKE_COUNTED &&
           eq_status(rig_fold(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 5) == 0 &&
           rig_cell(&r, 0, 0, 0, 6) == 1,
       "and it is never folded");
    ok(eq_u64(engine_counts(r.e, 0, &count, 1), 1) &&
           eq_u64(count.epoch, RIG_DAY) && eq_u64(count.reports, 1) &&
           eq_u64(count.nulls, 1),
       "the counts know both");
    is_u64(engine_counts(r.e, 99, &count, 1), 0, "of no entry there are none");
    rig_close(&r);
}

static void full_disk(void)
{
    struct rig r;
    struct engine_status before, after;

    rig_open(&r);
    rig_one(&r, up(1, 1));
    engine_status(r.e, &before);
    r.store.full = true;
    is_u64(rig_one(&r, up(2, 2)), INTAKE_FULL,
           "a full disk acknowledges nothing");
    engine_status(r.e, &after);
    is_bytes(&before, &after, offsetof(struct engine_status, tally_bytes),
             "and everything is as before");
    r.store.full = false;
    ok(eq_int(rig_one(&r, up(2, 2)), INTAKE_COUNTED) &&
           eq_status(rig_fold(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 2), 1),
       "with room again it is counted");
    r.store.crashed = true;
    is_status(engine_admit(r.e, NULL, NULL), HSY_OK, "nothing needs no store");
    is_u64(rig_one(&r, up(3, 3)), INTAKE_FULL, "a store that fails");
    r.store.crashed = false;
    ok(eq_u64(rig_one(&r, up(4, 4)), INTAKE_FULL) &&
           eq_status(rig_day(&r, RIG_DAY + 1), HSY_E_IO),
       "is not trusted again until it is opened again");
    rig_close(&r);
}

static void room(void)
{
    struct rig r;
    struct engine_status status;
    struct rig_upload big = up(3, 0);

    rig_open(&r);
    engine_close(r.e);
    r.options.ids_epoch = 2;
    rig_start(&r);
    ok(eq_u64(rig_one(&r, up(1, 1)), INTAKE_COUNTED) &&
           eq_u64(rig_one(&r, up(2, 2)), INTAKE_COUNTED) &&
           eq_u64(rig_one(&r, up(3, 3)), INTAKE_FULL) &&
           eq_u64(rig_one(&r, up(1, 1)), INTAKE_AGAIN),
       "a full epoch takes no more ids, and forgets none");
    r.options.ids_epoch = 100;
    r.options.fold_bytes = 40;
    rig_restart(&r);
    big.n = 8; /* 4 bytes and 10 */
    is_u64(rig_one(&r, big), INTAKE_COUNTED, "what may wait has a bound");
    big.id = 4;
    is_u64(rig_one(&r, big), INTAKE_FULL, "an entry gets half of it");
    big.id = 5;
    big.task = 1;
    is_u64(rig_one(&r, big), INTAKE_COUNTED, "another one gets its own");
    is_status(rig_fold(&r), HSY_OK, "when it is folded");
    big.id = 4;
    big.task = 0;
    is_u64(rig_one(&r, big), INTAKE_COUNTED, "there is room again");
    r.options.tally_bytes = 20000;
    rig_restart(&r);
    big.id = 6;
    big.task = 2;
    is_u64(rig_one(&r, big), INTAKE_FULL, "a tally too large for memory");
    engine_status(r.e, &status);
    is_u64(status.refusing, 1, "is told");
    is_int(rig_cell(&r, 0, 0, 0, 0), 2, "what was there before is there");
    rig_close(&r);
}

static void documents(void)
{
    struct rig r;
    size_t len;
    uint8_t *later = rig_document(2, 2, 2, &len);
    struct roster *old, *new;
    hsy_error err = {0};

    rig_open(&r);
    old = engine_roster(r.e);
    ok(eq_status(engine_set_document(r.e, r.document, r.document_len, &err),
                 HSY_OK) &&
           eq_u64(r.store.calls, 2),
       "the document in force changes nothing");
    r.store.full = true;
    is_status(engine_set_document(r.e, later, len, &err), HSY_E_FULL,
              "a full disk");
    r.store.full = false;
    is_status(engine_set_document(r.e, later, len, &err), HSY_OK,
              "a later one is taken");
    new = engine_roster(r.e);
    ok(eq_u64(roster_count(old), 3) && eq_u64(roster_count(new), 5) &&
           !roster_at(new, 0)->current && roster_at(new, 3)->current,
       "its tasks are new entries");
    is_u64(rig_one(&r, up(1, 1)), INTAKE_COUNTED,
           "an upload that was read under the old one still counts");
    is_status(engine_set_document(r.e, r.document, r.document_len, &err),
              HSY_E_OLD, "an older one is refused");
    later[20]++;
    is_status(engine_set_document(r.e, later, len, &err), HSY_E_OLD,
              "so is another of the same version");
    is_status(engine_set_document(r.e, later, len - 1, &err), HSY_E_FORMAT,
              "and one that is cut");
    later[20]--;
    engine_document_drop(engine_document_hold(r.e, &len));
    ok(eq_status(rig_restart(&r), HSY_OK) && eq_u64(roster_count(r.roster), 5),
       "both are kept");
    roster_drop(old);
    roster_drop(new);
    free(later);
    rig_close(&r);
}

int main(void)
{
    counts_once();
    concurrent_requests();
    quotas();
    nulls();
    full_disk();
    room();
    documents();
    return tap_done();
}
