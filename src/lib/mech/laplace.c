/*
 * laplace.c - the mean of a number by Laplace noise in integers, a baseline.
 *
 * The truth is rounded at random to j in {0 .. 2G}; the report is j plus a
 * symmetric noise, held within -K .. 2G + K. P[noise = +-i] is u(i) / total,
 * where u is a geometric sequence of integers, rounded up:
 *
 *     u(i+1) = ceil(u(i) keep / 2^64),   keep / 2^64 >= e^(-epsilon / 2G).
 *
 * What lies at L = 2G + K and beyond is one mass, tail = ceil(u(L) /
 * (1 - keep / 2^64)); an end of the outputs takes e(m) = u(m) + .. + u(L-1) +
 * tail, m steps from j.
 *
 * Privacy. One step of j changes u, and e, by a factor of at most 2^64 / keep,
 * and 2G steps by at most e^epsilon.    docs/mechanisms/laplace.md, Thm 1
 *
 * The noise is found by comparing one word with every edge: the time shows
 * neither it nor the truth [JMRO22].
 *
 * In the scheme: weight = keep, own = u(0), other = tail, total.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/mean.h"
#include "lib/scheme/report.h"

#define LAPLACE_GRID_MAX 256u
#define LAPLACE_OUTPUTS_MAX 4096u
#define LAPLACE_FINEST 4096u /* steps of the grid to 1 / epsilon */
#define LAPLACE_TOTAL_BITS 60

static uint32_t laplace_steps(const hsy_scheme *s)
{
    return 2 * (uint32_t)s->param[HSY_PARAM_GRID];
}

/* K: outputs beyond either end of the grid, at least one. */
static uint32_t laplace_reach(const hsy_scheme *s)
{
    return (uint32_t)(s->cells - 1 - laplace_steps(s)) / 2;
}

/* L: the most that j and an output lie apart. */
static uint32_t laplace_far(const hsy_scheme *s)
{
    return laplace_steps(s) + laplace_reach(s);
}

static uint64_t laplace_next(const hsy_scheme *s, uint64_t u)
{
    return (uint64_t)(((hsy_u128)u * s->noise.keep + UINT64_MAX) >> 64);
}

/* ---- Resolving ----------------------------------------------------------- */

/* floor(n / by), a bit a step, n < by 2^64 and by < 2^127. */
static uint64_t laplace_divide(hsy_u128 n, hsy_u128 by)
{
    uint64_t quotient = 0;

    for (int bit = 63; bit >= 0; bit--) {
        if (n >> bit >= by) {
            n -= by << bit;
            quotient |= (uint64_t)1 << bit;
        }
    }
    return quotient;
}

/*
 * At least 2^64 e^(-x), x = epsilon / 2G = h / (2 10^9) + rest / (2 10^9 G)
 * with h = floor(nano / G). The first part is 1 over a weight that is rounded
 * down. Of it the other, d < 1 / (2 10^9) since rest < G, takes off at least
 * d - d^2 / 2; what is taken off here is at most d, less three units, which are
 * more than 2^64 d^2 / 2 < 2.31.
 */
static uint64_t laplace_keep(uint64_t nano, uint64_t grid)
{
    uint64_t h = nano / grid, rest = nano % grid;
    unsigned shift = 63 - hsy_exp_bits(h);
    uint64_t weight = hsy_exp_weight(h, shift);
    uint64_t keep =
        laplace_divide(((hsy_u128)1 << (64 + shift)) - 1, weight) + 1;
    uint64_t less =
        laplace_divide((hsy_u128)keep * rest, (hsy_u128)2 * HSY_NANO * grid);

    return less > 3 ? keep - (less - 3) : keep;
}

/* By default 64 steps of noise, as far as 2 to 128 steps of the grid go. */
static uint64_t laplace_grid(uint64_t nano)
{
    uint64_t grid = 32 * nano / HSY_NANO;

    return grid < 1 ? 1 : grid > 64 ? 64 : grid;
}

/* K: eight times the mean noise, or as much as there is room for. */
static uint32_t laplace_reach_of(uint64_t nano, uint64_t grid)
{
    uint64_t reach = (16 * grid * HSY_NANO + nano - 1) / nano;
    uint64_t room = LAPLACE_OUTPUTS_MAX / 2 - 1 - grid;

    return (uint32_t)(reach < room ? reach : room);
}

/* The tail: P[noise <= k in size] total, k = 0 .. L-1. */
static const uint64_t *laplace_sums(const hsy_scheme *s)
{
    return mech_tail(s);
}

