/* attributes.c - estimates of several attributes, one table for all. */
#include "cli/estimate/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TUPLE_FEW 100 /* below this, intervals are rough at best */

/* One attribute: what it asks, and its points. Owns labels, asked, points. */
struct tuple_part {
    struct cli_cell name;
    struct gather gather; /* info and labels alone */
    struct estimate_asked asked;
    struct estimate_result result; /* of the two, for names of rows */
    hsy_evidence *points;
    size_t npoints, nrows;
    bool shown;
};

struct tuple_row {
    const struct tuple_part *part; /* NULL: all of them together */
    uint32_t place;
    hsy_estimate est;
    int decimals;
};

struct tuple_job {
    const struct gather *g;
    const struct estimate_options *o;
    struct tuple_part parts[HSY_ATTRIBUTES_MAX];
    size_t nparts;
    struct tuple_row *rows;
    size_t nrows;
    bool unanswered; /* something that was asked for has no reports */
    char *names;     /* of attributes, together */
    char *text;      /* of the last combination that was named */
};

/* ---- What is asked ------------------------------------------------------- */

static const char *tuple_refusal(const struct estimate_options *o, bool joint)
{
    if (o->joint && !joint)
        return "--joint needs reports of the mechanism joint: smp asks each "
               "person for one attribute, which tells nothing of combinations";
    if (o->joint && o->attribute != NULL)
        return "--joint is about all attributes: --attribute does not go with "
               "it";
    if (o->against != NULL || o->has_top || o->covariance ||
        o->post != HSY_POST_NONE || o->density != HSY_DENSITY_AUTO ||
        o->lying != 0 || o->plot != NULL)
        return "of several attributes there are estimates with --level, "
               "--interval, --target, --simultaneous, --attribute, --joint and "
               "--candidates only";
    if (o->candidates != NULL && o->attribute == NULL)
        return "--candidates goes with --attribute NAME";
    return NULL;
}

static int tuple_labels(struct tuple_part *p, const hsy_attribute *a,
                        const char *file)
{
    const size_t skip = p->gather.info.labels_at;
    hsy_error err = {0};

    if (a->spec.labels_len <= skip)
        return 0;
    if (labels_take(&p->gather.labels, a->spec.labels + skip,
                    a->spec.labels_len - skip, &err) == HSY_OK)
        return 0;
    return err.status == HSY_E_NOMEM ? cli_fail_nomem()
                                     : cli_fail_error(file, &err);
}

/* The codes of the candidates of a string attribute. */
static int tuple_candidates(struct tuple_part *p, const hsy_scheme *s,
                            const char *path)
{
    struct estimate_asked *asked = &p->asked;
    int failed = cli_labels_read(&asked->candidates, path);

    if (failed)
        return failed;
    asked->count = asked->candidates.d;
    asked->codes = malloc(asked->count * sizeof *asked->codes);
    if (asked->codes == NULL)
        return cli_fail_nomem();
    for (uint32_t i = 0; i < asked->candidates.d; i++) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};

        truth.u.bytes.data =
            labels_at(&asked->candidates, i, &truth.u.bytes.len);
        if (hsy_truth_code(s, &asked->codes[i], &truth, NULL) != HSY_OK)
            return cli_fail("%s: line %" PRIu32 ": longer than 1024 bytes",
                            cli_input_name(path), i + 1);
    }
    return 0;
}

static bool tuple_wanted(const struct tuple_part *p,
                         const struct estimate_options *o)
{
    return o->attribute == NULL ||
           (strlen(o->attribute) == p->name.len &&
            memcmp(o->attribute, p->name.text, p->name.len) == 0);
}

