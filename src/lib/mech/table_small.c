/*
 * table_small.c - the mechanisms of a small client, in the place of table.c,
 * auto.c and tuple.c: documents name their mechanism, so nothing is chosen
 * here, and ask for one attribute at a time.
 */
#include "lib/core/fail.h"
#include "lib/scheme/tuple.h"

const struct hsy_mechanism *const hsy_mech_table[] = {
    &hsy_mech_rr,  &hsy_mech_grr, &hsy_mech_sue,   &hsy_mech_oue,
    &hsy_mech_olh, &hsy_mech_blh, &hsy_mech_rappor};

const size_t hsy_mech_count = sizeof hsy_mech_table / sizeof hsy_mech_table[0];

hsy_status hsy_mech_auto(hsy_scheme *s, const hsy_spec *spec, hsy_error *err)
{
    (void)s;
    (void)spec;
    return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                    "this client must be told which mechanism");
}

/* None of these has a tail. */
size_t hsy_mech_tail_size(const hsy_spec *spec)
{
    (void)spec;
    return 0;
}

hsy_status hsy_tuple_check(const hsy_spec *spec, hsy_error *err)
{
    (void)spec;
    return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_KIND,
                    "this client does not know several attributes");
}
