/*
 * density.c - shares from the likelihood of all counts together: the
 * estimates of a mechanism that has no others, or as --post em.
 */
#include "cli/estimate/internal.h"

#include <stdlib.h>

/* --post em climbs further than a density does: its stop rule is a question of
 * time, and not of smoothness. */
#define DENSITY_POST_GAIN 1e-6
#define DENSITY_POST_STEPS 200000u

const char *const estimate_density_names[] = {"auto", "em", "ems", NULL};

bool estimate_is_density(const struct gather *g,
                         const struct estimate_options *o)
{
    return g->info.iterative || o->density != HSY_DENSITY_AUTO;
}

/* What goes with points only. */
static int density_fits(const struct gather *g,
                        const struct estimate_options *o)
{
    if (o->against != NULL)
        return cli_fail("--against: shares by EM are not independent estimates "
                        "of each value, so their differences have no test");
    if (o->post != HSY_POST_NONE)
        return cli_fail("--post: shares by EM are consistent already: at least "
                        "0, and they add up to 1");
    if (o->has_interval)
        return cli_fail("--interval: intervals of shares by EM are linear "
                        "bounds only");
    if (o->simultaneous)
        return cli_fail("--simultaneous: intervals of shares by EM hold one by "
                        "one");
    if (o->lying != 0)
        return cli_fail("--assume-lying: shares by EM have no bound on what "
                        "lying devices can do");
    if (o->candidates != NULL)
        return cli_fail("--candidates: shares by EM are of all values");
    if (hsy_tally_reports(&g->tally) == 0)
        return cli_fail("%s: no data: it holds no reports", g->first);
    return 0;
}

/* 0, or the exit code after a message about the tally. */
static int density_failed(const struct gather *g, hsy_status st,
                          const hsy_error *err)
{
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail_error(g->first, err);
}

static void density_remark(const struct gather *g, const hsy_density_fit *fit)
{
    if (!fit->converged)
        cli_note("warning: %s: the likelihood still grew after %llu steps",
                 g->first, (unsigned long long)fit->steps);
}

int estimate_density_rows(struct shares_row **rows, size_t *count,
                          hsy_density_fit *fit, const struct gather *g,
                          const struct estimate_options *o)
{
    const hsy_density_how how = {
        .method = o->density,
        .level = estimate_level(o, &g->info, g->info.d),
        .target = o->how.target,
        .repeats = g->attends ? 1 + g->attended.came : 0};
    const struct shares_tally t = gathered(g);
    hsy_error err = {0};
    int failed = density_fits(g, o);

    if (failed)
        return failed;
    failed = density_failed(g, shares_density(rows, count, fit, &t, &how, &err),
                            &err);
    if (failed)
        return failed;
    density_remark(g, fit);
    return 0;
}

int estimate_density_post(double **shares, const struct gather *g)
{
    const hsy_density_how how = {.method = HSY_DENSITY_EM,
                                 .gain = DENSITY_POST_GAIN,
                                 .steps = DENSITY_POST_STEPS};
    void *scratch = malloc(hsy_density_scratch(g->scheme) + 1);
    double *out = calloc((size_t)g->info.d + 1, sizeof *out);
    hsy_density_fit fit = {0};
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;
    int failed;

    if (scratch != NULL && out != NULL)
        st = hsy_density(g->scheme, out, &fit, &g->tally, &how, scratch, &err);
    free(scratch);
    failed = density_failed(g, st, &err);
    if (failed) {
        free(out);
        return failed;
    }
    density_remark(g, &fit);
    *shares = out;
    return 0;
}
