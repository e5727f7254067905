/* cmd_audit.c - hearsay audit: check the claims of a mechanism. */
#include "audit.h"
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define CMD_AUDIT_EPSILONS 16u
#define CMD_AUDIT_ROWS 512u
#define CMD_AUDIT_VALUES 10u   /* values of a list under --all */
#define CMD_AUDIT_POOL_BITS 6u /* small, so that outputs can be enumerated */
#define CMD_AUDIT_RANGE_HI 100 /* numbers under --all: 0 to 100 */

enum { OPT_ALL = 1, OPT_SAMPLES, OPT_CONFIDENCE, OPT_SEED, OPT_FORMAT };

static const struct cli_option cmd_audit_options[] = {
    CLI_KIND_OPTIONS,
    CLI_SCHEME_OPTIONS,
    {OPT_ALL, "all", NULL,
     "every mechanism on a small domain of each kind;\n"
     "--epsilon takes a list (default 0.1,1,4)"},
    {OPT_SAMPLES, "samples", "N", "reports to draw (default 1000000)"},
    {OPT_CONFIDENCE, "confidence", "C",
     "of the sampled bound (default 0.999999999)"},
    {OPT_SEED, "seed", "N", "reproducible coins instead of fresh ones"},
    CLI_FORMAT_OPTION(OPT_FORMAT),
    {0, NULL, NULL, NULL},
};

static const struct cli_command cmd_audit_command = {
    "audit", "KIND --epsilon E [--mechanism NAME] [options] | --all [options]",
    "Check what a mechanism claims: the exact epsilon of its integers, by\n"
    "formula and by enumeration; the epsilon that a sample of its reports\n"
    "proves; whether the sample follows the stated law; and whether it falls\n"
    "silent when its coins fail. Exit code 1 if a claim does not hold.",
    cmd_audit_options};

struct cmd_audit_row {
    const char *mechanism, *kind;
    struct audit_result result;
};

struct cmd_audit {
    struct cli_spec spec;
    struct audit_options options;
    enum cli_format format;
    bool all;
    uint64_t epsilons[CMD_AUDIT_EPSILONS];
    size_t nepsilons;
    struct cmd_audit_row *rows; /* CMD_AUDIT_ROWS */
    size_t nrows;
    struct cli_progress progress;
};

static const char *cmd_audit_kind(uint32_t kind)
{
    static const char *const names[] = {"yes-no", "values", "number", "bins",
                                        "strings"};

    return kind >= 1 && kind <= 5 ? names[kind - 1] : "?";
}

