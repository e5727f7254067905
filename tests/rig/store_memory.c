/* store_memory.c - see store_memory.h. */

#include "rig/store_memory.h"

/* ---- Lists --------------------------------------------------------------- */

static void *memory_copy(const void *bytes, size_t len)
{
    void *copy = malloc(len + 1);

    if (copy != NULL && len != 0)
        memcpy(copy, bytes, len);
    return copy;
}

static void memory_append(struct memory_list *l, struct memory_blob b)
{
    l->all = realloc(l->all, (l->n + 1) * sizeof *l->all);
    b.bytes = memory_copy(b.bytes, b.len);
    l->all[l->n++] = b;
}

/* Forget those that `gone` says. */
static void memory_sift(struct memory_list *l,
                        bool (*gone)(const struct memory_blob *, uint64_t,
                                     uint64_t),
                        uint64_t a, uint64_t b)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (gone(&l->all[i], a, b))
            free(l->all[i].bytes);
        else
            l->all[kept++] = l->all[i];
    }
    l->n = kept;
}

static bool memory_any(const struct memory_blob *blob, uint64_t a, uint64_t b)
{
    (void)blob;
    (void)a;
    (void)b;
    return true;
}

static bool memory_closed(const struct memory_blob *blob, uint64_t through,
                          uint64_t unused)
{
    (void)unused;
    return blob->epoch <= through;
}

static bool memory_folded(const struct memory_blob *blob, uint64_t entry,
                          uint64_t through)
{
    return blob->entry == entry && blob->seq <= through;
}

static bool memory_day(const struct memory_blob *blob, uint64_t entry,
                       uint64_t day)
{
    return blob->entry == entry && blob->epoch == day;
}

/* ---- Calls that change something ----------------------------------------- */

/* Begin a call, with the lock: HSY_OK, or what it returns at once. *done: it
 * has its effect. */
static hsy_status memory_begin(struct memory_store *m, bool *done)
{
    pthread_mutex_lock(&m->lock);
    *done = false;
    if (m->crashed)
        return HSY_E_IO;
    if (m->full)
        return HSY_E_FULL;
    if (++m->calls == m->crash_at) {
        m->crashed = true;
        *done = m->crash_done;
        return HSY_E_IO;
    }
    *done = true;
    return HSY_OK;
}

static hsy_status memory_end(struct memory_store *m, hsy_status st,
                             hsy_error *err)
{
    pthread_mutex_unlock(&m->lock);
    if (st != HSY_OK && err != NULL)
        *err = (hsy_error){
            .status = st, .field = HOST_FIELD_STORE, .msg = "simulated"};
    return st;
}

static void memory_count(struct memory_store *m,
                         const struct store_count *count)
{
    size_t i = 0;

    while (i < m->ncounts && (m->counts[i].entry != count->entry ||
                              m->counts[i].epoch != count->epoch))
        i++;
    if (i == m->ncounts)
        m->counts = realloc(m->counts, (++m->ncounts) * sizeof *m->counts);
    m->counts[i] = *count;
}

static void memory_quota(struct memory_store *m,
                         const struct store_quota *quota)
{
    size_t i = 0;

    while (i < m->nquotas && (m->quotas[i].epoch != quota->epoch ||
                              memcmp(m->quotas[i].token, quota->token, 16)))
        i++;
    if (i == m->nquotas)
        m->quotas = realloc(m->quotas, (++m->nquotas) * sizeof *m->quotas);
    m->quotas[i] = *quota;
}

static bool memory_merged(const struct memory_store *m, const uint8_t name[16])
{
    for (size_t i = 0; i < m->merged.n; i++)
        if (memcmp(m->merged.all[i].bytes, name, 16) == 0)
            return true;
    return false;
}

static struct store_received *memory_received(const struct memory_store *m,
                                              const uint8_t *id)
{
    for (size_t i = 0; i < m->nreceived; i++)
        if (memcmp(m->received[i].id, id, STORE_BATCH_ID) == 0)
            return &m->received[i];
    return NULL;
}

/* What came from a hop, and what becomes of it; heads are not kept. */
static void memory_hops(struct memory_store *m, const struct store_commit *c)
{
    if (c->received != NULL) {
        m->received =
            realloc(m->received, (m->nreceived + 1) * sizeof *m->received);
        m->received[m->nreceived] = *c->received;
        m->received[m->nreceived].heads = NULL;
        m->received[m->nreceived++].heads_len = 0;
    }
    for (size_t i = 0; i < c->nmixes; i++) {
        m->mixes = realloc(m->mixes, (m->nmixes + 1) * sizeof *m->mixes);
        m->mixes[m->nmixes++] = c->mixes[i];
    }
}

