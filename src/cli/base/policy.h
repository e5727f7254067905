/* policy.h - policy.yaml: what a device allows, whatever a task asks. */
#ifndef CLI_BASE_POLICY_H
#define CLI_BASE_POLICY_H

#include "cli/base/base.h"

/* The caps of a source and of all sources together that `device init` writes
 * unless told otherwise, in nano-epsilon (hearsay-device(1) says why). */
#define CLI_POLICY_ANSWER (2 * (uint64_t)HSY_NANO)
#define CLI_POLICY_DAY (5 * (uint64_t)HSY_NANO)
#define CLI_POLICY_LIFETIME (10 * (uint64_t)HSY_NANO)
#define CLI_POLICY_ALL_DAY (10 * (uint64_t)HSY_NANO)
#define CLI_POLICY_ALL_LIFETIME (20 * (uint64_t)HSY_NANO)

/* Zero it to begin. The policy's sources, their names and anchor are owned. */
struct cli_policy {
    hsy_policy policy;
    hsy_source *sources;
    char *anchor; /* NULL: none */
};

/* One more source; its name is copied. A complaint and the exit code, or 0. */
int cli_policy_add(struct cli_policy *p, const char *name, size_t len,
                   const hsy_source *caps);
const hsy_source *cli_policy_find(const struct cli_policy *p, const char *name);

/* Read or write a file; a message and the exit code, or 0. */
int cli_policy_read(struct cli_policy *p, const char *path);
int cli_policy_write(const struct cli_policy *p, const char *path);
void cli_policy_clear(struct cli_policy *p);

/* A cap from text: a decimal of at most nine places, or lnN; 0 allows nothing.
 */
bool cli_cap_parse(uint64_t *nano, const char *text, size_t len);

/* The same back, without spare zeros. */
#define CLI_CAP_TEXT 32
void cli_cap_text(char text[CLI_CAP_TEXT], uint64_t nano);

#endif
