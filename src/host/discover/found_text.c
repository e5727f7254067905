/* found_text.c - found strings, for a person and a program. */
#include "host/discover/discover.h"

#include "host/base/written.h"

#include <inttypes.h>

enum show_found_column {
    FOUND_STAGE,
    FOUND_BITS,
    FOUND_VALUE,
    FOUND_ESTIMATE,
    FOUND_STDERR,
    FOUND_LOW,
    FOUND_HIGH,
    FOUND_LEVEL,
    FOUND_SIGNIFICANT,
    FOUND_VALUE_HEX, /* JSON writes its own beside the value */
    FOUND_COLUMNS
};

static const struct table_column show_found_columns[] = {
    [FOUND_STAGE] = {"stage", NULL},
    [FOUND_BITS] = {"bits", NULL},
    [FOUND_VALUE] = {"value", NULL},
    [FOUND_ESTIMATE] = {"estimate", "share"},
    [FOUND_STDERR] = {"stderr", "std. error"},
    [FOUND_LOW] = {"low", "from"},
    [FOUND_HIGH] = {"high", "to"},
    [FOUND_LEVEL] = {"level_selected", ""}, /* a table has it above */
    [FOUND_SIGNIFICANT] = {"significant", "significant"},
    [FOUND_VALUE_HEX] = {"value_hex", ""},
};

struct show_found {
    const struct discover_found *result;
    size_t first; /* column: stage and bits only with --all-stages */
};

static struct table_cell show_found_share(double share)
{
    struct table_cell cell = cell_number(share);

    snprintf(cell.shown, sizeof cell.shown, "%.3f %%", 100 * share);
    return cell;
}

static void show_found_estimate(const hsy_estimate *est, double level,
                                enum show_found_column column,
                                struct table_cell *out)
{
    const double numbers[] = {est->value, est->sd, est->low, est->high};

    *out = column == FOUND_LEVEL
               ? cell_number(level)
               : show_found_share(numbers[column - FOUND_ESTIMATE]);
}

/* The last row of all: what is not among those above. */
static void show_found_rest(const struct discover_found *r,
                            enum show_found_column column,
                            struct table_cell *out)
{
    *out = (struct table_cell){.type = CELL_NONE};
    if (column == FOUND_VALUE)
        *out = cell_text("(not shown)");
    else if (column >= FOUND_ESTIMATE && column <= FOUND_LEVEL)
        show_found_estimate(&r->got->rest, r->level, column, out);
}

static void show_found_cell(const void *ctx, size_t row, size_t column,
                            struct table_cell *out)
{
    const struct show_found *s = ctx;
    const struct analysis_found *r = &s->result->got->rows[row];
    const enum show_found_column what =
        (enum show_found_column)(column + s->first);

    if (row == s->result->got->count) {
        show_found_rest(s->result, what, out);
        return;
    }
    switch (what) {
    case FOUND_STAGE:
        *out = cell_count(r->stage + 1);
        break;
    case FOUND_BITS:
        *out = cell_count(s->result->got->stage[r->stage].bits);
        break;
    case FOUND_VALUE:
        *out = cell_bytes(r->name, r->name_len);
        break;
    case FOUND_SIGNIFICANT:
        *out = cell_bool(r->found.significant);
        break;
    case FOUND_VALUE_HEX:
        *out = cell_bytes(r->name, r->name_len);
        out->type = written_utf8(r->name, r->name_len) ? CELL_NONE : CELL_HEX;
        break;
    default:
        show_found_estimate(&r->est, r->level, what, out);
        break;
    }
}

/* What a row is. */
static const char *show_found_noun(const struct discover_found *r)
{
    const bool inner = r->got->number != 0 &&
                       r->got->number < hsy_stage_count(r->tally->scheme);

    return inner                ? r->got->found == 1 ? "prefix" : "prefixes"
           : r->got->found == 1 ? "string"
                                : "strings";
}

/* Those of the last stage that are significant. */
static uint64_t show_found_significant(const struct discover_found *r)
{
    uint64_t n = 0;

    for (size_t i = 0; i < r->got->count; i++)
        n += r->got->rows[i].stage + 1 == r->got->stages &&
             r->got->rows[i].found.significant;
    return n;
}

static void show_found_which(FILE *to, const struct discover_found *r)
{
    const uint64_t significant = show_found_significant(r);

    if (!r->got->significant)
        fprintf(to,
                "the largest, significant or not: %" PRIu64
                " of them significant;\n",
                significant);
    else
        fprintf(to, "%ssignificant;\n",
                r->got->found == 1 ? "" : "all of them ");
}

