/*
 * associate_files.c - hearsay estimate --associate: the joint distribution
 * of several variables, from RAPPOR's reports.
 */
#include "cli/estimate/internal.h"
#include "host/format/rappor_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ASSOCIATE_MOST HSY_ASSOCIATE_VARIABLES

/* What the command line says of a variable: a map makes it one of strings. */
struct associate_known {
    const char *name; /* in its argument, name_len bytes of it */
    size_t name_len;
    bool has_params, has_map;
    struct rappor_params params;
    struct rappor_map map;
};

/* A column of the reports. */
struct associate_variable {
    const struct associate_known *known; /* NULL: a boolean by common params */
    struct rappor_params params;
    hsy_rappor_law law;
    uint64_t *totals, *ones; /* counted from the reports */
    size_t *picked;          /* candidates that are categories */
    uint16_t *bits;          /* theirs */
    double *shares, *sd;
};

struct associate_job {
    const struct estimate_options *options;
    struct rappor_params common;
    bool has_common;
    struct associate_known known[2 * ASSOCIATE_MOST];
    size_t nknown;
    struct rappor_reports reports;
    struct associate_variable variable[ASSOCIATE_MOST];
    hsy_rappor_reports data;
    size_t cells;
    double *share, *covariance;
    hsy_association_result result;
    hsy_estimate *rows; /* to be printed */
    size_t nrows;
};

static int associate_fail(hsy_status st, const char *path, const hsy_error *err)
{
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_E_IO)
        return cli_fail("%s: %s", cli_input_name(path), strerror(errno));
    return err->at != 0 ? cli_fail_line(cli_input_name(path), err)
                        : cli_fail_error(cli_input_name(path), err);
}

/* ---- The command line's files -------------------------------------------- */

/* The variable of "NAME=FILE", new if it is not known yet; NULL if the
 * argument names none. There is room: the options are counted. */
static struct associate_known *associate_named(struct associate_job *j,
                                               const char *argument)
{
    const char *equals = strchr(argument, '=');
    size_t len, i;

    if (equals == NULL)
        return NULL;
    len = (size_t)(equals - argument);
    for (i = 0; i < j->nknown; i++) {
        if (j->known[i].name_len == len &&
            memcmp(j->known[i].name, argument, len) == 0)
            break;
    }
    if (i == j->nknown) {
        j->known[i].name = argument;
        j->known[i].name_len = len;
        j->nknown++;
    }
    return &j->known[i];
}

static int associate_params(struct associate_job *j, const char *argument)
{
    struct associate_known *known = associate_named(j, argument);
    const char *path = known != NULL ? strchr(argument, '=') + 1 : argument;
    bool *has = known != NULL ? &known->has_params : &j->has_common;
    hsy_error err = {0};
    hsy_status st;

    if (*has)
        return cli_fail("--rappor %s: the same parameters twice", argument);
    *has = true;
    st = rappor_params_read(known != NULL ? &known->params : &j->common, path,
                            &err);
    return st == HSY_OK ? 0 : associate_fail(st, path, &err);
}

static int associate_map(struct associate_job *j, const char *argument)
{
    struct associate_known *known = associate_named(j, argument);
    hsy_error err = {0};
    hsy_status st;
    const char *path;

    if (known == NULL)
        return cli_fail("--map %s: with --associate it says whose map it is, "
                        "NAME=FILE",
                        argument);
    if (known->has_map)
        return cli_fail("--map %s: the same variable twice", argument);
    if (!known->has_params && !j->has_common)
        return cli_fail("--map %s: no parameters: --rappor FILE", argument);
    path = strchr(argument, '=') + 1;
    known->has_map = true;
    if (!known->has_params)
        known->params = j->common;
    st = rappor_map_read(&known->map, &known->params, path, &err);
    return st == HSY_OK ? 0 : associate_fail(st, path, &err);
}

