/*
 * shuffle.c - what an honest shuffler adds to the privacy of local reports.
 *
 * n people send a report of epsilon0 each; only the multiset of reports is
 * seen. With rho = e^epsilon0 and E = e^epsilon all three numeric bounds are
 *
 *   delta(epsilon) <= scale E_M E_Y E_b max(0, edge M - b - tau Y),
 *
 *   M ~ Bin(n, p), b ~ Bin(M, 1/2), Y = value Bin(n - M, q),
 *   tau = tanh(epsilon/2) / (rho - 1),  edge = 1/2 - tau (rho + 1) / 2.
 *
 * - Any mechanism, "clones" [FMT21]: p = 1/rho, no Y, and scale
 *   2 (rho-1) (1+E) / (n p (rho+1)).
 * - Two-level mechanisms, the blanket [BBGN19]: a person's output is
 *   uniform with chance gamma = 1 / (1 + (rho-1) inside). M - b and b count the
 *   blanket's outputs that favour only the first or only the second of two
 *   truths, p = 2 gamma (inside - both); Y has rho for an output that favours
 *   both and 1 for one that favours neither; scale (rho-1) (1+E) / n. Binary
 *   randomized response has inside 1/2, both 0 and so no Y.
 *
 * Where Y takes 0, 1 and rho, it is replaced, for more than SHUFFLE_SMALL
 * people, by one that takes 0 and rho with the same mean. The maximum is convex
 * in Y, so this can only add. For the same reason the least `both` over all
 * pairs of truths is the worst one. Derived in docs/accounting.md;
 * theory 9.
 *
 * Nothing is dropped and nothing is rounded down: see shuffle_sum and
 * internal.h for how the sum stays an upper bound.
 */
#include "lib/account/internal.h"

#include <math.h>

#define SHUFFLE_FINE 400.0  /* buckets of M to a standard deviation: no Y, */
#define SHUFFLE_COARSE 64.0 /* with Y */
#define SHUFFLE_SMALL 100.0 /* people among whom Y is taken as it is */
#define SHUFFLE_KINKS 128.0 /* values of b that are summed one by one */
#define SHUFFLE_FAR 9.0     /* deviations of Y within which they are */
#define SHUFFLE_REST 1e-15  /* of the sum: when to stop and add a bound */
#define SHUFFLE_LESS (1 - 1e-15) /* more than is rounded off a chance */

/* Everything but epsilon. */
struct shuffle_law {
    double n, epsilon_report;
    double growth; /* rho - 1 */
    double p, q, value;
    double shared; /* chance of an output that favours both, where those are
                      counted one by one: q is then of the ones left */
    double fine;   /* buckets of M to a standard deviation */
    double factor; /* of clones, in scale */
};

/* ... and the rest. */
struct shuffle_at {
    const struct shuffle_law *law;
    double scale, tau, edge;
};

static void shuffle_clones(struct shuffle_law *law)
{
    law->p = exp(-law->epsilon_report);
    law->factor = 2 / (law->p * (law->growth + 2));
    law->fine = SHUFFLE_FINE;
}

/*
 * An output that is not counted in M is of the blanket and favours both truths
 * or neither, or is not of the blanket: gamma times `both`, `outside` and
 * (rho-1) inside. By these q has no difference in it, but a double near 1 holds
 * only so many digits of 1 - q. So Y is made less likely by more than their
 * rounding, which can only add.
 */
static void shuffle_blanket(struct shuffle_law *law, double inside, double both)
{
    const double rho = exp(law->epsilon_report), own = law->growth * inside;
    const double outside = fmax(1 - 2 * inside + both, 0);

    law->p = 2 * (inside - both) / (1 + own);
    if (law->n <= SHUFFLE_SMALL) {
        law->shared = both / (own + outside + both) * SHUFFLE_LESS;
        law->q = outside / (own + outside) * SHUFFLE_LESS;
    } else if (both > 0) {
        law->value = rho;
        law->q = (both + outside / rho) / (own + outside + both) * SHUFFLE_LESS;
    } else {
        law->q = outside / (own + outside) * SHUFFLE_LESS;
    }
    law->fine = law->q > 0 ? SHUFFLE_COARSE : SHUFFLE_FINE;
}

static void shuffle_open(struct shuffle_law *law, const hsy_shuffle *s)
{
    *law = (struct shuffle_law){.n = (double)s->n,
                                .epsilon_report = s->epsilon_report,
                                .growth = expm1(s->epsilon_report),
                                .value = 1,
                                .factor = 1};
    if (s->by == HSY_SHUFFLE_ANY)
        shuffle_clones(law);
    else if (s->by == HSY_SHUFFLE_BINARY)
        shuffle_blanket(law, 0.5, 0);
    else
        shuffle_blanket(law, s->favoured, s->overlap);
}

