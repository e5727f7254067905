/* axis.c - how long an axis is, and which numbers stand on it. */
#include "host/plot/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AXIS_TICKS 6.0  /* about so many on a linear axis */
#define AXIS_ALIKE 1e-9 /* values that differ less than this part of them */
#define AXIS_DECADES 8  /* at most so many numbers on a logarithmic one */
#define AXIS_PLAIN_LOW 1e-4
#define AXIS_PLAIN_HIGH 1e6

/* "0.25", "1000", "2e6", "1e-12": an exponent without plus sign and zeros. */
static void axis_text(char text[PLOT_TICK_TEXT], double x, int decimals)
{
    double size = fabs(x);
    int exponent;

    if (size == 0 || (size >= AXIS_PLAIN_LOW && size < AXIS_PLAIN_HIGH)) {
        snprintf(text, PLOT_TICK_TEXT, "%.*f", decimals, size == 0 ? 0 : x);
        return;
    }
    exponent = (int)floor(log10(size) + 1e-9);
    snprintf(text, PLOT_TICK_TEXT, "%.4ge%d", x / pow(10, exponent), exponent);
}

static int axis_decimals(double step)
{
    int decimals = (int)-floor(log10(step) + 1e-9);

    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

static void axis_tick(struct plot_scale *s, double value, int decimals)
{
    double at = plot_scale_at(s, value);

    if (s->nticks == PLOT_TICKS_MAX || !(at >= -1e-9 && at <= 1 + 1e-9))
        return;
    s->ticks[s->nticks] = at < 0 ? 0 : at > 1 ? 1 : at;
    axis_text(s->texts[s->nticks++], value, decimals);
}

/* The least of 1, 2, 5, 10, 20, ... times a power of ten that is at least x. */
static double axis_step(double x)
{
    double power = pow(10, floor(log10(x)));
    double lead = x / power;

    return power * (lead <= 1 + 1e-9   ? 1
                    : lead <= 2 + 1e-9 ? 2
                    : lead <= 5 + 1e-9 ? 5
                                       : 10);
}

static void axis_linear(struct plot_scale *s, bool given, double least,
                        double most)
{
    double size = fabs(least) > fabs(most) ? fabs(least) : fabs(most);
    /* Divided first: the difference itself may be beyond a double. */
    double step = most / AXIS_TICKS - least / AXIS_TICKS, first;

    /* Values that are as good as one have it in the middle of their axis. */
    if (!(step > AXIS_ALIKE * size)) {
        double margin = size > 0 ? size / 2 : 1;

        least -= margin;
        most += margin;
        step = 2 * margin / AXIS_TICKS;
    }
    step = axis_step(step);
    s->low = given ? least : step * floor(least / step + 1e-9);
    s->high = given ? most : step * ceil(most / step - 1e-9);
    first = ceil(s->low / step - 1e-9);
    for (unsigned i = 0; i < PLOT_TICKS_MAX; i++)
        axis_tick(s, (first + i) * step, axis_decimals(step));
}

/* Powers of ten, every one or every few of them; also twice and five times
 * each where there are only one or two. */
static void axis_log(struct plot_scale *s, bool given, double least,
                     double most)
{
    static const double leads[] = {1, 2, 5};
    int from, to, every;
    bool fine;

    s->low = given ? log10(least) : floor(log10(least) + 1e-9);
    s->high = given ? log10(most) : ceil(log10(most) - 1e-9);
    if (s->high <= s->low)
        s->high = s->low + 1;
    from = (int)floor(s->low + 1e-9);
    to = (int)ceil(s->high - 1e-9);
    every = 1 + (to - from - 1) / AXIS_DECADES;
    fine = to - from <= 2;
    for (int power = from; power <= to; power += every)
        for (size_t i = 0; i < (fine ? 3 : 1); i++)
            axis_tick(s, leads[i] * pow(10, power), power < 0 ? -power : 0);
}

void plot_scale_fit(struct plot_scale *s, const struct plot_axis *axis,
                    double least, double most)
{
    bool given = axis->low != 0 || axis->high != 0;

    memset(s, 0, sizeof *s);
    s->log = axis->log;
    if (given) {
        least = axis->low;
        most = axis->high;
    } else if (least > most) {
        least = s->log ? 1 : 0;
        most = s->log ? 10 : 1;
    }
    if (s->log)
        axis_log(s, given, least, most);
    else
        axis_linear(s, given, least, most);
}

double plot_scale_at(const struct plot_scale *s, double value)
{
    double x = s->log ? log10(value) : value;

    /* Quarters: the whole length of the axis may be beyond a double. */
    return (x / 4 - s->low / 4) / (s->high / 4 - s->low / 4);
}
