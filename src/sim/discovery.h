/*
 * discovery.h - how well frequent strings are found among people whose strings
 * are known.
 *
 * Truth v of a distribution stands for a string of M random bits, others each
 * run. A run draws people, lets each report to one group, searches, and holds
 * what was found against the k truths that most people hold.
 */
#ifndef DISCOVERY_H
#define DISCOVERY_H

#include "study.h"

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

struct discovery {
    const struct study_people *people; /* of values from 0 on */
    hsy_spec spec;                     /* of pem; pool-seed 0: another a run */
    hsy_search search;
    uint64_t users, runs, seed;
    unsigned threads; /* from 1 on; the numbers do not depend on it */

    /* Hash functions of each person's own, which no report could carry: the
     * support of every candidate is drawn by itself. */
    bool ideal;

    /* Called by one thread at a time with how many people have been searched;
     * may be NULL. */
    void (*tick)(void *ctx, uint64_t users);
    void *ctx;
};

struct discovery_result {
    hsy_info info;
    size_t groups;
    double mean[DISCOVERY_METRICS];  /* over runs */
    double error[DISCOVERY_METRICS]; /* its standard error, NaN of one run */
};

hsy_status discovery_run(struct discovery_result *out,
                         const struct discovery *how, hsy_error *err);

#endif
