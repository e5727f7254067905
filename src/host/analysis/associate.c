/*
 * associate.c - the joint distribution of several variables, from RAPPOR's
 * reports.
 */
#include "host/analysis/associate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is wrong with a variable. */
static hsy_status associate_wrong(hsy_error *err, hsy_status st, uint32_t v,
                                  const char *msg)
{
    return host_fail_at(err, st, HSY_FIELD_VARIABLE, msg, HSY_UNIT_COLUMN,
                        v + 1);
}

/* ---- Reports ------------------------------------------------------------- */

/* Add the reports of a variable up. */
static hsy_status associate_count(struct associate *j, uint32_t v,
                                  hsy_error *err)
{
    const struct rappor_reports *r = j->reports;
    struct associate_variable *x = &j->variable[v];
    const uint32_t k = x->column.params.k;

    x->totals = owned_array(&j->owned, x->column.params.m, sizeof *x->totals);
    x->ones =
        owned_array(&j->owned, (size_t)x->column.params.m * k, sizeof *x->ones);
    if (j->owned.failed)
        return host_nomem(err);
    for (size_t i = 0; i < r->n; i++) {
        const uint8_t *word = r->words + i * r->stride + r->offset[v];
        uint64_t *ones = x->ones + (size_t)r->cohorts[i] * k;

        x->totals[r->cohorts[i]]++;
        for (uint32_t b = 0; b < k; b++)
            ones[b] += word[b / 8] >> b % 8 & 1;
    }
    return HSY_OK;
}

/* ---- Categories ---------------------------------------------------------- */

/* The strings that are found, with their shares. */
static hsy_status associate_pick(struct associate *j, uint32_t v,
                                 const hsy_rappor_share *found, hsy_error *err)
{
    struct associate_variable *x = &j->variable[v];
    const struct rappor_map *map = x->column.map;
    hsy_rappor_variable *out = &j->data.variable[v];
    const size_t each = (size_t)map->m * map->h;
    size_t n = 0;
    double sum = 0;

    x->picked = owned_array(&j->owned, map->candidates, sizeof *x->picked);
    x->bits = owned_array(&j->owned, map->candidates * each, sizeof *x->bits);
    x->shares = owned_array(&j->owned, map->candidates, sizeof *x->shares);
    x->sd = owned_array(&j->owned, map->candidates, sizeof *x->sd);
    if (j->owned.failed)
        return host_nomem(err);
    for (size_t i = 0; i < map->candidates; i++) {
        if (!found[i].detected && !j->all)
            continue;
        memcpy(x->bits + n * each, map->bits + i * each,
               each * sizeof *x->bits);
        x->shares[n] = found[i].est.value;
        x->sd[n] = found[i].est.sd;
        sum += x->shares[n];
        x->picked[n++] = i;
    }
    if (n == 0)
        return associate_wrong(err, HSY_E_EMPTY, v,
                               "no candidate was detected");
    out->data.candidates = n;
    out->data.bits = x->bits;
    out->rest = sum < 1 ? HSY_RAPPOR_REST_STRINGS : HSY_RAPPOR_REST_NONE;
    return HSY_OK;
}

static hsy_status associate_strings(struct associate *j, uint32_t v,
                                    const hsy_rappor_options *how,
                                    hsy_error *err)
{
    const struct associate_variable *x = &j->variable[v];
    hsy_rappor_data data = j->data.variable[v].data;
    hsy_rappor_share *found = NULL;
    hsy_rappor_summary summary;
    hsy_error why = {0};
    hsy_status st;

    data.candidates = x->column.map->candidates;
    data.bits = x->column.map->bits;
    st = analysis_rappor_decode(&found, &summary, &data, how, &why);
    if (st == HSY_E_NOMEM)
        return host_nomem(err);
    if (st != HSY_OK)
        return associate_wrong(err, st, v,
                               why.msg != NULL ? why.msg : hsy_strstatus(st));
    st = associate_pick(j, v, found, err);
    free(found);
    return st;
}

/* A boolean is a string that sets the one bit, or no bit. */
static hsy_status associate_boolean(struct associate *j, uint32_t v,
                                    hsy_error *err)
{
    struct associate_variable *x = &j->variable[v];

    x->bits =
        owned_array(&j->owned, (size_t)x->column.params.m * x->column.params.h,
                    sizeof *x->bits);
    j->data.variable[v].data.candidates = 1;
    j->data.variable[v].data.bits = x->bits;
    j->data.variable[v].rest = HSY_RAPPOR_REST_NO_BIT;
    return owned_all(&j->owned, err);
}

static hsy_status associate_variable(struct associate *j, uint32_t v,
                                     const hsy_rappor_options *how,
                                     hsy_error *err)
{
    struct associate_variable *x = &j->variable[v];
    const struct rappor_params *p = &x->column.params;
    hsy_rappor_variable *out = &j->data.variable[v];
    hsy_status st = associate_count(j, v, err);

    if (st != HSY_OK)
        return st;
    if (hsy_rappor_channel(
            &x->law,
            &(hsy_rappor_noise){
                .k = p->k, .h = p->h, .f = p->f, .p = p->p, .q = p->q},
            NULL) != HSY_OK)
        return associate_wrong(err, HSY_E_RANGE, v, "parameters out of range");
    out->data = (hsy_rappor_data){.size = sizeof out->data,
                                  .k = p->k,
                                  .h = p->h,
                                  .m = p->m,
                                  .p = x->law.p,
                                  .q = x->law.q,
                                  .totals = x->totals,
                                  .ones = x->ones};
    out->words = j->reports->words + j->reports->offset[v];
    out->stride = j->reports->stride;
    st = x->column.map != NULL ? associate_strings(j, v, how, err)
                               : associate_boolean(j, v, err);
    out->shares = x->shares;
    out->sd = x->sd;
    return st;
}

