/* design.c - RAPPOR's counts and candidates as a regression. */
#include "lib/core/fail.h"
#include "lib/rappor/internal.h"

#include <math.h>
#include <string.h>

/* ---- The channel --------------------------------------------------------- */

static bool design_probability(double x)
{
    return x >= 0 && x <= 1;
}

/* ln(a / b) with ln(x / 0) = infinity, and 0 for 0 / 0: nothing to tell by. */
static double design_log_ratio(double a, double b)
{
    if (a == b)
        return 0;
    return b == 0 ? INFINITY : a == 0 ? -INFINITY : log(a / b);
}

static hsy_status design_check_noise(const hsy_rappor_noise *noise,
                                     hsy_error *err)
{
    const uint32_t k = noise->k, h = noise->h;
    const double f = noise->f, p = noise->p, q = noise->q;

    if (k == 0 || k > HSY_RAPPOR_BITS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_K,
                              "bits must be 1 to the limit",
                              HSY_RAPPOR_BITS_MAX);
    if (h == 0 || h > HSY_RAPPOR_HASHES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_H,
                              "hashes must be 1 to the limit",
                              HSY_RAPPOR_HASHES_MAX);
    if (!(f >= 0 && f < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_F,
                        "must be at least 0 and below 1: at 1 the reports hold "
                        "nothing");
    if (!design_probability(p) || !design_probability(q))
        return hsy_fail(err, HSY_E_RANGE,
                        design_probability(p) ? HSY_FIELD_Q : HSY_FIELD_P,
                        "must be a probability");
    if (p == q)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_Q,
                        "must differ from p: the reports hold nothing");
    return HSY_OK;
}

hsy_status hsy_rappor_channel(hsy_rappor_law *law,
                              const hsy_rappor_noise *noise, hsy_error *err)
{
    const double f = noise->f, flat = f / 2 * (noise->p + noise->q);
    const bool boolean = noise->k == 1;
    const double bits = boolean ? 1 : noise->h;
    hsy_status st = design_check_noise(noise, err);
    double up, down;
    hsy_rappor_law out;

    if (st != HSY_OK)
        return st;
    out.p = flat + (1 - f) * noise->p;
    out.q = flat + (1 - f) * noise->q;
    up = fabs(design_log_ratio(out.q, out.p));
    down = fabs(design_log_ratio(1 - out.p, 1 - out.q));
    out.epsilon_report = boolean ? fmax(up, down) : bits * (up + down);
    out.epsilon_permanent =
        (boolean ? 1 : 2 * bits) * design_log_ratio(1 - f / 2, f / 2);
    *law = out;
    return HSY_OK;
}

/* ---- What can be decoded ------------------------------------------------- */

static hsy_status design_check_counts(const hsy_rappor_data *data,
                                      hsy_error *err)
{
    uint64_t all = 0;

    for (uint32_t c = 0; c < data->m; c++) {
        const uint64_t *ones = data->ones + (size_t)c * data->k;

        if (data->totals[c] >= (uint64_t)1 << 53 ||
            (all += data->totals[c]) >= (uint64_t)1 << 53)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_TOTALS,
                               "more than 2^53 reports", HSY_UNIT_COHORT,
                               c + 1);
        for (uint32_t b = 0; b < data->k; b++) {
            if (ones[b] > data->totals[c])
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_ONES,
                                   "a bit is set in more reports than the "
                                   "cohort has",
                                   HSY_UNIT_COHORT, c + 1);
        }
    }
    return HSY_OK;
}

static hsy_status design_check_bits(const hsy_rappor_data *data, hsy_error *err)
{
    const size_t each = (size_t)data->m * data->h;

    for (size_t i = 0; i < data->candidates * each; i++) {
        if (data->bits[i] >= data->k)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_BITS,
                               "a candidate's bit is not below k",
                               HSY_UNIT_CANDIDATE, i / each + 1);
    }
    return HSY_OK;
}

