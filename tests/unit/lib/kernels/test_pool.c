/* test_pool.c - the public pool: fixed for ever, and its functions collide as
 * pairwise independent ones do. */
#include "lib/kernels/pool.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 65536, PAIRS = 512, RANGES = 5 };

static const uint32_t ranges[RANGES] = {2, 3, 4, 8, 56};

/* An honest pool fails one of the bounds below with at most this chance. */
static const double alpha = 1e-12;

/* Streams of reports depend on these: they never change. */
static void known_functions(void)
{
    static const struct {
        uint64_t seed;
        uint32_t j;
        struct pool_hash h;
    } rows[] = {
        {0, 0, {0xa706dd2f4d197e6f, 0xb382a305f4414f5e, 0x631a9154fbabf717}},
        {1,
         65535,
         {0x51c5378aa05afd24, 0xe315d21af1435249, 0x6d60b5d51d1b3347}},
        {UINT64_MAX,
         16777215,
         {0xf33f681ff8f0b120, 0x3cd66a5df3d3d10c, 0x57c42390cce042f5}},
    };

    for (size_t i = 0; i < 3; i++) {
        struct pool_hash h = hsy_pool_at(rows[i].seed, rows[i].j);

        ok(eq_u64(h.a, rows[i].h.a) && eq_u64(h.b, rows[i].h.b) &&
               eq_u64(h.c, rows[i].h.c),
           "function %u of pool %llu", rows[i].j,
           (unsigned long long)rows[i].seed);
    }
}

static void reductions(void)
{
    struct pool_hash h = {0x100000003, 5, 0x700000000};

    is_u64(pool_narrow(&h, 7), 26, "narrow is a x + b modulo 2^32");
    is_u64(pool_wide(&h, 0x200000001), 1 + 14,
           "wide is the top half of a x_low + c x_high + b");
    ok(eq_u64(pool_reduce(0, 56), 0) && eq_u64(pool_reduce(UINT32_MAX, 56), 55),
       "a value is reduced to below g");
}

struct pair {
    uint64_t x, y;
};

static uint64_t mixed(uint64_t i)
{
    return hsy_pool_at(0x7465737473, (uint32_t)i).a;
}

/* Neighbours, powers of two apart, and anything, below 2^17. */
static struct pair narrow_pair(uint32_t i)
{
    uint64_t x = mixed(i) % HSY_POOL_NARROW, apart = (uint64_t)1 << i % 17;

    if (i % 3 == 0)
        return (struct pair){i, i + 1};
    if (i % 3 == 1)
        return (struct pair){x, x ^ apart};
    return (struct pair){x, (x + 1 + mixed(i + 1000) % 131071) % 131072};
}

/* The same over all 64 bits. */
static struct pair wide_pair(uint32_t i)
{
    uint64_t x = mixed(i), apart = (uint64_t)1 << i % 64;

    if (i % 3 == 0)
        return (struct pair){i, i + 1};
    if (i % 3 == 1)
        return (struct pair){x, x ^ apart};
    return (struct pair){x, mixed(i + 1000)};
}

struct family {
    const char *name;
    struct pair (*pair)(uint32_t i);
    uint32_t (*value)(const struct pool_hash *h, uint64_t code);
};

/* What is counted for each g, over all functions of all pools. */
struct counts {
    double squares; /* sum of z^2 */
    double total;   /* of collisions */
};

/* Collisions of one pair over the seeds of one pool, for every g. repeat: how
 * often each function is used, 1 but for the control. */
static void collide(uint64_t count[RANGES], const struct family *f, uint32_t i,
                    uint32_t repeat)
{
    struct pair pair = f->pair(i);

    memset(count, 0, RANGES * sizeof count[0]);
    for (uint32_t j = 0; j < SEEDS; j++) {
        struct pool_hash h = hsy_pool_at(i, j / repeat);
        uint32_t u = f->value(&h, pair.x), v = f->value(&h, pair.y);

        for (int r = 0; r < RANGES; r++)
            count[r] += pool_reduce(u, ranges[r]) == pool_reduce(v, ranges[r]);
    }
}

/* Every pair has a pool of its own, so that the pairs are independent. */
static void collide_all(struct counts counts[RANGES], const struct family *f,
                        uint32_t pairs, uint32_t repeat)
{
    memset(counts, 0, RANGES * sizeof counts[0]);
    for (uint32_t i = 0; i < pairs; i++) {
        uint64_t count[RANGES];

        collide(count, f, i, repeat);
        for (int r = 0; r < RANGES; r++) {
            double p = 1.0 / ranges[r], c = (double)count[r];
            double z2 =
                (c - SEEDS * p) * (c - SEEDS * p) / (SEEDS * p * (1 - p));

            counts[r].squares += z2;
            counts[r].total += c;
        }
    }
}

/*
 * A collision is a coin of probability p = 1/g (up to g / 2^32, far below what
 * is resolved here). By Kearns and Saul's inequality z is sub-Gaussian with
 * s2 = (1 - 2p) / (2 ln((1-p)/p)) / (p (1-p)), 1 for p = 1/2. Hence
 * E exp(t z^2) <= 1 / sqrt(1 - 2 t s2), and Chernoff's bound for the mean of m
 * squares is that of a chi-square: the mean passes u s2 with probability at
 * most exp(-m (u - 1 - ln u) / 2).
 */
static double squares_bound(double g, double m)
{
    double p = 1 / g, u = 1;
    double s2 =
        g == 2 ? 1 : (1 - 2 * p) / (2 * log((1 - p) / p)) / (p * (1 - p));

    while (m * (u - 1 - log(u)) / 2 < log(1 / alpha))
        u += 1.0 / 1024;
    return u * s2;
}

/* Hoeffding: the share of n coins strays by more than this from its mean with
 * probability below alpha. */
static double share_bound(double n)
{
    return sqrt(log(2 / alpha) / (2 * n));
}

static void family_is_fair(const struct family *f)
{
    struct counts counts[RANGES];
    const double n = (double)PAIRS * SEEDS;

    collide_all(counts, f, PAIRS, 1);
    for (int r = 0; r < RANGES; r++) {
        double g = ranges[r], mean = counts[r].squares / PAIRS;

        ok(mean <= squares_bound(g, PAIRS),
           "%s, g = %u: mean z^2 of collisions %.3f is at most %.3f", f->name,
           ranges[r], mean, squares_bound(g, PAIRS));
        ok(fabs(counts[r].total / n - 1 / g) <= share_bound(n),
           "%s, g = %u: collisions %.6f of all, expected %.6f", f->name,
           ranges[r], counts[r].total / n, 1 / g);
    }
}

/* A pool with a sixty-fourth of its functions must be noticed. */
static void small_pool_is_noticed(const struct family *f)
{
    struct counts counts[RANGES];
    unsigned noticed = 0;

    collide_all(counts, f, PAIRS / 4, 64);
    for (int r = 0; r < RANGES; r++)
        noticed += counts[r].squares / (PAIRS / 4) >
                   squares_bound(ranges[r], PAIRS / 4);
    is_u64(noticed, RANGES, "control, %s: repeated functions are noticed",
           f->name);
}

int main(void)
{
    static const struct family families[2] = {
        {"narrow", narrow_pair, pool_narrow},
        {"wide", wide_pair, pool_wide},
    };

    known_functions();
    reductions();
    for (int i = 0; i < 2; i++) {
        family_is_fair(&families[i]);
        small_pool_is_noticed(&families[i]);
    }
    return tap_done();
}
