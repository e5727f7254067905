/* gather.c - report streams and tally files into one tally. */
#include "host/analysis/gather.h"

#include "host/base/host_fail.h"
#include "host/format/format.h"
#include "host/format/json_value.h"
#include "host/format/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_CHUNK 32768u       /* most reports unpacked at once */
#define GATHER_BYTES (256u << 10) /* most bytes of them */

/* item says where it failed. */
static hsy_status gather_at(struct gather *g, const struct container_item *item,
                            hsy_status st, hsy_error *err)
{
    g->wrong.unit = err->unit = item->unit;
    g->wrong.line = err->at;
    if (st == HSY_E_IO && errno != 0)
        return host_fail(err, st, HSY_FIELD_NONE, strerror(errno));
    err->status = st;
    return st;
}

static hsy_status gather_refuse(struct gather *g, enum gather_trouble trouble,
                                const char *name, const char *msg,
                                hsy_error *err)
{
    g->wrong.trouble = trouble;
    g->wrong.name = name;
    return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE, msg);
}

/* ---- Schemes ------------------------------------------------------------- */

/* An empty tally and room for a chunk of reports. */
static bool gather_allocate(struct gather *g)
{
    size_t words = hsy_tally_words(g->scheme);
    size_t n = GATHER_BYTES / g->info.report_bytes / 8 * 8;

    g->chunk = n < 8 ? 8 : n > GATHER_CHUNK ? GATHER_CHUNK : n;
    g->memory = calloc(words, sizeof *g->memory);
    g->reports = malloc(g->chunk * g->info.report_bytes);
    if (g->memory == NULL || g->reports == NULL)
        return false;
    hsy_tally_init(&g->tally, g->scheme, g->memory);
    return true;
}

/* The file's labels, with what stands before them. */
static bool gather_block(struct gather *g, const uint8_t *labels)
{
    if (g->info.labels_len == 0)
        return true;
    g->block = malloc(g->info.labels_len);
    if (g->block != NULL)
        memcpy(g->block, labels, g->info.labels_len);
    return g->block != NULL;
}

hsy_status gather_scheme(struct gather *g, hsy_scheme *scheme,
                         const uint8_t *labels, const char *name,
                         hsy_error *err)
{
    hsy_status st = HSY_OK;

    g->scheme = scheme;
    g->first = name;
    hsy_scheme_describe(g->scheme, &g->info);
    if (!gather_block(g, labels))
        return host_nomem(err);
    if (g->info.labels_len > g->info.labels_at)
        st = labels_take(&g->labels, g->block + g->info.labels_at,
                         g->info.labels_len - g->info.labels_at, err);
    if (st != HSY_OK)
        return st;
    return gather_allocate(g) ? HSY_OK : host_nomem(err);
}

static hsy_status gather_begin(struct gather *g, struct container_reader *r,
                               const struct container_item *item,
                               const char *name, hsy_error *err)
{
    const hsy_status st =
        gather_scheme(g, container_keep_scheme(r), item->labels, name, err);

    return st == HSY_OK ? st : gather_at(g, item, st, err);
}

/* Another file begins: it must be of the same scheme. */
static hsy_status gather_compare(struct gather *g,
                                 const struct container_item *item,
                                 const char *name, hsy_error *err)
{
    struct gather_wrong *w = &g->wrong;
    hsy_scheme_info other;

    if (memcmp(item->prefix.digest, g->info.digest, HSY_DIGEST) == 0)
        return HSY_OK;
    w->difference = hsy_scheme_difference(g->scheme, item->scheme);
    if (w->difference == NULL)
        w->difference = "digest";
    hsy_scheme_describe(item->scheme, &other);
    if (strcmp(w->difference, "mechanism") == 0) {
        w->mechanisms[0] = g->info.mechanism;
        w->mechanisms[1] = other.mechanism;
    }
    return gather_refuse(g, GATHER_MIXED, name,
                         "tallies of two schemes cannot be mixed", err);
}

/* ---- Records ------------------------------------------------------------- */

static hsy_status gather_spare(struct gather *g,
                               const struct container_item *item,
                               hsy_error *err)
{
    host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE, "spare bits are not zero",
                 HSY_UNIT_LINE, item->line);
    return gather_at(g, item, HSY_E_FORMAT, err);
}

static hsy_status gather_refused(struct gather *g,
                                 const struct container_item *item,
                                 uint64_t report, hsy_status st, hsy_error *err)
{
    err->at = item->line;
    g->wrong.trouble = GATHER_REPORT;
    g->wrong.report = report;
    return gather_at(g, item, st, err);
}

