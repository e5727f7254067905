/*
 * matrix.c - any channel: a matrix of the user's own, column by column.
 *
 * P[y | x] = H[y][x] / total, integers from the spec. One word, uniform below
 * unit * total, is compared with all the sums of all columns; how many sums of
 * the truth's column it passes, counted by masks, is the report.
 *
 * Privacy. The claimed epsilon is the smallest nano-epsilon that covers the
 * largest ratio of two entries of one row; no entry is 0.
 *                                            docs/mechanisms/matrix.md, Thm 1
 *
 * Report: the answer's index, ceil(log2 d) bits.
 */
#include "lib/mech/matrix.h"
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/bits/draw.h"
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"

#define MATRIX_BLOCK 256

/* ---- From bytes ---------------------------------------------------------- */

static uint64_t matrix_given(const hsy_spec *spec, size_t y, size_t x)
{
    return bytes_get64(spec->labels + 8 + 8 * (y * spec->d + x));
}

size_t hsy_matrix_bytes(uint32_t d)
{
    return 8 + 8 * (size_t)d * d;
}

/* The tail: for each truth x the sums of its column, H[0][x] + ... + H[y][x] at
 * x d + y, times unit; then H itself, row by row. */
static const uint64_t *matrix_sums(const hsy_scheme *s)
{
    return mech_tail(s);
}

static const uint64_t *matrix_entries(const hsy_scheme *s)
{
    return matrix_sums(s) + (size_t)s->d * s->d;
}

static size_t matrix_tail_size(const hsy_spec *spec)
{
    return spec->d > HSY_MATRIX_MAX
               ? 0
               : 2 * (size_t)spec->d * spec->d * sizeof(uint64_t);
}

static void matrix_settle(hsy_scheme *s, const hsy_spec *spec)
{
    uint64_t *sums = (uint64_t *)(s + 1);
    uint64_t *entries = sums + (size_t)s->d * s->d;

    for (size_t x = 0; x < s->d; x++) {
        uint64_t sum = 0;

        for (size_t y = 0; y < s->d; y++) {
            sum += matrix_given(spec, y, x);
            sums[x * s->d + y] = s->coin.unit * sum; /* the last may wrap */
            entries[y * s->d + x] = matrix_given(spec, y, x);
        }
        sums[x * s->d + s->d - 1] = 0; /* not looked at */
    }
}

/* ---- Checks -------------------------------------------------------------- */

static hsy_status matrix_columns(const hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    for (uint32_t x = 0; x < s->d; x++) {
        uint64_t left = s->total;

        for (uint32_t y = 0; y < s->d; y++) {
            uint64_t entry = matrix_given(spec, y, x);

            if (entry == 0)
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                                   "a probability is 0: that answer would "
                                   "rule a truth out, infinite epsilon",
                                   HSY_UNIT_COLUMN, x + 1);
            if (entry > left)
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                                   "adds up to more than 1", HSY_UNIT_COLUMN,
                                   x + 1);
            left -= entry;
        }
        if (left != 0)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                               "adds up to less than 1", HSY_UNIT_COLUMN,
                               x + 1);
    }
    return HSY_OK;
}

/* The largest ratio of two entries of one row. */
static hsy_factor matrix_worst(const uint64_t *entries, size_t d)
{
    hsy_factor worst = {1, 1};

    for (size_t y = 0; y < d; y++) {
        hsy_factor row = {entries[y * d], entries[y * d]};

        for (size_t x = 1; x < d; x++) {
            uint64_t entry = entries[y * d + x];

            row.num = entry > row.num ? entry : row.num;
            row.den = entry < row.den ? entry : row.den;
        }
        if ((hsy_u128)row.num * worst.den > (hsy_u128)worst.num * row.den)
            worst = row;
    }
    return worst;
}

/* ---- The inverse --------------------------------------------------------- */

static double matrix_size(double x)
{
    return x < 0 ? -x : x;
}

/* Swap two rows of a and of its companion. */
static void matrix_swap(double *a, double *inverse, size_t d, size_t i,
                        size_t j)
{
    for (size_t k = 0; k < d; k++) {
        double x = a[i * d + k], y = inverse[i * d + k];

        a[i * d + k] = a[j * d + k];
        a[j * d + k] = x;
        inverse[i * d + k] = inverse[j * d + k];
        inverse[j * d + k] = y;
    }
}