/* own, other and total from weight and cells. 1 - keep / 2^64 = gap / 2^64. */
static void laplace_masses(hsy_scheme *s)
{
    uint64_t gap = 0 - s->noise.keep, u;
    hsy_u128 sum = 0;

    s->noise.middle = laplace_divide((hsy_u128)gap << (LAPLACE_TOTAL_BITS - 1),
                                     ((hsy_u128)1 << 63) + s->noise.keep / 2);
    u = s->noise.middle;
    for (uint32_t i = 0; i < laplace_far(s); i++) {
        sum += (hsy_u128)(i == 0 ? 1 : 2) * u;
        u = laplace_next(s, u);
    }
    s->noise.beyond = laplace_divide(((hsy_u128)u << 64) + gap - 1, gap);
    s->total = (uint64_t)sum + 2 * s->noise.beyond;
}

static hsy_status laplace_resolve(hsy_scheme *s, const hsy_spec *spec,
                                  hsy_error *err)
{
    uint64_t grid = spec->param[HSY_PARAM_GRID];

    if (grid == 0)
        grid = laplace_grid(s->nano_epsilon);
    if (grid > LAPLACE_GRID_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_GRID,
                               "half the range has at most 256 steps",
                               LAPLACE_GRID_MAX);
    if (grid > 1 && grid * HSY_NANO > LAPLACE_FINEST * s->nano_epsilon)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_GRID,
                              "too fine for so small an epsilon",
                              LAPLACE_FINEST * s->nano_epsilon / HSY_NANO);
    s->param[HSY_PARAM_GRID] = grid;
    s->cells = 2 * (size_t)(grid + laplace_reach_of(s->nano_epsilon, grid)) + 1;
    s->report_bits = report_bits_of(s->cells);
    s->report_bytes = report_bytes_of(s->report_bits);
    s->law = LAW_NOISE;
    s->noise.keep = laplace_keep(s->nano_epsilon, grid);
    laplace_masses(s);
    s->coin = hsy_prob_base(s->total);
    return HSY_OK;
}

static size_t laplace_tail_size(const hsy_spec *spec)
{
    uint64_t nano = spec->nano_epsilon, grid = spec->param[HSY_PARAM_GRID];

    if (nano == 0 || grid > LAPLACE_GRID_MAX)
        return 0; /* which resolve will refuse */
    if (grid == 0)
        grid = laplace_grid(nano);
    return (2 * (size_t)grid + laplace_reach_of(nano, grid)) * sizeof(uint64_t);
}

static void laplace_settle(hsy_scheme *s, const hsy_spec *spec)
{
    uint64_t *sums = (uint64_t *)(s + 1), u = s->noise.middle,
             sum = s->noise.middle;

    (void)spec;
    for (uint32_t k = 0; k < laplace_far(s); k++) {
        sums[k] = sum;
        u = laplace_next(s, u);
        sum += 2 * u;
    }
}

/* ---- Randomizing --------------------------------------------------------- */

/* Room for one block; holds truths and coins, so wipe it. A word becomes its
 * noise. */
struct laplace_room {
    uint64_t u[MEAN_BLOCK], word[MEAN_BLOCK], sign[MEAN_BLOCK];
    uint32_t out[MEAN_BLOCK];
};

/* Wipe what n reports have used. */
static void laplace_wipe(struct laplace_room *r, size_t n)
{
    bytes_wipe(r->u, n * sizeof *r->u);
    bytes_wipe(r->word, n * sizeof *r->word);
    bytes_wipe(r->sign, n * sizeof *r->sign);
    bytes_wipe(r->out, n * sizeof *r->out);
}

/* Words below unit * total. */
static hsy_status laplace_words(const hsy_scheme *s, uint64_t *words, size_t n,
                                hsy_rng *rng)
{
    hsy_status st = draw_words(words, n, rng);

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        if (ct_public(ct_less(s->coin.last, words[i])) != 0)
            st = hsy_prob_word(&words[i], &s->coin, rng);
    return st;
}

/* The noise of a word, 0 .. L: how many of the edges it reaches, each of which
 * is looked at. P[noise = k] is u(0), 2 u(k) or 2 tail over total. */
static uint64_t laplace_scan(const hsy_scheme *s, uint64_t word)
{
    const uint64_t *sums = laplace_sums(s);
    uint64_t noise = 0;

    for (uint32_t k = 0; k < laplace_far(s); k++)
        noise += 1 + ct_less(word, s->coin.unit * sums[k]);
    return noise;
}

