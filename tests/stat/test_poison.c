/*
 * test_poison.c - devices that lie gain what the closed form says and never
 * more than the bound (Q1), and are found where they can be (Q2).
 *
 * Q1 plays random, input and maximal-gain liars at 0.1, 1 and 5 % against grr,
 * ss, oue and olh. Maximal gain leaves nothing to chance but what the honest
 * hold, and is within 5 % of the form; of the others the mean of 20 runs is,
 * but for 8 of its standard errors: Student's t passes that once in 10^6. Each
 * value of each run stays within its bound. Then every mechanism of the table
 * that is known to lie, with parameters drawn at random: what liars' reports
 * alone add is the closed form over beta, but for 6 standard deviations (2e-9
 * by the central limit theorem; j targets of r have a variance of at most r j),
 * and no value passes its bound. HSY_TEST_LONG: 10^4 such attacks.
 *
 * Q2: 1 % of maximal-gain liars for ten values drawn at random, among 10^5
 * devices: found in at least 95 of 100 runs at the level 1 %, and honest
 * devices alone in no more runs than that level allows, tested at 10^-6.
 */
#include "rig/stat.h"
#include "sim/attack/attack.h"

#define POISON_ALPHA 1e-6
#define POISON_ERRORS 8.0
#define POISON_LEVEL 0.01
#define POISON_VALUES 128u
#define POISON_TARGETS 10u
#define POISON_DEVICES 100000u
#define POISON_FEW 5000u

/* ---- Q1 ------------------------------------------------------------------ */

static bool poison_agrees(const struct sim_poisoning_row *row, double exact)
{
    const double chance =
        row->attack == HSY_ATTACK_MAXIMAL ? 0 : POISON_ERRORS * row->sd;

    return fabs(row->gain - exact) <= 0.05 * fabs(exact) + chance;
}

static void poison_gains(void)
{
    struct sim_options o = {.seed = stat_seed(),
                            .devices = stat_long() ? 100000 : 20000};
    struct sim_result *p = stat_alloc(sizeof *p);

    p->kind = SIM_POISONING;
    hsy_epsilon_parse(&o.nano_report, "ln3", 3);
    ok(eq_status(sim_run(p, &o, NULL), HSY_OK) &&
           eq_u64(p->nrows, SIM_POISONING_ROWS),
       "liars lie");
    for (size_t i = 0; i < p->nrows; i++) {
        const struct sim_poisoning_row *row = &p->u.poisoning[i];

        ok(poison_agrees(row, row->exact),
           "%s, %s, %.4f of all: gain %.5f (sd %.5f) is %.5f", row->mechanism,
           sim_attack_name(row->attack), row->lying, row->gain, row->sd,
           row->exact);
        ok(row->used <= 1 + 1e-9, "... within the bound, of which %.3f is used",
           row->used);
        if (row->attack == HSY_ATTACK_MAXIMAL)
            ok(!poison_agrees(row, 1.1 * row->exact),
               "control: 10 %% more would be noticed");
    }
    free(p);
}

/* ---- Q1, anybody --------------------------------------------------------- */

#define POISON_LIARS 1000u
#define POISON_CHANCE 6.0
#define POISON_HALF 0.5   /* of all reports are theirs, as far as forms go */
#define POISON_DOMAIN 40u /* values at most */

/* From least to most. */
static uint64_t poison_draw(hsy_stream *st, uint64_t least, uint64_t most)
{
    hsy_rng rng = hsy_stream_rng(st);
    uint32_t word = 0;

    (void)rng.fill(rng.ctx, &word, sizeof word);
    return least + word % (most - least + 1);
}

/* What they add to their targets together, and whether any value has more than
 * its bound. */
static double poison_adds(struct stat_run *r, const uint64_t *targets, size_t n,
                          bool *bounded)
{
    hsy_poison_bound bounds[POISON_DOMAIN];
    double adds = 0;

    *bounded = hsy_poison_bounds(r->s, bounds, r->points, r->info.d,
                                 hsy_tally_reports(&r->tally), POISON_HALF,
                                 NULL) == HSY_OK;
    for (size_t v = 0; v < r->info.d; v++)
        *bounded =
            *bounded &&
            r->points[v].value * POISON_HALF <= bounds[v].up + 1e-9 &&
            (1 - r->points[v].value) * POISON_HALF <= bounds[v].down + 1e-9;
    for (size_t i = 0; i < n; i++) {
        const hsy_evidence *p = &r->points[targets[i]];

        adds += (p->support / p->n - p->q) / (p->p - p->q);
    }
    return adds;
}

