/* bench.c - hearsay-bench: speed, next to what this machine allows. */
#define _GNU_SOURCE /* getopt_long */
#include "bench/bench.h"
#include "host/base/table.h"

#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char bench_help[] =
    "usage: hearsay-bench [--quick] [--kernel GLOB] [--format F]\n"
    "\n"
    "Measure how fast this machine reads memory, draws random bytes, makes,\n"
    "counts, decodes, seals and opens reports, on one core. docs/bench.md\n"
    "explains the rows and columns.\n"
    "\n"
    "  --quick                  less than a minute, rougher figures\n"
    "  --kernel GLOB            only rows of this name, '*' for any text\n"
    "  --format table|csv|json  how to print (default table)";

struct bench_row {
    const struct bench_case *what;
    hsy_cpu level;
    char name[48], limit[48];
    double rate;
    double times_plain, of_limit; /* 0: does not apply */
};

/* What was asked for, the rates so far, and the rows that come of it. */
struct bench_report {
    struct bench bench;
    const char *glob; /* NULL: all, slow ones unless quick */
    bool quick;
    enum table_format format;
    double rates[BENCH_CASES_MAX][BENCH_LEVELS]; /* 0: not measured yet */
    struct bench_row rows[BENCH_CASES_MAX * BENCH_LEVELS];
    size_t n;
};

/* ---- Measuring ----------------------------------------------------------- */

static void bench_announce(const char *name)
{
    if (isatty(STDERR_FILENO) == 1)
        fprintf(stderr, "\r\033[K%s", name);
}

/* "name", or "name@level" below the best. */
static void bench_row_name(char name[48], const struct bench_case *c,
                           hsy_cpu level)
{
    bool best = !c->levels || level == hsy_cpu_best();

    snprintf(name, 48, "%s%s%s", c->name, best ? "" : "@",
             best ? "" : hsy_cpu_name(level));
}

/* The rate of a case, measured now unless it is known; 0 after a message. */
static double bench_rate(struct bench_report *r, const struct bench_case *c,
                         hsy_cpu level)
{
    double *rate;
    char name[48];

    if (!c->levels)
        level = hsy_cpu_best();
    rate = &r->rates[c - bench_cases][level];
    if (*rate == 0) {
        bench_row_name(name, c, level);
        bench_announce(name);
        *rate = c->measure(&r->bench, c, level);
    }
    return *rate;
}

static const struct bench_case *bench_case_find(const char *name)
{
    size_t i = 0;

    while (strcmp(bench_cases[i].name, name) != 0)
        i++;
    return &bench_cases[i];
}

/* False after a message. */
static bool bench_row_measure(struct bench_report *r, struct bench_row *row)
{
    const struct bench_case *c = row->what, *limit;
    double other;

    row->rate = bench_rate(r, c, row->level);
    if (row->rate <= 0)
        return false;
    if (c->levels) {
        other = bench_rate(r, c, HSY_CPU_PLAIN);
        row->times_plain = other > 0 ? row->rate / other : 0;
        if (other <= 0)
            return false;
    }
    if (c->limit == NULL)
        return true;
    limit = bench_case_find(c->limit);
    bench_row_name(row->limit, limit, row->level);
    other = bench_rate(r, limit, row->level);
    row->of_limit = other > 0 ? row->rate * c->takes / other : 0;
    return other > 0;
}

/* Rows of a case, best first. */
static bool bench_case_rows(struct bench_report *r, const struct bench_case *c)
{
    int last = c->levels ? HSY_CPU_PLAIN : (int)hsy_cpu_best();

    if (c->slow && r->quick && r->glob == NULL)
        return true;
    for (int level = (int)hsy_cpu_best(); level >= last; level--) {
        struct bench_row *row = &r->rows[r->n];

        *row = (struct bench_row){.what = c, .level = (hsy_cpu)level};
        bench_row_name(row->name, c, row->level);
        if (r->glob != NULL && fnmatch(r->glob, row->name, 0) != 0)
            continue;
        if (!bench_row_measure(r, row))
            return false;
        r->n++;
    }
    return true;
}

/* ---- Printing ------------------------------------------------------------ */

enum bench_what {
    BENCH_NAME,
    BENCH_RATE,
    BENCH_TIMES_PLAIN,
    BENCH_OF_LIMIT,
    BENCH_LIMIT,
    BENCH_COLUMNS
};

