/*
 * sim_batches.c - prefix extending in batches, as devices are asked: stage by
 * stage (docs/batches.md).
 *
 * Every batch, people who were not asked before, is asked by a scheme of the
 * mechanism `stage`, and what survives is the next one's list, as `hearsay
 * discover` makes both. Where the tally of the stage's oracle can be drawn at
 * once, exactly in law, it is.
 *
 * Rounds are repetitions with fresh people, whose scores are averaged. Scores
 * are linear in counts, and all rounds have as many people: the mean of their
 * scores is the score of all their reports together, which are tallied so.
 *
 * People of a distribution are independent, so a batch is a multinomial draw of
 * its own; those of a file are shuffled and cut into batches.
 */
#include "host/discover/discover.h"
#include "sim/discovery/internal.h"

#include <stdlib.h>
#include <string.h>

struct batches {
    uint64_t *prefixes; /* that the stage extends, ascending */
    size_t nprefixes;
    uint64_t *places;        /* of each truth among its candidates */
    uint64_t *counts, *ends; /* of a batch's people, by truth */
    uint64_t *order;         /* as counted: the truth of each, shuffled */
    uint64_t taken;          /* of these, by the batches so far */
};

struct batch {
    struct owned owned; /* all of its memory */
    hsy_scheme *s;
    hsy_scheme_info own; /* of the oracle */
    hsy_stage stage;
    int64_t *memory;
    hsy_tally tally;
    struct study_desk desk;
    void *scratch;
};

/* ---- Plan ---------------------------------------------------------------- */

#define BATCHES_CANDIDATES ((uint64_t)1 << 20) /* of a stage, at most */

/* The first stage. */
static hsy_status batches_first(const struct discovery *how, hsy_spec *spec,
                                hsy_error *err)
{
    const struct discovery_batches *b = &how->batches;
    const hsy_search *search = &how->search;
    const bool named = strcmp(how->spec.mechanism, "auto") != 0;
    const uint64_t prefixes = search->top * search->keep;
    const struct discover_batches all = {.nano_epsilon = how->spec.nano_epsilon,
                                         .bits = b->bits,
                                         .step = b->step,
                                         .sizes = b->sizes,
                                         .oracle =
                                             named ? how->spec.mechanism : NULL,
                                         .top = search->top,
                                         .keep = search->keep,
                                         .candidates = BATCHES_CANDIDATES};
    enum discover_wrong wrong;

    if (b->step > 20 || prefixes << b->step > BATCHES_CANDIDATES)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_STEP,
                         "a batch would have more than 2^20 candidates; lower "
                         "it, or top or keep");
    if (prefixes << b->step > search->max_candidates)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                               "a batch has too many candidates",
                               prefixes << b->step);
    return discover_first(spec, &wrong, &all, err);
}

/* People of each batch, by the weights of the stages. */
static hsy_status batches_sizes(struct discover_job *job, const hsy_spec *spec,
                                hsy_error *err)
{
    const uint64_t users = job->how->users;
    hsy_scheme *s;
    uint64_t sum = 0, before = 0;
    hsy_status st = scheme_open(&s, spec, err);

    for (uint32_t i = 0; st == HSY_OK && i < job->nstages; i++) {
        sum += hsy_stage_weight(s, i + 1);
        /* At most 2^40 people, and a weight of all below 2^14. */
        job->out->people[i] = users * sum / hsy_stage_weight(s, 0) - before;
        before += job->out->people[i];
        if (job->out->people[i] == 0)
            st = host_fail(err, HSY_E_EMPTY, HOST_FIELD_USERS,
                           "a batch has no people: more are needed, or fewer "
                           "batches by a longer step");
    }
    free(s);
    job->users = users * job->how->batches.rounds;
    return st;
}

/* How a stage's oracle reports, and whether each thread has room for a tally of
 * it. */
