/* test_central.c - a curator's release: what is counted, how releases add up,
 * what is refused. */
#include "lib/scheme/permanent.h"
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

static const char *const rows[] = {"central", "central-add-remove"};

struct release {
    hsy_scheme *s;
    int64_t *memory;
    hsy_tally t;
};

static struct release begin(hsy_spec spec, const char *row)
{
    struct release r;

    spec.mechanism = row;
    r.s = trial_scheme(&spec);
    r.memory = trial_memory(hsy_tally_words(r.s) * sizeof *r.memory);
    hsy_tally_init(&r.t, r.s, r.memory);
    return r;
}

static void end(struct release *r)
{
    free(r->memory);
    free(r->s);
}

static hsy_status publish(struct release *r, uint64_t seed)
{
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    hsy_stream_seed(&st, seed, 0);
    return hsy_central_release(&r->t, r->s, &rng, NULL);
}

static hsy_spec yes_no(double epsilon)
{
    hsy_spec spec = trial_values(NULL, 0, epsilon);

    spec.kind = HSY_KIND_YES_NO;
    return spec;
}

static bool holds(const struct release *r, size_t n, const int64_t *cells)
{
    return r->t.ncells == n && memcmp(r->t.cells, cells, 8 * n) == 0;
}

/* Truths go into the cells that the page names, and stratum 0 stays empty. */
static void counts(void)
{
    static const uint64_t bits[] = {1, 0, 0, 1, 1};
    static const uint64_t values[] = {2, 0, 2, 2, 1};
    static const uint64_t numbers[] = {0, 10, 3, 10, 4};
    const struct {
        hsy_spec spec;
        const uint64_t *codes;
        const char *row;
        size_t cells;
        int64_t want[4];
    } tries[] = {
        {yes_no(1), bits, "central", 2, {5, 3}},
        {yes_no(1), bits, "central-add-remove", 2, {2, 3}},
        {trial_values(NULL, 3, 1), values, "central", 4, {5, 1, 1, 3}},
        {trial_values(NULL, 3, 1), values, "central-add-remove", 3, {1, 1, 3}},
        {trial_bins(NULL, 3, 1), values, "central", 4, {5, 1, 1, 3}},
        {trial_number(10, 1), numbers, "central", 2, {5, 27}},
        {trial_number(10, 1), numbers, "central-add-remove", 2, {5, 4}},
    };

    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct release r = begin(tries[i].spec, tries[i].row);

        ok(hsy_central_count(&r.t, r.s, tries[i].codes, 2, NULL) == HSY_OK &&
               hsy_central_count(&r.t, r.s, tries[i].codes + 2, 3, NULL) ==
                   HSY_OK &&
               holds(&r, tries[i].cells, tries[i].want) && r.t.strata[0] == 0,
           "%s: five people of kind %s are counted", tries[i].row,
           hsy_kind_name(tries[i].spec.kind));
        end(&r);
    }
}

