/* mechanisms.c - hearsay mechanisms: the catalogue, with error and cost. */
#include "cli/base/base.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MECHANISMS_DOMAIN = 1, MECHANISMS_FORMAT };

static const struct cli_option mechanisms_options[] = {
    {CLI_OPT_EPSILON, "epsilon", "E", "privacy of one report"},
    {MECHANISMS_DOMAIN, "domain", "D", "how many values (2: also yes/no)"},
    CLI_TASK_OPTION,
    CLI_LIMIT_OPTIONS,
    CLI_FORMAT_OPTION(MECHANISMS_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command mechanisms_command = {
    "mechanisms",
    "[--epsilon E --domain D [options]] [--format F] | "
    "--task FILE:ID [options]",
    "List the mechanisms. With an epsilon and a domain also what each costs:\n"
    "bits of a report, variance (times reports) of a share near 0 and near 1,\n"
    "with --users the standard error near 0, counters of a tally, and steps\n"
    "and memory to estimate all shares. The one that --mechanism auto takes\n"
    "within the limits is marked, and a line says why.",
    mechanisms_options};

#define MECHANISMS_MAX 32u
#define MECHANISMS_MANY                                                        \
    1000000.0 /* steps, of which a table rounds the count                      \
               */
#define MECHANISMS_EXACT_MAX 9007199254740992.0 /* 2^53: steps are integers */
#define MECHANISMS_SAME 1.0005                  /* as much, in a line */

/* What a scheme costs. */
struct mechanisms_cost {
    bool fits; /* the rest is set */
    hsy_scheme_info info;
    uint64_t memory; /* a tally and the scratch of estimating, in bytes */
};

struct mechanisms_row {
    const hsy_catalogue *entry;
    struct mechanisms_cost cost;
    bool chosen; /* by auto, for its kind */
    char kinds[48];
};

struct mechanisms_list {
    struct mechanisms_row rows[MECHANISMS_MAX];
    size_t n;
    struct cli_spec spec; /* epsilon (0: the bare catalogue) and limits */
    uint64_t domain;
    enum cli_format format;
};

/* ---- Costs --------------------------------------------------------------- */

/* The question of this kind, to one mechanism (NULL: auto's choice). */
static hsy_spec mechanisms_spec(const struct mechanisms_list *l, uint32_t kind,
                                const char *name)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .kind = kind,
                     .nano_epsilon = l->spec.spec.nano_epsilon,
                     .users = l->spec.spec.users};

    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec.d = (uint32_t)l->domain;
    if (kind == HSY_KIND_BINS)
        spec.hi = (int64_t)l->domain;
    if (kind == HSY_KIND_NUMBER)
        spec.hi = 1000000;
    return spec;
}

static int mechanisms_resolve(struct mechanisms_cost *out, const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));

    if (s == NULL)
        return cli_fail_nomem();
    out->fits = hsy_scheme_init(s, spec, NULL) == HSY_OK;
    if (out->fits) {
        hsy_scheme_describe(s, &out->info);
        out->memory =
            8 * (out->info.cells + out->info.strata + out->info.weights) +
            hsy_evidence_scratch(s, spec->d != 0 ? spec->d : 1);
    }
    free(s);
    return 0;
}

/* The kind of question by which a mechanism is judged. */
static uint32_t mechanisms_kind(const hsy_catalogue *entry)
{
    static const uint32_t order[] = {HSY_KIND_VALUES, HSY_KIND_YES_NO,
                                     HSY_KIND_NUMBER, HSY_KIND_BINS};

    for (size_t i = 0; i < 4; i++) {
        if (entry->kinds >> order[i] & 1)
            return order[i];
    }
    return HSY_KIND_STRINGS;
}

static int mechanisms_ask(const struct mechanisms_list *l,
                          struct mechanisms_row *row)
{
    uint32_t kind = mechanisms_kind(row->entry);
    hsy_spec spec = mechanisms_spec(l, kind, row->entry->name);
    struct mechanisms_cost best = {.fits = false};
    int failed;

