/*
 * task_scheme.c - what a task asks and how: its kind, its epsilons, its
 * mechanism, resolved to the integers that devices get.
 *
 * epsilon is what one report may tell. With `permanent` there are two schemes:
 * that of a report, and that of the permanent answer, which differ in epsilon
 * alone. Parameters are chosen for the report and then given to both.
 */
#include "host/tasks/internal.h"

#include "host/base/ratio.h"
#include "host/format/spec_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME_RANGE 64u /* bytes of two numbers */

/* The two specs of a task while they are put together. */
struct scheme_ask {
    hsy_tasks *tasks;
    size_t i;
    const struct tasks_raw *raw;
    hsy_spec spec;           /* of a report */
    uint64_t nano_permanent; /* 0: no permanent answer, or RAPPOR's */
    const char *kind;        /* the key that says what is asked */
    uint32_t given;          /* parameters, a bit each */
    bool sound;
};

static struct yaml_place scheme_at(const struct scheme_ask *a, const char *key,
                                   const char *sub)
{
    return (struct yaml_place){a->i, key, sub, YAML_NONE};
}

__attribute__((format(printf, 4, 5))) static void
scheme_wrong(struct scheme_ask *a, const char *key, const char *sub,
             const char *format, ...)
{
    char text[sizeof(((hsy_problem *)0)->text)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    yaml_wrong(&a->tasks->notes, scheme_at(a, key, sub), "%s", text);
    a->sound = false;
}

static void scheme_missing(struct scheme_ask *a, const char *key,
                           const char *sub, const char *what)
{
    yaml_missing(&a->tasks->notes, scheme_at(a, key, sub), "%s", what);
    a->sound = false;
}

/* ---- What is asked ------------------------------------------------------- */

static void scheme_range(struct scheme_ask *a)
{
    char *const *ends = a->raw->range;
    char text[SCHEME_RANGE];
    hsy_error err = {0};

    if (yaml_items(ends) != 2)
        scheme_wrong(a, "range", NULL, "must have two ends, e.g. [0, 100]");
    else if ((size_t)snprintf(text, sizeof text, "%s:%s", ends[0], ends[1]) >=
             sizeof text)
        scheme_wrong(a, "range", NULL, "these are too long for numbers");
    else if (spec_text_range(&a->spec, text, &err) != HSY_OK)
        scheme_wrong(a, "range", NULL, "%s", err.msg);
    a->spec.kind = HSY_KIND_NUMBER;
}

static void scheme_bins(struct scheme_ask *a)
{
    uint64_t d;

    a->spec.kind = HSY_KIND_BINS;
    if (!yaml_count(&d, a->raw->bins) || d < 2 || d > HSY_VALUES_MAX)
        scheme_wrong(a, "bins", NULL, "must be from 2 to 4194304");
    else
        a->spec.d = (uint32_t)d;
}

static void scheme_flag(struct scheme_ask *a, const char *text, uint32_t kind)
{
    if (strcmp(text, "true") != 0)
        scheme_wrong(a, a->kind, NULL, "write '%s: true', or leave it out",
                     a->kind);
    a->spec.kind = kind;
}

static void scheme_kind(struct scheme_ask *a)
{
    static const char *const kinds[] = {"yes-no", "values", "values-file",
                                        "range", "strings"};
    const struct tasks_raw *raw = a->raw;
    const void *const given[] = {raw->yes_no, raw->values, raw->values_file,
                                 raw->range, raw->strings};

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (given[k] == NULL)
            continue;
        if (a->kind != NULL)
            scheme_wrong(a, kinds[k], NULL,
                         "the task already has '%s': keep it or '%s'", a->kind,
                         kinds[k]);
        a->kind = a->kind != NULL ? a->kind : kinds[k];
    }
    if (a->kind == NULL)
        scheme_missing(
            a, NULL, NULL,
            "the question is missing: add yes-no, values, values-file, range "
            "or strings");
    if (raw->bins != NULL && raw->range == NULL)
        scheme_wrong(a, "bins", NULL, "needs range");
    if (!a->sound)
        return;
    if (raw->yes_no != NULL)
        scheme_flag(a, raw->yes_no, HSY_KIND_YES_NO);
    else if (raw->strings != NULL)
        scheme_flag(a, raw->strings, HSY_KIND_STRINGS);
    else if (strcmp(a->kind, "range") == 0)
        scheme_range(a);
    else
        tasks_values(a->tasks, a->i, &a->spec);
    if (a->sound && raw->bins != NULL)
        scheme_bins(a);
    a->sound &= a->spec.kind != 0; /* tasks_values complained */
}

