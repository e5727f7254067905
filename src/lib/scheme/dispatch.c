/* dispatch.c - mechanisms by name, resolving by one of them, and dispatch. */
#include "lib/scheme/scheme.h"

#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/scheme/sampled.h"

#include <string.h>

const hsy_catalogue *hsy_mechanism_at(size_t i)
{
    size_t at = 0;

    for (; at < hsy_mech_count; at++)
        if (!mech_central(hsy_mech_table[at]) && i-- == 0)
            return &hsy_mech_table[at]->row;
    return NULL;
}

bool hsy_mech_listed(const char *name, const char *list)
{
    const size_t own = strlen(name);

    while (*list != '\0') {
        size_t len = 0;

        while (list[len] != '\0' && list[len] != ',')
            len++;
        if (len == own && memcmp(name, list, len) == 0)
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

const struct hsy_mechanism *hsy_mech_named(const char *name)
{
    for (size_t i = 0; i < hsy_mech_count; i++)
        if (hsy_mech_listed(name, hsy_mech_table[i]->row.name) ||
            hsy_mech_listed(name, hsy_mech_table[i]->row.aliases))
            return hsy_mech_table[i];
    return NULL;
}

const struct hsy_mechanism *hsy_mech_numbered(uint32_t id)
{
    for (size_t i = 0; i < hsy_mech_count; i++)
        if (hsy_mech_table[i]->row.id == id)
            return hsy_mech_table[i];
    return NULL;
}

const hsy_catalogue *hsy_mechanism_named(const char *name)
{
    const struct hsy_mechanism *mech = hsy_mech_named(name);

    return mech != NULL ? &mech->row : NULL;
}

bool hsy_mech_is_auto(const char *name)
{
    return name == NULL || hsy_mech_listed(name, "auto");
}

/* The mechanism that a matrix describes; a small client may have none. */
static const struct hsy_mechanism *mech_by_matrix(void)
{
    for (size_t i = 0; i < hsy_mech_count; i++)
        if (hsy_mech_table[i]->designs >> HSY_DESIGN_MATRIX & 1)
            return hsy_mech_table[i];
    return NULL;
}

const struct hsy_mechanism *hsy_mech_meant(const hsy_spec *spec)
{
    if (!hsy_mech_is_auto(spec->mechanism))
        return hsy_mech_named(spec->mechanism);
    return spec->design == HSY_DESIGN_MATRIX ? mech_by_matrix() : NULL;
}

static const char *const mech_params[HSY_PARAMS] = {
#define PARAMETER(symbol, name, place, text) [HSY_PARAM_##symbol] = (name),
#include "lib/scheme/params.def"
#undef PARAMETER
};

const char *hsy_param_name(size_t param)
{
    return param < HSY_PARAMS ? mech_params[param] : NULL;
}

static const char *const mech_kinds[] = {
    [HSY_KIND_YES_NO] = "yes-no",   [HSY_KIND_VALUES] = "values",
    [HSY_KIND_NUMBER] = "number",   [HSY_KIND_BINS] = "bins",
    [HSY_KIND_STRINGS] = "strings", [HSY_KIND_TUPLE] = "tuple",
};

const char *hsy_kind_name(uint32_t kind)
{
    return kind < sizeof mech_kinds / sizeof mech_kinds[0] ? mech_kinds[kind]
                                                           : NULL;
}

/* A search through all names of fields: only for what is refused. */
static uint32_t mech_param_field(size_t param)
{
    return hsy_field_find(mech_params[param] != NULL ? mech_params[param]
                                                     : "param");
}

/* Parameters of other mechanisms must be absent, so that none is ignored. */
hsy_status hsy_mech_takes(const struct hsy_mechanism *mech,
                          const hsy_spec *spec, hsy_error *err)
{
    bool design = spec->design != 0;

    for (size_t i = 0; i < HSY_CHANCES; i++)
        design |= spec->chance[i].num != 0 || spec->chance[i].den != 0;
    if (design && mech->designs == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN,
                        "the mechanism is not given by probabilities");
    if (mech->client->spell == NULL &&
        !bytes_zero(spec->alphabet, HSY_ALPHABET))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ALPHABET,
                        "applies to pem, sfp and stage only");
    if (mech->client->spell == NULL && spec->oracle != NULL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ORACLE,
                        "applies to pem, sfp and stage only");
    for (size_t i = 0; i < HSY_PARAMS; i++) {
        if (spec->param[i] != 0 && (mech->params >> i & 1) == 0)
            return hsy_fail(err, HSY_E_RANGE, mech_param_field(i),
                            "the mechanism has no such parameter");
        if (spec->param[i] > HSY_PARAM_MAX)
            return hsy_fail_limit(err, HSY_E_RANGE, mech_param_field(i),
                                  "too large", HSY_PARAM_MAX);
    }
    return HSY_OK;
}

hsy_status hsy_mech_resolve(hsy_scheme *s, const struct hsy_mechanism *mech,
                            const hsy_spec *spec, hsy_error *err)
{
    hsy_status st;

    if ((mech->row.kinds >> s->kind & 1) == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MECHANISM,
                        "the mechanism does not support this kind of question");
    st = hsy_mech_takes(mech, spec, err);
    if (st != HSY_OK)
        return st;
    if (spec->oracle != NULL && hsy_mech_named(spec->oracle) == NULL)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_ORACLE,
                        "no such mechanism");
    s->mech = mech;
    s->strata = 1;
    s->answers = 1;
    for (size_t i = 0; i < HSY_ALPHABET; i++)
        s->alphabet[i] = spec->alphabet[i];
    if (spec->oracle != NULL)
        s->oracle = hsy_mech_named(spec->oracle)->row.id;
    st = mech->client->resolve(s, spec, err);
    if (st != HSY_OK)
        return st;
    s->packed_bits =
        s->report_bits <= 64 ? s->report_bits : (uint32_t)(8 * s->report_bytes);
    s->users = (double)spec->users;
    if (spec->max_bits != 0 && s->packed_bits > spec->max_bits)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_BITS,
                              "a report needs more bits than allowed",
                              spec->max_bits);
    if (spec->max_steps != 0 && hsy_mech_steps(s) > (double)spec->max_steps)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_STEPS,
                              "estimating needs more steps than allowed",
                              spec->max_steps);
    return HSY_OK;
}

