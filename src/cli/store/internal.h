/* internal.h - what the files of `hearsay store` share. */
#ifndef CLI_STORE_INTERNAL_H
#define CLI_STORE_INTERNAL_H

#include "cli/base/base.h"
#include "server/engine/engine.h"
#include "server/store/admin.h"

struct store_how {
    const char *words[4]; /* what to do, and to what */
    size_t nwords;
    const char *output, *tallies, *with;
    uint32_t day;
    uint32_t release; /* 0: all */
    enum cli_format format;
    uint64_t given; /* a bit for each option */
};

/* A collector's data, opened; and what was counted, with everything folded. */
struct store_data {
    const char *directory;
    struct store *store;
    struct store_state state;
    struct engine *engine; /* NULL until store_fold */
    struct roster *roster;
};

/* 0, or the exit code after a message. Close in any case. */
int store_open(struct store_data *d, const char *directory);
int store_fold(struct store_data *d);
void store_shut(struct store_data *d);

/* The tally of an entry; words is the caller's to free. An entry without
 * reports has one of zeros. 0, or the exit code after a message. */
int store_tally(struct store_data *d, const struct roster_entry *e,
                hsy_tally *tally, int64_t **words);

/* Look through everything. Prints nothing but what is wrong, unless show. */
int store_check(struct store_data *d, bool show, enum cli_format format);

/* ---- What there is to do ------------------------------------------------- */

int store_run_check(const struct store_how *how);
int store_rehearse(const struct store_how *how); /* check --with */
int store_run_export(const struct store_how *how);
int store_run_import(const struct store_how *how);
int store_run_compact(const struct store_how *how);
int store_run_forget_nulls(const struct store_how *how);
int store_run_retire(const struct store_how *how);
int store_run_purge(const struct store_how *how);

#endif
