/* commits_over_another.c - a second process was started over the same data, and
 * each commits over what the other has committed: totals of its own, not what
 * was added. */
#include "zoo_collector.h"

#define TURNS 5u /* groups, until the other one commits */

hsy_status zoo_commits_over_another_sync(struct zoo_books *books)
{
    const hsy_status st = zoo_disk(books);
    const uint32_t turn = books->syncs / TURNS;

    /* What the other wrote in its last turn stands under totals that do not
     * know of it. */
    for (size_t i = 0; st == HSY_OK && i < books->n; i++) {
        struct zoo_known *k = &books->known[i];

        if (i >= books->before)
            k->turn = turn;
        else if (k->turn + 1 == turn && turn % 2 == 0)
            k->durable = !(k->dropped = true);
    }
    return st;
}

/* The same two, but a commit is made only over the commit before it: the one
 * that finds another's fails, is started again, and has read it. */
hsy_status zoo_swap_sync(struct zoo_books *books)
{
    const bool other = (books->syncs + 1) % TURNS == 0;

    if (!other)
        return zoo_disk(books);
    books->syncs++;
    return HSY_E_IO; /* before anything was written */
}
