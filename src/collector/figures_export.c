/* figures_export.c - a figure as CSV, and drawn. */
#define _GNU_SOURCE /* open_memstream */
#include "figures_parts.h"

#include "hostfail.h"
#include "plot.h"
#include "written.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT_DRAWN 40u      /* values of a list */
#define EXPORT_BINS 400u      /* bars of a histogram */
#define EXPORT_TEXT 320u      /* of a note */
#define EXPORT_NAME 256u      /* bytes of a name that are looked at */
#define EXPORT_NAME_MAX 4096u /* ... and in a table */

static hsy_status export_load(json_t **figure, json_t **rows, const char *json,
                              size_t len, hsy_error *err)
{
    *figure = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    *rows = json_object_get(*figure, "estimates");
    if (json_is_array(*rows))
        return HSY_OK;
    json_decref(*figure);
    *figure = NULL;
    return host_fail(err, HSY_E_FORMAT, NULL, "this is no figure");
}

static double export_number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

/* ---- CSV ----------------------------------------------------------------- */

static unsigned export_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* A name with its own bytes, where json could not hold them. */
static void export_csv_name(FILE *to, const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    const json_t *hex = json_object_get(row, "value_hex");
    const char *digits = json_string_value(hex);
    const size_t len = json_string_length(hex) / 2;
    char bytes[EXPORT_NAME_MAX];

    if (digits == NULL || len > sizeof bytes) {
        written_csv(to, json_string_value(value), json_string_length(value));
        return;
    }
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(export_digit(digits[2 * i]) << 4 |
                          export_digit(digits[2 * i + 1]));
    written_csv(to, bytes, len);
}

static void export_csv_cell(FILE *to, const json_t *cell)
{
    char text[WRITTEN_NUMBER];

    if (json_is_boolean(cell)) {
        fputs(json_is_true(cell) ? "true" : "false", to);
    } else if (json_is_number(cell)) {
        written_number(text, json_number_value(cell));
        fputs(text, to);
    }
}

/* Numbers and flags of a row; its columns are those of the first one. */
static void export_csv_row(FILE *to, json_t *row)
{
    const char *name;
    json_t *cell;

    export_csv_name(to, row);
    json_object_foreach(row, name, cell)
    {
        if (!json_is_string(cell)) {
            putc(',', to);
            export_csv_cell(to, cell);
        }
    }
    putc('\n', to);
}

static void export_csv_head(FILE *to, json_t *row)
{
    const char *name;
    json_t *cell;

    fputs("value", to);
    json_object_foreach(row, name, cell)
    {
        if (!json_is_string(cell))
            fprintf(to, ",%s", name);
    }
    putc('\n', to);
}

/* A row as any has it, for its columns; of a figure without rows made up. */
static json_t *export_csv_like(const json_t *figure, const json_t *rows)
{
    static const char *const names[] = {
        "estimate", "stderr", "low", "high", "level_selected", "significant"};
    const bool found = json_object_get(figure, "found") != NULL;
    json_t *row;

    if (json_array_size(rows) != 0)
        return json_incref(json_array_get(rows, 0));
    row = json_object();
    for (size_t i = 0; row != NULL && i < (found ? 6u : 4u); i++)
        json_object_set_new(row, names[i], json_null());
    return row;
}

/* What is not among the rows, as a last one, if some is not. */
static void export_csv_rest(FILE *to, const json_t *figure, json_t *like)
{
    const json_t *rest = json_object_get(figure, "unexplained");
    const bool decoded = json_object_get(figure, "detected") != NULL;
    const char *name;
    json_t *cell;

    if (!json_is_object(rest) ||
        (decoded &&
         json_integer_value(json_object_get(figure, "candidates")) ==
             (json_int_t)json_array_size(json_object_get(figure, "estimates"))))
        return;
    fputs(decoded ? "(not detected)" : "(not shown)", to);
    json_object_foreach(like, name, cell)
    {
        if (json_is_string(cell))
            continue;
        putc(',', to);
        export_csv_cell(to, strcmp(name, "level_selected") == 0
                                ? json_object_get(figure, "level")
                                : json_object_get(rest, name));
    }
    putc('\n', to);
}

static void export_csv_table(FILE *to, const json_t *figure, const json_t *rows)
{
    json_t *like = export_csv_like(figure, rows);

    export_csv_head(to, like);
    for (size_t i = 0; i < json_array_size(rows); i++)
        export_csv_row(to, json_array_get(rows, i));
    export_csv_rest(to, figure, like);
    json_decref(like);
}

hsy_status figure_csv(char **csv, size_t *len, const char *json,
                      size_t json_len, hsy_error *err)
{
    json_t *figure, *rows;
    hsy_status st = export_load(&figure, &rows, json, json_len, err);
    char *text = NULL;
    size_t text_len = 0;
    FILE *to;

    if (st != HSY_OK)
        return st;
    to = open_memstream(&text, &text_len);
    if (to != NULL)
        export_csv_table(to, figure, rows);
    json_decref(figure);
    if (to == NULL || fclose(to) != 0) {
        free(text);
        return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    }
    *csv = text;
    *len = text_len;
    return HSY_OK;
}

/* ---- SVG ----------------------------------------------------------------- */

/* A figure that is being drawn. */
struct export_drawing {
    const json_t *figure, *rows;
    size_t n; /* rows drawn */
    bool mean, bins;
    char title[EXPORT_TEXT], note[EXPORT_TEXT], about[EXPORT_TEXT];
};

