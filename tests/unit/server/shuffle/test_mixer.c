/* Tests of src/server/shuffle: batches close by time, wait below min_batch,
 * expire, are mixed once and delivered once; through two hops, killed anywhere,
 * no envelope is lost and none comes twice. */
#define _GNU_SOURCE

#include "rig/mixer_life.h"
#include "rig/sanitized.h"
#include "rig/store_rig.h"
#include "rig/tape.h"
#include "server/shuffle/internal.h"
#include "tap.h"

/* ---- Parts of a life ----------------------------------------------------- */

static void mixer_is_open(struct life_hop *h)
{
    if (life_open(h, &life_real, 1) != HSY_OK)
        ok(false, "a hop opens");
}

static uint8_t *mixer_sent(const struct life_hop *h,
                           const struct mixer_parcel *p)
{
    uint8_t *bytes = life_parcel(h, p);

    if (bytes == NULL)
        ok(false, "a parcel is read");
    return bytes;
}

static void mixer_holds(const uint8_t *bytes, struct batch_head *head)
{
    hsy_error err = {0};

    if (life_check(bytes, 1, head, &err) != HSY_OK)
        ok(false, "heads: %s", err.msg);
}

/* ---- Single behaviours --------------------------------------------------- */

static void batches_close_by_time(void)
{
    struct life_hop h;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 9, 99);
    is_status(life_decide(&h, LIFE_DAY0, 23), HSY_OK, "within the epoch");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_NONE, "many make no batch");
    life_decide(&h, LIFE_DAY0 + 1, 5);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_NONE, "nor does its end");
    life_decide(&h, LIFE_DAY0 + 1, 6);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_CLOSED,
           "six hours later it does");
    life_upload(&h, LIFE_DAY0, 20, 9, 99);
    is_status(life_steps(&h), HSY_OK, "it is mixed");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_MIXED, "and says so");
    ok(mixer_rows(h.m, &(size_t){0})->n == 9, "without those that came late");
    life_decide(&h, LIFE_DAY0 + 2, 6);
    is_int(life_state(&h, LIFE_DAY0 + 1), STORE_MIX_CLOSED,
           "which are of the next");
    life_close(&h);
}

static void small_ones_wait_and_expire(void)
{
    struct life_hop h;
    size_t n;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 2, 99);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_WAITING, "too few wait");
    life_upload(&h, LIFE_DAY0, 2, 30, 99);
    life_decide(&h, LIFE_DAY0 + 1, 7);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_WAITING,
           "and more make no batch before its time");
    life_decide(&h, LIFE_DAY0 + 2, 6);
    is_int(life_state(&h, LIFE_DAY0 + 1), STORE_MIX_CLOSED, "then they do");
    life_close(&h);

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 2, 99);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    life_upload(&h, LIFE_DAY0 + 1, 2, 1, 99);
    life_decide(&h, LIFE_DAY0 + 2, 6);
    life_decide(&h, LIFE_DAY0 + 3, 6);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_EXPIRED,
           "two epochs later: over");
    ok(mixer_rows(h.m, &n)[0].n == 2, "two are counted as erased, not three");
    life_close(&h);
    mixer_is_open(&h);
    is_status(life_steps(&h), HSY_OK, "and are erased");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_GONE, "for good");
    is_u64((uint64_t)rig_sql(life_at[0], "record.db",
                             "SELECT sum(reports) FROM batches"),
           1, "the third still waits");
    life_close(&h);
}

