/* table.c - rows as an aligned table, as CSV, or as JSON. */
#define _XOPEN_SOURCE 700 /* wcwidth */
#include "host/base/table.h"

#include "host/base/json.h"
#include "host/base/written.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

struct table_cell cell_text(const char *text)
{
    if (text == NULL)
        return (struct table_cell){.type = CELL_NONE};
    return (struct table_cell){
        .type = CELL_TEXT, .text = text, .len = strlen(text)};
}

struct table_cell cell_bytes(const char *text, size_t len)
{
    return (struct table_cell){.type = CELL_TEXT, .text = text, .len = len};
}

struct table_cell cell_number(double number)
{
    if (!isfinite(number))
        return (struct table_cell){.type = CELL_NONE};
    return (struct table_cell){.type = CELL_NUMBER, .number = number};
}

struct table_cell cell_pair(double low, double high)
{
    if (!isfinite(low) || !isfinite(high))
        return (struct table_cell){.type = CELL_NONE};
    return (struct table_cell){.type = CELL_PAIR, .number = low, .high = high};
}

struct table_cell cell_estimate(const hsy_estimate *estimate)
{
    return (struct table_cell){.type = CELL_ESTIMATE, .estimate = *estimate};
}

struct table_cell cell_count(uint64_t count)
{
    return (struct table_cell){.type = CELL_COUNT, .count = count};
}

struct table_cell cell_bool(bool truth)
{
    return (struct table_cell){.type = CELL_BOOL, .truth = truth};
}

struct table_cell cell_shown(double number, double x, const char *format)
{
    struct table_cell c = cell_number(number);

    if (c.type == CELL_NUMBER)
        snprintf(c.shown, sizeof c.shown, format, x);
    return c;
}

/* ---- Numbers ------------------------------------------------------------- */

void cell_rough(struct table_cell *c, double x, const char *unit)
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
static void table_plain(char text[32], const struct table_cell *c)
{
    text[0] = '\0';
    if (c->type == CELL_NUMBER && isfinite(c->number))
        written_number(text, c->number);
    else if (c->type == CELL_COUNT)
        snprintf(text, 32, "%" PRIu64, c->count);
    else if (c->type == CELL_BOOL)
        snprintf(text, 32, "%s", c->truth ? "true" : "false");
}

/* ---- CSV [RFC 4180] ------------------------------------------------------ */

static void table_csv_cell(FILE *to, const struct table_cell *c)
{
    char text[32];

    if (c->type == CELL_TEXT) {
        written_csv(to, c->text, c->len);
        return;
    }
    if (c->type == CELL_HEX) {
        written_hex(to, c->text, c->len);
        return;
    }
    table_plain(text, c);
    fputs(text, to);
}

#define TABLE_SAID 16u /* most fields that rows of csv have too */

/* The fields that are named, in the order of the names. */
static size_t table_said(struct table_field out[TABLE_SAID],
                         const struct table_field *fields, size_t nfields,
                         const char *const *said)
{
    size_t n = 0;

    for (; said != NULL && *said != NULL; said++)
        for (size_t i = 0; i < nfields && n < TABLE_SAID; i++)
            if (strcmp(fields[i].name, *said) == 0)
                out[n++] = fields[i];
    return n;
}

void table_csv(FILE *to, const struct table *t, const struct table_field *said,
               size_t nsaid)
{
    for (size_t j = 0; j < t->ncolumns; j++) {
        if (j != 0)
            putc(',', to);
        written_csv(to, t->columns[j].name, strlen(t->columns[j].name));
    }
    for (size_t j = 0; j < nsaid; j++)
        fprintf(to, ",%s", said[j].name);
    putc('\n', to);
    for (size_t i = 0; i < t->nrows && !ferror(to); i++) {
        for (size_t j = 0; j < t->ncolumns; j++) {
            struct table_cell c = {.type = CELL_NONE};

            t->cell(t->ctx, i, j, &c);
            if (j != 0)
                putc(',', to);
            table_csv_cell(to, &c);
        }
        for (size_t j = 0; j < nsaid; j++) {
            putc(',', to);
            table_csv_cell(to, &said[j].cell);
        }
        putc('\n', to);
    }
}

