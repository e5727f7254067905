/*
 * puzzle_join.c - words from fragments of one puzzle piece.
 *
 * Of each piece, one fragment of each offset: their Cartesian product, but for
 * those that do not agree where they overlap, or go on after the word's end.
 * Whether two fragments can be neighbours depends on nothing else, so the ways
 * to finish a word from a fragment on are counted backwards, offset by offset:
 * how many words there are is known before the first is joined, and no way is
 * begun that has no end.
 *
 * A word has the piece that its fragments were joined by if it is right, and by
 * chance once in 2^w if it is not: all others are dropped.
 */
#include "lib/discover/internal.h"

#include <string.h>

/* ---- Spelling ------------------------------------------------------------ */

static uint32_t puzzle_symbol(const struct puzzle_spelling *spelling,
                              uint32_t fragment, uint32_t at)
{
    const uint32_t below = spelling->step - spelling->symbol * (at + 1);

    return fragment >> below & (((uint32_t)1 << spelling->symbol) - 1);
}

bool hsy_puzzle_can(const struct puzzle_spelling *spelling, uint32_t fragment)
{
    bool ended = false;

    for (uint32_t k = 0;
         spelling->size != 0 && k < spelling->step / spelling->symbol; k++) {
        const uint32_t symbol = puzzle_symbol(spelling, fragment, k);

        if (symbol > spelling->size || (ended && symbol != 0))
            return false;
        ended = symbol == 0;
    }
    return true;
}

void hsy_puzzle_spelling(struct puzzle_spelling *out, const hsy_scheme *s)
{
    hsy_scheme_info info;
    uint64_t words = 1;

    hsy_scheme_describe(s, &info);
    *out = (struct puzzle_spelling){
        .symbol = hsy_symbol_bits(s),
        .piece = (uint32_t)info.param[HSY_PARAM_PIECE_BITS],
        .step = (uint32_t)info.param[HSY_PARAM_FRAGMENT_BITS],
        .bits = (uint32_t)info.param[HSY_PARAM_BITS],
        .offsets = (size_t)info.param[HSY_PARAM_FRAGMENTS],
        .fragments = 1};
    for (unsigned b = 0; b < 256; b++)
        out->size += info.alphabet[b / 8] >> b % 8 & 1;
    for (uint32_t k = 0; k < out->step / out->symbol; k++)
        out->fragments += words *= out->size;
    if (out->size == 0)
        out->fragments = (uint64_t)1 << out->step;
}

/* ---- Neighbours ---------------------------------------------------------- */

struct puzzle_join {
    const hsy_scheme *s;
    struct puzzle_spelling spelling;
    const struct puzzle_pair *pairs;
    const size_t *first;
    uint64_t *ways;
    uint32_t offset[HSY_STAGES_MAX];
    size_t from[HSY_STAGES_MAX], to[HSY_STAGES_MAX]; /* of the piece */
    size_t width;
};

/* Whether `next`, of offset i, can follow `last`, of the offset before. */
static bool puzzle_follows(const struct puzzle_join *j, size_t i, uint32_t last,
                           uint32_t next)
{
    const uint32_t step = j->spelling.step;
    const uint32_t over = j->offset[i - 1] + step - j->offset[i];
    const uint32_t end = (uint32_t)1 << j->spelling.symbol;

    if (over > 0 &&
        (last & (((uint64_t)1 << over) - 1)) != next >> (step - over))
        return false;
    return j->spelling.size == 0 || last % end != 0 ||
           next % ((uint64_t)1 << (step - over)) == 0;
}

static uint64_t puzzle_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The ways to finish a word of the piece from each of its pairs on; all of
 * them together. */
static uint64_t puzzle_count(struct puzzle_join *j)
{
    const size_t last = j->spelling.offsets - 1;
    uint64_t all = 0;

    for (size_t i = last + 1; i-- > 0;)
        for (size_t k = j->from[i]; k < j->to[i]; k++) {
            uint64_t ways = i == last;

            for (size_t n = i < last ? j->from[i + 1] : 0;
                 i < last && n < j->to[i + 1]; n++)
                if (puzzle_follows(j, i + 1, j->pairs[k].fragment,
                                   j->pairs[n].fragment))
                    ways = puzzle_sum(ways, j->ways[n]);
            j->ways[k] = ways;
        }
    for (size_t k = j->from[0]; k < j->to[0]; k++)
        all = puzzle_sum(all, j->ways[k]);
    return all;
}

