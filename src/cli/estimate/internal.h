/* internal.h - what the files of hearsay estimate share. */
#ifndef CLI_ESTIMATE_INTERNAL_H
#define CLI_ESTIMATE_INTERNAL_H

#include "cli/base/gather.h"

/* --quantile and --between (quantiles.c): what is asked, as it was
 * written, and the answer. */
#define ESTIMATE_RANGES_MAX 64u

#define ESTIMATE_VARIABLES_MAX HSY_ASSOCIATE_VARIABLES

/* As it was written; edges are found once the range is known. */
struct estimate_range {
    double q; /* of a quantile; 0: between from and to */
    char from[24], to[24];
    char name[64];
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
    hsy_batch batch;          /* --min-batch, --delta; 0: not shuffled */
    double honest;            /* --assume-honest; 0: not given */
    const char *plot;         /* NULL: no figure */
    hsy_density_method density;
    enum table_format format;
    struct estimate_ranges ranges;

    /* Places in lists of names, until all is read. */
    int interval, target, posted, em, decoder, corrected;

    /* --rappor: RAPPOR's own files. With --associate there may be several. */
    struct cli_texts rappors, maps;
    bool associate, all;
    uint32_t method, correction;
    double alpha;
};

/* Take --quantile and --between into struct estimate_options. */
bool estimate_ranges_quantile(struct cli_parser *p, void *to);
bool estimate_ranges_between(struct cli_parser *p, void *to);

/* Ranges as the room takes them; 0, or the exit code after a message. */
int estimate_ranges_ask(hsy_analysis_range out[ESTIMATE_RANGES_MAX],
                        struct estimate_ranges *asked,
                        const hsy_scheme_info *info);

/* Take the command's options: false if there is nothing left to do but to leave
 * with p's exit code. Then see that they go together: 0, or the exit code after
 * a message. */
bool estimate_parse(struct estimate_options *o, struct cli_parser *p, int argc,
                    char **argv);
int estimate_check(struct cli_parser *p, struct estimate_options *o);

/* What is estimated, and what came of it. */
struct estimate_job {
    struct estimate_options options;
    struct gather gather, other;
    struct labels candidates; /* d is 0: none were named */
    hsy_analysis_text *names; /* of them; owned */
    hsy_analysis_result result;
};

/* Options that do not go with the tally: 0, or the exit code after a message.
 */
int estimate_fits(struct estimate_job *j);

/* Say why there is no result; the exit code. */
int estimate_failed(const struct estimate_job *j, const hsy_error *err);

/* Doubts, to stderr. about: what they are of. */
void estimate_doubts(const struct estimate_job *j);

/* Decode RAPPOR's files and print what was found; the exit code. */
int estimate_rappor(struct estimate_job *j);

/* The joint distribution of the variables of RAPPOR's reports; the exit code.
 */
int estimate_associate(const struct estimate_options *o);

/* Print to stdout; the exit code. */
int estimate_show(const struct estimate_job *j);

#endif
