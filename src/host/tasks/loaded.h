/*
 * loaded.h - which documents a shuffler has loaded: a list of their versions
 * and digests, signed by its sign key (docs/formats.md, 9).
 *
 * A shuffler opens only what was made under its own document. With the list
 * people can see that the document which their device has is this one.
 */
#ifndef HOST_TASKS_LOADED_H
#define HOST_TASKS_LOADED_H

#include "hearsay/host.h"

#define LOADED_ROWS 64u
#define LOADED_BYTES(n) (48u + 40u * (n) + HSY_SIGNATURE)
#define LOADED_MAX LOADED_BYTES(LOADED_ROWS)

struct loaded {
    uint8_t sign_key[HSY_SIGN_KEY];
    uint32_t day; /* on which it was signed, since 1970-01-01 */
    uint32_t n;   /* 1 or more in a list that is signed */
    struct loaded_row {
        uint64_t version; /* larger than those before */
        uint8_t digest[HSY_DIGEST];
    } rows[LOADED_ROWS];
};

/* Add a document; the oldest makes room. Returns false if it changes nothing: a
 * document of this version or a later one is there. */
bool loaded_add(struct loaded *list, const hsy_document *doc);

/* Sign a list: sign_key becomes that of the secret. Returns its length. */
size_t loaded_sign(uint8_t out[LOADED_MAX], struct loaded *list,
                   const uint8_t secret[HSY_SIGN_SECRET]);

/* Read one. HSY_E_FORMAT, or HSY_E_SIGNATURE if the key in it has not signed.
 */
hsy_status loaded_read(struct loaded *out, const uint8_t *bytes, size_t len,
                       hsy_error *err);

/* The digest of a version; NULL: it is not in the list. */
const uint8_t *loaded_find(const struct loaded *list, uint64_t version);

#endif