static void what_does_not_open_does_not_count(void)
{
    struct mixer_parcel p;
    struct batch_head head;
    struct life_hop h;
    uint8_t *bytes;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 5, 3);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_CLOSED, "five make a batch");
    is_status(life_steps(&h), HSY_OK, "of which four open");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_WAITING,
           "so it waits after all");
    life_upload(&h, LIFE_DAY0 + 1, 5, 1, 99);
    life_upload(&h, LIFE_DAY0 + 1, 5, 1, 99); /* the same envelope once more */
    life_decide(&h, LIFE_DAY0 + 2, 6);
    is_status(life_steps(&h), HSY_OK, "one more, and it is mixed");
    is_int(life_state(&h, LIFE_DAY0 + 1), STORE_MIX_MIXED, "with five");
    mixer_parcel(h.m, NULL, &p);
    bytes = mixer_sent(&h, &p);
    mixer_holds(bytes, &head);
    ok(head.n == 5 && head.in == 7 && head.unopened == 2,
       "the head says that of seven two did not come out");
    free(bytes);
    life_close(&h);
}

/* Mixing was held up for so long that later ones have expired meanwhile. */
static void what_does_not_open_too_late_is_counted(void)
{
    struct life_hop h;
    size_t n;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 5, 3);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    life_upload(&h, LIFE_DAY0 + 1, 5, 2, 99);
    for (uint32_t day = 2; day <= 4; day++)
        life_decide(&h, LIFE_DAY0 + day, 6);
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_CLOSED, "five wait for a disk");
    is_int(life_state(&h, LIFE_DAY0 + 1), STORE_MIX_EXPIRED, "two expire");
    is_status(life_steps(&h), HSY_OK, "of the five four open");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_GONE, "they are erased");
    ok(mixer_rows(h.m, &n)[0].n == 5, "and counted");
    is_u64((uint64_t)rig_sql(life_at[0], "record.db",
                             "SELECT count(*) FROM batches"),
           0, "nothing stays that no batch has");
    life_close(&h);
}

static void a_mixed_batch_is_never_mixed_again(void)
{
    struct mixer_parcel p, again;
    uint8_t *first, *second, receipt[STORE_RECEIPT] = {1};
    struct life_hop h;
    hsy_error err;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 20, 99);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    life_steps(&h);
    ok(mixer_parcel(h.m, NULL, &p), "there is something to send");
    first = mixer_sent(&h, &p);
    life_close(&h);
    mixer_is_open(&h);
    life_decide(&h, LIFE_DAY0 + 1, 9);
    life_steps(&h);
    ok(mixer_parcel(h.m, NULL, &again) && again.bytes == p.bytes,
       "after a restart too");
    second = mixer_sent(&h, &again);
    is_bytes(second, first, p.bytes, "the very same bytes");
    is_status(mixer_acked(h.m, p.id, receipt, &err), HSY_E_REFUSED,
              "a receipt of nobody's is refused");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_MIXED, "and changes nothing");
    free(first);
    free(second);
    life_close(&h);
}

static void what_another_key_has_closed_is_left_alone(void)
{
    struct mixer_parcel p;
    struct life_hop h;
    bool more = true;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0, 0, 20, 99);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    life_close(&h);
    mixer_is_open(&h);
    h.m->options.key[0] ^= 1; /* it was stopped, and has another key now */
    for (int i = 0; i < 3 && more; i++)
        mixer_step(h.m, &more, NULL);
    ok(!more && !mixer_parcel(h.m, NULL, &p), "it is not mixed, over and over");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_CLOSED, "nor forgotten");
    ok(!mixer_ours(h.m, mixer_rows(h.m, &(size_t){0})), "which can be said");
    h.m->options.key[0] ^= 1;
    is_status(life_steps(&h), HSY_OK, "when the key is back");
    is_int(life_state(&h, LIFE_DAY0), STORE_MIX_MIXED, "it is mixed");
    life_close(&h);
}

