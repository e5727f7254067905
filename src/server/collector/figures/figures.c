/* figures.c - a tally of an entry becomes a figure: in JSON, as CSV, drawn. */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"
#include "host/plot/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_NOTE 96u
#define FIGURE_TITLE 320u
#define FIGURE_ABOUT 512u
#define FIGURE_TOP 50u           /* strings shown if none is said, ... */
#define FIGURE_TOP_MAX 10000u    /* ... and rows of any figure at most */
#define FIGURE_ROWS 1000u        /* a longer list is cut to its largest */
#define FIGURE_VALUES (1u << 20) /* a longer one has no figure */
#define FIGURE_CANDIDATES 20000u /* strings that are looked for, at most */
#define FIGURE_FOUND 16u         /* strings found, if none is said */

/* ---- Open and close ------------------------------------------------------ */

/* Below its least number a task shows nothing. */
static hsy_status figure_few(const struct roster_entry *e, hsy_error *err)
{
    return host_fail_limit(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                           "too few reports to be shown", e->task.min_reports);
}

static void figure_begin(struct figure *f, const struct roster_entry *e,
                         const struct figure_how *how)
{
    f->entry = e;
    f->how = how;
    f->lying = how->lying;
    hsy_scheme_describe(e->scheme, &f->info);
    f->of = (hsy_analysis_tally){.scheme = e->scheme,
                                 .info = &f->info,
                                 .tally = &f->tally,
                                 .labels = e->task.labels};
}

/* What there are no figures of. */
static hsy_status figure_possible(const hsy_scheme_info *info,
                                  const struct figure_how *how, hsy_error *err)
{
    if (analysis_searches(info))
        return HSY_OK;
    if (info->kind == HSY_KIND_STRINGS && how->candidates_len == 0)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_CANDIDATES,
                         "strings of this mechanism are estimated by name: the "
                         "collector has no list of candidates for this task");
    if (info->kind == HSY_KIND_TUPLE)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_KIND,
                         "the collector has no figures of this kind: download "
                         "the tally, and use 'hearsay estimate'");
    if (info->d > FIGURE_VALUES)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_VALUES,
                         "more values than a collector estimates: download the "
                         "tally, and use 'hearsay estimate'");
    return HSY_OK;
}

hsy_status figure_check(const struct roster_entry *e,
                        const struct figure_how *how, hsy_error *err)
{
    hsy_scheme_info info;

    hsy_scheme_describe(e->scheme, &info);
    if (!(how->level > 0 && how->level < 1))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_LEVEL,
                         "a fraction between 0 and 1 is wanted");
    if (!(how->lying >= 0 && how->lying < 1))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_LYING,
                         "a share from 0 to less than 1 is wanted");
    if (how->top > FIGURE_TOP_MAX)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TOP, "too many rows",
                               FIGURE_TOP_MAX);
    return figure_possible(&info, how, err);
}

/* Who is in it more than once. */
static hsy_status figure_attend(struct figure *f, hsy_error *err)
{
    hsy_status st;

    if (f->rounds == NULL)
        return HSY_OK;
    st = engine_rounds_attend(&f->attended, f->rounds, &f->entry->task, err);
    if (st != HSY_OK)
        return st;
    if (f->release.permanent == NULL)
        f->attended.kept = 0; /* fresh coins, whatever the rounds are */
    f->of.attended = &f->attended;
    f->of.permanent = f->release.permanent;
    if (f->rounds->unknown == 0) {
        f->of.rounds = f->rounds->rounds.list;
        f->of.nrounds = f->rounds->rounds.n;
    }
    f->tally.kept = f->attended.kept;
    f->of.batches = f->rounds->batches.list;
    f->of.nbatches = f->rounds->batches.n;
    return HSY_OK;
}

/* ---- What is asked ------------------------------------------------------- */

/* Rows that are shown of all values; 0: all of them, in their order. */
static uint64_t figure_top(const struct figure *f)
{
    const bool strings = f->info.kind == HSY_KIND_STRINGS;

    if (f->how->top == 0 && (strings || f->info.d > FIGURE_ROWS))
        return FIGURE_TOP;
    return f->how->top;
}

