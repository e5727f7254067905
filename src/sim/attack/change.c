/*
 * change.c - the attacker who looks for a change.
 *
 * Half of the devices change their truth once, on a day that the attacker does
 * not know; the others never do. After t days he weighs "never" against "on one
 * of the days, each as likely": the likelihood of a stretch of n reports with c
 * ones while the truth is x is
 *
 *     sum over m of P[m | x] (p2 if m = 1, else 1 - p2)^c (the other)^(n - c)
 *
 * where m is the answer that is kept: right with p1, and each report shows it
 * with p2. Fresh noise has p1 = 1 and keeps the truth; an answer that is sent
 * as it is has p2 = 1. He says "changed" where that is the likelier, on the day
 * that makes it likeliest.
 *
 * What he may learn. Reports before the change have one law either way. Given
 * what is kept, each later one has a ratio of p2 / (1 - p2) at most, so k of
 * them tell at most k ln(p2 / (1 - p2)): without bound for p2 = 1. A client
 * that keeps its first answer sends reports of one law, change or not: nothing.
 * Against it he acts as against the two-step client.
 */
#include "sim/attack/internal.h"

#include <math.h>
#include <stdlib.h>

/* The law of a client's reports, as the attacker takes it. */
struct change_law {
    double kept[2];  /* ln of: the kept answer is the other one, is the truth */
    double shown[2]; /* ln of: a report is the other one, is the kept answer */
};

struct change {
    const struct sim_options *o;
    uint64_t day;                  /* of the change */
    uint64_t times[SIM_TIMES_MAX]; /* days after it */
    size_t ntimes;
    struct sim_pair pair, single;
    struct change_law laws[SIM_CHANGE_CLIENTS];
    struct sim_score found[SIM_CHANGE_CLIENTS][SIM_TIMES_MAX];
    struct sim_score alarms[SIM_CHANGE_CLIENTS][SIM_TIMES_MAX];
    uint32_t *ones; /* owned; [t]: times yes in the first t days */
    double *off;    /* owned; [client][time][device]: errors of the day */
    size_t noff[SIM_CHANGE_CLIENTS][SIM_TIMES_MAX];
};

/* ---- What the attacker computes ------------------------------------------ */

static struct change_law change_law(double p1, double p2)
{
    return (struct change_law){{log1p(-p1), log(p1)}, {log1p(-p2), log(p2)}};
}

/* n times the logarithm of a chance, which may be that of 0. */
static double change_times(double n, double ln)
{
    return n > 0 ? n * ln : 0;
}

/* ln(e^a + e^b). */
static double change_sum(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;

    return low == -HUGE_VAL ? high : high + log1p(exp(low - high));
}

/* ln of the likelihood of n reports with so many ones while the truth is x. */
static double change_stretch(const struct change_law *l, double n, double ones,
                             int x)
{
    double at[2]; /* by the kept answer */

    for (int m = 0; m < 2; m++)
        at[m] = l->kept[m == x] + change_times(ones, l->shown[m == 1]) +
                change_times(n - ones, l->shown[m == 0]);
    return change_sum(at[0], at[1]);
}

/* How much likelier "changed" is than "never" after t reports, as a logarithm;
 * *best is the likeliest day. Both truths are as likely at first. */
static double change_weigh(const struct change *c, const struct change_law *l,
                           uint64_t t, uint64_t *best)
{
    const double n = (double)t, all = c->ones[t];
    double never =
        change_sum(change_stretch(l, n, all, 0), change_stretch(l, n, all, 1));
    double sum = -HUGE_VAL, most = -HUGE_VAL;

    *best = 1;
    for (uint64_t day = 1; day < t; day++) {
        const double m = (double)day, ones = c->ones[day];
        double here = change_sum(change_stretch(l, m, ones, 0) +
                                     change_stretch(l, n - m, all - ones, 1),
                                 change_stretch(l, m, ones, 1) +
                                     change_stretch(l, n - m, all - ones, 0));

        if (here > most) {
            most = here;
            *best = day;
        }
        sum = change_sum(sum, here);
    }
    return sum - log(n - 1) - never;
}

/* ---- Devices ------------------------------------------------------------- */

static double *change_off(struct change *c, enum sim_client client, size_t time)
{
    return c->off + (client * SIM_TIMES_MAX + time) * c->o->devices;
}

static void change_judge(struct change *c, enum sim_client client, size_t time,
                         bool changed)
{
    uint64_t best;
    double weight =
        change_weigh(c, &c->laws[client], c->day + c->times[time], &best);
    double says = weight > 0 ? 1 : weight < 0 ? 0 : 0.5;

    sim_score_add(changed ? &c->found[client][time] : &c->alarms[client][time],
                  says);
    if (changed && says == 1)
        change_off(c, client, time)[c->noff[client][time]++] =
            fabs((double)best - (double)c->day);
}

