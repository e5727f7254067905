/* tuple.c - several attributes: each by itself, or all combinations. */
#include "host/analysis/internal.h"

#include <stdlib.h>
#include <string.h>

/* One attribute: what it asks, and its points. Owns asked and points. */
struct tuple_part {
    hsy_analysis_text name;
    hsy_scheme_info info;
    hsy_analysis_tally view; /* scheme, info and labels alone */
    struct analysis_asked asked;
    hsy_evidence *points;
    size_t npoints;
    bool shown;
};

struct tuple_job {
    struct analysis_job *j;
    struct tuple_part parts[HSY_ATTRIBUTES_MAX];
    size_t nparts;
    bool joint;      /* reports are of combinations */
    bool unanswered; /* something that was asked for has no reports */
};

static hsy_status tuple_wrong(hsy_error *err, hsy_status st, size_t part,
                              const char *msg)
{
    return host_fail_at(err, st, HSY_FIELD_ATTRIBUTE, msg, HSY_UNIT_LINE,
                        part + 1);
}

static hsy_status tuple_note(const struct tuple_job *t, hsy_analysis_code code,
                             size_t part, uint64_t count, hsy_error *err)
{
    static const char all[] = "all attributes";
    const hsy_analysis_note note = {
        .code = code,
        .attribute = part < t->nparts
                         ? t->parts[part].name
                         : (hsy_analysis_text){all, sizeof all - 1},
        .count = count};

    return analysis_note(t->j->out, &note, err);
}

/* ---- What is asked ------------------------------------------------------- */

static bool tuple_wanted(const hsy_analysis_text *name,
                         const hsy_analysis_text *wanted)
{
    return wanted->text == NULL ||
           (wanted->len == name->len &&
            memcmp(wanted->text, name->text, name->len) == 0);
}

/* Values of an attribute that is shown; a string one needs candidates. */
static hsy_status tuple_ask(struct tuple_job *t, size_t i, hsy_error *err)
{
    struct tuple_part *p = &t->parts[i];
    hsy_status st;

    if (p->info.kind == HSY_KIND_STRINGS && t->j->request->candidates == NULL) {
        p->shown = false;
        return tuple_note(t, HSY_DOUBT_STRINGS, i, 0, err);
    }
    if (p->info.iterative)
        return tuple_wrong(err, HSY_E_REFUSED, i,
                           "its mechanism is estimated by iteration "
                           "(hsy_density in the library), not here");
    st = analysis_ask(&p->asked, &p->view, t->j->request, err);
    p->npoints = p->info.kind == HSY_KIND_YES_NO ? 1 : p->asked.count;
    return st;
}

static hsy_status tuple_open(struct tuple_job *t, bool cells, hsy_error *err)
{
    const hsy_analysis_tally *of = &t->j->t;
    size_t at = 0, seen = 0;
    hsy_attribute a;
    hsy_status st = HSY_OK;

    while (st == HSY_OK &&
           hsy_attribute_next(&a, &at, of->labels, of->info->labels_len,
                              NULL) == HSY_OK) {
        struct tuple_part *p = &t->parts[t->nparts];

        p->name = (hsy_analysis_text){a.name, a.name_len};
        p->view = (hsy_analysis_tally){
            .scheme = hsy_scheme_attribute(of->scheme, t->nparts),
            .info = &p->info,
            .labels = a.spec.labels};
        hsy_scheme_describe(p->view.scheme, &p->info);
        p->shown = !cells && tuple_wanted(&p->name, &t->j->request->attribute);
        seen += p->shown;
        t->nparts++;
        if (cells)
            st = analysis_ask(&p->asked, &p->view, t->j->request, err);
        else if (p->shown)
            st = tuple_ask(t, t->nparts - 1, err);
    }
    t->joint = hsy_scheme_parts(of->scheme) != t->nparts;
    if (st == HSY_OK && seen == 0 && !cells)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_ATTRIBUTE,
                         "there is no such attribute");
    return st;
}

