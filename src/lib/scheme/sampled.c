/* sampled.c - the parts of a scheme, in its tail, and the sizes they make. */
#include "lib/scheme/sampled.h"

#include "lib/bits/bytes.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/spell.h"

#include <string.h>

#define SAMPLED_ALIGN 16u /* as malloc aligns */

/* The tail: where each part's scheme begins, in bytes from here. */
struct sampled_tail {
    size_t parts;   /* that reports answer */
    size_t schemes; /* parts, and attributes beside them */
    size_t end;     /* of the last one */
    size_t at[];
};

static size_t sampled_round(size_t size)
{
    return (size + SAMPLED_ALIGN - 1) / SAMPLED_ALIGN * SAMPLED_ALIGN;
}

static size_t sampled_first(size_t parts)
{
    return sampled_round(sizeof(struct sampled_tail) + parts * sizeof(size_t));
}

static hsy_spec sampled_spec(const hsy_spec *spec, const struct mech_parts *how,
                             size_t i)
{
    hsy_spec sub = {.size = sizeof sub};

    how->part(&sub, spec, i);
    return sub;
}

size_t hsy_sampled_size(const hsy_spec *spec, const struct mech_parts *how)
{
    size_t parts = how->parts(spec), size = sampled_first(parts);

    for (size_t i = 0; i < parts; i++) {
        hsy_spec sub = sampled_spec(spec, how, i);

        size += sampled_round(hsy_scheme_size(&sub));
    }
    return size;
}

/* The most that a report of one of several parts takes. */
struct sampled_size {
    uint32_t bits;
    size_t bytes;
};

static void sampled_widen(struct sampled_size *most, const hsy_scheme *part)
{
    if (part->report_bits > most->bits)
        most->bits = part->report_bits;
    if (part->report_bytes > most->bytes)
        most->bytes = part->report_bytes;
}

/* drawn is the longest of the parts that are drawn, beside what stands beside
 * it. */
static void sampled_layout(hsy_scheme *s, size_t parts,
                           const struct sampled_size *drawn,
                           const struct sampled_size *beside)
{
    const uint64_t bits = (uint64_t)drawn->bits + beside->bits;

    s->parts.index_bits = report_bits_of(parts);
    if (s->parts.index_bits + bits <= 64) {
        s->report_bits = (uint32_t)(s->parts.index_bits + bits);
        s->report_bytes = report_bytes_of(s->report_bits);
    } else { /* then there are at least 8 bytes, so this passes 64 bits */
        s->report_bytes = 1 + drawn->bytes + beside->bytes;
        s->report_bits = (uint32_t)(8 * s->report_bytes);
    }
}

hsy_status hsy_sampled_resolve(hsy_scheme *s, const hsy_spec *spec,
                               hsy_error *err)
{
    const struct mech_parts *how = s->mech->parts;
    const size_t parts = how->parts(spec);
    uint8_t chain[2 * HSY_DIGEST] = {0}; /* of the parts so far, of the next */
    struct sampled_size drawn = {1, 1}, beside = {0, 0};

    s->cells = s->strata = s->weights = 0;
    for (size_t i = 0; i < parts; i++) {
        const hsy_spec sub = sampled_spec(spec, how, i);
        hsy_scheme part;
        hsy_status st = hsy_scheme_head(&part, NULL, &sub, err);

        if (st != HSY_OK)
            return st;
        sampled_widen(how->beside && i + 1 == parts ? &beside : &drawn, &part);
        s->cells += part.cells;
        s->strata += part.strata;
        s->weights += part.weights;
        memcpy(chain + HSY_DIGEST, part.digest, HSY_DIGEST);
        hsy_blake2b(chain, HSY_DIGEST, chain, sizeof chain, NULL, 0);
    }
    s->law = LAW_PARTS;
    s->parts.count = (uint32_t)parts;
    s->parts.digest = bytes_get64(chain);
    s->answers = how->beside ? 2 : 1;
    sampled_layout(s, parts - how->beside, &drawn, &beside);
    return HSY_OK;
}

void hsy_sampled_settle(hsy_scheme *s, const hsy_spec *spec)
{
    const struct mech_parts *how = s->mech->parts;
    struct sampled_tail *tail = (struct sampled_tail *)(s + 1);
    size_t at;

    tail->schemes = how->parts(spec);
    tail->parts = how->whole ? 1 : tail->schemes;
    at = sampled_first(tail->schemes);
    for (size_t i = 0; i < tail->schemes; i++) {
        const hsy_spec sub = sampled_spec(spec, how, i);

        /* It did in resolve, so it does now. */
        (void)hsy_scheme_init((hsy_scheme *)(void *)((uint8_t *)tail + at),
                              &sub, NULL);
        tail->at[i] = at;
        at += sampled_round(hsy_scheme_size(&sub));
    }
    tail->end = at;
}

void *hsy_sampled_rest(const hsy_scheme *s)
{
    const struct sampled_tail *tail = mech_tail(s);

    return (uint8_t *)(s + 1) + tail->end;
}

/* ---- Parts, of any scheme ------------------------------------------------ */

size_t hsy_scheme_parts(const hsy_scheme *s)
{
    const struct sampled_tail *tail = mech_tail(s);

    return s->mech->parts == NULL ? 1 : tail->parts;
}

const hsy_scheme *hsy_scheme_part(const hsy_scheme *s, size_t i)
{
    const struct sampled_tail *tail = mech_tail(s);
    const uint8_t *bytes = mech_tail(s);

    if (s->mech->parts == NULL)
        return s;
    return (const hsy_scheme *)(const void *)(bytes + tail->at[i]);
}

uint64_t hsy_part_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    return s->mech->parts == NULL ? codes[0]
                                  : s->mech->parts->code(s, codes, i);
}

size_t hsy_codes_per_truth(const hsy_scheme *s)
{
    const struct sampled_tail *tail = mech_tail(s);

    if (s->kind == HSY_KIND_TUPLE)
        return tail->schemes - s->mech->parts->whole;
    return s->mech->client->spell != NULL
               ? spell_words(s->param[HSY_PARAM_BITS])
               : 1;
}

const hsy_scheme *hsy_scheme_attribute(const hsy_scheme *s, size_t i)
{
    return s->kind == HSY_KIND_TUPLE
               ? hsy_scheme_part(s, i + s->mech->parts->whole)
               : s;
}

void hsy_sampled_cpu(hsy_scheme *s)
{
    struct sampled_tail *tail = (struct sampled_tail *)(s + 1);

    for (size_t i = 0; i < tail->schemes; i++) {
        void *at = (uint8_t *)tail + tail->at[i];
        hsy_scheme *part = at;

        part->kernels = s->kernels;
        if (part->mech->parts != NULL)
            hsy_sampled_cpu(part);
    }
}

void hsy_tally_part(hsy_tally *part, const hsy_tally *t, const hsy_scheme *s,
                    size_t i)
{
    const hsy_scheme *own = hsy_scheme_part(s, i);

    *part = *t;
    for (size_t k = 0; k < i; k++) {
        const hsy_scheme *before = hsy_scheme_part(s, k);

        part->cells += before->cells;
        part->strata += before->strata;
        if (part->weights != NULL)
            part->weights += before->weights;
    }
    part->ncells = own->cells;
    part->nstrata = own->strata;
    part->nweights = own->weights;
    part->answers = own->answers;
    if (own->weights == 0)
        part->weights = NULL;
}
