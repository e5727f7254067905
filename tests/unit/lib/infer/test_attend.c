/* test_attend.c - people who answer again: rounds, points, comparisons. */
#include "rig/trial.h"

#define DEVICES 300u
#define ROUNDS 24u

static bool attend_near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fmax(fabs(want), 1);
}

/* ---- Rounds -------------------------------------------------------------- */

/* Who is in which round, of a pattern; slots of three rounds. */
enum pattern { STAY, LEAVE, JOIN, MIXED, PATTERNS };

static bool comes(enum pattern p, unsigned device, unsigned round)
{
    switch (p) {
    case STAY:
        return true;
    case LEAVE: /* half after the first round */
        return round == 0 || device % 2 == 0;
    case JOIN: /* evenly */
        return device * ROUNDS < (round + 1) * DEVICES;
    default:
        return (device * 7919 + round * 104729) % 101 < 40;
    }
}

static void squares_of(enum pattern p, unsigned per_slot, double *kept,
                       double *came, hsy_round *rounds)
{
    *kept = *came = 0;
    memset(rounds, 0, ROUNDS * sizeof *rounds);
    for (unsigned i = 0; i < DEVICES; i++) {
        double all = 0;

        for (unsigned s = 0; s < ROUNDS; s += per_slot) {
            double own = 0;

            for (unsigned r = s; r < s + per_slot; r++) {
                const bool here = comes(p, i, r);

                own += here;
                rounds[r].reports += here;
            }
            all += own;
            *kept += own * own;
        }
        *came += all * all;
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        rounds[r].slot = r / per_slot;
        rounds[r].round = r % per_slot;
        rounds[r].each = 1;
    }
}

static void squares_are_bounded(void)
{
    static const char *const names[PATTERNS] = {"all stay", "half leave",
                                                "joining evenly", "mixed"};

    for (int p = 0; p < PATTERNS; p++)
        for (unsigned per_slot = 3; per_slot <= ROUNDS; per_slot *= 8) {
            hsy_round rounds[ROUNDS];
            double scratch[ROUNDS], kept, came, n;
            hsy_attendance a = {0};

            squares_of((enum pattern)p, per_slot, &kept, &came, rounds);
            ok(hsy_attend(&a, &(hsy_rounds){rounds, ROUNDS}, scratch, NULL) ==
                       HSY_OK &&
                   a.rounds == ROUNDS,
               "%s, %u rounds a slot", names[p], per_slot);
            n = (double)a.reports;
            if (p == MIXED)
                ok(n * (1 + a.kept) > kept && n * (1 + a.came) > came,
                   "no less than the squares");
            else
                ok(attend_near(n * (1 + a.kept), kept) &&
                       attend_near(n * (1 + a.came), came),
                   "the sums of squares, exactly");
        }
}

static void several_a_round(void)
{
    const hsy_round two[] = {{0, 0, 2, 7}, {1, 0, 2, 4}};
    double scratch[2];
    hsy_attendance a;

    ok(hsy_attend(&a, &(hsy_rounds){two, 2}, scratch, NULL) == HSY_OK &&
           a.devices == 4 && a.kept == 0 &&
           attend_near(1 + a.came, 2 * (7 + 3 * 4) / 11.0),
       "two reports each: half as many devices, twice the pairs");
    ok(hsy_attend_most(&a, 100, 7, NULL) == HSY_OK && a.kept == 6 &&
           a.came == 6 && a.devices == 15,
       "rounds that nobody told apart");
}

static void refuse(const hsy_round *rounds, size_t n, hsy_status want,
                   uint64_t line, const char *what)
{
    double scratch[4];
    hsy_attendance a = {.rounds = 7};
    hsy_error err = {0};
    hsy_status st = hsy_attend(&a, &(hsy_rounds){rounds, n}, scratch, &err);

    ok(st == want && err.status == want && err.at == line &&
           err.field == HSY_FIELD_ROUNDS && a.rounds == 7,
       "refused: %s", what);
}

