/*
 * central.c - a trusted curator's release: counts of its own people with
 * discrete Laplace noise [GRS12], made once, by the exact sampler of
 * central_noise.c. There are no reports: the tally is what is released.
 *
 * Two rows, by what a neighbour of a set of people is:
 *
 *     central              one person has another truth (replace); how many
 *                          people there are is no secret
 *     central-add-remove   one person more or less; the number of people is
 *                          part of what is hidden
 *
 *     cells           noise r = e^-x           cells            noise
 *     replace                                  add, remove
 *     yes/no   n, yes        yes: epsilon      no, yes          epsilon
 *     values   n, c_0 ..     c_v: epsilon / 2  c_0 ..           epsilon
 *     number   n, sum j      epsilon / R       n, sum 2j - R    epsilon / 2,
 *                                                               epsilon / 2R
 *
 * A number is rounded to the nearest j of the R + 1 points of a grid, R the
 * range's own steps or 2^30. Stratum 0 counts releases: those of several
 * curators add up like any tallies.
 *
 * Privacy. epsilon as claimed, exactly: x is the rational nano-epsilon / (10^9
 * times what one person can move), and nothing is rounded.
 *                                         docs/mechanisms/central.md, Thm 1
 */
#include "lib/mech/central.h"

#include "lib/bits/bytes.h"
#include "lib/bits/draw.h"
#include "lib/core/fail.h"
#include "lib/mech/mechanisms.h"

#include <string.h>

#define CENTRAL_GRID ((uint64_t)1 << 30)
#define CENTRAL_MOST ((int64_t)1 << 62) /* of a cell before its noise */
#define CENTRAL_WORDS 128               /* drawn at once */
#define CENTRAL_OPEN 28                 /* the id of central-add-remove */

/* Whether the number of people is hidden too. By the id, for a small client has
 * neither row. */
static bool central_open(const hsy_scheme *s)
{
    return s->mech->row.id == CENTRAL_OPEN;
}

/* Whether cells count values, and the cell of value 0. */
static bool central_counts(const hsy_scheme *s)
{
    return s->kind == HSY_KIND_VALUES || s->kind == HSY_KIND_BINS ||
           (s->kind == HSY_KIND_YES_NO && central_open(s));
}

static size_t central_first(const hsy_scheme *s)
{
    return central_open(s) ? 0 : 1;
}

static hsy_status central_resolve(hsy_scheme *s, const hsy_spec *spec,
                                  hsy_error *err)
{
    uint64_t width = (uint64_t)s->hi - (uint64_t)s->lo;

    (void)spec;
    (void)err;
    s->cells = central_counts(s) ? s->d + central_first(s) : 2;
    s->report_bits = 1; /* of none: check refuses whatever stands there */
    s->report_bytes = 1;
    s->law = LAW_RELEASE;
    if (s->kind == HSY_KIND_NUMBER)
        s->release.grid = width < CENTRAL_GRID ? width : CENTRAL_GRID;
    return HSY_OK;
}

/* The noise of a cell is of r = e^(-nano / scale); 0: it has none. At most
 * 2 10^9 2^30 < 2^61. */
static uint64_t central_scale(const hsy_scheme *s, size_t cell)
{
    if (!central_open(s))
        return cell == 0                    ? 0
               : s->kind == HSY_KIND_YES_NO ? HSY_NANO
               : s->kind == HSY_KIND_NUMBER ? HSY_NANO * s->release.grid
                                            : 2 * (uint64_t)HSY_NANO;
    if (s->kind != HSY_KIND_NUMBER)
        return HSY_NANO;
    return cell == 0 ? 2 * (uint64_t)HSY_NANO : 2 * HSY_NANO * s->release.grid;
}

/* ---- Counting people ----------------------------------------------------- */

/* The grid point nearest to code of 0 .. width, halves up. Binary digits of
 * code / width, 2^30 of them to the range. */
static uint64_t central_point(const hsy_scheme *s, uint64_t code)
{
    uint64_t width = (uint64_t)s->hi - (uint64_t)s->lo;
    uint64_t step = code / width, rest = code % width;

    if (s->release.grid == width)
        return code;
    for (uint64_t unit = CENTRAL_GRID; unit > 1; unit /= 2) {
        step = 2 * step + (2 * rest >= width);
        rest = 2 * rest % width; /* width < 2^63 */
    }
    return step + (2 * rest >= width);
}

/* What a person adds, and to which cell, beside one to the number of people. */
static void central_place(const hsy_scheme *s, uint64_t code, size_t *cell,
                          int64_t *adds)
{
    *cell = central_counts(s) ? central_first(s) + (size_t)code : 1;
    *adds = 1;
    if (s->kind == HSY_KIND_YES_NO && !central_open(s))
        *adds = (int64_t)code;
    if (s->kind == HSY_KIND_NUMBER)
        *adds = (int64_t)central_point(s, code);
    if (s->kind == HSY_KIND_NUMBER && central_open(s))
        *adds = 2 * *adds - (int64_t)s->release.grid;
}

