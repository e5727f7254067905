/* pq.c - libpq's functions by name. */
#define _GNU_SOURCE
#include "server/postgres/pq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct pq pq_table;
static bool pq_there;
static pthread_once_t pq_once = PTHREAD_ONCE_INIT;

/* POSIX lets a data pointer be a function's; C has no cast for it. */
static bool pq_find(void *lib, const char *name, void *function)
{
    void *found = dlsym(lib, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void pq_fill(void)
{
    void *lib = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    bool all = lib != NULL;

#define PQ_FILL(name) all = all && pq_find(lib, "PQ" #name, &pq_table.name);
    PQ_FUNCTIONS(PQ_FILL)
    pq_there = all;
}

const struct pq *pq_load(void)
{
    pthread_once(&pq_once, pq_fill);
    return pq_there ? &pq_table : NULL;
}
