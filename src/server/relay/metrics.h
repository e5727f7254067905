/* metrics.h - a relay's counters in Prometheus' text format. */
#ifndef SERVER_RELAY_METRICS_H
#define SERVER_RELAY_METRICS_H

#include "server/relay/pool.h"

struct relay_figures {
    struct pool_status pool;
    struct listen_status listen;
};

/* To be freed; NULL: out of memory. */
char *relay_metrics_text(const struct relay_figures *f, size_t *len);

#endif
