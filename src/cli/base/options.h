/*
 * options.h - arguments, read by a table of options.
 *
 * A command keeps what it is asked in one struct, and has a row an option that
 * says where in the struct its value goes and of what sort it is:
 *
 *     struct peel { const char *output; bool raw; uint64_t users; };
 *
 *     #define PEEL(member) offsetof(struct peel, member)
 *     static const struct cli_option peel_rows[] = {
 *         {0, "output", "FILE", "there", CLI_INTO_OUTPUT, PEEL(output)},
 *         {0, "raw", NULL, "as it is", CLI_INTO_FLAG, PEEL(raw)},
 *         {0, "users", "N", "people", CLI_INTO_COUNT, PEEL(users), 1, 1000},
 *         {0, "day", "DAY", "when", CLI_INTO_CALL, .call = peel_day},
 *         {0}};
 *     static const struct cli_command peel_command = {
 *         "peel", "[options] FILE", "...", peel_rows, .operand = peel_operand};
 *
 *     if (!cli_read(&p, &peel_command, argc, argv, &peel))
 *         return p.exit;
 *
 * Whether an option was given at all is asked by cli_given(&p, "users"). Rows
 * of CLI_OPT_* (base.h) go into the struct cli_spec that the command has at
 * .spec. A row with an id of its own is the command's to take: it calls
 * cli_begin and cli_next itself, and cli_put where that returns CLI_TYPED.
 */
#ifndef CLI_BASE_OPTIONS_H
#define CLI_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows leave out what is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct cli_parser;

/* What an option's value becomes. */
enum cli_into {
    CLI_INTO_NONE = 0, /* the command sees to it, by the row's id */
    CLI_INTO_FLAG,     /* bool: true */
    CLI_INTO_TEXT,     /* const char *: as it is */
    CLI_INTO_OUTPUT,   /* const char *: a path, NULL for "-" */
    CLI_INTO_COUNT,    /* uint64_t, from low to high */
    CLI_INTO_SHARE,    /* double, above 0 and below 1 */
    CLI_INTO_PART,     /* double, above 0, at most 1 */
    CLI_INTO_CHOICE,   /* int: its place in words */
    CLI_INTO_FORMAT,   /* enum table_format */
    CLI_INTO_CALL      /* what call makes of it */
};

struct cli_option {
    int id;           /* what cli_next returns; 0: the row says it all */
    const char *name; /* without the dashes; NULL ends the table */
    const char *arg;  /* what the value is called in help, NULL: a flag; with
                         "..." at its end the option may be given again */
    const char *help; /* lines separated by \n */
    enum cli_into into;
    size_t place; /* in the command's struct */
    uint64_t low, high;
    const char *const *words; /* NULL behind them */
    /* `to` is the command's struct; false after a complaint */
    bool (*call)(struct cli_parser *p, void *to);
};

struct cli_command {
    const char *name;  /* what --help goes after, as "simulate attack" */
    const char *usage; /* "[options] [FILE]"; ways apart by " | " */
    const char *about; /* a paragraph, lines broken by \n */
    const struct cli_option *options;
    /* Take p->value, which is no option; false after a complaint. */
    bool (*operand)(struct cli_parser *p, void *to);
    size_t spec; /* where its struct cli_spec is, if it has one */
    bool truths; /* a word may be a private value: none is repeated */
};

struct cli_parser {
    const struct cli_command *command;
    int argc;
    char **argv;
    int at;
    bool only_operands; /* "--" has been seen */
    uint64_t given;     /* options so far, by their place in the table */
    int exit;           /* what to return when cli_next returned CLI_STOP */
    const struct cli_option *row; /* of the option just read */
    const char *name;             /* its name, as in the table */
    const char *value;            /* its value, or the operand */
};

/* Read argv[1] onward, all of it, into the command's struct. False: return
 * p->exit, for help or a complaint was printed. */
bool cli_read(struct cli_parser *p, const struct cli_command *command, int argc,
              char **argv, void *to);

/* Whether an option of this name was given. */
bool cli_given(const struct cli_parser *p, const char *name);

/* The first option given whose name `list` lacks; the first of `list` that was
 * not given. Names have a space between them. NULL: none. */
const char *cli_stray(const struct cli_parser *p, const char *list);
const char *cli_lacking(const struct cli_parser *p, const char *list);

/* ---- Step by step -------------------------------------------------------- */

#define CLI_END 0        /* all arguments have been read */
#define CLI_OPERAND (-1) /* value is a file name or the like; "-" included */
#define CLI_STOP (-2)    /* help or a complaint was printed: return exit */
#define CLI_TYPED (-3)   /* an option that cli_put takes */

/* Read argv[1] onward. */
void cli_begin(struct cli_parser *p, const struct cli_command *command,
               int argc, char **argv);

/* The id of the next option, or one of the four above. "--name value",
 * "--name=value"; -o and -h stand for --output and --help, which every command
 * has without naming the latter. */
int cli_next(struct cli_parser *p);

/* Put the value just read where a row says; false after a complaint. */
bool cli_put(struct cli_parser *p, const struct cli_option *row, void *to);

/* The value of the option just read as a number, a fraction being a decimal
 * between 0 and 1 without its ends, a part one that may be all; false after a
 * complaint, with p->exit set.
 */
bool cli_value_count(struct cli_parser *p, uint64_t *out, uint64_t low,
                     uint64_t high);
bool cli_value_fraction(struct cli_parser *p, double *out);
bool cli_value_part(struct cli_parser *p, double *out);

/* The place of the value in a list of names ended by NULL. */
bool cli_value_choice(struct cli_parser *p, int *out, const char *const *names);

/* ---- Words --------------------------------------------------------------- */

/* Plain digits, nothing else, at most 2^64 - 1. */
bool cli_parse_count(uint64_t *out, const char *text);

/* Which of n rows of this size, each a name first, is called so; if none, n
 * and the nearest name, which is NULL if none is near. */
size_t cli_find(const void *rows, size_t size, size_t n, const char *name,
                const char **near);

#endif
