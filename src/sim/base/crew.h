/*
 * crew.h - work in many items, shared out to threads.
 *
 * Threads take items in order, one at a time. The first failure ends the work:
 * nobody takes another item.
 */
#ifndef SIM_BASE_CREW_H
#define SIM_BASE_CREW_H

#include "hearsay.h"

#include <stddef.h>
#include <stdint.h>

struct crew {
    uint64_t items;
    unsigned threads; /* from 1 on */
    size_t worker;    /* bytes of what a thread works with, zero at first */
    void *job;        /* what they share */

    /* A worker is closed whether or not it could be opened. */
    hsy_status (*open)(void *worker, void *job, hsy_error *err);
    hsy_status (*work)(void *worker, uint64_t item, hsy_error *err);
    void (*close)(void *worker);

    /* After each item, by one thread at a time; may be NULL. */
    void (*tick)(void *job);
};

/* All items. This thread works too, so that a machine which gives no more does
 * it alone. */
hsy_status crew_work(const struct crew *crew, hsy_error *err);

/* Means over runs of n metrics, each[run * n + metric], in the order of runs;
 * and their standard errors, NaN of one run. */
void crew_average(double *mean, double *error, const double *each,
                  uint64_t runs, size_t n);

#endif
