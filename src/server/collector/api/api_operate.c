/*
 * api_operate.c - tallies in and out, the document, a backup, what is let go.
 *
 * A signed document comes into force at the start, by a reload, or by
 * PUT /v1/document.
 */
#include "server/collector/api/api.h"

#include "host/analysis/analysis.h"
#include "host/base/host_fail.h"
#include "host/format/format.h"
#include "host/tasks/task_cost.h"
#include "server/collector/copies.h"
#include "server/shuffle/hops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tallies ------------------------------------------------------------- */

static hsy_status operate_file(uint8_t **bytes, size_t *len,
                               const struct roster_entry *e, int64_t *words,
                               const struct engine_rounds *of)
{
    struct output *out;
    hsy_tally tally;
    hsy_scheme_info info;
    hsy_status st = output_memory(&out);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(e->scheme, &info);
    analysis_view(&tally, &info, words);
    st = container_put_tally(
        out, e->scheme, e->task.labels, e->task.labels_len, &tally,
        of->rounds.reports == hsy_tally_reports(&tally) ? &of->rounds : NULL,
        &of->batches);
    if (st == HSY_OK)
        return output_take(out, bytes, len);
    output_abort(out);
    return st;
}

/* Content-Disposition: a name to save it under. */
static void operate_name(struct request *q, const struct roster_entry *e)
{
    char text[HSY_TASK_ID + 64];

    snprintf(text, sizeof text, "attachment; filename=\"%s-%" PRIu32 ".tally\"",
             e->task.id, e->task.release);
    request_set(q, "Content-Disposition", text);
}

/* The tally as it is shown, or the live one. */
static hsy_status operate_copy(int64_t **words, struct engine_rounds *of,
                               struct collector *c,
                               const struct roster_entry *e, bool live,
                               hsy_error *err)
{
    struct figure_span span;
    hsy_status st;

    if (live)
        return history_live(words, of, c, e, err);
    history_renew(c, e);
    st = history_enough(c, e, err);
    if (st == HSY_OK)
        st = history_copy(words, of, &span, c,
                          &(struct history_ask){.entry = e}, err);
    return st;
}

static void operate_give(struct collector *c, struct request *q, bool live)
{
    static const char *const known[] = {"release", NULL};
    const struct roster_entry *e;
    struct roster *roster = api_kept(c, q, "release", &e);
    struct engine_rounds of = {0};
    int64_t *words = NULL;
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_error err = {.status = HSY_E_NOMEM};

    if (roster == NULL)
        return;
    if (!request_query_only(q, known)) {
        api_problem(q, 400, "Not possible as asked",
                    "what can be said, once, is release: a tally has all days");
        roster_drop(roster);
        return;
    }
    if (operate_copy(&words, &of, c, e, live, &err) == HSY_OK)
        err.status = operate_file(&bytes, &len, e, words, &of);
    rounds_clear(&of.rounds);
    if (bytes != NULL) {
        request_guard(q, NULL);
        operate_name(q, e);
        request_answer(q, 200, "application/octet-stream", bytes, len, free);
    } else {
        api_failed(q, &err);
    }
    free(words);
    roster_drop(roster);
}

void api_tally(struct request *q, void *ctx)
{
    operate_give(ctx, q, false);
}

void api_live(struct request *q, void *ctx)
{
    operate_give(ctx, q, true);
}

void api_merge(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    const struct roster_entry *e;
    struct roster *roster = api_kept(c, q, "release", &e);
    const uint8_t *bytes;
    size_t len;
    hsy_error err = {0};
    struct put p;

    if (roster == NULL)
        return;
    bytes = request_body(q, &len);
    if (c->counting->ops->merge(c->counting, e->number, bytes, len, &err) !=
        HSY_OK) {
        if (err.status == HSY_E_REFUSED && err.field == HSY_FIELD_ROUNDS)
            api_problem(q, 409, "Rounds are missing", "%s", err.msg);
        else if (err.status == HSY_E_REFUSED)
            api_problem(q, 409, "Merged before",
                        "this tally is counted already; nothing was added");
        else
            api_failed(q, &err);
    } else if (api_begin(q, &p)) {
        log_event(c->log, LOG_NOTE, "merged", "task=%s release=%" PRIu32,
                  e->task.id, e->task.release);
        put_word(&p, "task", e->task.id);
        put_count(&p, "release", e->task.release);
        put_count(&p, "reports", history_count(c, e->number).reports);
        api_answer(q, 200, &p);
    }
    roster_drop(roster);
}

