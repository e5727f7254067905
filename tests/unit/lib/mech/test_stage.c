/* test_stage.c - stage: which value a string is, what all stages of a search
 * share, what is refused, the batches, and what a tally is made of. */
#include "lib/bits/bytes.h"
#include "lib/scheme/sampled.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

/* Survivors as labels, put together from texts of one length. */
struct labels {
    uint8_t bytes[4096];
    size_t len;
    uint32_t d;
};

static struct labels labels_of(const char *texts)
{
    struct labels l = {.len = 0};

    while (*texts != '\0') {
        const size_t len = strcspn(texts, " ");

        bytes_put32(l.bytes + l.len, (uint32_t)len);
        memcpy(l.bytes + l.len + 4, texts, len);
        l.len += 4 + len;
        l.d++;
        texts += len + (texts[len] == ' ');
    }
    return l;
}

static hsy_spec stage_spec(uint64_t bits, uint64_t step, uint64_t stage,
                           const struct labels *l, double epsilon)
{
    hsy_spec spec = trial_values("stage", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = bits;
    spec.param[HSY_PARAM_STEP] = step;
    spec.param[HSY_PARAM_PREFIX_BITS] = stage * step;
    if (l != NULL) {
        spec.d = l->d;
        spec.labels = l->bytes;
        spec.labels_len = l->len;
    }
    return spec;
}

/* ---- Values -------------------------------------------------------------- */

/* Whether the string with these codes begins as label k says. */
static bool begins(const hsy_scheme *s, const uint64_t *codes, const char *hex,
                   uint32_t length)
{
    for (uint32_t b = 0; b < length; b++) {
        const char *digits = "0123456789abcdef";
        const unsigned digit = (unsigned)(strchr(digits, hex[b / 4]) - digits);

        if (hsy_code_bit(s, codes, b) != (digit >> (3 - b % 4) & 1))
            return false;
    }
    return true;
}

static uint64_t value_of(const hsy_scheme *s, const uint64_t *codes,
                         const struct labels *l)
{
    const uint32_t step = (uint32_t)s->param[HSY_PARAM_STEP];
    const uint32_t before = (uint32_t)s->param[HSY_PARAM_PREFIX_BITS] - step;
    const size_t each = 4 + (before + 3) / 4;
    uint64_t more = 0;

    for (uint32_t b = before; b < before + step; b++)
        more = more << 1 | hsy_code_bit(s, codes, b);
    for (uint32_t k = 0; k < l->d; k++)
        if (begins(s, codes, (const char *)l->bytes + k * each + 4, before))
            return (uint64_t)k << step | more;
    return (uint64_t)l->d << step;
}

static void values(void)
{
    const struct labels few = labels_of("0 6 e");
    const struct labels wide = labels_of("0123456789abcdef 77617465722d2d2d");
    const hsy_spec small = stage_spec(9, 3, 2, &few, 1);
    const hsy_spec large = stage_spec(160, 8, 9, &wide, 1);
    hsy_scheme *s = trial_scheme(&small);
    uint64_t codes[3], wrong = 0;

    for (uint64_t code = 0; code < 512; code++)
        wrong += hsy_part_code(s, &code, 0) != value_of(s, &code, &few);
    ok(wrong == 0, "of nine bits every string has its value, or is none of "
                   "the candidates");
    free(s);
    s = trial_scheme(&large);
    wrong = 0;
    for (uint64_t k = 0; k < 4096; k++) {
        codes[0] = k % 3 == 0   ? 0x0123456789abcdef
                   : k % 3 == 1 ? 0x77617465722d2d2d
                                : 0x77617465722d2d2c;
        codes[1] = k * 0x9e3779b97f4a7c15;
        codes[2] = k & 0xffffffff;
        wrong += hsy_part_code(s, codes, 0) != value_of(s, codes, &wide);
    }
    ok(wrong == 0 && hsy_codes_per_truth(s) == 3, "and of 160 bits");
    free(s);
}

/* The first bits of a string, in digits as survivors have them. */
static void digits_of(char *hex, const hsy_scheme *s, const uint64_t *codes,
                      uint32_t length)
{
    const uint32_t digits = (length + 3) / 4;

    for (uint32_t k = 0; k < digits; k++) {
        unsigned digit = 0;

        for (uint32_t b = 4 * k; b < 4 * k + 4; b++)
            digit = digit << 1 | (b < length && hsy_code_bit(s, codes, b));
        hex[k] = "0123456789abcdef"[digit];
    }
    hex[digits] = '\0';
}

/* A string of M bits that differs with k. */
static void string_of(uint64_t *codes, uint32_t bits, uint64_t k)
{
    const size_t words = (bits + 63) / 64;

    for (size_t w = 0; w < words; w++)
        codes[w] = (k * 64 + w + 1) * 0x9e3779b97f4a7c15;
    codes[words - 1] >>= 64 * words - bits;
}

/* The survivors of a stage before that begin strings 0 and 1. */
static struct labels survivors_of(const hsy_scheme *s, uint32_t bits,
                                  uint32_t length)
{
    char one[160], two[160], both[320];
    uint64_t codes[HSY_SPELL_WORDS];

    string_of(codes, bits, 0);
    digits_of(one, s, codes, length);
    string_of(codes, bits, 1);
    digits_of(two, s, codes, length);
    if (strcmp(one, two) == 0)
        return labels_of(one);
    snprintf(both, sizeof both, "%s %s", strcmp(one, two) < 0 ? one : two,
             strcmp(one, two) < 0 ? two : one);
    return labels_of(both);
}

/* Bit b of a string the other way round; none, if it has no such bit. */
static void flip(uint64_t *codes, uint32_t bits, uint32_t b)
{
    const uint32_t last = (bits + 63) / 64 - 1;
    const uint32_t held = b / 64 == last ? bits - 64 * last : 64;

    if (b < bits)
        codes[b / 64] ^= (uint64_t)1 << (held - 1 - b % 64);
}

/* Whether strings that survivors begin, those that differ from them in one
 * bit, and others have their values. */
static bool stage_values(uint32_t bits, uint32_t step, uint32_t stage)
{
    hsy_spec spec = stage_spec(bits, step, 1, NULL, 1);
    uint64_t codes[HSY_SPELL_WORDS];
    struct labels l;
    hsy_scheme *s;
    bool good = true;

    spec.oracle = "grr";
    s = trial_scheme(&spec);
    l = survivors_of(s, bits, step * (stage - 1));
    free(s);
    spec = stage_spec(bits, step, stage, &l, 1);
    spec.oracle = "grr";
    s = trial_scheme(&spec);
    for (uint32_t b = 0; b <= bits; b++)
        for (uint64_t k = 0; k < 3; k++) {
            string_of(codes, bits, k);
            flip(codes, bits, b);
            good &= hsy_part_code(s, codes, 0) == value_of(s, codes, &l);
        }
    free(s);
    return good;
}

/* Steps that end anywhere in a word, or go over its end. */
static void all_stages(void)
{
    static const uint32_t plans[][2] = {
        {130, 13}, {57, 19}, {64, 16}, {126, 9}, {512, 8}, {494, 13}, {76, 19}};

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        const uint32_t bits = plans[i][0], step = plans[i][1];
        bool good = true;

        for (uint32_t stage = 2; stage <= bits / step; stage += 1 + stage / 4)
            good &= stage_values(bits, step, stage);
        ok(good, "%u bits, %u a step: every stage tells its candidates", bits,
           step);
    }
}

