/* first_stage.c - a search in batches begun: what all stages hold to. */
#include "host/discover/discover.h"

#include "host/base/owned.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_DELAY 21600u
#define FIRST_REPORTS 1000u

void discover_settle(struct discover_batches *b)
{
    b->bits = b->bits != 0 ? b->bits : 48;
    b->step = b->step != 0 ? b->step : 8;
    b->top = b->top != 0 ? b->top : 16;
    b->keep = b->keep != 0 ? b->keep : 2;
    b->candidates = b->candidates != 0 ? b->candidates : HSY_SEARCH_CANDIDATES;
}

hsy_status discover_first(hsy_spec *spec, enum discover_wrong *wrong,
                          const struct discover_batches *b, hsy_error *err)
{
    hsy_status st;

    *spec = (hsy_spec){.size = sizeof *spec,
                       .mechanism = "stage",
                       .kind = HSY_KIND_STRINGS,
                       .nano_epsilon = b->nano_epsilon,
                       .oracle = b->oracle};
    *wrong = DISCOVER_STEP;
    if (b->bits % b->step != 0)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_STEP,
                         "steps do not divide the bits of a string");
    *wrong = DISCOVER_ALPHABET;
    if (b->alphabet != NULL) {
        st = hsy_alphabet_parse(spec->alphabet, b->alphabet,
                                strlen(b->alphabet), err);
        if (st != HSY_OK)
            return st;
    }
    *wrong = DISCOVER_WIDTH;
    if (b->step > 20 || b->top * b->keep << b->step > b->candidates)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MAX_CANDIDATES,
                               "a stage would have more candidates than are "
                               "allowed",
                               b->candidates);
    spec->param[HSY_PARAM_BITS] = b->bits;
    spec->param[HSY_PARAM_STEP] = b->step;
    spec->param[HSY_PARAM_PREFIX_BITS] = b->step;
    spec->param[HSY_PARAM_SIZES] = b->sizes + 1;
    /* Room for what goes on from a stage, with all continuations. */
    spec->param[HSY_PARAM_MAX_CANDIDATES] = b->top * b->keep << b->step;
    *wrong = DISCOVER_FINE;
    return HSY_OK;
}

hsy_task discover_task(uint32_t start, uint32_t end)
{
    return (hsy_task){.release = 1,
                      .start = start,
                      .end = end,
                      .max_changes = 1,
                      .answers = 1,
                      .sends = 1,
                      .sample = {1, 1},
                      .delay_seconds = FIRST_DELAY,
                      .grace_days = DISCOVER_DAYS,
                      .min_reports = FIRST_REPORTS,
                      .other = HSY_TASK_CLOSED};
}

/* ---- The file ------------------------------------------------------------ */

static hsy_status first_wire(struct discover_file *out,
                             uint8_t wire[HSY_SCHEME_WIRE],
                             const hsy_spec *spec, hsy_error *err)
{
    hsy_scheme *s;
    const hsy_status st = scheme_open(&s, spec, err);

    out->wrong = st == HSY_E_NOMEM ? DISCOVER_MEMORY : DISCOVER_SCHEME;
    if (st == HSY_OK)
        hsy_scheme_encode(s, wire);
    free(s);
    return st;
}

/* As devices will: the task, its scheme, and both together. */
static hsy_status first_check(struct discover_file *out, const hsy_task *task,
                              uint64_t version, hsy_error *err)
{
    const hsy_document doc = {
        .version = version, .issued = task->start, .expires = task->end};
    hsy_release *release;
    size_t len;
    hsy_status st = hsy_document_encode(&doc, NULL, 0, &len, task, 1, err);

    out->wrong = DISCOVER_DOCUMENT;
    if (st != HSY_OK)
        return st;
    release = malloc(hsy_release_size(task));
    out->wrong = release == NULL ? DISCOVER_MEMORY : DISCOVER_RELEASE;
    if (release == NULL)
        return host_nomem(err);
    st = hsy_release_init(release, task, err);
    free(release);
    return st;
}

hsy_status discover_stage_file(struct discover_file *out, const hsy_task *task,
                               const hsy_spec *spec, uint64_t version,
                               hsy_error *err)
{
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_task made = *task;
    hsy_status st;

    *out = (struct discover_file){0};
    st = first_wire(out, wire, spec, err);
    made.scheme = wire;
    made.labels = spec->labels;
    made.labels_len = spec->labels_len;
    if (st == HSY_OK)
        st = first_check(out, &made, version, err);
    return st == HSY_OK ? discover_stage_text(out, &made, spec, version, err)
                        : st;
}