static int associate_files(struct associate_job *j)
{
    const struct estimate_options *o = j->options;
    int failed = 0;

    for (size_t i = 0; i < o->nrappors && !failed; i++)
        failed = associate_params(j, o->rappors[i]);
    for (size_t i = 0; i < o->nmaps && !failed; i++)
        failed = associate_map(j, o->maps[i]);
    for (size_t i = 0; i < j->nknown && !failed; i++) {
        const struct associate_known *x = &j->known[i];
        const struct rappor_params *first =
            j->has_common ? &j->common : &j->known[0].params;

        if (!x->has_map && x->params.k != 1)
            failed = cli_fail("--rappor %.*s=...: a variable of %u bits takes "
                              "--map %.*s=FILE",
                              (int)x->name_len, x->name, x->params.k,
                              (int)x->name_len, x->name);
        else if (x->params.m != first->m)
            failed = cli_fail("--rappor %.*s=...: %u cohorts where others have "
                              "%u: a person has one",
                              (int)x->name_len, x->name, x->params.m, first->m);
    }
    return failed;
}

/* ---- Reports ------------------------------------------------------------- */

static const struct associate_known *
associate_find(const struct associate_job *j, const char *name)
{
    for (size_t i = 0; i < j->nknown; i++) {
        if (strlen(name) == j->known[i].name_len &&
            memcmp(j->known[i].name, name, j->known[i].name_len) == 0)
            return &j->known[i];
    }
    return NULL;
}

/* Parameters of a column. One that is not named is a boolean. */
static bool associate_column(void *ctx, const char *name,
                             struct rappor_params *params)
{
    const struct associate_job *j = ctx;
    const struct associate_known *known = associate_find(j, name);

    if (known != NULL) {
        *params = known->params;
        return true;
    }
    *params = j->common;
    params->k = params->h = 1;
    return j->has_common;
}

/* Names head the columns of what is printed. */
static bool associate_printable(const char *name)
{
    const uint8_t *at = (const uint8_t *)name;

    while (*at >= 0x20 && *at != 0x7f)
        at++;
    return *at == '\0' && at != (const uint8_t *)name;
}

static int associate_columns(struct associate_job *j)
{
    const struct rappor_reports *r = &j->reports;
    const char *path = cli_input_name(j->options->path);
    size_t named = 0;

    if (r->variables < 2 || r->variables > ASSOCIATE_MOST)
        return cli_fail("%s: an association is of 2 to %u variables, and this "
                        "has %u",
                        path, ASSOCIATE_MOST, r->variables);
    if (r->n == 0)
        return cli_fail("%s: no data: it holds no reports", path);
    for (uint32_t v = 0; v < r->variables; v++) {
        struct associate_variable *x = &j->variable[v];

        if (!associate_printable(r->names[v]))
            return cli_fail("%s: line 1: a variable's name is empty or has "
                            "control characters",
                            path);
        for (uint32_t u = 0; u < v; u++) {
            if (strcmp(r->names[u], r->names[v]) == 0)
                return cli_fail("%s: line 1: two variables have the same name",
                                path);
        }
        x->known = associate_find(j, r->names[v]);
        named += x->known != NULL;
        associate_column(j, r->names[v], &x->params);
    }
    for (size_t i = 0; named < j->nknown && i < j->nknown; i++) {
        bool there = false;

        for (uint32_t v = 0; v < r->variables; v++)
            there = there || j->variable[v].known == &j->known[i];
        if (!there)
            return cli_fail("%s: line 1: there is no variable %.*s", path,
                            (int)j->known[i].name_len, j->known[i].name);
    }
    return 0;
}

static int associate_read(struct associate_job *j)
{
    hsy_error err = {0};
    hsy_status st = rappor_reports_find(&j->reports, associate_column, j,
                                        j->options->path, &err);

    return st == HSY_OK ? associate_columns(j)
                        : associate_fail(st, j->options->path, &err);
}

/* Add the reports of a variable up. */
static int associate_count(struct associate_job *j, uint32_t v)
{
    const struct rappor_reports *r = &j->reports;
    struct associate_variable *x = &j->variable[v];
    const uint32_t k = x->params.k;

    x->totals = calloc(x->params.m, sizeof *x->totals);
    x->ones = calloc((size_t)x->params.m * k, sizeof *x->ones);
    if (x->totals == NULL || x->ones == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < r->n; i++) {
        const uint8_t *word = r->words + i * r->stride + r->offset[v];
        uint64_t *ones = x->ones + (size_t)r->cohorts[i] * k;

        x->totals[r->cohorts[i]]++;
        for (uint32_t b = 0; b < k; b++)
            ones[b] += word[b / 8] >> b % 8 & 1;
    }
    return 0;
}

