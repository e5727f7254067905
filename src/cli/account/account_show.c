/* account_show.c - an account as a table, csv or json, and its figure. */
#include "cli/account/internal.h"

#include "host/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void account_put(struct account *a, const char *name, struct cli_cell cell,
                 const char *about)
{
    if (a->nrows < ACCOUNT_ROWS)
        a->rows[a->nrows++] = (struct account_row){name, about, cell};
}

/* Seven digits; to the side wanted if the nearest ones are on the other by more
 * than x itself was rounded. */
static void account_digits(char *shown, size_t room, double x, int side)
{
    double half;

    snprintf(shown, room, "%.7g", x);
    if (side == 0 || x == 0 ||
        (strtod(shown, NULL) - x) * side >= -1e-11 * fabs(x))
        return;
    half = pow(10, floor(log10(fabs(x))) - 6) / 2;
    snprintf(shown, room, "%.7g", x + side * half);
}

static void account_sided(struct account *a, const char *name, double x,
                          const char *about, int side)
{
    struct cli_cell cell = cli_number(x);

    if (cell.type == CLI_NUMBER)
        account_digits(cell.shown, sizeof cell.shown, x, side);
    account_put(a, name, cell, about);
}

void account_number(struct account *a, const char *name, double x,
                    const char *about)
{
    account_sided(a, name, x, about, 0);
}

void account_people(struct account *a, const char *name, double n,
                    const char *about)
{
    account_put(a, name, n < 1e18 ? cli_count((uint64_t)n) : cli_number(n),
                about);
}

void account_at_most(struct account *a, const char *name, double x,
                     const char *about)
{
    account_sided(a, name, x, about, 1);
}

void account_at_least(struct account *a, const char *name, double x,
                      const char *about)
{
    account_sided(a, name, x, about, -1);
}

void account_point(struct account *a, size_t i, const char *name, double x,
                   double y)
{
    struct account_curve *c = &a->curves[i];

    c->name = name;
    if (i >= a->ncurves)
        a->ncurves = i + 1;
    if (!(x > 0 && y > 0 && y < PLOT_VALUE_MAX) || c->n == ACCOUNT_POINTS)
        return;
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

size_t account_places(double places[ACCOUNT_POINTS], double least, double most,
                      size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count && i < ACCOUNT_POINTS; i++) {
        const double part = count > 1 ? (double)i / (double)(count - 1) : 1;
        const double at =
            i + 1 == count ? most : round(least * pow(most / least, part));

        if (n == 0 || at > places[n - 1])
            places[n++] = at;
    }
    return n;
}

/* ---- The figure ---------------------------------------------------------- */

static int account_draw(const struct account *a, const char *path)
{
    struct plot_series series[ACCOUNT_CURVES];
    struct plot_figure figure = {.title = a->title,
                                 .about = a->about,
                                 .x = {.label = a->x_label, .log = true},
                                 .y = {.label = a->y_label, .log = true},
                                 .series = series,
                                 .nseries = a->ncurves};
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status made;

    for (size_t i = 0; i < a->ncurves; i++)
        series[i] = (struct plot_series){
            .name = a->curves[i].name,
            .style = a->curves[i].dashed ? PLOT_DASHED : PLOT_LINE,
            .colour = (unsigned)i,
            .n = a->curves[i].n,
            .x = a->curves[i].x,
            .y = a->curves[i].y};
    made = plot_svg(&svg, &len, &figure, &err);
    return cli_write_figure(path, made, svg, len, &err);
}

/* ---- The table ----------------------------------------------------------- */

struct account_shown {
    const struct account *a;
    size_t rows[ACCOUNT_ROWS], n;
};

static void account_cell(const void *ctx, size_t row, size_t column,
                         struct cli_cell *out)
{
    const struct account_shown *s = ctx;
    const struct account_row *r = &s->a->rows[s->rows[row]];

    *out = column == 0   ? cli_text(r->name)
           : column == 1 ? r->cell
                         : cli_text(r->about);
}

static void account_table(const struct account *a)
{
    static const struct cli_column columns[] = {
        {"account", NULL}, {"value", NULL}, {"about", "what it is"}};
    struct account_shown s = {.a = a};
    struct cli_table table = {columns, 3, 0, account_cell, &s};

    for (size_t i = 0; i < a->nrows; i++) {
        if (a->rows[i].about != NULL && a->rows[i].cell.type != CLI_NONE)
            s.rows[s.n++] = i;
    }
    table.nrows = s.n;
    printf("%s\n\n", a->title);
    cli_paragraph(a->sentence);
    putchar('\n');
    cli_print(CLI_TABLE, &table, NULL, 0, "rows");
    putchar('\n');
    cli_paragraph(a->assumes);
}

int account_show(const struct account *a, const struct account_how *how)
{
    struct cli_field fields[ACCOUNT_ROWS];
    int failed = how->plot != NULL ? account_draw(a, how->plot) : 0;

    if (failed)
        return failed;
    for (size_t i = 0; i < a->nrows; i++)
        fields[i] = (struct cli_field){a->rows[i].name, a->rows[i].cell};
    if (how->format == CLI_TABLE)
        account_table(a);
    else
        cli_print_flat(how->format, fields, a->nrows);
    return cli_finish();
}

/* Fields of the library that have an option of another name. */
int account_refused(const hsy_error *err)
{
    static const struct {
        const char *field, *option;
    } names[] = {{"n", "--n"},
                 {"delta", "--delta"},
                 {"epsilon", "--epsilon"},
                 {"epsilon_report", "--epsilon"},
                 {"count", "--k"},
                 {"mechanism", "--mechanism"},
                 {"targets", "--targets"},
                 {"lying", "--lying"},
                 {"held", "--held"},
                 {"grain", "--grain"}};
    hsy_error said = *err;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (err->field != NULL && strcmp(err->field, names[i].field) == 0)
            said.field = names[i].option;
    }
    return cli_fail_error(NULL, &said);
}
