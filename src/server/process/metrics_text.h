/*
 * metrics_text.h - Prometheus' text format.
 *
 * Names stand without "hearsay_". One that ends in _total is a counter, any
 * other a gauge. Labels are words of ours: nothing that a device or a client
 * sent, and nothing that could name one.
 */
#ifndef SERVER_PROCESS_METRICS_TEXT_H
#define SERVER_PROCESS_METRICS_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What stands before the values of a name. */
void metrics_head(FILE *to, const char *name, const char *help);
void metrics_one(FILE *to, const char *name, const char *help, uint64_t value);
void metrics_signed(FILE *to, const char *name, const char *help,
                    int64_t value);

/* One value for each of n words of a label. */
void metrics_words(FILE *to, const char *name, const char *help,
                   const char *label, const char *const *words,
                   const uint64_t *values, size_t n);

#endif
