/* test_label.c - what a task means in plain words, letter for letter. */
#include "rig/example_tasks.h"
#include "tap.h"

#include <math.h>

static struct example_tasks e;

#define ASKED                                                                  \
    " Your answer never leaves this device. Before anything is sent it is "    \
    "changed at random, so that what is sent could have come from any answer."
#define NEVER                                                                  \
    " An upload holds no name, no number of this device, and no time finer "   \
    "than the day."
#define YEAR " It runs from 2026-02-16 to 2027-02-14."

static const char *const labels[EXAMPLE_TASKS] = {
    "You are asked: \"Has the program crashed for you this year?\"" ASKED
    " One report can move the odds of any guess about your answer by at most "
    "3.0 times. After the last day, this device sends 1 upload: a report, or "
    "if there is none an empty one of the same length." NEVER YEAR,

    "You are asked: \"Which browser did you use today?\"" ASKED
    " One report can move the odds of any guess about your answer by at most "
    "1.7 times. Every report is changed anew: all 728 reports that this task "
    "can send may give your answer away. After every day, up to 6 hours "
    "later, this device sends 2 uploads: reports, or where there are none "
    "empty ones of the same length. Of up to 5 answers in that time, the ones "
    "to report are drawn at random. Only about 1 in 4 devices report; whether "
    "this one does is drawn at random." NEVER YEAR,

    "You are asked: \"Do you use the dark colours?\"" ASKED
    " One report can move the odds of any guess about your answer by at most "
    "3.0 times. The change is made once, kept for 28 days, and every report "
    "is made from what was kept. All 4 reports of that time together can move "
    "the odds of any guess about your answer by at most 54.6 times. It is "
    "made anew for each such time: all 52 reports that this task can send may "
    "give your answer away. Up to 2 different answers are kept in that time. "
    "That your answer changed, and when, may show; the bound above does not "
    "cover that. After every 7 days, this device sends 1 upload: a report, or "
    "if there is none an empty one of the same length." NEVER YEAR,

    "You are asked: \"How many minutes a day do you use the program?\"" ASKED
    " One report can move the odds of any guess about your answer by at most "
    "2.8 times. The change is made once, kept for 364 days, and every report "
    "is made from what was kept. All 364 reports of that time together can "
    "move the odds of any guess about your answer by at most 20.1 times. Your "
    "first answer, changed so, is kept until 2027-02-14 and sent each "
    "time with new noise. If your answer changes, what is sent does not: that "
    "it changed does not show. After every day, this device sends 1 upload: a "
    "report, or if there is none an empty one of the same length." NEVER YEAR,

    "You are asked: \"What is your home page? (gr\xc3\xbc\xc3\x9f dich)\"" ASKED
    " One report can move the odds of any guess about your answer by at most "
    "3.0 times. The change is made once, kept for 364 days, and every report "
    "is made from what was kept. All 364 reports of that time together can "
    "move the odds of any guess about your answer by at most 81.1 times. Your "
    "first answer, changed so, is kept until 2027-02-14 and sent each "
    "time with new noise. If your answer changes, what is sent does not: that "
    "it changed does not show. After every day, this device sends 1 upload: a "
    "report, or if there is none an empty one of the same length." NEVER
    " It names one of 64 groups, which this device drew at random and keeps; "
    "the group says nothing about your answer." YEAR,
};

static hsy_release *release_of(const hsy_task *task)
{
    hsy_release *r = malloc(hsy_release_size(task));

    if (r != NULL && hsy_release_init(r, task, NULL) == HSY_OK)
        return r;
    free(r);
    return NULL;
}

static void labels_are_these(void)
{
    char text[4096];

    for (size_t i = 0; i < EXAMPLE_TASKS; i++) {
        hsy_release *r = release_of(&e.task[i]);
        size_t len = hsy_release_label(r, text, sizeof text, &e.task[i]);

        if (!ok(eq_text(text, labels[i]) && eq_u64(len, strlen(labels[i])),
                "%s: its label", e.task[i].id))
            printf("# %s\n", text);
        free(r);
    }
}

