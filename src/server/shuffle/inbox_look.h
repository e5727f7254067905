/* inbox_look.h - a batch that has come whole: what it is, and what is in it. */
#ifndef SERVER_SHUFFLE_INBOX_LOOK_H
#define SERVER_SHUFFLE_INBOX_LOOK_H

#include "server/shuffle/inbox.h"

/* Envelopes by their names, and where they are opened what was in them. All of
 * it is owned. */
struct inbox_opened {
    size_t n;
    uint8_t (*names)[16];
    uint8_t *items;
    bool *null;
};
void inbox_opened_clear(struct inbox_opened *o);

/* Hold the bytes of a batch, its heads first, against its head: digest, and no
 * two envelopes that are equal. HSY_E_REFUSED. All names are there then. */
hsy_status inbox_look(struct inbox_opened *o, const uint8_t *all,
                      const struct batch_head *head, size_t heads_len,
                      hsy_error *err);

/* Open them: o has those that are reports or null, with their names. */
hsy_status inbox_open_all(struct inbox_opened *o, const uint8_t *envelopes,
                          const struct inbox_options *options,
                          const struct inbox_task *task,
                          const struct batch_head *head, hsy_error *err);

#endif
