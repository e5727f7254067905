/*
 * store_disk.h - a disk under SQLite that fails when a test says so.
 *
 * A VFS around SQLite's own, made the default one. It counts every operation
 * that changes a file, and at a chosen one it ends the process, says that the
 * disk is full, or fails a sync. It can also write a journal of all of them,
 * from which a test makes what a power cut may have left at any moment: every
 * operation before the file's last sync, and any subset of those after it, a
 * write by sectors of 512 bytes. Syncs do nothing but count: no test waits for
 * a real disk.
 */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DISK_FILES 64

#define DISK_NAME 32

enum disk_what {
    DISK_WRITE,
    DISK_TRUNCATE,
    DISK_SYNC,
    DISK_DELETE,
    DISK_DIRECTORY /* and all names in it are durable */
};

struct disk_op {
    enum disk_what what;
    int file;
    sqlite3_int64 at; /* of a write, or the length */
    int len;
    uint8_t *bytes; /* owned */
};

struct disk {
    uint64_t ops, syncs, writes; /* so far */
    uint64_t kill_at;  /* the operation that does not return; 0: none */
    uint64_t full_at;  /* the write from which on there is no room, */
    uint64_t full_for; /* and for how many; 0: for ever */
    uint64_t eio_at;   /* the sync that fails */
    bool journal;
    /* Whether a file may get so long; NULL: any may. */
    bool (*fits)(const char *file, sqlite3_int64 end);
    /* Told of every operation before it is done; NULL: nobody. */
    void (*hook)(enum disk_what what, const char *file);
    char name[DISK_FILES][DISK_NAME];
    int names;
    struct disk_op *op; /* owned; the journal */
    size_t nop, room;
};

extern struct disk disk;

/* Make it the disk of every database that is opened from now on. */
void disk_begin(void);

/* No faults, nothing counted, no journal. */
void disk_reset(void);

/* ---- What a power cut leaves --------------------------------------------- */

/*
 * Write into the directory what is left of the journal's first n operations.
 * whole says whether an operation that was not synced is there; sector, of one
 * that is, whether a sector of it is.
 */
void disk_cut(int dir, size_t n, bool (*whole)(void *ctx),
              bool (*sector)(void *ctx), void *ctx);

#endif
