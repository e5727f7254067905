/* test_auto.c - the automatic choice costs at most 5 % more than the best. */
#include "rig/trial.h"

#define WITHIN 1.05
#define QUICK 4294967296.0 /* steps that take seconds */

static const double epsilons[] = {0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8};
static const uint32_t domains[] = {2,     3,     4,      8,      16,   17,
                                   64,    100,   256,    1000,   1024, 4096,
                                   16384, 65536, 262144, 1000000};

#define EPSILONS (sizeof epsilons / sizeof epsilons[0])
#define DOMAINS (sizeof domains / sizeof domains[0])

/* What becomes of a spec; false if it is refused. */
static bool becomes(hsy_scheme_info *info, const hsy_spec *spec, hsy_error *err)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    bool good = hsy_scheme_init(s, spec, err) == HSY_OK;

    if (good)
        hsy_scheme_describe(s, info);
    free(s);
    return good;
}

static bool allowed(const hsy_scheme_info *info, const hsy_spec *limits)
{
    return (limits->max_bits == 0 || info->packed_bits <= limits->max_bits) &&
           (limits->max_steps == 0 || info->steps <= (double)limits->max_steps);
}

/* Whether a goes before b among the equally accurate. */
static bool smaller(const hsy_scheme_info *a, const hsy_scheme_info *b)
{
    int rank_a = a->packed_bits > 64 ? 2 : a->steps > QUICK;
    int rank_b = b->packed_bits > 64 ? 2 : b->steps > QUICK;

    if (rank_a != rank_b)
        return rank_a < rank_b;
    return a->packed_bits != b->packed_bits ? a->packed_bits < b->packed_bits
                                            : a->steps < b->steps;
}

/* The whole catalogue, not only those that auto asks: what each makes of the
 * spec without its limits. */
struct rivals {
    hsy_scheme_info info[32];
    size_t n;
};

static struct rivals rivals_of(hsy_spec spec)
{
    struct rivals r = {.n = 0};
    const hsy_catalogue *row;

    spec.max_bits = spec.max_steps = 0;
    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL && r.n < 32; i++) {
        spec.mechanism = row->name;
        if (becomes(&r.info[r.n], &spec, NULL) && !r.info[r.n].iterative)
            r.n++;
    }
    return r;
}

/* The least cost within the limits; negative if nothing keeps them. */
static double least(const struct rivals *r, const hsy_spec *limits)
{
    double cost = -1;

    for (size_t i = 0; i < r->n; i++)
        if (allowed(&r->info[i], limits) && (cost < 0 || r->info[i].v0 < cost))
            cost = r->info[i].v0;
    return cost;
}

/* Whether the choice is within 5 % of all that the limits allow, and none of
 * those that are is smaller. */
static bool best(const hsy_scheme_info *chosen, const struct rivals *r,
                 const hsy_spec *limits)
{
    double cost = least(r, limits);

    if (!allowed(chosen, limits) || !(chosen->v0 <= WITHIN * cost))
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (allowed(&r->info[i], limits) && r->info[i].v0 <= WITHIN * cost &&
            smaller(&r->info[i], chosen))
            return false;
    return true;
}

/* n Var at share 0 of subset selection with the best size, by theory 3.6:
 * the least that is known. */
static double optimum(uint32_t d, double epsilon)
{
    double E = exp(epsilon), cost = INFINITY;
    double middle = floor(d / (E + 1));

    for (double w = fmax(middle - 1, 1); w <= fmin(middle + 2, d - 1.0); w++) {
        double p = w * E / (w * E + d - w);
        double q = (p * (w - 1) + (1 - p) * w) / (d - 1);

        cost = fmin(cost, q * (1 - q) / ((p - q) * (p - q)));
    }
    return cost;
}

/* ---- The grid ------------------------------------------------------------ */