static void a_missing_file_is_damage(void)
{
    char name[256];
    struct mixer_parcel p;
    struct life_hop h;
    hsy_error err = {0};
    size_t at;

    mixer_is_open(&h); /* as the test before has left it */
    mixer_parcel(h.m, NULL, &p);
    life_close(&h);
    at = (size_t)snprintf(name, sizeof name, "%s/mixed/", life_at[0]);
    for (size_t i = 0; i < sizeof p.id; i++)
        at += (size_t)snprintf(name + at, sizeof name - at, "%02x", p.id[i]);
    unlink(name);
    is_status(life_open_with(&h, &life_real, 1, 0, life_rng(), &err),
              HSY_E_DAMAGED,
              "a mixed batch without its file is not mixed again");
    life_close(&h);
}

/* ---- Orders and parts ---------------------------------------------------- */

/* The words 1 choose the first of all each time. */
static void the_order_is_the_one_that_was_drawn(void)
{
    static const uint64_t words[] = {1, 1, 1, 1, 1};
    static const uint64_t want[] = {4, 0, 1, 2, 3};
    struct tape tape = {words, sizeof words};
    struct mixer_parcel p;
    struct life_hop h;
    hsy_error err;
    uint8_t *bytes;
    bool same = true;

    life_fresh();
    life_open_with(&h, &life_real, 1, 0, (hsy_rng){tape_fill, &tape}, &err);
    life_upload(&h, LIFE_DAY0, 0, 5, 99);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    is_status(life_steps(&h), HSY_OK, "five are mixed by given coins");
    mixer_parcel(h.m, NULL, &p);
    bytes = mixer_sent(&h, &p);
    for (size_t i = 0; i < 5; i++) {
        const uint8_t *end = bytes + BATCH_HEAD + (i + 1) * life_length(2);

        same = same && memcmp(end - 8, &want[i], 8) == 0;
    }
    ok(same, "and stand where the order says, whatever came first");
    free(bytes);
    life_close(&h);
}

static void large_ones_are_parted(void)
{
    struct mixer_parcel p;
    struct life_hop h;
    hsy_error err;
    uint64_t parts = 0, n = 0, least = 99;
    const uint8_t *after = NULL;

    life_fresh();
    life_open_with(&h, &life_real, 1, 8, life_rng(), &err);
    life_upload(&h, LIFE_DAY0, 0, 23, 7);
    life_decide(&h, LIFE_DAY0 + 1, 6);
    life_steps(&h);
    for (; mixer_parcel(h.m, after, &p); after = p.id) {
        uint8_t *bytes = mixer_sent(&h, &p);
        struct batch_head head;

        mixer_holds(bytes, &head);
        parts++;
        n += head.n;
        least = head.n < least ? head.n : least;
        free(bytes);
    }
    ok(parts == 3 && n == 22 && least == 7, "22 in parts of 8: 7, 7 and 8");
    life_close(&h);
}

/* ---- Periods ------------------------------------------------------------- */

#define MIXER_END 127u /* the last epoch of a period */

static void a_batch_has_one_period(void)
{
    struct life_hop h;
    size_t n;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, MIXER_END - 1, 0, 2, 99);
    life_decide(&h, MIXER_END, 6);
    life_upload(&h, MIXER_END, 2, 2, 99);
    life_decide(&h, MIXER_END + 1, 6);
    is_int(life_state(&h, MIXER_END - 1), STORE_MIX_WAITING, "two wait");
    is_int(life_state(&h, MIXER_END), STORE_MIX_NONE,
           "the last epoch of a period is not decided while uploads come");
    life_upload(&h, MIXER_END + 1, 10, 4, 99);
    life_upload(&h, MIXER_END, 4, 2, 99);
    life_close(&h);
    mixer_is_open(&h);
    life_decide(&h, MIXER_END + 2, 6);
    is_int(life_state(&h, MIXER_END), STORE_MIX_CLOSED,
           "it is a batch when it is closed, with those that waited");
    is_int(life_state(&h, MIXER_END + 1), STORE_MIX_WAITING,
           "the next period's wait, and do not join it");
    is_status(life_steps(&h), HSY_OK, "it is mixed");
    is_u64(mixer_rows(h.m, &n)->n, 6, "with all six of its period");
    is_int(life_state(&h, MIXER_END), STORE_MIX_MIXED, "and no others");
    is_u64(n, 2, "the row that waited is gone");
    life_upload(&h, MIXER_END + 2, 14, 1, 99);
    life_decide(&h, MIXER_END + 3, 6);
    is_status(life_steps(&h), HSY_OK, "one more comes");
    is_int(life_state(&h, MIXER_END + 2), STORE_MIX_MIXED,
           "and makes five of the next period");
    life_close(&h);
}