static hsy_status memory_do_received(struct store *s,
                                     const uint8_t id[STORE_BATCH_ID],
                                     struct store_received *out, hsy_error *err)
{
    const struct memory_store *m = (struct memory_store *)(void *)s;
    const struct store_received *found = memory_received(m, id);

    (void)err;
    if (found == NULL)
        return HSY_E_EMPTY;
    *out = *found;
    return HSY_OK;
}

static void memory_commit(struct memory_store *m, const struct store_commit *c)
{
    m->faults += c->seq != m->state.seq + 1;
    m->state.seq = c->seq;
    for (size_t i = 0; i < c->nids; i++) {
        m->faults += c->ids[i].epoch <= m->state.closed || c->ids[i].n == 0;
        memory_append(
            &m->ids,
            (struct memory_blob){.epoch = c->ids[i].epoch,
                                 .bytes = (uint8_t *)(uintptr_t)c->ids[i].ids,
                                 .len = c->ids[i].n * sizeof(struct store_id)});
    }
    for (size_t i = 0; i < c->nbatches; i++) {
        const struct store_batch *b = &c->batches[i];

        m->faults += b->entry >= m->entries.n || b->len == 0;
        memory_append(&m->batches, (struct memory_blob){
                                       .entry = b->entry,
                                       .epoch = b->epoch,
                                       .type = b->type,
                                       .seq = c->seq,
                                       .reports = b->reports,
                                       .bytes = (uint8_t *)(uintptr_t)b->bytes,
                                       .len = b->len});
    }
    for (size_t i = 0; i < c->ncounts; i++)
        memory_count(m, &c->counts[i]);
    for (size_t i = 0; i < c->nquotas; i++)
        memory_quota(m, &c->quotas[i]);
    memory_hops(m, c);
    if (c->merged != NULL)
        memory_append(&m->merged,
                      (struct memory_blob){
                          .bytes = (uint8_t *)(uintptr_t)c->merged, .len = 16});
}

hsy_status memory_do_append(struct store *s, const struct store_commit *c,
                            hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;
    hsy_status st = memory_begin(m, &done);

    if (done && ((c->merged != NULL && memory_merged(m, c->merged)) ||
                 (c->received != NULL &&
                  memory_received(m, c->received->id) != NULL))) {
        done = false;
        st = st == HSY_OK ? HSY_E_REFUSED : st;
    }
    if (done)
        memory_commit(m, c);
    m->appends += done;
    return memory_end(m, st, err);
}

static hsy_status memory_do_document(struct store *s, const uint8_t *bytes,
                                     size_t len, uint32_t first,
                                     const uint8_t *const *entries,
                                     const size_t *lens, size_t n,
                                     hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;
    hsy_status st = memory_begin(m, &done);

    if (done) {
        m->faults += first != m->entries.n;
        memory_sift(&m->document, memory_any, 0, 0);
        memory_append(&m->document,
                      (struct memory_blob){.bytes = (uint8_t *)(uintptr_t)bytes,
                                           .len = len});
        for (size_t i = 0; i < n; i++)
            memory_append(
                &m->entries,
                (struct memory_blob){.bytes = (uint8_t *)(uintptr_t)entries[i],
                                     .len = lens[i]});
    }
    return memory_end(m, st, err);
}

static hsy_status memory_do_close(struct store *s, uint32_t through,
                                  uint32_t day, hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;
    hsy_status st = memory_begin(m, &done);
    size_t kept = 0;

    if (done) {
        m->faults +=
            !m->mends && (through < m->state.closed || day < m->state.day);
        m->state.closed = through;
        m->state.day = day;
        memory_sift(&m->ids, memory_closed, through, 0);
        for (size_t i = 0; i < m->nquotas; i++)
            if (m->quotas[i].epoch > through)
                m->quotas[kept++] = m->quotas[i];
        m->nquotas = kept;
    }
    return memory_end(m, st, err);
}

static hsy_status memory_do_figure(struct store *s,
                                   const struct store_figure *figure,
                                   hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;
    hsy_status st = memory_begin(m, &done);

    if (done) {
        memory_sift(&m->figures, memory_day, figure->entry, figure->day);
        memory_append(
            &m->figures,
            (struct memory_blob){.entry = figure->entry,
                                 .epoch = figure->day,
                                 .bytes = (uint8_t *)(uintptr_t)figure->json,
                                 .len = figure->len});
    }
    return memory_end(m, st, err);
}

