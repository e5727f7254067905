/*
 * fuzz_cli.h - what the targets for the command's own parsers share: its
 * messages are caught, so that each promise "an exit code and a message, or
 * neither" is tried. Include it under _GNU_SOURCE.
 */
#ifndef FUZZ_CLI_H
#define FUZZ_CLI_H

#include "cli/base/base.h"
#include "fuzz.h"

/* The streams while the command has others. */
struct fuzz_said {
    FILE *out, *err, *caught;
    char *text; /* owned */
    size_t len;
};

static inline void fuzz_listen(struct fuzz_said *said)
{
    *said = (struct fuzz_said){.out = stdout, .err = stderr};
    said->caught = open_memstream(&said->text, &said->len);
    fuzz_expect(said->caught != NULL, "there is memory");
    stdout = stderr = said->caught;
}

/* One line for exit code 1, that and the usage for 2, nothing for 0. */
static inline void fuzz_understand(struct fuzz_said *said, int failed)
{
    const char *line;

    fclose(said->caught);
    stdout = said->out;
    stderr = said->err;
    line = memchr(said->text, '\n', said->len);
    fuzz_expect(failed >= CLI_DONE && failed <= CLI_USAGE,
                "an exit code is 0, 1 or 2");
    fuzz_expect(failed
                    ? said->len > 9 && memcmp(said->text, "hearsay: ", 9) == 0
                    : said->len == 0,
                "there is a message if and only if something is wrong");
    fuzz_expect(failed != CLI_FAILED || line == said->text + said->len - 1,
                "a message is a line");
    free(said->text);
}

/* ---- Options ------------------------------------------------------------- */

static const struct cli_option fuzz_options[] = {
    CLI_KIND_OPTIONS,  CLI_SPEC("strings"), CLI_SCHEME_OPTIONS,
    CLI_SPEC("other"), CLI_SPEC("clip"),    {0}};

static const struct cli_command fuzz_command = {
    "fuzz", "KIND", "-", fuzz_options, .operands = "[WORD...]"};

/* Read the options of a question as far as they go: the exit code. *asked is
 * set if a whole question came of it. No file is read. */
static inline int fuzz_ask(struct cli_spec *spec, int argc, char **argv,
                           bool *asked)
{
    struct cli_parser p;
    int failed;

    *asked = false;
    if (!cli_read(&p, &fuzz_command, argc, argv, spec))
        return p.exit;
    if (spec->values_file != NULL)
        return CLI_DONE;
    failed = cli_spec_finish(spec, &p);
    *asked = !failed;
    return failed;
}

#endif
