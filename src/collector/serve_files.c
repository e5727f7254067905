/* serve_files.c - small files that a collector is given: document, keys. */
#define _POSIX_C_SOURCE 200809L

#include "serve.h"

#include "hostfail.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hsy_status serve_read(uint8_t **bytes, size_t *len, const char *path,
                      size_t most, hsy_error *err)
{
    FILE *f = fopen(path, "rbe");
    uint8_t *all = f != NULL ? malloc(most + 1) : NULL;
    hsy_status st = HSY_OK;

    if (f == NULL)
        return host_fail(err, HSY_E_IO, NULL, "the file cannot be read");
    errno = 0;
    *len = all != NULL ? fread(all, 1, most + 1, f) : 0;
    if (all == NULL)
        st = host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
    else if (ferror(f))
        st = host_fail(err, HSY_E_IO, NULL, "the file cannot be read");
    else if (*len > most)
        st = host_fail(err, HSY_E_RANGE, NULL, "the file is too long");
    fclose(f);
    if (st != HSY_OK) {
        free(all);
        return st;
    }
    all[*len] = '\0';
    *bytes = all;
    return HSY_OK;
}

hsy_status serve_read_key(uint8_t key[HSY_SIGN_KEY], const char *path,
                          hsy_error *err)
{
    uint8_t *text, bytes[HSY_SIGN_KEY];
    size_t len, n = 0;
    hsy_status st = serve_read(&text, &len, path, 256, err);

    if (st != HSY_OK)
        return st;
    if (sodium_hex2bin(bytes, sizeof bytes, (char *)text, len, "\r\n", &n,
                       NULL) != 0 ||
        n != sizeof bytes)
        st = host_fail(err, HSY_E_FORMAT, NULL,
                       "not a public key (64 hexadecimal digits, as 'hearsay "
                       "tasks keygen' writes them)");
    else
        memcpy(key, bytes, sizeof bytes);
    free(text);
    return st;
}