hsy_status hsy_mech_claim(hsy_scheme *s, uint64_t nano, hsy_error *err)
{
    uint64_t cap = s->nano_epsilon;

    if (nano == 0)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "these probabilities spend more than epsilon 32",
                             HSY_LIMIT_NANO, HSY_EPSILON_MAX);
    if (cap != 0 && nano > cap)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "these probabilities spend more than the cap",
                             HSY_LIMIT_NANO, cap);
    s->nano_epsilon = nano;
    return HSY_OK;
}

void hsy_mech_variance(const hsy_scheme *s, double v[2])
{
    struct mech_support law;

    if (s->mech->estimate->variance != NULL) {
        s->mech->estimate->variance(s, v);
        return;
    }
    s->mech->estimate->support(s, &law);
    v[0] = mech_support_v0(&law);
    v[1] = mech_support_v1(&law);
}

double hsy_mech_steps(const hsy_scheme *s)
{
    const struct mech_estimate *estimate = s->mech->estimate;

    return estimate != NULL && estimate->steps != NULL
               ? estimate->steps(s, s->users)
               : (double)s->cells;
}

hsy_status hsy_mech_coins(const hsy_coins *coins, hsy_error *err)
{
    const hsy_rng *secret = &coins->secret, *published = &coins->published;

    if (secret->fill == published->fill && secret->ctx == published->ctx)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_COINS,
                        "secret and published coins are one source");
    return HSY_OK;
}

hsy_status hsy_mech_reports(const hsy_scheme *s, hsy_error *err)
{
    if (mech_central(s->mech))
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_MECHANISM,
                        "a curator's release, not a report");
    return HSY_OK;
}

/* What a mechanism can be asked to randomize, and with what. */
static hsy_status mech_ready(const hsy_scheme *s, const hsy_coins *coins,
                             hsy_error *err)
{
    hsy_status st = hsy_mech_reports(s, err);

    return st == HSY_OK ? hsy_mech_coins(coins, err) : st;
}

/* A mechanism fails only where its coins do, whatever the source calls it. */
static hsy_status mech_drawn(hsy_status st, hsy_error *err)
{
    if (st != HSY_OK)
        return hsy_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                        "the random source failed; nothing was reported");
    return HSY_OK;
}

/* Without a report its place is zeroed: nobody shall send what stood there
 * before, nor half of a batch. */
static hsy_status mech_finish(const hsy_scheme *s, uint8_t *reports, size_t n,
                              hsy_status st)
{
    if (st != HSY_OK)
        bytes_wipe(reports, n * s->report_bytes);
    return st;
}

