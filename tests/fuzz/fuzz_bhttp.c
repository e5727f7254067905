/* fuzz_bhttp.c - binary HTTP: what is read is written and read again. */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/seal/bhttp.h"

static bool bhttp_inside(const void *at, size_t n, const uint8_t *bytes,
                         size_t len)
{
    const uint8_t *p = at;

    return p >= bytes && n <= len && p <= bytes + (len - n);
}

static void bhttp_fields_inside(const struct bhttp_field *f, size_t n,
                                const uint8_t *bytes, size_t len)
{
    fuzz_expect(n <= BHTTP_FIELDS, "fields are bounded");
    for (size_t i = 0; i < n; i++)
        fuzz_expect(bhttp_inside(f[i].name.at, f[i].name.len, bytes, len) &&
                        bhttp_inside(f[i].value.at, f[i].value.len, bytes, len),
                    "fields lie within the message");
}

static void bhttp_requests(uint8_t *bytes, size_t len)
{
    uint8_t *again = malloc(len + 16);
    struct bhttp_request r, s;
    size_t n;

    if (again != NULL && bhttp_request_decode(&r, bytes, len) == HSY_OK) {
        fuzz_expect(bhttp_inside(r.content, r.content_len, bytes, len) &&
                        bhttp_inside(r.path.at, r.path.len, bytes, len),
                    "content and path lie within the message");
        bhttp_fields_inside(r.fields, r.n_fields, bytes, len);
        fuzz_expect(
            bhttp_request_encode(again, len + 16, &n, &r, 0) == HSY_OK &&
                bhttp_request_decode(&s, again, n) == HSY_OK &&
                s.n_fields == r.n_fields && s.content_len == r.content_len &&
                memcmp(s.content, r.content, s.content_len) == 0,
            "a request that is read is written, no longer but by its ends");
    }
    free(again);
}

static void bhttp_responses(uint8_t *bytes, size_t len)
{
    uint8_t *again = malloc(len + 16);
    struct bhttp_response r, s;
    size_t n;

    if (again != NULL && bhttp_response_decode(&r, bytes, len) == HSY_OK) {
        fuzz_expect(bhttp_inside(r.content, r.content_len, bytes, len),
                    "content lies within the message");
        bhttp_fields_inside(r.fields, r.n_fields, bytes, len);
        fuzz_expect(bhttp_response_encode(again, len + 16, &n, &r, 0) ==
                            HSY_OK &&
                        bhttp_response_decode(&s, again, n) == HSY_OK &&
                        s.status == r.status && s.n_fields == r.n_fields &&
                        s.content_len == r.content_len,
                    "and so a response");
    }
    free(again);
}

/* Each gets an exact copy of its own: joining pieces changes it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    void (*const readers[])(uint8_t *, size_t) = {bhttp_requests,
                                                  bhttp_responses};

    for (size_t i = 0; i < 2; i++) {
        uint8_t *copy = malloc(len + (len == 0));

        if (copy == NULL)
            return 0;
        memcpy(copy, data, len);
        readers[i](copy, len);
        free(copy);
    }
    return 0;
}
