/*
 * test_shown.c - lots and blocks: whatever comes, on whatever day, nothing that
 * is shown tells fewer than min_reports devices apart.
 *
 * Months of random arrivals: crowds, ones and twos, late ones, merged tallies.
 * Each report has the generation that first showed it and the block that it is
 * in. Two reports with the same two are in the same answers, always; so these
 * classes are all that a combination of answers can hold.
 */
#include "rig/example_roster.h"
#include "server/collector/shown/internal.h"
#include "tap.h"

#define LEAST 20u
#define START EXAMPLE_EPOCH
#define DAYS 60u
#define GENERATIONS 400u
#define EPOCHS (DAYS + 4u) /* the last one: merged, of no day */

/* Reports by epoch, generation and block (0: none). */
struct made {
    struct roster_entry is;
    struct shown_view now;
    struct store_count live[EPOCHS];
    uint32_t *classes; /* [EPOCHS][GENERATIONS][DAYS + 2] */
    uint64_t seed;
    bool sound;
};

static uint32_t *class_of(const struct made *m, size_t epoch, size_t generation,
                          size_t block)
{
    return &m->classes[(epoch * GENERATIONS + generation) * (DAYS + 2) + block];
}

static uint32_t below(struct made *m, uint32_t n)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->seed >> 33) % n;
}

/* Epochs with something, ascending, as an engine has them. */
static size_t live_of(const struct made *m, struct store_count *out)
{
    size_t n = 0;

    if (m->live[EPOCHS - 1].reports != 0)
        out[n++] = m->live[EPOCHS - 1];
    for (size_t i = 0; i + 1 < EPOCHS; i++)
        if (m->live[i].reports != 0)
            out[n++] = m->live[i];
    return n;
}

static size_t place(uint32_t epoch)
{
    return epoch == 0 ? EPOCHS - 1 : epoch - START;
}

/* The block of an epoch, by its first day, from 1 on; 0: none. */
static size_t block_of(const struct shown_view *v, uint32_t epoch)
{
    for (size_t k = 0; k < v->nblocks; k++)
        if (epoch >= v->blocks[k].first && epoch <= v->blocks[k].last)
            return v->blocks[k].first - START + 1;
    return 0;
}

/* What a new generation shows of an epoch becomes a part of its classes. */
static void take(struct made *m, const struct shown_epoch *next)
{
    const struct shown_epoch was = shown_view_at(&m->now, next->epoch);
    const uint64_t more = next->reports - was.reports,
                   own = next->own - was.own;
    const size_t at = place(next->epoch);

    m->sound &=
        next->reports == was.reports || next->reports == m->live[at].reports;
    m->sound &= own == 0 || own == more;
    *class_of(m, at, m->now.generation,
              own != 0 ? block_of(&m->now, next->epoch) : 0) += (uint32_t)more;
}

static void look(struct made *m, uint32_t day)
{
    struct store_count live[EPOCHS];
    const struct shown_ask ask = {.is = &m->is,
                                  .daily = true,
                                  .kept = day - 10,
                                  .open = day - 3,
                                  .live = live,
                                  .n = live_of(m, live)};
    struct shown_plan p;
    struct shown_view was = m->now;

    m->sound &= shown_plan(&p, &m->now, &ask) == HSY_OK;
    if (!m->sound || !p.any || p.next.generation >= GENERATIONS) {
        shown_plan_clear(&p);
        return;
    }
    for (size_t k = 0, i = 0; k < was.nblocks; k++, i++) {
        while (i < p.next.nblocks &&
               p.next.blocks[i].first < was.blocks[k].first)
            i++;
        m->sound &= i < p.next.nblocks &&
                    p.next.blocks[i].first == was.blocks[k].first &&
                    p.next.blocks[i].last == was.blocks[k].last;
    }
    for (size_t k = 1; k < p.next.nblocks; k++)
        m->sound &= p.next.blocks[k].first > p.next.blocks[k - 1].last;
    free(m->now.blocks); /* take() looks into the next */
    m->now.blocks = p.next.blocks;
    m->now.nblocks = p.next.nblocks;
    m->now.generation = p.next.generation;
    p.next.blocks = NULL;
    for (size_t i = 0; i < p.next.ncounts; i++)
        take(m, &p.next.counts[i]);
    free(m->now.counts);
    m->now.counts = p.next.counts;
    m->now.ncounts = p.next.ncounts;
    p.next.counts = NULL;
    shown_plan_clear(&p);
}

/* A day of arrivals, with looks in between. */
static void live_through(struct made *m, uint32_t day)
{
    for (unsigned i = 0; i < 6; i++) {
        const uint32_t kind = below(m, 8);
        const uint32_t n = kind < 4   ? 1 + below(m, 3)
                           : kind < 7 ? below(m, LEAST)
                                      : below(m, 4 * LEAST);
        uint32_t epoch = day - (kind % 2 ? 0 : below(m, 4));

        epoch = epoch < START ? START : epoch;
        m->live[place(epoch)].epoch = epoch;
        m->live[place(epoch)].reports += n;
        if (below(m, 20) == 0)
            m->live[EPOCHS - 1].reports += 1 + below(m, 3 * LEAST);
        look(m, day);
    }
}

