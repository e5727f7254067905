/* key_files.c - secrets of a gateway from their files. */
#define _GNU_SOURCE
#include "server/gateway/key_files.h"

#include "host/base/files.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "server/gateway/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a line of digits; false with errno, 0 if it is none. */
static bool key_files_line(uint8_t secret[SEAL_KEY], const char *path,
                           mode_t *mode)
{
    char text[2 * SEAL_KEY + 8];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = -1;
    struct stat is;
    int why;
    bool good;

    if (fd == -1)
        return false;
    if (fstat(fd, &is) == 0) {
        *mode = is.st_mode;
        len = file_fill(fd, text, sizeof text);
    }
    why = len == -1 ? errno : 0;
    close(fd);
    good = len != -1 && hex_line(secret, SEAL_KEY, text, (size_t)len);
    explicit_bzero(text, sizeof text);
    errno = why;
    return good;
}

/* A key is called by the first byte of its name, which follows from its public
 * half: who has that knows the number. */
static hsy_status key_files_one(struct ohttp_key *key, const char *path,
                                hsy_error *err)
{
    uint8_t name[SEAL_KEY_ID];
    mode_t mode = 0;

    if (!key_files_line(key->secret, path, &mode))
        return errno != 0
                   ? host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                               "the file cannot be read")
                   : host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                               "not a secret key: 64 hexadecimal digits");
    if ((mode & (S_IRWXG | S_IRWXO)) != 0)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                         "others can read this secret; take that away (chmod "
                         "600), or better make a new key");
    if (seal_public(key->pub, key->secret) != HSY_OK)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "this secret has no public half");
    seal_key_id(name, key->pub);
    key->id = name[0];
    return HSY_OK;
}

hsy_status key_files_read(struct ohttp_key *keys, size_t *n, char *const *files,
                          const char **about, hsy_error *err)
{
    *n = 0;
    for (; files != NULL && *files != NULL; files++) {
        hsy_status st;

        *about = *files;
        if (*n == GATEWAY_KEYS)
            return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                             "a gateway has two keys at most: one in use, and "
                             "the one before or after it");
        st = key_files_one(&keys[*n], *files, err);
        if (st != HSY_OK)
            return st;
        for (size_t i = 0; i < *n; i++)
            if (keys[i].id == keys[*n].id)
                return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                                 "this key would have the number of the other: "
                                 "make another");
        ++*n;
    }
    return HSY_OK;
}
