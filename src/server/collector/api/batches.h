/* batches.h - batches of shufflers: taken, and told of (api_batches.c). */
#ifndef SERVER_COLLECTOR_API_BATCHES_H
#define SERVER_COLLECTOR_API_BATCHES_H

#include "server/collector/collector.h"

/* POST: a part of a delivery of the hop before. */
void api_post_batch(struct request *q, void *ctx);

/* GET, at a shuffler: what was passed on, and what was erased for want of
 * others. For anyone. */
void api_batches(struct request *q, void *ctx);

/* The same of all that was decided, for operators. */
void api_all_batches(struct request *q, void *ctx);

#endif
