/*
 * test_engine_retire.c - a task that is over leaves memory and store; what was
 * counted of it is still known, and nothing more comes in.
 */
#include "rig/engine_rig.h"
#include "rig/sanitized.h"
#include "tap.h"

#include <stdio.h>

static struct rig_upload up(uint32_t task, uint64_t id, uint32_t day)
{
    return (struct rig_upload){.task = task,
                               .epoch = day,
                               .kind = 1,
                               .id = id,
                               .n = 1,
                               .first = (uint32_t)id};
}

static uint64_t memory(struct rig *r)
{
    struct engine_status status;

    engine_status(r->e, &status);
    return status.tally_bytes;
}

static hsy_status ask(struct rig *r, uint32_t release, uint64_t version)
{
    size_t len;
    uint8_t *document = rig_document(RIG_TASKS, release, version, &len);
    const hsy_status st = engine_set_document(r->e, document, len, NULL);

    free(document);
    roster_drop(r->roster);
    r->roster = engine_roster(r->e);
    return st;
}

/* Entries 0 to 2 are of release 1, 3 to 5 of release 2, which is asked. */
static void two_releases(struct rig *r)
{
    rig_open(r);
    r->store.retires = true;
    for (uint32_t i = 0; i < RIG_TASKS; i++)
        rig_one(r, up(i, 1 + i, RIG_DAY));
    ask(r, 2, 2);
    for (uint32_t i = 0; i < RIG_TASKS; i++)
        rig_one(r, up(RIG_TASKS + i, 11 + i, RIG_DAY));
}

static void retires(void)
{
    struct store_count count;
    hsy_error err = {0};
    struct rig r;
    uint64_t before;
    size_t len;
    uint8_t *file;

    two_releases(&r);
    before = memory(&r);
    ok(eq_status(engine_retire(r.e, 3, &err), HSY_E_REFUSED) &&
           eq_status(engine_retire(r.e, 99, &err), HSY_E_RANGE) &&
           !engine_is_retired(r.e, 3),
       "what the document in force asks is not retired, nor what is not there");
    ok(eq_status(engine_retire(r.e, 0, &err), HSY_OK) &&
           engine_is_retired(r.e, 0) &&
           eq_status(engine_retire(r.e, 0, &err), HSY_OK),
       "an old release is, once and for all");
    ok(eq_u64(rig_one(&r, up(0, 7, RIG_DAY)), INTAKE_CLOSED) &&
           eq_u64(rig_one(&r, up(1, 8, RIG_DAY)), INTAKE_COUNTED),
       "nothing more of it is taken; of others it is");
    file = rig_tally_file(roster_at(r.roster, 0), 5, 1, &len);
    is_status(engine_merge(r.e, 0, file, len, &err), HSY_E_RANGE,
              "nor merged in");
    free(file);
    ok(eq_status(rig_write(&r), HSY_OK) && eq_int(rig_cell(&r, 0, 0, 0, 1), 0),
       "while something of it waits to be folded its tally is there");
    ok(eq_status(rig_fold(&r), HSY_OK) && eq_status(rig_write(&r), HSY_OK) &&
           eq_status(rig_write(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 1) == -1 &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY, 1) == -1 &&
           memory(&r) + 2 * 8 * 1000 <= before,
       "then it leaves memory, its days too");
    ok(eq_u64(engine_counts(r.e, 0, &count, 1), 1) &&
           eq_u64(count.epoch, RIG_DAY) && eq_u64(count.reports, 1),
       "its counts stay");
    ok(eq_status(rig_restart(&r), HSY_OK) && engine_is_retired(r.e, 0) &&
           rig_cell(&r, 0, 0, 0, 1) == -1 && rig_cell(&r, 1, 0, 0, 2) == 1 &&
           rig_one(&r, up(0, 9, RIG_DAY)) == INTAKE_CLOSED &&
           engine_counts(r.e, 0, &count, 1) == 1 && count.reports == 1,
       "and all that is so after a restart");
    ok(eq_status(ask(&r, 1, 3), HSY_E_REFUSED) &&
           eq_status(ask(&r, 3, 4), HSY_OK),
       "a document that asks it again is refused");
    is_u64(r.store.faults, 0, "no rule of the store was broken");
    rig_close(&r);
}

