/*
 * troubles.c - all that an operator may have to mend, one row each.
 *
 * A row looks at the scene and says in words what is wrong, or nothing. What a
 * part of the collector gets to know (struct engine_status) becomes a trouble
 * by one more row, and a line of docs/runbook.md, which a test compares.
 */
#define _GNU_SOURCE

#include "server/collector/watch/internal.h"

#include "host/tasks/expiry.h"
#include "server/cluster/cluster.h"
#include "server/collector/estimator/estimator.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TROUBLE_RECENT 60u  /* seconds for which a refusal is news */
#define TROUBLE_HANGS 10u   /* seconds without an answer */
#define TROUBLE_NEXT 600u   /* seconds for which batches may wait */
#define TROUBLE_APART 86400 /* seconds that two clocks may differ */
#define TROUBLE_DISK_LOW ((uint64_t)1 << 30)
#define TROUBLE_DISK_FULL ((uint64_t)16 << 20)

struct trouble_scene {
    struct collector *c;
    struct engine_status status;
    struct watch_document doc;
    struct watch_figures figures;
    struct hop_status hop; /* zeros where there is none */
    bool many;             /* it is a cluster's node: */
    struct cluster_status cluster;
    uint64_t now, refused_at, no_ids_at, disk_at;
    bool stuck;
};

