/*
 * uploads.h - uploads that somebody has brought, in clear or sealed: read,
 * judged and answered alike.
 */
#ifndef SERVER_COLLECTOR_API_UPLOADS_H
#define SERVER_COLLECTOR_API_UPLOADS_H

#include "server/collector/collector.h"

/* What becomes of them, for whoever brought them. */
struct uploads_answer {
    int status;              /* 204: all are counted; 0: cut the connection */
    const char *retry_after; /* seconds; NULL: none */
    const char *reason;      /* one word; NULL: nothing is refused */
    const char *title, *detail;    /* of a problem; title NULL: see refusals */
    const struct intake *refusals; /* which are refused, and why; NULL: none is
                                      by itself */
};

struct uploads {
    struct submission submission; /* the first member */
    struct collector *collector;
    const char *token; /* while they are read; NULL: none */
    enum intake_form form;
    bool single; /* more than one is refused */
    /* Called once, by any thread; what it is told is gone afterwards. */
    void (*answer)(struct uploads *u, const struct uploads_answer *a);
};

/* Take a body, which is freed. */
void uploads_take(struct uploads *u, uint8_t *body, size_t len);

/* The form that a Content-Type names; false: none. */
bool uploads_form(enum intake_form *form, const char *type, size_t len);

bool uploads_accepted(const struct intake_upload *u);

/* POST /v1/ohttp: an upload that came by a relay (api_sealed.c). */
void api_sealed(struct request *q, void *ctx);
void api_sealed_keys(struct request *q, void *ctx);

#endif
