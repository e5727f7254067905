/*
 * test_simulate.c - C08: a collector, its devices, network, disk and clocks
 * simulated from seeds; every report counted once if it was acknowledged, and
 * never twice. Wrong collectors of the zoo must be caught.
 *
 *     test_simulate            200 seeds, or 100,000 with HSY_TEST_LONG
 *     test_simulate SEED       that one again, with what happened
 *     test_simulate FIRST N    N seeds from FIRST on
 */
#include "rig/collector_real.h"
#include "tap.h"
#include "zoo/zoo_collector.h"

#include <inttypes.h>
#include <stdlib.h>

static struct world world;

static void tell(uint64_t seed, const char *fault)
{
    printf("# seed %" PRIu64 ": %" PRIu64 " acknowledged, %" PRIu64
           " crashes, %" PRIu64 " replays, %" PRIu64 " times full%s%s\n",
           seed, world.acks, world.crashes, world.replays, world.fulls,
           fault == NULL ? "" : "; ", fault == NULL ? "" : fault);
}

static void seeds(uint64_t first, uint64_t n)
{
    uint64_t acks = 0, crashes = 0, failed = 0;

    for (uint64_t seed = first; seed < first + n; seed++) {
        const char *fault = world_live(&world, &world_real, seed);

        acks += world.acks;
        crashes += world.crashes;
        failed += fault != NULL;
        if (fault != NULL)
            tell(seed, fault);
    }
    is_u64(failed, 0,
           "%" PRIu64 " seeds: %" PRIu64 " reports acknowledged over %" PRIu64
           " crashes, lost 0, doubled 0",
           n, acks, crashes);
    ok(acks / n > 100 && crashes / n > 3,
       "there was much to lose: %" PRIu64 " reports and %" PRIu64
       " crashes a seed",
       acks / n, crashes / n);
}

/* ---- The zoo ------------------------------------------------------------- */

static bool zoo_right(const struct zoo_books *books, size_t i)
{
    (void)books;
    (void)i;
    return true;
}

/* The collector that is being tried. */
static struct zoo_try {
    const char *name, *slip;
    zoo_sees *sees;
    zoo_sync *sync;
    bool open; /* days never close */
    zoo_weighs *weighs;
    const struct intake_gate *gate;
    zoo_told *told;
} zoo_try;

static struct zoo_books zoo_books;

/* A step that may be, and no other. */
static void zoo_careful(struct zoo_books *books, uint32_t day)
{
    if (day > books->day && day <= books->day + WORLD_STEP + 1)
        books->day = day;
}

static int64_t zoo_one(const hsy_upload *head)
{
    (void)head;
    return 1;
}

static bool zoo_open(struct world *w)
{
    w->state = &zoo_books;
    return true;
}

/* What was not durable is forgotten, and its counts with it. */
static void zoo_kill(struct world *w)
{
    struct zoo_books *b = &zoo_books;
    size_t kept = 0;

    (void)w;
    for (size_t i = 0; i < b->n; i++) {
        if (b->known[i].durable)
            b->known[kept++] = b->known[i];
        else
            b->cells[b->known[i].task][b->known[i].cell] -= b->known[i].weight;
    }
    b->n = kept;
}

static hsy_status zoo_tell(struct world *w, struct engine_time now)
{
    (void)w;
    zoo_try.told(&zoo_books, (uint32_t)(now.wall / 86400));
    return HSY_OK;
}

static void zoo_mend(struct world *w)
{
    (void)w;
}

static struct intake_days zoo_days(struct world *w)
{
    (void)w;
    return (struct intake_days){
        .first = zoo_try.open ? 0 : zoo_books.day - ZOO_GRACE,
        .last = zoo_books.day + 1};
}

static enum intake_verdict zoo_decide(const struct intake_upload *u,
                                      uint32_t cell)
{
    struct zoo_books *b = &zoo_books;
    const int64_t weight = u->head.kind == 1 ? zoo_try.weighs(&u->head) : 0;

    if (!zoo_try.open && u->head.epoch + ZOO_GRACE < b->day)
        return INTAKE_CLOSED;
    for (size_t i = 0; i < b->n; i++)
        if (zoo_try.sees(b, i) && memcmp(b->known[i].id, u->head.id, 16) == 0)
            return memcmp(b->known[i].digest, u->digest, 32) == 0
                       ? INTAKE_AGAIN
                       : INTAKE_CONFLICT;
    if (b->n == sizeof b->known / sizeof b->known[0])
        return INTAKE_FULL;
    b->known[b->n] = (struct zoo_known){.epoch = u->head.epoch,
                                        .tick = b->tick,
                                        .task = u->entry->number,
                                        .cell = cell,
                                        .weight = weight};
    memcpy(b->known[b->n].id, u->head.id, 16);
    memcpy(b->known[b->n++].digest, u->digest, 32);
    b->cells[u->entry->number][cell] += weight;
    return INTAKE_COUNTED;
}

