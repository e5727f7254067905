/*
 * test_device_documents.c - L09: nothing a server sends raises what a program
 * allows.
 *
 * Three kinds of hostile documents. Changed on the way: any byte, not signed
 * again. Changed by who has the signing key: any bytes, signed. And made up:
 * random epsilons, sources, plans, counts, domains, days, versions and keys, in
 * proper form. What is taken is signed, not older than what was taken before
 * and not expired; what is admitted stays within the policy, is asked for three
 * days, and spends no more than the caps. HSY_TEST_LONG=1 sends 100 times as
 * many.
 */
#include "lib/bits/bytes.h"
#include "rig/device_world.h"
#include "tap.h"

#define DOCUMENTS_SEED 9u
#define DOCUMENTS_TASKS 3u
#define DOCUMENTS_LEAST 100000u
#define DOCUMENTS_VERSION 5u
#define DOCUMENTS_ANSWER 1000000000u
#define DOCUMENTS_DAY 1500000000u
#define DOCUMENTS_LIFE 3500000000u

struct documents {
    struct world world;
    struct world_setup setup;
    struct world_task task[DOCUMENTS_TASKS];
    hsy_device *dev;
    uint8_t *memory; /* the device, with the honest document taken */
    size_t size;
    struct world before;
    hsy_stream stream;

    uint64_t sent, taken, admitted, answered;
    uint64_t unsigned_taken, old_taken, moved, beyond, overspent;
};

static uint64_t documents_coin(struct documents *d)
{
    hsy_rng rng = hsy_stream_rng(&d->stream);
    uint8_t bytes[8];

    if (rng.fill(rng.ctx, bytes, sizeof bytes) != HSY_OK)
        abort();
    return bytes_get64(bytes);
}

/* One of n numbers. */
#define DOCUMENTS_ONE_OF(d, list)                                              \
    (list)[documents_coin(d) % (sizeof(list) / sizeof *(list))]

/* Three honest tasks: two on a source, one on the other. */
static void documents_init(struct documents *d)
{
    hsy_spec rr = trial_values("rr", 2, 1), grr = trial_values("grr", 4, 0.5);
    hsy_spec half = trial_values("rr", 2, 0.5);

    world_init(&d->world, DOCUMENTS_SEED);
    world_setup_init(&d->setup, &d->world, false, DOCUMENTS_DAY,
                     DOCUMENTS_LIFE);
    d->setup.source[0].cap_answer = DOCUMENTS_ANSWER;
    d->setup.source[1].cap_answer = DOCUMENTS_ANSWER / 2;
    world_task_init(&d->task[0], "yes", &rr, NULL, 30);
    world_task_init(&d->task[1], "kept", &half, &rr, 28);
    d->task[1].task.slot_days = 7;
    d->task[1].task.round_days = 1;
    world_task_init(&d->task[2], "four", &grr, NULL, 30);
    snprintf(d->task[2].task.source, sizeof d->task[2].task.source, "t");
    d->size = hsy_device_size(&d->setup.policy);
    d->dev = trial_memory(d->size);
    d->memory = trial_memory(d->size);
    world_must(
        hsy_device_create(d->dev, &d->setup.policy, &d->setup.behind, NULL),
        "create", &(hsy_error){0});
    world_must(hsy_device_consent_set(d->dev, HSY_CONSENT_SEND, NULL),
               "consent", &(hsy_error){0});
    hsy_stream_seed(&d->stream, DOCUMENTS_SEED, 1);
}

/* The honest document, taken. */
static void documents_honest(struct documents *d)
{
    hsy_error err = {0};
    hsy_document doc;

    d->setup.document =
        world_document(d->task, DOCUMENTS_TASKS, DOCUMENTS_VERSION, world_key,
                       &d->setup.document_len);
    world_must(hsy_device_accept_document(d->dev, &doc, d->setup.document,
                                          d->setup.document_len, &err),
               "take", &err);
    memcpy(d->memory, d->dev, d->size);
    d->before = d->world;
}

/* ---- What became of a document ------------------------------------------- */

