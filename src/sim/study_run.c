/*
 * study_run.c - all runs of a study, by several threads.
 *
 * A run is cut into parts if there are fewer runs than threads could share:
 * each part lets some of the chunks of people report. Threads take parts in
 * order; tallies of a run's parts are added up, and who adds the last one
 * measures the run. Integers add up to the same in any order, chunks have coins
 * of their own, and runs are averaged in their order at the end: so the numbers
 * do not depend on the threads.
 *
 * Coins. The people's seed is a hash of (seed, question, users), that of the
 * reports also covers mechanism and epsilon: mechanisms are compared on the
 * same people. Public hashes are drawn anew for each run, where there are any.
 */
#include "study_parts.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A run whose parts are not all done. */
struct run_slot {
    int64_t *memory; /* of the tally; NULL: no part is done yet */
    hsy_tally tally;
    unsigned done; /* parts */
};

struct run_job {
    const struct study *study;
    struct study_result *out;
    uint64_t *codes; /* of the people's truths */
    double *laws;    /* STUDY_LAWS_OF_MEAN times as many, of a mean */
    struct study_aim aim;
    uint64_t people_seed, report_seed;
    bool pooled; /* public hashes, another set each run */
    size_t chunk;
    uint64_t chunks; /* of a run */
    unsigned parts;  /* of a run */

    pthread_mutex_t lock; /* of what follows */
    uint64_t next;        /* part to be taken, of all runs */
    struct run_slot *slots;
    hsy_status st;
    hsy_error err;
};

/* What a thread works with. */
struct run_worker {
    struct run_job *job;
    hsy_scheme *scheme; /* its own */
    uint64_t scheme_run;
    uint64_t *counts;
    int64_t *memory;
    struct study_desk desk;
    struct study_bench bench;
    double metrics[STUDY_METRICS];
    pthread_t thread;
    bool started;
};

static hsy_status run_nomem(hsy_error *err)
{
    return study_fail(err, HSY_E_NOMEM, NULL, "out of memory");
}

/* ---- Seeds and lanes ----------------------------------------------------- */

static size_t run_put(uint8_t *to, size_t at, uint64_t x)
{
    for (unsigned i = 0; i < 8; i++)
        to[at + i] = (uint8_t)(x >> 8 * i);
    return at + 8;
}

static uint64_t run_hash(const uint8_t *bytes, size_t len)
{
    uint8_t out[8];
    uint64_t x = 0;

    hsy_blake2b(out, sizeof out, bytes, len, NULL, 0);
    for (unsigned i = 8; i-- > 0;)
        x = x << 8 | out[i];
    return x;
}

static void run_seeds(struct run_job *job)
{
    const struct study *s = job->study;
    const hsy_spec *q = &s->spec;
    uint8_t bytes[80];
    size_t len = 0;

    len = run_put(bytes, len, s->seed);
    len = run_put(bytes, len, s->users);
    len = run_put(bytes, len, q->kind);
    len = run_put(bytes, len, q->d);
    len = run_put(bytes, len, (uint64_t)q->lo);
    len = run_put(bytes, len, (uint64_t)q->hi);
    len = run_put(bytes, len, q->scale);
    job->people_seed = run_hash(bytes, len);
    len = run_put(bytes, len, job->out->info.id);
    len = run_put(bytes, len, job->out->info.nano_epsilon);
    job->report_seed = run_hash(bytes, len);
}

/* Lanes of a run: 2^42 of them, two a chunk. */
#define RUN_LANES 42

static uint64_t run_lane(uint64_t run, uint64_t place)
{
    return run << RUN_LANES | place;
}

static void run_tick(struct run_job *job, uint64_t users)
{
    if (job->study->tick == NULL)
        return;
    pthread_mutex_lock(&job->lock);
    job->study->tick(job->study->ctx, users);
    pthread_mutex_unlock(&job->lock);
}

/* ---- One part ------------------------------------------------------------ */

