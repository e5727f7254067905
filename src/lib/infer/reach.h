/*
 * reach.h - how far a sum of shares can be from its estimate: bounds from
 * weighted sums of the counts (docs/estimates.md, section 8).
 */
#ifndef LIB_INFER_REACH_H
#define LIB_INFER_REACH_H

#include "lib/scheme/scheme.h"

/* The bounds of all sums are found from the same matrices, which grow with the
 * squares of these. */
#define HSY_REACH_VALUES 256u
#define HSY_REACH_OUTPUTS 1024u

/*
 * A square of side m = values + 1 in which shares and their multipliers have
 * been exchanged; the last row is that shares add up to 1. Row i says
 * at[i] + step[i] mu: a share if it is held (free to move), else how much the
 * distance rises with it, which is at least 0.
 */
struct reach_table {
    double *cell; /* m m */
    double *at;   /* m, at mu = 0 */
    double *step; /* m, with mu */
    double *held; /* m: 1 or 0 */
};

/* One set of counts and the law of its noise. All arrays are the caller's. */
struct reach {
    size_t values, outputs;
    double n;
    double sampling; /* parts of the variance of sampling: 0 of the people */
    bool neighbours; /* values that stand side by side are alike */
    double *channel; /* values rows of outputs: the chances of each */
    double *white;   /* the same over the square root of the covariance */
    double *factor;  /* outputs^2: that square root, lower triangle */
    double *image;   /* outputs: chances under the estimate */
    double *off;     /* outputs: the counts' shares less these, over the root */
    double *weights; /* outputs */
    double *theta;   /* values: the estimate */
    double *pilot;   /* values: where the search begins */
    double *pull;    /* values: what the counts say of the estimate's errors */
    double *far;     /* values: where it ends */
    struct reach_table base, work;
};

/* Whether a channel of this size has bounds, the doubles they take, and the
 * arrays in them. */
bool hsy_reach_fits(size_t values, size_t outputs);
size_t hsy_reach_doubles(size_t values, size_t outputs);
void hsy_reach_room(struct reach *r, size_t values, size_t outputs,
                    double *room);

/* The channel of s, once; scratch as its forward takes it. */
void hsy_reach_channel(struct reach *r, const hsy_scheme *s, double *scratch);

/* The law of counts, shares of the outputs among n reports, at theta, and what
 * all searches begin with. */
void hsy_reach_open(struct reach *r, const double *theta, const double *counts,
                    double n, double sampling);

/*
 * A bound of sum a_x share_x, missed with the chance of a normal error above z:
 * not above (sign 1) or not below it (sign -1). From the least a_x to the
 * largest.
 */
double hsy_reach_bound(struct reach *r, const double *a, int sign, double z);

/* Sets the interval of the sum est->value between the bounds at z, extended to
 * include the value, and sd. Bounds are not proportional to z, so sd is half of
 * the 95 % interval over 1.96 whatever z is. */
void hsy_reach_interval(struct reach *r, hsy_estimate *est, const double *a,
                        double z);

/* The table and the path through it (reach_path.c). Exchange row k. */
void hsy_reach_exchange(struct reach_table *t, size_t m, size_t k);

/* Into far: the shares of the largest sign sum a_x share_x at distance z from
 * the pilot, and *level the multiplier of their sum. The multiplier mu of the
 * sum asked for, or INFINITY if no share is that far. */
double hsy_reach_path(struct reach *r, double *level, const double *a, int sign,
                      double z);

#endif
