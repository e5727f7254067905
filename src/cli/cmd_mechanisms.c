/* cmd_mechanisms.c - hearsay mechanisms: the catalogue, with error and cost. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MECHANISMS_EPSILON = 1,
    MECHANISMS_DOMAIN,
    MECHANISMS_USERS,
    MECHANISMS_FORMAT
};

static const struct cli_option mechanisms_options[] = {
    {MECHANISMS_EPSILON, "epsilon", "E", "privacy of one report"},
    {MECHANISMS_DOMAIN, "domain", "D", "how many values (2: also yes/no)"},
    {MECHANISMS_USERS, "users", "N", "reports, for standard errors"},
    CLI_FORMAT_OPTION(MECHANISMS_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command mechanisms_command = {
    "mechanisms", "[--epsilon E --domain D [--users N]] [--format F]",
    "List the mechanisms. With an epsilon and a domain also what each costs:\n"
    "bits of a report, variance (times reports) of a share near 0 and near 1,\n"
    "counters of a tally, and steps to estimate all shares. The one that\n"
    "--mechanism auto takes is marked.",
    mechanisms_options};

#define MECHANISMS_MAX 32u
#define MECHANISMS_MANY                                                        \
    1000000u /* steps, of which a table rounds the count                       \
              */

struct mechanisms_row {
    const hsy_catalogue *entry;
    bool fits;   /* info is set */
    bool chosen; /* by auto, for its kind */
    hsy_info info;
    char kinds[48];
};

struct mechanisms_list {
    struct mechanisms_row rows[MECHANISMS_MAX];
    size_t n;
    uint64_t nano_epsilon; /* 0: the bare catalogue */
    uint64_t domain, users;
    enum cli_format format;
};

/* ---- Costs --------------------------------------------------------------- */

/* The scheme of a mechanism (NULL: auto's choice) for one kind of question. */
static int mechanisms_resolve(hsy_info *info, bool *fits, const char *name,
                              uint32_t kind, const struct mechanisms_list *l)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .nano_epsilon = l->nano_epsilon,
                     .kind = kind,
                     .d = kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS
                              ? (uint32_t)l->domain
                              : 0,
                     .hi = kind == HSY_KIND_NUMBER ? 1000000
                           : kind == HSY_KIND_BINS ? (int64_t)l->domain
                                                   : 0};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));

    if (s == NULL)
        return cli_fail_nomem();
    *fits = hsy_scheme_init(s, &spec, NULL) == HSY_OK;
    if (*fits)
        hsy_scheme_info(s, info);
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

static int mechanisms_cost(struct mechanisms_list *l,
                           struct mechanisms_row *row)
{
    uint32_t kind = mechanisms_kind(row->entry);
    hsy_info best = {0};
    bool any = false;
    int failed;

    /* A yes/no question has two values; another domain is not for it. */
    if (kind == HSY_KIND_YES_NO && l->domain != 2)
        return 0;
    failed =
        mechanisms_resolve(&row->info, &row->fits, row->entry->name, kind, l);
    if (!failed)
        failed = mechanisms_resolve(&best, &any, NULL, kind, l);
    row->chosen = row->fits && any && row->info.id == best.id;
    return failed;
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
        if (l->nano_epsilon != 0) {
            int failed = mechanisms_cost(l, row);

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
    {"decode", "decode steps"},
    {"epsilon_exact", ""},
    {"epsilon_lifetime", "lifetime eps"},
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

/* Counters read for one value, times values. Where hash functions come from a
 * pool, each value is hashed with each of them. */
static uint64_t mechanisms_decode(const hsy_info *info)
{
    return info->param[HSY_PARAM_POOL_BITS] != 0
               ? (uint64_t)info->d << info->param[HSY_PARAM_POOL_BITS]
               : info->cells;
}

static void mechanisms_cost_cell(const struct mechanisms_list *l,
                                 const hsy_info *info, size_t column,
                                 struct cli_cell *out)
{
    switch ((enum mechanisms_what)column) {
    case MECHANISMS_BITS:
        *out = cli_count(info->report_bits);
        break;
    case MECHANISMS_V0:
        if (!info->iterative)
            *out = cli_number(info->v0);
        break;
    case MECHANISMS_V1:
        if (!info->iterative)
            *out = cli_number(info->v1);
        break;
    case MECHANISMS_STDERR:
        if (l->users != 0 && !info->iterative)
            *out = cli_number(sqrt(info->v0 / (double)l->users));
        break;
    case MECHANISMS_CELLS:
        *out = cli_count(info->cells);
        break;
    case MECHANISMS_DECODE:
        *out = cli_count(mechanisms_decode(info));
        if (out->count >= MECHANISMS_MANY)
            cli_show_rough(out, (double)out->count, "");
        break;
    case MECHANISMS_LIFETIME:
        if (info->epsilon_lifetime > 0)
            *out = cli_number(info->epsilon_lifetime);
        break;
    default:
        *out = cli_number(info->epsilon_exact);
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
        if (row->fits)
            mechanisms_cost_cell(l, &row->info, column, out);
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

static void mechanisms_show(const struct mechanisms_list *l)
{
    struct cli_column columns[MECHANISMS_TITLE + 1];
    const struct cli_table table = {columns, MECHANISMS_TITLE + 1, l->n,
                                    mechanisms_cell, l};
    const struct cli_field fields[] = {
        {"epsilon", cli_number((double)l->nano_epsilon / HSY_NANO)},
        {"domain", cli_count(l->domain)},
        {"users", l->users != 0 ? cli_count(l->users) : cli_text(NULL)}};

    memcpy(columns, mechanisms_columns, sizeof columns);
    if (l->users == 0)
        columns[MECHANISMS_STDERR].title = "";
    cli_print(l->format, &table, fields, 3, "mechanisms");
    if (l->format == CLI_TABLE)
        puts("\n* what auto takes for its kind of question. A mean's variance "
             "is in units of the\nrange squared; '-': not for this domain, or "
             "by no formula (sw).");
}

/* ---- Options ------------------------------------------------------------- */

static bool mechanisms_option(struct cli_parser *p, int id,
                              struct mechanisms_list *l)
{
    switch (id) {
    case MECHANISMS_EPSILON:
        if (hsy_epsilon_parse(&l->nano_epsilon, p->value, strlen(p->value)) ==
            HSY_OK)
            return true;
        cli_usage(p, "--epsilon takes a number from 0.000001 to 32, or ln3");
        return false;
    case MECHANISMS_DOMAIN:
        return cli_value_count(p, &l->domain, 2, HSY_VALUES_MAX);
    case MECHANISMS_USERS:
        return cli_value_count(p, &l->users, 1, UINT64_MAX);
    case MECHANISMS_FORMAT:
        return cli_value_format(p, &l->format);
    default:
        cli_usage(p, "'%s' is not needed: no files are read", p->value);
        return false;
    }
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
    if ((list.nano_epsilon != 0) != (list.domain != 0))
        return cli_usage(&p, "--epsilon and --domain go together");
    if (list.users != 0 && list.domain == 0)
        return cli_usage(&p, "--users needs --epsilon and --domain");
    failed = mechanisms_fill(&list);
    if (failed)
        return failed;
    if (list.nano_epsilon == 0)
        mechanisms_show_bare(&list);
    else
        mechanisms_show(&list);
    return cli_finish();
}
