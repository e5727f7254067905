/* test_decode.c - RAPPOR's decoder: rates, edges, refusals, memory. */
#include "lib/rappor/internal.h"
#include "rig/rappor_people.h"

#include <string.h>

static const hsy_rappor_options plain = {.size = sizeof plain};

/* ---- The channel --------------------------------------------------------- */

static bool decode_near(double a, double b, double within)
{
    return fabs(a - b) <= within * fmax(1, fabs(b));
}

static void test_channel(void)
{
    hsy_rappor_law law;
    hsy_error err = {0};

    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 16, .h = 2, .f = 0.5, .p = 0.5, .q = 0.75},
           NULL) == HSY_OK &&
           decode_near(law.p, 0.5625, 1e-15) &&
           decode_near(law.q, 0.6875, 1e-15),
       "p* and q* are f (p + q) / 2 + (1 - f) p, or q");
    ok(decode_near(law.epsilon_report, 1.0743, 1e-4) &&
           decode_near(law.epsilon_permanent, 4.3944, 1e-4),
       "RAPPOR's defaults cost 1.074 a report and 4.394 for ever");
    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 8, .h = 1, .f = 0, .p = 0.25, .q = 0.75},
           NULL) == HSY_OK &&
           isinf(law.epsilon_permanent) &&
           decode_near(law.epsilon_report, log(9), 1e-14),
       "without a permanent step nothing bounds a lifetime");
    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 1, .h = 1, .f = 0.5, .p = 0.25, .q = 0.75},
           NULL) == HSY_OK &&
           decode_near(law.epsilon_report, log(0.625 / 0.375), 1e-14) &&
           decode_near(law.epsilon_permanent, log(3), 1e-14),
       "a boolean is one bit");
    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 8, .h = 1, .f = 1, .p = 0.25, .q = 0.75},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_F,
       "f = 1 is refused: it leaves nothing");
    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 8, .h = 1, .f = 0.5, .p = 0.5, .q = 0.5},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_Q,
       "p = q is refused");
    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 8, .h = 1, .f = 0.5, .p = NAN, .q = 0.5},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_P,
       "NaN is no probability");
    ok(hsy_rappor_channel(
           &law,
           &(hsy_rappor_noise){.k = 0, .h = 1, .f = 0.5, .p = 0.25, .q = 0.5},
           NULL) == HSY_E_RANGE &&
           hsy_rappor_channel(
               &law,
               &(hsy_rappor_noise){
                   .k = 8, .h = 65, .f = 0.5, .p = 0.25, .q = 0.5},
               NULL) == HSY_E_RANGE,
       "no bits, or too many hashes, are refused");
}

/* ---- Small cases --------------------------------------------------------- */

struct small {
    hsy_rappor_data data;
    uint64_t totals[3], ones[3 * 4];
    uint16_t bits[4 * 3 * 2];
    hsy_rappor_share shares[4];
    hsy_rappor_summary summary;
    hsy_error err;
};

/* k bits, m cohorts, h hashes; a channel of 3/4 and 1/4. */
static void small_open(struct small *s, uint32_t k, uint32_t m, uint32_t h,
                       size_t candidates)
{
    memset(s, 0, sizeof *s);
    s->data = (hsy_rappor_data){.size = sizeof s->data,
                                .k = k,
                                .h = h,
                                .m = m,
                                .p = 0.25,
                                .q = 0.75,
                                .totals = s->totals,
                                .ones = s->ones,
                                .candidates = candidates,
                                .bits = s->bits};
}

static hsy_status small_decode(struct small *s,
                               const hsy_rappor_options *options)
{
    void *scratch = trial_memory(hsy_rappor_scratch(&s->data));
    hsy_status st = hsy_rappor_decode(&s->data, s->shares, &s->summary, options,
                                      scratch, &s->err);

    free(scratch);
    return st;
}

static void test_boolean(void)
{
    struct small s;

    small_open(&s, 1, 3, 1, 1);
    s.totals[0] = 1000;
    s.ones[0] = 500;
    s.totals[2] = 3000;
    s.ones[2] = 1100;
    ok(small_decode(&s, &plain) == HSY_OK && s.summary.cohorts == 2 &&
           s.summary.reports == 4000,
       "a boolean is decoded, a cohort without reports left out");
    ok(decode_near(s.shares[0].est.value, 0.3, 1e-13) && s.shares[0].detected,
       "all cohorts together: (1600 - 1000) / 2000");
    ok(decode_near(s.shares[0].est.sd,
                   sqrt((0.4 * 0.6 / 0.25 - 0.3 * 0.7) / 4000), 1e-13),
       "its variance is that of the noise alone for people");
}

