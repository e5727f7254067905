/*
 * study_shuffle.c - how much a report may tell if a shuffler hides whose it is.
 *
 * Asked for is what all reports together promise, (epsilon, delta), once an
 * honest shuffler has taken from them who sent them, and in which order. A
 * report alone may then have a larger epsilon0: the largest that is proved.
 */
#include "sim/study/internal.h"

#include "host/worth/worth.h"

#include <math.h>

double study_delta(uint64_t users)
{
    return fmin(1e-6, pow((double)users, -1.5));
}

static const char *shuffle_name(hsy_shuffle_bound by)
{
    return by == HSY_SHUFFLE_ANY         ? "clones"
           : by == HSY_SHUFFLE_TWO_LEVEL ? "blanket"
                                         : "binary";
}

hsy_status study_shuffle(hsy_spec *spec, const char **bound,
                         const hsy_batch *batch, hsy_error *err)
{
    hsy_worth worth;
    hsy_status st;

    if (batch->reports > HSY_SHUFFLE_PEOPLE_MAX)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_USERS,
                         "shuffling is accounted for up to 10^12 people");
    st = worth_largest(spec, &worth, batch,
                       (double)spec->nano_epsilon / HSY_NANO, err);
    if (st == HSY_OK)
        *bound = shuffle_name(worth.by);
    return st;
}
