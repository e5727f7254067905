/*
 * test_tree.c - consistency against dense least squares, variances of ranges
 * against the sums that define them, and the figures of theory 7.1, 7.2.
 */
#include "lib/family/tree.h"
#include "lib/mech/haar.h"
#include "rig/sanitized.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define MOST 64u /* nodes of a small tree */

/* A tree of unit variances v0 = 1 (so that only v0 / n counts) whose levels
 * have n reports each. f has room for its nodes. */
static void tree_make(struct tree *t, size_t d, size_t fanout, const double *n,
                      double *f)
{
    size_t leaves = 1, first = 0;

    *t = (struct tree){.d = d, .fanout = fanout, .levels = 1, .f = f};
    for (size_t reach = fanout; reach < d; reach *= fanout)
        t->levels++;
    for (size_t l = t->levels; l-- > 0; leaves *= fanout)
        t->level[l].leaves = leaves;
    for (size_t l = 0; l < t->levels; l++) {
        struct tree_level *level = &t->level[l];

        level->nodes = (d + level->leaves - 1) / level->leaves;
        level->first = first;
        level->v0 = 1;
        /* takes the typical share back out of tree_level_typical */
        level->v1 = 1.0 / (double)level->nodes;
        level->n = n[l];
        t->n += n[l];
        first += level->nodes;
    }
}

/* Solve the m equations in place by elimination with pivots. */
static void dense_solve(double a[MOST][MOST + 1], size_t m)
{
    for (size_t k = 0; k < m; k++) {
        size_t best = k;

        for (size_t i = k; i < m; i++)
            if (fabs(a[i][k]) > fabs(a[best][k]))
                best = i;
        for (size_t j = 0; j <= m; j++) {
            double x = a[k][j];

            a[k][j] = a[best][j];
            a[best][j] = x;
        }
        for (size_t i = 0; i < m; i++) {
            double ratio = i == k ? 0 : a[i][k] / a[k][k];

            for (size_t j = k; j <= m && i != k; j++)
                a[i][j] -= ratio * a[k][j];
        }
    }
    for (size_t k = 0; k < m; k++)
        a[k][m] /= a[k][k];
}

/*
 * Minimize sum n_l (x(v) - sum of leaves below v)^2 with leaves that sum up to
 * 1: normal equations with one Lagrange multiplier.
 */
static void dense_leaves(double *leaves, const struct tree *t, const double *x)
{
    static double a[MOST][MOST + 1];
    const size_t d = t->d;

    memset(a, 0, sizeof a);
    for (size_t l = 0; l < t->levels; l++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) {
                const struct tree_level *level = &t->level[l];

                if (i / level->leaves != j / level->leaves)
                    continue;
                a[i][j] += level->n;
                if (i == j)
                    a[i][d + 1] +=
                        level->n * x[level->first + i / level->leaves];
            }
    for (size_t i = 0; i < d; i++)
        a[i][d] = a[d][i] = 1;
    a[d][d + 1] = 1;
    dense_solve(a, d + 1);
    for (size_t i = 0; i < d; i++)
        leaves[i] = a[i][d + 1];
}

static void least_squares(size_t d, size_t fanout, const double *n,
                          const char *what)
{
    double x[MOST], f[MOST], leaves[MOST], off = 0, apart = 0;
    struct tree t;
    size_t nodes;

    tree_make(&t, d, fanout, n, f);
    nodes = hsy_tree_nodes(&t);
    for (size_t i = 0; i < nodes; i++)
        x[i] = f[i] = sin(3.0 * (double)i + 1) / 4 + 1 / (double)d;
    hsy_tree_solve(&t);
    dense_leaves(leaves, &t, x);
    for (size_t i = 0; i < d; i++)
        off = fmax(off, fabs(f[t.level[t.levels - 1].first + i] - leaves[i]));
    for (size_t l = 0; l < t.levels; l++)
        for (size_t v = 0; v < t.level[l].nodes; v++) {
            double sum = 0;

            for (size_t i = 0; i < d; i++)
                if (i / t.level[l].leaves == v)
                    sum += leaves[i];
            apart = fmax(apart, fabs(sum - f[t.level[l].first + v]));
        }
    ok(off < 1e-12, "%s, %zu leaves by %zu: dense least squares (%.1e)", what,
       d, fanout, off);
    ok(apart < 1e-12, "%s: nodes are the sums of their leaves (%.1e)", what,
       apart);
}

/* Not a power of the fanout: consistent still. */
static void ragged(size_t d, size_t fanout)
{
    const double n[8] = {5, 3, 7, 2, 9, 4, 1, 6};
    double f[MOST], off = 0, whole = 0;
    struct tree t;

    tree_make(&t, d, fanout, n, f);
    for (size_t i = 0; i < hsy_tree_nodes(&t); i++)
        f[i] = cos((double)i);
    hsy_tree_solve(&t);
    for (size_t l = 0; l + 1 < t.levels; l++)
        for (size_t v = 0; v < t.level[l].nodes; v++) {
            double sum = f[t.level[l].first + v];

            for (size_t c = v * fanout;
                 c < (v + 1) * fanout && c < t.level[l + 1].nodes; c++)
                sum -= f[t.level[l + 1].first + c];
            off = fmax(off, fabs(sum));
        }
    for (size_t v = 0; v < t.level[0].nodes; v++)
        whole += f[v];
    ok(off < 1e-12 && fabs(whole - 1) < 1e-12,
       "%zu leaves by %zu: parents are the sums of their children", d, fanout);
}

