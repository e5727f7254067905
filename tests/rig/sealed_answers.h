/*
 * sealed_answers.h - does what a gateway answers tell from outside what is
 * inside?
 *
 * A listener with a gateway is asked for every answer there is: each verdict on
 * an upload, each refusal of a body, with each time to come back, and what is
 * no request at all. All answers must be the same outside, the head byte for
 * byte but for its date and the body in its length; and each must say inside
 * what was answered.
 */
#ifndef SEALED_ANSWERS_H
#define SEALED_ANSWERS_H

#include "server/gateway/gateway.h"

/* As gateway_answer. */
typedef void sealed_answerer(struct gateway *g, struct request *q,
                             struct ohttp_gateway *keep, unsigned status,
                             const char *retry_after, const char *reason);

/* NULL, or what is wrong; how many answers were compared, and the least and the
 * greatest length of a body. */
struct sealed_seen {
    size_t answers, least, most;
};
const char *sealed_answers(sealed_answerer *answer, struct sealed_seen *seen);

/* What is wrong of a gateway whose answers have several lengths. */
#define SEALED_LENGTHS "answers have several lengths"

#endif
