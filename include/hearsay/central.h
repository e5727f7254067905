/* central.h - a curator's release. */
#ifndef HEARSAY_CENTRAL_H
#define HEARSAY_CENTRAL_H

#include "hearsay/scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A curator's release: docs/central.md ---------------------------------
 */

/*
 * Who is trusted with the truths themselves can publish their counts with far
 * less noise (mechanisms "central" and "central-add-remove", which no device
 * can use). One such release is one tally: count people, then add the noise,
 * once. Releases of several curators, each about people of its own, add up by
 * hsy_tally_merge; hsy_evidence_of and hsy_estimate_point know the noise of the
 * sum. Every release about the same people spends epsilon again.
 */

/* Count n people by their codes into an empty tally or one so begun: until
 * hsy_central_release it holds truths. HSY_E_RANGE for a code outside the
 * domain, HSY_E_REFUSED once it is released, HSY_E_MISMATCH, HSY_E_OVERFLOW. */
HSY_API hsy_status hsy_central_count(hsy_tally *t, const hsy_scheme *s,
                                     const uint64_t *codes, size_t n,
                                     hsy_error *err);

/* The same of people[i] people who all hold codes[i]; people NULL: one each. */
HSY_API hsy_status hsy_central_count_many(hsy_tally *t, const hsy_scheme *s,
                                          const uint64_t *codes,
                                          const uint64_t *people, size_t n,
                                          hsy_error *err);

/* Add the noise. Time tells of it: for the curator's own machine, out of
 * sight of whoever must not know the truths. On HSY_E_ENTROPY all cells are
 * zeroed; other failures as above. */
HSY_API hsy_status hsy_central_release(hsy_tally *t, const hsy_scheme *s,
                                       hsy_rng *secret, hsy_error *err);

/* How many people the releases in t are about; noisy, and perhaps negative,
 * under add/remove. 0 for a scheme with reports. */
HSY_API double hsy_central_people(const hsy_scheme *s, const hsy_tally *t);

#ifdef __cplusplus
}
#endif

#endif
