/*
 * poisoning.c - devices that lie, against collectors that count them.
 *
 * Honest devices hold one of SIM_POISONING_VALUES values, the k-th with a share
 * in proportion to 1/k. The liars want SIM_POISONING_TARGETS of the rarer ones
 * to come out large. All reports are real: those of honest devices from
 * hsy_simulate_batch, those of liars from hsy_poison_reports, and all are
 * counted and estimated alike, once without the liars and once with them.
 *
 * Two gains are measured: that of the textbook estimate, from support counts,
 * for which there is a closed form; and that of the estimate as hearsay shows
 * it, which for local hashing has predicted collisions taken off. The bound is
 * that of hsy_poison_bounds, from the poisoned tally, as an analyst has it.
 */
#include "sim/attack/internal.h"

#include <math.h>

#define POISONING_BLOCK 4096u
#define POISONING_ERRORS 5.0

/* Ranks from 0; no row of equal steps, which linear hashes send together. */
static const uint64_t poisoning_targets[SIM_POISONING_TARGETS] = {
    17, 22, 31, 38, 46, 59, 67, 83, 101, 118};

static const char *const poisoning_mechanisms[SIM_POISONING_MECHANISMS] = {
    "grr", "ss", "oue", "olh"};
static const double poisoning_shares[SIM_POISONING_SHARES] = {0.001, 0.01,
                                                              0.05};

const char *sim_attack_name(hsy_attack attack)
{
    static const char *const names[] = {"random", "input", "maximal"};

    return names[attack];
}

/* A tally with what was estimated from it. */
struct poisoning_count {
    int64_t *memory;
    hsy_tally tally;
    hsy_evidence points[SIM_POISONING_VALUES];
};

/* All of one mechanism. */
struct poisoning {
    const struct sim_options *o;
    struct owned owned; /* all of its memory */
    hsy_scheme *s;
    hsy_scheme_info info;
    uint64_t *codes;  /* of honest devices */
    uint8_t *reports; /* a block of them, or of all liars */
    void *scratch;
    struct poisoning_count honest, all;
    hsy_stream secret, published;
    double held;
};

/* What runs of one row gave. */
struct poisoning_sums {
    double gain, squares, shown, exact, bound;
};

static hsy_status poisoning_points(struct poisoning *p,
                                   struct poisoning_count *c, hsy_error *err)
{
    return hsy_evidence_of(p->s, c->points, &c->tally, NULL,
                           SIM_POISONING_VALUES, p->scratch, err);
}

/* ---- Devices ------------------------------------------------------------- */

static size_t poisoning_liars(const struct sim_options *o, double share)
{
    return (size_t)((double)o->devices * share / (1 - share) + 0.5);
}

/* Values in turn, as many devices each as their share says. */
static void poisoning_people(struct poisoning *p)
{
    double all = 0, sum = 0;
    uint64_t at = 0;

    for (unsigned k = 1; k <= SIM_POISONING_VALUES; k++)
        all += 1.0 / k;
    for (unsigned k = 0; k < SIM_POISONING_VALUES; k++) {
        sum += 1.0 / (k + 1);
        for (; (double)at < sum / all * (double)p->o->devices - 0.5; at++)
            p->codes[at] = k;
    }
    for (; at < p->o->devices; at++)
        p->codes[at] = SIM_POISONING_VALUES - 1;
    for (uint64_t i = 0; i < p->o->devices; i++)
        for (size_t k = 0; k < SIM_POISONING_TARGETS; k++)
            p->held += p->codes[i] == poisoning_targets[k];
    p->held /= (double)p->o->devices;
}