/* ---- JSON [RFC 8259] ----------------------------------------------------- */

static void table_json_pair(struct put *p, const char *name, double low,
                            double high)
{
    put_array(p, name);
    put_number(p, NULL, low);
    put_number(p, NULL, high);
    put_end(p, ']');
}

void cell_put(struct put *p, const char *name, const struct table_cell *c)
{
    switch (c->type) {
    case CELL_NONE:
        put_null(p, name);
        return;
    case CELL_TEXT:
        put_text(p, name, c->text, c->len);
        return;
    case CELL_HEX:
        put_hex(p, name, (const uint8_t *)c->text, c->len);
        return;
    case CELL_NUMBER:
        put_number(p, name, c->number);
        return;
    case CELL_COUNT:
        put_count(p, name, c->count);
        return;
    case CELL_BOOL:
        put_bool(p, name, c->truth);
        return;
    case CELL_PAIR:
        table_json_pair(p, name, c->number, c->high);
        return;
    case CELL_ESTIMATE:
        put_object(p, name);
        put_estimate(p, &c->estimate);
        put_end(p, '}');
        return;
    }
}

static void table_json_row(struct put *p, const struct table *t, size_t row)
{
    for (size_t j = 0; j < t->ncolumns; j++) {
        struct table_cell c = {.type = CELL_NONE};

        t->cell(t->ctx, row, j, &c);
        cell_put(p, t->columns[j].name, &c);
    }
}

