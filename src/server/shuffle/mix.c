/*
 * mix.c - a closed batch becomes files.
 *
 * The order is drawn first, over all that was taken in. Envelopes are then
 * opened one by one as the store hands them over, and each goes to its place in
 * a file; what does not open leaves its place empty. Without the empty places
 * the order of the others is uniform too: of all orders of the whole, each
 * order of a part is that of as many. So no file ever holds envelopes in the
 * order in which they came, and memory holds four bytes of each for the order
 * and a name of each, so that one that comes twice is left out: the next hop
 * takes no batch with two that are equal.
 *
 * A later hop opens envelopes of two periods (seal.h), by its own day, whatever
 * epoch the hop before wrote on the batch. Of these two the batch has the one
 * of that epoch. The others count as not opened, so that what leaves is of one
 * period. A majority would not do: a stranger can add many of the other one,
 * and the hop before cannot see that.
 */
#define _GNU_SOURCE /* O_CLOEXEC */

#include "server/shuffle/internal.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "host/seal/seal.h"
#include "lib/bits/bytes.h"
#include "server/shuffle/permute.h"
#include "server/store/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIX_NAME 16u         /* bytes by which an envelope is known */
#define MIX_PIECE (1u << 18) /* bytes read and written at a time */

struct mix {
    struct mixer *m;
    const struct mixer_task *t;
    const struct store_mix *closed;
    hsy_error *err;
    uint32_t *place;            /* owned: where the i-th goes */
    uint8_t *taken;             /* owned: by place, 0: there is none; else 1,
                                   of the period before 2 */
    uint8_t (*names)[MIX_NAME]; /* owned: a table of those that were opened */
    uint8_t *named;             /* owned: which places of it are filled */
    uint64_t room;              /* of it, a power of two */
    uint8_t *opened;            /* owned: one envelope */
    uint64_t in, at, n;         /* taken in, looked at, opened */
    uint64_t of[2];             /* opened, of today's period and before */
    uint32_t period;            /* at a later hop: of those in the batch */
    uint64_t waiting;           /* at a later hop: that wait for others, */
    uint64_t waited;            /* and of these in the batch, and in n */
    bool joined;                /* what waited is in the batch, if it is new */
    uint32_t since;             /* the day since which any of it has waited */
    uint32_t length;            /* of one that is opened */
    int spool;
    uint8_t heads[STORE_HEADS]; /* of the hops before */
    size_t heads_len;
};

static hsy_status mix_fail(struct mix *x, const char *msg)
{
    return batch_file_fail(x->err, HOST_FIELD_MIXES, msg);
}

/* ---- Envelopes ----------------------------------------------------------- */

/* Whether an envelope is the first of its bytes; it is remembered. */
static bool mix_first(struct mix *x, const uint8_t *envelope)
{
    uint8_t name[MIX_NAME];
    uint64_t at;

    hsy_blake2b(name, sizeof name, envelope, x->length, NULL, 0);
    memcpy(&at, name, sizeof at);
    for (at &= x->room - 1; x->named[at] != 0; at = (at + 1) & (x->room - 1))
        if (memcmp(x->names[at], name, sizeof name) == 0)
            return false;
    x->named[at] = 1;
    memcpy(x->names[at], name, sizeof name);
    return true;
}

/* Put the envelope that is opened into a place of the spool, unless an equal
 * one is there. */
static hsy_status mix_put(struct mix *x, uint64_t place, bool late)
{
    if (!mix_first(x, x->opened))
        return HSY_OK;
    x->taken[place] = late ? 2 : 1;
    x->of[late]++;
    x->n++;
    return mixer_write(x->m, x->spool, x->opened, x->length, place * x->length,
                       x->err);
}

/* An envelope, with the id of its upload before it at a first hop. */
static hsy_status mix_one(struct mix *x, uint32_t epoch, const uint8_t *item)
{
    const bool first = x->t->place == 1;
    const struct mixer_options *o = &x->m->options;
    const uint64_t place = x->place[x->at++];
    bool late = false;
    hsy_status st =
        o->peel(o->ctx, x->opened, &late, x->t, first ? epoch : x->m->day,
                first ? item : NULL, first ? item + MIXER_UPLOAD_ID : item);

    if (st == HSY_E_REFUSED || st == HSY_E_UNKNOWN)
        return HSY_OK;
    if (st != HSY_OK)
        return host_fail(x->err, st, HOST_FIELD_BATCH,
                         "an envelope could not be looked at");
    return mix_put(x, place, late);
}