static hsy_status batches_oracle(struct discover_job *job,
                                 const hsy_stage *stage, hsy_error *err)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = stage->oracle,
                           .kind = HSY_KIND_VALUES,
                           .nano_epsilon = job->how->spec.nano_epsilon,
                           .d = (uint32_t)stage->candidates + 1};
    hsy_scheme *s;
    hsy_status st = scheme_open(&s, &spec, err);
    hsy_scheme_info info;

    if (st == HSY_OK) {
        hsy_scheme_describe(s, &info);
        job->out->at_once = job->out->at_once && study_at_once(&info);
        if (hsy_tally_words(s) >
            STUDY_MEMORY_MAX / sizeof(int64_t) / job->how->threads)
            st = host_fail(err, HSY_E_RANGE, HOST_FIELD_MEMORY,
                           "tallies would take more than 4 GiB");
    }
    free(s);
    return st;
}

static hsy_status batches_plan(struct discover_job *job, hsy_error *err)
{
    const struct discover_aim any = {0.5, 0.5}; /* how many is not asked */
    struct discover_plan plan;
    hsy_spec spec;
    hsy_status st = batches_first(job->how, &spec, err);

    if (st == HSY_OK)
        st = discover_plan_batches(&plan, &spec, &job->how->search, &any, err);
    if (st != HSY_OK)
        return st;
    job->bits = (unsigned)job->how->batches.bits;
    job->nstages = plan.count;
    job->out->step = job->how->batches.step;
    job->out->mechanism = plan.row[0].stage.oracle;
    job->out->at_once = true;
    for (size_t i = 0; st == HSY_OK && i < plan.count; i++) {
        job->stages[i] = plan.row[i].stage;
        if (strcmp(job->stages[i].oracle, job->stages[0].oracle) != 0)
            job->out->mechanism = "auto";
        st = batches_oracle(job, &job->stages[i], err);
    }
    return st == HSY_OK ? batches_sizes(job, &spec, err) : st;
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
    return (struct study_truths){w->codes, own->counts, own->ends, people->n,
                                 users};
}

static int batches_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The place of every truth among the candidates of a stage, or behind them. */
static void batches_places(struct discover_worker *w, const hsy_stage *stage)
{
    struct batches *own = w->own;

    for (size_t k = 0; k < w->job->how->people->n; k++) {
        const uint64_t prefix = w->codes[k] >> (w->job->bits - stage->bits);
        const uint64_t before = prefix >> stage->step;
        const uint64_t *at = bsearch(&before, own->prefixes, own->nprefixes,
                                     sizeof *own->prefixes, batches_order);

        own->places[k] = at == NULL
                             ? stage->candidates
                             : (uint64_t)(at - own->prefixes) << stage->step |
                                   (prefix ^ before << stage->step);
    }
}

/* ---- One batch ----------------------------------------------------------- */

/* What is wanted of a stage: no more than there are candidates. */
static hsy_status batch_stage(struct batch *b, const hsy_search *wanted,
                              hsy_error *err)
{
    hsy_search search = *wanted;

    hsy_scheme_describe(hsy_scheme_part(b->s, 0), &b->own);
    if (search.top > b->own.d - 1)
        search.top = b->own.d - 1;
    return hsy_stage_plan(b->s, &b->stage, &search, err);
}

