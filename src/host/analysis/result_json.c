/* result_json.c - a result as JSON. */
#include "host/analysis/internal.h"

#include "host/base/json.h"

#include <math.h>
#include <string.h>

static void json_rest(struct put *p, const char *name, bool there,
                      const hsy_estimate *est, double unbiased)
{
    if (!there) {
        put_null(p, name);
        return;
    }
    put_object(p, name);
    put_estimate(p, est);
    if (!isnan(unbiased))
        put_number(p, "unbiased", unbiased);
    put_end(p, '}');
}

/* ---- What it is of ------------------------------------------------------- */

static void json_reports(struct put *p, const char *name,
                         const hsy_scheme_info *info, uint64_t reports)
{
    if (info->central) /* which has none */
        put_null(p, name);
    else
        put_count(p, name, reports);
}

static void json_scheme(struct put *p, const hsy_analysis_result *r)
{
    const hsy_scheme_info *info = &r->info;

    put_word(p, "mechanism", info->mechanism);
    put_number(p, "epsilon", info->epsilon > 0 ? info->epsilon : NAN);
    put_number(p, "epsilon_exact", info->epsilon_exact);
    json_reports(p, "reports", info, r->reports);
    put_number(p, "level", r->how.level);
    put_word(p, "interval", analysis_interval(r));
    put_bool(p, "simultaneous", r->simultaneous);
    put_word(p, "target", analysis_target_names[r->how.target]);
    put_word(p, "post", analysis_post_names[r->post]);
    put_number(p, "lying_p", r->lying_p);
    put_number(p, "epsilon_permanent",
               info->epsilon_permanent > 0 ? info->epsilon_permanent : NAN);
}

static void json_attended(struct put *p, const hsy_analysis_result *r)
{
    if (r->attends) {
        put_count(p, "rounds", r->attended.rounds);
        put_count(p, "devices", r->attended.devices);
    } else {
        put_null(p, "rounds");
        put_null(p, "devices");
    }
    if (r->info.central)
        put_count(p, "releases", r->reports);
    else
        put_null(p, "releases");
    put_number(p, "people", r->people);
}

/* In which batches reports came, and what was promised of them. */
static void json_batches(struct put *p, const hsy_analysis_result *r)
{
    const hsy_batches *b = &r->batches;

    put_count(p, "batches", b->batches);
    put_count(p, "reports", b->reports);
    put_number(p, "promised",
               b->nano_central != 0 ? (double)b->nano_central / HSY_NANO : NAN);
    put_bool(p, "kept", analysis_kept(r));
    put_count(p, "reports_each", r->each);
    put_number(p, "epsilon_each", r->epsilon_each);
    put_number(p, "delta_each", r->delta_each);
}

/* What shuffling the reports is worth, and unless who colludes. */
static void json_batch(struct put *p, const hsy_analysis_result *r)
{
    if (!r->shuffled)
        return;
    put_object(p, "shuffled");
    put_number(p, "epsilon_report", r->worth.epsilon_report);
    put_number(p, "epsilon_central", r->worth.epsilon);
    put_number(p, "delta", r->worth.delta);
    put_word(p, "bound", hsy_shuffle_bound_name(r->worth.by));
    put_count(p, "min_batch", r->batch.reports);
    put_count(p, "n", r->worth.n);
    put_number(p, "assume_honest",
               (double)r->batch.honest.num / (double)r->batch.honest.den);
    put_word(p, "unless", ANALYSIS_UNLESS);
    if (r->batches.batches != 0)
        json_batches(p, r);
    put_end(p, '}');
}

static void json_against(struct put *p, const hsy_analysis_result *r)
{
    if (!r->compared)
        return;
    put_word(p, "mechanism_against", r->against.mechanism);
    put_number(p, "epsilon_against", r->against.epsilon);
    put_number(p, "epsilon_exact_against", r->against.epsilon_exact);
    json_reports(p, "reports_against", &r->against, r->reports_against);
    put_bool(p, "paired", r->paired);
    put_bool(p, "overlap", r->overlap);
    if (r->devices_in_all != 0)
        put_count(p, "devices_in_all", r->devices_in_all);
    else
        put_null(p, "devices_in_all");
}

static void json_notes(struct put *p, const hsy_analysis_result *r,
                       const char *further)
{
    put_array(p, "notes");
    for (size_t i = 0; i < r->nnotes; i++)
        if (analysis_is_note(&r->notes[i]))
            put_word(p, NULL, hsy_analysis_code_text(r->notes[i].code));
    if (further != NULL)
        put_word(p, NULL, further);
    put_end(p, ']');
}

/* Whether honest reports look like these, and if not why. */
static void json_doubt(struct put *p, const hsy_analysis_result *r)
{
    const char *why = NULL;

    if (!r->tested)
        return;
    for (size_t i = 0; i < r->nnotes && why == NULL; i++)
        if (analysis_implausible(&r->notes[i]))
            why = hsy_analysis_code_text(r->notes[i].code);
    put_bool(p, "implausible", why != NULL);
    put_word(p, "warning", why);
}

/* ---- What was made of it ------------------------------------------------- */

static void json_selected(struct put *p, const hsy_analysis_result *r)
{
    put_word(p, "why", r->why);
    put_count(p, "selected", r->selected);
    put_count(p, "of", r->of);
    put_number(p, "level_selected", r->level_selected);
    json_rest(p, "unexplained", r->has_rest, &r->rest,
              r->from_files ? r->summary.rest.value : NAN);
    put_word(p, "kind", hsy_kind_name(r->info.kind));
}

