/* covariance.c - how the estimates of two values vary together. */
#include "cli/estimate/internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct covariance_state {
    const struct gather *gather;
    double *cov; /* d times d */
};

static const struct cli_column covariance_columns[] = {
    {"value", NULL}, {"other", NULL}, {"covariance", NULL}};

static void covariance_cell(const void *ctx, size_t row, size_t column,
                            struct cli_cell *out)
{
    const struct covariance_state *c = ctx;
    const struct labels *labels = &c->gather->labels;
    uint32_t d = c->gather->info.d;
    uint32_t place = (uint32_t)(column == 0 ? row / d : row % d);

    if (column == 2) {
        *out = cli_number(c->cov[row]);
    } else if (labels->d != 0) {
        out->type = CLI_TEXT;
        out->text = labels_at(labels, place, &out->len);
    } else {
        *out = cli_count(place);
    }
}

static void covariance_print(const struct covariance_state *c,
                             const struct estimate_options *o)
{
    const size_t d = c->gather->info.d;
    const struct cli_table table = {covariance_columns, 3, d * d,
                                    covariance_cell, c};
    const struct cli_field fields[] = {
        {"mechanism", cli_text(c->gather->info.mechanism)},
        {"reports", cli_count(hsy_tally_reports(&c->gather->tally))},
        {"target", cli_text(estimate_target_names[o->how.target])}};

    cli_print(o->format, &table, fields, 3, "covariances");
}

int estimate_covariance(const struct gather *g,
                        const struct estimate_options *o)
{
    const size_t d = g->info.d;
    struct covariance_state c = {.gather = g};
    void *scratch = NULL;
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;

    if (d > HSY_MATRIX_MAX)
        return cli_fail("--covariance: at most %u values", HSY_MATRIX_MAX);
    c.cov = malloc((d * d + 1) * sizeof *c.cov);
    scratch = malloc(hsy_evidence_scratch(g->scheme, d) + 1);
    if (c.cov != NULL && scratch != NULL)
        st = hsy_covariance(g->scheme, c.cov, &g->tally, o->how.target, scratch,
                            &err);
    if (st == HSY_OK)
        covariance_print(&c, o);
    free(scratch);
    free(c.cov);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? cli_finish() : cli_fail_error("--covariance", &err);
}
