/* release.c - hearsay release: truths in, a curator's noisy tally out. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"
#include "host/format/format.h"
#include "host/format/randomizer.h"
#include "host/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct release_options {
    const char *input, *output;
    bool simulate;
    int neighbours; /* 0: as many people; 1: one more or less, too */
    uint64_t seed;
    struct cli_spec spec;
};

/* ---- Options ------------------------------------------------------------- */

#define RELEASE(member) offsetof(struct release_options, member)

static const char *const release_neighbours[] = {"replace", "add-remove", NULL};

static const struct cli_option release_rows[] = {
    CLI_KIND_OPTIONS,
    CLI_SPEC_AS("epsilon", NULL,
                "epsilon of the release: 0.000001 to 32, or e.g. ln3"),
    {"neighbours", "replace|add-remove",
     "hide a person's truth, or also whether the person took part",
     CLI_INTO_CHOICE, RELEASE(neighbours), .words = release_neighbours,
     .preset = "replace"},
    CLI_MADE_UP_OPTIONS(struct release_options),
    {0}};

static const struct cli_command release_command = {
    "release",
    "KIND --epsilon E [options] [FILE]",
    "Publish the counts of people who trust you with their truths, one per "
    "line,\nas a noisy tally. 'hearsay tally' adds up the tallies of several "
    "curators, and\n'hearsay estimate' knows the noise of their sum. The "
    "curator sees all truths.\nIf people do not trust a curator, use 'hearsay "
    "randomize'.",
    release_rows,
    .operands = "[FILE]",
    .spec = RELEASE(spec)};

static int release_check(struct cli_parser *p, const struct release_options *o)
{
    const char *const inputs[] = {o->input != NULL ? o->input : "-",
                                  o->spec.values_file};

    if (o->output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(p, "will not write a tally to a terminal; redirect "
                            "it, or use -o FILE");
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

/* ---- Releasing ----------------------------------------------------------- */

struct release_job {
    const struct release_options *how;
    hsy_scheme *scheme;
    struct output *out;
    int fd;
    int64_t *memory; /* of the tally: truths until the noise is added */
    size_t words;
    hsy_tally tally;
    struct cli_progress progress;
};

static int release_count(struct release_job *j, struct randomized *done)
{
    const struct randomizer how = {.scheme = j->scheme,
                                   .coder = cli_coder(&j->how->spec, j->scheme),
                                   .seed =
                                       j->how->simulate ? &j->how->seed : NULL,
                                   .tick = cli_progress_set,
                                   .ctx = &j->progress};
    hsy_error err = {0};
    hsy_status st;

    cli_progress_file(&j->progress, j->fd);
    st = curator_release(done, &j->tally, &how, j->fd, &err);
    cli_progress_end(&j->progress);
    return st == HSY_OK
               ? 0
               : cli_fail_truths(j->how->input, j->how->output, done, &err);
}

static int release_write(struct release_job *j)
{
    const hsy_spec *spec = &j->how->spec.spec;
    struct output *out = j->out;

    if (container_put_tally(out, j->scheme, spec->labels, spec->labels_len,
                            &j->tally, NULL, NULL) != HSY_OK)
        return cli_fail_output(j->how->output);
    j->out = NULL; /* commit frees it either way */
    errno = 0;
    return output_commit(out) == HSY_OK ? CLI_DONE
                                        : cli_fail_output(j->how->output);
}

static void release_note(const struct release_job *j, uint64_t people)
{
    if (j->how->simulate)
        return;
    cli_note("note: this release spends epsilon %.9g of everybody in it; each "
             "further release about the same people spends its epsilon again",
             (double)j->how->spec.spec.nano_epsilon / 1e9);
    if (j->how->neighbours == 0 && people == 0)
        cli_note("note: %s is empty; the release counts nobody",
                 cli_input_name(j->how->input));
}

static int release_open(struct release_job *j)
{
    int failed = cli_scheme_new(&j->scheme, &j->how->spec.spec);

    if (failed)
        return failed;
    j->fd = cli_open_input(j->how->input);
    if (j->fd == -1)
        return CLI_FAILED;
    j->words = hsy_tally_words(j->scheme);
    j->memory = calloc(j->words, sizeof *j->memory);
    if (j->memory == NULL)
        return cli_fail_nomem();
    hsy_tally_init(&j->tally, j->scheme, j->memory);
    return cli_open_output(&j->out, j->how->output);
}

/* Takes a half-open job. Truths do not outlive it. */
static void release_close(struct release_job *j)
{
    output_abort(j->out);
    cli_close_input(j->fd);
    if (j->memory != NULL)
        explicit_bzero(j->memory, j->words * sizeof *j->memory);
    free(j->memory);
    free(j->scheme);
}

static int release_run(const struct release_options *o)
{
    struct release_job j = {.how = o, .fd = -1, .progress.what = "people"};
    struct randomized done = {0};
    int failed;

    if (cli_spec_trivial(&o->spec)) {
        cli_note("only one value: every answer is known beforehand, so there "
                 "is nothing to release");
        return CLI_DONE;
    }
    failed = cli_hide();
    if (!failed)
        failed = release_open(&j);
    if (!failed)
        failed = release_count(&j, &done);
    if (!failed)
        failed = release_write(&j);
    if (!failed)
        release_note(&j, done.written);
    release_close(&j);
    return failed;
}

int cmd_release(int argc, char **argv)
{
    struct release_options options = {0};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &release_command, argc, argv, &options)) {
        cli_spec_clear(&options.spec);
        return p.exit;
    }
    options.input = p.operands[0];
    failed = release_check(&p, &options);
    if (!failed)
        failed = cli_spec_finish(&options.spec, &p);
    options.spec.spec.mechanism = plan_curator(options.neighbours == 1);
    if (!failed)
        failed = release_run(&options);
    cli_spec_clear(&options.spec);
    return failed;
}
