/* internal.h - what the files of a study share. */
#ifndef SIM_STUDY_INTERNAL_H
#define SIM_STUDY_INTERNAL_H

#include "sim/study/study.h"

#include <pthread.h>

/* ---- Releases (study_models.c) ------------------------------------------- */

/* Where releases take their noise: that of curator i is lane `lane` + i. */
struct study_curators {
    uint64_t n, seed, lane;
};

/* Add their releases up in t, which is empty. own: memory of a tally. */
hsy_status study_release(hsy_tally *t, int64_t *own, const hsy_scheme *s,
                         const struct study_truths *truths,
                         const struct study_curators *curators, hsy_error *err);

/* ---- Shuffling (study_shuffle.c) ----------------------------------------- */

/* The largest epsilon of a report that a batch of them makes the (epsilon,
 * delta) that is asked for, into spec, whose epsilon is that one; its mechanism
 * is chosen if it is auto. *bound says by which bound. */
hsy_status study_shuffle(hsy_spec *spec, const char **bound,
                         const hsy_batch *batch, hsy_error *err);

/* ---- Laws (predicted.c) -------------------------------------------------- */

/* n times the variance of the mean if all hold x, a share of the range, under a
 * mechanism for means. */
double study_mean_law(const hsy_scheme_info *info, double x);

/* ---- Measuring (measure.c) ----------------------------------------------- */

/* Memory of one who measures. */
struct study_bench {
    hsy_estimate *estimates;
    double *values, *shares, *truths, *variances;
    uint32_t *found, *wanted, *ranks;
};

/* What a run is held against. */
#define STUDY_LAWS_OF_MEAN 6u

struct study_aim {
    size_t top;
    bool best; /* there is something to be held against: local noise */
    /* A mean: study_mean_law of each truth, for the mechanism itself and then
     * for the best ones known. */
    const double *laws[STUDY_LAWS_OF_MEAN];
};

size_t study_bench_bytes(const hsy_scheme *s, const hsy_scheme_info *info,
                         size_t top);
void study_bench_open(struct study_bench *b, struct owned *memory,
                      const hsy_scheme_info *info, size_t top);

/* The estimates of one run against its people. */
hsy_status study_measure(double metrics[STUDY_METRICS], struct study_bench *b,
                         const hsy_scheme *s, const hsy_scheme_info *info,
                         const hsy_tally *t, const struct study_truths *truths,
                         const struct study_aim *aim, hsy_error *err);

/* ---- Figures (study_figures.c, histogram.c) ------------------------------ */

/* What a legend calls a row: its mechanism, and with whom noise is added if
 * rows differ in that. */
#define STUDY_LINE_NAME 80u
void study_line_name(char name[STUDY_LINE_NAME], const struct study_result *row,
                     bool models);

/* True shares beside those of up to STUDY_SHOWN_ROWS rows, all kept. */
hsy_status study_histogram(char **svg, size_t *len,
                           const struct study_result *rows, size_t n,
                           hsy_error *err);

/* ---- Work (work.c) ------------------------------------------------------- */

/* A run whose parts are not all done. */
struct study_slot {
    int64_t *memory; /* of the tally; NULL: no part is done yet */
    hsy_tally tally;
    unsigned done; /* parts */
};

struct study_job {
    const struct study *study;
    struct study_result *out;
    hsy_spec spec;   /* the study's, with a mechanism */
    uint64_t *codes; /* of the people's truths */
    double *laws;    /* STUDY_LAWS_OF_MEAN times as many, of a mean */
    struct study_aim aim;
    uint64_t people_seed, report_seed;
    bool pooled; /* public hashes, another set each run */
    size_t chunk;
    uint64_t chunks; /* of a run */
    unsigned parts;  /* of a run */

    pthread_mutex_t lock; /* of what follows */
    struct study_slot *slots;
};

/* How many threads have something to do, and bytes that each takes. */
unsigned study_workers(const struct study_job *job);
size_t study_work_bytes(const struct study_job *job, const hsy_scheme *s);

/* All runs: fills in out->each, and what is kept of the first. */
hsy_status study_work(struct study_job *job, hsy_error *err);

#endif
