/* test_bhttp.c - binary HTTP: what is written is read again, padded or with
 * its end left out; nothing else is a message. */
#include "host/seal/bhttp.h"
#include "tap.h"

#include <string.h>

#define ROOM 1024u

static struct bhttp_request upload(const uint8_t *content, size_t len)
{
    struct bhttp_request r = {.method = bhttp_text("POST"),
                              .scheme = bhttp_text("https"),
                              .authority = bhttp_text("collector.example"),
                              .path = bhttp_text("/v1/uploads"),
                              .n_fields = 2,
                              .content = content,
                              .content_len = len};

    r.fields[0] = (struct bhttp_field){bhttp_text("content-type"),
                                       bhttp_text("application/octet-stream")};
    r.fields[1] = (struct bhttp_field){bhttp_text("empty"), bhttp_text("")};
    return r;
}

static bool same_text(struct bhttp_text a, struct bhttp_text b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static bool same_fields(const struct bhttp_field *a, size_t n,
                        const struct bhttp_field *b, size_t m)
{
    for (size_t i = 0; i < n && n == m; i++) {
        if (!same_text(a[i].name, b[i].name) ||
            !same_text(a[i].value, b[i].value))
            return false;
    }
    return n == m;
}

static bool same_request(const struct bhttp_request *a,
                         const struct bhttp_request *b)
{
    return same_text(a->method, b->method) && same_text(a->scheme, b->scheme) &&
           same_text(a->authority, b->authority) &&
           same_text(a->path, b->path) &&
           same_fields(a->fields, a->n_fields, b->fields, b->n_fields) &&
           a->content_len == b->content_len &&
           (a->content_len == 0 ||
            memcmp(a->content, b->content, a->content_len) == 0);
}

/* Lengths on both sides of where an integer takes another byte. */
static void requests_come_back(void)
{
    static const size_t lengths[] = {0, 1, 63, 64, 16383, 16384, 20000};
    static uint8_t content[20000], out[ROOM + sizeof content];
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct bhttp_request r = upload(content, lengths[i]), got;
        size_t len = 0;

        wrong += bhttp_request_encode(out, sizeof out, &len, &r, 0) != HSY_OK ||
                 bhttp_request_decode(&got, out, len) != HSY_OK ||
                 !same_request(&r, &got);
    }
    is_u64(wrong, 0, "a request of any length is read as it was written");
}

static void padding_hides_the_length(void)
{
    static const uint8_t content[100] = {1};
    uint8_t out[ROOM];
    struct bhttp_request r = upload(content, sizeof content), got;
    size_t bare = 0, len = 0;

    bhttp_request_encode(out, sizeof out, &bare, &r, 0);
    ok(eq_status(bhttp_request_encode(out, sizeof out, &len, &r, 512),
                 HSY_OK) &&
           eq_u64(len, 512) &&
           eq_status(bhttp_request_decode(&got, out, len), HSY_OK) &&
           same_request(&r, &got),
       "a request is padded to a length, and read");
    ok(eq_status(bhttp_request_encode(out, sizeof out, &len, &r, bare),
                 HSY_OK) &&
           eq_u64(len, bare),
       "to its own");
    ok(eq_status(bhttp_request_encode(out, sizeof out, &len, &r, bare - 1),
                 HSY_E_FULL) &&
           eq_status(bhttp_request_encode(out, 511, &len, &r, 512),
                     HSY_E_FULL) &&
           eq_status(bhttp_request_encode(out, bare - 1, &len, &r, 0),
                     HSY_E_FULL),
       "and not to less, nor past the room");
    bhttp_request_encode(out, sizeof out, &len, &r, 512);
    out[511] = 1;
    is_status(bhttp_request_decode(&got, out, 512), HSY_E_FORMAT,
              "padding is zeros");
}

