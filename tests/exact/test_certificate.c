/*
 * test_certificate.c - X1: the integers of a scheme never spend more than its
 * epsilon, and hardly less.
 *
 * For every mechanism 8,000 parameter sets: edges first, then random domains
 * and log-uniform epsilons. The worst ratio of the resolved integers is
 * compared as a rational with bounds of e^epsilon that are rigorous (GMP,
 * partial sums rounded down and up). `test_certificate --dump N` prints N sets
 * of each mechanism for the second route, certificate.t.
 */
#include "lib/bits/bytes.h"
#include "rig/trial.h"
#include "tap.h"

#include <gmp.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SETS 8000
#define BITS 256 /* binary digits of e^epsilon after the point */

static uint64_t random_state;

static uint64_t random_next(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Log-uniform from low to high, both included. */
static uint64_t random_between(uint64_t low, uint64_t high)
{
    double u = (double)(random_next() >> 11) * 0x1p-53;
    double x = exp(log((double)low) +
                   u * (log((double)high + 0.999) - log((double)low)));
    uint64_t n = (uint64_t)x;

    return n < low ? low : n > high ? high : n;
}

/* ---- Bounds of e^epsilon ------------------------------------------------- */

/*
 * The series of e^x in units of 2^-BITS: every term rounded down gives a lower
 * bound. Rounded up, and once a term is at most 1 unit and x / i < 1/2 the rest
 * of the series is below 2 units: an upper bound.
 */
static void bound_exp(mpz_t low, mpz_t high, uint64_t nano)
{
    mpz_t down, up;

    mpz_init(down);
    mpz_init(up);
    mpz_setbit(down, BITS);
    mpz_setbit(up, BITS);
    mpz_set(low, down);
    mpz_set(high, up);
    for (unsigned long i = 1;
         mpz_cmp_ui(up, 1) > 0 || nano > i * (uint64_t)(HSY_NANO / 2); i++) {
        mpz_mul_ui(down, down, nano);
        mpz_fdiv_q_ui(down, down, i * HSY_NANO);
        mpz_mul_ui(up, up, nano);
        mpz_cdiv_q_ui(up, up, i * HSY_NANO);
        mpz_add(low, low, down);
        mpz_add(high, high, up);
    }
    mpz_add_ui(high, high, 2);
    mpz_clear(down);
    mpz_clear(up);
}

static void set_whole(mpz_t out, uint64_t x)
{
    mpz_set_ui(out, x);
    if (x == 0)
        mpz_setbit(out, 64); /* 0 stands for 2^64 */
}

/* The worst ratio as num / den. */
static void worst_ratio(const hsy_scheme *s, mpz_t num, mpz_t den)
{
    hsy_factor factors[4];
    size_t count;
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(num, 1);
    mpz_set_ui(den, 1);
    hsy_law_worst(s, factors, &count);
    for (size_t i = 0; i < count; i++) {
        set_whole(x, factors[i].num);
        mpz_mul(num, num, x);
        set_whole(x, factors[i].den);
        mpz_mul(den, den, x);
    }
    mpz_pow_ui(num, num, hsy_law_power(s));
    mpz_pow_ui(den, den, hsy_law_power(s));
    mpz_clear(x);
}

struct verdict {
    bool within; /* ratio <= e^epsilon for certain */
    bool close;  /* ratio >= e^(epsilon - 2^-slack) for certain */
};

/* e^x >= 1 + x, so ratio (1 + 2^-slack) >= e^epsilon is enough for close. */
static struct verdict certify(const hsy_scheme *s, uint64_t nano,
                              unsigned slack)
{
    struct verdict v;
    mpz_t low, high, num, den;

    mpz_inits(low, high, num, den, NULL);
    bound_exp(low, high, nano);
    worst_ratio(s, num, den);
    mpz_mul(low, low, den);
    mpz_mul(high, high, den);
    mpz_mul_2exp(num, num, BITS);
    v.within = mpz_cmp(num, low) <= 0;
    mpz_mul_2exp(high, high, slack);
    mpz_mul_2exp(den, num, slack);
    mpz_add(num, num, den);
    v.close = mpz_cmp(num, high) >= 0;
    mpz_clears(low, high, num, den, NULL);
    return v;
}

/* ---- Parameter sets ------------------------------------------------------ */

static uint64_t largest_epsilon(const hsy_catalogue *row)
{
    return strcmp(row->name, "oue") == 0 ? 24890000000u : HSY_EPSILON_MAX;
}

/* sfp has two parts of it, the smaller a quarter. */
static uint64_t smallest_epsilon(const hsy_catalogue *row)
{
    return strcmp(row->name, "sfp") == 0 ? 4 * HSY_EPSILON_MIN
                                         : HSY_EPSILON_MIN;
}

static uint64_t edge_epsilon(const hsy_catalogue *row, unsigned i)
{
    const uint64_t edges[8] = {smallest_epsilon(row),
                               smallest_epsilon(row) + 1,
                               693147180,
                               693147181,
                               HSY_NANO,
                               1098612289,
                               largest_epsilon(row) - 1,
                               largest_epsilon(row)};

    return edges[i % 8];
}

static uint32_t edge_domain(uint32_t most, unsigned i)
{
    const uint32_t edges[8] = {2, 3, 4, 255, 256, 257, most - 1, most};

    return edges[i / 8 % 8];
}

/* Mechanisms with a bit for each value take fewer of them. */
static uint32_t most_values(const hsy_catalogue *row)
{
    return trial_takes(row, HSY_VALUES_MAX) ? HSY_VALUES_MAX : HSY_UNARY_MAX;
}

static void spec_domain(hsy_spec *spec, const hsy_catalogue *row, unsigned i)
{
    uint32_t most = most_values(row);

    if (strcmp(row->name, "rr") == 0) {
        spec->kind = i % 2 ? HSY_KIND_YES_NO : HSY_KIND_VALUES;
        spec->d = 2;
    } else if (row->kinds == 1u << HSY_KIND_NUMBER) {
        spec->kind = HSY_KIND_NUMBER;
        spec->lo = -(int64_t)(random_next() >> 20);
        spec->hi = spec->lo + (int64_t)random_between(1, 1ull << 62);
    } else if (row->kinds == 1u << HSY_KIND_STRINGS) {
        spec->kind = HSY_KIND_STRINGS;
        spec->param[HSY_PARAM_BITS] = random_between(2, 64);
        if (strcmp(row->name, "sfp") == 0) {
            spec->param[HSY_PARAM_FRAGMENT_BITS] =
                1 + spec->param[HSY_PARAM_BITS] / 8;
            trial_puzzle(spec);
        } else {
            spec->param[HSY_PARAM_STEP] = 1 + spec->param[HSY_PARAM_BITS] / 8;
        }
        if (strcmp(row->name, "stage") == 0) /* whole steps */
            spec->param[HSY_PARAM_BITS] = 8 * spec->param[HSY_PARAM_STEP];
    } else {
        spec->kind =
            row->kinds >> HSY_KIND_VALUES & 1 ? HSY_KIND_VALUES : HSY_KIND_BINS;
        spec->hi = spec->kind == HSY_KIND_BINS ? HSY_VALUES_MAX : 0;
        spec->d =
            i < 64 ? edge_domain(most, i) : (uint32_t)random_between(2, most);
    }
}

static hsy_spec spec_number(const hsy_catalogue *row, unsigned i)
{
    hsy_spec spec = {.size = sizeof spec, .mechanism = row->name};
    bool hashing = row->name[1] == 'l'; /* olh, blh */

    spec.nano_epsilon =
        i < 64 ? edge_epsilon(row, i)
               : random_between(smallest_epsilon(row), largest_epsilon(row));
    if (row->kinds == 1u << HSY_KIND_TUPLE)
        trial_attributes(&spec, 2 + i % 100);
    else
        spec_domain(&spec, row, i);
    if (hashing) {
        spec.param[HSY_PARAM_POOL_BITS] = 1 + (uint32_t)(random_next() % 18);
        if (i % 3 == 0 && row->name[0] == 'o')
            spec.param[HSY_PARAM_G] = (uint32_t)random_between(
                2, spec.param[HSY_PARAM_POOL_BITS] <= 4
                       ? HSY_VALUES_MAX
                       : (1u << 26) >> spec.param[HSY_PARAM_POOL_BITS]);
    }
    if (strcmp(row->name, "ss") == 0 && i % 3 == 0) /* e^32 2^15 < 2^62 */
        spec.param[HSY_PARAM_SUBSET] =
            random_between(1, spec.d <= 1u << 15 ? spec.d - 1 : 1u << 15);
    if (strcmp(row->name, "dbitflip") == 0 && spec.d <= 1u << 18)
        spec.param[HSY_PARAM_SAMPLED_BITS] = i % 3; /* all or 16, 1, 2 */
    if (strcmp(row->name, "rappor") == 0) {
        /* At most 22 for each hash. */
        spec.param[HSY_PARAM_HASHES] = 2 + i % 7;
        spec.param[HSY_PARAM_FILTER_BITS] = random_between(16, 4096);
        spec.param[HSY_PARAM_COHORTS] = random_between(1, 4096);
    }
    return spec;
}

/* Designs given by probabilities: den up to 2^31. */
static hsy_spec spec_rappor(unsigned i)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "rappor",
                     .kind = HSY_KIND_STRINGS,
                     .design = HSY_DESIGN_RAPPOR,
                     .param[HSY_PARAM_FILTER_BITS] = 128,
                     .param[HSY_PARAM_HASHES] = 1 + i % 8};

    for (int k = 0; k < 3; k++) {
        spec.chance[k].den = random_between(2, 1u << 31);
        spec.chance[k].num = random_next() % (spec.chance[k].den + 1);
    }
    if (i % 16 < 3) /* the edges: f = 0, p = 0, q = 1 */
        spec.chance[i % 16].num = i % 16 == 2 ? spec.chance[2].den : 0;
    return spec;
}

