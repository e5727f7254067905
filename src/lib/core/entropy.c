/* entropy.c - fresh coins from the kernel, for commands that answer once. */
#include "lib/core/entropy.h"

#include "lib/bits/bytes.h"
#include "lib/core/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static ssize_t entropy_kernel(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    return getrandom(buf, len, 0);
}

/*
 * All len bytes, however often the call is interrupted or falls short. Any
 * other answer, zero bytes and more than were asked for among them, means that
 * the source is broken: what was read so far is forgotten.
 */
static hsy_status entropy_read(uint8_t *out, size_t len, entropy_source *source,
                               void *ctx)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = source(ctx, out + done, len - done);

        if (n > 0 && (size_t)n <= len - done) {
            done += (size_t)n;
        } else if (n != -1 || errno != EINTR) {
            bytes_wipe(out, len);
            return HSY_E_ENTROPY;
        }
    }
    return HSY_OK;
}

/* One batch: read whole, handed over and forgotten. */
static hsy_status entropy_copy(uint8_t *out, size_t len, entropy_source *source,
                               void *ctx)
{
    uint8_t batch[HSY_ENTROPY_BATCH];
    hsy_status st = entropy_read(batch, len, source, ctx);

    if (st == HSY_OK)
        memcpy(out, batch, len);
    bytes_wipe(batch, len);
    return st;
}

/* More than a batch: a stream from a fresh key, straight to the caller. */
static hsy_status entropy_expand(uint8_t *out, size_t len,
                                 entropy_source *source, void *ctx)
{
    uint8_t key[HSY_KEY];
    hsy_status st = entropy_read(key, sizeof key, source, ctx);
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);

    if (st != HSY_OK)
        return st;
    hsy_stream_key(&stream, key);
    bytes_wipe(key, sizeof key);
    st = rng.fill(rng.ctx, out, len);
    hsy_stream_clear(&stream);
    return st;
}

hsy_status hsy_entropy_fill_from(void *buf, size_t len, entropy_source *source,
                                 void *ctx)
{
    if (len == 0)
        return HSY_OK;
    return len > HSY_ENTROPY_BATCH ? entropy_expand(buf, len, source, ctx)
                                   : entropy_copy(buf, len, source, ctx);
}

static hsy_status entropy_fill(void *ctx, void *buf, size_t len)
{
    const struct hsy_entropy_role *role = ctx;

    if (role->open == 0)
        return HSY_E_ENTROPY;
    return hsy_entropy_fill_from(buf, len, entropy_kernel, NULL);
}

void hsy_entropy_init(hsy_entropy *e)
{
    e->secret.open = 1;
    e->published.open = 1;
}

void hsy_entropy_clear(hsy_entropy *e)
{
    e->secret.open = 0;
    e->published.open = 0;
}

hsy_coins hsy_entropy_coins(hsy_entropy *e)
{
    return (hsy_coins){{entropy_fill, &e->secret},
                       {entropy_fill, &e->published}};
}
