/*
 * worth_largest.c - how much a report may tell if a batch promises less.
 *
 * For any mechanism the clones bound says how large a report's epsilon may be
 * (theory 9.2). Some mechanisms have a better one (9.4) that depends on
 * their parameters, which depend on epsilon: it is raised as long as the scheme
 * that it makes proves the promise.
 */
#include "host/worth/worth.h"

#include "host/base/owned.h"

#include <math.h>
#include <stdlib.h>

#define WORTH_STEPS 32 /* of raising epsilon; a few are enough */

/* An epsilon that is tried. */
struct worth_try {
    hsy_spec spec;
    hsy_shuffle own; /* the scheme's own bound */
    hsy_worth worth;
};

static hsy_status worth_resolve(struct worth_try *t, const hsy_batch *b,
                                hsy_error *err)
{
    hsy_scheme *s;
    hsy_scheme_info info;
    hsy_status st = scheme_open(&s, &t->spec, err);

    if (st == HSY_OK)
        st = hsy_worth_of(&t->worth, s, NULL, b, err);
    if (st == HSY_OK) {
        hsy_scheme_describe(s, &info);
        t->spec.mechanism = info.mechanism;
        st = hsy_shuffle_scheme(&t->own, s,
                                t->worth.among != 0 ? t->worth.among : 1, err);
    }
    free(s);
    return st;
}

/* Who keeps a seed has but half of delta for what hides him. */
static double worth_delta(const hsy_worth *w)
{
    return w->among < w->n ? w->delta / 2 : w->delta;
}

/* The largest under a bound, in whole nano and never more than a scheme takes.
 */
static hsy_status worth_under(uint64_t *nano, const hsy_shuffle *by,
                              const hsy_worth *w, double central,
                              hsy_error *err)
{
    double epsilon = 0;
    hsy_status st =
        hsy_shuffle_epsilon_report(by, &epsilon, central, worth_delta(w), err);

    if (st == HSY_OK)
        *nano = (uint64_t)fmin(epsilon * HSY_NANO, (double)HSY_EPSILON_MAX);
    return st;
}

/* Whether the scheme's own bound lets it have a larger epsilon; it is then
 * taken. What is proved is the delta of `central`: the least epsilon for that
 * delta, found by halving, may be the same but for its last digits. */
static bool worth_raise(struct worth_try *t, const hsy_batch *b, double central)
{
    struct worth_try more = *t;
    double delta = 1;

    if (worth_under(&more.spec.nano_epsilon, &t->own, &t->worth, central,
                    NULL) != HSY_OK ||
        more.spec.nano_epsilon <= t->spec.nano_epsilon ||
        worth_resolve(&more, b, NULL) != HSY_OK ||
        hsy_shuffle_delta(&more.own, &delta, central, NULL) != HSY_OK ||
        delta > worth_delta(&more.worth))
        return false;
    *t = more;
    return true;
}

hsy_status worth_largest(hsy_spec *spec, hsy_worth *out, const hsy_batch *b,
                         double central, hsy_error *err)
{
    struct worth_try t = {.spec = *spec};
    uint64_t nano = 0;
    hsy_status st;

    t.spec.nano_epsilon =
        (uint64_t)fmin(central * HSY_NANO, (double)HSY_EPSILON_MAX);
    st = worth_resolve(&t, b, err);
    if (st != HSY_OK)
        return st;
    t.own.by = HSY_SHUFFLE_ANY;
    st = worth_under(&nano, &t.own, &t.worth, central, err);
    if (st == HSY_OK && nano > t.spec.nano_epsilon) {
        t.spec.nano_epsilon = nano;
        t.spec.mechanism = spec->mechanism; /* chosen for what it will be */
        st = worth_resolve(&t, b, err);
    }
    if (st != HSY_OK)
        return st;
    for (int i = 0; i < WORTH_STEPS && worth_raise(&t, b, central); i++)
        continue;
    *spec = t.spec;
    t.worth.epsilon = fmin(t.worth.epsilon, central);
    if (out != NULL)
        *out = t.worth;
    return HSY_OK;
}

hsy_status worth_spec(hsy_worth *out, const hsy_spec *spec, const hsy_batch *b,
                      hsy_error *err)
{
    struct worth_try t = {.spec = *spec};
    hsy_status st = worth_resolve(&t, b, err);

    if (st == HSY_OK)
        *out = t.worth;
    return st;
}

hsy_ratio worth_share(double share)
{
    return (hsy_ratio){(uint64_t)floor(share * HSY_NANO + 0.5),
                       (uint64_t)HSY_NANO};
}
