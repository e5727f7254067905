/*
 * test_redraw.c - a word that no coin may take is drawn anew, in batches too.
 *
 * A coin takes words up to its last, a uniform number those whose product has a
 * low half from the excess on (prob.h): else the law would not be exact. Here a
 * source says one good word over and over, but at one place the largest word,
 * or 0. Where that is refused, the good word comes instead: more is drawn, and
 * the reports are those of the good word alone. The places are tried one by one
 * and the refusals counted. There must be so many a report as the mechanism has
 * coins, which refuse the largest word, and uniform numbers below a bound that
 * is no power of two, which refuse 0.
 */
#include "lib/scheme/scheme.h"
#include "rig/examples.h"
#include "rig/trial.h"

#define REDRAW_MANY 280u /* reports: more than a block */
#define REDRAW_FEW 21u   /* where a report takes more than REDRAW_LONG words */
#define REDRAW_LONG 8u
#define REDRAW_WIDTH 8u         /* codes of a truth, at most */
#define REDRAW_WORDS (1u << 14) /* of a batch */
#define REDRAW_BYTES (1u << 14) /* of its reports */

/* ---- The source ---------------------------------------------------------- */

struct redraw_source {
    uint64_t good, bad;
    bool marked[REDRAW_WORDS]; /* the words that are bad */
    size_t bytes;              /* drawn */
    size_t first;              /* of them in the first draw */
};

static hsy_status redraw_fill(void *ctx, void *buf, size_t len)
{
    struct redraw_source *source = ctx;

    if (source->bytes == 0)
        source->first = len;
    /* One that is never content would go on for ever. */
    if (source->bytes + len > 8 * REDRAW_WORDS)
        return HSY_E_ENTROPY;
    for (size_t i = 0; i < len; i++, source->bytes++) {
        uint64_t word =
            source->marked[source->bytes / 8] ? source->bad : source->good;

        ((uint8_t *)buf)[i] = (uint8_t)(word >> 8 * (source->bytes % 8));
    }
    return HSY_OK;
}

/* Reports of n truths. */
struct redraw_trial {
    const hsy_scheme *s;
    size_t n;
    uint64_t codes[REDRAW_MANY * REDRAW_WIDTH];
    struct redraw_source secret, published;
};

/* Whether there are reports. */
static bool redraw_play(struct redraw_trial *t, uint8_t *reports)
{
    hsy_coins coins = {{redraw_fill, &t->secret}, {redraw_fill, &t->published}};

    t->secret.bytes = t->published.bytes = 0;
    return hsy_randomize_batch(t->s, reports, t->codes, t->n, &coins, NULL) ==
           HSY_OK;
}

/* ---- Counting refusals --------------------------------------------------- */

struct redraw_count {
    size_t refused; /* places where more is drawn for the same reports */
    bool same;      /* and so it is with many bad words at once */
};

/* Try each word of a source, and then those refused of its first draw all at
 * once. */
static struct redraw_count redraw_places(struct redraw_trial *t,
                                         struct redraw_source *source,
                                         uint64_t bad)
{
    static uint8_t good[REDRAW_BYTES], reports[REDRAW_BYTES];
    static bool first[REDRAW_WORDS];
    const size_t size = t->n * t->s->report_bytes;
    struct redraw_count count = {0, redraw_play(t, good)};
    const size_t bytes = source->bytes, block = source->first / 8;
    size_t more = 0;

    source->bad = bad;
    memset(first, 0, sizeof first);
    for (size_t at = 0; at < bytes / 8; at++) {
        source->marked[at] = true;
        count.same &= redraw_play(t, reports);
        source->marked[at] = false;
        /* Another part of a tuple may draw more, but then the report says
         * which. */
        if (source->bytes == bytes || memcmp(reports, good, size) != 0)
            continue;
        count.refused++;
        if (at < block) {
            first[at] = true;
            more += source->bytes - bytes;
        }
    }
    memcpy(source->marked, first, sizeof first);
    count.same &= redraw_play(t, reports) && source->bytes == bytes + more &&
                  memcmp(reports, good, size) == 0;
    memset(source->marked, 0, sizeof source->marked);
    return count;
}

/* How many words each report refuses: the largest and 0 of the secret coins,
 * and of the published ones. */
struct redraw_each {
    size_t secret_last, secret_zero, published_last, published_zero;
};

/* Whether so many are refused for each of n, and what it says of them. */
static bool redraw_all(struct redraw_trial *t, struct redraw_each *each)
{
    const struct redraw_count counts[] = {
        redraw_places(t, &t->secret, UINT64_MAX),
        redraw_places(t, &t->secret, 0),
        redraw_places(t, &t->published, UINT64_MAX),
        redraw_places(t, &t->published, 0)};
    bool good = true;

    for (size_t i = 0; i < 4; i++)
        good &= counts[i].same && counts[i].refused % t->n == 0;
    *each = (struct redraw_each){
        counts[0].refused / t->n, counts[1].refused / t->n,
        counts[2].refused / t->n, counts[3].refused / t->n};
    return good;
}

/* ---- The mechanisms ------------------------------------------------------ */

