/*
 * mixer.c - the states of batches, and why a kill between any two steps loses
 * nothing and sends nothing twice as two batches.
 *
 * Which envelopes are whose. A decision at a first hop is an epoch e and a
 * commit S; those of one entry grow in both. An envelope of epoch x that came
 * with commit s belongs to the first decision *taken* (any state but WAITING)
 * with x <= e and s <= S. A taken decision keeps e and S for ever, and later
 * ones leave out what the last one before them has (mixer_set), so an envelope
 * belongs to one batch at most, whatever happens after. All this is said of the
 * envelopes and the decisions of one period (seal.h); those of two periods have
 * nothing to do with each other. At a later hop a batch is the envelopes of one
 * commit. The store erases envelopes by such sets only.
 *
 *   1. -> WAITING, CLOSED: one transaction. Before it all are open, and a late
 *      one joins; after it S is fixed, and a late one is of the next decision.
 *   2. CLOSED -> MIXED: files are written, synced, renamed, and the directory
 *      synced; then one transaction puts their digests. A kill before it leaves
 *      files of no row, which are removed when the mixer is opened, and CLOSED:
 *      it is mixed again with fresh coins. That is no second mix of anything
 *      that left, for only what a row says is MIXED is handed out
 *      (mixer_parcel). After it the file is there, durable, with that digest.
 *   3. MIXED: the same file is sent until there is a receipt. No step leads
 *      back to CLOSED. The receiver takes an id once and answers the same bytes
 *      with the same receipt, so a receipt that was lost is asked for again.
 *   4. MIXED -> ACKED: one transaction with the receipt, which names id, digest
 *      and n and is signed by the receiver after its own commit. Only then may
 *      anything be erased: until it is durable here the envelopes are on this
 *      disk, and from the receiver's commit on they are on the next.
 *   5. ACKED: the set is erased a little at a time, then the file, then ERASED.
 *      A kill leaves some; it goes on at the next start.
 *   6. WAITING -> EXPIRED, with the number in the row; then as 5, to GONE.
 *      What expires was never CLOSED, so nothing of it was sent.
 *
 * The last epoch of a period is decided when no upload of it comes any more,
 * and this decision does not wait: it is CLOSED, or if it is too small EXPIRED.
 * Meanwhile epochs of the next period are decided as always.
 *
 * A row is named by the key that signs. Under another key it would become MIXED
 * under another name, and be CLOSED under its own, to be mixed once more: what
 * that key has closed is left alone while another is there (mixer_ours).
 *
 * A batch of which too few open goes from CLOSED back to WAITING: nothing of it
 * had left, since it was never MIXED. It must not wait at a first hop where a
 * later decision is taken and no longer CLOSED: that one was made without these
 * envelopes, and its set would have them now. They expire.
 *
 * At a later hop what opened becomes a file first, in the way of step 2, and
 * the row that says WAITING has its digest; of a batch of which nothing opens
 * there is no file, and it expires. From then on the file stands for these
 * envelopes:
 *
 *   7. WAITING: the set is erased a little at a time, with what did not open;
 *      then the row's `through` is 0.
 *   8. The next batch of which enough open, with those that wait, is mixed with
 *      them: one transaction makes it MIXED and takes the rows that waited
 *      away. Before it their files are there; after it their envelopes are in
 *      the file of the batch, and their files are of no row.
 *   9. WAITING -> EXPIRED when the day of the hop's own clock on which the
 *      batch came is more than max_wait days ago; then the file is removed.
 */
#include "server/shuffle/internal.h"

#include "host/base/files.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/seal/seal.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define MIXER_DAY 86400u

/* ---- Rows ---------------------------------------------------------------- */

const struct mixer_task *mixer_task_of(const struct mixer *m, uint32_t entry)
{
    for (size_t i = 0; i < m->ntasks; i++)
        if (m->tasks[i].entry == entry)
            return &m->tasks[i];
    return NULL;
}

