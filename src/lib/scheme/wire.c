/*
 * wire.c - schemes as bytes: one canonical encoding, and comparison.
 *
 * All numbers are little-endian; lo and hi are two's complement. What a
 * mechanism does not use is zero.
 *
 *     at  bytes  field
 *      0      4  mechanism, its permanent id
 *      4      4  kind
 *      8      8  nano-epsilon claimed
 *     16      4  d
 *     20      4  scale
 *     24      8  lo
 *     32      8  hi
 *     40      4  design
 *     44      4  digits of other (unary)
 *     48     64  chance: four times num and den, 8 bytes each
 *    112      8  weight A (two-level)
 *    120      4  shift (two-level)
 *    124      4  report bits
 *    128      8  total
 *    136      8  own
 *    144      8  other
 *    152      8  length of the labels, of a tuple its attributes (tuple.h)
 *    160     32  BLAKE2b-256 of the labels; zero without labels
 *    192    128  parameters, 8 bytes each (scheme_wire_places)
 *    320     32  alphabet: bit b % 8 of byte b / 8 for each byte b in it
 *    352      4  oracle: the mechanism named for the parts, 0: none
 *    356      8  nano-epsilon of the permanent answers, 0: none
 *    364      8  of the digest of all parts
 *    372      4  how many parts, 0: none
 *    376      8  zero
 */
#include "lib/scheme/scheme.h"

#include "lib/bits/bytes.h"
#include "lib/core/fail.h"

#include <string.h>

#define SCHEME_WIRE_PARAMS 192
#define SCHEME_WIRE_ALPHABET 320
#define SCHEME_WIRE_ORACLE 352
#define SCHEME_WIRE_PERMANENT 356
#define SCHEME_WIRE_PARTS_DIGEST 364
#define SCHEME_WIRE_PARTS 372

static const char scheme_wire_tag[16] = "hearsay scheme 1";

/* Which of the sixteen numbers each parameter is. Parameters that no mechanism
 * takes together share a place. */
static const uint8_t scheme_wire_places[HSY_PARAMS] = {
#define PARAMETER(symbol, name, place, text) [HSY_PARAM_##symbol] = (place),
#include "lib/scheme/params.def"
#undef PARAMETER
};

static void scheme_wire_put_params(const hsy_scheme *s, uint8_t *to)
{
    for (size_t i = 0; i < HSY_PARAMS; i++)
        if (s->mech->params >> i & 1)
            bytes_put64(to + 8 * (size_t)scheme_wire_places[i], s->param[i]);
}

static void scheme_wire_get_params(hsy_spec *spec,
                                   const struct hsy_mechanism *mech,
                                   const uint8_t *from)
{
    for (size_t i = 0; i < HSY_PARAMS; i++)
        if (mech->params >> i & 1)
            spec->param[i] =
                bytes_get64(from + 8 * (size_t)scheme_wire_places[i]);
}

static void scheme_wire_put_bits(const struct law_bits *bits, uint8_t *wire)
{
    bytes_put32(wire + 44, bits->digits);
    bytes_put64(wire + 112, bits->weight);
    bytes_put32(wire + 120, bits->shift);
    bytes_put64(wire + 136, bits->own);
    bytes_put64(wire + 144, bits->other);
}

static void scheme_wire_put_law(const hsy_scheme *s, uint8_t *wire)
{
    switch (s->law) {
    case LAW_IN_TAIL:
        break; /* which the labels hold */
    case LAW_TWO_LEVEL:
    case LAW_PROJECTIVE:
        bytes_put64(wire + 112, s->two.weight);
        bytes_put32(wire + 120, s->two.shift);
        break;
    case LAW_BITS:
    case LAW_RAPPOR:
        scheme_wire_put_bits(&s->bits, wire);
        break;
    case LAW_NOISE:
        bytes_put64(wire + 112, s->noise.keep);
        bytes_put64(wire + 136, s->noise.middle);
        bytes_put64(wire + 144, s->noise.beyond);
        break;
    case LAW_PARTS:
        bytes_put64(wire + SCHEME_WIRE_PARTS_DIGEST, s->parts.digest);
        bytes_put32(wire + SCHEME_WIRE_PARTS, s->parts.count);
        break;
    case LAW_RELEASE:
        bytes_put64(wire + 128, s->release.grid);
        break;
    }
}

void hsy_scheme_encode(const hsy_scheme *s, uint8_t wire[HSY_SCHEME_WIRE])
{
    memset(wire, 0, HSY_SCHEME_WIRE);
    bytes_put32(wire, s->mech->row.id);
    bytes_put32(wire + 4, s->kind);
    bytes_put64(wire + 8, s->nano_epsilon);
    bytes_put32(wire + 16, s->d);
    bytes_put32(wire + 20, s->scale);
    bytes_put64(wire + 24, (uint64_t)s->lo);
    bytes_put64(wire + 32, (uint64_t)s->hi);
    bytes_put32(wire + 40, s->design);
    for (size_t i = 0; i < HSY_CHANCES; i++) {
        bytes_put64(wire + 48 + 16 * i, s->chance[i].num);
        bytes_put64(wire + 56 + 16 * i, s->chance[i].den);
    }
    bytes_put32(wire + 124, s->report_bits);
    bytes_put64(wire + 128, s->total);
    scheme_wire_put_law(s, wire);
    bytes_put64(wire + 152, s->labels_len);
    memcpy(wire + 160, s->labels_digest, HSY_DIGEST);
    scheme_wire_put_params(s, wire + SCHEME_WIRE_PARAMS);
    memcpy(wire + SCHEME_WIRE_ALPHABET, s->alphabet, HSY_ALPHABET);
    bytes_put32(wire + SCHEME_WIRE_ORACLE, s->oracle);
    bytes_put64(wire + SCHEME_WIRE_PERMANENT, s->nano_permanent);
}