/* ---- What is refused ----------------------------------------------------- */

static void refused(const hsy_spec *spec, const char *field, const char *what)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    hsy_error err = {0};
    hsy_status st = hsy_scheme_init(s, spec, &err);

    ok(st != HSY_OK && strcmp(hsy_field_name(err.field), field) == 0,
       "refused: %s (%s: %s)", what,
       st == HSY_OK ? "" : hsy_field_name(err.field),
       st == HSY_OK ? "" : err.msg);
    free(s);
}

static void refusals(void)
{
    static const struct {
        const char *texts, *what;
    } lists[] = {{"6 0", "prefixes out of order"},
                 {"6 6", "a prefix twice"},
                 {"66", "a prefix of another length"},
                 {"7", "bits after the last one"},
                 {"G", "a letter that is no digit"},
                 {"E", "a digit in upper case"},
                 {"0 2 4 6", "more candidates than width"}};
    const struct labels good = labels_of("0");
    hsy_spec spec = stage_spec(10, 3, 1, NULL, 1);

    refused(&spec, "step", "steps that do not divide");
    spec = stage_spec(48, 24, 1, NULL, 1);
    refused(&spec, "step", "a step of more than 20 bits");
    spec = stage_spec(512, 1, 1, NULL, 1);
    refused(&spec, "step", "more stages than 64");
    spec = stage_spec(1, 1, 1, NULL, 1);
    refused(&spec, "bits", "a string of one bit");
    spec = stage_spec(9, 3, 4, NULL, 1);
    refused(&spec, "prefix-bits", "a stage after the last");
    spec = stage_spec(9, 3, 1, NULL, 1);
    spec.param[HSY_PARAM_PREFIX_BITS] = 4;
    refused(&spec, "prefix-bits", "a part of a step");
    spec = stage_spec(9, 3, 2, NULL, 1);
    refused(&spec, "prefixes", "a second stage without prefixes");
    spec = stage_spec(9, 3, 1, &good, 1);
    refused(&spec, "prefixes", "a first stage with prefixes");
    spec = stage_spec(9, 3, 1, NULL, 1);
    spec.param[HSY_PARAM_SIZES] = 4;
    refused(&spec, "sizes", "sizes without a name");
    spec = stage_spec(9, 3, 1, NULL, 1);
    spec.param[HSY_PARAM_MAX_CANDIDATES] = 7;
    refused(&spec, "max-candidates", "no room for one prefix");
    spec = stage_spec(9, 3, 1, NULL, 1);
    spec.oracle = "sw";
    refused(&spec, "oracle", "an oracle that asks for no values");
    spec = stage_spec(9, 3, 1, NULL, 1);
    spec.oracle = "central";
    refused(&spec, "oracle", "a curator as oracle");
    spec = stage_spec(9, 3, 2, NULL, 1);
    spec.d = 2;
    refused(&spec, "prefixes", "prefixes that are counted and not there");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct labels l = labels_of(lists[i].texts);

        spec = stage_spec(9, 3, 2, &l, 1);
        spec.param[HSY_PARAM_MAX_CANDIDATES] = 24;
        refused(&spec, "prefixes", lists[i].what);
    }
}