/* ---- The joint ----------------------------------------------------------- */

static size_t associate_categories(const struct associate *j, uint32_t v)
{
    const hsy_rappor_variable *x = &j->data.variable[v];

    return x->data.candidates + (x->rest != HSY_RAPPOR_REST_NONE);
}

static hsy_status associate_solve(struct associate *j, hsy_error *err)
{
    const size_t bytes = hsy_rappor_associate_scratch(&j->data);
    void *scratch;

    if (bytes == 0)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CELLS,
                               "two categories or more of each variable",
                               HSY_ASSOCIATE_CELLS);
    j->cells = 1;
    for (uint32_t v = 0; v < j->data.variables; v++)
        j->cells *= associate_categories(j, v);
    j->share = owned_array(&j->owned, j->cells, sizeof *j->share);
    j->covariance =
        owned_array(&j->owned, j->cells * j->cells, sizeof *j->covariance);
    scratch = owned_array(&j->owned, 1, bytes);
    return j->owned.failed
               ? host_nomem(err)
               : hsy_rappor_associate(&j->data, j->share, j->covariance,
                                      &j->result, scratch, err);
}

/* ---- Rows ---------------------------------------------------------------- */

/* The category of variable v in a cell. */
static size_t associate_category(const struct associate *j, size_t cell,
                                 uint32_t v)
{
    for (uint32_t u = j->data.variables - 1; u > v; u--)
        cell /= associate_categories(j, u);
    return cell % associate_categories(j, v);
}

/* The category of variable v that a row is about, if any. */
size_t associate_row(const struct associate *j, size_t row, uint32_t v)
{
    if (row < j->cells)
        return associate_category(j, row, v);
    row -= j->cells;
    for (uint32_t u = 0; u < v; u++) {
        const size_t each = associate_categories(j, u);

        if (row < each)
            return ASSOCIATE_ANY;
        row -= each;
    }
    return row < associate_categories(j, v) ? row : ASSOCIATE_ANY;
}

static bool associate_holds(const struct associate *j, size_t row, size_t cell)
{
    for (uint32_t v = 0; v < j->data.variables; v++) {
        const size_t asked = associate_row(j, row, v);

        if (asked != ASSOCIATE_ANY && asked != associate_category(j, cell, v))
            return false;
    }
    return true;
}

/* A sum of cells, and its variance: that of all pairs of them. */
static void associate_estimate(const struct associate *j, size_t row,
                               size_t *own)
{
    const double z = hsy_normal_quantile(0.5 + j->level / 2);
    hsy_estimate *est = &j->rows[row];
    double variance = 0;
    size_t n = 0;

    for (size_t cell = 0; cell < j->cells; cell++) {
        if (associate_holds(j, row, cell))
            own[n++] = cell;
    }
    *est = (hsy_estimate){0};
    for (size_t a = 0; a < n; a++) {
        est->value += j->share[own[a]];
        for (size_t b = 0; b < n; b++)
            variance += j->covariance[own[a] * j->cells + own[b]];
    }
    est->sd = sqrt(fmax(0, variance));
    est->low = est->value - z * est->sd;
    est->high = est->value + z * est->sd;
}

static hsy_status associate_sum(struct associate *j, hsy_error *err)
{
    size_t *own = owned_array(&j->owned, j->cells, sizeof *own);

    j->nrows = j->cells;
    for (uint32_t v = 0; v < j->data.variables; v++)
        j->nrows += associate_categories(j, v);
    j->rows = owned_array(&j->owned, j->nrows, sizeof *j->rows);
    for (size_t i = 0; !j->owned.failed && i < j->nrows; i++)
        associate_estimate(j, i, own);
    return owned_all(&j->owned, err);
}

const char *associate_name(const struct associate *j, uint32_t v,
                           size_t category)
{
    const hsy_rappor_variable *x = &j->data.variable[v];

    if (category == ASSOCIATE_ANY)
        return NULL;
    if (x->rest == HSY_RAPPOR_REST_NO_BIT)
        return category == 0 ? "true" : "false";
    return category < x->data.candidates
               ? j->variable[v]
                     .column.map->names[j->variable[v].picked[category]]
               : "(other)";
}

hsy_rappor_law associate_cost(const struct associate *j)
{
    hsy_rappor_law all = {0};

    for (uint32_t v = 0; v < j->data.variables; v++) {
        all.epsilon_report += j->variable[v].law.epsilon_report;
        all.epsilon_permanent += j->variable[v].law.epsilon_permanent;
    }
    return all;
}

/* ---- All of it ----------------------------------------------------------- */

hsy_status associate_run(struct associate *j,
                         const struct rappor_reports *reports,
                         const struct associate_column *columns,
                         const struct associate_how *how, hsy_error *err)
{
    hsy_rappor_options decode = how->rappor;
    hsy_status st = HSY_OK;

    decode.size = sizeof decode;
    decode.target = HSY_POPULATION;
    *j = (struct associate){.reports = reports,
                            .all = how->all,
                            .level = how->level,
                            .data = {.size = sizeof j->data,
                                     .n = reports->n,
                                     .cohorts = reports->cohorts,
                                     .variables = reports->variables}};
    for (uint32_t v = 0; v < j->data.variables && st == HSY_OK; v++) {
        j->variable[v].column = columns[v];
        st = associate_variable(j, v, &decode, err);
    }
    if (st == HSY_OK)
        st = associate_solve(j, err);
    return st == HSY_OK ? associate_sum(j, err) : st;
}

void associate_clear(struct associate *j)
{
    owned_free(&j->owned);
    *j = (struct associate){0};
}
