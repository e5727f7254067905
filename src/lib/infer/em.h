/*
 * em.h - maximum likelihood through a channel, for densities.
 */
#ifndef LIB_INFER_EM_H
#define LIB_INFER_EM_H

#include "lib/scheme/scheme.h"

/* One likelihood and the room to climb it. All arrays are the caller's. */
struct em {
    const hsy_scheme *s;
    size_t values, outputs;
    double n;       /* reports */
    double *counts; /* outputs: shares of the reports */
    double *image;  /* outputs: their chances under theta, then ratios */
    double *theta;  /* values: the shares so far */
    double *back;   /* values */
    double *scratch;
    bool smooth;
    double gain;    /* a step that adds less ends it */
    uint64_t steps; /* at most so many */
};

/* Outputs of the scheme's channel. */
size_t hsy_em_outputs(const hsy_scheme *s);

/* Doubles of a likelihood's room; the likelihood in it, and what comes after
 * the room. */
size_t hsy_em_doubles(const hsy_scheme *s);
double *hsy_em_room(struct em *em, const hsy_scheme *s, double *room);

/* Check, take the method's rules, count, and climb. */
hsy_status hsy_em_fit(struct em *em, hsy_density_fit *fit, const hsy_tally *t,
                      const hsy_density_how *how, hsy_error *err);

#endif
