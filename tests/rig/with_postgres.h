/* with_postgres.h - PostgreSQL servers for a test in C, its own. */
#ifndef WITH_POSTGRES_H
#define WITH_POSTGRES_H

#include <stdbool.h>

/* To be called first of all in main: unless HSY_PG names servers already, the
 * program is run again beside `shards` new ones, with HSY_PG set to a URL each
 * (",postgresql://" begins the next), and they end with it. False where no
 * server can run: HSY_PG is not set then, and the tests that need one are
 * skipped. */
bool with_postgres(char **argv, unsigned shards);

#endif
