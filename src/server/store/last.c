/*
 * last.c - the number of the last commit, once more, outside of both
 * databases.
 *
 * A copy of the files of a running collector (cp, rsync, a snapshot by file)
 * has each file of another moment. If a log is moved between the copy of its
 * database and its own, the copy can be sound in itself and lack what was
 * acknowledged before it began. So `last` says which commit was durable: it is
 * written after each, and not synced, so after a power cut it is at most too
 * small. Data with fewer commits than it says is not opened.
 */
#define _GNU_SOURCE /* openat */

#include "server/store/internal.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LAST_BYTES (STORE_NAME + 8 + 4)

void store_last_write(const struct store_sqlite *s, uint64_t seq)
{
    uint8_t wire[LAST_BYTES];

    memcpy(wire, s->name, STORE_NAME);
    bytes_put64(wire + STORE_NAME, seq);
    bytes_put32(wire + STORE_NAME + 8, hsy_crc32c(0, wire, STORE_NAME + 8));
    if (s->last != -1 && pwrite(s->last, wire, sizeof wire, 0) == -1)
        return; /* it stays too small, which finds less and harms nothing */
}

/* Whether it speaks of commits that are not here: later ones, or any of another
 * store. What is no whole record says nothing. */
static bool last_misses(const struct store_sqlite *s)
{
    uint8_t wire[LAST_BYTES];
    uint64_t seq;

    if (pread(s->last, wire, sizeof wire, 0) != (ssize_t)sizeof wire ||
        bytes_get32(wire + STORE_NAME + 8) !=
            hsy_crc32c(0, wire, STORE_NAME + 8))
        return false;
    seq = bytes_get64(wire + STORE_NAME);
    return memcmp(wire, s->name, STORE_NAME) == 0 ? seq > s->state.seq
                                                  : seq != 0;
}

hsy_status store_last_open(struct store_sqlite *s, hsy_error *err)
{
    s->last =
        openat(s->dir, "last", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->last != -1 && last_misses(s)) {
        atomic_store(&s->dead, HSY_E_DAMAGED);
        return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_LAST,
                         "acknowledged reports are missing: this is a copy of "
                         "files in use, or an older copy was put in between");
    }
    store_last_write(s, s->state.seq);
    return HSY_OK;
}
