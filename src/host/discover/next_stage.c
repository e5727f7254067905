/* next_stage.c - from a stage of a search and its tally to the next stage. */
#include "host/discover/discover.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

/* What it is done with. */
struct next_job {
    struct discover_next *out;
    const hsy_analysis_tally *t;
    hsy_search search;
    hsy_error *err;
};

static hsy_status next_refuse(struct next_job *j, enum discover_wrong wrong,
                              hsy_status status, const char *msg)
{
    j->out->file.wrong = wrong;
    return host_fail(j->err, status, HSY_FIELD_NONE, msg);
}

static hsy_status next_nomem(struct next_job *j)
{
    return next_refuse(j, DISCOVER_MEMORY, HSY_E_NOMEM, "out of memory");
}

/* ---- Whether the two belong together ------------------------------------- */

static hsy_status next_compare(struct next_job *j, const hsy_scheme *task)
{
    const hsy_scheme *tally = j->t->scheme;

    j->out->stage = hsy_stage_number(task);
    j->out->stages = hsy_stage_count(task);
    j->out->differs = hsy_scheme_difference(tally, task);
    if (j->out->stage == 0)
        return next_refuse(j, DISCOVER_NO_STAGE, HSY_E_RANGE,
                           "the task is not a stage of a search");
    if (hsy_stage_number(tally) != j->out->stage)
        return next_refuse(j, DISCOVER_OTHER_STAGE, HSY_E_MISMATCH,
                           "the tally is of another stage than the task");
    if (j->out->differs != NULL)
        return next_refuse(j, DISCOVER_OTHER_TASK, HSY_E_MISMATCH,
                           "the tally is of another task");
    return HSY_OK;
}

static hsy_status next_same(struct next_job *j, const hsy_task *task)
{
    hsy_release *release = malloc(hsy_release_size(task));
    hsy_release_info info;
    hsy_status st;

    if (release == NULL)
        return next_nomem(j);
    j->out->file.wrong = DISCOVER_RELEASE;
    st = hsy_release_init(release, task, j->err);
    if (st == HSY_OK) {
        hsy_release_describe(release, &info);
        st = next_compare(j, info.scheme);
    }
    free(release);
    return st;
}

/* How many go on if nothing is said: as many as there is room for. */
static hsy_status next_room(struct next_job *j)
{
    const uint64_t *param = j->t->info->param;
    hsy_search *how = &j->search;

    j->out->room = param[HSY_PARAM_MAX_CANDIDATES] >> param[HSY_PARAM_STEP];
    if (how->top == 0) {
        how->top = j->out->room;
        how->keep = 1;
    }
    if (how->keep == 0)
        how->keep = 2;
    j->out->top = how->top;
    j->out->keep = how->keep;
    if (how->top * how->keep > j->out->room)
        return next_refuse(j, DISCOVER_ROOM, HSY_E_RANGE,
                           "the search was begun for fewer prefixes");
    return HSY_OK;
}

static hsy_status next_ready(struct next_job *j, const hsy_task *task)
{
    hsy_status st = next_same(j, task);

    if (st != HSY_OK)
        return st;
    if (hsy_tally_reports(j->t->tally) == 0)
        return next_refuse(j, DISCOVER_EMPTY, HSY_E_EMPTY, "no reports");
    if (j->out->stage == j->out->stages)
        return next_refuse(j, DISCOVER_LAST, HSY_E_RANGE,
                           "the stage is the last");
    return next_room(j);
}

/* ---- The task ------------------------------------------------------------ */

static int next_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The survivors as labels, in ascending order; NULL: no memory. */
static uint8_t *next_labels(const hsy_scheme *s, size_t *len,
                            const hsy_candidate *found, size_t count)
{
    char(*texts)[HSY_STAGE_LABEL] = calloc(count + 1, sizeof *texts);
    uint8_t *labels = malloc(count * (HSY_STAGE_LABEL + 4) + 1), *at = labels;

    for (size_t i = 0; texts != NULL && i < count; i++)
        hsy_stage_label(s, texts[i], found[i].code);
    if (texts != NULL)
        qsort(texts, count, sizeof *texts, next_order);
    for (size_t i = 0; texts != NULL && at != NULL && i < count; i++) {
        const size_t digits = strlen(texts[i]);

        memset(at, 0, 4);
        at[0] = (uint8_t)digits;
        memcpy(at + 4, texts[i], digits);
        at += 4 + digits;
    }
    if (texts == NULL) {
        free(labels);
        return NULL;
    }
    free(texts);
    *len = (size_t)(at - labels);
    return labels;
}

hsy_status discover_next_spec(hsy_spec *spec, uint8_t **labels,
                              const hsy_scheme *s, const hsy_candidate *found,
                              size_t count, hsy_error *err)
{
    uint8_t *made = next_labels(s, &spec->labels_len, found, count);

    if (made == NULL)
        return host_nomem(err);
    free(*labels);
    *labels = made;
    spec->labels = made;
    spec->d = (uint32_t)count;
    spec->param[HSY_PARAM_PREFIX_BITS] += spec->param[HSY_PARAM_STEP];
    return HSY_OK;
}

/* One stage on, as long again unless its end is said. */
static hsy_task next_task(const struct discover_done *done, uint32_t stage)
{
    hsy_task task = *done->task;
    const uint32_t days = (task.end - task.start) / stage;

    task.release++;
    task.end = done->end != 0 ? done->end : task.end + (days > 0 ? days : 1);
    return task;
}

static hsy_status next_write(struct next_job *j, const hsy_task *task,
                             uint64_t version, const hsy_candidate *found)
{
    const size_t count = j->out->survivors;
    uint8_t *labels = NULL;
    hsy_spec spec;
    hsy_status st = hsy_spec_decode(&spec, task->scheme, task->labels,
                                    task->labels_len, j->err);

    j->out->file.wrong = DISCOVER_SCHEME;
    if (st == HSY_OK) {
        st = discover_next_spec(&spec, &labels, j->t->scheme, found, count,
                                j->err);
        if (st != HSY_OK)
            j->out->file.wrong = DISCOVER_MEMORY;
    }
    if (st == HSY_OK)
        st = discover_stage_file(&j->out->file, task, &spec, version, j->err);
    free(labels);
    return st;
}

hsy_status discover_next(struct discover_next *out, const hsy_analysis_tally *t,
                         const struct discover_done *done, hsy_error *err)
{
    struct next_job job = {out, t, done->search, err};
    hsy_candidate *found = NULL;
    hsy_stage stage;
    hsy_status st;

    *out = (struct discover_next){0};
    st = next_ready(&job, done->task);
    if (st != HSY_OK)
        return st;
    out->file.wrong = DISCOVER_SEARCH;
    st = analysis_survivors(&stage, &found, &out->survivors, t, &job.search,
                            err);
    if (st == HSY_OK && out->survivors == 0)
        st = next_refuse(&job, DISCOVER_NOTHING, HSY_E_EMPTY,
                         "no prefix is significant");
    if (st == HSY_OK) {
        const hsy_task next = next_task(done, out->stage);

        out->candidates = stage.candidates;
        st = next_write(&job, &next, done->version + 1, found);
    }
    free(found);
    return st;
}
