/* figure_rappor.c - RAPPOR's reports decoded, as `hearsay estimate` does. */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RAPPOR_ALPHA 0.1 /* share of false discoveries among those detected */

bool figure_is_rappor(const struct figure *f)
{
    return strcmp(f->info.mechanism, "rappor") == 0;
}

static double rappor_level(const struct figure *f,
                           const hsy_rappor_share *share,
                           const hsy_rappor_summary *s)
{
    return shares_rappor_level(share, s, f->how->level, f->count, f->total);
}

static void rappor_put_rows(struct put *p, const struct figure *f,
                            const hsy_rappor_share *shares,
                            const hsy_rappor_summary *summary)
{
    put_count(p, "values", f->total);
    put_bool(p, "largest_first", true);
    put_array(p, "estimates");
    for (size_t i = 0; i < f->count; i++) {
        const hsy_rappor_share *s = &shares[f->rows[i].place];

        put_object(p, NULL);
        figure_put_name(p, f, f->rows[i].place);
        figure_put_estimate(p, &f->rows[i].est);
        put_number(p, "post", s->est.value);
        put_number(p, "p_zero", s->p_zero);
        put_number(p, "q_value", s->q);
        put_number(p, "level_selected", rappor_level(f, s, summary));
        put_bool(p, "detected", s->detected);
        put_end(p, '}');
    }
    put_end(p, ']');
}

/* What the rows leave, such that they, the rest and this make 1. */
static void rappor_put_unshown(struct put *p, const struct figure *f,
                               const hsy_rappor_share *shares,
                               const hsy_rappor_summary *s)
{
    hsy_estimate est;

    if (shares_rappor_unshown(&est, shares, s, f->rows, f->count) == 0) {
        put_null(p, "not_shown");
        return;
    }
    put_object(p, "not_shown");
    figure_put_estimate(p, &est);
    put_end(p, '}');
}

static void rappor_put_summary(struct put *p, const struct shares_rappor *r,
                               const hsy_rappor_summary *s)
{
    put_word(p, "interval", "score");
    put_bool(p, "simultaneous", false);
    put_word(p, "target", "people");
    put_word(p, "post", "none");
    put_number(p, "epsilon_report", r->law.epsilon_report);
    put_word(p, "epsilon_permanent_if", "the permanent answer is kept");
    put_count(p, "cohorts", s->cohorts);
    put_count(p, "candidates", r->data.candidates);
    put_count(p, "detected", s->detected);
    figure_put_selection(p, s->detected, r->data.candidates, s->level_selected);
    figure_put_rest(p, &s->rest);
    put_number(p, "allocated", s->allocated);
    put_number(p, "unlisted", s->intercept ? s->unlisted : NAN);
    put_number(p, "unlisted_stderr", s->intercept ? s->unlisted_sd : NAN);
    put_number(p, "dispersion", s->dispersion);
    put_bool(p, "posed", s->posed);
    put_word(p, "method", "sampler");
    put_word(p, "correction", "fdr");
    put_number(p, "alpha", RAPPOR_ALPHA);
}

/* As of any other tally estimates are unbiased; the decoder's best guess is a
 * member of its own, `post`. */
static hsy_status rappor_rows(struct figure *f, const hsy_rappor_share *shares,
                              const hsy_rappor_summary *summary, hsy_error *err)
{
    f->rows = calloc(f->total + 1, sizeof *f->rows);
    if (f->rows == NULL)
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < f->total; i++) {
        f->rows[i].est.value = shares[i].unbiased;
        f->rows[i].place = (uint32_t)i;
    }
    figure_cut(f, false);
    for (size_t i = 0; i < f->count; i++) {
        const hsy_rappor_share *share = &shares[f->rows[i].place];

        shares_rappor_interval(&f->rows[i].est, share,
                               rappor_level(f, share, summary));
        f->rows[i].est.value = share->unbiased;
    }
    return HSY_OK;
}

hsy_status figure_rappor(struct put *p, struct figure *f, hsy_error *err)
{
    const hsy_rappor_options how = {
        .size = sizeof how,
        .alpha = RAPPOR_ALPHA,
        .level = f->how->level,
        .target = HSY_PEOPLE,
        .dispersion = shares_rappor_dispersion(&f->of, HSY_PEOPLE)};
    struct shares_rappor r = {0};
    hsy_rappor_share *shares = NULL;
    hsy_rappor_summary summary;
    hsy_status st = figure_ask(f, err);

    if (st == HSY_OK)
        st = shares_rappor_open(&r, &f->of, f->codes, f->total, err);
    if (st == HSY_OK)
        st = shares_rappor_decode(&shares, &summary, &r.data, &how, err);
    if (st == HSY_OK)
        st = rappor_rows(f, shares, &summary, err);
    if (st == HSY_OK) {
        rappor_put_summary(p, &r, &summary);
        rappor_put_unshown(p, f, shares, &summary);
        put_bool(p, "implausible", shares_rappor_doubt(&summary) != NULL);
        put_word(p, "warning", shares_rappor_doubt(&summary));
        figure_put_lying(p, f);
        rappor_put_rows(p, f, shares, &summary);
    }
    shares_rappor_clear(&r);
    free(shares);
    return st;
}
