/*
 * fuzz_container.c - whole streams and tallies, as they come and with all
 * checksums made right: what is accepted is written again byte for byte, and
 * a tally that is accepted can be added to.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */

#include "fuzz.h"
#include "host/format/format.h"
#include "rig/examples.h"

#include <fcntl.h>

#define CONTAINER_LEN 32768u
#define CONTAINER_WORDS 65536u

static uint8_t container_again[CONTAINER_LEN];
static int64_t container_memory[CONTAINER_WORDS];

/* The bytes an item stands for. */
static size_t container_bytes(uint8_t *out, const struct container_item *item)
{
    size_t len;

    if (item->type == CONTAINER_PREFIX) {
        hsy_file_header_encode(out, &item->prefix);
        hsy_scheme_encode(item->scheme, out + HSY_PREFIX_WIRE);
        len = HSY_PREFIX_WIRE + HSY_SCHEME_WIRE;
        if (item->prefix.labels_len != 0)
            memcpy(out + len, item->labels, item->prefix.labels_len);
        return len + item->prefix.labels_len;
    }
    hsy_record_encode(out, &item->record);
    memcpy(out + HSY_RECORD_WIRE, item->payload, item->record.length);
    return HSY_RECORD_WIRE + item->record.length;
}

/* ---- One tally alone is written again by the library --------------------- */

static void container_write_tally(const hsy_scheme *s, const uint8_t *labels,
                                  size_t labels_len, const hsy_tally *t,
                                  const struct rounds *rounds,
                                  const struct batches *batches,
                                  const uint8_t *data, size_t len)
{
    static int pipes[2] = {-1, -1};
    static char path[32];
    struct output *out;
    ssize_t got;

    if (pipes[0] == -1) {
        fuzz_expect(pipe(pipes) == 0 &&
                        fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20) != -1,
                    "there are pipes");
        snprintf(path, sizeof path, "/dev/fd/%d", pipes[1]);
    }
    fuzz_expect(output_open(&out, path) == HSY_OK &&
                    container_put_tally(out, s, labels, labels_len, t, rounds,
                                        batches) == HSY_OK &&
                    output_commit(out) == HSY_OK,
                "a tally that was read can be written");
    got = read(pipes[0], container_again, sizeof container_again);
    fuzz_expect(got == (ssize_t)len && memcmp(container_again, data, len) == 0,
                "a tally file that is accepted is the only one of its tally");
}

/* Reports and the tally itself can be added; a sanitizer sees a counter that
 * overflows. */
static void container_fold(const hsy_scheme *s, hsy_tally *t)
{
    uint8_t *reports = example_reports(s, EXAMPLE_N);
    uint64_t before = hsy_tally_reports(t);
    hsy_status st;

    if (reports == NULL)
        return;
    st = hsy_tally_batch(t, s, reports, EXAMPLE_N, NULL);
    fuzz_expect(before > (uint64_t)INT64_MAX - EXAMPLE_N
                    ? st == HSY_E_OVERFLOW
                    : st == HSY_OK &&
                          hsy_tally_reports(t) == before + EXAMPLE_N,
                "a tally takes reports as long as they can be counted");
    st = hsy_tally_merge(t, t, NULL);
    fuzz_expect(st == HSY_OK || st == HSY_E_OVERFLOW,
                "a tally can be merged as long as it can be counted");
    free(reports);
}

static void container_tally(const uint8_t *data, size_t len)
{
    struct container_reader *r = container_open(fuzz_fd(data, len));
    struct container_item item;
    const hsy_scheme *s;
    hsy_tally t = {0};
    struct rounds rounds = {0};
    struct batches batches = {.n = 0};
    hsy_status st = HSY_OK;
    const uint8_t *labels = data + HSY_PREFIX_WIRE + HSY_SCHEME_WIRE;
    size_t labels_len;

    fuzz_expect(r != NULL && container_next(r, &item, NULL) == HSY_OK,
                "what was read can be read again");
    labels_len = item.prefix.labels_len;
    s = item.scheme;
    if (hsy_tally_words(s) <= CONTAINER_WORDS) {
        hsy_tally_init(&t, s, container_memory);
        while (container_next(r, &item, NULL) == HSY_OK) {
            fuzz_expect(container_add_record(&t, &item.record, item.payload,
                                             NULL) == HSY_OK,
                        "the records of an accepted tally can be added");
            if (st == HSY_OK)
                st = container_add_rounds(&rounds, &item.record, item.payload,
                                          NULL);
            fuzz_expect(container_add_batches(&batches, &item.record,
                                              item.payload, NULL) == HSY_OK,
                        "and its batches");
        }
        fuzz_expect(st == HSY_OK || st == HSY_E_OVERFLOW,
                    "and its rounds, as far as they can be counted");
        if (st == HSY_OK)
            container_write_tally(s, labels, labels_len, &t, &rounds, &batches,
                                  data, len);
        container_fold(s, &t);
    }
    rounds_clear(&rounds);
    container_close(r);
}

