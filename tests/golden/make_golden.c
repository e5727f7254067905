/*
 * make_golden.c - write the golden files of the formats into a directory.
 *
 *     make_golden DIRECTORY
 *
 * For each of the examples a report stream, its tally and its readable twin,
 * the tallies of releases and of batches, one upload header, one task document,
 * what shuffled tasks add and the files of a device. A golden file is made once
 * for a version of a format and then kept: every later program must read it
 * (test_golden.c).
 */
#include "hearsay/host.h"
#include "host/format/format.h"
#include "rig/device_rig.h"
#include "rig/example_tasks.h"
#include "rig/examples.h"
#include "rig/golden_shuffled.h"

#include <stdio.h>

static struct output *golden_open(const char *dir, const char *name,
                                  const char *suffix)
{
    struct output *out = NULL;
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.%s", dir, name, suffix);
    if (output_open(&out, path) != HSY_OK) {
        perror(path);
        exit(1);
    }
    return out;
}

static void golden_expect(hsy_status st)
{
    if (st == HSY_OK)
        return;
    fprintf(stderr, "make_golden: %s\n", hsy_strstatus(st));
    exit(1);
}

/* Two records, so that a stream of several is there too. */
static void golden_stream(const char *dir, const struct example *e,
                          const hsy_scheme *s, const uint8_t *reports)
{
    struct output *out = golden_open(dir, e->name, "reports");
    const size_t first = 16;
    uint8_t packed[4096];
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    golden_expect(container_put_prefix(
        out, s, e->spec.labels, e->spec.labels_len, HSY_CONTENT_REPORTS));
    hsy_pack(s, packed, reports, first);
    golden_expect(container_put_reports(out, s, packed, first));
    hsy_pack(s, packed, reports + first * info.report_bytes, EXAMPLE_N - first);
    golden_expect(container_put_reports(out, s, packed, EXAMPLE_N - first));
    golden_expect(container_put_end(out, EXAMPLE_N));
    golden_expect(output_commit(out));
}

static void golden_tally(const char *dir, const struct example *e,
                         const hsy_scheme *s, const uint8_t *reports)
{
    struct output *out = golden_open(dir, e->name, "tally");
    hsy_tally t = example_tally(s);

    golden_expect(hsy_tally_batch(&t, s, reports, EXAMPLE_N, NULL));
    golden_expect(container_put_tally(out, s, e->spec.labels,
                                      e->spec.labels_len, &t, NULL, NULL));
    golden_expect(output_commit(out));
    free(t.cells);
}

/* A tally of a shuffled task: two batches, the smaller of 9. */
static void golden_batches(const char *dir, const struct example *e)
{
    struct output *out = golden_open(dir, "batches", "tally");
    hsy_scheme *s = example_scheme(&e->spec);
    uint8_t *reports = example_reports(s, EXAMPLE_N);
    hsy_tally t = example_tally(s);
    const struct batches batches = {
        {{2, 9, EXAMPLE_N, {9, 10}, {1, 100000000}, HSY_NANO}}, 1};

    golden_expect(hsy_tally_batch(&t, s, reports, EXAMPLE_N, NULL));
    golden_expect(container_put_tally(out, s, e->spec.labels,
                                      e->spec.labels_len, &t, NULL, &batches));
    golden_expect(output_commit(out));
    free(t.cells);
    free(reports);
    free(s);
}

static void golden_twin(const char *dir, const struct example *e,
                        const hsy_scheme *s, const uint8_t *reports)
{
    struct output *out = golden_open(dir, e->name, "jsonl");

    golden_expect(container_put_json_head(out, s, e->spec.labels,
                                          e->spec.labels_len, NULL));
    golden_expect(container_put_json_reports(out, s, reports, EXAMPLE_N));
    golden_expect(container_put_json_end(out, EXAMPLE_N));
    golden_expect(output_commit(out));
}

/* Two curators' releases about 21 people each, added up. */
static void golden_release(const char *dir, const struct example *e)
{
    struct output *out = golden_open(dir, e->name, "tally");
    hsy_scheme *s = example_scheme(&e->spec);
    hsy_tally all = example_tally(s), one = example_tally(s);
    hsy_stream secret;
    hsy_rng rng = hsy_stream_rng(&secret);

    hsy_stream_seed(&secret, 1, 0);
    for (uint64_t k = 0; k < 2; k++) {
        hsy_tally_init(&one, s, one.cells);
        for (uint64_t i = 0; i < EXAMPLE_N; i++) {
            uint64_t code = (i + k) % hsy_code_count(s);

            golden_expect(hsy_central_count(&one, s, &code, 1, NULL));
        }
        golden_expect(hsy_central_release(&one, s, &rng, NULL));
        golden_expect(hsy_tally_merge(&all, &one, NULL));
    }
    golden_expect(container_put_tally(out, s, e->spec.labels,
                                      e->spec.labels_len, &all, NULL, NULL));
    golden_expect(output_commit(out));
    free(all.cells);
    free(one.cells);
    free(s);
}

