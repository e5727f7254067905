/* test_grid.c - people of a file, and studies of many rows: what they hold, and
 * what is refused with which code. */
#define _POSIX_C_SOURCE 200809L
#include "sim/study/study.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* A pipe's end that reads these lines. */
static int given(const char *lines)
{
    int fds[2];

    if (pipe(fds) == -1 ||
        write(fds[1], lines, strlen(lines)) != (ssize_t)strlen(lines))
        abort();
    close(fds[1]);
    return fds[0];
}

static hsy_spec values(uint32_t d)
{
    return (hsy_spec){
        .size = sizeof(hsy_spec), .kind = HSY_KIND_VALUES, .d = d};
}

/* ---- Files --------------------------------------------------------------- */

static void files(void)
{
    hsy_spec spec = values(0);
    struct study_file f;
    hsy_error err = {0};
    int fd = given("b\na\nb\nc\r\nb\n");

    ok(study_file_read(&f, &spec, fd, &err) == HSY_OK && f.users == 5 &&
           spec.d == 3 && f.people.n == 3,
       "lines are people, and different ones the values");
    ok(f.people.counts[0] == 1 && f.people.counts[1] == 3 &&
           f.people.counts[2] == 1,
       "sorted and counted");
    study_people_close(&f.people);
    close(fd);
    spec = values(9);
    fd = given("3\n8\n3\n");
    ok(study_file_read(&f, &spec, fd, &err) == HSY_OK && f.people.n == 2 &&
           f.people.numbers[1] == 8,
       "of a domain they are its integers");
    study_people_close(&f.people);
    close(fd);
    spec = (hsy_spec){
        .size = sizeof spec, .kind = HSY_KIND_NUMBER, .hi = 250, .scale = 1};
    fd = given("0.5\n24.9\n");
    ok(study_file_read(&f, &spec, fd, &err) == HSY_OK &&
           f.people.numbers[0] == 5 && f.people.numbers[1] == 249,
       "of a range decimals");
    study_people_close(&f.people);
    close(fd);
}

static void refused(hsy_spec spec, const char *lines, enum study_wrong wrong,
                    uint64_t line, const char *sentence)
{
    struct study_file f;
    hsy_error err = {0};
    const int fd = given(lines);

    ok(study_file_read(&f, &spec, fd, &err) != HSY_OK &&
           eq_u64(f.wrong, wrong) && eq_u64(err.at, line) && err.msg != NULL,
       "%s", sentence);
    study_people_close(&f.people);
    close(fd);
}

static void files_refused(void)
{
    const hsy_spec range = {
        .size = sizeof range, .kind = HSY_KIND_NUMBER, .hi = 10};

    refused(values(0), "", STUDY_WRONG_LINE, 0, "no lines");
    refused(values(0), "a\n\n", STUDY_WRONG_LINE, 2, "an empty one");
    refused(values(0), "a\na\n", STUDY_WRONG_ALIKE, 0, "lines all alike");
    refused(values(3), "1\nx\n", STUDY_WRONG_VALUE, 2, "no integer");
    refused(values(3), "1\n2\n3\n", STUDY_WRONG_DOMAIN, 3,
            "none of the values");
    refused(range, "1\nx\n", STUDY_WRONG_DECIMAL, 2, "no number");
    refused(range, "11\n", STUDY_WRONG_RANGE, 1, "outside the range");
}

static void strings(void)
{
    struct study_file f;
    hsy_error err = {0};
    int fd = given("ab\nab\ncd\n");

    ok(study_file_strings(&f, 16, false, fd, &err) == HSY_OK &&
           f.people.n == 2 && f.users == 3,
       "strings become their codes");
    study_people_close(&f.people);
    close(fd);
    fd = given("abc\n");
    ok(study_file_strings(&f, 16, false, fd, &err) == HSY_E_RANGE &&
           f.wrong == STUDY_WRONG_LENGTH && err.at == 1,
       "no longer ones than the bits");
    study_people_close(&f.people);
    close(fd);
    fd = given("7\n300\n");
    ok(study_file_strings(&f, 8, true, fd, &err) == HSY_E_RANGE &&
           f.wrong == STUDY_WRONG_BITS && err.at == 2,
       "nor wider integers");
    study_people_close(&f.people);
    close(fd);
}

/* ---- Grids --------------------------------------------------------------- */

