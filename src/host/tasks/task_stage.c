/*
 * task_stage.c - what a task says of a stage: the prefixes that are left, and
 * the sizes of the batches. 'hearsay discover next' writes both.
 */
#include "host/tasks/internal.h"

#include "host/base/labels.h"

#include <inttypes.h>
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
    char *const *prefixes = t->file.tasks[i].prefixes;
    struct labels l = {.shown = true};
    hsy_error err = {0};
    hsy_status st = HSY_OK;

    for (; *prefixes != NULL && st == HSY_OK; prefixes++)
        st = labels_add(&l, *prefixes, strlen(*prefixes), &err);
    if (st == HSY_E_NOMEM)
        t->notes.nomem = true;
    else if (st != HSY_OK)
        yaml_wrong(&t->notes, stage_at(i, "prefixes"), "prefix %" PRIu64 ": %s",
                   err.at, err.msg);
    spec->d = l.d;
    spec->labels = t->made[i].labels = l.block;
    spec->labels_len = l.len;
    l.block = NULL; /* it is the task's now */
    labels_clear(&l);
    return st == HSY_OK;
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
                   "must be equal, rising or diminishing");
    else if (spec->param[HSY_PARAM_SIZES] != 0)
        yaml_wrong(&t->notes, stage_at(i, "sizes"),
                   "also given as 'sizes' of 'set': leave one out");
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
                   "needs 'mechanism: stage'");
        return false;
    }
    if (prefixes && raw->prefixes[0] == NULL) {
        yaml_wrong(&t->notes, stage_at(i, "prefixes"),
                   "the list is empty: leave it out for the first stage; after "
                   "another one the search is over");
        return false;
    }
    if (prefixes && !stage_prefixes(t, i, spec))
        return false;
    return raw->sizes == NULL || stage_sizes(t, i, spec);
}
