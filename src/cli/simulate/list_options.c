/* list_options.c - lists on the command line of hearsay simulate, and the
 * files it writes. */
#define _DEFAULT_SOURCE
#include "cli/simulate/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Lists --------------------------------------------------------------- */

bool simulate_words(struct cli_parser *p, struct simulate_words *list)
{
    char *at = malloc(strlen(p->value) + 1);

    list->memory = at;
    list->n = 0;
    if (at == NULL) {
        p->exit = cli_fail_nomem();
        return false;
    }
    memcpy(at, p->value, strlen(p->value) + 1);
    for (;;) {
        const size_t len = strcspn(at, ",");
        const bool last = at[len] == '\0';

        if (len == 0 || list->n == SIMULATE_LIST_MAX) {
            if (len == 0)
                cli_usage(p, "--%s: a place in the list is empty", p->name);
            else
                cli_usage(p, "--%s: at most %u in a list", p->name,
                          SIMULATE_LIST_MAX);
            return false;
        }
        list->at[list->n++] = at;
        at[len] = '\0';
        if (last)
            return true;
        at += len + 1;
    }
}

static bool lists_count(struct cli_parser *p, uint64_t *out, const char *word)
{
    const uint64_t least = p->row->low, most = p->row->high;

    if (cli_parse_count(out, word) && *out >= least && *out <= most)
        return true;
    cli_usage(p,
              "--%s takes integers from %" PRIu64 " to %" PRIu64
              ", separated by commas",
              p->name, least, most);
    return false;
}

/* The list that the row of the option just read is of. */
static void *lists_place(const struct cli_parser *p, void *to)
{
    return (char *)to + p->row->place;
}

bool simulate_words_row(struct cli_parser *p, void *to)
{
    return simulate_words(p, lists_place(p, to));
}

/* Each word by `take`. */
static bool lists_numbers(struct cli_parser *p, struct simulate_numbers *list,
                          bool (*take)(struct cli_parser *p, uint64_t *out,
                                       const char *word))
{
    struct simulate_words words;
    bool good = simulate_words(p, &words);

    for (size_t i = 0; good && i < words.n; i++)
        good = take(p, &list->at[i], words.at[i]);
    list->n = words.n;
    free(words.memory);
    return good;
}

bool simulate_counts(struct cli_parser *p, void *to)
{
    return lists_numbers(p, lists_place(p, to), lists_count);
}

static bool lists_epsilon(struct cli_parser *p, uint64_t *nano,
                          const char *word)
{
    const hsy_status st = hsy_epsilon_parse(nano, word, strlen(word));

    if (st == HSY_E_FORMAT)
        cli_usage(p, "--epsilon: not a decimal number (a digit first, no "
                     "exponent); write it as 1, 0.5 or ln3");
    else if (st != HSY_OK)
        cli_usage(p, "--epsilon: must be from 0.000001 to 32");
    return st == HSY_OK;
}

bool simulate_epsilons(struct cli_parser *p, void *to)
{
    return lists_numbers(p, lists_place(p, to), lists_epsilon);
}

#define LISTS_NAMES 64u

static bool lists_mechanism(struct cli_parser *p, const char *word)
{
    const char *names[LISTS_NAMES] = {NULL}, *near;
    const hsy_catalogue *row;

    if (strcmp(word, "auto") == 0 || hsy_mechanism_named(word) != NULL)
        return true;
    for (size_t n = 0;
         n + 1 < LISTS_NAMES && (row = hsy_mechanism_at(n)) != NULL; n++)
        names[n] = row->name;
    near = text_nearest(word, names);
    cli_usage(p, "--mechanism: no mechanism '%.64s'%s%s%s", word,
              near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
              near != NULL ? "'?" : "; 'hearsay mechanisms' lists them");
    return false;
}

bool simulate_mechanisms(struct cli_parser *p, void *to)
{
    struct simulate_words *list = lists_place(p, to);
    bool good = simulate_words(p, list);

    for (size_t i = 0; good && i < list->n; i++)
        good = lists_mechanism(p, list->at[i]);
    return good;
}

bool simulate_operand(struct cli_parser *p, void *to)
{
    (void)to;
    cli_usage(p, "'%.64s' is one word too many", p->value);
    return false;
}

uint64_t simulate_cores(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1                         ? 1
           : cores > (long)STUDY_THREADS_MAX ? STUDY_THREADS_MAX
                                             : (uint64_t)cores;
}

/* ---- Files --------------------------------------------------------------- */

int simulate_files_open(struct simulate_files *f)
{
    int code = CLI_DONE;

    if (f->plot != NULL)
        code = cli_open_output(&f->figure, f->plot);
    if (code == CLI_DONE && f->dump != NULL)
        code = cli_open_output(&f->dumped, f->dump);
    return code;
}

int simulate_files_end(struct simulate_files *f, int code)
{
    if (code == CLI_DONE && f->dumped != NULL) {
        errno = 0;
        if (output_commit(f->dumped) != HSY_OK)
            code = cli_fail_output(f->dump);
        f->dumped = NULL;
    }
    if (code != CLI_DONE) {
        output_abort(f->dumped);
        output_abort(f->figure);
        f->dumped = f->figure = NULL;
    }
    return code;
}

#undef LISTS_NAMES
