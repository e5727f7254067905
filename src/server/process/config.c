/*
 * config.c - hearsay.yaml: one table of fields, read with their lines.
 *
 * A field's text, from the file, the command line or the table, becomes its
 * value in one place; then the fields are held against each other. The file is
 * read as task files are (src/host/tasks/tasks.h).
 */
#define _POSIX_C_SOURCE 200809L

#include "server/process/config_parts.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_TEXT_MAX 4096u /* bytes of a scalar */
#define CONFIG_LIST_MAX 256u  /* items of a list */

static const char *const config_levels[] = {"errors", "notes", "details", NULL};
static const char *const config_stricts[] = {"off", "on", "required", NULL};

#define AT(member) offsetof(struct config, member)
#define CONFIG_DAY UINT64_C(86400)

/* In the order of the page. A size of 1 TiB is as good as none. Those marked
 * true may change while a collector runs. */
const struct config_row config_rows[] = {
    {"data", CONFIG_FILE, AT(data), 0, 0, NULL, false},
    {"document", CONFIG_FILE, AT(document), 0, 0, NULL, true},
    {"public_key", CONFIG_FILE, AT(public_key), 0, 0, NULL, true},
    {"listen", CONFIG_TEXT, AT(listen), 0, 0, "127.0.0.1:8080", false},
    {"tls_cert", CONFIG_FILE, AT(tls_cert), 0, 0, NULL, false},
    {"tls_key", CONFIG_FILE, AT(tls_key), 0, 0, NULL, false},
    {"tls12", CONFIG_BOOL, AT(tls12), 0, 0, "no", false},
    {"cors", CONFIG_LIST, AT(cors), 0, 0, NULL, false},
    {"admin", CONFIG_TEXT, AT(admin), 0, 0, NULL, false},
    {"admin_open", CONFIG_BOOL, AT(admin_open), 0, 0, "no", false},
    {"loops", CONFIG_COUNT, AT(loops), 0, 256, "0", false},
    {"connections", CONFIG_COUNT, AT(connections), 8, 1000000, "4096", false},
    {"address_connections", CONFIG_COUNT, AT(address_connections), 0, 1000000,
     "256", false},
    {"proxies", CONFIG_LIST, AT(proxies), 0, 0, NULL, false},
    {"body_bytes", CONFIG_SIZE, AT(body_bytes), 1024, 1u << 30, "4M", false},
    {"inflight_bytes", CONFIG_SIZE, AT(inflight_bytes), 1024, UINT64_C(1) << 40,
     "128M", false},
    {"head_seconds", CONFIG_SECONDS, AT(head_seconds), 1, 3600, "10s", false},
    {"body_seconds", CONFIG_SECONDS, AT(body_seconds), 1, 3600, "10s", false},
    {"idle_seconds", CONFIG_SECONDS, AT(idle_seconds), 1, CONFIG_DAY, "60s",
     false},
    {"drain_seconds", CONFIG_SECONDS, AT(drain_seconds), 1, 3600, "10s", true},
    {"waiting_bytes", CONFIG_SIZE, AT(waiting_bytes), 1024, UINT64_C(1) << 40,
     "64M", false},
    {"fold_bytes", CONFIG_SIZE, AT(fold_bytes), 65536, UINT64_C(1) << 40,
     "256M", false},
    {"tally_bytes", CONFIG_SIZE, AT(tally_bytes), 65536, UINT64_C(1) << 40,
     "1G", false},
    {"ids_epoch", CONFIG_COUNT, AT(ids_epoch), 1000, UINT64_C(4000000000),
     "20000000", false},
    {"reports_upload", CONFIG_COUNT, AT(reports_upload), 1, 1u << 23, "4096",
     false},
    {"day_words", CONFIG_COUNT, AT(day_words), 0, 1u << 28, "65536", false},
    {"keep_days", CONFIG_DAYS, AT(keep_days), 1, 36500, "35", false},
    {"grace_days", CONFIG_DAYS, AT(grace_days), 1, 365, "7", false},
    {"clock_days", CONFIG_DAYS, AT(clock_days), 1, 36500, "60", false},
    {"checkpoint_seconds", CONFIG_SECONDS, AT(checkpoint_seconds), 1,
     CONFIG_DAY, "30s", false},
    {"estimate_seconds", CONFIG_SECONDS, AT(estimate_seconds), 1, CONFIG_DAY,
     "2s", false},
    {"snapshot_seconds", CONFIG_SECONDS, AT(snapshot_seconds), 0, CONFIG_DAY,
     "60s", false},
    {"enrolled", CONFIG_LIST, AT(enrolled), 0, 0, NULL, true},
    {"candidates", CONFIG_FILE, AT(candidates), 0, 0, NULL, false},
    {"backups", CONFIG_FILE, AT(backups), 0, 0, NULL, false},
    {"backup_hours", CONFIG_COUNT, AT(backup_hours), 0, 8760, "0", false},
    {"backup_keep", CONFIG_COUNT, AT(backup_keep), 1, 1000, "7", false},
    {"lying", CONFIG_SHARE, AT(lying), 0, 0, "0.01", false},
    {"log_json", CONFIG_BOOL, AT(log_json), 0, 0, "no", true},
    {"log_level", CONFIG_LEVEL, AT(log_level), 0, 0, "notes", true},
    {"sandbox", CONFIG_STRICT, AT(sandbox), 0, 0, "on", false},
    {"rehearsal", CONFIG_FILE, AT(rehearsal), 0, 0, NULL, false},
};