static bool grid_one(double epsilon, uint32_t d)
{
    const hsy_spec spec = trial_values(NULL, d, epsilon);
    const struct rivals r = rivals_of(spec);
    hsy_scheme_info chosen;

    if (!becomes(&chosen, &spec, NULL))
        return false;
    printf("# %-4g %8u  %-4s %7u bits  cost %-11.6g  %5.2f %% above the best\n",
           epsilon, (unsigned)d, chosen.mechanism, (unsigned)chosen.packed_bits,
           chosen.v0, 100 * (chosen.v0 / least(&r, &spec) - 1));
    return best(&chosen, &r, &spec) &&
           chosen.v0 <= WITHIN * optimum(d, epsilon) &&
           (d > 2 * exp(epsilon) + 1 ||
            strcmp(chosen.mechanism, d == 2 ? "rr" : "grr") == 0);
}

static void grid(void)
{
    for (size_t e = 0; e < EPSILONS; e++) {
        bool good = true;

        for (size_t i = 0; i < DOMAINS; i++)
            good &= grid_one(epsilons[e], domains[i]);
        ok(good,
           "epsilon %g, d 2 to 10^6: within 5 %% of the best of all "
           "mechanisms, and nothing as good is smaller; grr up to 2E+1",
           epsilons[e]);
    }
}

/* ---- Limits -------------------------------------------------------------- */

/* With limits auto does what it does without them among those that keep them,
 * and refuses if none does. */
static bool limited(const struct rivals *r, const hsy_spec *spec,
                    const char *field)
{
    hsy_error err = {0};
    hsy_scheme_info chosen;

    if (becomes(&chosen, spec, &err))
        return best(&chosen, r, spec);
    return err.status == HSY_E_RANGE &&
           strcmp(hsy_field_name(err.field), field) == 0 && least(r, spec) < 0;
}

static void limits(void)
{
    bool bits = true, steps = true;

    for (size_t e = 0; e < EPSILONS; e += 2) {
        for (size_t i = 0; i < DOMAINS; i += 2) {
            hsy_spec spec = trial_values(NULL, domains[i], epsilons[e]);
            struct rivals r;

            spec.users = 1000000;
            r = rivals_of(spec);
            for (spec.max_bits = 1; spec.max_bits <= 24; spec.max_bits++)
                bits &= limited(&r, &spec, "max_bits");
            spec.max_bits = 0;
            for (spec.max_steps = 1; spec.max_steps >> 40 == 0;
                 spec.max_steps *= 4)
                steps &= limited(&r, &spec, "max_steps");
        }
    }
    ok(bits, "a limit on bits is kept, the choice the best within it");
    ok(steps, "a limit on steps too, counting a million reports included");
}

/* ---- Other kinds, and parameters that narrow the choice ------------------ */

static void takes(const hsy_spec *spec, const char *name, const char *what)
{
    hsy_scheme_info info = {.mechanism = "none"}, again = {0}, named = {0};
    hsy_spec known = *spec;
    bool same;

    becomes(&info, spec, NULL);
    becomes(&again, spec, NULL);
    known.mechanism = info.mechanism;
    memcpy(known.param, info.param, sizeof known.param);
    becomes(&named, &known, NULL);
    same = memcmp(info.digest, again.digest, HSY_DIGEST) == 0 &&
           memcmp(info.digest, named.digest, HSY_DIGEST) == 0;
    ok(strcmp(info.mechanism, name) == 0 && same,
       "%s: %s, every time, and the same by its name (%s)", what, name,
       info.mechanism);
}

static void refuses(const hsy_spec *spec, const char *field, const char *what)
{
    hsy_error err = {0};
    hsy_scheme_info info;
    bool refused = !becomes(&info, spec, &err);

    ok(refused && err.status == HSY_E_RANGE && err.field != HSY_FIELD_NONE &&
           strcmp(hsy_field_name(err.field), field) == 0,
       "%s: refused, naming %s", what, field);
}

