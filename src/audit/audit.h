/*
 * audit.h - attacks on our own claims.
 *
 * An audit takes whatever turns truths into reports and asks four things of
 * it: what its integers promise (exact), what a sample proves (a lower
 * confidence bound of epsilon over joint events), whether the sample follows
 * the stated law, and whether anything but the report speaks. docs/audit.md
 * has the statistics.
 */
#ifndef AUDIT_AUDIT_H
#define AUDIT_AUDIT_H

#include "hearsay.h"

#define AUDIT_PROBES 4        /* truths that are played against each other */
#define AUDIT_CELL_BITS 16u   /* whole outputs are counted up to 2^16 of them */
#define AUDIT_BITS 64u        /* bits whose pairs are counted */
#define AUDIT_LAW_DOMAIN 256u /* codes that an enumeration goes through */

/* A truth with its codes: the public call takes one, a mutant the other. */
struct audit_probe {
    hsy_truth truth;
    uint64_t code;                       /* of one attribute: codes[0] */
    uint64_t codes[HSY_ATTRIBUTES_MAX];  /* hsy_codes_per_truth of them */
    hsy_truth items[HSY_ATTRIBUTES_MAX]; /* what a tuple points to */
    const char *name; /* where it stands in the domain, a literal */
    char text[8];     /* what a string truth points to */
};

/* What is audited. Either way of drawing may be NULL. */
struct audit_subject {
    const hsy_scheme *scheme; /* the claim: its law, its epsilon */
    hsy_status (*single)(void *ctx, const hsy_scheme *s, uint8_t *report,
                         const struct audit_probe *probe, hsy_coins *coins);
    hsy_status (*batch)(void *ctx, const hsy_scheme *s, uint8_t *reports,
                        const uint64_t *codes, size_t n, hsy_coins *coins);
    void *ctx;
};

/* The library's own hsy_randomize and hsy_randomize_batch. */
struct audit_subject audit_library(const hsy_scheme *s);

struct audit_options {
    uint64_t samples;  /* reports drawn altogether */
    double confidence; /* of the sampled bound */
    bool seeded;       /* else fresh kernel coins */
    uint64_t seed;
    void (*tick)(void *ctx, uint64_t samples); /* drawn since; may be NULL */
    void *ctx;
};

#define AUDIT_CONFIDENCE 0.999999999
#define AUDIT_LAW_ALPHA 1e-9 /* law_p below this is a fault */

/* What an audit may find. */
enum audit_fault {
    AUDIT_EXACT = 1 << 0,      /* the integers exceed the claim */
    AUDIT_ENUMERATED = 1 << 1, /* law and worst ratio disagree */
    AUDIT_SAMPLED = 1 << 2,    /* the sample proves more than the integers */
    AUDIT_LAW = 1 << 3,        /* the sample does not follow the law */
    AUDIT_STATUS = 1 << 4,     /* a truth of the domain was not answered */
    AUDIT_MALFORMED = 1 << 5,  /* a report its own scheme refuses */
    AUDIT_CLOSED = 1 << 6,     /* a report although the coins had failed */
    AUDIT_COINS = 1 << 7       /* randomness from elsewhere, or none */
};

struct audit_result {
    double nominal;    /* epsilon as claimed */
    double exact;      /* of the resolved integers */
    double enumerated; /* the same by going through all outputs */
    uint64_t outputs;  /* how many there were; 0: not enumerated */
    uint64_t samples;
    double sampled; /* lower bound at the confidence asked for, at least 0 */
    char event[96]; /* where it was found */
    double law_p;   /* chance of so odd a sample; 1 if not enumerated */
    unsigned faults;
};

/* What a fault means, a literal; the lowest one set. "holds" for none. */
const char *audit_verdict(unsigned faults);

/* HSY_E_NOMEM, HSY_E_ENTROPY; HSY_E_RANGE for less than 1000 samples. */
hsy_status audit_run(struct audit_result *out,
                     const struct audit_subject *subject,
                     const struct audit_options *options);

/* A small question of a kind, the same in every audit of all mechanisms: few
 * values, and few public functions, so that outputs can be enumerated. block
 * holds what spec->labels points to. HSY_E_NOMEM; anything else but HSY_OK
 * means that the mechanism takes no such one, and err says why. */
#define AUDIT_BLOCK 1024u /* bytes of two attributes, or of a matrix */
hsy_status audit_domain(hsy_spec *spec, uint8_t block[AUDIT_BLOCK],
                        const char *mechanism, uint32_t kind,
                        uint64_t nano_epsilon, hsy_error *err);

#endif