/* ---- Variances ----------------------------------------------------------- */

/* The leaf sum over the range, as a function of one node's estimate. */
static double sum_with(struct tree *t, double *f, size_t node, double value,
                       size_t from, size_t to)
{
    double sum = 0;

    memset(f, 0, MOST * sizeof *f);
    if (node < MOST)
        f[node] = value;
    hsy_tree_solve(t);
    for (size_t i = from; i < to; i++)
        sum += f[t->level[t->levels - 1].first + i];
    return sum;
}

/* hsy_tree_variance against weights by finite differences, which are exact for
 * what is linear; shares all zero, supports independent. */
static void weights(size_t d, size_t fanout)
{
    const double n[8] = {5, 3, 7, 2, 9, 4, 1, 6};
    double f[MOST], off = 0;
    struct tree t;

    tree_make(&t, d, fanout, n, f);
    for (size_t from = 0; from < d; from++)
        for (size_t to = from + 1; to <= d; to++) {
            double none = sum_with(&t, f, MOST, 0, from, to), want = 0;

            for (size_t l = 0; l < t.levels; l++)
                for (size_t v = 0; v < t.level[l].nodes; v++) {
                    double w =
                        sum_with(&t, f, t.level[l].first + v, 1, from, to) -
                        none;

                    want += w * w / t.level[l].n;
                }
            memset(f, 0, sizeof f);
            off = fmax(off, fabs(hsy_tree_variance(&t, from, to) - want));
        }
    ok(off < 1e-12,
       "%zu leaves by %zu: variances of all ranges are those of the weights "
       "(%.1e)",
       d, fanout, off);
}

struct figures {
    double mean, most;
};

static struct figures figures_of(double (*variance)(const void *law,
                                                    size_t from, size_t to),
                                 const void *law)
{
    struct figures x = {0, 0};
    double ranges = 0;

    for (size_t from = 0; from < 1024; from++)
        for (size_t to = from + 1; to <= 1024; to++) {
            double v = variance(law, from, to);

            x.mean += v;
            x.most = fmax(x.most, v);
            ranges++;
        }
    x.mean /= ranges;
    return x;
}

static double by_tree(const void *law, size_t from, size_t to)
{
    return hsy_tree_variance(law, from, to);
}

static double by_haar(const void *law, size_t from, size_t to)
{
    return hsy_haar_variance(law, from, to);
}

/* Theory 7.1 and 7.2: random ranges of 1024 bins, unit V0 / n. */
static void published_figures(void)
{
    static const struct {
        size_t fanout, levels;
        double mean, most;
    } rows[] = {{2, 10, 18.9, 28.6}, {4, 5, 18.5, 28.4}, {32, 2, 30.7, 46.5}};
    double *f = trial_memory(2100 * sizeof *f);
    struct haar haar = {.d = 1024, .levels = 10, .n = 1, .power = 1};
    struct figures x;

    for (size_t i = 0; i < 3; i++) {
        double n[10];
        struct tree t;

        for (size_t l = 0; l < 10; l++)
            n[l] = 1 / (double)rows[i].levels;
        tree_make(&t, 1024, rows[i].fanout, n, f);
        memset(f, 0, 2100 * sizeof *f);
        hsy_tree_solve(&t);
        memset(f, 0, 2100 * sizeof *f);
        x = figures_of(by_tree, &t);
        ok(fabs(x.mean - rows[i].mean) < 0.1 &&
               fabs(x.most - rows[i].most) < 0.2,
           "fanout %zu: a random range has %.2f (at most %.2f) times V0/n",
           rows[i].fanout, x.mean, x.most);
    }
    for (size_t l = 0; l < 10; l++)
        haar.count[l] = 0.1;
    x = figures_of(by_haar, &haar);
    ok(fabs(x.mean - 15.3) < 0.1 && fabs(x.most - 22.5) < 0.1,
       "haar: a random range has %.2f (at most %.2f)", x.mean, x.most);
    free(f);
}

/* Theory 15.7: the best fanouts, without consistency and with it. */
static void best_fanouts(void)
{
    static const struct {
        double shift, best;
    } rows[] = {{2, 4.92155363456750509}, {-2, 9.18631710484731946}};

    for (size_t i = 0; i < 2; i++) {
        double low = 2.8, high = 20;

        for (int k = 0; k < 100; k++) {
            double b = (low + high) / 2;

            if (b * log(b) - 2 * b + rows[i].shift < 0)
                low = b;
            else
                high = b;
        }
        ok(fabs(low - rows[i].best) < 1e-12, "the best fanout is %.10f", low);
    }
}

int main(void)
{
    static const double equal[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const double unequal[8] = {5, 3, 7, 2, 9, 4, 1, 6};
    static const double gap[8] = {5, 0, 7, 2, 9, 4, 1, 6};

    least_squares(16, 2, equal, "equal variances");
    least_squares(16, 4, equal, "equal variances");
    least_squares(27, 3, equal, "equal variances");
    least_squares(16, 2, unequal, "unequal variances");
    least_squares(27, 3, unequal, "unequal variances");
    least_squares(16, 2, gap, "a level without reports");
    least_squares(9, 9, equal, "one level");
    ragged(13, 2);
    ragged(30, 4);
    weights(8, 2);
    weights(9, 3);
    weights(11, 3);
    weights(5, 2);
    weights(6, 6);
    if (!TEST_SANITIZED) /* four million ranges, each a few sums */
        published_figures();
    best_fanouts();
    return tap_done();
}
