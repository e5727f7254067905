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

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;
/* What the comparisons since the last result found unequal. */
static char tap_notes[2048];

__attribute__((format(printf, 1, 2))) static inline bool
tap_note(const char *form, ...)
{
    size_t used = strlen(tap_notes);
    va_list args;

    va_start(args, form);
    vsnprintf(tap_notes + used, sizeof tap_notes - used, form, args);
    va_end(args);
    return false;
}

static inline bool tap_eq_u64(const char *what, uint64_t got, uint64_t want)
{
    return got == want ||
           tap_note("#   %s: got %" PRIu64 ", want %" PRIu64 "\n", what, got,
                    want);
}

static inline bool tap_eq_int(const char *what, int64_t got, int64_t want)
{
    return got == want ||
           tap_note("#   %s: got %" PRId64 ", want %" PRId64 "\n", what, got,
                    want);
}

static inline bool tap_eq_status(const char *what, hsy_status got,
                                 hsy_status want)
{
    return got == want ||
           tap_note("#   %s: got %d (%s), want %d (%s)\n", what, (int)got,
                    hsy_strstatus(got), (int)want, hsy_strstatus(want));
}

static inline bool tap_eq_text(const char *what, const char *got,
                               const char *want)
{
    return got == want || (got && want && strcmp(got, want) == 0) ||
           tap_note("#   %s: got \"%s\", want \"%s\"\n", what,
                    got ? got : "(null)", want ? want : "(null)");
}

static inline bool tap_eq_bytes(const char *what, const void *got,
                                const void *want, size_t len)
{
    const uint8_t *g = got, *w = want;
    size_t i = 0;

    while (i < len && g[i] == w[i])
        i++;
    return i == len ||
           tap_note("#   %s: byte %zu of %zu: got 0x%02x, want 0x%02x\n", what,
                    i, len, g[i], w[i]);
}

static inline bool tap_eq_near(const char *what, double got, double want,
                               double within)
{
    return (got - want <= within && want - got <= within) || got == want ||
           tap_note("#   %s: got %.17g, want %.17g within %g\n", what, got,
                    want, within);
}

__attribute__((format(printf, 5, 6))) static inline bool
tap_ok(const char *file, int line, const char *condition, bool passed,
       const char *sentence, ...)
{
    va_list args;

    va_start(args, sentence);
    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    vprintf(sentence, args);
    putchar('\n');
    va_end(args);
    if (!passed) {
        tap_failed++;
        fflush(stdout);
        fprintf(stderr, "# at %s:%d\n", file, line);
        if (condition != NULL)
            fprintf(stderr, "#   %s\n", condition);
        fputs(tap_notes, stderr);
    }
    tap_notes[0] = '\0';
    return passed;
}

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

static inline void tap_skip(const char *why)
{
    printf("ok %d # SKIP %s\n", ++tap_count, why);
}

/* The plan at the end; the value main returns. */
static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
