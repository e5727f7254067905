/*
 * transcript_check.h - the law of each transcript, and whether it keeps to what
 * was charged (transcript.h says what is checked).
 */
#ifndef TRANSCRIPT_CHECK_H
#define TRANSCRIPT_CHECK_H

#include "rig/transcript_events.h"

#include <gmp.h>

/* ---- Laws ---------------------------------------------------------------- */

/* One transcript under one course of the truth. */
struct transcript_point {
    uint64_t seen;
    uint32_t truths, pattern;
    mpz_t num, den;
};

/* num / den is the chance of the coins of a life. */
static inline void transcript_weigh(struct transcript_point *p,
                                    const struct transcript_life *life)
{
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(p->num, 1);
    mpz_set_ui(p->den, 1);
    for (size_t i = 0; i < life->ncoins; i++)
        for (size_t k = 0; k < TRANSCRIPT_WORDS; k++) {
            const struct transcript_word *w = &life->coin[i].word[k];

            if (w->last == 0)
                continue;
            mpz_set_ui(x, w->hi - w->lo);
            mpz_add_ui(x, x, 1);
            mpz_mul(p->num, p->num, x);
            mpz_set_ui(x, w->last);
            mpz_add_ui(x, x, 1);
            mpz_mul(p->den, p->den, x);
        }
    mpz_clear(x);
}

static inline void transcript_add(mpz_t num, mpz_t den, const mpz_t n,
                                  const mpz_t d)
{
    if (mpz_cmp(den, d) == 0) {
        mpz_add(num, num, n);
        return;
    }
    mpz_mul(num, num, d);
    mpz_addmul(num, den, n);
    mpz_mul(den, den, d);
}

struct transcript_law {
    struct transcript_point *point;
    size_t n, room;
    uint64_t shape;
    uint32_t charges[TRANSCRIPT_RELEASES];
    bool alike; /* only courses with the same pattern are compared */
};

static inline int transcript_order(const void *a, const void *b)
{
    const struct transcript_point *p = a, *q = b;

    if (p->seen != q->seen)
        return p->seen < q->seen ? -1 : 1;
    return (p->truths > q->truths) - (p->truths < q->truths);
}

/* Sort, and put equal ones together. */
static inline void transcript_join(struct transcript_law *l)
{
    size_t n = 0;

    qsort(l->point, l->n, sizeof *l->point, transcript_order);
    for (size_t i = 1; i < l->n; i++) {
        struct transcript_point *to = &l->point[n], *from = &l->point[i];

        if (transcript_order(to, from) == 0) {
            transcript_add(to->num, to->den, from->num, from->den);
            mpz_clears(from->num, from->den, NULL);
        } else {
            l->point[++n] = *from;
        }
    }
    l->n = l->n == 0 ? 0 : n + 1;
}

static inline void transcript_law_add(struct transcript *t,
                                      struct transcript_law *l,
                                      const struct transcript_life *life)
{
    struct transcript_point *p;

    if (l->n == l->room) {
        l->room = 2 * l->room + 64;
        l->point = realloc(l->point, l->room * sizeof *l->point);
        if (l->point == NULL) {
            puts("Bail out! out of memory");
            exit(1);
        }
    }
    if (l->n == 0) {
        l->shape = life->shape;
        l->alike = t->same_changes || life->nasides > 0;
        memcpy(l->charges, life->charges, sizeof l->charges);
    }
    t->misshapen += l->shape != life->shape;
    t->unbalanced += memcmp(l->charges, life->charges, sizeof l->charges) != 0;
    t->redrawn += life->broken;
    p = &l->point[l->n++];
    *p = (struct transcript_point){
        life->seen, life->truths, life->pattern, {{0}}, {{0}}};
    mpz_inits(p->num, p->den, NULL);
    transcript_weigh(p, life);
}

