/* estimate.c - hearsay estimate: a tally in, estimates with errors out. */
#include "cli/estimate/internal.h"

#include "host/worth/worth.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is said of it -------------------------------------------------- */

/* The reason behind the colon of a sentence. */
static const char *estimate_reason(const hsy_analysis_note *note)
{
    const char *colon = strchr(hsy_analysis_code_text(note->code), ':');

    return colon != NULL ? colon + 2 : "";
}

static void estimate_outside(const hsy_analysis_note *note)
{
    const bool odd = note->code == HSY_DOUBT_OUTSIDE_ODD;

    cli_note(
        "%s: %" PRIu64 " of %" PRIu64 " interval%s wholly outside 0 to 100 %%; "
        "up to about %.2g can be due to chance%s",
        odd ? "warning" : "note", note->count, note->of,
        note->of == 1 ? " lies" : "s lie", note->p,
        odd ? "; some reports are forged, or were made with other parameters"
            : "");
}

/* Of one attribute of several. */
static void estimate_doubt_part(const char *file, const hsy_analysis_note *note)
{
    const char *name = note->attribute.text;
    const int len = (int)note->attribute.len;

    if (note->code == HSY_DOUBT_STRINGS)
        cli_note("note: %.*s holds strings; estimate it with --attribute and "
                 "--candidates FILE",
                 len, name);
    else if (note->code == HSY_DOUBT_UNANSWERED)
        cli_note("note: %s, %.*s: no data: no report is about it", file, len,
                 name);
    else if (note->code == HSY_DOUBT_FEW)
        cli_note("warning: %s, %.*s: only %" PRIu64
                 " report%s; intervals are rough",
                 file, len, name, note->count, note->count == 1 ? "" : "s");
    else
        cli_note("warning: %s, %.*s: honest devices hardly ever send such "
                 "reports; some are forged, or were made with other parameters",
                 file, len, name);
}

static void estimate_doubt(const struct estimate_job *j,
                           const hsy_analysis_note *note)
{
    const char *file = note->which ? j->other.first : j->gather.first;

    if (note->attribute.text != NULL) {
        estimate_doubt_part(file, note);
        return;
    }
    switch (note->code) {
    case HSY_DOUBT_SUPPORT:
    case HSY_DOUBT_SUM:
    case HSY_DOUBT_WEIGHTS:
    case HSY_DOUBT_SEEDS:
        cli_note("warning: %s: honest devices hardly ever send such reports "
                 "(p-value %.1g: %s); some are forged, or were made with other "
                 "parameters",
                 file, note->p, estimate_reason(note));
        break;
    case HSY_DOUBT_LYING:
        cli_note("warning: %s: some devices seem to lie to promote values "
                 "(p-value %.1g, if every report is from a different device); "
                 "--assume-lying SHARE bounds their effect",
                 file, note->p);
        break;
    case HSY_DOUBT_FEW:
        cli_note("warning: %s: only %" PRIu64 " report%s; intervals are rough",
                 file, note->count, note->count == 1 ? "" : "s");
        break;
    case HSY_DOUBT_STEPS:
        cli_note("warning: %s: the likelihood did not converge in %" PRIu64
                 " steps",
                 file, note->count);
        break;
    case HSY_DOUBT_OUTSIDE:
    case HSY_DOUBT_OUTSIDE_ODD:
        estimate_outside(note);
        break;
    case HSY_DOUBT_CANDIDATES:
        cli_note("note: --post %s assumes that there are no values but the "
                 "candidates",
                 analysis_post_names[j->options.post]);
        break;
    case HSY_DOUBT_DETECTED:
        cli_note("warning: %s: %s", cli_input_name(j->options.path),
                 hsy_analysis_code_text(note->code));
        break;
    default:
        break;
    }
}

void estimate_doubts(const struct estimate_job *j)
{
    for (size_t i = 0; i < j->result.nnotes; i++)
        estimate_doubt(j, &j->result.notes[i]);
}

