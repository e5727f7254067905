/* mirror.c - an engine that shows what a database says was counted. */
#include "server/engine/mirror.h"

#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

/* A store in which everything is somebody else's business. */
struct mirror_store {
    struct store base;
    struct mirror_functions does;
    void *ctx;
};

/* ---- The store ----------------------------------------------------------- */

static hsy_status mirror_put_document(struct store *s, const uint8_t *bytes,
                                      size_t len, uint32_t first,
                                      const uint8_t *const *entries,
                                      const size_t *lens, size_t n,
                                      hsy_error *err)
{
    struct mirror_store *m = (struct mirror_store *)s;

    return m->does.document(m->ctx, bytes, len, first, entries, lens, n, err);
}

static hsy_status mirror_close_epochs(struct store *s, uint32_t through,
                                      uint32_t day, hsy_error *err)
{
    struct mirror_store *m = (struct mirror_store *)s;

    return m->does.close_epochs(m->ctx, through, day, err);
}

/* An engine appends for itself only that an entry is retired. */
static hsy_status mirror_append(struct store *s, const struct store_commit *c,
                                hsy_error *err)
{
    struct mirror_store *m = (struct mirror_store *)s;

    if (c->ncounts != 1 || c->counts[0].epoch != ENGINE_RETIRED)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                         "a mirror counts nothing itself");
    return m->does.retire(m->ctx, c->counts[0].entry, err);
}

static void mirror_close(struct store *s)
{
    free(s);
}

static const struct store_functions mirror_store = {
    .name = "mirror",
    .append = mirror_append,
    .document = mirror_put_document,
    .close_epochs = mirror_close_epochs,
    .close = mirror_close};

hsy_status mirror_open(struct engine **out, const uint8_t key[STORE_KEY],
                       const struct engine_options *options,
                       const struct mirror_functions *does, void *ctx,
                       hsy_error *err)
{
    struct mirror_store *m = calloc(1, sizeof *m);
    struct store_state state = {.seq = 0};

    if (m == NULL)
        return host_nomem(err);
    *m = (struct mirror_store){{&mirror_store}, *does, ctx};
    memcpy(state.key, key, sizeof state.key);
    *out = engine_new(&m->base, &state, options);
    memset(state.key, 0, sizeof state.key);
    if (*out == NULL) {
        free(m);
        return host_nomem(err);
    }
    (*out)->mirror = true;
    (*out)->owned = &m->base;
    return HSY_OK;
}

/* ---- What the database says ---------------------------------------------- */

hsy_status mirror_roster(struct engine *e, const uint8_t *document, size_t len,
                         const uint8_t *const *entries, const size_t *lens,
                         size_t n, hsy_error *err)
{
    uint8_t *copy =
        document != NULL ? engine_document_make(document, len) : NULL;
    struct roster *roster;
    hsy_document doc = {0};
    hsy_status st = document != NULL && copy == NULL ? host_nomem(err) : HSY_OK;

    if (st == HSY_OK && copy != NULL)
        st = hsy_document_open(&doc, copy, len, err);
    if (st == HSY_OK)
        st = roster_load(&roster, entries, lens, n, copy != NULL ? &doc : NULL,
                         err);
    if (st == HSY_OK && roster_count(roster) < e->nentries)
        st = host_fail(err, HSY_E_DAMAGED, HOST_FIELD_ENTRIES,
                       "tasks are missing in the database");
    if (st == HSY_OK &&
        !portions_divide(&e->portions, e->options.ids_epoch, roster))
        st = host_nomem(err);
    if (st == HSY_OK)
        st = engine_entries_make(e, roster, err);
    if (st != HSY_OK) {
        engine_document_drop(copy);
        return st;
    }
    doc.len = len;
    engine_in_force(e, NULL, roster, &doc, copy);
    return HSY_OK;
}

uint64_t mirror_version(struct engine *e)
{
    uint64_t version;

    pthread_mutex_lock(&e->lock);
    version = e->version;
    pthread_mutex_unlock(&e->lock);
    return version;
}

void mirror_days(struct engine *e, uint32_t day, uint32_t closed,
                 uint32_t purged)
{
    const bool moved = day != e->day || closed != e->closed;

    if (moved) {
        quotas_drop(&e->quotas, closed);
        portions_drop(&e->portions, closed);
    }
    pthread_mutex_lock(&e->lock);
    e->purged = purged;
    e->day = day;
    e->closed = closed;
    if (moved)
        e->status.ids_over = false;
    pthread_mutex_unlock(&e->lock);
}

