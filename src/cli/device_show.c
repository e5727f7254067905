/* device_show.c - hearsay device budget, log, tasks and policy: what the person
 * may read. */
#define _DEFAULT_SOURCE
#include "device_parts.h"

#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOW_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Exact in every format: epsilon has nine places and no more. */
static struct cli_cell show_nano(uint64_t nano)
{
    struct cli_cell c = cli_number((double)nano / HSY_NANO);
    char text[CLI_CAP_TEXT];

    cli_cap_text(text, nano);
    memcpy(c.shown, text, sizeof text);
    return c;
}

/* ---- Policy -------------------------------------------------------------- */

static void show_policy_cell(const void *ctx, size_t row, size_t column,
                             struct cli_cell *out)
{
    const struct cli_policy *p = ctx;
    bool all = row == p->policy.nsources;
    const hsy_source *s = all ? NULL : &p->sources[row];

    if (column == 0)
        *out = cli_text(all ? "all" : s->name);
    else if (column == 1 && !all)
        *out = show_nano(s->nano_answer);
    else if (column == 2)
        *out = show_nano(all ? p->policy.nano_day : s->nano_day);
    else if (column == 3)
        *out = show_nano(all ? p->policy.nano_lifetime : s->nano_lifetime);
}

void device_show_policy(const struct cli_policy *p, enum cli_format format)
{
    static const struct cli_column columns[] = {{"source", NULL},
                                                {"answer", "one answer"},
                                                {"day", "a day"},
                                                {"lifetime", "ever"}};
    const struct cli_table table = {columns, SHOW_COUNT(columns),
                                    p->policy.nsources + 1, show_policy_cell,
                                    p};
    char key[2 * HSY_SIGN_KEY + 1];

    for (size_t i = 0; i < HSY_SIGN_KEY; i++)
        snprintf(key + 2 * i, 3, "%02x", p->policy.sign_key[i]);
    {
        const struct cli_field fields[] = {
            {"key", cli_text(key)},
            {"anchor", cli_text(p->anchor)},
            {"releases", cli_count(p->policy.releases)},
            {"release_bytes", cli_count(p->policy.release_bytes)}};

        cli_print(format, &table, fields, SHOW_COUNT(fields), "sources");
    }
}

int device_policy(struct device_job *j)
{
    int failed = device_read_policy(j);

    if (failed)
        return failed;
    device_show_policy(&j->policy, j->how->format);
    return cli_finish();
}

/* ---- Budget -------------------------------------------------------------- */

static void show_budget_cell(const void *ctx, size_t row, size_t column,
                             struct cli_cell *out)
{
    const struct device_job *j = ctx;
    const struct cli_policy *p = &j->policy;
    const char *name = row < p->policy.nsources ? p->sources[row].name : NULL;
    hsy_budget b;

    if (column == 0) {
        *out = cli_text(name != NULL ? name : "all");
        return;
    }
    if (hsy_device_budget(j->bare, name, &b, NULL) != HSY_OK)
        return;
    {
        const uint64_t numbers[] = {b.spent_day, b.cap_day, b.spent_lifetime,
                                    b.cap_lifetime};

        *out = show_nano(numbers[column - 1]);
    }
}

int device_budget(struct device_job *j)
{
    static const struct cli_column columns[] = {{"source", NULL},
                                                {"spent_day", "today"},
                                                {"cap_day", "of"},
                                                {"spent_lifetime", "ever"},
                                                {"cap_lifetime", "of"}};
    struct cli_table table = {columns, SHOW_COUNT(columns), 0, show_budget_cell,
                              j};
    hsy_error err = {0};
    hsy_budget all;
    int failed = device_open_bare(j);

    if (failed)
        return failed;
    if (hsy_device_budget(j->bare, NULL, &all, &err) != HSY_OK) {
        hsy_world_explain(j->host, &err);
        return device_fail(j, &err);
    }
    table.nrows = j->policy.policy.nsources + 1;
    {
        const struct cli_field fields[] = {
            {"day", cli_count(all.day)},
            {"consent", cli_text(hsy_world_consent_name(
                            (uint64_t)hsy_device_consent(j->bare)))}};

        cli_print(j->how->format, &table, fields, SHOW_COUNT(fields),
                  "sources");
    }
    return cli_finish();
}

/* ---- Tasks --------------------------------------------------------------- */

