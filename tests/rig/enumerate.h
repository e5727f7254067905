/*
 * enumerate.h - the law of a report through the real code, exactly.
 *
 * A secret coin is a 64-bit word with a few edges. A test says which classes of
 * words there are between two edges, for each word in the order in which
 * randomize draws them; every combination of classes is played through
 * hsy_randomize by its first and its last words, and counted with its exact
 * size. The sums must equal hsy_law as rationals, and the largest ratio
 * hsy_law_worst. That randomize draws other words than those said would show:
 * the tape is as long as the coins are many, and what is left over fails.
 */
#ifndef ENUMERATE_H
#define ENUMERATE_H

#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <gmp.h>

#define ENUMERATE_COINS 12

/* One word: its classes, by their first and last member. */
struct enumerate_coin {
    size_t classes;
    uint64_t *first, *last;
};

/* What randomize draws, in order; and what it publishes, if anything: one draw
 * of `published_bytes` bytes, each number below `published` as likely. */
struct enumerate_coins {
    struct enumerate_coin coin[ENUMERATE_COINS];
    size_t n;
    uint64_t published; /* 0: nothing is published */
    size_t published_bytes;
};

void enumerate_class(struct enumerate_coin *c, uint64_t first, uint64_t last);

/* Append the coin of words up to base.last, with edges at unit * a for each of
 * the n ascending numerators in edges: hsy_prob_word, then prob_event. */
void enumerate_edges(struct enumerate_coins *coins,
                     const struct prob_base *base, const uint64_t *edges,
                     size_t n);

/* Append the words of hsy_prob_below: those that give v are v 2^64 + excess <=
 * word * bound < (v + 1) 2^64. */
void enumerate_below(struct enumerate_coins *coins, uint64_t bound);

void enumerate_coins_clear(struct enumerate_coins *coins);

/* ---- One law ------------------------------------------------------------- */

/* Reports as numbers 0 .. outputs-1: their first bytes, little-endian. */
struct enumerate_law {
    mpz_t *weight; /* [code * outputs + report], over total */
    mpz_t total;
    size_t codes, outputs;
};

void enumerate_report(uint8_t *report, const hsy_scheme *s, uint64_t y);

/* The report, as a number, that these coins give; UINT64_MAX if none, or if
 * coins are left over. */
uint64_t enumerate_play(const hsy_scheme *s, uint64_t code,
                        const uint64_t *words, size_t n, uint64_t seed,
                        size_t seed_bytes);

/* Every combination of classes for one code and one published number. */
bool enumerate_code(const hsy_scheme *s, struct enumerate_law *l, uint64_t code,
                    const struct enumerate_coins *coins, uint64_t seed);

/* ---- Comparison with the stated law -------------------------------------- */

void enumerate_whole(mpz_t out, uint64_t x);

/* num / den *= the factors; a num of 0 stands for 2^64 if whole. */
void enumerate_factors(const hsy_factor *factors, size_t count, bool whole,
                       mpz_t num, mpz_t den);

/* What all coins together weigh, from the coins alone. */
void enumerate_total(struct enumerate_law *l,
                     const struct enumerate_coins *coins);

void enumerate_init(struct enumerate_law *l, const hsy_scheme *s,
                    size_t outputs);

void enumerate_clear(struct enumerate_law *l);

/* Weights and total are there, and agree if every class gave one report. */
void enumerate_compare(const hsy_scheme *s, const char *name,
                       const struct enumerate_law *l, bool agree);

/* A small scheme whose reports are numbers below outputs. */
void enumerate_check(const hsy_scheme *s, const char *name,
                     const struct enumerate_coins *coins, size_t outputs);

#endif
