/* loaded.c - the signed list of documents that a shuffler has loaded. */
#include "host/tasks/loaded.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <string.h>

#define LOADED_VERSION 1u
#define LOADED_HEAD 48u
#define LOADED_ROW 40u

static const uint8_t loaded_magic[4] = {'H', 'S', 'Y', 'L'};

bool loaded_add(struct loaded *list, const hsy_document *doc)
{
    if (list->n != 0 && list->rows[list->n - 1].version >= doc->version)
        return false;
    if (list->n == LOADED_ROWS)
        memmove(&list->rows[0], &list->rows[1],
                --list->n * sizeof list->rows[0]);
    list->rows[list->n].version = doc->version;
    hsy_document_digest(doc, list->rows[list->n++].digest);
    return true;
}

size_t loaded_sign(uint8_t out[LOADED_MAX], struct loaded *list,
                   const uint8_t secret[HSY_SIGN_SECRET])
{
    uint8_t *row = out + LOADED_HEAD;

    memcpy(list->sign_key, secret + HSY_SIGN_SECRET - HSY_SIGN_KEY,
           HSY_SIGN_KEY);
    memcpy(out, loaded_magic, sizeof loaded_magic);
    bytes_put32(out + 4, LOADED_VERSION);
    bytes_put32(out + 8, list->n);
    bytes_put32(out + 12, list->day);
    memcpy(out + 16, list->sign_key, HSY_SIGN_KEY);
    for (uint32_t i = 0; i < list->n; i++, row += LOADED_ROW) {
        bytes_put64(row, list->rows[i].version);
        memcpy(row + 8, list->rows[i].digest, HSY_DIGEST);
    }
    if (hsy_sign(row, out, (size_t)(row - out), secret) != HSY_OK)
        memset(row, 0, HSY_SIGNATURE); /* no key of a file is like that */
    return LOADED_BYTES(list->n);
}

static hsy_status loaded_rows(struct loaded *out, const uint8_t *row,
                              hsy_error *err)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < out->n; i++, row += LOADED_ROW) {
        out->rows[i].version = bytes_get64(row);
        memcpy(out->rows[i].digest, row + 8, HSY_DIGEST);
        if (out->rows[i].version <= last)
            return host_fail(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                             "versions must ascend from 1");
        last = out->rows[i].version;
    }
    return HSY_OK;
}

hsy_status loaded_read(struct loaded *out, const uint8_t *bytes, size_t len,
                       hsy_error *err)
{
    hsy_status st;

    *out = (struct loaded){.n = 0};
    if (len < LOADED_BYTES(1) ||
        memcmp(bytes, loaded_magic, sizeof loaded_magic) != 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_MAGIC,
                         "not a shuffler's list of documents: fetch its "
                         "/v1/documents");
    if (bytes_get32(bytes + 4) != LOADED_VERSION)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_FORMAT,
                         "a format this program does not know");
    out->n = bytes_get32(bytes + 8);
    out->day = bytes_get32(bytes + 12);
    memcpy(out->sign_key, bytes + 16, HSY_SIGN_KEY);
    if (out->n == 0 || out->n > LOADED_ROWS || len != LOADED_BYTES(out->n))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                         "the list does not have the length stated");
    st = loaded_rows(out, bytes + LOADED_HEAD, err);
    if (st != HSY_OK)
        return st;
    return hsy_sign_verify(out->sign_key, bytes + len - HSY_SIGNATURE, bytes,
                           len - HSY_SIGNATURE)
               ? HSY_OK
               : host_fail(err, HSY_E_SIGNATURE, HSY_FIELD_SIGNATURE,
                           "the list is not signed by the key that it names");
}

const uint8_t *loaded_find(const struct loaded *list, uint64_t version)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->rows[i].version == version)
            return list->rows[i].digest;
    return NULL;
}
