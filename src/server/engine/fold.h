/*
 * fold.h - reports of a batch become counts of tallies; whoever holds them.
 */
#ifndef SERVER_ENGINE_FOLD_H
#define SERVER_ENGINE_FOLD_H

#include "server/intake/roster.h"
#include "server/store/store.h"

/* Memory that is used from batch to batch. */
struct fold_space {
    uint8_t *reports, *scratch; /* owned */
    size_t reports_room, scratch_room;
};
void fold_space_clear(struct fold_space *s);

/* Add a batch to the tally of all reports and to that of its day (NULL: there
 * is none). A merged tally goes to the first alone. HSY_E_DAMAGED, HSY_E_NOMEM:
 * some of it may have been added. */
hsy_status fold_batch(struct fold_space *s, const struct roster_entry *is,
                      hsy_tally *whole, hsy_tally *day,
                      const struct store_batch *b, hsy_error *err);

#endif
