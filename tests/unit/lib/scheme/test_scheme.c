/* test_scheme.c - specs checked, schemes resolved, encoded and compared. */
#include "lib/bits/bytes.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

static hsy_spec spec_yes_no(void)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .kind = HSY_KIND_YES_NO,
                      .nano_epsilon = HSY_NANO};
}

static hsy_spec spec_bins(void)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .kind = HSY_KIND_BINS,
                      .nano_epsilon = HSY_NANO,
                      .hi = 1000,
                      .d = 10};
}

/* ---- What is refused ----------------------------------------------------- */

static void refuses(const hsy_spec *spec, hsy_status status, const char *field,
                    const char *why)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    uint8_t *before = trial_memory(hsy_scheme_size(spec));
    hsy_error err = {0};
    hsy_status st;

    memset(s, 0x5a, hsy_scheme_size(spec));
    memset(before, 0x5a, hsy_scheme_size(spec));
    st = hsy_scheme_init(s, spec, &err);
    ok(st == status && err.status == status && err.field != HSY_FIELD_NONE &&
           strcmp(hsy_field_name(err.field), field) == 0 && err.msg != NULL,
       "%s: refused, naming %s", why, field);
    ok(memcmp(s, before, hsy_scheme_size(spec)) == 0, "%s: nothing is written",
       why);
    ok(hsy_scheme_init(s, spec, NULL) == status, "%s: without an error too",
       why);
    free(s);
    free(before);
}

static void refuses_common(void)
{
    hsy_spec spec = spec_yes_no();

    spec.size = 8;
    refuses(&spec, HSY_E_RANGE, "size", "a spec shorter than the first");
    spec.size = SIZE_MAX;
    refuses(&spec, HSY_E_RANGE, "size", "a spec of no size at all");
    spec = spec_yes_no();
    spec.mechanism = "rrr";
    refuses(&spec, HSY_E_UNKNOWN, "mechanism", "an unknown mechanism");
    spec.mechanism = "r";
    refuses(&spec, HSY_E_UNKNOWN, "mechanism", "half a name");
    spec.mechanism = "";
    refuses(&spec, HSY_E_UNKNOWN, "mechanism", "an empty name");
    spec.mechanism = "grr";
    refuses(&spec, HSY_E_RANGE, "mechanism", "a kind the mechanism lacks");
    spec = spec_yes_no();
    spec.kind = 0;
    refuses(&spec, HSY_E_UNKNOWN, "kind", "kind 0");
    spec.kind = 7;
    refuses(&spec, HSY_E_UNKNOWN, "kind", "kind 7");
    spec = spec_yes_no();
    spec.nano_epsilon = 0;
    refuses(&spec, HSY_E_RANGE, "epsilon", "epsilon 0");
    spec.nano_epsilon = HSY_EPSILON_MIN - 1;
    refuses(&spec, HSY_E_RANGE, "epsilon", "a tiny epsilon");
    spec.nano_epsilon = (uint64_t)HSY_EPSILON_MAX + 1;
    refuses(&spec, HSY_E_RANGE, "epsilon", "a huge epsilon");
    spec.nano_epsilon = UINT64_MAX;
    refuses(&spec, HSY_E_RANGE, "epsilon", "a negative epsilon's bits");
}

/* The spec of a program built with a header that has one field more. */
static void later_specs(void)
{
    struct {
        hsy_spec spec;
        uint64_t later;
    } given = {spec_yes_no(), 0};
    hsy_spec spec = spec_yes_no();
    hsy_scheme *s = trial_scheme(&spec), *t;

    given.spec.size = sizeof given;
    t = trial_scheme(&given.spec);
    ok(hsy_scheme_difference(s, t) == NULL,
       "a longer spec that leaves the rest zero is the same scheme");
    given.later = 1;
    refuses(&given.spec, HSY_E_RANGE, "size",
            "a longer spec that asks for something unknown");
    free(s);
    free(t);
}