static void trouble_say(struct trouble *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void trouble_say(struct trouble *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(t->text, sizeof t->text, format, args);
    va_end(args);
}

/* ---- Rows ---------------------------------------------------------------- */

static void trouble_starting(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = true;
    if (!__atomic_load_n(&s->c->ready, __ATOMIC_ACQUIRE))
        trouble_say(t, "it is starting or stopping");
}

static void trouble_no_document(struct trouble *t,
                                const struct trouble_scene *s)
{
    t->grave = true;
    if (!s->doc.there)
        trouble_say(t, "there is no document of tasks, and every upload is "
                       "refused");
}

static void trouble_expired(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = true;
    if (s->doc.there && expiry_of(s->doc.expires, s->status.day) == EXPIRY_PAST)
        trouble_say(t, "the document of tasks has expired, and devices that "
                       "do not have it refuse it: sign a new one");
}

static void trouble_expires(struct trouble *t, const struct trouble_scene *s)
{
    if (s->doc.there && expiry_of(s->doc.expires, s->status.day) == EXPIRY_NEAR)
        trouble_say(t,
                    "the document of tasks expires: sign a new one; days that "
                    "are left: %" PRIu32,
                    s->doc.expires - s->status.day);
}

/* What the clock says, and what is believed. */
static void trouble_clock(struct trouble *t, const struct trouble_scene *s,
                          const char *what)
{
    char day[DAY_TEXT], clock[DAY_TEXT];

    day_text(day, s->status.day);
    day_text(clock, s->status.clock_day);
    trouble_say(t, "%s; clock %s, last day %s", what, clock, day);
}

/* One that is too far ahead is never believed by itself, and then uploads of
 * the real day are refused if it is right. */
static void trouble_ahead(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = s->status.clock_day > s->status.day + s->c->config.clock_days;
    if (s->status.clock_jumped && !s->status.clock_behind)
        trouble_clock(t, s,
                      t->grave ? "the clock is too far ahead to be believed"
                               : "the clock is days ahead and not believed "
                                 "yet: no day closes by it");
}

static void trouble_behind(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = true;
    if (s->status.clock_behind)
        trouble_clock(t, s,
                      "the clock is behind the days that are closed, and "
                      "uploads are refused");
}

/* ---- Shards of a node ---------------------------------------------------- */

/* What is wrong with a shard: the first that holds. */
enum trouble_shard {
    SHARD_FINE,
    SHARD_UNREACHABLE,
    SHARD_DISK_FULL,
    SHARD_NO_STANDBY,
    SHARD_NOT_COMMITTING
};

static enum trouble_shard trouble_shard(const struct cluster_shard_status *s)
{
    if (!s->up)
        return SHARD_UNREACHABLE;
    if (s->failing && strcmp(s->state, CLUSTER_DISK_FULL) == 0)
        return SHARD_DISK_FULL;
    if (s->found.replicated && !s->found.standby)
        return SHARD_NO_STANDBY;
    return s->failing ? SHARD_NOT_COMMITTING : SHARD_FINE;
}

/* Returns true if the shard accepts no upload of today. A standby that has just
 * gone may be back before an upload has waited in vain. */
static bool trouble_shard_stopped(const struct cluster_shard_status *s,
                                  uint32_t today)
{
    switch (trouble_shard(s)) {
    case SHARD_FINE:
        return false;
    case SHARD_NO_STANDBY:
        return s->alone;
    case SHARD_NOT_COMMITTING:
        return s->epoch == 0 || s->epoch == today;
    default:
        return true;
    }
}

/* Counts the shards with a trouble. It is grave if no shard accepts uploads, by
 * whatever trouble: one of several takes its share of uploads with it and no
 * more. */
static size_t trouble_shards(struct trouble *t, const struct trouble_scene *s,
                             enum trouble_shard what)
{
    const size_t n = s->cluster.nshards;
    size_t count = 0, stopped = 0;

    for (size_t i = 0; i < n; i++) {
        count += trouble_shard(&s->cluster.shards[i]) == what;
        stopped += trouble_shard_stopped(&s->cluster.shards[i], s->status.day);
    }
    t->grave = s->many && stopped == n;
    return count;
}

/* Says what is wrong with how many shards. */
static void trouble_say_shards(struct trouble *t, const struct trouble_scene *s,
                               size_t count, const char *what)
{
    if (count == 0)
        return;
    if (s->cluster.nshards == 1)
        trouble_say(t, "%s", what);
    else
        trouble_say(t, "%s; databases, of %zu: %zu", what, s->cluster.nshards,
                    count);
}

/* ---- More rows ----------------------------------------------------------- */

/* What was refused long ago says nothing of now, if there is room. */
static void trouble_store_full(struct trouble *t, const struct trouble_scene *s)
{
    const bool recent = s->now < s->disk_at + TROUBLE_RECENT;
    const bool little =
        s->figures.disk_size != 0 && s->figures.disk_free < TROUBLE_DISK_FULL;

    t->grave = true;
    if (s->disk_at != 0 && (recent || little))
        trouble_say(t, "the disk is full, and uploads are refused");
}

static void trouble_disk_full(struct trouble *t, const struct trouble_scene *s)
{
    if (s->many)
        trouble_say_shards(t, s, trouble_shards(t, s, SHARD_DISK_FULL),
                           "the database's disk is full, and its uploads get "
                           "503");
    else
        trouble_store_full(t, s);
}

static void trouble_disk_low(struct trouble *t, const struct trouble_scene *s)
{
    const struct watch_figures *f = &s->figures;

    if (f->disk_free < TROUBLE_DISK_LOW && f->disk_free < f->disk_size / 20)
        trouble_say(t, "the disk is nearly full; MiB that are free: %" PRIu64,
                    f->disk_free >> 20);
}

/* Anybody may read this, so it does not tell whether others are counted. Never
 * grave: on a quiet collector anybody can use up the ids of a task, and is then
 * the only one who is refused. What leaves no room for anybody has a row of its
 * own. */
static void trouble_refused(struct trouble *t, const struct trouble_scene *s)
{
    if (s->refused_at != 0 && s->now < s->refused_at + TROUBLE_RECENT)
        trouble_say(t, "some uploads are refused for want of room");
}

static void trouble_ids(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = s->status.ids_over;
    if (t->grave ||
        (s->no_ids_at != 0 && s->now < s->no_ids_at + TROUBLE_RECENT))
        trouble_say(t, t->grave
                           ? "all uploads are refused: the ids of the day are "
                             "used up for every task"
                           : "some uploads are refused: the ids that their "
                             "task may have in a day are used up");
}

static void trouble_memory(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = s->status.refusing >= s->doc.tasks;
    if (s->status.refusing != 0)
        trouble_say(
            t,
            "tallies do not fit into two thirds of memory; tasks whose uploads "
            "are refused: %" PRIu64,
            s->status.refusing);
}

static void trouble_days(struct trouble *t, const struct trouble_scene *s)
{
    if (s->status.undated != 0)
        trouble_say(
            t,
            "tallies of days do not fit into two thirds of memory; tasks that "
            "are counted without: %" PRIu64,
            s->status.undated);
}

static void trouble_need(struct trouble *t, const struct trouble_scene *s)
{
    if (!collector_shuffles(s->c) &&
        s->status.tally_need > s->c->config.tally_bytes)
        trouble_say(
            t,
            "keep_days will need more than two thirds of memory; MiB: %" PRIu64,
            (s->status.tally_need >> 20) + 1);
}

static void trouble_unfolded(struct trouble *t, const struct trouble_scene *s)
{
    t->grave = !s->many; /* any node may fold */
    if (s->stuck)
        trouble_say(t, "what was counted has not been folded for minutes");
}

static void trouble_hangs(struct trouble *t, const struct trouble_scene *s)
{
    static const char *const names[] = {
        [WATCH_ADMITTER] = "the thread that admits uploads",
        [WATCH_FOLDER] = "the thread that folds and writes tallies",
        [WATCH_LISTENER] = "a thread that talks to devices",
        [WATCH_MAIN] = "the thread that waits for signals"};
    const struct pulse *p = &s->c->watch->pulse;
    const int waits = atomic_load(&p->waits);
    const uint64_t since = atomic_load(&p->since);

    t->grave = true;
    if (waits != WATCH_NOBODY && s->now >= since + TROUBLE_HANGS)
        trouble_say(t, "%s does not answer; seconds: %" PRIu64, names[waits],
                    s->now - since);
}

/* Uploads are taken meanwhile, and wait. */
static void trouble_next(struct trouble *t, const struct trouble_scene *s)
{
    if (s->hop.waits > TROUBLE_NEXT)
        trouble_say(t,
                    "the next hop does not take batches, which wait; seconds: "
                    "%" PRIu64,
                    s->hop.waits);
}

static void trouble_unwanted(struct trouble *t, const struct trouble_scene *s)
{
    if (s->hop.refusals != 0)
        trouble_say(t,
                    "the next hop refuses batches (the last with status %u), "
                    "which stay here; how many: %" PRIu64,
                    s->hop.answered, s->hop.refusals);
}

/* Shard 0 also takes what there is once. */
static void trouble_unreachable(struct trouble *t,
                                const struct trouble_scene *s)
{
    const size_t n = s->cluster.nshards;
    const size_t lost = trouble_shards(t, s, SHARD_UNREACHABLE);

    if (lost == 0)
        return;
    if (lost == n)
        trouble_say(t, "the database cannot be used, and uploads get 503");
    else
        trouble_say(t,
                    "some databases cannot be used, and their share of uploads "
                    "gets 503%s; how many of %zu: %zu",
                    s->cluster.shards[0].up
                        ? ""
                        : "; documents, days and estimates wait",
                    n, lost);
}

/* Anybody may read this: /v1/status and the log have the database's words. */
static void trouble_uncommitted(struct trouble *t,
                                const struct trouble_scene *s)
{
    trouble_say_shards(t, s, trouble_shards(t, s, SHARD_NOT_COMMITTING),
                       "the database answers, but commits have failed for "
                       "seconds, and uploads get 503");
}

static void trouble_no_standby(struct trouble *t, const struct trouble_scene *s)
{
    trouble_say_shards(t, s, trouble_shards(t, s, SHARD_NO_STANDBY),
                       "commits wait for a synchronous standby, but none is "
                       "connected, and uploads get 503");
}

static void trouble_unreplicated(struct trouble *t,
                                 const struct trouble_scene *s)
{
    const size_t n = s->cluster.nshards;
    size_t alone = 0;

    for (size_t i = 0; i < n; i++)
        alone +=
            s->cluster.shards[i].up && !s->cluster.shards[i].found.replicated;
    if (alone == 0)
        return;
    if (n == 1)
        trouble_say(t, "the database has no synchronous standby: what is "
                       "acknowledged is lost with its disk");
    else
        trouble_say(t,
                    "databases have no synchronous standby: what is "
                    "acknowledged is lost with their disks; how many of %zu: "
                    "%zu",
                    n, alone);
}

static void trouble_apart(struct trouble *t, const struct trouble_scene *s)
{
    const int64_t behind = s->cluster.behind;

    if (behind > TROUBLE_APART || behind < -TROUBLE_APART)
        trouble_say(t,
                    "this machine's clock is %s the database's, which decides; "
                    "days: %" PRId64,
                    behind > 0 ? "ahead of" : "behind",
                    (behind > 0 ? behind : -behind) / TROUBLE_APART);
}

static const struct trouble_row {
    const char *name;
    void (*look)(struct trouble *t, const struct trouble_scene *s);
} trouble_rows[WATCH_TROUBLES] = {
    {"starting", trouble_starting},
    {"no-document", trouble_no_document},
    {"document-expired", trouble_expired},
    {"document-expires", trouble_expires},
    {"clock-ahead", trouble_ahead},
    {"clock-behind", trouble_behind},
    {"disk-full", trouble_disk_full},
    {"disk-low", trouble_disk_low},
    {"uploads-refused", trouble_refused},
    {"ids-full", trouble_ids},
    {"tally-memory", trouble_memory},
    {"day-tallies", trouble_days},
    {"tally-need", trouble_need},
    {"not-folded", trouble_unfolded},
    {"thread-hangs", trouble_hangs},
    {"next-hop", trouble_next},
    {"batch-refused", trouble_unwanted},
    {"database-unreachable", trouble_unreachable},
    {"not-committing", trouble_uncommitted},
    {"no-standby", trouble_no_standby},
    {"not-replicated", trouble_unreplicated},
    {"database-clock", trouble_apart},
};

/* ---- All of them --------------------------------------------------------- */

void watch_look(struct collector *c, struct trouble out[WATCH_TROUBLES])
{
    struct watch *w = c->watch;
    struct trouble_scene s = {.c = c, .now = watch_clock()};

    engine_status(c->engine, &s.status);
    if (c->hop != NULL)
        hop_status(c->hop, &s.hop);
    s.many = cluster_status(c->counting, &s.cluster);
    watch_document(c, &s.doc);
    watch_disk(w, &s.figures);
    pthread_mutex_lock(&w->lock);
    s.refused_at = w->refused_at;
    s.no_ids_at = w->no_ids_at;
    s.stuck = w->stuck;
    pthread_mutex_unlock(&w->lock);
    if (s.many)
        s.stuck = cluster_unfolded(&s.cluster) > WATCH_STUCK;
    s.disk_at = atomic_load(&w->disk_at);
    for (size_t i = 0; i < WATCH_TROUBLES; i++) {
        out[i] = (struct trouble){.name = trouble_rows[i].name};
        trouble_rows[i].look(&out[i], &s);
    }
}

const struct trouble *watch_grave(const struct trouble all[WATCH_TROUBLES])
{
    for (size_t i = 0; i < WATCH_TROUBLES; i++)
        if (all[i].text[0] != '\0' && all[i].grave)
            return &all[i];
    return NULL;
}
