/*
 * test_device_disk.c - a device whose disk fails: power cuts, turned bits, cut
 * and missing files, backups.
 *
 * L01: the power goes during every store of every step of a scenario, with
 * every subset of the sectors written and each length the file may have, and
 * of one in sixteen (of all with HSY_TEST_LONG) again while it recovers. It
 * always opens, its ledger never has less than what was answered nor more than
 * what would have been, and whatever is sent has the bytes that it would have
 * had. The same holds where a store fails; and where coins fail nothing
 * happens. L03: every bit of every file, every truncation: recovered to the
 * same bytes, or refused and left alone. L04: backups: refused with an anchor;
 * without one the same answers come again, and each branch keeps its caps.
 */
#include "lib/device/internal.h"
#include "rig/device_world.h"
#include "tap.h"

#define DISK_AGAIN 3u  /* stores of which a second cut strikes one */
#define DISK_WAYS 512u /* different disks after one torn store */
#define DISK_STATES 100000u
#define DISK_UPLOADS 512u
#define DISK_TASKS 6u
#define DISK_RESTORES 1000u
#define DISK_SEED 11u

/* ---- A scenario ---------------------------------------------------------- */

enum disk_op { DISK_ANSWER, DISK_DAY, DISK_SEND };

struct disk_step {
    enum disk_op op;
    uint32_t release, truth;
};

static const struct disk_step disk_steps[] = {
    {DISK_ANSWER, 0, 1}, {DISK_ANSWER, 1, 0}, {DISK_ANSWER, 2, 2},
    {DISK_DAY, 0, 0},    {DISK_ANSWER, 0, 0}, {DISK_ANSWER, 1, 1},
    {DISK_SEND, 0, 0},   {DISK_ANSWER, 3, 1}, {DISK_ANSWER, 4, 1},
    {DISK_DAY, 0, 0},    {DISK_ANSWER, 5, 0}, {DISK_ANSWER, 1, 0},
    {DISK_SEND, 0, 0},   {DISK_ANSWER, 2, 0}, {DISK_DAY, 0, 0},
    {DISK_SEND, 0, 0}};

#define DISK_STEPS (sizeof disk_steps / sizeof disk_steps[0])

/* What was sent, by upload id. */
struct disk_sent {
    uint8_t id[16], digest[16];
};

struct disk {
    struct world world;
    struct world_setup setup;
    struct world_task task[DISK_TASKS];
    hsy_device *dev;
    size_t size; /* of dev */
    jmp_buf crash;
    struct world_pending pending;
    struct disk_sent sent[DISK_UPLOADS];
    size_t nsent;
    bool learning; /* the first time: what is sent is right */

    /* Before each step, and at the end. */
    struct world before[DISK_STEPS + 1];
    uint8_t *memory[DISK_STEPS + 1];
    uint64_t spent[DISK_STEPS + 1];
    uint32_t stores[DISK_STEPS];

    uint64_t states, looked, refused, less, more, differ, stuck;
};

static void disk_tasks(struct disk *d)
{
    hsy_spec rr = trial_values("rr", 2, 1), less = trial_values("rr", 2, 0.5);
    hsy_spec grr = trial_values("grr", 3, 1);

    world_task_init(&d->task[0], "daily", &rr, NULL, 30);
    world_task_init(&d->task[1], "kept", &less, &rr, 28);
    d->task[1].task.slot_days = 7;
    d->task[1].task.round_days = 1;
    world_task_init(&d->task[2], "values", &grr, NULL, 30);
    world_task_copy(&d->task[3], &d->task[1], "changes");
    d->task[3].task.max_changes = 3;
    world_task_copy(&d->task[4], &d->task[2], "other");
    snprintf(d->task[4].task.source, sizeof d->task[4].task.source, "t");
    world_task_copy(&d->task[5], &d->task[2], "weekly");
    d->task[5].task.slot_days = 2;
}

