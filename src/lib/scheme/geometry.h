/* geometry.h - what a projective scheme keeps: its points and its blocks. */
#ifndef LIB_SCHEME_GEOMETRY_H
#define LIB_SCHEME_GEOMETRY_H

#include "lib/kernels/kernels.h"
#include "lib/scheme/spread.h"

struct projective {
    struct kernel_geometry geometry;
    uint64_t set, set_excess; /* own outputs of a value; 2^64 mod that */
    uint32_t blocks;
    struct spread spread;       /* values to slots, if there are many blocks */
    struct spread_divisor room; /* slots of a block, at most its points */
};

#endif
