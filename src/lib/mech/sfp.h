/* sfp.h - the parts of a word that a report of sfp is about. */
#ifndef LIB_MECH_SFP_H
#define LIB_MECH_SFP_H

#include "hearsay.h"

/* Where fragment i of a word begins, in bits; there are as many fragments as
 * HSY_PARAM_BLOCKS says, of HSY_PARAM_STEP bits. */
uint32_t hsy_puzzle_offset(const hsy_scheme *s, size_t i);

/* The puzzle piece and fragment i of a word, from its codes, and the code of
 * such a pair under any of the parts 0 .. HSY_PARAM_BLOCKS - 1. Time does not
 * depend on what they are. */
uint32_t hsy_puzzle_piece(const hsy_scheme *s, const uint64_t *codes);
uint32_t hsy_puzzle_fragment(const hsy_scheme *s, const uint64_t *codes,
                             size_t i);
uint64_t hsy_puzzle_pair(const hsy_scheme *s, uint32_t piece,
                         uint32_t fragment);

#endif
