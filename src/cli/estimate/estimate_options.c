/* estimate_options.c - what hearsay estimate can be asked. */
#include "cli/estimate/internal.h"

#include <stddef.h>

static bool estimate_file(struct cli_parser *p, const char **files,
                          size_t *count)
{
    if (*count == ESTIMATE_VARIABLES_MAX) {
        cli_usage(p, "--rappor and --map are given %u times at most",
                  ESTIMATE_VARIABLES_MAX);
        return false;
    }
    files[(*count)++] = p->value;
    return true;
}

static bool estimate_params(struct cli_parser *p, void *to)
{
    struct estimate_options *o = to;

    o->rappor = p->value;
    return estimate_file(p, o->rappors, &o->nrappors);
}

static bool estimate_map(struct cli_parser *p, void *to)
{
    struct estimate_options *o = to;

    o->map = p->value;
    return estimate_file(p, o->maps, &o->nmaps);
}

static bool estimate_operand(struct cli_parser *p, void *to)
{
    struct estimate_options *o = to;

    if (o->path != NULL)
        cli_usage(p, "one tally at a time; 'hearsay tally' merges several");
    o->path = p->value;
    return p->exit == 0;
}

static bool estimate_delta(struct cli_parser *p, void *to)
{
    double *delta = &((struct estimate_options *)to)->batch.delta;

    if (text_number(delta, p->value) && *delta > 0 && *delta < 1)
        return true;
    cli_usage(p, "--delta takes a chance above 0 and below 1, as 1e-8");
    return false;
}

#define ESTIMATE(member) offsetof(struct estimate_options, member)

static const struct cli_option estimate_options[] = {
    {0, "level", "P", "confidence of the intervals (default 0.95)",
     CLI_INTO_SHARE, ESTIMATE(how.level)},
    {0, "interval", "NAME",
     "wilson, wald, score, likelihood, exact or hoeffding\n"
     "(default: score for people, else wilson)",
     CLI_INTO_CHOICE, ESTIMATE(interval), .words = analysis_interval_names},
    {0, "simultaneous", NULL, "all intervals hold together at that level",
     CLI_INTO_FLAG, ESTIMATE(simultaneous)},
    {0, "target", "WHOM",
     "people (those who answered, default) or population\n"
     "(they are a sample of it)",
     CLI_INTO_CHOICE, ESTIMATE(target), .words = analysis_target_names},
    {0, "post", "NAME",
     "a further column: norm, norm-sub, norm-mul, norm-cut,\n"
     "base-cut, mle, power, power-ns or em (default none)",
     CLI_INTO_CHOICE, ESTIMATE(posted), .words = analysis_post_names},
    {0, "candidates", "FILE",
     "only these values, one a line; needed for strings", CLI_INTO_TEXT,
     ESTIMATE(candidates)},
    {0, "top", "K", "the K largest first; with --against largest changes",
     CLI_INTO_COUNT, ESTIMATE(top), 1, UINT32_MAX},
    {0, "against", "FILE", "the difference to another tally, with a test",
     CLI_INTO_TEXT, ESTIMATE(against)},
    {0, "devices", "N", "... of N devices in all that keep their first answer",
     CLI_INTO_COUNT, ESTIMATE(devices), 1, UINT64_MAX},
    {0, "rounds", "T", "nobody is in a tally without rounds more than T times",
     CLI_INTO_COUNT, ESTIMATE(rounds), 1, UINT32_MAX},
    {0, "assume-lying", "SHARE",
     "add intervals that allow for so many liars, as 1%", CLI_INTO_SHARE,
     ESTIMATE(lying)},
    {0, "min-batch", "N", "what batches of N or more are worth, if not said",
     CLI_INTO_COUNT, ESTIMATE(batch.reports), 1, HSY_SHUFFLE_PEOPLE_MAX},
    {0, "assume-honest", "SHARE",
     "... if so many are honest (the task's, or 0.9)", CLI_INTO_PART,
     ESTIMATE(honest)},
    {0, "delta", "D", "... with this chance to fail (the task's, or 1e-8)",
     CLI_INTO_CALL, .call = estimate_delta},
    {0, "plot", "FILE.svg", "write the estimates as a figure", CLI_INTO_TEXT,
     ESTIMATE(plot)},
    {0, "covariance", NULL, "how estimates vary together (grr and matrix)",
     CLI_INTO_FLAG, ESTIMATE(covariance)},
    {0, "density", "em|ems",
     "shares by likelihood; sw has no others (default em);\n"
     "ems smoothes, and has no intervals",
     CLI_INTO_CHOICE, ESTIMATE(em), .words = analysis_density_names},
    {0, "quantile", "Q", "below which a share Q lies, or several: 0.5,0.9",
     CLI_INTO_CALL, ESTIMATE(ranges), .call = estimate_ranges_quantile},
    {0, "between", "LO:HI...",
     "the share between two edges of bins; repeatable", CLI_INTO_CALL,
     ESTIMATE(ranges), .call = estimate_ranges_between},
    {0, "rappor", "FILE...", "decode RAPPOR's counts or reports; its params",
     CLI_INTO_CALL, ESTIMATE(rappors), .call = estimate_params},
    {0, "map", "FILE...", "... its map of candidates", CLI_INTO_CALL,
     ESTIMATE(maps), .call = estimate_map},
    {0, "associate", NULL,
     "... the joint shares of the reports' variables;\n"
     "--map and --rappor take VARIABLE=FILE, repeatable",
     CLI_INTO_FLAG, ESTIMATE(associate)},
    {0, "all", NULL, "... all candidates, not only those detected",
     CLI_INTO_FLAG, ESTIMATE(all)},
    {0, "method", "NAME", "... sampler (default) or nnls", CLI_INTO_CHOICE,
     ESTIMATE(decoder), .words = analysis_method_names},
    {0, "correction", "NAME", "... false ones: fdr (default) or bonferroni",
     CLI_INTO_CHOICE, ESTIMATE(corrected), .words = analysis_correction_names},
    {0, "alpha", "A", "... at most this (default 0.1)", CLI_INTO_SHARE,
     ESTIMATE(alpha)},
    {0, "attribute", "NAME", "of several attributes only this one",
     CLI_INTO_TEXT, ESTIMATE(attribute)},
    {0, "joint", NULL, "the share of each combination (mechanism joint)",
     CLI_INTO_FLAG, ESTIMATE(joint)},
    CLI_FORMAT_ROW(ESTIMATE(format)),
    {0}};

