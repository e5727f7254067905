/* quantiles.c - hearsay estimate --quantile and --between. */
#include "cli/estimate/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
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

bool estimate_ranges_quantile(struct cli_parser *p,
                              struct estimate_ranges *asked)
{
    const char *at = p->value;

    for (;;) {
        size_t len = strcspn(at, ",");
        struct estimate_range *range = ranges_add(p, asked);

        if (range == NULL)
            return false;
        if (!ranges_copy(range->from, sizeof range->from, at, len) ||
            !cli_parse_fraction(&range->q, at, len)) {
            cli_usage(p, "--quantile: a fraction between 0 and 1, as 0.5 or "
                         "50%%, or several with commas (0.5,0.9)");
            return false;
        }
        if (at[len] == '\0')
            return true;
        at += len + 1;
    }
}

bool estimate_ranges_between(struct cli_parser *p,
                             struct estimate_ranges *asked)
{
    const char *colon = strchr(p->value, ':');
    struct estimate_range *range = ranges_add(p, asked);

    if (range == NULL)
        return false;
    if (colon == NULL ||
        !ranges_copy(range->from, sizeof range->from, p->value,
                     (size_t)(colon - p->value)) ||
        !ranges_copy(range->to, sizeof range->to, colon + 1,
                     strlen(colon + 1))) {
        cli_usage(p, "--between LO:HI: two numbers of the range");
        return false;
    }
    return true;
}

/* ---- Edges --------------------------------------------------------------- */

/* The number text of the range as an edge of a bin, or a message naming the
 * nearest ones: nothing is rounded in silence. */
static int ranges_edge(const hsy_scheme_info *info, const char *text,
                       size_t *edge)
{
    char below[SHARES_DECIMAL], above[SHARES_DECIMAL];
    uint32_t low = 0, high = info->d;
    int64_t number;

    if (hsy_decimal_parse(&number, text, strlen(text), info->scale) != HSY_OK)
        return cli_fail("--between: '%s' is not a number of the range", text);
    if (number < info->lo || number > info->hi)
        return cli_fail("--between: %s lies outside the range %s:%s", text,
                        shares_decimal(below, info->lo, info->scale),
                        shares_decimal(above, info->hi, info->scale));
    while (low + 1 < high) { /* edge(low) <= number < edge(high), or the end */
        uint32_t middle = low + (high - low) / 2;

        if (shares_edge(info, middle) <= number)
            low = middle;
        else
            high = middle;
    }
    *edge = number == info->hi ? info->d : low;
    if (number == info->hi || shares_edge(info, low) == number)
        return 0;
    return cli_fail(
        "--between: %s is inside a bin; the nearest edges are %s and %s", text,
        shares_decimal(below, shares_edge(info, low), info->scale),
        shares_decimal(above, shares_edge(info, high), info->scale));
}

/* ---- Estimating ---------------------------------------------------------- */

static int ranges_failed(const struct estimate_options *o, const hsy_error *err)
{
    if (err->field != NULL && strcmp(err->field, "interval") == 0)
        return cli_fail("--interval %s: %s",
                        estimate_interval_names[o->how.interval], err->msg);
    return cli_fail_error(NULL, err);
}

static int ranges_one(struct estimate_range *range, const hsy_scheme_info *info,
                      const hsy_ranges *r, const struct estimate_options *o,
                      const hsy_confidence *how)
{
    hsy_error err = {0};
    hsy_status st;
    size_t from = 0, to = 0;
    int failed;

    if (range->q > 0) {
        st = shares_quantile(&range->est, info, r, range->q, how, &err);
        return st == HSY_OK ? 0 : ranges_failed(o, &err);
    }
    failed = ranges_edge(info, range->from, &from);
    if (!failed)
        failed = ranges_edge(info, range->to, &to);
    if (failed)
        return failed;
    if (from >= to)
        return cli_fail("--between %s:%s: the low end is not below the high "
                        "end",
                        range->from, range->to);
    st = hsy_range(&range->est, r, from, to, how, &err);
    return st == HSY_OK ? 0 : ranges_failed(o, &err);
}

/* ---- Showing ------------------------------------------------------------- */

static void ranges_name(const struct estimate_range *range,
                        struct cli_cell *out)
{
    if (range->q > 0)
        snprintf(out->shown, sizeof out->shown, "quantile %s", range->from);
    else
        snprintf(out->shown, sizeof out->shown, "between %s:%s", range->from,
                 range->to);
    out->type = CLI_TEXT;
    out->text = out->shown;
    out->len = strlen(out->shown);
}

