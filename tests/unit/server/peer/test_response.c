/* test_response.c - responses of another server: read strictly, and within
 * limits (test_message.c: their heads). */
#include "server/peer/response.h"
#include "tap.h"

#include <stdlib.h>

#define HEAD "HTTP/1.1 200 OK\r\n"
#define LENGTH "Content-Length: 2\r\n"
#define LIMIT 65536u /* of a body */

/* What becomes of a text that comes in pieces. */
static enum message_state fed(struct response *r, const char *text, size_t len,
                              size_t step)
{
    enum message_state state = MESSAGE_MORE;
    size_t at = 0;

    while (at < len && state == MESSAGE_MORE) {
        size_t room = 0, n = len - at < step ? len - at : step;
        uint8_t *to = response_room(r, &room);

        n = n < room ? n : room;
        memcpy(to, text + at, n);
        at += n;
        state = response_add(r, n);
    }
    return state;
}

static struct response response_of(size_t limit)
{
    struct response r = {.limit = limit};

    response_again(&r);
    return r;
}

static enum message_state of(const char *text)
{
    struct response r = response_of(LIMIT);
    const enum message_state whole = fed(&r, text, strlen(text), 1 << 20);
    enum message_state bytewise;

    response_again(&r);
    bytewise = fed(&r, text, strlen(text), 1);
    response_clear(&r);
    return bytewise == whole ? whole : (enum message_state) - 1;
}

static void reads_responses(void)
{
    static const char text[] = HEAD "content-type: Message/OHTTP-Res ; a=b\r\n"
                                    "CONTENT-LENGTH:\t5 \r\n\r\nhello";
    struct response r = response_of(LIMIT);

    is_int(fed(&r, text, sizeof text - 1, 7), MESSAGE_WHOLE,
           "a response in pieces is complete");
    ok(eq_u64(r.head.status, 200) && eq_u64(r.head.length, 5) &&
           !r.head.close && eq_bytes(response_body(&r), "hello", 5),
       "it has status, length and body");
    ok(response_typed(&r, "message/ohttp-res") &&
           !response_typed(&r, "message/ohttp") &&
           !response_typed(&r, "message/ohttp-response"),
       "it has one type, whatever its parameters and its case");
    response_again(&r);
    is_int(fed(&r, "HTTP/1.1 204 \r\n\r\n", 17, 17), MESSAGE_WHOLE,
           "the next response begins anew; one without content needs no "
           "length");
    ok(eq_u64(r.head.status, 204) && eq_u64(r.head.length, 0) &&
           !response_typed(&r, "message/ohttp-res"),
       "nothing of the last response is left");
    response_clear(&r);
}

static bool closes(const char *text)
{
    struct response r = response_of(LIMIT);
    const enum message_state state = fed(&r, text, strlen(text), 1 << 20);

    response_clear(&r);
    return state != MESSAGE_BAD && r.head.close;
}

static void reads_when_a_connection_ends(void)
{
    ok(closes(HEAD LENGTH "Connection: Close\r\n\r\n"),
       "Connection: close ends a connection");
    ok(closes(HEAD LENGTH "Connection: x, close ,y\r\n\r\n"),
       "close among other options ends a connection");
    ok(closes("HTTP/1.0 200 OK\r\n" LENGTH "\r\n"),
       "HTTP/1.0 ends a connection");
    ok(!closes(HEAD LENGTH "Connection: keep-alive\r\n\r\n") &&
           !closes(HEAD LENGTH "Connection: closed\r\n\r\n"),
       "no other option ends a connection");
}

