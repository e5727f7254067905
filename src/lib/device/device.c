/*
 * device.c - the client: making, opening, tasks, consent, forgetting.
 *
 * Everything that changes is changed in memory, written into the image, made
 * durable by hsy_state_commit, and told to the log after that. If the commit
 * fails the device refuses everything until it is opened again, so what is in
 * memory never runs ahead of the files.
 */
#include "lib/device/internal.h"

#include "lib/bits/bytes.h"
#include "lib/bits/names.h"
#include "lib/core/fail.h"

#include <string.h>

/* ---- Memory -------------------------------------------------------------- */

static size_t device_release_bytes(const hsy_policy *policy)
{
    return policy->release_bytes == 0 ? DEVICE_RELEASE_BYTES
                                      : policy->release_bytes;
}

/* Where the parts begin after the struct, and where all ends. */
struct device_parts {
    size_t sources, records, reports, scratch, told, image, end;
};

static struct device_parts device_parts(const hsy_policy *policy)
{
    const size_t n = policy->releases, bytes = device_release_bytes(policy);
    struct device_parts p;

    p.sources = bytes_align(sizeof(hsy_device));
    p.records = p.sources + bytes_align(n * sizeof(struct device_source));
    p.reports = p.records + bytes_align(n * sizeof(struct device_record));
    p.scratch = p.reports + bytes_align(n * bytes);
    p.told = p.scratch + 3 * bytes_align(bytes);
    p.image = p.told + bytes_align(n * sizeof(uint64_t));
    p.end = p.image + bytes_align(hsy_state_room(policy->releases, bytes));
    return p;
}

static bool device_room_ok(const hsy_policy *policy)
{
    return policy->releases >= 1 && policy->releases <= DEVICE_RELEASES_MAX &&
           policy->release_bytes <= DEVICE_RELEASE_BYTES_MAX &&
           (uint64_t)policy->releases * device_release_bytes(policy) <=
               (uint64_t)1 << 30;
}

/* A program compiled before a member was there has a size without it. */
static bool device_size_ok(size_t size, size_t now, size_t before)
{
    return size == now || size == before;
}

static bool device_policy_size_ok(const hsy_policy *policy)
{
    return device_size_ok(policy->size, sizeof *policy,
                          offsetof(hsy_policy, min_batch)) ||
           policy->size == offsetof(hsy_policy, relays);
}

size_t hsy_device_size(const hsy_policy *policy)
{
    if (!device_policy_size_ok(policy) || !device_room_ok(policy))
        return sizeof(hsy_device); /* which create and open will refuse */
    return device_parts(policy).end;
}

static void device_place(hsy_device *dev)
{
    const struct device_parts p = device_parts(&dev->policy);
    const size_t each = bytes_align(dev->policy.release_bytes);
    uint8_t *base = (uint8_t *)dev;

    dev->sources = (struct device_source *)(void *)(base + p.sources);
    dev->records = (struct device_record *)(void *)(base + p.records);
    dev->reports = base + p.reports;
    for (size_t i = 0; i < 3; i++)
        dev->scratch[i] = base + p.scratch + i * each;
    dev->told = (uint64_t *)(void *)(base + p.told);
    dev->image = base + p.image;
    dev->image_room =
        hsy_state_room(dev->policy.releases, dev->policy.release_bytes);
    memset(base + p.sources, 0, p.end - p.sources);
}

/* ---- Policy -------------------------------------------------------------- */

bool hsy_device_same(const char *a, const char *b)
{
    const size_t len = strlen(a);

    return len == strlen(b) && memcmp(a, b, len) == 0;
}

static hsy_status device_sources_ok(const hsy_policy *policy, hsy_error *err)
{
    if (policy->nsources > HSY_TASKS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_NSOURCES,
                              "too many sources", HSY_TASKS_MAX);
    for (size_t i = 0; i < policy->nsources; i++) {
        const char *name = policy->sources[i].name;

        if (name == NULL || !names_ok(name, HSY_SOURCE_MAX))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_SOURCES,
                               "a name must be 1 to 64 characters of a-z, 0-9, "
                               "'.', '_', '-'",
                               HSY_UNIT_SOURCE, i + 1);
        for (size_t k = 0; k < i; k++)
            if (hsy_device_same(policy->sources[k].name, name))
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_SOURCES,
                                   "two sources have one name", HSY_UNIT_SOURCE,
                                   i + 1);
    }
    return HSY_OK;
}

static hsy_status device_policy_ok(const hsy_policy *policy, hsy_error *err)
{
    if (!device_policy_size_ok(policy))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                              "set it to sizeof(hsy_policy)", sizeof *policy);
    if (!device_room_ok(policy))
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_RELEASES,
                               "room for 1 to 4096 releases, of at most 1 GiB "
                               "in all",
                               DEVICE_RELEASES_MAX);
    return device_sources_ok(policy, err);
}

