/* device_show.c - hearsay device budget, tasks and policy: what the person may
 * read. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks.h"
#include "cli/device/internal.h"

#include "host/base/day.h"
#include "host/base/files.h"
#include "host/base/written.h"
#include "host/client/client.h"
#include "host/tasks/loaded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOW_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Exact in every format: epsilon has nine places and no more. */
static struct table_cell device_show_nano(uint64_t nano)
{
    struct table_cell c = cell_number((double)nano / HSY_NANO);
    char text[WRITTEN_NUMBER];

    written_nano(text, nano);
    memcpy(c.shown, text, sizeof text);
    return c;
}

/* ---- Policy -------------------------------------------------------------- */

static void device_show_policy_cell(const void *ctx, size_t row, size_t column,
                                    struct table_cell *out)
{
    const struct policy *p = ctx;
    bool all = row == p->policy.nsources;
    const hsy_source *s = all ? NULL : &p->sources[row];

    if (column == 0)
        *out = cell_text(all ? "all" : s->name);
    else if (column == 1 && !all)
        *out = device_show_nano(s->cap_answer);
    else if (column == 2)
        *out = device_show_nano(all ? p->policy.cap_day : s->cap_day);
    else if (column == 3)
        *out = device_show_nano(all ? p->policy.cap_lifetime : s->cap_lifetime);
}

/* Prints what a policy demands besides its caps. */
static void device_show_demands(const hsy_policy *p)
{
    const bool named = (p->flags & HSY_POLICY_RELAY_NAMED) != 0;

    if (named)
        printf("\nPinned: %s, the relay named by the collector\n",
               p->relays[0]);
    for (size_t i = 0; !named && i < p->nrelays; i++)
        printf("%sRelay: %s\n", i == 0 ? "\n" : "", p->relays[i]);
    if (p->nrelays == 0 && (p->flags & HSY_POLICY_RELAY) != 0)
        puts("\nA relay is required, and none is listed.");
    if (p->ngateway_keys != 0)
        printf("\nPinned: %zu gateway key%s\n", p->ngateway_keys,
               p->ngateway_keys == 1 ? "" : "s");
    if (p->nshuffler_keys != 0)
        printf("\nPinned: %zu shuffler key%s, and batches of at least %" PRIu64
               " reports\n",
               p->nshuffler_keys, p->nshuffler_keys == 1 ? "" : "s",
               p->min_batch);
}

void device_show_policy(const struct policy *p, enum table_format format)
{
    static const struct table_column columns[] = {{"source", NULL},
                                                  {"cap_answer", "one report"},
                                                  {"cap_day", "a day"},
                                                  {"cap_lifetime", "ever"}};
    const struct table table = {columns, SHOW_COUNT(columns),
                                p->policy.nsources + 1, device_show_policy_cell,
                                p};
    const bool named = (p->policy.flags & HSY_POLICY_RELAY_NAMED) != 0;
    const char *relay = p->policy.nrelays != 0 ? p->relays[0] : NULL;
    char key[2 * HSY_SIGN_KEY + 1];

    hex_put(key, p->policy.sign_key, HSY_SIGN_KEY);
    {
        const struct table_field fields[] = {
            {"key", cell_text(key)},
            {"anchor", cell_text(p->anchor)},
            {"releases", cell_count(p->policy.releases)},
            {"release_bytes", cell_count(p->policy.release_bytes)},
            {"relay",
             cell_text((p->policy.flags & HSY_POLICY_RELAY) != 0 ? "required"
                                                                 : "optional")},
            {"relay_url", cell_text(relay)},
            {"relay_named_by", cell_text(relay == NULL ? NULL
                                         : named       ? "collector"
                                                       : "policy")}};

        table_print(stdout, format, &table, fields, SHOW_COUNT(fields),
                    "sources");
    }
    if (format == TABLE_ALIGNED)
        device_show_demands(&p->policy);
}

int device_policy(void *to)
{
    struct device_job *j = to;
    int failed = device_read_policy(j);

    if (failed)
        return failed;
    device_show_policy(&j->home.policy, j->options.format);
    return cli_finish();
}

/* ---- Budget -------------------------------------------------------------- */

static void device_show_budget_cell(const void *ctx, size_t row, size_t column,
                                    struct table_cell *out)
{
    const struct device_job *j = ctx;
    const struct policy *p = &j->home.policy;
    const char *name = row < p->policy.nsources ? p->sources[row].name : NULL;
    hsy_budget b;

    if (column == 0) {
        *out = cell_text(name != NULL ? name : "all");
        return;
    }
    if (hsy_device_budget(j->home.bare, &b, name, NULL) != HSY_OK)
        return;
    {
        const uint64_t numbers[] = {b.spent_day, b.cap_day, b.spent_lifetime,
                                    b.cap_lifetime};

        *out = device_show_nano(numbers[column - 1]);
    }
}

