/* test_sfp.c - sfp: what it resolves and refuses, how epsilon is split, where
 * fragments stand, and what is counted. */
#include "lib/mech/sfp.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/spell.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec sfp_spec(const char *alphabet, double epsilon)
{
    hsy_spec spec = trial_values("sfp", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    if (alphabet[0] != '\0' &&
        hsy_alphabet_parse(spec.alphabet, alphabet, strlen(alphabet), NULL) !=
            HSY_OK)
        puts("Bail out! no alphabet");
    return spec;
}

/* What becomes of what is given. */
static void resolves(void)
{
    static const struct {
        const char *alphabet;
        uint64_t bits, step, w, blocks; /* given */
        uint64_t all[4];                /* and resolved */
    } rows[] = {
        {"a-z", 0, 0, 0, 0, {50, 10, 8, 5}},
        {"", 0, 0, 0, 0, {80, 8, 8, 10}}, /* pairs of bytes are too many */
        {"", 0, 16, 0, 0, {80, 16, 8, 5}},
        {"a-z", 25, 0, 0, 0, {25, 10, 8, 3}},
        {"a-z", 50, 15, 6, 0, {50, 15, 6, 4}},
        {"a-z", 50, 0, 0, 9, {50, 10, 8, 9}},
        {"a-z0-9", 60, 0, 4, 0, {60, 12, 4, 5}},
        {"a", 3, 1, 1, 0, {3, 1, 1, 3}},
        {"a-z", 5, 0, 0, 0, {5, 5, 8, 1}},
    };
    static const hsy_param params[4] = {HSY_PARAM_BITS, HSY_PARAM_FRAGMENT_BITS,
                                        HSY_PARAM_PIECE_BITS,
                                        HSY_PARAM_FRAGMENTS};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = sfp_spec(rows[i].alphabet, 8);
        hsy_scheme *s, *again;
        bool good = true;

        spec.param[HSY_PARAM_BITS] = rows[i].bits;
        spec.param[HSY_PARAM_FRAGMENT_BITS] = rows[i].step;
        spec.param[HSY_PARAM_PIECE_BITS] = rows[i].w;
        spec.param[HSY_PARAM_FRAGMENTS] = rows[i].blocks;
        s = trial_scheme(&spec);
        for (size_t k = 0; k < 4; k++)
            good &= s->param[params[k]] == rows[i].all[k];
        ok(good && hsy_scheme_parts(s) == rows[i].all[3] + 1,
           "row %zu: %u bits in %u fragments", i, (unsigned)rows[i].all[0],
           (unsigned)rows[i].all[3]);
        memcpy(spec.param, s->param, sizeof spec.param);
        again = trial_scheme(&spec);
        ok(memcmp(s->digest, again->digest, HSY_DIGEST) == 0,
           "and what is resolved resolves to itself");
        free(s);
        free(again);
    }
}

/* Both parts together have epsilon to the nano, whatever it is. */
static void splits(void)
{
    bool exact = true, quarter = true;

    for (uint64_t nano = 4000; nano < HSY_EPSILON_MAX;
         nano = nano * 5 / 4 + 13) {
        hsy_spec spec = sfp_spec("a-z", 1);
        hsy_scheme *s;
        uint64_t fragment, word;

        spec.nano_epsilon = nano;
        s = trial_scheme(&spec);
        fragment = hsy_scheme_part(s, 0)->nano_epsilon;
        word = hsy_scheme_part(s, 5)->nano_epsilon;
        exact &= fragment + word == nano;
        quarter &= word == nano / 4;
        free(s);
    }
    ok(exact, "fragment and word have all of epsilon, and no more");
    ok(quarter, "a quarter of it is the word's: 2 of 8");
}

static void refuses(hsy_spec spec, const char *field, const char *sentence)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    ok(hsy_scheme_init(s, &spec, &err) != HSY_OK &&
           strcmp(hsy_field_name(err.field), field) == 0,
       "%s", sentence);
    free(s);
}

