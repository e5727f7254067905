/*
 * rappor_people.h - populations of known truth for RAPPOR's decoder.
 *
 * Strings have random bits, as hashes have. Shares follow a power law or fall
 * exponentially; some strings of the population are not listed, some that are
 * listed nobody has.
 */
#ifndef RAPPOR_PEOPLE_H
#define RAPPOR_PEOPLE_H

#include "hearsay.h"
#include "rig/trial.h"

#include <math.h>
#include <string.h>

struct people_shape {
    const char *name;
    uint32_t k, m, h;
    double n;
    size_t real, bogus, unlisted; /* listed and held, listed only, held only */
    double power;
    double decay; /* above 0: shares fall by e^-decay over all ranks instead */
};

struct people {
    struct people_shape shape;
    hsy_rappor_law law;
    hsy_rappor_data data;
    size_t strings; /* real, bogus, unlisted, in this order */
    double *share;  /* of the population */
    double *held;   /* among those who answered */
    uint16_t *bits;
    uint64_t *totals, *ones;
    double *set;
    hsy_rappor_share *shares;
    hsy_rappor_summary summary;
    void *scratch;
    hsy_stream stream;
    hsy_rng rng;
};

void people_open(struct people *p, const struct people_shape *shape,
                 double noise);

void people_close(struct people *p);

/* A fresh map, fresh people, fresh noise. */
void people_draw(struct people *p, uint64_t seed, uint64_t lane);

hsy_status people_decode(struct people *p, const hsy_rappor_options *options,
                         hsy_error *err);

#endif
