/*
 * test_shown_batches.c - in which batches of shufflers the reports came that
 * are shown: theirs, no others, and the same after a restart.
 */
#define _GNU_SOURCE

#include "rig/engine_rig.h"
#include "server/collector/shown/internal.h"
#include "server/store/book.h"
#include "tap.h"

#include <stdio.h>
#include <unistd.h>

#define LEAST 20u
#define DAY RIG_DAY

static struct roster_entry is;
static char directory[64];

static bool same(const struct engine_sum *sum, uint64_t batches, uint64_t least,
                 uint64_t reports)
{
    return eq_u64(sum->batches, batches) && eq_u64(sum->least, least) &&
           eq_u64(sum->reports, reports);
}

/* ---- Lots ---------------------------------------------------------------- */

static void batches_are_shown_with_their_reports(void)
{
    struct store_count live[] = {{.epoch = DAY, .reports = 50}};
    struct engine_batches came[] = {{.epoch = DAY, .sum = {2, 5, 50}}};
    struct shown_ask ask = {.is = &is,
                            .daily = true,
                            .kept = DAY - 9,
                            .open = DAY - 3,
                            .live = live,
                            .n = 1,
                            .batches = came,
                            .nbatches = 1};
    struct shown_view none = {0};
    struct shown_plan first, second;

    ok(eq_status(shown_plan(&first, &none, &ask), HSY_OK) && first.any &&
           same(&first.next.counts[0].came, 2, 5, 50) &&
           same(&first.next.counts[0].own_came, 2, 5, 50),
       "a lot has its batches, in all and in its block");
    live[0].reports = 69;
    came[0].sum = (struct engine_sum){3, 5, 69};
    ok(eq_status(shown_plan(&second, &first.next, &ask), HSY_OK) &&
           !second.any && same(&second.next.counts[0].came, 2, 5, 50),
       "one whose reports are held back is not told");
    shown_plan_clear(&second);
    live[0].reports = 71;
    came[0].sum = (struct engine_sum){4, 2, 71};
    ok(eq_status(shown_plan(&second, &first.next, &ask), HSY_OK) &&
           second.any && same(&second.next.counts[0].came, 4, 2, 71),
       "until they are a lot");
    shown_plan_clear(&second);
    shown_plan_clear(&first);
}

/* What is left of days that are over is of no block, as a merged tally is,
 * which came in no batch. */
static void what_is_left_is_of_no_block(void)
{
    struct store_count live[] = {{.epoch = 0, .reports = 0},
                                 {.epoch = DAY, .reports = 50},
                                 {.epoch = DAY + 1, .reports = 40}};
    struct engine_batches came[] = {{.epoch = DAY, .sum = {1, 50, 50}},
                                    {.epoch = DAY + 1, .sum = {1, 40, 40}}};
    struct shown_ask ask = {.is = &is,
                            .daily = true,
                            .kept = DAY - 9,
                            .open = DAY,
                            .live = live,
                            .n = 3,
                            .batches = came,
                            .nbatches = 2};
    struct shown_view none = {0};
    struct shown_plan first, second;

    shown_plan(&first, &none, &ask);
    live[0].reports = 100000; /* of any round: few devices */
    live[1].reports = 60;
    live[2].reports = 50;
    came[0].sum = (struct engine_sum){2, 10, 60};
    came[1].sum = (struct engine_sum){2, 10, 50};
    ask.open = DAY + 5;
    ok(eq_status(shown_plan(&second, &first.next, &ask), HSY_OK) &&
           second.rest && same(&second.next.counts[0].came, 0, 0, 0) &&
           same(&second.next.counts[1].came, 2, 10, 60) &&
           same(&second.next.counts[1].own_came, 1, 50, 50) &&
           same(&second.next.counts[2].came, 2, 10, 50) &&
           same(&second.next.counts[2].own_came, 1, 40, 40),
       "batches of the rest are shown, but not with a block's");
    shown_plan_clear(&second);
    shown_plan_clear(&first);
}

/* ---- What readers get ---------------------------------------------------- */

static struct shown *opened(struct rig *r)
{
    const struct shown_options o = {
        .data = directory, .engine = r->e, .day_words = 2000, .keep_days = 5};
    struct shown *s = NULL;

    is_status(shown_open(&s, &o, NULL), HSY_OK, "what is shown is opened");
    return s;
}