/* ---- How it is asked ----------------------------------------------------- */

/* What is said under a key, or for a name of the builder in another place. */
static void scheme_take(struct scheme_ask *a, const char *key, const char *sub,
                        const char *name, const char *text, size_t at)
{
    const struct spec_said said = {name, strlen(name), text, at};
    hsy_error err = {0};

    if (text != NULL &&
        spec_text_take(&a->spec, &a->given, &said, &err) != HSY_OK)
        scheme_wrong(a, key, sub, "%s", err.msg);
}

static void scheme_rappor(struct scheme_ask *a)
{
    const struct tasks_set *set = a->raw->set;
    const char *const texts[3] = {set->f, set->p, set->param[HSY_PARAM_Q]};
    static const char *const keys[3] = {"f", "p", "q"};

    for (size_t k = 0; k < 3; k++)
        if (texts[k] == NULL)
            scheme_wrong(a, "set", NULL,
                         "RAPPOR takes f, p and q; '%s' is "
                         "missing",
                         keys[k]);
        else
            scheme_take(a, "set", keys[k], "rappor", texts[k], k);
}

static void scheme_set(struct scheme_ask *a)
{
    const struct tasks_set *set = a->raw->set;
    const bool rappor = set != NULL && (set->f != NULL || set->p != NULL);

    if (set == NULL)
        return;
    for (size_t k = 0; k < HSY_PARAMS; k++)
        if (set->param[k] != NULL && !(rappor && k == HSY_PARAM_Q))
            scheme_take(a, "set", hsy_param_name(k), hsy_param_name(k),
                        set->param[k], SPEC_TEXT_WHOLE);
    if (rappor)
        scheme_rappor(a);
    scheme_take(a, "set", "spinner", "spinner", set->spinner, SPEC_TEXT_WHOLE);
    scheme_take(a, "set", "coins", "coins", set->coins, SPEC_TEXT_WHOLE);
    scheme_take(a, "set", "channel", "channel", set->channel, SPEC_TEXT_WHOLE);
}

/* ---- Epsilons ------------------------------------------------------------ */

/* One that is no report's. */
static void scheme_epsilon(struct scheme_ask *a, uint64_t *nano,
                           const char *text, const char *key, const char *sub)
{
    const uint64_t report = a->spec.nano_epsilon;

    scheme_take(a, key, sub, "epsilon", text, SPEC_TEXT_WHOLE);
    *nano = a->spec.nano_epsilon;
    a->spec.nano_epsilon = report;
}

/* gamma is the other way to say how much noise a report adds. */
static void scheme_gamma(struct scheme_ask *a, const char *text)
{
    hsy_ratio gamma;

    if (a->raw->epsilon != NULL)
        scheme_wrong(a, "permanent", "gamma",
                     "gamma sets the epsilon of a report: leave out the task's "
                     "epsilon");
    else if (a->spec.kind != HSY_KIND_YES_NO && a->spec.kind != HSY_KIND_NUMBER)
        scheme_wrong(a, "permanent", "gamma",
                     "gamma needs answers of one bit: yes-no, or a range "
                     "without bins");
    else if (!ratio_parse(&gamma, text, strlen(text)) ||
             hsy_permanent_gamma(&a->spec.nano_epsilon, a->nano_permanent,
                                 gamma) != HSY_OK)
        scheme_wrong(a, "permanent", "gamma",
                     "must be a probability from 0 to below 1/2: that a report "
                     "is flipped");
}

