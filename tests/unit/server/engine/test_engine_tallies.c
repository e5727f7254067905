/*
 * test_engine_tallies.c - what was admitted is folded once, written a little at
 * a time, and there again after any stop; tallies of elsewhere are added once.
 */
#include "rig/engine_rig.h"
#include "tap.h"

static struct rig_upload up(uint32_t task, uint64_t id, uint32_t cell)
{
    return (struct rig_upload){.task = task,
                               .epoch = RIG_DAY,
                               .kind = 1,
                               .id = id,
                               .n = 1,
                               .first = cell};
}

/* ---- Folding ------------------------------------------------------------- */

/* One upload of so many reports, report i for cell i modulo d. */
static bool admit_many(struct rig *r, uint32_t task, uint64_t id, uint32_t n)
{
    const struct roster_entry *entry = roster_at(r->roster, task);
    uint8_t *reports = malloc(2 * (size_t)n);
    uint8_t *payload = malloc(hsy_packed_size(entry->scheme, n));
    struct intake_upload u = {.entry = entry, .payload = payload};
    struct submission s = {.in = {.uploads = &u, .n = 1}};
    bool counted;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t cell = i % rig_cells[task];

        reports[2 * i] = (uint8_t)cell;
        reports[2 * i + 1] = (uint8_t)(cell >> 8);
    }
    hsy_pack(entry->scheme, payload, reports, n);
    u.head =
        (hsy_upload){.kind = 1,
                     .epoch = RIG_DAY,
                     .count = n,
                     .length = (uint32_t)hsy_packed_size(entry->scheme, n)};
    memcpy(u.head.id, &id, sizeof id);
    counted =
        engine_admit(r->e, &s, NULL) == HSY_OK && u.verdict == INTAKE_COUNTED;
    free(reports);
    free(payload);
    return counted;
}

/* Uploads of any length beside each other: they are unpacked in pieces. */
static void folds_any_length(void)
{
    static const uint32_t lengths[] = {1, 3, 16383, 7, 16384, 16385, 40001, 9};
    const size_t n = sizeof lengths / sizeof lengths[0];
    struct rig r;
    int64_t want[1000] = {0};
    const int64_t *cells;
    int64_t *words;
    bool good = rig_open(&r);

    for (size_t i = 0; i < n; i++) {
        good &= admit_many(&r, 0, i + 1, lengths[i]);
        for (uint32_t k = 0; k < lengths[i]; k++)
            want[k % 1000]++;
    }
    ok(good && eq_status(rig_fold(&r), HSY_OK),
       "uploads of any length are folded");
    words = rig_copy(&r, 0, RIG_DAY, RIG_DAY, &cells);
    ok(words != NULL && eq_bytes(cells, want, sizeof want),
       "and every report of them is counted");
    free(words);
    is_status(rig_restart(&r), HSY_OK, "the same after a restart:");
    words = rig_copy(&r, 0, 0, 0, &cells);
    ok(words != NULL && eq_bytes(cells, want, sizeof want),
       "every report is counted");
    free(words);
    rig_close(&r);
}

static void copies_days(void)
{
    struct rig r;
    struct rig_upload second = up(0, 2, 5);
    int64_t words[2];

    rig_open(&r);
    rig_one(&r, up(0, 1, 5));
    second.epoch++;
    rig_one(&r, second);
    rig_one(&r, up(2, 3, 5));
    rig_fold(&r);
    ok(rig_cell(&r, 0, 0, 0, 5) == 2 &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY, 5) == 1 &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY + 9, 5) == 2 &&
           rig_cell(&r, 0, 0, RIG_DAY, 5) == 1,
       "days add up to the whole");
    ok(rig_cell(&r, 2, 0, 0, 5) == 1 &&
           rig_cell(&r, 2, RIG_DAY, RIG_DAY, 5) == -1,
       "an entry with many cells has no tally a day");
    is_status(engine_copy(r.e, 1, 0, 0, words, NULL), HSY_E_EMPTY,
              "an entry without reports has none at all");
    rig_close(&r);
}

/* ---- Checkpoints --------------------------------------------------------- */

