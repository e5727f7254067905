/* format.h - headers, records and uploads. */
#ifndef HEARSAY_FORMAT_H
#define HEARSAY_FORMAT_H

#include "hearsay/scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Formats: docs/formats.md -------------------------------------------- */

/* Bytes of an encoded scheme without its labels. */
#define HSY_SCHEME_WIRE 384

/* Encode and decode schemes: one canonical encoding. Decoding resolves the spec
 * again and returns HSY_E_FORMAT unless every integer agrees. The spec's labels
 * point into labels. */
HSY_API void hsy_scheme_encode(const hsy_scheme *s,
                               uint8_t wire[HSY_SCHEME_WIRE]);
HSY_API hsy_status hsy_spec_decode(hsy_spec *spec,
                                   const uint8_t wire[HSY_SCHEME_WIRE],
                                   const uint8_t *labels, size_t labels_len,
                                   hsy_error *err);
HSY_API hsy_status hsy_scheme_decode(hsy_scheme *s,
                                     const uint8_t wire[HSY_SCHEME_WIRE],
                                     const uint8_t *labels, size_t labels_len,
                                     hsy_error *err);

/* Returns the name of the first field that differs, a string literal; NULL if
 * the schemes are equal. */
HSY_API const char *hsy_scheme_difference(const hsy_scheme *a,
                                          const hsy_scheme *b);

/* A file is a header, the scheme, its labels, then records. */
typedef enum hsy_content {
    HSY_CONTENT_REPORTS = 1,
    HSY_CONTENT_TALLY = 2
} hsy_content;

typedef struct hsy_file_header {
    uint32_t content; /* hsy_content */
    uint32_t labels_len;
    uint8_t digest[HSY_DIGEST];
    uint32_t checksum; /* of scheme and labels */
} hsy_file_header;

#define HSY_PREFIX_WIRE 64

typedef enum hsy_record_type {
    HSY_RECORD_REPORTS = 1, /* `count` packed reports */
    HSY_RECORD_STRATA = 2,  /* `count` u64 values of strata from `first` on */
    HSY_RECORD_WEIGHTS = 3, /* `count` u64 values of weights from `first` on */
    HSY_RECORD_CELLS = 4,   /* `count` i64 cells from `first` on; runs of zeros
                               are omitted */
    HSY_RECORD_END = 5,     /* `count` is the number of reports in the file */
    HSY_RECORD_ROUNDS = 6,  /* `count` rounds of 24 bytes: hsy_round */
    HSY_RECORD_BATCHES = 7  /* `count` rows of 64 bytes: hsy_batches */
} hsy_record_type;

typedef struct hsy_record {
    uint32_t type;
    uint32_t length; /* payload bytes, at most HSY_RECORD_MAX */
    uint64_t first, count;
    uint32_t checksum; /* of the payload */
} hsy_record;

#define HSY_RECORD_WIRE 32
#define HSY_RECORD_MAX (1u << 20)
/* Most cells, strata or weights per record. */
#define HSY_RECORD_CELLS_RUN 4096u
/* Most hsy_batches rows per file. */
#define HSY_RECORD_BATCHES_MAX 16u

HSY_API void hsy_file_header_encode(uint8_t wire[HSY_PREFIX_WIRE],
                                    const hsy_file_header *prefix);
HSY_API hsy_status hsy_file_header_decode(hsy_file_header *prefix,
                                          const uint8_t wire[HSY_PREFIX_WIRE],
                                          hsy_error *err);
HSY_API void hsy_record_encode(uint8_t wire[HSY_RECORD_WIRE],
                               const hsy_record *record);
HSY_API hsy_status hsy_record_decode(hsy_record *record,
                                     const uint8_t wire[HSY_RECORD_WIRE],
                                     hsy_error *err);

/* Returns the CRC-32C of len bytes, continued from crc (0 at the start). */
HSY_API uint32_t hsy_crc32c(uint32_t crc, const void *data, size_t len);

/* Header of an upload: packed reports of a device follow it. */
#define HSY_UPLOAD_WIRE 128
#define HSY_UPLOAD_MAX (1u << 20) /* payload bytes */
#define HSY_TASK_ID 32            /* zero-padded [a-z0-9._-] */

typedef enum hsy_upload_kind {
    HSY_UPLOAD_REPORTS = 1,
    HSY_UPLOAD_NULL = 2,  /* no report, but the length of one; not counted */
    HSY_UPLOAD_SEALED = 3 /* one report or null upload, sealed for shufflers */
} hsy_upload_kind;

typedef struct hsy_upload {
    uint32_t kind; /* hsy_upload_kind */
    char task[HSY_TASK_ID + 1];
    uint32_t release;
    uint32_t epoch; /* UTC days since 1970-01-01 */
    uint8_t digest[HSY_DIGEST];
    uint8_t id[16];
    uint32_t count;
    uint32_t length;   /* payload bytes that follow */
    uint32_t checksum; /* of the payload */
} hsy_upload;

HSY_API hsy_status hsy_upload_encode(uint8_t wire[HSY_UPLOAD_WIRE],
                                     const hsy_upload *upload, hsy_error *err);
HSY_API hsy_status hsy_upload_decode(hsy_upload *upload,
                                     const uint8_t wire[HSY_UPLOAD_WIRE],
                                     hsy_error *err);

/* Compute BLAKE2b [RFC7693] with out_len bytes, 1 to 64; keyed if key_len, at
 * most 64, is not 0. data may be NULL if len is 0, key if key_len is 0. */
HSY_API void hsy_blake2b(uint8_t *out, size_t out_len, const void *data,
                         size_t len, const uint8_t *key, size_t key_len);

#ifdef __cplusplus
}
#endif

#endif
