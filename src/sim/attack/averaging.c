/*
 * averaging.c - the attacker who averages: the same truth every day.
 *
 * Truths are yes and no in turn, so a guess without any report is right half of
 * the time. After t days the attacker has c times yes. Under all three clients
 * the likelihood of yes against no grows with c and is 1 at c = t/2: the
 * majority is the best guess there is, and a tie is decided by a coin.
 *
 *     fresh      right with P[majority of t answers], each right with p
 *     memoised   p1, for ever
 *     two-step   p1 M + (1 - p1)(1 - M), M = P[majority of t], each of p2
 */
#include "sim/attack/internal.h"

struct averaging {
    const struct sim_options *o;
    uint64_t times[SIM_TIMES_MAX];
    size_t ntimes;
    struct sim_score scores[SIM_AVERAGING_CLIENTS][SIM_TIMES_MAX];
    struct sim_pair pair, single; /* two steps, and one: both at nano_report */
};

/* 1 if the majority is for the truth, 0 against it, 1/2 for a tie. */
static double averaging_guess(uint64_t yes, uint64_t of, uint32_t truth)
{
    uint64_t right = truth == 1 ? yes : of - yes;

    return 2 * right > of ? 1 : 2 * right == of ? 0.5 : 0;
}

static hsy_status averaging_device(struct averaging *a, enum sim_client client,
                                   uint64_t number, hsy_error *err)
{
    const uint32_t truth = number % 2;
    const struct sim_pair *pair =
        client == SIM_TWO_STEP ? &a->pair : &a->single;
    struct sim_device d;
    uint64_t yes = 0, day = 0;

    sim_device_init(&d, &pair->memo, a->o->seed, number);
    for (size_t i = 0; i < a->ntimes; i++) {
        for (; day < a->times[i]; day++) {
            uint8_t bit;
            hsy_status st =
                sim_answer(&d, &bit, client, truth, truth, day, err);

            if (st != HSY_OK)
                return st;
            yes += bit;
        }
        sim_score_add(&a->scores[client][i], averaging_guess(yes, day, truth));
    }
    return HSY_OK;
}

static void averaging_theory(struct sim_averaging_row *row,
                             const struct averaging *a)
{
    hsy_permanent_info one, two;
    const double t = (double)row->days;
    double m;

    hsy_permanent_describe(&a->single.memo, &one);
    hsy_permanent_describe(&a->pair.memo, &two);
    switch (row->client) {
    case SIM_FRESH:
        row->right.exact = sim_majority(row->days, one.p1);
        row->epsilon = t * one.epsilon_permanent;
        row->charged = t * (double)a->o->nano_report / HSY_NANO;
        break;
    case SIM_MEMOISED:
        row->right.exact = one.p1;
        row->epsilon = one.epsilon_permanent;
        row->charged = (double)a->o->nano_report / HSY_NANO;
        break;
    default:
        m = sim_majority(row->days, two.p2);
        row->right.exact = two.p1 * m + (1 - two.p1) * (1 - m);
        row->epsilon = hsy_permanent_epsilon(&a->pair.memo, row->days);
        row->charged = (double)a->o->nano_permanent / HSY_NANO;
    }
    row->right.allowed = sim_allowed(row->epsilon);
}

static void averaging_rows(struct sim_result *out, const struct averaging *a)
{
    for (enum sim_client c = SIM_FRESH; c <= SIM_TWO_STEP; c++)
        for (size_t i = 0; i < a->ntimes; i++) {
            struct sim_averaging_row *row = &out->u.averaging[out->nrows++];

            row->client = c;
            row->days = a->times[i];
            row->right.rate = sim_score_rate(&a->scores[c][i]);
            row->right.sd = sim_score_sd(&a->scores[c][i]);
            averaging_theory(row, a);
        }
}

hsy_status sim_averaging(struct sim_result *out, const struct sim_options *o,
                         hsy_error *err)
{
    struct averaging a = {.o = o};
    hsy_status st =
        sim_pair_yes_no(&a.pair, o->nano_permanent, o->nano_report, err);

    a.ntimes = sim_times(a.times, o->days);
    if (st == HSY_OK)
        st = sim_pair_yes_no(&a.single, o->nano_report, o->nano_report, err);
    for (uint64_t i = 0; st == HSY_OK && i < o->devices; i++) {
        for (enum sim_client c = SIM_FRESH; st == HSY_OK && c <= SIM_TWO_STEP;
             c++)
            st = averaging_device(&a, c, i, err);
        sim_tick(o, 1);
    }
    if (st == HSY_OK)
        averaging_rows(out, &a);
    sim_pair_close(&a.pair);
    sim_pair_close(&a.single);
    return st;
}
