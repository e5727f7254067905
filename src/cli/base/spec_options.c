/* spec_options.c - a scheme from options: what is asked, and how. */
#include "cli/base/attributes.h"
#include "cli/base/options_table.h"
#include "cli/base/tasks.h"
#include "host/format/spec_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is asked ------------------------------------------------------- */

static int spec_values(struct cli_spec *c, struct cli_parser *p)
{
    hsy_error err = {0};

    switch (spec_text_values(&c->labels, c->values, &err)) {
    case HSY_OK:
        return 0;
    case HSY_E_EMPTY:
        return cli_usage(p, "--values: %s", err.msg);
    case HSY_E_FORMAT:
        return cli_usage(p,
                         "--values: misplaced quote in value %" PRIu64
                         "; write \"\" for a quote inside quotes",
                         err.at);
    case HSY_E_RANGE:
        return cli_usage(p, "--values: value %" PRIu64 ": %s", err.at, err.msg);
    case HSY_E_NOMEM:
        return cli_fail_nomem();
    default:
        return cli_fail("--values: %s", err.msg);
    }
}

/* Make sure that the list has "other", and know where it is. */
static int spec_other(struct cli_spec *c)
{
    hsy_error err = {0};

    return labels_other(&c->labels, &c->other_place, &err) == HSY_OK
               ? 0
               : cli_fail("--other: %s", err.msg);
}

static int spec_labels(struct cli_spec *c, struct cli_parser *p)
{
    int failed = c->values != NULL
                     ? spec_values(c, p)
                     : cli_labels_read(&c->labels, c->values_file);

    if (!failed && c->other)
        failed = spec_other(c);
    if (failed)
        return failed;
    spec_text_labels(&c->spec, &c->labels);
    return 0;
}

static int spec_range(struct cli_spec *c, struct cli_parser *p)
{
    hsy_error err = {0};
    const hsy_status st = spec_text_range(&c->spec, c->range, &err);

    if (st == HSY_E_FORMAT)
        return cli_usage(p, "--range takes two numbers: --range LO:HI");
    if (st != HSY_OK)
        return cli_usage(p, "--range: %s", err.msg);
    c->spec.kind = c->has_bins ? HSY_KIND_BINS : HSY_KIND_NUMBER;
    c->spec.d = (uint32_t)c->bins;
    return 0;
}

/* ---- How it is asked ----------------------------------------------------- */

/* A key of --set, or of an option by its name; false after a complaint. */
static bool spec_take(struct cli_spec *c, struct cli_parser *p, const char *key,
                      size_t len, const char *text)
{
    const struct spec_said said = {key, len, text, SPEC_TEXT_WHOLE};
    const char *set = key == p->name ? "" : "set ";
    hsy_error err = {0};
    const hsy_status st = spec_text_take(&c->spec, &c->params, &said, &err);

    if (st == HSY_E_UNKNOWN)
        cli_usage(p, "--set: unknown key %.*s; see 'hearsay help randomize'",
                  (int)len, key);
    else if (st != HSY_OK && err.at != 0)
        cli_usage(p, "--%s%.*s: character %" PRIu64 ": %s", set, (int)len, key,
                  err.at, err.msg);
    else if (st != HSY_OK)
        cli_usage(p, "--%s%.*s: %s", set, (int)len, key, err.msg);
    return st == HSY_OK;
}

bool cli_spec_param(struct cli_spec *c, struct cli_parser *p)
{
    return spec_take(c, p, p->name, strlen(p->name), p->value);
}

static bool spec_epsilon(struct cli_parser *p, void *to)
{
    struct cli_spec *c = to;

    return c->has_epsilon = cli_spec_param(c, p);
}

static bool spec_alphabet(struct cli_parser *p, void *to)
{
    struct cli_spec *c = to;

    return c->has_alphabet = cli_spec_param(c, p);
}

static bool spec_set_matrix(struct cli_spec *c, struct cli_parser *p,
                            const char *path)
{
    if (c->spec.design != HSY_DESIGN_EPSILON) {
        cli_usage(
            p, "--set matrix: another design is given already; use only one");
        return false;
    }
    c->spec.design = HSY_DESIGN_MATRIX;
    c->matrix_file = path;
    return true;
}

