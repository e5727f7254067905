/*
 * study.h - how well a mechanism does on people whose truths are known.
 *
 * A study draws a population, lets everybody report, estimates, and holds the
 * estimates against the population: `runs` times, for one mechanism at one
 * epsilon. docs/simulation.md says what the figures mean.
 *
 * All coins are lanes of streams made from the seed, the question and the
 * number of the run (and of a chunk of people), so the numbers are the same
 * whatever the number of threads and whatever else is studied beside.
 */
#ifndef SIM_STUDY_STUDY_H
#define SIM_STUDY_STUDY_H

#include "hearsay.h"
#include "host/base/output.h"
#include "host/base/owned.h"
#include "host/base/table.h"
#include "host/plot/plot.h"

#define STUDY_RUNS_MAX 1000000u
#define STUDY_THREADS_MAX 256u
#define STUDY_USERS_MAX ((uint64_t)1000000000000000)
#define STUDY_EACH_MAX ((uint64_t)1 << 40) /* people simulated one by one */
#define STUDY_MEMORY_MAX ((uint64_t)4 << 30)
#define STUDY_POINTS_MAX 10001u /* different numbers of a range */
#define STUDY_LEVEL 0.95        /* of the intervals */
#define STUDY_HEAVY 10u         /* heavy values, if nothing is said */
#define STUDY_SHOWN_MAX 4096u   /* values of a histogram of one row, */
#define STUDY_SHOWN_BARS 64u    /* of several, */
#define STUDY_SHOWN_ROWS 3u     /* which are so many at most */
#define STUDY_CURATORS_MAX 1000000u
#define STUDY_DELTA_MIN 1e-250

/* ---- People (people.c) --------------------------------------------------- */

enum study_law {
    STUDY_ZIPF = 0,  /* value v with weight (v + 1)^-a */
    STUDY_GEOMETRIC, /* a (1 - a)^v */
    STUDY_POISSON,   /* mean a */
    STUDY_UNIFORM,   /* all alike; from a to b if bounded */
    STUDY_GAUSSIAN,  /* mean a, standard deviation b, rounded */
    STUDY_LAWS
};

struct study_data {
    enum study_law law;
    double a, b;
    bool bounded;
};

/* "zipf:1.1", "uniform", "gaussian:50:10", ... HSY_E_FORMAT or HSY_E_RANGE with
 * what is wrong. */
hsy_status study_data_parse(struct study_data *data, const char *text,
                            hsy_error *err);

/* Who can be asked: the different truths, and how likely each is. */
struct study_people {
    size_t n;
    int64_t *numbers; /* ascending: indices, or numbers in 10^-scale */
    double *weights;
    uint64_t *counts; /* of a file, all of them; else NULL */
    double *hazards;  /* of each among itself and those that follow */
};

/* The truths of a distribution that a question has room for (kind, d, lo, hi
 * and scale of the spec), the rest being cut off. HSY_E_RANGE if none is
 * likely, HSY_E_NOMEM. Close it either way. */
hsy_status study_people_open(struct study_people *people,
                             const struct study_data *data,
                             const hsy_spec *question, hsy_error *err);

/* The same from people who were counted; numbers ascend. */
hsy_status study_people_counted(struct study_people *people,
                                const int64_t *numbers, const uint64_t *counts,
                                size_t n, hsy_error *err);
void study_people_close(struct study_people *people);

/* With what something is wrong; err has a line of a file, or a limit. */
enum study_wrong {
    STUDY_WRONG_LINE = 0, /* err says all */
    STUDY_WRONG_DECIMAL,
    STUDY_WRONG_INTEGER,
    STUDY_WRONG_VALUE,    /* no integer, in a file of values from 0 on */
    STUDY_WRONG_DOMAIN,   /* a value that is none of d */
    STUDY_WRONG_RANGE,    /* a number outside its range */
    STUDY_WRONG_BITS,     /* an integer of more bits */
    STUDY_WRONG_LENGTH,   /* a string of more bits */
    STUDY_WRONG_ALIKE,    /* lines that are all the same */
    STUDY_WRONG_MANY,     /* too many that are not */
    STUDY_WRONG_PEOPLE,   /* err: of those who were counted */
    STUDY_WRONG_MEAN,     /* of a grid: heavy values of a mean */
    STUDY_WRONG_TOP,      /* more of them than there are */
    STUDY_WRONG_CURATORS, /* more than people */
    STUDY_WRONG_SCHEME,   /* err: of a spec */
    STUDY_WRONG_RUN       /* err: of a study */
};

