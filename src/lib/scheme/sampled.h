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

#include "lib/scheme/report.h"
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

/* ---- Where the answers stand in a report --------------------------------- */

/* Reports of this scheme are one number of at most 64 bits. */
static inline bool sampled_short(const hsy_scheme *s)
{
    return s->report_bits <= 64;
}

static inline uint32_t sampled_index_bits(const hsy_scheme *s)
{
    return s->parts.index_bits;
}

/* Parts of which one is drawn: all but the one that stands beside. */
static inline size_t sampled_drawn(const hsy_scheme *s)
{
    return hsy_scheme_parts(s) - s->mech->parts->beside;
}

/* The part that every report answers; NULL if there is none. */
static inline const hsy_scheme *sampled_beside(const hsy_scheme *s)
{
    return s->mech->parts->beside ? hsy_scheme_part(s, sampled_drawn(s)) : NULL;
}

/* Bits, of a short report, and bytes, of a long one, before that part's. */
static inline uint32_t sampled_beside_bit(const hsy_scheme *s)
{
    const hsy_scheme *last = sampled_beside(s);

    return s->report_bits - (last != NULL ? last->report_bits : 0);
}

static inline size_t sampled_beside_byte(const hsy_scheme *s)
{
    const hsy_scheme *last = sampled_beside(s);

    return s->report_bytes - (last != NULL ? last->report_bytes : 0);
}

static inline size_t sampled_index(const hsy_scheme *s, const uint8_t *report)
{
    if (!sampled_short(s))
        return report[0];
    return (size_t)(report_get(report, s->report_bytes) &
                    (((uint64_t)1 << sampled_index_bits(s)) - 1));
}

/* The bits of a short report between the index and what stands beside. */
static inline uint64_t sampled_middle(const hsy_scheme *s,
                                      const uint8_t *report)
{
    const uint64_t word = report_get(report, s->report_bytes);
    const uint32_t end = sampled_beside_bit(s);

    return (end < 64 ? word & (((uint64_t)1 << end) - 1) : word) >>
           sampled_index_bits(s);
}

/* A part's own report, in out unless it stands there whole: that of the part
 * that was drawn, and that of the one beside. */
static inline const uint8_t *sampled_take(const hsy_scheme *s,
                                          const hsy_scheme *part,
                                          uint8_t out[8], const uint8_t *report)
{
    if (!sampled_short(s))
        return report + 1;
    report_put(out, part->report_bytes, sampled_middle(s, report));
    return out;
}

static inline const uint8_t *
sampled_take_beside(const hsy_scheme *s, uint8_t out[8], const uint8_t *report)
{
    if (!sampled_short(s))
        return report + sampled_beside_byte(s);
    report_put(out, sampled_beside(s)->report_bytes,
               report_get(report, s->report_bytes) >> sampled_beside_bit(s));
    return out;
}

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
