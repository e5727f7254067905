/* stat.c - see stat.h. */

#include "rig/stat.h"

uint64_t stat_seed(void)
{
    const char *asked = getenv("HSY_TEST_SEED");

    return asked != NULL ? strtoull(asked, NULL, 10) : 20240301;
}

bool stat_long(void)
{
    return getenv("HSY_TEST_LONG") != NULL;
}

/* ---- Bounds -------------------------------------------------------------- */

double stat_bernstein(double v, double alpha)
{
    double l = log(2 / alpha);

    return l / 3 + sqrt(l * l / 9 + 2 * v * l);
}

double stat_binomial(uint64_t k, uint64_t n, double p)
{
    double low, high;

    if (p <= 0 || p >= 1)
        return k == (p <= 0 ? 0 : n) ? 1 : 0;
    low = hsy_binomial_cdf(k, n, p);
    high = k == 0 ? 1 : hsy_beta_inc((double)k, (double)(n - k) + 1, p);
    return fmin(1, 2 * fmin(low, high));
}

double stat_hoeffding(double a, double p, double runs)
{
    double k = a > 0 ? a * log(a / p) : 0;

    if (a <= p)
        return 1;
    k += a < 1 ? (1 - a) * log((1 - a) / (1 - p)) : 0;
    return exp(-runs * k);
}

void stat_limits(double limits[2], uint64_t k, uint64_t n)
{
    for (int side = 0; side < 2; side++) {
        double low = 0, high = 1;

        for (int i = 0; i < 50; i++) {
            const double p = (low + high) / 2;
            const bool below =
                side == 0 ? k > 0 && 1 - hsy_binomial_cdf(k - 1, n, p) < 0.025
                          : k == n || hsy_binomial_cdf(k, n, p) > 0.025;

            *(below ? &low : &high) = p;
        }
        limits[side] = side == 0 ? low : high;
    }
}

/* ---- Schemes ------------------------------------------------------------- */

#define STAT_POOLS 4u

hsy_scheme *stat_scheme_of(const struct stat_ask *ask, uint32_t kind,
                           enum stat_pool pool)
{
    const bool sketch = pool == STAT_SKETCH && ask->pool_bits != 0;
    const bool few = ask->pool_bits < 8;
    hsy_spec spec = {
        .size = sizeof spec,
        .mechanism = ask->mechanism,
        .nano_epsilon = (uint64_t)(ask->epsilon * 1e9),
        .kind = kind,
        .d = kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS ? ask->d : 0,
        .hi = kind == HSY_KIND_NUMBER ? STAT_RANGE
              : kind == HSY_KIND_BINS ? ask->d
                                      : 0,
        .param[HSY_PARAM_POOL_BITS] = pool == STAT_POOL ? ask->pool_bits : 0,
        .param[HSY_PARAM_HASHES] =
            sketch ? (uint64_t)1 << (ask->pool_bits - (few ? 0 : 4)) : 0,
        .param[HSY_PARAM_WIDTH] = !sketch ? 0
                                  : few   ? 4
                                          : 64,
        .param[HSY_PARAM_POOL_SEED] = pool == STAT_NONE ? 0 : ask->pool_seed};
    hsy_scheme *s;

    if (strcmp(ask->mechanism, "rappor") == 0) { /* small enough to count */
        spec.param[HSY_PARAM_POOL_BITS] = 0;
        spec.param[HSY_PARAM_FILTER_BITS] = 4;
        spec.param[HSY_PARAM_COHORTS] = 2;
    }
    if (kind == HSY_KIND_STRINGS) { /* at least d of them, spelled */
        const hsy_spec spelled =
            trial_spelled(ask->mechanism, ask->d, ask->epsilon);

        spec.param[HSY_PARAM_BITS] = spelled.param[HSY_PARAM_BITS];
        trial_steps(&spec, 1);
        if (strcmp(ask->mechanism, "sfp") == 0)
            trial_puzzle(&spec);
    }
    trial_attach(&spec);
    s = malloc(hsy_scheme_size(&spec));
    if (s != NULL && hsy_scheme_init(s, &spec, NULL) == HSY_OK)
        return s;
    free(s);
    return NULL;
}

hsy_scheme *stat_scheme(const struct stat_ask *ask)
{
    static const uint32_t kinds[] = {HSY_KIND_VALUES, HSY_KIND_YES_NO,
                                     HSY_KIND_NUMBER, HSY_KIND_BINS,
                                     HSY_KIND_TUPLE,  HSY_KIND_STRINGS};
    hsy_scheme *s = NULL;

    for (size_t i = 0; s == NULL && i < STAT_POOLS * 6; i++)
        s = stat_scheme_of(ask, kinds[i / STAT_POOLS],
                           (enum stat_pool)(i % STAT_POOLS));
    return s;
}

