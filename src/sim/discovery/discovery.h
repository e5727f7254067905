/*
 * discovery.h - how well frequent strings are found among people whose strings
 * are known.
 *
 * Truth v of a distribution stands for a string of M random bits, others each
 * run, or for the number v itself. A run draws people, asks each once,
 * searches, and holds what was found against the k truths that most people
 * hold.
 */
#ifndef SIM_DISCOVERY_DISCOVERY_H
#define SIM_DISCOVERY_DISCOVERY_H

#include "sim/study/study.h"

enum discovery_metric {
    DISCOVERY_F1 = 0,
    DISCOVERY_NCR,
    DISCOVERY_NDCG,
    DISCOVERY_PRECISION,
    DISCOVERY_RECALL,
    DISCOVERY_FOUND, /* strings returned */
    DISCOVERY_METRICS
};

/* As in csv: "f1", "ncr", ... */
const char *discovery_metric_name(enum discovery_metric metric);

/* How many people each batch has, against the first: as many; growing evenly to
 * three times as many; or falling to a third. */
enum discovery_sizes {
    DISCOVERY_EQUAL = 0,
    DISCOVERY_RISING,
    DISCOVERY_DIMINISHING
};

/*
 * The interactive form: batch i, people of its own, reports the first
 * first + i step bits, or "other" if these extend none of the prefixes that
 * batch i-1 has brought up, by an oracle for values. Each of the rounds has
 * fresh people, and their scores are averaged before anything is chosen.
 */
struct discovery_batches {
    bool asked;
    uint64_t bits, step, first; /* first may be 0 */
    enum discovery_sizes sizes;
    uint64_t rounds; /* at least 1 */
};

struct discovery {
    const struct study_people *people; /* of values from 0 on, or of strings */
    bool as_strings; /* the people's numbers are their strings */
    bool as_counted; /* the people of a file as they are, not a sample */
    hsy_spec spec;   /* of pem, or in batches of the oracle, without d;
                        pool-seed 0: another each run */
    hsy_search search;
    struct discovery_batches
        batches;                /* search: top, keep, max_candidates set */
    uint64_t users, runs, seed; /* users: of a round */
    unsigned threads;           /* from 1 on; the numbers do not depend on it */

    /* Hash functions of each person's own, which no tally could hold: the
     * support of every candidate is drawn by itself. */
    bool ideal;

    /* Called by one thread at a time with how many people have been searched;
     * may be NULL. */
    void (*tick)(void *ctx, uint64_t users);
    void *ctx;
};

struct discovery_result {
    const char *data;      /* the caller's name of the people */
    const char *mechanism; /* the oracle; "ideal" */
    double epsilon;
    uint64_t users;  /* of a round */
    uint64_t domain; /* different truths */
    uint64_t bits, step, top, runs;
    size_t groups; /* or batches, */
    uint64_t
        people[HSY_STAGES_MAX]; /* and how many each of these has a round */
    bool at_once;               /* all reports of a batch are drawn at once */
    double mean[DISCOVERY_METRICS];  /* over runs */
    double error[DISCOVERY_METRICS]; /* its standard error, NaN of one run */
    double *each;                    /* runs times DISCOVERY_METRICS */
};

/* On failure err->field names the option to change. Close it either way. */
hsy_status discovery_run(struct discovery_result *out,
                         const struct discovery *how, hsy_error *err);
void discovery_close(struct discovery_result *out);

/* Whether all of this makes sense, without doing it. */
hsy_status discovery_check(const struct discovery *how, hsy_error *err);

/*
 * NDCG of all rows against epsilon, a line for each data and mechanism
 * (discovery_figures.c). HSY_E_RANGE if there are too many lines for one
 * figure.
 */
hsy_status discovery_svg(char **svg, size_t *len,
                         const struct discovery_result *rows, size_t n,
                         hsy_error *err);

#endif
