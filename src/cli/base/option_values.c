/* option_values.c - what becomes of the values of options. */
#include "cli/base/options_table.h"

#include "host/base/day.h"
#include "host/base/text.h"

#include <inttypes.h>
#include <string.h>

bool cli_value_count(struct cli_parser *p, uint64_t *out, uint64_t low,
                     uint64_t high)
{
    uint64_t x;

    if (cli_parse_count(&x, p->value) && x >= low && x <= high) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s takes an integer from %" PRIu64 " to %" PRIu64, p->name,
              low, high);
    return false;
}

static bool values_count32(struct cli_parser *p, uint32_t *out,
                           const struct cli_option *o)
{
    uint64_t x;

    if (!cli_value_count(p, &x, o->low, o->high))
        return false;
    *out = (uint32_t)x;
    return true;
}

/* low, high: whether 0 and 1 are shares too. */
static bool values_share(struct cli_parser *p, double *out,
                         const struct cli_option *o, bool chance)
{
    double x;

    if ((text_part(&x, p->value, strlen(p->value)) ||
         (chance && text_number(&x, p->value))) &&
        (x > 0 || (x == 0 && o->low == 1)) &&
        (x < 1 || (x == 1 && o->high == 1))) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s takes a share %s 0 %s 1, e.g. %s", p->name,
              o->low == 1 ? "from" : "above",
              o->high == 1 ? "up to" : "and below",
              chance                          ? "1e-6 or 1%"
              : strcmp(p->name, "level") == 0 ? "0.95 or 95%"
                                              : "0.25, 25% or 1/4");
    return false;
}

bool cli_value_share(struct cli_parser *p, double *out)
{
    return values_share(p, out, &(struct cli_option){0}, false);
}

static bool values_epsilon(struct cli_parser *p, uint64_t *nano,
                           const char *text, size_t len)
{
    const hsy_status st = hsy_epsilon_parse(nano, text, len);

    if (st == HSY_E_FORMAT)
        cli_usage(p,
                  "--%s: not a number; use a decimal such as 1 or 0.5 (no "
                  "exponent), or lnN such as ln3",
                  p->name);
    else if (st != HSY_OK)
        cli_usage(p, "--%s: must be from 0.000001 to 32", p->name);
    return st == HSY_OK;
}

/* ---- Lists --------------------------------------------------------------- */

/* The next part of a list, whose n-th it is; NULL after a complaint. */
static const char *values_part(struct cli_parser *p, const char **at,
                               size_t *len, size_t n)
{
    const char *part = *at;

    *len = strcspn(part, ",");
    if (*len == 0)
        cli_usage(p, "--%s: an item of the list is empty", p->name);
    else if (n == CLI_LIST_MAX)
        cli_usage(p, "--%s: a list has at most %u items", p->name,
                  CLI_LIST_MAX);
    else
        *at = part[*len] == ',' ? part + *len + 1 : NULL;
    return p->exit == 0 ? part : NULL;
}

bool cli_value_epsilons(struct cli_parser *p, struct cli_numbers *list)
{
    const char *at = p->value, *part;
    size_t len;

    for (list->n = 0; at != NULL; list->n++) {
        part = values_part(p, &at, &len, list->n);
        if (part == NULL || !values_epsilon(p, &list->at[list->n], part, len))
            return false;
    }
    return true;
}

static bool values_counts(struct cli_parser *p, struct cli_numbers *list,
                          uint64_t low, uint64_t high)
{
    const char *at = p->value, *part;
    size_t len;

    for (list->n = 0; at != NULL; list->n++) {
        uint64_t *x = &list->at[list->n];

        part = values_part(p, &at, &len, list->n);
        if (part == NULL)
            return false;
        if (!cli_parse_count_of(x, part, len) || *x < low || *x > high) {
            cli_usage(p,
                      "--%s takes integers from %" PRIu64 " to %" PRIu64
                      ", separated by commas",
                      p->name, low, high);
            return false;
        }
    }
    return true;
}

bool cli_value_words(struct cli_parser *p, struct cli_words *list)
{
    const char *at = p->value, *part;
    size_t len;

    for (list->n = 0; at != NULL; list->n++) {
        part = values_part(p, &at, &len, list->n);
        if (part == NULL)
            return false;
        list->at[list->n] = part;
        ((char *)part)[len] = '\0'; /* argv may be written to */
    }
    return true;
}

/* ---- The rest ------------------------------------------------------------ */

static bool values_day(struct cli_parser *p, uint32_t *out)
{
    if (day_parse(out, p->value) && *out != 0)
        return true;
    cli_usage(p, "--%s takes a day, e.g. 2026-01-31", p->name);
    return false;
}

static bool values_choice(struct cli_parser *p, int *out,
                          const char *const *names)
{
    char list[160] = "", meant[CLI_MEANT];
    size_t used = 0;

    for (int i = 0; names[i] != NULL; i++) {
        int more;

        if (strcmp(p->value, names[i]) == 0) {
            *out = i;
            return true;
        }
        more = snprintf(list + used, sizeof list - used, "%s%s",
                        i != 0 ? ", " : "", names[i]);
        if (more > 0 && used + (size_t)more < sizeof list)
            used += (size_t)more;
    }
    cli_usage(p, "--%s takes one of: %s%s", p->name, list,
              cli_meant(meant, p->value, names, ""));
    return false;
}

static bool values_texts(struct cli_parser *p, struct cli_texts *list,
                         uint64_t most)
{
    if (list->n == most) {
        cli_usage(p, "--%s may be given at most %" PRIu64 " times", p->name,
                  most);
        return false;
    }
    list->at[list->n++] = p->value;
    return true;
}

bool options_put(struct cli_parser *p, const struct cli_option *o, void *to)
{
    static const char *const formats[] = {"table", "csv", "json", NULL};
    const struct cli_option row = options_row(o);
    void *at = (char *)to + row.place;

    if (o->into == CLI_INTO_SPEC) {
        to = (char *)to + p->command->spec;
        at = (char *)to + row.place;
    }
    switch (row.into) {
    case CLI_INTO_FLAG:
        *(bool *)at = true;
        return true;
    case CLI_INTO_TEXT:
        *(const char **)at = p->value;
        return true;
    case CLI_INTO_OUTPUT:
        *(const char **)at = cli_output_path(p->value);
        return true;
    case CLI_INTO_FILE:
        *(const char **)at = p->value;
        if (strcmp(p->value, "-") == 0)
            cli_usage(p, "--%s needs the name of a file", p->name);
        return p->exit == 0;
    case CLI_INTO_TEXTS:
        return values_texts(p, at, row.high);
    case CLI_INTO_COUNT:
        return cli_value_count(p, at, row.low, row.high);
    case CLI_INTO_COUNT32:
        return values_count32(p, at, &row);
    case CLI_INTO_SHARE:
    case CLI_INTO_CHANCE:
        return values_share(p, at, &row, row.into == CLI_INTO_CHANCE);
    case CLI_INTO_EPSILON:
        return values_epsilon(p, at, p->value, strlen(p->value));
    case CLI_INTO_EPSILONS:
        return cli_value_epsilons(p, at);
    case CLI_INTO_COUNTS:
        return values_counts(p, at, row.low, row.high);
    case CLI_INTO_WORDS:
        return cli_value_words(p, at);
    case CLI_INTO_DAY:
        return values_day(p, at);
    case CLI_INTO_CHOICE:
        return values_choice(p, at, row.words);
    case CLI_INTO_FORMAT:
        return values_choice(p, at, formats);
    default:
        return row.call(p, to);
    }
}
