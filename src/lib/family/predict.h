/*
 * predict.h - collisions of public hashes, predicted and taken off.
 *
 * With a fixed set of hashes another value u supports v by how often the two
 * meet, not by chance: a bias that more reports do not remove. The hashes are
 * known, so the part of significant values is predicted and subtracted (Jacobi
 * steps); over random hashes what is left has the variance kappa times the sum
 * of (f_u - predicted share of u)^2. For local hashing (lh_points.c) and
 * sketches (sketch_points.c).                    docs/mechanisms/lh.md, 5
 */
#ifndef LIB_FAMILY_PREDICT_H
#define LIB_FAMILY_PREDICT_H

#include "lib/scheme/scheme.h"

#define PREDICT_CHOSEN 4096 /* most values that are predicted */

/* One estimation. The pointers lead into the caller's scratch. */
struct predict {
    const uint64_t *codes;
    size_t count;
    bool listed;           /* the caller's codes, which may repeat */
    const uint64_t *asked; /* codes that a sweep decodes: all, or few */
    size_t nasked;

    uint64_t *room;    /* count: for codes */
    uint64_t *support; /* count: what a sweep decodes */
    double *counted;   /* count: support in the reports */
    double *value;     /* count: the estimates so far */
    double *weight;    /* PREDICT_CHOSEN: predicted shares */
    uint64_t *few;     /* PREDICT_CHOSEN: codes of the chosen */
    uint32_t *chosen;  /* PREDICT_CHOSEN: their places, ascending */
    size_t nchosen;

    struct mech_support law;
    double meet, not_meet; /* the chance of two values to collide */
    double scale;          /* predicted shares to integers */
    double n, v0, v1;
    double kappa;
    double most;      /* so many values may be predicted: see choose */
    double predicted; /* sum of the predicted shares */
    double squares;   /* sum of their squares */
    double residual;  /* sum of (f_u - predicted share of u)^2 over all u */

    /* Decode what the chosen values would give, for the codes asked for, into
     * support, and measure residual. */
    void (*sweep)(void *ctx);
    void *ctx;
};

/* Bytes of its part of scratch, a multiple of 8 but for count; and what comes
 * behind it. */
size_t hsy_predict_scratch(size_t count);
void *hsy_predict_open(struct predict *p, size_t count, void *scratch);

/* From support as counted to plain estimates. */
void hsy_predict_plain(struct predict *p);

/* Choose, predict, subtract, as long as collisions weigh anything. */
void hsy_predict_settle(struct predict *p);

/* What was predicted of value v itself; *next walks p->chosen as v goes up. */
double hsy_predict_self(const struct predict *p, size_t *next, size_t v);

#endif
