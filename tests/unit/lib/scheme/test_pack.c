/* test_pack.c - reports packed to their bits come back unchanged. */
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

enum { MOST = 300 };

/* Bit `at` of the packed stream, as defined. */
static unsigned bit_at(const uint8_t *p, size_t at)
{
    return p[at / 8] >> at % 8 & 1;
}

static bool by_definition(const hsy_scheme *s, const uint8_t *packed,
                          const uint8_t *reports, size_t n)
{
    bool good = true;
    size_t bits = s->packed_bits, end = 8 * hsy_packed_size(s, n);

    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < bits; b++)
            good &= bit_at(packed, i * bits + b) ==
                    bit_at(reports + i * s->report_bytes, b);
    for (size_t at = n * bits; at < end; at++)
        good &= bit_at(packed, at) == 0;
    return good;
}

/* Buffers end where they must, so that a sanitizer sees any byte too far. */
static bool round_trip(const hsy_scheme *s, size_t n, bool *flips)
{
    size_t size = hsy_packed_size(s, n), all = n * s->report_bytes;
    uint8_t *reports = malloc(all + (all == 0));
    uint8_t *again = malloc(all + (all == 0));
    uint8_t *packed = malloc(size + (size == 0));
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);
    bool good;

    hsy_stream_seed(&st, 4, n);
    rng.fill(rng.ctx, reports, all);
    for (size_t i = 0; i < n; i++)
        for (size_t b = s->report_bits; b < 8 * s->report_bytes; b++)
            reports[i * s->report_bytes + b / 8] &= (uint8_t) ~(1u << b % 8);
    memset(packed, 0xa5, size);
    hsy_pack(s, packed, reports, n);
    good = by_definition(s, packed, reports, n) &&
           hsy_unpack(s, again, packed, n) == HSY_OK &&
           (all == 0 || memcmp(again, reports, all) == 0);
    if (s->packed_bits <= 64 && n * s->packed_bits % 8 != 0) {
        packed[size - 1] |= 0x80;
        *flips &= hsy_unpack(s, again, packed, n) == HSY_E_FORMAT;
    }
    free(reports);
    free(again);
    free(packed);
    return good;
}

static void packs(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    bool good = true, flips = true;

    for (size_t n = 0; n < MOST; n += n < 20 ? 1 : 37)
        good &= round_trip(s, n, &flips);
    ok(good, "%s, %u bits in %zu bytes: packed as defined, and back", name,
       s->packed_bits, s->report_bytes);
    ok(flips, "%s, %u bits: a spare bit at the end is refused", name,
       s->packed_bits);
    free(s);
}

static void sizes(void)
{
    hsy_spec spec = trial_values("grr", 1024, 1);
    hsy_scheme *s = trial_scheme(&spec);

    ok(eq_u64(hsy_packed_size(s, 0), 0) && eq_u64(hsy_packed_size(s, 1), 2) &&
           eq_u64(hsy_packed_size(s, 4), 5) && eq_u64(hsy_packed_size(s, 5), 7),
       "10-bit reports take 10 bits each");
    is_u64(hsy_packed_size(s, (size_t)1 << 61), (size_t)10 << 58,
           "the size of very many does not overflow on the way");
    free(s);
}

int main(void)
{
    static const uint32_t hashed[] = {2, 3, 1 << 10, 1 << 17};
    hsy_spec spec = trial_values("rr", 2, 1);

    sizes();
    packs(&spec, "rr");
    for (uint32_t d = 3; d <= 1u << 21; d *= 3) {
        spec = trial_values("grr", d, 1);
        packs(&spec, "grr");
    }
    for (uint32_t d = 2; d <= 70; d++) {
        spec = trial_values("oue", d, 1);
        packs(&spec, "oue");
    }
    for (size_t i = 0; i < 4; i++) {
        spec = trial_values("olh", 10, 1);
        spec.param[HSY_PARAM_G] = hashed[i];
        spec.param[HSY_PARAM_POOL_BITS] = i < 2 ? 24 : i < 3 ? 16 : 9;
        packs(&spec, "olh");
    }
    return tap_done();
}
