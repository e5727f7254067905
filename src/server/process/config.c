/*
 * config.c - hearsay.yaml: one table of fields, read with their lines.
 *
 * A field's text, from the file, the command line or the table, becomes its
 * value in one place (host/yaml); then the fields are held against each other.
 */
#define _POSIX_C_SOURCE 200809L

#include "server/process/config_parts.h"

#include "host/base/host_fail.h"
#include "host/base/ratio.h"
#include "host/tasks/task_file.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_LIST_MAX 256u /* items of a list */
#define CONFIG_SHARDS 64u    /* of a cluster */

static const char *const config_levels[] = {"errors", "notes", "details", NULL};
static const char *const config_stricts[] = {"off", "on", "required", NULL};

/* 0.01, 1/100 or 1% */
static bool config_share(void *out, const char *text)
{
    size_t len = strlen(text);
    const bool percent = len > 1 && text[len - 1] == '%';
    hsy_ratio ratio;
    double x = -1;

    if (percent ? len < 5 && strspn(text, "0123456789") == len - 1
                : ratio_parse(&ratio, text, len))
        x = percent ? strtod(text, NULL) / 100
                    : (double)ratio.num / (double)ratio.den;
    if (x < 0 || x >= 0.5)
        return false;
    *(double *)out = x;
    return true;
}

/* Whether a field may change while a collector runs. */
#define LIVE true
#define FIXED false

#define CONFIG_NUMBER(member, kind, least, most, default, when)                \
    {                                                                          \
        .key = #member, .type = (kind), .at = offsetof(struct config, member), \
        .low = (least), .high = (most), .otherwise = (default), .live = (when) \
    }
#define CONFIG_FIELD(member, kind, default, when)                              \
    CONFIG_NUMBER(member, kind, 0, 0, default, when)
/* A key that limits follow from which had keys of their own. */
#define CONFIG_DIVIDED(member, kind, least, most, default, others)             \
    {                                                                          \
        .key = #member, .also = (others), .type = (kind),                      \
        .at = offsetof(struct config, member), .low = (least), .high = (most), \
        .otherwise = (default)                                                 \
    }
#define CONFIG_DAY UINT64_C(86400)

