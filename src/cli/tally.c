/* tally.c - hearsay tally: reports and tallies in, one tally out. */
#define _DEFAULT_SOURCE
#include "cli/base/gather.h"
#include "host/base/digits.h"
#include "host/format/format.h"

#include <string.h>
#include <unistd.h>

struct tally_how {
    const char *output;
    hsy_round round; /* each: 0 if none was said */
};

static bool tally_round(struct cli_parser *p, void *to)
{
    hsy_round *round = &((struct tally_how *)to)->round;
    const char *colon = strchr(p->value, ':');
    uint64_t number;

    if (colon != NULL &&
        digits_parse(&round->slot, p->value, (size_t)(colon - p->value),
                     UINT64_MAX) &&
        cli_parse_count(&number, colon + 1) && number <= UINT32_MAX) {
        round->round = (uint32_t)number;
        round->each = 1;
        return true;
    }
    cli_usage(p, "--round takes the number of the slot and of the round in it, "
                 "both from 0 on: 0:6");
    return false;
}

static const struct cli_option tally_options[] = {
    {"output", "FILE", "output file, written whole or not at all ('-': stdout)",
     CLI_INTO_OUTPUT, offsetof(struct tally_how, output)},
    {"round", "SLOT:ROUND",
     "slot and round of files that do not name theirs; needed to merge reports "
     "of kept answers",
     CLI_INTO_CALL, .call = tally_round},
    {0}};

static const struct cli_command tally_command = {
    "tally", "[-o FILE] [--round SLOT:ROUND] [FILE...]",
    "Count reports: merge report streams, their JSON twins and tallies of "
    "one\nscheme into one tally. Merging the tallies of the parts of a stream, "
    "in any\norder, gives the tally of the whole, byte for byte.",
    tally_options, .operands = "[FILE...]"};

static int tally_write(const struct gather *g, const char *path)
{
    struct output *out = NULL;
    int failed = cli_open_output(&out, path);

    if (failed)
        return failed;
    if (container_put_tally(out, g->scheme, g->block, g->info.labels_len,
                            &g->tally, &g->rounds, &g->batches) != HSY_OK) {
        failed = cli_fail_output(path);
        output_abort(out);
        return failed;
    }
    return output_commit(out) == HSY_OK ? CLI_DONE : cli_fail_output(path);
}

int cmd_tally(int argc, char **argv)
{
    struct tally_how how = {0};
    struct gather g = {0};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &tally_command, argc, argv, &how))
        return p.exit;
    if (how.round.each != 0)
        g.round = &how.round;
    if (how.output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(&p, "a tally is not for a terminal: redirect it or "
                             "use -o FILE");
    failed = cli_gather_files(&g, &p, p.operands, p.noperands);
    if (!failed)
        failed = tally_write(&g, how.output);
    gather_clear(&g);
    return failed;
}
