/* works.c - what hearsay survey does: estimates, a matrix of one's own, how
 * many people are needed, a sheet to hand out, a rehearsal. */
#include "cli/survey/internal.h"

#include "host/base/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- An estimate --------------------------------------------------------- */

static void estimate_warn(const struct survey_rows *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct survey_row *row = &s->rows[i];

        if (!survey_odd(&row->r))
            continue;
        cli_note("warning: %s%s%sthe rate of yes is %.3g standard errors "
                 "beyond any possible share; check that this design was used "
                 "and that people followed it",
                 s->count > 1 ? "group " : "", s->count > 1 ? row->name : "",
                 s->count > 1 ? ": " : "", row->r.beyond);
    }
}

/* Rows of csv have no place for it. */
static void works_silent(const struct survey_silent *s,
                         enum table_format format)
{
    char text[SURVEY_SILENT_TEXT];

    survey_silent_text(text, s);
    if (format == TABLE_CSV && text[0] != '\0')
        cli_note("note: left out: %s", text);
}

static int estimate_run(const struct survey_data *data,
                        const struct survey_options *o, struct output *figure)
{
    struct survey_rows s = {0};
    struct cli_figure f = {0};
    hsy_error err = {0};
    int failed = 0;

    if (survey_rows_fill(&s, &o->design, data, o->level, &err) != HSY_OK) {
        output_abort(figure);
        return cli_fail_error(NULL, &err);
    }
    if (figure != NULL)
        failed = cli_finish_figure(figure, o->plot,
                                   survey_plot(&f.svg, &f.len, &s, &f.err), &f);
    if (!failed) {
        estimate_warn(&s);
        works_silent(&s.silent, o->format);
        survey_rows_print(stdout, o->format, &s);
    }
    survey_rows_clear(&s);
    return failed ? failed : cli_finish();
}

int survey_estimate(const struct survey_options *o, struct cli_parser *p)
{
    struct survey_data data = {0};
    struct output *figure = NULL;
    int failed = survey_input(&data, o, p);

    if (!failed && o->plot != NULL)
        failed = cli_open_output(&figure, o->plot);
    if (!failed)
        failed = estimate_run(&data, o, figure);
    survey_data_clear(&data);
    return failed;
}

/* ---- Through a matrix ---------------------------------------------------- */

struct matrix_run {
    const struct survey_options *how;
    struct labels labels; /* none, or d of them */
    struct survey_data data;
    struct survey_matrix m;
};

static int matrix_channel(struct matrix_run *x)
{
    struct matrix_file file = {0};
    hsy_error err = {0};
    hsy_status st;
    int failed = cli_matrix_read(&file, x->how->matrix);

    if (failed)
        return failed;
    st = survey_matrix_open(&x->m, &file, &err);
    free(file.bytes);
    return st == HSY_OK ? 0 : cli_fail_at(x->how->matrix, &err);
}

static int matrix_labels(struct matrix_run *x)
{
    const char *path = x->how->values_file;
    hsy_error err = {0};
    int failed;

    if (path == NULL)
        return 0;
    failed = cli_labels_read(&x->labels, path);
    if (failed)
        return failed;
    if (x->labels.d != x->m.d)
        return cli_fail("--values-file %s: %" PRIu32
                        " values, but the matrix has %zu lines",
                        path, x->labels.d, x->m.d);
    if (labels_index(&x->labels, &err) != HSY_OK)
        return cli_fail_line(path, &err);
    return 0;
}

static int matrix_estimate(struct matrix_run *x)
{
    hsy_error err = {0};

    if (survey_matrix_estimate(&x->m, x->data.states, &err) != HSY_OK)
        return cli_fail_error("--counts", &err);
    if (!x->m.shares.likely)
        cli_note("warning: the most likely shares are not exact to 1e-12");
    return 0;
}

static int matrix_draw(const struct matrix_run *x)
{
    struct cli_figure f = {0};
    const hsy_status made = survey_plot_matrix(
        &f.svg, &f.len, &x->m, &x->labels, x->how->level, &f.err);

    return cli_write_figure(x->how->plot, made, &f);
}

static int matrix_run(struct matrix_run *x, struct cli_parser *p)
{
    int failed = matrix_channel(x);

    if (!failed)
        failed = matrix_labels(x);
    if (!failed)
        failed = survey_states_input(&x->data, x->how, p, (uint32_t)x->m.d,
                                     &x->labels);
    if (!failed)
        failed = matrix_estimate(x);
    if (!failed && x->how->plot != NULL)
        failed = matrix_draw(x);
    if (failed)
        return failed;
    x->m.silent = x->data.silent;
    works_silent(&x->m.silent, x->how->format);
    survey_matrix_print(stdout, x->how->format, &x->m, &x->labels,
                        x->how->level);
    return cli_finish();
}

