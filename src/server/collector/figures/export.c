/* export.c - a figure as CSV, and drawn. */
#define _GNU_SOURCE /* open_memstream */
#include "server/collector/figures/internal.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/base/written.h"
#include "host/plot/plot.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT_DRAWN 40u      /* values of a list */
#define EXPORT_BINS 400u      /* bars of a histogram */
#define EXPORT_TEXT 320u      /* of a note */
#define EXPORT_ABOUT 1536u    /* ... and of all that is read aloud */
#define EXPORT_NAME 256u      /* bytes of a name that are looked at */
#define EXPORT_NAME_MAX 4096u /* ... and in a table */
#define EXPORT_COLUMNS 32u    /* that rows have */
#define EXPORT_UNSHOWN "(detected, not shown)"

static hsy_status export_load(json_t **figure, json_t **rows, const char *json,
                              size_t len, hsy_error *err)
{
    *figure = json_loadb(json, len, JSON_ALLOW_NUL, NULL);
    *rows = json_object_get(*figure, "estimates");
    if (json_is_array(*rows))
        return HSY_OK;
    json_decref(*figure);
    *figure = NULL;
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE, "this is no figure");
}

/* NaN where there is none. */
static double export_number(const json_t *row, const char *name)
{
    const json_t *number = json_object_get(row, name);

    return json_is_number(number) ? json_number_value(number) : NAN;
}

/* ---- CSV ----------------------------------------------------------------- */

/* A name with its own bytes, where json could not hold them. */
static void export_csv_name(FILE *to, const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    const json_t *hex = json_object_get(row, "value_hex");
    const char *digits = json_string_value(hex);
    const size_t len = json_string_length(hex) / 2;
    uint8_t bytes[EXPORT_NAME_MAX];

    if (digits == NULL || len > sizeof bytes ||
        !hex_get(bytes, len, digits, 2 * len)) {
        written_csv(to, json_string_value(value), json_string_length(value));
        return;
    }
    written_csv(to, (const char *)bytes, len);
}

/* Sentences one after another. */
static void export_csv_notes(FILE *to, const json_t *notes)
{
    char text[EXPORT_ABOUT] = "";

    for (size_t i = 0; i < json_array_size(notes); i++)
        plot_more(text, sizeof text, "%s%s", i > 0 ? "; " : "",
                  json_string_value(json_array_get(notes, i)));
    if (text[0] != '\0')
        written_csv(to, text, strlen(text));
}

static void export_csv_cell(FILE *to, const json_t *cell)
{
    char text[WRITTEN_NUMBER];

    if (json_is_boolean(cell)) {
        fputs(json_is_true(cell) ? "true" : "false", to);
    } else if (json_is_array(cell)) {
        export_csv_notes(to, cell);
    } else if (json_is_string(cell)) {
        written_csv(to, json_string_value(cell), json_string_length(cell));
    } else if (json_is_integer(cell)) {
        fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(cell));
    } else if (json_is_number(cell)) {
        written_number(text, json_number_value(cell));
        fputs(text, to);
    }
}

/* Columns of a table: members that any row has, after its name. */
struct export_table {
    const char *names[EXPORT_COLUMNS];
    size_t n, nsaid;
};

/* What a figure says of itself, in each row after what the row has; the last
 * two only if there is something to say. */
static const char *const export_said[] = {
    "level",   "target",  "assume_lying", "first_day", "last_day",
    "release", "devices", "reports",      "notes",     "why"};

#define EXPORT_SAID (sizeof export_said / sizeof export_said[0])

/* What the batches are worth in which the reports came, after that. */
static const char *const export_worth[] = {"epsilon_report", "epsilon_central",
                                           "delta", "bound", "n"};

#define EXPORT_WORTH (sizeof export_worth / sizeof export_worth[0])

static void export_column(struct export_table *t, const char *name)
{
    if (strcmp(name, "value") == 0 || strcmp(name, "value_hex") == 0)
        return;
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->names[i], name) == 0)
            return;
    if (t->n < EXPORT_COLUMNS)
        t->names[t->n++] = name;
}

