/*
 * cluster_lane.c - uploads wait for their shard, and are committed in groups.
 *
 * A lane takes all that has come while the group before was under way: the
 * busier, the larger the groups, and the less an upload costs.
 */
#define _GNU_SOURCE
#include "server/cluster/internal.h"

#include "host/base/steady.h"
#include "host/base/threads.h"

#include <stdlib.h>
#include <time.h>

#define LANE_UPLOADS 1000u /* of a group */
#define LANE_BYTES ((size_t)4 << 20)
#define LANE_ENOUGH 250u  /* not to linger for more */
#define LANE_LINGER 5000u /* microseconds, where no standby makes it wait */

/* ---- Handing in ---------------------------------------------------------- */

static size_t lane_pieces(const struct intake *in)
{
    size_t n = 0;

    for (size_t i = 0; i < in->n; i++)
        n += in->uploads[i].verdict == INTAKE_COUNTED;
    return n;
}

/* Uploads of a day that no reading of the clock knows speak about the clock. */
static void lane_heard(struct cluster *c, const struct intake *in)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->uploads[i].verdict == INTAKE_CLOCK) {
            pthread_mutex_lock(&c->rules);
            mirror_strange(c->base.view, in->uploads[i].head.epoch);
            pthread_mutex_unlock(&c->rules);
        }
}

/* The ticket of a submission, with the place of each upload; NULL: out of
 * memory. */
static struct cluster_ticket *lane_ticket(struct cluster *c,
                                          struct submission *s, size_t n)
{
    struct cluster_ticket *t =
        malloc(sizeof *t + n * sizeof(struct cluster_piece) +
               c->nshards * sizeof(struct cluster_part));
    size_t at = 0;

    if (t == NULL)
        return NULL;
    *t = (struct cluster_ticket){.submission = s, .npieces = n};
    t->pieces = (struct cluster_piece *)(t + 1);
    t->parts = (struct cluster_part *)(t->pieces + n);
    for (size_t i = 0; i < s->in.n; i++) {
        struct intake_upload *u = &s->in.uploads[i];
        struct cluster_piece *p = &t->pieces[at];

        if (u->verdict != INTAKE_COUNTED)
            continue;
        p->upload = u;
        mirror_name(c->base.view, &p->name, u->head.id, u->digest);
        p->shard = cluster_route(c, u->entry->number, u->head.epoch, &p->name);
        if (p->shard == CLUSTER_NOWHERE)
            u->verdict = INTAKE_DOUBT;
        else
            at++;
    }
    t->npieces = at;
    t->bytes = s->in.len + n * sizeof(struct cluster_piece);
    return t;
}

/* What became of submissions, to be told all at once. */
struct lane_news {
    uint64_t verdicts[INTAKE_VERDICTS], reports, nulls;
    struct workers_times times;
};

/* Verdicts of uploads that no lane saw, and of those that lanes did. */
static void lane_note(struct lane_news *n, const struct submission *s,
                      uint64_t now)
{
    const uint64_t micros = now - s->handed;
    unsigned at = 0;

    for (size_t i = 0; i < s->in.n; i++) {
        const struct intake_upload *u = &s->in.uploads[i];

        n->verdicts[u->verdict]++;
        if (u->verdict != INTAKE_COUNTED)
            continue;
        if (u->head.kind == HSY_UPLOAD_NULL)
            n->nulls += u->head.count;
        else
            n->reports += u->head.count;
    }
    while (at < WORKERS_WAITS - 1 && micros >= UINT64_C(64) << at)
        at++;
    n->times.waits[at]++;
    n->times.submissions++;
    n->times.micros += micros;
}

static void lane_tell(struct cluster *c, const struct lane_news *n)
{
    mirror_settled(c->base.view, n->verdicts, n->reports, n->nulls);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < WORKERS_WAITS; i++)
        c->times.waits[i] += n->times.waits[i];
    c->times.submissions += n->times.submissions;
    c->times.micros += n->times.micros;
    c->times.groups += n->times.groups;
    pthread_mutex_unlock(&c->lock);
}