static void ranges_cell(const void *ctx, size_t row, size_t column,
                        struct cli_cell *out)
{
    const struct estimate_ranges *asked = ctx;
    const struct estimate_range *range = &asked->range[row];
    const double numbers[] = {range->est.value, range->est.sd, range->est.low,
                              range->est.high};

    if (column == 0) {
        ranges_name(range, out);
        return;
    }
    *out = cli_number(numbers[column - 1]);
    if (range->q > 0)
        snprintf(out->shown, sizeof out->shown, "%.6g", out->number);
    else
        snprintf(out->shown, sizeof out->shown, "%.3f %%", 100 * out->number);
}

static void ranges_show(const struct estimate_ranges *asked,
                        const struct gather *g,
                        const struct estimate_options *o)
{
    static const struct cli_column columns[] = {{"value", NULL},
                                                {"estimate", NULL},
                                                {"stderr", "std. error"},
                                                {"low", "from"},
                                                {"high", "to"}};
    const struct cli_table table = {columns, 5, asked->count, ranges_cell,
                                    asked};
    const uint64_t reports = hsy_tally_reports(&g->tally);
    const struct estimate_notes notes = estimate_notes(g);
    const struct cli_field fields[] = {
        {"mechanism", cli_text(g->info.mechanism)},
        {"epsilon", cli_number(g->info.epsilon)},
        {"epsilon_exact", cli_number(g->info.epsilon_exact)},
        {"reports", cli_count(reports)},
        {"level", cli_number(o->how.level)},
        {"interval", cli_text(g->info.iterative
                                  ? "linear"
                                  : estimate_interval_names[o->how.interval])},
        {"simultaneous", cli_bool(o->simultaneous)},
        {"target", cli_text(estimate_target_names[o->how.target])},
        {"post", cli_text(estimate_post_names[o->post])},
        {"kind", cli_text(hsy_kind_name(g->info.kind))},
        {"rounds", estimate_rounds(g)},
        {"devices", estimate_devices(g)},
        {"notes", cli_list(notes.text, notes.n)},
    };

    if (o->format == CLI_TABLE) {
        printf("%s, epsilon %.9g, %" PRIu64 " report%s\n%s; %.14g %% "
               "intervals\n",
               g->info.mechanism, g->info.epsilon, reports,
               reports == 1 ? "" : "s", estimate_among(o), 100 * o->how.level);
        estimate_attendance_say(g);
        putchar('\n');
    }
    cli_print_said(o->format, &table, fields, sizeof fields / sizeof fields[0],
                   "estimates", estimate_said);
}

int estimate_ranges_run(struct estimate_ranges *asked, const struct gather *g,
                        const struct estimate_options *o)
{
    hsy_confidence how = o->how;
    hsy_error err = {0};
    hsy_ranges r;
    void *scratch;
    hsy_status st;
    int failed = 0;

    if (g->info.kind != HSY_KIND_BINS)
        return cli_fail("--quantile and --between are for a range in bins; "
                        "this tally is of another kind");
    if (o->density == HSY_DENSITY_EMS)
        return cli_fail("--quantile and --between: smoothing has a bias that "
                        "reports do not show; take --density em");
    if (g->info.iterative && o->has_interval)
        return cli_fail("--interval: intervals of shares by EM are linear "
                        "bounds only");
    if (hsy_tally_reports(&g->tally) == 0)
        return cli_fail("%s: no data: it holds no reports", g->first);
    how.comparisons = o->simultaneous ? asked->count : 1;
    scratch = malloc(hsy_ranges_scratch(g->scheme) + 1);
    if (scratch == NULL)
        return cli_fail_nomem();
    st = hsy_ranges_open(&r, g->scheme, &g->tally, scratch, &err);
    if (st == HSY_OK && g->attends)
        st = hsy_ranges_attend(&r, NULL, &g->attended, &err);
    if (st != HSY_OK)
        failed = cli_fail_error(g->first, &err);
    for (size_t i = 0; i < asked->count && !failed; i++)
        failed = ranges_one(&asked->range[i], &g->info, &r, o, &how);
    if (!failed)
        ranges_show(asked, g, o);
    free(scratch);
    return failed ? failed : cli_finish();
}
