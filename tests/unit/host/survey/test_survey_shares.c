/* test_survey_shares.c - shares behind answers, how many people are needed, the
 * sheet that is handed out, a rehearsal, and figures. */
#define _POSIX_C_SOURCE 200809L
#include "host/survey/survey.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct survey_design design(const char *name, const char *text)
{
    struct survey_design d = {0};

    ok(survey_design_parse(&d, survey_kind_of(name), text, NULL) == HSY_OK,
       "the design %s %s", name, text);
    return d;
}

static void shares_of_groups(void)
{
    const struct survey_design d = design("spinner", "3/4");
    struct survey_rows s;
    struct survey_data data;
    char *svg = NULL;
    size_t len = 0;

    ok(survey_data_open(&data, false, NULL) == HSY_OK, "room for groups");
    survey_data_add(&data, 300, 1000);
    ok(survey_rows_fill(&s, &d, &data, 0.95, NULL) == HSY_OK && s.count == 1 &&
           fabs(s.rows[0].r.value - 0.1) < 1e-12 && !survey_odd(&s.rows[0].r) &&
           survey_rows_epsilon(&s) == d.epsilon,
       "300 of 1000 by a spinner at 3/4: a share of 0.1");
    survey_rows_clear(&s);
    survey_data_add(&data, 400, 1000);
    ok(survey_rows_fill(&s, &d, &data, 0.95, NULL) == HSY_OK && s.count == 2 &&
           fabs(s.difference.value + 0.2) < 1e-12 && s.test.freedom == 1 &&
           strcmp(s.rows[1].name, "2") == 0,
       "two groups, their difference and a test");
    ok(survey_plot(&svg, &len, &s, NULL) == HSY_OK && len > 100 &&
           strncmp(svg, "<svg", 4) == 0,
       "and their surface");
    free(svg);
    survey_rows_clear(&s);
    data.count = 0;
    survey_data_add(&data, 10, 1000);
    ok(survey_rows_fill(&s, &d, &data, 0.95, NULL) == HSY_OK &&
           survey_odd(&s.rows[0].r),
       "ten of a thousand is what no share explains");
    survey_rows_clear(&s);
    survey_data_clear(&data);
}

static void shares_of_two_samples(void)
{
    const struct survey_design d = design("two-sample", "0.7,0.3");
    struct survey_rows s;
    struct survey_data data;

    ok(survey_data_open(&data, false, NULL) == HSY_OK, "room for samples");
    survey_data_add(&data, 220, 1000); /* 0.7 * 0.1 + 0.3 * 0.5 */
    survey_data_add(&data, 380, 1000); /* 0.3 * 0.1 + 0.7 * 0.5 */
    ok(survey_rows_fill(&s, &d, &data, 0.95, NULL) == HSY_OK && s.count == 1 &&
           fabs(s.rows[0].r.value - 0.1) < 1e-12 &&
           fabs(s.rows[0].r.other - 0.5) < 1e-12 && s.rows[0].n == 2000,
       "a share of 0.1, and of 0.5 who say yes to the other question");
    ok(fabs(survey_rows_epsilon(&s) - log((0.7 + 0.15) / 0.15)) < 1e-9,
       "the epsilon of the worse sample");
    survey_rows_clear(&s);
    survey_data_clear(&data);
}

/* ---- A matrix ------------------------------------------------------------ */

static void put64(uint8_t *at, uint64_t x)
{
    for (size_t i = 0; i < 8; i++)
        at[i] = (uint8_t)(x >> (8 * i));
}

