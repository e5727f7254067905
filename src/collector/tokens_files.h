/*
 * tokens_files.h - the files that tokens are kept in.
 *
 * `tokens`: a line a token, "NAME ROLE HASH", the hash in hexadecimal.
 * `enrolled/TASK`: "HSYENROL", u32 version, u32 quota, u64 count, the first 8
 * bytes of the BLAKE2b-256 of these 24 and of the hashes, then the hashes of 16
 * bytes, ascending. Integers are little-endian.
 *
 * Both belong to the owner of the data directory, and nobody else can read
 * them. They are replaced whole: a draft is written, synced and renamed, then
 * the directory is synced.
 */
#ifndef TOKENS_FILES_H
#define TOKENS_FILES_H

#include "tokens.h"

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
    uint8_t *hashes; /* owned; n times TOKENS_SHORT, ascending */
};

/* Letters, digits, '.', '_' and '-', beginning with none of the last three. */
bool tokens_name_fits(const char *name);

void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token);
void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token);

/* The data directory's descriptor, with create making it and `enrolled`; -1
 * with errno. */
int tokens_directory(const char *data, bool create);

/* Let a file that root has made belong to the directory's owner. */
bool tokens_give(int dir, const char *path);

/* What is there; none is none, HSY_OK. */
hsy_status tokens_people_read(int dir, struct tokens_people *out,
                              hsy_error *err);
hsy_status tokens_list_read(int dir, const char *task, struct tokens_list *out,
                            hsy_error *err);

/* Durable when they return HSY_OK. */
hsy_status tokens_people_write(int dir, const struct tokens_people *p,
                               hsy_error *err);
hsy_status tokens_list_write(int dir, const struct tokens_list *list,
                             hsy_error *err);

#endif
