/*
 * test_engine_once.c - moments in which a report could be lost, counted for
 * somebody else's share, or told apart by where it stands.
 */
#include "rig/engine_rig.h"
#include "tap.h"

#define MANY 45000u /* uploads of 16 reports: more than is folded in one go */

/* ---- A commit of two days, folded in two goes ---------------------------- */

static struct rig_upload *two_days(void)
{
    struct rig_upload *of = calloc(MANY + 1, sizeof *of);

    for (uint32_t i = 0; i < MANY; i++)
        of[i] = (struct rig_upload){
            .epoch = RIG_DAY, .kind = 1, .id = i, .n = 16, .first = 20};
    of[MANY] = (struct rig_upload){
        .epoch = RIG_DAY - 1, .kind = 1, .id = MANY, .n = 1, .first = 7};
    return of;
}

static void half_a_commit(void)
{
    struct rig r;
    struct rig_upload *of = two_days();
    enum intake_verdict *verdicts = calloc(MANY + 1, sizeof *verdicts);
    bool more = false;

    rig_open(&r);
    r.options.fold_bytes = 1 << 23;
    rig_restart(&r);
    rig_day(&r, RIG_DAY);
    ok(eq_status(rig_admit(&r, of, MANY + 1, verdicts), HSY_OK) &&
           eq_u64(verdicts[0], INTAKE_COUNTED) &&
           eq_u64(verdicts[MANY], INTAKE_COUNTED),
       "one commit has uploads of two days");
    ok(eq_status(engine_fold(r.e, &more, NULL), HSY_OK) &&
           eq_status(rig_write(&r), HSY_OK),
       "as much of it is folded as is in one go, and that is written");
    ok(eq_status(rig_restart(&r), HSY_OK) &&
           rig_cell(&r, 0, 0, 0, 20) == MANY && rig_cell(&r, 0, 0, 0, 7) == 1,
       "a kill after that loses neither day");
    is_u64(r.store.faults, 0, "no rule of the store was broken");
    rig_close(&r);
    free(of);
    free(verdicts);
}

/* ---- A document that could not be kept ----------------------------------- */

static void refused_document(void)
{
    struct rig r;
    size_t len, other_len;
    uint8_t *later = rig_document(3, 2, 2, &len);
    uint8_t *other = rig_document(1, 3, 3, &other_len);
    hsy_error err = {0};

    rig_open(&r);
    r.store.full = true;
    is_status(engine_set_document(r.e, later, len, &err), HSY_E_FULL,
              "a document of three new tasks finds the disk full");
    r.store.full = false;
    is_status(engine_set_document(r.e, other, other_len, &err), HSY_OK,
              "another, of one new task, is taken instead");
    roster_drop(r.roster);
    r.roster = engine_roster(r.e);
    ok(roster_count(r.roster) == 4 &&
           rig_one(&r, (struct rig_upload){.task = 3,
                                           .epoch = RIG_DAY,
                                           .kind = 1,
                                           .id = 1,
                                           .n = 1,
                                           .first = 9}) == INTAKE_COUNTED &&
           eq_status(rig_fold(&r), HSY_OK) && rig_cell(&r, 3, 0, 0, 9) == 1,
       "and its uploads are its own");
    free(later);
    later = rig_document(2, 4, 4, &len);
    r.store.full = true;
    is_status(engine_set_document(r.e, later, len, &err), HSY_E_FULL,
              "the disk is full");
    r.store.full = false;
    free(other);
    other = rig_document(3, 5, 5, &other_len);
    ok(eq_status(engine_set_document(r.e, other, other_len, &err), HSY_OK) &&
           eq_status(rig_write(&r), HSY_OK) &&
           eq_status(rig_restart(&r), HSY_OK) && roster_count(r.roster) == 7 &&
           rig_cell(&r, 3, 0, 0, 9) == 1,
       "one with more tasks after it, and all is there again");
    free(later);
    free(other);
    rig_close(&r);
}

static void shared_document(void)
{
    struct rig r;
    size_t len, again_len = 0;
    uint8_t *next = rig_document(1, 2, 2, &len), *a, *b;

    rig_open(&r);
    a = engine_document_hold(r.e, &again_len);
    b = engine_document_hold(r.e, &again_len);
    ok(a != NULL && a == b, "all who ask for the document share its bytes");
    engine_document_drop(b);
    ok(eq_status(engine_set_document(r.e, next, len, NULL), HSY_OK) &&
           eq_u64(again_len, r.document_len) &&
           eq_bytes(a, r.document, again_len),
       "which stay for who still holds them when another comes");
    engine_document_drop(a);
    free(next);
    rig_close(&r);
}

/* ---- Quotas -------------------------------------------------------------- */

