/*
 * serve_open.c - a collector from its configuration to what it needs to serve.
 *
 * All that needs a right that the sandbox takes away, and all that may fail for
 * a reason the operator must hear of: files, store, databases, addresses.
 */
#define _GNU_SOURCE

#include "server/collector/serve.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "host/tasks/keys.h"
#include "server/cluster/cluster.h"
#include "server/cluster/shown_many.h"
#include "server/cluster/tokens_many.h"
#include "server/collector/copies.h"
#include "server/process/notify.h"
#include "server/process/resources.h"
#include "server/store/rehearsal.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SERVE_FILES 256u              /* besides those of listeners: runs */
#define SERVE_LOOP_FILES 72u          /* of a loop, besides its connections */
#define SERVE_CONNECTIONS 8u          /* of a listener, at least */
#define SERVE_SEND_PUBLIC (32u << 10) /* bytes that wait to be read */
#define SERVE_SEND_ADMIN (128u << 10)
#define SERVE_KEPT_FREE (1 << 19) /* bytes that a thread may keep */
#define SERVE_MIX 1000u           /* milliseconds between looks at batches */
#define SERVE_MIX_REHEARSAL 20u

/* ---- What it is given ---------------------------------------------------- */

hsy_status serve_fail(struct serve_trouble *t, hsy_status st, const char *about)
{
    t->number = st == HSY_E_IO ? errno : 0;
    t->about = about;
    return st;
}

hsy_status serve_directories(const struct config *f, struct serve_trouble *t)
{
    const char *const all[] = {f->backups, f->candidates};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        DIR *there = all[i] != NULL ? opendir(all[i]) : NULL;

        if (there != NULL)
            closedir(there);
        else if (all[i] != NULL)
            return serve_fail(t, HSY_E_IO, all[i]);
    }
    return HSY_OK;
}

hsy_status serve_read_tls(struct pem_pair *tls, const struct config *f,
                          struct serve_trouble *t)
{
    const char *about = NULL;
    const hsy_status st =
        pem_read(tls, f->tls_cert, f->tls_key, &about, &t->err);

    return st == HSY_OK ? HSY_OK : serve_fail(t, st, about);
}

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

/* ---- The clock ----------------------------------------------------------- */

/* A clock file that cannot be read, while somebody writes it, stands still:
 * the real time is never taken for a rehearsal's. */
static uint64_t serve_time(const struct collector *c, uint64_t *rehearsed)
{
    const time_t now = time(NULL);
    uint64_t read;

    if (c->config.rehearsal == NULL)
        return now > 0 ? (uint64_t)now : 0;
    if (rehearsal_read(&read, c->config.rehearsal, NULL) == HSY_OK)
        *rehearsed = read;
    return *rehearsed;
}

uint64_t serve_now(void *ctx)
{
    struct collector *c = ctx;

    return serve_time(c, &c->rehearsed[0]);
}

static uint64_t serve_hop_now(void *ctx)
{
    struct collector *c = ctx;

    return serve_time(c, &c->rehearsed[1]);
}

