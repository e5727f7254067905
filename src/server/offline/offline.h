/*
 * offline.h - a collector's data while no collector serves it.
 *
 * It is opened, looked through, exported, made anew from an archive, and what
 * may be forgotten is forgotten. Nothing is printed: what is wrong is a status
 * and an error, and where a file other than the data can be at fault, a code
 * that says which.
 */
#ifndef SERVER_OFFLINE_OFFLINE_H
#define SERVER_OFFLINE_OFFLINE_H

#include "server/engine/engine.h"
#include "server/store/admin.h"

/* ---- Opening (open.c) ---------------------------------------------------- */

struct offline {
    const char *directory; /* the caller's */
    struct store *store;
    struct store_state state;
    struct engine *engine; /* NULL until offline_fold */
    struct roster *roster;
    size_t shards;  /* 0: it is this machine's; else a cluster's, which another
                       has opened (server/cluster), and which is only read */
    uint64_t bytes; /* of that */
};

/* HSY_E_EMPTY if nothing of a collector is there. Close in any case. */
hsy_status offline_open(struct offline *o, const char *directory,
                        hsy_error *err);

/* All that was counted, with everything folded, in memory. */
hsy_status offline_fold(struct offline *o, hsy_error *err);
void offline_close(struct offline *o);

/* The tally of an entry; words is the caller's to free. An entry without
 * reports has one of zeros. */
hsy_status offline_tally(struct offline *o, const struct roster_entry *e,
                         hsy_tally *tally, int64_t **words, hsy_error *err);

/* ---- Checking (check.c) -------------------------------------------------- */

#define OFFLINE_PROBLEM 512 /* bytes of what is wrong */

/* What is known of an entry of the roster. */
struct offline_row {
    uint64_t counted, nulls, waiting, tallied;
    bool sealed; /* its uploads are, so no tally has them */
    uint32_t days;
    bool agrees;
};

struct offline_check {
    /* Told of everything that is wrong. */
    void (*wrong)(void *ctx, const char *text);
    void *ctx;

    struct offline_row *rows; /* by entry; owned */
    size_t n;
    uint64_t ids, merged, figures;
    char problem[OFFLINE_PROBLEM]; /* the first thing that is wrong; "": none */
};

/* Look through everything, and fold it. HSY_OK whatever is wrong with the data;
 * else it could not be looked through to its end. Clear it in any case. */
hsy_status offline_check(struct offline_check *c, struct offline *o,
                         hsy_error *err);
void offline_check_clear(struct offline_check *c);

/* ---- Files (tally_archive.c) --------------------------------------------- */

/* A tally file of each entry into a directory, which is made if it is not
 * there. *path, the caller's to free, is a file that could not be written for
 * the reason in errno; else NULL, and err is of the data. */
hsy_status offline_export(struct offline *o, char **path, const char *directory,
                          hsy_error *err);

enum offline_import {
    OFFLINE_IMPORTED = 0,
    OFFLINE_IMPORT_MEMORY,
    OFFLINE_IMPORT_THERE,   /* something is there already */
    OFFLINE_IMPORT_WAY,     /* something is where it is to be made */
    OFFLINE_IMPORT_DRAFT,   /* err: of what was to be made */
    OFFLINE_IMPORT_ARCHIVE, /* err: of the archive */
    OFFLINE_IMPORT_READ,    /* err: of what was made, and is unsound */
    OFFLINE_IMPORT_UNSOUND, /* what was made does not agree with itself */
    OFFLINE_IMPORT_PLACE    /* errno: it could not be put in its place */
};

struct offline_made {
    enum offline_import what;
    char *draft;  /* where it was made; owned */
    bool unshown; /* the archive does not say what readers were shown */
};

/* The data of an archive, whole and checked, or nothing. Told of what is wrong
 * with it as offline_check. Free draft in any case. */
hsy_status offline_import(struct offline_made *made, const char *directory,
                          int archive, const struct offline_check *told,
                          hsy_error *err);

/* ---- Forgetting (forget.c) ----------------------------------------------- */

/* Let the tallies of a task go (which: of one release, or 0: of all), or if it
 * is NULL of all that was over before the day `which`, in what is counted and
 * in what is shown. It is folded; *n are retired. */
hsy_status offline_retire(struct offline *o, const char *task, uint32_t which,
                          uint64_t *n, hsy_error *err);

/* ---- An upgrade, rehearsed (upgrade.c) ----------------------------------- */

enum offline_upgrade {
    OFFLINE_UPGRADE_SAME = 0,
    OFFLINE_UPGRADE_MEMORY,
    OFFLINE_UPGRADE_WAY,     /* something is where the copy is to be */
    OFFLINE_UPGRADE_DATA,    /* err: of the data */
    OFFLINE_UPGRADE_COPY,    /* err: of the copy */
    OFFLINE_UPGRADE_RUN,     /* `failed` could not be run: `reason`, an errno */
    OFFLINE_UPGRADE_UNSOUND, /* the data is */
    OFFLINE_UPGRADE_UNREAD,  /* the other program does not read it */
    OFFLINE_UPGRADE_OTHER    /* it reads something else: `key` */
};

struct offline_upgraded {
    enum offline_upgrade what;
    const char *failed; /* NULL: no program, but what runs it */
    int reason;
    char key[64];
    bool back;     /* this program reads the copy after the other has */
    char *why;     /* not: what it said; owned */
    char *copy;    /* where it is, or was; owned */
    int unremoved; /* an errno: the copy is still there */
};

/* A copy beside the data is checked by this program, by another, which may
 * change its version, and by this one again ("PROGRAM store check COPY --format
 * json"). HSY_OK if the other reads all that there is and finds the same. The
 * data stays as it is. Free why and copy in any case. */
hsy_status offline_upgrade(struct offline_upgraded *out, const char *directory,
                           const char *ours, const char *theirs,
                           hsy_error *err);

#endif