static void scheme_permanent(struct scheme_ask *a)
{
    const struct tasks_permanent *p = a->raw->permanent;
    const bool rappor =
        a->spec.design == HSY_DESIGN_RAPPOR ||
        tasks_analysis(a->raw->mechanism) == HSY_ANALYSIS_RAPPOR;

    if (rappor && (p->epsilon != NULL || p->gamma != NULL))
        scheme_wrong(a, "permanent", p->epsilon != NULL ? "epsilon" : "gamma",
                     "RAPPOR has its permanent step in f: leave it out");
    if (rappor)
        return;
    if (p->epsilon == NULL)
        scheme_missing(a, "permanent", "epsilon",
                       "is missing: the epsilon of all reports of a slot");
    else
        scheme_epsilon(a, &a->nano_permanent, p->epsilon, "permanent",
                       "epsilon");
    if (a->sound && p->gamma != NULL)
        scheme_gamma(a, p->gamma);
    else if (a->sound && a->nano_permanent < a->spec.nano_epsilon)
        scheme_wrong(a, "permanent", "epsilon",
                     "must be at least the task's epsilon: all reports reveal "
                     "no less than one");
}

static void scheme_epsilons(struct scheme_ask *a)
{
    const struct tasks_raw *raw = a->raw;
    const bool gamma = raw->permanent != NULL && raw->permanent->gamma != NULL;

    scheme_take(a, "epsilon", NULL, "epsilon", raw->epsilon, SPEC_TEXT_WHOLE);
    if (raw->epsilon == NULL && a->spec.design == HSY_DESIGN_EPSILON &&
        !gamma && raw->epsilon_central == NULL)
        scheme_missing(a, "epsilon", NULL,
                       "is missing: the epsilon of one report, e.g. 1");
    if (raw->permanent != NULL && a->sound)
        scheme_permanent(a);
}

/* ---- Resolving ----------------------------------------------------------- */

/* The key behind a field of the library; NULL: the one that says what is asked.
 */
static const struct scheme_key {
    uint32_t field;
    const char *key, *sub;
} scheme_keys[] = {
    {HSY_FIELD_CHANCE, "set", NULL},
    {HSY_FIELD_DESIGN, "set", NULL},
    {HSY_FIELD_EPSILON, "epsilon", NULL},
    {HSY_FIELD_RANGE, "range", NULL},
    {HSY_FIELD_SCALE, "range", NULL},
    {HSY_FIELD_BINS, "bins", NULL},
    {HSY_FIELD_VALUES, NULL, NULL},
    {HSY_FIELD_LABELS, NULL, NULL},
    {HSY_FIELD_GRAIN, "permanent", "grain"},
    {HSY_FIELD_PREFIXES, "prefixes", NULL},
    {HSY_FIELD_ALPHABET, "alphabet", NULL},
    {HSY_FIELD_ORACLE, "oracle", NULL},
};

/* Complain about what the library refuses, at the key that said it. */
static void scheme_refused(struct scheme_ask *a, const hsy_error *err)
{
    const char *key = "mechanism", *sub = NULL;
    const char *name = hsy_field_name(err->field);

    for (size_t k = 0; k < sizeof scheme_keys / sizeof scheme_keys[0]; k++)
        if (err->field == scheme_keys[k].field) {
            key = scheme_keys[k].key != NULL ? scheme_keys[k].key : a->kind;
            sub = scheme_keys[k].sub;
        }
    if (spec_text_param(name, strlen(name)) < HSY_PARAMS) {
        key = "set";
        sub = name;
    }
    scheme_wrong(a, key, sub, "%s%s", err->msg,
                 strcmp(key, "mechanism") == 0
                     ? "; 'hearsay mechanisms' lists the kinds of each"
                     : "");
}