static hsy_status central_fits(const hsy_tally *t, const hsy_scheme *s,
                               hsy_error *err)
{
    if (!mech_central(s->mech))
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_MECHANISM,
                        "its people report for themselves");
    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    if (t->strata[0] != 0)
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_TALLY,
                        "it is released already, and that is done once");
    return HSY_OK;
}

/* Count so many people of one code; false if a cell has no room. */
static bool central_put(hsy_tally *t, const hsy_scheme *s, uint64_t code,
                        uint64_t people)
{
    size_t cell;
    int64_t adds;

    central_place(s, code, &cell, &adds);
    return people <= (uint64_t)CENTRAL_MOST &&
           !__builtin_mul_overflow(adds, (int64_t)people, &adds) &&
           !__builtin_add_overflow(t->cells[cell], adds, &t->cells[cell]) &&
           ((central_counts(s) && central_open(s)) ||
            !__builtin_add_overflow(t->cells[0], (int64_t)people,
                                    &t->cells[0]));
}

hsy_status hsy_central_count_many(hsy_tally *t, const hsy_scheme *s,
                                  const uint64_t *codes, const uint64_t *people,
                                  size_t n, hsy_error *err)
{
    hsy_status st = central_fits(t, s, err);

    if (st != HSY_OK)
        return st;
    if (!hsy_codes_inside(s, codes, n))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH,
                        "a value is outside the domain");
    for (size_t i = 0; i < n; i++)
        if (!central_put(t, s, codes[i], people != NULL ? people[i] : 1))
            return hsy_fail(err, HSY_E_OVERFLOW, HSY_FIELD_PEOPLE,
                            "too many people");
    return HSY_OK;
}

hsy_status hsy_central_count(hsy_tally *t, const hsy_scheme *s,
                             const uint64_t *codes, size_t n, hsy_error *err)
{
    return hsy_central_count_many(t, s, codes, NULL, n, err);
}

/* ---- Noise --------------------------------------------------------------- */

/* Words drawn many at a time: a draw of the kernel's is a system call. */
struct central_words {
    hsy_rng *from;
    size_t left;
    uint64_t word[CENTRAL_WORDS];
};

static hsy_status central_fill(void *ctx, void *buf, size_t len)
{
    struct central_words *w = ctx;

    if (len != sizeof w->word[0])
        return HSY_E_ENTROPY; /* hsy_prob_below asks for a word at a time */
    if (w->left == 0) {
        hsy_status st = w->from->fill(w->from->ctx, w->word, sizeof w->word);

        if (st != HSY_OK)
            return st;
        w->left = CENTRAL_WORDS;
    }
    memcpy(buf, &w->word[--w->left], len);
    bytes_wipe(&w->word[w->left], len);
    return HSY_OK;
}

static hsy_status central_add(const hsy_scheme *s, hsy_tally *t, hsy_rng *rng)
{
    for (size_t i = 0; i < t->ncells; i++) {
        uint64_t scale = central_scale(s, i);
        int64_t noise = 0;
        hsy_status st = HSY_OK;

        if (scale != 0)
            st = hsy_central_noise(&noise, s->nano_epsilon, scale, rng);
        if (st != HSY_OK)
            return st;
        /* Both are below 2^62 in size: noise is, see docs, unless the source
         * is broken. */
        if (__builtin_add_overflow(t->cells[i], noise, &t->cells[i]))
            return HSY_E_ENTROPY;
    }
    return HSY_OK;
}

static bool central_room(const hsy_tally *t)
{
    for (size_t i = 0; i < t->ncells; i++)
        if (t->cells[i] > CENTRAL_MOST || t->cells[i] < -CENTRAL_MOST)
            return false;
    return true;
}

hsy_status hsy_central_release(hsy_tally *t, const hsy_scheme *s,
                               hsy_rng *secret, hsy_error *err)
{
    struct central_words words = {.from = secret};
    hsy_rng rng = {central_fill, &words};
    hsy_status st = central_fits(t, s, err);

    if (st != HSY_OK)
        return st;
    if (!central_room(t))
        return hsy_fail(err, HSY_E_OVERFLOW, HSY_FIELD_PEOPLE,
                        "too many people");
    st = central_add(s, t, &rng);
    bytes_wipe(&words, sizeof words);
    if (st != HSY_OK) {
        bytes_wipe(t->cells, t->ncells * sizeof *t->cells);
        return hsy_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                        "the random source failed; nothing is released");
    }
    t->strata[0] = 1;
    return HSY_OK;
}

/* ---- Estimates ----------------------------------------------------------- */

