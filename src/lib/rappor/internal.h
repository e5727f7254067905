/*
 * internal.h - what the files of RAPPOR's decoder share.
 *
 * The regression: for cohort c and bit b, the de-noised rate is
 *     y[c,b] = intercept + sum of x[s] over candidates s that set b in c +
 * noise, with the weight w = 1 / variance. Cohorts without reports are left
 * out. A row of k bits is followed by one cell of weight 0: a bit that a
 * candidate's hashes name again in the same cohort points there, and so counts
 * once without a branch in any loop.
 */
#ifndef LIB_RAPPOR_INTERNAL_H
#define LIB_RAPPOR_INTERNAL_H

#include "hearsay.h"

/* Most columns of a dense regression: two matrices of this order squared. */
#define RAPPOR_DENSE_MAX 1024u

/* A pivot below this share of its diagonal: the column is a combination of
 * those before it. */
#define RAPPOR_PIVOT_LEAST 1e-9

struct rappor_design {
    uint32_t k, h, live; /* live: cohorts with reports */
    size_t candidates;   /* S */
    size_t rows;         /* live (k + 1) */
    double reports;      /* all */
    double *n;           /* reports of each live cohort */
    double *y, *w;       /* rows */
    uint16_t *bits;      /* [candidate][live cohort][hash] */
    double *norm;        /* S: sum of w over a candidate's bits */
    double total_w, total_wy;
};

/* A weighted least-squares fit of some candidates and the intercept. Matrices
 * have `stride` columns; the intercept, if there is one, is the last of
 * `order`. */
struct rappor_fit {
    uint32_t *column; /* which candidates, `columns` of them */
    size_t columns, order, stride;
    bool intercept;
    double *gram;    /* X'WX, lower and upper */
    double *inverse; /* its inverse */
    double *moment;  /* X'Wy */
    double *coef;    /* inverse times moment */
    double *own;     /* see hsy_rappor_fit_own */
    uint32_t *items; /* room for the candidates of one cohort, by bit */
    uint32_t *heads; /* k + 2 */
    double *sums;    /* two per column */
};

/* The state of the sampler and what it found. */
struct rappor_chain {
    double *residual; /* rows: w (y - fit), unless there is a Gram matrix */
    double *score;    /* columns: X'W (y - fit), if there is one */
    double *x;        /* the present coefficients */
    double *phi;      /* dispersion around each candidate's bits */
    double intercept;
    double *zero, *mean;   /* sums over sweeps: P(0 | rest), E(x | rest) */
    double *value, *share; /* of the grid's points */
    uint8_t *bin;          /* of the prior that a point belongs to */
    uint64_t *coins;       /* a buffer of them */
};

struct rappor_work {
    struct rappor_design design;
    struct rappor_fit fit;
    struct rappor_chain chain;
    uint64_t *keys;  /* S: hashes of candidates' bits */
    uint32_t *order; /* S */
};

#define RAPPOR_GRID_MAX 65536u
#define RAPPOR_COINS 512u

/* Lay the parts out in memory, which may be NULL: the bytes it takes, 0 if they
 * are too many for a size_t. live is the number of cohorts to make room for. */
size_t hsy_rappor_layout(struct rappor_work *work, void *memory,
                         const hsy_rappor_data *data, uint32_t live);

/* HSY_OK, or which field is out of range. */
hsy_status hsy_rappor_check(const hsy_rappor_data *data, bool candidates,
                            hsy_error *err);

/* How many cohorts have reports. */
uint32_t hsy_rappor_live(const hsy_rappor_data *data);

/* Fill in the design; HSY_E_RANGE for two candidates with the same bits. */
hsy_status hsy_rappor_design(struct rappor_work *work,
                             const hsy_rappor_data *data, hsy_error *err);

/* Put the candidates into work->order by ascending work->keys. */
void hsy_rappor_order(struct rappor_work *work);

