/*
 * fingerprint.c - the attacker who recognises devices.
 *
 * He has two uploads of each device, one before and one after, and nothing to
 * tell which two belong together. For each of the first he takes the second
 * that is most like it. All devices have the same truth, so that it is their
 * noise alone that he knows them by.
 *
 * An upload is a name, which stays as it is (a cohort, a hash seed), and a
 * body (bits of a filter, a hash) that stays more or less. Only uploads of one
 * name can be of one device, so he looks among those, for the body that differs
 * least; those that are as near share one guess. With nothing of that name he
 * guesses among all.
 */
#include "sim/attack/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINGERPRINT_BITS 32u     /* of a RAPPOR report, as in Chrome */
#define FINGERPRINT_COHORTS 128u /* the same */
#define FINGERPRINT_HASHES 2u
#define FINGERPRINT_VALUES 16u /* that a value may have been, local hashing */
#define FINGERPRINT_SMALL 8u   /* bits of a small pool of seeds */
#define FINGERPRINT_LEAST 10u  /* devices of the smallest crowd */

struct fingerprint_upload {
    uint64_t name, body;
    uint64_t device;
};

/* What a device sends before and after. */
enum fingerprint_how {
    FINGERPRINT_KEPT,     /* its permanent answer */
    FINGERPRINT_REPORTS,  /* reports of two days, made from it */
    FINGERPRINT_SLOTS,    /* the same, in two slots: other coins */
    FINGERPRINT_TASKS,    /* the same, to two questions: other coins */
    FINGERPRINT_RAW_SEED, /* a number of 64 bits of its own */
};

struct fingerprint_kind {
    const char *title;
    bool rappor;
    enum fingerprint_how how;
    unsigned pool_bits; /* local hashing: 2^this seeds */
};

static const struct fingerprint_kind fingerprint_kinds[SIM_UPLOADS] = {
    {"rappor, permanent answer", true, FINGERPRINT_KEPT, 0},
    {"rappor, two-step", true, FINGERPRINT_REPORTS, 0},
    {"rappor, next slot", true, FINGERPRINT_SLOTS, 0},
    {"64-bit seed", false, FINGERPRINT_RAW_SEED, HSY_POOL_BITS_DEFAULT},
    {"olh two-step, 2^16 seeds", false, FINGERPRINT_REPORTS,
     HSY_POOL_BITS_DEFAULT},
    {"olh two-step, 2^8 seeds", false, FINGERPRINT_REPORTS, FINGERPRINT_SMALL},
    {"olh, another task", false, FINGERPRINT_TASKS, HSY_POOL_BITS_DEFAULT},
};

struct fingerprint {
    const struct sim_options *o;
    const struct fingerprint_kind *kind;
    struct sim_pair pair, other; /* of the task, and of another one */
    unsigned low_bits;           /* of a report; what is above them follows */
    struct fingerprint_upload *before, *after, *sorted; /* owned */
};

/* ---- Schemes ------------------------------------------------------------- */

static hsy_status fingerprint_rappor(struct fingerprint *f, hsy_error *err)
{
    const hsy_spec spec = {
        .size = sizeof spec,
        .mechanism = "rappor",
        .kind = HSY_KIND_STRINGS,
        .design = HSY_DESIGN_RAPPOR,
        .chance = {{1, 2}, {1, 4}, {3, 4}},
        .param = {[HSY_PARAM_FILTER_BITS] = FINGERPRINT_BITS,
                  [HSY_PARAM_HASHES] = FINGERPRINT_HASHES,
                  [HSY_PARAM_COHORTS] = FINGERPRINT_COHORTS}};

    f->low_bits = FINGERPRINT_BITS;
    return sim_pair_open(&f->pair, &spec, 0, 0, 0, err);
}

