/*
 * serve.c - a collector from its configuration to its end.
 *
 * What needs a right that the sandbox takes away, and what may fail for a
 * reason the operator must hear of, is done by serve_open; threads are made
 * after the sandbox was entered, so that all are in it.
 */
#define _GNU_SOURCE

#include "server/collector/serve.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "host/base/json.h"
#include "host/tasks/keys.h"
#include "server/cluster/cluster.h"
#include "server/collector/copies.h"
#include "server/process/notify.h"
#include "server/process/resources.h"
#include "server/process/sandbox.h"
#include "server/store/rehearsal.h"

#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SERVE_WRITE_BYTES (1u << 20)  /* of chunks written at a time */
#define SERVE_FILES 256u              /* besides those of listeners: runs */
#define SERVE_LOOP_FILES 72u          /* of a loop, besides its connections */
#define SERVE_CONNECTIONS 8u          /* of a listener, at least */
#define SERVE_SEND_PUBLIC (32u << 10) /* bytes that wait to be read */
#define SERVE_SEND_ADMIN (128u << 10)
#define SERVE_LOOK 1000000u /* microseconds between looks at the day */
#define SERVE_LOOK_REHEARSAL 2000u
#define SERVE_BEATS 4u            /* in the time in which one is wanted */
#define SERVE_KEPT_FREE (1 << 19) /* bytes that a thread may keep */

/* ---- Opening ------------------------------------------------------------- */

static unsigned serve_loops(const struct config *f)
{
    return f->loops != 0 ? (unsigned)f->loops : resources_cores();
}

/* As many descriptors as connections need, or as the system allows. */
static void serve_descriptors(struct collector *c)
{
    const uint64_t admin = c->config.admin != NULL; /* it has one loop */
    const uint64_t spare =
        SERVE_FILES + SERVE_LOOP_FILES * (serve_loops(&c->config) + admin);
    const uint64_t wanted = (1 + admin) * c->config.connections + spare;
    const uint64_t got = resources_descriptors(wanted);

    c->connections = (unsigned)c->config.connections;
    if (got == wanted)
        return;
    c->connections = SERVE_CONNECTIONS;
    if (got > spare + (1 + admin) * SERVE_CONNECTIONS)
        c->connections = (unsigned)((got - spare) / (1 + admin));
    log_event(c->log, LOG_NOTE, "descriptors", "connections=%u",
              c->connections);
}

/* Directories by their full names: nobody can ask later where we are. */
static void serve_whole_name(char **path)
{
    char *whole = *path != NULL ? realpath(*path, NULL) : NULL;

    if (whole != NULL) {
        free(*path);
        *path = whole;
    }
}

/* The clock must be there before anything is counted by it. */
static hsy_status serve_open_clock(struct collector *c, struct serve_trouble *t)
{
    hsy_status st;

    if (c->config.rehearsal == NULL)
        return HSY_OK;
    serve_whole_name(&c->config.rehearsal);
    st = rehearsal_read(&c->rehearsed[0], c->config.rehearsal, &t->err);
    if (st != HSY_OK)
        return serve_fail(t, st, c->config.rehearsal);
    c->rehearsed[1] = c->rehearsed[0];
    log_event(c->log, LOG_NOTE, "rehearsal", "clock=%s", c->config.rehearsal);
    return HSY_OK;
}

void serve_enrols(struct collector *c, const struct config *f)
{
    char task[HSY_TASK_ID + 1];

    if (f != NULL)
        c->enrols = f->enrolled != NULL && f->enrolled[0] != NULL;
    engine_enrols(c->engine, c->enrols || tokens_task(c->tokens, 0, task));
}

