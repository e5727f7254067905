/*
 * auto.c - the choice of a mechanism for a question (theory 3.15).
 *
 * Each candidate is resolved with its own best parameters. Those that break the
 * spec's limits drop out; of the rest the least n times variance of a share
 * near 0 is the measure, and all within 5 % of it are equally good. Of these
 *     a report that fits a word comes before one that does not,
 *     a tally that a core decodes within seconds before one that it does not,
 *     the shorter report before the longer,
 *     fewer steps before more, and the simpler mechanism before the other.
 *
 * Variances are made by IEEE additions, multiplications, divisions and
 * comparisons of doubles, in one order: the choice is the same everywhere.
 */
#include "lib/mech/mechanisms.h"
#include "lib/scheme/sampled.h"

#define AUTO_CANDIDATES 9
#define AUTO_WITHIN 1.05
#define AUTO_QUICK 4294967296.0 /* steps that take seconds */

/* Who is asked for each kind, simplest first. What is missing loses to one of
 * these at every epsilon and domain (tests/unit/lib/mech/test_auto.c). */
static const struct auto_kind {
    uint32_t kind;
    const struct hsy_mechanism *candidates[AUTO_CANDIDATES];
} auto_kinds[] = {
    {HSY_KIND_YES_NO, {&hsy_mech_rr}},
    {HSY_KIND_VALUES,
     {&hsy_mech_rr, &hsy_mech_grr, &hsy_mech_ss, &hsy_mech_pgr, &hsy_mech_hpg,
      &hsy_mech_hr, &hsy_mech_oue, &hsy_mech_blh, &hsy_mech_olh}},
    {HSY_KIND_NUMBER, {&hsy_mech_dwm, &hsy_mech_onebit}},
    {HSY_KIND_BINS,
     {&hsy_mech_grr, &hsy_mech_ss, &hsy_mech_pgr, &hsy_mech_hpg, &hsy_mech_hr,
      &hsy_mech_oue, &hsy_mech_blh, &hsy_mech_olh}},
    {HSY_KIND_STRINGS,
     {&hsy_mech_blh, &hsy_mech_olh, &hsy_mech_hcms, &hsy_mech_cms}},
    {HSY_KIND_TUPLE, {&hsy_mech_smp, &hsy_mech_joint}},
};

/* What a candidate would cost. */
struct auto_offer {
    double cost; /* n times variance at share 0; below 0: it does not do */
    double steps;
    uint32_t bits;
};

/* What s would cost, resolved by one candidate. */
static struct auto_offer
auto_ask(hsy_scheme s, const struct hsy_mechanism *mech, const hsy_spec *spec)
{
    double v[2];

    if (hsy_mech_resolve(&s, mech, spec, NULL) != HSY_OK)
        return (struct auto_offer){.cost = -1};
    if (s.kind == HSY_KIND_TUPLE)
        v[0] = s.parts.worst; /* there is no tail yet */
    else
        hsy_mech_variance(&s, v);
    return (struct auto_offer){
        .cost = v[0], .steps = hsy_mech_steps(&s), .bits = s.packed_bits};
}

/* 0: a report in a word, decoded within seconds; 1: in a word; 2: longer. */
static int auto_rank(const struct auto_offer *x)
{
    return x->bits > 64 ? 2 : x->steps > AUTO_QUICK;
}

/* Whether a is to be taken rather than b, which comes before it. */
static bool auto_smaller(const struct auto_offer *a, const struct auto_offer *b)
{
    if (auto_rank(a) != auto_rank(b))
        return auto_rank(a) < auto_rank(b);
    if (a->bits != b->bits)
        return a->bits < b->bits;
    return a->steps < b->steps;
}

/* The place of the best offer, n if there is none. */
static size_t auto_best(const struct auto_offer *offers, size_t n)
{
    double least = -1;
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (offers[i].cost >= 0 && (least < 0 || offers[i].cost < least))
            least = offers[i].cost;
    for (size_t i = 0; i < n; i++)
        if (offers[i].cost >= 0 && offers[i].cost <= AUTO_WITHIN * least &&
            (best == n || auto_smaller(&offers[i], &offers[best])))
            best = i;
    return best;
}

/* Where no candidate does, the reason is that of the last one that takes what
 * the spec gives: the others refuse it for being not theirs. */
hsy_status hsy_mech_auto(hsy_scheme *s, const hsy_spec *spec, hsy_error *err)
{
    const struct auto_kind *kind = auto_kinds;
    struct auto_offer offers[AUTO_CANDIDATES];
    size_t n = 0, best, told = 0;

    while (kind->kind != s->kind)
        kind++; /* every kind has its line */
    for (; n < AUTO_CANDIDATES && kind->candidates[n] != NULL; n++) {
        offers[n] = auto_ask(*s, kind->candidates[n], spec);
        if (hsy_mech_takes(kind->candidates[n], spec, NULL) == HSY_OK)
            told = n;
    }
    best = auto_best(offers, n);
    if (best == n) /* fails again, and says why */
        best = told;
    return hsy_mech_resolve(s, kind->candidates[best], spec, err);
}

static size_t auto_tail(const struct hsy_mechanism *mech, const hsy_spec *spec)
{
    if (mech->client->tail_size != NULL)
        return mech->client->tail_size(spec);
    return mech->parts != NULL ? hsy_sampled_size(spec, mech->parts) : 0;
}

size_t hsy_mech_tail_size(const hsy_spec *spec)
{
    const struct hsy_mechanism *mech = hsy_mech_meant(spec);
    size_t most = mech != NULL ? auto_tail(mech, spec) : 0;

    for (size_t i = 0; i < sizeof auto_kinds / sizeof auto_kinds[0]; i++) {
        const struct auto_kind *kind = &auto_kinds[i];

        for (size_t k = 0; k < AUTO_CANDIDATES && kind->candidates[k]; k++)
            if (mech == NULL && kind->kind == spec->kind &&
                most < auto_tail(kind->candidates[k], spec))
                most = auto_tail(kind->candidates[k], spec);
    }
    return most;
}

/* For one bit there is one, for open strings what hashes them. */
const hsy_catalogue *hsy_mechanism_kept(uint32_t kind, size_t i)
{
    static const struct hsy_mechanism *const kept[][4] = {
        [HSY_KIND_YES_NO] = {&hsy_mech_rr},
        [HSY_KIND_VALUES] = {&hsy_mech_grr, &hsy_mech_olh, &hsy_mech_oue},
        [HSY_KIND_NUMBER] = {&hsy_mech_onebit},
        [HSY_KIND_BINS] = {&hsy_mech_grr, &hsy_mech_olh, &hsy_mech_oue},
        [HSY_KIND_STRINGS] = {&hsy_mech_olh},
    };

    if (kind >= sizeof kept / sizeof kept[0] || i >= 3 || kept[kind][i] == NULL)
        return NULL;
    return &kept[kind][i]->row;
}