static void export_texts(struct export_drawing *d)
{
    const json_t *question = json_object_get(d->figure, "question");
    const json_t *lying = json_object_get(d->figure, "assume_lying");
    const size_t all = json_array_size(d->rows);

    plot_more(d->title, sizeof d->title, "%s", json_string_value(question));
    plot_more(d->note, sizeof d->note,
              "%.14g %% intervals%s; %s, epsilon %.9g, %" JSON_INTEGER_FORMAT
              " reports",
              100 * export_number(d->figure, "level"),
              export_number(d->figure, "level_selected") >
                      export_number(d->figure, "level")
                  ? ", adjusted for selection"
                  : "",
              json_string_value(json_object_get(d->figure, "mechanism")),
              export_number(d->figure, "epsilon"),
              json_integer_value(json_object_get(d->figure, "reports")));
    if (json_is_number(lying))
        plot_more(d->note, sizeof d->note,
                  "; wider for %.6g %% of lying devices",
                  100 * json_number_value(lying));
    if (d->n < all)
        plot_more(d->note, sizeof d->note, "; the first %zu of %zu", d->n, all);
    plot_more(d->about, sizeof d->about, "%s, each with its interval: %s.",
              d->mean ? "The mean" : "Shares", d->note);
}

/* A name that can be drawn: what is no sign is shown by its number. */
static void export_name(char name[EXPORT_NAME], const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    const char *text = json_string_value(value);
    size_t used = 0;

    for (size_t i = 0; i < json_string_length(value); i++) {
        const unsigned char c = (unsigned char)text[i];

        if (used + 5 > EXPORT_NAME)
            break;
        if (c < 0x20 || c == 0x7f)
            used +=
                (size_t)snprintf(name + used, EXPORT_NAME - used, "\\x%02x", c);
        else
            name[used++] = text[i];
    }
    name[used] = '\0';
}

static hsy_status export_list(char **svg, size_t *len,
                              const struct export_drawing *d, hsy_error *err)
{
    const double unit = d->mean ? 1 : 100;
    char names[EXPORT_DRAWN][EXPORT_NAME];
    struct plot_named named[EXPORT_DRAWN];
    const struct plot_list list = {.title = d->title,
                                   .about = d->about,
                                   .note = d->note,
                                   .label = d->mean ? "mean" : "share in %",
                                   .named = named,
                                   .n = d->n,
                                   .points = d->mean};

    for (size_t i = 0; i < d->n; i++) {
        const json_t *row = json_array_get(d->rows, i);

        export_name(names[i], row);
        named[i] =
            (struct plot_named){names[i], unit * export_number(row, "estimate"),
                                unit * export_number(row, "low"),
                                unit * export_number(row, "high")};
    }
    return plot_list_svg(svg, len, &list, err);
}

static hsy_status export_histogram(char **svg, size_t *len,
                                   const struct export_drawing *d,
                                   hsy_error *err)
{
    const double lo = export_number(d->figure, "lo");
    const double width = (export_number(d->figure, "hi") - lo) / (double)d->n;
    double x[EXPORT_BINS], y[EXPORT_BINS], low[EXPORT_BINS], high[EXPORT_BINS];
    const struct plot_series bars = {.style = PLOT_BARS,
                                     .colour = 1,
                                     .n = d->n,
                                     .x = x,
                                     .y = y,
                                     .low = low,
                                     .high = high,
                                     .width = width};
    const struct plot_figure figure = {.title = d->title,
                                       .about = d->about,
                                       .note = d->note,
                                       .x = {.label = "value"},
                                       .y = {.label = "share in %"},
                                       .series = &bars,
                                       .nseries = 1};

    for (size_t i = 0; i < d->n; i++) {
        const json_t *row = json_array_get(d->rows, i);

        x[i] = lo + ((double)i + 0.5) * width;
        y[i] = 100 * export_number(row, "estimate");
        low[i] = 100 * export_number(row, "low");
        high[i] = 100 * export_number(row, "high");
    }
    return plot_svg(svg, len, &figure, err);
}

/* All bins in their order, or a list. */
static bool export_is_histogram(const json_t *figure, const json_t *rows)
{
    const char *kind = json_string_value(json_object_get(figure, "kind"));
    const size_t n = json_array_size(rows);

    return kind != NULL && strcmp(kind, "bins") == 0 && n <= EXPORT_BINS &&
           (json_int_t)n ==
               json_integer_value(json_object_get(figure, "values")) &&
           !json_is_true(json_object_get(figure, "largest_first"));
}

hsy_status figure_svg(char **svg, size_t *len, const char *json,
                      size_t json_len, hsy_error *err)
{
    struct export_drawing d = {0};
    json_t *figure, *rows;
    const char *kind;
    hsy_status st = export_load(&figure, &rows, json, json_len, err);

    if (st != HSY_OK)
        return st;
    kind = json_string_value(json_object_get(figure, "kind"));
    d.figure = figure;
    d.rows = rows;
    d.mean = kind != NULL && strcmp(kind, "number") == 0;
    d.bins = export_is_histogram(figure, rows);
    d.n = json_array_size(rows);
    if (!d.bins && d.n > EXPORT_DRAWN)
        d.n = EXPORT_DRAWN;
    export_texts(&d);
    st = d.bins ? export_histogram(svg, len, &d, err)
                : export_list(svg, len, &d, err);
    json_decref(figure);
    return st;
}
