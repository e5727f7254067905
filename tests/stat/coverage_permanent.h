/*
 * coverage_permanent.h - intervals where devices answer again from an answer
 * that they keep, the reports of all rounds in one tally.
 *
 * The share is one of person-rounds: who sent r of R reports counts r / R.
 */
#ifndef COVERAGE_PERMANENT_H
#define COVERAGE_PERMANENT_H

#include "coverage_counts.h"

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

    st = hsy_permanent_report(&p->memo, report, p->answer, &secret);
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
    hsy_status st = hsy_permanent_key(&p->memo, &key, code, &first);

    return st != HSY_OK
               ? st
               : hsy_permanent_answer(&p->memo, p->answer, key, &again);
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
static inline hsy_status permanent_points(hsy_evidence **points,
                                          const hsy_analysis_tally *t,
                                          size_t count, const hsy_round *rounds,
                                          size_t nrounds, bool known,
                                          hsy_error *err)
{
    double scratch[PERMANENT_ROUNDS];
    hsy_attendance attended;
    hsy_analysis_tally view = *t;
    hsy_status st =
        known ? hsy_attend(&attended, &(hsy_rounds){rounds, nrounds}, scratch,
                           err)
              : hsy_attend_most(&attended, hsy_tally_reports(t->tally), nrounds,
                                err);

    view.attended = &attended;
    return st == HSY_OK ? analysis_points(points, &view, NULL, count, err) : st;
}

/* RAPPOR is decoded, all values being candidates. */
static inline bool permanent_decode(struct permanent_run *p, hsy_target target,
                                    hsy_error *err)
{
    struct stat_run *r = &p->poll.run;
    hsy_attendance attended;
    const hsy_analysis_tally view = {.scheme = r->s,
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
    struct analysis_rappor data;
    bool good =
        hsy_attend(&attended, &(hsy_rounds){p->of, p->rounds}, scratch, err) ==
            HSY_OK &&
        analysis_rappor_open(&data, &view, NULL, r->info.d, err) == HSY_OK;

    how.dispersion = good ? analysis_rappor_dispersion(&view, target) : 1;
    good = good && analysis_rappor_decode(&made, &summary, &data.data, &how,
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
    analysis_rappor_clear(&data);
    return good;
}

static inline bool permanent_see(struct permanent_run *p, hsy_error *err)
{
    struct stat_run *r = &p->poll.run;
    const hsy_analysis_tally view = {
        .scheme = r->s, .info = &r->info, .tally = &r->tally};
    hsy_evidence *points = NULL;
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
                                     const hsy_evidence *a,
                                     const hsy_evidence *b, double shared,
                                     hsy_error *err)
{
    for (int t = HSY_PEOPLE; t <= HSY_POPULATION; t++)
        for (size_t v = 0; v < p->poll.run.npoints; v++) {
            const hsy_confidence how = {COVERAGE_LEVEL, (hsy_target)t,
                                        HSY_INTERVAL_AUTO, 1};
            const struct analysis_known own = {.point = &b[v],
                                               .shared = shared};
            const struct analysis_known other = {.point = &a[v]};
            hsy_analysis_row row;
            double truth = 0;

            if (analysis_row(&row, NULL, &p->poll.run.info, &own, &other, &how,
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
    const hsy_analysis_tally one = {
        .scheme = r->s, .info = &r->info, .tally = &r->tally};
    const hsy_analysis_tally two = {
        .scheme = r->s, .info = &r->info, .tally = &p->later};
    const size_t after = p->rounds - p->split;
    const uint64_t devices = p->attendance == PERMANENT_UNKNOWN ? 0 : p->n;
    hsy_evidence *a = NULL, *b = NULL;
    double shared = 0;
    bool good = hsy_attend_both(&shared, &(hsy_rounds){p->of, p->split},
                                &(hsy_rounds){p->of + p->split, after}, devices,
                                err) == HSY_OK &&
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
    } forms[] = {{"rr", PERMANENT_VALUES},     {"grr", PERMANENT_VALUES},
                 {"onebit", PERMANENT_VALUES}, {"oue", PERMANENT_BITS},
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
