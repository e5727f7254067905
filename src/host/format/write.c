/* write.c - writing report streams. */
#include "host/format/internal.h"

#include "lib/bits/bytes.h"

#include <string.h>

#define CONTAINER_WIRE_LABELS 152u /* length and digest of the labels */

/* Whether these are the labels of the scheme so encoded. */
static bool container_own_labels(const uint8_t wire[HSY_SCHEME_WIRE],
                                 const uint8_t *labels, size_t labels_len)
{
    const uint8_t *own = wire + CONTAINER_WIRE_LABELS;
    uint8_t digest[HSY_DIGEST];

    if (bytes_get64(own) != labels_len)
        return false;
    if (labels_len == 0)
        return true;
    hsy_blake2b(digest, sizeof digest, labels, labels_len, NULL, 0);
    return memcmp(own + 8, digest, sizeof digest) == 0;
}

bool container_begin_wire(uint8_t wire[CONTAINER_BEGIN], const hsy_scheme *s,
                          const uint8_t *labels, size_t labels_len,
                          hsy_content content)
{
    uint8_t *scheme = wire + HSY_PREFIX_WIRE;
    hsy_file_header prefix = {.content = content,
                              .labels_len = (uint32_t)labels_len};
    hsy_scheme_info info;

    hsy_scheme_encode(s, scheme);
    if (!container_own_labels(scheme, labels, labels_len))
        return false;
    hsy_scheme_describe(s, &info);
    memcpy(prefix.digest, info.digest, HSY_DIGEST);
    prefix.checksum = hsy_crc32c(0, scheme, HSY_SCHEME_WIRE);
    if (labels_len != 0)
        prefix.checksum = hsy_crc32c(prefix.checksum, labels, labels_len);
    hsy_file_header_encode(wire, &prefix);
    return true;
}

hsy_status container_put_prefix(struct output *out, const hsy_scheme *s,
                                const uint8_t *labels, size_t labels_len,
                                hsy_content content)
{
    uint8_t wire[CONTAINER_BEGIN];
    hsy_status st;

    if (!container_begin_wire(wire, s, labels, labels_len, content))
        return HSY_E_RANGE;
    st = output_write(out, wire, sizeof wire);
    if (st == HSY_OK && labels_len != 0)
        st = output_write(out, labels, labels_len);
    return st;
}

static hsy_status container_write_reports(struct output *out,
                                          const hsy_scheme *s,
                                          const uint8_t *packed, size_t n)
{
    hsy_record record = {.type = HSY_RECORD_REPORTS, .count = n};
    uint8_t wire[HSY_RECORD_WIRE];
    hsy_status st;

    record.length = (uint32_t)hsy_packed_size(s, n);
    record.checksum = hsy_crc32c(0, packed, record.length);
    hsy_record_encode(wire, &record);
    st = output_write(out, wire, sizeof wire);
    if (st != HSY_OK)
        return st;
    return output_write(out, packed, record.length);
}

/* Eight reports of any width end at a byte, and eight of the widest still fit
 * into a record: so records are cut at multiples of eight reports. */
hsy_status container_put_reports(struct output *out, const hsy_scheme *s,
                                 const uint8_t *packed, size_t n)
{
    size_t eight = hsy_packed_size(s, 8);
    size_t most = HSY_RECORD_MAX / eight * 8;

    while (n > most) {
        hsy_status st = container_write_reports(out, s, packed, most);

        if (st != HSY_OK)
            return st;
        packed += most / 8 * eight;
        n -= most;
    }
    return n == 0 ? HSY_OK : container_write_reports(out, s, packed, n);
}

hsy_status container_put_end(struct output *out, uint64_t reports)
{
    hsy_record record = {.type = HSY_RECORD_END, .count = reports};
    uint8_t wire[HSY_RECORD_WIRE];

    hsy_record_encode(wire, &record);
    return output_write(out, wire, sizeof wire);
}
