/* Tests of src/server/engine/receive.c: a batch of a shuffler is counted once,
 * whatever crashes; an envelope that comes again is left out. */
#include "rig/engine_rig.h"
#include "tap.h"

#define RECEIVE_MOST 64u

/* A batch of envelopes, the numbers first to first + n - 1: each is a cell. */
struct parcel {
    struct engine_delivery d;
    uint8_t items[RECEIVE_MOST * 2], names[RECEIVE_MOST][16];
    bool null[RECEIVE_MOST];
    uint8_t heads[256];
    struct store_mix mix;
};

static void parcel_fill(struct parcel *p, const struct rig *r, uint8_t id,
                        uint32_t epoch, uint32_t first, uint32_t n)
{
    const struct roster_entry *entry = roster_at(r->roster, 0);
    const size_t item = hsy_packed_size(entry->scheme, 1);

    memset(p, 0, sizeof *p);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t cell = first + i;
        const uint8_t report[2] = {(uint8_t)cell, (uint8_t)(cell >> 8)};

        hsy_pack(entry->scheme, p->items + i * item, report, 1);
        memcpy(p->names[i], &cell, sizeof cell);
        p->names[i][15] = 0xee;
    }
    p->d = (struct engine_delivery){.entry = 0,
                                    .epoch = epoch,
                                    .heads = p->heads,
                                    .heads_len = sizeof p->heads,
                                    .type = STORE_REPORTS,
                                    .n = n,
                                    .item = item,
                                    .items = p->items,
                                    .names = (const uint8_t(*)[16])p->names,
                                    .null = p->null};
    memset(p->d.id, id, sizeof p->d.id);
    memset(p->d.digest, 0xd0, sizeof p->d.digest);
}

/* Whether all cells of a span are counted so often. */
static bool parcel_counted(struct rig *r, uint32_t first, uint32_t n,
                           int64_t times)
{
    for (uint32_t i = first; i < first + n; i++)
        if (rig_cell(r, 0, 0, 0, i) != times)
            return false;
    return true;
}

static struct store_count parcel_count(struct rig *r, uint32_t epoch)
{
    struct store_count all[16], none = {0};
    const size_t n = engine_counts(r->e, 0, all, 16);

    for (size_t i = 0; i < n && i < 16; i++)
        if (all[i].epoch == epoch)
            return all[i];
    return none;
}

/* ---- One batch ----------------------------------------------------------- */

static void a_batch_is_counted_once(struct rig *r)
{
    static struct parcel p;
    hsy_error err;

    parcel_fill(&p, r, 1, RIG_DAY - 1, 0, 20);
    p.null[3] = p.null[7] = true;
    p.d.unopened = 2;
    is_status(engine_receive(r->e, &p.d, &err), HSY_OK, "a batch comes");
    ok(!p.d.known && p.d.taken == 18 && p.d.nulls == 2 && p.d.again == 0,
       "of 20 two are null");
    rig_fold(r);
    ok(rig_cell(r, 0, 0, 0, 0) == 1 && rig_cell(r, 0, 0, 0, 3) == 0 &&
           parcel_counted(r, 8, 12, 1),
       "each is counted, and the null ones are not");
    ok(rig_cell(r, 0, RIG_DAY - 1, RIG_DAY - 1, 12) == 1,
       "in the tally of its day too");
    ok(parcel_count(r, RIG_DAY - 1).reports == 18 &&
           parcel_count(r, RIG_DAY - 1).nulls == 2,
       "under the batch's epoch");

    is_status(engine_receive(r->e, &p.d, &err), HSY_OK, "it comes again");
    ok(p.d.known && p.d.taken == 18 && p.d.nulls == 2 && p.d.unopened == 2,
       "and is known, with what became of it");
    rig_fold(r);
    ok(parcel_counted(r, 8, 12, 1), "nothing was counted twice");

    p.d.digest[0] ^= 1;
    is_status(engine_receive(r->e, &p.d, &err), HSY_E_MISMATCH,
              "its id with other bytes is refused");
}

static void a_replay_is_left_out(struct rig *r)
{
    static struct parcel p;
    hsy_error err;

    parcel_fill(&p, r, 2, RIG_DAY, 10, 20); /* 10 to 19 have come */
    is_status(engine_receive(r->e, &p.d, &err), HSY_OK, "a later batch");
    ok(p.d.taken == 10 && p.d.again == 10, "half of it has come before");
    rig_fold(r);
    ok(parcel_counted(r, 10, 20, 1), "and is left out");
    rig_restart(r);
    rig_fold(r);
    parcel_fill(&p, r, 3, RIG_DAY, 10, 20);
    engine_receive(r->e, &p.d, &err);
    ok(p.d.taken == 0 && p.d.again == 20, "after a restart as well");
}

