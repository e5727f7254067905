/* test_permanent.c - permanent answers: which schemes, keys, reports, gamma.
 */
#include "lib/scheme/permanent.h"
#include "rig/tape.h"
#include "rig/trial.h"

/* ---- Which schemes go together ------------------------------------------- */

struct refusal {
    const char *what;
    hsy_spec permanent, report;
    uint64_t grain;
    hsy_status status;
    const char *field;
};

static void refuse(const struct refusal *r)
{
    hsy_scheme *permanent = trial_scheme(&r->permanent);
    hsy_scheme *report = trial_scheme(&r->report);
    hsy_permanent c = {NULL, NULL, 7, 7};
    hsy_error err = {0};
    hsy_status st = hsy_permanent_init(&c, permanent, report, r->grain, &err);

    ok(st == r->status && err.status == st && err.msg != NULL &&
           strcmp(hsy_field_name(err.field), r->field) == 0 && c.step == 7 &&
           hsy_permanent_init(&c, permanent, report, r->grain, NULL) == st,
       "refused: %s", r->what);
    free(permanent);
    free(report);
}

static hsy_spec pool(const char *mechanism, double epsilon, uint64_t bits,
                     uint64_t g)
{
    hsy_spec spec = trial_values(mechanism, 10, epsilon);

    spec.param[HSY_PARAM_POOL_BITS] = bits;
    spec.param[HSY_PARAM_G] = g;
    return spec;
}

static hsy_spec rappor(hsy_ratio f)
{
    hsy_spec spec = trial_values("rappor", 10, 0);

    spec.design = HSY_DESIGN_RAPPOR;
    spec.chance[0] = f;
    spec.chance[1] = (hsy_ratio){1, 2};
    spec.chance[2] = (hsy_ratio){3, 4};
    return spec;
}

static hsy_spec spinner(void)
{
    hsy_spec spec = trial_values("rr", 2, 0);

    spec.design = HSY_DESIGN_SPINNER;
    spec.chance[0] = (hsy_ratio){3, 4};
    return spec;
}

