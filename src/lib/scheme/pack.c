/*
 * pack.c - reports in a stream: bits without gaps.
 *
 * A report of at most 64 bits takes exactly its bits, least significant first;
 * a longer one takes whole bytes. The bits of the last byte that no report
 * uses are zero.
 */
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"

#include <string.h>

size_t hsy_packed_size(const hsy_scheme *s, size_t n)
{
    if (s->report_bits > 64)
        return n * s->report_bytes;
    /* n * bits may pass 64 bits: take whole groups of eight first. */
    return n / 8 * s->report_bits + (n % 8 * s->report_bits + 7) / 8;
}

/* `bytes` is a constant at every call, so looking at it costs nothing. */
static inline void pack_bits(uint8_t *out, const uint8_t *reports, size_t n,
                             size_t bytes, unsigned bits)
{
    uint64_t held = 0; /* bits that have no whole word yet */
    unsigned have = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t x = report_get(reports + i * bytes, bytes);

        held |= x << have;
        have += bits;
        if (have >= 64) {
            bytes_put64(out, held);
            out += 8;
            have -= 64;
            /* What of x did not fit; a shift by 64 would be undefined. */
            held = have == 0 ? 0 : x >> (bits - have);
        }
    }
    report_put(out, (have + 7) / 8, held);
}

/* Up to 56 bits: eight bytes from the report's first one hold all of it. */
static inline void pack_read_short(uint8_t *reports, const uint8_t *in,
                                   size_t n, size_t bytes, unsigned bits)
{
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    size_t at = 0;

    for (size_t i = 0; i < n; i++, at += bits)
        report_put(reports + i * bytes, bytes,
                   bytes_get64(in + at / 8) >> at % 8 & mask);
}

/* Any length, and near the end of the input: bit by bit groups. */
static void pack_read(uint8_t *reports, const uint8_t *in, size_t first,
                      size_t n, size_t bytes, unsigned bits)
{
    for (size_t i = first; i < n; i++) {
        size_t at = i * bits;
        uint64_t x = 0;

        for (unsigned got = 0; got < bits;) {
            unsigned skip = (unsigned)((at + got) % 8), take = 8 - skip;

            if (take > bits - got)
                take = bits - got;
            x |= ((uint64_t)in[(at + got) / 8] >> skip &
                  (((uint64_t)1 << take) - 1))
                 << got;
            got += take;
        }
        report_put(reports + i * bytes, bytes, x);
    }
}

void hsy_pack(const hsy_scheme *s, uint8_t *packed, const uint8_t *reports,
              size_t n)
{
    const unsigned bits = s->report_bits;

    if (bits > 64 || bits == 8 * s->report_bytes) {
        memcpy(packed, reports, n * s->report_bytes);
        return;
    }
    switch (s->report_bytes) {
    case 1:
        pack_bits(packed, reports, n, 1, bits);
        break;
    case 2:
        pack_bits(packed, reports, n, 2, bits);
        break;
    case 4:
        pack_bits(packed, reports, n, 4, bits);
        break;
    default:
        pack_bits(packed, reports, n, s->report_bytes, bits);
        break;
    }
}

/* How many reports can be read by eight-byte loads inside the input. */
static size_t pack_safe(const hsy_scheme *s, size_t n, size_t size)
{
    size_t safe;

    if (s->report_bits > 56 || size < 8)
        return 0;
    safe = (size - 8) * 8 / s->report_bits;
    return safe < n ? safe : n;
}

hsy_status hsy_unpack(const hsy_scheme *s, uint8_t *reports,
                      const uint8_t *packed, size_t n)
{
    const unsigned bits = s->report_bits;
    const size_t size = hsy_packed_size(s, n), bytes = s->report_bytes;
    size_t safe;

    if (bits > 64 || bits == 8 * bytes) {
        memcpy(reports, packed, size);
        return HSY_OK;
    }
    if (n % 8 * bits % 8 != 0 && packed[size - 1] >> n % 8 * bits % 8 != 0)
        return HSY_E_FORMAT;
    safe = pack_safe(s, n, size);
    switch (bytes) {
    case 1:
        pack_read_short(reports, packed, safe, 1, bits);
        break;
    case 2:
        pack_read_short(reports, packed, safe, 2, bits);
        break;
    case 4:
        pack_read_short(reports, packed, safe, 4, bits);
        break;
    default:
        pack_read_short(reports, packed, safe, bytes, bits);
        break;
    }
    pack_read(reports, packed, safe, n, bytes, bits);
    return HSY_OK;
}
