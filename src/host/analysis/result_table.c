/* result_table.c - a result as a table, for a person. */
#include "host/analysis/internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SHOW_BAR_MAX 24

struct show_state {
    const hsy_analysis_result *result;
    hsy_analysis_column what[HSY_COLUMNS];
    struct table_column columns[HSY_COLUMNS + 1];
    size_t ncolumns; /* a bar is one more, the last */
    bool bar;
    int decimals[HSY_ATTRIBUTES_MAX + 1]; /* of a part */
    double longest;                       /* the largest share, for bars */
};

static bool show_decoded(const hsy_analysis_result *r)
{
    return r->info.analysis == HSY_ANALYSIS_RAPPOR;
}

static bool show_tuple(const hsy_analysis_result *r)
{
    return (r->columns & 1u << HSY_COLUMN_ATTRIBUTE) != 0;
}

/* ---- Cells --------------------------------------------------------------- */

static void show_bar(const struct show_state *s, size_t row,
                     struct table_cell *out)
{
    const hsy_analysis_result *r = s->result;
    double share = s->longest > 0 && row < r->count
                       ? r->rows[row].est.value / s->longest
                       : 0;
    int n = (int)(SHOW_BAR_MAX * fmin(fmax(share, 0), 1) + 0.5);

    if (row >= r->count) {
        *out = cell_text("");
        return;
    }
    memset(out->shown, '#', (size_t)n);
    out->shown[n] = '\0';
    out->type = CELL_TEXT;
    out->text = out->shown;
    out->len = strlen(out->shown);
}

/* A mean as it is, shares in percent. */
static void show_share(const struct show_state *s, size_t row,
                       struct table_cell *out)
{
    const hsy_analysis_result *r = s->result;
    const hsy_analysis_row *of = row < r->count ? &r->rows[row] : NULL;
    const bool mean = of != NULL && of->mean;
    const int decimals =
        show_decoded(r) ? 3 : s->decimals[of != NULL ? of->part : 0];

    if (r->question == HSY_ASK_RANGES)
        snprintf(out->shown, sizeof out->shown, mean ? "%.6g" : "%.3f %%",
                 mean ? out->number : 100 * out->number);
    else
        snprintf(out->shown, sizeof out->shown, "%.*f%s", decimals,
                 (mean ? 1 : 100) * out->number, mean ? "" : " %");
}

static void show_number(const struct show_state *s, size_t row,
                        hsy_analysis_column what, struct table_cell *out)
{
    switch (what) {
    case HSY_COLUMN_P_VALUE:
        snprintf(out->shown, sizeof out->shown, "%.3g", out->number);
        break;
    case HSY_COLUMN_P_ZERO:
    case HSY_COLUMN_Q_VALUE:
        snprintf(out->shown, sizeof out->shown, "%.2g", out->number);
        break;
    case HSY_COLUMN_LEVEL:
    case HSY_COLUMN_COVARIANCE:
        break;
    default:
        show_share(s, row, out);
        break;
    }
}

static void show_cell(const void *ctx, size_t row, size_t column,
                      struct table_cell *out)
{
    const struct show_state *s = ctx;

    if (column == s->ncolumns) {
        show_bar(s, row, out);
        return;
    }
    *out = analysis_cell(s->result, row, s->what[column]);
    if (out->type == CELL_NUMBER)
        show_number(s, row, s->what[column], out);
}

/* ---- A table for a person ------------------------------------------------ */

/* As many decimals as give the smallest standard error two digits. */
static int show_decimals(const hsy_analysis_result *r, uint32_t part)
{
    double least = INFINITY, scale = 100;
    int decimals;

    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].part != part)
            continue;
        scale = r->rows[i].mean ? 1 : 100;
        if (r->rows[i].est.sd > 0)
            least = fmin(least, r->rows[i].est.sd);
    }
    if (!isfinite(least))
        return 4;
    decimals = 1 - (int)floor(log10(scale * least));
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

static const char *show_estimate_title(const hsy_analysis_result *r)
{
    if (r->compared)
        return "difference";
    if (r->question == HSY_ASK_RANGES || show_tuple(r) ||
        r->info.kind == HSY_KIND_NUMBER || (show_decoded(r) && !r->from_files))
        return NULL;
    return "share";
}

/* NULL: its name; "": not in tables. */
static const char *show_title(const hsy_analysis_result *r,
                              hsy_analysis_column column)
{
    static const char *const titles[HSY_COLUMNS] = {
        [HSY_COLUMN_STDERR] = "std. error",
        [HSY_COLUMN_LOW] = "from",
        [HSY_COLUMN_HIGH] = "to",
        [HSY_COLUMN_LOW_LYING] = "liars: from",
        [HSY_COLUMN_HIGH_LYING] = "to",
        [HSY_COLUMN_P_ZERO] = "P(zero)",
        [HSY_COLUMN_Q_VALUE] = "q-value",
        [HSY_COLUMN_P_VALUE] = "p-value",
        [HSY_COLUMN_LEVEL] = "", /* a table has it above */
    };

    if (column == HSY_COLUMN_ESTIMATE)
        return show_estimate_title(r);
    if (column == HSY_COLUMN_POST)
        return show_decoded(r) ? "share" : analysis_post_names[r->post];
    return titles[column];
}