static void refuses_domains(void)
{
    hsy_spec spec = spec_yes_no();

    spec.d = 3;
    refuses(&spec, HSY_E_RANGE, "values", "yes/no with three values");
    spec = trial_values("grr", 0, 1);
    refuses(&spec, HSY_E_RANGE, "values", "d = 0");
    spec.d = 1;
    refuses(&spec, HSY_E_RANGE, "values", "d = 1");
    spec.d = HSY_VALUES_MAX + 1;
    refuses(&spec, HSY_E_RANGE, "values", "too many values");
    spec = trial_values("oue", HSY_UNARY_MAX + 1, 1);
    refuses(&spec, HSY_E_RANGE, "values", "too many values for unary");
    spec = trial_values("rr", 3, 1);
    refuses(&spec, HSY_E_RANGE, "values", "rr of three values");
    spec = trial_values("grr", 3, 1);
    spec.hi = 1;
    refuses(&spec, HSY_E_RANGE, "range", "values with a range");
    spec = trial_number(10, 1);
    spec.lo = 10;
    refuses(&spec, HSY_E_RANGE, "range", "an empty range");
    spec.lo = INT64_MIN;
    spec.hi = INT64_MAX;
    refuses(&spec, HSY_E_RANGE, "range", "a range of 2^64");
    spec = trial_number(10, 1);
    spec.scale = 10;
    refuses(&spec, HSY_E_RANGE, "scale", "ten decimals");
    spec.scale = 0;
    spec.d = 3;
    refuses(&spec, HSY_E_RANGE, "values", "a number with values");
    spec = spec_bins();
    spec.d = 0;
    refuses(&spec, HSY_E_RANGE, "values", "no bins");
    spec.d = 1001;
    refuses(&spec, HSY_E_RANGE, "bins", "more bins than steps");
    spec.d = 10;
    spec.hi = 0;
    refuses(&spec, HSY_E_RANGE, "range", "bins of an empty range");
}

static void refuses_foreign(void)
{
    hsy_spec spec = trial_values("grr", 3, 1);

    spec.param[HSY_PARAM_G] = 4;
    refuses(&spec, HSY_E_RANGE, "g", "grr with a hash range");
    spec.param[HSY_PARAM_G] = 0;
    spec.param[HSY_PARAM_POOL_BITS] = 3;
    refuses(&spec, HSY_E_RANGE, "pool-bits", "grr with a pool");
    spec.param[HSY_PARAM_POOL_BITS] = 0;
    spec.param[HSY_PARAM_POOL_SEED] = 3;
    refuses(&spec, HSY_E_RANGE, "pool-seed", "grr with a pool's seed");
    spec.param[HSY_PARAM_POOL_SEED] = 0;
    spec.design = HSY_DESIGN_SPINNER;
    refuses(&spec, HSY_E_RANGE, "design", "grr with a design");
    spec.design = 0;
    spec.chance[1].den = 1;
    refuses(&spec, HSY_E_RANGE, "design", "grr with a chance");
    spec = trial_number(10, 1);
    spec.labels = (const uint8_t *)"";
    refuses(&spec, HSY_E_RANGE, "labels", "a number with labels");
}

/* ---- Labels -------------------------------------------------------------- */

static void labels(void)
{
    static const uint8_t two[] = "\1\0\0\0a\3\0\0\0b,c";
    static const uint8_t huge[] = "\1\20\0\0a\3\0\0\0b,c"; /* 4097 bytes */
    hsy_spec spec = trial_values("grr", 2, 1);
    hsy_scheme *s;
    hsy_scheme_info info, other;

    spec.labels_len = 4;
    refuses(&spec, HSY_E_RANGE, "labels", "a length without labels");
    spec.labels = two;
    spec.labels_len = sizeof two - 2;
    refuses(&spec, HSY_E_FORMAT, "labels", "a label cut short");
    spec.labels_len = 7;
    refuses(&spec, HSY_E_FORMAT, "labels", "too few labels");
    spec.labels_len = sizeof two;
    refuses(&spec, HSY_E_FORMAT, "labels", "bytes after the labels");
    spec.labels_len = (size_t)HSY_LABELS_MAX + 1;
    refuses(&spec, HSY_E_RANGE, "labels", "64 MiB of labels and one byte");
    spec.labels = huge;
    spec.labels_len = sizeof huge - 1;
    refuses(&spec, HSY_E_RANGE, "labels", "a label of 4097 bytes");

    spec.labels = two;
    spec.labels_len = sizeof two - 1;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    ok(info.labels_len == sizeof two - 1, "labels have their length");
    free(s);
    spec.labels = NULL;
    spec.labels_len = 0;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &other);
    ok(memcmp(info.digest, other.digest, HSY_DIGEST) != 0,
       "the digest covers the labels");
    free(s);
}

