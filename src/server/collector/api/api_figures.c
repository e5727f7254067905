/* api_figures.c - estimates: now, of some days, compared, in time. */
#include "server/collector/api/api.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is asked ------------------------------------------------------- */

#define FIGURES_TOP 10000u
#define FIGURES_DEVICES ((uint64_t)1 << 53)

/* Shares of those who answered, or of the population they are a sample of. */
static bool figures_target(struct request *q, hsy_target *out)
{
    const char *text = request_query(q, "target");

    if (text == NULL)
        return true;
    for (size_t i = 0; analysis_target_names[i] != NULL; i++)
        if (strcmp(text, analysis_target_names[i]) == 0) {
            *out = (hsy_target)i;
            return true;
        }
    api_problem(q, 400, "Not possible as asked",
                "target: expected people or population");
    return false;
}

static bool figures_how(struct figure_how *how, struct collector *c,
                        struct request *q)
{
    static const char *const known[] = {"release", "from",   "to",      "level",
                                        "lying",   "target", "top",     "with",
                                        "from2",   "to2",    "devices", NULL};
    uint64_t top = 0;

    *how = (struct figure_how){.level = 0.95, .lying = c->config.lying};
    if (!request_query_only(q, known)) {
        api_problem(q, 400, "Not possible as asked",
                    "what can be said, once each, is release, from, to, level, "
                    "lying, target and top, in a comparison with, from2, to2 "
                    "and devices too");
        return false;
    }
    if (!api_fraction(q, "level", false, &how->level) ||
        !api_fraction(q, "lying", true, &how->lying) ||
        !figures_target(q, &how->target) ||
        !api_count(q, "top", FIGURES_TOP, &top) ||
        !api_count(q, "devices", FIGURES_DEVICES, &how->devices))
        return false;
    how->top = (uint32_t)top;
    return true;
}

/* Reports may be of tomorrow, as the clocks of devices go, and no later. */
static bool figures_past(struct request *q, const struct collector *c,
                         const char *name, uint32_t day)
{
    struct engine_status status;

    engine_status(c->engine, &status);
    if (day <= status.day + 1)
        return true;
    api_problem(q, 400, "Not possible as asked",
                "%s: this day is still to come", name);
    return false;
}

static bool figures_days(struct history_ask *ask, const struct collector *c,
                         struct request *q, const char *from, const char *to)
{
    if (!api_day(q, from, &ask->first) || !api_day(q, to, &ask->last))
        return false;
    if ((ask->first == 0) != (ask->last == 0) || ask->first > ask->last) {
        api_problem(q, 400, "Not possible as asked",
                    "%s and %s: two days, the first no later than the last",
                    from, to);
        return false;
    }
    return figures_past(q, c, from, ask->first) &&
           figures_past(q, c, to, ask->last);
}

/* Below min_reports nothing is shown but that. */
static void figures_few(struct request *q, struct collector *c,
                        const struct history_ask *ask, const hsy_error *err)
{
    struct put p;

    if (err->limit == 0 && ask->first != 0) {
        api_problem(q, 404, "No such days",
                    "from and to: no tally of these days is kept; all days "
                    "together are");
        return;
    }
    if (!api_begin(q, &p))
        return;
    put_word(&p, "type", "about:blank");
    put_word(&p, "title", "too few reports");
    put_count(&p, "status", 409);
    put_word(
        &p, "detail",
        "nothing is shown before the task has its least number of reports, "
        "each of another device");
    if (ask->first == 0)
        put_count(&p, "reports",
                  shown_count(history_shown(c->history), ask->entry->number, 0)
                      .reports);
    put_count(&p, "devices", history_devices(c, ask));
    put_count(&p, "min_reports", ask->entry->task.min_reports);
    api_answer(q, 409, &p);
}

static void figures_failed(struct request *q, struct collector *c,
                           const struct history_ask *ask, const hsy_error *err)
{
    if (err->status == HSY_E_EMPTY)
        figures_few(q, c, ask, err);
    else
        api_failed(q, err);
}

/* ---- One figure ---------------------------------------------------------- */

static void figures_answer(struct request *q, const char *type, char *text,
                           size_t len)
{
    request_guard(q, NULL);
    request_answer(q, 200, type, text, len, free);
}