/* Whether a release is within the policy, by its own numbers. */
static bool documents_within(const struct documents *d, const hsy_release *r)
{
    hsy_release_info info;

    hsy_release_describe(r, &info);
    for (size_t i = 0; i < WORLD_SOURCES; i++)
        if (strcmp(info.task.source, d->setup.source[i].name) == 0)
            return info.nano_report <= d->setup.source[i].cap_answer &&
                   info.nano_slot <= DOCUMENTS_DAY &&
                   info.nano_slot <= DOCUMENTS_LIFE;
    return false;
}

/* Ask it for three days; whatever kind it is, an index or a number is a truth
 * or a mistake of the program. */
static void documents_ask(struct documents *d, const hsy_release *r)
{
    hsy_truth truth = {.type = HSY_TRUTH_INDEX};
    hsy_release_info info;

    hsy_release_describe(r, &info);
    d->world.seconds = ((uint64_t)info.task.start + 1) * WORLD_DAY;
    for (uint32_t i = 0; i < 3; i++) {
        hsy_answer_state state = 0;
        hsy_budget all = {0};

        (void)hsy_device_answer(d->dev, &state, r, &truth, NULL);
        d->answered += state == HSY_ANSWERED;
        if (hsy_device_budget(d->dev, &all, NULL, NULL) != HSY_OK)
            d->overspent++;
        d->overspent += all.spent_lifetime > DOCUMENTS_LIFE ||
                        all.spent_day > DOCUMENTS_DAY;
        d->world.seconds += WORLD_DAY;
    }
}

static void documents_admit(struct documents *d, const hsy_document *doc,
                            uint32_t i)
{
    hsy_release *r;
    hsy_task task;

    hsy_document_task(doc, &task, i);
    r = trial_memory(hsy_release_size(&task));
    if (hsy_device_admit(d->dev, r, doc, i, NULL) == HSY_OK) {
        d->admitted++;
        d->beyond += !documents_within(d, r);
        documents_ask(d, r);
    }
    free(r);
}

/* What day it is to the device. */
static uint32_t documents_day(struct documents *d)
{
    hsy_budget all = {0};

    (void)hsy_device_budget(d->dev, &all, NULL, NULL);
    return all.day;
}

/* Send it to a device that has the honest one. */
static void documents_send(struct documents *d, const uint8_t *bytes,
                           size_t len)
{
    hsy_document doc;

    memcpy(d->dev, d->memory, d->size);
    d->world = d->before;
    d->sent++;
    if (hsy_device_accept_document(d->dev, &doc, bytes, len, NULL) != HSY_OK)
        return;
    d->taken++;
    d->unsigned_taken +=
        len < HSY_SIGNATURE ||
        !world_verify(&d->world, world_key, bytes + len - HSY_SIGNATURE, bytes,
                      len - HSY_SIGNATURE);
    d->old_taken += doc.version < DOCUMENTS_VERSION ||
                    doc.expires <= WORLD_START ||
                    (doc.version == DOCUMENTS_VERSION &&
                     (len != d->setup.document_len ||
                      memcmp(bytes, d->setup.document, len) != 0));
    d->moved += documents_day(d) != WORLD_START;
    for (uint32_t i = 0; i < doc.tasks; i++)
        documents_admit(d, &doc, i);
}

/* ---- Kinds of documents -------------------------------------------------- */

/* The next version with some bytes changed, signed again or not; now and then
 * cut short. */
static void documents_mutated(struct documents *d, const uint8_t *base,
                              size_t len, bool sign)
{
    uint8_t *bytes = trial_memory(len);
    size_t body = len - HSY_SIGNATURE;
    size_t changes = 1 + documents_coin(d) % 3;

    memcpy(bytes, base, len);
    for (size_t i = 0; i < changes; i++) {
        uint64_t coin = documents_coin(d);
        size_t at = (size_t)(coin >> 16) % (sign ? body : len);

        /* A bit, or a byte at an end of its range. */
        bytes[at] = coin % 4 == 0   ? (uint8_t)(coin >> 8)
                    : coin % 4 == 1 ? (uint8_t)0xff
                    : coin % 4 == 2 ? (uint8_t)0
                                    : (uint8_t)(bytes[at] ^ 1u << coin / 4 % 8);
    }
    if (memcmp(bytes, base, body) != 0) {
        if (documents_coin(d) % 16 == 0)
            body -= documents_coin(d) % (body / 8);
        if (sign)
            world_sign(bytes + body, world_key, bytes, body);
        documents_send(d, bytes, body + HSY_SIGNATURE);
    }
    free(bytes);
}

