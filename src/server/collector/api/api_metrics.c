/*
 * api_metrics.c - how a collector does: counters of uploads and requests.
 */
#define _GNU_SOURCE /* open_memstream */
#include "server/collector/api/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/process/metrics_text.h"

#define METRICS_DAY 86400u

/* Of a store on this machine. */
static void metrics_store(FILE *to, const struct engine_status *s)
{
    metrics_one(to, "commits_total", "Commits of the store, in all its time.",
                s->seq);
    metrics_one(to, "commits_unfolded",
                "Commits that are durable and not in a tally yet.",
                s->seq - s->folded);
    metrics_one(to, "ids_bytes", "Memory of upload ids.", s->ids_bytes);
    metrics_one(to, "ids_runs", "Files of them on the disk.", s->ids_runs);
    metrics_one(to, "ids_disk_bytes", "Bytes of these files.",
                s->ids_disk_bytes);
}

/* step: of counters; 1: an operator asks. */
static void metrics_engine(FILE *to, struct collector *c, uint64_t step)
{
    struct engine_status s;

    api_look_engine(c, &s, step);
    metrics_head(to, "uploads_total",
                 "Uploads since the start, by what became of them.");
    for (size_t i = 0; i < INTAKE_VERDICTS; i++)
        fprintf(to, "hearsay_uploads_total{verdict=\"%s\"} %" PRIu64 "\n",
                intake_verdicts[i].name, s.verdicts[i]);
    metrics_one(to, "reports_total", "Reports counted since the start.",
                s.reports);
    metrics_one(to, "nulls_total", "Null uploads noted since the start.",
                s.nulls);
    metrics_one(to, "waiting_bytes",
                "Batches that wait to be folded, in bytes.", s.waiting_bytes);
    metrics_one(to, "ids", "Upload ids of the open epochs.", s.ids);
    metrics_one(to, "ids_refused_total",
                "Uploads refused, as their share of ids was used up.",
                s.ids_refused);
    metrics_one(to, "tally_bytes", "Memory of all tallies.", s.tally_bytes);
    metrics_one(to, "tally_limit_bytes",
                "Memory that tallies may take: two thirds of memory.",
                c->config.tally_bytes);
    metrics_one(to, "tasks_without_memory",
                "Tasks whose tallies do not fit: their uploads are refused.",
                s.refusing);
    metrics_one(to, "clock_jumped", "1 if the clock is not believed.",
                s.clock_jumped);
    if (!config_many(&c->config))
        metrics_store(to, &s);
    if (c->config.rehearsal == NULL && !config_many(&c->config))
        metrics_signed(
            to, "clock_ahead_seconds",
            "How far the clock's day is ahead of the last one taken.",
            ((int64_t)(time(NULL) / METRICS_DAY) - (int64_t)s.day) *
                (int64_t)METRICS_DAY);
}

/* Bucket i holds what took less than 64 << i microseconds; the last one all
 * that took longer. */
static void metrics_waits(FILE *to, struct collector *c, uint64_t step)
{
    struct workers_times t;
    uint64_t below = 0;

    api_look_times(c, &t, step);
    metrics_one(to, "groups_total",
                "Groups of requests that were committed together.", t.groups);
    metrics_one(to, "submissions_total", "Requests handed in for counting.",
                t.submissions);
    fputs("# HELP hearsay_wait_seconds From hand-in to acknowledgement.\n"
          "# TYPE hearsay_wait_seconds histogram\n",
          to);
    for (unsigned i = 0; i < WORKERS_WAITS; i++) {
        below += t.waits[i];
        if (i + 1 < WORKERS_WAITS)
            fprintf(to,
                    "hearsay_wait_seconds_bucket{le=\"%.9g\"} %" PRIu64 "\n",
                    64e-6 * (double)(1u << i), below);
    }
    fprintf(to,
            "hearsay_wait_seconds_bucket{le=\"+Inf\"} %" PRIu64
            "\nhearsay_wait_seconds_sum %.6f"
            "\nhearsay_wait_seconds_count %" PRIu64 "\n",
            below, 1e-6 * (double)t.micros, below);
    if (!config_many(&c->config))
        metrics_one(to, "last_checkpoint_timestamp_seconds",
                    "When tallies were last written; at first the start.",
                    (uint64_t)time(NULL) - t.checkpoint / 1000000);
}