/* ---- Categories ---------------------------------------------------------- */

/* The strings that are found, with their shares. */
static int associate_pick(struct associate_job *j, uint32_t v,
                          const hsy_rappor_share *found)
{
    struct associate_variable *x = &j->variable[v];
    const struct rappor_map *map = &x->known->map;
    hsy_rappor_variable *out = &j->data.variable[v];
    const size_t each = (size_t)map->m * map->h;
    size_t n = 0;
    double sum = 0;

    x->picked = malloc(map->candidates * sizeof *x->picked);
    x->bits = malloc(map->candidates * each * sizeof *x->bits);
    x->shares = malloc(map->candidates * sizeof *x->shares);
    x->sd = malloc(map->candidates * sizeof *x->sd);
    if (x->picked == NULL || x->bits == NULL || x->shares == NULL ||
        x->sd == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < map->candidates; i++) {
        if (!found[i].detected && !j->options->all)
            continue;
        memcpy(x->bits + n * each, map->bits + i * each,
               each * sizeof *x->bits);
        x->shares[n] = found[i].est.value;
        x->sd[n] = found[i].est.sd;
        sum += x->shares[n];
        x->picked[n++] = i;
    }
    if (n == 0)
        return cli_fail("%s: variable %s: no candidate was detected; --all "
                        "takes them all",
                        cli_input_name(j->options->path), j->reports.names[v]);
    out->data.candidates = n;
    out->data.bits = x->bits;
    out->rest = sum < 1 ? HSY_RAPPOR_REST_STRINGS : HSY_RAPPOR_REST_NONE;
    return 0;
}

static int associate_strings(struct associate_job *j, uint32_t v)
{
    const struct estimate_options *o = j->options;
    const struct associate_variable *x = &j->variable[v];
    hsy_rappor_data data = j->data.variable[v].data;
    hsy_rappor_options how = {.size = sizeof how,
                              .method = o->method,
                              .correction = o->correction,
                              .alpha = o->alpha,
                              .target = HSY_POPULATION};
    hsy_rappor_share *found;
    hsy_rappor_summary summary;
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;
    void *scratch;
    int failed;

    data.candidates = x->known->map.candidates;
    data.bits = x->known->map.bits;
    found = malloc(data.candidates * sizeof *found);
    scratch = malloc(hsy_rappor_scratch(&data) + 1);
    if (found != NULL && scratch != NULL)
        st = hsy_rappor_decode(found, &summary, &data, &how, scratch, &err);
    free(scratch);
    failed = st == HSY_E_NOMEM ? cli_fail_nomem()
             : st != HSY_OK
                 ? cli_fail("%s: variable %s: %s", cli_input_name(o->path),
                            j->reports.names[v],
                            err.msg != NULL ? err.msg : hsy_strstatus(st))
                 : associate_pick(j, v, found);
    free(found);
    return failed;
}

/* A boolean is a string that sets the one bit, or no bit. */
static int associate_boolean(struct associate_job *j, uint32_t v)
{
    struct associate_variable *x = &j->variable[v];

    x->bits = calloc((size_t)x->params.m * x->params.h, sizeof *x->bits);
    if (x->bits == NULL)
        return cli_fail_nomem();
    j->data.variable[v].data.candidates = 1;
    j->data.variable[v].data.bits = x->bits;
    j->data.variable[v].rest = HSY_RAPPOR_REST_NO_BIT;
    return 0;
}

static int associate_variable(struct associate_job *j, uint32_t v)
{
    struct associate_variable *x = &j->variable[v];
    const struct rappor_params *p = &x->params;
    hsy_rappor_variable *out = &j->data.variable[v];
    const bool strings = x->known != NULL && x->known->has_map;
    int failed = associate_count(j, v);

    if (failed)
        return failed;
    if (hsy_rappor_channel(&x->law, p->k, p->h, p->f, p->p, p->q, NULL) !=
        HSY_OK)
        return cli_fail("variable %s: parameters out of range",
                        j->reports.names[v]);
    out->data = (hsy_rappor_data){.size = sizeof out->data,
                                  .k = p->k,
                                  .h = p->h,
                                  .m = p->m,
                                  .p = x->law.p,
                                  .q = x->law.q,
                                  .totals = x->totals,
                                  .ones = x->ones};
    out->words = j->reports.words + j->reports.offset[v];
    out->stride = j->reports.stride;
    failed = strings ? associate_strings(j, v) : associate_boolean(j, v);
    out->shares = x->shares;
    out->sd = x->sd;
    return failed;
}

