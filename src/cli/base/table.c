/* table.c - rows as an aligned table, as CSV, or as JSON. */
#define _XOPEN_SOURCE 700 /* wcwidth */
#include "cli/base/base.h"
#include "host/base/json.h"
#include "host/base/written.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <wchar.h>

struct cli_cell cli_text(const char *text)
{
    if (text == NULL)
        return (struct cli_cell){.type = CLI_NONE};
    return (struct cli_cell){
        .type = CLI_TEXT, .text = text, .len = strlen(text)};
}

struct cli_cell cli_number(double number)
{
    if (!isfinite(number))
        return (struct cli_cell){.type = CLI_NONE};
    return (struct cli_cell){.type = CLI_NUMBER, .number = number};
}

struct cli_cell cli_pair(double low, double high)
{
    if (!isfinite(low) || !isfinite(high))
        return (struct cli_cell){.type = CLI_NONE};
    return (struct cli_cell){.type = CLI_PAIR, .number = low, .high = high};
}

struct cli_cell cli_estimate(const hsy_estimate *estimate)
{
    return (struct cli_cell){.type = CLI_ESTIMATE, .estimate = *estimate};
}

struct cli_cell cli_count(uint64_t count)
{
    return (struct cli_cell){.type = CLI_COUNT, .count = count};
}

struct cli_cell cli_bool(bool truth)
{
    return (struct cli_cell){.type = CLI_BOOL, .truth = truth};
}

struct cli_cell cli_list(const char *const *texts, size_t n)
{
    return (struct cli_cell){.type = CLI_LIST, .texts = texts, .len = n};
}

bool cli_value_format(struct cli_parser *p, enum cli_format *out)
{
    static const char *const names[] = {"table", "csv", "json", NULL};
    int choice;

    if (!cli_value_choice(p, &choice, names))
        return false;
    *out = (enum cli_format)choice;
    return true;
}

/* ---- Numbers ------------------------------------------------------------- */

void cli_show_rough(struct cli_cell *c, double x, const char *unit)
{
    static const char prefixes[] = {' ', 'k', 'M', 'G', 'T'};
    int i = 0, decimals;

    while (x >= 999.5 && i + 1 < (int)sizeof prefixes) {
        x /= 1000;
        i++;
    }
    decimals = x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
    if (i == 0)
        snprintf(c->shown, sizeof c->shown, "%.*f%s%s", decimals, x,
                 *unit != '\0' && *unit != ' ' ? " " : "", unit);
    else
        snprintf(c->shown, sizeof c->shown, "%.*f %c%s", decimals, x,
                 prefixes[i], unit);
}

/* A number, count or flag as csv and json write it; "" for nothing. */
static void table_plain(char text[32], const struct cli_cell *c)
{
    text[0] = '\0';
    if (c->type == CLI_NUMBER && isfinite(c->number))
        written_number(text, c->number);
    else if (c->type == CLI_COUNT)
        snprintf(text, 32, "%" PRIu64, c->count);
    else if (c->type == CLI_BOOL)
        snprintf(text, 32, "%s", c->truth ? "true" : "false");
}

#define TABLE_LIST 1536u /* bytes of a list in csv */

/* ---- CSV [RFC 4180] ------------------------------------------------------ */

/* Texts one after another, as one. */
static void table_csv_list(const struct cli_cell *c)
{
    char text[TABLE_LIST] = "";
    size_t at = 0;

    for (size_t i = 0; i < c->len && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                               i != 0 ? "; " : "", c->texts[i]);
    written_csv(stdout, text, strlen(text));
}

static void table_csv_cell(const struct cli_cell *c)
{
    char text[32];

    if (c->type == CLI_LIST) {
        table_csv_list(c);
        return;
    }
    if (c->type == CLI_TEXT) {
        written_csv(stdout, c->text, c->len);
        return;
    }
    table_plain(text, c);
    fputs(text, stdout);
}

#define TABLE_SAID 16u /* most fields that rows of csv have too */

/* The fields that are named, in the order of the names. */
static size_t table_said(const struct cli_field *out[TABLE_SAID],
                         const struct cli_field *fields, size_t nfields,
                         const char *const *said)
{
    size_t n = 0;

    for (; said != NULL && *said != NULL; said++)
        for (size_t i = 0; i < nfields && n < TABLE_SAID; i++)
            if (strcmp(fields[i].name, *said) == 0 &&
                (fields[i].cell.type != CLI_LIST || fields[i].cell.len != 0))
                out[n++] = &fields[i];
    return n;
}

static void table_csv(const struct cli_table *t,
                      const struct cli_field *const *said, size_t nsaid)
{
    for (size_t j = 0; j < t->ncolumns; j++) {
        if (j != 0)
            putchar(',');
        written_csv(stdout, t->columns[j].name, strlen(t->columns[j].name));
    }
    for (size_t j = 0; j < nsaid; j++)
        printf(",%s", said[j]->name);
    putchar('\n');
    for (size_t i = 0; i < t->nrows && !ferror(stdout); i++) {
        for (size_t j = 0; j < t->ncolumns; j++) {
            struct cli_cell c = {.type = CLI_NONE};

            t->cell(t->ctx, i, j, &c);
            if (j != 0)
                putchar(',');
            table_csv_cell(&c);
        }
        for (size_t j = 0; j < nsaid; j++) {
            putchar(',');
            table_csv_cell(&said[j]->cell);
        }
        putchar('\n');
    }
}