_Static_assert(sizeof config_rows / sizeof config_rows[0] == CONFIG_ROWS,
               "config_parts.h counts them");

const char *config_key(size_t i, const char **otherwise)
{
    if (i >= CONFIG_ROWS)
        return NULL;
    *otherwise = config_rows[i].otherwise;
    return config_rows[i].key;
}

const struct config_row *config_row(const char *key)
{
    for (size_t i = 0; i < CONFIG_ROWS; i++)
        if (strcmp(config_rows[i].key, key) == 0)
            return &config_rows[i];
    return NULL;
}

/* ---- As it is written ---------------------------------------------------- */

struct config_raw {
    char *text[CONFIG_ROWS];
    char **list[CONFIG_ROWS];
    unsigned list_count[CONFIG_ROWS];
};

static const cyaml_schema_value_t config_item = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CONFIG_TEXT_MAX)};

/* libcyaml's schema of the table. */
static void config_schema(cyaml_schema_field_t fields[CONFIG_ROWS + 1])
{
    static const cyaml_schema_field_t
        text =
            CYAML_FIELD_STRING_PTR("", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                                   struct config_raw, text[0], 0,
                                   CONFIG_TEXT_MAX),
        list = CYAML_FIELD_SEQUENCE_COUNT(
            "", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct config_raw,
            list[0], list_count[0], &config_item, 0, CONFIG_LIST_MAX),
        end = CYAML_FIELD_END;

    for (size_t i = 0; i < CONFIG_ROWS; i++) {
        const bool one = config_rows[i].kind != CONFIG_LIST;

        fields[i] = one ? text : list;
        fields[i].key = config_rows[i].key;
        fields[i].data_offset += (uint32_t)(i * sizeof(char *));
        fields[i].count_offset += (uint32_t)(one ? 0 : i * sizeof(unsigned));
    }
    fields[CONFIG_ROWS] = end;
}

/* ---- Values -------------------------------------------------------------- */

static void *config_field(struct config *c, const struct config_row *row)
{
    return (char *)c + row->at;
}

static void config_keep(struct config_reader *r, const struct config_row *row,
                        char *text)
{
    char **at = config_field(r->c, row);

    if (text == NULL)
        r->notes->nomem = true;
    free(*at);
    *at = text;
}

/* A name beside the file; the command line's are of the current directory. */
static void config_file(struct config_reader *r, const struct config_row *row,
                        const char *text)
{
    const bool beside = text[0] != '/' && r->directory != NULL &&
                        strcmp(r->directory, ".") != 0 &&
                        !r->set[row - config_rows];
    size_t room = strlen(text) + (beside ? strlen(r->directory) + 1 : 0) + 1;
    char *name = malloc(room);

    if (name != NULL)
        snprintf(name, room, "%s%s%s", beside ? r->directory : "",
                 beside ? "/" : "", text);
    config_keep(r, row, name);
}

