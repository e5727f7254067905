/*
 * attend.c - what reports of people who answer again and again are worth.
 *
 * Device i sent r_i of R reports, all made from one kept answer. The estimate
 * is the mean over reports, so that with the variance V of one report, of which
 * the kept answer has W,
 *
 *     R^2 Var = R (V - W) + W sum of r_i^2:
 *
 * the noise of each report is its own, that of the answer comes r_i times. The
 * sum counts pairs of reports of one device: over all pairs of rounds (s, t)
 * the devices in both, at most min(U_s, U_t) for rounds of U_s and U_t reports.
 * Sorted downwards the k-th largest is the smaller one of 2k - 1 pairs.
 *
 * A report is a function of its kept answer that is linear in what supports a
 * value, plus noise of mean 0; so W is the variance of an estimate from kept
 * answers themselves, that of the permanent scheme. docs/longitudinal.md
 */

#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

#define ATTEND_MOST 9007199254740992.0 /* 2^53: a double counts no further */

/* ---- Rounds -------------------------------------------------------------- */

static hsy_status attend_check(const hsy_round *rounds, size_t n,
                               hsy_error *err)
{
    double sum = 0;

    if (n == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_ROUNDS,
                        "there are no rounds");
    for (size_t i = 0; i < n; i++) {
        const hsy_round *r = &rounds[i], *before = i != 0 ? r - 1 : NULL;

        if (r->reports == 0 || r->each == 0)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ROUNDS,
                               "a round without reports", HSY_UNIT_ROUND,
                               i + 1);
        if (before != NULL &&
            (r->slot < before->slot ||
             (r->slot == before->slot && r->round <= before->round)))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ROUNDS,
                               "rounds ascend by slot and round",
                               HSY_UNIT_ROUND, i + 1);
        sum += (double)r->reports;
        if (sum > ATTEND_MOST)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ROUNDS,
                               "more than 2^53 reports", HSY_UNIT_ROUND, i + 1);
    }
    return HSY_OK;
}

/* The sum of min(U_s, U_t) over all pairs of these rounds. */
static double attend_pairs(const hsy_round *rounds, size_t n, double *scratch)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        scratch[i] = (double)rounds[i].reports;
    hsy_sort_down(scratch, n);
    for (size_t k = 0; k < n; k++)
        sum += (double)(2 * k + 1) * scratch[k];
    return sum;
}

/* Rounds from `from` on that are of one slot. */
static size_t attend_slot(const hsy_round *rounds, size_t n, size_t from)
{
    size_t end = from + 1;

    while (end < n && rounds[end].slot == rounds[from].slot)
        end++;
    return end - from;
}

hsy_status hsy_attend(hsy_attendance *out, const hsy_rounds *all,
                      double *scratch, hsy_error *err)
{
    const hsy_round *rounds = all->list;
    const size_t n = all->count;
    hsy_attendance made = {.rounds = n};
    hsy_status st = attend_check(rounds, n, err);
    double kept = 0;
    uint32_t each = 1;

    if (st != HSY_OK)
        return st;
    for (size_t i = 0, of; i < n; i += of) {
        of = attend_slot(rounds, n, i);
        kept += attend_pairs(rounds + i, of, scratch);
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t devices = rounds[i].reports / rounds[i].each +
                                 (rounds[i].reports % rounds[i].each != 0);

        made.reports += rounds[i].reports;
        made.devices = devices > made.devices ? devices : made.devices;
        each = rounds[i].each > each ? rounds[i].each : each;
    }
    made.kept = kept / (double)made.reports - 1;
    made.came =
        each * attend_pairs(rounds, n, scratch) / (double)made.reports - 1;
    *out = made;
    return HSY_OK;
}

