/*
 * output.c - an output that is whole or not there.
 *
 * A regular file is written without a name in the directory of its place, so
 * that a process that is killed leaves nothing; when it is whole and synced it
 * gets a name beside its place and is renamed over it. Where the file system
 * does not know files without a name it has that name from the start. What is
 * no regular file (a device, a pipe) is written in place, as there is nothing
 * to replace.
 */
#define _GNU_SOURCE /* O_TMPFILE; realpath, fchmod */

#include "host/base/output.h"
#include "host/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BUFFER 65536u
#define OUTPUT_TRIES 100u
#define OUTPUT_NAME 64u

struct output {
    int fd;
    int error;   /* errno of the first failure, else 0 */
    bool opened; /* fd is ours to close */
    char *path;  /* owned; where it shall stand, NULL: written in place */
    char *draft; /* owned; where it stands meanwhile, NULL: nowhere */
    char self[OUTPUT_NAME]; /* what fd is called while it has no name */
    bool memory;            /* there is no fd */
    uint8_t *bytes;         /* owned; all of it so far, in memory */
    size_t len, room;       /* of bytes */
    size_t used;
    uint8_t buffer[OUTPUT_BUFFER];
};

/* The name of a file in the directory of path; the caller frees it. NULL: out
 * of memory. */
static char *output_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t dir = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    size_t len = strlen(name) + 1;
    char *beside = malloc(dir + len);

    if (beside != NULL) {
        memcpy(beside, path, dir);
        memcpy(beside + dir, name, len);
    }
    return beside;
}

/* Open a file without a name beside path, if it can get one later: by way of
 * /proc, the only one that needs no privilege. */
static bool output_nameless(struct output *out)
{
    char *dir = output_beside(out->path, ".");

    if (dir == NULL)
        return false;
    out->fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    free(dir);
    out->opened = out->fd != -1;
    if (!out->opened)
        return false;
    snprintf(out->self, sizeof out->self, "/proc/self/fd/%d", out->fd);
    if (access(out->self, F_OK) == 0)
        return true;
    close(out->fd);
    out->opened = false;
    return false;
}

