/* message.c - see message.h. */
#include "server/http/message.h"

#include "host/base/digits.h"

#include <string.h>
#include <strings.h>

#define MESSAGE_LENGTH_DIGITS 18u

/* ---- Characters ---------------------------------------------------------- */

static bool message_is_tchar(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' ||
           (c != '\0' && strchr("!#$%&'*+.^_`|~", c) != NULL);
}

static bool message_is_token(const char *bytes, struct message_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!message_is_tchar(bytes[text.at + i]))
            return false;
    return text.len != 0;
}

static bool message_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns true if all characters are visible ASCII, and there are some. */
static bool message_is_visible(const char *bytes, struct message_text text)
{
    for (size_t i = 0; i < text.len; i++)
        if (bytes[text.at + i] <= ' ' || bytes[text.at + i] >= 0x7f)
            return false;
    return text.len != 0;
}

/* Returns true if there are no control characters but tabs. Bytes from 0x80 on
 * are obs-text. */
static bool message_is_printable(const char *bytes, struct message_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)bytes[text.at + i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* ---- Parts of a line ----------------------------------------------------- */

/* Removes the part before the first `mark` from a line, and the mark. */
static bool message_cut(struct message_text *part, struct message_text *line,
                        const char *bytes, char mark)
{
    const char *from = bytes + line->at, *found = memchr(from, mark, line->len);

    if (found == NULL)
        return false;
    *part = (struct message_text){line->at, (uint16_t)(found - from)};
    line->at = (uint16_t)(line->at + part->len + 1);
    line->len = (uint16_t)(line->len - part->len - 1);
    return true;
}

static struct message_text message_trim(const char *bytes,
                                        struct message_text text)
{
    while (text.len != 0 && message_is_blank(bytes[text.at]))
        text.at++, text.len--;
    while (text.len != 0 && message_is_blank(bytes[text.at + text.len - 1]))
        text.len--;
    return text;
}

bool message_is(const char *bytes, struct message_text text, const char *word)
{
    return text.len == strlen(word) &&
           strncasecmp(bytes + text.at, word, text.len) == 0;
}

/* Returns true if a list such as "a, b" has this word. */
static bool message_lists(const char *bytes, struct message_text list,
                          const char *word)
{
    struct message_text part;

    while (message_cut(&part, &list, bytes, ','))
        if (message_is(bytes, message_trim(bytes, part), word))
            return true;
    return message_is(bytes, message_trim(bytes, list), word);
}

/* ---- The first line ------------------------------------------------------ */

static bool message_same(const char *bytes, struct message_text text,
                         const char *word)
{
    return text.len == strlen(word) &&
           memcmp(bytes + text.at, word, text.len) == 0;
}

/* Sets the minor version. */
static bool message_version(struct message *m, const char *bytes,
                            struct message_text text)
{
    m->minor = message_same(bytes, text, "HTTP/1.1");
    return m->minor == 1 || message_same(bytes, text, "HTTP/1.0");
}

/* METHOD SP /target SP HTTP/1.1 */
static bool message_request_line(struct message *m, const char *bytes,
                                 struct message_text line)
{
    if (!message_cut(&m->method, &line, bytes, ' ') ||
        !message_cut(&m->target, &line, bytes, ' '))
        return false;
    m->strange_version = !message_version(m, bytes, line);
    return message_is_token(bytes, m->method) &&
           message_is_visible(bytes, m->target) && bytes[m->target.at] == '/' &&
           message_is_visible(bytes, line);
}

/* HTTP/1.1 SP status SP reason */
static bool message_status_line(struct message *m, const char *bytes,
                                struct message_text line)
{
    struct message_text version, status;
    uint64_t number;

    if (!message_cut(&version, &line, bytes, ' ') ||
        !message_cut(&status, &line, bytes, ' ') || status.len != 3 ||
        !digits_parse(&number, bytes + status.at, 3, 599))
        return false;
    m->status = (unsigned)number;
    return message_version(m, bytes, version) && number >= 200 &&
           message_is_printable(bytes, line);
}

/* ---- Fields -------------------------------------------------------------- */

static const char *const message_names[MESSAGE_KNOWN] = {
    [MESSAGE_HOST] = "host",
    [MESSAGE_CONTENT_LENGTH] = "content-length",
    [MESSAGE_CONTENT_TYPE] = "content-type",
    [MESSAGE_TRANSFER_ENCODING] = "transfer-encoding",
    [MESSAGE_CONTENT_ENCODING] = "content-encoding",
    [MESSAGE_UPGRADE] = "upgrade",
    [MESSAGE_EXPECT] = "expect",
    [MESSAGE_CONNECTION] = "connection"};

/* Returns true for Content_Length and Transfer_Encoding, which some readers
 * take for the real ones. */
static bool message_is_disguised(const char *bytes, struct message_text name)
{
    char dashed[sizeof "transfer-encoding"];
    const struct message_text text = {0, name.len};

    if (name.len >= sizeof dashed ||
        memchr(bytes + name.at, '_', name.len) == NULL)
        return false;
    for (size_t i = 0; i < name.len; i++)
        dashed[i] = bytes[name.at + i] == '_' ? '-' : bytes[name.at + i];
    return message_is(dashed, text, message_names[MESSAGE_CONTENT_LENGTH]) ||
           message_is(dashed, text, message_names[MESSAGE_TRANSFER_ENCODING]);
}

static void message_note(struct message *m, const char *bytes,
                         const struct message_field *field)
{
    unsigned k = 0;

    while (k < MESSAGE_KNOWN &&
           !message_is(bytes, field->name, message_names[k]))
        k++;
    if (k == MESSAGE_KNOWN)
        return;
    m->counts[k]++; /* MESSAGE_FIELDS at most */
    if (k == MESSAGE_CONTENT_LENGTH)
        m->length_text = field->value;
    if (k == MESSAGE_EXPECT)
        m->expect_text = field->value;
    if (k == MESSAGE_CONNECTION) {
        m->close |= message_lists(bytes, field->value, "close");
        m->keep_alive |= message_lists(bytes, field->value, "keep-alive");
    }
}

/* name ":" blanks value, and blanks behind a response's value */
static bool message_field_line(struct message *m, const char *bytes,
                               struct message_text line)
{
    struct message_field *field = &m->fields[m->nfields];

    if (!message_cut(&field->name, &line, bytes, ':') ||
        !message_is_token(bytes, field->name) ||
        message_is_disguised(bytes, field->name) ||
        !message_is_printable(bytes, line))
        return false;
    field->value = message_trim(bytes, line);
    if (m->kind == MESSAGE_REQUEST &&
        field->value.at + field->value.len != line.at + line.len)
        return false; /* a blank at its end */
    m->nfields++;
    message_note(m, bytes, field);
    return true;
}

/* ---- What a complete head means ------------------------------------------ */

struct message_rule {
    bool broken;
    int refusal;
    const char *title;
};

static enum message_state message_refuse(struct message *m, int refusal,
                                         const char *title)
{
    m->refusal = refusal;
    m->title = title;
    return MESSAGE_BAD;
}

static enum message_state
message_apply(struct message *m, const struct message_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].broken)
            return message_refuse(m, rules[i].refusal, rules[i].title);
    return MESSAGE_WHOLE;
}

