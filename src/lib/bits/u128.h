/* u128.h - products of two 64-bit integers. */
#ifndef LIB_BITS_U128_H
#define LIB_BITS_U128_H

__extension__ typedef unsigned __int128 hsy_u128;

#endif