static int mixer_order(const void *a, const void *b)
{
    const struct store_mix *x = a, *y = b;

    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static bool mixer_room(struct mixer *m, size_t n)
{
    return grow_room(&m->rows, &m->rows_room, m->nrows + n, sizeof *m->rows);
}

/* A row in memory as in the store: in the place of that with its id. */
static void mixer_remember(struct mixer *m, const struct store_mix *row)
{
    size_t i = 0;

    while (i < m->nrows && memcmp(m->rows[i].id, row->id, sizeof row->id) != 0)
        i++;
    if (i == m->nrows && row->state != STORE_MIX_NONE)
        m->nrows++;
    if (i != m->nrows && row->state != STORE_MIX_NONE)
        m->rows[i] = *row;
    else if (i != m->nrows)
        m->rows[i] = m->rows[--m->nrows];
}

static void mixer_remember_all(struct mixer *m, const struct store_mix *rows,
                               size_t n)
{
    for (size_t i = 0; i < n; i++)
        mixer_remember(m, &rows[i]);
    qsort(m->rows, m->nrows, sizeof *m->rows, mixer_order);
}

hsy_status mixer_put(struct mixer *m, const struct store_mix *rows, size_t n,
                     hsy_error *err)
{
    struct store *s = m->options.store;
    hsy_status st;

    if (!mixer_room(m, n))
        return host_nomem(err);
    st = s->ops->mix(s, rows, n, err);
    if (st == HSY_OK)
        mixer_remember_all(m, rows, n);
    return st;
}

bool mixer_kept(const struct store_mix *row)
{
    static const uint8_t none[STORE_DIGEST];

    return row->state == STORE_MIX_WAITING &&
           memcmp(row->digest, none, sizeof none) != 0;
}

uint64_t mixer_unopened(const struct store_mix *row)
{
    return mixer_kept(row) ? bytes_get64(row->receipt + 8) : 0;
}

/* ---- Whose envelopes are whose ------------------------------------------- */

static uint32_t mixer_period(uint32_t epoch)
{
    return epoch / SEAL_PERIOD_DAYS;
}

bool mixer_ends_period(uint32_t epoch)
{
    return (epoch + 1) % SEAL_PERIOD_DAYS == 0;
}

bool mixer_before(const struct store_mix *row, uint32_t entry, uint32_t epoch)
{
    return row->entry == entry && row->epoch < epoch &&
           mixer_period(row->epoch) == mixer_period(epoch);
}

/* The last decision taken of an entry before an epoch; NULL: none was. */
static const struct store_mix *mixer_taken(const struct mixer *m,
                                           uint32_t entry, uint32_t before)
{
    const struct store_mix *last = NULL;

    for (size_t i = 0; i < m->nrows; i++)
        if (mixer_before(&m->rows[i], entry, before) &&
            m->rows[i].state != STORE_MIX_WAITING)
            last = &m->rows[i];
    return last;
}

/* Of a first hop: those of an epoch's period up to it and a commit, without
 * those taken before. */
static struct store_set mixer_up_to(const struct mixer *m,
                                    const struct mixer_task *t, uint32_t epoch,
                                    uint64_t through)
{
    const struct store_mix *taken = mixer_taken(m, t->entry, epoch);
    struct store_set set = {.entry = t->entry,
                            .since = mixer_period(epoch) * SEAL_PERIOD_DAYS,
                            .epoch = epoch,
                            .through = through};

    if (taken != NULL) {
        set.not_epoch = taken->epoch;
        set.not_through = taken->through;
    }
    return set;
}

struct store_set mixer_set(const struct mixer *m, const struct mixer_task *t,
                           const struct store_mix *row)
{
    if (t->place == 1)
        return mixer_up_to(m, t, row->epoch, row->through);
    return (struct store_set){.entry = t->entry,
                              .epoch = row->epoch,
                              .from = row->through,
                              .through = row->through};
}

bool mixer_ours(const struct mixer *m, const struct store_mix *row)
{
    const struct mixer_task *t = mixer_task_of(m, row->entry);
    uint8_t id[STORE_BATCH_ID];

    if (t == NULL)
        return false;
    if (row->state != STORE_MIX_CLOSED && row->state != STORE_MIX_MIXED)
        return true;
    batch_id(id, m->options.key, t->task, t->release, row->epoch, row->part);
    return memcmp(id, row->id, sizeof id) == 0;
}

/* ---- Deciding ------------------------------------------------------------ */

/* The last epoch that is over for so long that its batch closes; 0: none. */
static uint32_t mixer_due(const struct mixer_task *t,
                          const struct mixer_time *now)
{
    const uint64_t days = now->wall < t->close_after
                              ? 0
                              : (now->wall - t->close_after) / MIXER_DAY;
    const uint64_t today = days < now->day ? days : now->day;

    return today == 0 ? 0 : (uint32_t)(today - 1);
}

static const struct store_mix *mixer_last(const struct mixer *m, uint32_t entry)
{
    const struct store_mix *last = NULL;

    for (size_t i = 0; i < m->nrows; i++)
        if (m->rows[i].entry == entry)
            last = &m->rows[i];
    return last;
}

/* Whether a row of an entry waits before an epoch, and nothing that was taken
 * stands between. */
static bool mixer_waits(const struct mixer *m, const struct store_mix *row,
                        uint32_t entry, uint32_t before)
{
    const struct store_mix *taken = mixer_taken(m, entry, before);

    return mixer_before(row, entry, before) &&
           row->state == STORE_MIX_WAITING &&
           (taken == NULL || taken->epoch < row->epoch);
}

size_t mixer_let_go(const struct mixer *m, const struct store_mix *before,
                    struct store_mix *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < m->nrows; i++)
        if (mixer_before(&m->rows[i], before->entry, before->epoch) &&
            m->rows[i].state == STORE_MIX_WAITING) {
            rows[n] = m->rows[i];
            rows[n++].state = STORE_MIX_NONE;
        }
    return n;
}

