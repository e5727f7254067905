/*
 * post.c - estimates made consistent [Wang20]: free of privacy cost, at the
 * price of bias. docs/estimates.md says when to use which.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

/* The sum with its rounding errors carried along: Neumaier's. */
static double post_sum(const double *x, size_t count)
{
    double sum = 0, rest = 0;

    for (size_t i = 0; i < count; i++) {
        const double next = sum + x[i];

        rest += fabs(sum) >= fabs(x[i]) ? sum - next + x[i] : x[i] - next + sum;
        sum = next;
    }
    return sum + rest;
}

static void post_sift(double *x, size_t root, size_t count)
{
    const double value = x[root];

    for (;;) {
        size_t child = 2 * root + 1;

        if (child >= count)
            break;
        if (child + 1 < count && x[child + 1] < x[child])
            child++;
        if (x[child] >= value)
            break;
        x[root] = x[child];
        root = child;
    }
    x[root] = value;
}

void hsy_sort_down(double *x, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        post_sift(x, i, count);
    for (size_t end = count; end-- > 1;) {
        const double least = x[0];

        x[0] = x[end];
        x[end] = least;
        post_sift(x, 0, end);
    }
}

static void post_norm(double *out, size_t count)
{
    const double add = (1 - post_sum(out, count)) / (double)count;

    for (size_t i = 0; i < count; i++)
        out[i] += add;
}

/* Largest r with u_r + (1 - (u_1 + ... + u_r)) / r > 0, u sorted; then that
 * last quotient is added to all, and negatives become 0. */
static void post_norm_sub(double *out, size_t count, const double *sorted)
{
    double sum = 0, add = 0;

    for (size_t r = 0; r < count; r++) {
        double next;

        sum += sorted[r];
        next = (1 - sum) / (double)(r + 1);
        if (sorted[r] + next <= 0)
            break;
        add = next;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = fmax(out[i] + add, 0);
}

/* All shares alike if none is positive. */
static void post_norm_mul(double *out, size_t count)
{
    double sum;

    for (size_t i = 0; i < count; i++)
        out[i] = fmax(out[i], 0);
    sum = post_sum(out, count);
    for (size_t i = 0; i < count; i++)
        out[i] = sum > 0 ? out[i] / sum : 1 / (double)count;
}

/*
 * The largest are kept as long as their sum stays within 1; the first that
 * would pass it gets what is left, the others 0. Of equal values the earlier
 * one goes first.
 */
static void post_norm_cut(double *out, size_t count, const double *sorted)
{
    double sum = 0, edge = 0;
    size_t equal = 0, r = 0;

    while (r < count && sorted[r] > 0 && sum + sorted[r] <= 1)
        sum += sorted[r++];
    if (r < count && sorted[r] > 0)
        edge = sorted[r];
    while (equal < r && sorted[r - 1 - equal] == edge)
        equal++;
    for (size_t i = 0; i < count; i++) {
        if (out[i] > edge && out[i] > 0)
            continue;
        if (out[i] < edge || out[i] <= 0) {
            out[i] = 0;
        } else if (equal > 0) {
            equal--;
        } else {
            out[i] = 1 - sum;
            sum = 1;
        }
    }
}

/* A value counts if it passes what one of count empty values would pass with
 * chance 1/20 at most. */
static void post_base_cut(double *out, const hsy_evidence *points, size_t count)
{
    const double z = -hsy_normal_quantile(0.05 / (double)count);

    for (size_t i = 0; i < count; i++) {
        const double sd =
            sqrt(hsy_evidence_variance(&points[i], HSY_PEOPLE, 0));

        if (!(out[i] > z * sd))
            out[i] = 0;
    }
}

/*
 * The shares that make the counts of d-ary randomized response most likely
 * (docs/estimates.md, 4): with phi = count/n ascending, drop the least as
 * long as q s > (1 - k q) phi, s the mass and k the number dropped so far;
 * what remains has the share ((1 - k q) phi - s q) / (s (p - q)).
 */
static void post_mle(double *out, const hsy_evidence *points, size_t count,
                     const double *sorted)
{
    const double n = points[0].n, p = points[0].p, q = points[0].q;
    double s = 1, keep = 1; /* keep = 1 - k q */
    size_t left = count;

    while (left > 1 && q * s > keep * (sorted[left - 1] / n)) {
        s -= sorted[--left] / n;
        keep = 1 - (double)(count - left) * q;
    }
    for (size_t i = 0; i < count; i++) {
        const double phi = points[i].support / n;

        out[i] = fmax((keep * phi - s * q) / (s * (p - q)), 0);
        if (points[i].support < sorted[left - 1])
            out[i] = 0;
    }
}

/* Whether these are all counts of a mechanism whose report supports one value:
 * then, and only then, are they its whole likelihood. */
static hsy_status post_check_mle(const hsy_evidence *points, size_t count,
                                 hsy_error *err)
{
    const double p = points[0].p, q = points[0].q, n = points[0].n;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (points[i].p != p || points[i].q != q || points[i].n != n ||
            !(points[i].support >= 0) || points[i].residual_variance > 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POST,
                            "maximum likelihood needs plain counts");
        sum += points[i].support;
    }
    if (count == 1 ? p != q && hsy_evidence_shift(points) == 0
                   : p > q && q >= 0 && sum == n &&
                         fabs(p + (double)(count - 1) * q - 1) <= 1e-9)
        return HSY_OK;
    return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POST,
                    "maximum likelihood is for rr and grr only");
}

