/* recent.c - figures that were made a moment ago. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "server/collector/estimator/recent.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECENT_SECONDS 2.0

static double recent_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool recent_same(const struct recent_key *a, const struct recent_key *b)
{
    return a->entry == b->entry && a->first == b->first && a->last == b->last &&
           a->top == b->top && a->level == b->level && a->lying == b->lying &&
           a->generation == b->generation && a->candidates == b->candidates;
}

static char *recent_copy(const char *json, size_t len)
{
    char *copy = malloc(len + 1);

    if (copy != NULL) {
        memcpy(copy, json, len);
        copy[len] = '\0';
    }
    return copy;
}

bool recent_find(const struct recent *r, const struct recent_key *key,
                 char **json, size_t *len)
{
    for (size_t i = 0; i < RECENT_FIGURES; i++) {
        if (r->figures[i].json == NULL ||
            !recent_same(&r->figures[i].key, key) ||
            recent_now() > r->figures[i].made + RECENT_SECONDS)
            continue;
        *json = recent_copy(r->figures[i].json, r->figures[i].len);
        *len = r->figures[i].len;
        return *json != NULL;
    }
    return false;
}

void recent_keep(struct recent *r, const struct recent_key *key,
                 const char *json, size_t len)
{
    size_t oldest = 0;

    for (size_t i = 1; i < RECENT_FIGURES; i++) {
        if (r->figures[i].made < r->figures[oldest].made)
            oldest = i;
    }
    free(r->figures[oldest].json);
    r->figures[oldest].key = *key;
    r->figures[oldest].made = recent_now();
    r->figures[oldest].json = recent_copy(json, len);
    r->figures[oldest].len = len;
}

void recent_clear(struct recent *r)
{
    for (size_t i = 0; i < RECENT_FIGURES; i++)
        free(r->figures[i].json);
    *r = (struct recent){0};
}
