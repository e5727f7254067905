/*
 * coverage_permanent.h - intervals where devices answer again from an answer
 * that they keep: real chains, the reports of all rounds in one tally.
 *
 * The share is one of person-rounds: who sent r of R reports counts r / R.
 */
#ifndef COVERAGE_PERMANENT_H
#define COVERAGE_PERMANENT_H

#include "coverage.h"
#include "coverage_found.h"
#include "coverage_pairs.h"
#include "coverage_points.h"

#include "chain.h"

#define PERMANENT_ROUNDS 365u
#define PERMANENT_ANSWERS 16u    /* most that are counted */
#define PERMANENT_SLOTS_MOST 3u  /* of one run */
#define PERMANENT_SINGLE 20000   /* reports of a run that are made one by one */
#define PERMANENT_REPORTS 300000 /* and of mechanisms that are not counted */

/* Who is there in which round. */
enum permanent_attendance {
    PERMANENT_STAY,    /* all devices in all rounds */
    PERMANENT_LEAVE,   /* half of them in the first round alone */
    PERMANENT_JOIN,    /* they come evenly, and stay */
    PERMANENT_SLOTS,   /* all, with a new answer every third of the rounds */
    PERMANENT_UNKNOWN, /* as leave, but rounds cannot be told apart */
};

/* How the reports of a run are made. */
enum permanent_form {
    PERMANENT_REAL,   /* one by one */
    PERMANENT_OUTPUT, /* as counts of answers that have few values */
    PERMANENT_BITS    /* as counts of bits */
};

struct permanent_run {
    hsy_scheme *permanent;
    hsy_chain chain;
    struct poll poll; /* of the scheme of reports */
    enum permanent_attendance attendance;
    uint32_t rounds;
    uint64_t n;
    uint8_t *answer;
    hsy_round of[PERMANENT_ROUNDS]; /* what a collector knows of each round */
    hsy_stream secret, published;
    size_t waiting; /* reports that are not tallied yet */
    uint32_t split; /* rounds from there on have a tally of their own; 0: none
                     */
    hsy_tally later;
    int64_t *memory; /* of it, and of three more */

    uint32_t *times;                        /* that each device is there */
    uint32_t in_slot[PERMANENT_SLOTS_MOST]; /* rounds */

    /* Instead of the reports how many there are of each answer, or of each
     * cell's bit. */
    enum permanent_form form;
    uint64_t sent[PERMANENT_ANSWERS];
    int64_t *ones, *asked;

    struct coverage_selected picked[2]; /* RAPPOR's detected values */
};

/* ---- Schemes ------------------------------------------------------------- */

static inline bool permanent_open(struct permanent_run *p,
                                  const struct coverage_cell *c, hsy_error *err)
{
    const struct permanent_pair *pair = &permanent_pairs[c->kind->number];
    const hsy_spec kept = permanent_spec(pair, pair->permanent);
    hsy_spec spec = permanent_spec(pair, pair->one);

    memset(p, 0, sizeof *p);
    spec.nano_permanent = kept.nano_epsilon;
    p->permanent = trial_scheme(&kept);
    p->poll.run.s = trial_scheme(&spec);
    stat_run_room(&p->poll.run);
    poll_laws(&p->poll);
    p->poll.laws += p->poll.nlaws > 1; /* 10 % yes, or spread numbers */
    p->poll.nlaws = 1;
    p->poll.count = p->poll.run.npoints;
    p->poll.codes = stat_alloc(c->n * sizeof *p->poll.codes);
    p->poll.values = stat_alloc(2 * p->poll.count * sizeof *p->poll.values);
    p->attendance = (enum permanent_attendance)c->kind->variant;
    p->rounds = c->rounds;
    p->n = c->n;
    p->answer = stat_alloc(p->poll.run.info.report_bytes);
    p->times = stat_alloc(c->n * sizeof *p->times);
    p->ones = stat_alloc(p->poll.run.s->cells * sizeof *p->ones);
    p->asked = stat_alloc(p->poll.run.s->cells * sizeof *p->asked);
    p->memory =
        stat_alloc(4 * hsy_tally_words(p->poll.run.s) * sizeof *p->memory);
    return hsy_chain_init(&p->chain, p->permanent, p->poll.run.s, 0, err) ==
           HSY_OK;
}