/* The header of an upload of the first example's reports. */
static void golden_upload(const char *dir)
{
    hsy_scheme *s = example_scheme(&examples[0].spec);
    uint8_t *reports = example_reports(s, EXAMPLE_N), packed[64];
    struct output *out = golden_open(dir, "upload", "header");
    hsy_upload upload = {.kind = 1,
                         .task = "golden.task-1",
                         .release = 7,
                         .epoch = 20454, /* 2026-01-01 */
                         .count = EXAMPLE_N};
    uint8_t wire[HSY_UPLOAD_WIRE];
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    memcpy(upload.digest, info.digest, HSY_DIGEST);
    for (size_t i = 0; i < sizeof upload.id; i++)
        upload.id[i] = (uint8_t)(17 * i);
    hsy_pack(s, packed, reports, EXAMPLE_N);
    upload.length = (uint32_t)hsy_packed_size(s, EXAMPLE_N);
    upload.checksum = hsy_crc32c(0, packed, upload.length);
    golden_expect(hsy_upload_encode(wire, &upload, NULL));
    golden_expect(output_write(out, wire, sizeof wire));
    golden_expect(output_commit(out));
    free(reports);
    free(s);
}

/* All tasks of the examples, signed by the key of RFC 8032, test 1. */
static void golden_document(const char *dir)
{
    static const uint8_t secret[HSY_SIGN_SECRET] = {
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
        0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
        0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60, 0xd7,
        0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3,
        0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23,
        0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
    struct output *out = golden_open(dir, "document", "signed");
    struct example_tasks e;
    uint8_t *bytes;
    size_t len;

    if (!example_tasks_make(&e))
        golden_expect(HSY_E_RANGE);
    bytes = example_document(e.task, EXAMPLE_TASKS, 3, &len);
    golden_expect(hsy_sign(bytes + len - HSY_SIGNATURE, bytes,
                           len - HSY_SIGNATURE, secret));
    golden_expect(output_write(out, bytes, len));
    golden_expect(output_commit(out));
    free(bytes);
}

static void golden_bytes(const char *dir, const char *name, const char *suffix,
                         const uint8_t *bytes, size_t len)
{
    struct output *out = golden_open(dir, name, suffix);

    golden_expect(output_write(out, bytes, len));
    golden_expect(output_commit(out));
}

/* What shuffled tasks add: a statement, format 2, an envelope. */
static void golden_shuffled(const char *dir)
{
    struct golden_shuffled g;

    golden_expect(golden_shuffled_make(&g) ? HSY_OK : HSY_E_RANGE);
    golden_bytes(dir, "shuffler", "statement", g.statement, sizeof g.statement);
    golden_bytes(dir, "document2", "signed", g.document, g.document_len);
    golden_bytes(dir, "document3", "signed", g.third, g.third_len);
    golden_bytes(dir, "shuffler", "documents", g.loaded, g.loaded_len);
    golden_bytes(dir, "sealed", "upload", g.upload, g.upload_len);
    free(g.document);
    free(g.third);
}

static void golden_device(const char *dir)
{
    static const char *const names[] = {"key", "state"};
    struct rig *g = rig_golden();

    for (int i = 0; i < 2; i++) {
        struct output *out = golden_open(dir, "device", names[i]);

        golden_expect(
            output_write(out, g->world.file[i].bytes, g->world.file[i].len));
        golden_expect(output_commit(out));
    }
    rig_free(g);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: make_golden DIRECTORY\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < EXAMPLES; i++) {
        hsy_scheme *s = example_scheme(&examples[i].spec);
        uint8_t *reports = example_reports(s, EXAMPLE_N);

        golden_stream(argv[1], &examples[i], s, reports);
        golden_tally(argv[1], &examples[i], s, reports);
        golden_twin(argv[1], &examples[i], s, reports);
        free(reports);
        free(s);
    }
    for (size_t i = 0; i < EXAMPLE_RELEASES; i++)
        golden_release(argv[1], &example_releases[i]);
    golden_batches(argv[1], &examples[0]);
    golden_upload(argv[1]);
    golden_document(argv[1]);
    golden_shuffled(argv[1]);
    golden_device(argv[1]);
    return 0;
}
