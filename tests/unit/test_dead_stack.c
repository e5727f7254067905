/* test_dead_stack.c - what handles a key or a coin leaves nothing of it on the
 * stack. */
#define _GNU_SOURCE /* pthread_attr_setstack */
#include "kernels.h"
#include "prob.h"
#include "sanitized.h"
#include "tap.h"
#include "tape.h"

#include <pthread.h>
#include <string.h>

/* A thread whose stack is ours, so that what was left there can be read once
 * the thread has ended. */
static struct {
    const struct hsy_kernels *kernels;
    size_t blocks;
    uint32_t state[16];
    uint8_t out[64 * 40];
    uint64_t coins[2], word;
    struct tape tape;
    hsy_status st;
    _Alignas(4096) uint8_t stack[1 << 18];
} left;

/* Far below what the end of the thread writes over. */
static void *left_deep(void *act)
{
    volatile uint8_t room[16384];

    room[0] = 1;
    (*(void (**)(void))act)();
    return room[0] == 1 ? act : NULL;
}

static bool left_run(void (*act)(void))
{
    pthread_attr_t attr;
    pthread_t thread;
    bool ran;

    memset(left.stack, 0, sizeof left.stack);
    ran = pthread_attr_init(&attr) == 0 &&
          pthread_attr_setstack(&attr, left.stack, sizeof left.stack) == 0 &&
          pthread_create(&thread, &attr, left_deep, &act) == 0 &&
          pthread_join(thread, NULL) == 0;
    pthread_attr_destroy(&attr);
    return ran;
}

/* Whether one of n words is on the stack. */
static bool left_holds(const uint32_t *words, size_t n)
{
    for (size_t at = 0; at < sizeof left.stack; at += 4)
        for (size_t i = 0; i < n; i++)
            if (memcmp(left.stack + at, &words[i], 4) == 0)
                return true;
    return false;
}

/* ---- ChaCha20: words 4 .. 11 of the state are the key -------------------- */

static void left_chacha20(void)
{
    left.kernels->chacha20(left.out, left.blocks, left.state);
}

/* Neither the key nor what the rounds made of it: the output less that is the
 * key again. */
static bool left_nothing(const struct hsy_kernels *k)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);
    bool clean = true;

    hsy_stream_seed(&stream, 21, 1);
    left.kernels = k;
    for (left.blocks = 1; left.blocks <= 40; left.blocks += 3) {
        uint32_t key[16], last[16];

        rng.fill(rng.ctx, left.state, sizeof left.state);
        memcpy(key, left.state, sizeof key);
        clean = clean && left_run(left_chacha20) && !left_holds(key + 4, 8);
        for (size_t b = 0; b < left.blocks && clean; b++) {
            memcpy(last, left.out + 64 * b, sizeof last);
            for (int i = 0; i < 16; i++)
                last[i] -= key[i];
            clean = !left_holds(last + 4, 8);
        }
    }
    return clean;
}

static void left_careless(uint8_t *out, size_t blocks, uint32_t state[16])
{
    volatile uint32_t copy[16];

    for (int i = 0; i < 16; i++)
        copy[i] = state[i];
    memset(out, (int)copy[0], 64 * blocks);
}

/* ---- Coins: the first word is drawn anew, the second taken --------------- */

static void left_word(void)
{
    const struct prob_base base = {.unit = 1, .last = UINT64_MAX / 2};
    hsy_rng rng = {tape_fill, &left.tape};

    left.st = hsy_prob_word(&left.word, &base, &rng);
}

static void left_below(void)
{
    hsy_rng rng = {tape_fill, &left.tape};

    left.st = hsy_prob_below(&left.word, 3, hsy_prob_excess(3), &rng);
}

/* What is drawn anew is no secret, what is taken is. */
static bool left_no_coin(void (*act)(void), uint64_t anew)
{
    uint32_t halves[2];

    left.coins[0] = anew;
    left.coins[1] = 0x6a09e667bb67ae85;
    left.tape = (struct tape){left.coins, sizeof left.coins};
    memcpy(halves, &left.coins[1], sizeof halves);
    return left_run(act) && left.st == HSY_OK && left.tape.left == 0 &&
           !left_holds(halves, 2);
}

int main(void)
{
    const struct hsy_kernels careless = {.chacha20 = left_careless};

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        /* Sanitizers lay out frames, and watch them, in their own way. */
        if (hsy_cpu_has((hsy_cpu)level) && !TEST_SANITIZED)
            ok(left_nothing(hsy_kernels_at((hsy_cpu)level)),
               "%s: no word of the key stays on the stack",
               hsy_cpu_name((hsy_cpu)level));
        else
            tap_skip(hsy_cpu_name((hsy_cpu)level));
    }
    ok(TEST_SANITIZED || left_no_coin(left_word, UINT64_MAX),
       "a coin does not stay on the stack");
    ok(TEST_SANITIZED || left_no_coin(left_below, 0),
       "nor does that of a uniform number");
    ok(TEST_SANITIZED || !left_nothing(&careless),
       "control: a key left on the stack is found");
    return tap_done();
}
