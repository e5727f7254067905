/*
 * predicted.c - what theory says of a mechanism's error.
 *
 * Shares: points state their variance themselves; the best that is known is
 * hsy_best_known_variance (theory 3.6, 3.14).
 *
 * Means: a point states what its reports let it know, which for one-bit reports
 * is only a bound. Here the truths are known, and with them the exact variance
 * (theory 2.1, 2.2, 2.5), for the integers in use.
 */
#include "sim/study/internal.h"

#include <math.h>

/* ---- Means, x from 0 to 1 ------------------------------------------------ */

/* One bit: 1 with probability q + (p - q) x. */
static double laws_bit(double E, double x)
{
    const double p = (1 + x * (E - 1)) / (E + 1), wide = (E + 1) / (E - 1);

    return wide * wide * p * (1 - p);
}

/* The sum of (y Z - b0)^2 over whole y from `from` below `to`. */
static double laws_squares(double from, double to, double Z, double b0)
{
    const double n = to - from, mean = (from + to - 1) / 2;
    const double centre = mean * Z - b0;

    return n * centre * centre + Z * Z * n * (n * n - 1) / 12;
}

/* A window of w among N outputs, E times as likely, at x (N - w) rounded at
 * random: second moment less x^2. */
static double laws_window(const hsy_scheme_info *info, double E, double x)
{
    const double N = (double)info->param[HSY_PARAM_OUTPUTS];
    const double w = (double)info->param[HSY_PARAM_WINDOW], R = N - w;
    const double Z = w * E + R, at = floor(x * R), up = x * R - at;
    const double b0 = (E - 1) * w * (w - 1) / 2 + N * (N - 1) / 2;
    const double low = laws_squares(at, at + w, Z, b0);
    const double high = laws_squares(at + 1, at + 1 + w, Z, b0);
    const double all = laws_squares(0, N, Z, b0), scale = (E - 1) * w * R;

    return (all + (E - 1) * ((1 - up) * low + up * high)) /
               (Z * scale * scale) -
           x * x;
}

/* A share of one-bit reports among those of a window. */
static double laws_mixed(const hsy_scheme_info *info, double E, double x)
{
    const double mix = (double)info->param[HSY_PARAM_MIX] / 65536;

    return (mix < 1 ? (1 - mix) * laws_window(info, E, x) : 0) +
           (mix > 0 ? mix * laws_bit(E, x) : 0);
}

/* Rounding to a grid of 2 G steps, and two-sided geometric noise. */
static double laws_laplace(const hsy_scheme_info *info, double epsilon,
                           double x)
{
    const double G = (double)info->param[HSY_PARAM_GRID];
    const double sinh_half = sinh(epsilon / (4 * G));
    const double up = 2 * G * x - floor(2 * G * x);

    return (1 / (2 * sinh_half * sinh_half) + up * (1 - up)) / (4 * G * G);
}

double study_mean_law(const hsy_scheme_info *info, double x)
{
    const double E = exp(info->epsilon_exact);

    if (info->param[HSY_PARAM_GRID] != 0)
        return laws_laplace(info, info->epsilon_exact, x);
    return info->param[HSY_PARAM_OUTPUTS] != 0 ? laws_mixed(info, E, x)
                                               : laws_bit(E, x);
}
