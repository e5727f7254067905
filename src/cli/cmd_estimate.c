/* cmd_estimate.c - hearsay estimate: a tally in, estimates with errors out. */
#include "estimate_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const estimate_interval_names[] = {
    "auto",  "wald",       "wilson",    "score",
    "exact", "likelihood", "hoeffding", NULL};
const char *const estimate_post_names[] = {
    "none", "norm",  "norm-sub", "norm-mul", "norm-cut", "base-cut",
    "mle",  "power", "power-ns", "em",       NULL};
const char *const estimate_target_names[] = {"people", "population", NULL};

enum {
    ESTIMATE_LEVEL = 1,
    ESTIMATE_INTERVAL,
    ESTIMATE_SIMULTANEOUS,
    ESTIMATE_TARGET,
    ESTIMATE_POST,
    ESTIMATE_CANDIDATES,
    ESTIMATE_TOP,
    ESTIMATE_AGAINST,
    ESTIMATE_COVARIANCE,
    ESTIMATE_DENSITY,
    ESTIMATE_REPLICATES,
    ESTIMATE_SEED,
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
    {ESTIMATE_COVARIANCE, "covariance", NULL,
     "how estimates vary together (grr and matrix)"},
    {ESTIMATE_DENSITY, "density", "em|ems",
     "shares by likelihood; sw has no others (default: ems\n"
     "for 64 bins and more, else em)"},
    {ESTIMATE_REPLICATES, "replicates", "N",
     "of the bootstrap, for their intervals (default 200)"},
    {ESTIMATE_SEED, "seed", "N", "of the bootstrap (default 0)"},
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

/* ---- Estimating ---------------------------------------------------------- */

#define ESTIMATE_FEW 100  /* below this, intervals are rough at best */
#define ESTIMATE_ODD 1e-6 /* what chance does so seldom is not chance */

/* A mean is estimated as a share of its range. */
void estimate_rescale(const hsy_info *info, hsy_estimate *est, bool difference)
{
    double unit = pow(10, -(double)info->scale);
    double width = ((double)info->hi - (double)info->lo) * unit;
    double zero = difference ? 0 : (double)info->lo * unit;

    est->value = zero + width * est->value;
    est->sd *= width;
    est->low = zero + width * est->low;
    est->high = zero + width * est->high;
}

int estimate_refused(const hsy_confidence *how, const hsy_error *err)
{
    if (err->field == NULL || strcmp(err->field, "interval") != 0)
        return cli_fail_error(NULL, err);
    if (how->interval == HSY_WALD && err->limit != 0)
        return cli_fail("--interval wald: needs at least %" PRIu64 " reports",
                        err->limit);
    return cli_fail("--interval %s: %s", estimate_interval_names[how->interval],
                    err->msg);
}

static int estimate_rows(struct estimate_result *r,
                         const struct estimate_evidence *e,
                         const struct estimate_evidence *other,
                         const hsy_confidence *how)
{
    const hsy_info *info = &r->gather->info;

    for (size_t i = 0; i < r->count; i++) {
        struct estimate_row *row = &r->rows[i];
        size_t at = estimate_place(r->asked, i);
        hsy_error err = {0};
        hsy_status st;

        row->place = (uint32_t)i;
        if (other != NULL)
            st =
                hsy_estimate_difference(&row->est, &row->p_value, &e->points[i],
                                        &other->points[i], how, &err);
        else
            st = hsy_estimate_point(&row->est, &e->points[at], how, &err);
        if (st != HSY_OK)
            return estimate_refused(how, &err);
        if (info->kind == HSY_KIND_NUMBER)
            estimate_rescale(info, &row->est, other != NULL);
    }
    return 0;
}

/* One point stands for both answers; only base-cut judges each by itself. */
static hsy_status estimate_post_yes_no(double out[2], const hsy_point points[2],
                                       hsy_post method, hsy_error *err)
{
    double scratch;
    hsy_status st =
        hsy_post_process(&out[0], &points[0], 1, method, &scratch, err);

    out[1] = 1 - out[0];
    if (st == HSY_OK && method == HSY_POST_BASE_CUT)
        st = hsy_post_process(&out[1], &points[1], 1, method, &scratch, err);
    return st;
}

/* The tally's own likelihood; of a yes/no question yes comes first. */
static int estimate_post_em(struct estimate_result *r)
{
    const bool yes_no = r->gather->info.kind == HSY_KIND_YES_NO;
    double *shares = NULL;
    int failed = estimate_density_post(&shares, r->gather);

    for (size_t i = 0; !failed && i < r->count; i++)
        r->rows[i].post = shares[yes_no ? 1 - i : estimate_place(r->asked, i)];
    free(shares);
    return failed;
}

static int estimate_post(struct estimate_result *r,
                         const struct estimate_evidence *e)
{
    const hsy_post method = r->options->post;
    double *out = malloc(e->count * sizeof *out);
    double *scratch = malloc(e->count * sizeof *scratch);
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;

    if (out != NULL && scratch != NULL)
        st = r->gather->info.kind == HSY_KIND_YES_NO
                 ? estimate_post_yes_no(out, e->points, method, &err)
                 : hsy_post_process(out, e->points, e->count, method, scratch,
                                    &err);
    for (size_t i = 0; st == HSY_OK && i < r->count; i++)
        r->rows[i].post = out[estimate_place(r->asked, i)];
    free(out);
    free(scratch);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail_error(NULL, &err);
}

/* Larger first; of equals the one that stands first. */
static int estimate_order(const struct estimate_row *x, double size_x,
                          const struct estimate_row *y, double size_y)
{
    if (size_x != size_y)
        return size_x > size_y ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int estimate_order_value(const void *a, const void *b)
{
    const struct estimate_row *x = a, *y = b;

    return estimate_order(x, x->est.value, y, y->est.value);
}

/* Of differences the largest are those furthest from 0, either way. */
static int estimate_order_change(const void *a, const void *b)
{
    const struct estimate_row *x = a, *y = b;

    return estimate_order(x, fabs(x->est.value), y, fabs(y->est.value));
}

static void estimate_top(struct estimate_result *r)
{
    const struct estimate_options *o = r->options;

    if (!o->has_top)
        return;
    qsort(r->rows, r->count, sizeof *r->rows,
          r->other != NULL ? estimate_order_change : estimate_order_value);
    if (r->count > o->top)
        r->count = (size_t)o->top;
}

/* ---- Remarks ------------------------------------------------------------- */

static void estimate_few(const struct cli_gather *g)
{
    const uint64_t reports = hsy_tally_reports(&g->tally);

    if (reports < ESTIMATE_FEW)
        cli_note("warning: %s: only %" PRIu64 " report%s: intervals are rough",
                 g->first, reports, reports == 1 ? "" : "s");
}

/* What is to be said of a tally by itself, whatever is made of it. */
static void estimate_doubt(const struct cli_gather *g,
                           const struct estimate_evidence *e)
{
    /* The second row of a yes/no question is the first one again. */
    size_t count = g->info.kind == HSY_KIND_YES_NO ? 1 : e->count;
    hsy_plausibility p;

    hsy_plausible(&p, g->scheme, &g->tally, e->points, count, e->complete);
    if (p.implausible)
        cli_note("warning: %s: honest reports of this scheme hardly ever look "
                 "like this (chance %.1g: %s); some were made up, or made with "
                 "other parameters",
                 g->first, fmin(fmin(p.support_p, p.sum_p), p.weights_p),
                 p.support_p < ESTIMATE_ODD
                     ? "a count is too large or too small"
                 : p.sum_p < ESTIMATE_ODD ? "the shares do not make 1"
                                          : "ones per report");
    estimate_few(g);
}

/*
 * Intervals that miss every share there is. At a share of 0 or 1 an interval
 * misses on the one side that counts with chance miss / 2, so a long list of
 * rare values has some of them whatever happened. Up to twice that is nothing
 * to speak of, and the alarm is measured by it: nominal levels are not met to
 * the digit.
 */
static void estimate_outside(const struct estimate_result *r, double miss)
{
    /* The second row of a yes/no question is the first one again. */
    const size_t count = r->gather->info.kind == HSY_KIND_YES_NO ? 1 : r->count;
    size_t outside = 0;
    bool odd;

    for (size_t i = 0; i < count; i++)
        outside += r->rows[i].est.high < 0 || r->rows[i].est.low > 1;
    if ((double)outside <= (double)count * miss)
        return;
    odd = hsy_binomial_cdf(count - outside, count, 1 - miss) < ESTIMATE_ODD;
    cli_note("%s: %zu of %zu interval%s wholly outside 0 to 100 %%; chance "
             "alone makes up to about %.2g%s",
             odd ? "warning" : "note", outside, count,
             count == 1 ? " lies" : "s lie", (double)count * miss / 2,
             odd ? ": some reports were made up, or made with other parameters"
                 : "");
}

static void estimate_remarks(const struct estimate_result *r,
                             const struct estimate_evidence *e,
                             const hsy_confidence *how)
{
    if (r->other != NULL || r->gather->info.kind == HSY_KIND_NUMBER)
        return;
    estimate_outside(r, (1 - how->level) / (double)how->comparisons);
    if (r->options->post != HSY_POST_NONE && !e->complete &&
        r->options->post != HSY_POST_BASE_CUT)
        cli_note("note: --post %s takes the candidates for all there is",
                 estimate_post_names[r->options->post]);
}

/* ---- One tally, or two --------------------------------------------------- */

/* Two tallies can be compared if they ask the same; how they ask may differ. */
static const char *estimate_differs(const struct cli_gather *a,
                                    const struct cli_gather *b)
{
    if (a->info.kind != b->info.kind)
        return "the kind of question";
    if (a->info.d != b->info.d)
        return "the number of values";
    if (a->info.lo != b->info.lo || a->info.hi != b->info.hi ||
        a->info.scale != b->info.scale)
        return "the range";
    if (a->labels.len != b->labels.len ||
        (a->labels.len != 0 &&
         memcmp(a->labels.block, b->labels.block, a->labels.len) != 0))
        return "the values";
    return NULL;
}

struct estimate_job {
    struct estimate_options options;
    struct cli_gather gather, other;
    struct estimate_asked asked;
    struct estimate_evidence evidence, evidence_other;
    struct estimate_row *rows; /* owned */
};

/* Rows are told apart by their names, so each must have one of its own. */
static int estimate_names(struct cli_gather *g)
{
    hsy_error err = {0};
    size_t len;

    for (uint32_t i = 0; i < g->labels.d; i++) {
        cli_label_at(&g->labels, i, &len);
        if (len == 0)
            return cli_fail("%s: value %" PRIu32 " of its list: the name is "
                            "empty",
                            g->first, i + 1);
    }
    if (g->labels.d == 0 || cli_labels_index(&g->labels, &err) == HSY_OK)
        return 0;
    if (err.status == HSY_E_NOMEM)
        return cli_fail_nomem();
    return cli_fail_at(g->first, "value", &err);
}

/* Whether an option of RAPPOR's decoder is given. */
static bool estimate_decodes(const struct estimate_options *o)
{
    return o->all || o->method != 0 || o->correction != 0 || o->alpha != 0;
}

static int estimate_load(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    struct cli_gather *g = &j->gather;
    int failed = estimate_names(g);

    if (!failed && (o->attribute != NULL || o->joint))
        return cli_fail("--attribute and --joint go with several attributes; "
                        "%s has one question",
                        g->first);
    if (!failed && (estimate_is_rappor(g) || estimate_is_density(g, o)))
        return 0; /* it has no points */
    if (!failed && estimate_decodes(o))
        failed = cli_fail("%s: --all, --method, --correction and --alpha go "
                          "with rappor only",
                          g->first);
    if (!failed && (o->replicates != 0 || o->has_seed))
        failed = cli_fail("--replicates and --seed go with --density, and with "
                          "mechanisms that have no other estimates");
    if (!failed)
        failed = estimate_ask(&j->asked, g, o);
    if (!failed)
        failed = estimate_weigh(&j->evidence, g, &j->asked);
    return failed;
}

static int estimate_load_other(struct estimate_job *j)
{
    const char *difference;
    int failed = cli_gather_file(&j->other, j->options.against);

    if (failed)
        return failed;
    difference = estimate_differs(&j->gather, &j->other);
    if (difference != NULL)
        return cli_fail("%s: cannot be compared with %s: they differ in %s",
                        j->other.first, j->gather.first, difference);
    return estimate_weigh(&j->evidence_other, &j->other, &j->asked);
}

static int estimate_fits(const struct estimate_job *j)
{
    if (j->options.post == HSY_POST_NONE)
        return 0;
    if (j->gather.info.kind == HSY_KIND_NUMBER)
        return cli_fail("--post is for shares, and this is a mean");
    return 0;
}

/* Shares by EM: no points, no differences, no post-processing. */
static int estimate_run_density(struct estimate_job *j)
{
    struct estimate_options *o = &j->options;
    struct estimate_result r = {
        .gather = &j->gather, .asked = &j->asked, .options = o};
    int failed =
        estimate_density_rows(&j->rows, &r.count, &r.density, &j->gather, o);

    if (failed)
        return failed;
    r.rows = j->rows;
    o->how.target = HSY_POPULATION; /* what the bootstrap speaks of */
    estimate_few(&j->gather);
    estimate_top(&r);
    estimate_show(&r);
    return cli_finish();
}

static int estimate_run(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    hsy_confidence how = o->how;
    struct estimate_result r = {.gather = &j->gather,
                                .other = o->against ? &j->other : NULL,
                                .asked = &j->asked,
                                .options = o};
    int failed = cli_gather_file(&j->gather, o->path);

    if (!failed && j->gather.info.kind == HSY_KIND_TUPLE)
        return estimate_tuple(&j->gather, o);
    if (!failed)
        failed = estimate_load(j);
    if (!failed && estimate_is_rappor(&j->gather)) {
        estimate_few(&j->gather);
        return estimate_rappor_tally(&j->gather, o);
    }
    if (!failed && o->covariance)
        return estimate_covariance(&j->gather, o);
    if (!failed && estimate_is_density(&j->gather, o))
        return estimate_run_density(j);
    if (!failed)
        failed = estimate_fits(j);
    if (!failed && o->against != NULL)
        failed = estimate_load_other(j);
    if (failed)
        return failed;
    r.count = j->asked.whole ? j->asked.count : j->evidence.count;
    r.rows = j->rows = calloc(r.count, sizeof *j->rows);
    if (j->rows == NULL)
        return cli_fail_nomem();
    how.comparisons = o->simultaneous ? j->asked.count : 1;
    failed = estimate_rows(
        &r, &j->evidence, o->against != NULL ? &j->evidence_other : NULL, &how);
    if (!failed && o->post == HSY_POST_EM)
        failed = estimate_post_em(&r);
    else if (!failed && o->post != HSY_POST_NONE)
        failed = estimate_post(&r, &j->evidence);
    if (failed)
        return failed;
    estimate_doubt(&j->gather, &j->evidence);
    if (o->against != NULL)
        estimate_doubt(&j->other, &j->evidence_other);
    estimate_remarks(&r, &j->evidence, &how);
    estimate_top(&r);
    estimate_show(&r);
    return cli_finish();
}

static int estimate_run_ranges(struct estimate_job *j)
{
    int failed = cli_gather_file(&j->gather, j->options.path);

    if (failed)
        return failed;
    return estimate_ranges_run(&j->options.ranges, &j->gather, &j->options);
}

static void estimate_clear(struct estimate_job *j)
{
    free(j->rows);
    free(j->evidence.points);
    free(j->evidence_other.points);
    estimate_asked_clear(&j->asked);
    cli_gather_clear(&j->gather);
    cli_gather_clear(&j->other);
}

/* ---- Options ------------------------------------------------------------- */

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

static bool estimate_option(struct cli_parser *p, int id,
                            struct estimate_options *o)
{
    int choice = 0;
    bool good = true;

    switch (id) {
    case ESTIMATE_LEVEL:
        return cli_value_fraction(p, &o->how.level);
    case ESTIMATE_INTERVAL:
        good = cli_value_choice(p, &choice, estimate_interval_names);
        o->how.interval = (hsy_interval)choice;
        o->has_interval = o->how.interval != HSY_INTERVAL_AUTO;
        return good;
    case ESTIMATE_SIMULTANEOUS:
        o->simultaneous = true;
        return true;
    case ESTIMATE_TARGET:
        good = cli_value_choice(p, &choice, estimate_target_names);
        o->how.target = (hsy_target)choice;
        return good;
    case ESTIMATE_POST:
        good = cli_value_choice(p, &choice, estimate_post_names);
        o->post = (hsy_post)choice;
        return good;
    case ESTIMATE_CANDIDATES:
        o->candidates = p->value;
        return true;
    case ESTIMATE_TOP:
        o->has_top = true;
        return cli_value_count(p, &o->top, 1, UINT32_MAX);
    case ESTIMATE_AGAINST:
        o->against = p->value;
        return true;
    case ESTIMATE_COVARIANCE:
        o->covariance = true;
        return true;
    case ESTIMATE_DENSITY:
        good = cli_value_choice(p, &choice, estimate_density_names);
        o->density = (hsy_density_method)choice;
        return good;
    case ESTIMATE_REPLICATES:
        return cli_value_count(p, &o->replicates, 20, 1000000);
    case ESTIMATE_SEED:
        o->has_seed = true;
        return cli_value_count(p, &o->seed, 0, UINT64_MAX);
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
    case ESTIMATE_ASSOCIATE:
        o->associate = true;
        return true;
    case ESTIMATE_ALL:
        o->all = true;
        return true;
    case ESTIMATE_METHOD:
        good = cli_value_choice(p, &choice, estimate_method_names);
        o->method = (uint32_t)choice;
        return good;
    case ESTIMATE_CORRECTION:
        good = cli_value_choice(p, &choice, estimate_correction_names);
        o->correction = (uint32_t)choice;
        return good;
    case ESTIMATE_ALPHA:
        return cli_value_fraction(p, &o->alpha);
    case ESTIMATE_ATTRIBUTE:
        o->attribute = p->value;
        return true;
    case ESTIMATE_JOINT:
        o->joint = true;
        return true;
    case ESTIMATE_FORMAT:
        return cli_value_format(p, &o->format);
    default:
        if (o->path != NULL)
            cli_usage(p, "one tally at a time; 'hearsay tally' merges several");
        o->path = p->value;
        return p->exit == 0;
    }
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
        o->covariance || o->density != HSY_DENSITY_AUTO || o->replicates != 0 ||
        o->has_seed || o->ranges.count != 0)
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

static int estimate_check(struct cli_parser *p, struct estimate_options *o)
{
    const char *const inputs[] = {o->path != NULL ? o->path : "-", o->against,
                                  o->candidates};

    if (o->against != NULL && o->post != HSY_POST_NONE)
        return cli_usage(p, "--post does not go with --against");
    if (o->ranges.count != 0 && (o->against != NULL || o->candidates != NULL ||
                                 o->has_top || o->post != HSY_POST_NONE))
        return cli_usage(p, "--quantile and --between go with none of "
                            "--against, --candidates, --top and --post");
    if (o->how.interval == HSY_INTERVAL_AUTO)
        o->how.interval = o->how.target == HSY_PEOPLE ? HSY_SCORE : HSY_WILSON;
    return cli_check_inputs(p, inputs, sizeof inputs / sizeof inputs[0]);
}

int cmd_estimate(int argc, char **argv)
{
    struct estimate_job job = {.options.how.level = 0.95};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &estimate_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END) {
        if (id == CLI_STOP || !estimate_option(&p, id, &job.options))
            return p.exit;
    }
    failed = estimate_check_rappor(&p, &job.options);
    if (!failed && job.options.rappor != NULL)
        return job.options.associate ? estimate_associate(&job.options)
                                     : estimate_rappor(&job.options);
    if (!failed)
        failed = estimate_check(&p, &job.options);
    if (!failed)
        failed = job.options.ranges.count != 0 ? estimate_run_ranges(&job)
                                               : estimate_run(&job);
    estimate_clear(&job);
    return failed;
}
