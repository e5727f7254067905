/*
 * world_log.c - what a device did, for the person it belongs to.
 *
 * One line an entry, words and key=value, never a truth:
 *
 *     2026-11-16 charge task=browser/1 source=web slot=0 epsilon=1.000000000
 *     2026-11-17 upload task=browser/1 source=web slot=0 round=0 bytes=4853...
 *
 * It is appended and not synced: what a power cut takes from it is in the
 * ledger. At 1 MiB it becomes log.1, in place of the one before. A log that
 * cannot be written stops no answer, for a full disk must not change what is
 * sent; it is remembered (hsy_host_logged).
 */
#define _GNU_SOURCE /* O_NOFOLLOW, renameat */

#include "host/client/world.h"

#include "host/base/hex.h"
#include "lib/bits/day.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_BUFFER 4096u

/* What a line holds besides its date and kind. */
enum {
    LOG_TASK = 1,
    LOG_SOURCE = 2,
    LOG_SLOT = 4,
    LOG_ROUND = 8,
    LOG_EPSILON = 16,
    LOG_WHY = 32,
    LOG_BYTES = 64,
    LOG_VERSION = 128,
    LOG_CONSENT = 256,
    LOG_STATUS = 512
};

#define LOG_ANSWER (LOG_TASK | LOG_SOURCE | LOG_SLOT | LOG_ROUND)

static const struct {
    const char *name;
    unsigned fields;
} log_kinds[] = {
    [HSY_LOG_TASKS] = {"tasks", LOG_VERSION},
    [HSY_LOG_CHARGE] = {"charge",
                        LOG_TASK | LOG_SOURCE | LOG_SLOT | LOG_EPSILON},
    [HSY_LOG_ANSWER] = {"answer", LOG_ANSWER},
    [HSY_LOG_SILENT] = {"silent", LOG_ANSWER | LOG_WHY},
    [HSY_LOG_UPLOAD] = {"upload", LOG_ANSWER | LOG_BYTES},
    [HSY_LOG_SENT] = {"sent", LOG_ANSWER},
    [HSY_LOG_DROPPED] = {"dropped", LOG_ANSWER},
    [HSY_LOG_CONSENT] = {"consent", LOG_CONSENT},
    [HSY_LOG_FORGET] = {"forget", LOG_SOURCE},
    [HSY_LOG_REFUSED] = {"refused", LOG_ANSWER | LOG_STATUS},
    [HSY_LOG_WITHHELD] = {"withheld", LOG_ANSWER},
};

#define LOG_KINDS (sizeof log_kinds / sizeof log_kinds[0])

const char *hsy_world_state_name(uint32_t state)
{
    static const char *const names[] = {[HSY_ANSWERED] = "answered",
                                        [HSY_ANSWER_KEPT] = "kept",
                                        [HSY_ANSWER_SAMPLED_OUT] =
                                            "sampled-out",
                                        [HSY_ANSWER_EXHAUSTED] = "exhausted",
                                        [HSY_ANSWER_CLOSED] = "closed",
                                        [HSY_ANSWER_NO_CONSENT] = "no-consent"};

    return state < sizeof names / sizeof names[0] ? names[state] : NULL;
}

const char *hsy_world_consent_name(uint64_t consent)
{
    static const char *const names[] = {[HSY_CONSENT_NONE] = "none",
                                        [HSY_CONSENT_COLLECT] = "collect",
                                        [HSY_CONSENT_SEND] = "send"};

    return consent < sizeof names / sizeof names[0] ? names[consent] : NULL;
}

/* ---- Writing through a small buffer -------------------------------------- */

struct log_line {
    int fd;
    bool lost;
    size_t used;
    char text[LOG_BUFFER];
};

static void log_drain(struct log_line *l)
{
    l->lost =
        l->lost || !hsy_world_write(l->fd, (const uint8_t *)l->text, l->used);
    l->used = 0;
}

