/* ranges.h - what ranges.c and quantile.c share. */
#ifndef LIB_INFER_RANGES_H
#define LIB_INFER_RANGES_H

#include "lib/family/tree.h"
#include "lib/infer/infer.h"

/*
 * Bounds of the share below each of the d + 1 edges, each missed on its side as
 * often as a normal error is above z, if the share is q: into r->low and
 * r->high.
 */
void hsy_ranges_lines(const hsy_ranges *r, double q, double z,
                      hsy_target target);

/* One level whose tally counts outputs (ranges_outputs.c). */
struct ranges_outputs {
    struct tree tree, probe;
    const hsy_scheme *s;
    hsy_tally one;  /* a single report */
    void *room;     /* of the probe */
    double *share;  /* of each output among the reports */
    double *second; /* d + 1: the variance of the share below each edge */
    double *mean;
    bool linear; /* the estimate is the mean of what outputs say */
};

bool hsy_ranges_outputs_has(const hsy_scheme *s);
size_t hsy_ranges_outputs_scratch(const hsy_scheme *s);
void hsy_ranges_outputs_open(struct ranges_outputs *o, double *bins,
                             const hsy_scheme *s, const hsy_tally *t,
                             void *scratch);

/* As hsy_tree_variance. */
double hsy_ranges_outputs_variance(const void *law, size_t from, size_t to);

#endif
