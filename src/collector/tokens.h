/*
 * tokens.h - who may read, who may upload: hashed, compared in constant time.
 *
 * Roles: a text file `tokens` in the data directory, a line a token: name,
 * role, hash. Enrolment: a file `enrolled/TASK` of 16-byte hashes, sorted, with
 * the quota in its head. A token is 32 random bytes in base64url; its hash is
 * keyed BLAKE2b. The files are replaced whole and read again when they change.
 */
#ifndef TOKENS_H
#define TOKENS_H

#include "listen.h"

struct tokens;

extern const char *const tokens_roles[]; /* by listen_role; NULL at its end */

/* Read what is there; none is none. HSY_E_FORMAT with the line. */
hsy_status tokens_open(struct tokens **out, const char *data, hsy_error *err);
void tokens_close(struct tokens *t);

/* Read again if a file has changed; one thread at a time. A broken file keeps
 * the old. *changed, unless NULL: whether others are in force now. */
hsy_status tokens_refresh(struct tokens *t, bool *changed, hsy_error *err);

/* Tasks (ended by NULL; NULL: none) that want a token even if none was made
 * yet; copied. Those with a file want one in any case. */
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
hsy_status tokens_add(const char *data, const char *name, enum listen_role role,
                      char token[TOKENS_TEXT], hsy_error *err);
hsy_status tokens_revoke(const char *data, const char *name, hsy_error *err);
hsy_status tokens_each(const char *data,
                       hsy_status (*each)(void *ctx, const char *name,
                                          enum listen_role role),
                       void *ctx, hsy_error *err);

/* The name under which forwarders are enrolled: no task can have it. */
#define TOKENS_FORWARDERS "Forwarders"

/* n enrolment tokens for a task or TOKENS_FORWARDERS, handed to `each` once
 * they are durable. The quota is that of all tokens of the task from now on.
 * HSY_E_RANGE for an id that is none, and for too many. */
hsy_status tokens_enrol(const char *data, const char *task, uint32_t quota,
                        uint64_t n,
                        hsy_status (*each)(void *ctx, const char *token),
                        void *ctx, hsy_error *err);

#endif
