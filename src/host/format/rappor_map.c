/* rappor_map.c - RAPPOR's map of candidates to bits; and writing its files. */
#define _GNU_SOURCE /* strdup */
#include "host/format/rappor_files.h"

#include "host/base/host_fail.h"
#include "host/format/rappor_csv.h"

#include <stdlib.h>
#include <string.h>

void rappor_map_free(struct rappor_map *map)
{
    for (size_t i = 0; i < map->candidates; i++)
        free(map->names[i]);
    free(map->names);
    free(map->bits);
    *map = (struct rappor_map){0};
}

static bool map_grow(struct rappor_map *map, size_t *room)
{
    size_t more = 2 * *room + 64;
    char **names;
    uint16_t *bits;

    if (map->candidates < *room)
        return true;
    names = realloc(map->names, more * sizeof *names);
    if (names != NULL)
        map->names = names;
    bits = realloc(map->bits, more * map->m * map->h * sizeof *bits);
    if (bits != NULL)
        map->bits = bits;
    if (names == NULL || bits == NULL)
        return false;
    *room = more;
    return true;
}

/* Column c h + i is a position of cohort c: above c k, at most (c + 1) k. */
static hsy_status map_row(struct rappor_map *map,
                          const struct rappor_params *params,
                          const struct rappor_csv *c, hsy_error *err)
{
    const size_t columns = (size_t)params->m * params->h;
    uint16_t *bits = map->bits + map->candidates * columns;

    if (c->nfields != columns + 1)
        return rappor_csv_bad(c, err, HSY_FIELD_MAP,
                              "not a candidate and m h positions: the map "
                              "disagrees with the params");
    if (c->fields[0][0] == '\0' || strlen(c->fields[0]) > RAPPOR_NAME_MAX)
        return rappor_csv_bad(c, err, HSY_FIELD_CANDIDATE,
                              "a name of 1 to 4096 bytes is needed");
    if (map->candidates == RAPPOR_CANDIDATES_MAX)
        return rappor_csv_bad(c, err, HSY_FIELD_CANDIDATE,
                              "too many candidates");
    for (size_t i = 0; i < columns; i++) {
        uint64_t low = i / params->h * params->k, x;

        if (!rappor_csv_count(c->fields[1 + i], low + params->k, &x) ||
            x <= low)
            return rappor_csv_bad(c, err, HSY_FIELD_POSITION,
                                  "not a position of its cohort: the map "
                                  "disagrees with the params");
        bits[i] = (uint16_t)(x - low - 1);
    }
    map->names[map->candidates] = strdup(c->fields[0]);
    if (map->names[map->candidates] == NULL)
        return HSY_E_NOMEM;
    map->candidates++;
    return HSY_OK;
}

static int map_order(const void *a, const void *b)
{
    char *const *const *x = a, *const *const *y = b;
    int order = strcmp(**x, **y);

    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* No two names are the same; else the line of the first that repeats one. */
static hsy_status map_distinct(const struct rappor_map *map, hsy_error *err)
{
    char ***sorted = malloc((map->candidates + 1) * sizeof *sorted);
    size_t again = map->candidates;

    if (sorted == NULL)
        return HSY_E_NOMEM;
    for (size_t i = 0; i < map->candidates; i++)
        sorted[i] = &map->names[i];
    qsort(sorted, map->candidates, sizeof *sorted, map_order);
    for (size_t i = 1; i < map->candidates; i++)
        if (strcmp(*sorted[i - 1], *sorted[i]) == 0 &&
            (size_t)(sorted[i] - map->names) < again)
            again = (size_t)(sorted[i] - map->names);
    free(sorted);
    if (again < map->candidates)
        return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_CANDIDATE,
                            "the candidate is there twice", HSY_UNIT_CANDIDATE,
                            again + 1);
    return HSY_OK;
}

hsy_status rappor_map_read(struct rappor_map *map,
                           const struct rappor_params *params, const char *path,
                           hsy_error *err)
{
    struct rappor_map read = {.m = params->m, .h = params->h};
    struct rappor_csv c;
    size_t room = 0;
    hsy_status st = rappor_csv_open(&c, path);

    while (st == HSY_OK && (st = rappor_csv_next(&c, err)) == HSY_OK)
        st = map_grow(&read, &room) ? map_row(&read, params, &c, err)
                                    : HSY_E_NOMEM;
    if (st == HSY_E_END)
        st = read.candidates != 0
                 ? map_distinct(&read, err)
                 : rappor_csv_bad(&c, err, HSY_FIELD_NONE, "an empty file");
    rappor_csv_close(&c);
    if (st == HSY_OK)
        *map = read;
    else
        rappor_map_free(&read);
    return st;
}
