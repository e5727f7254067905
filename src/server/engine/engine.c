/*
 * engine.c - what both halves of the engine stand on: entries, counts, tallies
 * in memory, documents.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Queues -------------------------------------------------------------- */

void engine_queue_init(struct engine_queue *q)
{
    q->first = NULL;
    q->end = &q->first;
}

void engine_queue_push(struct engine_queue *q, struct engine_batch *b)
{
    b->next = NULL;
    *q->end = b;
    q->end = &b->next;
}

struct engine_batch *engine_queue_pop(struct engine_queue *q)
{
    struct engine_batch *b = q->first;

    if (b == NULL)
        return NULL;
    q->first = b->next;
    if (q->first == NULL)
        q->end = &q->first;
    return b;
}

static void engine_queue_free(struct engine_queue *q)
{
    struct engine_batch *b;

    while ((b = engine_queue_pop(q)) != NULL)
        free(b);
}

/* ---- Entries ------------------------------------------------------------- */

static void engine_entry_free(struct engine_entry *x)
{
    while (x->tallies != NULL) {
        struct engine_tally *t = x->tallies;

        x->tallies = t->next;
        engine_tally_free(t);
    }
    roster_drop(x->roster);
    free(x->counts);
    free(x->folded);
    free(x->taken);
    free(x);
}

/* Forget a list, and those of its n entries that are new in it. */
static void engine_entries_drop(const struct engine *e,
                                struct engine_entry **all, size_t n)
{
    while (n > e->nentries)
        engine_entry_free(all[--n]);
    free(all);
}

/* The entries of a roster: those that are there, and new ones behind them.
 * NULL: out of memory. */
static struct engine_entry **engine_entries_of(const struct engine *e,
                                               struct roster *roster)
{
    const size_t n = roster_count(roster);
    struct engine_entry **all = malloc((n + 1) * sizeof(struct engine_entry *));

    if (all != NULL && e->nentries != 0)
        memcpy(all, e->entries, e->nentries * sizeof(struct engine_entry *));
    for (size_t i = e->nentries; all != NULL && i < n; i++) {
        all[i] = calloc(1, sizeof **all);
        if (all[i] == NULL) {
            engine_entries_drop(e, all, i);
            return NULL;
        }
        all[i]->roster = roster_hold(roster);
        all[i]->is = roster_at(roster, i);
    }
    return all;
}

/* With the lock. */
static void engine_entries_set(struct engine *e, struct engine_entry **all,
                               size_t n)
{
    free(e->entries);
    e->entries = all;
    e->nentries = n;
}

hsy_status engine_entries_make(struct engine *e, struct roster *roster,
                               hsy_error *err)
{
    struct engine_entry **all = engine_entries_of(e, roster);

    if (all == NULL)
        return host_nomem(err);
    pthread_mutex_lock(&e->lock);
    e->status.ids_over = false; /* they are divided anew */
    engine_entries_set(e, all, roster_count(roster));
    pthread_mutex_unlock(&e->lock);
    return HSY_OK;
}

struct engine_entry *engine_entry_of(struct engine *e, size_t number)
{
    struct engine_entry *x;

    pthread_mutex_lock(&e->lock);
    x = number < e->nentries ? e->entries[number] : NULL;
    pthread_mutex_unlock(&e->lock);
    return x;
}

struct store_count *engine_count(struct engine_entry *x, uint32_t epoch)
{
    size_t at = x->ncounts;

    /* Days come in order, but for a few. */
    while (at > 0 && x->counts[at - 1].epoch > epoch)
        at--;
    if (at > 0 && x->counts[at - 1].epoch == epoch)
        return &x->counts[at - 1];
    if (!grow_to(&x->counts, x->ncounts + 1, sizeof *x->counts))
        return NULL;
    memmove(&x->counts[at + 1], &x->counts[at],
            (x->ncounts++ - at) * sizeof *x->counts);
    x->counts[at] =
        (struct store_count){.entry = x->is->number, .epoch = epoch};
    return &x->counts[at];
}

/* ---- Tallies in memory --------------------------------------------------- */

bool engine_daily(const struct engine *e, const struct engine_entry *x)
{
    return x->is->words <= e->options.day_words;
}

