/*
 * http_grammar.h - HTTP/1.1 heads read a second time: slowly, and the way the
 * grammar is written.
 *
 * Every rule of RFC 9112 (and of RFC 9110, 5.5, 5.6 and 8.6) that a head needs
 * is a function of that name, which takes characters one by one. What hearsay
 * forbids besides is in grammar_request and grammar_response. The reader in
 * src/server/http/message.c must agree on every text, in every split.
 */
#ifndef HTTP_GRAMMAR_H
#define HTTP_GRAMMAR_H

#include "server/http/message.h"

struct grammar_reading {
    enum message_state state;
    int refusal; /* a status, if it is bad */
    /* If it is whole: */
    size_t size;
    unsigned status, minor;
    uint64_t length;
    bool close, expects_continue;
    struct message_text method, target;
    unsigned nfields;
    struct message_field fields[MESSAGE_FIELDS];
};

void grammar_read(struct grammar_reading *out, enum message_kind kind,
                  const uint8_t *text, size_t len);

/* Returns what differs between the two readings, or NULL. */
const char *grammar_differs(const struct grammar_reading *a,
                            enum message_state state, const struct message *m);

/* Feeds the reader the text in pieces: of one byte if `pieces` is 0, else
 * split at random places that `pieces` chooses. */
enum message_state grammar_feed(struct message *m, enum message_kind kind,
                                const uint8_t *text, size_t len,
                                uint64_t pieces);

#endif