/* Scripts rely on the first four. */
static void export_columns(struct export_table *t, json_t *rows)
{
    static const char *const first[] = {"estimate", "stderr", "low", "high"};

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        export_column(t, first[i]);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *name;
        json_t *cell;

        json_object_foreach(json_array_get(rows, i), name, cell)
        {
            export_column(t, name);
        }
    }
}

/* A row after its name. */
static void export_csv_cells(FILE *to, const struct export_table *t,
                             const json_t *figure, const json_t *row)
{
    const json_t *worth = json_object_get(figure, "shuffled");

    for (size_t i = 0; i < t->n; i++) {
        putc(',', to);
        export_csv_cell(to, json_object_get(row, t->names[i]));
    }
    for (size_t i = 0; i < t->nsaid; i++) {
        putc(',', to);
        export_csv_cell(to, json_object_get(figure, export_said[i]));
    }
    for (size_t i = 0; worth != NULL && i < EXPORT_WORTH; i++) {
        putc(',', to);
        export_csv_cell(to, json_object_get(worth, export_worth[i]));
    }
    putc('\n', to);
}

/* Detected, and cut off: a decoder says what all of them are together. */
static void export_csv_unshown(FILE *to, const struct export_table *t,
                               const json_t *figure)
{
    const json_t *unshown = json_object_get(figure, "not_shown");

    if (!json_is_object(unshown))
        return;
    written_csv(to, EXPORT_UNSHOWN, strlen(EXPORT_UNSHOWN));
    export_csv_cells(to, t, figure, unshown);
}

/* What the rows do not explain, if there is any, as a last one; it was not
 * selected. Of a decoder that shows all candidates it is none of them. */
static void export_csv_rest(FILE *to, const struct export_table *t,
                            const json_t *figure, const json_t *rows)
{
    const bool decoded = json_object_get(figure, "detected") != NULL;
    const json_t *all = json_object_get(figure, "candidates");
    json_t *rest = json_object_get(figure, "unexplained");

    if (!json_is_object(rest) ||
        (decoded &&
         json_integer_value(all) == (json_int_t)json_array_size(rows)))
        return;
    export_csv_unshown(to, t, figure);
    rest = json_copy(rest);
    json_object_set(rest, "level_selected", json_object_get(figure, "level"));
    fputs(decoded ? "(not detected)" : "(not shown)", to);
    export_csv_cells(to, t, figure, rest);
    json_decref(rest);
}

/* All rows, and what they do not explain. */
static void export_csv_rows(FILE *to, const struct export_table *t,
                            const json_t *figure, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        export_csv_name(to, json_array_get(rows, i));
        export_csv_cells(to, t, figure, json_array_get(rows, i));
    }
    export_csv_rest(to, t, figure, rows);
}

