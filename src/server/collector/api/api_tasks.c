/* api_tasks.c - what is asked, how private it is, how much has come. */
#include "server/collector/api/api.h"

#include "host/tasks/calendar.h"
#include "host/tasks/task_fields.h"

#include <math.h>
#include <stdlib.h>

#define TASKS_LABEL 4096u   /* bytes of a paragraph */
#define TASKS_DAYS 4096u    /* days that are listed */
#define TASKS_DAY 86400u    /* seconds */
#define TASKS_LAST 2932896u /* 9999-12-31, the last day of four digits */

/* Whether its uploads want a token: it is listed, or has some. */
static bool tasks_enrolled(const struct collector *c, const char *task)
{
    return tokens_enrolled(c->tokens, task, NULL, NULL, NULL) != TOKENS_OPEN;
}

/* The last day on which devices send what they answered. */
static uint32_t tasks_sent_until(const hsy_task *t)
{
    const uint32_t last =
        t->end + (uint32_t)(t->delay_seconds / TASKS_DAY) + t->grace_days;

    return last < TASKS_LAST ? last : TASKS_LAST;
}

/* The factor that the paragraph beside it says; null: none is promised. */
static void tasks_put_odds(struct put *p, const char *name, uint64_t nano)
{
    const uint64_t tenths = hsy_odds(nano);

    put_number(p, name, tenths != 0 ? (double)tenths / 10 : NAN);
}

/* What the answers of one person can tell, at most. */
static void tasks_put_privacy(struct put *p, const struct roster_entry *e,
                              const hsy_scheme_info *info)
{
    hsy_release_info release;
    char label[TASKS_LABEL];
    size_t len = hsy_release_label(e->release, label, sizeof label, &e->task);

    hsy_release_describe(e->release, &release);
    put_number(p, "epsilon", info->epsilon);
    put_number(p, "epsilon_exact", info->epsilon_exact);
    put_number(p, "epsilon_task", (double)release.nano_task / HSY_NANO);
    tasks_put_odds(p, "odds", release.nano_report);
    tasks_put_odds(p, "odds_task", release.nano_task);
    put_text(p, "privacy", label, len < sizeof label ? len : sizeof label - 1);
}

/* The days for which a first answer is sent, whatever comes later; 0: each is
 * sent, or changes are kept. */
static void tasks_put_kept(struct put *p, const struct roster_entry *e)
{
    const hsy_task *t = &e->task;
    const bool frozen = t->permanent != NULL && t->max_changes == 1;

    put_bool(p, "frozen", frozen);
    put_count(p, "kept_days", frozen ? calendar_slot(t) : 0);
}

/* Days as they were counted. */
static void tasks_put_live_days(struct put *p, struct collector *c,
                                uint32_t entry)
{
    struct store_count *days = malloc(TASKS_DAYS * sizeof *days);
    size_t n =
        days != NULL ? engine_counts(c->engine, entry, days, TASKS_DAYS) : 0;

    put_array(p, "days");
    for (size_t i = 0; i < n && i < TASKS_DAYS; i++) {
        if (!engine_is_day(&days[i]))
            continue; /* a tally that was merged in is of no day */
        put_object(p, NULL);
        put_day(p, "day", days[i].epoch);
        put_count(p, "reports", days[i].reports);
        put_count(p, "nulls", days[i].nulls);
        put_end(p, '}');
    }
    put_end(p, ']');
    free(days);
}

/* Batches of shufflers, those without reports among them. */
static void tasks_put_batches(struct put *p, struct collector *c,
                              const struct roster_entry *e)
{
    struct engine_batches *list = NULL, all = {0};
    size_t n = 0;

    if (e->task.model != HSY_MODEL_SHUFFLED ||
        engine_batches(&list, &n, c->engine, e->number, false, NULL) != HSY_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        engine_sum_add(&all.sum, &list[i].sum);
        all.empty += list[i].empty;
        all.nulls += list[i].nulls;
        all.unopened += list[i].unopened;
    }
    free(list);
    put_object(p, "batches");
    put_count(p, "batches", all.sum.batches + all.empty);
    put_count(p, "reports", all.sum.reports);
    put_count(p, "smallest", all.empty != 0 ? 0 : all.sum.least);
    put_count(p, "nulls", all.nulls);
    put_count(p, "unopened", all.unopened);
    put_end(p, '}');
}

