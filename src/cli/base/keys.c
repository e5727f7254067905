/* keys.c - keys in files: hexadecimal digits and the end of the line. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEYS_TOKEN 1024u /* bytes of a token at most */

static int keys_read(uint8_t *out, size_t n, const char *path, const char *what,
                     mode_t *mode)
{
    char text[2 * HSY_SIGN_SECRET + 8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = -1;
    struct stat st;
    bool good;

    if (fd != -1 && fstat(fd, &st) == 0) {
        *mode = st.st_mode;
        len = read(fd, text, sizeof text);
    }
    if (len == -1) {
        int failed = cli_fail("%s: %s", path, strerror(errno));

        if (fd != -1)
            close(fd);
        return failed;
    }
    close(fd);
    good = hex_line(out, n, text, (size_t)len);
    explicit_bzero(text, sizeof text);
    return good ? 0
                : cli_fail("%s: not a %s key (%zu hexadecimal digits, as "
                           "'hearsay tasks keygen' writes them)",
                           path, what, 2 * n);
}

int cli_public_read(uint8_t key[HSY_SIGN_KEY], const char *path)
{
    mode_t mode;

    return keys_read(key, HSY_SIGN_KEY, path, "public", &mode);
}

int cli_secret_read(uint8_t secret[HSY_SIGN_SECRET], const char *path)
{
    mode_t mode = 0;
    int failed = keys_read(secret, HSY_SIGN_SECRET, path, "secret", &mode);

    if (!failed && (mode & (S_IRWXG | S_IRWXO)) != 0) {
        explicit_bzero(secret, HSY_SIGN_SECRET);
        failed = cli_fail("%s: others can read this secret; take that away "
                          "(chmod 600), or better make a new key",
                          path);
    }
    return failed;
}

/* A new file with n bytes in it, durable, or none. */
static int keys_write(const char *path, const uint8_t *bytes, size_t n,
                      mode_t mode)
{
    char text[2 * HSY_SIGN_SECRET + 1];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    int failed = 0;

    if (fd == -1)
        return cli_fail("%s: %s", path,
                        errno == EEXIST ? "there is a key already; it is not "
                                          "overwritten"
                                        : strerror(errno));
    hex_put(text, bytes, n);
    text[2 * n] = '\n';
    errno = ENOSPC; /* if it is written in part */
    if (write(fd, text, 2 * n + 1) != (ssize_t)(2 * n + 1) || fsync(fd) == -1)
        failed = cli_fail("%s: %s", path, strerror(errno));
    explicit_bzero(text, sizeof text);
    close(fd);
    if (failed)
        unlink(path);
    return failed;
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

int cli_keys_write(const char *name)
{
    char *secret_path = keys_path(name, ".secret");
    char *public_path = keys_path(name, ".public");
    uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
    int failed;

    if (secret_path == NULL || public_path == NULL)
        failed = cli_fail_nomem();
    else if (hsy_sign_keypair(key, secret) != HSY_OK)
        failed = cli_fail("the random source failed; no key was made");
    else
        failed = keys_write(secret_path, secret, sizeof secret, 0600);
    if (!failed) {
        failed = keys_write(public_path, key, sizeof key, 0644);
        if (failed)
            unlink(secret_path);
    }
    explicit_bzero(secret, sizeof secret);
    free(secret_path);
    free(public_path);
    return failed;
}

/* ---- Tokens -------------------------------------------------------------- */

int cli_token_read(char **token, const char *path)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    int failed = cli_read_file(&bytes, &len, path, KEYS_TOKEN << 10);

    if (failed)
        return failed;
    while (len != 0 && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
        len--;
    if (len == 0 || len > KEYS_TOKEN || memchr(bytes, '\0', len) != NULL) {
        free(bytes);
        return cli_fail("%s: not a token on one line", path);
    }
    bytes[len] = '\0';
    *token = (char *)bytes;
    return 0;
}
