/*
 * fuzz_rappor.c - RAPPOR's CSV files: the first byte says which, the rest is
 * the file. A refusal has a line and a message; what is accepted
 * keeps its promises and, written, is read as the same.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/format/rappor_files.h"

#include <inttypes.h>
#include <math.h>

static const struct rappor_params rappor_small = {4, 2, 2, 0.25, 0.75, 0.5};

static void rappor_refuses(hsy_status st, const hsy_error *err)
{
    fuzz_expect(st == HSY_E_FORMAT, "what is refused is malformed");
    fuzz_expect(err->at != 0 && err->msg != NULL && err->msg[0] != '\0',
                "a refusal has a line and a message");
}

/* Where what was written to a stream can be read. */
struct rappor_written {
    char *text;
    size_t len;
    FILE *out;
    char path[32];
};

static FILE *rappor_write(struct rappor_written *w)
{
    w->out = open_memstream(&w->text, &w->len);
    fuzz_expect(w->out != NULL, "there is memory");
    return w->out;
}

static const char *rappor_again(struct rappor_written *w)
{
    fclose(w->out);
    snprintf(w->path, sizeof w->path, "/dev/fd/%d",
             fuzz_fd((const uint8_t *)w->text, w->len));
    free(w->text);
    return w->path;
}

/* ---- Writing ------------------------------------------------------------- */

static void rappor_write_params(const struct rappor_params *params, FILE *out)
{
    fprintf(out,
            "k,h,m,p,q,f\n%" PRIu32 ",%" PRIu32 ",%" PRIu32
            ",%.17g,%.17g,%.17g\n",
            params->k, params->h, params->m, params->p, params->q, params->f);
}

static void rappor_write_counts(const struct rappor_counts *counts, FILE *out)
{
    for (uint32_t c = 0; c < counts->m; c++) {
        fprintf(out, "%" PRIu64, counts->totals[c]);
        for (uint32_t b = 0; b < counts->k; b++)
            fprintf(out, ",%" PRIu64, counts->ones[(size_t)c * counts->k + b]);
        fputc('\n', out);
    }
}

static void rappor_write_name(const char *name, FILE *out)
{
    fputc('"', out);
    for (; *name != '\0'; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

static void rappor_write_map(const struct rappor_map *map, FILE *out)
{
    const size_t columns = (size_t)map->m * map->h;

    for (size_t i = 0; i < map->candidates; i++) {
        rappor_write_name(map->names[i], out);
        for (size_t j = 0; j < columns; j++)
            fprintf(out, ",%" PRIu64,
                    (uint64_t)(j / map->h) * rappor_small.k +
                        map->bits[i * columns + j] + 1);
        fputc('\n', out);
    }
}

/* ---- Reading ------------------------------------------------------------- */

static void rappor_params(const char *path)
{
    struct rappor_params a, b;
    struct rappor_written w;
    hsy_error err = {0};
    hsy_status st = rappor_params_read(&a, path, &err);

    if (st != HSY_OK) {
        rappor_refuses(st, &err);
        return;
    }
    fuzz_expect(a.k >= 1 && a.h >= 1 && a.m >= 1 && a.f >= 0 && a.f < 1 &&
                    a.p != a.q && isfinite(a.p) && isfinite(a.q),
                "parameters are in range");
    rappor_write_params(&a, rappor_write(&w));
    st = rappor_params_read(&b, rappor_again(&w), &err);
    fuzz_expect(st == HSY_OK && a.k == b.k && a.h == b.h && a.m == b.m &&
                    a.p == b.p && a.q == b.q && a.f == b.f,
                "parameters are read as they are written");
}

static void rappor_counts(const char *path)
{
    struct rappor_counts a, b;
    struct rappor_written w;
    hsy_error err = {0};
    hsy_status st = rappor_counts_read(&a, &rappor_small, path, &err);

    if (st != HSY_OK) {
        rappor_refuses(st, &err);
        return;
    }
    for (size_t i = 0; i < (size_t)a.m * a.k; i++)
        fuzz_expect(a.ones[i] <= a.totals[i / a.k],
                    "no bit is set in more reports than there are");
    rappor_write_counts(&a, rappor_write(&w));
    st = rappor_counts_read(&b, &rappor_small, rappor_again(&w), &err);
    fuzz_expect(
        st == HSY_OK &&
            memcmp(a.totals, b.totals, a.m * sizeof *a.totals) == 0 &&
            memcmp(a.ones, b.ones, (size_t)a.m * a.k * sizeof *a.ones) == 0,
        "counts are read as they are written");
    rappor_counts_free(&a);
    rappor_counts_free(&b);
}

static void rappor_map(const char *path)
{
    struct rappor_map a, b;
    struct rappor_written w;
    hsy_error err = {0};
    hsy_status st = rappor_map_read(&a, &rappor_small, path, &err);
    const size_t each = (size_t)rappor_small.m * rappor_small.h;

    if (st != HSY_OK) {
        rappor_refuses(st, &err);
        return;
    }
    for (size_t i = 0; i < a.candidates * each; i++)
        fuzz_expect(a.bits[i] < rappor_small.k, "bits are below k");
    rappor_write_map(&a, rappor_write(&w));
    st = rappor_map_read(&b, &rappor_small, rappor_again(&w), &err);
    fuzz_expect(
        st == HSY_OK && a.candidates == b.candidates &&
            memcmp(a.bits, b.bits, a.candidates * each * sizeof *a.bits) == 0,
        "a map is read as it is written");
    for (size_t i = 0; i < a.candidates; i++)
        fuzz_expect(strcmp(a.names[i], b.names[i]) == 0, "so are names");
    rappor_map_free(&b);
    rappor_map_free(&a);
}

/* A name that begins with s is a string's, with n unknown, else a boolean's. */
static bool rappor_named(void *ctx, const char *name,
                         struct rappor_params *params)
{
    (void)ctx;
    *params = rappor_small;
    if (name[0] != 's')
        params->k = params->h = 1;
    return name[0] != 'n';
}

static void rappor_reports(const char *path)
{
    struct rappor_reports r;
    hsy_error err = {0};
    hsy_status st = rappor_reports_find(&r, rappor_named, NULL, path, &err);

    if (st != HSY_OK) {
        rappor_refuses(st, &err);
        return;
    }
    for (size_t i = 0; i < r.n; i++) {
        fuzz_expect(r.cohorts[i] < rappor_small.m, "cohorts are below m");
        for (uint32_t v = 0; v < r.variables; v++)
            fuzz_expect(r.words[i * r.stride + r.offset[v]] >> r.k[v] == 0,
                        "bits are below k");
    }
    rappor_reports_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static void (*const readers[])(const char *) = {
        rappor_params, rappor_counts, rappor_map, rappor_reports};
    char path[32];

    if (len == 0)
        return 0;
    snprintf(path, sizeof path, "/dev/fd/%d", fuzz_fd(data + 1, len - 1));
    readers[data[0] % 4](path);
    return 0;
}
