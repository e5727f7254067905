/* compose.h - composition of reports with several epsilons (compose_mixed.c).
 */
#ifndef LIB_ACCOUNT_COMPOSE_H
#define LIB_ACCOUNT_COMPOSE_H

#include "hearsay.h"

#define COMPOSE_CELLS 8192u /* of the grid of losses */

/* More than rounding takes from a few factors and a sum of so many terms. */
#define COMPOSE_SAFE(terms) (1 + 1e-14 + 4e-16 * (double)(terms))

/* At least the optimal epsilon of all of spent, checked, for delta; scratch
 * has 3 COMPOSE_CELLS. */
double hsy_compose_mixed(const hsy_spent *spent, size_t kinds, double delta,
                         double *scratch);

/* What reports of one epsilon lose, exactly: the least delta for which all
 * together are (total, delta) private if each is private and no more is known
 * of it [KOV15]. */
hsy_status hsy_compose_delta(double *delta, const hsy_spent *spent,
                             double total, hsy_error *err);

#endif
