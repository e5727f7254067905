/* with_postgres.c - see with_postgres.h. */
#define _GNU_SOURCE
#include "rig/with_postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Tests are run at the top of the tree. */
#define RIG "tests/rig/postgres.py"

bool with_postgres(char **argv, unsigned shards)
{
    const char *servers = getenv("HSY_PG");
    char many[16];

    if (servers != NULL && servers[0] != '\0')
        return true;
    if (servers != NULL) {
        unsetenv("HSY_PG");
        return false;
    }
    snprintf(many, sizeof many, "%u", shards);
    execl(RIG, RIG, "run", "--maybe", "--shards", many, "--", argv[0], NULL);
    perror("Bail out! " RIG);
    exit(1);
}
