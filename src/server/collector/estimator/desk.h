/*
 * desk.h - requests that take their time: one after another, on a thread of
 * their own, so that no loop waits for them.
 *
 * Estimates with other options, tallies, documents, backups. The queue is
 * bounded: who comes when it is full is told to come back.
 */
#ifndef SERVER_COLLECTOR_ESTIMATOR_DESK_H
#define SERVER_COLLECTOR_ESTIMATOR_DESK_H

#include "server/collector/collector.h"

struct desk;

/* Answers q, once; on the desk's thread. */
typedef void desk_work(struct collector *c, struct request *q);

hsy_status desk_open(struct desk **out, struct collector *c, hsy_error *err);

/* What waits is answered 503, what is under way is finished. NULL is allowed.
 */
void desk_close(struct desk *d);

/* False if there is no room; then q is still the caller's. Any thread. */
bool desk_hand(struct desk *d, struct request *q, desk_work *work);

#endif
