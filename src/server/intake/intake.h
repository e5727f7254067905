/*
 * intake.h - the body of a request becomes uploads, each with a verdict.
 *
 * Everything that can be known without the store is decided here, once: the
 * form, the task, the scheme, the epoch, every report. Behind this nothing is
 * checked again (boundary B4). No state, no clock: the same bytes, roster and
 * days give the same verdicts.
 */
#ifndef SERVER_INTAKE_INTAKE_H
#define SERVER_INTAKE_INTAKE_H

#include "server/intake/roster.h"

/* What became of an upload. INTAKE_COUNTED and INTAKE_AGAIN are acknowledged;
 * the rest is refused, with the status and words of intake_verdicts. */
enum intake_verdict {
    INTAKE_COUNTED = 0, /* counted (a null upload: noted) */
    INTAKE_AGAIN,       /* the same bytes were counted before */
    INTAKE_UNKNOWN,     /* 404: no such task, or not of this release */
    INTAKE_SCHEME,      /* 422: another digest than the release has */
    INTAKE_REPORT,      /* 422: length, count or a report does not fit it */
    INTAKE_PLACE,       /* 422: sealed for a shuffler, or not */
    INTAKE_EARLY,       /* 422: an epoch after tomorrow, or before the task */
    INTAKE_CLOSED,      /* 410: the epoch or the task is over */
    INTAKE_CONFLICT,    /* 409: the id was counted with other bytes */
    INTAKE_TOKEN,       /* 403: the task wants an enrolment token */
    INTAKE_MANY,        /* 403: more reports than its sender may bring */
    INTAKE_QUOTA,       /* 429: the token's quota of this epoch is used up */
    INTAKE_CLOCK,       /* 503: the collector does not know what day it is */
    INTAKE_FULL,        /* 503: no more ids in this epoch, no room */
    INTAKE_DOUBT        /* 503: the database does not answer: it is not known
                           whether it was counted */
};

#define INTAKE_VERDICTS (INTAKE_DOUBT + 1)

struct intake_row {
    int status;
    const char *name;  /* a word for metrics and answers: "conflict" */
    const char *title; /* what it means and what to do, for problem+json */
};

extern const struct intake_row intake_verdicts[INTAKE_VERDICTS];

struct intake_upload {
    hsy_upload head;
    const struct roster_entry *entry; /* NULL where verdict says why */
    const uint8_t *payload;           /* packed reports, head.length bytes */
    uint8_t digest[32]; /* BLAKE2b-256 of the upload's 128 + length bytes */
    enum intake_verdict verdict;
    bool enrolled; /* counts against the submission's quota; set by the gate */
};

/*
 * Who sends, which only the caller knows. Asked about each upload of a task
 * that is asked, before its reports are looked at: how many reports it may
 * have, 0 if it may not come in (INTAKE_TOKEN). May set `enrolled`.
 */
struct intake_gate {
    uint32_t (*most)(void *ctx, struct intake_upload *u);
    void *ctx;
    const uint8_t *shuffler; /* NULL: this is a collector; else the key that
                                this shuffler signs with */
};

/* Days that may be named: first is the oldest open epoch. While a clock is in
 * doubt there are others, which would be open by it. */
struct intake_days {
    uint32_t first, last;
    uint32_t other_first, other_last; /* 0: there are none */
};

enum intake_form { INTAKE_BINARY, INTAKE_JSON };

struct intake {
    struct roster *roster; /* held */
    struct intake_upload *uploads;
    size_t n;
    uint8_t *made; /* payloads that were JSON; owned */
    uint8_t *body; /* owned */
    size_t len;
};

#define INTAKE_UPLOADS_MAX 4096u /* of one request */

/*
 * Read a body that came through a gate (NULL: a device's, with one report in
 * each upload). The body is intake's from now on (malloc) whatever is returned.
 * HSY_E_FORMAT refuses the whole request, with the number of the upload in
 * err->at (from 1 on) and the field in err->field; HSY_E_NOMEM. Otherwise
 * each upload has its verdict, INTAKE_COUNTED if nothing is wrong so far.
 */
hsy_status intake_read(struct intake *in, struct roster *roster,
                       struct intake_days days, const struct intake_gate *gate,
                       enum intake_form form, uint8_t *body, size_t len,
                       hsy_error *err);
void intake_clear(struct intake *in);

#endif
