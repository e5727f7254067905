/* threads.h - threads of a server, and what they wait by. */
#ifndef HOST_BASE_THREADS_H
#define HOST_BASE_THREADS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* Start one that leaves signals to whoever waits for them. */
static inline bool thread_start(pthread_t *thread, void *(*run)(void *),
                                void *ctx)
{
    sigset_t all, old;
    bool runs;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    runs = pthread_create(thread, NULL, run, ctx) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return runs;
}

/* A condition that is waited for by the steady clock (steady_after). */
static inline bool thread_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attr;
    bool good;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    good = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(condition, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return good;
}

#endif
