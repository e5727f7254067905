/* keys.c - keys and tokens in files: digits, or a word, and the line's end. */
#define _DEFAULT_SOURCE
#include "host/tasks/keys.h"

#include "host/base/files.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/seal/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEYS_TOKEN 1024u     /* bytes of a token at most */
#define KEYS_FILE (1u << 20) /* bytes of a file that may hold one */

static hsy_status keys_failed(hsy_error *err)
{
    return host_fail(err, HSY_E_IO, HSY_FIELD_NONE, "the file cannot be read");
}

/* n bytes of a file; false with errno, 0 if it holds something else. */
static bool keys_read(uint8_t *out, size_t n, const char *path, mode_t *mode)
{
    char text[2 * HSY_SIGN_SECRET + 8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), why;
    ssize_t len = -1;
    struct stat st;
    bool good;

    if (fd == -1)
        return false;
    if (fstat(fd, &st) == 0) {
        *mode = st.st_mode;
        len = file_fill(fd, text, sizeof text);
    }
    why = len == -1 ? errno : 0;
    close(fd);
    good = len != -1 && hex_line(out, n, text, (size_t)len);
    explicit_bzero(text, sizeof text);
    errno = why;
    return good;
}

hsy_status keys_public(uint8_t key[HSY_SIGN_KEY], const char *path,
                       hsy_error *err)
{
    uint8_t bytes[HSY_SIGN_KEY];
    mode_t mode;

    if (keys_read(bytes, sizeof bytes, path, &mode)) {
        memcpy(key, bytes, sizeof bytes);
        return HSY_OK;
    }
    return errno != 0 ? keys_failed(err)
                      : host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                                  "not a public key (64 hexadecimal digits, as "
                                  "'hearsay tasks keygen' writes them)");
}

hsy_status keys_secret(uint8_t secret[HSY_SIGN_SECRET], const char *path,
                       hsy_error *err)
{
    mode_t mode = 0;

    if (!keys_read(secret, HSY_SIGN_SECRET, path, &mode))
        return errno != 0
                   ? keys_failed(err)
                   : host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                               "not a secret key (128 hexadecimal digits, as "
                               "'hearsay tasks keygen' writes them)");
    if ((mode & (S_IRWXG | S_IRWXO)) == 0)
        return HSY_OK;
    explicit_bzero(secret, HSY_SIGN_SECRET);
    return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                     "others can read this secret; take that away (chmod 600), "
                     "or better make a new key");
}

/* ---- New ones ------------------------------------------------------------ */

/* A new file with n bytes in it, durable, or none. */
static hsy_status keys_put(const char *path, const uint8_t *bytes, size_t n,
                           mode_t mode, hsy_error *err)
{
    char text[2 * HSY_SIGN_SECRET + 1];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    int why = 0;

    if (fd == -1)
        return errno == EEXIST
                   ? host_fail(err, HSY_E_BUSY, HSY_FIELD_NONE,
                               "there is a key already; it is not overwritten")
                   : host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                               "it cannot be written");
    hex_put(text, bytes, n);
    text[2 * n] = '\n';
    errno = ENOSPC; /* if it is written in part */
    if (write(fd, text, 2 * n + 1) != (ssize_t)(2 * n + 1) || fsync(fd) == -1)
        why = errno;
    explicit_bzero(text, sizeof text);
    close(fd);
    if (why == 0)
        return HSY_OK;
    unlink(path);
    errno = why;
    return host_fail(err, HSY_E_IO, HSY_FIELD_NONE, "it cannot be written");
}

/* NAME and a suffix, owned by the caller. */
static char *keys_path(const char *name, const char *suffix)
{
    size_t room = strlen(name) + strlen(suffix) + 1;
    char *path = malloc(room);

    if (path != NULL)
        snprintf(path, room, "%s%s", name, suffix);
    return path;
}

/* A pair of either sort. */
struct keys_pair {
    hsy_status (*make)(uint8_t *key, uint8_t *secret);
    size_t secret_len;
};

static hsy_status keys_put_pair(const struct keys_pair *pair,
                                const char *secret_path,
                                const char *public_path, const char **suffix,
                                hsy_error *err)
{
    uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
    hsy_status st = pair->make(key, secret);

    if (st != HSY_OK)
        return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                         "the random source failed; no key was made");
    *suffix = ".secret";
    st = keys_put(secret_path, secret, pair->secret_len, 0600, err);
    if (st == HSY_OK) {
        *suffix = ".public";
        st = keys_put(public_path, key, sizeof key, 0644, err);
        if (st != HSY_OK)
            unlink(secret_path);
    }
    explicit_bzero(secret, sizeof secret);
    return st;
}

static hsy_status keys_write_pair(const struct keys_pair *pair,
                                  const char *name, const char **suffix,
                                  hsy_error *err)
{
    char *secret = keys_path(name, ".secret");
    char *public = keys_path(name, ".public");
    hsy_status st;

    *suffix = NULL;
    st = secret != NULL && public != NULL
             ? keys_put_pair(pair, secret, public, suffix, err)
             : host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    free(secret);
    free(public);
    return st;
}

hsy_status keys_write(const char *name, const char **suffix, hsy_error *err)
{
    const struct keys_pair pair = {hsy_sign_keypair, HSY_SIGN_SECRET};

    return keys_write_pair(&pair, name, suffix, err);
}

hsy_status keys_write_seal(const char *name, const char **suffix,
                           hsy_error *err)
{
    const struct keys_pair pair = {seal_keypair, SEAL_KEY};

    return keys_write_pair(&pair, name, suffix, err);
}

/* ---- Tokens -------------------------------------------------------------- */

hsy_status keys_token(char **token, const char *path, hsy_error *err)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_status st = file_whole(&bytes, &len, path, KEYS_FILE, err);

    if (st != HSY_OK)
        return st;
    while (len != 0 && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
        len--;
    if (len == 0 || len > KEYS_TOKEN || memchr(bytes, '\0', len) != NULL) {
        free(bytes);
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "not a token on one line");
    }
    bytes[len] = '\0';
    *token = (char *)bytes;
    return HSY_OK;
}
