/*
 * test_transcripts.c - X3: the real client, every sequence of events, every
 * coin: no transcript tells more than the ledger says.
 *
 * Sequences of 2 to 4 events (HSY_TEST_LONG=1: 4 to 6) after a first answer,
 * each followed by another question; tests/rig/transcript.h has what is
 * checked. The policies: one answer for the task's life, fresh answers every
 * day, permanent answers for a slot of several rounds with one and with two
 * keys, caps that are soon reached (L11: who is silent, and when, does not
 * depend on a truth), and an anchor. Coins that forget the scheme, the slot or
 * the truth, and a disk that loses a debit, must be noticed by the same check.
 */
#include "rig/transcript_check.h"

#include <stdlib.h>

/* What one run is about; 0 of a cap: far away. */
struct transcripts_plan {
    const char *name;
    uint32_t d;
    bool kept; /* permanent answers */
    uint32_t days, slot_days, round_days;
    uint32_t max_changes, answers, sends;
    uint32_t length, longer; /* in CI, and in the long run */
    uint64_t day, life;      /* caps in nano-epsilon */
    bool anchored, tight;    /* some transcript tells all that was paid for */
};

#define TRANSCRIPTS_FAR (1000ull * HSY_NANO)

static const struct transcripts_plan transcripts_plans[] = {
    {"once", 2, false, 6, 0, 0, 1, 1, 1, 3, 5, 0, 0, false, true},
    {"daily", 2, false, 9, 1, 0, 1, 1, 1, 4, 6, 0, 0, false, true},
    {"daily of three", 3, false, 9, 1, 0, 1, 1, 1, 2, 4, 0, 0, false, true},
    {"two a day", 2, false, 9, 1, 0, 1, 2, 2, 2, 4, 0, 0, false, true},
    {"one of two a day", 2, false, 9, 1, 0, 1, 2, 1, 2, 4, 0, 0, false, true},
    {"kept", 2, true, 8, 4, 2, 1, 1, 1, 3, 5, 0, 0, false, false},
    {"kept of three", 3, true, 8, 4, 2, 1, 1, 1, 2, 4, 0, 0, false, false},
    {"kept, two keys", 2, true, 8, 4, 2, 2, 1, 1, 3, 5, 0, 0, false, false},
    {"kept, two keys of three", 3, true, 8, 4, 1, 2, 1, 1, 2, 4, 0, 0, false,
     false},
    {"capped", 2, false, 9, 1, 0, 1, 1, 1, 3, 5, HSY_NANO, 1750000000u, false,
     true},
    {"anchored", 2, false, 9, 1, 0, 1, 1, 1, 3, 5, 0, 0, true, true},
};

/* The plan with this name. */
static const struct transcripts_plan *transcripts_plan(const char *name)
{
    const struct transcripts_plan *p = transcripts_plans;

    while (strcmp(p->name, name) != 0)
        p++;
    return p;
}

/* ---- The real client ----------------------------------------------------- */

struct transcripts_device {
    struct world_setup setup;
    struct world_task task[TRANSCRIPT_RELEASES];
    bool lies; /* a mutant: the disk */
};

static struct transcripts_device *transcripts_of(const struct transcript *t)
{
    return t->ctx;
}

static hsy_status transcripts_create(struct transcript *t, void *client)
{
    struct transcripts_device *d = transcripts_of(t);

    if (hsy_device_size(&d->setup.policy) > TRANSCRIPT_CLIENT)
        return HSY_E_NOMEM;
    world_setup_create(&d->setup, client, d->task, TRANSCRIPT_RELEASES);
    hsy_device_coins(client, t->coins, t);
    t->live.world.lies = d->lies;
    return HSY_OK;
}

static hsy_status transcripts_open(struct transcript *t, void *client)
{
    struct transcripts_device *d = transcripts_of(t);
    hsy_status st =
        hsy_device_open(client, &d->setup.policy, &d->setup.behind, NULL);

    if (st == HSY_OK)
        hsy_device_coins(client, t->coins, t);
    return st;
}

static hsy_status transcripts_answer(struct transcript *t, void *client,
                                     size_t release, uint32_t truth,
                                     hsy_answer_state *state)
{
    hsy_truth index = {.type = HSY_TRUTH_INDEX, .u.index = truth};

    return hsy_device_answer(
        client, state, transcripts_of(t)->setup.release[release], &index, NULL);
}

