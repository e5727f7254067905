/* discover.h - frequent strings that nobody listed. */
#ifndef HEARSAY_DISCOVER_H
#define HEARSAY_DISCOVER_H

#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Discovery: frequent strings that nobody listed: docs/discovery.md --- */

#define HSY_STAGES_MAX 64u
#define HSY_SEARCH_CANDIDATES ((uint64_t)1 << 18)     /* of a stage, default */
#define HSY_SEARCH_CANDIDATES_MAX ((uint64_t)1 << 24) /* at most */
#define HSY_SEARCH_TOP_MAX 65536u
#define HSY_SEARCH_KEEP_MAX 16u

/* What is wanted of a tally of pem. Zero it and set size; 0 leaves the choice.
 */
typedef struct hsy_search {
    size_t size;             /* sizeof(hsy_search) */
    uint64_t top;            /* so many strings at most; 0: 16 */
    uint64_t keep;           /* so many times top prefixes go from an inner
                                stage to the next; 0: 2 */
    bool significant;        /* only what chance hardly makes, at each stage */
    double alpha;            /* how hardly: the chance that a stage takes any
                                prefix that nobody has; 0: 0.05 */
    uint64_t max_candidates; /* of a stage; 0: HSY_SEARCH_CANDIDATES */
} hsy_search;

/* One stage of a search. */
typedef struct hsy_stage {
    size_t group;        /* whose reports it reads, from 0: its number */
    const char *oracle;  /* mechanism of the group */
    uint32_t bits;       /* of a prefix */
    uint32_t step;       /* of them new; of the first stage all */
    uint64_t candidates; /* at most */
    uint64_t keep;       /* that go on, or that are found, at most */
    double v0;           /* group's n times the variance of a share of 0 */
    double z;            /* a share is significant from so many standard errors
                            on: the quantile at alpha / candidates */
    size_t width;        /* words of a code: hsy_codes_per_truth */
    bool significant;    /* only what is significant goes on */
    double alpha;        /* as in hsy_search */
} hsy_stage;

/* The stages of a search and how many, before anything is collected. Refuses
 * what cannot be searched: HSY_E_RANGE with the field of how (and in err->limit
 * the candidates of the stage that has too many), HSY_E_UNKNOWN for another
 * mechanism. */
HSY_API hsy_status hsy_search_plan(const hsy_scheme *s,
                                   hsy_stage stages[HSY_STAGES_MAX],
                                   size_t *count, const hsy_search *how,
                                   hsy_error *err);

/* Reports that the group of a stage needs so that a prefix of this share is
 * significant but for a chance of `miss`; and the share that this many reports
 * are enough for [WLJ19; MECHANISMS 5.1]. 0 < share, miss < 1. */
HSY_API double hsy_stage_users(const hsy_stage *stage, double share,
                               double miss);
HSY_API double hsy_stage_share(const hsy_stage *stage, double reports,
                               double miss);

/* A prefix that survived, or a string that was found. */
typedef struct hsy_candidate {
    uint64_t code[HSY_SPELL_WORDS]; /* of a prefix, zeros after it */
    hsy_evidence point;             /* from the group of its stage alone */
    bool significant;
    uint64_t of;   /* candidates of the stage that it was chosen from */
    double passed; /* what its share had to be above, -INFINITY: nothing */
} hsy_candidate;

/* What has survived. */
typedef struct hsy_found {
    hsy_candidate *list; /* room for the largest `keep` of all stages */
    size_t count;
} hsy_found;

/* Scratch of any stage, in bytes. */
HSY_API size_t hsy_search_scratch(const hsy_scheme *s, const hsy_stage *stages,
                                  size_t count);

/*
 * The next stage of a search, in the order of the plan: extend the prefixes in
 * found, which survived the stage before (of the first one all there are), and
 * replace them by those that survive this one, largest share first; of the last
 * stage they are the strings. HSY_E_EMPTY if the stage's group has no reports.
 */
HSY_API hsy_status hsy_search_stage(const hsy_scheme *s, hsy_found *found,
                                    const hsy_tally *t, const hsy_stage *stage,
                                    void *scratch, hsy_error *err);

/* The same in two halves, for who has points of his own: all extensions of the
 * prefixes that a string can have, into codes, which has room for those of the
 * stage's candidates; how many. Then the best of n and their points into found,
 * which has room for stage->keep; how many. */
HSY_API size_t hsy_search_extend(const hsy_scheme *s, uint64_t *codes,
                                 const hsy_stage *stage,
                                 const hsy_found *found);
HSY_API size_t hsy_search_select(const hsy_stage *stage, hsy_candidate *found,
                                 const uint64_t *codes,
                                 const hsy_evidence *points, size_t n);

/*
 * In batches (docs/discovery.md): every stage is a scheme of its own, of the
 * mechanism `stage`, with a tally of its own. Its labels are the prefixes that
 * survived the stage before, its candidates those with all continuations.
 */

/* Which stage of how many a scheme is, from 1 on; 0: of no search in batches.
 */
HSY_API uint32_t hsy_stage_number(const hsy_scheme *s);
HSY_API uint32_t hsy_stage_count(const hsy_scheme *s);

/* How many parts of the people are in batch i, from 1 to hsy_stage_count; of 0:
 * all parts. */
HSY_API uint64_t hsy_stage_weight(const hsy_scheme *s, uint32_t i);

