/*
 * auth.h - who may read, who may upload: hashed, compared in constant time.
 *
 * Roles, each token with a name; enrolment, tokens of a task with a quota, each
 * of which may expire. A token is 32 random bytes in base64url; its hash, keyed
 * BLAKE2b, is all that is kept: in tokens.db of the data directory, or in a
 * database that collectors share (tokens_keep.h). A running collector reads it
 * again when it has changed.
 */
#ifndef SERVER_AUTH_AUTH_H
#define SERVER_AUTH_AUTH_H

#include "server/http/http.h"

struct tokens;
struct tokens_keep;

extern const char *const tokens_roles[]; /* by listen_role; NULL at its end */

/* tokens.db of a data directory; it is opened when it is wanted. NULL: out of
 * memory. */
struct tokens_keep *tokens_book(const char *data);
void tokens_keep_close(struct tokens_keep *k); /* NULL is allowed */

/* Read what is there; none is none. HSY_E_FORMAT with the line. k is closed
 * with it, and when it cannot be opened; NULL: out of memory. */
hsy_status tokens_open(struct tokens **out, struct tokens_keep *k,
                       hsy_error *err);
void tokens_close(struct tokens *t);

/* Read again if something has changed; one thread at a time. What cannot be
 * read keeps the old. *changed, unless NULL: whether others are in force now;
 * then a failure is told once, until it is over. */
hsy_status tokens_refresh(struct tokens *t, bool *changed, hsy_error *err);

/* What day it is: tokens expire. */
void tokens_today(struct tokens *t, uint32_t day);

/* A copy of the book in a backup's directory. Any thread. HSY_E_REFUSED: there
 * is none. */
hsy_status tokens_backup(struct tokens *t, const char *directory,
                         hsy_error *err);

/* Tasks (ended by NULL; NULL: none) that want a token even if none was made
 * yet; copied. Those that had some want one in any case. */
hsy_status tokens_want(struct tokens *t, char *const *tasks, hsy_error *err);

/* The role of a token, LISTEN_ANYONE if it is none; any thread, in time that
 * does not tell how much of a token is right. */
enum listen_role tokens_role(struct tokens *t, const char *token);

/* Whether there is a token with a role at all. */
bool tokens_any(struct tokens *t);

/* The name of a task that has enrolment tokens, from i = 0 on; false: there are
 * no more. */
bool tokens_task(struct tokens *t, size_t i, char task[HSY_TASK_ID + 1]);

/* Whether task wants a token and this (NULL: none) is one of its: its one-way
 * name, and the reports it may bring an epoch. TOKENS_FORWARDER: it is one of
 * those that may bring many reports in an upload, of any task. */
enum tokens_entry { TOKENS_OPEN, TOKENS_GOOD, TOKENS_BAD, TOKENS_FORWARDER };
enum tokens_entry tokens_enrolled(struct tokens *t, const char *task,
                                  const char *token, uint8_t hash[16],
                                  uint32_t *quota);

/* ---- `hearsay serve token` ----------------------------------------------- */

#define TOKENS_TEXT 44 /* a token as text, NUL included */

/* A new token of a role, durable before it is returned. HSY_E_REFUSED if the
 * name is taken. */
hsy_status tokens_add(struct tokens_keep *k, const char *name,
                      enum listen_role role, char token[TOKENS_TEXT],
                      hsy_error *err);
hsy_status tokens_revoke(struct tokens_keep *k, const char *name,
                         hsy_error *err);
hsy_status tokens_each(struct tokens_keep *k,
                       hsy_status (*each)(void *ctx, const char *name,
                                          enum listen_role role),
                       void *ctx, hsy_error *err);

/* The name under which forwarders are enrolled: no task can have it. */
#define TOKENS_FORWARDERS "Forwarders"

/* n enrolment tokens for a task or TOKENS_FORWARDERS, handed to `each` once
 * they are durable. expires: their last day, 0: none. The quota is that of all
 * tokens of the task from now on. HSY_E_RANGE for an id that is none, and for
 * too many. */
hsy_status tokens_enrol(struct tokens_keep *k, const char *task, uint32_t quota,
                        uint64_t n, uint32_t expires,
                        hsy_status (*each)(void *ctx, const char *token),
                        void *ctx, hsy_error *err);

/* Whether the document that is in force there asks a task; true as well if
 * there is none yet, or it cannot be read now. */
bool tokens_asked(struct tokens_keep *k, const char *task);

/* Each task that has enrolment tokens, and forwarders: how many, their quota.
 */
hsy_status tokens_each_task(struct tokens_keep *k,
                            hsy_status (*each)(void *ctx, const char *task,
                                               uint64_t n, uint32_t quota),
                            void *ctx, hsy_error *err);

#define TOKENS_ID 33 /* the name of an enrolment token, NUL included */

/* The enrolment tokens of a task, by the name that their hash makes. HSY_E_
 * UNKNOWN: there are none. */
hsy_status tokens_each_enrolled(struct tokens_keep *k, const char *task,
                                hsy_status (*each)(void *ctx, const char *id,
                                                   uint32_t expires),
                                void *ctx, hsy_error *err);

/* One of them, by its name or as it was printed: let it expire after a day (0:
 * never), or end it now. "all": all of them; withdrawn, the task wants none any
 * more. HSY_E_UNKNOWN: it is none of the task's. */
hsy_status tokens_expire(struct tokens_keep *k, const char *task,
                         const char *which, uint32_t day, hsy_error *err);
hsy_status tokens_withdraw(struct tokens_keep *k, const char *task,
                           const char *which, hsy_error *err);

#endif
