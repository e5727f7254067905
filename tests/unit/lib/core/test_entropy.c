/* test_entropy.c - kernel coins: draws, forks, and every way to fail. */
#include "lib/core/entropy.h"

#include "lib/core/stream.h"
#include "rig/sanitized.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = HSY_ENTROPY_BATCH };

/* A fork under a sanitizer copies its shadow and takes up to a hundred times as
 * long. */
enum { CHILDREN = TEST_SANITIZED ? 200 : 10000 };

/*
 * A kernel of our own. Byte number i it hands out is a function of i; each
 * call gives at most `most` bytes, and call number `fail_at` (from 0) returns
 * `answer` with `error` instead.
 */
struct kernel {
    uint32_t next;
    size_t most;
    long calls, fail_at;
    ssize_t answer;
    int error;
};

static const struct kernel kernel_good = {.most = 4096, .fail_at = -1};

static uint8_t kernel_byte(uint32_t i)
{
    return (uint8_t)((i * 2654435761u >> 24) | 1); /* never zero */
}

static ssize_t kernel_read(void *ctx, void *buf, size_t len)
{
    struct kernel *k = ctx;
    uint8_t *out = buf;

    if (k->calls++ == k->fail_at) {
        errno = k->error;
        return k->answer;
    }
    if (len > k->most)
        len = k->most;
    for (size_t i = 0; i < len; i++)
        out[i] = kernel_byte(k->next++);
    return (ssize_t)len;
}

static bool all_are(const uint8_t *bytes, size_t len, uint8_t value)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static bool from_kernel(const uint8_t *bytes, size_t len, uint32_t first)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != kernel_byte(first + (uint32_t)i))
            return false;
    return true;
}

static void every_draw_is_fresh(void)
{
    struct kernel k = kernel_good;
    uint8_t out[BATCH];
    unsigned wrong = 0;

    for (uint32_t i = 0; i < 64; i++) {
        wrong += hsy_entropy_fill_from(out, 8, kernel_read, &k) != HSY_OK;
        wrong += !from_kernel(out, 8, 8 * i) || k.calls != i + 1;
    }
    is_u64(wrong, 0, "a draw takes its bytes and no more: none are kept");
    wrong += hsy_entropy_fill_from(out, BATCH, kernel_read, &k) != HSY_OK;
    ok(eq_u64(wrong, 0) && from_kernel(out, BATCH, 512), "also a whole batch");
    ok(eq_status(hsy_entropy_fill_from(out, 0, kernel_read, &k), HSY_OK) &&
           eq_int(k.calls, 65),
       "drawing nothing asks for nothing");
}

static void large_draws_are_expanded(void)
{
    static uint8_t out[3000], want[3000];
    struct kernel k = kernel_good;
    uint8_t key[HSY_KEY];
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    for (uint32_t i = 0; i < HSY_KEY; i++)
        key[i] = kernel_byte(i);
    hsy_stream_key(&st, key);
    rng.fill(rng.ctx, want, sizeof want);
    ok(eq_status(hsy_entropy_fill_from(out, sizeof out, kernel_read, &k),
                 HSY_OK) &&
           eq_bytes(out, want, sizeof out) && eq_u64(k.next, HSY_KEY),
       "a large draw is the ChaCha20 stream of 32 fresh bytes");
    ok(eq_status(hsy_entropy_fill_from(out, BATCH + 1, kernel_read, &k),
                 HSY_OK) &&
           memcmp(out, want, BATCH + 1) != 0 && eq_u64(k.next, 2 * HSY_KEY),
       "the next one has another key");
}

/* One draw, with the kernel's call number fail_at answering as told. */
static hsy_status draw_with(struct kernel k, size_t len, uint8_t *out)
{
    memset(out, 0x5a, len);
    return hsy_entropy_fill_from(out, len, kernel_read, &k);
}

/* The kernel gives 32 bytes a call, so a batch takes up to 16 calls: each of
 * them fails in each way. A key takes one. */
static long calls_for(size_t len)
{
    return len > BATCH ? 1 : (long)(len + 31) / 32;
}

static void every_failure_is_final(void)
{
    static const struct {
        ssize_t answer;
        int error;
    } ways[] = {
        {-1, EAGAIN}, {-1, EFAULT}, {-1, EINVAL}, {-1, ENOSYS}, {-1, EPERM},
        {-1, EIO},    {-1, ENOMEM}, {-1, 0},      {0, 0},       {0, EINTR},
        {-2, EINTR},  {513, 0},     {100000, 0},
    };
    static const size_t lens[] = {1, 8, 511, 512, 513, 2000};
    static uint8_t out[2000];
    unsigned wrong = 0, tried = 0;

    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (size_t l = 0; l < 6; l++)
            for (long at = 0; at < calls_for(lens[l]); at++, tried++) {
                struct kernel k = {.most = 32,
                                   .fail_at = at,
                                   .answer = ways[w].answer,
                                   .error = ways[w].error};

                wrong += draw_with(k, lens[l], out) != HSY_E_ENTROPY;
                wrong += !all_are(out, lens[l], 0x5a);
            }
    is_u64(wrong, 0,
           "%u failures by call and kind: no coin, the output untouched",
           tried);
}