static hsy_status poisoning_open(struct poisoning *p, const char *mechanism,
                                 hsy_error *err)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = mechanism,
                           .kind = HSY_KIND_VALUES,
                           .d = SIM_POISONING_VALUES,
                           .nano_epsilon = p->o->nano_report};
    const size_t most =
        poisoning_liars(p->o, poisoning_shares[SIM_POISONING_SHARES - 1]);
    size_t words;
    hsy_status st;

    st = owned_scheme(&p->owned, &p->s, &spec, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(p->s, &p->info);
    words = hsy_tally_words(p->s);
    p->codes = owned_array(&p->owned, p->o->devices, sizeof *p->codes);
    p->reports =
        owned_array(&p->owned, most > POISONING_BLOCK ? most : POISONING_BLOCK,
                    p->info.report_bytes);
    p->scratch = owned_array(&p->owned, 1,
                             hsy_evidence_scratch(p->s, SIM_POISONING_VALUES));
    p->honest.memory = owned_array(&p->owned, words, sizeof(int64_t));
    p->all.memory = owned_array(&p->owned, words, sizeof(int64_t));
    if (p->owned.failed)
        return host_nomem(err);
    poisoning_people(p);
    return HSY_OK;
}

/* ---- One run ------------------------------------------------------------- */

static hsy_status poisoning_honest(struct poisoning *p, hsy_error *err)
{
    hsy_status st = HSY_OK;

    hsy_tally_init(&p->honest.tally, p->s, p->honest.memory);
    for (uint64_t done = 0; done < p->o->devices && st == HSY_OK;
         done += POISONING_BLOCK) {
        uint64_t left = p->o->devices - done;
        size_t m = left < POISONING_BLOCK ? (size_t)left : POISONING_BLOCK;

        st = hsy_simulate_batch(p->s, p->reports, p->codes + done, m,
                                &p->secret, &p->published, err);
        if (st == HSY_OK)
            st = hsy_tally_batch(&p->honest.tally, p->s, p->reports, m, err);
    }
    if (st == HSY_OK)
        st = poisoning_points(p, &p->honest, err);
    return st;
}

static hsy_status poisoning_lie(struct poisoning *p, hsy_attack attack,
                                size_t liars, hsy_error *err)
{
    hsy_status st =
        hsy_poison_reports(p->s, p->reports, liars,
                           &(hsy_liars){.attack = attack,
                                        .targets = poisoning_targets,
                                        .count = SIM_POISONING_TARGETS},
                           &p->secret, &p->published, err);

    hsy_tally_init(&p->all.tally, p->s, p->all.memory);
    if (st == HSY_OK)
        st = hsy_tally_merge(&p->all.tally, &p->honest.tally, err);
    if (st == HSY_OK)
        st = hsy_tally_batch(&p->all.tally, p->s, p->reports, liars, err);
    if (st == HSY_OK)
        st = poisoning_points(p, &p->all, err);
    return st;
}

static double poisoning_plain(const hsy_evidence *point)
{
    return (point->support / point->n - point->q) / (point->p - point->q);
}

/*
 * How much of its bound the liars have used on any value, either way. Local
 * hashing may predict collisions with them and not without: what that changes
 * for honest reports is an error that both estimates state, as their floor, of
 * which POISONING_ERRORS standard deviations are let pass.
 */
static double poisoning_used(const struct poisoning *p,
                             const hsy_poison_bound *bounds, double lying)
{
    double used = 0;

    for (size_t v = 0; v < SIM_POISONING_VALUES; v++) {
        const hsy_evidence *with = &p->all.points[v],
                           *without = &p->honest.points[v];
        const double theirs = with->value - (1 - lying) * without->value;
        const double let =
            POISONING_ERRORS *
            (sqrt(with->residual_variance) + sqrt(without->residual_variance));

        used = fmax(used, (theirs - let) / bounds[v].up);
        used = fmax(used, (lying - theirs - let) / bounds[v].down);
    }
    return used;
}

static hsy_status poisoning_measure(struct poisoning *p,
                                    struct sim_poisoning_row *row,
                                    struct poisoning_sums *sums, hsy_error *err)
{
    const uint64_t reports = hsy_tally_reports(&p->all.tally);
    hsy_poison_bound bounds[SIM_POISONING_VALUES];
    hsy_plausibility odd;
    double gain = 0, exact = 0;
    hsy_status st = hsy_poison_gain(p->s, &exact, NULL,
                                    &(hsy_liars){.attack = row->attack,
                                                 .targets = poisoning_targets,
                                                 .count = SIM_POISONING_TARGETS,
                                                 .share = row->lying,
                                                 .held = p->held},
                                    err);

