/* tree.c - consistency by weighted least squares, and variances of sums. */
#include "lib/family/tree.h"

/* ---- Levels -------------------------------------------------------------- */

static void tree_level_law(struct tree_level *level, const hsy_scheme *part)
{
    struct mech_support law = {0};
    double v[2];

    hsy_mech_variance(part, v);
    level->v0 = v[0];
    level->v1 = v[1];
    if (part->mech->estimate->support != NULL)
        part->mech->estimate->support(part, &law);
    level->p = law.p;
    level->q = law.q;
    {
        double supported = law.p + ((double)level->nodes - 1) * law.q;

        level->exclusive = part->mech->estimate->support != NULL &&
                           supported > 1 - 1e-9 && supported < 1 + 1e-9;
    }
}

/*
 * The typical variance of a node of share 1 / nodes, for the weights alone: any
 * weights give unbiased estimates.
 */
static double tree_level_typical(const struct tree_level *level)
{
    double share = 1 / (double)level->nodes;

    return (level->v0 + share * (level->v1 - level->v0) + share * (1 - share)) /
               level->n +
           level->floor;
}

/* a_l of all levels, leaves first. */
static void tree_weigh(struct tree *tree)
{
    double below = 0; /* zv of the level below; 0 with none known: no bound */
    bool known = false;

    for (size_t l = tree->levels; l-- > 0;) {
        struct tree_level *level = &tree->level[l];
        bool leaf = l + 1 == tree->levels;
        double sum = (double)tree->fanout * below, own;

        if (!(level->n > 0)) {
            level->a = leaf ? 1 : 0; /* a leaf's guess, see tree_guess */
            below = leaf ? 0 : sum;
            continue;
        }
        own = tree_level_typical(level);
        level->a = !known ? 1 : sum / (sum + own);
        below = !known ? own : own * sum / (sum + own);
        known = true;
    }
}

/* The tree of a scheme of bins, its levels' laws, with n_l = n / levels. */
static void tree_design(struct tree *tree, const hsy_scheme *s, double n)
{
    size_t leaves = 1, first = 0;

    *tree = (struct tree){
        .d = s->d,
        .fanout = s->mech->parts != NULL ? s->param[HSY_PARAM_FANOUT] : s->d,
        .levels = hsy_scheme_parts(s),
        .n = n};
    for (size_t l = tree->levels; l-- > 0; leaves *= tree->fanout)
        tree->level[l].leaves = leaves;
    for (size_t l = 0; l < tree->levels; l++) {
        struct tree_level *level = &tree->level[l];

        level->nodes = (tree->d + level->leaves - 1) / level->leaves;
        level->first = first;
        level->n = n / (double)tree->levels;
        first += level->nodes;
        tree_level_law(level, hsy_scheme_part(s, l));
    }
    tree_weigh(tree);
}

size_t hsy_tree_nodes(const struct tree *tree)
{
    const struct tree_level *leaves = &tree->level[tree->levels - 1];

    return leaves->first + leaves->nodes;
}

/* ---- Least squares ------------------------------------------------------- */

/* The children of node v of level l: from .. to-1 of level l + 1. */
struct tree_range {
    size_t from, to;
};

static struct tree_range tree_children(const struct tree *tree, size_t l,
                                       size_t v)
{
    size_t nodes = tree->level[l + 1].nodes;
    struct tree_range r = {v * tree->fanout, (v + 1) * tree->fanout};

    r.to = r.to < nodes ? r.to : nodes;
    return r;
}

static double tree_sum(const double *f, struct tree_range r)
{
    double sum = 0;

    for (size_t i = r.from; i < r.to; i++)
        sum += f[i];
    return sum;
}

static void tree_up(struct tree *tree, size_t l)
{
    const struct tree_level *level = &tree->level[l];
    double *f = tree->f + level->first;
    const double *below = tree->f + tree->level[l + 1].first;

    for (size_t v = 0; v < level->nodes; v++)
        f[v] = level->a * f[v] +
               (1 - level->a) * tree_sum(below, tree_children(tree, l, v));
}

/* Spread what is missing of the parent's share evenly over its children. */
static void tree_settle(double *f, struct tree_range r, double parent)
{
    double each = (parent - tree_sum(f, r)) / (double)(r.to - r.from);

    for (size_t i = r.from; i < r.to; i++)
        f[i] += each;
}