/* What was sent before must come again with the same bytes. */
static void disk_sends(struct disk *d, const uint8_t *upload, size_t len)
{
    struct disk_sent s;
    hsy_upload head;

    if (hsy_upload_decode(&head, upload, NULL) != HSY_OK) {
        d->differ++;
        return;
    }
    memcpy(s.id, head.id, sizeof s.id);
    hsy_blake2b(s.digest, sizeof s.digest, upload, len, NULL, 0);
    for (size_t i = 0; i < d->nsent; i++)
        if (memcmp(d->sent[i].id, s.id, sizeof s.id) == 0) {
            d->differ +=
                memcmp(d->sent[i].digest, s.digest, sizeof s.digest) != 0;
            return;
        }
    d->differ += !d->learning || d->nsent == DISK_UPLOADS;
    if (d->nsent < DISK_UPLOADS)
        d->sent[d->nsent++] = s;
}

static hsy_status disk_send(struct disk *d)
{
    const hsy_release *const *all = world_releases(&d->setup);
    uint8_t upload[WORLD_UPLOAD];
    size_t len;
    hsy_status st;

    do {
        st = hsy_device_next(d->dev, upload, sizeof upload, &len, all,
                             d->setup.n, NULL);
        if (st != HSY_OK)
            break;
        disk_sends(d, upload, len);
        st = hsy_device_sent(d->dev, all, d->setup.n, upload, len, NULL);
    } while (st == HSY_OK);
    return st == HSY_E_END ? HSY_OK : st;
}

static hsy_status disk_step(struct disk *d, size_t i)
{
    const struct disk_step *s = &disk_steps[i];
    hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = s->truth};

    if (s->op == DISK_SEND)
        return disk_send(d);
    if (s->op == DISK_ANSWER)
        return hsy_device_answer(d->dev, NULL, d->setup.release[s->release],
                                 &truth, NULL);
    d->world.seconds = d->before[i].seconds + WORLD_DAY;
    return HSY_OK;
}

static hsy_status disk_open(struct disk *d)
{
    return hsy_device_open(d->dev, &d->setup.policy, &d->setup.behind, NULL);
}

static void disk_keep(struct disk *d, size_t i)
{
    d->before[i] = d->world;
    if (d->memory[i] == NULL)
        d->memory[i] = trial_memory(d->size);
    memcpy(d->memory[i], d->dev, d->size);
    d->spent[i] = world_spent(d->dev, NULL);
}

static void disk_put_back(struct disk *d, size_t i)
{
    d->world = d->before[i];
    memcpy(d->dev, d->memory[i], d->size);
}

static void disk_init(struct disk *d, bool anchored, uint64_t cap)
{
    world_init(&d->world, DISK_SEED);
    world_setup_init(&d->setup, &d->world, anchored, cap, cap);
    disk_tasks(d);
    d->size = hsy_device_size(&d->setup.policy);
    d->dev = trial_memory(d->size);
    world_setup_create(&d->setup, d->dev, d->task, DISK_TASKS);
}

static void disk_clear(struct disk *d)
{
    world_setup_clear(&d->setup);
    for (size_t i = 0; i <= DISK_STEPS; i++)
        free(d->memory[i]);
    free(d->dev);
}

/* The scenario without a fault: where it leads, and what it sends. */
static bool disk_learn(struct disk *d)
{
    bool fine = true;

    d->learning = true;
    for (size_t i = 0; i < DISK_STEPS; i++) {
        uint32_t stores = d->world.calls.stores;

        disk_keep(d, i);
        fine &= disk_step(d, i) == HSY_OK;
        d->stores[i] = d->world.calls.stores - stores;
    }
    disk_keep(d, DISK_STEPS);
    d->learning = false;
    return fine && d->differ == 0;
}

/* ---- L01: power cuts ----------------------------------------------------- */

/* Let the power go during store number `at` of step i, or of opening and it;
 * false if there are not so many. Nothing is torn yet. */
static bool disk_cut(struct disk *d, size_t i, uint32_t at, bool opening)
{
    d->world.cut_at = at;
    d->world.crash = &d->crash;
    d->world.pending = &d->pending;
    if (setjmp(d->crash) != 0)
        return true;
    if (!opening || disk_open(d) == HSY_OK)
        (void)disk_step(d, i);
    d->world.cut_at = 0;
    return false;
}

