/* figures.c - a tally of an entry becomes a figure in JSON. */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_UNDATED 96u /* bytes of a note */

/* ---- Open and close ------------------------------------------------------ */

/* Below its least number a task shows nothing. */
static hsy_status figure_few(const struct roster_entry *e, hsy_error *err)
{
    host_fail(err, HSY_E_EMPTY, "reports", "too few reports to be shown");
    if (err != NULL)
        err->limit = e->task.min_reports;
    return HSY_E_EMPTY;
}

static void figure_begin(struct figure *f, const struct roster_entry *e,
                         const struct figure_how *how)
{
    *f = (struct figure){.entry = e, .how = how};
    hsy_scheme_describe(e->scheme, &f->info);
    f->of = (struct shares_tally){
        .scheme = e->scheme, .info = &f->info, .tally = &f->tally};
    f->confidence = (hsy_confidence){.level = how->level,
                                     .target = HSY_PEOPLE,
                                     .interval = HSY_SCORE,
                                     .comparisons = 1};
}

hsy_status figure_check(const struct roster_entry *e,
                        const struct figure_how *how, hsy_error *err)
{
    struct figure f;

    figure_begin(&f, e, how);
    if (!(how->level > 0 && how->level < 1))
        return host_fail(err, HSY_E_RANGE, "level",
                         "a fraction between 0 and 1 is wanted");
    if (!(how->lying >= 0 && how->lying < 1))
        return host_fail(err, HSY_E_RANGE, "lying",
                         "a share from 0 to less than 1 is wanted");
    if (how->top > FIGURE_TOP_MAX) {
        host_fail(err, HSY_E_RANGE, "top", "too many rows");
        if (err != NULL)
            err->limit = FIGURE_TOP_MAX;
        return HSY_E_RANGE;
    }
    if (f.info.kind == HSY_KIND_STRINGS && !figure_discovers(&f) &&
        how->candidates_len == 0)
        return host_fail(err, HSY_E_UNKNOWN, "candidates",
                         "strings of this mechanism are estimated by name: the "
                         "collector has no list of candidates for this task");
    if (f.info.d > FIGURE_VALUES && !figure_discovers(&f))
        return host_fail(err, HSY_E_UNKNOWN, "values",
                         "more values than a collector estimates: download the "
                         "tally, and use 'hearsay estimate'");
    return HSY_OK;
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
    f->tally.kept = f->attended.kept;
    return HSY_OK;
}

hsy_status figure_open(struct figure *f, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err)
{
    const struct roster_entry *e = of->entry;
    hsy_status st = figure_check(e, how, err);
    uint64_t people;

    figure_begin(f, e, how);
    if (st != HSY_OK)
        return st;
    hsy_release_describe(e->release, &f->release);
    shares_view(&f->tally, &f->info, of->words);
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
    return st;
}

void figure_clear(struct figure *f)
{
    free(f->names);
    free(f->codes);
    free(f->points);
    free(f->bounds);
    free(f->rows);
    *f = (struct figure){0};
}

/* ---- Rows by points ------------------------------------------------------ */

/* What lying devices can do is said where there is a bound. */
static hsy_status figure_bounds(struct figure *f, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (f->how->lying > 0)
        st = shares_bounds(&f->bounds, &f->of, f->points, f->npoints,
                           f->how->lying, err);
    return st == HSY_E_UNKNOWN ? HSY_OK : st;
}

/* Points of what was asked for, and their bounds. */
static hsy_status figure_weigh(struct figure *f, hsy_error *err)
{
    static const uint64_t both[] = {1, 0}; /* yes, no */
    const bool yes_no = f->info.kind == HSY_KIND_YES_NO;
    hsy_status st;

    f->npoints = f->total;
    st = shares_points(&f->points, &f->of, yes_no ? both : f->codes, f->npoints,
                       err);
    return st == HSY_OK ? figure_bounds(f, err) : st;
}

/* Rows that are shown of `total`; all of them stand in their order. */
static size_t figure_top(const struct figure *f, size_t total)
{
    const bool strings = f->info.kind == HSY_KIND_STRINGS;
    uint32_t top = f->how->top;

    if (top == 0 && (strings || total > FIGURE_ROWS))
        top = FIGURE_TOP;
    return top;
}

