/* test_upload.c - upload header v1: one encoding, no change unnoticed. */
#include "hearsay.h"
#include "lib/bits/bytes.h"
#include "tap.h"

#include <string.h>

static hsy_upload some_upload(void)
{
    hsy_upload u = {.kind = 1,
                    .task = "daily.use_2-b",
                    .release = 3,
                    .epoch = 20000,
                    .count = 40,
                    .length = 5,
                    .checksum = 0xcafef00d};

    for (size_t i = 0; i < HSY_DIGEST; i++)
        u.digest[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof u.id; i++)
        u.id[i] = (uint8_t)(0xf0 - i);
    return u;
}

static bool same_upload(const hsy_upload *a, const hsy_upload *b)
{
    return a->kind == b->kind && strcmp(a->task, b->task) == 0 &&
           a->release == b->release && a->epoch == b->epoch &&
           memcmp(a->digest, b->digest, HSY_DIGEST) == 0 &&
           memcmp(a->id, b->id, sizeof a->id) == 0 && a->count == b->count &&
           a->length == b->length && a->checksum == b->checksum;
}

static bool comes_back(const hsy_upload *u)
{
    uint8_t wire[HSY_UPLOAD_WIRE], again[HSY_UPLOAD_WIRE];
    hsy_upload v;

    return hsy_upload_encode(wire, u, NULL) == HSY_OK &&
           hsy_upload_decode(&v, wire, NULL) == HSY_OK && same_upload(u, &v) &&
           hsy_upload_encode(again, &v, NULL) == HSY_OK &&
           memcmp(wire, again, sizeof wire) == 0;
}

static void upload_comes_back(void)
{
    hsy_upload u = some_upload();
    uint8_t wire[HSY_UPLOAD_WIRE];

    ok(comes_back(&u), "an upload header comes back as it was");
    hsy_upload_encode(wire, &u, NULL);
    ok(memcmp(wire, "HSYU\1\0\0\0\1\0\0\0\3\0\0\0daily.use_2-b\0", 30) == 0 &&
           memcmp(wire + 48, u.digest, 32) == 0 &&
           memcmp(wire + 80, u.id, 16) == 0 &&
           bytes_get32(wire + 96) == 20000 && bytes_get32(wire + 100) == 40 &&
           bytes_get32(wire + 104) == 5 &&
           bytes_get32(wire + 108) == 0xcafef00d &&
           bytes_get32(wire + 124) == hsy_crc32c(0, wire, 124),
       "its fields stand where docs/formats.md says");
    u.kind = 2;
    ok(comes_back(&u), "a null upload has the same header");
    memcpy(u.task, "abcdefghijklmnopqrstuvwxyz012345", 33);
    ok(comes_back(&u), "a task's name may have 32 letters");
    strcpy(u.task, "-");
    u.release = UINT32_MAX;
    u.epoch = UINT32_MAX;
    u.length = HSY_UPLOAD_MAX;
    u.count = 8 * HSY_UPLOAD_MAX;
    ok(comes_back(&u), "every field may be at its upper bound");
    u.release = 1;
    u.epoch = 0;
    u.length = u.count = 1;
    ok(comes_back(&u), "every field may be at its lower bound");
}

static bool not_encoded(const hsy_upload *u, const char *field)
{
    uint8_t wire[HSY_UPLOAD_WIRE] = {0};
    static const uint8_t zero[HSY_UPLOAD_WIRE];
    hsy_error err;

    return hsy_upload_encode(wire, u, &err) == HSY_E_RANGE &&
           err.status == HSY_E_RANGE &&
           strcmp(hsy_field_name(err.field), field) == 0 &&
           memcmp(wire, zero, sizeof wire) == 0;
}

