/* book_kinds.c - which books there are, and their tables. */
#include "server/store/book.h"

const struct book_kind shown_kind = {
    .name = "shown.db",
    .application = 0x48535953, /* HSYS */
    .version = 1,
    .tables =
        "CREATE TABLE shown(entry INTEGER PRIMARY KEY, generation INTEGER "
        "NOT NULL, words INTEGER NOT NULL, digest BLOB NOT NULL);"
        "CREATE TABLE counts(entry INTEGER, epoch INTEGER, reports INTEGER NOT "
        "NULL, own INTEGER NOT NULL, nulls INTEGER NOT NULL, PRIMARY "
        "KEY(entry, epoch)) WITHOUT ROWID;"
        "CREATE TABLE blocks(entry INTEGER, first INTEGER, last INTEGER NOT "
        "NULL, over INTEGER NOT NULL, PRIMARY KEY(entry, first)) WITHOUT "
        "ROWID;"
        "CREATE TABLE pieces(entry INTEGER, block INTEGER, place INTEGER, "
        "words BLOB NOT NULL, PRIMARY KEY(entry, block, place));"};

/* flags: none yet. expires: the last day, 0: it does not. */
const struct book_kind tokens_kind = {
    .name = "tokens.db",
    .application = 0x48535954, /* HSYT */
    .version = 1,
    .tables =
        "CREATE TABLE people(name TEXT PRIMARY KEY, role INTEGER NOT NULL, "
        "hash BLOB NOT NULL, flags INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE tasks(task TEXT PRIMARY KEY, quota INTEGER NOT NULL, "
        "flags INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;"
        "CREATE TABLE enrolled(task TEXT, hash BLOB, expires INTEGER NOT NULL "
        "DEFAULT 0, flags INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(task, hash)) "
        "WITHOUT ROWID;"};
