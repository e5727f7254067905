/*
 * task_model.c - who sees a task's reports: its model, its shufflers, and what
 * a batch of the smallest size is worth.
 *
 * n is what the bound may count on: of the uploads of the smallest batch those
 * that are real reports of honest devices. Whom a task samples out sends null
 * uploads, so its sample counts too. Where devices keep a seed or a cohort for
 * life every report shows it, and only those who share it hide each other.
 *                                                          docs/tasks.md
 */
#include "host/tasks/internal.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "host/tasks/task_cost.h"
#include "host/worth/worth.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct yaml_place model_at(size_t i, const char *key)
{
    return (struct yaml_place){i, key, NULL, YAML_NONE};
}

/* ---- Statements ---------------------------------------------------------- */

#define MODEL_VERSION 8u /* bytes up to the end of a statement's version */

/* A statement in a file of that name; false after a complaint. */
static bool model_statement(hsy_tasks *t, size_t i, const char *name,
                            uint8_t wire[HSY_STATEMENT_WIRE])
{
    const struct yaml_place at = model_at(i, "shufflers");
    char *path = t->directory != NULL ? yaml_path(&t->notes, name) : NULL;
    const bool there = path != NULL;
    uint8_t *bytes = NULL;
    hsy_error err = {0};
    hsy_statement s;
    size_t len = 0;
    hsy_status st = HSY_E_IO;
    const char *why = "no file can be read from here";

    if (there) {
        st = file_whole(&bytes, &len, path, HSY_STATEMENT_WIRE, &err);
        why = st == HSY_E_IO
                  ? strerror(errno)
                  : "not a statement of a shuffler, which has 512 bytes";
    }
    free(path);
    if (st != HSY_OK)
        yaml_wrong(&t->notes, at, "%.100s: %s", name, why);
    else if (len < MODEL_VERSION ||
             (len != HSY_STATEMENT_WIRE && bytes[4] != 1) ||
             hsy_statement_decode(&s, bytes, &err) != HSY_OK)
        yaml_wrong(&t->notes, at, "%.100s: %s", name,
                   err.msg != NULL ? err.msg : "not a statement of a shuffler");
    else if (memcmp(s.seal_key, t->collector_key, HSY_SEAL_KEY) == 0)
        yaml_wrong(&t->notes, at,
                   "%.100s: its seal_key is the collector_key: who has both "
                   "layers reads reports with their ids",
                   name);
    else if (!hsy_sign_verify(s.sign_key, s.signature, bytes,
                              HSY_STATEMENT_SIGNED))
        yaml_wrong(&t->notes, at,
                   "%.100s: not signed by the shuffler that it is about", name);
    else
        memcpy(wire, bytes, HSY_STATEMENT_WIRE);
    free(bytes);
    return !t->notes.wrong;
}

static void model_shufflers(hsy_tasks *t, size_t i)
{
    char *const *files = t->file.tasks[i].shufflers;
    struct tasks_made *made = &t->made[i];
    hsy_task *task = &t->tasks[i];

    if (files == NULL || *files == NULL)
        yaml_missing(&t->notes, model_at(i, "shufflers"),
                     "is missing: the files of the shufflers' statements, in "
                     "the order in which they open uploads");
    for (; files != NULL && *files != NULL; files++)
        if (!model_statement(t, i, *files, made->statements[task->shufflers++]))
            return;
    task->statements = made->statements[0];
}

/* ---- The model ----------------------------------------------------------- */

/* What only a shuffled task says. */
static const char *model_stray(const struct tasks_raw *raw)
{
    const struct task_field *f = task_fields;

    while (f->key != NULL && ((f->flags & TASK_SHUFFLED) == 0 ||
                              tasks_number_text(raw, f) == NULL))
        f++;
    return raw->shufflers != NULL         ? "shufflers"
           : raw->epsilon_central != NULL ? "epsilon_central"
                                          : f->key;
}

static void model_relay(hsy_tasks *t, size_t i)
{
    const char *text = t->file.tasks[i].relay;
    hsy_task *task = &t->tasks[i];
    const bool required = text != NULL ? strcmp(text, "required") == 0
                                       : task->model == HSY_MODEL_SHUFFLED;

    if (text != NULL && !required && strcmp(text, "optional") != 0)
        yaml_wrong(&t->notes, model_at(i, "relay"),
                   "must be required or optional");
    if (required && t->parties.gateway_keys == 0)
        yaml_wrong(&t->notes, model_at(i, "relay"),
                   "required (the default of shuffled tasks) needs the "
                   "gateway's key: add gateway_keys at the top of the file, or "
                   "set relay: optional");
    task->flags = required ? HSY_TASK_RELAY : 0;
}

