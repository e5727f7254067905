/*
 * ids.c - extendible hashing: an epoch is a directory of small tables.
 *
 * The first bits of a name choose a part, the last bits a place in it, from
 * which one looks on in turn. A part that is 7/8 full is split in two by one
 * more bit; the directory doubles when a part has used all its bits. So the
 * longest single step moves one part (IDS_PART names) and, rarely, copies the
 * pointers of a directory; nothing is ever rehashed as a whole.
 *
 * Names are keyed hashes, so parts fill evenly: all of them hold between 7/16
 * and 7/8 of their places but for chance, 37 bytes a name at most on average.
 * The deepest part has log2 of the number of parts plus a few bits.
 */
#include "ids.h"

#include <stdlib.h>
#include <string.h>

#define IDS_PART 2048u /* places of a part: a power of two */
#define IDS_FULL (IDS_PART / 8 * 7)
#define IDS_DEPTH 40u /* bits of a directory; never reached: 2^40 parts */

struct ids_part {
    uint32_t depth; /* bits that all its names share */
    uint32_t used;
    struct store_id place[IDS_PART]; /* zeros: nothing is there */
};

struct ids_epoch {
    uint32_t epoch;
    uint32_t depth;
    uint64_t count, parts;
    struct ids_part **directory; /* 2^depth; a part stands there repeatedly */
};

struct ids {
    uint8_t key[STORE_KEY];
    uint64_t limit;
    size_t n;
    struct ids_epoch *epochs; /* in no order */
};

static const struct store_id ids_none;

struct ids *ids_open(const uint8_t key[STORE_KEY])
{
    struct ids *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    memcpy(t->key, key, STORE_KEY);
    t->limit = UINT64_MAX;
    return t;
}

void ids_limit(struct ids *t, uint64_t limit)
{
    t->limit = limit;
}

/* ---- Names --------------------------------------------------------------- */

void ids_name(const struct ids *t, struct store_id *out, const uint8_t id[16],
              const uint8_t digest[32])
{
    uint8_t hash[16];

    hsy_blake2b(hash, sizeof hash, id, 16, t->key, STORE_KEY);
    memcpy(out->id, hash, sizeof out->id);
    for (size_t i = 0; i < sizeof out->content; i++)
        out->content[i] = hash[sizeof out->id + i] ^ digest[i];
    if (memcmp(out, &ids_none, sizeof *out) == 0)
        out->id[0] = 1; /* once in 2^128: it would look like an empty place */
}

static uint64_t ids_bits(const struct store_id *id)
{
    uint64_t bits; /* in memory only: the machine's order will do */

    memcpy(&bits, id->id, sizeof bits);
    return bits;
}

static bool ids_empty(const struct store_id *place)
{
    return memcmp(place, &ids_none, sizeof *place) == 0;
}

/* ---- Parts --------------------------------------------------------------- */

/* Where the id is, or the empty place where it would be. */
static size_t ids_seek(const struct ids_part *p, const struct store_id *id)
{
    size_t at = ids_bits(id) & (IDS_PART - 1);

    while (!ids_empty(&p->place[at]) &&
           memcmp(p->place[at].id, id->id, sizeof id->id) != 0)
        at = (at + 1) & (IDS_PART - 1);
    return at;
}

static void ids_put(struct ids_part *p, const struct store_id *id)
{
    p->place[ids_seek(p, id)] = *id;
    p->used++;
}

/* Empty a place, and move up what would no longer be found behind it. */
static void ids_take(struct ids_part *p, size_t hole)
{
    size_t at = hole;

    p->used--;
    for (;;) {
        size_t home;

        at = (at + 1) & (IDS_PART - 1);
        if (ids_empty(&p->place[at]))
            break;
        home = ids_bits(&p->place[at]) & (IDS_PART - 1);
        /* It may not stand before its home: only if home is not in
         * (hole, at], counted around. */
        if (((at - home) & (IDS_PART - 1)) < ((at - hole) & (IDS_PART - 1)))
            continue;
        p->place[hole] = p->place[at];
        hole = at;
    }
    p->place[hole] = ids_none;
}

/* ---- Epochs -------------------------------------------------------------- */

static size_t ids_slot(const struct ids_epoch *e, const struct store_id *id)
{
    return e->depth == 0 ? 0 : (size_t)(ids_bits(id) >> (64 - e->depth));
}

static struct ids_epoch *ids_epoch_of(const struct ids *t, uint32_t epoch)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->epochs[i].epoch == epoch)
            return &t->epochs[i];
    return NULL;
}

/* The epoch's table, a new one if there is none; NULL: out of memory. */
static struct ids_epoch *ids_epoch_make(struct ids *t, uint32_t epoch)
{
    struct ids_epoch *e = ids_epoch_of(t, epoch), *more;