/* Sets the length, if one is given; false: that is no number. */
static bool message_length(struct message *m, const char *bytes)
{
    return m->counts[MESSAGE_CONTENT_LENGTH] == 0 ||
           (m->length_text.len <= MESSAGE_LENGTH_DIGITS &&
            digits_parse(&m->length, bytes + m->length_text.at,
                         m->length_text.len, UINT64_MAX));
}

static enum message_state message_check_request(struct message *m,
                                                const char *bytes)
{
    const uint8_t *counts = m->counts, lengths = counts[MESSAGE_CONTENT_LENGTH];
    const bool coded = counts[MESSAGE_TRANSFER_ENCODING] != 0;
    const struct message_rule rules[] = {
        {m->strange_version, 505, "only HTTP/1.1 is spoken here"},
        {counts[MESSAGE_HOST] > 1 ||
             (counts[MESSAGE_HOST] == 0 && m->minor == 1),
         400, "a request has one Host"},
        {lengths > 1 || (lengths == 1 && coded) || !message_length(m, bytes),
         400, "a body has one Content-Length, in digits"},
        {coded, 411, "a body needs a Content-Length"},
        {counts[MESSAGE_CONTENT_ENCODING] != 0, 415,
         "a body is sent as it is, without Content-Encoding"},
        {counts[MESSAGE_UPGRADE] != 0, 400, "nothing to upgrade to"},
        {counts[MESSAGE_EXPECT] > 1 ||
             (counts[MESSAGE_EXPECT] == 1 &&
              !message_is(bytes, m->expect_text, "100-continue")),
         417, "nothing but 100-continue may be expected"}};

    m->expects_continue = counts[MESSAGE_EXPECT] != 0 && m->minor == 1;
    return message_apply(m, rules, sizeof rules / sizeof *rules);
}