bool engine_keeps(const struct engine *e, uint32_t epoch)
{
    return epoch > e->closed ||
           (epoch >= e->purged &&
            (uint64_t)epoch + e->options.keep_days >= e->day);
}

bool engine_keeps_tally(const struct engine *e, const struct engine_entry *x,
                        const struct engine_tally *t)
{
    if (x->retired)
        return x->waiting_bytes != 0; /* they are still to be folded */
    return t->epoch == 0 || engine_keeps(e, t->epoch);
}

uint64_t engine_tally_need(const struct engine *e, const struct roster *r)
{
    const struct engine_options *o = &e->options;

    return roster_tally_bytes(r, o->day_words,
                              o->keep_days > o->grace_days ? o->keep_days
                                                           : o->grace_days);
}

struct engine_tally *engine_tally_of(const struct engine_entry *x,
                                     uint32_t epoch)
{
    struct engine_tally *t = x->tallies;

    while (t != NULL && t->epoch != epoch)
        t = t->next;
    return t;
}

void engine_tally_free(struct engine_tally *t)
{
    if (t == NULL)
        return;
    free(t->words);
    free(t->marks);
    free(t);
}

void engine_tally_drop(struct engine *e, const struct engine_entry *x,
                       struct engine_tally **at)
{
    struct engine_tally *t = *at;

    *at = t->next;
    e->status.tally_bytes -= x->is->words * sizeof(int64_t);
    engine_tally_free(t);
}

hsy_status engine_tally_make(struct engine *e, struct engine_entry *x,
                             uint32_t epoch, size_t limit)
{
    const size_t bytes = x->is->words * sizeof(int64_t);
    struct engine_tally *t;

    if (engine_tally_of(x, epoch) != NULL)
        return HSY_OK;
    if (e->status.tally_bytes > limit || bytes > limit - e->status.tally_bytes)
        return HSY_E_FULL;
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return HSY_E_NOMEM;
    t->epoch = epoch;
    t->words = calloc(x->is->words, sizeof *t->words);
    t->marks = calloc(engine_chunks(x), ENGINE_MARK);
    if (t->words == NULL || t->marks == NULL) {
        engine_tally_free(t);
        return HSY_E_NOMEM;
    }
    /* Half a gigabyte may be zero without being touched: nobody waits. */
    hsy_tally_view(&t->view, x->is->scheme, t->words);
    t->next = x->tallies;
    x->tallies = t;
    e->status.tally_bytes += bytes;
    return HSY_OK;
}

/* ---- Bytes that are shared ----------------------------------------------- */

struct engine_shared {
    atomic_size_t holders;
    uint8_t bytes[];
};

static struct engine_shared *engine_shared_of(void *bytes)
{
    return (
        struct engine_shared *)(void *)((uint8_t *)bytes -
                                        offsetof(struct engine_shared, bytes));
}

uint8_t *engine_document_make(const uint8_t *bytes, size_t len)
{
    struct engine_shared *d = malloc(sizeof *d + len);

    if (d == NULL)
        return NULL;
    atomic_init(&d->holders, 1);
    memcpy(d->bytes, bytes, len);
    return d->bytes;
}

void engine_document_drop(void *bytes)
{
    if (bytes != NULL &&
        atomic_fetch_sub(&engine_shared_of(bytes)->holders, 1) == 1)
        free(engine_shared_of(bytes));
}

/* ---- Opening ------------------------------------------------------------- */

struct engine *engine_new(struct store *store, const struct store_state *state,
                          const struct engine_options *options)
{
    struct engine *e = calloc(1, sizeof *e);

    if (e == NULL)
        return NULL;
    if (pthread_mutex_init(&e->lock, NULL) != 0) {
        free(e);
        return NULL;
    }
    e->store = store;
    e->options = *options;
    e->day = state->day;
    e->closed = state->closed;
    e->status.seq = e->status.folded = state->seq;
    engine_queue_init(&e->queue);
    engine_queue_init(&e->fold.ready);
    engine_queue_init(&e->fold.frozen);
    e->ids = ids_open(state->key);
    e->roster = roster_new();
    if (e->ids != NULL && e->roster != NULL)
        return e;
    engine_close(e);
    return NULL;
}