/* Take row i, scaled, off every other row. */
static void matrix_clear(double *a, double *inverse, size_t d, size_t i)
{
    double pivot = a[i * d + i];

    for (size_t k = 0; k < d; k++) {
        a[i * d + k] /= pivot;
        inverse[i * d + k] /= pivot;
    }
    for (size_t j = 0; j < d; j++) {
        double factor = a[j * d + i];

        if (j == i || factor == 0)
            continue;
        for (size_t k = 0; k < d; k++) {
            a[j * d + k] -= factor * a[i * d + k];
            inverse[j * d + k] -= factor * inverse[i * d + k];
        }
    }
}

bool hsy_matrix_invert(double *inverse, double *a, size_t d)
{
    for (size_t i = 0; i < d * d; i++)
        inverse[i] = i / d == i % d;
    for (size_t i = 0; i < d; i++) {
        size_t best = i;

        for (size_t j = i + 1; j < d; j++)
            if (matrix_size(a[j * d + i]) > matrix_size(a[best * d + i]))
                best = j;
        if (matrix_size(a[best * d + i]) < 1e-12)
            return false;
        matrix_swap(a, inverse, d, i, best);
        matrix_clear(a, inverse, d, i);
    }
    return true;
}

double hsy_matrix_condition(const double *inverse, size_t d)
{
    double most = 0;

    for (size_t y = 0; y < d; y++) {
        double sum = 0;

        for (size_t x = 0; x < d; x++)
            sum += matrix_size(inverse[x * d + y]);
        most = sum > most ? sum : most;
    }
    return most;
}

static hsy_status matrix_conditioned(const uint64_t *entries, size_t d,
                                     uint64_t total, hsy_error *err)
{
    double a[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    double inverse[HSY_MATRIX_MAX * HSY_MATRIX_MAX];

    for (size_t i = 0; i < d * d; i++)
        a[i] = (double)entries[i] / (double)total;
    if (!hsy_matrix_invert(inverse, a, d))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                        "it is singular: some mixtures of truths are answered "
                        "alike");
    if (!(hsy_matrix_condition(inverse, d) <= MATRIX_WORST_CONDITION))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                              "it is ill-conditioned: estimates would be noise",
                              (uint64_t)MATRIX_WORST_CONDITION);
    return HSY_OK;
}

/* ---- The scheme ---------------------------------------------------------- */

/* Size and denominator, which the rest takes for granted. */
static hsy_status matrix_shape(hsy_scheme *s, const hsy_spec *spec,
                               hsy_error *err)
{
    if (spec->design != HSY_DESIGN_MATRIX)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN,
                        "give the matrix of probabilities");
    for (size_t i = 0; i < HSY_CHANCES; i++)
        if (spec->chance[i].num != 0 || spec->chance[i].den != 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "the probabilities are those of the matrix");
    s->total = bytes_get64(spec->labels);
    if (s->total < 2 || s->total > HSY_MATRIX_TOTAL)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                              "its denominator is from 2 to 2^40",
                              HSY_MATRIX_TOTAL);
    return HSY_OK;
}

static hsy_status matrix_resolve(hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    uint64_t entries[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    size_t d = s->d;
    hsy_factor worst;
    hsy_status st = matrix_shape(s, spec, err);

    if (st == HSY_OK)
        st = matrix_columns(s, spec, err);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < d * d; i++)
        entries[i] = matrix_given(spec, i / d, i % d);
    st = matrix_conditioned(entries, d, s->total, err);
    if (st != HSY_OK)
        return st;
    worst = matrix_worst(entries, d);
    st = hsy_mech_claim(s, hsy_exp_cover(worst.num, worst.den), err);
    if (st != HSY_OK)
        return st;
    s->design = spec->design;
    s->coin = hsy_prob_base(s->total);
    s->report_bits = report_bits_of(d);
    s->report_bytes = 1;
    s->cells = d;
    return HSY_OK;
}

/* ---- Reports ------------------------------------------------------------- */

/* The answer of a word to a truth: the truth's sums are picked from all. The
 * word is looked at last: before, it would be put aside on a stack that nobody
 * wipes. */
