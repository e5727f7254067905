/*
 * fleet.h - simulated people against a real collector, to rehearse it.
 *
 * The devices are real ones (hsy_device_*) with their files in memory, keys
 * from a seed, and a clock that goes from the day on which each question is
 * answered to now; what is due then goes to the collector over HTTP. Their
 * truths are drawn from laws that are known, so that what the collector
 * estimates can be held against what is so. No person is behind any of it: do
 * not send it to a collector whose figures somebody believes.
 *
 * Either all answer once and send (fleet_run), or they live for days: then the
 * clock is a file that a collector of a rehearsal follows (fleet_days.c).
 */
#ifndef SIM_FLEET_FLEET_H
#define SIM_FLEET_FLEET_H

#include "hearsay/host.h"
#include "host/base/table.h"

#define FLEET_DEVICES_MAX 100000000u
#define FLEET_DAYS_MAX 36500u
#define FLEET_BATCH_MAX 4096u
#define FLEET_CONNECTIONS_MAX 1024u
#define FLEET_REPEAT_MAX 1000u
#define FLEET_THREADS_MAX 256u
#define FLEET_STATUSES 16u

enum fleet_attendance {
    FLEET_STAY,  /* all devices, all days */
    FLEET_LEAVE, /* every second one is gone after its first rounds */
    FLEET_JOIN   /* they come one after the other, evenly over the days */
};

struct fleet_options {
    const char *url;
    const uint8_t *document; /* signed tasks instead of those of the collector;
                                NULL: they are fetched */
    size_t document_len;
    const char *relay;   /* sealed uploads go there, not to url; NULL: to that
                            of the document, if it names one */
    const char *token;   /* NULL: none */
    const char *ca_file; /* NULL: the system's */
    const uint8_t *key;  /* who signs the tasks; NULL: it is not checked */
    uint64_t seed, devices;
    uint64_t now;         /* seconds since 1970, as the collector's clock */
    uint32_t threads;     /* from 1 on */
    uint32_t connections; /* kept open, by all threads together */
    uint32_t batch;       /* uploads of a request; through a relay one */
    uint32_t repeat;      /* times that each request is sent */
    uint32_t attempts;    /* of each, until it is given up */
    double rate;          /* requests a second at most; 0: as many as go */
    uint32_t days;        /* that they live; 0: they answer once, and send */
    const char *clock;    /* with days: the file that is the clock */
    enum fleet_attendance attendance;
    void (*tick)(void *ctx, uint64_t devices); /* that are done, of each day;
                                                  may be NULL */
    void *ctx;
};

/* How the truths of a task are drawn. */
struct fleet_law {
    char text[64]; /* for people */
    double *sums;  /* of weights, owned; NULL: normal or uniform */
    size_t n;
    char *words;       /* of strings, owned, each ended by NUL */
    const char **word; /* n of them, owned */
    bool normal;       /* else uniform from a to b */
    double a, b;       /* mean and deviation, or ends; in units of 10^-scale */
};

/* A task of the collector's document. */
struct fleet_task {
    hsy_task task;        /* its pointers lead into the document */
    hsy_scheme_info info; /* of the report's scheme */
    uint32_t place;
    uint32_t day;               /* on which it is answered; 0: it is left out */
    const char *why;            /* then */
    uint8_t digest[HSY_DIGEST]; /* of the release */
    bool relayed; /* it demands the relay, or a twin of its release does */
    struct fleet_law law;
    uint64_t answered; /* devices whose truth went into a report; of days:
                          reports, each the truth of a person in a round */
    uint64_t *counts;  /* of them by value, bin or word: ncounts; owned */
    size_t ncounts;
    double sum;              /* of numbers, in units of 10^-scale */
    uint64_t reports, nulls; /* acknowledged */
    uint64_t refused;
    struct fleet_day { /* acknowledged by the day in the upload's head */
        uint64_t reports, nulls;
    } * days; /* owned: ndays, from first_day on */
    uint32_t first_day, ndays;
};

struct fleet_result {
    uint64_t requests;     /* sent, however often */
    uint64_t repeated;     /* of them copies of an earlier one */
    uint64_t tried_again;  /* of them because no answer came, or a later one was
                              asked for */
    uint64_t acknowledged; /* uploads, each once */
    uint64_t refused;
    uint64_t given_up; /* no attempt got an answer */
    struct fleet_status {
        uint32_t status;
        uint64_t uploads;
    } statuses[FLEET_STATUSES]; /* of what was refused */
    double seconds;
};

struct fleet; /* options' pointers must outlive it */

/* Fetch the document and get ready for its tasks. */
hsy_status fleet_open(struct fleet **out, const struct fleet_options *options,
                      hsy_error *err);
void fleet_close(struct fleet *f); /* NULL is allowed */

/* The tasks, in the document's order. */
struct fleet_task *fleet_tasks(struct fleet *f, size_t *n);

/* The relay that uploads go through; NULL: they go to the collector itself. */
const char *fleet_relay(const struct fleet *f);

/* Label i < d of a list; NULL if its values are numbers. */
const char *fleet_label(const struct fleet_task *task, size_t i, size_t *len);

/* Another law for a task. HSY_E_FORMAT with what it may be. */
hsy_status fleet_law_parse(struct fleet_task *task, const char *text,
                           hsy_error *err);

/* All devices, one after the other in each thread (that live for days: all in
 * one); then result has what became of it. HSY_E_IO if the collector cannot be
 * reached, HSY_E_REFUSED if it does not follow the clock. */
hsy_status fleet_run(struct fleet *f, struct fleet_result *result,
                     hsy_error *err);

/* An upload. Whether a sealed one has a report in it only its device knows. */
struct fleet_upload {
    const uint8_t *bytes;
    size_t len;
    size_t task; /* its number */
    hsy_upload head;
    bool report; /* else it is null */
};

/* Takes an upload; anything but HSY_OK ends. */
typedef hsy_status fleet_each(void *ctx, const struct fleet_upload *upload,
                              hsy_error *err);

/* The same days of the same devices without a collector: every upload is handed
 * to each, in the order in which it would be sent. */
hsy_status fleet_hand(struct fleet *f, fleet_each *each, void *ctx,
                      hsy_error *err);

/* ---- What is so (fleet_values.c) ----------------------------------------- */

#define FLEET_NAME 64u

/* A value of a task, or its mean: what it is called, the share of those who
 * answered or the mean (NaN: nobody has), and persons that think so, of days in
 * each round in which they reported. */
struct fleet_value {
    const char *name; /* name_len bytes; lasts as long as this and the fleet */
    size_t name_len;
    double truth;
    uint64_t person_rounds;
    char text[FLEET_NAME]; /* of a name */
};

/* How many a task has; none if it is left out. */
size_t fleet_values(const struct fleet_task *t);
void fleet_value(struct fleet_value *v, const struct fleet_task *t, size_t i);

/* All of it and what became of the uploads, as JSON; the caller frees it. */
hsy_status fleet_json(char **text, struct fleet *f,
                      const struct fleet_options *o,
                      const struct fleet_result *r, hsy_error *err);

/* The same for people and spreadsheets too (fleet_truths.c). */
hsy_status fleet_print(FILE *to, enum table_format format, struct fleet *f,
                       const struct fleet_options *o,
                       const struct fleet_result *r, hsy_error *err);

#endif
