/*
 * sim_batches.c - prefix extending, interactive: batch after batch.
 *
 * Batch i, people who were not asked before, holds its prefix of
 * s_i = first + i step bits against D_i, all extensions of the prefixes that
 * batch i-1 has brought up (C_0 is the empty string), and reports its place
 * among them, or "other", by a frequency oracle over |D_i| + 1 values. The
 * largest go on.
 *
 * Rounds are repetitions with fresh people, whose scores are averaged. Scores
 * are linear in counts, and all rounds have as many people: the mean of their
 * scores is the score of all their reports together, which are tallied so.
 *
 * People of a distribution are independent, so a batch is a multinomial draw of
 * its own; those of a file are shuffled and cut into batches.
 */
#include "sim/discovery/internal.h"

#include <stdlib.h>
#include <string.h>

/* Owned. */
struct batches {
    uint64_t *prefixes; /* that go on, ascending */
    size_t nprefixes;
    uint64_t *candidates, *places;
    uint64_t *counts, *ends; /* of a batch's people, by truth */
    uint64_t *order;         /* as counted: the truth of each, shuffled */
    uint64_t taken;          /* of these, by the batches so far */
};

/* One batch; owned. */
struct batch {
    hsy_spec spec;
    hsy_scheme_info info;
    hsy_scheme *s;
    int64_t *memory;
    hsy_tally tally;
    hsy_evidence *points;
    struct study_desk desk;
    void *scratch;
};

/* ---- Plan ---------------------------------------------------------------- */

/* People of each batch: in equal parts, or with weights that go evenly from 1
 * to 3 or from 3 to 1. */
static hsy_status batches_sizes(struct discover_job *job, hsy_error *err)
{
    const uint64_t last = job->nstages - 1, users = job->how->users;
    uint64_t weights[HSY_STAGES_MAX], whole = 0, before = 0;

    for (uint64_t i = 0; i <= last; i++) {
        const uint64_t at =
            job->how->batches.sizes == DISCOVERY_DIMINISHING ? last - i : i;

        weights[i] = job->how->batches.sizes == DISCOVERY_EQUAL || last == 0
                         ? 1
                         : last + 2 * at;
        whole += weights[i];
    }
    for (uint64_t i = 0, sum = 0; i <= last; i++) {
        sum += weights[i];
        /* At most 2^40 people, and a weight of all below 2^14. */
        job->out->people[i] = users * sum / whole - before;
        before += job->out->people[i];
        if (job->out->people[i] == 0)
            return host_fail(err, HSY_E_EMPTY, HOST_FIELD_USERS,
                             "a batch has no people: more are needed, or "
                             "fewer batches by a longer step");
    }
    job->users = users * job->how->batches.rounds;
    return HSY_OK;
}

static hsy_status batches_stage(struct discover_job *job, size_t i,
                                uint64_t before, hsy_error *err)
{
    const hsy_search *search = &job->how->search;
    const struct discovery_batches *b = &job->how->batches;
    const bool last = i + 1 == job->nstages;
    const uint64_t most = last ? search->top : search->top * search->keep;
    hsy_stage *stage = &job->stages[i];

    stage->step = (uint32_t)(i == 0 ? b->first + b->step : b->step);
    stage->bits = (uint32_t)(b->first + (i + 1) * b->step);
    stage->width = 1;
    stage->significant = search->significant;
    stage->alpha = search->alpha;
    if (stage->step > 24)
        return host_fail(err, HSY_E_RANGE,
                         b->step > 24 ? HSY_FIELD_STEP : HSY_FIELD_FIRST,
                         "a batch learns at most 24 bits");
    stage->candidates = before << stage->step; /* both below 2^24 */
    if (stage->candidates >= HSY_VALUES_MAX)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_STEP,
                         "a batch would have more than 2^22 candidates; lower "
                         "it, or top or keep");
    if (stage->candidates > search->max_candidates) {
        if (err != NULL)
            *err = (hsy_error){.status = HSY_E_RANGE,
                               .field = HSY_FIELD_MAX_CANDIDATES,
                               .msg = "a batch has too many candidates",
                               .limit = stage->candidates};
        return HSY_E_RANGE;
    }
    if (last && search->top > stage->candidates)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TOP,
                         "more strings than there are candidates");
    stage->keep = most < stage->candidates ? most : stage->candidates;
    return HSY_OK;
}