/* ---- JSON [RFC 8259] ----------------------------------------------------- */

static void table_json_estimate(struct put *p, const char *name,
                                const hsy_estimate *e)
{
    put_object(p, name);
    put_number(p, "estimate", e->value);
    put_number(p, "stderr", e->sd);
    put_number(p, "low", e->low);
    put_number(p, "high", e->high);
    put_end(p, '}');
}

static void table_json_list(struct put *p, const char *name,
                            const struct cli_cell *c)
{
    put_array(p, name);
    for (size_t i = 0; i < c->len; i++)
        put_word(p, NULL, c->texts[i]);
    put_end(p, ']');
}

static void table_json_pair(struct put *p, const char *name, double low,
                            double high)
{
    put_array(p, name);
    put_number(p, NULL, low);
    put_number(p, NULL, high);
    put_end(p, ']');
}

static void table_json_member(struct put *p, const char *name,
                              const struct cli_cell *c)
{
    switch (c->type) {
    case CLI_NONE:
        put_null(p, name);
        return;
    case CLI_TEXT:
        put_text(p, name, c->text, c->len);
        return;
    case CLI_NUMBER:
        put_number(p, name, c->number);
        return;
    case CLI_COUNT:
        put_count(p, name, c->count);
        return;
    case CLI_BOOL:
        put_bool(p, name, c->truth);
        return;
    case CLI_PAIR:
        table_json_pair(p, name, c->number, c->high);
        return;
    case CLI_ESTIMATE:
        table_json_estimate(p, name, &c->estimate);
        return;
    case CLI_LIST:
        table_json_list(p, name, c);
        return;
    }
}

static void table_json_row(struct put *p, const struct cli_table *t, size_t row)
{
    for (size_t j = 0; j < t->ncolumns; j++) {
        struct cli_cell c = {.type = CLI_NONE};

        t->cell(t->ctx, row, j, &c);
        table_json_member(p, t->columns[j].name, &c);
    }
}

static void table_json(const struct cli_table *t,
                       const struct cli_field *fields, size_t nfields,
                       const char *rows_name)
{
    struct put p;

    put_begin(&p, stdout);
    for (size_t i = 0; i < nfields; i++)
        table_json_member(&p, fields[i].name, &fields[i].cell);
    if (rows_name == NULL) {
        table_json_row(&p, t, 0);
        put_finish(&p);
        return;
    }
    put_array_lines(&p, rows_name);
    for (size_t i = 0; i < t->nrows && !ferror(stdout); i++) {
        put_object(&p, NULL);
        table_json_row(&p, t, i);
        put_end(&p, '}');
    }
    put_end(&p, ']');
    put_finish(&p);
}

/* ---- Aligned ------------------------------------------------------------- */

#define TABLE_COLUMNS_MAX 32u
#define TABLE_TEXT_MAX 60u /* columns of a text in a table */
#define TABLE_BYTES 512u   /* of the same */

/* One character of a text as a table shows it. */
struct table_piece {
    struct written_piece is;
    size_t width;
};

/* The first character of text[0..left): how many bytes it takes there. */
static size_t table_take(struct table_piece *out, const char *text, size_t left)
{
    const size_t n = written_take(&out->is, text, left);
    const int width = wcwidth((wchar_t)out->is.point);

    out->width = out->is.point == 0 ? out->is.len
                 : width < 0        ? 1
                                    : (size_t)width;
    return n;
}

struct table_shown {
    char text[TABLE_BYTES];
    size_t len;   /* bytes of it */
    size_t width; /* columns they take */
};

static void table_cut(struct table_shown *s, const char *text, size_t len)
{
    struct table_piece piece;

    s->len = s->width = 0;
    for (size_t i = 0; i < len;) {
        i += table_take(&piece, text + i, len - i);
        if (s->width + piece.width > TABLE_TEXT_MAX ||
            s->len + piece.is.len + 3 > TABLE_BYTES) {
            memcpy(s->text + s->len, "...", 3);
            s->len += 3;
            s->width += 3;
            return;
        }
        memcpy(s->text + s->len, piece.is.bytes, piece.is.len);
        s->len += piece.is.len;
        s->width += piece.width;
    }
}

static void table_show(struct table_shown *s, const struct cli_cell *c)
{
    char plain[48];

    if (c->shown[0] != '\0') {
        table_cut(s, c->shown, strlen(c->shown));
        return;
    }
    if (c->type == CLI_TEXT) {
        table_cut(s, c->text, c->len);
        return;
    }
    if (c->type == CLI_NUMBER)
        snprintf(plain, sizeof plain, "%.6g", c->number);
    else
        table_plain(plain, c);
    if (plain[0] == '\0')
        snprintf(plain, sizeof plain, "-");
    table_cut(s, plain, strlen(plain));
}

