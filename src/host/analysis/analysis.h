/*
 * analysis.h - a tally becomes estimates with errors, whoever asked.
 *
 * What `hearsay estimate`, `hearsay discover` and the collector's figures have
 * in common: from a tally and the values asked for to rows of numbers. How they
 * are asked for, what is said about a failure and how rows are written is the
 * caller's business. Memory that a function returns is to be freed with free().
 */
#ifndef HOST_ANALYSIS_ANALYSIS_H
#define HOST_ANALYSIS_ANALYSIS_H

#include "hearsay.h"

/* A tally of a scheme; a view. */
struct shares_tally {
    const hsy_scheme *scheme;
    const hsy_scheme_info *info;
    const hsy_tally *tally;
    const hsy_attendance *attended; /* NULL: nobody is in it twice */
    const hsy_scheme *permanent;    /* of the kept answers; NULL: as the scheme
                                       says */
};

struct shares_row {
    hsy_estimate est; /* shares as fractions, a mean in the range's units */
    double low_lying, high_lying; /* its interval, wider by what liars can do;
                                     only where something is assumed of them */
    double post;
    double p_value;
    uint32_t place; /* of the value among those asked for */
};

/* A view on words that hold a tally of info's scheme already. */
void shares_view(hsy_tally *t, const hsy_scheme_info *info, int64_t *words);

/* ---- Points (rows.c) ----------------------------------------------------- */

/* Evidence for codes, or for the whole domain if they are NULL: count points.
 * HSY_E_EMPTY if there are no reports. */
hsy_status shares_points(hsy_evidence **points, const struct shares_tally *t,
                         const uint64_t *codes, size_t count, hsy_error *err);

/* What a share `lying` of all devices can have done to each of them.
 * HSY_E_UNKNOWN: the mechanism has no bound. */
hsy_status shares_bounds(hsy_poison_bound **bounds,
                         const struct shares_tally *t,
                         const hsy_evidence *points, size_t count, double lying,
                         hsy_error *err);

/* What is known of one value; bound NULL: nothing is assumed of liars. */
struct shares_known {
    const hsy_evidence *point;
    const hsy_poison_bound *bound;
    double shared; /* with the other of two: hsy_attend_both */
};

/* The estimate of a value, or if other is not NULL the difference to another
 * tally's; its place is the caller's. Its interval is that of honest devices;
 * liars have an interval of their own. *lying grows to the largest by which
 * that is wider, in the row's units. */
hsy_status shares_row(struct shares_row *row, hsy_poison_bound *lying,
                      const hsy_scheme_info *info,
                      const struct shares_known *own,
                      const struct shares_known *other,
                      const hsy_confidence *how, hsy_error *err);

/* All d shares by EM, with intervals if *fit says so, in the order of rows: of
 * a yes/no question yes comes first. *count is d. */
hsy_status shares_density(struct shares_row **rows, size_t *count,
                          hsy_density_fit *fit, const struct shares_tally *t,
                          const hsy_density_how *how, hsy_error *err);

/* The largest first, at most `top`, of *count rows; of differences those
 * furthest from 0. */
void shares_top(struct shares_row *rows, size_t *count, uint64_t top,
                bool difference);

/* What is not among `count` shares, of these codes, of which each passed
 * `from`. Of liars nothing is said: they can have changed all of these. how: of
 * rows that were not selected. */
hsy_status shares_rest(hsy_estimate *rest, const struct shares_tally *t,
                       const uint64_t *codes, const struct shares_known *known,
                       size_t count, const hsy_selection *from,
                       const hsy_confidence *how, hsy_error *err);

/* An interval at another level, by the ratio of normal quantiles: for a figure
 * that draws only some of the rows. */
hsy_estimate shares_at_level(const hsy_estimate *est, double from, double to);

/* The level of the `top` largest of `of` rows. Yes and no are one share, and
 * neither is a selection. */
double shares_level(const hsy_scheme_info *info, double level, uint64_t top,
                    size_t of);

/* What the first `count` of `total` rows, the largest first, had to pass. */
hsy_selection shares_selection(const hsy_scheme_info *info,
                               const struct shares_row *rows, size_t count,
                               size_t total);

/* A mean is estimated as a share of its range; a difference has no zero. */
void shares_rescale(const hsy_scheme_info *info, hsy_estimate *est,
                    bool difference);

/* What a share of 1 is in an estimate's units: the width of a mean's range. */
double shares_unit(const hsy_scheme_info *info);

/* The p-value of the tests that find liars; NaN for a mechanism whose reports
 * do not show them. */
double shares_lying_p(const struct shares_tally *t);

/* Two tallies can be compared if they ask the same; how they ask may differ.
 * NULL, or what they differ in. */
const char *shares_differ(const hsy_scheme_info *a, const hsy_scheme_info *b);

/* ---- Notes (notes.c) ----------------------------------------------------- */

/* What is to be said beside a figure: a code for programs, a sentence for
 * people. */
enum shares_note_code {
    SHARES_PERSON_ROUNDS,
    SHARES_MEAN_ROUNDS,
    SHARES_KEPT,
    SHARES_BOUND,
    SHARES_PAIRED,
    SHARES_OVERLAP
};

#define SHARES_NOTES 3u    /* most of a tally, ... */
#define SHARES_COMPARED 2u /* ... and more of two that are compared */

struct shares_note {
    const char *code, *text;
};

