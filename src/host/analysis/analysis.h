/*
 * analysis.h - a tally becomes estimates with errors, whoever asked.
 *
 * What stands behind hsy_analysis_run (hearsay/host.h), for `hearsay estimate`,
 * `hearsay discover`, the collector's figures and simulations. How things are
 * asked for and what is said about a failure is the caller's business. Memory
 * that a function returns is to be freed with free().
 */
#ifndef HOST_ANALYSIS_ANALYSIS_H
#define HOST_ANALYSIS_ANALYSIS_H

#include "hearsay/host.h"
#include "host/base/table.h"

#include <stdio.h>

/* A view on words that hold a tally of info's scheme already. */
void analysis_view(hsy_tally *t, const hsy_scheme_info *info, int64_t *words);

/* ---- Points (rows.c) ----------------------------------------------------- */

/* Evidence for codes, or for the whole domain if they are NULL: count points.
 * HSY_E_EMPTY if there are no reports. */
hsy_status analysis_points(hsy_evidence **points, const hsy_analysis_tally *t,
                           const uint64_t *codes, size_t count, hsy_error *err);

/* What a share `lying` of all devices can have done to each of them.
 * HSY_E_UNKNOWN: the mechanism has no bound. */
hsy_status analysis_bounds(hsy_poison_bound **bounds,
                           const hsy_analysis_tally *t,
                           const hsy_evidence *points, size_t count,
                           double lying, hsy_error *err);

/* What is known of one value; bound NULL: nothing is assumed of liars. */
struct analysis_known {
    const hsy_evidence *point;
    const hsy_poison_bound *bound;
    double shared; /* with the other of two: hsy_attend_both */
};

/* The estimate of a value, or if other is not NULL the difference to another
 * tally's; its place is the caller's. Its interval is that of honest devices;
 * liars have an interval of their own. *lying grows to the largest by which
 * that is wider, in the row's units. */
hsy_status analysis_row(hsy_analysis_row *row, hsy_poison_bound *lying,
                        const hsy_scheme_info *info,
                        const struct analysis_known *own,
                        const struct analysis_known *other,
                        const hsy_confidence *how, hsy_error *err);

/* All d shares by EM, with intervals if *fit says so, in the order of rows: of
 * a yes/no question yes comes first. *count is d. */
hsy_status analysis_density(hsy_analysis_row **rows, size_t *count,
                            hsy_density_fit *fit, const hsy_analysis_tally *t,
                            const hsy_density_how *how, hsy_error *err);

/* Orders of rows for qsort: larger first, by value or by size; of equals the
 * one that stands first. */
int analysis_order_value(const void *a, const void *b);
int analysis_order_change(const void *a, const void *b);

/* The largest first, at most `top`, of *count rows; of differences those
 * furthest from 0. */
void analysis_top(hsy_analysis_row *rows, size_t *count, uint64_t top,
                  bool difference);

/* What is not among `count` shares, of these codes, of which each passed
 * `from`. Of liars nothing is said: they can have changed all of these. how: of
 * rows that were not selected. */
hsy_status analysis_rest(hsy_estimate *rest, const hsy_analysis_tally *t,
                         const uint64_t *codes,
                         const struct analysis_known *known, size_t count,
                         const hsy_selection *from, const hsy_confidence *how,
                         hsy_error *err);

/* An interval at another level, by the ratio of normal quantiles: for a figure
 * that draws only some of the rows. */
hsy_estimate analysis_at_level(const hsy_estimate *est, double from, double to);

/* The level of the `top` largest of `of` rows. Yes and no are one share, and
 * neither is a selection. */
double analysis_level(const hsy_scheme_info *info, double level, uint64_t top,
                      size_t of);

/* What the first `count` of `total` rows, the largest first, had to pass. */
hsy_selection analysis_selection(const hsy_scheme_info *info,
                                 const hsy_analysis_row *rows, size_t count,
                                 size_t total);

/* A mean is estimated as a share of its range; a difference has no zero. */
void analysis_rescale(const hsy_scheme_info *info, hsy_estimate *est,
                      bool difference);

/* What a share of 1 is in an estimate's units: the width of a mean's range. */
double analysis_unit(const hsy_scheme_info *info);

/* The p-value of the tests that find liars; NaN for a mechanism whose reports
 * do not show them. */
double analysis_lying_p(const hsy_analysis_tally *t);

/* Two tallies can be compared if they ask the same; how they ask may differ.
 * NULL, or what they differ in. */
const char *analysis_differ(const hsy_analysis_tally *a,
                            const hsy_analysis_tally *b);

/* ---- Results ------------------------------------------------------------- */

/* What is known of the values asked for: points in the order of candidates, or
 * of the domain. Zero it to begin; a run leaves it for the next one of the same
 * tally, candidates and share of liars. */
struct analysis_evidence {
    hsy_evidence *points;     /* owned */
    hsy_poison_bound *bounds; /* owned; NULL: there are none */
    size_t count;
    bool complete; /* the whole domain, in order */
};

