/*
 * task_stage.c - what a task says of a stage: the prefixes that are left, and
 * the sizes of the batches. 'hearsay discover --next' writes both.
 */
#include "host/tasks/tasks.h"

#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

static struct tasks_place stage_at(size_t i, const char *key)
{
    return (struct tasks_place){.task = i, .key = key, .item = TASKS_NONE};
}

/* As labels; whether they are prefixes is for the mechanism to see. */
static bool stage_prefixes(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    const struct tasks_raw *raw = &t->file->tasks[i];
    size_t len = 0;
    uint8_t *at;

    for (size_t k = 0; k < raw->prefixes_count; k++)
        len += 4 + strlen(raw->prefixes[k]);
    at = t->made[i].labels = malloc(len + 1);
    if (at == NULL) {
        t->nomem = true;
        return false;
    }
    for (size_t k = 0; k < raw->prefixes_count; k++) {
        const size_t own = strlen(raw->prefixes[k]);

        bytes_put32(at, (uint32_t)own);
        memcpy(at + 4, raw->prefixes[k], own);
        at += 4 + own;
    }
    spec->d = raw->prefixes_count;
    spec->labels = t->made[i].labels;
    spec->labels_len = len;
    return true;
}

static bool stage_sizes(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    static const char *const names[] = {"equal", "rising", "diminishing"};
    const char *text = t->file->tasks[i].sizes;
    uint64_t k = 0;

    while (k < 3 && strcmp(text, names[k]) != 0)
        k++;
    if (k == 3)
        tasks_wrong(t, stage_at(i, "sizes"), "equal, rising or diminishing");
    else if (spec->param[HSY_PARAM_MIX] != 0)
        tasks_wrong(t, stage_at(i, "sizes"),
                    "'mix' of 'set' says the same: leave one out");
    else
        spec->param[HSY_PARAM_MIX] = k + 1;
    return k < 3 && spec->param[HSY_PARAM_MIX] == k + 1;
}

bool tasks_stage(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    const struct tasks_raw *raw = &t->file->tasks[i];
    const bool prefixes = tasks_given(t, i, "prefixes");
    const bool stage =
        raw->mechanism != NULL && strcmp(raw->mechanism, "stage") == 0;

    if (!stage && (prefixes || raw->sizes != NULL)) {
        tasks_wrong(t, stage_at(i, prefixes ? "prefixes" : "sizes"),
                    "goes with 'mechanism: stage'");
        return false;
    }
    if (prefixes && raw->prefixes_count == 0) {
        tasks_wrong(t, stage_at(i, "prefixes"),
                    "none is left: the first stage leaves the list out, and "
                    "after the others there is nothing to ask");
        return false;
    }
    if (prefixes && !stage_prefixes(t, i, spec))
        return false;
    return raw->sizes == NULL || stage_sizes(t, i, spec);
}