/* The same by halving, which shows the word: for simulation only. */
static uint64_t laplace_search(const hsy_scheme *s, uint64_t word)
{
    const uint64_t *sums = laplace_sums(s), mass = word / s->coin.unit;
    uint64_t noise = 0;

    for (uint64_t left = laplace_far(s), half; left > 0; left -= half) {
        half = (left + 1) / 2;
        noise += sums[noise + half - 1] <= mass ? half : 0;
    }
    return noise;
}

/* j + K +- noise, held within the outputs. */
static uint64_t laplace_output(const hsy_scheme *s, uint64_t j, uint64_t noise,
                               uint64_t sign)
{
    uint64_t middle = j + laplace_reach(s), last = s->cells - 1;
    uint64_t up = middle + noise;
    uint64_t down = (middle - noise) & ~ct_less(middle, noise);

    up = ct_select(ct_less(last, up), last, up);
    return ct_select(0 - (sign & 1), up, down);
}

/* How the noise of a word is found. */
typedef uint64_t laplace_finder(const hsy_scheme *s, uint64_t word);

static hsy_status laplace_fill(const hsy_scheme *s, struct laplace_room *r,
                               const uint64_t *codes, size_t n, hsy_rng *rng,
                               laplace_finder *find)
{
    const struct mean_grid grid =
        hsy_mean_grid(mean_width(s), laplace_steps(s));
    hsy_status st = hsy_mean_below(r->u, n, grid.width, rng);

    if (st == HSY_OK)
        st = laplace_words(s, r->word, n, rng);
    if (st == HSY_OK)
        st = draw_words(r->sign, n, rng);
    /* No other coin is at hand during the call, which would put it aside on a
     * stack that nobody wipes. */
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        r->word[i] = find(s, r->word[i]);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        r->out[i] = (uint32_t)laplace_output(
            s, mean_round(codes[i], r->u[i], &grid), r->word[i], r->sign[i]);
    return st;
}

static hsy_status laplace_blocks(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n, hsy_rng *rng,
                                 laplace_finder *find)
{
    struct laplace_room room;
    const size_t bytes = s->report_bytes;
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n; done += MEAN_BLOCK) {
        size_t m = n - done < MEAN_BLOCK ? n - done : MEAN_BLOCK;

        st = laplace_fill(s, &room, codes + done, m, rng, find);
        if (st != HSY_OK)
            break;
        report_put_all(reports + done * bytes, bytes, room.out, m);
    }
    laplace_wipe(&room, n < MEAN_BLOCK ? n : MEAN_BLOCK);
    return st;
}

static hsy_status laplace_randomize(const hsy_scheme *s, uint8_t *reports,
                                    const uint64_t *codes, size_t n,
                                    hsy_coins *coins)
{
    return laplace_blocks(s, reports, codes, n, &coins->secret, laplace_scan);
}

static hsy_status laplace_simulate(const hsy_scheme *s, uint8_t *reports,
                                   const uint64_t *codes, size_t n,
                                   hsy_stream *secret, hsy_stream *published)
{
    hsy_rng rng = hsy_stream_rng(secret);

    (void)published;
    return laplace_blocks(s, reports, codes, n, &rng, laplace_search);
}

/* ---- The law ------------------------------------------------------------- */

/* u(i), i < L. */
static uint64_t laplace_mass(const hsy_scheme *s, uint64_t i)
{
    const uint64_t *sums = laplace_sums(s);

    return i == 0 ? sums[0] : (sums[i] - sums[i - 1]) / 2;
}

/* e(m), noise of m or more in one direction, 1 <= m <= L. */
static uint64_t laplace_beyond(const hsy_scheme *s, uint64_t m)
{
    return (s->total - laplace_sums(s)[m - 1]) / 2;
}

/* The mass of output y, counted from 0, at grid point j. */
static uint64_t laplace_weight(const hsy_scheme *s, uint64_t y, uint64_t j)
{
    uint64_t middle = j + laplace_reach(s);
    uint64_t apart = y < middle ? middle - y : y - middle;

    return y == 0 || y == s->cells - 1 ? laplace_beyond(s, apart)
                                       : laplace_mass(s, apart);
}

static size_t laplace_law(const hsy_scheme *s, hsy_factor *factors,
                          uint64_t code, const uint8_t *report)
{
    const uint64_t y = report_get(report, s->report_bytes);
    struct mean_place at =
        hsy_mean_place(code, mean_width(s), laplace_steps(s));
    uint64_t here = laplace_weight(s, y, at.floor);
    uint64_t next = at.rest == 0 ? here : laplace_weight(s, y, at.floor + 1);

    return hsy_mean_law(factors, mean_width(s), at.rest, here, next, s->total);
}