/* What has come until now; an operator's alone. */
static void tasks_put_live(struct put *p, struct collector *c,
                           const struct roster_entry *e, bool days)
{
    const struct store_count count = history_count(c, e->number);

    put_object(p, "live");
    put_count(p, "reports", count.reports);
    put_count(p, "nulls", count.nulls);
    put_count(p, "devices", history_live_devices(c, e));
    tasks_put_batches(p, c, e);
    if (days)
        tasks_put_live_days(p, c, e->number);
    put_end(p, '}');
}

/* What is shown of it: null uploads are of no lot, and so are rounded. */
static void tasks_put_counts(struct put *p, struct collector *c,
                             const struct roster_entry *e)
{
    const uint64_t least = e->task.min_reports > 1 ? e->task.min_reports : 1;
    const struct store_count live = history_count(c, e->number);
    struct store_count count =
        shown_count(history_shown(c->history), e->number, least);

    if (count.reports == 0 && engine_is_retired(c->engine, e->number)) {
        count.reports = live.reports - live.reports % least; /* no tally */
        count.nulls = live.nulls - live.nulls % least;
    }
    put_count(p, "reports", count.reports);
    put_count(p, "nulls", count.nulls);
    put_count(p, "devices",
              history_devices(c, &(struct history_ask){.entry = e}));
}

static void tasks_put(struct put *p, struct collector *c,
                      const struct roster_entry *e)
{
    const hsy_task *t = &e->task;
    hsy_scheme_info info;

    hsy_scheme_describe(e->scheme, &info);
    put_word(p, "task", t->id);
    put_count(p, "release", t->release);
    put_count(p, "entry", e->number);
    put_hex(p, "digest", e->digest, HSY_DIGEST);
    put_bool(p, "current", e->current);
    put_bool(p, "retired", engine_is_retired(c->engine, e->number));
    put_word(p, "source", t->source);
    put_text(p, "question", t->question, t->question_len);
    put_word(p, "kind", hsy_kind_name(info.kind));
    put_word(p, "mechanism", info.mechanism);
    put_word(p, "mechanism_title", hsy_mechanism_named(info.mechanism)->title);
    tasks_put_privacy(p, e, &info);
    put_day(p, "start", t->start);
    put_day(p, "end", t->end - 1); /* the last day, as in the task file */
    put_day(p, "sent_until", tasks_sent_until(t));
    tasks_put_counts(p, c, e);
    task_fields_put(p, t, TASK_API);
    put_bool(p, "shown",
             shown_generation(history_shown(c->history), e->number) != 0);
    put_bool(p, "by_day", e->words <= c->config.day_words);
    put_bool(p, "enrolled", tasks_enrolled(c, t->id));
    tasks_put_kept(p, e);
}

void api_tasks(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    const bool operator= api_operator(c, q);
    struct roster *roster;
    struct put p;

    if (!api_begin(q, &p))
        return;
    roster = engine_roster(c->engine);
    put_array(&p, "tasks");
    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++) {
        put_object(&p, NULL);
        tasks_put(&p, c, roster_at(roster, i));
        if (operator)
            tasks_put_live(&p, c, roster_at(roster, i), false);
        put_end(&p, '}');
    }
    put_end(&p, ']');
    roster_drop(roster);
    api_answer(q, 200, &p);
}

/* Blocks of days, each by its last; `first_day` of those that joined. */
static void tasks_put_days(struct put *p, struct collector *c,
                           const struct roster_entry *e)
{
    struct shown *shown = history_shown(c->history);
    struct shown_block *blocks = NULL;
    size_t n = 0;

    if (shown != NULL)
        shown_blocks(shown, e, false, &blocks, &n);
    put_array(p, "days");
    for (size_t i = n > TASKS_DAYS ? n - TASKS_DAYS : 0; i < n; i++) {
        put_object(p, NULL);
        put_day(p, "day", blocks[i].last);
        if (blocks[i].first != blocks[i].last)
            put_day(p, "first_day", blocks[i].first);
        put_count(p, "reports", blocks[i].reports);
        put_count(p, "nulls", blocks[i].nulls);
        put_end(p, '}');
    }
    put_end(p, ']');
    free(blocks);
}

static void tasks_put_one(struct put *p, struct collector *c,
                          const struct request *q, const struct roster_entry *e)
{
    tasks_put(p, c, e);
    tasks_put_days(p, c, e);
    if (api_operator(c, q))
        tasks_put_live(p, c, e, true);
}

void api_task(struct request *q, void *ctx)
{
    api_about(ctx, q, tasks_put_one);
}
