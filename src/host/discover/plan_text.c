/* plan_text.c - how many people a search takes, for a person and a program. */
#include "host/discover/discover.h"

#include <inttypes.h>

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

/* Shown also where it is infinite. */
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

/* ---- What is told of it -------------------------------------------------- */

/* A plan of one round, of a puzzle or of batches: which columns it has, in this
 * order, and what its rows are called. */
struct plan_kind {
    enum plan_cell cells[PLAN_CELLS];
    size_t ncells;
    const char *rows;
};

static const struct plan_kind plan_groups = {{PLAN_STAGE, PLAN_BITS,
                                              PLAN_ORACLE, PLAN_CANDIDATES,
                                              PLAN_VARIANCE, PLAN_USERS},
                                             6,
                                             "stages"};
static const struct plan_kind plan_puzzle = {{PLAN_PART, PLAN_BITS, PLAN_ORACLE,
                                              PLAN_EPSILON, PLAN_CANDIDATES,
                                              PLAN_VARIANCE, PLAN_USERS},
                                             7,
                                             "parts"};
static const struct plan_kind plan_batches = {
    {PLAN_STAGE, PLAN_BITS, PLAN_ORACLE, PLAN_CANDIDATES, PLAN_VARIANCE,
     PLAN_PEOPLE, PLAN_USERS},
    7,
    "stages"};

struct plan_view {
    const struct discover_plan *plan;
    const struct plan_kind *kind;
    const hsy_scheme_info *info; /* NULL: of batches */
    const struct discover_aim *aim;
};

static void plan_out(const void *ctx, size_t row, size_t column,
                     struct table_cell *out)
{
    const struct plan_view *v = ctx;

    *out = plan_cell(&v->plan->row[row], row, v->kind->cells[column]);
}

/* Stages keep a number of prefixes, so the probability has a condition
 * (docs/discovery.md). */
static void plan_say_unless(FILE *to, const struct discover_plan *plan,
                            const char *before)
{
    if (plan->count > 1)
        fprintf(to,
                "%s\nmore than %" PRIu64 " prefixes of one length are at least "
                "half as frequent",
                before, plan->row[plan->count - 2].stage.keep);
    fprintf(to, ".\n\n");
}

static void plan_say_one_round(FILE *to, const struct plan_view *v)
{
    const bool puzzle = v->kind == &plan_puzzle;
    const size_t n = puzzle ? v->plan->groups : v->plan->count;

    fprintf(to,
            puzzle ? "%s, epsilon %.9g: a word that %.4g %% of people hold "
                     "passes each of %zu offset%s, and then\nas a word, with "
                     "probability %.14g %% if %.0f people answer. Each reports "
                     "one\noffset and the word. Collisions of the sketch are "
                     "not included: --set hashes and width.\n\n"
                   : "%s, epsilon %.9g: a string that %.4g %% of people hold "
                     "passes each of %zu stage%s\nwith probability %.14g %% if "
                     "%.0f people answer. Each is in one group; the total is\n"
                     "the number of groups times the largest requirement",
            v->info->mechanism, v->info->epsilon, 100 * v->aim->frequency, n,
            n == 1 ? "" : "s", 100 * (1 - v->aim->miss), v->plan->users);
    if (!puzzle)
        plan_say_unless(to, v->plan, ". The probability is lower if");
}

static void plan_say_batches(FILE *to, const struct plan_view *v)
{
    const struct discover_plan *plan = v->plan;
    const double epsilon = plan->row[0].epsilon;

    fprintf(to,
            "in batches, epsilon %.9g: a string that %.4g %% of people hold "
            "passes each of\n%zu stages with probability %.14g %% if %.0f "
            "people answer, each at one stage",
            epsilon, 100 * v->aim->frequency, plan->count,
            100 * (1 - v->aim->miss), plan->users);
    plan_say_unless(to, plan, ", unless");
    fprintf(to,
            "A person answers once and spends epsilon %.9g. The same people at "
            "every stage\nwould spend %.9g; a stage that is repeated with the "
            "same people costs them\nepsilon %.9g each time. A device answers "
            "only one stage.\n\n",
            epsilon, epsilon * (double)plan->count, epsilon);
}

struct table_cell discover_alphabet(char text[HSY_ALPHABET_TEXT],
                                    const hsy_scheme_info *info)
{
    return cell_text(hsy_alphabet_text(text, info->alphabet) != 0 ? text
                                                                  : NULL);
}

/* What stands above the rows in json. */
static void plan_fields(struct table_fields *f,
                        char alphabet[HSY_ALPHABET_TEXT],
                        const struct plan_view *v)
{
    const struct discover_plan *plan = v->plan;
    const hsy_scheme_info *info = v->info;
    const double epsilon = info != NULL ? info->epsilon : plan->row[0].epsilon;

    table_add(f, "mechanism",
              cell_text(info != NULL ? info->mechanism : "stage"));
    if (v->kind == &plan_groups) {
        table_add(f, "oracle", cell_text(info->oracle));
        table_add(f, "alphabet", discover_alphabet(alphabet, info));
    }
    table_add(f, "epsilon", cell_number(epsilon));
    if (info != NULL)
        table_add(f, "epsilon_exact", cell_number(info->epsilon_exact));
    table_add(f, "frequency", cell_number(v->aim->frequency));
    table_add(f, "miss", cell_number(v->aim->miss));
    table_add(f, info != NULL ? "groups" : "batches",
              cell_count(info != NULL ? plan->groups : plan->count));
    table_add(f, "users", cell_number(plan->users));
    if (info == NULL)
        table_add(f, "epsilon_same_people",
                  cell_number(epsilon * (double)plan->count));
}

void discover_plan_print(FILE *to, enum table_format format,
                         const struct discover_plan *plan,
                         const hsy_scheme_info *info,
                         const struct discover_aim *aim)
{
    const struct plan_kind *kind = info == NULL ? &plan_batches
                                   : info->analysis == HSY_ANALYSIS_PUZZLE
                                       ? &plan_puzzle
                                       : &plan_groups;
    const struct plan_view v = {plan, kind, info, aim};
    struct table_column columns[PLAN_CELLS];
    const struct table table = {columns, kind->ncells, plan->count, plan_out,
                                &v};
    char alphabet[HSY_ALPHABET_TEXT];
    struct table_fields fields = {.n = 0};

    plan_fields(&fields, alphabet, &v);
    for (size_t i = 0; i < kind->ncells; i++)
        columns[i] = plan_columns[kind->cells[i]];
    if (format == TABLE_ALIGNED)
        (info == NULL ? plan_say_batches : plan_say_one_round)(to, &v);
    table_print(to, format, &table, fields.list, fields.n, kind->rows);
}
