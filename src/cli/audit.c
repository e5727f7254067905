/* audit.c - hearsay audit: check the claims of a mechanism. */
#include "audit/audit.h"
#include "cli/base/base.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CMD_AUDIT_EPSILONS 16u
#define CMD_AUDIT_VALUES 10u   /* values of a list under --all */
#define CMD_AUDIT_POOL_BITS 6u /* small, so that outputs can be enumerated */
#define CMD_AUDIT_HASHES 2u
#define CMD_AUDIT_WIDTH 8u
#define CMD_AUDIT_UNIT (1u << 20) /* of a matrix */
#define CMD_AUDIT_RANGE_HI 100    /* numbers under --all: 0 to 100 */

enum { OPT_ALL = 1, OPT_SAMPLES, OPT_CONFIDENCE, OPT_SEED, OPT_FORMAT };

static const struct cli_option cmd_audit_options[] = {
    CLI_KIND_OPTIONS,
    CLI_SCHEME_OPTIONS,
    CLI_TASK_OPTION,
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
    "audit",
    "KIND --epsilon E [--mechanism NAME] [options] | "
    "--task FILE:ID [options] | --all [options]",
    "Check what a mechanism claims: the exact epsilon of its integers, by\n"
    "formula and by enumeration; the epsilon that a sample of its reports\n"
    "proves; whether the sample follows the stated law; and whether it falls\n"
    "silent when its coins fail. Exit code 1 if a claim does not hold.",
    cmd_audit_options};

struct cmd_audit_row {
    const char *mechanism, *kind;
    double lifetime; /* if the permanent answer is kept; 0: there is none */
    struct audit_result result;
};

struct cmd_audit {
    struct cli_spec spec;
    struct audit_options options;
    enum cli_format format;
    bool all;
    const char *asked; /* an option that makes a question, or says how */
    uint64_t epsilons[CMD_AUDIT_EPSILONS];
    size_t nepsilons;
    struct cmd_audit_row *rows; /* owned */
    size_t nrows, room;
    struct cli_progress progress;
};

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

static bool cmd_audit_option(struct cmd_audit *a, struct cli_parser *p, int id)
{
    switch (id) {
    case OPT_ALL:
        a->all = true;
        return true;
    case OPT_SAMPLES:
        return cli_value_count(p, &a->options.samples, 1000, UINT64_C(1) << 40);
    case OPT_CONFIDENCE:
        return cli_value_fraction(p, &a->options.confidence);
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
        a->asked = p->name;
        return cli_spec_option(&a->spec, p, id);
    }
}

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
    cli_progress_tick(&a->progress, a->nrows, "audits");
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

/* ---- The whole table ----------------------------------------------------- */

/* A matrix of d states in which the truth is likelier by at most e^epsilon, in
 * the library's encoding. */
static void cmd_audit_matrix(hsy_spec *spec, uint8_t *block)
{
    uint64_t own =
        (uint64_t)(CMD_AUDIT_UNIT * exp((double)spec->nano_epsilon / 1e9));
    uint32_t d = spec->d;

    for (size_t i = 0; i < 1 + (size_t)d * d; i++) {
        uint64_t entry = i == 0 ? own + CMD_AUDIT_UNIT * (d - 1)
                         : (i - 1) / d == (i - 1) % d ? own
                                                      : CMD_AUDIT_UNIT;

        for (size_t k = 0; k < 8; k++)
            block[8 * i + k] = (uint8_t)(entry >> 8 * k);
    }
    spec->design = HSY_DESIGN_MATRIX;
    spec->labels = block;
    spec->labels_len = 8 + 8 * (size_t)d * d;
}

/* Few public functions, so that outputs can be enumerated. */
static void cmd_audit_few(hsy_spec *spec, const hsy_scheme_info *info)
{
    if (info->param[HSY_PARAM_POOL_BITS] != 0)
        spec->param[HSY_PARAM_POOL_BITS] = CMD_AUDIT_POOL_BITS;
    if (info->param[HSY_PARAM_WIDTH] != 0 &&
        info->param[HSY_PARAM_HASHES] != 0) { /* a sketch */
        spec->param[HSY_PARAM_HASHES] = CMD_AUDIT_HASHES;
        spec->param[HSY_PARAM_WIDTH] = /* sfp has two of them in a report */
            info->param[HSY_PARAM_FRAGMENTS] != 0 ? CMD_AUDIT_WIDTH / 2
                                                  : CMD_AUDIT_WIDTH;
    }
    if (info->param[HSY_PARAM_COHORTS] != 0) {
        spec->param[HSY_PARAM_COHORTS] = CMD_AUDIT_HASHES;
        spec->param[HSY_PARAM_FILTER_BITS] = CMD_AUDIT_WIDTH;
    }
}

