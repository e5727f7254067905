/* keys.c - keys and tokens in files: a line each. */
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

/* Keys of both algorithms and both halves of one to seal for are of one length:
 * a first word tells those apart, so that no secret is taken for public. */
static const struct keys_sort {
    const char *word; /* before the digits */
    size_t bytes;
    bool seals, secret;
    const char *wanted;
} keys_sorts[] = {
    {"", HSY_SIGN_KEY, false, false,
     "not a public key (64 hexadecimal digits, as 'hearsay tasks keygen' "
     "writes them)"},
    {"", HSY_SIGN_SECRET, false, true,
     "not a secret key (128 hexadecimal digits, as 'hearsay tasks keygen' "
     "writes them)"},
    {"x25519-public ", HSY_SEAL_KEY, true, false,
     "not a public key to seal for (x25519-public and 64 hexadecimal digits, "
     "as 'hearsay tasks keygen --seal' writes them)"},
    {"x25519-secret ", HSY_SEAL_KEY, true, true,
     "not a secret key to open with (x25519-secret and 64 hexadecimal digits, "
     "as 'hearsay tasks keygen --seal' writes them)"}};

#define KEYS_SORTS (sizeof keys_sorts / sizeof keys_sorts[0])
#define KEYS_SIGN_PUBLIC (&keys_sorts[0])
#define KEYS_SIGN_SECRET (&keys_sorts[1])
#define KEYS_SEAL_PUBLIC (&keys_sorts[2])
#define KEYS_SEAL_SECRET (&keys_sorts[3])
#define KEYS_TEXT (16u + 2 * HSY_SIGN_SECRET) /* bytes of any, and more */

/* ---- Reading ------------------------------------------------------------- */

/* Of which sort a text is, and its bytes; NULL if it is no key. */
static const struct keys_sort *keys_parse(uint8_t bytes[HSY_SIGN_SECRET],
                                          const char *text, size_t len)
{
    for (size_t i = 0; i < KEYS_SORTS; i++) {
        const struct keys_sort *is = &keys_sorts[i];
        const size_t word = strlen(is->word);

        if (len > word && memcmp(text, is->word, word) == 0 &&
            hex_line(bytes, is->bytes, text + word, len - word))
            return is;
    }
    return NULL;
}

/* The same of a file; NULL with errno, 0 if it holds something else. */
static const struct keys_sort *keys_read(uint8_t bytes[HSY_SIGN_SECRET],
                                         const char *path, mode_t *mode)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const struct keys_sort *is = NULL;
    char text[KEYS_TEXT];
    ssize_t len = -1;
    struct stat st;
    int why;

    if (fd == -1)
        return NULL;
    if (fstat(fd, &st) == 0) {
        *mode = st.st_mode;
        len = file_fill(fd, text, sizeof text);
    }
    why = len == -1 ? errno : 0;
    close(fd);
    if (len != -1)
        is = keys_parse(bytes, text, (size_t)len);
    explicit_bzero(text, sizeof text);
    errno = why;
    return is;
}

/* What the file is, where it is a key of another sort. */
static const char *keys_mistaken(const struct keys_sort *wanted,
                                 const struct keys_sort *is)
{
    if (is == NULL)
        return wanted->wanted;
    if (is->seals != wanted->seals)
        return wanted->seals
                   ? "this is a signing key, or its first word is missing; a "
                     "sealing key is needed ('hearsay tasks keygen --seal')"
                   : "this is a sealing key; a signing key is needed "
                     "('hearsay tasks keygen')";
    return is->secret ? "this is a secret key; name its .public file"
                      : "this is a public key; name its .secret file";
}

static hsy_status keys_check(const struct keys_sort *wanted,
                             const struct keys_sort *is, mode_t mode,
                             hsy_error *err)
{
    if (is == NULL && errno != 0)
        return host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                         "the file cannot be read");
    if (is != wanted)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         keys_mistaken(wanted, is));
    if (wanted->secret && (mode & (S_IRWXG | S_IRWXO)) != 0)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                         "other users can read this secret key; run chmod 600, "
                         "or better make a new key");
    return HSY_OK;
}

