/* discover.h - heavy hitters: frequent strings that nobody listed. */
#ifndef HEARSAY_DISCOVER_H
#define HEARSAY_DISCOVER_H

#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Discovery: heavy hitters: docs/discovery.md ------------------------ */

#define HSY_STAGES_MAX 64u
#define HSY_SEARCH_CANDIDATES ((uint64_t)1 << 18)     /* default per stage */
#define HSY_SEARCH_CANDIDATES_MAX ((uint64_t)1 << 24) /* most per stage */
#define HSY_SEARCH_TOP_MAX 65536u
#define HSY_SEARCH_KEEP_MAX 16u

/* Options of a search in a tally of pem. Zero the struct and set size; 0 means
 * the default. */
typedef struct hsy_search {
    size_t size;             /* sizeof(hsy_search) */
    uint64_t top;            /* most strings to find; 0: 16 */
    uint64_t keep;           /* prefixes that pass a stage before the last, in
                                multiples of top, and besides all that stand
                                out; 0: 2 */
    bool significant;        /* keep only significant prefixes, at each stage */
    double alpha;            /* family-wise error rate of a stage: probability
                                of any prefix that nobody has; 0: 0.05 */
    uint64_t max_candidates; /* most candidates of a stage; 0:
                                HSY_SEARCH_CANDIDATES */
} hsy_search;

/* One stage of a search. */
typedef struct hsy_stage {
    size_t group;        /* number of the group it reads, from 0 */
    const char *oracle;  /* mechanism of the group */
    uint32_t bits;       /* bits of a prefix */
    uint32_t step;       /* new bits; all bits in the first stage */
    uint64_t candidates; /* most candidates, if no more than `keep` prefixes
                            pass the stage before */
    uint64_t keep;       /* prefixes that pass because they are the largest, or
                            most strings that are found */
    uint64_t most;       /* most prefixes that pass, with those that stand out;
                            0: keep */
    uint64_t room;       /* most candidates, if `most` prefixes pass the stage
                            before; 0: candidates */
    double v0, v1;       /* n times the variance at share 0 and at share 1, with
                            n reports in the group; v1 0: as at share 0 */
    double q;         /* chance that another's report supports a candidate; 0:
                         counts are taken for normal */
    double z;         /* threshold in standard errors: normal quantile of 1 -
                         alpha / candidates */
    size_t width;     /* 64-bit words of a code: hsy_codes_per_truth */
    bool significant; /* only significant prefixes pass */
    double alpha;     /* as in hsy_search */
} hsy_stage;

/* Plan the stages of a search before collecting. Returns HSY_E_RANGE with the
 * field of how (and in err->limit the candidates of a stage that has too many),
 * HSY_E_UNKNOWN for another mechanism. */
HSY_API hsy_status hsy_search_plan(const hsy_scheme *s,
                                   hsy_stage stages[HSY_STAGES_MAX],
                                   size_t *count, const hsy_search *how,
                                   hsy_error *err);

/* hsy_stage_users returns the reports that the group of a stage needs to find a
 * prefix of this share, except with probability `miss`. hsy_stage_share returns
 * the smallest share that `reports` reports suffice for [WLJ19; docs/theory.md,
 * 5.1]. Both allow for the skew of counts and for the variance that the
 * string's own people add, and count stage->candidates: where more than `keep`
 * prefixes stand out there are more, and the threshold is higher. 0 < share,
 * miss < 1. */
HSY_API double hsy_stage_users(const hsy_stage *stage, double share,
                               double miss);
HSY_API double hsy_stage_share(const hsy_stage *stage, double reports,
                               double miss);

/* A prefix that passed a stage, or a string that was found. */
typedef struct hsy_candidate {
    uint64_t code[HSY_SPELL_WORDS]; /* code of the prefix, then zeros */
    hsy_evidence point;             /* from the group of its stage only */
    bool significant;
    uint64_t of;   /* number of candidates in its stage */
    double passed; /* threshold that its share exceeded; -INFINITY: none */
} hsy_candidate;

