/* normal.c - the normal distribution and its quantiles. */
#include "hearsay.h"

#include <math.h>
#include <stddef.h>

#define SPECIAL_NORMAL_SQRT_HALF 0.707106781186547524401

double hsy_normal_cdf(double z)
{
    return 0.5 * erfc(-z * SPECIAL_NORMAL_SQRT_HALF);
}

/* Coefficients of AS 241, PPND16 [Wichura88], highest power first: the centre,
 * then two tails; numerators, then denominators. Relative error about 1e-16. */
static const double special_normal_as241[6][8] = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
     45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
     133.14166789178437745, 3.387132872796366608},
    {5226.495278852545925, 28729.085735721942674, 39307.89580009271061,
     21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
     42.313330701600911252, 1.0},
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4,
     0.0151986665636164571966, 0.14810397642748007459, 0.68976733498510000455,
     1.6763848301838038494, 2.05319162663775882187, 1.0},
    {2.01033439929228813265e-7, 2.71155556874348757815e-5,
     0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123,
     1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7,
     1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769,
     1.0}};

static double special_normal_ratio(size_t row, double r)
{
    double top = 0, bottom = 0;

    for (size_t i = 0; i < 8; i++) {
        top = top * r + special_normal_as241[row][i];
        bottom = bottom * r + special_normal_as241[row + 1][i];
    }
    return top / bottom;
}

double hsy_normal_quantile(double p)
{
    const double centre = p - 0.5;
    double r, z;

    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -INFINITY : INFINITY;
    if (fabs(centre) <= 0.425)
        return centre * special_normal_ratio(0, 0.180625 - centre * centre);
    r = sqrt(-log(centre < 0 ? p : 1 - p));
    z = r <= 5 ? special_normal_ratio(2, r - 1.6)
               : special_normal_ratio(4, r - 5);
    return centre < 0 ? -z : z;
}
