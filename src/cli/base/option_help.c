/* option_help.c - the help of a command, and its table of options as lines. */
#include "cli/base/options_table.h"

#include <inttypes.h>
#include <string.h>

#define HELP_TEXT 1024

/* ---- Usage --------------------------------------------------------------- */

static bool help_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The ways to call a command, apart by " | ", behind its name and verbs. */
static void help_ways(FILE *to, const char *lead, const char *name,
                      const char *verbs, const char *ways)
{
    do {
        const char *end = strstr(ways, " | ");
        const size_t len = end != NULL ? (size_t)(end - ways) : strlen(ways);

        fprintf(to, "%-6s hearsay %s%s%s%s%.*s\n", lead, name,
                *verbs != '\0' ? " " : "", verbs, len != 0 ? " " : "", (int)len,
                ways);
        ways = end != NULL ? end + 3 : NULL;
        lead = "";
    } while (ways != NULL);
}

/* Those of a verb; verbs alike stand together, as "budget|log DIR". The verb
 * behind them. */
static const struct cli_verb *help_verb(FILE *to, const char *lead,
                                        const struct cli_command *c,
                                        const struct cli_verb *v, bool alone)
{
    const struct cli_verb *next = v + 1;
    char names[HELP_TEXT], ways[HELP_TEXT];
    int used = snprintf(names, sizeof names, "%s", v->name);

    for (; !alone && next->name != NULL &&
           help_same(v->operands, next->operands) &&
           help_same(v->options, next->options);
         next++)
        used += snprintf(names + used, sizeof names - (size_t)used, "|%s",
                         next->name);
    snprintf(ways, sizeof ways, "%s%s%s", v->operands ? v->operands : "",
             v->operands != NULL && v->options != NULL ? " " : "",
             v->options != NULL ? v->options : "");
    help_ways(to, lead, c->name, names, ways);
    return next;
}

void cli_print_usage(FILE *to, const struct cli_parser *p)
{
    const struct cli_command *c = p->command;
    const struct cli_verb *v = c->verbs;
    const char *lead = "usage:";

    if (p->verb != NULL && p->verb->name[0] != '\0') {
        help_verb(to, lead, c, p->verb, true);
        return;
    }
    if (c->usage != NULL)
        help_ways(to, lead, c->name, "", c->usage);
    for (; c->usage == NULL && v->name != NULL; lead = "")
        v = help_verb(to, lead, c, v, false);
}

/* ---- Help ---------------------------------------------------------------- */

#define HELP_INDENT 26
#define HELP_WIDTH 80
/* Break a text into lines behind `used` columns: at blanks and at \n. */
static void help_wrap(const char *text, int used)
{
    const int room = HELP_WIDTH - HELP_INDENT;

    while (*text != '\0') {
        int len = (int)strcspn(text, "\n"), end = len;

        if (len > room)
            for (end = room; end > 1 && text[end] != ' '; end--)
                ;
        printf("%*s%.*s\n", HELP_INDENT - used, "", end, text);
        used = 0;
        text += end;
        text += *text == ' ' || *text == '\n';
    }
}

/* Which verbs an option is for, if they are few; else what it goes with, as
 * "..." below that one. */
static size_t help_lead(char *text, const struct cli_parser *p,
                        const struct cli_option *o,
                        const struct cli_option *row)
{
    const struct cli_option before =
        o > p->command->options ? options_row(o - 1) : (struct cli_option){0};
    const char *list = row->verbs, *at;
    size_t used = 0, len;

    if (p->verb == NULL && list != NULL && strlen(list) < 24)
        while ((at = options_next(&list, &len, " ")) != NULL)
            if (*at != '-')
                used +=
                    (size_t)snprintf(text + used, HELP_TEXT - used, "%.*s%s",
                                     (int)len, at, *list != '\0' ? ", " : ": ");
    if (row->with != NULL && before.name != NULL &&
        (options_listed(row->with, before.name) ||
         help_same(row->with, before.with)))
        used += (size_t)snprintf(text + used, HELP_TEXT - used, "... ");
    return used;
}

