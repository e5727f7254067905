/*
 * fuzz.h - what the fuzz targets share.
 *
 * A target is run by libFuzzer (make fuzz) or, over the files of its corpus,
 * by replay.c. A broken promise ends the process at once.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "bytes.h"
#include "hearsay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static inline void fuzz_expect(bool held, const char *promise)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s\n", promise);
    abort();
}

/* Set the checksum that ends a head of len bytes, so that what lies behind it
 * is tried as well. */
static inline void fuzz_seal(uint8_t *head, size_t len)
{
    bytes_put32(head + len - 4, hsy_crc32c(0, head, len - 4));
}

/* The scheme of an encoding on the heap, the caller's to free; NULL: none. */
static inline hsy_scheme *fuzz_scheme(const uint8_t *wire,
                                      const uint8_t *labels, size_t labels_len)
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

/* Make the encoding of a scheme right: what its parameters resolve to, if they
 * resolve to anything. */
static inline bool fuzz_resolve(uint8_t wire[HSY_SCHEME_WIRE],
                                const uint8_t *labels, size_t labels_len)
{
    hsy_spec spec;
    hsy_scheme *s = NULL;
    bool resolved = false;

    bytes_put64(wire + 136, labels_len);
    if (hsy_spec_decode(&spec, wire, labels, labels_len, NULL) == HSY_OK)
        s = malloc(hsy_scheme_size(&spec));
    if (s != NULL && hsy_scheme_init(s, &spec, NULL) == HSY_OK) {
        hsy_scheme_encode(s, wire);
        resolved = true;
    }
    free(s);
    return resolved;
}

#endif