/* ---- Doubts -------------------------------------------------------------- */

static hsy_status tuple_odd(const struct tuple_job *t, const hsy_scheme *s,
                            const hsy_tally *of, const hsy_evidence *points,
                            size_t count, size_t part, hsy_error *err)
{
    const uint64_t reports = hsy_tally_reports(of);
    const bool complete =
        part == t->nparts || t->parts[part].asked.codes == NULL;
    hsy_plausibility odd;
    hsy_status st = HSY_OK;

    hsy_plausible(s, &odd, of, points, count, complete);
    if (odd.implausible)
        st = tuple_note(t, HSY_DOUBT_SUPPORT, part, 0, err);
    if (st == HSY_OK && reports < ANALYSIS_FEW)
        st = tuple_note(t, HSY_DOUBT_FEW, part, reports, err);
    return st;
}

/* The points of all combinations, the values of the one part that a joint
 * scheme has; counts that nobody honest can have sent are remarked on. */
static hsy_status tuple_cells(hsy_evidence **points, size_t *count,
                              const struct tuple_job *t, hsy_error *err)
{
    const hsy_analysis_tally *of = &t->j->t;
    const hsy_scheme *cells = hsy_scheme_part(of->scheme, 0);
    hsy_scheme_info info;
    hsy_status st;

    hsy_scheme_describe(cells, &info);
    *count = info.d;
    *points = malloc(info.d * sizeof **points);
    if (*points == NULL)
        return host_nomem(err);
    st = hsy_evidence_of(cells, *points, of->tally, NULL, info.d, NULL, err);
    return st == HSY_OK
               ? tuple_odd(t, cells, of->tally, *points, info.d, t->nparts, err)
               : st;
}

/* ---- Each attribute ------------------------------------------------------ */

static hsy_status tuple_points(struct tuple_job *t, size_t i, hsy_error *err)
{
    struct tuple_part *p = &t->parts[i];
    const hsy_analysis_tally *of = &t->j->t;
    void *scratch =
        malloc(hsy_attribute_evidence_scratch(of->scheme, i, p->npoints) + 1);
    hsy_error why = {0};
    hsy_tally own;
    hsy_status st = HSY_E_NOMEM;

    p->points = malloc((p->npoints + 1) * sizeof *p->points);
    if (scratch != NULL && p->points != NULL)
        st = hsy_attribute_evidence(of->scheme, p->points, of->tally, i,
                                    p->asked.codes, p->npoints, scratch, &why);
    free(scratch);
    if (st == HSY_E_NOMEM)
        return host_nomem(err);
    if (st != HSY_OK)
        return tuple_wrong(err, st, i, why.msg);
    if (t->joint) /* the cells are looked at */
        return HSY_OK;
    hsy_tally_part(&own, of->tally, of->scheme, i);
    return tuple_odd(t, hsy_scheme_part(of->scheme, i), &own, p->points,
                     p->npoints, i, err);
}

/* Of a yes/no question one point is both. */
static hsy_status tuple_rows(struct tuple_job *t, size_t i,
                             const hsy_confidence *how, hsy_error *err)
{
    const struct tuple_part *p = &t->parts[i];
    hsy_analysis_result *out = t->j->out;

    for (size_t k = 0; k < p->asked.count; k++) {
        hsy_analysis_row *row = &out->rows[out->count++];
        const bool no = p->info.kind == HSY_KIND_YES_NO && k == 1;
        hsy_estimate *est = &row->est;
        hsy_status st =
            hsy_estimate_point(est, &p->points[no ? 0 : k], how, err);

        if (st != HSY_OK)
            return st;
        if (no)
            *est = (hsy_estimate){1 - est->value, est->sd, 1 - est->high,
                                  1 - est->low};
        if (p->info.kind == HSY_KIND_NUMBER)
            analysis_rescale(&p->info, est, false);
        row->place = (uint32_t)k;
        row->part = (uint32_t)i;
        row->mean = p->info.kind == HSY_KIND_NUMBER;
    }
    return HSY_OK;
}

