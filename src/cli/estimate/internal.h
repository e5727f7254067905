/* internal.h - what the files of hearsay estimate share. */
#ifndef CLI_ESTIMATE_INTERNAL_H
#define CLI_ESTIMATE_INTERNAL_H

#include "cli/base/gather.h"

/* --quantile and --between (quantiles.c): what is asked, as it was
 * written, and the answer. */
#define ESTIMATE_RANGES_MAX 64u

#define ESTIMATE_VARIABLES_MAX HSY_ASSOCIATE_VARIABLES

struct estimate_range {
    double q; /* of a quantile; 0: between from and to */
    char from[24], to[24];
    hsy_estimate est;
};

struct estimate_ranges {
    size_t count;
    struct estimate_range range[ESTIMATE_RANGES_MAX];
};

struct estimate_options {
    const char *path, *against, *candidates;
    hsy_confidence how; /* interval resolved, never AUTO, once parsed */
    hsy_post post;
    const char *attribute; /* of a tuple only this one; NULL: all */
    bool joint;            /* all combinations of a tuple */
    bool simultaneous, has_top, has_interval, covariance;
    uint64_t top;
    uint64_t rounds, devices; /* --rounds, --devices; 0: not given */
    double lying;             /* --assume-lying; 0: none */
    const char *plot;         /* NULL: no figure */
    hsy_density_method density;
    enum cli_format format;
    struct estimate_ranges ranges;

    /* --rappor: RAPPOR's own files. With --associate there may be several. */
    const char *rappor, *map; /* the last ones */
    const char *rappors[ESTIMATE_VARIABLES_MAX];
    const char *maps[ESTIMATE_VARIABLES_MAX];
    size_t nrappors, nmaps;
    bool associate;
    bool all;
    uint32_t method, correction;
    double alpha;
};

bool estimate_ranges_quantile(struct cli_parser *p,
                              struct estimate_ranges *asked);
bool estimate_ranges_between(struct cli_parser *p,
                             struct estimate_ranges *asked);

/* Estimate and print them; 0, or the exit code after a message. */
int estimate_ranges_run(struct estimate_ranges *asked, const struct gather *g,
                        const struct estimate_options *o);

/* Take the command's options: false if there is nothing left to do but to leave
 * with p's exit code. Then see that they go together: 0, or the exit code after
 * a message. */
bool estimate_parse(struct estimate_options *o, struct cli_parser *p, int argc,
                    char **argv);
int estimate_check(struct cli_parser *p, struct estimate_options *o);

/* Names as options take them, in the order of the library's enumerations. */
extern const char *const estimate_interval_names[];
extern const char *const estimate_post_names[];
extern const char *const estimate_target_names[];
extern const char *const estimate_density_names[];
extern const char *const estimate_correction_names[];
extern const char *const estimate_method_names[];

/* What is known: points in the order of the candidates, or of the domain. Owns
 * its memory. */
struct estimate_evidence {
    hsy_evidence *points;
    hsy_poison_bound *bounds; /* NULL without --assume-lying */
    size_t count;
    bool complete; /* the whole domain, in order */
    double shared; /* kept noise that --against has too: hsy_attend_both */
};

/* The values asked for. codes is NULL for the whole domain. */
struct estimate_asked {
    struct labels candidates; /* d is 0: none were named */
    uint64_t *codes;
    size_t count;
    bool whole; /* codes pick from the whole domain, which is post-processed */
};

/* Where the point of value i stands. */
static inline size_t estimate_place(const struct estimate_asked *asked,
                                    size_t i)
{
    return asked->whole ? (size_t)asked->codes[i] : i;
}

/* Resolve --candidates for the scheme of g, or ask for its whole domain. 0, or
 * the exit code after a message. */
int estimate_ask(struct estimate_asked *asked, const struct gather *g,
                 const struct estimate_options *o);
void estimate_asked_clear(struct estimate_asked *asked);

/* Points for all asked values. A yes/no question has two: yes, then no. */
int estimate_weigh(struct estimate_evidence *e, const struct gather *g,
                   const struct estimate_asked *asked);

