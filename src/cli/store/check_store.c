/*
 * check_store.c - hearsay store check: everything is read and held against
 * everything else that says the same.
 *
 * Both databases are looked through page by page, every row is held against its
 * checksum, and the chunks of a tally against the round that put them in force.
 * Then what was not folded is folded in memory, and for every entry the counts
 * of its days, added up, must be the reports in its tally. A day's own tally
 * has no more reports than its count, and a day no more ids than uploads.
 */
#include "cli/store/internal.h"

#include "host/base/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_SAID 512 /* bytes of what is wrong */

struct check_day {
    uint32_t epoch;
    uint64_t ids, uploads; /* reports and nulls */
};

struct check_row {
    uint64_t counted, nulls, waiting, tallied;
    uint32_t days;
    bool agrees;
};

struct check {
    struct store_data *d;
    struct check_row *rows; /* by entry; owned */
    size_t n;
    struct check_day *days; /* owned */
    size_t ndays;
    uint64_t ids, merged, figures;
    char said[CHECK_SAID]; /* the first thing that is wrong */
};

/* ---- Reading ------------------------------------------------------------- */

static hsy_status check_entry(void *ctx, uint32_t number, const uint8_t *bytes,
                              size_t len)
{
    struct check *c = ctx;
    struct check_row *more = realloc(c->rows, (c->n + 1) * sizeof *more);

    (void)number;
    (void)bytes;
    (void)len;
    if (more == NULL)
        return HSY_E_NOMEM;
    c->rows = more;
    c->rows[c->n++] = (struct check_row){.agrees = true};
    return HSY_OK;
}

static struct check_day *check_day(struct check *c, uint32_t epoch)
{
    struct check_day *more;

    for (size_t i = c->ndays; i-- != 0;)
        if (c->days[i].epoch == epoch)
            return &c->days[i];
    more = realloc(c->days, (c->ndays + 1) * sizeof *more);
    if (more == NULL)
        return NULL;
    c->days = more;
    c->days[c->ndays] = (struct check_day){.epoch = epoch};
    return &c->days[c->ndays++];
}

static hsy_status check_count(void *ctx, const struct store_count *count)
{
    struct check *c = ctx;
    struct check_day *day = check_day(c, count->epoch);

    if (day == NULL)
        return HSY_E_NOMEM;
    if (count->entry >= c->n)
        return HSY_E_DAMAGED;
    c->rows[count->entry].counted += count->reports;
    c->rows[count->entry].nulls += count->nulls;
    c->rows[count->entry].days +=
        count->epoch != 0 && count->epoch < ENGINE_MERGED;
    day->uploads += count->reports + count->nulls;
    return HSY_OK;
}

static hsy_status check_ids(void *ctx, const struct store_ids *ids)
{
    struct check *c = ctx;
    struct check_day *day = check_day(c, ids->epoch);

    if (day == NULL)
        return HSY_E_NOMEM;
    day->ids += ids->n;
    c->ids += ids->n;
    return HSY_OK;
}

static hsy_status check_quota(void *ctx, const struct store_quota *quota)
{
    (void)ctx;
    (void)quota;
    return HSY_OK;
}

static hsy_status check_batch(void *ctx, const struct store_batch *batch)
{
    struct check *c = ctx;

    if (batch->entry >= c->n)
        return HSY_E_DAMAGED;
    c->rows[batch->entry].waiting += batch->reports;
    return HSY_OK;
}

static hsy_status check_figure(void *ctx, const struct store_figure *figure)
{
    (void)figure;
    ((struct check *)ctx)->figures++;
    return HSY_OK;
}

static hsy_status check_merged(void *ctx, const uint8_t name[STORE_MERGED])
{
    (void)name;
    ((struct check *)ctx)->merged++;
    return HSY_OK;
}

/* ---- Saying what is wrong ------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void
check_say(struct check *c, const char *format, ...)
{
    va_list args;
    char text[CHECK_SAID];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_fail("%s: %s", c->d->directory, text);
    if (c->said[0] == '\0')
        memcpy(c->said, text, sizeof text);
}

static void check_page(void *ctx, const char *file, const char *text)
{
    check_say(ctx, "%s: %.400s", file, text);
}

static void check_error(struct check *c, const hsy_error *err)
{
    if (err->field == HOST_FIELD_RUNS && err->at != 0)
        check_say(c, "runs/*.%" PRIu64 ": %s", err->at, err->msg);
    else
        check_say(c, "%s%s%s", host_field_name(err->field),
                  err->field == HSY_FIELD_NONE ? "" : ": ",
                  err->msg == NULL ? hsy_strstatus(err->status) : err->msg);
}

/* ---- Holding against each other ------------------------------------------ */

/* The tallies of single days, where they are kept: words is room for one. */
static int check_entry_days(struct check *c, const struct roster_entry *e,
                            const hsy_tally *tally, int64_t *words)
{
    const size_t n = engine_counts(c->d->engine, e->number, NULL, 0);
    struct store_count *counts = malloc((n + 1) * sizeof *counts);

    if (counts == NULL)
        return cli_fail_nomem();
    engine_counts(c->d->engine, e->number, counts, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t day = counts[i].epoch;
        char text[DAY_TEXT];
        hsy_error err;

        if (day == 0 || day >= ENGINE_MERGED ||
            engine_copy(c->d->engine, e->number, day, day, words, &err) !=
                HSY_OK)
            continue; /* there is none of its own */
        if (hsy_tally_reports(tally) <= counts[i].reports)
            continue;
        day_text(text, day);
        check_say(c,
                  "%s, release %" PRIu32 ": %s: %" PRIu64
                  " reports were counted, its tally has %" PRIu64,
                  e->task.id, e->task.release, text, counts[i].reports,
                  hsy_tally_reports(tally));
        c->rows[e->number].agrees = false;
    }
    free(counts);
    return 0;
}

