/* api_operate.c - tallies in and out, the document, a backup. */
#include "server/collector/api/api.h"

#include "host/analysis/analysis.h"
#include "host/format/format.h"
#include "server/collector/copies.h"

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

/* Whether these are the bytes of the document in force. */
static bool operate_in_force(struct collector *c, const uint8_t *bytes,
                             size_t len)
{
    size_t is_len = 0;
    uint8_t *is = engine_document_hold(c->engine, &is_len);
    const bool same =
        is != NULL && is_len == len && memcmp(is, bytes, len) == 0;

    engine_document_drop(is);
    return same;
}

void api_put_document(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    size_t len;
    const uint8_t *bytes = request_body(q, &len);
    const bool again = operate_in_force(c, bytes, len);
    hsy_error err = {0};
    hsy_document doc;
    struct put p;

    if (api_take_document(c, bytes, len, &err) != HSY_OK) {
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
