/*
 * options.h - arguments, read by a table of options.
 *
 * A command keeps what it is asked in one struct. A row an option says where in
 * the struct its value goes, of what sort it is, what it goes with and what it
 * is without:
 *
 *     struct peel { const char *output; bool raw; uint64_t users, day; };
 *
 *     #define PEEL(member) offsetof(struct peel, member)
 *     static const struct cli_option peel_rows[] = {
 *         {"output", "FILE", "write there", CLI_INTO_OUTPUT, PEEL(output)},
 *         {"raw", NULL, "leave the skin on", CLI_INTO_FLAG, PEEL(raw),
 *          .without = "users"},
 *         {"users", "N", "people", CLI_INTO_COUNT, PEEL(users), 1, 1000,
 *          .preset = "10", .with = "output"},
 *         {0}};
 *     static const struct cli_command peel_command = {
 *         "peel", "[options] FILE", "...", peel_rows, .operands = "FILE"};
 *
 *     if (!cli_read(&p, &peel_command, argc, argv, &peel))
 *         return p.exit;
 *
 * Help, the OPTIONS of the man page and the completion are made from the same
 * rows (tools/options). Whether an option was given at all is asked by
 * cli_given(&p, "users").
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
    CLI_INTO_FLAG = 0, /* bool: true */
    CLI_INTO_TEXT,     /* const char *: as it is */
    CLI_INTO_OUTPUT,   /* const char *: a path, NULL for "-" */
    CLI_INTO_FILE,     /* const char *: a path, and not "-" */
    CLI_INTO_TEXTS,    /* struct cli_texts: one more, up to high */
    CLI_INTO_COUNT,    /* uint64_t, from low to high */
    CLI_INTO_COUNT32,  /* uint32_t, likewise */
    CLI_INTO_SHARE,    /* double from 0 to 1: 0.25, 25% or 1/4; low 1: 0 is
                          allowed, high 1: 1 is allowed */
    CLI_INTO_CHANCE,   /* the same, also as 1e-6 */
    CLI_INTO_EPSILON,  /* uint64_t, nano-epsilon */
    CLI_INTO_EPSILONS, /* struct cli_numbers, with commas between them */
    CLI_INTO_COUNTS,   /* struct cli_numbers, each from low to high */
    CLI_INTO_WORDS,    /* struct cli_words, likewise */
    CLI_INTO_DAY,      /* uint32_t, days since 1970: 2026-01-31 */
    CLI_INTO_CHOICE,   /* int: its place in words */
    CLI_INTO_FORMAT,   /* enum table_format */
    CLI_INTO_SPEC,     /* into the command's struct cli_spec, as the row of
                          this name in cli_spec_rows says */
    CLI_INTO_CALL      /* what call makes of it */
};

/* Lists in a row are names with a space between them. */
struct cli_option {
    const char *name; /* without the dashes; NULL ends the table */
    const char *arg;  /* what the value is called in help, NULL: a flag; with
                         "..." at its end the option may be given again */
    const char *help; /* a phrase; help breaks its lines, and at \n */
    enum cli_into into;
    size_t place; /* in the command's struct */
    uint64_t low, high;
    const char *const *words; /* NULL behind them */
    /* `to` is the command's struct; false after a complaint */
    bool (*call)(struct cli_parser *p, void *to);
    const char *preset;  /* the value if it is not given; NULL: none */
    const char *verbs;   /* goes with these verbs only; NULL: with all */
    const char *with;    /* goes with one of these options at least */
    const char *without; /* goes with none of these */
    const char *hints;   /* values that completion offers */
};

/* What a command does, by its first word. */
struct cli_verb {
    const char *name;     /* "": without such a word */
    const char *operands; /* "DIR TASK [VALUE]", "[FILE...]"; NULL: none */
    const char *options;  /* what follows them in the usage; NULL: nothing */
    const char *needs;    /* options; "a|b": one of the two at least */
    int (*run)(void *to); /* the exit code */
    /* Instead: a command of its own, whose name is argv[0]. */
    int (*own)(int argc, char **argv);
    const char *about; /* a phrase */
};

struct cli_command {
    const char *name;  /* what --help goes after, as "simulate attack" */
    const char *usage; /* "[options] [FILE]"; ways apart by " | "; of a
                          command with verbs, NULL: they say it */
    const char *about; /* a paragraph, lines broken by \n */
    const struct cli_option *options;
    const char *operands, *needs; /* as of a verb, if there are no verbs */
    const struct cli_verb *verbs; /* a NULL name ends them */
    bool listed;                  /* help lists what they do, */
    bool apart;  /* and leaves the options to the help of each */
    size_t spec; /* where its struct cli_spec is, if it has one */
    bool truths; /* a word may be a private value: none is repeated */
};

struct cli_parser {
    const struct cli_command *command;
    const struct cli_verb *verb; /* NULL: none so far */
    int argc;
    char **argv;
    int at;
    bool only_operands; /* "--" has been seen */
    uint64_t given;     /* options so far, by their place in the table */
    int exit;           /* what to return after a complaint or help */
    const struct cli_option *row; /* of the option just read */
    const char *name;             /* its name, as in the table */
    const char *value;            /* its value */
    char **operands;              /* without the verb; NULL behind them */
    int noperands;
};

/* The values of an option that may be given again. */
#define CLI_TEXTS_MAX 256u
struct cli_texts {
    const char *at[CLI_TEXTS_MAX + 1]; /* NULL behind them */
    size_t n;
};

/* The parts of a value with commas in it. */
#define CLI_LIST_MAX 64u
struct cli_numbers {
    uint64_t at[CLI_LIST_MAX];
    size_t n;
};

struct cli_words {
    const char *at[CLI_LIST_MAX]; /* in argv */
    size_t n;
};

/* Read argv[1] onward, all of it, into the command's struct, and see that it
 * goes together. False: return p->exit, for help or a complaint was printed. */
bool cli_read(struct cli_parser *p, const struct cli_command *command, int argc,
              char **argv, void *to);

/* The same, and run the verb: the exit code. */
int cli_run(struct cli_parser *p, const struct cli_command *command, int argc,
            char **argv, void *to);

/* Whether an option of this name was given; whether the verb is of this name.
 */
bool cli_given(const struct cli_parser *p, const char *name);
bool cli_does(const struct cli_parser *p, const char *verb);

/* Whether one of a list of options was given: its name, or NULL. */
const char *cli_given_of(const struct cli_parser *p, const char *list);

/* ---- Values -------------------------------------------------------------- */

/* The value of the option just read; false after a complaint, with p->exit set.
 */
bool cli_value_count(struct cli_parser *p, uint64_t *out, uint64_t low,
                     uint64_t high);
bool cli_value_epsilons(struct cli_parser *p, struct cli_numbers *list);
bool cli_value_words(struct cli_parser *p, struct cli_words *list);

/* The value as a share between 0 and 1, as CLI_INTO_SHARE has it. */
bool cli_value_share(struct cli_parser *p, double *out);

/* ---- Words --------------------------------------------------------------- */

/* Digits, at most 2^64 - 1, or an integer as 1e6 and 1.5e3. */
bool cli_parse_count(uint64_t *out, const char *text);
bool cli_parse_count_of(uint64_t *out, const char *text, size_t len);

/* "; did you mean 'NAME'?" with the one of names (ended by NULL) that is near
 * to a word, else what `others` says. */
#define CLI_MEANT 96
const char *cli_meant(char room[CLI_MEANT], const char *word,
                      const char *const *names, const char *others);

#endif
