/* sim_device.h - simulated devices, for attacks and for a fleet. */
#ifndef SIM_BASE_SIM_DEVICE_H
#define SIM_BASE_SIM_DEVICE_H

#include "host/base/owned.h"

#define SIM_REPORT_BYTES 16u /* of the reports that are simulated */

/* Both steps of a permanent answer in memory of their own. */
struct sim_pair {
    hsy_scheme *permanent, *report; /* owned */
    hsy_permanent memo;
};

/* Resolve a spec at two epsilons. Close it either way. */
hsy_status sim_pair_open(struct sim_pair *pair, const hsy_spec *spec,
                         uint64_t nano_permanent, uint64_t nano_report,
                         uint64_t grain, hsy_error *err);
void sim_pair_close(struct sim_pair *pair);

/* The yes-no question of an attack at its two epsilons. */
hsy_status sim_pair_yes_no(struct sim_pair *pair, uint64_t nano_permanent,
                           uint64_t nano_report, hsy_error *err);

/* A device as far as its coins go. slot: which period it lives in; another one
 * has other coins. */
struct sim_device {
    uint8_t key[HSY_KEY];
    uint64_t slot;
    const hsy_permanent *memo;
    bool kept; /* answer is that of key_kept */
    uint64_t key_kept;
    uint8_t answer[SIM_REPORT_BYTES];
};

void sim_device_init(struct sim_device *d, const hsy_permanent *memo,
                     uint64_t seed, uint64_t number);

/* A fresh answer to a truth on a day, under the scheme of reports. */
hsy_status sim_fresh(struct sim_device *d, uint8_t *report,
                     const hsy_truth *truth, uint64_t day, hsy_error *err);

/* What the permanent answer of a code is kept for; that answer, d->answer; and
 * a day's report made from it. */
hsy_status sim_key(struct sim_device *d, uint64_t *key, uint64_t code);
hsy_status sim_permanent(struct sim_device *d, uint64_t key);
hsy_status sim_report(struct sim_device *d, uint8_t *report, uint64_t key,
                      uint64_t day);

/* A number that belongs to a device and nobody else, from its published coins:
 * what a careless client would send as a seed. */
hsy_status sim_raw_seed(struct sim_device *d, uint64_t *seed);

#endif
