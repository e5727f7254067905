/* associate_rows.c - a joint distribution as a table, csv or json. */
#include "host/analysis/associate.h"

#include <string.h>

static void associate_cell(const void *ctx, size_t row, size_t column,
                           struct table_cell *out)
{
    const struct associate *j = ctx;
    const hsy_estimate *est = &j->rows[row];
    const double numbers[] = {est->value, est->sd, est->low, est->high};

    if (column < j->data.variables) {
        const uint32_t v = (uint32_t)column;

        *out = cell_text(associate_name(j, v, associate_row(j, row, v)));
        return;
    }
    *out = cell_number(numbers[column - j->data.variables]);
    snprintf(out->shown, sizeof out->shown, "%.3f %%", 100 * out->number);
}

static void associate_head(FILE *to, const struct associate *j)
{
    const hsy_rappor_law cost = associate_cost(j);

    fprintf(
        to,
        "rappor, %u variables, epsilon %.6g a report of all, %.6g for ever if "
        "the permanent answers\nare kept; %zu reports\nindependent? likelihood "
        "ratio %.4g, %g degrees of "
        "freedom, p-value %.2g\n\n",
        j->data.variables, cost.epsilon_report, cost.epsilon_permanent,
        j->reports->n, j->result.chi2, j->result.freedom, j->result.p_value);
}

void associate_print(FILE *to, enum table_format format,
                     const struct associate *j)
{
    static const struct table_column numbers[] = {{"estimate", "share"},
                                                  {"stderr", "std. error"},
                                                  {"low", "from"},
                                                  {"high", "to"}};
    const hsy_rappor_law cost = associate_cost(j);
    struct table_column columns[HSY_ASSOCIATE_VARIABLES + 4];
    const struct table table = {columns, j->data.variables + 4, j->nrows,
                                associate_cell, j};
    const struct table_field fields[] = {
        {"mechanism", cell_text("rappor")},
        {"epsilon_report", cell_number(cost.epsilon_report)},
        {"epsilon_permanent", cell_number(cost.epsilon_permanent)},
        {"epsilon_permanent_if", cell_text("the permanent answer is kept")},
        {"reports", cell_count(j->reports->n)},
        {"cells", cell_count(j->cells)},
        {"chi2", cell_number(j->result.chi2)},
        {"freedom", cell_number(j->result.freedom)},
        {"p_value", cell_number(j->result.p_value)},
        {"level", cell_number(j->level)},
        {"target", cell_text("population")},
    };

    for (uint32_t v = 0; v < j->data.variables; v++)
        columns[v] = (struct table_column){j->reports->names[v], NULL};
    memcpy(columns + j->data.variables, numbers, sizeof numbers);
    if (format == TABLE_ALIGNED)
        associate_head(to, j);
    table_print(to, format, &table, fields, sizeof fields / sizeof fields[0],
                "estimates");
}
