/*
 * mixer_life.h - two shufflers and a collector in one process, on a disk that
 * ends it at any operation, and what must be true of them whatever happens:
 *
 *   no envelope is lost, and none is counted twice;
 *   no batch leaves with fewer envelopes than min_batch;
 *   no id leaves with two contents, that is, in two orders.
 *
 * Shufflers are a table of functions, so that wrong ones can live the same
 * life. Seals are made up: a layer is so many bytes in front.
 */
#ifndef MIXER_LIFE_H
#define MIXER_LIFE_H

#include "host/seal/seal.h"
#include "server/shuffle/mixer.h"

#define LIFE_DAY0 100u
#define LIFE_FROM 120u /* a whole life, from so on: a period ends within it */
#define LIFE_DAYS 13u
#define LIFE_GRACE 1u /* days after an epoch in which uploads come */
#define LIFE_MIN 5u
#define LIFE_REPORT 9u /* bytes behind the last layer: kind and number */
#define LIFE_HOPS 2u

/* As the functions of mixer.h. */
struct life_shuffler {
    hsy_status (*open)(struct mixer **out, const struct mixer_options *options,
                       hsy_error *err);
    hsy_status (*decide)(struct mixer *m, const struct mixer_time *now,
                         hsy_error *err);
    hsy_status (*step)(struct mixer *m, bool *more, hsy_error *err);
};

extern const struct life_shuffler life_real; /* those of mixer.h themselves */

/* Make room, keys and the disk; false: there is no place for it. */
bool life_begin(void);
void life_end(void);

/* Nothing was ever sent. */
void life_fresh(void);

extern char life_at[LIFE_HOPS][96]; /* the directories of the stores */

/* ---- One hop ------------------------------------------------------------- */

struct life_hop {
    const struct life_shuffler *by;
    uint32_t place;
    struct store *store;
    struct store_state state;
    struct mixer *m;
    struct mixer_task task;
};

/* Coins of which no two processes have the same; those of one hop at a time. */
hsy_rng life_rng(void);

hsy_status life_open_with(struct life_hop *h, const struct life_shuffler *by,
                          uint32_t place, uint64_t part, hsy_rng rng,
                          hsy_error *err);
hsy_status life_open(struct life_hop *h, const struct life_shuffler *by,
                     uint32_t place);
void life_close(struct life_hop *h); /* one that did not open, too */

/* Bytes of an envelope with so many layers. */
uint32_t life_length(uint32_t layers);

/* Uploads of a first hop, each an id and the envelope of a number. The second
 * hop cannot open those of life_noise. One of number `broken` does not open. */
bool life_noise(uint64_t number);
#define LIFE_ITEM (MIXER_UPLOAD_ID + life_length(LIFE_HOPS + 1))
void life_item(uint8_t *item, const uint8_t id[MIXER_UPLOAD_ID], uint32_t epoch,
               uint64_t number, bool opens);
/* The number of an envelope, whatever layers it has. */
uint64_t life_number(const uint8_t *envelope, uint32_t length);

/* A commit of uploads; of n numbers from first on, which are the ids too. */
hsy_status life_append(struct life_hop *h, uint32_t epoch, const uint8_t *items,
                       uint32_t n);
hsy_status life_upload(struct life_hop *h, uint32_t epoch, uint64_t first,
                       uint32_t n, uint64_t broken);

hsy_status life_decide(struct life_hop *h, uint32_t day, uint32_t hours);
/* Until there is nothing left to do. */
hsy_status life_steps(struct life_hop *h);
enum store_mix_state life_state(const struct life_hop *h, uint32_t epoch);

/* The bytes of a parcel, to be freed; NULL: they cannot be read. */
uint8_t *life_parcel(const struct life_hop *h, const struct mixer_parcel *p);
/* What a receiver of place `hops` + 1 makes of its heads. */
hsy_status life_check(const uint8_t *bytes, uint32_t hops,
                      struct batch_head *head, hsy_error *err);
/* All parcels go to the next hop, or the collector (NULL). */
hsy_status life_deliver(struct life_hop *h, struct life_hop *to);
/* The next hop has it. */
hsy_status life_receipt(struct life_hop *h, const struct batch_head *head,
                        hsy_error *err);

/* ---- A whole life -------------------------------------------------------- */

/* What may be wrong, of many things. */
#define LIFE_SMALL "a batch of fewer than min_batch has left"
#define LIFE_ORDERS "a batch has left in two orders"
#define LIFE_HASTY "envelopes were erased that could have waited"
#define LIFE_OLD "envelopes of two periods ago were mixed"

/*
 * Live from the beginning to the end: uploads, small batches that wait, expire
 * or join others, and what does not open, at either hop. NULL, or what is wrong
 * afterwards.
 */
const char *life_quiet(const struct life_shuffler *by);

/*
 * The same, killed at operation 1, at 1 + step and so on, a second time soon
 * after it came back, and then left alone; until there is no such operation.
 */
struct life_kills {
    uint64_t kills, at;
};
const char *life_killed(const struct life_shuffler *by, uint64_t step,
                        struct life_kills *out);

/* A second hop gets a batch of the first under its own epoch, two periods after
 * it could have had it. */
const char *life_replayed(const struct life_shuffler *by);

/* Batches that came to the collector, in the last of these lives, and envelopes
 * in them that had waited at the second hop. */
uint32_t life_batches(void);
uint64_t life_waited(void);

#endif
