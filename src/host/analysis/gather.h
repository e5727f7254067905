/* gather.h - report streams and tally files into one tally. */
#ifndef HOST_ANALYSIS_GATHER_H
#define HOST_ANALYSIS_GATHER_H

#include "host/analysis/analysis.h"
#include "host/base/labels.h"
#include "host/format/batch_rows.h"
#include "host/format/codes.h"
#include "host/format/rounds.h"

/* What no hsy_error can say in full; the caller has its own words for it. */
enum gather_trouble {
    GATHER_OTHER = 0,    /* nothing but what the error says */
    GATHER_REPORT,       /* line and report are of a report that is refused */
    GATHER_COLUMN,       /* line and record of a table in CSV */
    GATHER_MIXED,        /* another scheme than the first file's */
    GATHER_UNSAID,       /* some files say their rounds, `name` does not */
    GATHER_KEPT_UNSAID,  /* nor do several, of kept answers */
    GATHER_ROUNDS_SAID,  /* most was given, and the files say their rounds */
    GATHER_ROUNDS_NONE,  /* most was given for a curator's release */
    GATHER_ROUNDS_FRESH, /* ... for reports that have coins of their own */
    GATHER_ROUNDS_LACK   /* kept answers, and neither says of which rounds */
};

struct gather_wrong {
    enum gather_trouble trouble;
    const char *name; /* of the file */
    uint32_t unit;    /* hsy_unit: what line counts */
    uint64_t line, report;
    struct truth_wrong record;
    const char *difference;    /* of mixed files: what they differ in */
    const char *mechanisms[2]; /* if in that, these; else NULL */
};

/* Zero it to begin. The first file settles the scheme; memory does not grow
 * with reports. */
struct gather {
    hsy_scheme *scheme; /* NULL until a file has been read */
    hsy_scheme_info info;
    uint8_t *block;       /* what the file has for labels, labels_len */
    struct labels labels; /* d is 0 if the values have no names */
    hsy_tally tally;
    int64_t *memory;
    uint8_t *reports; /* one chunk, unpacked */
    size_t chunk;
    const char *first; /* the file that settled the scheme */
    const char
        *column;      /* files are tables in CSV, and this one of their columns
                         is reports as the JSON twin has them, of the scheme
                         that gather_scheme settled; NULL: they are not */
    uint64_t counted; /* reports read */
    void (*tick)(void *ctx, uint64_t counted); /* now and then; NULL: no one */
    void *tick_ctx;
    struct gather_wrong wrong; /* after a failure */

    /* Of which rounds the reports are. */
    const hsy_round *round; /* of files that do not say; NULL: not known */
    struct rounds rounds;
    bool said;          /* the file being read has said */
    uint64_t nunsaid;   /* files that have not */
    const char *unsaid; /* the last of them */
    bool attends;       /* attended is known */
    hsy_attendance attended;

    struct batches batches; /* in which reports were shuffled, as files say */
};

/* Settle the scheme beforehand, with its labels; it becomes g's in any case.
 * HSY_E_NOMEM, HSY_E_FORMAT. */
hsy_status gather_scheme(struct gather *g, hsy_scheme *scheme,
                         const uint8_t *labels, const char *name,
                         hsy_error *err);

/* Add what fd holds: a report stream, its JSON twin, a tally file, or several
 * of them one after the other. The name is kept. Failures are told by g->wrong
 * and err: HSY_E_FORMAT, HSY_E_OVERFLOW, HSY_E_RANGE, HSY_E_NOMEM, and HSY_E_IO
 * with the system's message. */
hsy_status gather_file(struct gather *g, int fd, const char *name,
                       hsy_error *err);
void gather_clear(struct gather *g);

/* See that the reports may stand in one tally: of kept answers only if it is
 * known which rounds they are of. HSY_E_RANGE with g->wrong. */
hsy_status gather_settle(struct gather *g, hsy_error *err);

/* The same, and how often the same people are in it: as the files say, or if
 * most is not 0 at most so many times each. */
hsy_status gather_attend(struct gather *g, uint64_t most, hsy_error *err);

/* What was gathered. */
static inline hsy_analysis_tally gathered(const struct gather *g)
{
    return (hsy_analysis_tally){.scheme = g->scheme,
                                .info = &g->info,
                                .tally = &g->tally,
                                .labels = g->block,
                                .rounds =
                                    g->rounds.n != 0 ? g->rounds.list : NULL,
                                .nrounds = g->rounds.n,
                                .attended = g->attends ? &g->attended : NULL,
                                .batches = g->batches.list,
                                .nbatches = g->batches.n};
}

#endif