static void show_columns(struct show_state *s)
{
    const hsy_analysis_result *r = s->result;

    for (unsigned i = 0; i < HSY_COLUMNS; i++) {
        const hsy_analysis_column column = (hsy_analysis_column)i;

        if (!(r->columns & 1u << i))
            continue;
        s->what[s->ncolumns] = column;
        s->columns[s->ncolumns++] = (struct table_column){
            hsy_analysis_column_name(column), show_title(r, column)};
    }
    s->bar = r->question == HSY_ASK_ESTIMATES && !r->compared &&
             !show_decoded(r) && !show_tuple(r) && r->lying == 0 &&
             r->info.kind != HSY_KIND_NUMBER;
    if (s->bar)
        s->columns[s->ncolumns] =
            (struct table_column){"bar", "(of the largest)"};
}

/* ---- The head of a table ------------------------------------------------- */

static const char *show_among(hsy_target target)
{
    return target == HSY_PEOPLE ? "among those who answered"
                                : "in the population they are a sample of";
}

/* "N reports", or what a release has instead. */
static void show_reports(FILE *to, const hsy_scheme_info *info,
                         uint64_t reports, double people)
{
    if (info->central)
        fprintf(to, "%" PRIu64 " release%s about %.0f people\n", reports,
                reports == 1 ? "" : "s", people);
    else
        fprintf(to, "%" PRIu64 " report%s\n", reports, reports == 1 ? "" : "s");
}

/* Who is in a tally more than once, and how two were compared. */
static void show_notes(FILE *to, const hsy_analysis_result *r)
{
    bool rounds = false;

    for (size_t i = 0; i < r->nnotes; i++) {
        const hsy_analysis_note *note = &r->notes[i];

        if (!analysis_is_note(note))
            continue;
        if (!rounds && note->code < HSY_NOTE_PAIRED) {
            fprintf(to,
                    "%" PRIu64 " rounds, %" PRIu64 " devices in the largest\n",
                    r->attended.rounds, r->attended.devices);
            rounds = true;
        }
        if (note->code == HSY_NOTE_PAIRED)
            fprintf(to, "at most %" PRIu64 " devices in all\n",
                    r->devices_in_all);
        if (note->code == HSY_NOTE_SUM)
            fprintf(to, "the shares sum to %.1f %%\n", 100 * note->p);
        fprintf(to, "%s\n", hsy_analysis_code_text(note->code));
    }
}

/* Rows that were selected have intervals of a higher level. */
static void show_selected(FILE *to, const hsy_analysis_result *r)
{
    if (r->level_selected == r->how.level)
        putc('\n', to);
    else
        fprintf(to,
                ",\nadjusted for selection: the %zu largest of %" PRIu64
                " are shown, so each has the level %.8g %%\n",
                r->count, r->of, 100 * r->level_selected);
}

static void show_lying(FILE *to, const hsy_analysis_result *r)
{
    const bool mean = r->info.kind == HSY_KIND_NUMBER;
    const double unit = mean ? 1 : 100;

    if (r->lying == 0)
        return;
    fprintf(to,
            "the second intervals also allow for %.6g %% of lying devices, who "
            "can move an estimate\nup by %.4g%s or down by %.4g\n",
            100 * r->lying, unit * r->lies.up, mean ? "" : " percentage points",
            unit * r->lies.down);
}

static void show_intervals(FILE *to, const hsy_analysis_result *r)
{
    if (r->why != NULL) {
        fprintf(to, "no intervals: %s\n", r->why);
        return;
    }
    fprintf(to, "%.14g %% intervals (%s)%s", 100 * r->how.level,
            analysis_interval(r), r->simultaneous ? ", all at once" : "");
    show_selected(to, r);
}

/* Upwards in the fourth digit after the point. */
static double show_up(double epsilon)
{
    return ceil(epsilon * 1e4) / 1e4;
}

/* In which batches reports came; of one that is in several, what all tell. */
static void show_batches(FILE *to, const hsy_analysis_result *r)
{
    const hsy_batches *b = &r->batches;

    if (b->nano_central != 0)
        fprintf(to, "promised of a batch: epsilon %.4f%s\n",
                show_up((double)b->nano_central / HSY_NANO),
                analysis_kept(r) ? "" : ", which is not kept");
    if (r->each > 1)
        fprintf(to,
                "a device with %" PRIu64
                " reports, each in another batch: epsilon %.4f, delta %.3g\n",
                r->each, show_up(r->epsilon_each), r->delta_each);
    if (b->reports < r->reports)
        fprintf(to,
                "%" PRIu64 " of the reports came in no batch that is known: "
                "of them a report alone counts\n",
                r->reports - b->reports);
}

