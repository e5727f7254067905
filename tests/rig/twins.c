/* twins.c - see twins.h. */

#include "rig/twins.h"

#include "host/format/format.h"
#include "rig/example_shuffled.h"

#include <stdlib.h>
#include <string.h>

const char *const twins_ids[TWINS_TASKS] = {"bit",   "values",   "bits",
                                            "large", "enrolled", "veiled"};

static const uint32_t twins_d[TWINS_TASKS] = {2, 32, 1024, 40000, 32, 100};

/* ---- Chance -------------------------------------------------------------- */

static uint64_t twins_draw(struct twins *t)
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t twins_below(struct twins *t, uint32_t n)
{
    return (uint32_t)(twins_draw(t) % n);
}

/* ---- Tasks --------------------------------------------------------------- */

static void twins_wire(uint8_t wire[HSY_SCHEME_WIRE], enum twins_task task)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = task == TWINS_BIT    ? "rr"
                                        : task == TWINS_BITS ? "oue"
                                                             : "grr",
                           .kind = task == TWINS_BIT ? HSY_KIND_YES_NO
                                                     : HSY_KIND_VALUES,
                           .d = twins_d[task],
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));

    if (hsy_scheme_init(s, &spec, NULL) == HSY_OK)
        hsy_scheme_encode(s, wire);
    free(s);
}

uint8_t *twins_document(struct twins *t, size_t *len)
{
    static uint8_t wires[TWINS_TASKS][HSY_SCHEME_WIRE];
    static struct example_statements statements;
    const hsy_document head = {
        .version = ++t->version, .issued = TWINS_DAY, .expires = TWINS_DAY + 1};
    hsy_task tasks[TWINS_TASKS];
    uint8_t *bytes;

    for (size_t i = 0; i < TWINS_TASKS; i++) {
        twins_wire(wires[i], (enum twins_task)i);
        tasks[i] = (hsy_task){.release = i == TWINS_VEILED ? 1 : t->release,
                              .source = "rig",
                              .question = "Which?",
                              .question_len = 6,
                              .start = TWINS_DAY - 100,
                              .end = TWINS_DAY + 5000,
                              .slot_days = 1,
                              .max_changes = 1,
                              .answers = 1,
                              .sends = 1,
                              .sample = {1, 1},
                              .other = HSY_TASK_CLOSED,
                              .scheme = wires[i]};
        memcpy(tasks[i].id, twins_ids[i], strlen(twins_ids[i]));
    }
    tasks[TWINS_VEILED].source[0] = 'v'; /* a source of its own */
    example_shuffle(&tasks[TWINS_VEILED], &statements, 1, TWINS_DAY - 100);
    if (hsy_document_encode(&head, NULL, 0, len, tasks, TWINS_TASKS, NULL) !=
        HSY_OK)
        return NULL;
    bytes = calloc(1, *len + HSY_SIGNATURE);
    hsy_document_encode(&head, bytes, *len, len, tasks, TWINS_TASKS, NULL);
    *len += HSY_SIGNATURE;
    return bytes;
}

const struct roster_entry *twins_entry(const struct twins *t,
                                       enum twins_task task)
{
    for (size_t i = roster_count(t->roster); i-- != 0;) {
        const struct roster_entry *is = roster_at(t->roster, i);

        if (is->current && strcmp(is->task.id, twins_ids[task]) == 0)
            return is;
    }
    return NULL;
}

/* ---- Uploads ------------------------------------------------------------- */

static void twins_reports(struct twins *t, const struct roster_entry *is,
                          enum twins_task task, uint8_t *packed, uint32_t n)
{
    uint8_t *reports = calloc(n, is->report_bytes);

    for (uint32_t i = 0; i < n; i++) {
        uint8_t *to = reports + i * is->report_bytes;
        const uint32_t value = twins_below(t, twins_d[task]);

        for (size_t b = 0; b < is->report_bytes; b++)
            to[b] = task == TWINS_BITS ? (uint8_t)twins_draw(t)
                    : b < 4            ? (uint8_t)(value >> 8 * b)
                                       : 0;
    }
    hsy_pack(is->scheme, packed, reports, n);
    free(reports);
}

