/* tables.c - the tables of both databases. docs/formats.md says what
 * their columns mean; `sum` is the checksum of the others. */
#include "server/store/internal.h"

#define TABLES_RUNS                                                            \
    "CREATE TABLE runs(number INTEGER PRIMARY KEY,"                            \
    " sum INTEGER NOT NULL, epoch INTEGER NOT NULL, nulls INTEGER NOT NULL,"   \
    " count INTEGER NOT NULL, through INTEGER NOT NULL,"                       \
    " checks INTEGER NOT NULL) STRICT;"

#define TABLES_HOPS                                                            \
    "CREATE TABLE received(id BLOB PRIMARY KEY, sum INTEGER NOT NULL,"         \
    " digest BLOB NOT NULL, entry INTEGER NOT NULL, epoch INTEGER NOT NULL,"   \
    " n INTEGER NOT NULL, nulls INTEGER NOT NULL, unopened INTEGER NOT NULL,"  \
    " again INTEGER NOT NULL, heads BLOB NOT NULL) STRICT, WITHOUT ROWID;"     \
    "CREATE TABLE mixes(id BLOB PRIMARY KEY, sum INTEGER NOT NULL,"            \
    " entry INTEGER NOT NULL, epoch INTEGER NOT NULL, part INTEGER NOT NULL,"  \
    " through INTEGER NOT NULL, n INTEGER NOT NULL, state INTEGER NOT NULL,"   \
    " digest BLOB NOT NULL, receipt BLOB NOT NULL) STRICT, WITHOUT ROWID;"

const char store_tables_record[] =
    "BEGIN IMMEDIATE;" TABLES_RUNS TABLES_HOPS
    "CREATE TABLE meta(one INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " name BLOB NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL,"
    " closed INTEGER NOT NULL, day INTEGER NOT NULL,"
    " turn INTEGER NOT NULL, rests INTEGER NOT NULL,"
    " checks INTEGER NOT NULL, id_rows INTEGER NOT NULL,"
    " id_checks INTEGER NOT NULL, runs INTEGER NOT NULL,"
    " run_checks INTEGER NOT NULL, hops INTEGER NOT NULL,"
    " hop_checks INTEGER NOT NULL) STRICT;"
    "CREATE TABLE documents(one INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " bytes BLOB NOT NULL) STRICT;"
    "CREATE TABLE entries(number INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " bytes BLOB NOT NULL) STRICT;"
    "CREATE TABLE counts(entry INTEGER, epoch INTEGER, sum INTEGER NOT NULL,"
    " reports INTEGER NOT NULL, nulls INTEGER NOT NULL,"
    " PRIMARY KEY(entry, epoch)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE quotas(epoch INTEGER, token BLOB, sum INTEGER NOT NULL,"
    " used INTEGER NOT NULL,"
    " PRIMARY KEY(epoch, token)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE ids(place INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " bytes BLOB NOT NULL) STRICT;"
    "CREATE TABLE merged(name BLOB PRIMARY KEY, sum INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE batches(number INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " seq INTEGER NOT NULL, entry INTEGER NOT NULL, epoch INTEGER NOT NULL,"
    " type INTEGER NOT NULL, reports INTEGER NOT NULL, bytes BLOB NOT NULL)"
    " STRICT;"
    "CREATE INDEX batches_of ON batches(entry, seq);"
    "CREATE TABLE rounds(entry INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " round INTEGER NOT NULL, through INTEGER NOT NULL) STRICT;"
    "CREATE TABLE tallies(entry INTEGER, epoch INTEGER, sum INTEGER NOT NULL,"
    " words INTEGER NOT NULL, since INTEGER NOT NULL,"
    " chunks INTEGER NOT NULL, checks INTEGER NOT NULL,"
    " PRIMARY KEY(entry, epoch)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE figures(entry INTEGER, day INTEGER, sum INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, PRIMARY KEY(entry, day)) STRICT, WITHOUT ROWID;"
    "PRAGMA user_version=4;";

#define TABLES_SINCE_3                                                         \
    TABLES_HOPS                                                                \
    "ALTER TABLE meta ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;"             \
    "ALTER TABLE meta ADD COLUMN hop_checks INTEGER NOT NULL DEFAULT 0;"       \
    "PRAGMA user_version=4;"

#define TABLES_SINCE_2                                                         \
    TABLES_RUNS                                                                \
    "ALTER TABLE meta ADD COLUMN id_rows INTEGER NOT NULL DEFAULT 0;"          \
    "ALTER TABLE meta ADD COLUMN id_checks INTEGER NOT NULL DEFAULT 0;"        \
    "ALTER TABLE meta ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;"             \
    "ALTER TABLE meta ADD COLUMN run_checks INTEGER NOT NULL DEFAULT "         \
    "0;" TABLES_SINCE_3

const char store_tables_upgrade_1[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE meta ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE meta ADD COLUMN rests INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE meta ADD COLUMN checks INTEGER NOT NULL DEFAULT "
    "0;" TABLES_SINCE_2;

const char store_tables_upgrade_2[] = "BEGIN IMMEDIATE;" TABLES_SINCE_2;

const char store_tables_upgrade_3[] = "BEGIN IMMEDIATE;" TABLES_SINCE_3;

const char store_tables_cells[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE meta(one INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " name BLOB NOT NULL, turn INTEGER NOT NULL) STRICT;"
    "CREATE TABLE chunks(number INTEGER PRIMARY KEY, sum INTEGER NOT NULL,"
    " entry INTEGER NOT NULL, epoch INTEGER NOT NULL, place INTEGER NOT NULL,"
    " round INTEGER NOT NULL, words BLOB NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX chunks_at ON chunks(entry, epoch, place, round);"
    "PRAGMA user_version=2;";

const char store_tables_cells_upgrade[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE meta ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;"
    "PRAGMA user_version=2;";
