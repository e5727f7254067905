/* problem.c - saying what is wrong with a task file, and where. */
#include "host/tasks/tasks.h"

#include "lib/bits/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM_NAME 32u /* letters of a name that are looked at */

void *tasks_grow(hsy_tasks *t, void *array, size_t n, size_t *room, size_t size)
{
    size_t more = 2 * *room + 64;
    void *grown;

    if (n < *room)
        return array;
    grown = more <= SIZE_MAX / size ? realloc(array, more * size) : NULL;
    if (grown == NULL)
        t->nomem = true;
    else
        *room = more;
    return grown;
}

static bool problem_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* How well a line answers to a place: 0 not at all, 4 exactly. */
static int problem_fits(const struct tasks_line *l, const struct tasks_place *p)
{
    if (l->task != p->task)
        return 0;
    if (l->key == NULL)
        return 1; /* where the task begins */
    if (!problem_same(l->key, p->key))
        return 0;
    if (l->sub == NULL && l->item == TASKS_NONE)
        return 2 + 2 * (p->sub == NULL && p->item == TASKS_NONE);
    return problem_same(l->sub, p->sub) && l->item == p->item ? 4 : 0;
}

/* Where to look for a task's lines, and whether number i is still one of them;
 * those of the file are anywhere. */
static size_t problem_first(const hsy_tasks *t, size_t task)
{
    return task < HSY_TASKS_MAX ? t->first[task] : 0;
}

static bool problem_more(const hsy_tasks *t, size_t task, size_t i)
{
    return i < t->nlines && (task == TASKS_NONE || t->lines[i].task == task);
}

static uint32_t problem_line(const hsy_tasks *t, const struct tasks_place *at)
{
    size_t i = problem_first(t, at->task);
    uint32_t line = 0;
    int best = 0;

    for (; problem_more(t, at->task, i) && best < 4; i++) {
        int fits = problem_fits(&t->lines[i], at);

        if (fits > best) {
            best = fits;
            line = t->lines[i].line;
        }
    }
    return line;
}

bool tasks_given(const hsy_tasks *t, size_t task, const char *key)
{
    for (size_t i = problem_first(t, task); problem_more(t, task, i); i++)
        if (t->lines[i].task == task && problem_same(t->lines[i].key, key))
            return true;
    return false;
}

/* By its id, or by its number while it has none. */
static void problem_name(const hsy_tasks *t, hsy_problem *p, size_t task)
{
    if (task >= HSY_TASKS_MAX)
        return;
    if (t->ids[task][0] != '\0')
        memcpy(p->task, t->ids[task], sizeof p->task);
    else
        snprintf(p->task, sizeof p->task, "%zu", task + 1);
}

static hsy_problem *problem_new(hsy_tasks *t, const struct tasks_place *at)
{
    hsy_problem *grown, *p;

    if (t->nproblems == TASKS_PROBLEMS_MAX)
        return NULL;
    grown = tasks_grow(t, t->problems, t->nproblems, &t->problems_room,
                       sizeof *grown);
    if (grown == NULL)
        return NULL;
    t->problems = grown;
    p = &t->problems[t->nproblems++];
    *p = (hsy_problem){.line = 0};
    problem_name(t, p, at->task);
    if (at->key != NULL)
        snprintf(p->field, sizeof p->field, "%s%s%s", at->key,
                 at->sub != NULL ? "." : "", at->sub != NULL ? at->sub : "");
    return p;
}

/* Text from the file must not steer a terminal, nor end in half a letter. */
static void problem_tame(char *text)
{
    uint8_t *p = (uint8_t *)text;
    size_t len = strlen(text);
    uint32_t c = 0;

    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_one(&c, p + at, len - at);
        if (n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) ||
            (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069)) {
            n += n == 0;
            memset(p + at, '?', n);
        }
    }
}

static void problem_say(hsy_tasks *t, const struct tasks_place *at,
                        uint32_t line, bool warning, const char *format,
                        va_list args)
{
    hsy_problem *p = problem_new(t, at);

    t->wrong |= !warning;
    if (p == NULL)
        return;
    p->line = line;
    p->warning = warning;
    vsnprintf(p->text, sizeof p->text, format, args);
    problem_tame(p->text);
    problem_tame(p->task);
}

void tasks_wrong(hsy_tasks *t, struct tasks_place at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    problem_say(t, &at, problem_line(t, &at), false, format, args);
    va_end(args);
}

void tasks_warn(hsy_tasks *t, struct tasks_place at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    problem_say(t, &at, problem_line(t, &at), true, format, args);
    va_end(args);
}

void tasks_wrong_line(hsy_tasks *t, uint32_t line, struct tasks_place at,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    problem_say(t, &at, line, false, format, args);
    va_end(args);
}

static size_t problem_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to put in, take out or change [Levenshtein]. */
static size_t problem_edits(const char *a, const char *b)
{
    size_t row[PROBLEM_NAME + 1], n = strlen(b);

    if (strlen(a) > PROBLEM_NAME || n > PROBLEM_NAME)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t change = corner + (a[i] != b[j]);

            corner = row[j + 1];
            row[j + 1] =
                problem_least(change, 1 + problem_least(corner, row[j]));
        }
    }
    return row[n];
}

const char *tasks_nearest(const char *text, const cyaml_schema_field_t *fields)
{
    const char *best = NULL;
    size_t least = strlen(text) < 6 ? 2 : 3; /* edits that are too many */

    for (; fields->key != NULL; fields++) {
        size_t edits = problem_edits(text, fields->key);

        if (edits < least && edits < strlen(fields->key)) {
            least = edits;
            best = fields->key;
        }
    }
    return best;
}
