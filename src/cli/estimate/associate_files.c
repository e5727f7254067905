/*
 * associate_files.c - hearsay estimate --associate: the joint distribution
 * of several variables, from RAPPOR's reports.
 */
#include "cli/estimate/internal.h"
#include "host/analysis/associate.h"

#include <errno.h>
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

struct associate_job {
    const struct estimate_options *options;
    struct rappor_params common;
    bool has_common;
    struct associate_known known[2 * ASSOCIATE_MOST];
    size_t nknown;
    struct rappor_reports reports;
    struct associate_column columns[ASSOCIATE_MOST];
};

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
        return cli_fail(
            "--rappor %s: these parameters are given twice; give them once",
            argument);
    *has = true;
    st = rappor_params_read(known != NULL ? &known->params : &j->common, path,
                            &err);
    return st == HSY_OK ? 0 : cli_fail_read(st, path, &err);
}

static int associate_map(struct associate_job *j, const char *argument)
{
    struct associate_known *known = associate_named(j, argument);
    hsy_error err = {0};
    hsy_status st;
    const char *path;

    if (known == NULL)
        return cli_fail(
            "--map %s: with --associate, name the variable: NAME=FILE",
            argument);
    if (known->has_map)
        return cli_fail("--map %s: this variable is given twice; give it once",
                        argument);
    if (!known->has_params && !j->has_common)
        return cli_fail(
            "--map %s: its parameters are missing; add --rappor FILE",
            argument);
    path = strchr(argument, '=') + 1;
    known->has_map = true;
    if (!known->has_params)
        known->params = j->common;
    st = rappor_map_read(&known->map, &known->params, path, &err);
    return st == HSY_OK ? 0 : cli_fail_read(st, path, &err);
}

static int associate_files(struct associate_job *j)
{
    const struct estimate_options *o = j->options;
    int failed = 0;

    for (size_t i = 0; i < o->rappors.n && !failed; i++)
        failed = associate_params(j, o->rappors.at[i]);
    for (size_t i = 0; i < o->maps.n && !failed; i++)
        failed = associate_map(j, o->maps.at[i]);
    for (size_t i = 0; i < j->nknown && !failed; i++) {
        const struct associate_known *x = &j->known[i];
        const struct rappor_params *first =
            j->has_common ? &j->common : &j->known[0].params;

        if (!x->has_map && x->params.k != 1)
            failed = cli_fail("--rappor %.*s=...: a variable of %u bits needs "
                              "--map %.*s=FILE",
                              (int)x->name_len, x->name, x->params.k,
                              (int)x->name_len, x->name);
        else if (x->params.m != first->m)
            failed = cli_fail("--rappor %.*s=...: %u cohorts, but others have "
                              "%u; all variables must have the same number",
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
        return cli_fail(
            "%s: --associate needs 2 to %u variables, and this file has %u",
            path, ASSOCIATE_MOST, r->variables);
    if (r->n == 0)
        return cli_fail("%s: no data: it holds no reports", path);
    for (uint32_t v = 0; v < r->variables; v++) {
        const struct associate_known *known = associate_find(j, r->names[v]);

        if (!associate_printable(r->names[v]))
            return cli_fail("%s: line 1: a variable's name is empty or has "
                            "control characters",
                            path);
        for (uint32_t u = 0; u < v; u++) {
            if (strcmp(r->names[u], r->names[v]) == 0)
                return cli_fail("%s: line 1: two variables have the same name",
                                path);
        }
        named += known != NULL;
        associate_column(j, r->names[v], &j->columns[v].params);
        if (known != NULL && known->has_map)
            j->columns[v].map = &known->map;
    }
    for (size_t i = 0; named < j->nknown && i < j->nknown; i++) {
        bool there = false;

        for (uint32_t v = 0; v < r->variables; v++)
            there = there || associate_find(j, r->names[v]) == &j->known[i];
        if (!there)
            return cli_fail("%s: line 1: no variable %.*s", path,
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
                        : cli_fail_read(st, j->options->path, &err);
}

/* ---- The command --------------------------------------------------------- */

static int associate_refused(const struct associate_job *j,
                             const hsy_error *err)
{
    const char *path = cli_input_name(j->options->path);

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->field == HSY_FIELD_VARIABLE)
        return cli_fail(
            "%s: variable %s: %s%s", path, j->reports.names[err->at - 1],
            err->msg,
            err->status == HSY_E_EMPTY ? "; --all keeps all candidates" : "");
    if (err->field == HSY_FIELD_CELLS)
        return cli_fail("%s: each variable needs two categories or more, and "
                        "the table at most %u cells; --all keeps all "
                        "candidates, a smaller --alpha detects fewer",
                        path, HSY_ASSOCIATE_CELLS);
    return cli_fail_at(path, err);
}

static int associate_answer(const struct associate_job *j)
{
    const struct estimate_options *o = j->options;
    const struct associate_how how = {.all = o->all,
                                      .level = o->how.level,
                                      .rappor = {.method = o->method,
                                                 .correction = o->correction,
                                                 .alpha = o->alpha}};
    struct associate a;
    hsy_error err = {0};
    int failed = 0;

    if (associate_run(&a, &j->reports, j->columns, &how, &err) != HSY_OK)
        failed = associate_refused(j, &err);
    if (!failed) {
        associate_print(stdout, o->format, &a);
        failed = cli_finish();
    }
    associate_clear(&a);
    return failed;
}

int estimate_associate(const struct estimate_options *o)
{
    struct associate_job j = {.options = o};
    int failed = associate_files(&j);

    if (!failed)
        failed = associate_read(&j);
    if (!failed)
        failed = associate_answer(&j);
    for (size_t i = 0; i < j.nknown; i++)
        rappor_map_free(&j.known[i].map);
    rappor_reports_free(&j.reports);
    return failed;
}
