/*
 * check.c - the meaning of a task file: every text becomes a number
 * within its range, or a problem with its line.
 */
#include "host/tasks/internal.h"

#include "host/base/day.h"
#include "host/tasks/calendar.h"
#include "host/tasks/expiry.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_DAYS 2932897u /* the day after 9999-12-31 */
#define CHECK_LAST_DAYS 90u /* for which a document is taken by default */
#define CHECK_MUCH ((uint64_t)8 * HSY_NANO) /* epsilon worth a remark */
#define CHECK_CROWD 10u /* devices that a kept seed should have in common */

static struct yaml_place check_at(size_t i, const char *key, const char *sub)
{
    return (struct yaml_place){i, key, sub, YAML_NONE};
}

/* ---- Numbers of the file and of a task ----------------------------------- */

static bool check_date(hsy_tasks *t, struct yaml_place at, const char *text,
                       uint32_t *day)
{
    if (text == NULL)
        yaml_missing(&t->notes, at, "is missing: a day, e.g. 2026-01-31");
    else if (!day_parse(day, text))
        yaml_wrong(&t->notes, at, "must be a day from 1970, as 2026-01-31");
    else
        return true;
    return false;
}

static void check_expiry(hsy_tasks *t, struct yaml_place at)
{
    const enum expiry when = expiry_of(t->head.expires, t->today);

    if (when == EXPIRY_PAST)
        yaml_warn(&t->notes, at,
                  "its last day is over: devices that do not have the "
                  "document refuse it");
    else if (when == EXPIRY_NEAR)
        yaml_warn(&t->notes, at,
                  "days that are left: %" PRIu32 ", then devices that do not "
                  "have the document refuse it",
                  t->head.expires - t->today);
}

static void check_head(hsy_tasks *t)
{
    const struct tasks_file *f = &t->file;
    const struct yaml_place none = check_at(YAML_NONE, NULL, NULL);
    struct yaml_place at = none;

    at.key = "version";
    if (f->version == NULL)
        yaml_missing(&t->notes, none,
                     "version is missing: 1, then one more with every "
                     "change");
    else if (!yaml_count(&t->head.version, f->version) || t->head.version == 0)
        yaml_wrong(&t->notes, at, "must be an integer of at least 1");
    at.key = "issued";
    t->head.issued = t->today;
    if (f->issued != NULL && !check_date(t, at, f->issued, &t->head.issued))
        return;
    if (t->head.issued > t->today)
        yaml_warn(&t->notes, at,
                  "is in the future: devices accept the document from the day "
                  "before it on");
    at.key = "expires";
    t->head.expires = t->head.issued + CHECK_LAST_DAYS;
    if (f->expires != NULL) {
        if (!check_date(t, at, f->expires, &t->head.expires))
            return;
        t->head.expires++; /* the day after the last */
    }
    if (t->head.expires <= t->head.issued)
        yaml_wrong(&t->notes, at, "the last day comes before the day of issue");
    else
        check_expiry(t, at);
    if (f->tasks == NULL)
        yaml_missing(&t->notes, none,
                     "tasks is missing: a list, or [] to end them "
                     "all");
}

static void check_name(hsy_tasks *t, struct yaml_place at, const char *text,
                       char *out, size_t max, const char *what)
{
    const size_t len = text != NULL ? strlen(text) : 0;

    if (text == NULL)
        yaml_missing(&t->notes, at, "is missing: %s", what);
    else if (len < 1 || len > max ||
             strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789._-") != len)
        yaml_wrong(&t->notes, at,
                   "must be 1 to %zu characters of a-z, 0-9, '.', '_', '-'",
                   max);
    else
        memcpy(out, text, len + 1);
}

static void check_names(hsy_tasks *t, size_t i)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    hsy_task *task = &t->tasks[i];
    struct yaml_place at = check_at(i, "id", NULL);

    check_name(t, at, raw->id, task->id, HSY_TASK_ID,
               "the task's name, as dark-mode");
    for (size_t k = 0; k < i && task->id[0] != '\0'; k++)
        if (strcmp(t->tasks[k].id, task->id) == 0) {
            yaml_wrong(&t->notes, at, "task %zu has this id already", k + 1);
            break;
        }
    at.key = "source";
    check_name(t, at, raw->source, task->source, HSY_SOURCE_MAX,
               "name the private data, e.g. settings.theme");
    at.key = "question";
    task->question = raw->question;
    task->question_len = raw->question != NULL ? strlen(raw->question) : 0;
    /* A block of text ends with a line end, which is nobody's intention. */
    if (task->question_len > 0 && raw->question[task->question_len - 1] == '\n')
        task->question_len--;
    if (raw->question == NULL)
        yaml_missing(&t->notes, at,
                     "is missing: the question in words, for the person");
}

