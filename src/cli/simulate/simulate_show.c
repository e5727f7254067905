/* simulate_show.c - the tables of hearsay simulate. */
#include "cli/simulate/internal.h"

#include <inttypes.h>
#include <math.h>

#define SHOW_CERTAIN 0.99

/* ---- Cells --------------------------------------------------------------- */

/* A share in four decimals. */
static struct table_cell show_share(double share)
{
    struct table_cell c = cell_number(share);

    if (c.type == CELL_NUMBER)
        snprintf(c.shown, sizeof c.shown, "%.4f", share);
    return c;
}

/* What theory says: no rounding may hide that a share is not quite 1. */
static struct table_cell show_theory(double share)
{
    struct table_cell c = show_share(share);

    if (share < 1 && share >= 0.99995)
        snprintf(c.shown, sizeof c.shown, "> 0.9999");
    return c;
}

static struct table_cell show_epsilon(double epsilon)
{
    struct table_cell c = cell_number(epsilon);

    snprintf(c.shown, sizeof c.shown, "%.3f", epsilon);
    return c;
}

static struct table_cell show_days(double days)
{
    struct table_cell c = cell_number(days);

    if (c.type == CELL_NUMBER)
        snprintf(c.shown, sizeof c.shown, "%.1f", days);
    return c;
}

/* A number that may be too small or too large for a double: words for a
 * sentence, and nothing in csv and json. */
#define SHOW_WORDS 32

static const char *show_extreme(char words[SHOW_WORDS], double x)
{
    if (x == 0)
        return "less than 1e-307";
    if (isinf(x))
        return "more than 1e308";
    snprintf(words, SHOW_WORDS, "%.4g", x);
    return words;
}

static struct table_cell show_held(double x)
{
    return x != 0 ? cell_number(x) : cell_text(NULL);
}

/* ---- Averaging ----------------------------------------------------------- */

static const struct table_column show_averaging_columns[] = {
    {"client", NULL},    {"days", NULL},   {"accuracy", NULL},
    {"stderr", NULL},    {"exact", NULL},  {"allowed", NULL},
    {"epsilon", "told"}, {"charged", NULL}};

static void show_averaging_cell(const void *ctx, size_t i, size_t column,
                                struct table_cell *out)
{
    const struct sim_averaging *a = ctx;
    const struct sim_averaging_row *row = &a->rows[i];
    const struct table_cell cells[] = {cell_text(sim_client_name(row->client)),
                                       cell_count(row->days),
                                       show_share(row->right.rate),
                                       show_share(row->right.sd),
                                       show_theory(row->right.exact),
                                       show_theory(row->right.allowed),
                                       show_epsilon(row->epsilon),
                                       show_epsilon(row->charged)};

    *out = cells[column];
}

static void show_averaging_notes(const struct simulate *s,
                                 const struct sim_evidence *e, uint64_t enough)
{
    const double epsilon = (double)s->o.nano_report / HSY_NANO;
    char point[SHOW_WORDS], tail[SHOW_WORDS], ratio[SHOW_WORDS];

    puts("\naccuracy of the best guess; exact: its mean; allowed: no attacker "
         "does better,\nsince these reports tell so much at most; charged: "
         "by the ledger.");
    printf("%" PRIu64 " times yes in %" PRIu64 " fresh answers, if the truth "
           "is no: probability %s,\n%s for as many or more; no is %s times as "
           "likely as yes.\n",
           s->yes, s->of, show_extreme(point, e->point),
           show_extreme(tail, e->tail), show_extreme(ratio, e->ratio));
    printf("%" PRIu64 " fresh answers at epsilon %.4g cost %.4g", s->of,
           epsilon, epsilon * (double)s->of);
    if (enough != 0)
        printf("; %" PRIu64 " %s the truth away with\n99 %% certainty", enough,
               enough == 1 ? "gives" : "give");
    puts(".");
}