/* Owned by the caller; NULL after a complaint, or quietly. */
static hsy_scheme *scheme_new(struct scheme_ask *a, const hsy_spec *spec,
                              bool quiet)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_error err = {0};
    hsy_scheme_info info;

    if (s == NULL) {
        a->tasks->notes.nomem = true;
        a->sound = false;
        return NULL;
    }
    if (hsy_scheme_init(s, spec, &err) == HSY_OK) {
        hsy_scheme_describe(s, &info);
        if (!info.central)
            return s;
        err = (hsy_error){.status = HSY_E_REFUSED,
                          .field = HSY_FIELD_MECHANISM,
                          .msg = "a curator's release, not a report"};
    }
    free(s);
    if (!quiet)
        scheme_refused(a, &err);
    return NULL;
}

/*
 * Which mechanism `auto` is for a permanent answer: the only one for a bit,
 * else the one of least variance at the epsilon of a report, within a percent
 * the one with the shorter report.
 */
static const char *scheme_choose(struct scheme_ask *a)
{
    const hsy_catalogue *row = hsy_mechanism_kept(a->spec.kind, 0);
    const char *best = NULL;
    double least = 0;
    uint32_t bits = 0;

    if (row != NULL && hsy_mechanism_kept(a->spec.kind, 1) == NULL)
        return row->name;
    for (size_t k = 0; (row = hsy_mechanism_kept(a->spec.kind, k)); k++) {
        hsy_spec spec = a->spec;
        hsy_scheme *s;
        hsy_scheme_info info;

        spec.mechanism = row->name;
        s = scheme_new(a, &spec, true);
        if (s == NULL)
            continue;
        hsy_scheme_describe(s, &info);
        free(s);
        if (best == NULL || info.v0 < 0.99 * least ||
            (info.v0 < 1.01 * least && info.packed_bits < bits)) {
            best = row->name;
            least = info.v0;
            bits = info.packed_bits;
        }
    }
    return best;
}

/* The other way to say what one report may tell: what is left of it in the
 * smallest batch. */
static void scheme_central(struct scheme_ask *a)
{
    uint64_t nano = 0;
    hsy_error err = {0};

    if (a->raw->epsilon != NULL || a->raw->permanent != NULL ||
        a->spec.design != HSY_DESIGN_EPSILON)
        scheme_wrong(a, "epsilon_central", NULL,
                     "sets the epsilon of a report: leave out epsilon, "
                     "permanent and probabilities, or use epsilon alone");
    else
        scheme_epsilon(a, &nano, a->raw->epsilon_central, "epsilon_central",
                       NULL);
    if (!a->sound || a->tasks->notes.wrong)
        return;
    if (tasks_model_solve(&a->spec, &a->tasks->tasks[a->i], nano, &err) !=
        HSY_OK)
        scheme_refused(a, &err);
}

/* Decimals of a number as it is written. */
static size_t scheme_decimals(const char *text)
{
    const char *point = strchr(text, '.');

    return point == NULL ? 0 : strlen(point + 1);
}

/* "5" or "0.5" in units of the range's last decimal. */
static void scheme_grain(struct scheme_ask *a, uint64_t *grain)
{
    const char *text = a->raw->permanent->grain;
    int64_t number;

    if (text == NULL)
        return;
    if (a->spec.kind != HSY_KIND_NUMBER)
        scheme_wrong(a, "permanent", "grain",
                     "a grain needs a range without bins");
    else if (hsy_decimal_parse(&number, text, strlen(text), a->spec.scale) !=
                 HSY_OK ||
             number < 1 || scheme_decimals(text) > a->spec.scale)
        scheme_wrong(a, "permanent", "grain",
                     "must be a number above 0 with at most 9 decimals");
    else
        *grain = (uint64_t)number;
}

