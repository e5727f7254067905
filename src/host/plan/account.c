/* account.c - rows and curves of an account. */
#include "host/plan/internal.h"

#include "host/plot/plot.h"

#include <math.h>

static void account_put(struct account *a, struct account_row row)
{
    if (a->nrows < ACCOUNT_ROWS)
        a->rows[a->nrows++] = row;
}

void account_text(struct account *a, const char *name, const char *text,
                  const char *about)
{
    account_put(a, (struct account_row){.name = name,
                                        .about = about,
                                        .type = ACCOUNT_TEXT,
                                        .text = text});
}

void account_count(struct account *a, const char *name, uint64_t count,
                   const char *about)
{
    account_put(a, (struct account_row){.name = name,
                                        .about = about,
                                        .type = ACCOUNT_COUNT,
                                        .count = count});
}

static void account_sided(struct account *a, const char *name, double x,
                          const char *about, int side)
{
    account_put(a, (struct account_row){.name = name,
                                        .about = about,
                                        .type = ACCOUNT_NUMBER,
                                        .number = x,
                                        .side = side});
}

void account_number(struct account *a, const char *name, double x,
                    const char *about)
{
    account_sided(a, name, x, about, 0);
}

void account_at_most(struct account *a, const char *name, double x,
                     const char *about)
{
    account_sided(a, name, x, about, 1);
}

void account_at_least(struct account *a, const char *name, double x,
                      const char *about)
{
    account_sided(a, name, x, about, -1);
}

void account_point(struct account *a, size_t i, const char *name, double x,
                   double y)
{
    struct account_curve *c = &a->curves[i];

    c->name = name;
    if (i >= a->ncurves)
        a->ncurves = i + 1;
    if (!(x > 0 && y > 0 && y < PLOT_VALUE_MAX) || c->n == ACCOUNT_POINTS)
        return;
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

size_t account_places(double places[ACCOUNT_POINTS], double least, double most,
                      size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count && i < ACCOUNT_POINTS; i++) {
        const double part = count > 1 ? (double)i / (double)(count - 1) : 1;
        const double at =
            i + 1 == count ? most : round(least * pow(most / least, part));

        if (n == 0 || at > places[n - 1])
            places[n++] = at;
    }
    return n;
}
