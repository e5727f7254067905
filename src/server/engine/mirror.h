/*
 * mirror.h - an engine that counts nothing itself: it shows what a database
 * says was counted, to whoever asks by the functions of engine.h, and has the
 * rules by which uploads are admitted.
 *
 * One thread at a time calls these, as the half that admits; those that are
 * marked, as the half that folds. engine_tell, engine_set_document,
 * engine_retire_task and engine_purge work as ever: what they would write is
 * handed to the functions that the mirror was opened with.
 */
#ifndef SERVER_ENGINE_MIRROR_H
#define SERVER_ENGINE_MIRROR_H

#include "server/engine/engine.h"

/* What changes the database; as store.h says of them. HSY_E_BUSY: not now. */
struct mirror_functions {
    hsy_status (*document)(void *ctx, const uint8_t *bytes, size_t len,
                           uint32_t first, const uint8_t *const *entries,
                           const size_t *lens, size_t n, hsy_error *err);
    hsy_status (*close_epochs)(void *ctx, uint32_t through, uint32_t day,
                               hsy_error *err);
    hsy_status (*retire)(void *ctx, uint32_t entry, hsy_error *err);
};

hsy_status mirror_open(struct engine **out, const uint8_t key[STORE_KEY],
                       const struct engine_options *options,
                       const struct mirror_functions *does, void *ctx,
                       hsy_error *err);

/* ---- What the database says ---------------------------------------------- */

/* The document in force (NULL: none) and all entries, in the order of their
 * numbers: at least those that are there. */
hsy_status mirror_roster(struct engine *e, const uint8_t *document, size_t len,
                         const uint8_t *const *entries, const size_t *lens,
                         size_t n, hsy_error *err);
uint64_t mirror_version(struct engine *e); /* of that document; 0: none */

void mirror_days(struct engine *e, uint32_t day, uint32_t closed,
                 uint32_t purged);
void mirror_retired(struct engine *e, uint32_t entry);

/* All counts of an entry by epoch, ascending, whether folded or not: what is
 * new since the last reading is held against the clock. */
hsy_status mirror_counts(struct engine *e, uint32_t entry,
                         const struct store_count *counts, size_t n,
                         hsy_error *err);

/* Ids of an open epoch: in all, and by entry those of uploads without a token.
 */
hsy_status mirror_used(struct engine *e, uint32_t epoch, uint64_t ids,
                       const uint64_t *used, hsy_error *err);

/* So many nodes take uploads: each may bring its part of new ids a second. */
void mirror_nodes(struct engine *e, uint64_t nodes);

/* How many ids there are, and of how many bytes; bytes of batches that nobody
 * has folded. */
void mirror_sizes(struct engine *e, uint64_t ids, uint64_t bytes,
                  uint64_t waiting);

/* Batches of shufflers of an entry; those that are in its tallies are marked.
 */
struct mirror_taken {
    struct store_received row; /* without id, digest and heads */
    bool folded;
};
hsy_status mirror_batches(struct engine *e, uint32_t entry,
                          const struct mirror_taken *all, size_t n,
                          hsy_error *err);

/* ---- Tallies, as the half that folds ------------------------------------- */

/* The counts that are in an entry's tallies. */
hsy_status mirror_folded(struct engine *e, uint32_t entry,
                         const struct store_count *counts, size_t n,
                         hsy_error *err);

/* Whether there is a tally (epoch 0: of all). */
bool mirror_has(struct engine *e, uint32_t entry, uint32_t epoch);

/* The words of a tally (epoch 0: of all), made of zeros if there is none; NULL:
 * it does not fit into memory. */
int64_t *mirror_words(struct engine *e, uint32_t entry, uint32_t epoch);

/* All tallies of an entry are to be read anew: they are zeros. */
void mirror_forget(struct engine *e, uint32_t entry);

/* Let go of tallies that are not kept any more. */
void mirror_keep(struct engine *e, uint32_t entry);

/* ---- Admitting ----------------------------------------------------------- */

/* What would become of an upload if its id is new. INTAKE_COUNTED: it has a
 * share of the epoch's ids, which is given back if it does not count. */
enum intake_verdict mirror_may(struct engine *e, const struct intake_upload *u);
void mirror_give(struct engine *e, const struct intake_upload *u);

/* An upload came of a day that no reading of the clock knows. */
void mirror_strange(struct engine *e, uint32_t epoch);

/* How an upload's id is kept. Any thread. */
void mirror_name(const struct engine *e, struct store_id *out,
                 const uint8_t id[16], const uint8_t digest[32]);

/* The name under which a store of one machine keeps, among what tokens have
 * used, how many ids without a token an entry has in an epoch, and one more. */
void mirror_share_name(uint8_t name[16], uint32_t entry);

/* Verdicts that were given, and what was counted with them. Any thread. */
void mirror_settled(struct engine *e, const uint64_t verdicts[INTAKE_VERDICTS],
                    uint64_t reports, uint64_t nulls);

/* Whether a tally file can be merged into an entry, and of how many reports it
 * is. */
hsy_status mirror_merge(struct engine *e, uint32_t entry, const uint8_t *bytes,
                        size_t len, uint64_t *reports, hsy_error *err);

/* Its counts by round, to be freed, and of how many reports it is (merge.c).
 * Any thread, as the next. */
hsy_status mirror_merge_counts(const struct roster_entry *is,
                               const uint8_t *bytes, size_t len,
                               struct store_count **counts, size_t *n,
                               uint64_t *reports, hsy_error *err);

/* Whether an entry has a tally for each day. */
bool mirror_daily(const struct engine *e, const struct roster_entry *is);

/* Whether tallies of a day are still kept. */
bool mirror_keeps(struct engine *e, uint32_t epoch);

#endif
