/*
 * values.c - the values of a list, from the task file or one of their
 * own, as labels.
 *
 * A device has a place for every truth: `other` is put at the end unless the
 * list has it.
 */
#define _POSIX_C_SOURCE 200809L

#include "host/tasks/internal.h"

#include "host/format/spec_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- From the task file -------------------------------------------------- */

static hsy_status values_listed(struct labels *l, char *const *values,
                                hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (values[0] == NULL)
        return HSY_E_EMPTY;
    for (size_t k = 0; values[k] != NULL && st == HSY_OK; k++)
        st = labels_add(l, values[k], strlen(values[k]), err);
    return st == HSY_OK ? labels_index(l, err) : st;
}

/* ---- From a file --------------------------------------------------------- */

/* A list of its lines. HSY_E_IO with errno, which is 0 if it is no file or too
 * long. */
static hsy_status values_read(struct labels *l, const char *path,
                              hsy_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    hsy_status st = HSY_E_IO;
    struct stat s;
    int why;

    if (fd == -1)
        return HSY_E_IO;
    if (fstat(fd, &s) == -1 || !S_ISREG(s.st_mode) ||
        (uint64_t)s.st_size > HSY_LABELS_MAX)
        errno = 0;
    else
        st = labels_read(l, fd, err);
    why = errno;
    close(fd);
    errno = why;
    return st;
}

static hsy_status values_from_file(hsy_tasks *t, size_t i, struct labels *l,
                                   hsy_error *err)
{
    const struct yaml_place at = {i, "values-file", NULL, YAML_NONE};
    const char *name = t->file.tasks[i].values_file;
    hsy_status st;
    char *path;

    if (t->directory == NULL) {
        yaml_wrong(&t->notes, at, "no file can be read from here");
        return HSY_E_IO;
    }
    path = yaml_path(&t->notes, name);
    if (path == NULL)
        return HSY_E_NOMEM;
    st = values_read(l, path, err);
    if (st == HSY_E_IO)
        yaml_wrong(&t->notes, at, "%.100s: %s", name,
                   errno != 0 ? strerror(errno)
                              : "not a file of at most 64 MiB");
    free(path);
    return st;
}

/* ---- Together ------------------------------------------------------------ */

/* What is in the list already stands there twice. */
static void values_wrong(hsy_tasks *t, struct yaml_place at,
                         const struct labels *l, const hsy_error *err)
{
    const uint8_t *text;
    size_t len;

    if (err->at > l->d) {
        yaml_wrong(&t->notes, at, "value %" PRIu64 ": %s", err->at, err->msg);
        return;
    }
    text = (const uint8_t *)labels_at(l, (uint32_t)err->at - 1, &len);
    yaml_wrong(&t->notes, at, "value %" PRIu64 " is the same as value %u",
               err->at, (unsigned)labels_find(l, text, len) + 1);
}

/* Why there is no list; what a file did has been said. */
static void values_refused(hsy_tasks *t, struct yaml_place at,
                           const struct labels *l, hsy_status st,
                           const hsy_error *err)
{
    if (st == HSY_E_NOMEM)
        t->notes.nomem = true;
    else if (st == HSY_E_EMPTY)
        yaml_wrong(&t->notes, at, "the list is empty");
    else if (st != HSY_E_IO && err->at == 0)
        yaml_wrong(&t->notes, at, "%s", err->msg);
    else if (st != HSY_E_IO)
        values_wrong(t, at, l, err);
}

void tasks_values(hsy_tasks *t, size_t i, hsy_spec *spec)
{
    const struct tasks_raw *raw = &t->file.tasks[i];
    const bool file = raw->values_file != NULL;
    struct labels l = {.shown = true};
    hsy_error err = {0};
    hsy_status st = file ? values_from_file(t, i, &l, &err)
                         : values_listed(&l, raw->values, &err);

    if (st == HSY_OK)
        st = labels_other(&l, &t->tasks[i].other, &err);
    if (st == HSY_OK) {
        spec_text_labels(spec, &l);
        t->made[i].labels = l.block;
        l.block = NULL; /* it is the task's now */
    } else {
        const struct yaml_place at = {i, file ? "values-file" : "values", NULL,
                                      file || err.at == 0 ? YAML_NONE
                                                          : (size_t)err.at - 1};

        values_refused(t, at, &l, st, &err);
    }
    labels_clear(&l);
}
