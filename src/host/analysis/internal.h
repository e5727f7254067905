/* internal.h - what the files of an analysis share. */
#ifndef HOST_ANALYSIS_INTERNAL_H
#define HOST_ANALYSIS_INTERNAL_H

#include "host/analysis/analysis.h"
#include "host/base/host_fail.h"

#define ANALYSIS_ODD 1e-6 /* what chance does so seldom is not chance */
#define ANALYSIS_UNLESS "the collector and all shufflers work together"
#define ANALYSIS_FEW 100u /* below this, intervals are rough at best */

/* The values asked for. Owns names and codes. */
struct analysis_asked {
    hsy_analysis_text *names; /* NULL: they are called by kind and place */
    size_t nnames;
    uint64_t *codes; /* NULL: the whole domain, or yes and no */
    size_t count;
    bool whole; /* codes pick from the whole domain, which is post-processed */
};

/* An analysis that is being made. Views, but for what is asked. */
struct analysis_job {
    hsy_analysis_result *out;
    const hsy_analysis_request *request;
    hsy_analysis_tally t, against; /* with info; scheme NULL: no other */
    struct analysis_asked asked;
    struct analysis_evidence *own, *its;
    double shared; /* kept noise in common with the other of two */
};

/* A result that has nothing but what the request says. */
void analysis_begin(hsy_analysis_result *out, const hsy_analysis_request *q);

/* ---- asked.c: which values, and what they are called --------------------- */

/* Names and codes of what the request wants of t. */
hsy_status analysis_ask(struct analysis_asked *asked,
                        const hsy_analysis_tally *t,
                        const hsy_analysis_request *request, hsy_error *err);
void analysis_asked_clear(struct analysis_asked *asked);

/* Where the point of value i stands. */
static inline size_t analysis_place(const struct analysis_asked *asked,
                                    size_t i)
{
    return asked->whole ? (size_t)asked->codes[i] : i;
}

/* What value `place` is called; maybe in room. */
#define ANALYSIS_NAME ANALYSIS_BIN
hsy_analysis_text analysis_name(char room[ANALYSIS_NAME],
                                const struct analysis_asked *asked,
                                const hsy_scheme_info *info, uint32_t place);

/* Names for rows that have a place, all in memory that the result owns. */
hsy_status analysis_name_rows(hsy_analysis_result *out,
                              const struct analysis_asked *asked,
                              hsy_error *err);

/* ---- Ways to make rows, one for each hsy_analysis ------------------------ */

hsy_status analysis_by_points(struct analysis_job *j, hsy_error *err);
hsy_status analysis_by_density(struct analysis_job *j, hsy_error *err);
hsy_status analysis_by_rappor(struct analysis_job *j, hsy_error *err);
hsy_status analysis_by_search(struct analysis_job *j, hsy_error *err);
hsy_status analysis_by_tuple(struct analysis_job *j, hsy_error *err);
hsy_status analysis_ranges(struct analysis_job *j, hsy_error *err);
hsy_status analysis_covariance(struct analysis_job *j, hsy_error *err);

/* Shares that are estimated together have no differences. */
hsy_status analysis_no_difference(const struct analysis_job *j, hsy_error *err);

/* The level of rows of which there are `of` before the largest are taken. */
double analysis_job_level(const struct analysis_job *j, size_t of);

/* The largest rows alone, if the request says so. */
void analysis_cut(struct analysis_job *j);

/* The most likely shares of all d values, for HSY_POST_EM, to be freed. */
hsy_status analysis_density_post(double **shares, struct analysis_job *j,
                                 hsy_error *err);

/* Quantiles beside the shares of bins; none where there are none of it. */
hsy_status analysis_quantiles(struct analysis_job *j, hsy_error *err);

/* ---- shuffled.c: what the smallest batch is worth ------------------------ */

hsy_status analysis_worth(struct analysis_job *j, hsy_error *err);

/* Whether batches are worth what was promised of them, or nothing was. */
bool analysis_kept(const hsy_analysis_result *r);

/* ---- doubts.c ------------------------------------------------------------ */

hsy_status analysis_note(hsy_analysis_result *out,
                         const hsy_analysis_note *note, hsy_error *err);

/* What is odd about a tally, of which there are points. which: 1 of the one
 * that is taken off. */
hsy_status analysis_doubt(struct analysis_job *j, uint32_t which,
                          hsy_error *err);
hsy_status analysis_doubt_few(struct analysis_job *j, uint32_t which,
                              hsy_error *err);

/* Intervals that miss every share there is; miss: what one may. */
hsy_status analysis_doubt_outside(struct analysis_job *j, double miss,
                                  hsy_error *err);

/* Adds a note if the rows are of all values and their sum is far from 1. */
hsy_status analysis_note_sum(struct analysis_job *j, hsy_error *err);

/* Adds a note if most simultaneous intervals cover all of [0, 1]. */
hsy_status analysis_note_wide(struct analysis_job *j, hsy_error *err);

/* Of people who answered again, and of two tallies. */
hsy_status analysis_notes(struct analysis_job *j, hsy_error *err);

#endif
