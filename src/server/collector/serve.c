/*
 * serve.c - a collector from its start to its end.
 *
 * Threads are made after the sandbox was entered, so that all are in it.
 */
#define _GNU_SOURCE

#include "server/collector/serve.h"

#include "server/cluster/cluster.h"
#include "server/collector/copies.h"
#include "server/process/notify.h"
#include "server/process/sandbox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVE_WRITE_BYTES (1u << 20) /* of chunks written at a time */
#define SERVE_LOOK 1000000u          /* microseconds between looks at the day */
#define SERVE_LOOK_REHEARSAL 2000u
#define SERVE_BEATS 4u /* in the time in which one is wanted */

/* ---- What may be meant otherwise ----------------------------------------- */

/* What is no mistake, as the rest may come later, but serves nobody till then.
 */
static bool remind_asks(const struct roster *r, const char *task)
{
    for (size_t i = 0; r != NULL && i < roster_count(r); i++)
        if (strcmp(roster_at(r, i)->task.id, task) == 0)
            return true;
    return false;
}

/* Enrolment tokens under a wrong name leave the task open that was meant. */
static void serve_remind_tokens(struct collector *c)
{
    struct roster *r = engine_roster(c->engine);
    char task[HSY_TASK_ID + 1];

    for (size_t i = 0; tokens_task(c->tokens, i, task); i++)
        if (!remind_asks(r, task))
            log_event(c->log, LOG_NOTE, "tokens-of-no-task", "task=%s", task);
    roster_drop(r);
}

/* What is sealed for this collector or shuffler can be opened. */
static void remind_chain(struct collector *c, const hsy_document *doc)
{
    const bool shuffles = collector_shuffles(c);
    struct hop_public keys = {.nseal = 0};
    char task[HSY_TASK_ID + 1];

    if (c->hop != NULL)
        hop_public(c->hop, &keys);
    if (shuffles && !hop_places(doc, keys.sign).any)
        log_event(c->log, LOG_NOTE, "shuffler-not-in-document",
                  "document=%" PRIu64, doc->version);
    if (!shuffles && hop_keyless(doc, &keys, false, task))
        log_event(c->log, LOG_ERROR, "no-seal-key", "task=%s", task);
}

/* The list of documents that a shuffler signs. */
static void serve_note_document(struct collector *c, const hsy_document *doc)
{
    struct engine_status status;

    engine_status(c->engine, &status);
    if (collector_shuffles(c) && hop_loaded(c->hop, doc, status.day) != HSY_OK)
        log_event(c->log, LOG_ERROR, "documents-not-written",
                  "document=%" PRIu64, doc->version);
}

/* The document in force is the engine's, and was looked through by it. */
void serve_remind_document(struct collector *c)
{
    size_t len = 0;
    uint8_t *bytes = engine_document_hold(c->engine, &len);
    hsy_document doc;

    if (bytes != NULL && hsy_document_open(&doc, bytes, len, NULL) == HSY_OK) {
        if (gateway_unnamed(c->gateway, &doc))
            log_event(c->log, LOG_NOTE, "gateway-keys-not-in-document",
                      "document=%" PRIu64, doc.version);
        remind_chain(c, &doc);
        serve_note_document(c, &doc);
    }
    engine_document_drop(bytes);
}

/* What a node says to its databases is for nobody else. */
static void remind_databases(struct collector *c)
{
    for (size_t i = 0; config_many(&c->config) && c->config.storage[i] != NULL;
         i++) {
        const struct pg_place *place = cluster_place(c->counting, i);

        if (!pg_place_guarded(place))
            log_event(c->log, LOG_NOTE, "database-unguarded", "database=%s",
                      pg_place_name(place));
    }
}

/* All of it, at the start. */
static void serve_remind(struct collector *c)
{
    remind_databases(c);
    if (c->admin != NULL && !c->config.admin_open && !tokens_any(c->tokens))
        log_event(c->log, LOG_NOTE, "admin-without-tokens", "make-one-by=%s",
                  "hearsay-serve-token-add");
    serve_remind_tokens(c);
    serve_remind_document(c);
}