int survey_states(const struct survey_options *o, struct cli_parser *p)
{
    struct matrix_run *x = calloc(1, sizeof *x);
    int failed;

    if (x == NULL)
        return cli_fail_nomem();
    x->how = o;
    failed = matrix_run(x, p);
    survey_data_clear(&x->data);
    labels_clear(&x->labels);
    free(x);
    return failed;
}

/* ---- How many people ----------------------------------------------------- */

int survey_power(const struct survey_options *o, struct cli_parser *p)
{
    struct survey_aim aim = o->aim;
    struct survey_needs w;
    hsy_error err = {0};

    aim.level = o->level;
    if (isnan(aim.margin) == isnan(aim.shares[0]))
        return cli_usage(p, "--power needs either --margin M, or --shares A,B "
                            "of two groups to distinguish");
    if (isnan(aim.margin) && !isnan(aim.share))
        return cli_usage(
            p,
            "--share needs --margin; --shares already states what is expected");
    switch (survey_needs_find(&w, &o->design, &aim, &err)) {
    case HSY_OK:
        break;
    case HSY_E_EMPTY:
        return cli_usage(
            p, "--two-sample --power needs --margin M, --share F and "
               "--innocuous R, the expected shares of both questions");
    default:
        return cli_fail_error("--power", &err);
    }
    survey_needs_print(stdout, o->format, &w, &o->design, &aim);
    return cli_finish();
}

/* ---- A sheet ------------------------------------------------------------- */

static bool sheet_asks_two(const struct survey_kind *kind)
{
    return kind->design == HSY_SURVEY_UNRELATED ||
           kind->design == HSY_SURVEY_CROSSWISE;
}

int survey_questionnaire(const struct survey_options *o, struct cli_parser *p)
{
    struct survey_sheet sheet;
    const struct survey_design *d = &o->design;
    hsy_error err = {0};

    if (o->other_question != NULL && !sheet_asks_two(d->kind))
        return cli_usage(
            p,
            "--other-question needs --unrelated, --two-sample or --crosswise");
    if (d->kind->design == HSY_SURVEY_CHANNEL && d->chance[0] < d->chance[1])
        return cli_usage(p, "--channel: with P below Q, yes means no; reverse "
                            "the question and swap P and Q");
    if (survey_sheet_settle(&sheet, d, &err) != HSY_OK)
        return cli_fail("--%s: with at most %u cards, the design becomes: %s",
                        d->kind->name, SURVEY_CARDS, err.msg);
    survey_sheet_print(stdout, &sheet, d, o->question, o->other_question);
    return cli_finish();
}

/* ---- A rehearsal --------------------------------------------------------- */

static int rehearse_sizes(uint64_t n[2], const struct survey_options *o,
                          struct cli_parser *p)
{
    const bool pair = o->design.kind->pair;
    const size_t count = survey_counts(n, pair ? 2 : 1, o->n, "n", p);

    if (count == 0)
        return p->exit;
    if (count != (pair ? 2 : 1) || n[0] == 0 || (pair && n[1] == 0))
        return cli_usage(
            p, "--n: %s",
            pair ? "the sizes of both samples, e.g. 300,300, each at least 1"
                 : "must be at least 1");
    return 0;
}

int survey_simulate(const struct survey_options *o, struct cli_parser *p)
{
    struct cli_progress progress = {.what = "surveys",
                                    .total = (double)o->runs};
    struct survey_rehearsal_how how = {.level = o->level,
                                       .share = o->aim.share,
                                       .innocuous = o->aim.innocuous,
                                       .runs = o->runs,
                                       .seed = o->seed,
                                       .tick = cli_progress_set,
                                       .ctx = &progress};
    struct survey_rehearsal r;
    hsy_error err = {0};
    hsy_status st;
    int failed;

    if (isnan(o->aim.share) || o->n == NULL)
        return cli_usage(p, "simulate needs --share F (true share) and --n N "
                            "(number of people)");
    if (o->design.kind->pair && isnan(o->aim.innocuous))
        return cli_usage(p, "simulate --two-sample needs --innocuous R (share "
                            "of yes to the other question)");
    failed = rehearse_sizes(how.n, o, p);
    if (failed)
        return failed;
    st = survey_rehearse(&r, &o->design, &how, &err);
    cli_progress_end(&progress);
    if (st != HSY_OK)
        return cli_fail_error(NULL, &err);
    survey_rehearsal_print(stdout, o->format, &r, &o->design, &how);
    return cli_finish();
}