static void refuses_lies(void)
{
    static const struct {
        const char *text, *what;
    } lies[] = {
        {"\r\n" HEAD LENGTH "\r\nab", "an empty line first"},
        {"HTTP/2 200 OK\r\n" LENGTH "\r\nab", "another version"},
        {"HTTP/1.2 200 OK\r\n" LENGTH "\r\nab", "nor a later one"},
        {"http/1.1 200 OK\r\n" LENGTH "\r\nab", "in small letters"},
        {"HTTP/1.1  200 OK\r\n" LENGTH "\r\nab", "two blanks"},
        {"HTTP/1.1 200\r\n" LENGTH "\r\nab", "no blank after the status"},
        {"HTTP/1.1 2000 OK\r\n" LENGTH "\r\nab", "four digits"},
        {"HTTP/1.1 -20 OK\r\n" LENGTH "\r\nab", "a sign"},
        {"HTTP/1.1 099 OK\r\n" LENGTH "\r\nab", "a status below all"},
        {"HTTP/1.1 600 OK\r\n" LENGTH "\r\nab", "and above all"},
        {"HTTP/1.1 100 Continue\r\n\r\n", "an interim answer"},
        {"HTTP/1.1 101 Switching\r\n" LENGTH "\r\nab", "another protocol"},
        {"HTTP/1.1 200 O\001K\r\n" LENGTH "\r\nab", "a control character"},
        {HEAD "\r\nab", "no length"},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunks"},
        {HEAD LENGTH "transfer-encoding: identity\r\n\r\nab", "of any kind"},
        {HEAD LENGTH LENGTH "\r\nab", "two lengths, though equal"},
        {HEAD "Content-Length: 2, 2\r\n\r\nab", "a list of lengths"},
        {HEAD "Content-Length: +2\r\n\r\nab", "a length with a sign"},
        {HEAD "Content-Length: 0x2\r\n\r\nab", "in hexadecimal"},
        {HEAD "Content-Length: \r\n\r\n", "an empty one"},
        {HEAD "Content-Length: 65537\r\n\r\n", "one above the limit"},
        {HEAD "Content-Length: 99999999999999999999\r\n\r\n", "far above"},
        {HEAD "Content-Type: a/b\r\nContent-Type: a/b\r\n" LENGTH "\r\nab",
         "two types"},
        {HEAD " folded\r\n" LENGTH "\r\nab", "a line that begins with a blank"},
        {HEAD "X: a\r\n b\r\n" LENGTH "\r\nab", "a folded value"},
        {HEAD "X : a\r\n" LENGTH "\r\nab", "a blank before the colon"},
        {HEAD ": a\r\n" LENGTH "\r\nab", "no name"},
        {HEAD "nothing\r\n" LENGTH "\r\nab", "no colon"},
        {HEAD "X: a\nY: b\r\n" LENGTH "\r\nab", "a bare line feed"},
        {HEAD "X: a\rY: b\r\n" LENGTH "\r\nab", "a bare carriage return"},
        {"HTTP/1.1 204 No\r\n" LENGTH "\r\nab", "content where there is none"},
        {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "no HTTP at all"},
    };

    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++)
        is_int(of(lies[i].text), MESSAGE_BAD, "refuses: %s", lies[i].what);
}

static void wants_no_more(void)
{
    struct response r = response_of(LIMIT);
    static const char twice[] = HEAD LENGTH "\r\nab" HEAD LENGTH "\r\nab";

    is_int(fed(&r, twice, sizeof HEAD + sizeof LENGTH + 3, 1 << 20),
           MESSAGE_BAD, "refuses a byte too many");
    response_again(&r);
    is_int(fed(&r, twice, sizeof twice - 1, 1 << 20), MESSAGE_BAD,
           "refuses a response that nobody asked for");
    response_clear(&r);
}

static void waits(void)
{
    is_int(of(""), MESSAGE_MORE, "waits for the first byte");
    is_int(of(HEAD LENGTH), MESSAGE_MORE, "waits for the rest of a head");
    is_int(of(HEAD LENGTH "\r\na"), MESSAGE_MORE,
           "waits for the rest of a body");
}

static void bounds_the_head(void)
{
    struct response r = response_of(LIMIT);
    char *text = calloc(1, 3 * MESSAGE_HEAD_BYTES);

    memset(text, 'a', 2 * MESSAGE_HEAD_BYTES);
    memcpy(text, HEAD "X: ", sizeof HEAD + 2);
    is_int(fed(&r, text, 2 * MESSAGE_HEAD_BYTES, 1000), MESSAGE_BAD,
           "refuses a head without end");
    ok(r.len <= MESSAGE_HEAD_BYTES + 1000, "does not keep a head without end");
    free(text);
    response_clear(&r);
}

/* A response with n bytes of body. */
static enum message_state long_response(struct response *r, size_t n)
{
    char *text = calloc(1, n + 128);
    const int head = sprintf(text, HEAD "Content-Length: %zu\r\n\r\n", n);
    enum message_state state;

    response_again(r);
    state = fed(r, text, (size_t)head + n, 5000);
    free(text);
    return state;
}

static void bounds_the_body(void)
{
    struct response r = response_of(LIMIT);

    is_int(long_response(&r, LIMIT), MESSAGE_WHOLE,
           "reads a body as long as the limit");
    is_int(long_response(&r, LIMIT + 1), MESSAGE_BAD,
           "refuses a body that is a byte longer than the limit");
    is_int(long_response(&r, LIMIT), MESSAGE_WHOLE,
           "reads a long body again after a refused one");
    response_again(&r);
    ok(eq_u64(r.room, 0) && eq_u64(r.limit, LIMIT),
       "the memory of a long response is given back, the limit stays");
    is_int(long_response(&r, 100), MESSAGE_WHOLE, "reads a short body");
    response_again(&r);
    ok(r.room != 0, "the memory of a short response is kept");
    response_clear(&r);
}

int main(void)
{
    reads_responses();
    reads_when_a_connection_ends();
    refuses_lies();
    wants_no_more();
    waits();
    bounds_the_head();
    bounds_the_body();
    return tap_done();
}
