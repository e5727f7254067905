/* catalogue.c - what every mechanism costs for a question, and which one `auto`
 * takes. */
#include "host/plan/catalogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CATALOGUE_SAME 1.0005 /* as much, in a line */

/* ---- Costs --------------------------------------------------------------- */

/* The question of this kind, to one mechanism (NULL: auto's choice). */
static hsy_spec catalogue_spec(const struct catalogue *l, uint32_t kind,
                               const char *name)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .kind = kind,
                     .nano_epsilon = l->asked.nano_epsilon,
                     .users = l->asked.users};

    if (kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS)
        spec.d = (uint32_t)l->domain;
    if (kind == HSY_KIND_BINS)
        spec.hi = (int64_t)l->domain;
    if (kind == HSY_KIND_NUMBER)
        spec.hi = 1000000;
    return spec;
}

static hsy_status catalogue_resolve(struct catalogue_cost *out,
                                    const hsy_spec *spec)
{
    hsy_scheme *s = malloc(hsy_scheme_size(spec));

    if (s == NULL)
        return HSY_E_NOMEM;
    out->fits = hsy_scheme_init(s, spec, NULL) == HSY_OK;
    if (out->fits) {
        hsy_scheme_describe(s, &out->info);
        out->memory =
            8 * (out->info.cells + out->info.strata + out->info.weights) +
            hsy_evidence_scratch(s, spec->d != 0 ? spec->d : 1);
    }
    free(s);
    return HSY_OK;
}

/* The kind of question by which a mechanism is judged. */
static uint32_t catalogue_kind(const hsy_catalogue *entry)
{
    static const uint32_t order[] = {HSY_KIND_VALUES, HSY_KIND_YES_NO,
                                     HSY_KIND_NUMBER, HSY_KIND_BINS};

    for (size_t i = 0; i < 4; i++) {
        if (entry->kinds >> order[i] & 1)
            return order[i];
    }
    return HSY_KIND_STRINGS;
}

static hsy_status catalogue_ask(const struct catalogue *l,
                                struct catalogue_row *row)
{
    uint32_t kind = catalogue_kind(row->entry);
    hsy_spec spec = catalogue_spec(l, kind, row->entry->name);
    struct catalogue_cost best = {.fits = false};
    hsy_status st;

    /* A yes/no question has two values; another domain is not for it. */
    if (kind == HSY_KIND_YES_NO && l->domain != 2)
        return HSY_OK;
    st = catalogue_resolve(&row->cost, &spec);
    if (st != HSY_OK)
        return st;
    spec.mechanism = NULL;
    spec.max_bits = l->asked.max_bits;
    spec.max_steps = l->asked.max_steps;
    st = catalogue_resolve(&best, &spec);
    row->chosen =
        row->cost.fits && best.fits && row->cost.info.id == best.info.id;
    return st;
}

/* ---- Why auto takes what it takes ---------------------------------------- */

bool catalogue_limited(const struct catalogue *l)
{
    return l->asked.max_bits != 0 || l->asked.max_steps != 0;
}

/* Whether a row tells the share of each value, by a formula, within limits. */
static bool catalogue_rivals(const struct catalogue *l,
                             const struct catalogue_row *row)
{
    const hsy_spec *limits = &l->asked;
    const hsy_scheme_info *info = &row->cost.info;

    return row->cost.fits && info->kind == HSY_KIND_VALUES &&
           !info->iterative &&
           (limits->max_bits == 0 || info->packed_bits <= limits->max_bits) &&
           (limits->max_steps == 0 || info->steps <= (double)limits->max_steps);
}

/* Returns n times the error of the whole histogram: the sum of the variances of
 * all shares if everybody has the same value. */
static double catalogue_error(const struct catalogue *l,
                              const struct catalogue_row *row)
{
    return (double)(l->domain - 1) * row->cost.info.v0 + row->cost.info.v1;
}

/* The row that auto takes for a list of values, and the one whose histogram has
 * the least error; NULL: none. */
static void catalogue_winners(const struct catalogue *l,
                              const struct catalogue_row **chosen,
                              const struct catalogue_row **least)
{
    *chosen = *least = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const struct catalogue_row *row = &l->rows[i];

        if (!catalogue_rivals(l, row))
            continue;
        if (row->chosen)
            *chosen = row;
        if (*least == NULL ||
            catalogue_error(l, row) < catalogue_error(l, *least))
            *least = row;
    }
}

void catalogue_why(const struct catalogue *l, char line[CATALOGUE_WHY],
                   const char **name)
{
    const char *among = catalogue_limited(l) ? " within the limits" : "";
    const struct catalogue_row *chosen, *least;
    double above = 1;

    catalogue_winners(l, &chosen, &least);
    if (chosen != NULL)
        above = catalogue_error(l, chosen) / catalogue_error(l, least);
    *name = chosen != NULL ? chosen->entry->name : NULL;
    if (chosen == NULL)
        snprintf(line, CATALOGUE_WHY, "auto chooses none: no mechanism is%s",
                 among);
    else if (above <= CATALOGUE_SAME)
        snprintf(line, CATALOGUE_WHY,
                 "auto chooses %s: the least error of the histogram%s, in "
                 "%" PRIu32 " bits per report",
                 *name, among, chosen->cost.info.packed_bits);
    else
        snprintf(line, CATALOGUE_WHY,
                 "auto chooses %s: error of the histogram %.1f %% above the "
                 "least%s (%s), in %" PRIu32 " bits against %" PRIu32,
                 *name, 100 * (above - 1), among, least->entry->name,
                 chosen->cost.info.packed_bits, least->cost.info.packed_bits);
}

/* ---- Rows ---------------------------------------------------------------- */

static void catalogue_kinds(struct catalogue_row *row)
{
    size_t used = 0;

    for (uint32_t kind = HSY_KIND_YES_NO; kind <= HSY_KIND_TUPLE; kind++) {
        int more;

        if ((row->entry->kinds >> kind & 1) == 0)
            continue;
        more = snprintf(row->kinds + used, sizeof row->kinds - used, "%s%s",
                        used != 0 ? " " : "", hsy_kind_name(kind));
        used += more > 0 ? (size_t)more : 0;
    }
}

hsy_status catalogue_fill(struct catalogue *l)
{
    const hsy_catalogue *entry;

    while (l->n < CATALOGUE_MAX && (entry = hsy_mechanism_at(l->n)) != NULL) {
        struct catalogue_row *row = &l->rows[l->n++];

        row->entry = entry;
        catalogue_kinds(row);
        if (l->domain != 0) {
            const hsy_status st = catalogue_ask(l, row);

            if (st != HSY_OK)
                return st;
        }
    }
    return HSY_OK;
}