static hsy_status device_world_ok(const hsy_world *world, hsy_error *err)
{
    if (!device_size_ok(world->size, sizeof *world,
                        offsetof(hsy_world, seal)) &&
        world->size != offsetof(hsy_world, central))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                              "set it to sizeof(hsy_world)", sizeof *world);
    if (world->load == NULL || world->store == NULL || world->now == NULL ||
        world->verify == NULL || world->entropy.fill == NULL ||
        (world->anchor_read == NULL) != (world->anchor_raise == NULL))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_WORLD,
                        "a function is missing; the anchor has two or none");
    return HSY_OK;
}

/* ---- Coins, time, log ---------------------------------------------------- */

static hsy_status device_keyed(void *ctx, hsy_keyed *room, hsy_coins *coins,
                               const hsy_context *context)
{
    const hsy_device *dev = ctx;

    hsy_keyed_open(room, dev->keys.coins, context);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

void hsy_device_coins(hsy_device *dev, device_coins *open, void *ctx)
{
    dev->open = open;
    dev->open_ctx = ctx;
    for (uint32_t i = 0; i < dev->nrecords; i++)
        dev->records[i].next.until = 0; /* found by other coins */
}

hsy_status hsy_device_draw(const hsy_device *dev, struct device_draw *draw,
                           const char *purpose, const hsy_release *r,
                           const uint8_t digest[HSY_DIGEST], uint64_t number,
                           uint64_t truth)
{
    const hsy_context context = {
        .purpose = purpose,
        .source = r->task.source,
        .source_len = strlen(r->task.source),
        .digest = digest,
        .slot = number,
        .truth = truth,
    };

    return dev->open(dev->open_ctx, &draw->room, &draw->coins, &context);
}

void hsy_device_drawn(struct device_draw *draw)
{
    bytes_wipe(draw, sizeof *draw);
}

hsy_status hsy_device_ready(const hsy_device *dev, hsy_error *err)
{
    switch (dev->phase) {
    case DEVICE_READY:
        return HSY_OK;
    case DEVICE_WRITING:
        return hsy_fail(err, HSY_E_BUSY, HSY_FIELD_DEVICE,
                        "an answer is being written: end it first");
    case DEVICE_LOST:
        return hsy_fail(err, HSY_E_DAMAGED, HSY_FIELD_DEVICE,
                        "a write failed: open the device again");
    case DEVICE_CLOSED:
        break;
    }
    return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DEVICE,
                    "the device is not open");
}

/* A clock from beyond the calendar stands at its end: everything is over. */
hsy_status hsy_device_today(const hsy_device *dev, uint32_t *day,
                            uint64_t *seconds, hsy_error *err)
{
    uint64_t now = 0, most = (uint64_t)UINT32_MAX * DEVICE_DAY,
             least = (uint64_t)dev->head.day * DEVICE_DAY;

    if (dev->world.now(dev->world.ctx, &now) != HSY_OK)
        return hsy_fail(err, HSY_E_IO, HSY_FIELD_CLOCK,
                        "the clock cannot be read");
    if (now > most)
        now = most;
    if (now < least)
        now = least;
    *day = (uint32_t)(now / DEVICE_DAY);
    if (seconds != NULL)
        *seconds = now;
    return HSY_OK;
}

hsy_log_entry hsy_device_entry(uint32_t kind, const hsy_release *r,
                               uint32_t day)
{
    hsy_log_entry e = {.kind = kind, .day = day};

    if (r != NULL) {
        memcpy(e.task, r->task.id, sizeof e.task);
        memcpy(e.source, r->task.source, sizeof e.source);
        e.release = r->task.release;
    }
    return e;
}

void hsy_device_log(const hsy_device *dev, const hsy_log_entry *entry)
{
    if (dev->world.log != NULL)
        dev->world.log(dev->world.ctx, entry);
}

void hsy_device_note(hsy_device *dev, const hsy_log_entry *entry)
{
    if (dev->nnotes < DEVICE_NOTES)
        dev->notes[dev->nnotes++] = *entry;
}

void hsy_device_vacate(hsy_device *dev, const hsy_release *r, uint32_t record,
                       struct device_round *round, uint32_t day)
{
    if (round->held != 0) {
        hsy_log_entry e = hsy_device_entry(HSY_LOG_DROPPED, r, day);

        e.round = round->number - 1;
        e.slot = e.round / r->rounds;
        hsy_device_note(dev, &e);
    }
    *round = (struct device_round){.number = 0};
    bytes_wipe(device_reports(dev, record, round),
               device_round_bytes(&dev->records[record]));
}

/* ---- Making, opening, closing -------------------------------------------- */