/* People of a file, one truth a line (people_file.c). */
struct study_file {
    struct study_people people; /* close it in any case */
    uint64_t users;
    enum study_wrong wrong;
};

/* All lines of fd as truths of the question. Of values without a number of them
 * (d 0) these are the different lines, sorted, and d becomes their number. No
 * error repeats a line. */
hsy_status study_file_read(struct study_file *f, hsy_spec *question, int fd,
                           hsy_error *err);

/* The same of strings spelled in so many bits, or of integers as wide: the
 * people's numbers are their codes. */
hsy_status study_file_strings(struct study_file *f, uint64_t bits,
                              bool integers, int fd, hsy_error *err);

/* A population of so many: how many hold each truth. */
void study_people_draw(uint64_t *counts, const struct study_people *people,
                       uint64_t users, hsy_stream *st);

/* ---- Models (study_models.c) --------------------------------------------- */

/* Who is trusted with what. */
enum study_model {
    STUDY_LOCAL = 0,  /* nobody: everybody adds noise */
    STUDY_SHUFFLED,   /* a shuffler, with who sent which report */
    STUDY_CENTRAL,    /* one curator with everything */
    STUDY_MULTIPARTY, /* several, each with the truths of its own people */
    STUDY_MODELS
};

/* "local", "shuffled", "central", "multiparty:10". */
#define STUDY_MODEL_NAME 32u
void study_model_name(char name[STUDY_MODEL_NAME], enum study_model model,
                      uint64_t curators);

/* The same backwards: HSY_E_UNKNOWN, or HSY_E_RANGE for a number of curators
 * that is none from 1 to STUDY_CURATORS_MAX. curators is 0 if nobody is one. */
hsy_status study_model_parse(enum study_model *model, uint64_t *curators,
                             const char *text, hsy_error *err);

/* A question as a model asks it: curators have a mechanism of their own. The
 * epsilon of shuffled reports is another matter. */
hsy_spec study_model_spec(enum study_model model, const hsy_spec *asked);

/* What delta is if nothing is said: 1e-6, or users^-1.5 if that is less. */
double study_delta(uint64_t users);

/* ---- A study (run.c) ----------------------------------------------------- */

/* What is measured of a run. */
enum study_metric {
    STUDY_MSE = 0,
    STUDY_PREDICTED, /* of MSE, by what is known of the mechanism */
    STUDY_MAX,
    STUDY_COVERAGE,
    STUDY_MAE,
    STUDY_KL,
    STUDY_TV,
    STUDY_PRECISION,
    STUDY_RECALL,
    STUDY_F1,
    STUDY_NCR,
    STUDY_NDCG,
    STUDY_LIMIT, /* MSE of the best mechanism known */
    STUDY_METRICS
};

/* As in csv: "mse", "predicted_mse", ... */
const char *study_metric_name(enum study_metric metric);

struct study {
    const struct study_people *people;
    hsy_spec spec; /* the question, the mechanism and epsilon; curators have
                      a mechanism of their own, "central" */
    enum study_model model;
    uint64_t curators; /* of STUDY_MULTIPARTY, at most as many as users */
    double delta;      /* of STUDY_SHUFFLED, from STUDY_DELTA_MIN, below 1 */
    double honest;     /* ... the share of people who hide others; 0: all */
    uint64_t users;    /* people of a run */
    bool as_counted;   /* they are those of the file, not a sample */
    uint64_t runs, seed;
    size_t top;       /* heavy values looked for, at most d */
    unsigned threads; /* from 1 on */
    bool one_by_one;  /* never at once, even where that is exact */
    bool keep;        /* the first run's estimates too, for a figure */

    /* Called now and then with how many people have reported since, by one
     * thread at a time; may be NULL. */
    void (*tick)(void *ctx, uint64_t users);
    void *ctx;
};

