/* test_response.c - answers of a gateway: read strictly, whoever answers. */
#include "server/peer/response.h"
#include "tap.h"

#include <stdlib.h>

#define HEAD "HTTP/1.1 200 OK\r\n"
#define LENGTH "Content-Length: 2\r\n"

/* What becomes of a text that comes in pieces. */
static enum response_state fed(struct response *r, const char *text, size_t len,
                               size_t step)
{
    enum response_state state = RESPONSE_MORE;
    size_t at = 0;

    while (at < len && state == RESPONSE_MORE) {
        size_t room = 0, n = len - at < step ? len - at : step;
        uint8_t *to = response_room(r, &room);

        n = n < room ? n : room;
        memcpy(to, text + at, n);
        at += n;
        state = response_take(r, n);
    }
    return state;
}

static enum response_state of(const char *text)
{
    struct response r = {.bytes = NULL};
    const enum response_state whole = fed(&r, text, strlen(text), 1 << 20);
    enum response_state bytewise;

    response_again(&r);
    bytewise = fed(&r, text, strlen(text), 1);
    response_clear(&r);
    return bytewise == whole ? whole : (enum response_state) - 1;
}

static void reads_answers(void)
{
    static const char text[] = HEAD "content-type: Message/OHTTP-Res ; a=b\r\n"
                                    "CONTENT-LENGTH:\t5 \r\n\r\nhello";
    struct response r = {.bytes = NULL};

    is_int(fed(&r, text, sizeof text - 1, 7), RESPONSE_WHOLE,
           "an answer in pieces is whole");
    ok(eq_u64(r.head.status, 200) && eq_u64(r.head.length, 5) &&
           r.head.type == RESPONSE_SEALED && !r.head.close &&
           eq_bytes(r.bytes + r.body, "hello", 5),
       "with status, length, type and body");
    response_again(&r);
    is_int(fed(&r, "HTTP/1.1 204 \r\n\r\n", 17, 17), RESPONSE_WHOLE,
           "the next one begins anew; one without content needs no length");
    ok(eq_u64(r.head.status, 204) && eq_u64(r.head.length, 0) &&
           r.head.type == RESPONSE_OTHER,
       "and nothing of the last is left");
    response_clear(&r);
}

static bool closes(const char *text)
{
    struct response_head head = {.status = 0};

    return response_read(&head, text, strlen(text)) && head.close;
}

static void hears_of_the_end(void)
{
    ok(closes(HEAD LENGTH "Connection: Close\r\n\r\n"), "close is heard");
    ok(closes(HEAD LENGTH "Connection: x, close ,y\r\n\r\n"), "among others");
    ok(closes("HTTP/1.0 200 OK\r\n" LENGTH "\r\n"), "and of an old server");
    ok(!closes(HEAD LENGTH "Connection: keep-alive\r\n\r\n") &&
           !closes(HEAD LENGTH "Connection: closed\r\n\r\n"),
       "and nothing else is");
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
        is_int(of(lies[i].text), RESPONSE_BAD, "refused: %s", lies[i].what);
}

static void wants_no_more(void)
{
    struct response r = {.bytes = NULL};
    static const char twice[] = HEAD LENGTH "\r\nab" HEAD LENGTH "\r\nab";

    is_int(fed(&r, twice, sizeof HEAD + sizeof LENGTH + 3, 1 << 20),
           RESPONSE_BAD, "a byte too many is refused");
    response_again(&r);
    is_int(fed(&r, twice, sizeof twice - 1, 1 << 20), RESPONSE_BAD,
           "and an answer that nobody asked for");
    response_clear(&r);
}

static void waits(void)
{
    is_int(of(""), RESPONSE_MORE, "nothing is no answer yet");
    is_int(of(HEAD LENGTH), RESPONSE_MORE, "nor is half a head");
    is_int(of(HEAD LENGTH "\r\na"), RESPONSE_MORE, "nor half a body");
}

/* A text of n bytes that ends as it should, if it ended in time. */
static char *long_text(const char *unit, size_t n)
{
    char *text = calloc(1, n + 64);
    size_t at = (size_t)sprintf(text, HEAD);

    while (at < n)
        at += (size_t)sprintf(text + at, "%s", unit);
    strcpy(text + at, LENGTH "\r\nab");
    return text;
}

static void bounds(void)
{
    struct response r = {.bytes = NULL};
    char *text = long_text("X: y\r\n", 300);

    is_int(of(text), RESPONSE_WHOLE, "as many fields as there may be");
    free(text);
    text = long_text("X: y\r\n", 1000);
    is_int(of(text), RESPONSE_BAD, "more are refused");
    free(text);
    text = calloc(1, 3 * RESPONSE_HEAD);
    memset(text, 'a', 2 * RESPONSE_HEAD);
    memcpy(text, HEAD "X: ", sizeof HEAD + 2);
    is_int(fed(&r, text, 2 * RESPONSE_HEAD, 1000), RESPONSE_BAD,
           "a head without end is not waited for");
    ok(r.len <= RESPONSE_HEAD + 1000, "nor kept");
    free(text);
    response_clear(&r);
}

/* An answer with n bytes of body, of which at most `most` are expected. */
static enum response_state long_answer(struct response *r, size_t n,
                                       size_t most)
{
    char *text = calloc(1, n + 128);
    const int head = sprintf(text, HEAD "Content-Length: %zu\r\n\r\n", n);
    enum response_state state;

    response_again(r);
    r->most = most;
    state = fed(r, text, (size_t)head + n, 5000);
    free(text);
    return state;
}

static void long_answers(void)
{
    struct response r = {.bytes = NULL};

    is_int(long_answer(&r, RESPONSE_BODY, 0), RESPONSE_WHOLE,
           "64 KiB are read by default");
    is_int(long_answer(&r, RESPONSE_BODY + 1, 0), RESPONSE_BAD,
           "a byte more is refused by default");
    is_int(long_answer(&r, RESPONSE_BODY_MAX, RESPONSE_BODY_MAX),
           RESPONSE_WHOLE, "the longest sealed document is read if expected");
    is_int(long_answer(&r, RESPONSE_BODY_MAX + 1, RESPONSE_BODY_MAX),
           RESPONSE_BAD, "a byte more than any document is refused");
    is_int(long_answer(&r, RESPONSE_BODY_MAX, RESPONSE_BODY_MAX),
           RESPONSE_WHOLE, "a long answer is whole again");
    response_again(&r);
    ok(eq_u64(r.room, 0) && eq_u64(r.most, RESPONSE_BODY_MAX),
       "the memory of a long answer is given back, the limit stays");
    response_clear(&r);
}

int main(void)
{
    reads_answers();
    hears_of_the_end();
    refuses_lies();
    wants_no_more();
    waits();
    bounds();
    long_answers();
    return tap_done();
}