/* Let from and to lead to the next piece that all offsets have; false if there
 * is none. */
static bool puzzle_next(struct puzzle_join *j)
{
    const size_t offsets = j->spelling.offsets;
    size_t alike = 0;
    uint32_t piece = 0;

    for (size_t i = 0; i < offsets; i++)
        j->from[i] = j->to[i];
    for (size_t i = 0; alike < offsets; i = (i + 1) % offsets) {
        while (j->from[i] < j->first[i + 1] &&
               j->pairs[j->from[i]].piece < piece)
            j->from[i]++;
        if (j->from[i] == j->first[i + 1])
            return false;
        alike = j->pairs[j->from[i]].piece == piece ? alike + 1 : 1;
        piece = j->pairs[j->from[i]].piece;
    }
    for (size_t i = 0; i < offsets; i++)
        for (j->to[i] = j->from[i];
             j->to[i] < j->first[i + 1] && j->pairs[j->to[i]].piece == piece;)
            j->to[i]++;
    return true;
}

static void puzzle_start(struct puzzle_join *j)
{
    for (size_t i = 0; i < j->spelling.offsets; i++)
        j->to[i] = j->first[i];
}

/* ---- Words --------------------------------------------------------------- */

/* Put a fragment into a word: bit b of M stands in word b / 64, the first one
 * highest, and the last word holds what is left. */
static void puzzle_put(const struct puzzle_join *j, uint64_t *codes, size_t i,
                       uint32_t fragment)
{
    const uint32_t step = j->spelling.step, bits = j->spelling.bits;

    for (uint32_t k = 0; k < step; k++) {
        const uint32_t at = j->offset[i] + k, word = at / 64;
        const uint32_t end = bits - 64 * word < 64 ? bits - 64 * word : 64;
        const uint64_t bit = (uint64_t)1 << (end - 1 - at % 64);

        codes[word] = fragment >> (step - 1 - k) & 1 ? codes[word] | bit
                                                     : codes[word] & ~bit;
    }
}

/* All words of the piece, behind *count others, that have it. */
static void puzzle_words_of(const struct puzzle_join *j, uint64_t *codes,
                            size_t *count)
{
    const size_t last = j->spelling.offsets - 1;
    const uint32_t piece = j->pairs[j->from[0]].piece;
    uint64_t word[HSY_SPELL_WORDS] = {0};
    size_t at[HSY_STAGES_MAX], i = 0;

    at[0] = j->from[0];
    for (;;) {
        if (at[i] == j->to[i]) { /* every way from here on is taken */
            if (i == 0)
                return;
            at[--i]++;
        } else if (j->ways[at[i]] == 0 ||
                   (i > 0 && !puzzle_follows(j, i, j->pairs[at[i - 1]].fragment,
                                             j->pairs[at[i]].fragment))) {
            at[i]++;
        } else {
            puzzle_put(j, word, i, j->pairs[at[i]].fragment);
            if (i < last) {
                i++;
                at[i] = j->from[i];
                continue;
            }
            if (hsy_puzzle_piece(j->s, word) == piece)
                memcpy(codes + (*count)++ * j->width, word,
                       j->width * sizeof *word);
            at[i]++;
        }
    }
}

hsy_status hsy_puzzle_join(const hsy_scheme *s, uint64_t *codes, size_t *count,
                           hsy_puzzle_trace *trace,
                           const struct puzzle_pair *pairs, const size_t *first,
                           uint64_t most, uint64_t *ways, hsy_error *err)
{
    struct puzzle_join j = {.s = s,
                            .pairs = pairs,
                            .first = first,
                            .ways = ways,
                            .width = hsy_codes_per_truth(s)};
    uint64_t all = 0;
    size_t held = 0;

    hsy_puzzle_spelling(&j.spelling, s);
    for (size_t i = 0; i < j.spelling.offsets; i++)
        j.offset[i] = hsy_puzzle_offset(s, i);
    for (puzzle_start(&j); puzzle_next(&j);)
        all = puzzle_sum(all, puzzle_count(&j));
    if (all > most)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                              "more words could be joined than are allowed",
                              all);
    for (puzzle_start(&j); puzzle_next(&j);)
        puzzle_words_of(&j, codes, &held);
    *count = held;
    if (trace != NULL)
        *trace = (hsy_puzzle_trace){.pairs = first[j.spelling.offsets],
                                    .joined = all,
                                    .candidates = held};
    return HSY_OK;
}