static uint64_t matrix_answer(const hsy_scheme *s, uint64_t code,
                              const uint64_t *word)
{
    const uint64_t *sums = matrix_sums(s);
    uint64_t row[HSY_MATRIX_MAX] = {0}, answer = 0;
    const size_t last = s->d - 1; /* its sum is above every word */

    for (uint64_t x = 0; x < s->d; x++) {
        uint64_t own = ct_hide(ct_equal(x, code));

        for (size_t y = 0; y < last; y++)
            row[y] |= sums[x * s->d + y] & own;
    }
    for (size_t y = 0; y < last; y++)
        answer += ct_hide(~ct_less(*word, row[y])) & 1;
    bytes_wipe(row, last * sizeof *row);
    return answer;
}

static hsy_status matrix_randomize(const hsy_scheme *s, uint8_t *reports,
                                   const uint64_t *codes, size_t n,
                                   hsy_coins *coins)
{
    uint64_t words[MATRIX_BLOCK];
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += MATRIX_BLOCK) {
        size_t m = n - done < MATRIX_BLOCK ? n - done : MATRIX_BLOCK;

        st = draw_words(words, m, &coins->secret);
        for (size_t i = 0; i < m && st == HSY_OK; i++) {
            if (ct_public(ct_less(s->coin.last, words[i])) != 0)
                st = hsy_prob_word(&words[i], &s->coin, &coins->secret);
            reports[done + i] =
                (uint8_t)matrix_answer(s, codes[done + i], &words[i]);
        }
    }
    bytes_wipe(words, (n < MATRIX_BLOCK ? n : MATRIX_BLOCK) * sizeof *words);
    return st;
}

/* ---- Estimates ----------------------------------------------------------- */

static double matrix_chance(const hsy_scheme *s, size_t y, size_t x)
{
    return (double)matrix_entries(s)[y * s->d + x] / (double)s->total;
}

static void matrix_inverse(const hsy_scheme *s, double *inverse, double *room)
{
    for (size_t i = 0; i < (size_t)s->d * s->d; i++)
        room[i] = (double)matrix_entries(s)[i] / (double)s->total;
    hsy_matrix_invert(inverse, room, s->d); /* resolve has seen that it can */
}

/* Sum over y of inverse[v][y]^2 times rate[y]. */
static double matrix_second(const double *inverse, const double *rate, size_t d,
                            size_t v)
{
    double sum = 0;

    for (size_t y = 0; y < d; y++)
        sum += inverse[v * d + y] * inverse[v * d + y] * rate[y];
    return sum;
}

/* n Var at share 1 of v: everybody answers by column v. */
static double matrix_own(const hsy_scheme *s, const double *inverse, size_t v)
{
    double column[HSY_MATRIX_MAX];

    for (size_t y = 0; y < s->d; y++)
        column[y] = matrix_chance(s, y, v);
    return matrix_second(inverse, column, s->d, v) - 1;
}

/*
 * n Var at share 0 of v: everybody answers by the columns of the others, mixed
 * as they share (NULL: evenly). Mixing columns, not what was seen of answers,
 * keeps the noise of v's own estimate out of it.
 */
static double matrix_other(const hsy_scheme *s, const double *inverse,
                           const double *shares, size_t v)
{
    double rest[HSY_MATRIX_MAX] = {0}, sum = 0;

    for (size_t x = 0; x < s->d; x++) {
        double share = x == v ? 0 : shares == NULL ? 1 : shares[x];

        share = share < 0 ? 0 : share;
        sum += share;
        for (size_t y = 0; y < s->d; y++)
            rest[y] += share * matrix_chance(s, y, x);
    }
    if (sum == 0)
        return matrix_other(s, inverse, NULL, v);
    return matrix_second(inverse, rest, s->d, v) / sum;
}