/* e^(what was charged): each charge at the worst ratio of its scheme. */
static inline void transcript_bound(const struct transcript *t,
                                    const struct transcript_law *l, mpz_t num,
                                    mpz_t den)
{
    hsy_factor factors[4];
    size_t count;
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(num, 1);
    mpz_set_ui(den, 1);
    for (size_t i = 0; i < TRANSCRIPT_RELEASES; i++) {
        const struct transcript_release *r = &t->release[i];
        unsigned long power = (unsigned long)l->charges[i] * r->power;

        if (power == 0)
            continue;
        hsy_law_worst(r->first, factors, &count);
        for (size_t k = 0; k < count; k++) {
            mpz_set_ui(x, factors[k].num);
            mpz_pow_ui(x, x, power);
            mpz_mul(num, num, x);
            mpz_set_ui(x, factors[k].den);
            mpz_pow_ui(x, x, power);
            mpz_mul(den, den, x);
        }
    }
    mpz_clear(x);
}

static inline double transcript_log(const mpz_t x)
{
    long e;
    double m = mpz_get_d_2exp(&e, x);

    return log(m) + (double)e * log(2);
}

/* P[a] / P[b] against the bound. */
static inline void transcript_pair(struct transcript *t,
                                   const struct transcript_point *a,
                                   const struct transcript_point *b,
                                   const mpz_t num, const mpz_t den)
{
    mpz_t left, right;
    double ratio;
    int sign;

    mpz_inits(left, right, NULL);
    mpz_mul(left, a->num, b->den);
    mpz_mul(right, b->num, a->den);
    ratio = transcript_log(left) - transcript_log(right);
    if (ratio > t->most)
        t->most = ratio;
    mpz_mul(left, left, den);
    mpz_mul(right, right, num);
    sign = mpz_cmp(left, right);
    t->beyond += sign > 0;
    t->tight |= sign == 0 && mpz_cmp(num, den) > 0;
    mpz_clears(left, right, NULL);
}

/* All pairs of courses with this transcript, points from and up to to. One that
 * cannot have it while another can is beyond any bound. */
static inline void transcript_compare(struct transcript *t,
                                      const struct transcript_law *l,
                                      size_t from, size_t to,
                                      const uint32_t *courses, const mpz_t num,
                                      const mpz_t den)
{
    for (size_t i = from; i < to; i++) {
        uint32_t alike = 0;

        for (size_t k = from; k < to; k++) {
            const struct transcript_point *a = &l->point[i], *b = &l->point[k];

            if (l->alike && a->pattern != b->pattern)
                continue;
            alike++;
            if (i != k)
                transcript_pair(t, a, b, num, den);
        }
        t->beyond += alike != courses[l->point[i].truths];
    }
}

/* How many courses of the truth each one is compared with, itself included. */
static inline uint32_t *transcript_courses(const struct transcript_law *l,
                                           uint32_t all)
{
    uint32_t *pattern = trial_memory(all * sizeof *pattern);
    uint32_t *courses = trial_memory(all * sizeof *courses);

    for (size_t i = 0; i < l->n; i++)
        pattern[l->point[i].truths] = l->point[i].pattern;
    for (uint32_t a = 0; a < all; a++)
        for (uint32_t b = 0; b < all; b++)
            courses[a] += !l->alike || pattern[a] == pattern[b];
    free(pattern);
    return courses;
}

/* The chances of every course sum up to 1. */
static inline void transcript_sums(struct transcript *t,
                                   const struct transcript_law *l, uint32_t all)
{
    mpz_t *num = trial_memory(2 * all * sizeof *num), *den = num + all;

    for (uint32_t a = 0; a < all; a++) {
        mpz_init(num[a]);
        mpz_init_set_ui(den[a], 1);
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct transcript_point *p = &l->point[i];

        transcript_add(num[p->truths], den[p->truths], p->num, p->den);
    }
    for (uint32_t a = 0; a < all; a++) {
        t->uneven += mpz_cmp(num[a], den[a]) != 0;
        mpz_clears(num[a], den[a], NULL);
    }
    free(num);
}

static inline void transcript_judge(struct transcript *t,
                                    struct transcript_law *l, uint32_t all)
{
    uint32_t *courses;
    mpz_t num, den;

