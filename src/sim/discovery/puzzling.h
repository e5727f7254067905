/*
 * puzzling.h - how well the sequence fragment puzzle finds words among people
 * whose words are known.
 *
 * Rank v of a distribution is held by a word of a list, in an order of each
 * run's own. A run draws people, lets each report, searches, and holds what was
 * found against what people hold.
 */
#ifndef SIM_DISCOVERY_PUZZLING_H
#define SIM_DISCOVERY_PUZZLING_H

#include "host/base/labels.h"
#include "host/base/table.h"
#include "sim/study/study.h"

enum puzzling_metric {
    PUZZLING_F1 = 0, /* these five: of the first k found, */
    PUZZLING_NCR,    /* against the k words that most people hold */
    PUZZLING_NDCG,
    PUZZLING_PRECISION,
    PUZZLING_RECALL,
    PUZZLING_FOUND,   /* words returned */
    PUZZLING_HELD,    /* the share of them that anybody holds; none: 0 */
    PUZZLING_REACHED, /* the share of the k that are anywhere among them */
    PUZZLING_METRICS
};

/* As in csv: "f1", "ncr", ... */
const char *puzzling_metric_name(enum puzzling_metric metric);

/* A word of the list. */
struct puzzling_word {
    const uint8_t *text;
    size_t len;
};

struct puzzling {
    const struct study_people *people; /* of ranks from 0 on, no more than */
    const struct puzzling_word *words; /* these, none of them twice */
    size_t nwords;
    hsy_spec spec; /* of sfp; pool-seed 0: another a run */
    hsy_puzzle search;
    uint64_t users, runs, seed, top;
    unsigned threads; /* from 1 on; the numbers do not depend on it */

    /* Called by one thread at a time with how many people have been searched;
     * may be NULL. */
    void (*tick)(void *ctx, uint64_t users);
    void *ctx;
};

/* Those of the labels that the spec can spell, *n of them, in memory that the
 * caller frees; they lead into the labels. */
hsy_status puzzling_words(struct puzzling_word **words, size_t *n,
                          const struct labels *list, const hsy_spec *spec,
                          hsy_error *err);

struct puzzling_result {
    hsy_scheme_info info;
    double mean[PUZZLING_METRICS];  /* over runs */
    double error[PUZZLING_METRICS]; /* its standard error, NaN of one run */
    double seconds;                 /* of the slowest search */
};

/* HSY_E_RANGE with field "words" and the word's number in err->at for one
 * that cannot be spelled. */
hsy_status puzzling_run(struct puzzling_result *out, const struct puzzling *how,
                        hsy_error *err);

/* Write n results, of one epsilon each; left: words that were left out
 * (puzzle_rows.c). */
void puzzling_print(FILE *to, enum table_format format,
                    const struct puzzling *how,
                    const struct puzzling_result *rows, size_t n,
                    uint32_t left);

#endif
