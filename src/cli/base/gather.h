/* gather.h - the files of a command into one tally, with messages. */
#ifndef CLI_BASE_GATHER_H
#define CLI_BASE_GATHER_H

#include "cli/base/base.h"
#include "host/analysis/gather.h"

/* Add a file ("-": standard input). 0, or the exit code after a message that
 * names file, record and difference. */
int cli_gather_file(struct gather *g, const char *path);

/* The operands of a command, n of them; none: standard input. See too that they
 * may stand in one tally. */
int cli_gather_files(struct gather *g, struct cli_parser *p, char **paths,
                     int n);

/* As gather_attend. */
int cli_gather_attend(struct gather *g, uint64_t most);

#endif
