/* gather.h - report streams and tally files into one tally. */
#ifndef CLI_BASE_GATHER_H
#define CLI_BASE_GATHER_H

#include "cli/base/base.h"
#include "host/analysis/analysis.h"
#include "host/format/rounds.h"

/* Zero it to begin. The first file settles the scheme; memory does not grow
 * with reports. */
struct gather {
    hsy_scheme *scheme; /* NULL until a file has been read */
    hsy_info info;
    uint8_t *block;       /* what the file has for labels, labels_len */
    struct labels labels; /* d is 0 if the values have no names */
    hsy_tally tally;
    int64_t *memory;
    uint8_t *reports; /* one chunk, unpacked */
    size_t chunk;
    const char *first; /* the file that settled the scheme */
    uint64_t counted;  /* reports read, for progress */
    struct cli_progress progress;

    /* Of which rounds the reports are. */
    const hsy_round *round; /* of files that do not say; NULL: not known */
    struct rounds rounds;
    bool said;          /* the file being read has said */
    uint64_t nunsaid;   /* files that have not */
    const char *unsaid; /* the last of them */
    bool attends;       /* attended is known */
    hsy_attendance attended;
};

/* Add a file ("-": standard input): a report stream, its JSON twin, a tally
 * file, or several of them one after the other. 0, or the exit code after a
 * message that names file, record and difference. */
int cli_gather_file(struct gather *g, const char *path);

/* The operands of a command, n of them; none: standard input. */
int cli_gather_files(struct gather *g, struct cli_parser *p, char **paths,
                     int n);
void gather_clear(struct gather *g);

/* See that the reports may stand in one tally: of kept answers only if it is
 * known which rounds they are of. 0, or the exit code after a message. */
int cli_gather_settle(const struct gather *g);

/* The same, and how often the same people are in it: as the files say, or if
 * most is not 0 at most so many times each. */
int cli_gather_attend(struct gather *g, uint64_t most);

/* What was gathered, for host/analysis/analysis.h. */
static inline struct shares_tally gathered(const struct gather *g)
{
    return (struct shares_tally){.scheme = g->scheme,
                                 .info = &g->info,
                                 .tally = &g->tally,
                                 .attended = g->attends ? &g->attended : NULL};
}

#endif