static const char *table_title(const struct cli_column *c)
{
    return c->title != NULL ? c->title : c->name;
}

/* Text stands left, numbers right; a column is what its first row is. */
static bool table_left(const struct cli_table *t, size_t column)
{
    struct cli_cell c = {.type = CLI_NONE};

    if (t->nrows == 0)
        return true;
    t->cell(t->ctx, 0, column, &c);
    return c.type == CLI_TEXT;
}

static void table_pad(size_t n)
{
    while (n-- > 0)
        putchar(' ');
}

/* Text with pad spaces beside it; nothing trails the last cell. */
static void table_put(const char *text, size_t len, size_t pad, bool left,
                      bool first, bool last)
{
    if (last && left && len == 0)
        return;
    if (!first)
        fputs("  ", stdout);
    if (!left)
        table_pad(pad);
    fwrite(text, 1, len, stdout);
    if (left && !last)
        table_pad(pad);
}

struct table_layout {
    size_t columns[TABLE_COLUMNS_MAX]; /* those that are shown */
    size_t widths[TABLE_COLUMNS_MAX];
    bool left[TABLE_COLUMNS_MAX];
    size_t n;
};

static void table_measure(struct table_layout *l, const struct cli_table *t)
{
    l->n = 0;
    for (size_t j = 0; j < t->ncolumns && l->n < TABLE_COLUMNS_MAX; j++) {
        const char *title = table_title(&t->columns[j]);
        size_t width;

        if (title[0] == '\0')
            continue;
        width = strlen(title); /* plain ASCII */
        for (size_t i = 0; i < t->nrows; i++) {
            struct cli_cell c = {.type = CLI_NONE};
            struct table_shown shown;

            t->cell(t->ctx, i, j, &c);
            table_show(&shown, &c);
            if (shown.width > width)
                width = shown.width;
        }
        l->columns[l->n] = j;
        l->widths[l->n] = width;
        l->left[l->n++] = table_left(t, j);
    }
}

static void table_head(const struct table_layout *l, const struct cli_table *t)
{
    for (size_t k = 0; k < l->n; k++) {
        const char *title = table_title(&t->columns[l->columns[k]]);
        size_t len = strlen(title);

        table_put(title, len, l->widths[k] - len, l->left[k], k == 0,
                  k + 1 == l->n);
    }
    putchar('\n');
}

static void table_row(const struct table_layout *l, const struct cli_table *t,
                      size_t row)
{
    for (size_t k = 0; k < l->n; k++) {
        struct cli_cell c = {.type = CLI_NONE};
        struct table_shown shown;

        t->cell(t->ctx, row, l->columns[k], &c);
        table_show(&shown, &c);
        table_put(shown.text, shown.len, l->widths[k] - shown.width, l->left[k],
                  k == 0, k + 1 == l->n);
    }
    putchar('\n');
}

static void table_aligned(const struct cli_table *t)
{
    struct table_layout l;

    /* For wcwidth; without it every character counts as one column. */
    setlocale(LC_CTYPE, "C.UTF-8");
    table_measure(&l, t);
    table_head(&l, t);
    for (size_t i = 0; i < t->nrows && !ferror(stdout); i++)
        table_row(&l, t, i);
}

/* ---- All three ----------------------------------------------------------- */

void cli_print(enum cli_format format, const struct cli_table *table,
               const struct cli_field *fields, size_t nfields,
               const char *rows_name)
{
    cli_print_said(format, table, fields, nfields, rows_name, NULL);
}

void cli_print_said(enum cli_format format, const struct cli_table *table,
                    const struct cli_field *fields, size_t nfields,
                    const char *rows_name, const char *const *said)
{
    const struct cli_field *found[TABLE_SAID];

    if (format == CLI_CSV)
        table_csv(table, found, table_said(found, fields, nfields, said));
    else if (format == CLI_JSON)
        table_json(table, fields, nfields, rows_name);
    else
        table_aligned(table);
}

/* ---- One row ------------------------------------------------------------- */

static void flat_cell(const void *ctx, size_t row, size_t column,
                      struct cli_cell *out)
{
    const struct cli_field *const *fields = ctx;

    (void)row;
    *out = fields[column]->cell;
}

void cli_print_flat(enum cli_format format, const struct cli_field *fields,
                    size_t nfields)
{
    struct cli_column columns[TABLE_COLUMNS_MAX];
    const struct cli_field *there[TABLE_COLUMNS_MAX];
    struct cli_table t = {columns, 0, 1, flat_cell, there};

    for (size_t i = 0; i < nfields && t.ncolumns < TABLE_COLUMNS_MAX; i++) {
        if (fields[i].cell.type == CLI_NONE)
            continue;
        columns[t.ncolumns] = (struct cli_column){fields[i].name, NULL};
        there[t.ncolumns++] = &fields[i];
    }
    cli_print(format, &t, NULL, 0, NULL);
}
