/* json.c - JSON written into memory or to a stream, member by member. */
#include "host/base/json.h"

#include "host/base/host_fail.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static hsy_status put_memory(struct put *p, bool tight, hsy_error *err)
{
    *p = (struct put){.tight = tight, .depth = 1};
    if (!written_open(&p->in))
        return host_nomem(err);
    p->to = p->in.to;
    putc('{', p->to);
    return HSY_OK;
}

hsy_status put_open(struct put *p, hsy_error *err)
{
    return put_memory(p, false, err);
}

hsy_status put_open_tight(struct put *p, hsy_error *err)
{
    return put_memory(p, true, err);
}

hsy_status put_close(struct put *p, char **text, size_t *len, hsy_error *err)
{
    putc('}', p->to);
    return written_close(&p->in, text, len, err);
}

void put_abort(struct put *p)
{
    if (p->to == NULL)
        return;
    fclose(p->to);
    free(p->in.text);
    *p = (struct put){0};
}

/* ---- What stands between values ------------------------------------------ */

static bool put_has_lines(const struct put *p)
{
    return p->lines >> p->depth & 1;
}

static void put_line(const struct put *p, unsigned depth)
{
    fprintf(p->to, "\n%*s", 2 * (int)depth, "");
}

static void put_name(struct put *p, const char *name)
{
    if (p->comma)
        fputs(p->tight || put_has_lines(p) ? "," : ", ", p->to);
    if (put_has_lines(p))
        put_line(p, p->depth);
    p->comma = true;
    if (name == NULL)
        return;
    written_json(p->to, name, strlen(name));
    fputs(p->tight ? ":" : ": ", p->to);
}

static void put_inside(struct put *p, char bracket, bool lines)
{
    putc(bracket, p->to);
    p->comma = false;
    p->depth++;
    p->lines |= (uint32_t)lines << p->depth;
}

static void put_outside(struct put *p, char bracket)
{
    const bool lines = put_has_lines(p) && p->comma;

    p->lines &= ~((uint32_t)1 << p->depth);
    p->depth--;
    if (lines)
        put_line(p, p->depth);
    putc(bracket, p->to);
    p->comma = true;
}

void put_begin(struct put *p, FILE *to)
{
    *p = (struct put){.to = to};
    put_inside(p, '{', true);
}

void put_finish(struct put *p)
{
    put_outside(p, '}');
    putc('\n', p->to);
}

void put_object(struct put *p, const char *name)
{
    put_name(p, name);
    put_inside(p, '{', false);
}

void put_array(struct put *p, const char *name)
{
    put_name(p, name);
    put_inside(p, '[', false);
}

void put_array_lines(struct put *p, const char *name)
{
    put_name(p, name);
    put_inside(p, '[', true);
}

void put_end(struct put *p, char bracket)
{
    put_outside(p, bracket);
}

/* ---- Values -------------------------------------------------------------- */

/* A member NAME_hex beside it: its bytes. */
static void put_text_hex(struct put *p, const char *name, const char *text,
                         size_t len)
{
    fprintf(p->to, p->tight ? ",\"%s_hex\":\"" : ", \"%s_hex\": \"", name);
    written_hex(p->to, text, len);
    putc('"', p->to);
}

void put_text(struct put *p, const char *name, const char *text, size_t len)
{
    put_name(p, name);
    if (p->tight && written_utf8(text, len))
        written_json_exact(p->to, text, len);
    else
        written_json(p->to, text, len);
    if (name != NULL && !written_utf8(text, len))
        put_text_hex(p, name, text, len);
}

void put_word(struct put *p, const char *name, const char *word)
{
    if (word != NULL)
        put_text(p, name, word, strlen(word));
    else
        put_null(p, name);
}

void put_number(struct put *p, const char *name, double x)
{
    char text[WRITTEN_NUMBER];

    if (!isfinite(x)) {
        put_null(p, name);
        return;
    }
    written_number(text, x);
    put_name(p, name);
    fputs(text, p->to);
}

void put_estimate(struct put *p, const hsy_estimate *e)
{
    put_number(p, "estimate", e->value);
    put_number(p, "stderr", e->sd);
    put_number(p, "low", e->low);
    put_number(p, "high", e->high);
}

void put_count(struct put *p, const char *name, uint64_t n)
{
    put_name(p, name);
    fprintf(p->to, "%" PRIu64, n);
}

void put_bool(struct put *p, const char *name, bool truth)
{
    put_name(p, name);
    fputs(truth ? "true" : "false", p->to);
}

void put_null(struct put *p, const char *name)
{
    put_name(p, name);
    fputs("null", p->to);
}

void put_hex(struct put *p, const char *name, const uint8_t *bytes, size_t n)
{
    put_name(p, name);
    putc('"', p->to);
    written_hex(p->to, bytes, n);
    putc('"', p->to);
}

void put_json(struct put *p, const char *name, const char *json, size_t len)
{
    put_name(p, name);
    fwrite(json, 1, len, p->to);
}

void put_day(struct put *p, const char *name, uint32_t day)
{
    char text[DAY_TEXT];

    day_text(text, day);
    put_word(p, name, text);
}