static hsy_status serve_open_store(struct collector *c, struct serve_trouble *t)
{
    const struct config *f = &c->config;
    const struct engine_options o = {.size = sizeof o,
                                     .ids_epoch = f->ids_epoch,
                                     .fold_bytes = f->fold_bytes,
                                     .tally_bytes = f->tally_bytes,
                                     .day_words = f->day_words,
                                     .keep_days = (uint32_t)f->keep_days,
                                     .grace_days = (uint32_t)f->grace_days,
                                     .clock_days = (uint32_t)f->clock_days,
                                     .accept_clock = c->accept_clock,
                                     .driven_clock = f->rehearsal != NULL};
    hsy_status st;

    if (f->data != NULL)
        mkdir(f->data, S_IRWXU); /* else opening it says why not */
    serve_whole_name(&c->config.data);
    serve_whole_name(&c->config.backups);
    if (config_many(f))
        return serve_open_cluster(c, &o, t);
    st = counting_local_open(&c->counting, f->data, f->rehearsal != NULL, &o,
                             &t->err);
    if (st == HSY_OK) {
        c->engine = c->counting->view;
        st = tokens_open(&c->tokens, tokens_book(f->data), &t->err);
    }
    if (st == HSY_OK)
        st = tokens_want(c->tokens, f->enrolled, &t->err);
    if (st == HSY_OK)
        serve_enrols(c, f);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, f->data);
}

static hsy_status serve_hold_backups(struct collector *c,
                                     struct serve_trouble *t)
{
    const struct config *f = &c->config;
    const hsy_status st =
        config_many(f) ? HSY_OK : copies_hold(&c->backups, c, &t->err);

    return st == HSY_OK
               ? HSY_OK
               : serve_fail(t, st, f->backups != NULL ? f->backups : f->data);
}

hsy_status serve_document(struct collector *c, const char *path, hsy_error *err)
{
    uint8_t *bytes;
    size_t len;
    hsy_status st = file_whole(&bytes, &len, path, HSY_DOCUMENT_MAX, err);
    bool again;

    if (st != HSY_OK)
        return st;
    st = api_take_document(c, bytes, len, &again, err);
    free(bytes);
    if (st == HSY_E_OLD) {
        log_event(c->log, LOG_NOTE, "document-kept", "file=older");
        st = HSY_OK;
    }
    return st;
}

static hsy_status serve_open_tasks(struct collector *c, struct serve_trouble *t)
{
    const struct config *f = &c->config;
    hsy_status st = keys_public(c->sign_key, f->public_key, &t->err);

    if (st != HSY_OK)
        return serve_fail(t, st, f->public_key);
    if (f->document == NULL)
        return HSY_OK;
    st = serve_document(c, f->document, &t->err);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, f->document);
}

static hsy_status serve_open_gateway(struct collector *c,
                                     struct serve_trouble *t)
{
    const char *about = NULL;
    hsy_status st = gateway_new(&c->gateway, &t->err);

    if (st == HSY_OK)
        st = gateway_take_keys(c->gateway, c->config.gateway_keys, &about,
                               &t->err);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, about);
}

/* ---- Listeners ----------------------------------------------------------- */

static enum listen_role serve_role(void *ctx, const char *token)
{
    struct collector *c = ctx;

    return tokens_role(c->tokens, token);
}

static struct listen_options serve_options(struct collector *c)
{
    const struct config *f = &c->config;

    return (struct listen_options){.size = sizeof(struct listen_options),
                                   .ctx = c,
                                   .loops = serve_loops(f),
                                   .connections = c->connections,
                                   .address_connections =
                                       (unsigned)f->address_connections,
                                   .exempt = (const char *const *)f->proxies,
                                   .head_seconds = (uint32_t)f->head_seconds,
                                   .body_seconds = (uint32_t)f->body_seconds,
                                   .idle_seconds = (uint32_t)f->idle_seconds,
                                   .body_bytes = f->body_bytes,
                                   .inflight_bytes = f->inflight_bytes,
                                   .tls12 = f->tls12};
}

static hsy_status serve_open_public(struct collector *c,
                                    const struct pem_pair *tls,
                                    struct listen_handed *handed,
                                    struct serve_trouble *t)
{
    struct listen_options o = serve_options(c);
    hsy_status st;

    o.address = c->config.listen;
    o.send_bytes = SERVE_SEND_PUBLIC;
    o.handed = handed;
    o.routes = api_public;
    o.nroutes = api_public_count;
    o.tls_cert = (const char *)tls->cert;
    o.tls_key = (const char *)tls->key;
    o.cors = (const char *const *)c->config.cors;
    st = listen_open(&c->public, &o, &t->err);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, c->config.listen);
}

/* One loop: what an operator asks is little, and what it costs is elsewhere.
 * TLS where others could listen in. */
