/*
 * search.c - prefix extending: from a tally of pem to frequent strings.
 *
 * Stage j extends each prefix that survived stage j-1 by every combination of
 * the new bits, estimates all of these candidates from the reports of group j
 * alone, and keeps the largest; before the last stage also all that stand out
 * from noise. Each person is in one group, so the noise of a stage has nothing
 * to do with how its candidates were chosen: what stage j-1 has picked by luck
 * is judged afresh.
 *
 * With C candidates of which nobody has any, the largest estimate passes z
 * standard errors with chance at most C P[N(0,1) > z] = alpha (Bonferroni).
 */
#include "lib/discover/internal.h"

#include <math.h>
#include <string.h>

/* ---- What is wanted ------------------------------------------------------ */

hsy_status hsy_search_check(double alpha, uint64_t max_candidates,
                            hsy_error *err)
{
    if (!(alpha > 0 && alpha < 1))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ALPHA,
                              "a chance lies between 0 and 1", 0);
    if (max_candidates > HSY_SEARCH_CANDIDATES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                              "at most 2^24 candidates",
                              HSY_SEARCH_CANDIDATES_MAX);
    return HSY_OK;
}

hsy_status hsy_search_settle(hsy_search *out, const hsy_search *how,
                             hsy_error *err)
{
    if (how->size != sizeof *how)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                              "the search is of another version", sizeof *how);
    *out = *how;
    out->top = how->top == 0 ? SEARCH_TOP : how->top;
    out->keep = how->keep == 0 ? SEARCH_KEEP : how->keep;
    out->alpha = how->alpha == 0 ? SEARCH_ALPHA : how->alpha;
    if (how->max_candidates == 0)
        out->max_candidates = HSY_SEARCH_CANDIDATES;
    if (out->top > HSY_SEARCH_TOP_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TOP,
                              "too many strings", HSY_SEARCH_TOP_MAX);
    if (out->keep > HSY_SEARCH_KEEP_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_KEEP,
                              "too many times top prefixes",
                              HSY_SEARCH_KEEP_MAX);
    return hsy_search_check(out->alpha, out->max_candidates, err);
}

static uint32_t search_length(const hsy_scheme_info *info, size_t i)
{
    const uint64_t bits = info->param[HSY_PARAM_BITS];
    const uint64_t reach =
        info->param[HSY_PARAM_FIRST] + (i + 1) * info->param[HSY_PARAM_STEP];

    return (uint32_t)(reach < bits ? reach : bits);
}

/* Stage i, whose candidates extend at most `before` prefixes. */
static void search_stage_of(hsy_stage *stage, const hsy_scheme *s,
                            const hsy_scheme_info *info, size_t i,
                            uint64_t before)
{
    hsy_scheme_info own;

    hsy_scheme_describe(hsy_scheme_part(s, i), &own);
    *stage = (hsy_stage){.group = i,
                         .oracle = own.mechanism,
                         .bits = search_length(info, i),
                         .v0 = own.v0,
                         .v1 = own.v1,
                         .q = own.q,
                         .width = hsy_codes_per_truth(s)};
    stage->step =
        i == 0 ? stage->bits : stage->bits - search_length(info, i - 1);
    stage->candidates = before << stage->step; /* both below 2^24 */
}

/* How many prefixes of stage i the next stage has room for. */
static uint64_t search_room(const hsy_scheme_info *info,
                            const hsy_search *wanted, size_t i)
{
    return wanted->max_candidates >>
           (search_length(info, i + 1) - search_length(info, i));
}