static void lane_answer(struct submission *s)
{
    s->outcome = HSY_OK;
    s->done(s);
}

/* No lane has any of it. */
static void lane_nothing(struct cluster *c, struct submission *s)
{
    struct lane_news news = {.reports = 0};

    lane_note(&news, s, s->handed);
    lane_tell(c, &news);
    lane_answer(s);
}

static bool lane_room(struct cluster *c, size_t bytes)
{
    size_t waiting = 0;

    for (size_t i = 0; i < c->nshards; i++)
        waiting += __atomic_load_n(&c->shards[i].bytes, __ATOMIC_RELAXED);
    return waiting + bytes <= c->o.waiting_bytes;
}

static void lane_push(struct cluster_shard *s, struct cluster_part *part)
{
    bool wake;

    part->next = NULL;
    __atomic_fetch_add(&s->bytes, part->ticket->bytes, __ATOMIC_RELAXED);
    pthread_mutex_lock(&s->lock);
    wake = s->first == NULL || s->waiting + 1 == LANE_ENOUGH;
    *s->end = part;
    s->end = &part->next;
    s->waiting++;
    pthread_mutex_unlock(&s->lock);
    if (wake) /* only what the lane waits for: a wake costs more than the rest
               */
        pthread_cond_signal(&s->wake);
}

bool cluster_submit(struct counting *counting, struct submission *s)
{
    struct cluster *c = cluster_of(counting);
    const size_t n = lane_pieces(&s->in);
    uint32_t shards[CLUSTER_SHARDS];
    bool wanted[CLUSTER_SHARDS] = {false};
    struct cluster_ticket *t;
    size_t parts = 0;

    s->handed = steady_us();
    lane_heard(c, &s->in);
    if (n == 0) {
        lane_nothing(c, s);
        return true;
    }
    t = lane_room(c, s->in.len) ? lane_ticket(c, s, n) : NULL;
    if (t == NULL)
        return false;
    for (size_t i = 0; i < t->npieces; i++)
        if (!wanted[t->pieces[i].shard]) {
            wanted[t->pieces[i].shard] = true;
            shards[parts++] = t->pieces[i].shard;
        }
    if (parts == 0) {
        free(t);
        lane_nothing(c, s);
        return true;
    }
    atomic_init(&t->left, (unsigned)parts);
    for (size_t i = 0; i < parts; i++)
        t->parts[i].ticket = t; /* before the first lane may end it */
    for (size_t i = 0; i < parts; i++)
        lane_push(&c->shards[shards[i]], &t->parts[i]);
    return true;
}

/* ---- The thread ---------------------------------------------------------- */

/* Parts that were the last of their submissions; what became of those. */
static struct cluster_part *lane_whole(struct cluster_part *list,
                                       struct lane_news *n)
{
    struct cluster_part *whole = NULL, **end = &whole, *next;
    const uint64_t now = steady_us();

    for (; list != NULL; list = next) {
        next = list->next;
        if (atomic_fetch_sub(&list->ticket->left, 1) != 1)
            continue; /* another lane has it now */
        lane_note(n, list->ticket->submission, now);
        *end = list;
        end = &list->next;
    }
    *end = NULL;
    return whole;
}

static void lane_done(struct cluster_shard *s, struct cluster_part *list)
{
    struct lane_news news = {.times.groups = 1};

    list = lane_whole(list, &news);
    lane_tell(s->c, &news);
    while (list != NULL) {
        struct cluster_ticket *t = list->ticket;

        list = list->next;
        lane_answer(t->submission);
        free(t);
    }
}