    if (e != NULL)
        return e;
    more = realloc(t->epochs, (t->n + 1) * sizeof *more);
    if (more == NULL)
        return NULL;
    t->epochs = more;
    e = &more[t->n];
    *e = (struct ids_epoch){.epoch = epoch, .parts = 1};
    e->directory = malloc(sizeof(struct ids_part *));
    if (e->directory == NULL)
        return NULL;
    e->directory[0] = calloc(1, sizeof(struct ids_part));
    if (e->directory[0] == NULL) {
        free(e->directory);
        return NULL;
    }
    t->n++;
    return e;
}

static bool ids_double(struct ids_epoch *e)
{
    const size_t n = (size_t)1 << e->depth;
    struct ids_part **more;

    if (e->depth == IDS_DEPTH)
        return false;
    more = malloc(2 * n * sizeof(struct ids_part *));
    if (more == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        more[2 * i] = more[2 * i + 1] = e->directory[i];
    free(e->directory);
    e->directory = more;
    e->depth++;
    return true;
}

/* Move the names whose next bit is set into a part of their own. */
static bool ids_split(struct ids_epoch *e, struct ids_part *p, size_t slot)
{
    struct ids_part *zeros, *ones;
    size_t span, from;

    if (p->depth == e->depth) {
        if (!ids_double(e))
            return false;
        slot *= 2;
    }
    zeros = calloc(1, sizeof *zeros);
    ones = calloc(1, sizeof *ones);
    if (zeros == NULL || ones == NULL) {
        free(zeros);
        free(ones);
        return false;
    }
    zeros->depth = ones->depth = p->depth + 1;
    for (size_t i = 0; i < IDS_PART; i++)
        if (!ids_empty(&p->place[i]))
            ids_put(ids_bits(&p->place[i]) >> (63 - p->depth) & 1 ? ones
                                                                  : zeros,
                    &p->place[i]);
    span = (size_t)1 << (e->depth - p->depth);
    from = slot / span * span;
    for (size_t i = 0; i < span; i++)
        e->directory[from + i] = i < span / 2 ? zeros : ones;
    free(p);
    e->parts++;
    return true;
}

static void ids_epoch_free(struct ids_epoch *e)
{
    const size_t n = (size_t)1 << e->depth;

    for (size_t i = 0; i < n;) {
        struct ids_part *p = e->directory[i];

        i += (size_t)1 << (e->depth - p->depth);
        free(p);
    }
    free(e->directory);
}

/* ---- All of them --------------------------------------------------------- */

void ids_close(struct ids *t)
{
    if (t == NULL)
        return;
    ids_drop(t, UINT32_MAX);
    free(t->epochs);
    free(t);
}

enum ids_answer ids_find(const struct ids *t, const struct store_id *id)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct ids_epoch *e = &t->epochs[i];
        const struct ids_part *p = e->directory[ids_slot(e, id)];
        const struct store_id *place = &p->place[ids_seek(p, id)];

        if (!ids_empty(place))
            return memcmp(place->content, id->content, sizeof id->content) == 0
                       ? IDS_SAME
                       : IDS_OTHER;
    }
    return IDS_NEW;
}

hsy_status ids_add(struct ids *t, uint32_t epoch, const struct store_id *id)
{
    struct ids_epoch *e = ids_epoch_make(t, epoch);
    struct ids_part *p;

    if (e == NULL)
        return HSY_E_NOMEM;
    if (e->count >= t->limit)
        return HSY_E_FULL;
    /* Once is enough but for chance: half of the names have the bit. */
    while ((p = e->directory[ids_slot(e, id)])->used >= IDS_FULL)
        if (!ids_split(e, p, ids_slot(e, id)))
            return HSY_E_NOMEM;
    ids_put(p, id);
    e->count++;
    return HSY_OK;
}

void ids_remove(struct ids *t, uint32_t epoch, const struct store_id *id)
{
    struct ids_epoch *e = ids_epoch_of(t, epoch);
    struct ids_part *p;
    size_t at;

    if (e == NULL)
        return;
    p = e->directory[ids_slot(e, id)];
    at = ids_seek(p, id);
    if (ids_empty(&p->place[at]))
        return;
    ids_take(p, at);
    e->count--;
}

void ids_drop(struct ids *t, uint32_t through)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (t->epochs[i].epoch <= through)
            ids_epoch_free(&t->epochs[i]);
        else
            t->epochs[kept++] = t->epochs[i];
    }
    t->n = kept;
}

uint64_t ids_count(const struct ids *t)
{
    uint64_t all = 0;

    for (size_t i = 0; i < t->n; i++)
        all += t->epochs[i].count;
    return all;
}

uint64_t ids_of(const struct ids *t, uint32_t epoch)
{
    const struct ids_epoch *e = ids_epoch_of(t, epoch);

    return e == NULL ? 0 : e->count;
}

uint64_t ids_bytes(const struct ids *t)
{
    uint64_t all = 0;

    for (size_t i = 0; i < t->n; i++)
        all += t->epochs[i].parts * sizeof(struct ids_part) +
               ((uint64_t)sizeof(void *) << t->epochs[i].depth);
    return all;
}
