/*
 * lies.c - reports of devices that lie, by kind of report [CJG21].
 *
 * A liar of maximal gain supports as many targets as one report can. Where a
 * report has a usual number of ones he fills up to it with others, so that the
 * mean of the weights tells nothing; their distribution does. With a public
 * pool of hash functions he takes the seeds that send most targets to one
 * value, all of them alike. docs/poisoning.md, 2
 */
#include "lib/family/lies.h"

#include "lib/bits/draw.h"
#include "lib/family/lh.h"
#include "lib/scheme/report.h"

/* A number below bound, each with the same chance. */
static hsy_status lies_below(uint64_t *out, uint64_t bound, hsy_rng *rng)
{
    return hsy_prob_below(out, bound, hsy_prob_excess(bound), rng);
}

static void lies_put(const hsy_scheme *s, uint8_t *reports, size_t i,
                     uint64_t report)
{
    report_put(reports + i * s->report_bytes, s->report_bytes, report);
}

/* ---- A value ------------------------------------------------------------- */

static hsy_ratio lies_output_share(const hsy_scheme *s)
{
    return (hsy_ratio){1, s->d};
}

static hsy_status lies_output_any(const hsy_scheme *s, uint8_t *reports,
                                  size_t n, hsy_rng *rng)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint64_t value = 0;

        st = lies_below(&value, s->d, rng);
        lies_put(s, reports, i, value);
    }
    return st;
}

static size_t lies_output_most(const hsy_scheme *s, const uint64_t *targets,
                               size_t r)
{
    (void)s;
    (void)targets;
    (void)r;
    return 1;
}

/* The targets in turn. */
static hsy_status lies_output_best(const hsy_scheme *s, uint8_t *reports,
                                   size_t n, const uint64_t *targets, size_t r,
                                   hsy_rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < n; i++)
        lies_put(s, reports, i, targets[i % r]);
    return HSY_OK;
}

const struct mech_lies hsy_lies_output = {lies_output_share, lies_output_any,
                                          lies_output_most, lies_output_best};

/* ---- Bits ---------------------------------------------------------------- */

/* Set the bit of value v; how many ones that adds. */
static size_t lies_set(uint8_t *report, uint64_t v)
{
    const uint8_t bit = (uint8_t)(1u << v % 8);
    const bool was = (report[v / 8] & bit) != 0;

    report[v / 8] |= bit;
    return was ? 0 : 1;
}

/* So many more ones, each among the first d bits with the same chance. There
 * is room for them. */
static hsy_status lies_fill(uint8_t *report, size_t more, uint64_t d,
                            hsy_rng *rng)
{
    hsy_status st = HSY_OK;

    while (more > 0 && st == HSY_OK) {
        uint64_t v = 0;

        st = lies_below(&v, d, rng);
        if (st == HSY_OK)
            more -= lies_set(report, v);
    }
    return st;
}

static void lies_clear(const hsy_scheme *s, uint8_t *reports, size_t n)
{
    for (size_t i = 0; i < n * s->report_bytes; i++)
        reports[i] = 0;
}

static hsy_ratio lies_bits_share(const hsy_scheme *s)
{
    (void)s;
    return (hsy_ratio){1, 2};
}

static hsy_status lies_bits_any(const hsy_scheme *s, uint8_t *reports, size_t n,
                                hsy_rng *rng)
{
    const size_t bytes = s->report_bytes;
    const uint8_t used = (uint8_t)(s->d % 8 == 0 ? 0xff : (1u << s->d % 8) - 1);
    hsy_status st = rng->fill(rng->ctx, reports, n * bytes);

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        reports[(i + 1) * bytes - 1] &= used;
    return st;
}

static size_t lies_bits_most(const hsy_scheme *s, const uint64_t *targets,
                             size_t r)
{
    (void)s;
    (void)targets;
    return r;
}

/* floor(p + (d - 1) q) ones, or the targets alone if they are more. */
static hsy_status lies_bits_best(const hsy_scheme *s, uint8_t *reports,
                                 size_t n, const uint64_t *targets, size_t r,
                                 hsy_rng *rng)
{
    const uint64_t usual =
        (uint64_t)((s->bits.own + (hsy_u128)(s->d - 1) * s->bits.other) >> 64);
    hsy_status st = HSY_OK;

    lies_clear(s, reports, n);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint8_t *report = reports + i * s->report_bytes;

        for (size_t k = 0; k < r; k++)
            lies_set(report, targets[k]);
        st = lies_fill(report, usual > r ? usual - r : 0, s->d, rng);
    }
    return st;
}

const struct mech_lies hsy_lies_bits = {lies_bits_share, lies_bits_any,
                                        lies_bits_most, lies_bits_best};

/* ---- Sets of w values ---------------------------------------------------- */