/* The question of a batch with so many candidates, by the oracle that was
 * chosen for as many as there can be. */
static hsy_spec batches_spec(const struct discover_job *job, size_t i,
                             uint64_t candidates)
{
    hsy_spec spec = job->how->spec;

    if (job->stages[i].oracle != NULL)
        spec.mechanism = job->stages[i].oracle;

    spec.kind = HSY_KIND_VALUES;
    spec.d = (uint32_t)candidates + 1;
    return spec;
}

/* Whether the oracle can ask this, with a tally for each thread. */
static hsy_status batches_oracle(struct discover_job *job, size_t i,
                                 hsy_error *err)
{
    const hsy_spec spec = batches_spec(job, i, job->stages[i].candidates);
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_status st =
        s != NULL ? hsy_scheme_init(s, &spec, err) : study_nomem(err);
    hsy_scheme_info info;

    if (st == HSY_OK) {
        hsy_scheme_describe(s, &info);
        job->stages[i].oracle = info.mechanism;
        job->stages[i].v0 = info.v0;
        if (hsy_tally_words(s) >
            STUDY_MEMORY_MAX / sizeof(int64_t) / job->how->threads)
            st = host_fail(err, HSY_E_RANGE, HOST_FIELD_MEMORY,
                           "tallies would take more than 4 GiB: fewer "
                           "threads, or pool-bits where there are hashes");
        job->out->at_once =
            (i == 0 || job->out->at_once) && study_at_once(&info);
    }
    free(s);
    return st;
}

static hsy_status batches_plan(struct discover_job *job, hsy_error *err)
{
    const struct discovery_batches *b = &job->how->batches;
    uint64_t before = 1;
    hsy_status st = HSY_OK;

    if (b->first >= b->bits || (b->bits - b->first) % b->step != 0)
        return host_fail(
            err, HSY_E_RANGE, HOST_FIELD_REMAINDER,
            "a step must divide the bits of a string, but for the first");
    job->bits = (unsigned)b->bits;
    job->nstages = (size_t)((b->bits - b->first) / b->step);
    for (size_t i = 0; st == HSY_OK && i < job->nstages; i++) {
        st = batches_stage(job, i, before, err);
        if (st == HSY_OK)
            st = batches_oracle(job, i, err);
        before = job->stages[i].keep;
    }
    if (st != HSY_OK)
        return st;
    job->out->mechanism = job->stages[0].oracle;
    for (size_t i = 1; i < job->nstages; i++)
        if (strcmp(job->stages[i].oracle, job->stages[0].oracle) != 0)
            job->out->mechanism = "auto";
    job->out->step = b->step;
    return batches_sizes(job, err);
}

/* ---- People -------------------------------------------------------------- */

/* Everybody in an order of its own each run. */
static void batches_shuffle(struct discover_worker *w, uint64_t run)
{
    const struct study_people *people = w->job->how->people;
    struct batches *own = w->own;
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);
    uint64_t at = 0;

    for (size_t i = 0; i < people->n; i++)
        for (uint64_t k = 0; k < people->counts[i]; k++)
            own->order[at++] = i;
    discover_stream(w, &st, run, DISCOVER_PEOPLE);
    for (; at > 1; at--) {
        uint64_t coins;
        const uint64_t mine = own->order[at - 1];

        (void)rng.fill(rng.ctx, &coins, sizeof coins);
        coins %= at; /* uneven by less than 2^-24 */
        own->order[at - 1] = own->order[coins];
        own->order[coins] = mine;
    }
    own->taken = 0;
}

/* The people of batch i, who are added to those of the run. */
static struct study_truths batches_people(struct discover_worker *w,
                                          uint64_t run, size_t i)
{
    const struct discover_job *job = w->job;
    const struct study_people *people = job->how->people;
    const uint64_t users = job->out->people[i] * job->how->batches.rounds;
    struct batches *own = w->own;
    hsy_stream st;
    uint64_t all = 0;

    memset(own->counts, 0, people->n * sizeof *own->counts);
    discover_stream(w, &st, run * HSY_STAGES_MAX + i, DISCOVER_PEOPLE);
    if (!job->how->as_counted)
        study_people_draw(own->counts, people, users, &st);
    for (uint64_t k = 0; job->how->as_counted && k < users; k++)
        own->counts[own->order[own->taken++]]++;
    for (size_t k = 0; k < people->n; k++) {
        own->ends[k] = all += own->counts[k];
        w->counts[k] += own->counts[k];
    }
    return (struct study_truths){own->places, own->counts, own->ends, people->n,
                                 users};
}

