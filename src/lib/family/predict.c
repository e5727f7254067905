/* predict.c - which values' collisions are predicted, and taking them off. */
#include "lib/family/predict.h"

#define PREDICT_ROUNDS 5

size_t hsy_predict_scratch(size_t count)
{
    return count * (2 * sizeof(uint64_t) + 2 * sizeof(double)) +
           PREDICT_CHOSEN *
               (sizeof(double) + sizeof(uint64_t) + sizeof(uint32_t));
}

void *hsy_predict_open(struct predict *p, size_t count, void *scratch)
{
    p->count = count;
    p->room = scratch;
    p->support = p->room + count;
    p->counted = (double *)(p->support + count);
    p->value = p->counted + count;
    p->weight = p->value + count;
    p->few = (uint64_t *)(p->weight + PREDICT_CHOSEN);
    p->chosen = (uint32_t *)(p->few + PREDICT_CHOSEN);
    return p->chosen + PREDICT_CHOSEN;
}

static double predict_plain(const struct predict *p, size_t v)
{
    return (p->counted[v] / p->n - p->law.q) / p->law.gap;
}

void hsy_predict_plain(struct predict *p)
{
    for (size_t v = 0; v < p->count; v++)
        p->value[v] = predict_plain(p, v);
}

/* Variance of a value's estimate as far as reports are to blame. */
static double predict_variance(const struct predict *p, double f)
{
    f = f < 0 ? 0 : f > 1 ? 1 : f;
    return (f * p->v1 + (1 - f) * p->v0) / p->n;
}

/* The share that is predicted for a value: at most all, so that no counts
 * whatever make a prediction overflow. */
static double predict_share(const struct predict *p, size_t v)
{
    return p->value[v] < 1 ? p->value[v] : 1;
}

/* Where the code of chosen value i is chosen first: a list may name a code
 * twice, and it is predicted once. */
static size_t predict_first(const struct predict *p, size_t i)
{
    for (size_t k = 0; p->listed && k < i; k++)
        if (p->codes[p->chosen[k]] == p->codes[p->chosen[i]])
            return k;
    return i;
}

/* Fill in p->chosen: values more than `z` standard errors above zero. False if
 * there are too many of them for the prediction to settle. */
static bool predict_above(struct predict *p, double z)
{
    double different = 0;

    p->nchosen = 0;
    for (size_t v = 0; v < p->count; v++) {
        double f = p->value[v];
        double var = predict_variance(p, f) + p->kappa * p->residual;

        if (f <= 0 || f * f <= z * z * var)
            continue;
        if (p->nchosen == PREDICT_CHOSEN)
            return false;
        p->chosen[p->nchosen++] = (uint32_t)v;
        if (predict_first(p, p->nchosen - 1) == p->nchosen - 1)
            different++;
        if (different > p->most)
            return false;
    }
    return true;
}

/* Shares do not add up to more than all. Where liars make them, the prediction
 * would take a multiple of the lies off everything (docs/poisoning.md, 3). */
static void predict_together(struct predict *p)
{
    const double sum = p->predicted;

    if (sum <= 1)
        return;
    for (size_t i = 0; i < p->nchosen; i++)
        p->weight[i] /= sum;
    p->predicted = 1;
    p->squares /= sum * sum;
}

/*
 * Choose what is predicted. Feeding back estimates that are mere noise would
 * multiply it, and the matrix of collisions between m values has norm of about
 * 2 sqrt(kappa m), kappa by the hashes in use: 0.04 / kappa values, p->most,
 * keep the steps contracting.
 */
static void predict_choose(struct predict *p)
{
    double z = 4;

    while (!predict_above(p, z))
        z *= 2;
    p->predicted = 0;
    p->squares = 0;
    for (size_t i = 0; i < p->nchosen; i++) {
        bool known = predict_first(p, i) != i;

        p->weight[i] = known ? 0 : predict_share(p, p->chosen[i]);
        p->predicted += p->weight[i];
        p->squares += p->weight[i] * p->weight[i];
    }
    predict_together(p);
}

double hsy_predict_self(const struct predict *p, size_t *next, size_t v)
{
    if (*next == p->nchosen || p->chosen[*next] != v)
        return 0;
    return p->weight[predict_first(p, (*next)++)];
}

/* Subtract the predicted collisions from the plain estimates of all values, or
 * of the chosen alone. */
static void predict_correct(struct predict *p, bool all)
{
    size_t next = 0;

    for (size_t i = 0; i < p->nchosen; i++)
        p->few[i] = p->codes[p->chosen[i]];
    p->asked = all ? p->codes : p->few;
    p->nasked = all ? p->count : p->nchosen;
    p->sweep(p->ctx);
    for (size_t k = 0; k < p->nasked; k++) {
        size_t v = all ? k : p->chosen[k];
        double met = (double)p->support[k] / p->scale;
        double self = hsy_predict_self(p, &next, v);

        p->value[v] =
            predict_plain(p, v) -
            (met - self - (p->predicted - self) * p->meet) / p->not_meet;
    }
}

/* Jacobi steps, as long as collisions weigh anything against the noise. The
 * second step uses shares that the first has corrected, which therefore looks
 * at no others. */
void hsy_predict_settle(struct predict *p)
{
    for (int round = 0; round < PREDICT_ROUNDS; round++) {
        size_t before = p->nchosen;
        double left = p->kappa * p->residual;

        if (round != 1 && 100 * left < p->v0 / p->n)
            break;
        predict_choose(p);
        if (p->nchosen == 0)
            break;
        predict_correct(p, round > 0);
        if (round > 1 && p->nchosen == before)
            break;
    }
}
