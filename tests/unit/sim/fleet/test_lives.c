/*
 * test_lives.c - devices live for days, in process: their reports become a
 * tally with its rounds, and a figure by the collector's own analysis.
 *
 *     test_lives DOCUMENT NOW SEED DEVICES DAYS ATTENDANCE OUT
 *
 * writes OUT/TASK.tally and OUT/TASK.json of every task: what a collector must
 * have, to the last digit, after the same devices have sent to it
 * (tests/e2e/attendance.t).
 */
#include "host/format/format.h"
#include "rig/example_tasks.h"
#include "server/collector/figures/figures.h"
#include "sim/fleet/fleet.h"
#include "tap.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#define LIVES_TASKS 16u
#define LIVES_EPS ((uint64_t)HSY_NANO)
#define LIVES_NOON 43200u

/* Tallies of all tasks of a document. */
struct lives {
    struct roster *roster;
    int64_t *words[LIVES_TASKS];
    struct engine_rounds of[LIVES_TASKS];
    struct figure_span span[LIVES_TASKS]; /* days of sending */
    size_t n;
};

static hsy_status lives_take(void *ctx, const struct fleet_upload *u,
                             hsy_error *err)
{
    struct lives *l = ctx;
    const hsy_upload *head = &u->head;
    const size_t task = u->task;
    const struct roster_entry *e = roster_at(l->roster, task);
    uint8_t report[4096];
    hsy_round round = {.reports = 1};
    hsy_tally t;
    hsy_status st;

    if (!u->report)
        return HSY_OK;
    if (l->span[task].first == 0 || l->span[task].first > head->epoch)
        l->span[task].first = head->epoch;
    if (l->span[task].last < head->epoch)
        l->span[task].last = head->epoch;
    hsy_tally_view(&t, e->scheme, l->words[task]);
    st = hsy_unpack(e->scheme, report, u->bytes + HSY_UPLOAD_WIRE, 1);
    if (st == HSY_OK)
        st = hsy_tally_add(&t, e->scheme, report, err);
    if (st == HSY_OK)
        st = hsy_task_round(&round, &e->task, head->epoch, err);
    return st == HSY_OK ? rounds_add(&l->of[task].rounds, &round, err) : st;
}

static void lives_clear(struct lives *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->words[i]);
        rounds_clear(&l->of[i].rounds);
    }
    roster_drop(l->roster);
}

/* All the days of all devices; truth, if not NULL, gets the share of yes among
 * the person-rounds of the first task. */
static hsy_status lives_run(struct lives *l, const struct fleet_options *o,
                            double *truth, hsy_error *err)
{
    struct roster *none = roster_new();
    struct fleet *f = NULL;
    hsy_document doc;
    size_t n;
    hsy_status st = hsy_document_open(&doc, o->document, o->document_len, err);

    *l = (struct lives){0};
    if (st == HSY_OK)
        st = roster_extend(&l->roster, none, &doc, err);
    roster_drop(none);
    l->n = st == HSY_OK ? roster_count(l->roster) : 0;
    for (size_t i = 0; i < l->n; i++)
        l->words[i] =
            calloc(roster_at(l->roster, i)->words + 1, sizeof *l->words[i]);
    if (st == HSY_OK)
        st = fleet_open(&f, o, err);
    if (st == HSY_OK)
        st = fleet_hand(f, lives_take, l, err);
    if (st == HSY_OK && truth != NULL) {
        const struct fleet_task *of = fleet_tasks(f, &n);

        *truth = (double)of->counts[1] / (double)of->answered;
    }
    fleet_close(f);
    return st;
}

static hsy_status lives_figure(char **json, size_t *len, const struct lives *l,
                               size_t task, double level, hsy_error *err)
{
    const struct figure_how how = {.level = level, .lying = 0.01};
    const struct figure_of of = {NULL, roster_at(l->roster, task),
                                 l->words[task], &l->of[task], l->span[task]};
    struct figure *f = NULL;
    hsy_status st = figure_make(&f, &of, &how, err);

    if (st == HSY_OK)
        st = figure_json(json, len, f, err);
    figure_drop(f);
    return st;
}

/* ---- As a program -------------------------------------------------------- */

static uint8_t *lives_read(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(1u << 20);

    *len = f != NULL && bytes != NULL ? fread(bytes, 1, 1u << 20, f) : 0;
    if (f != NULL)
        fclose(f);
    return bytes;
}