/* The lines of a text; an empty last one is none, and CR LF ends one too. */
static hsy_status figure_candidates(struct figure *f, hsy_error *err)
{
    const char *at = f->how->candidates;
    const char *const end = at + f->how->candidates_len;
    size_t room = 1, n = 0;

    for (const char *c = at; c < end; c++)
        room += *c == '\n';
    f->candidates = calloc(room, sizeof *f->candidates);
    if (f->candidates == NULL)
        return host_nomem(err);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((stop != NULL ? stop : end) - at);
        const bool cr = len > 0 && at[len - 1] == '\r';

        f->candidates[n++] = (hsy_analysis_text){at, len - cr};
        at += len + (stop != NULL);
    }
    if (n > FIGURE_CANDIDATES)
        return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                            "too many candidates", HSY_UNIT_LINE,
                            FIGURE_CANDIDATES + 1);
    f->request.candidates = f->candidates;
    f->request.ncandidates = n;
    return HSY_OK;
}

static hsy_status figure_ask(struct figure *f, hsy_error *err)
{
    const bool searches = analysis_searches(&f->info);

    f->request = (hsy_analysis_request){
        .size = sizeof f->request,
        .level = f->how->level,
        .target = f->how->target,
        .lying = f->how->lying,
        .top = searches ? 0 : figure_top(f),
        .quantiles = true,
        .search = {.size = sizeof f->request.search, .top = f->how->top},
        .significant = f->how->top == 0};
    return f->info.kind == HSY_KIND_STRINGS && !searches
               ? figure_candidates(f, err)
               : HSY_OK;
}

static hsy_status figure_prepare(struct figure *f, const struct figure_of *of,
                                 const struct figure_how *how, hsy_error *err)
{
    const struct roster_entry *e = of->entry;
    hsy_status st = figure_check(e, how, err);
    uint64_t people;

    if (st != HSY_OK)
        return st;
    figure_begin(f, e, how);
    hsy_release_describe(e->release, &f->release);
    analysis_view(&f->tally, &f->info, of->words);
    people = hsy_tally_reports(&f->tally);
    if (people == 0)
        return figure_few(e, err);
    f->rounds = of->rounds;
    f->span = of->span;
    st = figure_attend(f, err);
    if (st == HSY_OK && f->rounds != NULL)
        people = f->attended.devices;
    if (st == HSY_OK && people < e->task.min_reports)
        st = figure_few(e, err);
    return st == HSY_OK ? figure_ask(f, err) : st;
}

/* Drop what only making it needs. */
static void figure_settle(struct figure *f)
{
    free(f->candidates);
    f->candidates = NULL;
    analysis_evidence_clear(&f->evidence);
    f->of = (hsy_analysis_tally){0};
    f->request = (hsy_analysis_request){0};
    f->how = NULL;
    f->rounds = NULL;
}

struct figure *figure_hold(struct figure *f)
{
    atomic_fetch_add(&f->holders, 1);
    return f;
}

void figure_drop(struct figure *f)
{
    if (f == NULL || atomic_fetch_sub(&f->holders, 1) != 1)
        return;
    figure_settle(f);
    hsy_analysis_clear(&f->result);
    roster_drop(f->roster);
    free(f);
}

const hsy_analysis_result *figure_result(const struct figure *f)
{
    return &f->result;
}

struct figure_span figure_span(const struct figure *f)
{
    return f->span;
}

/* ---- Making -------------------------------------------------------------- */

static hsy_status figure_run(struct figure *f, hsy_error *err)
{
    return analysis_run(&f->result, &f->of, &f->evidence, NULL, NULL,
                        &f->request, err);
}

/* Of long steps so many strings may be too many for a stage: fewer, then. */
static hsy_status figure_estimate(struct figure *f, hsy_error *err)
{
    uint64_t *top = &f->request.search.top;
    hsy_status st = figure_run(f, err);

    if (!analysis_searches(&f->info) || f->how->top != 0)
        return st;
    while (st == HSY_E_RANGE && *top != 1) {
        *top = *top == 0 ? FIGURE_FOUND / 2 : *top / 2;
        st = figure_run(f, err);
    }
    return st != HSY_E_RANGE
               ? st
               : host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_CANDIDATES,
                           "this search has more candidates than a collector "
                           "tries: download the tally, and use 'hearsay "
                           "discover --max-candidates'");
}

hsy_status figure_open(struct figure **out, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err)
{
    struct figure *f = calloc(1, sizeof *f);
    hsy_status st;

    if (f == NULL)
        return host_nomem(err);
    atomic_init(&f->holders, 1);
    if (of->roster != NULL)
        f->roster = roster_hold(of->roster);
    st = figure_prepare(f, of, how, err);
    if (st == HSY_OK)
        st = figure_estimate(f, err);
    if (st == HSY_OK)
        *out = f;
    else
        figure_drop(f);
    return st;
}

