/*
 * test_message_seeds.c - random heads, read by the reader and by the grammar
 * of tests/rig/http_grammar.c, which must agree.
 *
 *     test_message_seeds            10^6 heads, or 10^8 with HSY_TEST_LONG
 *     test_message_seeds FIRST N    those of N seeds from FIRST on
 *
 * A head is a sentence of the grammar whose parts are now and then replaced by
 * others, of which some are wrong, and in which bytes are changed.
 */
#include "rig/http_grammar.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROOM (2 * MESSAGE_HEAD_BYTES)

struct maker {
    uint64_t state;
    enum message_kind kind;
    size_t len;
    uint8_t text[ROOM];
};

/* splitmix64 */
static uint64_t draw(struct maker *k, uint64_t below)
{
    uint64_t z = k->state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % below;
}

static void put(struct maker *k, const char *text)
{
    const size_t len = strlen(text);

    if (len <= ROOM - k->len) {
        memcpy(k->text + k->len, text, len);
        k->len += len;
    }
}

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define PUT_ONE(k, list) put(k, (list)[draw(k, COUNT(list))])

/* The first is right and much more common than the others. */
#define PUT_MOSTLY(k, list)                                                    \
    put(k, draw(k, 24) != 0 ? (list)[0] : (list)[draw(k, COUNT(list))])

static const char *const methods[] = {"GET",  "POST", "OPTIONS", "M-SEARCH",
                                      "G@T",  "",     "PO ST",   "\x80",
                                      "get~", "(x)"};
static const char *const spaces[] = {" ", "", "  ", "\t", "\r", "\x0b"};
static const char *const targets[] = {"/v1/uploads", "/",     "/a?b=%20",
                                      "*",           "",      "http://x/",
                                      "/a b",        "/\x7f", "/\xe4"};
static const char *const versions[] = {"HTTP/1.1",  "HTTP/1.0", "HTTP/1.10",
                                       "HTTP/2.0",  "http/1.1", "",
                                       "HTTP/1.1 ", "HTTP/11"};
static const char *const statuses[] = {"200", "204", "304",  "599", "199",
                                       "600", "20",  "2000", "2x0", ""};
static const char *const reasons[] = {"OK",   "",     "Not\tModified",
                                      "\x80", "\x01", "a\rb"};
static const char *const ends[] = {"\r\n", "\n", "\r",    "\r\r\n",
                                   "\n\r", "",   "\r\n ", "\r\n\t"};
static const char *const names[] = {"Host",
                                    "Content-Length",
                                    "Connection",
                                    "Expect",
                                    "X-Y",
                                    "Transfer-Encoding",
                                    "Content-Encoding",
                                    "Upgrade",
                                    "host",
                                    "Content_Length",
                                    "TRANSFER_ENCODING",
                                    "content-lengtH",
                                    "X-Content",
                                    "Content-Type",
                                    "A",
                                    "~",
                                    "",
                                    "X Y",
                                    "X\t",
                                    "\xc3"};
static const char *const colons[] = {":", "", " :", ";", "::", "\t:"};
static const char *const blanks[] = {" ", "", "\t", "  \t ", "\x0b"};
static const char *const values[] = {
    "x",      "0",       "12",         "100-continue", "close",
    "",       "chunked", "keep-alive", "a, close",     "close,keep-alive",
    "+1",     "1,1",     "0x1",        "00000000012",  "999999999999999999",
    "1 ",     "x\t",     "\x80\xff",   "a\rb",         "1234567890123456789",
    "closed", "\x7f",    ",,close ,",  "a b c",        "18446744073709551616"};

static void make_line(struct maker *k)
{
    PUT_ONE(k, names);
    PUT_MOSTLY(k, colons);
    PUT_MOSTLY(k, blanks);
    PUT_ONE(k, values);
    PUT_MOSTLY(k, ends);
}

static void make_right_line(struct maker *k, unsigned i)
{
    char text[64];

    snprintf(text, sizeof text, "X-%u: %u\r\n", i, (unsigned)draw(k, 1000));
    put(k, text);
}