/* Give the file the name it has now; false with errno set. */
static bool output_name(struct output *out)
{
    if (out->opened)
        return linkat(AT_FDCWD, out->self, AT_FDCWD, out->draft,
                      AT_SYMLINK_FOLLOW) == 0;
    out->fd = open(out->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    out->opened = out->fd != -1;
    return out->opened;
}

/* Name the file, opened or not, as a draft that was not there before. */
static hsy_status output_draft(struct output *out)
{
    for (unsigned i = 0;; i++) {
        char name[OUTPUT_NAME];

        snprintf(name, sizeof name, ".hearsay-%ld-%u.tmp", (long)getpid(), i);
        out->draft = output_beside(out->path, name);
        if (out->draft == NULL)
            return HSY_E_NOMEM;
        if (output_name(out))
            return HSY_OK;
        free(out->draft); /* another's: it must not be unlinked */
        out->draft = NULL;
        if (errno != EEXIST || i == OUTPUT_TRIES)
            return HSY_E_IO;
    }
}

static hsy_status output_begin(struct output *out)
{
    return output_nameless(out) ? HSY_OK : output_draft(out);
}

/* Stand in for an existing file: only if it may be written, with its mode. */
static hsy_status output_replace(struct output *out, const char *path,
                                 const struct stat *was)
{
    hsy_status st;

    if (access(path, W_OK) == -1)
        return HSY_E_IO;
    out->path = realpath(path, NULL); /* a link stays, its target changes */
    if (out->path == NULL)
        return errno == ENOMEM ? HSY_E_NOMEM : HSY_E_IO;
    st = output_begin(out);
    if (st == HSY_OK && fchmod(out->fd, was->st_mode & 07777) == -1)
        st = HSY_E_IO;
    return st;
}

static hsy_status output_create(struct output *out, const char *path)
{
    struct stat link;

    if (lstat(path, &link) == 0) { /* a link to nowhere */
        errno = ENOENT;
        return HSY_E_IO;
    }
    out->path = strdup(path);
    if (out->path == NULL)
        return HSY_E_NOMEM;
    return output_begin(out);
}

static hsy_status output_open_path(struct output *out, const char *path)
{
    struct stat was;

    if (stat(path, &was) == -1)
        return errno == ENOENT ? output_create(out, path) : HSY_E_IO;
    if (S_ISREG(was.st_mode))
        return output_replace(out, path, &was);
    out->fd = open(path, O_WRONLY | O_CLOEXEC);
    out->opened = out->fd != -1;
    return out->opened ? HSY_OK : HSY_E_IO;
}

/* Of standard output, until something else is said. */
static struct output *output_new(void)
{
    struct output *o = malloc(sizeof *o);

    if (o == NULL)
        return NULL;
    o->fd = STDOUT_FILENO;
    o->error = 0;
    o->opened = o->memory = false;
    o->path = o->draft = NULL;
    o->bytes = NULL;
    o->len = o->room = o->used = 0;
    return o;
}

hsy_status output_memory(struct output **out)
{
    *out = output_new();
    if (*out == NULL)
        return HSY_E_NOMEM;
    (*out)->memory = true;
    return HSY_OK;
}

hsy_status output_open(struct output **out, const char *path)
{
    struct output *o = output_new();
    hsy_status st = HSY_OK;

    if (o == NULL)
        return HSY_E_NOMEM;
    if (path != NULL)
        st = output_open_path(o, path);
    if (st != HSY_OK) {
        output_abort(o);
        return st;
    }
    *out = o;
    return HSY_OK;
}

/* More of what is in memory. */
static void output_append(struct output *out, const uint8_t *data, size_t len)
{
    if (out->error == 0 && len > out->room - out->len) {
        const size_t room = 2 * out->room + len;
        uint8_t *bytes = realloc(out->bytes, room);

        if (bytes == NULL) {
            out->error = ENOMEM;
            return;
        }
        out->bytes = bytes;
        out->room = room;
    }
    if (out->error == 0 && len != 0) {
        memcpy(out->bytes + out->len, data, len);
        out->len += len;
    }
}

static void output_drain(struct output *out, const uint8_t *data, size_t len)
{
    if (out->memory) {
        output_append(out, data, len);
        return;
    }
    while (out->error == 0 && len != 0) {
        ssize_t put = write(out->fd, data, len);

        if (put >= 0) {
            data += put;
            len -= (size_t)put;
        } else if (!retry_write(out->fd)) {
            out->error = errno;
        }
    }
}

static hsy_status output_result(const struct output *out)
{
    if (out->error == 0)
        return HSY_OK;
    errno = out->error;
    return HSY_E_IO;
}

hsy_status output_write(struct output *out, const void *data, size_t len)
{
    if (len > OUTPUT_BUFFER - out->used) {
        output_drain(out, out->buffer, out->used);
        out->used = 0;
    }
    if (len > OUTPUT_BUFFER) {
        output_drain(out, data, len);
    } else {
        memcpy(out->buffer + out->used, data, len);
        out->used += len;
    }
    return output_result(out);
}

/* The directory a file stands in, to sync a rename; -1 with errno set. */
static int output_dir(const char *path)
{
    char *dir = output_beside(path, ".");
    int fd;

    if (dir == NULL)
        return -1;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(dir);
    return fd;
}

/* Move a whole file to its place; out->error says if that failed. */
static void output_rename(struct output *out)
{
    int dir = output_dir(out->path);

    /* A directory that may be written but not read cannot be synced. */
    if (dir == -1 && errno != EACCES) {
        out->error = errno;
        return;
    }
    if ((out->draft == NULL && output_draft(out) != HSY_OK) ||
        rename(out->draft, out->path) == -1) {
        out->error = errno;
    } else {
        free(out->draft);
        out->draft = NULL;
        /* EINVAL: nor can one of a file system that does not know how. */
        if (dir != -1 && fsync(dir) == -1 && errno != EINVAL)
            out->error = errno;
    }
    if (dir != -1)
        close(dir);
}

hsy_status output_commit(struct output *out)
{
    hsy_status st;

    output_drain(out, out->buffer, out->used);
    out->used = 0;
    if (out->error == 0 && out->path != NULL && fsync(out->fd) == -1)
        out->error = errno;
    if (out->error == 0 && out->path != NULL)
        output_rename(out);
    st = output_result(out);
    output_abort(out);
    return st;
}

hsy_status output_take(struct output *out, uint8_t **bytes, size_t *len)
{
    hsy_status st;

    output_drain(out, out->buffer, out->used);
    out->used = 0;
    st = out->error == 0 ? HSY_OK : HSY_E_NOMEM;
    if (st == HSY_OK) {
        *bytes = out->bytes;
        *len = out->len;
        out->bytes = NULL;
    }
    output_abort(out);
    return st;
}

void output_abort(struct output *out)
{
    int error = errno;

    if (out == NULL)
        return;
    if (out->opened)
        close(out->fd);
    if (out->draft != NULL)
        unlink(out->draft);
    free(out->path);
    free(out->draft);
    free(out->bytes);
    free(out);
    errno = error;
}