/* Another pool of hash functions, as found_renew. */
static inline bool permanent_renew(struct permanent_run *p,
                                   const struct coverage_cell *c, uint64_t run,
                                   hsy_error *err)
{
    const struct permanent_pair *pair = &permanent_pairs[c->kind->number];
    hsy_spec kept = permanent_spec(pair, pair->permanent);
    hsy_spec spec = permanent_spec(pair, pair->one);

    if (spec.param[HSY_PARAM_POOL_BITS] == 0)
        return true;
    kept.param[HSY_PARAM_POOL_SEED] = run + 1;
    spec.param[HSY_PARAM_POOL_SEED] = run + 1;
    spec.nano_permanent = kept.nano_epsilon;
    free(p->permanent);
    free(p->poll.run.s);
    p->permanent = trial_scheme(&kept);
    p->poll.run.s = trial_scheme(&spec);
    hsy_scheme_info(p->poll.run.s, &p->poll.run.info);
    return hsy_chain_init(&p->chain, p->permanent, p->poll.run.s, 0, err) ==
           HSY_OK;
}

static inline void permanent_close(struct permanent_run *p)
{
    free(p->permanent);
    free(p->answer);
    free(p->times);
    free(p->ones);
    free(p->asked);
    free(p->memory);
    poll_close(&p->poll);
}

/* ---- Attendance ---------------------------------------------------------- */

static inline bool permanent_there(const struct permanent_run *p, uint64_t i,
                                   uint32_t round)
{
    switch (p->attendance) {
    case PERMANENT_LEAVE:
    case PERMANENT_UNKNOWN:
        return round == 0 || 2 * i < p->n;
    case PERMANENT_JOIN: /* the first ones in the first round */
        return i * p->rounds < (round + 1) * p->n;
    default:
        return true;
    }
}

static inline uint64_t permanent_slot(const struct permanent_run *p,
                                      uint32_t round)
{
    return p->attendance == PERMANENT_SLOTS ? 3 * (uint64_t)round / p->rounds
                                            : 0;
}

static inline void permanent_rounds(struct permanent_run *p)
{
    for (uint32_t t = 0; t < p->rounds; t++) {
        p->of[t] =
            (hsy_round){.slot = permanent_slot(p, t), .round = t, .each = 1};
        p->in_slot[p->of[t].slot]++;
        for (uint64_t i = 0; i < p->n; i++) {
            p->of[t].reports += permanent_there(p, i, t);
            p->times[i] += permanent_there(p, i, t);
        }
    }
}

/* Who holds what has nothing to do with who comes. Codes in random order, and
 * the shares of person-rounds. */
static inline void permanent_people(struct permanent_run *p, uint64_t lane)
{
    const struct coverage_law *law = p->poll.laws;
    hsy_rng rng = hsy_stream_rng(&p->published);
    double all = 0;

    coverage_draw(p->poll.codes, p->poll.held, law, p->n, lane);
    memset(p->poll.held, 0, sizeof p->poll.held);
    for (uint64_t i = p->n; i-- > 0;) {
        const double times = p->times[i];
        uint64_t word, j, code;

        (void)rng.fill(rng.ctx, &word, sizeof word);
        j = word % (i + 1);
        code = p->poll.codes[j];
        p->poll.codes[j] = p->poll.codes[i];
        p->poll.codes[i] = code;
        for (size_t a = 0; a < law->atoms; a++)
            p->poll.held[a] += law->code[a] == code ? times : 0;
        all += times;
    }
    for (size_t a = 0; a < law->atoms; a++)
        p->poll.held[a] /= all;
}

