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

#include "server/auth/auth.h"
#include "server/store/book.h"

#define TOKENS_NAME 32u /* letters of a name, at most */
#define TOKENS_HASH 32u
#define TOKENS_SHORT 16u              /* bytes of an enrolment token's hash */
#define TOKENS_MAX 1000u              /* tokens with a role */
#define TOKENS_ENROLLED_MAX 50000000u /* tokens of a task */

struct tokens_person {
    char name[TOKENS_NAME + 1];
    enum listen_role role;
    uint8_t hash[TOKENS_HASH];
};

struct tokens_people {
    struct tokens_person *all; /* owned */
    size_t n;
};

struct tokens_list {
    char task[HSY_TASK_ID + 1];
    uint32_t quota;
    uint64_t n;
    uint8_t *hashes;   /* owned; n times TOKENS_SHORT, ascending */
    uint32_t *expires; /* owned; their last days, 0: none; NULL of a file */
};

/* Letters, digits, '.', '_' and '-', beginning with none of the last three. */
bool tokens_name_fits(const char *name);

void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token);
void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token);

/* The data directory's descriptor, with create making it; -1 with errno. */
int tokens_directory(const char *data, bool create);

/* ---- tokens_book.c ------------------------------------------------------- */

/* The book of a data directory, made if there is none; create: the directory
 * too. HSY_E_EMPTY: there is no directory. */
hsy_status tokens_book_open(struct book *b, const char *data, bool create,
                            hsy_error *err);

hsy_status tokens_put_person(struct book *b, const struct tokens_person *p,
                             hsy_error *err);
hsy_status tokens_put_task(struct book *b, const char *task, uint32_t quota,
                           hsy_error *err);
hsy_status tokens_put_enrolled(struct book *b, const char *task,
                               const uint8_t hash[TOKENS_SHORT],
                               uint32_t expires, hsy_error *err);

/* What is there; all is to be freed, after a failure too. */
hsy_status tokens_people_load(struct book *b, struct tokens_people *out,
                              hsy_error *err);
hsy_status tokens_list_load(struct book *b, struct tokens_list *list,
                            hsy_error *err);
hsy_status tokens_lists_load(struct book *b, struct tokens_list **out,
                             size_t *n, hsy_error *err);

/* ---- tokens_files.c: those of earlier versions --------------------------- */

/* What is there; none is none, HSY_OK. */
hsy_status tokens_people_read(int dir, struct tokens_people *out,
                              hsy_error *err);
hsy_status tokens_list_read(int dir, const char *task, struct tokens_list *out,
                            hsy_error *err);

#endif