static void export_csv(FILE *to, const json_t *figure, json_t *rows)
{
    struct export_table t = {.n = 0, .nsaid = EXPORT_SAID};

    if (!json_is_string(json_object_get(figure, "why")))
        t.nsaid--;
    if (t.nsaid < EXPORT_SAID &&
        json_array_size(json_object_get(figure, "notes")) == 0)
        t.nsaid--;
    export_columns(&t, rows);
    fputs("value", to);
    for (size_t i = 0; i < t.n; i++)
        fprintf(to, ",%s", t.names[i]);
    for (size_t i = 0; i < t.nsaid; i++)
        fprintf(to, ",%s", export_said[i]);
    for (size_t i = 0;
         json_object_get(figure, "shuffled") != NULL && i < EXPORT_WORTH; i++)
        fprintf(to, ",%s", export_worth[i]);
    putc('\n', to);
    export_csv_rows(to, &t, figure, rows);
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
        export_csv(to, figure, rows);
    json_decref(figure);
    if (to == NULL || fclose(to) != 0) {
        free(text);
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
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
    char title[EXPORT_TEXT], note[EXPORT_TEXT], about[EXPORT_ABOUT];
};

/* What a figure says of itself, for those who cannot see it, and for who finds
 * the drawing alone. */
static void export_about(struct export_drawing *d)
{
    const json_t *devices = json_object_get(d->figure, "devices");
    const char *first =
        json_string_value(json_object_get(d->figure, "first_day"));
    const char *last =
        json_string_value(json_object_get(d->figure, "last_day"));
    const char *target =
        json_string_value(json_object_get(d->figure, "target"));
    const json_t *notes = json_object_get(d->figure, "notes");

    plot_more(d->about, sizeof d->about,
              " Release %" JSON_INTEGER_FORMAT ", target: %s",
              json_integer_value(json_object_get(d->figure, "release")),
              target != NULL ? target : "people");
    if (json_is_integer(devices))
        plot_more(d->about, sizeof d->about,
                  ", devices: at least %" JSON_INTEGER_FORMAT,
                  json_integer_value(devices));
    if (first != NULL && last != NULL)
        plot_more(d->about, sizeof d->about, ", sent from %s to %s", first,
                  last);
    plot_more(d->about, sizeof d->about, ".");
    for (size_t i = 0; i < json_array_size(notes); i++)
        plot_more(d->about, sizeof d->about, " Note: %s.",
                  json_string_value(json_array_get(notes, i)));
}

static void export_texts(struct export_drawing *d)
{
    const json_t *question = json_object_get(d->figure, "question");
    const json_t *lying = json_object_get(d->figure, "assume_lying");
    const json_t *why = json_object_get(d->figure, "why");
    const size_t all = json_array_size(d->rows);

    plot_more(d->title, sizeof d->title, "%s", json_string_value(question));
    if (json_is_string(why))
        plot_more(d->note, sizeof d->note, "no intervals");
    else
        plot_more(d->note, sizeof d->note, "%.14g %% intervals",
                  100 * export_number(d->figure, "level"));
    plot_more(d->note, sizeof d->note,
              "%s; %s, epsilon %.9g, %" JSON_INTEGER_FORMAT " reports",
              export_number(d->figure, "level_selected") >
                      export_number(d->figure, "level")
                  ? ", adjusted for selection"
                  : "",
              json_string_value(json_object_get(d->figure, "mechanism")),
              export_number(d->figure, "epsilon"),
              json_integer_value(json_object_get(d->figure, "reports")));
    if (json_number_value(lying) > 0)
        plot_more(d->note, sizeof d->note,
                  "; pale: wider for %.6g %% of lying devices",
                  100 * json_number_value(lying));
    if (d->n < all)
        plot_more(d->note, sizeof d->note, "; the first %zu of %zu", d->n, all);
    plot_more(d->about, sizeof d->about, "%s, each %s its interval: %s.",
              d->mean ? "The mean" : "Shares",
              json_is_string(why) ? "without" : "with", d->note);
    if (json_is_string(why))
        plot_more(d->about, sizeof d->about, " No interval: %s.",
                  json_string_value(why));
    export_about(d);
}

/* What liars make of an interval, where something is assumed of them. */
static struct plot_further export_further(const json_t *row, double unit)
{
    return (struct plot_further){unit * export_number(row, "low_lying"),
                                 unit * export_number(row, "high_lying")};
}

static hsy_status export_list(char **svg, size_t *len,
                              const struct export_drawing *d, hsy_error *err)
{
    const double unit = d->mean ? 1 : 100;
    char names[EXPORT_DRAWN][EXPORT_NAME];
    struct plot_named named[EXPORT_DRAWN];
    struct plot_further further[EXPORT_DRAWN];
    const struct plot_list list = {.title = d->title,
                                   .about = d->about,
                                   .note = d->note,
                                   .label = d->mean ? "mean" : "share in %",
                                   .named = named,
                                   .further = further,
                                   .n = d->n,
                                   .points = d->mean};

    for (size_t i = 0; i < d->n; i++) {
        const json_t *row = json_array_get(d->rows, i);

        const json_t *value = json_object_get(row, "value");

        written_name(names[i], sizeof names[i], json_string_value(value),
                     json_string_length(value));
        named[i] =
            (struct plot_named){names[i], unit * export_number(row, "estimate"),
                                unit * export_number(row, "low"),
                                unit * export_number(row, "high")};
        further[i] = export_further(row, unit);
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
    struct plot_further further[EXPORT_BINS];
    const struct plot_series bars = {.style = PLOT_BARS,
                                     .colour = 1,
                                     .n = d->n,
                                     .x = x,
                                     .y = y,
                                     .low = low,
                                     .high = high,
                                     .width = width,
                                     .further = further};
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
        further[i] = export_further(row, 100);
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
