/*
 * test_zoo_device.c - each wrong client and each wrong ledger of the zoo is
 * caught by the checks that the real client passes.
 */
#include "tap.h"
#include "zoo/zoo_device.h"

/* ---- Clients: by the checker of transcripts ------------------------------ */

#define ZOO_LENGTH 2u

static hsy_scheme *zoo_rr(double epsilon)
{
    hsy_spec spec = trial_values("rr", 2, epsilon);

    return trial_scheme(&spec);
}

/* Two schemes under two names each; the second one of either is memoised into
 * reports of nearly the same epsilon, where a second permanent answer costs
 * most. */
static void zoo_play(struct transcript *t, const struct zoo_device *z)
{
    hsy_scheme *first[2] = {zoo_rr(1), zoo_rr(0.5)};
    hsy_scheme *second[2] = {zoo_rr(0.9), zoo_rr(0.45)};
    hsy_chain chain[2];

    *t = (struct transcript){.name = z->name,
                             .client = &zoo_client_calls,
                             .id = {"one", "uno", "two", "due"},
                             .d = 2,
                             .length = ZOO_LENGTH,
                             .cap = UINT64_MAX,
                             .days = 1};
    t->ctx = (void *)(uintptr_t)z;
    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++) {
        struct transcript_release *r = &t->release[i];

        hsy_chain_init(&chain[i / 2], first[i / 2], second[i / 2], 0, NULL);
        r->first = first[i / 2];
        r->chain = z->memoised ? &chain[i / 2] : NULL;
        r->power = 1;
        r->nano = first[i / 2]->nano_epsilon;
        r->digest[0] = (uint8_t)(1 + i / 2);
    }
    transcript_run(t);
    for (size_t i = 0; i < 2; i++) {
        free(first[i]);
        free(second[i]);
    }
}

static void zoo_right(const struct zoo_device *z)
{
    static struct transcript t;

    zoo_play(&t, z);
    ok(transcript_faults(&t) == 0 && t.sequences == 111,
       "control: a %s client passes all %llu sequences", z->name,
       (unsigned long long)t.sequences);
    if (transcript_faults(&t) != 0)
        printf("# %u sums, %u ratios, %u charges, %u shapes, %u ledgers, %u "
               "answers; first at \"%s\"\n",
               t.uneven, t.beyond, t.unbalanced, t.misshapen, t.unpaid,
               t.redrawn, t.worst);
}

static void zoo_wrong(const struct zoo_device *z)
{
    static struct transcript t;
    uint32_t found;

    zoo_play(&t, z);
    found = z->verdict == ZOO_RATIO ? t.beyond : t.misshapen;
    ok(found > 0, "%s is caught: %s", z->name, z->slip);
    printf("# %s: first at \"%s\"\n", z->name, t.worst);
}

int main(void)
{
    zoo_right(&zoo_fresh);
    zoo_right(&zoo_memoised);
    zoo_wrong(&zoo_z14);
    zoo_wrong(&zoo_z15);
    zoo_wrong(&zoo_z16);
    zoo_wrong(&zoo_z30);
    zoo_wrong(&zoo_z31);
    return tap_done();
}
