/* pem.h - a certificate and its key, as files. */
#ifndef SERVER_PROCESS_PEM_H
#define SERVER_PROCESS_PEM_H

#include "hearsay.h"

/* PEM texts, owned; NULL: none. */
struct pem_pair {
    uint8_t *cert, *key;
    size_t key_len;
};

/* Reads both files, and checks that they are a certificate and its key. Does
 * nothing if cert is NULL. On failure *about is the file with the problem:
 * HSY_E_IO with errno, HSY_E_RANGE if it is too long, HSY_E_FORMAT, or
 * HSY_E_MISMATCH if the key does not belong to the certificate. Call pem_forget
 * after a failure too. */
hsy_status pem_read(struct pem_pair *pair, const char *cert, const char *key,
                    const char **about, hsy_error *err);
void pem_forget(struct pem_pair *pair);

#endif