/* ---- Failures, in the words of the options ------------------------------- */

static int estimate_refused(const hsy_confidence *how, const hsy_error *err)
{
    if (err->field == HSY_FIELD_NONE || err->field != HSY_FIELD_INTERVAL)
        return cli_fail_error(NULL, err);
    if (how->interval == HSY_WALD && err->limit != 0)
        return cli_fail("--interval wald: needs at least %" PRIu64 " reports",
                        err->limit);
    return cli_fail("--interval %s: %s", analysis_interval_names[how->interval],
                    err->msg);
}

/* Candidates are called by their lines, or places in the tally's list. */
static int estimate_candidate(const struct estimate_job *j,
                              const hsy_error *err)
{
    const struct estimate_options *o = &j->options;
    const bool own = o->rappors.at[0] == NULL && o->candidates == NULL;
    const char *list = cli_input_name(o->rappors.at[0] != NULL ? o->maps.at[0]
                                      : own                    ? j->gather.first
                                                               : o->candidates);
    const char *unit = own ? "value" : "line";

    if (err->kind == HSY_LIMIT_OTHER)
        return cli_fail("%s: %ss %" PRIu64 " and %" PRIu64 ": %s", list, unit,
                        err->limit, err->at, err->msg);
    return cli_fail("%s: %s %" PRIu64 ": %s", list, unit, err->at, err->msg);
}

/* The attribute that a failure is about; all of them have names. */
static int estimate_attribute(const struct estimate_job *j,
                              const hsy_error *err)
{
    const struct gather *g = &j->gather;
    hsy_attribute a = {.name = ""};
    size_t at = 0;

    if (err->status == HSY_E_UNKNOWN)
        return cli_fail("%s: no attribute %s", g->first, j->options.attribute);
    if (err->at == 0)
        return cli_fail("%s: %s", g->first, err->msg);
    for (uint64_t i = 0; i < err->at; i++)
        if (hsy_attribute_next(&a, &at, g->block, g->info.labels_len, NULL) !=
            HSY_OK)
            break;
    return cli_fail("%s, %.*s: %s", g->first, (int)a.name_len, a.name,
                    err->msg);
}

static int estimate_devices(const struct estimate_job *j, const hsy_error *err)
{
    if (err->status == HSY_E_REFUSED)
        return cli_fail("--devices needs two tallies of one scheme that both "
                        "state their rounds");
    return cli_fail("--devices %" PRIu64
                    ": too few; a round has reports of %" PRIu64 " devices",
                    j->options.devices, err->limit);
}

int estimate_failed(const struct estimate_job *j, const hsy_error *err)
{
    const char *file = j->gather.first;

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (err->status == HSY_E_MISMATCH && j->options.against != NULL)
        return cli_fail("%s: cannot be compared with %s: they differ in %s",
                        j->other.first, file, err->msg);
    if (err->status == HSY_E_EMPTY && err->field == HSY_FIELD_REPORTS)
        return cli_fail("%s: no data: it holds no reports",
                        err->at == 2 ? j->other.first : file);
    if (err->field == HSY_FIELD_CANDIDATES && err->at != 0)
        return estimate_candidate(j, err);
    if (err->field == HSY_FIELD_ATTRIBUTE)
        return estimate_attribute(j, err);
    if (err->field == HSY_FIELD_DEVICES)
        return estimate_devices(j, err);
    if (j->options.covariance)
        return cli_fail_error("--covariance", err);
    if (err->field == HSY_FIELD_INTERVAL)
        return estimate_refused(&j->options.how, err);
    if (err->at != 0)
        return cli_fail_at(cli_input_name(j->options.path), err);
    return cli_fail_error(err->field == HSY_FIELD_POST ? NULL : file, err);
}

/* ---- One tally, or two --------------------------------------------------- */