static void refusals(void)
{
    static const struct {
        uint32_t param;
        uint64_t value;
        const char *field;
    } rows[] = {{HSY_PARAM_BITS, 48, "bits"},
                {HSY_PARAM_BITS, 515, "bits"},
                {HSY_PARAM_BITS, 4, "bits"},
                {HSY_PARAM_FRAGMENT_BITS, 8, "fragment-bits"},
                {HSY_PARAM_FRAGMENT_BITS, 55, "fragment-bits"},
                {HSY_PARAM_FRAGMENT_BITS, 25, "fragment-bits"},
                {HSY_PARAM_PIECE_BITS, 17, "piece-bits"},
                {HSY_PARAM_FRAGMENTS, 4, "fragments"},
                {HSY_PARAM_FRAGMENTS, 65, "fragments"},
                {HSY_PARAM_HASHES, 3, "hashes"},
                {HSY_PARAM_HASHES, 1u << 27, "width"},
                {HSY_PARAM_WIDTH, 1u << 16, "width"},
                {HSY_PARAM_WORD_SHARE, 65536, "word-share"},
                {HSY_PARAM_POOL_SEED, (uint64_t)1 << 40, "pool-seed"},
                {HSY_PARAM_POOL_BITS, 4, "pool-bits"}};
    hsy_spec spec;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        spec = sfp_spec("a-z", 8);
        spec.param[rows[i].param] = rows[i].value;
        refuses(spec, rows[i].field, rows[i].field);
    }
    spec = sfp_spec("a-z", 8);
    spec.oracle = "olh";
    refuses(spec, "oracle", "only sketches are oracles");
    spec = sfp_spec("a-z", 3e-6);
    refuses(spec, "word-share", "an epsilon that cannot be split");
    spec = sfp_spec("a-z", 0.01);
    spec.param[HSY_PARAM_WORD_SHARE] = 65535;
    refuses(spec, "word-share", "nothing left for the fragment");
    spec = sfp_spec("a", 1);
    spec.param[HSY_PARAM_BITS] = 100;
    spec.param[HSY_PARAM_FRAGMENT_BITS] = 1;
    refuses(spec, "fragment-bits", "more fragments than there may be");
}

/* ---- Words --------------------------------------------------------------- */

static void sfp_code(const hsy_scheme *s, uint64_t *codes, const char *word)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = word;
    truth.u.bytes.len = strlen(word);
    if (hsy_truth_code(s, codes, &truth, NULL) != HSY_OK)
        puts("Bail out! no code");
}

/* wa te rl oo and nothing, in five bits a letter. */
static void fragments(void)
{
    static const uint32_t want[5] = {23 << 5 | 1, 20 << 5 | 5, 18 << 5 | 12,
                                     15 << 5 | 15, 0};
    const hsy_spec spec = sfp_spec("a-z", 8);
    hsy_scheme *s = trial_scheme(&spec);
    uint64_t codes[1];
    bool good = true;

    sfp_code(s, codes, "waterloo");
    for (size_t i = 0; i < 5; i++)
        good &= hsy_puzzle_offset(s, i) == 10 * i &&
                hsy_puzzle_fragment(s, codes, i) == want[i] &&
                hsy_part_code(s, codes, i) ==
                    hsy_puzzle_pair(s, hsy_puzzle_piece(s, codes), want[i]);
    ok(good, "waterloo has the fragments wa, te, rl, oo and an empty one");
    ok(hsy_part_code(s, codes, 5) == hsy_spell_hash(codes, 50),
       "and the last part is asked for the word");
    free(s);
}

/* Bytes of 80 bits: two words, and a fragment that stands in both. */
static void wide(void)
{
    static const uint32_t want[4] = {0x616263, 0x636465, 0x656667, 0x68696a};
    hsy_spec spec = sfp_spec("", 8);
    uint64_t codes[2];
    hsy_scheme *s;
    bool good = true;

    spec.param[HSY_PARAM_FRAGMENT_BITS] = 24;
    s = trial_scheme(&spec);
    sfp_code(s, codes, "abcdefghij");
    for (size_t i = 0; i < 4; i++)
        good &= hsy_puzzle_fragment(s, codes, i) == want[i];
    ok(hsy_puzzle_offset(s, 1) == 16 && hsy_puzzle_offset(s, 3) == 56 && good,
       "fragments overlap where they do not divide the word, across words too");
    free(s);
}

