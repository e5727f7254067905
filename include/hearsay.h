/*
 * hearsay.h - local differential privacy.
 *
 *     truth --randomize--> report --tally--> tally --estimate--> estimate
 *     on the device only   on the wire       all that is kept    with its error
 *
 * Conventions, stated once:
 *   - No pointer may be NULL unless its comment says so.
 *   - The caller owns all memory. No call allocates, and none keeps a pointer
 *     after returning, except where its comment says so.
 *   - Outputs are written only when the result is HSY_OK, except that where
 *     there is no report its place is zeroed.
 *   - An hsy_error pointer may always be NULL.
 *   - Probabilities are integers, rounded toward more privacy; epsilon is an
 *     integer number of nano-epsilon, rounded down where it enters.
 *   - Arguments: the object, what comes out, what goes in (a length after its
 *     buffer), scratch, and the error last. What a call makes is its object.
 *   - No global state: any thread may use an object, one thread at a time.
 */
#ifndef HEARSAY_H
#define HEARSAY_H

#include "hearsay/account.h"
#include "hearsay/advanced.h"
#include "hearsay/base.h"
#include "hearsay/central.h"
#include "hearsay/device.h"
#include "hearsay/discover.h"
#include "hearsay/estimate.h"
#include "hearsay/format.h"
#include "hearsay/rappor.h"
#include "hearsay/scheme.h"
#include "hearsay/survey.h"

#endif
