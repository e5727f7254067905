/* attack_rows.c - what came of an attack, as a table, csv or json. */
#include "sim/attack/attack.h"

#include <inttypes.h>
#include <math.h>

#define ROWS_CERTAIN 0.99
#define ROWS_OF(array) (sizeof(array) / sizeof(array)[0])

/* What is printed: columns, rows by a callback, fields of json. */
struct rows {
    const struct sim_options *o;
    const struct sim_result *r;
    struct table table;
    struct table_fields fields;
};

/* ---- Cells --------------------------------------------------------------- */

/* A share in four decimals. */
static struct table_cell rows_share(double share)
{
    return cell_shown(share, share, "%.4f");
}

/* What theory says: no rounding may hide that a share is not quite 1. */
static struct table_cell rows_theory(double share)
{
    return cell_shown(share, share,
                      share < 1 && share >= 0.99995 ? "> 0.9999" : "%.4f");
}

static struct table_cell rows_epsilon(double epsilon)
{
    struct table_cell c = cell_number(epsilon);

    snprintf(c.shown, sizeof c.shown, "%.3f", epsilon); /* infinite ones too */
    return c;
}

static struct table_cell rows_days(double days)
{
    return cell_shown(days, days, "%.1f");
}

static void rows_count_field(struct rows *s, const char *name, uint64_t n)
{
    table_add(&s->fields, name, cell_count(n));
}

/* ---- Averaging ----------------------------------------------------------- */

static const struct table_column rows_averaging[] = {
    {"client", NULL},    {"days", NULL},   {"accuracy", NULL},
    {"stderr", NULL},    {"exact", NULL},  {"allowed", NULL},
    {"epsilon", "told"}, {"charged", NULL}};

static void rows_averaging_cell(const void *ctx, size_t i, size_t column,
                                struct table_cell *out)
{
    const struct sim_averaging_row *row =
        &((const struct sim_result *)ctx)->u.averaging[i];
    const struct table_cell cells[] = {cell_text(sim_client_name(row->client)),
                                       cell_count(row->days),
                                       rows_share(row->right.rate),
                                       rows_share(row->right.sd),
                                       rows_theory(row->right.exact),
                                       rows_theory(row->right.allowed),
                                       rows_epsilon(row->epsilon),
                                       rows_epsilon(row->charged)};

    *out = cells[column];
}

/* After one day fresh answers are right with the chance of one answer. */
static double rows_right(const struct rows *s)
{
    return s->r->u.averaging[0].right.exact;
}

/* A number that may be too small or too large for a double: words for a
 * sentence, and nothing in csv and json. */
#define ROWS_WORDS 32

static const char *rows_extreme(char words[ROWS_WORDS], double x)
{
    if (x == 0)
        return "less than 1e-307";
    if (isinf(x))
        return "more than 1e308";
    snprintf(words, ROWS_WORDS, "%.4g", x);
    return words;
}

static struct table_cell rows_held(double x)
{
    return x != 0 ? cell_number(x) : cell_text(NULL);
}

static void rows_averaging_fields(struct rows *s)
{
    const struct sim_options *o = s->o;
    const struct sim_evidence e = sim_evidence(o->yes, o->of, rows_right(s));
    const uint64_t enough = sim_answers_for(ROWS_CERTAIN, rows_right(s));

    rows_count_field(s, "devices", o->devices);
    rows_count_field(s, "seed", o->seed);
    rows_count_field(s, "yes", o->yes);
    rows_count_field(s, "of", o->of);
    table_add(&s->fields, "point", rows_held(e.point));
    table_add(&s->fields, "tail", rows_held(e.tail));
    table_add(&s->fields, "ratio", rows_held(e.ratio));
    table_add(&s->fields, "answers_99",
              enough != 0 ? cell_count(enough) : cell_text(NULL));
}

static void rows_averaging_note(const struct rows *s, FILE *to)
{
    const struct sim_options *o = s->o;
    const struct sim_evidence e = sim_evidence(o->yes, o->of, rows_right(s));
    const uint64_t enough = sim_answers_for(ROWS_CERTAIN, rows_right(s));
    const double epsilon = (double)o->nano_report / HSY_NANO;
    char point[ROWS_WORDS], tail[ROWS_WORDS], ratio[ROWS_WORDS];

    fputs("\naccuracy: of the best guess, for these devices; exact: the "
          "accuracy to expect;\nallowed: the most that any attacker can "
          "expect; told: epsilon of what was sent;\ncharged: by the ledger.\n",
          to);
    fprintf(to,
            "%" PRIu64 " times yes in %" PRIu64 " fresh answers, if the truth "
            "is no: probability %s,\n%s for as many or more; the odds of no "
            "against yes fall to %s.\n",
            o->yes, o->of, rows_extreme(point, e.point),
            rows_extreme(tail, e.tail), rows_extreme(ratio, e.ratio));
    fprintf(to, "%" PRIu64 " fresh answers at epsilon %.4g cost %.4g", o->of,
            epsilon, epsilon * (double)o->of);
    if (enough != 0)
        fprintf(to, "; %" PRIu64 " %s the truth away with\n99 %% certainty",
                enough, enough == 1 ? "gives" : "give");
    fputs(".\n", to);
}

