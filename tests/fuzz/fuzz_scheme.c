/* fuzz_scheme.c - a prefix with its scheme and labels: one encoding. */
#define _GNU_SOURCE

#include "fuzz.h"

/* The scheme of an encoding on the heap, the caller's to free; NULL: none. */
static hsy_scheme *scheme_of(const uint8_t *wire, const uint8_t *labels,
                             size_t labels_len)
{
    hsy_spec spec;
    hsy_scheme *s = NULL;

    if (hsy_spec_decode(&spec, wire, labels, labels_len, NULL) == HSY_OK)
        s = malloc(hsy_scheme_size(&spec));
    if (s != NULL &&
        hsy_scheme_decode(s, wire, labels, labels_len, NULL) != HSY_OK) {
        free(s);
        s = NULL;
    }
    return s;
}

static bool scheme_decodes(const uint8_t *wire, const uint8_t *labels,
                           size_t labels_len)
{
    hsy_scheme *s = scheme_of(wire, labels, labels_len);
    uint8_t again[HSY_SCHEME_WIRE];
    hsy_scheme_info info;

    if (s == NULL)
        return false;
    hsy_scheme_encode(s, again);
    fuzz_expect(memcmp(wire, again, sizeof again) == 0,
                "a scheme that decodes encodes to the same bytes");
    hsy_scheme_describe(s, &info);
    fuzz_expect(info.epsilon_exact <= info.epsilon,
                "no scheme spends more than it claims");
    fuzz_expect(info.nano_epsilon >= HSY_EPSILON_MIN &&
                    info.nano_epsilon <= HSY_EPSILON_MAX,
                "epsilon is in its range");
    free(s);
    return true;
}

static void prefix_decodes(const uint8_t *wire)
{
    uint8_t again[HSY_PREFIX_WIRE];
    hsy_file_header prefix;

    if (hsy_file_header_decode(&prefix, wire, NULL) != HSY_OK)
        return;
    hsy_file_header_encode(again, &prefix);
    fuzz_expect(memcmp(wire, again, sizeof again) == 0,
                "a prefix that decodes encodes to the same bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t wire[HSY_SCHEME_WIRE], digest[HSY_DIGEST];
    const uint8_t *labels;

    if (len < HSY_PREFIX_WIRE)
        return 0;
    fuzz_head(data, HSY_PREFIX_WIRE, prefix_decodes);
    data += HSY_PREFIX_WIRE;
    len -= HSY_PREFIX_WIRE;
    if (len < HSY_SCHEME_WIRE)
        return 0;
    labels = data + HSY_SCHEME_WIRE;
    len -= HSY_SCHEME_WIRE;
    scheme_decodes(data, labels, len);
    memcpy(wire, data, sizeof wire);
    if (fuzz_resolve(wire, labels, len, digest))
        fuzz_expect(scheme_decodes(wire, labels, len),
                    "a scheme that resolves is one that decodes");
    return 0;
}