/* Each report is of one attribute, so that of few reports none may be of some:
 * those are not shown. *rows: how many are left. */
static hsy_status tuple_answered(struct tuple_job *t, size_t *rows,
                                 hsy_error *err)
{
    const hsy_analysis_tally *of = &t->j->t;
    hsy_status st = HSY_OK;

    *rows = 0;
    for (size_t i = 0; st == HSY_OK && i < t->nparts; i++) {
        struct tuple_part *p = &t->parts[i];
        hsy_tally own;

        if (!p->shown)
            continue;
        if (!t->joint)
            hsy_tally_part(&own, of->tally, of->scheme, i);
        if (!t->joint && hsy_tally_reports(&own) == 0) {
            st = tuple_note(t, HSY_DOUBT_UNANSWERED, i, 0, err);
            p->shown = false;
            t->unanswered = true;
            continue;
        }
        *rows += p->asked.count;
    }
    if (st == HSY_OK && *rows == 0 && t->unanswered)
        st = host_fail(err, HSY_E_EMPTY, HSY_FIELD_ATTRIBUTE,
                       "no data: it holds no reports of what is asked");
    return st;
}

static hsy_status tuple_each(struct tuple_job *t, hsy_error *err)
{
    hsy_analysis_result *out = t->j->out;
    hsy_confidence how = out->how;
    size_t total;
    hsy_status st = tuple_answered(t, &total, err);

    if (st != HSY_OK)
        return st;
    how.comparisons = out->simultaneous && total > 0 ? total : 1;
    out->rows = calloc(total + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < t->nparts && st == HSY_OK; i++) {
        if (!t->parts[i].shown)
            continue;
        st = tuple_points(t, i, err);
        if (st == HSY_OK)
            st = tuple_rows(t, i, &how, err);
    }
    return st;
}

/* A row for each combination. */
static hsy_status tuple_combinations(struct tuple_job *t,
                                     const hsy_evidence *points, size_t count,
                                     hsy_error *err)
{
    hsy_analysis_result *out = t->j->out;
    hsy_confidence how = out->how;
    hsy_status st = HSY_OK;

    how.comparisons = out->simultaneous ? count : 1;
    out->rows = calloc(count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return host_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < count; i++) {
        out->rows[i].place = (uint32_t)i;
        out->rows[i].part = (uint32_t)t->nparts;
        st = hsy_estimate_point(&out->rows[i].est, &points[i], &how, err);
        out->count = i + 1;
    }
    return st;
}

/* ---- Names --------------------------------------------------------------- */

/* Append a name; to NULL only its length counts. */
static size_t tuple_put(char *to, size_t at, hsy_analysis_text name, bool first)
{
    const size_t gap = first ? 0 : 3;

    if (to != NULL) {
        memcpy(to + at, " | ", gap);
        memcpy(to + at + gap, name.text, name.len);
    }
    return at + gap + name.len;
}

/* The value of each attribute in combination `place`, the last fastest. */
static size_t tuple_combination(char *to, size_t at, const struct tuple_job *t,
                                uint32_t place)
{
    uint32_t digit[HSY_ATTRIBUTES_MAX];
    char room[ANALYSIS_NAME];

    for (size_t i = t->nparts; i-- > 0;) {
        digit[i] = place % t->parts[i].info.d;
        place /= t->parts[i].info.d;
    }
    for (size_t i = 0; i < t->nparts; i++) {
        const struct tuple_part *p = &t->parts[i];
        const bool yes_no = p->info.kind == HSY_KIND_YES_NO;

        /* Names of rows have yes first; codes have no first. */
        at = tuple_put(to, at,
                       analysis_name(room, &p->asked, &p->info,
                                     yes_no ? 1 - digit[i] : digit[i]),
                       i == 0);
    }
    return at;
}

