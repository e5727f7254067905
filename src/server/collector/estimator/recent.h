/*
 * recent.h - figures that were made a moment ago, for who asks the same.
 *
 * Several readers of one page ask the same of the same tally. A figure stands
 * for two seconds, unless another generation is shown. Used by one thread.
 */
#ifndef SERVER_COLLECTOR_ESTIMATOR_RECENT_H
#define SERVER_COLLECTOR_ESTIMATOR_RECENT_H

#include "server/collector/estimator/estimator.h"

/* What was asked, in full. */
struct recent_key {
    uint32_t entry, first, last, top;
    double level, lying;
    uint64_t generation; /* of what is shown */
    uint32_t candidates; /* a checksum of their list */
};

#define RECENT_FIGURES 16u

struct recent {
    struct {
        struct recent_key key;
        double made;
        char *json; /* owned */
        size_t len;
    } figures[RECENT_FIGURES];
};

/* A copy of such a figure, to be freed; false if there is none. */
bool recent_find(const struct recent *r, const struct recent_key *key,
                 char **json, size_t *len);

/* Keep a copy, in the place of the oldest; no memory is no figure. */
void recent_keep(struct recent *r, const struct recent_key *key,
                 const char *json, size_t len);
void recent_clear(struct recent *r);

#endif
