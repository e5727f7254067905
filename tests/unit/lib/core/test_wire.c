/* test_wire.c - the fixed parts of files: one encoding, no change unnoticed. */
#include "hearsay.h"
#include "lib/bits/bytes.h"
#include "tap.h"

#include <string.h>

static hsy_file_header some_prefix(void)
{
    hsy_file_header p = {.content = HSY_CONTENT_TALLY,
                         .labels_len = 0x01020304,
                         .checksum = 0xdeadbeef};

    for (size_t i = 0; i < HSY_DIGEST; i++)
        p.digest[i] = (uint8_t)(0xa0 + i);
    return p;
}

static bool same_prefix(const hsy_file_header *a, const hsy_file_header *b)
{
    return a->content == b->content && a->labels_len == b->labels_len &&
           a->checksum == b->checksum &&
           memcmp(a->digest, b->digest, HSY_DIGEST) == 0;
}

static void prefix_comes_back(void)
{
    static const uint8_t head[24] = {
        0x89, 'H', 'S', 'Y', '\r', '\n', 0x1a, '\n', 1,    0,    0,    0,
        2,    0,   0,   0,   0x04, 0x03, 0x02, 0x01, 0xef, 0xbe, 0xad, 0xde};
    const hsy_file_header p = some_prefix();
    uint8_t wire[HSY_PREFIX_WIRE];
    hsy_file_header q;

    hsy_file_header_encode(wire, &p);
    ok(memcmp(wire, head, sizeof head) == 0,
       "a prefix begins with magic, version, content, length, checksum");
    ok(memcmp(wire + 24, p.digest, HSY_DIGEST) == 0 &&
           bytes_get32(wire + 56) == 0 &&
           bytes_get32(wire + 60) == hsy_crc32c(0, wire, 60),
       "then digest, zeros and its own checksum");
    ok(hsy_file_header_decode(&q, wire, NULL) == HSY_OK && same_prefix(&p, &q),
       "a prefix comes back as it was");
}

/* Set four bytes, make the checksum right, decode. */
static hsy_status prefix_with(size_t at, uint32_t value, hsy_error *err)
{
    const hsy_file_header p = some_prefix();
    uint8_t wire[HSY_PREFIX_WIRE];
    hsy_file_header q;

    hsy_file_header_encode(wire, &p);
    bytes_put32(wire + at, value);
    bytes_put32(wire + 60, hsy_crc32c(0, wire, 60));
    return hsy_file_header_decode(&q, wire, err);
}

static bool named(const hsy_error *err, const char *field)
{
    return err->status == HSY_E_FORMAT && err->field != HSY_FIELD_NONE &&
           strcmp(hsy_field_name(err->field), field) == 0;
}

static void prefix_is_checked(void)
{
    hsy_error err;

    ok(prefix_with(0, 0x31415926, &err) == HSY_E_FORMAT && named(&err, "magic"),
       "a foreign magic is refused");
    ok(prefix_with(8, 0, &err) == HSY_E_FORMAT && named(&err, "version") &&
           prefix_with(8, 2, &err) == HSY_E_FORMAT && named(&err, "version"),
       "versions 0 and 2 are refused");
    ok(prefix_with(12, 0, &err) == HSY_E_FORMAT && named(&err, "content") &&
           prefix_with(12, 3, &err) == HSY_E_FORMAT && named(&err, "content"),
       "contents 0 and 3 are refused");
    ok(prefix_with(16, HSY_LABELS_MAX, &err) == HSY_OK,
       "labels may be as long as the limit");
    ok(prefix_with(16, HSY_LABELS_MAX + 1, &err) == HSY_E_FORMAT &&
           named(&err, "labels_len") && err.limit == HSY_LABELS_MAX,
       "one byte more is refused, with the limit");
    ok(prefix_with(56, 1, &err) == HSY_E_FORMAT &&
           prefix_with(56, 1u << 31, &err) == HSY_E_FORMAT,
       "reserved bytes are zero or the prefix is refused");
}

static void prefix_notices_every_byte(void)
{
    const hsy_file_header p = some_prefix();
    uint8_t wire[HSY_PREFIX_WIRE];
    unsigned accepted = 0, touched = 0;

    hsy_file_header_encode(wire, &p);
    for (size_t i = 0; i < sizeof wire; i++)
        for (unsigned change = 1; change < 256; change++) {
            hsy_file_header q = p;

            wire[i] ^= (uint8_t)change;
            accepted += hsy_file_header_decode(&q, wire, NULL) == HSY_OK;
            touched += !same_prefix(&p, &q);
            wire[i] ^= (uint8_t)change;
        }
    ok(accepted == 0, "all %zu changes of one byte of a prefix are refused",
       255 * sizeof wire);
    ok(touched == 0, "a refused prefix writes nothing");
}

/* ---- Records ------------------------------------------------------------- */

static bool same_record(const hsy_record *a, const hsy_record *b)
{
    return a->type == b->type && a->length == b->length &&
           a->first == b->first && a->count == b->count &&
           a->checksum == b->checksum;
}

static bool comes_back(hsy_record r)
{
    uint8_t wire[HSY_RECORD_WIRE], again[HSY_RECORD_WIRE];
    hsy_record q;

    hsy_record_encode(wire, &r);
    if (hsy_record_decode(&q, wire, NULL) != HSY_OK || !same_record(&r, &q))
        return false;
    hsy_record_encode(again, &q);
    return memcmp(wire, again, sizeof wire) == 0;
}

