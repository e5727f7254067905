/*
 * test_store_pages.c - where a log ends is worked out from the size of a page:
 * a database with another one is refused, and an index of another form is.
 */
#define _GNU_SOURCE

#include "rig/store_rig.h"
#include "tap.h"

#include <string.h>

static char pages_root[64], pages_at[96];

/* Open it, and what is said of it. */
static hsy_status pages_open(bool create, hsy_error *err)
{
    struct store_state state;
    struct store *store = NULL;
    hsy_status st = store_sqlite_open(&store, &state, pages_at, create, err);

    if (st == HSY_OK)
        store->ops->close(store);
    return st;
}

/* As a stranger with SQLite's own program does. */
static bool pages_convert(const char *file, unsigned size)
{
    char path[128], text[160];
    sqlite3 *db = NULL;
    bool good;

    snprintf(path, sizeof path, "%s/%s", pages_at, file);
    snprintf(text, sizeof text,
             "PRAGMA journal_mode=DELETE; PRAGMA page_size=%u; VACUUM;"
             "PRAGMA journal_mode=WAL;",
             size);
    good = sqlite3_open(path, &db) == SQLITE_OK &&
           sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return good;
}

static void other_sizes(const char *file)
{
    static const unsigned sizes[] = {512, 1024, 8192, 65536};
    hsy_error err = {0};

    rig_remove(pages_at);
    ok(pages_open(true, &err) == HSY_OK, "%s is made", file);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ok(pages_convert(file, sizes[i]) &&
               pages_open(true, &err) == HSY_E_REFUSED &&
               strcmp(host_field_name(err.field), file) == 0 &&
               strstr(err.msg, "page_size 4096") != NULL,
           "with pages of %u it is refused, and said what to do", sizes[i]);
    ok(pages_convert(file, 4096) && pages_open(false, &err) == HSY_OK,
       "which helps");
    rig_remove(pages_at);
}

/* https://sqlite.org/walformat.html, 2.1: the version is the first word, the
 * size of a page a half word at byte 14; 65536 is 1. */
static void index_of(uint32_t index[8], uint32_t version, uint16_t page)
{
    memset(index, 0, 8 * sizeof index[0]);
    index[0] = version;
    memcpy((uint8_t *)index + 14, &page, sizeof page);
}

static void other_forms(void)
{
    static const uint16_t sizes[] = {0, 1, 512, 4095, 8192, 32768};
    uint32_t index[8];
    bool none = true;

    index_of(index, 3007000, 4096);
    ok(store_blank_knows(index), "the form of an index that is known");
    index_of(index, 3007001, 4096);
    ok(!store_blank_knows(index), "another version is not");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        index_of(index, 3007000, sizes[i]);
        none &= !store_blank_knows(index);
    }
    ok(none, "nor are other sizes of a page");
}

int main(void)
{
    if (!rig_root(pages_root))
        return 1;
    snprintf(pages_at, sizeof pages_at, "%s/data", pages_root);
    other_sizes("record.db");
    other_sizes("cells.db");
    other_forms();
    rmdir(pages_root);
    return tap_done();
}