static hsy_status mix_row(void *ctx, const struct store_batch *b)
{
    struct mix *x = ctx;
    const size_t item = x->t->length + (x->t->place == 1 ? MIXER_UPLOAD_ID : 0);
    hsy_status st = HSY_OK;

    if (b->len != b->reports * item || b->reports > x->in - x->at)
        return host_fail(x->err, HSY_E_DAMAGED, HOST_FIELD_BATCH,
                         "sealed envelopes of another length");
    for (size_t i = 0; st == HSY_OK && i < b->reports; i++)
        st = mix_one(x, b->epoch, b->bytes + i * item);
    return st;
}

static hsy_status mix_open_all(struct mix *x)
{
    struct store *s = x->m->options.store;
    const struct store_set set = mixer_set(x->m, x->t, x->closed);
    uint64_t at = 0;
    bool more = true;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && more)
        st = s->ops->sealed(s, &set, &at, mix_row, x, &more, x->err);
    if (st == HSY_OK && x->at != x->in)
        return host_fail(x->err, HSY_E_DAMAGED, HOST_FIELD_BATCH,
                         "sealed envelopes are missing");
    return st;
}

/* ---- Those that wait at a later hop -------------------------------------- */

static bool mix_waits(const struct mix *x, const struct store_mix *row)
{
    return row->entry == x->closed->entry && mixer_kept(row) &&
           bytes_get32(row->receipt + 4) == x->period;
}

/* Leave out those of the other period, in the batch and of what waits. */
static void mix_one_period(struct mix *x)
{
    const uint32_t today = x->m->day / SEAL_PERIOD_DAYS;
    const bool late =
        x->t->place != 1 && x->closed->epoch / SEAL_PERIOD_DAYS < today;

    for (uint64_t i = 0; i < x->in + x->waiting; i++)
        if (x->taken[i] != (late ? 2 : 1))
            x->taken[i] = 0;
    x->n = x->of[late];
    x->period = today - late;
    x->waiting = 0;
    for (size_t i = 0; i < x->m->nrows; i++)
        if (mix_waits(x, &x->m->rows[i]))
            x->waiting += x->m->rows[i].n;
}

static hsy_status mix_join_file(struct mix *x, const struct store_mix *row)
{
    const uint64_t heads = (uint64_t)x->t->place * BATCH_HEAD;
    const int fd = mixer_file_open(x->m, row->id);
    const uint32_t since = bytes_get32(row->receipt);
    hsy_status st =
        fd == -1 ? mix_fail(x, "a file that waits cannot be read") : HSY_OK;

    x->since = since < x->since ? since : x->since;
    for (uint64_t i = 0; st == HSY_OK && i < row->n; i++) {
        st =
            mixer_read(fd, x->opened, x->length, heads + i * x->length, x->err);
        if (st == HSY_OK)
            st = mix_put(x, x->place[x->at++], false);
    }
    if (fd != -1)
        close(fd);
    return st;
}

/* Add those that wait, if there are enough with them and not too many. */
static hsy_status mix_join(struct mix *x)
{
    const uint64_t own = x->n, n = own + x->waiting;
    hsy_status st = HSY_OK;

    if (n < x->t->min_batch || n > BATCH_MOST)
        return HSY_OK;
    for (size_t i = 0; st == HSY_OK && i < x->m->nrows; i++)
        if (mix_waits(x, &x->m->rows[i]))
            st = mix_join_file(x, &x->m->rows[i]);
    x->joined = true;
    x->waited = x->n - own;
    return st;
}

/* ---- Memory -------------------------------------------------------------- */

static hsy_status mix_memory(struct mix *x)
{
    const uint64_t in = x->in + x->waiting + 1; /* none is none */

    x->room = 16;
    while (x->room < 2 * in)
        x->room *= 2;
    x->length = x->t->length - BATCH_LAYER;
    x->place = malloc(in * sizeof *x->place);
    x->taken = calloc(in, 1);
    x->names = malloc(x->room * sizeof *x->names);
    x->named = calloc(x->room, 1);
    x->opened = malloc(x->length);
    return x->place == NULL || x->taken == NULL || x->names == NULL ||
                   x->named == NULL || x->opened == NULL
               ? host_nomem(x->err)
               : HSY_OK;
}