void serve_failed(void *ctx, const hsy_error *err)
{
    struct collector *c = ctx;

    log_failure(c->log, "store-failed", err);
    _exit(1);
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

/* ---- The store ----------------------------------------------------------- */

void serve_enrols(struct collector *c, const struct config *f)
{
    char task[HSY_TASK_ID + 1];

    if (f != NULL)
        c->enrols = f->enrolled != NULL && f->enrolled[0] != NULL;
    engine_enrols(c->engine, c->enrols || tokens_task(c->tokens, 0, task));
}

/* An event in the log; any thread. */
static void serve_cluster_say(void *ctx, const char *event, const char *text)
{
    const struct collector *c = ctx;

    log_failure_about(c->log, event, "", &(hsy_error){.msg = text});
}

static bool serve_cluster_enrols(void *ctx, const char *task)
{
    const struct collector *c = ctx;
    uint8_t hash[16];
    uint32_t quota;

    return c->tokens != NULL &&
           tokens_enrolled(c->tokens, task, NULL, hash, &quota) != TOKENS_OPEN;
}

/* The host and where it listens: two nodes of one machine are two. */
static void serve_node(char name[CLUSTER_NODE], const struct config *f)
{
    char host[HOST_NAME_MAX + 1] = "node";

    gethostname(host, sizeof host - 1);
    if (f->node != NULL)
        snprintf(name, CLUSTER_NODE, "%s", f->node);
    else
        snprintf(name, CLUSTER_NODE, "%.30s %.30s", host, f->listen);
}

/* What is wrong, and at which database: its name has no password. */
hsy_status serve_cluster_fail(struct serve_trouble *t, hsy_status st,
                              const char *about, const char *reason)
{
    if (about == NULL)
        about = "storage";
    if (reason[0] != '\0')
        snprintf(t->text, sizeof t->text, "%.80s: %.160s", about, reason);
    else
        snprintf(t->text, sizeof t->text, "%.200s", about);
    return serve_fail(t, st, t->text);
}

/* The databases of a cluster, where the configuration has 'storage'. */
static hsy_status serve_open_cluster(struct collector *c,
                                     const struct engine_options *engine,
                                     struct serve_trouble *t)
{
    const struct config *f = &c->config;
    char node[CLUSTER_NODE], reason[PG_REASON] = "";
    const struct cluster_options o = {.storage = f->storage,
                                      .node = node,
                                      .rehearsal = f->rehearsal != NULL,
                                      .now = serve_now,
                                      .waiting_bytes = f->waiting_bytes,
                                      .keep_days = f->keep_days,
                                      .enrols = serve_cluster_enrols,
                                      .say = serve_cluster_say,
                                      .ctx = c};
    struct tokens_keep *tokens = NULL;
    const char *about = NULL;
    hsy_status st;

    serve_node(node, f);
    st = cluster_open(&c->counting, &o, engine, &about, reason, &t->err);
    if (st == HSY_OK) {
        c->engine = c->counting->view;
        st = shown_many_open(&c->shown_keep, cluster_place(c->counting, 0),
                             &t->err);
    }
    if (st == HSY_OK)
        st = tokens_many_open(&tokens, cluster_place(c->counting, 0), &t->err);
    if (st == HSY_OK)
        st = tokens_open(&c->tokens, tokens, &t->err);
    if (st == HSY_OK)
        st = tokens_want(c->tokens, f->enrolled, &t->err);
    if (st == HSY_OK)
        serve_enrols(c, f);
    return st == HSY_OK ? HSY_OK : serve_cluster_fail(t, st, about, reason);
}

static hsy_status serve_open_store(struct collector *c, struct serve_trouble *t)
{
    const struct config *f = &c->config;
    const struct engine_options o = {.ids_epoch = f->ids_epoch,
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

struct hop_files serve_hop_files(const struct config *f)
{
    return (struct hop_files){f->sign_key, f->seal_keys, f->receipt_key};
}

/* Batches of shufflers, if the configuration has keys for them. */
static hsy_status serve_open_hop(struct collector *c, struct serve_trouble *t)
{
    const struct config *f = &c->config;
    const struct hop_options o = {
        .size = sizeof o,
        .files = serve_hop_files(f),
        .next = f->next,
        .next_ca = f->next_ca,
        .directory = f->data,
        .store = counting_store(c->counting),
        .counting = c->counting,
        .log = c->log,
        .now = serve_hop_now,
        .look_millis = f->rehearsal != NULL ? SERVE_MIX_REHEARSAL : SERVE_MIX,
        .failed = serve_failed,
        .ctx = c};
    const char *about = NULL;
    hsy_status st;

    if (f->sign_key == NULL)
        return HSY_OK;
    st = hop_open(&c->hop, &o, &about, &t->err);
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
