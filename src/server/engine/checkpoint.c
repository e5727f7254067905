/*
 * checkpoint.c - tallies are written to the store, a little at a time.
 *
 * One entry after the other is frozen and its changed chunks are written. One
 * round for all of them, or for as many as are WRITE_ROUND bytes, puts them in
 * the place of the old: a round costs two syncs, of however many entries it is.
 * Then the batches that waited are folded. Should the disk be full the entries
 * stay frozen and the same chunk is tried again: a round is never begun anew
 * with other contents, so chunks of two moments are never mixed.
 *
 * Whether a chunk has changed is seen by its mark, a BLAKE2b of its words.
 * Strangers have a hand in the words, but two chunks of one mark would be a
 * collision of BLAKE2b with 16 bytes: 2^64 tries of choosing them freely, and
 * here one of the two is already written. Zeros have the mark zero, and that is
 * compared itself: untouched memory is neither hashed nor written.
 */
#include "server/engine/internal.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_CHUNKS 16u /* chunks of a call of the store */
#define WRITE_LOOK 16u   /* bytes looked at for each that may be written */
#define WRITE_ROUND ((size_t)16 << 20)
#define WRITE_DROPS 64u /* tallies forgotten at a time */

/* ---- Chunks -------------------------------------------------------------- */

size_t engine_chunks(const struct engine_entry *x)
{
    return (x->is->words + STORE_CHUNK - 1) / STORE_CHUNK;
}

size_t engine_chunk_words(const struct engine_entry *x, size_t chunk)
{
    const size_t left = x->is->words - chunk * STORE_CHUNK;

    return left < STORE_CHUNK ? left : STORE_CHUNK;
}

void engine_mark(uint8_t mark[ENGINE_MARK], const int64_t *words, size_t n)
{
    int64_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= words[i];
    if (any == 0)
        memset(mark, 0, ENGINE_MARK);
    else
        hsy_blake2b(mark, ENGINE_MARK, words, n * sizeof *words, NULL, 0);
}

/* ---- One entry ----------------------------------------------------------- */

/* Chunks of one tally that have changed, on their way to the store. */
struct write_run {
    struct store_chunk chunks[WRITE_CHUNKS];
    uint8_t marks[WRITE_CHUNKS][ENGINE_MARK];
    size_t n;
};

/* Their marks stand only once the store has them. */
static hsy_status write_flush(struct engine *e, struct write_run *run,
                              hsy_error *err)
{
    const struct fold *f = &e->fold;
    const struct store_tally tally = {.entry = f->writing->is->number,
                                      .epoch = f->tally->epoch,
                                      .words = f->writing->is->words};
    hsy_status st;

    if (run->n == 0)
        return HSY_OK;
    st = e->store->ops->chunks(e->store, &tally, run->chunks, run->n, err);
    for (size_t i = 0; st == HSY_OK && i < run->n; i++)
        memcpy(f->tally->marks[run->chunks[i].place], run->marks[i],
               ENGINE_MARK);
    run->n = 0;
    return st;
}

/* Look at one chunk; *written grows by what goes to the store. */
static void write_look(const struct fold *f, struct write_run *run,
                       size_t chunk, size_t *written)
{
    const size_t n = engine_chunk_words(f->writing, chunk);
    const int64_t *words = f->tally->words + chunk * STORE_CHUNK;
    uint8_t *mark = run->marks[run->n];

    engine_mark(mark, words, n);
    if (memcmp(mark, f->tally->marks[chunk], ENGINE_MARK) == 0)
        return;
    run->chunks[run->n++] =
        (struct store_chunk){.place = (uint32_t)chunk, .words = words, .n = n};
    *written += n * sizeof *words;
}

/* Up to `left` bytes of the tally at hand; its place moves with what the store
 * has taken. */