/* ---- Reports ------------------------------------------------------------- */

static inline hsy_status permanent_flush(struct permanent_run *p)
{
    struct stat_run *r = &p->poll.run;
    const size_t waiting = p->waiting;

    p->waiting = 0;
    return hsy_tally_batch(&r->tally, r->s, r->reports, waiting, NULL);
}

/* A report of a round. */
static inline hsy_status permanent_send(struct permanent_run *p, uint32_t round)
{
    struct stat_run *r = &p->poll.run;
    hsy_rng secret = hsy_stream_rng(&p->secret);
    uint8_t *report = r->reports + p->waiting * r->info.report_bytes;
    hsy_status st;

    st = hsy_chain_report(&p->chain, report, p->answer, &secret);
    if (st != HSY_OK)
        return st;
    if (p->split != 0 && round >= p->split)
        return hsy_tally_add(&p->later, r->s, report, NULL);
    return ++p->waiting == STAT_BLOCK ? permanent_flush(p) : HSY_OK;
}

/* A new answer for a slot, with the coins of the device for it. */
static inline hsy_status permanent_answer(struct permanent_run *p,
                                          uint64_t code)
{
    hsy_stream own = p->published; /* begins twice at the same place */
    hsy_coins first = {hsy_stream_rng(&p->secret), hsy_stream_rng(&own)};
    hsy_coins again = {hsy_stream_rng(&p->secret),
                       hsy_stream_rng(&p->published)};
    uint64_t key;
    hsy_status st = hsy_chain_key(&p->chain, &key, code, &first);

    return st != HSY_OK
               ? st
               : hsy_chain_permanent(&p->chain, p->answer, key, &again);
}

static inline hsy_status permanent_device_real(struct permanent_run *p,
                                               uint64_t i)
{
    uint64_t slot = UINT64_MAX;
    hsy_status st = HSY_OK;

    for (uint32_t t = 0; t < p->rounds && st == HSY_OK; t++) {
        if (!permanent_there(p, i, t))
            continue;
        if (slot != permanent_slot(p, t))
            st = permanent_answer(p, p->poll.codes[i]);
        slot = permanent_slot(p, t);
        if (st == HSY_OK)
            st = permanent_send(p, t);
    }
    return st;
}

/* ---- Counts of reports --------------------------------------------------- */

/*
 * Outputs: of rr, grr and onebit, whose answer is one byte of few values: a
 * report has
 * its answer's value with chance p2, else any other, each with chance q2
 * (hsy_chain_describe). So of the W reports that are made from equal answers,
 * binomially many keep it and the others spread evenly: the same law, and the
 * answers themselves are real.
 */

static inline uint32_t permanent_values(const struct permanent_run *p)
{
    return p->poll.run.info.kind == HSY_KIND_VALUES ? p->poll.run.info.d : 2;
}

/* So many equal reports: a tally of one, doubled again and again. */
static inline hsy_status permanent_add(struct permanent_run *p, uint8_t value,
                                       uint64_t count)
{
    struct stat_run *r = &p->poll.run;
    const size_t words = hsy_tally_words(r->s);
    uint8_t report[8] = {value};
    hsy_tally one;
    hsy_status st;

    hsy_tally_init(&one, r->s, p->memory + words);
    st = hsy_tally_add(&one, r->s, report, NULL);
    for (; count != 0 && st == HSY_OK; count /= 2) {
        if (count % 2 == 1)
            st = hsy_tally_merge(&r->tally, &one, NULL);
        if (st == HSY_OK && count > 1)
            st = hsy_tally_merge(&one, &one, NULL);
    }
    return st;
}

