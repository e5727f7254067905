/* examples.c - see examples.h. */

#include "rig/examples.h"
#include "rig/example_attributes.h"

const uint8_t example_labels[] = "\3\0\0\0a,b"
                                 "\3\0\0\0\"q\""
                                 "\4\0\0\0two\n"
                                 "\5\0\0\0gr\xc3\xbcn"
                                 "\4\0\0\0\xf0\x9f\xa4\xab"
                                 "\3\0\0\0n\0l";

/* Survivors of a stage of three bits. */
static const uint8_t example_prefixes[] = "\1\0\0\0"
                                          "0\1\0\0\0"
                                          "6\1\0\0\0"
                                          "e";

#define EXAMPLE_VALUES                                                         \
    .size = sizeof(hsy_spec), .kind = HSY_KIND_VALUES, .d = 6,                 \
    .labels = example_labels, .labels_len = sizeof example_labels - 1

static const struct example examples_all[] = {
    {"rr",
     {.size = sizeof(hsy_spec),
      .mechanism = "rr",
      .kind = HSY_KIND_YES_NO,
      .nano_epsilon = 1098612288}},
    {"rr-coins",
     {.size = sizeof(hsy_spec),
      .mechanism = "rr",
      .kind = HSY_KIND_YES_NO,
      .design = HSY_DESIGN_COINS,
      .chance = {{1, 2}, {1, 3}}}},
    {"grr", {EXAMPLE_VALUES, .mechanism = "grr", .nano_epsilon = HSY_NANO}},
    {"sue",
     {.size = sizeof(hsy_spec),
      .mechanism = "sue",
      .kind = HSY_KIND_VALUES,
      .d = 13,
      .nano_epsilon = 2000000001}},
    {"oue",
     {.size = sizeof(hsy_spec),
      .mechanism = "oue",
      .kind = HSY_KIND_BINS,
      .d = 70,
      .lo = -105,
      .hi = 2000,
      .scale = 2,
      .nano_epsilon = HSY_NANO / 2}},
    {"olh",
     {.size = sizeof(hsy_spec),
      .mechanism = "olh",
      .kind = HSY_KIND_STRINGS,
      .param[HSY_PARAM_POOL_BITS] = 5,
      .param[HSY_PARAM_POOL_SEED] = 0x1edcba98765432,
      .nano_epsilon = 1500000000}},
    {"blh",
     {EXAMPLE_VALUES, .mechanism = "blh", .param[HSY_PARAM_POOL_BITS] = 4,
      .nano_epsilon = HSY_NANO}},
    {"rappor",
     {.size = sizeof(hsy_spec),
      .mechanism = "rappor",
      .kind = HSY_KIND_STRINGS,
      .design = HSY_DESIGN_RAPPOR,
      .chance = {{1, 2}, {35, 100}, {13, 16}},
      .param[HSY_PARAM_FILTER_BITS] = 37,
      .param[HSY_PARAM_COHORTS] = 6,
      .param[HSY_PARAM_POOL_SEED] = 7}},
    {"rappor-wide",
     {EXAMPLE_VALUES, .mechanism = "rappor",
      .param[HSY_PARAM_FILTER_BITS] = 131, .param[HSY_PARAM_HASHES] = 3,
      .param[HSY_PARAM_COHORTS] = 3, .nano_epsilon = HSY_NANO}},
    {"onebit",
     {.size = sizeof(hsy_spec),
      .mechanism = "onebit",
      .kind = HSY_KIND_NUMBER,
      .lo = -40,
      .hi = 120,
      .nano_epsilon = HSY_NANO}},
    {"hh",
     {.size = sizeof(hsy_spec),
      .mechanism = "hh",
      .kind = HSY_KIND_BINS,
      .d = 10,
      .hi = 1000,
      .param[HSY_PARAM_FANOUT] = 5,
      .nano_epsilon = HSY_NANO}},
    {"haar",
     {.size = sizeof(hsy_spec),
      .mechanism = "haar",
      .kind = HSY_KIND_BINS,
      .d = 50,
      .hi = 1000,
      .nano_epsilon = HSY_NANO}},
    {"ss", {EXAMPLE_VALUES, .mechanism = "ss", .nano_epsilon = HSY_NANO}},
    {"dbitflip",
     {.size = sizeof(hsy_spec),
      .mechanism = "dbitflip",
      .kind = HSY_KIND_BINS,
      .d = 7,
      .lo = 0,
      .hi = 86400,
      .param[HSY_PARAM_SAMPLED_BITS] = 3,
      .param[HSY_PARAM_POOL_BITS] = 8,
      .param[HSY_PARAM_POOL_SEED] = 0x5eed,
      .nano_epsilon = HSY_NANO}},
    {"sw",
     {.size = sizeof(hsy_spec),
      .mechanism = "sw",
      .kind = HSY_KIND_BINS,
      .d = 20,
      .lo = 0,
      .hi = 1000,
      .scale = 1,
      .nano_epsilon = HSY_NANO}},
    {"dwm",
     {.size = sizeof(hsy_spec),
      .mechanism = "dwm",
      .kind = HSY_KIND_NUMBER,
      .lo = -40,
      .hi = 120,
      .nano_epsilon = HSY_NANO}},
    {"pm",
     {.size = sizeof(hsy_spec),
      .mechanism = "pm",
      .kind = HSY_KIND_NUMBER,
      .lo = -40,
      .hi = 120,
      .nano_epsilon = HSY_NANO}},
    {"hm",
     {.size = sizeof(hsy_spec),
      .mechanism = "hm",
      .kind = HSY_KIND_NUMBER,
      .lo = -40,
      .hi = 120,
      .nano_epsilon = HSY_NANO}},
    {"laplace",
     {.size = sizeof(hsy_spec),
      .mechanism = "laplace",
      .kind = HSY_KIND_NUMBER,
      .lo = -40,
      .hi = 120,
      .nano_epsilon = 2 * (uint64_t)HSY_NANO}},
    {"hr",
     {EXAMPLE_VALUES, .mechanism = "hr", .param[HSY_PARAM_BLOCKS] = 2,
      .param[HSY_PARAM_POOL_SEED] = 3, .nano_epsilon = HSY_NANO}},
    {"cms",
     {.size = sizeof(hsy_spec),
      .mechanism = "cms",
      .kind = HSY_KIND_STRINGS,
      .param[HSY_PARAM_HASHES] = 8,
      .param[HSY_PARAM_WIDTH] = 70,
      .param[HSY_PARAM_POOL_SEED] = 5,
      .nano_epsilon = 2 * (uint64_t)HSY_NANO}},
    {"hcms",
     {EXAMPLE_VALUES, .mechanism = "hcms", .param[HSY_PARAM_HASHES] = 4,
      .param[HSY_PARAM_WIDTH] = 16, .nano_epsilon = HSY_NANO}},
    {"pgr", {EXAMPLE_VALUES, .mechanism = "pgr", .nano_epsilon = HSY_NANO}},
    {"hpg",
     {.size = sizeof(hsy_spec),
      .mechanism = "hpg",
      .kind = HSY_KIND_BINS,
      .d = 50,
      .lo = -105,
      .hi = 2000,
      .scale = 2,
      .param[HSY_PARAM_Q] = 3,
      .param[HSY_PARAM_T] = 3,
      .param[HSY_PARAM_BLOCKS] = 4,
      .nano_epsilon = 3000000000}},
    {"smp",
     {.size = sizeof(hsy_spec),
      .mechanism = "smp",
      .kind = HSY_KIND_TUPLE,
      .labels = example_smp,
      .labels_len = sizeof example_smp,
      .nano_epsilon = 1500000000}},
    {"joint",
     {.size = sizeof(hsy_spec),
      .mechanism = "joint",
      .kind = HSY_KIND_TUPLE,
      .labels = example_joint,
      .labels_len = sizeof example_joint,
      .nano_epsilon = 1500000000}},
    {"pem",
     {.size = sizeof(hsy_spec),
      .mechanism = "pem",
      .kind = HSY_KIND_STRINGS,
      .param[HSY_PARAM_BITS] = 10,
      .param[HSY_PARAM_STEP] = 3,
      .param[HSY_PARAM_FIRST] = 1,
      .param[HSY_PARAM_POOL_BITS] = 3,
      .param[HSY_PARAM_POOL_SEED] = 2,
      .nano_epsilon = 2 * (uint64_t)HSY_NANO}},
    {"sfp",
     {.size = sizeof(hsy_spec),
      .mechanism = "sfp",
      .kind = HSY_KIND_STRINGS,
      .alphabet = {[12] = 14}, /* a, b, c */
      .param[HSY_PARAM_BITS] = 10,
      .param[HSY_PARAM_FRAGMENT_BITS] = 4,
      .param[HSY_PARAM_PIECE_BITS] = 3,
      .param[HSY_PARAM_HASHES] = 4,
      .param[HSY_PARAM_WIDTH] = 32,
      .param[HSY_PARAM_POOL_SEED] = 3,
      .nano_epsilon = 4 * (uint64_t)HSY_NANO}},
    {"sfp-hcms",
     {.size = sizeof(hsy_spec),
      .mechanism = "sfp",
      .oracle = "hcms",
      .kind = HSY_KIND_STRINGS,
      .param[HSY_PARAM_BITS] = 40,
      .param[HSY_PARAM_HASHES] = 2,
      .param[HSY_PARAM_WIDTH] = 16,
      .nano_epsilon = 4 * (uint64_t)HSY_NANO}},
    {"stage",
     {.size = sizeof(hsy_spec),
      .mechanism = "stage",
      .kind = HSY_KIND_STRINGS,
      .d = 3,
      .labels = example_prefixes,
      .labels_len = sizeof example_prefixes - 1,
      .param[HSY_PARAM_BITS] = 12,
      .param[HSY_PARAM_STEP] = 3,
      .param[HSY_PARAM_PREFIX_BITS] = 6,
      .param[HSY_PARAM_MAX_CANDIDATES] = 40,
      .param[HSY_PARAM_SIZES] = HSY_SIZES_RISING,
      .nano_epsilon = 2 * (uint64_t)HSY_NANO}},
    {"pem-letters",
     {.size = sizeof(hsy_spec),
      .mechanism = "pem",
      .kind = HSY_KIND_STRINGS,
      .alphabet = {[5] = 0x20, ['a' / 8] = 0xfe, [31] = 0x80}, /* -a-g\xff */
      .oracle = "hcms",
      .param[HSY_PARAM_BITS] = 128,
      .param[HSY_PARAM_STEP] = 20,
      .param[HSY_PARAM_FIRST] = 4,
      .param[HSY_PARAM_HASHES] = 2,
      .param[HSY_PARAM_WIDTH] = 4,
      .param[HSY_PARAM_POOL_SEED] = 2,
      .nano_epsilon = 2 * (uint64_t)HSY_NANO}},
};

