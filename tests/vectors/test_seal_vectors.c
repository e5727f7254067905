/*
 * test_seal_vectors.c - HPKE, binary HTTP and Oblivious HTTP give the numbers
 * of RFC 9180, RFC 9292 (section 5) and RFC 9458 (appendix A).
 */
#include "host/base/hex.h"
#include "host/seal/bhttp.h"
#include "host/seal/ohttp.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define VECTORS "tests/vectors/seal.txt"
#define BYTES_MAX 512u

struct bytes {
    uint8_t at[BYTES_MAX];
    size_t len;
};

static bool read_hex(struct bytes *b, const char *word)
{
    size_t digits = strlen(word);

    b->len = strcmp(word, "-") == 0 ? 0 : digits / 2;
    return b->len <= BYTES_MAX &&
           (b->len == 0 || hex_get(b->at, b->len, word, digits));
}

static bool same(const uint8_t *got, size_t len, const struct bytes *want)
{
    return eq_u64(len, want->len) && eq_bytes(got, want->at, len);
}

/* ---- RFC 9180 ------------------------------------------------------------ */

enum hpke_name { INFO, SKE, PKE, SKR, PKR, ENC, KEY, NONCE, EXPORTER, PT, N };
static const char *const hpke_names[N] = {
    "info", "skEm",       "pkEm",
    "skRm", "pkRm",       "enc",
    "key",  "base_nonce", "exporter_secret",
    "pt"};

static struct hpke {
    enum seal_aead aead;
    struct bytes is[N];
    struct seal_context sender, receiver;
    unsigned messages, exports, wrong;
} hpke;

static void hpke_set_up(void)
{
    const struct bytes *is = hpke.is;
    struct seal_context *s = &hpke.sender;
    uint8_t enc[SEAL_ENC], pub[SEAL_KEY];

    ok(eq_status(seal_public(pub, is[SKE].at), HSY_OK) &&
           same(pub, sizeof pub, &is[PKE]) &&
           eq_status(seal_public(pub, is[SKR].at), HSY_OK) &&
           same(pub, sizeof pub, &is[PKR]),
       "AEAD %04x: public keys", (unsigned)hpke.aead);
    ok(eq_status(seal_setup_sender(s, enc, hpke.aead, is[PKR].at, is[INFO].at,
                                   is[INFO].len, is[SKE].at),
                 HSY_OK) &&
           same(enc, sizeof enc, &is[ENC]) &&
           eq_bytes(s->key, is[KEY].at, is[KEY].len) &&
           eq_bytes(s->base_nonce, is[NONCE].at, is[NONCE].len) &&
           same(s->exporter, sizeof s->exporter, &is[EXPORTER]),
       "the sender's encapsulated key, key, nonce and exporter");
    ok(eq_status(seal_setup_receiver(&hpke.receiver, hpke.aead, is[ENC].at,
                                     is[SKR].at, is[PKR].at, is[INFO].at,
                                     is[INFO].len),
                 HSY_OK) &&
           eq_bytes(&hpke.receiver, s, sizeof *s),
       "the receiver has the same context");
}

static void hpke_message(const struct bytes *aad, const struct bytes *ct)
{
    const struct bytes *pt = &hpke.is[PT];
    uint8_t out[BYTES_MAX], other[BYTES_MAX];
    unsigned number = hpke.messages++;
    bool good = seal_close(&hpke.sender, out, aad->at, aad->len, pt->at,
                           pt->len) == HSY_OK &&
                same(out, pt->len + SEAL_TAG, ct);

    /* One bit changed, another one for each message; then as it is. */
    memcpy(other, ct->at, ct->len);
    other[number % ct->len] ^= (uint8_t)(1u << number % 8);
    good = good && seal_open(&hpke.receiver, out, aad->at, aad->len, other,
                             ct->len) == HSY_E_REFUSED;
    good = good && seal_open(&hpke.receiver, out, aad->at, aad->len, ct->at,
                             ct->len) == HSY_OK;
    hpke.wrong += !good || !same(out, ct->len - SEAL_TAG, pt);
}

static void hpke_export(const struct bytes *context, const struct bytes *value)
{
    uint8_t out[BYTES_MAX];

    hpke.exports++;
    seal_export(&hpke.receiver, out, value->len, context->at, context->len);
    hpke.wrong += !same(out, value->len, value);
}

static void hpke_done(void)
{
    if (hpke.aead == 0)
        return;
    is_u64(hpke.wrong, 0, "AEAD %04x: %u messages and %u exports",
           (unsigned)hpke.aead, hpke.messages, hpke.exports);
    ok(eq_u64(hpke.messages, hpke.aead == SEAL_EXPORT_ONLY ? 0 : 257) &&
           eq_u64(hpke.exports, 3),
       "are all there are");
}

