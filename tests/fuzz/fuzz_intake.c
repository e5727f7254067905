/*
 * fuzz_intake.c - bodies of requests, binary (as they come, and with all
 * checksums made right) and JSON: what is counted is a report of its scheme,
 * has one encoding, and its digest is of that.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "rig/example_roster.h"

#define INTAKE_LEN 32768u

static struct roster *intake_roster(void)
{
    static struct roster *roster;

    if (roster == NULL)
        roster = example_roster();
    fuzz_expect(roster != NULL && roster_count(roster) != 0,
                "there is a roster");
    return roster;
}

static void intake_reports_fit(const struct intake_upload *u)
{
    const size_t n = u->head.count, bytes = u->entry->report_bytes;
    uint8_t *reports = malloc(n * bytes), *again = malloc(u->head.length);

    fuzz_expect(reports != NULL && again != NULL &&
                    hsy_unpack(u->entry->scheme, reports, u->payload, n) ==
                        HSY_OK,
                "what is counted unpacks");
    for (size_t i = 0; i < n; i++)
        fuzz_expect(hsy_check(u->entry->scheme, reports + i * bytes) == HSY_OK,
                    "what is counted is a report of its scheme");
    hsy_pack(u->entry->scheme, again, reports, n);
    fuzz_expect(memcmp(again, u->payload, u->head.length) == 0,
                "reports have one encoding");
    free(reports);
    free(again);
}

static void intake_counted(const struct intake_upload *u)
{
    const size_t len = HSY_UPLOAD_WIRE + u->head.length;
    uint8_t *bytes = malloc(len), digest[32];

    fuzz_expect(u->entry != NULL && bytes != NULL &&
                    hsy_upload_encode(bytes, &u->head, NULL) == HSY_OK &&
                    u->head.length ==
                        hsy_packed_size(u->entry->scheme, u->head.count),
                "what is counted is an upload of an entry");
    memcpy(bytes + HSY_UPLOAD_WIRE, u->payload, u->head.length);
    fuzz_expect(hsy_crc32c(0, u->payload, u->head.length) == u->head.checksum,
                "its checksum is right");
    hsy_blake2b(digest, sizeof digest, bytes, len, NULL, 0);
    fuzz_expect(memcmp(digest, u->digest, sizeof digest) == 0,
                "its digest is of its binary form");
    free(bytes);
    if (u->head.kind == 1)
        intake_reports_fit(u);
}

static void intake_body(enum intake_form form, const uint8_t *data, size_t len)
{
    struct intake in;
    hsy_error err = {0};
    hsy_status st = example_intake(&in, intake_roster(), form, data, len, &err);

    fuzz_expect(st == HSY_OK ||
                    (st == HSY_E_FORMAT && err.status == st &&
                     err.msg != NULL && err.field != HSY_FIELD_NONE),
                "a body is read or refused with field and message");
    if (st != HSY_OK)
        return;
    fuzz_expect(in.n >= 1 && in.n <= INTAKE_UPLOADS_MAX,
                "it brings some uploads");
    for (size_t i = 0; i < in.n; i++) {
        fuzz_expect(in.uploads[i].verdict <= INTAKE_CLOSED &&
                        in.uploads[i].verdict != INTAKE_AGAIN,
                    "a verdict needs no store");
        if (in.uploads[i].verdict == INTAKE_COUNTED)
            intake_counted(&in.uploads[i]);
    }
    intake_clear(&in);
}

/* Lengths within the body, and checksums, made right. */
static void intake_seal(uint8_t *data, size_t len)
{
    size_t at = 0;

    while (len - at > HSY_UPLOAD_WIRE) {
        const size_t left = len - at - HSY_UPLOAD_WIRE;
        uint32_t length = bytes_get32(data + at + 104);

        if (length > left)
            length %= (uint32_t)(left + 1);
        bytes_put32(data + at + 104, length);
        example_seal(data + at, HSY_UPLOAD_WIRE + length);
        at += HSY_UPLOAD_WIRE + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *sealed;

    if (len == 0 || len >= INTAKE_LEN)
        return 0;
    if (data[0] == '{') {
        intake_body(INTAKE_JSON, data, len);
        return 0;
    }
    intake_body(INTAKE_BINARY, data, len);
    sealed = malloc(len);
    if (sealed == NULL)
        return 0;
    memcpy(sealed, data, len);
    intake_seal(sealed, len);
    intake_body(INTAKE_BINARY, sealed, len);
    free(sealed);
    return 0;
}
