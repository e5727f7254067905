/* mechanisms.c - hearsay mechanisms: the catalogue, with error and cost. */
#include "cli/base/base.h"
#include "host/plan/catalogue.h"

#include <math.h>
#include <string.h>

#define MECHANISMS_MANY                                                        \
    1000000.0 /* steps, of which a table rounds the count                      \
               */
#define MECHANISMS_EXACT_MAX 9007199254740992.0 /* 2^53: steps are integers */

struct mechanisms_list {
    struct catalogue is;
    struct cli_spec spec; /* epsilon (0: the bare catalogue) and limits */
    enum table_format format;
};

/* ---- Printing ------------------------------------------------------------ */

static const struct table_column mechanisms_columns[] = {
    {"mechanism", NULL},
    {"auto", NULL},
    {"bits", NULL},
    {"n_variance_0", "n*Var at 0"},
    {"n_variance_1", "n*Var at 1"},
    {"stderr_0", "std. error at 0"},
    {"cells", "counters"},
    {"decode", "steps"},
    {"memory", NULL},
    {"epsilon_exact", ""},
    {"epsilon_permanent", "permanent eps, if kept"},
    {"kinds", NULL},
    {"title", ""},
};

#define MECHANISMS_COLUMNS                                                     \
    (sizeof mechanisms_columns / sizeof mechanisms_columns[0])
#define MECHANISMS_STDERR 5u /* its place */

static const struct table_column mechanisms_bare_columns[] = {
    {"mechanism", NULL}, {"aliases", NULL}, {"kinds", NULL}, {"title", NULL}};

static void mechanisms_bare_cell(const void *ctx, size_t i, size_t column,
                                 struct table_cell *out)
{
    const struct mechanisms_list *l = ctx;
    const struct catalogue_row *row = &l->is.rows[i];
    const char *const texts[] = {row->entry->name, row->entry->aliases,
                                 row->kinds, row->entry->title};

    *out = cell_text(texts[column]);
}

/* Steps and bytes are integers, which a table rounds. */
static struct table_cell mechanisms_rough(double x, double many,
                                          const char *unit)
{
    struct table_cell c =
        x < MECHANISMS_EXACT_MAX ? cell_count((uint64_t)x) : cell_number(x);

    if (x >= many)
        cell_rough(&c, x, unit);
    return c;
}

static struct table_cell mechanisms_if(bool there, double x)
{
    return there ? cell_number(x) : cell_text(NULL);
}

/* In the order of the columns. What an iterative mechanism costs is not known
 * beforehand. */
static void mechanisms_cell(const void *ctx, size_t i, size_t column,
                            struct table_cell *out)
{
    const struct mechanisms_list *l = ctx;
    const struct catalogue_row *row = &l->is.rows[i];
    const hsy_scheme_info *info = &row->cost.info;
    const bool fits = row->cost.fits, known = fits && !info->iterative;
    const double users = (double)l->spec.spec.users;
    const struct table_cell none = {.type = CELL_NONE};
    const struct table_cell cells[] = {
        cell_text(row->entry->name),
        cell_bool(row->chosen),
        fits ? cell_count(info->packed_bits) : none,
        mechanisms_if(known, info->v0),
        mechanisms_if(known, info->v1),
        mechanisms_if(known && users > 0, sqrt(info->v0 / users)),
        fits ? cell_count(info->cells) : none,
        known ? mechanisms_rough(info->steps, MECHANISMS_MANY, "") : none,
        known ? mechanisms_rough((double)row->cost.memory, 0, "B") : none,
        mechanisms_if(fits, info->epsilon_exact),
        mechanisms_if(fits && info->epsilon_permanent > 0,
                      info->epsilon_permanent),
        cell_text(row->kinds),
        cell_text(row->entry->title)};

    *out = cells[column];
    if (out->type == CELL_BOOL)
        snprintf(out->shown, sizeof out->shown, "%s", row->chosen ? "*" : " ");
}

static void mechanisms_show_bare(const struct mechanisms_list *l)
{
    const struct table table = {mechanisms_bare_columns,
                                sizeof mechanisms_bare_columns /
                                    sizeof mechanisms_bare_columns[0],
                                l->is.n, mechanisms_bare_cell, l};

    table_print(stdout, l->format, &table, NULL, 0, "mechanisms");
}

/* Whether one of them has a permanent answer. */
static bool mechanisms_permanent(const struct mechanisms_list *l)
{
    for (size_t i = 0; i < l->is.n; i++)
        if (l->is.rows[i].cost.fits &&
            l->is.rows[i].cost.info.epsilon_permanent > 0)
            return true;
    return false;
}

