/*
 * time_shows_noise.c - the time of sampling shows the noise.
 *
 * Geometric noise by tossing a coin until it falls: the law is right, and who
 * counts the tosses, or the time they take, subtracts the noise [JMRO22].
 */
#include "zoo.h"

hsy_status zoo_time_shows_noise_single(void *ctx, const hsy_scheme *s,
                                       uint8_t *report,
                                       const struct audit_probe *probe,
                                       hsy_coins *coins)
{
    const double go_on = exp(-zoo_decay(s));
    double sign = 0, u = 0, noise = -1;
    hsy_status st = HSY_OK;

    (void)ctx;
    /* +0 and -0 would count double: one of them is drawn anew. */
    while (st == HSY_OK && (noise < 0 || (noise == 0 && sign >= 0.5))) {
        st = zoo_uniform(&sign, coins);
        noise = -1;
        do {
            noise++;
            if (st == HSY_OK)
                st = zoo_uniform(&u, coins);
        } while (st == HSY_OK && u < go_on);
    }
    return st == HSY_OK
               ? zoo_noise(s, report, probe->code, sign < 0.5 ? noise : -noise)
               : st;
}

const struct zoo_mutant zoo_time_shows_noise[] = {
    {"time_shows_noise", "noise by tossing until heads", "laplace",
     HSY_KIND_NUMBER, 64, HSY_NANO, zoo_time_shows_noise_single, 0, 100000, 0},
    {0}};