hsy_confidence figure_selected(const struct figure *f, size_t total)
{
    hsy_confidence how = f->confidence;

    how.level = shares_level(&f->info, how.level, figure_top(f, total), total);
    return how;
}

void figure_cut(struct figure *f, bool difference)
{
    const size_t top = figure_top(f, f->total);

    f->count = f->total;
    f->sorted = top != 0;
    if (f->sorted)
        shares_top(f->rows, &f->count, top, difference);
}

/* What is not among the rows that are left. */
static hsy_status figure_rest(struct figure *f, hsy_error *err)
{
    const hsy_selection from =
        shares_selection(&f->info, f->rows, f->count, f->total);
    struct shares_known *known = calloc(f->count + 1, sizeof *known);
    uint64_t *codes = calloc(f->count + 1, sizeof *codes);
    hsy_status st = HSY_E_NOMEM;

    for (size_t i = 0; known != NULL && codes != NULL && i < f->count; i++) {
        const size_t at = f->rows[i].place;

        codes[i] = f->codes != NULL ? f->codes[at] : at;
        known[i] = (struct shares_known){
            .point = &f->points[at],
            .bound = f->bounds != NULL ? &f->bounds[at] : NULL};
    }
    if (known != NULL && codes != NULL)
        st = shares_rest(&f->rest, &f->of, codes, known, f->count, &from,
                         &f->confidence, err);
    free(known);
    free(codes);
    return st == HSY_E_NOMEM ? host_fail(err, st, NULL, "out of memory") : st;
}

