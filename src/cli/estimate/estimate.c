/* estimate.c - hearsay estimate: a tally in, estimates with errors out. */
#include "cli/estimate/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Estimating ---------------------------------------------------------- */

#define ESTIMATE_FEW 100  /* below this, intervals are rough at best */
#define ESTIMATE_ODD 1e-6 /* what chance does so seldom is not chance */

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

static struct shares_known estimate_known(const struct estimate_evidence *e,
                                          size_t i)
{
    return (struct shares_known){
        &e->points[i], e->bounds != NULL ? &e->bounds[i] : NULL, e->shared};
}

static int estimate_rows(struct estimate_result *r,
                         const struct estimate_evidence *e,
                         const struct estimate_evidence *other,
                         const hsy_confidence *how)
{
    for (size_t i = 0; i < r->count; i++) {
        struct shares_row *row = &r->rows[i];
        const struct shares_known own =
            estimate_known(e, estimate_place(r->asked, i));
        const struct shares_known its =
            other != NULL ? estimate_known(other, i) : own;
        hsy_error err = {0};

        row->place = (uint32_t)i;
        if (shares_row(row, &r->lying, &r->gather->info, &own,
                       other != NULL ? &its : NULL, how, &err) != HSY_OK)
            return estimate_refused(how, &err);
    }
    return 0;
}

