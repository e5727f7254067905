/*
 * engine.h - counting each upload exactly once.
 *
 * A report becomes a count here. Two halves, each owned by one thread and
 * joined by a queue of batches:
 *
 *   admitting  (engine_admit)  which ids are new; appends ids, reports and
 *              counts to the store as one event. What is durable is
 *              acknowledged, nothing else is (P6, R18, R19).
 *   folding    (engine_fold)   adds batches to tallies in memory, in the order
 *              of their commits; writes changed chunks to the store a little at
 *              a time (engine_write), then erases the batches behind them.
 *
 * While the tallies of an entry are being written its new batches wait; they
 * are in the store, so nothing is lost by it. The functions marked with a half
 * are called by its thread alone (workers.h has the threads; tests and the
 * simulation call them in one). Nothing here reads a clock or makes a thread.
 */
#ifndef SERVER_ENGINE_ENGINE_H
#define SERVER_ENGINE_ENGINE_H

#include "host/format/batch_rows.h"
#include "host/format/rounds.h"
#include "host/seal/seal.h"
#include "server/intake/intake.h"
#include "server/store/store.h"

struct engine;

/* The ids of a batch that a shuffler delivers stand under the epoch so many
 * days after the day on which it came: the last one of the next period is no
 * later (receive.c). A later shuffler opens a batch when it mixes it, which may
 * be in the period after the one in which it came: one period more. */
#define ENGINE_REPLAY_DAYS(type)                                               \
    (((type) == STORE_SEALED ? 3 : 2) * SEAL_PERIOD_DAYS - 1)

#define ENGINE_RUNS ((uint64_t)1 << 20)

struct engine_options {
    uint64_t ids_epoch;  /* ids of one epoch, for all tasks (portions.h) */
    size_t fold_bytes;   /* batches that wait to be folded, at most */
    size_t tally_bytes;  /* memory of all tallies, at most; a day's that does
                            not fit is left out */
    size_t day_words;    /* entries up to this size have a tally a day */
    uint32_t keep_days;  /* for which such tallies are kept */
    uint32_t grace_days; /* an epoch closes so many days after it ended */
    uint32_t clock_days; /* a clock that jumps further is never believed */
    bool accept_clock;   /* but believe the first day, wherever it is */
    bool driven_clock;   /* a rehearsal's: believe all jumps ahead */
    uint64_t runs_at;    /* ids of an epoch in memory that go to the disk;
                            0: ENGINE_RUNS, if the store can */
};

/* Read everything back and fold what was not folded. The store stays the
 * caller's and must outlive the engine. */
hsy_status engine_open(struct engine **out, struct store *store,
                       const struct store_state *state,
                       const struct engine_options *options, hsy_error *err);
void engine_close(struct engine *e); /* NULL is allowed */

/* ---- Any thread ---------------------------------------------------------- */

/* The roster in force, one reference the caller's. */
struct roster *engine_roster(struct engine *e);

/* The epochs that are open. */
struct intake_days engine_days(struct engine *e);

/* Whether some task wants tokens: then ids are kept for uploads that have one
 * (portions.h). */
void engine_enrols(struct engine *e, bool any);

/* The signed document in force, to be given back with engine_document_drop;
 * NULL if there is none yet. All who hold it share its bytes: strangers may ask
 * for it on every connection at once. Nobody changes them. */
uint8_t *engine_document_hold(struct engine *e, size_t *len);
void engine_document_drop(void *bytes); /* NULL is allowed */

struct engine_status {
    uint32_t day;            /* today, as the engine was told */
    uint32_t clock_day;      /* what the wall clock says */
    bool clock_jumped;       /* it is not believed */
    bool clock_behind;       /* and new uploads are refused */
    uint64_t seq, folded;    /* commits; commits folded */
    uint64_t waiting_bytes;  /* batches not folded yet */
    uint64_t ids, ids_bytes; /* of which some are in runs on the disk: */
    uint64_t ids_runs, ids_disk_bytes;
    uint64_t ids_refused; /* uploads since the start: their share was used up */
    bool ids_over;        /* the last of them: nobody's is left of the day's */
    uint64_t tally_bytes;
    uint64_t tally_need; /* of the tasks in force, once all days are kept */
    uint64_t undated;  /* entries with days that are counted without a tally */
    uint64_t refusing; /* entries whose tallies do not fit into memory */
    uint64_t verdicts[INTAKE_VERDICTS]; /* uploads since the start */
    uint64_t reports, nulls;            /* counted since the start */
};

void engine_status(struct engine *e, struct engine_status *out);

/* Uploads of an entry by epoch, oldest first, in all time: at most room of
 * them, the latest; returns how many there are. Epoch 0 are reports of a tally
 * that was merged in and does not say its rounds, ENGINE_MERGED and an epoch
 * those of one that does: neither is of a day. */
#define ENGINE_MERGED (1u << 24)

/* The count of an entry that is retired stands under this epoch in a store. */
#define ENGINE_RETIRED (2u << 24)

size_t engine_counts(struct engine *e, uint32_t entry, struct store_count *out,
                     size_t room);

