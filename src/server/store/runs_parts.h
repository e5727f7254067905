/* runs_parts.h - the bytes of a run, for those who read and write them. */
#ifndef SERVER_STORE_RUNS_PARTS_H
#define SERVER_STORE_RUNS_PARTS_H

#include "lib/bits/bytes.h"
#include "server/store/runs.h"

#include <string.h>

#define RUN_MAGIC "HSYR"
#define RUN_VERSION 1u
#define RUN_HEAD 64u /* bytes of the first page that say something */
#define RUN_END 16u  /* bytes behind the filter */

static inline uint64_t run_pages_of(uint64_t count)
{
    return (count + RUN_IDS - 1) / RUN_IDS;
}

static inline uint64_t run_length_of(uint64_t count)
{
    return (1 + run_pages_of(count)) * RUN_PAGE + run_filter_bytes(count) +
           RUN_END;
}

/* The first page, but for what follows its head: zeros. */
static inline void run_put_head(uint8_t head[RUN_HEAD], const struct run_is *is)
{
    memset(head, 0, RUN_HEAD);
    memcpy(head, RUN_MAGIC, 4);
    bytes_put32(head + 4, RUN_VERSION);
    memcpy(head + 8, is->name, RUN_NAME);
    bytes_put64(head + 24, is->number);
    bytes_put64(head + 32, is->count);
    bytes_put32(head + 40, is->epoch);
    bytes_put32(head + 44, is->null);
    bytes_put32(head + 48, run_filter_bits(is->count));
    bytes_put32(head + 60, hsy_crc32c(0, head, 60));
}

/* What stands behind the filter: its checksum, that of all before, zeros. */
static inline void run_put_end(uint8_t end[RUN_END], uint32_t filter,
                               uint32_t check)
{
    memset(end, 0, RUN_END);
    bytes_put32(end, filter);
    bytes_put32(end + 4, check);
    bytes_put32(end + 12, hsy_crc32c(0, end, 12));
}

/* A page's checksum: also of the store's name and the run's number, so that it
 * is of no other run. */
static inline uint32_t run_page_check(const struct run_is *is,
                                      const uint8_t page[RUN_PAGE])
{
    uint8_t whose[RUN_NAME + 8];

    memcpy(whose, is->name, RUN_NAME);
    bytes_put64(whose + RUN_NAME, is->number);
    return hsy_crc32c(hsy_crc32c(0, whose, sizeof whose), page, RUN_PAGE - 4);
}

/* The last sixteen bytes of a page. */
static inline void run_put_foot(uint8_t page[RUN_PAGE], const struct run_is *is,
                                uint64_t k, size_t n)
{
    uint8_t *foot = page + RUN_PAGE - 16;

    bytes_put64(foot, k);
    bytes_put32(foot + 8, (uint32_t)n);
    bytes_put32(foot + 12, run_page_check(is, page));
}

#endif
