/*
 * store_archive.h - what the files of archives share.
 *
 * An archive is a head and records in the order in which a store reads back,
 * each with its length and checksum, and an END that counts them.
 * docs/formats.md has the bytes.
 */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include "store_keep.h"

#define ARCHIVE_MAGIC "HSYA"
#define ARCHIVE_VERSION 1u
#define ARCHIVE_HEAD 16u
#define ARCHIVE_RECORD (UINT64_C(1) << 30) /* bytes of a payload at most */

enum archive_type {
    ARCHIVE_STATE = 1,
    ARCHIVE_DOCUMENT,
    ARCHIVE_ENTRY,
    ARCHIVE_COUNT,
    ARCHIVE_QUOTA,
    ARCHIVE_IDS,
    ARCHIVE_TALLY,
    ARCHIVE_CHUNK,
    ARCHIVE_BATCH,
    ARCHIVE_FIGURE,
    ARCHIVE_MERGED,
    ARCHIVE_END
};

static inline void archive_put(uint8_t *p, uint64_t x, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(x >> 8 * i);
}

static inline uint64_t archive_get(const uint8_t *p, size_t bytes)
{
    uint64_t x = 0;

    while (bytes-- != 0)
        x = x << 8 | p[bytes];
    return x;
}

#endif
