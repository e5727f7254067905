/* rappor_estimate.c - RAPPOR decoded: its own files, or a tally of ours. */
#include "cli/estimate/internal.h"
#include "host/format/rappor_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const estimate_correction_names[] = {"fdr", "bonferroni", NULL};
const char *const estimate_method_names[] = {"sampler", "nnls", NULL};

/* What was read and what came of it. Owns its memory. */
struct rappor_job {
    const struct estimate_options *options;

    /* RAPPOR's files; or a tally, which is the caller's. */
    struct rappor_params params;
    struct rappor_map map;
    struct rappor_counts counts;
    const struct gather *gather; /* NULL: files */
    struct estimate_asked asked;
    struct shares_rappor tally;

    hsy_rappor_law law;
    hsy_rappor_data data;
    hsy_rappor_share *shares;
    hsy_rappor_summary summary;
    struct shares_row *rows; /* to print */
    size_t nrows;
    size_t unshown; /* detected, and not among them: together */
    hsy_estimate unshown_est;
    double dispersion; /* hsy_rappor_options */
};

static int rappor_fail(hsy_status st, const char *path, const hsy_error *err)
{
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_E_IO)
        return cli_fail("%s: %s", cli_input_name(path), strerror(errno));
    return err->line != 0 ? cli_fail_line(cli_input_name(path), err)
                          : cli_fail_error(cli_input_name(path), err);
}

static int rappor_load(struct rappor_job *j)
{
    const struct estimate_options *o = j->options;
    const struct rappor_params *p = &j->params;
    hsy_error err = {0};
    hsy_status st = rappor_params_read(&j->params, o->rappor, &err);

    if (st == HSY_OK)
        st = hsy_rappor_channel(&j->law, p->k, p->h, p->f, p->p, p->q, &err);
    if (st != HSY_OK)
        return rappor_fail(st, o->rappor, &err);
    st = rappor_map_read(&j->map, &j->params, o->map, &err);
    if (st != HSY_OK)
        return rappor_fail(st, o->map, &err);
    st = rappor_counts_read(&j->counts, &j->params, o->path, &err);
    if (st != HSY_OK)
        return rappor_fail(st, o->path, &err);
    j->data = (hsy_rappor_data){.size = sizeof j->data,
                                .k = p->k,
                                .h = p->h,
                                .m = p->m,
                                .p = j->law.p,
                                .q = j->law.q,
                                .totals = j->counts.totals,
                                .ones = j->counts.ones,
                                .candidates = j->map.candidates,
                                .bits = j->map.bits};
    return 0;
}

/* ---- A tally ------------------------------------------------------------- */

bool estimate_is_rappor(const struct gather *g)
{
    return strcmp(g->info.mechanism, "rappor") == 0;
}

/* What goes with points only. */
static int rappor_fits(const struct estimate_options *o)
{
    if (o->all || o->against != NULL || o->simultaneous || o->has_interval ||
        o->post != HSY_POST_NONE || o->covariance ||
        o->density != HSY_DENSITY_AUTO)
        return cli_fail("a tally of rappor is decoded: that takes "
                        "--candidates, --top, --method, --correction, "
                        "--alpha, --level, --target and --format");
    return 0;
}

static int rappor_take(struct rappor_job *j)
{
    const struct shares_tally t = gathered(j->gather);
    hsy_error err = {0};
    hsy_status st;
    int failed = rappor_fits(j->options);

    if (!failed)
        failed = estimate_ask(&j->asked, j->gather, j->options);
    if (failed)
        return failed;
    st =
        shares_rappor_open(&j->tally, &t, j->asked.codes, j->asked.count, &err);
    j->law = j->tally.law;
    j->data = j->tally.data;
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail_error(j->gather->first, &err);
}

/* ---- Decoding ------------------------------------------------------------ */

/* Candidates are called by their lines, or places in the tally's list, where
 * the library counts them. */