hsy_status hsy_search_plan(const hsy_scheme *s,
                           hsy_stage stages[HSY_STAGES_MAX], size_t *count,
                           const hsy_search *how, hsy_error *err)
{
    const size_t parts = hsy_scheme_parts(s);
    hsy_search wanted;
    hsy_stage plan[HSY_STAGES_MAX];
    hsy_scheme_info info;
    uint64_t before = 1, room = 1;
    hsy_status st = hsy_search_settle(&wanted, how, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &info);
    if (info.analysis != HSY_ANALYSIS_SEARCH || parts > HSY_STAGES_MAX)
        return hsy_fail_limit(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                              "strings are discovered from reports of pem", 0);
    for (size_t i = 0; i < parts; i++) {
        hsy_stage *stage = &plan[i];
        const bool last = i + 1 == parts;
        const uint64_t keep = last ? wanted.top : wanted.top * wanted.keep;

        search_stage_of(stage, s, &info, i, before);
        if (stage->candidates > wanted.max_candidates)
            return hsy_fail_limit(
                err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                "a stage has more candidates than are allowed",
                stage->candidates);
        if (last && wanted.top > stage->candidates)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TOP,
                                  "more strings than there are candidates",
                                  stage->candidates);
        stage->keep = keep < stage->candidates ? keep : stage->candidates;
        stage->room = i == 0 ? stage->candidates : room << stage->step;
        room = last ? 0 : search_room(&info, &wanted, i);
        room = room > stage->keep ? room : stage->keep;
        room = room < stage->room ? room : stage->room;
        stage->most = room;
        stage->z =
            -hsy_normal_quantile(wanted.alpha / (double)stage->candidates);
        stage->significant = wanted.significant;
        stage->alpha = wanted.alpha;
        before = stage->keep;
    }
    memcpy(stages, plan, parts * sizeof *plan);
    *count = parts;
    return HSY_OK;
}

/* The standard deviation of an estimate, times sqrt(n), of a string of this
 * share in a group that is a sample of all people. */
static double search_spread(const hsy_stage *stage, double share)
{
    const double f = fmin(share, 1);

    return stage->v1 == 0
               ? sqrt(stage->v0)
               : sqrt((1 - f) * stage->v0 + f * stage->v1 + f * (1 - f));
}

/*
 * The threshold is that of a binomial tail, which skew moves away from z
 * standard errors: by Cornish and Fisher, this over sqrt(n) more of them.
 */
static double search_skew(const hsy_stage *stage)
{
    const double q = stage->q;

    return q <= 0 || q >= 0.5 ? 0
                              : (stage->z * stage->z - 1) * (1 - 2 * q) /
                                    (6 * sqrt(q * (1 - q)));
}

/* share n = (z sqrt(v0) + z_b spread) sqrt(n) + skew sqrt(v0), solved for
 * sqrt(n). */
double hsy_stage_users(const hsy_stage *stage, double share, double miss)
{
    const double line = stage->z * sqrt(stage->v0) -
                        hsy_normal_quantile(miss) * search_spread(stage, share);
    const double skew = search_skew(stage) * sqrt(stage->v0);
    const double root =
        (line + sqrt(line * line + 4 * share * skew)) / share / 2;

    return ceil(root * root);
}

/* By bisection: the spread grows with the share. */
double hsy_stage_share(const hsy_stage *stage, double reports, double miss)
{
    const double threshold = (stage->z + search_skew(stage) / sqrt(reports)) *
                             sqrt(stage->v0 / reports);
    const double z = -hsy_normal_quantile(miss) / sqrt(reports);
    double low = 0,
           high = threshold + fabs(z) * sqrt(stage->v0 + stage->v1 + 1);

    for (int i = 0; i < 60; i++) {
        const double f = (low + high) / 2;

        if (threshold + z * search_spread(stage, f) > f)
            low = f;
        else
            high = f;
    }
    return high;
}

/* ---- One stage ----------------------------------------------------------- */

/* The candidates of a stage in the caller's scratch. */
struct search_work {
    uint64_t *codes; /* spelled, `width` words each */
    uint64_t *own;   /* under the group's scheme */
    hsy_evidence *points;
    void *scratch;
};