/* ---- What stages share --------------------------------------------------- */

static void family_of(uint8_t digest[HSY_DIGEST], const hsy_spec *spec)
{
    hsy_scheme *s = trial_scheme(spec);

    mech_staged(s->mech)->family(s, digest);
    free(s);
}

static bool same_family(const hsy_spec *a, const hsy_spec *b)
{
    uint8_t one[HSY_DIGEST], two[HSY_DIGEST];

    family_of(one, a);
    family_of(two, b);
    return memcmp(one, two, HSY_DIGEST) == 0;
}

static void families(void)
{
    const struct labels few = labels_of("0"), many = labels_of("0 6 e"),
                        deep = labels_of("00 fc");
    const hsy_spec first = stage_spec(9, 3, 1, NULL, 1);
    hsy_spec other = stage_spec(9, 3, 2, &few, 1);

    ok(same_family(&first, &other), "the second stage is of the same search");
    other = stage_spec(9, 3, 2, &many, 1);
    ok(same_family(&first, &other), "with other candidates too");
    other = stage_spec(9, 3, 3, &deep, 1);
    ok(same_family(&first, &other), "and the third");
}

/* Whether they are two searches although their reports have one length: one
 * difference alone tells them apart. */
static bool apart(const hsy_spec *a, const hsy_spec *b)
{
    hsy_scheme *one = trial_scheme(a), *two = trial_scheme(b);
    const bool even = one->report_bits == two->report_bits;

    free(one);
    free(two);
    return even && !same_family(a, b);
}

static void strangers(void)
{
    hsy_spec first = stage_spec(12, 3, 1, NULL, 1), other;

    first.oracle = "grr";
    first.param[HSY_PARAM_MAX_CANDIDATES] = 64;
    other = first;
    other.nano_epsilon++;
    ok(apart(&first, &other), "another epsilon is another search");
    other = first;
    other.param[HSY_PARAM_BITS] = 15;
    ok(apart(&first, &other), "so are other bits");
    other = first;
    other.param[HSY_PARAM_STEP] = other.param[HSY_PARAM_PREFIX_BITS] = 2;
    ok(apart(&first, &other), "another step");
    other = first;
    other.param[HSY_PARAM_SIZES] = 2;
    ok(apart(&first, &other), "other sizes");
    other = first;
    other.param[HSY_PARAM_MAX_CANDIDATES] = 72;
    ok(apart(&first, &other), "another width");
    other = first;
    other.alphabet['a' / 8] = 2;
    ok(apart(&first, &other), "another alphabet");
    first.oracle = "sue";
    other = first;
    other.oracle = "oue";
    ok(apart(&first, &other), "another oracle");
}

