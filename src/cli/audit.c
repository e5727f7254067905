/* audit.c - hearsay audit: check the claims of a mechanism. */
#include "audit/audit.h"
#include "cli/base/base.h"

#include <inttypes.h>
#include <stdlib.h>

struct cmd_audit_row {
    const char *mechanism, *kind;
    double lifetime; /* if the permanent answer is kept; 0: there is none */
    struct audit_result result;
};

struct cmd_audit {
    struct cli_spec spec;
    struct audit_options options;
    enum table_format format;
    bool all;
    struct cli_numbers epsilons;
    struct cmd_audit_row *rows; /* owned */
    size_t nrows, room;
    struct cli_progress progress;
};

/* One epsilon, or several with commas between them. */
static bool cmd_audit_epsilons(struct cli_parser *p, void *to)
{
    struct cmd_audit *a = to;

    a->spec.has_epsilon = true;
    return cli_value_epsilons(p, &a->epsilons);
}

#define CMD_AUDIT(member) offsetof(struct cmd_audit, member)

static const struct cli_option cmd_audit_options[] = {
    CLI_KIND_OPTIONS,
    CLI_SPEC("strings"),
    {"epsilon", "E,...", "epsilon of one report: 0.000001 to 32, or e.g. ln3",
     CLI_INTO_CALL, .call = cmd_audit_epsilons},
    CLI_SPEC("mechanism"),
    CLI_SPEC("alphabet"),
    CLI_SPEC("oracle"),
    CLI_SPEC("set"),
    CLI_SPEC("task"),
    {"all", NULL,
     "audit every mechanism on a small domain of each kind (default --epsilon "
     "0.1,1,4)",
     CLI_INTO_FLAG, CMD_AUDIT(all),
     .without = CLI_KINDS " bins mechanism alphabet oracle set task"},
    {"samples", "N", "number of reports to draw", CLI_INTO_COUNT,
     CMD_AUDIT(options.samples), 1000, UINT64_C(1) << 40, .preset = "1e6"},
    {"confidence", "C", "confidence of the sampled bound", CLI_INTO_SHARE,
     CMD_AUDIT(options.confidence), .preset = "0.999999999"},
    {"seed", "N", "seed for reproducible randomness (default: fresh)",
     CLI_INTO_COUNT, CMD_AUDIT(options.seed), 0, UINT64_MAX},
    CLI_FORMAT_ROW(CMD_AUDIT(format)),
    {0}};

static const struct cli_command cmd_audit_command = {
    "audit",
    "KIND --epsilon E [--mechanism NAME] [options] | "
    "--task FILE:ID [options] | --all [options]",
    "Audit a mechanism's privacy claim: its exact epsilon, by formula and "
    "by\nenumeration; the epsilon that a sample of reports proves; whether the "
    "sample\nfits the stated distribution; whether it outputs nothing if the "
    "random source\nfails. The exit code is 1 if a claim does not hold.",
    cmd_audit_options, .spec = CMD_AUDIT(spec)};

/* Room for one more row. */
static bool cmd_audit_grow(struct cmd_audit *a)
{
    size_t room = 2 * a->room + 32;
    struct cmd_audit_row *rows;

    if (a->nrows < a->room)
        return true;
    rows = realloc(a->rows, room * sizeof *rows);
    if (rows == NULL)
        return false;
    a->rows = rows;
    a->room = room;
    return true;
}

static int cmd_audit_scheme(struct cmd_audit *a, const hsy_scheme *s)
{
    struct audit_subject subject = audit_library(s);
    struct cmd_audit_row *row;
    hsy_scheme_info info;
    hsy_status st;

    if (!cmd_audit_grow(a))
        return cli_fail_nomem();
    row = &a->rows[a->nrows];
    *row = (struct cmd_audit_row){0};
    hsy_scheme_describe(s, &info);
    row->mechanism = info.mechanism;
    row->kind = hsy_kind_name(info.kind);
    row->lifetime = info.epsilon_permanent;
    st = audit_run(&row->result, &subject, &a->options);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st != HSY_OK)
        return cli_fail("%s: %s", info.mechanism, hsy_strstatus(st));
    a->nrows++;
    return CLI_DONE;
}

