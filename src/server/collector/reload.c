/*
 * reload.c - what may change while a collector runs.
 *
 * Each part is read and checked before it takes the place of the old; what is
 * broken is logged and left as it was. Other threads read the configuration, so
 * only fields that they do not look at are put in the place of old ones.
 */
#define _GNU_SOURCE

#include "server/collector/serve.h"

#include "host/tasks/keys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A directory that is called by another name is not another one. */
static void reload_same_place(char *const *now, char **next)
{
    struct stat a, b;
    char *copy;

    if (*now == NULL || *next == NULL || stat(*now, &a) == -1 ||
        stat(*next, &b) == -1 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return;
    copy = strdup(*now);
    if (copy != NULL) {
        free(*next);
        *next = copy;
    }
}

/* Fields that only a restart changes are named, and kept. */
static void reload_stuck(struct collector *c, const struct config *next)
{
    const char *key, *otherwise;

    for (size_t i = 0; (key = config_key(i, &otherwise)) != NULL; i++)
        if (config_stuck(i, &c->config, next))
            log_event(c->log, LOG_NOTE, "reload-needs-restart", "key=%s", key);
}

static void reload_swap(char **a, char **b)
{
    char *held = *a;

    *a = *b;
    *b = held;
}

/* Key and document come into force together, or neither. */
static bool reload_tasks(struct collector *c, struct config *next)
{
    uint8_t key[HSY_SIGN_KEY], old[HSY_SIGN_KEY];
    hsy_error err = {0};
    hsy_status st = keys_public(key, next->public_key, &err);

    memcpy(old, c->sign_key, sizeof old);
    if (st == HSY_OK) {
        pthread_mutex_lock(&c->documents);
        memcpy(c->sign_key, key, sizeof key);
        pthread_mutex_unlock(&c->documents);
        if (next->document != NULL)
            st = serve_document(c, next->document, &err);
    }
    if (st != HSY_OK) {
        pthread_mutex_lock(&c->documents);
        memcpy(c->sign_key, old, sizeof old);
        pthread_mutex_unlock(&c->documents);
        log_failure(c->log, "reload-document-kept", &err);
        return false;
    }
    reload_swap(&c->config.public_key, &next->public_key);
    reload_swap(&c->config.document, &next->document);
    return true;
}

static bool reload_tokens(struct collector *c, const struct config *next)
{
    hsy_error err = {0};

    if (tokens_want(c->tokens, next->enrolled, &err) == HSY_OK &&
        tokens_refresh(c->tokens, NULL, &err) == HSY_OK) {
        serve_enrols(c, next);
        return true;
    }
    log_failure(c->log, "reload-tokens-kept", &err);
    return false;
}

/* A new certificate stands in the files of the old. */
static bool reload_tls(struct collector *c)
{
    struct serve_trouble t = {.about = NULL};
    const bool admin = c->admin != NULL && !config_loopback(c->config.admin);
    struct pem_pair tls;
    hsy_status st;

    if (c->config.tls_cert == NULL)
        return true;
    st = serve_read_tls(&tls, &c->config, &t);
    if (st == HSY_OK)
        st = listen_certify(c->public, (char *)tls.cert, (char *)tls.key,
                            &t.err);
    if (st == HSY_OK && admin)
        st =
            listen_certify(c->admin, (char *)tls.cert, (char *)tls.key, &t.err);
    pem_forget(&tls);
    if (st != HSY_OK)
        log_failure_about(c->log, "reload-certificate-kept",
                          t.about != NULL ? t.about : "", &t.err);
    return st == HSY_OK;
}

/* A new key stands beside the old, in other files: both are named for a while.
 */
static bool reload_gateway(struct collector *c, struct config *next)
{
    const char *about = NULL;
    hsy_error err = {0};
    char **held = c->config.gateway_keys;

    if (gateway_take_keys(c->gateway, next->gateway_keys, &about, &err) !=
        HSY_OK) {
        log_failure_about(c->log, "reload-gateway-keys-kept", about, &err);
        return false;
    }
    c->config.gateway_keys = next->gateway_keys;
    next->gateway_keys = held;
    return true;
}

/* The same of keys that open envelopes, and of who signs receipts. */
static bool reload_hop(struct collector *c, struct config *next)
{
    const struct hop_files files = {c->config.sign_key, next->seal_keys,
                                    next->receipt_key};
    const char *about = NULL;
    hsy_error err = {0};
    char **held = c->config.seal_keys;

    if (c->hop == NULL || next->seal_keys == NULL)
        return true;
    if (hop_take_keys(c->hop, &files, &about, &err) != HSY_OK) {
        log_failure_about(c->log, "reload-seal-keys-kept", about, &err);
        return false;
    }
    c->config.seal_keys = next->seal_keys;
    next->seal_keys = held;
    reload_swap(&c->config.receipt_key, &next->receipt_key);
    return true;
}

void serve_reload(struct collector *c, struct config *next)
{
    bool good;

    log_change(c->log, next->log_json, (enum log_level)next->log_level);
    reload_same_place(&c->config.data, &next->data);
    reload_same_place(&c->config.backups, &next->backups);
    reload_stuck(c, next);
    good = reload_tasks(c, next);
    good &= reload_tokens(c, next);
    good &= reload_tls(c);
    good &= reload_gateway(c, next);
    good &= reload_hop(c, next);
    serve_remind_document(c);
    if (good)
        log_event(c->log, LOG_NOTE, "reloaded", "%s", "");
}