static hsy_status write_tally(struct engine *e, size_t *left, hsy_error *err)
{
    struct fold *f = &e->fold;
    const size_t chunks = engine_chunks(f->writing);
    const size_t bytes = STORE_CHUNK * sizeof(int64_t);
    struct write_run run = {.n = 0};
    size_t chunk = f->chunk, written = 0, looked = 0;
    hsy_status st;

    while (chunk < chunks && run.n < WRITE_CHUNKS && written < *left &&
           looked < WRITE_LOOK * *left) {
        write_look(f, &run, chunk++, &written);
        looked += bytes;
    }
    st = write_flush(e, &run, err);
    if (st != HSY_OK)
        return st;
    f->chunk = chunk;
    f->written += written;
    written += looked / WRITE_LOOK;
    *left -= written < *left ? written : *left;
    return HSY_OK;
}

/* The next tally that was touched, from t on. */
static struct engine_tally *write_next(struct engine_tally *t)
{
    while (t != NULL && !t->touched)
        t = t->next;
    return t;
}

static struct engine_tally *write_first(struct engine *e,
                                        const struct engine_entry *x)
{
    struct engine_tally *t;

    pthread_mutex_lock(&e->lock);
    t = x->tallies;
    pthread_mutex_unlock(&e->lock);
    return t;
}

/* ---- Rounds -------------------------------------------------------------- */

/* The round of an entry is in force. */
static void write_stands(struct engine *e, struct engine_entry *x)
{
    for (struct engine_tally *t = write_first(e, x); t != NULL; t = t->next)
        t->touched = false;
    x->changed = x->written = x->frozen = false;
}

/* Entries that wait for their round; the caller frees them. */
static hsy_status write_waiting(struct engine *e, struct store_round **out,
                                size_t *n, hsy_error *err)
{
    struct engine_entry *x;
    size_t i = 0;

    for (*n = 0; (x = engine_entry_of(e, i)) != NULL; i++)
        *n += x->written;
    *out = calloc(*n + 1, sizeof **out);
    if (*out == NULL)
        return host_nomem(err);
    for (*n = i = 0; (x = engine_entry_of(e, i)) != NULL; i++)
        if (x->written)
            (*out)[(*n)++] = (struct store_round){x->is->number, x->through};
    return HSY_OK;
}

/* One round for all that was written. */
static hsy_status write_round(struct engine *e, hsy_error *err)
{
    struct store_round *rounds;
    size_t n;
    hsy_status st = write_waiting(e, &rounds, &n, err);
    struct engine_entry *x = NULL;

    if (st == HSY_OK && n != 0)
        st = e->store->ops->rounds(e->store, rounds, n, err);
    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        x = engine_entry_of(e, rounds[i].entry);
        write_stands(e, x);
    }
    if (x != NULL)
        engine_thaw(e, x); /* what waited for any of them */
    if (st == HSY_OK)
        e->fold.written = 0;
    free(rounds);
    return st;
}

/* ---- Days that are no longer kept ---------------------------------------- */

/* Tallies of days that are too old. */
struct write_old {
    struct store_tally is[WRITE_DROPS];
    struct engine_tally *tallies[WRITE_DROPS];
    size_t n;
};

static void write_find_old(struct engine *e, const struct engine_entry *x,
                           struct write_old *old)
{
    pthread_mutex_lock(&e->lock);
    for (struct engine_tally *t = x->tallies; t != NULL && old->n < WRITE_DROPS;
         t = t->next) {
        if (engine_keeps_tally(e, x, t))
            continue;
        old->is[old->n] = (struct store_tally){
            .entry = x->is->number, .epoch = t->epoch, .words = x->is->words};
        old->tallies[old->n++] = t;
    }
    pthread_mutex_unlock(&e->lock);
}

static void write_unlink(struct engine *e, struct engine_entry *x,
                         struct engine_tally *old)
{
    struct engine_tally **at = &x->tallies;

    pthread_mutex_lock(&e->lock);
    while (*at != old)
        at = &(*at)->next;
    engine_tally_drop(e, x, at);
    e->trim = true;
    pthread_mutex_unlock(&e->lock);
}

