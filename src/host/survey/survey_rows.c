/* survey_rows.c - shares of a survey as a table, csv or json. */
#include "host/survey/internal.h"

#include <inttypes.h>
#include <math.h>

int survey_decimals(double sd)
{
    const int decimals = sd > 0 ? 2 - (int)floor(log10(100 * sd)) : 1;

    return decimals < 1 ? 1 : decimals > 9 ? 9 : decimals;
}

void survey_percent(char text[48], double share, int decimals)
{
    /* No "-0.0 %": adding 0 makes a negative zero positive. */
    const double scale = pow(10, decimals);
    const double rounded = round(100 * share * scale) / scale + 0.0;

    snprintf(text, 48, "%.*f %%", decimals, rounded);
}

/* ---- Who is left out ------------------------------------------------------
 */

void survey_silent_text(char text[SURVEY_SILENT_TEXT],
                        const struct survey_silent *s)
{
    char missing[SURVEY_SILENT_TEXT / 2] = "";

    if (s->missing != 0)
        snprintf(missing, sizeof missing, "%" PRIu64 " %s without an answer",
                 s->missing, s->missing == 1 ? "person" : "people");
    if (s->refused != 0)
        snprintf(text, SURVEY_SILENT_TEXT, "%s%s%" PRIu64 " who refused",
                 missing, s->missing != 0 ? ", " : "", s->refused);
    else
        snprintf(text, SURVEY_SILENT_TEXT, "%s", missing);
}

void survey_silent_print(FILE *to, const struct survey_silent *s)
{
    char text[SURVEY_SILENT_TEXT];

    survey_silent_text(text, s);
    if (text[0] == '\0')
        return;
    putc('\n', to);
    table_say(to, "Left out: %s. Shares are of those who answered.", text);
}

size_t survey_silent_fields(struct table_field *fields,
                            const struct survey_silent *s)
{
    if (!s->known)
        return 0;
    fields[0] = (struct table_field){"missing", cell_count(s->missing)};
    fields[1] = (struct table_field){"refused", cell_count(s->refused)};
    return 2;
}

/* ---- Figures of a row ---------------------------------------------------- */

enum show_id {
    SHOW_GROUP,
    SHOW_YES,
    SHOW_N,
    SHOW_N_WORTH,
    SHOW_EFFECT,
    SHOW_RATE,
    SHOW_VALUE,
    SHOW_SD,
    SHOW_MLE,
    SHOW_WALD,
    SHOW_WILSON,
    SHOW_LIKELIHOOD,
    SHOW_EXACT,
    SHOW_OTHER,
    SHOW_OTHER_MLE,
    SHOW_BEYOND,
    SHOW_IDS,
    SHOW_LOW = 32, /* added to an interval: its ends alone */
    SHOW_HIGH = 64
};

static const char *const show_names[SHOW_IDS] = {
    "group",  "yes",        "n",      "n_effective", "design_effect",
    "rate",   "estimate",   "stderr", "mle",         "wald",
    "wilson", "likelihood", "exact",  "innocuous",   "innocuous_mle",
    "beyond"};

struct show_table {
    const struct survey_rows *s;
    int decimals;
    struct table_column columns[SHOW_IDS + 4];
    int ids[SHOW_IDS + 4];
    char names[4][2][16]; /* "wald_low" */
    size_t n;
};

static const double *show_interval(const hsy_survey_result *r, int id)
{
    const double *const all[] = {r->wald, r->wilson, r->likelihood, r->exact};

    return all[id - SHOW_WALD];
}

static struct table_cell show_number(const struct survey_rows *s,
                                     const struct survey_row *row, int id)
{
    const double rate = row->yes_worth / row->n_worth;
    const double values[] = {[SHOW_N_WORTH] = row->n_worth,
                             [SHOW_EFFECT] = (double)row->n / row->n_worth,
                             [SHOW_RATE] = s->design->kind->pair ? NAN : rate,
                             [SHOW_VALUE] = row->r.value,
                             [SHOW_SD] = row->r.sd,
                             [SHOW_MLE] = row->r.mle,
                             [SHOW_OTHER] = row->r.other,
                             [SHOW_OTHER_MLE] = row->r.other_mle,
                             [SHOW_BEYOND] = row->r.beyond};

    return cell_number(values[id]);
}

