/* list_options.c - lists on the command line of hearsay simulate, and the
 * files it writes. */
#define _DEFAULT_SOURCE
#include "cli/simulate/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- Lists --------------------------------------------------------------- */

bool simulate_mechanisms(struct cli_parser *p, void *to)
{
    struct cli_words *list = (struct cli_words *)((char *)to + p->row->place);
    char meant[CLI_MEANT];
    size_t i = 0;

    if (!cli_value_words(p, list))
        return false;
    while (i < list->n && (strcmp(list->at[i], "auto") == 0 ||
                           hsy_mechanism_named(list->at[i]) != NULL))
        i++;
    if (i == list->n)
        return true;
    cli_usage(p, "--mechanism: no mechanism '%.64s'%s", list->at[i],
              cli_mechanism_meant(meant, list->at[i]));
    return false;
}

uint64_t simulate_cores(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1                         ? 1
           : cores > (long)STUDY_THREADS_MAX ? STUDY_THREADS_MAX
                                             : (uint64_t)cores;
}

/* ---- Files --------------------------------------------------------------- */

int simulate_files_open(struct simulate_files *f)
{
    int code = CLI_DONE;

    if (f->plot != NULL)
        code = cli_open_output(&f->figure, f->plot);
    if (code == CLI_DONE && f->dump != NULL)
        code = cli_open_output(&f->dumped, f->dump);
    return code;
}

int simulate_files_end(struct simulate_files *f, int code)
{
    if (code == CLI_DONE && f->dumped != NULL) {
        errno = 0;
        if (output_commit(f->dumped) != HSY_OK)
            code = cli_fail_output(f->dump);
        f->dumped = NULL;
    }
    if (code != CLI_DONE) {
        output_abort(f->dumped);
        output_abort(f->figure);
        f->dumped = f->figure = NULL;
    }
    return code;
}
