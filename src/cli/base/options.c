/* options.c - reading arguments by a table of options. */
#include "cli/base/base.h"

#include "host/base/digits.h"
#include "host/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cli_begin(struct cli_parser *p, const struct cli_command *command,
               int argc, char **argv)
{
    *p = (struct cli_parser){
        .command = command, .argc = argc, .argv = argv, .at = 1};
}

/* ---- Help ---------------------------------------------------------------- */

#define OPTIONS_INDENT 26
#define OPTIONS_NAME_MAX 24u

static void options_help_one(const struct cli_option *o)
{
    const char *rest = o->help;
    int width = printf("  --%s%s%s", o->name, o->arg != NULL ? " " : "",
                       o->arg != NULL ? o->arg : "");

    if (strcmp(o->name, "output") == 0)
        width += printf(", -o");
    if (width >= OPTIONS_INDENT) {
        putchar('\n');
        width = 0;
    }
    while (rest != NULL) {
        const char *end = strchr(rest, '\n');
        int len = (int)(end != NULL ? (size_t)(end - rest) : strlen(rest));

        printf("%*s%.*s\n", OPTIONS_INDENT - width, "", len, rest);
        width = 0;
        rest = end != NULL ? end + 1 : NULL;
    }
}

static int options_help(struct cli_parser *p)
{
    const struct cli_command *c = p->command;

    cli_print_usage(stdout, c);
    printf("\n%s\n\n", c->about);
    for (const struct cli_option *o = c->options; o->name != NULL; o++)
        options_help_one(o);
    p->exit = cli_finish();
    return CLI_STOP;
}

/* ---- Parsing ------------------------------------------------------------- */

#define OPTIONS_TABLE_MAX 64u /* bits of cli_parser.given */

/* It may be a number below 0 that was meant as an answer. */
static void options_unsaid(struct cli_parser *p, const char *near)
{
    if (near != NULL)
        cli_usage(p, "no such option; did you mean --%s?", near);
    else
        cli_usage(p, "no such option; put '--' before an answer that begins "
                     "with '-'");
}

static int options_unknown(struct cli_parser *p, const char *name, size_t len)
{
    const char *names[OPTIONS_TABLE_MAX + 1] = {NULL};
    const struct cli_option *o = p->command->options;
    char word[OPTIONS_NAME_MAX + 1] = "";
    const char *near;

    for (size_t i = 0; i < OPTIONS_TABLE_MAX && o[i].name != NULL; i++)
        names[i] = o[i].name;
    if (len <= OPTIONS_NAME_MAX)
        memcpy(word, name, len);
    near = text_nearest(word, names);
    if (p->command->truths)
        options_unsaid(p, near);
    else if (near != NULL)
        cli_usage(p, "no option --%s; did you mean --%s?", word, near);
    else
        cli_usage(p, "no option --%.*s", len < 64 ? (int)len : 64, name);
    return CLI_STOP;
}

static const struct cli_option *options_find(const struct cli_command *c,
                                             const char *name, size_t len)
{
    for (const struct cli_option *o = c->options; o->name != NULL; o++) {
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    }
    return NULL;
}

/* Whether an option may stand here: for the first time, or as one of several.
 */
static bool options_first(struct cli_parser *p, const struct cli_option *o)
{
    uint64_t bit = (uint64_t)1 << (o - p->command->options);
    size_t len = o->arg != NULL ? strlen(o->arg) : 0;
    bool several = len > 3 && strcmp(o->arg + len - 3, "...") == 0;
    bool first = (p->given & bit) == 0;

    p->given |= bit;
    if (!first && !several)
        cli_usage(p, "--%s is given twice; once is enough", o->name);
    return first || several;
}

/* Figures are SVG: not on standard output, and under no other kind's name. */
static bool options_figure(struct cli_parser *p)
{
    const char *slash = strrchr(p->value, '/');
    const char *dot = strrchr(slash != NULL ? slash : p->value, '.');

    if (strcmp(p->value, "-") == 0)
        cli_usage(p, "--%s needs the name of a file", p->name);
    else if (dot != NULL && strcmp(dot, ".svg") != 0 &&
             strcmp(dot, ".png") != 0)
        cli_usage(
            p,
            "--%s writes SVG or PNG: give it a name that ends in .svg or .png",
            p->name);
    else
        return true;
    return false;
}

/* name[0..len) is the option's name, equals its value or NULL. */
static int options_take(struct cli_parser *p, const char *name, size_t len,
                        const char *equals)
{
    const struct cli_option *o = options_find(p->command, name, len);

    if (len == 4 && memcmp(name, "help", 4) == 0)
        return options_help(p);
    if (o == NULL)
        return options_unknown(p, name, len);
    if (!options_first(p, o))
        return CLI_STOP;
    p->row = o;
    p->name = o->name;
    p->value = equals;
    if (o->arg == NULL && equals != NULL) {
        cli_usage(p, "--%s takes no value", o->name);
        return CLI_STOP;
    }
    if (o->arg != NULL && equals == NULL) {
        if (p->at >= p->argc) {
            cli_usage(p, "--%s needs a value: --%s %s", o->name, o->name,
                      o->arg);
            return CLI_STOP;
        }
        p->value = p->argv[p->at++];
    }
    if (o->arg != NULL && strcmp(o->arg, "FILE.svg") == 0 && !options_figure(p))
        return CLI_STOP;
    return o->id != 0 ? o->id : CLI_TYPED;
}

