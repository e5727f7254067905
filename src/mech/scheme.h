/* scheme.h - what the files that make schemes share. */
#ifndef HSY_SCHEME_H
#define HSY_SCHEME_H

#include "mech.h"

/* Fill in s->digest: BLAKE2b-256 of a tag and the encoded scheme, which holds
 * the digest of the labels. */
void hsy_scheme_digest(hsy_scheme *s);

/* In two steps, so that nothing is written to a scheme before all is well: the
 * scheme without its tail, with the spec as this version has it; then the whole
 * of it, which cannot fail. */
hsy_status hsy_scheme_resolve(hsy_scheme *made, hsy_spec *known,
                              const hsy_spec *spec, hsy_error *err);
void hsy_scheme_settle(hsy_scheme *s, const hsy_scheme *made,
                       const hsy_spec *known);

#endif
