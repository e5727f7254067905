/* engine_rig.c - see engine_rig.h. */

#include "rig/engine_rig.h"

const uint32_t rig_cells[RIG_TASKS] = {1000, 300, 9000};

static const char *const rig_ids[RIG_TASKS] = {"one", "two", "three"};

/* ---- Tasks --------------------------------------------------------------- */

static bool rig_wire(uint8_t wire[HSY_SCHEME_WIRE], uint32_t d)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "grr",
                           .kind = HSY_KIND_VALUES,
                           .d = d,
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    const bool good = s != NULL && hsy_scheme_init(s, &spec, NULL) == HSY_OK;

    if (good)
        hsy_scheme_encode(s, wire);
    free(s);
    return good;
}

uint8_t *rig_document(size_t n, uint32_t release, uint64_t version, size_t *len)
{
    uint8_t wires[RIG_TASKS][HSY_SCHEME_WIRE];
    hsy_task tasks[RIG_TASKS];
    const hsy_document head = {
        .version = version, .issued = RIG_DAY, .expires = RIG_DAY + 1};
    uint8_t *bytes;

    for (size_t i = 0; i < n; i++) {
        if (!rig_wire(wires[i], rig_cells[i]))
            return NULL;
        tasks[i] = (hsy_task){.release = release,
                              .source = "rig",
                              .question = "Which?",
                              .question_len = 6,
                              .start = RIG_DAY - 100,
                              .end = RIG_DAY + 5000,
                              .slot_days = 1,
                              .max_changes = 1,
                              .answers = 1,
                              .sends = 1,
                              .sample = {1, 1},
                              .other = HSY_TASK_CLOSED,
                              .scheme = wires[i]};
        memcpy(tasks[i].id, rig_ids[i], strlen(rig_ids[i]));
    }
    if (hsy_document_encode(&head, NULL, 0, len, tasks, n, NULL) != HSY_OK)
        return NULL;
    bytes = calloc(1, *len + HSY_SIGNATURE);
    if (bytes != NULL)
        hsy_document_encode(&head, bytes, *len, len, tasks, n, NULL);
    *len += HSY_SIGNATURE;
    return bytes;
}

/* ---- Opening ------------------------------------------------------------- */

hsy_status rig_start(struct rig *r)
{
    hsy_error err = {0};
    hsy_status st;

    st = engine_open(&r->e, &r->store.base, &r->store.state, &r->options, &err);
    if (st != HSY_OK)
        return st;
    st = engine_set_document(r->e, r->document, r->document_len, &err);
    if (st == HSY_E_OLD)
        st = HSY_OK; /* a later one is in force */
    roster_drop(r->roster);
    r->roster = engine_roster(r->e);
    return st;
}

hsy_status rig_jump(struct rig *r, uint32_t day)
{
    const struct engine_time now = {.wall = (uint64_t)day * 86400 + 43200,
                                    .steady = ++r->steady};

    return engine_tell(r->e, now, NULL);
}

hsy_status rig_day(struct rig *r, uint32_t day)
{
    hsy_status st = HSY_OK;
    struct engine_status status;

    engine_status(r->e, &status);
    while (st == HSY_OK && status.day != 0 && status.day < day) {
        r->steady += 86400 - 1;
        st = rig_jump(r, ++status.day);
    }
    return st == HSY_OK ? rig_jump(r, day) : st;
}

hsy_status rig_restart(struct rig *r)
{
    engine_close(r->e);
    r->e = NULL;
    memory_reopen(&r->store);
    return rig_start(r);
}

bool rig_open(struct rig *r)
{
    *r = (struct rig){.options = {.ids_epoch = 1 << 20,
                                  .fold_bytes = 1 << 20,
                                  .tally_bytes = 1 << 24,
                                  .day_words = 2000,
                                  .keep_days = 5,
                                  .grace_days = 2,
                                  .clock_days = 12}};
    memory_open(&r->store, 7);
    r->document = rig_document(RIG_TASKS, 1, 1, &r->document_len);
    return r->document != NULL && rig_start(r) == HSY_OK &&
           rig_jump(r, RIG_DAY) == HSY_OK;
}

void rig_close(struct rig *r)
{
    engine_close(r->e);
    roster_drop(r->roster);
    free(r->document);
    memory_clear(&r->store);
}

/* ---- Uploads ------------------------------------------------------------- */