/* One point is the share of yes, and that of no is the rest: they make 1
 * already, and the nearest pair of shares is the clipped one. */
static void post_single(double *out, const hsy_evidence *points,
                        hsy_post method)
{
    if (method == HSY_POST_BASE_CUT)
        post_base_cut(out, points, 1);
    else if (method != HSY_POST_NONE && method != HSY_POST_NORM)
        out[0] = hsy_share_clip(out[0]);
}

static void post_apply(double *out, const hsy_evidence *points, size_t count,
                       hsy_post method, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = method == HSY_POST_MLE ? points[i].support : out[i];
    if (method == HSY_POST_NORM_SUB || method == HSY_POST_NORM_CUT ||
        method == HSY_POST_MLE || method == HSY_POST_POWER_NS)
        hsy_sort_down(scratch, count);
    switch (method) {
    case HSY_POST_NORM:
        post_norm(out, count);
        break;
    case HSY_POST_POWER_NS:
    case HSY_POST_NORM_SUB:
        post_norm_sub(out, count, scratch);
        break;
    case HSY_POST_NORM_MUL:
        post_norm_mul(out, count);
        break;
    case HSY_POST_NORM_CUT:
        post_norm_cut(out, count, scratch);
        break;
    case HSY_POST_BASE_CUT:
        post_base_cut(out, points, count);
        break;
    case HSY_POST_MLE:
        post_mle(out, points, count, scratch);
        break;
    case HSY_POST_POWER:
    case HSY_POST_EM:
    case HSY_POST_NONE:
        break;
    }
}

hsy_status hsy_post_process(double *out, const hsy_evidence *points,
                            size_t count, hsy_post method, double *scratch,
                            hsy_error *err)
{
    const bool power = method == HSY_POST_POWER || method == HSY_POST_POWER_NS;
    hsy_status st = HSY_OK;

    if (count == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_COUNT, "no values");
    if (method == HSY_POST_EM)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POST,
                        "EM takes the tally, not points: hsy_density");
    if ((unsigned)method > (unsigned)HSY_POST_EM)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_POST,
                        "no such post-processing");
    for (size_t i = 0; i < count && st == HSY_OK; i++)
        st = hsy_evidence_check(&points[i], err);
    if (st == HSY_OK && method == HSY_POST_MLE)
        st = post_check_mle(points, count, err);
    if (st == HSY_OK && power)
        st = hsy_post_power_check(points, count, err);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < count; i++)
        out[i] = points[i].value;
    if (power)
        hsy_post_power(out, points, count);
    if (count == 1)
        post_single(out, points, method);
    else
        post_apply(out, points, count, method, scratch);
    return HSY_OK;
}