static void refusals(void)
{
    const hsy_round twice[] = {{0, 1, 1, 5}, {0, 1, 1, 5}};
    const hsy_round back[] = {{1, 0, 1, 5}, {0, 3, 1, 5}};
    const hsy_round empty[] = {{0, 0, 1, 5}, {0, 1, 1, 0}};
    const hsy_round none_each[] = {{0, 0, 0, 5}};
    const hsy_round many[] = {{0, 0, 1, 1ull << 53}, {0, 1, 1, 1ull << 52}};
    hsy_attendance a;
    hsy_error err = {0};

    refuse(twice, 0, HSY_E_EMPTY, 0, "no rounds");
    refuse(twice, 2, HSY_E_RANGE, 2, "a round twice");
    refuse(back, 2, HSY_E_RANGE, 2, "a slot before the last");
    refuse(empty, 2, HSY_E_RANGE, 2, "a round without reports");
    refuse(none_each, 1, HSY_E_RANGE, 1, "of nobody");
    refuse(many, 2, HSY_E_RANGE, 2, "more than 2^53 reports");
    ok(hsy_attend_most(&a, 10, 0, &err) == HSY_E_RANGE && err.limit == 10 &&
           hsy_attend_most(&a, 10, 11, NULL) == HSY_E_RANGE &&
           hsy_attend_most(&a, 0, 1, NULL) == HSY_E_EMPTY,
       "at most none, more than all, of nothing");
}

/* ---- Days ---------------------------------------------------------------- */

static void days(void)
{
    hsy_task t = {
        .start = 100, .end = 128, .slot_days = 14, .round_days = 7, .sends = 3};
    hsy_round r = {.reports = 9};

    ok(hsy_task_round(&r, &t, 106, NULL) == HSY_E_RANGE &&
           hsy_task_round(&r, &t, 99, NULL) == HSY_E_RANGE && r.reports == 9,
       "before the first round has ended nothing is sent");
    ok(hsy_task_round(&r, &t, 107, NULL) == HSY_OK && r.slot == 0 &&
           r.round == 0 && r.each == 3 && r.reports == 9,
       "the first round, on the day after it");
    ok(hsy_task_round(&r, &t, 113, NULL) == HSY_OK && r.round == 0 &&
           hsy_task_round(&r, &t, 114, NULL) == HSY_OK && r.round == 1 &&
           hsy_task_round(&r, &t, 121, NULL) == HSY_OK && r.slot == 1 &&
           r.round == 0,
       "until the next; then the next slot");
    ok(hsy_task_round(&r, &t, 134, NULL) == HSY_OK && r.slot == 1 &&
           r.round == 1,
       "the last one, after the task's end");
    ok(hsy_task_round(&r, &t, 149, NULL) == HSY_OK && r.slot == 3 &&
           r.round == 0,
       "a later one, if the end was moved since");
    t.end = 124; /* 24 days: rounds of 7, 7, 7 and 3 */
    ok(hsy_task_round(&r, &t, 123, NULL) == HSY_OK && r.slot == 1 &&
           r.round == 0 && hsy_task_round(&r, &t, 124, NULL) == HSY_OK &&
           r.slot == 1 && r.round == 1 &&
           hsy_task_round(&r, &t, 126, NULL) == HSY_OK && r.slot == 1 &&
           r.round == 1,
       "a shorter last round is one of its own");
    t = (hsy_task){.start = 10, .end = 20, .slot_days = 7, .sends = 1};
    ok(hsy_task_round(&r, &t, 17, NULL) == HSY_OK && r.slot == 0 &&
           hsy_task_round(&r, &t, 20, NULL) == HSY_OK && r.slot == 1,
       "and so is a shorter last slot");
    t = (hsy_task){.start = 10, .end = 20, .sends = 1};
    ok(hsy_task_round(&r, &t, 20, NULL) == HSY_OK && r.slot == 0 &&
           r.round == 0 && hsy_task_round(&r, &t, 19, NULL) == HSY_E_RANGE,
       "one round in all");
}

