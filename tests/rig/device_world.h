/*
 * device_world.h - a world for a device, made of memory.
 *
 * The disk has sectors of 512 bytes. A write is durable when store returns; if
 * the power goes before that, any subset of the sectors that differ may have
 * been written, and the file may have its old or its new length, or none at
 * all. The clock shows what a test says. Everything is plain data, so that a
 * test can copy a world, go on, and put it back.
 */
#ifndef DEVICE_WORLD_H
#define DEVICE_WORLD_H

#include "rig/device_sign.h"
#include "rig/trial.h"

#include <setjmp.h>
#include <string.h>

#ifndef WORLD_ROOM
#define WORLD_ROOM 8192u /* bytes of a file */
#endif
#ifndef WORLD_SECTOR
#define WORLD_SECTOR 512u
#endif
#define WORLD_FILES 3
#define WORLD_DAY 86400u
#define WORLD_START 20000u /* a day: 2024-10-04 */

struct world_file {
    uint32_t len;
    bool there;
    uint8_t bytes[WORLD_ROOM];
};

/* What outlives the program. */
struct world_disk {
    struct world_file file[WORLD_FILES];
};

/* The length of a file that was being written when the power went. */
enum world_length { WORLD_OLD, WORLD_NEW, WORLD_NONE };

/* What a power cut leaves behind of a store. */
struct world_cut {
    uint64_t sectors; /* bit i: sector i was written */
    uint32_t length;  /* enum world_length */
};

/* The store during which the power went. */
struct world_pending {
    hsy_file file;
    size_t len;
    uint8_t bytes[WORLD_ROOM];
};

/* What the device did, seen from outside. */
struct world_calls {
    uint32_t loads, stores, clocks, draws, verifies, raises, entries;
    uint64_t stored;  /* bytes */
    uint64_t charged; /* nano-epsilon in entries */
    uint32_t charges;
};

struct world {
    struct world_disk disk;
    uint64_t seconds;
    uint64_t anchor;
    uint32_t cut_at;  /* the store that does not return, from 1 on; 0: none */
    uint32_t fail_at; /* the one that fails, as on a full disk, */
    struct world_cut fail_cut; /* and what it leaves */
    struct world_calls calls;
    uint64_t shape; /* of all calls, in order, with their sizes */
    bool lies;      /* store says that it wrote, and did not */
    jmp_buf *crash; /* where a power cut leads, */
    struct world_pending *pending; /* and what was being written */
    void (*entry)(void *ctx, const hsy_log_entry *entry);
    void *entry_ctx;
    hsy_stream entropy;
};

static inline void world_note(struct world *w, uint64_t what, uint64_t size)
{
    w->shape = (w->shape ^ (what << 56 ^ size)) * 0x9e3779b97f4a7c15u;
    w->shape ^= w->shape >> 29;
}

static inline hsy_status world_load(void *ctx, hsy_file file, uint8_t *buf,
                                    size_t room, size_t *len)
{
    struct world *w = ctx;
    const struct world_file *f = &w->disk.file[file];

    w->calls.loads++;
    world_note(w, 1, file);
    if (!f->there)
        return HSY_E_EMPTY;
    if (f->len > room)
        return HSY_E_RANGE;
    memcpy(buf, f->bytes, f->len);
    *len = f->len;
    return HSY_OK;
}

static inline size_t world_sectors(size_t len)
{
    return (len + WORLD_SECTOR - 1) / WORLD_SECTOR;
}

/* What the disk is after a store that the power cut short. */
static inline void world_tear(struct world_disk *disk,
                              const struct world_pending *pending,
                              const struct world_cut *cut)
{
    struct world_file *f = &disk->file[pending->file];
    const uint8_t *buf = pending->bytes;
    size_t len = pending->len, keep = cut->length == WORLD_NEW ? len : f->len;

    for (size_t at = 0; at < len; at += WORLD_SECTOR) {
        size_t n = len - at < WORLD_SECTOR ? len - at : WORLD_SECTOR;

        if ((cut->sectors >> (at / WORLD_SECTOR) & 1) != 0)
            memcpy(f->bytes + at, buf + at, n);
        else if (at >= f->len) /* never written: a hole */
            memset(f->bytes + at, 0, n);
    }
    f->len = (uint32_t)keep;
    f->there = cut->length != WORLD_NONE;
}