static struct table_cell show_row_cell(const struct survey_rows *s, size_t i,
                                       int id)
{
    const struct survey_row *row = &s->rows[i];
    const int base = id % SHOW_LOW;

    if (base == SHOW_GROUP)
        return cell_text(row->name);
    if (base == SHOW_YES || base == SHOW_N)
        return cell_count(base == SHOW_YES ? row->yes : row->n);
    if (base >= SHOW_WALD && base <= SHOW_EXACT) {
        const double *ends = show_interval(&row->r, base);

        if (id == base)
            return cell_pair(ends[0], ends[1]);
        return cell_number(ends[id >= SHOW_HIGH]);
    }
    return show_number(s, row, base);
}

static void show_cell(const void *ctx, size_t row, size_t column,
                      struct table_cell *out)
{
    const struct show_table *t = ctx;
    const int id = t->ids[column], base = id % SHOW_LOW;

    *out = show_row_cell(t->s, row, id);
    if (base >= SHOW_RATE && base <= SHOW_EXACT && out->type == CELL_NUMBER)
        survey_percent(out->shown, out->number, t->decimals);
    if (base == SHOW_EFFECT)
        snprintf(out->shown, sizeof out->shown, "%.3g", out->number);
}

static void show_add(struct show_table *t, int id, const char *name,
                     const char *title)
{
    t->columns[t->n] = (struct table_column){name, title};
    t->ids[t->n++] = id;
}

/* ---- csv and json -------------------------------------------------------- */

/* What there is to say of these rows. */
static bool show_has(const struct survey_rows *s, int id)
{
    const bool pair = s->design->kind->pair;

    if (id == SHOW_GROUP)
        return s->count > 1;
    if (id == SHOW_N_WORTH || id == SHOW_EFFECT)
        return s->weighted;
    if (id == SHOW_OTHER || id == SHOW_OTHER_MLE)
        return pair;
    return !pair || (id != SHOW_RATE && id != SHOW_BEYOND);
}

static void show_columns(struct show_table *t, bool ends)
{
    for (int id = 0; id < SHOW_IDS; id++) {
        if (!show_has(t->s, id))
            continue;
        if (!ends || id < SHOW_WALD || id > SHOW_EXACT) {
            show_add(t, id, show_names[id], NULL);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            char *name = t->names[id - SHOW_WALD][i];

            snprintf(name, 16, "%s_%s", show_names[id],
                     i == 0 ? "low" : "high");
            show_add(t, id + (i == 0 ? SHOW_LOW : SHOW_HIGH), name, NULL);
        }
    }
}

static void show_machine(FILE *to, const struct survey_rows *s,
                         enum table_format format)
{
    const struct survey_design *d = s->design;
    const bool json = format == TABLE_JSON, many = s->count > 1;
    struct show_table t = {.s = s};
    const struct table table = {t.columns, 0, s->count, show_cell, &t};
    struct table full = table;
    const double epsilon = survey_rows_epsilon(s);
    const hsy_survey_test *test = &s->test;
    const hsy_estimate *e = &s->difference;
    struct table_fields f = {.n = 0};