static int rappor_refused(const struct rappor_job *j, const hsy_error *err)
{
    const struct estimate_options *o = j->options;
    const bool own = j->gather != NULL && o->candidates == NULL;
    const char *list = j->gather == NULL ? o->map
                       : own             ? j->gather->first
                                         : o->candidates;
    const char *unit = own ? "value" : "line";

    if (err->line == 0 || err->field == NULL)
        return rappor_fail(err->status, o->path, err);
    if (strcmp(err->field, "candidates") != 0)
        return cli_fail_at(cli_input_name(o->path), "cohort", err);
    if (err->limit == 0)
        return cli_fail_at(cli_input_name(list), unit, err);
    return cli_fail("%s: %ss %llu and %llu: %s", cli_input_name(list), unit,
                    (unsigned long long)err->limit,
                    (unsigned long long)err->line, err->msg);
}

static double rappor_alpha(const struct estimate_options *o)
{
    return o->alpha != 0 ? o->alpha : 0.1;
}

static int rappor_decode(struct rappor_job *j)
{
    const struct estimate_options *o = j->options;
    const hsy_rappor_options how = {.size = sizeof how,
                                    .method = o->method,
                                    .correction = o->correction,
                                    .alpha = rappor_alpha(o),
                                    .level = o->how.level,
                                    .target = o->how.target,
                                    .dispersion = j->dispersion};
    hsy_error err = {0};
    hsy_status st =
        shares_rappor_decode(&j->shares, &j->summary, &j->data, &how, &err);

    j->rows = malloc(j->data.candidates * sizeof *j->rows + 1);
    if (st == HSY_E_NOMEM || j->rows == NULL)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : rappor_refused(j, &err);
}

/* ---- Printing ------------------------------------------------------------ */

/* A tally's estimates are unbiased like any other's, with the decoder's best
 * guess as a column of its own; of RAPPOR's files the guess comes first. */
static const struct cli_column rappor_columns[2][10] = {
    {{"value", NULL},
     {"estimate", "share"},
     {"stderr", "std. error"},
     {"low", "from"},
     {"high", "to"},
     {"unbiased", NULL},
     {"p_zero", "P(zero)"},
     {"q_value", "q-value"},
     {"level_selected", ""}, /* a table has it above */
     {"detected", NULL}},
    {{"value", NULL},
     {"estimate", NULL},
     {"stderr", "std. error"},
     {"low", "from"},
     {"high", "to"},
     {"post", "share"},
     {"p_zero", "P(zero)"},
     {"q_value", "q-value"},
     {"level_selected", ""}, /* a table has it above */
     {"detected", NULL}}};

#define RAPPOR_COLUMNS (sizeof rappor_columns[0] / sizeof rappor_columns[0][0])

static void rappor_name(const struct rappor_job *j, size_t i,
                        struct cli_cell *out)
{
    if (j->gather != NULL)
        estimate_name(j->gather, &j->asked, (uint32_t)i, out);
    else
        *out = cli_text(j->map.names[i]);
}

static void rappor_number(double x, size_t column, struct cli_cell *out)
{
    *out = cli_number(x);
    if (out->type == CLI_NONE)
        return;
    if (column >= 6)
        snprintf(out->shown, sizeof out->shown, "%.2g", x);
    else
        snprintf(out->shown, sizeof out->shown, "%.3f %%", 100 * x);
}

/* Last rows: detected ones that are not shown, and what is not detected. */
static void rappor_rest_cell(const struct rappor_job *j, bool unshown,
                             size_t column, struct cli_cell *out)
{
    const hsy_estimate *rest = unshown ? &j->unshown_est : &j->summary.rest;
    const double numbers[] = {0, rest->value, rest->sd, rest->low, rest->high};

    if (column == 0)
        *out = cli_text(unshown ? "(detected, not shown)" : "(not detected)");
    else if (column < sizeof numbers / sizeof numbers[0])
        rappor_number(numbers[column], column, out);
    else if (column == RAPPOR_COLUMNS - 2 && !unshown)
        *out = cli_number(j->options->how.level);
}

