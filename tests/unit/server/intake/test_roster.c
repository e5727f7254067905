/* test_roster.c - entries by number, found by what an upload's head says. */
#include "server/intake/roster.h"

#include "rig/example_shuffled.h"
#include "rig/example_tasks.h"
#include "tap.h"

static struct example_tasks tasks;

/* A roster of what a document says, after an old one. */
static struct roster *extend(struct roster *old, const hsy_task *task, size_t n,
                             hsy_error *err)
{
    struct roster *r = NULL;
    hsy_document doc;
    size_t len;
    uint8_t *bytes = example_document(task, n, 1, &len);

    if (hsy_document_open(&doc, bytes, len, err) == HSY_OK &&
        roster_extend(&r, old, &doc, err) != HSY_OK)
        r = NULL;
    free(bytes); /* a roster keeps nothing of it */
    return r;
}

static hsy_upload head(const struct roster_entry *e)
{
    hsy_upload u = {.release = e->task.release};

    memcpy(u.task, e->task.id, sizeof u.task);
    memcpy(u.digest, e->digest, HSY_DIGEST);
    return u;
}

static void finds(void)
{
    struct roster *none = roster_new();
    struct roster *r = extend(none, tasks.task, EXAMPLE_TASKS, NULL);
    const struct roster_entry *near;
    bool found = r != NULL && roster_count(r) == EXAMPLE_TASKS;
    hsy_upload u;

    ok(roster_count(none) == 0, "a new roster has no entries");
    for (size_t i = 0; found && i < EXAMPLE_TASKS; i++) {
        const struct roster_entry *e = roster_at(r, i);

        u = head(e);
        found = e->number == i && e->current &&
                strcmp(e->task.id, tasks.task[i].id) == 0 &&
                roster_find(r, &u, &near) == e && e->words != 0 &&
                e->report_bytes != 0;
    }
    ok(found, "every task of a document is an entry, and is found");
    u = head(roster_at(r, 0));
    u.digest[0] ^= 1;
    ok(roster_find(r, &u, &near) == NULL && near == roster_at(r, 0),
       "another scheme is not found, but the task is near");
    u = head(roster_at(r, 4));
    u.release = 9;
    ok(roster_find(r, &u, &near) == NULL && near == roster_at(r, 4) &&
           roster_find(r, &u, NULL) == NULL,
       "so is another release");
    memcpy(u.task, "nothing", 8);
    ok(roster_find(r, &u, &near) == NULL && near == NULL,
       "of an unknown task nothing is near");
    u = head(roster_at(r, 0));
    ok(roster_find(none, &u, &near) == NULL && near == NULL,
       "an empty roster has nothing");
    roster_drop(none);
    roster_drop(r);
}

/* When devices have something due: outbox.c. */
static void knows_days(void)
{
    struct roster *none = roster_new();
    struct roster *r = extend(none, tasks.task, EXAMPLE_TASKS, NULL);
    const uint32_t end = EXAMPLE_DAY + 364;

    ok(roster_at(r, 0)->first == end && roster_at(r, 0)->last == end,
       "one round: uploads are due when the task ends");
    ok(roster_at(r, 1)->first == EXAMPLE_DAY + 1 &&
           roster_at(r, 1)->last == end,
       "a round a day: from the second day on, and a delay within the day");
    ok(roster_at(r, 2)->first == EXAMPLE_DAY + 7, "a round a week");
    roster_drop(r);
    tasks.task[2].delay_seconds = 2 * 86400 + 1;
    r = extend(none, tasks.task, EXAMPLE_TASKS, NULL);
    tasks.task[2].delay_seconds = 0;
    ok(r != NULL && roster_at(r, 2)->last == end + 2,
       "a delay of more than two days reaches into the third");
    roster_drop(r);
    roster_drop(none);
}

static void grows(void)
{
    struct roster *none = roster_new();
    struct roster *first = extend(none, tasks.task, 2, NULL), *second;
    const struct roster_entry *e = roster_at(first, 0);
    struct example_tasks later;
    hsy_upload u = head(e);
    hsy_error err = {0};

    example_tasks_make(&later);
    later.task[0].min_reports = 7;
    later.task[1].release = 2;
    second = extend(first, later.task, 3, &err);
    ok(second != NULL && roster_count(second) == 4 && roster_count(first) == 2,
       "a later document adds entries, and the old roster stays as it was");
    ok(roster_at(second, 0)->number == 0 && roster_at(second, 0)->current &&
           !roster_at(second, 1)->current && roster_at(second, 2)->current,
       "numbers stay; what is no longer asked is not current");
    ok(roster_at(second, 0)->task.min_reports == 7 &&
           e->task.min_reports == 1000,
       "what may change within a release is as the last document says");
    roster_drop(none);
    roster_hold(second);
    roster_drop(second);
    ok(roster_find(first, &u, NULL) == e && roster_find(second, &u, NULL) != e,
       "an entry lives as long as its roster");
    later.task[2].scheme = tasks.scheme[3];
    later.task[2].permanent = NULL;
    later.task[2].slot_days = later.task[2].round_days = 0;
    later.task[2].max_changes = 1;
    ok(extend(second, &later.task[2], 1, &err) == NULL &&
           err.status == HSY_E_RANGE && err.at == 1,
       "another scheme under the same release is refused");
    roster_drop(first);
    ok(strcmp(roster_at(second, 1)->task.id, "browser.daily") == 0 &&
           roster_at(second, 1)->task.question_len != 0 &&
           roster_at(second, 1)->task.question[0] == 'W',
       "entries outlive the roster that made them");
    roster_drop(second);
}

