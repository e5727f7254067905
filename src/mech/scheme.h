/* scheme.h - what the files that make schemes share. */
#ifndef HSY_SCHEME_H
#define HSY_SCHEME_H

#include "mech.h"

/* Fill in s->digest: BLAKE2b-256 of a tag and the encoded scheme, which holds
 * the digest of the labels. */
void hsy_scheme_digest(hsy_scheme *s);

#endif
