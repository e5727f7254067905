/*
 * runs.h - ids on the disk: files of sorted ids that never change.
 *
 * A run holds ids of one epoch, those of null uploads or the others, and a
 * filter that stays in memory: two bytes of each id in the order of the file,
 * and where each bucket of that order begins. So a lookup that finds two such
 * bytes knows which page to read; one of an id that is not there reads a page
 * once in a thousand times. docs/formats.md has the bytes.
 *
 * A run that is open may be used by several threads.
 */
#ifndef SERVER_STORE_RUNS_H
#define SERVER_STORE_RUNS_H

#include "server/store/store.h"

#define RUN_PAGE 4096u
#define RUN_IDS 255u /* of a page */
#define RUN_NAME 16u /* bytes that name the store it belongs to */
#define RUN_FILE 40u /* characters of a file's name, at most */

struct run;

/* What a store knows of a run. */
struct run_is {
    uint64_t number; /* no two runs of a store ever have the same */
    uint32_t epoch;
    bool null;
    uint64_t count;
    uint32_t check; /* of the whole file but its last sixteen bytes */
    uint8_t name[RUN_NAME];
};

/* Its file: by epoch, kind and number. */
void run_file(char file[RUN_FILE], const struct run_is *is);

/* Open a run of a directory, with one holder. Its head and end must say what
 * `is` says and it must be as long as it should, else HSY_E_DAMAGED; the pages
 * are looked at when they are used. A filter that has changed is made again
 * from the pages. err->at is the number of one that cannot be opened. */
hsy_status run_open(struct run **out, int dir, const struct run_is *is,
                    hsy_error *err);
struct run *run_hold(struct run *r);
void run_drop(struct run *r);        /* NULL is allowed */
bool run_alone(const struct run *r); /* nobody else holds it */

const struct run_is *run_is(const struct run *r);
uint64_t run_memory(const struct run *r); /* bytes */
uint64_t run_length(const struct run *r); /* bytes of its file */

/* Whether an id is there, with what was kept of its content. HSY_E_IO or
 * HSY_E_DAMAGED if that cannot be said. */
hsy_status run_find(const struct run *r, const struct store_id *id, bool *there,
                    struct store_id *found);

/* For who looks for many ids. */
const struct run_filter *run_filter(const struct run *r);

/* Page k, from 0 on: *n ids. Each page is held against its checksum. */
hsy_status run_page(const struct run *r, uint64_t k,
                    struct store_id ids[RUN_IDS], size_t *n);
uint64_t run_pages(const struct run *r);

/* Read a piece of the file as it is; for a copy. */
hsy_status run_bytes(const struct run *r, uint64_t at, void *to, size_t len);

/* All of it against its checksums and its order: HSY_E_DAMAGED. Each page's ids
 * are handed on, if `each` is not NULL. */
hsy_status run_look(const struct run *r,
                    hsy_status (*each)(void *ctx, const struct store_id *ids,
                                       size_t n),
                    void *ctx);

/* ---- Filters (runs_filter.c) --------------------------------------------- */

struct run_filter {
    unsigned bits;   /* of an id, that choose its bucket */
    uint64_t count;  /* ids that were added */
    size_t begun;    /* the last bucket that has its place */
    uint32_t *first; /* by bucket, and one more: the place of its first id */
    uint16_t *marks; /* by place; some more that are zero */
};

/* Memory for so many ids; false if there is none. */
bool run_filter_make(struct run_filter *f, uint64_t count);
void run_filter_clear(struct run_filter *f);
unsigned run_filter_bits(uint64_t count);
uint64_t run_filter_bytes(uint64_t count); /* in a file */

/* Add the next id in order; when all are there, end. */
void run_filter_add(struct run_filter *f, const struct store_id *id);
void run_filter_end(struct run_filter *f);

/* Fetch what a lookup reads: a bucket's border, then the bucket. */
void run_filter_near(const struct run_filter *f, const struct store_id *id);
void run_filter_nearer(const struct run_filter *f, const struct store_id *id);

/* The first place from `at` on that may have the id; false: none has. */
bool run_filter_next(const struct run_filter *f, const struct store_id *id,
                     uint64_t *at);

/* ---- Writing (runs_write.c) ---------------------------------------------- */

/* A run on its way. It is written through SQLite's file system, as everything
 * of a store is, and its name means nothing before a store says so. All return
 * a code of SQLite. */
struct run_writer;

/* A file of a directory, given by its path; it has is->count ids. */
int run_write_begin(struct run_writer **out, const char *directory,
                    const struct run_is *is);
int run_write_add(struct run_writer *w, const struct store_id *ids, size_t n);
/* Make durable what is there, so that the last sync is short. */
int run_write_sync(struct run_writer *w);
/* All ids are there: write some of the filter; *more: not all. */
int run_write_rest(struct run_writer *w, bool *more);
/* All that is left: it is durable, with its name. is->check is set. */
int run_write_end(struct run_writer *w, struct run_is *is);
/* The filter of what was written; the caller's to clear. */
void run_write_take(struct run_writer *w, struct run_filter *filter);
void run_write_close(struct run_writer *w);            /* NULL is allowed */
uint64_t run_write_memory(const struct run_writer *w); /* bytes, by now */

/* Open what was just written, with its filter, which is taken in any case. */
hsy_status run_adopt(struct run **out, int dir, const struct run_is *is,
                     struct run_filter *filter, hsy_error *err);

/* Put ids into their order, that of names, which are keyed hashes. False: out
 * of memory. And the same for qsort. */
bool run_sort(struct store_id *ids, size_t n);
int run_order(const void *a, const void *b);

#endif