static hsy_status serve_open_admin(struct collector *c,
                                   const struct pem_pair *tls,
                                   struct listen_handed *handed,
                                   struct serve_trouble *t)
{
    struct listen_options o = serve_options(c);
    const bool near =
        c->config.admin != NULL && config_loopback(c->config.admin);
    hsy_status st;

    if (c->config.admin == NULL)
        return HSY_OK;
    o.address = c->config.admin;
    o.send_bytes = SERVE_SEND_ADMIN;
    o.handed = handed;
    o.routes = collector_shuffles(c) ? api_shuffler_admin : api_admin;
    o.nroutes =
        collector_shuffles(c) ? api_shuffler_admin_count : api_admin_count;
    o.loops = 1;
    o.body_bytes = 0; /* its routes say how long a tally may be */
    o.tls_cert = near ? NULL : (const char *)tls->cert;
    o.tls_key = near ? NULL : (const char *)tls->key;
    o.role = c->config.admin_open ? NULL : serve_role;
    st = listen_open(&c->admin, &o, &t->err);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, c->config.admin);
}

static hsy_status serve_stray(struct serve_trouble *t, int fd)
{
    const int used = snprintf(t->text, sizeof t->text, "LISTEN_FDS: ");

    listen_handed_name(t->text + used, sizeof t->text - (size_t)used, fd);
    return serve_fail(t,
                      host_fail(&t->err, HSY_E_RANGE, HSY_FIELD_NONE,
                                "a socket was handed over whose address is "
                                "neither 'listen' nor 'admin'"),
                      t->text);
}

static hsy_status serve_open_listeners(struct collector *c,
                                       const struct pem_pair *tls,
                                       struct serve_trouble *t)
{
    struct listen_handed handed;
    hsy_status st;

    notify_handed(&handed);
    st = serve_open_public(c, tls, &handed, t);
    if (st == HSY_OK)
        st = serve_open_admin(c, tls, &handed, t);
    for (size_t i = 0; st == HSY_OK && i < handed.n; i++)
        if (handed.fd[i] != -1)
            st = serve_stray(t, handed.fd[i]);
    return st;
}

/* Left alone glibc comes to keep up to 64 MiB a thread (malloc_trim or not). */
static void serve_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, SERVE_KEPT_FREE);
    mallopt(M_TRIM_THRESHOLD, SERVE_KEPT_FREE);
}

hsy_status serve_open(struct collector *c, struct serve_trouble *t)
{
    struct pem_pair tls = {.cert = NULL};
    hsy_status st;

    *t = (struct serve_trouble){.about = NULL};
    serve_memory();
    c->backups = -1;
    pthread_mutex_init(&c->documents, NULL);
    pthread_mutex_init(&c->copying, NULL);
    c->log = log_open(stderr, c->config.log_json,
                      (enum log_level)c->config.log_level);
    if (c->log == NULL)
        return serve_fail(t, HSY_E_NOMEM, NULL);
    serve_descriptors(c);
    tzset();             /* these two read files that will be out of reach */
    json_object_seed(0); /* strangers do not choose where their keys go */
    st = serve_directories(&c->config, t);
    if (st == HSY_OK)
        st = serve_open_clock(c, t);
    if (st == HSY_OK)
        st = serve_open_store(c, t);
    if (st == HSY_OK)
        st = serve_hold_backups(c, t);
    if (st == HSY_OK)
        st = watch_open(&c->watch, &c->config, &t->err);
    if (st == HSY_OK)
        st = serve_open_tasks(c, t);
    if (st == HSY_OK)
        st = serve_open_gateway(c, t);
    if (st == HSY_OK)
        st = serve_open_hop(c, t);
    if (st == HSY_OK)
        st = serve_read_tls(&tls, &c->config, t);
    if (st == HSY_OK)
        st = serve_open_listeners(c, &tls, t);
    pem_forget(&tls);
    return st;
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
    const struct sandbox_options o = {.size = sizeof o,
                                      .does = does,
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

uint64_t serve_now(void *ctx)
{
    struct collector *c = ctx;

    return serve_time(c, &c->rehearsed[0]);
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
        .size = sizeof o,
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
        api_tell_status(c); /* its readers are asked for their tokens */
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
