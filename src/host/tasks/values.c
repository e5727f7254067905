/*
 * values.c - the values of a list, from the task file or one of their
 * own, as labels.
 *
 * A device has a place for every truth: `other` is put at the end unless the
 * list has it.
 */
#define _POSIX_C_SOURCE 200809L

#include "host/tasks/internal.h"

#include "host/base/files.h"
#include "lib/bits/bytes.h"
#include "lib/bits/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct values_one {
    const uint8_t *text;
    size_t len, place;
};

/* A list while it is put together; text points into the file. */
struct values_list {
    struct values_one *all; /* owned */
    size_t n, room;
    uint8_t *file; /* owned, NULL: from the task file */
    const char *key;
};

static struct yaml_place values_at(size_t i, const struct values_list *l,
                                   size_t item)
{
    return (struct yaml_place){
        .entry = i, .key = l->key, .item = l->file == NULL ? item : YAML_NONE};
}

/* ---- From a file --------------------------------------------------------- */

/* All of a file in memory of its own; NULL with errno, 0 if it is no file or
 * too long. */
static uint8_t *values_slurp(const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    uint8_t *bytes = NULL;
    struct stat st;

    if (fd == -1)
        return NULL;
    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
        file_whole_fd(&bytes, len, fd, HSY_LABELS_MAX, NULL) == HSY_E_RANGE)
        errno = 0;
    close(fd);
    return bytes;
}

static bool values_add(hsy_tasks *t, struct values_list *l, const uint8_t *text,
                       size_t len)
{
    struct values_one *grown =
        yaml_grow(&t->notes, l->all, l->n, &l->room, sizeof *grown);

    if (grown == NULL)
        return false;
    l->all = grown;
    l->all[l->n] = (struct values_one){text, len, l->n};
    l->n++;
    return true;
}

static void values_split(hsy_tasks *t, struct values_list *l, size_t len)
{
    const uint8_t *at = l->file, *end = l->file + len;

    while (at < end) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop != NULL ? stop : end) - at);

        if (!values_add(t, l, at, n - (n > 0 && at[n - 1] == '\r')))
            return;
        at += n + 1;
    }
}

/* The path of a file that a task names, owned by the caller. */
static char *values_path(const hsy_tasks *t, const char *name)
{
    const bool whole = name[0] == '/';
    size_t room = strlen(t->directory) + strlen(name) + 2;
    char *path = malloc(room);

    if (path != NULL)
        snprintf(path, room, "%s%s%s", whole ? "" : t->directory,
                 whole ? "" : "/", name);
    return path;
}

static bool values_from_file(hsy_tasks *t, size_t i, struct values_list *l)
{
    const char *name = t->file.tasks[i].values_file;
    const struct yaml_place at = values_at(i, l, YAML_NONE);
    size_t len = 0;
    char *path;

    if (t->directory == NULL) {
        yaml_wrong(&t->notes, at, "no file can be read from here");
        return false;
    }
    path = values_path(t, name);
    l->file = path != NULL ? values_slurp(path, &len) : NULL;
    if (path == NULL)
        t->notes.nomem = true;
    else if (l->file == NULL)
        yaml_wrong(&t->notes, at, "%.100s: %s", name,
                   errno != 0 ? strerror(errno)
                              : "not a file of at most 64 MiB");
    else
        values_split(t, l, len);
    free(path);
    return l->file != NULL && !t->notes.nomem;
}

/* ---- What values may be -------------------------------------------------- */

static const char *values_unfit(const struct values_one *v)
{
    uint32_t c;

    if (v->len == 0)
        return "a value is empty";
    if (v->len > HSY_LABEL_MAX)
        return "a value is longer than 4096 bytes";
    for (size_t at = 0, n; at < v->len; at += n) {
        n = utf8_one(&c, v->text + at, v->len - at);
        if (n == 0)
            return "a value is not UTF-8";
        if (at == 0 && c == 0xfeff)
            return "a value begins with a byte-order mark";
        if (c < 0x20 || c == 0x7f)
            return "a value holds a control character";
    }
    return NULL;
}