    /* A yes/no question has two values; another domain is not for it. */
    if (kind == HSY_KIND_YES_NO && l->domain != 2)
        return 0;
    failed = mechanisms_resolve(&row->cost, &spec);
    if (failed)
        return failed;
    spec.mechanism = NULL;
    spec.max_bits = l->spec.spec.max_bits;
    spec.max_steps = l->spec.spec.max_steps;
    failed = mechanisms_resolve(&best, &spec);
    row->chosen =
        row->cost.fits && best.fits && row->cost.info.id == best.info.id;
    return failed;
}

/* ---- Why auto takes what it takes ---------------------------------------- */

static bool mechanisms_limited(const struct mechanisms_list *l)
{
    return l->spec.spec.max_bits != 0 || l->spec.spec.max_steps != 0;
}

/* Whether a row tells the share of each value, by a formula, within limits. */
static bool mechanisms_rivals(const struct mechanisms_list *l,
                              const struct mechanisms_row *row)
{
    const hsy_spec *limits = &l->spec.spec;
    const hsy_scheme_info *info = &row->cost.info;

    return row->cost.fits && info->kind == HSY_KIND_VALUES &&
           !info->iterative &&
           (limits->max_bits == 0 || info->packed_bits <= limits->max_bits) &&
           (limits->max_steps == 0 || info->steps <= (double)limits->max_steps);
}

/* The row that auto takes for a list of values, and the one of least variance;
 * NULL: none. */
static void mechanisms_winners(const struct mechanisms_list *l,
                               const struct mechanisms_row **chosen,
                               const struct mechanisms_row **least)
{
    *chosen = *least = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const struct mechanisms_row *row = &l->rows[i];

        if (!mechanisms_rivals(l, row))
            continue;
        if (row->chosen)
            *chosen = row;
        if (*least == NULL || row->cost.info.v0 < (*least)->cost.info.v0)
            *least = row;
    }
}

/* One line; *name is the mechanism, NULL if there is none. */
static void mechanisms_why(const struct mechanisms_list *l, char line[160],
                           const char **name)
{
    const char *among = mechanisms_limited(l) ? " within the limits" : "";
    const struct mechanisms_row *chosen, *least;

    mechanisms_winners(l, &chosen, &least);
    *name = chosen != NULL ? chosen->entry->name : NULL;
    if (chosen == NULL)
        snprintf(line, 160, "auto takes none: no mechanism keeps%s", among);
    else if (chosen->cost.info.v0 <= MECHANISMS_SAME * least->cost.info.v0)
        snprintf(line, 160,
                 "auto takes %s: the least variance%s, in %" PRIu32
                 " bits a report",
                 *name, among, chosen->cost.info.packed_bits);
    else
        snprintf(line, 160,
                 "auto takes %s: variance %.1f %% above the least%s (%s), in "
                 "%" PRIu32 " bits against %" PRIu32,
                 *name, 100 * (chosen->cost.info.v0 / least->cost.info.v0 - 1),
                 among, least->entry->name, chosen->cost.info.packed_bits,
                 least->cost.info.packed_bits);
}

/* ---- Rows ---------------------------------------------------------------- */

static void mechanisms_kinds(struct mechanisms_row *row)
{
    size_t used = 0;

    for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++) {
        int more;

        if ((row->entry->kinds >> kind & 1) == 0)
            continue;
        more = snprintf(row->kinds + used, sizeof row->kinds - used, "%s%s",
                        used != 0 ? " " : "", hsy_kind_name(kind));
        used += more > 0 ? (size_t)more : 0;
    }
}

static int mechanisms_fill(struct mechanisms_list *l)
{
    const hsy_catalogue *entry;

    while (l->n < MECHANISMS_MAX && (entry = hsy_mechanism_at(l->n)) != NULL) {
        struct mechanisms_row *row = &l->rows[l->n++];

        row->entry = entry;
        mechanisms_kinds(row);
        if (l->domain != 0) {
            int failed = mechanisms_ask(l, row);

            if (failed)
                return failed;
        }
    }
    return 0;
}

/* ---- Printing ------------------------------------------------------------ */

enum mechanisms_what {
    MECHANISMS_NAME,
    MECHANISMS_AUTO,
    MECHANISMS_BITS,
    MECHANISMS_V0,
    MECHANISMS_V1,
    MECHANISMS_STDERR,
    MECHANISMS_CELLS,
    MECHANISMS_DECODE,
    MECHANISMS_MEMORY,
    MECHANISMS_EXACT,
    MECHANISMS_LIFETIME,
    MECHANISMS_KINDS,
    MECHANISMS_TITLE
};