static bool hpke_line(char *word[3])
{
    struct bytes first, second;

    if (strcmp(word[0], "hpke") == 0) {
        hpke_done();
        memset(&hpke, 0, sizeof hpke);
        hpke.aead = (enum seal_aead)strtoul(word[1], NULL, 16);
        return true;
    }
    for (size_t i = 0; i < N; i++) {
        if (strcmp(word[0], hpke_names[i]) == 0) {
            bool good = read_hex(&hpke.is[i], word[1]);

            if (i == EXPORTER)
                hpke_set_up();
            return good;
        }
    }
    if (!read_hex(&first, word[1]) || !read_hex(&second, word[2]))
        return false;
    if (strcmp(word[0], "sealed") == 0)
        hpke_message(&first, &second);
    else
        hpke_export(&first, &second);
    return true;
}

/* ---- RFC 9292 ------------------------------------------------------------ */

static bool value_is(const struct bhttp_field *fields, size_t n,
                     const char *name, const char *want)
{
    const struct bhttp_text *value = bhttp_field(fields, n, name);

    return value != NULL && bhttp_is(*value, want);
}

static bool content_is(const uint8_t *content, size_t len, const char *want)
{
    return eq_u64(len, strlen(want)) && eq_bytes(content, want, len);
}

static void bhttp_get(struct bytes *b, bool known)
{
    uint8_t again[BYTES_MAX];
    struct bhttp_request r;
    size_t len;

    ok(eq_status(bhttp_request_decode(&r, b->at, b->len), HSY_OK) &&
           bhttp_is(r.method, "GET") && bhttp_is(r.scheme, "https") &&
           bhttp_is(r.authority, "") && bhttp_is(r.path, "/hello.txt") &&
           eq_u64(r.n_fields, 3) && eq_u64(r.content_len, 0) &&
           value_is(r.fields, 3, "host", "www.example.com") &&
           value_is(r.fields, 3, "accept-language", "en, mi") &&
           value_is(r.fields, 3, "user-agent",
                    "curl/7.16.3 libcurl/7.16.3 OpenSSL/0.9.7l zlib/1.2.3"),
       "the request is read");
    if (known)
        ok(eq_status(bhttp_request_encode(again, sizeof again, &len, &r, 0),
                     HSY_OK) &&
               same(again, len, b),
           "and written as it was");
}

static void bhttp_hello(struct bytes *b)
{
    struct bhttp_response r;

    ok(eq_status(bhttp_response_decode(&r, b->at, b->len), HSY_OK) &&
           eq_u64(r.status, 200) && eq_u64(r.n_fields, 8) &&
           value_is(r.fields, 8, "etag", "\"34aa387-d-1568eb00\"") &&
           value_is(r.fields, 8, "vary", "Accept-Encoding") &&
           content_is(r.content, r.content_len,
                      "Hello World! My content includes a trailing CRLF.\r\n"),
       "a response behind two informational ones is read");
}

static void bhttp_trailer(struct bytes *b)
{
    struct bhttp_response r;

    ok(eq_status(bhttp_response_decode(&r, b->at, b->len), HSY_OK) &&
           eq_u64(r.status, 200) && eq_u64(r.n_fields, 0) &&
           content_is(r.content, r.content_len,
                      "This content contains CRLF.\r\n"),
       "a response with a trailer is read");
}

static unsigned bhttp_messages;

static bool bhttp_line(char *word[3])
{
    struct bytes b;

    if (!read_hex(&b, word[2]))
        return false;
    bhttp_messages++;
    if (strcmp(word[1], "request_known_length") == 0)
        bhttp_get(&b, true);
    else if (strcmp(word[1], "request_indeterminate_length") == 0)
        bhttp_get(&b, false);
    else if (strcmp(word[1], "response_with_trailer_known_length") == 0)
        bhttp_trailer(&b);
    else
        bhttp_hello(&b);
    return true;
}

/* ---- RFC 9458 ------------------------------------------------------------ */

enum ohttp_name {
    SERVER_SECRET,
    CONFIGURATION,
    REQUEST,
    EPHEMERAL,
    EPHEMERAL_PUBLIC,
    OHTTP_INFO_BYTES,
    SEALED_REQUEST,
    RESPONSE,
    EXPORT_SECRET,
    SALT,
    PRK,
    RESPONSE_KEY,
    RESPONSE_NONCE,
    SEALED_RESPONSE,
    OHTTP_N
};
static const char *const ohttp_names[OHTTP_N] = {"server_secret_key",
                                                 "key_configuration",
                                                 "request_bhttp",
                                                 "client_ephemeral_secret",
                                                 "client_ephemeral_public",
                                                 "info",
                                                 "encapsulated_request",
                                                 "response_bhttp",
                                                 "export_secret",
                                                 "response_salt",
                                                 "response_prk",
                                                 "response_key",
                                                 "response_nonce",
                                                 "encapsulated_response"};