static void too_few_at_the_end_of_a_period_are_erased(void)
{
    struct life_hop h;
    size_t n;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, MIXER_END - 1, 0, 2, 99);
    life_decide(&h, MIXER_END, 6);
    life_upload(&h, MIXER_END, 2, 2, 99);
    life_upload(&h, MIXER_END + 1, 10, 9, 99);
    life_decide(&h, MIXER_END + 2, 6);
    is_int(life_state(&h, MIXER_END), STORE_MIX_EXPIRED,
           "four at the end of a period are erased");
    is_u64(mixer_rows(h.m, &n)->n, 4, "and counted");
    is_status(life_steps(&h), HSY_OK, "that is done");
    is_int(life_state(&h, MIXER_END), STORE_MIX_GONE, "for good");
    is_int(life_state(&h, MIXER_END + 1), STORE_MIX_MIXED,
           "those of the next period are not touched");
    life_close(&h);

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, MIXER_END, 0, 5, 3);
    life_decide(&h, MIXER_END + 2, 6);
    is_int(life_state(&h, MIXER_END), STORE_MIX_CLOSED, "five make a batch");
    is_status(life_steps(&h), HSY_OK, "of which four open");
    is_int(life_state(&h, MIXER_END), STORE_MIX_GONE,
           "they are erased too: no more of the period come");
    life_close(&h);

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, MIXER_END, 0, 5, 99);
    life_decide(&h, MIXER_END + SEAL_PERIOD_DAYS + 1, 6);
    is_status(life_steps(&h), HSY_OK, "stopped for a whole period");
    is_int(life_state(&h, MIXER_END), STORE_MIX_GONE,
           "a shuffler erases what no other would open any more");
    is_u64((uint64_t)rig_sql(life_at[0], "record.db",
                             "SELECT count(*) FROM batches"),
           0, "and keeps no envelopes");
    life_close(&h);
}

/* A batch for the second hop, of numbers from one on; the hop before says an
 * epoch, and the envelopes are of other ones. */
static void second_gets(struct life_hop *second, uint32_t epoch, uint32_t day,
                        uint32_t number, const uint32_t *epochs, uint32_t n)
{
    uint8_t *items = calloc(n, LIFE_ITEM);
    struct life_hop first;

    mixer_is_open(&first);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t id[MIXER_UPLOAD_ID] = {(uint8_t)i};

        life_item(items + (size_t)i * LIFE_ITEM, id, epochs[i], number + i,
                  true);
    }
    if (life_append(&first, epoch, items, n) != HSY_OK ||
        life_decide(&first, epoch + 1, 6) != HSY_OK ||
        life_steps(&first) != HSY_OK ||
        life_deliver(&first, second) != HSY_OK ||
        life_decide(second, day, 6) != HSY_OK || life_steps(second) != HSY_OK)
        ok(false, "a batch comes to the second hop");
    free(items);
    life_close(&first);
}

static void a_later_hop_opens_two_periods(void)
{
    static const uint32_t epochs[] = {100, 100, 101, 101, 102, 103};
    static const struct {
        uint32_t day;
        enum store_mix_state state;
        const char *name;
    } days[] = {
        {105, STORE_MIX_MIXED, "opens a batch of its own day's period"},
        {128, STORE_MIX_MIXED, "opens a batch of the period before"},
        {159, STORE_MIX_MIXED, "opens it on the last day of its period"},
        {160, STORE_MIX_GONE, "opens none of two periods ago"},
        {64, STORE_MIX_GONE, "opens none of a period that has not come"}};

    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        struct life_hop second;

        life_fresh();
        life_open(&second, &life_real, 2);
        second_gets(&second, 104, days[i].day, 0, epochs, 6);
        is_int(life_state(&second, 104), days[i].state, "%s", days[i].name);
        life_close(&second);
    }
}

