/*
 * ids.c - recent ids in memory, the others in runs on the disk (runs.h).
 *
 * An id that was counted and whose epoch is open is always found. It is added
 * to `fresh` before its commit. A table that is sealed is committed as a whole:
 * sealing is done between commits, and what is undone is undone before. It is
 * cleared by ids_adopt alone, in the same step in which the runs come that the
 * store says hold all of it; and the store says so only after they are durable
 * (store_runs.c). Runs are replaced by others that hold the same ids. One
 * thread does all this, so there is no moment between.
 *
 * A table is extendible hashing: a directory of small parts.
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
#include "server/engine/ids.h"

#include "host/base/grow.h"
#include "server/store/runs.h"

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

/* A directory of parts; none if it is empty. */
struct ids_table {
    uint32_t depth;
    uint64_t count, parts;
    struct ids_part **directory; /* 2^depth; a part stands there repeatedly */
};

struct ids_epoch {
    uint32_t epoch;
    bool is_sealed;
    struct ids_table fresh;  /* all that is added comes here */
    struct ids_table sealed; /* what is on its way into runs; never changed */
    struct run **runs;       /* held */
    size_t nruns;
    uint64_t in_runs;
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

/* ---- Tables -------------------------------------------------------------- */

static size_t ids_slot(const struct ids_table *e, const struct store_id *id)
{
    return e->depth == 0 ? 0 : (size_t)(ids_bits(id) >> (64 - e->depth));
}

/* The first part of an empty table; false: out of memory. */
static bool ids_begin(struct ids_table *e)
{
    if (e->directory != NULL)
        return true;
    e->directory = malloc(sizeof(struct ids_part *));
    if (e->directory == NULL)
        return false;
    e->directory[0] = calloc(1, sizeof(struct ids_part));
    if (e->directory[0] == NULL) {
        free(e->directory);
        e->directory = NULL;
        return false;
    }
    e->parts = 1;
    return true;
}

static bool ids_double(struct ids_table *e)
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
static bool ids_split(struct ids_table *e, struct ids_part *p, size_t slot)
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

/* The place of an id; NULL if it is not there. */
static const struct store_id *ids_look(const struct ids_table *e,
                                       const struct store_id *id)
{
    const struct ids_part *p;
    const struct store_id *place;

    if (e->count == 0)
        return NULL;
    p = e->directory[ids_slot(e, id)];
    place = &p->place[ids_seek(p, id)];
    return ids_empty(place) ? NULL : place;
}

static void ids_near(const struct ids_table *e, const struct store_id *id)
{
    if (e->count != 0)
        __builtin_prefetch(&e->directory[ids_slot(e, id)]
                                ->place[ids_bits(id) & (IDS_PART - 1)]);
}

static void ids_table_clear(struct ids_table *e)
{
    const size_t n = e->directory == NULL ? 0 : (size_t)1 << e->depth;

    for (size_t i = 0; i < n;) {
        struct ids_part *p = e->directory[i];

        i += (size_t)1 << (e->depth - p->depth);
        free(p);
    }
    free(e->directory);
    *e = (struct ids_table){0};
}

static uint64_t ids_table_bytes(const struct ids_table *e)
{
    return e->directory == NULL ? 0
                                : e->parts * sizeof(struct ids_part) +
                                      ((uint64_t)sizeof(void *) << e->depth);
}

/* ---- Epochs -------------------------------------------------------------- */

static struct ids_epoch *ids_epoch_of(const struct ids *t, uint32_t epoch)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->epochs[i].epoch == epoch)
            return &t->epochs[i];
    return NULL;
}

/* The epoch's ids, none if there are none yet; NULL: out of memory. */
static struct ids_epoch *ids_epoch_make(struct ids *t, uint32_t epoch)
{
    struct ids_epoch *e = ids_epoch_of(t, epoch);

    if (e != NULL)
        return e;
    if (!grow_to(&t->epochs, t->n + 1, sizeof *t->epochs))
        return NULL;
    e = &t->epochs[t->n++];
    *e = (struct ids_epoch){.epoch = epoch};
    return e;
}

static void ids_epoch_drop_runs(struct ids_epoch *e)
{
    for (size_t i = 0; i < e->nruns; i++)
        run_drop(e->runs[i]);
    free(e->runs);
    e->runs = NULL;
    e->nruns = e->in_runs = 0;
}

static void ids_epoch_free(struct ids_epoch *e)
{
    ids_table_clear(&e->fresh);
    ids_table_clear(&e->sealed);
    ids_epoch_drop_runs(e);
}

