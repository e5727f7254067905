/* hop_documents.c - the list of documents that a shuffler has loaded, kept in
 * the file `documents` of its data as it was signed last. */
#define _GNU_SOURCE
#include "server/shuffle/hop/internal.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOP_DOCUMENTS "documents" /* the names of file and draft */
#define HOP_DOCUMENTS_DRAFT "documents.new"

/* No file, one that is damaged or of another sign key: the list begins anew. It
 * says what was loaded since then, which is all that a list can promise. */
hsy_status hop_documents_open(struct hop *h, hsy_error *err)
{
    uint8_t *bytes = NULL;
    size_t len = 0;

    h->documents = file_path(h->options.directory, HOP_DOCUMENTS);
    h->documents_draft = file_path(h->options.directory, HOP_DOCUMENTS_DRAFT);
    if (h->documents == NULL || h->documents_draft == NULL)
        return host_nomem(err);
    if (file_whole(&bytes, &len, h->documents, LOADED_MAX, NULL) != HSY_OK ||
        loaded_read(&h->loaded, bytes, len, NULL) != HSY_OK ||
        memcmp(h->loaded.sign_key, h->sign_key, HSY_SIGN_KEY) != 0)
        h->loaded = (struct loaded){.n = 0};
    free(bytes);
    return HSY_OK;
}

size_t hop_documents(struct hop *h, uint8_t out[LOADED_MAX], uint32_t day)
{
    struct loaded list;

    pthread_mutex_lock(&h->lock);
    list = h->loaded;
    pthread_mutex_unlock(&h->lock);
    list.day = day;
    return list.n != 0 ? loaded_sign(out, &list, h->secret) : 0;
}

/* By open, write, sync and rename: a sandbox has no more. */
static bool hop_documents_write(const struct hop *h, const uint8_t *bytes,
                                size_t len)
{
    const int fd =
        open(h->documents_draft,
             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good =
        fd != -1 && write(fd, bytes, len) == (ssize_t)len && fdatasync(fd) == 0;

    if (fd != -1)
        close(fd);
    return good && rename(h->documents_draft, h->documents) == 0;
}

hsy_status hop_loaded(struct hop *h, const hsy_document *doc, uint32_t day)
{
    uint8_t bytes[LOADED_MAX];
    bool added;

    pthread_mutex_lock(&h->lock);
    added = loaded_add(&h->loaded, doc);
    pthread_mutex_unlock(&h->lock);
    return !added || hop_documents_write(h, bytes, hop_documents(h, bytes, day))
               ? HSY_OK
               : HSY_E_IO;
}
