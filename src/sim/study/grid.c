/* grid.c - a study of every model and mechanism at every epsilon, for every
 * number of people. */
#include "sim/study/study.h"

#include "sim/base/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many people a row has; 0 stands for those of a file. */
static uint64_t grid_users(const struct study_grid *g, size_t u)
{
    return g->users[u] != 0 ? g->users[u] : g->counted;
}

double study_grid_people(const struct study_grid *g)
{
    const double rows = (double)(g->nways * g->nepsilons);
    double people = 0;

    for (size_t u = 0; u < g->nusers; u++)
        people += (double)grid_users(g, u);
    return people * (double)g->how.runs * rows;
}

/* ---- Whether it makes sense ---------------------------------------------- */

static hsy_status grid_refuse(struct study_grid *g, enum study_wrong wrong,
                              const char *msg, uint64_t limit, hsy_error *err)
{
    g->wrong = wrong;
    (void)host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE, msg);
    if (err != NULL)
        err->limit = limit;
    return HSY_E_RANGE;
}

/* No curator without people. */
static hsy_status grid_curators(struct study_grid *g, hsy_error *err)
{
    for (size_t w = 0; w < g->nways; w++)
        for (size_t u = 0; u < g->nusers; u++)
            if (g->ways[w].curators > grid_users(g, u)) {
                g->refused = g->ways[w];
                return grid_refuse(g, STUDY_WRONG_CURATORS,
                                   "more curators than people",
                                   grid_users(g, u), err);
            }
    return HSY_OK;
}

static hsy_status grid_scheme(struct study_grid *g, hsy_error *err)
{
    hsy_scheme *s;
    const hsy_status st = scheme_open(&s, &g->spec, err);

    free(s);
    return st;
}

hsy_status study_grid_check(struct study_grid *g, const hsy_spec *asked,
                            hsy_error *err)
{
    const bool mean = asked->kind == HSY_KIND_NUMBER;
    hsy_status st;

    if (g->top != 0 && mean)
        return grid_refuse(g, STUDY_WRONG_MEAN, "a mean has no heavy values", 0,
                           err);
    if (g->top > asked->d && !mean)
        return grid_refuse(g, STUDY_WRONG_TOP,
                           "more heavy values than there are candidates",
                           asked->d, err);
    st = grid_curators(g, err);
    for (size_t w = 0; w < g->nways; w++)
        for (size_t e = 0; st == HSY_OK && e < g->nepsilons; e++) {
            hsy_spec spec = *asked;

            spec.mechanism = g->ways[w].mechanism;
            spec.nano_epsilon = g->epsilons[e];
            g->spec = study_model_spec(g->ways[w].model, &spec);
            g->wrong = STUDY_WRONG_SCHEME;
            st = grid_scheme(g, err);
        }
    return st;
}

/* ---- Every run ----------------------------------------------------------- */

#define GRID_HEAD 1024u

static hsy_status grid_dump_head(struct output *out)
{
    char line[GRID_HEAD] = "mechanism,epsilon,users,domain,run";

    for (unsigned m = 0; m < STUDY_METRICS; m++) {
        const size_t at = strlen(line);

        snprintf(line + at, sizeof line - at, ",%s",
                 study_metric_name((enum study_metric)m));
    }
    return dump_line(out, line, NULL, 0, "model");
}

static hsy_status grid_dump(struct output *out, const struct study_result *row,
                            bool first)
{
    char before[256], domain[16] = "";
    hsy_status st = HSY_OK;

    if (row->info.d != 0)
        snprintf(domain, sizeof domain, "%" PRIu32, row->info.d);
    if (first)
        st = grid_dump_head(out);
    for (uint64_t r = 0; st == HSY_OK && r < row->runs; r++) {
        snprintf(before, sizeof before, "%s,%.17g,%" PRIu64 ",%s,%" PRIu64,
                 row->info.mechanism, row->epsilon, row->users, domain, r + 1);
        st = dump_line(out, before, row->each + r * STUDY_METRICS,
                       STUDY_METRICS, row->name);
    }
    return st;
}

/* ---- Running ------------------------------------------------------------- */

static struct study grid_setting(const struct study_grid *g, size_t w, size_t e,
                                 size_t u)
{
    struct study t = g->how;

    t.spec.mechanism = g->ways[w].mechanism;
    t.spec.nano_epsilon = g->epsilons[e];
    t.model = g->ways[w].model;
    t.curators = g->ways[w].curators;
    t.users = grid_users(g, u);
    t.as_counted = g->users[u] == 0;
    if (!(t.delta > 0))
        t.delta = study_delta(t.users);
    t.top = (size_t)(g->top != 0 ? g->top : STUDY_HEAVY);
    if (t.top > t.spec.d)
        t.top = t.spec.d;
    return t;
}

static hsy_status grid_row(struct study_grid *g, struct study_result *row,
                           const struct study *setting, hsy_error *err)
{
    const hsy_status st = study_run(row, setting, err);

    g->spec = setting->spec;
    g->wrong = STUDY_WRONG_RUN;
    if (st != HSY_OK)
        return st;
    if (g->dump != NULL) { /* its commit says what fails here */
        (void)grid_dump(g->dump, row, !g->dumped);
        g->dumped = true;
    }
    free(row->each);
    row->each = NULL;
    return HSY_OK;
}

hsy_status study_grid_run(struct study_grid *g, struct study_result *rows,
                          size_t *n, const struct study_people *people,
                          const hsy_spec *asked, hsy_error *err)
{
    hsy_status st = HSY_OK;

    g->how.people = people;
    g->how.spec = *asked;
    for (size_t w = 0; w < g->nways; w++)
        for (size_t e = 0; e < g->nepsilons; e++)
            for (size_t u = 0; st == HSY_OK && u < g->nusers; u++) {
                const struct study setting = grid_setting(g, w, e, u);

                st = grid_row(g, &rows[(*n)++], &setting, err);
            }
    return st;
}
