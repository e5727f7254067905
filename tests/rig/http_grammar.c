/* http_grammar.c - see http_grammar.h. */
#include "rig/http_grammar.h"

#include <string.h>
#include <strings.h>

/* ---- Characters (RFC 5234, B.1; RFC 9110, 5.5 and 5.6.2) ----------------- */

static bool in(const char *set, uint8_t c)
{
    return c != 0 && strchr(set, c) != NULL;
}

static bool DIGIT(uint8_t c)
{
    return in("0123456789", c);
}

static bool ALPHA(uint8_t c)
{
    return in("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c);
}

static bool tchar(uint8_t c)
{
    return in("!#$%&'*+-.^_`|~", c) || DIGIT(c) || ALPHA(c);
}

static bool VCHAR(uint8_t c)
{
    return c >= 0x21 && c <= 0x7e;
}

static bool SP_HTAB(uint8_t c)
{
    return c == 0x20 || c == 0x09;
}

/* VCHAR / obs-text, and the blanks that may stand between them. */
static bool field_char(uint8_t c)
{
    return VCHAR(c) || c >= 0x80 || SP_HTAB(c);
}

/* ---- A line, from its beginning to its end ------------------------------- */

struct cursor {
    const uint8_t *text;
    size_t at, end;
};

/* The longest run of such characters. */
static struct message_text run(struct cursor *c, bool (*of)(uint8_t))
{
    struct message_text t = {(uint16_t)c->at, 0};

    while (c->at < c->end && of(c->text[c->at])) {
        c->at++;
        t.len++;
    }
    return t;
}

static bool one(struct cursor *c, char wanted)
{
    if (c->at == c->end || c->text[c->at] != (uint8_t)wanted)
        return false;
    c->at++;
    return true;
}

static bool spelled(const struct cursor *c, struct message_text t,
                    const char *exactly)
{
    return t.len == strlen(exactly) &&
           memcmp(c->text + t.at, exactly, t.len) == 0;
}

/* HTTP-version, or other visible characters: then it is not known. */
static bool version(struct cursor *c, bool *known, unsigned *minor)
{
    const struct message_text t = run(c, VCHAR);

    *minor = spelled(c, t, "HTTP/1.1") ? 1 : 0;
    *known = *minor == 1 || spelled(c, t, "HTTP/1.0");
    return t.len != 0;
}

/* request-line = method SP request-target SP HTTP-version */
static bool request_line(struct cursor *c, struct grammar_reading *out,
                         bool *known)
{
    out->method = run(c, tchar);
    if (out->method.len == 0 || !one(c, ' '))
        return false;
    out->target = run(c, VCHAR);
    if (out->target.len == 0 || c->text[out->target.at] != '/' || !one(c, ' '))
        return false;
    return version(c, known, &out->minor) && c->at == c->end;
}

/* status-line = HTTP-version SP status-code SP [ reason-phrase ] */
static bool status_line(struct cursor *c, struct grammar_reading *out,
                        bool *known)
{
    struct message_text code;

    if (!version(c, known, &out->minor) || !*known || !one(c, ' '))
        return false;
    code = run(c, DIGIT);
    if (code.len != 3 || !one(c, ' '))
        return false;
    for (unsigned i = 0; i < 3; i++)
        out->status = 10 * out->status + (c->text[code.at + i] - '0');
    run(c, field_char);
    return c->at == c->end && out->status >= 200 && out->status <= 599;
}

/* field-line = field-name ":" OWS field-value OWS, of a request without the
 * latter */
static bool field_line(struct cursor *c, enum message_kind kind,
                       struct message_field *out)
{
    bool blank = false;

    out->name = run(c, tchar);
    if (out->name.len == 0 || !one(c, ':'))
        return false;
    run(c, SP_HTAB);
    out->value = run(c, field_char);
    while (out->value.len != 0 &&
           SP_HTAB(c->text[out->value.at + out->value.len - 1])) {
        out->value.len--;
        blank = true;
    }
    return c->at == c->end && (!blank || kind == MESSAGE_RESPONSE);
}

/* ---- Fields -------------------------------------------------------------- */

static bool named(const uint8_t *text, struct message_text t, const char *name)
{
    return t.len == strlen(name) &&
           strncasecmp((const char *)text + t.at, name, t.len) == 0;
}

static unsigned count(const struct grammar_reading *r, const uint8_t *text,
                      const char *name, struct message_text *value)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->nfields; i++)
        if (named(text, r->fields[i].name, name)) {
            *value = r->fields[i].value;
            n++;
        }
    return n;
}