static void refusals(void)
{
    const struct refusal rows[] = {
        {"a mechanism without permanent answers", trial_values("hr", 10, 2),
         trial_values("hr", 10, 1), 0, HSY_E_UNKNOWN, "mechanism"},
        {"an answer of a mechanism without them", trial_values("hr", 10, 2),
         trial_values("grr", 10, 1), 0, HSY_E_MISMATCH, "mechanism"},
        {"two mechanisms", trial_values("grr", 10, 2),
         trial_values("sue", 10, 1), 0, HSY_E_MISMATCH, "mechanism"},
        {"two domains", trial_values("grr", 10, 2), trial_values("grr", 11, 1),
         0, HSY_E_MISMATCH, "values"},
        {"two ranges", trial_number(10, 2), trial_number(11, 1), 0,
         HSY_E_MISMATCH, "range"},
        {"two ranges of the hash", pool("olh", 2, 4, 0), pool("olh", 1, 4, 0),
         0, HSY_E_MISMATCH, "g"},
        {"less noise in the report than in the answer",
         trial_values("grr", 10, 1), trial_values("grr", 10, 2), 0, HSY_E_RANGE,
         "epsilon"},
        {"a seed that marks the device", pool("blh", 2, 17, 0),
         pool("blh", 1, 17, 0), 0, HSY_E_RANGE, "pool-bits"},
        {"a design by probabilities", spinner(), spinner(), 0, HSY_E_RANGE,
         "design"},
        {"RAPPOR without a permanent step", rappor((hsy_ratio){0, 1}),
         rappor((hsy_ratio){0, 1}), 0, HSY_E_RANGE, "chance"},
        {"two RAPPORs", rappor((hsy_ratio){1, 2}), rappor((hsy_ratio){1, 4}), 0,
         HSY_E_MISMATCH, "epsilon"},
        {"two RAPPORs by epsilon", trial_values("rappor", 10, 2),
         trial_values("rappor", 10, 1), 0, HSY_E_MISMATCH, "epsilon"},
        {"a grain for values", trial_values("grr", 10, 2),
         trial_values("grr", 10, 1), 1, HSY_E_RANGE, "grain"},
        {"a grain that does not divide the range", trial_number(10, 2),
         trial_number(10, 1), 3, HSY_E_RANGE, "grain"},
        {"a grain above the range", trial_number(10, 2), trial_number(10, 1),
         20, HSY_E_RANGE, "grain"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse(&rows[i]);
}

/* Rates are rounded, yet a nano-epsilon less never has the smaller rate of
 * wrong answers: the step would wrap around to nearly 1. */
static void nano_apart(void)
{
    static const char *const names[] = {"rr",  "grr",      "sue", "oue",
                                        "blh", "dbitflip", "olh"};
    uint64_t most = 0;
    bool good = true;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint64_t nano = 1000; nano < 24000000000; nano += nano / 50 + 77) {
            hsy_spec low = trial_values(names[i], 2, 1), high;
            hsy_scheme *report, *permanent;
            hsy_permanent c = {0};

            low.param[HSY_PARAM_G] = strcmp(names[i], "olh") == 0 ? 3 : 0;
            high = low;
            low.nano_epsilon = nano;
            high.nano_epsilon = nano + 1;
            report = trial_scheme(&low);
            permanent = trial_scheme(&high);
            good &=
                hsy_permanent_init(&c, permanent, report, 0, NULL) == HSY_OK;
            most = c.step > most ? c.step : most;
            free(report);
            free(permanent);
        }
    /* A thousandth of epsilon at 10^-6, and the share of it that is noise. */
    ok(good && (double)most * 0x1p-64 < 0.002,
       "epsilons a nano apart: little noise is added, at most %.2g",
       (double)most * 0x1p-64);
}

/* ---- A permanent answer for tests ---------------------------------------- */

struct link {
    hsy_scheme *permanent, *report;
    hsy_permanent c;
};

static struct link link_of(const hsy_spec *permanent, double epsilon,
                           uint64_t grain)
{
    hsy_spec report = *permanent;
    struct link l;

    if (report.nano_epsilon != 0)
        report.nano_epsilon = (uint64_t)(epsilon * 1e9 + 0.5);
    l.permanent = trial_scheme(permanent);
    l.report = trial_scheme(&report);
    if (hsy_permanent_init(&l.c, l.permanent, l.report, grain, NULL) !=
        HSY_OK) {
        puts("Bail out! no permanent answer");
        exit(1);
    }
    return l;
}

static void link_free(struct link *l)
{
    free(l->permanent);
    free(l->report);
}

/* One of each mechanism. */
static hsy_spec link_spec(size_t i)
{
    static const char *const names[] = {"rr",  "grr", "sue",      "oue",
                                        "olh", "blh", "dbitflip", "onebit"};
    hsy_spec spec;

    if (i >= sizeof names / sizeof *names)
        return rappor((hsy_ratio){1, 2});
    spec = trial_values(names[i], i == 0 ? 2 : 10, 2);
    if (strcmp(names[i], "olh") == 0)
        spec.param[HSY_PARAM_G] = 5;
    if (strcmp(names[i], "dbitflip") == 0)
        spec.param[HSY_PARAM_SAMPLED_BITS] = 4;
    if (strcmp(names[i], "onebit") == 0)
        spec = trial_number(100, 2);
    return spec;
}

#define LINKS 9

/* Coins of a seed, both roles. */
struct coins {
    hsy_stream secret, published;
    hsy_coins coins;
};

static void coins_open(struct coins *c, uint64_t secret, uint64_t published)
{
    hsy_stream_seed(&c->secret, secret, 1);
    hsy_stream_seed(&c->published, published, 2);
    c->coins =
        (hsy_coins){hsy_stream_rng(&c->secret), hsy_stream_rng(&c->published)};
}

/* ---- Keys ---------------------------------------------------------------- */

/* A word for which hsy_prob_below(bound) gives v. */
static uint64_t word_for(uint64_t v, uint64_t bound)
{
    hsy_u128 from = ((hsy_u128)v << 64) + hsy_prob_excess(bound);

    return (uint64_t)((from + bound - 1) / bound);
}

static uint64_t alpha_key(const hsy_permanent *c, uint64_t code, uint64_t alpha)
{
    uint64_t word = word_for(alpha, c->grain), key = UINT64_MAX;
    struct tape secret = {&word, 8}, none = {NULL, 0};
    hsy_coins own = {{tape_fill, &secret}, {tape_fill, &none}};

    return hsy_permanent_key(c, &key, code, &own) == HSY_OK && secret.left == 0
               ? key
               : UINT64_MAX;
}

/* The rule as it is written down: L if x + alpha < R, else R. */
static uint64_t alpha_point(uint64_t x, uint64_t alpha, uint64_t s)
{
    uint64_t left = x / s * s, right = left + s;

    return x + alpha < right ? left : right;
}

static void alpha_rounding(int64_t width, uint64_t grain)
{
    hsy_spec spec = trial_number(width, 2);
    struct link l = link_of(&spec, 1, grain);
    const uint64_t s = l.c.grain;
    bool rule = true, unbiased = true;

    for (uint64_t x = 0; x <= (uint64_t)width; x++) {
        uint64_t sum = 0;

        for (uint64_t alpha = 0; alpha < s; alpha++) {
            uint64_t key = alpha_key(&l.c, x, alpha);

            rule &= key < hsy_permanent_keys(&l.c) &&
                    key * s == alpha_point(x, alpha, s);
            sum += key * s;
        }
        unbiased &= sum == x * s;
    }
    ok(rule && hsy_permanent_keys(&l.c) == (uint64_t)width / s + 1,
       "range %d, grain %u: x + alpha < R rounds down, %u points", (int)width,
       (unsigned)s, (unsigned)hsy_permanent_keys(&l.c));
    ok(unbiased, "range %d, grain %u: the mean over alpha is x, for every x",
       (int)width, (unsigned)s);
    link_free(&l);
}

static void alpha_ends(void)
{
    hsy_spec spec = trial_number(INT64_MAX, 2);
    struct link wide = link_of(&spec, 1, 0), fine = link_of(&spec, 1, 1);
    const uint64_t top = INT64_MAX;

    ok(wide.c.grain == top && hsy_permanent_keys(&wide.c) == 2 &&
           alpha_key(&wide.c, 0, top - 1) == 0 &&
           alpha_key(&wide.c, 1, top - 2) == 0 &&
           alpha_key(&wide.c, 1, top - 1) == 1 &&
           alpha_key(&wide.c, top, 0) == 1 &&
           alpha_key(&wide.c, top, top - 1) == 1,
       "the widest range as one grain: two points");
    ok(hsy_permanent_keys(&fine.c) == top + 1 &&
           alpha_key(&fine.c, top, 0) == top,
       "and at grain 1: every number is a point");
    ok(alpha_key(&fine.c, top + 1, 0) == UINT64_MAX,
       "a code outside has no key");
    link_free(&wide);
    link_free(&fine);
}

static uint64_t seed_key(const hsy_permanent *c, uint64_t code, uint32_t seed)
{
    uint64_t key = UINT64_MAX;
    struct tape published = {&seed, 4}, none = {NULL, 0};
    hsy_coins own = {{tape_fill, &none}, {tape_fill, &published}};

    return hsy_permanent_key(c, &key, code, &own) == HSY_OK ? key : UINT64_MAX;
}

/* Which bit of set number `seed` is asked about a bucket, from 1 on, as the
 * counts of reports with one bit each show; 0 if none is. */
static uint64_t place_counted(const hsy_scheme *s, uint64_t code, uint32_t seed)
{
    int64_t *cells = trial_memory(s->cells * sizeof *cells);
    uint64_t strata[1], place = 0;

    for (uint64_t i = 0; i < s->param[HSY_PARAM_SAMPLED_BITS]; i++) {
        uint64_t report = seed | (uint64_t)1
                                     << (s->param[HSY_PARAM_POOL_BITS] + i);
        hsy_tally t = {.cells = cells, .strata = strata};
        uint8_t bytes[8];

        memset(cells, 0, s->cells * sizeof *cells);
        strata[0] = 0;
        for (size_t b = 0; b < 8; b++)
            bytes[b] = (uint8_t)(report >> 8 * b);
        s->mech->counting->tally(s, &t, bytes, 1);
        if (cells[code] == 1)
            place = i + 1;
    }
    free(cells);
    return place;
}

static void dbitflip_keys(uint32_t d, uint64_t bits)
{
    hsy_spec spec = trial_values("dbitflip", d, 2);
    uint64_t inside = 0, first = bits == d;
    bool good = true;
    struct link l;

    spec.param[HSY_PARAM_SAMPLED_BITS] = bits;
    l = link_of(&spec, 1, 0);
    for (uint32_t seed = 0; seed < 200; seed++)
        for (uint64_t code = 0; code < d; code++) {
            uint64_t place = place_counted(l.report, code, seed);

            good &= seed_key(&l.c, code, seed) == place - first;
            inside += place != 0;
        }
    ok(good && inside == 200 * bits &&
           hsy_permanent_keys(&l.c) == (bits < d ? bits + 1 : d),
       "dbitflip, %u of %u: the key is the bucket's place in the set, %u keys",
       (unsigned)bits, d, (unsigned)hsy_permanent_keys(&l.c));
    link_free(&l);
}

/* A report (seed, key) is the truth's own, as the law has it. */
static void hash_keys(const char *mechanism, uint64_t g)
{
    hsy_spec spec = trial_values(mechanism, 100, 2);
    bool good = true;
    struct link l;

    spec.param[HSY_PARAM_G] = g;
    l = link_of(&spec, 1, 0);
    for (uint32_t seed = 0; seed < 100; seed++)
        for (uint64_t code = 0; code < 100; code++) {
            uint64_t key = seed_key(&l.c, code, seed);
            uint8_t report[8] = {(uint8_t)seed, 0, (uint8_t)key, 0};
            hsy_factor factors[2];
            size_t count;

            good &= key < g;
            hsy_law(l.report, factors, &count, code, report);
            good &= factors[1].num == l.report->two.weight;
        }
    ok(good && hsy_permanent_keys(&l.c) == g,
       "%s: the key is the hash, %u keys", mechanism, (unsigned)g);
    link_free(&l);
}

static void plain_keys(void)
{
    static const char *const names[] = {"grr", "sue", "oue", "rappor"};
    hsy_spec yes = trial_values("rr", 2, 2),
             strings = trial_values("rappor", 0, 1);
    struct tape none[2] = {{NULL, 0}, {NULL, 0}};
    hsy_coins own = {{tape_fill, &none[0]}, {tape_fill, &none[1]}};
    struct link l = link_of(&yes, 1, 0);
    uint64_t key = 9;
    bool good;

    good = hsy_permanent_keys(&l.c) == 2 &&
           hsy_permanent_key(&l.c, &key, 1, &own) == HSY_OK && key == 1 &&
           hsy_permanent_key(&l.c, &key, 2, &own) == HSY_E_RANGE && key == 1;
    link_free(&l);
    for (size_t i = 0; i < 4; i++) {
        hsy_spec spec = trial_values(names[i], 10, 1);

        l = link_of(&spec, 1, 0);
        good &= hsy_permanent_keys(&l.c) == 10 &&
                hsy_permanent_key(&l.c, &key, 9, &own) == HSY_OK && key == 9 &&
                hsy_permanent_key(&l.c, &key, 10, &own) == HSY_E_RANGE;
        link_free(&l);
    }
    strings.kind = HSY_KIND_STRINGS;
    l = link_of(&strings, 1, 0);
    good &= hsy_permanent_keys(&l.c) == 0 &&
            hsy_permanent_key(&l.c, &key, UINT64_MAX, &own) == HSY_OK &&
            key == UINT64_MAX;
    link_free(&l);
    ok(good, "rr, grr, sue, oue and rappor have the code as key");
}

/* ---- Answers and reports ------------------------------------------------- */

/* The bits of a report that carry noise, by the mechanism's layout. */
static bool noised(const hsy_scheme *s, size_t bit)
{
    const struct permanent_part part = s->mech->client->permanent->part(s);

    return bit >= part.first &&
           (s->mech->client->permanent->step == PERMANENT_OUTPUT ||
            bit < (size_t)part.first + part.count);
}

static bool same_elsewhere(const hsy_scheme *s, const uint8_t *a,
                           const uint8_t *b)
{
    bool same = true;

    for (size_t i = 0; i < 8 * s->report_bytes; i++)
        same &=
            noised(s, i) || (a[i / 8] >> i % 8 & 1) == (b[i / 8] >> i % 8 & 1);
    return same;
}

/* Same coins, same bytes, on every level; a report keeps the seed and passes
 * the check. */
static void answers(void)
{
    bool check = true, again = true, elsewhere = true, moves = true;
    uint8_t answer[64], twice[64], report[64], plain[64];

    for (size_t i = 0; i < LINKS; i++) {
        hsy_spec spec = link_spec(i);
        struct link l = link_of(&spec, 1, 0);
        size_t bytes = l.report->report_bytes, changes = 0;

        for (uint64_t seed = 0; seed < 200; seed++) {
            uint64_t key = seed % hsy_permanent_keys(&l.c);
            struct coins c;

            coins_open(&c, seed, 99);
            check &=
                hsy_permanent_answer(&l.c, answer, key, &c.coins) == HSY_OK;
            coins_open(&c, seed, 99);
            again &=
                hsy_permanent_answer(&l.c, twice, key, &c.coins) == HSY_OK &&
                memcmp(answer, twice, bytes) == 0;
            check &= hsy_check(l.permanent, answer) == HSY_OK;
            for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
                if (hsy_scheme_cpu(l.report, (hsy_cpu)level) != HSY_OK)
                    continue;
                coins_open(&c, seed + 1000, 99);
                check &= hsy_permanent_report(&l.c, report, answer,
                                              &c.coins.secret) == HSY_OK &&
                         hsy_check(l.report, report) == HSY_OK;
                if (level == HSY_CPU_PLAIN)
                    memcpy(plain, report, bytes);
                again &= memcmp(plain, report, bytes) == 0;
            }
            elsewhere &= same_elsewhere(l.report, answer, report);
            changes += memcmp(answer, report, bytes) != 0;
        }
        moves &= changes > 10 && changes <= 200;
        link_free(&l);
    }
    ok(check, "answers and reports are well-formed");
    ok(again, "the same coins give the same bytes on every level");
    ok(elsewhere, "the seed, set or cohort and spare bits stay as they are");
    ok(moves, "a report differs from its answer at times");
}

