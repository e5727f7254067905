/* say.c - messages to the person at the terminal. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

void cli_print_usage(FILE *to, const struct cli_command *command)
{
    const char *way = command->usage, *lead = "usage:";

    while (way != NULL) {
        const char *end = strstr(way, " | ");
        size_t len = end != NULL ? (size_t)(end - way) : strlen(way);

        fprintf(to, "%-6s hearsay %s %.*s\n", lead, command->name, (int)len,
                way);
        way = end != NULL ? end + 3 : NULL;
        lead = "";
    }
}

int cli_usage(struct cli_parser *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_line(format, args);
    va_end(args);
    cli_print_usage(stderr, p->command);
    fprintf(stderr, "       'hearsay %s --help' has the options\n",
            p->command->name);
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

/* Whether msg has this number in it; an exponent is none. */
static bool say_holds(const char *msg, uint64_t number)
{
    const char *at = msg;
    char *end;

    while ((at = strpbrk(at, "0123456789")) != NULL) {
        if (strtoull(at, &end, 10) == number && (at == msg || at[-1] != '^'))
            return true;
        at = end;
    }
    return false;
}

/* What a limit is: days are no numbers to who reads them. */
static void say_limit(const hsy_error *err)
{
    const bool last = err->field == HSY_FIELD_EXPIRES;
    const bool day = err->field == HSY_FIELD_ISSUED;
    char text[DAY_TEXT];

    if ((last || day) && err->limit - last <= UINT32_MAX) {
        day_text(text, (uint32_t)(err->limit - last));
        fprintf(stderr, " (%s %s)",
                last ? "its last day was" : "the clock says", text);
    } else {
        fprintf(stderr, " (the limit is %" PRIu64 ")", err->limit);
    }
}

int cli_fail_at(const char *about, const char *unit, const hsy_error *err)
{
    const char *msg = err->msg != NULL ? err->msg : hsy_strstatus(err->status);

    fputs("hearsay: ", stderr);
    if (about != NULL)
        fprintf(stderr, "%s: ", about);
    if (unit != NULL && err->at != 0)
        fprintf(stderr, "%s %" PRIu64 ": ", unit, err->at);
    if (err->field != HSY_FIELD_NONE)
        fprintf(stderr, "%s: ", err->field);
    fputs(msg, stderr);
    if (err->limit != 0 && !say_holds(msg, err->limit))
        say_limit(err);
    fputc('\n', stderr);
    return CLI_FAILED;
}

int cli_fail_error(const char *about, const hsy_error *err)
{
    return cli_fail_at(about, NULL, err);
}

int cli_fail_line(const char *name, const hsy_error *err)
{
    return cli_fail_at(name, "line", err);
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
        return cli_fail("%s: no collector's data is here", directory);
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
    return cli_fail("%s: %s: %s", directory, err->field, err->msg);
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
    puts("\npermanent: of any number of reports on one truth, if its permanent "
         "answer is kept\nand each is made from it. hearsay randomize keeps "
         "none: each of its reports\nspends epsilon anew.");
}

#define SAY_WIDTH 78u /* columns of a paragraph */

void cli_paragraph(const char *text)
{
    while (strlen(text) > SAY_WIDTH) {
        size_t n = SAY_WIDTH;

        while (n > 0 && text[n] != ' ')
            n--;
        if (n == 0)
            n = strcspn(text, " ");
        printf("%.*s\n", (int)n, text);
        text += n + (text[n] == ' ');
    }
    puts(text);
}

static double say_now(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void cli_progress_tick(struct cli_progress *p, uint64_t count, const char *what)
{
    double now;

    if (!p->begun) {
        p->begun = true;
        p->terminal = isatty(STDERR_FILENO) == 1;
        p->start = p->last = p->terminal ? say_now() : 0;
    }
    if (!p->terminal)
        return;
    now = say_now();
    if (now - p->last < 1)
        return;
    p->last = now;
    p->shown = true;
    fprintf(stderr, "\r%" PRIu64 " %s, %.1f M/s ", count, what,
            (double)count / (now - p->start) / 1e6);
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
