/*
 * tuple.h - several attributes of a person: the block that describes them.
 *
 * For each attribute, one after the other, in the labels of a spec:
 *     u32 length of its name, the name,
 *     its scheme, encoded (HSY_SCHEME_WIRE bytes),
 *     u32 length of that scheme's labels, the labels.
 * Numbers are little-endian.
 */
#ifndef LIB_SCHEME_TUPLE_H
#define LIB_SCHEME_TUPLE_H

#include "lib/scheme/scheme.h"

/* Whether the labels of a spec are such a block: every attribute resolves to
 * what is written there, and claims no more than the spec's epsilon. */
hsy_status hsy_tuple_check(const hsy_spec *spec, hsy_error *err);

/* How many attributes, at most HSY_ATTRIBUTES_MAX, and attribute i, of a spec
 * that need not be sound: a spec of nothing if it is not. */
size_t hsy_tuple_count(const hsy_spec *spec);
void hsy_tuple_at(hsy_spec *sub, const hsy_spec *spec, size_t i);

/* The points of attribute i of a joint scheme; t has reports. */
void hsy_joint_points(const hsy_scheme *s, hsy_evidence *points,
                      const hsy_tally *t, size_t i, size_t count);

/* The largest (1 - f) v0 + f v1 + spread f (1 - f) over shares f. */
double hsy_tuple_worst(const double v[2], double spread);

#endif
