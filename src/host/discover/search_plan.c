/* search_plan.c - how many people a search for strings takes. */
#include "host/discover/discover.h"

#include "host/base/hex.h"
#include "host/base/owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One round ----------------------------------------------------------- */

hsy_status discover_plan_groups(struct discover_plan *out, const hsy_scheme *s,
                                const hsy_search *search,
                                const struct discover_aim *aim, hsy_error *err)
{
    hsy_stage stages[HSY_STAGES_MAX];
    hsy_scheme_info info;
    size_t n;
    hsy_status st = hsy_search_plan(s, stages, &n, search, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &info);
    *out = (struct discover_plan){.count = n, .groups = n};
    for (size_t i = 0; i < n; i++) {
        const double users =
            hsy_stage_users(&stages[i], aim->frequency, aim->miss);

        out->row[i] = (struct discover_row){stages[i], info.epsilon,
                                            1 / (double)n, users};
        out->users = fmax(out->users, users);
    }
    out->users *= (double)n; /* groups of one size, as large as the largest */
    return HSY_OK;
}

static struct discover_row plan_part(const hsy_scheme *s, size_t i,
                                     const hsy_stage *stage, size_t groups,
                                     const struct discover_aim *aim)
{
    hsy_scheme_info info;

    hsy_scheme_describe(hsy_scheme_part(s, i), &info);
    return (struct discover_row){
        *stage, info.epsilon, 1 / (double)groups,
        (double)groups * hsy_stage_users(stage, aim->frequency, aim->miss)};
}

hsy_status discover_plan_puzzle(struct discover_plan *out, const hsy_scheme *s,
                                const hsy_puzzle *how,
                                const struct discover_aim *aim, hsy_error *err)
{
    hsy_puzzle_plan plan;
    hsy_status st = hsy_puzzle_plan_make(s, &plan, how, err);

    if (st != HSY_OK)
        return st;
    *out = (struct discover_plan){.count = 2, .groups = plan.fragments};
    out->row[0] = plan_part(s, 0, &plan.offset, plan.fragments, aim);
    out->row[1] = plan_part(s, plan.fragments, &plan.word, 1, aim);
    out->users = fmax(out->row[0].users, out->row[1].users);
    return HSY_OK;
}

/* ---- Batches ------------------------------------------------------------- */

/* Any `count` prefixes of so many bits, as labels: those that end in the
 * smallest numbers. The caller frees them; NULL: no memory. */
static uint8_t *plan_any(uint64_t length, uint64_t count)
{
    const size_t digits = (size_t)((length + 3) / 4), each = 4 + digits;
    uint8_t *labels = malloc(count * each + 1);

    for (uint64_t k = 0; labels != NULL && k < count; k++) {
        uint8_t *to = labels + k * each;
        uint64_t left = k << (4 * digits - length);

        memset(to, '0', each);
        to[0] = (uint8_t)digits;
        to[1] = to[2] = to[3] = 0;
        for (size_t i = digits; left != 0; left >>= 4)
            to[4 + --i] = (uint8_t)hex_digit((unsigned)left & 15);
    }
    return labels;
}

/* What all stages have in common. */
struct plan_job {
    const hsy_search *search;
    const struct discover_aim *aim;
    struct discover_plan *out;
    hsy_error *err;
};

/* Row i of a spec that is complete. */
static hsy_status plan_stage(struct plan_job *j, size_t i, const hsy_spec *spec)
{
    struct discover_row *row = &j->out->row[i];
    hsy_scheme *s;
    hsy_status st = scheme_open(&s, spec, j->err);

    j->out->wrong = st == HSY_E_NOMEM ? DISCOVER_MEMORY : DISCOVER_SCHEME;
    if (st == HSY_OK) {
        j->out->wrong = DISCOVER_SEARCH;
        st = hsy_stage_plan(s, &row->stage, j->search, j->err);
    }
    if (st == HSY_OK) {
        row->epsilon = (double)spec->nano_epsilon / HSY_NANO;
        row->part = (double)hsy_stage_weight(s, (uint32_t)i + 1) /
                    (double)hsy_stage_weight(s, 0);
        row->users =
            hsy_stage_users(&row->stage, j->aim->frequency, j->aim->miss);
    }
    free(s);
    return st;
}

/* The same with as many survivors of the stage before as there may be. */
static hsy_status plan_after(struct plan_job *j, size_t i, hsy_spec spec)
{
    const uint64_t length = i * spec.param[HSY_PARAM_STEP];
    uint8_t *labels = NULL;
    hsy_status st;

    if (i > 0) {
        const uint64_t survivors = j->out->row[i - 1].stage.keep;

        labels = plan_any(length, survivors);
        j->out->wrong = DISCOVER_MEMORY;
        if (labels == NULL)
            return host_nomem(j->err);
        spec.labels = labels;
        spec.d = (uint32_t)survivors;
        spec.labels_len = survivors * (4 + (length + 3) / 4);
    }
    spec.param[HSY_PARAM_PREFIX_BITS] = length + spec.param[HSY_PARAM_STEP];
    st = plan_stage(j, i, &spec);
    free(labels);
    return st;
}

hsy_status discover_plan_batches(struct discover_plan *out,
                                 const hsy_spec *first,
                                 const hsy_search *search,
                                 const struct discover_aim *aim, hsy_error *err)
{
    const size_t n =
        first->param[HSY_PARAM_BITS] / first->param[HSY_PARAM_STEP];
    struct plan_job job = {search, aim, out, err};
    hsy_status st = HSY_OK;

    *out = (struct discover_plan){.count = n, .groups = n};
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = plan_after(&job, i, *first);
    if (st != HSY_OK)
        return st;
    out->wrong = DISCOVER_FINE;
    for (size_t i = 0; i < n; i++)
        out->users = fmax(out->users, out->row[i].users / out->row[i].part);
    out->users = ceil(out->users);
    return HSY_OK;
}
