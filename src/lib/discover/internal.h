/* internal.h - what searches share: how they fail, and what is wanted of them
 * where nothing is said. */
#ifndef LIB_DISCOVER_INTERNAL_H
#define LIB_DISCOVER_INTERNAL_H

#include "lib/core/fail.h"
#include "lib/mech/sfp.h"

#define SEARCH_TOP 16u
#define SEARCH_KEEP 2u
#define SEARCH_ALPHA 0.05

/* Refuse what no search takes. */
hsy_status hsy_search_check(double alpha, uint64_t max_candidates,
                            hsy_error *err);

/* how with its choices made. */
hsy_status hsy_search_settle(hsy_search *out, const hsy_search *how,
                             hsy_error *err);

/* ---- Words of a puzzle ----------------------------------------------------
 */

/* Words are spelled symbol by symbol; of an alphabet 0 ends them, and nothing
 * but 0 follows. Any bytes have no end of their own. */
struct puzzle_spelling {
    uint32_t symbol;    /* bits of one */
    uint32_t size;      /* of the alphabet; 0: any bytes */
    uint32_t piece;     /* bits of a puzzle piece */
    uint32_t step;      /* bits of a fragment */
    uint32_t bits;      /* of a word */
    size_t offsets;     /* fragments of a word */
    uint64_t fragments; /* that a word can have at an offset */
};

void hsy_puzzle_spelling(struct puzzle_spelling *out, const hsy_scheme *s);

/* Whether a word can have this fragment. */
bool hsy_puzzle_can(const struct puzzle_spelling *spelling, uint32_t fragment);

/* A frequent pair of an offset. */
struct puzzle_pair {
    uint32_t piece, fragment;
};

/*
 * The middle of a search: all words that can be joined from pairs of one piece,
 * one of each offset, that agree where they overlap and of which nothing
 * follows the end of the word; those whose own piece is that one. The pairs of
 * offset i are pairs[first[i]] up to pairs[first[i+1]], ordered by piece and
 * then fragment. ways has room for a number for each pair, codes for `most`
 * words. trace may be NULL.
 */
hsy_status hsy_puzzle_join(const hsy_scheme *s, uint64_t *codes, size_t *count,
                           hsy_puzzle_trace *trace,
                           const struct puzzle_pair *pairs, const size_t *first,
                           uint64_t most, uint64_t *ways, hsy_error *err);

#endif
