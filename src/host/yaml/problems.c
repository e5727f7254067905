/* problems.c - saying what is wrong with a file, and on which line. */
#include "host/yaml/internal.h"

#include "host/base/grow.h"
#include "host/base/text.h"
#include "lib/bits/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void yaml_notes_clear(struct yaml_notes *n)
{
    free(n->lines);
    free(n->entries);
    free(n->problems);
    *n = (struct yaml_notes){.directory = NULL};
}

void yaml_notes_sort(struct yaml_notes *n)
{
    hsy_problem *all = n->problems;

    for (size_t i = 1; i < n->nproblems; i++) {
        const hsy_problem p = all[i];
        size_t k = i;

        for (; k > 0 && p.line - 1 < all[k - 1].line - 1; k--)
            all[k] = all[k - 1];
        all[k] = p;
    }
}

void *yaml_grow(struct yaml_notes *n, void *array, size_t used, size_t *room,
                size_t size)
{
    if (grow_room(&array, room, used + 1, size))
        return array;
    n->nomem = true;
    return NULL;
}

/* ---- Lines --------------------------------------------------------------- */

static bool problems_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* How well a line answers to a place: 0 not at all, 4 exactly. */
static int problems_fits(const struct yaml_place *l, const struct yaml_place *p)
{
    if (l->entry != p->entry)
        return 0;
    if (l->key == NULL)
        return 1; /* where the entry begins */
    if (!problems_same(l->key, p->key))
        return 0;
    if (l->sub == NULL && l->item == YAML_NONE)
        return 2 + 2 * (p->sub == NULL && p->item == YAML_NONE);
    return problems_same(l->sub, p->sub) && l->item == p->item ? 4 : 0;
}

/* Those of an entry follow each other, those of the file are anywhere. */
static uint32_t problems_line(const struct yaml_notes *n,
                              const struct yaml_place *at)
{
    const bool file = at->entry >= n->nentries;
    uint32_t line = 0;
    int best = 0;

    for (size_t i = file ? 0 : n->entries[at->entry].first;
         i < n->nlines && best < 4; i++) {
        int fits = problems_fits(&n->lines[i].at, at);

        if (!file && n->lines[i].at.entry != at->entry)
            break;
        if (fits > best) {
            best = fits;
            line = n->lines[i].line;
        }
    }
    return line;
}

/* ---- Problems ------------------------------------------------------------ */

/* By its name, or by its number while it has none. */
static void problems_name(const struct yaml_notes *n, hsy_problem *p,
                          size_t entry)
{
    if (entry >= n->nentries)
        return;
    if (n->entries[entry].name[0] != '\0')
        memcpy(p->task, n->entries[entry].name, sizeof p->task);
    else
        snprintf(p->task, sizeof p->task, "%zu", entry + 1);
}

static hsy_problem *problems_new(struct yaml_notes *n,
                                 const struct yaml_place *at)
{
    hsy_problem *grown, *p;

    if (n->nproblems == YAML_PROBLEMS_MAX)
        return NULL;
    grown = yaml_grow(n, n->problems, n->nproblems, &n->problems_room,
                      sizeof *grown);
    if (grown == NULL)
        return NULL;
    n->problems = grown;
    p = &n->problems[n->nproblems++];
    *p = (hsy_problem){.line = 0};
    problems_name(n, p, at->entry);
    if (at->key != NULL)
        snprintf(p->field, sizeof p->field, "%s%s%s", at->key,
                 at->sub != NULL ? "." : "", at->sub != NULL ? at->sub : "");
    return p;
}

/* Text from the file must not steer a terminal, nor end in half a letter. */
static void problems_tame(char *text)
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

static bool *problems_misread(struct yaml_notes *n, const struct yaml_place *at)
{
    return at->entry < n->nentries ? &n->entries[at->entry].misread
                                   : &n->misread;
}

static void problems_say(struct yaml_notes *n, const struct yaml_place *at,
                         uint32_t line, bool warning, const char *format,
                         va_list args)
{
    hsy_problem *p = problems_new(n, at);

    n->wrong |= !warning;
    if (!n->whole) /* it is still being read */
        *problems_misread(n, at) = true;
    if (p == NULL)
        return;
    p->line = line;
    p->warning = warning;
    vsnprintf(p->text, sizeof p->text, format, args);
    problems_tame(p->text);
    problems_tame(p->task);
}

void yaml_wrong(struct yaml_notes *n, struct yaml_place at, const char *format,
                ...)
{
    va_list args;

    va_start(args, format);
    problems_say(n, &at, problems_line(n, &at), false, format, args);
    va_end(args);
}

void yaml_warn(struct yaml_notes *n, struct yaml_place at, const char *format,
               ...)
{
    va_list args;

    va_start(args, format);
    problems_say(n, &at, problems_line(n, &at), true, format, args);
    va_end(args);
}

void yaml_missing(struct yaml_notes *n, struct yaml_place at,
                  const char *format, ...)
{
    va_list args;

    if (*problems_misread(n, &at)) {
        n->wrong = true;
        return;
    }
    va_start(args, format);
    problems_say(n, &at, problems_line(n, &at), false, format, args);
    va_end(args);
}

void yaml_wrong_line(struct yaml_notes *n, uint32_t line, struct yaml_place at,
                     const char *format, ...)
{
    va_list args;

    va_start(args, format);
    problems_say(n, &at, line, false, format, args);
    va_end(args);
}

/* ---- Did you mean? ------------------------------------------------------- */

bool yaml_listed(const char *text, const char *words)
{
    const size_t len = strlen(text);

    while (words != NULL && *words != '\0') {
        const size_t n = strcspn(words, " ");

        if (n == len && memcmp(words, text, n) == 0)
            return true;
        words += n + strspn(words + n, " ");
    }
    return false;
}

const char *yaml_nearest(const char *text, const struct yaml_field *fields)
{
    const char *names[YAML_FIELDS_MAX + 1] = {NULL};

    for (size_t i = 0; fields[i].key != NULL; i++) {
        if (yaml_listed(text, fields[i].also))
            return fields[i].key;
        names[i] = fields[i].key;
    }
    return text_nearest(text, names);
}
