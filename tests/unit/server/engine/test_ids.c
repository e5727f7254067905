/*
 * test_ids.c - every id is known while its day is open, and memory is bounded
 * (H11: floods of ids, and ids that were chosen to fall together).
 */
#include "server/engine/ids.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t key[STORE_KEY] = {1, 2, 3};
static bool ok_silent = true; /* no lookup has failed */
static const uint8_t content[32] = {9}, other[32] = {8};

static struct store_id name(const struct ids *t, uint64_t n,
                            const uint8_t digest[32])
{
    uint8_t id[16] = {0};
    struct store_id out;

    memcpy(id, &n, sizeof n);
    ids_name(t, &out, id, digest);
    return out;
}

static enum ids_answer find(const struct ids *t, const struct store_id *id)
{
    enum ids_answer answer = IDS_OTHER;

    ok_silent &= ids_find(t, id, &answer) == HSY_OK;
    return answer;
}

static void answers(void)
{
    struct ids *t = ids_open(key);
    struct store_id a = name(t, 1, content), b = name(t, 2, content),
                    changed = name(t, 1, other);

    is_u64(find(t, &a), IDS_NEW, "nothing is known at first");
    ok(eq_status(ids_add(t, 10, &a), HSY_OK) && eq_u64(find(t, &a), IDS_SAME),
       "an id that was added is known");
    is_u64(find(t, &changed), IDS_OTHER, "with another content it is not");
    is_u64(find(t, &b), IDS_NEW, "another id is new");
    ok(eq_status(ids_add(t, 11, &b), HSY_OK) && eq_u64(find(t, &b), IDS_SAME) &&
           eq_u64(find(t, &a), IDS_SAME) && eq_u64(ids_count(t), 2),
       "it is looked for in all epochs");
    ids_drop(t, 10);
    ok(eq_u64(find(t, &a), IDS_NEW) && eq_u64(find(t, &b), IDS_SAME),
       "an epoch's ids go with it");
    ids_remove(t, 11, &b);
    ok(eq_u64(find(t, &b), IDS_NEW) && eq_u64(ids_count(t), 0),
       "an id that could not be kept is forgotten");
    ids_limit(t, 1);
    ok(eq_status(ids_add(t, 11, &a), HSY_OK) &&
           eq_status(ids_add(t, 11, &b), HSY_E_FULL) &&
           eq_status(ids_add(t, 12, &b), HSY_OK),
       "a full epoch refuses, and others do not");
    ids_close(t);
    ids_close(NULL);
}

static void names(void)
{
    static const uint8_t second[STORE_KEY] = {1, 2, 4};
    struct ids *t = ids_open(key), *u = ids_open(second);
    struct store_id a = name(t, 1, content), b = name(u, 1, content);
    uint8_t id[16] = {1};

    ok(memcmp(a.id, b.id, sizeof a.id) != 0, "names depend on the key");
    ok(memcmp(a.id, id, sizeof a.id) != 0 &&
           memcmp(a.content, content, sizeof a.content) != 0,
       "and show neither the id nor its content");
    ids_close(t);
    ids_close(u);
}

/* Every kind of removal against a plain list. */
static void removes(void)
{
    enum { N = 6000 };
    static bool there[N];
    struct ids *t = ids_open(key);
    uint64_t random = 1;
    bool good = true;
    size_t n = 0;

    for (size_t step = 0; step < 60000; step++) {
        const size_t i = (random = random * 6364136223846793005u + 1) >> 33;
        struct store_id id = name(t, i % N, content);

        good &= find(t, &id) == (there[i % N] ? IDS_SAME : IDS_NEW);
        if (there[i % N])
            ids_remove(t, 5, &id);
        else
            good &= ids_add(t, 5, &id) == HSY_OK;
        there[i % N] = !there[i % N];
        n += there[i % N] ? 1 : (size_t)-1;
    }
    for (size_t i = 0; i < N; i++) {
        struct store_id id = name(t, i, content);

        good &= find(t, &id) == (there[i] ? IDS_SAME : IDS_NEW);
    }
    ok(good && eq_u64(ids_count(t), n),
       "after 60,000 additions and removals what is there is known");
    ids_close(t);
}

/* Ids that differ in a few bits only, as somebody would choose them who knows
 * the table but not the key: memory and probing are those of any ids. */
static void flood(uint64_t n, uint64_t apart)
{
    struct ids *t = ids_open(key);
    uint64_t worst = 0, i;
    bool good = true;

    for (i = 0; i < n && good; i++) {
        struct store_id id = name(t, i * apart, content);

        good = ids_add(t, 5, &id) == HSY_OK;
        if ((i + 1) % 1000 == 0 && i > 50000 && ids_bytes(t) / (i + 1) > worst)
            worst = ids_bytes(t) / (i + 1);
    }
    ok(good && eq_u64(ids_count(t), n) &&
           ids_bytes(t) <= n * IDS_BYTES + IDS_EPOCH_BYTES,
       "%llu ids, %llu apart, take %.1f bytes each", (unsigned long long)n,
       (unsigned long long)apart, (double)ids_bytes(t) / (double)n);
    ok(worst <= IDS_BYTES, "and never more than %u on the way", IDS_BYTES);
    for (i = 0; i < n && good; i += 7) {
        struct store_id id = name(t, i * apart, content);

        good = find(t, &id) == IDS_SAME;
    }
    ok(good, "each of them is known");
    ids_close(t);
}

int main(void)
{
    const uint64_t n = getenv("HSY_TEST_LONG") != NULL ? 10000000 : 200000;

    answers();
    names();
    removes();
    flood(n, 1);
    flood(n, (uint64_t)1 << 32);
    ok(ok_silent, "no lookup has failed");
    return tap_done();
}
