/* ranges.c - shares of runs of bins, and quantiles. */
#include "host/analysis/internal.h"

#include <stdlib.h>
#include <string.h>

/* Ranges of a tally of bins; *scratch is to be freed either way. */
static hsy_status ranges_open(hsy_ranges *r, void **scratch,
                              const hsy_analysis_tally *t, hsy_error *err)
{
    hsy_status st;

    *scratch = malloc(hsy_ranges_scratch(t->scheme) + 1);
    if (*scratch == NULL)
        return host_nomem(err);
    st = hsy_ranges_open(r, t->scheme, t->tally, *scratch, err);
    if (st == HSY_OK && t->attended != NULL)
        st = hsy_ranges_attend(r, t->permanent, t->attended, err);
    return st;
}

static hsy_status ranges_row(hsy_analysis_row *row,
                             const hsy_analysis_range *range,
                             const hsy_scheme_info *info, const hsy_ranges *r,
                             const hsy_confidence *how, hsy_error *err)
{
    if (range->name != NULL)
        row->value = (hsy_analysis_text){range->name, strlen(range->name)};
    row->mean = range->quantile > 0;
    if (row->mean)
        return analysis_quantile(&row->est, info, r, range->quantile, how, err);
    return hsy_range(r, &row->est, range->from, range->to, how, err);
}

static hsy_status ranges_rows(hsy_analysis_row **rows, size_t *count,
                              const struct analysis_job *j,
                              const hsy_analysis_range *ranges, size_t n,
                              const hsy_confidence *how, hsy_error *err)
{
    void *scratch = NULL;
    hsy_ranges r;
    hsy_status st = ranges_open(&r, &scratch, &j->t, err);

    if (st == HSY_OK) {
        *rows = calloc(n + 1, sizeof **rows);
        if (*rows == NULL)
            st = host_nomem(err);
    }
    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        (*rows)[i].place = (uint32_t)i;
        st = ranges_row(&(*rows)[i], &ranges[i], &j->out->info, &r, how, err);
        *count = i + 1;
    }
    free(scratch);
    return st;
}

hsy_status analysis_quantiles(struct analysis_job *j, hsy_error *err)
{
    static const hsy_analysis_range wanted[] = {{.quantile = 0.1},
                                                {.quantile = 0.25},
                                                {.quantile = 0.5},
                                                {.quantile = 0.75},
                                                {.quantile = 0.9}};
    hsy_status st;

    if (!j->request->quantiles || j->out->info.kind != HSY_KIND_BINS ||
        j->out->compared)
        return HSY_OK;
    st = ranges_rows(&j->out->quantiles, &j->out->nquantiles, j, wanted,
                     sizeof wanted / sizeof wanted[0], &j->out->how, err);
    for (size_t i = 0; st == HSY_OK && i < j->out->nquantiles; i++)
        j->out->quantiles[i].post = wanted[i].quantile;
    return st == HSY_E_REFUSED ? HSY_OK : st; /* there are none of it */
}

/* Names of rows are copies: the request need not live as long. */
static hsy_status ranges_keep(hsy_analysis_result *out, hsy_error *err)
{
    size_t bytes = 1;
    char *at;

    for (size_t i = 0; i < out->count; i++)
        bytes += out->rows[i].value.len;
    out->memory = at = malloc(bytes);
    if (at == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < out->count; i++) {
        const hsy_analysis_text name = out->rows[i].value;

        if (name.len != 0)
            memcpy(at, name.text, name.len);
        out->rows[i].value.text = at;
        at += name.len;
    }
    return HSY_OK;
}

hsy_status analysis_ranges(struct analysis_job *j, hsy_error *err)
{
    const hsy_analysis_request *q = j->request;
    hsy_analysis_result *out = j->out;
    hsy_confidence how = out->how;
    hsy_status st;

    if (out->info.kind != HSY_KIND_BINS)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_RANGES,
                         "only a range in bins has quantiles and ranges");
    how.comparisons = q->simultaneous ? q->nranges : 1;
    st = ranges_rows(&out->rows, &out->count, j, q->ranges, q->nranges, &how,
                     err);
    out->of = out->selected = out->count;
    out->level_selected = how.level;
    return st == HSY_OK ? ranges_keep(out, err) : st;
}