/* In the order of enum mechanisms_what. */
static const struct cli_column mechanisms_columns[] = {
    {"mechanism", NULL},
    {"auto", NULL},
    {"bits", NULL},
    {"n_variance_0", "n*Var at 0"},
    {"n_variance_1", "n*Var at 1"},
    {"stderr_0", "std. error"},
    {"cells", "counters"},
    {"decode", "steps"},
    {"memory", NULL},
    {"epsilon_exact", ""},
    {"epsilon_permanent", "permanent eps, if kept"},
    {"kinds", NULL},
    {"title", ""},
};

static const struct cli_column mechanisms_bare_columns[] = {
    {"mechanism", NULL}, {"aliases", NULL}, {"kinds", NULL}, {"title", NULL}};

static void mechanisms_bare_cell(const void *ctx, size_t i, size_t column,
                                 struct cli_cell *out)
{
    const struct mechanisms_list *l = ctx;
    const struct mechanisms_row *row = &l->rows[i];
    const char *const texts[] = {row->entry->name, row->entry->aliases,
                                 row->kinds, row->entry->title};

    *out = cli_text(texts[column]);
}

/* Steps and bytes are integers, which a table rounds. */
static struct cli_cell mechanisms_rough(double x, double many, const char *unit)
{
    struct cli_cell c =
        x < MECHANISMS_EXACT_MAX ? cli_count((uint64_t)x) : cli_number(x);

    if (x >= many)
        cli_show_rough(&c, x, unit);
    return c;
}

/* What an iterative mechanism costs is not known beforehand. */
static void mechanisms_error_cell(const struct mechanisms_list *l,
                                  const hsy_scheme_info *info, size_t column,
                                  struct cli_cell *out)
{
    double users = (double)l->spec.spec.users;

    if (info->iterative)
        return;
    if (column == MECHANISMS_V0)
        *out = cli_number(info->v0);
    else if (column == MECHANISMS_V1)
        *out = cli_number(info->v1);
    else if (column == MECHANISMS_DECODE)
        *out = mechanisms_rough(info->steps, MECHANISMS_MANY, "");
    else if (users > 0)
        *out = cli_number(sqrt(info->v0 / users));
}

static void mechanisms_cost_cell(const struct mechanisms_list *l,
                                 const struct mechanisms_cost *cost,
                                 size_t column, struct cli_cell *out)
{
    const hsy_scheme_info *info = &cost->info;

    switch ((enum mechanisms_what)column) {
    case MECHANISMS_BITS:
        *out = cli_count(info->packed_bits);
        break;
    case MECHANISMS_CELLS:
        *out = cli_count(info->cells);
        break;
    case MECHANISMS_MEMORY:
        if (!info->iterative)
            *out = mechanisms_rough((double)cost->memory, 0, "B");
        break;
    case MECHANISMS_LIFETIME:
        if (info->epsilon_permanent > 0)
            *out = cli_number(info->epsilon_permanent);
        break;
    case MECHANISMS_EXACT:
        *out = cli_number(info->epsilon_exact);
        break;
    default:
        mechanisms_error_cell(l, info, column, out);
    }
}

static void mechanisms_cell(const void *ctx, size_t i, size_t column,
                            struct cli_cell *out)
{
    const struct mechanisms_list *l = ctx;
    const struct mechanisms_row *row = &l->rows[i];

    switch ((enum mechanisms_what)column) {
    case MECHANISMS_NAME:
        *out = cli_text(row->entry->name);
        break;
    case MECHANISMS_AUTO:
        *out = cli_bool(row->chosen);
        snprintf(out->shown, sizeof out->shown, "%s", row->chosen ? "*" : " ");
        break;
    case MECHANISMS_KINDS:
        *out = cli_text(row->kinds);
        break;
    case MECHANISMS_TITLE:
        *out = cli_text(row->entry->title);
        break;
    default:
        if (row->cost.fits)
            mechanisms_cost_cell(l, &row->cost, column, out);
    }
}

