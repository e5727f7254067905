/* plan_show.c - how many people a search takes, for a person and a program. */
#include "cli/discover/internal.h"

/* ---- Cells --------------------------------------------------------------- */

enum plan_cell {
    PLAN_STAGE,
    PLAN_PART,
    PLAN_BITS,
    PLAN_ORACLE,
    PLAN_EPSILON,
    PLAN_CANDIDATES,
    PLAN_VARIANCE,
    PLAN_PEOPLE,
    PLAN_USERS,
    PLAN_CELLS
};

static const struct table_column plan_columns[PLAN_CELLS] = {
    [PLAN_STAGE] = {"stage", NULL},
    [PLAN_PART] = {"part", NULL},
    [PLAN_BITS] = {"bits", NULL},
    [PLAN_ORACLE] = {"oracle", NULL},
    [PLAN_EPSILON] = {"epsilon", NULL},
    [PLAN_CANDIDATES] = {"candidates", NULL},
    [PLAN_VARIANCE] = {"variance", "n Var"},
    [PLAN_PEOPLE] = {"part", "of people"},
    [PLAN_USERS] = {"users", "people needed"},
};

static struct table_cell plan_number(double x, double shown, const char *format)
    __attribute__((format(printf, 3, 0)));

static struct table_cell plan_number(double x, double shown, const char *format)
{
    struct table_cell cell = cell_number(x);

    snprintf(cell.shown, sizeof cell.shown, format, shown);
    return cell;
}

static struct table_cell plan_cell(const struct discover_row *row, size_t i,
                                   enum plan_cell cell)
{
    switch (cell) {
    case PLAN_STAGE:
        return cell_count(i + 1);
    case PLAN_PART:
        return cell_text(i == 0 ? "fragment" : "word");
    case PLAN_BITS:
        return cell_count(row->stage.bits);
    case PLAN_ORACLE:
        return cell_text(row->stage.oracle);
    case PLAN_EPSILON:
        return plan_number(row->epsilon, row->epsilon, "%.9g");
    case PLAN_CANDIDATES:
        return cell_count(row->stage.candidates);
    case PLAN_VARIANCE:
        return plan_number(row->stage.v0, row->stage.v0, "%.4g");
    case PLAN_PEOPLE:
        return plan_number(row->part, 100 * row->part, "%.1f %%");
    default:
        return plan_number(row->users, row->users, "%.0f");
    }
}

/* Some of the columns, in this order. */
struct plan_view {
    const struct discover_plan *plan;
    const enum plan_cell *cells;
};

static void plan_out(const void *ctx, size_t row, size_t column,
                     struct table_cell *out)
{
    const struct plan_view *v = ctx;

    *out = plan_cell(&v->plan->row[row], row, v->cells[column]);
}

static void plan_print(const struct discover_options *o,
                       const struct plan_view *v, size_t ncells,
                       const struct table_field *fields, size_t nfields,
                       const char *name)
{
    struct table_column columns[PLAN_CELLS];
    const struct table table = {columns, ncells, v->plan->count, plan_out, v};

    for (size_t i = 0; i < ncells; i++)
        columns[i] = plan_columns[v->cells[i]];
    table_print(stdout, o->format, &table, fields, nfields, name);
}

/* ---- One round ----------------------------------------------------------- */

void discover_show_groups(const struct discover_options *o,
                          const hsy_scheme_info *info,
                          const struct discover_plan *plan)
{
    static const enum plan_cell cells[] = {PLAN_STAGE,    PLAN_BITS,
                                           PLAN_ORACLE,   PLAN_CANDIDATES,
                                           PLAN_VARIANCE, PLAN_USERS};
    const struct plan_view v = {plan, cells};
    char alphabet[HSY_ALPHABET_TEXT];
    const struct table_field fields[] = {
        {"mechanism", cell_text(info->mechanism)},
        {"oracle", cell_text(info->oracle)},
        {"alphabet", discover_alphabet(alphabet, info)},
        {"epsilon", cell_number(info->epsilon)},
        {"epsilon_exact", cell_number(info->epsilon_exact)},
        {"frequency", cell_number(o->aim.frequency)},
        {"miss", cell_number(o->aim.miss)},
        {"groups", cell_count(plan->groups)},
        {"users", cell_number(plan->users)},
    };

    if (o->format == TABLE_ALIGNED)
        printf("%s, epsilon %.9g: a string that %.4g %% of people hold passes "
               "each of %zu stage%s\nwith chance %.14g %% if %.0f people "
               "answer: each is in one group, and the\nhungriest group sets "
               "the number.\n\n",
               info->mechanism, info->epsilon, 100 * o->aim.frequency,
               plan->count, plan->count == 1 ? "" : "s",
               100 * (1 - o->aim.miss), plan->users);
    plan_print(o, &v, sizeof cells / sizeof cells[0], fields,
               sizeof fields / sizeof fields[0], "stages");
}