/* How many points and rows an attribute has; a string one needs candidates. */
static int tuple_size(struct tuple_job *j, struct tuple_part *p,
                      const hsy_scheme *s)
{
    const uint32_t kind = p->gather.info.kind;
    int failed = 0;

    if (j->o->candidates != NULL && kind != HSY_KIND_STRINGS)
        return cli_fail("--candidates: %.*s is not of strings",
                        (int)p->name.len, p->name.text);
    if (kind == HSY_KIND_STRINGS && j->o->candidates == NULL) {
        cli_note("note: %.*s is of strings: estimate it with --attribute and "
                 "--candidates FILE",
                 (int)p->name.len, p->name.text);
        p->shown = false;
        return 0;
    }
    if (p->gather.info.iterative)
        return cli_fail("%.*s: its mechanism (%s) is estimated by iteration "
                        "(hsy_density in the library), not here",
                        (int)p->name.len, p->name.text,
                        p->gather.info.mechanism);
    if (kind == HSY_KIND_STRINGS)
        failed = tuple_candidates(p, s, j->o->candidates);
    p->npoints = kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS
                     ? p->gather.info.d
                 : kind == HSY_KIND_STRINGS ? p->asked.count
                                            : 1;
    p->nrows = kind == HSY_KIND_YES_NO ? 2 : p->npoints;
    return failed;
}

static int tuple_open(struct tuple_job *j)
{
    size_t at = 0, seen = 0;
    hsy_attribute a;
    int failed = 0;

    while (!failed &&
           hsy_attribute_next(&a, &at, j->g->block, j->g->info.labels_len,
                              NULL) == HSY_OK) {
        const hsy_scheme *s = hsy_scheme_attribute(j->g->scheme, j->nparts);
        struct tuple_part *p = &j->parts[j->nparts++];

        p->name = (struct cli_cell){
            .type = CLI_TEXT, .text = a.name, .len = a.name_len};
        hsy_scheme_describe(s, &p->gather.info);
        p->result = (struct estimate_result){
            .gather = &p->gather, .asked = &p->asked, .options = j->o};
        p->shown = tuple_wanted(p, j->o) && !j->o->joint;
        seen += p->shown;
        failed = tuple_labels(p, &a, j->g->first);
        if (!failed && p->shown)
            failed = tuple_size(j, p, s);
    }
    if (!failed && seen == 0 && !j->o->joint)
        return cli_fail("%s: it has no attribute %s", j->g->first,
                        j->o->attribute);
    return failed;
}

/* ---- Evidence ------------------------------------------------------------ */

/* Say what is odd about reports of a scheme, of which there are points. */
static void tuple_odd(const struct tuple_job *j, const hsy_scheme *s,
                      const hsy_tally *t, const hsy_evidence *points,
                      size_t count, const struct cli_cell *name, bool complete)
{
    const uint64_t reports = hsy_tally_reports(t);
    hsy_plausibility odd;

    hsy_plausible(&odd, s, t, points, count, complete);
    if (odd.implausible)
        cli_note("warning: %s, %.*s: honest reports of this scheme hardly ever "
                 "look like this; some were made up, or made with other "
                 "parameters",
                 j->g->first, (int)name->len, name->text);
    if (reports < TUPLE_FEW)
        cli_note("warning: %s, %.*s: only %" PRIu64 " report%s: intervals are "
                 "rough",
                 j->g->first, (int)name->len, name->text, reports,
                 reports == 1 ? "" : "s");
}

static void tuple_doubt(const struct tuple_job *j, size_t i)
{
    const struct tuple_part *p = &j->parts[i];
    const hsy_scheme *s = j->g->scheme;
    hsy_tally own;

    if (hsy_scheme_parts(s) != j->nparts) /* joint: the cells are looked at */
        return;
    hsy_tally_part(&own, &j->g->tally, s, i);
    tuple_odd(j, hsy_scheme_part(s, i), &own, p->points, p->npoints, &p->name,
              p->asked.codes == NULL);
}

static int tuple_points(struct tuple_job *j, size_t i)
{
    struct tuple_part *p = &j->parts[i];
    const hsy_scheme *s = j->g->scheme;
    void *scratch =
        malloc(hsy_attribute_evidence_scratch(s, i, p->npoints) + 1);
    hsy_error err = {0};
    hsy_status st = HSY_E_NOMEM;

    p->points = malloc(p->npoints * sizeof *p->points);
    if (scratch != NULL && p->points != NULL)
        st = hsy_attribute_evidence(s, p->points, &j->g->tally, i,
                                    p->asked.codes, p->npoints, scratch, &err);
    free(scratch);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    if (st != HSY_OK)
        return cli_fail("%s, %.*s: %s", j->g->first, (int)p->name.len,
                        p->name.text, err.msg);
    tuple_doubt(j, i);
    return 0;
}