/* ---- Automatic choice ---------------------------------------------------- */

static void chooses(hsy_spec spec, const char *name, const char *what)
{
    hsy_scheme *s;
    hsy_scheme_info info, again;

    spec.mechanism = NULL;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    ok(strcmp(info.mechanism, name) == 0, "auto: %s takes %s (%s)", what, name,
       info.mechanism);
    free(s);
    spec.mechanism = "auto";
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &again);
    ok(memcmp(info.digest, again.digest, HSY_DIGEST) == 0,
       "auto: %s, by name, is the same scheme", what);
    free(s);
}

/* A few of each kind; test_auto.c has the rule, over a grid. */
static void automatic(void)
{
    hsy_spec strings = {.size = sizeof strings,
                        .kind = HSY_KIND_STRINGS,
                        .nano_epsilon = HSY_NANO};
    hsy_spec hashed = trial_values(NULL, 4, 1), design = spec_yes_no();

    chooses(spec_yes_no(), "rr", "yes/no");
    {
        hsy_spec number = trial_number(10, 1);

        number.mechanism = NULL;
        chooses(number, "dwm", "a number");
        number.max_bits = 1;
        chooses(number, "onebit", "a number in one bit");
    }
    chooses(strings, "olh", "strings");
    chooses(trial_values(NULL, 2, 1), "rr", "two values");
    chooses(trial_values(NULL, 4, 1), "grr", "four values");
    chooses(trial_values(NULL, 16, 1), "ss", "16 values at epsilon 1");
    chooses(trial_values(NULL, 16, 4), "grr", "16 values at epsilon 4");
    chooses(trial_values(NULL, 1024, 1), "pgr", "1024 values");
    chooses(trial_values(NULL, HSY_VALUES_MAX, 1), "pgr", "2^22 values");
    chooses(trial_values(NULL, HSY_VALUES_MAX, 30), "grr",
            "2^22 values at epsilon 30");
    chooses(spec_bins(), "ss", "ten bins");
    hashed.param[HSY_PARAM_G] = 5;
    chooses(hashed, "olh", "a spec with a hash range");
    design.design = HSY_DESIGN_SPINNER;
    design.nano_epsilon = 0;
    design.chance[0] = (hsy_ratio){3, 4};
    chooses(design, "rr", "a spinner");
    design.d = 2;
    design.kind = HSY_KIND_VALUES;
    chooses(design, "rr", "a spinner for two values");
    strings.param[HSY_PARAM_POOL_BITS] = 25;
    refuses(&strings, HSY_E_RANGE, "pool-bits", "auto with a pool of 2^25");
}

/* ---- Catalogue ----------------------------------------------------------- */

static void kinds(void)
{
    static const char *const names[] = {NULL,   "yes-no",  "values", "number",
                                        "bins", "strings", "tuple"};
    bool good = true;

    for (uint32_t kind = 1; kind <= HSY_KIND_TUPLE; kind++)
        good &= strcmp(hsy_kind_name(kind), names[kind]) == 0;
    ok(good, "every kind has its name");
    ok(hsy_kind_name(0) == NULL && hsy_kind_name(7) == NULL &&
           hsy_kind_name(UINT32_MAX) == NULL,
       "and what is no kind has none");
}

/* What is chosen from keeps answers, and asks for that kind. */
static void kept(void)
{
    const hsy_catalogue *row;

    for (uint32_t kind = 0; kind <= HSY_KIND_TUPLE + 1; kind++) {
        bool good = true;
        size_t n = 0;

        for (; (row = hsy_mechanism_kept(kind, n)) != NULL; n++)
            good &= hsy_mechanism_named(row->name) == row &&
                    (row->kinds >> kind & 1) != 0;
        ok(good && (n > 0) == (kind > 0 && kind < HSY_KIND_TUPLE),
           "kind %u: %zu mechanisms keep answers", kind, n);
    }
}

/* Each table is there as a whole. What golden files state of ids, those of all
 * mechanisms but one, is for ever. */
