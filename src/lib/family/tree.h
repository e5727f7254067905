/*
 * tree.h - consistent estimates of a tree of bins, and of sums of bins.
 *
 * Level l = 0 .. levels-1, from below the root to the leaves, estimates its
 * nodes x(v) without bias, from n_l reports, with variance v_l. The whole, the
 * root, is 1. The weighted least squares with f(parent) = sum of f(children)
 * are [Hay10; theory 7.1]
 *
 *     up    z(v) = a_l x(v) + (1 - a_l) sum of z(children), a = 1 at leaves,
 *     down  f(v) = z(v) + (f(parent) - sum of z over v and siblings) / siblings
 *
 * with a_l = c / (c + v_l), c = B zv_(l+1), zv_l = v_l c / (v_l + c), zv = v at
 * the leaves. Where d is no power of B the last nodes have fewer children; they
 * keep their level's a_l, and f stays consistent and unbiased.
 *
 * A sum of bins R = [from, to) is linear in x, and so is its variance in that
 * of the levels. Give each node beta: 1 inside R, 0 outside, else the mean over
 * its children. Then (docs/mechanisms/hh.md, Thm 2)
 *
 *     sum of f over R = beta(root) + sum over nodes c whose parent R cuts of
 *                       (beta(c) - beta(parent)) z(c).
 *
 * A frequency oracle without levels is a tree of one level.
 */
#ifndef LIB_FAMILY_TREE_H
#define LIB_FAMILY_TREE_H

#include "lib/scheme/scheme.h"

#define TREE_LEVELS 22 /* 2^22 bins by twos */

/* A level's law: what n_l, and sums over its nodes, make of a variance. */
struct tree_level {
    double n;      /* reports */
    double v0, v1; /* of its oracle, n times */
    double floor;
    double p, q;    /* of its oracle */
    bool exclusive; /* a report supports one node, always */
    double a;       /* a_l; 0 where there are no reports */
    size_t nodes;
    size_t first;  /* its first node in f */
    size_t leaves; /* below a node */
};

struct tree {
    size_t d, fanout, levels;
    double n;     /* all reports */
    double *f;    /* all nodes, leaves last; NULL: a design without data, */
    size_t bin;   /* in which this bin has */
    double share; /* this share, and the others are alike */
    struct tree_level level[TREE_LEVELS];
};

/* Nodes of all levels: how many doubles f takes. */
size_t hsy_tree_nodes(const struct tree *tree);

/* Consistent estimates from level estimates in f, by the levels' n. */
void hsy_tree_solve(struct tree *tree);

/* Estimate everything from a tally with reports. scratch: as many bytes as
 * hsy_tree_scratch says; f stands at its beginning. */
size_t hsy_tree_scratch(const hsy_scheme *s);
void hsy_tree_open(struct tree *tree, const hsy_scheme *s, const hsy_tally *t,
                   void *scratch);

/* The variance of the sum of bins from .. to-1 against the population that the
 * people who answered are a sample of. Against these people it is less by
 * F (1 - F) / n, F their share in these bins. */
double hsy_tree_variance(const struct tree *tree, size_t from, size_t to);

/* One bin, while the room of hsy_tree_open is as it left it. */
hsy_evidence hsy_tree_bin(const struct tree *tree, const hsy_scheme *s,
                          size_t bin);

/* points, points_scratch and variance of a row. */
void hsy_tree_points(const hsy_scheme *s, hsy_evidence *points,
                     const hsy_tally *t, const uint64_t *codes, size_t count,
                     void *scratch);
size_t hsy_tree_points_scratch(const hsy_scheme *s, size_t count);
void hsy_tree_points_variance(const hsy_scheme *s, double v[2]);

/* A bin's point from its value and its variance against the population. */
hsy_evidence hsy_tree_point(double value, double variance, double n);

#endif