/* ---- Points -------------------------------------------------------------- */

static void variance_of_rr(void)
{
    hsy_spec spec = trial_values("rr", 2, 1);
    const double one = exp(1) / pow(exp(1) - 1, 2);
    const double all = exp(2) / pow(exp(2) - 1, 2);
    const hsy_confidence how = {0.95, HSY_PEOPLE, HSY_SCORE, 1};
    const hsy_round week[] = {{0, 0, 1, 100}, {0, 1, 1, 100}, {0, 2, 1, 50}};
    double scratch[3];
    hsy_attendance a;
    hsy_scheme *s;
    hsy_evidence p;
    hsy_estimate est;

    spec.kind = HSY_KIND_YES_NO;
    spec.nano_permanent = 2 * HSY_NANO;
    s = trial_scheme(&spec);
    hsy_attend(&a, &(hsy_rounds){week, 3}, scratch, NULL);
    p = (hsy_evidence){
        .value = 0.5, .n = 250, .support = 125, .v0 = one, .v1 = one};
    ok(hsy_evidence_attend(&p, 1, s, NULL, &a, NULL) == HSY_OK &&
           hsy_estimate_point(&est, &p, &how, NULL) == HSY_OK,
       "a point of kept answers");
    /* Sorted 100, 100, 50: 100 + 3 100 + 5 50 = 650 pairs. */
    ok(fabs(est.sd * est.sd - ((one - all) / 250 + all * 650 / 62500)) < 1e-9,
       "(V1 - Vp) / R + Vp sum of min / R^2");
    free(s);
}