/* ---- The joint ----------------------------------------------------------- */

static size_t associate_categories(const struct associate_job *j, uint32_t v)
{
    const hsy_rappor_variable *x = &j->data.variable[v];

    return x->data.candidates + (x->rest != HSY_RAPPOR_REST_NONE);
}

static int associate_solve(struct associate_job *j)
{
    const char *path = cli_input_name(j->options->path);
    size_t bytes = hsy_rappor_associate_scratch(&j->data);
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;
    void *scratch;

    if (bytes == 0)
        return cli_fail("%s: a table has two categories or more of each "
                        "variable, and %u cells at most: --all takes all "
                        "candidates, a smaller --alpha detects fewer",
                        path, HSY_ASSOCIATE_CELLS);
    j->cells = 1;
    for (uint32_t v = 0; v < j->data.variables; v++)
        j->cells *= associate_categories(j, v);
    j->share = malloc(j->cells * sizeof *j->share);
    j->covariance = malloc(j->cells * j->cells * sizeof *j->covariance);
    scratch = malloc(bytes);
    if (j->share != NULL && j->covariance != NULL && scratch != NULL)
        st = hsy_rappor_associate(j->share, j->covariance, &j->result, &j->data,
                                  scratch, &err);
    free(scratch);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail_at(path, &err);
}

/* ---- Printing ------------------------------------------------------------ */

/* Rows are the cells of the table and then the marginals: all cells that have
 * one category of one variable. */
#define ASSOCIATE_ANY SIZE_MAX

/* The category of variable v in a cell. */
static size_t associate_category(const struct associate_job *j, size_t cell,
                                 uint32_t v)
{
    for (uint32_t u = j->data.variables - 1; u > v; u--)
        cell /= associate_categories(j, u);
    return cell % associate_categories(j, v);
}

/* The category of variable v that a row is about, if any. */
static size_t associate_row(const struct associate_job *j, size_t row,
                            uint32_t v)
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

static bool associate_holds(const struct associate_job *j, size_t row,
                            size_t cell)
{
    for (uint32_t v = 0; v < j->data.variables; v++) {
        const size_t asked = associate_row(j, row, v);

        if (asked != ASSOCIATE_ANY && asked != associate_category(j, cell, v))
            return false;
    }
    return true;
}