    mpz_inits(num, den, NULL);
    t->outcomes += l->n;
    transcript_join(l);
    transcript_sums(t, l, all);
    transcript_bound(t, l, num, den);
    courses = transcript_courses(l, all);
    for (size_t from = 0, to; from < l->n; from = to) {
        for (to = from; to < l->n && l->point[to].seen == l->point[from].seen;)
            to++;
        transcript_compare(t, l, from, to, courses, num, den);
    }
    free(courses);
    for (size_t i = 0; i < l->n; i++)
        mpz_clears(l->point[i].num, l->point[i].den, NULL);
    mpz_clears(num, den, NULL);
}

/* ---- All sequences ------------------------------------------------------- */

static inline uint32_t transcript_faults(const struct transcript *t)
{
    return t->uneven + t->beyond + t->unbalanced + t->misshapen + t->unpaid +
           t->redrawn;
}

/* Play out every life to its end, and judge. */
static inline void transcript_check(struct transcript *t,
                                    const struct transcript_set *set,
                                    const char *word, uint32_t courses)
{
    struct transcript_law l = {0};

    for (size_t i = 0; i < set->n; i++) {
        t->script.n = t->script.at = 0;
        do {
            transcript_copy(&t->live, &set->life[i]);
            transcript_end(t);
            transcript_law_add(t, &l, &t->live);
        } while (transcript_again(&t->script));
    }
    transcript_judge(t, &l, courses);
    free(l.point);
    t->sequences++;
    if (transcript_faults(t) != 0 && t->worst[0] == '\0')
        snprintf(t->worst, sizeof t->worst, "%s", word);
}

static inline struct transcript_set
transcript_step(struct transcript *t, const struct transcript_set *from,
                uint32_t event, uint32_t number)
{
    struct transcript_set to = {0};

    for (size_t i = 0; i < from->n; i++) {
        t->script.n = t->script.at = 0;
        do {
            transcript_copy(&t->live, &from->life[i]);
            transcript_event(t, event, number);
            transcript_set_add(&to, &t->live);
        } while (transcript_again(&t->script));
    }
    return to;
}

/* word holds the events so far, as letters. */
static inline void transcript_extend(struct transcript *t,
                                     const struct transcript_set *set,
                                     char *word, size_t depth, uint32_t number,
                                     uint32_t courses)
{
    if (depth == t->length)
        return;
    for (uint32_t e = 0; e < TRANSCRIPT_EVENTS; e++) {
        uint32_t next = number * TRANSCRIPT_EVENTS + e;
        uint32_t all = e == TRANSCRIPT_TRUTH ? courses * t->d : courses;
        struct transcript_set to = transcript_step(t, set, e, next + next / 10);

        word[depth] = transcript_letters[e];
        word[depth + 1] = '\0';
        transcript_check(t, &to, word, all);
        transcript_extend(t, &to, word, depth + 1, next, all);
        free(to.life);
    }
}

/* Every sequence up to t->length, from a new device that is asked once. */
static inline void transcript_run(struct transcript *t)
{
    struct transcript_set first = {0}, asked;
    char word[16] = "";

    memset(&t->live, 0, sizeof t->live);
    world_init(&t->live.world, 1);
    t->live.open = t->live.steady = true;
    t->live.release = t->start;
    if (t->client->create(t, t->live.client) != HSY_OK) {
        puts("Bail out! no client");
        exit(1);
    }
    t->backup = t->live.world.disk;
    for (uint32_t truth = 0; truth < t->d; truth++) {
        t->live.ncourse = t->live.truths = 0;
        transcript_truth(&t->live, t->d, truth);
        transcript_set_add(&first, &t->live);
    }
    asked = transcript_step(t, &first, TRANSCRIPT_ASK, 0);
    transcript_check(t, &asked, "", t->d);
    transcript_extend(t, &asked, word, 0, 0, t->d);
    free(asked.life);
    free(first.life);
}

#endif
