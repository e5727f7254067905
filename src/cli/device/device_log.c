/* device_log.c - hearsay device log: what the device did, as a table. */
#define _DEFAULT_SOURCE
#include "cli/device/internal.h"

#include <string.h>

enum { LOG_DATE, LOG_WHAT, LOG_KEYS, LOG_NOTE = 7, LOG_BYTES = 11 };

static const struct table_column log_columns[] = {
    [LOG_DATE] = {"date", NULL},
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

static struct table_cell log_text(struct home_line line)
{
    return (struct table_cell){.type =
                                   line.text != NULL ? CELL_TEXT : CELL_NONE,
                               .text = line.text,
                               .len = line.len};
}

/* A table has one column for whatever else a line says. */
static void log_note(const struct home_line *line, struct table_cell *out)
{
    static const char *const keys[] = {"version", "consent", "status"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct home_line value = home_log_value(line, keys[i]);

        if (value.text != NULL)
            snprintf(out->shown, sizeof out->shown, "%s %.*s", keys[i],
                     (int)(value.len < 32 ? value.len : 32), value.text);
    }
}

static void log_cell(const void *ctx, size_t row, size_t column,
                     struct table_cell *out)
{
    const struct home_line *line = &((const struct home_log *)ctx)->lines[row];
    const char *space = memchr(line->text, ' ', line->len);
    size_t date = space != NULL ? (size_t)(space - line->text) : line->len;

    if (column == LOG_DATE) {
        *out = log_text((struct home_line){line->text, date});
    } else if (column == LOG_WHAT && date < line->len) {
        size_t rest = line->len - date - 1;
        const char *end = memchr(space + 1, ' ', rest);

        *out = log_text((struct home_line){
            space + 1, end != NULL ? (size_t)(end - space - 1) : rest});
    } else if (column >= LOG_KEYS) {
        *out = log_text(home_log_value(line, log_columns[column].name));
        if (column == LOG_BYTES && out->len != 0)
            snprintf(out->shown, sizeof out->shown, "%zu bytes", out->len / 2);
        if (column == LOG_NOTE)
            log_note(line, out);
    }
}

int device_log(void *to)
{
    struct device_job *j = to;
    struct home_log log = {.lines = NULL};
    struct table table = {log_columns, LOG_COLUMNS, 0, log_cell, &log};
    hsy_error err = {0};
    int failed = device_read_policy(j);

    if (!failed && home_log_read(&log, &j->home, &err) != HSY_OK)
        failed = device_refused(j, &err);
    table.nrows = log.n;
    if (!failed)
        table_print(stdout, j->options.format, &table, NULL, 0, "entries");
    home_log_clear(&log);
    return failed ? failed : cli_finish();
}
