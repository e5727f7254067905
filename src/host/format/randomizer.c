/* randomizer.c - truths, one a line, to a stream of reports. */
#define _DEFAULT_SOURCE
#include "host/format/randomizer.h"

#include "host/base/host_fail.h"
#include "host/format/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANDOMIZER_BATCH 16384u        /* most reports at once */
#define RANDOMIZER_BYTES (1u << 20)    /* most bytes of reports at once */
#define RANDOMIZER_LINES_AT_ONCE 2048u /* lines coded at once */

struct randomizer_job {
    const struct randomizer *how;
    struct randomized *done;
    struct output *out;
    struct lines lines;
    size_t batch, filled;
    uint64_t gap;     /* the first empty line of records; 0: none */
    size_t width;     /* codes of a truth */
    uint64_t *codes;  /* batch, and room for one more block of lines */
    uint8_t *reports; /* batch of them */
    uint8_t *packed;
    hsy_entropy entropy;
    hsy_coins coins;              /* of entropy */
    hsy_stream secret, published; /* of a seed */
};

static hsy_status randomizer_fail(struct randomizer_job *j, hsy_status st,
                                  enum randomizer_trouble trouble)
{
    j->done->trouble = trouble;
    return st;
}

/* ---- Writing ------------------------------------------------------------- */

static hsy_status randomizer_head(struct randomizer_job *j, hsy_error *err)
{
    const struct randomizer *r = j->how;
    const hsy_status st =
        r->json ? container_put_json_head(j->out, r->scheme, r->labels,
                                          r->labels_len, err)
                : container_put_prefix(j->out, r->scheme, r->labels,
                                       r->labels_len, HSY_CONTENT_REPORTS);

    return st == HSY_OK
               ? st
               : randomizer_fail(j, st,
                                 st == HSY_E_RANGE   ? RANDOMIZER_HEAD
                                 : st == HSY_E_NOMEM ? RANDOMIZER_MEMORY
                                                     : RANDOMIZER_OUTPUT);
}

static hsy_status randomizer_put(struct randomizer_job *j, size_t n)
{
    const hsy_scheme *s = j->how->scheme;

    errno = 0;
    if (j->how->json)
        return container_put_json_reports(j->out, s, j->reports, n);
    hsy_pack(s, j->packed, j->reports, n);
    return container_put_reports(j->out, s, j->packed, n);
}

static hsy_status randomizer_end(struct randomizer_job *j)
{
    const uint64_t n = j->done->written;
    const hsy_status st = j->how->json ? container_put_json_end(j->out, n)
                                       : container_put_end(j->out, n);

    return st == HSY_OK ? st : randomizer_fail(j, st, RANDOMIZER_OUTPUT);
}

/* ---- Randomizing --------------------------------------------------------- */

/* The first n codes become reports and leave the buffer. */
static hsy_status randomizer_flush(struct randomizer_job *j, size_t n,
                                   hsy_error *err)
{
    const hsy_scheme *s = j->how->scheme;
    hsy_status st;

    if (j->how->seed != NULL)
        st = hsy_simulate_batch(s, j->reports, j->codes, n, &j->secret,
                                &j->published, err);
    else
        st = hsy_randomize_batch(s, j->reports, j->codes, n, &j->coins, err);
    if (st != HSY_OK) {
        err->at = 0; /* where it happened must not tell of a truth */
        return randomizer_fail(j, st, RANDOMIZER_COINS);
    }
    st = randomizer_put(j, n);
    if (st != HSY_OK)
        return randomizer_fail(j, st, RANDOMIZER_OUTPUT);
    j->filled -= n;
    memmove(j->codes, j->codes + n * j->width,
            j->filled * j->width * sizeof *j->codes);
    j->done->written += n;
    if (j->how->tick != NULL)
        j->how->tick(j->how->ctx, j->done->written);
    return HSY_OK;
}

static hsy_status randomizer_wrong(struct randomizer_job *j, uint64_t line)
{
    j->done->line = line;
    return randomizer_fail(j, HSY_E_RANGE, RANDOMIZER_TRUTH);
}

/* Codes of n lines, which come after `before` others; a header has none. */
static hsy_status randomizer_code(struct randomizer_job *j,
                                  const struct line *lines, size_t n,
                                  uint64_t before)
{
    size_t good = code_lines(&j->how->coder, j->codes + j->filled * j->width,
                             lines, n, &j->done->wrong);

    if (good < n)
        return randomizer_wrong(j, before + good + 1);
    j->filled += n;
    return HSY_OK;
}

