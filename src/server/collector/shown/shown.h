/*
 * shown.h - what readers are shown of a task: a generation, not the live tally.
 *
 * Who may subtract two answers must not find a few reports between them. So
 * reports become visible in *lots*: each lot has at least min_reports of them
 * (devices, where a task repeats), and is shown or held back as a whole. All
 * that a reader can fetch (tally, estimates, comparisons, history,
 * counts) is a sum of whole lots; so is any difference of two answers, whenever
 * they were fetched.
 *
 * Days of sending join into blocks: a block ends with the day on which it has
 * its first lot. What comes later for its days is the next lot of the block, or
 * is held back until it is one; when the days have closed, what is left of all
 * blocks becomes a lot of no block, as do merged tallies, which are of no day.
 * Ranges begin and end with blocks.
 *
 * A generation is durable before anybody sees it (shown.db, or the database
 * that several nodes share), so that a restart shows the same one and not
 * another. It is kept there and read when it is asked for; only its counts are
 * in memory.
 */
#ifndef SERVER_COLLECTOR_SHOWN_SHOWN_H
#define SERVER_COLLECTOR_SHOWN_SHOWN_H

#include "server/counting/counting.h"

struct shown;
struct shown_keep;

/* first and last day of a block; its reports that are shown. */
struct shown_block {
    uint32_t first, last;
    bool over; /* nothing more is added to it: what comes is of no block */
    uint64_t reports, nulls;
};

struct shown_options {
    const char *data;        /* the directory */
    struct shown_keep *keep; /* instead of it (shown_keep.h); NULL: shown.db.
                                It is closed with what is shown, and when that
                                cannot be opened */
    struct engine *engine;
    struct counting *counting; /* NULL: none is renewed */
    uint64_t seconds;   /* between two moments at which generations may be
                           made; 0: whenever there is a lot */
    uint64_t day_words; /* as the engine's: */
    uint64_t keep_days;
};

/* HSY_E_FORMAT: shown.db is damaged, or of a newer hearsay; HSY_E_DAMAGED: so
 * is the database. */
hsy_status shown_open(struct shown **out, const struct shown_options *o,
                      hsy_error *err);
void shown_close(struct shown *s); /* NULL is allowed */

/*
 * Whether a moment for new generations has come since the last call; by one
 * thread. The moments lie on a grid of `seconds` of the clock that goes on
 * since the machine was started: neither what arrives nor who asks moves one,
 * so that when a generation comes tells nothing but that a lot was full by
 * then. A restart waits for the next. Nodes that share a keep have one grid, by
 * the time of day: the first makes the generation, the others take it over.
 */
bool shown_moment(struct shown *s);

/* The next generation of an entry, if there is a lot. Waits for
 * the folder and the disk: not on a loop's thread. A failure is told once, then
 * it is HSY_E_BUSY until one succeeds. */
hsy_status shown_renew(struct shown *s, const struct roster_entry *is,
                       hsy_error *err);

/* Show what other nodes have put; about once a second, by one thread: a keep of
 * this machine's has none. Waits for the database. A failure is told once. */
hsy_status shown_refresh(struct shown *s, hsy_error *err);

/* Whether there may be a lot; any thread. */
bool shown_due(struct shown *s, const struct roster_entry *is);

/* A number that is another in each generation; 0: there is none yet. This and
 * the next three: any thread, at once. */
uint64_t shown_generation(struct shown *s, uint32_t entry);

/* Reports, and nulls rounded down to a multiple of `least`. */
struct store_count shown_count(struct shown *s, uint32_t entry, uint64_t least);

/* Devices that are in it at least, of the blocks from first to last (0: all).
 */
uint64_t shown_devices(struct shown *s, const struct roster_entry *is,
                       uint32_t first, uint32_t last);

/* The blocks of an entry, oldest first: *out is to be freed. `kept` alone:
 * those whose tallies can still be asked for. */
hsy_status shown_blocks(struct shown *s, const struct roster_entry *is,
                        bool kept, struct shown_block **out, size_t *n);

/* A copy of the tally: of all, or of blocks from first to last; words: as many
 * as the entry has. span: its days, and of all how many reports are of one;
 * others were merged in. HSY_E_EMPTY if there is none. */
hsy_status shown_copy(struct shown *s, const struct roster_entry *is,
                      uint32_t first, uint32_t last, int64_t *words,
                      struct engine_rounds *of, struct shown_block *span,
                      hsy_error *err);

/* Reports of a tally of an entry, from its words. */
uint64_t shown_reports(const struct roster_entry *is, int64_t *words);

/* Forget the tallies of what the engine has retired, and of blocks that end
 * before a day (0: none); their counts stay. Waits for the disk. */
hsy_status shown_forget(struct shown *s, uint32_t before, hsy_error *err);

/* Make no generation from now on, or again; of a NULL nothing. */
void shown_pause(struct shown *s, bool pause);

/* Copy the file into a directory, as of one moment. HSY_E_REFUSED: there is
 * none. */
hsy_status shown_backup(struct shown *s, const char *directory, hsy_error *err);

#endif