/* A kill at any moment: it is retired or not, and nothing else is lost. */
static void killed(void)
{
    unsigned wrong = 0, done = 0;

    for (unsigned at = 1; at < 12; at++) {
        struct rig r;
        bool retired;

        two_releases(&r);
        r.store.crash_at = r.store.calls + at;
        engine_retire(r.e, 1, NULL);
        rig_fold(&r);
        rig_write(&r);
        rig_write(&r);
        r.store.crash_at = 0;
        wrong += rig_restart(&r) != HSY_OK;
        retired = engine_is_retired(r.e, 1);
        done += retired;
        rig_fold(&r);
        rig_write(&r);
        rig_write(&r);
        wrong += rig_cell(&r, 1, 0, 0, 2) != (retired ? -1 : 1);
        wrong += rig_cell(&r, 0, 0, 0, 1) != 1;
        wrong += rig_cell(&r, 4, 0, 0, 12) != 1;
        wrong += r.store.faults != 0;
        rig_close(&r);
    }
    ok(eq_u64(wrong, 0) && done > 5 && done < 11,
       "killed at any moment it is retired or not: %u of 11", done);
}

static void purges(void)
{
    hsy_error err = {0};
    struct rig r;
    uint64_t n = 99, before;

    rig_open(&r);
    rig_one(&r, up(0, 1, RIG_DAY));
    rig_one(&r, up(0, 2, RIG_DAY + 1));
    rig_fold(&r);
    rig_write(&r);
    rig_day(&r, RIG_DAY + 4);
    before = memory(&r);
    is_status(engine_purge(r.e, RIG_DAY + 3, &n, &err), HSY_E_RANGE,
              "days that are open are not purged");
    ok(eq_status(engine_purge(r.e, RIG_DAY + 1, &n, &err), HSY_OK) && n == 0 &&
           eq_status(rig_write(&r), HSY_OK) && memory(&r) < before &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY, 1) == -1 &&
           rig_cell(&r, 0, RIG_DAY + 1, RIG_DAY + 1, 2) == 1 &&
           rig_cell(&r, 0, 0, 0, 1) == 1,
       "tallies of days before another go, and the whole keeps them");
    engine_trim(r.e);
    ok(eq_status(rig_restart(&r), HSY_OK) &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY, 1) == -1 &&
           rig_cell(&r, 0, 0, 0, 1) == 1 && r.store.faults == 0,
       "for ever");
    rig_close(&r);
}

/* ---- Memory -------------------------------------------------------------- */

#define MANY 160000u
#define GROUP 500u

/* Resident bytes of this process. */
static uint64_t resident(void)
{
    unsigned long long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f != NULL && fscanf(f, "%llu %llu", &size, &pages) != 2)
        pages = 0;
    if (f != NULL)
        fclose(f);
    return pages * 4096;
}

/* Ids of a day that has closed are no memory of the process any more. */
static void gives_back(void)
{
    struct rig_upload *of = calloc(GROUP, sizeof *of);
    enum intake_verdict *verdicts = calloc(GROUP, sizeof *verdicts);
    struct engine_status status;
    struct rig r;
    uint64_t high, low;
    void *pin[MANY / GROUP]; /* above them: what is free below stays ours */

    rig_open(&r);
    for (uint32_t k = 0; k < MANY / GROUP; k++) {
        for (uint32_t i = 0; i < GROUP; i++) {
            of[i] = up(0, 1 + k * GROUP + i, RIG_DAY);
            of[i].kind = 2;
            of[i].first = 1;
        }
        rig_admit(&r, of, GROUP, verdicts);
        pin[k] = malloc(20000);
    }
    engine_status(r.e, &status);
    high = resident();
    rig_day(&r, RIG_DAY + 3);
    engine_trim(r.e);
    low = resident();
    ok(eq_u64(status.ids, MANY) && high > low + status.ids_bytes * 3 / 4,
       "the ids of a day took %llu KiB, and %llu KiB were given back",
       (unsigned long long)status.ids_bytes >> 10,
       (unsigned long long)(high > low ? high - low : 0) >> 10);
    rig_close(&r);
    for (uint32_t k = 0; k < MANY / GROUP; k++)
        free(pin[k]);
    free(of);
    free(verdicts);
}

int main(void)
{
    retires();
    killed();
    purges();
    if (TEST_SANITIZED)
        ok(true, "memory is given back # SKIP a sanitizer keeps it");
    else
        gives_back();
    return tap_done();
}
