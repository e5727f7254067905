/* keys.h - keys and tokens in files: a line each. */
#ifndef HOST_TASKS_KEYS_H
#define HOST_TASKS_KEYS_H

#include "hearsay/host.h"

/* Of who signs. HSY_E_IO with errno, HSY_E_FORMAT if the file holds something
 * else, as another sort of key: err says which. */
hsy_status keys_public(uint8_t key[HSY_SIGN_KEY], const char *path,
                       hsy_error *err);

/* The same; HSY_E_REFUSED if others can read the file. Wipe the secret after
 * use. */
hsy_status keys_secret(uint8_t secret[HSY_SIGN_SECRET], const char *path,
                       hsy_error *err);

/* The same of a pair to seal for. */
hsy_status keys_seal_public(uint8_t key[HSY_SEAL_KEY], const char *path,
                            hsy_error *err);
hsy_status keys_seal_secret(uint8_t secret[HSY_SEAL_KEY], const char *path,
                            hsy_error *err);

/* A token: one line of a file; the caller frees it. */
hsy_status keys_token(char **token, const char *path, hsy_error *err);

/* Make a pair that signs, or one to seal for: X25519, x25519-public or
 * x25519-secret before the digits. Write NAME.secret, which only its owner can
 * read, and NAME.public. Nothing is overwritten: HSY_E_BUSY. Of which file a
 * failure is stands in *suffix, NULL: of none. HSY_E_IO with errno,
 * HSY_E_ENTROPY, HSY_E_NOMEM. */
hsy_status keys_write(const char *name, bool seal, const char **suffix,
                      hsy_error *err);

/* Sign a shuffler's statement: sign_key and signature become those of the
 * secret. HSY_E_RANGE with the field that is wrong. */
hsy_status keys_sign_statement(uint8_t wire[HSY_STATEMENT_WIRE],
                               hsy_statement *statement,
                               const uint8_t secret[HSY_SIGN_SECRET],
                               hsy_error *err);

#endif