static int options_short(struct cli_parser *p, const char *arg)
{
    if (strcmp(arg, "-h") == 0)
        return options_help(p);
    if (strcmp(arg, "-o") == 0 && options_find(p->command, "output", 6) != NULL)
        return options_take(p, "output", 6, NULL);
    if (p->command->truths)
        options_unsaid(p, NULL);
    else
        cli_usage(p, "no option %.64s", arg);
    return CLI_STOP;
}

int cli_next(struct cli_parser *p)
{
    const char *arg, *equals;

    if (p->at >= p->argc)
        return CLI_END;
    arg = p->argv[p->at++];
    if (p->only_operands || arg[0] != '-' || arg[1] == '\0') {
        p->value = arg;
        return CLI_OPERAND;
    }
    if (strcmp(arg, "--") == 0) {
        p->only_operands = true;
        return cli_next(p);
    }
    if (arg[1] != '-')
        return options_short(p, arg);
    arg += 2;
    equals = strchr(arg, '=');
    return options_take(p, arg,
                        equals != NULL ? (size_t)(equals - arg) : strlen(arg),
                        equals != NULL ? equals + 1 : NULL);
}

/* ---- Values -------------------------------------------------------------- */

bool cli_parse_count(uint64_t *out, const char *text)
{
    return digits_parse(out, text, strlen(text), UINT64_MAX);
}

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

bool cli_value_fraction(struct cli_parser *p, double *out)
{
    double x;

    if (text_share(&x, p->value, strlen(p->value))) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s takes a share above 0 and below 1, as 0.25 or 25%%",
              p->name);
    return false;
}

bool cli_value_part(struct cli_parser *p, double *out)
{
    double x;

    if (text_share(&x, p->value, strlen(p->value)) ||
        (text_number(&x, p->value) && x == 1)) {
        *out = x;
        return true;
    }
    cli_usage(p, "--%s takes a share above 0, up to 1, as 0.9 or 90%%",
              p->name);
    return false;
}

bool cli_value_choice(struct cli_parser *p, int *out, const char *const *names)
{
    char list[160] = "";
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
    cli_usage(p, "--%s takes one of: %s", p->name, list);
    return false;
}

bool cli_value_format(struct cli_parser *p, enum table_format *out)
{
    static const char *const names[] = {"table", "csv", "json", NULL};
    int choice;

    if (!cli_value_choice(p, &choice, names))
        return false;
    *out = (enum table_format)choice;
    return true;
}

/* ---- Into a struct ------------------------------------------------------- */

bool cli_put(struct cli_parser *p, const struct cli_option *row, void *to)
{
    void *at = (char *)to + row->place;

    switch (row->into) {
    case CLI_INTO_FLAG:
        *(bool *)at = true;
        return true;
    case CLI_INTO_TEXT:
        *(const char **)at = p->value;
        return true;
    case CLI_INTO_OUTPUT:
        *(const char **)at = cli_output_path(p->value);
        return true;
    case CLI_INTO_COUNT:
        return cli_value_count(p, at, row->low, row->high);
    case CLI_INTO_SHARE:
        return cli_value_fraction(p, at);
    case CLI_INTO_PART:
        return cli_value_part(p, at);
    case CLI_INTO_CHOICE:
        return cli_value_choice(p, at, row->words);
    case CLI_INTO_FORMAT:
        return cli_value_format(p, at);
    default:
        return row->call(p, to);
    }
}

bool cli_read(struct cli_parser *p, const struct cli_command *command, int argc,
              char **argv, void *to)
{
    void *spec = (char *)to + command->spec;
    bool good = true;
    int id;

    cli_begin(p, command, argc, argv);
    while (good && (id = cli_next(p)) != CLI_END)
        good = id == CLI_STOP      ? false
               : id == CLI_OPERAND ? command->operand(p, to)
               : id == CLI_TYPED   ? cli_put(p, p->row, to)
                                   : cli_spec_option(spec, p, id);
    return good;
}

/* ---- Which options there are --------------------------------------------- */

static bool options_has(const struct cli_parser *p, const struct cli_option *o)
{
    return (p->given >> (o - p->command->options) & 1) != 0;
}

bool cli_given(const struct cli_parser *p, const char *name)
{
    const struct cli_option *o = options_find(p->command, name, strlen(name));

    return o != NULL && options_has(p, o);
}

/* Whether a list of names, a space between them, has this one. */
static bool options_listed(const char *list, const char *name)
{
    const size_t len = strlen(name);

    for (; *list != '\0'; list += *list == ' ') {
        const size_t n = strcspn(list, " ");

        if (n == len && memcmp(list, name, n) == 0)
            return true;
        list += n;
    }
    return false;
}

const char *cli_stray(const struct cli_parser *p, const char *list)
{
    for (const struct cli_option *o = p->command->options; o->name != NULL; o++)
        if (options_has(p, o) && !options_listed(list, o->name))
            return o->name;
    return NULL;
}

const char *cli_lacking(const struct cli_parser *p, const char *list)
{
    for (; *list != '\0'; list += *list == ' ') {
        const size_t n = strcspn(list, " ");
        const struct cli_option *o = options_find(p->command, list, n);

        if (!options_has(p, o))
            return o->name;
        list += n;
    }
    return NULL;
}

size_t cli_find(const void *rows, size_t size, size_t n, const char *name,
                const char **near)
{
    const char *names[OPTIONS_TABLE_MAX + 1] = {NULL};

    *near = NULL;
    for (size_t i = 0; i < n && i < OPTIONS_TABLE_MAX; i++) {
        memcpy(&names[i], (const char *)rows + i * size, sizeof names[i]);
        if (name != NULL && strcmp(names[i], name) == 0)
            return i;
    }
    if (name != NULL)
        *near = text_nearest(name, names);
    return n;
}
