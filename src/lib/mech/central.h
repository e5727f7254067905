/* central.h - exact noise of a curator's release. */
#ifndef LIB_MECH_CENTRAL_H
#define LIB_MECH_CENTRAL_H

#include "lib/scheme/scheme.h"

/* An integer of the discrete Laplace law P[x] = (1-r) / (1+r) r^|x|, r =
 * e^(-s/t), exactly. 1 <= s, 1 <= t <= 2^63, t / s < 2^54. How many words it
 * takes, and how long, tells of the noise: for a curator's own machine and for
 * simulation, never for a device. HSY_E_ENTROPY if the source fails, or never
 * lets a coin fall. */
hsy_status hsy_central_noise(int64_t *noise, uint64_t s, uint64_t t,
                             hsy_rng *rng);

/* A coin of probability e^(-num/den), 0 <= num <= den, 1 <= den <= 2^63. */
hsy_status hsy_central_coin(bool *yes, uint64_t num, uint64_t den,
                            hsy_rng *rng);

#endif