static void show_found_intervals(FILE *to, const struct discover_found *r)
{

    fprintf(to, "shares among those who answered; %.14g %% intervals (score)",
            100 * r->level);
    if (r->simultaneous)
        fputs(", all at once\n", to);
    else if (r->got->level == r->level)
        putc('\n', to);
    else
        fprintf(to,
                ",\nadjusted for selection: %" PRIu64 " of %" PRIu64
                " candidates %s made at %.8g %%\n",
                r->got->found, r->got->candidates,
                r->got->found == 1 ? "is shown, so its interval is"
                                   : "are shown, so each is",
                100 * r->got->level);
}

static void show_found_count(FILE *to, const struct discover_found *r)
{
    if (r->got->found == 0) {
        fprintf(to,
                "Nothing found: none of %" PRIu64
                " candidates is significant.\n",
                r->got->candidates);
        return;
    }
    fprintf(to, "%" PRIu64 " %s found, ", r->got->found, show_found_noun(r));
    show_found_which(to, r);
    show_found_intervals(to, r);
}

static void show_found_head(FILE *to, const struct discover_found *r,
                            double reach)
{
    const hsy_scheme_info *info = r->tally->info;

    fprintf(to, "%s, epsilon %.9g (exactly %.16g), %" PRIu64 " reports",
            info->mechanism, info->epsilon, info->epsilon_exact,
            hsy_tally_reports(r->tally->tally));
    if (r->got->number == 0)
        fprintf(to, " in %zu %s%s\n", analysis_groups(r->got),
                r->got->offsets != 0 ? "offset" : "group",
                analysis_groups(r->got) == 1 ? "" : "s");
    else
        fprintf(to,
                "\nstage %" PRIu32 " of %" PRIu32 ": the first %" PRIu64
                " of %" PRIu64 " bits, by %s\n",
                r->got->number, hsy_stage_count(r->tally->scheme),
                info->param[HSY_PARAM_PREFIX_BITS], info->param[HSY_PARAM_BITS],
                r->got->stage[0].oracle);
    show_found_count(to, r);
    if (reach < 1)
        fprintf(to,
                "A string that %.3g %% of people hold survives each stage with "
                "probability %.14g %%;\nrarer ones are often missed.\n\n",
                100 * reach, 100 * (1 - r->miss));
    else
        fprintf(to, "%s\n",
                "Too few reports to find any string reliably: 'discover plan' "
                "computes the\nnumber needed.\n");
}

/* Fields of json that all rows of csv have as columns. */
static const char *const show_said[] = {"level", "target", "reports", NULL};

void discover_print(FILE *to, enum table_format format,
                    const struct discover_found *r)
{
    const hsy_scheme_info *info = r->tally->info;
    const double reach = analysis_reach(r->got, r->tally, r->miss);
    const struct show_found s = {r, r->all_stages ? 0 : FOUND_VALUE};
    struct table table = {show_found_columns + s.first, FOUND_COLUMNS - s.first,
                          r->got->count + 1, show_found_cell, &s};
    char alphabet[HSY_ALPHABET_TEXT];
    const struct table_field fields[] = {
        {"mechanism", cell_text(info->mechanism)},
        {"oracle", cell_text(info->oracle)},
        {"alphabet", discover_alphabet(alphabet, info)},
        {"epsilon", cell_number(info->epsilon)},
        {"epsilon_exact", cell_number(info->epsilon_exact)},
        {"reports", cell_count(hsy_tally_reports(r->tally->tally))},
        {"groups", cell_count(analysis_groups(r->got))},
        {"level", cell_number(r->level)},
        {"interval", cell_text("score")},
        {"simultaneous", cell_bool(r->simultaneous)},
        {"target", cell_text("people")},
        {"significant", cell_bool(r->got->significant)},
        {"selected", cell_count(r->got->found)},
        {"of", cell_count(r->got->candidates)},
        {"level_selected", cell_number(r->got->level)},
        {"unexplained", cell_estimate(&r->got->rest)},
        {"found", cell_count(r->got->found)},
        {"candidates", cell_count(r->got->candidates)},
        {"detectable", cell_number(reach)},
        {"stage", cell_count(r->got->number)}, /* from here on in batches */
        {"stages", cell_count(hsy_stage_count(r->tally->scheme))},
        {"bits", cell_count(r->got->stage[0].bits)},
    };
    const size_t nfields =
        sizeof fields / sizeof fields[0] - (r->got->number == 0 ? 3 : 0);

    if (format == TABLE_ALIGNED)
        show_found_head(to, r, reach);
    if (format == TABLE_JSON) {
        table.nrows--; /* the rest is a member of its own */
        table.ncolumns--;
    }
    table_print_said(to, format, &table, fields, nfields, "strings", show_said);
}