static hsy_status memory_do_tidy(struct store *s, bool *more, hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;

    *more = false;
    return memory_end(m, memory_begin(m, &done), err);
}

/* ---- Tallies ------------------------------------------------------------- */

static struct memory_tally *memory_tally(struct memory_store *m,
                                         const struct store_tally *is)
{
    size_t i = 0;

    while (i < m->ntallies && (m->tallies[i].is.entry != is->entry ||
                               m->tallies[i].is.epoch != is->epoch))
        i++;
    if (i < m->ntallies)
        return &m->tallies[i];
    m->tallies = realloc(m->tallies, (++m->ntallies) * sizeof *m->tallies);
    m->tallies[i] = (struct memory_tally){.is = *is};
    return &m->tallies[i];
}

hsy_status memory_do_chunks(struct store *s, const struct store_tally *tally,
                            const struct store_chunk *chunks, size_t n,
                            hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    const size_t bytes = (size_t)tally->words * sizeof(int64_t);
    bool done;
    hsy_status st = memory_begin(m, &done);

    if (done) {
        struct memory_tally *t = memory_tally(m, tally);

        m->faults += t->is.words != tally->words;
        if (t->next == NULL && t->words != NULL)
            t->next = memory_copy(t->words, bytes);
        else if (t->next == NULL)
            t->next = calloc(1, bytes);
        for (size_t i = 0; i < n; i++)
            memcpy(t->next + (size_t)chunks[i].place * STORE_CHUNK,
                   chunks[i].words, chunks[i].n * sizeof(int64_t));
        m->chunks += n;
    }
    return memory_end(m, st, err);
}

static void memory_flip(struct memory_store *m, const struct store_round *r)
{
    for (size_t i = 0; i < m->ntallies; i++) {
        struct memory_tally *t = &m->tallies[i];

        if (t->is.entry != r->entry || t->next == NULL)
            continue;
        free(t->words);
        t->words = t->next;
        t->next = NULL;
    }
    m->faults += r->through > m->state.seq || r->through < m->through[r->entry];
    m->through[r->entry] = r->through;
    memory_sift(&m->batches, memory_folded, r->entry, r->through);
    m->rounds++;
}

static hsy_status memory_do_rounds(struct store *s,
                                   const struct store_round *rounds, size_t n,
                                   hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;
    hsy_status st = memory_begin(m, &done);

    for (size_t i = 0; done && i < n; i++)
        memory_flip(m, &rounds[i]);
    m->flips += done;
    return memory_end(m, st, err);
}

static hsy_status memory_do_settle(struct store *s, enum store_pace pace,
                                   bool *more, hsy_error *err)
{
    (void)s;
    (void)pace;
    (void)err;
    *more = false;
    return HSY_OK;
}

static void memory_forget(struct memory_store *m, size_t i)
{
    free(m->tallies[i].words);
    free(m->tallies[i].next);
    m->tallies[i] = m->tallies[--m->ntallies];
}

static hsy_status memory_do_drop(struct store *s,
                                 const struct store_tally *tallies, size_t n,
                                 hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    bool done;
    hsy_status st = memory_begin(m, &done);

    for (size_t i = 0; done && i < n; i++) {
        m->faults += tallies[i].epoch == 0 && !m->retires;
        memory_forget(m, (size_t)(memory_tally(m, &tallies[i]) - m->tallies));
    }
    m->drops += done;
    return memory_end(m, st, err);
}

/* ---- Reading back -------------------------------------------------------- */

static hsy_status memory_read_tally(const struct memory_tally *t,
                                    const struct store_reader *to)
{
    hsy_status st = to->tally == NULL ? HSY_OK : to->tally(to->ctx, &t->is);

    for (uint64_t at = 0; st == HSY_OK && to->chunk != NULL && at < t->is.words;
         at += STORE_CHUNK) {
        const uint64_t left = t->is.words - at;
        const struct store_chunk chunk = {
            .place = (uint32_t)(at / STORE_CHUNK),
            .words = t->words + at,
            .n = left < STORE_CHUNK ? (size_t)left : STORE_CHUNK};

        st = to->chunk(to->ctx, &t->is, &chunk);
    }
    return st;
}

