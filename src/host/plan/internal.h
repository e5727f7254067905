/* internal.h - what the files of host/plan share. */
#ifndef HOST_PLAN_INTERNAL_H
#define HOST_PLAN_INTERNAL_H

#include "host/base/host_fail.h"
#include "host/plan/account.h"

/* Say what the error is about, and the error. */
static inline hsy_status plan_fail(enum plan_why *why, enum plan_why about,
                                   hsy_error *err, hsy_status status,
                                   const char *msg)
{
    *why = about;
    return host_fail(err, status, HSY_FIELD_NONE, msg);
}

/* A scheme at another epsilon than the spec's; the caller frees it (solve.c).
 */
hsy_status plan_scheme(hsy_scheme **out, const hsy_spec *spec,
                       uint64_t nano_epsilon, enum plan_why *why,
                       hsy_error *err);

/* Fill in p->facts, of a plan that has all else (facts.c). */
hsy_status plan_facts(struct plan *p, const struct plan_question *q,
                      hsy_error *err);

/* ---- Rows and curves of an account (account.c) --------------------------- */

void account_text(struct account *a, const char *name, const char *text,
                  const char *about);
void account_count(struct account *a, const char *name, uint64_t count,
                   const char *about);
void account_number(struct account *a, const char *name, double x,
                    const char *about);

/* A bound from above, or from below. */
void account_at_most(struct account *a, const char *name, double x,
                     const char *about);
void account_at_least(struct account *a, const char *name, double x,
                      const char *about);

/* A point of curve i; the first names it. Not positive: left out. */
void account_point(struct account *a, size_t i, const char *name, double x,
                   double y);

/* The places of `count` points from least to most, integers and each once,
 * evenly on a logarithmic axis: how many there are, at most ACCOUNT_POINTS. */
size_t account_places(double places[ACCOUNT_POINTS], double least, double most,
                      size_t count);

/* The library refused a number of what is asked. */
static inline hsy_status account_refuse(struct account *a, hsy_status status)
{
    a->why = PLAN_WHY_ASKED;
    return status;
}

#endif