/* The bytes of an upload with some id. */
static uint8_t *twins_make(struct twins *t, enum twins_task task,
                           uint32_t epoch, uint32_t n, const uint8_t id[16],
                           size_t *len)
{
    const struct roster_entry *is = twins_entry(t, task);
    const size_t packed = hsy_packed_size(is->scheme, n);
    uint8_t *bytes = calloc(1, HSY_UPLOAD_WIRE + packed);
    hsy_upload head = {.kind = twins_below(t, 8) == 0 ? HSY_UPLOAD_NULL
                                                      : HSY_UPLOAD_REPORTS,
                       .release = is->task.release,
                       .epoch = epoch,
                       .count = n,
                       .length = (uint32_t)packed};

    twins_reports(t, is, task, bytes + HSY_UPLOAD_WIRE, n);
    head.checksum = hsy_crc32c(0, bytes + HSY_UPLOAD_WIRE, packed);
    memcpy(head.task, is->task.id, sizeof head.task);
    memcpy(head.digest, is->digest, HSY_DIGEST);
    memcpy(head.id, id, 16);
    hsy_upload_encode(bytes, &head, NULL);
    *len = HSY_UPLOAD_WIRE + packed;
    return bytes;
}

static uint32_t twins_epoch(struct twins *t)
{
    switch (twins_below(t, 20)) {
    case 0:
        return t->day - 4; /* closed */
    case 1:
        return t->day + 2; /* in the future */
    case 2:
        return t->day + 1;
    case 3:
    case 4:
        return t->day - 1 - twins_below(t, 2);
    default:
        return t->day;
    }
}

static struct twins_known *twins_put(struct twins *t, uint8_t *bytes,
                                     size_t len)
{
    struct twins_known *k = &t->known[t->nknown++ % TWINS_KNOWN];

    free(k->bytes);
    *k = (struct twins_known){.bytes = bytes, .len = len};
    return k;
}

static struct twins_known *twins_new(struct twins *t,
                                     const struct twins_request *q)
{
    const enum twins_task task =
        q->token != 0 && twins_below(t, 2) != 0
            ? TWINS_ENROLLED
            : (enum twins_task)twins_below(t, TWINS_ENROLLED);
    const uint32_t most = q->forwarded ? 1 + twins_below(t, 12) : 1;
    const uint32_t n = twins_below(t, 40) == 0 ? 2 : most;
    const uint32_t epoch = twins_epoch(t);
    struct twins_known *k;
    uint8_t id[16], *bytes;
    size_t len;

    for (size_t i = 0; i < sizeof id; i++)
        id[i] = (uint8_t)twins_draw(t);
    bytes = twins_make(t, task, epoch, n, id, &len);
    k = twins_put(t, bytes, len);
    k->task = task;
    k->epoch = epoch;
    k->token = task == TWINS_ENROLLED ? q->token : 0;
    return k;
}

/* One that has come, or its id with other bytes; NULL: none that may. */
static struct twins_known *twins_again(struct twins *t,
                                       const struct twins_request *q)
{
    const size_t n = t->nknown < TWINS_KNOWN ? t->nknown : TWINS_KNOWN;
    /* Often one of the last, which may be in the same group. */
    const size_t back =
        n == 0 ? 0
               : twins_below(t, (uint32_t)(twins_below(t, 2) ? n : 1 + n / 16));
    struct twins_known
        *old = n == 0 ? NULL : &t->known[(t->nknown - 1 - back) % TWINS_KNOWN],
        *k;
    uint8_t id[16], *bytes;
    size_t len;

    if (old == NULL || (old->token != 0 && old->token != q->token))
        return NULL;
    if (twins_below(t, 3) != 0 || (old->token != 0 && !old->settled))
        return old;
    {
        const struct twins_known was = *old;
        hsy_upload head;

        hsy_upload_decode(&head, was.bytes, NULL);
        memcpy(id, head.id, sizeof id);
        bytes =
            twins_make(t, (enum twins_task)was.task, was.epoch, 1, id, &len);
        k = twins_put(t, bytes, len);
        k->task = was.task;
        k->epoch = was.epoch;
        k->token = was.token;
    }
    return k;
}