/* ---- Time ---------------------------------------------------------------- */

/* A number of days, or the word for 0; forms: what may be written. */
static void check_days(hsy_tasks *t, struct yaml_place at, const char *text,
                       const char *never, const char *forms, uint32_t *out)
{
    uint64_t days;

    if (text == NULL)
        return;
    if (never != NULL && strcmp(text, never) == 0)
        *out = 0;
    else if (!yaml_days(&days, text) || days > CHECK_DAYS)
        yaml_wrong(&t->notes, at, "must be %s", forms);
    else
        *out = (uint32_t)days;
}

/* Rounds must divide the slot: name the last day on which they would. */
static void check_rounds(hsy_tasks *t, size_t i)
{
    const hsy_task *task = &t->tasks[i];
    const uint32_t all = task->end - task->start;

    if (task->slot_days != 0 && task->slot_days % task->round_days != 0)
        yaml_wrong(&t->notes, check_at(i, "permanent", "renew"),
                   "rounds of %" PRIu32 " days do not divide %" PRIu32
                   " days evenly",
                   task->round_days, task->slot_days);
    else if (task->slot_days == 0 && all % task->round_days != 0)
        yaml_wrong(&t->notes, check_at(i, "end", NULL),
                   "the task lasts %" PRIu32 " days, which rounds of %" PRIu32
                   " do not divide evenly: end it %" PRIu32
                   " days earlier, or renew",
                   all, task->round_days, all % task->round_days);
    else if (calendar_slot(task) == task->round_days)
        yaml_wrong(&t->notes, check_at(i, "permanent", "every"),
                   "a permanent answer is for several rounds; this has one");
}

static void check_plan(hsy_tasks *t, size_t i)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    const struct tasks_permanent *p = raw->permanent;
    hsy_task *task = &t->tasks[i];

    if (p == NULL) {
        check_days(t, check_at(i, "repeat", NULL), raw->repeat, "once",
                   "once, daily, weekly or a number of days, as '3 days'",
                   &task->slot_days);
        return;
    }
    if (raw->repeat != NULL)
        yaml_wrong(&t->notes, check_at(i, "repeat", NULL),
                   "applies to fresh answers only; with permanent use every "
                   "and renew");
    task->round_days = 1;
    check_days(t, check_at(i, "permanent", "every"), p->every, NULL,
               "day, week or a number of days, e.g. '3 days'",
               &task->round_days);
    check_days(t, check_at(i, "permanent", "renew"), p->renew, "never",
               "never, week or a number of days, as '28 days'",
               &task->slot_days);
    if (task->end > task->start)
        check_rounds(t, i);
}

static void check_times(hsy_tasks *t, size_t i)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    hsy_task *task = &t->tasks[i];

    check_date(t, check_at(i, "start", NULL), raw->start, &task->start);
    if (check_date(t, check_at(i, "end", NULL), raw->end, &task->end)) {
        task->end++; /* the day after the last */
        if (task->end <= task->start)
            yaml_wrong(&t->notes, check_at(i, "end", NULL),
                       "%s is before the first day, %s", raw->end, raw->start);
    }
    check_plan(t, i);
    if (task->start < task->end && task->slot_days > task->end - task->start)
        yaml_wrong(&t->notes,
                   raw->permanent != NULL ? check_at(i, "permanent", "renew")
                                          : check_at(i, "repeat", NULL),
                   "longer than the task, which lasts %" PRIu32 " days",
                   task->end - task->start);
}

/* ---- Answers and uploads ------------------------------------------------- */

static void check_pace(hsy_tasks *t, size_t i)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    const hsy_task *task = &t->tasks[i];

    if (raw->permanent != NULL && raw->answers != NULL)
        yaml_wrong(&t->notes, check_at(i, "answers", NULL),
                   "a permanent answer is one a round: leave it out");
    if (task->sends > task->answers)
        yaml_wrong(&t->notes, check_at(i, "send", NULL),
                   "must be an integer from 1 to 'answers' (%" PRIu32 ")",
                   task->answers);
}

/* ---- What devices would say ---------------------------------------------- */