static void a_later_hop_mixes_one_period(void)
{
    static const uint32_t old[] = {127, 127, 128, 127, 128},
                          young[] = {128, 128, 129, 127, 128},
                          enough[] = {128, 129, 127, 129, 128},
                          strange[] = {130, 130, 130, 130, 130, 127,
                                       127, 127, 127, 127, 127};
    struct life_hop second;
    struct mixer_parcel p;
    struct batch_head head;
    hsy_error err;
    uint8_t *bytes;
    uint32_t others = 0;
    const struct store_mix *rows;
    size_t n;

    life_fresh();
    life_open(&second, &life_real, 2);
    second_gets(&second, 104, 130, 0, old, 5);
    is_int(life_state(&second, 104), STORE_MIX_WAITING,
           "three of one period wait, and two of another are left out");
    second_gets(&second, 128, 130, 20, young, 5);
    is_int(life_state(&second, 128), STORE_MIX_WAITING,
           "four of the next period do not join them");
    second_gets(&second, 129, 131, 40, enough, 5);
    is_int(life_state(&second, 129), STORE_MIX_MIXED, "but four others");
    ok(mixer_parcel(second.m, NULL, &p), "which are a batch");
    bytes = mixer_sent(&second, &p);
    batch_head_read(&head, bytes, &err);
    ok(head.n == 8 && head.in == 5 && head.unopened == 1 && head.waited == 4,
       "of eight, one counts as not opened");
    for (uint64_t i = 0; i < head.n; i++) {
        const uint64_t number =
            life_number(bytes + 2 * BATCH_HEAD + i * head.length, head.length);

        others += number < 20 || number == 23 || number == 42;
    }
    is_u64(others, 0, "it has none of the other period");
    is_int(life_state(&second, 104), STORE_MIX_WAITING, "the three wait on");
    second_gets(&second, 130, 132, 60, strange, 11);
    rows = mixer_rows(second.m, &n);
    while (n != 0 && rows[n - 1].epoch != 130)
        n--;
    ok(n != 0 && rows[n - 1].state == STORE_MIX_MIXED && rows[n - 1].n == 5,
       "five are mixed, though a stranger added six of the period before");
    free(bytes);
    life_close(&second);
}

/* ---- Rows that are over ---------------------------------------------------
 */

/* Five uploads of a day through the first hop, and the receipt for all that is
 * mixed by then: those of the last day of a period are so with the next. */
static void mixer_day(struct life_hop *h, uint32_t epoch)
{
    struct mixer_parcel p;
    hsy_error err;
    uint32_t n = 0;

    life_upload(h, epoch, 1000 + 5 * epoch, 5, 99);
    life_decide(h, epoch + 1, 6);
    life_steps(h);
    for (; mixer_parcel(h->m, NULL, &p); n++) {
        uint8_t *bytes = mixer_sent(h, &p);
        struct batch_head head = {.n = 0};

        mixer_holds(bytes, &head);
        life_receipt(h, &head, &err);
        free(bytes);
    }
    if (n != (mixer_ends_period(epoch)       ? 0
              : mixer_ends_period(epoch - 1) ? 2
                                             : 1))
        ok(false, "%u batches are mixed after day %u", n, epoch);
    life_steps(h);
}

