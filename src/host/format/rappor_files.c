/* rappor_files.c - RAPPOR's own CSV files, read strictly and written. */
#define _GNU_SOURCE /* strdup */
#include "host/format/rappor_files.h"

#include "host/format/rappor_csv.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parameters ---------------------------------------------------------- */

static const char *const files_params[6] = {"k", "h", "m", "p", "q", "f"};

/* A decimal in [0, 1], as R and Python write them (an exponent is allowed). */
static bool files_probability(const char *text, double *out)
{
    char *end;

    if (strspn(text, "0123456789.eE+-") != strlen(text) || *text == '\0')
        return false;
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 0 && *out <= 1; /* no NaN passes */
}

static hsy_status files_params_row(struct rappor_params *p,
                                   const struct rappor_csv *c, hsy_error *err)
{
    static const uint64_t most[3] = {RAPPOR_BITS_MAX, RAPPOR_HASHES_MAX,
                                     RAPPOR_COHORTS_MAX};
    uint32_t *const counts[3] = {&p->k, &p->h, &p->m};
    double *const chances[3] = {&p->p, &p->q, &p->f};
    uint64_t x;

    for (size_t i = 0; i < 3; i++) {
        if (!rappor_csv_count(c->fields[i], most[i], &x) || x == 0)
            return rappor_csv_bad(c, err, hsy_field_find(files_params[i]),
                                  "not a number from 1 to its limit");
        *counts[i] = (uint32_t)x;
        if (!files_probability(c->fields[3 + i], chances[i]))
            return rappor_csv_bad(c, err, hsy_field_find(files_params[3 + i]),
                                  "not a probability from 0 to 1");
    }
    if ((uint64_t)p->m * p->k > RAPPOR_CELLS_MAX)
        return rappor_csv_bad(c, err, HSY_FIELD_M, "m times k is at most 2^24");
    if (p->f == 1)
        return rappor_csv_bad(c, err, HSY_FIELD_F,
                              "with f = 1 nothing is left");
    if (p->p == p->q)
        return rappor_csv_bad(c, err, HSY_FIELD_Q,
                              "with p = q nothing is left");
    return HSY_OK;
}

static hsy_status files_params_head(const struct rappor_csv *c, hsy_error *err)
{
    if (c->nfields != 6)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                              "not the header k,h,m,p,q,f");
    for (size_t i = 0; i < 6; i++)
        if (strcmp(c->fields[i], files_params[i]) != 0)
            return rappor_csv_bad(c, err, hsy_field_find(files_params[i]),
                                  "not the header k,h,m,p,q,f");
    return HSY_OK;
}

/* What an unexpected end is called. */
static hsy_status files_ended(const struct rappor_csv *c, hsy_status st,
                              hsy_error *err, const char *msg)
{
    return st == HSY_E_END ? rappor_csv_bad(c, err, HSY_FIELD_NONE, msg) : st;
}

/* The file has ended, or it is wrong. */
static hsy_status files_finish(struct rappor_csv *c, hsy_error *err,
                               const char *msg)
{
    hsy_status st = rappor_csv_next(c, err);

    if (st == HSY_E_END)
        return HSY_OK;
    return st == HSY_OK ? rappor_csv_bad(c, err, HSY_FIELD_NONE, msg) : st;
}

hsy_status rappor_params_read(struct rappor_params *params, const char *path,
                              hsy_error *err)
{
    struct rappor_params read = {0};
    struct rappor_csv c;
    hsy_status st = rappor_csv_open(&c, path);

    if (st == HSY_OK)
        st = files_ended(&c, rappor_csv_next(&c, err), err, "an empty file");
    if (st == HSY_OK)
        st = files_params_head(&c, err);
    if (st == HSY_OK)
        st = files_ended(&c, rappor_csv_next(&c, err), err,
                         "the parameters are missing");
    if (st == HSY_OK)
        st = c.nfields == 6
                 ? files_params_row(&read, &c, err)
                 : rappor_csv_bad(&c, err, HSY_FIELD_NONE, "not six fields");
    if (st == HSY_OK)
        st = files_finish(&c, err, "more than one row of parameters");
    rappor_csv_close(&c);
    if (st == HSY_OK)
        *params = read;
    return st;
}

/* ---- Counts -------------------------------------------------------------- */

void rappor_counts_free(struct rappor_counts *counts)
{
    free(counts->totals);
    free(counts->ones);
    *counts = (struct rappor_counts){0};
}

