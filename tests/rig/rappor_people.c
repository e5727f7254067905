/* rappor_people.c - see rappor_people.h. */

#include "rig/rappor_people.h"

static double people_uniform(struct people *p)
{
    uint64_t word;

    p->rng.fill(p->rng.ctx, &word, sizeof word);
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

/* A binomial count: exact by inversion where its variance is small, else a
 * rounded normal, whose error is far below what any test here can see. */
static double people_binomial(struct people *p, double n, double q)
{
    const double variance = n * q * (1 - q);
    double count = 0, term, sum, coin;

    if (n < 1 || q <= 0 || q >= 1)
        return q >= 1 ? n : 0;
    if (variance > 50) {
        count = floor(n * q + 0.5 +
                      sqrt(variance) * hsy_normal_quantile(people_uniform(p)));
        return fmin(fmax(count, 0), n);
    }
    if (q > 0.5)
        return n - people_binomial(p, n, 1 - q);
    coin = people_uniform(p);
    term = sum = exp(n * log1p(-q));
    while (coin > sum && count < n) {
        term *= (n - count) / (count + 1) * q / (1 - q);
        sum += term;
        count++;
    }
    return count;
}

/* The weight of the string at a rank, counted from 0. */
static double people_weight(const struct people_shape *shape, size_t rank)
{
    const double all = (double)(shape->real + shape->unlisted);

    return shape->decay > 0 ? exp(-shape->decay * (double)rank / all)
                            : pow((double)rank + 1, -shape->power);
}

void people_open(struct people *p, const struct people_shape *shape,
                 double noise)
{
    const size_t strings = shape->real + shape->bogus + shape->unlisted;
    double all = 0;

    memset(p, 0, sizeof *p);
    p->shape = *shape;
    p->strings = strings;
    hsy_rappor_channel(
        &p->law,
        &(hsy_rappor_noise){
            .k = shape->k, .h = shape->h, .f = noise, .p = 0.25, .q = 0.75},
        NULL);
    p->share = trial_memory(strings * sizeof *p->share);
    p->held = trial_memory(strings * sizeof *p->held);
    p->bits = trial_memory(strings * shape->m * shape->h * sizeof *p->bits);
    p->totals = trial_memory(shape->m * sizeof *p->totals);
    p->ones = trial_memory((size_t)shape->m * shape->k * sizeof *p->ones);
    p->set = trial_memory(shape->k * sizeof *p->set);
    p->data = (hsy_rappor_data){.size = sizeof p->data,
                                .k = shape->k,
                                .h = shape->h,
                                .m = shape->m,
                                .p = p->law.p,
                                .q = p->law.q,
                                .totals = p->totals,
                                .ones = p->ones,
                                .candidates = shape->real + shape->bogus,
                                .bits = p->bits};
    p->shares = trial_memory(p->data.candidates * sizeof *p->shares);
    p->scratch = trial_memory(hsy_rappor_scratch(&p->data));
    /* Listed and unlisted ones take turns down the ranks. */
    for (size_t rank = 0, listed = 0, other = 0;
         rank < shape->real + shape->unlisted; rank++) {
        const bool hide =
            listed == shape->real ||
            other * (shape->real + shape->unlisted) < rank * shape->unlisted;
        size_t at = hide && other < shape->unlisted
                        ? shape->real + shape->bogus + other++
                        : listed++;

        all += p->share[at] = people_weight(shape, rank);
    }
    for (size_t i = 0; i < strings; i++)
        p->share[i] /= all;
}

void people_close(struct people *p)
{
    free(p->share);
    free(p->held);
    free(p->bits);
    free(p->totals);
    free(p->ones);
    free(p->set);
    free(p->shares);
    free(p->scratch);
}

/* Who holds what in a cohort of n, and which bits that sets. */
static void people_cohort(struct people *p, uint32_t c, double n)
{
    double left = n, rest = 1;

    memset(p->set, 0, p->shape.k * sizeof *p->set);
    for (size_t s = 0; s < p->strings; s++) {
        const uint16_t *bits = p->bits + (s * p->shape.m + c) * p->shape.h;
        double count;

        if (p->share[s] == 0)
            continue;
        count = people_binomial(p, left, fmin(1, p->share[s] / rest));
        left -= count;
        rest = fmax(rest - p->share[s], 1e-12);
        p->held[s] += count;
        for (uint32_t t = 0; t < p->shape.h; t++) {
            bool again = false;

            for (uint32_t u = 0; u < t; u++)
                again = again || bits[u] == bits[t];
            p->set[bits[t]] += again ? 0 : count;
        }
    }
    for (uint32_t b = 0; b < p->shape.k; b++) {
        double set = fmin(p->set[b], n);

        p->ones[(size_t)c * p->shape.k + b] =
            (uint64_t)(people_binomial(p, set, p->law.q) +
                       people_binomial(p, n - set, p->law.p));
    }
}

void people_draw(struct people *p, uint64_t seed, uint64_t lane)
{
    double left = p->shape.n;

    hsy_stream_seed(&p->stream, seed, lane);
    p->rng = hsy_stream_rng(&p->stream);
    memset(p->held, 0, p->strings * sizeof *p->held);
    for (size_t i = 0; i < p->strings * p->shape.m * p->shape.h; i++)
        p->bits[i] = (uint16_t)(people_uniform(p) * p->shape.k);
    for (uint32_t c = 0; c < p->shape.m; c++) {
        double n = people_binomial(p, left, 1.0 / (p->shape.m - c));

        left -= n;
        p->totals[c] = (uint64_t)n;
        people_cohort(p, c, n);
    }
    for (size_t s = 0; s < p->strings; s++)
        p->held[s] /= p->shape.n;
}

hsy_status people_decode(struct people *p, const hsy_rappor_options *options,
                         hsy_error *err)
{
    return hsy_rappor_decode(&p->data, p->shares, &p->summary, options,
                             p->scratch, err);
}