void analysis_evidence_clear(struct analysis_evidence *e);

/* hsy_analysis_run with evidence that is kept; its is that of `against`. */
hsy_status analysis_run(hsy_analysis_result *out, const hsy_analysis_tally *t,
                        struct analysis_evidence *own,
                        const hsy_analysis_tally *against,
                        struct analysis_evidence *its,
                        const hsy_analysis_request *request, hsy_error *err);

/* Bytes that a run for all values of a scheme takes, roughly. */
size_t analysis_bytes(const hsy_scheme *s, const hsy_scheme_info *info);

/* Names in the order of the library's enumerations, NULL at the end. */
extern const char *const analysis_interval_names[];
extern const char *const analysis_post_names[];
extern const char *const analysis_target_names[];
extern const char *const analysis_density_names[];
extern const char *const analysis_correction_names[];
extern const char *const analysis_method_names[];

/* What its intervals are; "none". */
const char *analysis_interval(const hsy_analysis_result *r);

/* A sentence that belongs to the result, no doubt about it; and the doubts that
 * make it implausible. */
static inline bool analysis_is_note(const hsy_analysis_note *note)
{
    return note->code < HSY_DOUBT_SUPPORT || note->code >= HSY_NOTE_SUM;
}

static inline bool analysis_implausible(const hsy_analysis_note *note)
{
    return (note->code >= HSY_DOUBT_SUPPORT && note->code <= HSY_DOUBT_SEEDS) ||
           note->code == HSY_DOUBT_DETECTED;
}

/* Whether tallies of the scheme are searched for strings that nobody listed. */
static inline bool analysis_searches(const hsy_scheme_info *info)
{
    return info->analysis == HSY_ANALYSIS_SEARCH ||
           info->analysis == HSY_ANALYSIS_PUZZLE ||
           info->analysis == HSY_ANALYSIS_STAGE;
}

/* Rows are strings that were found. */
static inline bool analysis_searched(const hsy_analysis_result *r)
{
    return (r->columns & 1u << HSY_COLUMN_SIGNIFICANT) != 0;
}

/* A result as a table: rows, and after them what is not among them. A number
 * may be NaN: none. */
size_t analysis_table_rows(const hsy_analysis_result *r);
struct table_cell analysis_cell(const hsy_analysis_result *r, size_t row,
                                hsy_analysis_column column);

/* What a caller knows of a result besides; zeros: nothing. */
struct analysis_more {
    const char *note;  /* one more, or NULL */
    const char *title; /* of a drawing; NULL: what is estimated */
    const char *about; /* further sentences for who cannot see it, or NULL */
    const struct analysis_said {
        const char *name, *text;
    } * said; /* further columns of CSV, the same in each row */
    size_t nsaid;
};

/* hsy_analysis_csv with further columns. */
hsy_status analysis_csv(char **csv, size_t *len, const hsy_analysis_result *r,
                        const struct analysis_more *more, hsy_error *err);

/* The name of the rows in JSON; and all its members, into an object that is
 * open. note: one more, or NULL. */
struct put;
const char *analysis_rows_name(const hsy_analysis_result *r);
void analysis_put(struct put *p, const hsy_analysis_result *r,
                  const char *note);

/* Only some of them: rows under another name, and what liars can have done
 * (zeros if nothing is assumed of them). */
void analysis_put_rows(struct put *p, const char *name,
                       const hsy_analysis_result *r);
void analysis_put_lying(struct put *p, const hsy_analysis_result *r);

/* ---- Bins (bins.c) ------------------------------------------------------- */

#define ANALYSIS_DECIMAL 22u /* 19 digits, sign, point, NUL */

/* Units of 10^-scale as a decimal without zeros at its end, somewhere in text.
 */
const char *analysis_decimal(char text[ANALYSIS_DECIMAL], int64_t units,
                             uint32_t scale);

/* The same as the nearest double: exact division by 10^scale, where a product
 * with 10^-scale would turn 480 into 480.00000000000006. */
double analysis_number(double units, uint32_t scale);

/* Edge i of d equal bins: the least number that does not lie below it. */
int64_t analysis_edge(const hsy_scheme_info *info, uint32_t i);

#define ANALYSIS_BIN (2 * ANALYSIS_DECIMAL + 1)

/* What a bin is called: "18..25". */
void analysis_bin(char text[ANALYSIS_BIN], const hsy_scheme_info *info,
                  uint32_t place);

/* A quantile, 0 < q < 1, in the range's units. */
hsy_status analysis_quantile(hsy_estimate *est, const hsy_scheme_info *info,
                             const hsy_ranges *r, double q,
                             const hsy_confidence *how, hsy_error *err);

/* ---- Strings that nobody listed (found.c) -------------------------------- */

