/*
 * test_zoo.c - each bug of the zoo is caught, and the mechanism it is a bug of
 * is not. HSY_ZOO_SAMPLES raises how many reports a mutant may take: the
 * thousandths of lie_off_by_a_part want 10^9 and more.
 */
#include "tap.h"
#include "zoo/zoo.h"

#include <stdlib.h>
#include <string.h>

#define ZOO_SEED 20240229u
#define ZOO_SAMPLES 10000000u

static const struct zoo_mutant *const zoo_table[] = {
    zoo_oue_truth_ored,   zoo_rappor_truth_ored,    zoo_last_position_plain,
    zoo_lie_may_be_true,  zoo_shared_coins,         zoo_epsilon_each_bit,
    zoo_oue_wrong_q,      zoo_lie_cut_to_7_bits,    zoo_q_narrowed_to_0,
    zoo_libc_rand,        zoo_status_ignored,       zoo_seed_shows_coin,
    zoo_hash_cuts_seed,   zoo_missing_return,       zoo_laplace_in_doubles,
    zoo_wrong_digit,      zoo_division_off_by_one,  zoo_one_value_too_many,
    zoo_f_without_hashes, zoo_out_of_range_is_zero, zoo_lies_not_uniform,
    zoo_lie_off_by_a_part};

static hsy_scheme *zoo_scheme(const struct zoo_mutant *m)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = m->mechanism,
                     .nano_epsilon = m->nano_epsilon,
                     .kind = m->kind,
                     .d = m->d};
    hsy_scheme *s;

    if (m->kind == HSY_KIND_NUMBER) { /* d steps */
        spec.hi = m->d;
        spec.d = 0;
    }
    s = malloc(hsy_scheme_size(&spec));

    if (strcmp(m->mechanism, "rappor") == 0) { /* outputs that can be counted */
        spec.param[HSY_PARAM_FILTER_BITS] = 8;
        spec.param[HSY_PARAM_COHORTS] = 4;
    }
    if (strcmp(m->mechanism, "blh") == 0)
        spec.param[HSY_PARAM_POOL_BITS] = ZOO_POOL_BITS;
    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK) {
        free(s);
        return NULL;
    }
    return s;
}

static void zoo_catch(const struct zoo_mutant *m, const hsy_scheme *s)
{
    const struct audit_options how = {
        m->samples, AUDIT_CONFIDENCE, true, ZOO_SEED, NULL, NULL};
    struct zoo_mutant own = *m;
    struct audit_subject mutant = {s, m->single, NULL, &own.setting};
    struct audit_subject real = audit_library(s);
    struct audit_result r;

    if (!ok(audit_run(&r, &mutant, &how) == HSY_OK &&
                (r.faults & m->faults) == m->faults,
            "%s is caught: %s", m->name, m->slip))
        printf("# faults %#x, wanted %#x, bound %g, law p %g, event %s\n",
               r.faults, m->faults, r.sampled, r.law_p, r.event);
    printf("# %s: epsilon %g, proved %g by %s\n", m->name, r.nominal, r.sampled,
           r.event);
    real.batch = NULL;
    ok(audit_run(&r, &real, &how) == HSY_OK && r.faults == 0,
       "control: %s as it should be passes the same audit", m->mechanism);
    if (r.faults != 0)
        printf("# %s: %s, bound %.9g of %.9g, law p %g\n", m->mechanism,
               audit_verdict(r.faults), r.sampled, r.exact, r.law_p);
}

static void zoo_row(const struct zoo_mutant *m, uint64_t limit)
{
    hsy_scheme *s;

    if (m->samples > limit) {
        tap_skip(m->slip);
        return;
    }
    s = zoo_scheme(m);
    if (ok(s != NULL, "%s: %s is a scheme", m->name, m->mechanism))
        zoo_catch(m, s);
    free(s);
}

/* ---- time_shows_noise: counting draws ------------------------------------ */

#define ZOO_GUESSES 20000u
#define ZOO_DRAWS 8192u /* bytes drawn, in a class of their own up to here */

/* A source that counts what is taken from it. */
struct zoo_counter {
    hsy_rng inner;
    size_t bytes;
};

static hsy_status zoo_counted(void *ctx, void *buf, size_t len)
{
    struct zoo_counter *c = ctx;

    c->bytes += len;
    return c->inner.fill(c->inner.ctx, buf, len);
}

/*
 * Who sees how many bytes were drawn guesses the report that last went with as
 * many; who does not, the one last reported. How many more the former gets
 * right, in standard errors. (Twice the same guess if all draws are alike.)
 */
static double
zoo_timed(const hsy_scheme *s,
          hsy_status (*single)(void *, const hsy_scheme *, uint8_t *,
                               const struct audit_probe *, hsy_coins *))
{
    static uint16_t guess[ZOO_DRAWS];
    const struct audit_probe probe = {.truth.type = HSY_TRUTH_NUMBER};
    hsy_stream secret, published;
    struct zoo_counter counter = {hsy_stream_rng(&secret), 0};
    hsy_coins coins = {{zoo_counted, &counter}, hsy_stream_rng(&published)};
    double more = 0, trials = 0;
    uint16_t last = 0;

    hsy_stream_seed(&secret, ZOO_SEED, 0);
    hsy_stream_seed(&published, ZOO_SEED, 1);
    memset(guess, 0, sizeof guess);
    for (unsigned i = 0; i < ZOO_GUESSES; i++) {
        uint8_t bytes[8] = {0};
        uint16_t report;

        counter.bytes = 0;
        if (single(NULL, s, bytes, &probe, &coins) != HSY_OK ||
            counter.bytes >= ZOO_DRAWS)
            continue;
        report = (uint16_t)(bytes[0] | bytes[1] << 8);
        more += (guess[counter.bytes] == report) - (last == report);
        trials += guess[counter.bytes] == report || last == report;
        guess[counter.bytes] = last = report;
    }
    return trials > 0 ? more / sqrt(trials) : 0;
}

