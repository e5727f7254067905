/* poison_gain.c - hearsay account poisoning: what devices that lie gain. */
#include "cli/account/internal.h"

#include <inttypes.h>
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

static int poison_gain(double *gain, double *supported, const hsy_scheme *s,
                       hsy_attack attack, const struct account_how *how,
                       double lying)
{
    uint64_t targets[HSY_TARGETS_MAX];
    hsy_error err = {0};

    for (uint64_t i = 0; i < how->targets; i++)
        targets[i] = i;
    if (hsy_poison_gain(gain, supported, s, attack, targets, how->targets,
                        lying, how->held, &err) != HSY_OK)
        return account_refused(&err);
    return 0;
}

static int poison_rows(struct account *a, const hsy_scheme *s,
                       const struct account_how *how)
{
    double supported = 0;

    for (size_t i = 0; i < POISON_WAYS; i++) {
        double gain = 0;
        int failed = poison_gain(&gain, &supported, s, poison_ways[i].attack,
                                 how, how->lying);

        if (failed)
            return failed;
        account_number(a, poison_ways[i].name, gain, poison_ways[i].about);
    }
    account_number(a, "supported", supported,
                   "targets that the best report supports");
    return 0;
}

static int poison_curves(struct account *a, const hsy_scheme *s,
                         const struct account_how *how)
{
    for (size_t k = 0; k < POISON_CURVE; k++) {
        const double lying =
            how->lying * (double)(k + 1) / (double)POISON_CURVE;

        for (size_t i = 0; i < POISON_WAYS; i++) {
            double gain = 0;
            int failed =
                poison_gain(&gain, NULL, s, poison_ways[i].attack, how, lying);

            if (failed)
                return failed;
            account_point(a, i, poison_ways[i].name, lying, gain);
        }
    }
    return 0;
}

int account_poisoning(const struct account_how *how)
{
    struct account a = {
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
    hsy_scheme *s = NULL;
    hsy_scheme_info info;
    int failed = cli_scheme_new(&s, &how->spec.spec);

    if (failed)
        return failed;
    hsy_scheme_describe(s, &info);
    snprintf(a.title, sizeof a.title,
             "%.6g %% of devices lie for %" PRIu64 " of %" PRIu32
             " values: %s, epsilon %.9g",
             100 * how->lying, how->targets, info.d, info.mechanism,
             info.epsilon);
    account_number(&a, "epsilon", info.epsilon, NULL);
    account_put(&a, "mechanism", cli_text(info.mechanism), NULL);
    account_number(&a, "lying", how->lying, NULL);
    account_put(&a, "targets", cli_count(how->targets), NULL);
    account_number(&a, "held", how->held, NULL);
    failed = poison_rows(&a, s, how);
    if (!failed && how->plot != NULL)
        failed = poison_curves(&a, s, how);
    if (!failed)
        failed = account_show(&a, how);
    free(s);
    return failed;
}

#undef POISON_CURVE
#undef POISON_WAYS
