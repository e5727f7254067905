/* test_randomize.c - what every mechanism's reports have in common: the two
 * sources are apart, and a failure leaves zeros. */
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

enum { N = 5, FOREIGN = 1000 };

/* One mechanism on five codes, and room for N reports. */
struct subject {
    const char *name;
    hsy_scheme *s;
    size_t len; /* bytes of a report */
    uint8_t *reports;
    hsy_truth truth;
    hsy_stream a, b;
};

static void subject_open(struct subject *x, const hsy_catalogue *row)
{
    hsy_spec spec = trial_small(row, trial_takes(row, 5) ? 5 : 2, 1);
    hsy_scheme_info info;

    x->name = row->name;
    x->s = trial_scheme(&spec);
    hsy_scheme_describe(x->s, &info);
    x->len = info.report_bytes;
    x->reports = trial_memory(N * x->len);
    x->truth = trial_truth(x->s, 0);
    hsy_stream_seed(&x->a, 1, 0);
    hsy_stream_seed(&x->b, 1, 1);
    memset(x->reports, 0x5a, N * x->len);
}

static void subject_close(struct subject *x)
{
    free(x->reports);
    free(x->s);
}

/* Whether the first n reports are zero and the rest untouched; sets all of
 * them to something else again. */
static bool zeroed(struct subject *x, size_t n)
{
    bool good = true;

    for (size_t i = 0; i < N * x->len; i++)
        good &= x->reports[i] == (i < n * x->len ? 0 : 0x5a);
    memset(x->reports, 0x5a, N * x->len);
    return good;
}

static void one_source(struct subject *x)
{
    hsy_coins one = {hsy_stream_rng(&x->a), hsy_stream_rng(&x->a)};
    hsy_coins two = {hsy_stream_rng(&x->a), hsy_stream_rng(&x->b)};
    const uint64_t codes[2 * N] = {0};
    hsy_error err = {0};

    ok(hsy_randomize(x->s, x->reports, &x->truth, &one, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_COINS && zeroed(x, 1) &&
           hsy_randomize_batch(x->s, x->reports, codes, N, &one, NULL) ==
               HSY_E_RANGE &&
           zeroed(x, N) &&
           hsy_simulate_batch(x->s, x->reports, codes, N, &x->a, &x->a, NULL) ==
               HSY_E_RANGE &&
           zeroed(x, N),
       "%s: one source in both roles is refused", x->name);
    ok(hsy_randomize(x->s, x->reports, &x->truth, &two, NULL) == HSY_OK &&
           hsy_randomize_batch(x->s, x->reports, codes, N, &two, NULL) ==
               HSY_OK &&
           hsy_simulate_batch(x->s, x->reports, codes, N, &x->a, &x->b, NULL) ==
               HSY_OK,
       "%s: two are not", x->name);
    memset(x->reports, 0x5a, N * x->len);
}

static hsy_status no_fill(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    (void)buf;
    (void)len;
    return HSY_E_IO;
}

static void failing_source(struct subject *x)
{
    struct tape empty = {NULL, 0}, other = {NULL, 0};
    hsy_coins none = {{tape_fill, &empty}, {tape_fill, &other}};
    hsy_coins odd = {{no_fill, &empty}, {no_fill, &other}};
    const uint64_t codes[2 * N] = {0};
    hsy_error err = {0};

    ok(hsy_randomize(x->s, x->reports, &x->truth, &none, NULL) ==
               HSY_E_ENTROPY &&
           zeroed(x, 1) &&
           hsy_randomize_batch(x->s, x->reports, codes, N, &none, NULL) ==
               HSY_E_ENTROPY &&
           zeroed(x, N),
       "%s: without entropy there are zeros", x->name);
    ok(hsy_randomize(x->s, x->reports, &x->truth, &odd, &err) ==
               HSY_E_ENTROPY &&
           err.status == HSY_E_ENTROPY && zeroed(x, 1),
       "%s: whatever a source calls its failure", x->name);
}

static void foreign_truth(struct subject *x)
{
    hsy_coins coins = {hsy_stream_rng(&x->a), hsy_stream_rng(&x->b)};
    const uint64_t codes[2 * N] = {0, 0, FOREIGN};
    hsy_truth items[2], tuple = {.type = HSY_TRUTH_TUPLE};
    hsy_stream closed;
    hsy_truth truth = x->truth;

    if (truth.type == HSY_TRUTH_INDEX) {
        truth.u.index = FOREIGN;
    } else if (truth.type == HSY_TRUTH_TUPLE) {
        items[0] = truth.u.tuple.items[0];
        items[1] = trial_truth_one(x->s, FOREIGN);
        truth.u.tuple.items = items;
    } else {
        truth.u.number = FOREIGN;
    }
    ok(hsy_randomize(x->s, x->reports, &truth, &coins, NULL) == HSY_E_RANGE &&
           zeroed(x, 1) &&
           hsy_randomize(x->s, x->reports, &tuple, &coins, NULL) ==
               HSY_E_RANGE &&
           zeroed(x, 1) &&
           hsy_randomize_batch(x->s, x->reports, codes, N, &coins, NULL) ==
               HSY_E_RANGE &&
           zeroed(x, N) &&
           hsy_simulate_batch(x->s, x->reports, codes, N, &x->a, &x->b, NULL) ==
               HSY_E_RANGE &&
           zeroed(x, N),
       "%s: for a truth outside the domain there are zeros", x->name);
    memset(&closed, 0, sizeof closed);
    ok(hsy_simulate_batch(x->s, x->reports, codes, N, &x->a, &closed, NULL) ==
               HSY_E_REFUSED &&
           zeroed(x, N),
       "%s: and where simulation is refused", x->name);
}

int main(void)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        struct subject x;

        subject_open(&x, row);
        one_source(&x);
        failing_source(&x);
        foreign_truth(&x);
        subject_close(&x);
    }
    return tap_done();
}