/* Where a prefix stands among the candidates, or behind them. */
static uint64_t batches_place(const struct batches *own, uint64_t prefix,
                              unsigned step, uint64_t other)
{
    const uint64_t before = prefix >> step;
    size_t low = 0, high = own->nprefixes;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (own->prefixes[middle] < before)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == own->nprefixes || own->prefixes[low] != before)
        return other;
    return (uint64_t)low << step | (prefix & (((uint64_t)1 << step) - 1));
}

/* ---- One batch ----------------------------------------------------------- */

static void batch_close(struct batch *b)
{
    free(b->s);
    free(b->memory);
    free(b->points);
    free(b->desk.codes);
    free(b->desk.reports);
    free(b->desk.scratch);
    free(b->scratch);
}

/* Public hashes are another set each batch, where a seed chooses them. */
static hsy_status batch_scheme(const struct discover_worker *w, struct batch *b,
                               uint64_t which, hsy_error *err)
{
    b->s = malloc(hsy_scheme_size(&b->spec));
    if (b->s == NULL)
        return study_nomem(err);
    if (study_pooled(&b->spec, b->s))
        b->spec.param[HSY_PARAM_POOL_SEED] =
            (w->job->how->seed * 1000003 + which) % HSY_PARAM_MAX + 1;
    return hsy_scheme_init(b->s, &b->spec, err);
}

static hsy_status batch_open(const struct discover_worker *w, struct batch *b,
                             uint64_t users, uint64_t which, hsy_error *err)
{
    hsy_status st = batch_scheme(w, b, which, err);
    size_t most;

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(b->s, &b->info);
    most = study_chunk(&b->info);
    b->desk.chunk = users < most ? (size_t)users : most;
    b->memory = calloc(hsy_tally_words(b->s), sizeof *b->memory);
    b->points = calloc(b->info.d, sizeof *b->points);
    b->scratch = malloc(hsy_evidence_scratch(b->s, b->info.d) + 1);
    b->desk.codes = calloc(b->desk.chunk, sizeof *b->desk.codes);
    b->desk.reports = calloc(b->desk.chunk, b->info.report_bytes);
    b->desk.scratch = malloc(hsy_tally_scratch(b->s, b->desk.chunk) + 1);
    if (b->memory == NULL || b->points == NULL || b->scratch == NULL ||
        b->desk.codes == NULL || b->desk.reports == NULL ||
        b->desk.scratch == NULL)
        return study_nomem(err);
    hsy_tally_init(&b->tally, b->s, b->memory);
    return HSY_OK;
}

static hsy_status batch_report(const struct discover_worker *w, struct batch *b,
                               const struct study_truths *truths,
                               uint64_t which, hsy_error *err)
{
    hsy_stream secret, published;
    hsy_status st = HSY_OK;

    discover_stream(w, &secret, which, DISCOVER_SECRET);
    discover_stream(w, &published, which, DISCOVER_PUBLISHED);
    if (study_at_once(&b->info)) {
        study_draw(&b->tally, &b->info, truths, &secret);
        return HSY_OK;
    }
    for (uint64_t c = 0; st == HSY_OK && c * b->desk.chunk < truths->users; c++)
        st = study_report(&b->tally, b->s, &b->desk, truths, c, &secret,
                          &published, err);
    return st;
}

/* Ask these people about n candidates, and let the best go on. */
static hsy_status batch_ask(struct discover_worker *w, size_t i, size_t n,
                            const struct study_truths *truths, uint64_t which,
                            size_t *count, hsy_error *err)
{
    const struct discover_job *job = w->job;
    const struct batches *own = w->own;
    struct batch b = {.spec = batches_spec(job, i, n)};
    hsy_status st = batch_open(w, &b, truths->users, which, err);

    if (st == HSY_OK)
        st = batch_report(w, &b, truths, which, err);
    if (st == HSY_OK)
        st = hsy_evidence_of(b.s, b.points, &b.tally, NULL, b.info.d, b.scratch,
                             err);
    if (st == HSY_OK)
        *count = hsy_search_select(&job->stages[i], w->found, own->candidates,
                                   b.points, n);
    batch_close(&b);
    return st;
}