void analysis_put_lying(struct put *p, const hsy_analysis_result *r)
{
    const bool none = isnan(r->lying);

    put_number(p, "assume_lying", r->lying);
    put_number(p, "lying_up", none ? NAN : r->lies.up);
    put_number(p, "lying_down", none ? NAN : r->lies.down);
}

static void json_range(struct put *p, const hsy_analysis_result *r)
{
    const hsy_scheme_info *info = &r->info;
    char text[ANALYSIS_DECIMAL];
    const char *lo, *hi;

    if (r->density != HSY_DENSITY_AUTO)
        put_word(p, "density", analysis_density_names[r->density]);
    if (info->kind != HSY_KIND_BINS && info->kind != HSY_KIND_NUMBER)
        return;
    lo = analysis_decimal(text, info->lo, info->scale);
    put_json(p, "lo", lo, strlen(lo));
    hi = analysis_decimal(text, info->hi, info->scale);
    put_json(p, "hi", hi, strlen(hi));
}

/* What RAPPOR's decoder says of all candidates. */
static void json_decoded(struct put *p, const hsy_analysis_result *r)
{
    const hsy_rappor_summary *s = &r->summary;

    if (r->info.analysis != HSY_ANALYSIS_RAPPOR)
        return;
    put_number(p, "epsilon_report", r->law.epsilon_report);
    put_word(p, "epsilon_permanent_if", "the permanent answer is kept");
    put_count(p, "cohorts", s->cohorts);
    put_count(p, "candidates", r->candidates);
    put_count(p, "detected", s->detected);
    put_number(p, "allocated", s->allocated);
    put_number(p, "unlisted", s->intercept ? s->unlisted : NAN);
    put_number(p, "unlisted_stderr", s->intercept ? s->unlisted_sd : NAN);
    put_number(p, "dispersion", s->dispersion);
    put_bool(p, "posed", s->posed);
    json_rest(p, "not_shown", r->unshown != 0, &r->not_shown, NAN);
    put_word(p, "method", analysis_method_names[r->rappor.method]);
    put_word(p, "correction", analysis_correction_names[r->rappor.correction]);
    put_number(p, "alpha", r->rappor.alpha);
}

/* What a search for strings says of itself. */
static void json_searched(struct put *p, const hsy_analysis_result *r)
{
    char alphabet[HSY_ALPHABET_TEXT];

    if (!analysis_searched(r))
        return;
    put_word(p, "oracle", r->info.oracle);
    put_word(p, "alphabet",
             hsy_alphabet_text(alphabet, r->info.alphabet) != 0 ? alphabet
                                                                : NULL);
    put_count(p, "groups", r->groups);
    put_bool(p, "significant", r->significant);
    put_count(p, "found", r->found);
    put_count(p, "candidates", r->candidates);
    put_number(p, "detectable", r->detectable);
    if (r->stage == 0)
        return;
    put_count(p, "stage", r->stage);
    put_count(p, "stages", r->stages);
    put_count(p, "bits", r->bits);
}

static void json_quantiles(struct put *p, const hsy_analysis_result *r)
{
    if (r->quantiles == NULL)
        return;
    put_array(p, "quantiles");
    for (size_t i = 0; i < r->nquantiles; i++) {
        put_object(p, NULL);
        put_number(p, "quantile", r->quantiles[i].post);
        put_estimate(p, &r->quantiles[i].est);
        put_end(p, '}');
    }
    put_end(p, ']');
}

/* ---- Rows ---------------------------------------------------------------- */

/* A row a line, where members have lines of their own. */
void analysis_put_rows(struct put *p, const char *name,
                       const hsy_analysis_result *r)
{
    if (p->lines != 0)
        put_array_lines(p, name);
    else
        put_array(p, name);
    for (size_t i = 0; i < r->count; i++) {
        put_object(p, NULL);
        for (unsigned c = 0; c < HSY_COLUMNS; c++) {
            const hsy_analysis_column column = (hsy_analysis_column)c;
            const struct table_cell cell = analysis_cell(r, i, column);

            if (r->columns & 1u << c)
                cell_put(p, hsy_analysis_column_name(column), &cell);
        }
        put_end(p, '}');
    }
    put_end(p, ']');
}

/* ---- All of it ----------------------------------------------------------- */

void analysis_put(struct put *p, const hsy_analysis_result *r, const char *note)
{
    json_scheme(p, r);
    json_attended(p, r);
    json_batch(p, r);
    json_selected(p, r);
    json_notes(p, r, note);
    json_against(p, r);
    if (r->lying != 0) /* something is assumed */
        analysis_put_lying(p, r);
    json_doubt(p, r);
    json_range(p, r);
    json_decoded(p, r);
    json_searched(p, r);
    json_quantiles(p, r);
    put_count(p, "values", analysis_searched(r) ? r->count : r->of);
    put_bool(p, "largest_first", r->largest_first);
    analysis_put_rows(p, analysis_rows_name(r), r);
}

hsy_status hsy_analysis_json(const hsy_analysis_result *r, char **json,
                             size_t *len, hsy_error *err)
{
    struct written w;
    struct put p;

    if (written_open(&w)) {
        put_begin(&p, w.to);
        analysis_put(&p, r, NULL);
        put_finish(&p);
    }
    return written_close(&w, json, len, err);
}