static int check_tallies(struct check *c, const struct roster_entry *e)
{
    struct check_row *row = &c->rows[e->number];
    int64_t *words = NULL;
    hsy_tally tally;
    int failed = store_tally(c->d, e, &tally, &words);

    if (!failed) {
        row->tallied = hsy_tally_reports(&tally);
        failed = check_entry_days(c, e, &tally, words);
    }
    free(words);
    if (failed || row->tallied == row->counted ||
        (row->tallied == 0 && engine_is_retired(c->d->engine, e->number)))
        return failed;
    row->agrees = false;
    check_say(c,
              "%s, release %" PRIu32 ": %" PRIu64
              " reports were counted, its tally has %" PRIu64,
              e->task.id, e->task.release, row->counted, row->tallied);
    return 0;
}

static int check_entries(struct check *c)
{
    int failed = store_fold(c->d);

    for (size_t i = 0; !failed && i < roster_count(c->d->roster); i++)
        failed = check_tallies(c, roster_at(c->d->roster, i));
    return failed;
}

static void check_days(struct check *c)
{
    for (size_t i = 0; i < c->ndays; i++) {
        char text[DAY_TEXT];

        if (c->days[i].ids <= c->days[i].uploads)
            continue;
        day_text(text, c->days[i].epoch);
        check_say(c, "%s: %" PRIu64 " ids, but %" PRIu64 " uploads", text,
                  c->days[i].ids, c->days[i].uploads);
    }
}

/* ---- Showing ------------------------------------------------------------- */

static const struct cli_column check_columns[] = {
    {"task", NULL}, {"release", NULL}, {"reports", NULL}, {"nulls", NULL},
    {"days", NULL}, {"waiting", NULL}, {"agrees", NULL},
};

static void check_cell(const void *ctx, size_t row, size_t column,
                       struct cli_cell *out)
{
    const struct check *c = ctx;
    const struct roster_entry *e = roster_at(c->d->roster, row);
    const struct check_row *r = &c->rows[row];
    const struct cli_cell cells[] = {
        cli_text(e->task.id), cli_count(e->task.release), cli_count(r->counted),
        cli_count(r->nulls),  cli_count(r->days),         cli_count(r->waiting),
        cli_bool(r->agrees)};

    *out = cells[column];
}

static void check_show(const struct check *c, enum cli_format format)
{
    const struct store_state *s = &c->d->state;
    const struct cli_table table = {
        check_columns, sizeof check_columns / sizeof check_columns[0],
        c->d->roster == NULL ? 0 : c->n, check_cell, c};
    char day[DAY_TEXT] = "", closed[DAY_TEXT] = "";
    struct cli_field fields[] = {
        {"sound", cli_bool(c->said[0] == '\0')},
        {"problem", cli_text(c->said[0] == '\0' ? NULL : c->said)},
        {"commits", cli_count(s->seq)},
        {"day", {0}},
        {"closed", {0}},
        {"ids", cli_count(c->ids)},
        {"merged", cli_count(c->merged)},
        {"figures", cli_count(c->figures)},
        {"bytes",
         cli_count(c->d->store == NULL ? 0 : store_admin_bytes(c->d->store))}};

    if (s->day != 0)
        day_text(day, s->day);
    if (s->closed != 0)
        day_text(closed, s->closed);
    fields[3].cell = cli_text(s->day == 0 ? NULL : day);
    fields[4].cell = cli_text(s->closed == 0 ? NULL : closed);
    cli_print(format, &table, fields, sizeof fields / sizeof fields[0],
              "tasks");
    if (format == CLI_TABLE && c->said[0] == '\0')
        printf("\nsound: %" PRIu64 " commits, %" PRIu64 " ids of open days\n",
               s->seq, c->ids);
}

int store_check(struct store_data *d, bool show, enum cli_format format)
{
    struct check c = {.d = d};
    const struct store_reader to = {.ctx = &c,
                                    .entry = check_entry,
                                    .count = check_count,
                                    .quota = check_quota,
                                    .ids = check_ids,
                                    .batch = check_batch,
                                    .figure = check_figure,
                                    .merged = check_merged};
    hsy_error err = {0};
    int failed = 0;
    hsy_status st = store_admin_verify(d->store, check_page, &c, &err);

    if (st == HSY_OK)
        st = d->store->ops->read(d->store, &to, &err);
    if (st != HSY_OK && c.said[0] == '\0')
        check_error(&c, &err);
    if (st == HSY_OK) {
        failed = check_entries(&c);
        check_days(&c);
    }
    if (show && !failed)
        check_show(&c, format);
    failed = failed || c.said[0] != '\0' ? CLI_FAILED : 0;
    free(c.rows);
    free(c.days);
    return failed;
}

int store_run_check(const struct store_how *how)
{
    struct store_data d;
    int failed;

    if (how->with != NULL)
        return store_rehearse(how);
    failed = store_open(&d, how->words[1]);
    if (!failed)
        failed = store_check(&d, true, how->format);
    store_shut(&d);
    return failed ? failed : cli_finish();
}