struct estimate_result {
    struct shares_row *rows;
    size_t count;
    const struct gather *gather;
    const struct gather *other; /* NULL without --against */
    const struct estimate_asked *asked;
    const struct estimate_options *options;
    hsy_density_method density; /* shares by likelihood; AUTO: by points */
    const char *no_interval;    /* why there are none; NULL: there are */
    hsy_poison_bound lying;     /* the largest by which a row is wider */
    bool paired, overlap;       /* shares_compared() */
    size_t of;                  /* rows that `count` were selected from */
    double level;               /* of their intervals */
    bool has_rest;              /* some are not shown, and all are shares: */
    hsy_estimate rest;          /* of those; NaN: no error is known */
};

/* The level of rows of which there are `of` before --top. */
double estimate_level(const struct estimate_options *o,
                      const hsy_scheme_info *info, size_t of);

/* ---- lying.c: devices that lie ------------------------------------------- */

/* What a share of them can do to e's points; 0, or the exit code after a
 * message. */
int estimate_lying_bounds(struct estimate_evidence *e, const struct gather *g,
                          double lying);

/* A sentence about it, to stdout. */
void estimate_lying_say(const struct estimate_result *r);

/* The p-value of the tests that find liars; none for a mechanism whose reports
 * do not show them. */
struct cli_cell estimate_lying_p(const struct gather *g);

/* ---- estimate_plot.c ----------------------------------------------------- */

/* Write the figure, if one is asked for; 0, or the exit code after a message.
 */
int estimate_plot(const struct estimate_result *r);

/* Print how the estimates of each two values vary together. 0, or the exit code
 * after a message. */
int estimate_covariance(const struct gather *g,
                        const struct estimate_options *o);
/* ---- density.c: shares by EM --------------------------------------------- */

/* Whether that is what is asked for, or all there is. */
bool estimate_is_density(const struct gather *g,
                         const struct estimate_options *o);

/* All d shares as rows, with intervals if *fit says so, where the options go
 * with it; the caller frees them. 0, or the exit code after a message. */
int estimate_density_rows(struct shares_row **rows, size_t *count,
                          hsy_density_fit *fit, const struct gather *g,
                          const struct estimate_options *o);

/* The most likely shares of all d values, for --post em; the caller's to free.
 */
int estimate_density_post(double **shares, const struct gather *g);
/* ---- rappor_estimate.c, associate_files.c -------------------------------- */

/* Decode RAPPOR's files, or a tally of that mechanism, and print what was
 * found; the exit code. */
int estimate_rappor(const struct estimate_options *o);
bool estimate_is_rappor(const struct gather *g);
int estimate_rappor_tally(const struct gather *g,
                          const struct estimate_options *o);

/* The joint distribution of the variables of RAPPOR's reports; the exit code.
 */
int estimate_associate(const struct estimate_options *o);

/* What to call value `place` of those asked for; the cell may point into
 * itself. */
void estimate_name(const struct gather *g, const struct estimate_asked *asked,
                   uint32_t place, struct cli_cell *out);

/* ---- attributes.c: several attributes ------------------------------------ */

/* Estimate each attribute, or all combinations, and print them; the exit code.
 */
int estimate_tuple(const struct gather *g, const struct estimate_options *o);

/* Say why an interval cannot be had; exit code 1. */
int estimate_refused(const hsy_confidence *how, const hsy_error *err);

/* Whom shares are of, in words. */
const char *estimate_among(const struct estimate_options *o);

/* What is to be said of a tally beside its figures, in json and csv. */
struct estimate_notes {
    const char *text[SHARES_NOTES + SHARES_COMPARED];
    size_t n;
};

struct estimate_notes estimate_notes(const struct gather *g);

/* ... and of a result: of two tallies how they were compared, too. */
struct estimate_notes estimate_result_notes(const struct estimate_result *r);

/* Fields of json that all rows of csv have as columns; NULL at the end. */
extern const char *const estimate_said[];

/* Rounds and devices of a tally as cells; none where nobody is in it twice. */
struct cli_cell estimate_rounds(const struct gather *g);
struct cli_cell estimate_devices(const struct gather *g);

/* Who is in a tally more than once, and what that means, to stdout; nothing if
 * nobody is. */
void estimate_attendance_say(const struct gather *g);

/* Print to stdout. */
void estimate_show(const struct estimate_result *r);

#endif
