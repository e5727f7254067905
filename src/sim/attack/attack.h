/*
 * attack.h - attackers against simulated devices.
 *
 * Each device has a key of its own, made from the seed, and draws its coins
 * under that key as the real client does; its answers come from hsy_randomize
 * and hsy_permanent_*. The attacker sees what a collector sees and knows every
 * parameter. docs/attacks.md has what he does and how well he may do.
 */
#ifndef SIM_ATTACK_ATTACK_H
#define SIM_ATTACK_ATTACK_H

#include "hearsay.h"
#include "host/base/table.h"
#include "host/plot/plot.h"

#define SIM_DAYS_MAX 100000u
#define SIM_DEVICES_MAX 1000000u
#define SIM_TIMES_MAX 20u /* 1, 2, 5, 10, ... up to the last day */

/* What a device does when it is asked again. */
enum sim_client {
    SIM_FRESH,     /* tosses new coins every day */
    SIM_MEMOISED,  /* keeps one answer for each truth, and sends it as it is */
    SIM_TWO_STEP,  /* keeps one, and sends it with more noise every day */
    SIM_ONE_CHANGE /* the same, and keeps the first truth's (max_changes 1) */
};

const char *sim_client_name(enum sim_client client);

struct sim_options {
    uint64_t devices, days, seed;
    uint64_t nano_report;    /* epsilon of one report */
    uint64_t nano_permanent; /* of the answer that is kept, of two steps */
    uint64_t grain;   /* drift: steps between points; divides the range */
    uint64_t yes, of; /* averaging: fresh answers that are weighed */

    /* Called now and then with how many devices are done since; all are so as
     * often as sim_limits says. May be NULL. */
    void (*tick)(void *ctx, uint64_t devices);
    void *ctx;
};

/* How often a guess was right, and what theory says of it. */
struct sim_rate {
    double rate, sd; /* measured, and its standard error */
    double exact;    /* what it is on average; NaN: no formula */
    double allowed;  /* no attacker does better on average */
};

/* ---- Averaging: the same truth, asked every day -------------------------- */

#define SIM_AVERAGING_CLIENTS 3u
#define SIM_AVERAGING_ROWS (SIM_AVERAGING_CLIENTS * SIM_TIMES_MAX)

struct sim_averaging_row {
    enum sim_client client;
    uint64_t days;
    struct sim_rate right; /* guesses of the truth, which is yes for half */
    double epsilon;        /* what these reports have told, at most */
    double charged;        /* what the ledger has charged for them */
};

/* The chance that the majority of n fresh answers is right, each with
 * probability p; a tie is decided by a coin. */
double sim_majority(uint64_t n, double p);

/* How few fresh answers, each right with probability p > 1/2, give the truth
 * away with this certainty; 0 if it takes more than 10^9. */
uint64_t sim_answers_for(double certainty, double p);

/* `yes` times yes in `of` fresh answers. */
struct sim_evidence {
    double point; /* P[exactly so many | the truth is no] */
    double tail;  /* P[as many or more | no] */
    double ratio; /* P[these answers | no] / P[these answers | yes] */
};

/* p: the chance that an answer is right. yes <= of. */
struct sim_evidence sim_evidence(uint64_t yes, uint64_t of, double p);

/* ---- Change: has the truth changed, and when? ---------------------------- */

#define SIM_CHANGE_CLIENTS 4u
#define SIM_CHANGE_ROWS (SIM_CHANGE_CLIENTS * SIM_TIMES_MAX)

struct sim_change_row {
    enum sim_client client;
    uint64_t after;        /* days since the change, its own included */
    struct sim_rate right; /* changed or not; it has for half of them */
    double detected;       /* share of changes that were found */
    double false_alarms;   /* share of the others that seemed to be changes */
    double off;            /* median error of the day, of those found; NaN: none
                              was */
};

/* ---- Fingerprint: are two uploads from one device? ----------------------- */

#define SIM_UPLOADS 7u
#define SIM_FINGERPRINT_ROWS (SIM_UPLOADS * SIM_TIMES_MAX)

struct sim_fingerprint_row {
    const char *upload;  /* what is sent */
    uint64_t devices;    /* among so many */
    double relinked, sd; /* share of devices found again */
    double name;         /* by what stays the same alone: cohort or seed */
    double chance;       /* by guessing */
    double unique;       /* share whose upload no other device has sent */
};