/* ---- Counting ------------------------------------------------------------ */

#define PEOPLE 4000u

static void counts(const char *oracle)
{
    hsy_spec spec = sfp_spec("", 16);
    hsy_scheme *s;
    hsy_stream secret, published;
    hsy_scheme_info info;
    hsy_tally t, part;
    uint64_t codes[2 * PEOPLE], asked[4];
    uint64_t fragment = 0;
    hsy_evidence points[2];
    uint8_t *reports;
    void *scratch;

    spec.oracle = oracle;
    spec.param[HSY_PARAM_HASHES] = 16;
    spec.param[HSY_PARAM_WIDTH] = 64;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    reports = trial_memory(PEOPLE * info.report_bytes);
    scratch = trial_memory(hsy_evidence_scratch(s, 2));
    sfp_code(s, asked, "firenze");
    sfp_code(s, asked + 2, "nobody");
    for (size_t i = 0; i < PEOPLE; i++)
        sfp_code(s, codes + 2 * i, i % 4 == 0 ? "firenze" : "waterloo");
    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    ok(hsy_simulate_batch(s, reports, codes, PEOPLE, &secret, &published,
                          NULL) == HSY_OK &&
           hsy_tally_batch(&t, s, reports, PEOPLE, NULL) == HSY_OK,
       "%s: reports of 80 bits are made and counted", oracle);
    ok(info.answers == 2 && hsy_tally_reports(&t) == PEOPLE,
       "each is counted once, and answers twice");
    for (size_t i = 0; i < 10; i++) {
        hsy_tally_part(&part, &t, s, i);
        fragment += hsy_tally_reports(&part);
    }
    hsy_tally_part(&part, &t, s, 10);
    ok(fragment == PEOPLE && hsy_tally_reports(&part) == PEOPLE,
       "one offset each, and the word");
    ok(hsy_evidence_of(s, points, &t, asked, 2, scratch, NULL) == HSY_OK &&
           points[0].n == PEOPLE && fabs(points[0].value - 0.25) < 0.06 &&
           fabs(points[1].value) < 0.06,
       "shares of words come from all reports (%.3f, %.3f)", points[0].value,
       points[1].value);
    free(t.cells);
    free(reports);
    free(scratch);
    free(s);
}

/* What stands beside is a report of the last part, or the whole is none. */
static void malformed(const char *oracle, uint64_t width)
{
    hsy_spec spec = sfp_spec("a-z", 8);
    uint32_t good = 0, bad = 0, wrong = 0;
    uint8_t report[64], *beside;
    const hsy_scheme *last;
    hsy_stream noise;
    hsy_scheme *s;

    spec.oracle = oracle;
    spec.param[HSY_PARAM_HASHES] = 2;
    spec.param[HSY_PARAM_WIDTH] = width;
    s = trial_scheme(&spec);
    last = sampled_beside(s);
    hsy_stream_seed(&noise, 1, 0);
    memset(report, 0, sizeof report);
    beside = report + sampled_beside_byte(s);
    for (int k = 0; k < 200 && !sampled_short(s); k++) {
        hsy_rng rng = hsy_stream_rng(&noise);
        hsy_status own;

        (void)rng.fill(rng.ctx, beside, last->report_bytes);
        if (k % 2 == 0)
            beside[last->report_bytes - 1] = 0;
        own = hsy_check(last, beside);
        good += own == HSY_OK;
        bad += own != HSY_OK;
        wrong += hsy_check(s, report) != own;
    }
    ok(good > 0 && bad > 0 && wrong == 0,
       "%s: both answers are checked (%u of 200 are none)", oracle, bad);
    free(s);
}

int main(void)
{
    resolves();
    splits();
    refusals();
    fragments();
    wide();
    counts("cms");
    counts("hcms");
    malformed("cms", 64);
    return tap_done();
}