/* The disk, which a node has only if it takes batches of shufflers. */
static void metrics_disk(FILE *to, const struct watch_figures *f)
{
    metrics_one(to, "disk_free_bytes", "What is free where the data are.",
                f->disk_free);
    metrics_one(to, "disk_size_bytes", "Size of that file system.",
                f->disk_size);
}

static void metrics_copies(FILE *to, const struct watch_figures *f)
{
    metrics_one(to, "log_bytes", "Length of the store's logs.", f->log_bytes);
    metrics_one(to, "last_backup_timestamp_seconds",
                "When the newest backup was made; 0: there is none.",
                f->backup);
}

static void metrics_machine(FILE *to, const struct collector *c,
                            const struct watch_figures *f)
{
    if (c->config.data != NULL)
        metrics_disk(to, f);
    if (!config_many(&c->config))
        metrics_copies(to, f);
    metrics_words(to, "requests_refused_total",
                  "Upload requests that were refused whole, by reason.",
                  "reason", watch_refusals, f->refusals, WATCH_REFUSALS);
    metrics_one(to, "unfolded_seconds",
                "For which a commit waits to be folded, at least.",
                f->unfolded_seconds);
    metrics_signed(
        to, "clock_step_seconds",
        "What the clock gained on the monotonic one since the start.",
        f->clock_step);
}

/* Names that Prometheus' own libraries use. */
static void metrics_process(FILE *to, const struct watch_figures *f)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        {"resident_memory_bytes", "Resident memory.", f->resident_bytes},
        {"virtual_memory_bytes", "Virtual memory.", f->virtual_bytes},
        {"open_fds", "Open descriptors.", f->open_files},
        {"max_fds", "Descriptors that may be open.", f->most_files},
        {"start_time_seconds", "When it started, since 1970.", f->started}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        fprintf(to,
                "# HELP process_%s %s\n# TYPE process_%s gauge\n"
                "process_%s %" PRIu64 "\n",
                rows[i].name, rows[i].help, rows[i].name, rows[i].name,
                rows[i].value);
    fprintf(to,
            "# HELP process_cpu_seconds_total Processor time.\n"
            "# TYPE process_cpu_seconds_total counter\n"
            "process_cpu_seconds_total %.6f\n",
            f->cpu_seconds);
    metrics_head(to, "build_info", "What runs here.");
    fprintf(to, "hearsay_build_info{version=\"%s\"} 1\n", HSY_VERSION);
}

static void metrics_document(FILE *to, struct collector *c)
{
    struct watch_document doc;

    watch_document(c, &doc);
    metrics_one(to, "document_version",
                "Version of the document of tasks; 0: there is none.",
                doc.version);
    metrics_one(to, "document_expires_timestamp_seconds",
                "When devices take it no more, in seconds since 1970.",
                (uint64_t)doc.expires * METRICS_DAY);
}

static void metrics_troubles(FILE *to, struct collector *c)
{
    struct trouble all[WATCH_TROUBLES];

    watch_look(c, all);
    metrics_one(to, "ready", "1 if /readyz says ready.",
                watch_grave(all) == NULL);
    metrics_head(to, "trouble",
                 "1 for what an operator has to mend (docs/runbook.md).");
    for (size_t i = 0; i < WATCH_TROUBLES; i++)
        fprintf(to, "hearsay_trouble{name=\"%s\"} %d\n", all[i].name,
                all[i].text[0] != '\0');
}

static void metrics_epochs(FILE *to, struct collector *c)
{
    const struct intake_days days = engine_days(c->engine);
    const uint32_t next = days.last + 1;
    uint64_t open = days.last >= days.first ? next - days.first : 0;
    struct engine_status s;

    engine_status(c->engine, &s);
    if (!s.clock_behind && days.other_last >= next) /* of a clock on trial */
        open += days.other_last + 1 -
                (days.other_first > next ? days.other_first : next);
    metrics_one(to, "open_epochs", "Days whose uploads are taken.", open);
}