/* After a power cut: the device opens, and nothing is lost or paid twice. */
static void disk_recovers(struct disk *d, size_t i, bool to_the_end)
{
    uint64_t spent;

    if (disk_open(d) != HSY_OK) {
        d->refused++;
        return;
    }
    spent = world_spent(d->dev, NULL);
    d->less += spent < d->spent[i];
    d->more += spent > d->spent[i + 1];
    for (size_t k = i; k < (to_the_end ? DISK_STEPS : i + 1); k++) {
        d->stuck += disk_step(d, k) != HSY_OK;
        d->less += world_spent(d->dev, NULL) < d->spent[k + 1];
        d->more += world_spent(d->dev, NULL) > d->spent[k + 1];
    }
}

/* What a torn store may leave: every subset of its sectors under each length.
 * Sectors that are the same in both need no look of their own. */
struct disk_ways {
    struct world world; /* as the power went */
    struct world_pending pending;
    uint64_t seen[DISK_WAYS];
    uint32_t n, of, nseen;
};

static void disk_ways_init(struct disk_ways *w, const struct disk *d)
{
    w->world = d->world;
    w->world.cut_at = 0;
    w->pending = d->pending;
    w->n = w->nseen = 0;
    w->of = 3u << world_sectors(d->pending.len);
}

/* The next disk that has not been looked at, in d; false after the last. */
static bool disk_way(struct disk *d, struct disk_ways *w)
{
    while (w->n < w->of) {
        const struct world_cut cut = {w->n / 3, w->n % 3};
        const struct world_file *f = &d->world.disk.file[w->pending.file];
        uint64_t digest;
        uint32_t k = 0;

        w->n++;
        d->states++;
        d->world = w->world;
        world_tear(&d->world.disk, &w->pending, &cut);
        hsy_blake2b((uint8_t *)&digest, sizeof digest, f->bytes,
                    f->there ? f->len : 0, NULL, 0);
        while (k < w->nseen && w->seen[k] != digest)
            k++;
        if (k < w->nseen)
            continue;
        if (w->nseen < DISK_WAYS)
            w->seen[w->nseen++] = digest;
        d->looked++;
        return true;
    }
    return false;
}

/* Again, while the device recovers from this disk. */
static void disk_again(struct disk *d, size_t i)
{
    static struct disk_ways ways;
    const struct world torn = d->world;

    for (uint32_t at = 1; at <= DISK_AGAIN; at++) {
        d->world = torn;
        if (!disk_cut(d, i, at, true))
            return;
        disk_ways_init(&ways, d);
        while (disk_way(d, &ways))
            disk_recovers(d, i, false);
    }
}

/* A second cut after one in so many of the first, after all in the long run. */
static uint64_t disk_part = 16;

static void disk_cuts(struct disk *d, size_t i, uint32_t at)
{
    static struct disk_ways ways;

    disk_put_back(d, i);
    if (!disk_cut(d, i, at, false)) {
        d->stuck++;
        return;
    }
    disk_ways_init(&ways, d);
    while (disk_way(d, &ways)) {
        const struct world torn = d->world;

        disk_recovers(d, i, true);
        d->world = torn;
        if (d->looked % disk_part == 0)
            disk_again(d, i);
    }
}

static void disk_power(struct disk *d)
{
    if (getenv("HSY_TEST_LONG") != NULL)
        disk_part = 1;
    for (size_t i = 0; i < DISK_STEPS; i++)
        for (uint32_t at = 1; at <= d->stores[i]; at++)
            disk_cuts(d, i, at);
    is_u64(d->refused, 0, "after any power cut the device opens");
    is_u64(d->less, 0, "its ledger has every answer that was given");
    is_u64(d->more, 0, "and none is paid for twice");
    is_u64(d->differ, 0, "what is sent has the same bytes as without a cut");
    is_u64(d->stuck, 0, "and every step can be done again");
    ok(d->states >= DISK_STATES,
       "L01: %llu states of the disk, %llu of them different",
       (unsigned long long)d->states, (unsigned long long)d->looked);
}

static void disk_cut_making(struct disk *d, uint32_t at,
                            const struct world_cut *cut)
{
    world_init(&d->world, DISK_SEED);
    d->world.cut_at = at;
    d->world.crash = &d->crash;
    d->world.pending = &d->pending;
    if (setjmp(d->crash) == 0)
        (void)hsy_device_create(d->dev, &d->setup.policy, &d->setup.behind,
                                NULL);
    else
        world_tear(&d->world.disk, &d->pending, cut);
    d->world.cut_at = 0;
}