static bool refused(hsy_record r)
{
    uint8_t wire[HSY_RECORD_WIRE];
    hsy_record q;
    hsy_error err;

    hsy_record_encode(wire, &r);
    return hsy_record_decode(&q, wire, &err) == HSY_E_FORMAT &&
           err.status == HSY_E_FORMAT && err.msg != NULL;
}

static void record_comes_back(void)
{
    static const uint8_t want[24] = {4, 0, 0, 0, 24, 0, 0, 0, 0, 32, 0, 0,
                                     0, 0, 0, 0, 3,  0, 0, 0, 0, 0,  0, 0};
    const hsy_record r = {HSY_RECORD_CELLS, 24, 8192, 3, 77};
    uint8_t wire[HSY_RECORD_WIRE];

    hsy_record_encode(wire, &r);
    ok(memcmp(wire, want, sizeof want) == 0 && bytes_get32(wire + 24) == 77 &&
           bytes_get32(wire + 28) == hsy_crc32c(0, wire, 28),
       "a record's head is type, length, place, count, two checksums");
    ok(comes_back(r) &&
           comes_back((hsy_record){HSY_RECORD_STRATA, 8, 0, 1, 1}) &&
           comes_back((hsy_record){HSY_RECORD_WEIGHTS, 32768, 0, 4096, 1}) &&
           comes_back((hsy_record){HSY_RECORD_REPORTS, 1, 0, 8, 1}) &&
           comes_back(
               (hsy_record){HSY_RECORD_REPORTS, HSY_RECORD_MAX, 0, 1, 1}) &&
           comes_back((hsy_record){HSY_RECORD_BATCHES, 64, 0, 1, 1}) &&
           comes_back((hsy_record){HSY_RECORD_BATCHES, 1024, 0, 16, 1}) &&
           comes_back((hsy_record){HSY_RECORD_END, 0, 0, 0, 0}) &&
           comes_back((hsy_record){HSY_RECORD_END, 0, 0, INT64_MAX, 0}),
       "records at their bounds come back as they were");
}

static void record_is_checked(void)
{
    ok(refused((hsy_record){0, 0, 0, 0, 0}) &&
           refused((hsy_record){6, 0, 0, 0, 0}),
       "types 0 and 6 are refused");
    ok(refused((hsy_record){HSY_RECORD_REPORTS, HSY_RECORD_MAX + 1, 0, 1, 0}),
       "a payload past the limit is refused");
    ok(refused((hsy_record){HSY_RECORD_REPORTS, 1, 0, 0, 0}) &&
           refused((hsy_record){HSY_RECORD_REPORTS, 0, 0, 0, 0}) &&
           refused((hsy_record){HSY_RECORD_REPORTS, 1, 0, 9, 0}) &&
           refused((hsy_record){HSY_RECORD_REPORTS, 1, 0, UINT64_MAX, 0}) &&
           refused((hsy_record){HSY_RECORD_REPORTS, 1, 1, 1, 0}),
       "no reports, more reports than bits, or a place are refused");
    ok(refused((hsy_record){HSY_RECORD_CELLS, 8, 1, 1, 0}) &&
           refused((hsy_record){HSY_RECORD_CELLS, 8, 4095, 1, 0}) &&
           refused((hsy_record){HSY_RECORD_CELLS, 8, 1ull << 63, 1, 0}),
       "cells begin at a run, below 2^63");
    ok(refused((hsy_record){HSY_RECORD_STRATA, 0, 0, 0, 0}) &&
           refused((hsy_record){HSY_RECORD_STRATA, 32776, 0, 4097, 0}) &&
           refused((hsy_record){HSY_RECORD_STRATA, 7, 0, 1, 0}) &&
           refused((hsy_record){HSY_RECORD_STRATA, 8, 0, (1ull << 61) + 1, 0}),
       "counters are 1 to 4096 of eight bytes");
    ok(refused((hsy_record){HSY_RECORD_BATCHES, 0, 0, 0, 0}) &&
           refused((hsy_record){HSY_RECORD_BATCHES, 63, 0, 1, 0}) &&
           refused((hsy_record){HSY_RECORD_BATCHES, 64, 4096, 1, 0}) &&
           refused((hsy_record){HSY_RECORD_BATCHES, 1088, 0, 17, 0}),
       "batches are 1 to 16 of 64 bytes, from place 0 on");
    ok(refused((hsy_record){HSY_RECORD_END, 1, 0, 0, 0}) &&
           refused((hsy_record){HSY_RECORD_END, 0, 4096, 0, 0}) &&
           refused((hsy_record){HSY_RECORD_END, 0, 0, 0, 1}) &&
           refused((hsy_record){HSY_RECORD_END, 0, 0, 1ull << 63, 0}),
       "an end has nothing but a count below 2^63");
}

static void record_notices_every_byte(void)
{
    const hsy_record r = {HSY_RECORD_CELLS, 24, 8192, 3, 77};
    uint8_t wire[HSY_RECORD_WIRE];
    unsigned accepted = 0;

    hsy_record_encode(wire, &r);
    for (size_t i = 0; i < sizeof wire; i++)
        for (unsigned change = 1; change < 256; change++) {
            hsy_record q;

            wire[i] ^= (uint8_t)change;
            accepted += hsy_record_decode(&q, wire, NULL) == HSY_OK;
            wire[i] ^= (uint8_t)change;
        }
    ok(accepted == 0, "all %zu changes of one byte of a head are refused",
       255 * sizeof wire);
}

int main(void)
{
    prefix_comes_back();
    prefix_is_checked();
    prefix_notices_every_byte();
    record_comes_back();
    record_is_checked();
    record_notices_every_byte();
    return tap_done();
}
