/*
 * worth.c - what a batch of shuffled reports is worth to one who is in it.
 *
 * One batch. Its reports are independent, so every bound of shuffling that fits
 * the mechanism holds, with the honest reports for people: the least counts.
 *
 * Several batches with fresh coins: each is (epsilon, delta) private whatever
 * was seen of the others, and they compose.
 *
 * Several batches from permanent answers. Reports of one person share the coins
 * of the first step. Given everybody's permanent answers, batches are
 * independent, and each is a shuffle of the second step alone, from answer to
 * report. Its bound holds for any two answers of the person concerned; so it
 * does for mixtures of them, which is what two truths make. All batches
 * together are also a function of the permanent answers.
 *
 * Seeds and cohorts that people keep tell batches of one person from others':
 * those with another one hide nobody. Of n honest people the person's own seed
 * has 1 + Bin(n - 1, 1/pool), which is below 1 + m - sqrt(2 m log(2/delta)),
 * m = (n - 1)/pool, with chance delta/2 at most (Chernoff).
 *                                                   docs/accounting.md
 */
#include "lib/account/internal.h"

#include "lib/bits/u128.h"
#include "lib/core/fail.h"
#include "lib/scheme/permanent.h"

#include <math.h>

const char *hsy_shuffle_bound_name(hsy_shuffle_bound by)
{
    return by == HSY_SHUFFLE_ANY     ? "clones"
           : by == HSY_SHUFFLE_EXACT ? "exact"
                                     : "blanket";
}

static hsy_status worth_check(const hsy_batch *b, hsy_error *err)
{
    if (b->reports > HSY_SHUFFLE_PEOPLE_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_N,
                               "reports of a batch: up to 1000000000000",
                               HSY_SHUFFLE_PEOPLE_MAX);
    if (b->honest.num == 0 || b->honest.num > b->honest.den)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARE,
                        "the share of honest people is above 0 and at most 1");
    return hsy_account_delta_check(b->delta, err);
}

/* Seeds, sets or cohorts of which a person keeps one; 1: nobody does. */
static double worth_pool(const hsy_scheme_info *info)
{
    const uint64_t cohorts = info->param[HSY_PARAM_COHORTS];

    return ldexp(cohorts > 1 ? (double)cohorts : 1,
                 (int)info->param[HSY_PARAM_POOL_BITS]);
}

static uint64_t worth_among(uint64_t n, double pool, double delta)
{
    const double mean = (double)(n - 1) / pool;
    const double sure = mean - sqrt(2 * mean * log(2 / delta));

    return 1 + (uint64_t)floor(fmax(sure, 0) * (1 - ACCOUNT_SLACK));
}

/* The least epsilon that a bound proves. If `at` is above 0, only that one is
 * tried: `at` if it is proved, else infinite. */
static hsy_status worth_bound(double *epsilon, const hsy_shuffle *s, double at,
                              double delta, hsy_error *err)
{
    double proved = 1;
    hsy_status st;

    if (at <= 0)
        return hsy_shuffle_epsilon(s, epsilon, delta, err);
    st = hsy_shuffle_delta(s, &proved, at, err);
    *epsilon = proved <= delta ? at : INFINITY;
    return st;
}

/* The same by any bound that includes s. */
static hsy_status worth_least(double *epsilon, hsy_shuffle_bound *by,
                              hsy_shuffle s, double at, double delta,
                              hsy_error *err)
{
    const hsy_shuffle_bound own = s.by;
    const struct {
        hsy_shuffle_bound by;
        bool fits;
    } bounds[] = {{HSY_SHUFFLE_ANY, true},
                  {own, own != HSY_SHUFFLE_ANY},
                  {HSY_SHUFFLE_EXACT,
                   own == HSY_SHUFFLE_BINARY && s.n <= HSY_SHUFFLE_EXACT_MAX}};

    *epsilon = INFINITY;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        double x = 0;
        hsy_status st;

        if (!bounds[i].fits)
            continue;
        s.by = bounds[i].by;
        st = worth_bound(&x, &s, at, delta, err);
        if (st != HSY_OK)
            return st;
        if (x < *epsilon) {
            *epsilon = x;
            *by = s.by;
        }
    }
    return HSY_OK;
}

/* The step from a permanent answer to a report, as shuffling sees it: another
 * answer may have another law in every bit. */
