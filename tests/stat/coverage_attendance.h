/*
 * coverage_attendance.h - devices that answer again: their schemes, and who is
 * there in which round.
 */
#ifndef COVERAGE_ATTENDANCE_H
#define COVERAGE_ATTENDANCE_H

#include "coverage.h"
#include "coverage_found.h"
#include "coverage_pairs.h"
#include "coverage_points.h"

#include "lib/scheme/permanent.h"

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
    PERMANENT_VALUES, /* as counts of answers that have few values */
    PERMANENT_BITS    /* as counts of bits */
};

struct permanent_run {
    hsy_scheme *permanent;
    hsy_permanent memo;
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
    return hsy_permanent_init(&p->memo, p->permanent, p->poll.run.s, 0, err) ==
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
    hsy_scheme_describe(p->poll.run.s, &p->poll.run.info);
    return hsy_permanent_init(&p->memo, p->permanent, p->poll.run.s, 0, err) ==
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

#endif