static void figures_one(struct collector *c, struct request *q,
                        const char *type, figure_write *write)
{
    struct history_ask ask = {0};
    struct figure_how how;
    struct figure *figure = NULL;
    hsy_error err = {0};
    char *text = NULL, *candidates = NULL;
    size_t len = 0;

    if (!figures_how(&how, c, q) || !figures_days(&ask, c, q, "from", "to"))
        return;
    ask.roster = api_kept(c, q, "release", &ask.entry);
    if (ask.roster == NULL)
        return;
    history_renew(c, ask.entry);
    if (history_candidates(&how, &candidates, c, ask.entry->task.id, &err) ==
            HSY_OK &&
        history_figure(&figure, c, &ask, &how, &err) == HSY_OK &&
        write(&text, &len, figure, &err) == HSY_OK)
        figures_answer(q, type, text, len);
    else
        figures_failed(q, c, &ask, &err);
    free(candidates);
    figure_drop(figure);
    roster_drop(ask.roster);
}

void api_estimate(struct request *q, void *ctx)
{
    figures_one(ctx, q, "application/json", figure_json);
}

void api_estimate_csv(struct request *q, void *ctx)
{
    figures_one(ctx, q, "text/csv; charset=utf-8", figure_csv);
}

void api_estimate_svg(struct request *q, void *ctx)
{
    figures_one(ctx, q, "image/svg+xml", figure_svg);
}

/* ---- Two of them --------------------------------------------------------- */

/* Copy both and compare them. *failed is the one that err is about. */
static hsy_status figures_compare(char **json, size_t *len, struct collector *c,
                                  const struct history_ask ask[2],
                                  struct figure_how how, size_t *failed,
                                  hsy_error *err)
{
    struct engine_rounds of[2] = {{.unknown = 0}, {.unknown = 0}};
    struct figure_span span[2] = {{0}, {0}};
    int64_t *words[2] = {NULL, NULL};
    char *candidates = NULL;
    hsy_status st =
        history_candidates(&how, &candidates, c, ask[0].entry->task.id, err);

    for (size_t i = 0; i < 2 && st == HSY_OK; i++) {
        *failed = i;
        st = history_copy(&words[i], &of[i], &span[i], c, &ask[i], err);
    }
    if (st == HSY_OK) {
        const struct figure_of a = {NULL, ask[0].entry, words[0], &of[0],
                                    span[0]};
        const struct figure_of b = {NULL, ask[1].entry, words[1], &of[1],
                                    span[1]};

        st = figure_difference(json, len, &a, &b, &how, err);
        *failed = err->at == 2;
    }
    rounds_clear(&of[0].rounds);
    rounds_clear(&of[1].rounds);
    free(words[0]);
    free(words[1]);
    free(candidates);
    return st;
}

void api_compare(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct history_ask ask[2] = {{0}, {0}};
    struct roster *rosters[2] = {NULL, NULL};
    struct figure_how how;
    hsy_error err = {0};
    char *json = NULL;
    size_t len = 0, failed = 0;

    if (!figures_how(&how, c, q) ||
        !figures_days(&ask[0], c, q, "from", "to") ||
        !figures_days(&ask[1], c, q, "from2", "to2"))
        return;
    if (request_query(q, "with") == NULL && ask[1].first == 0) {
        api_problem(q, 400, "Not possible as asked",
                    "with or from2 and to2: another release, or other days");
        return;
    }
    rosters[0] = api_kept(c, q, "release", &ask[0].entry);
    if (rosters[0] == NULL)
        return;
    history_renew(c, ask[0].entry);
    rosters[1] =
        api_kept(c, q, request_query(q, "with") != NULL ? "with" : "release",
                 &ask[1].entry);
    if (rosters[1] != NULL &&
        figures_compare(&json, &len, c, ask, how, &failed, &err) == HSY_OK)
        figures_answer(q, "application/json", json, len);
    else if (rosters[1] != NULL)
        figures_failed(q, c, &ask[failed], &err);
    roster_drop(rosters[0]);
    roster_drop(rosters[1]);
}

/* ---- In time ------------------------------------------------------------- */

static void figures_put_history(struct put *p, struct collector *c,
                                const struct request *q,
                                const struct roster_entry *e)
{
    (void)q;
    put_word(p, "task", e->task.id);
    put_count(p, "release", e->task.release);
    history_put(c->history, p, e->number);
}

void api_history(struct request *q, void *ctx)
{
    api_about(ctx, q, figures_put_history);
}
