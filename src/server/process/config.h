/*
 * config.h - hearsay.yaml: how a collector is run.
 *
 * Every mistake is listed with its line, nothing is used of a file that has
 * one. The keys are the names of the fields below but the last, config.c has
 * them in one
 * table with their bounds and defaults, which suit one small machine;
 * docs/collector.md has the same table.
 */
#ifndef SERVER_PROCESS_CONFIG_H
#define SERVER_PROCESS_CONFIG_H

#include "hearsay/host.h"

#define CONFIG_ROWS 43 /* keys */

struct config {
    char *data;       /* directory of the store; of a cluster's node: NULL, or
                         where batches of shufflers wait until they are whole */
    char **storage;   /* URLs of a cluster's shards, ended by NULL; NULL: this
                         machine counts by itself */
    char *node;       /* how a cluster calls this node; NULL: by the host */
    char *document;   /* signed tasks; NULL: what the store has */
    char *public_key; /* file: who signs them */

    char *listen;             /* public address */
    char *tls_cert, *tls_key; /* files; NULL: plain HTTP */
    bool tls12;
    char **gateway_keys; /* files of keys that open sealed requests, ended by
                            NULL; NULL: none */
    char *sign_key;    /* file: signs receipts, and a shuffler's batches; NULL:
                          no batches are taken */
    char **seal_keys;  /* files of keys that envelopes are sealed for */
    char *next;        /* URL of the next hop: this is a shuffler; else NULL */
    char *next_ca;     /* file; NULL: the system's certificates */
    char *receipt_key; /* file: the collector's, if it is the next hop */
    char **cors;       /* origins, ended by NULL; NULL: none */
    char *admin;       /* admin address; NULL: there is none */
    bool admin_open;   /* no tokens there: only on loopback or a unix socket */

    uint64_t loops; /* 0: one a core */
    uint64_t connections;
    char **proxies; /* networks of which one address may have more than
                       address_connections; NULL: loopback */
    uint64_t body_bytes;
    uint64_t timeout; /* seconds */
    uint64_t memory;
    uint64_t ids_epoch, reports_upload;
    uint64_t day_words, keep_days, grace_days, clock_days;
    uint64_t checkpoint_seconds, estimate_seconds, snapshot_seconds;

    char **enrolled;  /* tasks that want a token, ended by NULL; NULL: none */
    char *candidates; /* directory with TASK.txt, for strings; NULL: none */
    char *backups;    /* directory for copies; NULL: data */
    uint64_t backup_hours, backup_keep; /* 0 hours: by hand only */
    double lying; /* share of liars whose effect is printed, 0.01 */

    bool log_json;
    unsigned log_level; /* as enum log_level */
    unsigned sandbox;   /* enum config_sandbox */
    char *rehearsal;    /* file that is the clock; NULL: the system's */

    /* No keys: what follows from memory (tallies, batches to be counted, large
     * bodies, uploads to be made durable), timeout and connections. */
    uint64_t tally_bytes, fold_bytes, inflight_bytes, waiting_bytes;
    uint64_t head_seconds, body_seconds, idle_seconds, drain_seconds;
    uint64_t address_connections; /* of one address */

    uint32_t lines[CONFIG_ROWS]; /* of each key in the file; 0: not there */
};

enum config_sandbox { CONFIG_OFF, CONFIG_ON, CONFIG_REQUIRED };

/* What a command line says instead of the file. */
struct config_setting {
    const char *key, *value;
};

/* Key number i, and its default; NULL past the end. A default of NULL: there is
 * none. */
const char *config_key(size_t i, const char **otherwise);

/* Returns the key whose path, or item of a list, is value (compared by
 * address), or NULL. Sets *line to the key's line in the file, 0 if the file
 * does not set it. */
const char *config_key_of(const struct config *c, const char *value,
                          uint32_t *line);

/* Whether field i differs and only a restart can change it. */
bool config_stuck(size_t i, const struct config *now,
                  const struct config *next);

/* What the file at path (NULL: none) and the settings say, and the defaults for
 * the rest. Problems as with tasks: HSY_E_FORMAT if any is no warning;
 * *problems is the caller's to free. c, which is zeroed or was read before, is
 * freed and filled, and left alone unless HSY_OK is returned; or, with any, if
 * there are problems: then fields that are wrong have their defaults. Relative
 * names are taken from the file's directory; those of settings from the current
 * one. HSY_E_IO with errno. */
hsy_status config_read(struct config *c, bool any, const char *path,
                       const struct config_setting *settings, size_t nsettings,
                       hsy_problem **problems, size_t *n, hsy_error *err);
void config_clear(struct config *c);

/* Whether it is a node of a cluster. */
bool config_many(const struct config *c);

/* Whether an address is of this machine alone: loopback, or a unix socket. */
bool config_loopback(const char *address);

#endif