static enum intake_verdict enrolled(struct rig *r, uint64_t id, uint32_t n,
                                    uint32_t kind)
{
    const struct rig_upload of = {
        .epoch = RIG_DAY, .kind = kind, .id = id, .n = n, .first = 100};
    struct intake_upload u;
    uint8_t payload[RIG_PAYLOAD];
    struct submission s = {
        .in = {.uploads = &u, .n = 1}, .token = {1}, .quota = 5};

    rig_fill(r, &u, payload, &of);
    u.enrolled = true;
    engine_admit(r->e, &s, NULL);
    return s.outcome == HSY_OK ? u.verdict : INTAKE_FULL;
}

static void quota_of_reports(void)
{
    struct rig r;

    rig_open(&r);
    is_u64(enrolled(&r, 1, 6, 1), INTAKE_QUOTA,
           "an upload with more reports than a token may bring is refused");
    r.store.full = true;
    is_u64(enrolled(&r, 2, 3, 1), INTAKE_FULL, "a full disk");
    r.store.full = false;
    ok(eq_u64(enrolled(&r, 2, 3, 1), INTAKE_COUNTED) &&
           eq_u64(enrolled(&r, 3, 3, 1), INTAKE_QUOTA) &&
           eq_u64(enrolled(&r, 4, 1, 2), INTAKE_COUNTED) &&
           eq_u64(enrolled(&r, 2, 3, 1), INTAKE_AGAIN),
       "reports use a quota, and null ones, but none that was not counted");
    rig_restart(&r);
    ok(eq_u64(enrolled(&r, 5, 2, 1), INTAKE_QUOTA) &&
           eq_u64(enrolled(&r, 6, 1, 1), INTAKE_COUNTED) &&
           eq_u64(enrolled(&r, 7, 1, 1), INTAKE_QUOTA),
       "and what is used stays used");
    rig_close(&r);
}

/* ---- A tally that says too much ------------------------------------------ */

/* One that every reader of files takes: so many reports of one cell. */
static uint8_t *huge_file(const struct roster_entry *entry, uint64_t reports,
                          size_t *len)
{
    int64_t *words = calloc(entry->words, sizeof *words);
    struct output *out;
    uint8_t *bytes = NULL;
    hsy_tally t;

    hsy_tally_init(&t, entry->scheme, words);
    t.strata[0] = reports;
    t.cells[0] = (int64_t)reports;
    output_memory(&out);
    container_put_tally(out, entry->scheme, NULL, 0, &t, NULL, NULL);
    output_take(out, &bytes, len);
    free(words);
    return bytes;
}

static void huge_tallies(void)
{
    struct rig r;
    hsy_error err = {0};
    size_t refused = 0, len;

    rig_open(&r);
    for (uint64_t i = 0; i < 3; i++) {
        uint8_t *file =
            huge_file(roster_at(r.roster, 0), ((uint64_t)1 << 62) + i, &len);

        refused += engine_merge(r.e, 0, file, len, &err) == HSY_E_OVERFLOW;
        free(file);
    }
    is_u64(refused, 3, "tallies of more reports than are counted are refused");
    ok(eq_status(rig_fold(&r), HSY_OK) && eq_status(rig_restart(&r), HSY_OK),
       "and do not stop the engine, now or when it is opened again");
    rig_close(&r);
}

/* ---- Order --------------------------------------------------------------- */

#define CAME 40u

/* Uploads of two tasks and of lengths of their own, from the first or from the
 * last. */
static void came(struct rig *r, bool backwards)
{
    struct rig_upload of[CAME];
    enum intake_verdict verdicts[CAME];

    rig_open(r);
    for (uint32_t i = 0; i < CAME; i++)
        of[backwards ? CAME - 1 - i : i] =
            (struct rig_upload){.task = i % 2,
                                .epoch = RIG_DAY,
                                .kind = 1,
                                .id = i,
                                .n = 1 + i % 3,
                                .first = (37 * i) % 250};
    rig_admit(r, of, CAME, verdicts);
}

static bool same_blobs(const struct memory_list *a, const struct memory_list *b)
{
    size_t found = 0;

    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            found +=
                a->all[i].len == b->all[k].len &&
                memcmp(a->all[i].bytes, b->all[k].bytes, a->all[i].len) == 0;
    return a->n != 0 && a->n == b->n && found == a->n;
}

static void order_says_nothing(void)
{
    struct rig a, b;

    came(&a, false);
    came(&b, true);
    ok(same_blobs(&a.store.ids, &b.store.ids),
       "the ids of a commit do not tell in which order they came");
    ok(eq_u64(a.store.batches.n, 2) &&
           same_blobs(&a.store.batches, &b.store.batches),
       "nor do the uploads of a task");
    ok(eq_status(rig_fold(&a), HSY_OK) && rig_cell(&a, 0, 0, 0, 0) == 1 &&
           rig_cell(&a, 1, 0, 0, 37) == 1,
       "and all are counted");
    rig_close(&a);
    rig_close(&b);
}

int main(void)
{
    half_a_commit();
    refused_document();
    shared_document();
    quota_of_reports();
    huge_tallies();
    order_says_nothing();
    return tap_done();
}