/* The line read last as the counts of cohort `row`. */
static hsy_status files_counts_row(struct rappor_counts *counts, uint32_t row,
                                   const struct rappor_csv *c, hsy_error *err)
{
    uint64_t *ones = counts->ones + (size_t)row * counts->k;

    if (row >= counts->m)
        return rappor_csv_bad(c, err, HSY_FIELD_M, "more rows than cohorts");
    if (c->nfields != (size_t)counts->k + 1)
        return rappor_csv_bad(c, err, HSY_FIELD_K, "not a total and k counts");
    if (!rappor_csv_count(c->fields[0], INT64_MAX, &counts->totals[row]))
        return rappor_csv_bad(c, err, HSY_FIELD_TOTAL, "not a count");
    for (uint32_t b = 0; b < counts->k; b++)
        if (!rappor_csv_count(c->fields[1 + b], counts->totals[row], &ones[b]))
            return rappor_csv_bad(c, err, HSY_FIELD_COUNT,
                                  "not a count, or above the row's total");
    return HSY_OK;
}

/* Rows from the one that has been read on. */
static hsy_status files_counts_rows(struct rappor_counts *counts,
                                    struct rappor_csv *c, hsy_error *err)
{
    uint64_t sum = 0;
    uint32_t row = 0;
    hsy_status st = HSY_OK;

    while (st == HSY_OK) {
        st = files_counts_row(counts, row, c, err);
        if (st == HSY_OK && counts->totals[row] > INT64_MAX - sum)
            st = rappor_csv_bad(c, err, HSY_FIELD_TOTAL,
                                "the totals pass 2^63 - 1");
        if (st == HSY_OK) {
            sum += counts->totals[row++];
            st = rappor_csv_next(c, err);
        }
    }
    if (st != HSY_E_END)
        return st;
    return row == counts->m
               ? HSY_OK
               : rappor_csv_bad(c, err, HSY_FIELD_M, "fewer rows than cohorts");
}

/* ---- Reports ------------------------------------------------------------- */

/* Where bits stand in a line: the first column, and how many. */
struct files_columns {
    size_t first, n;
};

/* client,cohort and columns; of a simulation only irr counts. */
static hsy_status files_reports_head(struct files_columns *columns,
                                     const struct rappor_csv *c, hsy_error *err)
{
    bool simulated = c->nfields == 5 && strcmp(c->fields[2], "bloom") == 0 &&
                     strcmp(c->fields[3], "prr") == 0 &&
                     strcmp(c->fields[4], "irr") == 0;

    if (c->nfields < 3 || strcmp(c->fields[0], "client") != 0 ||
        strcmp(c->fields[1], "cohort") != 0)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                              "not a header client,cohort and bits");
    columns->first = simulated ? 4 : 2;
    columns->n = c->nfields - columns->first;
    if (columns->n > RAPPOR_VARIABLES_MAX)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE, "more than 16 variables");
    return HSY_OK;
}

static hsy_status files_cohort(uint32_t *cohort, uint32_t m,
                               const struct files_columns *columns,
                               const struct rappor_csv *c, hsy_error *err)
{
    uint64_t x;

    if (c->nfields != columns->first + columns->n)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                              "not as many fields as the header");
    if (!rappor_csv_count(c->fields[1], m - 1, &x))
        return rappor_csv_bad(c, err, HSY_FIELD_COHORT, "not a number below m");
    *cohort = (uint32_t)x;
    return HSY_OK;
}

/* k binary digits, most significant first; no others. */
static bool files_digits(const char *text, uint32_t k)
{
    return strlen(text) == k && strspn(text, "01") == k;
}

static hsy_status files_fold(struct rappor_counts *counts, struct rappor_csv *c,
                             hsy_error *err)
{
    struct files_columns columns = {0, 0};
    hsy_status st = files_reports_head(&columns, c, err);

    if (st == HSY_OK && columns.n != 1)
        st = rappor_csv_bad(c, err, HSY_FIELD_NONE,
                            "counts are of one variable");
    while (st == HSY_OK && (st = rappor_csv_next(c, err)) == HSY_OK) {
        const char *text = c->fields[columns.first];
        uint32_t cohort = 0;

        st = files_cohort(&cohort, counts->m, &columns, c, err);
        if (st == HSY_OK && !files_digits(text, counts->k))
            st = rappor_csv_bad(c, err, HSY_FIELD_IRR, "not k binary digits");
        if (st != HSY_OK)
            break;
        counts->totals[cohort]++;
        for (uint32_t b = 0; b < counts->k; b++)
            counts->ones[(size_t)cohort * counts->k + b] +=
                text[counts->k - 1 - b] == '1';
    }
    return st == HSY_E_END ? HSY_OK : st;
}

