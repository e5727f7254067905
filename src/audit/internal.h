/* internal.h - how the files of an audit share its work. */
#ifndef AUDIT_INTERNAL_H
#define AUDIT_INTERNAL_H

#include "audit/audit.h"

/* ---- Probes (probes.c) --------------------------------------------------- */

/* The ends and the middle of the domain; how many there are, at least 2. */
size_t audit_probes(struct audit_probe probes[AUDIT_PROBES],
                    const hsy_scheme *s);

/* ---- Exact laws (audit_law.c) -------------------------------------------- */

/* epsilon from hsy_law_worst. */
double audit_exact(const hsy_scheme *s);

/* -1, 0, 1: which of two truths' codes makes the report more likely. factors
 * has room for twice hsy_law_factors. */
int audit_compare(const hsy_scheme *s, hsy_factor *factors, const uint64_t *a,
                  const uint64_t *b, const uint8_t *report);

/* All reports of a scheme whose packed form has at most AUDIT_CELL_BITS bits,
 * by packed value. law[probe * size + cell] is the probability of the cell,
 * negative where no report packs to it. */
struct audit_outputs {
    size_t size; /* 2^packed_bits, 0: too many to enumerate */
    uint64_t count;
    double epsilon; /* worst ratio over outputs and codes, infinity included */
    double *law;
};

hsy_status audit_enumerate(struct audit_outputs *out, const hsy_scheme *s,
                           const hsy_scheme_info *info,
                           const struct audit_probe *probes, size_t nprobes);

/* ---- Coins that are watched (coins.c) ------------------------------------ */

struct audit_meter {
    hsy_rng inner;
    uint64_t bytes;
    uint64_t calls;
    uint64_t fail_at; /* this call and the later ones fail; 0: none */
    bool failed;
};

struct audit_coins {
    struct audit_meter secret, published;
    hsy_coins coins; /* through the meters; keeps this struct's address */
};

void audit_coins_init(struct audit_coins *c, hsy_coins inner);

/* AUDIT_CLOSED and AUDIT_COINS: the subject answers only from its coins, and
 * not at all without them. reports has room for AUDIT_BLOCK reports. */
unsigned audit_check_coins(const struct audit_subject *subject, bool batch,
                           const struct audit_probe *probes, size_t nprobes,
                           uint8_t *reports, size_t report_bytes);

#define AUDIT_BLOCK 1024u /* reports of one batch call */

/* ---- Counting (audit_sample.c) ------------------------------------------- */

#define AUDIT_SHAPES 32u
#define AUDIT_CLASSES 3u

/* What an observer may see besides the report. */
struct audit_shape {
    hsy_status status;
    uint64_t secret, published; /* bytes drawn */
};

/* A sample has three parts: one to learn from which outputs are telling, one to
 * choose an event by, and one to bound it by. */
enum audit_part { AUDIT_LEARN, AUDIT_CHOOSE, AUDIT_PROVE, AUDIT_PARTS };

/* One part of the sample of one way of drawing. Trials of reports, laws and
 * shapes differ. */
struct audit_counts {
    uint64_t reports[AUDIT_PROBES];
    uint64_t *cells; /* [probe][size], NULL if too many */
    uint64_t *pairs; /* [probe][bit i][bit j], both set; i = j: one bit */
    uint64_t classed[AUDIT_PROBES];
    uint64_t classes[AUDIT_PROBES][AUDIT_PROBES][AUDIT_PROBES][AUDIT_CLASSES];
    uint64_t shaped[AUDIT_PROBES];
    uint64_t shapes[AUDIT_PROBES][AUDIT_SHAPES];
};

struct audit_sample {
    const struct audit_subject *subject;
    const struct audit_options *options;
    const struct audit_outputs *outputs;
    const struct audit_probe *probes;
    size_t nprobes;
    hsy_scheme_info info;
    bool batch;
    size_t nbits;
    uint32_t bit_at[AUDIT_BITS]; /* places of the watched bits */
    struct audit_shape shape[AUDIT_SHAPES];
    size_t nshapes;
    size_t turn[AUDIT_PROBES]; /* probes that are drawn, in turn */
    size_t nturn;
    struct audit_counts part[AUDIT_PARTS];
    uint64_t class_quota; /* reports a part may still spend law calls on */
    unsigned faults;

    uint8_t *reports; /* AUDIT_BLOCK of them */
    uint64_t *codes;  /* of as many truths */
    uint8_t *packed;
    hsy_factor *factors;
};

hsy_status audit_sample_init(struct audit_sample *s,
                             const struct audit_subject *subject,
                             const struct audit_outputs *outputs,
                             const struct audit_probe *probes, size_t nprobes,
                             bool batch);
void audit_sample_clear(struct audit_sample *s);

/* Draw and count a part: `samples` reports of the probes whose turn it is. */
void audit_sample_draw(struct audit_sample *s, enum audit_part part,
                       hsy_coins coins, uint64_t samples);

/* ---- Events (event.c) ---------------------------------------------------- */

enum audit_class {
    AUDIT_NOTHING = 0,
    AUDIT_CELL,  /* one whole output */
    AUDIT_SET,   /* a set of whole outputs */
    AUDIT_BIT,   /* a pattern of one bit, or of two */
    AUDIT_RATIO, /* the law prefers one probe to another, or neither */
    AUDIT_SHAPE  /* status and bytes drawn */
};

struct audit_event {
    enum audit_class class;
    size_t own, other;           /* probes: likely under own */
    size_t i, j;                 /* cell; bits; probes compared; shape */
    unsigned pattern;            /* of bits i (1) and j (2); or the class */
    uint8_t *set;                /* AUDIT_SET: one byte a cell, not owned */
    uint64_t hits[2], trials[2]; /* under own, under other */
    double score;
};

/* The event that promises the highest bound in AUDIT_CHOOSE; set has one byte a
 * cell, and best keeps it. HSY_E_NOMEM. */
hsy_status audit_event_choose(struct audit_event *best,
                              const struct audit_sample *s, double alpha,
                              uint8_t *set);

/* Count the event again in AUDIT_PROVE. */
void audit_event_recount(struct audit_event *e, const struct audit_sample *s);

void audit_event_name(char *out, size_t len, const struct audit_event *e,
                      const struct audit_sample *s);

/* ---- Bounds (bound.c) ---------------------------------------------------- */

/* Lower bound of ln(p_own / p_other) at confidence 1 - alpha, at least 0
 * [CP34 for each side, alpha / 2 each]. */
double audit_bound(const uint64_t hits[2], const uint64_t trials[2],
                   double alpha);

/* Wilson bounds instead of Clopper-Pearson ones: cheap, for choosing. */
double audit_bound_guess(const uint64_t hits[2], const uint64_t trials[2],
                         double z);

/* The chance of a sample as odd as this one if the law holds. */
double audit_law_test(const struct audit_sample *s);

#endif