static inline hsy_status world_store(void *ctx, hsy_file file,
                                     const uint8_t *buf, size_t len)
{
    struct world *w = ctx;
    struct world_file *f = &w->disk.file[file];

    if (len > WORLD_ROOM)
        return HSY_E_IO;
    w->calls.stores++;
    w->calls.stored += len;
    world_note(w, 2, (uint64_t)file << 32 ^ len);
    if (w->cut_at == 1 || w->fail_at == 1) {
        w->pending->file = file;
        w->pending->len = len;
        memcpy(w->pending->bytes, buf, len);
    }
    if (w->cut_at != 0 && --w->cut_at == 0)
        longjmp(*w->crash, 1);
    if (w->fail_at != 0 && --w->fail_at == 0) {
        world_tear(&w->disk, w->pending, &w->fail_cut);
        return HSY_E_IO;
    }
    if (w->lies)
        return HSY_OK;
    memcpy(f->bytes, buf, len);
    f->len = (uint32_t)len;
    f->there = true;
    return HSY_OK;
}

static inline hsy_status world_now(void *ctx, uint64_t *seconds)
{
    struct world *w = ctx;

    w->calls.clocks++;
    world_note(w, 3, 0);
    *seconds = w->seconds;
    return HSY_OK;
}

static inline hsy_status world_draw(void *ctx, void *buf, size_t len)
{
    struct world *w = ctx;
    hsy_rng rng = hsy_stream_rng(&w->entropy);

    w->calls.draws++;
    world_note(w, 4, len);
    return rng.fill(rng.ctx, buf, len);
}

static inline bool world_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                                const uint8_t sig[HSY_SIGNATURE],
                                const uint8_t *bytes, size_t len)
{
    struct world *w = ctx;

    w->calls.verifies++;
    world_note(w, 5, len);
    return world_signed(sig, key, bytes, len);
}

static inline hsy_status world_anchor_read(void *ctx, uint64_t *number)
{
    struct world *w = ctx;

    world_note(w, 6, 0);
    *number = w->anchor;
    return HSY_OK;
}

static inline hsy_status world_anchor_raise(void *ctx, uint64_t number)
{
    struct world *w = ctx;

    w->calls.raises++;
    world_note(w, 7, number);
    if (number > w->anchor)
        w->anchor = number;
    return HSY_OK;
}

static inline void world_log(void *ctx, const hsy_log_entry *entry)
{
    const size_t len = entry->kind == HSY_LOG_UPLOAD ? entry->u.upload.len : 0;
    struct world *w = ctx;

    w->calls.entries++;
    world_note(w, 8, entry->kind ^ (uint64_t)len << 16);
    if (entry->kind == HSY_LOG_CHARGE) {
        w->calls.charged += entry->u.nano_charged;
        w->calls.charges++;
    }
    if (w->entry != NULL)
        w->entry(w->entry_ctx, entry);
}

/* The callbacks of a world; they keep w. */
static inline hsy_world world_behind(struct world *w, bool anchored)
{
    return (hsy_world){.size = sizeof(hsy_world),
                       .ctx = w,
                       .load = world_load,
                       .store = world_store,
                       .now = world_now,
                       .entropy = {world_draw, w},
                       .verify = world_verify,
                       .anchor_read = anchored ? world_anchor_read : NULL,
                       .anchor_raise = anchored ? world_anchor_raise : NULL,
                       .log = world_log};
}

/* An empty disk on the morning of the first day. */
static inline void world_init(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->seconds = (uint64_t)WORLD_START * WORLD_DAY + 3600;
    hsy_stream_seed(&w->entropy, seed, 0);
}

/* ---- Tasks without a document -------------------------------------------- */

/* A task with room for what it points to. Copies must be made by
 * world_task_copy. */
struct world_task {
    hsy_task task;
    uint8_t scheme[HSY_SCHEME_WIRE], permanent[HSY_SCHEME_WIRE];
};

static inline void world_task_wires(struct world_task *t)
{
    t->task.scheme = t->scheme;
    t->task.permanent = t->task.permanent != NULL ? t->permanent : NULL;
}

/* Asked once a day, answered with fresh coins, for `days` days. permanent may
 * be NULL; the caller then says how time is cut. */
static inline void world_task_init(struct world_task *t, const char *id,
                                   const hsy_spec *report,
                                   const hsy_spec *permanent, uint32_t days)
{
    hsy_scheme *s = trial_scheme(report);

    memset(t, 0, sizeof *t);
    snprintf(t->task.id, sizeof t->task.id, "%s", id);
    snprintf(t->task.source, sizeof t->task.source, "s");
    t->task.release = 1;
    t->task.question = "?";
    t->task.question_len = 1;
    t->task.start = WORLD_START;
    t->task.end = WORLD_START + days;
    t->task.slot_days = 1;
    t->task.max_changes = t->task.answers = t->task.sends = 1;
    t->task.sample = (hsy_ratio){1, 1};
    t->task.grace_days = 30;
    t->task.other =
        report->kind == HSY_KIND_VALUES ? report->d - 1 : HSY_TASK_CLOSED;
    hsy_scheme_encode(s, t->scheme);
    free(s);
    if (permanent != NULL) {
        s = trial_scheme(permanent);
        hsy_scheme_encode(s, t->permanent);
        free(s);
        t->task.permanent = t->permanent;
    }
    world_task_wires(t);
}