/* Content-Length = 1*DIGIT, of which we take 18. */
static bool content_length(const uint8_t *text, struct message_text t,
                           uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < t.len; i++) {
        if (!DIGIT(text[t.at + i]) || i == 18)
            return false;
        *out = 10 * *out + (uint64_t)(text[t.at + i] - '0');
    }
    return t.len != 0;
}

/* Connection = #connection-option */
static bool has_option(const uint8_t *text, struct message_text list,
                       const char *option)
{
    size_t at = list.at;
    const size_t end = at + list.len;

    while (at <= end) {
        size_t from = at, to;

        while (at < end && text[at] != ',')
            at++;
        to = at++;
        while (from < to && SP_HTAB(text[from]))
            from++;
        while (to > from && SP_HTAB(text[to - 1]))
            to--;
        if (named(text,
                  (struct message_text){(uint16_t)from, (uint16_t)(to - from)},
                  option))
            return true;
    }
    return false;
}

static bool connection_has(const struct grammar_reading *r, const uint8_t *text,
                           const char *option)
{
    for (unsigned i = 0; i < r->nfields; i++)
        if (named(text, r->fields[i].name, "Connection") &&
            has_option(text, r->fields[i].value, option))
            return true;
    return false;
}

static bool disguised(const uint8_t *text, struct message_text name)
{
    return named(text, name, "Content_Length") ||
           named(text, name, "Transfer_Encoding");
}

/* ---- What hearsay takes of that ------------------------------------------ */

static int grammar_request(struct grammar_reading *r, const uint8_t *text,
                           bool known)
{
    struct message_text value = {0, 0}, coding;
    const unsigned hosts = count(r, text, "Host", &value);
    const unsigned codings = count(r, text, "Transfer-Encoding", &coding);
    const unsigned lengths = count(r, text, "Content-Length", &value);
    unsigned expects;

    if (!known)
        return 505;
    if (hosts > 1 || (hosts == 0 && r->minor == 1))
        return 400;
    if (lengths > 1 || (lengths == 1 && codings != 0))
        return 400;
    if (lengths == 1 && !content_length(text, value, &r->length))
        return 400;
    if (codings != 0)
        return 411;
    if (count(r, text, "Content-Encoding", &value) != 0)
        return 415;
    if (count(r, text, "Upgrade", &value) != 0)
        return 400;
    expects = count(r, text, "Expect", &value);
    if (expects > 1 || (expects == 1 && !named(text, value, "100-continue")))
        return 417;
    r->expects_continue = expects == 1 && r->minor == 1;
    return 0;
}

static int grammar_response(struct grammar_reading *r, const uint8_t *text)
{
    struct message_text value = {0, 0};
    const unsigned lengths = count(r, text, "Content-Length", &value);

    if (count(r, text, "Transfer-Encoding", &(struct message_text){0, 0}) != 0)
        return 502;
    if (lengths > 1 ||
        (lengths == 1 && !content_length(text, value, &r->length)))
        return 502;
    if (count(r, text, "Content-Type", &value) > 1)
        return 502;
    if (r->status == 204 || r->status == 304)
        return r->length != 0 ? 502 : 0;
    return lengths == 1 ? 0 : 502;
}