double hsy_central_people(const hsy_scheme *s, const hsy_tally *t)
{
    double sum = 0;

    if (!mech_central(s->mech))
        return 0;
    if (!central_open(s) || !central_counts(s))
        return (double)t->cells[0];
    for (size_t i = 0; i < t->ncells; i++)
        sum += (double)t->cells[i];
    return sum;
}

/* 2r / (1-r)^2 of r = e^-x, x > 0: e^-x - 1 by its series at x / 2^k, then
 * doubled k times. */
static double central_variance_of(double x)
{
    double y = x, term = 1, less = 0;
    int doublings = 0;

    for (; y > 0.0625; y /= 2)
        doublings++;
    for (int k = 1; k < 12; k++) {
        term *= -y / k;
        less += term;
    }
    for (; doublings > 0; doublings--)
        less *= 2 + less;
    return 2 * (1 + less) / (less * less);
}

static double central_variance_rate(const hsy_scheme *s, size_t cell)
{
    return (double)s->nano_epsilon / (double)central_scale(s, cell);
}

/* The noise in one share of `people`, from so many releases. */
static void central_points_noise(const hsy_scheme *s, hsy_noise noise[2],
                                 double people, double releases)
{
    const double one = 1 / people, grid = (double)s->release.grid;
    const bool number = s->kind == HSY_KIND_NUMBER;

    noise[0] = (hsy_noise){.rate = central_variance_rate(s, 1),
                           .terms = releases,
                           .at0 = number ? one / grid : one};
    noise[0].at1 = noise[0].at0;
    noise[1] = (hsy_noise){0};
    if (!central_open(s))
        return;
    noise[1] = (hsy_noise){.rate = central_variance_rate(s, 0),
                           .terms = number ? releases : releases * (s->d - 1),
                           .at0 = number ? one / 2 : 0,
                           .at1 = number ? -one / 2 : -one};
    if (number)
        noise[0].at0 = noise[0].at1 = one / (2 * grid);
    else
        noise[0].at1 = 0;
}

/* The variance of a point at share 0 and at share 1. */
static void central_variance_ends(const hsy_noise noise[2], double v[2])
{
    v[0] = v[1] = 0;
    for (size_t i = 0; i < 2 && noise[i].terms > 0; i++) {
        double each = noise[i].terms * central_variance_of(noise[i].rate);

        v[0] += each * noise[i].at0 * noise[i].at0;
        v[1] += each * noise[i].at1 * noise[i].at1;
    }
}

/* Of one release, people squared times. */
static void central_variance(const hsy_scheme *s, double v[2])
{
    hsy_noise noise[2];

    central_points_noise(s, noise, 1, 1);
    central_variance_ends(noise, v);
}

static double central_points_value(const hsy_scheme *s, const hsy_tally *t,
                                   uint64_t code, double people)
{
    double grid = (double)s->release.grid;

    if (s->kind == HSY_KIND_NUMBER && central_open(s))
        return 0.5 + (double)t->cells[1] / (2 * grid * people);
    if (s->kind == HSY_KIND_NUMBER)
        return (double)t->cells[1] / (grid * people);
    if (central_counts(s))
        return (double)t->cells[central_first(s) + code] / people;
    return ((code == 1 ? 0 : people) +
            (code == 1 ? 1 : -1) * (double)t->cells[1]) /
           people;
}

static void central_points(const hsy_scheme *s, hsy_evidence *points,
                           const hsy_tally *t, const uint64_t *codes,
                           size_t count, void *scratch)
{
    const double people = hsy_central_people(s, t);
    const uint64_t first = s->kind == HSY_KIND_YES_NO ? 1 : 0;
    double v[2];

    (void)scratch;
    for (size_t i = 0; i < count; i++) {
        uint64_t code = codes != NULL ? codes[i] : first + i;

        points[i] = (hsy_evidence){
            .value = central_points_value(s, t, code, people), .n = people};
        central_points_noise(s, points[i].noise, people, (double)t->strata[0]);
        central_variance_ends(points[i].noise, v);
        points[i].v0 = people * v[0];
        points[i].v1 = people * v[1];
    }
}

/* ---- No reports ---------------------------------------------------------- */

static size_t central_check(const hsy_scheme *s, const uint8_t *reports,
                            size_t n)
{
    (void)s;
    (void)reports;
    (void)n;
    return 0;
}

static void central_tally(const hsy_scheme *s, hsy_tally *t,
                          const uint8_t *reports, size_t n)
{
    (void)s;
    (void)t;
    (void)reports;
    (void)n; /* 0: none passes check */
}

const struct mech_client hsy_mech_central_client = {
    .resolve = central_resolve,
};

const struct mech_counting hsy_mech_central_counting = {
    .check = central_check,
    .tally = central_tally,
};

const struct mech_estimate hsy_mech_central_estimate = {
    .points = central_points,
    .variance = central_variance,
};