hsy_status hsy_attend_most(hsy_attendance *out, uint64_t reports, uint64_t most,
                           hsy_error *err)
{
    if (reports == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS, "no data");
    if (most == 0 || most > reports)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ROUNDS,
                              "at least 1, and no more than there are reports",
                              reports);
    *out = (hsy_attendance){.reports = reports,
                            .rounds = most,
                            .devices = reports / most + (reports % most != 0),
                            .kept = (double)most - 1,
                            .came = (double)most - 1};
    return HSY_OK;
}

/*
 * A round is sent from the day after its last on, for less than a round. Where
 * the task's days are no multiple of a round, the last round is shorter and
 * ends with the task. An end that was moved since leaves earlier rounds where
 * they were.
 */
hsy_status hsy_task_round(hsy_round *out, const hsy_task *task, uint32_t epoch,
                          hsy_error *err)
{
    const uint32_t length = task->end - task->start;
    const uint32_t days = task->round_days != 0  ? task->round_days
                          : task->slot_days != 0 ? task->slot_days
                                                 : length;
    const uint64_t since =
        epoch > task->start ? (epoch - task->start) / days : 0;
    uint64_t number = since - 1;

    if (length % days != 0 && epoch >= task->end &&
        epoch < (uint64_t)task->end + days)
        number = length / days;
    else if (since == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_EPOCH,
                        "no round of the task is sent on that day");
    if (task->slot_days == 0) { /* one slot, however long */
        out->slot = 0;
        out->round = task->round_days != 0 ? (uint32_t)number : 0;
    } else {
        out->slot = number / (task->slot_days / days);
        out->round = (uint32_t)(number % (task->slot_days / days));
    }
    out->each = task->sends;
    return HSY_OK;
}

/* ---- Two tallies --------------------------------------------------------- */

static hsy_status attend_devices(const hsy_round *rounds, size_t n,
                                 uint64_t devices, hsy_error *err)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (most < rounds[i].reports / rounds[i].each)
            most = rounds[i].reports / rounds[i].each;
    if (most > devices)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_DEVICES,
                              "a round has reports of more devices", most);
    return HSY_OK;
}

static double attend_reports(const hsy_round *rounds, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)rounds[i].reports;
    return sum;
}

/* Devices that two rounds have in common, at least. */
static double attend_common(const hsy_round *a, const hsy_round *b,
                            uint64_t devices)
{
    if (a->slot != b->slot || a->each != 1 || b->each != 1)
        return 0;
    return fmax(0, (double)a->reports + (double)b->reports - (double)devices);
}

hsy_status hsy_attend_both(double *shared, const hsy_rounds *a,
                           const hsy_rounds *b, uint64_t devices,
                           hsy_error *err)
{
    double common = 0;
    hsy_status st = attend_check(a->list, a->count, err);

    if (st == HSY_OK)
        st = attend_check(b->list, b->count, err);
    if (st == HSY_OK && devices != 0)
        st = attend_devices(a->list, a->count, devices, err);
    if (st == HSY_OK && devices != 0)
        st = attend_devices(b->list, b->count, devices, err);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; devices != 0 && i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            common += attend_common(&a->list[i], &b->list[k], devices);
    *shared = common / (attend_reports(a->list, a->count) *
                        attend_reports(b->list, b->count));
    return HSY_OK;
}

/* ---- Points -------------------------------------------------------------- */

/* The scheme of the kept answers, as far as its law goes. The mechanisms that
 * keep answers have no tail: the struct is all of the scheme. */
static bool attend_permanent(hsy_scheme *out, const hsy_scheme *s)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = s->mech->row.name,
                     .kind = s->kind,
                     .nano_epsilon = s->nano_permanent,
                     .d = s->d,
                     .lo = s->lo,
                     .hi = s->hi,
                     .scale = s->scale};
    hsy_scheme made = *s;

    if (s->nano_permanent == 0)
        return false;
    for (size_t i = 0; i < HSY_PARAMS; i++)
        spec.param[i] = s->param[i];
    made.nano_epsilon = s->nano_permanent;
    made.nano_permanent = 0;
    if (hsy_mech_resolve(&made, s->mech, &spec, NULL) != HSY_OK)
        return false;
    *out = made;
    return true;
}