/* A task with anything in it that its form allows. */
static void documents_any_task(struct documents *d, struct world_task *t)
{
    static const char *const sources[] = {"s", "t", "u", "s.", "device"};
    static const char *const mechanisms[] = {"rr", "grr", "oue", "olh"};
    static const uint32_t domains[] = {2, 3, 1000, 100000, HSY_VALUES_MAX};
    static const uint32_t small[] = {1, 1, 2, 3, 7, 16, 64};
    static const uint32_t days[] = {0, 1, 2, 7, 28};
    static const double epsilons[] = {0.001, 0.4, 0.5, 1,   1.000000001,
                                      1.5,   1.6, 4,   31.9};
    const char *mechanism = DOCUMENTS_ONE_OF(d, mechanisms);
    double epsilon = DOCUMENTS_ONE_OF(d, epsilons);
    hsy_spec spec =
        trial_values(mechanism, DOCUMENTS_ONE_OF(d, domains), epsilon);
    hsy_spec kept;
    bool two = documents_coin(d) % 2 == 0;

    if (strcmp(mechanism, "rr") == 0 || !trial_resolves(&spec))
        spec.d = 2;
    if (!trial_resolves(&spec)) /* some bits have no epsilon that large */
        spec.mechanism = "rr";
    kept = spec;
    kept.nano_epsilon = 2 * spec.nano_epsilon;
    two = two && trial_resolves(&kept);
    world_task_init(t, "any", &spec, two ? &kept : NULL, 28);
    snprintf(t->task.source, sizeof t->task.source, "%s",
             DOCUMENTS_ONE_OF(d, sources));
    t->task.release = DOCUMENTS_ONE_OF(d, small);
    t->task.slot_days = DOCUMENTS_ONE_OF(d, days);
    t->task.round_days = two ? 1 : 0;
    t->task.max_changes = two ? DOCUMENTS_ONE_OF(d, small) : 1;
    t->task.answers = DOCUMENTS_ONE_OF(d, small);
    t->task.sends = DOCUMENTS_ONE_OF(d, small);
    if (documents_coin(d) % 4 == 0)
        t->task.start = (uint32_t)(documents_coin(d) % t->task.end);
}

static void documents_made_up(struct documents *d)
{
    static const uint64_t versions[] = {1, 4, 5, 6, 6, 6, 7, UINT64_MAX};
    static const uint32_t expires[] = {
        0, 1, WORLD_START, WORLD_START + 1, WORLD_START + 100, 2932000};
    static const uint32_t issued[] = {
        0, 0, WORLD_START, WORLD_START + 1, WORLD_START + 2, 2931999};
    uint8_t key[HSY_SIGN_KEY], *bytes;
    struct world_task task;
    hsy_document doc = {.version = DOCUMENTS_ONE_OF(d, versions),
                        .issued = DOCUMENTS_ONE_OF(d, issued),
                        .expires = DOCUMENTS_ONE_OF(d, expires)};
    size_t len;

    documents_any_task(d, &task);
    memcpy(key, world_key, sizeof key);
    key[0] ^= documents_coin(d) % 8 == 0;
    if (hsy_document_encode(&doc, NULL, 0, &len, &task.task, 1, NULL) != HSY_OK)
        return;
    bytes = trial_memory(len + HSY_SIGNATURE);
    if (hsy_document_encode(&doc, bytes, len, &len, &task.task, 1, NULL) ==
        HSY_OK) {
        world_sign(bytes + len, key, bytes, len);
        documents_send(d, bytes, len + HSY_SIGNATURE);
    }
    free(bytes);
}

