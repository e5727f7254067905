/* u128.h - products of two 64-bit integers. */
#ifndef HSY_U128_H
#define HSY_U128_H

__extension__ typedef unsigned __int128 hsy_u128;

#endif
