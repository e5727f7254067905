/* check_store.c - hearsay store check: what is wrong with a collector's data,
 * and whether another program reads it. */
#include "cli/store/internal.h"
#include "host/base/day.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct check_view {
    const struct offline *o;
    const struct offline_check *c;
};

static const struct table_column check_columns[] = {
    {"task", NULL}, {"release", NULL}, {"reports", NULL}, {"nulls", NULL},
    {"days", NULL}, {"waiting", NULL}, {"agrees", NULL},
};

static void check_cell(const void *ctx, size_t row, size_t column,
                       struct table_cell *out)
{
    const struct check_view *v = ctx;
    const struct roster_entry *e = roster_at(v->o->roster, row);
    const struct offline_row *r = &v->c->rows[row];
    const struct table_cell cells[] = {
        cell_text(e->task.id),  cell_count(e->task.release),
        cell_count(r->counted), cell_count(r->nulls),
        cell_count(r->days),    cell_count(r->waiting),
        cell_bool(r->agrees)};

    *out = cells[column];
}

static void check_show(const struct check_view *v, enum table_format format)
{
    const struct offline_check *c = v->c;
    const struct store_state *s = &v->o->state;
    const struct table table = {check_columns,
                                sizeof check_columns / sizeof check_columns[0],
                                v->o->roster == NULL ? 0 : c->n, check_cell, v};
    char day[DAY_TEXT] = "", closed[DAY_TEXT] = "";
    struct table_field fields[] = {
        {"sound", cell_bool(c->problem[0] == '\0')},
        {"problem", cell_text(c->problem[0] == '\0' ? NULL : c->problem)},
        v->o->shards != 0
            ? (struct table_field){"shards", cell_count(v->o->shards)}
            : (struct table_field){"commits", cell_count(s->seq)},
        {"day", {0}},
        {"closed", {0}},
        {"ids", cell_count(c->ids)},
        {"merged", cell_count(c->merged)},
        {"figures", cell_count(c->figures)},
        {"bytes",
         cell_count(v->o->shards != 0 ? v->o->bytes
                                      : store_admin_bytes(v->o->store))}};

    if (s->day != 0)
        day_text(day, s->day);
    if (s->closed != 0)
        day_text(closed, s->closed);
    fields[3].cell = cell_text(s->day == 0 ? NULL : day);
    fields[4].cell = cell_text(s->closed == 0 ? NULL : closed);
    table_print(stdout, format, &table, fields,
                sizeof fields / sizeof fields[0], "tasks");
    if (format == TABLE_ALIGNED && c->problem[0] == '\0')
        printf("\nsound: %" PRIu64 " %s, %" PRIu64 " ids of open days\n",
               v->o->shards != 0 ? v->o->shards : s->seq,
               v->o->shards != 0 ? "shards" : "commits", c->ids);
}

static void check_wrong(void *ctx, const char *text)
{
    cli_fail("%s: %s", (const char *)ctx, text);
}

int store_check(const struct store_how *how, struct offline *o)
{
    struct offline_check c = {.wrong = check_wrong,
                              .ctx = (void *)(uintptr_t)how->words[1]};
    const struct check_view v = {o, &c};
    hsy_error err = {0};
    int failed = 0;

    if (offline_check(&c, o, &err) != HSY_OK)
        failed = store_complain(how->words[1], &err);
    else
        check_show(&v, how->format);
    if (c.problem[0] != '\0')
        failed = CLI_FAILED;
    offline_check_clear(&c);
    return failed;
}

/* ---- check --with -------------------------------------------------------- */

static int check_refused(const struct store_how *how,
                         const struct offline_upgraded *u, const hsy_error *err)
{
    switch (u->what) {
    case OFFLINE_UPGRADE_WAY:
        return cli_fail("%s: already exists; remove it first", u->copy);
    case OFFLINE_UPGRADE_DATA:
        return store_complain(how->words[1], err);
    case OFFLINE_UPGRADE_COPY:
        return store_complain(u->copy, err);
    case OFFLINE_UPGRADE_RUN:
        return u->failed == NULL
                   ? cli_fail("%s", strerror(u->reason))
                   : cli_fail("%s: %s", u->failed, strerror(u->reason));
    case OFFLINE_UPGRADE_UNSOUND:
        return cli_fail("%s: the data is damaged", how->words[1]);
    case OFFLINE_UPGRADE_UNREAD:
        return cli_fail("%s: cannot read the data of %s", how->with,
                        how->words[1]);
    case OFFLINE_UPGRADE_OTHER:
        return cli_fail("%s: reads the data differently from this program: %s",
                        how->with, u->key);
    default:
        return cli_fail_nomem();
    }
}

static int check_upgrade(const struct store_how *how)
{
    struct offline_upgraded u;
    hsy_error err = {0};
    int failed = 0;

    if (offline_upgrade(&u, how->words[1], "/proc/self/exe", how->with, &err) !=
        HSY_OK)
        failed = check_refused(how, &u, &err);
    if (!failed) {
        printf("%s: reads all of the data, with the same result\n", how->with);
        if (u.back)
            printf("back to this program: yes\n");
        else
            printf(
                "back to this program: only with a backup from before (%s)\n",
                u.why);
    }
    if (u.unremoved != 0)
        failed = cli_fail("%s: cannot be removed: %s", u.copy,
                          strerror(u.unremoved));
    free(u.why);
    free(u.copy);
    return failed ? failed : cli_finish();
}

int store_run_check(void *to)
{
    const struct store_how *how = to;

    if (store_is_cluster(how->words[1]))
        return how->with != NULL ? cli_fail("%s: --with needs a data directory "
                                            "to copy; a cluster has none",
                                            how->words[1])
                                 : store_cluster_check(how);
    return how->with != NULL ? check_upgrade(how)
                             : store_with(how, false, store_check);
}
