/* account_show.c - an account as a table, csv or json, and its figure. */
#include "cli/account/internal.h"

#include <math.h>
#include <stdlib.h>

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

static struct table_cell account_value(const struct account_row *r)
{
    struct table_cell cell = r->type == ACCOUNT_TEXT ? cell_text(r->text)
                             : r->type == ACCOUNT_COUNT
                                 ? cell_count(r->count)
                                 : cell_number(r->number);

    if (cell.type == CELL_NUMBER)
        account_digits(cell.shown, sizeof cell.shown, r->number, r->side);
    return cell;
}

/* ---- The figure ---------------------------------------------------------- */

static int account_draw(const struct account *a, const char *path)
{
    struct cli_figure f = {0};

    return cli_write_figure(path, account_figure(&f.svg, &f.len, a, &f.err),
                            &f);
}

/* ---- The table ----------------------------------------------------------- */

struct account_shown {
    const struct account *a;
    size_t rows[ACCOUNT_ROWS], n;
};

static void account_cell(const void *ctx, size_t row, size_t column,
                         struct table_cell *out)
{
    const struct account_shown *s = ctx;
    const struct account_row *r = &s->a->rows[s->rows[row]];

    *out = column == 0   ? cell_text(r->name)
           : column == 1 ? account_value(r)
                         : cell_text(r->about);
}

static void account_table(const struct account *a)
{
    static const struct table_column columns[] = {
        {"account", NULL}, {"value", NULL}, {"about", "what it is"}};
    struct account_shown s = {.a = a};
    struct table table = {columns, 3, 0, account_cell, &s};

    for (size_t i = 0; i < a->nrows; i++) {
        if (a->rows[i].about != NULL &&
            account_value(&a->rows[i]).type != CELL_NONE)
            s.rows[s.n++] = i;
    }
    table.nrows = s.n;
    printf("%s\n\n", a->title);
    table_paragraph(stdout, a->sentence);
    putchar('\n');
    table_print(stdout, TABLE_ALIGNED, &table, NULL, 0, "rows");
    putchar('\n');
    table_paragraph(stdout, a->assumes);
}

int account_show(const struct account *a, const struct account_how *how)
{
    struct table_field fields[ACCOUNT_ROWS];
    int failed = how->plot != NULL ? account_draw(a, how->plot) : 0;

    if (failed)
        return failed;
    for (size_t i = 0; i < a->nrows; i++)
        fields[i] =
            (struct table_field){a->rows[i].name, account_value(&a->rows[i])};
    if (how->format == TABLE_ALIGNED)
        account_table(a);
    else
        table_print_flat(stdout, how->format, fields, a->nrows);
    return cli_finish();
}

/* ---- Refusing ------------------------------------------------------------ */

static int account_refused_number(const hsy_error *err)
{
    static const struct cli_field_option own[] = {{HSY_FIELD_N, "--n"},
                                                  {HSY_FIELD_COUNT, "--k"}};

    return cli_fail_option(err, own, sizeof own / sizeof own[0]);
}

/* The spec as it was tried. */
static int account_refused_spec(const struct account *a,
                                const struct account_how *how, hsy_error *err)
{
    hsy_spec spec = how->spec.spec;

    if (a->mechanism != NULL)
        spec.mechanism = a->mechanism;
    return cli_scheme_refused(&spec, err);
}

int account_refused(const struct account *a, const struct account_how *how,
                    hsy_error *err)
{
    switch (a->why) {
    case PLAN_WHY_MEMORY:
        return cli_fail_nomem();
    case PLAN_WHY_SPEC:
        return account_refused_spec(a, how, err);
    case PLAN_WHY_NO_PERMANENT:
        return cli_fail("--permanent E is missing: the epsilon of the "
                        "permanent answer (only rappor has it in --set)");
    case PLAN_WHY_TWO_PERMANENT:
        return cli_fail("--permanent: leave it out; for rappor, --set "
                        "rappor=F,P,Q states the permanent step");
    case PLAN_WHY_GRAIN:
        return cli_fail("--grain must be above 0 and divide the range; it "
                        "needs --range and --mechanism onebit");
    default:
        return account_refused_number(err);
    }
}