/* Whether the spec resolves, and to what. */
static hsy_status cmd_audit_resolves(const hsy_spec *spec,
                                     hsy_scheme_info *info, hsy_error *err)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_status st = HSY_E_NOMEM;

    if (s != NULL)
        st = hsy_scheme_init(s, spec, err);
    if (st == HSY_OK)
        hsy_scheme_describe(s, info);
    free(s);
    return st;
}

#define CMD_AUDIT_BLOCK 1024u /* bytes of two attributes, or of a matrix */

/* Two attributes: yes/no, and one of three values. */
static hsy_status cmd_audit_attributes(hsy_spec *spec,
                                       uint8_t block[CMD_AUDIT_BLOCK],
                                       hsy_error *err)
{
    hsy_spec own = {.size = sizeof own,
                    .nano_epsilon = spec->nano_epsilon,
                    .kind = HSY_KIND_YES_NO};
    size_t len = 0;
    hsy_status st =
        hsy_attribute_encode(block, CMD_AUDIT_BLOCK, &len, "a", 1, &own, err);

    own.kind = HSY_KIND_VALUES;
    own.d = 3;
    if (st == HSY_OK)
        st = hsy_attribute_encode(block, CMD_AUDIT_BLOCK, &len, "b", 1, &own,
                                  err);
    spec->labels = block;
    spec->labels_len = len;
    return st;
}

/* The default domain of a kind. HSY_E_NOMEM; anything else but HSY_OK means
 * that the mechanism takes no such one, and err says why. */
static hsy_status cmd_audit_domain(hsy_spec *spec, uint8_t *block,
                                   const char *mechanism, uint32_t kind,
                                   uint64_t nano_epsilon, hsy_error *err)
{
    hsy_scheme_info info = {0};
    hsy_status st = HSY_OK;

    *spec = (hsy_spec){.size = sizeof *spec,
                       .mechanism = mechanism,
                       .nano_epsilon = nano_epsilon,
                       .kind = kind};
    if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS)
        spec->hi = CMD_AUDIT_RANGE_HI;
    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec->d = CMD_AUDIT_VALUES;
    if (strcmp(mechanism, "matrix") == 0)
        cmd_audit_matrix(spec, block);
    if (kind == HSY_KIND_TUPLE)
        st = cmd_audit_attributes(spec, block, err);
    if (st == HSY_OK)
        st = cmd_audit_resolves(spec, &info, err);
    if (st != HSY_OK && st != HSY_E_NOMEM && spec->d != 0) {
        spec->d = 2; /* binary mechanisms */
        st = cmd_audit_resolves(spec, &info, err);
    }
    cmd_audit_few(spec, &info);
    return st;
}

/* One row of the table, or a note of why it is left out. */
static int cmd_audit_cross(struct cmd_audit *a, const char *mechanism,
                           uint32_t kind, uint64_t nano_epsilon)
{
    uint8_t block[CMD_AUDIT_BLOCK];
    hsy_error err = {0};
    hsy_spec spec;
    hsy_status st =
        cmd_audit_domain(&spec, block, mechanism, kind, nano_epsilon, &err);

    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_OK)
        return cmd_audit_spec(a, &spec);
    cli_note("note: %s (%s) at epsilon %.9g is left out: %s", mechanism,
             hsy_kind_name(kind), (double)nano_epsilon / HSY_NANO,
             err.msg != NULL ? err.msg : hsy_strstatus(st));
    return CLI_DONE;
}

static int cmd_audit_mechanism(struct cmd_audit *a, const hsy_catalogue *row)
{
    int code = CLI_DONE;

    for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++)
        for (size_t i = 0; code == CLI_DONE && i < a->nepsilons; i++)
            if (row->kinds >> kind & 1)
                code = cmd_audit_cross(a, row->name, kind, a->epsilons[i]);
    return code;
}