static hsy_status zoo_admit(struct world *w, struct submission *list)
{
    zoo_books.tick = w->tick;
    zoo_books.before = zoo_books.n;
    for (; list != NULL; list = list->next)
        for (size_t i = 0; i < list->in.n; i++) {
            struct intake_upload *u = &list->in.uploads[i];
            uint8_t report[2];

            if (u->verdict != INTAKE_COUNTED)
                continue;
            hsy_unpack(u->entry->scheme, report, u->payload, 1);
            u->verdict = zoo_decide(u, report[0] | (uint32_t)report[1] << 8);
        }
    w->rig.store.crashed = zoo_try.sync(&zoo_books) != HSY_OK;
    return w->rig.store.crashed ? HSY_E_IO : HSY_OK;
}

static hsy_status zoo_idle(struct world *w)
{
    (void)w;
    return HSY_OK;
}

static bool zoo_cells(struct world *w, uint32_t task, uint32_t first,
                      uint32_t last, int64_t cells[WORLD_ITEMS])
{
    (void)w;
    (void)first;
    if (last != 0)
        return false;
    memcpy(cells, zoo_books.cells[task], sizeof zoo_books.cells[task]);
    return true;
}

/* In how many of n seeds it is caught. */
static unsigned zoo_caught(struct zoo_try z, uint64_t n)
{
    const struct world_collector collector = {.name = z.name,
                                              .open = zoo_open,
                                              .kill = zoo_kill,
                                              .tell = zoo_tell,
                                              .mend = zoo_mend,
                                              .days = zoo_days,
                                              .admit = zoo_admit,
                                              .work = zoo_idle,
                                              .rest = zoo_idle,
                                              .cells = zoo_cells,
                                              .gate = z.gate};
    unsigned caught = 0;

    zoo_try = z;
    for (uint64_t seed = 1; seed <= n; seed++) {
        memset(&zoo_books, 0, sizeof zoo_books);
        zoo_books.day = RIG_DAY;
        caught += world_live(&world, &collector, seed) != NULL;
    }
    return caught;
}

static void zoo(void)
{
    static const struct zoo_try wrong[] = {
        {"jobs_see_old_commits", "concurrent jobs do not see each other",
         zoo_jobs_see_old_commits_sees, zoo_disk, false, zoo_one, NULL,
         zoo_careful},
        {"old_ids_dropped", "ids are forgotten, and their days stay open",
         zoo_old_ids_dropped_sees, zoo_disk, true, zoo_one, NULL, zoo_careful},
        {"ten_minute_window", "ids are known for a while only",
         zoo_ten_minute_window_sees, zoo_disk, false, zoo_one, NULL,
         zoo_careful},
        {"ack_before_sync", "it acknowledges before it syncs", zoo_right,
         zoo_ack_before_sync_sync, false, zoo_one, NULL, zoo_careful},
        {"sync_retried", "a failed sync is tried again, and believed",
         zoo_right, zoo_sync_retried_sync, false, zoo_one, NULL, zoo_careful},
        {"commits_over_another",
         "two processes commit without compare-and-swap", zoo_right,
         zoo_commits_over_another_sync, false, zoo_one, NULL, zoo_careful},
        {"count_believed", "it counts what an upload says it has", zoo_right,
         zoo_disk, false, zoo_count_believed_weighs, &zoo_count_believed_gate,
         zoo_careful},
        {"clock_believed", "it believes any clock", zoo_right, zoo_disk, false,
         zoo_one, NULL, zoo_clock_believed_told},
        {"ids_let_go_early", "memory lets go of ids before their file counts",
         zoo_ids_let_go_early_sees, zoo_disk, false, zoo_one, NULL,
         zoo_careful}};
    static const struct zoo_try right[] = {
        {"a plain collector", "", zoo_right, zoo_disk, false, zoo_one, NULL,
         zoo_careful},
        {"one that compares and swaps", "", zoo_right, zoo_swap_sync, false,
         zoo_one, NULL, zoo_careful}};

    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        is_u64(zoo_caught(right[i], 20), 0, "control: %s passes",
               right[i].name);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const unsigned caught = zoo_caught(wrong[i], 10);

        /* Reports that are lost are lost at a crash: not every seed has one
         * at such a moment. */
        ok(caught >= (wrong[i].sees == zoo_right ? 7 : 10),
           "%s is caught, by %u of 10 seeds: %s", wrong[i].name, caught,
           wrong[i].slip);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        seeds(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    } else if (argc > 1) {
        const uint64_t seed = strtoull(argv[1], NULL, 10);
        const char *fault = world_live(&world, &world_real, seed);

        tell(seed, fault);
        ok(fault == NULL, "seed %" PRIu64, seed);
    } else {
        seeds(1, getenv("HSY_TEST_LONG") != NULL ? 100000 : 200);
        zoo();
    }
    return tap_done();
}
