/*
 * test_shape.c - with the same coins two truths look the same from outside:
 * status, draws from each source, in order, with their lengths.
 */
#include "hearsay.h"
#include "rig/trial.h"
#include "tap.h"

#include <stdlib.h>

#define SHAPE_PAIRS 2000u
#define SHAPE_BATCH 40u
#define SHAPE_REPORT 512u

/* A source that keeps a running hash of what was asked of it. */
struct shape_watch {
    hsy_stream stream;
    uint64_t *seen;
    uint64_t which;
};

static hsy_status shape_fill(void *ctx, void *buf, size_t len)
{
    struct shape_watch *w = ctx;
    hsy_rng rng = hsy_stream_rng(&w->stream);

    *w->seen = (*w->seen ^ (2 * len + w->which)) * 0x9e3779b97f4a7c15u;
    return rng.fill(rng.ctx, buf, len);
}

struct shape_coins {
    struct shape_watch secret, published;
    uint64_t seen;
    hsy_coins coins;
};

static void shape_open(struct shape_coins *c, uint64_t seed)
{
    c->seen = 1;
    c->secret.seen = c->published.seen = &c->seen;
    c->secret.which = 0;
    c->published.which = 1;
    hsy_stream_seed(&c->secret.stream, seed, 0);
    hsy_stream_seed(&c->published.stream, seed, 1);
    c->coins =
        (hsy_coins){{shape_fill, &c->secret}, {shape_fill, &c->published}};
}

/* The shape of one call for a batch of one truth, status included. shown takes
 * in what was reported. */
static uint64_t shape_batch(const hsy_scheme *s, size_t bytes,
                            const uint64_t *code, uint64_t seed,
                            uint64_t *shown)
{
    uint8_t reports[SHAPE_BATCH * SHAPE_REPORT];
    const size_t width = hsy_codes_per_truth(s);
    uint64_t codes[2 * SHAPE_BATCH];
    struct shape_coins c;
    hsy_status st;

    shape_open(&c, seed);
    for (size_t i = 0; i < SHAPE_BATCH * width; i++)
        codes[i] = code[i % width];
    st = hsy_randomize_batch(s, reports, codes, SHAPE_BATCH, &c.coins, NULL);
    for (size_t i = 0; i < SHAPE_BATCH * bytes; i++)
        *shown = (*shown ^ reports[i]) * 31;
    return c.seen ^ (uint64_t)st << 60;
}

static uint64_t shape_single(const hsy_scheme *s, const hsy_truth *truth,
                             uint64_t seed)
{
    uint8_t report[SHAPE_REPORT];
    struct shape_coins c;
    hsy_status st;

    shape_open(&c, seed);
    st = hsy_randomize(s, report, truth, &c.coins, NULL);
    return c.seen ^ (uint64_t)st << 60;
}

/* Two truths of the domain of a kind. */
static void shape_truths(hsy_truth truths[2], uint32_t kind)
{
    static const char word[] = "answer";
    static hsy_truth items[2][2];

    for (int i = 0; i < 2; i++) {
        truths[i] = (hsy_truth){.type = HSY_TRUTH_INDEX};
        truths[i].u.index = (uint32_t)i;
        if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS) {
            truths[i].type = HSY_TRUTH_NUMBER;
            truths[i].u.number = i == 0 ? 0 : 99;
        } else if (kind == HSY_KIND_STRINGS) {
            truths[i].type = HSY_TRUTH_BYTES;
            truths[i].u.bytes.data = word;
            truths[i].u.bytes.len = i == 0 ? 0 : sizeof word - 1;
        } else if (kind == HSY_KIND_TUPLE) {
            items[i][0] = items[i][1] = truths[i];
            truths[i].type = HSY_TRUTH_TUPLE;
            truths[i].u.tuple.items = items[i];
            truths[i].u.tuple.count = 2;
        }
    }
}

static void shape_scheme(const hsy_scheme *s, const char *name, uint32_t kind)
{
    uint64_t codes[2][2], differ = 0, shown = 0, other = 0;
    hsy_truth truths[2];
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    shape_truths(truths, kind);
    if (!ok(eq_status(hsy_truth_code(s, codes[0], &truths[0], NULL), HSY_OK) &&
                eq_status(hsy_truth_code(s, codes[1], &truths[1], NULL),
                          HSY_OK),
            "%s has two truths of kind %u", name, kind))
        return;
    for (uint64_t seed = 1; seed <= SHAPE_PAIRS; seed++) {
        differ += shape_single(s, &truths[0], seed) !=
                  shape_single(s, &truths[1], seed);
        differ += shape_batch(s, info.report_bytes, codes[0], seed, &shown) !=
                  shape_batch(s, info.report_bytes, codes[1], seed, &other);
    }
    is_u64(differ, 0, "%s, kind %u: two truths, one shape", name, kind);
    ok(shown != other, "control: the reports do differ");
}

int main(void)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++) {
            hsy_spec spec = {.size = sizeof spec,
                             .mechanism = row->name,
                             .nano_epsilon = HSY_NANO,
                             .kind = kind};
            hsy_scheme *s;

            if ((row->kinds >> kind & 1) == 0)
                continue;
            if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
                spec.d = row->kinds >> HSY_KIND_YES_NO & 1 ? 2 : 50;
            if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS)
                spec.hi = 99;
            trial_attach(&spec);
            s = malloc(hsy_scheme_size(&spec));
            if (ok(s != NULL &&
                       eq_status(hsy_scheme_init(s, &spec, NULL), HSY_OK),
                   "%s takes kind %u", row->name, kind))
                shape_scheme(s, row->name, kind);
            free(s);
        }
    return tap_done();
}