enum {
    SHOW_TASK,
    SHOW_SOURCE,
    SHOW_ONE,
    SHOW_SLOT,
    SHOW_LIFETIME,
    SHOW_ADMITTED,
    SHOW_WHY,
    SHOW_QUESTION,
    SHOW_LABEL
};

#define SHOW_LABEL_MAX 8192u

struct show_tasks {
    hsy_client *client;
    size_t admitted, refused;
    char *label; /* room for one; owned */
};

static void show_admitted_cell(const struct show_tasks *t, size_t row,
                               size_t column, const hsy_task *task,
                               struct cli_cell *out)
{
    size_t n;
    const hsy_release *r = hsy_client_releases(t->client, &n)[row];
    hsy_release_info info;

    hsy_release_describe(r, &info);
    if (column == SHOW_ONE)
        *out = show_nano(info.nano_one);
    else if (column == SHOW_SLOT)
        *out = show_nano(info.nano_slot);
    else if (column == SHOW_LIFETIME && info.nano_lifetime != UINT64_MAX)
        *out = show_nano(info.nano_lifetime);
    else if (column == SHOW_LABEL) {
        hsy_release_label(r, task, t->label, SHOW_LABEL_MAX);
        *out = cli_text(t->label);
    }
}

static void show_task_cell(const void *ctx, size_t row, size_t column,
                           struct cli_cell *out)
{
    const struct show_tasks *t = ctx;
    bool admitted = row < t->admitted;
    hsy_error why = {0};
    hsy_task task;

    if (!(admitted
              ? hsy_client_task(t->client, row, &task)
              : hsy_client_refused(t->client, row - t->admitted, &task, &why)))
        return;
    if (column == SHOW_TASK || column == SHOW_SOURCE) {
        /* task is on this stack: shown holds either whole in a table. */
        const char *text = column == SHOW_TASK ? task.id : task.source;
        size_t len = strlen(text);

        memcpy(t->label, text, len + 1);
        *out = cli_text(t->label);
    } else if (column == SHOW_ADMITTED) {
        *out = cli_bool(admitted);
        snprintf(out->shown, sizeof out->shown, "%s",
                 admitted ? "asked" : "refused");
    } else if (column == SHOW_WHY && !admitted) {
        device_say_why(t->label, SHOW_LABEL_MAX, &why);
        *out = cli_text(t->label);
    } else if (column == SHOW_QUESTION) {
        *out = (struct cli_cell){
            .type = CLI_TEXT, .text = task.question, .len = task.question_len};
    } else if (admitted) {
        show_admitted_cell(t, row, column, &task, out);
    }
}

#define SHOW_WIDTH 78u

/* A paragraph, broken between words. */
static void show_wrapped(const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t len = strcspn(text, " ");

        if (column != 0 && column + 1 + len > SHOW_WIDTH) {
            putchar('\n');
            column = 0;
        }
        column +=
            (size_t)printf("%s%.*s", column != 0 ? " " : "", (int)len, text);
        text += len;
        text += *text == ' ';
    }
    putchar('\n');
}

/* Below the table: each task in plain words. */
static void show_labels(const struct show_tasks *t)
{
    struct cli_cell cell;

    for (size_t i = 0; i < t->admitted; i++) {
        show_task_cell(t, i, SHOW_TASK, &cell);
        printf("\n%s:\n", t->label);
        show_task_cell(t, i, SHOW_LABEL, &cell);
        show_wrapped(t->label);
    }
}

int device_show_tasks(struct device_job *j, enum cli_format format, bool labels)
{
    static const struct cli_column columns[] = {
        [SHOW_TASK] = {"task", NULL},
        [SHOW_SOURCE] = {"source", NULL},
        [SHOW_ONE] = {"epsilon_one", "one report"},
        [SHOW_SLOT] = {"epsilon_slot", "a slot"},
        [SHOW_LIFETIME] = {"epsilon_lifetime", "all slots"},
        [SHOW_ADMITTED] = {"admitted", "state"},
        [SHOW_WHY] = {"why", NULL},
        [SHOW_QUESTION] = {"question", ""},
        [SHOW_LABEL] = {"label", ""}};
    struct show_tasks t = {.client = j->client};
    struct cli_table table = {columns, SHOW_COUNT(columns), 0, show_task_cell,
                              &t};
    hsy_task task;

    t.label = malloc(SHOW_LABEL_MAX);
    if (t.label == NULL)
        return cli_fail_nomem();
    hsy_client_releases(j->client, &t.admitted);
    while (hsy_client_refused(j->client, t.refused, &task, NULL))
        t.refused++;
    table.nrows = t.admitted + t.refused;
    cli_print(format, &table, NULL, 0, "tasks");
    if (format == CLI_TABLE && labels)
        show_labels(&t);
    free(t.label);
    return 0;
}