/* In the order of the page. A size of 1 TiB is as good as none. */
const struct yaml_field config_rows[] = {
    CONFIG_FIELD(data, YAML_PATH, NULL, FIXED),
    {.key = "storage",
     .type = YAML_LIST,
     .at = offsetof(struct config, storage),
     .high = CONFIG_SHARDS,
     .otherwise = NULL,
     .one = true},
    CONFIG_FIELD(node, YAML_TEXT, NULL, FIXED),
    CONFIG_FIELD(document, YAML_PATH, NULL, LIVE),
    CONFIG_FIELD(public_key, YAML_PATH, NULL, LIVE),
    CONFIG_FIELD(listen, YAML_TEXT, "127.0.0.1:8080", FIXED),
    CONFIG_FIELD(tls_cert, YAML_PATH, NULL, FIXED),
    CONFIG_FIELD(tls_key, YAML_PATH, NULL, FIXED),
    CONFIG_FIELD(tls12, YAML_BOOL, "no", FIXED),
    {.key = "gateway_keys",
     .type = YAML_LIST,
     .at = offsetof(struct config, gateway_keys),
     .high = CONFIG_LIST_MAX,
     .otherwise = NULL,
     .live = true,
     .paths = true},
    CONFIG_FIELD(sign_key, YAML_PATH, NULL, FIXED),
    {.key = "seal_keys",
     .type = YAML_LIST,
     .at = offsetof(struct config, seal_keys),
     .high = CONFIG_LIST_MAX,
     .otherwise = NULL,
     .live = true,
     .paths = true},
    CONFIG_FIELD(next, YAML_TEXT, NULL, FIXED),
    CONFIG_FIELD(next_ca, YAML_PATH, NULL, FIXED),
    CONFIG_FIELD(receipt_key, YAML_PATH, NULL, LIVE),
    CONFIG_NUMBER(cors, YAML_LIST, 0, CONFIG_LIST_MAX, NULL, FIXED),
    CONFIG_FIELD(admin, YAML_TEXT, NULL, FIXED),
    CONFIG_FIELD(admin_open, YAML_BOOL, "no", FIXED),
    CONFIG_NUMBER(loops, YAML_COUNT, 0, 256, "0", FIXED),
    CONFIG_DIVIDED(connections, YAML_COUNT, 8, 1000000, "4096",
                   "address_connections"),
    CONFIG_NUMBER(proxies, YAML_LIST, 0, CONFIG_LIST_MAX, NULL, FIXED),
    CONFIG_NUMBER(body_bytes, YAML_SIZE, 1024, 1u << 30, "4M", FIXED),
    CONFIG_DIVIDED(timeout, YAML_SECONDS, 1, 3600, "10s",
                   "head_seconds body_seconds idle_seconds drain_seconds"),
    CONFIG_DIVIDED(memory, YAML_SIZE, 98304, UINT64_C(1) << 40, "1536M",
                   "inflight_bytes waiting_bytes fold_bytes tally_bytes"),
    CONFIG_NUMBER(ids_epoch, YAML_COUNT, 1000, UINT64_C(4000000000), "20000000",
                  FIXED),
    CONFIG_NUMBER(reports_upload, YAML_COUNT, 1, 1u << 23, "4096", FIXED),
    CONFIG_NUMBER(day_words, YAML_COUNT, 0, 1u << 28, "65536", FIXED),
    CONFIG_NUMBER(keep_days, YAML_DAYS, 1, 36500, "35", FIXED),
    CONFIG_NUMBER(grace_days, YAML_DAYS, 1, 365, "7", FIXED),
    CONFIG_NUMBER(clock_days, YAML_DAYS, 1, 36500, "60", FIXED),
    CONFIG_NUMBER(checkpoint_seconds, YAML_SECONDS, 1, CONFIG_DAY, "30s",
                  FIXED),
    CONFIG_NUMBER(estimate_seconds, YAML_SECONDS, 1, CONFIG_DAY, "2s", FIXED),
    CONFIG_NUMBER(snapshot_seconds, YAML_SECONDS, 0, CONFIG_DAY, "60s", FIXED),
    CONFIG_NUMBER(enrolled, YAML_LIST, 0, CONFIG_LIST_MAX, NULL, LIVE),
    CONFIG_FIELD(candidates, YAML_PATH, NULL, FIXED),
    CONFIG_FIELD(backups, YAML_PATH, NULL, FIXED),
    CONFIG_NUMBER(backup_hours, YAML_COUNT, 0, 8760, "0", FIXED),
    CONFIG_NUMBER(backup_keep, YAML_COUNT, 1, 1000, "7", FIXED),
    {.key = "lying",
     .type = YAML_OWN,
     .at = offsetof(struct config, lying),
     .size = sizeof(double),
     .take = config_share,
     .wants = "must be a share from 0 to below a half, e.g. 0.01",
     .otherwise = "0.01"},
    CONFIG_FIELD(log_json, YAML_BOOL, "no", LIVE),
    {.key = "log_level",
     .type = YAML_WORD,
     .at = offsetof(struct config, log_level),
     .words = config_levels,
     .otherwise = "notes",
     .live = true},
    {.key = "sandbox",
     .type = YAML_WORD,
     .at = offsetof(struct config, sandbox),
     .words = config_stricts,
     .otherwise = "on"},
    CONFIG_FIELD(rehearsal, YAML_PATH, NULL, FIXED),
    {.key = NULL}};

_Static_assert(sizeof config_rows / sizeof config_rows[0] == CONFIG_ROWS + 1,
               "config.h counts them");

const char *config_key(size_t i, const char **otherwise)
{
    if (i >= CONFIG_ROWS)
        return NULL;
    *otherwise = config_rows[i].otherwise;
    return config_rows[i].key;
}

const struct yaml_field *config_row(const char *key)
{
    for (size_t i = 0; i < CONFIG_ROWS; i++)
        if (strcmp(config_rows[i].key, key) == 0)
            return &config_rows[i];
    return NULL;
}

static bool config_holds(const struct yaml_field *row, const struct config *c,
                         const char *value)
{
    const char *at = (const char *)c + row->at;
    char *const *items;

    if (row->type == YAML_PATH)
        return *(char *const *)(const void *)at == value;
    items = row->type == YAML_LIST ? *(char **const *)(const void *)at : NULL;
    while (items != NULL && *items != NULL && *items != value)
        items++;
    return items != NULL && *items != NULL;
}

const char *config_key_of(const struct config *c, const char *value,
                          uint32_t *line)
{
    for (size_t i = 0; value != NULL && i < CONFIG_ROWS; i++)
        if (config_holds(&config_rows[i], c, value)) {
            *line = c->lines[i];
            return config_rows[i].key;
        }
    return NULL;
}

static const struct yaml_form config_form = {
    .map = {config_rows, sizeof(struct config)},
    .others = "see hearsay.yaml(5)",
    .column = "the file",
    .kin = task_kin};