void hsy_scheme_digest(hsy_scheme *s)
{
    uint8_t tagged[sizeof scheme_wire_tag + HSY_SCHEME_WIRE];

    memcpy(tagged, scheme_wire_tag, sizeof scheme_wire_tag);
    hsy_scheme_encode(s, tagged + sizeof scheme_wire_tag);
    hsy_blake2b(s->digest, HSY_DIGEST, tagged, sizeof tagged, NULL, 0);
}

hsy_status hsy_spec_decode(hsy_spec *spec, const uint8_t wire[HSY_SCHEME_WIRE],
                           const uint8_t *labels, size_t labels_len,
                           hsy_error *err)
{
    const struct hsy_mechanism *mech = hsy_mech_numbered(bytes_get32(wire));
    const uint32_t named = bytes_get32(wire + SCHEME_WIRE_ORACLE);
    const struct hsy_mechanism *oracle = hsy_mech_numbered(named);

    if (mech == NULL || (named != 0 && oracle == NULL))
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "a mechanism this version does not know");
    if (bytes_get64(wire + 152) != labels_len)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_LABELS,
                        "the labels do not have the length stated");
    *spec = (hsy_spec){
        .size = sizeof *spec,
        .mechanism = mech->row.name,
        .nano_epsilon = bytes_get64(wire + 8),
        .kind = bytes_get32(wire + 4),
        .d = bytes_get32(wire + 16),
        .lo = (int64_t)bytes_get64(wire + 24),
        .hi = (int64_t)bytes_get64(wire + 32),
        .scale = bytes_get32(wire + 20),
        .labels = labels_len == 0 ? NULL : labels,
        .labels_len = labels_len,
        .design = bytes_get32(wire + 40),
        .oracle = named != 0 ? oracle->row.name : NULL,
        .nano_permanent = bytes_get64(wire + SCHEME_WIRE_PERMANENT),
    };
    memcpy(spec->alphabet, wire + SCHEME_WIRE_ALPHABET, HSY_ALPHABET);
    for (size_t i = 0; i < HSY_CHANCES; i++)
        spec->chance[i] = (hsy_ratio){bytes_get64(wire + 48 + 16 * i),
                                      bytes_get64(wire + 56 + 16 * i)};
    scheme_wire_get_params(spec, mech, wire + SCHEME_WIRE_PARAMS);
    return HSY_OK;
}

hsy_status hsy_scheme_decode(hsy_scheme *s, const uint8_t wire[HSY_SCHEME_WIRE],
                             const uint8_t *labels, size_t labels_len,
                             hsy_error *err)
{
    uint8_t again[HSY_SCHEME_WIRE];
    hsy_scheme made;
    hsy_spec spec;
    hsy_status st = hsy_spec_decode(&spec, wire, labels, labels_len, err);

    if (st != HSY_OK)
        return st;
    st = hsy_scheme_head(&made, NULL, &spec, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_encode(&made, again);
    if (memcmp(wire, again, sizeof again) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_SCHEME,
                        "the scheme's integers do not follow from its "
                        "parameters");
    return hsy_scheme_init(s, &spec, err); /* the same, and its tail */
}

/* What each run of encoded bytes is called, in the order in which a person
 * would ask: what was asked before the mechanism, which may follow from it.
 * Parameters go by their own names. */
static const struct scheme_wire_field {
    uint16_t at, len;
    const char *name;
} scheme_wire_fields[] = {
    {4, 4, "kind of truth"},
    {8, 8, "epsilon"},
    {16, 4, "values"},
    {152, 40, "labels"},
    {20, 20, "range"},
    {0, 4, "mechanism"},
    {40, 4, "design"},
    {48, 64, "probabilities"},
    {320, 32, "alphabet"},
    {352, 4, "oracle"},
    {356, 8, "permanent epsilon"},
};

const char *hsy_scheme_difference(const hsy_scheme *a, const hsy_scheme *b)
{
    uint8_t one[HSY_SCHEME_WIRE], two[HSY_SCHEME_WIRE];
    size_t n = sizeof scheme_wire_fields / sizeof scheme_wire_fields[0];

    hsy_scheme_encode(a, one);
    hsy_scheme_encode(b, two);
    for (size_t i = 0; i < n; i++) {
        const struct scheme_wire_field *f = &scheme_wire_fields[i];

        if (memcmp(one + f->at, two + f->at, f->len) != 0)
            return f->name;
    }
    for (size_t i = 0; i < HSY_PARAMS; i++)
        if (a->param[i] != b->param[i])
            return hsy_param_name(i);
    return memcmp(one, two, sizeof one) == 0 ? NULL : "resolved integers";
}
