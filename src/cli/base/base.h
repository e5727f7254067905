/*
 * base.h - what the subcommands share: options, messages, tables, schemes,
 * lines.
 *
 * A subcommand is one function, cmd_NAME(argc, argv), where argv[0] is its
 * name. It returns the exit code: 0 done, 1 failed, 2 usage. Messages go to
 * stderr, name line and field, say what to do, and never hold a truth.
 */
#ifndef CLI_BASE_BASE_H
#define CLI_BASE_BASE_H

#include "cli/base/options.h"
#include "cli/base/set_help.h"
#include "hearsay.h"
#include "host/base/day.h"
#include "host/base/fields.h"
#include "host/base/labels.h"
#include "host/base/lines.h"
#include "host/base/table.h"
#include "host/base/text.h"
#include "host/format/codes.h"
#include "host/format/matrix_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cli_exit { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* ---- Commands (main.c has the table) ------------------------------------- */

int cmd_randomize(int argc, char **argv);
int cmd_tally(int argc, char **argv);
int cmd_estimate(int argc, char **argv);
int cmd_release(int argc, char **argv);
int cmd_discover(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_mechanisms(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_account(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_survey(int argc, char **argv);
int cmd_tasks(int argc, char **argv);
int cmd_device(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_shuffle(int argc, char **argv);
int cmd_relay(int argc, char **argv);
int cmd_store(int argc, char **argv);
int cmd_help(int argc, char **argv);

struct cli_entry {
    const char *name;
    const char *summary; /* one line */
    int (*run)(int argc, char **argv);
};

/* Row i of the table of commands, NULL past the end. */
const struct cli_entry *cli_command_at(size_t i);

/* NULL if there is none of this name. */
const struct cli_entry *cli_command_find(const char *name);

/* Say that there is no such command, with the nearest name; exit code 2. */
int cli_command_unknown(const char *name);

/* Say that nothing may follow; exit code 2. */
int cli_command_extra(const char *word);

/* ---- Messages ------------------------------------------------------------ */

/* "hearsay: ..." and a newline on stderr. The exit code 1. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same about the arguments, with where to find help. The exit code 2,
 * which is also put into p->exit. */
int cli_usage(struct cli_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The ways to call a command, or its verb, one a line (option_help.c). */
void cli_print_usage(FILE *to, const struct cli_parser *p);

/* A remark that does not change the exit code. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the library said, after `about` (a file, a field) unless it is NULL. */
int cli_fail_error(const char *about, const hsy_error *err);

/* The same with where it is: "NAME: record 7: ...". */
int cli_fail_at(const char *about, const hsy_error *err);

/* What the limit of an error is: " (the limit is 7)", or nothing. */
#define CLI_LIMIT 128
const char *cli_limit_text(char text[CLI_LIMIT], const hsy_error *err);

/* ---- Fields and their options (field_options.c) ------------------------- */

/* The option behind a field, where it is another one than usual. */
struct cli_field_option {
    uint32_t field;
    const char *option;
};

/* The option that says a field of the library: of `own` (n rows), else the
 * usual one, "--set KEY" in room for a parameter; NULL: none. */
#define CLI_OPTION 40
const char *cli_option_of(char room[CLI_OPTION], uint32_t field,
                          const struct cli_field_option *own, size_t n);

/* Say what is wrong with an option, or with the field if none says it. */
int cli_fail_option(const hsy_error *err, const struct cli_field_option *own,
                    size_t n);

int cli_fail_nomem(void);

/* What was wrong with a file, or in errno for HSY_E_IO. */
int cli_fail_file(const char *path, const hsy_error *err);

/* Say why it did not go with a collector's data; the exit code. */
int store_complain(const char *directory, const hsy_error *err);

/* Writing to path (NULL: standard output) failed for the reason in errno. */
int cli_fail_output(const char *path);

/* The same about a text: "NAME: line 7: ...". */
int cli_fail_line(const char *name, const hsy_error *err);

/* Flush standard output: exit code 0, or 1 after a message. */
int cli_finish(void);

/* A core file would hold truths, and so would what a debugger of the same user
 * reads: neither is allowed from here on. 0, or the exit code after a message.
 */
int cli_hide(void);

/* Below a table with lifetimes: what they rest on. */
void cli_permanent_note(void);

/* ---- Progress (progress.c) ----------------------------------------------- */

/*
 * A line on stderr, if it is a terminal, once a second from the first second
 * on, and when all is done; where it is known how much there will be, with the
 * time that is left. Zero it, and say what is counted and the total.
 */
struct cli_progress {
    const char *what; /* "reports" */
    double total;     /* 0: not known */
    uint64_t done;

    bool begun, shown, terminal;
    uint64_t start, last; /* steady_us, */
    double first;         /* and how much was done at the start */
    bool bytes;           /* the total is bytes of inputs: */
    double passed;        /* of those before, */
    double from, size;    /* of this one, */
    int fd;
};

/* So many are done, or more are. These are callbacks: progress is a struct
 * cli_progress. */
void cli_progress_set(void *progress, uint64_t done);
void cli_progress_add(void *progress, uint64_t more);

/* Take the line away. */
void cli_progress_end(struct cli_progress *p);

/* The total is the bytes of an input that is read, if it is a regular file. */
void cli_progress_file(struct cli_progress *p, int fd);

/* The same of n inputs (none: standard input), if all are; and from now on this
 * one is read. */
void cli_progress_inputs(struct cli_progress *p, const char *const *paths,
                         size_t n);
void cli_progress_input(struct cli_progress *p, int fd);

/* ---- Tables (host/base/table.h has them) --------------------------------- */

/* An option row that fills in an enum table_format. */
#define CLI_FORMAT_ROW(place)                                                  \
    {                                                                          \
        "format", "table|csv|json", "output format", CLI_INTO_FORMAT, place,   \
            .preset = "table"                                                  \
    }

/* ---- Small files (files.c) ----------------------------------------------- */

/* All of a file of at most `most` bytes, a number of MiB; the caller frees it.
 * 0, or the exit code after a message. */
int cli_read_file(uint8_t **bytes, size_t *len, const char *path, size_t most);

/* A file that will be there whole and durable or not at all; path NULL:
 * standard output. 0, or the exit code after a message. */
struct output;
int cli_open_output(struct output **out, const char *path);

/* Such a file with these bytes. */
int cli_write_file(const char *path, const void *bytes, size_t len);

/* What drawing a figure gave. Zero it. */
struct cli_figure {
    char *svg;
    size_t len;
    hsy_error err;
};

/* A figure into a file that was opened before the work, so that a wrong path
 * does not cost it; as PNG if it is called *.png. made: what drawing it said;
 * the figure is freed. */
int cli_finish_figure(struct output *out, const char *path, hsy_status made,
                      struct cli_figure *f);

/* The same into a file that is opened now. */
int cli_write_figure(const char *path, hsy_status made, struct cli_figure *f);

/* ---- Inputs (inputs.c) --------------------------------------------------- */

/* Open a file for reading, "-" or NULL being standard input: its descriptor,
 * or -1 after a message. Close with cli_close_input. */
int cli_open_input(const char *path);
void cli_close_input(int fd);
const char *cli_input_name(const char *path);

/* Where --output leads: the path, or NULL for "-", standard output. */
const char *cli_output_path(const char *value);

/* Standard input can be read once: 0, or the exit code after a complaint that
 * more than one of n inputs is "-". NULL is none. */
int cli_check_inputs(struct cli_parser *p, const char *const *paths, size_t n);

/* Read a list of values, one a line; a message and the exit code, or 0. */
int cli_labels_read(struct labels *l, const char *path);

/* Read a channel's matrix; the same. */
int cli_matrix_read(struct matrix_file *out, const char *path);

/* Why a file was not read: the system, a line of it, or all of it. */
int cli_fail_read(hsy_status st, const char *path, const hsy_error *err);

/* What was wrong with the input called name, with its line. */
int cli_fail_input(const char *name, const hsy_error *err);

/* ---- A scheme from options (spec_options.c) ------------------------------ */

/* The options of a question and of a scheme: what each is, and what it goes
 * with, for every command that has it. */
extern const struct cli_option cli_spec_rows[];

/* One of them in a command's table, and with words of its own. */
#define CLI_SPEC(name)                                                         \
    {                                                                          \
        name, NULL, NULL, CLI_INTO_SPEC                                        \
    }
#define CLI_SPEC_AS(name, arg, help)                                           \
    {                                                                          \
        name, arg, help, CLI_INTO_SPEC                                         \
    }

/* What is asked. */
#define CLI_KIND_OPTIONS                                                       \
    CLI_SPEC("yes-no"), CLI_SPEC("values"), CLI_SPEC("values-file"),           \
        CLI_SPEC("domain"), CLI_SPEC("range"), CLI_SPEC("bins")

/* How. */
#define CLI_SCHEME_OPTIONS                                                     \
    CLI_SPEC("epsilon"), CLI_SPEC("mechanism"), CLI_SPEC("alphabet"),          \
        CLI_SPEC("oracle"), CLI_SPEC("set")

/* Of what reads truths: into the members output, simulate and seed. */
#define CLI_MADE_UP_OPTIONS(type)                                              \
    CLI_SPEC("other"), CLI_SPEC("clip"),                                       \
        {"output", "FILE",                                                     \
         "output file, written whole or not at all ('-': stdout)",             \
         CLI_INTO_OUTPUT, offsetof(type, output)},                             \
        {"simulate",                                                           \
         NULL,                                                                 \
         "take noise from --seed N; for simulated people only",                \
         CLI_INTO_FLAG,                                                        \
         offsetof(type, simulate),                                             \
         .with = "seed"},                                                      \
    {                                                                          \
        "seed", "N", "seed of the noise; it reveals every truth",              \
            CLI_INTO_COUNT, offsetof(type, seed), 0, UINT64_MAX,               \
            .with = "simulate"                                                 \
    }

/* What the choice of a mechanism must keep to. */
#define CLI_LIMIT_OPTIONS                                                      \
    CLI_SPEC("max-bits"), CLI_SPEC("max-steps"), CLI_SPEC("users")

/* Which sort of question it is, of these options; and all that a task says. */
#define CLI_KINDS "yes-no values values-file domain range strings attribute"
#define CLI_ASKED                                                              \
    CLI_KINDS " bins epsilon mechanism alphabet oracle set other clip"

struct cli_tuple; /* attributes.h */
struct task_file; /* tasks.h */

/* Zero it to begin. The spec's labels point into labels, or into matrix, tuple
 * or tasks. */
struct cli_spec {
    hsy_spec spec;
    struct labels labels;
    struct matrix_file matrix;
    const char *values, *values_file, *range, *matrix_file;
    uint64_t domain, bins;
    uint32_t params; /* those that --set has given, a bit each */
    bool yes_no, strings, other, clip, has_epsilon, has_domain, has_bins;
    bool has_alphabet, ignore_columns;
    uint32_t other_place;    /* of the label "other", if other is set */
    struct cli_tuple *tuple; /* --attribute; NULL: none. Owned */
    const char *task;        /* --task; the spec's labels are in tasks */
    struct task_file *tasks; /* owned */
    bool permanent;          /* the task keeps a permanent answer */
};

/* --KEY VALUE for --set KEY=VALUE, where a command has the option. */
bool cli_spec_param(struct cli_spec *c, struct cli_parser *p);

/* Check that the options make one question and fill in c->spec. 0, or the
 * exit code after a message. Without --epsilon and a design: a usage error.
 * A list of one value passes here; see cli_spec_trivial. */
int cli_spec_finish(struct cli_spec *c, struct cli_parser *p);

/* One value only: there is nothing to ask, and nothing would be sent. */
bool cli_spec_trivial(const struct cli_spec *c);

/* The one that is near to a name that none has: "; did you mean 'x'?", or where
 * they are listed. */
const char *cli_mechanism_meant(char room[CLI_MEANT], const char *name);

/* Resolve a spec; the caller frees *out. 0, or the exit code after a message
 * that names the option concerned. */
int cli_scheme_new(hsy_scheme **out, const hsy_spec *spec);

/* Say what hsy_scheme_init refused, and what to do about it; the exit code. */
int cli_scheme_refused(const hsy_spec *spec, hsy_error *err);

/* 0, or the exit code after a message that the scheme has no reports. */
int cli_scheme_reports(const hsy_scheme *s);

/* That message about a curator's mechanism; the exit code. */
int cli_scheme_curator(const char *mechanism);

void cli_spec_clear(struct cli_spec *c);

/* ---- Truths in files (truths.c) ------------------------------------------ */

/* How lines of text become codes; points into c. */
struct coder cli_coder(const struct cli_spec *c, const hsy_scheme *scheme);

/* What is wrong with a truth and what to do, without its value. */
const char *cli_truth_said(const struct truth_wrong *wrong);

/* The same of a line of a file; the exit code. */
int cli_fail_truth(const char *name, uint64_t line,
                   const struct truth_wrong *wrong);

/* Why truths of a file (NULL: standard input) did not become reports or counts
 * in another; the exit code. */
struct randomized;
int cli_fail_truths(const char *input, const char *output,
                    const struct randomized *done, const hsy_error *err);

#endif