/* ---- The document -------------------------------------------------------- */

void api_document(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    size_t len = 0;
    uint8_t *bytes = engine_document_hold(c->engine, &len);

    if (bytes == NULL) {
        api_problem(q, 404, "No document", "no document is in force yet");
        return;
    }
    request_guard(q, NULL);
    request_answer(q, 200, "application/octet-stream", bytes, len,
                   engine_document_drop);
}

/* Why a document is not put in force; a task of it is named, as its number
 * means little to who wrote it. */
static void operate_refuse(struct request *q, const uint8_t *bytes, size_t len,
                           const hsy_error *err)
{
    hsy_document doc;
    hsy_task task;

    if (err->at != 0 && hsy_document_open(&doc, bytes, len, NULL) == HSY_OK &&
        err->at <= doc.tasks) {
        hsy_document_task(&doc, &task, (uint32_t)err->at - 1);
        api_failed_about(q, task.id,
                         &(hsy_error){.status = err->status, .msg = err->msg});
        return;
    }
    api_failed(q, err);
}

/* By the collector's key, or by the one that the document in force names for
 * later versions: as devices do. */
static bool operate_signed(const struct collector *c, const uint8_t *bytes,
                           size_t len, const hsy_document *old)
{
    static const uint8_t none[HSY_SIGN_KEY];
    const size_t n = len - HSY_SIGNATURE;

    return hsy_sign_verify(c->sign_key, bytes + n, bytes, n) ||
           (old != NULL && memcmp(old->next_key, none, sizeof none) != 0 &&
            hsy_sign_verify(old->next_key, bytes + n, bytes, n));
}

static hsy_status operate_check(const struct collector *c, const uint8_t *bytes,
                                size_t len, const uint8_t *old, size_t old_len,
                                hsy_error *err)
{
    hsy_document in_force, doc;
    const bool first =
        old == NULL || hsy_document_open(&in_force, old, old_len, NULL);
    hsy_status st = hsy_document_open(&doc, bytes, len, err);
    uint32_t task;

    if (st != HSY_OK)
        return st;
    if (!operate_signed(c, bytes, len, first ? NULL : &in_force))
        return host_fail(err, HSY_E_SIGNATURE, HSY_FIELD_NONE,
                         "not signed by the public key of this collector");
    if (!hops_agree(&doc, &task))
        return host_fail_at(err, HSY_E_SIGNATURE, HSY_FIELD_STATEMENT,
                            "a shuffler's statement is not signed by it",
                            HSY_UNIT_TASK, task + 1);
    if (c->config.next != NULL &&
        !hops_in_time(&doc, c->config.grace_days, &task))
        return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_MAX_WAIT, HOPS_TOO_LATE,
                            HSY_UNIT_TASK, task + 1);
    return task_model_check(&doc, err);
}

/* Whether the document in force has a version that was signed twice, and is
 * signed neither by the collector's key nor by the one that it names: its data
 * directory was another's. */
static bool operate_strange(const struct collector *c, const uint8_t *old,
                            size_t old_len, const uint8_t *bytes, size_t len)
{
    hsy_document in_force, doc;

    return hsy_document_open(&in_force, old, old_len, NULL) == HSY_OK &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK &&
           in_force.version == doc.version &&
           !operate_signed(c, old, old_len, &in_force);
}

hsy_status api_take_document(struct collector *c, const uint8_t *bytes,
                             size_t len, bool *again, hsy_error *err)
{
    size_t old_len = 0;
    uint8_t *old;
    hsy_status st;

    pthread_mutex_lock(&c->documents);
    old = engine_document_hold(c->engine, &old_len);
    *again = old != NULL && old_len == len && memcmp(old, bytes, len) == 0;
    st = operate_check(c, bytes, len, old, old_len, err);
    if (st == HSY_OK && !*again)
        st = c->counting->ops->document(c->counting, bytes, len, err);
    if (st == HSY_E_OLD && operate_strange(c, old, old_len, bytes, len))
        st = host_fail(err, HSY_E_SIGNATURE, HSY_FIELD_VERSION,
                       "the document in force has this version and is signed "
                       "by another key: use another data directory, or a "
                       "higher version");
    engine_document_drop(old);
    pthread_mutex_unlock(&c->documents);
    return st;
}

