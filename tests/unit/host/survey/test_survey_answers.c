/* test_survey_answers.c - designs from text, and answers from a table. */
#define _DEFAULT_SOURCE
#include "host/survey/survey.h"

#include "tap.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static struct survey_design design(const char *name, const char *text)
{
    struct survey_design d = {0};

    ok(survey_design_parse(&d, survey_kind_of(name), text, NULL) == HSY_OK,
       "the design %s %s", name, text);
    return d;
}

static void designs_are_read(void)
{
    struct survey_design d = design("spinner", "3/4");
    hsy_error err = {0};

    ok(d.chance[0] == 0.75 && d.ratio[0].num == 3 && d.ratio[0].den == 4 &&
           fabs(d.epsilon - log(3)) < 1e-12,
       "Warner's spinner at 3/4 has epsilon ln 3");
    d = design("epsilon", "ln3");
    ok(fabs(d.channel.p - 0.75) < 1e-9 &&
           survey_design_proof(&d.channel) == NULL,
       "so has the best design of that epsilon, which proves nothing");
    d = design("forced", "0,0.2");
    ok(isinf(d.epsilon) && strcmp(survey_design_proof(&d.channel),
                                  "a yes proves that the truth is yes") == 0,
       "where nobody is made to say yes, a yes is proof");
    d = design("two-sample", "0.7,0.3");
    ok(d.kind->pair && d.chance[1] == 0.3, "two samples");

    d = (struct survey_design){0};
    ok(survey_design_parse(&d, survey_kind_of("coins"), "0.5", &err) ==
               HSY_E_FORMAT &&
           d.kind == NULL,
       "two coins take two chances, and nothing is written");
    ok(survey_design_parse(&d, survey_kind_of("spinner"), "1/2", &err) ==
               HSY_E_RANGE &&
           err.msg != NULL,
       "a fair spinner tells nothing");
    ok(survey_design_parse(&d, survey_kind_of("two-sample"), "0.4,2/5", &err) ==
           HSY_E_RANGE,
       "nor do two samples that are asked alike");
    ok(survey_kind_of("dice") == NULL, "no such design");
}

/* What reading a text says; the data stays open. */
static hsy_status reading(struct survey_data *data, struct survey_wrong *wrong,
                          const struct survey_table *table, const char *text)
{
    hsy_status st = HSY_E_IO;
    int ends[2];

    if (survey_data_open(data, table->design == NULL, NULL) != HSY_OK ||
        pipe(ends) != 0)
        return st;
    if (write(ends[1], text, strlen(text)) == (ssize_t)strlen(text)) {
        close(ends[1]);
        st = survey_data_read(data, wrong, table, ends[0], NULL);
    }
    close(ends[0]);
    return st;
}

static void tables_are_counted(void)
{
    const struct survey_design d = design("spinner", "0.7");
    const struct survey_design cross = design("crosswise", "0.2");
    struct survey_table t = {.columns = {"a", "g", "w"}, .design = &d};
    struct survey_wrong wrong;
    struct survey_data data;

    ok(reading(&data, &wrong, &t,
               "w,a,g\n2,yes,north\n1,no,\"so\"\"uth\"\n0.5,YES,north\n") ==
               HSY_OK &&
           data.count == 2 && data.weighted,
       "two groups with weights");
    ok(data.groups[0].counts[1] == 2 && data.groups[0].sum[1] == 2.5 &&
           data.groups[0].squares[1] == 4.25 &&
           strcmp(data.groups[1].name, "so\"uth") == 0,
       "sums, squares and a name with a quote");
    survey_data_clear(&data);

    t = (struct survey_table){.columns = {"a"}, .design = &cross};
    ok(reading(&data, &wrong, &t, "a\nsame\nDifferent\nsame\n1\n") == HSY_OK &&
           data.count == 1 && data.groups[0].counts[1] == 3,
       "crosswise answers in their own words, or in ours");
    survey_data_clear(&data);

    t = (struct survey_table){.columns = {"a"}, .d = 3};
    ok(reading(&data, &wrong, &t, "x,a\n,2\n,0\n,2\n") == HSY_OK &&
           data.states[0] == 1 && data.states[1] == 0 && data.states[2] == 2,
       "the states of a matrix, by number");
    survey_data_clear(&data);
}