/* ---- Failing stores, failing coins: nothing is answered ------------------ */

/* A store of step i fails. The call says so, the device refuses everything
 * until it is opened again, and then it is as after a power cut. */
static void disk_fails(struct disk *d, size_t i, uint32_t at,
                       const struct world_cut *cut, uint64_t *silent)
{
    const hsy_truth truth = {.type = HSY_TRUTH_INDEX};

    disk_put_back(d, i);
    d->world.pending = &d->pending;
    d->world.fail_at = at;
    d->world.fail_cut = *cut;
    *silent += disk_step(d, i) == HSY_OK;
    *silent += hsy_device_answer(d->dev, NULL, d->setup.release[0], &truth,
                                 NULL) == HSY_OK;
    disk_recovers(d, i, false);
}

static void disk_full(struct disk *d)
{
    static const struct world_cut cuts[] = {{0, WORLD_OLD},
                                            {0x55, WORLD_NEW},
                                            {UINT64_MAX, WORLD_NEW},
                                            {0, WORLD_NONE}};
    const uint64_t before = d->refused + d->less + d->more + d->stuck;
    uint64_t silent = 0, n = 0;

    for (size_t i = 0; i < DISK_STEPS; i++)
        for (uint32_t at = 1; at <= d->stores[i]; at++)
            for (size_t k = 0; k < 4; k++, n++)
                disk_fails(d, i, at, &cuts[k], &silent);
    is_u64(silent, 0, "a store that fails is an error, and the device stops");
    is_u64(d->refused + d->less + d->more + d->stuck, before,
           "opened again it has lost nothing (%llu failing stores)",
           (unsigned long long)n);
}

/* Coins that are missing from some draw on. */
struct disk_coins {
    uint32_t left; /* contexts that still have them */
    bool late;     /* opened, but nothing can be drawn */
};

static hsy_status disk_no_fill(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    (void)buf;
    (void)len;
    return HSY_E_ENTROPY;
}

static hsy_status disk_no_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                                const hsy_context *context)
{
    static const uint8_t key[HSY_KEY] = {9};
    struct disk_coins *c = ctx;

    hsy_keyed_open(room, key, context);
    *coins = hsy_keyed_coins(room);
    if (c->left-- > 0)
        return HSY_OK;
    c->left = 0;
    if (!c->late)
        return HSY_E_ENTROPY;
    coins->secret = (hsy_rng){disk_no_fill, c};
    coins->published = (hsy_rng){disk_no_fill, room};
    return HSY_OK;
}

/* Whether an answer without all its coins is an error that leaves no trace;
 * *enough if they sufficed. */
static bool disk_closed(struct disk *d, size_t release, struct disk_coins coins,
                        bool *enough)
{
    const hsy_truth truth = {.type = HSY_TRUTH_INDEX};
    uint32_t stores, entries;
    hsy_status st;

    disk_put_back(d, 0);
    hsy_device_coins(d->dev, disk_no_coins, &coins);
    stores = d->world.calls.stores;
    entries = d->world.calls.entries;
    st = hsy_device_answer(d->dev, NULL, d->setup.release[release], &truth,
                           NULL);
    *enough = st == HSY_OK;
    return *enough || (st == HSY_E_ENTROPY && d->world.calls.stores == stores &&
                       d->world.calls.entries == entries &&
                       world_spent(d->dev, NULL) == d->spent[0]);
}

static void disk_coinless(struct disk *d)
{
    uint32_t tried = 0, wrong = 0;

    for (size_t release = 0; release < DISK_TASKS; release++)
        for (uint32_t late = 0; late < 2; late++) {
            bool enough = false;

            for (uint32_t n = 0; n < 16 && !enough; n++, tried++)
                wrong += !disk_closed(
                    d, release, (struct disk_coins){n, late != 0}, &enough);
            wrong += !enough;
        }
    is_u64(wrong, 0, "coins that fail at any draw: an error, and no trace (%u)",
           tried);
}

/* A disk that says a store is durable when it is not loses what was answered;
 * the same look finds that. */
