/*
 * transcript_events.h - what may happen to a device, one event after the other.
 *
 * After each event the client is asked and sends what is due. A restored or
 * forked device is set aside and goes on by itself at the end.
 */
#ifndef TRANSCRIPT_EVENTS_H
#define TRANSCRIPT_EVENTS_H

#include "rig/transcript.h"

static inline void transcript_shown(struct transcript *t, uint64_t what)
{
    transcript_mix(&t->live.shape, &what, sizeof what);
}

/* An upload has left: its header is shape, all of it is the transcript. */
static inline void transcript_left(struct transcript *t, const uint8_t *bytes,
                                   size_t len)
{
    struct transcript_life *life = &t->live;
    struct transcript_upload u = {{0}, 0};
    hsy_upload head;

    transcript_mix(&life->seen, bytes, len);
    if (len < HSY_UPLOAD_WIRE ||
        hsy_upload_decode(&head, bytes, NULL) != HSY_OK)
        return;
    head.checksum = 0;
    transcript_shown(t, head.kind);
    transcript_mix(&life->shape, head.task, sizeof head.task);
    transcript_mix(&life->shape, head.id, sizeof head.id);
    transcript_mix(&life->shape, head.digest, sizeof head.digest);
    transcript_shown(t, (uint64_t)head.epoch << 32 | head.release);
    transcript_shown(t, (uint64_t)head.count << 32 | len);
    if (head.kind != 1)
        return; /* a null upload is no answer */
    if (life->nasides > 0 &&
        (t->sampled || ((life->used & 3) != 0 && (life->used & 12) != 0)))
        return; /* a branch may have another answer to take it from */
    memcpy(u.id, head.id, sizeof u.id);
    transcript_mix(&u.bytes, bytes, len);
    for (size_t i = 0; i < life->nuploads; i++)
        if (memcmp(life->upload[i].id, u.id, sizeof u.id) == 0) {
            life->broken |= life->steady && life->upload[i].bytes != u.bytes;
            return;
        }
    if (life->nuploads < TRANSCRIPT_UPLOADS)
        life->upload[life->nuploads++] = u;
}

/* Send what is due. */
static inline void transcript_send(struct transcript *t)
{
    struct transcript_life *life = &t->live;
    uint8_t upload[HSY_UPLOAD_WIRE + 64];
    size_t len;

    for (unsigned i = 0; life->open && i < 64; i++) {
        hsy_status st = t->client->next(t, life->client, life->used, upload,
                                        sizeof upload, &len);

        transcript_shown(t, (uint64_t)st);
        if (st != HSY_OK)
            return;
        transcript_left(t, upload, len);
        transcript_shown(t, (uint64_t)t->client->sent(t, life->client,
                                                      life->used, upload, len));
    }
}

/* What the ledger has more than when it was last looked at was charged for the
 * release that is asked for. */
static inline void transcript_settle(struct transcript *t)
{
    struct transcript_life *life = &t->live;
    const uint64_t nano = t->release[life->release].nano;
    uint64_t spent, more;

    if (!life->open)
        return;
    spent = t->client->spent(t, life->client);
    more = spent > life->spent ? spent - life->spent : 0;
    t->unpaid += spent < life->spent || spent > t->cap || more % nano != 0;
    life->charges[life->release] += (uint32_t)(more / nano);
    life->own[life->release] += (uint32_t)(more / nano);
    life->paid += more;
    life->spent = spent;
}

static inline void transcript_ask(struct transcript *t)
{
    struct transcript_life *life = &t->live;
    hsy_answer_state state = 0;
    hsy_status st;

    if (!life->open)
        return;
    life->used |= 1u << life->release;
    st = t->client->answer(t, life->client, life->release, life->truth, &state);
    transcript_shown(t, (uint64_t)st << 8 | (uint64_t)state);
    transcript_settle(t);
}

static inline void transcript_open(struct transcript *t)
{
    hsy_status st = t->client->open(t, t->live.client);

    t->live.open = st == HSY_OK;
    t->refused += st != HSY_OK;
    transcript_shown(t, (uint64_t)st);
}

/* Go on with other files: their ledger is another branch's. */
static inline void transcript_switch(struct transcript *t,
                                     const struct world_disk *disk)
{
    t->live.world.disk = *disk;
    transcript_open(t);
    if (t->live.open)
        t->live.spent = t->client->spent(t, t->live.client);
}

/* Power cuts during the first or the second copy: nothing, half or all of it
 * was written. */
