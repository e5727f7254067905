/* say.c - messages to the person at the terminal. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"
#include "host/base/written.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void say_line(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

static void say_line(const char *format, va_list args)
{
    fputs("hearsay: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cli_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_line(format, args);
    va_end(args);
    return CLI_FAILED;
}

int cli_usage(struct cli_parser *p, const char *format, ...)
{
    const char *verb = p->verb != NULL ? p->verb->name : "";
    va_list args;

    va_start(args, format);
    say_line(format, args);
    va_end(args);
    cli_print_usage(stderr, p);
    fprintf(stderr, "       see 'hearsay %s%s%s --help'\n", p->command->name,
            verb[0] != '\0' ? " " : "", verb);
    p->exit = CLI_USAGE;
    return CLI_USAGE;
}

void cli_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_line(format, args);
    va_end(args);
}

const char *cli_limit_text(char text[CLI_LIMIT], const hsy_error *err)
{
    char what[CLI_LIMIT / 2] = "";

    switch (err->limit != 0 ? err->kind : HSY_LIMIT_NONE) {
    case HSY_LIMIT_COUNT:
        snprintf(what, sizeof what, "the limit is %" PRIu64, err->limit);
        break;
    case HSY_LIMIT_VERSION:
        snprintf(what, sizeof what, "version %" PRIu64, err->limit);
        break;
    case HSY_LIMIT_NANO:
        written_nano(what, err->limit);
        break;
    case HSY_LIMIT_DAY:
    case HSY_LIMIT_END:
        day_text(what, (uint32_t)err->limit - (err->kind == HSY_LIMIT_END));
        break;
    default:
        return (text[0] = '\0', text);
    }
    snprintf(text, CLI_LIMIT, " (%s%s)",
             err->kind == HSY_LIMIT_NANO  ? "epsilon "
             : err->kind == HSY_LIMIT_DAY ? "the clock says "
             : err->kind == HSY_LIMIT_END ? "its last day was "
                                          : "",
             what);
    return text;
}

static int say_error(const char *about, uint32_t unit, const hsy_error *err)
{
    const char *field = host_field_name(err->field);
    char limit[CLI_LIMIT];

    fputs("hearsay: ", stderr);
    if (about != NULL)
        fprintf(stderr, "%s: ", about);
    if (unit != HSY_UNIT_NONE && err->at != 0)
        fprintf(stderr, "%s %" PRIu64 ": ", hsy_unit_name(unit), err->at);
    if (field[0] != '\0')
        fprintf(stderr, "%s: ", field);
    fprintf(stderr, "%s%s\n",
            err->msg != NULL ? err->msg : hsy_strstatus(err->status),
            cli_limit_text(limit, err));
    return CLI_FAILED;
}

int cli_fail_at(const char *about, const hsy_error *err)
{
    return say_error(about, err->unit, err);
}

int cli_fail_error(const char *about, const hsy_error *err)
{
    return say_error(about, HSY_UNIT_NONE, err);
}

int cli_fail_line(const char *name, const hsy_error *err)
{
    return say_error(name, HSY_UNIT_LINE, err);
}

int cli_fail_nomem(void)
{
    return cli_fail("out of memory; nothing was written");
}

int cli_fail_file(const char *path, const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    return err->status == HSY_E_IO ? cli_fail("%s: %s", path, strerror(errno))
                                   : cli_fail_error(path, err);
}

int store_complain(const char *directory, const hsy_error *err)
{
    switch (err->status) {
    case HSY_E_BUSY:
        if (err->limit != 0)
            return cli_fail("%s: process %" PRIu64
                            " serves this data; stop it first",
                            directory, err->limit);
        return cli_fail("%s: %s", directory, err->msg);
    case HSY_E_EMPTY:
        return cli_fail("%s: not a collector's data directory", directory);
    case HSY_E_NOMEM:
        return cli_fail_nomem();
    default:
        break;
    }
    if (err->field == HSY_FIELD_NONE || err->field == HSY_FIELD_DIRECTORY)
        return cli_fail("%s: %s", directory, err->msg);
    if (err->field == HOST_FIELD_RUNS && err->at != 0)
        return cli_fail("%s: runs/*.%" PRIu64 ": %s", directory, err->at,
                        err->msg);
    return cli_fail("%s: %s: %s", directory, host_field_name(err->field),
                    err->msg);
}

int cli_fail_output(const char *path)
{
    return cli_fail("%s: %s", path != NULL ? path : "standard output",
                    errno != 0 ? strerror(errno) : "write failed");
}

int cli_finish(void)
{
    bool lost = ferror(stdout) != 0;

    errno = 0;
    if (fflush(stdout) != 0 || lost)
        return cli_fail("standard output: %s",
                        errno != 0 ? strerror(errno) : "write failed");
    return CLI_DONE;
}

void cli_permanent_note(void)
{
    puts("\npermanent: epsilon of any number of reports on one truth, if its "
         "permanent answer\nis kept and each report is made from it. hearsay "
         "randomize keeps none: each of its\nreports spends epsilon again.");
}