/* What a field of the library is called, if it is one. */
static const char *check_field_name(uint32_t field)
{
    return field != HSY_FIELD_NONE ? hsy_field_name(field) : NULL;
}

/* A field of the library by its key. */
static struct yaml_place check_field(const hsy_tasks *t, size_t i,
                                     uint32_t field)
{
    static const struct check_key {
        uint32_t field;
        const char *key, *sub; /* sub: if there is `permanent` */
    } keys[] = {
        {HSY_FIELD_SLOT_DAYS, "repeat", "renew"},
        {HSY_FIELD_ROUND_DAYS, "repeat", "every"},
        {HSY_FIELD_SENDS, "send", NULL},
        {HSY_FIELD_MAX_CHANGES, NULL, "max_changes"},
        {HSY_FIELD_GRAIN, NULL, "grain"},
        {HSY_FIELD_SCHEME, "mechanism", NULL},
        {HSY_FIELD_PERMANENT, NULL, "epsilon"},
        {HSY_FIELD_OTHER, "values", NULL},
        {HSY_FIELD_LABELS, "values", NULL},
        {HSY_FIELD_STATEMENT, "shufflers", NULL},
    };
    const bool permanent = t->file.tasks[i].permanent != NULL;

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (keys[k].field == field)
            return permanent && keys[k].sub != NULL
                       ? check_at(i, "permanent", keys[k].sub)
                       : check_at(i, keys[k].key, NULL);
    return check_at(i, check_field_name(field), NULL);
}

/* The odds of a guess move by e^epsilon; e^32 is 7.9e13. */
static void check_much(hsy_tasks *t, struct yaml_place at, const char *what,
                       uint64_t nano)
{
    if (nano > CHECK_MUCH)
        yaml_warn(&t->notes, at,
                  "epsilon %.4g: %s may move the odds of a guess up to %.4g "
                  "times",
                  (double)nano / HSY_NANO, what, exp((double)nano / HSY_NANO));
}

/* A kept hash function, set of buckets or cohort is shown in every report: it
 * is a name, unless many devices have the same (docs/attacks.md). */
static void check_marks(hsy_tasks *t, size_t i, const hsy_release_info *info)
{
    const uint32_t reports = info->task.min_reports;
    const uint64_t most = reports / CHECK_CROWD > 2 ? reports / CHECK_CROWD : 2;
    struct yaml_place at = check_at(i, "set", "pool-bits");
    uint64_t bits = 1, seeds;
    hsy_scheme_info scheme;

    hsy_scheme_describe(info->scheme, &scheme);
    seeds = (uint64_t)1 << scheme.param[HSY_PARAM_POOL_BITS];
    while (most >> (bits + 1) != 0)
        bits++;
    if (scheme.param[HSY_PARAM_COHORTS] != 0) {
        seeds = scheme.param[HSY_PARAM_COHORTS];
        bits = most;
        at.sub = "cohorts";
    }
    if (seeds > most)
        yaml_warn(&t->notes, at,
                  "every report shows which of %" PRIu64 " the device keeps, "
                  "which marks it among %" PRIu32 " devices (min_reports): "
                  "at most %" PRIu64 ", or more min_reports",
                  seeds, reports, bits);
}

/* Whatever changes in another task on its source needs a new release of a
 * shuffled one (hsy_document_terms). */
static void check_shared(hsy_tasks *t, size_t i)
{
    const hsy_task *own = &t->tasks[i];

    for (size_t k = 0; k < t->ntasks; k++)
        if (k != i && own->model == HSY_MODEL_SHUFFLED &&
            strcmp(t->tasks[k].source, own->source) == 0) {
            yaml_warn(&t->notes, check_at(i, "source", NULL),
                      "task '%s' is on the same source, so that every change "
                      "of it needs a new release of '%s'; give a shuffled task "
                      "a source of its own",
                      t->tasks[k].id, own->id);
            return;
        }
}

