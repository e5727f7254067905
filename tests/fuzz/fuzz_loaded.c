/* fuzz_loaded.c - lists of a shuffler's documents: what is read is signed, and
 * has one encoding. */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/tasks/loaded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
    static bool made;
    uint8_t again[LOADED_MAX];
    struct loaded list;
    hsy_error err = {0};
    const hsy_status st = loaded_read(&list, data, len, &err);

    made = made || hsy_sign_keypair(key, secret) == HSY_OK;
    if (st != HSY_OK && st != HSY_E_SIGNATURE)
        return 0;
    fuzz_expect(list.n != 0 && list.n <= LOADED_ROWS,
                "the number of documents is bounded");
    fuzz_expect(loaded_sign(again, &list, secret) == len &&
                    memcmp(again, data, 16) == 0 &&
                    memcmp(again + 48, data + 48, len - 48 - HSY_SIGNATURE) ==
                        0,
                "a list that is read is written as the same bytes");
    return 0;
}