static void mechanisms_show_bare(const struct mechanisms_list *l)
{
    const struct cli_table table = {mechanisms_bare_columns,
                                    sizeof mechanisms_bare_columns /
                                        sizeof mechanisms_bare_columns[0],
                                    l->n, mechanisms_bare_cell, l};

    cli_print(l->format, &table, NULL, 0, "mechanisms");
}

/* Whether one of them has a permanent answer. */
static bool mechanisms_permanent(const struct mechanisms_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->rows[i].cost.fits && l->rows[i].cost.info.epsilon_permanent > 0)
            return true;
    return false;
}

static struct cli_cell mechanisms_given(uint64_t x)
{
    return x != 0 ? cli_count(x) : cli_text(NULL);
}

static void mechanisms_show(const struct mechanisms_list *l)
{
    struct cli_column columns[MECHANISMS_TITLE + 1];
    const struct cli_table table = {columns, MECHANISMS_TITLE + 1, l->n,
                                    mechanisms_cell, l};
    const hsy_spec *spec = &l->spec.spec;
    const char *chosen;
    char why[160];

    mechanisms_why(l, why, &chosen);
    memcpy(columns, mechanisms_columns, sizeof columns);
    if (spec->users == 0)
        columns[MECHANISMS_STDERR].title = "";
    {
        const struct cli_field fields[] = {
            {"epsilon", cli_number((double)spec->nano_epsilon / HSY_NANO)},
            {"domain", cli_count(l->domain)},
            {"users", mechanisms_given(spec->users)},
            {"max_bits", mechanisms_given(spec->max_bits)},
            {"max_steps", mechanisms_given(spec->max_steps)},
            {"choice", cli_text(chosen)},
            {"why", cli_text(why)}};

        cli_print(l->format, &table, fields, sizeof fields / sizeof fields[0],
                  "mechanisms");
    }
    if (l->format == CLI_TABLE)
        printf("\n%s.\n* taken for its kind of question. A mean's variance is "
               "in units of the range\nsquared; '-': not for this domain, or "
               "by no formula.\n",
               why);
    if (l->format == CLI_TABLE && mechanisms_permanent(l))
        cli_permanent_note();
}

/* ---- Options ------------------------------------------------------------- */

static bool mechanisms_option(struct cli_parser *p, int id,
                              struct mechanisms_list *l)
{
    switch (id) {
    case MECHANISMS_DOMAIN:
        return cli_value_count(p, &l->domain, 2, HSY_VALUES_MAX);
    case MECHANISMS_FORMAT:
        return cli_value_format(p, &l->format);
    case CLI_OPERAND:
        cli_usage(p, "'%s' is not needed: no files are read", p->value);
        return false;
    default:
        return cli_spec_option(&l->spec, p, id);
    }
}

/* Epsilon and domain of a task. */
static int mechanisms_task(struct mechanisms_list *l, struct cli_parser *p)
{
    int failed;

    if (l->domain != 0)
        return cli_usage(p, "--task says what is asked: no --domain");
    failed = cli_spec_finish(&l->spec, p);
    if (failed)
        return failed;
    l->domain = l->spec.spec.kind == HSY_KIND_YES_NO ? 2 : l->spec.spec.d;
    if (l->domain < 2)
        return cli_fail("--task: this asks for no list of values; there is "
                        "nothing to compare");
    return 0;
}

static int mechanisms_run(struct mechanisms_list *l, struct cli_parser *p)
{
    int failed = 0;

    if (l->spec.task != NULL)
        failed = mechanisms_task(l, p);
    else if (l->spec.has_epsilon != (l->domain != 0))
        failed = cli_usage(p, "--epsilon and --domain go together");
    else if ((l->spec.spec.users != 0 || mechanisms_limited(l)) &&
             l->domain == 0)
        failed = cli_usage(p, "--users and limits need --epsilon and --domain");
    if (!failed)
        failed = mechanisms_fill(l);
    if (failed)
        return failed;
    if (l->domain == 0)
        mechanisms_show_bare(l);
    else
        mechanisms_show(l);
    return cli_finish();
}

int cmd_mechanisms(int argc, char **argv)
{
    struct mechanisms_list list = {0};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &mechanisms_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP || !mechanisms_option(&p, id, &list))
            return p.exit;
    }
    failed = mechanisms_run(&list, &p);
    cli_spec_clear(&list.spec);
    return failed;
}
