/*
 * task_stage.c - what a task says of a stage: the prefixes that are left, and
 * the sizes of the batches. 'hearsay discover --next' writes both.
 */
#include "host/tasks/internal.h"

#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

static struct yaml_place stage_at(size_t i, const char *key)
{
    return (struct yaml_place){.entry = i, .key = key, .item = YAML_NONE};
}

hsy_analysis tasks_analysis(const char *mechanism)
{
    const hsy_catalogue *row =
        mechanism != NULL ? hsy_mechanism_named(mechanism) : NULL;

    return row != NULL ? row->analysis : 0;
}

/* As labels; whether they are prefixes is for the mechanism to see. */
static bool stage_prefixes(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    const size_t n = yaml_items(raw->prefixes);
    size_t len = 0;
    uint8_t *at;

    for (size_t k = 0; k < n; k++)
        len += 4 + strlen(raw->prefixes[k]);
    at = t->made[i].labels = malloc(len + 1);
    if (at == NULL) {
        t->notes.nomem = true;
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t own = strlen(raw->prefixes[k]);

        bytes_put32(at, (uint32_t)own);
        memcpy(at + 4, raw->prefixes[k], own);
        at += 4 + own;
    }
    spec->d = (uint32_t)n;
    spec->labels = t->made[i].labels;
    spec->labels_len = len;
    return true;
}

static bool stage_sizes(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    static const char *const names[] = {"equal", "rising", "diminishing"};
    const char *text = t->file.tasks[i].sizes;
    uint64_t k = 0;

    while (k < 3 && strcmp(text, names[k]) != 0)
        k++;
    if (k == 3)
        yaml_wrong(&t->notes, stage_at(i, "sizes"),
                   "equal, rising or diminishing");
    else if (spec->param[HSY_PARAM_SIZES] != 0)
        yaml_wrong(&t->notes, stage_at(i, "sizes"),
                   "'sizes' of 'set' says the same: leave one out");
    else
        spec->param[HSY_PARAM_SIZES] = k + 1;
    return k < 3 && spec->param[HSY_PARAM_SIZES] == k + 1;
}

bool tasks_stage(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    const bool prefixes = raw->prefixes != NULL;
    const bool stage = tasks_analysis(raw->mechanism) == HSY_ANALYSIS_STAGE;

    if (!stage && (prefixes || raw->sizes != NULL)) {
        yaml_wrong(&t->notes, stage_at(i, prefixes ? "prefixes" : "sizes"),
                   "goes with 'mechanism: stage'");
        return false;
    }
    if (prefixes && raw->prefixes[0] == NULL) {
        yaml_wrong(&t->notes, stage_at(i, "prefixes"),
                   "none is left: the first stage leaves the list out, and "
                   "after the others there is nothing to ask");
        return false;
    }
    if (prefixes && !stage_prefixes(t, i, spec))
        return false;
    return raw->sizes == NULL || stage_sizes(t, i, spec);
}