void api_put_document(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    size_t len;
    const uint8_t *bytes = request_body(q, &len);
    hsy_error err = {0};
    hsy_document doc;
    struct put p;
    bool again;

    if (api_take_document(c, bytes, len, &again, &err) != HSY_OK) {
        operate_refuse(q, bytes, len, &err);
    } else if (hsy_document_open(&doc, bytes, len, &err) != HSY_OK) {
        api_failed(q, &err);
    } else if (api_begin(q, &p)) {
        if (!again) {
            log_event(c->log, LOG_NOTE, "document",
                      "version=%" PRIu64 " tasks=%u", doc.version, doc.tasks);
            serve_remind_document(c);
        }
        put_count(&p, "version", doc.version);
        put_count(&p, "tasks", doc.tasks);
        api_answer(q, 200, &p);
    }
}

/* ---- Backup -------------------------------------------------------------- */

void api_backup(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    char path[COPIES_PATH];
    hsy_error err = {0};
    struct put p;
    const hsy_status st = copies_make(c, false, path, &err);

    if (st == HSY_E_REFUSED) {
        api_problem(q, 409,
                    config_many(&c->config) ? "Not here" : "No name left", "%s",
                    err.msg);
    } else if (st != HSY_OK) {
        api_failed(q, &err);
    } else if (api_begin(q, &p)) {
        put_word(&p, "directory", strrchr(path, '/') + 1);
        api_answer(q, 201, &p);
    }
}

/* ---- What is let go ------------------------------------------------------ */

struct operate_retire {
    char task[HSY_TASK_ID + 1];
    uint32_t release; /* 0: all */
    uint32_t before;
    uint64_t n;
};

/* A task, or what was over before a day; false after an answer. */
static bool operate_retire(struct collector *c, struct request *q,
                           struct operate_retire *r)
{
    const bool task = r->before == 0;
    hsy_error err = {0};
    const hsy_status st =
        c->counting->ops->retire(c->counting, task ? r->task : NULL,
                                 task ? r->release : r->before, &r->n, &err);

    if (st == HSY_OK) {
        if (shown_forget(history_shown(c->history), r->before, &err) != HSY_OK)
            log_failure(c->log, "snapshot", &err);
        return true;
    }
    if (err.status == HSY_E_REFUSED)
        api_problem(q, 409, "It is asked", "%s", err.msg);
    else if (err.status == HSY_E_RANGE)
        api_problem(q, 409, "Days are open", "%s", err.msg);
    else
        api_failed(q, &err);
    return false;
}

void api_retire(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    const struct roster_entry *e;
    struct roster *roster = api_entry(c, q, "release", &e);
    struct operate_retire r = {.release = 0};
    struct put p;

    if (roster == NULL)
        return;
    snprintf(r.task, sizeof r.task, "%s", e->task.id);
    if (request_query(q, "release") != NULL)
        r.release = e->task.release;
    roster_drop(roster);
    if (!operate_retire(c, q, &r) || !api_begin(q, &p))
        return;
    log_event(c->log, LOG_NOTE, "retired", "task=%s releases=%" PRIu64, r.task,
              r.n);
    put_word(&p, "task", r.task);
    put_count(&p, "retired", r.n);
    api_answer(q, 200, &p);
}

void api_purge(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct operate_retire r = {.before = 0};
    char day[DAY_TEXT];
    struct put p;

    if (!api_day(q, "before", &r.before))
        return;
    if (r.before == 0) {
        api_problem(q, 400, "Not possible as asked",
                    "before: a day is wanted, as 2026-11-16");
        return;
    }
    if (!operate_retire(c, q, &r) || !api_begin(q, &p))
        return;
    day_text(day, r.before);
    log_event(c->log, LOG_NOTE, "purged", "before=%s releases=%" PRIu64, day,
              r.n);
    put_day(&p, "before", r.before);
    put_count(&p, "retired", r.n);
    api_answer(q, 200, &p);
}
