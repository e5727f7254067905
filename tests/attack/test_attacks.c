/*
 * test_attacks.c - attackers do what theory says, and no better than the ledger
 * allows (L10, L12).
 *
 * A share of n devices strays from its mean by five standard deviations
 * sqrt(m (1 - m) / n) in less than one test of a million. The seed is fixed,
 * or HSY_TEST_SEED; HSY_TEST_LONG=1 takes the sizes of the long run.
 */
#include "sim/attack/internal.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGMAS 5.0
#define LN3 1098612288u /* in nano-epsilon, rounded down */

static bool attacks_long(void)
{
    return getenv("HSY_TEST_LONG") != NULL;
}

static uint64_t attacks_seed(void)
{
    const char *seed = getenv("HSY_TEST_SEED");

    return seed != NULL ? strtoull(seed, NULL, 10) : 20;
}

static struct sim_options attacks_options(uint64_t devices, uint64_t days)
{
    return (struct sim_options){.devices = devices,
                                .days = days,
                                .seed = attacks_seed(),
                                .nano_report = LN3,
                                .nano_permanent = 2 * LN3,
                                .grain = SIM_DRIFT_GRAIN};
}

static double attacks_sigma(double share, uint64_t n)
{
    return sqrt(share * (1 - share) / (double)n);
}

static bool attacks_near(double x, double want, double part)
{
    return fabs(x - want) <= part * fabs(want);
}

/* ---- Theory -------------------------------------------------------------- */

/* The same by adding up all outcomes. */
static double majority_by_hand(unsigned n, double p)
{
    double sum = 0;

    for (unsigned right = 0; right <= n; right++) {
        double chance = 1;

        for (unsigned i = 0; i < right; i++)
            chance *= p * (double)(n - i) / (double)(right - i);
        for (unsigned i = right; i < n; i++)
            chance *= 1 - p;
        sum += 2 * right > n ? chance : 2 * right == n ? chance / 2 : 0;
    }
    return sum;
}

static void theory_of_majorities(void)
{
    const double p1 = 1 / (1 + exp(-1)), p05 = 1 / (1 + exp(-0.5));
    bool same = true;

    for (unsigned n = 1; n <= 40; n++)
        same &=
            attacks_near(sim_majority(n, p1), majority_by_hand(n, p1), 1e-11);
    ok(same, "majorities of 1 to 40 answers equal the sum of all outcomes");
    ok(fabs(sim_majority(5, p1) - 0.876) < 5e-4 &&
           fabs(sim_majority(25, p1) - 0.993) < 5e-4 &&
           sim_majority(101, p1) > 0.99999 &&
           fabs(sim_majority(5, p05) - 0.721) < 5e-4 &&
           fabs(sim_majority(25, p05) - 0.895) < 5e-4 &&
           fabs(sim_majority(101, p05) - 0.994) < 5e-4,
       "and the figures of theory 4");
    ok(sim_majority(3, 1) == 1 && sim_majority(4, 1) == 1,
       "answers that are always right have a right majority");
    is_u64(sim_answers_for(0.99, p1), 23,
           "23 answers at epsilon 1 give 99 %% certainty");
    ok(sim_majority(23, p1) >= 0.99 && sim_majority(21, p1) < 0.99,
       "and no fewer do");
    ok(eq_u64(sim_answers_for(0.7, p1), 1) &&
           eq_u64(sim_answers_for(0.99, 0.5), 0),
       "one may be enough, and of coins no number is");
}

/* C(100, 25) / 4^100 times powers of 3, factor by factor. */
static double evidence_by_hand(unsigned yes)
{
    double chance = 1;

    for (unsigned i = 0; i < yes; i++)
        chance *= (double)(100 - i) / (double)(yes - i) / 4;
    for (unsigned i = yes; i < 100; i++)
        chance *= 0.75;
    return chance;
}