/* A ratio with so many decimals, or nothing if it does not apply. */
static struct table_cell bench_ratio(double ratio, int decimals)
{
    struct table_cell cell = cell_number(ratio > 0 ? ratio : NAN);

    if (ratio > 0)
        snprintf(cell.shown, sizeof cell.shown, "%.*f", decimals, ratio);
    return cell;
}

static void bench_cell(const void *ctx, size_t i, size_t column,
                       struct table_cell *out)
{
    const struct bench_row *row = &((const struct bench_report *)ctx)->rows[i];

    switch ((enum bench_what)column) {
    case BENCH_NAME:
        *out = cell_text(row->name);
        break;
    case BENCH_RATE:
        *out = cell_number(row->rate);
        cell_rough(out, row->rate, row->what->unit);
        break;
    case BENCH_TIMES_PLAIN:
        *out = bench_ratio(row->times_plain, 1);
        break;
    case BENCH_OF_LIMIT:
        *out = bench_ratio(row->of_limit, 2);
        break;
    default:
        *out = cell_text(row->limit[0] != '\0' ? row->limit : NULL);
    }
}

static void bench_print(const struct bench_report *r)
{
    static const struct table_column columns[BENCH_COLUMNS] = {
        [BENCH_NAME] = {"kernel", NULL},
        [BENCH_RATE] = {"per_second", "per second"},
        [BENCH_TIMES_PLAIN] = {"times_plain", "times plain"},
        [BENCH_OF_LIMIT] = {"of_limit", "of limit"},
        [BENCH_LIMIT] = {"limit", NULL}};
    const struct table table = {columns, BENCH_COLUMNS, r->n, bench_cell, r};
    const struct table_field fields[] = {
        {"version", cell_text(HSY_VERSION)},
        {"cpu", cell_text(hsy_cpu_name(hsy_cpu_best()))}};

    table_print(stdout, r->format, &table, fields, 2, "kernels");
}

/* ---- The program --------------------------------------------------------- */

static const char *const bench_formats[] = {
    [TABLE_ALIGNED] = "table", [TABLE_CSV] = "csv", [TABLE_JSON] = "json"};

static bool bench_format(struct bench_report *r, const char *name)
{
    for (size_t i = 0; i < sizeof bench_formats / sizeof *bench_formats; i++) {
        if (strcmp(name, bench_formats[i]) == 0) {
            r->format = (enum table_format)i;
            return true;
        }
    }
    bench_fail("--format: table, csv or json");
    return false;
}

static void bench_quick(struct bench_report *r)
{
    r->quick = true;
    r->bench.seconds = 0.05;
    r->bench.lines = (size_t)1 << 20;
}

/* The exit code if that is all, else -1. getopt has said what it refused. */
static int bench_parse(struct bench_report *r, int argc, char **argv)
{
    static const struct option options[] = {
        {"quick", no_argument, NULL, 'q'},
        {"kernel", required_argument, NULL, 'k'},
        {"format", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};

    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (c == 'h')
            return puts(bench_help), bench_finish();
        if (c == 'q')
            bench_quick(r);
        else if (c == 'k')
            r->glob = optarg;
        else if (c != 'f' || !bench_format(r, optarg))
            return BENCH_USAGE;
    }
    if (optind == argc)
        return -1;
    bench_fail("hearsay-bench takes no files; --help has the options");
    return BENCH_USAGE;
}

static bool bench_measure(struct bench_report *r)
{
    bool good = true;

    for (size_t i = 0; i < bench_cases_count && good; i++)
        good = bench_case_rows(r, &bench_cases[i]);
    if (isatty(STDERR_FILENO) == 1)
        fputs("\r\033[K", stderr);
    bench_files_clear(&r->bench);
    bench_buffer_clear(&r->bench);
    return good;
}

int main(int argc, char **argv)
{
    struct bench_report r = {
        .bench = {.seconds = 0.5, .lines = (size_t)1 << 23}};
    int code = bench_parse(&r, argc, argv);

    if (code != -1)
        return code;
    if (!bench_measure(&r))
        return BENCH_FAILED;
    if (r.n == 0) {
        bench_fail("no kernel is called '%s'", r.glob);
        return BENCH_USAGE;
    }
    bench_print(&r);
    return bench_finish();
}