/* One epsilon, or several with commas between them. */
static bool cmd_audit_epsilons(struct cmd_audit *a, struct cli_parser *p)
{
    const char *text = p->value;

    for (;;) {
        size_t len = strcspn(text, ",");

        if (a->nepsilons == CMD_AUDIT_EPSILONS ||
            hsy_epsilon_parse(&a->epsilons[a->nepsilons], text, len) !=
                HSY_OK) {
            cli_usage(p,
                      "--epsilon: at most %u numbers from 0.000001 to 32, "
                      "or ln3",
                      CMD_AUDIT_EPSILONS);
            return false;
        }
        a->nepsilons++;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

static bool cmd_audit_confidence(struct cmd_audit *a, struct cli_parser *p)
{
    if (!cli_value_double(p, &a->options.confidence))
        return false;
    if (a->options.confidence > 0 && a->options.confidence < 1)
        return true;
    cli_usage(p, "--confidence: between 0 and 1");
    return false;
}

static bool cmd_audit_option(struct cmd_audit *a, struct cli_parser *p, int id)
{
    switch (id) {
    case OPT_ALL:
        a->all = true;
        return true;
    case OPT_SAMPLES:
        return cli_value_count(p, &a->options.samples, 1000, UINT64_C(1) << 40);
    case OPT_CONFIDENCE:
        return cmd_audit_confidence(a, p);
    case OPT_SEED:
        a->options.seeded = true;
        return cli_value_count(p, &a->options.seed, 0, UINT64_MAX);
    case OPT_FORMAT:
        return cli_value_format(p, &a->format);
    case CLI_OPT_EPSILON:
        a->spec.has_epsilon = true;
        return cmd_audit_epsilons(a, p);
    case CLI_OPERAND:
        cli_usage(p, "audit reads no file");
        return false;
    default:
        return cli_spec_option(&a->spec, p, id);
    }
}

static int cmd_audit_scheme(struct cmd_audit *a, const hsy_scheme *s)
{
    struct audit_subject subject = audit_library(s);
    struct cmd_audit_row *row = &a->rows[a->nrows];
    hsy_info info;
    hsy_status st;

    hsy_scheme_info(s, &info);
    row->mechanism = info.mechanism;
    row->kind = cmd_audit_kind(info.kind);
    st = audit_run(&row->result, &subject, &a->options);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st != HSY_OK)
        return cli_fail("%s: %s", info.mechanism, hsy_strstatus(st));
    a->nrows++;
    cli_progress_tick(&a->progress, a->nrows, "audits");
    return CLI_DONE;
}

static int cmd_audit_spec(struct cmd_audit *a, const hsy_spec *spec)
{
    hsy_scheme *s;
    int code = cli_scheme_new(&s, spec);

    if (code == CLI_DONE) {
        code = cmd_audit_scheme(a, s);
        free(s);
    }
    return code;
}

/* ---- The whole table ----------------------------------------------------- */

/* Whether the spec resolves, and to a scheme with a pool. */
static bool cmd_audit_resolves(const hsy_spec *spec, bool *pool)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_info info;
    bool works = s != NULL && hsy_scheme_init(s, spec, NULL) == HSY_OK;

    if (works) {
        hsy_scheme_info(s, &info);
        *pool = info.param[HSY_PARAM_POOL_BITS] != 0;
    }
    free(s);
    return works;
}

/* The default domain of a kind; false if the mechanism takes no such one. */
static bool cmd_audit_domain(hsy_spec *spec, const char *mechanism,
                             uint32_t kind, uint64_t nano_epsilon)
{
    bool pool = false, works;

    *spec = (hsy_spec){.size = sizeof *spec,
                       .mechanism = mechanism,
                       .nano_epsilon = nano_epsilon,
                       .kind = kind};
    if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS)
        spec->hi = CMD_AUDIT_RANGE_HI;
    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec->d = CMD_AUDIT_VALUES;
    works = cmd_audit_resolves(spec, &pool);
    if (!works && spec->d != 0) {
        spec->d = 2; /* binary mechanisms */
        works = cmd_audit_resolves(spec, &pool);
    }
    if (pool)
        spec->param[HSY_PARAM_POOL_BITS] = CMD_AUDIT_POOL_BITS;
    return works;
}

static int cmd_audit_mechanism(struct cmd_audit *a, const hsy_catalogue *row)
{
    for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_STRINGS; kind++)
        for (size_t i = 0; i < a->nepsilons; i++) {
            hsy_spec spec;
            int code;

            if ((row->kinds >> kind & 1) == 0 || a->nrows == CMD_AUDIT_ROWS ||
                !cmd_audit_domain(&spec, row->name, kind, a->epsilons[i]))
                continue;
            code = cmd_audit_spec(a, &spec);
            if (code != CLI_DONE)
                return code;
        }
    return CLI_DONE;
}

static int cmd_audit_all(struct cmd_audit *a)
{
    const hsy_catalogue *row;
    int code = CLI_DONE;

    if (a->nepsilons == 0) {
        a->epsilons[0] = HSY_NANO / 10;
        a->epsilons[1] = HSY_NANO;
        a->epsilons[2] = 4 * (uint64_t)HSY_NANO;
        a->nepsilons = 3;
    }
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
        return cli_fail("one value only: nothing is sent, nothing to audit");
    if (a->nepsilons == 0)
        return cmd_audit_spec(a, &a->spec.spec); /* a design says it all */
    for (size_t i = 0; i < a->nepsilons && code == CLI_DONE; i++) {
        a->spec.spec.nano_epsilon = a->epsilons[i];
        code = cmd_audit_spec(a, &a->spec.spec);
    }
    return code;
}

