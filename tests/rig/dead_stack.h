/*
 * dead_stack.h - run something on a stack that can be read once it has ended.
 *
 * Sanitizers lay out frames, and watch them, in their own way: not under them
 * (sanitized.h).
 */
#ifndef DEAD_STACK_H
#define DEAD_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern _Alignas(4096) uint8_t dead_stack[1 << 18];

bool dead_stack_run(void (*act)(void));

/* How many of these words are found on the stack; they are sorted for it. */
size_t dead_stack_holds(uint64_t *words, size_t n);

#endif
