/* grow.c - arrays that grow. */
#include "host/base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROW_FIRST 16u /* items */

bool grow_to(void *memory, size_t n, size_t size)
{
    void *items;

    memcpy(&items, memory, sizeof items);
    items = n <= SIZE_MAX / size ? realloc(items, n * size) : NULL;
    if (items == NULL)
        return false;
    memcpy(memory, &items, sizeof items);
    return true;
}

bool grow_room(void *memory, size_t *room, size_t n, size_t size)
{
    size_t to = *room == 0 ? GROW_FIRST : *room;
    char *items;

    if (n <= *room)
        return true;
    while (to < n)
        to = to <= SIZE_MAX / 2 ? 2 * to : n;
    if (!grow_to(memory, to, size))
        return false;
    memcpy(&items, memory, sizeof items);
    memset(items + *room * size, 0, (to - *room) * size);
    *room = to;
    return true;
}
