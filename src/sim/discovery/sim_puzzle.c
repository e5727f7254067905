/*
 * sim_puzzle.c - the fragment puzzle among people who hold words of a list.
 *
 * Rank v of the distribution is held by a word, in an order of each run's own.
 * Everybody reports one by one, through the library as a device and a collector
 * use it.
 */
#include "host/base/steady.h"
#include "sim/discovery/internal.h"

#include <stdlib.h>
#include <string.h>

/* The lane of the codes is that of the words' order. */
#define PUZZLE_LANES ((unsigned)DISCOVER_PUBLISHED + 1)

/* ---- Plan ---------------------------------------------------------------- */

static hsy_status puzzle_codes(struct discover_job *job, const hsy_scheme *s,
                               hsy_error *err)
{
    const struct discovery *how = job->how;
    hsy_status st = HSY_OK;

    job->words = calloc(how->nwords * job->width, sizeof *job->words);
    if (job->words == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < how->nwords && st == HSY_OK; i++) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};

        truth.u.bytes.data = how->words[i].text;
        truth.u.bytes.len = how->words[i].len;
        st = hsy_truth_code(s, job->words + i * job->width, &truth, err);
        if (st != HSY_OK && err != NULL) {
            err->field = HSY_FIELD_WORDS;
            err->unit = HSY_UNIT_LINE;
            err->at = i + 1;
        }
    }
    return st;
}

static hsy_status puzzle_plan(struct discover_job *job, hsy_error *err)
{
    const struct discovery *how = job->how;
    hsy_scheme *s;
    hsy_status st = scheme_open(&s, &how->spec, err);

    if (st == HSY_OK)
        st = hsy_puzzle_plan_make(s, &job->puzzle, &how->puzzle, err);
    if (st == HSY_OK) {
        hsy_scheme_describe(s, &job->out->info);
        job->width = hsy_codes_per_truth(s);
        job->users = how->users;
        job->stages[0] = job->puzzle.word;
        job->nstages = 1;
        st = puzzle_codes(job, s, err);
    }
    free(s);
    return st;
}

/* ---- One run ------------------------------------------------------------- */

/* Who holds how many, and a random order of the words [Fisher, Yates]. */
static void puzzle_people(struct discover_worker *w, uint64_t run)
{
    const struct discover_job *job = w->job;
    const struct discovery *how = job->how;
    uint32_t *order = w->own;
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    discover_stream(w, &st, run, DISCOVER_PEOPLE);
    study_people_draw(w->counts, how->people, how->users, &st);
    discover_stream(w, &st, run, DISCOVER_CODES);
    for (size_t i = 0; i < how->nwords; i++) {
        uint64_t coin;
        size_t at;

        (void)rng.fill(rng.ctx, &coin, sizeof coin);
        at = (size_t)((double)(coin >> 11) * 0x1p-53 * (double)(i + 1));
        order[i] = order[at];
        order[at] = (uint32_t)i;
    }
    for (size_t i = 0; i < how->people->n; i++)
        memcpy(w->codes + i * job->width, job->words + order[i] * job->width,
               job->width * sizeof *w->codes);
}

static hsy_status puzzle_search(struct discover_worker *w, uint64_t run,
                                size_t *count, hsy_error *err)
{
    struct discover_desk *desk = &w->desk;
    hsy_puzzle_trace trace;
    hsy_found found = {w->found, 0};
    hsy_status st = discover_scheme(w, desk->s, run, err);
    uint64_t start;

    if (st == HSY_OK) {
        puzzle_people(w, run);
        st = discover_report(w, run, err);
    }
    if (st != HSY_OK)
        return st;
    start = steady_us();
    st = hsy_puzzle_search(desk->s, &found, &trace, &desk->tally,
                           &w->job->puzzle, desk->scratch, err);
    w->job->out->each[run * DISCOVERY_METRICS + DISCOVERY_SECONDS] =
        (double)(steady_us() - start) / STEADY_SECOND;
    *count = found.count;
    return st;
}

/* ---- Memory -------------------------------------------------------------- */

static hsy_status puzzle_open(struct discover_worker *w, hsy_error *err)
{
    hsy_status st = discover_desk_open(w, err);

    if (st != HSY_OK)
        return st;
    w->own = owned_array(&w->owned, w->job->how->nwords, sizeof(uint32_t));
    w->desk.scratch = owned_array(
        &w->owned, 1, hsy_puzzle_memory(w->desk.s, &w->job->puzzle));
    return owned_all(&w->owned, err);
}

const struct discover_form discover_puzzle = {puzzle_plan, puzzle_open,
                                              puzzle_search, PUZZLE_LANES};
