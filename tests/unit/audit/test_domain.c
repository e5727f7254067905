/* test_domain.c - a small question of every kind, for an audit of all. */
#include "audit/audit.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

static bool resolves(const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    const bool good = s != NULL && hsy_scheme_init(s, spec, NULL) == HSY_OK;

    free(s);
    return good;
}

/* Whatever a mechanism says that it takes. */
static void every_kind_has_a_question(const hsy_catalogue *row)
{
    uint8_t block[AUDIT_BLOCK];

    for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++) {
        hsy_error err = {0};
        hsy_spec spec;

        if ((row->kinds >> kind & 1) == 0)
            continue;
        ok(audit_domain(&spec, block, row->name, kind, HSY_NANO, &err) ==
                   HSY_OK &&
               resolves(&spec),
           "%s is asked %s", row->name, hsy_kind_name(kind));
    }
}

static void what_is_not_taken_is_told(void)
{
    uint8_t block[AUDIT_BLOCK];
    hsy_error err = {0};
    hsy_spec spec;

    ok(audit_domain(&spec, block, "rr", HSY_KIND_NUMBER, HSY_NANO, &err) !=
               HSY_OK &&
           err.msg != NULL,
       "why a mechanism does not take a kind");
}

int main(void)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        every_kind_has_a_question(row);
    what_is_not_taken_is_told();
    return tap_done();
}
