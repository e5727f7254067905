/* sim_parts.h - what the attacks share: devices, times, counts of right
 * guesses. */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include "sim.h"

#define SIM_REPORT_BYTES 16u /* of the reports that are simulated */

/* Say so; HSY_E_NOMEM. */
hsy_status sim_nomem(hsy_error *err);

/* ---- Devices (sim_device.c) ---------------------------------------------- */

/* Both steps of a chain in memory of their own. */
struct sim_pair {
    hsy_scheme *permanent, *report; /* owned */
    hsy_chain chain;
};

/* Resolve a spec at two epsilons. Close it either way. */
hsy_status sim_pair_open(struct sim_pair *pair, const hsy_spec *spec,
                         uint64_t nano_permanent, uint64_t nano_one,
                         uint64_t grain, hsy_error *err);
void sim_pair_close(struct sim_pair *pair);

/* The yes-no question of an attack at its two epsilons. */
hsy_status sim_pair_yes_no(struct sim_pair *pair, uint64_t nano_permanent,
                           uint64_t nano_one, hsy_error *err);

/* A device as far as its coins go. slot: which period it lives in; another one
 * has other coins. */
struct sim_device {
    uint8_t key[HSY_KEY];
    uint64_t slot;
    const hsy_chain *chain;
    bool kept; /* answer is that of key_kept */
    uint64_t key_kept;
    uint8_t answer[SIM_REPORT_BYTES];
};

void sim_device_init(struct sim_device *d, const hsy_chain *chain,
                     uint64_t seed, uint64_t number);

/* A fresh answer to a truth on a day, under the chain's report scheme. */
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

/* What a yes-no device of any kind sends on a day. first: the truth that it
 * was asked about first. */
hsy_status sim_answer(struct sim_device *d, uint8_t *bit,
                      enum sim_client client, uint32_t truth, uint32_t first,
                      uint64_t day, hsy_error *err);

/* ---- Times, rates -------------------------------------------------------- */

/* 1, 2, 5, 10, ... (or 1, 10, 100, ...) and last; how many. */
size_t sim_times(uint64_t times[SIM_TIMES_MAX], uint64_t last);
size_t sim_decades(uint64_t times[SIM_TIMES_MAX], uint64_t last);

/* Right guesses among n, of which a tie counts half. */
struct sim_score {
    double n, sum, squares;
};

void sim_score_add(struct sim_score *s, double right);
double sim_score_rate(const struct sim_score *s);
double sim_score_sd(const struct sim_score *s);

/* How often one who may learn epsilon tells two equally likely truths apart, at
 * most: e^epsilon / (1 + e^epsilon). */
double sim_allowed(double epsilon);

/* P[n trials of probability p succeed k times]. */
double sim_binomial(uint64_t k, uint64_t n, double p);

/* A share of devices that names from `names` alone find again among n: the mean
 * of 1 / (all with one's name). */
double sim_name_found(double n, double names);

void sim_tick(const struct sim_options *o, uint64_t reports);

#endif
