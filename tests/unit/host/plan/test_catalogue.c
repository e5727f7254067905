/* test_catalogue.c - what every mechanism costs, and which one `auto` takes. */
#include "host/plan/catalogue.h"

#include "tap.h"

#include <string.h>

static struct catalogue ask(uint64_t domain, uint64_t max_bits)
{
    struct catalogue c = {
        .asked = {.nano_epsilon = HSY_NANO, .max_bits = max_bits},
        .domain = domain};

    is_status(catalogue_fill(&c), HSY_OK, "the catalogue is filled");
    return c;
}

static const struct catalogue_row *row(const struct catalogue *c,
                                       const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->rows[i].entry->name, name) == 0)
            return &c->rows[i];
    return NULL;
}

static void rows_are_mechanisms(void)
{
    const struct catalogue c = ask(0, 0);
    size_t n = 0;

    while (hsy_mechanism_at(n) != NULL)
        n++;
    is_u64(c.n, n, "a row a mechanism");
    ok(!row(&c, "grr")->cost.fits, "and no costs without a question");
    is_text(row(&c, "rr")->kinds, "yes-no values", "kinds have their names");
}

static void costs_are_the_schemes(void)
{
    const struct catalogue c = ask(4, 0);
    const struct catalogue_row *grr = row(&c, "grr");

    ok(grr->cost.fits && eq_u64(grr->cost.info.packed_bits, 2),
       "a report of grr among four values has two bits");
    ok(!row(&c, "rr")->cost.fits, "rr is not for four values");
}

static void auto_is_explained(void)
{
    const struct catalogue c = ask(4, 0);
    char why[CATALOGUE_WHY];
    const char *name;

    catalogue_why(&c, why, &name);
    is_text(name, "grr", "among few values grr is taken");
    ok(row(&c, name)->chosen, "and marked");
    is_text(why,
            "auto chooses grr: the least error of the histogram, in 2 bits per "
            "report",
            "and a line says why");
    ok(!catalogue_limited(&c), "no limit was said");
}

static void limits_may_leave_none(void)
{
    const struct catalogue c = ask(1000000, 1);
    char why[CATALOGUE_WHY];
    const char *name;

    catalogue_why(&c, why, &name);
    ok(catalogue_limited(&c), "a limit was said");
    ok(name == NULL || row(&c, name)->cost.info.packed_bits <= 1,
       "what is taken keeps to it");
}

int main(void)
{
    rows_are_mechanisms();
    costs_are_the_schemes();
    auto_is_explained();
    limits_may_leave_none();
    return tap_done();
}