static inline bool engine_is_day(const struct store_count *count)
{
    return count->epoch != 0 && count->epoch < ENGINE_MERGED;
}

/*
 * Batches of an entry that shufflers delivered, by the epoch of the batch,
 * ascending; those that had no report, and nulls and envelopes that did not
 * open, are counted apart. *out is to be freed. `folded`: only what engine_copy
 * gives at this moment, by the thread that folds; else any thread.
 */
struct engine_sum { /* as hsy_batches; zeros: there are none */
    uint64_t batches, least, reports;
};

struct engine_batches {
    uint32_t epoch;
    struct engine_sum sum;
    uint64_t empty, nulls, unopened;
};

hsy_status engine_batches(struct engine_batches **out, size_t *n,
                          struct engine *e, uint32_t entry, bool folded,
                          hsy_error *err);

void engine_sum_add(struct engine_sum *sum, const struct engine_sum *more);

/* Batches of a task, on its terms, as a list; an empty one if there are none,
 * or if the task is not shuffled. */
void engine_batches_say(struct batches *to, const hsy_task *task,
                        const struct engine_sum *sum);

/* Of which rounds the reports are that engine_copy gives at this moment
 * (docs/longitudinal.md), and in which batches they came: by the thread that
 * folds. rounds is the caller's to clear. */
struct engine_rounds {
    struct rounds rounds;
    uint64_t unknown;       /* reports of a merged tally that did not say */
    struct batches batches; /* of shufflers; what is not in them was merged */
};

hsy_status engine_rounds(struct engine_rounds *out, struct engine *e,
                         const struct roster_entry *is, uint32_t first,
                         uint32_t last, hsy_error *err);

/* The same of all that was counted, folded or not; of some days or of all; but
 * not the batches. Any thread. */
hsy_status engine_rounds_counted(struct engine_rounds *out, struct engine *e,
                                 const struct roster_entry *is, uint32_t first,
                                 uint32_t last, hsy_error *err);

/* The same of counts that somebody has kept, without batches. Any thread. */
hsy_status engine_rounds_of(struct engine_rounds *out,
                            const struct roster_entry *is,
                            const struct store_count *counts, size_t n,
                            hsy_error *err);

/* What they make of the tally; a bound where some are unknown. HSY_E_EMPTY
 * without reports. */
hsy_status engine_rounds_attend(hsy_attendance *out,
                                const struct engine_rounds *r,
                                const hsy_task *task, hsy_error *err);

/* ---- The half that admits ------------------------------------------------ */

/* One request's uploads. */
struct submission {
    struct submission *next;
    struct intake in;
    uint8_t token[16];  /* an enrolment token's one-way name */
    uint32_t quota;     /* reports an epoch it may bring; 0: there is none */
    hsy_status outcome; /* HSY_OK: the verdicts stand, and are durable */
    uint64_t handed;    /* when it was handed in; workers.c sets it */
    void (*done)(struct submission *s); /* called by workers.c, once */
};

/*
 * Decide about all uploads of a list of submissions and append what is new, as
 * one commit. HSY_OK: every outcome is set. HSY_E_FULL: nothing was changed,
 * every outcome is HSY_E_FULL. HSY_E_IO: the store is dead, no outcome may be
 * acknowledged; stop.
 */
hsy_status engine_admit(struct engine *e, struct submission *list,
                        hsy_error *err);

/* A document, its signature checked by the caller: only a later version, or
 * HSY_E_OLD. The very bytes that are in force change nothing. */
hsy_status engine_set_document(struct engine *e, const uint8_t *bytes,
                               size_t len, hsy_error *err);

/* A tally file to be added to an entry's; the same file again is
 * HSY_E_REFUSED, of another scheme HSY_E_MISMATCH. */
hsy_status engine_merge(struct engine *e, uint32_t entry, const uint8_t *bytes,
                        size_t len, hsy_error *err);

/*
 * A batch that a shuffler delivered, looked through by the caller: its heads,
 * its digest, that no two envelopes are equal. Items are what they are kept as:
 * at a collector the packed report of each envelope that opened (STORE_REPORTS;
 * of a null one anything), at a shuffler the envelopes (STORE_SEALED).
 */
struct engine_delivery {
    uint8_t id[STORE_BATCH_ID], digest[STORE_DIGEST];
    uint32_t entry, epoch;
    const uint8_t *heads;
    size_t heads_len;
    enum store_batch_type type;
    size_t n, item; /* how many, and the bytes of each */
    const uint8_t *items;
    const uint8_t (*names)[16]; /* BLAKE2b-128 of each envelope as it came */
    const bool *null;           /* which are null; NULL: none */
    uint64_t unopened;          /* envelopes that are not among them */
    struct store_mix *mix;      /* put with it, NULL: none; `through` is set */

    bool known; /* it came before: nothing was changed, and this is what became
                   of it then */
    uint64_t taken, nulls, again;
};

/*
 * Take it as one commit, or find that it is here. HSY_OK: it is durable.
 * HSY_E_MISMATCH: another batch of its id is here; HSY_E_REFUSED: too few are
 * new, the task is retired, or the epoch is before it; HSY_E_BUSY: of an epoch
 * after today; HSY_E_FULL: try again later. Then nothing was
 * changed.
 */
