/* given_files.c - small files that a collector is given: document, keys,
 * certificate. */
#define _GNU_SOURCE

#include "server/collector/serve.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_PEM_MAX (1u << 20)

hsy_status serve_fail(struct serve_trouble *t, hsy_status st, const char *about)
{
    t->number = st == HSY_E_IO ? errno : 0;
    t->about = about;
    return st;
}

hsy_status serve_directories(const struct config *f, struct serve_trouble *t)
{
    const char *const all[] = {f->backups, f->candidates};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        DIR *there = all[i] != NULL ? opendir(all[i]) : NULL;

        if (there != NULL)
            closedir(there);
        else if (all[i] != NULL)
            return serve_fail(t, HSY_E_IO, all[i]);
    }
    return HSY_OK;
}

void serve_forget_tls(struct serve_tls *tls)
{
    if (tls->key != NULL)
        explicit_bzero(tls->key, tls->key_len);
    free(tls->cert);
    free(tls->key);
}

hsy_status serve_read_tls(struct serve_tls *tls, const struct config *f,
                          struct serve_trouble *t)
{
    size_t len;
    hsy_status st;

    *tls = (struct serve_tls){.cert = NULL};
    if (f->tls_cert == NULL)
        return HSY_OK;
    st = file_whole(&tls->cert, &len, f->tls_cert, FILES_PEM_MAX, &t->err);
    if (st != HSY_OK)
        return serve_fail(t, st, f->tls_cert);
    st = file_whole(&tls->key, &tls->key_len, f->tls_key, FILES_PEM_MAX,
                    &t->err);
    return st == HSY_OK ? HSY_OK : serve_fail(t, st, f->tls_key);
}