int device_budget(void *to)
{
    struct device_job *j = to;
    static const struct table_column columns[] = {{"source", NULL},
                                                  {"spent_day", "today"},
                                                  {"cap_day", "of"},
                                                  {"spent_lifetime", "ever"},
                                                  {"cap_lifetime", "of"}};
    struct table table = {columns, SHOW_COUNT(columns), 0,
                          device_show_budget_cell, j};
    hsy_error err = {0};
    hsy_budget all;
    int failed = device_open_bare(j);

    if (failed)
        return failed;
    if (hsy_device_budget(j->home.bare, &all, NULL, &err) != HSY_OK) {
        home_explain(&j->home, &err);
        return device_fail(j, &err);
    }
    table.nrows = j->home.policy.policy.nsources + 1;
    {
        const struct table_field fields[] = {
            {"day", cell_count(all.day)},
            {"consent", cell_text(hsy_world_consent_name(
                            (uint64_t)hsy_device_consent(j->home.bare)))}};

        table_print(stdout, j->options.format, &table, fields,
                    SHOW_COUNT(fields), "sources");
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

static void device_show_admitted_cell(const struct show_tasks *t, size_t row,
                                      size_t column, const hsy_task *task,
                                      struct table_cell *out)
{
    size_t n;
    const hsy_release *r = hsy_client_releases(t->client, &n)[row];
    hsy_release_info info;

    hsy_release_describe(r, &info);
    if (column == SHOW_ONE)
        *out = device_show_nano(info.nano_report);
    else if (column == SHOW_SLOT)
        *out = device_show_nano(info.nano_slot);
    else if (column == SHOW_LIFETIME && info.nano_task != UINT64_MAX)
        *out = device_show_nano(info.nano_task);
    else if (column == SHOW_LABEL) {
        hsy_release_label(r, t->label, SHOW_LABEL_MAX, task);
        *out = cell_text(t->label);
    }
}

static void device_show_task_cell(const void *ctx, size_t row, size_t column,
                                  struct table_cell *out)
{
    const struct show_tasks *t = ctx;
    bool admitted = row < t->admitted;
    hsy_error why = {0};
    hsy_task task;

    if (!(admitted
              ? hsy_client_task(t->client, &task, row)
              : hsy_client_refused(t->client, &task, &why, row - t->admitted)))
        return;
    if (column == SHOW_TASK || column == SHOW_SOURCE) {
        /* task is on this stack; the room of the label stays. */
        const char *text = column == SHOW_TASK ? task.id : task.source;
        size_t len = strlen(text);

        memcpy(t->label, text, len + 1);
        *out = cell_text(t->label);
    } else if (column == SHOW_ADMITTED) {
        *out = cell_bool(admitted);
        snprintf(out->shown, sizeof out->shown, "%s",
                 admitted ? "asked" : "refused");
    } else if (column == SHOW_WHY && !admitted) {
        device_say_why(t->label, SHOW_LABEL_MAX, &why);
        *out = cell_text(t->label);
    } else if (column == SHOW_QUESTION) {
        *out = (struct table_cell){
            .type = CELL_TEXT, .text = task.question, .len = task.question_len};
    } else if (admitted) {
        device_show_admitted_cell(t, row, column, &task, out);
    }
}

/* Below the table, where there is room: why a task is refused. */
static void device_show_refused(const struct show_tasks *t)
{
    struct table_cell cell;

    for (size_t i = t->admitted; i < t->admitted + t->refused; i++) {
        device_show_task_cell(t, i, SHOW_TASK, &cell);
        printf("%s%s is refused: ", i == t->admitted ? "\n" : "", t->label);
        device_show_task_cell(t, i, SHOW_WHY, &cell);
        puts(t->label);
    }
}

/* Below that: each task in plain words. */
static void device_show_labels(const struct show_tasks *t)
{
    struct table_cell cell;

    for (size_t i = 0; i < t->admitted; i++) {
        device_show_task_cell(t, i, SHOW_TASK, &cell);
        printf("\n%s:\n", t->label);
        device_show_task_cell(t, i, SHOW_LABEL, &cell);
        table_paragraph(stdout, t->label);
    }
}

static void device_show_digest(char text[2 * HSY_DIGEST + 1],
                               const struct device_job *j)
{
    uint8_t digest[HSY_DIGEST];

    hsy_document_digest(&j->home.client->document, digest);
    hex_put(text, digest, HSY_DIGEST);
}

int device_show_tasks(struct device_job *j, enum table_format format,
                      bool labels)
{
    static const struct table_column columns[] = {
        [SHOW_TASK] = {"task", NULL},
        [SHOW_SOURCE] = {"source", NULL},
        [SHOW_ONE] = {"epsilon_report", "one report"},
        [SHOW_SLOT] = {"epsilon_slot", "a slot"},
        [SHOW_LIFETIME] = {"epsilon_task", "all slots"},
        [SHOW_ADMITTED] = {"admitted", "state"},
        [SHOW_WHY] = {"why", ""},
        [SHOW_QUESTION] = {"question", ""},
        [SHOW_LABEL] = {"label", ""}};
    struct show_tasks t = {.client = j->home.client};
    struct table table = {columns, SHOW_COUNT(columns), 0,
                          device_show_task_cell, &t};
    char digest[2 * HSY_DIGEST + 1];
    hsy_task task;

    t.label = malloc(SHOW_LABEL_MAX);
    if (t.label == NULL)
        return cli_fail_nomem();
    hsy_client_releases(j->home.client, &t.admitted);
    while (hsy_client_refused(j->home.client, &task, NULL, t.refused))
        t.refused++;
    table.nrows = t.admitted + t.refused;
    device_show_digest(digest, j);
    {
        const struct table_field fields[] = {
            {"version", cell_count(j->home.client->document.version)},
            {"digest", cell_text(digest)}};

        table_print(stdout, format, &table, fields, SHOW_COUNT(fields),
                    "tasks");
    }
    if (format == TABLE_ALIGNED)
        device_show_refused(&t);
    if (format == TABLE_ALIGNED && labels)
        device_show_labels(&t);
    if (format == TABLE_ALIGNED && labels)
        printf("\nDocument: version %" PRIu64 ", digest\n%s\nEverybody who is "
               "asked has the same; who has another can be told apart.\n",
               j->home.client->document.version, digest);
    free(t.label);
    return 0;
}

/* Who has signed a list, by its statement in the document; "" if nobody of the
 * document has. */
static void device_show_signer(char name[HSY_OPERATOR_MAX + 1],
                               const hsy_document *doc,
                               const struct loaded *list)
{
    name[0] = '\0';
    for (uint32_t i = 0; i < doc->tasks; i++) {
        hsy_statement s;
        hsy_task t;

        hsy_document_task(doc, &t, i);
        for (uint32_t k = 0; k < t.shufflers; k++)
            if (hsy_statement_decode(
                    &s, t.statements + (size_t)k * HSY_STATEMENT_WIRE, NULL) ==
                    HSY_OK &&
                memcmp(s.sign_key, list->sign_key, HSY_SIGN_KEY) == 0)
                memcpy(name, s.operated_by, HSY_OPERATOR_MAX + 1);
    }
}

/* Compare the document with those that a shuffler has loaded. */
static int device_show_compare(const struct device_job *j,
                               const struct loaded *list)
{
    const hsy_document *doc = &j->home.client->document;
    const uint8_t *theirs = loaded_find(list, doc->version);
    char name[HSY_OPERATOR_MAX + 1], day[DAY_TEXT];
    uint8_t mine[HSY_DIGEST];

    device_show_signer(name, doc, list);
    day_text(day, list->day);
    hsy_document_digest(doc, mine);
    if (name[0] == '\0')
        return cli_fail("%s: signed by no shuffler of this document",
                        j->options.loaded);
    if (theirs == NULL)
        return cli_fail("%s: on %s %s had not loaded version %" PRIu64
                        " of the document, or has forgotten it; its newest is "
                        "%" PRIu64,
                        j->options.loaded, day, name, doc->version,
                        list->rows[list->n - 1].version);
    if (memcmp(theirs, mine, sizeof mine) != 0)
        return cli_fail("%s: %s has loaded another document of version %" PRIu64
                        ": this device was given one of its own; do not answer",
                        j->options.loaded, name, doc->version);
    cli_note("note: %s has loaded this document, by its list of %s", name, day);
    return 0;
}

static int device_show_loaded(const struct device_job *j)
{
    uint8_t *bytes = NULL;
    struct loaded list;
    hsy_error err = {0};
    size_t len = 0;
    hsy_status st =
        file_whole(&bytes, &len, j->options.loaded, LOADED_MAX, &err);

    if (st == HSY_OK)
        st = loaded_read(&list, bytes, len, &err);
    free(bytes);
    return st == HSY_OK ? device_show_compare(j, &list)
                        : cli_fail_file(j->options.loaded, &err);
}

int device_tasks(void *to)
{
    struct device_job *j = to;
    int failed = device_open(j);

    if (!failed)
        failed = device_show_tasks(j, j->options.format, true);
    if (!failed && j->options.loaded != NULL)
        failed = device_show_loaded(j);
    return failed ? failed : cli_finish();
}