    table_add(&f, "design", cell_text(d->kind->name));
    table_add(&f, "epsilon", cell_number(epsilon));
    table_add(&f, "unbounded", cell_bool(isinf(epsilon)));
    table_add(&f, "level", cell_number(s->level));
    if (!d->kind->pair) {
        table_add(&f, "p", cell_number(d->channel.p));
        table_add(&f, "q", cell_number(d->channel.q));
    }
    if (many) {
        table_add(&f, "pooled", cell_number(test->pooled));
        table_add(&f, "statistic", cell_number(test->statistic));
        table_add(&f, "freedom", cell_number(test->freedom));
        table_add(&f, "p_value", cell_number(test->p_value));
        table_add(&f, "boundary", cell_bool(test->boundary));
    }
    if (s->count == 2) {
        table_add(&f, "difference", cell_number(e->value));
        table_add(&f, "difference_stderr", cell_number(e->sd));
        table_add(&f, "difference_wilson", cell_pair(e->low, e->high));
    }
    f.n += survey_silent_fields(f.list + f.n, &s->silent);
    show_columns(&t, !json);
    full.ncolumns = t.n;
    table_print(to, format, &full, f.list, f.n, many ? "groups" : NULL);
}

/* ---- Tables -------------------------------------------------------------- */

/* The four intervals of one share, a row each. */
static void show_interval_cell(const void *ctx, size_t row, size_t column,
                               struct table_cell *out)
{
    static const char *const names[] = {"Wald", "Wilson", "likelihood",
                                        "exact"};
    const struct show_table *t = ctx;
    const double *ends = show_interval(&t->s->rows[0].r, SHOW_WALD + (int)row);

    if (column == 0) {
        *out = cell_text(names[row]);
        return;
    }
    *out = cell_number(ends[column - 1]);
    if (out->type == CELL_NUMBER)
        survey_percent(out->shown, out->number, t->decimals);
}

static void show_intervals(FILE *to, const struct show_table *t)
{
    char title[32];
    struct table_column columns[3] = {
        {title, NULL}, {"from", NULL}, {"to", NULL}};
    const struct table table = {columns, 3, 4, show_interval_cell, t};

    snprintf(title, sizeof title, "%.6g %% interval", 100 * t->s->level);
    table_print(to, TABLE_ALIGNED, &table, NULL, 0, NULL);
}

static void show_pair_epsilon(FILE *to, const struct survey_rows *s)
{
    const double epsilon = survey_rows_epsilon(s);
    char line[200];

    if (s->pair.chance[0] == 1 || s->pair.chance[1] == 1)
        snprintf(line, sizeof line,
                 "Epsilon is infinite: in one sample everybody is asked the "
                 "sensitive question, and every answer is the truth.");
    else if (isinf(epsilon))
        snprintf(line, sizeof line,
                 "Epsilon is infinite if the share of yes to the other "
                 "question is %.3g: an answer then proves a truth.",
                 s->rows[0].r.other_mle);
    else
        snprintf(line, sizeof line,
                 "Epsilon %.4g, if the share of yes to the other question is "
                 "%.3g, as is most likely.",
                 epsilon, s->rows[0].r.other_mle);
    table_paragraph(to, line);
    if (!isinf(epsilon))
        survey_design_hidden(to, s->design);
}

static void show_counts(FILE *to, const struct survey_rows *s)
{
    const struct survey_row *row = &s->rows[0];
    char line[200];

    fprintf(to, "\n%" PRIu64 " of %" PRIu64 " said %s", row->yes, row->n,
            s->design->kind->design == HSY_SURVEY_CROSSWISE ? "\"the same\""
                                                            : "yes");
    if (!s->design->kind->pair)
        fprintf(to, ": %.4g %%", 100 * row->yes_worth / row->n_worth);
    if (s->weighted) {
        snprintf(line, sizeof line,
                 " by weight, worth %.4g plain answers (design effect %.3g)",
                 row->n_worth, (double)row->n / row->n_worth);
        fputs(line, to);
    }
    putc('\n', to);
}

