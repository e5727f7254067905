/* poison_gain.c - what devices that lie gain. */
#include "host/plan/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define POISON_CURVE 13u

static const struct poison_way {
    const char *name, *about;
    hsy_attack attack;
} poison_ways[] = {
    {"random", "gain by random reports", HSY_ATTACK_RANDOM},
    {"input", "gain by honest reports of targets", HSY_ATTACK_INPUT},
    {"maximal", "gain by the best reports", HSY_ATTACK_MAXIMAL},
};

#define POISON_WAYS (sizeof poison_ways / sizeof poison_ways[0])

/* The gain of an attack by a share of all devices, and how many targets its
 * best report supports. */
static hsy_status poison_gain(double out[2], const hsy_scheme *s,
                              hsy_attack attack, const struct account_ask *ask,
                              double lying, hsy_error *err)
{
    uint64_t targets[HSY_TARGETS_MAX];

    for (uint64_t i = 0; i < ask->targets; i++)
        targets[i] = i;
    return hsy_poison_gain(s, &out[0], &out[1],
                           &(hsy_liars){.attack = attack,
                                        .targets = targets,
                                        .count = ask->targets,
                                        .share = lying,
                                        .held = ask->held},
                           err);
}

static hsy_status poison_rows(struct account *a, const hsy_scheme *s,
                              const struct account_ask *ask, hsy_error *err)
{
    double gain[2] = {0, 0};

    for (size_t i = 0; i < POISON_WAYS; i++) {
        hsy_status st =
            poison_gain(gain, s, poison_ways[i].attack, ask, ask->lying, err);

        if (st != HSY_OK)
            return account_refuse(a, st);
        account_number(a, poison_ways[i].name, gain[0], poison_ways[i].about);
    }
    account_number(a, "supported", gain[1],
                   "targets that the best report supports");
    return HSY_OK;
}

static hsy_status poison_curves(struct account *a, const hsy_scheme *s,
                                const struct account_ask *ask, hsy_error *err)
{
    for (size_t k = 0; k < POISON_CURVE; k++) {
        const double lying =
            ask->lying * (double)(k + 1) / (double)POISON_CURVE;

        for (size_t i = 0; i < POISON_WAYS; i++) {
            double gain[2];
            hsy_status st =
                poison_gain(gain, s, poison_ways[i].attack, ask, lying, err);

            if (st != HSY_OK)
                return account_refuse(a, st);
            account_point(a, i, poison_ways[i].name, lying, gain[0]);
        }
    }
    return HSY_OK;
}

hsy_status account_poisoning(struct account *out, const struct account_ask *ask,
                             hsy_error *err)
{
    hsy_scheme *s = NULL;
    hsy_scheme_info info;
    hsy_status st;

    *out = (struct account){
        .sentence =
            "By how much devices that lie raise the estimated shares of "
            "their targets, all targets together.",
        .assumes = "Assumes that the other devices are honest and that liars "
                   "send reports the collector accepts. Shares: 0.01 is one "
                   "percentage point. A smaller epsilon gives liars more "
                   "weight.",
        .x_label = "share of devices that lie",
        .y_label = "gain of all targets",
        .about = "Gain of the targets against the share of lying devices, both "
                 "on logarithmic axes, by what they send."};
    st = plan_scheme(&s, ask->spec, ask->spec->nano_epsilon, &out->why, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &info);
    out->mechanism = info.mechanism;
    snprintf(out->title, sizeof out->title,
             "%.6g %% of devices lie for %" PRIu64 " of %" PRIu32
             " values: %s, epsilon %.9g",
             100 * ask->lying, ask->targets, info.d, info.mechanism,
             info.epsilon);
    account_number(out, "epsilon", info.epsilon, NULL);
    account_text(out, "mechanism", info.mechanism, NULL);
    account_number(out, "lying", ask->lying, NULL);
    account_count(out, "targets", ask->targets, NULL);
    account_number(out, "held", ask->held, NULL);
    st = poison_rows(out, s, ask, err);
    if (st == HSY_OK && ask->curves)
        st = poison_curves(out, s, ask, err);
    free(s);
    return st;
}
