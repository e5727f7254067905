/*
 * rappor_dialect.h - RAPPOR's public clients, bit for bit.
 *
 * What each of them computes from a client's secret and a value: cohort, Bloom
 * filter and permanent response (docs/compat-rappor.md). For reading and
 * checking what such clients sent; their quirks are kept, the mechanism
 * `rappor` has none of them.
 */
#ifndef HOST_FORMAT_RAPPOR_DIALECT_H
#define HOST_FORMAT_RAPPOR_DIALECT_H

#include "hearsay.h"

#include <nettle/sha2.h>

enum rappor_dialect {
    RAPPOR_PYTHON,  /* k from 1 to 32; the cohort is given */
    RAPPOR_CPP,     /* k from 1 to 32 */
    RAPPOR_CPP_LONG /* k a multiple of 8 up to 4096; HMAC-DRBG */
};

#define RAPPOR_DIALECT_BYTES 512u /* of the longest filter */

struct rappor_encoder {
    enum rappor_dialect dialect;
    uint32_t k, h; /* h hashes of as many bytes as the dialect takes: 16 in all
                    */
    uint32_t m;    /* cohorts; cpp and cpp-long: a power of two */
    double f;
    const char *id; /* cpp, cpp-long: the encoder's name */
    uint32_t limit; /* a bit is replaced if its seven bits are below this */
};

/* Check and prepare; HSY_E_RANGE with the field's name. Keeps id. */
hsy_status rappor_encoder_init(struct rappor_encoder *e,
                               enum rappor_dialect dialect, uint32_t k,
                               uint32_t h, uint32_t m, double f, const char *id,
                               hsy_error *err);

/* A client: its secret absorbed once, which spares half of every HMAC. */
struct rappor_client {
    struct sha256_ctx inner, outer; /* after the padded secret */
    const void *secret;             /* kept: cpp-long takes it whole */
    size_t secret_len;
    uint32_t cohort;
};

/* cohort is taken by python only and must be below m. HSY_E_RANGE: it is not.
 * Wipe the client with rappor_client_clear. */
hsy_status rappor_client_open(struct rappor_client *c,
                              const struct rappor_encoder *e,
                              const void *secret, size_t secret_len,
                              uint32_t cohort);
void rappor_client_clear(struct rappor_client *c);

/* Bits of a filter: bit b at bit b % 8 of byte b / 8; ceil(k / 8) bytes. */
struct rappor_answer {
    uint8_t bloom[RAPPOR_DIALECT_BYTES];
    uint8_t prr[RAPPOR_DIALECT_BYTES];
};

void rappor_client_answer(const struct rappor_client *c,
                          const struct rappor_encoder *e, const void *value,
                          size_t len, struct rappor_answer *out);

/* A fresh client for one value. */
hsy_status rappor_answer_once(const struct rappor_encoder *e,
                              const void *secret, size_t secret_len,
                              uint32_t cohort, const void *value, size_t len,
                              struct rappor_answer *out);

#endif
