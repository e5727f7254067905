/* test_message.c - heads of requests and responses: what is read, and what is
 * refused with which status. test_message_seeds.c tries many more. */
#include "server/http/message.h"
#include "tap.h"

#include <stdlib.h>

#define LINE "POST /v1/uploads?a=b HTTP/1.1\r\n"
#define REQUEST LINE "Host: x\r\n"
#define RESPONSE "HTTP/1.1 200 OK\r\n"

static enum message_state read_text(struct message *m, enum message_kind kind,
                                    const char *text)
{
    message_begin(m, kind);
    return message_read(m, text, strlen(text));
}

static bool has(const char *text, struct message_text part, const char *want)
{
    return part.len == strlen(want) && eq_bytes(text + part.at, want, part.len);
}

/* ---- What is accepted ---------------------------------------------------- */

static void reads_a_request(void)
{
    static const char text[] =
        REQUEST "Content-Length:\t 17\r\nEXPECT: 100-Continue\r\n"
                "Empty:\r\nx-of-ours: a  b\r\n\r\nGET / HTTP/1.1\r\n";
    const struct message_field *field;
    struct message m;

    ok(eq_int(read_text(&m, MESSAGE_REQUEST, text), MESSAGE_WHOLE) &&
           eq_u64(m.size, (size_t)(strstr(text, "\r\n\r\n") + 4 - text)),
       "reads a request up to its empty line");
    ok(has(text, m.method, "POST") && has(text, m.target, "/v1/uploads?a=b"),
       "reads method and target");
    ok(eq_u64(m.length, 17) && m.expects_continue && !m.close,
       "reads a length, an expectation, and that the connection stays open");
    field = message_find(&m, text, "X-Of-Ours");
    ok(eq_u64(m.nfields, 5) && field != NULL &&
           has(text, field->name, "x-of-ours") &&
           has(text, field->value, "a  b"),
       "finds a field by its name in any case");
    field = message_find(&m, text, "empty");
    ok(field != NULL && has(text, field->value, ""), "a value may be empty");
    ok(message_find(&m, text, "X-Of") == NULL,
       "does not find a name by its beginning");
}