static void disk_lies(struct disk *d)
{
    const uint64_t less = d->less;
    const struct world_disk before = d->before[0].disk;

    disk_put_back(d, 1);
    d->world.disk = before;
    (void)disk_open(d);
    d->less += world_spent(d->dev, NULL) < d->spent[1];
    ok(d->less > less, "control: a disk that lies about a store is noticed");
    d->less = less;
}

/* Making a device may be cut short too: then it is made again. */
static void disk_making(struct disk *d)
{
    uint32_t refused = 0, states = 0;

    for (uint32_t n = 0; n < 18; n++) {
        const struct world_cut cut = {n / 3 % 2, n % 3};
        hsy_status st;

        disk_cut_making(d, 1 + n / 6, &cut);
        st =
            hsy_device_create(d->dev, &d->setup.policy, &d->setup.behind, NULL);
        if (st == HSY_E_REFUSED)
            st = disk_open(d);
        refused += st != HSY_OK;
        states++;
    }
    is_u64(refused, 0, "a device that was half made is made again (%u states)",
           states);
}

/* ---- L03: turned bits, cut and missing files ----------------------------- */

static bool disk_same(const struct world_disk *a, const struct world_disk *b)
{
    for (size_t i = 0; i < WORLD_FILES; i++)
        if (a->file[i].there != b->file[i].there ||
            a->file[i].len != b->file[i].len ||
            memcmp(a->file[i].bytes, b->file[i].bytes, a->file[i].len) != 0)
            return false;
    return true;
}

/* What a fault may lead to. */
struct disk_fate {
    uint64_t tried, recovered, refused, other;
};

/* Open what is on the disk. Recovered: the whole disk is as it was; refused:
 * nothing on it was touched. A version that was changed is another version. */
static void disk_fate(struct disk *d, const struct world_disk *whole,
                      struct disk_fate *fate)
{
    const struct world_disk faulty = d->world.disk;
    hsy_status st = disk_open(d);

    fate->tried++;
    if (st == HSY_OK && disk_same(&d->world.disk, whole))
        fate->recovered++;
    else if ((st == HSY_E_DAMAGED || st == HSY_E_VERSION) &&
             disk_same(&d->world.disk, &faulty))
        fate->refused++;
    else
        fate->other++;
    d->world.disk = *whole;
}

/* Which files a fault strikes. */
static const struct {
    const char *name;
    bool strikes[WORLD_FILES];
    bool recovers;
} disk_faults[] = {{"copy A", {false, true, false}, true},
                   {"copy B", {false, false, true}, true},
                   {"both copies", {false, true, true}, false},
                   {"the key", {true, false, false}, false}};

static void disk_flips(struct disk *d)
{
    const struct world_disk whole = d->world.disk;

    for (size_t k = 0; k < sizeof disk_faults / sizeof disk_faults[0]; k++) {
        struct disk_fate fate = {0};
        size_t bits = 8 * whole.file[k == 3 ? 0 : 1].len;

        for (size_t bit = 0; bit < bits; bit++) {
            for (size_t f = 0; f < WORLD_FILES; f++)
                if (disk_faults[k].strikes[f])
                    d->world.disk.file[f].bytes[bit / 8] ^=
                        (uint8_t)(1u << bit % 8);
            disk_fate(d, &whole, &fate);
        }
        ok(eq_u64(fate.other, 0) && eq_u64(fate.tried, bits) &&
               eq_u64((disk_faults[k].recovers ? fate.refused : fate.recovered),
                      0),
           "L03: each of %zu bits of %s turned: %s", bits, disk_faults[k].name,
           disk_faults[k].recovers ? "recovered, to the bit"
                                   : "refused, and left alone");
    }
}

static void disk_truncations(struct disk *d)
{
    const struct world_disk whole = d->world.disk;

    for (size_t k = 0; k < sizeof disk_faults / sizeof disk_faults[0]; k++) {
        struct disk_fate fate = {0};
        uint32_t len = whole.file[k == 3 ? 0 : 1].len;

        /* One more byte, each shorter length, and no file at all. */
        for (uint32_t n = 0; n <= len + 1; n++) {
            for (size_t f = 0; f < WORLD_FILES; f++)
                if (disk_faults[k].strikes[f]) {
                    d->world.disk.file[f].len = n == len ? 0 : n;
                    d->world.disk.file[f].there = n != len;
                }
            disk_fate(d, &whole, &fate);
        }
        ok(eq_u64(fate.other, 0) && eq_u64(fate.tried, len + 2) &&
               eq_u64((disk_faults[k].recovers ? fate.refused : fate.recovered),
                      0),
           "L03: %s of any other length, or missing: %s", disk_faults[k].name,
           disk_faults[k].recovers ? "recovered, to the bit"
                                   : "refused, and left alone");
    }
}