static void run_people(struct run_worker *w, uint64_t run)
{
    const struct run_job *job = w->job;
    const struct study_people *people = job->study->people;
    hsy_stream st;

    if (job->study->as_counted) {
        memcpy(w->counts, people->counts, people->n * sizeof *w->counts);
        return;
    }
    hsy_stream_seed(&st, job->people_seed, run);
    study_people_draw(w->counts, people, job->study->users, &st);
    hsy_stream_clear(&st);
}

/* The scheme of a run: where hashes are public, those of this run. */
static hsy_status run_scheme(struct run_worker *w, uint64_t run, hsy_error *err)
{
    hsy_spec spec = w->job->study->spec;

    if (w->scheme_run == run || !w->job->pooled)
        return HSY_OK;
    w->scheme_run = run;
    spec.param[HSY_PARAM_POOL_SEED] =
        (w->job->report_seed + run) % HSY_PARAM_MAX + 1;
    return hsy_scheme_init(w->scheme, &spec, err);
}

static hsy_status run_chunks(struct run_worker *w, hsy_tally *t,
                             const struct study_truths *truths, uint64_t run,
                             unsigned part, hsy_error *err)
{
    const struct run_job *job = w->job;
    const uint64_t first = job->chunks / job->parts * part;
    const uint64_t end = part + 1 < job->parts
                             ? job->chunks / job->parts * (part + 1)
                             : job->chunks;
    hsy_status st = HSY_OK;

    for (uint64_t c = first; st == HSY_OK && c < end; c++) {
        hsy_stream secret, published;

        hsy_stream_seed(&secret, job->report_seed, run_lane(run, 2 * c));
        hsy_stream_seed(&published, job->report_seed, run_lane(run, 2 * c + 1));
        st = study_report(t, w->scheme, &w->desk, truths, c, &secret,
                          &published, err);
        run_tick(w->job, job->chunk);
    }
    return st;
}

static hsy_status run_tally(struct run_worker *w, hsy_tally *t,
                            const struct study_truths *truths, uint64_t run,
                            unsigned part, hsy_error *err)
{
    hsy_stream st;

    if (!w->job->out->at_once)
        return run_chunks(w, t, truths, run, part, err);
    hsy_stream_seed(&st, w->job->report_seed, run_lane(run, 0));
    study_draw(t, &w->job->out->info, truths, &st);
    run_tick(w->job, truths->users);
    return HSY_OK;
}

/* Keep a part's tally, or add it to those that are kept. With the last part t
 * is the whole run's. The lock is held. */
static hsy_status run_keep(struct run_worker *w, hsy_tally *t, uint64_t run,
                           bool *whole, hsy_error *err)
{
    struct run_slot *slot = &w->job->slots[run];
    int64_t *mine = w->memory;
    hsy_status st;

    *whole = ++slot->done == w->job->parts;
    if (slot->memory == NULL) {
        slot->memory = mine;
        slot->tally = *t;
        w->memory = calloc(hsy_tally_words(w->scheme), sizeof *w->memory);
        return w->memory != NULL ? HSY_OK : run_nomem(err);
    }
    st = hsy_tally_merge(&slot->tally, t, err);
    if (*whole) {
        *t = slot->tally;
        w->memory = slot->memory;
        slot->memory = NULL;
        free(mine);
    }
    return st;
}

/* Whether the run is complete with this part, and its tally then t. */
static hsy_status run_gather(struct run_worker *w, hsy_tally *t, uint64_t run,
                             bool *whole, hsy_error *err)
{
    struct run_job *job = w->job;
    hsy_status st = HSY_OK;

    *whole = true;
    if (job->parts == 1)
        return HSY_OK;
    pthread_mutex_lock(&job->lock);
    st = run_keep(w, t, run, whole, err);
    pthread_mutex_unlock(&job->lock);
    return st;
}

/* What a figure shows of the first run. */
static void run_show(struct study_result *out, const struct study_bench *bench)
{
    const size_t d = out->info.d;

    memcpy(out->truths, bench->truths, d * sizeof *out->truths);
    memcpy(out->estimates, bench->estimates, d * sizeof *out->estimates);
}

