/*
 * example_roster.h - a collector's roster with a task of every mechanism, and
 * uploads of them, for tests.
 */
#ifndef EXAMPLE_ROSTER_H
#define EXAMPLE_ROSTER_H

#include "rig/example_tasks.h"
#include "rig/examples.h"
#include "server/intake/intake.h"

#include <stdio.h>

#define EXAMPLE_EPOCH (EXAMPLE_DAY + 7)

/* One more task: "t00", "t01", ... with this scheme, asked each day. False if
 * no task can have it. */
bool example_roster_add(struct roster **roster, size_t number,
                        const hsy_spec *spec);

/* All mechanisms that a task can ask by; the caller drops it. */
struct roster *example_roster(void);

/* Set both checksums of an upload. */
void example_seal(uint8_t *upload, size_t len);

/* An upload of n reports of an entry (kind 1), or a null one (2): header and
 * payload, the caller's to free. */
uint8_t *example_upload(const struct roster_entry *e, uint32_t kind, size_t n,
                        uint8_t id, size_t *len);

/* Read a copy of these bytes, as a forwarder's. */
hsy_status example_intake(struct intake *in, struct roster *r,
                          enum intake_form form, const void *bytes, size_t len,
                          hsy_error *err);

#endif
