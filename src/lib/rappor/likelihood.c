/* likelihood.c - how likely each string makes a RAPPOR report. */
#include "lib/core/fail.h"
#include "lib/rappor/internal.h"

#include <math.h>

/* ---- Strings outside the list -------------------------------------------- */

/* What a bit has beyond the candidates' shares. */
static double likelihood_left(const hsy_rappor_data *data, const double *shares,
                              uint32_t cohort, uint32_t bit, double rate)
{
    for (size_t s = 0; s < data->candidates; s++) {
        const uint16_t *bits = data->bits + (s * data->m + cohort) * data->h;
        bool sets = false;

        for (uint32_t t = 0; t < data->h; t++)
            sets = sets || bits[t] == bit;
        rate -= sets ? shares[s] : 0;
    }
    return rate;
}

static double likelihood_variance(const hsy_rappor_data *data, double n,
                                  double rate)
{
    const double x = fmin(fmax(rate, 0), 1);
    const double r = x * data->q + (1 - x) * data->p, gap = data->q - data->p;

    return r * (1 - r) / (gap * gap * n);
}

/* The chance from data alone, of a cohort that has reports, and its variance.
 */
static double likelihood_raw(const hsy_rappor_data *data, const double *shares,
                             double rest, size_t at, double *variance)
{
    const uint32_t cohort = (uint32_t)(at / data->k);
    const double n = (double)data->totals[cohort];
    const double rate =
        ((double)data->ones[at] / n - data->p) / (data->q - data->p);

    *variance = likelihood_variance(data, n, rate) / (rest * rest);
    return likelihood_left(data, shares, cohort, (uint32_t)(at % data->k),
                           rate) /
           rest;
}

/*
 * How far one report moves the chance of a bit, for each unit by which it
 * differs from its cohort's mean. Without report y of n the rate is
 *     ((ones - y) / (n - 1) - p) / (q - p),
 * which is (ones / n - y) / ((n - 1) (q - p)) more than with it.
 */
static double likelihood_pull(const hsy_rappor_data *data, size_t at,
                              double weight)
{
    const uint64_t n = data->totals[at / data->k];

    return n > 1 ? weight / ((double)(n - 1) * (data->q - data->p)) : 0;
}

hsy_status hsy_rappor_other(const hsy_rappor_data *data, double *other,
                            const double *shares, hsy_error *err)
{
    const size_t cells = (size_t)data->m * data->k;
    hsy_status st = hsy_rappor_check(data, false, err);
    double rest = 1, usual, spread = 0, noise = 0, signal, count = 0, variance;

    if (st != HSY_OK)
        return st;
    for (size_t s = 0; s < data->candidates; s++) {
        if (!(shares[s] >= 0))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_SHARES,
                               "must not be negative", HSY_UNIT_CANDIDATE,
                               s + 1);
        rest -= shares[s];
    }
    if (!(rest > 0))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARES,
                        "nothing is left for other strings");
    usual = 1 - pow(1 - 1 / (double)data->k, data->h);
    for (size_t i = 0; i < cells; i++) {
        if (data->totals[i / data->k] == 0)
            continue;
        other[i] = likelihood_raw(data, shares, rest, i, &variance) - usual;
        spread += other[i] * other[i];
        noise += variance;
        count++;
    }
    /* How much the chances differ from bit to bit, beyond noise. */
    signal = count > 0 ? fmax(0, (spread - noise) / count) : 0;
    for (size_t i = 0; i < cells; i++) {
        double keep = 0;

        if (data->totals[i / data->k] == 0) {
            other[i] = 0;
        } else {
            likelihood_raw(data, shares, rest, i, &variance);
            keep = signal > 0 ? signal / (signal + variance) : 0;
        }
        other[i] = usual + keep * other[i];
        other[cells + i] = likelihood_pull(data, i, keep / rest);
    }
    return HSY_OK;
}

/* ---- Reports ------------------------------------------------------------- */

/* The logarithm of a product that may have zeros in it. */
struct likelihood_log {
    double log;
    int zeros;
};

static void likelihood_times(struct likelihood_log *x, double p, int sign)
{
    if (p > 0)
        x->log += sign * log(p);
    else
        x->zeros += sign;
}

static bool likelihood_bit(const uint8_t *word, uint32_t bit)
{
    return word[bit / 8] >> bit % 8 & 1;
}