static void reads_back(void)
{
    struct roster *none = roster_new(), *back = NULL;
    struct roster *r = extend(none, tasks.task, EXAMPLE_TASKS, NULL);
    const uint8_t *bytes[EXAMPLE_TASKS];
    size_t lens[EXAMPLE_TASKS], len;
    uint8_t *document = example_document(tasks.task, 2, 2, &len);
    hsy_document doc;
    hsy_error err = {0};
    bool same;

    hsy_document_open(&doc, document, len, NULL);
    for (size_t i = 0; i < EXAMPLE_TASKS; i++) {
        bytes[i] = roster_at(r, i)->bytes;
        lens[i] = roster_at(r, i)->len;
    }
    same = roster_load(&back, bytes, lens, EXAMPLE_TASKS, &doc, &err) == HSY_OK;
    for (size_t i = 0; same && i < EXAMPLE_TASKS; i++)
        same = roster_at(back, i)->len == lens[i] &&
               memcmp(roster_at(back, i)->bytes, bytes[i], lens[i]) == 0 &&
               roster_at(back, i)->current == (i < 2);
    ok(same, "a roster comes back as it was kept, in force what is in force");
    roster_drop(back);
    back = NULL;
    ok(roster_load(&back, bytes, lens, 1, &doc, &err) == HSY_E_FORMAT &&
           back == NULL,
       "a document with a task that was not kept is refused");
    lens[1]--;
    ok(roster_load(&back, bytes, lens, 2, NULL, &err) == HSY_E_FORMAT &&
           err.at == 2,
       "an entry that is cut is refused");
    bytes[1] = bytes[0];
    lens[1] = lens[0];
    ok(roster_load(&back, bytes, lens, 2, NULL, &err) == HSY_E_FORMAT,
       "so is one that is there twice");
    ok(roster_load(&back, bytes, lens, 1, NULL, &err) == HSY_OK &&
           roster_count(back) == 1 && !roster_at(back, 0)->current,
       "without a document nothing is current");
    roster_drop(back);
    roster_drop(r);
    roster_drop(none);
    free(document);
}

/* A release of a shuffled task keeps its terms (test_terms.c changes each). */
static void keeps_terms(void)
{
    struct example_statements said, other;
    struct roster *none = roster_new(), *r, *later, *back = NULL;
    hsy_task task = tasks.task[1], odd;
    hsy_error err = {0};
    const struct roster_entry *e;

    example_shuffle(&task, &said, 2, EXAMPLE_DAY);
    r = extend(none, &task, 1, NULL);
    odd = task;
    odd.min_reports++;
    odd.question_len--;
    later = extend(r, &odd, 1, &err);
    ok(r != NULL && later != NULL && roster_count(later) == 1,
       "other words and min_reports come within a release");
    roster_drop(later);
    e = roster_at(r, 0);
    ok(roster_load(&back, &e->bytes, &e->len, 1, NULL, &err) == HSY_OK &&
           memcmp(roster_at(back, 0)->terms, e->terms, HSY_DIGEST) == 0,
       "terms are read back from a store");
    roster_drop(back);
    example_shuffle(&odd, &other, 2, EXAMPLE_DAY + 5);
    ok(extend(r, &odd, 1, &err) == NULL && err.status == HSY_E_RANGE &&
           err.field == HSY_FIELD_RELEASE && err.at == 1,
       "a newer statement under the same release is refused");
    example_shuffle(&odd, &other, 2, EXAMPLE_DAY);
    memset(other.collector_key, 34, sizeof other.collector_key);
    ok(extend(r, &odd, 1, &err) == NULL && err.status == HSY_E_RANGE &&
           err.field == HSY_FIELD_RELEASE && err.at == 1,
       "another key of the collector under the same release is refused");
    odd = tasks.task[1];
    ok(extend(r, &odd, 1, &err) == NULL,
       "a task that is no longer shuffled is refused under the same release");
    roster_drop(none);
    roster_drop(r);
}

int main(void)
{
    ok(example_tasks_make(&tasks), "there are tasks");
    finds();
    knows_days();
    grows();
    reads_back();
    keeps_terms();
    return tap_done();
}
