/* ratio.h - shares as people write them: 0.25, 25%, 1/4. */
#ifndef HOST_BASE_RATIO_H
#define HOST_BASE_RATIO_H

#include "hearsay.h"

/* "0.75", "75%" or "3/4" as an exact ratio in [0, 1], of a denominator up to
 * 2^31. */
bool ratio_parse(hsy_ratio *out, const char *text, size_t len);

/* "0.75,1/3": just n of them, with commas between. */
bool ratio_parse_list(hsy_ratio *out, size_t n, const char *text);

/* The greatest common divisor. */
uint64_t ratio_gcd(uint64_t a, uint64_t b);

#endif