/* chance[set][reported] */
struct likelihood_law {
    double chance[2][2];
};

/* The report of a filter without a bit, from which candidates differ in few. */
static struct likelihood_log likelihood_empty(const hsy_rappor_data *data,
                                              const struct likelihood_law *law,
                                              const uint8_t *word)
{
    struct likelihood_log x = {0};
    uint32_t ones = 0;

    for (uint32_t b = 0; b < data->k; b++)
        ones += likelihood_bit(word, b);
    for (int bit = 0; bit < 2; bit++) {
        const uint32_t count = bit ? ones : data->k - ones;

        if (law->chance[0][bit] > 0)
            x.log += count * log(law->chance[0][bit]);
        else
            x.zeros += (int)count;
    }
    return x;
}

static struct likelihood_log
likelihood_candidate(const hsy_rappor_data *data,
                     const struct likelihood_law *law, struct likelihood_log x,
                     const uint8_t *word, const uint16_t *bits)
{
    for (uint32_t t = 0; t < data->h; t++) {
        const bool bit = likelihood_bit(word, bits[t]);
        bool again = false;

        for (uint32_t u = 0; u < t; u++)
            again = again || bits[u] == bits[t];
        if (again)
            continue;
        likelihood_times(&x, law->chance[0][bit], -1);
        likelihood_times(&x, law->chance[1][bit], 1);
    }
    return x;
}

/*
 * Chances are those that all reports but this one give: from its own bits a
 * report would look like a string nobody listed, whatever it is. They may lie
 * outside 0 to 1, as estimates do, and are left there: a bit's likelihood is
 * linear in its chance, so noise in chances cancels out over the reports, and
 * would not if it were cut on one side. Only the probability of a 1 is kept
 * above half of the least, and below where a 0 has half of its least.
 */
static struct likelihood_log likelihood_other(const hsy_rappor_data *data,
                                              const uint8_t *word,
                                              const double *other,
                                              uint32_t cohort)
{
    const size_t first = (size_t)cohort * data->k;
    const double *chance = other + first;
    const double *pull = chance + (size_t)data->m * data->k;
    const double n = fmax(1, (double)data->totals[cohort]);
    const double least = fmin(data->p, data->q) / 2;
    const double most = (1 + fmax(data->p, data->q)) / 2;
    struct likelihood_log x = {0};

    for (uint32_t b = 0; b < data->k; b++) {
        const bool bit = likelihood_bit(word, b);
        const double mean = (double)data->ones[first + b] / n;
        const double set = chance[b] + pull[b] * (mean - bit);
        const double one = data->p + set * (data->q - data->p);
        const double kept = fmin(fmax(one, least), most);

        likelihood_times(&x, bit ? kept : 1 - kept, 1);
    }
    return x;
}

/* Log-likelihoods become likelihoods, the largest 1; false if all are 0. */
static bool likelihood_scale(double *row, size_t count)
{
    double most = -INFINITY;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, row[i]);
    for (size_t i = 0; i < count && most > -INFINITY; i++)
        row[i] = exp(row[i] - most);
    return most > -INFINITY;
}

hsy_status hsy_rappor_likelihood(const hsy_rappor_data *data, double *rows,
                                 const double *other, const uint8_t *words,
                                 size_t stride, const uint32_t *cohorts,
                                 size_t n, hsy_error *err)
{
    const struct likelihood_law law = {
        {{1 - data->p, data->p}, {1 - data->q, data->q}}};
    const size_t count = data->candidates + (other != NULL);
    hsy_status st = hsy_rappor_check(data, false, err);

    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        const uint8_t *word = words + i * stride;
        const uint32_t c = cohorts[i];
        double *row = rows + i * count;
        struct likelihood_log empty, x;

        if (c >= data->m)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_COHORT,
                               "is not below the number of cohorts",
                               HSY_UNIT_REPORT, i + 1);
        empty = likelihood_empty(data, &law, word);
        for (size_t s = 0; s < count; s++) {
            x = s < data->candidates
                    ? likelihood_candidate(data, &law, empty, word,
                                           data->bits +
                                               (s * data->m + c) * data->h)
                    : likelihood_other(data, word, other, c);
            row[s] = x.zeros > 0 ? -INFINITY : x.log;
        }
        if (!likelihood_scale(row, count))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_WORDS,
                               "no category can give this report",
                               HSY_UNIT_REPORT, i + 1);
    }
    return st;
}