/* ---- Starting ------------------------------------------------------------ */

static const char *serve_or_none(const char *path)
{
    return path != NULL ? path : "";
}

/* File i of a list, which can be replaced while it runs. */
static const char *serve_key_file(char *const *files, size_t i)
{
    for (size_t k = 0; files != NULL && files[k] != NULL; k++)
        if (k == i)
            return files[k];
    return "";
}

/* Candidates are beside a file in their directory, whatever its name. */
static char *serve_inside(const char *directory)
{
    size_t room = directory != NULL ? strlen(directory) + 3 : 1;
    char *file = calloc(1, room);

    if (file != NULL && directory != NULL)
        snprintf(file, room, "%s/.", directory);
    return file;
}

/* Files that may be read again, "" for none; to be freed. NULL: out of memory.
 */
static const char **serve_readable(const struct collector *c,
                                   const char *candidates)
{
    const struct config *f = &c->config;
    const char *const own[] = {serve_or_none(c->config_path),
                               serve_or_none(f->document),
                               f->public_key,
                               serve_or_none(f->tls_cert),
                               serve_or_none(f->tls_key),
                               serve_key_file(f->gateway_keys, 0),
                               serve_key_file(f->gateway_keys, 1),
                               serve_or_none(f->sign_key),
                               serve_key_file(f->seal_keys, 0),
                               serve_key_file(f->seal_keys, 1),
                               serve_or_none(f->receipt_key),
                               candidates,
                               serve_or_none(f->rehearsal)};
    const size_t n = sizeof own / sizeof *own;
    size_t more = 0;
    const char **all;

    while (cluster_file(c->counting, more) != NULL)
        more++;
    all = calloc(n + more + 1, sizeof *all);
    if (all == NULL)
        return NULL;
    memcpy(all, own, sizeof own);
    for (size_t i = 0; i < more; i++)
        all[n + i] = cluster_file(c->counting, i);
    return all;
}

static hsy_status serve_enclose(struct collector *c, struct serve_trouble *t)
{
    const struct config *f = &c->config;
    const unsigned does =
        SANDBOX_KEEPS |
        (collector_shuffles(c) || config_many(f) ? SANDBOX_CONNECTS : 0) |
        (config_many(f) ? SANDBOX_ASKS : 0);
    char *public = sandbox_socket_place(f->listen);
    char *admin = sandbox_socket_place(f->admin);
    char *candidates = serve_inside(f->candidates);
    const char *writable[] = {serve_or_none(f->data), serve_or_none(f->backups),
                              public, admin, NULL};
    const char **readable =
        candidates != NULL ? serve_readable(c, candidates) : NULL;
    const struct sandbox_options o = {.does = does,
                                      .writable = writable,
                                      .readable = readable,
                                      .required =
                                          f->sandbox == CONFIG_REQUIRED};
    struct sandbox_result r = {0};
    hsy_status st = HSY_E_NOMEM;

    if (public != NULL && admin != NULL && readable != NULL)
        st = sandbox_enter(&o, &r, &t->err);
    free(public);
    free(admin);
    free(candidates);
    free(readable);
    if (st != HSY_OK)
        return serve_fail(t, st, "sandbox");
    log_event(c->log, r.landlock != 0 && r.seccomp ? LOG_DETAIL : LOG_NOTE,
              "sandbox", "landlock=%d seccomp=%s calls=%zu", r.landlock,
              r.seccomp ? "on" : "none", sandbox_calls(does));
    return HSY_OK;
}

static void serve_started(struct collector *c)
{
    struct watch_document doc;

    watch_document(c, &doc);
    log_event(c->log, LOG_NOTE, "started",
              "version=%s document=%" PRIu64 " tasks=%" PRIu32, HSY_VERSION,
              doc.version, doc.tasks);
}

static void serve_beat(void *ctx)
{
    const struct collector *c = ctx;

    notify_say(c->manager, "WATCHDOG=1");
}