hsy_status engine_open(struct engine **out, struct store *store,
                       const struct store_state *state,
                       const struct engine_options *options, hsy_error *err)
{
    struct engine *e = engine_new(store, state, options);
    hsy_status st;

    if (e == NULL)
        return host_nomem(err);
    st = engine_read(e, err);
    if (st != HSY_OK) {
        engine_close(e);
        return st;
    }
    ids_limit(e->ids, options->ids_epoch);
    *out = e;
    return HSY_OK;
}

static void engine_admit_free(struct admit *a)
{
    for (size_t i = 0; i < a->epochs_room; i++)
        free(a->epochs[i].ids);
    free(a->epochs);
    free(a->slots);
    free(a->quotas);
    free(a->uploads);
    free(a->out_ids);
    free(a->out_batches);
    free(a->out_counts);
    free(a->out_quotas);
}

void engine_close(struct engine *e)
{
    if (e == NULL)
        return;
    engine_admit_free(&e->admit);
    engine_queue_free(&e->queue);
    engine_queue_free(&e->fold.ready);
    engine_queue_free(&e->fold.frozen);
    fold_space_clear(&e->fold.space);
    for (size_t i = 0; i < e->nentries; i++)
        engine_entry_free(e->entries[i]);
    free(e->entries);
    ids_close(e->ids);
    quotas_clear(&e->quotas);
    portions_clear(&e->portions);
    roster_drop(e->roster);
    engine_document_drop(e->document);
    if (e->owned != NULL)
        e->owned->ops->close(e->owned);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* ---- Any thread ---------------------------------------------------------- */

struct roster *engine_roster(struct engine *e)
{
    struct roster *r;

    pthread_mutex_lock(&e->lock);
    r = roster_hold(e->roster);
    pthread_mutex_unlock(&e->lock);
    return r;
}

void engine_enrols(struct engine *e, bool any)
{
    pthread_mutex_lock(&e->lock);
    e->enrols = any;
    pthread_mutex_unlock(&e->lock);
}

uint8_t *engine_document_hold(struct engine *e, size_t *len)
{
    uint8_t *bytes;

    pthread_mutex_lock(&e->lock);
    bytes = e->document;
    if (bytes != NULL) {
        atomic_fetch_add(&engine_shared_of(bytes)->holders, 1);
        *len = e->document_len;
    }
    pthread_mutex_unlock(&e->lock);
    return bytes;
}

void engine_status(struct engine *e, struct engine_status *out)
{
    pthread_mutex_lock(&e->lock);
    *out = e->status;
    if (e->store->ops->making != NULL)
        out->ids_bytes += e->store->ops->making(e->store);
    out->day = e->day;
    out->clock_jumped = e->clock.state != ENGINE_CLOCK_FINE && !e->clock.quiet;
    out->clock_behind = e->clock.state == ENGINE_CLOCK_BEHIND;
    out->clock_day = e->clock.told;
    for (size_t i = 0; i < e->nentries; i++) {
        out->refusing += e->entries[i]->refuses;
        out->undated += e->entries[i]->undated;
    }
    pthread_mutex_unlock(&e->lock);
}

size_t engine_counts(struct engine *e, uint32_t entry, struct store_count *out,
                     size_t room)
{
    size_t n = 0, skip;

    pthread_mutex_lock(&e->lock);
    if (entry < e->nentries) {
        const struct engine_entry *x = e->entries[entry];

        n = x->ncounts;
        skip = n > room ? n - room : 0;
        if (n != skip)
            memcpy(out, x->counts + skip, (n - skip) * sizeof *out);
    }
    pthread_mutex_unlock(&e->lock);
    return n;
}

/* ---- Documents ----------------------------------------------------------- */

/* What the store keeps of a document and its new entries. */
static hsy_status engine_take_store(struct engine *e, struct roster *roster,
                                    const uint8_t *bytes, size_t len,
                                    hsy_error *err)
{
    const size_t first = roster_count(e->roster);
    const size_t n = roster_count(roster) - first;
    const uint8_t **entries = malloc((n + 1) * sizeof(const uint8_t *));
    size_t *lens = malloc((n + 1) * sizeof *lens);
    hsy_status st;

    if (entries == NULL || lens == NULL) {
        free(entries);
        free(lens);
        return host_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        entries[i] = roster_at(roster, first + i)->bytes;
        lens[i] = roster_at(roster, first + i)->len;
    }
    st = e->store->ops->document(e->store, bytes, len, (uint32_t)first, entries,
                                 lens, n, err);
    free(entries);
    free(lens);
    return st;
}

void engine_in_force(struct engine *e, struct engine_entry **all,
                     struct roster *roster, const hsy_document *doc,
                     uint8_t *copy)
{
    struct roster *old = e->roster;

    pthread_mutex_lock(&e->lock);
    if (all != NULL)
        engine_entries_set(e, all, roster_count(roster));
    e->roster = roster;
    engine_document_drop(e->document);
    e->document = copy;
    e->document_len = doc->len;
    e->version = doc->version;
    e->status.tally_need = engine_tally_need(e, roster);
    pthread_mutex_unlock(&e->lock);
    roster_drop(old);
}

/* Whether a task in force of a roster is retired. */
static bool engine_asks_retired(const struct engine *e, const struct roster *r)
{
    for (size_t i = 0; i < e->nentries; i++)
        if (e->entries[i]->retired && roster_at(r, i)->current)
            return true;
    return false;
}

/* Entries are the engine's only once the store has them: after a document that
 * it had no room for, another may come and number its tasks anew. */
static hsy_status engine_take_new(struct engine *e, const hsy_document *doc,
                                  uint8_t *copy, hsy_error *err)
{
    struct engine_entry **all;
    struct roster *roster;
    hsy_status st = roster_extend(&roster, e->roster, doc, err);

    if (st != HSY_OK)
        return st;
    if (engine_asks_retired(e, roster)) {
        roster_drop(roster);
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_RELEASE,
                         "this release is retired: ask by a new one");
    }
    all = engine_entries_of(e, roster);
    st = all == NULL ||
                 !portions_divide(&e->portions, e->options.ids_epoch, roster)
             ? host_nomem(err)
             : engine_take_store(e, roster, doc->bytes, doc->len, err);
    if (st != HSY_OK) {
        (void)portions_divide(&e->portions, e->options.ids_epoch, e->roster);
        e->dead |= st == HSY_E_IO;
        if (all != NULL)
            engine_entries_drop(e, all, roster_count(roster));
        roster_drop(roster);
        return st;
    }
    engine_in_force(e, all, roster, doc, copy);
    return HSY_OK;
}

