/* pem.c - certificate and key, read whole and wiped after use. */
#define _GNU_SOURCE
#include "server/process/pem.h"

#include "host/base/fields.h"
#include "host/base/files.h"
#include "server/http/http.h"

#include <stdlib.h>
#include <string.h>

#define PEM_MAX (1u << 20)

hsy_status pem_read(struct pem_pair *pair, const char *cert, const char *key,
                    const char **about, hsy_error *err)
{
    size_t len;
    hsy_status st;

    *pair = (struct pem_pair){.cert = NULL};
    if (cert == NULL)
        return HSY_OK;
    *about = cert;
    st = file_whole(&pair->cert, &len, cert, PEM_MAX, err);
    if (st != HSY_OK)
        return st;
    *about = key;
    st = file_whole(&pair->key, &pair->key_len, key, PEM_MAX, err);
    if (st != HSY_OK)
        return st;
    st = listen_pair_check((char *)pair->cert, (char *)pair->key, err);
    if (st != HSY_OK && err->field == HOST_FIELD_TLS_CERT)
        *about = cert;
    if (st != HSY_OK)
        err->field = HSY_FIELD_NONE; /* *about names the file */
    return st;
}

void pem_forget(struct pem_pair *pair)
{
    if (pair->key != NULL)
        explicit_bzero(pair->key, pair->key_len);
    free(pair->cert);
    free(pair->key);
    *pair = (struct pem_pair){.cert = NULL};
}