hsy_status mixer_expire(const struct mixer *m, const struct mixer_task *t,
                        const struct store_mix *waits, struct store_mix *rows,
                        size_t *n, hsy_error *err)
{
    struct store *s = m->options.store;
    const struct store_mix *old = NULL;
    struct store_set set;
    uint64_t count;
    hsy_status st;

    for (size_t i = 0; i < m->nrows; i++)
        if (mixer_waits(m, &m->rows[i], t->entry, waits->epoch) &&
            waits->epoch - m->rows[i].epoch >= t->max_wait)
            old = &m->rows[i];
    if (t->max_wait == 0)
        old = waits;
    if (old == NULL)
        return HSY_OK;
    set = mixer_up_to(m, t, old->epoch, old->through);
    st = s->ops->sealed_count(s, &set, &count, err);
    if (st != HSY_OK)
        return st;
    if (old != waits)
        rows[0].n -= count; /* which are in what waits up to now */
    *n += mixer_let_go(m, old, rows + *n);
    rows[*n] = *old;
    rows[*n].n = count;
    rows[(*n)++].state = count != 0     ? STORE_MIX_EXPIRED
                         : old == waits ? STORE_MIX_WAITING
                                        : STORE_MIX_NONE;
    return HSY_OK;
}

static hsy_status mixer_decide_one(struct mixer *m, const struct mixer_task *t,
                                   uint32_t epoch, uint64_t seq, hsy_error *err)
{
    const struct store_set set = mixer_up_to(m, t, epoch, seq);
    struct store *s = m->options.store;
    struct store_mix row = {.entry = t->entry,
                            .epoch = epoch,
                            .through = seq,
                            .state = STORE_MIX_CLOSED};
    struct store_mix *rows = malloc((m->nrows + 2) * sizeof *rows);
    hsy_status st = rows == NULL ? host_nomem(err)
                                 : s->ops->sealed_count(s, &set, &row.n, err);
    size_t n = 1;

    if (st == HSY_OK && row.n == 0 && epoch > t->last) {
        free(rows); /* the task is over */
        return HSY_OK;
    }
    batch_id(row.id, m->options.key, t->task, t->release, epoch, 0);
    if (st == HSY_OK && row.n < t->min_batch)
        row.state = STORE_MIX_WAITING;
    if (st == HSY_OK) {
        rows[0] = row;
        if (row.state == STORE_MIX_WAITING)
            st = mixer_expire(m, t, &row, rows, &n, err);
    }
    if (st == HSY_OK)
        st = mixer_put(m, rows, n, err);
    free(rows);
    return st;
}

/* The last epoch of a period, of which no more come: they are a batch, or are
 * erased, as are those that no later hop would open today. */
static hsy_status mixer_end_period(struct mixer *m, const struct mixer_task *t,
                                   uint32_t epoch, uint64_t seq, hsy_error *err)
{
    const struct store_set set = mixer_up_to(m, t, epoch, seq);
    const bool old = mixer_period(epoch) + 1 < mixer_period(m->day);
    struct store *s = m->options.store;
    struct store_mix row = {.entry = t->entry, .epoch = epoch, .through = seq};
    struct store_mix *rows = malloc((m->nrows + 1) * sizeof *rows);
    hsy_status st = rows == NULL ? host_nomem(err)
                                 : s->ops->sealed_count(s, &set, &row.n, err);
    size_t n = 0;

    batch_id(row.id, m->options.key, t->task, t->release, epoch, 0);
    row.state =
        old || row.n < t->min_batch ? STORE_MIX_EXPIRED : STORE_MIX_CLOSED;
    if (st == HSY_OK && row.n != 0)
        rows[n++] = row;
    if (st == HSY_OK && row.state == STORE_MIX_EXPIRED)
        n += mixer_let_go(m, &row, rows + n);
    if (st == HSY_OK && n != 0)
        st = mixer_put(m, rows, n, err);
    free(rows);
    return st;
}