static hsy_status figure_rows(struct figure *f, hsy_error *err)
{
    const hsy_confidence how = figure_selected(f, f->total);
    hsy_status st = figure_weigh(f, err);

    if (st != HSY_OK)
        return st;
    f->rows = calloc(f->total, sizeof *f->rows);
    if (f->rows == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < f->total && st == HSY_OK; i++) {
        const struct shares_known known = {
            .point = &f->points[i],
            .bound = f->bounds != NULL ? &f->bounds[i] : NULL};

        f->rows[i].place = (uint32_t)i;
        st = shares_row(&f->rows[i], &f->lying, &f->info, &known, NULL, &how,
                        err);
    }
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

/* Members that every figure has: what was asked, and how private it is. */
static void figure_put_head(struct put *p, const struct figure *f)
{
    const hsy_task *task = &f->entry->task;
    const double unit = pow(10, -(double)f->info.scale);

    put_word(p, "task", task->id);
    put_count(p, "release", task->release);
    put_word(p, "kind", hsy_kind_name(f->info.kind));
    put_text(p, "question", task->question, task->question_len);
    if (f->info.kind == HSY_KIND_BINS || f->info.kind == HSY_KIND_NUMBER) {
        put_number(p, "lo", (double)f->info.lo * unit);
        put_number(p, "hi", (double)f->info.hi * unit);
    }
    put_word(p, "mechanism", f->info.mechanism);
    put_number(p, "epsilon", f->info.epsilon);
    put_number(p, "epsilon_exact", f->info.epsilon_exact);
    put_number(p, "epsilon_permanent",
               f->info.epsilon_permanent > 0 ? f->info.epsilon_permanent : NAN);
    put_count(p, "reports", hsy_tally_reports(&f->tally));
    if (f->rounds != NULL) {
        put_count(p, "devices", f->attended.devices);
        put_count(p, "rounds", f->attended.rounds);
    }
    figure_put_day(p, "first_day", f->span.first);
    figure_put_day(p, "last_day", f->span.last);
    put_count(p, "undated", figure_undated(f));
    put_number(p, "level", f->how->level);
}

void figure_put_estimate(struct put *p, const hsy_estimate *est)
{
    put_number(p, "estimate", est->value);
    put_number(p, "stderr", est->sd);
    put_number(p, "low", est->low);
    put_number(p, "high", est->high);
}

void figure_put_selection(struct put *p, uint64_t selected, uint64_t of,
                          double level)
{
    put_count(p, "selected", selected);
    put_count(p, "of", of);
    put_number(p, "level_selected", level);
}

void figure_put_rest(struct put *p, const hsy_estimate *rest)
{
    put_object(p, "unexplained");
    figure_put_estimate(p, rest);
    put_end(p, '}');
}

void figure_put_row(struct put *p, const struct figure *f,
                    const struct shares_row *row)
{
    figure_put_estimate(p, &row->est);
    if (f->bounds == NULL)
        return;
    put_number(p, "low_lying", row->low_lying);
    put_number(p, "high_lying", row->high_lying);
}

static void figure_put_rows(struct put *p, const struct figure *f)
{
    const double level = figure_selected(f, f->total).level;
    const bool cut = f->count < f->total;

    figure_put_selection(p, f->count, f->total, level);
    if (cut)
        figure_put_rest(p, &f->rest);
    else
        put_null(p, "unexplained");
    put_count(p, "values", f->total);
    put_bool(p, "largest_first", f->sorted);
    put_array(p, "estimates");
    for (size_t i = 0; i < f->count; i++) {
        put_object(p, NULL);
        figure_put_name(p, f, f->rows[i].place);
        figure_put_row(p, f, &f->rows[i]);
        if (cut)
            put_number(p, "level_selected", level);
        put_end(p, '}');
    }
    put_end(p, ']');
}

void figure_put_lying(struct put *p, const struct figure *f)
{
    const double none = f->how->lying > 0 ? NAN : 0; /* no bound, or no liars */

    put_number(p, "assume_lying", f->bounds != NULL ? f->how->lying : none);
    put_number(p, "lying_up", f->bounds != NULL ? f->lying.up : none);
    put_number(p, "lying_down", f->bounds != NULL ? f->lying.down : none);
}

/* Whether honest reports look like these, and if not why. */
static void figure_put_doubt(struct put *p, const struct figure *f)
{
    /* The second point of a yes/no question is the first one again. */
    const size_t count = f->info.kind == HSY_KIND_YES_NO ? 1 : f->npoints;
    hsy_plausibility odd;

    hsy_plausible(&odd, f->of.scheme, &f->tally, f->points, count,
                  f->codes == NULL);
    put_bool(p, "implausible", odd.implausible);
    put_word(p, "warning",
             !odd.implausible             ? NULL
             : odd.support_p < FIGURE_ODD ? "honest reports hardly ever look "
                                            "like this: a count is too large "
                                            "or too small"
             : odd.sum_p < FIGURE_ODD     ? "honest reports hardly ever look "
                                            "like this: the shares do not make "
                                            "1"
             : odd.weights_p < FIGURE_ODD ? "honest reports hardly ever look "
                                            "like this: ones per report"
                                          : "honest reports hardly ever look "
                                            "like this: seeds of the hash");
}

/* Of a range in bins whose shares have intervals. */
static hsy_status figure_put_quantiles(struct put *p, const struct figure *f,
                                       hsy_error *err)
{
    static const double wanted[] = {0.1, 0.25, 0.5, 0.75, 0.9};
    void *scratch = malloc(hsy_ranges_scratch(f->of.scheme) + 1);
    hsy_ranges r;
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL)
        st = hsy_ranges_open(&r, f->of.scheme, &f->tally, scratch, err);
    if (st == HSY_OK && f->of.attended != NULL)
        st = hsy_ranges_attend(&r, f->of.permanent, f->of.attended, err);
    if (st == HSY_OK)
        put_array(p, "quantiles");
    for (size_t i = 0; st == HSY_OK && i < sizeof wanted / sizeof *wanted;
         i++) {
        hsy_estimate est;

        st =
            shares_quantile(&est, &f->info, &r, wanted[i], &f->confidence, err);
        if (st != HSY_OK)
            break;
        put_object(p, NULL);
        put_number(p, "quantile", wanted[i]);
        figure_put_estimate(p, &est);
        put_end(p, '}');
    }
    if (st == HSY_OK)
        put_end(p, ']');
    free(scratch);
    return st == HSY_E_REFUSED ? HSY_OK : st; /* there are none of it */
}