static void interruptions_are_retried(void)
{
    static uint8_t out[2000];
    unsigned wrong = 0;

    for (long at = 0; at < 16; at++) {
        struct kernel k = {
            .most = 32, .fail_at = at, .answer = -1, .error = EINTR};

        wrong += draw_with(k, BATCH, out) != HSY_OK;
        wrong += !from_kernel(out, BATCH, 0);
    }
    is_u64(wrong, 0, "an interrupted call is made again");
    for (size_t most = 1; most < 40; most++) {
        struct kernel k = {.most = most, .fail_at = -1};

        wrong += draw_with(k, BATCH, out) != HSY_OK;
        wrong += !from_kernel(out, BATCH, 0);
    }
    is_u64(wrong, 0, "short answers are put together");
}

/* A failed draw must not leave old coins to a later one. */
static void failure_does_not_stick(void)
{
    struct kernel k = {.most = 4096, .fail_at = 1, .answer = -1, .error = EIO};
    uint8_t out[300];
    unsigned wrong = 0;

    wrong += hsy_entropy_fill_from(out, 300, kernel_read, &k) != HSY_OK;
    wrong += hsy_entropy_fill_from(out, 300, kernel_read, &k) != HSY_E_ENTROPY;
    wrong += hsy_entropy_fill_from(out, 300, kernel_read, &k) != HSY_OK;
    ok(eq_u64(wrong, 0) && from_kernel(out, 300, 300),
       "after a failure the next draw is fresh");
}

static void roles_are_apart(void)
{
    hsy_entropy e;
    hsy_coins coins;
    uint8_t a[16], b[16];

    hsy_entropy_init(&e);
    coins = hsy_entropy_coins(&e);
    ok(coins.secret.ctx != coins.published.ctx &&
           eq_status(coins.secret.fill(coins.secret.ctx, a, 16), HSY_OK) &&
           eq_status(coins.published.fill(coins.published.ctx, b, 16),
                     HSY_OK) &&
           memcmp(a, b, 16) != 0,
       "secret and published coins are two sources");
    hsy_entropy_clear(&e);
    ok(eq_status(coins.secret.fill(coins.secret.ctx, a, 16), HSY_E_ENTROPY) &&
           eq_status(coins.published.fill(coins.published.ctx, b, 16),
                     HSY_E_ENTROPY),
       "once cleared there are no coins");
}

static int compare_draws(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* Fork a child that draws 16 bytes from what it inherited; false if that did
 * not work. */
static bool draw_in_child(hsy_rng *rng, uint8_t out[16])
{
    int ends[2], status;
    ssize_t n;
    pid_t pid;

    if (pipe(ends) != 0)
        return false;
    pid = fork();
    if (pid == 0) {
        uint8_t draw[16];
        bool fine = rng->fill(rng->ctx, draw, sizeof draw) == HSY_OK &&
                    write(ends[1], draw, sizeof draw) == sizeof draw;

        _exit(fine ? 0 : 1);
    }
    close(ends[1]);
    n = read(ends[0], out, 16);
    close(ends[0]);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && n == 16;
}

/* Whatever their process numbers: nothing is inherited. */
static void forks_never_repeat(void)
{
    static uint8_t draws[CHILDREN + 2][16];
    hsy_entropy e;
    hsy_coins coins;
    unsigned wrong = 0, repeats = 0;

    hsy_entropy_init(&e);
    coins = hsy_entropy_coins(&e);
    wrong += coins.secret.fill(coins.secret.ctx, draws[CHILDREN], 16);
    for (size_t i = 0; i < CHILDREN; i++)
        wrong += !draw_in_child(&coins.secret, draws[i]);
    wrong += coins.secret.fill(coins.secret.ctx, draws[CHILDREN + 1], 16);
    qsort(draws, CHILDREN + 2, 16, compare_draws);
    for (size_t i = 1; i < CHILDREN + 2; i++)
        repeats += memcmp(draws[i - 1], draws[i], 16) == 0;
    ok(eq_u64(wrong, 0) && eq_u64(repeats, 0),
       "%d children and their parent never draw the same", CHILDREN);
    hsy_entropy_clear(&e);
}

/* Coins by context are the same in every process: that is their point. */
static void keyed_coins_survive_forks(void)
{
    static const uint8_t key[HSY_KEY] = {1}, digest[HSY_DIGEST] = {2};
    const hsy_context context = {"answer", "source", 6, digest, 3, 4};
    uint8_t child[16], parent[16];
    hsy_keyed both;
    hsy_rng rng = hsy_stream_rng(&both.secret);
    unsigned wrong = 0;

    hsy_keyed_open(&both, key, &context);
    for (int i = 0; i < 20; i++) {
        wrong += !draw_in_child(&rng, child);
        wrong += i > 0 && memcmp(child, parent, 16) != 0;
        memcpy(parent, child, 16);
    }
    wrong += rng.fill(rng.ctx, parent, 16) != HSY_OK;
    ok(eq_u64(wrong, 0) && eq_bytes(child, parent, 16),
       "children and parent get the same coins for the same context");
}

int main(void)
{
    every_draw_is_fresh();
    large_draws_are_expanded();
    every_failure_is_final();
    interruptions_are_retried();
    failure_does_not_stick();
    roles_are_apart();
    fflush(stdout);
    forks_never_repeat();
    fflush(stdout);
    keyed_coins_survive_forks();
    return tap_done();
}