/* One point stands for both answers; only base-cut judges each by itself. */
static hsy_status estimate_post_yes_no(double out[2],
                                       const hsy_evidence points[2],
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

double estimate_level(const struct estimate_options *o,
                      const hsy_scheme_info *info, size_t of)
{
    return o->has_top && !o->simultaneous
               ? shares_level(info, o->how.level, o->top, of)
               : o->how.level;
}

static void estimate_top(struct estimate_result *r)
{
    r->of = r->count;
    r->level = estimate_level(r->options, &r->gather->info, r->of);
    if (r->options->has_top)
        shares_top(r->rows, &r->count, r->options->top, r->other != NULL);
    r->has_rest = r->count < r->of && r->other == NULL;
}

/* What is not among the rows that are left. */
static int estimate_rest(struct estimate_result *r,
                         const struct estimate_evidence *e)
{
    const hsy_selection from =
        shares_selection(&r->gather->info, r->rows, r->count, r->of);
    const struct shares_tally t = gathered(r->gather);
    struct shares_known *known = calloc(r->count + 1, sizeof *known);
    uint64_t *codes = calloc(r->count + 1, sizeof *codes);
    hsy_confidence how = r->options->how;
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;

    how.comparisons = 1;
    for (size_t i = 0; known != NULL && codes != NULL && i < r->count; i++) {
        const uint32_t place = r->rows[i].place;

        codes[i] = r->asked->codes != NULL ? r->asked->codes[place] : place;
        known[i] = estimate_known(e, estimate_place(r->asked, place));
    }
    if (known != NULL && codes != NULL)
        st = shares_rest(&r->rest, &t, codes, known, r->count, &from, &how,
                         &err);
    free(known);
    free(codes);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : estimate_refused(&how, &err);
}

/* Shares by likelihood make 1; how far their sum may be off is not known. */
static void estimate_rest_density(struct estimate_result *r)
{
    r->rest = (hsy_estimate){1, NAN, NAN, NAN};
    for (size_t i = 0; i < r->count; i++)
        r->rest.value -= r->rows[i].est.value;
}

/* ---- Remarks ------------------------------------------------------------- */

static void estimate_few(const struct gather *g)
{
    const uint64_t reports = hsy_tally_reports(&g->tally);

    if (g->info.central)
        return; /* its intervals are those of the noise, for any number */
    if (reports < ESTIMATE_FEW)
        cli_note("warning: %s: only %" PRIu64 " report%s: intervals are rough",
                 g->first, reports, reports == 1 ? "" : "s");
}

/* What is to be said of a tally by itself, whatever is made of it. */
static void estimate_doubt(const struct gather *g,
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
                 g->first,
                 fmin(fmin(p.support_p, p.sum_p), fmin(p.weights_p, p.seeds_p)),
                 p.support_p < ESTIMATE_ODD
                     ? "a count is too large or too small"
                 : p.sum_p < ESTIMATE_ODD     ? "the shares do not make 1"
                 : p.weights_p < ESTIMATE_ODD ? "ones per report"
                                              : "seeds of the hash");
    if (fmin(p.weights_p, p.seeds_p) < ESTIMATE_ODD)
        cli_note("warning: %s: devices that lie for gain leave this sign "
                 "(p-value %.1g), if each report is another device's; "
                 "--assume-lying SHARE bounds what they can have done",
                 g->first, fmin(p.weights_p, p.seeds_p));
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

static const char *estimate_differs(const struct gather *a,
                                    const struct gather *b)
{
    const char *what = shares_differ(&a->info, &b->info);

    if (what == NULL &&
        (a->labels.len != b->labels.len ||
         (a->labels.len != 0 &&
          memcmp(a->labels.block, b->labels.block, a->labels.len) != 0)))
        return "the values";
    return what;
}

struct estimate_job {
    struct estimate_options options;
    struct gather gather, other;
    struct estimate_asked asked;
    struct estimate_evidence evidence, evidence_other;
    struct shares_row *rows; /* owned */
};

/* Rows are told apart by their names, so each must have one of its own. */
static int estimate_names(struct gather *g)
{
    hsy_error err = {0};
    size_t len;

    for (uint32_t i = 0; i < g->labels.d; i++) {
        labels_at(&g->labels, i, &len);
        if (len == 0)
            return cli_fail("%s: value %" PRIu32 " of its list: the name is "
                            "empty",
                            g->first, i + 1);
    }
    if (g->labels.d == 0 || labels_index(&g->labels, &err) == HSY_OK)
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

/* --rounds is of the tally that does not say its own, of two as well. */
static uint64_t estimate_most(const struct gather *g,
                              const struct estimate_options *o)
{
    return o->against != NULL && g->rounds.n != 0 ? 0 : o->rounds;
}

static int estimate_gather(struct gather *g, const struct estimate_options *o)
{
    int failed = cli_gather_file(g, o->path);

    return failed ? failed : cli_gather_attend(g, estimate_most(g, o));
}

static int estimate_load(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    struct gather *g = &j->gather;
    int failed = estimate_names(g);

    if (!failed && (o->attribute != NULL || o->joint))
        return cli_fail("--attribute and --joint go with several attributes; "
                        "%s has one question",
                        g->first);
    if (!failed && estimate_is_rappor(g) && (o->lying != 0 || o->plot != NULL))
        return cli_fail("%s: --assume-lying and --plot do not go with rappor",
                        g->first);
    if (!failed && (estimate_is_rappor(g) || estimate_is_density(g, o)))
        return 0; /* it has no points */
    if (!failed && estimate_decodes(o))
        failed = cli_fail("%s: --all, --method, --correction and --alpha go "
                          "with rappor only",
                          g->first);
    if (!failed)
        failed = estimate_ask(&j->asked, g, o);
    if (!failed)
        failed = estimate_weigh(&j->evidence, g, &j->asked);
    if (!failed)
        failed = estimate_lying_bounds(&j->evidence, g, o->lying);
    return failed;
}

static int estimate_load_other(struct estimate_job *j)
{
    const double lying = j->options.lying;
    const char *difference;
    int failed = cli_gather_file(&j->other, j->options.against);

    if (!failed && j->options.rounds != 0 && j->gather.rounds.n != 0 &&
        j->other.rounds.n != 0)
        failed = cli_fail("%s and %s: both say their rounds: leave out "
                          "--rounds",
                          j->gather.first, j->other.first);
    if (!failed)
        failed =
            cli_gather_attend(&j->other, estimate_most(&j->other, &j->options));
    if (failed)
        return failed;
    difference = estimate_differs(&j->gather, &j->other);
    if (difference != NULL)
        return cli_fail("%s: cannot be compared with %s: they differ in %s",
                        j->other.first, j->gather.first, difference);
    failed = estimate_weigh(&j->evidence_other, &j->other, &j->asked);
    return failed ? failed
                  : estimate_lying_bounds(&j->evidence_other, &j->other, lying);
}

/* Two tallies of one task share the kept answers of devices in both. */
static int estimate_share(struct estimate_job *j)
{
    struct gather *a = &j->gather, *b = &j->other;
    hsy_error err = {0};

    if (j->options.devices == 0)
        return 0;
    if (a->rounds.n == 0 || b->rounds.n == 0 ||
        memcmp(a->info.digest, b->info.digest, HSY_DIGEST) != 0)
        return cli_fail("--devices: goes with two tallies of one scheme that "
                        "both say their rounds");
    if (hsy_attend_both(&j->evidence.shared, a->rounds.list, a->rounds.n,
                        b->rounds.list, b->rounds.n, j->options.devices,
                        &err) != HSY_OK)
        return cli_fail("--devices %" PRIu64 ": a round has reports of %" PRIu64
                        " devices",
                        j->options.devices, err.limit);
    return 0;
}

/* Whether the two may hold the same reports: one file twice, or reports of one
 * round of one task. */
static bool estimate_overlaps(const struct estimate_job *j)
{
    const struct gather *a = &j->gather, *b = &j->other;
    size_t i = 0, k = 0;

    if (memcmp(a->info.digest, b->info.digest, HSY_DIGEST) != 0)
        return false;
    if (memcmp(a->memory, b->memory,
               hsy_tally_words(a->scheme) * sizeof *a->memory) == 0)
        return true;
    while (i < a->rounds.n && k < b->rounds.n) {
        if (rounds_before(&a->rounds.list[i], &b->rounds.list[k]))
            i++;
        else if (rounds_before(&b->rounds.list[k], &a->rounds.list[i]))
            k++;
        else
            return true;
    }
    return false;
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
    hsy_density_fit fit = {0};
    int failed = estimate_density_rows(&j->rows, &r.count, &fit, &j->gather, o);

    if (failed)
        return failed;
    r.rows = j->rows;
    r.density = fit.method;
    r.no_interval = fit.no_interval;
    estimate_few(&j->gather);
    estimate_top(&r);
    estimate_rest_density(&r);
    failed = estimate_plot(&r);
    if (failed)
        return failed;
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
    int failed = estimate_gather(&j->gather, o);

    if (!failed && j->gather.info.kind == HSY_KIND_TUPLE)
        return estimate_tuple(&j->gather, o);
    if (!failed)
        failed = estimate_load(j);
    if (!failed && estimate_is_rappor(&j->gather)) {
        estimate_few(&j->gather);
        return estimate_rappor_tally(&j->gather, o);
    }
    if (!failed && o->covariance && j->gather.attends &&
        j->gather.attended.rounds > 1)
        return cli_fail("--covariance: has no formula for people who answered "
                        "more than once");
    if (!failed && o->covariance)
        return estimate_covariance(&j->gather, o);
    if (!failed && estimate_is_density(&j->gather, o))
        return estimate_run_density(j);
    if (!failed)
        failed = estimate_fits(j);
    if (!failed && o->against != NULL)
        failed = estimate_load_other(j);
    if (!failed && o->against != NULL)
        failed = estimate_share(j);
    if (failed)
        return failed;
    r.paired = j->evidence.shared > 0;
    r.overlap = o->against != NULL && estimate_overlaps(j);
    r.count = j->asked.whole ? j->asked.count : j->evidence.count;
    r.rows = j->rows = calloc(r.count, sizeof *j->rows);
    if (j->rows == NULL)
        return cli_fail_nomem();
    how.comparisons = o->simultaneous ? j->asked.count : 1;
    how.level = estimate_level(o, &j->gather.info, r.count);
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
    failed = r.has_rest ? estimate_rest(&r, &j->evidence) : 0;
    if (!failed)
        failed = estimate_plot(&r);
    if (failed)
        return failed;
    estimate_show(&r);
    return cli_finish();
}

static int estimate_run_ranges(struct estimate_job *j)
{
    int failed = estimate_gather(&j->gather, &j->options);

    if (failed)
        return failed;
    return estimate_ranges_run(&j->options.ranges, &j->gather, &j->options);
}

static void estimate_clear(struct estimate_job *j)
{
    free(j->rows);
    free(j->evidence.points);
    free(j->evidence.bounds);
    free(j->evidence_other.points);
    free(j->evidence_other.bounds);
    estimate_asked_clear(&j->asked);
    gather_clear(&j->gather);
    gather_clear(&j->other);
}

int cmd_estimate(int argc, char **argv)
{
    struct estimate_job job = {.options.how.level = 0.95};
    const struct estimate_options *o = &job.options;
    struct cli_parser p;
    int failed;

    if (!estimate_parse(&job.options, &p, argc, argv))
        return p.exit;
    failed = estimate_check(&p, &job.options);
    if (!failed && o->rappor != NULL)
        failed = o->associate ? estimate_associate(o) : estimate_rappor(o);
    else if (!failed)
        failed = o->ranges.count != 0 ? estimate_run_ranges(&job)
                                      : estimate_run(&job);
    estimate_clear(&job);
    return failed;
}