/* How many there are, and the heads of the hops before. */
static hsy_status mix_begin(struct mix *x)
{
    struct store *s = x->m->options.store;
    const struct store_set set = mixer_set(x->m, x->t, x->closed);
    uint8_t id[STORE_BATCH_ID];
    hsy_status st = s->ops->sealed_count(s, &set, &x->in, x->err);

    for (size_t i = 0; i < x->m->nrows; i++)
        if (x->m->rows[i].entry == x->closed->entry &&
            mixer_kept(&x->m->rows[i]))
            x->waiting += x->m->rows[i].n;
    if (st == HSY_OK && x->in + x->waiting > UINT32_MAX)
        st = host_fail(x->err, HSY_E_RANGE, HSY_FIELD_COUNT,
                       "more envelopes than can be mixed");
    if (st == HSY_OK && x->t->place != 1) {
        batch_id(id, x->t->before, x->t->task, x->t->release, x->closed->epoch,
                 x->closed->part);
        st = s->ops->heads(s, id, x->heads, &x->heads_len, x->err);
    }
    if (st == HSY_OK)
        st = mix_memory(x);
    if (st == HSY_OK)
        st = permute(x->place, (uint32_t)(x->in + x->waiting),
                     &x->m->options.rng);
    return st == HSY_E_ENTROPY
               ? host_fail(x->err, st, HSY_FIELD_NONE, "no randomness")
               : st;
}

static hsy_status mix_spool(struct mix *x)
{
    char *path = file_path(x->m->directory, "spool");

    if (path == NULL)
        return host_nomem(x->err);
    mixer_moment(x->m);
    x->spool =
        open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (x->spool != -1)
        unlink(path); /* nobody else needs its name */
    free(path);
    return x->spool == -1 ? mix_fail(x, "a file cannot be made") : HSY_OK;
}

static void mix_clear(struct mix *x)
{
    if (x->spool != -1)
        close(x->spool);
    free(x->place);
    free(x->taken);
    free(x->names);
    free(x->named);
    if (x->opened != NULL)
        sodium_memzero(x->opened, x->length);
    free(x->opened);
}

/* ---- Files --------------------------------------------------------------- */

/* One part on its way to its file. */
struct mix_part {
    struct batch_head head;
    crypto_generichash_state digest;
    uint8_t *piece; /* owned */
    size_t used;
    uint64_t at; /* of the file */
    int fd;
};

static hsy_status mix_flush(struct mix *x, struct mix_part *p)
{
    hsy_status st = mixer_write(x->m, p->fd, p->piece, p->used, p->at, x->err);

    p->at += p->used;
    p->used = 0;
    return st;
}

static hsy_status mix_add(struct mix *x, struct mix_part *p,
                          const uint8_t *bytes, size_t len)
{
    hsy_status st = HSY_OK;

    crypto_generichash_update(&p->digest, bytes, len);
    while (st == HSY_OK && len != 0) {
        const size_t left = MIX_PIECE - p->used, n = len < left ? len : left;

        memcpy(p->piece + p->used, bytes, n);
        p->used += n;
        bytes += n;
        len -= n;
        if (p->used == MIX_PIECE)
            st = mix_flush(x, p);
    }
    return st;
}

/* The next envelopes in the order of their places, as many as the part has. */
static hsy_status mix_envelopes(struct mix *x, struct mix_part *p,
                                uint64_t *slot)
{
    hsy_status st = mix_add(x, p, x->heads, x->heads_len);

    for (uint64_t i = 0; st == HSY_OK && i < p->head.n; i++) {
        while (x->taken[*slot] == 0)
            ++*slot;
        st = mixer_read(x->spool, x->opened, x->length, *slot * x->length,
                        x->err);
        if (st == HSY_OK)
            st = mix_add(x, p, x->opened, x->length);
        ++*slot;
    }
    return st == HSY_OK ? mix_flush(x, p) : st;
}

