/* machine.c - what the kernel says of this process and of its disk. */
#define _GNU_SOURCE

#include "server/collector/watch/internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define MACHINE_ROOM                                                           \
    262144 /* bytes that are written to see if there is room                   \
            */
#define MACHINE_PIECE 65536

void watch_machine_open(struct watch *w, const char *data)
{
    struct rlimit limit;

    w->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    w->data_fd =
        open(data != NULL ? data : "", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    w->files = opendir("/proc/self/fd");
    w->most_files =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}

void watch_machine_close(struct watch *w)
{
    if (w->statm != -1)
        close(w->statm);
    if (w->data_fd != -1)
        close(w->data_fd);
    if (w->files != NULL)
        closedir(w->files);
}

/* ---- The process --------------------------------------------------------- */

static void machine_memory(const struct watch *w, struct watch_figures *out)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char text[128];
    const ssize_t n =
        w->statm == -1 ? -1 : pread(w->statm, text, sizeof text - 1, 0);
    char *end;

    if (n <= 0)
        return;
    text[n] = '\0';
    out->virtual_bytes = strtoull(text, &end, 10) * page;
    out->resident_bytes = strtoull(end, NULL, 10) * page;
}

static uint64_t machine_files(DIR *files)
{
    const struct dirent *e;
    uint64_t n = 0;

    if (files == NULL)
        return 0;
    rewinddir(files);
    while ((e = readdir(files)) != NULL)
        n += e->d_name[0] != '.';
    return n;
}

static double machine_cpu(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The disk ------------------------------------------------------------ */

void watch_disk(const struct watch *w, struct watch_figures *out)
{
    struct statfs fs;

    if (w->data_fd == -1 || fstatfs(w->data_fd, &fs) == -1)
        return;
    out->disk_free = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
    out->disk_size = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
}

bool watch_room(const struct watch *w)
{
    static const char piece[MACHINE_PIECE];
    struct watch_figures now = {0};
    bool room = true;
    int fd;

    watch_disk(w, &now);
    if (w->data_fd == -1 || now.disk_free < 2 * MACHINE_ROOM)
        return false;
    fd = openat(w->data_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd == -1)
        return false;
    for (off_t at = 0; at < MACHINE_ROOM && room; at += MACHINE_PIECE)
        room = pwrite(fd, piece, sizeof piece, at) == MACHINE_PIECE;
    close(fd);
    return room;
}

static uint64_t machine_log(const struct watch *w)
{
    static const char *const names[] = {"record.db-wal", "cells.db-wal"};
    uint64_t bytes = 0;
    struct stat is;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (w->data_fd != -1 && fstatat(w->data_fd, names[i], &is, 0) == 0)
            bytes += (uint64_t)is.st_size;
    return bytes;
}

/* When the newest was made; 0: there is none. */
static uint64_t machine_backup(const char *directory)
{
    DIR *all = directory != NULL ? opendir(directory) : NULL;
    uint64_t newest = 0;
    const struct dirent *e;
    struct stat is;

    while (all != NULL && (e = readdir(all)) != NULL)
        if (strncmp(e->d_name, "backup-", 7) == 0 &&
            strstr(e->d_name, ".draft") == NULL &&
            fstatat(dirfd(all), e->d_name, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(is.st_mode) && (uint64_t)is.st_mtime > newest)
            newest = (uint64_t)is.st_mtime;
    if (all != NULL)
        closedir(all);
    return newest;
}

void watch_machine(struct watch *w, struct watch_figures *out)
{
    machine_memory(w, out);
    watch_disk(w, out);
    out->log_bytes = machine_log(w);
    out->backup = machine_backup(w->backups);
    out->open_files = machine_files(w->files);
    out->cpu_seconds = machine_cpu();
}