/* Prefixes that passed a stage, or strings that were found. */
typedef struct hsy_found {
    hsy_candidate *list; /* room for the largest `most` of all stages */
    size_t count;
} hsy_found;

/* Returns the size of the scratch memory that any stage needs, in bytes. */
HSY_API size_t hsy_search_scratch(const hsy_scheme *s, const hsy_stage *stages,
                                  size_t count);

/* Run the next stage of a search, in the order of the plan. It extends the
 * prefixes in found (in the first stage: all prefixes) and replaces them by
 * those that pass, largest share first. After the last stage they are the
 * strings. Returns HSY_E_EMPTY if the stage's group has no reports. */
HSY_API hsy_status hsy_search_stage(const hsy_scheme *s, hsy_found *found,
                                    const hsy_tally *t, const hsy_stage *stage,
                                    void *scratch, hsy_error *err);

/* hsy_search_stage split in two, for callers that supply their own evidence.
 * hsy_search_extend writes all valid extensions of the prefixes to codes, which
 * must have room for the stage's candidates (stage->room); returns their
 * number. hsy_search_select writes the best of n to found, which must have room
 * for stage->most; returns their number. */
HSY_API size_t hsy_search_extend(const hsy_scheme *s, uint64_t *codes,
                                 const hsy_stage *stage,
                                 const hsy_found *found);
HSY_API size_t hsy_search_select(const hsy_stage *stage, hsy_candidate *found,
                                 const uint64_t *codes,
                                 const hsy_evidence *points, size_t n);

/* Searches in batches (docs/batches.md): every stage is a scheme of its own, of
 * the mechanism `stage`, with its own tally. Its labels are the prefixes that
 * passed the stage before; its candidates are all their extensions. */

/* hsy_stage_number returns the scheme's stage, from 1; hsy_stage_count the
 * number of stages. Both return 0 if the scheme is not a stage. */
HSY_API uint32_t hsy_stage_number(const hsy_scheme *s);
HSY_API uint32_t hsy_stage_count(const hsy_scheme *s);

/* Returns the weight of batch i, 1 to hsy_stage_count: its relative number of
 * people. i = 0: the sum of all weights. */
HSY_API uint64_t hsy_stage_weight(const hsy_scheme *s, uint32_t i);

/* Write the prefixes that a stage begins with, as codes with zeros after them,
 * hsy_codes_per_truth each. The first stage has one: the empty prefix. Returns
 * their number; codes may be NULL. */
HSY_API size_t hsy_stage_prefixes(const hsy_scheme *s, uint64_t *codes);

/* Plan the stage of a scheme of the mechanism `stage`. how->keep is limited by
 * the size of the next stage (HSY_PARAM_MAX_CANDIDATES). how->max_candidates is
 * not used. Errors as for hsy_search_plan. */
HSY_API hsy_status hsy_stage_plan(const hsy_scheme *s, hsy_stage *stage,
                                  const hsy_search *how, hsy_error *err);

/* Find the prefixes that pass a stage, or in the last stage the strings, from
 * its tally. found must have room for stage->keep. Returns HSY_E_EMPTY without
 * reports. */
HSY_API size_t hsy_stage_scratch(const hsy_scheme *s, const hsy_stage *stage);
HSY_API hsy_status hsy_stage_survivors(const hsy_scheme *s, hsy_found *found,
                                       const hsy_tally *t,
                                       const hsy_stage *stage, void *scratch,
                                       hsy_error *err);

/* Write a prefix as the label that the next stage uses: hexadecimal digits,
 * NUL-terminated. The next stage must have its labels in ascending order.
 * Returns the length. */
#define HSY_STAGE_LABEL (HSY_SPELL_BITS / 4 + 1)
HSY_API size_t hsy_stage_label(const hsy_scheme *s, char label[HSY_STAGE_LABEL],
                               const uint64_t *codes);

