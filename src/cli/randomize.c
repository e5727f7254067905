/* randomize.c - hearsay randomize: truths in, reports out. */
#define _DEFAULT_SOURCE
#include "cli/base/attributes.h"
#include "host/format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RANDOMIZE_OUTPUT = 1,
    RANDOMIZE_JSON,
    RANDOMIZE_SIMULATE,
    RANDOMIZE_SEED
};

static const struct cli_option randomize_options[] = {
    CLI_KIND_OPTIONS,
    {CLI_OPT_ATTRIBUTE, "attribute", "NAME=KIND...",
     "several attributes: columns of CSV with a header.\n"
     "yes-no, A,B,C, @FILE, LO:HI, LO:HI/BINS, strings;\n"
     "NAME?=KIND: a field may be empty, which is \"none\""},
    CLI_SCHEME_OPTIONS,
    CLI_TASK_OPTION,
    CLI_LIMIT_OPTIONS,
    {CLI_OPT_OTHER, "other", NULL,
     "count what is not in the list as \"other\""},
    {CLI_OPT_CLIP, "clip", NULL, "move numbers outside the range to its end"},
    {RANDOMIZE_OUTPUT, "output", "FILE",
     "write there, whole or not at all ('-': stdout)"},
    {RANDOMIZE_JSON, "json", NULL, "write the readable twin of the stream"},
    {RANDOMIZE_SIMULATE, "simulate", NULL,
     "not for real people: noise from --seed N"},
    {RANDOMIZE_SEED, "seed", "N", "with --simulate: which noise"},
    {0, NULL, NULL, NULL}};

static const struct cli_command randomize_command = {
    "randomize",
    "KIND --epsilon E [options] [FILE] | --task FILE:ID [options] [FILE]",
    "Randomize truths, one a line, into reports. One proves nothing about its\n"
    "truth; 'hearsay tally' counts them, 'hearsay estimate' says what they "
    "tell.",
    randomize_options};

struct randomize_options {
    const char *input, *output;
    bool json, simulate, has_seed;
    uint64_t seed;
};

#define RANDOMIZE_BATCH 16384u     /* most reports at once */
#define RANDOMIZE_BYTES (1u << 20) /* most bytes of reports at once */
#define RANDOMIZE_LINES 2048u      /* lines coded at once */

/* Reports are made in batches of one size, whatever the reads bring: so a
 * seed gives the same stream from a pipe and from a file, and a stream does
 * not tell when its truths came. */
struct randomize_job {
    const struct randomize_options *how;
    struct cli_spec spec;
    hsy_scheme *scheme;
    struct output *out;
    struct lines lines;
    int fd;
    size_t batch, report_bytes, filled;
    size_t width;     /* codes of a truth */
    uint64_t *codes;  /* batch, and room for one more block of lines */
    uint8_t *reports; /* batch times report_bytes */
    uint8_t *packed;
    uint64_t written;
    hsy_entropy entropy;
    hsy_coins coins;              /* of entropy */
    hsy_stream secret, published; /* simulation only */
    struct cli_progress progress;
};

/* ---- Writing ------------------------------------------------------------- */

static hsy_status randomize_head(struct randomize_job *j, hsy_error *err)
{
    const hsy_spec *spec = &j->spec.spec;

    if (j->how->json)
        return container_put_json_head(j->out, j->scheme, spec->labels,
                                       spec->labels_len, err);
    return container_put_prefix(j->out, j->scheme, spec->labels,
                                spec->labels_len, HSY_CONTENT_REPORTS);
}

static hsy_status randomize_put(struct randomize_job *j, size_t n)
{
    if (j->how->json)
        return container_put_json_reports(j->out, j->scheme, j->reports, n);
    hsy_pack(j->scheme, j->packed, j->reports, n);
    return container_put_reports(j->out, j->scheme, j->packed, n);
}

static int randomize_end(struct randomize_job *j)
{
    hsy_status st = j->how->json ? container_put_json_end(j->out, j->written)
                                 : container_put_end(j->out, j->written);
    struct output *out = j->out;

    if (st != HSY_OK)
        return cli_fail_output(j->how->output);
    j->out = NULL; /* commit frees it either way */
    errno = 0;
    return output_commit(out) == HSY_OK ? CLI_DONE
                                        : cli_fail_output(j->how->output);
}

/* ---- Randomizing --------------------------------------------------------- */

