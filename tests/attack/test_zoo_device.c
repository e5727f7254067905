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
    hsy_permanent memo[2];

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

        hsy_permanent_init(&memo[i / 2], first[i / 2], second[i / 2], 0, NULL);
        r->first = first[i / 2];
        r->memo = z->memoised ? &memo[i / 2] : NULL;
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
    ok(eq_u64(transcript_faults(&t), 0) && eq_u64(t.sequences, 111),
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

/* ---- Ledgers: does it add up? -------------------------------------------- */

#define ZOO_E 100000000u /* epsilon 0.1, which is no double */

/* n charges of e against a cap of just that; then one that is too much. */
static bool zoo_affords(const struct zoo_ledger *l, void *memory, uint64_t e,
                        uint32_t n)
{
    const uint64_t all = n * e;
    const struct zoo_caps caps = {{all, all}, all, all};
    bool fine = true;

    l->open(memory, &caps);
    for (uint32_t i = 0; i < n; i++)
        fine &= l->charge(memory, 1, 0, e);
    return fine && !l->charge(memory, 1, 0, HSY_EPSILON_MIN);
}

/* A small charge beside a large one counts. */
static bool zoo_counts_small(const struct zoo_ledger *l, void *memory)
{
    const uint64_t most = (uint64_t)HSY_EPSILON_MAX + HSY_EPSILON_MIN;
    const struct zoo_caps caps = {{most, most}, most, most};

    l->open(memory, &caps);
    return l->charge(memory, 1, 0, HSY_EPSILON_MAX) &&
           l->charge(memory, 1, 0, HSY_EPSILON_MIN) &&
           !l->charge(memory, 1, 0, HSY_EPSILON_MIN);
}

/* Sources add up, whichever comes first. */
static bool zoo_sums_sources(const struct zoo_ledger *l, void *memory)
{
    const struct zoo_caps caps = {{3 * ZOO_E, 3 * ZOO_E}, 9 * ZOO_E, 4 * ZOO_E};
    bool fine = true;

    for (unsigned first = 0; first < ZOO_SOURCES; first++) {
        l->open(memory, &caps);
        for (int i = 0; i < 3; i++)
            fine &= l->charge(memory, 1, first, ZOO_E);
        fine &= !l->charge(memory, 1, first, ZOO_E); /* the source's cap */
        fine &= l->charge(memory, 1, 1 - first, ZOO_E);
        fine &= !l->charge(memory, 1, 1 - first, ZOO_E); /* that of all */
    }
    return fine;
}

/* And on one day. */
static bool zoo_sums_day(const struct zoo_ledger *l, void *memory)
{
    const struct zoo_caps caps = {{9 * ZOO_E, 9 * ZOO_E}, 3 * ZOO_E, 9 * ZOO_E};
    bool fine = true;

    l->open(memory, &caps);
    for (uint32_t day = 1; day <= 2; day++) {
        fine &= l->charge(memory, day, 0, ZOO_E);
        fine &= l->charge(memory, day, 0, ZOO_E);
        fine &= l->charge(memory, day, 1, ZOO_E);
        fine &= !l->charge(memory, day, 1, ZOO_E);
    }
    return fine;
}

/* A new day renews the day's cap, and not the lifetime's. */
static bool zoo_ends(const struct zoo_ledger *l, void *memory)
{
    const struct zoo_caps caps = {{9 * ZOO_E, 9 * ZOO_E}, ZOO_E, 3 * ZOO_E};
    bool fine = true;

    l->open(memory, &caps);
    for (uint32_t day = 1; day <= 3; day++) {
        fine &= l->charge(memory, day, 0, ZOO_E);
        fine &= !l->charge(memory, day, 0, ZOO_E);
    }
    return fine && !l->charge(memory, 4, 0, ZOO_E);
}

/* Who asks twice before either has ended is paid for twice, or once refused. */
static bool zoo_one_writer(const struct zoo_ledger *l, void *memory)
{
    const struct zoo_caps caps = {{ZOO_E, ZOO_E}, ZOO_E, ZOO_E};
    unsigned begun = 0, ended = 0;

    if (l->begin == NULL)
        return true;
    l->open(memory, &caps);
    for (int i = 0; i < 2; i++)
        begun += l->begin(memory, 1, 0, ZOO_E);
    for (int i = 0; i < 2; i++)
        ended += l->end(memory);
    return begun == 1 && ended == 1;
}

/* The looks that find something wrong. */
static unsigned zoo_faults(const struct zoo_ledger *l)
{
    static const uint64_t charges[] = {ZOO_E, 3 * ZOO_E, 700000001u,
                                       1098612288u};
    void *memory = trial_memory(l->size);
    unsigned faults = 0;

    for (size_t i = 0; i < sizeof charges / sizeof *charges; i++)
        for (uint32_t n = 1; n <= 12; n++)
            if (!zoo_affords(l, memory, charges[i], n))
                faults |= ZOO_AFFORDS;
    faults |= zoo_counts_small(l, memory) ? 0 : ZOO_SMALL;
    faults |= zoo_sums_sources(l, memory) ? 0 : ZOO_SOURCES_SUM;
    faults |= zoo_sums_day(l, memory) ? 0 : ZOO_DAY_SUM;
    faults |= zoo_ends(l, memory) ? 0 : ZOO_ENDS;
    faults |= zoo_one_writer(l, memory) ? 0 : ZOO_WRITER;
    free(memory);
    return faults;
}

/* ---- The real ledger, behind the same calls ------------------------------ */

/* Each charge is a task of its own: another start, another release. */
struct zoo_real {
    struct world world;
    struct world_setup setup;
    uint64_t version;
    _Alignas(16) uint8_t device[64 * 1024];
    const uint8_t *bytes; /* between begin and end */
    size_t len;
    void *release;
};

static hsy_device *zoo_real_device(struct zoo_real *z)
{
    return (hsy_device *)(void *)z->device;
}

static void zoo_real_open(void *memory, const struct zoo_caps *caps)
{
    struct zoo_real *z = memory;
    hsy_error err = {0};

    memset(z, 0, sizeof *z);
    world_init(&z->world, 3);
    world_setup_init(&z->setup, &z->world, false, caps->day, caps->lifetime);
    for (size_t i = 0; i < ZOO_SOURCES; i++) {
        z->setup.source[i].cap_day = caps->day;
        z->setup.source[i].cap_lifetime = caps->source[i];
    }
    if (hsy_device_size(&z->setup.policy) > sizeof z->device)
        abort();
    world_must(hsy_device_create(zoo_real_device(z), &z->setup.policy,
                                 &z->setup.behind, &err),
               "create", &err);
    world_must(
        hsy_device_consent_set(zoo_real_device(z), HSY_CONSENT_SEND, &err),
        "consent", &err);
}

/* A release for one charge, on the heap; NULL if it is refused. */
static hsy_release *zoo_real_release(struct zoo_real *z, uint32_t day,
                                     unsigned source, uint64_t nano)
{
    hsy_spec spec = trial_values("rr", 2, 1);
    struct world_task task;
    hsy_document doc;
    hsy_release *r;
    uint8_t *bytes;
    size_t len;
    hsy_status st;

    spec.nano_epsilon = nano;
    world_task_init(&task, "charge", &spec, NULL, 100);
    snprintf(task.task.source, sizeof task.task.source, "%s",
             world_sources[source]);
    task.task.start -= (uint32_t)++z->version;
    task.task.slot_days = 0;
    z->world.seconds = (uint64_t)(WORLD_START + day) * WORLD_DAY;
    bytes = world_document(&task, 1, z->version, world_key, &len);
    r = trial_memory(hsy_release_size(&task.task));
    st = hsy_device_accept_document(zoo_real_device(z), &doc, bytes, len, NULL);
    if (st == HSY_OK)
        st = hsy_device_admit(zoo_real_device(z), r, &doc, 0, NULL);
    free(bytes);
    if (st == HSY_OK)
        return r;
    free(r);
    return NULL;
}

static bool zoo_real_begin(void *memory, uint32_t day, unsigned source,
                           uint64_t nano)
{
    const hsy_truth truth = {.type = HSY_TRUTH_INDEX};
    struct zoo_real *z = memory;
    hsy_release *r = zoo_real_release(z, day, source, nano);
    hsy_answer_state state = 0;
    hsy_device_write write;
    hsy_status st;

    if (r == NULL)
        return false;
    st = hsy_device_begin(zoo_real_device(z), &state, &write, r, &truth, NULL);
    free(r);
    if (st != HSY_OK)
        return false;
    z->bytes = write.bytes;
    z->len = write.len;
    return state == HSY_ANSWERED;
}

static bool zoo_real_end(void *memory)
{
    struct zoo_real *z = memory;
    hsy_status st;

    if (z->len == 0)
        return false;
    st = world_store(&z->world, HSY_FILE_A, z->bytes, z->len);
    if (st == HSY_OK)
        st = world_store(&z->world, HSY_FILE_B, z->bytes, z->len);
    z->len = 0;
    return hsy_device_end(zoo_real_device(z), st, NULL) == HSY_OK;
}

static bool zoo_real_charge(void *memory, uint32_t day, unsigned source,
                            uint64_t nano)
{
    const bool taken = zoo_real_begin(memory, day, source, nano);

    return zoo_real_end(memory) && taken;
}

static const struct zoo_ledger zoo_real_ledger = {"real",
                                                  "none",
                                                  0,
                                                  sizeof(struct zoo_real),
                                                  zoo_real_open,
                                                  zoo_real_charge,
                                                  zoo_real_begin,
                                                  zoo_real_end};

static void zoo_ledgers(void)
{
    static const struct zoo_ledger *const wrong[] = {
        &zoo_budget_in_doubles, &zoo_source_left_out, &zoo_check_then_debit,
        &zoo_budget_renews_daily};

    is_u64(zoo_faults(&zoo_real_ledger), 0, "control: the real ledger adds up");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned faults = zoo_faults(wrong[i]);

        is_u64((faults & wrong[i]->looks), wrong[i]->looks, "%s is caught: %s",
               wrong[i]->name, wrong[i]->slip);
        printf("# %s: faults %#x\n", wrong[i]->name, faults);
    }
}

int main(void)
{
    zoo_right(&zoo_fresh);
    zoo_right(&zoo_memoised);
    zoo_wrong(&zoo_permanent_redrawn);
    zoo_wrong(&zoo_coins_without_parameters);
    zoo_wrong(&zoo_coins_by_task_name);
    zoo_wrong(&zoo_debug_field);
    zoo_wrong(&zoo_fails_for_one_truth);
    zoo_ledgers();
    return tap_done();
}