/* ---- Drift: a truth that moves a little every day ------------------------ */

#define SIM_DRIFT_RANGE 36500u /* age in days, up to 100 years */
#define SIM_DRIFT_YOUNGEST 6570u
#define SIM_DRIFT_OLDEST 6934u /* on the first day: a year's people */
#define SIM_DRIFT_GRAIN 3650u
#define SIM_DRIFT_DAYS_MAX (SIM_DRIFT_RANGE - SIM_DRIFT_OLDEST)
#define SIM_ROUNDINGS 4u
#define SIM_DRIFT_ROWS (SIM_ROUNDINGS * SIM_TIMES_MAX)

struct sim_drift_row {
    const char *rounding; /* what a permanent answer is kept for */
    uint64_t day;
    uint64_t keys;  /* permanent answers so far, of the device with most */
    double epsilon; /* so many times that of one */
    double epsilon_all_values; /* if it goes on for ever: of all there can be */
    double mean;               /* of the truths of that day */
    double error, sd;          /* of its estimate, and the standard error */
    double bias; /* part of the error that no number of devices removes */
};

/* ---- Poisoning: devices that lie about what they hold -------------------- */

#define SIM_POISONING_VALUES 128u
#define SIM_POISONING_TARGETS 10u
#define SIM_POISONING_RUNS 20u
#define SIM_POISONING_MECHANISMS 4u
#define SIM_POISONING_ATTACKS 3u
#define SIM_POISONING_SHARES 3u
#define SIM_POISONING_ROWS                                                     \
    (SIM_POISONING_MECHANISMS * SIM_POISONING_ATTACKS * SIM_POISONING_SHARES)
#define SIM_POISONING_EPSILON_MAX ((uint64_t)4 * HSY_NANO)
#define SIM_POISONING_ALARM 1e-6 /* p-value below which estimate warns */

struct sim_poisoning_row {
    const char *mechanism;
    hsy_attack attack;
    uint64_t liars;  /* beside so many honest devices as options say */
    double lying;    /* their share of all */
    double gain, sd; /* all targets together, by support counts */
    double shown;    /* the same in estimates as they are shown */
    double exact;    /* by the closed form */
    double bound;    /* what estimate --assume-lying adds up to */
    double used;     /* most of a bound that any value ever used, 1: all */
    double found;    /* share of runs that estimate warns of */
};

const char *sim_attack_name(hsy_attack attack);

/* ---- Any of them, by its name (attacks.c) -------------------------------- */

enum sim_kind {
    SIM_AVERAGING,
    SIM_CHANGE,
    SIM_FINGERPRINT,
    SIM_DRIFT,
    SIM_POISONING,
    SIM_KINDS
};

/* What an attack has if nothing is said, and what it takes. */
struct sim_limits {
    const char *name;
    uint64_t days, days_least, days_most; /* all 0: it has none */
    uint64_t devices, devices_least, devices_most;
    uint64_t nano_most; /* of one report */
    uint64_t rounds;    /* times that tick is told of all devices */
};

const struct sim_limits *sim_limits(enum sim_kind kind);

struct sim_result {
    enum sim_kind kind;
    size_t nrows;
    union {
        struct sim_averaging_row averaging[SIM_AVERAGING_ROWS];
        struct sim_change_row change[SIM_CHANGE_ROWS];
        struct sim_fingerprint_row fingerprint[SIM_FINGERPRINT_ROWS];
        struct sim_drift_row drift[SIM_DRIFT_ROWS];
        struct sim_poisoning_row poisoning[SIM_POISONING_ROWS];
    } u;
    uint64_t day; /* of the change: half of all days go before it */
    double gamma; /* chance that the second step turns an answer over */
};

/* Run out->kind. */
hsy_status sim_run(struct sim_result *out, const struct sim_options *o,
                   hsy_error *err);

/* Its figure, as plot_svg. */
hsy_status sim_svg(char **svg, size_t *len, const struct sim_result *r,
                   hsy_error *err);

/* Write what came out of these options (attack_rows.c). */
void sim_print(FILE *to, enum table_format format, const struct sim_result *r,
               const struct sim_options *o);

#endif
