/* test_container.c - report streams and tally files, whole and damaged. */
#define _GNU_SOURCE /* memfd_create */

#include "bytes.h"
#include "container_parts.h"
#include "examples.h"
#include "files.h"
#include "tap.h"

/* ---- Making files -------------------------------------------------------- */

static struct file stream_of(const struct example *e, size_t n)
{
    hsy_scheme *s = example_scheme(&e->spec);
    uint8_t *reports = example_reports(s, n);
    uint8_t *packed = malloc(hsy_packed_size(s, n) + 1);
    struct output *out = files_open();
    struct file f;

    hsy_pack(s, packed, reports, n);
    container_put_prefix(out, s, e->spec.labels, e->spec.labels_len,
                         HSY_CONTENT_REPORTS);
    container_put_reports(out, s, packed, n);
    container_put_end(out, n);
    f = files_close(out);
    free(packed);
    free(reports);
    free(s);
    return f;
}

/* The tally of reports first .. first+n-1 of the example's. */
static hsy_tally tally_part(const hsy_scheme *s, size_t first, size_t n)
{
    uint8_t *reports = example_reports(s, EXAMPLE_N);
    hsy_tally t = example_tally(s);
    hsy_info info;

    hsy_scheme_info(s, &info);
    hsy_tally_batch(&t, s, reports + first * info.report_bytes, n, NULL);
    free(reports);
    return t;
}

static struct file file_of(const struct example *e, const hsy_scheme *s,
                           const hsy_tally *t)
{
    struct output *out = files_open();

    container_put_tally(out, s, e->spec.labels, e->spec.labels_len, t);
    return files_close(out);
}

static struct file tally_of(const struct example *e)
{
    hsy_scheme *s = example_scheme(&e->spec);
    hsy_tally t = tally_part(s, 0, EXAMPLE_N);
    struct file f = file_of(e, s, &t);

    free(t.cells);
    free(s);
    return f;
}

static struct file joined(const struct file *a, const struct file *b)
{
    struct file f = {malloc(a->len + b->len), a->len + b->len};

    memcpy(f.bytes, a->bytes, a->len);
    memcpy(f.bytes + a->len, b->bytes, b->len);
    return f;
}

/* ---- Whole files --------------------------------------------------------- */