    if (st == HSY_OK)
        st = hsy_poison_bounds(p->s, bounds, p->all.points,
                               SIM_POISONING_VALUES, reports, row->lying, err);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < SIM_POISONING_TARGETS; i++) {
        const size_t v = (size_t)poisoning_targets[i];

        gain += poisoning_plain(&p->all.points[v]) -
                poisoning_plain(&p->honest.points[v]);
        sums->shown += p->all.points[v].value - p->honest.points[v].value;
        sums->bound += bounds[v].up;
    }
    sums->gain += gain;
    sums->squares += gain * gain;
    sums->exact += exact;
    row->used = fmax(row->used, poisoning_used(p, bounds, row->lying));
    hsy_plausible(p->s, &odd, &p->all.tally, p->all.points,
                  SIM_POISONING_VALUES, true);
    row->found += fmin(odd.weights_p, odd.seeds_p) < SIM_POISONING_ALARM;
    return HSY_OK;
}

/* ---- All runs ------------------------------------------------------------ */

static void poisoning_sum_up(struct sim_poisoning_row *row,
                             const struct poisoning_sums *sums)
{
    const double n = SIM_POISONING_RUNS;

    row->gain = sums->gain / n;
    row->sd =
        sqrt(fmax(0, sums->squares / n - row->gain * row->gain) / (n - 1));
    row->shown = sums->shown / n;
    row->exact = sums->exact / n;
    row->bound = sums->bound / n;
    row->found /= n;
}

#define POISONING_ROWS (SIM_POISONING_ATTACKS * SIM_POISONING_SHARES)

static hsy_status poisoning_run(struct poisoning *p,
                                struct sim_poisoning_row *rows,
                                struct poisoning_sums *sums, hsy_error *err)
{
    hsy_status st = poisoning_honest(p, err);

    for (size_t i = 0; i < POISONING_ROWS && st == HSY_OK; i++) {
        st = poisoning_lie(p, rows[i].attack, (size_t)rows[i].liars, err);
        if (st == HSY_OK)
            st = poisoning_measure(p, &rows[i], &sums[i], err);
    }
    sim_tick(p->o, p->o->devices);
    return st;
}

static hsy_status poisoning_mechanism(struct sim_poisoning_row *rows,
                                      const char *mechanism, uint64_t lane,
                                      const struct sim_options *o,
                                      hsy_error *err)
{
    struct poisoning_sums sums[POISONING_ROWS] = {{0}};
    struct poisoning p = {.o = o};
    hsy_status st = poisoning_open(&p, mechanism, err);

    hsy_stream_seed(&p.secret, o->seed, 2 * lane);
    hsy_stream_seed(&p.published, o->seed, 2 * lane + 1);
    for (size_t i = 0; i < POISONING_ROWS; i++) {
        size_t liars =
            poisoning_liars(o, poisoning_shares[i % SIM_POISONING_SHARES]);

        rows[i] = (struct sim_poisoning_row){
            .mechanism = mechanism,
            .attack = (hsy_attack)(i / SIM_POISONING_SHARES),
            .liars = liars,
            .lying = (double)liars / (double)(o->devices + liars)};
    }
    for (unsigned run = 0; run < SIM_POISONING_RUNS && st == HSY_OK; run++)
        st = poisoning_run(&p, rows, sums, err);
    for (size_t i = 0; i < POISONING_ROWS; i++)
        poisoning_sum_up(&rows[i], &sums[i]);
    owned_free(&p.owned);
    return st;
}

hsy_status sim_poisoning(struct sim_result *out, const struct sim_options *o,
                         hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < SIM_POISONING_MECHANISMS && st == HSY_OK; i++) {
        st = poisoning_mechanism(out->u.poisoning + out->nrows,
                                 poisoning_mechanisms[i], i, o, err);
        out->nrows += POISONING_ROWS;
    }
    return st;
}