/* A value that does not apply is NaN; so is an error of less than two runs. */
struct study_result {
    hsy_scheme_info info;
    enum study_model model;
    char name[STUDY_MODEL_NAME]; /* of the model */
    uint64_t curators;           /* 0: none */
    double epsilon, delta;       /* that everybody is promised */
    const char *bound;           /* of shuffling: a literal, else NULL */
    uint64_t users, runs;
    bool at_once;                /* all reports of a run drawn at once */
    double mean[STUDY_METRICS];  /* over runs */
    double error[STUDY_METRICS]; /* its standard error */
    double *each;                /* runs times STUDY_METRICS */
    double *truths;              /* kept: d true shares, else NULL */
    hsy_estimate *estimates;     /* kept: d estimates */
};

/* On failure err->field names the option to change. Close it either way. */
hsy_status study_run(struct study_result *out, const struct study *study,
                     hsy_error *err);
void study_close(struct study_result *out);

/* ---- A grid of studies (grid.c) ------------------------------------------ */

/* A model, and a mechanism where people add the noise. */
struct study_way {
    enum study_model model;
    uint64_t curators;
    const char *mechanism;
};

/* Every way at every epsilon with every number of people. */
struct study_grid {
    const struct study_way *ways;
    size_t nways;
    const uint64_t *epsilons; /* nano */
    size_t nepsilons;
    const uint64_t *users; /* 0: those of the file, who are `counted` */
    size_t nusers;
    uint64_t counted;
    uint64_t top;        /* 0: STUDY_HEAVY, or all if fewer */
    struct study how;    /* runs, seed, delta (0: study_delta), honest,
                            threads, one_by_one, keep, tick */
    struct output *dump; /* gets every run; NULL: none */
    bool dumped;         /* it has its header */

    /* Of what failed: with what, the way and the spec. */
    enum study_wrong wrong;
    struct study_way refused;
    hsy_spec spec;
};

/* All who report, in all runs. */
double study_grid_people(const struct study_grid *g);

/* Whether a question makes sense in every row, before any work. */
hsy_status study_grid_check(struct study_grid *g, const hsy_spec *asked,
                            hsy_error *err);

/* All rows of a question, behind those that are there: *n grows. Close them, of
 * a failure too. */
hsy_status study_grid_run(struct study_grid *g, struct study_result *rows,
                          size_t *n, const struct study_people *people,
                          const hsy_spec *asked, hsy_error *err);

/* The rows of a grid, of one or more domains (study_rows.c). */
struct study_shown {
    const struct study_grid *grid;
    const char *data; /* what the people are called */
    size_t ndomains;  /* that were asked for */
    const struct study_result *rows;
    size_t nrows;
};

void study_print(FILE *to, enum table_format format,
                 const struct study_shown *s);

/* ---- Reports (reports.c) ------------------------------------------------- */

/* People who hold each truth, and its code. */
struct study_truths {
    const uint64_t *codes;
    const uint64_t *counts;
    const uint64_t *ends; /* people up to and with each truth */
    size_t n;
    uint64_t users;
};

/* Whether a mechanism's tally can be drawn at once, exactly in law. */
bool study_at_once(const hsy_scheme_info *info);

/* Draw it: t is empty. */
void study_draw(hsy_tally *t, const hsy_scheme_info *info,
                const struct study_truths *truths, hsy_stream *st);

/* Memory of one who lets people report one by one. */
struct study_desk {
    size_t chunk; /* people at a time */
    uint64_t *codes;
    uint8_t *reports;
    void *scratch;
};

/* People at a time: a number of the scheme, not of the machine. */
size_t study_chunk(const hsy_scheme_info *info);

/* Room for desk->chunk people; owned->failed: there is none. */
void study_desk_open(struct study_desk *desk, struct owned *owned,
                     const hsy_scheme *s, size_t report_bytes);

/* Add the reports of chunk number `which` of all people, in the order of their
 * codes, to t. */
hsy_status study_report(hsy_tally *t, const hsy_scheme *s,
                        const struct study_desk *desk,
                        const struct study_truths *truths, uint64_t which,
                        hsy_stream *secret, hsy_stream *published,
                        hsy_error *err);

/* ---- Figures (study_figures.c) ------------------------------------------- */

/*
 * The error (root of the mean squared error) of all rows against epsilon, or
 * against users if these alone differ, measured, predicted and the best known;
 * of few rows that were kept (and asked one question of the same people) their
 * histogram. Rows of one mechanism stand
 * together, epsilons in order within, users within these. HSY_E_RANGE if there
 * is too much for one figure or nothing to show.
 */
hsy_status study_svg(char **svg, size_t *len, const struct study_result *rows,
                     size_t n, hsy_error *err);

#endif
