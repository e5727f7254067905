/* domain.c - a small question of every kind, for an audit of all mechanisms. */
#include "audit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOMAIN_VALUES 10u   /* of a list */
#define DOMAIN_POOL_BITS 6u /* small, so that outputs can be enumerated */
#define DOMAIN_HASHES 2u
#define DOMAIN_WIDTH 8u
#define DOMAIN_UNIT (1u << 20) /* of a matrix */
#define DOMAIN_RANGE_HI 100    /* numbers: 0 to 100 */

/* A matrix of d states in which the truth is likelier by at most e^epsilon, in
 * the library's encoding. */
static void domain_matrix(hsy_spec *spec, uint8_t *block)
{
    uint64_t own =
        (uint64_t)(DOMAIN_UNIT * exp((double)spec->nano_epsilon / 1e9));
    uint32_t d = spec->d;

    for (size_t i = 0; i < 1 + (size_t)d * d; i++) {
        uint64_t entry = i == 0 ? own + DOMAIN_UNIT * (d - 1)
                         : (i - 1) / d == (i - 1) % d ? own
                                                      : DOMAIN_UNIT;

        for (size_t k = 0; k < 8; k++)
            block[8 * i + k] = (uint8_t)(entry >> 8 * k);
    }
    spec->design = HSY_DESIGN_MATRIX;
    spec->labels = block;
    spec->labels_len = 8 + 8 * (size_t)d * d;
}

/* Few public functions, so that outputs can be enumerated. */
static void domain_few(hsy_spec *spec, const hsy_scheme_info *info)
{
    if (info->param[HSY_PARAM_POOL_BITS] != 0)
        spec->param[HSY_PARAM_POOL_BITS] = DOMAIN_POOL_BITS;
    if (info->param[HSY_PARAM_WIDTH] != 0 &&
        info->param[HSY_PARAM_HASHES] != 0) { /* a sketch */
        spec->param[HSY_PARAM_HASHES] = DOMAIN_HASHES;
        spec->param[HSY_PARAM_WIDTH] = /* sfp has two of them in a report */
            info->param[HSY_PARAM_FRAGMENTS] != 0 ? DOMAIN_WIDTH / 2
                                                  : DOMAIN_WIDTH;
    }
    if (info->param[HSY_PARAM_COHORTS] != 0) {
        spec->param[HSY_PARAM_COHORTS] = DOMAIN_HASHES;
        spec->param[HSY_PARAM_FILTER_BITS] = DOMAIN_WIDTH;
    }
}

/* Whether the spec resolves, and to what. */
static hsy_status domain_resolves(const hsy_spec *spec, hsy_scheme_info *info,
                                  hsy_error *err)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_status st = HSY_E_NOMEM;

    if (s != NULL)
        st = hsy_scheme_init(s, spec, err);
    if (st == HSY_OK)
        hsy_scheme_describe(s, info);
    free(s);
    return st;
}

/* Two attributes: yes/no, and one of three values. */
static hsy_status domain_attributes(hsy_spec *spec, uint8_t block[AUDIT_BLOCK],
                                    hsy_error *err)
{
    hsy_spec own = {.size = sizeof own,
                    .nano_epsilon = spec->nano_epsilon,
                    .kind = HSY_KIND_YES_NO};
    size_t len = 0;
    hsy_status st = hsy_attribute_encode(
        block, AUDIT_BLOCK, &len,
        &(hsy_attribute){.name = "a", .name_len = 1, .spec = own}, err);

    own.kind = HSY_KIND_VALUES;
    own.d = 3;
    if (st == HSY_OK)
        st = hsy_attribute_encode(
            block, AUDIT_BLOCK, &len,
            &(hsy_attribute){.name = "b", .name_len = 1, .spec = own}, err);
    spec->labels = block;
    spec->labels_len = len;
    return st;
}

hsy_status audit_domain(hsy_spec *spec, uint8_t block[AUDIT_BLOCK],
                        const char *mechanism, uint32_t kind,
                        uint64_t nano_epsilon, hsy_error *err)
{
    hsy_scheme_info info = {0};
    hsy_status st = HSY_OK;

    *spec = (hsy_spec){.size = sizeof *spec,
                       .mechanism = mechanism,
                       .nano_epsilon = nano_epsilon,
                       .kind = kind};
    if (kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS)
        spec->hi = DOMAIN_RANGE_HI;
    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec->d = DOMAIN_VALUES;
    if (strcmp(mechanism, "matrix") == 0)
        domain_matrix(spec, block);
    if (kind == HSY_KIND_TUPLE)
        st = domain_attributes(spec, block, err);
    if (st == HSY_OK)
        st = domain_resolves(spec, &info, err);
    if (st != HSY_OK && st != HSY_E_NOMEM && spec->d != 0) {
        spec->d = 2; /* binary mechanisms */
        st = domain_resolves(spec, &info, err);
    }
    domain_few(spec, &info);
    return st;
}
