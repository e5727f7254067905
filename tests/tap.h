/* tap.h - test results as TAP lines: ok(condition, "sentence"). */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3))) static inline bool
ok(bool passed, const char *sentence, ...)
{
    va_list args;

    va_start(args, sentence);
    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    vprintf(sentence, args);
    putchar('\n');
    va_end(args);
    if (!passed)
        tap_failed++;
    return passed;
}

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