/* Many of one truth at once are as many one by one, up to what a cell holds. */
static void many(void)
{
    static const uint64_t codes[] = {2, 0, 2}, people[] = {3, 0, 4000000000};
    struct release r = begin(trial_values(NULL, 3, 1), "central");
    hsy_error err = {0};

    ok(hsy_central_count_many(&r.t, r.s, codes, people, 3, NULL) == HSY_OK &&
           holds(&r, 4, (const int64_t[]){4000000003, 0, 0, 4000000003}),
       "people are counted many at a time");
    ok(hsy_central_count_many(&r.t, r.s, (const uint64_t[]){3}, people, 1,
                              &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_TRUTH,
       "but none outside the domain");
    ok(hsy_central_count_many(&r.t, r.s, codes,
                              (const uint64_t[]){(uint64_t)1 << 63}, 1,
                              &err) == HSY_E_OVERFLOW,
       "nor more than there can be");
    end(&r);
    r = begin(trial_number(1000, 1), "central");
    ok(hsy_central_count_many(&r.t, r.s, (const uint64_t[]){1000},
                              (const uint64_t[]){(uint64_t)1 << 60}, 1,
                              &err) == HSY_E_OVERFLOW,
       "nor a larger sum");
    end(&r);
}

/* A range of more than 2^30 steps is rounded to the nearest of so many. */
static void wide(void)
{
    const int64_t width = (int64_t)3 << 60;
    const uint64_t unit = (uint64_t)3 << 30;
    const uint64_t codes[] = {0,        (uint64_t)width, unit,
                              unit / 2, unit / 2 - 1,    7 * unit};
    static const int64_t points[] = {0, 1 << 30, 1, 1, 0, 7};
    struct release r = begin(trial_number(width, 1), "central");
    bool right = true;
    int64_t sum = 0;

    for (size_t i = 0; i < 6; i++) {
        sum += points[i];
        right &= hsy_central_count(&r.t, r.s, &codes[i], 1, NULL) == HSY_OK &&
                 r.t.cells[1] == sum;
    }
    ok(right, "numbers of a wide range go to the nearest of 2^30 steps");
    end(&r);
}

/* Theory 15.5, and what a person moves in each kind. */
static void variances(void)
{
    static const struct {
        double epsilon, variance;
    } vectors[] = {{0.5, 7.83539617806552753},
                   {1, 1.84134718841558464},
                   {2, 0.362030830483155233}};
    hsy_scheme_info info;

    for (size_t i = 0; i < 3; i++) {
        const double e = vectors[i].epsilon, v = vectors[i].variance;
        struct release a = begin(yes_no(e), "central");
        struct release b = begin(trial_values(NULL, 9, 2 * e), "central");
        struct release c = begin(trial_values(NULL, 9, e), rows[1]);
        struct release d = begin(trial_number(1, e), "central");

        hsy_scheme_describe(a.s, &info);
        ok(fabs(info.v0 / v - 1) < 1e-14 && info.v1 == info.v0 &&
               info.central && info.epsilon_exact == info.epsilon,
           "yes/no at epsilon %g has the variance of the reference", e);
        hsy_scheme_describe(b.s, &info);
        ok(fabs(info.v0 / v - 1) < 1e-14, "values take twice the epsilon");
        hsy_scheme_describe(c.s, &info);
        ok(fabs(info.v0 / v - 1) < 1e-14 && fabs(info.v1 / (8 * v) - 1) < 1e-14,
           "not so if a person is added; a share of 1 then has the others'");
        hsy_scheme_describe(d.s, &info);
        ok(fabs(info.v0 / v - 1) < 1e-14, "a number of one step is a bit");
        end(&a);
        end(&b);
        end(&c);
        end(&d);
    }
    {
        struct release r = begin(trial_number(1000000, 0.000001), "central");

        hsy_scheme_describe(r.s, &info);
        ok(fabs(info.v0 / 2e12 - 1) < 1e-12, "tiny rates have 2 / x^2");
        end(&r);
    }
}

/* K releases: values add up, the variance is K times one's. */
static void sums(void)
{
    enum { PEOPLE = 1000, K = 9 };
    static uint64_t codes[PEOPLE];
    hsy_confidence how = {0.9999, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};

    for (size_t i = 0; i < PEOPLE; i++)
        codes[i] = i % 4 == 0;
    for (size_t row = 0; row < 2; row++) {
        struct release all = begin(yes_no(1), rows[row]);
        hsy_evidence one = {0}, many = {0};
        hsy_estimate a, b;
        bool good = true;

        for (uint64_t k = 0; k < K; k++) {
            struct release r = begin(yes_no(1), rows[row]);

            good &=
                hsy_central_count(&r.t, r.s, codes, PEOPLE, NULL) == HSY_OK &&
                publish(&r, k) == HSY_OK &&
                hsy_tally_merge(&all.t, &r.t, NULL) == HSY_OK;
            if (k == 0)
                good &= hsy_evidence_of(all.s, &one, &all.t, NULL, 1, NULL,
                                        NULL) == HSY_OK;
            end(&r);
        }
        good &= hsy_evidence_of(all.s, &many, &all.t, NULL, 1, NULL, NULL) ==
                HSY_OK;
        ok(good && all.t.strata[0] == K && many.noise[0].terms == K,
           "%s: nine releases make a tally of nine", rows[row]);
        ok(fabs(hsy_central_people(all.s, &all.t) / (K * PEOPLE) - 1) < 0.01,
           "about all their people");
        good = hsy_estimate_point(&a, &one, &how, NULL) == HSY_OK &&
               hsy_estimate_point(&b, &many, &how, NULL) == HSY_OK;
        ok(good && fabs(b.sd * K * PEOPLE / (a.sd * PEOPLE) / 3 - 1) < 0.02,
           "the count's error is three times one's");
        ok(good && b.low < 0.25 && b.high > 0.25 && b.high - b.low < 0.01,
           "and the share is in its interval");
        end(&all);
    }
}

static hsy_status no_fill(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    (void)buf;
    (void)len;
    return HSY_E_ENTROPY;
}

/* What a release is not, and when it is over. */
static void refusals(void)
{
    struct release r = begin(yes_no(1), "central");
    struct release o = begin(yes_no(0.001), rows[1]);
    struct release w = begin(trial_values(NULL, 3, 1), "central");
    hsy_spec rr = yes_no(1);
    hsy_scheme *local = trial_scheme(&rr);
    const uint64_t one = 1, two = 2;
    hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = 1};
    hsy_rng none = {no_fill, NULL};
    hsy_stream a, b;
    hsy_coins coins = {hsy_stream_rng(&a), hsy_stream_rng(&b)};
    hsy_factor factors[4];
    uint8_t report = 0, block[600];
    hsy_error err = {0};
    hsy_evidence point;
    hsy_permanent memo;
    size_t count = 9, len = 0;

    hsy_stream_seed(&a, 1, 0);
    hsy_stream_seed(&b, 1, 1);
    ok(hsy_randomize(r.s, &report, &truth, &coins, &err) == HSY_E_REFUSED &&
           strcmp(err.msg, "a curator's release, not a report") == 0,
       "nobody randomizes with it");
    ok(hsy_randomize_batch(r.s, &report, &one, 1, &coins, NULL) ==
               HSY_E_REFUSED &&
           hsy_simulate_batch(r.s, &report, &one, 1, &a, &b, NULL) ==
               HSY_E_REFUSED,
       "nor in batches, nor in simulation");
    ok(hsy_check(r.s, &report) == HSY_E_FORMAT &&
           hsy_tally_add(&r.t, r.s, &report, NULL) == HSY_E_FORMAT &&
           hsy_tally_batch(&r.t, r.s, &report, 0, NULL) == HSY_OK,
       "no byte is a report of it");
    hsy_law_worst(r.s, factors, &count);
    ok(count == 0 && hsy_law_factors(r.s) == 0, "there is no law of one");
    hsy_law(r.s, factors, &count, 0, &report);
    ok(count == 0, "nor of a given one");
    ok(hsy_permanent_init(&memo, r.s, r.s, 0, NULL) == HSY_E_UNKNOWN,
       "no permanent answer");
    rr.mechanism = "central";
    ok(hsy_attribute_encode(
           block, sizeof block, &len,
           &(hsy_attribute){.name = "a", .name_len = 1, .spec = rr},
           &err) == HSY_E_REFUSED,
       "no attribute");
    ok(hsy_evidence_of(r.s, &point, &r.t, NULL, 1, NULL, &err) == HSY_E_EMPTY,
       "no estimate before there is a release");
    ok(hsy_central_count(&r.t, r.s, &two, 1, &err) == HSY_E_RANGE &&
           r.t.cells[0] == 0,
       "no truth outside the domain");
    ok(hsy_central_count(&w.t, r.s, &one, 1, &err) == HSY_E_MISMATCH &&
           hsy_central_release(&w.t, r.s, &coins.secret, &err) ==
               HSY_E_MISMATCH &&
           hsy_central_count(&r.t, local, &one, 1, &err) == HSY_E_MISMATCH,
       "no tally of another scheme, no scheme with reports");
    hsy_central_count(&r.t, r.s, &one, 1, NULL);
    ok(hsy_central_release(&r.t, r.s, &none, &err) == HSY_E_ENTROPY &&
           r.t.cells[0] == 0 && r.t.cells[1] == 0 && r.t.strata[0] == 0,
       "without coins nothing is released, and nothing stays");
    r.t.cells[1] = INT64_MAX;
    ok(hsy_central_release(&r.t, r.s, &coins.secret, &err) == HSY_E_OVERFLOW,
       "too many people are refused");
    r.t.cells[1] = 0;
    ok(publish(&r, 1) == HSY_OK && r.t.strata[0] == 1 && r.t.cells[0] == 0,
       "a release about nobody has noise too, and says that it is nobody");
    ok(publish(&r, 1) == HSY_E_REFUSED &&
           hsy_central_count(&r.t, r.s, &one, 1, NULL) == HSY_E_REFUSED,
       "released is released");
    ok(hsy_evidence_of(r.s, &point, &r.t, NULL, 1, NULL, &err) == HSY_E_EMPTY &&
           err.field == HSY_FIELD_PEOPLE,
       "of nobody there is no estimate");
    o.t.strata[0] = 1;
    o.t.cells[0] = o.t.cells[1] = 500;
    ok(hsy_evidence_of(o.s, &point, &o.t, NULL, 1, NULL, NULL) == HSY_OK,
       "a thousand people in noise of a thousand have a share");
    ok(hsy_estimate_point(&(hsy_estimate){0}, &point,
                          &(hsy_confidence){0.95, HSY_PEOPLE, 0, 1},
                          &err) == HSY_E_EMPTY &&
           err.field == HSY_FIELD_PEOPLE,
       "but no interval: how many they are is not known");
    free(local);
    end(&r);
    end(&o);
    end(&w);
}

