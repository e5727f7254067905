/*
 * world.h - what the files of a device's world share.
 *
 * The world is a directory: `key`, `state.a`, `state.b`, `times`, `log`,
 * `log.1` and `lock`. Everything is opened relative to it, so that it may be
 * moved, and no symbolic link is followed.
 */
#ifndef HOST_CLIENT_WORLD_H
#define HOST_CLIENT_WORLD_H

#include "hearsay/host.h"

#include <sys/types.h>

/* What failed last: for messages. where is a field, number an errno. */
struct world_error {
    uint32_t where;
    int number;
};

struct hsy_host {
    hsy_world world;
    hsy_entropy entropy;
    pid_t owner; /* a forked child may not use it */
    int dir;     /* these are -1 where there is none */
    int lock;
    int log; /* opened with the first entry */
    int anchor_dir;
    char *anchor;     /* owned; its name in anchor_dir */
    bool broken;      /* a sync has failed: nothing is stored any more */
    bool log_lost;    /* an entry could not be written */
    bool withheld;    /* an answer was not handed out: HSY_LOG_WITHHELD */
    uint32_t refused; /* HTTP status of what is being marked as sent; 0: it was
                         acknowledged */
    struct world_error error;
    hsy_status (*clock)(void *ctx, uint64_t *seconds); /* NULL: the system's */
    void *clock_ctx;
};

/* Whether this process opened the host; else why not is noted. */
bool hsy_world_mine(hsy_host *h);

/* Note what failed, with errno: HSY_E_IO. */
hsy_status hsy_world_failed(hsy_host *h, uint32_t where);

/* A sentence for an errno, a literal; and that of what was noted last, put into
 * an error that follows from it. */
const char *hsy_world_why(int number);
void hsy_world_explain(const hsy_host *h, hsy_error *err);

/* ---- Files (world_files.c) ----------------------------------------------- */

/* Open a file that must be ours alone: regular, not a link, of this user, not
 * for others to read or write. -1 with errno; EPERM if it is something else. */
int hsy_world_open(int dir, const char *name, int flags);

/* All of it; false with errno. */
bool hsy_world_write(int fd, const uint8_t *buf, size_t len);

/* Delete what an earlier process left of its drafts. */
void hsy_world_tidy(hsy_host *h);

hsy_status hsy_world_load(void *ctx, hsy_file file, uint8_t *buf, size_t room,
                          size_t *len);
hsy_status hsy_world_store(void *ctx, hsy_file file, const uint8_t *buf,
                           size_t len);
/* The file `times` (send_times.c). */
hsy_status hsy_world_times_load(hsy_host *h, uint8_t *buf, size_t room,
                                size_t *len);
hsy_status hsy_world_times_store(hsy_host *h, const uint8_t *buf, size_t len);
hsy_status hsy_world_anchor_read(void *ctx, uint64_t *number);
hsy_status hsy_world_anchor_raise(void *ctx, uint64_t number);
hsy_status hsy_world_seal(void *ctx, uint8_t *out, size_t len,
                          const hsy_envelope *envelope);

/* ---- The log (world_log.c) ----------------------------------------------- */

#define WORLD_LOG_MAX (1u << 20) /* bytes after which it becomes log.1 */

void hsy_world_log(void *ctx, const hsy_log_entry *entry);

/* The words that the log has for a state and a consent; NULL for a number
 * without one. */
const char *hsy_world_state_name(uint32_t state);
const char *hsy_world_consent_name(uint64_t consent);

#endif