/* By hsy_state_create or hsy_state_open. */
static hsy_status device_start(hsy_device *dev, const hsy_policy *policy,
                               const hsy_world *world,
                               hsy_status (*state)(hsy_device *, hsy_error *),
                               hsy_error *err)
{
    hsy_status st;

    memset(dev, 0, sizeof *dev);
    st = device_policy_ok(policy, err);
    if (st == HSY_OK)
        st = device_world_ok(world, err);
    if (st != HSY_OK)
        return st;
    memcpy(&dev->policy, policy, policy->size);
    dev->policy.release_bytes = device_release_bytes(policy);
    memcpy(&dev->world, world, world->size);
    dev->open = device_keyed;
    dev->open_ctx = dev;
    device_place(dev);
    st = state(dev, err);
    if (st == HSY_OK)
        dev->phase = DEVICE_READY;
    else
        hsy_device_close(dev);
    return st;
}

hsy_status hsy_device_create(hsy_device *dev, const hsy_policy *policy,
                             const hsy_world *world, hsy_error *err)
{
    return device_start(dev, policy, world, hsy_state_create, err);
}

hsy_status hsy_device_open(hsy_device *dev, const hsy_policy *policy,
                           const hsy_world *world, hsy_error *err)
{
    return device_start(dev, policy, world, hsy_state_open, err);
}

void hsy_device_close(hsy_device *dev)
{
    const size_t all =
        dev->image == NULL ? sizeof *dev : device_parts(&dev->policy).end;

    bytes_wipe(dev, all);
}

/* ---- Consent and forgetting ---------------------------------------------- */

/* Delete the reports that wait. That they were made stays: the rounds have had
 * their answers, and send null uploads. */
static void device_erase(hsy_device *dev, uint32_t record)
{
    struct device_record *rec = &dev->records[record];

    for (uint32_t i = 0; i < rec->window; i++)
        rec->rounds[i].held = 0;
    bytes_wipe(device_reports(dev, record, rec->rounds),
               dev->policy.release_bytes);
    hsy_state_record(dev, record);
}

/* HSY_OK if the device may be changed now, and the day. */
static hsy_status device_change(const hsy_device *dev, uint32_t *day,
                                hsy_error *err)
{
    hsy_status st = hsy_device_ready(dev, err);

    *day = 0;
    if (st == HSY_OK)
        st = hsy_device_today(dev, day, NULL, err);
    return st == HSY_OK ? hsy_state_current(dev, err) : st;
}

/* The person agrees to the document in force and to no later one: kept answers
 * may leave as it says, and what waits for the next slot waits no more. */
static void device_consented(hsy_device *dev, uint32_t record)
{
    struct device_record *rec = &dev->records[record];

    if (rec->admitted)
        rec->promise = rec->now;
    rec->agreed = dev->head.version;
    if (rec->resume != DEVICE_BARRED)
        rec->resume = 0;
    hsy_state_record(dev, record);
}

hsy_status hsy_device_consent_set(hsy_device *dev, hsy_consent consent,
                                  hsy_error *err)
{
    hsy_log_entry entry;
    uint32_t day;
    hsy_status st = device_change(dev, &day, err);

    if (st != HSY_OK)
        return st;
    if (consent != HSY_CONSENT_NONE && consent != HSY_CONSENT_COLLECT &&
        consent != HSY_CONSENT_SEND)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CONSENT, "no such consent");
    dev->head.consent = (uint32_t)consent;
    for (uint32_t i = 0; i < dev->nrecords; i++)
        if (consent == HSY_CONSENT_NONE)
            device_erase(dev, i);
        else
            device_consented(dev, i);
    entry = hsy_device_entry(HSY_LOG_CONSENT, NULL, day);
    entry.u.consent = (uint32_t)consent;
    hsy_device_note(dev, &entry);
    hsy_state_head(dev);
    return hsy_state_commit(dev, err);
}

hsy_consent hsy_device_consent(const hsy_device *dev)
{
    return (hsy_consent)dev->head.consent;
}

/* The record stays, without a key or a report: its release is closed. */
static void device_close_record(hsy_device *dev, uint32_t record)
{
    struct device_record *rec = &dev->records[record];

    rec->closed = 1;
    rec->used = 0;
    bytes_wipe(rec->keys, sizeof rec->keys);
    device_erase(dev, record);
}

hsy_status hsy_device_forget(hsy_device *dev, const char *source,
                             hsy_error *err)
{
    hsy_log_entry entry;
    uint32_t day, which = UINT32_MAX;
    hsy_status st = device_change(dev, &day, err);

    if (st != HSY_OK)
        return st;
    if (source != NULL) {
        which = hsy_ledger_find(dev, source);
        if (which == dev->nsources && hsy_ledger_source(dev, source) == NULL)
            return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_SOURCE,
                            "no such source");
    }
    for (uint32_t i = 0; i < dev->nrecords; i++)
        if (source == NULL || dev->records[i].source == which)
            device_close_record(dev, i);
    entry = hsy_device_entry(HSY_LOG_FORGET, NULL, day);
    if (source != NULL && which < dev->nsources)
        memcpy(entry.source, dev->sources[which].name, sizeof entry.source);
    hsy_device_note(dev, &entry);
    hsy_state_head(dev);
    return hsy_state_commit(dev, err);
}