static enum message_state message_check_response(struct message *m,
                                                 const char *bytes)
{
    const unsigned lengths = m->counts[MESSAGE_CONTENT_LENGTH];
    const bool bodiless = m->status == 204 || m->status == 304;
    const bool number = message_length(m, bytes);
    const struct message_rule rules[] = {
        {m->counts[MESSAGE_TRANSFER_ENCODING] != 0, 502,
         "a response has no Transfer-Encoding"},
        {lengths > 1 || (lengths == 0 && !bodiless) || !number, 502,
         "a response has one Content-Length, in digits"},
        {m->counts[MESSAGE_CONTENT_TYPE] > 1, 502,
         "a response has one Content-Type"},
        {bodiless && m->length != 0, 502, "this status has no body"}};

    return message_apply(m, rules, sizeof rules / sizeof *rules);
}

static enum message_state message_end(struct message *m, const char *bytes)
{
    m->size = m->line;
    m->close |= m->minor == 0 && !m->keep_alive;
    return m->kind == MESSAGE_REQUEST ? message_check_request(m, bytes)
                                      : message_check_response(m, bytes);
}

/* ---- Reading ------------------------------------------------------------- */

void message_begin(struct message *m, enum message_kind kind)
{
    memset(m, 0, offsetof(struct message, fields));
    m->kind = kind;
}

/* Reads a line, which is without its CR LF. */
static enum message_state message_line(struct message *m, const char *bytes,
                                       struct message_text line)
{
    bool good;

    if (line.len == 0 && m->begun)
        return message_end(m, bytes);
    if (line.len == 0 && line.at == 0 && m->kind == MESSAGE_REQUEST)
        return MESSAGE_MORE; /* an empty line before the first */
    if (m->nfields == MESSAGE_FIELDS)
        return message_refuse(m, 431, "too many header fields");
    if (m->begun)
        good = message_field_line(m, bytes, line);
    else if (m->kind == MESSAGE_REQUEST)
        good = message_request_line(m, bytes, line);
    else
        good = message_status_line(m, bytes, line);
    m->begun = true;
    if (good)
        return MESSAGE_MORE;
    return message_refuse(m, 400,
                          "malformed head: one space, CR LF, no folded lines");
}

enum message_state message_read(struct message *m, const char *bytes,
                                size_t len)
{
    const size_t most = len < MESSAGE_HEAD_BYTES ? len : MESSAGE_HEAD_BYTES;
    enum message_state state = m->refusal == 0 ? MESSAGE_MORE : MESSAGE_BAD;

    while (state == MESSAGE_MORE) {
        const char *lf = memchr(bytes + m->scanned, '\n', most - m->scanned);
        struct message_text line = {.at = m->line};

        m->scanned = (uint16_t)(lf == NULL ? most : (size_t)(lf - bytes) + 1);
        if (lf == NULL && most < MESSAGE_HEAD_BYTES)
            return MESSAGE_MORE;
        if (lf == NULL)
            return m->begun ? message_refuse(m, 431, "the head is too long")
                            : message_refuse(m, 414, "the URL is too long");
        m->line = m->scanned;
        line.len = (uint16_t)(m->line - line.at - 1);
        if (line.len == 0 || bytes[line.at + line.len - 1] != '\r')
            return message_refuse(
                m, 400, "malformed head: one space, CR LF, no folded lines");
        line.len--;
        state = message_line(m, bytes, line);
    }
    return state;
}

const struct message_field *message_find(const struct message *m,
                                         const char *bytes, const char *name)
{
    for (unsigned i = 0; i < m->nfields; i++)
        if (message_is(bytes, m->fields[i].name, name))
            return &m->fields[i];
    return NULL;
}
