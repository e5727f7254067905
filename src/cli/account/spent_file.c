/* spent_file.c - what was spent, from a file: an epsilon a line. */
#include "cli/account/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool account_epsilon(double *out, const char *text)
{
    const bool ln = strncmp(text, "ln", 2) == 0;
    double x;

    text += ln ? 2 : 0;
    if (*text == '.' || !text_number(&x, text))
        return false;
    x = ln ? log(x) * (1 + 1e-15) : x;
    if (!(x > 0 && x <= 100))
        return false;
    *out = x;
    return true;
}

/* "0.5" or "0.5,30": a report of epsilon, or so many. */
static bool spent_line(hsy_spent *out, const struct line *line)
{
    char text[64];
    char *comma;

    if (line->len == 0 || line->len >= sizeof text ||
        memchr(line->text, '\0', line->len) != NULL) /* ends no number */
        return false;
    memcpy(text, line->text, line->len);
    text[line->len] = '\0';
    comma = strchr(text, ',');
    out->count = 1;
    if (comma != NULL) {
        *comma = '\0';
        if (!cli_parse_count(&out->count, comma + 1) || out->count == 0 ||
            out->count > HSY_COMPOSE_MAX)
            return false;
    }
    return account_epsilon(&out->epsilon, text);
}

struct spent_list {
    const char *name; /* of the file */
    hsy_spent *spent; /* owned */
    size_t n, room;
    uint64_t reports;
};

static bool spent_append(struct spent_list *l, hsy_spent one)
{
    if (l->n == l->room) {
        size_t room = l->room == 0 ? 1024 : 2 * l->room;
        hsy_spent *more = realloc(l->spent, room * sizeof *more);

        if (more == NULL)
            return false;
        l->spent = more;
        l->room = room;
    }
    l->spent[l->n++] = one;
    return true;
}

static int spent_take(void *ctx, const struct line *line, uint64_t number)
{
    struct spent_list *l = ctx;
    hsy_spent one;

    if (!spent_line(&one, line))
        return cli_fail("%s: line %" PRIu64
                        ": one epsilon a line, above 0 and at most 100, or "
                        "with how many reports as 0.5,30",
                        l->name, number);
    l->reports += one.count;
    if (l->reports > HSY_COMPOSE_MAX)
        return cli_fail("%s: line %" PRIu64 ": more than %u reports together",
                        l->name, number, HSY_COMPOSE_MAX);
    return spent_append(l, one) ? 0 : cli_fail_nomem();
}

int account_read(struct account_how *how)
{
    struct spent_list l = {.name = cli_input_name(how->file)};
    int fd = cli_open_input(how->file), failed;

    if (fd == -1)
        return CLI_FAILED;
    failed = cli_lines_each(fd, l.name, spent_take, &l);
    cli_close_input(fd);
    if (!failed && l.n == 0)
        failed = cli_fail("%s: no epsilon in it: nothing was spent", l.name);
    how->ask.spent = l.spent;
    how->ask.nspent = l.n;
    return failed;
}
