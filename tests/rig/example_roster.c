/* example_roster.c - see example_roster.h. */

#include "rig/example_roster.h"

bool example_roster_add(struct roster **roster, size_t number,
                        const hsy_spec *spec)
{
    struct example_tasks *e = calloc(1, sizeof *e);
    struct roster *next = NULL;
    hsy_document doc;
    char id[8];
    uint8_t *bytes = NULL;
    size_t len;
    bool good;

    snprintf(id, sizeof id, "t%02u", (unsigned)number % 100);
    good = e != NULL && example_task(e, 0, id, "source", "Well?", *spec, 0);
    if (good) {
        e->task[0].slot_days = 1;
        bytes = example_document(e->task, 1, number + 1, &len);
    }
    good = good && bytes != NULL &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK &&
           roster_extend(&next, *roster, &doc, NULL) == HSY_OK;
    if (good) {
        roster_drop(*roster);
        *roster = next;
    }
    free(bytes);
    free(e);
    return good;
}

struct roster *example_roster(void)
{
    struct roster *r = roster_new();

    for (size_t i = 0; r != NULL && i < EXAMPLES; i++)
        example_roster_add(&r, i, &examples[i].spec);
    return r;
}

void example_seal(uint8_t *upload, size_t len)
{
    uint32_t crc;

    if (len < HSY_UPLOAD_WIRE)
        return;
    crc = hsy_crc32c(0, upload + HSY_UPLOAD_WIRE, len - HSY_UPLOAD_WIRE);
    for (unsigned i = 0; i < 4; i++)
        upload[108 + i] = (uint8_t)(crc >> 8 * i);
    crc = hsy_crc32c(0, upload, HSY_UPLOAD_WIRE - 4);
    for (unsigned i = 0; i < 4; i++)
        upload[124 + i] = (uint8_t)(crc >> 8 * i);
}

uint8_t *example_upload(const struct roster_entry *e, uint32_t kind, size_t n,
                        uint8_t id, size_t *len)
{
    const size_t packed = hsy_packed_size(e->scheme, n);
    uint8_t *upload = calloc(1, HSY_UPLOAD_WIRE + packed);
    uint8_t *reports = example_reports(e->scheme, n);
    hsy_upload head = {.kind = kind,
                       .release = e->task.release,
                       .epoch = EXAMPLE_EPOCH,
                       .id = {id, 1, 2, 3},
                       .count = (uint32_t)n,
                       .length = (uint32_t)packed};

    memcpy(head.task, e->task.id, sizeof head.task);
    memcpy(head.digest, e->digest, HSY_DIGEST);
    if (upload == NULL || reports == NULL ||
        hsy_upload_encode(upload, &head, NULL) != HSY_OK) {
        free(upload);
        free(reports);
        return NULL;
    }
    if (kind == 1)
        hsy_pack(e->scheme, upload + HSY_UPLOAD_WIRE, reports, n);
    else
        memset(upload + HSY_UPLOAD_WIRE, 0xa5, packed);
    free(reports);
    *len = HSY_UPLOAD_WIRE + packed;
    example_seal(upload, *len);
    return upload;
}

/* As many reports as a forwarder may ever bring. */
static uint32_t example_most(void *ctx, struct intake_upload *u)
{
    (void)ctx;
    (void)u;
    return UINT32_MAX;
}

hsy_status example_intake(struct intake *in, struct roster *r,
                          enum intake_form form, const void *bytes, size_t len,
                          hsy_error *err)
{
    const struct intake_days days = {.first = EXAMPLE_EPOCH - 2,
                                     .last = EXAMPLE_EPOCH + 1};
    const struct intake_gate gate = {.most = example_most};
    uint8_t *body = malloc(len + (len == 0));

    if (body == NULL)
        return HSY_E_NOMEM;
    memcpy(body, bytes, len);
    return intake_read(in, r, days, &gate, form, body, len, err);
}