static hsy_status memory_read_rest(struct memory_store *m,
                                   const struct store_reader *to)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < m->ntallies; i++)
        if (m->tallies[i].words != NULL)
            st = memory_read_tally(&m->tallies[i], to);
    for (size_t i = 0; st == HSY_OK && to->batch && i < m->batches.n; i++) {
        const struct memory_blob *b = &m->batches.all[i];

        if (b->type == STORE_SEALED)
            continue;
        st = to->batch(to->ctx, &(struct store_batch){.seq = b->seq,
                                                      .entry = b->entry,
                                                      .epoch = b->epoch,
                                                      .type = b->type,
                                                      .reports = b->reports,
                                                      .bytes = b->bytes,
                                                      .len = b->len});
    }
    for (size_t i = 0; st == HSY_OK && to->received && i < m->nreceived; i++)
        st = to->received(to->ctx, &m->received[i]);
    for (size_t i = 0; st == HSY_OK && to->figure && i < m->figures.n; i++) {
        const struct memory_blob *f = &m->figures.all[i];

        st =
            to->figure(to->ctx, &(struct store_figure){.entry = f->entry,
                                                       .day = f->epoch,
                                                       .json = (char *)f->bytes,
                                                       .len = f->len});
    }
    return st;
}

static hsy_status memory_do_read(struct store *s, const struct store_reader *to,
                                 hsy_error *err)
{
    struct memory_store *m = (struct memory_store *)(void *)s;
    hsy_status st = HSY_OK;

    (void)err;
    for (size_t i = 0; st == HSY_OK && to->document && i < m->document.n; i++)
        st = to->document(to->ctx, m->document.all[i].bytes,
                          m->document.all[i].len);
    for (size_t i = 0; st == HSY_OK && to->entry && i < m->entries.n; i++)
        st = to->entry(to->ctx, (uint32_t)i, m->entries.all[i].bytes,
                       m->entries.all[i].len);
    for (size_t i = 0; st == HSY_OK && to->count && i < m->ncounts; i++)
        st = to->count(to->ctx, &m->counts[i]);
    for (size_t i = 0; st == HSY_OK && to->quota && i < m->nquotas; i++)
        st = to->quota(to->ctx, &m->quotas[i]);
    for (size_t i = 0; st == HSY_OK && to->ids && i < m->ids.n; i++)
        st = to->ids(to->ctx,
                     &(struct store_ids){
                         .epoch = m->ids.all[i].epoch,
                         .ids = (struct store_id *)(void *)m->ids.all[i].bytes,
                         .n = m->ids.all[i].len / sizeof(struct store_id)});
    return st == HSY_OK ? memory_read_rest(m, to) : st;
}

static hsy_status memory_do_backup(struct store *s, const char *to,
                                   const struct store_beside *beside,
                                   hsy_error *err)
{
    (void)s;
    (void)to;
    (void)beside;
    (void)err;
    return HSY_E_REFUSED;
}

static void memory_do_nothing(struct store *s)
{
    (void)s; /* it outlives the process that is simulated */
}

const struct store_functions memory_functions = {
    .name = "memory",
    .read = memory_do_read,
    .append = memory_do_append,
    .received = memory_do_received,
    .document = memory_do_document,
    .close_epochs = memory_do_close,
    .figure = memory_do_figure,
    .tidy = memory_do_tidy,
    .chunks = memory_do_chunks,
    .rounds = memory_do_rounds,
    .settle = memory_do_settle,
    .drop = memory_do_drop,
    .backup = memory_do_backup,
    .close = memory_do_nothing,
};

/* ---- The whole ----------------------------------------------------------- */

void memory_open(struct memory_store *m, uint8_t key)
{
    *m = (struct memory_store){.base = {&memory_functions}};
    pthread_mutex_init(&m->lock, NULL);
    memset(m->state.key, key, STORE_KEY);
}

void memory_reopen(struct memory_store *m)
{
    m->crashed = false;
    m->crash_at = 0;
    for (size_t i = m->ntallies; i-- > 0;) {
        free(m->tallies[i].next);
        m->tallies[i].next = NULL;
        if (m->tallies[i].words == NULL)
            memory_forget(m, i);
    }
}

void memory_clear(struct memory_store *m)
{
    struct memory_list *lists[] = {&m->document, &m->entries, &m->ids,
                                   &m->batches,  &m->merged,  &m->figures};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        memory_sift(lists[i], memory_any, 0, 0);
        free(lists[i]->all);
    }
    while (m->ntallies != 0)
        memory_forget(m, 0);
    free(m->tallies);
    free(m->received);
    free(m->mixes);
    free(m->counts);
    free(m->quotas);
    pthread_mutex_destroy(&m->lock);
}