/* A sum of cells, and its variance: that of all pairs of them. */
static void associate_estimate(const struct associate_job *j, size_t row,
                               size_t *own)
{
    const double z = hsy_normal_quantile(0.5 + j->options->how.level / 2);
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

static int associate_sum(struct associate_job *j)
{
    size_t *own = malloc(j->cells * sizeof *own);

    j->nrows = j->cells;
    for (uint32_t v = 0; v < j->data.variables; v++)
        j->nrows += associate_categories(j, v);
    j->rows = malloc(j->nrows * sizeof *j->rows);
    for (size_t i = 0; own != NULL && j->rows != NULL && i < j->nrows; i++)
        associate_estimate(j, i, own);
    free(own);
    return own != NULL && j->rows != NULL ? 0 : cli_fail_nomem();
}

static const char *associate_name(const struct associate_job *j, uint32_t v,
                                  size_t category)
{
    const hsy_rappor_variable *x = &j->data.variable[v];

    if (category == ASSOCIATE_ANY)
        return NULL;
    if (x->rest == HSY_RAPPOR_REST_NO_BIT)
        return category == 0 ? "true" : "false";
    return category < x->data.candidates
               ? j->variable[v]
                     .known->map.names[j->variable[v].picked[category]]
               : "(other)";
}

static void associate_cell(const void *ctx, size_t row, size_t column,
                           struct cli_cell *out)
{
    const struct associate_job *j = ctx;
    const hsy_estimate *est = &j->rows[row];
    const double numbers[] = {est->value, est->sd, est->low, est->high};

    if (column < j->data.variables) {
        const uint32_t v = (uint32_t)column;

        *out = cli_text(associate_name(j, v, associate_row(j, row, v)));
        return;
    }
    *out = cli_number(numbers[column - j->data.variables]);
    snprintf(out->shown, sizeof out->shown, "%.3f %%", 100 * out->number);
}

/* Who answers all questions pays for each. */
static hsy_rappor_law associate_cost(const struct associate_job *j)
{
    hsy_rappor_law all = {0};

    for (uint32_t v = 0; v < j->data.variables; v++) {
        all.epsilon_report += j->variable[v].law.epsilon_report;
        all.epsilon_permanent += j->variable[v].law.epsilon_permanent;
    }
    return all;
}

static void associate_head(const struct associate_job *j)
{
    const hsy_rappor_law cost = associate_cost(j);

    printf(
        "rappor, %u variables, epsilon %.6g a report of all, %.6g for ever if "
        "the permanent answers\nare kept; %zu reports\nindependent? likelihood "
        "ratio %.4g, %g degrees of "
        "freedom, p-value %.2g\n\n",
        j->data.variables, cost.epsilon_report, cost.epsilon_permanent,
        j->reports.n, j->result.chi2, j->result.freedom, j->result.p_value);
}

static void associate_show(const struct associate_job *j)
{
    static const struct cli_column numbers[] = {{"estimate", "share"},
                                                {"stderr", "std. error"},
                                                {"low", "from"},
                                                {"high", "to"}};
    const struct estimate_options *o = j->options;
    const hsy_rappor_law cost = associate_cost(j);
    struct cli_column columns[ASSOCIATE_MOST + 4];
    const struct cli_table table = {columns, j->data.variables + 4, j->nrows,
                                    associate_cell, j};
    const struct cli_field fields[] = {
        {"mechanism", cli_text("rappor")},
        {"epsilon_report", cli_number(cost.epsilon_report)},
        {"epsilon_permanent", cli_number(cost.epsilon_permanent)},
        {"epsilon_permanent_if", cli_text("the permanent answer is kept")},
        {"reports", cli_count(j->reports.n)},
        {"cells", cli_count(j->cells)},
        {"chi2", cli_number(j->result.chi2)},
        {"freedom", cli_number(j->result.freedom)},
        {"p_value", cli_number(j->result.p_value)},
        {"level", cli_number(o->how.level)},
        {"target", cli_text("population")},
    };

    for (uint32_t v = 0; v < j->data.variables; v++)
        columns[v] = (struct cli_column){j->reports.names[v], NULL};
    memcpy(columns + j->data.variables, numbers, sizeof numbers);
    if (o->format == CLI_TABLE)
        associate_head(j);
    cli_print(o->format, &table, fields, sizeof fields / sizeof fields[0],
              "estimates");
}

/* ---- The command --------------------------------------------------------- */

static void associate_clear(struct associate_job *j)
{
    for (size_t i = 0; i < j->nknown; i++)
        rappor_map_free(&j->known[i].map);
    rappor_reports_free(&j->reports);
    for (uint32_t v = 0; v < ASSOCIATE_MOST; v++) {
        free(j->variable[v].totals);
        free(j->variable[v].ones);
        free(j->variable[v].picked);
        free(j->variable[v].bits);
        free(j->variable[v].shares);
        free(j->variable[v].sd);
    }
    free(j->share);
    free(j->covariance);
    free(j->rows);
}

int estimate_associate(const struct estimate_options *o)
{
    struct associate_job j = {.options = o};
    int failed = associate_files(&j);

    if (!failed)
        failed = associate_read(&j);
    j.data = (hsy_rappor_reports){.size = sizeof j.data,
                                  .n = j.reports.n,
                                  .cohorts = j.reports.cohorts,
                                  .variables = j.reports.variables};
    for (uint32_t v = 0; v < j.data.variables && !failed; v++)
        failed = associate_variable(&j, v);
    if (!failed)
        failed = associate_solve(&j);
    if (!failed)
        failed = associate_sum(&j);
    if (!failed) {
        associate_show(&j);
        failed = cli_finish();
    }
    associate_clear(&j);
    return failed;
}