static void matrix_points(const hsy_scheme *s, hsy_evidence *points,
                          const hsy_tally *t, const uint64_t *codes,
                          size_t count, void *scratch)
{
    double *inverse = scratch, *room = inverse + (size_t)s->d * s->d;
    double shares[HSY_MATRIX_MAX] = {0}, n = (double)t->strata[0];

    matrix_inverse(s, inverse, room);
    for (size_t v = 0; v < s->d; v++)
        for (size_t y = 0; y < s->d; y++)
            shares[v] += inverse[v * s->d + y] * ((double)t->cells[y] / n);
    for (size_t i = 0; i < count; i++) {
        size_t v = codes != NULL ? (size_t)codes[i] : i;
        double own = matrix_own(s, inverse, v);

        points[i] = (hsy_evidence){
            .value = shares[v],
            .n = n,
            .support = (double)t->cells[v],
            .v0 = matrix_other(s, inverse, shares, v),
            .v1 = own < 0 ? 0 : own, /* never below but for rounding */
        };
    }
}

static size_t matrix_points_scratch(const hsy_scheme *s, size_t count)
{
    (void)count;
    return 2 * (size_t)s->d * s->d * sizeof(double);
}

/*
 * inverse diag(rate) inverse^T - diag(f): the answers' multinomial covariance,
 * less H diag(f) H^T for the people being fixed, which the inverse turns into
 * diag(f).
 */
static void matrix_covariance(const hsy_scheme *s, double *out,
                              const hsy_tally *t, void *scratch)
{
    double *inverse = scratch, *room = inverse + (size_t)s->d * s->d;
    size_t d = s->d;

    matrix_inverse(s, inverse, room);
    for (size_t v = 0; v < d; v++)
        for (size_t w = 0; w < d; w++) {
            double sum = 0;

            for (size_t y = 0; y < d; y++) {
                double rate = (double)t->cells[y] / (double)t->strata[0];

                sum +=
                    inverse[v * d + y] * rate * (inverse[w * d + y] - (v == w));
            }
            out[v * d + w] = sum;
        }
}

/* The worst value's, the others sharing evenly. */
static void matrix_variance(const hsy_scheme *s, double v[2])
{
    double inverse[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    double room[HSY_MATRIX_MAX * HSY_MATRIX_MAX];

    matrix_inverse(s, inverse, room);
    v[0] = v[1] = 0;
    for (size_t x = 0; x < s->d; x++) {
        double other = matrix_other(s, inverse, NULL, x);
        double own = matrix_own(s, inverse, x);

        v[0] = other > v[0] ? other : v[0];
        v[1] = own > v[1] ? own : v[1];
    }
}

static void matrix_forward(const hsy_scheme *s, double *out,
                           const double *theta, double *scratch)
{
    (void)scratch;
    for (size_t y = 0; y < s->d; y++) {
        out[y] = 0;
        for (size_t x = 0; x < s->d; x++)
            out[y] += matrix_chance(s, y, x) * theta[x];
    }
}

static void matrix_backward(const hsy_scheme *s, double *out,
                            const double *ratio, double *scratch)
{
    (void)scratch;
    for (size_t x = 0; x < s->d; x++) {
        out[x] = 0;
        for (size_t y = 0; y < s->d; y++)
            out[x] += matrix_chance(s, y, x) * ratio[y];
    }
}

/* ---- Laws ---------------------------------------------------------------- */

static size_t matrix_law(const hsy_scheme *s, hsy_factor *factors,
                         uint64_t code, const uint8_t *report)
{
    factors[0].num = matrix_entries(s)[report[0] * (size_t)s->d + code];
    factors[0].den = s->total;
    return 1;
}

static size_t matrix_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    factors[0] = matrix_worst(matrix_entries(s), s->d);
    return 1;
}

static const struct mech_channel matrix_likelihood = {
    .forward = matrix_forward,
    .backward = matrix_backward,
};

const struct mech_client hsy_mech_matrix_client = {
    .resolve = matrix_resolve,
    .randomize = matrix_randomize,
    .tail_size = matrix_tail_size,
    .settle = matrix_settle,
};

const struct mech_counting hsy_mech_matrix_counting = {
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};

const struct mech_estimate hsy_mech_matrix_estimate = {
    .errors = MECH_ERRORS_TOGETHER,
    .points = matrix_points,
    .points_scratch = matrix_points_scratch,
    .covariance = matrix_covariance,
    .variance = matrix_variance,
    .channel = &matrix_likelihood,
};

const struct mech_law hsy_mech_matrix_law = {
    .factors = 1,
    .of_code = matrix_law,
    .worst = matrix_law_worst,
};
