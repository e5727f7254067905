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
    a_quiet_life();
    killed_anywhere();
    life_end();
    return tap_done();
}