static hsy_spec spec_design(unsigned i)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "rr",
                     .kind = HSY_KIND_YES_NO,
                     .design = 1 + i % 3};

    for (int k = 0; k < 2; k++) {
        spec.chance[k].den = random_between(2, 1u << 31);
        spec.chance[k].num = random_next() % (spec.chance[k].den + 1);
    }
    return spec;
}

/* ---- Tests --------------------------------------------------------------- */

/* Laplace's masses get few digits where epsilon is large: docs/mechanisms/
 * laplace.md, Theorem 1. */
static unsigned slack_of(const hsy_catalogue *row, uint64_t nano)
{
    unsigned lost = (unsigned)(3 * (nano / (2 * (uint64_t)HSY_NANO)));

    if (strcmp(row->name, "laplace") == 0)
        return lost > 17 ? 51 - lost : 34;
    if (row->id == 10 || row->id == 11 || row->id == 29)
        return 36; /* up to 2^25 outputs leave a weight so many bits */
    if (strcmp(row->name, "sfp") == 0)
        return 27; /* twice independent bits */
    /* Independent bits, or weights. */
    return row->name[1] == 'u' || strcmp(row->name, "rappor") == 0 ||
                   strcmp(row->name, "cms") == 0
               ? 28
               : 40;
}

static void certify_mechanism(const hsy_catalogue *row)
{
    unsigned above = 0, noisy = 0, refused = 0;

    for (unsigned i = 0; i < SETS; i++) {
        hsy_spec spec = spec_number(row, i);
        hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));

        if (hsy_scheme_init(s, &spec, NULL) != HSY_OK) {
            refused++;
        } else {
            struct verdict v =
                certify(s, spec.nano_epsilon, slack_of(row, spec.nano_epsilon));

            above += !v.within;
            noisy += !v.close;
        }
        free(s);
    }
    ok(refused == 0, "%s: %d parameter sets make schemes", row->name, SETS);
    ok(above == 0, "%s: no worst ratio is above e^epsilon (%u)", row->name,
       above);
    ok(noisy == 0,
       "%s: claimed minus real epsilon is at most 2^-%u at epsilon 1 (%u)",
       row->name, slack_of(row, HSY_NANO), noisy);
}