/* A report has one length at all stages, whatever is asked. */
static void lengths(void)
{
    static const double epsilons[] = {1e-6, 0.1, 0.5, 1, 2, 3, 4, 6, 8, 16, 32};
    static const char *const oracles[] = {NULL,  "grr", "sue", "oue",
                                          "olh", "hr",  "pgr", "ss"};
    uint64_t uneven = 0, schemes = 0;

    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++)
        for (size_t k = 0; k < sizeof oracles / sizeof oracles[0]; k++) {
            size_t bytes = 0;

            if (oracles[k] != NULL && epsilons[e] > 16)
                continue; /* more than some can be asked at */
            for (uint32_t n = 0; n <= 32; n += 1 + n / 2) {
                struct labels l = {.d = n};
                hsy_spec spec;
                hsy_scheme *s;

                for (uint32_t i = 0; i < n; i++, l.len += 6) {
                    bytes_put32(l.bytes + l.len, 2);
                    snprintf((char *)l.bytes + l.len + 4, 3, "%02x", i);
                }
                spec = stage_spec(24, 8, n == 0 ? 1 : 2, n == 0 ? NULL : &l,
                                  epsilons[e]);
                spec.oracle = oracles[k];
                s = trial_scheme(&spec);
                uneven += bytes != 0 && bytes != s->report_bytes;
                bytes = s->report_bytes;
                schemes++;
                free(s);
            }
        }
    ok(uneven == 0, "%u schemes: reports of a search have one length",
       (unsigned)schemes);
}

/* ---- Batches ------------------------------------------------------------- */

/* Every word below the total once: who is in which batch. */
static void batches_of(uint64_t mix, const uint64_t weights[3], uint64_t total)
{
    uint64_t seen[3] = {0}, twice = 0;

    for (uint64_t k = 0; k < total; k++) {
        const uint64_t word = UINT64_MAX / total * k + UINT64_MAX / total / 2;
        unsigned batches = 0;

        for (uint64_t i = 0; i < 3; i++) {
            const struct labels l = labels_of(i == 1 ? "00" : "0000");
            hsy_spec spec = stage_spec(24, 8, i + 1, i == 0 ? NULL : &l, 1);
            struct tape tape = {&word, sizeof word};
            hsy_rng rng = {tape_fill, &tape};
            hsy_scheme *s;
            bool mine = false;

            spec.param[HSY_PARAM_SIZES] = mix;
            s = trial_scheme(&spec);
            if (mech_staged(s->mech)->mine(s, &mine, &rng) != HSY_OK)
                batches = 9;
            batches += mine;
            seen[i] += mine;
            free(s);
        }
        twice += batches != 1;
    }
    ok(twice == 0 && memcmp(seen, weights, sizeof seen) == 0,
       "everybody is in one batch, of sizes %u, %u, %u", (unsigned)weights[0],
       (unsigned)weights[1], (unsigned)weights[2]);
}

/* The last batch is three times the first, or the reverse, evenly. */
static void sizes(uint32_t stages)
{
    for (uint64_t mix = 2; mix <= 3; mix++) {
        hsy_spec spec = stage_spec(stages, 1, 1, NULL, 1);
        bool even = true;
        hsy_scheme *s;

        spec.param[HSY_PARAM_SIZES] = mix;
        s = trial_scheme(&spec);
        for (uint32_t i = 1; i < stages; i++)
            even &= hsy_stage_weight(s, mix == 2 ? i + 1 : i) ==
                    hsy_stage_weight(s, mix == 2 ? i : i + 1) + 2;
        ok(even && hsy_stage_weight(s, mix == 2 ? stages : 1) ==
                       3 * hsy_stage_weight(s, mix == 2 ? 1 : stages),
           "%u batches: the largest is three times the smallest", stages);
        free(s);
    }
}

