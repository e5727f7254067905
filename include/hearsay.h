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
 *   - Outputs are written only if the result is HSY_OK. Exception: a report
 *     that was not made is zeroed.
 *   - An hsy_error pointer may always be NULL.
 *   - Probabilities are integers, rounded toward more privacy. Epsilon is an
 *     integer number of nano-epsilon; inputs are rounded down.
 *   - Order of arguments: object, outputs, inputs (a length after its buffer),
 *     scratch, error. A function that initializes an object takes that object
 *     first.
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
