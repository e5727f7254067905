/*
 * test_law_ranges.c - X2: the law of hh and haar reports through the real code.
 *
 * The published word that draws a level is played by the first word of each
 * level's class; the classes differ by what the sampler rejects, which is
 * nothing of the law. Given the published words, the secret ones are played by
 * class (enumerate.h has the same for mechanisms without levels).
 */
#include "lib/mech/mechanisms.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

#define OUTPUTS 1024u

/* Published words, then secret words, in the order of drawing. */
struct tape_of {
    const uint64_t *words;
    size_t n, at;
};

static hsy_status tape_fill(void *ctx, void *buf, size_t len)
{
    struct tape_of *t = ctx;
    const size_t words = (len + 7) / 8;

    if (words > t->n - t->at)
        return HSY_E_ENTROPY;
    memcpy(buf, &t->words[t->at], len);
    t->at += words;
    return HSY_OK;
}

/* The report as a number; OUTPUTS unless just these words were drawn. */
static unsigned play(const hsy_scheme *s, uint64_t code,
                     const uint64_t *published, size_t npublished,
                     const uint64_t *secret, size_t nsecret)
{
    struct tape_of open = {published, npublished, 0};
    struct tape_of hidden = {secret, nsecret, 0};
    hsy_coins coins = {{tape_fill, &hidden}, {tape_fill, &open}};
    uint8_t report[8] = {0};

    if (s->mech->client->randomize(s, report, &code, 1, &coins) != HSY_OK ||
        open.at != npublished || hidden.at != nsecret ||
        hsy_check(s, report) != HSY_OK)
        return OUTPUTS;
    return (unsigned)report[0] | (unsigned)report[1] << 8;
}

/* The first word that draws number i of n. */
static uint64_t word_of(uint64_t i, uint64_t n)
{
    return (uint64_t)((((hsy_u128)i << 64) + hsy_prob_excess(n) + n - 1) / n);
}

/* P[report | code] over `denominator` as an integer, from hsy_law. */
static hsy_u128 law_of(const hsy_scheme *s, uint64_t code, unsigned y,
                       hsy_u128 denominator)
{
    const uint8_t report[8] = {(uint8_t)y, (uint8_t)(y >> 8)};
    hsy_factor f[4];
    hsy_u128 num = 1, den = 1;
    size_t count;

    if (y >> s->report_bits != 0 || hsy_check(s, report) != HSY_OK)
        return 0;
    hsy_law(s, f, &count, code, report);
    for (size_t i = 0; i < count; i++) {
        num *= f[i].num;
        den *= f[i].den;
    }
    return denominator % den == 0 ? num * (denominator / den) : 0;
}

/* Sums of weights against the law, all over one denominator. */
static bool agrees(const hsy_scheme *s, uint64_t code, const hsy_u128 *seen,
                   hsy_u128 denominator)
{
    hsy_u128 sum = 0;
    bool same = true;

    for (unsigned y = 0; y < OUTPUTS; y++) {
        same &= law_of(s, code, y, denominator) == seen[y];
        sum += seen[y];
    }
    return same && sum == denominator;
}

/* ---- haar: levels, rows, then one coin of two edges ---------------------- */

static bool haar_code(const hsy_scheme *s, uint64_t code)
{
    const uint64_t h = s->strata, last = (uint64_t)1 << (h - 1);
    const uint64_t edges[4] = {0, s->bits.other, s->bits.own, s->total};
    hsy_u128 seen[OUTPUTS + 1] = {0};

    for (uint64_t l = 0; l < h; l++)
        for (uint64_t row = 0; row < (uint64_t)1 << l; row++)
            for (size_t k = 0; k < 3; k++) {
                const uint64_t published[2] = {word_of(l, h), row};
                const uint64_t low = edges[k] * s->coin.unit;
                const uint64_t high = edges[k + 1] * s->coin.unit - 1;
                unsigned y = play(s, code, published, 2, &low, 1);

                if (play(s, code, published, 2, &high, 1) != y)
                    return false;
                seen[y] += (hsy_u128)(edges[k + 1] - edges[k]) * (last >> l);
            }
    return agrees(s, code, seen, (hsy_u128)h * last * s->total);
}

static void haar_law(uint32_t d, double epsilon)
{
    hsy_spec spec = trial_bins("haar", d, epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    bool exact = true;

    for (uint64_t code = 0; code < d; code++)
        exact &= haar_code(s, code);
    ok(exact, "haar, %u bins, epsilon %g: exactly hsy_law", d, epsilon);
    free(s);
}

/* ---- hh: levels, then each level's grr ----------------------------------- */

/* The coin's two classes times the uniform values, over m total. */
static bool hh_level(const hsy_scheme *s, uint64_t code, size_t l,
                     hsy_u128 *seen, hsy_u128 scale)
{
    const hsy_scheme *part = hsy_scheme_part(s, l);
    const uint64_t blanket = (uint64_t)part->d << part->two.shift;
    const uint64_t edges[3] = {0, blanket, part->total};
    const uint64_t published = word_of(l, s->strata);
    bool same = true;

    for (size_t k = 0; k < 2; k++)
        for (uint64_t u = 0; u < part->d; u++) {
            uint64_t words[2] = {edges[k] * part->coin.unit,
                                 word_of(u, part->d)};
            unsigned y = play(s, code, &published, 1, words, 2);

            words[0] = edges[k + 1] * part->coin.unit - 1;
            same &= play(s, code, &published, 1, words, 2) == y;
            seen[y] += (hsy_u128)(edges[k + 1] - edges[k]) * scale;
        }
    return same;
}

/* Levels of 2 and 4 nodes: totals differ, so the law is compared level by
 * level, each over h m total. */
static bool hh_code(const hsy_scheme *s, uint64_t code)
{
    const size_t h = s->strata;
    bool exact = true;

    for (size_t l = 0; l < h; l++) {
        const hsy_scheme *part = hsy_scheme_part(s, l);
        hsy_u128 seen[OUTPUTS + 1] = {0}, sum = 0;
        const hsy_u128 whole = (hsy_u128)h * part->d * part->total;

        exact &= hh_level(s, code, l, seen, 1);
        for (unsigned y = 0; y < OUTPUTS; y++) {
            if (seen[y] != 0)
                exact &= law_of(s, code, y, whole) == seen[y];
            sum += seen[y];
        }
        exact &= sum * h == whole;
    }
    return exact;
}

static void hh_law(uint32_t d, uint64_t fanout, double epsilon)
{
    hsy_spec spec = trial_bins("hh", d, epsilon);
    hsy_scheme *s;
    bool exact = true, direct = true;

    spec.param[HSY_PARAM_FANOUT] = fanout;
    s = trial_scheme(&spec);
    for (size_t l = 0; l < s->strata; l++)
        direct &= hsy_scheme_part(s, l)->mech == &hsy_mech_grr;
    for (uint64_t code = 0; code < d; code++)
        exact &= hh_code(s, code);
    ok(direct && exact,
       "hh, %u bins by %u, epsilon %g: exactly hsy_law on each level", d,
       (unsigned)fanout, epsilon);
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4};

    for (size_t e = 0; e < 3; e++) {
        haar_law(2, epsilons[e]);
        haar_law(3, epsilons[e]);
        haar_law(8, epsilons[e]);
        haar_law(13, epsilons[e]);
        hh_law(4, 2, epsilons[e]);
        hh_law(5, 2, epsilons[e]);
        hh_law(5, 3, epsilons[e]);
    }
    return tap_done();
}