/* Write the string that codes spell. Returns its length. */
HSY_API size_t hsy_code_string(const hsy_scheme *s,
                               uint8_t string[HSY_SPELL_BITS],
                               const uint64_t *codes);

/* hsy_symbol_bits returns the bits per symbol; hsy_code_bit returns bit `at`
 * (from 0) of a string. */
HSY_API uint32_t hsy_symbol_bits(const hsy_scheme *s);
HSY_API unsigned hsy_code_bit(const hsy_scheme *s, const uint64_t *codes,
                              uint32_t at);

/* Parse and write an alphabet, a set of bytes: a-z is a range, \xHH the byte
 * HH, \- and \\ are literal - and \, any other byte is itself. Returns
 * HSY_E_FORMAT with the position in err->at. The text is unique and
 * NUL-terminated; hsy_alphabet_text returns its length. */
#define HSY_ALPHABET_TEXT 1025u
HSY_API hsy_status hsy_alphabet_parse(uint8_t alphabet[HSY_ALPHABET],
                                      const char *text, size_t len,
                                      hsy_error *err);
HSY_API size_t hsy_alphabet_text(char text[HSY_ALPHABET_TEXT],
                                 const uint8_t alphabet[HSY_ALPHABET]);

/* ---- Discovery by puzzle: a tally of sfp: docs/mechanisms/sfp.md --------- */

#define HSY_PUZZLE_PAIRS_MAX 16384u /* most pairs kept per offset */

/* Options of a search in a tally of sfp. Zero the struct and set size; 0 means
 * the default. */
typedef struct hsy_puzzle {
    size_t size;             /* sizeof(hsy_puzzle) */
    uint64_t top;            /* most words; 0: all */
    uint64_t threshold;      /* most pairs kept per offset (a count); 0: all
                                significant ones, or 20 with `all` */
    bool all;                /* keep pairs and words even if not significant */
    double alpha;            /* family-wise error rate per offset, and of the
                                words; 0: 0.05 */
    uint64_t max_candidates; /* most pairs per offset, and most joined words; 0:
                                HSY_SEARCH_CANDIDATES */
} hsy_puzzle;

/* Plan of a puzzle search, as stages: each report holds the word, and one of
 * `fragments` offsets drawn uniformly. */
typedef struct hsy_puzzle_plan {
    size_t fragments;
    hsy_stage offset; /* candidates: 2^w pieces, each with all fragments that a
                         word can have */
    hsy_stage word;   /* candidates: an upper bound */
} hsy_puzzle_plan;

/* Plan a puzzle search. Returns HSY_E_RANGE with the field of how (in
 * err->limit the pairs, if there are too many), HSY_E_UNKNOWN for another
 * mechanism. */
HSY_API hsy_status hsy_puzzle_plan_make(const hsy_scheme *s,
                                        hsy_puzzle_plan *plan,
                                        const hsy_puzzle *how, hsy_error *err);

/* Counts of a puzzle search. */
typedef struct hsy_puzzle_trace {
    uint64_t pairs;      /* pairs that passed, over all offsets */
    uint64_t joined;     /* words joined from them */
    uint64_t candidates; /* joined words whose hash equals the puzzle piece of
                            their fragments */
} hsy_puzzle_trace;

/* Returns the bytes of memory for a search; align as malloc does. */
HSY_API size_t hsy_puzzle_memory(const hsy_scheme *s,
                                 const hsy_puzzle_plan *plan);

/* Find the frequent words in a tally, largest share first, with their evidence
 * from the sketch of words. found must have room for plan->word.keep. Returns
 * HSY_E_EMPTY if an offset has no reports, and HSY_E_FORMAT if the numbers of
 * fragments and words in the tally differ. Returns HSY_E_RANGE, field
 * "max-candidates", if more words could be joined than allowed; err->limit is
 * their number. */
HSY_API hsy_status hsy_puzzle_search(const hsy_scheme *s, hsy_found *found,
                                     hsy_puzzle_trace *trace,
                                     const hsy_tally *t,
                                     const hsy_puzzle_plan *plan, void *memory,
                                     hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