static void redraw_prepare(struct redraw_trial *t, const hsy_scheme *s)
{
    const size_t width = hsy_codes_per_truth(s);
    static uint8_t report[REDRAW_BYTES];

    memset(t, 0, sizeof *t);
    t->s = s;
    for (size_t i = 0; i < REDRAW_MANY * width; i++) {
        uint64_t count = hsy_code_count(hsy_scheme_attribute(s, i % width));
        uint64_t k = i / width;

        t->codes[i] = count == 0 ? k * 0x9e3779b97f4a7c15
                                 : (k * 7 + k / 64 + count / 2) % count;
    }
    t->secret.good = t->published.good = 0x5555555555555555;
    t->n = 1;
    redraw_play(t, report);
}

static void redraw_scheme(const char *name, const hsy_spec *spec,
                          const struct redraw_each *want)
{
    /* Words that coins and uniform numbers all take, low and higher. */
    static const uint64_t words[] = {0x1234567, 0x5555555555555555};
    static struct redraw_trial t;
    hsy_scheme *s = trial_scheme(spec);
    struct redraw_each one, many;
    size_t n;

    redraw_prepare(&t, s);
    n = t.secret.bytes + t.published.bytes <= 8 * REDRAW_LONG ? REDRAW_MANY
                                                              : REDRAW_FEW;
    for (size_t w = 0; w < 2; w++) {
        bool good, all;

        t.secret.good = t.published.good = words[w];
        t.n = 1;
        good = redraw_all(&t, &one);
        t.n = n;
        all = redraw_all(&t, &many);
        ok(good && (want == NULL || memcmp(&one, want, sizeof one) == 0),
           "%s: a report refuses %zu + %zu secret, %zu + %zu published words",
           name, one.secret_last, one.secret_zero, one.published_last,
           one.published_zero);
        ok(all && eq_bytes(&one, &many, sizeof one),
           "%s: each of %zu refuses %zu + %zu and %zu + %zu", name, n,
           many.secret_last, many.secret_zero, many.published_last,
           many.published_zero);
    }
    free(s);
}

/* What the definitions say of the examples. One that is not here, as smp whose
 * parts differ, must refuse in batches what it refuses alone. */
static const struct {
    const char *name;
    struct redraw_each each;
} redraw_wants[] = {
    {"rr", {1, 0, 0, 0}},          {"rr-coins", {1, 0, 0, 0}},
    {"grr", {1, 1, 0, 0}}, /* 6 values */
    {"sue", {0, 0, 0, 0}}, /* coins over 2^64 take every word */
    {"oue", {0, 0, 0, 0}},         {"olh", {1, 1, 0, 0}}, /* 5 outputs */
    {"blh", {1, 0, 0, 0}},                                /* 2 */
    {"rappor", {0, 0, 0, 1}},                             /* 6 cohorts */
    {"rappor-wide", {0, 0, 0, 1}},                        /* 3 */
    {"onebit", {1, 1, 0, 0}},                             /* 160 steps */
    {"hh", {1, 0, 0, 0}},       /* 2 levels, the upper of 2 nodes */
    {"haar", {1, 0, 0, 1}},     /* 6 levels */
    {"ss", {1, 1, 0, 0}},       /* 5 4 3 2 sets in a word */
    {"dbitflip", {3, 0, 0, 0}}, /* a coin for each of 3 bits */
    {"sw", {1, 2, 0, 0}},       /* the window, the outputs */
    {"dwm", {2, 3, 0, 0}},      /* the range, the window, the outputs */
    {"pm", {1, 2, 0, 0}},       /* 1024 outputs */
    {"hm", {2, 2, 0, 0}},          {"laplace", {1, 1, 0, 0}}, /* the range */
    {"hr", {1, 0, 0, 0}}, /* outputs are a power of two */
    {"cms", {0, 0, 0, 0}},         {"hcms", {1, 0, 0, 0}},
    {"pgr", {1, 1, 0, 0}},      /* 6 points, each alone */
    {"hpg", {1, 1, 0, 0}},      /* sets of 4 of 52 points */
    {"joint", {1, 10, 0, 0}},   /* ss of 42 cells, four to a word */
    {"sfp", {0, 0, 0, 1}},      /* 3 offsets */
    {"sfp-hcms", {2, 0, 0, 1}}, /* 5, and two channels */
};

static const struct redraw_each *redraw_want(const char *name)
{
    for (size_t i = 0; i < sizeof redraw_wants / sizeof redraw_wants[0]; i++)
        if (strcmp(redraw_wants[i].name, name) == 0)
            return &redraw_wants[i].each;
    return NULL;
}

/* What the examples lack: bounds that are no powers of two, a matrix. */
static void redraw_more(void)
{
    static const struct redraw_each three_levels = {1, 1, 0, 1},
                                    sets = {1, 2, 0, 0}, coin = {1, 0, 0, 0};
    hsy_spec spec = trial_bins("hh", 27, 4); /* grr on every level */

    spec.param[HSY_PARAM_FANOUT] = 3;
    redraw_scheme("hh, 3 levels by 3", &spec, &three_levels);
    spec = trial_values("pgr", 40, 1); /* 40 points in sets of 13 */
    spec.param[HSY_PARAM_Q] = 3;
    redraw_scheme("pgr, sets of 13", &spec, &sets);
    spec = trial_values("matrix", 5, 1);
    trial_attach(&spec);
    redraw_scheme("matrix", &spec, &coin);
}

int main(void)
{
    for (size_t i = 0; i < EXAMPLES; i++)
        redraw_scheme(examples[i].name, &examples[i].spec,
                      redraw_want(examples[i].name));
    redraw_more();
    return tap_done();
}