/* Basic RAPPOR: a bit for each value, one cohort. */
static void test_diagonal(void)
{
    const hsy_rappor_options nnls = {.size = sizeof nnls,
                                     .method = HSY_RAPPOR_NNLS};
    struct small s;

    small_open(&s, 4, 1, 1, 4);
    s.totals[0] = 10000;
    for (uint16_t j = 0; j < 4; j++) {
        s.bits[j] = j;
        s.ones[j] = 2500 + 1000u * j;
    }
    ok(small_decode(&s, &nnls) == HSY_OK && s.summary.posed &&
           !s.summary.intercept,
       "a diagonal map with one cohort is decoded, without an intercept");
    ok(decode_near(s.shares[1].unbiased, 0.2, 1e-12) &&
           decode_near(s.shares[3].unbiased, 0.6, 1e-12) &&
           decode_near(s.shares[0].est.value, 0, 1e-12),
       "as fractions: each value is its own bit's");
    ok(small_decode(&s, &plain) == HSY_OK && s.shares[3].detected &&
           !s.shares[0].detected,
       "the sampler agrees on what is there");
}

static void test_refusals(void)
{
    hsy_rappor_options how = plain;
    struct small s;

    small_open(&s, 4, 2, 2, 2);
    ok(small_decode(&s, &plain) == HSY_E_EMPTY, "no reports: HSY_E_EMPTY");
    s.totals[0] = s.totals[1] = 100;
    ok(small_decode(&s, &plain) == HSY_E_RANGE && s.err.at == 2 &&
           s.err.limit == 1 && s.err.field == HSY_FIELD_CANDIDATES,
       "two candidates with the same bits are refused, both named");
    s.bits[0] = 1;
    s.bits[4] = 0;
    s.bits[5] = 1;
    ok(small_decode(&s, &plain) == HSY_E_RANGE && s.err.at == 2,
       "the order of hashes does not tell them apart");
    s.bits[5] = 4;
    ok(small_decode(&s, &plain) == HSY_E_RANGE && s.err.at == 2 &&
           s.err.field == HSY_FIELD_BITS,
       "a bit beyond k is refused with its candidate");
    s.bits[5] = 2;
    s.ones[5] = 101;
    ok(small_decode(&s, &plain) == HSY_E_RANGE && s.err.at == 2 &&
           s.err.field == HSY_FIELD_ONES,
       "more ones than reports are refused with their cohort");
    s.ones[5] = 0;
    how.alpha = 1;
    ok(small_decode(&s, &how) == HSY_E_RANGE && s.err.field == HSY_FIELD_ALPHA,
       "alpha 1 is refused");
    how = plain;
    for (double d = -1; d < 1; d += 0.75) {
        how.dispersion = d;
        ok(small_decode(&s, &how) == HSY_E_RANGE &&
               s.err.field == HSY_FIELD_DISPERSION,
           "a dispersion of %g is refused", d);
    }
    how.dispersion = NAN;
    ok(small_decode(&s, &how) == HSY_E_RANGE, "and so is none at all");
    how = plain;
    how.level = NAN;
    ok(small_decode(&s, &how) == HSY_E_RANGE && s.err.field == HSY_FIELD_LEVEL,
       "a level that is no number is refused");
    s.data.q = s.data.p;
    ok(hsy_rappor_scratch(&s.data) == 0, "p = q has no scratch");
}

static bool finite_all(const hsy_rappor_share *shares, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        if (!isfinite(shares[j].est.value) || !isfinite(shares[j].est.sd) ||
            !isfinite(shares[j].est.low) || !isfinite(shares[j].est.high) ||
            !isfinite(shares[j].p_zero) || !isfinite(shares[j].q))
            return false;
    }
    return true;
}

/* A channel without noise: p = 0, q = 1. */
static void test_edges(void)
{
    struct small s;

    small_open(&s, 4, 3, 1, 3);
    s.data.p = 0;
    s.data.q = 1;
    for (uint32_t c = 0; c < 3; c++) {
        s.totals[c] = 1000;
        for (uint16_t j = 0; j < 3; j++)
            s.bits[j * 3 + c] = (uint16_t)((j + c * (j == 2)) % 4);
        s.ones[c * 4 + s.bits[0 * 3 + c]] += 700;
        s.ones[c * 4 + s.bits[1 * 3 + c]] += 300;
    }
    ok(small_decode(&s, &plain) == HSY_OK && finite_all(s.shares, 3),
       "probabilities 0 and 1 decode to numbers");
    ok(fabs(s.shares[0].unbiased - 0.7) < 0.01 &&
           fabs(s.shares[1].unbiased - 0.3) < 0.01,
       "to the right ones");
    small_open(&s, 4, 1, 2, 4);
    s.totals[0] = 1;
    for (uint16_t j = 0; j < 4; j++) {
        s.bits[2 * j] = j;
        s.bits[2 * j + 1] = (uint16_t)((j + 1) % 4);
    }
    ok(small_decode(&s, &plain) == HSY_OK && finite_all(s.shares, 4) &&
           !s.summary.posed,
       "one report, and as many candidates as bits: numbers all the same");
}

