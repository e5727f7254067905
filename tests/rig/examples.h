/*
 * examples.h - small schemes of every mechanism and kind, and tallies and
 * reports of them, for the tests of formats.
 */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include "hearsay.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE_N 21u /* reports: packed, most end inside a byte */

struct example {
    const char *name;
    hsy_spec spec;
};

/* Commas, quotes, a line end, an umlaut, an emoji, a NUL. */
extern const uint8_t example_labels[47];

#define EXAMPLES 31u
extern const struct example *const examples;

/* Releases: no reports, only tallies. */
#define EXAMPLE_RELEASES 2u
extern const struct example *const example_releases;

/* A scheme on the heap, the caller's to free; NULL if it cannot be had. */
hsy_scheme *example_scheme(const hsy_spec *spec);

/* n seeded reports of codes 0, 1, 2, ...; the caller frees them. */
uint8_t *example_reports(const hsy_scheme *s, size_t n);

/* A tally on the heap: free its cells, where its memory begins. */
hsy_tally example_tally(const hsy_scheme *s);

#endif
