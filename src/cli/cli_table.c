/* cli_table.c - rows as an aligned table, as CSV, or as JSON. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

struct cli_cell cli_count(uint64_t count)
{
    return (struct cli_cell){.type = CLI_COUNT, .count = count};
}

struct cli_cell cli_bool(bool truth)
{
    return (struct cli_cell){.type = CLI_BOOL, .truth = truth};
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

/* The fewest digits, from 15 on, that read back as the same double. */
static void table_number(char text[32], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, 32, "%.*g", digits, x);
        if (sscanf(text, "%lf", &back) == 1 && back == x)
            return;
    }
}

/* A number, count or flag as csv and json write it; "" for nothing. */
static void table_plain(char text[32], const struct cli_cell *c)
{
    text[0] = '\0';
    if (c->type == CLI_NUMBER && isfinite(c->number))
        table_number(text, c->number);
    else if (c->type == CLI_COUNT)
        snprintf(text, 32, "%" PRIu64, c->count);
    else if (c->type == CLI_BOOL)
        snprintf(text, 32, "%s", c->truth ? "true" : "false");
}

/* ---- CSV [RFC 4180] ------------------------------------------------------ */

static bool table_csv_plain(const char *text, size_t len)
{
    if (len == 0)
        return true;
    for (size_t i = 0; i < len; i++) {
        if (strchr(",\"\r\n", text[i]) != NULL)
            return false;
    }
    return text[0] != ' ' && text[len - 1] != ' ';
}

static void table_csv_text(const char *text, size_t len)
{
    if (table_csv_plain(text, len)) {
        fwrite(text, 1, len, stdout);
        return;
    }
    putchar('"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            putchar('"');
        putchar(text[i]);
    }
    putchar('"');
}

static void table_csv_cell(const struct cli_cell *c)
{
    char text[32];

    if (c->type == CLI_TEXT) {
        table_csv_text(c->text, c->len);
        return;
    }
    table_plain(text, c);
    fputs(text, stdout);
}

static void table_csv(const struct cli_table *t)
{
    for (size_t j = 0; j < t->ncolumns; j++) {
        if (j != 0)
            putchar(',');
        table_csv_text(t->columns[j].name, strlen(t->columns[j].name));
    }
    putchar('\n');
    for (size_t i = 0; i < t->nrows && !ferror(stdout); i++) {
        for (size_t j = 0; j < t->ncolumns; j++) {
            struct cli_cell c = {.type = CLI_NONE};

            t->cell(t->ctx, i, j, &c);
            if (j != 0)
                putchar(',');
            table_csv_cell(&c);
        }
        putchar('\n');
    }
}

/* ---- JSON [RFC 8259] ----------------------------------------------------- */

/* Bytes that are no UTF-8 become U+FFFD: json has no other bytes. */
static void table_json_text(const char *text, size_t len)
{
    putchar('"');
    for (size_t i = 0, n; i < len; i += n) {
        const uint8_t *p = (const uint8_t *)text + i;

        n = cli_utf8_one(p, len - i);
        if (n == 0) {
            fputs("\\ufffd", stdout);
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            printf("\\%c", *p);
        } else if (*p < 0x20 || *p == 0x7f) {
            printf("\\u%04x", *p);
        } else {
            fwrite(p, 1, n, stdout);
        }
    }
    putchar('"');
}

static void table_json_member(const char *name, const struct cli_cell *c)
{
    char text[32];

    table_json_text(name, strlen(name));
    fputs(": ", stdout);
    if (c->type == CLI_TEXT) {
        table_json_text(c->text, c->len);
        return;
    }
    table_plain(text, c);
    fputs(text[0] != '\0' ? text : "null", stdout);
}

static void table_json_row(const struct cli_table *t, size_t row)
{
    putchar('{');
    for (size_t j = 0; j < t->ncolumns; j++) {
        struct cli_cell c = {.type = CLI_NONE};

        t->cell(t->ctx, row, j, &c);
        if (j != 0)
            fputs(", ", stdout);
        table_json_member(t->columns[j].name, &c);
    }
    putchar('}');
}

static void table_json(const struct cli_table *t,
                       const struct cli_field *fields, size_t nfields,
                       const char *rows_name)
{
    fputs("{\n", stdout);
    for (size_t i = 0; i < nfields; i++) {
        fputs("  ", stdout);
        table_json_member(fields[i].name, &fields[i].cell);
        fputs(t != NULL || i + 1 < nfields ? ",\n" : "\n", stdout);
    }
    if (t != NULL) {
        printf("  \"%s\": [", rows_name);
        for (size_t i = 0; i < t->nrows && !ferror(stdout); i++) {
            fputs(i != 0 ? ",\n    " : "\n    ", stdout);
            table_json_row(t, i);
        }
        fputs(t->nrows != 0 ? "\n  ]\n" : "]\n", stdout);
    }
    fputs("}\n", stdout);
}

