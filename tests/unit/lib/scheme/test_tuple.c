/* test_tuple.c - several attributes: blocks, refusals, choices, views. */
#include "lib/bits/bytes.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#define ROOM (1u << 16)

/* A block in the making. */
struct block {
    uint8_t bytes[ROOM];
    size_t len;
};

static hsy_spec yes_no(double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .kind = HSY_KIND_YES_NO,
                      .nano_epsilon = (uint64_t)(epsilon * 1e9)};
}

static void add(struct block *b, const char *name, hsy_spec spec)
{
    if (hsy_attribute_encode(b->bytes, ROOM, &b->len,
                             &(hsy_attribute){.name = name,
                                              .name_len = strlen(name),
                                              .spec = spec},
                             NULL) != HSY_OK)
        puts("Bail out! no attribute");
}

static hsy_spec tuple(const struct block *b, const char *mechanism,
                      double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = mechanism,
                      .kind = HSY_KIND_TUPLE,
                      .nano_epsilon = (uint64_t)(epsilon * 1e9),
                      .labels = b->bytes,
                      .labels_len = b->len};
}

static bool refuses(hsy_spec spec, hsy_status status, const char *field)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};
    hsy_status st = hsy_scheme_init(s, &spec, &err);
    bool good = st == status && err.status == status &&
                err.field != HSY_FIELD_NONE &&
                strcmp(hsy_field_name(err.field), field) == 0;

    if (!good)
        printf("# %d, %s: %s\n", st, hsy_field_name(err.field),
               err.msg ? err.msg : "-");
    free(s);
    return good;
}

/* ---- Blocks -------------------------------------------------------------- */

