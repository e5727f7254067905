/* internal.h - libyaml's events, one at a time (scan.c). */
#ifndef HOST_YAML_INTERNAL_H
#define HOST_YAML_INTERNAL_H

#include "host/yaml/yaml.h"

#include <yaml.h>

#define SCAN_ANCHORS 64u /* of a file that are kept */

/* A scalar that an alias may stand for; both owned. */
struct yaml_anchor {
    char *name, *text;
};

struct yaml_scan {
    struct yaml_notes *notes;
    const struct yaml_form *form;
    yaml_parser_t parser;
    yaml_event_t event; /* the one to look at */
    uint32_t last;      /* line of the file */
    bool stopped;       /* the file cannot be read on */
    struct yaml_anchor anchors[SCAN_ANCHORS];
    size_t nanchors;
};

/* Begin before the first event; false after a complaint, or with nomem. r has
 * notes and form; text must last. */
bool yaml_scan_open(struct yaml_scan *r, const uint8_t *text, size_t len);
void yaml_scan_close(struct yaml_scan *r);

/* Move on to the next event; what is no YAML is complained of and stops it. */
void yaml_scan_next(struct yaml_scan *r);

/* Past the node that begins here, which is at most YAML_DEPTH_MAX deep. */
void yaml_scan_skip(struct yaml_scan *r, struct yaml_place at);

/* The line of the event, from 1 on. */
uint32_t yaml_scan_line(const struct yaml_scan *r);

/* What YAML offers and the form has no use for; NULL: nothing. */
const char *yaml_scan_fancy(const struct yaml_scan *r);

void yaml_scan_nomem(struct yaml_scan *r);

/* Whether a text is one of words with spaces between them (problems.c). */
bool yaml_listed(const char *text, const char *words);

#endif