/* The reports of all answers with one value. */
static inline hsy_status permanent_spread(struct permanent_run *p, uint32_t own,
                                          double keep)
{
    const uint32_t values = permanent_values(p);
    uint64_t left =
        p->sent[own] - hsy_binomial_draw(p->sent[own], keep, &p->secret);
    uint32_t others = values - 1;
    hsy_status st = permanent_add(p, (uint8_t)own, p->sent[own] - left);

    for (uint32_t v = 0; v < values && st == HSY_OK; v++) {
        uint64_t k;

        if (v == own)
            continue;
        k = others == 1 ? left
                        : hsy_binomial_draw(left, 1.0 / others, &p->secret);
        others--;
        left -= k;
        st = permanent_add(p, (uint8_t)v, k);
    }
    return st;
}

/*
 * Bits: of oue, dbitflip and RAPPOR. Each bit of a report is 1 with chance p2
 * if that of the answer is, else with q2, by itself; and the cells of a tally
 * add up the bits. So of each cell two binomial numbers are drawn, from the
 * reports whose answer has a 1 there and from those that have a 0.
 */

/* A tally of the answer alone, its bits set to 0, to 1, or left. */
static inline hsy_status permanent_one(struct permanent_run *p, hsy_tally *one,
                                       size_t at, int bit)
{
    const hsy_scheme *s = p->poll.run.s;
    const struct chain_part part = s->mech->chain->part(s);
    uint8_t report[64];

    if (s->report_bytes > sizeof report)
        return HSY_E_RANGE;
    memcpy(report, p->answer, s->report_bytes);
    for (uint32_t b = part.first; bit >= 0 && b < part.first + part.count; b++)
        report[b / 8] = (uint8_t)((report[b / 8] & ~(1u << b % 8)) |
                                  (unsigned)bit << b % 8);
    hsy_tally_init(one, s, p->memory + at * hsy_tally_words(s));
    return hsy_tally_add(one, s, report, NULL);
}

static inline hsy_status permanent_count_bits(struct permanent_run *p,
                                              uint32_t times)
{
    hsy_tally *all = &p->poll.run.tally, none, set, own;
    hsy_status st = permanent_one(p, &none, 1, 0);

    if (st == HSY_OK)
        st = permanent_one(p, &set, 2, 1);
    if (st == HSY_OK)
        st = permanent_one(p, &own, 3, -1);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < all->ncells; i++) {
        all->cells[i] += times * none.cells[i];
        p->asked[i] += times * (set.cells[i] - none.cells[i]);
        p->ones[i] += times * (own.cells[i] - none.cells[i]);
    }
    for (size_t i = 0; i < all->nstrata; i++)
        all->strata[i] += times * none.strata[i];
    return HSY_OK;
}

static inline hsy_status permanent_flip(struct permanent_run *p,
                                        const hsy_chain_info *info)
{
    hsy_tally *all = &p->poll.run.tally;

    for (size_t i = 0; i < all->ncells; i++) {
        if (p->ones[i] < 0 || p->ones[i] > p->asked[i])
            return HSY_E_MISMATCH; /* not a sum of bits */
        all->cells[i] +=
            (int64_t)(hsy_binomial_draw((uint64_t)p->ones[i], info->p2,
                                        &p->secret) +
                      hsy_binomial_draw((uint64_t)(p->asked[i] - p->ones[i]),
                                        info->q2, &p->secret));
    }
    return HSY_OK;
}

static inline hsy_status permanent_expand(struct permanent_run *p)
{
    hsy_chain_info info;
    hsy_status st = HSY_OK;

    hsy_chain_describe(&p->chain, &info);
    if (p->form == PERMANENT_BITS)
        return permanent_flip(p, &info);
    if (fabs(info.p2 + (permanent_values(p) - 1) * info.q2 - 1) > 1e-9)
        return HSY_E_MISMATCH; /* not the law that is drawn from here */
    for (uint32_t v = 0; v < permanent_values(p) && st == HSY_OK; v++)
        st = permanent_spread(p, v, info.p2);
    return st;
}

