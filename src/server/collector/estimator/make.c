/* make.c - a figure of what the engine holds now. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "server/collector/estimator/internal.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAKE_COUNTS 4096u                         /* days that are summed up */
#define MAKE_CANDIDATES ((size_t)4 * 1024 * 1024) /* bytes of a list */
#define MAKE_PATH 4096u

struct store_count history_count(struct collector *c, uint32_t entry)
{
    struct store_count sum = {.entry = entry};
    struct store_count *days = malloc(MAKE_COUNTS * sizeof *days);
    size_t n =
        days == NULL ? 0 : engine_counts(c->engine, entry, days, MAKE_COUNTS);

    for (size_t i = 0; i < n && i < MAKE_COUNTS; i++) {
        sum.reports += days[i].reports;
        sum.nulls += days[i].nulls;
    }
    free(days);
    return sum;
}

uint64_t history_live_devices(struct collector *c, const struct roster_entry *e)
{
    struct engine_rounds of = {0};
    hsy_attendance attended = {0};

    if (engine_rounds_counted(&of, c->engine, e, 0, 0, NULL) == HSY_OK &&
        engine_rounds_attend(&attended, &of, &e->task, NULL) != HSY_OK)
        attended.devices = 0;
    rounds_clear(&of.rounds);
    return attended.devices;
}

/* ---- What is shown ------------------------------------------------------- */

bool history_due(struct collector *c, const struct roster_entry *e)
{
    struct shown *shown = history_shown(c->history);
    struct roster *roster;
    bool due = false;

    if (c->config.snapshot_seconds != 0)
        return false;
    if (e != NULL)
        return shown_due(shown, e);
    roster = engine_roster(c->engine);
    for (size_t i = 0; roster != NULL && i < roster_count(roster) && !due; i++)
        due = shown_due(shown, roster_at(roster, i));
    roster_drop(roster);
    return due;
}

static void make_generation(struct collector *c, const struct roster_entry *e)
{
    hsy_error err = {0};

    if (shown_renew(history_shown(c->history), e, &err) != HSY_OK &&
        err.status != HSY_E_BUSY)
        log_failure(c->log, "snapshot", &err);
}

void history_renew_all(struct collector *c)
{
    struct roster *roster = engine_roster(c->engine);

    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++)
        make_generation(c, roster_at(roster, i));
    roster_drop(roster);
}

void history_renew(struct collector *c, const struct roster_entry *e)
{
    if (c->config.snapshot_seconds != 0)
        return;
    if (e != NULL)
        make_generation(c, e);
    else
        history_renew_all(c);
}

uint64_t history_devices(struct collector *c, const struct history_ask *ask)
{
    return shown_devices(history_shown(c->history), ask->entry, ask->first,
                         ask->last);
}

/* Whether days that are not shown are only too few yet. */
static bool make_few(const struct collector *c, const struct history_ask *ask)
{
    struct engine_status status;

    engine_status(c->engine, &status);
    return ask->first == 0 || (ask->entry->words <= c->config.day_words &&
                               ask->last + c->config.keep_days >= status.day);
}

hsy_status history_copy(int64_t **words, struct engine_rounds *of,
                        struct figure_span *span, struct collector *c,
                        const struct history_ask *ask, hsy_error *err)
{
    struct shown *shown = history_shown(c->history);
    int64_t *copy = calloc(ask->entry->words + 1, sizeof *copy);
    struct shown_block days;
    hsy_status st;

    if (copy == NULL)
        return host_nomem(err);
    st = shown == NULL ? host_fail(err, HSY_E_BUSY, HSY_FIELD_NONE,
                                   "the collector is stopping")
                       : shown_copy(shown, ask->entry, ask->first, ask->last,
                                    copy, of, &days, err);
    if (st == HSY_E_EMPTY && err != NULL && make_few(c, ask))
        err->limit = ask->entry->task.min_reports;
    if (st != HSY_OK) {
        free(copy);
        return st;
    }
    *words = copy;
    *span = (struct figure_span){.first = days.first, .last = days.last};
    if (ask->first == 0)
        span->undated = shown_reports(ask->entry, copy) - days.reports;
    return HSY_OK;
}

/* ---- The live tally ------------------------------------------------------ */

struct make_copy {
    const struct roster_entry *entry;
    int64_t *words;
    struct engine_rounds *of;
};

/* What was acknowledged before is folded first, so that who merges a tally and
 * asks sees it. */
static hsy_status make_copy(struct engine *e, void *ctx, hsy_error *err)
{
    const struct make_copy *copy = ctx;
    const hsy_status st =
        engine_copy(e, copy->entry->number, 0, 0, copy->words, err);

    return st == HSY_OK ? engine_rounds(copy->of, e, copy->entry, 0, 0, err)
                        : st;
}

