/*
 * table_small.c - the mechanisms of a small client, in the place of table.c,
 * auto.c and tuple.c: documents name their mechanism, so nothing is chosen
 * here, and ask for one attribute at a time.
 */
#include "lib/core/fail.h"
#include "lib/mech/mechanisms.h"
#include "lib/scheme/tuple.h"

#define MECHANISM(...)
#define NO_PARTS .parts = NULL

#define TABLES(name, counting, estimate, law)                                  \
    extern const struct mech_client hsy_mech_##name##_client;
#define SMALL_MECHANISM(symbol, id, name, aliases, title, kinds, analysis,     \
                        params, designs, tables, parts, page)                  \
    tables
#include "lib/mech/mechanisms.def"
#undef TABLES
#undef SMALL_MECHANISM

#define TABLES(name, counting, estimate, law)                                  \
    .client = &hsy_mech_##name##_client
#define SMALL_MECHANISM MECHANISM_ROW
#include "lib/mech/mechanisms.def"
#undef SMALL_MECHANISM

#define SMALL_MECHANISM(symbol, ...) &hsy_mech_##symbol,
const struct hsy_mechanism *const hsy_mech_table[] = {
#include "lib/mech/mechanisms.def"
};

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