/* Another task has another pool, and other coins by its digest. */
static hsy_status fingerprint_hashing(struct fingerprint *f, hsy_error *err)
{
    const struct sim_options *o = f->o;
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "olh",
                     .kind = HSY_KIND_VALUES,
                     .d = FINGERPRINT_VALUES,
                     .param = {[HSY_PARAM_POOL_BITS] = f->kind->pool_bits}};
    hsy_status st = sim_pair_open(&f->pair, &spec, o->nano_permanent,
                                  o->nano_report, 0, err);

    if (st != HSY_OK)
        return st;
    f->low_bits = f->kind->pool_bits;
    spec.param[HSY_PARAM_POOL_SEED] = 1;
    return sim_pair_open(&f->other, &spec, o->nano_permanent, o->nano_report, 0,
                         err);
}

/* ---- Uploads ------------------------------------------------------------- */

static uint64_t fingerprint_number(const uint8_t *report)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < 8; i++)
        x |= (uint64_t)report[i] << 8 * i;
    return x;
}

/* The two parts of a report. */
static void fingerprint_split(const struct fingerprint *f,
                              struct fingerprint_upload *u,
                              const uint8_t *report)
{
    const uint64_t x = fingerprint_number(report);
    const uint64_t low = x & (((uint64_t)1 << f->low_bits) - 1);
    const uint64_t high = x >> f->low_bits;

    u->name = f->kind->rappor ? high : low;
    u->body = f->kind->rappor ? low : high;
}

static hsy_status fingerprint_upload(const struct fingerprint *f,
                                     struct fingerprint_upload *u,
                                     uint64_t number, bool later)
{
    const bool task = f->kind->how == FINGERPRINT_TASKS && later;
    const hsy_permanent *memo = task ? &f->other.memo : &f->pair.memo;
    uint8_t report[SIM_REPORT_BYTES] = {0};
    struct sim_device d;
    uint64_t key;
    hsy_status st;

    sim_device_init(&d, memo, f->o->seed, number);
    d.slot = f->kind->how == FINGERPRINT_SLOTS && later;
    u->device = number;
    u->body = 0;
    if (f->kind->how == FINGERPRINT_RAW_SEED)
        return sim_raw_seed(&d, &u->name);
    st = sim_key(&d, &key, 0);
    if (st == HSY_OK && f->kind->how == FINGERPRINT_KEPT) {
        st = sim_permanent(&d, key);
        memcpy(report, d.answer, sizeof report);
    } else if (st == HSY_OK) {
        st = sim_report(&d, report, key, later);
    }
    fingerprint_split(f, u, report);
    return st;
}

/* ---- Matching ------------------------------------------------------------ */

static int fingerprint_compare(const void *a, const void *b)
{
    const struct fingerprint_upload *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->body != y->body)
        return x->body < y->body ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