/* Sum of values[] over the bits of candidate j. */
double hsy_rappor_gather(const struct rappor_design *d, size_t j,
                         const double *values);

/* Fit fit->column[0 .. columns). False if the columns are dependent, with the
 * place of the first that is; an intercept that is dependent is left out. */
bool hsy_rappor_fit(struct rappor_fit *fit, const struct rappor_design *d,
                    size_t *dependent);

/* w (y - fit) into residual, and the sum of squares sum w (y - fit)^2. */
double hsy_rappor_residual(double *residual, const struct rappor_design *d,
                           const struct rappor_fit *fit);

/*
 * What the variance of a coefficient x gains, per x (1 - x), by how its owners
 * fell on cohorts. The inverse takes bits for independent, each with the
 * sampling variance of its rate; but the h bits of a candidate come together,
 * and among the people who answered (target) a cohort's gain is another's loss.
 * With a the row of coefficients' weights, u[c] the sum of a over the
 * candidate's bits in cohort c,
 *     own = sum over c of ((u[c] - target n[c] / n)^2 - sum of a^2) / n[c].
 */
void hsy_rappor_fit_own(struct rappor_fit *fit, const struct rappor_design *d,
                        hsy_target target);

/* Non-negative least squares into x from fit's Gram matrix. */
void hsy_rappor_nnls(double *x, const struct rappor_fit *fit, double *score);

/*
 * The dispersion around each candidate's own bits, into phi: at least `all`,
 * and more where the residuals there scatter more than chance lets them. A
 * string that nobody listed puts its whole share on one bit of a cohort; a
 * candidate that meets it in some cohorts by chance looks present, were it not
 * that its other bits disagree.
 */
void hsy_rappor_local(double *phi, const struct rappor_design *d,
                      const double *residual, double all);

struct rappor_run {
    uint32_t burn, sweeps;
    double dispersion; /* of all bits; the chain has each candidate's own */
    double freedom;    /* degrees of freedom that the dispersion is from */
    double skew;       /* of an estimate of 0 */
    double unit;       /* the typical standard error: the grid's step */
    uint64_t seed, lane;
    bool gram;      /* use the fit's matrix: its columns are all candidates */
    bool intercept; /* else it stays 0 */
};

/* Run the sampler from the chain's x on; zero and mean become averages. The
 * weighted sum of squared residuals, averaged over the sweeps that count, and
 * the mean number of candidates that are not 0. */
struct rappor_ran {
    double squares, nonzero;
};

hsy_status hsy_rappor_sample(struct rappor_ran *ran, struct rappor_work *work,
                             const struct rappor_run *run, hsy_error *err);

/*
 * Rows of n reports of a RAPPOR variable for data->candidates categories and,
 * if other is not NULL, a last one for all other strings. words: stride bytes a
 * report, bit b at bit b % 8 of byte b / 8; cohorts below data->m. other: 2 m k
 * numbers, the chance of each bit there and how far a report's own bit has
 * moved it, which is taken back (hsy_rappor_other makes both; chances known
 * beforehand have zeros behind them). HSY_E_RANGE with the report in err->at
 * if its cohort is too large or no category gives it.
 */
hsy_status hsy_rappor_likelihood(const hsy_rappor_data *data, double *rows,
                                 const double *other, const uint8_t *words,
                                 size_t stride, const uint32_t *cohorts,
                                 size_t n, hsy_error *err);

/*
 * What hsy_rappor_likelihood needs of the strings outside the list, 2 m k
 * numbers, from the counts of the same reports: for each cohort and bit what
 * the counts have beyond the candidates' shares, divided by the share that is
 * left, drawn toward what hashes do on average as far as it is noise.
 * HSY_E_RANGE unless the shares are at least 0 and leave some of 1.
 */
hsy_status hsy_rappor_other(const hsy_rappor_data *data, double *other,
                            const double *shares, hsy_error *err);

#endif