/* ---- The fragment puzzle ------------------------------------------------- */

void discover_show_puzzle(const struct discover_options *o,
                          const hsy_scheme_info *info,
                          const struct discover_plan *plan)
{
    static const enum plan_cell cells[] = {
        PLAN_PART,       PLAN_BITS,     PLAN_ORACLE, PLAN_EPSILON,
        PLAN_CANDIDATES, PLAN_VARIANCE, PLAN_USERS};
    const struct plan_view v = {plan, cells};
    const struct table_field fields[] = {
        {"mechanism", cell_text(info->mechanism)},
        {"epsilon", cell_number(info->epsilon)},
        {"epsilon_exact", cell_number(info->epsilon_exact)},
        {"frequency", cell_number(o->aim.frequency)},
        {"miss", cell_number(o->aim.miss)},
        {"groups", cell_count(plan->groups)},
        {"users", cell_number(plan->users)},
    };

    if (o->format == TABLE_ALIGNED)
        printf("%s, epsilon %.9g: a word that %.4g %% of people hold passes "
               "each of %zu offset%s, and then\nas a word, with chance %.14g "
               "%% if %.0f people answer: each about one offset and the\n"
               "word. Collisions of the sketch come on top: --set hashes and "
               "width.\n\n",
               info->mechanism, info->epsilon, 100 * o->aim.frequency,
               plan->groups, plan->groups == 1 ? "" : "s",
               100 * (1 - o->aim.miss), plan->users);
    plan_print(o, &v, sizeof cells / sizeof cells[0], fields,
               sizeof fields / sizeof fields[0], "parts");
}

/* ---- Batches ------------------------------------------------------------- */

static void plan_say(const struct discover_options *o,
                     const struct discover_plan *plan, double epsilon)
{
    printf("in batches, epsilon %.9g: a string that %.4g %% of people hold "
           "passes each of\n%zu stages with chance %.14g %% if %.0f people "
           "answer, each at one stage.\n\n",
           epsilon, 100 * o->aim.frequency, plan->count,
           100 * (1 - o->aim.miss), plan->users);
    printf("A person answers once and spends epsilon %.9g. The same people at "
           "every stage\nwould spend %.9g; a stage that is repeated with the "
           "same people costs them\nepsilon %.9g each time. Devices answer "
           "one stage in their lives.\n\n",
           epsilon, epsilon * (double)plan->count, epsilon);
}

void discover_show_batches(const struct discover_options *o,
                           const struct discover_plan *plan)
{
    static const enum plan_cell cells[] = {
        PLAN_STAGE,    PLAN_BITS,   PLAN_ORACLE, PLAN_CANDIDATES,
        PLAN_VARIANCE, PLAN_PEOPLE, PLAN_USERS};
    const struct plan_view v = {plan, cells};
    const double epsilon = plan->row[0].epsilon;
    const struct table_field fields[] = {
        {"mechanism", cell_text("stage")},
        {"epsilon", cell_number(epsilon)},
        {"frequency", cell_number(o->aim.frequency)},
        {"miss", cell_number(o->aim.miss)},
        {"batches", cell_count(plan->count)},
        {"users", cell_number(plan->users)},
        {"epsilon_same_people", cell_number(epsilon * (double)plan->count)},
    };

    if (o->format == TABLE_ALIGNED)
        plan_say(o, plan, epsilon);
    plan_print(o, &v, sizeof cells / sizeof cells[0], fields,
               sizeof fields / sizeof fields[0], "stages");
}
