/* internal.h - what the two forms of a body share. */
#ifndef SERVER_INTAKE_INTERNAL_H
#define SERVER_INTAKE_INTERNAL_H

#include "server/intake/intake.h"

/* HSY_E_FORMAT with the upload's number, from 1 on; 0: the body as a whole. */
hsy_status intake_refuse(hsy_error *err, size_t upload, uint32_t field,
                         const char *msg);

/* The same, for more uploads than a request may have. */
hsy_status intake_many(hsy_error *err);

/* Room for one upload more, zeroed; NULL with *st if there is none. */
struct intake_upload *intake_next(struct intake *in, hsy_status *st,
                                  hsy_error *err);

/* Sets the digest of an upload whose bytes these are, BLAKE2b by libsodium:
 * where processors have wide registers it takes .6 of hsy_blake2b's time. */
void intake_digest(struct intake_upload *u, const uint8_t *wire);

/* What uploads are held against. */
struct intake_rules {
    struct intake_days days;
    const struct intake_gate *gate; /* NULL: each has one report */
};

/* Task, release, digest, epoch, sender and how many reports he may bring: sets
 * entry and verdict by the head. */
void intake_find(struct intake_upload *u, const struct roster *roster,
                 const struct intake_rules *rules);

/* A body in JSON (intake_json.c), within in->body. */
hsy_status intake_json(struct intake *in, const struct intake_rules *rules,
                       hsy_error *err);

#endif
