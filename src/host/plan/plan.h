/*
 * plan.h - the numbers people need before there is a tally.
 *
 * How many people, which epsilon, what error; what a task will tell as its days
 * go by. Nothing here reads a truth or a report, prints, or keeps a pointer
 * after it returns. What fails leaves in the result's `why` what the error is
 * about: the sentence for people, and the name that a number has with them, are
 * the caller's.
 */
#ifndef HOST_PLAN_PLAN_H
#define HOST_PLAN_PLAN_H

#include "hearsay.h"

/* What an error is about; 0: there is none. */
enum plan_why {
    PLAN_WHY_MEMORY = 1,
    PLAN_WHY_SPEC,    /* hsy_scheme_init refused it */
    PLAN_WHY_CURATOR, /* the mechanism has no reports: a curator's release */
    PLAN_WHY_LAW,     /* the mechanism has no such figure beforehand */
    PLAN_WHY_EPSILON, /* none is enough */
    PLAN_WHY_ASKED,   /* a number that was asked with; err->field is which */
    PLAN_WHY_SHARE,   /* it goes with shares, and a mean is asked for */
    PLAN_WHY_DAYS,    /* no round ends by then */
    PLAN_WHY_DEVICES, /* none of them takes part */
    PLAN_WHY_NO_PERMANENT,  /* its epsilon is missing */
    PLAN_WHY_TWO_PERMANENT, /* the mechanism has a permanent step already */
    PLAN_WHY_GRAIN,         /* no number above 0 in the units of the range */
    PLAN_WHY_ITERATIVE,     /* no error to compare with is known beforehand */
    PLAN_WHY_CURATORS       /* more than people */
};

/* ---- One question (solve.c) ---------------------------------------------- */

/* The four numbers of which one is to be found. */
enum plan_number { PLAN_ALPHA = 0, PLAN_N, PLAN_BETA, PLAN_EPSILON };

#define PLAN_NUMBERS 4u

/* What is asked, and the numbers that are known. alpha is the error of a share,
 * or of a mean in its units; of a discovery the share that is found. beta is
 * the chance of a larger error, n the people who answer. */
struct plan_question {
    hsy_spec spec; /* its epsilon counts unless that is missing */
    enum plan_number missing;
    double given[PLAN_NUMBERS]; /* those not missing; epsilon is the spec's */
    double share; /* the true one; NaN: of yes/no the hardest to tell, else a
                     small one */
    bool all;     /* values at once, not one of them */
    hsy_search search; /* of a discovery */
    double prior;      /* what an observer believes beforehand */
    uint64_t answers;  /* fresh ones of one person */
    uint64_t curators; /* of whom each is trusted by some; 0: none are asked
                          for. At most as many as people */
};

/* The question at some epsilon. */
struct plan_case {
    hsy_scheme_info info;
    double unit; /* of a mean: the width of its range; of a share 1 */
    hsy_accuracy accuracy;
    hsy_stage stages[HSY_STAGES_MAX]; /* of a discovery */
    size_t nstages;                   /* 0: it is none */
};

/* What follows from a plan beside its four numbers. */
struct plan_facts {
    double error, largest; /* to be expected of a share, and of all d */
    double local_sd;       /* by noise alone; of shares at the mean one, 1/d, */
    double stderr_0;       /* and at a share of 0 */
    double central_sd;     /* of a trusted curator */
    double limit_sd;       /* of the best mechanism known */
    double central_n, central_alpha;
    double curators_sd, curators_n; /* of several; about, by the normal law */
    double posterior;         /* what one answer lets an observer believe */
    double posterior_answers; /* and all of them */
    bool shares, discovery;
};

struct plan {
    enum plan_why why;
    struct plan_case at; /* at the epsilon given or found */
    bool there[HSY_BOUNDS];
    double found[HSY_BOUNDS];    /* the missing number by each bound */
    double number[PLAN_NUMBERS]; /* all four, the missing one by the first
                                    bound that is there */
    struct plan_facts facts;
};

/* Find the missing number. Of a failure only out->why counts, and out->at.info
 * if the mechanism is a curator's. */
hsy_status plan_solve(struct plan *out, const struct plan_question *q,
                      hsy_error *err);

#define PLAN_CURVE 25u /* 10^2 to 10^8 people, four a decade */

/* The error against people, at one epsilon. */
struct plan_curve {
    enum plan_why why;
    double epsilon;
    double people[PLAN_CURVE], alpha[PLAN_CURVE];
};

/* The first bound that there is: a theorem where one is known. */
hsy_bound plan_bound(const struct plan *p);

/* A curve of a question that plan_solve has solved, by plan_bound. */
hsy_status plan_curve(struct plan_curve *out, const struct plan *p,
                      const struct plan_question *q, uint64_t nano_epsilon,
                      hsy_error *err);

/* The mechanism that a discovery is planned with if none is named. */
const char *plan_searcher(void);

/* The chance that whoever believed something with chance `prior` can be brought
 * to believe it with, by answers of so much epsilon together. */
double plan_posterior(double prior, double epsilon);

/* ---- A task as its days go by (task_rounds.c) ---------------------------- */

#define PLAN_TASK_ROWS 64u

struct plan_task_how {
    uint64_t devices, days; /* at least 1 each */
    double share;           /* the true one; NaN: 0.5 */
};

/* What to expect after 1, 2, 4 ... rounds, and after all that end in time. */
struct plan_task {
    enum plan_why why;
    hsy_release_info release;
    hsy_scheme_info info;
    double share;
    uint64_t devices; /* that take part */
    double taking;    /* the share of them that does */
    uint64_t rounds;  /* that end in time */
    uint32_t days;    /* of one */
    uint32_t length;  /* of the task, in days */
    bool over;        /* it ends before the days that are asked for */
    struct plan_task_row {
        uint64_t rounds, reports;
        double sd[2]; /* of the people asked, and of the population */
    } row[PLAN_TASK_ROWS];
    size_t nrows;
};

/* out->release points into the release. Of a failure all counts but the rows.
 */
hsy_status plan_task(struct plan_task *out, const hsy_release *release,
                     const struct plan_task_how *how, hsy_error *err);

/* ---- A batch of shuffled reports (shuffled_batch.c) ---------------------- */

struct plan_batch_ask {
    hsy_spec spec;   /* its epsilon is the report's, */
    double central;  /* unless that of the batch is given, above 0 */
    hsy_batch batch; /* the smallest that is passed on */
};

/* Standard errors of a small share, or of the mean that is hardest to tell, by
 * noise alone: of the batch, and of local reports and a curator's release that
 * promise its epsilon. */
struct plan_batch {
    enum plan_why why;
    hsy_scheme_info info; /* of the reports */
    hsy_worth worth;
    double delta;
    const char *local; /* mechanism of local reports */
    double shuffled_sd, local_sd, central_sd;
};

hsy_status plan_batch(struct plan_batch *out, const struct plan_batch_ask *ask,
                      hsy_error *err);

/* The mechanism of a curator's release that hides a person's truth, or with
 * add_remove also whether the person is there at all. */
const char *plan_curator(bool add_remove);

/* ---- Figures (plan_figures.c) -------------------------------------------- */

/* The caller frees *svg in each. */

/* By hsy_bound. */
extern const char *const plan_bound_names[];

/* Error against people, for four epsilons; a failure is also in p->why. */
hsy_status plan_figure(char **svg, size_t *len, struct plan *p,
                       const struct plan_question *q, hsy_error *err);

/* What an answer tells, against epsilon. */
hsy_status plan_learned_figure(char **svg, size_t *len, hsy_error *err);

#endif
