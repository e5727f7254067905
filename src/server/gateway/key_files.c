/* key_files.c - secrets of a gateway from their files. */
#include "server/gateway/key_files.h"

#include "host/base/host_fail.h"
#include "host/tasks/keys.h"
#include "server/gateway/gateway.h"

/* A key is called by the first byte of its name, which follows from its public
 * half: who has that knows the number. */
static hsy_status key_files_one(struct ohttp_key *key, const char *path,
                                hsy_error *err)
{
    uint8_t name[SEAL_KEY_ID];
    const hsy_status st = keys_seal_secret(key->secret, path, err);

    if (st != HSY_OK)
        return st;
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