void hsy_tree_solve(struct tree *tree)
{
    tree_weigh(tree);
    for (size_t l = tree->levels - 1; l-- > 0;)
        tree_up(tree, l);
    tree_settle(tree->f, (struct tree_range){0, tree->level[0].nodes}, 1);
    for (size_t l = 0; l + 1 < tree->levels; l++) {
        const double *f = tree->f + tree->level[l].first;

        for (size_t v = 0; v < tree->level[l].nodes; v++)
            tree_settle(tree->f + tree->level[l + 1].first,
                        tree_children(tree, l, v), f[v]);
    }
}

/* ---- From a tally -------------------------------------------------------- */

static size_t tree_most_nodes(const hsy_scheme *s)
{
    return hsy_scheme_part(s, hsy_scheme_parts(s) - 1)->d;
}

size_t hsy_tree_scratch(const hsy_scheme *s)
{
    size_t nodes = 0, most = 0;

    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        const hsy_scheme *part = hsy_scheme_part(s, i);
        size_t own = hsy_evidence_scratch(part, part->d);

        nodes += part->d;
        most = own > most ? own : most;
    }
    nodes += nodes % 2; /* points stand aligned behind them */
    return nodes * sizeof(double) + tree_most_nodes(s) * sizeof(hsy_evidence) +
           16 + most;
}

/* What each part of scratch is for. */
struct tree_room {
    hsy_evidence *points;
    void *scratch;
};

static struct tree_room tree_divide(const struct tree *tree,
                                    const hsy_scheme *s)
{
    size_t nodes = hsy_tree_nodes(tree);
    size_t bytes = tree_most_nodes(s) * sizeof(hsy_evidence);
    struct tree_room room;

    room.points = (hsy_evidence *)(void *)(tree->f + nodes + nodes % 2);
    room.scratch = (uint8_t *)room.points + (bytes + 15) / 16 * 16;
    return room;
}

/* A level nobody answered: if it is the leaves', all alike, as a guess that
 * tree_level_noise puts a bound on. */
static void tree_guess(const struct tree *tree, size_t l)
{
    const struct tree_level *level = &tree->level[l];

    for (size_t v = 0; v < level->nodes; v++)
        tree->f[level->first + v] = 1 / (double)level->nodes;
}

static void tree_read(struct tree *tree, const hsy_scheme *s,
                      const hsy_tally *t, const struct tree_room *room,
                      size_t l)
{
    struct tree_level *level = &tree->level[l];
    const hsy_scheme *part = hsy_scheme_part(s, l);
    hsy_tally own;
    double floors = 0;

    hsy_tally_part(&own, t, s, l);
    level->n = (double)hsy_tally_reports(&own);
    if (!(level->n > 0)) {
        tree_guess(tree, l);
        return;
    }
    part->mech->estimate->points(part, room->points, &own, NULL, level->nodes,
                                 room->scratch);
    for (size_t v = 0; v < level->nodes; v++) {
        tree->f[level->first + v] = room->points[v].value;
        floors += room->points[v].residual_variance;
    }
    level->floor = floors / (double)level->nodes;
}

void hsy_tree_open(struct tree *tree, const hsy_scheme *s, const hsy_tally *t,
                   void *scratch)
{
    struct tree_room room;

    tree_design(tree, s, (double)hsy_tally_reports(t));
    tree->f = scratch;
    room = tree_divide(tree, s);
    for (size_t l = 0; l < tree->levels; l++)
        tree_read(tree, s, t, &room, l);
    hsy_tree_solve(tree);
}

/* ---- Variances of sums of bins ------------------------------------------- */

/* Sums over the nodes of a level, of weights w and shares f. */
struct tree_sums {
    double w, ww, fw, fww;
    double most; /* largest weight, either sign */
};

static void tree_sums_add(struct tree_sums *sums, double w, double nodes,
                          double share)
{
    double size = w < 0 ? -w : w;

    sums->w += nodes * w;
    sums->ww += nodes * w * w;
    sums->fw += share * w;
    sums->fww += share * w * w;
    sums->most = size > sums->most ? size : sums->most;
}

/*
 * The variance of sum w(v) x(v) over a level's nodes, where x is the mean over
 * n reports of people drawn from the population: that of one report, over n.
 * One report's statistic has mean fw and the mean square
 *     v0 ww + (v1 - v0 + 1) fww                    supports independent,
 * or, exclusive ones, w at the one node supported: P = q + (p - q) f.
 */