static void make_first_line(struct maker *k)
{
    if (k->kind == MESSAGE_REQUEST) {
        PUT_MOSTLY(k, methods);
        PUT_MOSTLY(k, spaces);
        PUT_MOSTLY(k, targets);
        PUT_MOSTLY(k, spaces);
        PUT_MOSTLY(k, versions);
    } else {
        PUT_MOSTLY(k, versions);
        PUT_MOSTLY(k, spaces);
        PUT_MOSTLY(k, statuses);
        PUT_MOSTLY(k, spaces);
        PUT_MOSTLY(k, reasons);
    }
    PUT_MOSTLY(k, ends);
}

/* Bytes where there are none, one less, or another one. */
static void make_wrong(struct maker *k)
{
    static const uint8_t common[] = {'\r', '\n', ' ', '\t', ':', 0, ',', 0x7f};
    const size_t at = (size_t)draw(k, k->len);
    const uint8_t byte = draw(k, 2) != 0 ? common[draw(k, sizeof common)]
                                         : (uint8_t)draw(k, 256);

    if (draw(k, 3) == 0) {
        memmove(k->text + at, k->text + at + 1, k->len - at - 1);
        k->len--;
    } else if (draw(k, 2) == 0 && k->len < ROOM) {
        memmove(k->text + at + 1, k->text + at, k->len - at);
        k->text[at] = byte;
        k->len++;
    } else {
        k->text[at] = byte;
    }
}

static void make(struct maker *k, uint64_t seed)
{
    unsigned fields;

    k->state = seed;
    k->len = 0;
    k->kind = draw(k, 3) == 0 ? MESSAGE_RESPONSE : MESSAGE_REQUEST;
    for (uint64_t empty = draw(k, 32); empty >= 30; empty--)
        put(k, "\r\n");
    make_first_line(k);
    if (k->kind == MESSAGE_REQUEST && draw(k, 16) != 0)
        put(k, "Host: x\r\n");
    if (k->kind == MESSAGE_RESPONSE && draw(k, 4) != 0)
        put(k, "Content-Length: 12\r\n");
    fields = (unsigned)draw(k, 4);
    for (unsigned i = 0; i < fields; i++)
        make_line(k);
    if (draw(k, 400) == 0) { /* about as many as there may be */
        fields = 58 + (unsigned)draw(k, 8);
        for (unsigned i = 0; i < fields; i++)
            make_right_line(k, i);
    }
    if (draw(k, 4000) == 0) { /* about as long as it may be */
        put(k, "X: ");
        for (size_t end = MESSAGE_HEAD_BYTES - 8 + draw(k, 8); k->len < end;)
            put(k, "y");
        put(k, "\r\n");
    }
    PUT_MOSTLY(k, ends);
    if (draw(k, 4) == 0)
        put(k, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    for (uint64_t wrong = draw(k, 8); wrong >= 6 && k->len != 0; wrong--)
        make_wrong(k);
}

/* Returns what differs, or NULL. */
static const char *differs(struct maker *k, uint64_t seed, unsigned *whole)
{
    struct grammar_reading slow;
    struct message m;
    const char *text = (const char *)k->text, *what;

    make(k, seed);
    grammar_read(&slow, k->kind, k->text, k->len);
    *whole += slow.state == MESSAGE_WHOLE;
    message_begin(&m, k->kind);
    what = grammar_differs(&slow, message_read(&m, text, k->len), &m);
    if (what == NULL)
        what = grammar_differs(
            &slow, grammar_feed(&m, k->kind, k->text, k->len, k->state), &m);
    if (what == NULL && seed % 16 == 0)
        what = grammar_differs(
            &slow, grammar_feed(&m, k->kind, k->text, k->len, 0), &m);
    return what;
}

int main(int argc, char **argv)
{
    static struct maker k;
    const bool many = getenv("HSY_TEST_LONG") != NULL;
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t n = argc > 2   ? strtoull(argv[2], NULL, 10)
                       : argc > 1 ? 1
                       : many     ? 100000000
                                  : 1000000;
    const char *what = NULL;
    unsigned whole = 0;
    uint64_t seed = first;

    while (what == NULL && seed < first + n)
        what = differs(&k, seed++, &whole);
    if (what != NULL)
        printf("# seed %" PRIu64 ": %s\n# %.*s\n", seed - 1, what, (int)k.len,
               (const char *)k.text);
    ok(what == NULL, "reads %" PRIu64 " heads as the grammar does", n);
    if (argc < 2)
        ok(whole > n / 8 && whole < n / 2, "accepts %u of them", whole);
    return tap_done();
}
