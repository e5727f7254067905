/*
 * test_device_next.c - what a device remembers of its last search for the next
 * upload saves draws and changes nothing.
 */
#include "lib/bits/bytes.h"
#include "rig/device_rig.h"

/* ---- Draws --------------------------------------------------------------- */

struct counted {
    const hsy_device *dev;
    uint64_t draws;
};

static hsy_status counted_open(void *ctx, hsy_keyed *room, hsy_coins *coins,
                               const hsy_context *context)
{
    struct counted *c = ctx;

    c->draws++;
    hsy_keyed_open(room, c->dev->keys.coins, context);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

/* Coins that are drawn on a day on which each of n tasks sends one upload. */
static uint64_t day_draws(size_t n)
{
    struct rig *g = rig_new();
    struct counted c = {0};
    size_t count[2];

    g->policy.releases = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        char id[8];

        snprintf(id, sizeof id, "t%zu", i);
        rig_task(g, id, "usage", values("grr", (uint32_t)(3 + i), EPS), 0)
            ->delay_seconds = 3600;
    }
    rig_begin(g);
    c.dev = g->dev;
    hsy_device_coins(g->dev, counted_open, &c);
    g->world.now = (uint64_t)(DAY0 + 1) * DEVICE_DAY + 7200;
    rig_send(g, count);
    is_u64(count[1], n, "each of %zu tasks sends once", n);
    rig_free(g);
    return c.draws;
}

/* Twice for all tasks, before and after their rounds are closed, a delay and an
 * id; then the bytes of each null upload, and its id when it is acknowledged.
 */
static void draws_do_not_grow_with_the_tasks(void)
{
    const uint64_t few = day_draws(12), many = day_draws(120);

    ok(few <= 6 * 12 && many <= 6 * 120,
       "an upload takes at most 6 draws: %llu for 12 tasks, %llu for 120",
       (unsigned long long)few, (unsigned long long)many);
}

/* ---- Twins --------------------------------------------------------------- */

enum { TWIN_STEPS = 6000, TWIN_TASKS = 9 };

/* Two devices with one key and one life; the second forgets what it remembers
 * before every call. */
struct twins {
    struct rig *g[2];
    const hsy_release *list[2][TWIN_TASKS];
    size_t n; /* listed releases */
    uint8_t upload[2][4096];
    size_t len[2];
    hsy_stream coins;
    size_t differ, uploads;
};

/* The second stage of a search has one candidate. */
static void twin_stage(struct rig *g, const char *id, uint32_t stage)
{
    static const uint8_t label[] = {1, 0, 0, 0, '0'};
    hsy_spec spec = {.mechanism = "stage",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = EPS,
                     .param[HSY_PARAM_BITS] = 2,
                     .param[HSY_PARAM_STEP] = 1,
                     .param[HSY_PARAM_PREFIX_BITS] = stage,
                     .param[HSY_PARAM_MAX_CANDIDATES] = 8};
    hsy_task *t;

    if (stage == 2) {
        spec.d = 1;
        spec.labels = label;
        spec.labels_len = sizeof label;
    }
    t = rig_task(g, id, "settings", spec, 0);
    t->slot_days = 0;
    t->end = DAY0 + 100;
    t->labels = spec.labels;
    t->labels_len = spec.labels_len;
}

static struct rig *twin_new(void)
{
    struct rig *g = rig_new();
    hsy_task *t;

    g->policy.releases = 128;
    rig_task(g, "slow", "browser", values("grr", 4, EPS), 0)->delay_seconds =
        86000;
    t = rig_task(g, "some", "browser", values("grr", 5, EPS / 4), 0);
    t->answers = 3;
    t->sends = 2;
    t->delay_seconds = 40000;
    rig_task(g, "kept", "usage", values("sue", 8, EPS), 2 * EPS);
    rig_task(g, "same", "usage", values("grr", 6, EPS), 0);
    rig_task(g, "name", "usage", values("grr", 6, EPS), 0);
    t = rig_task(g, "week", "usage", values("grr", 7, EPS), 0);
    t->slot_days = 7;
    t->grace_days = 2;
    rig_task(g, "late", "settings", values("grr", 8, EPS), 0)->start += 5;
    twin_stage(g, "one", 1);
    twin_stage(g, "two", 2);
    rig_begin(g);
    return g;
}

static uint32_t twins_draw(struct twins *t, uint32_t n)
{
    hsy_rng rng = hsy_stream_rng(&t->coins);
    uint8_t bytes[4];

    if (rng.fill(rng.ctx, bytes, sizeof bytes) != HSY_OK)
        exit(1);
    return bytes_get32(bytes) % n;
}

static void twins_forget(struct twins *t)
{
    hsy_device *dev = t->g[1]->dev;

    for (uint32_t i = 0; i < dev->nrecords; i++)
        dev->records[i].next.until = 0;
}