int device_tasks(struct device_job *j)
{
    int failed = device_open(j);

    if (!failed)
        failed = device_show_tasks(j, j->how->format, true);
    return failed ? failed : cli_finish();
}

/* ---- Log ----------------------------------------------------------------- */

#define SHOW_LOG_MAX (64u << 20)

/* Lines of log.1 and log, oldest first. */
struct show_log {
    struct cli_cell *lines; /* texts; owned */
    size_t n, room;
};

enum { SHOW_DATE, SHOW_WHAT, SHOW_KEYS, SHOW_NOTE = 7, SHOW_BYTES = 10 };

static const struct cli_column show_log_columns[] = {
    [SHOW_DATE] = {"date", NULL},
    [SHOW_WHAT] = {"what", NULL},
    [SHOW_KEYS] = {"task", NULL},
    {"source", NULL},
    {"slot", NULL},
    {"round", NULL},
    {"epsilon", NULL},
    [SHOW_NOTE] = {"why", "note"},
    {"version", ""},
    {"consent", ""},
    [SHOW_BYTES] = {"bytes", NULL}};

/* The word after " key=" in a line. */
static void show_value(const struct cli_cell *line, const char *key,
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
static void show_note(const struct cli_cell *line, struct cli_cell *out)
{
    static const char *const keys[] = {"version", "consent"};

    for (size_t i = 0; i < SHOW_COUNT(keys); i++) {
        struct cli_cell value = {.type = CLI_NONE};

        show_value(line, keys[i], &value);
        if (value.type == CLI_TEXT)
            snprintf(out->shown, sizeof out->shown, "%s %.*s", keys[i],
                     (int)(value.len < 32 ? value.len : 32), value.text);
    }
}

static void show_log_cell(const void *ctx, size_t row, size_t column,
                          struct cli_cell *out)
{
    const struct cli_cell *line = &((const struct show_log *)ctx)->lines[row];
    const char *space = memchr(line->text, ' ', line->len);
    size_t date = space != NULL ? (size_t)(space - line->text) : line->len;

    if (column == SHOW_DATE) {
        *out = *line;
        out->len = date;
    } else if (column == SHOW_WHAT && date < line->len) {
        size_t rest = line->len - date - 1;
        const char *end = memchr(space + 1, ' ', rest);

        *out = (struct cli_cell){.type = CLI_TEXT,
                                 .text = space + 1,
                                 .len = end != NULL ? (size_t)(end - space - 1)
                                                    : rest};
    } else if (column >= SHOW_KEYS) {
        show_value(line, show_log_columns[column].name, out);
        if (column == SHOW_BYTES && out->len != 0)
            snprintf(out->shown, sizeof out->shown, "%zu bytes", out->len / 2);
        if (column == SHOW_NOTE)
            show_note(line, out);
    }
}

static int show_split(struct show_log *log, const char *text, size_t len)
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
static int show_read_log(struct device_job *j, const char *name,
                         uint8_t **bytes, struct show_log *log)
{
    const char *path = device_file(j, name);
    size_t len = 0;
    int failed;

    if (path == NULL)
        return CLI_FAILED;
    if (access(path, F_OK) == -1 && errno == ENOENT)
        return 0;
    failed = device_read_file(path, SHOW_LOG_MAX, bytes, &len);
    return failed ? failed : show_split(log, (const char *)*bytes, len);
}

int device_log(struct device_job *j)
{
    struct show_log log = {.lines = NULL};
    struct cli_table table = {show_log_columns, SHOW_COUNT(show_log_columns), 0,
                              show_log_cell, &log};
    uint8_t *older = NULL, *newer = NULL;
    int failed = device_read_policy(j);

    if (!failed)
        failed = show_read_log(j, "log.1", &older, &log);
    if (!failed)
        failed = show_read_log(j, "log", &newer, &log);
    table.nrows = log.n;
    if (!failed)
        cli_print(j->how->format, &table, NULL, 0, "entries");
    free(log.lines);
    free(older);
    free(newer);
    return failed ? failed : cli_finish();
}