/* One attack; the targets are values in a row, modulo d. */
static bool poison_attack(struct stat_run *r, hsy_attack attack,
                          struct stat_coins *c)
{
    const size_t n = (size_t)poison_draw(&c->published, 1, r->info.d);
    const uint64_t first = poison_draw(&c->published, 0, r->info.d - 1);
    uint64_t targets[POISON_DOMAIN];
    double exact = 0, j = 0, adds, off;
    bool bounded = false;

    for (size_t i = 0; i < n; i++)
        targets[i] = (first + i) % r->info.d;
    hsy_tally_init(&r->tally, r->s, r->memory);
    if (hsy_poison_gain(r->s, &exact, &j,
                        &(hsy_liars){.attack = attack,
                                     .targets = targets,
                                     .count = n,
                                     .share = POISON_HALF,
                                     .held = 0},
                        NULL) != HSY_OK ||
        hsy_poison_reports(
            r->s, r->reports, POISON_LIARS,
            &(hsy_liars){.attack = attack, .targets = targets, .count = n},
            &c->secret, &c->published, NULL) != HSY_OK ||
        hsy_tally_batch(&r->tally, r->s, r->reports, POISON_LIARS, NULL) !=
            HSY_OK ||
        hsy_evidence_of(r->s, r->points, &r->tally, NULL, r->info.d, r->scratch,
                        NULL) != HSY_OK)
        return false;
    adds = poison_adds(r, targets, n, &bounded);
    off = POISON_CHANCE * sqrt((double)n * j / POISON_LIARS) /
          fabs(r->points[0].p - r->points[0].q);
    return bounded && fabs(adds - exact / POISON_HALF) <=
                          (attack == HSY_ATTACK_MAXIMAL ? 1e-9 : off);
}

static void poison_mechanism(const char *mechanism, uint64_t attacks,
                             uint64_t lane)
{
    struct stat_coins coins;
    uint64_t good = 0;

    stat_coins_open(&coins, lane);
    for (uint64_t i = 0; i < attacks; i++) {
        const struct stat_ask ask = {
            mechanism,
            (uint32_t)poison_draw(&coins.published, 2, POISON_DOMAIN),
            (double)poison_draw(&coins.published, 1, 30) / 10, 16, 0};
        struct stat_run r = {.s = stat_scheme(&ask)};

        if (r.s == NULL)
            continue;
        stat_run_room(&r);
        good += poison_attack(&r, (hsy_attack)(i % 3), &coins);
        stat_run_close(&r);
    }
    is_u64(
        good, attacks,
        "%s: %d of %d attacks gain what the closed form says, within the bound",
        mechanism, (int)good, (int)attacks);
}

/* Whether lies of a mechanism have been worked out. */
static bool poison_lies(const char *mechanism)
{
    const struct stat_ask ask = {mechanism, 4, 1, 16, 0};
    const uint64_t target = 0;
    hsy_scheme *s = stat_scheme(&ask);
    double gain;
    const bool lies =
        s != NULL && hsy_poison_gain(s, &gain, NULL,
                                     &(hsy_liars){.attack = HSY_ATTACK_INPUT,
                                                  .targets = &target,
                                                  .count = 1,
                                                  .share = POISON_HALF,
                                                  .held = 0},
                                     NULL) == HSY_OK;

    free(s);
    return lies;
}

static void poison_anybody(void)
{
    const uint64_t attacks = stat_long() ? 1667 : 12;
    const hsy_catalogue *row;
    size_t known = 0;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        if (poison_lies(row->name)) {
            known++;
            poison_mechanism(row->name, attacks, 100 + i);
        }
    is_u64(known, 6, "grr, ss, sue, oue, olh and blh");
}

/* ---- Q2 ------------------------------------------------------------------ */

static double poison_p(const struct stat_run *r)
{
    hsy_plausibility odd;

    hsy_plausible(r->s, &odd, &r->tally, r->points, 0, false);
    return fmin(odd.weights_p, odd.seeds_p);
}