/* Documents that say it is tomorrow, and tomorrow again, renew no day's cap. */
static void documents_dates(struct documents *d)
{
    uint64_t spent = 0;

    memcpy(d->dev, d->memory, d->size);
    d->world = d->before;
    for (uint32_t n = 1; n <= 5; n++) {
        hsy_spec spec = trial_values("rr", 2, 1);
        const hsy_truth truth = {.type = HSY_TRUTH_INDEX};
        struct world_task task;
        hsy_document doc = {.version = DOCUMENTS_VERSION + n,
                            .issued = WORLD_START + n,
                            .expires = WORLD_START + 100};
        uint8_t bytes[2048];
        hsy_release *r;
        size_t len;

        world_task_init(&task, "date", &spec, NULL, 30);
        task.task.start -= n; /* another release */
        world_must(hsy_document_encode(&doc, bytes,
                                       sizeof bytes - HSY_SIGNATURE, &len,
                                       &task.task, 1, NULL),
                   "document", &(hsy_error){0});
        world_sign(bytes + len, world_key, bytes, len);
        if (hsy_device_accept_document(d->dev, &doc, bytes, len + HSY_SIGNATURE,
                                       NULL) != HSY_OK)
            continue;
        r = trial_memory(hsy_release_size(&task.task));
        if (hsy_device_admit(d->dev, r, &doc, 0, NULL) == HSY_OK)
            (void)hsy_device_answer(d->dev, NULL, r, &truth, NULL);
        free(r);
    }
    spent = world_spent(d->dev, NULL);
    ok(spent > 0 && spent <= DOCUMENTS_DAY,
       "documents from the future spend one day's cap (%.1f)",
       (double)spent / 1e9);
}

/* Epsilon above the policy by one part in 10^9, and just within. */
static void documents_edges(struct documents *d)
{
    const struct {
        uint64_t nano;
        const char *source;
        bool admitted;
    } edges[] = {{DOCUMENTS_ANSWER, "s", true},
                 {DOCUMENTS_ANSWER + 1, "s", false},
                 {DOCUMENTS_ANSWER / 2, "t", true},
                 {DOCUMENTS_ANSWER / 2 + 1, "t", false},
                 {HSY_EPSILON_MIN, "u", false}};

    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        hsy_spec spec = trial_values("rr", 2, 1);
        uint64_t before = d->admitted;
        struct world_task task;
        uint8_t *bytes;
        size_t len;

        spec.nano_epsilon = edges[i].nano;
        world_task_init(&task, "edge", &spec, NULL, 30);
        snprintf(task.task.source, sizeof task.task.source, "%s",
                 edges[i].source);
        bytes =
            world_document(&task, 1, DOCUMENTS_VERSION + 1, world_key, &len);
        documents_send(d, bytes, len);
        is_u64(d->admitted - before, edges[i].admitted,
               "epsilon %.9f of source %s: %s", (double)edges[i].nano / 1e9,
               edges[i].source, edges[i].admitted ? "admitted" : "refused");
        free(bytes);
    }
}

int main(void)
{
    const uint64_t n = getenv("HSY_TEST_LONG") != NULL ? 5500000 : 55000;
    static struct documents d;
    uint64_t forged;
    uint8_t *base;
    size_t len;

    documents_init(&d);
    documents_honest(&d);
    documents_edges(&d);
    documents_dates(&d);
    base = world_document(d.task, DOCUMENTS_TASKS, DOCUMENTS_VERSION + 1,
                          world_key, &len);
    d.taken = 0;
    for (uint64_t i = 0; i < n; i++)
        documents_mutated(&d, base, len, false);
    forged = d.taken;
    is_u64(forged, 0, "L09: none of %llu documents changed on the way is taken",
           (unsigned long long)d.sent);
    for (uint64_t i = 0; i < n; i++)
        documents_mutated(&d, base, len, true);
    for (uint64_t i = 0; i < n; i++)
        documents_made_up(&d);
    printf("# %llu sent, %llu taken, %llu tasks admitted, %llu answers\n",
           (unsigned long long)d.sent, (unsigned long long)d.taken,
           (unsigned long long)d.admitted, (unsigned long long)d.answered);
    ok(d.sent >= DOCUMENTS_LEAST && d.admitted > n / 100 &&
           d.answered > n / 100,
       "some of them are taken, admitted and answered");
    is_u64(d.unsigned_taken, 0, "L09: every document taken is signed");
    is_u64(d.old_taken, 0, "L09: none is older than the last, or expired");
    is_u64(d.moved, 0, "L09: none moves the device's day");
    is_u64(d.beyond, 0, "L09: no task admitted asks for more than the policy");
    is_u64(d.overspent, 0, "L09: and none gets more than the caps");
    free(base);
    free(d.setup.document);
    free(d.memory);
    free(d.dev);
    return tap_done();
}
