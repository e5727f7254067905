/* Tests of src/server/store/book.c: a book that came from elsewhere is checked
 * before it is used. */
#define _GNU_SOURCE

#include "rig/store_rig.h"
#include "server/store/book.h"
#include "tap.h"

static char book_root[64];

/* Checks a book to which `change` was done. */
static hsy_status book_after(const char *change)
{
    struct book b;
    hsy_error err = {0};
    hsy_status st = book_open(&b, book_root, &shown_kind, true, &err);

    if (st == HSY_OK)
        st = book_run(&b, change, &err);
    book_close(&b);
    if (st == HSY_OK)
        st = book_open(&b, book_root, &shown_kind, false, &err);
    if (st == HSY_OK)
        st = book_look(&b, &err);
    book_close(&b);
    unlink(rig_path(book_root, "shown.db"));
    return st;
}

int main(void)
{
    if (!rig_root(book_root))
        return 1;

    is_status(book_after(""), HSY_OK, "accepts an empty book");
    is_status(book_after("INSERT INTO shown VALUES(1, 1, 1, x'00');"
                         "INSERT INTO pieces VALUES(1, 2, 3, x'00')"),
              HSY_OK, "accepts a book with rows");
    is_status(book_after("CREATE INDEX places ON pieces(block);"
                         "INSERT INTO pieces VALUES(1, 2, 3, x'00');"
                         "PRAGMA writable_schema = ON;"
                         "UPDATE sqlite_schema SET sql = 'CREATE INDEX places "
                         "ON pieces(place)' WHERE name = 'places'"),
              HSY_E_FORMAT, "refuses an index that lacks a row");
    is_status(book_after("PRAGMA writable_schema = ON;"
                         "UPDATE sqlite_schema SET rootpage = 1000 WHERE "
                         "name = 'counts'"),
              HSY_E_FORMAT, "refuses a table whose page is not in the file");
    is_status(book_after("CREATE VIEW other AS SELECT 1"), HSY_E_FORMAT,
              "refuses a book with a view");
    is_status(book_after("PRAGMA writable_schema = ON;"
                         "INSERT INTO sqlite_schema VALUES('table', 'other', "
                         "'other', 0, 'CREATE VIRTUAL TABLE other USING "
                         "fts5(words)')"),
              HSY_E_FORMAT, "refuses a book with a virtual table");

    rmdir(book_root);
    return tap_done();
}