static int cmd_audit_all(struct cmd_audit *a, struct cli_parser *p)
{
    const hsy_catalogue *row;
    int code = CLI_DONE;

    if (a->asked != NULL)
        return cli_usage(p,
                         "--all asks every mechanism all it can: leave out "
                         "--%s, or --all",
                         a->asked);
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

enum cmd_audit_what {
    CMD_AUDIT_MECHANISM,
    CMD_AUDIT_KIND,
    CMD_AUDIT_EPSILON,
    CMD_AUDIT_EXACT,
    CMD_AUDIT_LIFETIME,
    CMD_AUDIT_ENUMERATED,
    CMD_AUDIT_OUTPUTS,
    CMD_AUDIT_SAMPLED_FROM,
    CMD_AUDIT_SAMPLED,
    CMD_AUDIT_EVENT,
    CMD_AUDIT_LAW_P,
    CMD_AUDIT_VERDICT,
    CMD_AUDIT_COLUMNS
};

static const struct cli_column cmd_audit_columns[CMD_AUDIT_COLUMNS] = {
    [CMD_AUDIT_MECHANISM] = {"mechanism", NULL},
    [CMD_AUDIT_KIND] = {"kind", NULL},
    [CMD_AUDIT_EPSILON] = {"epsilon", NULL},
    [CMD_AUDIT_EXACT] = {"exact", NULL},
    [CMD_AUDIT_LIFETIME] = {"epsilon_permanent", "permanent, if kept"},
    [CMD_AUDIT_ENUMERATED] = {"enumerated", ""},
    [CMD_AUDIT_OUTPUTS] = {"outputs", NULL},
    [CMD_AUDIT_SAMPLED_FROM] = {"samples", ""},
    [CMD_AUDIT_SAMPLED] = {"sampled", NULL},
    [CMD_AUDIT_EVENT] = {"event", ""},
    [CMD_AUDIT_LAW_P] = {"law_p", "law p"},
    [CMD_AUDIT_VERDICT] = {"verdict", NULL},
};

static struct cli_cell cmd_audit_epsilon(double epsilon)
{
    struct cli_cell cell = cli_number(epsilon);

    snprintf(cell.shown, sizeof cell.shown, "%.7f", epsilon);
    return cell;
}

static struct cli_cell cmd_audit_p(double p)
{
    struct cli_cell cell = cli_number(p);

    snprintf(cell.shown, sizeof cell.shown, "%.2g", p);
    return cell;
}

static void cmd_audit_cell(const void *ctx, size_t row, size_t column,
                           struct cli_cell *out)
{
    const struct cmd_audit_row *r = (const struct cmd_audit_row *)ctx + row;
    const struct audit_result *a = &r->result;
    const struct cli_cell none = {.type = CLI_NONE};

    switch ((enum cmd_audit_what)column) {
    case CMD_AUDIT_MECHANISM:
        *out = cli_text(r->mechanism);
        break;
    case CMD_AUDIT_KIND:
        *out = cli_text(r->kind);
        break;
    case CMD_AUDIT_EPSILON:
        *out = cli_number(a->nominal);
        break;
    case CMD_AUDIT_EXACT:
        *out = cmd_audit_epsilon(a->exact);
        break;
    case CMD_AUDIT_LIFETIME:
        *out = r->lifetime > 0 ? cmd_audit_epsilon(r->lifetime) : none;
        break;
    case CMD_AUDIT_ENUMERATED:
        *out = a->outputs != 0 ? cmd_audit_epsilon(a->enumerated) : none;
        break;
    case CMD_AUDIT_OUTPUTS:
        *out = a->outputs != 0 ? cli_count(a->outputs) : none;
        break;
    case CMD_AUDIT_SAMPLED_FROM:
        *out = cli_count(a->samples);
        break;
    case CMD_AUDIT_SAMPLED:
        *out = cmd_audit_epsilon(a->sampled);
        break;
    case CMD_AUDIT_EVENT:
        *out = cli_text(a->event);
        break;
    case CMD_AUDIT_LAW_P:
        *out = a->outputs != 0 ? cmd_audit_p(a->law_p) : none;
        break;
    default:
        *out = cli_text(audit_verdict(a->faults));
    }
}

/* What the columns of the table are. */
static void cmd_audit_legend(const struct cmd_audit *a)
{
    char text[512];

    snprintf(text, sizeof text,
             "epsilon: as claimed; exact: by the integers the randomizer draws "
             "with; outputs: different reports, if all were gone through; "
             "sampled: what %" PRIu64 " reports prove with confidence %.9g; "
             "law p: the chance that reports of the stated law look as odd.",
             a->options.samples, a->options.confidence);
    putchar('\n');
    cli_paragraph(text);
}

static int cmd_audit_print(const struct cmd_audit *a)
{
    const struct cli_table table = {cmd_audit_columns, CMD_AUDIT_COLUMNS,
                                    a->nrows, cmd_audit_cell, a->rows};
    const struct cli_field fields[] = {
        {"confidence", cli_number(a->options.confidence)},
        {"seeded", cli_bool(a->options.seeded)}};
    size_t broken = 0;
    bool permanent = false;
    int code;

    for (size_t i = 0; i < a->nrows; i++) {
        broken += a->rows[i].result.faults != 0;
        permanent |= a->rows[i].lifetime > 0;
    }
    cli_print(a->format, &table, fields, sizeof fields / sizeof fields[0],
              "audits");
    if (a->format == CLI_TABLE)
        cmd_audit_legend(a);
    if (a->format == CLI_TABLE && permanent)
        cli_permanent_note();
    if (a->spec.permanent)
        cli_note("note: this is one report; 'hearsay tasks show' says what "
                 "all reports of the task's permanent answer tell together");
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
    code = a.all ? cmd_audit_all(&a, &p) : cmd_audit_one(&a, &p);
    cli_progress_end(&a.progress);
    if (code == CLI_DONE)
        code = cmd_audit_print(&a);
    free(a.rows);
    cli_spec_clear(&a.spec);
    return code;
}