/* Batches of an epoch; zeros: none. */
static struct engine_batches parcel_batches(struct rig *r, uint32_t epoch,
                                            bool folded)
{
    struct engine_batches *all = NULL, found = {0};
    size_t n = 0;

    if (engine_batches(&all, &n, r->e, 0, folded, NULL) != HSY_OK)
        ok(false, "there are batches");
    for (size_t i = 0; i < n; i++) {
        if (i != 0 && all[i].epoch <= all[i - 1].epoch)
            ok(false, "they ascend");
        if (all[i].epoch == epoch)
            found = all[i];
    }
    free(all);
    return found;
}

static bool parcel_sum(const struct engine_batches *b, uint64_t batches,
                       uint64_t least, uint64_t reports)
{
    return eq_u64(b->sum.batches, batches) && eq_u64(b->sum.least, least) &&
           eq_u64(b->sum.reports, reports);
}

static void batches_are_known(struct rig *r)
{
    static struct parcel p;
    struct engine_batches b = parcel_batches(r, RIG_DAY - 1, true);
    hsy_error err;

    ok(parcel_sum(&b, 1, 18, 18) && eq_u64(b.nulls, 2) &&
           eq_u64(b.unopened, 2) && eq_u64(b.empty, 0),
       "what came of the first batch is known");
    b = parcel_batches(r, RIG_DAY, true);
    ok(parcel_sum(&b, 1, 10, 10) && eq_u64(b.empty, 1),
       "one that had nothing new is none");
    parcel_fill(&p, r, 30, RIG_DAY, 300, 7);
    engine_receive(r->e, &p.d, &err);
    b = parcel_batches(r, RIG_DAY, true);
    ok(parcel_sum(&b, 1, 10, 10), "one that is not folded is not in a tally");
    b = parcel_batches(r, RIG_DAY, false);
    ok(parcel_sum(&b, 2, 7, 17), "but it is here");
    rig_fold(r);
    b = parcel_batches(r, RIG_DAY, true);
    ok(parcel_sum(&b, 2, 7, 17), "and then it is in it, the smallest");
    engine_receive(r->e, &p.d, &err);
    parcel_fill(&p, r, 31, RIG_DAY, 320, 30);
    engine_receive(r->e, &p.d, &err);
    rig_restart(r);
    b = parcel_batches(r, RIG_DAY, true);
    ok(parcel_sum(&b, 3, 7, 47) && eq_u64(b.empty, 1) &&
           parcel_counted(r, 320, 30, 1),
       "a restart folds all, and knows all, and none twice");
    b = parcel_batches(r, RIG_DAY - 1, false);
    ok(parcel_sum(&b, 1, 18, 18) && eq_u64(b.nulls, 2) && eq_u64(b.unopened, 2),
       "of each day");
}

/* Anybody can send the inside of an upload again under another id, which the
 * hop before cannot see: refusing the batch would keep the others in it from
 * being counted for ever. */
static void replays_keep_out_nobody_else(struct rig *r)
{
    static struct parcel p;
    hsy_error err;

    parcel_fill(&p, r, 4, RIG_DAY, 25, 10); /* 5 have come */
    is_status(engine_receive(r->e, &p.d, &err), HSY_OK,
              "takes a batch of which half has come before");
    ok(eq_u64(p.d.again, 5) && eq_u64(p.d.taken + p.d.nulls, 5),
       "counts the half that has not");
}

static void an_epoch_that_is_closed(struct rig *r)
{
    static struct parcel p;
    hsy_error err;

    rig_day(r, RIG_DAY + 6);
    parcel_fill(&p, r, 5, RIG_DAY, 100, 10);
    is_status(engine_receive(r->e, &p.d, &err), HSY_OK,
              "a batch of a closed epoch is taken: nobody is to lose it");
    parcel_fill(&p, r, 6, RIG_DAY, 100, 10);
    engine_receive(r->e, &p.d, &err);
    ok(p.d.again == 10,
       "and its envelopes are known while a later one is open");
}

/* Replay the batch on each of the next days: the hop before says an epoch, and
 * must not choose by it how long ids are kept. */