static void grammar_whole(struct grammar_reading *r, enum message_kind kind,
                          const uint8_t *text, size_t size, bool known)
{
    r->size = size;
    r->close = connection_has(r, text, "close") ||
               (r->minor == 0 && !connection_has(r, text, "keep-alive"));
    r->refusal = kind == MESSAGE_REQUEST ? grammar_request(r, text, known)
                                         : grammar_response(r, text);
    r->state = r->refusal == 0 ? MESSAGE_WHOLE : MESSAGE_BAD;
}

/* Returns the status of a refusal, or 0. */
static int grammar_line(struct grammar_reading *r, enum message_kind kind,
                        struct cursor *line, bool first, bool *known)
{
    if (!first && r->nfields == MESSAGE_FIELDS)
        return 431;
    if (!first && field_line(line, kind, &r->fields[r->nfields]))
        return disguised(line->text, r->fields[r->nfields++].name) ? 400 : 0;
    if (!first)
        return 400;
    if (kind == MESSAGE_REQUEST)
        return request_line(line, r, known) ? 0 : 400;
    return status_line(line, r, known) ? 0 : 400;
}

void grammar_read(struct grammar_reading *r, enum message_kind kind,
                  const uint8_t *text, size_t len)
{
    const size_t most = len < MESSAGE_HEAD_BYTES ? len : MESSAGE_HEAD_BYTES;
    bool first = true, known = false;
    size_t from = 0;

    memset(r, 0, sizeof *r);
    r->state = MESSAGE_BAD;
    if (kind == MESSAGE_REQUEST && most >= 2 && memcmp(text, "\r\n", 2) == 0)
        from = 2;
    for (size_t at = from; at < most; at++) {
        struct cursor line = {text, from, at - 1};

        if (text[at] != '\n')
            continue;
        r->refusal = 400;
        if (at == from || text[at - 1] != '\r')
            return; /* a bare line feed */
        if (line.at == line.end && !first) {
            grammar_whole(r, kind, text, at + 1, known);
            return;
        }
        r->refusal = grammar_line(r, kind, &line, first, &known);
        if (r->refusal != 0)
            return;
        first = false;
        from = at + 1;
    }
    if (most < MESSAGE_HEAD_BYTES)
        r->state = MESSAGE_MORE;
    else
        r->refusal = first ? 414 : 431;
}

/* ---- Both readings ------------------------------------------------------- */

static bool same(struct message_text a, struct message_text b)
{
    return a.len == b.len && (a.at == b.at || a.len == 0);
}

const char *grammar_differs(const struct grammar_reading *a,
                            enum message_state state, const struct message *m)
{
    if (a->state != state)
        return "whether it is whole";
    if (state == MESSAGE_BAD)
        return a->refusal == m->refusal ? NULL : "the status of the refusal";
    if (state == MESSAGE_MORE)
        return NULL;
    if (a->size != m->size || a->length != m->length)
        return "where it ends";
    if (a->status != m->status || a->minor != m->minor ||
        a->close != m->close || a->expects_continue != m->expects_continue)
        return "what it means";
    if (!same(a->method, m->method) || !same(a->target, m->target) ||
        a->nfields != m->nfields)
        return "its first line or the number of its fields";
    for (unsigned i = 0; i < a->nfields; i++)
        if (!same(a->fields[i].name, m->fields[i].name) ||
            !same(a->fields[i].value, m->fields[i].value))
            return "a field";
    return NULL;
}

enum message_state grammar_feed(struct message *m, enum message_kind kind,
                                const uint8_t *text, size_t len,
                                uint64_t pieces)
{
    enum message_state state = MESSAGE_MORE;
    const uint64_t step = pieces % 61 + 1;
    size_t end = 0;

    message_begin(m, kind);
    while (state == MESSAGE_MORE && end < len) {
        end += pieces == 0 ? 1 : 1 + (size_t)((pieces >> 32) % step);
        pieces = pieces == 0 ? 0 : pieces * 6364136223846793005u + 1;
        state = message_read(m, (const char *)text, end < len ? end : len);
    }
    return state;
}
