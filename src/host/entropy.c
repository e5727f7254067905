/* entropy.c - fresh coins from the kernel, for commands that answer once. */
#include "entropy.h"

#include "bytes.h"
#include "stream.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

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

static void entropy_drop(struct hsy_entropy_batch *batch)
{
    bytes_wipe(batch->bytes, sizeof batch->bytes);
    batch->left = 0;
}

/* Give the batch at least len bytes of this process's own. A batch too short
 * is dropped whole: so a draw succeeds or fails before it writes a byte. */
static hsy_status entropy_ready(struct hsy_entropy_batch *batch, size_t len,
                                entropy_source *source, void *ctx)
{
    int64_t owner = getpid();
    hsy_status st;

    if (batch->owner == owner && batch->left >= len)
        return HSY_OK;
    entropy_drop(batch);
    st = entropy_read(batch->bytes, sizeof batch->bytes, source, ctx);
    if (st != HSY_OK)
        return st;
    batch->left = sizeof batch->bytes;
    batch->owner = owner;
    return HSY_OK;
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

hsy_status hsy_entropy_fill_from(struct hsy_entropy_batch *batch, void *buf,
                                 size_t len, entropy_source *source, void *ctx)
{
    uint8_t *from;
    hsy_status st;

    if (len == 0)
        return HSY_OK;
    if (len > sizeof batch->bytes)
        return entropy_expand(buf, len, source, ctx);
    st = entropy_ready(batch, len, source, ctx);
    if (st != HSY_OK)
        return st;
    from = batch->bytes + sizeof batch->bytes - batch->left;
    memcpy(buf, from, len);
    bytes_wipe(from, len);
    batch->left -= len;
    return HSY_OK;
}

static hsy_status entropy_fill(void *ctx, void *buf, size_t len)
{
    return hsy_entropy_fill_from(ctx, buf, len, entropy_kernel, NULL);
}

void hsy_entropy_init(hsy_entropy *e)
{
    memset(e, 0, sizeof *e);
}

void hsy_entropy_clear(hsy_entropy *e)
{
    bytes_wipe(e, sizeof *e);
}

hsy_coins hsy_entropy_coins(hsy_entropy *e)
{
    return (hsy_coins){{entropy_fill, &e->secret},
                       {entropy_fill, &e->published}};
}
