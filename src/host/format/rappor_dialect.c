/*
 * rappor_dialect.c - what RAPPOR's public clients compute, bit for bit.
 *
 * The steps are numbered in docs/compat-rappor.md. MD5 and SHA-256 are
 * nettle's; the HMAC around them is ours, so that a kept client's padded
 * secret is absorbed once.
 */
#define _DEFAULT_SOURCE
#include "host/format/rappor_dialect.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <nettle/md5.h>
#include <string.h>

#define DIALECT_BLOCK 64u
#define DIALECT_ID_MAX 256u

/* ---- HMAC-SHA256 [RFC 2104] ---------------------------------------------- */

static void dialect_absorb(struct sha256_ctx *ctx, const uint8_t *key,
                           uint8_t pad)
{
    uint8_t block[DIALECT_BLOCK];

    for (size_t i = 0; i < sizeof block; i++)
        block[i] = key[i] ^ pad;
    sha256_init(ctx);
    sha256_update(ctx, sizeof block, block);
    explicit_bzero(block, sizeof block);
}

/* The two states after the key. */
static void dialect_key(struct sha256_ctx *inner, struct sha256_ctx *outer,
                        const void *key, size_t len)
{
    uint8_t padded[DIALECT_BLOCK] = {0};

    if (len > sizeof padded) {
        struct sha256_ctx ctx;

        sha256_init(&ctx);
        sha256_update(&ctx, len, key);
        sha256_digest(&ctx, SHA256_DIGEST_SIZE, padded);
        explicit_bzero(&ctx, sizeof ctx);
    } else if (len != 0) {
        memcpy(padded, key, len);
    }
    dialect_absorb(inner, padded, 0x36);
    dialect_absorb(outer, padded, 0x5c);
    explicit_bzero(padded, sizeof padded);
}