/* ---- One run ------------------------------------------------------------- */

static int batches_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What was found becomes what is extended. */
static void batches_go_on(struct discover_worker *w, size_t count)
{
    struct batches *own = w->own;

    for (size_t k = 0; k < count; k++)
        own->prefixes[k] = w->found[k].code[0];
    own->nprefixes = count;
    qsort(own->prefixes, count, sizeof *own->prefixes, batches_order);
}

/* All extensions of the prefixes, in order; how many. */
static size_t batches_extend(struct batches *own, unsigned step)
{
    size_t n = 0;

    for (size_t k = 0; k < own->nprefixes; k++)
        for (uint64_t more = 0; more >> step == 0; more++)
            own->candidates[n++] = own->prefixes[k] << step | more;
    return n;
}

static hsy_status batches_step(struct discover_worker *w, uint64_t run,
                               size_t i, size_t *count, hsy_error *err)
{
    const struct discover_job *job = w->job;
    const hsy_stage *stage = &job->stages[i];
    const struct study_truths truths = batches_people(w, run, i);
    struct batches *own = w->own;
    const size_t n = batches_extend(own, stage->step);
    hsy_status st;

    if (n == 0)
        return HSY_OK; /* nothing survived, so nothing is found */
    for (size_t k = 0; k < truths.n; k++)
        own->places[k] = batches_place(
            own, w->codes[k] >> (job->bits - stage->bits), stage->step, n);
    st = batch_ask(w, i, n, &truths, run * HSY_STAGES_MAX + i, count, err);
    if (st == HSY_OK)
        batches_go_on(w, *count);
    return st;
}

static hsy_status batches_search(struct discover_worker *w, uint64_t run,
                                 size_t *count, hsy_error *err)
{
    struct batches *own = w->own;
    hsy_status st = HSY_OK;

    discover_codes(w, run);
    memset(w->counts, 0, w->job->how->people->n * sizeof *w->counts);
    if (w->job->how->as_counted)
        batches_shuffle(w, run);
    own->prefixes[0] = 0; /* the empty one */
    own->nprefixes = 1;
    for (size_t i = 0; st == HSY_OK && i < w->job->nstages; i++)
        st = batches_step(w, run, i, count, err);
    return st;
}

/* ---- Memory -------------------------------------------------------------- */

static hsy_status batches_open(struct discover_worker *w, hsy_error *err)
{
    const struct discover_job *job = w->job;
    const size_t n = job->how->people->n;
    struct batches *own = calloc(1, sizeof *own);
    uint64_t most = 0;

    w->own = own;
    if (own == NULL)
        return study_nomem(err);
    for (size_t i = 0; i < job->nstages; i++)
        most =
            job->stages[i].candidates > most ? job->stages[i].candidates : most;
    own->prefixes = calloc(job->most, sizeof *own->prefixes);
    own->candidates = calloc((size_t)most, sizeof *own->candidates);
    own->places = calloc(n, sizeof *own->places);
    own->counts = calloc(n, sizeof *own->counts);
    own->ends = calloc(n, sizeof *own->ends);
    if (job->how->as_counted)
        own->order = calloc((size_t)job->users, sizeof *own->order);
    return own->prefixes != NULL && own->candidates != NULL &&
                   own->places != NULL && own->counts != NULL &&
                   own->ends != NULL &&
                   (own->order != NULL || !job->how->as_counted)
               ? HSY_OK
               : study_nomem(err);
}

static void batches_close(struct discover_worker *w)
{
    struct batches *own = w->own;

    if (own == NULL)
        return;
    free(own->prefixes);
    free(own->candidates);
    free(own->places);
    free(own->counts);
    free(own->ends);
    free(own->order);
    free(own);
}

const struct discover_form discover_in_batches = {
    batches_plan, batches_open, batches_search, batches_close};