/* The state of one device with the key of another. */
static void disk_foreign(struct disk *d)
{
    const struct world_disk whole = d->world.disk;
    struct disk_fate fate = {0};
    static struct disk other;

    world_init(&other.world, DISK_SEED + 1);
    world_setup_init(&other.setup, &other.world, false, HSY_NANO, HSY_NANO);
    other.dev = trial_memory(hsy_device_size(&other.setup.policy));
    if (hsy_device_create(other.dev, &other.setup.policy, &other.setup.behind,
                          NULL) != HSY_OK)
        return;
    d->world.disk.file[HSY_FILE_A] = other.world.disk.file[HSY_FILE_A];
    disk_fate(d, &whole, &fate);
    is_u64(fate.recovered, 1, "one copy of another device's: recovered");
    d->world.disk.file[HSY_FILE_A] = other.world.disk.file[HSY_FILE_A];
    d->world.disk.file[HSY_FILE_B] = other.world.disk.file[HSY_FILE_B];
    disk_fate(d, &whole, &fate);
    is_u64(fate.refused, 1, "both copies of another device's: refused");
    free(other.dev);
}

/* ---- L04: backups -------------------------------------------------------- */

/* From a backup of any step on, through the rest of the scenario. */
static void disk_restores(struct disk *d, bool anchored)
{
    const struct world last = d->world;
    uint64_t opened = 0, refused = 0, over = 0, differ = d->differ;
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);

    hsy_stream_seed(&stream, DISK_SEED, 2);
    for (uint32_t n = 0; n < DISK_RESTORES; n++) {
        uint8_t coin[2];
        size_t from;

        (void)rng.fill(rng.ctx, coin, sizeof coin);
        from = coin[0] % DISK_STEPS;
        d->world = last;
        d->world.disk = d->before[from].disk;
        d->world.seconds = d->before[from].seconds;
        if (disk_open(d) != HSY_OK) {
            refused++;
            continue;
        }
        opened++;
        for (size_t i = from; i < DISK_STEPS; i++)
            over += disk_step(d, i) != HSY_OK ||
                    world_spent(d->dev, NULL) > d->setup.policy.cap_lifetime;
    }
    d->world = last;
    if (anchored) {
        ok(eq_u64(opened, 0) && eq_u64(refused, DISK_RESTORES),
           "L04: with an anchor each of %u backups is refused", DISK_RESTORES);
        return;
    }
    ok(eq_u64(opened, DISK_RESTORES) && eq_u64(d->differ, differ),
       "L04: without an anchor %u backups give the same answers again",
       DISK_RESTORES);
    is_u64(over, 0, "L04: and none passes the cap of its branch");
}

int main(void)
{
    static struct disk plain, anchored;

    disk_init(&plain, false, 100ull * HSY_NANO);
    if (ok(disk_learn(&plain), "the scenario itself works")) {
        printf("# %u bytes of state, %zu uploads\n",
               plain.world.disk.file[HSY_FILE_A].len, plain.nsent);
        disk_power(&plain);
        disk_full(&plain);
        disk_coinless(&plain);
        disk_lies(&plain);
        disk_put_back(&plain, DISK_STEPS);
        disk_flips(&plain);
        disk_truncations(&plain);
        disk_foreign(&plain);
        disk_restores(&plain, false);
        disk_making(&plain);
    }
    disk_clear(&plain);
    disk_init(&anchored, true, 100ull * HSY_NANO);
    if (ok(disk_learn(&anchored), "the scenario works with an anchor")) {
        disk_power(&anchored);
        disk_put_back(&anchored, DISK_STEPS);
        disk_restores(&anchored, true);
    }
    disk_clear(&anchored);
    return tap_done();
}
