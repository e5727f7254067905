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

#endif
