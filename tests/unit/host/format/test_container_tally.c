/* test_container_tally.c - tally files: one file a tally, and how they add. */
#define _GNU_SOURCE /* memfd_create */

#include "lib/bits/bytes.h"
#include "rig/files.h"
#include "tap.h"

/* Read a tally file into a tally. */
static hsy_status fold(hsy_tally *t, const struct file *f)
{
    int fd = files_fd(f->bytes, f->len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    hsy_status st = HSY_OK;

    while (st == HSY_OK) {
        st = container_next(r, &item, NULL);
        if (st == HSY_OK && item.type == CONTAINER_RECORD)
            st = container_add_record(t, &item.record, item.payload, NULL);
    }
    container_close(r);
    close(fd);
    return st;
}

/* Any three parts, merged in any order, are the file of the whole. */
static void tallies_add_up(const struct example *e)
{
    static const size_t cuts[4] = {0, 5, 6, EXAMPLE_N};
    static const size_t orders[3][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
    hsy_scheme *s = example_scheme(&e->spec);
    struct file whole = files_tally(&e->spec, 0, EXAMPLE_N), parts[3];
    bool same = true;

    for (size_t i = 0; i < 3; i++)
        parts[i] = files_tally(&e->spec, cuts[i], cuts[i + 1] - cuts[i]);
    for (size_t i = 0; i < 3; i++) {
        hsy_tally t = example_tally(s);
        struct output *out = files_open();
        struct file f;

        for (size_t j = 0; j < 3; j++)
            same &= fold(&t, &parts[orders[i][j]]) == HSY_E_END;
        container_put_tally(out, s, e->spec.labels, e->spec.labels_len, &t,
                            NULL, NULL);
        f = files_close(out);
        same &= files_same(&f, &whole);
        free(t.cells);
        free(f.bytes);
    }
    ok(same, "%s: parts merged in any order give the whole, byte for byte",
       e->name);
    for (size_t i = 0; i < 3; i++)
        free(parts[i].bytes);
    free(whole.bytes);
    free(s);
}

static void adding_is_all_or_nothing(void)
{
    const hsy_record two = {HSY_RECORD_CELLS, 16, 0, 2, 0};
    const hsy_record past = {HSY_RECORD_CELLS, 16, 5, 2, 0};
    const hsy_record reports = {HSY_RECORD_REPORTS, 16, 0, 2, 0};
    const hsy_record strata = {HSY_RECORD_STRATA, 8, 0, 1, 0};
    const hsy_record end = {HSY_RECORD_END, 0, 0, 2, 0};
    hsy_scheme *s = example_scheme(&examples[2].spec);
    hsy_tally t = example_tally(s);
    uint8_t payload[16];

    bytes_put64(payload, 5);
    bytes_put64(payload + 8, 1);
    t.cells[1] = INT64_MAX;
    ok(container_add_record(&t, &two, payload, NULL) == HSY_E_OVERFLOW &&
           t.cells[0] == 0 && t.cells[1] == INT64_MAX,
       "a cell that would overflow: nothing is added");
    bytes_put64(payload + 8, (uint64_t)-1);
    ok(container_add_record(&t, &two, payload, NULL) == HSY_OK &&
           t.cells[0] == 5 && t.cells[1] == INT64_MAX - 1,
       "cells are signed");
    t.strata[0] = INT64_MAX - 4;
    ok(container_add_record(&t, &strata, payload, NULL) == HSY_E_OVERFLOW &&
           t.strata[0] == INT64_MAX - 4,
       "nor do strata overflow");
    ok(container_add_record(&t, &past, payload, NULL) == HSY_E_FORMAT &&
           container_add_record(&t, &reports, payload, NULL) == HSY_E_FORMAT,
       "foreign records are refused");
    ok(container_add_record(&t, &end, payload, NULL) == HSY_OK,
       "the end adds nothing");
    free(t.cells);
    free(s);
}

/* ---- Files with right checksums and wrong content ------------------------ */

static void put_record(struct output *out, hsy_record record,
                       const uint8_t *payload)
{
    uint8_t wire[HSY_RECORD_WIRE];

    record.checksum = hsy_crc32c(0, payload, record.length);
    hsy_record_encode(wire, &record);
    output_write(out, wire, sizeof wire);
    output_write(out, payload, record.length);
}

static void put_words(struct output *out, uint32_t type, uint64_t first,
                      size_t count, uint64_t value)
{
    static uint8_t payload[8 * HSY_RECORD_CELLS_RUN];

    for (size_t i = 0; i < count; i++)
        bytes_put64(payload + 8 * i, i == 0 ? value : 0);
    put_record(out, (hsy_record){type, (uint32_t)(8 * count), first, count, 0},
               payload);
}

/* The file of records {type, first, count, value} under a scheme. */
struct words {
    uint32_t type;
    uint64_t first;
    size_t count;
    uint64_t value; /* of the first counter; END: its count */
};

static hsy_status drain_words(const hsy_spec *spec, hsy_content content,
                              const struct words *words, size_t n)
{
    hsy_scheme *s = example_scheme(spec);
    struct output *out = files_open();
    struct file f;
    hsy_error err = {0};
    hsy_status st;

    container_put_prefix(out, s, spec->labels, spec->labels_len, content);
    for (size_t i = 0; i < n; i++)
        if (words[i].type == HSY_RECORD_END)
            container_put_end(out, words[i].value);
        else
            put_words(out, words[i].type, words[i].first, words[i].count,
                      words[i].value);
    f = files_close(out);
    st = files_drain(f.bytes, f.len, &err);
    if (st == HSY_E_FORMAT && (err.status != st || err.at == 0))
        st = HSY_OK; /* an error must say where it is */
    free(f.bytes);
    free(s);
    return st;
}

#define TALLY(spec, ...)                                                       \
    drain_words(spec, HSY_CONTENT_TALLY, (const struct words[]){__VA_ARGS__},  \
                sizeof((const struct words[]){__VA_ARGS__}) /                  \
                    sizeof(struct words))

#define S HSY_RECORD_STRATA
#define W HSY_RECORD_WEIGHTS
#define C HSY_RECORD_CELLS
#define E HSY_RECORD_END

/* 5000 values: cells in two runs, 4096 and 904. */
static void one_order_only(void)
{
    const hsy_spec grr = {.size = sizeof grr,
                          .mechanism = "grr",
                          .kind = HSY_KIND_VALUES,
                          .d = 5000,
                          .nano_epsilon = HSY_NANO};

    ok(TALLY(&grr, {S, 0, 1, 7}, {C, 0, 4096, 3}, {C, 4096, 904, 4},
             {E, 0, 0, 7}) == HSY_E_END,
       "strata, cells in runs, end: a tally");
    ok(TALLY(&grr, {S, 0, 1, 4}, {C, 4096, 904, 4}, {E, 0, 0, 4}) == HSY_E_END,
       "a run of zeros may be left out");
    ok(TALLY(&grr, {S, 0, 1, 4}, {C, 0, 4096, 0}, {C, 4096, 904, 4},
             {E, 0, 0, 4}) == HSY_E_FORMAT,
       "a run of zeros must be left out");
    ok(TALLY(&grr, {S, 0, 1, 7}, {C, 4096, 904, 4}, {C, 0, 4096, 3},
             {E, 0, 0, 7}) == HSY_E_FORMAT,
       "runs stand in their order");
    ok(TALLY(&grr, {S, 0, 1, 7}, {C, 0, 4096, 3}, {C, 0, 4096, 4},
             {E, 0, 0, 7}) == HSY_E_FORMAT,
       "a run stands once");
    ok(TALLY(&grr, {S, 0, 1, 7}, {C, 0, 4095, 3}, {E, 0, 0, 7}) ==
               HSY_E_FORMAT &&
           TALLY(&grr, {S, 0, 1, 7}, {C, 4096, 905, 3}, {E, 0, 0, 7}) ==
               HSY_E_FORMAT &&
           TALLY(&grr, {S, 0, 1, 7}, {C, 8192, 1, 3}, {E, 0, 0, 7}) ==
               HSY_E_FORMAT,
       "a run has its whole length, within the cells");
    ok(TALLY(&grr, {C, 0, 4096, 7}, {S, 0, 1, 7}, {E, 0, 0, 7}) ==
               HSY_E_FORMAT &&
           TALLY(&grr, {C, 0, 4096, 7}, {E, 0, 0, 0}) == HSY_E_FORMAT &&
           TALLY(&grr, {E, 0, 0, 0}) == HSY_E_FORMAT,
       "the strata come first and always");
    ok(TALLY(&grr, {S, 0, 1, 7}, {S, 0, 1, 7}, {E, 0, 0, 14}) == HSY_E_FORMAT,
       "and once");
    ok(TALLY(&grr, {S, 0, 1, 7}, {W, 0, 1, 7}, {E, 0, 0, 7}) == HSY_E_FORMAT,
       "grr has no weights");
}

/* Whoever adds reports to a tally relies on this. */
static void cells_stay_within_the_reports(void)
{
    const hsy_spec grr = {.size = sizeof grr,
                          .mechanism = "grr",
                          .kind = HSY_KIND_VALUES,
                          .d = 3,
                          .nano_epsilon = HSY_NANO};
    const uint64_t wrong[] = {5, INT64_MAX, (uint64_t)INT64_MAX + 1,
                              (uint64_t)-5};
    unsigned refused = 0;

    ok(TALLY(&grr, {S, 0, 1, 4}, {C, 0, 3, 4}, {E, 0, 0, 4}) == HSY_E_END &&
           TALLY(&grr, {S, 0, 1, 4}, {C, 0, 3, (uint64_t)-4}, {E, 0, 0, 4}) ==
               HSY_E_END,
       "a cell may be as large as the number of reports, or minus that");
    for (size_t i = 0; i < 4; i++)
        refused += TALLY(&grr, {S, 0, 1, 4}, {C, 0, 3, wrong[i]},
                         {E, 0, 0, 4}) == HSY_E_FORMAT;
    ok(refused == 4, "but no larger");
}

static void sums_must_agree(void)
{
    const hsy_spec sue = {.size = sizeof sue,
                          .mechanism = "sue",
                          .kind = HSY_KIND_VALUES,
                          .d = 3,
                          .nano_epsilon = HSY_NANO};

    ok(TALLY(&sue, {S, 0, 1, 7}, {W, 0, 4, 7}, {C, 0, 3, 2}, {E, 0, 0, 7}) ==
           HSY_E_END,
       "weights stand between strata and cells");
    ok(TALLY(&sue, {S, 0, 1, 7}, {C, 0, 3, 2}, {W, 0, 4, 7}, {E, 0, 0, 7}) ==
           HSY_E_FORMAT,
       "not after the cells");
    ok(TALLY(&sue, {S, 0, 1, 7}, {W, 0, 4, 6}, {C, 0, 3, 2}, {E, 0, 0, 7}) ==
               HSY_E_FORMAT &&
           TALLY(&sue, {S, 0, 1, 7}, {C, 0, 3, 2}, {E, 0, 0, 7}) ==
               HSY_E_FORMAT,
       "weights sum up to the reports");
    ok(TALLY(&sue, {S, 0, 1, 7}, {W, 0, 4, 7}, {C, 0, 3, 2}, {E, 0, 0, 8}) ==
           HSY_E_FORMAT,
       "the end says how many reports there are");
    ok(TALLY(&sue, {S, 0, 1, 1ull << 63}, {E, 0, 0, 0}) == HSY_E_FORMAT,
       "counts stay below 2^63");
    ok(TALLY(&sue, {S, 0, 1, 0}, {E, 0, 0, 0}) == HSY_E_END,
       "a tally may be empty");
}

/* ---- Rounds -------------------------------------------------------------- */

/* A tally of 7 reports, then rounds in records of `cut` at most, then its
 * end. */
static hsy_status drain_rounds(const hsy_round *rounds, size_t n, size_t cut,
                               bool cells_last)
{
    const hsy_spec grr = {.size = sizeof grr,
                          .mechanism = "grr",
                          .kind = HSY_KIND_VALUES,
                          .d = 3,
                          .nano_epsilon = HSY_NANO};
    hsy_scheme *s = example_scheme(&grr);
    struct output *out = files_open();
    uint8_t payload[8 * ROUNDS_WIRE];
    struct file f;
    hsy_error err = {0};
    hsy_status st;

    container_put_prefix(out, s, NULL, 0, HSY_CONTENT_TALLY);
    put_words(out, HSY_RECORD_STRATA, 0, 1, 7);
    if (!cells_last)
        put_words(out, HSY_RECORD_CELLS, 0, 3, 7);
    for (size_t at = 0; at < n; at += cut) {
        const size_t m = n - at < cut ? n - at : cut;

        for (size_t i = 0; i < m; i++)
            rounds_put(payload + ROUNDS_WIRE * i, &rounds[at + i]);
        put_record(out,
                   (hsy_record){HSY_RECORD_ROUNDS, (uint32_t)(ROUNDS_WIRE * m),
                                at, m, 0},
                   payload);
    }
    if (cells_last)
        put_words(out, HSY_RECORD_CELLS, 0, 3, 7);
    container_put_end(out, 7);
    f = files_close(out);
    st = files_drain(f.bytes, f.len, &err);
    if (st == HSY_E_FORMAT && (err.status != st || err.at == 0))
        st = HSY_OK;
    free(f.bytes);
    free(s);
    return st;
}

#define ROUNDS(...)                                                            \
    drain_rounds((const hsy_round[]){__VA_ARGS__},                             \
                 sizeof((const hsy_round[]){__VA_ARGS__}) / sizeof(hsy_round), \
                 8, false)

static void rounds_add_up(void)
{
    const hsy_round two[] = {{0, 0, 1, 3}, {0, 2, 1, 4}};

    ok(ROUNDS({0, 0, 1, 3}, {0, 2, 1, 4}) == HSY_E_END &&
           ROUNDS({0, 5, 1, 3}, {1, 0, 2, 4}) == HSY_E_END,
       "rounds stand after the cells, ascending by slot and round");
    ok(ROUNDS({0, 0, 1, 3}, {0, 2, 1, 3}) == HSY_E_FORMAT &&
           ROUNDS({0, 0, 1, 3}, {0, 2, 1, 5}) == HSY_E_FORMAT &&
           ROUNDS({0, 0, 1, UINT64_MAX}, {0, 1, 1, 8}) == HSY_E_FORMAT,
       "they add up to the reports");
    ok(ROUNDS({0, 2, 1, 3}, {0, 0, 1, 4}) == HSY_E_FORMAT &&
           ROUNDS({1, 0, 1, 3}, {0, 9, 1, 4}) == HSY_E_FORMAT &&
           ROUNDS({0, 1, 1, 3}, {0, 1, 1, 4}) == HSY_E_FORMAT,
       "none before another, none twice");
    ok(ROUNDS({0, 0, 1, 0}, {0, 1, 1, 7}) == HSY_E_FORMAT &&
           ROUNDS({0, 0, 0, 7}) == HSY_E_FORMAT,
       "none without reports, and none of nobody");
    ok(drain_rounds(two, 2, 1, false) == HSY_E_FORMAT &&
           drain_rounds(two, 2, 8, true) == HSY_E_FORMAT,
       "in whole records, and not before the cells");
}

static void rounds_merge_up(void)
{
    const hsy_round parts[] = {
        {1, 0, 1, 5}, {0, 3, 1, 2}, {1, 0, 2, 1}, {0, 1, 1, 9}};
    struct rounds a = {0}, b = {0};
    const hsy_round all = {0, 0, 1, 1ull << 53};
    hsy_attendance attended;
    hsy_error err = {0};
    bool good = true;

    for (size_t i = 0; i < 4; i++) {
        good &= rounds_add(&a, &parts[i], NULL) == HSY_OK;
        good &= rounds_add(&b, &parts[3 - i], NULL) == HSY_OK;
    }
    ok(good && a.n == 3 && b.n == 3 && a.reports == 17 &&
           memcmp(a.list, b.list, 3 * sizeof *a.list) == 0 &&
           a.list[2].reports == 6 && a.list[2].each == 2,
       "rounds add up in any order");
    for (size_t i = 0; i < b.n; i++)
        good &= rounds_add(&a, &b.list[i], NULL) == HSY_OK;
    ok(good && a.n == 3 && a.reports == 34, "and so do two lists of them");
    ok(rounds_add(&a, &all, &err) == HSY_E_OVERFLOW && a.reports == 34 &&
           err.field == HSY_FIELD_ROUNDS,
       "but not beyond what can be counted");
    ok(rounds_attend(&attended, &a, NULL) == HSY_OK && attended.reports == 34 &&
           attended.devices == 18,
       "and say who is in it");
    rounds_clear(&a);
    rounds_clear(&b);
    ok(rounds_attend(&attended, &a, NULL) == HSY_E_EMPTY, "or that nobody is");
}

static void records_fit_their_file(void)
{
    const hsy_spec *grr = &examples[2].spec; /* 3 bits a report */

    ok(TALLY(grr, {HSY_RECORD_REPORTS, 0, 1, 1}, {E, 0, 0, 1}) == HSY_E_FORMAT,
       "reports do not belong into a tally");
    ok(drain_words(grr, HSY_CONTENT_REPORTS,
                   (const struct words[]){{S, 0, 1, 0}, {E, 0, 0, 0}},
                   2) == HSY_E_FORMAT,
       "nor strata among reports");
    ok(drain_words(
           grr, HSY_CONTENT_REPORTS,
           (const struct words[]){{HSY_RECORD_REPORTS, 0, 1, 0}, {E, 0, 0, 1}},
           2) == HSY_E_FORMAT,
       "a report of 3 bits does not take 8 bytes");
    ok(drain_words(grr, HSY_CONTENT_REPORTS,
                   (const struct words[]){{E, 0, 0, 1}}, 1) == HSY_E_FORMAT,
       "the end of a stream says how many reports there are");
}

#undef TALLY
#undef S
#undef W
#undef C
#undef E

/* ---- Batches ------------------------------------------------------------- */

#define TERMS {9, 10}, {1, 100000000}, HSY_NANO

/* A tally of 7 reports, then batches in a record, `times` times, then maybe
 * its rounds. */
static hsy_status drain_batches(const hsy_batches *rows, size_t n, size_t times,
                                bool rounds_last)
{
    const hsy_spec grr = {.size = sizeof grr,
                          .mechanism = "grr",
                          .kind = HSY_KIND_VALUES,
                          .d = 3,
                          .nano_epsilon = HSY_NANO};
    const hsy_round round = {0, 0, 1, 7};
    hsy_scheme *s = example_scheme(&grr);
    struct output *out = files_open();
    uint8_t payload[20 * BATCHES_WIRE], of_round[ROUNDS_WIRE];
    struct file f;
    hsy_error err = {0};
    hsy_status st;

    container_put_prefix(out, s, NULL, 0, HSY_CONTENT_TALLY);
    put_words(out, HSY_RECORD_STRATA, 0, 1, 7);
    put_words(out, HSY_RECORD_CELLS, 0, 3, 7);
    for (size_t i = 0; i < n; i++)
        batches_put(payload + BATCHES_WIRE * i, &rows[i]);
    while (times-- != 0)
        put_record(out,
                   (hsy_record){HSY_RECORD_BATCHES,
                                (uint32_t)(BATCHES_WIRE * n), 0, n, 0},
                   payload);
    rounds_put(of_round, &round);
    if (rounds_last)
        put_record(out, (hsy_record){HSY_RECORD_ROUNDS, ROUNDS_WIRE, 0, 1, 0},
                   of_round);
    container_put_end(out, 7);
    f = files_close(out);
    st = files_drain(f.bytes, f.len, &err);
    if (st == HSY_E_FORMAT && (err.status != st || err.at == 0))
        st = HSY_OK;
    free(f.bytes);
    free(s);
    return st;
}

#define BATCHES(...)                                                           \
    drain_batches((const hsy_batches[]){__VA_ARGS__},                          \
                  sizeof((const hsy_batches[]){__VA_ARGS__}) /                 \
                      sizeof(hsy_batches),                                     \
                  1, false)

static void batches_are_strict(void)
{
    const hsy_batches one = {2, 3, 7, TERMS};
    hsy_batches many[17];

    for (uint64_t i = 0; i < 17; i++)
        many[i] = (hsy_batches){1, 1, 1, {1, 2}, {1, 9}, i};
    ok(BATCHES({2, 3, 7, TERMS}) == HSY_E_END &&
           BATCHES({1, 1, 6, TERMS}) == HSY_E_END &&
           BATCHES({1, 2, 2, {9, 10}, {1, 9}, 0},
                   {1, 5, 5, {9, 10}, {1, 9}, 1}) == HSY_E_END,
       "batches stand before the end, of all reports or of some");
    ok(BATCHES({2, 4, 8, TERMS}) == HSY_E_FORMAT &&
           BATCHES({1, 4, 4, {1, 2}, {1, 9}, 0},
                   {1, 4, 4, {1, 2}, {1, 9}, 1}) == HSY_E_FORMAT &&
           BATCHES({1, 1, UINT64_MAX, TERMS}) == HSY_E_FORMAT,
       "of no more than there are");
    ok(BATCHES({3, 3, 7, TERMS}) == HSY_E_FORMAT &&
           BATCHES({UINT64_MAX, UINT64_MAX, 1, TERMS}) == HSY_E_FORMAT &&
           BATCHES({0, 1, 1, TERMS}) == HSY_E_FORMAT &&
           BATCHES({1, 0, 1, TERMS}) == HSY_E_FORMAT,
       "each has reports, as many as the smallest");
    ok(BATCHES({1, 1, 1, {0, 10}, {1, 9}, 1}) == HSY_E_FORMAT &&
           BATCHES({1, 1, 1, {11, 10}, {1, 9}, 1}) == HSY_E_FORMAT &&
           BATCHES({1, 1, 1, {1, 1}, {0, 9}, 1}) == HSY_E_FORMAT &&
           BATCHES({1, 1, 1, {1, 1}, {9, 9}, 1}) == HSY_E_FORMAT &&
           BATCHES({1, 1, 1, {1, 1}, {1, 9}, HSY_EPSILON_MAX + 1ull}) ==
               HSY_E_FORMAT,
       "on terms that a task can have");
    ok(BATCHES({1, 1, 1, {1, 2}, {1, 9}, 1}, {1, 1, 1, {1, 2}, {1, 9}, 1}) ==
               HSY_E_FORMAT &&
           BATCHES({1, 1, 1, {1, 2}, {1, 9}, 1},
                   {1, 1, 1, {1, 2}, {1, 9}, 0}) == HSY_E_FORMAT,
       "none twice, none before another");
    ok(drain_batches(&one, 1, 2, false) == HSY_E_FORMAT &&
           drain_batches(&one, 1, 1, true) == HSY_E_FORMAT &&
           drain_batches(many, 17, 1, false) == HSY_E_FORMAT,
       "in one record, after the rounds, and not too many");
}

static void batches_merge_up(void)
{
    const hsy_batches parts[] = {{2, 30, 70, {9, 10}, {1, 9}, 5},
                                 {1, 40, 40, {1, 2}, {1, 9}, 5},
                                 {1, 20, 20, {9, 10}, {1, 9}, 5},
                                 {3, 50, 200, {9, 10}, {1, 9}, 6}};
    const hsy_batches most = {1, 1, 1ull << 53, {1, 2}, {1, 9}, 1};
    struct batches a = {.n = 0}, b = {.n = 0}, full = {.n = 0};
    uint8_t wire[BATCHES_WIRE];
    hsy_batches back;
    bool good = true;

    for (size_t i = 0; i < 4; i++)
        good &= batches_add(&a, &parts[i], NULL) == HSY_OK &&
                batches_add(&b, &parts[3 - i], NULL) == HSY_OK;
    ok(good && eq_u64(a.n, 3) && eq_u64(a.list[0].least, 40) &&
           eq_u64(a.list[1].batches, 3) && eq_u64(a.list[1].least, 20) &&
           eq_u64(a.list[1].reports, 90) && eq_u64(batches_reports(&a), 330),
       "batches on the same terms add up, the smallest stays");
    ok(memcmp(&a, &b, sizeof a) == 0, "in whatever order they come");
    batches_put(wire, &parts[0]);
    back = batches_get(wire);
    ok(memcmp(&back, &parts[0], sizeof back) == 0, "a row is read as written");
    is_status(batches_add(&a, &most, NULL), HSY_E_OVERFLOW,
              "more than 2^53 reports are too many");
    for (uint64_t i = 0; i < HSY_RECORD_BATCHES_MAX; i++)
        batches_add(&full, &(hsy_batches){1, 1, 1, {1, 2}, {1, 9}, i}, NULL);
    b = full;
    ok(batches_add(&full, &parts[0], NULL) == HSY_E_OVERFLOW &&
           memcmp(&full, &b, sizeof b) == 0,
       "so are promises that there is no room for, and nothing is changed");
}

int main(void)
{
    if (!files_begin())
        return 1;
    for (size_t i = 0; i < EXAMPLES; i++)
        tallies_add_up(&examples[i]);
    adding_is_all_or_nothing();
    one_order_only();
    cells_stay_within_the_reports();
    sums_must_agree();
    rounds_add_up();
    rounds_merge_up();
    batches_are_strict();
    batches_merge_up();
    records_fit_their_file();
    files_done();
    return tap_done();
}
