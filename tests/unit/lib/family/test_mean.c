/* test_mean.c - rounding to a grid, and laws of rounded truths. */
#include "lib/family/mean.h"
#include "tap.h"

static const uint64_t widths[] = {1,
                                  2,
                                  3,
                                  7,
                                  1000,
                                  UINT32_MAX - 1,
                                  UINT32_MAX,
                                  (uint64_t)UINT32_MAX + 1,
                                  (uint64_t)UINT32_MAX + 2,
                                  ((uint64_t)1 << 33) - 1,
                                  1000000000000,
                                  ((uint64_t)1 << 62) - 1,
                                  (uint64_t)1 << 62,
                                  INT64_MAX};

#define WIDTHS (sizeof widths / sizeof widths[0])

static bool rounds(uint64_t code, uint64_t u, const struct mean_grid *g)
{
    hsy_u128 x = (hsy_u128)code * g->R + u;

    return mean_round(code, u, g) == (uint64_t)(x / g->width);
}

/* Against a real division, most of all where the quotient is nearly whole. */
static void rounding(void)
{
    static const uint32_t steps[] = {1, 2, 3, 57, 512, 1000, 1023};
    uint64_t seed = 1;

    for (size_t i = 0; i < WIDTHS; i++) {
        bool good = true;

        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
            const struct mean_grid g = hsy_mean_grid(widths[i], steps[k]);

            for (int trial = 0; trial < 2000; trial++) {
                uint64_t code, u, rest;

                seed = seed * 6364136223846793005u + 1442695040888963407u;
                code = trial == 0   ? 0
                       : trial == 1 ? g.width
                                    : (seed >> 1) % (g.width + 1);
                rest = (uint64_t)((hsy_u128)code * g.R % g.width);
                u = g.width - 1 - rest; /* one more would be a step */
                good &= rounds(code, 0, &g) && rounds(code, u, &g) &&
                        rounds(code, g.width - 1, &g) &&
                        (rest == 0 || rounds(code, u + 1, &g));
            }
        }
        ok(good, "a width of %llu is divided by",
           (unsigned long long)widths[i]);
    }
}

/* P over width total: exact where it has 64 digits, else to 63. */
static void laws(void)
{
    static const uint64_t at = ((uint64_t)1 << 46) + 12345, next = 3 << 20,
                          total = (uint64_t)1 << 57;

    for (size_t i = 1; i < WIDTHS; i++) {
        const uint64_t width = widths[i], rest = width / 3 + 1;
        hsy_factor f[2];
        size_t count = hsy_mean_law(f, width, rest, at, next, total);
        hsy_u128 want = (hsy_u128)(width - rest) * at + (hsy_u128)rest * next;
        hsy_u128 got = (hsy_u128)f[0].num * f[1].num;

        ok(eq_u64(count, 2) && eq_u64(f[0].den, total) &&
               eq_u64(f[1].den, width) && got <= want &&
               want - got <= want >> 63,
           "width %llu: a law of rounded truths", (unsigned long long)width);
    }
}

int main(void)
{
    rounding();
    laws();
    return tap_done();
}