/* Both epsilons, and unless who colludes. */
static void show_worth(FILE *to, const hsy_analysis_result *r)
{
    const hsy_worth *w = &r->worth;

    if (!r->shuffled)
        return;
    if (r->batches.batches != 0)
        fprintf(to,
                "shuffled in %" PRIu64 " batch%s of at least %" PRIu64
                " reports",
                r->batches.batches, r->batches.batches == 1 ? "" : "es",
                r->batch.reports);
    else
        fprintf(to, "shuffled in batches of at least %" PRIu64,
                r->batch.reports);
    fprintf(to,
            ": epsilon %.4f, delta %.3g,\nby the %s bound with %" PRIu64
            " honest reports, unless the collector and all\nshufflers work "
            "together; of a report alone, if everybody else colludes, %.4f\n",
            show_up(w->epsilon), w->delta, hsy_shuffle_bound_name(w->by), w->n,
            show_up(w->epsilon_report));
    if (r->batches.batches != 0)
        show_batches(to, r);
}

static void show_head(FILE *to, const hsy_analysis_result *r)
{
    const hsy_scheme_info *info = &r->info;

    if (r->question == HSY_ASK_RANGES)
        fprintf(to, "%s, epsilon %.9g, ", info->mechanism, info->epsilon);
    else
        fprintf(to, "%s, epsilon %.9g (exactly %.16g), ", info->mechanism,
                info->epsilon, info->epsilon_exact);
    show_reports(to, info, r->reports, r->people);
    if (r->compared) {
        fprintf(to, "minus %s, epsilon %.9g, ", r->against.mechanism,
                r->against.epsilon);
        show_reports(to, &r->against, r->reports_against, r->people_against);
    }
    if (r->question == HSY_ASK_RANGES)
        fprintf(to, "%s; %.14g %% intervals\n", show_among(r->how.target),
                100 * r->how.level);
    else {
        if (!show_tuple(r))
            fputs(info->kind == HSY_KIND_NUMBER ? "mean " : "shares ", to);
        fprintf(to, "%s; ", show_among(r->how.target));
        show_intervals(to, r);
    }
    if (r->density == HSY_DENSITY_EMS)
        fputs(
            "smoothed (ems); --density em has noisier shares, and intervals\n",
            to);
    show_lying(to, r);
    show_worth(to, r);
    show_notes(to, r);
    putc('\n', to);
}

static void show_decoded_head(FILE *to, const hsy_analysis_result *r)
{
    const hsy_rappor_summary *s = &r->summary;

    fprintf(
        to,
        "%s, epsilon %.6g a report, %.6g for ever if the permanent answer "
        "is kept\n%" PRIu64 " reports in %u cohorts\n%zu of %" PRIu64
        " candidates detected (%s at %g), %.2f %% of all; dispersion %.3f\n",
        r->info.mechanism, r->law.epsilon_report, r->law.epsilon_permanent,
        s->reports, s->cohorts, s->detected, r->candidates,
        analysis_correction_names[r->rappor.correction], r->rappor.alpha,
        100 * s->allocated, s->dispersion);
    fprintf(to,
            "shares %s; %.14g %% intervals;\nthose of detected strings are "
            "adjusted for selection, %.8g %% each\n",
            show_among(r->how.target), 100 * r->how.level,
            100 * (r->count != 0 ? r->rows[0].level : s->level_selected));
    show_worth(to, r);
    show_notes(to, r);
    fprintf(to,
            "%s is unbiased, and what the interval is of; share is the best "
            "guess that is not below 0\n",
            r->from_files ? "unbiased" : "estimate");
    fprintf(to, "not detected: %.2f %%, from %.2f %% to %.2f %%%s\n",
            100 * s->rest.value, 100 * s->rest.low, 100 * s->rest.high,
            s->rest.high < 0 ? ", wholly below 0" : "");
    if (s->intercept)
        fprintf(to, "unlisted strings: %.2f %%, standard error %.2f %%\n",
                100 * s->unlisted, 100 * s->unlisted_sd);
    putc('\n', to);
}

/* ---- All of it ----------------------------------------------------------- */

void analysis_print(FILE *to, const hsy_analysis_result *r)
{
    struct show_state s = {.result = r};
    struct table table;

    for (uint32_t i = 0; i <= HSY_ATTRIBUTES_MAX; i++)
        s.decimals[i] = i == 0 || show_tuple(r) ? show_decimals(r, i) : 0;
    for (size_t i = 0; i < r->count; i++)
        s.longest = fmax(s.longest, r->rows[i].est.value);
    show_columns(&s);
    if (show_decoded(r))
        show_decoded_head(to, r);
    else if (r->question != HSY_ASK_COVARIANCE)
        show_head(to, r);
    table = (struct table){s.columns, s.ncolumns + s.bar,
                           analysis_table_rows(r), show_cell, &s};
    table_print(to, TABLE_ALIGNED, &table, NULL, 0, NULL);
}