/*
 * At an output r steps below the grid the ends j = 0 and j = 2G are the
 * likeliest and the least likely: u(r) against u(r + 2G), or e at the last
 * output; within the grid no output tells more than one at its end.
 */
static size_t laplace_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    const uint32_t steps = laplace_steps(s), reach = laplace_reach(s);
    hsy_factor worst = {laplace_beyond(s, reach), s->noise.beyond};

    for (uint32_t r = 0; r < reach; r++) {
        hsy_factor f = {laplace_mass(s, r), laplace_mass(s, r + steps)};

        if ((hsy_u128)f.num * worst.den > (hsy_u128)f.den * worst.num)
            worst = f;
    }
    factors[0] = worst;
    return 1;
}

/* ---- Counting and estimating --------------------------------------------- */

/*
 * What output y says of the truth, in steps from the middle: its place, and at
 * an end the mean of all that end there. Beyond any point a geometric noise
 * goes on by the same mean, keep / (1 - keep), so the estimate is unbiased at
 * every j.
 */
static double laplace_place(const hsy_scheme *s, size_t y)
{
    const double place = (double)y - (double)(s->cells - 1) / 2;

    if (y > 0 && y < s->cells - 1)
        return place;
    return place + (y == 0 ? -1 : 1) *
                       ((double)s->noise.keep / (double)(0 - s->noise.keep));
}

/* The squared error of noise i, up and down, at the grid point j, in steps. */
static double laplace_error(const hsy_scheme *s, uint32_t j, uint64_t i)
{
    double truth = (double)j - (double)laplace_steps(s) / 2;
    double up = laplace_place(s, laplace_output(s, j, i, 1)) - truth;
    double down = laplace_place(s, laplace_output(s, j, i, 0)) - truth;

    return up * up + down * down;
}

/* The variance at the grid point j. It asks for no table: the choice of a
 * mechanism has none. */
static double laplace_noise(const hsy_scheme *s, uint32_t j)
{
    double sum = laplace_error(s, j, laplace_far(s)) * (double)s->noise.beyond;
    double steps = laplace_steps(s);
    uint64_t u = s->noise.middle;

    for (uint64_t i = 0; i < laplace_far(s); i++) {
        sum += laplace_error(s, j, i) * (i == 0 ? 0.5 : 1) * (double)u;
        u = laplace_next(s, u);
    }
    return sum / (double)s->total / (steps * steps);
}

/* The noise is largest at an end or in the middle; rounding adds at most a
 * quarter of a step squared. */
static void laplace_variance(const hsy_scheme *s, double v[2])
{
    double R = laplace_steps(s);
    double end = laplace_noise(s, 0),
           middle = laplace_noise(s, (uint32_t)R / 2);

    v[0] = v[1] = (end > middle ? end : middle) + 0.25 / (R * R);
}

/* The outermost outputs. */
static void laplace_ends_reach(const hsy_scheme *s, double reach[2])
{
    for (int end = 0; end < 2; end++)
        reach[end] = 0.5 + laplace_place(s, end == 0 ? 0 : s->cells - 1) /
                               laplace_steps(s);
}

static void laplace_points(const hsy_scheme *s, hsy_evidence *points,
                           const hsy_tally *t, const uint64_t *codes,
                           size_t count, void *scratch)
{
    struct mean_evidence e = {
        .n = (double)t->strata[0], .curve = 1, .R = laplace_steps(s)};
    double first = 0, second = 0, f;

    (void)codes;
    (void)count;
    (void)scratch;
    for (size_t y = 0; y < s->cells; y++) {
        double c = (double)t->cells[y], v = laplace_place(s, y) / e.R;

        first += c * v;
        second += c * v * v;
    }
    e.value = 0.5 + first / e.n;
    f = e.value < 0 ? 0 : e.value > 1 ? 1 : e.value;
    e.end = laplace_noise(s, (uint32_t)(f * e.R + 0.5));
    e.rounded = e.end + 0.25 - second / e.n;
    hsy_mean_point(&points[0], &e);
}

const struct mech_client hsy_mech_laplace_client = {
    .resolve = laplace_resolve,
    .randomize = laplace_randomize,
    .tail_size = laplace_tail_size,
    .settle = laplace_settle,
};

const struct mech_counting hsy_mech_laplace_counting = {
    .simulate_batch = laplace_simulate,
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};

const struct mech_estimate hsy_mech_laplace_estimate = {
    .points = laplace_points,
    .variance = laplace_variance,
    .reach = laplace_ends_reach,
};

const struct mech_law hsy_mech_laplace_law = {
    .factors = 2,
    .of_code = laplace_law,
    .worst = laplace_law_worst,
};
