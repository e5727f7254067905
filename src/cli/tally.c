/* tally.c - hearsay tally: reports and tallies in, one tally out. */
#define _DEFAULT_SOURCE
#include "cli/base/gather.h"
#include "host/format/format.h"

#include <string.h>
#include <unistd.h>

enum { TALLY_OUTPUT = 1, TALLY_ROUND };

static const struct cli_option tally_options[] = {
    {TALLY_OUTPUT, "output", "FILE",
     "write there, whole or not at all ('-': stdout)"},
    {TALLY_ROUND, "round", "SLOT:ROUND",
     "of which round files are that do not say it: needed\n"
     "to merge reports of kept answers"},
    {0, NULL, NULL, NULL}};

static const struct cli_command tally_command = {
    "tally", "[-o FILE] [--round SLOT:ROUND] [FILE...]",
    "Count reports: any mix of report streams, their JSON twins and tallies "
    "of\n"
    "one scheme becomes one tally. Tallies of the parts of a stream, merged "
    "in\n"
    "any order, are the tally of the whole, byte for byte.",
    tally_options};

static int tally_write(const struct gather *g, const char *path)
{
    struct output *out = NULL;
    int failed = cli_open_output(&out, path);

    if (failed)
        return failed;
    if (container_put_tally(out, g->scheme, g->block, g->info.labels_len,
                            &g->tally, &g->rounds) != HSY_OK) {
        failed = cli_fail_output(path);
        output_abort(out);
        return failed;
    }
    return output_commit(out) == HSY_OK ? CLI_DONE : cli_fail_output(path);
}

static bool tally_round(struct cli_parser *p, hsy_round *round)
{
    char slot[24] = "";
    const char *colon = strchr(p->value, ':');
    const size_t len = colon != NULL ? (size_t)(colon - p->value) : 0;
    uint64_t number;

    if (len > 0 && len < sizeof slot) {
        memcpy(slot, p->value, len);
        if (cli_parse_count(&round->slot, slot) &&
            cli_parse_count(&number, colon + 1) && number <= UINT32_MAX) {
            round->round = (uint32_t)number;
            round->each = 1;
            return true;
        }
    }
    cli_usage(p, "--round takes the number of the slot and of the round in it, "
                 "both from 0 on: 0:6");
    return false;
}

/* Move the operands to the front of argv; how many, or -1 if help or a
 * complaint was printed. */
static int tally_parse(struct cli_parser *p, const char **output,
                       hsy_round *round)
{
    int id, n = 0;

    while ((id = cli_next(p)) != CLI_END) {
        if (id == CLI_STOP || (id == TALLY_ROUND && !tally_round(p, round)))
            return -1;
        if (id == TALLY_OUTPUT)
            *output = cli_output_path(p->value);
        else if (id != TALLY_ROUND)
            p->argv[n++] = p->argv[p->at - 1];
    }
    return n;
}

int cmd_tally(int argc, char **argv)
{
    struct gather g = {0};
    hsy_round round = {0};
    struct cli_parser p;
    const char *output = NULL;
    int n, failed;

    cli_begin(&p, &tally_command, argc, argv);
    n = tally_parse(&p, &output, &round);
    if (n < 0)
        return p.exit;
    if (round.each != 0)
        g.round = &round;
    if (output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(&p, "a tally is not for a terminal: redirect it or "
                             "use -o FILE");
    failed = cli_gather_files(&g, &p, argv, n);
    if (!failed)
        failed = tally_write(&g, output);
    gather_clear(&g);
    return failed;
}