static bool spec_set(struct cli_parser *p, void *to)
{
    struct cli_spec *c = to;
    const char *equals = strchr(p->value, '=');
    size_t len;

    if (equals == NULL) {
        cli_usage(p, "--set takes KEY=VALUE");
        return false;
    }
    len = (size_t)(equals - p->value);
    if (len == 6 && memcmp(p->value, "matrix", 6) == 0)
        return spec_set_matrix(c, p, equals + 1);
    return spec_take(c, p, p->value, len, equals + 1);
}

/* ---- All together -------------------------------------------------------- */

static bool spec_domain(struct cli_parser *p, void *to)
{
    struct cli_spec *c = to;

    return c->has_domain = cli_value_count(p, &c->domain, 1, HSY_VALUES_MAX);
}

static bool spec_bins(struct cli_parser *p, void *to)
{
    struct cli_spec *c = to;

    return c->has_bins = cli_value_count(p, &c->bins, 1, HSY_VALUES_MAX);
}

#define SPEC(member) offsetof(struct cli_spec, member)

const struct cli_option cli_spec_rows[] = {
    {"yes-no", NULL, "a yes/no question (also true/false or 1/0)",
     CLI_INTO_FLAG, SPEC(yes_no)},
    {"values", "A,B,C", "one of these values (quoted as in CSV)", CLI_INTO_TEXT,
     SPEC(values)},
    {"values-file", "FILE", "one of the values in a file, one per line",
     CLI_INTO_TEXT, SPEC(values_file)},
    {"domain", "D", "an integer from 0 to D-1", CLI_INTO_CALL,
     .call = spec_domain},
    {"range", "LO:HI", "a number: its mean, or shares with --bins",
     CLI_INTO_TEXT, SPEC(range)},
    {"bins", "B", "number of equal bins; estimates the share of each",
     CLI_INTO_CALL, .call = spec_bins, .with = "range"},
    {"strings", NULL, "any text; name strings later (estimate --candidates)",
     CLI_INTO_FLAG, SPEC(strings)},
    {"attribute", "NAME=KIND...",
     "a CSV column (repeat): yes-no, A,B,C, @FILE, LO:HI, LO:HI/BINS, strings; "
     "NAME?=KIND: empty is \"none\"",
     CLI_INTO_CALL, .call = cli_tuple_add,
     .without = "yes-no values values-file domain range strings"},
    {"ignore-columns", NULL, "ignore columns that no --attribute names",
     CLI_INTO_FLAG, SPEC(ignore_columns), .with = "attribute"},
    {"epsilon", "E", "epsilon of one report: 0.000001 to 32, or e.g. ln3",
     CLI_INTO_CALL, .call = spec_epsilon, .hints = "1 2 ln3"},
    {"mechanism", "NAME", "a name from 'hearsay mechanisms' (default auto)",
     CLI_INTO_TEXT, SPEC(spec.mechanism)},
    {"alphabet", "SET",
     "pem, sfp: allowed bytes, such as a-z0-9 or \\x00-\\x1f", CLI_INTO_CALL,
     .call = spec_alphabet, .with = "strings", .hints = "a-z a-z0-9"},
    {"oracle", "NAME", "pem: mechanism for prefixes; sfp: cms or hcms",
     CLI_INTO_TEXT, SPEC(spec.oracle), .with = "strings",
     .hints = "grr sue oue ss hr pgr olh blh cms hcms"},
    {"set", "KEY=VALUE...", CLI_SET_HELP, CLI_INTO_CALL, .call = spec_set,
     .hints = "g= pool-bits= pool-seed= subset= window= outputs= mix= grid= "
              "blocks= q= t= fanout= hashes= width= cohorts= filter-bits= "
              "sampled-bits= bits= first= step= prefix-bits= "
              "max-candidates= sizes= piece-bits= fragment-bits= fragments= "
              "word-share= spinner= coins= channel= rappor= matrix="},
    {"other", NULL, "count unlisted values as \"other\"", CLI_INTO_FLAG,
     SPEC(other), .with = "values values-file strings attribute"},
    {"clip", NULL, "clamp numbers to the range", CLI_INTO_FLAG, SPEC(clip),
     .with = "range attribute"},
    {"max-bits", "B", "maximum bits per report", CLI_INTO_COUNT,
     SPEC(spec.max_bits), 1, UINT64_MAX},
    {"max-steps", "S", "maximum steps to estimate from --users reports",
     CLI_INTO_COUNT, SPEC(spec.max_steps), 1, UINT64_MAX},
    {"users", "N", "expected number of reports", CLI_INTO_COUNT,
     SPEC(spec.users), 1, UINT64_MAX},
    {"task", "FILE:ID", "take question and mechanism from task ID in FILE",
     CLI_INTO_TEXT, SPEC(task), .without = CLI_ASKED},
    {0}};

