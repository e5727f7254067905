/* resolve.h - what the files that make schemes share. */
#ifndef LIB_SCHEME_RESOLVE_H
#define LIB_SCHEME_RESOLVE_H

#include "lib/scheme/scheme.h"

/* Fill in s->digest: BLAKE2b-256 of a tag and the encoded scheme, which holds
 * the digest of the labels. */
void hsy_scheme_digest(hsy_scheme *s);

/* Check and resolve a spec into all of a scheme but its tail. known, which may
 * be NULL, gets the spec as this version has it. */
hsy_status hsy_scheme_head(hsy_scheme *s, hsy_spec *known, const hsy_spec *spec,
                           hsy_error *err);

#endif