static void dialect_finish(struct sha256_ctx *inner,
                           const struct sha256_ctx *outer,
                           uint8_t out[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx last = *outer;

    sha256_digest(inner, SHA256_DIGEST_SIZE, out);
    sha256_update(&last, SHA256_DIGEST_SIZE, out);
    sha256_digest(&last, SHA256_DIGEST_SIZE, out);
}

/* ---- HMAC-DRBG as cpp-long has it (step 6) ------------------------------- */

struct dialect_part {
    const void *bytes;
    size_t len;
};

static void dialect_hmac(uint8_t out[SHA256_DIGEST_SIZE], const uint8_t *key,
                         const struct dialect_part *parts, size_t n)
{
    struct sha256_ctx inner, outer;

    dialect_key(&inner, &outer, key, SHA256_DIGEST_SIZE);
    for (size_t i = 0; i < n; i++)
        if (parts[i].len != 0)
            sha256_update(&inner, parts[i].len, parts[i].bytes);
    dialect_finish(&inner, &outer, out);
    explicit_bzero(&outer, sizeof outer);
}

/* len bytes of the generator that is seeded by secret and message. */
static void dialect_drbg(uint8_t *out, size_t len, const void *secret,
                         size_t secret_len, const void *message,
                         size_t message_len)
{
    uint8_t k[SHA256_DIGEST_SIZE], v[SHA256_DIGEST_SIZE], round;
    const struct dialect_part seed[4] = {{v, sizeof v},
                                         {&round, 1},
                                         {secret, secret_len},
                                         {message, message_len}};

    memset(k, 0, sizeof k);
    memset(v, 1, sizeof v);
    for (round = 0; round < 2; round++) {
        uint8_t next[SHA256_DIGEST_SIZE];

        dialect_hmac(next, k, seed, 4);
        memcpy(k, next, sizeof k);
        dialect_hmac(v, k, seed, 1);
    }
    while (len > 0) {
        size_t some = len < sizeof v ? len : sizeof v;

        dialect_hmac(v, k, seed, 1);
        memcpy(out, v, some);
        out += some;
        len -= some;
    }
    explicit_bzero(k, sizeof k);
    explicit_bzero(v, sizeof v);
}

/* ---- Parameters ---------------------------------------------------------- */

/* Bytes of the MD5 that one hash takes. */
static uint32_t dialect_hash_bytes(const struct rappor_encoder *e)
{
    uint32_t bits = 0;

    while ((e->k - 1) >> bits != 0)
        bits++;
    return e->dialect == RAPPOR_CPP_LONG && bits > 8 ? 2 : 1;
}

/*
 * Seven bits t are compared with 128 f: python with the real number, so that
 * t < 128 f means t < ceil(128 f); the C++ clients cut 128 f to an integer.
 */
static uint32_t dialect_limit(enum rappor_dialect dialect, double f)
{
    uint32_t whole = (uint32_t)(128 * f);

    return dialect == RAPPOR_PYTHON && whole < 128 * f ? whole + 1 : whole;
}

static bool dialect_power(uint32_t m)
{
    return m != 0 && (m & (m - 1)) == 0;
}

hsy_status rappor_encoder_init(struct rappor_encoder *e,
                               enum rappor_dialect dialect, uint32_t k,
                               uint32_t h, uint32_t m, double f, const char *id,
                               hsy_error *err)
{
    const bool wide = dialect == RAPPOR_CPP_LONG;
    const uint32_t most = wide ? 4096 : 32;

    if (k == 0 || k > most || (wide && k % 8 != 0))
        return host_fail_stated(err, HSY_E_RANGE, HSY_FIELD_K,
                                wide ? "a multiple of 8, at most 4096"
                                     : "from 1 to 32; cpp-long takes more",
                                most);
    if (!(f >= 0 && f <= 1))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_F,
                         "a probability from 0 to 1");
    if (m == 0 || (dialect != RAPPOR_PYTHON && !dialect_power(m)))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_M,
                         "at least 1; in C++ a power of two");
    if (id != NULL && strlen(id) > DIALECT_ID_MAX)
        return host_fail_stated(err, HSY_E_RANGE, HSY_FIELD_ID,
                                "at most 256 bytes", DIALECT_ID_MAX);
    *e = (struct rappor_encoder){.dialect = dialect,
                                 .k = k,
                                 .h = h,
                                 .m = m,
                                 .f = f,
                                 .id = id != NULL ? id : "",
                                 .limit = dialect_limit(dialect, f)};
    if (h == 0 || h * dialect_hash_bytes(e) > MD5_DIGEST_SIZE)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_H,
                               "the hashes share the 16 bytes of an MD5",
                               MD5_DIGEST_SIZE / dialect_hash_bytes(e));
    return HSY_OK;
}

/* ---- Clients ------------------------------------------------------------- */

/* Step 1. The message was to be one zero byte and is empty. */
static uint32_t dialect_cohort(const struct rappor_client *c,
                               const struct rappor_encoder *e)
{
    struct sha256_ctx inner = c->inner;
    uint8_t out[SHA256_DIGEST_SIZE];

    if (e->dialect == RAPPOR_CPP_LONG)
        dialect_drbg(out, 4, c->secret, c->secret_len, NULL, 0);
    else
        dialect_finish(&inner, &c->outer, out);
    return bytes_get32(out) & (e->m - 1);
}

hsy_status rappor_client_open(struct rappor_client *c,
                              const struct rappor_encoder *e,
                              const void *secret, size_t secret_len,
                              uint32_t cohort)
{
    if (e->dialect == RAPPOR_PYTHON && cohort >= e->m)
        return HSY_E_RANGE;
    c->secret = secret;
    c->secret_len = secret_len;
    if (e->dialect != RAPPOR_CPP_LONG)
        dialect_key(&c->inner, &c->outer, secret, secret_len);
    c->cohort = e->dialect == RAPPOR_PYTHON ? cohort : dialect_cohort(c, e);
    return HSY_OK;
}

void rappor_client_clear(struct rappor_client *c)
{
    explicit_bzero(c, sizeof *c);
}

/* ---- Answers ------------------------------------------------------------- */

