/* internal.h - what the files of a simulated discovery share. */
#ifndef SIM_DISCOVERY_INTERNAL_H
#define SIM_DISCOVERY_INTERNAL_H

#include "sim/discovery/discovery.h"
#include "sim/study/study.h"

/* All runs, and what the threads share. */
struct discover_job {
    const struct discovery *how;
    const struct discover_form *form;
    struct discovery_result *out;
    hsy_stage stages[HSY_STAGES_MAX];
    size_t nstages;
    unsigned bits;   /* of a string */
    size_t width;    /* words of a code */
    uint64_t *words; /* codes of a puzzle's words; owned */
    hsy_puzzle_plan puzzle;
    uint64_t users;   /* people of a run, of all its rounds */
    size_t top, most; /* strings wanted; prefixes kept, of any stage */
};

/* Memory for reports that are made one by one. */
struct discover_desk {
    hsy_scheme *s;
    int64_t *memory;
    hsy_tally tally;
    uint64_t *codes; /* of those who report */
    uint8_t *reports;
    void *scratch; /* of the search */
};

/* What a thread works with. */
struct discover_worker {
    struct discover_job *job;
    struct owned owned;       /* all of its memory */
    uint64_t *counts, *codes; /* of the people's truths */
    hsy_candidate *found;
    double *sizes;   /* counts again */
    uint32_t *top;   /* truths that most people hold, first the largest */
    uint32_t *ranks; /* places in top of what was found, from 1 on */
    struct discover_desk desk;
    void *own; /* of the form */
};

/* How people are asked. plan fills in job's stages, bits, users and what it
 * knows of the result; search draws people, whose counts and codes it leaves in
 * the worker, asks them and finds *count strings. */
struct discover_form {
    hsy_status (*plan)(struct discover_job *job, hsy_error *err);
    hsy_status (*open)(struct discover_worker *w, hsy_error *err);
    hsy_status (*search)(struct discover_worker *w, uint64_t run, size_t *count,
                         hsy_error *err);
    unsigned lanes; /* of a run */
};

extern const struct discover_form discover_in_batches; /* sim_batches.c */
extern const struct discover_form discover_puzzle;     /* sim_puzzle.c */

/* Lanes of a run, or of a batch of it, and one that is unused: with other
 * lanes a seed would give other numbers. */
enum discover_lane {
    DISCOVER_PEOPLE,
    DISCOVER_CODES,
    DISCOVER_SECRET,
    DISCOVER_PUBLISHED,
    DISCOVER_LANES = 5
};

/* A stream of run number `which` (or batch, of all). People and strings are the
 * same at every epsilon. */
void discover_stream(const struct discover_worker *w, hsy_stream *st,
                     uint64_t which, enum discover_lane lane);

/* The people of a run, all at once; the strings that their truths stand for. */
void discover_people(struct discover_worker *w, uint64_t run);
void discover_codes(struct discover_worker *w, uint64_t run);

/* A desk but for its scratch; and everybody reports there, under the scheme of
 * the run. */
hsy_status discover_desk_open(struct discover_worker *w, hsy_error *err);
hsy_status discover_report(struct discover_worker *w, uint64_t run,
                           hsy_error *err);

/* One round: the stages of pem, and its scheme with the hashes of a run. */
hsy_status discover_plan(struct discover_job *job, hsy_error *err);
hsy_status discover_scheme(const struct discover_worker *w, hsy_scheme *s,
                           uint64_t run, hsy_error *err);

#endif