/* The first n codes become reports and leave the buffer. */
static int randomize_flush(struct randomize_job *j, size_t n)
{
    hsy_error err = {0};
    hsy_status st;

    if (j->how->simulate)
        st = hsy_simulate_batch(j->scheme, j->reports, j->codes, n, &j->secret,
                                &j->published, &err);
    else
        st = hsy_randomize_batch(j->scheme, j->reports, j->codes, n, &j->coins,
                                 &err);
    if (st != HSY_OK) {
        err.at = 0; /* where it happened must not tell of a truth */
        return cli_fail_error(NULL, &err);
    }
    errno = 0;
    if (randomize_put(j, n) != HSY_OK)
        return cli_fail_output(j->how->output);
    j->filled -= n;
    memmove(j->codes, j->codes + n * j->width,
            j->filled * j->width * sizeof *j->codes);
    j->written += n;
    cli_progress_tick(&j->progress, j->written, "reports");
    return 0;
}

/* Codes of n lines, which come after `before` others; a header has none. The
 * line and what to do are said of a bad one, never the value. */
static int randomize_code(struct randomize_job *j, const struct line *lines,
                          size_t n, uint64_t before)
{
    const struct coder coder = cli_coder(&j->spec, j->scheme);
    struct truth_wrong wrong = {0};
    size_t good =
        code_lines(&coder, j->codes + j->filled * j->width, lines, n, &wrong);

    if (good < n)
        return cli_fail("%s: line %" PRIu64 ": %s",
                        cli_input_name(j->how->input), before + good + 1,
                        cli_truth_said(&wrong));
    j->filled += n;
    return 0;
}

static int randomize_code_records(struct randomize_job *j,
                                  const struct line *lines, size_t n,
                                  uint64_t before)
{
    const char *name = cli_input_name(j->how->input);
    struct records *r = &j->spec.tuple->records;

    for (size_t i = 0; i < n; i++) {
        struct truth_wrong wrong = {0};
        bool header = !r->headed;
        bool good = header ? records_header(r, &lines[i], &wrong)
                           : records_codes(r, j->codes + j->filled * j->width,
                                           &lines[i], &wrong);

        if (!good && wrong.column != NULL)
            return cli_fail("%s: line %" PRIu64 ", %s: %s", name,
                            before + i + 1, wrong.column,
                            cli_truth_said(&wrong));
        if (!good && wrong.place != 0)
            return cli_fail("%s: line %" PRIu64 ", column %zu: %s", name,
                            before + i + 1, wrong.place,
                            cli_truth_said(&wrong));
        if (!good)
            return cli_fail("%s: line %" PRIu64 ": %s", name, before + i + 1,
                            cli_truth_said(&wrong));
        j->filled += !header;
    }
    return 0;
}

static int randomize_lines(struct randomize_job *j)
{
    const char *name = cli_input_name(j->how->input);
    struct line lines[RANDOMIZE_LINES];
    size_t n;

    do {
        uint64_t before = j->lines.number;
        hsy_error err = {0};
        int failed;

        if (lines_next(&j->lines, lines, RANDOMIZE_LINES, &n, &err) != HSY_OK)
            return cli_fail_line(name, &err);
        failed = j->spec.tuple != NULL
                     ? randomize_code_records(j, lines, n, before)
                     : randomize_code(j, lines, n, before);
        while (!failed && j->filled >= j->batch)
            failed = randomize_flush(j, j->batch);
        if (failed)
            return failed;
    } while (n != 0);
    return j->filled != 0 ? randomize_flush(j, j->filled) : 0;
}

/* ---- Setting up ---------------------------------------------------------- */

static size_t randomize_batch_size(size_t report_bytes)
{
    size_t n = RANDOMIZE_BYTES / report_bytes / 8 * 8;

    if (n < 8)
        n = 8;
    return n < RANDOMIZE_BATCH ? n : RANDOMIZE_BATCH;
}

static bool randomize_allocate(struct randomize_job *j)
{
    hsy_scheme_info info;

    hsy_scheme_describe(j->scheme, &info);
    j->report_bytes = info.report_bytes;
    j->batch = randomize_batch_size(info.report_bytes);
    j->width = hsy_codes_per_truth(j->scheme);
    j->codes =
        malloc((j->batch + RANDOMIZE_LINES) * j->width * sizeof *j->codes);
    j->reports = malloc(j->batch * info.report_bytes);
    j->packed = malloc(hsy_packed_size(j->scheme, j->batch));
    return j->codes != NULL && j->reports != NULL && j->packed != NULL &&
           lines_open(&j->lines, j->fd) == HSY_OK;
}

static void randomize_coins(struct randomize_job *j)
{
    hsy_entropy_init(&j->entropy);
    j->coins = hsy_entropy_coins(&j->entropy);
    if (j->how->simulate) {
        hsy_stream_seed(&j->secret, j->how->seed, 0);
        hsy_stream_seed(&j->published, j->how->seed, 1);
    }
}