static hsy_status figure_by_points(struct put *p, struct figure *f,
                                   hsy_error *err)
{
    hsy_status st = figure_ask(f, err);

    if (st == HSY_OK)
        st = figure_rows(f, err);
    if (st != HSY_OK)
        return st;
    figure_cut(f, false);
    if (f->count < f->total)
        st = figure_rest(f, err);
    if (st != HSY_OK)
        return st;
    put_word(p, "interval", "score");
    put_word(p, "why", NULL);
    put_bool(p, "simultaneous", false);
    put_word(p, "target", "people");
    put_word(p, "post", "none");
    put_number(p, "lying_p", shares_lying_p(&f->of));
    figure_put_lying(p, f);
    figure_put_doubt(p, f);
    if (f->info.kind == HSY_KIND_BINS)
        st = figure_put_quantiles(p, f, err);
    figure_put_rows(p, f);
    return st;
}

/* Shares from the likelihood of all counts together, where there are no
 * points. */
static hsy_status figure_by_density(struct put *p, struct figure *f,
                                    hsy_error *err)
{
    const hsy_density_how how = {
        .level = figure_selected(f, f->info.d).level,
        .target = f->confidence.target,
        .repeats = f->rounds != NULL ? 1 + f->attended.came : 0};
    hsy_density_fit fit = {0};
    hsy_status st = figure_ask(f, err);

    if (st == HSY_OK)
        st = shares_density(&f->rows, &f->total, &fit, &f->of, &how, err);
    if (st != HSY_OK)
        return st;
    figure_cut(f, false);
    f->rest = (hsy_estimate){1, NAN, NAN, NAN};
    for (size_t i = 0; i < f->count; i++)
        f->rest.value -= f->rows[i].est.value;
    put_word(p, "interval", fit.no_interval == NULL ? "linear" : "none");
    put_word(p, "why", fit.no_interval);
    put_bool(p, "simultaneous", false);
    put_word(p, "target",
             how.target == HSY_POPULATION ? "population" : "people");
    put_word(p, "post", "none");
    put_word(p, "density", fit.method == HSY_DENSITY_EMS ? "ems" : "em");
    put_number(p, "lying_p", shares_lying_p(&f->of));
    figure_put_lying(p, f);
    if (f->info.kind == HSY_KIND_BINS && fit.no_interval == NULL)
        st = figure_put_quantiles(p, f, err);
    figure_put_rows(p, f);
    return st;
}

/* The days of a figure are those of the reports that have one. */
static void figure_put_undated(struct put *p, const struct figure *f)
{
    const uint64_t some = figure_undated(f);
    char text[FIGURE_UNDATED];

    if (f->span.undated == 0 || f->span.first == 0)
        return;
    snprintf(text, sizeof text,
             "at least %" PRIu64 " of the reports are of no day: they came in "
             "tallies that were merged",
             some);
    put_word(p, NULL,
             some != 0 ? text
                       : "some of the reports are of no day: they came in a "
                         "tally that was merged");
}

/* What is to be said beside it, in the words that the command has. */
static void figure_put_notes(struct put *p, const struct figure *f)
{
    enum shares_note_code notes[SHARES_NOTES];
    const bool known = f->rounds != NULL && f->rounds->unknown == 0;
    const size_t n = shares_notes(notes, &f->of, known);

    put_array(p, "notes");
    for (size_t i = 0; i < n; i++)
        put_word(p, NULL, shares_note(notes[i])->text);
    figure_put_undated(p, f);
    put_end(p, ']');
}

hsy_status figure_put(struct put *p, struct figure *f, hsy_error *err)
{
    figure_put_head(p, f);
    figure_put_notes(p, f);
    if (figure_discovers(f))
        return figure_found(p, f, err);
    if (figure_is_rappor(f))
        return figure_rappor(p, f, err);
    return f->info.iterative ? figure_by_density(p, f, err)
                             : figure_by_points(p, f, err);
}

hsy_status figure_json(char **json, size_t *len, const struct figure_of *of,
                       const struct figure_how *how, hsy_error *err)
{
    struct figure f;
    struct put p = {0};
    hsy_status st = figure_open(&f, of, how, err);

    if (st == HSY_OK)
        st = put_open(&p, err);
    if (st == HSY_OK)
        st = figure_put(&p, &f, err);
    if (st == HSY_OK)
        st = put_close(&p, json, len, err);
    else
        put_abort(&p);
    figure_clear(&f);
    return st;
}
