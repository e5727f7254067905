/* survivors.c - a tally of one stage printed, and the plan of all. */
#include "cli/discover/batches.h"

#include "host/base/hex.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One stage ----------------------------------------------------------- */

int batches_survivors(const hsy_search *search, const struct gather *g,
                      hsy_stage *stage, hsy_candidate **found, size_t *count)
{
    const struct shares_tally t = gathered(g);
    hsy_error err = {0};
    hsy_status st = shares_survivors(stage, found, count, &t, search, &err);

    if (st == HSY_OK)
        return 0;
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_E_RANGE && err.field != NULL
               ? discover_refused(search, &err)
               : cli_fail_error(g->first, &err);
}

/* ---- The plan ------------------------------------------------------------ */

/* Any `count` prefixes of so many bits, as labels: those that end in the
 * smallest numbers. The caller frees them; NULL: no memory. */
static uint8_t *stages_any(uint64_t length, uint64_t count)
{
    const size_t digits = (size_t)((length + 3) / 4), each = 4 + digits;
    uint8_t *labels = malloc(count * each + 1);

    for (uint64_t k = 0; labels != NULL && k < count; k++) {
        uint8_t *to = labels + k * each;
        uint64_t left = k << (4 * digits - length);

        memset(to, '0', each);
        to[0] = (uint8_t)digits;
        to[1] = to[2] = to[3] = 0;
        for (size_t i = digits; left != 0; left >>= 4)
            to[4 + --i] = (uint8_t)hex_digit((unsigned)left & 15);
    }
    return labels;
}

/* One row of a plan, for as many survivors as there may be. */
static int stages_row(hsy_stage *row, double *part, hsy_spec spec, uint32_t i,
                      uint64_t survivors, const hsy_search *search)
{
    const uint64_t length = (i - 1) * spec.param[HSY_PARAM_STEP];
    uint8_t *labels = i == 1 ? NULL : stages_any(length, survivors);
    hsy_scheme *s = NULL;
    hsy_error err = {0};
    int failed;

    if (i > 1) {
        if (labels == NULL)
            return cli_fail_nomem();
        spec.labels = labels;
        spec.d = (uint32_t)survivors;
        spec.labels_len = survivors * (4 + (length + 3) / 4);
    }
    spec.param[HSY_PARAM_W] = i * spec.param[HSY_PARAM_STEP];
    failed = cli_scheme_new(&s, &spec);
    if (!failed && hsy_stage_plan(s, search, row, &err) != HSY_OK)
        failed = discover_refused(search, &err);
    if (!failed)
        *part = (double)hsy_stage_weight(s, i) / (double)hsy_stage_weight(s, 0);
    free(s);
    free(labels);
    return failed;
}

struct stages_plan {
    const struct batches_options *options;
    struct discover_stages stages;
    double part[HSY_STAGES_MAX]; /* of the people */
    double users;                /* in all */
};

static double stages_users(const struct stages_plan *p, size_t i)
{
    const struct discover_options *o = &p->options->discover;

    return hsy_stage_users(&p->stages.stage[i], o->frequency, o->miss);
}

static const struct cli_column stages_columns[] = {
    {"stage", NULL},
    {"bits", NULL},
    {"oracle", NULL},
    {"candidates", NULL},
    {"variance", "n Var"},
    {"part", "of people"},
    {"users", "people needed"},
};

static void stages_cell(const void *ctx, size_t row, size_t column,
                        struct cli_cell *out)
{
    const struct stages_plan *p = ctx;
    const double users = stages_users(p, row);

    if (column < DISCOVER_STAGE_CELLS) {
        discover_stage_cell(&p->stages.stage[row], row, column, out);
    } else if (column == DISCOVER_STAGE_CELLS) {
        *out = cli_number(p->part[row]);
        snprintf(out->shown, sizeof out->shown, "%.1f %%", 100 * p->part[row]);
    } else {
        *out = cli_number(users);
        snprintf(out->shown, sizeof out->shown, "%.0f", users);
    }
}

static void stages_say(const struct stages_plan *p, double epsilon)
{
    const struct discover_options *o = &p->options->discover;
    const size_t n = p->stages.count;

    printf("in batches, epsilon %.9g: a string that %.4g %% of people hold "
           "passes each of\n%zu stages with chance %.14g %% if %.0f people "
           "answer, each at one stage.\n\n",
           epsilon, 100 * o->frequency, n, 100 * (1 - o->miss), p->users);
    printf("A person answers once and spends epsilon %.9g. The same people at "
           "every stage\nwould spend %.9g; a stage that is repeated with the "
           "same people costs them\nepsilon %.9g each time. Devices answer "
           "one stage in their lives.\n\n",
           epsilon, epsilon * (double)n, epsilon);
}

static void stages_print(const struct stages_plan *p, double epsilon)
{
    const struct discover_options *o = &p->options->discover;
    const struct cli_table table = {
        stages_columns, sizeof stages_columns / sizeof stages_columns[0],
        p->stages.count, stages_cell, p};
    const struct cli_field fields[] = {
        {"mechanism", cli_text("stage")},
        {"epsilon", cli_number(epsilon)},
        {"frequency", cli_number(o->frequency)},
        {"miss", cli_number(o->miss)},
        {"batches", cli_count(p->stages.count)},
        {"users", cli_number(p->users)},
        {"epsilon_same_people", cli_number(epsilon * (double)p->stages.count)},
    };

    if (o->format == CLI_TABLE)
        stages_say(p, epsilon);
    cli_print(o->format, &table, fields, sizeof fields / sizeof fields[0],
              "stages");
}

int batches_plan(const struct batches_options *o)
{
    struct stages_plan p = {.options = o};
    hsy_spec spec;
    uint64_t survivors = 1;
    int failed = batches_spec(o, &spec);

    if (failed)
        return failed;
    p.stages.count = spec.param[HSY_PARAM_BITS] / spec.param[HSY_PARAM_STEP];
    for (uint32_t i = 1; i <= p.stages.count && !failed; i++) {
        failed = stages_row(&p.stages.stage[i - 1], &p.part[i - 1], spec, i,
                            survivors, &o->discover.search);
        survivors = p.stages.stage[i - 1].keep;
    }
    if (failed)
        return failed;
    for (size_t i = 0; i < p.stages.count; i++)
        p.users = fmax(p.users, stages_users(&p, i) / p.part[i]);
    p.users = ceil(p.users);
    stages_print(&p, (double)spec.nano_epsilon / HSY_NANO);
    return cli_finish();
}