/* An answer that is kept for a slot says for how long, and that it stays. */
static void says_what_is_kept(void)
{
    hsy_task task = e.task[2]; /* 28 days of four rounds */
    hsy_release *r;
    char text[4096];

    task.max_changes = 1;
    r = release_of(&task);
    hsy_release_label(r, text, sizeof text, &task);
    ok(strstr(text, "kept for 28 days, and every report is made from what was "
                    "kept.") != NULL &&
           strstr(text, " Your first answer, changed so, is kept for that time "
                        "and sent each time with new noise. If your answer "
                        "changes, what is sent does not: that it changed does "
                        "not show. ") != NULL,
       "a slot's first answer, for as long as the slot");
    free(r);
}

/* Room for n bytes holds at most n - 1, and never half a character. */
static void labels_are_cut(void)
{
    hsy_release *r = release_of(&e.task[4]);
    size_t all = hsy_release_label(r, NULL, 0, &e.task[4]), wrong = 0;
    char text[4096];

    is_u64(all, strlen(labels[4]), "without room: its length");
    for (size_t room = 1; room <= all + 1; room++) {
        size_t len;

        memset(text, '#', sizeof text);
        wrong += hsy_release_label(r, text, room, &e.task[4]) != all;
        len = strlen(text);
        wrong += len >= room || memcmp(text, labels[4], len) != 0;
        wrong += text[room] != '#';
        wrong += len + 1 != room && (uint8_t)labels[4][len] < 0xc0;
    }
    is_u64(wrong, 0, "in each smaller room: its beginning, no half character");
    free(r);
}

/* Never less than e^epsilon, and hardly more than its digit makes it. */
static void odds_are_rounded_up(void)
{
    unsigned wrong = 0;

    ok(eq_u64(hsy_odds(HSY_NANO), 28) &&
           eq_u64(hsy_odds(3 * (uint64_t)HSY_NANO), 201) &&
           eq_u64(hsy_odds(5 * (uint64_t)HSY_NANO), 1490),
       "odds move by 2.8, 20.1 and 149 at epsilon 1, 3 and 5");
    for (uint64_t nano = 1; nano <= HSY_EPSILON_MAX; nano += 12345679) {
        const double above = (double)hsy_odds(nano) / 10;
        const double odds = exp((double)nano / HSY_NANO);
        const double most = odds + (odds < 99.9 ? 0.1 : 1);

        wrong += !(above >= odds * (1 - 1e-12)) || above > most * (1 + 1e-9);
    }
    is_u64(wrong, 0,
           "at any epsilon they are rounded up, by less than a digit");
    ok(hsy_odds(HSY_EPSILON_MAX) > 0 &&
           eq_u64(hsy_odds(HSY_EPSILON_MAX + 1), 0),
       "beyond the largest epsilon nothing is promised");
}

/* Days through four centuries, against a calendar that counts one by one. */
static void dates_are_right(void)
{
    static const unsigned lengths[12] = {31, 28, 31, 30, 31, 30,
                                         31, 31, 30, 31, 30, 31};
    unsigned year = 1970, month = 1, day = 1, wrong = 0;
    hsy_task task = e.task[0];
    char text[4096], want[64];

    for (uint32_t d = 0; d < 146097; d++) {
        unsigned leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

        if (d % 97 == 0 || (month == 2 && day >= 28)) {
            hsy_release *r;

            task.start = d;
            task.end = d + 1;
            r = release_of(&task);
            hsy_release_label(r, text, sizeof text, &task);
            snprintf(want, sizeof want, " from %u-%02u-%02u to %u-%02u-%02u.",
                     year, month, day, year, month, day);
            wrong += strstr(text, want) == NULL;
            free(r);
        }
        if (++day > lengths[month - 1] + (month == 2) * leap) {
            day = 1;
            year += month == 12;
            month = month % 12 + 1;
        }
    }
    is_u64(wrong, 0, "the days of four centuries, leap days included");
}

int main(void)
{
    if (!ok(example_tasks_make(&e), "the examples resolve"))
        return tap_done();
    labels_are_these();
    says_what_is_kept();
    labels_are_cut();
    odds_are_rounded_up();
    dates_are_right();
    return tap_done();
}