static void check_remarks(hsy_tasks *t, size_t i, const hsy_release_info *info)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    const struct yaml_place permanent = check_at(i, "permanent", NULL);

    if (info->task.end <= t->head.issued)
        yaml_warn(&t->notes, check_at(i, "end", NULL),
                  "the task is over before the document is issued: no device "
                  "answers it");
    check_much(t, check_at(i, "epsilon", NULL), "one report",
               info->nano_report);
    if (info->task.min_reports <= 1)
        yaml_warn(&t->notes, check_at(i, "min_reports", NULL),
                  "an estimate from a single report is shown; the default is "
                  "1000 devices");
    if (raw->permanent != NULL)
        check_much(t, permanent, "all reports of one answer",
                   info->nano_slot / info->task.max_changes);
    if (info->task.max_changes >= 2)
        check_much(t, check_at(i, "permanent", "max_changes"),
                   "all reports of all kept answers", info->nano_slot);
    if (raw->permanent != NULL)
        check_marks(t, i, info);
    tasks_frozen(t, i);
    check_shared(t, i);
    if (info->task.max_changes >= 2)
        yaml_warn(&t->notes, check_at(i, "permanent", "max_changes"),
                  "when the answer changes, that and when it did may show; "
                  "no epsilon bounds this, only what the answers were");
    if (info->slots >= 2 && info->nano_task > CHECK_MUCH)
        yaml_warn(&t->notes,
                  raw->permanent != NULL ? check_at(i, "permanent", "renew")
                                         : check_at(i, "repeat", NULL),
                  "new coins in %" PRIu64 " slots: together they may tell "
                  "epsilon %.4g, and average out to the truth%s",
                  info->slots, (double)info->nano_task / HSY_NANO,
                  raw->permanent == NULL ? "; see permanent" : "");
}

/* As a device resolves it; digest tells tasks that ask the same. */
static void check_release(hsy_tasks *t, size_t i, uint8_t digest[HSY_DIGEST])
{
    hsy_release *r = malloc(hsy_release_size(&t->tasks[i]));
    hsy_error err = {0};
    hsy_release_info info;

    if (r == NULL) {
        t->notes.nomem = true;
        return;
    }
    if (hsy_release_init(r, &t->tasks[i], &err) == HSY_OK) {
        hsy_release_describe(r, &info);
        memcpy(digest, info.digest, HSY_DIGEST);
        check_remarks(t, i, &info);
        tasks_model_bound(t, i, &info);
    } else {
        yaml_wrong(&t->notes, check_field(t, i, err.field), "%s", err.msg);
    }
    free(r);
}

static void check_releases(hsy_tasks *t)
{
    uint8_t(*digests)[HSY_DIGEST] = calloc(t->ntasks + 1, HSY_DIGEST);

    if (digests == NULL) {
        t->notes.nomem = true;
        return;
    }
    for (size_t i = 0; i < t->ntasks && !t->notes.nomem; i++) {
        check_release(t, i, digests[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(t->tasks[k].source, t->tasks[i].source) == 0 &&
                memcmp(digests[k], digests[i], HSY_DIGEST) == 0)
                yaml_wrong(&t->notes, check_at(i, NULL, NULL),
                           "asks '%s' the same as task '%s': one of them is "
                           "enough",
                           t->tasks[i].source, t->tasks[k].id);
    }
    free(digests);
}

/* The rules of documents, which were not all said above. */
static void check_document(hsy_tasks *t)
{
    hsy_error err = {0};
    size_t len;

    if (hsy_document_encode(&t->head, NULL, 0, &len, t->tasks, t->ntasks,
                            &err) == HSY_OK)
        return;
    if (err.at >= 1 && err.at <= t->ntasks)
        yaml_wrong(&t->notes, check_field(t, (size_t)err.at - 1, err.field),
                   "%s", err.msg);
    else
        yaml_wrong(&t->notes,
                   check_at(YAML_NONE, check_field_name(err.field), NULL), "%s",
                   err.msg);
}

void tasks_check(hsy_tasks *t)
{
    const size_t n = t->file.tasks_count;

    check_head(t);
    tasks_parties(t);
    t->tasks = calloc(n + 1, sizeof *t->tasks);
    t->made = calloc(n + 1, sizeof *t->made);
    if (t->tasks == NULL || t->made == NULL) {
        t->notes.nomem = true;
        return;
    }
    t->ntasks = n;
    for (size_t i = 0; i < n && !t->notes.nomem; i++) {
        t->tasks[i] = (hsy_task){.other = HSY_TASK_CLOSED};
        check_names(t, i);
        tasks_numbers(t, i, 0);
        check_times(t, i);
        check_pace(t, i);
        tasks_model(t, i);
        tasks_scheme(t, i);
    }
    if (!t->notes.wrong && !t->notes.nomem)
        check_document(t);
    if (!t->notes.wrong && !t->notes.nomem)
        check_releases(t);
    if (!t->notes.wrong && !t->notes.nomem)
        tasks_document_bytes(t);
}