static void theory_of_evidence(void)
{
    struct sim_evidence e = sim_evidence(75, 100, 0.75);
    double tail = 0;

    for (unsigned yes = 75; yes <= 100; yes++)
        tail += evidence_by_hand(yes);
    ok(attacks_near(e.point, 1.279e-25, 5e-4) &&
           attacks_near(e.point, evidence_by_hand(75), 1e-11),
       "75 of 100 yes from a no: 1.279e-25");
    ok(attacks_near(e.tail, 1.435e-25, 5e-4) &&
           attacks_near(e.tail, tail, 1e-11),
       "75 or more: 1.435e-25");
    ok(attacks_near(e.ratio, 1.393e-24, 5e-4) &&
           attacks_near(e.ratio, pow(3, -50), 1e-11),
       "no against yes: 3^-50 = 1.393e-24");
    e = sim_evidence(0, 100, 0.75);
    ok(e.tail == 1 && attacks_near(e.point, pow(0.75, 100), 1e-11),
       "none of 100: as many or more is certain");
}

/* The mean of 1 / (all with one's name) by adding up. */
static void theory_of_names(void)
{
    const double n = 30, names = 7;
    double sum = 0;

    for (unsigned others = 0; others < 30; others++)
        sum += sim_binomial(others, 29, 1 / names) / (1 + (double)others);
    ok(attacks_near(sim_name_found(n, names), sum, 1e-11),
       "names of seven: as the sum of all outcomes");
    ok(sim_name_found(50, 1) == 1.0 / 50, "one name for all is none");
}

/* ---- L10: averaging ------------------------------------------------------ */

static void averaging_stays_allowed(void)
{
    const struct sim_options o =
        attacks_options(attacks_long() ? 100000 : 200, 1000);
    const uint64_t n = o.devices;
    struct sim_result a = {.kind = SIM_AVERAGING};
    bool allowed = true, exact = true;
    size_t last;

    is_status(sim_run(&a, &o, NULL), HSY_OK, "averaging runs");
    last = a.nrows / SIM_AVERAGING_CLIENTS - 1;
    for (size_t i = 0; i < a.nrows; i++) {
        const struct sim_rate *r = &a.u.averaging[i].right;

        allowed &=
            r->rate <= r->allowed + SIGMAS * attacks_sigma(r->allowed, n);
        /* A tie counts half: it varies less than a guess. */
        exact &= fabs(r->rate - r->exact) <=
                 SIGMAS * attacks_sigma(r->exact, n) + 1e-12;
        allowed &= r->exact <= r->allowed + 1e-9;
    }
    ok(allowed, "no client, on no day, tells more than it may");
    ok(exact, "each tells what theory says");
    ok(eq_u64(a.u.averaging[last].client, SIM_FRESH) &&
           eq_u64(a.u.averaging[last].days, 1000) &&
           a.u.averaging[last].right.rate > 0.999,
       "1000 fresh answers at ln 3 give away more than 99.9 %%");
    ok(a.u.averaging[last].right.rate >
           a.u.averaging[2 * last + 1].right.allowed +
               SIGMAS *
                   attacks_sigma(a.u.averaging[2 * last + 1].right.allowed, n),
       "control: a client that draws again would be noticed");
    ok(attacks_near(a.u.averaging[3 * last + 2].charged, 2 * 1.098612288,
                    1e-9) &&
           a.u.averaging[3 * last + 2].epsilon <=
               a.u.averaging[3 * last + 2].charged,
       "what all reports tell is at most what the ledger charged");
}

/* ---- L10: change --------------------------------------------------------- */

static void change_stays_allowed(void)
{
    const struct sim_options o =
        attacks_options(attacks_long() ? 100000 : 200, 1000);
    const double sigma = 0.5 / sqrt((double)o.devices);
    struct sim_result c = {.kind = SIM_CHANGE};
    bool allowed = true, exact = true;
    size_t times;

    is_status(sim_run(&c, &o, NULL), HSY_OK, "change runs");
    times = c.nrows / SIM_CHANGE_CLIENTS;
    for (size_t i = 0; i < c.nrows; i++) {
        const struct sim_rate *r = &c.u.change[i].right;

        allowed &= r->rate <= r->allowed + SIGMAS * sigma;
        if (!isnan(r->exact))
            exact &= fabs(r->rate - r->exact) <= SIGMAS * sigma;
    }
    ok(allowed, "no client shows a change better than it may");
    ok(exact, "raw answers show what theory says; a first one kept, nothing");
    ok(c.u.change[times - 1].right.rate > 0.95 &&
           c.u.change[times - 1].off <= 3,
       "fresh noise shows that, and when");
    ok(c.u.change[times].after == 1 && c.u.change[times].detected > 0.35 &&
           c.u.change[times].false_alarms == 0 && c.u.change[times].off == 0,
       "a raw answer shows a change on its first day, to the day");
    ok(c.u.change[2 * times].right.rate < c.u.change[times].right.rate,
       "a second step hides the first day");
    ok(c.u.change[3 * times - 1].right.rate > 0.5 + SIGMAS * sigma,
       "control: with an answer for each truth it shows in the end");
    ok(attacks_near(c.gamma, 0.1875, 1e-6),
       "one report in 5.33 is turned over");
}

