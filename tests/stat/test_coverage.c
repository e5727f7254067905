/*
 * test_coverage.c - every interval that any surface prints holds the truth as
 * often as it says, and is no wider than it need be (docs/accuracy.md).
 *
 * usage: test_coverage [--table] [--one-in N] [KIND...]
 *
 * A KIND is a name of the table below or the beginning of one. HSY_TEST_LONG=1
 * takes full sizes: 2,000 runs for 200 and for 10^4 people, 400 for 10^5; else
 * those of ./check. --one-in N takes one in N of these runs. --table prints the
 * rows of docs/accuracy.md at the end.
 */
#include "coverage.h"
#include "coverage_bins.h"
#include "coverage_found.h"
#include "coverage_permanent.h"
#include "coverage_points.h"
#include "coverage_survey.h"
#include "coverage_tuple.h"

/* ---- The kinds ----------------------------------------------------------- */

#define POINT "hsy_estimate_point"
#define DIFFERENCE "hsy_estimate_difference"
#define PAIRED "hsy_estimate_paired"
#define RANGE "hsy_range"
#define SEARCH "analysis_search"
#define DECODE "hsy_rappor_decode"
#define REST "hsy_estimate_rest"
#define SURVEY "hsy_survey_estimate"
#define PAIR "hsy_survey_pair_estimate"
#define STATES "hsy_survey_states"
#define ASSOCIATE "hsy_rappor_associate"
#define QUANTILE "hsy_quantile"
#define DENSITY "hsy_density_estimate"