static hsy_status write_drop(struct engine *e, const struct write_old *old,
                             hsy_error *err)
{
    hsy_status st = old->n == 0
                        ? HSY_OK
                        : e->store->ops->drop(e->store, old->is, old->n, err);

    for (size_t i = 0; st == HSY_OK && i < old->n; i++)
        write_unlink(e, engine_entry_of(e, old->is[i].entry), old->tallies[i]);
    return st;
}

/* After a round, so that no batch of such a day is left in the store. */
static hsy_status write_drops(struct engine *e, hsy_error *err)
{
    struct write_old old;
    hsy_status st;

    do {
        struct engine_entry *x;

        old.n = 0;
        for (size_t i = 0; (x = engine_entry_of(e, i)) != NULL; i++)
            if (x->chosen && !x->changed)
                write_find_old(e, x, &old);
        st = write_drop(e, &old, err);
    } while (st == HSY_OK && old.n == WRITE_DROPS);
    return st;
}

/* ---- All entries --------------------------------------------------------- */

/* What was written stands, and is not written again by this checkpoint. */
static hsy_status write_finish(struct engine *e, hsy_error *err)
{
    struct engine_entry *x;
    hsy_status st = write_round(e, err);

    if (st == HSY_OK)
        st = write_drops(e, err);
    for (size_t i = 0; st == HSY_OK && (x = engine_entry_of(e, i)) != NULL; i++)
        x->chosen &= x->changed;
    return st;
}

void engine_checkpoint(struct engine *e)
{
    struct engine_entry *x;

    for (size_t i = 0; (x = engine_entry_of(e, i)) != NULL; i++)
        x->chosen = true;
}

void engine_checkpoint_retired(struct engine *e)
{
    struct engine_entry *x;

    for (size_t i = 0; (x = engine_entry_of(e, i)) != NULL; i++)
        x->chosen = x->retired || !x->changed;
}

/* Freeze the next entry that has changed, if none is being written. */
static void write_choose(struct engine *e)
{
    struct fold *f = &e->fold;
    struct engine_entry *x;

    for (size_t i = 0;
         f->writing == NULL && (x = engine_entry_of(e, i)) != NULL; i++) {
        if (!x->chosen || !x->changed || x->written)
            continue;
        x->frozen = true;
        f->writing = x;
        f->tally = write_next(write_first(e, x));
        f->chunk = 0;
    }
}

/* A step of the entry that is being written. */
static hsy_status write_step(struct engine *e, size_t *bytes, hsy_error *err)
{
    struct fold *f = &e->fold;

    if (f->tally == NULL) { /* all of it is with the store */
        f->writing->written = true;
        f->writing = NULL;
        return f->written < WRITE_ROUND ? HSY_OK : write_finish(e, err);
    }
    if (f->chunk != engine_chunks(f->writing))
        return write_tally(e, bytes, err);
    f->tally = write_next(f->tally->next);
    f->chunk = 0;
    return HSY_OK;
}

hsy_status engine_write(struct engine *e, size_t bytes, bool *more,
                        hsy_error *err)
{
    const struct fold *f = &e->fold;
    hsy_status st = HSY_OK;

    write_choose(e);
    while (st == HSY_OK && f->writing != NULL && bytes != 0) {
        st = write_step(e, &bytes, err);
        write_choose(e);
    }
    if (st == HSY_OK && f->writing == NULL)
        st = write_finish(e, err);
    *more = st != HSY_OK || f->writing != NULL;
    return st;
}

hsy_status engine_settle(struct engine *e, enum store_pace pace, bool *more,
                         hsy_error *err)
{
    return e->store->ops->settle(e->store, pace, more, err);
}

hsy_status engine_reserve(struct engine *e, hsy_error *err)
{
    return e->store->ops->reserve == NULL
               ? HSY_OK
               : e->store->ops->reserve(e->store, err);
}
