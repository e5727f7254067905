/*
 * projective_points.c - evidence from counts of points.
 *
 * T[v], the reports orthogonal to v in its block, is the support of v. With one
 * block the law is pure (theory 0.1). With several, reports in other blocks
 * say nothing but how many people are there, and the estimate is linear in T[v]
 * and N, the reports in v's block (theory 3.8):
 *
 *     f = scale ((T - N meet/set) / n + g),    Z = h b + (rho - 1) set,
 *     scale = Z / ((rho - 1)(set - meet)),  Z g = b meet/set - set.
 *
 * Counts are decoded by a kernel of 32-bit words. Below 2^32 reports that is
 * one pass; more are cut into digits so short that no sum can overflow, and
 * decoded digit by digit.
 */
#include "lib/family/projective.h"
#include "lib/family/twolevel.h"

/* One estimation. The pointers lead into the caller's scratch. */
struct projective_evidence {
    const hsy_scheme *s;
    const hsy_tally *t;
    hsy_evidence *points;
    const uint64_t *codes;
    size_t count;
    double n;
    double *mass;   /* reports in each block */
    uint32_t *sums; /* T by slot, of one digit */
    uint32_t *work;
};

/* The law of several blocks. */
struct projective_law {
    struct projective_variance v;
    double ratio; /* meet / set */
    double scale, g;
    double set;      /* P[in the set] of others' */
    double in, more; /* P[in the block]: of others, and what its own add */
};

void hsy_projective_support(const hsy_scheme *s, struct mech_support *out)
{
    struct projective_sizes sizes = hsy_projective_resolved(s);
    uint64_t one = twolevel_other(s);

    hsy_support_of(out, sizes.set * s->two.weight,
                   sizes.set * one + sizes.meet * (s->two.weight - one),
                   s->total);
}

/* Whether adding up the sets of `count` values is less work than decoding all;
 * a point of a set costs about as much as 16 additions a coordinate. */
static bool projective_direct(const hsy_scheme *s, size_t count)
{
    const struct projective *p = &s->projective.space;
    double q = p->geometry.q, t = p->geometry.t;

    return 16 * (double)count * (double)p->set * t <
           (double)s->cells * q * (t - 2);
}

static size_t projective_slots(const hsy_scheme *s)
{
    return s->d + (s->d & 1); /* whole doubles */
}

size_t hsy_projective_points_scratch(const hsy_scheme *s, size_t count)
{
    const struct projective *p = &s->projective.space;
    size_t words = projective_slots(s) +
                   hsy_projective_decode_words(p->geometry.q, p->geometry.t);

    if (projective_direct(s, count))
        return 0;
    return p->blocks * sizeof(double) + words * sizeof(uint32_t);
}

/* ---- Counting ------------------------------------------------------------ */

/* The sum over the points of the set of `item`, in its block's cells. */
static double projective_add_set(const hsy_scheme *s, const int64_t *cells,
                                 uint32_t item)
{
    const struct projective *p = &s->projective.space;
    uint32_t items[TWOLEVEL_BLOCK], ranks[TWOLEVEL_BLOCK];
    uint32_t own[TWOLEVEL_BLOCK];
    uint64_t sum = 0;

    for (uint64_t done = 0; done < p->set; done += TWOLEVEL_BLOCK) {
        uint64_t left = p->set - done;
        size_t m = left < TWOLEVEL_BLOCK ? (size_t)left : TWOLEVEL_BLOCK;

        for (size_t i = 0; i < m; i++) {
            items[i] = item;
            ranks[i] = (uint32_t)(done + i);
        }
        s->kernels->orthogonal_points(own, items, ranks, m, &p->geometry);
        for (size_t i = 0; i < m; i++)
            sum += (uint64_t)cells[own[i]];
    }
    return (double)sum;
}

static double projective_mass(const int64_t *cells, size_t points)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < points; i++)
        sum += (uint64_t)cells[i];
    return (double)sum;
}

/* T of one digit of all counts, into e->sums. */
static void projective_decode_all(const struct projective_evidence *e,
                                  unsigned shift, uint32_t mask)
{
    const struct projective *p = &e->s->projective.space;
    const size_t points = projective_points_of(p);
    const size_t room = p->blocks > 1 ? (size_t)p->room.by : e->s->d;

    for (size_t block = 0; block * room < e->s->d; block++) {
        size_t left = e->s->d - block * room;

        hsy_projective_decode(&p->geometry, e->s->kernels,
                              e->sums + block * room, left < room ? left : room,
                              e->t->cells + block * points, shift, mask,
                              e->work);
    }
}

static uint64_t projective_code(const struct projective_evidence *e, size_t i)
{
    return e->codes != NULL ? e->codes[i] : i;
}

static void projective_add_digit(const struct projective_evidence *e,
                                 unsigned shift, uint32_t mask)
{
    const struct projective *p = &e->s->projective.space;
    const double unit = (double)((uint64_t)1 << shift);

    projective_decode_all(e, shift, mask);
    for (size_t i = 0; i < e->count; i++) {
        uint64_t code = projective_code(e, i);
        uint64_t slot = p->blocks > 1 ? spread_at(&p->spread, code) : code;

        e->points[i].support += unit * e->sums[slot];
    }
}