hsy_status hsy_rappor_check(const hsy_rappor_data *data, bool candidates,
                            hsy_error *err)
{
    const struct {
        uint32_t field;
        uint64_t value, least, most;
    } limits[] = {
        {HSY_FIELD_SIZE, data->size, sizeof *data, sizeof *data},
        {HSY_FIELD_K, data->k, 1, HSY_RAPPOR_BITS_MAX},
        {HSY_FIELD_H, data->h, 1, HSY_RAPPOR_HASHES_MAX},
        {HSY_FIELD_M, data->m, 1, HSY_RAPPOR_COHORTS_MAX},
        {HSY_FIELD_M, (uint64_t)data->m * data->k, 1, HSY_RAPPOR_CELLS_MAX},
        {HSY_FIELD_CANDIDATES, candidates ? data->candidates : 1, 1,
         HSY_RAPPOR_CANDIDATES_MAX},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].value < limits[i].least ||
            limits[i].value > limits[i].most)
            return hsy_fail_limit(err, HSY_E_RANGE, limits[i].field,
                                  "must be at least 1 and at most the limit",
                                  limits[i].most);
    }
    if (!design_probability(data->p) || !design_probability(data->q) ||
        data->p == data->q)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_P,
                        "p and q must be different probabilities");
    return HSY_OK;
}

uint32_t hsy_rappor_live(const hsy_rappor_data *data)
{
    uint32_t live = 0;

    for (uint32_t c = 0; c < data->m; c++)
        live += data->totals[c] != 0;
    return live;
}

/* ---- Memory -------------------------------------------------------------- */

/* A piece of the caller's memory after those before it. */
static void *design_take(unsigned char *memory, size_t *used, size_t count,
                         size_t size)
{
    const size_t at = *used, bytes = (count * size + 63) / 64 * 64;

    /* Counts are bounded (hsy_rappor_check); a size_t of 32 bits is not
     * enough for all of them. */
    if (at == SIZE_MAX || count > (SIZE_MAX / 2 - at) / size) {
        *used = SIZE_MAX;
        return NULL;
    }
    *used = at + bytes;
    return memory == NULL ? NULL : memory + at;
}

size_t hsy_rappor_layout(struct rappor_work *work, void *memory,
                         const hsy_rappor_data *data, uint32_t live)
{
    struct rappor_design *d = &work->design;
    struct rappor_fit *f = &work->fit;
    struct rappor_chain *c = &work->chain;
    const size_t all = data->candidates, rows = (size_t)live * (data->k + 1);
    const size_t columns = all < RAPPOR_DENSE_MAX ? all : RAPPOR_DENSE_MAX;
    const size_t order = columns + 1;
    size_t used = 0;

    *work = (struct rappor_work){.design = {.k = data->k,
                                            .h = data->h,
                                            .live = live,
                                            .candidates = all,
                                            .rows = rows},
                                 .fit = {.stride = order}};
    d->n = design_take(memory, &used, live, sizeof *d->n);
    d->y = design_take(memory, &used, rows, sizeof *d->y);
    d->w = design_take(memory, &used, rows, sizeof *d->w);
    d->bits = design_take(memory, &used, all * live, data->h * sizeof *d->bits);
    d->norm = design_take(memory, &used, all, sizeof *d->norm);
    f->column = design_take(memory, &used, columns, sizeof *f->column);
    f->gram = design_take(memory, &used, order * order, sizeof *f->gram);
    f->inverse = design_take(memory, &used, order * order, sizeof *f->inverse);
    f->moment = design_take(memory, &used, order, sizeof *f->moment);
    f->coef = design_take(memory, &used, order, sizeof *f->coef);
    f->own = design_take(memory, &used, order, sizeof *f->own);
    f->items = design_take(memory, &used, columns * data->h, sizeof *f->items);
    f->heads = design_take(memory, &used, data->k + 2u, sizeof *f->heads);
    f->sums = design_take(memory, &used, 2 * columns, sizeof *f->sums);
    c->residual = design_take(memory, &used, rows, sizeof *c->residual);
    c->score = design_take(memory, &used, order, sizeof *c->score);
    c->x = design_take(memory, &used, all, sizeof *c->x);
    c->phi = design_take(memory, &used, all, sizeof *c->phi);
    c->zero = design_take(memory, &used, all, sizeof *c->zero);
    c->mean = design_take(memory, &used, all, sizeof *c->mean);
    c->value = design_take(memory, &used, RAPPOR_GRID_MAX, sizeof *c->value);
    c->share = design_take(memory, &used, RAPPOR_GRID_MAX, sizeof *c->share);
    c->bin = design_take(memory, &used, RAPPOR_GRID_MAX, sizeof *c->bin);
    c->coins = design_take(memory, &used, RAPPOR_COINS, sizeof *c->coins);
    work->keys = design_take(memory, &used, all, sizeof *work->keys);
    work->order = design_take(memory, &used, all, sizeof *work->order);
    return used == SIZE_MAX ? 0 : used;
}

