/*
 * test_golden.c - files of version 1, kept since it was made, are read and
 * written again byte for byte. Run from the root of the tree.
 */
#define _GNU_SOURCE /* memfd_create */

#include "rig/files.h"
#include "tap.h"

static struct file golden(const char *name, const char *suffix)
{
    struct file f = {0};
    char path[256];
    FILE *in;

    snprintf(path, sizeof path, "tests/golden/%s.%s", name, suffix);
    in = fopen(path, "rb");
    if (in == NULL)
        return f;
    f.bytes = malloc(1 << 20);
    if (f.bytes != NULL)
        f.len = fread(f.bytes, 1, 1 << 20, in);
    fclose(in);
    return f;
}

/* What a file says: its scheme, its labels, and what its records hold. */
struct told {
    hsy_scheme *s;
    uint8_t labels[4096];
    size_t labels_len;
    hsy_tally t;
    struct batches batches;
    uint8_t reports[4096]; /* unpacked */
    size_t counts[8];      /* reports in each record */
    size_t records, n;
    hsy_scheme_info info;
};

static void tell_prefix(struct told *told, struct container_reader *r,
                        const struct container_item *item)
{
    told->labels_len = item->prefix.labels_len;
    if (told->labels_len != 0)
        memcpy(told->labels, item->labels, told->labels_len);
    told->s = container_keep_scheme(r);
    hsy_scheme_describe(told->s, &told->info);
    told->t = example_tally(told->s);
}

static bool tell_record(struct told *told, const struct container_item *item)
{
    const hsy_record *record = &item->record;
    uint8_t *to = told->reports + told->n * told->info.report_bytes;

    if (record->type != HSY_RECORD_REPORTS)
        return container_add_record(&told->t, record, item->payload, NULL) ==
                   HSY_OK &&
               container_add_batches(&told->batches, record, item->payload,
                                     NULL) == HSY_OK;
    told->counts[told->records++] = record->count;
    told->n += record->count;
    return hsy_unpack(told->s, to, item->payload, record->count) == HSY_OK &&
           hsy_tally_batch(&told->t, told->s, to, record->count, NULL) ==
               HSY_OK;
}

static bool tell(struct told *told, const struct file *f)
{
    int fd = files_fd(f->bytes, f->len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    hsy_status st;
    bool good = true;

    memset(told, 0, sizeof *told);
    while ((st = container_next(r, &item, NULL)) == HSY_OK)
        if (item.type == CONTAINER_PREFIX)
            tell_prefix(told, r, &item);
        else
            good &= tell_record(told, &item);
    container_close(r);
    close(fd);
    return st == HSY_E_END && good;
}

static void forget(struct told *told)
{
    free(told->t.cells);
    free(told->s);
}

static struct file write_stream(const struct told *told)
{
    struct output *out = files_open();
    uint8_t packed[4096];
    size_t at = 0;

    container_put_prefix(out, told->s, told->labels, told->labels_len,
                         HSY_CONTENT_REPORTS);
    for (size_t i = 0; i < told->records; i++) {
        hsy_pack(told->s, packed, told->reports + at * told->info.report_bytes,
                 told->counts[i]);
        container_put_reports(out, told->s, packed, told->counts[i]);
        at += told->counts[i];
    }
    container_put_end(out, told->n);
    return files_close(out);
}

static struct file write_twin(const struct told *told)
{
    struct output *out = files_open();

    container_put_json_head(out, told->s, told->labels, told->labels_len, NULL);
    container_put_json_reports(out, told->s, told->reports, told->n);
    container_put_json_end(out, told->n);
    return files_close(out);
}

static struct file write_tally(const struct told *told)
{
    struct output *out = files_open();

    container_put_tally(out, told->s, told->labels, told->labels_len, &told->t,
                        NULL, &told->batches);
    return files_close(out);
}

/* Read a golden file and write it again; what it told stays in *told. */
static void again(struct told *told, const char *name, const char *suffix,
                  struct file (*rewrite)(const struct told *))
{
    struct file f = golden(name, suffix), g = {0};
    bool good = tell(told, &f);

    if (good)
        g = rewrite(told);
    ok(good && f.len != 0 && files_same(&f, &g),
       "%s.%s is read and written again byte for byte", name, suffix);
    free(f.bytes);
    free(g.bytes);
}

static void golden_files(const char *name)
{
    struct told stream, twin, tally;
    struct file counted, kept = golden(name, "tally");

    again(&stream, name, "reports", write_stream);
    again(&twin, name, "jsonl", write_twin);
    again(&tally, name, "tally", write_tally);
    ok(eq_u64(stream.n, twin.n) && eq_u64(stream.n, EXAMPLE_N) &&
           eq_bytes(stream.reports, twin.reports,
                    stream.n * stream.info.report_bytes) &&
           eq_bytes(stream.info.digest, twin.info.digest, HSY_DIGEST),
       "%s: stream and twin hold the same reports", name);
    counted = write_tally(&stream);
    ok(files_same(&counted, &kept), "%s: the stream's tally is the tally",
       name);
    free(counted.bytes);
    free(kept.bytes);
    forget(&stream);
    forget(&twin);
    forget(&tally);
}

/* A tally of a shuffled task: 21 reports that came in two batches. */
static void golden_batches(void)
{
    struct told tally;

    again(&tally, "batches", "tally", write_tally);
    ok(eq_u64(tally.batches.n, 1) && eq_u64(tally.batches.list[0].batches, 2) &&
           eq_u64(tally.batches.list[0].least, 9) &&
           eq_u64(tally.batches.list[0].reports, EXAMPLE_N) &&
           eq_u64(tally.batches.list[0].honest.num, 9) &&
           eq_u64(tally.batches.list[0].delta.den, 100000000) &&
           eq_u64(tally.batches.list[0].nano_central, HSY_NANO),
       "batches.tally says in which batches its reports came");
    forget(&tally);
}

static void golden_release(const char *name)
{
    struct told tally;

    again(&tally, name, "tally", write_tally);
    ok(tally.info.central && eq_u64(tally.t.strata[0], 2),
       "%s: two releases, and no reports", name);
    forget(&tally);
}

static void golden_upload(void)
{
    struct file f = golden("upload", "header");
    uint8_t wire[HSY_UPLOAD_WIRE];
    hsy_upload u;

    ok(eq_u64(f.len, HSY_UPLOAD_WIRE) &&
           eq_status(hsy_upload_decode(&u, f.bytes, NULL), HSY_OK) &&
           eq_text(u.task, "golden.task-1") && eq_u64(u.kind, 1) &&
           eq_u64(u.release, 7) && eq_u64(u.epoch, 20454) &&
           eq_u64(u.count, EXAMPLE_N) && eq_u64(u.length, 3),
       "upload.header says what it was made to say");
    ok(eq_status(hsy_upload_encode(wire, &u, NULL), HSY_OK) &&
           eq_bytes(wire, f.bytes, sizeof wire),
       "and is written again byte for byte");
    free(f.bytes);
}

int main(void)
{
    if (!files_begin())
        return 1;
    for (size_t i = 0; i < EXAMPLES; i++)
        golden_files(examples[i].name);
    for (size_t i = 0; i < EXAMPLE_RELEASES; i++)
        golden_release(example_releases[i].name);
    golden_batches();
    golden_upload();
    files_done();
    return tap_done();
}