/* As many decimals as give the smallest standard error two digits. */
static void tuple_decimals(struct tuple_row *rows, size_t n, double scale)
{
    double least = INFINITY;
    int decimals;

    for (size_t i = 0; i < n; i++)
        if (rows[i].est.sd > 0)
            least = fmin(least, rows[i].est.sd);
    decimals = isfinite(least) ? 1 - (int)floor(log10(scale * least)) : 4;
    for (size_t i = 0; i < n; i++)
        rows[i].decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

/* The rows of an attribute from its points. Of a yes/no question one point is
 * both. */
static int tuple_rows(struct tuple_job *j, const struct tuple_part *p,
                      const hsy_confidence *how)
{
    const hsy_scheme_info *info = &p->gather.info;
    const bool mean = info->kind == HSY_KIND_NUMBER;
    struct tuple_row *rows = j->rows + j->nrows;

    for (size_t k = 0; k < p->nrows; k++) {
        struct tuple_row *row = &rows[k];
        const bool no = info->kind == HSY_KIND_YES_NO && k == 1;
        hsy_error err = {0};
        hsy_estimate est;

        if (hsy_estimate_point(&est, &p->points[no ? 0 : k], how, &err) !=
            HSY_OK)
            return estimate_refused(how, &err);
        if (no)
            est = (hsy_estimate){1 - est.value, est.sd, 1 - est.high,
                                 1 - est.low};
        if (mean)
            shares_rescale(info, &est, false);
        *row = (struct tuple_row){p, (uint32_t)k, est, 0};
    }
    tuple_decimals(rows, p->nrows, mean ? 1 : 100);
    j->nrows += p->nrows;
    return 0;
}

/* Each report is of one attribute, so that of few reports none may be of some:
 * those are not shown. How many rows are left. */
static size_t tuple_answered(struct tuple_job *j)
{
    const hsy_scheme *s = j->g->scheme;
    const bool joint = hsy_scheme_parts(s) != j->nparts;
    size_t rows = 0;

    for (size_t i = 0; i < j->nparts; i++) {
        struct tuple_part *p = &j->parts[i];
        hsy_tally own;

        if (!p->shown)
            continue;
        if (!joint)
            hsy_tally_part(&own, &j->g->tally, s, i);
        if (!joint && hsy_tally_reports(&own) == 0) {
            cli_note("note: %s, %.*s: no data: no report is of it", j->g->first,
                     (int)p->name.len, p->name.text);
            p->shown = false;
            j->unanswered = true;
            continue;
        }
        rows += p->nrows;
    }
    return rows;
}

static int tuple_each(struct tuple_job *j)
{
    hsy_confidence how = j->o->how;
    const size_t total = tuple_answered(j);
    int failed = 0;

    if (total == 0 && j->unanswered)
        return cli_fail("%s: no data: it holds no reports of what is asked",
                        j->g->first);
    how.comparisons = j->o->simultaneous && total > 0 ? total : 1;
    j->rows = calloc(total + 1, sizeof *j->rows);
    if (j->rows == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < j->nparts && !failed; i++) {
        if (!j->parts[i].shown)
            continue;
        failed = tuple_points(j, i);
        if (!failed)
            failed = tuple_rows(j, &j->parts[i], &how);
    }
    return failed;
}

/* The points of all combinations, the values of the one part that a joint
 * scheme has; NULL after a message. The caller frees them. */
static hsy_evidence *tuple_cells(const struct tuple_job *j, size_t *count)
{
    const hsy_scheme *cells = hsy_scheme_part(j->g->scheme, 0);
    const struct cli_cell name = cli_text("all attributes");
    hsy_evidence *points;
    hsy_error err = {0};
    hsy_scheme_info info;

    hsy_scheme_describe(cells, &info);
    *count = info.d;
    points = malloc(info.d * sizeof *points);
    if (points == NULL) {
        cli_fail_nomem();
    } else if (hsy_evidence_of(cells, points, &j->g->tally, NULL, info.d, NULL,
                               &err) != HSY_OK) {
        cli_fail_error(j->g->first, &err);
        free(points);
        points = NULL;
    } else {
        tuple_odd(j, cells, &j->g->tally, points, info.d, &name, true);
    }
    return points;
}

/* A row for each combination. */
static int tuple_combinations(struct tuple_job *j, const hsy_evidence *points,
                              size_t count)
{
    hsy_confidence how = j->o->how;

    how.comparisons = j->o->simultaneous ? count : 1;
    j->rows = calloc(count, sizeof *j->rows);
    if (j->rows == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < count; i++) {
        struct tuple_row *row = &j->rows[j->nrows++];
        hsy_error err = {0};

        row->place = (uint32_t)i;
        if (hsy_estimate_point(&row->est, &points[i], &how, &err) != HSY_OK)
            return estimate_refused(&how, &err);
    }
    tuple_decimals(j->rows, j->nrows, 100);
    return 0;
}

/* All combinations, or each attribute by itself; whatever is shown, counts of
 * cells that nobody honest can have sent are remarked on. */
static int tuple_estimate(struct tuple_job *j)
{
    const bool joint = hsy_scheme_parts(j->g->scheme) != j->nparts;
    size_t count = 0;
    hsy_evidence *points = joint ? tuple_cells(j, &count) : NULL;
    int failed;

    if (joint && points == NULL)
        return CLI_FAILED;
    failed = j->o->joint ? tuple_combinations(j, points, count) : tuple_each(j);
    free(points);
    return failed;
}

/* ---- Printing ------------------------------------------------------------ */

static size_t tuple_put(char *out, size_t at, const struct cli_cell *cell,
                        bool first)
{
    if (!first) {
        memcpy(out + at, " | ", 3);
        at += 3;
    }
    memcpy(out + at, cell->text, cell->len);
    return at + cell->len;
}

/* The value of each attribute in combination `place`, the last fastest. */
static void tuple_combination(const struct tuple_job *j, uint32_t place,
                              struct cli_cell *out)
{
    uint32_t digit[HSY_ATTRIBUTES_MAX];
    size_t at = 0;

    for (size_t i = j->nparts; i-- > 0;) {
        digit[i] = place % j->parts[i].gather.info.d;
        place /= j->parts[i].gather.info.d;
    }
    for (size_t i = 0; i < j->nparts; i++) {
        const struct tuple_part *p = &j->parts[i];
        const bool yes_no = p->gather.info.kind == HSY_KIND_YES_NO;
        struct cli_cell cell = {0};

        /* Names of rows have yes first; codes have no first. */
        estimate_name(p->result.gather, p->result.asked,
                      yes_no ? 1 - digit[i] : digit[i], &cell);
        at = tuple_put(j->text, at, &cell, i == 0);
    }
    out->type = CLI_TEXT;
    out->text = j->text;
    out->len = at;
}

static void tuple_cell(const void *ctx, size_t at, size_t column,
                       struct cli_cell *out)
{
    const struct tuple_job *j = ctx;
    const struct tuple_row *row = &j->rows[at];
    const bool mean =
        row->part != NULL && row->part->gather.info.kind == HSY_KIND_NUMBER;
    const double numbers[] = {row->est.value, row->est.sd, row->est.low,
                              row->est.high};

    if (column == 0) {
        *out = row->part != NULL ? row->part->name : cli_text(j->names);
    } else if (column == 1 && row->part != NULL) {
        estimate_name(row->part->result.gather, row->part->result.asked,
                      row->place, out);
    } else if (column == 1) {
        tuple_combination(j, row->place, out);
    } else {
        *out = cli_number(numbers[column - 2]);
        snprintf(out->shown, sizeof out->shown, "%.*f%s", row->decimals,
                 (mean ? 1 : 100) * out->number, mean ? "" : " %");
    }
}

/* Room for the names of a combination: HSY_LABEL_MAX and a separator each. */
static int tuple_names(struct tuple_job *j)
{
    const size_t room = j->nparts * (HSY_LABEL_MAX + 3) + 1;
    size_t at = 0;

    j->names = calloc(1, room);
    j->text = calloc(1, room);
    if (j->names == NULL || j->text == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < j->nparts; i++)
        at = tuple_put(j->names, at, &j->parts[i].name, i == 0);
    return 0;
}

static void tuple_show(const struct tuple_job *j)
{
    static const struct cli_column columns[] = {
        {"attribute", NULL},      {"value", NULL}, {"estimate", NULL},
        {"stderr", "std. error"}, {"low", "from"}, {"high", "to"}};
    const struct estimate_options *o = j->o;
    const hsy_scheme_info *info = &j->g->info;
    const uint64_t reports = hsy_tally_reports(&j->g->tally);
    const struct cli_table table = {columns, 6, j->nrows, tuple_cell, j};
    const struct estimate_notes notes = estimate_notes(j->g);
    const struct cli_field fields[] = {
        {"mechanism", cli_text(info->mechanism)},
        {"epsilon", cli_number(info->epsilon)},
        {"epsilon_exact", cli_number(info->epsilon_exact)},
        {"reports", cli_count(reports)},
        {"level", cli_number(o->how.level)},
        {"interval", cli_text(estimate_interval_names[o->how.interval])},
        {"simultaneous", cli_bool(o->simultaneous)},
        {"target", cli_text(estimate_target_names[o->how.target])},
        {"kind", cli_text(hsy_kind_name(info->kind))},
        {"rounds", estimate_rounds(j->g)},
        {"devices", estimate_devices(j->g)},
        {"notes", cli_list(notes.text, notes.n)},
    };

    if (o->format == CLI_TABLE) {
        printf("%s, epsilon %.9g (exactly %.16g), %" PRIu64 " report%s\n"
               "%s; %.14g %% intervals (%s)%s\n",
               info->mechanism, info->epsilon, info->epsilon_exact, reports,
               reports == 1 ? "" : "s", estimate_among(o), 100 * o->how.level,
               estimate_interval_names[o->how.interval],
               o->simultaneous ? ", all at once" : "");
        estimate_attendance_say(j->g);
        putchar('\n');
    }
    cli_print_said(o->format, &table, fields, sizeof fields / sizeof fields[0],
                   "estimates", estimate_said);
}

static void tuple_clear(struct tuple_job *j)
{
    for (size_t i = 0; i < j->nparts; i++) {
        labels_clear(&j->parts[i].gather.labels);
        estimate_asked_clear(&j->parts[i].asked);
        free(j->parts[i].points);
    }
    free(j->rows);
    free(j->names);
    free(j->text);
    free(j);
}

int estimate_tuple(const struct gather *g, const struct estimate_options *o)
{
    struct tuple_job *j = calloc(1, sizeof *j);
    const char *refusal =
        tuple_refusal(o, strcmp(g->info.mechanism, "joint") == 0);
    int failed;

    if (j == NULL)
        return cli_fail_nomem();
    j->g = g;
    j->o = o;
    if (refusal != NULL)
        failed = cli_fail("%s", refusal);
    else if (hsy_tally_reports(&g->tally) == 0)
        failed = cli_fail("%s: no data: it holds no reports", g->first);
    else if (g->attends && g->attended.came > 0 &&
             o->how.target == HSY_POPULATION)
        failed = cli_fail("%s: no interval: several attributes of people who "
                          "answered in more than one round have errors for "
                          "--target people only",
                          g->first);
    else
        failed = tuple_open(j);
    if (!failed)
        failed = tuple_names(j);
    if (!failed)
        failed = tuple_estimate(j);
    if (!failed) {
        tuple_show(j);
        failed = cli_finish();
    }
    tuple_clear(j);
    return failed;
}

#undef TUPLE_FEW
