/* tally.c - hearsay tally: reports and tallies in, one tally out. */
#define _DEFAULT_SOURCE
#include "cli/base/gather.h"
#include "host/base/digits.h"
#include "host/format/format.h"

#include <string.h>
#include <unistd.h>

struct tally_how {
    const char *output, *column;
    struct cli_spec spec; /* of the reports in it */
    hsy_round round;      /* each: 0 if none was said */
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
    cli_usage(p, "--round takes SLOT:ROUND, two integers from 0, e.g. 0:6");
    return false;
}

#define TALLY_SPEC(name)                                                       \
    {                                                                          \
        name, .into = CLI_INTO_SPEC, .with = "column"                          \
    }

static const struct cli_option tally_options[] = {
    {"output", "FILE", "output file, written whole or not at all ('-': stdout)",
     CLI_INTO_OUTPUT, offsetof(struct tally_how, output)},
    {"round", "SLOT:ROUND",
     "slot and round to assume for files that name none; required to merge "
     "reports made from permanent answers",
     CLI_INTO_CALL, .call = tally_round},
    {"column", "NAME",
     "read reports from this column of a CSV file, each as 'randomize --json' "
     "writes it; give the question too",
     CLI_INTO_TEXT, offsetof(struct tally_how, column)},
    TALLY_SPEC("yes-no"),
    TALLY_SPEC("values"),
    TALLY_SPEC("values-file"),
    TALLY_SPEC("domain"),
    TALLY_SPEC("range"),
    CLI_SPEC("bins"),
    {"strings", NULL, "any text", CLI_INTO_SPEC, .with = "column"},
    TALLY_SPEC("epsilon"),
    TALLY_SPEC("mechanism"),
    CLI_SPEC("alphabet"),
    CLI_SPEC("oracle"),
    {"set", NULL, "parameter of the mechanism", CLI_INTO_SPEC,
     .with = "column"},
    {"other", NULL, "add \"other\" to the list", CLI_INTO_SPEC,
     .with = "values values-file"},
    TALLY_SPEC("task"),
    {0}};

static const struct cli_command tally_command = {
    "tally",
    "[-o FILE] [--round SLOT:ROUND] [FILE...] | "
    "--column NAME KIND --epsilon E [options] [FILE...]",
    "Count reports into one tally. Inputs may be report streams, binary or "
    "JSON, and\ntallies, all of one scheme. Merging the tallies of parts, in "
    "any order, gives\nthe tally of the whole, byte for byte.",
    tally_options,
    .operands = "[FILE...]",
    .spec = offsetof(struct tally_how, spec)};

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

/* The scheme of the reports in a column. */
static int tally_scheme(struct gather *g, struct tally_how *how,
                        struct cli_parser *p)
{
    hsy_scheme *scheme = NULL;
    hsy_error err = {0};
    int failed = cli_spec_finish(&how->spec, p);

    if (!failed && cli_spec_trivial(&how->spec))
        failed = cli_usage(p, "one value only: nobody reports it");
    if (!failed)
        failed = cli_scheme_new(&scheme, &how->spec.spec);
    if (failed)
        return failed;
    g->column = how->column;
    if (gather_scheme(g, scheme, how->spec.spec.labels, "--column", &err) !=
        HSY_OK)
        return cli_fail_error(NULL, &err);
    return cli_scheme_reports(scheme);
}

static int tally_run(struct gather *g, struct tally_how *how,
                     struct cli_parser *p)
{
    int failed = how->column != NULL ? tally_scheme(g, how, p) : 0;

    if (how->round.each != 0)
        g->round = &how->round;
    if (!failed)
        failed = cli_gather_files(g, p, p->operands, p->noperands);
    return failed ? failed : tally_write(g, how->output);
}

int cmd_tally(int argc, char **argv)
{
    struct tally_how how = {0};
    struct gather g = {0};
    struct cli_parser p;
    int failed = 0;

    if (!cli_read(&p, &tally_command, argc, argv, &how)) {
        cli_spec_clear(&how.spec);
        return p.exit;
    }
    if (how.output == NULL && isatty(STDOUT_FILENO) == 1)
        failed = cli_usage(&p, "will not write a tally to a terminal; redirect "
                               "it, or use -o FILE");
    if (!failed)
        failed = tally_run(&g, &how, &p);
    gather_clear(&g);
    cli_spec_clear(&how.spec);
    return failed;
}
