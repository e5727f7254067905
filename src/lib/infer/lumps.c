/*
 * lumps.c - what of a floor is not normal.
 *
 * A floor of collisions is at worst that of one unknown value: with k hashes to
 * m cells it meets the value in N of them, N about Poisson of mean k / m, and
 * the error is (N - k/m) times a lump. Its tails are not normal ones; where
 * they are heavier the floor counts for more, by the level asked for.
 *                                                docs/mechanisms/cms.md, 4
 */
#include "lib/infer/infer.h"

#include <math.h>

#define LUMPS_MANY 1000.0 /* so many are normal */
#define LUMPS_SLACK 1.1   /* what a tail may be off by */

/* P[N < mean - t] + P[N > mean + t], and half of what lies on the edges. */
static double lumps_outside(double mean, double t)
{
    double chance = exp(-mean), inside = 0;

    for (double k = 0; k <= mean + t + 1e-9; k++) {
        const double off = fabs(k - mean);

        if (off < t + 1e-9)
            inside += off > t - 1e-9 ? chance / 2 : chance;
        chance *= mean / (k + 1);
    }
    return 1 - inside;
}

double hsy_lumps_widen(double lumps, double miss)
{
    const double normal = -hsy_normal_quantile(miss / 2) * sqrt(lumps);
    const double most = LUMPS_SLACK * miss + 1e-12;
    double t = normal;

    if (!(lumps > 0 && lumps < LUMPS_MANY))
        return 1;
    while (lumps_outside(lumps, t) > most)
        t = floor(lumps + t + 1e-9) + 1 - lumps;
    return t * t / (normal * normal);
}
