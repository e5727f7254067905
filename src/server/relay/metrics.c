/*
 * metrics.c - how a relay does: counters of requests and connections.
 */
#define _GNU_SOURCE /* open_memstream */
#include "server/relay/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/process/metrics_text.h"

static void metrics_pool(FILE *to, const struct pool_status *s)
{
    metrics_one(to, "relay_forwarded_total",
                "Sealed requests taken for the gateway since the start.",
                s->forwarded);
    metrics_one(to, "relay_answered_total",
                "Answers of the gateway that were given on.", s->answered);
    metrics_words(to, "relay_failed_total", "Requests without one, by why.",
                  "why", pool_failures, s->failures, POOL_FAILURES);
    metrics_one(to, "relay_gateway_connections", "Connections to the gateway.",
                s->links);
    metrics_one(to, "relay_gateway_connections_total",
                "Connections to the gateway that were made.", s->opened);
    metrics_one(to, "relay_waiting",
                "Requests that wait for a connection to the gateway.",
                s->waiting);
    metrics_one(to, "relay_at_work", "Requests that are not answered yet.",
                s->at_work);
    metrics_one(to, "relay_gateway_reached",
                "1 if the last connection to the gateway came about.",
                s->reached);
}

static void metrics_listen(FILE *to, const struct listen_status *s)
{
    metrics_one(to, "relay_connections", "Connections of clients.",
                s->connections);
    metrics_one(to, "relay_requests_total",
                "Requests since the start, of whatever kind.", s->requests);
    metrics_one(to, "relay_refused_total",
                "Requests refused by their head alone.", s->refused);
    metrics_one(to, "relay_full_total",
                "Of these, for want of connections or memory.", s->full);
    metrics_one(to, "relay_timeouts_total",
                "Connections closed, as their time was up.", s->timeouts);
    metrics_one(to, "relay_inflight_bytes",
                "Bodies that are being taken, in bytes.", s->inflight_bytes);
    metrics_head(to, "relay_answers_total",
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