static void tables(void)
{
    for (size_t i = 0; i < hsy_mech_count; i++) {
        const struct hsy_mechanism *m = hsy_mech_table[i];
        const struct mech_counting *c = m->counting;
        const struct mech_estimate *e = m->estimate;
        const bool central = mech_central(m),
                   tuple = m->row.kinds == 1u << HSY_KIND_TUPLE;

        ok(m->client->resolve != NULL &&
               (m->client->randomize != NULL) == !central &&
               (m->client->settle != NULL || m->parts == NULL),
           "%s: what a device runs", m->row.name);
        ok(c->check != NULL && c->tally != NULL &&
               (c->tally_bulk != NULL) == (c->tally_scratch != NULL),
           "what counts");
        ok((e->support != NULL || e->variance != NULL) &&
               (e->points != NULL) == (!e->iterative && !tuple) &&
               (e->channel == NULL ||
                (e->channel->forward != NULL && e->channel->backward != NULL)),
           "what estimates");
        ok(central ? m->law == NULL
                   : m->law->worst != NULL &&
                         (m->law->of_code != NULL || m->law->of_codes != NULL),
           "its law");
    }
    is_u64(hsy_mechanism_named("matrix")->id, 23, "matrix keeps its wire id");
}

static void catalogue(void)
{
    hsy_spec spec = trial_values("krr", 3, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const hsy_catalogue *row;
    size_t rows = 0;
    uint64_t ids = 0;
    hsy_scheme_info info;

    for (size_t i = 0; i < hsy_mech_count; i++) {
        row = &hsy_mech_table[i]->row;
        ok(row->id >= 1 && row->id <= hsy_mech_count &&
               (ids >> row->id & 1) == 0 && row->title != NULL &&
               hsy_mechanism_named(row->name) == row,
           "%s: its name and its wire id are its own", row->name);
        ids |= (uint64_t)1 << row->id;
    }
    while (hsy_mechanism_at(rows) != NULL)
        rows++;
    is_u64(rows, hsy_mech_count - 2, "all are there but a curator's");
    ok(hsy_mechanism_at(rows + 1) == NULL, "there is no row past the end");
    ok(hsy_mechanism_named("krr") == hsy_mechanism_named("grr") &&
           hsy_mechanism_named("grr")->id == 2 &&
           hsy_mechanism_named("gr") == NULL &&
           hsy_mechanism_named("auto") == NULL,
       "a row is found by its name and by its aliases");
    hsy_scheme_describe(s, &info);
    ok(strcmp(info.mechanism, "grr") == 0, "the first alias names its row");
    free(s);
    spec.mechanism = "direct";
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    ok(strcmp(info.mechanism, "grr") == 0, "the last alias does too");
    free(s);
}

/* ---- Encoding ------------------------------------------------------------ */

static void round_trip(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    hsy_scheme *t = trial_memory(hsy_scheme_size(spec));
    uint8_t wire[HSY_SCHEME_WIRE], again[HSY_SCHEME_WIRE];
    unsigned accepted = 0;
    hsy_scheme_info a, b;

    hsy_scheme_encode(s, wire);
    ok(hsy_scheme_decode(t, wire, spec->labels, spec->labels_len, NULL) ==
           HSY_OK,
       "%s: decodes", name);
    hsy_scheme_encode(t, again);
    hsy_scheme_describe(s, &a);
    hsy_scheme_describe(t, &b);
    ok(memcmp(wire, again, sizeof wire) == 0 &&
           memcmp(a.param, b.param, sizeof a.param) == 0 &&
           memcmp(a.digest, b.digest, HSY_DIGEST) == 0 &&
           hsy_scheme_difference(s, t) == NULL,
       "%s: encodes the same again", name);
    for (size_t bit = 0; bit < 8 * sizeof wire; bit++) {
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (hsy_scheme_decode(t, wire, spec->labels, spec->labels_len, NULL) ==
            HSY_OK) {
            /* Another valid scheme, such as one with another pool seed. */
            hsy_scheme_encode(t, again);
            accepted += memcmp(wire, again, sizeof wire) != 0 ||
                        hsy_scheme_difference(s, t) == NULL;
        }
        wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ok(accepted == 0, "%s: a flipped bit is refused or another scheme", name);
    free(s);
    free(t);
}

static void encoding(void)
{
    static const uint8_t names[] = "\1\0\0\0a\3\0\0\0b,c";
    const hsy_catalogue *row;
    hsy_spec spec = trial_values("grr", 2, 1);
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_scheme *s;
    hsy_error err;

    spec.labels = names;
    spec.labels_len = sizeof names - 1;
    round_trip(&spec, "labels");
    s = trial_scheme(&spec);
    hsy_scheme_encode(s, wire);
    ok(hsy_scheme_decode(s, wire, names, 3, &err) == HSY_E_FORMAT &&
           err.field == HSY_FIELD_LABELS,
       "labels of another length are refused");
    ok(hsy_scheme_decode(s, wire, (const uint8_t *)"\1\0\0\0a\3\0\0\0b,d",
                         sizeof names - 1, &err) == HSY_E_FORMAT &&
           err.field == HSY_FIELD_SCHEME,
       "labels with other letters are refused");
    bytes_put32(wire, 99);
    ok(hsy_scheme_decode(s, wire, names, sizeof names - 1, &err) ==
               HSY_E_UNKNOWN &&
           err.field == HSY_FIELD_MECHANISM,
       "a mechanism of the future is refused");
    free(s);
    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++) {
        spec = trial_small(row, trial_takes(row, 5) ? 5 : 2, 1);
        round_trip(&spec, row->name);
    }
    spec = spec_yes_no();
    spec.design = HSY_DESIGN_COINS;
    spec.nano_epsilon = 0;
    spec.chance[0] = (hsy_ratio){1, 2};
    spec.chance[1] = (hsy_ratio){1, 3};
    round_trip(&spec, "two coins");
}

static void differs(hsy_spec a, hsy_spec b, const char *field)
{
    hsy_scheme *s = trial_scheme(&a), *t = trial_scheme(&b);
    const char *found = hsy_scheme_difference(s, t);

    ok(found != NULL && strcmp(found, field) == 0, "schemes differ in: %s",
       field);
    ok(hsy_scheme_difference(t, s) == found, "from the other side too");
    free(s);
    free(t);
}

static void differences(void)
{
    hsy_spec grr = trial_values("grr", 3, 1), lh = trial_values("olh", 3, 1);
    hsy_spec number = trial_number(10, 1), other;

    other = trial_values("oue", 3, 1);
    differs(grr, other, "mechanism");
    differs(grr, number, "kind of truth");
    other = trial_values("grr", 3, 1.5);
    differs(grr, other, "epsilon");
    other = trial_values("oue", 3, 1.5);
    differs(grr, other, "epsilon");
    other = trial_values("grr", 4, 1);
    differs(grr, other, "values");
    other = grr;
    other.labels = (const uint8_t *)"\1\0\0\0a\1\0\0\0b\1\0\0\0c";
    other.labels_len = 15;
    differs(grr, other, "labels");
    other = number;
    other.hi = 11;
    differs(number, other, "range");
    other = number;
    other.scale = 2;
    differs(number, other, "range");
    other = lh;
    other.param[HSY_PARAM_G] = 7;
    differs(lh, other, "g");
    other = lh;
    other.param[HSY_PARAM_POOL_BITS] = 7;
    differs(lh, other, "pool-bits");
    other = lh;
    other.param[HSY_PARAM_POOL_SEED] = 7;
    differs(lh, other, "pool-seed");
}

static void processors(void)
{
    hsy_spec spec = trial_values("oue", 9, 1);
    hsy_scheme *s = trial_scheme(&spec);

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++)
        ok(hsy_scheme_cpu(s, (hsy_cpu)level) ==
               (hsy_cpu_has((hsy_cpu)level) ? HSY_OK : HSY_E_UNKNOWN),
           "level %s is taken if the machine has it",
           hsy_cpu_name((hsy_cpu)level));
    ok(hsy_scheme_cpu(s, (hsy_cpu)99) == HSY_E_UNKNOWN, "level 99 is not");
    free(s);
}

int main(void)
{
    refuses_common();
    later_specs();
    refuses_domains();
    refuses_foreign();
    labels();
    automatic();
    kinds();
    catalogue();
    tables();
    kept();
    encoding();
    differences();
    processors();
    return tap_done();
}
