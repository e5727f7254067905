/*
 * example_tasks.h - one task of each sort, and documents of them, for tests.
 */
#ifndef EXAMPLE_TASKS_H
#define EXAMPLE_TASKS_H

#include "hearsay.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE_TASKS 5u

#define EXAMPLE_DAY 20500u /* 2026-02-16 */

extern const uint8_t example_browsers[31];

/* Tasks, and the wires that they point to. Keep at one address. */
struct example_tasks {
    hsy_task task[EXAMPLE_TASKS];
    uint8_t scheme[EXAMPLE_TASKS][HSY_SCHEME_WIRE];
    uint8_t permanent[EXAMPLE_TASKS][HSY_SCHEME_WIRE];
};

/* A permanent answer at epsilon_permanent (nano), reports at the spec's own; 0:
 * fresh coins. */
bool example_task(struct example_tasks *e, size_t i, const char *id,
                  const char *source, const char *question, hsy_spec spec,
                  uint64_t nano_permanent);

/* Yes or no once; a value each day; yes or no and a number, memoised; a string
 * by RAPPOR. */
bool example_tasks_make(struct example_tasks *e);

/* The document of some tasks, its signature zeros; *len with it. Owned by the
 * caller; NULL: it does not encode. */
uint8_t *example_document(const hsy_task *tasks, size_t n, uint64_t version,
                          size_t *len);

#endif
