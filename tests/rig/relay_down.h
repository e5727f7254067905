/*
 * relay_down.h - a client that is to send through a relay, relays that fail in
 * every way, and a collector at whose address nothing must be heard.
 *
 * Whether the task demands the relay or the person has asked for it: while the
 * relay fails nothing of an upload is readable on any wire, nobody asks the
 * collector, every request to the relay has one length, and all uploads are
 * kept. Through a relay that works all of them arrive.
 */
#ifndef RELAY_DOWN_H
#define RELAY_DOWN_H

#include "host/client/send.h"

/* As hsy_send_all. */
typedef hsy_status relay_sender(const struct send_hooks *hooks, const char *url,
                                const hsy_send_options *options,
                                hsy_send_result *result, hsy_error *err);

enum relay_how {
    RELAY_WORKS, /* it is a gateway too */
    RELAY_NONE,  /* no address of one is known */
    RELAY_DEAD,  /* nobody listens there */
    RELAY_HANGS_UP,
    RELAY_SILENT,     /* it takes the request and says nothing */
    RELAY_BUSY,       /* 503, come back at once */
    RELAY_NO_GATEWAY, /* 502 */
    RELAY_OTHER_KEY,  /* the gateway does not know the key */
    RELAY_REFUSES,    /* 410 in clear, as a collector says it */
    RELAY_REDIRECTS,  /* to the collector */
    RELAY_CLEAR,      /* 204 in clear */
    RELAY_PAGE,
    RELAY_SEALS_NOTHING, /* what it calls a sealed answer is none */
    RELAY_NO_HTTP,
    RELAY_UNPINNED, /* it works, and the document alone names it, which the
                       policy does not take */
    RELAY_HOWS
};

extern const char *const relay_names[RELAY_HOWS];

/* Let a client send where a relay is so, with tasks that demand one or do not:
 * NULL, or what is wrong. Of no relay, and of one that does not count, only
 * with tasks that demand one. */
const char *relay_down(relay_sender *send, enum relay_how how, bool demanded);

/* What is wrong of a client that sends in clear, and of one that sends through
 * whatever relay the document names. */
#define RELAY_CLEARLY "the collector was asked without a relay"
#define RELAY_BELIEVED "the relay that the document alone names was asked"

#endif