void config_clear(struct config *c)
{
    yaml_clear(&config_form.map, c);
}

bool config_stuck(size_t i, const struct config *now, const struct config *next)
{
    return !config_rows[i].live && !yaml_same(&config_rows[i], now, next);
}

/* ---- Reading ------------------------------------------------------------- */

/* Names in the settings are of the current directory. */
static void config_set(struct config_reader *r,
                       const struct config_setting *settings, size_t n)
{
    r->notes.directory = NULL;
    for (size_t i = 0; i < n && !r->notes.nomem; i++) {
        const struct yaml_field *row = config_row(settings[i].key);

        if (row == NULL) {
            const char *near = yaml_nearest(settings[i].key, config_rows);

            yaml_wrong_line(&r->notes, 0, yaml_key(NULL),
                            "unknown key '%.32s'; %s%s", settings[i].key,
                            near != NULL ? "did you mean " : config_form.others,
                            near != NULL ? near : "");
            continue;
        }
        r->set[row - config_rows] = true;
        yaml_take(&r->notes, row, &r->c, settings[i].value, yaml_key(row->key),
                  0);
    }
}

/* Stores the line of each key that the file sets and no option overrides. */
static void config_keep_lines(struct config_reader *r)
{
    for (size_t i = 0; i < r->notes.nlines; i++) {
        const struct yaml_place *at = &r->notes.lines[i].at;
        const struct yaml_field *row = at->key != NULL && at->item == YAML_NONE
                                           ? config_row(at->key)
                                           : NULL;

        if (row != NULL && !r->set[row - config_rows])
            r->c.lines[row - config_rows] = r->notes.lines[i].line;
    }
}

/* Mark the rows that something is wrong with. */
static void config_mark(struct config_reader *r)
{
    for (size_t i = 0; i < r->notes.nproblems; i++) {
        const struct yaml_field *row = config_row(r->notes.problems[i].field);

        if (row != NULL)
            r->bad[row - config_rows] = true;
    }
}

static uint64_t config_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What follows from memory, timeout and connections. One body always fits. */
static void config_divide(struct config *c)
{
    c->tally_bytes = c->memory / 3 * 2;
    c->fold_bytes = c->memory / 6;
    c->inflight_bytes = config_most(c->memory / 12, c->body_bytes);
    c->waiting_bytes = config_most(c->memory / 24, c->body_bytes);
    c->head_seconds = c->body_seconds = c->drain_seconds = c->timeout;
    c->idle_seconds = 6 * c->timeout;
    c->address_connections = config_most(c->connections / 16, 1);
}

static void config_make(struct config_reader *r, const uint8_t *text,
                        size_t len, const struct config_setting *settings,
                        size_t n)
{
    yaml_defaults(&r->notes, config_rows, &r->c);
    if (text != NULL)
        yaml_read(&r->notes, &config_form, &r->c, text, len);
    config_set(r, settings, n);
    if (r->notes.nomem || (text != NULL && !r->notes.whole))
        return;
    config_keep_lines(r);
    config_divide(&r->c);
    config_mark(r);
    config_check(r);
}

static hsy_status config_done(struct config *c, struct config_reader *r,
                              bool any, hsy_problem **problems, size_t *n,
                              hsy_error *err)
{
    const bool nomem = r->notes.nomem, wrong = r->notes.wrong;

    yaml_notes_sort(&r->notes);
    *problems = r->notes.problems;
    *n = r->notes.nproblems;
    r->notes.problems = NULL;
    yaml_notes_clear(&r->notes);
    if (!nomem && (any || !wrong)) {
        config_clear(c);
        *c = r->c;
    } else {
        config_clear(&r->c);
    }
    if (!nomem && !wrong)
        return HSY_OK;
    return nomem ? host_nomem(err)
                 : host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                             "the configuration is not sound");
}

hsy_status config_read(struct config *c, bool any, const char *path,
                       const struct config_setting *settings, size_t nsettings,
                       hsy_problem **problems, size_t *n, hsy_error *err)
{
    struct config_reader r = {.c = {.data = NULL}};
    char *directory = NULL;
    uint8_t *text = NULL;
    size_t len = 0;
    hsy_status st = HSY_OK;

    *problems = NULL;
    *n = 0;
    if (path != NULL)
        st = yaml_file(&text, &len, &directory, path, err);
    if (st != HSY_OK)
        return st;
    r.notes.directory = directory;
    config_make(&r, text, len, settings, nsettings);
    st = config_done(c, &r, any, problems, n, err);
    free(text);
    free(directory);
    return st;
}