/* ---- The sum ------------------------------------------------------------- */

/*
 * E_Y E_b max(0, u - b - theta Y), Y ~ Bin(n, q) here: the sum over b of
 * P(b) theta E max(0, y_b - Y), y_b = (u - b) / theta. Far above Y's mean the
 * inner expectation is y_b - mean, plus at most what it is at the first of
 * them; those b, the smallest, come in one piece.
 */
struct shuffle_inner {
    double m, u;              /* M, and the part that does not hang on Y */
    double n, q, theta;       /* Y, and what each adds */
    double first, last, step; /* b one by one; in one piece below `first` */
};

static double shuffle_inner_kink(const struct shuffle_inner *in, double b)
{
    return (in->u - b) / in->theta;
}

static void shuffle_inner_open(struct shuffle_inner *in)
{
    const double sd = sqrt(in->n * in->q * (1 - in->q));
    const double mean = in->n * in->q, far = SHUFFLE_FAR * sd + 1;

    in->last = fmin(ceil(in->u) - 1, in->m);
    in->first = fmax(floor(in->u - in->theta * (mean + far)), 0);
    in->step = ceil(2 * far * in->theta / SHUFFLE_KINKS);
}

static double shuffle_inner_piece(const struct shuffle_inner *in)
{
    const double mean = in->n * in->q, b = in->first - 1;
    const double far = in->u - in->m / 2 - in->theta * mean;
    const double y = shuffle_inner_kink(in, b);
    struct account_tail tail;

    if (b < 0)
        return 0;
    hsy_account_lower(&tail, fmin(b, in->m), in->m, 0.5);
    /* E max(0, Y - y) = E max(0, y - Y) - (y - mean). */
    return fmax(tail.excess + far * tail.mass, 0) +
           ACCOUNT_SLACK * (tail.excess + fabs(far) * tail.mass) +
           in->theta * tail.mass *
               fmax(hsy_account_under(in->n, in->q, y) - (y - mean), 0);
}

/* Upward in groups of `step` values: each counts as the smallest of its group
 * and is as likely as the largest, for P(b) grows up to M/2. */
static double shuffle_inner(struct shuffle_inner *in)
{
    struct account_tail all;
    double sum;

    shuffle_inner_open(in);
    hsy_account_lower(&all, in->last, in->m, 0.5);
    sum = shuffle_inner_piece(in);
    for (double b = in->first; b <= in->last; b += in->step) {
        const double to = fmin(b + in->step - 1, in->last);
        const double each =
            in->theta *
            hsy_account_under(in->n, in->q, shuffle_inner_kink(in, b));

        if (each * all.mass <= SHUFFLE_REST * sum || each == 0)
            return sum + each * all.mass;
        sum += each * (to - b + 1) * hsy_account_chance(to, in->m, 0.5);
    }
    return sum;
}

static double shuffle_inner_any(const struct shuffle_inner *in)
{
    struct shuffle_inner own = *in;

    if (own.u <= 0)
        return 0;
    if (own.n == 0 || own.q == 0 || own.theta == 0)
        return hsy_account_under(own.m, 0.5, own.u);
    return shuffle_inner(&own);
}

/* Over the number z of outputs that favour both, rho each. */
static double shuffle_inner_shared(const struct shuffle_inner *in,
                                   double shared, double rho)
{
    double sum = 0;

    for (double z = 0; z <= in->n; z++) {
        struct shuffle_inner own = *in;

        own.n -= z;
        own.u -= in->theta * rho * z;
        sum += hsy_account_chance(z, in->n, shared) * shuffle_inner_any(&own);
    }
    return sum;
}

/*
 * At least the expectation for any M from low to high: M enters through b - M/2
 * whose spread grows with M in convex order, so `high` is the worst; through
 * what edge is below 1/2, where `low` is; and through Y, which falls with M. u
 * is moved up by more than the rounding of edge.
 */
static double shuffle_term(const struct shuffle_at *at, double low, double high)
{
    const struct shuffle_law *law = at->law;
    const double u = (high - low) / 2 + at->edge * low;
    const struct shuffle_inner in = {.m = high,
                                     .u = u * (1 + 4e-15),
                                     .n = law->n - high,
                                     .q = law->q,
                                     .theta = at->tau * law->value};

    if (law->shared > 0 && in.n > 0)
        return shuffle_inner_shared(&in, law->shared, law->growth + 1);
    return shuffle_inner_any(&in);
}

/* Sum of P(j) j/2 over j below m, where the ratio of neighbours is below 1;
 * no term is above j/2. */
