/* test_memory_world.c - the double of a device's world that programs test with.
 */
#include "rig/device_rig.h"

struct double_rig {
    struct rig *g;
    hsy_memory_world m;
    uint8_t *files;
};

static void open_double(struct double_rig *d, bool keeps, uint64_t seed)
{
    struct rig *g = rig_new();
    const size_t len = HSY_FILES * hsy_device_size(&g->policy);

    d->g = g;
    d->files = calloc(1, len);
    if (d->files == NULL)
        exit(1);
    hsy_memory_world_init(&d->m, keeps ? d->files : NULL, keeps ? len : 0,
                          (uint64_t)DAY0 * DEVICE_DAY, seed);
    g->face = d->m.world;
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
}

static void close_double(struct double_rig *d)
{
    rig_free(d->g);
    free(d->files);
}

static void a_device_lives_in_it(void)
{
    struct double_rig d;
    uint64_t stores;

    open_double(&d, true, 1);
    stores = d.m.stores;
    ok(rig_answer(d.g, 0, 1) == HSY_ANSWERED && d.m.stores > stores,
       "an answer is stored");
    ok(rig_answer(d.g, 0, 1) == HSY_ANSWER_KEPT, "once a day");
    d.m.seconds += DEVICE_DAY;
    ok(rig_answer(d.g, 0, 1) == HSY_ANSWERED, "the clock shows what it is set");
    ok(rig_again(d.g) && rig_answer(d.g, 0, 1) == HSY_ANSWER_KEPT &&
           rig_spent(d.g, "browser") == 2 * EPS,
       "a device that is opened again knows what it has spent");
    ok(rig_open(d.g, true) == HSY_E_REFUSED, "and is not made a second time");
    close_double(&d);
}

static void what_fails(void)
{
    struct double_rig d;

    open_double(&d, true, 1);
    d.m.clock_fails = HSY_E_IO;
    ok(rig_answer(d.g, 0, 1) == -1 && d.g->err.status == HSY_E_IO,
       "without a clock nothing is answered");
    d.m.clock_fails = HSY_OK;
    d.m.store_fails = HSY_E_IO;
    ok(rig_answer(d.g, 0, 1) == -1, "nor on a full disk");
    d.m.store_fails = HSY_OK;
    ok(rig_again(d.g) && rig_answer(d.g, 0, 1) == HSY_ANSWERED &&
           rig_spent(d.g, "browser") == EPS,
       "opened again, it answers and pays once");
    d.m.load_fails = HSY_E_IO;
    ok(rig_open(d.g, false) == HSY_E_IO, "what cannot be read does not open");
    d.m.load_fails = HSY_OK;
    d.m.room = d.m.file[HSY_FILE_A].len - 1;
    d.m.seconds += DEVICE_DAY;
    ok(rig_again(d.g) && rig_answer(d.g, 0, 1) == -1 &&
           d.g->err.status == HSY_E_IO,
       "a file without room is a full disk");
    close_double(&d);
}

static void a_backup_is_noticed(void)
{
    struct double_rig d;
    uint8_t *old = NULL;
    size_t len;

    open_double(&d, true, 1);
    len = HSY_FILES * d.m.room;
    old = malloc(len);
    if (old == NULL)
        exit(1);
    memcpy(old, d.files, len);
    ok(rig_answer(d.g, 0, 1) == HSY_ANSWERED, "answered");
    memcpy(d.files, old, len);
    ok(rig_open(d.g, false) == HSY_E_DAMAGED, "the anchor notices a backup");
    d.m.world.anchor_read = NULL;
    d.m.world.anchor_raise = NULL;
    d.g->face = d.m.world;
    ok(rig_again(d.g), "without one it is not noticed");
    free(old);
    close_double(&d);
}

static void coins_are_the_seeds(void)
{
    struct double_rig a, b, c;

    open_double(&a, true, 1);
    open_double(&b, true, 1);
    open_double(&c, true, 2);
    ok(memcmp(a.files, b.files, HSY_FILES * a.m.room) == 0,
       "the same seed is the same device");
    ok(memcmp(a.files, c.files, HSY_FILES * a.m.room) != 0,
       "another seed is another");
    a.m.entropy_fails = HSY_E_ENTROPY;
    memset(a.m.file, 0, sizeof a.m.file);
    a.m.room = 0;
    a.m.anchor = 0;
    ok(rig_open(a.g, true) == HSY_E_ENTROPY, "without entropy none is made");
    close_double(&a);
    close_double(&b);
    close_double(&c);
}

static void one_that_keeps_nothing(void)
{
    struct double_rig d;

    open_double(&d, false, 1);
    ok(rig_answer(d.g, 0, 1) == HSY_ANSWERED && d.m.stores > 0,
       "a world without memory takes what is stored");
    ok(rig_open(d.g, false) == HSY_E_EMPTY, "and has nothing to open");
    close_double(&d);
}

int main(void)
{
    a_device_lives_in_it();
    what_fails();
    a_backup_is_noticed();
    coins_are_the_seeds();
    one_that_keeps_nothing();
    return tap_done();
}
