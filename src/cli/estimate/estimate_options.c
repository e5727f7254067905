/* estimate_options.c - what hearsay estimate can be asked. */
#include "cli/estimate/internal.h"

#include <stddef.h>

enum {
    ESTIMATE_LEVEL = 1,
    ESTIMATE_INTERVAL,
    ESTIMATE_SIMULTANEOUS,
    ESTIMATE_TARGET,
    ESTIMATE_POST,
    ESTIMATE_CANDIDATES,
    ESTIMATE_TOP,
    ESTIMATE_AGAINST,
    ESTIMATE_ROUNDS,
    ESTIMATE_DEVICES,
    ESTIMATE_COVARIANCE,
    ESTIMATE_LYING,
    ESTIMATE_PLOT,
    ESTIMATE_DENSITY,
    ESTIMATE_QUANTILE,
    ESTIMATE_BETWEEN,
    ESTIMATE_RAPPOR,
    ESTIMATE_MAP,
    ESTIMATE_ASSOCIATE,
    ESTIMATE_ALL,
    ESTIMATE_METHOD,
    ESTIMATE_CORRECTION,
    ESTIMATE_ALPHA,
    ESTIMATE_ATTRIBUTE,
    ESTIMATE_JOINT,
    ESTIMATE_FORMAT
};

static const struct cli_option estimate_options[] = {
    {ESTIMATE_LEVEL, "level", "P",
     "confidence of the intervals (default 0.95)"},
    {ESTIMATE_INTERVAL, "interval", "NAME",
     "wilson, wald, score, likelihood, exact or hoeffding\n"
     "(default: score for people, else wilson)"},
    {ESTIMATE_SIMULTANEOUS, "simultaneous", NULL,
     "all intervals hold together at that level"},
    {ESTIMATE_TARGET, "target", "WHOM",
     "people (those who answered, default) or population\n"
     "(they are a sample of it)"},
    {ESTIMATE_POST, "post", "NAME",
     "a further column: norm, norm-sub, norm-mul, norm-cut,\n"
     "base-cut, mle, power, power-ns or em (default none)"},
    {ESTIMATE_CANDIDATES, "candidates", "FILE",
     "only these values, one a line; needed for strings"},
    {ESTIMATE_TOP, "top", "K",
     "the K largest, largest first; with --against the\n"
     "largest changes, up or down"},
    {ESTIMATE_AGAINST, "against", "FILE",
     "the difference to another tally, with a test"},
    {ESTIMATE_DEVICES, "devices", "N",
     "... of N devices in all that keep their first answer"},
    {ESTIMATE_ROUNDS, "rounds", "T",
     "nobody is in a tally without rounds more than T times"},
    {ESTIMATE_LYING, "assume-lying", "SHARE",
     "add intervals that allow for what so many lying\n"
     "devices can do, as 1% or 0.01"},
    {ESTIMATE_PLOT, "plot", "FILE.svg", "write the estimates as a figure"},
    {ESTIMATE_COVARIANCE, "covariance", NULL,
     "how estimates vary together (grr and matrix)"},
    {ESTIMATE_DENSITY, "density", "em|ems",
     "shares by likelihood; sw has no others (default em);\n"
     "ems smoothes, and has no intervals"},
    {ESTIMATE_QUANTILE, "quantile", "Q",
     "where a share Q of a range in bins lies below, or\n"
     "several: 0.5,0.9"},
    {ESTIMATE_BETWEEN, "between", "LO:HI...",
     "the share between two edges of bins; repeatable"},
    {ESTIMATE_RAPPOR, "rappor", "FILE...",
     "decode RAPPOR's counts or reports; its params"},
    {ESTIMATE_MAP, "map", "FILE...", "... its map of candidates"},
    {ESTIMATE_ASSOCIATE, "associate", NULL,
     "... the joint shares of the reports' variables;\n"
     "--map and --rappor take VARIABLE=FILE, repeatable"},
    {ESTIMATE_ALL, "all", NULL, "... all candidates, not only those detected"},
    {ESTIMATE_METHOD, "method", "NAME", "... sampler (default) or nnls"},
    {ESTIMATE_CORRECTION, "correction", "NAME",
     "... false ones: fdr (default) or bonferroni"},
    {ESTIMATE_ALPHA, "alpha", "A", "... at most this (default 0.1)"},
    {ESTIMATE_ATTRIBUTE, "attribute", "NAME",
     "of several attributes only this one"},
    {ESTIMATE_JOINT, "joint", NULL,
     "the share of each combination (mechanism joint)"},
    CLI_FORMAT_OPTION(ESTIMATE_FORMAT),
    {0, NULL, NULL, NULL}};

static const struct cli_command estimate_command = {
    "estimate", "[options] [TALLY]",
    "Estimate shares or a mean from a tally (or a report stream; '-' is\n"
    "standard input), each with its standard error and interval. Estimates "
    "are\n"
    "unbiased, so that a small share may come out below zero.",
    estimate_options};

