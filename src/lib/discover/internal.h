/* internal.h - what searches share: how they fail, and what is wanted of them
 * where nothing is said. */
#ifndef LIB_DISCOVER_INTERNAL_H
#define LIB_DISCOVER_INTERNAL_H

#include "lib/core/fail.h"

#define SEARCH_TOP 16u
#define SEARCH_KEEP 2u
#define SEARCH_ALPHA 0.05

/* Refuse what no search takes. */
hsy_status hsy_search_check(double alpha, uint64_t max_candidates,
                            hsy_error *err);

/* how with its choices made. */
hsy_status hsy_search_settle(hsy_search *out, const hsy_search *how,
                             hsy_error *err);

#endif
