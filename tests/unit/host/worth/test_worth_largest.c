/* test_worth_largest.c - the largest epsilon of a report, against the numbers
 * of theory 9.4 and against what the schemes that come out are worth. */
#include "host/worth/worth.h"
#include "rig/trial.h"

static void published(void)
{
    static const struct {
        const char *mechanism;
        uint64_t n;
        double epsilon;
    } rows[] = {{"grr", 1000, 3.92},   {"grr", 10000, 5.40},
                {"grr", 100000, 7.43}, {"grr", 1000000, 9.69},
                {"oue", 1000, 2.44},   {"oue", 10000, 4.44},
                {"oue", 100000, 6.70}, {"oue", 1000000, 8.99},
                {"auto", 45000, 6.68}, {"ss", 45000, 6.68}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const hsy_batch b = {rows[i].n, {1, 1}, 1e-8};
        hsy_spec spec = trial_values(rows[i].mechanism, 64, 1);
        hsy_worth w = {0}, same = {0};
        hsy_error err = {0};

        ok(eq_status(worth_largest(&spec, &w, &b, 1, &err), HSY_OK) &&
               fabs((double)spec.nano_epsilon / HSY_NANO - rows[i].epsilon) <
                   0.0051 &&
               w.epsilon <= 1 && w.epsilon > 0.999,
           "%s, %u people: a report may have %.4f by %s", spec.mechanism,
           (unsigned)rows[i].n, (double)spec.nano_epsilon / HSY_NANO,
           hsy_shuffle_bound_name(w.by));
        ok(eq_status(worth_spec(&same, &spec, &b, &err), HSY_OK) &&
               fabs(same.epsilon - w.epsilon) < 1e-9,
           "... and what it makes is worth that");
        spec.nano_epsilon += spec.nano_epsilon / 100;
        ok(eq_status(worth_spec(&same, &spec, &b, &err), HSY_OK) &&
               same.epsilon > 1,
           "... one per cent more is not: %.4f", same.epsilon);
    }
}

static void honest(void)
{
    const hsy_batch b = {50000, worth_share(0.9), 1e-8};
    const hsy_batch all = {45000, {1, 1}, 1e-8};
    hsy_spec spec = trial_values("ss", 64, 1), same = spec;
    hsy_error err = {0};

    ok(eq_status(worth_largest(&spec, NULL, &b, 1, &err), HSY_OK) &&
           eq_status(worth_largest(&same, NULL, &all, 1, &err), HSY_OK) &&
           eq_u64(spec.nano_epsilon, same.nano_epsilon),
       "nine tenths of 50000 hide as well as 45000");
    ok(spec.nano_epsilon >= 6600000000, "a report may have at least 6.6");
}

/* 2^8 seeds, of which a person keeps one. */
static void kept(void)
{
    const hsy_batch b = {1000000, {1, 1}, 1e-8};
    hsy_spec fresh = trial_values("olh", 64, 1), own;
    hsy_worth w = {0};
    hsy_error err = {0};

    fresh.param[HSY_PARAM_G] = 8;
    fresh.param[HSY_PARAM_POOL_BITS] = 8;
    own = fresh;
    own.nano_permanent = 20000000000;
    ok(eq_status(worth_largest(&fresh, NULL, &b, 1, &err), HSY_OK) &&
           eq_status(worth_largest(&own, &w, &b, 1, &err), HSY_OK) &&
           own.nano_epsilon < fresh.nano_epsilon && w.among < 3907,
       "a kept seed leaves %u people and epsilon %.3f of %.3f",
       (unsigned)w.among, (double)own.nano_epsilon / HSY_NANO,
       (double)fresh.nano_epsilon / HSY_NANO);
}

static void edges(void)
{
    const hsy_batch one = {1, {1, 1}, 1e-8}, none = {0, {1, 1}, 1e-8};
    const hsy_batch wrong = {1000, {1, 1}, 2};
    hsy_spec spec = trial_values("grr", 64, 1);
    hsy_error err = {0};

    ok(eq_status(worth_largest(&spec, NULL, &one, 1, &err), HSY_OK) &&
           spec.nano_epsilon >= HSY_NANO &&
           (double)spec.nano_epsilon < 1.001 * HSY_NANO,
       "who is alone has what is promised, and no more");
    ok(eq_status(worth_largest(&spec, NULL, &none, 1, &err), HSY_OK) &&
           (double)spec.nano_epsilon < 1.001 * HSY_NANO,
       "and so in a batch of nobody");
    ok(eq_status(worth_largest(&spec, NULL, &wrong, 1, &err), HSY_E_RANGE) &&
           err.field == HSY_FIELD_DELTA,
       "a delta above 1 is refused");
    spec.mechanism = "nothing";
    is_status(worth_largest(&spec, NULL, &one, 1, &err), HSY_E_UNKNOWN,
              "and so is a mechanism that there is not");
}

int main(void)
{
    published();
    honest();
    kept();
    edges();
    return tap_done();
}