/* Where names from this one on begin in what is sorted. */
static size_t fingerprint_first(const struct fingerprint *f, size_t n,
                                uint64_t name)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->sorted[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How much two bodies differ: in so many bits of a filter; hashes are the same
 * or not. */
static unsigned fingerprint_apart(const struct fingerprint *f, uint64_t a,
                                  uint64_t b)
{
    unsigned n = 0;

    if (!f->kind->rappor)
        return a != b;
    for (uint64_t x = a ^ b; x != 0; x &= x - 1)
        n++;
    return n;
}

/* The chance that the guess for u among the first n is right. */
static double fingerprint_guess(const struct fingerprint *f, size_t n,
                                const struct fingerprint_upload *u)
{
    unsigned least = 65;
    double nearest = 0;
    bool own = false;
    size_t i = fingerprint_first(f, n, u->name);

    if (i == n || f->sorted[i].name != u->name) /* a guess among all */
        return 1 / (double)n;
    for (; i < n && f->sorted[i].name == u->name; i++) {
        unsigned apart = fingerprint_apart(f, f->sorted[i].body, u->body);

        if (apart > least)
            continue;
        nearest = apart < least ? 1 : nearest + 1;
        own = (apart == least && own) || f->sorted[i].device == u->device;
        least = apart;
    }
    return own ? 1 / nearest : 0;
}

/* Sort the first n of what was sent before or after. */
static void fingerprint_sort(struct fingerprint *f,
                             const struct fingerprint_upload *sent, size_t n)
{
    memcpy(f->sorted, sent, n * sizeof *sent);
    qsort(f->sorted, n, sizeof *f->sorted, fingerprint_compare);
}

static bool fingerprint_alike(const struct fingerprint_upload *a,
                              const struct fingerprint_upload *b)
{
    return a->name == b->name && a->body == b->body;
}

/* The share of what is sorted that stands there once. */
static double fingerprint_unique(const struct fingerprint *f, size_t n)
{
    size_t once = 0;

    for (size_t i = 0; i < n; i++)
        once +=
            (i == 0 || !fingerprint_alike(&f->sorted[i - 1], &f->sorted[i])) &&
            (i + 1 == n ||
             !fingerprint_alike(&f->sorted[i], &f->sorted[i + 1]));
    return (double)once / (double)n;
}

/* How many names there are; 1: none that lasts. */
static double fingerprint_names(const struct fingerprint_kind *kind)
{
    switch (kind->how) {
    case FINGERPRINT_RAW_SEED:
        return ldexp(1, 64);
    case FINGERPRINT_SLOTS:
    case FINGERPRINT_TASKS:
        return 1;
    default:
        return kind->rappor ? FINGERPRINT_COHORTS
                            : ldexp(1, (int)kind->pool_bits);
    }
}

/* Where there is nothing but guessing, a sample that lacks the rare lucky guess
 * does not show how rare it is: then the standard error is that of guessing, at
 * least. */
static double fingerprint_sd(const struct sim_score *score, double chance)
{
    double sd = sim_score_sd(score);

    if (sim_score_rate(score) > 2 * chance)
        return sd;
    return fmax(sd, sqrt(chance * (1 - chance) / score->n));
}

static void fingerprint_row(struct sim_fingerprint_row *row,
                            struct fingerprint *f, size_t n)
{
    const double chance = 1 / (double)n;
    struct sim_score score = {0};

    fingerprint_sort(f, f->after, n);
    for (size_t i = 0; i < n; i++)
        sim_score_add(&score, fingerprint_guess(f, n, &f->before[i]));
    fingerprint_sort(f, f->before, n);
    *row = (struct sim_fingerprint_row){
        .upload = f->kind->title,
        .devices = n,
        .relinked = sim_score_rate(&score),
        .sd = fingerprint_sd(&score, chance),
        .name = sim_name_found((double)n, fingerprint_names(f->kind)),
        .chance = chance,
        .unique = fingerprint_unique(f, n)};
}

/* ---- All ----------------------------------------------------------------- */

static hsy_status fingerprint_kind(struct sim_result *out,
                                   struct fingerprint *f, hsy_error *err)
{
    uint64_t times[SIM_TIMES_MAX];
    size_t n = sim_decades(times, f->o->devices);
    hsy_status st = f->kind->rappor ? fingerprint_rappor(f, err)
                                    : fingerprint_hashing(f, err);

    for (uint64_t i = 0; st == HSY_OK && i < f->o->devices; i++) {
        st = fingerprint_upload(f, &f->before[i], i, false);
        if (st == HSY_OK)
            st = fingerprint_upload(f, &f->after[i], i, true);
        sim_tick(f->o, 1);
    }
    for (size_t i = 0; st == HSY_OK && i < n; i++)
        if (times[i] >= FINGERPRINT_LEAST || i + 1 == n)
            fingerprint_row(&out->u.fingerprint[out->nrows++], f, times[i]);
    sim_pair_close(&f->pair);
    sim_pair_close(&f->other);
    return st;
}

hsy_status sim_fingerprint(struct sim_result *out, const struct sim_options *o,
                           hsy_error *err)
{
    struct fingerprint f = {.o = o};
    hsy_status st = HSY_OK;

    f.before = calloc(3 * o->devices, sizeof *f.before);
    if (f.before == NULL)
        return host_nomem(err);
    f.after = f.before + o->devices;
    f.sorted = f.after + o->devices;
    for (size_t k = 0; st == HSY_OK && k < SIM_UPLOADS; k++) {
        f.kind = &fingerprint_kinds[k];
        st = fingerprint_kind(out, &f, err);
    }
    free(f.before);
    return st;
}