/* What a mechanism took off a report's variance, or added, it did to what is
 * kept: the seed of a hash, the set of bits asked for, the rounding. */
static void attend_point(hsy_evidence *point, const struct mech_support *law,
                         const struct mech_support *kept, double times)
{
    point->kept0 =
        fmax(0, mech_support_v0(kept) + point->v0 - mech_support_v0(law));
    point->kept1 =
        fmax(0, mech_support_v1(kept) + point->v1 - mech_support_v1(law));
    point->kept = times;
    point->v0 += times * point->kept0;
    point->v1 += times * point->kept1;
    point->binomial_variance *= 1 + times;
}

hsy_status hsy_attend_laws(struct attend_laws *out, const hsy_scheme *s,
                           const hsy_scheme *permanent, hsy_error *err)
{
    hsy_scheme made;

    if (permanent == NULL && attend_permanent(&made, s))
        permanent = &made;
    if (permanent == NULL || s->mech->estimate->support == NULL)
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_ROUNDS,
                        "several rounds of one slot share kept answers, and "
                        "the scheme does not say their epsilon");
    s->mech->estimate->support(s, &out->report);
    permanent->mech->estimate->support(permanent, &out->kept);
    return HSY_OK;
}

hsy_status hsy_evidence_attend(hsy_evidence *points, size_t count,
                               const hsy_scheme *s, const hsy_scheme *permanent,
                               const hsy_attendance *attended, hsy_error *err)
{
    struct attend_laws laws;
    hsy_status st;

    for (size_t i = 0; i < count; i++)
        points[i].came = attended->came;
    st = hsy_attend_laws(&laws, s, permanent, attended->kept > 0 ? err : NULL);
    if (st != HSY_OK)
        return attended->kept > 0 ? st : HSY_OK;
    for (size_t i = 0; i < count; i++)
        attend_point(&points[i], &laws.report, &laws.kept, attended->kept);
    return HSY_OK;
}

/* ---- Before anything is collected ---------------------------------------- */

/* All stay: of T rounds, c in each whole slot and the rest in the last. */
static hsy_attendance attend_all(double devices, uint64_t rounds,
                                 uint64_t per_slot)
{
    const double whole = (double)(rounds / per_slot);
    const double c = (double)per_slot, rest = (double)(rounds % per_slot);
    const double all = (double)rounds;

    return (hsy_attendance){.reports = (uint64_t)(devices * all),
                            .rounds = rounds,
                            .devices = (uint64_t)devices,
                            .kept = (whole * c * c + rest * rest) / all - 1,
                            .came = all - 1};
}

hsy_status hsy_attend_expect(const hsy_scheme *s, double sd[2],
                             const hsy_attend_plan *plan, hsy_error *err)
{
    const double f = plan->share;
    const double reports = (double)plan->devices * (double)plan->rounds;
    hsy_attendance all;
    hsy_evidence point = {.value = f, .n = reports};
    double v[2];
    hsy_status st;

    if (s->mech->estimate->points == NULL || s->mech->estimate->support == NULL)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "it is not estimated value by value");
    if (!(f >= 0 && f <= 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARE, "lies from 0 to 1");
    if (plan->devices == 0 || plan->rounds == 0 || plan->per_slot == 0 ||
        reports > ATTEND_MOST)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ROUNDS,
                        "at least one device and one round, at most 2^53 "
                        "reports");
    hsy_mech_variance(s, v);
    point.v0 = v[0];
    point.v1 = v[1];
    all = attend_all((double)plan->devices, plan->rounds, plan->per_slot);
    st = hsy_evidence_attend(&point, 1, s, plan->permanent, &all, err);
    for (int target = 0; st == HSY_OK && target < 2; target++)
        sd[target] = sqrt(hsy_evidence_variance(&point, (hsy_target)target, f));
    return st;
}
