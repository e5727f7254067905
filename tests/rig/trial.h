/* trial.h - schemes for tests that cannot go on without them. */
#ifndef TRIAL_H
#define TRIAL_H

#include "hearsay.h"
#include "lib/scheme/scheme.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* malloc that ends the program where there is no memory. */
void *trial_memory(size_t size);

/* A scheme on the heap; the caller frees it. */
hsy_scheme *trial_scheme(const hsy_spec *spec);

/* Two attributes, yes/no and one of so many values, in place of a list of d. */
void trial_attributes(hsy_spec *spec, uint32_t values);

/* How many truths there are, 0 for open strings, and the codes of truth k, the
 * last running fastest. */
uint64_t trial_count(const hsy_scheme *s);

void trial_codes(const hsy_scheme *s, uint64_t *codes, uint64_t k);

/* The chance of a report, of at most 64 factors. */
double trial_law(const hsy_scheme *s, const uint64_t *codes,
                 const uint8_t *report);

/* The truth with this code: not of strings, and of bins those of one step. */
hsy_truth trial_truth_one(const hsy_scheme *s, uint64_t code);

/* Truth k; a tuple's items stand in memory that the next call uses again. */
hsy_truth trial_truth(const hsy_scheme *s, uint64_t k);

/* What the mechanism of a spec needs beyond a domain and an epsilon: a matrix,
 * or attributes. The truth is likelier than any other answer, by at most
 * e^epsilon. It stands in memory that the eighth call from here uses
 * again. */
void trial_attach(hsy_spec *spec);

/* d values under a mechanism. */
hsy_spec trial_values(const char *mechanism, uint32_t d, double epsilon);

/* A number from 0 to width. */
hsy_spec trial_number(int64_t width, double epsilon);

/* d bins of one step each under a mechanism. */
hsy_spec trial_bins(const char *mechanism, uint32_t d, double epsilon);

/* Whether a spec can be resolved. */
bool trial_resolves(const hsy_spec *spec);

/* Small sketches for the fragment puzzle, of strings whose symbols are bits. */
void trial_puzzle(hsy_spec *spec);

/* Prefixes of so many bits first and more at each step, or pieces and fragments
 * of as many, whichever the mechanism has. */
void trial_steps(hsy_spec *spec, uint64_t bits);

/* d spelled strings, a power of two from 4 on: prefixes of 2, 3, ... bits, or
 * fragments of one. */
hsy_spec trial_spelled(const char *mechanism, uint32_t d, double epsilon);

/* A table row's mechanism on a small domain: d values or bins, d - 1 steps, d
 * spelled strings, or two attributes of d truths together (at least 4 of them).
 */
hsy_spec trial_small(const hsy_catalogue *row, uint32_t d, double epsilon);

/* Whether a mechanism takes a domain of d codes. */
bool trial_takes(const hsy_catalogue *row, uint32_t d);

/* Whether its estimates come value by value, not by iteration. */
bool trial_pointed(const hsy_catalogue *row);

#endif