static size_t lies_set_size(const hsy_scheme *s)
{
    return (size_t)s->param[HSY_PARAM_SUBSET];
}

static hsy_ratio lies_set_share(const hsy_scheme *s)
{
    return (hsy_ratio){lies_set_size(s), s->d};
}

static hsy_status lies_set_any(const hsy_scheme *s, uint8_t *reports, size_t n,
                               hsy_rng *rng)
{
    hsy_status st = HSY_OK;

    lies_clear(s, reports, n);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = lies_fill(reports + i * s->report_bytes, lies_set_size(s), s->d,
                       rng);
    return st;
}

static size_t lies_set_most(const hsy_scheme *s, const uint64_t *targets,
                            size_t r)
{
    (void)targets;
    return r < lies_set_size(s) ? r : lies_set_size(s);
}

/* The targets from one of them on, in turn; then others. */
static hsy_status lies_set_best(const hsy_scheme *s, uint8_t *reports, size_t n,
                                const uint64_t *targets, size_t r, hsy_rng *rng)
{
    const size_t most = lies_set_most(s, targets, r);
    hsy_status st = HSY_OK;

    lies_clear(s, reports, n);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint8_t *report = reports + i * s->report_bytes;

        for (size_t k = 0; k < most; k++)
            lies_set(report, targets[(i + k) % r]);
        st = lies_fill(report, lies_set_size(s) - most, s->d, rng);
    }
    return st;
}

const struct mech_lies hsy_lies_set = {lies_set_share, lies_set_any,
                                       lies_set_most, lies_set_best};

/* ---- A seed and a hash --------------------------------------------------- */

static hsy_ratio lies_hash_share(const hsy_scheme *s)
{
    return (hsy_ratio){1, lh_range(s)};
}

static uint64_t lies_hash_report(const hsy_scheme *s, size_t j, uint64_t y)
{
    return (uint64_t)j | y << lh_pool_bits(s);
}

static hsy_status lies_hash_any(const hsy_scheme *s, uint8_t *reports, size_t n,
                                hsy_rng *rng)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        uint64_t j = 0, y = 0;

        st = lies_below(&j, lh_pool(s), rng);
        if (st == HSY_OK)
            st = lies_below(&y, lh_range(s), rng);
        lies_put(s, reports, i, lies_hash_report(s, j, y));
    }
    return st;
}

/* Under seed j: how many targets have the hash that most of them have, and
 * that hash. */
static size_t lies_hash_load(const hsy_scheme *s, size_t j,
                             const uint64_t *targets, size_t r, uint32_t *hash)
{
    const struct pool_hash function = lh_function(s, j);
    uint32_t own[HSY_TARGETS_MAX];
    size_t most = 0;

    for (size_t i = 0; i < r; i++)
        own[i] = lh_hash(s, &function, targets[i]);
    for (size_t i = 0; i + most < r; i++) {
        size_t load = 0;

        for (size_t k = i; k < r; k++)
            load += own[k] == own[i];
        if (load > most) {
            most = load;
            *hash = own[i];
        }
    }
    return most;
}

/* Over the pool, and how many seeds reach it. */
static size_t lies_hash_scan(const hsy_scheme *s, const uint64_t *targets,
                             size_t r, size_t *seeds)
{
    size_t most = 0;
    uint32_t hash = 0;

    for (size_t j = 0; j < lh_pool(s); j++) {
        size_t load = lies_hash_load(s, j, targets, r, &hash);

        *seeds = load > most ? 1 : *seeds + (load == most);
        most = load > most ? load : most;
    }
    return most;
}

static size_t lies_hash_most(const hsy_scheme *s, const uint64_t *targets,
                             size_t r)
{
    size_t seeds = 0;

    return lies_hash_scan(s, targets, r, &seeds);
}

/* The best seeds in turn, from one of them on: few reports of many liars do not
 * all begin at the same. */
static hsy_status lies_hash_best(const hsy_scheme *s, uint8_t *reports,
                                 size_t n, const uint64_t *targets, size_t r,
                                 hsy_rng *rng)
{
    size_t seeds = 0, found = 0;
    const size_t most = lies_hash_scan(s, targets, r, &seeds);
    uint64_t first = 0;
    hsy_status st = lies_below(&first, seeds, rng);

    for (size_t j = 0; j < lh_pool(s) && st == HSY_OK; j++) {
        uint32_t hash = 0;

        if (lies_hash_load(s, j, targets, r, &hash) != most)
            continue;
        for (size_t i = (found + seeds - first) % seeds; i < n; i += seeds)
            lies_put(s, reports, i, lies_hash_report(s, j, hash));
        found++;
    }
    return st;
}

const struct mech_lies hsy_lies_hash = {lies_hash_share, lies_hash_any,
                                        lies_hash_most, lies_hash_best};