hsy_status figure_make(struct figure **out, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err)
{
    const hsy_status st = figure_open(out, of, how, err);

    if (st == HSY_OK)
        figure_settle(*out);
    return st;
}

/* ---- Writing ------------------------------------------------------------- */

static void figure_put_day(struct put *p, const char *name, uint32_t day)
{
    if (day != 0)
        put_day(p, name, day);
    else
        put_null(p, name);
}

/* Reports of no day, rounded down: a lot may hold few of them, and few that
 * have one. */
static uint64_t figure_undated(const struct figure *f)
{
    const uint64_t least = f->entry->task.min_reports;

    return least > 1 ? f->span.undated / least * least : f->span.undated;
}

/* What only a collector knows: the task, and the days of sending. */
static void figure_put_head(struct put *p, const struct figure *f)
{
    const hsy_task *task = &f->entry->task;

    put_word(p, "task", task->id);
    put_count(p, "release", task->release);
    put_text(p, "question", task->question, task->question_len);
    figure_put_day(p, "first_day", f->span.first);
    figure_put_day(p, "last_day", f->span.last);
    put_count(p, "undated", figure_undated(f));
    if (f->lying == 0)
        analysis_put_lying(p, &f->result);
}

/* The note that says so; NULL: the days of the figure are those of all its
 * reports. */
static const char *figure_note(char text[FIGURE_NOTE], const struct figure *f)
{
    const uint64_t some = figure_undated(f);

    if (f->span.undated == 0 || f->span.first == 0)
        return NULL;
    snprintf(text, FIGURE_NOTE,
             "at least %" PRIu64 " of the reports are of no day: they came in "
             "tallies that were merged",
             some);
    return some != 0 ? text
                     : "some of the reports are of no day: they came in a "
                       "tally that was merged";
}

void figure_put(struct put *p, const struct figure *f)
{
    char note[FIGURE_NOTE];

    figure_put_head(p, f);
    analysis_put(p, &f->result, figure_note(note, f));
}

hsy_status figure_json(char **json, size_t *len, const struct figure *f,
                       hsy_error *err)
{
    struct put p;
    hsy_status st = put_open(&p, err);

    if (st != HSY_OK)
        return st;
    figure_put(&p, f);
    return put_close(&p, json, len, err);
}

/* ---- For others ---------------------------------------------------------- */

static const char *figure_day_text(char text[DAY_TEXT], uint32_t day)
{
    text[0] = '\0';
    if (day != 0)
        day_text(text, day);
    return text;
}

hsy_status figure_csv(char **csv, size_t *len, const struct figure *f,
                      hsy_error *err)
{
    char note[FIGURE_NOTE], first[DAY_TEXT], last[DAY_TEXT], release[24];
    const struct analysis_said said[] = {
        {"first_day", figure_day_text(first, f->span.first)},
        {"last_day", figure_day_text(last, f->span.last)},
        {"release", release},
        {"why", f->result.why}};
    const struct analysis_more more = {.note = figure_note(note, f),
                                       .said = said,
                                       .nsaid = f->result.why != NULL ? 4 : 3};

    snprintf(release, sizeof release, "%" PRIu32, f->entry->task.release);
    return analysis_csv(csv, len, &f->result, &more, err);
}

/* For those who cannot see it, and for who finds the drawing alone. */
static void figure_about(char about[FIGURE_ABOUT], const struct figure *f)
{
    char first[DAY_TEXT], last[DAY_TEXT];

    about[0] = '\0';
    plot_more(about, FIGURE_ABOUT, "Release %" PRIu32 ", target: %s",
              f->entry->task.release,
              analysis_target_names[f->result.how.target]);
    if (f->result.attends)
        plot_more(about, FIGURE_ABOUT, ", devices: at least %" PRIu64,
                  f->result.attended.devices);
    if (f->span.first != 0)
        plot_more(about, FIGURE_ABOUT, ", sent from %s to %s",
                  figure_day_text(first, f->span.first),
                  figure_day_text(last, f->span.last));
    plot_more(about, FIGURE_ABOUT, ".");
}

hsy_status figure_svg(char **svg, size_t *len, const struct figure *f,
                      hsy_error *err)
{
    const hsy_task *task = &f->entry->task;
    char note[FIGURE_NOTE], title[FIGURE_TITLE], about[FIGURE_ABOUT];
    const struct analysis_more more = {
        .note = figure_note(note, f), .title = title, .about = about};

    snprintf(title, sizeof title, "%.*s", (int)task->question_len,
             task->question);
    figure_about(about, f);
    return analysis_svg(svg, len, &f->result, NULL, &more, err);
}