/* ---- Printing ------------------------------------------------------------ */

static const struct cli_column cmd_audit_columns[] = {
    {"mechanism", NULL}, {"kind", NULL},     {"epsilon", NULL},
    {"exact", NULL},     {"enumerated", ""}, {"outputs", NULL},
    {"samples", ""},     {"sampled", NULL},  {"event", ""},
    {"law_p", "law p"},  {"verdict", NULL},
};

static struct cli_cell cmd_audit_number(double number, const char *format)
{
    struct cli_cell cell = cli_number(number);

    (void)snprintf(cell.shown, sizeof cell.shown,
                   format[0] == 'p' ? "%.2g" : "%.7f", number);
    return cell;
}

static void cmd_audit_cell(const void *ctx, size_t row, size_t column,
                           struct cli_cell *out)
{
    const struct cmd_audit_row *r = (const struct cmd_audit_row *)ctx + row;
    const struct audit_result *a = &r->result;

    switch (column) {
    case 0:
        *out = cli_text(r->mechanism);
        break;
    case 1:
        *out = cli_text(r->kind);
        break;
    case 2:
        *out = cli_number(a->nominal);
        break;
    case 3:
        *out = cmd_audit_number(a->exact, "epsilon");
        break;
    case 4:
        if (a->outputs != 0)
            *out = cmd_audit_number(a->enumerated, "epsilon");
        break;
    case 5:
        if (a->outputs != 0)
            *out = cli_count(a->outputs);
        break;
    case 6:
        *out = cli_count(a->samples);
        break;
    case 7:
        *out = cmd_audit_number(a->sampled, "epsilon");
        break;
    case 8:
        *out = cli_text(a->event);
        break;
    case 9:
        if (a->outputs != 0)
            *out = cmd_audit_number(a->law_p, "p");
        break;
    default:
        *out = cli_text(audit_verdict(a->faults));
    }
}

static int cmd_audit_print(const struct cmd_audit *a)
{
    const struct cli_table table = {cmd_audit_columns,
                                    sizeof cmd_audit_columns /
                                        sizeof cmd_audit_columns[0],
                                    a->nrows, cmd_audit_cell, a->rows};
    const struct cli_field fields[] = {
        {"confidence", cli_number(a->options.confidence)},
        {"seeded", cli_bool(a->options.seeded)}};
    size_t broken = 0;
    int code;

    for (size_t i = 0; i < a->nrows; i++)
        broken += a->rows[i].result.faults != 0;
    cli_print(a->format, &table, fields, sizeof fields / sizeof fields[0],
              "audits");
    code = cli_finish();
    if (broken == 0)
        return code;
    return cli_fail("audit: %zu of %zu do not hold", broken, a->nrows);
}

int cmd_audit(int argc, char **argv)
{
    struct cmd_audit a = {
        .options = {.samples = AUDIT_SAMPLES, .confidence = AUDIT_CONFIDENCE}};
    struct cli_parser p;
    int id, code;

    cli_begin(&p, &cmd_audit_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END)
        if (id == CLI_STOP || !cmd_audit_option(&a, &p, id)) {
            cli_spec_clear(&a.spec);
            return p.exit;
        }
    a.rows = calloc(CMD_AUDIT_ROWS, sizeof *a.rows);
    if (a.rows == NULL)
        code = cli_fail_nomem();
    else
        code = a.all ? cmd_audit_all(&a) : cmd_audit_one(&a, &p);
    cli_progress_end(&a.progress);
    if (code == CLI_DONE)
        code = cmd_audit_print(&a);
    free(a.rows);
    cli_spec_clear(&a.spec);
    return code;
}
