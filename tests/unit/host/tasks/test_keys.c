/* test_keys.c - a file of one sort of key is not taken for another. */
#define _GNU_SOURCE
#include "host/base/hex.h"
#include "host/seal/seal.h"
#include "host/tasks/keys.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/hearsay-keys-XXXXXX";

static char *path(const char *name)
{
    static char text[256];

    snprintf(text, sizeof text, "%s/%s", dir, name);
    return text;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(path(name), "w");

    if (f == NULL || fputs(text, f) == EOF || fclose(f) != 0 ||
        chmod(path(name), 0600) == -1)
        exit(1);
}

static size_t get(char text[256], const char *name)
{
    FILE *f = fopen(path(name), "r");
    size_t len = f != NULL ? fread(text, 1, 255, f) : 0;

    if (f != NULL)
        fclose(f);
    text[len] = '\0';
    return len;
}

typedef hsy_status reader(uint8_t *key, const char *file, hsy_error *err);

static const struct {
    const char *file;
    reader *read;
    size_t bytes;
} sorts[] = {{"sign.public", keys_public, HSY_SIGN_KEY},
             {"sign.secret", keys_secret, HSY_SIGN_SECRET},
             {"seal.public", keys_seal_public, HSY_SEAL_KEY},
             {"seal.secret", keys_seal_secret, HSY_SEAL_KEY}};

#define SORTS (sizeof sorts / sizeof sorts[0])

/* What a reader says of a file of another sort: by reader, then by file. */
static const char *const says[SORTS][SORTS] = {
    {NULL, "name its .public", "a signing key is needed",
     "a signing key is needed"},
    {"name its .secret", NULL, "a signing key is needed",
     "a signing key is needed"},
    {"keygen --seal", "keygen --seal", NULL, "name its .public"},
    {"keygen --seal", "keygen --seal", "name its .secret", NULL}};

static void each_reader_takes_its_own_sort(void)
{
    for (size_t i = 0; i < SORTS * SORTS; i++) {
        const char *file = sorts[i % SORTS].file;
        const char *wanted = says[i / SORTS][i % SORTS];
        uint8_t key[HSY_SIGN_SECRET] = {0}, none[HSY_SIGN_SECRET] = {0};
        hsy_error err = {0};
        const hsy_status st = sorts[i / SORTS].read(key, path(file), &err);

        if (wanted == NULL)
            ok(eq_int(st, HSY_OK) && memcmp(key, none, sizeof key) != 0,
               "%s is read", file);
        else
            ok(eq_int(st, HSY_E_FORMAT) && strstr(err.msg, wanted) != NULL &&
                   memcmp(key, none, sizeof key) == 0,
               "%s is not taken as %s: '%s', and nothing of it is given", file,
               sorts[i / SORTS].file, wanted);
    }
}

static void files_say_what_they_are(void)
{
    uint8_t secret[HSY_SEAL_KEY], key[HSY_SEAL_KEY], half[HSY_SEAL_KEY];
    char text[256], digits[2 * HSY_SEAL_KEY + 1];

    ok(get(text, "seal.public") == 14 + 64 + 1 &&
           strncmp(text, "x25519-public ", 14) == 0 &&
           get(text, "seal.secret") == 14 + 64 + 1 &&
           strncmp(text, "x25519-secret ", 14) == 0,
       "keys to seal for begin with a word");
    ok(get(text, "sign.public") == 64 + 1 && get(text, "sign.secret") == 129,
       "keys that sign are digits alone");
    ok(keys_seal_secret(secret, path("seal.secret"), NULL) == HSY_OK &&
           keys_seal_public(key, path("seal.public"), NULL) == HSY_OK &&
           seal_public(half, secret) == HSY_OK &&
           memcmp(half, key, sizeof key) == 0,
       "both halves are of one pair");
    get(text, "seal.public");
    hex_put(digits, key, sizeof key);
    ok(strncmp(text + 14, digits, 64) == 0, "the digits are the key's");
}

static void what_is_no_key(void)
{
    static const char digits[] =
        "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";
    static const char *const forms[] = {"%.0s",
                                        "\n%.0s",
                                        "x25519-public %.0s",
                                        "x25519-public  %s",
                                        "X25519-public %s",
                                        "x25519-public %s0a",
                                        "x25519-public\n%s"};
    uint8_t key[HSY_SEAL_KEY];
    hsy_error err = {0};
    char text[256];

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        snprintf(text, sizeof text, forms[i], digits);
        put("other", text);
        ok(keys_seal_public(key, path("other"), &err) == HSY_E_FORMAT &&
               strstr(err.msg, "not a public key") != NULL,
           "no key, form %zu", i);
    }
    snprintf(text, sizeof text, "x25519-public %s\r\n", digits);
    put("other", text);
    ok(keys_seal_public(key, path("other"), &err) == HSY_OK &&
           eq_u64(key[31], 10),
       "another end of the line is one");
    ok(keys_seal_public(key, path("gone"), &err) == HSY_E_IO &&
           eq_int(errno, ENOENT),
       "a file that is not there");
}

static void a_secret_is_its_owners(void)
{
    uint8_t key[HSY_SIGN_SECRET] = {0}, none[HSY_SIGN_SECRET] = {0};

    ok(chmod(path("seal.secret"), 0640) == 0 &&
           keys_seal_secret(key, path("seal.secret"), NULL) == HSY_E_REFUSED &&
           chmod(path("sign.secret"), 0604) == 0 &&
           keys_secret(key, path("sign.secret"), NULL) == HSY_E_REFUSED &&
           memcmp(key, none, sizeof key) == 0,
       "a secret that others can read is not taken");
}

int main(void)
{
    const char *suffix;

    if (mkdtemp(dir) == NULL)
        return 1;
    ok(keys_write(path("sign"), false, &suffix, NULL) == HSY_OK &&
           keys_write(path("seal"), true, &suffix, NULL) == HSY_OK,
       "pairs of both sorts are made");
    files_say_what_they_are();
    each_reader_takes_its_own_sort();
    what_is_no_key();
    a_secret_is_its_owners();
    for (size_t i = 0; i < SORTS; i++)
        unlink(path(sorts[i].file));
    unlink(path("other"));
    rmdir(dir);
    return tap_done();
}