void mirror_retired(struct engine *e, uint32_t entry)
{
    pthread_mutex_lock(&e->lock);
    if (entry < e->nentries)
        e->entries[entry]->retired = true;
    pthread_mutex_unlock(&e->lock);
}

/* A copy of a list in the place of another. */
static bool mirror_replace(struct store_count **list, size_t *n,
                           const struct store_count *with, size_t count)
{
    struct store_count *copy = malloc((count + 1) * sizeof *copy);

    if (copy == NULL)
        return false;
    if (count != 0)
        memcpy(copy, with, count * sizeof *copy);
    free(*list);
    *list = copy;
    *n = count;
    return true;
}

/* What has come in since the last reading, wherever it did, speaks for a clock
 * or against it. Batches of shufflers come days later: they say nothing. */
static void mirror_heard(struct engine *e, const struct engine_entry *x,
                         const struct store_count *counts, size_t n)
{
    size_t k = 0;

    if (x->is->task.model == HSY_MODEL_SHUFFLED)
        return;
    for (size_t i = 0; i < n; i++) {
        uint64_t more = counts[i].reports + counts[i].nulls;

        while (k < x->ncounts && x->counts[k].epoch < counts[i].epoch)
            k++;
        if (k < x->ncounts && x->counts[k].epoch == counts[i].epoch)
            more -= x->counts[k].reports + x->counts[k].nulls;
        if (engine_is_day(&counts[i]) && (int64_t)more > 0)
            engine_clock_heard(e, counts[i].epoch, more);
    }
}

hsy_status mirror_counts(struct engine *e, uint32_t entry,
                         const struct store_count *counts, size_t n,
                         hsy_error *err)
{
    struct engine_entry *x = e->entries[entry];
    bool good;

    mirror_heard(e, x, counts, n);
    pthread_mutex_lock(&e->lock);
    good = mirror_replace(&x->counts, &x->ncounts, counts, n);
    x->reports = 0;
    for (size_t i = 0; good && i < n; i++)
        x->reports += counts[i].reports;
    pthread_mutex_unlock(&e->lock);
    return good ? HSY_OK : host_nomem(err);
}

hsy_status mirror_used(struct engine *e, uint32_t epoch, uint64_t ids,
                       const uint64_t *used, hsy_error *err)
{
    return portions_had(&e->portions, epoch, ids, used) ? HSY_OK
                                                        : host_nomem(err);
}

void mirror_nodes(struct engine *e, uint64_t nodes)
{
    e->portions.nodes = nodes;
}

void mirror_sizes(struct engine *e, uint64_t ids, uint64_t bytes,
                  uint64_t waiting)
{
    pthread_mutex_lock(&e->lock);
    e->status.ids = ids;
    e->status.ids_disk_bytes = bytes;
    e->status.waiting_bytes = waiting;
    pthread_mutex_unlock(&e->lock);
}

hsy_status mirror_batches(struct engine *e, uint32_t entry,
                          const struct mirror_taken *all, size_t n,
                          hsy_error *err)
{
    struct engine_entry *x = e->entries[entry];
    bool good;

    pthread_mutex_lock(&e->lock);
    x->ntaken = 0;
    good = grow_room(&x->taken, &x->taken_room, n, sizeof *x->taken);
    for (size_t i = 0; good && i < n; i++)
        engine_taken_add(x, &all[i].row, !all[i].folded);
    x->through = 0; /* a seq of 1 is beyond it */
    pthread_mutex_unlock(&e->lock);
    return good ? HSY_OK : host_nomem(err);
}

/* ---- Tallies ------------------------------------------------------------- */

hsy_status mirror_folded(struct engine *e, uint32_t entry,
                         const struct store_count *counts, size_t n,
                         hsy_error *err)
{
    struct engine_entry *x = e->entries[entry];
    bool good;

    pthread_mutex_lock(&e->lock);
    good = mirror_replace(&x->folded, &x->nfolded, counts, n);
    pthread_mutex_unlock(&e->lock);
    return good ? HSY_OK : host_nomem(err);
}

bool mirror_has(struct engine *e, uint32_t entry, uint32_t epoch)
{
    bool has;

    pthread_mutex_lock(&e->lock);
    has = engine_tally_of(e->entries[entry], epoch) != NULL;
    pthread_mutex_unlock(&e->lock);
    return has;
}