/* Whether the two make a permanent answer and its reports. */
static void scheme_pair(struct scheme_ask *a, const hsy_scheme *permanent,
                        const hsy_scheme *report, uint64_t grain)
{
    hsy_error err = {0};
    hsy_permanent memo;
    hsy_status st = hsy_permanent_init(&memo, permanent, report, grain, &err);

    if (st == HSY_E_UNKNOWN)
        scheme_wrong(a, "mechanism", NULL,
                     "'%.32s' has no permanent answer: choose rr, grr, sue, "
                     "oue, olh, blh, onebit, dbitflip or rappor, or leave it "
                     "out",
                     a->spec.mechanism);
    else if (st != HSY_OK)
        scheme_refused(a, &err);
}

/* The report's scheme again, now that its permanent epsilon holds: so that a
 * tally of it says how the noise of several rounds hangs together. */
static void scheme_resolve_report(struct scheme_ask *a, struct tasks_made *made,
                                  const hsy_scheme_info *info)
{
    hsy_spec spec = a->spec;
    hsy_scheme *report;

    spec.mechanism = info->mechanism;
    memcpy(spec.param, info->param, sizeof spec.param);
    spec.nano_permanent = a->nano_permanent; /* 0: RAPPOR's, which has it */
    report = scheme_new(a, &spec, false);
    if (report == NULL)
        return;
    hsy_scheme_encode(report, made->scheme);
    free(report);
}

/* Both schemes with the parameters that were chosen for the report. */
static void scheme_resolve_pair(struct scheme_ask *a, hsy_scheme *report)
{
    hsy_task *task = &a->tasks->tasks[a->i];
    struct tasks_made *made = &a->tasks->made[a->i];
    hsy_spec spec = a->spec;
    hsy_scheme *permanent;
    hsy_scheme_info info;

    hsy_scheme_describe(report, &info);
    spec.mechanism = info.mechanism;
    memcpy(spec.param, info.param, sizeof spec.param);
    if (a->nano_permanent != 0)
        spec.nano_epsilon = a->nano_permanent;
    scheme_grain(a, &task->grain);
    permanent = a->sound ? scheme_new(a, &spec, false) : NULL;
    if (permanent == NULL)
        return;
    scheme_pair(a, permanent, report, task->grain);
    hsy_scheme_encode(permanent, made->permanent);
    task->permanent = made->permanent;
    free(permanent);
    if (a->sound)
        scheme_resolve_report(a, made, &info);
}

static void scheme_resolve(struct scheme_ask *a)
{
    hsy_task *task = &a->tasks->tasks[a->i];
    struct tasks_made *made = &a->tasks->made[a->i];
    hsy_scheme *report;

    a->spec.size = sizeof a->spec;
    a->spec.mechanism = a->raw->mechanism;
    a->spec.oracle = a->raw->oracle;
    scheme_take(a, "alphabet", NULL, "alphabet", a->raw->alphabet,
                SPEC_TEXT_WHOLE);
    if (a->sound && a->raw->epsilon_central != NULL)
        scheme_central(a);
    if (!a->sound)
        return;
    if (a->raw->permanent != NULL && a->spec.design == HSY_DESIGN_EPSILON &&
        (a->raw->mechanism == NULL || strcmp(a->raw->mechanism, "auto") == 0))
        a->spec.mechanism = scheme_choose(a);
    report = scheme_new(a, &a->spec, false);
    if (report == NULL)
        return;
    hsy_scheme_encode(report, made->scheme);
    if (a->raw->permanent != NULL)
        scheme_resolve_pair(a, report);
    free(report);
    if (!a->sound)
        return;
    task->scheme = made->scheme;
    task->labels = a->spec.labels;
    task->labels_len = a->spec.labels_len;
}

void tasks_scheme(hsy_tasks *t, size_t i)
{
    struct scheme_ask a = {
        .tasks = t, .i = i, .raw = &t->file.tasks[i], .sound = true};

    scheme_kind(&a);
    if (a.sound)
        scheme_set(&a);
    if (a.sound)
        a.sound = tasks_stage(t, i, &a.spec);
    if (a.sound)
        scheme_epsilons(&a);
    if (a.sound && !t->notes.nomem)
        scheme_resolve(&a);
}
