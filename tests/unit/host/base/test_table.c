/* test_table.c - rows as a table, as CSV and as JSON, to a stream. */
#define _DEFAULT_SOURCE
#include "host/base/table.h"
#include "tap.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static const struct table_column columns[] = {
    {"name", NULL}, {"share", "of all"}, {"count", NULL}, {"hidden", ""}};

static void cells(const void *ctx, size_t row, size_t column,
                  struct table_cell *out)
{
    const char *const *names = ctx;
    const struct table_cell all[] = {
        cell_text(names[row]), cell_shown(0.25, 25, "%.1f %%"),
        cell_count(row == 0 ? 7 : 12345), cell_bool(row == 0)};

    *out = all[column];
}

static const char *const names[] = {"a, \"b\"", "\xc3\xa4"};

static const struct table two = {columns, 4, 2, cells, names};

/* What is printed; the caller frees it. */
static char *printed(enum table_format format, const struct table *t,
                     const char *rows)
{
    static const char *const said[] = {"word", "level", NULL};
    const struct table_field fields[] = {
        {"level", cell_number(0.95)},
        {"word", cell_text("x; \"y\"")},
        {"none", cell_number(NAN)},
        {"pair", cell_pair(1, 2)},
        {"open", cell_pair(1, INFINITY)},
        {"part", cell_estimate(&(hsy_estimate){
                     .value = 1, .sd = 2, .low = 0, .high = 3})}};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        exit(1);
    table_print_said(to, format, t, fields, 6, rows, said);
    fclose(to);
    return text;
}

static void three_formats(void)
{
    char *text = printed(TABLE_ALIGNED, &two, "rows");

    is_text(text,
            "name    of all  count\n"
            "a, \"b\"  25.0 %      7\n"
            "\xc3\xa4       25.0 %  12345\n",
            "columns are aligned by what is seen, numbers to the right");
    free(text);
    text = printed(TABLE_CSV, &two, "rows");
    is_text(text,
            "name,share,count,hidden,word,level\n"
            "\"a, \"\"b\"\"\",0.25,7,true,\"x; \"\"y\"\"\",0.95\n"
            "\xc3\xa4,0.25,12345,false,\"x; \"\"y\"\"\",0.95\n",
            "csv has every column, and the fields that are named");
    free(text);
    text = printed(TABLE_JSON, &two, "rows");
    is_text(text,
            "{\n"
            "  \"level\": 0.95,\n"
            "  \"word\": \"x; \\\"y\\\"\",\n"
            "  \"none\": null,\n"
            "  \"pair\": [1, 2],\n"
            "  \"open\": null,\n"
            "  \"part\": {\"estimate\": 1, \"stderr\": 2, \"low\": 0, "
            "\"high\": 3},\n"
            "  \"rows\": [\n"
            "    {\"name\": \"a, \\\"b\\\"\", \"share\": 0.25, \"count\": 7, "
            "\"hidden\": true},\n"
            "    {\"name\": \"\xc3\xa4\", \"share\": 0.25, \"count\": 12345, "
            "\"hidden\": false}\n"
            "  ]\n"
            "}\n",
            "json has the fields and the rows");
    free(text);
}

static void one_row(void)
{
    const struct table_field fields[] = {{"a", cell_count(1)},
                                         {"left out", cell_text(NULL)},
                                         {"b", cell_bytes("xyz", 2)}};
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        exit(1);
    table_print_flat(to, TABLE_CSV, fields, 3);
    table_print_flat(to, TABLE_JSON, fields, 3);
    fclose(to);
    is_text(text, "a,b\n1,xy\n{\n  \"a\": 1,\n  \"b\": \"xy\"\n}\n",
            "fields alone are one row");
    free(text);
}

static void rough_numbers(void)
{
    struct table_cell c = cell_number(1);

    cell_rough(&c, 26400000000.0, "B");
    ok(eq_text(c.shown, "26.4 GB"), "three digits and a prefix");
    cell_rough(&c, 999.6, " reports");
    ok(eq_text(c.shown, "1.00 k reports"), "which rounding may raise");
    c = cell_shown(NAN, NAN, "%.1f");
    ok(c.type == CELL_NONE && c.shown[0] == '\0', "what is none is not shown");
}

static void paragraphs(void)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (to == NULL)
        exit(1);
    table_say(to, "%s %s",
              "It is broken at a space, so that no line is longer "
              "than seventy-eight",
              "columns are.");
    fclose(to);
    is_text(text,
            "It is broken at a space, so that no line is longer than "
            "seventy-eight columns\nare.\n",
            "a paragraph has lines of 78 columns");
    free(text);
}

int main(void)
{
    const char *before = setlocale(LC_CTYPE, NULL);

    three_formats();
    ok(eq_text(setlocale(LC_CTYPE, NULL), before),
       "the program's locale is as it was");
    one_row();
    rough_numbers();
    paragraphs();
    return tap_done();
}
