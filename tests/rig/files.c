/* files.c - see files.h. */

#define _GNU_SOURCE

#include "rig/files.h"

static char files_path[64];

bool files_begin(void)
{
    strcpy(files_path, "/tmp/hearsay-files-XXXXXX");
    if (mkdtemp(files_path) == NULL)
        return false;
    strcat(files_path, "/file");
    return true;
}

void files_done(void)
{
    *strrchr(files_path, '/') = '\0';
    rmdir(files_path);
}

struct output *files_open(void)
{
    struct output *out = NULL;

    return output_open(&out, files_path) == HSY_OK ? out : NULL;
}

struct file files_close(struct output *out)
{
    struct file f = {0};
    FILE *in;
    long len;

    if (output_commit(out) != HSY_OK || (in = fopen(files_path, "rb")) == NULL)
        return f;
    fseek(in, 0, SEEK_END);
    len = ftell(in);
    rewind(in);
    f.bytes = malloc((size_t)len + 1);
    if (f.bytes != NULL)
        f.len = fread(f.bytes, 1, (size_t)len, in);
    fclose(in);
    unlink(files_path);
    return f;
}

int files_fd(const void *bytes, size_t len)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    size_t at = 0;

    while (at < len) {
        ssize_t n = write(fd, (const uint8_t *)bytes + at, len - at);

        if (n <= 0)
            break;
        at += (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

hsy_status files_drain(const void *bytes, size_t len, hsy_error *err)
{
    int fd = files_fd(bytes, len);
    struct container_reader *r = container_open(fd);
    struct container_item item;
    hsy_status st = HSY_OK;

    while (st == HSY_OK)
        st = container_next(r, &item, err);
    container_close(r);
    close(fd);
    return st;
}

bool files_same(const struct file *a, const struct file *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

struct file files_joined(const struct file *a, const struct file *b)
{
    struct file f = {malloc(a->len + b->len), a->len + b->len};

    memcpy(f.bytes, a->bytes, a->len);
    memcpy(f.bytes + a->len, b->bytes, b->len);
    return f;
}

/* ---- Files of n example reports ------------------------------------------ */

struct file files_stream(const hsy_spec *spec, size_t n)
{
    hsy_scheme *s = example_scheme(spec);
    uint8_t *reports = example_reports(s, n);
    uint8_t *packed = malloc(hsy_packed_size(s, n) + 1);
    struct output *out = files_open();

    hsy_pack(s, packed, reports, n);
    container_put_prefix(out, s, spec->labels, spec->labels_len,
                         HSY_CONTENT_REPORTS);
    container_put_reports(out, s, packed, n);
    container_put_end(out, n);
    free(packed);
    free(reports);
    free(s);
    return files_close(out);
}

struct file files_twin(const hsy_spec *spec, size_t n)
{
    hsy_scheme *s = example_scheme(spec);
    uint8_t *reports = example_reports(s, n);
    struct output *out = files_open();
    struct file f;

    container_put_json_head(out, s, spec->labels, spec->labels_len, NULL);
    container_put_json_reports(out, s, reports, n);
    container_put_json_end(out, n);
    free(reports);
    free(s);
    f = files_close(out);
    f.bytes[f.len] = '\0';
    return f;
}

struct file files_tally(const hsy_spec *spec, size_t first, size_t n)
{
    hsy_scheme *s = example_scheme(spec);
    /* All of them in any case: a smaller batch draws other coins. */
    uint8_t *reports =
        example_reports(s, first + n < EXAMPLE_N ? EXAMPLE_N : first + n);
    hsy_tally t = example_tally(s);
    struct output *out = files_open();
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    hsy_tally_batch(&t, s, reports + first * info.report_bytes, n, NULL);
    container_put_tally(out, s, spec->labels, spec->labels_len, &t, NULL, NULL);
    free(reports);
    free(t.cells);
    free(s);
    return files_close(out);
}