static hsy_status keys_take(uint8_t *out, const struct keys_sort *wanted,
                            const char *path, hsy_error *err)
{
    uint8_t bytes[HSY_SIGN_SECRET];
    mode_t mode = 0;
    const struct keys_sort *is = keys_read(bytes, path, &mode);
    const hsy_status st = keys_check(wanted, is, mode, err);

    if (st == HSY_OK)
        memcpy(out, bytes, wanted->bytes);
    explicit_bzero(bytes, sizeof bytes);
    return st;
}

hsy_status keys_public(uint8_t key[HSY_SIGN_KEY], const char *path,
                       hsy_error *err)
{
    return keys_take(key, KEYS_SIGN_PUBLIC, path, err);
}

hsy_status keys_secret(uint8_t secret[HSY_SIGN_SECRET], const char *path,
                       hsy_error *err)
{
    return keys_take(secret, KEYS_SIGN_SECRET, path, err);
}

hsy_status keys_seal_public(uint8_t key[HSY_SEAL_KEY], const char *path,
                            hsy_error *err)
{
    return keys_take(key, KEYS_SEAL_PUBLIC, path, err);
}

hsy_status keys_seal_secret(uint8_t secret[HSY_SEAL_KEY], const char *path,
                            hsy_error *err)
{
    return keys_take(secret, KEYS_SEAL_SECRET, path, err);
}

/* ---- New ones ------------------------------------------------------------ */

/* A new file with a key in it, durable, or none. */
static hsy_status keys_put(const char *path, const struct keys_sort *is,
                           const uint8_t *bytes, hsy_error *err)
{
    const size_t word = strlen(is->word), len = word + 2 * is->bytes + 1;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        is->secret ? 0600 : 0644);
    char text[KEYS_TEXT];
    int why = 0;

    if (fd == -1)
        return errno == EEXIST
                   ? host_fail(err, HSY_E_BUSY, HSY_FIELD_NONE,
                               "already exists; choose another name")
                   : host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                               "it cannot be written");
    memcpy(text, is->word, word);
    hex_put(text + word, bytes, is->bytes);
    text[len - 1] = '\n';
    errno = ENOSPC; /* if it is written in part */
    if (write(fd, text, len) != (ssize_t)len || fsync(fd) == -1)
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

/* A pair that signs, and one to seal for. */
static const struct keys_pair {
    hsy_status (*make)(uint8_t *key, uint8_t *secret);
    const struct keys_sort *public, *secret;
} keys_pairs[] = {{hsy_sign_keypair, KEYS_SIGN_PUBLIC, KEYS_SIGN_SECRET},
                  {seal_keypair, KEYS_SEAL_PUBLIC, KEYS_SEAL_SECRET}};

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
    st = keys_put(secret_path, pair->secret, secret, err);
    if (st == HSY_OK) {
        *suffix = ".public";
        st = keys_put(public_path, pair->public, key, err);
        if (st != HSY_OK)
            unlink(secret_path);
    }
    explicit_bzero(secret, sizeof secret);
    return st;
}

hsy_status keys_write(const char *name, bool seal, const char **suffix,
                      hsy_error *err)
{
    char *secret = keys_path(name, ".secret");
    char *public = keys_path(name, ".public");
    hsy_status st;

    *suffix = NULL;
    st = secret != NULL && public != NULL
             ? keys_put_pair(&keys_pairs[seal], secret, public, suffix, err)
             : host_nomem(err);
    free(secret);
    free(public);
    return st;
}

/* ---- Statements ---------------------------------------------------------- */

hsy_status keys_sign_statement(uint8_t wire[HSY_STATEMENT_WIRE],
                               hsy_statement *statement,
                               const uint8_t secret[HSY_SIGN_SECRET],
                               hsy_error *err)
{
    hsy_status st;

    memcpy(statement->sign_key, secret + HSY_SIGN_SECRET - HSY_SIGN_KEY,
           HSY_SIGN_KEY);
    st = hsy_statement_encode(wire, statement, err);
    if (st != HSY_OK)
        return st;
    if (hsy_sign(statement->signature, wire, HSY_STATEMENT_SIGNED, secret) !=
        HSY_OK)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_SIGNATURE,
                         "it cannot be signed by this key");
    return hsy_statement_encode(wire, statement, err);
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
