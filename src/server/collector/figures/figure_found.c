/* figure_found.c - strings that nobody listed, as `hearsay discover` finds
 * them. */
#include "server/collector/figures/internal.h"

#include "host/base/host_fail.h"

#include <math.h>
#include <string.h>

#define FOUND_TOP 16u   /* strings at most, if none is said */
#define FOUND_MISS 0.05 /* chance that a stage overlooks what is detectable */

bool figure_discovers(const struct figure *f)
{
    static const char *const searched[] = {"pem", "sfp", "stage"};

    for (size_t i = 0; i < sizeof searched / sizeof searched[0]; i++) {
        if (strcmp(f->info.mechanism, searched[i]) == 0)
            return true;
    }
    return false;
}

static void found_put_rows(struct put *p, const struct shares_search *got)
{
    put_bool(p, "largest_first", true);
    put_array(p, "estimates");
    for (size_t i = 0; i < got->count; i++) {
        const struct shares_found *row = &got->rows[i];

        put_object(p, NULL);
        put_text(p, "value", row->name, row->name_len);
        figure_put_estimate(p, &row->est);
        put_number(p, "level_selected", row->level);
        put_bool(p, "significant", row->found.significant);
        put_end(p, '}');
    }
    put_end(p, ']');
}

static void found_put(struct put *p, const struct figure *f,
                      const struct shares_search *got)
{
    char alphabet[HSY_ALPHABET_TEXT];
    const bool any = hsy_alphabet_text(alphabet, f->info.alphabet) == 0;

    put_word(p, "interval", "score");
    put_bool(p, "simultaneous", false);
    put_word(p, "target", "people");
    put_word(p, "post", "none");
    put_number(p, "lying_p", shares_lying_p(&f->of));
    figure_put_lying(p, f);
    put_word(p, "oracle", f->info.oracle);
    put_word(p, "alphabet", any ? NULL : alphabet);
    put_count(p, "groups", shares_groups(got));
    figure_put_selection(p, got->found, got->candidates, got->level);
    figure_put_rest(p, &got->rest);
    put_bool(p, "significant", got->significant);
    put_count(p, "found", got->found);
    put_count(p, "candidates", got->candidates);
    put_number(p, "detectable", shares_reach(got, &f->of, FOUND_MISS));
    if (got->number != 0) {
        put_count(p, "stage", got->number);
        put_count(p, "stages", hsy_stage_count(f->of.scheme));
        put_count(p, "bits", got->stage[0].bits);
    }
    put_count(p, "values", got->count);
    found_put_rows(p, got);
}

hsy_status figure_found(struct put *p, struct figure *f, hsy_error *err)
{
    struct shares_wanted wanted = {
        .search = {.size = sizeof wanted.search, .top = f->how->top},
        .how = f->confidence,
        .significant = f->how->top == 0};
    struct shares_search got;
    hsy_status st = shares_search(&got, &f->of, &wanted, err);

    /* Of long steps so many may be too many for a stage: fewer, then. */
    while (st == HSY_E_RANGE && f->how->top == 0 && wanted.search.top != 1) {
        shares_search_clear(&got);
        wanted.search.top =
            wanted.search.top == 0 ? FOUND_TOP / 2 : wanted.search.top / 2;
        st = shares_search(&got, &f->of, &wanted, err);
    }
    if (st == HSY_OK)
        found_put(p, f, &got);
    else if (st == HSY_E_RANGE && f->how->top == 0)
        st = host_fail(err, HSY_E_UNKNOWN, "candidates",
                       "this search has more candidates than a collector "
                       "tries: download the tally, and use 'hearsay "
                       "discover --max-candidates'");
    shares_search_clear(&got);
    return st;
}