static const struct coverage_kind kinds[] = {
    {"share/rr", POINT, coverage_points, "rr", HSY_KIND_YES_NO, 0, 0, 0},
    {"share/grr", POINT, coverage_points, "grr", HSY_KIND_VALUES, 0, 0, 0},
    {"share/ss", POINT, coverage_points, "ss", HSY_KIND_VALUES, 0, 0, 0},
    {"share/pgr", POINT, coverage_points, "pgr", HSY_KIND_VALUES, 0, 0, 0},
    {"share/hpg", POINT, coverage_points, "hpg", HSY_KIND_VALUES, 0, 0, 0},
    {"share/hr", POINT, coverage_points, "hr", HSY_KIND_VALUES, 0, 0, 0},
    {"share/sue", POINT, coverage_points, "sue", HSY_KIND_VALUES, 0, 0, 0},
    {"share/oue", POINT, coverage_points, "oue", HSY_KIND_VALUES, 0, 0, 0},
    {"share/olh", POINT, coverage_points, "olh", HSY_KIND_VALUES, 0, 4, 0},
    {"share/blh", POINT, coverage_points, "blh", HSY_KIND_VALUES, 0, 4, 0},
    {"share/dbitflip", POINT, coverage_points, "dbitflip", HSY_KIND_VALUES, 0,
     0, 0},
    {"share/cms", POINT, coverage_points, "cms", HSY_KIND_VALUES, 0, 4, 0},
    {"share/hcms", POINT, coverage_points, "hcms", HSY_KIND_VALUES, 0, 4, 0},
    {"share/hh", POINT, coverage_points, "hh", HSY_KIND_BINS, 0, 0, 0},
    {"share/haar", POINT, coverage_points, "haar", HSY_KIND_BINS, 0, 0, 0},
    {"share/matrix", POINT, coverage_points, "matrix", HSY_KIND_VALUES, 0, 0,
     0},
    {"share/central", POINT, coverage_points, "central", HSY_KIND_VALUES, 0, 0,
     0},
    {"share/central-add-remove", POINT, coverage_points, "central-add-remove",
     HSY_KIND_VALUES, 0, 0, 0},
    {"mean/onebit", POINT, coverage_points, "onebit", HSY_KIND_NUMBER, 0, 0, 0},
    {"mean/dwm", POINT, coverage_points, "dwm", HSY_KIND_NUMBER, 0, 0, 0},
    {"mean/pm", POINT, coverage_points, "pm", HSY_KIND_NUMBER, 0, 0, 0},
    {"mean/hm", POINT, coverage_points, "hm", HSY_KIND_NUMBER, 0, 0, 0},
    {"mean/laplace", POINT, coverage_points, "laplace", HSY_KIND_NUMBER, 0, 0,
     0},
    {"mean/central", POINT, coverage_points, "central", HSY_KIND_NUMBER, 0, 0,
     0},
    {"mean/central-add-remove", POINT, coverage_points, "central-add-remove",
     HSY_KIND_NUMBER, 0, 0, 0},
    {"interval/wald", POINT, coverage_points, "grr", HSY_KIND_VALUES, HSY_WALD,
     0, 0},
    {"interval/wilson", POINT, coverage_points, "grr", HSY_KIND_VALUES,
     HSY_WILSON, 0, 0},
    {"interval/score", POINT, coverage_points, "grr", HSY_KIND_VALUES,
     HSY_SCORE, 0, 0},
    {"interval/exact", POINT, coverage_points, "grr", HSY_KIND_VALUES,
     HSY_EXACT, 0, 0},
    {"interval/likelihood", POINT, coverage_points, "grr", HSY_KIND_VALUES,
     HSY_LIKELIHOOD, 0, 0},
    {"interval/hoeffding", POINT, coverage_points, "grr", HSY_KIND_VALUES,
     HSY_HOEFFDING, 0, 0},
    {"simultaneous/grr", POINT, coverage_together, "grr", HSY_KIND_VALUES, 0, 0,
     0},
    {"simultaneous/pgr", POINT, coverage_together, "pgr", HSY_KIND_VALUES, 0, 0,
     0},
    {"simultaneous/hr", POINT, coverage_together, "hr", HSY_KIND_VALUES, 0, 0,
     0},
    {"simultaneous/oue", POINT, coverage_together, "oue", HSY_KIND_VALUES, 0, 0,
     0},
    {"simultaneous/hh", POINT, coverage_together, "hh", HSY_KIND_BINS, 0, 0, 0},
    {"difference/rr", DIFFERENCE, coverage_differences, "rr", HSY_KIND_YES_NO,
     0, 0, 0},
    {"difference/grr", DIFFERENCE, coverage_differences, "grr", HSY_KIND_VALUES,
     0, 0, 0},
    {"difference/oue", DIFFERENCE, coverage_differences, "oue", HSY_KIND_VALUES,
     0, 0, 0},
    {"difference/dwm", DIFFERENCE, coverage_differences, "dwm", HSY_KIND_NUMBER,
     0, 0, 0},
    {"range/hh", RANGE, coverage_bins, "hh", 0, BINS_OF_RANGES, 0, 0},
    {"range/haar", RANGE, coverage_bins, "haar", 0, BINS_OF_RANGES, 0, 0},
    {"range/grr", RANGE, coverage_bins, "grr", 0, BINS_OF_RANGES, 0, 0},
    {"range/oue", RANGE, coverage_bins, "oue", 0, BINS_OF_RANGES, 0, 0},
    {"quantile/hh", QUANTILE, coverage_bins, "hh", 0, BINS_OF_QUANTILES, 0, 0},
    {"quantile/haar", QUANTILE, coverage_bins, "haar", 0, BINS_OF_QUANTILES, 0,
     0},
    {"quantile/grr", QUANTILE, coverage_bins, "grr", 0, BINS_OF_QUANTILES, 0,
     0},
    {"quantile/oue", QUANTILE, coverage_bins, "oue", 0, BINS_OF_QUANTILES, 0,
     0},
    {"density/sw/16/beta", DENSITY, coverage_density, "sw", 16, BINS_BETA, 4,
     0},
    {"density/sw/16/heaped", DENSITY, coverage_density, "sw", 16, BINS_HEAPED,
     4, 0},
    {"density/sw/64/beta", DENSITY, coverage_density, "sw", 64, BINS_BETA, 4,
     0},
    {"density/sw/64/heaped", DENSITY, coverage_density, "sw", 64, BINS_HEAPED,
     4, 0},
    {"density/grr/16", DENSITY, coverage_density, "grr", 16, BINS_BETA, 4, 0},
    {"found/pem", SEARCH, coverage_found, "pem", 12, FOUND_SIGNIFICANT, 4, 0},
    {"found/pem/top", SEARCH, coverage_found, "pem", 12, FOUND_TOP, 4, 0},
    {"found/stage", SEARCH, coverage_found, "stage", 8, FOUND_SIGNIFICANT, 5,
     0},
    {"found/sfp", SEARCH, coverage_found, "sfp", 16, FOUND_SIGNIFICANT, 10, 0},
    {"rest/pem", REST, coverage_found, "pem", 12, FOUND_REST, 4, 0},
    {"rest/stage", REST, coverage_found, "stage", 8, FOUND_REST, 0, 0},
    {"rest/rappor", DECODE, coverage_rappor, "rappor", 0, FOUND_REST, 20, 0},
    {"detected/rappor", DECODE, coverage_rappor, "rappor", 0, 0, 10, 0},
    {"top/grr", POINT, coverage_top, "grr", HSY_KIND_VALUES, 0, 0, 0},
    {"top/oue", POINT, coverage_top, "oue", HSY_KIND_VALUES, 0, 0, 0},
    {"permanent/rr/2-1/stay", POINT, coverage_permanent, "rr", 0,
     PERMANENT_STAY, 0, 1},
    {"permanent/rr/2-1/leave", POINT, coverage_permanent, "rr", 0,
     PERMANENT_LEAVE, 0, 1},
    {"permanent/rr/2-1/join", POINT, coverage_permanent, "rr", 0,
     PERMANENT_JOIN, 0, 1},
    {"permanent/rr/1-1/stay", POINT, coverage_permanent, "rr", 1,
     PERMANENT_STAY, 0, 1},
    {"permanent/rr/1-1/leave", POINT, coverage_permanent, "rr", 1,
     PERMANENT_LEAVE, 0, 1},
    {"permanent/rr/1-1/join", POINT, coverage_permanent, "rr", 1,
     PERMANENT_JOIN, 0, 1},
    {"permanent/grr/4-2/stay", POINT, coverage_permanent, "grr", 2,
     PERMANENT_STAY, 4, 1},
    {"permanent/grr/4-2/leave", POINT, coverage_permanent, "grr", 2,
     PERMANENT_LEAVE, 4, 1},
    {"permanent/grr/4-2/join", POINT, coverage_permanent, "grr", 2,
     PERMANENT_JOIN, 4, 1},
    {"permanent/oue/2-1/stay", POINT, coverage_permanent, "oue", 3,
     PERMANENT_STAY, 4, 1},
    {"permanent/oue/2-1/leave", POINT, coverage_permanent, "oue", 3,
     PERMANENT_LEAVE, 4, 1},
    {"permanent/oue/2-1/join", POINT, coverage_permanent, "oue", 3,
     PERMANENT_JOIN, 4, 1},
    {"permanent/olh/2-1/stay", POINT, coverage_permanent, "olh", 4,
     PERMANENT_STAY, 4, 1},
    {"permanent/olh/2-1/leave", POINT, coverage_permanent, "olh", 4,
     PERMANENT_LEAVE, 4, 1},
    {"permanent/olh/2-1/join", POINT, coverage_permanent, "olh", 4,
     PERMANENT_JOIN, 4, 1},
    {"permanent/dbitflip/2-1/stay", POINT, coverage_permanent, "dbitflip", 5,
     PERMANENT_STAY, 4, 1},
    {"permanent/dbitflip/2-1/leave", POINT, coverage_permanent, "dbitflip", 5,
     PERMANENT_LEAVE, 4, 1},
    {"permanent/dbitflip/2-1/join", POINT, coverage_permanent, "dbitflip", 5,
     PERMANENT_JOIN, 4, 1},
    {"permanent/onebit/2-1/stay", POINT, coverage_permanent, "onebit", 6,
     PERMANENT_STAY, 4, 1},
    {"permanent/onebit/2-1/leave", POINT, coverage_permanent, "onebit", 6,
     PERMANENT_LEAVE, 4, 1},
    {"permanent/onebit/2-1/join", POINT, coverage_permanent, "onebit", 6,
     PERMANENT_JOIN, 4, 1},
    {"permanent/rappor/stay", POINT, coverage_permanent, "rappor", 7,
     PERMANENT_STAY, 4, 1},
    {"permanent/rappor/leave", POINT, coverage_permanent, "rappor", 7,
     PERMANENT_LEAVE, 4, 1},
    {"permanent/rappor/join", POINT, coverage_permanent, "rappor", 7,
     PERMANENT_JOIN, 4, 1},
    {"permanent/rr/2-1/slots", POINT, coverage_permanent, "rr", 0,
     PERMANENT_SLOTS, 0, 1},
    {"permanent/rr/2-1/unknown", POINT, coverage_permanent, "rr", 0,
     PERMANENT_UNKNOWN, 0, 1},
    {"survey/wald", SURVEY, coverage_survey, NULL, 0, SURVEY_WALD, 0, 0},
    {"survey/wilson", SURVEY, coverage_survey, NULL, 0, SURVEY_WILSON, 0, 0},
    {"survey/likelihood", SURVEY, coverage_survey, NULL, 0, SURVEY_LIKELIHOOD,
     0, 0},
    {"survey/exact", SURVEY, coverage_survey, NULL, 0, SURVEY_EXACT, 0, 0},
    {"survey/pair/wald", PAIR, coverage_survey_pair, NULL, 0, SURVEY_WALD, 4,
     1},
    {"survey/pair/wilson", PAIR, coverage_survey_pair, NULL, 0, SURVEY_WILSON,
     4, 1},
    {"survey/pair/likelihood", PAIR, coverage_survey_pair, NULL, 0,
     SURVEY_LIKELIHOOD, 4, 1},
    {"survey/pair/exact", PAIR, coverage_survey_pair, NULL, 0, SURVEY_EXACT, 4,
     1},
    {"survey/matrix", STATES, coverage_survey_states, NULL, 0, 0, 0, 0},
    {"attribute/smp", POINT, coverage_tuple, "smp", 0, TUPLE_ATTRIBUTES, 0, 0},
    {"attribute/joint", POINT, coverage_tuple, "joint", 0, TUPLE_ATTRIBUTES, 0,
     0},
    {"combination/joint", POINT, coverage_tuple, "joint", 0, TUPLE_COMBINATIONS,
     0, 0},
    {"associate/rappor", ASSOCIATE, coverage_associate, "rappor", 0, 0, 10, 0},
    {"difference/paired/rr/2-1/stay", PAIRED, coverage_paired, "rr", 0,
     PERMANENT_STAY, 0, 1},
    {"difference/paired/rr/2-1/leave", PAIRED, coverage_paired, "rr", 0,
     PERMANENT_LEAVE, 0, 1},
    {"difference/paired/rr/2-1/unknown", PAIRED, coverage_paired, "rr", 0,
     PERMANENT_UNKNOWN, 0, 1},
    {"difference/paired/grr/4-2/stay", PAIRED, coverage_paired, "grr", 2,
     PERMANENT_STAY, 4, 1},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

/* ---- What is not judged, and why ----------------------------------------- */

static const struct coverage_exception exceptions[] = {
    {"simultaneous/", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "all values together: the width follows how many there are"},
    {"mean/onebit", COVERAGE_WIDTH, COVERAGE_OF_PEOPLE, 0, 0,
     "one bit does not tell people at the ends, whose answers hardly vary, "
     "from "
     "people in the middle"},
    {"permanent/onebit", COVERAGE_WIDTH, COVERAGE_OF_PEOPLE, 0, 0,
     "as mean/onebit"},
    {"permanent/rr/2-1/unknown", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "a bound for any attendance: rounds cannot be told apart"},
    {"difference/paired/rr/2-1/unknown", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "how many devices both days share is not known: none is taken for shared"},
    {"difference/paired/rr/2-1/leave", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "a bound: the fewest devices that both weeks can share"},
    {"difference/paired/", COVERAGE_WIDTH, COVERAGE_OF_POPULATION, 0, 0,
     "people who come on both days are counted as two samples"},
    {"share/central", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "Laplace noise of whole people: heavier tails than normal ones, and "
     "intervals end at steps"},
    {"share/central-add-remove", COVERAGE_REFUSED, COVERAGE_OF_BOTH, 200, 0,
     "the noise hides how many people there are: refused"},
    {"mean/central", COVERAGE_WIDTH, COVERAGE_OF_PEOPLE, 0, 0,
     "Laplace noise: heavier tails than normal ones"},
    {"mean/central", COVERAGE_WIDTH, COVERAGE_OF_POPULATION, 0, 0,
     "a sum does not tell how spread its numbers are: the interval allows for "
     "all at the ends"},
    {"mean/central-add-remove", COVERAGE_WIDTH | COVERAGE_REFUSED,
     COVERAGE_OF_BOTH, 200, 0, "the noise hides how many people there are"},
    {"interval/wilson", COVERAGE_WIDTH, COVERAGE_OF_PEOPLE, 0, 0,
     "asked for by name: an interval of the population"},
    {"interval/exact", COVERAGE_WIDTH, COVERAGE_OF_PEOPLE, 0, 0,
     "as interval/wilson"},
    {"interval/likelihood", COVERAGE_WIDTH, COVERAGE_OF_PEOPLE, 0, 0,
     "as interval/wilson"},
    {"interval/hoeffding", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "asked for by name: holds whatever the law, without an approximation"},
    {"survey/pair/exact", COVERAGE_WIDTH, COVERAGE_OF_POPULATION, 0, 0,
     "two samples: holds for every rate of the other question"},
    {"quantile/", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 10000, 0,
     "where little is known the ends are those of the range, or of a bin that "
     "nobody is in: no normal error has such ends"},
    {"quantile/oue", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 100000, 0.2,
     "as quantile/: 10^5 people at 0.2 tell less than 10^4 at 1"},
    {"density/", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "holds for every shape, and EM, which ends early, varies less than any "
     "such interval can"},
    {"rest/", COVERAGE_WIDTH, COVERAGE_OF_BOTH, 0, 0,
     "reaches up by what selection can have added to the shown"},
    {"associate/", COVERAGE_WIDTH | COVERAGE_REFUSED, COVERAGE_OF_BOTH, 0, 0,
     "the most likely table ends at 0, where it varies less than its "
     "information says; refused where the likelihood is flat"},
    {NULL, 0, 0, 0, 0, NULL}};

/* ---- Cells --------------------------------------------------------------- */

struct sizes {
    uint64_t n, runs, quick;
};

static const struct sizes sizes[3] = {
    {200, 2000, 120}, {10000, 2000, 30}, {100000, 400, 0}};
static const double epsilons[3] = {1, 4, 0.2};

static struct coverage_summary summaries[KINDS];

/* A number of its own for each kind and cell, whichever others there are. */
static uint64_t cell_lane(const char *name, size_t e, size_t size)
{
    uint64_t h = 0xcbf29ce484222325; /* FNV-1a */

    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3;
    return (h << 8 | e << 4 | size) << 24;
}

static uint64_t cell_runs(const struct coverage_kind *k, size_t size,
                          uint64_t one_in)
{
    const uint64_t slow = k->slow == 0 || stat_long() ? 1 : k->slow;
    const uint64_t all = stat_long() ? sizes[size].runs : sizes[size].quick;

    return all / (slow * one_in);
}

static void measure(size_t at, size_t e, size_t size, uint64_t one_in)
{
    const struct coverage_kind *k = &kinds[at];
    struct coverage_cell c = {.kind = k,
                              .exceptions = exceptions,
                              .summary = &summaries[at],
                              .epsilon = epsilons[e],
                              .n = sizes[size].n,
                              .runs = cell_runs(k, size, one_in),
                              .lane = cell_lane(k->name, e, size)};

    if (c.runs == 0)
        return;
    summaries[at].runs[size] = c.runs;
    k->measure(&c);
}

static void measure_kind(size_t at, uint64_t one_in)
{
    const size_t all = kinds[at].epsilons == 0 ? 3 : kinds[at].epsilons;

    for (size_t e = 0; e < all; e++)
        for (size_t size = 0; size < 3; size++)
            measure(at, e, size, one_in);
    fflush(stdout);
}

/* ---- The table ----------------------------------------------------------- */

static void table_target(const struct coverage_figures *f)
{
    if (f->values == 0)
        printf(" |");
    else
        printf(" %.3f, %.3f |", f->lowest, f->sum / (double)f->values);
}

static void table_row(const struct coverage_kind *k,
                      const struct coverage_summary *s)
{
    const double widest = fmax(s->target[0].widest, s->target[1].widest);

    printf("| %s |", k->name);
    table_target(&s->target[HSY_PEOPLE]);
    table_target(&s->target[HSY_POPULATION]);
    if (widest > 0)
        printf(" %.2f |", widest);
    else
        printf(" |");
    printf(" %" PRIu64 ", %" PRIu64 ", %" PRIu64 " |%s\n", s->runs[0],
           s->runs[1], s->runs[2], s->failed != 0 ? " FAILED" : "");
}

static void table_exception(const struct coverage_exception *e)
{
    static const char *const targets[] = {"", "people", "population", "both"};

    printf("| %s%s%s | %s | %s |",
           e->waived & COVERAGE_HOLDS ? "coverage " : "",
           e->waived & COVERAGE_WIDTH ? "width " : "",
           e->waived & COVERAGE_REFUSED ? "refusal" : "", e->kinds,
           targets[e->targets]);
    if (e->most != 0)
        printf(" at most %" PRIu64, e->most);
    printf(" |");
    if (e->epsilon > 0)
        printf(" at most %g", e->epsilon);
    printf(" | %s |\n", e->reason);
}

static void table(void)
{
    puts("| kind | people: lowest, mean | population: lowest, mean | width | "
         "runs at 200, 10^4, 10^5 |\n|---|---|---|---|---|");
    for (size_t i = 0; i < KINDS; i++)
        if (summaries[i].target[0].values + summaries[i].target[1].values > 0)
            table_row(&kinds[i], &summaries[i]);
    puts("\n| not judged | kinds | target | people | epsilon | reason |\n"
         "|---|---|---|---|---|---|");
    for (const struct coverage_exception *e = exceptions; e->kinds != NULL; e++)
        table_exception(e);
}

/* ---- The command --------------------------------------------------------- */

struct asked {
    bool table;
    uint64_t one_in;
    size_t names;
    char *const *name;
};

static bool wanted(const struct asked *a, const char *kind)
{
    for (size_t i = 0; i < a->names; i++)
        if (strncmp(kind, a->name[i], strlen(a->name[i])) == 0)
            return true;
    return a->names == 0;
}

/* What the tests of 2,000 runs would notice. */
static void controls(void)
{
    const struct coverage_value low = {.runs = 2000, .held = 1840};
    const struct coverage_value high = {.runs = 2000, .held = 1890};

    ok(!coverage_holds(&low) && coverage_holds(&high),
       "control: 0.920 of 2,000 runs is too few, 0.945 may be chance");
    ok(coverage_tail(0.08, 2000, 0.05) < COVERAGE_ALPHA &&
           coverage_tail(0.07, 2000, 0.05) > COVERAGE_ALPHA,
       "control: so is a share of 0.08 of the selected that miss, not 0.07");
}

int main(int argc, char **argv)
{
    struct asked a = {false, 1, 0, NULL};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--one-in") == 0 && i + 1 < argc)
            a.one_in = strtoull(argv[++i], NULL, 10);
        a.table = a.table || strcmp(argv[i], "--table") == 0;
    }
    a.names = (size_t)(argc - i);
    a.name = argv + i;
    controls();
    for (size_t k = 0; k < KINDS && a.one_in > 0; k++)
        if (wanted(&a, kinds[k].name))
            measure_kind(k, a.one_in);
    ok(tap_count > 2, "something was measured");
    if (a.table)
        table();
    return tap_done();
}
