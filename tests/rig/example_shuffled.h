/*
 * example_shuffled.h - a task made a shuffled one, and parties, for tests.
 */
#ifndef EXAMPLE_SHUFFLED_H
#define EXAMPLE_SHUFFLED_H

#include "hearsay.h"

#define EXAMPLE_CENTRAL                                                        \
    998877665u /* nano-epsilon that example_shuffle claims */

/* Statements and a key that a task points to. */
struct example_statements {
    uint8_t collector_key[HSY_SEAL_KEY]; /* bytes 33 */
    uint8_t wire[HSY_SHUFFLERS_MAX][HSY_STATEMENT_WIRE];
};

/* What shuffler `place` of so many says about a task, from a day on for 500;
 * it signs with a key of bytes 100 + place, its signature is zeros. */
hsy_statement example_statement(const hsy_task *task, uint32_t place,
                                uint32_t of, uint32_t from);

/* Give a task shufflers, whose statements are signed as in a simulated world
 * (device_sign.h) and stand in e. */
void example_shuffle(hsy_task *task, struct example_statements *e,
                     uint32_t shufflers, uint32_t from);

/* A gateway with two keys, and a relay. */
hsy_parties example_parties(void);

#endif