static hsy_status run_part(struct run_worker *w, uint64_t item, hsy_error *err)
{
    struct run_job *job = w->job;
    const uint64_t run = item / job->parts;
    const struct study_truths truths = {
        job->codes, w->counts, job->study->people->n, job->study->users};
    bool whole = false;
    hsy_tally t;
    hsy_status st = run_scheme(w, run, err);

    if (st != HSY_OK)
        return st;
    run_people(w, run);
    hsy_tally_init(&t, w->scheme, w->memory);
    st = run_tally(w, &t, &truths, run, (unsigned)(item % job->parts), err);
    if (st == HSY_OK)
        st = run_gather(w, &t, run, &whole, err);
    if (st != HSY_OK || !whole)
        return st;
    st = study_measure(job->out->each + run * STUDY_METRICS, &w->bench,
                       w->scheme, &job->out->info, &t, &truths, &job->aim, err);
    if (st == HSY_OK && run == 0 && job->out->truths != NULL)
        run_show(job->out, &w->bench);
    return st;
}

/* ---- Threads ------------------------------------------------------------- */

/* The next part, false if there is none or somebody failed. */
static bool run_take(struct run_job *job, uint64_t *item)
{
    bool some;

    pthread_mutex_lock(&job->lock);
    some = job->st == HSY_OK && job->next < job->out->runs * job->parts;
    *item = job->next;
    job->next += some;
    pthread_mutex_unlock(&job->lock);
    return some;
}

static void run_failed(struct run_job *job, hsy_status st, const hsy_error *err)
{
    pthread_mutex_lock(&job->lock);
    if (job->st == HSY_OK) {
        job->st = st;
        job->err = *err;
    }
    pthread_mutex_unlock(&job->lock);
}

static void *run_thread(void *arg)
{
    struct run_worker *w = arg;
    uint64_t item;

    while (run_take(w->job, &item)) {
        hsy_error err = {0};
        hsy_status st = run_part(w, item, &err);

        if (st != HSY_OK)
            run_failed(w->job, st, &err);
    }
    return NULL;
}

static size_t run_worker_bytes(const struct run_job *job, const hsy_scheme *s)
{
    const hsy_info *info = &job->out->info;
    const size_t reports =
        job->out->at_once
            ? 0
            : job->chunk * (sizeof(uint64_t) + info->report_bytes) +
                  hsy_tally_scratch(s, job->chunk);

    return hsy_scheme_size(&job->study->spec) +
           2 * hsy_tally_words(s) * sizeof(int64_t) +
           job->study->people->n * sizeof(uint64_t) + reports +
           study_bench_bytes(s, info, job->aim.top);
}

static hsy_status run_worker_open(struct run_worker *w, struct run_job *job,
                                  hsy_error *err)
{
    const hsy_info *info = &job->out->info;
    hsy_status st;

    *w = (struct run_worker){.job = job, .scheme_run = UINT64_MAX};
    w->scheme = malloc(hsy_scheme_size(&job->study->spec));
    if (w->scheme == NULL)
        return run_nomem(err);
    st = hsy_scheme_init(w->scheme, &job->study->spec, err);
    if (st != HSY_OK)
        return st;
    w->counts = calloc(job->study->people->n, sizeof *w->counts);
    w->memory = calloc(hsy_tally_words(w->scheme), sizeof *w->memory);
    w->desk.chunk = job->chunk;
    if (!job->out->at_once) {
        w->desk.codes = calloc(job->chunk, sizeof *w->desk.codes);
        w->desk.reports = calloc(job->chunk, info->report_bytes);
        w->desk.scratch = malloc(hsy_tally_scratch(w->scheme, job->chunk) + 1);
    }
    if (!study_bench_open(&w->bench, w->scheme, info, job->aim.top) ||
        w->counts == NULL || w->memory == NULL ||
        (!job->out->at_once &&
         (w->desk.codes == NULL || w->desk.reports == NULL ||
          w->desk.scratch == NULL)))
        return run_nomem(err);
    return HSY_OK;
}

static void run_worker_close(struct run_worker *w)
{
    study_bench_close(&w->bench);
    free(w->scheme);
    free(w->counts);
    free(w->memory);
    free(w->desk.codes);
    free(w->desk.reports);
    free(w->desk.scratch);
}

/* This thread works too, so that a machine which gives no more does it alone.
 */
