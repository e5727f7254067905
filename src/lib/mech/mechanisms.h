/*
 * mechanisms.h - how mechanisms.def is read into rows, and all rows by name.
 *
 * A row is an initializer of struct hsy_mechanism. What it takes of the tables,
 * TABLES, RELEASE and PARTS, the reader defines (table.c, table_small.c).
 */
#ifndef LIB_MECH_MECHANISMS_H
#define LIB_MECH_MECHANISMS_H

#include "lib/scheme/scheme.h"

#define KIND(kind) (1u << HSY_KIND_##kind)
#define PARAM(param) (1u << HSY_PARAM_##param)
#define NO_PARAMS 0
#define DESIGN(design) (1u << HSY_DESIGN_##design)
#define NO_DESIGNS 0

#define MECHANISM_ROW(symbol, id_, name_, aliases_, title_, kinds_, analysis_, \
                      params_, designs_, tables, parts_, page)                 \
    const struct hsy_mechanism hsy_mech_##symbol = {                           \
        .row.id = (id_),                                                       \
        .row.name = (name_),                                                   \
        .row.aliases = (aliases_),                                             \
        .row.title = (title_),                                                 \
        .row.kinds = (kinds_),                                                 \
        .row.analysis = HSY_ANALYSIS_##analysis_,                              \
        .params = (params_),                                                   \
        .designs = (designs_),                                                 \
        tables,                                                                \
        parts_};

#define MECHANISM(symbol, ...)                                                 \
    extern const struct hsy_mechanism hsy_mech_##symbol;
#define SMALL_MECHANISM MECHANISM
#include "lib/mech/mechanisms.def"
#undef MECHANISM
#undef SMALL_MECHANISM

#endif
