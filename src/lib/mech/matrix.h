/* matrix.h - the inverse of a channel's matrix. */
#ifndef LIB_MECH_MATRIX_H
#define LIB_MECH_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#define MATRIX_WORST_CONDITION 1e8

/* Gauss and Jordan with partial pivoting; a, d times d row by row, is used up.
 * False if it is singular. */
bool hsy_matrix_invert(double *inverse, double *a, size_t d);

/* The condition number in the 1-norm: that of a stochastic matrix is 1, so it
 * is that of its inverse. */
double hsy_matrix_condition(const double *inverse, size_t d);

#endif