struct metrics_listener {
    const char *name;
    struct listen_status s;
};

static void metrics_listeners(FILE *to, const struct metrics_listener *l,
                              size_t n)
{
    static const struct {
        const char *name, *help;
        size_t at;
    } rows[] = {
        {"connections", "Connections now.",
         offsetof(struct listen_status, connections)},
        {"requests_total", "Requests since the start.",
         offsetof(struct listen_status, requests)},
        {"refused_total", "Requests refused before they were read.",
         offsetof(struct listen_status, refused)},
        {"refused_full_total",
         "Of these: with 503, as there was no room for them.",
         offsetof(struct listen_status, full)},
        {"inflight_bytes", "Bytes of bodies in memory.",
         offsetof(struct listen_status, inflight_bytes)},
        {"timeouts_total", "Connections closed for being slow.",
         offsetof(struct listen_status, timeouts)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        metrics_head(to, rows[i].name, rows[i].help);
        for (size_t k = 0; k < n; k++)
            fprintf(to, "hearsay_%s{listener=\"%s\"} %" PRIu64 "\n",
                    rows[i].name, l[k].name,
                    *(const uint64_t *)((const char *)&l[k].s + rows[i].at));
    }
    metrics_head(to, "answers_total",
                 "Answers since the start, by hundreds of their status.");
    for (size_t k = 0; k < n; k++)
        for (size_t i = 1; i < 6; i++)
            fprintf(to,
                    "hearsay_answers_total{listener=\"%s\",status=\"%zuxx\"} "
                    "%" PRIu64 "\n",
                    l[k].name, i, l[k].s.answers[i]);
}

/* What was opened goes up with each device that sends: for operators only. */
static void metrics_sealed(FILE *to, const struct collector *c, uint64_t step)
{
    struct gateway_status s;

    gateway_status(c->gateway, &s);
    metrics_head(to, "sealed_total",
                 "Sealed requests since the start, by what became of them.");
    for (int i = 0; i < GATEWAY_FATES; i++)
        if (step == 1 || i != GATEWAY_OPENED)
            fprintf(to, "hearsay_sealed_total{fate=\"%s\"} %" PRIu64 "\n",
                    gateway_fates[i], s.fates[i]);
    if (step != 1)
        return;
    metrics_head(to, "sealed_answers_total",
                 "Sealed answers, by hundreds of the status inside.");
    for (int i = 2; i < 6; i++)
        fprintf(to,
                "hearsay_sealed_answers_total{status=\"%dxx\"} %" PRIu64 "\n",
                i, s.answers[i]);
}

static void metrics_hop_taken(FILE *to, const struct hop_status *s)
{
    metrics_one(to, "batches_taken_total",
                "Batches of shufflers taken since the start.", s->taken);
    metrics_words(to, "batches_refused_total",
                  "Parts of their deliveries refused, by reason.", "reason",
                  hop_refusals, s->refused, HOP_REFUSALS);
}

static void metrics_hop_states(FILE *to, const struct hop_status *s)
{
    static const char *const states[] = {"waiting", "closed", "mixed",
                                         "received", "erased"};
    const uint64_t n[] = {
        s->states[STORE_MIX_WAITING], s->states[STORE_MIX_CLOSED],
        s->states[STORE_MIX_MIXED],
        s->states[STORE_MIX_ACKED] + s->states[STORE_MIX_ERASED],
        s->states[STORE_MIX_EXPIRED] + s->states[STORE_MIX_GONE]};

    metrics_words(to, "shuffle_batches", "Batches of this shuffler by state.",
                  "state", states, n, sizeof n / sizeof n[0]);
}

/* What a hop of a chain has taken, mixed and passed on. */
static void metrics_hop(FILE *to, struct collector *c)
{
    struct hop_status s;

    if (c->hop == NULL)
        return;
    hop_status(c->hop, &s);
    metrics_hop_taken(to, &s);
    if (!s.shuffles)
        return;
    metrics_hop_states(to, &s);
    metrics_one(to, "shuffle_delivered_total",
                "Envelopes that the next hop has, in all time.", s.delivered);
    metrics_one(to, "shuffle_erased_total",
                "Envelopes erased, as too few came for too long.", s.erased);
    metrics_one(to, "shuffle_unopened_total",
                "Envelopes that did not open, of batches of which too few did.",
                s.unopened);
    metrics_words(to, "shuffle_requests_total",
                  "Requests to the next hop, by what became of them.",
                  "outcome", client_outcomes, s.tries, CLIENT_OUTCOMES);
    metrics_one(to, "shuffle_waits_seconds",
                "For which the next hop takes no batch; 0: it does.", s.waits);
    metrics_one(to, "shuffle_refused", "Batches that the next hop refuses.",
                s.refusals);
}

/* ---- A cluster's node ---------------------------------------------------- */

enum { METRICS_SHARD = 10 };
static const struct {
    const char *name, *help;
} metrics_of_shard[METRICS_SHARD] = {
    {"shard_reachable", "1 if this node can use the database."},
    {"shard_timeline", "Timeline of its primary: one more with each failover."},
    {"shard_replicated", "1 if commits wait for a standby, and it is there."},
    {"shard_commits_total", "Groups of uploads that this node committed."},
    {"shard_uploads_total", "Uploads in them."},
    {"shard_doubts_total",
     "Groups of which this node does not know what became of them."},
    {"shard_retries_total", "Groups that were tried once more."},
    {"shard_folded_total", "Batches that this node folded."},
    {"shard_waiting", "Requests that wait to be committed there."},
    {"shard_unfolded_seconds",
     "For which a batch waits to be folded, at least."}};

static void metrics_shards(FILE *to, const struct cluster_status *s, size_t row)
{
    metrics_head(to, metrics_of_shard[row].name, metrics_of_shard[row].help);
    for (size_t i = 0; i < s->nshards; i++) {
        const struct cluster_shard_status *of = &s->shards[i];
        const uint64_t values[METRICS_SHARD] = {
            of->up,      of->found.timeline, cluster_replicated(of),
            of->commits, of->uploads,        of->doubts,
            of->again,   of->folded,         of->waiting,
            of->unfolded};

        fprintf(to, "hearsay_%s{shard=\"%zu\"} %" PRIu64 "\n",
                metrics_of_shard[row].name, i, values[row]);
    }
}

/* By the number of the shard: its name is the operators'. */
static void metrics_cluster(FILE *to, struct collector *c, uint64_t step)
{
    struct cluster_status s;

    if (!api_look_cluster(c, &s, step))
        return;
    for (size_t row = 0; row < METRICS_SHARD; row++)
        metrics_shards(to, &s, row);
    metrics_one(to, "nodes_alive",
                "Nodes of the cluster that were seen a moment ago.",
                cluster_alive(&s));
    if (c->config.rehearsal == NULL)
        metrics_signed(to, "database_behind_seconds",
                       "How far the database's clock is behind this one's.",
                       s.behind);
}

void api_metrics(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct metrics_listener l[2] = {{.name = "public"}, {.name = "admin"}};
    const size_t n = c->admin != NULL ? 2 : 1;
    const uint64_t step = api_operator(c, q) ? 1 : api_step(c);
    struct watch_figures figures;
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL) {
        api_problem(q, 503, "Out of memory", "try again later");
        return;
    }
    api_look_figures(c, &figures, step);
    api_look_public(c, &l[0].s, step);
    if (n == 2)
        listen_status(c->admin, &l[1].s);
    metrics_engine(to, c, step);
    metrics_waits(to, c, step);
    metrics_sealed(to, c, step);
    metrics_hop(to, c);
    metrics_cluster(to, c, step);
    metrics_epochs(to, c);
    metrics_document(to, c);
    metrics_troubles(to, c);
    metrics_machine(to, c, &figures);
    metrics_process(to, &figures);
    metrics_listeners(to, l, n);
    if (fclose(to) != 0) {
        free(text);
        api_problem(q, 503, "Out of memory", "try again later");
        return;
    }
    request_guard(q, NULL);
    request_answer(q, 200, "text/plain; version=0.0.4; charset=utf-8", text,
                   len, free);
}
