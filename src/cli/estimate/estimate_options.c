/* estimate_options.c - what hearsay estimate can be asked. */
#include "cli/estimate/internal.h"

#include <stddef.h>

#define ESTIMATE(member) offsetof(struct estimate_options, member)

/* What a tally is asked, and RAPPOR's own files are not. */
#define ESTIMATE_TALLY                                                         \
    "candidates against top simultaneous post interval covariance density "    \
    "quantile between assume-lying plot rounds min-batch"

static const struct cli_option estimate_options[] = {
    {"level", "P", "confidence level of the intervals", CLI_INTO_SHARE,
     ESTIMATE(how.level), .preset = "0.95", .hints = "90% 95% 99%"},
    {"interval", "NAME", "method (default score, or wilson for population)",
     CLI_INTO_CHOICE, ESTIMATE(interval), .words = analysis_interval_names},
    {"simultaneous", NULL, "make all intervals hold jointly at --level",
     CLI_INTO_FLAG, ESTIMATE(simultaneous)},
    {"target", "WHOM", "estimate for", CLI_INTO_CHOICE, ESTIMATE(target),
     .words = analysis_target_names, .preset = "people"},
    {"post", "NAME", "add post-processed shares", CLI_INTO_CHOICE,
     ESTIMATE(posted), .words = analysis_post_names, .without = "against"},
    {"candidates", "FILE",
     "values to estimate, one per line; required for strings", CLI_INTO_TEXT,
     ESTIMATE(candidates)},
    {"top", "K", "show the K largest, or with --against largest changes",
     CLI_INTO_COUNT, ESTIMATE(top), 1, UINT32_MAX},
    {"against", "FILE", "compare with another tally: difference and p-value",
     CLI_INTO_TEXT, ESTIMATE(against)},
    {"devices", "N", "both tallies are of these N devices, answers kept",
     CLI_INTO_COUNT, ESTIMATE(devices), 1, UINT64_MAX, .with = "against"},
    {"rounds", "T", "assume T reports a person, if the tally does not say",
     CLI_INTO_COUNT, ESTIMATE(rounds), 1, UINT32_MAX},
    {"assume-lying", "SHARE",
     "add intervals that allow for this share of liars", CLI_INTO_SHARE,
     ESTIMATE(lying), .without = "quantile between covariance",
     .hints = "0.1% 1% 5%"},
    {"min-batch", "N", "state the privacy of shuffled batches of N or more",
     CLI_INTO_COUNT, ESTIMATE(batch.reports), 1, HSY_SHUFFLE_PEOPLE_MAX,
     .without = "covariance"},
    {"assume-honest", "SHARE",
     "share of honest reports (default: the task's, or 0.9)", CLI_INTO_SHARE,
     ESTIMATE(honest), .high = 1, .hints = "90% 100%"},
    {"delta", "D", "delta of a batch (default: the task's, or 1e-8)",
     CLI_INTO_CHANCE, ESTIMATE(batch.delta), .hints = "1e-6 1e-9"},
    {"plot", "FILE.svg", "write the estimates as a figure (.svg or .png)",
     CLI_INTO_TEXT, ESTIMATE(plot), .without = "quantile between covariance"},
    {"covariance", NULL, "print the covariance of estimates (grr and matrix)",
     CLI_INTO_FLAG, ESTIMATE(covariance)},
    {"density", "em|ems",
     "estimate by maximum likelihood (sw: always, default em); ems is smoothed "
     "and has no intervals",
     CLI_INTO_CHOICE, ESTIMATE(em), .words = analysis_density_names},
    {"quantile", "Q", "estimate quantiles of a range in bins, as 50%,90%",
     CLI_INTO_CALL, ESTIMATE(ranges), .call = estimate_ranges_quantile,
     .without = "against candidates top post", .hints = "50% 25%,50%,75% 90%"},
    {"between", "LO:HI...", "estimate the share between two bin edges",
     CLI_INTO_CALL, ESTIMATE(ranges), .call = estimate_ranges_between,
     .without = "against candidates top post"},
    {"rappor", "FILE...", "decode RAPPOR counts or reports; FILE is its params",
     CLI_INTO_TEXTS, ESTIMATE(rappors), .high = ESTIMATE_VARIABLES_MAX,
     .with = "map associate", .without = ESTIMATE_TALLY},
    {"map", "FILE...", "RAPPOR map file (candidates and their bits)",
     CLI_INTO_TEXTS, ESTIMATE(maps), .high = ESTIMATE_VARIABLES_MAX,
     .with = "rappor"},
    {"associate", NULL,
     "joint shares of several variables; give --map and --rappor for each, as "
     "VARIABLE=FILE",
     CLI_INTO_FLAG, ESTIMATE(associate), .with = "rappor"},
    {"all", NULL, "rappor: show all candidates, not only detected ones",
     CLI_INTO_FLAG, ESTIMATE(all)},
    {"method", "NAME", "rappor decoder", CLI_INTO_CHOICE, ESTIMATE(decoder),
     .words = analysis_method_names, .preset = "sampler"},
    {"correction", "NAME", "rappor multiple testing", CLI_INTO_CHOICE,
     ESTIMATE(corrected), .words = analysis_correction_names, .preset = "fdr"},
    {"alpha", "A", "rappor: bound on false detections (default 0.1)",
     CLI_INTO_SHARE, ESTIMATE(alpha), .hints = "1% 5% 10%"},
    {"attribute", "NAME", "estimate only this attribute", CLI_INTO_TEXT,
     ESTIMATE(attribute)},
    {"joint", NULL, "estimate each combination of values (mechanism joint)",
     CLI_INTO_FLAG, ESTIMATE(joint), .without = "attribute"},
    CLI_FORMAT_ROW(ESTIMATE(format)),
    {0}};

static const struct cli_command estimate_command = {
    "estimate", "[options] [TALLY]",
    "Estimate shares or a mean from a tally, or from a report stream ('-' "
    "is\nstandard input), each with its standard error and interval. Estimates "
    "are\nunbiased, so a small share may come out below zero.",
    estimate_options, .operands = "[TALLY]"};

bool estimate_parse(struct estimate_options *o, struct cli_parser *p, int argc,
                    char **argv)
{
    if (!cli_read(p, &estimate_command, argc, argv, o))
        return false;
    o->path = p->operands[0];
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

/* Files of RAPPOR's own: one of each sort, but with --associate. */
static int estimate_check_rappor(struct cli_parser *p,
                                 struct estimate_options *o)
{
    const char *const inputs[] = {o->path != NULL ? o->path : "-",
                                  o->rappors.at[o->rappors.n - 1],
                                  o->maps.n ? o->maps.at[o->maps.n - 1] : NULL};

    if (!o->associate && (o->maps.n != 1 || o->rappors.n != 1))
        return cli_usage(p, "--rappor and --map may be given only once, except "
                            "with --associate");
    if (o->path == NULL)
        o->path = "-";
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

int estimate_check(struct cli_parser *p, struct estimate_options *o)
{
    const char *const inputs[] = {o->path != NULL ? o->path : "-", o->against,
                                  o->candidates};

    if (o->rappors.n != 0)
        return estimate_check_rappor(p, o);
    if (o->how.interval == HSY_INTERVAL_AUTO)
        o->how.interval = o->how.target == HSY_PEOPLE ? HSY_SCORE : HSY_WILSON;
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}
