/* internal.h - what the files of `hearsay store` share. */
#ifndef CLI_STORE_INTERNAL_H
#define CLI_STORE_INTERNAL_H

#include "cli/base/base.h"
#include "server/offline/offline.h"

struct store_how {
    struct cli_parser parser; /* for complaints about the arguments */
    char **words;             /* behind the first: to what it is done */
    const char *output, *tallies, *with;
    uint32_t day;
    uint32_t release; /* 0: all */
    enum table_format format;
};

/* Open the data, and fold it if asked; then do something with it. The exit
 * code, after a message if that is not 0. */
int store_with(const struct store_how *how, bool fold,
               int (*run)(const struct store_how *how, struct offline *o));

/* Whether a word names a cluster: a file, which is a configuration. */
bool store_is_cluster(const char *path);

/* With the data open. */
int store_check(const struct store_how *how, struct offline *o);
int store_export(const struct store_how *how, struct offline *o);

/* ---- The same to a cluster ----------------------------------------------- */

int store_cluster_check(const struct store_how *how);
int store_cluster_export(const struct store_how *how);
int store_cluster_import(const struct store_how *how, int archive);
int store_cluster_compact(const struct store_how *how);
int store_cluster_forget_nulls(const struct store_how *how);
int store_cluster_retire(const struct store_how *how); /* or purge */

/* ---- What there is to do ------------------------------------------------- */

int store_run_check(void *to);
int store_run_export(void *to);
int store_run_import(void *to);
int store_run_init_cluster(void *to);

#endif
