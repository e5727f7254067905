/*
 * drift.c - a truth that moves a little every day: age in days.
 *
 * People first_age in one year are asked for their age in days, every day, and
 * the collector wants the mean. A client that keeps an answer for each truth
 * has another truth every day, and pays for each. Rounding makes them fewer:
 *
 *     values   none: an answer for each value, as RAPPOR keeps them
 *     centres  to the middle of a bin of so many days: few answers, but all of
 *              a bin are wrong in the same way, and no crowd removes that
 *     points   to a multiple of the grain, up or down by alpha, which each
 *              device draws once [DKY17]: as few answers, right on average
 *     ends     the same with the range as its grain: two answers, for ever
 *
 * All four report by one bit [DKY17], made in two steps, and are estimated by
 * hsy_evidence_of.
 */
#include "sim/attack/internal.h"

#include <stdlib.h>

enum drift_rounding { DRIFT_VALUES, DRIFT_CENTRES, DRIFT_POINTS, DRIFT_ENDS };

static const char *const drift_names[SIM_ROUNDINGS] = {
    "each value (RAPPOR)", "bin centres", "alpha-point", "alpha-point, range"};

struct drift {
    const struct sim_options *o;
    enum drift_rounding rounding;
    struct sim_pair pair;
    uint64_t times[SIM_TIMES_MAX];
    size_t ntimes;
    int64_t *words; /* owned; of the tallies */
    hsy_tally tallies[SIM_TIMES_MAX];
    uint64_t keys[SIM_TIMES_MAX]; /* of the device that has most */
    double truths[SIM_TIMES_MAX]; /* their sum */
    double errors[SIM_TIMES_MAX]; /* the sum of what rounding adds on average */
};

static uint64_t drift_grain(const struct drift *d)
{
    switch (d->rounding) {
    case DRIFT_POINTS:
        return d->o->grain;
    case DRIFT_ENDS:
        return SIM_DRIFT_RANGE;
    default:
        return 1;
    }
}

/* The middle of the bin of an age, or its lower middle. */
static uint64_t drift_centre(const struct drift *d, uint64_t age)
{
    const uint64_t width = d->o->grain;
    uint64_t bins = SIM_DRIFT_RANGE / width, bin = age / width;

    return (bin < bins ? bin : bins - 1) * width + width / 2;
}

static uint64_t drift_code(const struct drift *d, uint64_t age)
{
    return d->rounding == DRIFT_CENTRES ? drift_centre(d, age) : age;
}

/* Keys are places of points in their order and ages only grow, so a device has
 * had all from its first key to this one; centres are a bin apart. */
static uint64_t drift_keys(const struct drift *d, uint64_t first, uint64_t key)
{
    return 1 + (key - first) / (d->rounding == DRIFT_CENTRES ? d->o->grain : 1);
}

/* As many as there are, if everybody grows old. */
static double drift_keys_all(const struct drift *d)
{
    if (d->rounding == DRIFT_CENTRES)
        return (double)(SIM_DRIFT_RANGE / d->o->grain);
    return (double)(SIM_DRIFT_RANGE / drift_grain(d) + 1);
}

static uint64_t drift_age(const struct drift *d, uint64_t number)
{
    const uint64_t ages = SIM_DRIFT_OLDEST - SIM_DRIFT_YOUNGEST + 1;

    return SIM_DRIFT_YOUNGEST + number * ages / d->o->devices;
}

static hsy_status drift_device(struct drift *d, uint64_t number, hsy_error *err)
{
    const uint64_t first_age = drift_age(d, number);
    struct sim_device dev;
    uint64_t first = 0;

    sim_device_init(&dev, &d->pair.memo, d->o->seed, number);
    for (size_t i = 0; i < d->ntimes; i++) {
        uint64_t day = d->times[i], age = first_age + day - 1, key, keys;
        uint8_t report[SIM_REPORT_BYTES];
        hsy_status st = sim_key(&dev, &key, drift_code(d, age));

        if (st == HSY_OK)
            st = sim_report(&dev, report, key, day);
        if (st != HSY_OK)
            return st;
        first = i == 0 ? key : first;
        keys = drift_keys(d, first, key);
        d->keys[i] = keys > d->keys[i] ? keys : d->keys[i];
        d->truths[i] += (double)age;
        d->errors[i] += (double)drift_code(d, age) - (double)age;
        st = hsy_tally_add(&d->tallies[i], d->pair.report, report, err);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

/* ---- Estimates ----------------------------------------------------------- */

static hsy_status drift_row(struct sim_drift_row *row, const struct drift *d,
                            size_t i, hsy_error *err)
{
    const hsy_confidence how = {.level = 0.95, .comparisons = 1};
    const double n = (double)d->o->devices;
    hsy_permanent_info info;
    hsy_estimate est;
    hsy_evidence point;
    hsy_status st = hsy_evidence_of(d->pair.report, &point, &d->tallies[i],
                                    NULL, 1, NULL, err);

    if (st == HSY_OK)
        st = hsy_estimate_point(&est, &point, &how, err);
    if (st != HSY_OK)
        return st;
    hsy_permanent_describe(&d->pair.memo, &info);
    *row = (struct sim_drift_row){
        .rounding = drift_names[d->rounding],
        .day = d->times[i],
        .keys = d->keys[i],
        .epsilon = (double)d->keys[i] * info.epsilon_permanent,
        .epsilon_all_values = drift_keys_all(d) * info.epsilon_permanent,
        .mean = d->truths[i] / n,
        .error = est.value * SIM_DRIFT_RANGE - d->truths[i] / n,
        .sd = est.sd * SIM_DRIFT_RANGE,
        .bias = d->errors[i] / n};
    return HSY_OK;
}

static hsy_status drift_open(struct drift *d, hsy_error *err)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "onebit",
                           .kind = HSY_KIND_NUMBER,
                           .lo = 0,
                           .hi = SIM_DRIFT_RANGE};
    const struct sim_options *o = d->o;
    size_t words;
    hsy_status st = sim_pair_open(&d->pair, &spec, o->nano_permanent,
                                  o->nano_report, drift_grain(d), err);

    if (st != HSY_OK)
        return st;
    words = hsy_tally_words(d->pair.report);
    d->words = calloc(words * d->ntimes, sizeof *d->words);
    if (d->words == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < d->ntimes; i++)
        hsy_tally_init(&d->tallies[i], d->pair.report, d->words + i * words);
    return HSY_OK;
}

static hsy_status drift_rounding(struct sim_result *out,
                                 const struct sim_options *o,
                                 enum drift_rounding rounding, hsy_error *err)
{
    struct drift d = {.o = o, .rounding = rounding};
    hsy_status st;

    d.ntimes = sim_decades(d.times, o->days);
    st = drift_open(&d, err);
    for (uint64_t i = 0; st == HSY_OK && i < o->devices; i++) {
        st = drift_device(&d, i, err);
        sim_tick(o, 1);
    }
    for (size_t i = 0; st == HSY_OK && i < d.ntimes; i++)
        st = drift_row(&out->u.drift[out->nrows++], &d, i, err);
    free(d.words);
    sim_pair_close(&d.pair);
    return st;
}

hsy_status sim_drift(struct sim_result *out, const struct sim_options *o,
                     hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (unsigned i = 0; st == HSY_OK && i < SIM_ROUNDINGS; i++)
        st = drift_rounding(out, o, (enum drift_rounding)i, err);
    return st;
}
