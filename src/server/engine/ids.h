/*
 * ids.h - which uploads were counted, by their ids, while their epoch is open:
 * recent ones in memory, the others in runs.
 *
 * An id counts once, whatever epoch it is sent under: it is looked for in all
 * open epochs. None is ever evicted; an epoch that is full refuses (R19, R23).
 * One thread owns a table.
 */
#ifndef SERVER_ENGINE_IDS_H
#define SERVER_ENGINE_IDS_H

#include "server/store/store.h"

struct ids;

enum ids_answer {
    IDS_NEW,
    IDS_SAME, /* known, with this content */
    IDS_OTHER /* known, with another content */
};

/* The key names ids (R26): who does not know it cannot choose ids that fall
 * together. NULL: out of memory. */
struct ids *ids_open(const uint8_t key[STORE_KEY]);
void ids_close(struct ids *t); /* NULL is allowed */

/* From now on at most so many ids of an epoch; without it there is no end. */
void ids_limit(struct ids *t, uint64_t limit);

/* How an upload's id and the digest of its bytes are kept: a keyed hash of the
 * id, and the digest's first bytes under a mask that goes with the id. */
void ids_name(const struct ids *t, struct store_id *out, const uint8_t id[16],
              const uint8_t digest[32]);

/* Whether an id is known. HSY_E_IO or HSY_E_DAMAGED if a run cannot be read: it
 * is not new then, and nothing may be counted any more (R20). */
hsy_status ids_find(const struct ids *t, const struct store_id *id,
                    enum ids_answer *answer);

/* These are looked for next: fetch what that reads, all at a time. */
void ids_soon(const struct ids *t, const struct store_id *ids, size_t n);

/* Note a new id. HSY_E_FULL if the epoch has as many as it may, HSY_E_NOMEM;
 * nothing is changed then. It takes a bounded time: a table grows by a part at
 * a time. */
hsy_status ids_add(struct ids *t, uint32_t epoch, const struct store_id *id);

/* Forget an id that was added but could not be made durable. */
void ids_remove(struct ids *t, uint32_t epoch, const struct store_id *id);

/* Forget all epochs up to this one: they are closed. */
void ids_drop(struct ids *t, uint32_t through);

/* ---- Into runs ----------------------------------------------------------- */

/* An epoch that has so many ids in memory and is not sealed; false: none. */
bool ids_next_fresh(const struct ids *t, uint64_t least, uint32_t *epoch);

/* What an epoch has in memory is committed, and may become runs: it stays as it
 * is until they come. */
void ids_seal(struct ids *t, uint32_t epoch);

/* Runs of an epoch in the place of those it had, and of what was sealed, if
 * they hold that. They are taken; HSY_E_NOMEM, and nothing is changed. */
hsy_status ids_adopt(struct ids *t, struct store_runs *runs);

/* ---- How many ------------------------------------------------------------ */

/* How many there are, and the memory they take. In memory it is at most
 * IDS_BYTES an id and IDS_EPOCH_BYTES an epoch besides, in a run
 * IDS_RUN_BYTES. */
#define IDS_BYTES 40u
#define IDS_RUN_BYTES 2.2
#define IDS_EPOCH_BYTES 65536u
uint64_t ids_count(const struct ids *t);
uint64_t ids_of(const struct ids *t, uint32_t epoch);
uint64_t ids_bytes(const struct ids *t);

/* Runs, and the bytes of their files. */
void ids_runs(const struct ids *t, uint64_t *runs, uint64_t *bytes);

#endif