static const struct {
    uint32_t at;
    struct world_cut cut;
} transcript_cuts[] = {
    {1, {0, WORLD_OLD}}, {1, {0x55, WORLD_NEW}}, {1, {UINT64_MAX, WORLD_NEW}},
    {2, {0, WORLD_OLD}}, {2, {0xaa, WORLD_NEW}}, {2, {UINT64_MAX, WORLD_NEW}}};

/* The power goes while the client answers; then it is opened again. */
static inline void transcript_crash(struct transcript *t, uint32_t which)
{
    struct world *w = &t->live.world;

    w->cut_at = transcript_cuts[which % 6].at;
    w->crash = &t->crash;
    w->pending = &t->pending;
    if (setjmp(t->crash) == 0) {
        transcript_ask(t);
    } else {
        world_tear(&w->disk, &t->pending, &transcript_cuts[which % 6].cut);
        t->live.crashed = true;
    }
    w->cut_at = 0;
    transcript_open(t);
    transcript_settle(t);
}

/* Keep the device as it stands: it goes on by itself at the end. */
static inline void transcript_aside(struct transcript *t, bool asks)
{
    struct transcript_life *life = &t->live;
    struct transcript_aside *a = &life->aside[life->nasides++];

    a->disk = life->world.disk;
    a->seconds = life->world.seconds;
    a->asks = asks;
    memcpy(a->charges, life->own, sizeof a->charges);
}

/* The course of the truth goes on with this value. Two courses have the same
 * pattern if values are equal in one where they are equal in the other. */
static inline void transcript_truth(struct transcript_life *life, uint32_t d,
                                    uint32_t truth)
{
    uint32_t first = 0;

    life->course[life->ncourse++] = truth;
    while (life->course[first] != truth)
        first++;
    life->truth = truth;
    life->truths = life->truths * d + truth;
    life->pattern = life->pattern * TRANSCRIPT_COURSE + first;
    life->steady &= first == 0;
}

static inline void transcript_event(struct transcript *t, uint32_t event,
                                    uint32_t number)
{
    struct transcript_life *life = &t->live;

    switch (event) {
    case TRANSCRIPT_TRUTH:
        transcript_truth(life, t->d, transcript_choose(t, t->d));
        break;
    case TRANSCRIPT_DAY:
        life->world.seconds += WORLD_DAY;
        break;
    case TRANSCRIPT_CRASH:
        transcript_crash(t, number);
        break;
    case TRANSCRIPT_RESTORE:
        transcript_aside(t, false);
        memset(life->own, 0, sizeof life->own);
        transcript_switch(t, &t->backup);
        break;
    case TRANSCRIPT_BACK:
        life->world.seconds -= 2 * WORLD_DAY;
        break;
    case TRANSCRIPT_FORWARD:
        life->world.seconds += 2 * WORLD_DAY;
        break;
    case TRANSCRIPT_SCHEME:
        life->release ^= 2;
        break;
    case TRANSCRIPT_RENAME:
        life->release ^= 1;
        break;
    case TRANSCRIPT_FORK:
        transcript_aside(t, true);
        break;
    default:
        break;
    }
    if (life->world.seconds > life->latest)
        life->latest = life->world.seconds;
    transcript_ask(t);
    transcript_send(t);
}

static inline void transcript_finish(struct transcript *t)
{
    t->live.world.seconds = t->live.latest + (uint64_t)t->days * WORLD_DAY;
    transcript_send(t);
}

/* Where a fork copied the ledger, what stands in the copy counts again. */
static inline void transcript_count_copy(struct transcript *t,
                                         const struct transcript_aside *a)
{
    for (size_t i = 0; i < TRANSCRIPT_RELEASES && t->by_branch && a->asks; i++)
        t->live.charges[i] += a->charges[i];
}

/* Everything that is still to come: of this device, then of its doubles. */
static inline void transcript_end(struct transcript *t)
{
    struct transcript_life *life = &t->live;

    transcript_finish(t);
    for (size_t i = 0; i < life->nasides; i++) {
        life->world.seconds = life->aside[i].seconds;
        transcript_switch(t, &life->aside[i].disk);
        transcript_count_copy(t, &life->aside[i]);
        if (life->aside[i].asks)
            transcript_ask(t);
        transcript_finish(t);
    }
    t->unpaid += life->world.calls.charged > life->paid ||
                 (!life->crashed && life->world.calls.charged != life->paid);
}

#endif