static int values_order(const void *a, const void *b)
{
    const struct values_one *x = a, *y = b;
    size_t least = x->len < y->len ? x->len : y->len;
    int order = least == 0 ? 0 : memcmp(x->text, y->text, least);

    if (order != 0)
        return order;
    return x->len != y->len ? (x->len < y->len ? -1 : 1)
                            : (x->place < y->place ? -1 : 1);
}

static bool values_same(const struct values_one *a, const struct values_one *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Complain of the first that is the same as another; sorts a copy. */
static bool values_distinct(hsy_tasks *t, size_t i, const struct values_list *l)
{
    struct values_one *sorted = malloc(l->n * sizeof *sorted);
    bool distinct = true;

    if (sorted == NULL) {
        t->notes.nomem = true;
        return false;
    }
    memcpy(sorted, l->all, l->n * sizeof *sorted);
    qsort(sorted, l->n, sizeof *sorted, values_order);
    for (size_t k = 1; k < l->n && distinct; k++)
        if (values_same(&sorted[k - 1], &sorted[k])) {
            yaml_wrong(&t->notes, values_at(i, l, sorted[k].place),
                       "value %zu is the same as value %zu",
                       sorted[k].place + 1, sorted[k - 1].place + 1);
            distinct = false;
        }
    free(sorted);
    return distinct;
}

static bool values_check(hsy_tasks *t, size_t i, const struct values_list *l)
{
    size_t bytes = 0;

    if (l->n == 0) {
        yaml_wrong(&t->notes, values_at(i, l, YAML_NONE), "the list is empty");
        return false;
    }
    for (size_t k = 0; k < l->n; k++) {
        const char *wrong = values_unfit(&l->all[k]);

        bytes += 4 + l->all[k].len;
        if (wrong == NULL && (k >= HSY_VALUES_MAX || bytes > HSY_LABELS_MAX))
            wrong = "the list is too long";
        if (wrong != NULL) {
            yaml_wrong(&t->notes, values_at(i, l, k), "value %zu: %s", k + 1,
                       wrong);
            return false;
        }
    }
    return values_distinct(t, i, l);
}

/* ---- Together ------------------------------------------------------------ */

static void values_encode(hsy_tasks *t, size_t i, const struct values_list *l,
                          hsy_spec *spec)
{
    size_t len = 0;
    uint8_t *at;

    for (size_t k = 0; k < l->n; k++)
        len += 4 + l->all[k].len;
    at = t->made[i].labels = malloc(len);
    if (at == NULL) {
        t->notes.nomem = true;
        return;
    }
    for (size_t k = 0; k < l->n; k++) {
        bytes_put32(at, (uint32_t)l->all[k].len);
        memcpy(at + 4, l->all[k].text, l->all[k].len);
        at += 4 + l->all[k].len;
    }
    spec->kind = HSY_KIND_VALUES;
    spec->d = (uint32_t)l->n;
    spec->labels = t->made[i].labels;
    spec->labels_len = len;
}

static bool values_gather(hsy_tasks *t, size_t i, struct values_list *l)
{
    const struct tasks_raw *raw = &t->file.tasks[i];

    if (raw->values_file != NULL)
        return values_from_file(t, i, l);
    for (size_t k = 0; raw->values[k] != NULL; k++)
        if (!values_add(t, l, (const uint8_t *)raw->values[k],
                        strlen(raw->values[k])))
            return false;
    return true;
}

void tasks_values(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    static const struct values_one other = {(const uint8_t *)"other", 5, 0};
    const bool file = t->file.tasks[i].values_file != NULL;
    struct values_list l = {.key = file ? "values-file" : "values"};
    size_t place = 0;

    if (values_gather(t, i, &l) && values_check(t, i, &l)) {
        while (place < l.n && !values_same(&l.all[place], &other))
            place++;
        if (place < l.n || values_add(t, &l, other.text, other.len)) {
            t->tasks[i].other = (uint32_t)place;
            values_encode(t, i, &l, spec);
        }
    }
    free(l.all);
    free(l.file);
}
