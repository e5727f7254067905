/* trial.c - see trial.h. */

#include "rig/trial.h"

void *trial_memory(size_t size)
{
    void *p = calloc(1, size + 1);

    if (p == NULL) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return p;
}

hsy_scheme *trial_scheme(const hsy_spec *spec)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    hsy_error err = {0};

    if (hsy_scheme_init(s, spec, &err) != HSY_OK) {
        printf("Bail out! no scheme: %s: %s\n", hsy_field_name(err.field),
               err.msg);
        exit(1);
    }
    return s;
}

/* The entry of a matrix for tests: nearly even, but no two columns alike. */
static uint64_t trial_entry(uint32_t y, uint32_t x)
{
    return 1000 + (3 * x + 5 * y) % 4 * 2;
}

void trial_attributes(hsy_spec *spec, uint32_t values)
{
    static uint8_t blocks[8][1024];
    static size_t turn;
    uint8_t *block = blocks[turn++ % 8];
    hsy_spec own = {.size = sizeof own,
                    .kind = HSY_KIND_YES_NO,
                    .nano_epsilon = spec->nano_epsilon};
    size_t len = 0;

    hsy_attribute_encode(
        block, sizeof blocks[0], &len,
        &(hsy_attribute){.name = "a", .name_len = 1, .spec = own}, NULL);
    own.kind = HSY_KIND_VALUES;
    own.d = values;
    own.mechanism = "grr";
    hsy_attribute_encode(
        block, sizeof blocks[0], &len,
        &(hsy_attribute){.name = "b", .name_len = 1, .spec = own}, NULL);
    spec->kind = HSY_KIND_TUPLE;
    spec->d = 0;
    spec->hi = 0;
    spec->labels = block;
    spec->labels_len = len;
}

uint64_t trial_count(const hsy_scheme *s)
{
    uint64_t count = 1;

    for (size_t i = 0; i < hsy_codes_per_truth(s); i++)
        count *= hsy_code_count(hsy_scheme_attribute(s, i));
    return count;
}

void trial_codes(const hsy_scheme *s, uint64_t *codes, uint64_t k)
{
    for (size_t i = hsy_codes_per_truth(s); i-- > 0;) {
        uint64_t count = hsy_code_count(hsy_scheme_attribute(s, i));

        codes[i] = count == 0 ? k : k % count;
        k = count == 0 ? 0 : k / count;
    }
}

double trial_law(const hsy_scheme *s, const uint64_t *codes,
                 const uint8_t *report)
{
    hsy_factor f[64];
    size_t count;
    double p = 1;

    hsy_law_codes(s, f, &count, codes, report);
    for (size_t i = 0; i < count; i++)
        p *= (double)f[i].num / (f[i].den == 0 ? 0x1p64 : (double)f[i].den);
    return p;
}

hsy_truth trial_truth_one(const hsy_scheme *s, uint64_t code)
{
    hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = (uint32_t)code};

    if (s->kind == HSY_KIND_NUMBER || s->kind == HSY_KIND_BINS) {
        truth.type = HSY_TRUTH_NUMBER;
        truth.u.number = s->lo + (int64_t)code;
    }
    return truth;
}

hsy_truth trial_truth(const hsy_scheme *s, uint64_t k)
{
    static hsy_truth items[HSY_ATTRIBUTES_MAX];
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    hsy_truth truth = {.type = HSY_TRUTH_TUPLE};

    if (s->kind != HSY_KIND_TUPLE)
        return trial_truth_one(s, k);
    trial_codes(s, codes, k);
    truth.u.tuple.items = items;
    truth.u.tuple.count = hsy_codes_per_truth(s);
    for (size_t i = 0; i < truth.u.tuple.count; i++)
        items[i] = trial_truth_one(hsy_scheme_attribute(s, i), codes[i]);
    return truth;
}

void trial_attach(hsy_spec *spec)
{
    static uint8_t blocks[8][8 + 8 * HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    static size_t turn;
    uint8_t *block = blocks[turn++ % 8];
    uint64_t most = (uint64_t)(1000 * exp((double)spec->nano_epsilon / 1e9));
    uint64_t total = UINT64_MAX, columns[HSY_MATRIX_MAX];

    if (spec->kind == HSY_KIND_TUPLE)
        trial_attributes(spec, 3);
    if (spec->mechanism == NULL || strcmp(spec->mechanism, "matrix") != 0 ||
        spec->kind != HSY_KIND_VALUES)
        return;
    spec->d = spec->d > HSY_MATRIX_MAX ? HSY_MATRIX_MAX : spec->d;
    for (uint32_t x = 0; x < spec->d; x++) {
        columns[x] = 0;
        for (uint32_t y = 0; y < spec->d; y++)
            columns[x] += y == x ? 0 : trial_entry(y, x);
        total = most + columns[x] < total ? most + columns[x] : total;
    }
    for (uint32_t i = 0; i < 1 + spec->d * spec->d; i++) {
        uint32_t y = (i - 1) / spec->d, x = (i - 1) % spec->d;
        uint64_t entry = i == 0   ? total
                         : y == x ? total - columns[x]
                                  : trial_entry(y, x);

        for (size_t k = 0; k < 8; k++)
            block[8 * i + k] = (uint8_t)(entry >> 8 * k);
    }
    spec->design = HSY_DESIGN_MATRIX;
    spec->labels = block;
    spec->labels_len = 8 + 8 * (size_t)spec->d * spec->d;
}

hsy_spec trial_values(const char *mechanism, uint32_t d, double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = mechanism,
                      .nano_epsilon = (uint64_t)(epsilon * 1e9 + 0.5),
                      .kind = HSY_KIND_VALUES,
                      .d = d};
}