/* Options that only say so, and those that name a file or a value. */
static const struct estimate_plain {
    int id;
    size_t at; /* in struct estimate_options */
} estimate_flags[] =
    {{ESTIMATE_SIMULTANEOUS, offsetof(struct estimate_options, simultaneous)},
     {ESTIMATE_COVARIANCE, offsetof(struct estimate_options, covariance)},
     {ESTIMATE_ASSOCIATE, offsetof(struct estimate_options, associate)},
     {ESTIMATE_ALL, offsetof(struct estimate_options, all)},
     {ESTIMATE_JOINT, offsetof(struct estimate_options, joint)},
     {0, 0}},
  estimate_texts[] = {
      {ESTIMATE_CANDIDATES, offsetof(struct estimate_options, candidates)},
      {ESTIMATE_AGAINST, offsetof(struct estimate_options, against)},
      {ESTIMATE_ATTRIBUTE, offsetof(struct estimate_options, attribute)},
      {ESTIMATE_PLOT, offsetof(struct estimate_options, plot)},
      {0, 0}};

/* Where in the options id of a table belongs; NULL if it is not there. */
static void *estimate_plain(const struct estimate_plain *table, int id,
                            struct estimate_options *o)
{
    for (; table->id != 0; table++)
        if (table->id == id)
            return (char *)o + table->at;
    return NULL;
}

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

/* Options that take one of a list of names. */
static bool estimate_choice(struct cli_parser *p, int id,
                            struct estimate_options *o)
{
    int choice = 0;
    bool good;

    switch (id) {
    case ESTIMATE_INTERVAL:
        good = cli_value_choice(p, &choice, analysis_interval_names);
        o->how.interval = (hsy_interval)choice;
        o->has_interval = o->how.interval != HSY_INTERVAL_AUTO;
        return good;
    case ESTIMATE_TARGET:
        good = cli_value_choice(p, &choice, analysis_target_names);
        o->how.target = (hsy_target)choice;
        return good;
    case ESTIMATE_POST:
        good = cli_value_choice(p, &choice, analysis_post_names);
        o->post = (hsy_post)choice;
        return good;
    case ESTIMATE_DENSITY:
        good = cli_value_choice(p, &choice, analysis_density_names);
        o->density = (hsy_density_method)choice;
        return good;
    case ESTIMATE_METHOD:
        good = cli_value_choice(p, &choice, analysis_method_names);
        o->method = (uint32_t)choice;
        return good;
    default: /* ESTIMATE_CORRECTION */
        good = cli_value_choice(p, &choice, analysis_correction_names);
        o->correction = (uint32_t)choice;
        return good;
    }
}

static bool estimate_option(struct cli_parser *p, int id,
                            struct estimate_options *o)
{
    bool *flag = estimate_plain(estimate_flags, id, o);
    const char **text = estimate_plain(estimate_texts, id, o);

    if (flag != NULL)
        return *flag = true;
    if (text != NULL) {
        *text = p->value;
        return true;
    }
    switch (id) {
    case ESTIMATE_LEVEL:
        return cli_value_fraction(p, &o->how.level);
    case ESTIMATE_LYING:
        return cli_value_fraction(p, &o->lying);
    case ESTIMATE_ALPHA:
        return cli_value_fraction(p, &o->alpha);
    case ESTIMATE_INTERVAL:
    case ESTIMATE_TARGET:
    case ESTIMATE_POST:
    case ESTIMATE_DENSITY:
    case ESTIMATE_METHOD:
    case ESTIMATE_CORRECTION:
        return estimate_choice(p, id, o);
    case ESTIMATE_TOP:
        o->has_top = true;
        return cli_value_count(p, &o->top, 1, UINT32_MAX);
    case ESTIMATE_ROUNDS:
        return cli_value_count(p, &o->rounds, 1, UINT32_MAX);
    case ESTIMATE_DEVICES:
        return cli_value_count(p, &o->devices, 1, UINT64_MAX);
    case ESTIMATE_QUANTILE:
        return estimate_ranges_quantile(p, &o->ranges);
    case ESTIMATE_BETWEEN:
        return estimate_ranges_between(p, &o->ranges);
    case ESTIMATE_RAPPOR:
        o->rappor = p->value;
        return estimate_file(p, o->rappors, &o->nrappors);
    case ESTIMATE_MAP:
        o->map = p->value;
        return estimate_file(p, o->maps, &o->nmaps);
    case ESTIMATE_FORMAT:
        return cli_value_format(p, &o->format);
    default:
        if (o->path != NULL)
            cli_usage(p, "one tally at a time; 'hearsay tally' merges several");
        o->path = p->value;
        return p->exit == 0;
    }
}

bool estimate_parse(struct estimate_options *o, struct cli_parser *p, int argc,
                    char **argv)
{
    int id;

    cli_begin(p, &estimate_command, argc, argv);
    while ((id = cli_next(p)) != CLI_END)
        if (id == CLI_STOP || !estimate_option(p, id, o))
            return false;
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
        o->rounds != 0)
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