size_t hsy_rappor_scratch(const hsy_rappor_data *data)
{
    struct rappor_work work;

    if (hsy_rappor_check(data, true, NULL) != HSY_OK)
        return 0;
    return hsy_rappor_layout(&work, NULL, data, data->m);
}

/* ---- Rates --------------------------------------------------------------- */

/* The expected rate of ones at a de-noised share, which is kept to [0, 1]. */
static double design_reported(const hsy_rappor_data *data, double share)
{
    share = fmin(fmax(share, 0), 1);
    return share * data->q + (1 - share) * data->p;
}

static double design_share(const hsy_rappor_data *data, double ones, double n)
{
    return (ones - data->p * n) / ((data->q - data->p) * n);
}

/*
 * y and w of a cohort. The weight takes the reported rate r between p and q,
 * drawn toward 1/2 by one report of either kind, so that a channel without
 * noise (r = 0 or 1) has a finite weight too.
 */
static void design_rows(struct rappor_design *d, const hsy_rappor_data *data,
                        uint32_t cohort, uint32_t at)
{
    const double n = (double)data->totals[cohort];
    const double gap = data->q - data->p;
    double *y = d->y + (size_t)at * (d->k + 1);
    double *w = d->w + (size_t)at * (d->k + 1);

    d->n[at] = n;
    d->reports += n;
    for (uint32_t b = 0; b < d->k; b++) {
        double r;

        y[b] = design_share(data, (double)data->ones[(size_t)cohort * d->k + b],
                            n);
        r = (n * design_reported(data, y[b]) + 1) / (n + 2);
        w[b] = n * gap * gap / (r * (1 - r));
        d->total_w += w[b];
        d->total_wy += w[b] * y[b];
    }
    y[d->k] = w[d->k] = 0;
}

/* ---- Candidates ---------------------------------------------------------- */

/* One cohort's bits in ascending order, repeats sent to the empty cell k. */
static void design_sort(uint16_t *bits, uint32_t h, uint32_t k)
{
    for (uint32_t i = 1; i < h; i++) {
        const uint16_t bit = bits[i];
        uint32_t j = i;

        for (; j > 0 && bits[j - 1] > bit; j--)
            bits[j] = bits[j - 1];
        bits[j] = bit;
    }
    for (uint32_t i = h; i-- > 1;) {
        if (bits[i] == bits[i - 1])
            bits[i] = (uint16_t)k;
    }
}

static void design_candidate(struct rappor_design *d,
                             const hsy_rappor_data *data, size_t j)
{
    const uint16_t *from = data->bits + j * data->m * data->h;
    uint16_t *to = d->bits + j * d->live * d->h;

    for (uint32_t c = 0; c < data->m; c++, from += d->h) {
        if (data->totals[c] == 0)
            continue;
        memcpy(to, from, d->h * sizeof *to);
        design_sort(to, d->h, d->k);
        to += d->h;
    }
}