static void table_json(FILE *to, const struct table *t,
                       const struct table_field *fields, size_t nfields,
                       const char *rows_name)
{
    struct put p;

    put_begin(&p, to);
    for (size_t i = 0; i < nfields; i++)
        cell_put(&p, fields[i].name, &fields[i].cell);
    if (rows_name == NULL) {
        table_json_row(&p, t, 0);
        put_finish(&p);
        return;
    }
    put_array_lines(&p, rows_name);
    for (size_t i = 0; i < t->nrows && !ferror(to); i++) {
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

static void table_show(struct table_shown *s, const struct table_cell *c)
{
    char plain[48];

    if (c->shown[0] != '\0') {
        table_cut(s, c->shown, strlen(c->shown));
        return;
    }
    if (c->type == CELL_TEXT) {
        table_cut(s, c->text, c->len);
        return;
    }
    if (c->type == CELL_NUMBER)
        snprintf(plain, sizeof plain, "%.6g", c->number);
    else
        table_plain(plain, c);
    if (plain[0] == '\0')
        snprintf(plain, sizeof plain, "-");
    table_cut(s, plain, strlen(plain));
}

static const char *table_title(const struct table_column *c)
{
    return c->title != NULL ? c->title : c->name;
}

/* Text stands left, numbers right; a column is what its first row is. */
static bool table_left(const struct table *t, size_t column)
{
    struct table_cell c = {.type = CELL_NONE};

    if (t->nrows == 0)
        return true;
    t->cell(t->ctx, 0, column, &c);
    return c.type == CELL_TEXT;
}

static void table_pad(FILE *to, size_t n)
{
    while (n-- > 0)
        putc(' ', to);
}

/* Text with pad spaces beside it; nothing trails the last cell. */
static void table_put(FILE *to, const char *text, size_t len, size_t pad,
                      bool left, bool first, bool last)
{
    if (last && left && len == 0)
        return;
    if (!first)
        fputs("  ", to);
    if (!left)
        table_pad(to, pad);
    fwrite(text, 1, len, to);
    if (left && !last)
        table_pad(to, pad);
}

struct table_layout {
    size_t columns[TABLE_COLUMNS_MAX]; /* those that are shown */
    size_t widths[TABLE_COLUMNS_MAX];
    bool left[TABLE_COLUMNS_MAX];
    size_t n;
};

static void table_measure(struct table_layout *l, const struct table *t)
{
    l->n = 0;
    for (size_t j = 0; j < t->ncolumns && l->n < TABLE_COLUMNS_MAX; j++) {
        const char *title = table_title(&t->columns[j]);
        size_t width;

        if (title[0] == '\0')
            continue;
        width = strlen(title); /* plain ASCII */
        for (size_t i = 0; i < t->nrows; i++) {
            struct table_cell c = {.type = CELL_NONE};
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

static void table_head(FILE *to, const struct table_layout *l,
                       const struct table *t)
{
    for (size_t k = 0; k < l->n; k++) {
        const char *title = table_title(&t->columns[l->columns[k]]);
        size_t len = strlen(title);

        table_put(to, title, len, l->widths[k] - len, l->left[k], k == 0,
                  k + 1 == l->n);
    }
    putc('\n', to);
}

static void table_row(FILE *to, const struct table_layout *l,
                      const struct table *t, size_t row)
{
    for (size_t k = 0; k < l->n; k++) {
        struct table_cell c = {.type = CELL_NONE};
        struct table_shown shown;

        t->cell(t->ctx, row, l->columns[k], &c);
        table_show(&shown, &c);
        table_put(to, shown.text, shown.len, l->widths[k] - shown.width,
                  l->left[k], k == 0, k + 1 == l->n);
    }
    putc('\n', to);
}

static void table_aligned(FILE *to, const struct table *t)
{
    /* For wcwidth; without it every character counts as one column. */
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    const locale_t before = utf8 != (locale_t)0 ? uselocale(utf8) : utf8;
    struct table_layout l;

    table_measure(&l, t);
    table_head(to, &l, t);
    for (size_t i = 0; i < t->nrows && !ferror(to); i++)
        table_row(to, &l, t, i);
    if (utf8 != (locale_t)0) {
        uselocale(before);
        freelocale(utf8);
    }
}

void table_add(struct table_fields *f, const char *name, struct table_cell cell)
{
    if (f->n < TABLE_FIELDS)
        f->list[f->n++] = (struct table_field){name, cell};
}

/* ---- All three ----------------------------------------------------------- */

void table_print(FILE *to, enum table_format format, const struct table *table,
                 const struct table_field *fields, size_t nfields,
                 const char *rows_name)
{
    table_print_said(to, format, table, fields, nfields, rows_name, NULL);
}

void table_print_said(FILE *to, enum table_format format,
                      const struct table *table,
                      const struct table_field *fields, size_t nfields,
                      const char *rows_name, const char *const *said)
{
    struct table_field found[TABLE_SAID];

    if (format == TABLE_CSV)
        table_csv(to, table, found, table_said(found, fields, nfields, said));
    else if (format == TABLE_JSON)
        table_json(to, table, fields, nfields, rows_name);
    else
        table_aligned(to, table);
}

/* ---- One row ------------------------------------------------------------- */

static void flat_cell(const void *ctx, size_t row, size_t column,
                      struct table_cell *out)
{
    const struct table_field *const *fields = ctx;

    (void)row;
    *out = fields[column]->cell;
}

void table_print_flat(FILE *to, enum table_format format,
                      const struct table_field *fields, size_t nfields)
{
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct table_field *there[TABLE_COLUMNS_MAX];
    struct table t = {columns, 0, 1, flat_cell, there};

    for (size_t i = 0; i < nfields && t.ncolumns < TABLE_COLUMNS_MAX; i++) {
        if (fields[i].cell.type == CELL_NONE)
            continue;
        columns[t.ncolumns] = (struct table_column){fields[i].name, NULL};
        there[t.ncolumns++] = &fields[i];
    }
    table_print(to, format, &t, NULL, 0, NULL);
}

/* ---- Paragraphs ---------------------------------------------------------- */

#define TABLE_WIDTH 78u /* columns of a paragraph */
#define TABLE_SENTENCES 1024u

void table_paragraph(FILE *to, const char *text)
{
    while (strlen(text) > TABLE_WIDTH) {
        size_t n = TABLE_WIDTH;

        while (n > 0 && text[n] != ' ')
            n--;
        if (n == 0)
            n = strcspn(text, " ");
        fprintf(to, "%.*s\n", (int)n, text);
        text += n + (text[n] == ' ');
    }
    fprintf(to, "%s\n", text);
}

void table_say(FILE *to, const char *format, ...)
{
    char text[TABLE_SENTENCES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_paragraph(to, text);
}