static double rappor_level(const struct rappor_job *j,
                           const hsy_rappor_share *s)
{
    const size_t all = j->data.candidates;

    return shares_rappor_level(s, &j->summary, j->options->how.level,
                               j->options->has_top ? j->nrows : all, all);
}

static void rappor_cell(const void *ctx, size_t row, size_t column,
                        struct cli_cell *out)
{
    const struct rappor_job *j = ctx;
    const hsy_rappor_share *s;
    const bool raw = j->gather != NULL;
    hsy_estimate est;

    if (row >= j->nrows) {
        rappor_rest_cell(j, row == j->nrows && j->unshown != 0, column, out);
        return;
    }
    s = &j->shares[j->rows[row].place];
    shares_rappor_interval(&est, s, rappor_level(j, s));
    if (column == 0) {
        rappor_name(j, j->rows[row].place, out);
    } else if (column == RAPPOR_COLUMNS - 1) {
        *out = cli_bool(s->detected);
    } else {
        const double numbers[] = {0,
                                  raw ? s->unbiased : s->est.value,
                                  est.sd,
                                  est.low,
                                  est.high,
                                  raw ? s->est.value : s->unbiased,
                                  s->p_zero,
                                  s->q,
                                  rappor_level(j, s)};

        rappor_number(numbers[column], column, out);
    }
}

static void rappor_head(const struct rappor_job *j)
{
    const hsy_rappor_summary *s = &j->summary;

    printf(
        "rappor, epsilon %.6g a report, %.6g for ever if the permanent answer "
        "is kept\n%llu reports in %u cohorts\n%zu of %zu candidates detected "
        "(%s at %g), %.2f %% of all; "
        "dispersion %.3f\n",
        j->law.epsilon_report, j->law.epsilon_permanent,
        (unsigned long long)s->reports, s->cohorts, s->detected,
        j->data.candidates, estimate_correction_names[j->options->correction],
        rappor_alpha(j->options), 100 * s->allocated, s->dispersion);
    printf("shares %s; %.14g %% intervals;\nthose of detected strings are "
           "adjusted for selection, %.8g %% each\n",
           estimate_among(j->options), 100 * j->options->how.level,
           100 * (j->nrows != 0 ? rappor_level(j, &j->shares[j->rows[0].place])
                                : s->level_selected));
    if (j->gather != NULL)
        estimate_attendance_say(j->gather);
    printf("%s is unbiased, and what the interval is of; share is the best "
           "guess that is not below 0\n",
           j->gather != NULL ? "estimate" : "unbiased");
    printf("not detected: %.2f %%, from %.2f %% to %.2f %%%s\n",
           100 * s->rest.value, 100 * s->rest.low, 100 * s->rest.high,
           shares_rappor_doubt(s) != NULL ? ", wholly below 0" : "");
    if (s->intercept)
        printf("unlisted strings: %.2f %%, standard error %.2f %%\n",
               100 * s->unlisted, 100 * s->unlisted_sd);
    putchar('\n');
}

#define RAPPOR_OWN 6u /* fields that only a tally has */

