/* evidence.c - which values are asked for, and what is known of them.
 */
#include "cli/estimate/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Candidates ---------------------------------------------------------- */

/* The code of candidate text under the scheme. */
static bool evidence_code(const struct gather *g, uint64_t *code,
                          const char *text, size_t len, hsy_error *err)
{
    if (g->info.kind == HSY_KIND_STRINGS) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};

        truth.u.bytes.data = text;
        truth.u.bytes.len = len;
        return hsy_truth_code(g->scheme, code, &truth, err) == HSY_OK;
    }
    if (g->labels.d != 0) {
        *code = labels_find(&g->labels, (const uint8_t *)text, len);
    } else {
        char number[16] = "";

        if (len >= sizeof number)
            return false;
        memcpy(number, text, len);
        if (!cli_parse_count(code, number))
            return false;
    }
    return *code < g->info.d;
}

static int evidence_codes(struct estimate_asked *asked, const struct gather *g,
                          const char *path)
{
    const size_t width = hsy_codes_per_truth(g->scheme);

    for (uint32_t i = 0; i < asked->candidates.d; i++) {
        size_t len;
        const char *text = labels_at(&asked->candidates, i, &len);
        hsy_error err = {0};

        if (!evidence_code(g, asked->codes + i * width, text, len, &err))
            return cli_fail("%s: line %" PRIu32 ": %s", cli_input_name(path),
                            i + 1,
                            g->info.kind == HSY_KIND_STRINGS
                                ? err.msg
                                : "not one of the values that were asked for");
    }
    return 0;
}

static int evidence_candidates(struct estimate_asked *asked,
                               const struct gather *g, const char *path,
                               bool post)
{
    int failed = cli_labels_read(&asked->candidates, path);

    if (failed)
        return failed;
    asked->count = asked->candidates.d;
    asked->whole = post && g->info.kind == HSY_KIND_VALUES;
    asked->codes = malloc(asked->count * hsy_codes_per_truth(g->scheme) *
                          sizeof *asked->codes);
    if (asked->codes == NULL)
        return cli_fail_nomem();
    return evidence_codes(asked, g, path);
}

/* Whether 'hearsay discover' reads tallies of this mechanism. */
static bool evidence_discovers(const char *mechanism)
{
    static const char *const searched[] = {"pem", "sfp", "stage"};

    for (size_t i = 0; i < sizeof searched / sizeof searched[0]; i++) {
        if (strcmp(mechanism, searched[i]) == 0)
            return true;
    }
    return false;
}

int estimate_ask(struct estimate_asked *asked, const struct gather *g,
                 const struct estimate_options *o)
{
    uint32_t kind = g->info.kind;

    if (o->candidates != NULL && kind != HSY_KIND_STRINGS &&
        kind != HSY_KIND_VALUES)
        return cli_fail("--candidates goes with strings and lists of values; "
                        "this tally is of another kind");
    if (o->candidates != NULL)
        return evidence_candidates(asked, g, o->candidates,
                                   o->post != HSY_POST_NONE);
    if (kind == HSY_KIND_STRINGS)
        return cli_fail("this tally is of strings: name those to estimate, one "
                        "a line, with --candidates FILE%s",
                        evidence_discovers(g->info.mechanism)
                            ? "; 'hearsay discover' finds the frequent ones"
                            : "");
    asked->count =
        kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS ? g->info.d : 1;
    return 0;
}

void estimate_asked_clear(struct estimate_asked *asked)
{
    labels_clear(&asked->candidates);
    free(asked->codes);
    *asked = (struct estimate_asked){0};
}

/* ---- Points -------------------------------------------------------------- */

int estimate_weigh(struct estimate_evidence *e, const struct gather *g,
                   const struct estimate_asked *asked)
{
    static const uint64_t both[] = {1, 0}; /* yes, no */
    const bool yes_no = g->info.kind == HSY_KIND_YES_NO;
    const struct shares_tally t = gathered(g);
    const uint64_t *codes = yes_no ? both : asked->whole ? NULL : asked->codes;
    hsy_error err = {0};
    hsy_status st;

    if (hsy_tally_reports(&g->tally) == 0)
        return cli_fail("%s: no data: it holds no reports", g->first);
    e->count = yes_no ? 2 : asked->whole ? g->info.d : asked->count;
    e->complete = codes == NULL || yes_no;
    st = shares_points(&e->points, &t, codes, e->count, &err);
    if (st == HSY_E_NOMEM)
        return cli_fail_nomem();
    return st == HSY_OK ? 0 : cli_fail_error(g->first, &err);
}