static void show_one(FILE *to, const struct survey_rows *s)
{
    const struct survey_row *row = &s->rows[0];
    const struct show_table t = {.s = s,
                                 .decimals = survey_decimals(row->r.sd)};
    char value[48], sd[48], mle[48], other[48];

    show_counts(to, s);
    survey_percent(value, row->r.value, t.decimals);
    survey_percent(sd, row->r.sd, t.decimals);
    survey_percent(mle, row->r.mle, t.decimals);
    fprintf(to, "share of yes: %s, standard error %s\nmost likely: %s\n", value,
            sd, mle);
    if (s->design->kind->pair) {
        survey_percent(other, row->r.other, t.decimals);
        fprintf(to, "yes to the other question: %s\n", other);
    }
    putc('\n', to);
    show_intervals(to, &t);
    if (isnan(row->r.wald[0]))
        fputs("\nBelow 50 answers there is no Wald interval.\n", to);
}

static void show_difference(FILE *to, const struct survey_rows *s, int decimals)
{
    const hsy_estimate *e = &s->difference;
    char value[48], low[48], high[48];

    survey_percent(value, e->value, decimals);
    survey_percent(low, e->low, decimals);
    survey_percent(high, e->high, decimals);
    fprintf(to, "\nThe first less the second: %s, from %s to %s\n", value, low,
            high);
}

static void show_test(FILE *to, const struct survey_rows *s)
{
    const hsy_survey_test *test = &s->test;
    char pooled[48], line[400];

    survey_percent(pooled, test->pooled, 1);
    snprintf(
        line, sizeof line,
        "If all groups had one share, it would be %s. Likelihood ratio "
        "%.4g on %.0f degree%s of freedom, p = %.3g (a small p would mean that "
        "the groups differ).",
        pooled, test->statistic, test->freedom, test->freedom == 1 ? "" : "s",
        test->p_value);
    putc('\n', to);
    table_paragraph(to, line);
    if (test->boundary)
        table_paragraph(
            to, "A share is estimated at 0 or 1. There the ratio is "
                "smaller than its law says, so the p-value is too large "
                "rather than too small.");
}

static void show_groups(FILE *to, const struct survey_rows *s)
{
    struct show_table t = {.s = s};
    struct table table = {t.columns, 0, s->count, show_cell, &t};
    double least = HUGE_VAL;

    for (size_t i = 0; i < s->count; i++)
        least = fmin(least, s->rows[i].r.sd);
    t.decimals = survey_decimals(least);
    show_add(&t, SHOW_GROUP, "group", NULL);
    show_add(&t, SHOW_YES, "yes", NULL);
    show_add(&t, SHOW_N, "n", "answers");
    if (s->weighted)
        show_add(&t, SHOW_EFFECT, "design_effect", "design effect");
    show_add(&t, SHOW_VALUE, "estimate", "share");
    show_add(&t, SHOW_SD, "stderr", "std. error");
    show_add(&t, SHOW_MLE, "mle", "most likely");
    show_add(&t, SHOW_WILSON + SHOW_LOW, "low", "from");
    show_add(&t, SHOW_WILSON + SHOW_HIGH, "high", "to");
    table.ncolumns = t.n;
    fprintf(to, "\nShares of yes with %.6g %% intervals (Wilson)\n\n",
            100 * s->level);
    table_print(to, TABLE_ALIGNED, &table, NULL, 0, NULL);
    if (s->count == 2)
        show_difference(to, s, t.decimals);
    show_test(to, s);
}

static void show_weights(FILE *to, const struct survey_rows *s)
{
    putc('\n', to);
    table_paragraph(
        to, "Weights: taken for known beforehand, and answers for "
            "independent. Standard errors and all intervals are those of "
            "as many plain answers as the weighted ones are worth; the "
            "exact one is no longer exact.");
    if (s->count > 1)
        table_paragraph(to, "The test takes them for that many too.");
}

void survey_rows_print(FILE *to, enum table_format format,
                       const struct survey_rows *s)
{
    if (format != TABLE_ALIGNED) {
        show_machine(to, s, format);
        return;
    }
    survey_design_print(to, s->design);
    if (s->design->kind->pair)
        show_pair_epsilon(to, s);
    if (s->count > 1)
        show_groups(to, s);
    else
        show_one(to, s);
    if (s->weighted)
        show_weights(to, s);
    survey_silent_print(to, &s->silent);
}
