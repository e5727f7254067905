/*
 * estimate_lying.c - devices that lie: intervals as wide as a share of them
 * makes necessary, and how much the reports look like theirs.
 */
#include "estimate_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LYING_TEXT 32u

/* A share as "0.01" or "1%". */
bool estimate_lying_parse(struct cli_parser *p, double *out)
{
    char text[LYING_TEXT];
    size_t len = strlen(p->value);
    bool percent = len > 0 && p->value[len - 1] == '%', decimal;
    int64_t rounded;
    double x;

    if (percent)
        len--;
    decimal = len < sizeof text &&
              hsy_decimal_parse(&rounded, p->value, len, 0) == HSY_OK;
    memcpy(text, p->value, decimal ? len : 0);
    text[decimal ? len : 0] = '\0';
    x = decimal ? strtod(text, NULL) / (percent ? 100 : 1) : 0;
    if (x > 0 && x < 1) {
        *out = x;
        return true;
    }
    cli_usage(p,
              "--%s takes a share of all devices between 0 and 1, as 1%% or "
              "0.01",
              p->name);
    return false;
}

/* ---- Intervals ----------------------------------------------------------- */

int estimate_lying_bounds(struct estimate_evidence *e,
                          const struct cli_gather *g, double lying)
{
    hsy_error err = {0};
    hsy_status st;

    if (lying == 0)
        return 0;
    e->bounds = malloc(e->count * sizeof *e->bounds);
    if (e->bounds == NULL)
        return cli_fail_nomem();
    st = hsy_poison_bounds(e->bounds, g->scheme, e->points, e->count,
                           hsy_tally_reports(&g->tally), lying, &err);
    if (st == HSY_E_UNKNOWN)
        return cli_fail("--assume-lying: %s has no bound on what lying devices "
                        "can do",
                        g->info.mechanism);
    return st == HSY_OK ? 0 : cli_fail_error(g->first, &err);
}

/* Up for one tally is down for the other, if it is taken off. */
hsy_poison_bound estimate_lying_widen(hsy_estimate *est,
                                      const hsy_poison_bound *own,
                                      const hsy_poison_bound *other,
                                      const hsy_confidence *how)
{
    const bool inside = other == NULL && (how->interval == HSY_EXACT ||
                                          how->interval == HSY_LIKELIHOOD);
    hsy_poison_bound by = *own;

    if (other != NULL) {
        by.up += other->down;
        by.down += other->up;
    }
    est->low -= by.up;
    est->high += by.down;
    if (inside) {
        est->low = fmax(est->low, 0);
        est->high = fmin(est->high, 1);
    }
    return by;
}

void estimate_lying_say(const struct estimate_result *r, FILE *to)
{
    const bool mean = r->gather->info.kind == HSY_KIND_NUMBER;
    const double unit = mean ? 1 : 100;

    fprintf(to,
            "%sintervals are wider by what %.6g %% of lying devices can do: "
            "estimates may be\n%.4g%s too large or %.4g too small for that\n",
            to == stderr ? "hearsay: note: " : "", 100 * r->options->lying,
            unit * r->lying.up, mean ? "" : " percentage points",
            unit * r->lying.down);
}

/* ---- Signs --------------------------------------------------------------- */

/* Whether any part of the scheme has reports that show it. */
static bool lying_shows(const hsy_scheme *s)
{
    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        hsy_info info;

        hsy_scheme_info(hsy_scheme_part(s, i), &info);
        if (info.weights > 0 || info.param[HSY_PARAM_G] != 0)
            return true;
    }
    return false;
}

struct cli_cell estimate_lying_p(const struct cli_gather *g)
{
    hsy_plausibility p;

    if (!lying_shows(g->scheme))
        return (struct cli_cell){.type = CLI_NONE};
    hsy_plausible(&p, g->scheme, &g->tally, NULL, 0, false);
    return cli_number(fmin(p.weights_p, p.seeds_p));
}