/* The claim of a channel given by probabilities is the smallest that covers it.
 */
static void certify_designs(const char *name, hsy_spec (*design)(unsigned))
{
    unsigned above = 0, loose = 0, made = 0;

    for (unsigned i = 0; i < SETS; i++) {
        hsy_spec spec = design(i);
        hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
        hsy_scheme_info info;

        if (hsy_scheme_init(s, &spec, NULL) == HSY_OK) {
            made++;
            hsy_scheme_describe(s, &info);
            above += !certify(s, info.nano_epsilon, 28).within;
            loose += info.nano_epsilon > HSY_EPSILON_MIN &&
                     certify(s, info.nano_epsilon - 1, 28).within;
        }
        free(s);
    }
    ok(made > SETS / 3, "%s by probabilities: many of %d designs are finite",
       name, SETS);
    ok(above == 0, "%s by probabilities: the claim covers the channel", name);
    ok(loose == 0, "%s by probabilities: one nano-epsilon less does not", name);
}

/* A matrix is given by its probabilities only. */
static bool certify_by_epsilon(const hsy_catalogue *row)
{
    return strcmp(row->name, "matrix") != 0;
}

/* Random entries, each column made up to the total in its last row. */
static hsy_spec spec_matrix(uint8_t *block, unsigned i)
{
    uint32_t d = 2 + i % 7;
    uint64_t total = random_between((uint64_t)d << 20, 1ull << 40);
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "matrix",
                     .kind = HSY_KIND_VALUES,
                     .d = d,
                     .design = HSY_DESIGN_MATRIX,
                     .labels = block,
                     .labels_len = 8 + 8 * (size_t)d * d};

    bytes_put64(block, total);
    for (uint32_t x = 0; x < d; x++) {
        uint64_t left = total;

        for (uint32_t y = 0; y < d; y++) {
            uint64_t entry =
                y + 1 < d ? random_between(1, 2 * (left - d) / d) : left;

            bytes_put64(block + 8 + 8 * (y * (size_t)d + x), entry);
            left -= entry;
        }
    }
    return spec;
}

