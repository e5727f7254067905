/*
 * rappor_files.h - RAPPOR's own CSV files.
 *
 * "-" is the standard input. Reading is strict: a
 * byte-order mark, an empty line, a missing or extra field, a number that is
 * none or too large, a duplicate candidate or a map that disagrees with the
 * parameters is HSY_E_FORMAT, and err has the line (from 1) and the field's
 * name. HSY_E_IO leaves errno set; HSY_E_NOMEM. On failure nothing is to be
 * freed. Layouts: docs/compat-rappor.md.
 */
#ifndef HOST_FORMAT_RAPPOR_FILES_H
#define HOST_FORMAT_RAPPOR_FILES_H

#include "hearsay.h"

#define RAPPOR_BITS_MAX 4096u       /* k */
#define RAPPOR_HASHES_MAX 64u       /* h */
#define RAPPOR_COHORTS_MAX 65536u   /* m */
#define RAPPOR_CELLS_MAX (1u << 24) /* m k */
#define RAPPOR_NAME_MAX 4096u       /* bytes of a candidate's name */
#define RAPPOR_CANDIDATES_MAX (1u << 24)
#define RAPPOR_VARIABLES_MAX 16u /* columns of bits in a reports file */

/* params: header k,h,m,p,q,f and one row. Probabilities are in [0, 1], f < 1
 * and p != q: otherwise the reports hold nothing. */
struct rappor_params {
    uint32_t k, h, m;
    double p, q, f;
};

/* counts: no header, m rows of the cohort's reports and those with bit 0 .. k-1
 * set. */
struct rappor_counts {
    uint32_t k, m;
    uint64_t *totals; /* m */
    uint64_t *ones;   /* m times k: [cohort][bit] */
};

/* map: no header, a candidate and m h one-based positions cohort k + bit + 1,
 * the h of cohort 0 first. Two hashes of one cohort may share a bit. */
struct rappor_map {
    size_t candidates;
    uint32_t m, h;
    char **names;   /* NUL-terminated, no two the same */
    uint16_t *bits; /* [candidate][cohort][hash], the bit from 0 */
};

/* reports: header client,cohort and columns of bits, most significant first.
 * `client,cohort,bloom,prr,irr` is a simulation's: its one variable is irr. Any
 * other names are variables of an association. */
struct rappor_reports {
    size_t n;
    uint32_t variables;
    char *names[RAPPOR_VARIABLES_MAX];
    uint32_t k[RAPPOR_VARIABLES_MAX];    /* bits of each */
    size_t offset[RAPPOR_VARIABLES_MAX]; /* where its bytes begin */
    size_t stride;                       /* bytes of a report */
    uint32_t *cohorts;                   /* n */
    uint8_t
        *words; /* n strides; bit b of a variable at bit b % 8 of byte b/8 */
};

hsy_status rappor_params_read(struct rappor_params *params, const char *path,
                              hsy_error *err);

/* A counts file, or a reports file of one variable (it begins with "client"),
 * which is added up while it is read. */
hsy_status rappor_counts_read(struct rappor_counts *counts,
                              const struct rappor_params *params,
                              const char *path, hsy_error *err);
void rappor_counts_free(struct rappor_counts *counts);

hsy_status rappor_map_read(struct rappor_map *map,
                           const struct rappor_params *params, const char *path,
                           hsy_error *err);
void rappor_map_free(struct rappor_map *map);

/* find sets the parameters of the variable with this name, or returns false,
 * which is HSY_E_FORMAT. All have the same m; every cohort must be below it,
 * and the bits of a variable as many as its k. */
typedef bool rappor_params_of(void *ctx, const char *name,
                              struct rappor_params *params);
hsy_status rappor_reports_find(struct rappor_reports *reports,
                               rappor_params_of *find, void *ctx,
                               const char *path, hsy_error *err);
void rappor_reports_free(struct rappor_reports *reports);

#endif
