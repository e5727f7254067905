/* internal.h - what the attacks share: clients, times, counts of right
 * guesses. */
#ifndef SIM_ATTACK_INTERNAL_H
#define SIM_ATTACK_INTERNAL_H

#include "sim/attack/attack.h"
#include "sim/base/sim_device.h"

/* ---- The attacks, and their figures (attack_figures.c) ------------------- */

typedef hsy_status sim_attack(struct sim_result *out,
                              const struct sim_options *o, hsy_error *err);
typedef hsy_status sim_figure(char **svg, size_t *len,
                              const struct sim_result *r, hsy_error *err);

sim_attack sim_averaging, sim_change, sim_fingerprint, sim_drift, sim_poisoning;
sim_figure sim_averaging_svg, sim_change_svg, sim_fingerprint_svg,
    sim_drift_svg, sim_poisoning_svg;

/* ---- Clients (clients.c) ------------------------------------------------- */

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

void sim_tick(const struct sim_options *o, uint64_t devices);

#endif
