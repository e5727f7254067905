/*
 * internal.h - where tokens are kept.
 *
 * tokens.db, a book (book.h) with hashes of tokens, belongs to the owner of the
 * data directory, and nobody else can read it.
 *
 * Earlier versions had files, which are read once, when the book is made.
 * `tokens`: a line a token, "NAME ROLE HASH", the hash in hexadecimal.
 * `enrolled/TASK`: "HSYENROL", u32 version, u32 quota, u64 count, the first 8
 * bytes of the BLAKE2b-256 of these 24 and of the hashes, then the hashes of 16
 * bytes, ascending. Integers are little-endian.
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

/* ---- tokens_files.c: those of earlier versions --------------------------- */

/* What is there; none is none, HSY_OK. */
hsy_status tokens_people_read(int dir, struct tokens_people *out,
                              hsy_error *err);
hsy_status tokens_list_read(int dir, const char *task, struct tokens_list *out,
                            hsy_error *err);

#endif