static void points_refuse(void)
{
    const hsy_spec spec = trial_values("grr", 4, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const hsy_attendance kept = {.kept = 1, .came = 1};
    const hsy_attendance came = {.kept = 0, .came = 2};
    hsy_evidence p = {.value = 0.5,
                      .n = 100,
                      .support = 50,
                      .p = 0.7,
                      .q = 0.2,
                      .v0 = 1,
                      .v1 = 2};
    hsy_confidence how = {0.95, HSY_PEOPLE, HSY_EXACT, 1};
    hsy_estimate est;
    hsy_error err = {0};

    ok(hsy_evidence_attend(&p, 1, s, NULL, &kept, &err) == HSY_E_REFUSED &&
           err.field == HSY_FIELD_ROUNDS,
       "several rounds of a slot without a kept answer are refused");
    ok(hsy_evidence_attend(&p, 1, s, NULL, &came, NULL) == HSY_OK &&
           p.v0 == 1 && p.came == 2,
       "fresh coins every slot: people came again, their noise did not");
    ok(hsy_estimate_point(&est, &p, &how, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_INTERVAL,
       "no exact interval of people who came again");
    how = (hsy_confidence){0.95, HSY_POPULATION, HSY_WALD, 1};
    ok(hsy_estimate_point(&est, &p, &how, NULL) == HSY_OK &&
           attend_near(est.sd * est.sd, (1.5 + 3 * 0.25) / 100),
       "a sample of people is no larger for coming again");
    free(s);
}

/* ---- Comparisons --------------------------------------------------------- */

static void paired(void)
{
    const hsy_round a = {0, 0, 1, 90}, b = {0, 1, 1, 80}, other = {1, 0, 1, 80};
    double shared = 7;
    hsy_error err = {0};

    ok(hsy_attend_both(&shared, &(hsy_rounds){&a, 1}, &(hsy_rounds){&b, 1}, 100,
                       NULL) == HSY_OK &&
           attend_near(shared, 70.0 / 7200),
       "of 100 devices 90 and 80 have 70 in common at least");
    ok(hsy_attend_both(&shared, &(hsy_rounds){&a, 1}, &(hsy_rounds){&b, 1}, 0,
                       NULL) == HSY_OK &&
           shared == 0 &&
           hsy_attend_both(&shared, &(hsy_rounds){&a, 1},
                           &(hsy_rounds){&other, 1}, 100, NULL) == HSY_OK &&
           shared == 0,
       "none where the devices are not known, or the slot is another");
    ok(hsy_attend_both(&shared, &(hsy_rounds){&a, 1}, &(hsy_rounds){&b, 1}, 89,
                       &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_DEVICES && err.limit == 90,
       "fewer devices than reports of a round are refused");
}

static void paired_difference(void)
{
    const hsy_evidence
        a = {.value = 0.5, .n = 100, .v0 = 2, .v1 = 2, .kept0 = 1, .kept1 = 1},
        b = {.value = 0.25, .n = 100, .v0 = 2, .v1 = 2, .kept0 = 1, .kept1 = 1};
    const hsy_interval kinds[] = {HSY_WALD, HSY_SCORE, HSY_WILSON};
    hsy_confidence how = {0.95, HSY_PEOPLE, HSY_EXACT, 1};
    const double z = hsy_normal_quantile(0.975);
    hsy_estimate est, apart;
    double p, q;
    hsy_error err = {0};

    for (size_t i = 0; i < 3; i++) {
        how.interval = kinds[i];
        ok(hsy_estimate_paired(&est, &p, &a, &b, 0.01, &how, NULL) == HSY_OK &&
               hsy_estimate_difference(&apart, &q, &a, &b, &how, NULL) ==
                   HSY_OK &&
               attend_near(est.sd * est.sd, 0.02) &&
               attend_near(apart.sd * apart.sd, 0.04) && est.low > apart.low &&
               est.high < apart.high && p < q,
           "shared noise is not in a difference, interval %zu", i);
        ok(kinds[i] != HSY_WALD ||
               attend_near(est.high - est.low, 2 * z * sqrt(0.02)),
           "and its width is that of the paired variance");
    }
    how.interval = HSY_HOEFFDING;
    ok(hsy_estimate_paired(&est, &p, &a, &b, 0.01, &how, &err) == HSY_E_RANGE,
       "no Hoeffding interval of shared answers");
    how.interval = HSY_SCORE;
    ok(hsy_estimate_paired(&est, &p, &a, &b, 0.011, &how, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_SHARED,
       "no more is shared than there is");
}

/* ---- Schemes ------------------------------------------------------------- */

static void schemes(void)
{
    hsy_spec spec = trial_values("grr", 4, 1), back;
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_scheme *fresh = trial_scheme(&spec), *kept, *read;
    hsy_scheme_info info;
    hsy_error err = {0};

    spec.nano_permanent = 2 * HSY_NANO;
    kept = trial_scheme(&spec);
    read = trial_scheme(&spec);
    hsy_scheme_describe(kept, &info);
    hsy_scheme_encode(kept, wire);
    ok(info.nano_permanent == 2 * HSY_NANO && info.epsilon_permanent == 2,
       "a scheme says the epsilon of the answers it is made from");
    ok(strcmp(hsy_scheme_difference(fresh, kept), "permanent epsilon") == 0 &&
           hsy_spec_decode(&back, wire, NULL, 0, NULL) == HSY_OK &&
           back.nano_permanent == 2 * HSY_NANO &&
           hsy_scheme_decode(read, wire, NULL, 0, NULL) == HSY_OK &&
           hsy_scheme_difference(read, kept) == NULL,
       "it stands in its bytes, and is part of what it is");
    spec.nano_permanent = HSY_NANO - 1;
    ok(hsy_scheme_init(read, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_PERMANENT,
       "refused: less than a report's");
    spec = trial_values("hr", 4, 1);
    spec.nano_permanent = 2 * HSY_NANO;
    ok(hsy_scheme_init(read, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_PERMANENT,
       "refused: a mechanism that keeps no answers");
    free(fresh);
    free(kept);
    free(read);
}

int main(void)
{
    squares_are_bounded();
    several_a_round();
    refusals();
    days();
    variance_of_rr();
    points_refuse();
    paired();
    paired_difference();
    schemes();
    return tap_done();
}
