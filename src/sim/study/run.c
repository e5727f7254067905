/*
 * run.c - a study: what its runs need, then all of them, then their mean.
 *
 * Coins. The people's seed is a hash of (seed, question, users), that of the
 * reports also covers mechanism and epsilon: mechanisms are compared on the
 * same people. Public hashes are drawn anew for each run, where there are any.
 */
#include "sim/base/crew.h"
#include "sim/study/internal.h"

#include "host/worth/worth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Seeds --------------------------------------------------------------- */

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

static void run_seeds(struct study_job *job)
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

/* ---- What runs need ------------------------------------------------------ */

/* Whether a mechanism has public hashes that a seed chooses, and none was; s
 * has room for its scheme. */
static bool study_pooled(const hsy_spec *given, hsy_scheme *s)
{
    hsy_spec spec = *given;

    if (spec.param[HSY_PARAM_POOL_SEED] != 0)
        return false; /* it was chosen */
    spec.param[HSY_PARAM_POOL_SEED] = 1;
    return hsy_scheme_init(s, &spec, NULL) == HSY_OK;
}

static hsy_status run_codes(struct study_job *job, const hsy_scheme *s,
                            hsy_error *err)
{
    const struct study_people *people = job->study->people;
    const bool values = job->study->spec.kind == HSY_KIND_VALUES;
    hsy_status st = HSY_OK;

    job->codes = calloc(people->n, sizeof *job->codes);
    if (job->codes == NULL)
        return host_nomem(err);
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

/* The law of a mean at each truth, under the mechanism of the study (place 0)
 * or another, whose parameters are its own choice. A mechanism that does not
 * take this epsilon, or whose noise has no bound, is no rival. */
static hsy_status run_law(struct study_job *job, size_t place,
                          const char *mechanism, hsy_error *err)
{
    const size_t n = job->study->people->n;
    double *law = job->laws + place * n;
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = mechanism,
                     .kind = HSY_KIND_NUMBER,
                     .nano_epsilon = job->spec.nano_epsilon,
                     .lo = job->spec.lo,
                     .hi = job->spec.hi,
                     .scale = job->spec.scale};
    const double most = (double)((uint64_t)spec.hi - (uint64_t)spec.lo);
    hsy_scheme_info info = job->out->info;
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_status st = HSY_OK;

    if (s == NULL)
        return host_nomem(err);
    if (place > 0)
        st = hsy_scheme_init(s, &spec, NULL);
    if (place > 0 && st == HSY_OK)
        hsy_scheme_describe(s, &info);
    for (size_t i = 0; i < n; i++)
        law[i] = st != HSY_OK || (place > 0 && info.param[HSY_PARAM_GRID] != 0)
                     ? INFINITY
                 : info.central
                     ? info.v0 * (double)job->out->curators /
                           (double)job->study->users
                     : study_mean_law(&info, (double)job->codes[i] / most);
    job->aim.laws[place] = law;
    free(s);
    return HSY_OK;
}

static hsy_status run_laws(struct study_job *job, hsy_error *err)
{
    const hsy_catalogue *row;
    hsy_status st;
    size_t place = 1;

    if (job->spec.kind != HSY_KIND_NUMBER)
        return HSY_OK;
    job->laws =
        calloc(job->study->people->n * STUDY_LAWS_OF_MEAN, sizeof *job->laws);
    if (job->laws == NULL)
        return host_nomem(err);
    st = run_law(job, 0, job->spec.mechanism, err);
    for (size_t i = 0; st == HSY_OK && (row = hsy_mechanism_at(i)) != NULL; i++)
        if (row->kinds == 1u << HSY_KIND_NUMBER && place < STUDY_LAWS_OF_MEAN)
            st = run_law(job, place++, row->name, err);
    return st;
}

/*
 * Into how many parts a run is cut, if there are fewer runs than make all
 * threads end at about the same time: none waits for more than a sixteenth of
 * its share. A part has more people than the tally that is added for it has
 * cells, so that threads report, and hardly wait for one another to add.
 */
#define RUN_SHARES 16u

static unsigned run_parts(const struct study_job *job, const hsy_scheme *s)
{
    const struct study *study = job->study;
    const uint64_t runs = job->out->runs;
    const uint64_t want = (RUN_SHARES * study->threads + runs - 1) / runs;
    const uint64_t most = study->users / hsy_tally_words(s) + 1;
    const uint64_t few = want < most ? want : most;

    if (job->out->at_once || study->threads == 1)
        return 1;
    return (unsigned)(few < job->chunks ? few : job->chunks);
}