/* The prefixes a stage begins with, as codes of strings with zeros after them,
 * hsy_codes_per_truth each; at the first one nothing alone. How many; codes may
 * be NULL. */
HSY_API size_t hsy_stage_prefixes(const hsy_scheme *s, uint64_t *codes);

/* The stage that a scheme is; how->keep as far as there is room at the next
 * (HSY_PARAM_MAX_CANDIDATES). Errors as of hsy_search_plan, but
 * how->max_candidates does not matter: a stage was made with its candidates. */
HSY_API hsy_status hsy_stage_plan(const hsy_scheme *s, hsy_stage *stage,
                                  const hsy_search *how, hsy_error *err);

/* What survives a stage, or of the last one is found, from its own tally:
 * found has room for stage->keep. HSY_E_EMPTY if it holds no reports. */
HSY_API size_t hsy_stage_scratch(const hsy_scheme *s, const hsy_stage *stage);
HSY_API hsy_status hsy_stage_survivors(const hsy_scheme *s, hsy_found *found,
                                       const hsy_tally *t,
                                       const hsy_stage *stage, void *scratch,
                                       hsy_error *err);

/* A prefix that survived a stage as the label that the next one has for it:
 * hexadecimal digits, and a zero. The next stage has them in ascending order.
 * Returns the length. */
#define HSY_STAGE_LABEL (HSY_SPELL_BITS / 4 + 1)
HSY_API size_t hsy_stage_label(const hsy_scheme *s, char label[HSY_STAGE_LABEL],
                               const uint64_t *codes);

/* The string that codes spell, and its length. */
HSY_API size_t hsy_code_string(const hsy_scheme *s,
                               uint8_t string[HSY_SPELL_BITS],
                               const uint64_t *codes);

/* Bits of one of its symbols, and bit `at` of a string, the first one being 0.
 */
HSY_API uint32_t hsy_symbol_bits(const hsy_scheme *s);
HSY_API unsigned hsy_code_bit(const hsy_scheme *s, const uint64_t *codes,
                              uint32_t at);

/* A set of bytes from text and as text: each byte stands for itself, a-z for
 * all from a to z, \xHH for any byte, \- and \\ for these. HSY_E_FORMAT, with
 * the place in err->at. As text it is unique, and ends in a zero; it returns
 * the length. */
#define HSY_ALPHABET_TEXT 1025u
HSY_API hsy_status hsy_alphabet_parse(uint8_t alphabet[HSY_ALPHABET],
                                      const char *text, size_t len,
                                      hsy_error *err);
HSY_API size_t hsy_alphabet_text(char text[HSY_ALPHABET_TEXT],
                                 const uint8_t alphabet[HSY_ALPHABET]);

/* ---- Discovery by puzzle: a tally of sfp: docs/mechanisms/sfp.md --------- */

#define HSY_PUZZLE_PAIRS_MAX 16384u /* of an offset that go on */

/* What is wanted of a tally of sfp. Zero it and set size; 0 leaves the choice.
 */
typedef struct hsy_puzzle {
    size_t size;             /* sizeof(hsy_puzzle) */
    uint64_t top;            /* so many words at most; 0: all */
    uint64_t threshold;      /* so many pairs of an offset go on at most; 0: as
                                many as are significant, or with `all` 20 */
    bool all;                /* chance or not, of pairs and words; else only
                                what chance hardly makes */
    double alpha;            /* how hardly: the chance that an offset takes any
                                pair, or the end any word, that nobody has; 0:
                                0.05 */
    uint64_t max_candidates; /* pairs of an offset, words that are joined; 0:
                                HSY_SEARCH_CANDIDATES */
} hsy_puzzle;

/* The search before anything is collected, as stages: every one of `fragments`
 * offsets, which a report is about with the same chance, and the words, which
 * every report is about. */
typedef struct hsy_puzzle_plan {
    size_t fragments;
    hsy_stage offset; /* candidates: 2^w pieces, each with all fragments that
                         a word can have */
    hsy_stage word;   /* candidates: at most */
} hsy_puzzle_plan;

/* HSY_E_RANGE with the field of how (in err->limit the pairs, if there are too
 * many), HSY_E_UNKNOWN for another mechanism. */
HSY_API hsy_status hsy_puzzle_plan_make(const hsy_scheme *s,
                                        hsy_puzzle_plan *plan,
                                        const hsy_puzzle *how, hsy_error *err);

/* What a search looked at. */
typedef struct hsy_puzzle_trace {
    uint64_t pairs;      /* that went on, of all offsets */
    uint64_t joined;     /* words that they make */
    uint64_t candidates; /* of them those that have the piece they were joined
                            by */
} hsy_puzzle_trace;

/* Bytes of memory for a search; aligned as malloc aligns. */
HSY_API size_t hsy_puzzle_memory(const hsy_scheme *s,
                                 const hsy_puzzle_plan *plan);

/*
 * The frequent words in a tally, largest share first, with their evidence from
 * the sketch of words; found has room for plan->word.keep. HSY_E_EMPTY if an
 * offset has no reports; HSY_E_RANGE, field "max-candidates" and how many in
 * err->limit, if more words could be joined than are allowed; HSY_E_FORMAT if
 * the tally has not as many fragments as words.
 */
HSY_API hsy_status hsy_puzzle_search(const hsy_scheme *s, hsy_found *found,
                                     hsy_puzzle_trace *trace,
                                     const hsy_tally *t,
                                     const hsy_puzzle_plan *plan, void *memory,
                                     hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
