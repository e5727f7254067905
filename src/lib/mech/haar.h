/* haar.h - Haar coefficients of a tally, and the sums of bins they make. */
#ifndef LIB_MECH_HAAR_H
#define LIB_MECH_HAAR_H

#include "lib/scheme/scheme.h"

#define HAAR_LEVELS 22

/*
 * Level l = 0 .. levels-1 has 2^l nodes; node j's coefficient c is the share of
 * its left half less that of its right half. The coefficients of level l stand
 * from c[2^l - 1] on.
 */
struct haar {
    size_t d, levels;
    double n;
    double power;              /* 1 / (p - q)^2 of the noisy bit */
    double count[HAAR_LEVELS]; /* reports of each level */
    double *c;                 /* 2^levels - 1; NULL: a design without data */
};

/* Walsh-Hadamard transform in place, size a power of two. */
void hsy_haar_transform(double *x, size_t size);

/* Doubles that c takes. */
size_t hsy_haar_size(const hsy_scheme *s);

/* From a tally with reports; room for hsy_haar_size doubles. */
void hsy_haar_open(struct haar *haar, const hsy_scheme *s, const hsy_tally *t,
                   double *room);

/* The shares of all d bins. */
void hsy_haar_bins(const struct haar *haar, double *bins);

/* As hsy_tree_variance. */
double hsy_haar_variance(const struct haar *haar, size_t from, size_t to);

void hsy_haar_points(const hsy_scheme *s, hsy_evidence *points,
                     const hsy_tally *t, const uint64_t *codes, size_t count,
                     void *scratch);
size_t hsy_haar_points_scratch(const hsy_scheme *s, size_t count);
void hsy_haar_points_variance(const hsy_scheme *s, double v[2]);

#endif