static hsy_status batch_open(struct batch *b, const struct discover_job *job,
                             const hsy_spec *spec, uint64_t users,
                             hsy_error *err)
{
    hsy_scheme_info info;
    hsy_status st;
    size_t most;

    st = owned_scheme(&b->owned, &b->s, spec, err);
    if (st == HSY_OK)
        st = batch_stage(b, &job->how->search, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(b->s, &info);
    most = study_chunk(&info);
    b->desk.chunk = users < most ? (size_t)users : most;
    b->memory =
        owned_array(&b->owned, hsy_tally_words(b->s), sizeof *b->memory);
    b->scratch = owned_array(&b->owned, 1, hsy_stage_scratch(b->s, &b->stage));
    study_desk_open(&b->desk, &b->owned, b->s, info.report_bytes);
    st = owned_all(&b->owned, err);
    if (st == HSY_OK)
        hsy_tally_init(&b->tally, b->s, b->memory);
    return st;
}

static hsy_status batch_report(struct discover_worker *w, struct batch *b,
                               const struct study_truths *truths,
                               uint64_t which, hsy_error *err)
{
    const struct batches *own = w->own;
    hsy_stream secret, published;
    hsy_status st = HSY_OK;

    discover_stream(w, &secret, which, DISCOVER_SECRET);
    discover_stream(w, &published, which, DISCOVER_PUBLISHED);
    if (study_at_once(&b->own)) {
        struct study_truths placed = *truths;
        hsy_tally oracle;

        batches_places(w, &b->stage);
        placed.codes = own->places;
        hsy_tally_part(&oracle, &b->tally, b->s, 0);
        study_draw(&oracle, &b->own, &placed, &secret);
        return HSY_OK;
    }
    for (uint64_t c = 0; st == HSY_OK && c * b->desk.chunk < truths->users; c++)
        st = study_report(&b->tally, b->s, &b->desk, truths, c, &secret,
                          &published, err);
    return st;
}

/* ---- One run ------------------------------------------------------------- */

/* What was found becomes what the next stage extends. */
static void batches_go_on(struct discover_worker *w, const hsy_stage *stage,
                          size_t count)
{
    struct batches *own = w->own;

    for (size_t k = 0; k < count; k++)
        own->prefixes[k] = w->found[k].code[0] >> (w->job->bits - stage->bits);
    own->nprefixes = count;
    qsort(own->prefixes, count, sizeof *own->prefixes, batches_order);
}

/* Ask the people of batch i, and let the best go on: to the spec of the next
 * one, with labels of its own. */
static hsy_status batches_step(struct discover_worker *w, uint64_t run,
                               size_t i, hsy_spec *spec, uint8_t **labels,
                               size_t *count, hsy_error *err)
{
    const struct study_truths truths = batches_people(w, run, i);
    hsy_found found = {w->found, 0};
    struct batch b = {.s = NULL};
    hsy_status st = batch_open(&b, w->job, spec, truths.users, err);

    if (st == HSY_OK)
        st = batch_report(w, &b, &truths, run * HSY_STAGES_MAX + i, err);
    if (st == HSY_OK)
        st = hsy_stage_survivors(b.s, &found, &b.tally, &b.stage, b.scratch,
                                 err);
    if (st == HSY_OK) {
        *count = found.count;
        batches_go_on(w, &b.stage, found.count);
    }
    if (st == HSY_OK && found.count > 0 && i + 1 < w->job->nstages)
        st = discover_next_spec(spec, labels, b.s, w->found, found.count, err);
    owned_free(&b.owned);
    return st;
}

/* If nothing survives a stage, nothing is found; everybody is counted. */
static hsy_status batches_search(struct discover_worker *w, uint64_t run,
                                 size_t *count, hsy_error *err)
{
    struct batches *own = w->own;
    uint8_t *labels = NULL;
    hsy_spec spec;
    hsy_status st = batches_first(w->job->how, &spec, err);

    discover_codes(w, run);
    memset(w->counts, 0, w->job->how->people->n * sizeof *w->counts);
    if (w->job->how->as_counted)
        batches_shuffle(w, run);
    own->prefixes[0] = 0; /* the empty one */
    own->nprefixes = 1;
    for (size_t i = 0; st == HSY_OK && i < w->job->nstages; i++) {
        if (own->nprefixes == 0)
            (void)batches_people(w, run, i);
        else
            st = batches_step(w, run, i, &spec, &labels, count, err);
    }
    free(labels);
    return st;
}

/* ---- Memory -------------------------------------------------------------- */

static hsy_status batches_open(struct discover_worker *w, hsy_error *err)
{
    const struct discover_job *job = w->job;
    const size_t n = job->how->people->n;
    struct batches *own = owned_array(&w->owned, 1, sizeof *own);

    w->own = own;
    if (own == NULL)
        return host_nomem(err);
    own->prefixes = owned_array(&w->owned, job->most, sizeof *own->prefixes);
    own->places = owned_array(&w->owned, n, sizeof *own->places);
    own->counts = owned_array(&w->owned, n, sizeof *own->counts);
    own->ends = owned_array(&w->owned, n, sizeof *own->ends);
    if (job->how->as_counted)
        own->order =
            owned_array(&w->owned, (size_t)job->users, sizeof *own->order);
    return owned_all(&w->owned, err);
}

const struct discover_form discover_in_batches = {
    batches_plan, batches_open, batches_search, DISCOVER_LANES};