static const struct cli_command estimate_command = {
    "estimate", "[options] [TALLY]",
    "Estimate shares or a mean from a tally (or a report stream; '-' is\n"
    "standard input), each with its standard error and interval. Estimates "
    "are\n"
    "unbiased, so that a small share may come out below zero.",
    estimate_options, .operand = estimate_operand};

bool estimate_parse(struct estimate_options *o, struct cli_parser *p, int argc,
                    char **argv)
{
    if (!cli_read(p, &estimate_command, argc, argv, o))
        return false;
    o->how.interval = (hsy_interval)o->interval;
    o->has_interval = o->how.interval != HSY_INTERVAL_AUTO;
    o->how.target = (hsy_target)o->target;
    o->post = (hsy_post)o->posted;
    o->density = (hsy_density_method)o->em;
    o->method = (uint32_t)o->decoder;
    o->correction = (uint32_t)o->corrected;
    o->has_top = cli_given(p, "top");
    return true;
}

/* What goes with --rappor, and only with it. */
static int estimate_check_rappor(struct cli_parser *p,
                                 struct estimate_options *o)
{
    const char *const inputs[] = {o->path != NULL ? o->path : "-", o->rappor,
                                  o->map};

    if (o->rappor == NULL)
        return o->map != NULL || o->associate
                   ? cli_usage(p, "--map and --associate go with --rappor")
                   : 0;
    if (o->candidates != NULL || o->against != NULL || o->has_top ||
        o->simultaneous || o->post != HSY_POST_NONE || o->has_interval ||
        o->covariance || o->density != HSY_DENSITY_AUTO ||
        o->ranges.count != 0 || o->lying != 0 || o->plot != NULL ||
        o->rounds != 0 || o->batch.reports != 0)
        return cli_usage(p, "--rappor takes --level, --target and --format of "
                            "the options for tallies");
    if (!o->associate && o->nmaps != 1)
        return cli_usage(p, "--rappor takes --map FILE, the candidates");
    if (!o->associate && o->nrappors != 1)
        return cli_usage(p, "--rappor is given once, but with --associate");
    if (o->path == NULL)
        o->path = "-";
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

static int estimate_check_tally(struct cli_parser *p,
                                struct estimate_options *o)
{
    const char *const inputs[] = {o->path != NULL ? o->path : "-", o->against,
                                  o->candidates};

    if (o->batch.reports != 0 && o->covariance)
        return cli_usage(p, "--min-batch does not go with --covariance");
    if (o->devices != 0 && o->against == NULL)
        return cli_usage(p, "--devices goes with --against");
    if (o->against != NULL && o->post != HSY_POST_NONE)
        return cli_usage(p, "--post does not go with --against");
    if (o->ranges.count != 0 && (o->against != NULL || o->candidates != NULL ||
                                 o->has_top || o->post != HSY_POST_NONE))
        return cli_usage(p, "--quantile and --between go with none of "
                            "--against, --candidates, --top and --post");
    if ((o->ranges.count != 0 || o->covariance) &&
        (o->lying != 0 || o->plot != NULL))
        return cli_usage(p, "--assume-lying and --plot go with none of "
                            "--quantile, --between and --covariance");
    if (o->how.interval == HSY_INTERVAL_AUTO)
        o->how.interval = o->how.target == HSY_PEOPLE ? HSY_SCORE : HSY_WILSON;
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

int estimate_check(struct cli_parser *p, struct estimate_options *o)
{
    int failed = estimate_check_rappor(p, o);

    return failed || o->rappor != NULL ? failed : estimate_check_tally(p, o);
}
