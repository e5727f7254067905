/* test_loaded.c - the signed list of documents that a shuffler has loaded. */
#include "host/tasks/loaded.h"
#include "lib/bits/bytes.h"
#include "tap.h"

static uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];

/* A document of this version; only its bytes and version are looked at. */
static hsy_document document(uint64_t version, uint8_t bytes[8])
{
    bytes_put64(bytes, version);
    return (hsy_document){.version = version, .bytes = bytes, .len = 8};
}

static struct loaded filled(uint64_t first, uint64_t last)
{
    struct loaded list = {.day = 20775};
    uint8_t bytes[8];

    for (uint64_t v = first; v <= last; v++) {
        hsy_document doc = document(v, bytes);

        loaded_add(&list, &doc);
    }
    return list;
}

static void grows(void)
{
    struct loaded list = filled(1, 3);
    uint8_t bytes[8], other[HSY_DIGEST];
    hsy_document doc = document(3, bytes);

    ok(eq_u64(list.n, 3) && !loaded_add(&list, &doc) && eq_u64(list.n, 3),
       "a document that is in the list changes nothing");
    hsy_document_digest(&doc, other);
    ok(loaded_find(&list, 3) != NULL &&
           eq_bytes(loaded_find(&list, 3), other, sizeof other) &&
           loaded_find(&list, 4) == NULL,
       "the digest of a version is found, that of another is not");
    list = filled(1, LOADED_ROWS + 5);
    ok(eq_u64(list.n, LOADED_ROWS) && loaded_find(&list, 5) == NULL &&
           loaded_find(&list, 6) != NULL &&
           loaded_find(&list, LOADED_ROWS + 5) != NULL,
       "the oldest documents make room");
}

static void comes_back(void)
{
    struct loaded list = filled(7, 9), read;
    uint8_t bytes[LOADED_MAX], again[LOADED_MAX];
    const size_t len = loaded_sign(bytes, &list, secret);
    size_t opened = 0;

    ok(eq_u64(len, LOADED_BYTES(3)) &&
           loaded_read(&read, bytes, len, NULL) == HSY_OK &&
           eq_u64(read.n, 3) && eq_u64(read.day, 20775) &&
           eq_bytes(read.sign_key, key, sizeof key) &&
           loaded_sign(again, &read, secret) == len &&
           eq_bytes(again, bytes, len),
       "a list is read and written again byte for byte");
    for (size_t cut = 0; cut < len; cut++)
        opened += loaded_read(&read, bytes, cut, NULL) == HSY_OK;
    ok(eq_u64(opened, 0), "none of %zu shorter lists is read", len);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        opened += loaded_read(&read, bytes, len, NULL) == HSY_OK;
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ok(eq_u64(opened, 0), "none of %zu lists with a bit changed is read",
       8 * len);
}

/* Signed well, and yet no list. */
static void refused(const char *what, const struct loaded *list, uint32_t n)
{
    struct loaded copy = *list, read;
    uint8_t bytes[LOADED_MAX];
    hsy_error err = {0};
    size_t len;

    copy.n = n;
    len = loaded_sign(bytes, &copy, secret);
    is_int(loaded_read(&read, bytes, len, &err), HSY_E_FORMAT,
           "refused though signed: %s", what);
}

static void refuses(void)
{
    struct loaded list = filled(1, 3);

    refused("an empty list", &list, 0);
    list.rows[1].version = 1;
    refused("a version twice", &list, 3);
    list.rows[1].version = 9;
    refused("versions that descend", &list, 3);
    list.rows[0].version = 0;
    refused("version 0", &list, 1);
}

int main(void)
{
    hsy_sign_keypair(key, secret);
    grows();
    comes_back();
    refuses();
    return tap_done();
}