static hsy_status gather_reports(struct gather *g,
                                 const struct container_item *item,
                                 hsy_error *err)
{
    const uint8_t *packed = item->payload;
    uint64_t done = 0;

    while (done < item->record.count) {
        uint64_t left = item->record.count - done;
        size_t n = left < g->chunk ? (size_t)left : g->chunk;
        hsy_status st = hsy_unpack(g->scheme, g->reports, packed, n);

        if (st != HSY_OK)
            return gather_spare(g, item, err);
        st = hsy_tally_batch(&g->tally, g->scheme, g->reports, n, err);
        if (st != HSY_OK)
            return gather_refused(g, item, done + err->at, st, err);
        packed += hsy_packed_size(g->scheme, n); /* whole: n is 8m, or last */
        done += n;
    }
    g->counted += done;
    if (g->tick != NULL)
        g->tick(g->tick_ctx, g->counted);
    return HSY_OK;
}

/* A file is over: of which round were its reports, if it did not say? */
static hsy_status gather_end(struct gather *g, uint64_t reports,
                             const char *name, hsy_error *err)
{
    hsy_round round;

    if (g->said || reports == 0)
        return HSY_OK;
    if (g->round == NULL) {
        g->nunsaid++;
        g->unsaid = name;
        return HSY_OK;
    }
    round = *g->round;
    round.reports = reports;
    return rounds_add(&g->rounds, &round, err);
}

static hsy_status gather_record(struct gather *g,
                                const struct container_item *item,
                                const char *name, hsy_error *err)
{
    hsy_status st;

    if (item->record.type == HSY_RECORD_END)
        return gather_end(g, item->record.count, name, err);
    g->said |= item->record.type == HSY_RECORD_ROUNDS;
    st = container_add_record(&g->tally, &item->record, item->payload, err);
    if (st == HSY_OK)
        st =
            container_add_rounds(&g->rounds, &item->record, item->payload, err);
    return st == HSY_OK ? container_add_batches(&g->batches, &item->record,
                                                item->payload, err)
                        : st;
}

static hsy_status gather_item(struct gather *g, struct container_reader *r,
                              const struct container_item *item,
                              const char *name, hsy_error *err)
{
    hsy_status st;

    if (item->type == CONTAINER_PREFIX) {
        g->said = false;
        return g->scheme == NULL ? gather_begin(g, r, item, name, err)
                                 : gather_compare(g, item, name, err);
    }
    if (item->record.type == HSY_RECORD_REPORTS)
        return gather_reports(g, item, err);
    st = gather_record(g, item, name, err);
    if (st == HSY_OK)
        return st;
    err->at = item->line;
    return gather_at(g, item, st, err);
}

static hsy_status gather_items(struct gather *g, struct container_reader *r,
                               const char *name, hsy_error *err)
{
    struct container_item item;
    hsy_status st;

    do {
        errno = 0;
        st = container_next(r, &item, err);
        if (st == HSY_E_END)
            return HSY_OK;
        st = st == HSY_OK ? gather_item(g, r, &item, name, err)
                          : gather_at(g, &item, st, err);
    } while (st == HSY_OK);
    return st;
}

static hsy_status gather_stream(struct gather *g, int fd, const char *name,
                                hsy_error *err)
{
    struct container_reader *r = container_open(fd);
    const hsy_status st =
        r != NULL ? gather_items(g, r, name, err) : host_nomem(err);

    container_close(r);
    return st;
}

/* ---- Tables -------------------------------------------------------------- */

struct gather_table {
    struct gather *g;
    struct records records;
    uint8_t *one;    /* a packed report */
    size_t filled;   /* reports of the chunk */
    uint64_t before; /* reports of other files */
    uint64_t gap;    /* the first empty line; 0: none */
};

static hsy_status gather_table_wrong(struct gather_table *t, uint64_t line,
                                     hsy_error *err)
{
    t->g->wrong.trouble = GATHER_COLUMN;
    t->g->wrong.line = line;
    return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                        "not as the table's first line says", HSY_UNIT_LINE,
                        line);
}

static hsy_status gather_table_flush(struct gather_table *t, hsy_error *err)
{
    struct gather *g = t->g;
    const size_t n = t->filled;

    t->filled = 0;
    g->counted += n;
    if (g->tick != NULL)
        g->tick(g->tick_ctx, g->counted);
    return hsy_tally_batch(&g->tally, g->scheme, g->reports, n, err);
}

/* The report of a line, which is in r->field of one column. */
static bool gather_table_report(struct gather_table *t, const struct line *line)
{
    struct gather *g = t->g;
    struct truth_wrong *w = &g->wrong.record;
    struct record_cursor c = records_begin(&t->records, line);
    bool good = false;
    size_t i;

    while (records_next(&t->records, &c, &i, w))
        good = container_text_value(
            g->reports + t->filled * g->info.report_bytes, t->one, g->scheme,
            &g->info, (const char *)c.field.text, c.field.len);
    if (w->trouble == 0 && !good)
        *w = (struct truth_wrong){
            .trouble = TRUTH_REFUSED,
            .column = g->column,
            .msg = "not a report of the scheme as its JSON twin has it: a "
                   "number, or if it has more than 53 bits its bytes in "
                   "hexadecimal"};
    return w->trouble == 0;
}