/* All periods of a task that are closed and were not decided yet; a row that
 * is forgotten has left no envelopes. */
static hsy_status mixer_end_periods(struct mixer *m, const struct mixer_task *t,
                                    const struct mixer_time *now,
                                    hsy_error *err)
{
    hsy_status st = HSY_OK;
    uint64_t end = (uint64_t)(mixer_period(t->first) + 1) * SEAL_PERIOD_DAYS;

    for (; st == HSY_OK && end - 1 <= now->closed; end += SEAL_PERIOD_DAYS) {
        const uint32_t epoch = (uint32_t)(end - 1);
        bool decided = false;

        for (size_t i = 0; i < m->nrows; i++)
            decided |=
                m->rows[i].entry == t->entry && m->rows[i].epoch == epoch;
        if (!decided)
            st = mixer_end_period(m, t, epoch, now->seq, err);
    }
    return st;
}

/* At a first hop: the epoch that is due. The last one of a period is decided
 * when it is closed, with all that came late; the day tells when to look. */
static hsy_status mixer_decide_first(struct mixer *m,
                                     const struct mixer_task *t,
                                     const struct mixer_time *now,
                                     hsy_error *err)
{
    const uint32_t due = mixer_due(t, now);
    const uint32_t epoch = due != 0 && mixer_ends_period(due) ? due - 1 : due;
    const struct store_mix *last = mixer_last(m, t->entry);
    hsy_status st = HSY_OK;

    if (epoch != 0 && (last == NULL || last->epoch < epoch))
        st = mixer_decide_one(m, t, epoch, now->seq, err);
    return st == HSY_OK && m->ended != now->day
               ? mixer_end_periods(m, t, now, err)
               : st;
}

/* At a later hop: what has waited for too long expires. */
static hsy_status mixer_expire_kept(struct mixer *m, const struct mixer_task *t,
                                    hsy_error *err)
{
    struct store_mix *rows = malloc((m->nrows + 1) * sizeof *rows);
    hsy_status st = HSY_OK;
    size_t n = 0;

    if (rows == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < m->nrows; i++) {
        const struct store_mix *row = &m->rows[i];

        if (row->entry != t->entry || !mixer_kept(row) ||
            m->day <= (uint64_t)bytes_get32(row->receipt) + t->max_wait)
            continue;
        rows[n] = *row;
        memset(rows[n].receipt, 0, sizeof rows[n].receipt);
        rows[n++].state = STORE_MIX_EXPIRED;
    }
    if (n != 0)
        st = mixer_put(m, rows, n, err);
    free(rows);
    return st;
}

static bool mixer_over(const struct store_mix *row)
{
    return row->state == STORE_MIX_ERASED || row->state == STORE_MIX_GONE;
}

/* Forget rows that are over, the oldest first, so that their number is bounded.
 * At a first hop a row that is not over holds those after it: mix_may_wait asks
 * for them. Those before it have no envelope that a later set would leave out.
 * The last one says which epochs are decided. */
static hsy_status mixer_prune(struct mixer *m, const struct mixer_task *t,
                              hsy_error *err)
{
    const struct store_mix *last = mixer_last(m, t->entry);
    struct store_mix *rows = malloc((m->nrows + 1) * sizeof *rows);
    size_t over = 0, n = 0;
    hsy_status st = rows == NULL ? host_nomem(err) : HSY_OK;

    for (size_t i = 0; i < m->nrows; i++)
        over += m->rows[i].entry == t->entry && mixer_over(&m->rows[i]);
    for (size_t i = 0; st == HSY_OK && i < m->nrows; i++) {
        const struct store_mix *row = &m->rows[i];

        if (row->entry != t->entry || (t->place != 1 && !mixer_over(row)))
            continue;
        if (!mixer_over(row) || row == last ||
            (row->epoch + MIXER_DAYS >= m->day && over - n <= MIXER_ROWS))
            break;
        rows[n] = *row;
        rows[n++].state = STORE_MIX_NONE;
    }
    if (st == HSY_OK && n != 0)
        st = mixer_put(m, rows, n, err);
    free(rows);
    return st;
}