struct analysis_wanted {
    hsy_search search;
    hsy_confidence how; /* its comparisons do not matter */
    bool significant;   /* strings only that chance hardly makes; search has
                           the same for prefixes too */
    bool simultaneous;  /* intervals of all candidates of a stage hold */
    bool all_stages;    /* pem: rows of every stage, not of the last alone */
    bool all;           /* sfp: chance or not */
    uint64_t threshold; /* sfp: pairs of an offset that go on */
    void (*tick)(void *ctx, uint64_t stage, size_t stages); /* pem: one is done;
                                                               may be NULL */
    void *ctx;
};

/* A string, or a prefix of one. */
struct analysis_found {
    size_t stage; /* from 0 */
    hsy_candidate found;
    hsy_estimate est;
    double level; /* that its interval has, adjusted for selection */
    char name[HSY_SPELL_BITS + 16]; /* symbols, and the bits after them */
    size_t name_len;
};

struct analysis_search {
    hsy_stage stage[HSY_STAGES_MAX];
    size_t stages;
    size_t offsets; /* of sfp, over which reports are split; else 0 */
    struct analysis_found *rows; /* owned */
    size_t count;
    uint64_t found;      /* of the last stage */
    uint64_t candidates; /* that these were selected from */
    double level;        /* of their intervals */
    hsy_estimate rest;   /* what is not among them */
    uint32_t number;     /* of the stage, in batches; 0: all at once */
    bool significant;    /* rows are only what chance hardly makes */
};

/*
 * Search a tally of pem, sfp or stage; HSY_E_UNKNOWN for another mechanism.
 * HSY_E_EMPTY with the group or offset that has no reports in err->at;
 * HSY_E_RANGE with the field of what is wanted, as the library says it.
 */
hsy_status analysis_search(struct analysis_search *out,
                           const hsy_analysis_tally *t,
                           const struct analysis_wanted *w, hsy_error *err);
void analysis_search_clear(struct analysis_search *s);

/* What survives one stage of a search in batches. */
hsy_status analysis_survivors(hsy_stage *stage, hsy_candidate **found,
                              size_t *count, const hsy_analysis_tally *t,
                              const hsy_search *search, hsy_error *err);

/* What reports are split over. */
size_t analysis_groups(const struct analysis_search *s);

/* The share that is found but for a chance of miss at each stage. */
double analysis_reach(const struct analysis_search *s,
                      const hsy_analysis_tally *t, double miss);

/* ---- RAPPOR (rappor.c) --------------------------------------------------- */

/* A tally of the mechanism rappor as its decoder takes it. Owns its bits. */
struct analysis_rappor {
    hsy_rappor_law law;
    hsy_rappor_data data;
    uint16_t *bits; /* [candidate][cohort][hash] */
};

/* What the decoder is told of a scheme; counts and bits are yet to come. */
hsy_rappor_data analysis_rappor_data(const hsy_scheme_info *info,
                                     size_t candidates);

/* codes of the candidates, NULL: the whole domain. */
hsy_status analysis_rappor_open(struct analysis_rappor *r,
                                const hsy_analysis_tally *t,
                                const uint64_t *codes, size_t candidates,
                                hsy_error *err);
void analysis_rappor_clear(struct analysis_rappor *r);

/* How many times the variance of a bit's count is what it would be if everybody
 * had reported once: hsy_rappor_options. */
double analysis_rappor_dispersion(const hsy_analysis_tally *t,
                                  hsy_target target);

/* Shares of all candidates in their order. */
hsy_status analysis_rappor_decode(hsy_rappor_share **shares,
                                  hsy_rappor_summary *summary,
                                  const hsy_rappor_data *data,
                                  const hsy_rappor_options *how,
                                  hsy_error *err);

/* RAPPOR's own files, decoded: the detected ones of named candidates, or all.
 * Errors as of hsy_rappor_decode. */
hsy_status analysis_rappor_files(hsy_analysis_result *out,
                                 const hsy_rappor_law *law,
                                 const hsy_rappor_data *data,
                                 const hsy_analysis_text *names, bool all,
                                 const hsy_analysis_request *request,
                                 hsy_error *err);

/* ---- For people ---------------------------------------------------------- */

/* A result as a table with its head (result_table.c). */
void analysis_print(FILE *to, const hsy_analysis_result *r);

/* The same as a figure (result_figure.c). t: the tally behind it, for a
 * likelihood; NULL where none is asked for. As plot_svg. */
hsy_status analysis_svg(char **svg, size_t *len, const hsy_analysis_result *r,
                        const hsy_analysis_tally *t,
                        const struct analysis_more *more, hsy_error *err);

/* ---- Edges of bins ------------------------------------------------------- */

/* The bin whose edges a number of the range lies between, *low and *low + 1, or
 * the edge itself (ranges.c). HSY_E_FORMAT if it is no number, HSY_E_RANGE if
 * it lies outside, HSY_E_MISMATCH if it is inside a bin: nothing is rounded in
 * silence. */
hsy_status analysis_edge_find(uint32_t *low, const hsy_scheme_info *info,
                              const char *text);

#endif