/* Lists the releases from a random one on, forwards or backwards; some lists
 * lack one. */
static void twins_list(struct twins *t)
{
    const uint32_t from = twins_draw(t, TWIN_TASKS), back = twins_draw(t, 2);

    t->n = TWIN_TASKS - twins_draw(t, 2);
    for (uint32_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < 2; k++)
            t->list[k][i] =
                t->g[k]->release[(from + (back ? TWIN_TASKS - i : i)) %
                                 TWIN_TASKS];
}

/* Another document: a task has another delay, end, number or place in it. */
static void twins_publish(struct twins *t)
{
    const uint32_t which = twins_draw(t, 6), what = twins_draw(t, 4),
                   x = twins_draw(t, 80000);

    for (size_t k = 0; k < 2; k++) {
        hsy_task *task = &t->g[k]->task[which];

        if (what == 0)
            task->delay_seconds = task->round_days == 1 ? x : x / 2;
        else if (what == 1)
            task->end = DAY0 + 11 + x % 400;
        else if (what == 2)
            task->release++;
        else
            task->grace_days = x % 4;
        rig_publish(t->g[k]);
        if (!rig_tasks(t->g[k]))
            exit(1);
    }
    twins_list(t);
}

static void twins_clock(struct twins *t)
{
    const uint32_t back = twins_draw(t, 8),
                   days = twins_draw(t, 6) == 0 ? twins_draw(t, 4) : 0,
                   step = days * DEVICE_DAY + twins_draw(t, 20000);

    for (size_t k = 0; k < 2; k++)
        if (back == 0)
            t->g[k]->world.now -= step;
        else
            t->g[k]->world.now += step;
}

static void twins_sent(struct twins *t)
{
    for (size_t k = 0; k < 2 && t->len[0] != 0; k++)
        if (hsy_device_sent(t->g[k]->dev, t->list[k], t->n, t->upload[k],
                            t->len[k], NULL) != HSY_OK)
            t->differ += t->n == TWIN_TASKS; /* else it may not be listed */
}

static void twins_consent(struct twins *t)
{
    const uint32_t none = twins_draw(t, 2);

    for (size_t k = 0; k < 2; k++) {
        if (none != 0)
            hsy_device_consent_set(t->g[k]->dev, HSY_CONSENT_NONE, NULL);
        hsy_device_consent_set(t->g[k]->dev, HSY_CONSENT_SEND, NULL);
    }
}

static void twins_change(struct twins *t)
{
    const uint32_t task = twins_draw(t, TWIN_TASKS), truth = twins_draw(t, 4);

    switch (twins_draw(t, 12)) {
    case 0:
        twins_publish(t);
        break;
    case 1:
        twins_list(t);
        break;
    case 2:
        twins_consent(t);
        break;
    case 3:
    case 4:
    case 5:
        for (size_t k = 0; k < 2; k++)
            rig_answer(t->g[k], task, truth);
        break;
    case 6:
    case 7:
        twins_clock(t);
        break;
    default:
        twins_sent(t);
    }
}

static void twins_next(struct twins *t)
{
    hsy_status st[2];
    const hsy_device *a = t->g[0]->dev, *b = t->g[1]->dev;

    for (size_t k = 0; k < 2; k++) {
        t->len[k] = 0;
        st[k] = hsy_device_next(t->g[k]->dev, t->upload[k], sizeof t->upload[k],
                                &t->len[k], t->list[k], t->n, NULL);
    }
    t->uploads += st[0] == HSY_OK;
    t->differ += st[0] != st[1] || t->len[0] != t->len[1] ||
                 memcmp(t->upload[0], t->upload[1], t->len[0]) != 0 ||
                 a->image_len != b->image_len ||
                 memcmp(a->image, b->image, a->image_len) != 0;
}

static void twins_live_alike(void)
{
    struct twins t = {.g = {twin_new(), twin_new()}};

    hsy_stream_seed(&t.coins, 11, 0);
    twins_list(&t);
    for (size_t i = 0; i < TWIN_STEPS; i++) {
        if (i == TWIN_STEPS * 3 / 4)
            for (size_t k = 0; k < 2; k++)
                hsy_device_forget(t.g[k]->dev, "browser", NULL);
        twins_change(&t);
        twins_forget(&t);
        twins_next(&t);
    }
    ok(eq_u64(t.differ, 0) && t.uploads > 100,
       "a device that forgets makes the same uploads and files: %zu uploads on "
       "%u days",
       t.uploads, (unsigned)(t.g[0]->world.now / DEVICE_DAY - DAY0));
    rig_free(t.g[0]);
    rig_free(t.g[1]);
}

int main(void)
{
    draws_do_not_grow_with_the_tasks();
    twins_live_alike();
    return tap_done();
}