static hsy_status mix_head(struct mix *x, struct mix_part *p)
{
    uint8_t wire[BATCH_HEAD];
    hsy_status st;

    crypto_generichash_final(&p->digest, p->head.digest, STORE_DIGEST);
    st = batch_head_write(wire, &p->head, x->m->options.secret, x->err);
    return st == HSY_OK ? mixer_write(x->m, p->fd, wire, sizeof wire, 0, x->err)
                        : st;
}

static hsy_status mix_file(struct mix *x, struct mix_part *p, uint64_t *slot)
{
    char *path = batch_path_of(x->m->directory, p->head.id);
    char *draft = file_path(x->m->directory, "draft");
    hsy_status st = HSY_OK;

    p->piece = malloc(MIX_PIECE);
    p->at = BATCH_HEAD;
    p->fd = -1;
    if (draft == NULL || path == NULL || p->piece == NULL)
        st = host_nomem(x->err);
    if (st == HSY_OK) {
        mixer_moment(x->m);
        p->fd = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                     0600);
        st = p->fd == -1 ? mix_fail(x, "a file cannot be made") : HSY_OK;
    }
    crypto_generichash_init(&p->digest, NULL, 0, STORE_DIGEST);
    if (st == HSY_OK)
        st = mix_envelopes(x, p, slot);
    if (st == HSY_OK)
        st = mix_head(x, p);
    if (st == HSY_OK && fsync(p->fd) == -1)
        st = mix_fail(x, "a mixed batch cannot be made durable");
    mixer_moment(x->m);
    if (st == HSY_OK && rename(draft, path) == -1)
        st = mix_fail(x, "a mixed batch cannot be made durable");
    if (p->fd != -1)
        close(p->fd);
    free(p->piece);
    free(draft);
    free(path);
    return st;
}

/* ---- Parts --------------------------------------------------------------- */

/* How many batches it becomes: of few enough envelopes, and of enough. With
 * BATCH_MOST both hold, since min_batch is at most half of it (statement.c). */
static uint64_t mix_parts(const struct mix *x)
{
    const uint64_t most =
        x->m->options.part == 0 ? BATCH_MOST : x->m->options.part;
    uint64_t parts = (x->n + most - 1) / most;

    if (x->t->place != 1)
        return 1; /* it came as one */
    while (parts > 1 && x->n / parts < x->t->min_batch)
        parts--;
    return parts;
}

/* Part i of so many: its share of what opened, and of what did not. */
static struct batch_head mix_part_head(const struct mix *x, uint64_t i,
                                       uint64_t parts)
{
    const uint64_t in = x->t->place == 1 ? x->in : x->closed->n;
    const uint64_t unopened = in - (x->n - x->waited);
    struct batch_head h = {
        .place = x->t->place,
        .of = x->t->of,
        .release = x->t->release,
        .epoch = x->closed->epoch,
        .part = x->t->place == 1 ? (uint32_t)i : x->closed->part,
        .n = x->n * (i + 1) / parts - x->n * i / parts,
        .unopened = unopened * (i + 1) / parts - unopened * i / parts,
        .waited = x->waited,
        .length = x->length};

    h.in = h.n - h.waited + h.unopened;
    memcpy(h.task, x->t->task, sizeof h.task);
    memcpy(h.scheme, x->t->scheme, sizeof h.scheme);
    batch_id(h.id, x->m->options.key, h.task, h.release, h.epoch, h.part);
    return h;
}

/* All files, and the rows that name them: MIXED, or at a later hop WAITING. */
static hsy_status mix_all_parts(struct mix *x, struct store_mix *rows,
                                uint64_t parts, enum store_mix_state state)
{
    uint64_t slot = 0;
    hsy_status st = HSY_OK;

    for (uint64_t i = 0; st == HSY_OK && i < parts; i++) {
        struct mix_part part = {.head = mix_part_head(x, i, parts)};

        st = mix_file(x, &part, &slot);
        rows[i] = *x->closed;
        rows[i].part = part.head.part;
        rows[i].n = part.head.n;
        rows[i].state = state;
        if (state == STORE_MIX_WAITING) {
            bytes_put32(rows[i].receipt, x->since);
            bytes_put32(rows[i].receipt + 4, x->period);
            bytes_put64(rows[i].receipt + 8, part.head.unopened);
        }
        memcpy(rows[i].id, part.head.id, sizeof rows[i].id);
        memcpy(rows[i].digest, part.head.digest, sizeof rows[i].digest);
    }
    mixer_moment(x->m);
    if (st == HSY_OK && !store_sync(x->m->directory))
        st = mix_fail(x, "a mixed batch cannot be made durable");
    return st;
}

