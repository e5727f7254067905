/* test_container.c - report streams, twins and tally files, whole and
 * damaged. */
#define _GNU_SOURCE /* memfd_create */

#include "host/format/internal.h"
#include "rig/files.h"
#include "rig/sanitized.h"
#include "tap.h"

/* ---- Whole files --------------------------------------------------------- */

/* The two forms of a stream, which read the same, and where their reports and
 * their end are. */
static const struct form {
    const char *name, *unit;
    struct file (*make)(const hsy_spec *spec, size_t n);
    uint64_t prefix, reports, end;
} forms[] = {{"stream", "record", files_stream, 0, 1, 2},
             {"twin", "line", files_twin, 1, 2, EXAMPLE_N + 2}};

#define FORMS (sizeof forms / sizeof forms[0])

static bool stands_at(const struct container_item *item, const struct form *f,
                      uint64_t line)
{
    return strcmp(hsy_unit_name(item->unit), f->unit) == 0 &&
           item->line == line;
}

static void begins_with_its_scheme(const struct example *e,
                                   const struct form *form, const hsy_scheme *s,
                                   const struct container_item *item)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    ok(item->type == CONTAINER_PREFIX && stands_at(item, form, form->prefix) &&
           item->prefix.content == HSY_CONTENT_REPORTS &&
           hsy_scheme_difference(item->scheme, s) == NULL &&
           memcmp(item->prefix.digest, info.digest, HSY_DIGEST) == 0 &&
           item->prefix.labels_len == e->spec.labels_len &&
           (e->spec.labels_len == 0 ||
            memcmp(item->labels, e->spec.labels, e->spec.labels_len) == 0),
       "%s: a %s begins with its scheme and labels", e->name, form->name);
}

