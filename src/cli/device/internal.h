/* internal.h - what the verbs of `hearsay device` share. */
#ifndef CLI_DEVICE_INTERNAL_H
#define CLI_DEVICE_INTERNAL_H

#include "cli/base/tasks.h"
#include "host/client/home.h"

/* What the policy of a new device demands besides caps. */
enum device_pin { DEVICE_PIN_DOCUMENT, DEVICE_PIN_NONE };

/* What was asked for. Operands: the directory, then what the verb takes. */
struct device_options {
    char **operand; /* NULL behind them */
    const char *document, *public_key, *policy, *anchor, *output;
    const char *token, *ca;   /* files; NULL: none */
    const char *relay;        /* a URL; NULL: the document's */
    const char *loaded;       /* file of a shuffler's list; NULL: none */
    struct cli_texts sources; /* NAME=REPORT,DAY,LIFETIME */
    uint64_t day, lifetime;
    bool has_now, mark_sent, take, one_connection, wait;
    uint64_t lock_wait;
    uint64_t now; /* seconds since 1970; valid if has_now */
    uint64_t attempts, seconds, backoff; /* of sending; 0: the library's */
    uint64_t spread;                     /* seconds; 0: none */
    enum table_format format;
    int pin; /* enum device_pin */
};

/* A device in a directory, and what is wanted of it. */
struct device_job {
    struct device_options options;
    struct cli_parser parser; /* for complaints about the arguments */
    struct home home;
};

/* As home_policy, home_open and home_open_bare, with a message and the exit
 * code, or 0. */
int device_read_policy(struct device_job *j);
int device_open(struct device_job *j);
int device_open_bare(struct device_job *j);

/* Whether a word is the address of a collector; the document from there, which
 * is the second operand. 0, or the exit code after a message; *later if its
 * time has not come. */
bool device_is_url(const char *text);
int device_fetch(struct device_job *j, struct task_file *d, bool *later);

/* ---- Messages (device_say.c) --------------------------------------------- */

/* Say what a failure of the home is about, and what to do. */
int device_refused(const struct device_job *j, const hsy_error *err);

/* What the library said about this device, a task or a file of it, and what to
 * do; its limit as an epsilon or a day where it is one. */
int device_fail(const struct device_job *j, const hsy_error *err);
int device_fail_task(const struct device_job *j, const char *task,
                     const hsy_error *err);
void device_say_why(char *text, size_t room, const hsy_error *err);

/* What became of an answer: its name, and a note if that may surprise. */
void device_say_state(const struct device_job *j, hsy_answer_state state);

/* ---- The verbs, to a struct device_job; each returns the exit code ------- */

int device_init(void *to);
int device_take(void *to);
int device_pack(void *to);
int device_send(void *to);
int device_budget(void *to);
int device_log(void *to);
int device_tasks(void *to);
int device_policy(void *to);

/* The tables that init shows, too; labels: each task in plain words below. */
void device_show_policy(const struct policy *p, enum table_format format);
int device_show_tasks(struct device_job *j, enum table_format format,
                      bool labels);

#endif