/* RAPPOR's step stands in the scheme; of the others equal epsilons leave
 * nothing to add. */
static void equal_epsilons(void)
{
    bool same = true;
    uint8_t answer[64], report[64];

    for (size_t i = 0; i + 1 < LINKS; i++) {
        hsy_spec spec = link_spec(i);
        struct link l = link_of(&spec, 2, 0);

        same &= l.c.step == 0;
        for (uint64_t seed = 0; seed < 300; seed++) {
            struct coins c;

            coins_open(&c, seed, 1);
            same &= hsy_permanent_answer(&l.c, answer, 0, &c.coins) == HSY_OK &&
                    hsy_permanent_report(&l.c, report, answer,
                                         &c.coins.secret) == HSY_OK &&
                    memcmp(answer, report, l.report->report_bytes) == 0;
        }
        link_free(&l);
    }
    ok(same, "with equal epsilons every report is the permanent answer");
}

/* Wide reports go through the step in pieces: each bit is flipped by a lane of
 * its own, none by the lanes of another. */
static void wide(uint32_t d)
{
    hsy_spec spec = trial_values("sue", d, 8);
    struct link l = link_of(&spec, 1, 0);
    const size_t bytes = l.report->report_bytes, pieces = (bytes + 127) / 128;
    uint8_t *answer = trial_memory(bytes), *report = trial_memory(bytes);
    struct coins c;
    bool good;
    size_t flips = 0, changed = 0;

    coins_open(&c, 5, 6);
    good =
        hsy_permanent_answer(&l.c, answer, d - 1, &c.coins) == HSY_OK &&
        hsy_permanent_report(&l.c, report, answer, &c.coins.secret) == HSY_OK &&
        hsy_check(l.report, report) == HSY_OK;
    for (size_t piece = 0; piece < pieces; piece++) {
        bool moved = false;

        for (size_t i = 128 * piece; i < bytes && i < 128 * (piece + 1); i++) {
            flips += (size_t)__builtin_popcount(answer[i] ^ report[i]);
            moved |= answer[i] != report[i];
        }
        changed += moved;
    }
    /* t lies above a quarter; Hoeffding at 1e-12 for d >= 1000. */
    ok(good && changed == pieces && flips > d / 4 && flips < d / 2,
       "%u bits in %zu pieces: all are noised", d, pieces);
    free(answer);
    free(report);
    link_free(&l);
}