static bool config_size(uint64_t *out, const char *text)
{
    static const char units[] = "KMGT";
    size_t len = strlen(text);
    const char *unit = len > 1 ? strchr(units, text[len - 1]) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    char digits[24] = "";

    len -= unit != NULL;
    if (len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    if (!tasks_count(out, digits) || *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    return true;
}

static bool config_number(uint64_t *out, enum config_kind kind,
                          const char *text)
{
    if (kind == CONFIG_SIZE)
        return config_size(out, text);
    return tasks_count(out, text) ||
           (kind == CONFIG_SECONDS && tasks_seconds(out, text)) ||
           (kind == CONFIG_DAYS && tasks_days(out, text));
}

static void config_count(struct config_reader *r, const struct config_row *row,
                         const char *text)
{
    static const char *const like[] = {[CONFIG_COUNT] = "",
                                       [CONFIG_SIZE] = ", as 64M",
                                       [CONFIG_SECONDS] = " of seconds, or 30s",
                                       [CONFIG_DAYS] = " of days"};
    uint64_t number;

    if (config_number(&number, row->kind, text) && number >= row->low &&
        number <= row->high)
        *(uint64_t *)config_field(r->c, row) = number;
    else
        config_wrong(r, row,
                     "this takes a number%s, from %" PRIu64 " to %" PRIu64,
                     like[row->kind], row->low, row->high);
}

static void config_bool(struct config_reader *r, const struct config_row *row,
                        const char *text)
{
    static const char *const words[] = {"no",  "yes", "false", "true",
                                        "off", "on",  "0",     "1"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            *(bool *)config_field(r->c, row) = i % 2 == 1;
            return;
        }
    config_wrong(r, row, "this takes yes or no");
}

static void config_choice(struct config_reader *r, const struct config_row *row,
                          const char *text, const char *const *words)
{
    for (unsigned i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0) {
            *(unsigned *)config_field(r->c, row) = i;
            return;
        }
    config_wrong(r, row, "this takes one of: %s, %s, %s", words[0], words[1],
                 words[2]);
}

static void config_share(struct config_reader *r, const struct config_row *row,
                         const char *text)
{
    size_t len = strlen(text);
    const bool percent = len > 1 && text[len - 1] == '%';
    hsy_ratio ratio;
    double x = -1;

    if (percent ? len < 5 && strspn(text, "0123456789") == len - 1
                : tasks_ratio(&ratio, text, len))
        x = percent ? strtod(text, NULL) / 100
                    : (double)ratio.num / (double)ratio.den;
    if (x >= 0 && x < 0.5)
        *(double *)config_field(r->c, row) = x;
    else
        config_wrong(r, row,
                     "this takes a share from 0 to below a half, as 0.01");
}

static void config_value(struct config_reader *r, const struct config_row *row,
                         const char *text)
{
    if (text[0] == '\0')
        config_wrong(r, row, "this is empty; leave it out for the default");
    else if (row->kind == CONFIG_FILE)
        config_file(r, row, text);
    else if (row->kind == CONFIG_TEXT)
        config_keep(r, row, strdup(text));
    else if (row->kind == CONFIG_BOOL)
        config_bool(r, row, text);
    else if (row->kind == CONFIG_SHARE)
        config_share(r, row, text);
    else if (row->kind == CONFIG_LEVEL)
        config_choice(r, row, text, config_levels);
    else if (row->kind == CONFIG_STRICT)
        config_choice(r, row, text, config_stricts);
    else
        config_count(r, row, text);
}

/* ---- Lists --------------------------------------------------------------- */

static void config_free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* items that last as long as the call become the field's. */
static void config_list(struct config_reader *r, const struct config_row *row,
                        char *const *items, size_t n)
{
    char ***at = config_field(r->c, row);

    config_free_list(*at);
    *at = calloc(n + 1, sizeof **at);
    for (size_t i = 0; *at != NULL && i < n; i++)
        if (((*at)[i] = strdup(items[i])) == NULL)
            r->notes->nomem = true;
    if (*at == NULL)
        r->notes->nomem = true;
}

/* A list of the command line: words apart by commas. */
static void config_words(struct config_reader *r, const struct config_row *row,
                         const char *text)
{
    char *copy = strdup(text), *rest = NULL, *words[CONFIG_LIST_MAX];
    size_t n = 0;

    if (copy == NULL) {
        r->notes->nomem = true;
        return;
    }
    for (char *w = strtok_r(copy, ",", &rest); w != NULL && n < CONFIG_LIST_MAX;
         w = strtok_r(NULL, ",", &rest))
        words[n++] = w;
    config_list(r, row, words, n);
    free(copy);
}

/* ---- Reading ------------------------------------------------------------- */

void config_clear(struct config *c)
{
    for (size_t i = 0; i < CONFIG_ROWS; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->kind == CONFIG_FILE || row->kind == CONFIG_TEXT)
            free(*(char **)config_field(c, row));
        else if (row->kind == CONFIG_LIST)
            config_free_list(*(char ***)config_field(c, row));
    }
    memset(c, 0, sizeof *c);
}

static bool config_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool config_same_list(char *const *a, char *const *b)
{
    size_t i = 0;

    if (a == NULL || b == NULL)
        return (a == NULL || a[0] == NULL) && (b == NULL || b[0] == NULL);
    while (a[i] != NULL && b[i] != NULL && strcmp(a[i], b[i]) == 0)
        i++;
    return a[i] == NULL && b[i] == NULL;
}

static size_t config_bytes(enum config_kind kind)
{
    return kind == CONFIG_BOOL                             ? sizeof(bool)
           : kind == CONFIG_SHARE                          ? sizeof(double)
           : kind == CONFIG_LEVEL || kind == CONFIG_STRICT ? sizeof(unsigned)
                                                           : sizeof(uint64_t);
}

bool config_stuck(size_t i, const struct config *now, const struct config *next)
{
    const struct config_row *row = &config_rows[i];
    const void *a = (const char *)now + row->at;
    const void *b = (const char *)next + row->at;

    if (row->live)
        return false;
    if (row->kind == CONFIG_FILE || row->kind == CONFIG_TEXT)
        return !config_same_text(*(char *const *)a, *(char *const *)b);
    if (row->kind == CONFIG_LIST)
        return !config_same_list(*(char *const *const *)a,
                                 *(char *const *const *)b);
    return memcmp(a, b, config_bytes(row->kind)) != 0;
}

static void config_take(struct config_reader *r, const struct config_raw *raw)
{
    for (size_t i = 0; i < CONFIG_ROWS && !r->notes->nomem; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->kind == CONFIG_LIST &&
            tasks_given(r->notes, TASKS_NONE, row->key))
            config_list(r, row, raw->list[i], raw->list_count[i]);
        else if (raw->text[i] != NULL)
            config_value(r, row, raw->text[i]);
    }
}

