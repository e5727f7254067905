/* cmd_tally.c - hearsay tally: reports and tallies in, one tally out. */
#define _DEFAULT_SOURCE
#include "cli_gather.h"
#include "container.h"

#include <unistd.h>

enum { TALLY_OUTPUT = 1 };

static const struct cli_option tally_options[] = {
    {TALLY_OUTPUT, "output", "FILE",
     "write there, whole or not at all ('-': stdout)"},
    {0, NULL, NULL, NULL}};

static const struct cli_command tally_command = {
    "tally", "[-o FILE] [FILE...]",
    "Count reports: any mix of report streams, their JSON twins and tallies "
    "of\n"
    "one scheme becomes one tally. Tallies of the parts of a stream, merged "
    "in\n"
    "any order, are the tally of the whole, byte for byte.",
    tally_options};

static int tally_write(const struct cli_gather *g, const char *path)
{
    struct output *out = NULL;
    int failed = cli_open_output(&out, path);

    if (failed)
        return failed;
    if (container_put_tally(out, g->scheme, g->block, g->info.labels_len,
                            &g->tally) != HSY_OK) {
        failed = cli_fail_output(path);
        output_abort(out);
        return failed;
    }
    return output_commit(out) == HSY_OK ? CLI_DONE : cli_fail_output(path);
}

/* Move the operands to the front of argv; how many, or -1 if help or a
 * complaint was printed. */
static int tally_parse(struct cli_parser *p, const char **output)
{
    int id, n = 0;

    while ((id = cli_next(p)) != CLI_END) {
        if (id == CLI_STOP)
            return -1;
        if (id == TALLY_OUTPUT)
            *output = cli_output_path(p->value);
        else
            p->argv[n++] = p->argv[p->at - 1];
    }
    return n;
}

int cmd_tally(int argc, char **argv)
{
    struct cli_gather g = {0};
    struct cli_parser p;
    const char *output = NULL;
    int n, failed;

    cli_begin(&p, &tally_command, argc, argv);
    n = tally_parse(&p, &output);
    if (n < 0)
        return p.exit;
    if (output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(&p, "a tally is not for a terminal: redirect it or "
                             "use -o FILE");
    failed = cli_gather_files(&g, &p, argv, n);
    if (!failed)
        failed = tally_write(&g, output);
    cli_gather_clear(&g);
    return failed;
}