static bool zeroed(const uint8_t *bytes, size_t n)
{
    uint8_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= bytes[i];
    return any == 0;
}

/* The coins of one role end after so many bytes, for every number of them. */
static void without_coins(void)
{
    uint8_t bytes[1024];
    bool good = true;

    memset(bytes, 0x5a, sizeof bytes); /* words that every coin takes */

    for (size_t i = 0; i < LINKS; i++) {
        hsy_spec spec = link_spec(i);
        struct link l = link_of(&spec, 1, 0);
        size_t size = l.report->report_bytes, room = 0;
        uint8_t report[64];
        hsy_status st = HSY_E_ENTROPY;

        for (; st != HSY_OK && room < sizeof bytes; room += 4) {
            struct tape secret = {bytes, room}, published = {bytes, 8};
            hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};

            memset(report, 0xff, sizeof report);
            st = hsy_permanent_answer(&l.c, report, 0, &coins);
            good &=
                st == HSY_OK || (st == HSY_E_ENTROPY && zeroed(report, size));
        }
        good &= st == HSY_OK && room > 8;
        for (room = 0, st = HSY_E_ENTROPY; st != HSY_OK && room < sizeof bytes;
             room += 4) {
            uint8_t answer[64] = {0};
            struct tape secret = {bytes, room};
            hsy_rng rng = {tape_fill, &secret};

            memset(report, 0xff, sizeof report);
            st = hsy_permanent_report(&l.c, report, answer, &rng);
            good &=
                st == HSY_OK || (st == HSY_E_ENTROPY && zeroed(report, size));
        }
        good &= st == HSY_OK && room > 8;
        link_free(&l);
    }
    ok(good, "without all coins there is no answer and no report");
}

