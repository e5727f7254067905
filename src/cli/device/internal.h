/* internal.h - what the verbs of `hearsay device` share. */
#ifndef CLI_DEVICE_INTERNAL_H
#define CLI_DEVICE_INTERNAL_H

#include "cli/base/tasks.h"
#include "host/tasks/policy.h"

#include "hearsay/host.h"

#define DEVICE_OPERANDS 3u
#define DEVICE_PATH 4096u
#define DEVICE_SOURCES 256u
#define DEVICE_DRAFT "document.new" /* a document about to be taken */

/* What was asked for. Operands: the directory, then what the verb takes. */
struct device_options {
    const char *operand[DEVICE_OPERANDS];
    size_t operands;
    const char *document, *public_key, *policy, *anchor, *output;
    const char *token, *ca;              /* files; NULL: none */
    const char *sources[DEVICE_SOURCES]; /* NAME=ANSWER,DAY,LIFETIME */
    size_t nsources;
    uint64_t day, lifetime; /* valid if has_day, has_lifetime */
    bool has_day, has_lifetime, mark_sent, take;
    bool one_connection, has_now;
    uint64_t wait;
    uint64_t now; /* seconds since 1970; valid if has_now */
    uint64_t attempts, seconds, backoff; /* of sending; 0: the library's */
    enum cli_format format;
};

/* A device in a directory. Zero it to begin; device_close takes it half-open.
 */
struct device_job {
    const struct device_options *how;
    struct cli_parser *parser; /* for complaints about the arguments */
    const char *directory;
    struct policy policy;
    hsy_client *client; /* with its document: device_open */
    hsy_host *host;     /* without: device_open_bare */
    hsy_device *bare;
    char path[DEVICE_PATH];
};

/* A file in the directory; the name lasts until the next call. NULL after a
 * complaint that it is too long. */
const char *device_file(struct device_job *j, const char *name);

/* A policy from a file; its problems go to stderr, one a line. 0, or the exit
 * code after them. */
int device_policy_file(struct policy *p, const char *path);

/* The policy alone; that and device and document; policy and device, enough for
 * what the person decides and must work whatever became of the document. A
 * message and the exit code, or 0. */
int device_read_policy(struct device_job *j);
int device_open(struct device_job *j);
int device_open_bare(struct device_job *j);
void device_close(struct device_job *j);

/* ---- The clock (device_now.c) -------------------------------------------- */

/* The value of --now; false after a complaint. */
bool device_now_parse(struct cli_parser *p, struct device_options *o);

/* How the directory is opened, with the clock that was asked for. */
hsy_host_options device_host_options(const struct device_job *j);

/* What that clock says. 0, or the exit code after a message. */
int device_now(const struct device_job *j, uint64_t *seconds);

/* Mark a directory in the making as a rehearsal's, or take the mark away;
 * whether the device there is of the sort that --now is for. 0, or the exit
 * code after a message. */
int device_now_mark(struct device_job *j);
int device_now_fits(struct device_job *j);

/* Let a document that was taken, and not yet put in its place, be there now.
 * False with errno. */
bool device_roll_forward(struct device_job *j);

/* Whether a word is the address of a collector; the document from there, which
 * is the second operand. 0, or the exit code after a message. */
struct task_file;
bool device_is_url(const char *text);
int device_fetch(struct device_job *j, struct task_file *d);

/* What the library said about this device, a task or a file of it, and what to
 * do; its limit as an epsilon or a day where it is one. */
int device_fail(const struct device_job *j, const hsy_error *err);
int device_fail_about(const struct device_job *j, const char *about,
                      const hsy_error *err);
int device_fail_task(const struct device_job *j, const char *task,
                     const hsy_error *err);
void device_say_why(char *text, size_t room, const hsy_error *err);

/* What became of an answer: its name, and a note if that may surprise. */
void device_say_state(const struct device_job *j, hsy_answer_state state);

/* The verbs; each returns the exit code. */
int device_init(struct device_job *j);
int device_take(struct device_job *j);
int device_pack(struct device_job *j);
int device_send(struct device_job *j);
int device_budget(struct device_job *j);
int device_log(struct device_job *j);
int device_tasks(struct device_job *j);
int device_policy(struct device_job *j);

/* The tables that init shows, too; labels: each task in plain words below. */
void device_show_policy(const struct policy *p, enum cli_format format);
int device_show_tasks(struct device_job *j, enum cli_format format,
                      bool labels);

#endif
