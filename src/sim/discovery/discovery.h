/*
 * discovery.h - how well frequent strings are found among people whose strings
 * are known.
 *
 * Truth v of a distribution stands for a string of M random bits, others each
 * run, or for the number v itself, or for a word of a list, in an order of each
 * run's own. A run draws people, asks each once, searches, and holds what was
 * found against the k truths that most people hold.
 */
#ifndef SIM_DISCOVERY_DISCOVERY_H
#define SIM_DISCOVERY_DISCOVERY_H

#include "host/base/labels.h"
#include "host/base/table.h"
#include "sim/study/study.h"

enum discovery_metric {
    DISCOVERY_F1 = 0,
    DISCOVERY_NCR,
    DISCOVERY_NDCG,
    DISCOVERY_PRECISION,
    DISCOVERY_RECALL,
    DISCOVERY_FOUND, /* strings returned */
    DISCOVERY_SHOWN, /* these are known of every search; of a puzzle also: */
    DISCOVERY_HELD = DISCOVERY_SHOWN, /* the share of what was returned that
                                         anybody holds; of none 0 */
    DISCOVERY_REACHED, /* the share of the k that are anywhere among it */
    DISCOVERY_SECONDS, /* that the search took */
    DISCOVERY_METRICS
};

/* As in csv: "f1", "ncr", ... */
const char *discovery_metric_name(enum discovery_metric metric);

/* How many people each batch has, against the first: as many; growing evenly to
 * three times as many; or falling to a third. */
enum discovery_sizes {
    DISCOVERY_EQUAL = 0,
    DISCOVERY_RISING,
    DISCOVERY_DIMINISHING
};

/*
 * The interactive form, by the mechanism `stage` (docs/batches.md): batch i,
 * people of its own, reports the first i step bits, or "other" if these extend
 * none of the prefixes that batch i-1 has brought up, by an oracle for values.
 * Each of the rounds has fresh people, and their scores are averaged before
 * anything is chosen.
 */
struct discovery_batches {
    bool asked;
    uint64_t bits, step, first; /* first: of pem in one round, may be 0 */
    enum discovery_sizes sizes;
    uint64_t rounds; /* at least 1 */
};

/* A word of the list. */
struct discovery_word {
    const uint8_t *text;
    size_t len;
};

struct discovery {
    const struct study_people *people; /* of values from 0 on, or of strings */
    bool as_strings; /* the people's numbers are their strings */
    bool as_counted; /* the people of a file as they are, not a sample */
    const struct discovery_word *words; /* of a puzzle: at least as many as the
                                           people's truths; NULL: it is none */
    size_t nwords;
    hsy_puzzle puzzle; /* with search.top */
    hsy_spec spec;     /* of pem or sfp, or in batches of the oracle, without d;
                          pool-seed 0: another each run */
    hsy_search search;
    struct discovery_batches
        batches;                /* search: top, keep, max_candidates set */
    uint64_t users, runs, seed; /* users: of a round */
    unsigned threads;           /* from 1 on; the numbers do not depend on it */

    /* Hash functions of each person's own, which no tally could hold: the
     * support of every candidate is drawn by itself. */

    /* Called by one thread at a time with how many people have been searched;
     * may be NULL. */
    void (*tick)(void *ctx, uint64_t users);
    void *ctx;
};

struct discovery_result {
    const char *data;      /* the caller's name of the people */
    const char *mechanism; /* the oracle */
    double epsilon;
    uint64_t users;  /* of a round */
    uint64_t domain; /* different truths */
    uint64_t bits, step, top, runs;
    size_t groups; /* or batches, */
    uint64_t
        people[HSY_STAGES_MAX]; /* and how many each of these has a round */
    bool at_once;               /* all reports of a batch are drawn at once */
    hsy_scheme_info info;       /* of a puzzle */
    double mean[DISCOVERY_METRICS];  /* over runs */
    double error[DISCOVERY_METRICS]; /* its standard error, NaN of one run */
    double *each;                    /* runs times DISCOVERY_METRICS */
};

/* On failure err->field names the option to change; HSY_FIELD_WORDS with the
 * number of a word that cannot be spelled in err->at. Close it either way. */
hsy_status discovery_run(struct discovery_result *out,
                         const struct discovery *how, hsy_error *err);
void discovery_close(struct discovery_result *out);

/* Whether all of this makes sense, without doing it. */
hsy_status discovery_check(const struct discovery *how, hsy_error *err);

/* ---- What searches are called (methods.c) -------------------------------- */

struct discovery_method {
    const char *name; /* the caller's */
    hsy_analysis analysis;
    const char *rule;   /* what asks where a spec names no oracle */
    const char *oracle; /* that this name brings with it; NULL: none */
};

/* A search by its name or another name of it; HSY_E_UNKNOWN, HSY_E_RANGE if it
 * is no mechanism for strings. */
hsy_status discovery_method(struct discovery_method *out, const char *name,
                            hsy_error *err);

/* The rule of the mechanism with this number; NULL: it has none. */
const char *discovery_rule(uint32_t id);

/* ---- A grid of searches (grid.c) ----------------------------------------- */

/* Complete the spec, and the step, by the method; batches has the bits, and
 * what was said of step and first (0: nothing). search has its top. */
void discovery_settle(struct discovery *how, const struct discovery_method *m);

/* People, and what they are called. */
struct discovery_data {
    const char *name;
    struct study_people people;
    uint64_t counted; /* in a file; 0: they are from none */
};

/* Every data by every mechanism at every epsilon. */
struct discovery_grid {
    const struct discovery_data *data;
    size_t ndata;
    const char *const *mechanisms; /* "auto": the method's own rule */
    size_t nmechanisms;
    const uint64_t *epsilons; /* nano */
    size_t nepsilons;
    struct discovery_method method;
    struct discovery how; /* of all rows, settled */
    uint64_t users;       /* 0: those of the file, or a million */
    bool integers;        /* truths are their own strings */
    struct output *dump;  /* gets every run; NULL: none */
    bool dumped;          /* it has its header */
    const char *refused;  /* of a failure: what was to ask */
};

/* Whether every row makes sense, before any work. */
hsy_status discovery_grid_check(struct discovery_grid *g, hsy_error *err);

/* All rows; *n of them are begun. Close them. */
hsy_status discovery_grid_run(struct discovery_grid *g,
                              struct discovery_result *rows, size_t *n,
                              hsy_error *err);

/* All who are asked, in all runs. */
double discovery_grid_people(const struct discovery_grid *g);

/* Write all rows of a grid (discovery_rows.c). */
void discovery_print(FILE *to, enum table_format format,
                     const struct discovery_grid *g,
                     const struct discovery_result *rows, size_t n);

/* ---- Words (puzzle_words.c, discovery_rows.c) ---------------------------- */

/* Those of the labels that the spec can spell, *n of them, in memory that the
 * caller frees; they lead into the labels. */
hsy_status discovery_words(struct discovery_word **words, size_t *n,
                           const struct labels *list, const hsy_spec *spec,
                           hsy_error *err);

/* Write n puzzles, of one epsilon each; left: words that were left out. */
void discovery_print_puzzles(FILE *to, enum table_format format,
                             const struct discovery *how,
                             const struct discovery_result *rows, size_t n,
                             uint32_t left);

/* ---- A figure ------------------------------------------------------------ */

/*
 * NDCG of all rows against epsilon, a line for each data and mechanism
 * (discovery_figures.c). HSY_E_RANGE if there are too many lines for one
 * figure.
 */
hsy_status discovery_svg(char **svg, size_t *len,
                         const struct discovery_result *rows, size_t n,
                         hsy_error *err);

#endif