/* A generation of two days, whose first day's batches are larger. */
static void put(struct shown *s)
{
    static struct shown_epoch counts[] = {
        {DAY - 1, 60, 50, 0, {2, 30, 60}, {1, 50, 50}},
        {DAY, 40, 40, 0, {3, 4, 40}, {3, 4, 40}}};
    static struct shown_block blocks[] = {{.first = DAY - 1, .last = DAY - 1},
                                          {.first = DAY, .last = DAY}};
    struct shown_view v = {.generation = 1,
                           .counts = counts,
                           .ncounts = 2,
                           .blocks = blocks,
                           .nblocks = 2};
    int64_t *words = calloc(is.words, sizeof *words);
    const struct shown_tally tallies[] = {
        {0, words}, {DAY - 1, words}, {DAY, words}};

    is_status(s->keep->ops->put(s->keep, &is, &v, DAY - 5, tallies, 3, NULL),
              HSY_OK, "a generation is kept");
    free(words);
}

/* Whether a copy of these days came in such batches; all zeros: in none. */
static bool came(struct shown *s, uint32_t first, uint32_t last,
                 uint64_t batches, uint64_t least, uint64_t reports)
{
    int64_t *words = calloc(is.words, sizeof *words);
    struct engine_rounds of = {.unknown = 0};
    struct shown_block span;
    const hsy_status st =
        shown_copy(s, &is, first, last, words, &of, &span, NULL);
    const hsy_batches *row = of.batches.list;
    const bool good =
        st == HSY_OK && eq_u64(of.batches.n, batches != 0) &&
        (batches == 0 ||
         (eq_u64(row->batches, batches) && eq_u64(row->least, least) &&
          eq_u64(row->reports, reports) && eq_u64(row->honest.num, 9) &&
          eq_u64(row->delta.den, 1000) && eq_u64(row->nano_central, 77)));

    rounds_clear(&of.rounds);
    free(words);
    return good;
}

static void readers_are_told(struct rig *r)
{
    struct shown *s = opened(r);

    put(s);
    shown_close(s);
    s = opened(r);
    ok(came(s, DAY - 1, DAY - 1, 1, 50, 50),
       "a block's are those of its reports, after a restart");
    ok(came(s, 0, 0, 5, 1, 100) && came(s, DAY, DAY, 3, 1, 40),
       "the size of one that is smaller than a lot is not told");
    is.task.min_reports = 4;
    ok(came(s, 0, 0, 5, 4, 100), "but that of one that is a lot");
    is.task.model = HSY_MODEL_LOCAL;
    ok(came(s, 0, 0, 0, 0, 0), "of a task that is not shuffled nothing is");
    is.task.model = HSY_MODEL_SHUFFLED;
    is.task.min_reports = LEAST;
    shown_close(s);
}

/* As it was before there were batches. */
static void a_file_without_batches(struct rig *r)
{
    struct shown *s;
    struct book b;

    if (book_open(&b, directory, &shown_kind, false, NULL) == HSY_OK)
        is_status(book_run(&b, "DROP TABLE batches", NULL), HSY_OK,
                  "a file as it was");
    book_close(&b);
    s = opened(r);
    ok(came(s, 0, 0, 0, 0, 0), "a file that knows none says none");
    put(s);
    shown_close(s);
    s = opened(r);
    ok(came(s, DAY - 1, DAY - 1, 1, 50, 50), "until a generation has some");
    shown_close(s);
}

int main(void)
{
    static struct rig r;

    snprintf(directory, sizeof directory, "/tmp/hearsay-shown.XXXXXX");
    if (!rig_open(&r) || mkdtemp(directory) == NULL)
        return 1;
    is = *roster_at(r.roster, 0);
    is.task.min_reports = LEAST;
    is.task.model = HSY_MODEL_SHUFFLED;
    is.task.assume_honest = (hsy_ratio){9, 10};
    is.task.delta = (hsy_ratio){1, 1000};
    is.task.nano_central = 77;
    rig_day(&r, DAY);
    batches_are_shown_with_their_reports();
    what_is_left_is_of_no_block();
    readers_are_told(&r);
    a_file_without_batches(&r);
    rig_close(&r);
    ok(chdir(directory) == 0 && unlink("shown.db") == 0 &&
           rmdir(directory) == 0,
       "nothing else is left");
    return tap_done();
}