/* ---- Any input ----------------------------------------------------------- */

static void container_read(const uint8_t *data, size_t len)
{
    struct container_reader *r = container_open(fuzz_fd(data, len));
    struct container_item item;
    hsy_error err = {0};
    hsy_status st = HSY_OK;
    unsigned files = 0;
    bool tally = false, text = false;
    size_t at = 0;

    fuzz_expect(r != NULL, "there is memory");
    while ((st = container_next(r, &item, &err)) == HSY_OK) {
        size_t size = container_bytes(container_again, &item);

        text |= item.unit == HSY_UNIT_LINE; /* a twin has no one spelling */
        fuzz_expect(text || (size <= len - at &&
                             memcmp(container_again, data + at, size) == 0),
                    "an item stands for the bytes it was read from");
        files += item.type == CONTAINER_PREFIX;
        tally = item.prefix.content == HSY_CONTENT_TALLY || tally;
        at += size;
    }
    container_close(r);
    fuzz_expect(st == HSY_E_END || st == HSY_E_FORMAT,
                "an input ends or is malformed");
    fuzz_expect(st == HSY_E_END || (err.status == st && err.msg != NULL &&
                                    err.at == item.line),
                "an error has a message and says where");
    if (st == HSY_E_END && files == 1 && tally && len < CONTAINER_LEN)
        container_tally(data, len);
}

/* Make the prefix at head right, as far as that can be: magic, version, its
 * length within what is left, the scheme, the digest, both checksums. Returns
 * its size. */
static size_t container_seal_prefix(uint8_t *head, size_t left)
{
    static const hsy_file_header empty = {.content = HSY_CONTENT_REPORTS};
    uint8_t fresh[HSY_PREFIX_WIRE];
    size_t fixed = HSY_PREFIX_WIRE + HSY_SCHEME_WIRE;
    uint32_t labels_len = bytes_get32(head + 16);

    if (labels_len > left - fixed)
        labels_len %= (uint32_t)(left - fixed + 1);
    hsy_file_header_encode(fresh, &empty);
    memcpy(head, fresh, 12);
    bytes_put32(head + 16, labels_len);
    fuzz_resolve(head + HSY_PREFIX_WIRE, head + fixed, labels_len, head + 24);
    bytes_put32(head + 20, hsy_crc32c(0, head + HSY_PREFIX_WIRE,
                                      HSY_SCHEME_WIRE + labels_len));
    fuzz_seal(head, HSY_PREFIX_WIRE);
    return fixed + labels_len;
}

static size_t container_seal_record(uint8_t *head, size_t left)
{
    uint32_t length = bytes_get32(head + 4);

    if (length > left - HSY_RECORD_WIRE)
        length %= (uint32_t)(left - HSY_RECORD_WIRE + 1);
    bytes_put32(head + 4, length);
    bytes_put32(head + 24, hsy_crc32c(0, head + HSY_RECORD_WIRE, length));
    fuzz_seal(head, HSY_RECORD_WIRE);
    return HSY_RECORD_WIRE + length;
}

static void container_seal(uint8_t *data, size_t len)
{
    bool between = true;
    size_t at = 0;

    while (len - at >=
           (between ? HSY_PREFIX_WIRE + HSY_SCHEME_WIRE : HSY_RECORD_WIRE)) {
        if (between) {
            at += container_seal_prefix(data + at, len - at);
            between = false;
        } else {
            between = bytes_get32(data + at) == HSY_RECORD_END;
            at += container_seal_record(data + at, len - at);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *sealed;

    if (len == 0 || len >= CONTAINER_LEN || data[0] == '{')
        return 0;
    container_read(data, len);
    sealed = malloc(len);
    if (sealed == NULL)
        return 0;
    memcpy(sealed, data, len);
    container_seal(sealed, len);
    container_read(sealed, len);
    free(sealed);
    return 0;
}