/* ---- L12: fingerprints --------------------------------------------------- */

/* docs/attacks.md: the share found again among 2,000 devices, at ln 3 and
 * 2 ln 3, and how far it may be off; 0: it is what guessing gives. */
static const struct attacks_meter {
    const char *upload;
    double share, off;
} attacks_meters[SIM_UPLOADS] = {
    {"rappor, permanent answer", 1, 0.001},
    {"rappor, two-step", 0.29, 0.05},
    {"rappor, next slot", 0, 0},
    {"64-bit seed", 1, 0},
    {"olh two-step, 2^16 seeds", 0.986, 0.015},
    {"olh two-step, 2^8 seeds", 0.165, 0.03},
    {"olh, another task", 0, 0},
};

static void fingerprint_row_is_documented(const struct sim_fingerprint_row *r,
                                          const struct attacks_meter *m)
{
    const double guess = SIGMAS * attacks_sigma(r->chance, r->devices);

    is_text(r->upload, m->upload, "%s:", m->upload);
    if (m->share > 0)
        ok(fabs(r->relinked - m->share) <= m->off,
           "%.3f are found again, as documented", r->relinked);
    else
        ok(r->relinked <= r->chance + guess, "found again by chance only");
    ok(r->relinked >= r->name - SIGMAS * attacks_sigma(r->name, r->devices),
       "at least by what stays as it is");
}

static void fingerprints_are_documented(void)
{
    const struct sim_options o = attacks_options(2000, 0);
    struct sim_result f = {.kind = SIM_FINGERPRINT};
    size_t sizes;

    is_status(sim_run(&f, &o, NULL), HSY_OK, "fingerprint runs");
    sizes = f.nrows / SIM_UPLOADS;
    for (size_t k = 0; k < SIM_UPLOADS; k++) {
        const struct sim_fingerprint_row *r =
            &f.u.fingerprint[(k + 1) * sizes - 1];

        is_u64(r->devices, 2000, "among 2000 devices");
        fingerprint_row_is_documented(r, &attacks_meters[k]);
    }
    /* Two of them are alike in one run of 200. */
    ok(f.u.fingerprint[sizes - 1].unique >= 0.999,
       "raw answers of 32 bits are unique for 100 %% of 2000 devices");
}

/* A large crowd hides a seed: the long run of L12. */
static void fingerprints_of_many(void)
{
    const struct sim_options o = attacks_options(100000, 0);
    struct sim_result f = {.kind = SIM_FINGERPRINT};
    size_t sizes;

    if (!attacks_long()) {
        tap_skip("HSY_TEST_LONG has 100,000 devices");
        return;
    }
    is_status(sim_run(&f, &o, NULL), HSY_OK, "fingerprint runs");
    sizes = f.nrows / SIM_UPLOADS;
    for (size_t k = 0; k < SIM_UPLOADS; k++) {
        const struct sim_fingerprint_row *r =
            &f.u.fingerprint[(k + 1) * sizes - 1];

        if (attacks_meters[k].share == 0)
            fingerprint_row_is_documented(r, &attacks_meters[k]);
        else
            ok(r->relinked >=
                   r->name - SIGMAS * attacks_sigma(r->name, r->devices),
               "%s: %.4f of 100,000", r->upload, r->relinked);
    }
}

/* ---- Drift --------------------------------------------------------------- */