static double tree_level_noise(const struct tree_level *level,
                               const struct tree_sums *s)
{
    double gap = level->p - level->q, noise, mean;

    if (!(level->n > 0)) /* no report: off by at most twice the largest */
        return 4 * s->most * s->most;
    if (level->exclusive) {
        mean = level->q * s->w + gap * s->fw;
        noise = (level->q * s->ww + gap * s->fww - mean * mean) / (gap * gap);
    } else {
        noise = level->v0 * s->ww + (level->v1 - level->v0 + 1) * s->fww -
                s->fw * s->fw;
    }
    return (noise > 0 ? noise : 0) / level->n + level->floor * s->ww;
}

/* A walk down the two paths along which a range cuts nodes. */
struct tree_walk {
    const struct tree *tree;
    size_t from, to;             /* the bins */
    double beta[TREE_LEVELS][2]; /* of the nodes that hold the two ends */
    struct tree_sums sums[TREE_LEVELS];
};

/* Bins of node v of level l. */
static struct tree_range tree_bins(const struct tree *tree, size_t l, size_t v)
{
    size_t leaves = tree->level[l].leaves;
    struct tree_range r = {v * leaves, (v + 1) * leaves};

    r.to = r.to < tree->d ? r.to : tree->d;
    return r;
}

/* Of a design without data the bins but one are alike. */
static double tree_design_share(const struct tree *tree, size_t l, size_t v)
{
    const struct tree_range bins = tree_bins(tree, l, v);
    const double other = (1 - tree->share) / (double)(tree->d - 1);
    const bool has = tree->bin >= bins.from && tree->bin < bins.to;

    return (double)(bins.to - bins.from - has) * other +
           (has ? tree->share : 0);
}

static double tree_share(const struct tree *tree, size_t l, size_t v)
{
    return tree->f == NULL ? tree_design_share(tree, l, v)
                           : tree->f[tree->level[l].first + v];
}

/* beta of a node: how much of it the range has, each child counting alike. Only
 * the ends cut nodes. */
static double tree_beta(const struct tree_walk *walk, size_t l, size_t v)
{
    const struct tree_range bins = tree_bins(walk->tree, l, v);

    if (bins.from >= walk->from && bins.to <= walk->to)
        return 1;
    if (bins.to <= walk->from || bins.from >= walk->to)
        return 0;
    return walk->beta[l][bins.from > walk->from];
}

/* beta of the two nodes of each level that hold the ends: the mean over their
 * children, leaves first. */
static void tree_betas(struct tree_walk *walk)
{
    const struct tree *tree = walk->tree;

    for (size_t l = tree->levels - 1; l-- > 0;) {
        const size_t leaves = tree->level[l].leaves;
        const size_t ends[2] = {walk->from / leaves, (walk->to - 1) / leaves};

        for (size_t i = 0; i <= (ends[1] != ends[0]); i++) {
            const struct tree_range r = tree_children(tree, l, ends[i]);
            double sum = 0;

            for (size_t c = r.from; c < r.to; c++)
                sum += tree_beta(walk, l + 1, c);
            walk->beta[l][i] = sum / (double)(r.to - r.from);
        }
    }
}

/* z(v) with this coefficient, v not cut: all nodes of a level below it have
 * the same weight, and their shares add up to f(v). */
static void tree_whole(struct tree_walk *walk, size_t l, size_t v,
                       double coefficient)
{
    const struct tree *tree = walk->tree;
    const struct tree_range bins = tree_bins(tree, l, v);
    const double share = tree_share(tree, l, v);

    for (; l < tree->levels; l++) {
        const struct tree_level *level = &tree->level[l];
        size_t nodes =
            (bins.to - bins.from + level->leaves - 1) / level->leaves;

        tree_sums_add(&walk->sums[l], level->a * coefficient, (double)nodes,
                      share);
        coefficient *= 1 - level->a;
    }
}

static bool tree_cut(const struct tree_walk *walk, struct tree_range bins)
{
    return bins.from < walk->to && bins.to > walk->from &&
           !(bins.from >= walk->from && bins.to <= walk->to);
}

