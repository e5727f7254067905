/*
 * wire.c - the fixed parts of report streams and tally files.
 *
 * Little-endian, one canonical encoding: whatever decodes encodes to the same
 * bytes again. Every head ends with the CRC-32C of the bytes before it, which
 * finds each change of up to 32 bits in a row.           docs/formats.md, 1
 *
 *     prefix   0 magic[8], 8 version, 12 content, 16 labels_len, 20 checksum
 *              of scheme and labels, 24 digest[32], 56 zero, 60 own checksum
 *     record   0 type, 4 length, 8 first (u64), 16 count (u64), 24 checksum
 *              of the payload, 28 own checksum
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"

#include <string.h>

#define WIRE_VERSION 1u
#define WIRE_COUNT_MAX ((uint64_t)INT64_MAX)

/* After PNG's: a high bit, both line ends and an end-of-file mark, so that a
 * transfer that takes the file for text is noticed at once. */
static const uint8_t wire_magic[8] = {0x89, 'H',  'S',  'Y',
                                      '\r', '\n', 0x1a, '\n'};

void hsy_file_header_encode(uint8_t wire[HSY_PREFIX_WIRE],
                            const hsy_file_header *prefix)
{
    memcpy(wire, wire_magic, sizeof wire_magic);
    bytes_put32(wire + 8, WIRE_VERSION);
    bytes_put32(wire + 12, prefix->content);
    bytes_put32(wire + 16, prefix->labels_len);
    bytes_put32(wire + 20, prefix->checksum);
    memcpy(wire + 24, prefix->digest, HSY_DIGEST);
    bytes_put32(wire + 56, 0);
    bytes_put32(wire + 60, hsy_crc32c(0, wire, 60));
}

hsy_status hsy_file_header_decode(hsy_file_header *prefix,
                                  const uint8_t wire[HSY_PREFIX_WIRE],
                                  hsy_error *err)
{
    hsy_file_header p;

    if (memcmp(wire, wire_magic, sizeof wire_magic) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_MAGIC,
                        "not a file of hearsay");
    /* A later version may keep its checksum elsewhere: look at this first. */
    if (bytes_get32(wire + 8) != WIRE_VERSION)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                              "a version this program does not know",
                              WIRE_VERSION);
    if (bytes_get32(wire + 60) != hsy_crc32c(0, wire, 60))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_PREFIX,
                        "the checksum is wrong");
    if (bytes_get32(wire + 56) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_PREFIX,
                        "the reserved bytes are not zero");
    p.content = bytes_get32(wire + 12);
    p.labels_len = bytes_get32(wire + 16);
    p.checksum = bytes_get32(wire + 20);
    memcpy(p.digest, wire + 24, HSY_DIGEST);
    if (p.content != HSY_CONTENT_REPORTS && p.content != HSY_CONTENT_TALLY)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_CONTENT,
                        "neither reports nor a tally");
    if (p.labels_len > HSY_LABELS_MAX)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_LABELS_LEN,
                              "too many bytes of labels", HSY_LABELS_MAX);
    *prefix = p;
    return HSY_OK;
}

void hsy_record_encode(uint8_t wire[HSY_RECORD_WIRE], const hsy_record *record)
{
    bytes_put32(wire, record->type);
    bytes_put32(wire + 4, record->length);
    bytes_put64(wire + 8, record->first);
    bytes_put64(wire + 16, record->count);
    bytes_put32(wire + 24, record->checksum);
    bytes_put32(wire + 28, hsy_crc32c(0, wire, 28));
}

/* So many bytes each, from the beginning of a run. */
static bool wire_run_fits(const hsy_record *r, uint32_t each)
{
    return r->first % HSY_RECORD_CELLS_RUN == 0 && r->first <= WIRE_COUNT_MAX &&
           r->count >= 1 && r->count <= HSY_RECORD_CELLS_RUN &&
           r->length == each * (uint32_t)r->count;
}

static hsy_status wire_record_check(const hsy_record *r, hsy_error *err)
{
    bool fits;

    if (r->length > HSY_RECORD_MAX)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                              "the record is too long", HSY_RECORD_MAX);
    switch (r->type) {
    case HSY_RECORD_REPORTS:
        /* At least a bit each, without a place of their own. */
        fits = r->first == 0 && r->count >= 1 &&
               r->count <= 8 * (uint64_t)r->length;
        break;
    case HSY_RECORD_STRATA:
    case HSY_RECORD_WEIGHTS:
    case HSY_RECORD_CELLS:
        fits = wire_run_fits(r, 8);
        break;
    case HSY_RECORD_ROUNDS:
        fits = wire_run_fits(r, 24);
        break;
    case HSY_RECORD_BATCHES:
        fits = r->first == 0 && r->count <= HSY_RECORD_BATCHES_MAX &&
               wire_run_fits(r, 64);
        break;
    case HSY_RECORD_END:
        fits = r->length == 0 && r->first == 0 && r->checksum == 0 &&
               r->count <= WIRE_COUNT_MAX;
        break;
    default:
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_TYPE,
                        "no such type of record");
    }
    if (!fits)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                        "place, count and length do not fit together");
    return HSY_OK;
}

hsy_status hsy_record_decode(hsy_record *record,
                             const uint8_t wire[HSY_RECORD_WIRE],
                             hsy_error *err)
{
    hsy_record r;
    hsy_status st;

    if (bytes_get32(wire + 28) != hsy_crc32c(0, wire, 28))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                        "corrupt header (wrong checksum); copy the file again");
    r.type = bytes_get32(wire);
    r.length = bytes_get32(wire + 4);
    r.first = bytes_get64(wire + 8);
    r.count = bytes_get64(wire + 16);
    r.checksum = bytes_get32(wire + 24);
    st = wire_record_check(&r, err);
    if (st != HSY_OK)
        return st;
    *record = r;
    return HSY_OK;
}