/* Append to rows those that waited and are in the batch now, as gone from the
 * list: how many. */
static size_t mix_let_go(const struct mix *x, struct store_mix *rows)
{
    size_t n = 0;

    if (x->t->place == 1)
        return mixer_let_go(x->m, x->closed, rows);
    for (size_t i = 0; x->joined && i < x->m->nrows; i++)
        if (mix_waits(x, &x->m->rows[i])) {
            rows[n] = x->m->rows[i];
            rows[n++].state = STORE_MIX_NONE;
        }
    return n;
}

static hsy_status mix_write(struct mix *x, enum store_mix_state state)
{
    const uint64_t parts = mix_parts(x);
    struct store_mix *rows = malloc((parts + x->m->nrows) * sizeof *rows);
    size_t gone = 0;
    hsy_status st = rows == NULL ? host_nomem(x->err)
                                 : mix_all_parts(x, rows, parts, state);

    if (st == HSY_OK) {
        gone = mix_let_go(x, rows + parts);
        st = mixer_put(x->m, rows, parts + gone, x->err);
    }
    for (size_t i = 0; st == HSY_OK && i < gone; i++)
        if (x->t->place != 1)
            st = mixer_file_remove(x->m, &rows[parts + i], x->err);
    free(rows);
    return st;
}

/* Whether they may wait for others: at a first hop, where more come in this
 * period, unless a later decision has left them out by now, which is so if
 * mixing was held up for longer than max_wait. */
static bool mix_may_wait(const struct mix *x)
{
    const struct mixer *m = x->m;
    bool passed = false;

    for (size_t i = 0; i < m->nrows; i++)
        passed |= mixer_before(x->closed, m->rows[i].entry, m->rows[i].epoch) &&
                  m->rows[i].state != STORE_MIX_WAITING &&
                  m->rows[i].state != STORE_MIX_CLOSED;
    return x->t->place == 1 && !passed && !mixer_ends_period(x->closed->epoch);
}

/* Too few could be opened to hide among: they wait for others, or where none
 * will come, expire. At a later hop nothing could be opened. */
static hsy_status mix_too_few(struct mix *x)
{
    struct store_mix *rows = malloc((x->m->nrows + 2) * sizeof *rows);
    const bool waits = mix_may_wait(x);
    size_t n = 1;
    hsy_status st = HSY_OK;

    if (rows == NULL)
        return host_nomem(x->err);
    rows[0] = *x->closed;
    rows[0].n = x->in;
    rows[0].state = waits ? STORE_MIX_WAITING : STORE_MIX_EXPIRED;
    if (waits)
        st = mixer_expire(x->m, x->t, &rows[0], rows, &n, x->err);
    else if (x->t->place == 1)
        n += mixer_let_go(x->m, x->closed, rows + 1);
    if (st == HSY_OK)
        st = mixer_put(x->m, rows, n, x->err);
    free(rows);
    return st;
}

hsy_status mixer_mix(struct mixer *m, const struct store_mix *closed,
                     hsy_error *err)
{
    const struct store_mix copy = *closed;
    struct mix x = {.m = m,
                    .t = mixer_task_of(m, closed->entry),
                    .closed = &copy,
                    .err = err,
                    .since = m->day,
                    .spool = -1};
    hsy_status st = mix_begin(&x);

    if (st == HSY_OK)
        st = mix_spool(&x);
    if (st == HSY_OK)
        st = mix_open_all(&x);
    if (st == HSY_OK) {
        mix_one_period(&x);
        st = mix_join(&x);
    }
    if (st == HSY_OK && x.n != 0 && x.n >= x.t->min_batch)
        st = mix_write(&x, STORE_MIX_MIXED);
    else if (st == HSY_OK && x.n != 0 && x.t->place != 1)
        st = mix_write(&x, STORE_MIX_WAITING);
    else if (st == HSY_OK)
        st = mix_too_few(&x);
    mix_clear(&x);
    return st;
}