static void bins(void)
{
    bool good = true;

    for (size_t i = 0; i < DOMAINS; i++) {
        hsy_spec values = trial_values(NULL, domains[i], 2);
        hsy_spec spec = values;
        hsy_scheme_info a = {0}, b = {0};

        spec.kind = HSY_KIND_BINS;
        spec.hi = domains[i];
        good &= becomes(&a, &values, NULL) && becomes(&b, &spec, NULL) &&
                (domains[i] == 2 || a.id == b.id) && a.v0 == b.v0;
    }
    ok(good, "bins are asked as values are");
}

static void strings(void)
{
    hsy_spec spec = {.size = sizeof spec,
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = HSY_NANO};

    takes(&spec, "olh", "strings");
    spec.param[HSY_PARAM_HASHES] = 256;
    takes(&spec, "cms", "strings with hashes, epsilon 1");
    spec.nano_epsilon = HSY_NANO / 10;
    takes(&spec, "hcms", "strings with hashes, epsilon 0.1");
    spec.nano_epsilon = HSY_NANO;
    spec.max_bits = 64;
    takes(&spec, "hcms", "strings with hashes, in a word");
    spec.param[HSY_PARAM_HASHES] = 3;
    refuses(&spec, "hashes", "strings with three hashes");
}

static void parameters(void)
{
    hsy_spec spec = trial_values(NULL, 1024, 4);

    spec.param[HSY_PARAM_SUBSET] = 20;
    takes(&spec, "ss", "a size");
    spec.param[HSY_PARAM_Q] = 7;
    refuses(&spec, "subset",
            "a size and a field"); /* no mechanism takes both */
    spec.param[HSY_PARAM_SUBSET] = 0;
    takes(&spec, "hpg", "a field");
    spec.param[HSY_PARAM_Q] = 9;
    refuses(&spec, "q", "a field of nine elements");
    spec.param[HSY_PARAM_Q] = 0;
    spec.param[HSY_PARAM_BLOCKS] = 4;
    takes(&spec, "hpg", "blocks");
    spec.param[HSY_PARAM_POOL_SEED] = 1;
    takes(&spec, "hr", "blocks and a layout");
    spec.param[HSY_PARAM_BLOCKS] = 3;
    refuses(&spec, "blocks", "three blocks and a layout");
    spec.param[HSY_PARAM_BLOCKS] = 0;
    spec.param[HSY_PARAM_POOL_BITS] = 10;
    takes(&spec, "olh", "a pool");
    spec.param[HSY_PARAM_G] = HSY_VALUES_MAX + 1;
    refuses(&spec, "g", "a pool and too many hashes");
}

/* ---- Steps --------------------------------------------------------------- */

/* Theory 3.15, with the decoder's own count for geometries. */
static void steps(void)
{
    static const struct {
        const char *name;
        double steps;
    } rows[] = {
        {"grr", 1000},
        {"ss", 1000 + 5e6 * 16},
        {"oue", 1000 + 5e6 * 16},
        {"sue", 1000 + 5e6 * 16},
        {"pgr", 2863 * (1 + 53.0)}, /* (53,3) */
        {"hpg", 2863 * (1 + 53.0)}, /* the same */
        {"hr", 2048 * 6},           /* 32 blocks of 64 */
        {"olh", 65536e3},
        {"blh", 65536e3},
        {"dbitflip", 2000 + 5e6 * 16},
        {"cms", 1048576 + 1024e3},
        {"hcms", 1048576 * 11 + 1024e3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = trial_values(rows[i].name, 1000, 4);
        hsy_scheme_info info = {0};
        bool good;

        spec.users = 5000000;
        good = becomes(&info, &spec, NULL);
        ok(good && info.steps == rows[i].steps,
           "%s: %.0f steps for 1000 values and 5,000,000 reports (%.0f)",
           rows[i].name, rows[i].steps, info.steps);
    }
}

int main(void)
{
    grid();
    limits();
    bins();
    strings();
    parameters();
    steps();
    return tap_done();
}