static void batches(void)
{
    const hsy_spec spec = stage_spec(24, 8, 1, NULL, 1);
    hsy_scheme *s = trial_scheme(&spec);
    struct tape tape = {NULL, 0};
    hsy_rng rng = {tape_fill, &tape};
    bool mine = false;

    batches_of(1, (const uint64_t[]){1, 1, 1}, 3);
    batches_of(2, (const uint64_t[]){2, 4, 6}, 12);
    batches_of(3, (const uint64_t[]){6, 4, 2}, 12);
    ok(mech_staged(s->mech)->mine(s, &mine, &rng) == HSY_E_ENTROPY,
       "without coins nobody is drawn");
    ok(hsy_stage_weight(s, 2) == 1 && hsy_stage_weight(s, 0) == 3,
       "a third of the people in each");
    free(s);
    sizes(3);
    sizes(64);
}

/* ---- Reports and tallies ------------------------------------------------- */

/* A report is the oracle's and zeros; counted as the oracle counts. */
static void padding(void)
{
    const struct labels l = labels_of("66 77");
    hsy_spec spec = stage_spec(24, 8, 2, &l, 2);
    enum { PEOPLE = 300 }; /* more than are made, and counted, at once */
    static uint8_t reports[PEOPLE * 1025];
    hsy_tally t[2];
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    const hsy_scheme *part;
    uint64_t codes[PEOPLE];
    hsy_scheme *s;

    spec.oracle = "oue";
    s = trial_scheme(&spec);
    part = hsy_scheme_part(s, 0);
    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    for (uint64_t i = 0; i < PEOPLE; i++)
        codes[i] = (i % 3 == 0 ? 0x66u : 0x77u) << 16 | i % 256 << 8;
    ok(s->report_bytes == 1025 && part->d == 513 &&
           hsy_randomize_batch(s, reports, codes, PEOPLE, &coins, NULL) ==
               HSY_OK &&
           hsy_check(s, reports) == HSY_OK,
       "a report of 513 values in the room of 8193");
    for (int k = 0; k < 2; k++) {
        int64_t *memory = trial_memory(hsy_tally_words(part) * sizeof *memory);

        hsy_tally_init(&t[k], part, memory);
    }
    s->mech->counting->tally(s, &t[0], reports, PEOPLE);
    for (size_t i = 0; i < PEOPLE; i++)
        part->mech->counting->tally(part, &t[1], reports + i * s->report_bytes,
                                    1);
    ok(memcmp(t[0].cells, t[1].cells, part->cells * sizeof(int64_t)) == 0,
       "counted as the oracle counts");
    reports[1000] = 1;
    ok(hsy_check(s, reports) == HSY_E_FORMAT, "nothing stands after it");
    free(t[0].cells);
    free(t[1].cells);
    free(s);
}

/* A string that is none of the candidates has no estimate. */
static void unlisted(void)
{
    const struct labels l = labels_of("66 77");
    const hsy_spec spec = stage_spec(24, 8, 2, &l, 2);
    const uint64_t codes[2] = {0x776100, 0x786100};
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    void *scratch = trial_memory(hsy_evidence_scratch(s, 2));
    uint8_t report[8] = {0};
    hsy_evidence points[2];
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    ok(hsy_tally_add(&t, s, report, NULL) == HSY_OK &&
           hsy_evidence_of(s, points, &t, codes, 2, scratch, NULL) == HSY_OK &&
           points[0].n == 1 && points[1].n == 0,
       "a string has an estimate if it is among the candidates");
    free(scratch);
    free(memory);
    free(s);
}

/* Whatever the oracle, a stage tells as much as it does. */
static void certified(void)
{
    static const char *const oracles[] = {
        "grr", "sue", "oue", "ss",   "olh",    "blh",     "hr",
        "pgr", "hpg", "cms", "hcms", "rappor", "dbitflip"};

    for (size_t i = 0; i < sizeof oracles / sizeof oracles[0]; i++) {
        hsy_spec spec = stage_spec(24, 8, 1, NULL, 2);
        hsy_scheme_info own, part;
        hsy_scheme *s;

        spec.oracle = oracles[i];
        s = trial_scheme(&spec);
        hsy_scheme_describe(s, &own);
        hsy_scheme_describe(hsy_scheme_part(s, 0), &part);
        ok(own.epsilon_exact == part.epsilon_exact &&
               own.epsilon_exact <= 2 * (1 + 1e-15) &&
               own.epsilon_exact > 1.9 && own.v0 == part.v0,
           "%s: what it tells is what its oracle does, %.9f", oracles[i],
           own.epsilon_exact);
        free(s);
    }
}

