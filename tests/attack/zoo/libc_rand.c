/* libc_rand.c - the C library's rand, seeded with the time, tosses the coins.
 */
#include "zoo.h"

#include <stdlib.h>
#include <time.h>

static hsy_status libc_rand_single(void *ctx, const hsy_scheme *s,
                                   uint8_t *report,
                                   const struct audit_probe *probe,
                                   hsy_coins *coins)
{
    static bool seeded;
    double q = 1 / (exp(zoo_epsilon(s)) + 1);

    (void)ctx;
    (void)coins;
    if (!seeded)
        srand((unsigned)time(NULL));
    seeded = true;
    return zoo_report(s, report,
                      probe->code ^ (rand() < q * ((double)RAND_MAX + 1)));
}

const struct zoo_mutant zoo_libc_rand[] = {
    {"libc_rand", "rand() tosses the coins", "rr", HSY_KIND_YES_NO, 0, HSY_NANO,
     libc_rand_single, 0, 100000, AUDIT_COINS},
    {0}};