static struct search_work search_open(void *scratch, uint64_t candidates,
                                      size_t width)
{
    struct search_work w = {.points = scratch};

    w.codes = (uint64_t *)(w.points + candidates);
    w.own = w.codes + candidates * width;
    w.scratch = w.own + candidates;
    return w;
}

/* The most candidates that a stage may have. */
static uint64_t search_most(const hsy_stage *stage)
{
    return stage->room != 0 ? stage->room : stage->candidates;
}

size_t hsy_search_scratch(const hsy_scheme *s, const hsy_stage *stages,
                          size_t count)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        const size_t n = (size_t)search_most(&stages[i]);
        const size_t size = n * (sizeof(hsy_evidence) +
                                 (stages[i].width + 1) * sizeof(uint64_t)) +
                            hsy_evidence_scratch(hsy_scheme_part(s, i), n);

        most = size > most ? size : most;
    }
    return most;
}

/* How strings are spelled. */
struct search_spelling {
    uint64_t bits;
    uint32_t symbol;    /* bits of one */
    uint32_t size;      /* of the alphabet; 0: any bytes */
    uint8_t bytes[256]; /* of the alphabet, in order */
};

static void search_spelling(struct search_spelling *out, const hsy_scheme *s)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    *out = (struct search_spelling){.bits = info.param[HSY_PARAM_BITS],
                                    .symbol = hsy_symbol_bits(s)};
    for (unsigned b = 0; b < 256; b++)
        if (info.alphabet[b / 8] >> b % 8 & 1)
            out->bytes[out->size++] = (uint8_t)b;
}

/* How far up bit `at` of a string stands in its word, which is filled from the
 * top but for the last. */
static unsigned search_shift(const struct search_spelling *x, uint64_t at)
{
    const bool last = at / 64 == (x->bits - 1) / 64;

    return last ? (unsigned)(x->bits - 1 - at) : 63 - (unsigned)(at % 64);
}

/* Bits from..to of a string as a number. */
static uint64_t search_get(const struct search_spelling *x,
                           const uint64_t *codes, uint64_t from, uint64_t to)
{
    uint64_t value = 0;

    for (uint64_t at = from; at < to; at++)
        value = value << 1 | (codes[at / 64] >> search_shift(x, at) & 1);
    return value;
}

/* Let a prefix end before bit `end` with the bits of more. */
static void search_put(const struct search_spelling *x, uint64_t *codes,
                       uint64_t end, uint64_t more)
{
    for (uint64_t at = end; more != 0; more >>= 1) {
        at--;
        codes[at / 64] |= (more & 1) << search_shift(x, at);
    }
}

/* Whether any string has this prefix, given that one has all of it but the last
 * `step` bits: a symbol is at most the alphabet's size, and after the end there
 * are zeros. */
static bool search_possible(const struct search_spelling *x,
                            const uint64_t *codes, uint64_t length,
                            uint64_t step)
{
    uint64_t at = (length - step) / x->symbol * x->symbol;
    bool ended = false;

    if (x->size == 0)
        return true;
    if (at >= x->symbol)
        ended = search_get(x, codes, at - x->symbol, at) == 0;
    for (; at < length; at += x->symbol) {
        const uint64_t end = at + x->symbol < length ? at + x->symbol : length;
        const uint64_t least = search_get(x, codes, at, end)
                               << (at + x->symbol - end);

        /* What is left after the last whole symbol is zeros. */
        if (least > (at + x->symbol > x->bits ? 0 : x->size) ||
            (ended && least != 0))
            return false;
        ended = end == at + x->symbol && least == 0;
    }
    return true;
}