/* ---- Searching ----------------------------------------------------------- */

/* 3000 people at stage 2: half hold "wa...", a quarter "fi...". */
static void searches(void)
{
    const struct labels l = labels_of("66 77");
    const hsy_spec spec = stage_spec(24, 8, 2, &l, 4);
    hsy_search how = {.size = sizeof how, .significant = true};
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    hsy_stream secret, published;
    hsy_candidate found[32];
    char label[HSY_STAGE_LABEL];
    hsy_stage stage;
    hsy_tally t;
    hsy_found survived = {found, 0};
    void *scratch;

    hsy_tally_init(&t, s, memory);
    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    ok(hsy_stage_plan(s, &stage, &how, NULL) == HSY_OK &&
           stage.candidates == 512 && stage.keep == 32 && stage.bits == 16,
       "512 candidates, of which 32 go on");
    scratch = trial_memory(hsy_stage_scratch(s, &stage));
    ok(hsy_stage_survivors(s, &survived, &t, &stage, scratch, NULL) ==
           HSY_E_EMPTY,
       "without reports nothing is found");
    for (uint64_t i = 0; i < 3000; i++) {
        const uint64_t code = i % 4 < 2    ? 0x776100 | i % 256
                              : i % 4 == 2 ? 0x666900
                                           : i % 65536;
        uint8_t report[8];

        if (hsy_simulate_batch(s, report, &code, 1, &secret, &published,
                               NULL) == HSY_OK)
            hsy_tally_add(&t, s, report, NULL);
    }
    ok(hsy_stage_survivors(s, &survived, &t, &stage, scratch, NULL) == HSY_OK &&
           survived.count == 2 && found[0].code[0] == 0x776100 &&
           found[1].code[0] == 0x666900,
       "the two that people hold are found");
    ok(hsy_stage_label(s, label, found[0].code) == 4 &&
           strcmp(label, "7761") == 0,
       "and named as the next stage names them");
    how.top = 33000;
    ok(hsy_stage_plan(s, &stage, &how, NULL) == HSY_OK && stage.keep == 32,
       "no more go on than there is room for");
    how.alpha = 1;
    ok(hsy_stage_plan(s, &stage, &how, NULL) == HSY_E_RANGE,
       "a search by a chance of 1 is refused, as in one round");
    free(scratch);
    free(memory);
    free(s);
}

/* What a stage names is what the next one begins with. */
static void labels_again(void)
{
    const struct labels l = labels_of("77617465722d2d2d66");
    const hsy_spec spec = stage_spec(160, 8, 10, &l, 1);
    hsy_scheme *s = trial_scheme(&spec), *next;
    struct labels own = {.d = 1};
    uint64_t codes[3], again[3];
    char label[HSY_STAGE_LABEL];
    hsy_spec after;

    ok(hsy_stage_prefixes(s, codes) == 1 && codes[0] == 0x77617465722d2d2d &&
           codes[1] == (uint64_t)0x66 << 56 && codes[2] == 0,
       "prefixes are codes of strings");
    codes[1] |= (uint64_t)0x99 << 48;
    own = labels_of((hsy_stage_label(s, label, codes), label));
    after = stage_spec(160, 8, 11, &own, 1);
    next = trial_scheme(&after);
    ok(strcmp(label, "77617465722d2d2d6699") == 0 &&
           hsy_stage_prefixes(next, again) == 1 &&
           memcmp(codes, again, sizeof codes) == 0,
       "and come back from labels");
    ok(hsy_stage_number(next) == 11 && hsy_stage_count(next) == 20,
       "stage 11 of 20");
    free(s);
    free(next);
}

int main(void)
{
    values();
    all_stages();
    refusals();
    families();
    strangers();
    lengths();
    batches();
    padding();
    unlisted();
    certified();
    searches();
    labels_again();
    return tap_done();
}
