/*
 * zoo_client.c - a client for one question, small enough to be wrong in one
 * place only. Nothing here is wrong: a slip replaces a part.
 *
 * Fresh, it tosses new coins every day and pays every day. Memoised, it keeps
 * to the first truth, pays once and makes each day's report from the permanent
 * answer. Its state is one file, written before an answer is kept.
 */
#include "zoo_device.h"

static const struct zoo_device *zoo_slip(const struct transcript *t)
{
    return t->ctx;
}

static void zoo_client_save(struct transcript *t, const struct zoo_client *c)
{
    world_store(&t->live.world, HSY_FILE_A, (const uint8_t *)c, sizeof *c);
}

static hsy_status zoo_client_create(struct transcript *t, void *client)
{
    struct zoo_client *c = client;

    memset(c, 0, sizeof *c);
    zoo_client_save(t, c);
    return HSY_OK;
}

/* A file that was not written whole is refused by its length alone: the cuts
 * of transcript.h leave this one, which is shorter than a sector, old or new.
 */
static hsy_status zoo_client_open(struct transcript *t, void *client)
{
    size_t len;

    return world_load(&t->live.world, HSY_FILE_A, client,
                      sizeof(struct zoo_client), &len);
}

static void zoo_client_charge(struct transcript *t, struct zoo_client *c,
                              size_t release)
{
    hsy_log_entry entry = {.kind = HSY_LOG_CHARGE,
                           .u.nano_charged =
                               t->release[release].first->nano_epsilon};

    snprintf(entry.task, sizeof entry.task, "%s", t->id[release]);
    c->spent += entry.u.nano_charged;
    world_log(&t->live.world, &entry);
}

static hsy_status zoo_client_coins(struct transcript *t, struct zoo_client *c,
                                   size_t release, hsy_keyed *room,
                                   hsy_coins *coins, const hsy_context *context)
{
    hsy_context keyed = *context;

    if (zoo_slip(t)->keyed != NULL)
        zoo_slip(t)->keyed(t, c, release, &keyed);
    return transcript_coins_keyed(t, room, coins, context, &keyed);
}

/* The day's report; with fresh coins, or from the permanent answer. */
static void zoo_client_report(struct transcript *t, struct zoo_client *c,
                              size_t release, uint8_t *report, uint32_t truth)
{
    const struct transcript_release *r = &t->release[release];
    hsy_truth exact = {.type = HSY_TRUTH_INDEX, .u.index = truth};
    hsy_context context = {
        DEVICE_PURPOSE_REPORT, "s", 1, r->digest, c->day, truth};
    static hsy_keyed room;
    uint8_t permanent = 0;
    hsy_coins coins;

    if (r->memo == NULL) {
        zoo_client_coins(t, c, release, &room, &coins, &context);
        hsy_randomize(r->first, report, &exact, &coins, NULL);
        return;
    }
    context.purpose = DEVICE_PURPOSE_PERMANENT;
    context.slot = 0;
    zoo_client_coins(t, c, release, &room, &coins, &context);
    hsy_permanent_answer(r->memo, &permanent, truth, &coins);
    context.purpose = DEVICE_PURPOSE_REPORT;
    context.slot = c->day;
    zoo_client_coins(t, c, release, &room, &coins, &context);
    hsy_permanent_report(r->memo, report, &permanent, &coins.secret);
}

static void zoo_client_day(struct transcript *t, struct zoo_client *c)
{
    uint32_t day = (uint32_t)(t->live.world.seconds / WORLD_DAY);

    c->day = day > c->day ? day : c->day;
}

/* Room for another answer to send; a sequence is too short to fill it. */
static struct zoo_answer *zoo_client_room(struct zoo_client *c)
{
    for (size_t i = 0; i < ZOO_ANSWERS; i++)
        if (c->answer[i].day == 0)
            return &c->answer[i];
    puts("Bail out! more answers than a sequence has");
    exit(1);
}

static hsy_status zoo_client_answer(struct transcript *t, void *client,
                                    size_t release, uint32_t truth,
                                    hsy_answer_state *state)
{
    const struct zoo_device *slip = zoo_slip(t);
    struct zoo_client *c = client;
    struct zoo_question *q = &c->question[release / 2];
    struct zoo_answer *a;
    uint32_t slot;

    if (slip->accept != NULL && slip->accept(truth) != HSY_OK)
        return slip->accept(truth);
    zoo_client_day(t, c);
    *state = HSY_ANSWER_KEPT;
    if (q->day == c->day)
        return HSY_OK;
    slot = slip->memoised ? 1 : c->day;
    if (q->charged != slot) {
        zoo_client_charge(t, c, release);
        q->charged = slot;
        q->truth = truth;
    }
    q->day = c->day;
    c->calls++;
    a = zoo_client_room(c);
    *a = (struct zoo_answer){c->day, (uint32_t)release, {0}};
    zoo_client_report(t, c, release, a->payload, q->truth);
    if (slip->payload != NULL)
        slip->payload(a->payload, q->truth);
    zoo_client_save(t, c);
    *state = HSY_ANSWERED;
    return HSY_OK;
}

static hsy_status zoo_client_next(struct transcript *t, void *client,
                                  uint32_t releases, uint8_t *upload,
                                  size_t room, size_t *len)
{
    struct zoo_client *c = client;

    (void)releases;
    (void)room;
    zoo_client_day(t, c);
    for (size_t i = 0; i < ZOO_ANSWERS; i++) {
        const struct zoo_answer *a = &c->answer[i];
        hsy_upload head = {.kind = 1,
                           .release = 1,
                           .epoch = a->day,
                           .count = 1,
                           .length = sizeof a->payload};

        if (a->day == 0 || a->day >= c->day)
            continue;
        snprintf(head.task, sizeof head.task, "%s", t->id[a->name]);
        memcpy(head.id, &a->day, sizeof a->day);
        head.id[15] = (uint8_t)a->name;
        *len = HSY_UPLOAD_WIRE + sizeof a->payload;
        memcpy(upload + HSY_UPLOAD_WIRE, a->payload, sizeof a->payload);
        return hsy_upload_encode(upload, &head, NULL);
    }
    return HSY_E_END;
}

static hsy_status zoo_client_sent(struct transcript *t, void *client,
                                  uint32_t releases, const uint8_t *upload,
                                  size_t len)
{
    struct zoo_client *c = client;
    hsy_upload head;

    (void)releases;
    (void)len;
    if (hsy_upload_decode(&head, upload, NULL) != HSY_OK)
        return HSY_E_FORMAT;
    for (size_t i = 0; i < ZOO_ANSWERS; i++)
        if (c->answer[i].day == head.epoch && c->answer[i].name == head.id[15])
            c->answer[i].day = 0;
    zoo_client_save(t, c);
    return HSY_OK;
}

static uint64_t zoo_client_spent(struct transcript *t, void *client)
{
    const struct zoo_client *c = client;

    (void)t;
    return c->spent;
}

const struct transcript_client zoo_client_calls = {
    zoo_client_create, zoo_client_open, zoo_client_answer,
    zoo_client_next,   zoo_client_sent, zoo_client_spent};

const struct zoo_device zoo_fresh = {.name = "fresh", .slip = "none"};
const struct zoo_device zoo_memoised = {
    .name = "memoised", .slip = "none", .memoised = true};