/* The releases whose bits are set. */
static size_t transcripts_some(const struct transcript *t, uint32_t bits,
                               const hsy_release **some)
{
    size_t n = 0;

    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++)
        if ((bits >> i & 1) != 0)
            some[n++] = transcripts_of(t)->setup.release[i];
    return n;
}

static hsy_status transcripts_next(struct transcript *t, void *client,
                                   uint32_t releases, uint8_t *upload,
                                   size_t room, size_t *len)
{
    const hsy_release *some[TRANSCRIPT_RELEASES];
    size_t n = transcripts_some(t, releases, some);

    return hsy_device_next(client, upload, room, len, some, n, NULL);
}

static hsy_status transcripts_sent(struct transcript *t, void *client,
                                   uint32_t releases, const uint8_t *upload,
                                   size_t len)
{
    const hsy_release *some[TRANSCRIPT_RELEASES];
    size_t n = transcripts_some(t, releases, some);

    return hsy_device_sent(client, some, n, upload, len, NULL);
}

static uint64_t transcripts_spent(struct transcript *t, void *client)
{
    (void)t;
    return world_spent(client, NULL);
}

static const struct transcript_client transcripts_client = {
    transcripts_create, transcripts_open, transcripts_answer,
    transcripts_next,   transcripts_sent, transcripts_spent};

/* ---- One plan ------------------------------------------------------------ */

/* Two schemes, each under two names. The stronger one, whose answers serve for
 * the other too, is admitted last and asked first. */
static void transcripts_tasks(struct transcripts_device *dev,
                              const struct transcripts_plan *p)
{
    static const char *const ids[] = {"one", "uno", "two", "due"};

    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++) {
        const char *mechanism = p->d == 2 ? "rr" : "grr";
        hsy_spec first = trial_values(mechanism, p->d, i < 2 ? 0.5 : 1);
        hsy_spec second = trial_values(mechanism, p->d, i < 2 ? 0.4 : 0.75);
        struct world_task *t = &dev->task[i];

        world_task_init(t, ids[i], p->kept ? &second : &first,
                        p->kept ? &first : NULL, p->days);
        t->task.slot_days = p->slot_days;
        t->task.round_days = p->round_days;
        t->task.max_changes = p->max_changes;
        t->task.answers = p->answers;
        t->task.sends = p->sends;
        t->task.grace_days = p->days;
    }
}

/* What coins mean to each release, once it has been admitted. */
static void transcripts_meaning(struct transcript *t,
                                const struct transcripts_device *dev)
{
    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++) {
        struct transcript_release *r = &t->release[i];
        const hsy_release *release = dev->setup.release[i];
        hsy_release_info info;

        hsy_release_describe(release, &info);
        memcpy(r->digest, release->digest, HSY_DIGEST);
        memcpy(r->report_digest, release->report_digest, HSY_DIGEST);
        r->first = info.permanent != NULL ? info.permanent : info.scheme;
        r->memo = info.memo;
        r->power =
            info.permanent != NULL ? info.task.max_changes : info.task.sends;
        r->nano = info.nano_slot;
        t->id[i] = dev->task[i].task.id;
    }
    for (size_t i = 0; i < 2; i++) {
        struct transcript_release *r = &t->release[i];

        world_must(hsy_permanent_init(&r->lowered, t->release[2].first,
                                      r->first, 0, NULL),
                   "chain", &(hsy_error){0});
    }
}

static void transcripts_play(struct transcript *t,
                             const struct transcripts_plan *p, uint32_t length,
                             device_coins *coins, bool lies)
{
    static struct transcripts_device dev;
    hsy_device *trial;

    memset(&dev, 0, sizeof dev);
    dev.lies = lies;
    *t = (struct transcript){.name = p->name,
                             .client = &transcripts_client,
                             .start = 2,
                             .d = p->d,
                             .length = length,
                             .same_changes = p->max_changes > 1,
                             .by_branch = p->answers > 1,
                             .sampled = p->sends < p->answers,
                             .anchored = p->anchored,
                             .cap = p->life != 0 ? p->life : TRANSCRIPTS_FAR,
                             .days = p->round_days != 0  ? p->round_days
                                     : p->slot_days != 0 ? p->slot_days
                                                         : p->days,
                             .coins = coins,
                             .ctx = &dev};
    world_init(&t->live.world, 1);
    world_setup_init(&dev.setup, &t->live.world, p->anchored,
                     p->day != 0 ? p->day : TRANSCRIPTS_FAR, t->cap);
    dev.setup.policy.releases = 2;
    transcripts_tasks(&dev, p);

    /* Once in another world, to learn what the releases are. */
    trial = trial_memory(hsy_device_size(&dev.setup.policy));
    world_setup_create(&dev.setup, trial, dev.task, TRANSCRIPT_RELEASES);
    transcripts_meaning(t, &dev);
    free(trial);
    transcript_run(t);
    world_setup_clear(&dev.setup);
}