static const struct study_way grid_ways[] = {
    {.model = STUDY_LOCAL, .mechanism = "grr"},
    {.model = STUDY_MULTIPARTY, .curators = 2, .mechanism = "auto"}};
static const uint64_t grid_epsilons[] = {HSY_NANO, 2 * (uint64_t)HSY_NANO};
static const uint64_t grid_users[] = {100};

static struct study_grid grid(void)
{
    return (struct study_grid){.ways = grid_ways,
                               .nways = 2,
                               .epsilons = grid_epsilons,
                               .nepsilons = 2,
                               .users = grid_users,
                               .nusers = 1,
                               .how = {.runs = 3, .seed = 1, .threads = 1}};
}

/* The rows for a person and a program. */
static void rows_printed(const struct study_grid *g,
                         const struct study_result *r, size_t n)
{
    const struct study_shown shown = {g, "uniform", 1, r, n};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        abort();
    study_print(to, TABLE_ALIGNED, &shown);
    study_print(to, TABLE_CSV, &shown);
    fclose(to);
    ok(strncmp(text, "model         mechanism  epsilon", 32) == 0 &&
           strstr(text, "\nuniform, 100 people, 4 values, 3 runs\n") != NULL &&
           strstr(text, "central, multiparty: curators trusted with") != NULL,
       "a table has what differs, and below what does not");
    ok(strstr(text, "\nmechanism,epsilon,users,domain,run_mse,") != NULL &&
           strstr(text, "\ngrr,1,100,4,") != NULL,
       "csv has all of it");
    free(text);
}

static void rows(void)
{
    const struct study_data data = {.law = STUDY_UNIFORM};
    const hsy_spec asked = values(4);
    struct study_grid g = grid();
    struct study_result r[8] = {{.users = 0}};
    struct study_people people = {0};
    hsy_error err = {0};
    uint8_t *dump = NULL;
    size_t n = 0, len = 0, lines = 0;

    if (study_people_open(&people, &data, &asked, &err) != HSY_OK ||
        output_memory(&g.dump) != HSY_OK)
        abort();
    ok(study_grid_people(&g) == 1200,
       "two ways at two epsilons are four rows of three hundred");
    ok(study_grid_check(&g, &asked, &err) == HSY_OK, "that make sense");
    ok(study_grid_run(&g, r, &n, &people, &asked, &err) == HSY_OK && n == 4 &&
           r[1].epsilon == 2 && r[2].curators == 2 && r[3].users == 100,
       "and come in their order");
    rows_printed(&g, r, n);
    if (output_take(g.dump, &dump, &len) != HSY_OK)
        abort();
    for (size_t i = 0; i < len; i++)
        lines += dump[i] == '\n';
    ok(lines == 13 &&
           memcmp(dump, "mechanism,epsilon,users,domain,run,", 35) == 0,
       "a dump has a header and every run");
    for (size_t i = 0; i < n; i++)
        study_close(&r[i]);
    free(dump);
    study_people_close(&people);
}

static void grids_refused(void)
{
    const hsy_spec mean = {
        .size = sizeof mean, .kind = HSY_KIND_NUMBER, .hi = 10};
    hsy_spec asked = values(4);
    struct study_grid g = grid();
    hsy_error err = {0};

    g.top = 5;
    ok(study_grid_check(&g, &asked, &err) == HSY_E_RANGE &&
           g.wrong == STUDY_WRONG_TOP && err.limit == 4,
       "more heavy values than there are");
    ok(study_grid_check(&g, &mean, &err) == HSY_E_RANGE &&
           g.wrong == STUDY_WRONG_MEAN,
       "heavy values of a mean");
    g = grid();
    g.users = (const uint64_t[]){1};
    ok(study_grid_check(&g, &asked, &err) == HSY_E_RANGE &&
           g.wrong == STUDY_WRONG_CURATORS && g.refused.curators == 2 &&
           err.limit == 1,
       "more curators than people");
    g = grid();
    asked.d = 1;
    ok(study_grid_check(&g, &asked, &err) != HSY_OK &&
           g.wrong == STUDY_WRONG_SCHEME &&
           strcmp(g.spec.mechanism, "grr") == 0,
       "a spec that nothing resolves");
}

int main(void)
{
    files();
    files_refused();
    strings();
    rows();
    grids_refused();
    return tap_done();
}