hsy_status rappor_counts_read(struct rappor_counts *counts,
                              const struct rappor_params *params,
                              const char *path, hsy_error *err)
{
    struct rappor_counts read = {.k = params->k, .m = params->m};
    struct rappor_csv c;
    hsy_status st = rappor_csv_open(&c, path);

    read.totals = calloc(params->m, sizeof *read.totals);
    read.ones = calloc((size_t)params->m * params->k, sizeof *read.ones);
    if (st == HSY_OK && (read.totals == NULL || read.ones == NULL))
        st = HSY_E_NOMEM;
    if (st == HSY_OK)
        st = files_ended(&c, rappor_csv_next(&c, err), err, "an empty file");
    if (st == HSY_OK)
        st = strcmp(c.fields[0], "client") == 0
                 ? files_fold(&read, &c, err)
                 : files_counts_rows(&read, &c, err);
    rappor_csv_close(&c);
    if (st == HSY_OK)
        *counts = read;
    else
        rappor_counts_free(&read);
    return st;
}

void rappor_reports_free(struct rappor_reports *reports)
{
    for (uint32_t v = 0; v < reports->variables; v++)
        free(reports->names[v]);
    free(reports->cohorts);
    free(reports->words);
    *reports = (struct rappor_reports){0};
}

/* Names and places of the variables. */
static hsy_status files_variables(struct rappor_reports *r,
                                  const struct rappor_params *params,
                                  const struct files_columns *columns,
                                  const struct rappor_csv *c)
{
    for (size_t v = 0; v < columns->n; v++) {
        r->k[v] = params[v].k;
        r->offset[v] = r->stride;
        r->stride += (params[v].k + 7) / 8;
        r->names[v] = strdup(c->fields[columns->first + v]);
        r->variables++;
        if (r->names[v] == NULL)
            return HSY_E_NOMEM;
    }
    return HSY_OK;
}

static bool files_reports_grow(struct rappor_reports *r, size_t *room)
{
    size_t more = 2 * *room + 1024;
    uint32_t *cohorts;
    uint8_t *words;

    if (r->n < *room)
        return true;
    cohorts = realloc(r->cohorts, more * sizeof *cohorts);
    if (cohorts != NULL)
        r->cohorts = cohorts;
    words = realloc(r->words, more * r->stride);
    if (words != NULL)
        r->words = words;
    if (cohorts == NULL || words == NULL)
        return false;
    *room = more;
    return true;
}

static hsy_status files_report(struct rappor_reports *r, uint32_t m,
                               const struct files_columns *columns,
                               const struct rappor_csv *c, hsy_error *err)
{
    uint8_t *words = r->words + r->n * r->stride;
    hsy_status st = files_cohort(&r->cohorts[r->n], m, columns, c, err);

    if (st != HSY_OK)
        return st;
    memset(words, 0, r->stride);
    for (size_t v = 0; v < columns->n; v++) {
        const char *text = c->fields[columns->first + v];
        uint8_t *bits = words + r->offset[v];

        if (!files_digits(text, r->k[v]))
            return rappor_csv_bad(c, err, HSY_FIELD_BITS,
                                  "not as many binary digits as the "
                                  "variable's k");
        for (uint32_t b = 0; b < r->k[v]; b++)
            bits[b / 8] |= (uint8_t)((text[r->k[v] - 1 - b] == '1') << b % 8);
    }
    r->n++;
    return HSY_OK;
}

/* Who knows the parameters of a variable. */
struct files_asked {
    rappor_params_of *find;
    void *ctx;
};

static hsy_status files_reports(struct rappor_reports *r,
                                const struct files_asked *asked,
                                struct rappor_csv *c, hsy_error *err)
{
    struct rappor_params params[RAPPOR_VARIABLES_MAX];
    struct files_columns columns = {0, 0};
    size_t room = 0;
    hsy_status st =
        files_ended(c, rappor_csv_next(c, err), err, "an empty file");

    if (st == HSY_OK)
        st = files_reports_head(&columns, c, err);
    for (size_t v = 0; st == HSY_OK && v < columns.n; v++)
        if (!asked->find(asked->ctx, c->fields[columns.first + v], &params[v]))
            st = rappor_csv_bad(c, err, HSY_FIELD_VARIABLE,
                                "there are no parameters for a variable");
    if (st == HSY_OK)
        st = files_variables(r, params, &columns, c);
    while (st == HSY_OK && (st = rappor_csv_next(c, err)) == HSY_OK)
        st = files_reports_grow(r, &room)
                 ? files_report(r, params[0].m, &columns, c, err)
                 : HSY_E_NOMEM;
    return st == HSY_E_END ? HSY_OK : st;
}

hsy_status rappor_reports_find(struct rappor_reports *reports,
                               rappor_params_of *find, void *ctx,
                               const char *path, hsy_error *err)
{
    struct rappor_reports read = {0};
    struct rappor_csv c;
    hsy_status st = rappor_csv_open(&c, path);

    if (st == HSY_OK)
        st = files_reports(&read, &(struct files_asked){find, ctx}, &c, err);
    rappor_csv_close(&c);
    if (st == HSY_OK)
        *reports = read;
    else
        rappor_reports_free(&read);
    return st;
}