/* ---- Aligned ------------------------------------------------------------- */

#define TABLE_COLUMNS_MAX 32u
#define TABLE_TEXT_MAX 60u /* characters of a text in a table */

/* Where to cut a text so that at most max characters (code points) are left,
 * and how many there are. Control characters end a table's line early. */
static size_t table_cut(const char *text, size_t len, size_t max, size_t *chars)
{
    size_t i = 0, n = 0;

    while (i < len && n < max && (unsigned char)text[i] >= 0x20 &&
           text[i] != 0x7f) {
        i++;
        while (i < len && ((unsigned char)text[i] & 0xc0) == 0x80)
            i++;
        n++;
    }
    *chars = n;
    return i;
}

struct table_shown {
    char buffer[48];
    const char *text;
    size_t len;   /* bytes of text to print */
    size_t chars; /* columns they take, with the mark of a cut */
    bool cut;
};

static void table_show(struct table_shown *s, const struct cli_cell *c)
{
    size_t len;

    s->text = s->buffer;
    if (c->shown[0] != '\0') {
        s->text = c->shown;
    } else if (c->type == CLI_TEXT) {
        s->text = c->text;
    } else if (c->type == CLI_NUMBER) {
        snprintf(s->buffer, sizeof s->buffer, "%.6g", c->number);
    } else {
        char plain[32];

        table_plain(plain, c);
        snprintf(s->buffer, sizeof s->buffer, "%s",
                 plain[0] != '\0' ? plain : "-");
    }
    len = s->text == c->text ? c->len : strlen(s->text);
    s->len = table_cut(s->text, len, TABLE_TEXT_MAX, &s->chars);
    s->cut = s->len < len;
    if (s->cut)
        s->chars += 3;
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
static void table_put(const char *text, size_t len, bool cut, size_t pad,
                      bool left, bool first, bool last)
{
    if (last && left && len == 0)
        return;
    if (!first)
        fputs("  ", stdout);
    if (!left)
        table_pad(pad);
    fwrite(text, 1, len, stdout);
    if (cut)
        fputs("...", stdout);
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
        table_cut(title, strlen(title), SIZE_MAX, &width);
        for (size_t i = 0; i < t->nrows; i++) {
            struct cli_cell c = {.type = CLI_NONE};
            struct table_shown shown;

            t->cell(t->ctx, i, j, &c);
            table_show(&shown, &c);
            if (shown.chars > width)
                width = shown.chars;
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
        size_t chars;
        size_t len = table_cut(title, strlen(title), SIZE_MAX, &chars);

        table_put(title, len, false, l->widths[k] - chars, l->left[k], k == 0,
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
        table_put(shown.text, shown.len, shown.cut, l->widths[k] - shown.chars,
                  l->left[k], k == 0, k + 1 == l->n);
    }
    putchar('\n');
}

static void table_aligned(const struct cli_table *t)
{
    struct table_layout l;

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
    if (format == CLI_CSV)
        table_csv(table);
    else if (format == CLI_JSON)
        table_json(table, fields, nfields, rows_name);
    else
        table_aligned(table);
}

static void table_fields_csv(const struct cli_field *fields, size_t nfields)
{
    for (size_t i = 0; i < nfields; i++) {
        fputs(i != 0 ? "," : "", stdout);
        table_csv_text(fields[i].name, strlen(fields[i].name));
    }
    putchar('\n');
    for (size_t i = 0; i < nfields; i++) {
        fputs(i != 0 ? "," : "", stdout);
        table_csv_cell(&fields[i].cell);
    }
    putchar('\n');
}

static void table_fields_lines(const struct cli_field *fields, size_t nfields)
{
    size_t width = 0;

    for (size_t i = 0; i < nfields; i++) {
        size_t len = strlen(fields[i].name);

        width = len > width ? len : width;
    }
    for (size_t i = 0; i < nfields; i++) {
        struct table_shown shown;

        table_show(&shown, &fields[i].cell);
        printf("%-*s  %.*s%s\n", (int)width, fields[i].name, (int)shown.len,
               shown.text, shown.cut ? "..." : "");
    }
}

void cli_print_fields(enum cli_format format, const struct cli_field *fields,
                      size_t nfields)
{
    if (format == CLI_CSV)
        table_fields_csv(fields, nfields);
    else if (format == CLI_JSON)
        table_json(NULL, fields, nfields, NULL);
    else
        table_fields_lines(fields, nfields);
}