hsy_status hsy_randomize(const hsy_scheme *s, uint8_t *report,
                         const hsy_truth *truth, hsy_coins *coins,
                         hsy_error *err)
{
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    hsy_status st = mech_ready(s, coins, err);

    if (st == HSY_OK)
        st = hsy_truth_code(s, codes, truth, err);
    if (st == HSY_OK)
        st = mech_drawn(s->mech->client->randomize(s, report, codes, 1, coins),
                        err);
    bytes_wipe(codes, hsy_codes_per_truth(s) * sizeof *codes);
    return mech_finish(s, report, 1, st);
}

/* What a caller learns of codes: that all are inside, or one is not
 * (tests/ctime/domain.supp names this function). */
static hsy_status mech_codes(const hsy_scheme *s, const uint64_t *codes,
                             size_t n, hsy_error *err)
{
    if (!hsy_codes_inside(s, codes, n))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH,
                        "a value is outside the domain");
    return HSY_OK;
}

/* By streams where they are given and the mechanism simulates. */
static hsy_status mech_many(const hsy_scheme *s, uint8_t *reports,
                            const uint64_t *codes, size_t n, hsy_coins *coins,
                            hsy_stream *secret, hsy_stream *published,
                            hsy_error *err)
{
    hsy_status st = mech_ready(s, coins, err);

    if (st == HSY_OK)
        st = mech_codes(s, codes, n, err);
    if (st == HSY_OK)
        st = mech_drawn(
            secret != NULL && s->mech->counting->simulate_batch != NULL
                ? s->mech->counting->simulate_batch(s, reports, codes, n,
                                                    secret, published)
                : s->mech->client->randomize(s, reports, codes, n, coins),
            err);
    return mech_finish(s, reports, n, st);
}

hsy_status hsy_randomize_batch(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins, hsy_error *err)
{
    return mech_many(s, reports, codes, n, coins, NULL, NULL, err);
}

static hsy_status mech_seeded(const hsy_stream *secret,
                              const hsy_stream *published, hsy_error *err)
{
    if (secret->simulate == 0 || published->simulate == 0)
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_SEED,
                        "simulation takes streams that were opened by seed");
    return HSY_OK;
}

hsy_status hsy_simulate_batch(const hsy_scheme *s, uint8_t *reports,
                              const uint64_t *codes, size_t n,
                              hsy_stream *secret, hsy_stream *published,
                              hsy_error *err)
{
    hsy_coins coins = {hsy_stream_rng(secret), hsy_stream_rng(published)};
    hsy_status st = mech_seeded(secret, published, err);

    return st == HSY_OK
               ? mech_many(s, reports, codes, n, &coins, secret, published, err)
               : mech_finish(s, reports, n, st);
}

hsy_status hsy_check(const hsy_scheme *s, const uint8_t *report)
{
    return s->mech->counting->check(s, report, 1) == 1 ? HSY_OK : HSY_E_FORMAT;
}

size_t hsy_check_batch(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    return s->mech->counting->check(s, reports, n);
}

/* A release has no law of single reports: no factors. */
size_t hsy_law_factors(const hsy_scheme *s)
{
    if (mech_central(s->mech))
        return 0;
    if (s->mech->parts != NULL)
        return hsy_sampled_law_factors(s);
    if (s->mech->law->factors_of != NULL)
        return s->mech->law->factors_of(s);
    return s->mech->law->factors != 0 ? s->mech->law->factors : s->report_bits;
}

void hsy_law(const hsy_scheme *s, hsy_factor *factors, size_t *count,
             uint64_t code, const uint8_t *report)
{
    *count = mech_central(s->mech) || hsy_codes_per_truth(s) > 1
                 ? 0 /* hsy_law_codes takes several */
                 : s->mech->law->of_code(s, factors, code, report);
}

void hsy_law_codes(const hsy_scheme *s, hsy_factor *factors, size_t *count,
                   const uint64_t *codes, const uint8_t *report)
{
    *count = mech_central(s->mech) ? 0
             : s->mech->law->of_codes != NULL
                 ? s->mech->law->of_codes(s, factors, codes, report)
                 : s->mech->law->of_code(s, factors, codes[0], report);
}

void hsy_law_worst(const hsy_scheme *s, hsy_factor factors[4], size_t *count)
{
    *count = mech_central(s->mech) ? 0 : s->mech->law->worst(s, factors);
}

uint32_t hsy_law_power(const hsy_scheme *s)
{
    const struct mech_law *law = s->mech->law;

    return law != NULL && law->power != NULL ? law->power(s) : 1;
}