/* All reports of a device, at once for each slot. */
static inline hsy_status permanent_device(struct permanent_run *p, uint64_t i)
{
    hsy_status st = HSY_OK;

    if (p->form == PERMANENT_REAL)
        return permanent_device_real(p, i);
    for (size_t slot = 0; slot < PERMANENT_SLOTS_MOST && st == HSY_OK; slot++) {
        const bool stays = p->attendance == PERMANENT_SLOTS;
        const uint32_t times = stays ? p->in_slot[slot] : p->times[i];

        if (p->in_slot[slot] == 0)
            continue;
        st = permanent_answer(p, p->poll.codes[i]);
        if (st == HSY_OK && p->form == PERMANENT_BITS)
            st = permanent_count_bits(p, times);
        else if (st == HSY_OK)
            p->sent[p->answer[0] % PERMANENT_ANSWERS] += times;
    }
    return st;
}

/* ---- Estimates ----------------------------------------------------------- */

/* What a tally of several rounds tells, as the surfaces have it; also of
 * reports that came from elsewhere. The caller frees points. */
static inline hsy_status permanent_points(hsy_point **points,
                                          const struct shares_tally *t,
                                          size_t count, const hsy_round *rounds,
                                          size_t nrounds, bool known,
                                          hsy_error *err)
{
    double scratch[PERMANENT_ROUNDS];
    hsy_attendance attended;
    struct shares_tally view = *t;
    hsy_status st =
        known ? hsy_attend(&attended, rounds, nrounds, scratch, err)
              : hsy_attend_most(&attended, hsy_tally_reports(t->tally), nrounds,
                                err);

    view.attended = &attended;
    return st == HSY_OK ? shares_points(points, &view, NULL, count, err) : st;
}

/* RAPPOR is decoded, all values being candidates. */
static inline bool permanent_decode(struct permanent_run *p, hsy_target target,
                                    hsy_error *err)
{
    struct stat_run *r = &p->poll.run;
    hsy_attendance attended;
    const struct shares_tally view = {.scheme = r->s,
                                      .info = &r->info,
                                      .tally = &r->tally,
                                      .attended = &attended};
    const double *shares =
        target == HSY_PEOPLE ? p->poll.held : p->poll.laws->share;
    double scratch[PERMANENT_ROUNDS];
    hsy_rappor_options how = {
        .size = sizeof how, .level = COVERAGE_LEVEL, .target = target};
    hsy_rappor_share *made = NULL;
    hsy_rappor_summary summary;
    struct shares_rappor data;
    bool good =
        hsy_attend(&attended, p->of, p->rounds, scratch, err) == HSY_OK &&
        shares_rappor_open(&data, &view, NULL, r->info.d, err) == HSY_OK;

    how.dispersion = good ? shares_rappor_dispersion(&view, target) : 1;
    good = good && shares_rappor_decode(&made, &summary, &data.data, &how,
                                        err) == HSY_OK;
    for (uint32_t v = 0; v < r->info.d && good; v++)
        if (made[v].detected) {
            made[v].est.value = made[v].unbiased;
            found_pick(&p->picked[target], p->poll.laws, shares, v,
                       &made[v].est,
                       found_z((double)summary.detected, r->info.d));
        }
    coverage_picked(&p->picked[target]);
    free(made);
    shares_rappor_clear(&data);
    return good;
}

static inline bool permanent_see(struct permanent_run *p, hsy_error *err)
{
    struct stat_run *r = &p->poll.run;
    const struct shares_tally view = {
        .scheme = r->s, .info = &r->info, .tally = &r->tally};
    hsy_point *points = NULL;
    bool good;

    if (strcmp(r->info.mechanism, "rappor") == 0)
        return permanent_decode(p, HSY_PEOPLE, err) &&
               permanent_decode(p, HSY_POPULATION, err);
    good = permanent_points(&points, &view, r->npoints, p->of, p->rounds,
                            p->attendance != PERMANENT_UNKNOWN, err) == HSY_OK;

    for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
        for (size_t v = 0; v < r->npoints && good; v++) {
            const hsy_confidence how = {COVERAGE_LEVEL, (hsy_target)t,
                                        HSY_INTERVAL_AUTO, 1};

            good =
                poll_value(&p->poll, p->poll.laws, 0, v, &points[v], &how, err);
        }
    free(points);
    return good;
}