hsy_status engine_receive(struct engine *e, struct engine_delivery *d,
                          hsy_error *err);

/*
 * What time it is, once a second or so: by the wall clock (since 1970, UTC),
 * and by one that goes on steadily from any moment. Closes epochs that are
 * over.
 *
 * A day that is the last one, or that the wall clock comes to by gaining no
 * more than a day and its drift on the steady one since the last trial, is
 * believed. One further ahead is on trial: only those days close that are over
 * by the steady clock too, and the days that are open by either reading are
 * taken, until both clocks have gone on together for ENGINE_TRIAL seconds and
 * most of the uploads that came in meanwhile are of days which only the new
 * reading has. Then all epochs that are over close together. A start has had no
 * trial: the first day that it comes to is on trial, though clock_jumped does
 * not say so for half a day, and is believed too if nothing comes in. One more
 * than clock_days ahead is never believed, and only the days of the old reading
 * are taken. So at any time at most grace_days + clock_days + 2 epochs have
 * ids of uploads, and ENGINE_REPLAY_DAYS() more those of batches.
 *
 * If today is closed already the clock, or the one that closed it, is wrong:
 * new uploads are INTAKE_CLOCK. With accept_clock the first time that is told
 * is believed: ahead, and behind as far as no epoch opens again in which
 * anything was counted, for its ids are forgotten.
 *
 * HSY_E_FULL: nothing was changed, tell it again later.
 */
#define ENGINE_TRIAL 120u /* seconds */
struct engine_time {
    uint64_t wall, steady; /* seconds */
};
hsy_status engine_tell(struct engine *e, struct engine_time now,
                       hsy_error *err);

/* A figure to be kept for its day, and all that were. */
hsy_status engine_keep(struct engine *e, const struct store_figure *figure,
                       hsy_error *err);
hsy_status engine_figures(struct engine *e, const struct store_reader *to,
                          hsy_error *err);

/*
 * A task's release is over: nothing more is taken (INTAKE_CLOSED) or merged,
 * and at the next checkpoint its tallies leave memory and store. Its counts and
 * the figures that were kept stay. HSY_E_REFUSED while the document in force
 * asks it; what is retired already is HSY_OK.
 */
hsy_status engine_retire(struct engine *e, uint32_t entry, hsy_error *err);
bool engine_is_retired(struct engine *e, uint32_t entry); /* any thread */

/* The same of a release of a task, or of all (0); *n: how many were not retired
 * before. HSY_E_UNKNOWN if there is none. */
hsy_status engine_retire_task(struct engine *e, const char *task,
                              uint32_t release, uint64_t *n, hsy_error *err);

/* Retire all that took its last uploads before a day, and let the tallies of
 * days before it go; *n: how many were retired. HSY_E_RANGE if that day is not
 * closed. */
hsy_status engine_purge(struct engine *e, uint32_t before, uint64_t *n,
                        hsy_error *err);

/* Forget the ids of an epoch's null uploads, which fold nothing; *n. The engine
 * counts nothing more after that: close it, and open it again. */
hsy_status engine_forget_nulls(struct engine *e, uint32_t epoch, uint64_t *n,
                               hsy_error *err);

/* Housekeeping in the store, a little; *more if it is not done. */
hsy_status engine_tidy(struct engine *e, bool *more, hsy_error *err);

/* ---- The half that folds ------------------------------------------------- */

/* Fold what waits, a bounded amount of whole commits; *more if something is
 * left. */
hsy_status engine_fold(struct engine *e, bool *more, hsy_error *err);

/* Give memory back that is free, if days have closed or tallies have gone. */
void engine_trim(struct engine *e);

/* Begin to write all tallies that have changed. */
void engine_checkpoint(struct engine *e);

/* The same of what is retired, and of nothing else that has changed: for who
 * has opened a store to forget something, and cannot know which days are kept.
 */
void engine_checkpoint_retired(struct engine *e);

/* Write up to `bytes` of what was begun; *more if something is left. */
hsy_status engine_write(struct engine *e, size_t bytes, bool *more,
                        hsy_error *err);

/* Uploads of an entry by epoch as engine_copy gives them at this moment: those
 * that are not folded yet are none. *out is to be freed. */
hsy_status engine_folded(struct store_count **out, size_t *n, struct engine *e,
                         uint32_t entry, hsy_error *err);

/* Keep the store's logs short, and when nobody waits (quiet) do what is left of
 * housekeeping, a little; *more if there is something to do then. */
hsy_status engine_settle(struct engine *e, enum store_pace pace, bool *more,
                         hsy_error *err);

/* Hold some room on the disk for when it is full. */
hsy_status engine_reserve(struct engine *e, hsy_error *err);

/* Copy a tally of an entry: all of it (first and last 0), or the sum of the
 * epochs first to last. words: as many as the entry has. HSY_E_EMPTY if no
 * tally of these epochs is kept. */
hsy_status engine_copy(struct engine *e, uint32_t entry, uint32_t first,
                       uint32_t last, int64_t *words, hsy_error *err);

#endif
