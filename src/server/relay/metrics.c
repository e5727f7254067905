/*
 * metrics.c - how a relay does: counters of requests and connections.
 *
 * Labels are words of ours; nothing is about a client or one request.
 */
#define _GNU_SOURCE /* open_memstream */
#include "server/relay/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void metrics_head(FILE *to, const char *name, const char *type,
                         const char *help)
{
    fprintf(to, "# HELP hearsay_relay_%s %s\n# TYPE hearsay_relay_%s %s\n",
            name, help, name, type);
}

static void metrics_one(FILE *to, const char *name, const char *type,
                        const char *help, uint64_t value)
{
    metrics_head(to, name, type, help);
    fprintf(to, "hearsay_relay_%s %" PRIu64 "\n", name, value);
}

static void metrics_pool(FILE *to, const struct pool_status *s)
{
    metrics_one(to, "forwarded_total", "counter",
                "Sealed requests taken for the gateway since the start.",
                s->forwarded);
    metrics_one(to, "answered_total", "counter",
                "Answers of the gateway that were given on.", s->answered);
    metrics_head(to, "failed_total", "counter",
                 "Requests without one, by why.");
    for (int i = 0; i < POOL_FAILURES; i++)
        fprintf(to, "hearsay_relay_failed_total{why=\"%s\"} %" PRIu64 "\n",
                pool_failures[i], s->failures[i]);
    metrics_one(to, "gateway_connections", "gauge",
                "Connections to the gateway.", s->links);
    metrics_one(to, "gateway_connections_total", "counter",
                "Connections to the gateway that were made.", s->opened);
    metrics_one(to, "waiting", "gauge",
                "Requests that wait for a connection to the gateway.",
                s->waiting);
    metrics_one(to, "at_work", "gauge", "Requests that are not answered yet.",
                s->at_work);
    metrics_one(to, "gateway_reached", "gauge",
                "1 if the last connection to the gateway came about.",
                s->reached);
}

static void metrics_listen(FILE *to, const struct listen_status *s)
{
    metrics_one(to, "connections", "gauge", "Connections of clients.",
                s->connections);
    metrics_one(to, "requests_total", "counter",
                "Requests since the start, of whatever kind.", s->requests);
    metrics_one(to, "refused_total", "counter",
                "Requests refused by their head alone.", s->refused);
    metrics_one(to, "full_total", "counter",
                "Of these, for want of connections or memory.", s->full);
    metrics_one(to, "timeouts_total", "counter",
                "Connections closed, as their time was up.", s->timeouts);
    metrics_one(to, "inflight_bytes", "gauge",
                "Bodies that are being taken, in bytes.", s->inflight_bytes);
    metrics_head(to, "answers_total", "counter",
                 "Answers to clients, by hundreds of their status.");
    for (int i = 2; i < 6; i++)
        fprintf(to,
                "hearsay_relay_answers_total{status=\"%dxx\"} %" PRIu64 "\n", i,
                s->answers[i]);
}

char *relay_metrics_text(const struct relay_figures *f, size_t *len)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, len);
    bool good;

    if (to == NULL)
        return NULL;
    metrics_pool(to, &f->pool);
    metrics_listen(to, &f->listen);
    good = ferror(to) == 0;
    if (fclose(to) != 0 || !good) {
        free(text);
        return NULL;
    }
    return text;
}