static void misuse(void)
{
    bool good = true;

    for (size_t i = 0; i < LINKS; i++) {
        hsy_spec spec = link_spec(i);
        struct link l = link_of(&spec, 1, 0);
        uint8_t answer[64];
        uint64_t key = 77;
        struct coins c;
        hsy_coins one;

        coins_open(&c, 1, 2);
        one = (hsy_coins){c.coins.secret, c.coins.secret};
        memset(answer, 0xff, sizeof answer);
        good &= hsy_permanent_answer(&l.c, answer, hsy_permanent_keys(&l.c),
                                     &c.coins) == HSY_E_RANGE &&
                zeroed(answer, l.report->report_bytes);
        memset(answer, 0xff, sizeof answer);
        good &= hsy_permanent_answer(&l.c, answer, 0, &one) == HSY_E_RANGE &&
                zeroed(answer, l.report->report_bytes) &&
                hsy_permanent_key(&l.c, &key, 0, &one) == HSY_E_RANGE &&
                key == 77;
        link_free(&l);
    }
    ok(good, "keys that there are not, and one source in both roles, are "
             "refused");
}

/* ---- Output perturbation ------------------------------------------------- */

/* One at (epsilon, what gamma leaves) flips with probability gamma, up to
 * the nano-epsilon that was rounded off: t falls by less than 1/4 for each 1 of
 * epsilon that is added, times (1 - 2 g) / tanh(epsilon / 2) / ... below 1
 * here.
 */
