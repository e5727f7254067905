/*
 * memory_world.c - a world of memory: the double of a device's world in tests.
 *
 * What a test needs to change is a member of hsy_memory_world, and whatever
 * else it wants to see or break is a callback to put in another's place.
 */
#include "lib/device/internal.h"

#include <string.h>

static hsy_status memory_world_load(void *ctx, hsy_file file, uint8_t *buf,
                                    size_t room, size_t *len)
{
    const hsy_memory_world *m = ctx;
    const hsy_memory_file *f = &m->file[file];

    if (m->load_fails != HSY_OK)
        return m->load_fails;
    if (!f->there)
        return HSY_E_EMPTY;
    if (f->len > room)
        return HSY_E_RANGE;
    memcpy(buf, f->bytes, f->len);
    *len = f->len;
    return HSY_OK;
}

static hsy_status memory_world_store(void *ctx, hsy_file file,
                                     const uint8_t *buf, size_t len)
{
    hsy_memory_world *m = ctx;
    hsy_memory_file *f = &m->file[file];

    if (m->store_fails != HSY_OK)
        return m->store_fails;
    m->stores++;
    if (m->room == 0)
        return HSY_OK;
    if (len > m->room)
        return HSY_E_IO; /* as on a full disk */
    memcpy(f->bytes, buf, len);
    f->len = len;
    f->there = true;
    return HSY_OK;
}

static hsy_status memory_world_now(void *ctx, uint64_t *seconds)
{
    const hsy_memory_world *m = ctx;

    *seconds = m->seconds;
    return m->clock_fails;
}

static hsy_status memory_world_entropy(void *ctx, void *buf, size_t len)
{
    hsy_memory_world *m = ctx;
    const hsy_rng rng = hsy_stream_rng(&m->coins);

    return m->entropy_fails != HSY_OK ? m->entropy_fails
                                      : rng.fill(rng.ctx, buf, len);
}

static bool memory_world_verify(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                                const uint8_t sig[HSY_SIGNATURE],
                                const uint8_t *bytes, size_t len)
{
    (void)ctx, (void)key, (void)sig, (void)bytes, (void)len;
    return true;
}

static hsy_status memory_world_anchor_read(void *ctx, uint64_t *number)
{
    *number = ((const hsy_memory_world *)ctx)->anchor;
    return HSY_OK;
}

static hsy_status memory_world_anchor_raise(void *ctx, uint64_t number)
{
    hsy_memory_world *m = ctx;

    m->anchor = number > m->anchor ? number : m->anchor;
    return HSY_OK;
}

void hsy_memory_world_init(hsy_memory_world *m, uint8_t *room, size_t len,
                           uint64_t seconds, uint64_t seed)
{
    memset(m, 0, sizeof *m);
    m->world = (hsy_world){.size = sizeof m->world,
                           .ctx = m,
                           .load = memory_world_load,
                           .store = memory_world_store,
                           .now = memory_world_now,
                           .entropy = {memory_world_entropy, m},
                           .verify = memory_world_verify,
                           .anchor_read = memory_world_anchor_read,
                           .anchor_raise = memory_world_anchor_raise};
    m->seconds = seconds;
    m->room = len / HSY_FILES;
    for (size_t i = 0; i < HSY_FILES; i++)
        m->file[i].bytes = m->room != 0 ? room + i * m->room : NULL;
    hsy_stream_seed(&m->coins, seed, 0);
}
