/* rappor_estimate.c - RAPPOR's own files, decoded. */
#include "cli/estimate/internal.h"
#include "host/format/rappor_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What was read. Owns its memory. */
struct rappor_job {
    struct rappor_params params;
    struct rappor_map map;
    struct rappor_counts counts;
    hsy_rappor_law law;
    hsy_rappor_data data;
};

static int rappor_load(struct rappor_job *j, const struct estimate_options *o)
{
    const struct rappor_params *p = &j->params;
    hsy_error err = {0};
    hsy_status st = rappor_params_read(&j->params, o->rappors.at[0], &err);

    if (st == HSY_OK)
        st = hsy_rappor_channel(
            &j->law,
            &(hsy_rappor_noise){
                .k = p->k, .h = p->h, .f = p->f, .p = p->p, .q = p->q},
            &err);
    if (st != HSY_OK)
        return cli_fail_read(st, o->rappors.at[0], &err);
    st = rappor_map_read(&j->map, &j->params, o->maps.at[0], &err);
    if (st != HSY_OK)
        return cli_fail_read(st, o->maps.at[0], &err);
    st = rappor_counts_read(&j->counts, &j->params, o->path, &err);
    if (st != HSY_OK)
        return cli_fail_read(st, o->path, &err);
    j->data = (hsy_rappor_data){.size = sizeof j->data,
                                .k = p->k,
                                .h = p->h,
                                .m = p->m,
                                .p = j->law.p,
                                .q = j->law.q,
                                .totals = j->counts.totals,
                                .ones = j->counts.ones,
                                .candidates = j->map.candidates,
                                .bits = j->map.bits};
    return 0;
}

static int rappor_decode(const struct rappor_job *r, struct estimate_job *j)
{
    const struct estimate_options *o = &j->options;
    const hsy_analysis_request request = {
        .size = sizeof request,
        .level = o->how.level,
        .target = o->how.target,
        .rappor = {.method = o->method,
                   .correction = o->correction,
                   .alpha = o->alpha}};
    hsy_error err = {0};

    j->names = calloc(r->data.candidates + 1, sizeof *j->names);
    if (j->names == NULL)
        return cli_fail_nomem();
    for (size_t i = 0; i < r->data.candidates; i++)
        j->names[i] =
            (hsy_analysis_text){r->map.names[i], strlen(r->map.names[i])};
    if (analysis_rappor_files(&j->result, &r->law, &r->data, j->names, o->all,
                              &request, &err) == HSY_OK)
        return 0;
    if (err.at == 0 || err.field == HSY_FIELD_NONE)
        return cli_fail_read(err.status, o->path, &err);
    return estimate_failed(j, &err);
}

int estimate_rappor(struct estimate_job *j)
{
    struct rappor_job r = {0};
    int failed = rappor_load(&r, &j->options);

    if (!failed)
        failed = rappor_decode(&r, j);
    rappor_map_free(&r.map);
    rappor_counts_free(&r.counts);
    if (failed)
        return failed;
    estimate_doubts(j);
    return estimate_show(j);
}