static void gamma_flips(void)
{
    static const uint64_t nanos[] = {200000000, 1000000000, 4000000000,
                                     12000000000};
    static const hsy_ratio gammas[] = {{1, 10}, {1, 5}, {1, 3}, {49, 100}};
    double worst = 0;
    bool good = true;

    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            hsy_spec permanent = trial_number(100, 1), report = permanent;
            double gamma = (double)gammas[j].num / (double)gammas[j].den;
            hsy_scheme *first, *second;
            hsy_permanent c = {0};

            permanent.nano_epsilon = nanos[i];
            good &= hsy_permanent_gamma(&report.nano_epsilon, nanos[i],
                                        gammas[j]) == HSY_OK &&
                    report.nano_epsilon < nanos[i];
            first = trial_scheme(&permanent);
            second = trial_scheme(&report);
            good &= hsy_permanent_init(&c, first, second, 0, NULL) == HSY_OK;
            /* Rounded down: never less noise than was asked for. */
            good &= (double)c.step * 0x1p-64 >= gamma * (1 - 1e-15);
            worst = fmax(worst, (double)c.step * 0x1p-64 - gamma);
            free(first);
            free(second);
        }
    ok(good && worst < 3e-9,
       "gamma comes back as the flip of a step, at most %.2g more", worst);
}

