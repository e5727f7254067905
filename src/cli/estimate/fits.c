/* fits.c - options of hearsay estimate that do not go with a tally. */
#include "cli/estimate/internal.h"

#include <inttypes.h>

/* Rows are told apart by their names, so each must have one of its own. */
static int fits_names(struct gather *g)
{
    hsy_error err = {0};
    size_t len;

    for (uint32_t i = 0; i < g->labels.d; i++) {
        labels_at(&g->labels, i, &len);
        if (len == 0)
            return cli_fail("%s: value %" PRIu32
                            " of its list has an empty name",
                            g->first, i + 1);
    }
    if (g->labels.d == 0 || labels_index(&g->labels, &err) == HSY_OK)
        return 0;
    if (err.status == HSY_E_NOMEM)
        return cli_fail_nomem();
    return cli_fail_at(g->first, &err);
}

static const char *fits_ranges(const struct estimate_options *o,
                               const hsy_scheme_info *info)
{
    if (info->kind != HSY_KIND_BINS)
        return "--quantile and --between need a tally of a range in bins "
               "(--range with --bins)";
    if (o->density == HSY_DENSITY_EMS)
        return "--quantile and --between: smoothed shares have an unknown "
               "bias; use --density em";
    if (info->iterative && o->has_interval)
        return "--interval: leave it out; shares by EM have linear intervals "
               "only";
    return NULL;
}

/* What goes with points only. */
static const char *fits_density(const struct estimate_options *o)
{
    if (o->against != NULL)
        return "--against: leave it out; differences of shares by EM have no "
               "test";
    if (o->post != HSY_POST_NONE)
        return "--post: leave it out; shares by EM are at least 0 and add up "
               "to 1 already";
    if (o->has_interval)
        return "--interval: leave it out; shares by EM have linear intervals "
               "only";
    if (o->simultaneous)
        return "--simultaneous: leave it out; intervals of shares by EM hold "
               "only one by one";
    if (o->lying != 0)
        return "--assume-lying: leave it out; shares by EM have no bound on "
               "the effect of lying devices";
    if (o->candidates != NULL)
        return "--candidates: leave it out; shares by EM are of all values";
    return NULL;
}

static const char *fits_rappor(const struct estimate_options *o)
{
    if (o->all || o->against != NULL || o->simultaneous || o->has_interval ||
        o->post != HSY_POST_NONE || o->covariance ||
        o->density != HSY_DENSITY_AUTO)
        return "a tally of rappor supports only --candidates, --top, --method, "
               "--correction, --alpha, --level, --target and --format";
    return NULL;
}

static const char *fits_asked(const struct estimate_options *o,
                              const hsy_scheme_info *info)
{
    if (o->candidates != NULL && info->kind != HSY_KIND_STRINGS &&
        info->kind != HSY_KIND_VALUES)
        return "--candidates needs a tally of strings or of a list of values";
    if (o->candidates != NULL || info->kind != HSY_KIND_STRINGS)
        return NULL;
    return analysis_searches(info)
               ? "this tally is of strings; list those to estimate, one per "
                 "line, with --candidates FILE, or find the frequent ones with "
                 "'hearsay discover'"
               : "this tally is of strings; list those to estimate, one per "
                 "line, with --candidates FILE";
}

static const char *fits_tuple(const struct estimate_options *o,
                              const struct gather *g)
{
    if (o->joint && g->info.analysis != HSY_ANALYSIS_JOINT)
        return "--joint needs reports of the mechanism joint; with smp each "
               "person reports one attribute only";
    if (o->against != NULL || o->has_top || o->covariance ||
        o->post != HSY_POST_NONE || o->density != HSY_DENSITY_AUTO ||
        o->lying != 0 || o->plot != NULL)
        return "a tally of several attributes supports only --level, "
               "--interval, --target, --simultaneous, --attribute, --joint and "
               "--candidates";
    if (o->candidates != NULL && o->attribute == NULL)
        return "--candidates needs --attribute NAME";
    if (g->attends && g->attended.came > 0 && o->how.target == HSY_POPULATION)
        return "no interval: with several attributes and rounds, use --target "
               "people";
    return NULL;
}

/* What does not go with any analysis of the tally but by points. */
static int fits_points(const struct estimate_job *j, const char **refusal)
{
    const struct estimate_options *o = &j->options;
    const struct gather *g = &j->gather;

    if (o->all || o->method != 0 || o->correction != 0 || o->alpha != 0)
        return cli_fail(
            "%s: --all, --method, --correction and --alpha are only for rappor",
            g->first);
    *refusal = fits_asked(o, &g->info);
    if (*refusal == NULL && o->covariance && g->attends &&
        g->attended.rounds > 1)
        *refusal =
            "--covariance: no formula for people who answered more than once";
    if (*refusal == NULL && o->post != HSY_POST_NONE &&
        g->info.kind == HSY_KIND_NUMBER)
        *refusal = "--post needs shares, and this is a mean";
    return 0;
}

int estimate_fits(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    const struct gather *g = &j->gather;
    const bool rappor = g->info.analysis == HSY_ANALYSIS_RAPPOR;
    const bool tuple = g->info.kind == HSY_KIND_TUPLE;
    const char *refusal = NULL;
    int failed = o->ranges.count != 0 || tuple ? 0 : fits_names(&j->gather);

    if (!failed && o->ranges.count == 0 && !tuple &&
        (o->attribute != NULL || o->joint))
        return cli_fail("--attribute and --joint need a tally of several "
                        "attributes; %s has one question",
                        g->first);
    if (!failed && rappor && (o->lying != 0 || o->plot != NULL))
        return cli_fail("%s: --assume-lying and --plot cannot be used with %s",
                        g->first, g->info.mechanism);
    if (o->ranges.count != 0)
        refusal = fits_ranges(o, &g->info);
    else if (tuple)
        refusal = fits_tuple(o, g);
    else if (rappor)
        refusal =
            fits_rappor(o) != NULL ? fits_rappor(o) : fits_asked(o, &g->info);
    else if (g->info.iterative || o->density != HSY_DENSITY_AUTO)
        refusal = o->covariance ? NULL : fits_density(o);
    else if (!failed)
        failed = fits_points(j, &refusal);
    return failed || refusal == NULL ? failed : cli_fail("%s", refusal);
}