/* Truths by pairs of devices: first truth and change are independent. */
static hsy_status change_device(struct change *c, enum sim_client client,
                                uint64_t number, hsy_error *err)
{
    const bool changed = number / 2 % 2 == 1;
    const uint32_t first = number % 2;
    const struct sim_pair *pair =
        client == SIM_FRESH || client == SIM_MEMOISED ? &c->single : &c->pair;
    struct sim_device d;
    uint64_t day = 0;

    sim_device_init(&d, &pair->memo, c->o->seed, number);
    for (size_t i = 0; i < c->ntimes; i++) {
        for (; day < c->day + c->times[i]; day++) {
            uint32_t truth = changed && day >= c->day ? 1 - first : first;
            uint8_t bit;
            hsy_status st =
                sim_answer(&d, &bit, client, truth, first, day, err);

            if (st != HSY_OK)
                return st;
            c->ones[day + 1] = c->ones[day] + bit;
        }
        change_judge(c, client, i, changed);
    }
    return HSY_OK;
}

/* ---- Rows ---------------------------------------------------------------- */

static int change_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double change_median(double *values, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(values, n, sizeof *values, change_compare);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* What k days after the change may tell, and what they do tell, if known. */
static void change_theory(struct sim_change_row *row, const struct change *c)
{
    const double k = (double)row->after;
    hsy_permanent_info one, two;

    hsy_permanent_describe(&c->single.memo, &one);
    hsy_permanent_describe(&c->pair.memo, &two);
    row->right.exact = NAN;
    switch (row->client) {
    case SIM_FRESH:
        row->right.allowed = sim_allowed(k * one.epsilon_permanent);
        break;
    case SIM_MEMOISED: /* seen if the two answers differ: both right, or both
                          wrong */
        row->right.allowed = 1;
        row->right.exact =
            0.5 + (one.p1 * one.p1 + (1 - one.p1) * (1 - one.p1)) / 2;
        break;
    case SIM_TWO_STEP:
        row->right.allowed = sim_allowed(k * log(two.p2 / (1 - two.p2)));
        break;
    default:
        row->right.allowed = row->right.exact = 0.5;
    }
}

static void change_rows(struct sim_result *out, struct change *c)
{
    for (enum sim_client k = SIM_FRESH; k <= SIM_ONE_CHANGE; k++)
        for (size_t i = 0; i < c->ntimes; i++) {
            struct sim_change_row *row = &out->u.change[out->nrows++];
            double a = sim_score_sd(&c->found[k][i]);
            double b = sim_score_sd(&c->alarms[k][i]);

            row->client = k;
            row->after = c->times[i];
            row->detected = sim_score_rate(&c->found[k][i]);
            row->false_alarms = sim_score_rate(&c->alarms[k][i]);
            row->right.rate = (row->detected + 1 - row->false_alarms) / 2;
            row->right.sd = sqrt(a * a + b * b) / 2;
            row->off = change_median(change_off(c, k, i), c->noff[k][i]);
            change_theory(row, c);
        }
}

static hsy_status change_open(struct change *c, hsy_error *err)
{
    const struct sim_options *o = c->o;
    hsy_permanent_info one, two;
    hsy_status st =
        sim_pair_yes_no(&c->pair, o->nano_permanent, o->nano_report, err);

    if (st == HSY_OK)
        st = sim_pair_yes_no(&c->single, o->nano_report, o->nano_report, err);
    if (st != HSY_OK)
        return st;
    hsy_permanent_describe(&c->single.memo, &one);
    hsy_permanent_describe(&c->pair.memo, &two);
    c->laws[SIM_FRESH] = change_law(1, one.p1);
    c->laws[SIM_MEMOISED] = change_law(one.p1, 1);
    c->laws[SIM_TWO_STEP] = change_law(two.p1, two.p2);
    c->laws[SIM_ONE_CHANGE] = c->laws[SIM_TWO_STEP];
    c->day = o->days / 2;
    c->ntimes = sim_times(c->times, o->days - c->day);
    c->ones = calloc(o->days + 1, sizeof *c->ones);
    c->off =
        calloc(SIM_CHANGE_CLIENTS * SIM_TIMES_MAX * o->devices, sizeof *c->off);
    if (c->ones != NULL && c->off != NULL)
        return HSY_OK;
    return host_nomem(err);
}

hsy_status sim_change(struct sim_result *out, const struct sim_options *o,
                      hsy_error *err)
{
    struct change c = {.o = o};
    hsy_permanent_info two;
    hsy_status st = change_open(&c, err);

    for (uint64_t i = 0; st == HSY_OK && i < o->devices; i++) {
        for (enum sim_client k = SIM_FRESH; st == HSY_OK && k <= SIM_ONE_CHANGE;
             k++)
            st = change_device(&c, k, i, err);
        sim_tick(o, 1);
    }
    if (st == HSY_OK) {
        hsy_permanent_describe(&c.pair.memo, &two);
        out->day = c.day;
        out->gamma = 1 - two.p2;
        change_rows(out, &c);
    }
    free(c.ones);
    free(c.off);
    sim_pair_close(&c.pair);
    sim_pair_close(&c.single);
    return st;
}