hsy_spec trial_number(int64_t width, double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = "onebit",
                      .nano_epsilon = (uint64_t)(epsilon * 1e9 + 0.5),
                      .kind = HSY_KIND_NUMBER,
                      .hi = width};
}

hsy_spec trial_bins(const char *mechanism, uint32_t d, double epsilon)
{
    hsy_spec spec = trial_values(mechanism, d, epsilon);

    spec.kind = HSY_KIND_BINS;
    spec.hi = d;
    return spec;
}

bool trial_resolves(const hsy_spec *spec)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    bool resolves = hsy_scheme_init(s, spec, NULL) == HSY_OK;

    free(s);
    return resolves;
}

/* Give a mechanism with public hashes few of them, whichever it takes: a pool
 * of 8 (of 2 if it is one of sets, so that a report stays small), or a sketch
 * of 2 rows of 4 cells. */
static void trial_few(hsy_spec *spec, bool strings)
{
    hsy_spec pool = *spec, sketch = *spec;

    pool.param[HSY_PARAM_POOL_BITS] = strings ? 3 : 1;
    sketch.param[HSY_PARAM_HASHES] = 2;
    sketch.param[HSY_PARAM_WIDTH] = 4;
    if (trial_resolves(&pool))
        *spec = pool;
    else if (trial_resolves(&sketch))
        *spec = sketch;
}

void trial_puzzle(hsy_spec *spec)
{
    spec->alphabet['a' / 8] = 1u << 'a' % 8;
    spec->param[HSY_PARAM_HASHES] = 1;
    spec->param[HSY_PARAM_WIDTH] = 2;
    spec->param[HSY_PARAM_POOL_SEED] = 1;
    spec->param[HSY_PARAM_POOL_BITS] = 0;
}

void trial_steps(hsy_spec *spec, uint64_t bits)
{
    const bool puzzle = strcmp(spec->mechanism, "sfp") == 0;
    const bool stage = strcmp(spec->mechanism, "stage") == 0;

    spec->param[puzzle  ? HSY_PARAM_PIECE_BITS
                : stage ? HSY_PARAM_PREFIX_BITS
                        : HSY_PARAM_FIRST] = bits;
    spec->param[puzzle ? HSY_PARAM_FRAGMENT_BITS : HSY_PARAM_STEP] = bits;
}

hsy_spec trial_spelled(const char *mechanism, uint32_t d, double epsilon)
{
    hsy_spec spec = trial_values(mechanism, 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = 2;
    while ((uint64_t)1 << spec.param[HSY_PARAM_BITS] < d)
        spec.param[HSY_PARAM_BITS]++;
    trial_steps(&spec, 1);
    if (strcmp(mechanism, "stage") == 0) /* one, which is all of a search */
        trial_steps(&spec, spec.param[HSY_PARAM_BITS]);
    else
        spec.param[HSY_PARAM_POOL_BITS] = 3;
    if (strcmp(mechanism, "sfp") == 0)
        trial_puzzle(&spec);
    return spec;
}

hsy_spec trial_small(const hsy_catalogue *row, uint32_t d, double epsilon)
{
    hsy_spec spec = trial_values(row->name, d, epsilon);

    if (row->kinds == 1u << HSY_KIND_TUPLE) {
        trial_attributes(&spec, d < 4 ? 2 : d / 2);
        return spec;
    }
    if (row->kinds == 1u << HSY_KIND_STRINGS)
        return trial_spelled(row->name, d, epsilon);
    if ((row->kinds >> HSY_KIND_VALUES & 1) == 0 &&
        (row->kinds >> HSY_KIND_BINS & 1) != 0)
        return trial_bins(row->name, d, epsilon);
    if ((row->kinds >> HSY_KIND_VALUES & 1) == 0) {
        spec = trial_number((int64_t)d - 1, epsilon);
        spec.mechanism = row->name;
        return spec;
    }
    trial_attach(&spec);
    if (strcmp(row->name, "rappor") == 0) {
        spec.param[HSY_PARAM_FILTER_BITS] = 5;
        spec.param[HSY_PARAM_COHORTS] = 4;
    } else {
        trial_few(&spec, row->kinds >> HSY_KIND_STRINGS & 1);
    }
    return spec;
}

bool trial_takes(const hsy_catalogue *row, uint32_t d)
{
    hsy_spec spec = trial_small(row, d, 1);

    return trial_resolves(&spec) &&
           (spec.kind == HSY_KIND_NUMBER || spec.d == d ||
            (spec.kind == HSY_KIND_STRINGS &&
             (uint64_t)1 << spec.param[HSY_PARAM_BITS] == d) ||
            (spec.kind == HSY_KIND_TUPLE && d >= 4 && d % 2 == 0));
}

bool trial_pointed(const hsy_catalogue *row)
{
    hsy_spec spec = trial_small(row, trial_takes(row, 4) ? 4 : 2, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    free(s);
    return !info.iterative;
}
