/* parties.h - what format 2 of a document adds: a task's model, the parties. */
#ifndef LIB_DEVICE_PARTIES_H
#define LIB_DEVICE_PARTIES_H

#include "hearsay.h"

#define PARTIES_WAIT 366u            /* max_wait, at most */
#define PARTIES_CLOSE (30u * 86400u) /* close_after_seconds, at most */

/* What a task has more than one of format 1: NULL, or what is wrong with it;
 * its bytes, 0 if there is nothing; written, and where it ends; read, false if
 * it has more than one encoding. */
const char *hsy_more_check(const hsy_task *t, uint32_t *field);
size_t hsy_more_bytes(const hsy_task *t);
uint8_t *hsy_more_put(uint8_t *to, const hsy_task *t);
bool hsy_more_get(hsy_task *t, const uint8_t *from, size_t len);

/* The same of a document's parties (NULL: none). */
bool hsy_parties_any(const hsy_parties *p);
hsy_status hsy_parties_check(const hsy_parties *p, hsy_status status,
                             hsy_error *err);
size_t hsy_parties_bytes(const hsy_parties *p);
void hsy_parties_put(uint8_t *to, const hsy_parties *p);
bool hsy_parties_get(hsy_parties *p, const uint8_t *from, size_t left);

/* The same checked; more: some task needs format 2, so they may be none. */
hsy_status hsy_parties_open(const uint8_t *from, size_t left, bool more,
                            hsy_error *err);

#endif
