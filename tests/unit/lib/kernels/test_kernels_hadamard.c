/* test_kernels_hadamard.c - every level transforms, randomizes Hadamard
 * response and counts chosen rows exactly as the plain loops do. */
#include "lib/kernels/hadamard.h"
#include "lib/kernels/internal.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t draw(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1d;
}

/* Plain is the definition: a sum over all cells with the signs of H. */
static void definition(void)
{
    int64_t x[16], y[16];
    bool same = true;

    for (size_t i = 0; i < 16; i++)
        x[i] = y[i] = (int64_t)draw() >> 8;
    hsy_wht_plain(y, 16);
    for (uint64_t i = 0; i < 16; i++) {
        int64_t sum = 0;

        for (uint64_t k = 0; k < 16; k++)
            sum += hadamard_parity(i & k) != 0 ? -x[k] : x[k];
        same &= sum == y[i];
    }
    ok(same, "the transform is the sum over all cells with signs");
    ok(eq_status(hsy_hadamard_transform(x, 12, HSY_CPU_PLAIN), HSY_E_RANGE) &&
           eq_status(hsy_hadamard_transform(x, 0, HSY_CPU_PLAIN), HSY_E_RANGE),
       "12 cells, or none, cannot be transformed");
}

/* Full 64-bit cells: sums wrap around alike. */
static void transforms(const struct hsy_kernels *k, const char *name)
{
    bool same = true;

    for (unsigned bits = 0; bits <= 18; bits++) {
        size_t n = (size_t)1 << bits;
        int64_t *x = trial_memory(n * sizeof *x);
        int64_t *y = trial_memory((n + 1) * sizeof *y);

        for (size_t i = 0; i < n; i++)
            x[i] = y[i + 1] = (int64_t)draw();
        hsy_wht_plain(x, n);
        k->wht(y + 1, n);
        same &= memcmp(x, y + 1, n * sizeof *x) == 0 && y[0] == 0;
        free(x);
        free(y);
    }
    ok(same, "%s transforms 1 to 2^18 cells like plain", name);
}

static void responses(const struct hsy_kernels *k, const char *name)
{
    enum { N = 300 };
    uint32_t a[N], b[N], again[N], redo[N];
    uint64_t codes[N], coins[2 * N];
    bool same = true;

    for (unsigned round = 0; round < 200; round++) {
        struct kernel_hadamard h = {
            draw() | (uint64_t)3 << 62, draw(),     (uint32_t)draw(),
            (uint32_t)draw(),           round % 23, 1 + round / 23};
        size_t n = round % 2 == 0 ? N : draw() % N, first, second;
        uint64_t most = (((uint64_t)1 << h.index_bits) - 1) << h.block_bits;

        for (size_t i = 0; i < N; i++)
            codes[i] = draw() % most;
        for (size_t i = 0; i < 2 * N; i++)
            coins[i] = draw();
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        first = hsy_hadamard_plain(a, redo, codes, coins, n, &h);
        second = k->hadamard(b, again, codes, coins, n, &h);
        same &= first == second && memcmp(a, b, sizeof a) == 0 &&
                memcmp(redo, again, first * sizeof *redo) == 0;
    }
    ok(same, "%s makes reports like plain", name);
}

static void chosen_rows(const struct hsy_kernels *k, const char *name)
{
    static const uint32_t widths[] = {1,   7,    64,   70,   512,   513,
                                      700, 1024, 1029, 5000, 16384, 20001};
    bool same = true;

    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t n = 0; n < 60; n += 1 + n / 4) {
            uint32_t d = widths[w], order[60];
            size_t stride = (d + 7) / 8 + w % 3;
            uint8_t *rows = trial_memory(100 * stride);
            int64_t *x = trial_memory(d * sizeof *x);
            int64_t *y = trial_memory(d * sizeof *y);

            for (size_t i = 0; i < 100 * stride; i++)
                rows[i] = (uint8_t)(draw() >> 56);
            for (size_t i = 0; i < n; i++)
                order[i] = (uint32_t)(draw() % 100);
            hsy_bit_counts_some_plain(x, rows, order, n, stride, d);
            k->bit_counts_some(y, rows, order, n, stride, d);
            same &= memcmp(x, y, d * sizeof *x) == 0;
            free(rows);
            free(x);
            free(y);
        }
    ok(same, "%s counts chosen rows like plain", name);
}

int main(void)
{
    definition();
    for (int level = HSY_CPU_PORTABLE; level <= HSY_CPU_AVX512; level++) {
        const char *name = hsy_cpu_name((hsy_cpu)level);

        if (!hsy_cpu_has((hsy_cpu)level)) {
            tap_skip(name);
            continue;
        }
        transforms(hsy_kernels_at((hsy_cpu)level), name);
        responses(hsy_kernels_at((hsy_cpu)level), name);
        chosen_rows(hsy_kernels_at((hsy_cpu)level), name);
    }
    return tap_done();
}
