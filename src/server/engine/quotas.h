/*
 * quotas.h - how many reports each enrolment token has brought in an epoch.
 *
 * Tokens are known by one-way names that nobody chooses, so the names serve as
 * hashes. One thread owns it.
 */
#ifndef SERVER_ENGINE_QUOTAS_H
#define SERVER_ENGINE_QUOTAS_H

#include "server/store/store.h"

struct quotas {
    size_t n, room; /* room is 0 or a power of two */
    struct store_quota *rows;
};

void quotas_clear(struct quotas *q);

/* What a token has used, to be read or changed before the next call; NULL: out
 * of memory, which never happens with one that was asked for before. */
uint32_t *quotas_of(struct quotas *q, const uint8_t token[16], uint32_t epoch);

/* Forget the epochs up to this one. */
void quotas_drop(struct quotas *q, uint32_t through);

#endif