static void gamma_values(void)
{
    uint64_t nano = 5;

    ok(hsy_permanent_gamma(&nano, 1000000000, (hsy_ratio){0, 1}) == HSY_OK &&
           nano == 1000000000,
       "gamma 0 leaves the epsilon");
    /* ln ((0.9 e + 0.1) / (0.9 + 0.1 e)) = 0.776136585261... */
    ok(hsy_permanent_gamma(&nano, 1000000000, (hsy_ratio){1, 10}) == HSY_OK &&
           nano == 776136585,
       "gamma 1/10 leaves 0.776136585 of 1");
    nano = 5;
    ok(hsy_permanent_gamma(&nano, 1000000000, (hsy_ratio){1, 2}) ==
               HSY_E_RANGE &&
           hsy_permanent_gamma(&nano, 1000000000, (hsy_ratio){2, 3}) ==
               HSY_E_RANGE &&
           hsy_permanent_gamma(&nano, 1000000000, (hsy_ratio){0, 0}) ==
               HSY_E_RANGE &&
           hsy_permanent_gamma(&nano, 1000000000,
                               (hsy_ratio){UINT64_MAX, UINT64_MAX}) ==
               HSY_E_RANGE &&
           hsy_permanent_gamma(&nano, 1000000000,
                               (hsy_ratio){1, ((uint64_t)1 << 31) + 1}) ==
               HSY_E_RANGE &&
           hsy_permanent_gamma(&nano, 0, (hsy_ratio){1, 10}) == HSY_E_RANGE &&
           hsy_permanent_gamma(&nano, (uint64_t)HSY_EPSILON_MAX + 1,
                               (hsy_ratio){1, 10}) == HSY_E_RANGE &&
           nano == 5,
       "gamma from 1/2 on, and what is no probability or epsilon, is refused");
    ok(hsy_permanent_gamma(&nano, 2000, (hsy_ratio){49, 100}) == HSY_E_RANGE &&
           nano == 5,
       "and what leaves less than the smallest epsilon");
    ok(hsy_permanent_gamma(&nano, HSY_EPSILON_MAX, (hsy_ratio){1, 1u << 31}) ==
               HSY_OK &&
           /* ln ((h E + 1) / (h + E)) = 21.4875354011, h = 2^31 - 1 */
           nano <= 21487535401 && nano >= 21487535399,
       "the largest epsilon and the smallest gamma");
}

int main(void)
{
    static const int64_t grains[][2] = {{1, 1},    {2, 1},    {6, 6},  {6, 3},
                                        {6, 2},    {6, 1},    {12, 4}, {30, 10},
                                        {100, 25}, {365, 73}, {60, 0}};

    refusals();
    nano_apart();
    for (size_t i = 0; i < sizeof grains / sizeof *grains; i++)
        alpha_rounding(grains[i][0], (uint64_t)grains[i][1]);
    alpha_ends();
    dbitflip_keys(10, 4);
    dbitflip_keys(10, 1);
    dbitflip_keys(5, 5);
    hash_keys("olh", 5);
    hash_keys("blh", 2);
    plain_keys();
    answers();
    equal_epsilons();
    wide(1000);
    wide(1025);
    wide(HSY_UNARY_MAX);
    without_coins();
    misuse();
    gamma_values();
    gamma_flips();
    return tap_done();
}
