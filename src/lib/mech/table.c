/* table.c - the mechanisms: one const row each, of mechanisms.def. */
#include "lib/mech/mechanisms.h"

#define SMALL_MECHANISM MECHANISM

/* The tables that the mechanisms' files define. */
#define TABLE(table, name)                                                     \
    extern const struct mech_##table hsy_mech_##name##_##table;
#define TABLES(client_, counting_, estimate_, law_)                            \
    TABLE(client, client_)                                                     \
    TABLE(counting, counting_) TABLE(estimate, estimate_) TABLE(law, law_)
#define RELEASE(name)                                                          \
    TABLE(client, name) TABLE(counting, name) TABLE(estimate, name)
#define PARTS(name, oracle_) TABLE(parts, name)
#define NO_PARTS
#define MECHANISM(symbol, id, name, aliases, title, kinds, analysis, params,   \
                  designs, tables, parts, page)                                \
    tables parts
#include "lib/mech/mechanisms.def"
#undef TABLES
#undef RELEASE
#undef PARTS
#undef NO_PARTS
#undef MECHANISM

#define TABLES(client_, counting_, estimate_, law_)                            \
    .client = &hsy_mech_##client_##_client,                                    \
    .counting = &hsy_mech_##counting_##_counting,                              \
    .estimate = &hsy_mech_##estimate_##_estimate,                              \
    .law = &hsy_mech_##law_##_law
#define RELEASE(name)                                                          \
    .client = &hsy_mech_##name##_client,                                       \
    .counting = &hsy_mech_##name##_counting,                                   \
    .estimate = &hsy_mech_##name##_estimate
#define PARTS(name, oracle_)                                                   \
    .parts = &hsy_mech_##name##_parts, .row.oracle = (oracle_)
#define NO_PARTS .parts = NULL
#define MECHANISM MECHANISM_ROW
#include "lib/mech/mechanisms.def"
#undef MECHANISM

#define MECHANISM(symbol, ...) &hsy_mech_##symbol,
const struct hsy_mechanism *const hsy_mech_table[] = {
#include "lib/mech/mechanisms.def"
};

const size_t hsy_mech_count = sizeof hsy_mech_table / sizeof hsy_mech_table[0];

#undef SMALL_MECHANISM
#undef MECHANISM
#undef TABLE
#undef TABLES
#undef RELEASE
#undef PARTS
#undef NO_PARTS