/* Without a trailer, content and fields, the message may end before them. */
static void the_end_may_be_left_out(void)
{
    uint8_t out[ROOM];
    struct bhttp_request r = upload(NULL, 0), got;
    size_t len = 0;
    unsigned taken = 0;

    r.n_fields = 0;
    bhttp_request_encode(out, sizeof out, &len, &r, 0);
    for (size_t i = 0; i <= len; i++)
        taken += bhttp_request_decode(&got, out, i) == HSY_OK && i >= len - 3 &&
                 same_request(&r, &got);
    is_u64(taken, 4, "empty sections at the end may be left out");
    r = upload((const uint8_t *)"abc", 3);
    bhttp_request_encode(out, sizeof out, &len, &r, 0);
    taken = 0;
    for (size_t i = 0; i < len - 1; i++)
        taken += bhttp_request_decode(&got, out, i) == HSY_OK &&
                 got.content_len != 0;
    is_u64(taken, 0, "content is whole or none");
    ok(eq_status(bhttp_request_decode(&got, out, len - 1), HSY_OK) &&
           same_request(&r, &got),
       "the trailer may be");
}

static void responses_come_back(void)
{
    static const unsigned statuses[] = {200, 204, 404, 503, 599};
    uint8_t out[ROOM];
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct bhttp_response r = {.status = statuses[i]}, got;
        size_t len;

        r.fields[r.n_fields++] =
            (struct bhttp_field){bhttp_text("retry-after"), bhttp_text("120")};
        wrong +=
            bhttp_response_encode(out, sizeof out, &len, &r, 256) != HSY_OK ||
            len != 256 || bhttp_response_decode(&got, out, len) != HSY_OK ||
            got.status != r.status || got.content_len != 0 ||
            !same_fields(r.fields, r.n_fields, got.fields, got.n_fields);
    }
    is_u64(wrong, 0, "a response of any status, padded to one length");
}

/* ---- What is no message -------------------------------------------------- */

struct refused {
    const char *bytes;
    size_t len;
    hsy_status st;
    const char *what;
};
#define REFUSED(bytes, st, what)                                               \
    {                                                                          \
        bytes, sizeof bytes - 1, st, what                                      \
    }

static const struct refused requests[] = {
    REFUSED("", HSY_E_FORMAT, "nothing"),
    REFUSED("\x01\x40\xc8", HSY_E_UNKNOWN, "a response"),
    REFUSED("\x04\x01G\x01h\x00\x01/", HSY_E_UNKNOWN, "another framing"),
    REFUSED("\x00\x00\x01h\x00\x01/", HSY_E_FORMAT, "no method"),
    REFUSED("\x00\x01G\x01h\x00\x05/", HSY_E_FORMAT, "a path that is cut off"),
    REFUSED("\x00\x01G\x01h\x00\x02/ ", HSY_E_FORMAT, "a space in a path"),
    REFUSED("\x00\x01G\x01h\x00\x02/\x7f", HSY_E_FORMAT, "a control in one"),
    REFUSED("\x00\xff\xff\xff\xff\xff\xff\xff\xffG", HSY_E_FORMAT,
            "the longest length"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x03\x01"
            "A\x00",
            HSY_E_FORMAT, "a name with a capital"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x03\x01:\x00", HSY_E_FORMAT,
            "a pseudo-field"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x02\x00\x00", HSY_E_FORMAT,
            "a field without a name"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x04\x01"
            "a\x01\n",
            HSY_E_FORMAT, "a line's end in a value"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x04\x01"
            "a\x01\0",
            HSY_E_FORMAT, "a zero in a value"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x03\x01"
            "a\x01x",
            HSY_E_FORMAT, "a value past its section"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x40", HSY_E_FORMAT, "half a length"),
    REFUSED("\x00\x01G\x01h\x00\x01/\x00\x02x", HSY_E_FORMAT,
            "content that is cut off"),
    REFUSED("\x02\x01G\x01h\x00\x01/\x00\x01x", HSY_E_FORMAT,
            "pieces without an end"),
    REFUSED("\x02\x01G\x01h\x00\x01/\x01"
            "a\x00",
            HSY_E_FORMAT, "fields without an end"),
};

static const struct refused responses[] = {
    REFUSED("\x00\x01G\x01h\x00\x01/", HSY_E_UNKNOWN, "a request"),
    REFUSED("\x01", HSY_E_FORMAT, "no status"),
    REFUSED("\x01\x40\x63", HSY_E_FORMAT, "status 99"),
    REFUSED("\x01\x42\x58", HSY_E_FORMAT, "status 600"),
    REFUSED("\x01\x40\x64\x00", HSY_E_FORMAT, "100 and nothing behind"),
    REFUSED("\x01\x40\x64\x05\x40\xc8", HSY_E_FORMAT, "100 with half a field"),
};

static void nothing_else_is_a_message(void)
{
    struct bhttp_request q;
    struct bhttp_response r;
    uint8_t bytes[64];

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        memcpy(bytes, requests[i].bytes, requests[i].len);
        is_status(bhttp_request_decode(&q, bytes, requests[i].len),
                  requests[i].st, "no request: %s", requests[i].what);
    }
    for (size_t i = 0; i < sizeof responses / sizeof responses[0]; i++) {
        memcpy(bytes, responses[i].bytes, responses[i].len);
        is_status(bhttp_response_decode(&r, bytes, responses[i].len),
                  responses[i].st, "no response: %s", responses[i].what);
    }
}

