/* Tests of sealed uploads from a body to the store: only the first shuffler of
 * their task takes them, each once; they are kept sealed, with their ids, and
 * no tally sees them. */
#include "rig/engine_rig.h"
#include "rig/example_shuffled.h"
#include "tap.h"

static struct rig sealed_rig;
static struct example_statements sealed_statements;

/* The task "veiled", with two shufflers: it comes into force. */
static const struct roster_entry *sealed_task(struct rig *r)
{
    const hsy_document head = {
        .version = 2, .issued = RIG_DAY, .expires = RIG_DAY + 1};
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = 16,
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    uint8_t wire[HSY_SCHEME_WIRE], *bytes;
    hsy_task task = {.release = 1,
                     .source = "rig",
                     .question = "Which?",
                     .question_len = 6,
                     .start = RIG_DAY - 100,
                     .end = RIG_DAY + 300,
                     .slot_days = 1,
                     .max_changes = 1,
                     .answers = 1,
                     .sends = 1,
                     .sample = {1, 1},
                     .other = HSY_TASK_CLOSED,
                     .scheme = wire};
    hsy_error err = {0};
    size_t len = 0;

    strcpy(task.id, "veiled");
    hsy_scheme_init(s, &spec, NULL);
    hsy_scheme_encode(s, wire);
    free(s);
    example_shuffle(&task, &sealed_statements, 2, RIG_DAY - 100);
    is_status(hsy_document_encode(&head, NULL, 0, &len, &task, 1, &err), HSY_OK,
              "a document with a shuffled task");
    bytes = calloc(1, len + HSY_SIGNATURE);
    hsy_document_encode(&head, bytes, len, &len, &task, 1, NULL);
    is_status(engine_set_document(r->e, bytes, len + HSY_SIGNATURE, &err),
              HSY_OK, "comes into force");
    free(bytes);
    roster_drop(r->roster);
    r->roster = engine_roster(r->e);
    return roster_at(r->roster, RIG_TASKS);
}

/* ---- Bodies -------------------------------------------------------------- */

struct sealed_body {
    uint32_t kind;
    size_t len; /* of the payload */
    uint8_t id, fill;
};

/* A body of one upload; the caller's to free. */
static uint8_t *sealed_body(const struct roster_entry *e, struct sealed_body of,
                            size_t *len)
{
    hsy_upload head = {.kind = of.kind,
                       .release = e->task.release,
                       .epoch = RIG_DAY,
                       .count = 1,
                       .length = (uint32_t)of.len};
    uint8_t *wire = malloc(HSY_UPLOAD_WIRE + of.len);

    memcpy(head.task, e->task.id, sizeof head.task);
    memcpy(head.digest, e->digest, HSY_DIGEST);
    memset(head.id, of.id, sizeof head.id);
    memset(wire + HSY_UPLOAD_WIRE, of.fill, of.len);
    head.checksum = hsy_crc32c(0, wire + HSY_UPLOAD_WIRE, of.len);
    if (hsy_upload_encode(wire, &head, NULL) != HSY_OK)
        ok(false, "an upload is written");
    *len = HSY_UPLOAD_WIRE + of.len;
    return wire;
}

static uint32_t sealed_most(void *ctx, struct intake_upload *u)
{
    (void)ctx;
    (void)u;
    return 1;
}

/* What becomes of it at who has this key (NULL: the collector). */
static enum intake_verdict sealed_upload(struct rig *r, const uint8_t *key,
                                         const struct roster_entry *e,
                                         struct sealed_body of)
{
    const struct intake_gate gate = {.most = sealed_most, .shuffler = key};
    struct submission s = {.next = NULL};
    enum intake_verdict verdict = INTAKE_FULL;
    size_t len;
    uint8_t *body = sealed_body(e, of, &len);
    hsy_error err = {0};

    if (intake_read(&s.in, r->roster, engine_days(r->e), &gate, INTAKE_BINARY,
                    body, len, &err) != HSY_OK) {
        ok(false, "a body is read: %s", err.msg);
        return verdict;
    }
    if (engine_admit(r->e, &s, &err) == HSY_OK)
        verdict = s.in.uploads[0].verdict;
    intake_clear(&s.in);
    return verdict;
}

/* ---- Tests --------------------------------------------------------------- */

