/* hr.h - what the two halves of Hadamard response share: hr.c, hr_points.c. */
#ifndef LIB_MECH_HR_H
#define LIB_MECH_HR_H

#include "lib/kernels/hadamard.h"
#include "lib/kernels/pool.h"
#include "lib/scheme/scheme.h"

/* What one report, and a batch of them, is made by. */
static inline struct kernel_hadamard hr_kernel(const hsy_scheme *s)
{
    struct pool_hash turn = hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], 0);
    struct kernel_hadamard h = {.last = s->coin.last,
                                .blanket = s->two.choice.blanket,
                                .a = (uint32_t)turn.a,
                                .c = (uint32_t)turn.b};

    while ((uint64_t)1 << h.block_bits < s->param[HSY_PARAM_BLOCKS])
        h.block_bits++;
    h.index_bits = s->report_bits - h.block_bits;
    return h;
}

void hsy_hr_support(const hsy_scheme *s, struct mech_support *out);
void hsy_hr_reach(const hsy_scheme *s, double reach[2]);
void hsy_hr_variance(const hsy_scheme *s, double v[2]);
double hsy_hr_steps(const hsy_scheme *s, double n);
void hsy_hr_points(const hsy_scheme *s, hsy_evidence *points,
                   const hsy_tally *t, const uint64_t *codes, size_t count,
                   void *scratch);
size_t hsy_hr_points_scratch(const hsy_scheme *s, size_t count);
void hsy_hr_forward(const hsy_scheme *s, double *out, const double *theta,
                    double *scratch);
void hsy_hr_backward(const hsy_scheme *s, double *out, const double *ratio,
                     double *scratch);
size_t hsy_hr_channel_scratch(const hsy_scheme *s);

#endif