static struct table_cell mechanisms_given(uint64_t x)
{
    return x != 0 ? cell_count(x) : cell_text(NULL);
}

static void mechanisms_show(const struct mechanisms_list *l)
{
    struct table_column columns[MECHANISMS_COLUMNS];
    const struct table table = {columns, MECHANISMS_COLUMNS, l->is.n,
                                mechanisms_cell, l};
    const hsy_spec *spec = &l->spec.spec;
    const char *chosen;
    char why[CATALOGUE_WHY];

    catalogue_why(&l->is, why, &chosen);
    memcpy(columns, mechanisms_columns, sizeof columns);
    if (spec->users == 0)
        columns[MECHANISMS_STDERR].title = "";
    {
        const struct table_field fields[] = {
            {"epsilon", cell_number((double)spec->nano_epsilon / HSY_NANO)},
            {"domain", cell_count(l->is.domain)},
            {"users", mechanisms_given(spec->users)},
            {"max_bits", mechanisms_given(spec->max_bits)},
            {"max_steps", mechanisms_given(spec->max_steps)},
            {"choice", cell_text(chosen)},
            {"why", cell_text(why)}};

        table_print(stdout, l->format, &table, fields,
                    sizeof fields / sizeof fields[0], "mechanisms");
    }
    if (l->format == TABLE_ALIGNED)
        printf("\n%s.\n* chosen for its kind of question. The variance of a "
               "mean is in units of the\nrange squared; '-': not for this "
               "domain, or without a formula.\n",
               why);
    if (l->format == TABLE_ALIGNED && mechanisms_permanent(l))
        cli_permanent_note();
}

/* ---- Options ------------------------------------------------------------- */

#define MECHANISMS(member) offsetof(struct mechanisms_list, member)

static const struct cli_option mechanisms_options[] = {
    {"epsilon", NULL, "privacy of one report", CLI_INTO_SPEC, .with = "domain"},
    {"domain", "D", "number of values (2: also yes/no)", CLI_INTO_COUNT,
     MECHANISMS(is.domain), 2, HSY_VALUES_MAX, .with = "epsilon"},
    CLI_SPEC("task"),
    {"max-bits", .into = CLI_INTO_SPEC, .with = "domain task"},
    {"max-steps", .into = CLI_INTO_SPEC, .with = "domain task"},
    {"users", .into = CLI_INTO_SPEC, .with = "domain task"},
    CLI_FORMAT_ROW(MECHANISMS(format)),
    {0}};

static const struct cli_command mechanisms_command = {
    "mechanisms",
    "[--epsilon E --domain D [options]] [--format F] | "
    "--task FILE:ID [options]",
    "List the mechanisms. With an epsilon and a domain, also print their "
    "costs:\nbits of a report, variance (times reports) of a share near 0 and "
    "near 1,\nwith --users the standard error near 0, counters of a tally, and "
    "steps\nand memory to estimate all shares. A star marks the one that "
    "--mechanism\nauto takes within the limits, and a line explains the "
    "choice.",
    mechanisms_options, .spec = MECHANISMS(spec)};

/* Epsilon and domain of a task. */
static int mechanisms_task(struct mechanisms_list *l, struct cli_parser *p)
{
    int failed = cli_spec_finish(&l->spec, p);

    if (failed)
        return failed;
    l->is.asked = l->spec.spec;
    l->is.domain = l->spec.spec.kind == HSY_KIND_YES_NO ? 2 : l->spec.spec.d;
    if (l->is.domain < 2)
        return cli_fail("--task: this task does not ask for one of a list of "
                        "values; there is nothing to compare");
    return 0;
}

static int mechanisms_run(struct mechanisms_list *l, struct cli_parser *p)
{
    int failed = 0;

    l->is.asked = l->spec.spec; /* limits; of a task below */
    if (l->spec.task != NULL)
        failed = mechanisms_task(l, p);
    if (!failed && catalogue_fill(&l->is) != HSY_OK)
        failed = cli_fail_nomem();
    if (failed)
        return failed;
    if (l->is.domain == 0)
        mechanisms_show_bare(l);
    else
        mechanisms_show(l);
    return cli_finish();
}

int cmd_mechanisms(int argc, char **argv)
{
    struct mechanisms_list list = {0};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &mechanisms_command, argc, argv, &list))
        return p.exit;
    failed = mechanisms_run(&list, &p);
    cli_spec_clear(&list.spec);
    return failed;
}
