/*
 * config.h - hearsay.yaml: how a collector is run.
 *
 * Read by libcyaml; every mistake is listed with its line, nothing is used of
 * a file that has one. Defaults are those of config_defaults, which suit one
 * small machine. docs/collector.md has every field.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include "hearsay_host.h"

struct config {
    char *data;       /* directory of the store */
    char *document;   /* signed tasks; NULL: what the store has */
    char *public_key; /* file: who signs them */

    char *listen;             /* public address */
    char *tls_cert, *tls_key; /* files; NULL: plain HTTP */
    bool tls12;
    char **cors;     /* origins, ended by NULL; NULL: none */
    char *admin;     /* admin address; NULL: there is none */
    bool admin_open; /* no tokens there: only on loopback or a unix socket */

    unsigned loops; /* 0: one a core */
    uint64_t connections, body_bytes, inflight_bytes;
    uint64_t head_seconds, body_seconds, idle_seconds, drain_seconds;
    uint64_t waiting_bytes, fold_bytes, tally_bytes;
    uint64_t ids_epoch;
    uint64_t day_words, keep_days, grace_days, clock_days;
    uint64_t checkpoint_seconds, estimate_seconds;

    char **enrolled;  /* tasks that want a token, ended by NULL; NULL: none */
    char *candidates; /* directory with TASK.txt, for strings; NULL: none */
    double lying;     /* share of liars whose effect is printed, 0.01 */

    bool log_json;
    unsigned log_level; /* 0 errors, 1 remarks, 2 requests */
    bool sandbox;
};

void config_defaults(struct config *c);

/* Problems as with tasks: HSY_E_FORMAT if any is no warning. *problems is the
 * caller's to free. c is freed and filled; relative names are taken from the
 * file's directory. */
hsy_status config_read(struct config *c, const char *path,
                       hsy_problem **problems, size_t *n, hsy_error *err);
void config_clear(struct config *c);

#endif