static void writes_what_changed(void)
{
    struct rig r;
    uint64_t chunks;

    rig_open(&r);
    rig_one(&r, up(2, 1, 0));
    rig_one(&r, up(2, 2, 8999));
    rig_one(&r, up(0, 3, 1));
    rig_fold(&r);
    ok(eq_status(rig_write(&r), HSY_OK) && eq_u64(r.store.rounds, 2) &&
           eq_u64(r.store.batches.n, 0),
       "a checkpoint leaves no batch");
    is_u64(r.store.flips, 1, "and is one flip, of however many entries");
    is_u64(r.store.chunks, 2 + 2,
           "only chunks with something in them are written");
    chunks = r.store.chunks;
    ok(eq_status(rig_write(&r), HSY_OK) && eq_u64(r.store.chunks, chunks) &&
           eq_u64(r.store.rounds, 2),
       "without a change nothing is");
    rig_one(&r, up(2, 4, 8998));
    rig_fold(&r);
    rig_write(&r);
    /* The count of reports stands in a chunk, the cell in the last. */
    ok(r.store.chunks <= chunks + 2 && eq_u64(r.store.rounds, 3),
       "after a change what has changed is");
    ok(eq_status(rig_restart(&r), HSY_OK) && rig_cell(&r, 2, 0, 0, 8998) == 1 &&
           rig_cell(&r, 2, 0, 0, 8999) == 1 && rig_cell(&r, 0, 0, 0, 1) == 1,
       "it is read back");
    chunks = r.store.chunks;
    rig_one(&r, up(2, 5, 8997));
    rig_fold(&r);
    rig_write(&r);
    ok(r.store.chunks <= chunks + 2, "and what was read back is not written");
    rig_close(&r);
}

static void writes_a_little(void)
{
    struct rig r;
    struct engine_status status;
    bool more = false;
    int steps = 0;

    rig_open(&r);
    rig_one(&r, up(2, 1, 0));
    rig_one(&r, up(2, 2, 5000));
    rig_one(&r, up(2, 3, 8999));
    rig_fold(&r);
    engine_checkpoint(r.e);
    ok(eq_status(engine_write(r.e, 1, &more, NULL), HSY_OK) && more &&
           eq_u64(r.store.chunks, 1) && eq_u64(r.store.rounds, 0),
       "a checkpoint is written in pieces");
    rig_one(&r, up(2, 4, 1));
    rig_one(&r, up(0, 5, 1));
    rig_fold(&r);
    engine_status(r.e, &status);
    ok(rig_cell(&r, 2, 0, 0, 1) == 0 && rig_cell(&r, 0, 0, 0, 1) == 1 &&
           status.waiting_bytes != 0 && status.folded < status.seq,
       "what comes in between waits, for this entry only");
    while (more && steps++ < 100)
        engine_write(r.e, 1, &more, NULL);
    ok(!more && r.store.rounds >= 1 && r.store.batches.n >= 1,
       "its batch is not erased with the others");
    rig_fold(&r);
    engine_status(r.e, &status);
    ok(rig_cell(&r, 2, 0, 0, 1) == 1 && status.waiting_bytes == 0 &&
           status.folded == status.seq,
       "and is folded when the entry is written");
    ok(eq_status(rig_restart(&r), HSY_OK) && rig_cell(&r, 2, 0, 0, 1) == 1 &&
           rig_cell(&r, 2, 0, 0, 0) == 1,
       "after a restart each is there once");
    rig_close(&r);
}

/* At every call of the store, done or not done. */
static void crashes_anywhere(void)
{
    bool good = true;
    unsigned crashes = 0;

    for (uint64_t at = 1; at < 10; at++) {
        for (int done = 0; done < 2; done++) {
            struct rig r;

            rig_open(&r);
            r.store.crash_at = r.store.calls + at;
            r.store.crash_done = done;
            rig_one(&r, up(2, 1, 0));
            rig_one(&r, up(2, 2, 8999));
            rig_fold(&r);
            rig_write(&r);
            rig_one(&r, up(2, 3, 4));
            rig_fold(&r);
            rig_write(&r);
            crashes += r.store.crashed;
            good &= rig_restart(&r) == HSY_OK;
            rig_one(&r, up(2, 1, 0));
            rig_one(&r, up(2, 2, 8999));
            rig_one(&r, up(2, 3, 4));
            good &= rig_fold(&r) == HSY_OK && rig_write(&r) == HSY_OK;
            good &= rig_cell(&r, 2, 0, 0, 0) == 1 &&
                    rig_cell(&r, 2, 0, 0, 8999) == 1 &&
                    rig_cell(&r, 2, 0, 0, 4) == 1;
            good &= r.store.faults == 0;
            rig_close(&r);
        }
    }
    ok(good && eq_u64(crashes, 14),
       "a crash at any call loses and doubles nothing");
}

