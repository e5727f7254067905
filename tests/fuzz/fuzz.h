/*
 * fuzz.h - what the fuzz targets share. Include it under _GNU_SOURCE.
 *
 * A target is run by libFuzzer (make fuzz) or, over the files of its corpus,
 * by replay.c. A broken promise ends the process at once.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "hearsay.h"
#include "lib/bits/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* A head as it comes, and with its checksum made right. */
static inline void fuzz_head(const uint8_t *data, size_t size,
                             void (*decodes)(const uint8_t *wire))
{
    uint8_t head[HSY_UPLOAD_WIRE]; /* the longest there is */

    fuzz_expect(size <= sizeof head, "there is room for a head");
    decodes(data);
    memcpy(head, data, size);
    fuzz_seal(head, size);
    decodes(head);
}

/* A descriptor from which the bytes can be read, the same each time. */
static inline int fuzz_fd(const uint8_t *data, size_t len)
{
    static int fd = -1;

    if (fd == -1)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_expect(ftruncate(fd, 0) == 0 &&
                    pwrite(fd, data, len, 0) == (ssize_t)len &&
                    lseek(fd, 0, SEEK_SET) == 0,
                "the input can be kept in memory");
    return fd;
}

/* Make the encoding of a scheme right: what its parameters resolve to, if they
 * resolve to anything; then digest is the scheme's. */
static inline bool fuzz_resolve(uint8_t wire[HSY_SCHEME_WIRE],
                                const uint8_t *labels, size_t labels_len,
                                uint8_t digest[HSY_DIGEST])
{
    hsy_spec spec;
    hsy_scheme_info info;
    hsy_scheme *s = NULL;
    bool resolved = false;

    bytes_put64(wire + 152, labels_len);
    if (hsy_spec_decode(&spec, wire, labels, labels_len, NULL) == HSY_OK)
        s = malloc(hsy_scheme_size(&spec));
    if (s != NULL && hsy_scheme_init(s, &spec, NULL) == HSY_OK) {
        hsy_scheme_encode(s, wire);
        hsy_scheme_describe(s, &info);
        memcpy(digest, info.digest, HSY_DIGEST);
        resolved = true;
    }
    free(s);
    return resolved;
}

#endif
