/*
 * gone_peers.h - peers that leave between the hand-in of a request and its
 * answer, and what a server must make of them.
 *
 * A server keeps what it is asked until it is told to answer, and counts the
 * bodies of its answers: each that was made must be freed, once, whether its
 * peer stays, closes, resets, or only says that it sends no more. Who stays and
 * who sends no more must get the answer.
 */
#ifndef GONE_PEERS_H
#define GONE_PEERS_H

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define GONE_PEERS 40u /* of each kind */

#define GONE_BODY 100000u /* bytes of an answer */

enum gone_how { GONE_STAYS, GONE_CLOSES, GONE_RESETS, GONE_HALF, GONE_HOWS };

extern const char *const gone_names[GONE_HOWS];

extern atomic_uint gone_taken, gone_made, gone_freed;

struct gone_server {
    uint16_t port;
    void (*answer)(void); /* all that was handed in since the last time */
};

void *gone_body(void);

void gone_free(void *body);

void gone_pause(void);

/* Peers that leave so: how many got their answer. */
unsigned gone_try(const struct gone_server *s, enum gone_how how);

#endif