static void shares_of_states(void)
{
    static const uint64_t h[9] = {7, 0, 1, 2, 8, 2, 1, 2, 7};
    static const uint64_t counts[3] = {37, 38, 25};
    static const struct labels none;
    struct survey_matrix *m = calloc(1, sizeof *m);
    uint8_t bytes[80];
    const struct matrix_file file = {bytes, sizeof bytes, 3};
    size_t answer = 9, truth = 9, len = 0;
    double ends[2];
    char *svg = NULL;

    put64(bytes, 10);
    for (size_t i = 0; i < 9; i++)
        put64(bytes + 8 + 8 * i, h[i]);
    ok(m != NULL && survey_matrix_open(m, &file, NULL) == HSY_OK &&
           isinf(m->epsilon) && survey_matrix_proof(&answer, &truth, m) &&
           answer == 0 && truth == 1,
       "a zero in the matrix: answer 0 rules truth 1 out");
    ok(survey_matrix_estimate(m, counts, NULL) == HSY_OK && m->n == 100 &&
           fabs(m->shares.share[0] - 0.5) < 1e-9 &&
           fabs(m->shares.share[1] - 0.3) < 1e-9 &&
           fabs(m->shares.share[2] - 0.2) < 1e-9,
       "37, 38 and 25 answers: shares of 0.5, 0.3 and 0.2");
    survey_matrix_wald(ends, m, 0, 0.95);
    ok(ends[0] < 0.5 && ends[1] > 0.5 && ends[0] >= 0 && ends[1] <= 1 &&
           fabs(ends[1] - 0.5 - 1.959964 * survey_matrix_sd(m, 0)) < 1e-5,
       "and Wald's interval");
    ok(survey_plot_matrix(&svg, &len, m, &none, 0.95, NULL) == HSY_OK &&
           len > 100,
       "drawn");
    for (size_t i = 0; i < 9; i++)
        put64(bytes + 8 + 8 * i, 5);
    ok(survey_matrix_open(m, &file, NULL) == HSY_E_RANGE,
       "a matrix that tells nothing has no inverse");
    free(svg);
    free(m);
}

/* ---- Before the survey --------------------------------------------------- */

static void people_that_are_needed(void)
{
    const struct survey_design d = design("spinner", "3/4");
    const struct survey_design two = design("two-sample", "0.7,0.3");
    struct survey_aim aim = {.level = 0.95,
                             .margin = 0.03,
                             .share = NAN,
                             .shares = {NAN, NAN},
                             .power = 0.8,
                             .innocuous = NAN};
    struct survey_needs w;

    ok(survey_needs_find(&w, &d, &aim, NULL) == HSY_OK && !w.groups &&
           w.share == 0.5 && w.n > 4 * w.direct * 0.99 &&
           fabs(w.best - w.n) <= 1,
       "four times as many as asked directly, and no design does better");
    aim.margin = NAN;
    aim.shares[0] = 0.1;
    aim.shares[1] = 0.2;
    ok(survey_needs_find(&w, &d, &aim, NULL) == HSY_OK && w.groups &&
           w.n > w.direct,
       "to tell two groups apart");
    ok(survey_needs_find(&w, &two, &aim, NULL) == HSY_E_EMPTY,
       "of two samples more must be known");
    aim.margin = 0.03;
    aim.share = 0.1;
    aim.innocuous = 0.5;
    ok(survey_needs_find(&w, &two, &aim, NULL) == HSY_OK &&
           w.n == w.samples[0] + w.samples[1] && isnan(w.best),
       "and then there are two numbers");
}

static void sheets(void)
{
    struct survey_design d = design("spinner", "0.123456789");
    struct survey_sheet s;

    ok(survey_sheet_settle(&s, &d, NULL) == HSY_OK &&
           s.draw[0].sides == SURVEY_CARDS && s.draw[0].parts[0] == 124 &&
           s.chance[0].num == 124,
       "at most a thousand cards, rounded towards more privacy");
    d = design("coins", "1/2,1/3");
    ok(survey_sheet_settle(&s, &d, NULL) == HSY_OK && s.draw[0].sides == 2 &&
           s.draw[1].sides == 6 && s.draw[1].parts[0] == 2,
       "a coin, and a third is two of a die");
    d = design("channel", "0.8,0.1");
    ok(survey_sheet_settle(&s, &d, NULL) == HSY_OK &&
           strcmp(s.kind->name, "forced") == 0 && s.draw[0].sides == 10 &&
           s.draw[0].parts[0] == 1 && s.draw[0].parts[1] == 2 &&
           fabs(s.channel.p - 0.8) < 1e-12,
       "a channel is done by forcing answers");
    d = design("crosswise", "1/4");
    ok(survey_sheet_settle(&s, &d, NULL) == HSY_OK && s.draw[0].sides == 0 &&
           s.chance[0].num == 1 && s.chance[0].den == 4,
       "crosswise nothing is drawn");
    d = design("spinner", "0.4999");
    ok(survey_sheet_settle(&s, &d, NULL) == HSY_E_RANGE,
       "what becomes a fair coin is refused");
}

static void count_ticks(void *ctx, uint64_t run)
{
    *(uint64_t *)ctx += run >= 1 && run <= 200;
}