static void full_while_writing(void)
{
    struct rig r;
    bool more;

    rig_open(&r);
    rig_one(&r, up(2, 1, 0));
    rig_one(&r, up(2, 2, 8999));
    rig_fold(&r);
    engine_checkpoint(r.e);
    engine_write(r.e, 1, &more, NULL);
    r.store.full = true;
    ok(eq_status(engine_write(r.e, 1 << 20, &more, NULL), HSY_E_FULL) &&
           eq_status(rig_fold(&r), HSY_OK),
       "a disk that fills up while a tally is written");
    r.store.full = false;
    ok(eq_status(rig_write(&r), HSY_OK) && eq_u64(r.store.batches.n, 0) &&
           eq_u64(r.store.chunks, 2),
       "is gone on with where it stood");
    rig_close(&r);
}

static void drops_old_days(void)
{
    struct rig r;
    struct engine_status before, after;

    rig_open(&r);
    rig_one(&r, up(0, 1, 5));
    rig_fold(&r);
    rig_write(&r);
    engine_status(r.e, &before);
    rig_day(&r, RIG_DAY + 5);
    rig_write(&r);
    is_int(rig_cell(&r, 0, RIG_DAY, RIG_DAY, 5), 1,
           "a day is kept for a while");
    rig_day(&r, RIG_DAY + 6);
    rig_write(&r);
    engine_status(r.e, &after);
    ok(rig_cell(&r, 0, RIG_DAY, RIG_DAY, 5) == -1 &&
           rig_cell(&r, 0, 0, 0, 5) == 1 && r.store.ntallies == 1 &&
           after.tally_bytes < before.tally_bytes,
       "then its tally is dropped, and the whole keeps its reports");
    ok(eq_status(rig_restart(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 5) == 1 &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY, 5) == -1,
       "for ever");
    rig_close(&r);
}

/* ---- Tallies of elsewhere ------------------------------------------------ */

