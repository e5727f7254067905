/* randomize.c - hearsay randomize: truths in, reports out. */
#define _DEFAULT_SOURCE
#include "cli/base/attributes.h"
#include "host/format/randomizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct randomize {
    const char *input, *output, *column;
    bool json, simulate;
    uint64_t seed;
    struct cli_spec spec;
    struct records table; /* with --column */
    hsy_scheme *scheme;
    struct output *out;
    int fd;
    struct cli_progress progress;
};

/* ---- Options ------------------------------------------------------------- */

#define RANDOMIZE(member) offsetof(struct randomize, member)

static const struct cli_option randomize_options[] = {
    CLI_KIND_OPTIONS,
    CLI_SPEC("strings"),
    CLI_SPEC("attribute"),
    CLI_SPEC("ignore-columns"),
    {"column", "NAME", "read the truths from this column of a CSV file",
     CLI_INTO_TEXT, RANDOMIZE(column), .without = "attribute"},
    CLI_SCHEME_OPTIONS,
    CLI_SPEC("task"),
    CLI_LIMIT_OPTIONS,
    CLI_MADE_UP_OPTIONS(struct randomize),
    {"json", NULL, "write the stream as readable JSON lines", CLI_INTO_FLAG,
     RANDOMIZE(json)},
    {0}};

static const struct cli_command randomize_command = {
    "randomize",
    "KIND --epsilon E [options] [FILE] | --task FILE:ID [options] [FILE]",
    "Randomize truths, one per line, into reports. A single report proves "
    "nothing.",
    randomize_options,
    .operands = "[FILE]",
    .spec = RANDOMIZE(spec)};

static int randomize_check(struct cli_parser *p, const struct randomize *o)
{
    const char *const inputs[] = {o->input != NULL ? o->input : "-",
                                  o->spec.values_file};

    if (!o->json && o->output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(p, "will not write a report stream to a terminal; "
                            "redirect it, use -o FILE, or --json");
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

/* ---- Randomizing --------------------------------------------------------- */

/* Where the truths stand in each line; NULL: it has nothing else. */
static struct records *randomize_table(struct randomize *j)
{
    if (j->spec.tuple != NULL)
        return &j->spec.tuple->records;
    if (j->column == NULL)
        return NULL;
    j->table.columns[0] =
        (struct record_column){.name = j->column,
                               .name_len = strlen(j->column),
                               .coder = cli_coder(&j->spec, j->scheme)};
    j->table.count = 1;
    j->table.others = true;
    return &j->table;
}

static int randomize_open(struct randomize *j)
{
    int failed = cli_scheme_new(&j->scheme, &j->spec.spec);

    if (!failed)
        failed = cli_scheme_reports(j->scheme);
    if (failed)
        return failed;
    if (j->column != NULL && records_open(&j->table, NULL) != HSY_OK)
        return cli_fail_nomem();
    j->fd = cli_open_input(j->input);
    return j->fd == -1 ? CLI_FAILED : cli_open_output(&j->out, j->output);
}

static int randomize_lines(struct randomize *j, struct randomized *done)
{
    const struct randomizer how = {.scheme = j->scheme,
                                   .labels = j->spec.spec.labels,
                                   .labels_len = j->spec.spec.labels_len,
                                   .coder = cli_coder(&j->spec, j->scheme),
                                   .records = randomize_table(j),
                                   .json = j->json,
                                   .seed = j->simulate ? &j->seed : NULL,
                                   .tick = cli_progress_set,
                                   .ctx = &j->progress};
    struct output *out = j->out;
    hsy_error err = {0};
    hsy_status st;

    cli_progress_file(&j->progress, j->fd);
    st = randomize_stream(done, &how, out, j->fd, &err);
    cli_progress_end(&j->progress);
    if (st != HSY_OK)
        return cli_fail_truths(j->input, j->output, done, &err);
    j->out = NULL; /* commit frees it either way */
    errno = 0;
    return output_commit(out) == HSY_OK ? 0 : cli_fail_output(j->output);
}

static int randomize_run(struct randomize *j)
{
    struct randomized done = {0};
    int failed;

    if (cli_spec_trivial(&j->spec)) {
        cli_note("only one value: every answer is known beforehand, so nothing "
                 "is sent");
        return CLI_DONE;
    }
    if (j->spec.permanent)
        cli_note("note: no permanent answer is kept here: every report spends "
                 "its epsilon again; 'hearsay device' keeps one");
    failed = cli_hide();
    if (!failed)
        failed = randomize_open(j);
    if (!failed)
        failed = randomize_lines(j, &done);
    if (!failed && done.written == 0)
        cli_note("note: %s %s: the stream holds no reports",
                 cli_input_name(j->input),
                 j->table.headed || (j->spec.tuple != NULL &&
                                     j->spec.tuple->records.headed)
                     ? "has a header and no rows"
                     : "is empty");
    return failed;
}

int cmd_randomize(int argc, char **argv)
{
    struct randomize job = {.fd = -1, .progress.what = "reports"};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &randomize_command, argc, argv, &job)) {
        cli_spec_clear(&job.spec);
        return p.exit;
    }
    job.input = p.operands[0];
    failed = randomize_check(&p, &job);
    if (!failed)
        failed = cli_spec_finish(&job.spec, &p);
    if (!failed)
        failed = randomize_run(&job);
    records_close(&job.table);
    output_abort(job.out);
    cli_close_input(job.fd);
    free(job.scheme);
    cli_spec_clear(&job.spec);
    return failed;
}