/* Forget the batches that came so long ago that none of their day has been
 * taken since yesterday, but not those whose heads are needed to mix them. */
static hsy_status mixer_forget(struct mixer *m, hsy_error *err)
{
    struct store *s = m->options.store;
    const uint32_t days = STORE_RECEIVED_DAYS + 1;
    uint32_t before = m->day < days ? 0 : m->day - days;
    hsy_status st;

    for (size_t i = 0; i < m->nrows; i++)
        if (m->rows[i].state == STORE_MIX_CLOSED && m->rows[i].epoch < before)
            before = m->rows[i].epoch;
    if (before <= m->forgot)
        return HSY_OK;
    st = s->ops->forget_received(s, before, err);
    m->forgot = st == HSY_OK ? before : m->forgot;
    return st;
}

hsy_status mixer_decide(struct mixer *m, const struct mixer_time *now,
                        hsy_error *err)
{
    hsy_status st = HSY_OK;

    m->day = now->day;
    for (size_t i = 0; st == HSY_OK && i < m->ntasks; i++) {
        const struct mixer_task *t = &m->tasks[i];

        if (t->place != 1) /* what is opened expires without the key */
            st = mixer_expire_kept(m, t, err);
        else if (!t->shut)
            st = mixer_decide_first(m, t, now, err);
        if (st == HSY_OK)
            st = mixer_prune(m, t, err);
    }
    if (st == HSY_OK)
        m->ended = now->day;
    return st == HSY_OK ? mixer_forget(m, err) : st;
}

hsy_status mixer_came(struct mixer *m, const struct store_mix *row,
                      hsy_error *err)
{
    if (!mixer_room(m, 1))
        return host_nomem(err);
    mixer_remember_all(m, row, 1);
    return HSY_OK;
}

/* ---- Erasing ------------------------------------------------------------- */

/* Whether two rows are parts of one decision. */
static bool mixer_siblings(const struct store_mix *a, const struct store_mix *b)
{
    return a->entry == b->entry && a->epoch == b->epoch &&
           a->through == b->through && b->state != STORE_MIX_WAITING;
}

/* A row whose envelopes may be erased: all parts of its decision are there. */
static bool mixer_erasable(const struct mixer *m, const struct store_mix *row)
{
    if (row->state == STORE_MIX_EXPIRED ||
        (mixer_kept(row) && row->through != 0))
        return true;
    if (row->state != STORE_MIX_ACKED)
        return false;
    for (size_t i = 0; i < m->nrows; i++)
        if (mixer_siblings(row, &m->rows[i]) &&
            (m->rows[i].state == STORE_MIX_CLOSED ||
             m->rows[i].state == STORE_MIX_MIXED))
            return false;
    return true;
}

/* All that is left of a decision whose envelopes are erased. */
static hsy_status mixer_erased(struct mixer *m, const struct store_mix *row,
                               hsy_error *err)
{
    struct store_mix *rows = malloc((m->nrows + 1) * sizeof *rows);
    size_t n = 0;
    hsy_status st = rows == NULL ? host_nomem(err) : HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < m->nrows; i++) {
        if (!mixer_siblings(row, &m->rows[i]))
            continue;
        st = mixer_file_remove(m, &m->rows[i], err);
        rows[n] = m->rows[i];
        rows[n++].state =
            row->state == STORE_MIX_EXPIRED ? STORE_MIX_GONE : STORE_MIX_ERASED;
    }
    if (st == HSY_OK)
        st = mixer_put(m, rows, n, err);
    free(rows);
    return st;
}

static hsy_status mixer_erase(struct mixer *m, const struct store_mix *row,
                              hsy_error *err)
{
    const struct mixer_task *t = mixer_task_of(m, row->entry);
    const struct store_set set = mixer_set(m, t, row);
    struct store *s = m->options.store;
    struct store_mix waits = *row;
    bool more;
    const hsy_status st = s->ops->sealed_erase(s, &set, &more, err);

    if (st != HSY_OK || more)
        return st;
    waits.through = 0;
    return mixer_kept(row) ? mixer_put(m, &waits, 1, err)
                           : mixer_erased(m, row, err);
}