static void help_one(const struct cli_parser *p, const struct cli_option *o)
{
    const struct cli_option row = options_row(o);
    char text[HELP_TEXT] = "";
    size_t used = help_lead(text, p, o, &row);
    int width = printf("  --%s%s%s", row.name, row.arg != NULL ? " " : "",
                       row.arg != NULL ? row.arg : "");

    if (strcmp(row.name, "output") == 0)
        width += printf(", -o");
    if (width >= HELP_INDENT) {
        putchar('\n');
        width = 0;
    }
    used += (size_t)snprintf(text + used, HELP_TEXT - used, "%s", row.help);
    for (size_t i = 0; row.words != NULL && strchr(row.arg, '|') == NULL &&
                       row.words[i] != NULL;
         i++)
        used += (size_t)snprintf(text + used, HELP_TEXT - used, "%s%s",
                                 i == 0 ? ": " : ", ", row.words[i]);
    if (row.preset != NULL)
        snprintf(text + used, HELP_TEXT - used, " (default %s)", row.preset);
    help_wrap(text, width);
}

/* What the verbs do, the first line of it. */
static void help_verbs(const struct cli_command *c)
{
    for (const struct cli_verb *v = c->verbs; v->name != NULL; v++)
        if (v->about != NULL)
            printf("  %-13s %.*s\n", v->name, (int)strcspn(v->about, "\n"),
                   v->about);
    if (c->apart)
        printf("\nRun 'hearsay %s %s --help', and so on, for the options.\n",
               c->name, c->verbs[0].name);
    else
        putchar('\n');
}

static void help_print(const struct cli_parser *p)
{
    const struct cli_command *c = p->command;
    const bool one = p->verb != NULL && p->verb->name[0] != '\0';

    cli_print_usage(stdout, p);
    printf("\n%s\n\n",
           one && p->verb->about != NULL ? p->verb->about : c->about);
    if (!one && (c->listed || c->apart))
        help_verbs(c);
    for (const struct cli_option *o = c->options; o->name != NULL; o++)
        if (one ? o->verbs == NULL || options_listed(o->verbs, p->verb->name)
                : !c->apart)
            help_one(p, o);
}

/* ---- Rows for tools/options ---------------------------------------------- */

/* What limits a value, as a person reads it. */
static void help_limits(const struct cli_option *row)
{
    if (row->into != CLI_INTO_COUNT && row->into != CLI_INTO_COUNT32)
        return;
    if (row->high == UINT64_MAX && row->low <= 1)
        return;
    printf("%" PRIu64 " to %" PRIu64, row->low, row->high);
}

/* A line's end becomes two spaces. */
static void help_field(const char *text)
{
    putchar('\t');
    for (; text != NULL && *text != '\0'; text++)
        printf("%s%c", *text == '\n' ? " " : "", *text == '\n' ? ' ' : *text);
}

static void help_row(const struct cli_option *o)
{
    const struct cli_option row = options_row(o);

    printf("option\t%s", row.name);
    help_field(row.arg);
    help_field(row.verbs);
    help_field(row.with);
    help_field(row.without);
    help_field(row.preset);
    putchar('\t');
    help_limits(&row);
    putchar('\t');
    for (size_t i = 0; row.words != NULL && row.words[i] != NULL; i++)
        printf("%s%s", i == 0 ? "" : " ", row.words[i]);
    help_field(row.into == CLI_INTO_FORMAT ? "table csv json" : row.hints);
    help_field(row.help);
    putchar('\n');
}

static void help_rows(const struct cli_command *c)
{
    for (const struct cli_verb *v = c->verbs; v != NULL && v->name != NULL;
         v++) {
        printf("%s\t%s", v->own != NULL ? "command" : "verb", v->name);
        help_field(v->operands);
        help_field(v->options);
        help_field(v->about);
        putchar('\n');
    }
    for (const struct cli_option *o = c->options; o->name != NULL; o++)
        help_row(o);
}

int options_help(struct cli_parser *p, const char *how)
{
    if (how != NULL && strcmp(how, "rows") == 0)
        help_rows(p->command);
    else
        help_print(p);
    return cli_finish();
}