hsy_status history_live(int64_t **words, struct engine_rounds *of,
                        struct collector *c, const struct roster_entry *e,
                        hsy_error *err)
{
    struct make_copy copy = {e, calloc(e->words + 1, sizeof **words), of};
    hsy_status st = copy.words == NULL ? host_nomem(err)
                                       : counting_look(c->counting, e->number,
                                                       make_copy, &copy, err);

    if (st == HSY_E_EMPTY)
        st = HSY_OK; /* nothing has come yet: zeros */
    if (st == HSY_OK)
        *words = copy.words;
    else
        free(copy.words);
    return st;
}

/* ---- Candidates ---------------------------------------------------------- */

static hsy_status make_read(char **text, size_t *len, int fd, hsy_error *err)
{
    uint8_t *bytes = NULL;
    hsy_status st = file_whole_fd(&bytes, len, fd, MAKE_CANDIDATES, err);

    *text = (char *)bytes;
    if (st == HSY_E_IO)
        host_fail(err, st, HSY_FIELD_CANDIDATES,
                  "the list of candidates cannot be read");
    if (st == HSY_E_RANGE)
        host_fail(err, st, HSY_FIELD_CANDIDATES,
                  "the list of candidates is longer than 4 MiB");
    return st;
}

hsy_status history_candidates(struct figure_how *how, char **text,
                              struct collector *c, const char *task,
                              hsy_error *err)
{
    char path[MAKE_PATH];
    hsy_status st;
    int fd;

    *text = NULL;
    how->candidates = NULL;
    how->candidates_len = 0;
    if (c->config.candidates == NULL)
        return HSY_OK;
    if (snprintf(path, sizeof path, "%s/%s.txt", c->config.candidates, task) >=
        (int)sizeof path)
        return HSY_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd == -1)
        return errno == ENOENT ? HSY_OK
                               : host_fail(err, HSY_E_IO, HSY_FIELD_CANDIDATES,
                                           "the list of candidates cannot be "
                                           "read");
    st = make_read(text, &how->candidates_len, fd, err);
    how->candidates = *text;
    close(fd);
    return st;
}

/* ---- Figures ------------------------------------------------------------- */

hsy_status history_enough(struct collector *c, const struct roster_entry *e,
                          hsy_error *err)
{
    hsy_status st;

    if (history_devices(c, &(struct history_ask){.entry = e}) >=
        e->task.min_reports)
        return HSY_OK;
    st = host_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS, "too few reports");
    if (err != NULL)
        err->limit = e->task.min_reports;
    return st;
}

/* A large tally is not copied for nothing. */
static hsy_status make_figure(struct figure **out, struct collector *c,
                              const struct history_ask *ask,
                              const struct figure_how *how, hsy_error *err)
{
    const struct roster_entry *e = ask->entry;
    struct engine_rounds of = {0};
    struct figure_span span = {0};
    int64_t *words = NULL;
    hsy_status st = figure_check(e, how, err);

    if (st == HSY_OK)
        st = history_enough(c, e, err);
    if (st == HSY_OK)
        st = history_copy(&words, &of, &span, c, ask, err);
    if (st == HSY_OK) {
        const struct figure_of figure = {ask->roster, e, words, &of, span};

        st = figure_make(out, &figure, how, err);
    }
    rounds_clear(&of.rounds);
    free(words);
    return st;
}

hsy_status history_figure(struct figure **out, struct collector *c,
                          const struct history_ask *ask,
                          const struct figure_how *how, hsy_error *err)
{
    const struct recent_key key = {
        .entry = ask->entry,
        .first = ask->first,
        .last = ask->last,
        .top = how->top,
        .level = how->level,
        .lying = how->lying,
        .target = how->target,
        .generation =
            shown_generation(history_shown(c->history), ask->entry->number),
        .candidates = how->candidates_len != 0
                          ? hsy_crc32c(0, how->candidates, how->candidates_len)
                          : 0};
    struct history *h = c->history;
    hsy_status st;

    pthread_mutex_lock(&h->lock);
    *out = recent_find(&h->recent, &key);
    pthread_mutex_unlock(&h->lock);
    if (*out != NULL)
        return HSY_OK;
    st = make_figure(out, c, ask, how, err);
    if (st == HSY_OK) {
        pthread_mutex_lock(&h->lock);
        recent_keep(&h->recent, &key, *out);
        pthread_mutex_unlock(&h->lock);
    }
    return st;
}