static void replays_under_an_old_epoch(struct rig *r)
{
    static const struct {
        uint32_t epoch; /* days before the day on which the batch comes */
        const char *what;
    } old[] = {{0, "today"},
               {1, "yesterday"},
               {2, "the oldest open epoch"},
               {3, "the last closed epoch"},
               {9, "a long closed epoch"}};
    static struct parcel p;
    hsy_error err;

    for (uint32_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        const uint8_t id = (uint8_t)(60 + 3 * i);
        const uint32_t day = RIG_DAY + 10 * (i + 1);
        const uint32_t first = 700 + 20 * i;

        rig_day(r, day);
        parcel_fill(&p, r, id, day - old[i].epoch, first, 10);
        engine_receive(r->e, &p.d, &err);
        is_u64(p.d.taken, 10, "takes a batch of %s", old[i].what);
        for (uint32_t later = 1; later <= 2; later++) {
            rig_day(r, day + later);
            parcel_fill(&p, r, (uint8_t)(id + later), day - old[i].epoch, first,
                        10);
            engine_receive(r->e, &p.d, &err);
            is_u64(p.d.again, 10, "leaves out its replay %u days later", later);
        }
    }
}

/* Rows of older batches are forgotten at a shuffler. */
static void a_sealed_batch_is_not_too_old(struct rig *r)
{
    static struct parcel p;
    const uint32_t day = RIG_DAY + STORE_RECEIVED_DAYS - 50;
    hsy_error err = {0};

    for (uint32_t d = RIG_DAY + 60; d < day; d += 10)
        rig_day(r, d);
    rig_day(r, day);
    for (uint32_t old = 0; old < 2; old++) {
        parcel_fill(&p, r, (uint8_t)(200 + old), RIG_DAY - 50 - old, 1000, 10);
        p.d.type = STORE_SEALED;
        p.d.null = NULL;
        is_status(engine_receive(r->e, &p.d, &err),
                  old == 1 ? HSY_E_REFUSED : HSY_OK, "%s",
                  old == 1 ? "refuses sealed batches of 401 days ago"
                           : "takes a sealed batch of 400 days ago");
    }
    is_text(err.msg, "more than 400 days old", "says why");
}

/* An envelope opens in its period and the next one. */
static void ids_are_kept_for_two_periods(struct rig *r)
{
    const uint32_t day = RIG_DAY + STORE_RECEIVED_DAYS - 40;
    static struct parcel p;
    hsy_error err;

    rig_day(r, day);
    parcel_fill(&p, r, 210, day, 500, 10);
    engine_receive(r->e, &p.d, &err);
    is_u64(p.d.taken, 10, "takes a batch");
    for (uint32_t d = 0; d <= 2 * SEAL_PERIOD_DAYS - 1; d += 9)
        rig_day(r, day + d);
    rig_restart(r);
    parcel_fill(&p, r, 211, day, 500, 10);
    engine_receive(r->e, &p.d, &err);
    is_u64(p.d.again, 10, "leaves out its replay 63 days later");
}

static void days_that_are_none(struct rig *r)
{
    static const struct {
        uint32_t epoch;
        hsy_status status;
        const char *what;
    } days[] = {{0, HSY_E_REFUSED, "no day"},
                {RIG_DAY - 101, HSY_E_REFUSED, "a day before the task"},
                {RIG_DAY + 7, HSY_E_BUSY, "tomorrow"},
                {ENGINE_MERGED + RIG_DAY, HSY_E_BUSY, "a merged tally's day"},
                {UINT32_MAX, HSY_E_BUSY, "the last number"}};
    static struct parcel p;
    const uint64_t appends = r->store.appends;
    hsy_error err;

    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        parcel_fill(&p, r, 50, days[i].epoch, 600, 10);
        is_status(engine_receive(r->e, &p.d, &err), days[i].status, "%s",
                  days[i].what);
    }
    ok(r->store.appends == appends, "changes nothing");
}

/* ---- Sealed ones --------------------------------------------------------- */