static void show_averaging(const struct simulate *s)
{
    const struct sim_averaging *a = &s->result.u.averaging;
    const struct table table = {show_averaging_columns,
                                sizeof show_averaging_columns /
                                    sizeof show_averaging_columns[0],
                                a->nrows, show_averaging_cell, a};
    /* After one day fresh answers are right with the chance of one answer. */
    const double p = a->rows[0].right.exact;
    const struct sim_evidence e = sim_evidence(s->yes, s->of, p);
    const uint64_t enough = sim_answers_for(SHOW_CERTAIN, p);
    const struct table_field fields[] = {
        {"attack", cell_text(s->attack->name)},
        {"epsilon", cell_number((double)s->o.nano_report / HSY_NANO)},
        {"epsilon_permanent",
         cell_number((double)s->o.nano_permanent / HSY_NANO)},
        {"devices", cell_count(s->o.devices)},
        {"seed", cell_count(s->o.seed)},
        {"yes", cell_count(s->yes)},
        {"of", cell_count(s->of)},
        {"point", show_held(e.point)},
        {"tail", show_held(e.tail)},
        {"ratio", show_held(e.ratio)},
        {"answers_99", enough != 0 ? cell_count(enough) : cell_text(NULL)}};

    table_print(stdout, s->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
    if (s->format == TABLE_ALIGNED)
        show_averaging_notes(s, &e, enough);
}

/* ---- Change -------------------------------------------------------------- */

static const struct table_column show_change_columns[] = {
    {"client", NULL},   {"after", NULL},
    {"accuracy", NULL}, {"stderr", NULL},
    {"exact", NULL},    {"allowed", NULL},
    {"detected", NULL}, {"false_alarms", "alarms"},
    {"days_off", "off"}};

static void show_change_cell(const void *ctx, size_t i, size_t column,
                             struct table_cell *out)
{
    const struct sim_change *c = ctx;
    const struct sim_change_row *row = &c->rows[i];
    const struct table_cell cells[] = {cell_text(sim_client_name(row->client)),
                                       cell_count(row->after),
                                       show_share(row->right.rate),
                                       show_share(row->right.sd),
                                       show_theory(row->right.exact),
                                       show_theory(row->right.allowed),
                                       show_share(row->detected),
                                       show_share(row->false_alarms),
                                       show_days(row->off)};

    *out = cells[column];
}

static void show_change(const struct simulate *s)
{
    const struct sim_change *c = &s->result.u.change;
    const struct table table = {show_change_columns,
                                sizeof show_change_columns /
                                    sizeof show_change_columns[0],
                                c->nrows, show_change_cell, c};
    const struct table_field fields[] = {
        {"attack", cell_text(s->attack->name)},
        {"epsilon", cell_number((double)s->o.nano_report / HSY_NANO)},
        {"epsilon_permanent",
         cell_number((double)s->o.nano_permanent / HSY_NANO)},
        {"devices", cell_count(s->o.devices)},
        {"days", cell_count(s->o.days)},
        {"change_day", cell_count(c->day)},
        {"gamma", cell_number(c->gamma)},
        {"seed", cell_count(s->o.seed)}};

    table_print(stdout, s->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
    if (s->format != TABLE_ALIGNED)
        return;
    printf("\nafter, off: days. Half of the devices change after %" PRIu64
           " days; the attacker knows\nneither which nor when. Two-step "
           "clients turn a report over with probability\n%.4f (gamma). Only "
           "one that keeps its first answer (max_changes 1) hides that\n"
           "anything has changed.\n",
           c->day, c->gamma);
}

/* ---- Fingerprint --------------------------------------------------------- */

static const struct table_column show_fingerprint_columns[] = {
    {"upload", NULL}, {"devices", NULL},      {"relinked", "found again"},
    {"stderr", NULL}, {"by_name", "by name"}, {"chance", NULL},
    {"unique", NULL}};

static void show_fingerprint_cell(const void *ctx, size_t i, size_t column,
                                  struct table_cell *out)
{
    const struct sim_fingerprint *f = ctx;
    const struct sim_fingerprint_row *row = &f->rows[i];
    const struct table_cell cells[] = {
        cell_text(row->upload),    cell_count(row->devices),
        show_share(row->relinked), show_share(row->sd),
        show_share(row->name),     show_share(row->chance),
        show_share(row->unique)};

    *out = cells[column];
}

static void show_fingerprint(const struct simulate *s)
{
    const struct sim_fingerprint *f = &s->result.u.fingerprint;
    const struct table table = {show_fingerprint_columns,
                                sizeof show_fingerprint_columns /
                                    sizeof show_fingerprint_columns[0],
                                f->nrows, show_fingerprint_cell, f};
    const struct table_field fields[] = {
        {"attack", cell_text(s->attack->name)},
        {"epsilon", cell_number((double)s->o.nano_report / HSY_NANO)},
        {"epsilon_permanent",
         cell_number((double)s->o.nano_permanent / HSY_NANO)},
        {"devices", cell_count(s->o.devices)},
        {"seed", cell_count(s->o.seed)}};

    table_print(stdout, s->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
    if (s->format == TABLE_ALIGNED)
        puts("\nrappor: 32 bits, 128 cohorts, f = 1/2, p = 1/4, q = 3/4. A "
             "name is what stays\nas it is: the cohort or the hash seed. All "
             "devices have the same truth.");
}

/* ---- Drift --------------------------------------------------------------- */

static const struct table_column show_drift_columns[] = {
    {"rounding", NULL},
    {"day", NULL},
    {"keys", NULL},
    {"epsilon", NULL},
    {"epsilon_all_values", "all keys"},
    {"mean", ""},
    {"error", NULL},
    {"stderr", NULL},
    {"bias", NULL}};

static void show_drift_cell(const void *ctx, size_t i, size_t column,
                            struct table_cell *out)
{
    const struct sim_drift *d = ctx;
    const struct sim_drift_row *row = &d->rows[i];
    const struct table_cell cells[] = {cell_text(row->rounding),
                                       cell_count(row->day),
                                       cell_count(row->keys),
                                       show_epsilon(row->epsilon),
                                       show_epsilon(row->epsilon_all_values),
                                       show_days(row->mean),
                                       show_days(row->error),
                                       show_days(row->sd),
                                       show_days(row->bias)};

    *out = cells[column];
}

static void show_drift(const struct simulate *s)
{
    const struct sim_drift *d = &s->result.u.drift;
    const struct table table = {show_drift_columns,
                                sizeof show_drift_columns /
                                    sizeof show_drift_columns[0],
                                d->nrows, show_drift_cell, d};
    const struct table_field fields[] = {
        {"attack", cell_text(s->attack->name)},
        {"epsilon", cell_number((double)s->o.nano_report / HSY_NANO)},
        {"epsilon_permanent",
         cell_number((double)s->o.nano_permanent / HSY_NANO)},
        {"devices", cell_count(s->o.devices)},
        {"range", cell_count(SIM_DRIFT_RANGE)},
        {"grain", cell_count(s->o.grain)},
        {"seed", cell_count(s->o.seed)}};

    table_print(stdout, s->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
    if (s->format == TABLE_ALIGNED)
        printf(
            "\nAge in days, 0 to %u, rounded to bins or points of %" PRIu64
            ". keys: permanent\nanswers of the device that has most so far; "
            "epsilon: so many times that of one;\nall keys: of all there can "
            "be. bias: error that no crowd removes. That an answer\nchanged "
            "may show, and no epsilon bounds that.\n",
            SIM_DRIFT_RANGE, s->o.grain);
}

/* ---- Poisoning ----------------------------------------------------------- */

static const struct table_column show_poisoning_columns[] = {
    {"mechanism", NULL}, {"attack", NULL}, {"lying", NULL}, {"gain", NULL},
    {"stderr", ""},      {"exact", NULL},  {"shown", NULL}, {"bound", NULL},
    {"used", NULL},      {"found", NULL}};

static void show_poisoning_cell(const void *ctx, size_t i, size_t column,
                                struct table_cell *out)
{
    const struct sim_poisoning *p = ctx;
    const struct sim_poisoning_row *row = &p->rows[i];
    const struct table_cell cells[] = {
        cell_text(row->mechanism), cell_text(sim_attack_name(row->attack)),
        show_share(row->lying),    show_share(row->gain),
        show_share(row->sd),       show_share(row->exact),
        show_share(row->shown),    show_share(row->bound),
        show_share(row->used),     show_share(row->found)};

    *out = cells[column];
}

static void show_poisoning(const struct simulate *s)
{
    const struct sim_poisoning *p = &s->result.u.poisoning;
    const struct table table = {show_poisoning_columns,
                                sizeof show_poisoning_columns /
                                    sizeof show_poisoning_columns[0],
                                p->nrows, show_poisoning_cell, p};
    const struct table_field fields[] = {
        {"attack", cell_text(s->attack->name)},
        {"epsilon", cell_number((double)s->o.nano_report / HSY_NANO)},
        {"devices", cell_count(s->o.devices)},
        {"values", cell_count(SIM_POISONING_VALUES)},
        {"targets", cell_count(SIM_POISONING_TARGETS)},
        {"runs", cell_count(SIM_POISONING_RUNS)},
        {"seed", cell_count(s->o.seed)}};

    table_print(stdout, s->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
    if (s->format == TABLE_ALIGNED)
        printf("\ngain: of %u targets among %u values together, 1 stands for "
               "everybody. exact: by\nthe closed form. shown: in estimates as "
               "they are shown; olh has collisions\ntaken off. bound: what "
               "estimate --assume-lying allows. used: the most that any\nvalue "
               "used of its own bound. found: share of runs of which estimate "
               "warns,\np-value below 1e-6; reports of grr and ss show "
               "nothing.\n",
               SIM_POISONING_TARGETS, SIM_POISONING_VALUES);
}

/* ---- All ----------------------------------------------------------------- */

void simulate_show(const struct simulate *s)
{
    static void (*const show[SIM_KINDS])(const struct simulate *) = {
        show_averaging, show_change, show_fingerprint, show_drift,
        show_poisoning};

    show[s->result.kind](s);
}