hsy_status engine_set_document(struct engine *e, const uint8_t *bytes,
                               size_t len, hsy_error *err)
{
    hsy_document doc;
    uint8_t *copy;
    hsy_status st = hsy_document_open(&doc, bytes, len, err);

    if (st != HSY_OK)
        return st;
    if (e->document != NULL && len == e->document_len &&
        memcmp(bytes, e->document, len) == 0)
        return HSY_OK;
    if (doc.version <= e->version)
        return host_fail(err, HSY_E_OLD, HSY_FIELD_VERSION,
                         "the document in force has this version or a "
                         "newer one: raise 'version'");
    copy = engine_document_make(bytes, len);
    if (copy == NULL)
        return host_nomem(err);
    st = engine_take_new(e, &doc, copy, err);
    if (st != HSY_OK)
        engine_document_drop(copy);
    return st;
}

/* ---- The store's own business -------------------------------------------- */

hsy_status engine_keep(struct engine *e, const struct store_figure *figure,
                       hsy_error *err)
{
    hsy_status st = e->store->ops->figure(e->store, figure, err);

    e->dead |= st == HSY_E_IO;
    return st;
}

hsy_status engine_tidy(struct engine *e, bool *more, hsy_error *err)
{
    hsy_status st = e->store->ops->tidy(e->store, more, err);

    engine_runs_status(e);
    if (st == HSY_OK)
        st = engine_runs_seal(e, true, err);
    e->dead |= st == HSY_E_IO;
    return st;
}

hsy_status engine_figures(struct engine *e, const struct store_reader *to,
                          hsy_error *err)
{
    return e->store->ops->read(e->store, to, err);
}