static void tables_that_are_wrong(void)
{
    const struct survey_design d = design("spinner", "0.7");
    const struct survey_design two = design("two-sample", "0.7,0.3");
    const struct {
        struct survey_table table;
        const char *text;
        enum survey_trouble trouble;
        uint64_t line;
    } cases[] = {
        {{{"a"}, &d, 0, NULL}, "b\nyes\n", SURVEY_NO_COLUMN, 0},
        {{{"a"}, &d, 0, NULL}, "a,a\nyes,no\n", SURVEY_BAD_FIELD, 1},
        {{{"a"}, &d, 0, NULL}, "a\n", SURVEY_NOBODY, 0},
        {{{"a"}, &d, 0, NULL}, "a\nyes\nmaybe\n", SURVEY_NO_ANSWER, 3},
        {{{"a"}, &d, 0, NULL}, "a,b\nyes\n", SURVEY_BAD_LINE, 2},
        {{{"a"}, &d, 0, NULL}, "a,b\nyes,\"x\n", SURVEY_BAD_LINE, 2},
        {{{"a"}, &d, 0, NULL}, "a,b\n,x\nNA,y\n", SURVEY_NOBODY, 0},
        {{{"a"}, &d, 0, NULL}, "a,b\nyes,x\n\n\nno,y\n", SURVEY_BAD_LINE, 3},
        {{{"a"}, &d, 0, NULL}, "a;b\nyes,x\n", SURVEY_BAD_LINE, 2},
        {{{"a", "g"}, &d, 0, NULL}, "a,g\nyes,\n", SURVEY_BAD_FIELD, 2},
        {{{"a", "g"}, &d, 0, NULL}, "a,g\nyes,x\n", SURVEY_ONE_GROUP, 0},
        {{{"a", NULL, "w"}, &d, 0, NULL}, "a,w\nyes,-1\n", SURVEY_BAD_FIELD, 2},
        {{{"a", NULL, "w"}, &d, 0, NULL}, "a,w\nyes,0\n", SURVEY_NO_WEIGHT, 0},
        {{{"a", NULL, NULL, "s"}, &two, 0, NULL},
         "a,s\nyes,3\n",
         SURVEY_BAD_FIELD,
         2},
        {{{"a", NULL, NULL, "s"}, &two, 0, NULL},
         "a,s\nyes,1\n",
         SURVEY_NO_SAMPLE,
         0},
        {{{"a"}, NULL, 2, NULL}, "a\n2\n", SURVEY_NO_ANSWER, 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct survey_wrong wrong;
        struct survey_data data;

        ok(reading(&data, &wrong, &cases[i].table, cases[i].text) ==
                   HSY_E_FORMAT &&
               wrong.trouble == cases[i].trouble && wrong.line == cases[i].line,
           "table %zu is refused, and where", i);
        survey_data_clear(&data);
    }
}

/* What spreadsheets write. */
static void tables_of_spreadsheets(void)
{
    const struct survey_design d = design("spinner", "0.7");
    struct survey_table t = {.columns = {"a"}, .design = &d};
    struct survey_wrong wrong;
    struct survey_data data;

    ok(reading(&data, &wrong, &t,
               "\xef\xbb\xbf"
               "a,b\r\nyes,x\r\nno,y\r\n\r\n,\r\n") == HSY_OK &&
           data.groups[0].counts[0] == 1 && data.groups[0].counts[1] == 1 &&
           eq_u64(data.silent.missing, 0),
       "a byte-order mark and empty lines at the end are passed over");
    survey_data_clear(&data);
    ok(reading(&data, &wrong, &t, "a\nyes\n\nno\n\n\n") == HSY_OK &&
           eq_u64(data.silent.missing, 1) && data.silent.known,
       "in a single column an empty line in between is a person");
    survey_data_clear(&data);
    ok(reading(&data, &wrong, &t,
               "b,a\n1,yes\n2,\n,\n3,NA\n4,n/a\n5,Refused\n6,declined\n"
               "7,no\n") == HSY_OK &&
           eq_u64(data.silent.missing, 4) && eq_u64(data.silent.refused, 2) &&
           data.groups[0].counts[0] + data.groups[0].counts[1] == 2,
       "who has no answer and who refused are counted, and left out");
    survey_data_clear(&data);

    t.columns[SURVEY_WEIGHT] = "w";
    ok(reading(&data, &wrong, &t,
               "\"a\";w;note, if any\nyes;1,5;\"x;y\"\nno;0.5;\n") == HSY_OK &&
           data.groups[0].sum[1] == 1.5 && data.groups[0].sum[0] == 0.5,
       "semicolons separate where the first line has more of them, and a "
       "decimal may then have a comma");
    survey_data_clear(&data);
}

static void names_of_a_matrix_come_first(void)
{
    struct survey_table t = {.columns = {"a"}, .d = 2};
    struct survey_wrong wrong;
    struct survey_data data;

    ok(reading(&data, &wrong, &t, "a\n1\nrefused\n0\n") == HSY_OK &&
           eq_u64(data.silent.refused, 1) && data.states[1] == 1,
       "a matrix leaves out who refused");
    survey_data_clear(&data);
}

int main(void)
{
    designs_are_read();
    tables_are_counted();
    tables_that_are_wrong();
    tables_of_spreadsheets();
    names_of_a_matrix_come_first();
    return tap_done();
}