static void encode_checks(void)
{
    const hsy_upload good = some_upload();
    hsy_upload u = good;

    u.kind = 0;
    ok(not_encoded(&u, "kind"), "kind 0 is not encoded");
    u.kind = 4;
    ok(not_encoded(&u, "kind"), "nor is kind 4");
    u = good;
    u.release = 0;
    ok(not_encoded(&u, "release"), "nor release 0");
    u = good;
    u.count = 0;
    ok(not_encoded(&u, "count"), "nor an upload of nothing");
    u.count = 41;
    ok(not_encoded(&u, "count"), "nor more reports than bits");
    u = good;
    u.length = HSY_UPLOAD_MAX + 1;
    ok(not_encoded(&u, "length"), "nor a payload past the limit");
    u = good;
    u.task[0] = '\0';
    ok(not_encoded(&u, "task"), "nor a task without a name");
    strcpy(u.task, "Daily");
    ok(not_encoded(&u, "task"), "nor one in capitals");
    strcpy(u.task, "a/b");
    ok(not_encoded(&u, "task"), "nor one with a slash");
}

/* Set four bytes, make the checksum right, decode. */
static bool refused_with(size_t at, uint32_t value, const char *field)
{
    const hsy_upload u = some_upload();
    uint8_t wire[HSY_UPLOAD_WIRE];
    hsy_upload v;
    hsy_error err;

    hsy_upload_encode(wire, &u, NULL);
    bytes_put32(wire + at, value);
    bytes_put32(wire + 124, hsy_crc32c(0, wire, 124));
    return hsy_upload_decode(&v, wire, &err) == HSY_E_FORMAT &&
           err.status == HSY_E_FORMAT &&
           strcmp(hsy_field_name(err.field), field) == 0;
}

static void decode_checks(void)
{
    ok(refused_with(0, 0, "magic"), "a foreign magic is refused");
    ok(refused_with(4, 0, "version") && refused_with(4, 2, "version"),
       "versions 0 and 2 are refused");
    ok(refused_with(8, 0, "kind") && refused_with(8, 4, "kind"),
       "kinds 0 and 4 are refused");
    ok(refused_with(12, 0, "release"), "release 0 is refused");
    ok(refused_with(16, 0, "task"), "letters after a zero are refused");
    ok(refused_with(44, 0x61, "task"), "also at the end");
    ok(refused_with(100, 0, "count") && refused_with(100, 41, "count"),
       "no reports, and more than bits, are refused");
    ok(refused_with(104, HSY_UPLOAD_MAX + 1, "length") &&
           refused_with(104, UINT32_MAX, "length") &&
           refused_with(104, 1u << 29, "length"),
       "lengths past the limit are refused");
    ok(refused_with(104, 4, "count"), "a length too short is refused");
    ok(refused_with(112, 1, "header") && refused_with(116, 1, "header") &&
           refused_with(120, 1u << 31, "header"),
       "reserved bytes are zero or the header is refused");
}

/* The task field must hold one of the letters in each place up to its end. */
static void task_letters(void)
{
    unsigned accepted = 0;

    for (unsigned c = 1; c < 256; c++) {
        hsy_upload u = some_upload();

        u.task[2] = (char)c;
        accepted += comes_back(&u);
    }
    ok(accepted == 26 + 10 + 3, "a task's letters are a-z, 0-9, '.', '_', '-'");
}

static void upload_notices_every_byte(void)
{
    const hsy_upload u = some_upload();
    uint8_t wire[HSY_UPLOAD_WIRE];
    unsigned accepted = 0, touched = 0;

    hsy_upload_encode(wire, &u, NULL);
    for (size_t i = 0; i < sizeof wire; i++)
        for (unsigned change = 1; change < 256; change++) {
            hsy_upload v = u;

            wire[i] ^= (uint8_t)change;
            accepted += hsy_upload_decode(&v, wire, NULL) == HSY_OK;
            touched += !same_upload(&u, &v);
            wire[i] ^= (uint8_t)change;
        }
    ok(accepted == 0, "all %zu changes of one byte of a header are refused",
       255 * sizeof wire);
    ok(touched == 0, "a refused header writes nothing");
}

int main(void)
{
    upload_comes_back();
    encode_checks();
    decode_checks();
    task_letters();
    upload_notices_every_byte();
    return tap_done();
}
