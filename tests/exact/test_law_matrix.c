/* test_law_matrix.c - X2 for a channel of one's own: one word, all sums. */
#include "rig/enumerate.h"

#include "lib/bits/bytes.h"

/* One word, cut at every sum of every column. */
static void matrix_law(uint32_t d, double epsilon)
{
    hsy_spec spec = trial_values("matrix", d, epsilon);
    struct enumerate_coins coins = {0};
    uint64_t edges[64], last = 0;
    size_t n = 0;
    hsy_scheme *s;

    trial_attach(&spec);
    s = trial_scheme(&spec);
    /* All sums of all columns, ascending and once. */
    for (;;) {
        uint64_t next = UINT64_MAX;

        for (uint32_t x = 0; x < d; x++) {
            uint64_t sum = 0;

            for (uint32_t y = 0; y + 1 < d; y++) {
                sum += bytes_get64(spec.labels + 8 + 8 * ((size_t)y * d + x));
                next = sum > last && sum < next ? sum : next;
            }
        }
        if (next == UINT64_MAX)
            break;
        edges[n++] = last = next;
    }
    enumerate_edges(&coins, &s->coin, edges, n);
    enumerate_check(s, "matrix", &coins, 256);
    enumerate_coins_clear(&coins);
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};

    for (uint32_t d = 2; d <= 7; d++)
        for (size_t i = 0; i < 4; i++)
            matrix_law(d, epsilons[i]);
    return tap_done();
}
