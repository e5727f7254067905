/* internal.h - what the files of hearsay account share. */
#ifndef CLI_ACCOUNT_INTERNAL_H
#define CLI_ACCOUNT_INTERNAL_H

#include "cli/base/base.h"
#include "host/plan/account.h"

/* An account from the command line. */
struct account_how {
    struct cli_parser parser;
    struct cli_spec spec; /* of the question */
    struct account_ask ask;
    const char *file, *plot;
    enum table_format format;
};

/* Draw it if asked for, then print it: the exit code (account_show.c). */
int account_show(const struct account *a, const struct account_how *how);

/* Say why there is no account; the exit code. */
int account_refused(const struct account *a, const struct account_how *how,
                    hsy_error *err);

#endif