static int randomize_open(struct randomize_job *j)
{
    hsy_error err = {0};
    hsy_status st;
    int failed = cli_scheme_new(&j->scheme, &j->spec.spec);

    if (!failed)
        failed = cli_scheme_reports(j->scheme);
    if (failed)
        return failed;
    j->fd = cli_open_input(j->how->input);
    if (j->fd == -1)
        return CLI_FAILED;
    if (!randomize_allocate(j))
        return cli_fail_nomem();
    randomize_coins(j);
    errno = 0;
    st = output_open(&j->out, j->how->output);
    if (st == HSY_OK)
        st = randomize_head(j, &err);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_E_RANGE)
        return cli_fail_error("--json", &err);
    return st == HSY_OK ? 0 : cli_fail_output(j->how->output);
}

/* Takes a half-open job. Truths and coins do not outlive it. */
static void randomize_close(struct randomize_job *j)
{
    cli_progress_end(&j->progress);
    output_abort(j->out);
    lines_close(&j->lines);
    cli_close_input(j->fd);
    if (j->codes != NULL)
        explicit_bzero(j->codes, (j->batch + RANDOMIZE_LINES) * j->width *
                                     sizeof *j->codes);
    free(j->codes);
    free(j->reports);
    free(j->packed);
    free(j->scheme);
    cli_spec_clear(&j->spec);
    hsy_entropy_clear(&j->entropy);
    hsy_stream_clear(&j->secret);
    hsy_stream_clear(&j->published);
}

static int randomize_run(struct randomize_job *j)
{
    int failed;

    if (cli_spec_trivial(&j->spec)) {
        cli_note("one value only: every answer is known beforehand, so "
                 "nothing is sent");
        return CLI_DONE;
    }
    if (j->spec.permanent)
        cli_note("note: this keeps no permanent answer: every report spends "
                 "its epsilon anew. 'hearsay device' answers as a device does");
    failed = cli_hide();
    if (!failed)
        failed = randomize_open(j);
    if (!failed)
        failed = randomize_lines(j);
    if (!failed)
        failed = randomize_end(j);
    if (!failed && j->written == 0)
        cli_note("note: %s %s: the stream holds no reports",
                 cli_input_name(j->how->input),
                 j->spec.tuple != NULL && j->spec.tuple->records.headed
                     ? "has a header and no rows"
                     : "is empty");
    return failed;
}

/* ---- Options ------------------------------------------------------------- */

static bool randomize_option(struct cli_parser *p, int id,
                             struct randomize_options *o, struct cli_spec *spec)
{
    switch (id) {
    case RANDOMIZE_OUTPUT:
        o->output = cli_output_path(p->value);
        return true;
    case RANDOMIZE_JSON:
        o->json = true;
        return true;
    case RANDOMIZE_SIMULATE:
        o->simulate = true;
        return true;
    case RANDOMIZE_SEED:
        o->has_seed = true;
        return cli_value_count(p, &o->seed, 0, UINT64_MAX);
    case CLI_OPERAND:
        if (o->input != NULL)
            cli_usage(p, "one input at a time: '%s' is the second", p->value);
        else
            o->input = p->value;
        return p->exit == 0;
    default:
        return cli_spec_option(spec, p, id);
    }
}

static int randomize_check(struct cli_parser *p,
                           const struct randomize_options *o,
                           const struct cli_spec *spec)
{
    const char *const inputs[] = {o->input != NULL ? o->input : "-",
                                  spec->values_file};

    if (o->has_seed && !o->simulate)
        return cli_usage(
            p, "--seed is refused: who knows the seed knows every truth. Real "
               "answers take their noise from the kernel; for made-up people "
               "say --simulate --seed N");
    if (o->simulate && !o->has_seed)
        return cli_usage(p, "--simulate needs --seed N");
    if (!o->json && o->output == NULL && isatty(STDOUT_FILENO) == 1)
        return cli_usage(p, "a report stream is not for a terminal: redirect "
                            "it, use -o FILE, or --json");
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

int cmd_randomize(int argc, char **argv)
{
    struct randomize_options options = {0};
    struct randomize_job job = {.how = &options, .fd = -1, .lines.fd = -1};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &randomize_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP || !randomize_option(&p, id, &options, &job.spec)) {
            cli_spec_clear(&job.spec);
            return p.exit;
        }
    }
    failed = randomize_check(&p, &options, &job.spec);
    if (!failed)
        failed = cli_spec_finish(&job.spec, &p);
    if (!failed)
        failed = randomize_run(&job);
    randomize_close(&job);
    return failed;
}
