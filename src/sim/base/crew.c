/* crew.c - work in many items, shared out to threads; the mean of its runs. */
#include "sim/base/crew.h"

#include "host/base/host_fail.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* What the threads share. */
struct crew_state {
    const struct crew *crew;
    pthread_mutex_t lock; /* of what follows */
    uint64_t next;
    hsy_status st;
    hsy_error err;
};

struct crew_thread {
    struct crew_state *state;
    void *worker;
    pthread_t thread;
    bool started;
};

/* The next item, false if there is none or somebody failed. */
static bool crew_take(struct crew_state *s, uint64_t *item)
{
    bool some;

    pthread_mutex_lock(&s->lock);
    some = s->st == HSY_OK && s->next < s->crew->items;
    *item = s->next;
    s->next += some;
    pthread_mutex_unlock(&s->lock);
    return some;
}

static void crew_done(struct crew_state *s, hsy_status st, const hsy_error *err)
{
    pthread_mutex_lock(&s->lock);
    if (st != HSY_OK && s->st == HSY_OK) {
        s->st = st;
        s->err = *err;
    }
    if (s->crew->tick != NULL)
        s->crew->tick(s->crew->job);
    pthread_mutex_unlock(&s->lock);
}

static void *crew_thread(void *arg)
{
    struct crew_thread *t = arg;
    uint64_t item;

    while (crew_take(t->state, &item)) {
        hsy_error err = {0};
        const hsy_status st = t->state->crew->work(t->worker, item, &err);

        crew_done(t->state, st, &err);
    }
    return NULL;
}

/* All threads, of which the first is this one. */
static void crew_run(struct crew_thread *threads, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        threads[i].started = pthread_create(&threads[i].thread, NULL,
                                            crew_thread, &threads[i]) == 0;
    (void)crew_thread(&threads[0]);
    for (unsigned i = 1; i < n; i++)
        if (threads[i].started)
            pthread_join(threads[i].thread, NULL);
}

static hsy_status crew_begin(struct crew_state *s, struct crew_thread *threads,
                             uint8_t *workers, hsy_error *err)
{
    const struct crew *crew = s->crew;
    unsigned opened = 0;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && opened < crew->threads) {
        struct crew_thread *t = &threads[opened];

        t->state = s;
        t->worker = workers + opened++ * crew->worker;
        st = crew->open(t->worker, crew->job, err);
    }
    if (st == HSY_OK) {
        crew_run(threads, crew->threads);
        st = s->st;
        if (st != HSY_OK && err != NULL)
            *err = s->err;
    }
    while (opened-- > 0)
        crew->close(threads[opened].worker);
    return st;
}

hsy_status crew_work(const struct crew *crew, hsy_error *err)
{
    struct crew_state s = {.crew = crew};
    struct crew_thread *threads = calloc(crew->threads, sizeof *threads);
    uint8_t *workers = calloc(crew->threads, crew->worker);
    hsy_status st;

    if (threads != NULL && workers != NULL &&
        pthread_mutex_init(&s.lock, NULL) == 0) {
        st = crew_begin(&s, threads, workers, err);
        pthread_mutex_destroy(&s.lock);
    } else {
        st = host_nomem(err);
    }
    free(threads);
    free(workers);
    return st;
}

void crew_average(double *mean, double *error, const double *each,
                  uint64_t runs, size_t n)
{
    const double count = (double)runs;

    for (size_t m = 0; m < n; m++) {
        double sum = 0, squares = 0;

        for (uint64_t r = 0; r < runs; r++)
            sum += each[r * n + m];
        for (uint64_t r = 0; r < runs; r++) {
            const double off = each[r * n + m] - sum / count;

            squares += off * off;
        }
        mean[m] = sum / count;
        error[m] = count > 1 ? sqrt(squares / (count - 1) / count) : NAN;
    }
}