/* ---- Change -------------------------------------------------------------- */

static const struct table_column rows_change[] = {
    {"client", NULL},   {"after", NULL},
    {"accuracy", NULL}, {"stderr", NULL},
    {"exact", NULL},    {"allowed", NULL},
    {"detected", NULL}, {"false_alarms", "alarms"},
    {"days_off", "off"}};

static void rows_change_cell(const void *ctx, size_t i, size_t column,
                             struct table_cell *out)
{
    const struct sim_change_row *row =
        &((const struct sim_result *)ctx)->u.change[i];
    const struct table_cell cells[] = {cell_text(sim_client_name(row->client)),
                                       cell_count(row->after),
                                       rows_share(row->right.rate),
                                       rows_share(row->right.sd),
                                       rows_theory(row->right.exact),
                                       rows_theory(row->right.allowed),
                                       rows_share(row->detected),
                                       rows_share(row->false_alarms),
                                       rows_days(row->off)};

    *out = cells[column];
}

static void rows_change_fields(struct rows *s)
{
    rows_count_field(s, "devices", s->o->devices);
    rows_count_field(s, "days", s->o->days);
    rows_count_field(s, "change_day", s->r->day);
    table_add(&s->fields, "gamma", cell_number(s->r->gamma));
    rows_count_field(s, "seed", s->o->seed);
}

static void rows_change_note(const struct rows *s, FILE *to)
{
    fprintf(to,
            "\nafter, off: days. Half of the devices change after %" PRIu64
            " days; the attacker knows\nneither which nor when. Two-step "
            "clients turn a report over with probability\n%.4f (gamma). Only "
            "one that keeps its first answer (max_changes 1) hides that\n"
            "anything has changed.\n",
            s->r->day, s->r->gamma);
}

/* ---- Fingerprint --------------------------------------------------------- */

static const struct table_column rows_fingerprint[] = {
    {"upload", NULL}, {"devices", NULL},      {"relinked", "found again"},
    {"stderr", NULL}, {"by_name", "by name"}, {"chance", NULL},
    {"unique", NULL}};

static void rows_fingerprint_cell(const void *ctx, size_t i, size_t column,
                                  struct table_cell *out)
{
    const struct sim_fingerprint_row *row =
        &((const struct sim_result *)ctx)->u.fingerprint[i];
    const struct table_cell cells[] = {
        cell_text(row->upload),    cell_count(row->devices),
        rows_share(row->relinked), rows_share(row->sd),
        rows_share(row->name),     rows_share(row->chance),
        rows_share(row->unique)};

    *out = cells[column];
}

static void rows_fingerprint_fields(struct rows *s)
{
    rows_count_field(s, "devices", s->o->devices);
    rows_count_field(s, "seed", s->o->seed);
}

static void rows_fingerprint_note(const struct rows *s, FILE *to)
{
    (void)s;
    fputs("\nrappor: 32 bits, 128 cohorts, f = 1/2, p = 1/4, q = 3/4. A "
          "name is what stays\nas it is: the cohort or the hash seed. All "
          "devices have the same truth.\n",
          to);
}

/* ---- Drift --------------------------------------------------------------- */

static const struct table_column rows_drift[] = {
    {"rounding", NULL},
    {"day", NULL},
    {"keys", NULL},
    {"epsilon", NULL},
    {"epsilon_all_values", "all keys"},
    {"mean", ""},
    {"error", NULL},
    {"stderr", NULL},
    {"bias", NULL}};

static void rows_drift_cell(const void *ctx, size_t i, size_t column,
                            struct table_cell *out)
{
    const struct sim_drift_row *row =
        &((const struct sim_result *)ctx)->u.drift[i];
    const struct table_cell cells[] = {cell_text(row->rounding),
                                       cell_count(row->day),
                                       cell_count(row->keys),
                                       rows_epsilon(row->epsilon),
                                       rows_epsilon(row->epsilon_all_values),
                                       rows_days(row->mean),
                                       rows_days(row->error),
                                       rows_days(row->sd),
                                       rows_days(row->bias)};

    *out = cells[column];
}