static void merges(void)
{
    struct rig r;
    size_t len;
    uint8_t *file;
    struct store_count counts[2];
    hsy_error err = {0};

    rig_open(&r);
    file = rig_tally_file(roster_at(r.roster, 0), 0, 10, &len);
    rig_one(&r, up(0, 1, 5));
    ok(eq_status(engine_merge(r.e, 0, file, len, &err), HSY_OK) &&
           eq_status(rig_fold(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 5) == 2 &&
           rig_cell(&r, 0, 0, 0, 9) == 1,
       "a tally file is added");
    is_int(rig_cell(&r, 0, RIG_DAY, RIG_DAY, 5), 1, "to no day");
    ok(eq_u64(engine_counts(r.e, 0, counts, 2), 2) &&
           eq_u64(counts[0].epoch, 0) && eq_u64(counts[0].reports, 10) &&
           eq_u64(counts[1].reports, 1),
       "its reports are counted");
    is_status(engine_merge(r.e, 0, file, len, &err), HSY_E_REFUSED,
              "the same file again is refused");
    ok(eq_status(rig_restart(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 5), 2) &&
           eq_status(engine_merge(r.e, 0, file, len, &err), HSY_E_REFUSED),
       "also after a restart, when it was folded again");
    rig_write(&r);
    ok(eq_status(rig_restart(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 5), 2),
       "and after a checkpoint");
    is_status(engine_merge(r.e, 1, file, len, &err), HSY_E_MISMATCH,
              "a tally of another scheme is refused");
    ok(eq_status(engine_merge(r.e, 0, file, len - 1, &err), HSY_E_FORMAT) &&
           eq_status(engine_merge(r.e, 0, file, 0, &err), HSY_E_FORMAT),
       "so is one that is cut");
    file[len - 5] ^= 1;
    is_status(engine_merge(r.e, 0, file, len, &err), HSY_E_FORMAT,
              "or damaged");
    is_status(engine_merge(r.e, 99, file, len, &err), HSY_E_RANGE,
              "or for a task that is not there");
    free(file);
    rig_close(&r);
}

static void refuses_reports(void)
{
    struct rig r;
    struct output *out;
    uint8_t *one, *two, *reports, packed[8] = {0};
    const struct roster_entry *entry;
    size_t len, reports_len;

    rig_open(&r);
    entry = roster_at(r.roster, 0);
    output_memory(&out);
    container_put_prefix(out, entry->scheme, NULL, 0, HSY_CONTENT_REPORTS);
    container_put_reports(out, entry->scheme, packed, 1);
    container_put_end(out, 1);
    output_take(out, &reports, &reports_len);
    is_status(engine_merge(r.e, 0, reports, reports_len, NULL), HSY_E_FORMAT,
              "a file of reports is no tally");
    one = rig_tally_file(entry, 0, 3, &len);
    two = malloc(2 * len);
    memcpy(two, one, len);
    memcpy(two + len, one, len);
    is_status(engine_merge(r.e, 0, two, 2 * len, NULL), HSY_E_FORMAT,
              "two files in one are refused");
    free(one);
    free(two);
    free(reports);
    rig_close(&r);
}

/* ---- Figures ------------------------------------------------------------- */

static hsy_status figure_seen(void *ctx, const struct store_figure *figure)
{
    unsigned *seen = ctx;

    *seen += figure->entry == 1 && figure->day == RIG_DAY && figure->len == 2 &&
             memcmp(figure->json, "{}", 2) == 0;
    return HSY_OK;
}

static void keeps_figures(void)
{
    struct rig r;
    unsigned seen = 0;
    const struct store_reader reader = {.ctx = &seen, .figure = figure_seen};
    const struct store_figure figure = {
        .entry = 1, .day = RIG_DAY, .json = "{}", .len = 2};

    rig_open(&r);
    ok(eq_status(engine_keep(r.e, &figure, NULL), HSY_OK) &&
           eq_status(engine_keep(r.e, &figure, NULL), HSY_OK) &&
           eq_status(engine_figures(r.e, &reader, NULL), HSY_OK) &&
           eq_u64(seen, 1),
       "a figure a day is kept");
    rig_close(&r);
}

/* ---- Days for which there is no memory ----------------------------------- */

static struct rig_upload on(uint32_t task, uint64_t id, uint32_t day)
{
    struct rig_upload u = up(task, id, (uint32_t)id);

    u.epoch = day;
    return u;
}

/* Day tallies fill the memory: what comes is counted all the same. */
static void days_without(void)
{
    struct engine_status status;
    struct rig r;

    rig_open(&r);
    r.options.tally_bytes = 20000; /* one and two, and one day of either */
    rig_restart(&r);
    rig_jump(&r, RIG_DAY);
    ok(eq_u64(rig_one(&r, on(0, 1, RIG_DAY)), INTAKE_COUNTED) &&
           eq_u64(rig_one(&r, on(0, 2, RIG_DAY - 1)), INTAKE_COUNTED) &&
           eq_u64(rig_one(&r, on(0, 3, RIG_DAY - 1)), INTAKE_COUNTED),
       "a day whose tally does not fit is counted without it");
    engine_status(r.e, &status);
    ok(eq_u64(status.refusing, 0) && eq_u64(status.undated, 1) &&
           status.tally_bytes <= r.options.tally_bytes,
       "which is told, and takes no memory");
    ok(eq_status(rig_fold(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 2) == 1 &&
           rig_cell(&r, 0, 0, 0, 3) == 1 &&
           rig_cell(&r, 0, RIG_DAY - 1, RIG_DAY - 1, 2) == -1 &&
           rig_cell(&r, 0, RIG_DAY, RIG_DAY, 1) == 1,
       "the whole has all of it, the other day its own");
    rig_write(&r);
    r.options.tally_bytes = 1 << 24;
    rig_restart(&r);
    ok(rig_one(&r, on(0, 4, RIG_DAY - 1)) == INTAKE_COUNTED &&
           eq_status(rig_fold(&r), HSY_OK) &&
           rig_cell(&r, 0, RIG_DAY - 1, RIG_DAY - 1, 4) == -1 &&
           rig_cell(&r, 0, 0, 0, 4) == 1,
       "with room again no tally is begun for a part of a day");
    rig_restart(&r);
    ok(rig_cell(&r, 0, RIG_DAY - 1, RIG_DAY - 1, 4) == -1 &&
           rig_cell(&r, 0, 0, 0, 4) == 1 && r.store.faults == 0,
       "nor from what was not folded");
    ok(eq_int(rig_one(&r, on(0, 5, RIG_DAY + 1)), INTAKE_COUNTED) &&
           eq_status(rig_restart(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, RIG_DAY + 1, RIG_DAY + 1, 5), 1),
       "but a day of which all is there has its tally");
    rig_close(&r);
}

/* Of memory that is too small for the tallies themselves. */
static void needs(void)
{
    struct engine_status status;
    struct rig r;

    rig_open(&r);
    engine_status(r.e, &status);
    /* The whole of each, and of the two small ones 5 days that are kept, today
     * and tomorrow. */
    ok(status.tally_need >= 8 * (1000 + 300 + 9000 + 7 * 1300) &&
           status.tally_need < 8 * (1000 + 300 + 9000 + 8 * 1300),
       "what tallies will take is known before they do: %zu",
       (size_t)status.tally_need);
    rig_close(&r);
}

int main(void)
{
    folds_any_length();
    copies_days();
    writes_what_changed();
    writes_a_little();
    crashes_anywhere();
    full_while_writing();
    drops_old_days();
    merges();
    refuses_reports();
    keeps_figures();
    days_without();
    needs();
    return tap_done();
}