static void pieces_are_joined(void)
{
    uint8_t bytes[] = "\x02\x01G\x01h\x00\x01/\x01"
                      "a\x01"
                      "b\x00\x03"
                      "one\x02, \x03two\x00\x01t\x00\x00\x00\x00";
    struct bhttp_request r;

    ok(eq_status(bhttp_request_decode(&r, bytes, sizeof bytes - 1), HSY_OK) &&
           eq_u64(r.content_len, 8) && eq_bytes(r.content, "one, two", 8) &&
           eq_u64(r.n_fields, 1) && bhttp_is(r.fields[0].value, "b"),
       "content in pieces is joined; its trailer is passed over");
}

static void fields_are_bounded(void)
{
    uint8_t bytes[8 + 1 + 3 * (BHTTP_FIELDS + 1)] = "\x00\x01G\x01h\x00\x01/";
    struct bhttp_request r, full = upload(NULL, 0);
    size_t len;

    for (size_t i = 0; i <= BHTTP_FIELDS; i++)
        memcpy(bytes + 9 + 3 * i,
               "\x01"
               "a\x00",
               3);
    bytes[8] = 3 * BHTTP_FIELDS;
    ok(eq_status(bhttp_request_decode(&r, bytes, sizeof bytes - 3), HSY_OK) &&
           eq_u64(r.n_fields, BHTTP_FIELDS),
       "as many fields as there is room for");
    bytes[8] = 3 * (BHTTP_FIELDS + 1);
    is_status(bhttp_request_decode(&r, bytes, sizeof bytes), HSY_E_FULL,
              "and one more");
    full.n_fields = BHTTP_FIELDS + 1;
    is_status(bhttp_request_encode(bytes, sizeof bytes, &len, &full, 0),
              HSY_E_RANGE, "nor are more written");
}

static void nothing_illegal_is_written(void)
{
    static const char *const names[] = {"", "A", "a b", ":path"};
    struct bhttp_request r = upload(NULL, 0);
    struct bhttp_response s = {.status = 199};
    uint8_t out[ROOM];
    unsigned written = 0;
    size_t len;

    for (size_t i = 0; i < 4; i++) {
        r.fields[0].name = bhttp_text(names[i]);
        written +=
            bhttp_request_encode(out, sizeof out, &len, &r, 0) != HSY_E_RANGE;
    }
    r = upload(NULL, 0);
    r.fields[0].value = bhttp_text("a\r\nb: c");
    written +=
        bhttp_request_encode(out, sizeof out, &len, &r, 0) != HSY_E_RANGE;
    r = upload(NULL, 0);
    r.path = bhttp_text("/a b");
    written +=
        bhttp_request_encode(out, sizeof out, &len, &r, 0) != HSY_E_RANGE;
    r = upload(NULL, 0);
    r.method = bhttp_text("");
    written +=
        bhttp_request_encode(out, sizeof out, &len, &r, 0) != HSY_E_RANGE;
    r = upload(out, 1u << 30);
    written +=
        bhttp_request_encode(out, sizeof out, &len, &r, 0) != HSY_E_RANGE;
    written +=
        bhttp_response_encode(out, sizeof out, &len, &s, 0) != HSY_E_RANGE;
    is_u64(written, 0, "what could not be read is not written");
}

int main(void)
{
    requests_come_back();
    padding_hides_the_length();
    the_end_may_be_left_out();
    responses_come_back();
    nothing_else_is_a_message();
    pieces_are_joined();
    fields_are_bounded();
    nothing_illegal_is_written();
    return tap_done();
}
