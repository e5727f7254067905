/*
 * test_lanes.c - every bit of a report has coins of its own.
 *
 * Reports of many bits are made in chunks of lanes. Here a tape of random words
 * is read by the definition, one lane at a time: which words are a bit's coins,
 * which number they spell, whether it is below the threshold. The real code
 * must make the same reports of the tape and use all of it. A coin that served
 * two bits, of one chunk or of two, would show in both.
 */
#include "lib/family/sketch.h"
#include "lib/family/unary.h"
#include "lib/mech/mechanisms.h"
#include "lib/mech/rappor.h"
#include "rig/tape.h"
#include "rig/trial.h"

#define LANES_CHUNK 16u /* words of lanes that are drawn for at once */
#define LANES_BLOCK 64u /* of RAPPOR's lanes in a block */
#define LANES_TAPE ((size_t)1 << 18)
#define LANES_BITS ((size_t)1 << 15) /* of all reports of a batch */
#define LANES_SEED 0x9e3779b9u       /* what the published source repeats */

/* Random words, and how many of them the definition has read. */
struct lanes_tape {
    uint64_t words[LANES_TAPE];
    size_t at;
};

static void lanes_record(struct lanes_tape *t, uint64_t seed)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);

    hsy_stream_seed(&stream, seed, 0);
    rng.fill(rng.ctx, t->words, sizeof t->words);
    t->at = 0;
}

static hsy_status lanes_published(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)buf)[i] = (uint8_t)(LANES_SEED >> 8 * (i % 4));
    return HSY_OK;
}

/* Whether the number that a lane of the planes spells, the last plane its first
 * digit and a set bit the digit 0, is below the threshold's leading digits. */
static bool lanes_event(const uint64_t *planes, size_t words, uint32_t digits,
                        uint64_t threshold, size_t lane)
{
    uint64_t number = 0;

    for (uint32_t j = digits; j-- > 0;)
        number =
            number << 1 | (~planes[j * words + lane / 64] >> lane % 64 & 1);
    return number < threshold >> (64 - digits);
}

static size_t lanes_chunk(size_t words, size_t first)
{
    return words - first < LANES_CHUNK ? words - first : LANES_CHUNK;
}

/* ---- Unary vectors ------------------------------------------------------- */

/* The planes of each chunk; after those of the first, the true bit's coin. */
static void lanes_vector(const hsy_scheme *s, uint8_t *bits, uint64_t code,
                         struct lanes_tape *t)
{
    const size_t all = unary_bits(s), words = (all + 63) / 64;
    bool coin = false;

    for (size_t first = 0; first < words; first += LANES_CHUNK) {
        size_t n = lanes_chunk(words, first);

        for (size_t i = 0; i < 64 * n && 64 * first + i < all; i++)
            bits[64 * first + i] = lanes_event(
                t->words + t->at, n, s->bits.digits, s->bits.other, i);
        t->at += n * s->bits.digits;
        if (first == 0)
            coin = t->words[t->at++] < s->bits.own;
    }
    bits[code] = coin;
}

/* The bits of n reports one after the other; a report has `each` of them. */
static size_t lanes_unary(const hsy_scheme *s, uint8_t *bits,
                          const uint64_t *codes, size_t n, struct lanes_tape *t)
{
    const size_t each = unary_bits(s);

    for (size_t i = 0; i < n; i++) {
        uint64_t own = codes[i];

        if (s->mech == &hsy_mech_cms)
            own = sketch_cell(s, LANES_SEED & (sketch_rows(s) - 1), codes[i]);
        lanes_vector(s, bits + i * each, own, t);
    }
    return each;
}

/* ---- RAPPOR -------------------------------------------------------------- */

/* One step of all lanes of a block: a 0 becomes 1 and a 1 becomes 0 by the
 * event of its own threshold. */
static void lanes_step(uint8_t *lanes, size_t words, uint32_t digits,
                       uint64_t up, uint64_t down, struct lanes_tape *t)
{
    for (size_t first = 0; digits != 0 && first < words; first += LANES_CHUNK) {
        size_t n = lanes_chunk(words, first);

        for (size_t i = 0; i < 64 * n; i++) {
            uint8_t *lane = &lanes[64 * first + i];

            *lane ^= lanes_event(t->words + t->at, n, digits,
                                 *lane != 0 ? down : up, i);
        }
        t->at += n * digits;
    }
}

/* Reports stand in lanes, a power of two of them from 8 on, or whole words. */
static size_t lanes_rappor(const hsy_scheme *s, uint8_t *bits,
                           const uint64_t *codes, size_t n,
                           struct lanes_tape *t)
{
    const size_t k = rappor_bits(s);
    const uint64_t word = (uint64_t)LANES_SEED << 32 | LANES_SEED;
    const uint32_t cohort =
        (uint32_t)((hsy_u128)word * rappor_cohorts(s) >> 64);
    size_t width = 8, most;

