/*
 * worth.h - how much a report may tell if a batch of them promises less.
 *
 * For whoever plans a batch of shuffled reports: tasks, plans and simulations.
 */
#ifndef HOST_WORTH_WORTH_H
#define HOST_WORTH_WORTH_H

#include "hearsay.h"

/*
 * The largest epsilon of a report for which a batch of spec's reports is proved
 * to have `central`, into spec->nano_epsilon; spec->mechanism becomes what was
 * chosen, a literal. What the batch is worth with it, which may be NULL, is at
 * most that. A report's epsilon is never less than `central`, which needs no
 * batch. HSY_E_RANGE, HSY_E_NOMEM, and what hsy_scheme_init refuses.
 */
hsy_status worth_largest(hsy_spec *spec, hsy_worth *out, const hsy_batch *b,
                         double central, hsy_error *err);

/* What a batch of a spec's reports is worth. */
hsy_status worth_spec(hsy_worth *out, const hsy_spec *spec, const hsy_batch *b,
                      hsy_error *err);

/* A share, as 0.9, in billionths. */
hsy_ratio worth_share(double share);

#endif