const struct shares_note *shares_note(enum shares_note_code code);

/* Those of a tally, how many. rounds_known: attended is of the rounds
 * themselves, not a bound. */
size_t shares_notes(enum shares_note_code out[SHARES_NOTES],
                    const struct shares_tally *t, bool rounds_known);

/* Those of a comparison, how many. paired: noise that both share is taken out;
 * overlap: the two may hold the same reports. */
size_t shares_compared(enum shares_note_code out[SHARES_COMPARED], bool paired,
                       bool overlap);

/* ---- Bins (bins.c) ------------------------------------------------------- */

#define SHARES_DECIMAL 22u /* 19 digits, sign, point, NUL */

/* Units of 10^-scale as a decimal without zeros at its end, somewhere in text.
 */
const char *shares_decimal(char text[SHARES_DECIMAL], int64_t units,
                           uint32_t scale);

/* Edge i of d equal bins: the least number that does not lie below it. */
int64_t shares_edge(const hsy_scheme_info *info, uint32_t i);

#define SHARES_BIN (2 * SHARES_DECIMAL + 1)

/* What a bin is called: "18..25". */
void shares_bin(char text[SHARES_BIN], const hsy_scheme_info *info,
                uint32_t place);

/* A quantile, 0 < q < 1, in the range's units. */
hsy_status shares_quantile(hsy_estimate *est, const hsy_scheme_info *info,
                           const hsy_ranges *r, double q,
                           const hsy_confidence *how, hsy_error *err);

/* ---- Strings that nobody listed (found.c) -------------------------------- */

struct shares_wanted {
    hsy_search search;
    hsy_confidence how; /* its comparisons do not matter */
    bool significant;   /* strings only that chance hardly makes; search has
                           the same for prefixes too */
    bool simultaneous;  /* intervals of all candidates of a stage hold */
    bool all_stages;    /* pem: rows of every stage, not of the last alone */
    bool all;           /* sfp: chance or not */
    uint64_t threshold; /* sfp: pairs of an offset that go on */
};

/* A string, or a prefix of one. */
struct shares_found {
    size_t stage; /* from 0 */
    hsy_candidate found;
    hsy_estimate est;
    double level; /* that its interval has, adjusted for selection */
    char name[HSY_SPELL_BITS + 16]; /* symbols, and the bits after them */
    size_t name_len;
};

struct shares_search {
    hsy_stage stage[HSY_STAGES_MAX];
    size_t stages;
    size_t offsets; /* of sfp, over which reports are split; else 0 */
    struct shares_found *rows; /* owned */
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
 * HSY_E_EMPTY with the group or offset that has no reports in err->limit;
 * HSY_E_RANGE with the field of what is wanted, as the library says it.
 */
hsy_status shares_search(struct shares_search *out,
                         const struct shares_tally *t,
                         const struct shares_wanted *w, hsy_error *err);
void shares_search_clear(struct shares_search *s);

/* What survives one stage of a search in batches. */
hsy_status shares_survivors(hsy_stage *stage, hsy_candidate **found,
                            size_t *count, const struct shares_tally *t,
                            const hsy_search *search, hsy_error *err);

/* What reports are split over. */
size_t shares_groups(const struct shares_search *s);

/* The share that is found but for a chance of miss at each stage. */
double shares_reach(const struct shares_search *s, const struct shares_tally *t,
                    double miss);

/* ---- RAPPOR (rappor.c) --------------------------------------------------- */

/* A tally of the mechanism rappor as its decoder takes it. Owns its bits. */
struct shares_rappor {
    hsy_rappor_law law;
    hsy_rappor_data data;
    uint16_t *bits; /* [candidate][cohort][hash] */
};

/* codes of the candidates, NULL: the whole domain. */
hsy_status shares_rappor_open(struct shares_rappor *r,
                              const struct shares_tally *t,
                              const uint64_t *codes, size_t candidates,
                              hsy_error *err);
void shares_rappor_clear(struct shares_rappor *r);

/* How many times the variance of a bit's count is what it would be if everybody
 * had reported once: hsy_rappor_options. */
double shares_rappor_dispersion(const struct shares_tally *t,
                                hsy_target target);

/* Shares of all candidates in their order. */
hsy_status shares_rappor_decode(hsy_rappor_share **shares,
                                hsy_rappor_summary *summary,
                                const hsy_rappor_data *data,
                                const hsy_rappor_options *how, hsy_error *err);

/* The level of a row's interval, where `shown` rows are the largest of all
 * candidates and others are not shown: it is adjusted for that, and for having
 * been detected. */
double shares_rappor_level(const hsy_rappor_share *share,
                           const hsy_rappor_summary *summary, double level,
                           size_t shown, size_t all);

/* Detected strings together that are not among those shown, places of which are
 * given: 1 is they, the detected ones that are shown, and the summary's rest.
 * Their number; 0: there are none. How they vary together is not known: est has
 * no error. */
size_t shares_rappor_unshown(hsy_estimate *est, const hsy_rappor_share *shares,
                             const hsy_rappor_summary *summary,
                             const struct shares_row *rows, size_t shown);

/* What is to be said of a rest that no chance explains; NULL: nothing. */
const char *shares_rappor_doubt(const hsy_rappor_summary *summary);

/* Its interval at this level. */
void shares_rappor_interval(hsy_estimate *est, const hsy_rappor_share *share,
                            double level);

#endif