void rig_fill(struct rig *r, struct intake_upload *u,
              uint8_t payload[RIG_PAYLOAD], const struct rig_upload *of)
{
    const struct roster_entry *entry = roster_at(r->roster, of->task);
    uint8_t reports[64], wire[HSY_UPLOAD_WIRE + RIG_PAYLOAD];

    for (uint32_t i = 0; i < of->n; i++) {
        const uint32_t cell = of->first + i;

        reports[2 * i] = (uint8_t)cell;
        reports[2 * i + 1] = (uint8_t)(cell >> 8);
    }
    hsy_pack(entry->scheme, payload, reports, of->n);
    *u = (struct intake_upload){.entry = entry, .payload = payload};
    u->head.kind = of->kind;
    memcpy(u->head.task, entry->task.id, sizeof u->head.task);
    u->head.release = entry->task.release;
    u->head.epoch = of->epoch;
    memcpy(u->head.digest, entry->digest, HSY_DIGEST);
    memcpy(u->head.id, &of->id, sizeof of->id);
    u->head.count = of->n;
    u->head.length = (uint32_t)hsy_packed_size(entry->scheme, of->n);
    u->head.checksum = hsy_crc32c(0, payload, u->head.length);
    hsy_upload_encode(wire, &u->head, NULL);
    memcpy(wire + HSY_UPLOAD_WIRE, payload, u->head.length);
    hsy_blake2b(u->digest, sizeof u->digest, wire,
                HSY_UPLOAD_WIRE + u->head.length, NULL, 0);
}

hsy_status rig_admit(struct rig *r, const struct rig_upload *of, size_t n,
                     enum intake_verdict *verdicts)
{
    struct intake_upload *uploads = calloc(n, sizeof *uploads);
    uint8_t(*payloads)[RIG_PAYLOAD] = calloc(n, RIG_PAYLOAD);
    struct submission s = {.in = {.uploads = uploads, .n = n}};
    hsy_status st;

    for (size_t i = 0; i < n; i++)
        rig_fill(r, &uploads[i], payloads[i], &of[i]);
    st = engine_admit(r->e, &s, NULL);
    for (size_t i = 0; i < n; i++)
        verdicts[i] = st == HSY_OK ? uploads[i].verdict : INTAKE_FULL;
    free(uploads);
    free(payloads);
    return st;
}

enum intake_verdict rig_one(struct rig *r, struct rig_upload of)
{
    enum intake_verdict verdict;

    rig_admit(r, &of, 1, &verdict);
    return verdict;
}

uint8_t *rig_tally_file(const struct roster_entry *entry, uint32_t first,
                        uint32_t n, size_t *len)
{
    int64_t *words = calloc(entry->words, sizeof *words);
    struct output *out;
    uint8_t *bytes = NULL;
    hsy_tally t;

    hsy_tally_init(&t, entry->scheme, words);
    for (uint32_t i = first; i < first + n; i++) {
        const uint8_t report[2] = {(uint8_t)i, (uint8_t)(i >> 8)};

        hsy_tally_add(&t, entry->scheme, report, NULL);
    }
    output_memory(&out);
    container_put_tally(out, entry->scheme, NULL, 0, &t, NULL, NULL);
    output_take(out, &bytes, len);
    free(words);
    return bytes;
}

/* ---- Looking ------------------------------------------------------------- */

hsy_status rig_fold(struct rig *r)
{
    bool more = true;
    hsy_status st = HSY_OK;

    while (more && st == HSY_OK)
        st = engine_fold(r->e, &more, NULL);
    return st;
}

hsy_status rig_write(struct rig *r)
{
    bool more = true;
    hsy_status st = HSY_OK;

    engine_checkpoint(r->e);
    while (more && st == HSY_OK)
        st = engine_write(r->e, 1 << 16, &more, NULL);
    return st;
}

int64_t *rig_copy(struct rig *r, uint32_t task, uint32_t first, uint32_t last,
                  const int64_t **cells)
{
    const struct roster_entry *entry = roster_at(r->roster, task);
    int64_t *words = calloc(entry->words, sizeof *words);
    hsy_tally view;

    hsy_tally_init(&view, entry->scheme, words);
    *cells = view.cells;
    if (engine_copy(r->e, task, first, last, words, NULL) == HSY_OK)
        return words;
    free(words);
    return NULL;
}

int64_t rig_cell(struct rig *r, uint32_t task, uint32_t first, uint32_t last,
                 uint32_t cell)
{
    const int64_t *cells;
    int64_t *words = rig_copy(r, task, first, last, &cells);
    const int64_t n = words == NULL ? -1 : cells[cell];

    free(words);
    return n;
}