/* What noise explains, and what it does not. */
static void odd(void)
{
    for (size_t row = 0; row < 2; row++) {
        const size_t first = row == 0 ? 1 : 0;
        struct release r = begin(trial_values(NULL, 3, 1), rows[row]);
        hsy_plausibility p;
        hsy_evidence points[3];

        r.t.strata[0] = 1;
        r.t.cells[0] = 1000; /* replace: how many there are */
        r.t.cells[first] = 704;
        r.t.cells[first + 1] = 300;
        r.t.cells[first + 2] = -5;
        hsy_evidence_of(r.s, points, &r.t, NULL, 3, NULL, NULL);
        hsy_plausible(r.s, &p, &r.t, points, 3, true);
        ok(!p.implausible && p.support_p > 0.01 && p.sum_p > 0.01,
           "%s: a count of -5 is noise", rows[row]);
        r.t.cells[first + 2] = -60;
        hsy_evidence_of(r.s, points, &r.t, NULL, 3, NULL, NULL);
        hsy_plausible(r.s, &p, &r.t, points, 3, true);
        ok(p.implausible && p.support_p < 1e-6 && p.odd_value == 2,
           "-60 is not");
        r.t.cells[first + 2] = 90;
        hsy_evidence_of(r.s, points, &r.t, NULL, 3, NULL, NULL);
        hsy_plausible(r.s, &p, &r.t, points, 3, true);
        ok(p.support_p == 1 && p.implausible == (row == 0),
           "counts that make 94 more than everybody are not, if it is known");
        end(&r);
    }
}

int main(void)
{
    counts();
    many();
    wide();
    variances();
    sums();
    refusals();
    odd();
    return tap_done();
}
