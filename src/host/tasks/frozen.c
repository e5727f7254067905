/*
 * frozen.c - a question whose answer is kept should ask for what stays.
 *
 * With a permanent answer and one change a slot the first truth is sent for the
 * whole slot. "Did you use it yesterday?" is then a question about one
 * yesterday, told for years. The words that suggest so stand in one table; they
 * are English, and a question in another language is not looked at.
 */
#include "host/tasks/internal.h"

#include "host/tasks/calendar.h"

#include <inttypes.h>
#include <string.h>

#define FROZEN_QUESTION 1024u /* bytes of one, as docs/tasks.md has it */

/* A word, or some, and the days for which what it asks about stays. */
static const struct frozen_word {
    const char *words;
    uint32_t days;
} frozen_words[] = {
    {"yesterday", 1},       {"today", 1},
    {"tonight", 1},         {"last night", 1},
    {"this morning", 1},    {"this afternoon", 1},
    {"this evening", 1},    {"last time", 1},
    {"right now", 1},       {"now", 1},
    {"currently", 1},       {"at the moment", 1},
    {"at present", 1},      {"recently", 1},
    {"latest", 1},          {"so far", 1},
    {"a day", 1},           {"per day", 1},
    {"each day", 1},        {"every day", 1},
    {"daily", 1},           {"this week", 7},
    {"last week", 7},       {"past week", 7},
    {"last seven days", 7}, {"last 7 days", 7},
    {"a week", 7},          {"per week", 7},
    {"each week", 7},       {"every week", 7},
    {"weekly", 7},          {"this weekend", 7},
    {"last weekend", 7},    {"this month", 31},
    {"last month", 31},     {"past month", 31},
    {"last 30 days", 31},   {"a month", 31},
    {"per month", 31},      {"monthly", 31},
    {"this year", 366},     {"last year", 366},
    {"past year", 366},     {"did you", 1},
    {"have you been", 1},
};

/* Small letters and digits, one space between words and at both ends. */
static void frozen_plain(char out[FROZEN_QUESTION + 3], const char *text,
                         size_t len)
{
    size_t n = 1;

    out[0] = ' ';
    for (size_t i = 0; i < len && i < FROZEN_QUESTION; i++) {
        const char c = text[i];

        if (c >= 'A' && c <= 'Z')
            out[n++] = (char)(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                 (c & 0x80) != 0)
            out[n++] = c;
        else if (out[n - 1] != ' ')
            out[n++] = ' ';
    }
    if (out[n - 1] != ' ')
        out[n++] = ' ';
    out[n] = '\0';
}

static bool frozen_has(const char *plain, const char *words)
{
    const size_t len = strlen(words);

    for (const char *at = strstr(plain, words); at != NULL;
         at = strstr(at + 1, words))
        if (at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

void tasks_frozen(hsy_tasks *t, size_t i)
{
    const hsy_task *task = &t->tasks[i];
    const uint32_t days = calendar_slot(task);
    const struct yaml_place at = {i, "question", NULL, YAML_NONE};
    char plain[FROZEN_QUESTION + 3];

    if (task->permanent == NULL || task->max_changes != 1)
        return;
    frozen_plain(plain, task->question, task->question_len);
    for (size_t k = 0; k < sizeof frozen_words / sizeof frozen_words[0]; k++) {
        const struct frozen_word *w = &frozen_words[k];

        if (w->days >= days || !frozen_has(plain, w->words))
            continue;
        yaml_warn(&t->notes, at,
                  "'%s' asks for what changes, but the first answer is kept "
                  "and sent for %" PRIu32 " days, whatever comes later: ask "
                  "for what stays, as 'on a usual day'; or for fresh answers "
                  "(repeat, no permanent); or renew sooner; or max_changes",
                  w->words, days);
        return;
    }
}
