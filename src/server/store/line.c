/*
 * line.c - a lock that is handed over in the order of asking.
 *
 * A mutex goes to whoever comes by when it is free, and that is mostly the
 * thread that has just given it back: one that erases a thousand rows in small
 * transactions would keep out the one that appends.
 */
#include "server/store/internal.h"

void store_line_init(struct store_line *line)
{
    pthread_mutex_init(&line->mutex, NULL);
    pthread_cond_init(&line->moved, NULL);
    line->last = line->served = 0;
}

void store_line_clear(struct store_line *line)
{
    pthread_cond_destroy(&line->moved);
    pthread_mutex_destroy(&line->mutex);
}

void store_line_lock(struct store_line *line)
{
    uint64_t mine;

    pthread_mutex_lock(&line->mutex);
    mine = line->last++;
    while (line->served != mine)
        pthread_cond_wait(&line->moved, &line->mutex);
    pthread_mutex_unlock(&line->mutex);
}

void store_line_unlock(struct store_line *line)
{
    bool waited;

    pthread_mutex_lock(&line->mutex);
    waited = ++line->served != line->last;
    pthread_mutex_unlock(&line->mutex);
    if (waited)
        pthread_cond_broadcast(&line->moved);
}