static inline bool permanent_collect(struct permanent_run *p, uint64_t lane)
{
    struct stat_run *r = &p->poll.run;
    hsy_status st = HSY_OK;

    hsy_stream_seed(&p->secret, stat_seed(), lane);
    hsy_stream_seed(&p->published, stat_seed(), lane + 1);
    permanent_people(p, lane + 2);
    hsy_tally_init(&r->tally, r->s, r->memory);
    hsy_tally_init(&p->later, r->s, p->memory);
    memset(p->sent, 0, sizeof p->sent);
    memset(p->ones, 0, r->s->cells * sizeof *p->ones);
    memset(p->asked, 0, r->s->cells * sizeof *p->asked);
    for (uint64_t i = 0; i < p->n && st == HSY_OK; i++)
        st = permanent_device(p, i);
    if (st == HSY_OK)
        st = p->form != PERMANENT_REAL ? permanent_expand(p)
                                       : permanent_flush(p);
    return st == HSY_OK;
}

/* ---- Comparisons of rounds ----------------------------------------------- */

/* What the people of some rounds hold of value v, by person-rounds. */
static inline double permanent_held(const struct permanent_run *p,
                                    uint32_t from, uint32_t to, size_t v)
{
    const struct coverage_law *law = p->poll.laws;
    double shares[COVERAGE_ATOMS] = {0}, all = 0;

    for (uint64_t i = 0; i < p->n; i++) {
        double times = 0;

        for (uint32_t t = from; t < to; t++)
            times += permanent_there(p, i, t);
        for (size_t a = 0; a < law->atoms; a++)
            shares[a] += law->code[a] == p->poll.codes[i] ? times : 0;
        all += times;
    }
    for (size_t a = 0; a < law->atoms; a++)
        shares[a] /= all;
    return poll_truth(&p->poll, law, shares, v);
}

/* The later rounds less the earlier ones; who holds what does not change, so
 * that of the population it is 0. */
static inline bool permanent_compare(struct permanent_run *p,
                                     const hsy_point *a, const hsy_point *b,
                                     double shared, hsy_error *err)
{
    for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
        for (size_t v = 0; v < p->poll.run.npoints; v++) {
            const hsy_confidence how = {COVERAGE_LEVEL, (hsy_target)t,
                                        HSY_INTERVAL_AUTO, 1};
            const struct shares_known own = {.point = &b[v], .shared = shared};
            const struct shares_known other = {.point = &a[v]};
            struct shares_row row;
            double truth = 0;

            if (shares_row(&row, NULL, &p->poll.run.info, &own, &other, &how,
                           err) != HSY_OK)
                return false;
            if (t == HSY_PEOPLE)
                truth = permanent_held(p, p->split, p->rounds, v) -
                        permanent_held(p, 0, p->split, v);
            coverage_see(
                &p->poll.values[(t == HSY_PEOPLE ? 0 : p->poll.count) + v],
                &row.est, truth);
        }
    return true;
}

static inline bool permanent_see_pair(struct permanent_run *p, hsy_error *err)
{
    struct stat_run *r = &p->poll.run;
    const struct shares_tally one = {
        .scheme = r->s, .info = &r->info, .tally = &r->tally};
    const struct shares_tally two = {
        .scheme = r->s, .info = &r->info, .tally = &p->later};
    const size_t after = p->rounds - p->split;
    const uint64_t devices = p->attendance == PERMANENT_UNKNOWN ? 0 : p->n;
    hsy_point *a = NULL, *b = NULL;
    double shared = 0;
    bool good = hsy_attend_both(&shared, p->of, p->split, p->of + p->split,
                                after, devices, err) == HSY_OK &&
                permanent_points(&a, &one, r->npoints, p->of, p->split, true,
                                 err) == HSY_OK &&
                permanent_points(&b, &two, r->npoints, p->of + p->split, after,
                                 true, err) == HSY_OK &&
                permanent_compare(p, a, b, shared, err);

    free(a);
    free(b);
    return good;
}

