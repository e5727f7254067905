/* rappor_csv.c - lines of CSV from a file. */
#define _GNU_SOURCE /* dup */
#include "host/format/rappor_csv.h"

#include "host/base/csv.h"
#include "host/base/digits.h"
#include "host/base/files.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CSV_READ (256u << 10)
#define CSV_LINE_MAX (64u << 20) /* 4096 cohorts of 64 hashes take 3 MiB */

hsy_status rappor_csv_open(struct rappor_csv *c, const char *path)
{
    *c = (struct rappor_csv){.fd = -1};
    c->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                   : open(path, O_RDONLY | O_CLOEXEC);
    return c->fd != -1 ? HSY_OK : HSY_E_IO;
}

void rappor_csv_close(struct rappor_csv *c)
{
    if (c->fd != -1)
        close(c->fd);
    free(c->buffer);
    free(c->fields);
    *c = (struct rappor_csv){.fd = -1};
}

hsy_status rappor_csv_bad(const struct rappor_csv *c, hsy_error *err,
                          uint32_t field, const char *msg)
{
    return host_fail_at(err, HSY_E_FORMAT, field, msg, HSY_UNIT_LINE, c->line);
}

/* Room behind what is left of the last line. */
static hsy_status csv_grow(struct rappor_csv *c, hsy_error *err)
{
    char *more;

    memmove(c->buffer, c->buffer + c->begin, c->end - c->begin);
    c->end -= c->begin;
    c->begin = 0;
    if (c->room - c->end > CSV_READ)
        return HSY_OK;
    if (c->end > CSV_LINE_MAX)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE, "the line is too long");
    more = realloc(c->buffer, 2 * c->end + 2 * CSV_READ);
    if (more == NULL)
        return HSY_E_NOMEM;
    c->buffer = more;
    c->room = 2 * c->end + 2 * CSV_READ;
    return HSY_OK;
}

static hsy_status csv_refill(struct rappor_csv *c, hsy_error *err)
{
    hsy_status st;
    ssize_t got;

    if (c->buffer == NULL) {
        c->room = 2 * CSV_READ;
        c->buffer = malloc(c->room);
        if (c->buffer == NULL)
            return HSY_E_NOMEM;
    }
    st = csv_grow(c, err);
    if (st != HSY_OK)
        return st;
    do
        got = read(c->fd, c->buffer + c->end, CSV_READ);
    while (got == -1 && retry_read(c->fd));
    if (got == -1)
        return HSY_E_IO;
    c->end += (size_t)got;
    c->ended = got == 0;
    return HSY_OK;
}

/* The next line without its end, NUL-terminated, in *text. */
static hsy_status csv_line(struct rappor_csv *c, char **text, size_t *len,
                           hsy_error *err)
{
    size_t seen = 0;
    char *stop = NULL;

    c->line++;
    while (c->buffer == NULL ||
           (stop = memchr(c->buffer + c->begin + seen, '\n',
                          c->end - c->begin - seen)) == NULL) {
        hsy_status st;

        if (c->ended)
            break;
        seen = c->end - c->begin;
        st = csv_refill(c, err);
        if (st != HSY_OK)
            return st;
    }
    if (stop == NULL && c->begin == c->end)
        return HSY_E_END;
    *text = c->buffer + c->begin;
    *len = stop != NULL ? (size_t)(stop - *text) : c->end - c->begin;
    c->begin += *len + (stop != NULL);
    if (*len > 0 && (*text)[*len - 1] == '\r')
        (*len)--;
    (*text)[*len] = '\0'; /* there is always room for one more */
    return HSY_OK;
}

static bool csv_add(struct rappor_csv *c, char *field)
{
    if (!grow_room(&c->fields, &c->fields_room, c->nfields + 1,
                   sizeof *c->fields))
        return false;
    c->fields[c->nfields++] = field;
    return true;
}

/* The fields, each undone in its place and ended by NUL. */
static hsy_status csv_split(struct rappor_csv *c, char *text, size_t len,
                            hsy_error *err)
{
    struct csv_record r = {(uint8_t *)text, (uint8_t *)text + len, true, ','};

    while (r.more) {
        char *field = text + (r.at - (uint8_t *)text);
        size_t n;

        if (!csv_add(c, field))
            return HSY_E_NOMEM;
        if (!csv_take(&r, (uint8_t *)field, &n))
            return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                                  "a quote is out of place");
        field[n] = '\0';
    }
    return HSY_OK;
}

hsy_status rappor_csv_next(struct rappor_csv *c, hsy_error *err)
{
    char *text = NULL;
    size_t len = 0;
    hsy_status st = csv_line(c, &text, &len, err);

    if (st != HSY_OK)
        return st;
    c->nfields = 0;
    if (c->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                              "a byte-order mark: remove it");
    if (c->line == 1 && strncmp(text, "\x1f\x8b", 2) == 0)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                              "gzip data: pipe it through zcat, and name '-'");
    if (len == 0)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE, "the line is empty");
    if (strlen(text) != len)
        return rappor_csv_bad(c, err, HSY_FIELD_NONE,
                              "the line has a NUL byte");
    return csv_split(c, text, len, err);
}

bool rappor_csv_count(const char *text, uint64_t most, uint64_t *out)
{
    return digits_parse(out, text, strlen(text), most);
}
