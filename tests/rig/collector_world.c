/* collector_world.c - see collector_world.h. */

#include "rig/collector_world.h"

#define WORLD_DEVICES 24u

#define WORLD_TICKS 640u

#define WORLD_LIES 3u /* reports of a liar's upload */

#define WORLD_JUMP 60u /* days that one may be which is not to be believed */

#define WORLD_FAR 3650u /* days that no clock may be ahead */

#define WORLD_NONE UINT32_MAX

#define WORLD_ENROLLED 1u /* the task that wants a token, one a device */

#define WORLD_QUOTA 1u /* uploads an epoch */

/* ---- Chance -------------------------------------------------------------- */

static uint64_t world_draw(struct world *w)
{
    uint64_t z = w->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t world_below(struct world *w, uint32_t n)
{
    return (uint32_t)(world_draw(w) % n);
}

bool world_harm(struct world *w, uint32_t n)
{
    return !w->calm && world_below(w, n) == 0;
}

static uint32_t world_today(const struct world *w)
{
    return RIG_DAY + w->tick / WORLD_DAY;
}

static void world_fault(struct world *w, const char *what)
{
    if (w->fault == NULL)
        w->fault = what;
}

/* ---- Items --------------------------------------------------------------- */

static void world_encode(struct world *w, struct world_item *item,
                         const uint8_t id[16])
{
    const struct roster_entry *entry = roster_at(w->rig.roster, item->task);
    uint8_t *payload = item->bytes + HSY_UPLOAD_WIRE;
    uint8_t reports[2 * WORLD_LIES];
    hsy_upload head = {.kind = item->null ? 2 : 1,
                       .release = entry->task.release,
                       .epoch = item->epoch,
                       .count = item->liar ? WORLD_LIES : 1};

    for (size_t i = 0; i < WORLD_LIES; i++) {
        reports[2 * i] = (uint8_t)item->cell;
        reports[2 * i + 1] = (uint8_t)(item->cell >> 8);
    }
    hsy_pack(entry->scheme, payload, reports, head.count);
    head.length = (uint32_t)hsy_packed_size(entry->scheme, head.count);
    head.checksum = hsy_crc32c(0, payload, head.length);
    memcpy(head.task, entry->task.id, sizeof head.task);
    memcpy(head.digest, entry->digest, HSY_DIGEST);
    memcpy(head.id, id, 16);
    hsy_upload_encode(item->bytes, &head, NULL);
    item->len = HSY_UPLOAD_WIRE + head.length;
}

static void world_items(struct world *w)
{
    uint8_t id[16];

    for (uint32_t i = 0; i < WORLD_ITEMS; i++) {
        struct world_item *item = &w->items[i];

        *item = (struct world_item){.device = world_below(w, WORLD_DEVICES),
                                    .task = world_below(w, RIG_TASKS),
                                    .cell = i,
                                    .born = world_below(w, WORLD_TICKS),
                                    .twin = WORLD_NONE,
                                    .null = world_below(w, 8) == 0,
                                    .liar = i % 40 == 5};
        item->epoch = RIG_DAY + item->born / WORLD_DAY;
        if (i != 0 && world_below(w, 20) == 0) {
            item->twin = i - 1; /* the id of the last item, still in `id` */
            item->born = w->items[i - 1].born;
            item->epoch = w->items[i - 1].epoch;
        } else {
            for (size_t k = 0; k < sizeof id; k++)
                id[k] = (uint8_t)world_draw(w);
        }
        world_encode(w, item, id);
    }
}

/* ---- The network --------------------------------------------------------- */

static void world_post(struct world *w, const struct world_message *m,
                       uint32_t delay)
{
    for (size_t i = 0; i < WORLD_MESSAGES; i++)
        if (w->messages[i].due == 0) {
            w->messages[i] = *m;
            w->messages[i].due = w->tick + 1 + delay;
            return;
        }
    /* The network is full: it drops. */
}

static void world_send(struct world *w, struct world_message m)
{
    if (world_harm(w, 5))
        return;
    if (world_harm(w, 30))
        m.harm = WORLD_CUT;
    else if (world_harm(w, 30))
        m.harm = WORLD_DAMAGED;
    world_post(w, &m, w->calm ? 0 : world_below(w, 6));
    if (world_harm(w, 4))
        world_post(w, &m, world_below(w, 12));
    if (!m.answer && world_harm(w, 8)) {
        w->replays++;
        world_post(w, &m, WORLD_DAY + world_below(w, 4 * WORLD_DAY));
    }
}

/* A device sends a few of the items it has. */
static void world_device(struct world *w, uint32_t device)
{
    struct world_message m = {.n = 0};

    for (uint32_t i = 0; i < WORLD_ITEMS && m.n < WORLD_BATCH; i++) {
        const struct world_item *item = &w->items[i];

        if (item->device == device && !item->done && item->born <= w->tick &&
            (w->calm || world_below(w, 3) == 0))
            m.item[m.n++] = i;
    }
    if (m.n != 0)
        world_send(w, m);
}

/* ---- The collector's side ------------------------------------------------ */

static void world_forget(struct world *w, size_t i)
{
    intake_clear(&w->waiting[i]->s.in);
    free(w->waiting[i]);
}

void world_crash(struct world *w)
{
    w->crashes++;
    w->is->kill(w);
    for (size_t i = 0; i < w->nwaiting; i++)
        world_forget(w, i);
    w->nwaiting = 0;
    memory_reopen(&w->rig.store);
    if (!w->is->open(w))
        world_fault(w, "it does not open again");
}

/* Whether the process lives after a call. */
static bool world_lives(struct world *w, hsy_status st)
{
    w->fulls += st == HSY_E_FULL;
    if (st == HSY_OK || st == HSY_E_FULL)
        return true;
    if (!w->rig.store.crashed)
        world_fault(w, "it failed, though the store did not");
    world_crash(w);
    return false;
}

static void world_arrive(struct world *w, const struct world_message *m)
{
    struct world_request *q = calloc(1, sizeof *q);
    uint8_t *body = malloc(WORLD_BATCH * WORLD_WIRE);
    size_t len = 0;

    for (uint32_t i = 0; i < m->n; i++) {
        memcpy(body + len, w->items[m->item[i]].bytes,
               w->items[m->item[i]].len);
        len += w->items[m->item[i]].len;
    }
    if (m->harm == WORLD_CUT)
        len -= 1 + world_below(w, 7);
    if (m->harm == WORLD_DAMAGED)
        body[world_below(w, (uint32_t)len)] ^=
            (uint8_t)(1 + world_below(w, 255));
    q->of = *m;
    if (intake_read(&q->s.in, w->rig.roster, w->is->days(w), w->is->gate,
                    INTAKE_BINARY, body, len, NULL) != HSY_OK) {
        if (m->harm == WORLD_WHOLE)
            world_fault(w, "a whole request was not understood");
        free(q);
        return;
    }
    if (m->harm != WORLD_WHOLE)
        world_fault(w, "a damaged request was understood");
    q->s.token[0] = (uint8_t)(1 + w->items[m->item[0]].device);
    q->s.quota = WORLD_QUOTA;
    for (uint32_t i = 0; i < m->n; i++)
        q->s.in.uploads[i].enrolled =
            w->items[m->item[i]].task == WORLD_ENROLLED;
    w->waiting[w->nwaiting++] = q;
}

static void world_answer(struct world *w, struct world_request *q)
{
    struct world_message m = q->of;

    m.answer = true;
    for (uint32_t i = 0; i < m.n; i++) {
        const enum intake_verdict v = q->s.in.uploads[i].verdict;
        struct world_item *item = &w->items[m.item[i]];

        m.final[i] = v != INTAKE_FULL && v != INTAKE_CLOCK && v != INTAKE_DOUBT;
        item->closed |= v == INTAKE_CLOSED;
        if (v == INTAKE_COUNTED || v == INTAKE_AGAIN) {
            w->acks += !item->acked;
            item->acked = true;
        } else if (v != INTAKE_FULL && v != INTAKE_CLOCK &&
                   v != INTAKE_CLOSED && v != INTAKE_EARLY &&
                   v != INTAKE_CONFLICT &&
                   (v != INTAKE_DOUBT || !w->is->doubts) &&
                   (v != INTAKE_MANY || !item->liar) &&
                   (v != INTAKE_QUOTA || item->task != WORLD_ENROLLED)) {
            world_fault(w, "a good upload was refused");
        }
    }
    if (q->s.outcome == HSY_OK)
        world_send(w, m);
}

/* Some of what waits, as one group. */
static void world_admit(struct world *w)
{
    const size_t n = w->calm ? w->nwaiting : world_below(w, 9);
    const size_t take = n < w->nwaiting ? n : w->nwaiting;
    hsy_status st;

    if (take == 0)
        return;
    for (size_t i = 0; i < take; i++)
        w->waiting[i]->s.next = i + 1 < take ? &w->waiting[i + 1]->s : NULL;
    st = w->is->admit(w, &w->waiting[0]->s);
    if (!world_lives(w, st))
        return;
    for (size_t i = 0; i < take; i++) {
        if (st == HSY_OK)
            world_answer(w, w->waiting[i]);
        world_forget(w, i);
    }
    w->nwaiting -= take;
    memmove(w->waiting, w->waiting + take,
            w->nwaiting * sizeof(struct world_request *));
}

/* ---- What goes wrong ----------------------------------------------------- */

static void world_clock(struct world *w)
{
    const uint32_t what = world_below(w, 7);

    if (what == 0)
        w->skew = (int64_t)WORLD_FAR;
    else if (what == 1)
        w->skew = -(int64_t)WORLD_FAR;
    else if (what == 2)
        w->skew = 1 + world_below(w, WORLD_STEP);
    else if (what == 3)
        w->skew = 4 + world_below(w, WORLD_JUMP);
    else
        w->skew = 0;
}

static void world_trouble(struct world *w)
{
    struct memory_store *m = &w->rig.store;

    if (world_harm(w, 60))
        world_clock(w);
    if (world_harm(w, 25))
        m->full = world_below(w, 3) == 0;
    if (world_harm(w, 60)) {
        m->crash_at = m->calls + 1 + world_below(w, 6);
        m->crash_done = world_below(w, 2) == 0;
    }
    if (world_harm(w, 120))
        world_crash(w);
}

/* ---- Checking ------------------------------------------------------------ */

static void world_check_item(struct world *w, const struct world_item *x,
                             int64_t n)
{
    if (n > 1)
        world_fault(w, "a report was counted twice");
    if (x->liar && (n > 0 || x->acked))
        world_fault(w, "an upload of many reports was taken from anybody");
    if (x->acked && !x->null && n != 1)
        world_fault(w, "an acknowledged report was lost");
    if (x->null && n > 0)
        world_fault(w, "a null was counted");
    if (x->twin != WORLD_NONE && x->acked && w->items[x->twin].acked &&
        (w->items[x->twin].task == x->task || !w->is->apart))
        world_fault(w, "one id was acknowledged with two contents");
}

/* No token has brought more than its quota. */
static void world_check_quotas(struct world *w, const int64_t *whole)
{
    uint32_t used[WORLD_DEVICES][WORLD_TICKS / WORLD_DAY + 1] = {0};

    for (uint32_t i = 0; i < WORLD_ITEMS; i++) {
        const struct world_item *x = &w->items[i];

        if (x->task == WORLD_ENROLLED && (x->null ? x->acked : whole[i] == 1) &&
            ++used[x->device][x->epoch - RIG_DAY] > WORLD_QUOTA)
            world_fault(w, "a token has brought more than its quota");
    }
}

static void world_check_task(struct world *w, uint32_t task)
{
    int64_t whole[WORLD_ITEMS] = {0}, day[WORLD_ITEMS];

    w->is->cells(w, task, 0, 0, whole);
    for (uint32_t i = 0; i < WORLD_ITEMS; i++)
        if (w->items[i].task == task)
            world_check_item(w, &w->items[i], whole[i]);
    if (w->is->quotas && task == WORLD_ENROLLED)
        world_check_quotas(w, whole);
    for (uint32_t d = RIG_DAY; d <= world_today(w); d++) {
        if (!w->is->cells(w, task, d, d, day))
            continue;
        for (uint32_t i = 0; i < WORLD_ITEMS; i++)
            if (w->items[i].task == task && w->items[i].epoch == d &&
                day[i] != whole[i])
                world_fault(w, "the tally of a day is another");
    }
}

/* Nothing waits to be folded. */
static void world_check(struct world *w)
{
    for (uint32_t task = 0; task < RIG_TASKS; task++)
        world_check_task(w, task);
    if (w->is->sound != NULL && !w->is->sound(w))
        world_fault(w, "counts and tallies differ, or a rule was broken");
    if (w->is->days(w).first > world_today(w) + WORLD_STEP + 1)
        world_fault(w, "a clock that jumped has closed days");
}

/* ---- A life -------------------------------------------------------------- */

static void world_deliver(struct world *w)
{
    for (size_t i = 0; i < WORLD_MESSAGES; i++) {
        struct world_message m = w->messages[i];

        if (m.due == 0 || m.due > w->tick)
            continue;
        w->messages[i].due = 0;
        if (!m.answer && w->nwaiting < WORLD_MESSAGES)
            world_arrive(w, &m);
        for (uint32_t k = 0; m.answer && m.harm == WORLD_WHOLE && k < m.n; k++)
            w->items[m.item[k]].done |= m.final[k];
    }
}

static struct engine_time world_now(const struct world *w)
{
    const int64_t passed = (int64_t)w->tick * (86400 / WORLD_DAY);

    return (struct engine_time){
        .wall = (uint64_t)((RIG_DAY + w->skew) * 86400 + passed),
        .steady = (uint64_t)passed};
}

static void world_tick(struct world *w)
{
    world_trouble(w);
    for (uint32_t d = 0; d < WORLD_DEVICES; d++)
        if (w->calm || world_below(w, 8) == 0)
            world_device(w, d);
    world_deliver(w);
    if (!world_lives(w, w->is->tell(w, world_now(w))))
        return;
    world_admit(w);
    if (world_lives(w, w->is->work(w)) && world_below(w, 50) == 0 &&
        world_lives(w, w->is->rest(w)) && !w->rig.store.full)
        world_check(w);
    w->tick++;
}

/* The faults are over: everything that may still be counted is. */
static void world_settle(struct world *w)
{
    w->calm = true;
    w->skew = 0;
    w->rig.store.full = false;
    w->rig.store.crash_at = 0;
    memset(w->messages, 0, sizeof w->messages);
    w->is->mend(w);
    for (int i = 0; i < 60; i++) {
        const uint32_t tick = w->tick;

        world_tick(w);
        w->tick = tick + 1;
    }
    for (uint32_t i = 0; i < WORLD_ITEMS; i++) {
        const struct world_item *x = &w->items[i];

        if (!x->done && !x->closed)
            world_fault(w, "calm has come, but it does not go on");
    }
}

const char *world_live(struct world *w, const struct world_collector *is,
                       uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->is = is;
    w->random = seed;
    if (!rig_open(&w->rig) || !is->open(w))
        return "it does not open";
    world_items(w);
    while (w->tick < WORLD_TICKS && w->fault == NULL)
        world_tick(w);
    if (w->fault == NULL)
        world_settle(w);
    if (w->fault == NULL && world_lives(w, is->rest(w)))
        world_check(w);
    world_crash(w); /* and all of it is there afterwards */
    if (w->fault == NULL && world_lives(w, is->rest(w)))
        world_check(w);
    is->kill(w);
    if (is->end != NULL)
        is->end(w);
    rig_close(&w->rig);
    return w->fault;
}