static bool lives_write(const struct lives *l, size_t i, const char *out)
{
    const struct roster_entry *e = roster_at(l->roster, i);
    char path[4096], *json = NULL;
    struct output *to = NULL;
    hsy_tally t;
    size_t len = 0;
    FILE *f;
    bool good;

    hsy_tally_view(&t, e->scheme, l->words[i]);
    snprintf(path, sizeof path, "%s/%s.tally", out, e->task.id);
    good =
        output_open(&to, path) == HSY_OK &&
        container_put_tally(to, e->scheme, e->task.labels, e->task.labels_len,
                            &t, &l->of[i].rounds, NULL) == HSY_OK &&
        output_commit(to) == HSY_OK &&
        lives_figure(&json, &len, l, i, 0.95, NULL) == HSY_OK;
    snprintf(path, sizeof path, "%s/%s.json", out, e->task.id);
    f = good ? fopen(path, "wb") : NULL;
    good = f != NULL && fwrite(json, 1, len, f) == len;
    if (f != NULL)
        good = fclose(f) == 0 && good;
    free(json);
    return good;
}

static int lives_program(char **argv)
{
    static const char *const names[] = {"stay", "leave", "join"};
    struct fleet_options o = {.now = strtoull(argv[2], NULL, 10),
                              .seed = strtoull(argv[3], NULL, 10),
                              .devices = strtoull(argv[4], NULL, 10),
                              .days = (uint32_t)strtoul(argv[5], NULL, 10)};
    uint8_t *document = lives_read(argv[1], &o.document_len);
    struct lives l;
    hsy_error err = {0};
    bool good;

    o.document = document;
    for (int i = 0; i < 3; i++)
        if (strcmp(argv[6], names[i]) == 0)
            o.attendance = (enum fleet_attendance)i;
    good = lives_run(&l, &o, NULL, &err) == HSY_OK;
    for (size_t i = 0; good && i < l.n; i++)
        good = lives_write(&l, i, argv[7]);
    if (!good)
        fprintf(stderr, "%s: %s\n", hsy_field_name(err.field),
                err.msg != NULL ? err.msg : "not written");
    lives_clear(&l);
    free(document);
    return good ? 0 : 1;
}

/* ---- As a test ----------------------------------------------------------- */

static double lives_number(json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

/* The share of yes among person-rounds lies in its interval at 1 - 1e-12. */
static void lives_hold(const struct lives *l, double truth, const char *name)
{
    char *json = NULL;
    size_t len = 0;
    hsy_error err = {0};
    hsy_status st = lives_figure(&json, &len, l, 0, 1 - 1e-12, &err);
    json_t *figure = st == HSY_OK ? json_loadb(json, len, 0, NULL) : NULL;
    json_t *row = json_array_get(json_object_get(figure, "estimates"), 0);
    const double low = lives_number(row, "low");

    ok(st == HSY_OK &&
           lives_number(figure, "reports") == (double)l->of[0].rounds.reports,
       "%s: all person-rounds are in the figure", name);
    ok(low <= truth && truth <= lives_number(row, "high") &&
           lives_number(row, "stderr") > 0.02,
       "%s: %.4f lies in its interval, which is not that of so many people",
       name, truth);
    json_decref(figure);
    free(json);
}

static void lives_of(enum fleet_attendance attendance, const char *name)
{
    const hsy_spec rr = {.size = sizeof rr,
                         .mechanism = "rr",
                         .kind = HSY_KIND_YES_NO,
                         .nano_epsilon = LIVES_EPS,
                         .nano_permanent = 2 * LIVES_EPS};
    struct fleet_options o = {.seed = 11,
                              .devices = 200,
                              .now = (uint64_t)EXAMPLE_DAY * 86400 + LIVES_NOON,
                              .days = 7,
                              .attendance = attendance};
    static struct example_tasks e;
    struct lives l;
    hsy_error err = {0};
    uint8_t *document;
    uint64_t largest = 0;
    double truth = 0;
    hsy_status st;

    example_task(&e, 0, "kept", "a", "Which?", rr, 2 * LIVES_EPS);
    e.task[0].min_reports = 100;
    document = example_document(e.task, 1, 1, &o.document_len);
    o.document = document;
    st = lives_run(&l, &o, &truth, &err);
    ok(st == HSY_OK && l.of[0].rounds.n == 7, "%s: seven rounds", name);
    for (size_t i = 0; i < l.of[0].rounds.n; i++)
        if (largest < l.of[0].rounds.list[i].reports)
            largest = l.of[0].rounds.list[i].reports;
    ok(largest == 200, "%s: all 200 are in the largest", name);
    lives_hold(&l, truth, name);
    lives_clear(&l);
    free(document);
}

int main(int argc, char **argv)
{
    if (argc == 8)
        return lives_program(argv);
    lives_of(FLEET_STAY, "stay");
    lives_of(FLEET_LEAVE, "leave");
    lives_of(FLEET_JOIN, "join");
    return tap_done();
}
