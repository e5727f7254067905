/* mean.c - rounding to a grid, and the evidence of a mean. */
#include "lib/family/mean.h"

#include "lib/bits/ct.h"
#include "lib/bits/draw.h"

hsy_status hsy_mean_below(uint64_t *out, size_t n, uint64_t bound, hsy_rng *rng)
{
    uint64_t excess = hsy_prob_excess(bound);
    hsy_status st = draw_words(out, n, rng);

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint64_t word = out[i];

        out[i] = (uint64_t)((hsy_u128)word * bound >> 64);
        /* [Lemire19, Alg. 5]: the low half below the excess is drawn anew. */
        if (ct_public(ct_less(word * bound, excess)) != 0)
            st = hsy_prob_below(&out[i], bound, excess, rng);
    }
    return st;
}

/*
 * With x < 2^10 width, (x >> cut) inverse / 2^64 is at most x / width, since
 * the divisor is at least width / 2^cut. It is short of it by less than 2^-22
 * where nothing is cut: inverse is short by at most 1, and x < 2^42. Else the
 * divisor, from 2^31 on, is at most 1 too large, which takes off 2^10 / 2^31,
 * and the bits cut off and the rounding of inverse less still.
 */
struct mean_grid hsy_mean_grid(uint64_t width, uint32_t R)
{
    struct mean_grid g = {.width = width, .R = R};

    while (width >> g.cut >> 32 != 0)
        g.cut++;
    g.inverse = UINT64_MAX / ((width >> g.cut) + (g.cut != 0));
    return g;
}

struct mean_place hsy_mean_place(uint64_t code, uint64_t width, uint32_t R)
{
    struct mean_grid g = hsy_mean_grid(width, R);
    uint64_t floor = mean_round(code, 0, &g);

    return (struct mean_place){floor, code * R - floor * width};
}

size_t hsy_mean_law(hsy_factor *factors, uint64_t width, uint64_t rest,
                    uint64_t at, uint64_t next, uint64_t total)
{
    hsy_u128 num = (hsy_u128)(width - rest) * at + (hsy_u128)rest * next;
    unsigned cut = 0;

    if (rest == 0 || at == next) {
        factors[0] = (hsy_factor){at, total};
        return 1;
    }
    while (num >> cut >> 64 != 0)
        cut++; /* below 64: width is */
    factors[0] = (hsy_factor){(uint64_t)(num >> cut), total};
    factors[1] = (hsy_factor){(uint64_t)1 << cut, width};
    return 2;
}

/* x (1 - x) at the grid points, and on the chords between them. */
static double mean_chord(double x, double R)
{
    double s = (double)(uint64_t)(x * R);

    return (s * (R - s) / R + (x - s / R) * (R - 2 * s - 1)) / R;
}

static double mean_within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/*
 * h_R is at most its value where all truths are alike (the chords are
 * concave), and h lies from h_R to h_R + 1 / 4R^2, as x (1 - x) exceeds its
 * chords by no more, and is at most f (1-f). The largest possible h is taken,
 * so the variance is never understated but by what h_R misses. A sample of
 * people adds the variance of truths, f (1-f) - h.
 */
void hsy_mean_point(hsy_evidence *point, const struct mean_evidence *e)
{
    const double f = mean_within(e->value, 0, 1), most = f * (1 - f);
    const double rounded = mean_within(e->rounded, 0, mean_chord(f, e->R));
    const double inside = mean_within(rounded + 0.25 / (e->R * e->R), 0, most);
    const double v = e->end + inside - e->curve * rounded;

    *point = (hsy_evidence){
        .value = e->value,
        .n = e->n,
        .v0 = v,
        .v1 = v,
        .sampling_discount = most > 0 ? inside / most : 0,
    };
}