/* At most 1024 bytes at a time. */
__attribute__((format(printf, 2, 3))) static void
log_put(struct log_line *l, const char *format, ...)
{
    va_list args;
    int n;

    if (l->used > LOG_BUFFER - 1024)
        log_drain(l);
    va_start(args, format);
    n = vsnprintf(l->text + l->used, LOG_BUFFER - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n;
}

/* ---- A line -------------------------------------------------------------- */

static void log_date(struct log_line *l, uint32_t day)
{
    char text[DAY_TEXT];

    day_text(text, day);
    log_put(l, "%s", text);
}

static void log_bytes(struct log_line *l, const hsy_log_entry *e)
{
    log_put(l, " bytes=");
    for (size_t i = 0; i < e->u.upload.len; i++) {
        char digits[3];

        hex_put(digits, &e->u.upload.bytes[i], 1);
        log_put(l, "%s", digits);
    }
}

static void log_entry(struct log_line *l, const hsy_log_entry *e,
                      unsigned fields)
{
    log_date(l, e->day);
    log_put(l, " %s", log_kinds[e->kind].name);
    if (fields & LOG_TASK)
        log_put(l, " task=%s/%" PRIu32, e->task, e->release);
    if (fields & LOG_SOURCE)
        log_put(l, " source=%s", e->source[0] != '\0' ? e->source : "all");
    if (fields & LOG_SLOT)
        log_put(l, " slot=%" PRIu64, e->slot);
    if (fields & LOG_ROUND)
        log_put(l, " round=%" PRIu64, e->round);
    if (fields & LOG_EPSILON)
        log_put(l, " epsilon=%" PRIu64 ".%09" PRIu64,
                e->u.nano_charged / HSY_NANO, e->u.nano_charged % HSY_NANO);
    if (fields & LOG_WHY)
        log_put(l, " why=%s",
                hsy_world_state_name(e->u.state) != NULL
                    ? hsy_world_state_name(e->u.state)
                    : "unknown");
    if (fields & LOG_VERSION)
        log_put(l, " version=%" PRIu64, e->u.version);
    if (fields & LOG_STATUS)
        log_put(l, " status=%" PRIu32, e->u.status);
    if (fields & LOG_CONSENT)
        log_put(l, " consent=%s",
                hsy_world_consent_name(e->u.consent) != NULL
                    ? hsy_world_consent_name(e->u.consent)
                    : "unknown");
    if (fields & LOG_BYTES)
        log_bytes(l, e);
    log_put(l, "\n");
}

/* ---- The file ------------------------------------------------------------ */

/* Open for appending; a line that an earlier process did not finish is ended.
 */
static void log_open(hsy_host *h)
{
    struct stat s;
    char last = '\n';

    h->log = hsy_world_open(h->dir, "log", O_RDWR | O_CREAT | O_APPEND);
    if (h->log == -1 || fstat(h->log, &s) == -1 || s.st_size == 0)
        return;
    if (pread(h->log, &last, 1, s.st_size - 1) == 1 && last != '\n')
        h->log_lost |= write(h->log, "\n", 1) != 1;
}

static void log_rotate(hsy_host *h)
{
    struct stat s;

    if (h->log == -1 || fstat(h->log, &s) == -1 ||
        (uintmax_t)s.st_size < WORLD_LOG_MAX)
        return;
    close(h->log);
    h->log = -1;
    if (renameat(h->dir, "log", h->dir, "log.1") == -1)
        h->log_lost = true;
    log_open(h);
}

void hsy_world_log(void *ctx, const hsy_log_entry *entry)
{
    hsy_host *h = ctx;
    struct log_line line = {.lost = false};
    hsy_log_entry e = *entry;

    if (h->owner != getpid() || e.kind >= LOG_KINDS ||
        log_kinds[e.kind].name == NULL)
        return;
    h->withheld |= e.kind == HSY_LOG_WITHHELD;
    if (e.kind == HSY_LOG_SENT && h->refused != 0) {
        e.kind = HSY_LOG_REFUSED;
        e.u.status = h->refused;
    }
    if (h->log == -1)
        log_open(h);
    log_rotate(h);
    line.fd = h->log;
    if (line.fd == -1) {
        h->log_lost = true;
        return;
    }
    log_entry(&line, &e, log_kinds[e.kind].fields);
    log_drain(&line);
    h->log_lost |= line.lost;
}