static void rappor_show(const struct rappor_job *j)
{
    const struct estimate_options *o = j->options;
    const hsy_rappor_summary *s = &j->summary;
    const bool raw = j->gather != NULL;
    const struct estimate_notes notes =
        raw ? estimate_notes(j->gather) : (struct estimate_notes){.n = 0};
    const bool rest = o->format != CLI_JSON && j->nrows < j->data.candidates;
    const struct cli_table table = {rappor_columns[raw], RAPPOR_COLUMNS,
                                    j->nrows + rest + (rest && j->unshown != 0),
                                    rappor_cell, j};
    const struct cli_field fields[] = {
        /* Those that only a tally has. */
        {"rounds", raw ? estimate_rounds(j->gather) : cli_text(NULL)},
        {"devices", raw ? estimate_devices(j->gather) : cli_text(NULL)},
        {"notes", cli_list(notes.text, notes.n)},
        {"kind", cli_text(hsy_kind_name(raw ? j->gather->info.kind
                                            : HSY_KIND_STRINGS))},
        {"epsilon", cli_number(raw ? j->gather->info.epsilon : NAN)},
        {"epsilon_exact", cli_number(j->law.epsilon_report)},
        {"mechanism", cli_text("rappor")},
        {"epsilon_report", cli_number(j->law.epsilon_report)},
        {"epsilon_permanent", cli_number(j->law.epsilon_permanent)},
        {"epsilon_permanent_if", cli_text("the permanent answer is kept")},
        {"reports", cli_count(s->reports)},
        {"cohorts", cli_count(s->cohorts)},
        {"candidates", cli_count(j->data.candidates)},
        {"detected", cli_count(s->detected)},
        {"allocated", cli_number(s->allocated)},
        {"unlisted", cli_number(s->intercept ? s->unlisted : NAN)},
        {"unlisted_stderr", cli_number(s->intercept ? s->unlisted_sd : NAN)},
        {"dispersion", cli_number(s->dispersion)},
        {"posed", cli_bool(s->posed)},
        {"level", cli_number(o->how.level)},
        {"selected", cli_count(s->detected)},
        {"of", cli_count(j->data.candidates)},
        {"level_selected", cli_number(s->level_selected)},
        {"unexplained", cli_estimate(&s->rest)},
        {"not_shown", j->unshown != 0 ? cli_estimate(&j->unshown_est)
                                      : (struct cli_cell){.type = CLI_NONE}},
        {"target", cli_text(estimate_target_names[o->how.target])},
        {"method", cli_text(estimate_method_names[o->method])},
        {"correction", cli_text(estimate_correction_names[o->correction])},
        {"alpha", cli_number(rappor_alpha(o))},
    };

    if (shares_rappor_doubt(s) != NULL)
        cli_note("warning: %s: %s", cli_input_name(o->path),
                 shares_rappor_doubt(s));
    if (o->format == CLI_TABLE)
        rappor_head(j);
    cli_print_said(o->format, &table, raw ? fields : fields + RAPPOR_OWN,
                   sizeof fields / sizeof fields[0] - (raw ? 0 : RAPPOR_OWN),
                   "estimates", estimate_said);
}

/* ---- Both ---------------------------------------------------------------- */

/* Of a tally all values asked for are printed, of RAPPOR's files those that
 * were detected. */
static void rappor_choose(struct rappor_job *j)
{
    const struct estimate_options *o = j->options;

    for (size_t i = 0; i < j->data.candidates; i++) {
        if (j->gather != NULL || o->all || j->shares[i].detected)
            j->rows[j->nrows++] = (struct shares_row){
                .est.value = j->shares[i].unbiased, .place = (uint32_t)i};
    }
    if (o->has_top)
        shares_top(j->rows, &j->nrows, o->top, false);
    j->unshown = shares_rappor_unshown(&j->unshown_est, j->shares, &j->summary,
                                       j->rows, j->nrows);
}

/* Decode what was loaded, print it, and free it. */
static int rappor_run(struct rappor_job *j, int failed)
{
    if (!failed)
        failed = rappor_decode(j);
    if (!failed)
        rappor_choose(j);
    if (!failed) {
        rappor_show(j);
        failed = cli_finish();
    }
    rappor_map_free(&j->map);
    rappor_counts_free(&j->counts);
    estimate_asked_clear(&j->asked);
    shares_rappor_clear(&j->tally);
    free(j->shares);
    free(j->rows);
    return failed;
}

int estimate_rappor(const struct estimate_options *o)
{
    struct rappor_job j = {.options = o};

    return rappor_run(&j, rappor_load(&j));
}

int estimate_rappor_tally(const struct gather *g,
                          const struct estimate_options *o)
{
    const struct shares_tally t = gathered(g);
    struct rappor_job j = {.options = o,
                           .gather = g,
                           .dispersion =
                               shares_rappor_dispersion(&t, o->how.target)};

    return rappor_run(&j, rappor_take(&j));
}
