/*
 * recent.h - the figures that were made last, for who asks the same.
 *
 * The estimator's thread and the desk both keep theirs here, so that no figure
 * is made twice while the same generation is shown. Not locked.
 */
#ifndef SERVER_COLLECTOR_ESTIMATOR_RECENT_H
#define SERVER_COLLECTOR_ESTIMATOR_RECENT_H

#include "server/collector/figures/figures.h"

/* What was asked, in full. A figure holds its roster, so that no other entry
 * can come to stand where its entry stands. */
struct recent_key {
    const struct roster_entry *entry;
    uint32_t first, last, top;
    double level, lying;
    uint64_t generation; /* of what is shown */
    uint32_t candidates; /* a checksum of their list */
};

#define RECENT_FIGURES 32u

struct recent {
    struct {
        struct recent_key key;
        struct figure *figure; /* held; NULL: none */
    } figures[RECENT_FIGURES];
    size_t next; /* place of the oldest */
};

/* Such a figure, to be dropped; NULL if there is none. */
struct figure *recent_find(const struct recent *r,
                           const struct recent_key *key);

/* Hold a figure, in the place of the same task's of an older generation, or of
 * the oldest. */
void recent_keep(struct recent *r, const struct recent_key *key,
                 struct figure *figure);
void recent_clear(struct recent *r);

#endif