static void old_rows_are_forgotten(void)
{
    const uint32_t last = LIFE_DAY0 + MIXER_DAYS + 10;
    struct life_hop h;

    life_fresh();
    mixer_is_open(&h);
    life_upload(&h, LIFE_DAY0 + 1, 0, 2, 99); /* too early for its epoch */
    for (uint32_t day = LIFE_DAY0; day <= last; day++)
        mixer_day(&h, day);
    life_decide(&h, last + 1, 7);
    is_u64((uint64_t)rig_sql(life_at[0], "record.db",
                             "SELECT count(*) FROM mixes"),
           MIXER_DAYS, "a first hop keeps the rows of 35 days");
    is_int(life_state(&h, last), STORE_MIX_ERASED, "up to the last one");
    is_u64((uint64_t)rig_sql(life_at[0], "record.db",
                             "SELECT count(*) FROM batches"),
           0, "and no envelope that no row has");
    life_close(&h);
    mixer_is_open(&h);
    mixer_day(&h, last + 1);
    is_int(life_state(&h, last + 1), STORE_MIX_ERASED, "and goes on from it");
    life_close(&h);
}

/* What a hop before can make: many parts of one epoch. */
static void many_rows_are_forgotten(void)
{
    static struct store_mix rows[MIXER_ROWS + 90];
    struct life_hop h;
    hsy_error err;
    size_t n, over = sizeof rows / sizeof *rows;

    life_fresh();
    if (life_open(&h, &life_real, 2) != HSY_OK)
        return;
    for (uint32_t i = 0; i < over; i++) {
        rows[i] = (struct store_mix){
            .epoch = LIFE_DAY0, .part = i, .state = STORE_MIX_ERASED};
        memcpy(rows[i].id, &i, sizeof i);
    }
    rows[3].state = STORE_MIX_WAITING; /* of which something still becomes */
    rows[3].digest[0] = 1;
    memcpy(rows[3].receipt, &(uint32_t){LIFE_DAY0 + 1}, 4);
    is_status(mixer_put(h.m, rows, over, &err), HSY_OK, "a later hop has many");
    life_decide(&h, LIFE_DAY0 + 1, 6);
    mixer_rows(h.m, &n);
    is_u64(n, MIXER_ROWS + 1, "and keeps 512, and the one that waits");
    life_close(&h);
}

/* ---- Killed anywhere ----------------------------------------------------- */

static void killed_anywhere(void)
{
    const bool every = getenv("HSY_TEST_LONG") != NULL;
    struct life_kills k;
    const char *wrong = life_killed(&life_real,
                                    every            ? 1
                                    : TEST_SANITIZED ? 61
                                                     : 7,
                                    &k);

    ok(wrong == NULL && k.kills > 20,
       "killed %llu times, up to operation %llu: %s",
       (unsigned long long)k.kills, (unsigned long long)k.at,
       wrong == NULL ? "lost 0, doubled 0" : wrong);
}

static void a_quiet_life(void)
{
    const char *wrong = life_quiet(&life_real);

    ok(wrong == NULL, "a life without a kill counts each once: %s",
       wrong == NULL ? "yes" : wrong);
    ok(life_batches() >= 3, "in %u batches", life_batches());
    is_u64(life_waited(), 4, "four that waited at the second hop are in one");
}

int main(void)
{
    if (!life_begin())
        return 1;
    batches_close_by_time();
    small_ones_wait_and_expire();
    what_does_not_open_does_not_count();
    what_does_not_open_too_late_is_counted();
    a_mixed_batch_is_never_mixed_again();
    what_another_key_has_closed_is_left_alone();
    a_missing_file_is_damage();
    the_order_is_the_one_that_was_drawn();
    large_ones_are_parted();
    a_batch_has_one_period();
    too_few_at_the_end_of_a_period_are_erased();
    a_later_hop_opens_two_periods();
    a_later_hop_mixes_one_period();
    old_rows_are_forgotten();
    many_rows_are_forgotten();
    a_quiet_life();
    killed_anywhere();
    life_end();
    return tap_done();
}