static hsy_shuffle worth_step(const hsy_permanent *kept, uint64_t n)
{
    const struct mech_permanent *law = kept->report->mech->client->permanent;
    const struct permanent_part part = law->part(kept->report);
    hsy_permanent_info info;
    hsy_shuffle s = {.by = HSY_SHUFFLE_ANY, .n = n};
    double bit;

    hsy_permanent_describe(kept, &info);
    bit = log(info.p2 / info.q2);
    if (law->step == PERMANENT_OUTPUT) {
        s.by = HSY_SHUFFLE_TWO_LEVEL;
        s.favoured = 1.0 / part.count;
        s.epsilon_report = bit;
    } else {
        if (law->step == PERMANENT_FLIP && part.count == 1)
            s.by = HSY_SHUFFLE_BINARY;
        bit = fmax(bit, log((1 - info.q2) / (1 - info.p2)));
        s.epsilon_report = bit * part.count;
    }
    s.epsilon_report *= 1 + ACCOUNT_SLACK;
    return s;
}

static double worth_permanent(const hsy_permanent *kept,
                              const hsy_scheme_info *info)
{
    hsy_permanent_info own = {.epsilon_permanent = info->epsilon_permanent};

    if (kept != NULL)
        hsy_permanent_describe(kept, &own);
    return own.epsilon_permanent;
}

/* Of each of several batches made from permanent answers. */
static hsy_status worth_again(hsy_worth *w, const hsy_permanent *kept,
                              double at, double delta, hsy_error *err)
{
    const hsy_shuffle s = worth_step(kept, w->among);
    hsy_shuffle_bound by;

    if (!(s.epsilon_report > 0 && s.epsilon_report <= ACCOUNT_EPSILON_MAX))
        return HSY_OK; /* hardly any noise: nothing is proved */
    return worth_least(&w->again, &by, s, at, delta, err);
}

static hsy_status worth_find(hsy_worth *out, const hsy_scheme *s,
                             const hsy_permanent *kept, const hsy_batch *b,
                             double at, hsy_error *err)
{
    hsy_worth w = {.again = INFINITY, .most = INFINITY, .delta = b->delta};
    double pool = 1, delta = b->delta;
    hsy_scheme_info info;
    hsy_shuffle own;
    hsy_status st = worth_check(b, err);

    if (st == HSY_OK)
        st = hsy_shuffle_scheme(&own, s, 1, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &info);
    if (kept != NULL || info.epsilon_permanent > 0) {
        pool = worth_pool(&info);
        w.most = worth_permanent(kept, &info) * (1 + ACCOUNT_SLACK);
    }
    w.epsilon_report = own.epsilon_report;
    w.n = (uint64_t)((hsy_u128)b->reports * b->honest.num / b->honest.den);
    w.among = w.n;
    if (pool > 1 && w.n > 0) {
        w.among = worth_among(w.n, pool, delta);
        delta /= 2;
    }
    own.n = w.among > 0 ? w.among : 1; /* who is alone, or one of nobody */
    st = worth_least(&w.epsilon, &w.by, own, at, delta, err);
    if (st == HSY_OK && isinf(w.most))
        w.again = w.epsilon;
    else if (st == HSY_OK && kept != NULL && w.among > 0)
        st = worth_again(&w, kept, at, delta, err);
    if (st != HSY_OK)
        return st;
    w.epsilon = fmin(fmin(w.epsilon, w.most), w.again);
    *out = w;
    return HSY_OK;
}

hsy_status hsy_worth_of(hsy_worth *out, const hsy_scheme *s,
                        const hsy_permanent *kept, const hsy_batch *b,
                        hsy_error *err)
{
    return worth_find(out, s, kept, b, 0, err);
}

hsy_status hsy_worth_holds(bool *holds, const hsy_scheme *s,
                           const hsy_permanent *kept, const hsy_batch *b,
                           double epsilon, hsy_error *err)
{
    hsy_worth w = {.epsilon = INFINITY};
    const hsy_status st = worth_find(&w, s, kept, b, epsilon, err);

    *holds = st == HSY_OK && w.epsilon <= epsilon;
    return st;
}

hsy_status hsy_worth_batches(const hsy_worth *w, double *epsilon, double *delta,
                             uint64_t batches, hsy_error *err)
{
    const hsy_spent spent = {w->again, batches};
    const double count = (double)batches;
    double composed = INFINITY, sum = count * w->again;

    if (batches > HSY_COMPOSE_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_COUNT,
                               "up to 1000000000 batches", HSY_COMPOSE_MAX);
    if (batches > 1 && isfinite(sum)) {
        hsy_status st =
            hsy_compose_epsilon(&composed, &spent, 1, w->delta, NULL, err);

        if (st != HSY_OK)
            return st;
    }
    *delta = fmin(count * w->delta, 1);
    if (batches < 2)
        sum = batches == 0 ? 0 : w->epsilon;
    else if (composed < sum)
        *delta = fmin((count + 1) * w->delta, 1);
    *epsilon = fmin(sum, composed);
    if (w->most <= *epsilon) {
        *epsilon = w->most;
        *delta = 0;
    }
    return HSY_OK;
}