static uint64_t devices(const struct made *m, size_t generation, size_t block)
{
    struct store_count some[EPOCHS];
    struct engine_rounds of = {0};
    hsy_attendance attended = {0};
    size_t n = 0;

    for (size_t i = 0; i < EPOCHS; i++)
        if (*class_of(m, i, generation, block) != 0) {
            some[n] = m->live[i];
            some[n++].reports = *class_of(m, i, generation, block);
        }
    if (n == 0)
        return UINT64_MAX; /* there is no such class */
    if (engine_rounds_of(&of, &m->is, some, n, NULL) != HSY_OK ||
        engine_rounds_attend(&attended, &of, &m->is.task, NULL) != HSY_OK)
        attended.devices = 0;
    rounds_clear(&of.rounds);
    return attended.devices;
}

/* The smallest class, and how many there are. */
static uint64_t smallest(const struct made *m, unsigned *classes)
{
    uint64_t least = UINT64_MAX;

    *classes = 0;
    for (size_t g = 0; g < GENERATIONS; g++)
        for (size_t b = 0; b < DAYS + 2; b++) {
            const uint64_t n = devices(m, g, b);

            *classes += n != UINT64_MAX;
            least = n < least ? n : least;
        }
    return least;
}

static uint64_t shown(const struct made *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->now.ncounts; i++)
        sum += m->now.counts[i].reports;
    return sum;
}

static uint64_t counted(const struct made *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < EPOCHS; i++)
        sum += m->live[i].reports;
    return sum;
}

/* least: what the plan believes min_reports to be. */
static void months(const struct roster_entry *e, uint64_t seed, uint32_t least)
{
    struct made m = {.is = *e, .seed = seed, .sound = true};
    unsigned classes;
    uint64_t smallest_one;

    m.is.task.min_reports = least;
    m.classes =
        calloc((size_t)EPOCHS * GENERATIONS * (DAYS + 2), sizeof *m.classes);
    if (m.classes == NULL)
        return;
    for (uint32_t day = START; day < START + DAYS; day++)
        live_through(&m, day);
    smallest_one = smallest(&m, &classes);
    if (least == LEAST)
        ok(m.sound && smallest_one >= LEAST && classes > 20 &&
               m.now.nblocks > 5 && shown(&m) > counted(&m) / 2,
           "%u classes, the least of %u devices; %u blocks; %u of %u reports",
           classes, (unsigned)smallest_one, (unsigned)m.now.nblocks,
           (unsigned)shown(&m), (unsigned)counted(&m));
    else
        ok(smallest_one < LEAST, "with a least number of 1 there are smaller "
                                 "ones: this test could see them");
    shown_view_clear(&m.now);
    free(m.classes);
}

/* Less than was shown is no reason to show another. */
static void never_less(const struct roster_entry *e)
{
    struct roster_entry is = *e;
    struct store_count live[] = {{.epoch = START, .reports = 50}};
    struct shown_ask ask = {.is = &is,
                            .daily = true,
                            .kept = START - 9,
                            .open = START - 3,
                            .live = live,
                            .n = 1};
    struct shown_view none = {0};
    struct shown_plan first, second;

    is.task.min_reports = LEAST;
    ok(eq_status(shown_plan(&first, &none, &ask), HSY_OK) && first.any &&
           eq_u64(first.next.nblocks, 1) &&
           eq_u64(first.next.counts[0].own, 50),
       "a first lot is a block");
    live[0].reports = 49;
    is_status(shown_plan(&second, &first.next, &ask), HSY_E_RANGE,
              "what has become less is not shown anew");
    live[0].reports = 69;
    ok(eq_status(shown_plan(&second, &first.next, &ask), HSY_OK) && !second.any,
       "19 more are held back");
    shown_plan_clear(&second);
    live[0].reports = 70;
    ok(eq_status(shown_plan(&second, &first.next, &ask), HSY_OK) &&
           second.any && eq_u64(second.next.counts[0].own, 70),
       "20 more are a lot");
    shown_plan_clear(&second);
    shown_plan_clear(&first);
}

int main(void)
{
    struct roster *roster = example_roster();
    const struct roster_entry *e;

    if (!ok(roster != NULL && roster_count(roster) > 0, "there are tasks"))
        return tap_done();
    e = roster_at(roster, 0);
    for (uint64_t seed = 1; seed <= 12; seed++)
        months(e, seed, LEAST);
    months(e, 1, 1);
    never_less(e);
    roster_drop(roster);
    return tap_done();
}
