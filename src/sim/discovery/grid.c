/* grid.c - searches among all data, by every mechanism at every epsilon. */
#include "sim/discovery/discovery.h"

#include "sim/base/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GRID_STEP 8u
#define GRID_USERS 1000000u

/* ceil(log2 k), at least 1. */
static uint64_t grid_log(uint64_t k)
{
    uint64_t bits = 1;

    while ((uint64_t)1 << bits < k)
        bits++;
    return bits;
}

void discovery_settle(struct discovery *how, const struct discovery_method *m)
{
    struct discovery_batches *b = &how->batches;
    const bool own = m->oracle != NULL;
    const uint64_t given = b->step;

    if (given == 0)
        b->step = GRID_STEP;
    if (b->asked)
        return;
    how->spec.mechanism = m->name;
    how->spec.kind = HSY_KIND_STRINGS;
    how->spec.param[HSY_PARAM_BITS] = b->bits;
    how->spec.param[HSY_PARAM_STEP] = own ? given : b->step;
    how->spec.param[HSY_PARAM_FIRST] =
        b->first != 0 || own ? b->first : grid_log(how->search.top);
}

/* ---- Every run ----------------------------------------------------------- */

/* A name as a field of csv. */
static void grid_quote(char *out, size_t room, const char *name)
{
    size_t at = 0;

    out[at++] = '"';
    for (; *name != '\0' && at + 3 < room; name++) {
        if (*name == '"')
            out[at++] = '"';
        out[at++] = *name;
    }
    out[at++] = '"';
    out[at] = '\0';
}

#define GRID_NAME 4500u /* a path, and its quotes */

static hsy_status grid_dump(struct output *out,
                            const struct discovery_result *row, bool first)
{
    char data[GRID_NAME], before[GRID_NAME + 200];
    hsy_status st = HSY_OK;

    if (first) {
        size_t at = (size_t)snprintf(before, sizeof before,
                                     "data,mechanism,epsilon,users,run");

        for (unsigned m = 0; m < DISCOVERY_SHOWN; m++)
            at += (size_t)snprintf(
                before + at, sizeof before - at, ",%s",
                discovery_metric_name((enum discovery_metric)m));
        st = dump_line(out, before, NULL, 0, NULL);
    }
    grid_quote(data, sizeof data, row->data);
    for (uint64_t r = 0; st == HSY_OK && r < row->runs; r++) {
        snprintf(before, sizeof before, "%s,%s,%.17g,%" PRIu64 ",%" PRIu64,
                 data, row->mechanism, row->epsilon, row->users, r + 1);
        st = dump_line(out, before, row->each + r * DISCOVERY_METRICS,
                       DISCOVERY_SHOWN, NULL);
    }
    return st;
}

/* ---- Rows ---------------------------------------------------------------- */

/* The setting of one row, but for its mechanism and epsilon. */
static struct discovery grid_setting(const struct discovery_grid *g, size_t d)
{
    struct discovery how = g->how;
    const uint64_t counted = g->data[d].counted;

    how.people = &g->data[d].people;
    how.as_strings = g->integers || counted != 0;
    how.as_counted = counted != 0 && g->users == 0;
    how.users = g->users != 0 ? g->users : counted != 0 ? counted : GRID_USERS;
    return how;
}

/* Of one round: NULL is the search's own rule. */
static const char *grid_oracle(const struct discovery_grid *g, size_t m)
{
    const char *name = g->mechanisms[m];
    const bool rule =
        g->method.oracle == NULL && strcmp(name, g->method.rule) == 0;

    return rule || strcmp(name, "auto") == 0 ? NULL : name;
}

/* A row, or only whether it makes sense. */
static hsy_status grid_row(struct discovery_grid *g,
                           struct discovery_result *row, const char *data,
                           const struct discovery *how, hsy_error *err)
{
    const hsy_spec *spec = &how->spec;
    hsy_status st;

    g->refused = spec->oracle != NULL ? spec->oracle : spec->mechanism;
    if (row == NULL)
        return discovery_check(how, err);
    st = discovery_run(row, how, err);
    row->data = data;
    if (st == HSY_OK && g->dump != NULL) { /* its commit says what fails here */
        (void)grid_dump(g->dump, row, !g->dumped);
        g->dumped = true;
    }
    if (st == HSY_OK)
        discovery_close(row);
    return st;
}

static hsy_status grid_walk(struct discovery_grid *g,
                            struct discovery_result *rows, size_t *n,
                            hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t d = 0; d < g->ndata; d++) {
        struct discovery how = grid_setting(g, d);

        for (size_t m = 0; m < g->nmechanisms; m++)
            for (size_t e = 0; st == HSY_OK && e < g->nepsilons; e++) {
                if (how.batches.asked)
                    how.spec.mechanism = g->mechanisms[m];
                else
                    how.spec.oracle = grid_oracle(g, m);
                how.spec.nano_epsilon = g->epsilons[e];
                st = grid_row(g, rows != NULL ? &rows[(*n)++] : NULL,
                              g->data[d].name, &how, err);
            }
    }
    return st;
}

hsy_status discovery_grid_check(struct discovery_grid *g, hsy_error *err)
{
    return grid_walk(g, NULL, NULL, err);
}

hsy_status discovery_grid_run(struct discovery_grid *g,
                              struct discovery_result *rows, size_t *n,
                              hsy_error *err)
{
    return grid_walk(g, rows, n, err);
}

double discovery_grid_people(const struct discovery_grid *g)
{
    double all = 0;

    for (size_t d = 0; d < g->ndata; d++)
        all += (double)grid_setting(g, d).users * (double)g->how.batches.rounds;
    return all * (double)g->how.runs * (double)(g->nmechanisms * g->nepsilons);
}