static void certify_matrices(void)
{
    uint8_t block[8 + 8 * 64];
    unsigned above = 0, loose = 0, made = 0;

    for (unsigned i = 0; i < SETS; i++) {
        hsy_spec spec = spec_matrix(block, i);
        hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
        hsy_scheme_info info;

        if (hsy_scheme_init(s, &spec, NULL) == HSY_OK) {
            made++;
            hsy_scheme_describe(s, &info);
            above += !certify(s, info.nano_epsilon, 28).within;
            loose += info.nano_epsilon > HSY_EPSILON_MIN &&
                     certify(s, info.nano_epsilon - 1, 28).within;
        }
        free(s);
    }
    ok(made > SETS / 2, "matrix: most of %d random ones are taken (%u)", SETS,
       made);
    ok(above == 0, "matrix: the claim covers the channel");
    ok(loose == 0, "matrix: one nano-epsilon less does not");
}

/* The certificate itself must be able to say no. */
static void certify_control(void)
{
    hsy_spec spec = trial_values("grr", 10, 1);
    hsy_scheme *s = trial_scheme(&spec);

    ok(!certify(s, HSY_NANO - 1, 40).within,
       "control: a claim of one nano-epsilon less is refuted");
    ok(!certify(s, HSY_NANO + 1, 40).close,
       "control: a claim of one nano-epsilon more is needlessly noisy");
    free(s);
}

static void dump_scheme(const hsy_spec *spec)
{
    hsy_scheme *s = trial_scheme(spec);
    hsy_factor factors[4];
    hsy_scheme_info info;
    size_t count;

    hsy_law_worst(s, factors, &count);
    hsy_scheme_describe(s, &info);
    printf("%s %" PRIu64 " %.17g", info.mechanism, info.nano_epsilon,
           info.epsilon_exact);
    for (uint32_t power = 0; power < hsy_law_power(s); power++)
        for (size_t i = 0; i < count; i++)
            printf(" %" PRIu64 "/%" PRIu64, factors[i].num, factors[i].den);
    putchar('\n');
    free(s);
}

static void dump(unsigned n)
{
    const hsy_catalogue *row;

    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++)
        for (unsigned i = 0; i < n && certify_by_epsilon(row); i++) {
            hsy_spec spec = spec_number(row, i);

            dump_scheme(&spec);
        }
}

int main(int argc, char **argv)
{
    const hsy_catalogue *row;

    random_state = 20;
    if (argc == 3 && strcmp(argv[1], "--dump") == 0) {
        dump((unsigned)strtoul(argv[2], NULL, 10));
        return 0;
    }
    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++)
        if (certify_by_epsilon(row))
            certify_mechanism(row);
    certify_matrices();
    certify_designs("rr", spec_design);
    certify_designs("rappor", spec_rappor);
    certify_control();
    return tap_done();
}