static void encodes(void)
{
    struct block b = {.len = 0};
    hsy_spec list = trial_values("grr", 3, 1), bad = list, nested;
    static const uint8_t labels[] = "\1\0\0\0x\1\0\0\0y\1\0\0\0z";
    size_t size = 0, at = 0;
    char name[HSY_LABEL_MAX + 1] = "n";
    hsy_attribute a;
    hsy_error err;

    list.labels = labels;
    list.labels_len = sizeof labels - 1;
    ok(hsy_attribute_encode(
           NULL, 0, &size,
           &(hsy_attribute){.name = "city", .name_len = 4, .spec = list},
           NULL) == HSY_OK &&
           size == 4 + 4 + HSY_SCHEME_WIRE + 4 + sizeof labels - 1,
       "without room the size of an attribute is told");
    ok(hsy_attribute_encode(
           b.bytes, size - 1, &b.len,
           &(hsy_attribute){.name = "city", .name_len = 4, .spec = list},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_ROOM && b.len == 0,
       "too little room is refused");
    add(&b, "city", list);
    add(&b, "smoker", yes_no(1));
    ok(hsy_attribute_next(&a, &at, b.bytes, b.len, NULL) == HSY_OK &&
           a.name_len == 4 && memcmp(a.name, "city", 4) == 0 && at == size &&
           a.spec.d == 3 && a.spec.labels_len == sizeof labels - 1 &&
           memcmp(a.spec.labels, labels, sizeof labels - 1) == 0,
       "the first attribute is read again");
    ok(hsy_attribute_next(&a, &at, b.bytes, b.len, NULL) == HSY_OK &&
           a.spec.kind == HSY_KIND_YES_NO && a.spec.nano_epsilon == HSY_NANO &&
           strcmp(a.spec.mechanism, "rr") == 0 && at == b.len,
       "and the second, with the mechanism that was chosen");
    ok(hsy_attribute_next(&a, &at, b.bytes, b.len, NULL) == HSY_E_END,
       "there is no third");
    ok(hsy_attribute_encode(
           NULL, 0, &size,
           &(hsy_attribute){.name = name, .name_len = 0, .spec = list},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_ATTRIBUTE &&
           hsy_attribute_encode(NULL, 0, &size,
                                &(hsy_attribute){.name = name,
                                                 .name_len = sizeof name,
                                                 .spec = list},
                                &err) == HSY_E_RANGE &&
           err.limit == HSY_LABEL_MAX,
       "a name has 1 to 4096 bytes");
    bad.d = 1;
    ok(hsy_attribute_encode(
           NULL, 0, &size,
           &(hsy_attribute){.name = name, .name_len = 1, .spec = bad},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_VALUES,
       "an attribute is checked as any spec is");
    nested = tuple(&b, "smp", 1);
    ok(hsy_attribute_encode(
           NULL, 0, &size,
           &(hsy_attribute){.name = name, .name_len = 1, .spec = nested},
           &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_ATTRIBUTE,
       "an attribute has no attributes");
}

static void checks(void)
{
    struct block b = {.len = 0}, cut;
    bool whole = true;
    hsy_spec spec;

    ok(refuses(tuple(&b, "smp", 1), HSY_E_RANGE, "attribute"),
       "no attribute is refused");
    add(&b, "a", yes_no(1));
    ok(refuses(tuple(&b, NULL, 1), HSY_E_RANGE, "attribute"),
       "so is a single one");
    add(&b, "b", trial_values("oue", 5, 1));
    spec = tuple(&b, "smp", 1);
    ok(trial_resolves(&spec), "two are a tuple");
    for (size_t len = 1; len < b.len; len++) {
        hsy_spec shorter = spec;

        shorter.labels_len = len;
        whole &= !trial_resolves(&shorter);
        shorter.mechanism = NULL;
        whole &= !trial_resolves(&shorter);
    }
    ok(whole, "no beginning of it is");
    ok(refuses(tuple(&b, "smp", 0.999999), HSY_E_RANGE, "epsilon"),
       "no attribute may claim more than the tuple");
    cut = b;
    cut.bytes[4 + 1 + 136] ^= 1; /* a resolved integer of the first */
    ok(refuses(tuple(&cut, "smp", 1), HSY_E_FORMAT, "attribute"),
       "integers that do not follow are refused");
    cut = b;
    cut.bytes[4 + 1] = 24; /* mechanism and kind of a tuple, which it is not */
    cut.bytes[4 + 1 + 4] = HSY_KIND_TUPLE;
    ok(refuses(tuple(&cut, "smp", 1), HSY_E_RANGE, "attribute"),
       "so is a tuple in a tuple");
    cut.bytes[4 + 1] = 99;
    ok(refuses(tuple(&cut, "joint", 1), HSY_E_UNKNOWN, "mechanism"),
       "and a mechanism of the future");
    add(&b, "a", yes_no(1));
    ok(refuses(tuple(&b, "smp", 1), HSY_E_RANGE, "attribute"),
       "two of one name are refused");
    spec.d = 2;
    ok(refuses(spec, HSY_E_RANGE, "values"), "a tuple has no number of values");
    spec.d = 0;
    spec.mechanism = "grr";
    ok(refuses(spec, HSY_E_RANGE, "mechanism"), "grr takes no tuple");
}

static void many(void)
{
    struct block b = {.len = 0};
    hsy_spec spec;
    hsy_scheme *s;

    for (char i = 0; i < (char)HSY_ATTRIBUTES_MAX; i++)
        add(&b, (const char[]){(char)('0' + i), '\0'}, yes_no(1));
    spec = tuple(&b, NULL, 1);
    s = trial_scheme(&spec);
    ok(hsy_codes_per_truth(s) == HSY_ATTRIBUTES_MAX && s->mech->row.id == 24,
       "64 attributes are one too many for cells, but not for smp");
    free(s);
    add(&b, "one more", yes_no(1));
    ok(refuses(tuple(&b, NULL, 1), HSY_E_RANGE, "attribute"), "65 are refused");
}

/* ---- Choices and claims -------------------------------------------------- */

static void chooses(void)
{
    static const struct {
        double epsilon;
        uint32_t id;
    } rows[] = {{0.5, 24}, {1, 24}, {2, 25}, {4, 25}};

    for (size_t i = 0; i < 4; i++) {
        struct block b = {.len = 0};
        hsy_spec spec;
        hsy_scheme *s;

        add(&b, "a", yes_no(rows[i].epsilon));
        add(&b, "b", yes_no(rows[i].epsilon));
        spec = tuple(&b, NULL, rows[i].epsilon);
        s = trial_scheme(&spec);
        ok(s->mech->row.id == rows[i].id,
           "two questions at epsilon %g are asked by %s", rows[i].epsilon,
           s->mech->row.name);
        free(s);
    }
}

static void claims(void)
{
    struct block b = {.len = 0};
    hsy_spec coins = yes_no(0), spec;
    hsy_scheme *s;
    hsy_scheme_info info;

    coins.design = HSY_DESIGN_SPINNER;
    coins.chance[0] = (hsy_ratio){3, 4}; /* ln 3 */
    add(&b, "a", coins);
    add(&b, "b", yes_no(0.5));
    spec = tuple(&b, NULL, 2);
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    ok(info.id == 24 && info.nano_epsilon == 1098612289 &&
           fabs(info.epsilon_exact - log(3)) < 1e-15,
       "the claim is the largest of the attributes', here by a spinner");
    ok(fabs(info.v0 / (2 * exp(0.5) / pow(exp(0.5) - 1, 2)) - 1) < 1e-9,
       "the variance is that of the worst attribute, times two");
    free(s);
    ok(refuses(tuple(&b, "joint", 2), HSY_E_RANGE, "design"),
       "joint takes no probabilities of an attribute");
}

static void joint_refuses(void)
{
    struct block b = {.len = 0};
    hsy_spec spec = trial_number(10, 1);
    hsy_scheme *s;

    add(&b, "a", yes_no(1));
    add(&b, "b", trial_values("grr", 2048, 1));
    spec = tuple(&b, "joint", 1);
    s = trial_scheme(&spec);
    ok(s->cells == 4096, "joint takes 4096 cells");
    free(s);
    spec.param[HSY_PARAM_SUBSET] = 4096;
    ok(refuses(spec, HSY_E_RANGE, "subset"), "a set leaves out one cell");
    spec.param[HSY_PARAM_SUBSET] = 0;
    spec.param[HSY_PARAM_G] = 2;
    ok(refuses(spec, HSY_E_RANGE, "g"), "and joint has no g");
    add(&b, "c", yes_no(1));
    ok(refuses(tuple(&b, "joint", 1), HSY_E_RANGE, "attribute"),
       "it does not take 8192 cells");
    b.len = 0;
    add(&b, "a", yes_no(1));
    add(&b, "n", trial_number(10, 1));
    ok(refuses(tuple(&b, "joint", 1), HSY_E_RANGE, "attribute"), "nor a mean");
    spec = tuple(&b, NULL, 1);
    ok(trial_resolves(&spec), "which auto therefore leaves to smp");
}

/* ---- Truths, views, points ----------------------------------------------- */

static void truths(void)
{
    struct block b = {.len = 0};
    hsy_truth items[3] = {{.type = HSY_TRUTH_INDEX, .u.index = 1},
                          {.type = HSY_TRUTH_NUMBER, .u.number = 7},
                          {.type = HSY_TRUTH_INDEX, .u.index = 2}};
    hsy_truth truth = {.type = HSY_TRUTH_TUPLE};
    uint64_t codes[3] = {77, 77, 77};
    hsy_error err = {0};
    hsy_spec spec;
    hsy_scheme *s;

    add(&b, "a", yes_no(1));
    add(&b, "n", trial_number(10, 1));
    add(&b, "b", trial_values("grr", 3, 1));
    spec = tuple(&b, NULL, 1);
    s = trial_scheme(&spec);
    truth.u.tuple.items = items;
    truth.u.tuple.count = 2;
    ok(hsy_codes_per_truth(s) == 3 &&
           hsy_truth_code(s, codes, &truth, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_TRUTH && err.limit == 3,
       "a truth has one item for each attribute");
    truth.u.tuple.count = 3;
    items[1].u.number = 11;
    err = (hsy_error){0};
    ok(hsy_truth_code(s, codes, &truth, &err) == HSY_E_RANGE &&
           codes[0] == 77 && codes[2] == 77 && err.at == 0 && err.limit == 0,
       "which of them is outside its domain is not said");
    items[1].u.number = 7;
    ok(hsy_truth_code(s, codes, &truth, NULL) == HSY_OK && codes[0] == 1 &&
           codes[1] == 7 && codes[2] == 2 && hsy_code_count(s) == 0,
       "its codes are those of its items");
    free(s);
}

/* 60 reports of each attribute by hand. */
static void points(void)
{
    struct block b = {.len = 0};
    int64_t memory[16];
    hsy_evidence got[3], own[3];
    hsy_tally t, part;
    hsy_error err = {0};
    hsy_spec spec;
    hsy_scheme *s;

    add(&b, "a", yes_no(1));
    add(&b, "b", trial_values("grr", 3, 1));
    spec = tuple(&b, "smp", 1);
    s = trial_scheme(&spec);
    hsy_tally_init(&t, s, memory);
    ok(hsy_tally_words(s) <= 16 && hsy_scheme_parts(s) == 2,
       "the counters are those of the parts");
    ok(hsy_attribute_evidence(s, got, &t, 0, NULL, 1, NULL, &err) ==
           HSY_E_EMPTY,
       "an attribute nobody was asked for has no estimate");
    hsy_tally_part(&part, &t, s, 0);
    part.cells[part.ncells - 1] = 25;
    part.strata[0] = 60;
    hsy_tally_part(&part, &t, s, 1);
    part.cells[0] = 30;
    part.cells[1] = 10;
    part.cells[2] = 20;
    part.strata[0] = 60;
    ok(hsy_attribute_evidence(s, got, &t, 1, NULL, 3, NULL, NULL) == HSY_OK &&
           hsy_evidence_of(hsy_scheme_part(s, 1), own, &part, NULL, 3, NULL,
                           NULL) == HSY_OK &&
           got[0].value == own[0].value && got[2].v0 == own[2].v0 &&
           got[0].n == 60,
       "an attribute's points are its part's");
    ok(own[0].binomial_variance == 0 &&
           fabs(got[0].binomial_variance - 60.0 / 119) < 1e-15,
       "and speak of all 120 people, of whom 60 were asked");
    ok(hsy_attribute_evidence(s, got, &t, 2, NULL, 3, NULL, &err) ==
               HSY_E_RANGE &&
           hsy_evidence_of(s, got, &t, NULL, 1, NULL, &err) == HSY_E_RANGE,
       "there is no third, and no value of a tuple itself");
    free(s);
}

static void joint_sums(void)
{
    struct block b = {.len = 0};
    int64_t memory[16];
    hsy_evidence cell[6], got[3];
    double sum = 0;
    hsy_tally t;
    hsy_error err;
    hsy_spec spec;
    hsy_scheme *s;

    add(&b, "a", yes_no(2));
    add(&b, "b", trial_values("grr", 3, 2));
    spec = tuple(&b, "joint", 2);
    s = trial_scheme(&spec);
    hsy_tally_init(&t, s, memory);
    for (int i = 0; i < 6; i++)
        t.cells[i] = 10 + 3 * i;
    t.strata[0] = 105;
    hsy_evidence_of(hsy_scheme_part(s, 0), cell, &t, NULL, 6, NULL, NULL);
    ok(hsy_attribute_evidence(s, got, &t, 1, NULL, 3, NULL, NULL) == HSY_OK &&
           fabs(got[2].value - cell[2].value - cell[5].value) < 1e-12,
       "the last attribute runs fastest");
    for (int i = 3; i < 6; i++)
        sum += cell[i].value;
    ok(hsy_attribute_evidence(s, got, &t, 0, NULL, 1, NULL, NULL) == HSY_OK &&
           fabs(got[0].value - sum) < 1e-12 && got[0].binomial_variance == 0,
       "yes is the second half of the cells, and everybody was asked");
    ok(hsy_attribute_evidence(s, got, &t, 1, (const uint64_t[]){0}, 1, NULL,
                              &err) == HSY_E_RANGE &&
           hsy_attribute_evidence(s, got, &t, 1, NULL, 2, NULL, &err) ==
               HSY_E_RANGE &&
           err.limit == 3,
       "all values of an attribute are estimated at once");
    t.strata[0] = 0;
    ok(hsy_attribute_evidence(s, got, &t, 1, NULL, 3, NULL, &err) ==
           HSY_E_EMPTY,
       "and none from no reports");
    free(s);
}

int main(void)
{
    encodes();
    checks();
    many();
    chooses();
    claims();
    joint_refuses();
    truths();
    points();
    joint_sums();
    return tap_done();
}