void tasks_model(hsy_tasks *t, size_t i)
{
    static const uint8_t none[HSY_SEAL_KEY];
    const struct tasks_raw *raw = &t->file.tasks[i];
    const char *stray = model_stray(raw);

    if (raw->model != NULL && strcmp(raw->model, "shuffled") == 0)
        t->tasks[i].model = HSY_MODEL_SHUFFLED;
    else if (raw->model != NULL && strcmp(raw->model, "local") != 0)
        yaml_wrong(&t->notes, model_at(i, "model"),
                   "must be local or shuffled");
    else if (stray != NULL)
        yaml_wrong(&t->notes, model_at(i, stray), "needs model: shuffled");
    model_relay(t, i);
    if (t->tasks[i].model != HSY_MODEL_SHUFFLED)
        return;
    t->tasks[i].collector_key = t->collector_key;
    if (memcmp(t->collector_key, none, sizeof none) == 0)
        yaml_wrong(&t->notes, model_at(i, "model"),
                   "shuffled needs the collector's public key: add "
                   "collector_key at the top of the file");
    t->tasks[i].nano_central = HSY_EPSILON_MAX; /* until the scheme is known */
    tasks_numbers(t, i, TASK_SHUFFLED);
    model_shufflers(t, i);
}

/* ---- What it is worth ---------------------------------------------------- */

hsy_batch task_model_batch(const hsy_task *task)
{
    return (hsy_batch){.reports = (uint64_t)task->min_batch * task->sample.num /
                                  task->sample.den, /* 32 and 31 bits */
                       .honest = task->assume_honest,
                       .delta =
                           (double)task->delta.num / (double)task->delta.den};
}

hsy_status tasks_model_solve(hsy_spec *spec, const hsy_task *task,
                             uint64_t nano_central, hsy_error *err)
{
    const hsy_batch batch = task_model_batch(task);

    return worth_largest(spec, NULL, &batch, (double)nano_central / HSY_NANO,
                         err);
}

hsy_status task_model_worth(hsy_worth *out, const hsy_release_info *info,
                            hsy_error *err)
{
    const hsy_batch batch = task_model_batch(&info->task);

    return hsy_worth_of(out, info->scheme, info->memo, &batch, err);
}

/* A report's own epsilon needs no batch. */
bool task_model_proved(const hsy_release_info *info)
{
    const hsy_batch batch = task_model_batch(&info->task);
    const uint64_t claim = info->task.nano_central + TASK_MODEL_SLACK;
    bool holds = info->task.model != HSY_MODEL_SHUFFLED ||
                 info->task.nano_central >= info->nano_report;

    return holds ||
           (hsy_worth_holds(&holds, info->scheme, info->memo, &batch,
                            (double)claim / HSY_NANO, NULL) == HSY_OK &&
            holds);
}

hsy_status task_model_check(const hsy_document *doc, hsy_error *err)
{
    for (uint32_t i = 0; i < doc->tasks; i++) {
        hsy_release *r = NULL;
        hsy_release_info info;
        hsy_task task;
        hsy_status st;
        bool proved;

        hsy_document_task(doc, &task, i);
        if (task.model != HSY_MODEL_SHUFFLED)
            continue;
        st = task_release(&r, &task, err);
        if (st != HSY_OK)
            return st;
        hsy_release_describe(r, &info);
        proved = task_model_proved(&info);
        free(r);
        if (!proved)
            return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_EPSILON_CENTRAL,
                                "the central epsilon is below what the task's "
                                "batches are proved to give",
                                HSY_UNIT_TASK, i + 1);
    }
    return HSY_OK;
}

/* All sealed requests have the length that the longest upload takes. */
static void model_request(hsy_tasks *t, size_t upload)
{
    while (t->parties.request_bytes != 0 &&
           t->parties.request_bytes < upload + HSY_REQUEST_ROOM)
        t->parties.request_bytes *= 2;
}

/* What was asked for holds, also where a bound found by halving is above it in
 * its last digits. */
static uint64_t model_nano(const char *asked, double epsilon, uint64_t report)
{
    uint64_t nano = report, central;

    if (epsilon * HSY_NANO < (double)report)
        nano = (uint64_t)ceil(epsilon * HSY_NANO);
    if (asked != NULL &&
        hsy_epsilon_parse(&central, asked, strlen(asked)) == HSY_OK &&
        central < nano)
        nano = central;
    return nano;
}

void tasks_model_bound(hsy_tasks *t, size_t i, const hsy_release_info *info)
{
    const char *asked = t->file.tasks[i].epsilon_central;
    hsy_task *task = &t->tasks[i];
    hsy_error err = {0};
    hsy_worth worth;

    model_request(t, info->upload_bytes);
    if (task->model != HSY_MODEL_SHUFFLED)
        return;
    if (task_model_worth(&worth, info, &err) != HSY_OK) {
        yaml_wrong(&t->notes, model_at(i, "min_batch"), "%s", err.msg);
        return;
    }
    task->nano_central = model_nano(asked, worth.epsilon, info->nano_report);
    if (task->nano_central < info->nano_report / 100 * 99)
        return;
    if (worth.among < worth.n)
        yaml_wrong(&t->notes, model_at(i, "mechanism"),
                   "devices keep a seed or cohort, which every report shows: "
                   "among the %" PRIu64 " of %" PRIu64 " who share one, a "
                   "batch hides nobody better than the report's own noise",
                   worth.among, worth.n);
    else
        yaml_warn(&t->notes, model_at(i, "min_batch"),
                  "too small: such a batch adds no privacy to the report's own "
                  "noise");
}
