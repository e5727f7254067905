/* cluster_db.c - see cluster_db.h. */
#define _GNU_SOURCE
#include "rig/cluster_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of several URLs the first. */
static char *db_url(void)
{
    const char *all = getenv("HSY_PG");
    const char *next = all != NULL ? strstr(all, ",postgresql://") : NULL;

    if (all == NULL)
        return NULL;
    return strndup(all, next != NULL ? (size_t)(next - all) : strlen(all));
}

bool db_do(struct pg_place *place, const char *sql)
{
    struct pg_link *l = pg_link_new(place);
    hsy_status st = pg_connect(l, NULL);

    if (st == HSY_OK)
        st = pg_ask(l, NULL, NULL, sql, "");
    if (st != HSY_OK)
        fprintf(stderr, "%s: %s\n", sql, pg_reason(l));
    pg_link_free(l);
    return st == HSY_OK;
}

static bool db_tables(struct pg_place *place)
{
    const struct schema_meta meta = {.cluster = "a cluster", .key = "a key"};
    struct pg_link *l = pg_link_new(place);
    bool made = false;
    hsy_status st = pg_connect(l, NULL);

    if (st == HSY_OK)
        st = schema_make(l, &meta, &made, NULL);
    if (st != HSY_OK)
        fprintf(stderr, "the tables: %s\n", pg_reason(l));
    pg_link_free(l);
    return st == HSY_OK && made;
}

struct pg_place *db_open(void)
{
    struct pg_place *place = NULL;
    char reason[PG_REASON] = "", *url = db_url();

    if (url == NULL)
        return NULL;
    if (pg_place_open(&place, url, reason, NULL) != HSY_OK)
        fprintf(stderr, "HSY_PG: %s\n", reason);
    free(url);
    if (place != NULL &&
        db_do(place, "drop schema if exists hearsay cascade") &&
        db_tables(place))
        return place;
    pg_place_close(place);
    return NULL;
}
