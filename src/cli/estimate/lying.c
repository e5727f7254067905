/*
 * lying.c - devices that lie: second intervals as wide as a share of
 * them makes necessary, and how much the reports look like theirs.
 */
#include "cli/estimate/internal.h"

#include <math.h>

/* ---- Intervals ----------------------------------------------------------- */

int estimate_lying_bounds(struct estimate_evidence *e, const struct gather *g,
                          double lying)
{
    const struct shares_tally t = gathered(g);
    hsy_error err = {0};
    hsy_status st;

    if (lying == 0)
        return 0;
    st = shares_bounds(&e->bounds, &t, e->points, e->count, lying, &err);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st == HSY_E_UNKNOWN)
        return cli_fail("--assume-lying: %s has no bound on what lying devices "
                        "can do",
                        g->info.mechanism);
    return st == HSY_OK ? 0 : cli_fail_error(g->first, &err);
}

void estimate_lying_say(const struct estimate_result *r)
{
    const bool mean = r->gather->info.kind == HSY_KIND_NUMBER;
    const double unit = mean ? 1 : 100;

    printf("the second intervals are wider by what %.6g %% of lying devices "
           "can do: estimates may\nbe %.4g%s too large or %.4g too small for "
           "that\n",
           100 * r->options->lying, unit * r->lying.up,
           mean ? "" : " percentage points", unit * r->lying.down);
}

/* ---- Signs --------------------------------------------------------------- */

struct cli_cell estimate_lying_p(const struct gather *g)
{
    const struct shares_tally t = gathered(g);

    return cli_number(shares_lying_p(&t)); /* NaN: none */
}
