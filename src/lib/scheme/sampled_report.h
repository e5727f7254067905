/*
 * sampled_report.h - where the answers stand in a report of a sampled scheme
 * (sampled.h has the layout).
 */
#ifndef LIB_SCHEME_SAMPLED_REPORT_H
#define LIB_SCHEME_SAMPLED_REPORT_H

#include "lib/scheme/report.h"
#include "lib/scheme/sampled.h"

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

#endif