static size_t tuple_value(char *to, size_t at, const struct tuple_job *t,
                          const hsy_analysis_row *row)
{
    char room[ANALYSIS_NAME];
    const struct tuple_part *p = &t->parts[row->part];

    if (row->part == t->nparts)
        return tuple_combination(to, at, t, row->place);
    return tuple_put(
        to, at, analysis_name(room, &p->asked, &p->info, row->place), true);
}

/* Nothing is there yet while the room is measured. */
static hsy_analysis_text tuple_text(const char *to, size_t from, size_t at)
{
    return (hsy_analysis_text){to == NULL ? NULL : to + from, at - from};
}

/* All names one after another: of each attribute, of all together, of rows. */
static size_t tuple_names(char *to, const struct tuple_job *t)
{
    hsy_analysis_result *out = t->j->out;
    hsy_analysis_text attributes[HSY_ATTRIBUTES_MAX + 1];
    size_t at = 0, from;

    for (size_t i = 0; i <= t->nparts; i++) {
        from = at;
        if (i < t->nparts)
            at = tuple_put(to, at, t->parts[i].name, true);
        for (size_t k = 0; i == t->nparts && k < t->nparts; k++)
            at = tuple_put(to, at, t->parts[k].name, k == 0);
        attributes[i] = tuple_text(to, from, at);
    }
    for (size_t i = 0; i < out->count; i++) {
        hsy_analysis_row *row = &out->rows[i];

        from = at;
        at = tuple_value(to, at, t, row);
        row->attribute = attributes[row->part];
        row->value = tuple_text(to, from, at);
    }
    for (size_t i = 0; to != NULL && i < out->nnotes; i++)
        for (size_t k = 0; k < t->nparts; k++)
            if (out->notes[i].attribute.text == t->parts[k].name.text)
                out->notes[i].attribute = attributes[k];
    return at;
}

static hsy_status tuple_name(const struct tuple_job *t, hsy_error *err)
{
    hsy_analysis_result *out = t->j->out;

    out->memory = malloc(tuple_names(NULL, t) + 1);
    if (out->memory == NULL)
        return host_nomem(err);
    tuple_names(out->memory, t);
    out->of = out->selected = out->count;
    out->level_selected = out->how.level;
    out->columns |= 1u << HSY_COLUMN_ATTRIBUTE;
    return HSY_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static hsy_status tuple_estimate(struct tuple_job *t, bool cells,
                                 hsy_error *err)
{
    hsy_evidence *points = NULL;
    size_t count = 0;
    hsy_status st = HSY_OK;

    if (t->joint)
        st = tuple_cells(&points, &count, t, err);
    if (st == HSY_OK)
        st = cells ? tuple_combinations(t, points, count, err)
                   : tuple_each(t, err);
    free(points);
    return st == HSY_OK ? tuple_name(t, err) : st;
}

hsy_status analysis_by_tuple(struct analysis_job *j, hsy_error *err)
{
    const bool cells = j->request->question == HSY_ASK_JOINT;
    struct tuple_job *t = calloc(1, sizeof *t);
    hsy_status st = analysis_no_difference(j, err);

    if (t == NULL)
        return host_nomem(err);
    t->j = j;
    if (st == HSY_OK && cells && j->out->info.analysis != HSY_ANALYSIS_JOINT)
        st = host_fail(err, HSY_E_REFUSED, HSY_FIELD_JOINT,
                       "each person is asked for one attribute, which tells "
                       "nothing of combinations");
    if (st == HSY_OK)
        st = tuple_open(t, cells, err);
    if (st == HSY_OK)
        st = tuple_estimate(t, cells, err);
    for (size_t i = 0; i < t->nparts; i++) {
        analysis_asked_clear(&t->parts[i].asked);
        free(t->parts[i].points);
    }
    free(t);
    return st;
}