/* Mark the rows that something is wrong with. */
static void config_mark(struct config_reader *r)
{
    for (size_t i = 0; i < r->notes->nproblems; i++) {
        const hsy_problem *p = &r->notes->problems[i];
        const struct config_row *row = config_row(p->field);

        if (row != NULL && !p->warning)
            r->bad[row - config_rows] = true;
    }
}

/* Fields of another shape than they should have are not read; the others are,
 * so that all mistakes are found at once. */
static void config_leave_out(struct config_reader *r,
                             cyaml_schema_field_t fields[CONFIG_ROWS + 1])
{
    config_mark(r);
    for (size_t i = 0; i < CONFIG_ROWS; i++)
        if (r->bad[i])
            fields[i] = (cyaml_schema_field_t)CYAML_FIELD_IGNORE(
                config_rows[i].key, CYAML_FLAG_OPTIONAL);
}

static void config_text(struct config_reader *r, const uint8_t *text,
                        size_t len)
{
    cyaml_schema_field_t fields[CONFIG_ROWS + 1];
    const cyaml_schema_value_t schema = {
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct config_raw, fields)};
    const struct tasks_form form = {
        .schema = &schema, .page = "docs/collector.md", .column = "the file"};
    struct config_raw *raw = NULL;

    config_schema(fields);
    tasks_index(r->notes, &form, text, len);
    config_leave_out(r, fields);
    if (r->notes->mild == r->notes->nproblems && !r->notes->nomem)
        raw = (struct config_raw *)tasks_load(r->notes, &form, text, len);
    r->read = raw != NULL;
    if (raw == NULL)
        return;
    config_take(r, raw);
    tasks_unload(&form, raw);
}

