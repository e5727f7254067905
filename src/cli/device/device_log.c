/* device_log.c - hearsay device log: what the device did, as a table. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MAX (64u << 20)

/* Lines of log.1 and log, oldest first. */
struct log_lines {
    struct cli_cell *lines; /* texts; owned */
    size_t n, room;
};

enum { LOG_DATE, LOG_WHAT, LOG_KEYS, LOG_NOTE = 7, LOG_BYTES = 11 };

static const struct cli_column log_columns[] = {[LOG_DATE] = {"date", NULL},
                                                [LOG_WHAT] = {"what", NULL},
                                                [LOG_KEYS] = {"task", NULL},
                                                {"source", NULL},
                                                {"slot", NULL},
                                                {"round", NULL},
                                                {"epsilon", NULL},
                                                [LOG_NOTE] = {"why", "note"},
                                                {"version", ""},
                                                {"consent", ""},
                                                {"status", ""},
                                                [LOG_BYTES] = {"bytes", NULL}};

#define LOG_COLUMNS (sizeof log_columns / sizeof log_columns[0])

/* The word after " key=" in a line. */
static void log_value(const struct cli_cell *line, const char *key,
                      struct cli_cell *out)
{
    size_t len = strlen(key);
    const char *at = line->text, *end = line->text + line->len;

    while ((at = memchr(at, ' ', (size_t)(end - at))) != NULL) {
        const char *value = ++at + len + 1;

        if ((size_t)(end - at) > len && memcmp(at, key, len) == 0 &&
            at[len] == '=') {
            const char *space = memchr(value, ' ', (size_t)(end - value));

            *out = (struct cli_cell){
                .type = CLI_TEXT,
                .text = value,
                .len = (size_t)((space != NULL ? space : end) - value)};
            return;
        }
    }
}

/* A table has one column for whatever else a line says. */
static void log_note(const struct cli_cell *line, struct cli_cell *out)
{
    static const char *const keys[] = {"version", "consent", "status"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct cli_cell value = {.type = CLI_NONE};

        log_value(line, keys[i], &value);
        if (value.type == CLI_TEXT)
            snprintf(out->shown, sizeof out->shown, "%s %.*s", keys[i],
                     (int)(value.len < 32 ? value.len : 32), value.text);
    }
}

static void log_cell(const void *ctx, size_t row, size_t column,
                     struct cli_cell *out)
{
    const struct cli_cell *line = &((const struct log_lines *)ctx)->lines[row];
    const char *space = memchr(line->text, ' ', line->len);
    size_t date = space != NULL ? (size_t)(space - line->text) : line->len;

    if (column == LOG_DATE) {
        *out = *line;
        out->len = date;
    } else if (column == LOG_WHAT && date < line->len) {
        size_t rest = line->len - date - 1;
        const char *end = memchr(space + 1, ' ', rest);

        *out = (struct cli_cell){.type = CLI_TEXT,
                                 .text = space + 1,
                                 .len = end != NULL ? (size_t)(end - space - 1)
                                                    : rest};
    } else if (column >= LOG_KEYS) {
        log_value(line, log_columns[column].name, out);
        if (column == LOG_BYTES && out->len != 0)
            snprintf(out->shown, sizeof out->shown, "%zu bytes", out->len / 2);
        if (column == LOG_NOTE)
            log_note(line, out);
    }
}

static int log_split(struct log_lines *log, const char *text, size_t len)
{
    while (len != 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end != NULL ? (size_t)(end - text) : len;

        if (log->n == log->room) {
            size_t room = 2 * log->room + 256;
            struct cli_cell *larger =
                realloc(log->lines, room * sizeof *larger);

            if (larger == NULL)
                return cli_fail_nomem();
            log->lines = larger;
            log->room = room;
        }
        if (n != 0)
            log->lines[log->n++] =
                (struct cli_cell){.type = CLI_TEXT, .text = text, .len = n};
        n += end != NULL;
        text += n;
        len -= n;
    }
    return 0;
}

/* No file, no lines. */
static int log_read(struct device_job *j, const char *name, uint8_t **bytes,
                    struct log_lines *log)
{
    const char *path = device_file(j, name);
    size_t len = 0;
    int failed;

    if (path == NULL)
        return CLI_FAILED;
    if (access(path, F_OK) == -1 && errno == ENOENT)
        return 0;
    failed = cli_read_file(bytes, &len, path, LOG_MAX);
    return failed ? failed : log_split(log, (const char *)*bytes, len);
}

int device_log(struct device_job *j)
{
    struct log_lines log = {.lines = NULL};
    struct cli_table table = {log_columns, LOG_COLUMNS, 0, log_cell, &log};
    uint8_t *older = NULL, *newer = NULL;
    int failed = device_read_policy(j);

    if (!failed)
        failed = log_read(j, "log.1", &older, &log);
    if (!failed)
        failed = log_read(j, "log", &newer, &log);
    table.nrows = log.n;
    if (!failed)
        cli_print(j->how->format, &table, NULL, 0, "entries");
    free(log.lines);
    free(older);
    free(newer);
    return failed ? failed : cli_finish();
}