static void reads_a_response(void)
{
    static const char text[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n"
                               "Content-Type: text/plain\r\n\r\nab";
    struct message m;

    ok(eq_int(read_text(&m, MESSAGE_RESPONSE, text), MESSAGE_WHOLE) &&
           eq_u64(m.status, 404) && eq_u64(m.length, 2) &&
           eq_u64(m.size, sizeof text - 3) && !m.close,
       "reads the status and the length of a response");
    ok(eq_int(read_text(&m, MESSAGE_RESPONSE,
                        RESPONSE "A: b\t \r\nContent-Length:\t5 \r\n\r\n"),
              MESSAGE_WHOLE) &&
           eq_u64(m.length, 5) && eq_u64(m.fields[0].value.len, 1),
       "drops blanks behind a value of a response");
    ok(eq_int(read_text(&m, MESSAGE_RESPONSE, "HTTP/1.1 204 \r\n\r\n"),
              MESSAGE_WHOLE),
       "a 204 needs neither a reason nor a length");
}

static void reads_when_a_connection_ends(void)
{
    static const struct {
        const char *text;
        bool close;
    } cases[] = {
        {REQUEST "\r\n", false},
        {REQUEST "Connection: close\r\n\r\n", true},
        {REQUEST "Connection: a ,CLOSE\r\n\r\n", true},
        {REQUEST "Connection: a\r\nConnection: close\r\n\r\n", true},
        {REQUEST "Connection: closed, keep-alive\r\n\r\n", false},
        {"GET / HTTP/1.0\r\n\r\n", true},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", true}};
    struct message m;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(eq_int(read_text(&m, MESSAGE_REQUEST, cases[i].text),
                  MESSAGE_WHOLE) &&
               eq_int(m.close, cases[i].close),
           "Connection and version say whether it is closed, %zu", i);
    read_text(&m, MESSAGE_REQUEST,
              "GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n");
    ok(!m.expects_continue, "HTTP/1.0 expects no 100 (Continue)");
}

static void skips_one_empty_line(void)
{
    struct message m;

    ok(eq_int(read_text(&m, MESSAGE_REQUEST, "\r\n" REQUEST "\r\n"),
              MESSAGE_WHOLE) &&
           eq_u64(m.size, sizeof "\r\n" REQUEST "\r\n" - 1),
       "skips one empty line before a request");
    is_int(read_text(&m, MESSAGE_REQUEST, "\r\n\r\n" REQUEST "\r\n"),
           MESSAGE_BAD, "refuses two empty lines before a request");
    is_int(read_text(&m, MESSAGE_RESPONSE, "\r\n" RESPONSE "\r\n"), MESSAGE_BAD,
           "refuses an empty line before a response");
}

/* ---- What is refused ----------------------------------------------------- */

struct refusal {
    int status;
    const char *text, *why;
};

static const struct refusal refusals[] = {
    {400, LINE "A: b\r\n\r\n", "no Host"},
    {400, REQUEST "host: x\r\n\r\n", "two Hosts"},
    {400, REQUEST "Content-Length: 3\r\nContent-Length: 3\r\n\r\n",
     "two lengths"},
    {400, REQUEST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
     "a length and a transfer coding"},
    {411, REQUEST "Transfer-Encoding: chunked\r\n\r\n", "a transfer coding"},
    {411, REQUEST "Transfer-Encoding: identity\r\n\r\n",
     "another transfer coding"},
    {400, REQUEST "Content-Length: +3\r\n\r\n", "a sign before a length"},
    {400, REQUEST "Content-Length: 3,3\r\n\r\n", "a list of lengths"},
    {400, REQUEST "Content-Length:\r\n\r\n", "an empty length"},
    {400, REQUEST "Content-Length: 0x3\r\n\r\n", "a length in hexadecimal"},
    {400, REQUEST "Content-Length: 1234567890123456789\r\n\r\n",
     "a length of 19 digits"},
    {400, REQUEST "Content_Length: 3\r\n\r\n", "a length in disguise"},
    {400, REQUEST "TRANSFER_encoding: chunked\r\n\r\n", "a coding in disguise"},
    {415, REQUEST "Content-Encoding: gzip\r\n\r\n", "a content coding"},
    {400, REQUEST "Upgrade: h2c\r\n\r\n", "an upgrade"},
    {417, REQUEST "Expect: more\r\n\r\n", "another expectation"},
    {417, REQUEST "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n",
     "two expectations"},
    {505, "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "another version"},
    {505, "GET / http/1.1\r\nHost: x\r\n\r\n", "a version in lower case"},
    {400, "GET / HTTP/1.1\nHost: x\r\n\r\n", "a bare LF after the first line"},
    {400, REQUEST "A: b\nC: d\r\n\r\n", "a bare LF between fields"},
    {400, REQUEST "\n", "a bare LF at the end"},
    {400, "\n" REQUEST "\r\n", "a bare LF before a request"},
    {400, REQUEST "A: b\rC: d\r\n\r\n", "a bare CR"},
    {400, REQUEST "A: b\r\r\n\r\n", "a CR before the end of a line"},
    {400, REQUEST "A: b\r\n c\r\n\r\n", "a folded line"},
    {400, REQUEST "A: b\r\n\tc\r\n\r\n", "a line folded by a tab"},
    {400, LINE " Host: x\r\n\r\n", "a blank before the first field"},
    {400, REQUEST "A : b\r\n\r\n", "a blank before a colon"},
    {400, REQUEST "A: b \r\n\r\n", "a blank after a value"},
    {400, REQUEST "A: b\t\r\n\r\n", "a tab after a value"},
    {400, REQUEST ": b\r\n\r\n", "a field without a name"},
    {400, REQUEST "A\r\n\r\n", "a field without a colon"},
    {400, REQUEST "A(: b\r\n\r\n", "a name that is not a token"},
    {400, REQUEST "A: \x01\r\n\r\n", "a control character"},
    {400, REQUEST "A: \x7f\r\n\r\n", "a DEL"},
    {400, "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "two spaces"},
    {400, "GET /  HTTP/1.1\r\nHost: x\r\n\r\n", "two spaces after the target"},
    {400, "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", "a space after the version"},
    {400, "GET\t/\tHTTP/1.1\r\nHost: x\r\n\r\n", "tabs in the first line"},
    {400, "GET / a HTTP/1.1\r\nHost: x\r\n\r\n", "a space in the target"},
    {400, "GET /\xe4 HTTP/1.1\r\nHost: x\r\n\r\n",
     "a target that is not ASCII"},
    {400, "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "a whole URL"},
    {400, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "a target without a path"},
    {400, "G@T / HTTP/1.1\r\nHost: x\r\n\r\n", "a method that is not a token"},
    {400, "GET /\r\nHost: x\r\n\r\n", "no version"}};

static void refuses_requests(void)
{
    struct message m;

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];

        ok(eq_int(read_text(&m, MESSAGE_REQUEST, r->text), MESSAGE_BAD) &&
               eq_int(m.refusal, r->status) && m.title != NULL,
           "refuses a request with %s: %d", r->why, r->status);
    }
}

static void refuses_a_nul(void)
{
    static const char texts[][40] = {"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n",
                                     "GET / HTTP/1.1\r\nHost: x\0\r\n\r\n",
                                     "GET / HTTP/1.1\r\nHo\0st: x\r\n\r\n",
                                     "GET / HTTP/1.1\r\n\0Host: x\r\n\r\n"};
    struct message m;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        message_begin(&m, MESSAGE_REQUEST);
        is_int(message_read(&m, texts[i], sizeof texts[i]), MESSAGE_BAD,
               "refuses a request with a NUL, %zu", i);
    }
}

static void refuses_responses(void)
{
    static const struct refusal cases[] = {
        {502, RESPONSE "\r\n", "no length"},
        {502, RESPONSE "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
         "two lengths"},
        {502,
         RESPONSE "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "a transfer coding"},
        {502, "HTTP/1.1 204 No\r\nContent-Length: 1\r\n\r\n",
         "a body of a 204"},
        {502,
         RESPONSE "Content-Length: 0\r\nContent-Type: a/b\r\n"
                  "content-type: a/b\r\n\r\n",
         "two types"},
        {400, "HTTP/1.1 100 Continue\r\n\r\n", "an interim status"},
        {400, "HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n", "no such status"},
        {400, "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
         "no space after the status"},
        {400, "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
         "another version"},
        {400, RESPONSE "Content-Length: 0\r\n A: b\r\n\r\n", "a folded line"}};
    struct message m;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(eq_int(read_text(&m, MESSAGE_RESPONSE, cases[i].text),
                  MESSAGE_BAD) &&
               eq_int(m.refusal, cases[i].status),
           "refuses a response with %s", cases[i].why);
}

/* ---- Limits -------------------------------------------------------------- */

static void keeps_its_limits(void)
{
    static char text[MESSAGE_HEAD_BYTES + 16];
    const size_t head = strlen(REQUEST "A: ");
    struct message m;
    size_t len;

    memset(text, 'y', sizeof text);
    memcpy(text, REQUEST "A: ", head);
    for (size_t size = MESSAGE_HEAD_BYTES; size <= MESSAGE_HEAD_BYTES + 1;
         size++) {
        memcpy(text + size - 4, "\r\n\r\n", 4);
        message_begin(&m, MESSAGE_REQUEST);
        is_int(message_read(&m, text, size),
               size == MESSAGE_HEAD_BYTES ? MESSAGE_WHOLE : MESSAGE_BAD,
               "reads a head of 8 KiB and none that is longer");
        memset(text + size - 4, 'y', 4);
    }
    is_int(m.refusal, 431, "a head that is too long is refused with 431");
    memcpy(text, "GET /", 5);
    memset(text + 5, 'y', head);
    message_begin(&m, MESSAGE_REQUEST);
    ok(eq_int(message_read(&m, text, sizeof text), MESSAGE_BAD) &&
           eq_int(m.refusal, 414),
       "a first line that is too long is refused with 414");
    len = strlen(strcpy(text, REQUEST));
    for (unsigned n = 2; n <= MESSAGE_FIELDS + 1; n++) {
        len += (size_t)sprintf(text + len, "A: b\r\n");
        memcpy(text + len, "\r\n", 3);
        if (read_text(&m, MESSAGE_REQUEST, text) != MESSAGE_WHOLE) {
            ok(eq_int(n, MESSAGE_FIELDS + 1) && eq_int(m.refusal, 431),
               "one field more than there may be is refused with 431");
            return;
        }
    }
    ok(false, "refuses too many fields");
}

/* A sanitizer sees a step past the bytes that have come. */
static void reads_in_pieces(void)
{
    static const char text[] = REQUEST "Content-Length: 3\r\nA: b\r\n\r\nabc";
    const size_t size = (size_t)(strstr(text, "\r\n\r\n") + 4 - text);
    struct message m;
    bool waits = true;

    message_begin(&m, MESSAGE_REQUEST);
    for (size_t len = 0; len <= size; len++) {
        char *bytes = malloc(len + 1);

        memcpy(bytes, text, len);
        bytes = realloc(bytes, len + (len == 0));
        waits &= message_read(&m, bytes, len) ==
                 (len < size ? MESSAGE_MORE : MESSAGE_WHOLE);
        free(bytes);
    }
    ok(waits && eq_u64(m.length, 3) && eq_u64(m.nfields, 3),
       "reads a head that comes byte by byte");
}

int main(void)
{
    reads_a_request();
    reads_a_response();
    reads_when_a_connection_ends();
    skips_one_empty_line();
    refuses_requests();
    refuses_a_nul();
    refuses_responses();
    keeps_its_limits();
    reads_in_pieces();
    return tap_done();
}