static void rows_drift_fields(struct rows *s)
{
    rows_count_field(s, "devices", s->o->devices);
    rows_count_field(s, "range", SIM_DRIFT_RANGE);
    rows_count_field(s, "grain", s->o->grain);
    rows_count_field(s, "seed", s->o->seed);
}

static void rows_drift_note(const struct rows *s, FILE *to)
{
    fprintf(to,
            "\nAge in days, 0 to %u, rounded to bins or points of %" PRIu64
            ". keys: permanent\nanswers of the device that has most so far; "
            "epsilon: so many times that of one;\nall keys: of all there can "
            "be. bias: error that no crowd removes. That an answer\nchanged "
            "may show, and no epsilon bounds that.\n",
            SIM_DRIFT_RANGE, s->o->grain);
}

/* ---- Poisoning ----------------------------------------------------------- */

static const struct table_column rows_poisoning[] = {
    {"mechanism", NULL}, {"attack", NULL}, {"lying", NULL}, {"gain", NULL},
    {"stderr", ""},      {"exact", NULL},  {"shown", NULL}, {"bound", NULL},
    {"used", NULL},      {"found", NULL}};

static void rows_poisoning_cell(const void *ctx, size_t i, size_t column,
                                struct table_cell *out)
{
    const struct sim_poisoning_row *row =
        &((const struct sim_result *)ctx)->u.poisoning[i];
    const struct table_cell cells[] = {
        cell_text(row->mechanism), cell_text(sim_attack_name(row->attack)),
        rows_share(row->lying),    rows_share(row->gain),
        rows_share(row->sd),       rows_share(row->exact),
        rows_share(row->shown),    rows_share(row->bound),
        rows_share(row->used),     rows_share(row->found)};

    *out = cells[column];
}

static void rows_poisoning_fields(struct rows *s)
{
    rows_count_field(s, "devices", s->o->devices);
    rows_count_field(s, "values", SIM_POISONING_VALUES);
    rows_count_field(s, "targets", SIM_POISONING_TARGETS);
    rows_count_field(s, "runs", SIM_POISONING_RUNS);
    rows_count_field(s, "seed", s->o->seed);
}

static void rows_poisoning_note(const struct rows *s, FILE *to)
{
    (void)s;
    fprintf(to,
            "\ngain: of %u targets among %u values together, 1 stands for "
            "everybody. exact: by\nthe closed form. shown: in estimates as "
            "they are shown; olh has collisions\ntaken off. bound: what "
            "estimate --assume-lying allows. used: the most that any\nvalue "
            "used of its own bound. found: share of runs of which estimate "
            "warns,\np-value below 1e-6; reports of grr and ss show "
            "nothing.\n",
            SIM_POISONING_TARGETS, SIM_POISONING_VALUES);
}

/* ---- Any of them --------------------------------------------------------- */

struct rows_way {
    const struct table_column *columns;
    size_t ncolumns;
    void (*cell)(const void *ctx, size_t row, size_t column,
                 struct table_cell *out);
    void (*fields)(struct rows *s); /* behind those that all have */
    void (*note)(const struct rows *s, FILE *to);
};

#define ROWS_WAY(name)                                                         \
    {                                                                          \
        rows_##name, ROWS_OF(rows_##name), rows_##name##_cell,                 \
            rows_##name##_fields, rows_##name##_note                           \
    }

static const struct rows_way rows_ways[SIM_KINDS] = {
    [SIM_AVERAGING] = ROWS_WAY(averaging),
    [SIM_CHANGE] = ROWS_WAY(change),
    [SIM_FINGERPRINT] = ROWS_WAY(fingerprint),
    [SIM_DRIFT] = ROWS_WAY(drift),
    [SIM_POISONING] = ROWS_WAY(poisoning)};

void sim_print(FILE *to, enum table_format format, const struct sim_result *r,
               const struct sim_options *o)
{
    const struct rows_way *way = &rows_ways[r->kind];
    struct rows s = {
        .o = o,
        .r = r,
        .table = {way->columns, way->ncolumns, r->nrows, way->cell, r}};

    table_add(&s.fields, "attack", cell_text(sim_limits(r->kind)->name));
    table_add(&s.fields, "epsilon",
              cell_number((double)o->nano_report / HSY_NANO));
    if (r->kind != SIM_POISONING) /* nobody keeps an answer there */
        table_add(&s.fields, "epsilon_permanent",
                  cell_number((double)o->nano_permanent / HSY_NANO));
    way->fields(&s);
    table_print(to, format, &s.table, s.fields.list, s.fields.n, "rows");
    if (format == TABLE_ALIGNED)
        way->note(&s, to);
}