hsy_status mixer_step(struct mixer *m, bool *more, hsy_error *err)
{
    const struct store_mix *closed = NULL;

    *more = true;
    for (size_t i = 0; i < m->nrows; i++) {
        const struct mixer_task *t = mixer_task_of(m, m->rows[i].entry);

        if (t == NULL)
            continue;
        if (mixer_erasable(m, &m->rows[i]))
            return mixer_erase(m, &m->rows[i], err);
        if (closed == NULL && !t->shut &&
            m->rows[i].state == STORE_MIX_CLOSED && mixer_ours(m, &m->rows[i]))
            closed = &m->rows[i];
    }
    if (closed != NULL)
        return mixer_mix(m, closed, err);
    *more = false;
    return HSY_OK;
}

/* ---- Delivering ---------------------------------------------------------- */

static const struct store_mix *mixer_find(const struct mixer *m,
                                          const uint8_t *id)
{
    for (size_t i = 0; i < m->nrows; i++)
        if (memcmp(m->rows[i].id, id, STORE_BATCH_ID) == 0)
            return &m->rows[i];
    return NULL;
}

bool mixer_parcel(const struct mixer *m, const uint8_t *after,
                  struct mixer_parcel *out)
{
    const struct store_mix *from = after == NULL ? NULL : mixer_find(m, after);
    size_t i = from == NULL ? 0 : (size_t)(from - m->rows) + 1;

    for (; i < m->nrows; i++) {
        const struct store_mix *row = &m->rows[i];
        const struct mixer_task *t = mixer_task_of(m, row->entry);

        if (row->state != STORE_MIX_MIXED || t == NULL)
            continue;
        *out = (struct mixer_parcel){.entry = row->entry,
                                     .heads = (size_t)t->place * BATCH_HEAD,
                                     .n = row->n};
        out->bytes = out->heads + row->n * (t->length - BATCH_LAYER);
        memcpy(out->id, row->id, sizeof out->id);
        return true;
    }
    return false;
}

hsy_status mixer_acked(struct mixer *m, const uint8_t id[STORE_BATCH_ID],
                       const uint8_t receipt[STORE_RECEIPT], hsy_error *err)
{
    const struct store_mix *row = mixer_find(m, id);
    const struct mixer_task *t =
        row == NULL ? NULL : mixer_task_of(m, row->entry);
    struct store_mix next;

    if (t == NULL || row->state != STORE_MIX_MIXED)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_BATCH,
                         "no such batch waits for a receipt");
    if (!batch_receipt_holds(receipt, row->id, row->digest, row->n, t->next))
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_SIGNATURE,
                         "the receipt is not the next hop's, of this batch");
    next = *row;
    next.state = STORE_MIX_ACKED;
    memcpy(next.receipt, receipt, STORE_RECEIPT);
    return mixer_put(m, &next, 1, err);
}

const struct store_mix *mixer_rows(const struct mixer *m, size_t *n)
{
    *n = m->nrows;
    return m->rows;
}

/* ---- Opening ------------------------------------------------------------- */

hsy_status mixer_tasks(struct mixer *m, const struct mixer_task *tasks,
                       size_t n, hsy_error *err)
{
    struct mixer_task *copy = malloc((n + 1) * sizeof *copy);

    if (copy == NULL)
        return host_nomem(err);
    memcpy(copy, tasks, n * sizeof *copy);
    free(m->tasks);
    m->tasks = copy;
    m->ntasks = n;
    m->ended = 0; /* also of tasks that are new */
    return HSY_OK;
}

static hsy_status mixer_take(void *ctx, const struct store_mix *row)
{
    struct mixer *m = ctx;

    if (!mixer_room(m, 1))
        return HSY_E_NOMEM;
    m->rows[m->nrows++] = *row;
    return HSY_OK;
}

hsy_status mixer_open(struct mixer **out, const struct mixer_options *options,
                      hsy_error *err)
{
    struct mixer *m = calloc(1, sizeof *m);
    const struct store_reader to = {.ctx = m, .mix = mixer_take};
    hsy_status st;

    if (m == NULL ||
        (m->directory = file_path(options->directory, "mixed")) == NULL) {
        free(m);
        return host_nomem(err);
    }
    m->options = *options;
    st = options->store->ops->read(options->store, &to, err);
    if (st == HSY_OK)
        st = mixer_files_open(m, err);
    if (st != HSY_OK)
        mixer_close(m);
    else
        *out = m;
    return st;
}

void mixer_close(struct mixer *m)
{
    if (m == NULL)
        return;
    free(m->directory);
    free(m->tasks);
    free(m->rows);
    free(m);
}
