/* internal.h - what the files of host/plan share. */
#ifndef HOST_PLAN_INTERNAL_H
#define HOST_PLAN_INTERNAL_H

#include "host/base/host_fail.h"
#include "host/plan/plan.h"

/* Say what the error is about, and the error. */
static inline hsy_status plan_fail(enum plan_why *why, enum plan_why about,
                                   hsy_error *err, hsy_status status,
                                   const char *msg)
{
    *why = about;
    return host_fail(err, status, NULL, msg);
}

/* A scheme at another epsilon than the spec's; the caller frees it (solve.c).
 */
hsy_status plan_scheme(hsy_scheme **out, const hsy_spec *spec,
                       uint64_t nano_epsilon, enum plan_why *why,
                       hsy_error *err);

/* Fill in p->facts, of a plan that has all else (facts.c). */
hsy_status plan_facts(struct plan *p, const struct plan_question *q,
                      hsy_error *err);

#endif