static hsy_status run_threads(struct run_job *job, hsy_error *err)
{
    const uint64_t items = job->out->runs * job->parts;
    const unsigned n =
        items < job->study->threads ? (unsigned)items : job->study->threads;
    struct run_worker *workers = calloc(n, sizeof *workers);
    hsy_status st = workers != NULL ? HSY_OK : run_nomem(err);

    for (unsigned i = 0; st == HSY_OK && i < n; i++)
        st = run_worker_open(&workers[i], job, err);
    for (unsigned i = 1; st == HSY_OK && i < n; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL,
                                            run_thread, &workers[i]) == 0;
    if (st == HSY_OK)
        run_thread(&workers[0]);
    for (unsigned i = 0; workers != NULL && i < n; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        run_worker_close(&workers[i]);
    }
    free(workers);
    if (st == HSY_OK && job->st != HSY_OK) {
        st = job->st;
        *err = job->err;
    }
    return st;
}

/* ---- A study ------------------------------------------------------------- */

/* The results in the order of runs. */
static void run_average(struct study_result *out)
{
    const double n = (double)out->runs;

    for (size_t m = 0; m < STUDY_METRICS; m++) {
        double sum = 0, squares = 0;

        for (uint64_t r = 0; r < out->runs; r++)
            sum += out->each[r * STUDY_METRICS + m];
        for (uint64_t r = 0; r < out->runs; r++) {
            const double off = out->each[r * STUDY_METRICS + m] - sum / n;

            squares += off * off;
        }
        out->mean[m] = sum / n;
        out->error[m] = n > 1 ? sqrt(squares / (n - 1) / n) : NAN;
    }
}

/* Whether a mechanism has public hashes that a seed chooses: it takes one. */
static bool run_pooled(const hsy_spec *given, hsy_scheme *s)
{
    hsy_spec spec = *given;

    spec.param[HSY_PARAM_POOL_SEED] = 1;
    return hsy_scheme_init(s, &spec, NULL) == HSY_OK;
}

static hsy_status run_codes(struct run_job *job, const hsy_scheme *s,
                            hsy_error *err)
{
    const struct study_people *people = job->study->people;
    const bool values = job->study->spec.kind == HSY_KIND_VALUES;
    hsy_status st = HSY_OK;

    job->codes = calloc(people->n, sizeof *job->codes);
    if (job->codes == NULL)
        return run_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < people->n; i++) {
        hsy_truth truth = {.type = values ? HSY_TRUTH_INDEX : HSY_TRUTH_NUMBER};

        if (values)
            truth.u.index = (uint32_t)people->numbers[i];
        else
            truth.u.number = people->numbers[i];
        st = hsy_truth_code(s, &job->codes[i], &truth, err);
    }
    return st;
}

/* The law of a mean at each truth, under one mechanism. */
static hsy_status run_law(struct run_job *job, size_t which,
                          const char *mechanism, hsy_error *err)
{
    const size_t n = job->study->people->n;
    double *law = job->laws + which * n;
    hsy_spec spec = job->study->spec;
    hsy_scheme *s;
    hsy_info info;
    hsy_status st;

    spec.mechanism = mechanism;
    s = malloc(hsy_scheme_size(&spec));
    if (s == NULL)
        return run_nomem(err);
    st = hsy_scheme_init(s, &spec, err);
    if (st == HSY_OK) {
        hsy_scheme_info(s, &info);
        for (size_t i = 0; i < n; i++)
            law[i] = study_mean_law(
                &info, (double)job->codes[i] /
                           (double)((uint64_t)info.hi - (uint64_t)info.lo));
        job->aim.laws[which] = law;
    }
    free(s);
    return st;
}

static hsy_status run_laws(struct run_job *job, hsy_error *err)
{
    const char *const best[STUDY_LAWS_OF_MEAN] = {job->study->spec.mechanism,
                                                  "onebit", "dwm", "hm"};
    hsy_status st = HSY_OK;

    if (job->study->spec.kind != HSY_KIND_NUMBER)
        return HSY_OK;
    job->laws =
        calloc(job->study->people->n * STUDY_LAWS_OF_MEAN, sizeof *job->laws);
    if (job->laws == NULL)
        return run_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < STUDY_LAWS_OF_MEAN; i++)
        st = run_law(job, i, best[i], err);
    return st;
}

