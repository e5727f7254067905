/*
 * fuzz_archive.c - archives of a collector's data, as they come and with all
 * checksums made right: what is accepted is a store that reads back.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "rig/store_rig.h"
#include "server/store/admin.h"

#define ARCHIVE_LEN 65536u
#define ARCHIVE_HEAD 16u

static char archive_root[64], archive_at[96];

static void archive_begin(void)
{
    if (archive_root[0] != '\0')
        return;
    fuzz_expect(rig_root(archive_root), "there is a place");
    snprintf(archive_at, sizeof archive_at, "%s/data", archive_root);
}

static hsy_status archive_any(void *ctx, const struct store_tally *tally,
                              const struct store_chunk *chunk)
{
    (void)ctx;
    (void)tally;
    (void)chunk;
    return HSY_OK;
}

static void archive_reads(const uint8_t *bytes, size_t len)
{
    const struct store_reader to = {.chunk = archive_any};
    const int fd = fuzz_fd(bytes, len);
    struct store_state state;
    struct store *s;
    hsy_error err = {0};

    archive_begin();
    fuzz_expect(store_sqlite_open(&s, &state, archive_at, true, &err) == HSY_OK,
                "there is a store");
    if (store_archive_read(s, archive_at, fd, &err) == HSY_OK)
        fuzz_expect(s->ops->read(s, &to, &err) == HSY_OK,
                    "what is accepted reads back");
    else
        fuzz_expect(err.status == HSY_E_FORMAT || err.status == HSY_E_VERSION,
                    "what is refused is malformed");
    s->ops->close(s);
    fuzz_expect(store_remove(archive_at), "nothing is left");
    rmdir(archive_root);
    archive_root[0] = '\0';
}

/* Right checksums, as far as lengths lead. */
static void archive_mend(uint8_t *bytes, size_t len)
{
    size_t at = ARCHIVE_HEAD;

    if (len < ARCHIVE_HEAD)
        return;
    fuzz_seal(bytes, ARCHIVE_HEAD);
    while (len - at >= ARCHIVE_HEAD) {
        uint8_t *record = bytes + at;
        const uint64_t n = bytes_get64(record + 8);
        uint32_t crc;

        if (n > len - at - ARCHIVE_HEAD)
            return;
        crc = hsy_crc32c(0, record, 4);
        crc = hsy_crc32c(crc, record + 8, 8 + (size_t)n);
        bytes_put32(record + 4, crc);
        at += ARCHIVE_HEAD + (size_t)n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t mended[ARCHIVE_LEN];

    if (len > ARCHIVE_LEN)
        return 0;
    archive_reads(data, len);
    if (len != 0)
        memcpy(mended, data, len);
    archive_mend(mended, len);
    archive_reads(mended, len);
    return 0;
}
