/* central.h - a curator's release. */
#ifndef HEARSAY_CENTRAL_H
#define HEARSAY_CENTRAL_H

#include "hearsay/scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A curator's release: docs/central.md ---------------------------------
 */

/* A curator who is trusted with truths can publish counts with far less noise
 * (mechanisms "central" and "central-add-remove", which devices cannot use).
 * One release is one tally: count people, then add the noise once. Releases of
 * several curators, each about its own people, are added by hsy_tally_merge;
 * hsy_evidence_of and hsy_estimate_point account for the noise of the sum.
 * Every release about the same people spends epsilon again. */

/* Count n people by their codes into an empty tally, or into one begun by this
 * call. Until hsy_central_release the tally holds truths. Returns HSY_E_RANGE
 * for a code outside the domain, HSY_E_REFUSED after the release,
 * HSY_E_MISMATCH if the scheme is not central or the tally belongs to another
 * one, HSY_E_OVERFLOW if a cell would overflow. */
HSY_API hsy_status hsy_central_count(hsy_tally *t, const hsy_scheme *s,
                                     const uint64_t *codes, size_t n,
                                     hsy_error *err);

/* Count people[i] people with codes[i], like hsy_central_count. people NULL:
 * one each. */
HSY_API hsy_status hsy_central_count_many(hsy_tally *t, const hsy_scheme *s,
                                          const uint64_t *codes,
                                          const uint64_t *people, size_t n,
                                          hsy_error *err);

/* Add the noise. The time it takes reveals the noise: run it on the curator's
 * own machine, unobserved. On HSY_E_ENTROPY all cells are zeroed. Other errors
 * as for hsy_central_count. */
HSY_API hsy_status hsy_central_release(hsy_tally *t, const hsy_scheme *s,
                                       hsy_rng *secret, hsy_error *err);

/* Returns the number of people in the releases of t. Under central-add-remove
 * it is noisy and may be negative. Returns 0 if the scheme is not central. */
HSY_API double hsy_central_people(const hsy_scheme *s, const hsy_tally *t);

#ifdef __cplusplus
}
#endif

#endif