bool stat_pointed(const char *mechanism)
{
    const struct stat_ask ask = {mechanism, 4, 1, 3, 0};
    hsy_scheme *s = stat_scheme(&ask);
    hsy_scheme_info info = {0};

    if (s != NULL)
        hsy_scheme_describe(s, &info);
    free(s);
    return !info.iterative && info.kind != HSY_KIND_TUPLE &&
           info.kind != HSY_KIND_STRINGS;
}

size_t stat_points(const hsy_scheme_info *info)
{
    return info->kind == HSY_KIND_VALUES || info->kind == HSY_KIND_BINS
               ? info->d
               : 1;
}

/* ---- Ways to randomize --------------------------------------------------- */

const char *const stat_way_names[] = {"single", "batch", "simulation"};

void stat_coins_open(struct stat_coins *c, uint64_t lane)
{
    hsy_stream_seed(&c->secret, stat_seed(), 2 * lane);
    hsy_stream_seed(&c->published, stat_seed(), 2 * lane + 1);
}

/* items has room for a tuple's. */
static hsy_truth stat_truth(const hsy_scheme *s, hsy_truth *items,
                            const uint64_t *codes)
{
    const size_t width = hsy_codes_per_truth(s);
    hsy_truth truth = {.type = HSY_TRUTH_TUPLE};

    for (size_t i = 0; i < width; i++)
        items[i] = trial_truth_one(hsy_scheme_attribute(s, i), codes[i]);
    truth.u.tuple.items = items;
    truth.u.tuple.count = width;
    return width == 1 ? items[0] : truth;
}

hsy_status stat_randomize(const hsy_scheme *s, const hsy_scheme_info *info,
                          enum stat_way way, uint8_t *reports,
                          const uint64_t *codes, size_t n, struct stat_coins *c)
{
    hsy_coins coins = {hsy_stream_rng(&c->secret),
                       hsy_stream_rng(&c->published)};
    hsy_status st = HSY_OK;

    if (way == STAT_BATCH)
        return hsy_randomize_batch(s, reports, codes, n, &coins, NULL);
    if (way == STAT_SIMULATE)
        return hsy_simulate_batch(s, reports, codes, n, &c->secret,
                                  &c->published, NULL);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        hsy_truth items[HSY_ATTRIBUTES_MAX];
        hsy_truth truth =
            stat_truth(s, items, codes + i * hsy_codes_per_truth(s));

        st = hsy_randomize(s, reports + i * info->report_bytes, &truth, &coins,
                           NULL);
    }
    return st;
}

/* ---- From truths to points ----------------------------------------------- */

void *stat_alloc(size_t size)
{
    void *p = calloc(1, size + 64);

    if (p == NULL)
        abort();
    return p;
}

void stat_run_room(struct stat_run *r)
{
    hsy_scheme_describe(r->s, &r->info);
    r->npoints = stat_points(&r->info);
    r->reports = stat_alloc(STAT_BLOCK * r->info.report_bytes);
    r->memory = stat_alloc(hsy_tally_words(r->s) * sizeof *r->memory);
    r->points = stat_alloc(r->npoints * sizeof *r->points);
    r->scratch = stat_alloc(hsy_evidence_scratch(r->s, r->npoints));
    hsy_tally_init(&r->tally, r->s, r->memory);
}

bool stat_run_open(struct stat_run *r, const struct stat_ask *ask)
{
    memset(r, 0, sizeof *r);
    r->s = stat_scheme(ask);
    if (!ok(r->s != NULL, "%s at epsilon %g is a scheme", ask->mechanism,
            ask->epsilon))
        return false;
    stat_run_room(r);
    return true;
}

void stat_run_close(struct stat_run *r)
{
    free(r->s);
    free(r->reports);
    free(r->memory);
    free(r->points);
    free(r->scratch);
}

bool stat_collect(struct stat_run *r, enum stat_way way, const uint64_t *codes,
                  size_t n, struct stat_coins *c)
{
    hsy_tally_init(&r->tally, r->s, r->memory);
    for (size_t done = 0; done < n; done += STAT_BLOCK) {
        size_t m = n - done < STAT_BLOCK ? n - done : STAT_BLOCK;

        if (stat_randomize(r->s, &r->info, way, r->reports,
                           codes + done * hsy_codes_per_truth(r->s), m,
                           c) != HSY_OK ||
            hsy_tally_batch(&r->tally, r->s, r->reports, m, NULL) != HSY_OK)
            return false;
    }
    return r->info.iterative ||
           hsy_evidence_of(r->s, r->points, &r->tally, NULL, r->npoints,
                           r->scratch, NULL) == HSY_OK;
}

double stat_variance(const hsy_evidence *p, double f)
{
    return ((1 - f) * p->v0 + f * p->v1 + p->binomial_variance * f * (1 - f)) /
               p->n +
           p->residual_variance;
}
