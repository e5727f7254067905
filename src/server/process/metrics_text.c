/* metrics_text.c - names, help and values, a line each. */
#include "server/process/metrics_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

void metrics_head(FILE *to, const char *name, const char *help)
{
    const size_t len = strlen(name), end = sizeof "_total" - 1;
    const bool counts = len > end && strcmp(name + len - end, "_total") == 0;

    fprintf(to, "# HELP hearsay_%s %s\n# TYPE hearsay_%s %s\n", name, help,
            name, counts ? "counter" : "gauge");
}

void metrics_one(FILE *to, const char *name, const char *help, uint64_t value)
{
    metrics_head(to, name, help);
    fprintf(to, "hearsay_%s %" PRIu64 "\n", name, value);
}

void metrics_signed(FILE *to, const char *name, const char *help, int64_t value)
{
    metrics_head(to, name, help);
    fprintf(to, "hearsay_%s %" PRId64 "\n", name, value);
}

void metrics_words(FILE *to, const char *name, const char *help,
                   const char *label, const char *const *words,
                   const uint64_t *values, size_t n)
{
    metrics_head(to, name, help);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "hearsay_%s{%s=\"%s\"} %" PRIu64 "\n", name, label,
                words[i], values[i]);
}