/* How many questions the options ask. */
static int spec_kinds(const struct cli_spec *c)
{
    return c->yes_no + (c->values != NULL) + (c->values_file != NULL) +
           c->has_domain + (c->range != NULL) + c->strings;
}

/* No question, or more than one: say which ones the command knows. */
static int spec_kinds_wrong(const struct cli_spec *c, struct cli_parser *p)
{
    char list[256] = "";
    size_t used = 0;

    for (const struct cli_option *o = p->command->options; o->name != NULL;
         o++) {
        const struct cli_option row = options_row(o);
        const int len = row.arg != NULL ? (int)strcspn(row.arg, ".") : 0;

        if (o->into == CLI_INTO_SPEC && options_listed(CLI_KINDS, o->name))
            used += (size_t)snprintf(list + used, sizeof list - used,
                                     "%s--%s%s%.*s", used == 0 ? "" : ", ",
                                     o->name, len != 0 ? " " : "", len,
                                     len != 0 ? row.arg : "");
    }
    if (spec_kinds(c) == 0)
        return cli_usage(p, "missing question: use one of %s", list);
    return cli_usage(p, "more than one question is given; use only one of %s",
                     list);
}

/* The matrix goes before the labels. */
static int spec_matrix(struct cli_spec *c, struct cli_parser *p)
{
    int failed;

    if (c->spec.kind != HSY_KIND_VALUES)
        return cli_usage(
            p, "--set matrix needs --values, --values-file or --domain");
    failed = cli_matrix_read(&c->matrix, c->matrix_file);
    if (failed)
        return failed;
    if (c->matrix.d != c->spec.d)
        return cli_fail("%s: the matrix has %" PRIu32
                        " states, but there are %" PRIu32 " values",
                        cli_input_name(c->matrix_file), c->matrix.d, c->spec.d);
    failed = matrix_file_append(&c->matrix, c->labels.block, c->labels.len,
                                NULL) == HSY_OK
                 ? 0
                 : cli_fail_nomem();
    c->spec.labels = c->matrix.bytes;
    c->spec.labels_len = c->matrix.len;
    return failed;
}

static int spec_kind(struct cli_spec *c, struct cli_parser *p)
{
    if (c->values != NULL || c->values_file != NULL)
        return spec_labels(c, p);
    if (c->range != NULL)
        return spec_range(c, p);
    if (c->yes_no) {
        c->spec.kind = HSY_KIND_YES_NO;
        c->spec.d = 2;
    } else if (c->strings) {
        c->spec.kind = HSY_KIND_STRINGS;
    } else {
        c->spec.kind = HSY_KIND_VALUES;
        c->spec.d = (uint32_t)c->domain;
    }
    return 0;
}

int cli_spec_finish(struct cli_spec *c, struct cli_parser *p)
{
    int failed;

    if (c->task != NULL)
        return cli_tasks_spec(c, p);
    if (c->tuple == NULL && spec_kinds(c) != 1)
        return spec_kinds_wrong(c, p);
    if (!c->has_epsilon && c->spec.design == HSY_DESIGN_EPSILON)
        return cli_usage(p, "--epsilon is missing; it bounds what is revealed, "
                            "e.g. --epsilon 1");
    c->spec.size = sizeof c->spec;
    if (c->tuple != NULL)
        return cli_tuple_finish(c, p);
    failed = spec_kind(c, p);
    if (!failed && c->matrix_file != NULL)
        failed = spec_matrix(c, p);
    return failed;
}

bool cli_spec_trivial(const struct cli_spec *c)
{
    return (c->spec.kind == HSY_KIND_VALUES || c->spec.kind == HSY_KIND_BINS) &&
           c->spec.d == 1;
}

void cli_spec_clear(struct cli_spec *c)
{
    labels_clear(&c->labels);
    free(c->matrix.bytes);
    c->matrix = (struct matrix_file){0};
    cli_tuple_free(c->tuple);
    c->tuple = NULL;
    if (c->tasks != NULL)
        task_file_clear(c->tasks);
    free(c->tasks);
    c->tasks = NULL;
}