/* How the reports of a mechanism are made where they are many. */
static inline enum permanent_form permanent_form(const struct coverage_cell *c)
{
    static const struct {
        const char *mechanism;
        enum permanent_form form;
    } forms[] = {{"rr", PERMANENT_OUTPUT},     {"grr", PERMANENT_OUTPUT},
                 {"onebit", PERMANENT_OUTPUT}, {"oue", PERMANENT_BITS},
                 {"dbitflip", PERMANENT_BITS}, {"rappor", PERMANENT_BITS}};
    const char *mechanism = permanent_pairs[c->kind->number].mechanism;

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(mechanism, forms[i].mechanism) == 0)
            return forms[i].form;
    return PERMANENT_REAL;
}

/* Whether the reports of a run are too many to be made one by one. */
static inline bool permanent_many(const struct coverage_cell *c)
{
    return c->rounds * c->n > (permanent_form(c) != PERMANENT_REAL
                                   ? PERMANENT_SINGLE
                                   : PERMANENT_REPORTS);
}

static inline void permanent_cell(struct coverage_cell *c, uint32_t split)
{
    struct permanent_run *p = stat_alloc(sizeof *p);
    hsy_error err = {0};
    bool good = permanent_open(p, c, &err);

    p->split = split;
    p->form =
        split == 0 && permanent_many(c) ? permanent_form(c) : PERMANENT_REAL;
    permanent_rounds(p);
    for (uint64_t run = 0; run < c->runs && good; run++)
        good =
            permanent_renew(p, c, run, &err) &&
            permanent_collect(p, coverage_lane(c, run, 0)) &&
            (split == 0 ? permanent_see(p, &err) : permanent_see_pair(p, &err));
    if (coverage_went(c, good, &err) && p->picked[0].runs != 0)
        for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
            coverage_judge_selected(c, (hsy_target)t, &p->picked[t]);
    else if (good)
        coverage_judge_both(c, p->poll.values, p->poll.count);
    permanent_close(p);
    free(p);
}

/* ---- Cells --------------------------------------------------------------- */

/* ./check has 1 to 30 rounds of 200 devices and 1 of 10^4; what cannot be
 * counted ends at 300,000 reports a run. */
static inline bool permanent_fits(const struct coverage_cell *c)
{
    if (!stat_long())
        return c->rounds * c->n <= (c->n <= 200 ? 6000u : 20000u);
    return !permanent_many(c) || permanent_form(c) != PERMANENT_REAL;
}

/* number: the pair; variant: attendance. */
static inline void coverage_permanent(struct coverage_cell *c)
{
    static const uint32_t rounds[] = {1, 7, 30, PERMANENT_ROUNDS};

    c->epsilon = permanent_pairs[c->kind->number].one;
    for (size_t i = 0; i < 4; i++) {
        c->rounds = rounds[i];
        c->lane += 1 << 22;
        if (permanent_fits(c))
            permanent_cell(c, 0);
    }
}

/* One day against the next, and a week against the next. */
static inline void coverage_paired(struct coverage_cell *c)
{
    static const uint32_t rounds[] = {2, 14};

    c->epsilon = permanent_pairs[c->kind->number].one;
    for (size_t i = 0; i < 2; i++) {
        c->rounds = rounds[i];
        c->lane += 1 << 22;
        if (permanent_fits(c) && !permanent_many(c))
            permanent_cell(c, rounds[i] / 2);
    }
}

#endif
