/* ct.h - comparisons and choices without branches, on secret 64-bit words. */
#ifndef LIB_BITS_CT_H
#define LIB_BITS_CT_H

#include <stdint.h>
#ifdef HSY_CTIME
#include <valgrind/memcheck.h>
#endif

/* All ones if a < b, else zero. */
static inline uint64_t ct_less(uint64_t a, uint64_t b)
{
    return 0 - (((~a & b) | ((~a | b) & (a - b))) >> 63);
}

/* All ones if a == b, else zero. */
static inline uint64_t ct_equal(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ b;

    return ((x | (0 - x)) >> 63) - 1;
}

/* x, about which the compiler knows nothing: clang makes a branch of a mask
 * that it knows to be all ones or zero. */
static inline uint64_t ct_hide(uint64_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* a where mask is ones, b where it is zeros. */
static inline uint64_t ct_select(uint64_t mask, uint64_t a, uint64_t b)
{
    return b ^ (ct_hide(mask) & (a ^ b));
}

/* x, which may show although it was made from a coin: whether a word is drawn
 * anew depends on neither the truth nor the outcome (prob.h). The test of
 * constant time, which defines HSY_CTIME, follows x no further. */
static inline uint64_t ct_public(uint64_t x)
{
#ifdef HSY_CTIME
    (void)VALGRIND_MAKE_MEM_DEFINED(&x, sizeof x);
#endif
    return x;
}

#endif