double hsy_rappor_gather(const struct rappor_design *d, size_t j,
                         const double *values)
{
    const uint16_t *bits = d->bits + j * d->live * d->h;
    const size_t row = d->k + 1;
    double sum[4] = {0};
    uint32_t c = 0;

    if (d->h == 1) {
        for (; c + 4 <= d->live; c += 4, bits += 4, values += 4 * row) {
            sum[0] += values[bits[0]];
            sum[1] += values[row + bits[1]];
            sum[2] += values[2 * row + bits[2]];
            sum[3] += values[3 * row + bits[3]];
        }
    } else if (d->h == 2) {
        for (; c + 2 <= d->live; c += 2, bits += 4, values += 2 * row) {
            sum[0] += values[bits[0]];
            sum[1] += values[bits[1]];
            sum[2] += values[row + bits[2]];
            sum[3] += values[row + bits[3]];
        }
    }
    for (; c < d->live; c++, bits += d->h, values += row) {
        for (uint32_t i = 0; i < d->h; i++)
            sum[i % 4] += values[bits[i]];
    }
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* ---- Candidates that nothing tells apart --------------------------------- */

/* FNV-1a over 16-bit words: only a filter, equality is compared in full. */
static uint64_t design_key(const uint16_t *bits, size_t count)
{
    uint64_t key = 0xcbf29ce484222325;

    for (size_t i = 0; i < count; i++)
        key = (key ^ bits[i]) * 0x100000001b3;
    return key ^ key >> 32;
}

static bool design_before(const struct rappor_work *w, uint32_t a, uint32_t b)
{
    return w->keys[a] != w->keys[b] ? w->keys[a] < w->keys[b] : a < b;
}

static void design_sink(struct rappor_work *w, size_t at, size_t count)
{
    uint32_t *order = w->order;
    const uint32_t sinking = order[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count &&
            design_before(w, order[child], order[child + 1]))
            child++;
        if (!design_before(w, sinking, order[child]))
            break;
        order[at] = order[child];
    }
    order[at] = sinking;
}

/* Heap sort, which takes no memory; of equals the one that stands first. */
void hsy_rappor_order(struct rappor_work *w)
{
    const size_t count = w->design.candidates;

    for (size_t i = 0; i < count; i++)
        w->order[i] = (uint32_t)i;
    for (size_t i = count / 2; i-- > 0;)
        design_sink(w, i, count);
    for (size_t end = count; end-- > 1;) {
        const uint32_t last = w->order[end];

        w->order[end] = w->order[0];
        w->order[0] = last;
        design_sink(w, 0, end);
    }
}

static hsy_status design_distinct(struct rappor_work *work, hsy_error *err)
{
    const struct rappor_design *d = &work->design;
    const size_t each = (size_t)d->live * d->h;

    for (size_t j = 0; j < d->candidates; j++)
        work->keys[j] = design_key(d->bits + j * each, each);
    hsy_rappor_order(work);
    for (size_t i = 1; i < d->candidates; i++) {
        const uint32_t a = work->order[i - 1], b = work->order[i];

        if (work->keys[a] != work->keys[b] ||
            memcmp(d->bits + a * each, d->bits + b * each,
                   each * sizeof *d->bits) != 0)
            continue;
        hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                    "two candidates set the same bits in every cohort that "
                    "has reports: nothing tells them apart",
                    HSY_UNIT_CANDIDATE, (uint64_t)b + 1);
        if (err != NULL) {
            err->kind = HSY_LIMIT_OTHER;
            err->limit = (uint64_t)a + 1;
        }
        return HSY_E_RANGE;
    }
    return HSY_OK;
}

hsy_status hsy_rappor_design(struct rappor_work *work,
                             const hsy_rappor_data *data, hsy_error *err)
{
    struct rappor_design *d = &work->design;
    hsy_status st = design_check_counts(data, err);
    uint32_t at = 0;

    if (st == HSY_OK)
        st = design_check_bits(data, err);
    if (st != HSY_OK)
        return st;
    for (uint32_t c = 0; c < data->m; c++) {
        if (data->totals[c] != 0)
            design_rows(d, data, c, at++);
    }
    for (size_t j = 0; j < d->candidates; j++) {
        design_candidate(d, data, j);
        d->norm[j] = hsy_rappor_gather(d, j, d->w);
    }
    return design_distinct(work, err);
}