size_t hsy_search_extend(const hsy_scheme *s, uint64_t *codes,
                         const hsy_stage *stage, const hsy_found *found)
{
    const bool first = stage->bits == stage->step; /* its prefix is nothing */
    const size_t prefixes = first ? 1 : found->count;
    const size_t width = stage->width;
    const hsy_candidate nothing = {0};
    struct search_spelling spelling;
    size_t at = 0;

    search_spelling(&spelling, s);
    for (size_t k = 0; k < prefixes; k++)
        for (uint64_t more = 0; more >> stage->step == 0; more++) {
            uint64_t *next = codes + at * width;

            memcpy(next, first ? nothing.code : found->list[k].code,
                   width * sizeof *next);
            search_put(&spelling, next, stage->bits, more);
            at += search_possible(&spelling, next, stage->bits, stage->step);
        }
    return at;
}

/* Larger shares first; of equals the smaller code. */
static bool search_before(const hsy_candidate *a, const hsy_candidate *b)
{
    if (a->point.value != b->point.value)
        return a->point.value > b->point.value;
    for (size_t k = 0; k < HSY_SPELL_WORDS; k++)
        if (a->code[k] != b->code[k])
            return a->code[k] < b->code[k];
    return false;
}

/* Let the element at `at` sink to its place in a heap of n, the last in order
 * on top. */