/* Digits of so many bits that a whole set of them stays below 2^32. */
static unsigned projective_digit(const struct projective *p)
{
    unsigned bits = 32;

    while (p->set >> (32 - bits) != 0)
        bits--;
    return bits;
}

static void projective_count_all(const struct projective_evidence *e)
{
    const hsy_tally *t = e->t;
    const unsigned bits = projective_digit(&e->s->projective.space);
    uint64_t all = 0, sum = 0;

    for (size_t i = 0; i < t->ncells; i++) {
        all |= (uint64_t)t->cells[i];
        sum += (uint64_t)t->cells[i];
    }
    if (sum >> 32 == 0) {
        projective_add_digit(e, 0, UINT32_MAX);
        return;
    }
    for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += bits)
        projective_add_digit(e, shift, (uint32_t)(((uint64_t)1 << bits) - 1));
}

/* ---- Estimating ---------------------------------------------------------- */

static struct projective_law projective_law_of(const hsy_scheme *s)
{
    struct projective_sizes sizes = hsy_projective_resolved(s);
    double b = (double)sizes.points, set = (double)sizes.set;
    double meet = (double)sizes.meet, h = s->projective.space.blocks;
    double rho = hsy_projective_rho(s), more = rho - 1;
    double z = b * h + more * set;

    return (struct projective_law){.v = hsy_projective_variance(&sizes, h, rho),
                                   .ratio = meet / set,
                                   .scale = z / (more * (set - meet)),
                                   .g = (b * meet / set - set) / z,
                                   .set = set / z,
                                   .in = b / z,
                                   .more = more * set / z};
}

static double projective_inside(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/*
 * With a share F of all people in the block, n times the variance at share f is
 * f own + (F - f) same + (1 - F) other: linear in f. F is estimated, not below
 * f. Far beyond F, where f cannot be, the line may cross zero: it stops there.
 */
static void projective_weigh(hsy_evidence *point,
                             const struct projective_law *law, double mass)
{
    double share = projective_inside((mass / point->n - law->in) / law->more);
    double f = projective_inside(point->value);
    double v1;

    if (share < f)
        share = f;
    point->v0 = share * law->v.same + (1 - share) * law->v.other;
    v1 = point->v0 + law->v.own - law->v.same;
    point->v1 = v1 > 0 ? v1 : 0;
}

static void projective_estimate(hsy_evidence *point,
                                const struct projective_law *law, double n,
                                double mass)
{
    point->n = n;
    point->value =
        law->scale * ((point->support - mass * law->ratio) / n + law->g);
    projective_weigh(point, law, mass);
    point->few = (hsy_few){
        .n = n,
        .rate = law->set,
        .count = {point->support, mass - point->support},
        .weight = {law->scale * (1 - law->ratio), -law->scale * law->ratio},
        .base = law->scale * law->g};
}

/* A report inside the value's block, in its set or not, or outside. */
void hsy_projective_reach(const hsy_scheme *s, double reach[2])
{
    const struct projective_law law = projective_law_of(s);

    reach[0] = law.scale * (law.g - law.ratio);
    reach[1] = law.scale * (law.g + 1 - law.ratio);
}

/* Each count in points[i].support becomes a whole point. */
static void projective_estimate_all(const struct projective_evidence *e)
{
    const struct projective *p = &e->s->projective.space;
    const size_t points = projective_points_of(p);
    struct projective_law law = projective_law_of(e->s);
    struct mech_support pure;

    hsy_projective_support(e->s, &pure);
    for (size_t i = 0; i < e->count; i++) {
        uint32_t item,
            block = projective_place(p, projective_code(e, i), &item);

        if (p->blocks == 1)
            hsy_evidence_pure(&e->points[i], &pure, e->n, e->points[i].support);
        else
            projective_estimate(
                &e->points[i], &law, e->n,
                e->mass != NULL
                    ? e->mass[block]
                    : projective_mass(e->t->cells + block * points, points));
    }
}

static void projective_open(struct projective_evidence *e, void *scratch)
{
    const struct projective *p = &e->s->projective.space;
    const size_t points = projective_points_of(p);

    e->mass = scratch;
    e->sums = (uint32_t *)(e->mass + p->blocks);
    e->work = e->sums + projective_slots(e->s);
    for (size_t block = 0; block < p->blocks; block++)
        e->mass[block] = projective_mass(e->t->cells + block * points, points);
}

void hsy_projective_points(const hsy_scheme *s, hsy_evidence *points,
                           const hsy_tally *t, const uint64_t *codes,
                           size_t count, void *scratch)
{
    struct projective_evidence e = {.s = s,
                                    .t = t,
                                    .points = points,
                                    .codes = codes,
                                    .count = count,
                                    .n = (double)t->strata[0]};
    const struct projective *p = &s->projective.space;
    const size_t room = projective_points_of(p);

    for (size_t i = 0; i < count; i++)
        points[i] = (hsy_evidence){0};
    if (projective_direct(s, count)) {
        for (size_t i = 0; i < count; i++) {
            uint32_t item,
                block = projective_place(p, projective_code(&e, i), &item);

            points[i].support =
                projective_add_set(s, t->cells + block * room, item);
        }
    } else {
        projective_open(&e, scratch);
        projective_count_all(&e);
    }
    projective_estimate_all(&e);
}