/* How the work is cut, and whether there is room for it. */
static hsy_status run_cut(struct run_job *job, const hsy_scheme *s,
                          hsy_error *err)
{
    const struct study *study = job->study;
    struct study_result *out = job->out;

    if (!out->at_once && study->users > STUDY_EACH_MAX)
        return study_fail(err, HSY_E_RANGE, "users",
                          "too many to be simulated one by one; rr, grr, sue, "
                          "oue and onebit are drawn at once");
    job->chunk = study_chunk(&out->info);
    if (job->chunk > study->users)
        job->chunk = (size_t)study->users;
    job->chunks = (study->users + job->chunk - 1) / job->chunk;
    job->parts = 1;
    if (!out->at_once && out->runs < 4 * (uint64_t)study->threads)
        job->parts = job->chunks < study->threads ? (unsigned)job->chunks
                                                  : study->threads;
    if (run_worker_bytes(job, s) > STUDY_MEMORY_MAX / study->threads) {
        study_fail(err, HSY_E_RANGE, "domain",
                   "takes more memory than a simulation may; lower --domain, "
                   "or --threads");
        if (err != NULL)
            err->limit = STUDY_MEMORY_MAX;
        return HSY_E_RANGE;
    }
    return HSY_OK;
}

static hsy_status run_room(struct run_job *job, hsy_error *err)
{
    struct study_result *out = job->out;
    const size_t d = out->info.d;
    bool good;

    out->each = calloc(out->runs * STUDY_METRICS, sizeof *out->each);
    job->slots = calloc(job->parts > 1 ? out->runs : 1, sizeof *job->slots);
    good = out->each != NULL && job->slots != NULL;
    if (job->study->keep && d > 0) {
        out->truths = calloc(d, sizeof *out->truths);
        out->estimates = calloc(d, sizeof *out->estimates);
        good = good && out->truths != NULL && out->estimates != NULL;
    }
    return good ? HSY_OK : run_nomem(err);
}

static hsy_status run_open(struct run_job *job, hsy_scheme *s, hsy_error *err)
{
    const struct study *study = job->study;
    struct study_result *out = job->out;
    hsy_status st = hsy_scheme_init(s, &study->spec, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_info(s, &out->info);
    out->users = study->users;
    out->runs = study->runs;
    out->at_once = !study->one_by_one && study_at_once(&out->info);
    job->aim.top = study->top;
    run_seeds(job);
    st = run_codes(job, s, err);
    if (st == HSY_OK)
        st = run_laws(job, err);
    if (st == HSY_OK)
        st = run_cut(job, s, err);
    if (st == HSY_OK)
        st = run_room(job, err);
    job->pooled = st == HSY_OK && run_pooled(&study->spec, s);
    return st;
}

static void run_close(struct run_job *job)
{
    for (uint64_t i = 0; job->slots != NULL && i < job->out->runs; i++) {
        free(job->slots[i].memory);
        if (job->parts == 1)
            break;
    }
    free(job->slots);
    free(job->codes);
    free(job->laws);
    pthread_mutex_destroy(&job->lock);
}

hsy_status study_run(struct study_result *out, const struct study *study,
                     hsy_error *err)
{
    struct run_job job = {.study = study, .out = out};
    hsy_scheme *s = malloc(hsy_scheme_size(&study->spec));
    hsy_error inner = {0};
    hsy_status st;

    memset(out, 0, sizeof *out);
    if (s == NULL)
        return run_nomem(err);
    if (pthread_mutex_init(&job.lock, NULL) != 0) {
        free(s);
        return run_nomem(err);
    }
    st = run_open(&job, s, &inner);
    free(s);
    if (st == HSY_OK)
        st = run_threads(&job, &inner);
    if (st == HSY_OK)
        run_average(out);
    else if (err != NULL)
        *err = inner;
    run_close(&job);
    return st;
}

void study_close(struct study_result *out)
{
    free(out->each);
    free(out->truths);
    free(out->estimates);
    memset(out, 0, sizeof *out);
}
