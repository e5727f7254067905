/* stat.h - what the statistical tests share. */
#ifndef STAT_H
#define STAT_H

#include "hearsay.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STAT_ALPHA 1e-12 /* chance that a right program fails one check */

#define STAT_RANGE 1000 /* steps of the range of numbers */

/* The fixed seed, or the one a long run asks for. Tests take lanes of it. */
uint64_t stat_seed(void);

/* Whether full sizes are asked for (tools/soak), not those of ./check. */
bool stat_long(void);

/* ---- Bounds -------------------------------------------------------------- */

/*
 * Bernstein: a sum of independent terms in [0, 1] with total variance v strays
 * from its mean by more than this with probability below alpha.
 */
double stat_bernstein(double v, double alpha);

/* Twice the smaller tail of a binomial count, exactly. */
double stat_binomial(uint64_t k, uint64_t n, double p);

/*
 * Hoeffding: the mean of `runs` independent shares in [0, 1], each with
 * expectation at most p, reaches a > p with probability at most exp(-runs K),
 * K = a ln(a / p) + (1 - a) ln((1 - a) / (1 - p)) [Hoeffding63, (2.1)]. Of
 * coins it is close to the binomial tail.
 */
double stat_hoeffding(double a, double p, double runs);

/* The exact 95 % limits of a binomial proportion [CP34]. */
void stat_limits(double limits[2], uint64_t k, uint64_t n);

/* ---- Schemes ------------------------------------------------------------- */

struct stat_ask {
    const char *mechanism;
    uint32_t d; /* where the mechanism takes a list */
    double epsilon;
    uint32_t pool_bits; /* where it has a pool */
    uint64_t pool_seed;
};

/* Where the public hashes of a mechanism come from. */
enum stat_pool {
    STAT_POOL,   /* 2^pool_bits functions */
    STAT_SKETCH, /* as many rows if few, of 4 cells, else 1/16, of 64 */
    STAT_SEED,   /* one function of the pool */
    STAT_NONE
};

/* NULL if the mechanism takes no such question. */
hsy_scheme *stat_scheme_of(const struct stat_ask *ask, uint32_t kind,
                           enum stat_pool pool);

/* A list of d values if the mechanism takes lists, else what it takes; with
 * the pool asked for if it has one. */
hsy_scheme *stat_scheme(const struct stat_ask *ask);

/* Whether a mechanism's estimates come value by value: not by iteration, not
 * attribute by attribute (test_attributes.c), and not of a list of candidates
 * alone (test_discovery.c). */
bool stat_pointed(const char *mechanism);

/* Estimates a scheme gives: of each value, of yes, of the mean. */
size_t stat_points(const hsy_scheme_info *info);

/* ---- Ways to randomize --------------------------------------------------- */

enum stat_way { STAT_SINGLE, STAT_BATCH, STAT_SIMULATE, STAT_WAYS };

extern const char *const stat_way_names[];

/* Two seeded streams. */
struct stat_coins {
    hsy_stream secret, published;
};

void stat_coins_open(struct stat_coins *c, uint64_t lane);

hsy_status stat_randomize(const hsy_scheme *s, const hsy_scheme_info *info,
                          enum stat_way way, uint8_t *reports,
                          const uint64_t *codes, size_t n,
                          struct stat_coins *c);

/* ---- From truths to points ----------------------------------------------- */

#define STAT_BLOCK 4096u

/* A scheme with the memory that one collection takes. */
struct stat_run {
    hsy_scheme *s;
    hsy_scheme_info info;
    size_t npoints;
    uint8_t *reports; /* STAT_BLOCK */
    int64_t *memory;
    hsy_tally tally;
    hsy_evidence *points;
    void *scratch;
};

void *stat_alloc(size_t size);

/* The memory of a run whose scheme is there. */
void stat_run_room(struct stat_run *r);

bool stat_run_open(struct stat_run *r, const struct stat_ask *ask);

void stat_run_close(struct stat_run *r);

/* Randomize, tally and estimate n codes, from an empty tally. An iterative
 * mechanism has no points: test_density.c looks at its estimates. */
bool stat_collect(struct stat_run *r, enum stat_way way, const uint64_t *codes,
                  size_t n, struct stat_coins *c);

/* The variance of an estimate against the share f of those who answered. */
double stat_variance(const hsy_evidence *p, double f);

#endif