/* How the work is cut, and whether there is room for it. */
static hsy_status run_cut(struct study_job *job, const hsy_scheme *s,
                          hsy_error *err)
{
    const struct study *study = job->study;
    struct study_result *out = job->out;

    if (!out->at_once && study->users > STUDY_EACH_MAX)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_USERS,
                         "too many to be simulated one by one; rr, grr, sue, "
                         "oue and onebit are drawn at once");
    job->chunk = study_chunk(&out->info);
    if (job->chunk > study->users)
        job->chunk = (size_t)study->users;
    job->chunks = (study->users + job->chunk - 1) / job->chunk;
    job->parts = run_parts(job, s);
    if (study_work_bytes(job, s) > STUDY_MEMORY_MAX / study_workers(job))
        return host_fail_limit(err, HSY_E_RANGE, HOST_FIELD_DOMAIN,
                               "takes more memory than a simulation may: "
                               "fewer values, or fewer threads",
                               STUDY_MEMORY_MAX);
    return HSY_OK;
}

static hsy_status run_room(struct study_job *job, hsy_error *err)
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
    return good ? HSY_OK : host_nomem(err);
}

/* Who does what, and what everybody is promised. */
static hsy_status run_model(struct study_job *job, hsy_error *err)
{
    const struct study *study = job->study;
    struct study_result *out = job->out;
    hsy_batch batch;

    out->model = study->model;
    out->epsilon = (double)study->spec.nano_epsilon / HSY_NANO;
    out->users = study->users;
    out->runs = study->runs;
    out->curators = study->model == STUDY_MULTIPARTY
                        ? study->curators
                        : study->model == STUDY_CENTRAL;
    study_model_name(out->name, out->model, out->curators);
    job->spec = study_model_spec(study->model, &study->spec);
    if (out->curators > study->users)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_MODEL,
                         "more curators than people");
    if (study->model != STUDY_SHUFFLED)
        return HSY_OK;
    out->delta = study->delta;
    batch = (hsy_batch){out->users,
                        worth_share(study->honest > 0 ? study->honest : 1),
                        out->delta};
    return study_shuffle(&job->spec, &out->bound, &batch, err);
}

static hsy_status run_open(struct study_job *job, hsy_scheme *s, hsy_error *err)
{
    const struct study *study = job->study;
    struct study_result *out = job->out;
    hsy_status st = hsy_scheme_init(s, &job->spec, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &out->info);
    job->spec.mechanism = out->info.mechanism; /* auto chooses but once */
    out->at_once =
        out->info.central || (!study->one_by_one && study_at_once(&out->info));
    job->aim.top = study->top;
    job->aim.best = study->model == STUDY_LOCAL;
    run_seeds(job);
    st = run_codes(job, s, err);
    if (st == HSY_OK)
        st = run_laws(job, err);
    if (st == HSY_OK)
        st = run_cut(job, s, err);
    if (st == HSY_OK)
        st = run_room(job, err);
    job->pooled = st == HSY_OK && study_pooled(&job->spec, s);
    return st;
}

static void run_close(struct study_job *job)
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

/* ---- A study ------------------------------------------------------------- */

static hsy_status run_all(struct study_job *job, hsy_error *err)
{
    hsy_status st = run_model(job, err);
    hsy_scheme *s;

    if (st != HSY_OK)
        return st;
    s = malloc(hsy_scheme_size(&job->spec));
    if (s == NULL)
        return host_nomem(err);
    st = run_open(job, s, err);
    free(s);
    if (st == HSY_OK)
        st = study_work(job, err);
    if (st == HSY_OK)
        crew_average(job->out->mean, job->out->error, job->out->each,
                     job->out->runs, STUDY_METRICS);
    return st;
}

hsy_status study_run(struct study_result *out, const struct study *study,
                     hsy_error *err)
{
    struct study_job job = {.study = study, .out = out};
    hsy_error inner = {0};
    hsy_status st;

    memset(out, 0, sizeof *out);
    if (pthread_mutex_init(&job.lock, NULL) != 0)
        return host_nomem(err);
    st = run_all(&job, &inner);
    if (st != HSY_OK && err != NULL)
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
