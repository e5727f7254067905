/* pem.h - a certificate and its key, as files. */
#ifndef SERVER_PROCESS_PEM_H
#define SERVER_PROCESS_PEM_H

#include "hearsay.h"

/* PEM texts, owned; NULL: none. */
struct pem_pair {
    uint8_t *cert, *key;
    size_t key_len;
};

/* Nothing where cert is NULL. A failure is of the file that *about is set to;
 * HSY_E_IO with errno. Forget the pair after a failure too. */
hsy_status pem_read(struct pem_pair *pair, const char *cert, const char *key,
                    const char **about, hsy_error *err);
void pem_forget(struct pem_pair *pair);

#endif
