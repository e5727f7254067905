/* options.c - reading arguments by a table of options. */
#include "cli/base/options_table.h"

#include "host/base/day.h"
#include "host/base/digits.h"
#include "host/base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define OPTIONS_TABLE_MAX 64u /* bits of cli_parser.given */
#define OPTIONS_NAME_MAX 24u
#define OPTIONS_FEW 40u /* letters of a list of verbs that is said */

/* ---- Lists of names ------------------------------------------------------ */

const char *options_next(const char **list, size_t *len, const char *apart)
{
    const char *at = *list;

    if (at == NULL || *at == '\0')
        return NULL;
    *len = strcspn(at, apart);
    *list = at + *len + (at[*len] != '\0');
    return at;
}

bool options_listed(const char *list, const char *name)
{
    const char *at;
    size_t len;

    while ((at = options_next(&list, &len, " ")) != NULL)
        if (strlen(name) == len && memcmp(at, name, len) == 0)
            return true;
    return false;
}

/* ---- Rows ---------------------------------------------------------------- */

static const struct cli_option *options_find(const struct cli_option *rows,
                                             const char *name, size_t len)
{
    for (const struct cli_option *o = rows; o->name != NULL; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

struct cli_option options_row(const struct cli_option *o)
{
    struct cli_option row = *o;
    const struct cli_option *spec;

    if (o->into != CLI_INTO_SPEC)
        return row;
    spec = options_find(cli_spec_rows, o->name, strlen(o->name));
    row = *spec;
    row.arg = o->arg != NULL ? o->arg : spec->arg;
    row.help = o->help != NULL ? o->help : spec->help;
    row.preset = o->preset;
    row.verbs = o->verbs;
    row.with = o->with != NULL ? o->with : spec->with;
    row.without = o->without != NULL ? o->without : spec->without;
    row.words = o->words != NULL ? o->words : spec->words;
    return row;
}

static bool options_has(const struct cli_parser *p, const struct cli_option *o)
{
    return (p->given >> (o - p->command->options) & 1) != 0;
}

bool cli_given(const struct cli_parser *p, const char *name)
{
    const struct cli_option *o =
        options_find(p->command->options, name, strlen(name));

    return o != NULL && options_has(p, o);
}

const char *cli_given_of(const struct cli_parser *p, const char *list)
{
    const char *at;
    size_t len;

    while ((at = options_next(&list, &len, " |")) != NULL) {
        const struct cli_option *o = options_find(p->command->options, at, len);

        if (o != NULL && options_has(p, o))
            return o->name;
    }
    return NULL;
}

bool cli_does(const struct cli_parser *p, const char *verb)
{
    return p->verb != NULL && strcmp(p->verb->name, verb) == 0;
}

/* ---- What goes together -------------------------------------------------- */

/* The options of a list that the command has: "--a, --b or --c", or "". */
static const char *options_said(char *room, size_t size,
                                const struct cli_command *c, const char *list)
{
    const struct cli_option *found[OPTIONS_TABLE_MAX];
    size_t n = 0, used = 0, len;
    const char *at;

    while ((at = options_next(&list, &len, " |")) != NULL) {
        found[n] = options_find(c->options, at, len);
        n += found[n] != NULL && n + 1 < OPTIONS_TABLE_MAX;
    }
    room[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(room + used, size - used, "%s--%s",
                                 i == 0       ? ""
                                 : i + 1 == n ? " or "
                                              : ", ",
                                 found[i]->name);
    return room;
}

/* Whether an option of these verbs may stand behind this one. */
static bool options_for(const char *verbs, const char *verb)
{
    return verbs == NULL || verb == NULL ||
           options_listed(verbs, *verb == '\0' ? "-" : verb);
}

/* The verbs of a list: "'tasks check' or 'tasks show'". */
static const char *options_verbs(char *room, size_t size,
                                 const struct cli_command *c, const char *list)
{
    size_t used = 0, len;
    const char *at;

    room[0] = '\0';
    while ((at = options_next(&list, &len, " ")) != NULL && used < size)
        used += (size_t)snprintf(room + used, size - used, "%s'%s%s%.*s'",
                                 used == 0       ? ""
                                 : *list == '\0' ? " or "
                                                 : ", ",
                                 c->name, *at == '-' ? "" : " ",
                                 *at == '-' ? 0 : (int)len, at);
    return room;
}

/* One option against all others. */
static bool options_goes(struct cli_parser *p, const struct cli_option *o)
{
    const struct cli_option row = options_row(o);
    const char *verb = p->verb != NULL ? p->verb->name : NULL;
    const char *other = cli_given_of(p, row.without);
    char list[512];

    if (!options_for(row.verbs, verb))
        cli_usage(
            p, "--%s %s %s", row.name,
            strlen(row.verbs) > OPTIONS_FEW ? "cannot be used with"
                                            : "is only for",
            options_verbs(list, sizeof list, p->command,
                          strlen(row.verbs) > OPTIONS_FEW ? verb : row.verbs));
    else if (other != NULL)
        cli_usage(p, "--%s cannot be used with --%s", row.name, other);
    else if (cli_given_of(p, row.with) == NULL &&
             *options_said(list, sizeof list, p->command, row.with) != '\0')
        cli_usage(p, "--%s needs %s", row.name, list);
    return p->exit == 0;
}

/* What must be there. */
static bool options_needs(struct cli_parser *p, const char *needs)
{
    char list[512], one[256] = "";
    const char *at;
    size_t len;

    while ((at = options_next(&needs, &len, " ")) != NULL) {
        snprintf(one, sizeof one, "%.*s", (int)len, at);
        if (cli_given_of(p, one) != NULL)
            continue;
        options_said(list, sizeof list, p->command, one);
        cli_usage(p, "'%s%s%s' needs %s", p->command->name,
                  p->verb != NULL && p->verb->name[0] != '\0' ? " " : "",
                  p->verb != NULL ? p->verb->name : "", list);
        return false;
    }
    return true;
}

/* How many operands there may be: "DIR TASK [VALUE]" is two or three. */
static void options_count(const char *operands, int *least, int *most)
{
    const char *at;
    size_t len;

    *least = *most = 0;
    while ((at = options_next(&operands, &len, " ")) != NULL) {
        *least += at[0] != '[';
        *most =
            *most == INT_MAX || strstr(at, "...") != NULL ? INT_MAX : *most + 1;
    }
}

static bool options_operands(struct cli_parser *p, const char *operands)
{
    const char *verb = p->verb != NULL ? p->verb->name : "";
    int least, most;

    options_count(operands, &least, &most);
    if (p->noperands > most && !p->command->truths)
        cli_usage(p, "unexpected argument '%.64s'", p->operands[most]);
    else if (p->noperands > most && operands == NULL)
        cli_usage(p, "unexpected argument");
    else if (p->noperands < least || p->noperands > most)
        cli_usage(p, "'%s%s%s' takes %s", p->command->name,
                  *verb != '\0' ? " " : "", verb, operands);
    return p->exit == 0;
}

static void options_lacks_verb(struct cli_parser *p)
{
    char list[256] = "";
    size_t used = 0;

    for (const struct cli_verb *v = p->command->verbs;
         v->name != NULL && used < sizeof list; v++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 used == 0           ? ""
                                 : v[1].name == NULL ? " or "
                                                     : ", ",
                                 v->name);
    cli_usage(p, "missing subcommand: %s", list);
}

/* All of it, once all is read. */
static bool options_together(struct cli_parser *p)
{
    const struct cli_command *c = p->command;
    bool good = p->verb != NULL || c->verbs == NULL;

    if (!good)
        options_lacks_verb(p);
    if (good)
        good = options_operands(p, p->verb != NULL ? p->verb->operands
                                                   : c->operands);
    for (const struct cli_option *o = c->options; good && o->name != NULL; o++)
        good = !options_has(p, o) || options_goes(p, o);
    return good &&
           options_needs(p, p->verb != NULL ? p->verb->needs : c->needs);
}

/* ---- Parsing ------------------------------------------------------------- */

/* It may be a number below 0 that was meant as an answer. */
static bool options_unsaid(struct cli_parser *p, const char *near)
{
    if (near != NULL)
        cli_usage(p, "unknown option; did you mean --%s?", near);
    else
        cli_usage(
            p,
            "unknown option; put '--' before an answer that begins with '-'");
    return false;
}

/* Returns whether word is name after another word: "gateway-ca" for "ca". */
static bool options_ends(const char *word, const char *name)
{
    const size_t len = strlen(word), tail = strlen(name);

    return len > tail + 1 && word[len - tail - 1] == '-' &&
           strcmp(word + len - tail, name) == 0;
}

/* Returns the option of the verb that was meant: one that is spelt nearly like
 * word, or with another word before it; NULL if there is none. People have
 * three names, of which a command knows one. */
static const char *options_meant(const struct cli_parser *p, const char *word)
{
    static const char *const people = "n users devices";
    const char *names[OPTIONS_TABLE_MAX + 1] = {NULL};
    const char *verb = p->verb != NULL ? p->verb->name : NULL;
    const struct cli_option *o = p->command->options;
    const char *near, *tail = NULL;
    size_t n = 0;

    for (; n < OPTIONS_TABLE_MAX && o->name != NULL; o++) {
        if (!options_for(o->verbs, verb))
            continue;
        if (options_listed(people, word) && options_listed(people, o->name))
            return o->name;
        if (options_ends(word, o->name))
            tail = o->name;
        names[n++] = o->name;
    }
    near = text_nearest(word, names);
    return near != NULL ? near : tail;
}

static bool options_unknown(struct cli_parser *p, const char *name, size_t len)
{
    char word[OPTIONS_NAME_MAX + 1] = "";
    const char *near;

    if (len <= OPTIONS_NAME_MAX)
        memcpy(word, name, len);
    near = options_meant(p, word);
    if (p->command->truths)
        return options_unsaid(p, near);
    if (near != NULL)
        cli_usage(p, "unknown option --%s; did you mean --%s?", word, near);
    else
        cli_usage(p, "unknown option --%.*s", len < 64 ? (int)len : 64, name);
    return false;
}

/* Whether an option may stand here: for the first time, or as one of several.
 */
static bool options_first(struct cli_parser *p, const struct cli_option *o,
                          const char *arg)
{
    uint64_t bit = (uint64_t)1 << (o - p->command->options);
    size_t len = arg != NULL ? strlen(arg) : 0;
    bool several =
        len > 3 && strcmp(arg + len - 3, "...") == 0 && arg[len - 4] != ',';
    bool first = (p->given & bit) == 0;

    p->given |= bit;
    if (!first && !several)
        cli_usage(p, "--%s is given twice; give it once", o->name);
    return first || several;
}

/* Figures are SVG or PNG: not on standard output, and under no other kind's
 * name. */
static bool options_figure(struct cli_parser *p)
{
    const char *slash = strrchr(p->value, '/');
    const char *dot = strrchr(slash != NULL ? slash : p->value, '.');

    if (strcmp(p->value, "-") == 0)
        cli_usage(p, "--%s needs the name of a file", p->name);
    else if (dot != NULL && strcmp(dot, ".svg") != 0 &&
             strcmp(dot, ".png") != 0)
        cli_usage(
            p, "--%s writes SVG or PNG; use a name that ends in .svg or .png",
            p->name);
    return p->exit == 0;
}

/* The value: after the equals sign, or the next argument. */
static bool options_value(struct cli_parser *p, const char *arg,
                          const char *equals)
{
    p->value = equals;
    if (arg == NULL && equals != NULL)
        cli_usage(p, "--%s takes no value", p->name);
    else if (arg != NULL && equals == NULL && p->at >= p->argc)
        cli_usage(p, "--%s needs a value: --%s %s", p->name, p->name, arg);
    else if (arg != NULL && equals == NULL)
        p->value = p->argv[p->at++];
    return p->exit == 0 &&
           (arg == NULL || strcmp(arg, "FILE.svg") != 0 || options_figure(p));
}

/* name[0..len) is the option's name, equals its value or NULL. */
static bool options_take(struct cli_parser *p, const char *name, size_t len,
                         const char *equals, void *to)
{
    const struct cli_option *o = options_find(p->command->options, name, len);
    const char *arg = o != NULL ? options_row(o).arg : NULL;

    if (len == 4 && memcmp(name, "help", 4) == 0) {
        p->exit = options_help(p, equals);
        return false;
    }
    if (o == NULL)
        return options_unknown(p, name, len);
    p->row = o;
    p->name = o->name;
    return options_first(p, o, arg) && options_value(p, arg, equals) &&
           options_put(p, o, to);
}

static bool options_short(struct cli_parser *p, const char *arg, void *to)
{
    if (strcmp(arg, "-h") == 0)
        return options_take(p, "help", 4, NULL, to);
    if (strcmp(arg, "-o") == 0 &&
        options_find(p->command->options, "output", 6) != NULL)
        return options_take(p, "output", 6, NULL, to);
    if (p->command->truths)
        return options_unsaid(p, NULL);
    cli_usage(p, "unknown option %.64s", arg);
    return false;
}

/* The verb of this name; where none need be said, else the one without. */
static const struct cli_verb *options_verb(const struct cli_command *c,
                                           const char *word)
{
    const struct cli_verb *v = c->verbs;

    while (v->name != NULL && strcmp(v->name, word) != 0)
        v++;
    if (v->name != NULL)
        return v;
    return c->verbs[0].name[0] == '\0' ? c->verbs : NULL;
}

static bool options_no_verb(struct cli_parser *p, const char *word)
{
    const char *names[OPTIONS_TABLE_MAX + 1] = {NULL}, *near;
    const char *name = p->command->name;

    for (size_t i = 0; p->command->verbs[i].name != NULL; i++)
        names[i] = p->command->verbs[i].name;
    near = text_nearest(word, names);
    if (p->command->truths)
        word = "..."; /* may be one */
    if (near != NULL)
        cli_usage(p, "unknown command '%s %.64s'; did you mean '%s %s'?", name,
                  word, name, near);
    else
        cli_usage(p, "unknown command '%s %.64s'", name, word);
    return false;
}

/* An argument that is no option: a verb, if it is the first, or an operand. */
static bool options_word(struct cli_parser *p, char *word)
{
    const struct cli_command *c = p->command;

    if (c->verbs != NULL && p->verb == NULL) {
        p->verb = options_verb(c, word);
        if (p->verb == NULL)
            return options_no_verb(p, word);
        if (p->verb->own != NULL) {
            p->exit = p->verb->own(p->argc - p->at + 1, p->argv + p->at - 1);
            return false;
        }
        if (p->verb->name[0] != '\0')
            return true;
    }
    p->operands[p->noperands++] = word;
    return true;
}

static bool options_argument(struct cli_parser *p, char *arg, void *to)
{
    const char *equals;

    if (p->only_operands || arg[0] != '-' || arg[1] == '\0')
        return options_word(p, arg);
    if (strcmp(arg, "--") == 0) {
        p->only_operands = true;
        return true;
    }
    if (arg[1] != '-')
        return options_short(p, arg, to);
    arg += 2;
    equals = strchr(arg, '=');
    return options_take(p, arg,
                        equals != NULL ? (size_t)(equals - arg) : strlen(arg),
                        equals != NULL ? equals + 1 : NULL, to);
}

/* What stands where nothing is given. */
static bool options_presets(struct cli_parser *p, void *to)
{
    bool good = true;

    for (const struct cli_option *o = p->command->options;
         good && o->name != NULL; o++)
        if (o->preset != NULL) {
            p->row = o;
            p->name = o->name;
            p->value = o->preset;
            good = options_put(p, o, to);
        }
    return good;
}

bool cli_read(struct cli_parser *p, const struct cli_command *command, int argc,
              char **argv, void *to)
{
    bool good;

    *p = (struct cli_parser){.command = command,
                             .argc = argc,
                             .argv = argv,
                             .at = 1,
                             .operands = argv + (argc > 0)};
    good = options_presets(p, to);
    while (good && p->at < p->argc) {
        char *arg = p->argv[p->at++];

        good = options_argument(p, arg, to);
    }
    if (!good)
        return false;
    if (p->noperands < argc - 1)
        p->operands[p->noperands] = NULL; /* what was read there is read */
    if (command->verbs != NULL && p->verb == NULL)
        p->verb = options_verb(command, "");
    return options_together(p);
}

int cli_run(struct cli_parser *p, const struct cli_command *command, int argc,
            char **argv, void *to)
{
    return cli_read(p, command, argc, argv, to) ? p->verb->run(to) : p->exit;
}

/* ---- Words --------------------------------------------------------------- */

const char *cli_meant(char room[CLI_MEANT], const char *word,
                      const char *const *names, const char *others)
{
    const char *near = text_nearest(word, names);

    if (near != NULL)
        snprintf(room, CLI_MEANT, "; did you mean '%.48s'?", near);
    else
        snprintf(room, CLI_MEANT, "%s", others);
    return room;
}

/* digits[.digits]e[digits], exactly an integer. */
static bool options_scaled(uint64_t *out, const char *text, size_t len)
{
    const char *e = memchr(text, 'e', len);
    const char *point = memchr(text, '.', len);
    const size_t whole = (size_t)((point != NULL ? point : e) - text);
    const size_t parts = point != NULL ? (size_t)(e - point) - 1 : 0;
    uint64_t high, low = 0, power;

    if (e == NULL || (point != NULL && (point > e || parts == 0)) ||
        !digits_parse(&high, text, whole, UINT64_MAX) ||
        (parts != 0 && !digits_parse(&low, point + 1, parts, UINT64_MAX)) ||
        !digits_parse(&power, e + 1, len - (size_t)(e - text) - 1, 19))
        return false;
    for (size_t i = parts; i > power; i--, low /= 10)
        if (low % 10 != 0)
            return false;
    for (uint64_t i = parts; i < power && low != 0; i++)
        if (__builtin_mul_overflow(low, (uint64_t)10, &low))
            return false;
    for (uint64_t i = 0; i < power && high != 0; i++)
        if (__builtin_mul_overflow(high, (uint64_t)10, &high))
            return false;
    return !__builtin_add_overflow(high, low, out);
}

bool cli_parse_count_of(uint64_t *out, const char *text, size_t len)
{
    return memchr(text, 'e', len) != NULL
               ? options_scaled(out, text, len)
               : digits_parse(out, text, len, UINT64_MAX);
}

bool cli_parse_count(uint64_t *out, const char *text)
{
    return cli_parse_count_of(out, text, strlen(text));
}