/* ---- Larger ones --------------------------------------------------------- */

static void test_same_again(void)
{
    const struct people_shape shape = {"", 16, 16, 2, 1e5, 10, 10, 5, 1, 0};
    hsy_rappor_share first[20];
    struct people p;

    people_open(&p, &shape, 0.5);
    people_draw(&p, 7, 1);
    ok(people_decode(&p, &plain, NULL) == HSY_OK, "a population decodes");
    memcpy(first, p.shares, sizeof first);
    memset(p.scratch, 0x55, hsy_rappor_scratch(&p.data));
    people_decode(&p, &plain, NULL);
    for (size_t j = 0; j < 20; j++) {
        if (first[j].est.value != p.shares[j].est.value)
            ok(false, "candidate %zu differs the second time", j);
    }
    ok(first[0].detected &&
           fabs(first[0].unbiased - p.held[0]) < 6 * first[0].est.sd,
       "the first string is found, where it is, and again the same");
    people_close(&p);
}

/* A bit that both hashes name counts once. */
static void test_repeats(void)
{
    const struct people_shape one = {"", 8, 32, 1, 1e5, 5, 5, 0, 1, 0};
    hsy_rappor_data twice;
    hsy_rappor_share shares[10];
    hsy_rappor_summary summary;
    uint16_t bits[10 * 32 * 2];
    struct people p;
    void *scratch;

    people_open(&p, &one, 0.5);
    people_draw(&p, 7, 2);
    people_decode(&p, &plain, NULL);
    for (size_t i = 0; i < 10 * 32; i++)
        bits[2 * i] = bits[2 * i + 1] = p.bits[i];
    twice = p.data;
    twice.h = 2;
    twice.bits = bits;
    scratch = trial_memory(hsy_rappor_scratch(&twice));
    ok(hsy_rappor_decode(&twice, shares, &summary, &plain, scratch, NULL) ==
               HSY_OK &&
           decode_near(shares[0].unbiased, p.shares[0].unbiased, 1e-9) &&
           decode_near(shares[0].est.value, p.shares[0].est.value, 1e-9),
       "positions repeated inside a cohort count once");
    free(scratch);
    people_close(&p);
}

/* More candidates than a dense regression takes. */
static void test_long_list(void)
{
    const struct people_shape shape = {"", 128, 16, 2, 1e7, 10, 2490, 0, 1, 0};
    struct people p;
    size_t right = 0, wrong = 0;

    people_open(&p, &shape, 0.5);
    people_draw(&p, 7, 3);
    ok(people_decode(&p, &plain, NULL) == HSY_OK && !p.summary.posed &&
           finite_all(p.shares, p.data.candidates),
       "2,500 candidates decode by residuals");
    for (size_t j = 0; j < p.data.candidates; j++)
        *(p.share[j] > 0 ? &right : &wrong) += p.shares[j].detected;
    ok(right >= 8 && wrong <= 3, "%zu of 10 strings are found, %zu false",
       right, wrong);
    people_close(&p);
}

static void test_memory(void)
{
    const hsy_rappor_data data = {.size = sizeof data,
                                  .k = 128,
                                  .h = 2,
                                  .m = 128,
                                  .p = 0.375,
                                  .q = 0.625,
                                  .candidates = 100000};
    /* The caller's map is as large as the copy in scratch. */
    const size_t map = data.candidates * data.m * data.h * sizeof(uint16_t);

    ok(hsy_rappor_scratch(&data) > map &&
           hsy_rappor_scratch(&data) + map < (size_t)256 << 20,
       "100,000 candidates, 128 bits, 128 cohorts: %zu MiB of scratch",
       hsy_rappor_scratch(&data) >> 20);
}

/* ---- RAPPOR's own demo --------------------------------------------------- */

/* The numbers of a CSV file, row after row; their count, 0 if it is not there.
 * Names are skipped. */