static void transcripts_right(const struct transcripts_plan *p)
{
    static struct transcript t;
    const bool longer = getenv("HSY_TEST_LONG") != NULL;

    transcripts_play(&t, p, longer ? p->longer : p->length,
                     transcript_coins_open, false);
    printf("# %s: %llu sequences, %llu outcomes, the most told is e^%.4f\n",
           p->name, (unsigned long long)t.sequences,
           (unsigned long long)t.outcomes, t.most);
    if (transcript_faults(&t) != 0)
        printf("# first fault at \"%s\"\n", t.worst);
    is_u64(t.uneven, 0, "%s: the chances of all outcomes sum up to 1", p->name);
    is_u64(t.beyond, 0, "%s: no transcript tells more than the ledger says",
           p->name);
    ok(eq_u64(t.unbalanced, 0) && eq_u64(t.misshapen, 0),
       "%s: charges, silence, lengths and codes are the same for all truths",
       p->name);
    is_u64(t.unpaid, 0, "%s: every charge is in the ledger, and under its cap",
           p->name);
    is_u64(t.redrawn, 0, "%s: the same question has the same answer", p->name);
    ok(t.tight || !p->tight, "%s: and some transcript tells just that much",
       p->name);
    is_u64((t.refused > 0), p->anchored, "%s: %s", p->name,
           p->anchored ? "restored and forked devices are refused"
                       : "no device is refused");
}

/* ---- What must be noticed ------------------------------------------------ */

static hsy_status transcripts_no_scheme(void *ctx, hsy_keyed *room,
                                        hsy_coins *coins,
                                        const hsy_context *context)
{
    static const uint8_t none[HSY_DIGEST];
    hsy_context keyed = *context;

    keyed.digest = none;
    return transcript_coins_keyed(ctx, room, coins, context, &keyed);
}

static hsy_status transcripts_no_slot(void *ctx, hsy_keyed *room,
                                      hsy_coins *coins,
                                      const hsy_context *context)
{
    hsy_context keyed = *context;

    keyed.slot = 0;
    return transcript_coins_keyed(ctx, room, coins, context, &keyed);
}

static hsy_status transcripts_no_truth(void *ctx, hsy_keyed *room,
                                       hsy_coins *coins,
                                       const hsy_context *context)
{
    hsy_context keyed = *context;

    keyed.truth = 0;
    return transcript_coins_keyed(ctx, room, coins, context, &keyed);
}

/* Coins that are fresh at every call: as if there were no permanent answer. */
static hsy_status transcripts_anew(void *ctx, hsy_keyed *room, hsy_coins *coins,
                                   const hsy_context *context)
{
    struct transcript *t = ctx;
    hsy_context keyed = *context;

    if (strcmp(context->purpose, DEVICE_PURPOSE_PERMANENT) == 0)
        keyed.slot += 1000u + t->live.ncoins;
    return transcript_coins_keyed(ctx, room, coins, context, &keyed);
}

static void transcripts_wrong(void)
{
    const struct transcripts_plan *daily = transcripts_plan("daily");
    const struct transcripts_plan *kept = transcripts_plan("kept");
    static const struct {
        const char *slip;
        device_coins *coins;
        bool kept, lies;
    } mutants[] = {
        {"coins without the scheme", transcripts_no_scheme, false, false},
        {"coins without the slot", transcripts_no_slot, false, false},
        {"coins without the truth", transcripts_no_truth, false, false},
        {"permanent answers drawn anew", transcripts_anew, true, false},
        {"a disk that loses debits", transcript_coins_open, false, true}};
    static struct transcript t;

    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        transcripts_play(&t, mutants[i].kept ? kept : daily, 2,
                         mutants[i].coins, mutants[i].lies);
        ok(mutants[i].lies ? t.unpaid > 0 : t.beyond > 0,
           "control: %s: noticed, first at \"%s\"", mutants[i].slip, t.worst);
    }
}

int main(void)
{
    transcripts_wrong();
    for (size_t i = 0;
         i < sizeof transcripts_plans / sizeof transcripts_plans[0]; i++)
        transcripts_right(&transcripts_plans[i]);
    return tap_done();
}