static void rehearsals(void)
{
    const struct survey_design d = design("spinner", "3/4");
    uint64_t ticks = 0;
    struct survey_rehearsal_how how = {.level = 0.95,
                                       .share = 0.3,
                                       .n = {2000, 0},
                                       .runs = 200,
                                       .seed = 7,
                                       .tick = count_ticks,
                                       .ctx = &ticks};
    struct survey_rehearsal a, b;

    ok(survey_rehearse(&a, &d, &how, NULL) == HSY_OK && ticks == 200,
       "two hundred surveys");
    ok(fabs(a.mean - 0.3) < 6 * a.predicted / sqrt(200) &&
           a.sd > a.predicted / 2 && a.sd < 2 * a.predicted && a.outside == 0,
       "that spread as theory says");
    ok(strcmp(a.held[3].name, "exact") == 0 && a.held[3].law >= 0.95 &&
           a.held[0].width > 0,
       "the exact interval holds by its law");
    ok(survey_rehearse(&b, &d, &how, NULL) == HSY_OK && a.mean == b.mean,
       "the same seed, the same surveys");
    how.runs = 1;
    how.tick = NULL;
    ok(survey_rehearse(&b, &d, &how, NULL) == HSY_OK && isnan(b.sd),
       "one survey has no spread");
}

/* ---- In words ------------------------------------------------------------ */

static FILE *stream(char **text, size_t *len)
{
    FILE *to = open_memstream(text, len);

    if (to == NULL)
        abort();
    return to;
}

static void rows_in_words(void)
{
    const struct survey_design d = design("spinner", "3/4");
    struct survey_data data;
    struct survey_rows s;
    char *text = NULL;
    size_t len = 0;
    FILE *to = stream(&text, &len);

    if (survey_data_open(&data, false, NULL) != HSY_OK)
        abort();
    survey_data_add(&data, 300, 1000);
    if (survey_rows_fill(&s, &d, &data, 0.95, NULL) != HSY_OK)
        abort();
    survey_rows_print(to, TABLE_ALIGNED, &s);
    survey_rows_print(to, TABLE_CSV, &s);
    fclose(to);
    ok(strstr(text, "300 of 1000 said yes: 30 %\n") != NULL &&
           strstr(text, "share of yes: 10.00 %, standard error 2.90 %\n") !=
               NULL &&
           strstr(text, "95 % interval") != NULL,
       "a share for a person");
    ok(strstr(text, "yes,n,rate,estimate,stderr,mle,wald_low,wald_high,") !=
               NULL &&
           strstr(text, "\n300,1000,0.3,0.0999") != NULL,
       "and for a spreadsheet");
    free(text);
    survey_rows_clear(&s);
    survey_data_clear(&data);
}

static void sheet_in_words(void)
{
    const struct survey_design d = design("crosswise", "1/4");
    struct survey_sheet sheet;
    char *text = NULL;
    size_t len = 0;
    FILE *to = stream(&text, &len);

    if (survey_sheet_settle(&sheet, &d, NULL) != HSY_OK)
        abort();
    survey_sheet_print(to, &sheet, &d, "Do you?", NULL);
    fclose(to);
    ok(strstr(text, "  Question A: Do you?\n  Question B: [a harmless ") !=
               NULL &&
           strstr(text, "hearsay survey --crosswise 1/4 --yes Y --n N\n") !=
               NULL,
       "a sheet has its questions, and how it is analysed");
    free(text);
}

static void needs_in_words(void)
{
    const struct survey_design d = design("spinner", "3/4");
    const struct survey_aim aim = {.level = 0.95,
                                   .margin = 0.05,
                                   .share = NAN,
                                   .shares = {NAN, NAN},
                                   .power = 0.8,
                                   .innocuous = NAN};
    struct survey_needs w;
    char *text = NULL;
    size_t len = 0;
    FILE *to = stream(&text, &len);

    if (survey_needs_find(&w, &d, &aim, NULL) != HSY_OK)
        abort();
    survey_needs_print(to, TABLE_ALIGNED, &w, &d, &aim);
    survey_needs_print(to, TABLE_JSON, &w, &d, &aim);
    fclose(to);
    ok(strstr(text, "To know the share to 0.05 either way with chance 0.95, "
                    "if it is 0.5, the worst\ncase, it takes\n") != NULL &&
           strstr(text, "\"margin\": 0.05,\n  \"share\": 0.5,\n  "
                        "\"share_a\": null,") != NULL,
       "how many people, and what for");
    free(text);
}

int main(void)
{
    rows_in_words();
    sheet_in_words();
    needs_in_words();
    shares_of_groups();
    shares_of_two_samples();
    shares_of_states();
    people_that_are_needed();
    sheets();
    rehearsals();
    return tap_done();
}