    while (width < 64 && width < k)
        width *= 2;
    if (k > 64)
        width = (k + 63) / 64 * 64;
    most = 64 * LANES_BLOCK / width;
    for (size_t done = 0; done < n; done += most) {
        size_t some = n - done < most ? n - done : most;
        size_t words = (some * width + 63) / 64;
        uint8_t lanes[64 * LANES_BLOCK] = {0};

        for (size_t i = 0; i < some; i++) {
            uint16_t positions[RAPPOR_HASHES_MOST];

            hsy_rappor_bits(s, positions, codes[done + i], cohort);
            for (uint32_t j = 0; j < rappor_hashes(s); j++)
                lanes[i * width + positions[j]] = 1;
        }
        lanes_step(lanes, words, s->rappor.flip_digits, s->rappor.flip,
                   s->rappor.flip, t);
        lanes_step(lanes, words, s->rappor.step_digits, s->rappor.low,
                   s->rappor.miss, t);
        for (size_t i = 0; i < some; i++)
            memcpy(bits + (done + i) * k, lanes + i * width, k);
    }
    return k;
}

/* ---- Comparison ---------------------------------------------------------- */

/* Whether the first bits of every report are those of the definition. */
static bool lanes_equal(const hsy_scheme *s, const uint8_t *reports,
                        const uint8_t *bits, size_t each, size_t n)
{
    bool equal = true;

    for (size_t i = 0; i < n; i++, reports += s->report_bytes)
        for (size_t b = 0; b < each; b++)
            equal &= (reports[b / 8] >> b % 8 & 1) == bits[i * each + b];
    return equal;
}

static void lanes_agree(const hsy_spec *spec, size_t n)
{
    static struct lanes_tape t;
    static uint8_t bits[LANES_BITS], reports[LANES_BITS];
    hsy_scheme *s = trial_scheme(spec);
    const bool rappor = s->mech == &hsy_mech_rappor;
    uint64_t codes[512];
    bool agree = true, used = true;
    size_t each = 0;

    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct tape secret = {t.words, 0};
        hsy_coins coins = {{tape_fill, &secret}, {lanes_published, NULL}};

        for (size_t i = 0; i < n; i++) /* ends, and some in every chunk */
            codes[i] = i + seed == 1 ? s->d - 1 : (i * 701 + seed * 97) % s->d;
        lanes_record(&t, seed);
        each = rappor ? lanes_rappor(s, bits, codes, n, &t)
                      : lanes_unary(s, bits, codes, n, &t);
        secret.left = t.at * sizeof *t.words;
        agree &=
            hsy_randomize_batch(s, reports, codes, n, &coins, NULL) == HSY_OK &&
            lanes_equal(s, reports, bits, each, n);
        used &= secret.left == 0;
    }
    ok(agree, "%s, %zu reports of %zu bits: as the tape of coins says",
       spec->mechanism, n, each);
    ok(used, "and every word of the tape is used");
    free(s);
}

static void unary(const char *mechanism, uint32_t d, size_t n)
{
    hsy_spec spec = trial_values(mechanism, d, 1);

    lanes_agree(&spec, n);
}

static void sketch(uint32_t width, size_t n)
{
    hsy_spec spec = trial_values("cms", 3000, 1);

    spec.param[HSY_PARAM_HASHES] = 4;
    spec.param[HSY_PARAM_WIDTH] = width;
    lanes_agree(&spec, n);
}

/* With f, p and q as given: coins of either step alone, and of both. */
static void rappor(uint32_t k, size_t n, hsy_ratio f, hsy_ratio p, hsy_ratio q)
{
    hsy_spec spec = trial_values("rappor", 3000, 0);

    spec.design = HSY_DESIGN_RAPPOR;
    spec.chance[0] = f;
    spec.chance[1] = p;
    spec.chance[2] = q;
    spec.param[HSY_PARAM_FILTER_BITS] = k;
    spec.param[HSY_PARAM_COHORTS] = 3;
    lanes_agree(&spec, n);
}

int main(void)
{
    static const uint32_t sizes[] = {70, 1024, 1025, 2100, 4096};
    static const hsy_ratio none = {0, 1}, half = {1, 2}, third = {1, 3},
                           most = {13, 16}, whole = {1, 1};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unary("sue", sizes[i], 5);
        unary("oue", sizes[i], 5);
        sketch(sizes[i], 5);
    }
    rappor(2048, 3, half, none, whole);
    rappor(4096, 2, third, none, whole);
    rappor(2048, 3, none, third, most);
    rappor(4096, 2, half, third, most);
    rappor(131, 50, half, third, most);
    rappor(32, 300, half, third, most); /* four chunks to a block */
    return tap_done();
}
