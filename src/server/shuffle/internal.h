/* internal.h - what the files of a mixer share. */
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

/* Append to rows, which has room for all there are, what becomes of those that
 * wait if this one does: what has waited too long expires. */
hsy_status mixer_expire(const struct mixer *m, const struct mixer_task *t,
                        const struct store_mix *waits, struct store_mix *rows,
                        size_t *n, hsy_error *err);

/* ---- mixer_files.c ------------------------------------------------------- */

#define MIXER_NAME 33u /* hexadecimal digits of an id */

/* The path of a file of `mixed`, to be freed; NULL: out of memory. */
char *mixer_path(const struct mixer *m, const char *name);
void mixer_name(char name[MIXER_NAME], const uint8_t id[STORE_BATCH_ID]);

/* Make the directory; hold its files against the rows, and remove those of no
 * row. */
hsy_status mixer_files_open(struct mixer *m, hsy_error *err);
/* Remove the file of a row; that there is none is no failure. */
hsy_status mixer_file_remove(const struct mixer *m, const struct store_mix *row,
                             hsy_error *err);

/* Write and read all of it. HSY_E_FULL, HSY_E_IO. */
hsy_status mixer_write(const struct mixer *m, int fd, const void *bytes,
                       size_t len, uint64_t at, hsy_error *err);
hsy_status mixer_read(int fd, void *bytes, size_t len, uint64_t at,
                      hsy_error *err);
void mixer_moment(const struct mixer *m);

/* ---- mix.c --------------------------------------------------------------- */

/* Mix the batch of a row that is closed, and put the rows that follow. */
hsy_status mixer_mix(struct mixer *m, const struct store_mix *closed,
                     hsy_error *err);

#endif