static struct bytes ohttp[OHTTP_N];

static bool ohttp_line(char *word[3])
{
    for (size_t i = 0; i < OHTTP_N; i++) {
        if (strcmp(word[1], ohttp_names[i]) == 0)
            return read_hex(&ohttp[i], word[2]);
    }
    return false;
}

static void ohttp_asks(struct ohttp_client *client)
{
    uint8_t out[BYTES_MAX];
    struct ohttp_key key = {.id = 1};
    size_t len;

    seal_public(key.pub, ohttp[SERVER_SECRET].at);
    ok(same(out, ohttp_config(out, &key), &ohttp[CONFIGURATION]),
       "the key configuration");
    ok(eq_status(ohttp_request_seal(client, out, sizeof out, &len, key.id,
                                    key.pub, SEAL_AES128GCM,
                                    ohttp[EPHEMERAL].at, ohttp[REQUEST].at,
                                    ohttp[REQUEST].len),
                 HSY_OK) &&
           same(out, len, &ohttp[SEALED_REQUEST]),
       "the client's request");
    ok(eq_bytes(client->exchange.secret, ohttp[EXPORT_SECRET].at,
                ohttp[EXPORT_SECRET].len) &&
           eq_bytes(client->exchange.enc, ohttp[EPHEMERAL_PUBLIC].at, SEAL_ENC),
       "and the secret of its response");
}

static void ohttp_answers(const struct ohttp_client *client)
{
    uint8_t out[BYTES_MAX];
    struct ohttp_gateway gateway;
    struct ohttp_key key = {.id = 1};
    size_t len;

    memcpy(key.secret, ohttp[SERVER_SECRET].at, SEAL_KEY);
    seal_public(key.pub, key.secret);
    ok(eq_status(ohttp_request_open(&gateway, out, &len, &key, 1,
                                    ohttp[SEALED_REQUEST].at,
                                    ohttp[SEALED_REQUEST].len),
                 HSY_OK) &&
           same(out, len, &ohttp[REQUEST]),
       "the gateway opens it");
    ok(eq_status(ohttp_response_seal(&gateway, out, sizeof out, &len,
                                     ohttp[SALT].at + SEAL_ENC,
                                     ohttp[RESPONSE].at, ohttp[RESPONSE].len),
                 HSY_OK) &&
           same(out, len, &ohttp[SEALED_RESPONSE]),
       "its response");
    ok(eq_status(ohttp_response_open(client, out, &len,
                                     ohttp[SEALED_RESPONSE].at,
                                     ohttp[SEALED_RESPONSE].len),
                 HSY_OK) &&
           same(out, len, &ohttp[RESPONSE]),
       "the client opens that");
}

static void ohttp_reads(void)
{
    struct bhttp_request q;
    struct bhttp_response r;

    ok(eq_status(
           bhttp_request_decode(&q, ohttp[REQUEST].at, ohttp[REQUEST].len),
           HSY_OK) &&
           bhttp_is(q.method, "GET") && bhttp_is(q.authority, "example.com") &&
           bhttp_is(q.path, "/") &&
           eq_status(bhttp_response_decode(&r, ohttp[RESPONSE].at,
                                           ohttp[RESPONSE].len),
                     HSY_OK) &&
           eq_u64(r.status, 200) && eq_u64(r.content_len, 0),
       "what was sealed is binary HTTP whose empty sections were left out");
}

int main(void)
{
    FILE *f = fopen(VECTORS, "r");
    struct ohttp_client client;
    static char line[4096];
    bool good = f != NULL;

    while (good && fgets(line, sizeof line, f) != NULL) {
        char *word[3] = {strtok(line, " \n"), strtok(NULL, " \n"), NULL};

        if (line[0] == '#')
            continue;
        word[2] = strtok(NULL, " \n");
        if (strcmp(word[0], "bhttp") == 0)
            good = bhttp_line(word);
        else if (strcmp(word[0], "ohttp") == 0)
            good = ohttp_line(word);
        else
            good = hpke_line(word);
    }
    ok(good && feof(f), "every line of " VECTORS " is read");
    hpke_done();
    is_u64(bhttp_messages, 4, "RFC 9292: four messages");
    ohttp_asks(&client);
    ohttp_answers(&client);
    ohttp_reads();
    fclose(f);
    return tap_done();
}