static int cmd_audit_spec(struct cmd_audit *a, const hsy_spec *spec)
{
    hsy_scheme *s;
    int code = cli_scheme_new(&s, spec);

    if (code != CLI_DONE)
        return code;
    code = cli_scheme_reports(s);
    if (code == CLI_DONE)
        code = cmd_audit_scheme(a, s);
    free(s);
    return code;
}

/* So many will be made. Half of the samples each are single and in batches. */
static void cmd_audit_audits(struct cmd_audit *a, size_t n)
{
    a->progress = (struct cli_progress){
        .what = "samples",
        .total = (double)n * (double)(a->options.samples / 2 * 2)};
    a->options.tick = cli_progress_add;
    a->options.ctx = &a->progress;
}

/* ---- The whole table ----------------------------------------------------- */

/* One row of the table, or a note of why it is left out. */
static int cmd_audit_cross(struct cmd_audit *a, const char *mechanism,
                           uint32_t kind, uint64_t nano_epsilon)
{
    uint8_t block[AUDIT_BLOCK];
    hsy_error err = {0};
    hsy_spec spec;
    hsy_status st =
        audit_domain(&spec, block, mechanism, kind, nano_epsilon, &err);

    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_OK)
        return cmd_audit_spec(a, &spec);
    cli_note("note: %s (%s) at epsilon %.9g is left out: %s", mechanism,
             hsy_kind_name(kind), (double)nano_epsilon / HSY_NANO,
             err.msg != NULL ? err.msg : hsy_strstatus(st));
    cli_progress_add(&a->progress, a->options.samples);
    return CLI_DONE;
}

static int cmd_audit_mechanism(struct cmd_audit *a, const hsy_catalogue *row)
{
    int code = CLI_DONE;

    for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++)
        for (size_t i = 0; code == CLI_DONE && i < a->epsilons.n; i++)
            if (row->kinds >> kind & 1)
                code = cmd_audit_cross(a, row->name, kind, a->epsilons.at[i]);
    return code;
}

static int cmd_audit_all(struct cmd_audit *a)
{
    const hsy_catalogue *row;
    int code = CLI_DONE, kinds = 0;

    if (a->epsilons.n == 0)
        a->epsilons = (struct cli_numbers){
            {HSY_NANO / 10, HSY_NANO, 4 * (uint64_t)HSY_NANO}, 3};
    for (size_t i = 0; (row = hsy_mechanism_at(i)); i++)
        kinds += __builtin_popcount(row->kinds);
    cmd_audit_audits(a, (size_t)kinds * a->epsilons.n);
    for (size_t i = 0; code == CLI_DONE && (row = hsy_mechanism_at(i)); i++)
        code = cmd_audit_mechanism(a, row);
    return code;
}

/* ---- One question -------------------------------------------------------- */

static int cmd_audit_one(struct cmd_audit *a, struct cli_parser *p)
{
    int code = cli_spec_finish(&a->spec, p);

    if (code != CLI_DONE)
        return code;
    if (cli_spec_trivial(&a->spec))
        return cli_fail(
            "only one value: nothing is sent, so there is nothing to audit");
    cmd_audit_audits(a, a->epsilons.n != 0 ? a->epsilons.n : 1);
    if (a->epsilons.n == 0)
        return cmd_audit_spec(a, &a->spec.spec); /* a design says it all */
    for (size_t i = 0; i < a->epsilons.n && code == CLI_DONE; i++) {
        a->spec.spec.nano_epsilon = a->epsilons.at[i];
        code = cmd_audit_spec(a, &a->spec.spec);
    }
    return code;
}

/* ---- Printing ------------------------------------------------------------ */

static const struct table_column cmd_audit_columns[] = {
    {"mechanism", NULL},
    {"kind", NULL},
    {"epsilon", NULL},
    {"exact", NULL},
    {"epsilon_permanent", "permanent, if kept"},
    {"enumerated", ""},
    {"outputs", NULL},
    {"samples", ""},
    {"sampled", NULL},
    {"event", ""},
    {"law_p", "law p"},
    {"verdict", NULL},
};