/* Different values, each with the same chance. */
static void poison_targets(uint64_t *targets, hsy_stream *st)
{
    hsy_rng rng = hsy_stream_rng(st);
    size_t n = 0;

    while (n < POISON_TARGETS) {
        uint8_t byte = 0;
        bool known = false;

        (void)rng.fill(rng.ctx, &byte, 1);
        for (size_t i = 0; i < n; i++)
            known = known || targets[i] == byte % POISON_VALUES;
        targets[n] = byte % POISON_VALUES;
        n += known ? 0 : 1;
    }
}

static bool poison_lie(struct stat_run *r, size_t liars, struct stat_coins *c)
{
    uint64_t targets[POISON_TARGETS];

    poison_targets(targets, &c->published);
    return hsy_poison_reports(r->s, r->reports, liars,
                              &(hsy_liars){.attack = HSY_ATTACK_MAXIMAL,
                                           .targets = targets,
                                           .count = POISON_TARGETS},
                              &c->secret, &c->published, NULL) == HSY_OK &&
           hsy_tally_batch(&r->tally, r->s, r->reports, liars, NULL) == HSY_OK;
}

/* Runs with a p-value below a level: of the honest, and of all. */
struct poison_found {
    uint64_t runs, honest, honest_warned, all, all_warned;
};

static struct poison_found poison_detect(struct stat_run *r, size_t devices,
                                         uint64_t runs, uint64_t lane)
{
    const size_t liars = devices / 99; /* 1 % of all */
    uint64_t *codes = stat_alloc(devices * sizeof *codes);
    struct poison_found f = {.runs = runs};
    struct stat_coins coins;

    stat_coins_open(&coins, lane);
    for (size_t i = 0; i < devices; i++)
        codes[i] = i * i % POISON_VALUES; /* some are frequent */
    for (uint64_t run = 0; run < runs; run++) {
        double honest = 0, all = 1;

        if (stat_collect(r, STAT_SIMULATE, codes, devices, &coins))
            honest = poison_p(r);
        if (poison_lie(r, liars, &coins))
            all = poison_p(r);
        f.honest += honest < POISON_LEVEL;
        f.honest_warned += honest < SIM_POISONING_ALARM;
        f.all += all < POISON_LEVEL;
        f.all_warned += all < SIM_POISONING_ALARM;
    }
    free(codes);
    return f;
}

static void poison_alarms(const char *mechanism, const struct poison_found *f)
{
    const double above =
        f->honest == 0
            ? 1
            : 1 - hsy_binomial_cdf(f->honest - 1, f->runs, POISON_LEVEL);

    ok(above >= POISON_ALPHA && eq_u64(f->honest_warned, 0),
       "%s: %d false alarms in %d runs at the level 1 %%, %d warnings",
       mechanism, (int)f->honest, (int)f->runs, (int)f->honest_warned);
}

static void poison_detector(const char *mechanism, uint64_t lane)
{
    const struct stat_ask ask = {mechanism, POISON_VALUES, 1, 16, 0};
    const uint64_t many = stat_long() ? 200 : 25,
                   few = stat_long() ? 2000 : 150;
    struct poison_found f;
    struct stat_run r;

    if (!stat_run_open(&r, &ask))
        return;
    f = poison_detect(&r, POISON_DEVICES, many, lane);
    poison_alarms(mechanism, &f);
    ok((double)f.all >= 0.95 * (double)f.runs,
       "%s: 1 %% of liars found in %d of %d runs at the level 1 %%, warned of "
       "in %d",
       mechanism, (int)f.all, (int)f.runs, (int)f.all_warned);
    f = poison_detect(&r, POISON_FEW, few, lane + 1);
    poison_alarms(mechanism, &f);
    stat_run_close(&r);
}

/* With a word only that: gains, anybody, oue or olh. */
int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";

    if (*only == '\0' || strcmp(only, "gains") == 0)
        poison_gains();
    if (*only == '\0' || strcmp(only, "anybody") == 0)
        poison_anybody();
    if (*only == '\0' || strcmp(only, "oue") == 0)
        poison_detector("oue", 1);
    if (*only == '\0' || strcmp(only, "olh") == 0)
        poison_detector("olh", 3);
    return tap_done();
}