static void config_set(struct config_reader *r,
                       const struct config_setting *settings, size_t n)
{
    for (size_t i = 0; i < n && !r->notes->nomem; i++) {
        const struct config_row *row = config_row(settings[i].key);

        if (row == NULL) {
            tasks_wrong_line(r->notes, 0, config_place(NULL),
                             "no such key: '%.32s'; docs/collector.md has them",
                             settings[i].key);
            continue;
        }
        r->set[row - config_rows] = true;
        if (row->kind == CONFIG_LIST)
            config_words(r, row, settings[i].value);
        else
            config_value(r, row, settings[i].value);
    }
}

static void config_make(struct config_reader *r, const uint8_t *text,
                        size_t len, const struct config_setting *settings,
                        size_t n)
{
    for (size_t i = 0; i < CONFIG_ROWS; i++)
        if (config_rows[i].otherwise != NULL)
            config_value(r, &config_rows[i], config_rows[i].otherwise);
    if (text != NULL)
        config_text(r, text, len);
    config_set(r, settings, n);
    if (r->notes->nomem || (text != NULL && !r->read))
        return;
    config_mark(r);
    config_check(r);
}

/* As they stand in the file; what is not of it comes last. */
static void config_sort(hsy_problem *all, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const hsy_problem p = all[i];
        size_t k = i;

        for (; k > 0 && p.line - 1 < all[k - 1].line - 1; k--)
            all[k] = all[k - 1];
        all[k] = p;
    }
}

static hsy_status config_done(struct config *c, struct config_reader *r,
                              hsy_problem **problems, size_t *n, hsy_error *err)
{
    hsy_tasks *notes = r->notes;
    const bool nomem = notes->nomem, wrong = notes->wrong;

    *problems = notes->problems;
    *n = notes->nproblems;
    config_sort(*problems, *n);
    notes->problems = NULL;
    hsy_tasks_free(notes);
    if (!nomem && !wrong) {
        config_clear(c);
        *c = *r->c;
        return HSY_OK;
    }
    config_clear(r->c);
    return nomem ? host_fail(err, HSY_E_NOMEM, NULL, "out of memory")
                 : host_fail(err, HSY_E_FORMAT, NULL,
                             "the configuration is not sound");
}

hsy_status config_read(struct config *c, const char *path,
                       const struct config_setting *settings, size_t nsettings,
                       hsy_problem **problems, size_t *n, hsy_error *err)
{
    struct config made = {.data = NULL};
    struct config_reader r = {.c = &made};
    char *directory = path != NULL ? tasks_directory(path) : NULL;
    uint8_t *text = NULL;
    size_t len = 0;
    hsy_status st = HSY_OK;

    *problems = NULL;
    *n = 0;
    r.directory = directory;
    r.notes = calloc(1, sizeof *r.notes);
    if (r.notes == NULL || (path != NULL && directory == NULL))
        st = HSY_E_NOMEM;
    else if (path != NULL)
        st = tasks_slurp(&text, &len, path);
    if (st == HSY_OK) {
        config_make(&r, text, len, settings, nsettings);
        st = config_done(c, &r, problems, n, err);
    } else {
        int why = errno;

        free(r.notes);
        errno = why;
        host_fail(err, st, NULL,
                  st == HSY_E_IO      ? "the file cannot be read"
                  : st == HSY_E_RANGE ? "the file is longer than 16 MiB"
                                      : "out of memory");
    }
    free(text);
    free(directory);
    return st;
}