#define CMD_AUDIT_COLUMNS                                                      \
    (sizeof cmd_audit_columns / sizeof cmd_audit_columns[0])

static struct table_cell cmd_audit_epsilon(double epsilon)
{
    struct table_cell cell = cell_number(epsilon);

    snprintf(cell.shown, sizeof cell.shown, "%.7f", epsilon);
    return cell;
}

static struct table_cell cmd_audit_p(double p)
{
    struct table_cell cell = cell_number(p);

    snprintf(cell.shown, sizeof cell.shown, "%.2g", p);
    return cell;
}

/* In the order of the columns. */
static void cmd_audit_cell(const void *ctx, size_t row, size_t column,
                           struct table_cell *out)
{
    const struct cmd_audit_row *r = (const struct cmd_audit_row *)ctx + row;
    const struct audit_result *a = &r->result;
    const struct table_cell none = {.type = CELL_NONE};
    const bool all = a->outputs != 0; /* were gone through */
    const struct table_cell cells[] = {
        cell_text(r->mechanism),
        cell_text(r->kind),
        cell_number(a->nominal),
        cmd_audit_epsilon(a->exact),
        r->lifetime > 0 ? cmd_audit_epsilon(r->lifetime) : none,
        all ? cmd_audit_epsilon(a->enumerated) : none,
        all ? cell_count(a->outputs) : none,
        cell_count(a->samples),
        cmd_audit_epsilon(a->sampled),
        cell_text(a->event),
        all ? cmd_audit_p(a->law_p) : none,
        cell_text(audit_verdict(a->faults))};

    *out = cells[column];
}

/* What the columns of the table are. */
static void cmd_audit_legend(const struct cmd_audit *a)
{
    char text[512];

    snprintf(
        text, sizeof text,
        "epsilon: as claimed; exact: by the integers in use; outputs: number "
        "of distinct reports, if enumerated; sampled: lower bound from %" PRIu64
        " reports, with confidence %.9g; law p: p-value of the fit to the "
        "stated distribution.",
        a->options.samples, a->options.confidence);
    putchar('\n');
    table_paragraph(stdout, text);
}

static int cmd_audit_print(const struct cmd_audit *a)
{
    const struct table table = {cmd_audit_columns, CMD_AUDIT_COLUMNS, a->nrows,
                                cmd_audit_cell, a->rows};
    const struct table_field fields[] = {
        {"confidence", cell_number(a->options.confidence)},
        {"seeded", cell_bool(a->options.seeded)}};
    size_t broken = 0;
    bool permanent = false;
    int code;

    for (size_t i = 0; i < a->nrows; i++) {
        broken += a->rows[i].result.faults != 0;
        permanent |= a->rows[i].lifetime > 0;
    }
    table_print(stdout, a->format, &table, fields,
                sizeof fields / sizeof fields[0], "audits");
    if (a->format == TABLE_ALIGNED)
        cmd_audit_legend(a);
    if (a->format == TABLE_ALIGNED && permanent)
        cli_permanent_note();
    if (a->spec.permanent)
        cli_note("note: this is about one report; 'hearsay tasks show' prints "
                 "the epsilon of all reports made from a permanent answer");
    code = cli_finish();
    if (broken == 0)
        return code;
    return cli_fail("audit: %zu of %zu do not hold", broken, a->nrows);
}

int cmd_audit(int argc, char **argv)
{
    struct cmd_audit a = {0};
    struct cli_parser p;
    int code;

    if (!cli_read(&p, &cmd_audit_command, argc, argv, &a)) {
        cli_spec_clear(&a.spec);
        return p.exit;
    }
    a.options.seeded = cli_given(&p, "seed");
    code = a.all ? cmd_audit_all(&a) : cmd_audit_one(&a, &p);
    cli_progress_end(&a.progress);
    if (code == CLI_DONE)
        code = cmd_audit_print(&a);
    free(a.rows);
    cli_spec_clear(&a.spec);
    return code;
}
