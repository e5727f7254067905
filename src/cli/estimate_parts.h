/* estimate_parts.h - what the files of hearsay estimate share. */
#ifndef ESTIMATE_PARTS_H
#define ESTIMATE_PARTS_H

#include "cli_gather.h"

struct estimate_options {
    const char *path, *against, *candidates;
    hsy_confidence how; /* interval resolved, never AUTO, once parsed */
    hsy_post post;
    bool simultaneous, has_top;
    uint64_t top;
    enum cli_format format;

    /* --rappor: RAPPOR's own files. */
    const char *rappor, *map;
    bool all;
    uint32_t method, correction;
    double alpha;
};

/* Names as options take them, in the order of the library's enumerations. */
extern const char *const estimate_interval_names[];
extern const char *const estimate_post_names[];
extern const char *const estimate_target_names[];
extern const char *const estimate_correction_names[];
extern const char *const estimate_method_names[];

/* What is known: points in the order of the candidates, or of the domain. Owns
 * its memory. */
struct estimate_evidence {
    hsy_point *points;
    size_t count;
    bool complete; /* the whole domain, in order */
};

/* The values asked for. codes is NULL for the whole domain. */
struct estimate_asked {
    struct cli_labels candidates; /* d is 0: none were named */
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
int estimate_ask(struct estimate_asked *asked, const struct cli_gather *g,
                 const struct estimate_options *o);
void estimate_asked_clear(struct estimate_asked *asked);

/* Points for all asked values. A yes/no question has two: yes, then no. */
int estimate_weigh(struct estimate_evidence *e, const struct cli_gather *g,
                   const struct estimate_asked *asked);

struct estimate_row {
    hsy_estimate est; /* shares as fractions, a mean in the range's units */
    double post;
    double p_value;
    uint32_t place; /* of the value among those asked for */
};

struct estimate_result {
    struct estimate_row *rows;
    size_t count;
    const struct cli_gather *gather;
    const struct cli_gather *other; /* NULL without --against */
    const struct estimate_asked *asked;
    const struct estimate_options *options;
};

/* Decode RAPPOR's files and print what was found; the exit code. */
int estimate_rappor(const struct estimate_options *o);

/* Print to stdout. */
void estimate_show(const struct estimate_result *r);

#endif
