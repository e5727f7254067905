/* internal.h - what the files of a mixer and of an inbox share. */
#ifndef SERVER_SHUFFLE_INTERNAL_H
#define SERVER_SHUFFLE_INTERNAL_H

#include "server/shuffle/mixer.h"

struct mixer {
    struct mixer_options options;
    char *directory;          /* owned: that of mixed files */
    struct mixer_task *tasks; /* owned */
    size_t ntasks;
    struct store_mix *rows; /* owned; in order */
    size_t nrows, rows_room;
    uint32_t day;    /* of the last mixer_decide */
    uint32_t ended;  /* the day on which periods that ended were decided last */
    uint32_t forgot; /* rows of `received` of epochs before this one */
};

/* ---- mixer.c ------------------------------------------------------------- */

const struct mixer_task *mixer_task_of(const struct mixer *m, uint32_t entry);

/* Put rows into the store as one transaction, and then into memory. There is
 * room for n more before: mixer_room. */
hsy_status mixer_put(struct mixer *m, const struct store_mix *rows, size_t n,
                     hsy_error *err);

/* The envelopes of a row that says more than WAITING. */
struct store_set mixer_set(const struct mixer *m, const struct mixer_task *t,
                           const struct store_mix *row);

/* Whether a row is of a later hop and waits: its envelopes are opened, and are
 * a file. The receipt of such a row begins with the day since which it waits,
 * the period of its envelopes, and how many of its batch did not open. */
bool mixer_kept(const struct store_mix *row);

/* Whether an epoch is the last of its period. */
bool mixer_ends_period(uint32_t epoch);

/* Whether a row of an entry is before an epoch, in its period. */
bool mixer_before(const struct store_mix *row, uint32_t entry, uint32_t epoch);

/* Append to rows, which has room for all there are, what becomes of those that
 * wait if this one does: what has waited too long expires. */
hsy_status mixer_expire(const struct mixer *m, const struct mixer_task *t,
                        const struct store_mix *waits, struct store_mix *rows,
                        size_t *n, hsy_error *err);

/* Append to rows those that wait at a first hop before a row of their entry and
 * period, as gone from the list: how many. */
size_t mixer_let_go(const struct mixer *m, const struct store_mix *before,
                    struct store_mix *rows);

/* ---- mixer_files.c ------------------------------------------------------- */

/* Make the directory; hold its files against the rows, and remove those of no
 * row. */
hsy_status mixer_files_open(struct mixer *m, hsy_error *err);
/* Open the file of a row for reading; -1 with errno. */
int mixer_file_open(const struct mixer *m, const uint8_t id[STORE_BATCH_ID]);
/* Remove the file of a row; that there is none is no failure. */
hsy_status mixer_file_remove(const struct mixer *m, const struct store_mix *row,
                             hsy_error *err);

/* Write all of it. HSY_E_FULL, HSY_E_IO. */
hsy_status mixer_write(const struct mixer *m, int fd, const void *bytes,
                       size_t len, uint64_t at, hsy_error *err);
hsy_status mixer_read(int fd, void *bytes, size_t len, uint64_t at,
                      hsy_error *err);
void mixer_moment(const struct mixer *m);

/* The path of a batch's file in a directory, to be freed; NULL: out of memory.
 */
char *batch_path_of(const char *directory, const uint8_t id[STORE_BATCH_ID]);

/* Write all of it; false with errno. */
bool batch_write(int fd, const void *bytes, size_t len, uint64_t at);

/* HSY_E_FULL if that is what errno says, else HSY_E_IO with msg. */
hsy_status batch_file_fail(hsy_error *err, uint32_t field, const char *msg);

/* ---- mix.c --------------------------------------------------------------- */

/* Mix the batch of a row that is closed, and put the rows that follow. */
hsy_status mixer_mix(struct mixer *m, const struct store_mix *closed,
                     hsy_error *err);

#endif
