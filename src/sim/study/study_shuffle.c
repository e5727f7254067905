/*
 * study_shuffle.c - how much a report may tell if a shuffler hides whose it is.
 *
 * Asked for is what all reports together promise, (epsilon, delta), once an
 * honest shuffler has taken from them who sent them, and in which order. A
 * report alone may then have a larger epsilon0. For any mechanism the clones
 * bound says how large (MECHANISMS 9.2). Some mechanisms have a better one
 * (9.4) that depends on their parameters, which depend on epsilon0: it is
 * raised as long as the scheme that it makes proves the promise.
 */
#include "sim/study/internal.h"

#include <math.h>
#include <stdlib.h>

#define SHUFFLE_STEPS 32 /* of raising epsilon0; a few are enough */

double study_delta(uint64_t users)
{
    return fmin(1e-6, pow((double)users, -1.5));
}

static const char *shuffle_name(hsy_shuffle_bound by)
{
    return by == HSY_SHUFFLE_ANY      ? "clones"
           : by == HSY_SHUFFLE_BINARY ? "binary"
                                      : "blanket";
}

/* What is promised, and by which bound so far. */
struct shuffle_aim {
    double epsilon, delta;
    uint64_t users;
    hsy_shuffle by;
};

/* The bound of the scheme of a spec, and its mechanism. */
static hsy_status shuffle_resolve(hsy_shuffle *by, hsy_spec *spec,
                                  uint64_t users, hsy_error *err)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_scheme_info info;
    hsy_status st;

    if (s == NULL)
        return study_nomem(err);
    st = hsy_scheme_init(s, spec, err);
    if (st == HSY_OK) {
        hsy_scheme_describe(s, &info);
        spec->mechanism = info.mechanism;
        st = hsy_shuffle_scheme(by, s, users, err);
    }
    free(s);
    return st;
}

/* The largest epsilon0 under a bound, in whole nano and never more than a
 * scheme takes. */
static hsy_status shuffle_largest(uint64_t *nano, const struct shuffle_aim *aim,
                                  hsy_error *err)
{
    double epsilon0 = 0;
    hsy_status st = hsy_shuffle_epsilon_report(&aim->by, &epsilon0,
                                               aim->epsilon, aim->delta, err);

    if (st == HSY_OK)
        *nano = (uint64_t)fmin(epsilon0 * HSY_NANO, (double)HSY_EPSILON_MAX);
    return st;
}

/* Whether the scheme's own bound lets it have a larger epsilon0, which is then
 * in spec. */
static bool shuffle_raise(hsy_spec *spec, struct shuffle_aim *aim)
{
    struct shuffle_aim next = *aim;
    hsy_spec more = *spec;
    double delta = 1;

    if (shuffle_largest(&more.nano_epsilon, aim, NULL) != HSY_OK ||
        more.nano_epsilon <= spec->nano_epsilon ||
        shuffle_resolve(&next.by, &more, aim->users, NULL) != HSY_OK ||
        hsy_shuffle_delta(&next.by, &delta, aim->epsilon, NULL) != HSY_OK ||
        delta > aim->delta)
        return false;
    *spec = more;
    *aim = next;
    return true;
}

hsy_status study_shuffle(hsy_spec *spec, const char **bound, uint64_t users,
                         double delta, hsy_error *err)
{
    struct shuffle_aim aim = {.epsilon = (double)spec->nano_epsilon / HSY_NANO,
                              .delta = delta,
                              .users = users,
                              .by = {.by = HSY_SHUFFLE_ANY, .n = users}};
    uint64_t nano = 0;
    hsy_status st;

    if (users > HSY_SHUFFLE_PEOPLE_MAX)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_USERS,
                         "shuffling is accounted for up to 10^12 people");
    st = shuffle_largest(&nano, &aim, err);
    if (st == HSY_OK && nano > spec->nano_epsilon)
        spec->nano_epsilon = nano;
    if (st == HSY_OK)
        st = shuffle_resolve(&aim.by, spec, users, err);
    for (int i = 0; st == HSY_OK && i < SHUFFLE_STEPS; i++)
        if (!shuffle_raise(spec, &aim))
            break;
    *bound = shuffle_name(aim.by.by);
    return st;
}