static inline void world_task_copy(struct world_task *to,
                                   const struct world_task *from,
                                   const char *id)
{
    *to = *from;
    snprintf(to->task.id, sizeof to->task.id, "%s", id);
    world_task_wires(to);
}

/* Ends the program unless a step that the test stands on has worked. */
static inline void world_must(hsy_status st, const char *step,
                              const hsy_error *err)
{
    if (st == HSY_OK)
        return;
    printf("Bail out! %s: %s: %s: %s\n", step, hsy_strstatus(st),
           hsy_field_name(err->field), err->msg != NULL ? err->msg : "?");
    exit(1);
}

/* A signed document of n tasks, on the heap. */
static inline uint8_t *world_document(const struct world_task *tasks, size_t n,
                                      uint64_t version,
                                      const uint8_t key[HSY_SIGN_KEY],
                                      size_t *len)
{
    hsy_document doc = {.version = version,
                        .issued = WORLD_START,
                        .expires = WORLD_START + 10000};
    hsy_task *plain = trial_memory(n * sizeof *plain);
    hsy_error err = {0};
    uint8_t *bytes;

    for (size_t i = 0; i < n; i++)
        plain[i] = tasks[i].task;
    world_must(hsy_document_encode(&doc, NULL, 0, len, plain, n, &err),
               "document", &err);
    bytes = trial_memory(*len + HSY_SIGNATURE);
    world_must(hsy_document_encode(&doc, bytes, *len, len, plain, n, &err),
               "document", &err);
    world_sign(bytes + *len, key, bytes, *len);
    *len += HSY_SIGNATURE;
    free(plain);
    return bytes;
}

/* ---- A device in a world ------------------------------------------------- */

#define WORLD_TASKS 16
#define WORLD_SOURCES 2
#define WORLD_UPLOAD (HSY_UPLOAD_WIRE + 512)

static const char *const world_sources[WORLD_SOURCES] = {"s", "t"};
static const uint8_t world_key[HSY_SIGN_KEY] = {1, 2, 3};

/* What a device is opened with, and its tasks. Keep at one address. */
struct world_setup {
    hsy_source source[WORLD_SOURCES];
    hsy_policy policy;
    hsy_world behind;
    uint8_t *document;
    size_t document_len;
    hsy_release *release[WORLD_TASKS];
    size_t n;
};

/* Every source may spend so much a day and in its life, and so may all of them
 * together. */
static inline void world_setup_init(struct world_setup *s, struct world *w,
                                    bool anchored, uint64_t day, uint64_t life)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < WORLD_SOURCES; i++)
        s->source[i] =
            (hsy_source){world_sources[i], HSY_EPSILON_MAX, day, life};
    s->policy = (hsy_policy){.size = sizeof s->policy,
                             .sources = s->source,
                             .nsources = WORLD_SOURCES,
                             .cap_day = day,
                             .cap_lifetime = life,
                             .releases = WORLD_TASKS,
                             .release_bytes = 64};
    memcpy(s->policy.sign_key, world_key, sizeof world_key);
    s->behind = world_behind(w, anchored);
}

/* Take a document of these tasks and admit all of them. */
static inline void world_setup_tasks(struct world_setup *s, hsy_device *dev,
                                     const struct world_task *tasks, size_t n)
{
    hsy_document doc;
    hsy_error err = {0};

    s->document = world_document(tasks, n, 1, world_key, &s->document_len);
    world_must(hsy_device_accept_document(dev, &doc, s->document,
                                          s->document_len, &err),
               "take", &err);
    for (s->n = 0; s->n < n; s->n++) {
        s->release[s->n] = trial_memory(hsy_release_size(&tasks[s->n].task));
        world_must(
            hsy_device_admit(dev, s->release[s->n], &doc, (uint32_t)s->n, &err),
            "admit", &err);
    }
}

/* A new device that collects and sends. */
static inline void world_setup_create(struct world_setup *s, hsy_device *dev,
                                      const struct world_task *tasks, size_t n)
{
    hsy_error err = {0};

    world_must(hsy_device_create(dev, &s->policy, &s->behind, &err), "create",
               &err);
    world_must(hsy_device_consent_set(dev, HSY_CONSENT_SEND, &err), "consent",
               &err);
    world_setup_tasks(s, dev, tasks, n);
}

static inline void world_setup_clear(struct world_setup *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->release[i]);
    free(s->document);
    s->n = 0;
}

static inline const hsy_release *const *
world_releases(const struct world_setup *s)
{
    return (const hsy_release *const *)s->release;
}

static inline uint64_t world_spent(hsy_device *dev, const char *source)
{
    hsy_budget b = {0};
    hsy_error err = {0};

    world_must(hsy_device_budget(dev, &b, source, &err), "budget", &err);
    return b.spent_lifetime;
}

#endif