/* The children r of a cut node with this beta and coefficient of z. */
static void tree_descend(struct tree_walk *walk, size_t l, struct tree_range r,
                         double beta, double coefficient)
{
    const struct tree *tree = walk->tree;
    const double a = tree->level[l].a;

    for (size_t v = r.from; v < r.to; v++) {
        double own = tree_beta(walk, l, v), z = coefficient + own - beta;

        if (!tree_cut(walk, tree_bins(tree, l, v))) {
            tree_whole(walk, l, v, z);
            continue;
        }
        tree_sums_add(&walk->sums[l], a * z, 1, tree_share(tree, l, v));
        tree_descend(walk, l + 1, tree_children(tree, l, v), own, (1 - a) * z);
    }
}

double hsy_tree_variance(const struct tree *tree, size_t from, size_t to)
{
    struct tree_walk walk = {.tree = tree, .from = from, .to = to};
    const struct tree_range top = {0, tree->level[0].nodes};
    double beta = 0, variance = 0;

    if (from >= to || (from == 0 && to == tree->d))
        return 0; /* nothing, and everything, are known */
    tree_betas(&walk);
    for (size_t v = 0; v < top.to; v++)
        beta += tree_beta(&walk, 0, v) / (double)top.to;
    tree_descend(&walk, 0, top, beta, 0);
    for (size_t l = 0; l < tree->levels; l++)
        variance += tree_level_noise(&tree->level[l], &walk.sums[l]);
    return variance;
}

/* ---- Points -------------------------------------------------------------- */

hsy_evidence hsy_tree_point(double value, double variance, double n)
{
    double f = value < 0 ? 0 : value > 1 ? 1 : value;
    double people = n * variance - f * (1 - f);

    if (people < 0)
        people = 0;
    return (hsy_evidence){.value = value, .n = n, .v0 = people, .v1 = people};
}

/* A bin by its own level alone: a coin, and nearly all that is known of it. The
 * oracle's points still stand where the leaves were read, last of all. */
static hsy_few tree_few(const struct tree *tree, const hsy_evidence *leaf)
{
    const struct tree_level *level = &tree->level[tree->levels - 1];
    const double weight = 1 / (level->p - level->q);
    hsy_few few = {.n = level->n, .rate = level->q, .weight = {weight}};

    few.base = -weight * level->q;
    if (level->n > 0) {
        few.count[0] = leaf->support;
        few.base = leaf->value - weight * leaf->support / level->n;
        few.bound = leaf->residual_variance;
    }
    return few;
}

/* Of few counts the variance at the estimate is none: where a bin happens to
 * have no support it would be 0. What it is at a share of 0 is the least then.
 * (A level's count of support is normal enough from 16 on.) */
static double tree_least(const hsy_scheme *s, const struct tree *tree)
{
    const struct tree_level *leaves = &tree->level[tree->levels - 1];
    double v[2];

    if (leaves->n * leaves->q * (1 - leaves->q) >= 16)
        return 0;
    hsy_tree_points_variance(s, v);
    return v[0];
}

hsy_evidence hsy_tree_bin(const struct tree *tree, const hsy_scheme *s,
                          size_t bin)
{
    const double least = tree_least(s, tree);
    const double *f = tree->f + tree->level[tree->levels - 1].first;
    hsy_evidence point =
        hsy_tree_point(f[bin], hsy_tree_variance(tree, bin, bin + 1), tree->n);

    point.few = tree_few(tree, &tree_divide(tree, s).points[bin]);
    if (point.v0 < least)
        point.v0 = point.v1 = least;
    return point;
}

void hsy_tree_points(const hsy_scheme *s, hsy_evidence *points,
                     const hsy_tally *t, const uint64_t *codes, size_t count,
                     void *scratch)
{
    struct tree tree;

    hsy_tree_open(&tree, s, t, scratch);
    for (size_t i = 0; i < count; i++)
        points[i] =
            hsy_tree_bin(&tree, s, codes != NULL ? (size_t)codes[i] : i);
}

size_t hsy_tree_points_scratch(const hsy_scheme *s, size_t count)
{
    (void)count;
    return hsy_tree_scratch(s);
}

/* Of a bin in the middle with nobody in it, and with all: what its point would
 * state, the levels equally often answered. */
void hsy_tree_points_variance(const hsy_scheme *s, double v[2])
{
    struct tree tree;

    tree_design(&tree, s, 1);
    tree.bin = tree.d / 2;
    for (int all = 0; all < 2; all++) {
        tree.share = all;
        v[all] = hsy_tree_variance(&tree, tree.bin, tree.bin + 1);
    }
}