static void search_sink(hsy_candidate *heap, size_t at, size_t n)
{
    const hsy_candidate own = heap[at];

    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && search_before(&heap[child], &heap[child + 1]))
            child++;
        if (!search_before(&own, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = own;
}

/* Keep the first `most` in order of those that come by; *left becomes the
 * largest share that is not kept. */
static void search_offer(hsy_candidate *heap, size_t *held, size_t most,
                         const hsy_candidate *next, double *left)
{
    if (*held == most)
        *left = fmax(*left, fmin(next->point.value, heap[0].point.value));
    if (*held < most) {
        heap[(*held)++] = *next;
        if (*held == most)
            for (size_t k = most / 2; k-- > 0;)
                search_sink(heap, k, most);
    } else if (search_before(next, &heap[0])) {
        heap[0] = *next;
        search_sink(heap, 0, most);
    }
}

/* Put what is held in order. */
static void search_sort(hsy_candidate *heap, size_t held)
{
    for (size_t k = held / 2; k-- > 0;)
        search_sink(heap, k, held);
    for (size_t left = held; left > 1; left--) {
        const hsy_candidate last = heap[0];

        heap[0] = heap[left - 1];
        heap[left - 1] = last;
        search_sink(heap, 0, left - 1);
    }
}

static double search_threshold(const hsy_evidence *point, double z)
{
    return z * sqrt(point->v0 / point->n + point->residual_variance);
}

/*
 * Whether chance makes such a point of a prefix that nobody has less often than
 * `chance`, whose quantile is z. Where a group is small against the range of
 * its hash the count is far from normal, with a longer tail: the binomial one
 * must agree, if support is a count by chance q (not that of one block of hr).
 */
static bool search_significant(const hsy_evidence *point, double z,
                               double chance)
{
    if (point->value <= search_threshold(point, z))
        return false;
    if (point->q == 0)
        return true;
    /* P[X >= support] is that of n - X <= n - support. */
    return hsy_binomial_cdf((uint64_t)(point->n - point->support),
                            (uint64_t)point->n, 1 - point->q) <= chance;
}

/*
 * Of prefixes in order the first `keep` pass, and those that stand out: above a
 * threshold that on average keep / 2 prefixes pass that nobody has. Strings of
 * one share may have prefixes that others share too and that are larger than
 * theirs, up to 1 / share of them. The threshold is not that of significance: a
 * string that is significant at the end would fall below that in some stage.
 */
static size_t search_passing(const hsy_stage *stage, const hsy_candidate *found,
                             size_t held, size_t n)
{
    const double chance = (double)stage->keep / 2 / (double)n;
    size_t passing = (size_t)stage->keep;

    if (stage->significant || held <= passing)
        return held;
    if (chance < 0.5)
        while (passing < held &&
               found[passing].point.value >
                   search_threshold(&found[passing].point,
                                    -hsy_normal_quantile(chance)))
            passing++;
    return passing;
}

size_t hsy_search_select(const hsy_stage *stage, hsy_candidate *found,
                         const uint64_t *codes, const hsy_evidence *points,
                         size_t n)
{
    const double alpha = stage->alpha == 0 ? SEARCH_ALPHA : stage->alpha;
    const double chance = alpha / (double)(n > 0 ? n : 1);
    const double z = -hsy_normal_quantile(chance);
    const size_t most =
        (size_t)(stage->most > stage->keep ? stage->most : stage->keep);
    double left = -INFINITY;
    size_t held = 0, passing;

    for (size_t c = 0; c < n; c++) {
        hsy_candidate next = {
            .point = points[c],
            .significant = search_significant(&points[c], z, chance),
            .of = n,
            .passed = stage->significant ? search_threshold(&points[c], z)
                                         : -INFINITY};

        memcpy(next.code, codes + c * stage->width,
               stage->width * sizeof *codes);
        if (!stage->significant || next.significant)
            search_offer(found, &held, most, &next, &left);
    }
    search_sort(found, held);
    passing = search_passing(stage, found, held, n);
    if (passing < held)
        left = found[passing].point.value;
    for (size_t k = 0; k < passing; k++)
        found[k].passed = fmax(found[k].passed, left);
    return passing;
}

hsy_status hsy_search_stage(const hsy_scheme *s, hsy_found *found,
                            const hsy_tally *t, const hsy_stage *stage,
                            void *scratch, hsy_error *err)
{
    const size_t width = stage->width, i = stage->group;
    const struct search_work w =
        search_open(scratch, search_most(stage), width);
    size_t candidates = (i == 0 ? 1 : found->count) << stage->step;
    const double n = (double)hsy_tally_reports(t);
    hsy_tally group;
    hsy_status st;

    if (candidates == 0)
        return HSY_OK; /* nothing survived, so nothing is found */
    if (candidates > search_most(stage))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_COUNT,
                              "more prefixes than the stage before keeps",
                              search_most(stage) >> stage->step);
    hsy_tally_part(&group, t, s, i);
    if (hsy_tally_reports(&group) == 0)
        return hsy_fail_limit(err, HSY_E_EMPTY, HSY_FIELD_GROUP,
                              "a group has no reports: more people are needed",
                              i + 1);
    candidates = hsy_search_extend(s, w.codes, stage, found);
    for (size_t c = 0; c < candidates; c++)
        w.own[c] = hsy_part_code(s, w.codes + c * width, i);
    st = hsy_evidence_of(hsy_scheme_part(s, i), w.points, &group, w.own,
                         candidates, w.scratch, err);
    if (st != HSY_OK)
        return st;
    found->count =
        hsy_search_select(stage, found->list, w.codes, w.points, candidates);
    for (size_t k = 0; k < found->count; k++) {
        hsy_evidence *point = &found->list[k].point;

        /* A group is a sample of all who answered. */
        point->binomial_variance = n > 1 ? (n - point->n) / (n - 1) : 0;
    }
    return HSY_OK;
}

size_t hsy_code_string(const hsy_scheme *s, uint8_t string[HSY_SPELL_BITS],
                       const uint64_t *codes)
{
    struct search_spelling x;
    size_t len = 0;

    search_spelling(&x, s);
    for (size_t i = 0; i < x.bits / x.symbol; i++) {
        const uint64_t symbol =
            search_get(&x, codes, i * x.symbol, (i + 1) * x.symbol);

        if (x.size == 0)
            string[i] = (uint8_t)symbol;
        else
            string[i] =
                symbol == 0 || symbol > x.size ? 0 : x.bytes[symbol - 1];
        if (symbol != 0)
            len = i + 1;
    }
    return len;
}

unsigned hsy_code_bit(const hsy_scheme *s, const uint64_t *codes, uint32_t at)
{
    struct search_spelling x;

    search_spelling(&x, s);
    return (unsigned)search_get(&x, codes, at, (uint64_t)at + 1);
}
