/* tap.c - see tap.h. */

#include "tap.h"

#include <inttypes.h>
#include <stdarg.h>

int tap_count;
static int tap_failed;
/* What the comparisons since the last result found unequal. */
static char tap_notes[2048];

__attribute__((format(printf, 1, 2))) static bool tap_note(const char *form,
                                                           ...)
{
    size_t used = strlen(tap_notes);
    va_list args;

    va_start(args, form);
    vsnprintf(tap_notes + used, sizeof tap_notes - used, form, args);
    va_end(args);
    return false;
}

bool tap_eq_u64(const char *what, uint64_t got, uint64_t want)
{
    return got == want ||
           tap_note("#   %s: got %" PRIu64 ", want %" PRIu64 "\n", what, got,
                    want);
}

bool tap_eq_int(const char *what, int64_t got, int64_t want)
{
    return got == want ||
           tap_note("#   %s: got %" PRId64 ", want %" PRId64 "\n", what, got,
                    want);
}

bool tap_eq_status(const char *what, hsy_status got, hsy_status want)
{
    return got == want ||
           tap_note("#   %s: got %d (%s), want %d (%s)\n", what, (int)got,
                    hsy_strstatus(got), (int)want, hsy_strstatus(want));
}

bool tap_eq_text(const char *what, const char *got, const char *want)
{
    return got == want || (got && want && strcmp(got, want) == 0) ||
           tap_note("#   %s: got \"%s\", want \"%s\"\n", what,
                    got ? got : "(null)", want ? want : "(null)");
}

bool tap_eq_bytes(const char *what, const void *got, const void *want,
                  size_t len)
{
    const uint8_t *g = got, *w = want;
    size_t i = 0;

    while (i < len && g[i] == w[i])
        i++;
    return i == len ||
           tap_note("#   %s: byte %zu of %zu: got 0x%02x, want 0x%02x\n", what,
                    i, len, g[i], w[i]);
}

bool tap_eq_near(const char *what, double got, double want, double within)
{
    return (got - want <= within && want - got <= within) || got == want ||
           tap_note("#   %s: got %.17g, want %.17g within %g\n", what, got,
                    want, within);
}

bool tap_ok(const char *file, int line, const char *condition, bool passed,
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

void tap_skip(const char *why)
{
    printf("ok %d # SKIP %s\n", ++tap_count, why);
}

int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}