static const struct example examples_released[] = {
    {"central",
     {EXAMPLE_VALUES, .mechanism = "central", .nano_epsilon = HSY_NANO}},
    {"central-add-remove",
     {.size = sizeof(hsy_spec),
      .mechanism = "central-add-remove",
      .kind = HSY_KIND_NUMBER,
      .lo = -40,
      .hi = 120,
      .nano_epsilon = HSY_NANO / 2}},
};

_Static_assert(sizeof examples_all / sizeof examples_all[0] == EXAMPLES,
               "as many as the header says");
_Static_assert(sizeof examples_released / sizeof examples_released[0] ==
                   EXAMPLE_RELEASES,
               "as many as the header says");

const struct example *const examples = examples_all;
const struct example *const example_releases = examples_released;

hsy_scheme *example_scheme(const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));

    if (s != NULL && hsy_scheme_init(s, spec, NULL) != HSY_OK) {
        free(s);
        s = NULL;
    }
    return s;
}

uint8_t *example_reports(const hsy_scheme *s, size_t n)
{
    const size_t width = hsy_codes_per_truth(s);
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    hsy_scheme_info info;
    uint8_t *reports;
    uint64_t *codes = malloc(n * width * sizeof *codes);

    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    hsy_scheme_describe(s, &info);
    reports = malloc(n * info.report_bytes);
    for (size_t i = 0; codes != NULL && i < n * width; i++) {
        uint64_t count = hsy_code_count(hsy_scheme_attribute(s, i % width));

        codes[i] =
            count == 0 ? i / width * 0x9e3779b97f4a7c15 : i / width % count;
    }
    if (reports != NULL &&
        (codes == NULL ||
         hsy_randomize_batch(s, reports, codes, n, &coins, NULL) != HSY_OK)) {
        free(reports);
        reports = NULL;
    }
    free(codes);
    return reports;
}

hsy_tally example_tally(const hsy_scheme *s)
{
    size_t words = hsy_tally_words(s);
    int64_t *memory = calloc(words, sizeof *memory);
    hsy_tally t = {0};

    if (memory != NULL)
        hsy_tally_init(&t, s, memory);
    return t;
}
