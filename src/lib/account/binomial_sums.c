/* binomial_sums.c - binomial expectations and the search that accounts share.
 */
#include "lib/account/internal.h"

#include "lib/core/fail.h"
#include "lib/special/special.h"

#include <math.h>

#define ACCOUNT_FEW 24.0       /* terms that are added one by one, */
#define ACCOUNT_LOG_MIN -690.0 /* if the first is not too small for that */

/*
 * P(X <= h) is the upper tail of Beta(h + 1, n - h) at p, and the density there
 * on the scale of logit p is
 *     p^(h+1) (1-p)^(n-h) / B(h+1, n-h) = p (n-h) P(X = h)
 *                                       = E (np - X; X <= h),
 * the last because (n-j) p P(j) - j (1-p) P(j) telescopes over j <= h. So one
 * point of the beta law gives both, and neither by a difference.
 */
void hsy_account_lower(struct account_tail *out, double h, double n, double p)
{
    struct special_point point;

    if (h >= n) {
        *out = (struct account_tail){1, 0};
        return;
    }
    hsy_special_beta(&point, h + 1, n - h, p);
    *out = (struct account_tail){exp(point.log_upper), exp(point.log_density)};
}

/* Term by term, j = 0 to y. */
static double account_few(double n, double p, double y)
{
    double chance = exp(n * log1p(-p)), sum = 0;

    for (double j = 0; j <= y && j <= n; j++) {
        sum += (y - j) * chance;
        chance *= (n - j) / (j + 1) * (p / (1 - p));
    }
    return sum * (1 + ACCOUNT_SLACK);
}

/*
 * excess + (y - np) mass, each made as bad as it can be; y is moved up by more
 * than the rounding of y, np and their difference. Where y is small the two
 * cancel, but then there are few terms.
 */
double hsy_account_under(double n, double p, double y)
{
    const double above = y * (1 + 1e-15), far = above - n * p;
    struct account_tail tail;

    if (y <= 0)
        return 0;
    if (above < ACCOUNT_FEW && n * log1p(-p) > ACCOUNT_LOG_MIN)
        return account_few(n, p, above);
    hsy_account_lower(&tail, fmin(floor(above), n), n, p);
    return fmax(tail.excess + far * tail.mass, 0) +
           ACCOUNT_SLACK * (tail.excess + fabs(far) * tail.mass);
}

double hsy_account_chance(double k, double n, double p)
{
    return exp(hsy_special_binomial_log(k, n, p)) * (1 + ACCOUNT_SLACK);
}

/* By the smaller tail. */
double hsy_account_between(double low, double high, double n, double p)
{
    const bool upper = low > n * p;
    double more, less;

    if (low == high)
        return hsy_account_chance(low, n, p);
    more = hsy_special_binomial(upper ? low : high, n, p, upper);
    less = hsy_special_binomial(upper ? high + 1 : low - 1, n, p, upper);
    return more - less + ACCOUNT_SLACK * (more + less);
}

/* ---- The search ---------------------------------------------------------- */

struct account_bracket {
    double bad, good;    /* the ends */
    double above, below; /* f there, halved where an end stays (Illinois) */
    int side;            /* which end moved last, and how often in a row */
};

static bool account_narrow(const struct account_search *s,
                           const struct account_bracket *b)
{
    const double gap = fabs(b->good - b->bad);

    return gap <= s->width * fabs(b->good) || (s->whole && gap <= 1);
}

/* The chord's zero, moved a little toward the end that stays, so that it comes
 * near as well; the middle where there is no chord or it does not help. */
static double account_next(const struct account_search *s,
                           const struct account_bracket *b)
{
    const double low = fmin(b->bad, b->good), high = fmax(b->bad, b->good);
    const double stays = b->side > 0 ? b->bad : b->good;
    double x = b->bad + (b->good - b->bad) * (b->above / (b->above - b->below));

    if (b->side != 0)
        x += copysign(s->width / 4 * fabs(x), stays - x);
    if (!(x > low && x < high) || b->side > 3 || b->side < -3)
        x = low > 0 && high > 4 * low ? sqrt(low * high)
                                      : low + (high - low) / 2;
    if (s->whole)
        x = fmin(fmax(ceil(x), low + 1), high - 1);
    return x;
}

static void account_move(struct account_bracket *b, double x, double f)
{
    if (!(f <= 0)) { /* what is no number is not good either */
        b->bad = x;
        b->above = f;
        if (b->side < 0)
            b->below /= 2;
        b->side = b->side < 0 ? b->side - 1 : -1;
    } else {
        b->good = x;
        b->below = f;
        if (b->side > 0)
            b->above /= 2;
        b->side = b->side > 0 ? b->side + 1 : 1;
    }
}

double hsy_account_search(const struct account_search *s)
{
    struct account_bracket b = {s->bad, s->good, s->f(s->ctx, s->bad),
                                s->f(s->ctx, s->good), 0};
    double x = s->guess;

    if (b.above <= 0)
        return s->bad;
    if (!(x > fmin(s->bad, s->good) && x < fmax(s->bad, s->good)))
        x = account_next(s, &b);
    for (int i = 0; i < 200 && !account_narrow(s, &b); i++) {
        account_move(&b, x, s->f(s->ctx, x));
        x = account_next(s, &b);
        if (x == b.bad || x == b.good)
            break;
    }
    return b.good;
}

/* ---- Checks -------------------------------------------------------------- */

hsy_status hsy_account_delta_check(double delta, hsy_error *err)
{
    if (delta >= ACCOUNT_DELTA_MIN && delta < 1)
        return HSY_OK;
    return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DELTA,
                    "a chance above 0 (from 1e-250 on) and below 1");
}

hsy_status hsy_account_epsilon_check(double epsilon, uint32_t field,
                                     hsy_error *err)
{
    if (epsilon > 0 && epsilon <= ACCOUNT_EPSILON_MAX)
        return HSY_OK;
    return hsy_fail(err, HSY_E_RANGE, field, "above 0, at most 100");
}
