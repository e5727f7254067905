/* tokens_names.c - names, roles and hashes of tokens. */
#define _GNU_SOURCE /* O_DIRECTORY */

#include "server/auth/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

const char *const tokens_roles[] = {"anyone", "scraper", "analyst", "operator",
                                    NULL};

bool tokens_name_fits(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    return len >= 1 && len <= TOKENS_NAME && strspn(name, letters) == len &&
           strchr("._-", name[0]) == NULL;
}

/* ---- Hashes -------------------------------------------------------------- */

/* A token has 256 random bits, so its hash needs no salt and no delay; the key
 * only keeps one use of a token from being another. */
void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token)
{
    static const uint8_t key[32] = "hearsay collector: token, role";

    crypto_generichash(hash, TOKENS_HASH, (const uint8_t *)token, strlen(token),
                       key, sizeof key);
}

void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token)
{
    static const uint8_t key[32] = "hearsay collector: token, task";
    crypto_generichash_state state;

    crypto_generichash_init(&state, key, sizeof key, TOKENS_SHORT);
    crypto_generichash_update(&state, (const uint8_t *)task, strlen(task) + 1);
    crypto_generichash_update(&state, (const uint8_t *)token, strlen(token));
    crypto_generichash_final(&state, hash, TOKENS_SHORT);
    sodium_memzero(&state, sizeof state);
}

int tokens_directory(const char *data, bool create)
{
    if (create && mkdir(data, S_IRWXU) == -1 && errno != EEXIST)
        return -1;
    return open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