/* As often as the service manager wants, and more. */
static hsy_status serve_pulse(struct collector *c, hsy_error *err)
{
    const uint64_t wanted = notify_watchdog();
    const struct watch_pulse how = {.micros = wanted / SERVE_BEATS,
                                    .beat = wanted != 0 ? serve_beat : NULL,
                                    .ctx = c};

    return watch_pulse_start(c, &how, err);
}

hsy_status serve_start(struct collector *c, struct serve_trouble *t)
{
    const struct workers_options o = {
        .waiting_bytes = c->config.waiting_bytes,
        .checkpoint_secs = (uint32_t)c->config.checkpoint_seconds,
        .write_bytes = SERVE_WRITE_BYTES,
        .now = serve_now,
        .look_micros =
            c->config.rehearsal != NULL ? SERVE_LOOK_REHEARSAL : SERVE_LOOK,
        .failed = serve_failed,
        .ctx = c};
    hsy_status st = HSY_OK;

    *t = (struct serve_trouble){.about = NULL};
    if (c->config.sandbox != CONFIG_OFF)
        st = serve_enclose(c, t);
    if (st == HSY_OK)
        st = c->counting->ops->start(c->counting, &o, &t->err);
    if (st == HSY_OK && c->hop != NULL)
        st = hop_start(c->hop, &t->err);
    if (st == HSY_OK && !collector_shuffles(c))
        st = history_start(&c->history, c, &t->err);
    if (st == HSY_OK && !collector_shuffles(c) && !config_many(&c->config))
        st = copies_start(&c->copies, c, &t->err);
    if (st == HSY_OK)
        st = listen_start(c->public, &t->err);
    if (st == HSY_OK && c->admin != NULL)
        st = listen_start(c->admin, &t->err);
    __atomic_store_n(&c->ready, st == HSY_OK, __ATOMIC_RELEASE);
    if (st == HSY_OK) {
        serve_started(c);
        serve_remind(c);
        watch_tick(c);
        st = serve_pulse(c, &t->err);
    }
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, t->about);
}

/* ---- While it runs ------------------------------------------------------- */

void serve_look(struct collector *c)
{
    struct engine_status status;
    hsy_error err = {0};
    bool changed = false;

    engine_status(c->engine, &status);
    tokens_today(c->tokens, status.day);
    if (tokens_refresh(c->tokens, &changed, &err) != HSY_OK) {
        log_failure(c->log, "tokens-kept", &err);
    } else if (changed) {
        log_event(c->log, LOG_NOTE, "tokens-read", "%s", "");
        serve_enrols(c, NULL);
        serve_remind_tokens(c);
    }
    watch_tick(c);
}

/* ---- The end ------------------------------------------------------------- */

hsy_status serve_stop(struct collector *c, hsy_error *err)
{
    const uint32_t seconds = (uint32_t)c->config.drain_seconds;

    __atomic_store_n(&c->ready, false, __ATOMIC_RELEASE);
    watch_pulse_stop(c->watch);
    listen_drain(c->public, seconds);
    if (c->admin != NULL)
        listen_drain(c->admin, seconds);
    copies_stop(c->copies);
    c->copies = NULL;
    history_stop(c->history);
    c->history = NULL;
    if (c->hop != NULL)
        hop_stop(c->hop);
    return c->counting->ops->stop(c->counting, err);
}

void serve_close(struct collector *c)
{
    hsy_error err;

    watch_pulse_stop(c->watch);
    if (c->public != NULL)
        listen_drain(c->public, 0); /* handlers use what is closed below */
    if (c->admin != NULL)
        listen_drain(c->admin, 0);
    copies_stop(c->copies);
    history_stop(c->history);
    if (c->hop != NULL)
        hop_stop(c->hop);
    if (c->counting != NULL)
        (void)c->counting->ops->stop(c->counting, &err);
    listen_close(c->public);
    listen_close(c->admin);
    tokens_close(c->tokens);
    gateway_free(c->gateway);
    hop_close(c->hop);
    counting_close(c->counting);
    if (c->backups != -1)
        close(c->backups);
    watch_close(c->watch);
    log_close(c->log);
    pthread_mutex_destroy(&c->documents);
    pthread_mutex_destroy(&c->copying);
    config_clear(&c->config);
}
