/*
 * home.h - a device's home: a directory with its policy, its document and what
 * world.h keeps there. It is made, opened, given new tasks, and sends.
 *
 * A device's days never go back, so a clock that was once set ahead by mistake
 * would end every task of a real person for good. So a device has one sort of
 * clock for its whole life: home_make with a clock of its own (`now`) leaves a
 * mark in the new directory; where the mark is, such a clock is wanted, and no
 * other device takes one.
 */
#ifndef HOST_CLIENT_HOME_H
#define HOST_CLIENT_HOME_H

#include "hearsay/host.h"
#include "host/tasks/policy.h"
#include "host/tasks/task_file.h"

#define HOME_PATH 4096u

/* What a failure is about. */
enum home_trouble {
    HOME_DEVICE = 0,  /* the device, as err says */
    HOME_LONG,        /* the directory's name is too long */
    HOME_POLICY,      /* the policy at path: its problems, else as err says */
    HOME_LOST_POLICY, /* there is a device without one */
    HOME_NONE,        /* there is no device */
    HOME_THERE,       /* there is one already */
    HOME_REHEARSAL,   /* it wants a clock of its own */
    HOME_REAL,        /* it takes none */
    HOME_CLOCK,       /* the system's stands before 1970 */
    HOME_FILE,        /* the file at path, for reason */
    HOME_TOO_LONG,    /* the file at path has more than err->limit bytes */
    HOME_TASK,        /* the task that path names, as err says */
    HOME_SOURCE,      /* the source that path names, as err says */
    HOME_PINS,     /* what the document names cannot be pinned, as err says */
    HOME_ANCHOR,   /* its path does not come back from policy.yaml */
    HOME_UNSIGNED, /* the document, by the policy's key */
    HOME_EARLY,    /* it was issued after today */
    HOME_LATE,     /* it has expired */
    HOME_DOCUMENT, /* the device refuses it, as err says */
    HOME_PLACE     /* it cannot be put in its place, for reason */
};

/* Zero it, and say where and how. */
struct home {
    const char *directory;
    uint32_t wait;         /* seconds, for another process to be done */
    const uint64_t *now;   /* seconds since 1970; NULL: the system's clock */
    const char *collector; /* its URL, if it is known: no relay is there */
    struct policy policy;
    hsy_client *client; /* with its document: home_open */
    hsy_host *host;     /* without: home_open_bare */
    hsy_device *bare;
    bool unlogged; /* its log could not be written at some time */
    bool withheld; /* an answer was given under another promise, and not sent */
    enum home_trouble trouble;
    char path[HOME_PATH];
    int reason;            /* an errno; 0: unknown */
    hsy_problem *problems; /* of a policy; owned */
    size_t nproblems;
};

/* The policy alone; that and device and document; policy and device, enough for
 * what the person decides and must work whatever became of the document. After
 * a failure h->trouble says what it is about. */
hsy_status home_policy(struct home *h, hsy_error *err);
hsy_status home_open(struct home *h, hsy_error *err);
hsy_status home_open_bare(struct home *h, hsy_error *err);

/* It may be opened again. Takes a home that is half open. */
void home_close(struct home *h);

/* Put what its host noted last into an error of the device that is open. */
void home_explain(const struct home *h, hsy_error *err);

/* ---- A new one (home_make.c) --------------------------------------------- */

/* The policy of another file. */
hsy_status home_policy_from(struct home *h, const char *path, hsy_error *err);

/* An anchor at this path, kept from the root on, for later commands may run
 * elsewhere; every source that tasks ask about and the policy lacks, with the
 * usual caps; room for the stored reports of every task, and for tasks to
 * come. */
hsy_status home_policy_anchor(struct home *h, const char *path, hsy_error *err);
hsy_status home_policy_sources(struct home *h, const struct task_file *d,
                               hsy_error *err);
hsy_status home_policy_rooms(struct home *h, const struct task_file *d,
                             hsy_error *err);

/* Pin what the document names: policy_pin. */
hsy_status home_policy_pins(struct home *h, const struct task_file *d,
                            hsy_error *err);

/* A device with the policy of h that is asked these tasks, and open. What is
 * there of one that was cut short is written again. */
hsy_status home_make(struct home *h, const struct task_file *d, hsy_error *err);

/* Let the device that is open bare take new tasks. They wait beside the old
 * ones while the device is told of them: cut short in between, home_open finds
 * them there. */
hsy_status home_take(struct home *h, const struct task_file *d, hsy_error *err);

/* ---- What it did, what it sends (home_log.c) ----------------------------- */

struct home_line {
    const char *text;
    size_t len;
};

/* Lines of log.1 and log, oldest first. Zero it to begin. */
struct home_log {
    struct home_line *lines; /* owned */
    size_t n, room;
    uint8_t *older, *newer; /* owned */
};

hsy_status home_log_read(struct home_log *log, struct home *h, hsy_error *err);
void home_log_clear(struct home_log *log);

/* The word after " key=" in a line; its text is NULL if there is none. */
struct home_line home_log_value(const struct home_line *line, const char *key);

/* Send what is due. The device is open while its uploads are gathered and while
 * what arrived is marked, not while anybody waits for a network: meanwhile it
 * can answer. As hsy_device_upload; *inside if the device failed, and not what
 * is between it and the collector. */
struct home_sent {
    hsy_send_result result;
    bool may;    /* send anything: there is consent */
    bool inside; /* the failure is the home's: see h->trouble */
};

hsy_status home_send(struct home *h, struct home_sent *sent, const char *url,
                     const hsy_send_options *options, hsy_error *err);

/* Fetch the next document, as hsy_client_fetch, with the device open as by
 * home_send. sends: uploads leave in this run, so that it comes through no
 * relay. */
struct home_fetched {
    uint8_t *bytes; /* to be freed; NULL: its time has not come */
    size_t len;
    bool inside; /* as in home_sent */
};

hsy_status home_fetch(struct home *h, struct home_fetched *fetched,
                      const char *url, const hsy_send_options *options,
                      bool sends, hsy_error *err);

#endif
