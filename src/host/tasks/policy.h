/* policy.h - policy.yaml: what a device allows, whatever a task asks. */
#ifndef HOST_TASKS_POLICY_H
#define HOST_TASKS_POLICY_H

#include "hearsay/host.h"

/* The caps of a source and of all sources together that `device init` writes
 * unless told otherwise, in nano-epsilon (hearsay-device(1) says why). */
#define POLICY_ANSWER (2 * (uint64_t)HSY_NANO)
#define POLICY_DAY (5 * (uint64_t)HSY_NANO)
#define POLICY_LIFETIME (10 * (uint64_t)HSY_NANO)
#define POLICY_ALL_DAY (10 * (uint64_t)HSY_NANO)
#define POLICY_ALL_LIFETIME (20 * (uint64_t)HSY_NANO)

/* Zero it to begin. All that it points to is owned, but the collector's URL. */
struct policy {
    hsy_policy policy;
    hsy_source *sources;
    char *anchor;     /* NULL: none */
    uint8_t *pins;    /* shuffler_keys of the policy */
    uint8_t *gateway; /* gateway_keys of the policy */
    char **relays;    /* of the policy; NULL behind them */
    /* Where uploads are sent: reading refuses a relay on its host. NULL: it is
     * not known. */
    const char *collector;
};

/* One more source; its name is copied. HSY_E_RANGE for a name that is none, or
 * too many of them; HSY_E_REFUSED if it is there already; HSY_E_NOMEM. */
hsy_status policy_add(struct policy *p, const char *name, size_t len,
                      const hsy_source *caps, hsy_error *err);

/* The same from NAME=ANSWER,DAY,LIFETIME. HSY_E_FORMAT if it is none. */
hsy_status policy_add_text(struct policy *p, const char *text, hsy_error *err);
/* Demands of every task what all tasks of a document have, and the document's
 * relay: trust on first use. HSY_E_RANGE for more keys than a policy holds. */
hsy_status policy_pin(struct policy *p, const hsy_document *doc,
                      hsy_error *err);

const hsy_source *policy_find(const struct policy *p, const char *name);

/* Everything that is wrong in a file is listed with its line; *problems is the
 * caller's to free. p, which is zeroed or was read before, is freed and filled,
 * and left alone unless HSY_OK is returned. HSY_E_FORMAT with problems,
 * HSY_E_IO with errno, HSY_E_RANGE if the file is too long, HSY_E_NOMEM. */
hsy_status policy_read(struct policy *p, const char *path,
                       hsy_problem **problems, size_t *n, hsy_error *err);
hsy_status policy_read_bytes(struct policy *p, const uint8_t *text, size_t len,
                             hsy_problem **problems, size_t *n, hsy_error *err);

/* The file is whole or not there. HSY_E_IO with errno, HSY_E_NOMEM. */
hsy_status policy_write(const struct policy *p, const char *path,
                        hsy_error *err);
void policy_clear(struct policy *p);

/* A cap from text: a decimal of at most nine places, or lnN; 0 allows nothing.
 */
bool policy_cap_parse(uint64_t *nano, const char *text, size_t len);

#endif