static void stream_comes_back(const struct example *e)
{
    hsy_scheme *s = example_scheme(&e->spec);
    struct file f = stream_of(e, EXAMPLE_N);
    uint8_t *reports = example_reports(s, EXAMPLE_N), wire[HSY_SCHEME_WIRE];
    uint8_t *packed = malloc(hsy_packed_size(s, EXAMPLE_N));
    int fd = files_fd(f.bytes, f.len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    hsy_info info;

    hsy_scheme_info(s, &info);
    hsy_scheme_encode(s, wire);
    hsy_pack(s, packed, reports, EXAMPLE_N);
    ok(container_next(r, &item, NULL) == HSY_OK &&
           item.type == CONTAINER_PREFIX &&
           item.prefix.content == HSY_CONTENT_REPORTS &&
           memcmp(item.wire, wire, sizeof wire) == 0 &&
           memcmp(item.prefix.digest, info.digest, HSY_DIGEST) == 0 &&
           item.prefix.labels_len == e->spec.labels_len &&
           (e->spec.labels_len == 0 ||
            memcmp(item.labels, e->spec.labels, e->spec.labels_len) == 0),
       "%s: a stream begins with its scheme and labels", e->name);
    ok(container_next(r, &item, NULL) == HSY_OK &&
           item.type == CONTAINER_RECORD &&
           item.record.type == HSY_RECORD_REPORTS &&
           item.record.count == EXAMPLE_N &&
           memcmp(item.payload, packed, item.record.length) == 0,
       "%s: then its reports", e->name);
    ok(container_next(r, &item, NULL) == HSY_OK &&
           item.record.type == HSY_RECORD_END &&
           item.record.count == EXAMPLE_N &&
           container_next(r, &item, NULL) == HSY_E_END,
       "%s: then the end", e->name);
    container_close(r);
    close(fd);
    free(packed);
    free(reports);
    free(f.bytes);
    free(s);
}

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
    struct file whole = tally_of(e), parts[3];
    bool same = true;

    for (size_t i = 0; i < 3; i++) {
        hsy_tally t = tally_part(s, cuts[i], cuts[i + 1] - cuts[i]);

        parts[i] = file_of(e, s, &t);
        free(t.cells);
    }
    for (size_t i = 0; i < 3; i++) {
        hsy_tally t = example_tally(s);
        struct file f;

        for (size_t j = 0; j < 3; j++)
            same &= fold(&t, &parts[orders[i][j]]) == HSY_E_END;
        f = file_of(e, s, &t);
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

static void streams_may_be_joined(void)
{
    struct file a = stream_of(&examples[0], 3), b = stream_of(&examples[2], 4);
    struct file c = tally_of(&examples[3]), ab = joined(&a, &b);
    struct file abc = joined(&ab, &c);
    int fd = files_fd(abc.bytes, abc.len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    unsigned prefixes = 0, ends = 0;
    hsy_status st;

    while ((st = container_next(r, &item, NULL)) == HSY_OK) {
        prefixes += item.type == CONTAINER_PREFIX;
        ends +=
            item.type == CONTAINER_RECORD && item.record.type == HSY_RECORD_END;
    }
    ok(st == HSY_E_END && prefixes == 3 && ends == 3,
       "files may stand one after the other");
    container_close(r);
    close(fd);
    abc.bytes[a.len] ^= 1;
    ok(files_drain(abc.bytes, abc.len, NULL) == HSY_E_FORMAT,
       "but nothing else may follow a file");
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
    free(ab.bytes);
    free(abc.bytes);
}

/* The widest report there is: nine of them do not fit into a record. */
static void long_streams_are_cut(void)
{
    const struct example e = {"wide",
                              {.size = sizeof(hsy_spec),
                               .mechanism = "oue",
                               .kind = HSY_KIND_VALUES,
                               .d = HSY_UNARY_MAX,
                               .nano_epsilon = HSY_NANO}};
    struct file f = stream_of(&e, 9);
    int fd = files_fd(f.bytes, f.len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    uint64_t counts[4] = {0};
    size_t n = 0;
    hsy_status st;

    while ((st = container_next(r, &item, NULL)) == HSY_OK && n < 4)
        counts[n++] = item.type == CONTAINER_RECORD ? item.record.count : 0;
    ok(st == HSY_E_END && counts[1] == 8 && counts[2] == 1 && counts[3] == 9,
       "reports past a record's limit go into the next one");
    container_close(r);
    close(fd);
    free(f.bytes);
}

static void empty_files(void)
{
    struct file f = stream_of(&examples[2], 0);
    hsy_error err;

    ok(files_drain(f.bytes, f.len, NULL) == HSY_E_END,
       "a stream may hold no reports");
    ok(files_drain("", 0, &err) == HSY_E_FORMAT && err.msg != NULL,
       "an empty input is no stream");
    ok(files_drain("hello, world\n", 13, &err) == HSY_E_FORMAT,
       "nor is other text");
    free(f.bytes);
}

/* ---- Damage -------------------------------------------------------------- */

static void no_cut_is_accepted(const struct file *f, const char *name,
                               const char *what)
{
    size_t accepted = 0;

    for (size_t len = 0; len < f->len; len++)
        accepted += files_drain(f->bytes, len, NULL) != HSY_E_FORMAT;
    ok(accepted == 0, "%s: all %zu truncations of a %s are refused", name,
       f->len, what);
}

static void no_flip_is_accepted(struct file *f, const char *name,
                                const char *what)
{
    size_t accepted = 0;

    for (size_t bit = 0; bit < 8 * f->len; bit++) {
        f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        accepted += files_drain(f->bytes, f->len, NULL) != HSY_E_FORMAT;
        f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ok(accepted == 0, "%s: all %zu flips of a bit of a %s are refused", name,
       8 * f->len, what);
}

static void damage_is_noticed(const struct example *e)
{
    struct file stream = stream_of(e, EXAMPLE_N), tally = tally_of(e);

    no_cut_is_accepted(&stream, e->name, "stream");
    no_flip_is_accepted(&stream, e->name, "stream");
    no_cut_is_accepted(&tally, e->name, "tally");
    no_flip_is_accepted(&tally, e->name, "tally");
    free(stream.bytes);
    free(tally.bytes);
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
    if (st == HSY_E_FORMAT && (err.status != st || err.line == 0))
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

static void scheme_must_be_the_digests(void)
{
    struct file f = stream_of(&examples[2], 3), g;
    hsy_spec other = examples[2].spec;
    hsy_scheme *s;
    struct output *out = files_open();
    hsy_prefix p;
    hsy_error err;

    hsy_prefix_decode(&p, f.bytes, NULL);
    p.digest[5] ^= 1;
    hsy_prefix_encode(f.bytes, &p);
    ok(files_drain(f.bytes, f.len, &err) == HSY_E_FORMAT &&
           strcmp(err.field, "digest") == 0,
       "a digest that is not the scheme's is refused");
    other.nano_epsilon++;
    s = example_scheme(&other);
    ok(container_put_prefix(out, s, NULL, 0, HSY_CONTENT_REPORTS) ==
           HSY_E_RANGE,
       "a prefix is not written without the scheme's labels");
    g = files_close(out);
    ok(g.len == 0, "then nothing is written");
    free(f.bytes);
    free(g.bytes);
    free(s);
}

/* ---- Adding, reading ----------------------------------------------------- */

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

/* A prefix says 64 MiB of labels, and the file ends. */
static void lies_cost_no_memory(void)
{
    struct container_input in;
    struct file f = stream_of(&examples[2], 3);
    int fd = files_fd(f.bytes, f.len);
    hsy_prefix p;

    ok(container_input_open(&in, fd) == HSY_OK &&
           container_input_need(&in, HSY_LABELS_MAX) == HSY_E_END &&
           in.capacity <= 65536,
       "a length that lies does not make the buffer grow");
    container_input_close(&in);
    close(fd);
    hsy_prefix_decode(&p, f.bytes, NULL);
    p.labels_len = HSY_LABELS_MAX;
    hsy_prefix_encode(f.bytes, &p);
    ok(files_drain(f.bytes, f.len, NULL) == HSY_E_FORMAT,
       "and the file is refused");
    free(f.bytes);
}

static void failing_input(void)
{
    struct container_reader *r = container_open(-1);
    struct container_item item;
    hsy_error err;

    ok(container_next(r, &item, &err) == HSY_E_IO && err.status == HSY_E_IO,
       "a descriptor that cannot be read is HSY_E_IO");
    container_close(r);
    container_close(NULL);
}

int main(void)
{
    if (!files_begin())
        return 1;
    for (size_t i = 0; i < EXAMPLES; i++) {
        stream_comes_back(&examples[i]);
        tallies_add_up(&examples[i]);
        damage_is_noticed(&examples[i]);
    }
    streams_may_be_joined();
    long_streams_are_cut();
    empty_files();
    one_order_only();
    sums_must_agree();
    records_fit_their_file();
    scheme_must_be_the_digests();
    adding_is_all_or_nothing();
    lies_cost_no_memory();
    failing_input();
    files_done();
    return tap_done();
}
