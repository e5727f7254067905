/*
 * internal.h - where tokens are kept.
 *
 * tokens.db, a book (book.h) with hashes of tokens, belongs to the owner of the
 * data directory, and nobody else can read it.
 */
#ifndef SERVER_AUTH_INTERNAL_H
#define SERVER_AUTH_INTERNAL_H

#include "server/auth/tokens_keep.h"

void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token);
void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token);

/* The data directory's descriptor, with create making it; -1 with errno. */
int tokens_directory(const char *data, bool create);

/* ---- tokens_asked.c ------------------------------------------------------ */

/* tokens_asked of the store in a data directory. */
bool tokens_asked_record(const char *data, const char *task);

#endif
