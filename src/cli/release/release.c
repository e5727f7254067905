/* release.c - hearsay release: truths in, a curator's noisy tally out. */
#define _DEFAULT_SOURCE
#include "cli/release/internal.h"

#include "host/format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RELEASE_NEIGHBOURS = 1,
    RELEASE_OUTPUT,
    RELEASE_SIMULATE,
    RELEASE_SEED,
    RELEASE_COMPARE,
    RELEASE_PLOT,
    RELEASE_FORMAT
};

static const struct cli_option release_options[] = {
    {CLI_OPT_YES_NO, "yes-no", NULL, "yes/no, true/false or 1/0"},
    {CLI_OPT_VALUES, "values", "A,B,C", "one of a list (quote as in CSV)"},
    {CLI_OPT_VALUES_FILE, "values-file", "FILE",
     "one of a list, a value a line"},
    {CLI_OPT_DOMAIN, "domain", "D", "one of the integers 0 to D-1"},
    {CLI_OPT_RANGE, "range", "LO:HI",
     "a number; its mean is asked, or with --bins"},
    {CLI_OPT_BINS, "bins", "B", "... the share of each of B equal bins"},
    {CLI_OPT_EPSILON, "epsilon", "E",
     "privacy of the release, 0.000001 to 32, or ln3"},
    {RELEASE_NEIGHBOURS, "neighbours", "replace|add-remove",
     "what is hidden: a person's truth (default replace),\n"
     "or also whether a person is there at all"},
    {CLI_OPT_OTHER, "other", NULL,
     "count what is not in the list as \"other\""},
    {CLI_OPT_CLIP, "clip", NULL, "move numbers outside the range to its end"},
    {RELEASE_OUTPUT, "output", "FILE",
     "write there, whole or not at all ('-': stdout)"},
    {RELEASE_SIMULATE, "simulate", NULL,
     "not for real people: noise from --seed N"},
    {RELEASE_SEED, "seed", "N", "with --simulate: which noise"},
    {RELEASE_COMPARE, "compare", NULL,
     "read nothing: print the error to expect, with\n"
     "one curator, several, and none"},
    {RELEASE_PLOT, "plot", "FILE.svg", "with --compare: draw it"},
    CLI_FORMAT_OPTION(RELEASE_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command release_command = {
    "release",
    "KIND --epsilon E [options] [FILE] | KIND --epsilon E --compare [options]",
    "Publish the counts of people who trust you with their truths, one a line, "
    "as\n"
    "a tally with noise. Tallies of several curators add up with 'hearsay "
    "tally',\n"
    "and 'hearsay estimate' knows the noise of their sum. Nobody but the "
    "curator\n"
    "sees the truths; whoever does not trust one wants 'hearsay randomize'.",
    release_options};

#define RELEASE_LINES 2048u /* lines coded at once */

struct release_job {
    const struct release_options *how;
    struct cli_spec spec;
    hsy_scheme *scheme;
    struct output *out;
    struct lines lines;
    int fd;
    uint64_t *codes;
    int64_t *memory; /* of the tally: truths until the noise is added */
    size_t words;
    hsy_tally tally;
    hsy_entropy entropy;
    hsy_stream stream; /* simulation only */
    struct cli_progress progress;
};

/* ---- Counting ------------------------------------------------------------ */

/* The line and what to do are said of a bad one, never the value. */
static int release_count(struct release_job *j, const struct line *lines,
                         size_t n, uint64_t before)
{
    const struct coder coder = cli_coder(&j->spec, j->scheme);
    struct truth_wrong wrong = {0};
    size_t good = code_lines(&coder, j->codes, lines, n, &wrong);
    hsy_error err = {0};

    if (good < n)
        return cli_fail("%s: line %" PRIu64 ": %s",
                        cli_input_name(j->how->input), before + good + 1,
                        cli_truth_said(&wrong));
    if (hsy_central_count(&j->tally, j->scheme, j->codes, n, &err) != HSY_OK)
        return cli_fail_error(NULL, &err);
    return 0;
}

static int release_lines(struct release_job *j)
{
    const char *name = cli_input_name(j->how->input);
    struct line lines[RELEASE_LINES];
    size_t n;

    do {
        uint64_t before = j->lines.number;
        hsy_error err = {0};
        int failed;

        if (lines_next(&j->lines, lines, RELEASE_LINES, &n, &err) != HSY_OK)
            return cli_fail_line(name, &err);
        failed = release_count(j, lines, n, before);
        if (failed)
            return failed;
        cli_progress_tick(&j->progress, j->lines.number, "people");
    } while (n != 0);
    return 0;
}

/* ---- Releasing ----------------------------------------------------------- */

static int release_noise(struct release_job *j)
{
    hsy_rng rng = hsy_entropy_coins(&j->entropy).secret;
    hsy_error err = {0};

    if (j->how->simulate) {
        hsy_stream_seed(&j->stream, j->how->seed, 0);
        rng = hsy_stream_rng(&j->stream);
    }
    if (hsy_central_release(&j->tally, j->scheme, &rng, &err) != HSY_OK)
        return cli_fail_error(NULL, &err);
    return 0;
}

static int release_write(struct release_job *j)
{
    struct output *out = j->out;
    hsy_status st =
        container_put_tally(out, j->scheme, j->spec.spec.labels,
                            j->spec.spec.labels_len, &j->tally, NULL);

    if (st != HSY_OK)
        return cli_fail_output(j->how->output);
    j->out = NULL; /* commit frees it either way */
    errno = 0;
    return output_commit(out) == HSY_OK ? CLI_DONE
                                        : cli_fail_output(j->how->output);
}

static void release_note(const struct release_job *j)
{
    const hsy_spec *spec = &j->spec.spec;

    if (j->how->simulate)
        return;
    cli_note("note: this release spends epsilon %.9g of everybody in it. It is "
             "made once: each further release about the same people spends its "
             "epsilon again",
             (double)spec->nano_epsilon / 1e9);
    if (!j->how->open && j->lines.number == 0)
        cli_note("note: %s is empty: the release is about nobody",
                 cli_input_name(j->how->input));
}

static int release_open(struct release_job *j)
{
    int failed = cli_scheme_new(&j->scheme, &j->spec.spec);

    if (failed)
        return failed;
    j->fd = cli_open_input(j->how->input);
    if (j->fd == -1)
        return CLI_FAILED;
    j->words = hsy_tally_words(j->scheme);
    j->memory = calloc(j->words, sizeof *j->memory);
    j->codes = calloc(RELEASE_LINES, sizeof *j->codes);
    if (j->memory == NULL || j->codes == NULL ||
        lines_open(&j->lines, j->fd) != HSY_OK)
        return cli_fail_nomem();
    hsy_tally_init(&j->tally, j->scheme, j->memory);
    hsy_entropy_init(&j->entropy);
    return cli_open_output(&j->out, j->how->output);
}

/* Takes a half-open job. Truths and coins do not outlive it. */
static void release_close(struct release_job *j)
{
    cli_progress_end(&j->progress);
    output_abort(j->out);
    lines_close(&j->lines);
    cli_close_input(j->fd);
    if (j->codes != NULL)
        explicit_bzero(j->codes, RELEASE_LINES * sizeof *j->codes);
    if (j->memory != NULL)
        explicit_bzero(j->memory, j->words * sizeof *j->memory);
    free(j->codes);
    free(j->memory);
    free(j->scheme);
    cli_spec_clear(&j->spec);
    hsy_entropy_clear(&j->entropy);
    hsy_stream_clear(&j->stream);
}

static int release_run(struct release_job *j)
{
    int failed;

    if (cli_spec_trivial(&j->spec)) {
        cli_note("one value only: every answer is known beforehand, so there "
                 "is nothing to release");
        return CLI_DONE;
    }
    if (j->how->compare)
        return release_compare(&j->spec.spec, j->how);
    failed = cli_hide();
    if (!failed)
        failed = release_open(j);
    if (!failed)
        failed = release_lines(j);
    if (!failed)
        failed = release_noise(j);
    if (!failed)
        failed = release_write(j);
    if (!failed)
        release_note(j);
    return failed;
}

/* ---- Options ------------------------------------------------------------- */

static bool release_neighbours(struct cli_parser *p, struct release_options *o)
{
    static const char *const names[] = {"replace", "add-remove", NULL};
    int choice = 0;
    bool good = cli_value_choice(p, &choice, names);

    o->open = choice == 1;
    return good;
}

static bool release_operand(struct cli_parser *p, struct release_options *o)
{
    if (o->input != NULL)
        cli_usage(p, "one input at a time: '%s' is the second", p->value);
    else
        o->input = p->value;
    return p->exit == 0;
}

static bool release_option(struct cli_parser *p, int id,
                           struct release_options *o, struct cli_spec *spec)
{
    switch (id) {
    case RELEASE_NEIGHBOURS:
        return release_neighbours(p, o);
    case RELEASE_OUTPUT:
        o->output = cli_output_path(p->value);
        return true;
    case RELEASE_SIMULATE:
        o->simulate = true;
        return true;
    case RELEASE_SEED:
        o->has_seed = true;
        return cli_value_count(p, &o->seed, 0, UINT64_MAX);
    case RELEASE_COMPARE:
        o->compare = true;
        return true;
    case RELEASE_PLOT:
        o->plot = p->value;
        return true;
    case RELEASE_FORMAT:
        o->has_format = true;
        return cli_value_format(p, &o->format);
    case CLI_OPERAND:
        return release_operand(p, o);
    default:
        return cli_spec_option(spec, p, id);
    }
}

static int release_check(struct cli_parser *p, const struct release_options *o,
                         const struct cli_spec *spec)
{
    const char *const inputs[] = {o->input != NULL ? o->input
                                  : o->compare     ? NULL
                                                   : "-",
                                  spec->values_file};

    if (o->compare &&
        (o->input != NULL || o->output != NULL || o->simulate || o->has_seed))
        return cli_usage(p, "--compare reads no truths and releases nothing: "
                            "no FILE, --output, --simulate or --seed");
    if (!o->compare && (o->plot != NULL || o->has_format))
        return cli_usage(p, "--plot and --format go with --compare; a release "
                            "is a tally, which 'hearsay estimate' reads");
    if (o->has_seed && !o->simulate)
        return cli_usage(
            p, "--seed is refused: who knows the seed knows the truth. Real "
               "releases take their noise from the kernel; for made-up people "
               "say --simulate --seed N");
    if (o->simulate && !o->has_seed)
        return cli_usage(p, "--simulate needs --seed N");
    if (!o->compare && o->output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(p, "a tally is not for a terminal: redirect it or "
                            "use -o FILE");
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

int cmd_release(int argc, char **argv)
{
    struct release_options options = {0};
    struct release_job job = {.how = &options, .fd = -1, .lines.fd = -1};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &release_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP || !release_option(&p, id, &options, &job.spec)) {
            cli_spec_clear(&job.spec);
            return p.exit;
        }
    }
    failed = release_check(&p, &options, &job.spec);
    if (!failed)
        failed = cli_spec_finish(&job.spec, &p);
    job.spec.spec.mechanism = release_mechanism(&options);
    if (!failed)
        failed = release_run(&job);
    release_close(&job);
    return failed;
}