static void envelopes_go_to_the_store_as_they_are(struct rig *r)
{
    static struct parcel p;
    uint64_t reports = 0;
    size_t rows = 0, bytes = 0;
    hsy_error err;

    parcel_fill(&p, r, 7, RIG_DAY + 5, 200, 10);
    engine_receive(r->e, &p.d, &err);
    rig_fold(r);
    rig_write(r);
    parcel_fill(&p, r, 8, RIG_DAY + 5, 195, 20); /* 200 to 209 have come */
    p.d.type = STORE_SEALED;
    p.d.null = NULL;
    p.d.mix = &p.mix;
    p.mix.state = STORE_MIX_CLOSED;
    is_status(engine_receive(r->e, &p.d, &err), HSY_OK, "sealed ones come");
    for (size_t i = 0; i < r->store.batches.n; i++)
        if (r->store.batches.all[i].type == STORE_SEALED) {
            rows++;
            reports += r->store.batches.all[i].reports;
            bytes += r->store.batches.all[i].len;
        }
    ok(rows == 2 && reports == 10 && bytes == 10 * p.d.item,
       "those before and after what has come, in rows");
    ok(r->store.nmixes == 1 && r->store.mixes[0].through == r->store.state.seq,
       "with the row of what becomes of them, in the same commit");
    rig_fold(r);
    ok(rig_cell(r, 0, 0, 0, 196) == 0, "none is counted");
    rig_restart(r);
    ok(rig_cell(r, 0, 0, 0, 196) == 0, "nor after a restart");
}

/* ---- Crashes ------------------------------------------------------------- */

/* The receiver crashes in the commit, which was done or was not; the sender has
 * no receipt and sends it again. */
static void crashes_lose_and_double_nothing(void)
{
    static struct parcel p;
    bool good = true;

    for (int done = 0; done < 2; done++) {
        static struct rig r;
        hsy_error err;
        hsy_status st;

        if (!rig_open(&r) || rig_day(&r, RIG_DAY) != HSY_OK)
            return;
        parcel_fill(&p, &r, 1, RIG_DAY - 1, 0, 30);
        r.store.crash_at = r.store.calls + 1;
        r.store.crash_done = done == 1;
        st = engine_receive(r.e, &p.d, &err);
        good = good && st == HSY_E_IO;
        r.store.crash_at = 0;
        good = good && rig_restart(&r) == HSY_OK;
        st = engine_receive(r.e, &p.d, &err);
        good = good && st == HSY_OK && p.d.known == (done == 1);
        rig_fold(&r);
        good = good && parcel_counted(&r, 0, 30, 1) && r.store.faults == 0;
        rig_close(&r);
    }
    ok(good, "killed in the commit: counted once, done or not done");
}

static void no_room_changes_nothing(struct rig *r)
{
    static struct parcel p;
    hsy_error err;

    parcel_fill(&p, r, 9, RIG_DAY + 5, 400, 10);
    r->store.full = true;
    is_status(engine_receive(r->e, &p.d, &err), HSY_E_FULL, "a full disk");
    r->store.full = false;
    is_status(engine_receive(r->e, &p.d, &err), HSY_OK,
              "and later there is room");
    ok(p.d.taken == 10 && p.d.again == 0, "for all of it");
}

/* A hop that was off for three days and gets no uploads. */
static void batches_speak_for_a_clock(void)
{
    const uint64_t noon = (uint64_t)(RIG_DAY + 3) * 86400 + 43200;
    static struct parcel p;
    static struct rig r;
    struct engine_status is;
    hsy_error err;

    if (!rig_open(&r) || rig_day(&r, RIG_DAY) != HSY_OK ||
        rig_restart(&r) != HSY_OK)
        return;
    engine_tell(r.e, (struct engine_time){noon, r.steady}, NULL);
    parcel_fill(&p, &r, 1, RIG_DAY + 2, 0, 10);
    is_status(engine_receive(r.e, &p.d, &err), HSY_E_BUSY,
              "does not take a batch of a day that its clock may be wrong on");
    r.steady += ENGINE_TRIAL;
    engine_tell(r.e, (struct engine_time){noon + ENGINE_TRIAL, r.steady}, NULL);
    engine_status(r.e, &is);
    is_u64(is.day, RIG_DAY + 3, "believes its clock when batches say the same");
    is_status(engine_receive(r.e, &p.d, &err), HSY_OK, "takes the batch then");
    rig_close(&r);
}

int main(void)
{
    static struct rig r;

    if (!rig_open(&r) || rig_day(&r, RIG_DAY) != HSY_OK)
        return 1;
    a_batch_is_counted_once(&r);
    a_replay_is_left_out(&r);
    batches_are_known(&r);
    replays_keep_out_nobody_else(&r);
    an_epoch_that_is_closed(&r);
    days_that_are_none(&r);
    envelopes_go_to_the_store_as_they_are(&r);
    no_room_changes_nothing(&r);
    replays_under_an_old_epoch(&r);
    a_sealed_batch_is_not_too_old(&r);
    ids_are_kept_for_two_periods(&r);
    is_u64(r.store.faults, 0, "no rule of the store was broken");
    rig_close(&r);
    crashes_lose_and_double_nothing();
    batches_speak_for_a_clock();
    return tap_done();
}