static void comes_back(const struct example *e, const struct form *form)
{
    hsy_scheme *s = example_scheme(&e->spec);
    struct file f = form->make(&e->spec, EXAMPLE_N);
    uint8_t *reports = example_reports(s, EXAMPLE_N);
    uint8_t *packed = malloc(hsy_packed_size(s, EXAMPLE_N));
    int fd = files_fd(f.bytes, f.len);
    struct container_reader *r = container_open(fd);
    struct container_item item = {0};

    hsy_pack(s, packed, reports, EXAMPLE_N);
    container_next(r, &item, NULL);
    begins_with_its_scheme(e, form, s, &item);
    ok(container_next(r, &item, NULL) == HSY_OK &&
           item.type == CONTAINER_RECORD &&
           stands_at(&item, form, form->reports) &&
           item.record.type == HSY_RECORD_REPORTS &&
           item.record.count == EXAMPLE_N &&
           item.record.length == hsy_packed_size(s, EXAMPLE_N) &&
           item.record.checksum == hsy_crc32c(0, packed, item.record.length) &&
           memcmp(item.payload, packed, item.record.length) == 0,
       "%s: then its reports", e->name);
    ok(container_next(r, &item, NULL) == HSY_OK &&
           stands_at(&item, form, form->end) &&
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

/* A scheme that was kept outlives its reader. */
static void schemes_may_be_kept(void)
{
    struct file f = files_stream(&examples[2].spec, 3);
    int fd = files_fd(f.bytes, f.len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    hsy_scheme *kept, *s = example_scheme(&examples[2].spec);

    container_next(r, &item, NULL);
    kept = container_keep_scheme(r);
    container_next(r, &item, NULL);
    container_close(r);
    close(fd);
    ok(hsy_scheme_difference(kept, s) == NULL,
       "a scheme can be kept when its reader is closed");
    free(kept);
    free(s);
    free(f.bytes);
}

static void streams_may_be_joined(void)
{
    struct file a = files_stream(&examples[0].spec, 3);
    struct file b = files_twin(&examples[2].spec, 4);
    struct file c = files_tally(&examples[3].spec, 0, 5),
                ab = files_joined(&a, &b);
    struct file abc = files_joined(&ab, &c);
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
    const hsy_spec wide = {.size = sizeof(hsy_spec),
                           .mechanism = "oue",
                           .kind = HSY_KIND_VALUES,
                           .d = HSY_UNARY_MAX,
                           .nano_epsilon = HSY_NANO};
    struct file f = files_stream(&wide, 9);
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
    struct file f = files_stream(&examples[2].spec, 0);
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

/* Every bit of what stands before the records, and every seventh of the rest,
 * so that each place of a byte has its turn; HSY_TEST_LONG=1: every bit. Where
 * a sanitizer watches every 29th. */
static size_t next_flip(size_t bit)
{
    if (TEST_SANITIZED)
        return bit + 29;
    return bit < 8 * 448 || getenv("HSY_TEST_LONG") != NULL ? bit + 1 : bit + 7;
}

static void no_flip_is_accepted(struct file *f, const char *name,
                                const char *what)
{
    size_t accepted = 0, flips = 0;

    for (size_t bit = 0; bit < 8 * f->len; bit = next_flip(bit), flips++) {
        f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        accepted += files_drain(f->bytes, f->len, NULL) != HSY_E_FORMAT;
        f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ok(accepted == 0, "%s: all %zu flips of a bit of a %s are refused", name,
       flips, what);
}

static void damage_is_noticed(const struct example *e)
{
    struct file stream = files_stream(&e->spec, EXAMPLE_N);
    struct file twin = files_twin(&e->spec, EXAMPLE_N);
    struct file tally = files_tally(&e->spec, 0, EXAMPLE_N);

    no_cut_is_accepted(&stream, e->name, "stream");
    no_flip_is_accepted(&stream, e->name, "stream");
    no_cut_is_accepted(&twin, e->name, "twin");
    no_cut_is_accepted(&tally, e->name, "tally");
    no_flip_is_accepted(&tally, e->name, "tally");
    free(stream.bytes);
    free(twin.bytes);
    free(tally.bytes);
}

static void scheme_must_be_the_digests(void)
{
    struct file f = files_stream(&examples[2].spec, 3), g;
    hsy_spec other = examples[2].spec;
    hsy_scheme *s;
    struct output *out = files_open();
    uint8_t labels[sizeof example_labels - 1];
    hsy_file_header p;
    hsy_error err;

    hsy_file_header_decode(&p, f.bytes, NULL);
    p.digest[5] ^= 1;
    hsy_file_header_encode(f.bytes, &p);
    ok(files_drain(f.bytes, f.len, &err) == HSY_E_FORMAT &&
           err.field == HSY_FIELD_DIGEST,
       "a digest that is not the scheme's is refused");
    other.nano_epsilon++;
    s = example_scheme(&other);
    memcpy(labels, other.labels, sizeof labels);
    labels[4] ^= 1;
    ok(container_put_prefix(out, s, NULL, 0, HSY_CONTENT_REPORTS) ==
               HSY_E_RANGE &&
           container_put_json_head(out, s, NULL, 0, NULL) == HSY_E_RANGE,
       "a file is not begun without the scheme's labels");
    ok(container_put_prefix(out, s, labels, sizeof labels,
                            HSY_CONTENT_REPORTS) == HSY_E_RANGE &&
           container_put_json_head(out, s, labels, sizeof labels, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_VALUES,
       "nor with others of the same length");
    g = files_close(out);
    ok(g.len == 0, "then nothing is written");
    free(f.bytes);
    free(g.bytes);
    free(s);
}

/* ---- Reading ----------------------------------------------------- */

/* A prefix says 64 MiB of labels, and the file ends. */
static void lies_cost_no_memory(void)
{
    struct container_input in;
    struct file f = files_stream(&examples[2].spec, 3);
    int fd = files_fd(f.bytes, f.len);
    hsy_file_header p;

    ok(container_input_open(&in, fd) == HSY_OK &&
           container_input_need(&in, HSY_LABELS_MAX) == HSY_E_END &&
           in.capacity <= 65536,
       "a length that lies does not make the buffer grow");
    container_input_close(&in);
    close(fd);
    hsy_file_header_decode(&p, f.bytes, NULL);
    p.labels_len = HSY_LABELS_MAX;
    hsy_file_header_encode(f.bytes, &p);
    ok(files_drain(f.bytes, f.len, NULL) == HSY_E_FORMAT,
       "and the file is refused");
    free(f.bytes);
}

static void failing_input(void)
{
    struct container_reader *r = container_open(-1);
    struct container_item item;
    hsy_error err;

    ok(container_next(r, &item, &err) == HSY_E_IO && err.status == HSY_E_IO &&
           item.unit != HSY_UNIT_NONE && item.line == 0,
       "a descriptor that cannot be read is HSY_E_IO");
    container_close(r);
    container_close(NULL);
}

int main(void)
{
    if (!files_begin())
        return 1;
    for (size_t i = 0; i < EXAMPLES; i++) {
        for (size_t j = 0; j < FORMS; j++)
            comes_back(&examples[i], &forms[j]);
        damage_is_noticed(&examples[i]);
    }
    schemes_may_be_kept();
    streams_may_be_joined();
    long_streams_are_cut();
    empty_files();
    scheme_must_be_the_digests();
    lies_cost_no_memory();
    failing_input();
    files_done();
    return tap_done();
}