static double shuffle_below(const struct shuffle_law *law, double m)
{
    const double ratio = m * (1 - law->p) / ((law->n - m + 1) * law->p);

    if (m <= 0)
        return 0;
    return ratio < 1 ? hsy_account_chance(m, law->n, law->p) * m / 2 * ratio /
                           (1 - ratio)
                     : INFINITY;
}

/* The same over j above m. */
static double shuffle_above(const struct shuffle_law *law, double m)
{
    const double ratio = (law->n - m) * law->p / (fmax(m, 1) * (1 - law->p));

    if (m >= law->n)
        return 0;
    return ratio < 1 ? hsy_account_chance(m, law->n, law->p) * fmax(m, 1) / 2 *
                           ratio / (1 - ratio)
                     : INFINITY;
}

/*
 * Buckets of M outward from its mean, down and then up, until a bound of the
 * rest is negligible; then that is added. Roundings of parameters (of Y's they
 * add: shuffle_blanket) are below 1e-15 relative, and delta changes at most 2
 * ln(1/delta) < 1200 times as much; factors and sums take the rest of 1e-11.
 */
static double shuffle_sum(const struct shuffle_at *at)
{
    const struct shuffle_law *law = at->law;
    const double mean = law->n * law->p;
    const double width = fmax(1, floor(sqrt(mean * (1 - law->p)) / law->fine));
    double sum = 0, low = fmin(fmax(floor(mean), 1), law->n), high;
    double rest = 0;

    for (high = low - 1; high >= 1; high -= width) {
        const double from = fmax(high - width + 1, 1);

        sum += hsy_account_between(from, high, law->n, law->p) *
               shuffle_term(at, from, high);
        rest = shuffle_below(law, from);
        if (rest <= SHUFFLE_REST * sum)
            break;
    }
    sum += high >= 1 ? rest : 0;
    for (; low <= law->n; low += width) {
        const double to = fmin(low + width - 1, law->n);

        sum += hsy_account_between(low, to, law->n, law->p) *
               shuffle_term(at, low, to);
        rest = shuffle_above(law, to);
        if (rest <= SHUFFLE_REST * sum)
            break;
    }
    sum += low <= law->n ? rest : 0;
    return sum * (1 + 1e-11);
}

/* A single report of epsilon0 cannot do worse, whoever else there is. */
static double shuffle_alone(const struct shuffle_law *law, double epsilon)
{
    return -expm1(epsilon - law->epsilon_report) /
           (1 + exp(-law->epsilon_report)) * (1 + ACCOUNT_SLACK);
}

/* 1/2 - tau (rho + 1) / 2 is half of 1 - tanh(epsilon/2) / tanh(epsilon0/2),
 * here without a difference. */
static double shuffle_edge(double epsilon0, double epsilon)
{
    return sinh((epsilon0 - epsilon) / 2) /
           (2 * sinh(epsilon0 / 2) * cosh(epsilon / 2));
}

static double shuffle_delta(const struct shuffle_law *law, double epsilon)
{
    const struct shuffle_at at = {
        .law = law,
        .scale = law->growth * (1 + exp(epsilon)) / law->n,
        .tau = tanh(epsilon / 2) / law->growth,
        .edge = shuffle_edge(law->epsilon_report, epsilon)};
    double sum;

    if (epsilon >= law->epsilon_report)
        return 0;
    sum = at.scale * law->factor * shuffle_sum(&at);
    return fmin(sum + 1e-300, shuffle_alone(law, epsilon));
}

/* Two truths that share nothing bound those that share something, and are
 * sometimes the better bound of many people, for whom Y is spread. */
double hsy_account_shuffle(const hsy_shuffle *s, double epsilon)
{
    struct shuffle_law law;
    double delta;

    shuffle_open(&law, s);
    delta = shuffle_delta(&law, epsilon);
    if (law.value != 1 && s->favoured <= 0.5) {
        hsy_shuffle apart = *s;

        apart.overlap = 0;
        shuffle_open(&law, &apart);
        delta = fmin(delta, shuffle_delta(&law, epsilon));
    }
    return delta;
}

/* As if M/2 - b were normal and M, Y at their means. */
double hsy_account_shuffle_guess(const hsy_shuffle *s, double delta)
{
    struct shuffle_law law;
    double m, drift;

    shuffle_open(&law, s);
    m = law.n * law.p;
    drift = (1 + law.growth / 2) * m + law.value * (law.n - m) * law.q;
    m = -hsy_normal_quantile(fmin(delta, 0.4)) * sqrt(m) / 2;
    return 2 * atanh(fmin(m * law.growth / drift, 0.999));
}