/* --rounds is of the tally that does not say its own, of two as well. */
static uint64_t estimate_most(const struct gather *g,
                              const struct estimate_options *o)
{
    return o->against != NULL && g->rounds.n != 0 ? 0 : o->rounds;
}

static int estimate_gather(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    int failed = cli_gather_file(&j->gather, o->path);

    return failed ? failed
                  : cli_gather_attend(&j->gather, estimate_most(&j->gather, o));
}

static int estimate_gather_other(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    int failed;

    if (o->against == NULL)
        return 0;
    failed = cli_gather_file(&j->other, o->against);
    if (!failed && o->rounds != 0 && j->gather.rounds.n != 0 &&
        j->other.rounds.n != 0)
        failed =
            cli_fail("%s and %s: both state their rounds; leave out --rounds",
                     j->gather.first, j->other.first);
    return failed ? failed
                  : cli_gather_attend(&j->other, estimate_most(&j->other, o));
}

static bool estimate_one_scheme(const struct estimate_job *j)
{
    return memcmp(j->gather.info.digest, j->other.info.digest, HSY_DIGEST) == 0;
}

/* Whether the two may hold the same reports: one file twice, or reports of one
 * round of one task. */
static bool estimate_overlaps(const struct estimate_job *j)
{
    const struct gather *a = &j->gather, *b = &j->other;
    size_t i = 0, k = 0;

    if (j->options.against == NULL || !estimate_one_scheme(j))
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

/* ---- What is asked ------------------------------------------------------- */

static int estimate_candidates(struct estimate_job *j)
{
    int failed = cli_labels_read(&j->candidates, j->options.candidates);

    if (failed)
        return failed;
    j->names = calloc((size_t)j->candidates.d + 1, sizeof *j->names);
    if (j->names == NULL)
        return cli_fail_nomem();
    for (uint32_t i = 0; i < j->candidates.d; i++)
        j->names[i].text = labels_at(&j->candidates, i, &j->names[i].len);
    return 0;
}

static hsy_analysis_request estimate_request(const struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;

    return (hsy_analysis_request){
        .size = sizeof(hsy_analysis_request),
        .question = o->ranges.count != 0 ? HSY_ASK_RANGES
                    : o->covariance      ? HSY_ASK_COVARIANCE
                    : o->joint           ? HSY_ASK_JOINT
                                         : HSY_ASK_ESTIMATES,
        .level = o->how.level,
        .target = o->how.target,
        .interval = o->how.interval,
        .simultaneous = o->simultaneous,
        .post = o->post,
        .density = o->density,
        .lying = o->lying,
        .top = o->has_top ? o->top : 0,
        .candidates = j->names,
        .ncandidates = j->candidates.d,
        .attribute = {o->attribute,
                      o->attribute != NULL ? strlen(o->attribute) : 0},
        .devices = o->devices,
        .overlap = estimate_overlaps(j),
        .rappor = {.method = o->method,
                   .correction = o->correction,
                   .alpha = o->alpha}};
}

/* ---- What is printed ----------------------------------------------------- */

int estimate_show(const struct estimate_job *j)
{
    const bool csv = j->options.format == TABLE_CSV;
    char *text = NULL;
    size_t len = 0;

    if (csv && j->result.why != NULL)
        cli_note("note: no intervals: %s", j->result.why);
    if (j->options.format == TABLE_ALIGNED) {
        analysis_print(stdout, &j->result);
        return cli_finish();
    }
    if ((csv ? hsy_analysis_csv : hsy_analysis_json)(&j->result, &text, &len,
                                                     NULL) != HSY_OK)
        return cli_fail_nomem();
    fwrite(text, 1, len, stdout);
    free(text);
    return cli_finish();
}

static int estimate_plot(const struct estimate_job *j)
{
    const hsy_analysis_tally t = gathered(&j->gather);
    struct cli_figure f = {0};
    hsy_status st;

    if (j->options.plot == NULL)
        return 0;
    st = analysis_svg(&f.svg, &f.len, &j->result, &t,
                      &(struct analysis_more){0}, &f.err);
    return st == HSY_E_NOMEM ? cli_fail_nomem()
                             : cli_write_figure(j->options.plot, st, &f);
}

/* ---- The command --------------------------------------------------------- */

/* The smallest batch in which the reports were shuffled, or what is assumed of
 * those that the tally says. */
static hsy_batch estimate_batch(const struct estimate_options *o)
{
    hsy_batch b = o->batch;

    if (b.reports != 0 && b.delta == 0)
        b.delta = 1e-8;
    if (b.reports != 0 || o->honest > 0)
        b.honest = worth_share(o->honest > 0 ? o->honest : 0.9);
    return b;
}

/* Whether options and tally say the same thing twice, or neither says it. */
static int estimate_shuffled(const struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    const bool said = j->gather.batches.n != 0;

    if (o->batch.reports != 0 && said)
        return cli_fail("%s: records its batches; leave out --min-batch",
                        j->gather.first);
    if (o->batch.reports == 0 && (!said || o->against != NULL) &&
        (o->honest != 0 || o->batch.delta != 0))
        return cli_fail("%s: does not record its batches; --assume-honest and "
                        "--delta need --min-batch",
                        j->gather.first);
    return 0;
}

static int estimate_answer(struct estimate_job *j)
{
    const hsy_batch batch = estimate_batch(&j->options);
    hsy_analysis_tally t = gathered(&j->gather);
    const hsy_analysis_tally against = gathered(&j->other);
    hsy_analysis_range ranges[ESTIMATE_RANGES_MAX];
    hsy_analysis_request request = estimate_request(j);
    hsy_error err = {0};
    int failed = 0;

    if (j->options.ranges.count != 0)
        failed =
            estimate_ranges_ask(ranges, &j->options.ranges, &j->gather.info);
    if (failed)
        return failed;
    if (batch.reports != 0 || batch.honest.num != 0 || batch.delta > 0)
        t.batch = &batch;
    request.ranges = ranges;
    request.nranges = j->options.ranges.count;
    if (hsy_analysis_run(&j->result, &t,
                         j->options.against != NULL ? &against : NULL, &request,
                         &err) != HSY_OK)
        return estimate_failed(j, &err);
    if (isnan(j->result.lying))
        return cli_fail("--assume-lying: %s has no bound on the effect of "
                        "lying devices; leave it out",
                        j->gather.info.mechanism);
    return 0;
}

static int estimate_run(struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    int failed = estimate_gather(j);

    if (!failed)
        failed = estimate_fits(j);
    if (!failed)
        failed = estimate_shuffled(j);
    if (!failed && o->candidates != NULL)
        failed = estimate_candidates(j);
    if (!failed)
        failed = estimate_gather_other(j);
    if (!failed && o->devices != 0 && !estimate_one_scheme(j))
        failed = estimate_devices(j, &(hsy_error){.status = HSY_E_REFUSED});
    if (!failed)
        failed = estimate_answer(j);
    if (failed)
        return failed;
    estimate_doubts(j);
    failed = estimate_plot(j);
    return failed ? failed : estimate_show(j);
}

static void estimate_clear(struct estimate_job *j)
{
    hsy_analysis_clear(&j->result);
    free(j->names);
    labels_clear(&j->candidates);
    gather_clear(&j->gather);
    gather_clear(&j->other);
}

int cmd_estimate(int argc, char **argv)
{
    struct estimate_job job = {0};
    const struct estimate_options *o = &job.options;
    struct cli_parser p;
    int failed;

    if (!estimate_parse(&job.options, &p, argc, argv))
        return p.exit;
    failed = estimate_check(&p, &job.options);
    if (!failed && o->rappors.n != 0)
        failed = o->associate ? estimate_associate(o) : estimate_rappor(&job);
    else if (!failed)
        failed = estimate_run(&job);
    estimate_clear(&job);
    return failed;
}
