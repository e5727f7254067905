/*
 * sampled.h - the engine of mechanisms that ask one of several sub-questions.
 *
 * A truth is asked N sub-questions, each a scheme of its own (a part) at the
 * full epsilon. A report answers one of them, drawn uniformly from the
 * published coins, and says which.
 *
 * Privacy. Which part i is asked does not depend on the truth, so
 *     P[(i, y) | x] / P[(i, y) | x'] = P_i[y | x] / P_i[y | x'] <= e^epsilon,
 * because every part keeps that bound.
 *
 * If the last part is `beside`, a report answers it too, with coins of its own,
 * and one of the others is drawn. Of the two answers, to one truth, the ratios
 * multiply: the bound is e^(epsilon_i + epsilon_last), and the mechanism splits
 * epsilon so that it is e^epsilon.
 *
 * Report. With `index` = ceil(log2 N) bits (at least 1) for i:
 *     where index and the longest part together have at most 64 bits, one
 *     number: i in the low bits, the part's report above them;
 *     else whole bytes: i in the first one, then the part's report as it is
 *     in memory, zeros after it up to the longest.
 * The answer that stands beside takes the highest bits or the last bytes.
 *
 * Tally: the parts' cells one after the other, likewise strata and weights. A
 * part's view on them is a tally of the part's scheme.
 *
 * The parts stand behind the scheme, in its tail.
 */
#ifndef LIB_SCHEME_SAMPLED_H
#define LIB_SCHEME_SAMPLED_H

#include "lib/scheme/scheme.h"

#define SAMPLED_PARTS_MAX 256u

struct mech_staged;

/* What a mechanism tells the engine of its parts. parts and part are functions
 * of the spec alone, which need not be sound. */
struct mech_parts {
    /* How many, 1 to SAMPLED_PARTS_MAX. */
    size_t (*parts)(const hsy_spec *spec);

    /* The spec of part i; *sub is zero but for its size. */
    void (*part)(hsy_spec *sub, const hsy_spec *spec, size_t i);

    /* The code under part i of the truth with these codes (as many as
     * hsy_codes_per_truth says), in time that does not tell them. */
    uint64_t (*code)(const hsy_scheme *s, const uint64_t *codes, size_t i);

    /* Reports answer part 0 alone, and the further ones only say what the
     * attributes of a truth are (joint.c): the engine keeps them, no more. */
    bool whole;

    /* Every report answers the last part, beside one of the others. */
    bool beside;

    /* One of several stages, of which a person answers one (below); NULL: it
     * is not. */
    const struct mech_staged *staged;
};

/* For what becomes of a spec that need not be sound: x, or the end of low ..
 * high that it is beyond; a parameter that is given, or what stands for it. */
static inline uint64_t sampled_within(uint64_t x, uint64_t low, uint64_t high)
{
    return x < low ? low : x < high ? x : high;
}

static inline uint64_t sampled_given(uint64_t x, uint64_t otherwise)
{
    return x != 0 ? x : otherwise;
}

/* Of resolve: check the parts, and set s->parts and all sizes. */
hsy_status hsy_sampled_resolve(hsy_scheme *s, const hsy_spec *spec,
                               hsy_error *err);

/* tail_size and settle. */
size_t hsy_sampled_size(const hsy_spec *spec, const struct mech_parts *how);
void hsy_sampled_settle(hsy_scheme *s, const hsy_spec *spec);

/* What a mechanism keeps in the tail after its parts, aligned as they are. */
void *hsy_sampled_rest(const hsy_scheme *s);

/* Choose the kernels of all parts. */
void hsy_sampled_cpu(hsy_scheme *s);

/* The rest of a mechanism's tables, whose `parts` says how. */
hsy_status hsy_sampled_randomize(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins);
hsy_status hsy_sampled_simulate(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                hsy_stream *secret, hsy_stream *published);
size_t hsy_sampled_check(const hsy_scheme *s, const uint8_t *reports, size_t n);
void hsy_sampled_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n);
size_t hsy_sampled_law_factors(const hsy_scheme *s);
size_t hsy_sampled_law_codes(const hsy_scheme *s, hsy_factor *factors,
                             const uint64_t *codes, const uint8_t *report);
extern const struct mech_counting hsy_mech_sampled_counting;
extern const struct mech_law hsy_mech_sampled_law;

/* The same where every report answers the one part there is (whole.c). */
hsy_status hsy_whole_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins);
extern const struct mech_counting hsy_mech_whole_counting;
extern const struct mech_law hsy_mech_whole_law;

/* ---- One question in stages, of other people each ------------------------ */

/*
 * The stages of one search belong together: they differ in what is public (the
 * number of the stage, its candidates) and in nothing else, so that they are
 * one release and one charge (device/release.c). A person is put into one batch
 * by coins that know no truth, and answers the stage of that batch alone.
 */
struct mech_staged {
    /* The digest of all that the stages of one search share. No scheme has it.
     */
    void (*family)(const hsy_scheme *s, uint8_t digest[HSY_DIGEST]);

    /* Which stage this is, from 1 on. */
    uint32_t (*number)(const hsy_scheme *s);

    /* Whether this stage is that of the batch which the coins draw. The draw
     * is a function of the family and the coins alone. */
    hsy_status (*mine)(const hsy_scheme *s, bool *mine, hsy_rng *rng);
};

/* Of the mechanism stage (lib/mech/stage_plan.c). */
extern const struct mech_staged hsy_stages;

/* NULL: not asked in stages. */
static inline const struct mech_staged *
mech_staged(const struct hsy_mechanism *mech)
{
    return mech->parts != NULL ? mech->parts->staged : NULL;
}

#endif