static void only_the_first_shuffler_takes_them(struct rig *r,
                                               const struct roster_entry *e)
{
    const struct roster_entry *local = roster_at(r->roster, 0);
    const struct sealed_body good = {3, e->sealed_bytes, 1, 7};
    uint8_t first[HSY_SIGN_KEY], second[HSY_SIGN_KEY];
    const size_t packed = hsy_packed_size(e->scheme, 1);

    memset(first, 101, sizeof first);
    memset(second, 102, sizeof second);
    is_u64(e->sealed_bytes, 3 * HSY_SEAL_LAYER + 1 + packed,
           "two shufflers and the collector: three layers");
    is_int(sealed_upload(r, NULL, e, good), INTAKE_PLACE,
           "a collector takes no sealed upload");
    is_int(sealed_upload(r, NULL, e, (struct sealed_body){1, packed, 2, 0}),
           INTAKE_PLACE, "nor one in clear of a shuffled task");
    is_int(sealed_upload(r, NULL, e, (struct sealed_body){2, packed, 2, 0}),
           INTAKE_PLACE, "nor a null one");
    is_int(sealed_upload(r, second, e, good), INTAKE_PLACE,
           "nor does the second shuffler");
    is_int(sealed_upload(r, first, e, (struct sealed_body){1, packed, 2, 0}),
           INTAKE_PLACE, "the first takes none in clear");
    is_int(sealed_upload(r, first, local,
                         (struct sealed_body){
                             1, hsy_packed_size(local->scheme, 1), 2, 0}),
           INTAKE_PLACE, "nor of a task that is not shuffled");
    is_int(sealed_upload(r, first, e,
                         (struct sealed_body){3, e->sealed_bytes - 1, 3, 7}),
           INTAKE_REPORT, "nor of another length");
    is_int(sealed_upload(r, first, e, good), INTAKE_COUNTED,
           "but what is sealed for it");
    is_int(sealed_upload(r, first, e, good), INTAKE_AGAIN, "once");
    is_int(sealed_upload(r, first, e,
                         (struct sealed_body){3, e->sealed_bytes, 1, 8}),
           INTAKE_CONFLICT, "and nothing else under its id");
}

static const struct memory_blob *sealed_row(const struct rig *r)
{
    for (size_t i = 0; i < r->store.batches.n; i++)
        if (r->store.batches.all[i].type == STORE_SEALED)
            return &r->store.batches.all[i];
    return NULL;
}

static void they_are_kept_sealed(struct rig *r, const struct roster_entry *e)
{
    const struct memory_blob *row = sealed_row(r);
    const uint32_t number = e->number;
    struct engine_status status;
    struct store_count count;

    ok(row != NULL && row->len == 16 + e->sealed_bytes && row->reports == 1 &&
           row->bytes[0] == 1 && row->bytes[15] == 1 && row->bytes[16] == 7,
       "the id and the envelope, in a row of their own kind");
    engine_status(r->e, &status);
    ok(status.waiting_bytes == 0 && status.folded == status.seq,
       "nothing of it waits to be folded");
    ok(engine_counts(r->e, e->number, &count, 1) == 1 && count.reports == 1,
       "it is counted");
    is_status(rig_fold(r), HSY_OK, "folding finds nothing");
    ok(rig_cell(r, e->number, 0, 0, 0) == -1, "there is no tally of it");
    is_status(rig_restart(r), HSY_OK, "after a restart");
    ok(rig_cell(r, number, 0, 0, 0) == -1 && sealed_row(r) != NULL,
       "neither, and it is still there");
}

/* Of one commit they stand by their ids, which are random. */
static void their_order_says_nothing(struct rig *r)
{
    static const uint8_t ids[] = {90, 30, 60};
    const struct roster_entry *e = roster_at(r->roster, RIG_TASKS);
    const struct intake_gate gate = {.most = sealed_most,
                                     .shuffler = e->first_key};
    const size_t one = HSY_UPLOAD_WIRE + e->sealed_bytes;
    struct submission s = {.next = NULL};
    uint8_t *body = malloc(3 * one);
    const struct memory_blob *row;
    hsy_error err;
    size_t len;

    for (size_t i = 0; i < 3; i++) {
        uint8_t *wire = sealed_body(
            e, (struct sealed_body){3, e->sealed_bytes, ids[i], 5}, &len);

        memcpy(body + i * one, wire, one);
        free(wire);
    }
    intake_read(&s.in, r->roster, engine_days(r->e), &gate, INTAKE_BINARY, body,
                3 * one, &err);
    is_status(engine_admit(r->e, &s, &err), HSY_OK, "three come at once");
    intake_clear(&s.in);
    row = &r->store.batches.all[r->store.batches.n - 1];
    ok(row->reports == 3 && row->bytes[0] == 30 &&
           row->bytes[16 + e->sealed_bytes] == 60 &&
           row->bytes[2 * (16 + e->sealed_bytes)] == 90,
       "and are kept in the order of their ids");
}

int main(void)
{
    struct rig *r = &sealed_rig;
    const struct roster_entry *e;

    if (!rig_open(r) || rig_day(r, RIG_DAY) != HSY_OK)
        return 1;
    e = sealed_task(r);
    only_the_first_shuffler_takes_them(r, e);
    they_are_kept_sealed(r, e);
    their_order_says_nothing(r);
    is_u64(r->store.faults, 0, "no rule of the store was broken");
    rig_close(r);
    return tap_done();
}
