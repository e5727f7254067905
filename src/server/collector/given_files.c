/* given_files.c - what a collector is given: directories, certificate. */
#define _GNU_SOURCE

#include "server/collector/serve.h"

#include "host/base/host_fail.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

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

hsy_status serve_read_tls(struct pem_pair *tls, const struct config *f,
                          struct serve_trouble *t)
{
    const char *about = NULL;
    const hsy_status st =
        pem_read(tls, f->tls_cert, f->tls_key, &about, &t->err);

    return st == HSY_OK ? HSY_OK : serve_fail(t, st, about);
}
