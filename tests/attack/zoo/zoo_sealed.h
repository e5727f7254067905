/* zoo_sealed.h - a client and a gateway of Oblivious HTTP that are wrong on
 * purpose. */
#ifndef ZOO_SEALED_H
#define ZOO_SEALED_H

#include "host/client/send.h"
#include "server/gateway/gateway.h"

/* Instead of hsy_send_all. */
hsy_status zoo_clear_when_relay_is_down_send(const struct send_hooks *hooks,
                                             const char *url,
                                             const hsy_send_options *options,
                                             hsy_send_result *result,
                                             hsy_error *err);

hsy_status zoo_document_relay_believed_send(const struct send_hooks *hooks,
                                            const char *url,
                                            const hsy_send_options *options,
                                            hsy_send_result *result,
                                            hsy_error *err);

/* Instead of gateway_answer. */
void zoo_length_tells_answer(struct gateway *g, struct request *q,
                             struct ohttp_gateway *keep, unsigned status,
                             const char *retry_after, const char *reason);

#endif
