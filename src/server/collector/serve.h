/*
 * serve.h - a collector from its configuration to its end.
 *
 *     serve_open    everything that may fail: files, store, addresses
 *     serve_start   the sandbox, then the threads; ready from here on
 *     serve_reload  what may change while it runs
 *     serve_stop    take nothing new, finish, checkpoint
 *     serve_close
 *
 * The caller blocks the signals that it waits for before serve_start, so that
 * no other thread gets them.
 */
#ifndef SERVER_COLLECTOR_SERVE_H
#define SERVER_COLLECTOR_SERVE_H

#include "server/collector/collector.h"
#include "server/process/pem.h"

/* What went wrong, and with what: a file or an address. */
struct serve_trouble {
    const char *about; /* the collector's; NULL: nothing in particular */
    int number;        /* an errno, or 0 */
    hsy_error err;
    char text[256]; /* room for what it is about */
};

/* c is zeroed but for its config, config_path and accept_clock. Takes a
 * half-open collector to serve_close where it fails. */
hsy_status serve_open(struct collector *c, struct serve_trouble *t);
hsy_status serve_start(struct collector *c, struct serve_trouble *t);

/* Take the document of a file. One that is older than what was taken since is
 * no reason not to serve: that is logged. */
hsy_status serve_document(struct collector *c, const char *path,
                          hsy_error *err);

/* Put a configuration that was read again in force, as far as that is possible:
 * key, document, tokens, certificate, log. What is wrong is logged, and the old
 * stands. next is left with what is not used any more. */
void serve_reload(struct collector *c, struct config *next);

/* What time it is, for who counts; of a rehearsal by its file. ctx: the
 * collector. */
uint64_t serve_now(void *ctx);

/* The store has failed: nothing may be acknowledged any more, and the way back
 * is to open it again. What was acknowledged is in it. Does not return. */
void serve_failed(void *ctx, const hsy_error *err);

/* Note what is wrong with a database: about is its name, NULL: none is known;
 * reason: what it says itself, "" if nothing. */
hsy_status serve_cluster_fail(struct serve_trouble *t, hsy_status st,
                              const char *about, const char *reason);

/* Keys of batches of shufflers. */
struct hop_files serve_hop_files(const struct config *f);

/* Tell the engine whether some task wants tokens: by the configuration (NULL:
 * as it was), or as there are some. */
void serve_enrols(struct collector *c, const struct config *f);

/* Look for tokens that were made or revoked. */
void serve_look(struct collector *c);

hsy_status serve_stop(struct collector *c, hsy_error *err);
void serve_close(struct collector *c);

/* ---- Before it is served (examine.c) ------------------------------------- */

enum serve_found {
    /* Warnings. */
    SERVE_UNASKED,    /* the document asks no such task as is closed: about */
    SERVE_EXPIRED,    /* the document */
    SERVE_EXPIRES,    /* it, in so many days: number */
    SERVE_UNNAMED,    /* none of the gateway's keys is in the document */
    SERVE_NO_PLACE,   /* the document has no statement of this shuffler */
    SERVE_KEYLESS,    /* the task about is sealed for a key that is not there */
    SERVE_NO_RECEIPT, /* the next hop is the collector, whose key is not said */
    SERVE_MEMORY,     /* days that are kept will need so many MiB: number */
    SERVE_ALONE,      /* the database about has no synchronous standby */
    SERVE_APART,      /* its clock and ours differ by so many days: number */
    /* What is wrong. */
    SERVE_WRONG,
    SERVE_NO_KEY = SERVE_WRONG, /* these three: the file about, as err says, or
                                   number, an errno */
    SERVE_NO_DOCUMENT,
    SERVE_NO_FILE,
    SERVE_UNSIGNED,       /* the document, by the key */
    SERVE_NO_DIRECTORY,   /* the data */
    SERVE_OPEN_DIRECTORY, /* the data: others may enter it */
    SERVE_TROUBLE         /* as trouble says */
};

struct serve_finding {
    enum serve_found what;
    const char *about;
    uint64_t number;
    hsy_error err;
    const struct serve_trouble *trouble;
};

typedef void serve_tell(void *ctx, const struct serve_finding *found);

/* Look at every file that a configuration names, as far as that shows without a
 * store, and at every database; tell what is found: how much of it is wrong. */
size_t serve_examine(const struct config *f, serve_tell *tell, void *ctx);

/* ---- Files (serve_open.c) ------------------------------------------------ */

/* Certificate and key of the listeners; none without TLS. Forget them after a
 * failure too. */
hsy_status serve_read_tls(struct pem_pair *tls, const struct config *f,
                          struct serve_trouble *t);

/* Directories that the configuration names must be there: only data is made. */
hsy_status serve_directories(const struct config *f, struct serve_trouble *t);

/* Note what st, with errno, was about; st. */
hsy_status serve_fail(struct serve_trouble *t, hsy_status st,
                      const char *about);

#endif
