/* tasks.h - tasks from a tasks.yaml or a compiled document, and keys. */
#ifndef CLI_BASE_TASKS_H
#define CLI_BASE_TASKS_H

#include "cli/base/base.h"

#include "hearsay/host.h"
#include "host/base/hex.h"
#include "host/tasks/keys.h"
#include "host/tasks/task_file.h"

/* Read either sort of file. Problems go to stderr, one a line: "FILE:LINE:
 * task, field: what". Warnings too, if warn is set. 0, or the exit code after a
 * message. */
int cli_tasks_open(struct task_file *t, const char *path, bool warn);

/* A compiled document and nothing else; the same from bytes, which become t's,
 * that came from `path`. */
int cli_tasks_document(struct task_file *t, const char *path);
int cli_tasks_bytes(struct task_file *t, uint8_t *bytes, size_t len,
                    const char *path);

/* Why a document was not read; the exit code. */
int cli_tasks_fail(const char *path, const hsy_error *err);

/* Print what hsy_tasks_problems has from number `first` on; the number of
 * those that are no warnings. */
size_t cli_tasks_say(const hsy_tasks *yaml, const char *path, size_t first,
                     bool warn);

/* One problem: "hearsay: PATH:LINE: task, field: what"; entry: what a file is a
 * list of, as task. */
void cli_problem_say(const hsy_problem *p, const char *path, const char *entry);

/* The tasks of FILE:ID, and the place of ID among them; 0, or the exit code
 * after a message. */
int cli_tasks_find(struct task_file *t, size_t *at, const char *where,
                   struct cli_parser *p);

/* Resolve a task as a device does; the caller frees *out. 0, or the exit code
 * after a message. */
int cli_release_new(hsy_release **out, const hsy_task *task);

/* c->task as a question, for cli_spec_finish: as a device asks, what is not
 * listed is `other`, a number outside the range its nearer end. 0, or the exit
 * code after a message. */
int cli_tasks_spec(struct cli_spec *c, struct cli_parser *p);

/* ---- Keys, as host/tasks/keys.h has them --------------------------------- */

/* A token: one line of a file; the caller frees it. */
int cli_token_read(char **token, const char *path);

int cli_public_read(uint8_t key[HSY_SIGN_KEY], const char *path);

/* Refuses a file that others can read. Wipe the secret after use. */
int cli_secret_read(uint8_t secret[HSY_SIGN_SECRET], const char *path);

/* Write NAME.secret, which only its owner can read, and NAME.public. Nothing
 * is overwritten. */
int cli_keys_write(const char *name, bool seal);

#endif