static size_t demo_numbers(double *out, size_t room, const char *name)
{
    const char *dir = getenv("HSY_RAPPOR_DATA");
    char path[512], word[64];
    size_t n = 0, len = 0;
    FILE *f;
    int c;

    snprintf(path, sizeof path, "%s/demo/%s",
             dir != NULL ? dir : "../shared/data/rappor", name);
    f = fopen(path, "r");
    if (f == NULL)
        return 0;
    while ((c = getc(f)) != EOF && n < room) {
        if (c != ',' && c != '\n' && len + 1 < sizeof word) {
            word[len++] = (char)c;
            continue;
        }
        word[len] = '\0';
        if (len > 0 && strchr("0123456789-.", word[0]) != NULL)
            out[n++] = strtod(word, NULL);
        else if (len > 1 && word[0] == 'v')
            out[n++] = strtod(word + 1, NULL); /* v17: the 17th string */
        else if (len > 0 && word[0] == 'n')
            out[n++] = -1; /* a bogus one */
        len = 0;
    }
    fclose(f);
    return n;
}

#define DEMO_K 32u
#define DEMO_M 64u
#define DEMO_ROOM 40000

struct demo {
    uint64_t totals[DEMO_M], ones[DEMO_M * DEMO_K];
    uint16_t bits[200 * DEMO_M];
    double share[200]; /* of each candidate */
    double hidden;     /* of the strings that are not listed */
    double a[DEMO_ROOM];
    hsy_rappor_share shares[200];
};

static bool demo_load(struct demo *d, hsy_rappor_data *data)
{
    double true_share[101] = {0};
    size_t n = demo_numbers(d->a, DEMO_ROOM, "counts.csv");

    if (n != DEMO_M * (DEMO_K + 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t c = i / (DEMO_K + 1), b = i % (DEMO_K + 1);

        *(b == 0 ? &d->totals[c] : &d->ones[c * DEMO_K + b - 1]) =
            (uint64_t)d->a[i];
    }
    n = demo_numbers(d->a, DEMO_ROOM, "truth.csv");
    for (size_t i = 0; i + 1 < n; i += 2) {
        true_share[(size_t)d->a[i]] = d->a[i + 1] / 1e6;
        d->hidden += d->a[i + 1] / 1e6;
    }
    n = demo_numbers(d->a, DEMO_ROOM, "map.csv") / (DEMO_M + 1);
    for (size_t j = 0; j < n; j++) {
        const double *row = d->a + j * (DEMO_M + 1);

        if (row[0] >= 1 && row[0] <= 100)
            d->share[j] = true_share[(size_t)row[0]];
        d->hidden -= d->share[j];
        for (size_t c = 0; c < DEMO_M; c++)
            d->bits[j * DEMO_M + c] =
                (uint16_t)((size_t)(row[c + 1] - 1) % DEMO_K);
    }
    *data = (hsy_rappor_data){.size = sizeof *data,
                              .k = DEMO_K,
                              .h = 1,
                              .m = DEMO_M,
                              .p = 0.375,
                              .q = 0.625,
                              .totals = d->totals,
                              .ones = d->ones,
                              .candidates = n,
                              .bits = d->bits};
    return n == 190;
}

static void test_demo_strings(struct demo *d, const hsy_rappor_data *data)
{
    void *scratch = trial_memory(hsy_rappor_scratch(data));
    hsy_rappor_summary summary;
    size_t right = 0, wrong = 0;
    double distance = d->hidden;

    ok(hsy_rappor_decode(data, d->shares, &summary, &plain, scratch, NULL) ==
           HSY_OK,
       "the demo decodes");
    for (size_t j = 0; j < data->candidates; j++) {
        const hsy_rappor_share *s = &d->shares[j];

        *(d->share[j] > 0 ? &right : &wrong) += s->detected;
        distance += fabs((s->detected ? s->est.value : 0) - d->share[j]);
    }
    ok(right >= 46, "%zu true strings of the demo, at least 46", right);
    ok(wrong <= 8, "%zu false ones, at most 8", wrong);
    ok(distance / 2 < 0.145, "total variation %.4f, below 0.145", distance / 2);
    free(scratch);
}

static void test_demo(void)
{
    struct demo *d = trial_memory(sizeof *d);
    hsy_rappor_data data;

    if (demo_load(d, &data))
        test_demo_strings(d, &data);
    else
        tap_skip("no RAPPOR demo data (HSY_RAPPOR_DATA names its directory)");
    free(d);
}

int main(void)
{
    test_channel();
    test_boolean();
    test_diagonal();
    test_refusals();
    test_edges();
    test_same_again();
    test_repeats();
    test_long_list();
    test_memory();
    test_demo();
    return tap_done();
}
