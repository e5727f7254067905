/*
 * device_rig.h - a device on a world of memory, with a document of tasks.
 */
#ifndef DEVICE_RIG_H
#define DEVICE_RIG_H

#include "lib/device/internal.h"
#include "lib/scheme/scheme.h"
#include "rig/device_sign.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define DAY0 20500u

#define EPS ((uint64_t)HSY_NANO)

/* ---- A world of memory --------------------------------------------------- */

enum { WORLD_ROOM = 1 << 17, WORLD_LOG = 512 };

struct world {
    struct file {
        bool there;
        size_t len;
        uint8_t bytes[WORLD_ROOM];
    } file[3];
    uint64_t now;
    hsy_status clock, entropy, store, load, anchor_status;
    int load_only;   /* the one file that load concerns; 0: all */
    int stores_left; /* then they fail; -1: never */
    uint32_t stores;
    size_t stored; /* bytes */
    bool anchored;
    uint64_t anchor;
    uint8_t seed;
    hsy_log_entry log[WORLD_LOG];
    size_t logged;
};

hsy_status world_store(void *ctx, hsy_file file, const uint8_t *buf,
                       size_t len);

hsy_status world_anchor_read(void *ctx, uint64_t *number);

size_t world_entries(const struct world *w, uint32_t kind);

/* ---- A device with its tasks --------------------------------------------- */

enum { RIG_TASKS = 128, RIG_RELEASE = 8192 };

struct rig {
    struct world world;
    hsy_world face;
    hsy_policy policy;
    hsy_source sources[4];
    hsy_device *dev;
    hsy_task task[RIG_TASKS];
    uint8_t scheme[RIG_TASKS][HSY_SCHEME_WIRE];
    uint8_t permanent[RIG_TASKS][HSY_SCHEME_WIRE];
    size_t tasks;
    uint8_t *bytes;
    size_t len;
    uint64_t version;
    uint8_t signer[HSY_SIGN_KEY], next_key[HSY_SIGN_KEY];
    uint32_t expires;
    const hsy_parties *parties; /* of the documents, NULL: none */
    hsy_document doc;
    hsy_release *release[RIG_TASKS];
    hsy_error err;
};

struct rig *rig_new(void);

void rig_free(struct rig *g);

/* A task of 360 days: fresh answers each day, or (permanent nano) memoised over
 * slots of 10 days with a report a day. */
hsy_task *rig_task(struct rig *g, const char *id, const char *source,
                   hsy_spec spec, uint64_t permanent);

hsy_spec values(const char *mechanism, uint32_t d, uint64_t nano);

hsy_status rig_open(struct rig *g, bool create);

/* Encode and sign all tasks as the next version. */
void rig_publish(struct rig *g);

hsy_status rig_take(struct rig *g);

hsy_status rig_admit(struct rig *g, uint32_t i);

/* Take the document and admit everything; false if anything fails. */
bool rig_tasks(struct rig *g);

/* A new device with these tasks, and consent. */
void rig_begin(struct rig *g);

bool rig_again(struct rig *g);

hsy_truth index_truth(uint32_t index);

/* A release of two attributes of 8 values each, the second of an empty rig's.
 * Documents have no tuples, so it is entered by hand; the caller frees it. */
hsy_release *rig_tuple(struct rig *g);

/* -1 for a failure. */
int rig_answer(struct rig *g, uint32_t i, uint32_t truth);

uint64_t rig_spent(struct rig *g, const char *source);

void rig_day(struct rig *g, uint32_t day);

hsy_status rig_next(struct rig *g, uint8_t *upload, size_t *len);

hsy_status rig_sent(struct rig *g, const uint8_t *upload, size_t len);

/* Send all that is due: how many reports, how many nulls. */
void rig_send(struct rig *g, size_t count[2]);

/* The history behind the golden files of a device's state. */
struct rig *rig_golden(void);

#endif