static void zoo_timing(void)
{
    const struct zoo_mutant *m = &zoo_time_shows_noise[0];
    const struct audit_options how = {
        m->samples, AUDIT_CONFIDENCE, true, ZOO_SEED, NULL, NULL};
    hsy_scheme *s = zoo_scheme(m);
    struct audit_subject mutant = {s, m->single, NULL, NULL};
    struct audit_result r;
    double seen, real;

    if (!ok(s != NULL, "time_shows_noise: laplace is a scheme"))
        return;
    seen = zoo_timed(s, m->single);
    real = zoo_timed(s, audit_library(s).single);
    ok(seen > 20,
       "time_shows_noise is caught: its draws give the noise away (%.1f)",
       seen);
    ok(fabs(real) < 6, "control: real draws say nothing (%.1f)", real);
    ok(audit_run(&r, &mutant, &how) == HSY_OK && r.faults == 0,
       "by its reports alone time_shows_noise would pass");
    free(s);
}

/* ---- sums_wrap: counting ------------------------------------------------- */

/* Whether a way to merge refuses what passes 2^63 - 1 and leaves all as it
 * was. */
static bool zoo_refuses_overflow(hsy_status (*merge)(hsy_tally *,
                                                     const hsy_tally *,
                                                     hsy_error *),
                                 const hsy_scheme *s)
{
    size_t words = hsy_tally_words(s);
    int64_t *memory[2] = {calloc(words, sizeof(int64_t)),
                          calloc(words, sizeof(int64_t))};
    hsy_tally a, b;
    bool refused;

    if (memory[0] == NULL || memory[1] == NULL)
        abort();
    hsy_tally_init(&a, s, memory[0]);
    hsy_tally_init(&b, s, memory[1]);
    a.cells[0] = INT64_MAX;
    a.strata[0] = INT64_MAX;
    b.cells[0] = 1;
    b.strata[0] = 1;
    refused = merge(&a, &b, NULL) == HSY_E_OVERFLOW &&
              a.cells[0] == INT64_MAX && a.strata[0] == INT64_MAX;
    free(memory[0]);
    free(memory[1]);
    return refused;
}

static void zoo_wrapping(void)
{
    hsy_scheme *s = zoo_scheme(&zoo_lies_not_uniform[0]);

    if (!ok(s != NULL, "sums_wrap: grr is a scheme"))
        return;
    ok(!zoo_refuses_overflow(zoo_sums_wrap_merge, s),
       "sums_wrap is caught: sums that wrap");
    ok(zoo_refuses_overflow(hsy_tally_merge, s),
       "control: a real tally refuses to pass 2^63 - 1, and keeps its counts");
    free(s);
}

/* ---- Coins keyed by too little ------------------------------------------- */

typedef void zoo_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                       const hsy_context *context, bool published);

static void zoo_library_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                              const hsy_context *context, bool published)
{
    hsy_keyed streams;
    hsy_coins coins;

    hsy_keyed_open(&streams, key, context);
    coins = hsy_keyed_coins(&streams);
    if (published)
        coins.published.fill(coins.published.ctx, out, 32);
    else
        coins.secret.fill(coins.secret.ctx, out, 32);
    hsy_keyed_clear(&streams);
}

/* Whether two contexts that differ, or two roles, always have other coins. */
static bool zoo_apart(zoo_coins *coins)
{
    static const uint8_t key[HSY_KEY] = {1}, one[HSY_DIGEST] = {1},
                         two[HSY_DIGEST] = {2};
    const hsy_context contexts[] = {
        {"ask", "source", 6, one, 0, 5},  {"asks", "ource", 5, one, 0, 5},
        {"ask", "source", 6, two, 0, 5},  {"ask", "source", 6, one, 1, 5},
        {"ask", "another", 7, one, 0, 5}, {"ask", "source", 6, one, 0, 6}};
    uint8_t seen[2 * sizeof contexts / sizeof contexts[0]][32];
    size_t n = 0;

    for (size_t i = 0; i < sizeof contexts / sizeof contexts[0]; i++)
        for (int role = 0; role < 2; role++) {
            coins(seen[n], key, &contexts[i], role == 1);
            for (size_t j = 0; j < n; j++)
                if (memcmp(seen[j], seen[n], 32) == 0)
                    return false;
            n++;
        }
    return true;
}

static void zoo_keyed(void)
{
    ok(!zoo_apart(zoo_cohort_by_key_alone_coins),
       "cohort_by_key_alone is caught: one cohort for all tasks");
    ok(!zoo_apart(zoo_empty_role_tag_coins),
       "empty_role_tag is caught: a tag that is empty");
    ok(!zoo_apart(zoo_fields_without_lengths_coins),
       "fields_without_lengths is caught: fields without lengths");
    ok(zoo_apart(zoo_library_coins),
       "control: real coins differ where their contexts do");
}

int main(void)
{
    const char *asked = getenv("HSY_ZOO_SAMPLES");
    uint64_t limit = asked != NULL ? strtoull(asked, NULL, 10) : ZOO_SAMPLES;

    for (size_t i = 0; i < sizeof zoo_table / sizeof zoo_table[0]; i++)
        for (const struct zoo_mutant *m = zoo_table[i]; m->name != NULL; m++)
            zoo_row(m, limit);
    zoo_timing();
    zoo_wrapping();
    zoo_keyed();
    return tap_done();
}