/* Empty lines are the end of a table, unless somebody follows. */
static hsy_status randomizer_records(struct randomizer_job *j,
                                     const struct line *lines, size_t n,
                                     uint64_t before)
{
    struct records *r = j->how->records;

    for (size_t i = 0; i < n; i++) {
        const bool header = !r->headed;
        bool good;

        if (lines[i].len == 0 && !header) {
            j->gap = j->gap != 0 ? j->gap : before + i + 1;
            continue;
        }
        if (j->gap != 0) {
            j->done->wrong.trouble = TRUTH_GAP;
            return randomizer_wrong(j, j->gap);
        }
        good = header ? records_header(r, &lines[i], &j->done->wrong)
                      : records_codes(r, j->codes + j->filled * j->width,
                                      &lines[i], &j->done->wrong);
        if (!good)
            return randomizer_wrong(j, before + i + 1);
        j->filled += !header;
    }
    return HSY_OK;
}

static hsy_status randomizer_lines(struct randomizer_job *j, hsy_error *err)
{
    struct line lines[RANDOMIZER_LINES_AT_ONCE];
    size_t n;

    do {
        const uint64_t before = j->lines.number;
        hsy_status st =
            lines_next(&j->lines, lines, RANDOMIZER_LINES_AT_ONCE, &n, err);

        if (st != HSY_OK)
            return randomizer_fail(j, st, RANDOMIZER_LINES);
        st = j->how->records != NULL ? randomizer_records(j, lines, n, before)
                                     : randomizer_code(j, lines, n, before);
        while (st == HSY_OK && j->filled >= j->batch)
            st = randomizer_flush(j, j->batch, err);
        if (st != HSY_OK)
            return st;
    } while (n != 0);
    return j->filled != 0 ? randomizer_flush(j, j->filled, err) : HSY_OK;
}

/* ---- Setting up ---------------------------------------------------------- */

static size_t randomizer_batch(size_t report_bytes)
{
    size_t n = RANDOMIZER_BYTES / report_bytes / 8 * 8;

    if (n < 8)
        n = 8;
    return n < RANDOMIZER_BATCH ? n : RANDOMIZER_BATCH;
}

static size_t randomizer_room(const struct randomizer_job *j)
{
    return (j->batch + RANDOMIZER_LINES_AT_ONCE) * j->width * sizeof *j->codes;
}

static hsy_status randomizer_open(struct randomizer_job *j, int fd)
{
    const hsy_scheme *s = j->how->scheme;
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    j->batch = randomizer_batch(info.report_bytes);
    j->width = hsy_codes_per_truth(s);
    j->codes = malloc(randomizer_room(j));
    j->reports = malloc(j->batch * info.report_bytes);
    j->packed = malloc(hsy_packed_size(s, j->batch));
    hsy_entropy_init(&j->entropy);
    j->coins = hsy_entropy_coins(&j->entropy);
    if (j->how->seed != NULL) {
        hsy_stream_seed(&j->secret, *j->how->seed, 0);
        hsy_stream_seed(&j->published, *j->how->seed, 1);
    }
    if (j->codes == NULL || j->reports == NULL || j->packed == NULL ||
        lines_open(&j->lines, fd) != HSY_OK)
        return randomizer_fail(j, HSY_E_NOMEM, RANDOMIZER_MEMORY);
    j->lines.marked = j->how->records != NULL;
    return HSY_OK;
}

static void randomizer_close(struct randomizer_job *j)
{
    lines_close(&j->lines);
    if (j->codes != NULL)
        explicit_bzero(j->codes, randomizer_room(j));
    free(j->codes);
    free(j->reports);
    free(j->packed);
    hsy_entropy_clear(&j->entropy);
    hsy_stream_clear(&j->secret);
    hsy_stream_clear(&j->published);
}

hsy_status randomize_stream(struct randomized *done, const struct randomizer *r,
                            struct output *out, int fd, hsy_error *err)
{
    struct randomizer_job j = {
        .how = r, .done = done, .out = out, .lines.fd = -1};
    hsy_status st;

    *done = (struct randomized){0};
    st = randomizer_open(&j, fd);
    if (st == HSY_OK)
        st = randomizer_head(&j, err);
    if (st == HSY_OK)
        st = randomizer_lines(&j, err);
    if (st == HSY_OK)
        st = randomizer_end(&j);
    randomizer_close(&j);
    return st;
}