static void drift_costs_what_it_says(void)
{
    struct sim_options o =
        attacks_options(attacks_long() ? 100000 : 20000, 3650);
    struct sim_result d = {.kind = SIM_DRIFT};
    bool unbiased = true, biased = false, predicted = true, few = true;
    size_t times;

    o.nano_report = 2 * HSY_NANO;
    o.nano_permanent = 4 * (uint64_t)HSY_NANO;
    is_status(sim_run(&d, &o, NULL), HSY_OK, "drift runs");
    times = d.nrows / SIM_ROUNDINGS;
    for (size_t i = 0; i < d.nrows; i++) {
        const struct sim_drift_row *r = &d.u.drift[i];
        const size_t rounding = i / times;

        if (rounding == 0)
            few &= r->keys == r->day;
        if (rounding == 1) {
            predicted &= fabs(r->error - r->bias) <= SIGMAS * r->sd;
            biased |= fabs(r->error) > SIGMAS * r->sd;
        } else {
            unbiased &= fabs(r->error) <= SIGMAS * r->sd;
        }
        if (rounding == 3)
            few &= r->keys <= 2 && attacks_near(r->epsilon_all_values, 8, 1e-6);
        few &= r->epsilon <= r->epsilon_all_values + 1e-9;
    }
    ok(few, "an answer a day for each value; two for ever by alpha");
    ok(unbiased, "alpha-point rounding leaves the mean where it is");
    ok(predicted, "bin centres are off by what they say");
    ok(biased, "control: which is more than noise");
}

/* The keys of every day, asked one by one. */
static uint64_t drift_keys_by_hand(const struct sim_pair *pair, uint64_t number,
                                   uint64_t first, uint64_t days)
{
    struct sim_device d;
    uint64_t keys = 0, last = UINT64_MAX, key = 0;
    bool grows = true;

    sim_device_init(&d, &pair->memo, attacks_seed(), number);
    for (uint64_t day = 0; day < days; day++) {
        if (sim_key(&d, &key, first + day) != HSY_OK)
            return 0;
        grows &= last == UINT64_MAX || key == last || key == last + 1;
        keys += key != last;
        last = key;
    }
    return grows ? keys : 0;
}

static void drift_counts_keys(void)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "onebit",
                           .kind = HSY_KIND_NUMBER,
                           .lo = 0,
                           .hi = SIM_DRIFT_RANGE};
    struct sim_options o = attacks_options(50, 400);
    struct sim_pair pair;
    struct sim_result d = {.kind = SIM_DRIFT};
    uint64_t most = 0;

    o.grain = 100;
    ok(eq_status(sim_run(&d, &o, NULL), HSY_OK) &&
           eq_status(sim_pair_open(&pair, &spec, o.nano_permanent,
                                   o.nano_report, o.grain, NULL),
                     HSY_OK),
       "a drift over four points runs");
    for (uint64_t i = 0; i < o.devices; i++) {
        uint64_t keys = drift_keys_by_hand(
            &pair, i,
            SIM_DRIFT_YOUNGEST +
                i * (SIM_DRIFT_OLDEST - SIM_DRIFT_YOUNGEST + 1) / o.devices,
            o.days);

        most = keys > most ? keys : most;
    }
    ok(eq_u64(most, 5) &&
           eq_u64(d.u.drift[3 * (d.nrows / SIM_ROUNDINGS) - 1].keys, most),
       "the keys of a device counted day by day are as many");
    sim_pair_close(&pair);
}

/* ---- The coins ----------------------------------------------------------- */

static void devices_keep_their_answers(void)
{
    struct sim_pair pair;
    struct sim_device a, b;
    uint8_t first, again;
    bool same = true;

    is_status(sim_pair_yes_no(&pair, 2 * LN3, LN3, NULL), HSY_OK,
              "a permanent answer opens");
    for (uint64_t day = 0; day < 100; day++) {
        sim_device_init(&a, &pair.memo, 1, 7);
        sim_device_init(&b, &pair.memo, 1, 7);
        same &= sim_report(&a, &first, 0, 5) == HSY_OK &&
                sim_report(&b, &again, 1, day) == HSY_OK &&
                sim_report(&b, &again, 0, 5) == HSY_OK && first == again &&
                a.answer[0] == b.answer[0];
    }
    ok(same, "a device says the same of one truth and day, whatever it was "
             "asked between");
    sim_pair_close(&pair);
}

int main(void)
{
    theory_of_majorities();
    theory_of_evidence();
    theory_of_names();
    devices_keep_their_answers();
    averaging_stays_allowed();
    change_stays_allowed();
    fingerprints_are_documented();
    fingerprints_of_many();
    drift_costs_what_it_says();
    drift_counts_keys();
    return tap_done();
}