static uint64_t ids_epoch_count(const struct ids_epoch *e)
{
    return e->fresh.count + e->sealed.count + e->in_runs;
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

static enum ids_answer ids_same(const struct store_id *known,
                                const struct store_id *id)
{
    return memcmp(known->content, id->content, sizeof id->content) == 0
               ? IDS_SAME
               : IDS_OTHER;
}

static hsy_status ids_find_run(const struct run *r, const struct store_id *id,
                               enum ids_answer *answer)
{
    struct store_id found;
    bool there;
    const hsy_status st = run_find(r, id, &there, &found);

    if (st == HSY_OK && there)
        *answer = ids_same(&found, id);
    return st;
}

hsy_status ids_find(const struct ids *t, const struct store_id *id,
                    enum ids_answer *answer)
{
    hsy_status st = HSY_OK;

    *answer = IDS_NEW;
    for (size_t i = 0; i < t->n; i++) {
        const struct ids_epoch *e = &t->epochs[i];
        const struct store_id *place = ids_look(&e->fresh, id);

        if (place == NULL)
            place = ids_look(&e->sealed, id);
        if (place != NULL) {
            *answer = ids_same(place, id);
            return HSY_OK;
        }
        for (size_t k = 0; st == HSY_OK && *answer == IDS_NEW && k < e->nruns;
             k++)
            st = ids_find_run(e->runs[k], id, answer);
        if (st != HSY_OK || *answer != IDS_NEW)
            return st;
    }
    return HSY_OK;
}

/* First all borders of buckets, which the marks wait for. */
void ids_soon(const struct ids *t, const struct store_id *ids, size_t n)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct ids_epoch *e = &t->epochs[i];

        for (size_t k = 0; k < e->nruns; k++)
            for (size_t j = 0; j < n; j++)
                run_filter_near(run_filter(e->runs[k]), &ids[j]);
        for (size_t j = 0; j < n; j++) {
            ids_near(&e->fresh, &ids[j]);
            ids_near(&e->sealed, &ids[j]);
        }
    }
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->epochs[i].nruns; k++)
            for (size_t j = 0; j < n; j++)
                run_filter_nearer(run_filter(t->epochs[i].runs[k]), &ids[j]);
}

hsy_status ids_add(struct ids *t, uint32_t epoch, const struct store_id *id)
{
    struct ids_epoch *of = ids_epoch_make(t, epoch);
    struct ids_table *e;
    struct ids_part *p;

    if (of == NULL || !ids_begin(&of->fresh))
        return HSY_E_NOMEM;
    if (ids_epoch_count(of) >= t->limit)
        return HSY_E_FULL;
    e = &of->fresh;
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
    struct ids_epoch *of = ids_epoch_of(t, epoch);
    struct ids_part *p;
    size_t at;

    if (of == NULL || of->fresh.count == 0)
        return;
    p = of->fresh.directory[ids_slot(&of->fresh, id)];
    at = ids_seek(p, id);
    if (ids_empty(&p->place[at]))
        return;
    ids_take(p, at);
    of->fresh.count--;
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

/* ---- Into runs ----------------------------------------------------------- */

bool ids_next_fresh(const struct ids *t, uint64_t least, uint32_t *epoch)
{
    for (size_t i = 0; i < t->n; i++)
        if (!t->epochs[i].is_sealed && t->epochs[i].fresh.count >= least) {
            *epoch = t->epochs[i].epoch;
            return true;
        }
    return false;
}

void ids_seal(struct ids *t, uint32_t epoch)
{
    struct ids_epoch *e = ids_epoch_of(t, epoch);

    if (e == NULL || e->is_sealed)
        return;
    e->sealed = e->fresh;
    e->fresh = (struct ids_table){0};
    e->is_sealed = true;
}

hsy_status ids_adopt(struct ids *t, struct store_runs *runs)
{
    struct ids_epoch *e = ids_epoch_make(t, runs->epoch);

    if (e == NULL)
        return HSY_E_NOMEM;
    ids_epoch_drop_runs(e);
    e->runs = runs->all;
    e->nruns = runs->n;
    for (size_t i = 0; i < e->nruns; i++)
        e->in_runs += run_is(e->runs[i])->count;
    *runs = (struct store_runs){.epoch = runs->epoch, .sealed = runs->sealed};
    if (runs->sealed) {
        ids_table_clear(&e->sealed);
        e->is_sealed = false;
    }
    return HSY_OK;
}

/* ---- How many ------------------------------------------------------------ */

uint64_t ids_count(const struct ids *t)
{
    uint64_t all = 0;

    for (size_t i = 0; i < t->n; i++)
        all += ids_epoch_count(&t->epochs[i]);
    return all;
}

uint64_t ids_of(const struct ids *t, uint32_t epoch)
{
    const struct ids_epoch *e = ids_epoch_of(t, epoch);

    return e == NULL ? 0 : ids_epoch_count(e);
}

uint64_t ids_bytes(const struct ids *t)
{
    uint64_t all = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct ids_epoch *e = &t->epochs[i];

        all += ids_table_bytes(&e->fresh) + ids_table_bytes(&e->sealed);
        for (size_t k = 0; k < e->nruns; k++)
            all += run_memory(e->runs[k]);
    }
    return all;
}

void ids_runs(const struct ids *t, uint64_t *runs, uint64_t *bytes)
{
    *runs = *bytes = 0;
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->epochs[i].nruns; k++) {
            ++*runs;
            *bytes += run_length(t->epochs[i].runs[k]);
        }
}
