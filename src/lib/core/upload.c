/*
 * upload.c - upload header v1: what travels before a batch of packed reports.
 *
 * Little-endian, one canonical encoding.                 docs/formats.md, 5
 *
 *     0 magic[4], 4 version, 8 kind, 12 release, 16 task[32], 48 digest[32],
 *     80 id[16], 96 epoch, 100 count, 104 length, 108 checksum of the payload,
 *     112 zero[12], 124 own checksum (CRC-32C of the bytes before it)
 */
#include "lib/bits/bytes.h"
#include "lib/bits/names.h"
#include "lib/core/fail.h"

#include <string.h>

#define UPLOAD_VERSION 1u

static const uint8_t upload_magic[4] = {'H', 'S', 'Y', 'U'};

/* A null upload says as much as a real one, so the same rules hold for it. */
static hsy_status upload_check(const hsy_upload *u, hsy_status status,
                               hsy_error *err)
{
    if (u->kind < HSY_UPLOAD_REPORTS || u->kind > HSY_UPLOAD_SEALED)
        return hsy_fail(err, status, HSY_FIELD_KIND,
                        "neither reports nor null nor sealed");
    if (u->release == 0)
        return hsy_fail(err, status, HSY_FIELD_RELEASE,
                        "a release is at least 1");
    if (u->length > HSY_UPLOAD_MAX)
        return hsy_fail_limit(err, status, HSY_FIELD_LENGTH,
                              "the payload is too long", HSY_UPLOAD_MAX);
    if (u->count == 0)
        return hsy_fail(err, status, HSY_FIELD_COUNT,
                        "an upload holds a report");
    if (u->count > 8 * u->length)
        return hsy_fail_limit(err, status, HSY_FIELD_COUNT,
                              "more reports than the payload has bits",
                              8 * (uint64_t)u->length);
    if (u->kind == HSY_UPLOAD_SEALED && u->count != 1)
        return hsy_fail(err, status, HSY_FIELD_COUNT,
                        "a sealed upload holds one report");
    return HSY_OK;
}

hsy_status hsy_upload_encode(uint8_t wire[HSY_UPLOAD_WIRE],
                             const hsy_upload *upload, hsy_error *err)
{
    hsy_status st = upload_check(upload, HSY_E_RANGE, err);

    if (st != HSY_OK)
        return st;
    if (!names_ok(upload->task, HSY_TASK_ID))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TASK,
                        "a task is 1 to 32 of a-z, 0-9, '.', '_', '-'");
    memcpy(wire, upload_magic, sizeof upload_magic);
    bytes_put32(wire + 4, UPLOAD_VERSION);
    bytes_put32(wire + 8, upload->kind);
    bytes_put32(wire + 12, upload->release);
    memset(wire + 16, 0, HSY_TASK_ID);
    names_put(wire + 16, upload->task);
    memcpy(wire + 48, upload->digest, HSY_DIGEST);
    memcpy(wire + 80, upload->id, sizeof upload->id);
    bytes_put32(wire + 96, upload->epoch);
    bytes_put32(wire + 100, upload->count);
    bytes_put32(wire + 104, upload->length);
    bytes_put32(wire + 108, upload->checksum);
    memset(wire + 112, 0, 12);
    bytes_put32(wire + 124, hsy_crc32c(0, wire, 124));
    return HSY_OK;
}

/* What does not depend on the fields: magic, version, checksum, zeros. */
static hsy_status upload_frame(const uint8_t wire[HSY_UPLOAD_WIRE],
                               hsy_error *err)
{
    if (memcmp(wire, upload_magic, sizeof upload_magic) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_MAGIC,
                        "not an upload of hearsay");
    /* A later version may keep its checksum elsewhere: look at this first. */
    if (bytes_get32(wire + 4) != UPLOAD_VERSION)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                              "a version this program does not know",
                              UPLOAD_VERSION);
    if (bytes_get32(wire + 124) != hsy_crc32c(0, wire, 124))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_HEADER,
                        "the checksum is wrong");
    if (!bytes_zero(wire + 112, 12))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_HEADER,
                        "the reserved bytes are not zero");
    return HSY_OK;
}

hsy_status hsy_upload_decode(hsy_upload *upload,
                             const uint8_t wire[HSY_UPLOAD_WIRE],
                             hsy_error *err)
{
    hsy_upload u;
    hsy_status st = upload_frame(wire, err);

    if (st != HSY_OK)
        return st;
    if (!names_get(u.task, wire + 16, HSY_TASK_ID) ||
        !names_ok(u.task, HSY_TASK_ID))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_TASK,
                        "a task is 1 to 32 of a-z, 0-9, '.', '_', '-'");
    u.kind = bytes_get32(wire + 8);
    u.release = bytes_get32(wire + 12);
    memcpy(u.digest, wire + 48, HSY_DIGEST);
    memcpy(u.id, wire + 80, sizeof u.id);
    u.epoch = bytes_get32(wire + 96);
    u.count = bytes_get32(wire + 100);
    u.length = bytes_get32(wire + 104);
    u.checksum = bytes_get32(wire + 108);
    st = upload_check(&u, HSY_E_FORMAT, err);
    if (st != HSY_OK)
        return st;
    *upload = u;
    return HSY_OK;
}
