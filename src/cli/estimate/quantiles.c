/* quantiles.c - hearsay estimate --quantile and --between. */
#include "cli/estimate/internal.h"

#include <string.h>

/* ---- Options ------------------------------------------------------------- */

static struct estimate_range *ranges_add(struct cli_parser *p,
                                         struct estimate_ranges *asked)
{
    struct estimate_range *range;

    if (asked->count == ESTIMATE_RANGES_MAX) {
        cli_usage(p, "at most %u quantiles and ranges at once",
                  ESTIMATE_RANGES_MAX);
        return NULL;
    }
    range = &asked->range[asked->count++];
    *range = (struct estimate_range){0};
    return range;
}

/* Copy text[0..len) into a fixed field, if it fits. */
static bool ranges_copy(char *out, size_t room, const char *text, size_t len)
{
    if (len == 0 || len >= room)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

bool estimate_ranges_quantile(struct cli_parser *p, void *to)
{
    struct estimate_ranges *asked = &((struct estimate_options *)to)->ranges;
    const char *at = p->value;

    for (;;) {
        size_t len = strcspn(at, ",");
        struct estimate_range *range = ranges_add(p, asked);

        if (range == NULL)
            return false;
        if (!ranges_copy(range->from, sizeof range->from, at, len) ||
            !text_share(&range->q, at, len)) {
            cli_usage(p, "--quantile takes fractions between 0 and 1, e.g. 0.5 "
                         "or 50%%, separated by commas");
            return false;
        }
        if (at[len] == '\0')
            return true;
        at += len + 1;
    }
}

bool estimate_ranges_between(struct cli_parser *p, void *to)
{
    struct estimate_ranges *asked = &((struct estimate_options *)to)->ranges;
    const char *colon = strchr(p->value, ':');
    struct estimate_range *range = ranges_add(p, asked);

    if (range == NULL)
        return false;
    if (colon == NULL ||
        !ranges_copy(range->from, sizeof range->from, p->value,
                     (size_t)(colon - p->value)) ||
        !ranges_copy(range->to, sizeof range->to, colon + 1,
                     strlen(colon + 1))) {
        cli_usage(p, "--between takes LO:HI, two numbers of the range");
        return false;
    }
    return true;
}

/* ---- Edges --------------------------------------------------------------- */

/* The number text of the range as an edge of a bin, or a message. */
static int ranges_edge(const hsy_scheme_info *info, const char *text,
                       size_t *edge)
{
    char below[ANALYSIS_DECIMAL], above[ANALYSIS_DECIMAL];
    uint32_t low;

    switch (analysis_edge_find(&low, info, text)) {
    case HSY_OK:
        *edge = low;
        return 0;
    case HSY_E_FORMAT:
        return cli_fail("--between: '%s' is not a number of the range", text);
    case HSY_E_RANGE:
        return cli_fail("--between: %s lies outside the range %s:%s", text,
                        analysis_decimal(below, info->lo, info->scale),
                        analysis_decimal(above, info->hi, info->scale));
    default:
        return cli_fail(
            "--between: %s is inside a bin; the nearest edges are %s and %s",
            text,
            analysis_decimal(below, analysis_edge(info, low), info->scale),
            analysis_decimal(above, analysis_edge(info, low + 1), info->scale));
    }
}

/* ---- As the room takes them ---------------------------------------------- */

static int ranges_between(hsy_analysis_range *out, const hsy_scheme_info *info,
                          const struct estimate_range *range)
{
    int failed = ranges_edge(info, range->from, &out->from);

    if (!failed)
        failed = ranges_edge(info, range->to, &out->to);
    if (!failed && out->from >= out->to)
        failed =
            cli_fail("--between %s:%s: the low end must be below the high end",
                     range->from, range->to);
    return failed;
}

int estimate_ranges_ask(hsy_analysis_range out[ESTIMATE_RANGES_MAX],
                        struct estimate_ranges *asked,
                        const hsy_scheme_info *info)
{
    int failed = 0;

    for (size_t i = 0; i < asked->count && !failed; i++) {
        struct estimate_range *range = &asked->range[i];

        if (range->q > 0)
            snprintf(range->name, sizeof range->name, "quantile %s",
                     range->from);
        else
            snprintf(range->name, sizeof range->name, "between %s:%s",
                     range->from, range->to);
        out[i] =
            (hsy_analysis_range){.quantile = range->q, .name = range->name};
        if (range->q == 0)
            failed = ranges_between(&out[i], info, range);
    }
    return failed;
}
