/* test_spent.c - what was spent, from a file; and the figures of plans. */
#define _GNU_SOURCE
#include "host/plan/account.h"

#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void epsilons_are_not_rounded_down(void)
{
    static const char *const bad[] = {"0", "101", ".", "-1", "ln1", "x", ""};
    double x = 0;

    ok(account_epsilon(&x, "0.5") && eq_int(x == 0.5, 1), "a decimal");
    ok(account_epsilon(&x, ".25") && eq_int(x == 0.25, 1),
       "a decimal without its first 0");
    ok(account_epsilon(&x, "1e-3") && eq_int(x == 0.001, 1), "an exponent");
    ok(account_epsilon(&x, "ln3") && x >= log(3) && x < 1.0987, "or ln3");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(!account_epsilon(&x, bad[i]), "'%s' is none", bad[i]);
}

static hsy_status spent(hsy_spent **list, size_t *n, const char *text,
                        hsy_error *err)
{
    FILE *f = tmpfile();
    hsy_status st;

    if (f == NULL || fputs(text, f) == EOF || fflush(f) != 0)
        exit(1);
    lseek(fileno(f), 0, SEEK_SET);
    st = account_spent(list, n, fileno(f), err);
    fclose(f);
    return st;
}

static void lines_are_added(void)
{
    hsy_spent *list = NULL;
    hsy_error err = {0};
    size_t n = 0;

    ok(eq_status(spent(&list, &n, "0.5\n0.1,30\n", &err), HSY_OK) &&
           eq_u64(n, 2) && eq_u64(list[0].count, 1) &&
           eq_u64(list[1].count, 30),
       "an epsilon a line, or so many of them");
    free(list);
    ok(eq_status(spent(&list, &n, "0.5\n0.1,0\n", &err), HSY_E_FORMAT) &&
           eq_u64(err.at, 2),
       "a line that is none is named");
    free(list);
    ok(eq_status(spent(&list, &n, "1,1000000000\n1,1\n", &err),
                 HSY_E_OVERFLOW) &&
           eq_u64(err.at, 2),
       "there is a most of them");
    free(list);
    is_status(spent(&list, &n, "", &err), HSY_E_EMPTY, "and a least");
    free(list);
}

static bool drawn(hsy_status st, char *svg, size_t len, const char *word)
{
    const bool good = st == HSY_OK && len > 100 &&
                      memmem(svg, len, word, strlen(word)) != NULL;

    free(svg);
    return good;
}

static void figures_are_drawn(void)
{
    static const struct plan_question q = {.spec = {.size = sizeof(hsy_spec),
                                                    .kind = HSY_KIND_YES_NO,
                                                    .d = 2,
                                                    .nano_epsilon = HSY_NANO},
                                           .missing = PLAN_ALPHA,
                                           .given = {0, 1000, 0.05, 0},
                                           .share = NAN,
                                           .prior = 0.5,
                                           .answers = 1};
    struct plan p;
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st = plan_solve(&p, &q, &err);

    if (st == HSY_OK)
        st = plan_figure(&svg, &len, &p, &q, &err);
    ok(drawn(st, svg, len, "Error against people"), "error against people");
    ok(p.why == 0, "of which nothing is wrong");
    svg = NULL;
    st = plan_learned_figure(&svg, &len, &err);
    ok(drawn(st, svg, len, "What one answer tells"), "what an answer tells");
}

int main(void)
{
    epsilons_are_not_rounded_down();
    lines_are_added();
    figures_are_drawn();
    return tap_done();
}
