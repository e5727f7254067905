/* test_analysis.c - every mechanism says how its tallies are analyzed, and that
 * analysis takes them while the others refuse. */
#include "rig/examples.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

#define MATRIX 23u /* has no example: its matrix is a file's */

/* What the functions of an analysis say of a scheme: the one they are for. */
static hsy_analysis taken(const hsy_scheme *s, const hsy_scheme_info *info)
{
    const hsy_search search = {.size = sizeof search, .keep = 4};
    const hsy_puzzle puzzle = {.size = sizeof puzzle};
    hsy_stage stages[HSY_STAGES_MAX];
    hsy_puzzle_plan plan;
    uint16_t bits[64];
    size_t count;

    if (hsy_search_plan(s, stages, &count, &search, NULL) != HSY_E_UNKNOWN)
        return HSY_ANALYSIS_SEARCH;
    if (hsy_puzzle_plan_make(s, &plan, &puzzle, NULL) != HSY_E_UNKNOWN)
        return HSY_ANALYSIS_PUZZLE;
    if (hsy_stage_plan(s, stages, &search, NULL) != HSY_E_UNKNOWN)
        return HSY_ANALYSIS_STAGE;
    if (hsy_rappor_bits(s, bits, 0, 0) == HSY_OK)
        return HSY_ANALYSIS_RAPPOR;
    if (info->kind == HSY_KIND_TUPLE)
        return hsy_scheme_parts(s) == hsy_codes_per_truth(s)
                   ? HSY_ANALYSIS_ATTRIBUTES
                   : HSY_ANALYSIS_JOINT;
    if (info->central)
        return HSY_ANALYSIS_RELEASE;
    return info->iterative ? HSY_ANALYSIS_DENSITY : HSY_ANALYSIS_POINTS;
}

static void agrees(const struct example *e)
{
    hsy_scheme *s = trial_scheme(&e->spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    is_u64(info.analysis, taken(s, &info), "%s: %s has the analysis it says",
           e->name, info.mechanism);
    free(s);
}

/* The catalogue says it before there is a scheme. */
static void catalogue_says_it(void)
{
    const hsy_catalogue *row;
    size_t seen = 0;
    hsy_scheme_info info;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        bool met = row->id == MATRIX, same = true;

        for (size_t k = 0; k < EXAMPLES; k++) {
            hsy_scheme *s = trial_scheme(&examples[k].spec);

            hsy_scheme_describe(s, &info);
            if (strcmp(info.mechanism, row->name) == 0) {
                met = true;
                same &= info.analysis == row->analysis;
            }
            free(s);
        }
        ok(met && same, "%s: the catalogue says the same", row->name);
        seen |= (size_t)1 << row->analysis;
    }
    is_u64(
        seen, (size_t)0x37e,
        "there is a mechanism for each but a curator's release, and no other");
}

int main(void)
{
    for (size_t i = 0; i < EXAMPLES; i++)
        agrees(&examples[i]);
    for (size_t i = 0; i < EXAMPLE_RELEASES; i++)
        agrees(&example_releases[i]);
    catalogue_says_it();
    return tap_done();
}