static void dialect_put_be32(uint8_t *out, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* Step 2. */
static void dialect_bloom(const struct rappor_client *c,
                          const struct rappor_encoder *e, const void *value,
                          size_t len, uint8_t *bloom)
{
    const uint32_t each = dialect_hash_bytes(e);
    uint8_t digest[MD5_DIGEST_SIZE], cohort[4];
    struct md5_ctx md5;

    dialect_put_be32(cohort, c->cohort);
    md5_init(&md5);
    md5_update(&md5, sizeof cohort, cohort);
    if (len != 0)
        md5_update(&md5, len, value);
    md5_digest(&md5, sizeof digest, digest);
    memset(bloom, 0, (e->k + 7) / 8);
    for (uint32_t i = 0; i < e->h; i++) {
        uint32_t x = digest[i * each], bit;

        if (each == 2)
            x |= (uint32_t)digest[2 * i + 1] << 8;
        bit = x % e->k;
        bloom[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

/* Steps 3 and 6: a byte for each bit, its lowest bit the replacement. */
static void dialect_coins(const struct rappor_client *c,
                          const struct rappor_encoder *e, const uint8_t *bloom,
                          uint8_t *coins)
{
    static const uint8_t tag = 1;
    const size_t bytes = e->dialect == RAPPOR_CPP_LONG ? e->k / 8 : 4;
    const size_t id_len = e->dialect == RAPPOR_PYTHON ? 0 : strlen(e->id);
    struct sha256_ctx inner = c->inner;
    uint8_t word[RAPPOR_DIALECT_BYTES];

    for (size_t i = 0; i < bytes; i++) /* big-endian */
        word[i] = bytes - 1 - i < (e->k + 7) / 8 ? bloom[bytes - 1 - i] : 0;
    if (e->dialect != RAPPOR_PYTHON) {
        sha256_update(&inner, 1, &tag);
        sha256_update(&inner, id_len, (const uint8_t *)e->id);
    }
    sha256_update(&inner, bytes, word);
    dialect_finish(&inner, &c->outer, coins);
}

static void dialect_coins_long(const struct rappor_client *c,
                               const struct rappor_encoder *e,
                               const uint8_t *bloom, uint8_t *coins)
{
    const size_t bytes = e->k / 8, id_len = strlen(e->id);
    uint8_t message[1 + DIALECT_ID_MAX + RAPPOR_DIALECT_BYTES];

    message[0] = 1;
    memcpy(message + 1, e->id, id_len);
    for (size_t i = 0; i < bytes; i++)
        message[1 + id_len + i] = bloom[bytes - 1 - i];
    dialect_drbg(coins, e->k, c->secret, c->secret_len, message,
                 1 + id_len + bytes);
}

void rappor_client_answer(const struct rappor_client *c,
                          const struct rappor_encoder *e, const void *value,
                          size_t len, struct rappor_answer *out)
{
    uint8_t coins[4096];

    dialect_bloom(c, e, value, len, out->bloom);
    if (e->dialect == RAPPOR_CPP_LONG)
        dialect_coins_long(c, e, out->bloom, coins);
    else
        dialect_coins(c, e, out->bloom, coins);
    for (uint32_t at = 0; at < e->k; at += 8) {
        uint32_t replaced = 0, by = 0, n = e->k - at < 8 ? e->k - at : 8;

        for (uint32_t b = 0; b < n; b++) {
            uint32_t coin = coins[at + b];

            replaced |= (uint32_t)(coin >> 1 < e->limit) << b;
            by |= (coin & 1) << b;
        }
        out->prr[at / 8] =
            (uint8_t)((out->bloom[at / 8] & ~replaced) | (by & replaced));
    }
    explicit_bzero(coins, e->dialect == RAPPOR_CPP_LONG ? e->k : 32);
}

hsy_status rappor_answer_once(const struct rappor_encoder *e,
                              const void *secret, size_t secret_len,
                              uint32_t cohort, const void *value, size_t len,
                              struct rappor_answer *out)
{
    struct rappor_client c;
    hsy_status st = rappor_client_open(&c, e, secret, secret_len, cohort);

    if (st == HSY_OK)
        rappor_client_answer(&c, e, value, len, out);
    rappor_client_clear(&c);
    return st;
}

#undef DIALECT_BLOCK
#undef DIALECT_ID_MAX
