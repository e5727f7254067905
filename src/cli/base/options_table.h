/* options_table.h - what the files that read and show tables of options share.
 */
#ifndef CLI_BASE_OPTIONS_TABLE_H
#define CLI_BASE_OPTIONS_TABLE_H

#include "cli/base/base.h"

/* The next name of a list, which moves on behind it; NULL: no more. */
const char *options_next(const char **list, size_t *len, const char *apart);

/* Whether a list of names, a space between them, has this one. */
bool options_listed(const char *list, const char *name);

/* A row, with what cli_spec_rows adds to it. */
struct cli_option options_row(const struct cli_option *o);

/* Put the value just read where its row says; false after a complaint
 * (option_values.c). */
bool options_put(struct cli_parser *p, const struct cli_option *o, void *to);

/* Print the help, or for "rows" the table for tools/options; the exit code
 * (option_help.c). */
int options_help(struct cli_parser *p, const char *how);

#endif
