/* spent.c - what was spent, from a file: an epsilon a line. */
#include "host/plan/account.h"

#include "host/base/digits.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/base/lines.h"
#include "host/base/text.h"

#include <math.h>
#include <string.h>

bool account_epsilon(double *out, const char *text)
{
    const bool ln = strncmp(text, "ln", 2) == 0;
    double x;

    text += ln ? 2 : 0;
    if (!text_number(&x, text))
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
        if (!digits_parse(&out->count, comma + 1, strlen(comma + 1),
                          UINT64_MAX) ||
            out->count == 0 || out->count > HSY_COMPOSE_MAX)
            return false;
    }
    return account_epsilon(&out->epsilon, text);
}

struct spent_list {
    hsy_spent *spent; /* owned */
    size_t n, room;
    uint64_t reports;
};

static hsy_status spent_take(void *ctx, const struct line *line,
                             uint64_t number, hsy_error *err)
{
    struct spent_list *l = ctx;
    hsy_spent one;

    if (!spent_line(&one, line))
        return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                            "must be EPSILON or EPSILON,COUNT, e.g. 0.5,30 "
                            "(epsilon above 0, at most 100)",
                            HSY_UNIT_LINE, number);
    l->reports += one.count;
    if (l->reports > HSY_COMPOSE_MAX)
        return host_fail_at(err, HSY_E_OVERFLOW, HSY_FIELD_NONE,
                            "too many reports together", HSY_UNIT_LINE, number);
    if (!grow_room(&l->spent, &l->room, l->n + 1, sizeof *l->spent))
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, NULL);
    l->spent[l->n++] = one;
    return HSY_OK;
}

hsy_status account_spent(hsy_spent **spent, size_t *n, int fd, hsy_error *err)
{
    struct spent_list l = {.spent = NULL};
    hsy_status st = lines_each(fd, false, spent_take, &l, err);

    if (st == HSY_OK && l.n == 0)
        st = host_fail(err, HSY_E_EMPTY, HSY_FIELD_NONE,
                       "no epsilon in it: nothing was spent");
    *spent = l.spent;
    *n = l.n;
    return st;
}