int64_t *mirror_words(struct engine *e, uint32_t entry, uint32_t epoch)
{
    struct engine_entry *x = e->entries[entry];
    hsy_status st;

    pthread_mutex_lock(&e->lock);
    st = engine_tally_make(e, x, epoch, e->options.tally_bytes);
    if (epoch == 0)
        x->refuses = st != HSY_OK;
    else
        x->undated |= st != HSY_OK;
    pthread_mutex_unlock(&e->lock);
    return st == HSY_OK ? engine_tally_of(x, epoch)->words : NULL;
}

void mirror_forget(struct engine *e, uint32_t entry)
{
    const struct engine_entry *x = e->entries[entry];

    for (struct engine_tally *t = x->tallies; t != NULL; t = t->next)
        memset(t->words, 0, x->is->words * sizeof *t->words);
}

void mirror_keep(struct engine *e, uint32_t entry)
{
    struct engine_entry *x = e->entries[entry];
    struct engine_tally **at = &x->tallies;

    pthread_mutex_lock(&e->lock);
    while (*at != NULL) {
        struct engine_tally *t = *at;

        if (engine_keeps_tally(e, x, t)) {
            at = &t->next;
            continue;
        }
        engine_tally_drop(e, x, at);
    }
    pthread_mutex_unlock(&e->lock);
}

/* ---- Admitting ----------------------------------------------------------- */

enum intake_verdict mirror_may(struct engine *e, const struct intake_upload *u)
{
    const bool behind = e->clock.state == ENGINE_CLOCK_BEHIND;
    const uint32_t entry = u->entry->number, epoch = u->head.epoch;
    bool enrols;

    if (epoch <= e->closed)
        return behind ? INTAKE_CLOCK : INTAKE_CLOSED;
    pthread_mutex_lock(&e->lock);
    enrols = e->enrols;
    pthread_mutex_unlock(&e->lock);
    portions_enrols(&e->portions, enrols);
    if (entry >= e->nentries)
        return INTAKE_FULL; /* another node's document: in a moment */
    if (e->entries[entry]->retired)
        return INTAKE_CLOSED;
    if (behind)
        return INTAKE_CLOCK;
    if (portions_take(&e->portions, epoch, entry, u->enrolled))
        return INTAKE_COUNTED;
    pthread_mutex_lock(&e->lock);
    e->status.ids_refused++;
    e->status.ids_over = epoch == e->day && portions_over(&e->portions, e->day);
    pthread_mutex_unlock(&e->lock);
    return INTAKE_FULL;
}

void mirror_give(struct engine *e, const struct intake_upload *u)
{
    portions_give(&e->portions, u->head.epoch, u->entry->number, u->enrolled);
}

void mirror_strange(struct engine *e, uint32_t epoch)
{
    engine_clock_heard(e, epoch, 1);
}

void mirror_share_name(uint8_t name[16], uint32_t entry)
{
    portions_name(name, entry);
}

void mirror_name(const struct engine *e, struct store_id *out,
                 const uint8_t id[16], const uint8_t digest[32])
{
    ids_name(e->ids, out, id, digest);
}

void mirror_settled(struct engine *e, const uint64_t verdicts[INTAKE_VERDICTS],
                    uint64_t reports, uint64_t nulls)
{
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < INTAKE_VERDICTS; i++)
        e->status.verdicts[i] += verdicts[i];
    e->status.reports += reports;
    e->status.nulls += nulls;
    pthread_mutex_unlock(&e->lock);
}

bool mirror_daily(const struct engine *e, const struct roster_entry *is)
{
    return is->words <= e->options.day_words;
}

bool mirror_keeps(struct engine *e, uint32_t epoch)
{
    bool keeps;

    pthread_mutex_lock(&e->lock);
    keeps = engine_keeps(e, epoch);
    pthread_mutex_unlock(&e->lock);
    return keeps;
}

hsy_status mirror_merge(struct engine *e, uint32_t entry, const uint8_t *bytes,
                        size_t len, uint64_t *reports, hsy_error *err)
{
    struct store_count *counts = NULL;
    size_t n;
    hsy_status st = engine_entry_there(e, entry, err);

    if (st != HSY_OK)
        return st;
    if (e->entries[entry]->retired)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TASK, "it is retired");
    st = mirror_merge_counts(e->entries[entry]->is, bytes, len, &counts, &n,
                             reports, err);
    free(counts);
    return st;
}
