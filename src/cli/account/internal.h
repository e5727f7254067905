/* internal.h - what the files of hearsay account share. */
#ifndef CLI_ACCOUNT_INTERNAL_H
#define CLI_ACCOUNT_INTERNAL_H

#include "cli/base/base.h"
#include "host/plan/account.h"

/* An account from the command line. */
struct account_how {
    struct cli_spec spec; /* of the question */
    struct account_ask ask;
    const char *action, *file, *plot;
    enum table_format format;
};

/* Draw it if asked for, then print it: the exit code (account_show.c). */
int account_show(const struct account *a, const struct account_how *how);

/* Say why there is no account; the exit code. */
int account_refused(const struct account *a, const struct account_how *how,
                    hsy_error *err);

/* What a file says was spent, an epsilon a line, into how->ask.spent, which the
 * caller frees (spent_file.c). 0, or the exit code after a message. */
int account_read(struct account_how *how);

/* An epsilon as a decimal, with an exponent or as lnN, above 0 and at most
 * 100, never rounded down. */
bool account_epsilon(double *out, const char *text);

#endif
