/* permute.h - an order in which every order is as likely as any other. */
#ifndef SERVER_SHUFFLE_PERMUTE_H
#define SERVER_SHUFFLE_PERMUTE_H

#include "hearsay.h"

/*
 * Fill place with the numbers below n, in one of the n! orders, each with
 * probability exactly 1/n! if the source's words are uniform. HSY_E_ENTROPY:
 * the source failed, and what is in place is no order to be used.
 */
hsy_status permute(uint32_t *place, uint32_t n, hsy_rng *rng);

#endif