static void lane_group(struct cluster_shard *s, struct cluster_part *list)
{
    struct group *g = &s->group;
    bool good = true;

    group_begin(g);
    for (struct cluster_part *p = list; p != NULL; p = p->next)
        good = good && group_add(g, p->ticket, s->number);
    if (good && group_sort(g)) {
        cluster_commit(s);
        for (size_t i = 0; i < g->n; i++)
            g->items[i].piece->upload->verdict = g->items[i].verdict;
    } else { /* out of memory */
        for (struct cluster_part *p = list; p != NULL; p = p->next)
            for (size_t i = 0; i < p->ticket->npieces; i++)
                if (p->ticket->pieces[i].shard == s->number)
                    p->ticket->pieces[i].upload->verdict = INTAKE_DOUBT;
    }
    lane_done(s, list);
}

/* As many as a group may have; with the lock. */
static struct cluster_part *lane_take(struct cluster_shard *s)
{
    struct cluster_part *list = s->first, *last = NULL;
    size_t uploads = 0, bytes = 0;

    for (struct cluster_part *p = list; p != NULL; p = p->next) {
        if (last != NULL && (uploads + p->ticket->npieces > LANE_UPLOADS ||
                             bytes + p->ticket->bytes > LANE_BYTES))
            break;
        uploads += p->ticket->npieces;
        bytes += p->ticket->bytes;
        s->waiting--;
        last = p;
    }
    if (last != NULL) {
        s->first = last->next;
        last->next = NULL;
    }
    if (s->first == NULL)
        s->end = &s->first;
    __atomic_fetch_sub(&s->bytes, bytes, __ATOMIC_RELAXED);
    return list;
}

/* Where commits do not wait for a standby they are small: wait a little. */
static void lane_linger(struct cluster_shard *s)
{
    struct pg_found found;
    struct timespec until;

    pg_place_found(s->place, &found);
    if (found.replicated || s->waiting >= LANE_ENOUGH || s->stopping)
        return;
    until = steady_after(LANE_LINGER);
    while (s->waiting < LANE_ENOUGH && !s->stopping &&
           pthread_cond_timedwait(&s->wake, &s->lock, &until) == 0)
        continue;
}

/*
 * Waits for uploads, with the lock. While commits fail the lane also commits a
 * probe every second. The trouble `not-committing` makes a node not ready, a
 * proxy then sends it no uploads, and without uploads nothing else would find
 * out that commits succeed again. Ending the trouble after some seconds without
 * uploads was the alternative: the node would call itself ready again and
 * again, and each time fail the uploads that come. A probe that waits for a
 * standby leaves a session behind that waits on after the link is dropped, so
 * there are no probes while the server has no standby: the keeper sees its
 * return.
 */
static void lane_wait(struct cluster_shard *s)
{
    const struct timespec until = steady_after(1000 * CLUSTER_PROBE);
    struct pg_found found;
    int late = 0;

    if (s->failing == 0) {
        pthread_cond_wait(&s->wake, &s->lock);
        return;
    }
    while (s->first == NULL && !s->stopping && late == 0)
        late = pthread_cond_timedwait(&s->wake, &s->lock, &until);
    pg_place_found(s->place, &found);
    if (s->first != NULL || s->stopping || (found.replicated && !found.standby))
        return;
    pthread_mutex_unlock(&s->lock);
    cluster_probe(s);
    pthread_mutex_lock(&s->lock);
}

static void *lane_main(void *ctx)
{
    struct cluster_shard *s = ctx;

    pthread_mutex_lock(&s->lock);
    while (!s->stopping || s->first != NULL) {
        struct cluster_part *list;

        if (s->first == NULL) {
            lane_wait(s);
            continue;
        }
        lane_linger(s);
        list = lane_take(s);
        pthread_mutex_unlock(&s->lock);
        lane_group(s, list);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool cluster_lane_start(struct cluster_shard *s)
{
    s->runs = thread_start(&s->thread, lane_main, s);
    return s->runs;
}

void cluster_lane_stop(struct cluster_shard *s)
{
    if (!s->runs)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->runs = false;
}