static hsy_status gather_table_line(void *ctx, const struct line *line,
                                    uint64_t number, hsy_error *err)
{
    struct gather_table *t = ctx;

    if (!t->records.headed)
        return records_header(&t->records, line, &t->g->wrong.record)
                   ? HSY_OK
                   : gather_table_wrong(t, number, err);
    if (line->len == 0) {
        t->gap = t->gap != 0 ? t->gap : number;
        return HSY_OK;
    }
    if (t->gap != 0) {
        t->g->wrong.record.trouble = TRUTH_GAP;
        return gather_table_wrong(t, t->gap, err);
    }
    if (!gather_table_report(t, line))
        return gather_table_wrong(t, number, err);
    return ++t->filled == t->g->chunk ? gather_table_flush(t, err) : HSY_OK;
}

static hsy_status gather_table(struct gather *g, int fd, const char *name,
                               hsy_error *err)
{
    struct gather_table t = {.g = g, .before = g->counted};
    hsy_status st = records_open(&t.records, err);

    t.records.columns[0] = (struct record_column){
        .name = g->column, .name_len = strlen(g->column)};
    t.records.count = 1;
    t.records.others = true;
    t.one = malloc(hsy_packed_size(g->scheme, 1));
    if (st == HSY_OK)
        st = t.one != NULL ? lines_each(fd, true, gather_table_line, &t, err)
                           : host_nomem(err);
    if (st == HSY_OK)
        st = gather_table_flush(&t, err);
    free(t.one);
    records_close(&t.records);
    g->said = false;
    return st == HSY_OK ? gather_end(g, g->counted - t.before, name, err) : st;
}

hsy_status gather_file(struct gather *g, int fd, const char *name,
                       hsy_error *err)
{
    hsy_error why = {0};
    hsy_status st;

    g->wrong = (struct gather_wrong){.name = name};
    st = g->column != NULL ? gather_table(g, fd, name, &why)
                           : gather_stream(g, fd, name, &why);
    if (st != HSY_OK && err != NULL)
        *err = why;
    return st;
}

/* ---- Rounds -------------------------------------------------------------- */

/* Whether its reports are made from kept answers, by a second step or, as
 * RAPPOR's, by the mechanism itself. */
static bool gather_keeps(const struct gather *g)
{
    return g->info.epsilon_permanent > 0;
}

hsy_status gather_settle(struct gather *g, hsy_error *err)
{
    g->wrong = (struct gather_wrong){.name = g->first};
    if (g->nunsaid != 0 && g->rounds.n != 0)
        return gather_refuse(g, GATHER_UNSAID, g->unsaid,
                             "some say of which round their reports are, and "
                             "some do not",
                             err);
    if (g->nunsaid > 1 && g->info.nano_permanent != 0)
        return gather_refuse(g, GATHER_KEPT_UNSAID, g->unsaid,
                             "reports made from kept answers share their noise "
                             "with those of other rounds, and nothing says of "
                             "which round these are",
                             err);
    return HSY_OK;
}

/* Whether `most` fits what was gathered. */
static enum gather_trouble gather_most(const struct gather *g, uint64_t most)
{
    if (g->rounds.n != 0)
        return most != 0 ? GATHER_ROUNDS_SAID : GATHER_OTHER;
    if (most > 1 && g->info.central)
        return GATHER_ROUNDS_NONE;
    if (most > 1 && !gather_keeps(g))
        return GATHER_ROUNDS_FRESH;
    return most == 0 && gather_keeps(g) ? GATHER_ROUNDS_LACK : GATHER_OTHER;
}

static hsy_status gather_count(struct gather *g, uint64_t most, hsy_error *err)
{
    if (g->rounds.n != 0)
        return rounds_attend(&g->attended, &g->rounds, err);
    return hsy_attend_most(&g->attended, hsy_tally_reports(&g->tally), most,
                           err);
}

hsy_status gather_attend(struct gather *g, uint64_t most, hsy_error *err)
{
    hsy_status st = gather_settle(g, err);
    enum gather_trouble trouble;

    if (st != HSY_OK || hsy_tally_reports(&g->tally) == 0)
        return st;
    trouble = gather_most(g, most);
    if (trouble != GATHER_OTHER)
        return gather_refuse(g, trouble, g->first,
                             trouble == GATHER_ROUNDS_LACK
                                 ? "no interval: nothing says of how many "
                                   "rounds these reports are"
                                 : "the rounds of these reports are no "
                                   "question",
                             err);
    if (g->rounds.n == 0 && most == 0)
        return HSY_OK;
    st = gather_count(g, most, err);
    if (st != HSY_OK)
        return st;
    g->attends = true;
    g->tally.kept = g->attended.kept;
    return HSY_OK;
}

void gather_clear(struct gather *g)
{
    labels_clear(&g->labels);
    free(g->block);
    free(g->scheme);
    free(g->memory);
    free(g->reports);
    rounds_clear(&g->rounds);
    *g = (struct gather){0};
}
