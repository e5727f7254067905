/*
 * test_mechanism_vectors.c - probabilities and variances agree with the
 * vectors of theory 15.1 and 15.3 (30-50 digit arithmetic).
 */
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

struct record {
    char name[16], mechanism[16];
    unsigned d;
    double epsilon, value;
};

static bool parse(struct record *r, const char *line)
{
    char epsilon[32], value[32];

    if (sscanf(line,
               "{\"name\": \"%15[a-z0-9]\", \"mechanism\": \"%15[a-z]\", "
               "\"d\": %u, \"epsilon\": \"%31[0-9.]\", "
               "\"value\": \"%31[0-9.]\"}",
               r->name, r->mechanism, &r->d, epsilon, value) != 5)
        return false;
    r->epsilon = strtod(epsilon, NULL);
    r->value = strtod(value, NULL);
    return true;
}

/* What the record is about, from the scheme. */
static double computed(const struct record *r)
{
    hsy_spec spec = trial_values(r->mechanism, r->d, r->epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    free(s);
    if (strcmp(r->name, "p") == 0)
        return info.p;
    if (strcmp(r->name, "coth") == 0)
        return 1 / (info.p - info.q);
    if (strcmp(r->name, "g") == 0)
        return (double)info.param[HSY_PARAM_G];
    if (strcmp(r->name, "floor") == 0) /* 50 seeds, sum f^2 = 1/4 */
        return 0.25 / (((double)info.param[HSY_PARAM_G] - 1.0) * 50);
    return info.v0;
}

/*
 * Relative 1e-12. Thresholds of unary bits are rounded up to lose up to 2^-28
 * of epsilon, so their variance is larger by up to 2^-28 coth(epsilon / 4)
 * relatively, and never smaller.
 */
static bool agrees(const struct record *r, double x)
{
    double off = x / r->value - 1;

    if (r->mechanism[1] == 'u')
        return off > -1e-12 && off <= 0x1p-28 / tanh(r->epsilon / 4);
    return fabs(off) <= 1e-12;
}

int main(void)
{
    FILE *f = fopen("tests/vectors/mechanisms.json", "r");
    char line[256];
    struct record r;
    unsigned count = 0;

    if (f == NULL) {
        puts("Bail out! run from the root of the repository");
        return 1;
    }
    while (fgets(line, sizeof line, f) != NULL)
        if (parse(&r, line)) {
            double x = computed(&r);

            count++;
            ok(agrees(&r, x), "%s of %s, d = %u, epsilon %g: %.15g", r.name,
               r.mechanism, r.d, r.epsilon, x);
        }
    fclose(f);
    is_u64(count, 48, "all %u vectors were read", count);
    return tap_done();
}
