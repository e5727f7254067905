/*
 * tokens_keep.h - where tokens are kept: by one collector, or for many.
 *
 * tokens_book.c is tokens.db in a data directory; tokens_many.c (server/
 * cluster) is a database that collectors share. Both have hashes, and nothing
 * else of a token. tokens.db, a book (book.h), belongs to the owner of the data
 * directory, and nobody else can read it.
 */
#ifndef SERVER_AUTH_TOKENS_KEEP_H
#define SERVER_AUTH_TOKENS_KEEP_H

#include "server/auth/auth.h"

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
    struct tokens_person *all; /* owned; room for TOKENS_MAX */
    size_t n;
};

struct tokens_list {
    char task[HSY_TASK_ID + 1];
    uint32_t quota;
    uint64_t n;
    uint8_t *hashes;   /* owned; n times TOKENS_SHORT, ascending */
    uint32_t *expires; /* owned; their last days, 0: none */
};

struct tokens_set {
    struct tokens_people people;
    struct tokens_list *lists; /* owned, ascending by task */
    size_t nlists;
};

/* Letters, digits, '.', '_' and '-', beginning with none of the last three. */
bool tokens_name_fits(const char *name);

void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token);
void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token);

/* Room for one more in a list, whose room doubles. */
bool tokens_list_room(struct tokens_list *list, uint64_t *room);

/* One more list of a set, empty; NULL: out of memory. */
struct tokens_list *tokens_set_list(struct tokens_set *set, const char *task,
                                    uint32_t quota);

/* Whether the bytes are a document that asks a task, or are none. */
bool tokens_asked_in(const void *bytes, size_t len, const char *task);

struct tokens_keep {
    const struct tokens_keep_functions *ops;
};

/* One thread at a time. A running collector uses the first three; commands the
 * others, between begin and end. */
struct tokens_keep_functions {
    /* A number that every change makes another, and all that is there, of one
     * moment, with its number; *out is to be cleared, after a failure too. */
    hsy_status (*version)(struct tokens_keep *k, int64_t *version,
                          hsy_error *err);
    hsy_status (*load)(struct tokens_keep *k, struct tokens_set *out,
                       int64_t *version, hsy_error *err);

    /* HSY_E_REFUSED where that is the database's business. */
    hsy_status (*backup)(struct tokens_keep *k, const char *directory,
                         hsy_error *err);

    /* To look; with change, to change something: what is done counts when end
     * returns HSY_OK. create: make what is missing, else HSY_E_EMPTY. After a
     * failure there is no end; st: what came of it, and what end returns if
     * that was one. */
    hsy_status (*begin)(struct tokens_keep *k, bool change, bool create,
                        hsy_error *err);
    hsy_status (*end)(struct tokens_keep *k, hsy_status st, hsy_error *err);

    /* As auth.h's functions of these names want it; all is to be freed, after
     * a failure too. list: that of list->task. */
    hsy_status (*people)(struct tokens_keep *k, struct tokens_people *out,
                         hsy_error *err);
    hsy_status (*list)(struct tokens_keep *k, struct tokens_list *list,
                       hsy_error *err);
    hsy_status (*tasks)(struct tokens_keep *k,
                        hsy_status (*each)(void *ctx, const char *task,
                                           uint64_t n, uint32_t quota),
                        void *ctx, hsy_error *err);
    hsy_status (*count)(struct tokens_keep *k, const char *task, uint64_t *n,
                        hsy_error *err);

    /* Changes; n: how many rows there were. hash NULL: all of a task's. A task
     * that is there gets another quota. */
    hsy_status (*put_person)(struct tokens_keep *k,
                             const struct tokens_person *p, hsy_error *err);
    hsy_status (*drop_person)(struct tokens_keep *k, const char *name,
                              uint64_t *n, hsy_error *err);
    hsy_status (*put_task)(struct tokens_keep *k, const char *task,
                           uint32_t quota, hsy_error *err);
    hsy_status (*drop_task)(struct tokens_keep *k, const char *task,
                            uint64_t *n, hsy_error *err);
    hsy_status (*put_enrolled)(struct tokens_keep *k, const char *task,
                               const uint8_t *hashes, size_t n,
                               uint32_t expires, hsy_error *err);
    hsy_status (*expire)(struct tokens_keep *k, const char *task,
                         const uint8_t *hash, uint32_t day, uint64_t *n,
                         hsy_error *err);
    hsy_status (*drop_enrolled)(struct tokens_keep *k, const char *task,
                                const uint8_t *hash, uint64_t *n,
                                hsy_error *err);

    /* Without begin and end. */
    bool (*asked)(struct tokens_keep *k, const char *task);
    void (*close)(struct tokens_keep *k);
};

#endif
