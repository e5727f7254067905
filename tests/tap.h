/*
 * tap.h - test results as TAP lines.
 *
 *     ok(condition, "sentence", ...)       the sentence is a format of printf
 *     is_u64(got, want, "sentence", ...)   and so for int, status, text,
 *                                          bytes (and a length); near
 *
 * Of a failure, standard error has the place, the condition, and what was got
 * and wanted. In a condition, eq_ compares as is_ does and tells the same:
 *
 *     ok(eq_status(f(x), HSY_OK) && eq_u64(x->n, 3), "f counts");
 */
#ifndef TAP_H
#define TAP_H

#include "hearsay.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern int tap_count; /* results so far */

#define ok(condition, ...)                                                     \
    tap_ok(__FILE__, __LINE__, #condition, condition, __VA_ARGS__)
#define tap_is(passed, ...)                                                    \
    tap_ok(__FILE__, __LINE__, NULL, passed, __VA_ARGS__)

#define eq_u64(got, want) tap_eq_u64(#got, got, want)
#define eq_int(got, want) tap_eq_int(#got, got, want)
#define eq_status(got, want) tap_eq_status(#got, got, want)
#define eq_text(got, want) tap_eq_text(#got, got, want)
#define eq_bytes(got, want, len) tap_eq_bytes(#got, got, want, len)
#define eq_near(got, want, within) tap_eq_near(#got, got, want, within)

#define is_u64(got, want, ...) tap_is(tap_eq_u64(#got, got, want), __VA_ARGS__)
#define is_int(got, want, ...) tap_is(tap_eq_int(#got, got, want), __VA_ARGS__)
#define is_status(got, want, ...)                                              \
    tap_is(tap_eq_status(#got, got, want), __VA_ARGS__)
#define is_text(got, want, ...)                                                \
    tap_is(tap_eq_text(#got, got, want), __VA_ARGS__)
#define is_bytes(got, want, len, ...)                                          \
    tap_is(tap_eq_bytes(#got, got, want, len), __VA_ARGS__)
#define near(got, want, within, ...)                                           \
    tap_is(tap_eq_near(#got, got, want, within), __VA_ARGS__)

void tap_skip(const char *why);

/* The plan at the end; the value main returns. */
int tap_done(void);

/* ---- Behind the words ---------------------------------------------------- */

__attribute__((format(printf, 5, 6))) bool tap_ok(const char *file, int line,
                                                  const char *condition,
                                                  bool passed,
                                                  const char *sentence, ...);
bool tap_eq_u64(const char *what, uint64_t got, uint64_t want);
bool tap_eq_int(const char *what, int64_t got, int64_t want);
bool tap_eq_status(const char *what, hsy_status got, hsy_status want);
bool tap_eq_text(const char *what, const char *got, const char *want);
bool tap_eq_bytes(const char *what, const void *got, const void *want,
                  size_t len);
bool tap_eq_near(const char *what, double got, double want, double within);

#endif