void twins_ask(struct twins *t, struct twins_request *q)
{
    const size_t most =
        twins_below(t, 3) != 0 ? 1 : 1 + twins_below(t, TWINS_UPLOADS);

    *q = (struct twins_request){
        .forwarded = twins_below(t, 10) == 0,
        .token = twins_below(t, 3) == 0 ? 1 + twins_below(t, TWINS_TOKENS) : 0};
    while (q->n < most) {
        struct twins_known *k =
            twins_below(t, 4) == 0 ? twins_again(t, q) : NULL;

        if (k == NULL)
            k = twins_new(t, q);
        q->body = realloc(q->body, q->len + k->len);
        memcpy(q->body + q->len, k->bytes, k->len);
        q->len += k->len;
        q->known[q->n++] = (size_t)(k - t->known);
    }
}

void twins_settle(struct twins *t, const struct twins_request *q, size_t i,
                  enum intake_verdict verdict)
{
    t->known[q->known[i]].settled |=
        verdict == INTAKE_COUNTED || verdict == INTAKE_AGAIN;
}

/* ---- As a server reads them ---------------------------------------------- */

static uint32_t twins_most(void *ctx, struct intake_upload *u)
{
    const struct twins_request *q = ctx;

    u->enrolled = strcmp(u->head.task, twins_ids[TWINS_ENROLLED]) == 0;
    if (u->enrolled && q->token == 0)
        return 0;
    return q->forwarded ? 100 : 1;
}

bool twins_read(const struct twins_request *q, struct submission *s,
                struct roster *roster, struct intake_days days)
{
    struct twins_request copy = *q;
    const struct intake_gate gate = {.most = twins_most, .ctx = &copy};
    uint8_t *body = malloc(q->len);

    memcpy(body, q->body, q->len);
    s->token[0] = (uint8_t)q->token;
    s->quota = TWINS_QUOTA;
    return intake_read(&s->in, roster, days, &gate, INTAKE_BINARY, body, q->len,
                       NULL) == HSY_OK;
}

/* ---- Batches and tallies ------------------------------------------------- */

void twins_deliver(struct twins *t, struct twins_parcel *p)
{
    const struct roster_entry *is = twins_entry(t, TWINS_VEILED);
    const size_t item = hsy_packed_size(is->scheme, 1);
    const uint32_t n = 1 + twins_below(t, TWINS_PARCEL);
    const bool old = t->parcels != 0 && twins_below(t, 5) == 0;
    const uint64_t number =
        old ? t->parcels - 1 - twins_below(t, t->parcels < 8 ? 1 : 8)
            : t->parcels++;
    uint64_t first = t->envelopes;

    memset(p, 0, sizeof *p);
    if (first >= 30)
        first -= twins_below(t, 30); /* some have come */
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t name = first + i;

        twins_reports(t, is, TWINS_VEILED, p->items + i * item, 1);
        memcpy(p->names[i], &name, sizeof name);
        p->names[i][15] = 0xee;
        p->null[i] = twins_below(t, 6) == 0;
    }
    p->d = (struct engine_delivery){.entry = is->number,
                                    .epoch = t->day + 1 - twins_below(t, 6),
                                    .heads = p->heads,
                                    .heads_len = sizeof p->heads,
                                    .type = STORE_REPORTS,
                                    .n = n,
                                    .item = item,
                                    .items = p->items,
                                    .names = (const uint8_t(*)[16])p->names,
                                    .null = p->null,
                                    .unopened = twins_below(t, 3)};
    memcpy(p->d.id, &number, sizeof number);
    memset(p->d.digest, twins_below(t, 10) == 0 ? 1 : 0, sizeof p->d.digest);
    if (first + n > t->envelopes)
        t->envelopes = first + n;
}

uint8_t *twins_tally(struct twins *t, const struct roster_entry *is,
                     size_t *len)
{
    int64_t *words = calloc(is->words, sizeof *words);
    uint8_t *report = calloc(1, is->report_bytes), *bytes = NULL;
    struct output *out;
    hsy_tally tally;

    hsy_tally_init(&tally, is->scheme, words);
    for (uint32_t i = twins_below(t, 5) + 1; i-- != 0;) {
        report[0] = (uint8_t)twins_below(t, 2);
        hsy_tally_add(&tally, is->scheme, report, NULL);
    }
    output_memory(&out);
    container_put_tally(out, is->scheme, NULL, 0, &tally, NULL, NULL);
    output_take(out, &bytes, len);
    free(report);
    free(words);
    return bytes;
}

void twins_clear(struct twins *t)
{
    for (size_t i = 0; i < TWINS_KNOWN; i++)
        free(t->known[i].bytes);
}
