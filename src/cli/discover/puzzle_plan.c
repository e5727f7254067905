/* puzzle_plan.c - hearsay discover and the fragment puzzle: what it
 * refuses, and how many people it takes. */
#include "cli/discover/internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a search refuses, in the words of the options. */
int discover_puzzle_refused(const struct discover_options *o,
                            const hsy_error *err)
{
    const uint64_t limit = o->search.max_candidates != 0
                               ? o->search.max_candidates
                               : HSY_SEARCH_CANDIDATES;

    if (strcmp(err->field, "pairs") == 0)
        return cli_fail("an offset has %" PRIu64 " pairs of a puzzle piece and "
                        "a fragment, more than the limit of %" PRIu64
                        "; raise it with --max-candidates (at most 16777216)",
                        err->limit, limit);
    if (strcmp(err->field, "max-candidates") == 0)
        return cli_fail("%" PRIu64 " words could be joined, more than the "
                        "limit of %" PRIu64 "; raise it with --max-candidates "
                        "(at most 16777216), or lower --threshold or --alpha",
                        err->limit, limit);
    return cli_fail_error(NULL, err);
}

static hsy_puzzle puzzle_wanted(const struct discover_options *o)
{
    return (hsy_puzzle){.size = sizeof(hsy_puzzle),
                        .top = o->search.top,
                        .threshold = o->threshold,
                        .all = o->all,
                        .alpha = o->search.alpha,
                        .max_candidates = o->search.max_candidates};
}

/* ---- Planning ------------------------------------------------------------ */

static const struct cli_column puzzle_columns[] = {
    {"part", NULL},
    {"bits", NULL},
    {"oracle", NULL},
    {"epsilon", NULL},
    {"candidates", NULL},
    {"variance", "n Var"},
    {"users", "people needed"},
};

struct puzzle_part {
    const char *name;
    const hsy_stage *stage;
    double epsilon;
    double users; /* of all who answer */
};

static void puzzle_cell(const void *ctx, size_t row, size_t column,
                        struct cli_cell *out)
{
    const struct puzzle_part *part = (const struct puzzle_part *)ctx + row;

    switch (column) {
    case 0:
        *out = cli_text(part->name);
        break;
    case 3:
        *out = cli_number(part->epsilon);
        snprintf(out->shown, sizeof out->shown, "%.9g", part->epsilon);
        break;
    case 6:
        *out = cli_number(part->users);
        snprintf(out->shown, sizeof out->shown, "%.0f", part->users);
        break;
    default: /* as of a stage, but for the epsilon between */
        discover_stage_cell(part->stage, row, column < 3 ? column : column - 1,
                            out);
    }
}

static struct puzzle_part puzzle_part(const struct discover_options *o,
                                      const hsy_scheme *s, const char *name,
                                      size_t i, const hsy_stage *stage,
                                      double groups)
{
    hsy_scheme_info info;

    hsy_scheme_describe(hsy_scheme_part(s, i), &info);
    return (struct puzzle_part){
        name, stage, info.epsilon,
        groups * hsy_stage_users(stage, o->frequency, o->miss)};
}

static void puzzle_show_plan(const struct discover_options *o,
                             const hsy_scheme_info *info, size_t offsets,
                             const struct puzzle_part parts[2])
{
    const double most = fmax(parts[0].users, parts[1].users);
    const struct cli_table table = {
        puzzle_columns, sizeof puzzle_columns / sizeof puzzle_columns[0], 2,
        puzzle_cell, parts};
    const struct cli_field fields[] = {
        {"mechanism", cli_text(info->mechanism)},
        {"epsilon", cli_number(info->epsilon)},
        {"epsilon_exact", cli_number(info->epsilon_exact)},
        {"frequency", cli_number(o->frequency)},
        {"miss", cli_number(o->miss)},
        {"groups", cli_count(offsets)},
        {"users", cli_number(most)},
    };

    if (o->format == CLI_TABLE)
        printf("%s, epsilon %.9g: a word that %.4g %% of people hold passes "
               "each of %zu offset%s, and then\nas a word, with chance %.14g "
               "%% if %.0f people answer: each about one offset and the\n"
               "word. Collisions of the sketch come on top: --set hashes and "
               "width.\n\n",
               info->mechanism, info->epsilon, 100 * o->frequency, offsets,
               offsets == 1 ? "" : "s", 100 * (1 - o->miss), most);
    cli_print(o->format, &table, fields, sizeof fields / sizeof fields[0],
              "parts");
}

int discover_puzzle_plan(const struct discover_options *o, const hsy_scheme *s)
{
    const hsy_puzzle how = puzzle_wanted(o);
    hsy_puzzle_plan plan;
    hsy_error err = {0};
    hsy_scheme_info info;
    struct puzzle_part parts[2];

    if (hsy_puzzle_plan_make(s, &how, &plan, &err) != HSY_OK)
        return discover_puzzle_refused(o, &err);
    hsy_scheme_describe(s, &info);
    parts[0] =
        puzzle_part(o, s, "fragment", 0, &plan.offset, (double)plan.fragments);
    parts[1] = puzzle_part(o, s, "word", plan.fragments, &plan.word, 1);
    puzzle_show_plan(o, &info, plan.fragments, parts);
    return cli_finish();
}
