/* api_tasks.c - what is asked, how private it is, how much has come. */
#include "api_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What the answers of one person can tell, at most. */
static void tasks_put_privacy(struct put *p, const struct roster_entry *e,
                              const hsy_info *info)
{
    hsy_release_info release;
    char label[TASKS_LABEL];
    size_t len = hsy_release_label(e->release, &e->task, label, sizeof label);

    hsy_release_describe(e->release, &release);
    put_number(p, "epsilon", info->epsilon);
    put_number(p, "epsilon_exact", info->epsilon_exact);
    put_number(p, "epsilon_lifetime", (double)release.nano_lifetime / HSY_NANO);
    put_number(p, "odds", exp(info->epsilon_exact));
    put_text(p, "privacy", label, len < sizeof label ? len : sizeof label - 1);
}

/* The days for which a first answer is sent, whatever comes later; 0: each is
 * sent, or changes are kept. */
static void tasks_put_kept(struct put *p, const struct roster_entry *e)
{
    const hsy_task *t = &e->task;
    const bool frozen = t->permanent != NULL && t->max_changes == 1;
    const uint32_t slot = t->slot_days != 0 ? t->slot_days : t->end - t->start;

    put_bool(p, "frozen", frozen);
    put_count(p, "kept_days", frozen ? slot : 0);
}

static void tasks_put(struct put *p, struct collector *c,
                      const struct roster_entry *e)
{
    const struct store_count count = history_count(c, e->number);
    const hsy_task *t = &e->task;
    hsy_info info;

    hsy_scheme_info(e->scheme, &info);
    put_word(p, "task", t->id);
    put_count(p, "release", t->release);
    put_count(p, "entry", e->number);
    put_hex(p, "digest", e->digest, HSY_DIGEST);
    put_bool(p, "current", e->current);
    put_word(p, "source", t->source);
    put_text(p, "question", t->question, t->question_len);
    put_word(p, "kind", hsy_kind_name(info.kind));
    put_word(p, "mechanism", info.mechanism);
    tasks_put_privacy(p, e, &info);
    put_day(p, "start", t->start);
    put_day(p, "end", t->end - 1); /* the last day, as in the task file */
    put_day(p, "sent_until", tasks_sent_until(t));
    put_count(p, "reports", count.reports);
    put_count(p, "nulls", count.nulls);
    put_count(p, "min_reports", t->min_reports);
    put_bool(p, "shown", count.reports >= t->min_reports && count.reports != 0);
    put_bool(p, "by_day", e->words <= c->config.day_words);
    put_bool(p, "enrolled", tasks_enrolled(c, t->id));
    tasks_put_kept(p, e);
}

void api_tasks(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct roster *roster;
    struct put p;

    if (!api_begin(q, &p))
        return;
    roster = engine_roster(c->engine);
    put_array(&p, "tasks");
    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++) {
        put_object(&p, NULL);
        tasks_put(&p, c, roster_at(roster, i));
        put_end(&p, '}');
    }
    put_end(&p, ']');
    roster_drop(roster);
    api_answer(q, 200, &p);
}

static void tasks_put_days(struct put *p, struct collector *c, uint32_t entry)
{
    struct store_count *days = malloc(TASKS_DAYS * sizeof *days);
    size_t n =
        days != NULL ? engine_counts(c->engine, entry, days, TASKS_DAYS) : 0;

    put_array(p, "days");
    for (size_t i = 0; i < n && i < TASKS_DAYS; i++) {
        if (days[i].epoch == 0 || days[i].epoch >= ENGINE_MERGED)
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

static void tasks_put_one(struct put *p, struct collector *c,
                          const struct roster_entry *e)
{
    tasks_put(p, c, e);
    tasks_put_days(p, c, e->number);
}

void api_task(struct request *q, void *ctx)
{
    api_about(ctx, q, tasks_put_one);
}
